//! Sliders of a page: one for every joint position of a multibody that is an angle or a length.

use crate::message::{Words, section};
use rattleback_dynamics::multibody::joint::Column;
use rattleback_dynamics::{MultibodyId, World};
use serde_json::{Value, json};

/// Most sliders of a page.
const MAX_SLIDERS: usize = 256;

/// A joint position that a page can set.
#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    multibody: MultibodyId,
    /// Place among the positions, and of its velocity.
    position: usize,
    velocity: usize,
    name: String,
    angle: bool,
    range: [f64; 2],
}

/// World ⇒ the sliders of its multibodies, in the order of multibodies and joints.
pub fn sliders(world: &World) -> Vec<Slider> {
    let mut found = Vec::new();
    for multibody in world.iter_multibodies() {
        let (tree, mechanism) = (multibody.tree(), multibody.mechanism());
        for (index, link) in
            tree.links().iter().enumerate().filter(|(_, link)| link.joint.velocities_are_rates())
        {
            let (positions, velocities) = (tree.positions_of(index), tree.velocities_of(index));
            let mut columns = [Column::default(); 6];
            link.joint.motion_subspace(
                &multibody.all_positions()[positions.clone()],
                &mut columns[..velocities.len()],
            );
            for k in 0..velocities.len() {
                let angle = columns[k].angular != Column::default().angular;
                let wide = if angle { std::f64::consts::PI } else { 1.0 };
                let limit = mechanism.limits().iter().find(|limit| limit.axis == velocities.start + k);
                let [low, high] = limit.map_or([-wide, wide], |limit| limit.range);
                let joint = &multibody.joint_names()[index];
                let joint = multibody.name().map_or_else(|| joint.clone(), |name| format!("{name}/{joint}"));
                found.push(Slider {
                    multibody: multibody.id(),
                    position: positions.start + k,
                    velocity: velocities.start + k,
                    name: if velocities.len() > 1 { format!("{joint} {}", k + 1) } else { joint },
                    angle,
                    range: [low.max(-100.0), high.min(100.0)],
                });
            }
        }
    }
    found.truncate(MAX_SLIDERS);
    found
}

impl Slider {
    /// What a page is told of it.
    pub fn announce(&self) -> Value {
        json!({ "name": self.name, "unit": if self.angle { "rad" } else { "m" }, "min": self.range[0], "max": self.range[1] })
    }

    /// Its present position, rad or m.
    pub fn value(&self, world: &World) -> Option<f64> {
        world.multibody(self.multibody).ok()?.all_positions().get(self.position).copied()
    }

    /// Puts the joint there, at rest. Couplings and loops move what they bind.
    pub fn set(&self, world: &mut World, value: f64) -> Result<(), String> {
        let refuse = |error: rattleback_dynamics::Error| error.to_string();
        if !value.is_finite() {
            return Err("a position must be finite".into());
        }
        let multibody = world.multibody(self.multibody).map_err(refuse)?;
        let (mut q, mut v) = (multibody.all_positions().to_vec(), multibody.all_velocities().to_vec());
        q[self.position] = value.clamp(self.range[0], self.range[1]);
        v[self.velocity] = 0.0;
        world
            .multibody_mut(self.multibody)
            .and_then(|mut multibody| multibody.set_state(&q, &v))
            .map_err(refuse)
    }
}

/// Sliders ⇒ section of a frame: number and present position of each.
pub fn write(sliders: &[Slider], world: &World) -> Words {
    let mut words = Words::default();
    words.put(section::SLIDERS);
    words.put(sliders.len() as u32);
    for (number, slider) in sliders.iter().enumerate() {
        words.put(number as u32);
        words.real(slider.value(world).unwrap_or(0.0));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::Registry;
    use rattleback_scene::Scene;

    /// A slider moves its joint to the position asked for, within the limits, and no other.
    #[test]
    fn sliders_pose_joints() {
        let mut world = Scene::built_in("arm").unwrap().build(&Registry::default()).unwrap().world;
        let all = sliders(&world);
        assert!(all.len() > 1 && all[0].name.starts_with("arm/"));
        let before = world.iter_multibodies().next().unwrap().all_positions().to_vec();
        let middle = 0.5 * (all[1].range[0] + all[1].range[1]) + 0.01;
        all[1].set(&mut world, middle).unwrap();
        let after = world.iter_multibodies().next().unwrap().all_positions().to_vec();
        for (place, (before, after)) in before.iter().zip(&after).enumerate() {
            let expected = if place == all[1].position { middle } else { *before };
            assert_eq!(*after, expected);
        }
        all[1].set(&mut world, 1e9).unwrap();
        assert_eq!(all[1].value(&world), Some(all[1].range[1]));
        assert!(all[0].set(&mut world, f64::NAN).is_err());
        assert_eq!(write(&all, &world).0.len(), 4 * (2 + 2 * all.len()));
    }
}
