//! Contact models: by which law the contacts of a pair of shapes resist.
//!
//! A pair follows the simulator's own law unless the world names another. The model can be changed between any two steps: contacts keep
//! their points, and the next step solves them by the new law.

use super::{ShapeId, World};
use crate::error::{Error, parameter};
use serde::{Deserialize, Serialize};

/// How the contacts of a pair resist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ContactModel {
    /// By the law of the simulator.
    #[default]
    Simulator,
    /// Rigidly: gap and impulse are complementary. An overlap that is there already is kept, not pushed apart.
    Rigid,
    /// A spring and a damper in every contact point: F = −k gap − c u, if that is positive.
    Compliant {
        /// k, N/m, above 0.
        stiffness: f64,
        /// c, N s/m, at least 0.
        damping: f64,
    },
}

impl ContactModel {
    pub(super) fn check(self) -> Result<Self, Error> {
        match self {
            Self::Compliant { stiffness, .. } if !(stiffness.is_finite() && stiffness > 0.0) => {
                Err(parameter("stiffness of a contact model", "finite and > 0", stiffness))
            }
            Self::Compliant { damping, .. } if !(damping.is_finite() && damping >= 0.0) => {
                Err(parameter("damping of a contact model", "finite and >= 0", damping))
            }
            model => Ok(model),
        }
    }
}

impl World {
    /// Sets the contact model of a pair of shapes, in any order. Needs a simulator with
    /// [`Feature::ContactModels`](crate::simulator::Feature::ContactModels); others follow their own law, and
    /// [`unsupported`](crate::simulator::unsupported) lists the pair.
    ///
    /// A cube on a soft pad, which sinks in by m g/(4 k); then the pad becomes rigid, and the cube stays where it is.
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_dynamics::simulator::Penalty;
    /// use rattleback_dynamics::world::ContactModel;
    /// use rattleback_dynamics::{Body, Simulator, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let pad = world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    /// let cube = Body::dynamic().at(0.0, 0.0, 0.5).with_shape(Shape::cuboid(DVec3::splat(0.5))?).mass(2.0);
    /// let cube = world.add_body(cube)?;
    /// let shapes = [world.body(pad)?.shapes()[0], world.body(cube)?.shapes()[0]];
    /// let soft = ContactModel::Compliant { stiffness: 1000.0, damping: 50.0 };
    /// world.set_contact_model(shapes[0], shapes[1], soft)?;
    /// let mut simulator = Penalty::default();
    /// for _ in 0..240 {
    ///     simulator.step(&mut world, 1.0 / 60.0)?;
    /// }
    /// let sunk = 0.5 - world.body(cube)?.position().z;
    /// assert!((sunk - 2.0 * 9.81 / 4000.0).abs() < 1e-6);
    /// world.set_contact_model(shapes[0], shapes[1], ContactModel::Rigid)?;
    /// simulator.step(&mut world, 1.0 / 60.0)?;
    /// assert!((0.5 - world.body(cube)?.position().z - sunk).abs() < 1e-6);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// No such shape, or coefficients out of their ranges.
    pub fn set_contact_model(&mut self, a: ShapeId, b: ShapeId, model: ContactModel) -> Result<(), Error> {
        let bodies = [self.shape(a)?.body, self.shape(b)?.body];
        let pair = [a.min(b), a.max(b)];
        match model.check()? {
            ContactModel::Simulator => self.contact_models.remove(&pair),
            model => self.contact_models.insert(pair, model),
        };
        for body in bodies {
            self.change_log.note(body);
        }
        Ok(())
    }

    /// Contact model of a pair of shapes, in any order.
    pub fn contact_model(&self, a: ShapeId, b: ShapeId) -> ContactModel {
        if self.contact_models.is_empty() {
            return ContactModel::Simulator;
        }
        self.contact_models.get(&[a.min(b), a.max(b)]).copied().unwrap_or_default()
    }

    /// Pairs of shapes with a contact model of their own, in order.
    pub fn iter_contact_models(&self) -> impl Iterator<Item = ([ShapeId; 2], ContactModel)> + '_ {
        self.contact_models.iter().map(|(pair, model)| (*pair, *model))
    }

    /// Removes the contact models of a shape.
    pub(super) fn forget_contact_models(&mut self, shape: ShapeId) {
        self.contact_models.retain(|pair, _| !pair.contains(&shape));
    }
}
