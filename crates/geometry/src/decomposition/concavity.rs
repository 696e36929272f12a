//! How far a convex part sticks out of the solid.
//!
//! The error of a part is max over its points p of dist(p, solid), s(p) being the signed distance. In a box
//! with centre c and half diagonal r the distance is at most s(c) + r, since s changes no faster than p
//! moves. Boxes are halved where this bound is largest, those outside the part dropped; the largest bound
//! left over is a bound for the whole part, whenever one stops.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::solid_distance::SolidDistance;
use crate::ConvexPolyhedron;

/// Most boxes visited for one part.
const MAX_BOXES: usize = 40_000;

/// Error of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Concavity {
    /// No point of the part is farther from the solid.
    pub bound: f64,
    /// A point of the part that is about as far away, if one is known.
    pub witness: Option<DVec3>,
}

struct Candidate {
    bound: f64,
    center: DVec3,
    half: DVec3,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound)
    }
}

/// (part, solid) ⇒ its error, refined until it is at most `enough` or known within a quarter.
pub(super) fn concavity(part: &ConvexPolyhedron, solid: &SolidDistance, enough: f64) -> Concavity {
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for &p in part.vertices() {
        low = low.min(p);
        high = high.max(p);
    }
    let mut worst = (0.0, None);
    let mut boxes = BinaryHeap::new();
    let look = |center: DVec3, half: DVec3, worst: &mut (f64, Option<DVec3>)| {
        let mut inside = true;
        for (normal, offset) in part.normals().iter().zip(part.offsets()) {
            let height = normal.dot(center) - offset;
            if height > normal.abs().dot(half) {
                return None;
            }
            inside &= height <= 0.0;
        }
        let distance = solid.nearest(center)?.distance;
        if inside && distance > worst.0 {
            *worst = (distance, Some(center));
        }
        Some(Candidate { bound: (distance + half.length()).max(0.0), center, half })
    };
    boxes.extend(look(low.midpoint(high), 0.5 * (high - low), &mut worst));
    for _ in 0..MAX_BOXES / 8 {
        let Some(top) = boxes.peek() else { return Concavity { bound: 0.0, witness: None } };
        if top.bound <= enough || (worst.0 > enough && top.bound <= 1.25 * worst.0) {
            break;
        }
        let Some(Candidate { center, half, .. }) = boxes.pop() else { break };
        for i in 0..8 {
            let sign = |axis: usize| if i >> axis & 1 == 1 { 0.5 } else { -0.5 };
            let offset = half * DVec3::new(sign(0), sign(1), sign(2));
            boxes.extend(look(center + offset, 0.5 * half, &mut worst));
        }
    }
    Concavity { bound: boxes.peek().map_or(0.0, |top| top.bound), witness: worst.1 }
}
