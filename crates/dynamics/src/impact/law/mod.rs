//! Impact laws behind one trait.
//!
//! The first two integrate Coulomb's law through the collision. The others are algebraic: they use the
//! velocity at the beginning only and solve linear equations. They are what most engines and textbooks use,
//! and serve for comparison. Penalty forces and complementarity problems over many contacts, the other
//! baselines that Mirtich names, are not laws of one collision but simulators.

mod chatterjee_ruina;
mod constant_direction;
mod sequential_impulse;
mod whittaker;

pub use chatterjee_ruina::ChatterjeeRuina;
pub use constant_direction::ConstantDirection;
pub use sequential_impulse::SequentialImpulse;
pub use whittaker::Whittaker;

use super::{CollisionError, Impact, Outcome, phased, polar};

/// From an impact in its own units to its outcome in the same units.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_dynamics::impact::{
///     Collision, CollisionError, CollisionSettings, ContactLaw, Impact, Outcome, resolve_by,
/// };
///
/// /// Fully plastic and sticking.
/// struct Glue;
/// impl ContactLaw for Glue {
///     fn name(&self) -> &'static str {
///         "glue"
///     }
///     fn violates(&self) -> &'static str {
///         "Coulomb's cone"
///     }
///     fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
///         Ok(impact.algebraic(-impact.compliance.impulse(impact.velocity), 0))
///     }
/// }
///
/// let collision = Collision { k: DMat3::IDENTITY, u: DVec3::new(1.0, 2.0, -3.0) };
/// let outcome = resolve_by(&Glue, &collision, &CollisionSettings::default())?;
/// assert!(outcome.velocity.length() < 1e-15);
/// # Ok::<(), CollisionError>(())
/// ```
pub trait ContactLaw: Sync {
    /// Name in settings.
    fn name(&self) -> &'static str;
    /// What it violates of Coulomb's law, energy conservation and the chosen restitution.
    fn violates(&self) -> &'static str;
    /// Impact ⇒ outcome, both with velocities and K in the units of the impact.
    ///
    /// # Errors
    /// A collision that the law cannot resolve.
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError>;
}

/// Coulomb's law at every instant, integrated in polar variables: the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integrated;

impl ContactLaw for Integrated {
    fn name(&self) -> &'static str {
        "integrated"
    }
    fn violates(&self) -> &'static str {
        "nothing"
    }
    #[inline]
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        polar::integrate(impact)
    }
}

/// As [`Integrated`], to some five digits.
pub(super) struct ReducedOrder;

impl ContactLaw for ReducedOrder {
    fn name(&self) -> &'static str {
        "reduced-order"
    }
    fn violates(&self) -> &'static str {
        "nothing, but for 10⁻⁵ of everything"
    }
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        polar::integrate_reduced(impact)
    }
}

/// Coulomb's law at every instant, integrated phase by phase as Mirtich does; Stronge's restitution only.
/// Falls back to [`Integrated`] where its phases do not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phased;

impl ContactLaw for Phased {
    fn name(&self) -> &'static str {
        "phased"
    }
    fn violates(&self) -> &'static str {
        "nothing; supports neither Newton's nor Poisson's restitution nor a normal velocity that falls again"
    }
    fn solve(&self, impact: &Impact) -> Result<Outcome, CollisionError> {
        match phased::integrate(impact) {
            Some(outcome) => Ok(outcome),
            None => polar::integrate(impact),
        }
    }
}
