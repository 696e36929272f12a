//! Convex shapes of one's own, given by a support function.
//!
//! The support function s(d) = argmax_{p ∈ C} p·d defines a convex body C completely: C = {p : p·d ≤ s(d)·d
//! ∀d}. The defaults below evaluate it along the 642 directions of a sphere subdivided three times: the hull
//! of the points, refined where needed, is an inner approximation used for mass and drawing, their
//! half-spaces an outer one used for `contains`.

use std::fmt::Debug;
use std::sync::OnceLock;

use glam::DVec3;

use crate::{Aabb, BoundingSphere, ConvexPolyhedron, HullError, Pose, convex_hull, generate};

/// A bounded convex shape known by its support function.
///
/// ```
/// use std::sync::Arc;
/// use glam::DVec3;
/// use rattleback_geometry::{Shape, SupportShape};
/// #[derive(Debug)]
/// struct Octahedron;
/// impl SupportShape for Octahedron {
///     fn name(&self) -> &str { "octahedron" }
///     fn support(&self, d: DVec3) -> DVec3 {
///         let axis = d.abs().max_position();
///         DVec3::AXES[axis] * d[axis].signum()
///     }
/// }
/// let shape = Shape::custom(Arc::new(Octahedron))?;
/// assert!((shape.volume()? - 4.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SupportShape: Debug + Send + Sync {
    /// Name for messages and tables.
    fn name(&self) -> &str;

    /// Unit direction ⇒ a point of the shape farthest along it. Must be finite.
    fn support(&self, direction: DVec3) -> DVec3;

    /// Smallest axis-aligned box of the shape moved by `pose`; None if the support function or the pose is
    /// not finite.
    fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let reach = |d: DVec3| pose.point(self.support(pose.inverse_vector(d))).dot(d);
        let high = DVec3::new(reach(DVec3::X), reach(DVec3::Y), reach(DVec3::Z));
        let low = DVec3::new(-reach(-DVec3::X), -reach(-DVec3::Y), -reach(-DVec3::Z));
        Aabb::new(low.min(high), high.max(low)).ok()
    }

    /// A polyhedron inside the shape with its corners on the surface: the hull of the support points along
    /// 642 directions, refined twice where the surface still bulges over a face. Its volume falls short by
    /// less than 1 % for bodies up to five times as wide as thick; override it where the exact one is known.
    fn hull(&self) -> Result<ConvexPolyhedron, HullError> {
        let mut points: Vec<DVec3> = sample_directions().iter().map(|&d| self.support(d)).collect();
        let mut hull = convex_hull(&points)?;
        let size = BoundingSphere::ritter(hull.vertices()).map_or(0.0, |sphere| sphere.radius());
        for _round in 0..2 {
            let bulges = hull.normals().iter().zip(hull.offsets()).filter_map(|(&normal, &offset)| {
                let p = self.support(normal);
                (normal.dot(p) > offset + 1e-5 * size).then_some(p)
            });
            points = hull.vertices().iter().copied().chain(bulges).collect();
            hull = convex_hull(&points)?;
        }
        Ok(hull)
    }

    /// A sphere around the shape: about the middle of its box, as far as the box's corners at most.
    fn bounding_sphere(&self) -> Option<BoundingSphere> {
        let bounds = self.aabb(&Pose::IDENTITY)?;
        BoundingSphere::new(bounds.center(), bounds.half_extents().length()).ok()
    }

    /// Whether the point lies inside; the default is exact up to the spacing of its 642 directions.
    fn contains(&self, p: DVec3) -> bool {
        sample_directions().iter().all(|&d| (p - self.support(d)).dot(d) <= 0.0)
    }
}

/// The vertices of a unit sphere subdivided three times, and the coordinate axes.
pub(crate) fn sample_directions() -> &'static [DVec3] {
    static DIRECTIONS: OnceLock<Vec<DVec3>> = OnceLock::new();
    DIRECTIONS.get_or_init(|| {
        let mut directions: Vec<DVec3> = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]).collect();
        if let Ok(sphere) = generate::icosphere(4) {
            directions.extend_from_slice(sphere.vertices());
        }
        directions
    })
}
