//! Materials, and the coefficients of a pair of them.

use super::MaterialId;
use crate::component;
use crate::property::{Allowed, PropertyError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

component! {
    /// How a surface takes part in contact.
    ///
    /// The kinetic friction never exceeds the static one: [`Material::checked`] refuses the opposite.
    pub struct Material as "material" {
        /// Coefficient of restitution e: 0 swallows a bounce, 1 keeps its energy.
        restitution: f64 = 0.0, "", Allowed::Within(0.0, 1.0);
        /// Coulomb coefficient that holds a resting contact.
        static_friction: f64 = 0.6, "", Allowed::NonNegative;
        /// Coulomb coefficient of a sliding contact.
        kinetic_friction: f64 = 0.5, "", Allowed::NonNegative;
        /// Lever arm of the resistance against rolling.
        rolling_friction: f64 = 0.0, "m", Allowed::NonNegative;
        /// Lever arm of the resistance against spinning about the normal.
        spinning_friction: f64 = 0.0, "m", Allowed::NonNegative;
        /// Roughness: how far a contact normal may deviate at random, as 1 − cos of the angle.
        surface_perturbation: f64 = 0.0, "", Allowed::Within(0.0, 0.99);
    }
}

impl Material {
    /// A bouncing material with the default friction.
    pub fn bouncy(restitution: f64) -> Self {
        Self { restitution, ..Self::default() }
    }

    /// A material with one coefficient for sticking and sliding.
    pub fn with_friction(coefficient: f64) -> Self {
        Self { static_friction: coefficient, kinetic_friction: coefficient, ..Self::default() }
    }

    /// The material itself if every coefficient is in its range, else which one is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        use crate::property::{Component, ComponentType};
        Self::with(&self.properties())?;
        if self.kinetic_friction > self.static_friction {
            return Err(PropertyError::Range {
                component: "material".into(),
                name: "kinetic_friction".into(),
                allowed: format!("at most static_friction = {}", self.static_friction),
                value: self.kinetic_friction.to_string(),
            });
        }
        Ok(self)
    }
}

/// How two coefficients become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combine {
    /// (a + b) / 2.
    Mean,
    /// √(a b).
    GeometricMean,
    /// The smaller one.
    Minimum,
    /// The larger one.
    Maximum,
    /// a b.
    Product,
    /// a + b.
    Sum,
}

impl Combine {
    /// Two coefficients ⇒ one.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Mean => 0.5 * (a + b),
            Self::GeometricMean => (a * b).sqrt(),
            Self::Minimum => a.min(b),
            Self::Maximum => a.max(b),
            Self::Product => a * b,
            Self::Sum => a + b,
        }
    }
}

/// How materials mix: a rule for each coefficient, and exceptions for particular pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CombineRules {
    /// Rule for restitution.
    pub restitution: Combine,
    /// Rule for all friction coefficients.
    pub friction: Combine,
    /// Rule for surface perturbation.
    pub perturbation: Combine,
    pairs: BTreeMap<(MaterialId, MaterialId), CombinedMaterial>,
}

impl Default for CombineRules {
    fn default() -> Self {
        Self {
            restitution: Combine::Mean,
            friction: Combine::Mean,
            perturbation: Combine::Sum,
            pairs: BTreeMap::new(),
        }
    }
}

/// What holds between two surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // the coefficients of Material
pub struct CombinedMaterial {
    pub restitution: f64,
    pub static_friction: f64,
    pub kinetic_friction: f64,
    pub rolling_friction: f64,
    pub spinning_friction: f64,
    pub surface_perturbation: f64,
}

impl CombinedMaterial {
    /// Coefficients in their ranges, the nearest allowed ones for those that are not; `fallback` for what is not a number.
    pub(crate) fn clamped(self, fallback: &Self) -> Self {
        let within = |value: f64, fallback: f64, most: f64| {
            if value.is_nan() { fallback } else { value.clamp(0.0, most) }
        };
        let static_friction = within(self.static_friction, fallback.static_friction, f64::MAX);
        Self {
            restitution: within(self.restitution, fallback.restitution, 1.0),
            static_friction,
            kinetic_friction: within(self.kinetic_friction, fallback.kinetic_friction, f64::MAX)
                .min(static_friction),
            rolling_friction: within(self.rolling_friction, fallback.rolling_friction, f64::MAX),
            spinning_friction: within(self.spinning_friction, fallback.spinning_friction, f64::MAX),
            surface_perturbation: within(self.surface_perturbation, fallback.surface_perturbation, 0.99),
        }
    }

