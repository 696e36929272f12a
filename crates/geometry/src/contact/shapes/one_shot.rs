//! Contacts of two placed shapes in one call.

use super::{ContactCache, ContactError, Contacts, collide};
use crate::{Pose, Shape};

/// (shape A, its pose, shape B, its pose) ⇒ contacts where the shapes touch or overlap, in the frame of the
/// poses.
///
/// For single queries. In a loop over steps [`collide`] is faster: its cache warm starts every pair, and its
/// list of contacts is reused.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::contact::contact;
/// use rattleback_geometry::{Pose, Shape};
/// let (table, cube) = (Shape::cuboid(DVec3::new(1.0, 1.0, 0.1))?, Shape::cuboid(DVec3::splat(0.25))?);
/// // The table top is at z = 0.9, the cube's lower side at z = 0.88.
/// let contacts = contact(&table, &Pose::at(DVec3::Z * 0.8), &cube, &Pose::at(DVec3::Z * 1.13))?;
/// let (manifold, deepest) = contacts.deepest().unwrap();
/// assert_eq!(manifold.normal, DVec3::Z);
/// assert_eq!(manifold.points().len(), 4);
/// assert!((deepest.separation + 0.02).abs() < 1e-12);
/// assert!((deepest.point_a.z - 0.9).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a pose is not valid, both shapes are half-spaces, or a custom shape returns points that are not finite.
pub fn contact(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Result<Contacts, ContactError> {
    let mut contacts = Contacts::default();
    collide(a, b, &pose_a.relative(pose_b), 0.0, &mut ContactCache::default(), &mut contacts)?;
    for manifold in &mut contacts.manifolds {
        manifold.normal = pose_a.vector(manifold.normal);
        for point in manifold.points_mut() {
            point.point_a = pose_a.point(point.point_a);
            point.point_b = pose_a.point(point.point_b);
        }
    }
    Ok(contacts)
}
