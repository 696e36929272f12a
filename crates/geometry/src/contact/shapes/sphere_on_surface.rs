//! A sphere against the triangles near it.
//!
//! With unit normal N and corners v_k, the sphere's centre c lies at the height h = N·(c − v) over a
//! triangle's plane, and outside of side e_k = v_k₊₁ − v_k by s_k/|e_k|, s_k = (N × e_k)·(v_k − c). If no s_k
//! is positive the triangle's nearest point is c − h N; else it lies on one of the sides with s_k > 0. There
//! the contact is the triangle's own only if the surface falls away from the line to the centre (see
//! `owned`): most triangles of a smooth surface are dismissed that way, after testing one neighbour, so no
//! manifold is built before.

use glam::DVec3;

use super::body_on_surface::BodyOnSurface;
use super::cache::TrianglePair;
use super::owned::{FACE, NormalClass, ON_EDGE, classify_normal, riser_at_corner, riser_over_edge};
use crate::contact::{ContactPoint, Manifold};
use crate::primitive::Triangle;

/// Sine (squared) of the corner angle below which N is not exact enough to measure with.
const NEEDLE_SQUARED: f64 = 1e-8;

/// Region of a triangle that a point projects to.
enum Spot {
    Face,
    Edge(usize),
    Corner(usize),
    /// Somewhere on a needle.
    Unknown,
}

impl BodyOnSurface<'_> {
    /// Adds the contacts of a sphere with triangles that are the triangle's own: along the line to its
    /// nearest point.
    pub(super) fn touch_sphere(&self, candidates: &[TrianglePair], radius: f64, found: &mut Vec<Manifold>) {
        let one_sided = self.surface.one_sided(&self.settings);
        let (center, reach) = (self.pose.translation, radius + self.margin);
        for candidate in candidates {
            let height = candidate.normal.dot(center - candidate.corners[0]);
            // A triangle without area has neighbours with the same contact.
            if !(height.abs() <= reach) || candidate.normal == DVec3::ZERO {
                continue;
            }
            let Some((nearest, spot)) = nearest_spot(candidate, center, height, reach) else { continue };
            let distance = nearest.distance(center);
            let (facing, _) = self.facing(candidate, center);
            let along = if distance > 0.0 { (center - nearest) / distance } else { facing };
            let on_face = 1.0 - along.dot(facing) <= FACE;
            let own = || {
                // No contact from behind: the triangle on the other side of a sharp edge has the same
                // contact.
                (!one_sided || along.dot(facing) > 0.0)
                    && self.falls_away(candidate, facing, along, nearest, &spot)
            };
            if !(distance <= reach) || !(on_face || own()) {
                continue;
            }
            let point_b = center - radius * along;
            let normal = if on_face { facing } else { along };
            let separation = if on_face { facing.dot(point_b - nearest) } else { distance - radius };
            let mut manifold = Manifold::new(normal);
            manifold.parts = [candidate.triangles[0], 0];
            manifold.push(ContactPoint { point_a: nearest, point_b, separation, id: 0 });
            found.push(manifold);
        }
    }

    /// Whether the surface around a spot falls away from a normal that is not the face's.
    fn falls_away(
        &self,
        candidate: &TrianglePair,
        facing: DVec3,
        normal: DVec3,
        p: DVec3,
        spot: &Spot,
    ) -> bool {
        let (i, corners) = (candidate.triangles[0], &candidate.corners);
        match *spot {
            Spot::Face => false,
            Spot::Edge(k) => riser_over_edge(&self.surface, i, k, corners, normal).is_none(),
            Spot::Corner(k) => riser_at_corner(&self.surface, i, k, corners[k], normal).is_none(),
            Spot::Unknown => {
                classify_normal(&self.surface, i, corners, facing, normal, p) == NormalClass::Owned
            }
        }
    }
}

/// The point of a triangle nearest to one at a height over it, if it may be within reach.
#[inline]
fn nearest_spot(candidate: &TrianglePair, center: DVec3, height: f64, reach: f64) -> Option<(DVec3, Spot)> {
    let (corners, n) = (&candidate.corners, candidate.normal);
    let within = reach * reach - height * height;
    let mut best: Option<(f64, DVec3, Spot)> = None;
    let [ab, bc] = [corners[1] - corners[0], corners[2] - corners[1]];
    if !(n.dot(ab.cross(bc)).powi(2) > NEEDLE_SQUARED * ab.length_squared() * bc.length_squared()) {
        return Some((Triangle::from(*corners).closest_point(center), Spot::Unknown));
    }
    for (k, side) in [ab, bc, corners[0] - corners[2]].into_iter().enumerate() {
        let from = center - corners[k];
        let outside = side.cross(n).dot(from);
        if outside <= 0.0 {
            continue;
        }
        let length_squared = side.length_squared();
        if outside * outside > within * length_squared {
            return None;
        }
        let t = from.dot(side) / length_squared;
        let spot = if t <= ON_EDGE {
            Spot::Corner(k)
        } else if t >= 1.0 - ON_EDGE {
            Spot::Corner((k + 1) % 3)
        } else {
            Spot::Edge(k)
        };
        let point = if t >= 1.0 { corners[(k + 1) % 3] } else { corners[k] + t.max(0.0) * side };
        let squared = point.distance_squared(center);
        if best.as_ref().is_none_or(|known| squared < known.0) {
            best = Some((squared, point, spot));
        }
    }
    Some(best.map_or((center - height * n, Spot::Face), |(_, point, spot)| (point, spot)))
}