    fn check(self) -> Result<(), PropertyError> {
        let material = Material {
            restitution: self.restitution,
            static_friction: self.static_friction,
            kinetic_friction: self.kinetic_friction,
            rolling_friction: self.rolling_friction,
            spinning_friction: self.spinning_friction,
            surface_perturbation: self.surface_perturbation,
        };
        material.checked().map(|_| ())
    }
}

impl From<&Material> for CombinedMaterial {
    fn from(material: &Material) -> Self {
        Self {
            restitution: material.restitution,
            static_friction: material.static_friction,
            kinetic_friction: material.kinetic_friction,
            rolling_friction: material.rolling_friction,
            spinning_friction: material.spinning_friction,
            surface_perturbation: material.surface_perturbation,
        }
    }
}

impl CombineRules {
    /// From now on this pair, in either order, behaves as given.
    ///
    /// # Errors
    /// A coefficient is out of the range that a material of its own would need it in.
    pub fn set_pair(
        &mut self,
        a: MaterialId,
        b: MaterialId,
        mixed: CombinedMaterial,
    ) -> Result<(), PropertyError> {
        mixed.check()?;
        self.pairs.insert((a.min(b), a.max(b)), mixed);
        Ok(())
    }

    /// The pair follows the rules again.
    pub fn clear_pair(&mut self, a: MaterialId, b: MaterialId) {
        self.pairs.remove(&(a.min(b), a.max(b)));
    }

    /// Two materials ⇒ what holds between them; the order does not matter.
    pub fn mix(&self, a: (MaterialId, &Material), b: (MaterialId, &Material)) -> CombinedMaterial {
        if let Some(mixed) = self.pairs.get(&(a.0.min(b.0), a.0.max(b.0))) {
            return *mixed;
        }
        let (a, b) = (a.1, b.1);
        let static_friction = self.friction.apply(a.static_friction, b.static_friction);
        CombinedMaterial {
            restitution: self.restitution.apply(a.restitution, b.restitution).min(1.0),
            static_friction,
            kinetic_friction: self
                .friction
                .apply(a.kinetic_friction, b.kinetic_friction)
                .min(static_friction),
            rolling_friction: self.friction.apply(a.rolling_friction, b.rolling_friction),
            spinning_friction: self.friction.apply(a.spinning_friction, b.spinning_friction),
            surface_perturbation: self
                .perturbation
                .apply(a.surface_perturbation, b.surface_perturbation)
                .min(0.99),
        }
    }

    /// Removes every exception that names this material.
    pub(super) fn forget(&mut self, material: MaterialId) {
        self.pairs.retain(|(a, b), _| *a != material && *b != material);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Handle;
    use super::*;

    /// e is the mean, perturbation the sum, and a pair can be overridden.
    #[test]
    fn mixing_follows_the_rules_and_the_exceptions() {
        let ids = [MaterialId::from_parts(0, 0), MaterialId::from_parts(1, 0)];
        let plastic = Material { restitution: 0.4, surface_perturbation: 0.1, ..Material::default() };
        let ground = Material { restitution: 0.1, surface_perturbation: 0.1, ..Material::default() };
        let mut combine_rules = CombineRules::default();
        let mixed = combine_rules.mix((ids[0], &plastic), (ids[1], &ground));
        assert!((mixed.restitution - 0.25).abs() < 1e-15);
        assert!((mixed.surface_perturbation - 0.2).abs() < 1e-15);
        assert_eq!(mixed, combine_rules.mix((ids[1], &ground), (ids[0], &plastic)));

        let special = CombinedMaterial { restitution: 0.9, ..mixed };
        combine_rules.set_pair(ids[1], ids[0], special).unwrap();
        assert_eq!(combine_rules.mix((ids[0], &plastic), (ids[1], &ground)), special);
    }

    #[test]
    fn kinetic_friction_above_static_is_refused() {
        let slippery_at_rest =
            Material { static_friction: 0.2, kinetic_friction: 0.3, ..Material::default() };
        assert!(slippery_at_rest.checked().is_err());
        assert!(Material::bouncy(1.5).checked().is_err());
        assert!(Material::bouncy(f64::NAN).checked().is_err());
    }
}
