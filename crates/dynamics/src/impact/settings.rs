//! Settings of a collision, and its entry points.

use super::law::{
    ChatterjeeRuina, ConstantDirection, ContactLaw, Integrated, Phased, SequentialImpulse, Whittaker,
};
use super::{Collision, CollisionError, Impact, Outcome};
use serde::{Deserialize, Serialize};

/// Definition of the coefficient of restitution e.
///
/// All three agree without friction, and wherever normal and tangent do not couple (K13 = K23 = 0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restitution {
    /// Ratio of normal velocities: u_z(end) = −e u_z(start). With friction it can create energy.
    Newton,
    /// Ratio of normal impulses: that of restitution is e times that of compression. With friction the normal
    /// force can do net work.
    Poisson,
    /// Ratio of works of the normal force: W(restitution) = −e² W(compression). Never creates energy.
    #[default]
    Stronge,
}

impl Restitution {
    /// Every law of restitution, by the name that settings of all simulators use.
    pub const NAMES: [(&'static str, Self); 3] =
        [("stronge", Self::Stronge), ("poisson", Self::Poisson), ("newton", Self::Newton)];

    /// Name ⇒ law of restitution.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, law)| law)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Newton => "newton",
            Self::Poisson => "poisson",
            Self::Stronge => "stronge",
        }
    }
}

/// The built-in impact laws, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// [`Integrated`].
    #[default]
    Integrated,
    /// [`Phased`].
    Phased,
    /// [`ConstantDirection`].
    ConstantDirection,
    /// [`Whittaker`].
    Whittaker,
    /// [`ChatterjeeRuina`] with e_t = 0.
    ChatterjeeRuina,
    /// [`SequentialImpulse`] with its default number of sweeps.
    SequentialImpulse,
}

impl Law {
    /// All built-in laws.
    pub const ALL: [Self; 6] = [
        Self::Integrated,
        Self::Phased,
        Self::ConstantDirection,
        Self::Whittaker,
        Self::ChatterjeeRuina,
        Self::SequentialImpulse,
    ];

    /// Implementation of the law.
    pub fn law(self) -> &'static dyn ContactLaw {
        match self {
            Self::Integrated => &Integrated,
            Self::Phased => &Phased,
            Self::ConstantDirection => &ConstantDirection,
            Self::Whittaker => &Whittaker,
            Self::ChatterjeeRuina => &ChatterjeeRuina { tangential_restitution: 0.0 },
            Self::SequentialImpulse => &SequentialImpulse { sweeps: SequentialImpulse::SWEEPS },
        }
    }
}

/// Materials and impact law of a collision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CollisionSettings {
    /// Definition of e.
    pub restitution: Restitution,
    /// Coefficient of restitution e, in [0, 1].
    pub e: f64,
    /// Coefficient of friction μ ≥ 0, the same for sticking and sliding.
    pub mu: f64,
    /// Impact law.
    pub law: Law,
}

impl Default for CollisionSettings {
    /// Stronge's restitution e = 0.5, friction μ = 0.5, integrated.
    fn default() -> Self {
        Self { restitution: Restitution::Stronge, e: 0.5, mu: 0.5, law: Law::Integrated }
    }
}

impl CollisionSettings {
    /// Checks the ranges of the coefficients.
    ///
    /// # Errors
    /// The first coefficient outside its range.
    pub fn check(&self) -> Result<(), CollisionError> {
        if !(0.0..=1.0).contains(&self.e) {
            return Err(CollisionError::Coefficient {
                what: "the coefficient of restitution",
                allowed: "in [0, 1]",
                value: self.e,
            });
        }
        self.check_friction()
    }

    pub(super) fn check_friction(&self) -> Result<(), CollisionError> {
        if self.mu >= 0.0 && self.mu.is_finite() {
            return Ok(());
        }
        Err(CollisionError::Coefficient {
            what: "the coefficient of friction",
            allowed: "finite and at least 0",
            value: self.mu,
        })
    }
}

/// (collision, settings) ⇒ impulse on B, velocity after, diagnostics. No impulse if the contact is not
/// approaching.
///
/// # Errors
/// Coefficients out of range, values that are not finite, or a matrix that is not a collision matrix.
pub fn resolve(collision: &Collision, settings: &CollisionSettings) -> Result<Outcome, CollisionError> {
    settings.check()?;
    match settings.law {
        // The usual case without dynamic dispatch.
        Law::Integrated => resolve_unbounded(collision, settings, &Integrated),
        law => resolve_unbounded(collision, settings, law.law()),
    }
}

/// As [`resolve`], by a user-defined law; `settings.law` is ignored.
///
/// # Errors
/// As [`resolve`], and those of the law.
pub fn resolve_by(
    law: &dyn ContactLaw,
    collision: &Collision,
    settings: &CollisionSettings,
) -> Result<Outcome, CollisionError> {
    settings.check()?;
    resolve_unbounded(collision, settings, law)
}

/// As [`resolve_by`], with e ≥ 0 of any size.
pub(super) fn resolve_unbounded(
    collision: &Collision,
    settings: &CollisionSettings,
    law: &(impl ContactLaw + ?Sized),
) -> Result<Outcome, CollisionError> {
    match Impact::new(collision, settings)? {
        Some(impact) => impact.in_si(&law.solve(&impact)?),
        None => Ok(Outcome::nothing(collision.u)),
    }
}
