//! The way of a ray through boxes.
//!
//! Along o + t d a box is entered at t_near = max over axes of (near_i − o_i)/d_i and left at t_far = min of
//! (far_i − o_i)/d_i, near_i the side hit first. With |d|_∞ = 1 and w_i = 1/d_i this is near_i w_i − o_i w_i:
//! one product and one difference, o_i w_i known beforehand. A rounding error of ε in a coordinate moves t by
//! ε |w_i|, so widening every box by a slack δ larger than all rounding errors is the same as taking o_i
//! w_i + δ|w_i| on entry and o_i w_i − δ|w_i| on exit. Directions with |d_i| below a floor are lifted to it,
//! which moves the ray less than δ before it leaves the box, and spares all special cases of rays within a
//! side plane.

use glam::DVec3;

use crate::Aabb;
use crate::primitive::Ray;

/// A ray prepared for boxes in double precision; its parameter is t·|d|_∞.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slabs {
    pub inverse: DVec3,
    pub enter: DVec3,
    pub leave: DVec3,
    /// |d|_∞: t times this is the parameter along the slabs.
    pub speed: f64,
}

/// Relative rounding error granted to a coordinate, generous to the leaf test as well.
const SLACK: f64 = 1e-14;
/// Smallest component of a direction with |d|_∞ = 1.
const FLOOR: f64 = 1e-18;

impl Slabs {
    /// Ray ⇒ slabs, for boxes within `root`.
    pub fn new(ray: &Ray, root: &Aabb) -> Self {
        let speed = ray.direction().abs().max_element();
        let inverse = DVec3::from_array(ray.direction().to_array().map(|d| {
            let d = d / speed;
            1.0 / if d.abs() < FLOOR { FLOOR.copysign(d) } else { d }
        }));
        let size = root.min().abs().max(root.max().abs()).max(ray.origin().abs()).max_element();
        let (shift, slack) = (ray.origin() * inverse, SLACK * size * inverse.abs());
        Self { inverse, enter: shift + slack, leave: shift - slack, speed }
    }

    /// Box ⇒ parameter at which it is entered, if it is hit within [0, limit].
    #[inline(always)]
    pub fn entry(&self, bounds: &Aabb, limit: f64) -> Option<f64> {
        let (min, max) = (bounds.min(), bounds.max());
        let forward = self.inverse.cmpge(DVec3::ZERO);
        let near = DVec3::select(forward, min, max) * self.inverse - self.enter;
        let far = DVec3::select(forward, max, min) * self.inverse - self.leave;
        let enter = near.max_element().max(0.0);
        let leave = far.min_element().min(limit);
        (enter <= leave).then_some(enter)
    }
}
