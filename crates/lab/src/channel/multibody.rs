//! Channels of multibodies.
//!
//! Of a joint: `ARM/JOINT.q`, `qd`, `qdd` (position, velocity, acceleration) and `tau` (force from outside); of one with several coordinates
//! also each alone, `q0`, `q1`, … The joint of a multibody without a name is called by its own name. Of a multibody: `ARM.kinetic_energy`,
//! `ARM.potential_energy`. Links with shapes are bodies: `ARM/LINK.z`.

use super::{Channel, Source};
use rattleback_dynamics::World;
use rattleback_dynamics::multibody::joint::SingleAxis;
use rattleback_dynamics::world::{MultibodyId, MultibodyRef};

/// Quantities of a joint, their components, and the units of an angle and of a length.
const JOINT: [(&str, [&str; 7], [&str; 2]); 4] = [
    ("q", ["q0", "q1", "q2", "q3", "q4", "q5", "q6"], ["rad", "m"]),
    ("qd", ["qd0", "qd1", "qd2", "qd3", "qd4", "qd5", ""], ["rad/s", "m/s"]),
    ("qdd", ["qdd0", "qdd1", "qdd2", "qdd3", "qdd4", "qdd5", ""], ["rad/s²", "m/s²"]),
    ("tau", ["tau0", "tau1", "tau2", "tau3", "tau4", "tau5", ""], ["N·m", "N"]),
];

const ENERGIES: [&str; 2] = ["kinetic_energy", "potential_energy"];

/// Name of a joint in channels.
fn joint_label(multibody: &MultibodyRef<'_>, joint: &str) -> String {
    multibody.name().map_or_else(|| joint.to_owned(), |name| format!("{name}/{joint}"))
}

/// (whole name, part before the dot, quantity) ⇒ channel.
pub(super) fn parse(name: &str, owner: &str, wanted: &str, world: &World) -> Option<Channel> {
    let channel = |source, quantity, unit, components: Vec<&'static str>, indices| Channel {
        source,
        label: name.into(),
        unit,
        components,
        quantity,
        indices,
    };
    for multibody in world.iter_multibodies() {
        if multibody.name() == Some(owner) {
            let quantity = ENERGIES.into_iter().find(|known| *known == wanted)?;
            return Some(channel(Source::Multibody(multibody.id()), quantity, "J", vec![quantity], vec![0]));
        }
        let found = multibody.joint_names().iter().position(|joint| joint_label(&multibody, joint) == owner);
        let Some(joint) = found else { continue };
        for (quantity, components, units) in &JOINT {
            let count = values(quantity, &multibody, joint).len();
            let unit = match multibody.tree().links()[joint].joint.single_axis() {
                Some(SingleAxis::Rotation(_)) => units[0],
                Some(SingleAxis::Translation(_)) => units[1],
                None => "",
            };
            let source = Source::Joint(multibody.id(), joint);
            if wanted == *quantity && count > 0 {
                let names = if count == 1 { vec![*quantity] } else { components[..count].to_vec() };
                return Some(channel(source, quantity, unit, names, (0..count).collect()));
            }
            if let Some(k) = components[..count].iter().position(|component| *component == wanted) {
                return Some(channel(source, quantity, unit, vec![components[k]], vec![k]));
            }
        }
    }
    None
}

/// Numbers of a joint.
fn values<'w>(quantity: &str, multibody: &MultibodyRef<'w>, joint: usize) -> &'w [f64] {
    let read = match quantity {
        "q" => multibody.positions(joint),
        "qd" => multibody.velocities(joint),
        "qdd" => multibody.accelerations(joint),
        _ => multibody.forces(joint),
    };
    read.unwrap_or_default()
}

/// Numbers of a joint; NaN if it is gone.
pub(super) fn joint_values(quantity: &str, world: &World, id: MultibodyId, joint: usize) -> Vec<f64> {
    world
        .multibody(id)
        .map_or_else(|_| vec![f64::NAN; 7], |multibody| values(quantity, &multibody, joint).to_vec())
}

/// Energy of a multibody; NaN if it is gone.
pub(super) fn energy(quantity: &str, world: &World, id: MultibodyId) -> f64 {
    world.multibody(id).map_or(f64::NAN, |multibody| {
        if quantity == ENERGIES[0] { multibody.kinetic_energy() } else { multibody.potential_energy() }
    })
}

/// Channels of all multibodies, for messages.
pub(super) fn known(world: &World) -> Vec<String> {
    let mut known = Vec::new();
    for multibody in world.iter_multibodies() {
        for (joint, name) in multibody.joint_names().iter().enumerate() {
            if !multibody.tree().velocities_of(joint).is_empty() {
                let label = joint_label(&multibody, name);
                known.extend(JOINT.iter().map(|(quantity, ..)| format!("{label}.{quantity}")));
            }
        }
        if let Some(name) = multibody.name() {
            known.extend(ENERGIES.iter().map(|quantity| format!("{name}.{quantity}")));
        }
    }
    known
}
