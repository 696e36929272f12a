//! Bounding volumes of nodes: box, oriented box, sphere or hull.
//!
//! Boxes and spheres have direct tests. A hull is tested through its support function s(d) = argmax d·p
//! against that of the other volume: a direction d with d·(s_A(d) − s_B(−d)) < 0 parts the two. Starting from
//! the line of centres, d is rotated against the violation found (Chung and Wang 1996); if no such direction
//! turns up in a few rounds the volumes count as overlapping, which costs time but no pair is lost.

use glam::{DMat3, DVec3};

use super::HierarchyError;
use super::oriented_overlap::{SatMode, boxes_disjoint};
use super::triangle::TriangleCorners;
use crate::convex_hull::hull_triangles;
use crate::oriented_box::surface_covariance;
use crate::symmetric_eigen::symmetric_eigen;
use crate::{Aabb, BoundingSphere, OrientedBox, Pose};

/// Data the axes of an oriented box are fitted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoxFit {
    /// The surface of the hull: independent of points inside.
    #[default]
    Hull,
    /// The surface of the triangles themselves.
    Triangles,
    /// The corners, each with the same weight: cheap, and skewed by clusters.
    Corners,
}

/// How a sphere is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SphereFit {
    /// Ritter's two passes.
    #[default]
    Ritter,
    /// Ritter's passes along the eigenvectors of the points: usually tighter.
    RitterEigen,
    /// The smallest sphere.
    Smallest,
}

/// Kind of a node's volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeKind {
    /// Axis-aligned box.
    Aabb,
    /// Oriented box.
    Obb(BoxFit),
    /// Sphere.
    Sphere(SphereFit),
    /// Convex hull.
    Hull,
}

/// The volume of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Volume {
    /// Axis-aligned box.
    Aabb(Aabb),
    /// Oriented box.
    Obb(OrientedBox),
    /// Sphere.
    Sphere(BoundingSphere),
    /// Corners of the convex hull.
    Hull(Box<[DVec3]>),
}

impl VolumeKind {
    /// The volume of this kind around some triangles; a hull without volume becomes an oriented box.
    pub(super) fn around(self, triangles: &[TriangleCorners]) -> Result<Volume, HierarchyError> {
        let points = triangles.as_flattened();
        Ok(match self {
            Self::Aabb => Volume::Aabb(Aabb::from_points(points.iter().copied())?),
            Self::Obb(fit) => Volume::Obb(oriented_box(triangles, fit)?),
            Self::Sphere(SphereFit::Ritter) => Volume::Sphere(BoundingSphere::ritter(points)?),
            Self::Sphere(SphereFit::RitterEigen) => Volume::Sphere(ritter_along_eigenvectors(points)?),
            Self::Sphere(SphereFit::Smallest) => Volume::Sphere(BoundingSphere::smallest(points)?),
            Self::Hull => match hull_triangles(points) {
                Ok(faces) => {
                    let mut used: Vec<u32> = faces.into_iter().flatten().collect();
                    used.sort_unstable();
                    used.dedup();
                    Volume::Hull(used.iter().map(|&i| points[i as usize]).collect())
                }
                Err(_) => Volume::Obb(oriented_box(triangles, BoxFit::Hull)?),
            },
        })
    }
}

