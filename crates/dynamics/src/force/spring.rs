//! Damped spring between two points of two bodies, or of a body and the world.
//!
//! With d = p_b − p_a, l = |d|, d̂ = d/l and u the relative velocity of the points:
//! F_b = −[k_s (l − r₀) + k_d u·d̂] d̂, F_a = −F_b. A spring without rest length pulls as F_b = −k_s d − k_d u, which
//! also damps swinging: that is the form for dragging things about.
//!
//! With the reduced mass μ (1/μ = 1/m_a + 1/m_b): k_d = 2 ζ √(k_s μ) for a damping ratio ζ, and k_s = μ ω₀² for an
//! angular frequency ω₀, so that the same numbers feel the same for heavy and light bodies.

use super::{Force, ForceAccumulator, ForceContext, TargetBody, rate_of_potential};
use crate::component;
use crate::error::{Error, parameter};
use crate::property::Allowed;
use crate::rigid::{Motion, Wrench};
use crate::signal::Signal;
use crate::world::{Bodies, BodyId};
use glam::DVec3;

component! {
    /// Damped spring between two bodies, or a body and the world.
    pub struct Spring as "spring" {
        /// One end; the world if none is named.
        body_a: Option<BodyId> = None, "", Allowed::Finite;
        /// The other end; the world if none is named.
        body_b: Option<BodyId> = None, "", Allowed::Finite;
        /// Attachment on a: a point of its body frame, or of the world.
        anchor_a: Signal<DVec3> = DVec3::ZERO, "m", Allowed::Finite;
        /// Attachment on b: a point of its body frame, or of the world.
        anchor_b: Signal<DVec3> = DVec3::ZERO, "m", Allowed::Finite;
        /// r₀: length at which it neither pulls nor pushes.
        rest_length: Signal<f64> = 0.0, "m", Allowed::NonNegative;
        /// Which numbers below count: stiffness and damping; stiffness and damping_ratio; or angular_frequency and damping_ratio.
        tuning: String = "coefficients", "", Allowed::OneOf(&["coefficients", "damping-ratio", "frequency"]);
        /// k_s.
        stiffness: Signal<f64> = 100.0, "N/m", Allowed::NonNegative;
        /// k_d.
        damping: Signal<f64> = 0.0, "N·s/m", Allowed::NonNegative;
        /// ζ: below 1 it swings, at 1 it just does not.
        damping_ratio: Signal<f64> = 1.0, "", Allowed::NonNegative;
        /// ω₀ of the undamped spring.
        angular_frequency: Signal<f64> = 10.0, "rad/s", Allowed::NonNegative;
        /// The force never exceeds this; 0 means no limit.
        max_force: f64 = 0.0, "N", Allowed::NonNegative;
    }
}

/// One end of a spring at one instant.
struct End<'a> {
    point: DVec3,
    velocity: DVec3,
    inverse_mass: f64,
    dynamic: Option<TargetBody<'a>>,
}

impl Spring {
    fn end<'a>(scope: &ForceContext<'a>, body: Option<BodyId>, anchor: DVec3) -> Option<End<'a>> {
        let Some(id) = body else {
            return Some(End { point: anchor, velocity: DVec3::ZERO, inverse_mass: 0.0, dynamic: None });
        };
        // A spring whose body is gone hangs loose.
        let motion: &Motion = scope.bodies.motion_of(id)?;
        let point = scope.bodies.pose_of(id, motion).point(anchor);
        let dynamic = scope.dynamic(id);
        Some(End {
            point,
            velocity: motion.velocity_at(point),
            inverse_mass: dynamic.map_or(0.0, |body| body.inertia.inverse_mass),
            dynamic,
        })
    }

    fn ends<'a>(&self, scope: &ForceContext<'a>) -> Option<(End<'a>, End<'a>)> {
        let a = Self::end(scope, self.body_a, self.anchor_a.at(scope.time))?;
        let b = Self::end(scope, self.body_b, self.anchor_b.at(scope.time))?;
        Some((a, b))
    }

    /// (k_s, k_d) for two ends of these inverse masses.
    fn coefficients(&self, t: f64, inverse_masses: f64) -> (f64, f64) {
        let mu = if inverse_masses > 0.0 { 1.0 / inverse_masses } else { 0.0 };
        match self.tuning.as_str() {
            "damping-ratio" => {
                let k_s = self.stiffness.at(t);
                (k_s, 2.0 * self.damping_ratio.at(t) * (k_s * mu).sqrt())
            }
            "frequency" => {
                let omega = self.angular_frequency.at(t);
                (mu * omega * omega, 2.0 * self.damping_ratio.at(t) * mu * omega)
            }
            _ => (self.stiffness.at(t), self.damping.at(t)),
        }
    }
}

