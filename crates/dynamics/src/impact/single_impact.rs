//! A collision in non-dimensional form, and its state of integration.
//!
//! The problem is homogeneous: velocities times λ give impulses times λ, and K times λ gives impulses divided
//! by λ. So velocities are measured in units of the approach |u_z| (bounded below by 10⁻¹⁰⁰ of the sliding,
//! so that nothing overflows) and K in units of K33; tolerances then need no scale.
//!
//! The collision is parametrised by the normal impulse p_z, which grows from 0. While u_z < 0 the normal
//! force does the work −W⁻ (compression), while u_z > 0 the work W⁺ (restitution). With friction, u_z may
//! pass zero more than once. The collision ends the first time that u_z ≥ 0 and
//!
//!   Stronge: W⁺ = e² W⁻     Poisson: p_z = (1 + e) p_z(last time u_z rose through 0)     Newton: u_z = −e u_z(0).
//!
//! Where ξ = dp/dp_z is constant, u_z = u_z + κΔ is linear and all of this has a closed form:
//! [`Progress::straight`].

use super::{
    Collision, CollisionError, CollisionSettings, Compliance, Outcome, Restitution, Scheme, SlipHistory,
};
use glam::{DVec2, DVec3};

/// A checked collision in its own units: K33 = 1, |u_z| = 1 unless the impact is all but grazing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// K/K33 in parts.
    pub compliance: Compliance,
    /// Relative velocity before the collision, in units of `speed`; z < 0.
    pub velocity: DVec3,
    /// Coefficient of friction μ.
    pub friction: f64,
    /// Coefficient of restitution e.
    pub e: f64,
    /// Definition of e.
    pub restitution: Restitution,
    /// Unit of velocity.
    speed: f64,
    /// Unit of K.
    unit: f64,
}

impl Impact {
    /// (collision, settings) ⇒ the collision in its own units; none if the contact is not approaching.
    ///
    /// The restitution may exceed 1 here, because microcollisions boost it; `CollisionSettings::check`
    /// refuses that.
    ///
    /// # Errors
    /// Values that are not finite, or a matrix that is not a collision matrix.
    pub fn new(collision: &Collision, settings: &CollisionSettings) -> Result<Option<Self>, CollisionError> {
        let Collision { k, u } = collision;
        if !u.is_finite() {
            return Err(CollisionError::NotFinite { what: "the relative velocity" });
        }
        let compliance = Compliance::new(k)?;
        if u.z >= 0.0 {
            return Ok(None);
        }
        let speed = u.z.abs().max(1e-100 * u.x.abs().max(u.y.abs()));
        let unit = compliance.k;
        let velocity = *u / speed;
        let compliance = compliance.divided_by(unit);
        if !(velocity.is_finite() && compliance.velocity(DVec3::ONE).is_finite()) {
            return Err(CollisionError::Overflow);
        }
        let CollisionSettings { restitution, e, mu, .. } = *settings;
        Ok(Some(Self { compliance, velocity, friction: mu, e, restitution, speed, unit }))
    }

    /// Total impulse and final velocity of an algebraic law ⇒ its outcome. The work is split between
    /// compression and restitution as if the normal velocity had changed linearly with the impulse.
    pub fn algebraic(&self, p: DVec3, evaluations: u32) -> Outcome {
        let u = self.velocity + self.compliance.velocity(p);
        let p_c = p.z * self.velocity.z / (self.velocity.z - u.z).min(-f64::MIN_POSITIVE);
        Outcome {
            impulse: p,
            velocity: u,
            compression_work: 0.5 * self.velocity.z * p_c.min(p.z),
            restitution_work: 0.5 * u.z * (p.z - p_c).max(0.0),
            work: 0.5 * (u + self.velocity).dot(p),
            slip: SlipHistory::default(),
            evaluations,
            scheme: Scheme::Algebraic,
        }
    }

    /// An outcome in the units of the impact ⇒ in SI units.
    pub(super) fn in_si(&self, outcome: &Outcome) -> Result<Outcome, CollisionError> {
        let impulse = self.speed / self.unit;
        let work = self.speed * impulse;
        let stick = outcome.slip.stick.map(|mut stick| {
            stick.normal_impulse *= impulse;
            stick.normal_velocity *= self.speed;
            stick
        });
        let result = Outcome {
            impulse: outcome.impulse * impulse,
            velocity: outcome.velocity * self.speed,
            compression_work: outcome.compression_work * work,
            restitution_work: outcome.restitution_work * work,
            work: outcome.work * work,
            slip: SlipHistory { stick, ..outcome.slip },
            ..*outcome
        };
        let finite = result.impulse.is_finite() && result.velocity.is_finite() && result.work.is_finite();
        if finite { Ok(result) } else { Err(CollisionError::Overflow) }
    }
}

/// State of an impact during integration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress<'a> {
    pub impact: &'a Impact,
    /// Impulse so far.
    pub p: DVec3,
    /// Sliding velocity.
    pub u_t: DVec2,
    /// Normal velocity.
    pub u_z: f64,
    /// Work of compression, as a positive number.
    pub w_minus: f64,
    /// Work of restitution.
    pub w_plus: f64,
    /// p_z when u_z last rose through zero.
    pub p_mc: f64,
    /// Steps of an integrator.
    pub evaluations: u32,
    pub slip: SlipHistory,
    pub scheme: Scheme,
}

