//! Damped springs between two particles.
//!
//! d = p₂ − p₁, l = |d|, d̂ = d/l: F₂ = −(k_s (l − l₀) + k_d (v₂ − v₁)·d̂) d̂, F₁ = −F₂. Damping acts along
//! the spring only. With l₀ = 0 there is no direction to need: F₂ = −k_s d − k_d (v₂ − v₁). With l₀ > 0 and
//! l < 1e-12 max(l₀, 1 m) the force is left out.
//!
//! With the reduced mass μ = m₁ m₂/(m₁ + m₂) (that of the free end if the other is pinned) the motion along the
//! spring is that of one mass: ω₀² = k_s/μ, ζ = k_d/(2 √(k_s μ)).

use glam::DVec3;

use super::{ForceView, JointForce};
use crate::error::check;
use crate::{ParticleError, ParticleId, Particles};

/// Stiffness and damping of a spring, in one of three ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpringLaw {
    /// k_s in N/m, k_d in N s/m.
    Coefficients {
        /// k_s, N/m.
        stiffness: f64,
        /// k_d, N s/m.
        damping: f64,
    },
    /// k_s in N/m and ζ: below 1 it oscillates, at 1 it is critically damped.
    DampingRatio {
        /// k_s, N/m.
        stiffness: f64,
        /// ζ.
        ratio: f64,
    },
    /// ω₀ in rad/s and ζ: the same motion whatever the masses.
    Frequency {
        /// ω₀, rad/s.
        frequency: f64,
        /// ζ.
        ratio: f64,
    },
}

impl SpringLaw {
    /// Reduced mass ⇒ [k_s, k_d].
    pub fn coefficients(&self, reduced_mass: f64) -> [f64; 2] {
        match *self {
            Self::Coefficients { stiffness, damping } => [stiffness, damping],
            Self::DampingRatio { stiffness, ratio } => {
                [stiffness, 2.0 * ratio * (stiffness * reduced_mass).sqrt()]
            }
            Self::Frequency { frequency, ratio } => {
                [reduced_mass * frequency * frequency, 2.0 * ratio * reduced_mass * frequency]
            }
        }
    }

    /// Both numbers must be finite and not negative.
    pub(crate) fn check(&self) -> Result<(), ParticleError> {
        let named = match *self {
            Self::Coefficients { stiffness, damping } => [("stiffness", stiffness), ("damping", damping)],
            Self::DampingRatio { stiffness, ratio } => [("stiffness", stiffness), ("damping ratio", ratio)],
            Self::Frequency { frequency, ratio } => [("frequency", frequency), ("damping ratio", ratio)],
        };
        named.into_iter().try_for_each(|(name, value)| check(name, value, value >= 0.0, "≥ 0"))
    }
}

/// A spring between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Its ends.
    pub particles: [ParticleId; 2],
    /// l₀, m.
    pub rest_length: f64,
    /// Stiffness and damping.
    pub law: SpringLaw,
}

/// Springs of a system. Those with an end that was removed are without effect.
#[derive(Clone, Debug, Default)]
pub struct Springs {
    springs: Vec<Spring>,
}

impl Springs {
    /// Adds a spring.
    ///
    /// # Errors
    /// A particle does not exist, both are the same, or a number is out of range.
    pub fn add(&mut self, particles: &Particles, spring: Spring) -> Result<(), ParticleError> {
        let [a, b] = spring.particles;
        particles.index(a)?;
        particles.index(b)?;
        if a == b {
            return Err(ParticleError::BadTopology { element: self.springs.len(), particle: a });
        }
        let l0 = spring.rest_length;
        check("rest length", l0, l0 >= 0.0, "≥ 0")?;
        spring.law.check()?;
        self.springs.push(spring);
        Ok(())
    }

    /// The springs.
    pub fn list(&self) -> &[Spring] {
        &self.springs
    }
}

/// 1/μ of two particles ⇒ μ; that of a free end if the other is pinned.
fn reduced_mass(particles: &Particles, i: usize, j: usize) -> f64 {
    let inverse = particles.inverse_mass(i) + particles.inverse_mass(j);
    if inverse > 0.0 { 1.0 / inverse } else { 0.0 }
}

impl JointForce for Springs {
    fn accumulate(&mut self, view: &ForceView<'_>, force: &mut [DVec3]) -> Result<(), ParticleError> {
        for spring in &self.springs {
            let [Some(i), Some(j)] = spring.particles.map(|id| view.place(id)) else { continue };
            let mu = reduced_mass(view.particles(), view.index(i), view.index(j));
            let [k_s, k_d] = spring.law.coefficients(mu);
            let d = view.position[j] - view.position[i];
            let v = view.velocity[j] - view.velocity[i];
            let (length, l0) = (d.length(), spring.rest_length);
            let on_second = if l0 == 0.0 {
                -k_s * d - k_d * v
            } else if length < 1e-12 * l0.max(1.0) {
                DVec3::ZERO
            } else {
                let direction = d / length;
                -(k_s * (length - l0) + k_d * v.dot(direction)) * direction
            };
            force[j] += on_second;
            force[i] -= on_second;
        }
        Ok(())
    }

    fn potential_energy(&mut self, view: &ForceView<'_>) -> f64 {
        let mut energy = 0.0;
        for spring in &self.springs {
            let [Some(i), Some(j)] = spring.particles.map(|id| view.place(id)) else { continue };
            let mu = reduced_mass(view.particles(), view.index(i), view.index(j));
            let stretch = view.position[i].distance(view.position[j]) - spring.rest_length;
            energy += 0.5 * spring.law.coefficients(mu)[0] * stretch * stretch;
        }
        energy
    }

    fn connections(&mut self, view: &ForceView<'_>, connect: &mut dyn FnMut(usize, usize)) {
        for spring in &self.springs {
            if let [Some(i), Some(j)] = spring.particles.map(|id| view.place(id)) {
                connect(i, j);
            }
        }
    }
}
