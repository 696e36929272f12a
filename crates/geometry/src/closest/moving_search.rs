//! The search of `gjk` on a difference body that moves while it is searched.
//!
//! Ψ(s) = Ψ − x, x = s v. Its farthest points are those of Ψ moved, so corners stay corners; only the nearest
//! point of their hull is taken anew when x has changed.

use glam::DVec3;

use super::gjk::{RELATIVE_GAP, ROUNDING};
use super::pair::{Corner, Difference, Pair};
use super::simplex::{Nearest, nearest, nearest_with, weights};
use super::{ClosestError, Separation, Support};
use crate::{MAX_LENGTH, Pose};

/// Bounds of the distance of two cores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// At least this.
    pub(crate) lowest: f64,
    /// At most this.
    pub(crate) highest: f64,
    /// From B to A, unit: `lowest` is the separation of the cores along it.
    pub(crate) axis: DVec3,
    /// No other corner brings the bounds nearer to each other.
    pub(crate) certain: bool,
}

/// A search in progress.
pub(crate) struct MovingSearch<'a, A, B> {
    pair: Pair<'a, A, B>,
    corners: [Corner; 4],
    count: usize,
    nearest: Nearest,
    /// Displacement of the last evaluation.
    x: DVec3,
    size: f64,
}

impl<'a, A: Support, B: Support> MovingSearch<'a, A, B> {
    pub(crate) fn new(a: &'a A, b: &'a B, b_in_a: &Pose) -> Result<Self, ClosestError> {
        let pair = Pair::new(a, b, b_in_a)?;
        let direction = pair.toward_b();
        let first = pair.farthest(if direction == DVec3::ZERO { DVec3::X } else { direction }, [0; 2]);
        if !(first.size() <= 4.0 * MAX_LENGTH && first.w.is_finite()) {
            return Err(ClosestError::InvalidPoint);
        }
        let nearest = nearest(&[first.w; 4], 1);
        Ok(Self { pair, corners: [first; 4], count: 1, nearest, x: DVec3::ZERO, size: first.size() })
    }

    /// Displacement of B ⇒ bounds of the distance there, with their corner cached for the next evaluation.
    /// None if the cores overlap or touch.
    pub(crate) fn bounds_at(&mut self, x: DVec3) -> Option<Bounds> {
        let last = (self.x, self.nearest.squared, self.count);
        self.settle(x);
        // As in `gjk`, the search ends at a corner that brings no progress beyond rounding.
        let stalled = last.2 > 1 && last.0 == x && !(self.nearest.squared < last.1);
        self.x = x;
        let p = self.nearest.point;
        let length = self.nearest.squared.sqrt();
        if !(length > ROUNDING * self.size) {
            return None;
        }
        let corner = self.pair.farthest(-p, self.corners[self.count - 1].numbers);
        self.size = self.size.max(corner.size()).max(x.abs().max_element());
        let reach = p.dot(corner.w - x) / length;
        // A corner that is there already has no gap but for rounding.
        let near = !(length - reach > 1e-6 * length);
        let known = near && self.corners[..self.count].iter().any(|old| old.w == corner.w);
        let small = RELATIVE_GAP * length + ROUNDING * self.size;
        let certain = stalled || known || !(length - reach > small);
        if !known && self.count < 4 {
            self.corners[self.count] = corner;
            self.count += 1;
        }
        Some(Bounds { lowest: reach, highest: length, axis: p / length, certain })
    }

    /// Recomputes the nearest point and drops the corners it does not need.
    fn settle(&mut self, x: DVec3) {
        let points = self.corners.map(|corner| corner.w - x);
        // At the same place only the corner that came last is new.
        let one_more = x == self.x && self.count == self.nearest.count as usize + 1;
        self.nearest = if one_more {
            nearest_with(&points, &self.nearest, self.count - 1)
        } else {
            nearest(&points, self.count)
        };
        let mut kept = 0;
        for i in 0..self.count {
            if self.nearest.needed >> i & 1 != 0 {
                self.corners[kept] = self.corners[i];
                kept += 1;
            }
        }
        self.count = kept.max(1);
        self.nearest.needed = (1 << self.count) - 1;
        self.nearest.count = self.count as u32;
    }

    /// Nearest points of the thickened shapes with B displaced by x, as of the last evaluation.
    pub(crate) fn separation(&self, x: DVec3) -> Separation {
        let length = self.nearest.squared.sqrt();
        let normal = -self.nearest.point / length;
        let (mut point_a, mut point_b) = (DVec3::ZERO, x);
        let seen = self.corners.map(|corner| corner.w - x);
        for (corner, weight) in self.corners.iter().zip(weights(&seen, &self.nearest)) {
            point_a += weight * corner.a;
            point_b += weight * corner.b;
        }
        // On curved sides corners lie close together, and their mixtures slide along the surface; p does not.
        let middle = point_a.midpoint(point_b);
        let (point_a, point_b) = (middle - 0.5 * length * normal, middle + 0.5 * length * normal);
        let (radius_a, radius_b) = (self.pair.a.radius(), self.pair.b.radius());
        Separation {
            distance: length - radius_a - radius_b,
            normal,
            point_a: point_a + radius_a * normal,
            point_b: point_b - radius_b * normal,
        }
    }
}
