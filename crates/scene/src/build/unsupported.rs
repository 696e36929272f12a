//! What a scene contains and its simulator ignores or refuses, with the places.

use crate::model::Model;
use crate::notice::Notices;
use crate::source::Span;
use rattleback_dynamics::simulator::{Feature, Warning, WorldItem, unsupported};
use rattleback_dynamics::{BodyId, JointId, MaterialId, ShapeId, Simulator, World};
use std::collections::BTreeMap;

fn message(feature: Feature, simulator: &str) -> String {
    let effect = match feature {
        Feature::Joints => "the joint is refused".into(),
        Feature::KinematicBodies => "the kinematic body is refused".into(),
        other => match key(other) {
            Some(key) => format!("`{key}` has no effect"),
            None => format!("{other} has no effect"),
        },
    };
    format!("{effect}: simulator `{simulator}` does not support {feature}")
}

/// Key in scene files that needs a feature.
const fn key(feature: Feature) -> Option<&'static str> {
    Some(match feature {
        Feature::Restitution => "restitution",
        Feature::RollingFriction => "rolling_friction",
        Feature::SpinningFriction => "spinning_friction",
        Feature::SurfacePerturbation => "surface_perturbation",
        Feature::Sensors => "sensor",
        Feature::OneWayShapes => "one_way",
        Feature::BreakForce => "break_force",
        Feature::BreakTorque => "break_torque",
        Feature::BreakDrift => "break_drift",
        _ => return None,
    })
}

/// Where in the file what was built stands.
pub(super) struct Places<'m, 'a> {
    pub model: &'m Model<'a>,
    pub world: &'m World,
    /// Index of the `[[body]]` of every body.
    pub bodies: BTreeMap<BodyId, usize>,
    /// Index of the `[[joint]]` of every joint.
    pub joints: BTreeMap<JointId, usize>,
}

impl Places<'_, '_> {
    /// Everything in the scene that the simulator ignores or refuses.
    pub fn notices(&self, simulator: &dyn Simulator) -> Notices {
        let mut notices = Notices::default();
        let name = simulator.description().type_name;
        for Warning { feature, item } in unsupported(self.world, simulator.capabilities()) {
            // Bodies without contacts are what `free-motion` is for.
            if feature != Feature::Contacts {
                notices.add(self.of(item, feature), message(feature, &name));
            }
        }
        notices
    }

    /// Place of what needs the feature; that of the simulator's type for what is not in the file.
    fn of(&self, item: WorldItem, feature: Feature) -> Span {
        let found = match item {
            WorldItem::Material(id) => self.material(id, feature),
            WorldItem::Shape(id) => self.shape(id, feature),
            WorldItem::Body(id) => self.bodies.get(&id).map(|entry| self.model.bodies[*entry].place()),
            WorldItem::Joint(id) => self.joint(id, feature),
        };
        found.or(self.model.simulator.as_ref().map(|simulator| simulator.type_name.span)).unwrap_or_default()
    }

    fn material(&self, id: MaterialId, feature: Feature) -> Option<Span> {
        let is_default = id == self.world.default_material();
        let is_same = |name: &str| {
            if is_default { name == "default" } else { self.world.find_material(name) == Some(id) }
        };
        let (name, component) = self.model.materials.iter().find(|(name, _)| is_same(name.text))?;
        Some(key(feature).and_then(|key| component.get(key)).map_or(name.span, |node| node.span))
    }

    fn shape(&self, id: ShapeId, feature: Feature) -> Option<Span> {
        let body = self.world.shape(id).ok()?.body;
        let place = self.world.body(body).ok()?.shapes().iter().position(|shape| *shape == id)?;
        let entry = &self.model.bodies[*self.bodies.get(&body)?];
        let shape = entry.shapes.get(place)?;
        let given = match feature {
            Feature::OneWayShapes => shape.one_way.map(|(_, span)| span),
            _ => shape.sensor,
        };
        Some(given.unwrap_or_else(|| entry.place()))
    }

    fn joint(&self, id: JointId, feature: Feature) -> Option<Span> {
        let model = &self.model.joints[*self.joints.get(&id)?];
        let [force, torque, drift] = model.breaking;
        let given = match feature {
            Feature::BreakForce => force,
            Feature::BreakTorque => torque,
            Feature::BreakDrift => drift,
            _ => None,
        };
        let whole = model.name.map_or(model.kind.type_name.span, |name| name.span);
        Some(given.map_or(whole, |(_, span)| span))
    }
}
