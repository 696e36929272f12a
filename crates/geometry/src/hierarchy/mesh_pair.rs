//! Two meshes against each other, and a mesh against itself.
//!
//! Only the relative pose enters: the triangles of B are taken into the frame of A when their leaf overlaps a
//! leaf of A, not before.

use std::ops::{ControlFlow, Range};

use glam::{DMat3, DVec3};

use super::triangle::{TriangleCorners, triangles_overlap};
use super::{MeshTree, Ray, Scratch, Visits};
use crate::Pose;

/// Which pairs within one mesh count as crossing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbors {
    /// Triangles that share a vertex always touch; they are left out.
    #[default]
    Skip,
    /// Every pair of triangles that share a point.
    Report,
}

impl MeshTree {
    /// Calls `found` with the pairs (triangle of this mesh, triangle of the other) that share a point, until
    /// `found` breaks off; `pose` places the other mesh in the frame of this one. An invalid pose yields no
    /// pairs.
    pub fn crossing_pairs(
        &self,
        other: &Self,
        pose: &Pose,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> Visits {
        if !pose.is_valid() {
            return Visits::default();
        }
        let (r, t) = (DMat3::from_quat(pose.rotation), pose.translation);
        self.wide.walk_pairs(&other.wide, pose, scratch, |places_a, places_b| {
            for b in places_b {
                let moved = other.triangle(b).map(|p| r * p + t);
                self.crossing(places_a.clone(), &moved, |a| found(self.wide.order[a], other.wide.order[b]))?;
            }
            ControlFlow::Continue(())
        })
    }

    /// Some pair of triangles that share a point, found as fast as possible.
    pub fn first_crossing(&self, other: &Self, pose: &Pose, scratch: &mut Scratch) -> Option<(u32, u32)> {
        let mut first = None;
        self.crossing_pairs(other, pose, scratch, |a, b| {
            first = Some((a, b));
            ControlFlow::Break(())
        });
        first
    }

    /// Whether two closed meshes share a point: their surfaces cross, or one lies inside the other.
    pub fn solids_overlap(&self, other: &Self, pose: &Pose, scratch: &mut Scratch) -> bool {
        pose.is_valid()
            && (self.first_crossing(other, pose, scratch).is_some()
                || self.contains(pose.point(other.vertices[0]), scratch)
                || other.contains(pose.inverse_point(self.vertices[0]), scratch))
    }

    /// Whether a point lies inside the closed mesh: six axis-parallel rays first hit a surface from behind.
    /// If they disagree (an edge was hit), the solid angle of the whole surface decides.
    pub fn contains(&self, p: DVec3, scratch: &mut Scratch) -> bool {
        if !self.bounds().contains(p) {
            return false;
        }
        let mut inside = 0;
        for axis in DVec3::AXES {
            for direction in [axis, -axis] {
                let hit =
                    Ray::new(p, direction).ok().and_then(|ray| self.cast_ray(&ray, f64::INFINITY, scratch));
                inside += usize::from(hit.is_some_and(|hit| !hit.front));
            }
        }
        match inside {
            0 => false,
            6 => true,
            _ => {
                let angle: f64 = (0..self.corners.len())
                    .map(|place| solid_angle(self.triangle(place).map(|v| v - p)))
                    .sum();
                angle > 2.0 * std::f64::consts::PI
            }
        }
    }

    /// Calls `found` with the pairs i < j of triangles of this mesh that share a point, each once, until
    /// `found` breaks off.
    pub fn self_crossings(
        &self,
        neighbors: Neighbors,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> Visits {
        self.wide.walk_self(scratch, |places_a, places_b| {
            for b in places_b.clone() {
                // Within one leaf each pair once.
                let range = if places_a == places_b { places_a.start..b } else { places_a.clone() };
                self.crossing(range, &self.triangle(b), |a| {
                    let adjacent = self.corners[a].iter().any(|v| self.corners[b].contains(v));
                    if adjacent && neighbors == Neighbors::Skip {
                        return ControlFlow::Continue(());
                    }
                    let (a, b) = (self.wide.order[a], self.wide.order[b]);
                    found(a.min(b), a.max(b))
                })?;
            }
            ControlFlow::Continue(())
        })
    }

    /// Places of the triangles that intersect a triangle.
    #[inline(always)]
    fn crossing(
        &self,
        places: Range<usize>,
        other: &TriangleCorners,
        mut found: impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (low, high) = corners(other);
        for place in places {
            let triangle = &self.triangle(place);
            let (min, max) = corners(triangle);
            // Within rounding of touching the triangles decide.
            let near = (min - low).max(high - max).abs().max_element() * 1e-12;
            if (min - near).cmple(high).all()
                && low.cmple(max + near).all()
                && triangles_overlap(triangle, other)
            {
                found(place)?;
            }
        }
        ControlFlow::Continue(())
    }
}

fn corners([a, b, c]: &TriangleCorners) -> (DVec3, DVec3) {
    (a.min(*b).min(*c), a.max(*b).max(*c))
}

/// Signed solid angle of a triangle from the origin, tan(Ω/2) = a·(b×c) / (abc + (a·b)c + (b·c)a + (c·a)b)
/// (van Oosterom and Strackee 1983), positive if the triangle shows its back.
fn solid_angle([a, b, c]: TriangleCorners) -> f64 {
    let [la, lb, lc] = [a, b, c].map(DVec3::length);
    let volume = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if volume == 0.0 && denominator <= 0.0 { 0.0 } else { 2.0 * volume.atan2(denominator) }
}