impl Spring {
    /// (force on b, the part of it that the potential stands for); nothing if its direction is not known.
    fn force(&self, t: f64, a: &End<'_>, b: &End<'_>) -> Option<(DVec3, DVec3)> {
        let (k_s, k_d) = self.coefficients(t, a.inverse_mass + b.inverse_mass);
        let rest = self.rest_length.at(t);
        let d = b.point - a.point;
        let u = b.velocity - a.velocity;
        let length = d.length();
        let (force, elastic) = if rest == 0.0 {
            (-k_s * d - k_d * u, -k_s * d)
        } else if length <= 1e-12 * rest.max(1.0) {
            // The direction of the force is undefined.
            return None;
        } else {
            let (along, pull) = (d / length, k_s * (length - rest));
            (-(pull + k_d * u.dot(along)) * along, -pull * along)
        };
        let most = if self.max_force > 0.0 { self.max_force } else { f64::INFINITY };
        Some((force.clamp_length_max(most), elastic))
    }

    /// Whether nothing about it changes with time.
    fn is_constant(&self) -> bool {
        let numbers =
            [&self.rest_length, &self.stiffness, &self.damping, &self.damping_ratio, &self.angular_frequency];
        numbers.iter().all(|signal| signal.is_constant())
            && self.anchor_a.is_constant()
            && self.anchor_b.is_constant()
    }
}

impl Force for Spring {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let Some((a, b)) = self.ends(scope) else { return };
        let Some((force, _)) = self.force(scope.time, &a, &b) else { return };
        if let Some(body) = b.dynamic {
            loads.add(body.index, Wrench::at(force, b.point, body.motion.x));
        }
        if let Some(body) = a.dynamic {
            loads.add(body.index, Wrench::at(-force, a.point, body.motion.x));
        }
    }

    fn potential_energy(&self, scope: &ForceContext<'_>) -> f64 {
        self.ends(scope).map_or(0.0, |(a, b)| {
            let (k_s, _) = self.coefficients(scope.time, a.inverse_mass + b.inverse_mass);
            let stretch = (b.point - a.point).length() - self.rest_length.at(scope.time);
            0.5 * k_s * stretch * stretch
        })
    }

    /// Dampers, forces cut off at `max_force`, ends that kinematic bodies carry along, and parameters that change with time. With F the force
    /// on b, F_e the part that U stands for and v the velocities of the ends, dynamic or not: dK/dt = F·(v_b − v_a) over the dynamic ends,
    /// dU/dt = ∂U/∂t − F_e·(v_b − v_a) over all; this is their sum.
    fn power_without_potential(&self, scope: &ForceContext<'_>) -> Option<f64> {
        let Some((a, b)) = self.ends(scope) else { return Some(0.0) };
        let Some((force, elastic)) = self.force(scope.time, &a, &b) else { return Some(0.0) };
        let dynamic = |end: &End<'_>| if end.dynamic.is_some() { end.velocity } else { DVec3::ZERO };
        let work = force.dot(dynamic(&b) - dynamic(&a)) - elastic.dot(b.velocity - a.velocity);
        Some(work + if self.is_constant() { 0.0 } else { rate_of_potential(self, scope) })
    }

    fn is_passive(&self) -> bool {
        self.is_constant()
    }

    fn check(&self, bodies: &Bodies) -> Result<(), Error> {
        for id in [self.body_a, self.body_b].into_iter().flatten() {
            bodies.locate(id).ok_or(Error::UnknownBody(id))?;
        }
        if self.body_a == self.body_b {
            return Err(parameter(
                "spring",
                "between two different bodies, or a body and the world",
                self.body_a,
            ));
        }
        Ok(())
    }
}
