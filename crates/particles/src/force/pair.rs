//! Forces between all pairs of particles: gravitation, Lennard-Jones, Coulomb; with a cut-off in O(n).
//!
//! F₁ = f(r) (p₁ − p₂), F₂ = −F₁, r = |p₁ − p₂|:
//!
//! * gravitation f = −G m₁ m₂/r³,
//! * Coulomb f = K q₁ q₂/r³,
//! * Lennard-Jones f = 48 (ε/σ²) ((σ/r)¹⁴ − ½ (σ/r)⁸), U = 4 ε ((σ/r)¹² − (σ/r)⁶).
//!
//! A softening length s replaces r² by r² + s². A cut-off c leaves out pairs with r > c: sharply, or with the
//! force shifted by its value at c, so that it is continuous there.

use glam::DVec3;

use super::{ForceView, JointForce};
use crate::error::check;
use crate::{CellGrid, ParticleError, Particles};

/// G, N m² kg⁻², as in the source of the specification.
pub const GRAVITATIONAL_CONSTANT: f64 = 6.672e-11;
/// K, N m² C⁻².
pub const COULOMB_CONSTANT: f64 = 8.9875e9;

/// Law of a force between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairLaw {
    /// Masses attract each other.
    Gravitation {
        /// G, N m² kg⁻².
        constant: f64,
    },
    /// Atoms that repel each other when close and attract each other when far.
    LennardJones {
        /// ε, J.
        epsilon: f64,
        /// σ, m.
        sigma: f64,
    },
    /// Like charges repel each other.
    Coulomb {
        /// K, N m² C⁻².
        constant: f64,
    },
}

/// What happens to the force at the cut-off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Truncation {
    /// It ends there.
    #[default]
    Sharp,
    /// Its value there is subtracted along the whole range.
    ShiftedForce,
}

/// A force between all pairs of particles.
#[derive(Clone, Debug)]
pub struct PairForce {
    law: PairLaw,
    cutoff: f64,
    softening: f64,
    truncation: Truncation,
    grid: CellGrid,
}

impl PairForce {
    /// A law with a cut-off, m (may be infinite: all pairs, n²), and a softening length, m (may be 0).
    ///
    /// # Errors
    /// A number is out of range.
    pub fn new(
        law: PairLaw,
        cutoff: f64,
        softening: f64,
        truncation: Truncation,
    ) -> Result<Self, ParticleError> {
        if cutoff != f64::INFINITY {
            check("cut-off", cutoff, cutoff > 0.0, "greater than zero")?;
        }
        check("softening length", softening, softening >= 0.0, "≥ 0")?;
        match law {
            PairLaw::Gravitation { constant } | PairLaw::Coulomb { constant } => {
                check("constant", constant, true, "finite")?;
            }
            PairLaw::LennardJones { epsilon, sigma } => {
                check("epsilon", epsilon, epsilon >= 0.0, "≥ 0")?;
                check("sigma", sigma, sigma > 0.0, "greater than zero")?;
            }
        }
        Ok(Self { law, cutoff, softening, truncation, grid: CellGrid::default() })
    }

    /// Product of the masses or charges that the law needs.
    fn strength(&self, particles: &Particles, i: usize, j: usize) -> f64 {
        match self.law {
            PairLaw::Gravitation { constant } => -constant * particles.mass[i] * particles.mass[j],
            PairLaw::Coulomb { constant } => {
                constant * particles.traits[i].charge * particles.traits[j].charge
            }
            PairLaw::LennardJones { epsilon, .. } => epsilon,
        }
    }

    /// (strength, r²) ⇒ f, N/m.
    fn factor(&self, strength: f64, r2: f64) -> f64 {
        let r2 = r2 + self.softening * self.softening;
        match self.law {
            PairLaw::Gravitation { .. } | PairLaw::Coulomb { .. } => strength / (r2 * r2.sqrt()),
            PairLaw::LennardJones { sigma, .. } => {
                let x = sigma * sigma / r2;
                let x3 = x * x * x;
                48.0 * strength / (sigma * sigma) * (x3 * x3 * x - 0.5 * x3 * x)
            }
        }
    }

    fn energy(&self, strength: f64, r2: f64) -> f64 {
        let r2 = r2 + self.softening * self.softening;
        match self.law {
            PairLaw::Gravitation { .. } | PairLaw::Coulomb { .. } => strength / r2.sqrt(),
            PairLaw::LennardJones { sigma, .. } => {
                let x3 = (sigma * sigma / r2).powi(3);
                4.0 * strength * (x3 * x3 - x3)
            }
        }
    }

    /// Force on the first of two particles, N.
    fn force(&self, strength: f64, d: DVec3) -> DVec3 {
        let r2 = d.length_squared();
        let force = self.factor(strength, r2) * d;
        if self.truncation == Truncation::ShiftedForce && self.cutoff.is_finite() {
            let at_cutoff = self.factor(strength, self.cutoff * self.cutoff) * self.cutoff;
            return force - at_cutoff * d.normalize_or_zero();
        }
        force
    }

    /// Calls `found` with the places of all pairs within the cut-off.
    fn pairs(
        &mut self,
        view: &ForceView<'_>,
        mut found: impl FnMut(&Self, usize, usize),
    ) -> Result<(), ParticleError> {
        let n = view.len();
        if self.cutoff == f64::INFINITY {
            for i in 0..n {
                for j in i + 1..n {
                    found(self, i, j);
                }
            }
            return Ok(());
        }
        let mut grid = std::mem::take(&mut self.grid);
        let built = grid.build(view.position, self.cutoff);
        if built.is_ok() {
            grid.pairs_within(view.position, self.cutoff, |i, j| found(self, i, j));
        }
        self.grid = grid;
        built
    }
}

impl JointForce for PairForce {
    fn accumulate(&mut self, view: &ForceView<'_>, force: &mut [DVec3]) -> Result<(), ParticleError> {
        let mut coincident = None;
        let particles = view.particles();
        self.pairs(view, |law, i, j| {
            let d = view.position[i] - view.position[j];
            if d == DVec3::ZERO && law.softening == 0.0 {
                coincident = coincident.or(Some((i, j)));
                return;
            }
            let on_first = law.force(law.strength(particles, view.index(i), view.index(j)), d);
            force[i] += on_first;
            force[j] -= on_first;
        })?;
        match coincident {
            None => Ok(()),
            Some((i, j)) => {
                let [first, second] = [i, j].map(|place| particles.id(view.index(place)));
                Err(ParticleError::CoincidentParticles { first, second })
            }
        }
    }

    fn potential_energy(&mut self, view: &ForceView<'_>) -> f64 {
        let mut energy = 0.0;
        let particles = view.particles();
        // A state that the grid refuses has no energy to speak of; the force reports it.
        let _ = self.pairs(view, |law, i, j| {
            let r2 = view.position[i].distance_squared(view.position[j]);
            energy += law.energy(law.strength(particles, view.index(i), view.index(j)), r2);
        });
        energy
    }

    fn connections(&mut self, view: &ForceView<'_>, connect: &mut dyn FnMut(usize, usize)) {
        let _ = self.pairs(view, |_, i, j| connect(i, j));
    }
}
