//! Contacts as discrepancies: along the normal one-sided, across it within Coulomb's disc.
//!
//! The normal row aims at −e v_n⁻ if the bodies approach faster than v_rest, else at 0; λ_n += f (target − v_n)/(n·K n), never
//! below 0. Across, the stopping impulse is taken if it is no longer than μ_s λ_n, else cut to μ_d λ_n. Overlap d is mended by moving
//! the bodies apart along the normal.

use super::discrepancy::{Mass, both, k_matrix};
use crate::world::MixedMaterial;
use glam::{DMat3, DVec3};
use rattleback_geometry::Pose;

/// One point of contact.
#[derive(Clone, Debug)]
pub(super) struct Touch {
    pub bodies: [usize; 2],
    /// From the first to the second.
    pub normal: DVec3,
    /// Where, halfway between the surfaces.
    pub point: DVec3,
    /// The points of both surfaces, in their bodies' frames.
    local: [DVec3; 2],
    pub gap: f64,
    material: MixedMaterial,
    target: f64,
    /// Impulses so far: along the normal, and across.
    pub load: f64,
    pub grip: DVec3,
}

impl Touch {
    pub fn new(
        bodies: [usize; 2],
        poses: [&Pose; 2],
        normal: DVec3,
        points: [DVec3; 2],
        material: MixedMaterial,
    ) -> Self {
        Self {
            bodies,
            normal,
            point: 0.5 * (points[0] + points[1]),
            local: [poses[0].inverse_point(points[0]), poses[1].inverse_point(points[1])],
            gap: normal.dot(points[1] - points[0]),
            material,
            target: 0.0,
            load: 0.0,
            grip: DVec3::ZERO,
        }
    }

    /// Notes the velocity before anything is solved: what a bounce aims at is fixed from now on.
    pub fn aim(&mut self, masses: &mut [Mass], v_rest: f64) {
        let Some((one, other)) = both(masses, self.bodies) else { return };
        let speed = self.normal.dot(other.velocity_at(self.point) - one.velocity_at(self.point));
        self.target = if speed < -v_rest { -self.material.restitution * speed } else { 0.0 };
    }

    /// One iteration over the velocities.
    pub fn solve(&mut self, masses: &mut [Mass], f: f64) {
        if self.gap > 0.0 {
            return;
        }
        let Some((one, other)) = both(masses, self.bodies) else { return };
        let (n, p) = (self.normal, self.point);
        let k: DMat3 = k_matrix(one, other, [p, p]);
        let resistance = n.dot(k * n);
        // A NaN would spread.
        if resistance.is_nan() || resistance <= 0.0 {
            return;
        }
        let speed = n.dot(other.velocity_at(p) - one.velocity_at(p));
        let load = (self.load + f * (self.target - speed) / resistance).max(0.0);
        let push = n * (load - self.load);
        self.load = load;
        one.push(-push, p, DVec3::ZERO);
        other.push(push, p, DVec3::ZERO);
        let slip = other.velocity_at(p) - one.velocity_at(p);
        let slip = slip - n * n.dot(slip);
        if let Some(t) = slip.try_normalize() {
            let wanted = self.grip - f * slip / t.dot(k * t);
            let size = wanted.length();
            let grip = if size <= self.material.static_friction * load {
                wanted
            } else {
                wanted * (self.material.kinetic_friction * load / size)
            };
            let pull = grip - self.grip;
            self.grip = grip;
            one.push(-pull, p, DVec3::ZERO);
            other.push(pull, p, DVec3::ZERO);
        }
    }

    /// One iteration over the positions.
    pub fn mend(&mut self, masses: &mut [Mass], f: f64, slop: f64) {
        let Some((one, other)) = both(masses, self.bodies) else { return };
        let points = [one.motion.pose().point(self.local[0]), other.motion.pose().point(self.local[1])];
        let depth = -self.normal.dot(points[1] - points[0]) - slop;
        if depth <= 0.0 {
            return;
        }
        let resistance = self.normal.dot(k_matrix(one, other, points) * self.normal);
        if resistance > 0.0 {
            let shift = self.normal * (f * depth / resistance);
            one.shift(-shift, points[0], DVec3::ZERO);
            other.shift(shift, points[1], DVec3::ZERO);
        }
    }
}
