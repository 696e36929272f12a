//! Contact points in the sequential solver: one-sided along the normal, within Coulomb's disc along the
//! tangents.
//!
//! The normal row has the target velocity −e v_n⁻ if the bodies approach faster than v_rest, else 0: λ_n += f
//! (target − v_n)/(n·K n), with λ_n ≥ 0. Tangentially, the impulse that stops the slip is taken if it is at
//! most μ_s λ_n, else reduced to μ_d λ_n. An overlap d is corrected by displacements along the normal.

use super::solver_body::{SequentialBody, pair_mut};
use crate::solver::{ImpulseResponse, relative_inverse_mass};
use crate::world::{CombinedMaterial, ShapeId};
use glam::{DMat3, DVec3};
use rattleback_geometry::Pose;

/// A contact point.
#[derive(Clone, Debug)]
pub(super) struct PointContact {
    /// Indices of the bodies.
    pub bodies: [usize; 2],
    pub shapes: [ShapeId; 2],
    /// Unit normal from the first to the second.
    pub normal: DVec3,
    /// Position half-way between both surfaces, m.
    pub point: DVec3,
    /// Contact points of both surfaces in the principal frames of their bodies.
    local: [DVec3; 2],
    /// Gap, m; negative where the bodies overlap.
    pub gap: f64,
    material: CombinedMaterial,
    /// Target normal velocity, m/s.
    target: f64,
    /// Accumulated normal and tangential impulse, N s.
    pub normal_impulse: f64,
    pub friction_impulse: DVec3,
}

impl PointContact {
    pub fn new(
        (bodies, shapes): ([usize; 2], [ShapeId; 2]),
        poses: &[Pose; 2],
        normal: DVec3,
        points: [DVec3; 2],
        material: CombinedMaterial,
    ) -> Self {
        Self {
            bodies,
            shapes,
            normal,
            point: 0.5 * (points[0] + points[1]),
            local: [poses[0].inverse_point(points[0]), poses[1].inverse_point(points[1])],
            gap: normal.dot(points[1] - points[0]),
            material,
            target: 0.0,
            normal_impulse: 0.0,
            friction_impulse: DVec3::ZERO,
        }
    }

    /// Sets the target velocity from the approach speed before the solution.
    pub fn set_target(&mut self, bodies: &mut [SequentialBody], v_rest: f64) {
        let Some((one, other)) = pair_mut(bodies, self.bodies) else { return };
        let speed = self.normal.dot(other.velocity_at(self.point) - one.velocity_at(self.point));
        self.target = if speed < -v_rest { -self.material.restitution * speed } else { 0.0 };
    }

    /// One velocity iteration that removes the fraction f of the error.
    pub fn solve(&mut self, bodies: &mut [SequentialBody], f: f64) {
        if self.gap > 0.0 {
            return;
        }
        let Some((one, other)) = pair_mut(bodies, self.bodies) else { return };
        let (n, p) = (self.normal, self.point);
        let k: DMat3 = relative_inverse_mass(one, other, [p, p]);
        let inverse_mass = n.dot(k * n);
        // A NaN would spread to other bodies.
        if inverse_mass.is_nan() || inverse_mass <= 0.0 {
            return;
        }
        let speed = n.dot(other.velocity_at(p) - one.velocity_at(p));
        let normal_impulse = (self.normal_impulse + f * (self.target - speed) / inverse_mass).max(0.0);
        let impulse = n * (normal_impulse - self.normal_impulse);
        self.normal_impulse = normal_impulse;
        one.apply_impulse(p, -impulse);
        other.apply_impulse(p, impulse);
        let slip = other.velocity_at(p) - one.velocity_at(p);
        let slip = slip - n * n.dot(slip);
        if let Some(t) = slip.try_normalize() {
            let wanted = self.friction_impulse - f * slip / t.dot(k * t);
            let size = wanted.length();
            let friction_impulse = if size <= self.material.static_friction * normal_impulse {
                wanted
            } else {
                wanted * (self.material.kinetic_friction * normal_impulse / size)
            };
            let impulse = friction_impulse - self.friction_impulse;
            self.friction_impulse = friction_impulse;
            one.apply_impulse(p, -impulse);
            other.apply_impulse(p, impulse);
        }
    }

    /// One position iteration that removes the fraction f of the overlap beyond the slop, m.
    pub fn correct_position(&mut self, bodies: &mut [SequentialBody], f: f64, slop: f64) {
        let Some((one, other)) = pair_mut(bodies, self.bodies) else { return };
        let points = [one.motion.pose().point(self.local[0]), other.motion.pose().point(self.local[1])];
        let depth = -self.normal.dot(points[1] - points[0]) - slop;
        if depth <= 0.0 {
            return;
        }
        let inverse_mass = self.normal.dot(relative_inverse_mass(one, other, points) * self.normal);
        if inverse_mass > 0.0 {
            let shift = self.normal * (f * depth / inverse_mass);
            one.apply_displacement(-shift, points[0], DVec3::ZERO);
            other.apply_displacement(shift, points[1], DVec3::ZERO);
        }
    }
}