impl<'a> Progress<'a> {
    pub fn new(impact: &'a Impact) -> Self {
        Self {
            impact,
            p: DVec3::ZERO,
            u_t: impact.velocity.truncate(),
            u_z: impact.velocity.z,
            w_minus: 0.0,
            w_plus: 0.0,
            p_mc: 0.0,
            evaluations: 0,
            slip: SlipHistory::default(),
            scheme: Scheme::ClosedForm,
        }
    }

    pub fn outcome(&self) -> Outcome {
        let velocity = self.u_t.extend(self.u_z.max(0.0));
        Outcome {
            impulse: self.p,
            velocity,
            compression_work: -self.w_minus,
            restitution_work: self.w_plus,
            work: 0.5 * (velocity + self.impact.velocity).dot(self.p),
            slip: self.slip,
            evaluations: self.evaluations,
            scheme: self.scheme,
        }
    }

    /// u_z rises through zero at the normal impulse p_z.
    pub fn end_compression(&mut self, p_z: f64) {
        self.p_mc = p_z;
        self.slip.compressions += 1;
    }

    /// The value, of work, impulse or velocity, at which the collision ends while u_z ≥ 0.
    pub fn target(&self) -> f64 {
        let Impact { e, restitution, velocity, .. } = self.impact;
        match restitution {
            Restitution::Stronge => e * e * self.w_minus,
            Restitution::Poisson => (1.0 + e) * self.p_mc,
            Restitution::Newton => -e * velocity.z,
        }
    }

    /// (κ) ⇒ normal impulse still needed from u_z ≥ 0 if du_z/dp_z = κ stays, and the final u_z; none if never.
    fn remaining(&self, kappa: f64) -> Option<(f64, f64)> {
        let u = self.u_z;
        match self.impact.restitution {
            Restitution::Stronge => {
                let work = (self.target() - self.w_plus).max(0.0);
                let square = u * u + 2.0 * kappa * work;
                if square < 0.0 {
                    return None;
                }
                let end = square.sqrt();
                Some(if work > 0.0 { (2.0 * work / (u + end), end) } else { (0.0, u) })
            }
            Restitution::Poisson => {
                let delta = (self.target() - self.p.z).max(0.0);
                (u + kappa * delta >= 0.0).then_some((delta, u + kappa * delta))
            }
            Restitution::Newton => {
                let rise = self.target() - u;
                if rise <= 0.0 {
                    Some((0.0, u))
                } else {
                    (kappa > 0.0).then(|| (rise / kappa, self.target()))
                }
            }
        }
    }

    /// (κ) ⇒ normal impulse to the next event (u_z = 0 or the end) and to the end, for a constant du_z/dp_z =
    /// κ.
    pub fn predicted_impulses(&self, kappa: f64) -> [f64; 2] {
        if kappa <= 0.0 {
            return [f64::INFINITY; 2];
        }
        if self.u_z < 0.0 {
            let event = -self.u_z / kappa;
            return [event, (1.0 + self.impact.e) * event];
        }
        let end = self.remaining(kappa).map_or(f64::INFINITY, |end| end.0);
        [end, end]
    }

    /// Advances by the normal impulse `delta`, each unit of which adds ξ and du.
    fn advance(&mut self, delta: f64, xi: DVec2, du: DVec3) {
        self.p += delta * xi.extend(1.0);
        self.u_t += delta * du.truncate();
        let work = delta * (self.u_z + 0.5 * delta * du.z);
        if self.u_z < 0.0 || (self.u_z == 0.0 && du.z < 0.0) {
            self.w_minus -= work;
        } else {
            self.w_plus += work;
        }
        self.u_z += delta * du.z;
    }

    /// Advances along (ξ, 1) with du = K(ξ, 1), by at most `limit` of normal impulse ⇒ whether the collision
    /// has ended.
    pub fn straight(&mut self, xi: DVec2, du: DVec3, mut limit: f64) -> Result<bool, CollisionError> {
        let kappa = du.z;
        if kappa <= 0.0 && limit == f64::INFINITY {
            return Err(CollisionError::CollisionMatrix {
                defect: "within rounding, friction alone presses",
            });
        }
        if self.u_z < 0.0 {
            let delta = -self.u_z / kappa;
            if kappa <= 0.0 || delta > limit {
                self.advance(limit, xi, du);
                return Ok(false);
            }
            self.advance(delta, xi, du);
            self.u_z = 0.0;
            self.end_compression(self.p.z);
            limit -= delta;
        }
        let end = self.remaining(kappa);
        if let Some((delta, u_z)) = end.filter(|end| end.0 <= limit) {
            self.advance(delta, xi, du);
            self.u_z = u_z;
            return Ok(true);
        }
        let fall = if kappa < 0.0 { -self.u_z / kappa } else { f64::INFINITY };
        if fall < limit {
            self.advance(fall, xi, du);
            self.u_z = 0.0;
            limit -= fall;
        }
        self.advance(limit, xi, du);
        Ok(false)
    }
}
