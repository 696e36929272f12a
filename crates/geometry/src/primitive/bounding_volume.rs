//! Spheres, axis-aligned and oriented boxes as one type: tests of every pair, and with points, rays and
//! triangles.

use glam::DVec3;

use super::box_box::{aabb_box, box_box};
use super::box_sphere::{aabb_sphere, box_sphere, closest_point_of_box};
use super::box_triangle::box_triangle;
use super::segment_box::slab_interval;
use super::sphere_triangle::sphere_triangle;
use super::{Ray, Triangle};
use crate::{Aabb, BoundingSphere, BoundsError, OrientedBox, Pose};

/// One of the three bounding volumes. All tests are closed: touching counts.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::BoundingVolume;
/// use rattleback_geometry::{Aabb, BoundingSphere};
/// let sphere = BoundingVolume::from(BoundingSphere::new(DVec3::ZERO, 1.0)?);
/// let cube = BoundingVolume::from(Aabb::new(DVec3::X, DVec3::splat(2.0))?);
/// assert!(sphere.overlaps(&cube));
/// # Ok::<(), rattleback_geometry::BoundsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundingVolume {
    /// Sphere.
    Sphere(BoundingSphere),
    /// Axis-aligned box.
    Aligned(Aabb),
    /// Box with its own axes.
    Oriented(OrientedBox),
}

impl From<BoundingSphere> for BoundingVolume {
    fn from(sphere: BoundingSphere) -> Self {
        Self::Sphere(sphere)
    }
}

impl From<Aabb> for BoundingVolume {
    fn from(bounds: Aabb) -> Self {
        Self::Aligned(bounds)
    }
}

impl From<OrientedBox> for BoundingVolume {
    fn from(bounds: OrientedBox) -> Self {
        Self::Oriented(bounds)
    }
}

impl BoundingVolume {
    /// Whether the two share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sphere(a), Self::Sphere(b)) => a.overlaps(b),
            (Self::Sphere(s), Self::Aligned(b)) | (Self::Aligned(b), Self::Sphere(s)) => aabb_sphere(b, s),
            (Self::Sphere(s), Self::Oriented(b)) | (Self::Oriented(b), Self::Sphere(s)) => box_sphere(b, s),
            (Self::Aligned(a), Self::Aligned(b)) => a.overlaps(b),
            (Self::Aligned(a), Self::Oriented(b)) | (Self::Oriented(b), Self::Aligned(a)) => aabb_box(a, b),
            (Self::Oriented(a), Self::Oriented(b)) => box_box(a, b),
        }
    }

    /// Whether the point lies inside or on the boundary.
    pub fn contains(&self, p: DVec3) -> bool {
        match self {
            Self::Sphere(sphere) => sphere.contains(p),
            Self::Aligned(bounds) => bounds.contains(p),
            Self::Oriented(bounds) => bounds.contains(p),
        }
    }

    /// Distance along the ray, up to `max`, at which it enters the volume; 0 if it starts inside.
    pub fn cast_ray(&self, ray: &Ray, max: f64) -> Option<f64> {
        match self {
            Self::Sphere(sphere) => {
                let [enter, leave] = sphere_interval(ray, sphere)?;
                (leave >= 0.0 && enter <= max).then_some(enter.max(0.0))
            }
            Self::Aligned(bounds) => Some(slab_interval(ray.origin(), ray.direction(), max, bounds)?[0]),
            Self::Oriented(bounds) => {
                let local = ray.in_frame(&bounds.pose());
                let aligned = Aabb::new(-bounds.half_extents(), bounds.half_extents()).ok()?;
                Some(slab_interval(local.origin(), local.direction(), max, &aligned)?[0])
            }
        }
    }

    /// Whether a triangle shares a point with the volume.
    pub fn overlaps_triangle(&self, triangle: &Triangle) -> bool {
        match self {
            Self::Sphere(sphere) => sphere_triangle(sphere, triangle),
            Self::Aligned(bounds) => box_triangle(&OrientedBox::from(*bounds), triangle),
            Self::Oriented(bounds) => box_triangle(bounds, triangle),
        }
    }

    /// Nearest point of the solid volume: `p` itself if inside.
    pub fn closest_point(&self, p: DVec3) -> DVec3 {
        match self {
            Self::Sphere(sphere) => {
                let out = p - sphere.center();
                let distance = out.length();
                if distance <= sphere.radius() {
                    p
                } else {
                    sphere.center() + (sphere.radius() / distance) * out
                }
            }
            Self::Aligned(bounds) => bounds.closest_point(p),
            Self::Oriented(bounds) => closest_point_of_box(bounds, p),
        }
    }

    /// The volume moved by `pose`; an axis-aligned box becomes the axis-aligned box around the moved one.
    pub fn transformed(&self, pose: &Pose) -> Result<Self, BoundsError> {
        if !pose.is_valid() {
            return Err(BoundsError::NonFinite);
        }
        Ok(match self {
            Self::Sphere(sphere) => Self::Sphere(sphere.transformed(pose)),
            Self::Aligned(bounds) => Self::Aligned(bounds.transformed(pose)?),
            Self::Oriented(bounds) => Self::Oriented(bounds.transformed(pose)),
        })
    }

    /// Least and greatest p·axis.
    pub fn project(&self, axis: DVec3) -> [f64; 2] {
        let (center, reach) = match self {
            Self::Sphere(sphere) => (sphere.center(), sphere.radius() * axis.length()),
            Self::Aligned(bounds) => (bounds.center(), bounds.half_extents().dot(axis.abs())),
            Self::Oriented(bounds) => {
                (bounds.center(), bounds.half_extents().dot(bounds.pose().inverse_vector(axis).abs()))
            }
        };
        let middle = center.dot(axis);
        [middle - reach, middle + reach]
    }
}

/// Where the infinite line of a ray enters and leaves a sphere, from its nearest approach: exact for far rays
/// too.
pub(crate) fn sphere_interval(ray: &Ray, sphere: &BoundingSphere) -> Option<[f64; 2]> {
    let to_center = sphere.center() - ray.origin();
    let middle = to_center.dot(ray.direction());
    let across = (to_center - middle * ray.direction()).length();
    let half_squared = (sphere.radius() - across) * (sphere.radius() + across);
    if !(half_squared >= 0.0) {
        return None;
    }
    let half = half_squared.sqrt();
    Some([middle - half, middle + half])
}