/// Oriented box around triangles; of one triangle along its longest side and its normal.
pub(super) fn oriented_box(
    triangles: &[TriangleCorners],
    fit: BoxFit,
) -> Result<OrientedBox, HierarchyError> {
    let points = triangles.as_flattened();
    if let [[a, b, c]] = triangles {
        let sides = [*b - *a, *c - *b, *a - *c];
        let longest = sides.into_iter().max_by(|x, y| x.length_squared().total_cmp(&y.length_squared()));
        let along = longest.unwrap_or(DVec3::X).normalize_or(DVec3::X);
        let normal = sides[0].cross(sides[1]);
        let normal = (normal - normal.dot(along) * along).normalize_or(along.any_orthonormal_vector());
        return Ok(OrientedBox::along(points, DMat3::from_cols(along, normal.cross(along), normal))?);
    }
    let bounds = Aabb::from_points(points.iter().copied())?;
    let covariance = match fit {
        BoxFit::Hull => return Ok(OrientedBox::fit(points)?),
        BoxFit::Triangles => {
            let faces: Vec<[u32; 3]> =
                (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
            surface_covariance(points, &faces, bounds.center())
        }
        BoxFit::Corners => corner_covariance(points),
    };
    // No area at all leaves NaN here.
    if !covariance.is_finite() {
        return Ok(OrientedBox::fit(points)?);
    }
    Ok(OrientedBox::along(points, symmetric_eigen(covariance).1)?)
}

fn corner_covariance(points: &[DVec3]) -> DMat3 {
    let mean = points.iter().sum::<DVec3>() / points.len() as f64;
    let mut sum = DMat3::ZERO;
    for &p in points {
        let p = p - mean;
        sum += DMat3::from_cols(p * p.x, p * p.y, p * p.z);
    }
    sum * (1.0 / points.len() as f64)
}

fn ritter_along_eigenvectors(points: &[DVec3]) -> Result<BoundingSphere, HierarchyError> {
    let plain = BoundingSphere::ritter(points)?;
    let axes = symmetric_eigen(corner_covariance(points)).1;
    let turned: Vec<DVec3> = points.iter().map(|&p| axes.transpose() * p).collect();
    let found = BoundingSphere::ritter(&turned)?;
    let center = axes * found.center();
    // Turning there and back rounds: the radius is taken anew from the points themselves.
    let reach = points.iter().map(|p| p.distance(center)).fold(0.0, f64::max) * (1.0 + 1e-15);
    let turned = BoundingSphere::new(center, reach)?;
    Ok(if turned.radius() < plain.radius() { turned } else { plain })
}

impl Volume {
    /// Whether the point lies inside, or outside by at most `tolerance`.
    pub fn contains(&self, p: DVec3, tolerance: f64) -> bool {
        match self {
            Self::Aabb(bounds) => bounds.distance(p) <= tolerance,
            Self::Obb(oriented) => {
                let local = oriented.pose().inverse_point(p).abs();
                local.cmple(oriented.half_extents() + tolerance).all()
            }
            Self::Sphere(sphere) => sphere.center().distance(p) <= sphere.radius() + tolerance,
            Self::Hull(corners) => match hull_triangles(corners) {
                Ok(faces) => faces.iter().all(|face| {
                    let [a, b, c] = face.map(|i| corners[i as usize]);
                    (p - a).dot((b - a).cross(c - a).normalize_or_zero()) <= tolerance
                }),
                Err(_) => false,
            },
        }
    }

    /// A measure of its size by which the larger of two is opened first: squared diameter.
    pub(super) fn size(&self) -> f64 {
        match self {
            Self::Aabb(bounds) => bounds.extents().length_squared(),
            Self::Obb(oriented) => 4.0 * oriented.half_extents().length_squared(),
            Self::Sphere(sphere) => 4.0 * sphere.radius() * sphere.radius(),
            Self::Hull(corners) => {
                let min = corners.iter().fold(DVec3::INFINITY, |min, p| min.min(*p));
                let max = corners.iter().fold(DVec3::NEG_INFINITY, |max, p| max.max(*p));
                (max - min).length_squared()
            }
        }
    }

    /// Axes to cut along, the longest first.
    pub(super) fn axes(&self, triangles: &[TriangleCorners]) -> [DVec3; 3] {
        if let Self::Obb(oriented) = self {
            return super::split::axes_by_length(oriented.axes(), oriented.half_extents());
        }
        let points = triangles.as_flattened();
        let min = points.iter().fold(DVec3::INFINITY, |min, p| min.min(*p));
        let max = points.iter().fold(DVec3::NEG_INFINITY, |max, p| max.max(*p));
        super::split::axes_by_length(DVec3::AXES, max - min)
    }

    /// The point farthest along d.
    fn support(&self, d: DVec3) -> DVec3 {
        let corner =
            |h: DVec3, d: DVec3| h * DVec3::new(1f64.copysign(d.x), 1f64.copysign(d.y), 1f64.copysign(d.z));
        match self {
            Self::Aabb(bounds) => bounds.center() + corner(bounds.half_extents(), d),
            Self::Obb(oriented) => {
                oriented.pose().point(corner(oriented.half_extents(), oriented.pose().inverse_vector(d)))
            }
            Self::Sphere(sphere) => sphere.center() + sphere.radius() * d.normalize_or_zero(),
            Self::Hull(corners) => {
                let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
                for &p in corners {
                    let along = d.dot(p);
                    if along > best.0 {
                        best = (along, p);
                    }
                }
                best.1
            }
        }
    }

    fn as_oriented(&self) -> Option<OrientedBox> {
        match self {
            Self::Aabb(bounds) => Some(OrientedBox::from(*bounds)),
            Self::Obb(oriented) => Some(*oriented),
            Self::Sphere(_) | Self::Hull(_) => None,
        }
    }

    /// Whether this volume and the other one, moved by `pose`, share a point; false only if they certainly do
    /// not.
    pub fn may_overlap(&self, other: &Self, pose: &Pose, mode: SatMode) -> bool {
        match (self, other) {
            (Self::Sphere(a), Self::Sphere(b)) => {
                let reach = (a.radius() + b.radius()) * (1.0 + 1e-12);
                a.center().distance_squared(pose.point(b.center())) <= reach * reach
            }
            (Self::Sphere(sphere), Self::Aabb(_) | Self::Obb(_)) => {
                other.meets_sphere(&sphere.transformed(&pose.inverse()))
            }
            (Self::Aabb(_) | Self::Obb(_), Self::Sphere(sphere)) => {
                self.meets_sphere(&sphere.transformed(pose))
            }
            _ => match (self.as_oriented(), other.as_oriented()) {
                (Some(a), Some(b)) => {
                    let between = a.pose().relative(&(*pose * b.pose()));
                    let r = between.rotation_matrix();
                    !boxes_disjoint(a.half_extents(), b.half_extents(), &r, between.translation, mode)
                }
                _ => !self.parted_from(other, pose),
            },
        }
    }

    fn meets_sphere(&self, sphere: &BoundingSphere) -> bool {
        let Some(oriented) = self.as_oriented() else { return true };
        let (h, c) = (oriented.half_extents(), oriented.pose().inverse_point(sphere.center()));
        let reach = sphere.radius() + 1e-12 * (sphere.radius() + h.max_element());
        c.distance_squared(c.clamp(-h, h)) <= reach * reach
    }

    /// Whether a separating direction was found.
    fn parted_from(&self, other: &Self, pose: &Pose) -> bool {
        const ROUNDS: usize = 12;
        let far = |d: DVec3| pose.point(other.support(pose.inverse_vector(d)));
        let mut d = self.support(DVec3::X) + self.support(-DVec3::X) - far(DVec3::X) - far(-DVec3::X);
        let size = (self.size() + other.size()).sqrt();
        for _ in 0..ROUNDS {
            d = d.normalize_or(DVec3::X);
            // The point of A ⊖ B deepest against d: all of it lies on the side of d if this one does.
            let w = self.support(-d) - far(d);
            let gap = w.dot(d);
            if gap > 1e-12 * size {
                return true;
            }
            d -= 2.0 * w.normalize_or_zero().dot(d) * w.normalize_or_zero();
        }
        false
    }
}
