//! What a user can set.

use crate::component;
use crate::contact::Restitution;
use crate::property::{Allowed, PropertyError};
use rattleback_geometry::space::SpaceKind;

component! {
    /// Soft constraints in sub-steps: piles, stacks and joints in real time.
    pub struct RealtimeSettings as "realtime" {
        /// Sub-steps in a step: joints and stacks become stiffer with their number.
        substeps: i64 = 4, "", Allowed::Within(1.0, 1000.0);
        /// Stiffness of contacts, in parts of the largest that is stable: a frequency of a quarter of the sub-steps.
        contact_frequency: f64 = 0.9, "", Allowed::Within(0.001, 1.0);
        /// Damping ratio of that.
        contact_damping: f64 = 3.0, "", Allowed::Positive;
        /// Stiffness of joints, in parts of the largest that is certainly stable in nets of any size. Long chains and joints between
        /// very different masses are solved exactly and are rigid.
        joint_frequency: f64 = 1.6, "", Allowed::Within(0.001, 2.0);
        /// Damping ratio of that.
        joint_damping: f64 = 2.0, "", Allowed::Positive;
        /// Trees of at least so many joints are solved exactly; smaller ones are swept, which is faster and gives a little.
        exact_joints: i64 = 16, "", Allowed::Within(1.0, 1e9);
        /// Fastest push.
        push_speed: f64 = 3.0, "m/s", Allowed::Positive;
        /// Distance at which contact is foreseen; at most a quarter of the smaller body.
        foresight: f64 = 0.02, "m", Allowed::Positive;
        /// How far two bodies may move against each other, in parts of the smaller, before their contact is looked at anew.
        recycling: f64 = 0.01, "", Allowed::Within(0.0, 0.1);
        /// Bodies that approach each other slower than gravity makes them within this many steps do not bounce.
        bounce_threshold: f64 = 1.0, "", Allowed::NonNegative;
        /// How a collision ends: stronge, poisson or newton.
        restitution_law: String = "stronge", "", Allowed::Finite;
        /// Whether bodies that keep still fall asleep.
        sleep: bool = true, "", Allowed::Finite;
        /// A body no point of which moves faster keeps still.
        sleep_speed: f64 = 0.05, "m/s", Allowed::NonNegative;
        /// How long bodies have to keep still.
        sleep_time: f64 = 0.5, "s", Allowed::NonNegative;
        /// Whether fast bodies are kept from passing through others.
        continuous: bool = true, "", Allowed::Finite;
        /// Broad phase: the name of a space.
        space: String = "dynamic-bvh", "", Allowed::Finite;
        /// Threads that share a step; their number does not show in the result.
        threads: i64 = 1, "", Allowed::Within(1.0, 256.0);
    }
}

/// Laws of restitution by name.
const LAWS: [(&str, Restitution); 3] =
    [("stronge", Restitution::Stronge), ("poisson", Restitution::Poisson), ("newton", Restitution::Newton)];

impl RealtimeSettings {
    /// The settings themselves if every name in them is known and every number in its range, else which is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        use crate::property::{Component, ComponentType};
        Self::with(&self.properties())?;
        self.space_kind()?;
        if !LAWS.iter().any(|(name, _)| *name == self.restitution_law) {
            return Err(PropertyError::Range {
                component: "realtime".into(),
                name: "restitution_law".into(),
                allowed: format!("one of {}", LAWS.map(|(name, _)| name).join(", ")),
                value: self.restitution_law,
            });
        }
        Ok(self)
    }

    /// The law of restitution.
    pub(super) fn law(&self) -> Restitution {
        LAWS.iter().find(|(name, _)| *name == self.restitution_law).map(|law| law.1).unwrap_or_default()
    }

    pub(super) fn space_kind(&self) -> Result<SpaceKind, PropertyError> {
        SpaceKind::from_name(&self.space).map_err(|_| PropertyError::Range {
            component: "realtime".into(),
            name: "space".into(),
            allowed: format!("one of {}", SpaceKind::names().collect::<Vec<_>>().join(", ")),
            value: self.space.clone(),
        })
    }
}
