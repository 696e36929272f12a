//! Faces of the hull seen from the centre of mass: heights, stability, and where an unstable face topples.
//!
//! On face i the centre of mass c is h_i = n_i·(p − c) above the floor, p a corner. Projected onto the face, c lies beyond side e by
//! the distance d_e (negative inside). The face is stable if no d_e is positive. Otherwise the part topples over the side of the largest d_e: if the
//! nearest point of the face lies within a side, that is this side, and if it is a corner, it is the farther of its two sides. h decreases strictly along
//! a topple, so chains end.

use super::part::Part;
use glam::DVec3;

/// Beyond a side by less than this fraction of the size counts as on it: stable, but marginal.
pub const MARGINAL: f64 = 1e-9;

/// A face of the hull.
#[derive(Clone, Debug, PartialEq)]
pub struct Face {
    /// Outward unit normal, in the frame of the file.
    pub normal: DVec3,
    /// Height h of the centre of mass above the face, m.
    pub height: f64,
    /// How far the projected centre of mass is inside of the face, m: the smallest −d_e. Negative on unstable faces.
    pub margin: f64,
    /// Whether the part can rest on it.
    pub stable: bool,
    /// Stable only within the tolerance: the centre of mass is above a side.
    pub marginal: bool,
    /// Where it topples to: the face beyond the side of the largest d_e; itself if it is stable.
    pub next: u32,
    /// Where the chain of topples ends: a stable face.
    pub end: u32,
}

/// All faces of a part's hull.
#[derive(Clone, Debug, PartialEq)]
pub struct Faces {
    /// In the order of the hull.
    pub all: Vec<Face>,
    /// Faces by decreasing height.
    pub by_height: Vec<u32>,
    /// Corners of the hull from the centre of mass, m.
    pub corners: Vec<DVec3>,
    /// The same as directions.
    pub directions: Vec<DVec3>,
}

impl Faces {
    /// Part ⇒ its faces.
    pub fn of(part: &Part) -> Self {
        let (hull, c) = (part.hull(), part.mass().center_of_mass);
        let corners: Vec<DVec3> = hull.vertices().iter().map(|p| *p - c).collect();
        let directions = corners.iter().map(|p| p.normalize_or_zero()).collect();
        let tolerance = MARGINAL * part.size();
        let mut all: Vec<Face> = Vec::with_capacity(hull.face_count());
        for (index, loop_) in hull.faces().enumerate() {
            let normal = hull.normals()[index];
            let height = hull.offsets()[index] - normal.dot(c);
            let (mut farthest, mut next) = (f64::NEG_INFINITY, index as u32);
            for (side, edge) in hull.face_edges(index).iter().enumerate() {
                let (a, b) =
                    (corners[loop_[side] as usize], corners[loop_[(side + 1) % loop_.len()] as usize]);
                // In the plane of the face, away from it.
                let outwards = (b - a).cross(normal).normalize_or_zero();
                let beyond = -outwards.dot(a);
                if beyond > farthest {
                    let [left, right] = hull.edges()[*edge as usize].faces;
                    (farthest, next) = (beyond, if left == index as u32 { right } else { left });
                }
            }
            let stable = farthest <= tolerance;
            all.push(Face {
                normal,
                height,
                margin: -farthest,
                stable,
                marginal: stable && farthest > -tolerance,
                next: if stable { index as u32 } else { next },
                end: index as u32,
            });
        }
        let mut by_height: Vec<u32> = (0..all.len() as u32).collect();
        by_height.sort_by(|a, b| all[*b as usize].height.total_cmp(&all[*a as usize].height).then(a.cmp(b)));
        // From the lowest up, the end of the next face is known.
        for &face in by_height.iter().rev() {
            let (next, height) = (all[face as usize].next, all[face as usize].height);
            if next == face {
                continue;
            }
            let lower = &all[next as usize];
            if lower.height < height {
                all[face as usize].end = lower.end;
            } else {
                // Equal heights up to rounding: the centre of mass is above the side.
                let this = &mut all[face as usize];
                (this.stable, this.marginal, this.next) = (true, true, face);
            }
        }
        Self { all, by_height, corners, directions }
    }

    /// Spherical polygon of a face: directions of its corners from the centre of mass.
    pub fn polygon(&self, part: &Part, face: usize) -> Vec<DVec3> {
        part.hull().face(face).iter().map(|&corner| self.directions[corner as usize]).collect()
    }
}
