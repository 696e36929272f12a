//! Groups of bodies that joints connect, contacts left aside.

use super::joint_constraint::JointConstraints;
use super::sim_bodies::{NONE, SimBodies};
use super::sleep::Islands;
use crate::world::{Status, World};

/// What exchanges momentum with jointed bodies in a step, from the least to the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Support {
    /// Nothing but their loads.
    #[default]
    None,
    /// Static bodies, by joints or contacts: they do no work.
    Static,
    /// Bodies that move by themselves, or impacts: their work is not known.
    Moving,
}

/// Bodies connected by joints.
#[derive(Debug, Default)]
pub(super) struct JointGroup {
    /// Slots of the dynamic bodies, and indices of the joints.
    pub slots: Vec<u32>,
    pub joints: Vec<u32>,
    /// Whether a joint connects it to the world or to a static body.
    pub anchored: bool,
    /// Whether a joint connects it to a kinematic body.
    pub moved: bool,
    /// What may have changed its momentum in the present step.
    pub support: Support,
    /// ΔK − Σ (F·Δx + τ·Δθ) and K after the present step, J.
    pub gain: f64,
    pub kinetic: f64,
}

/// All groups of jointed bodies.
#[derive(Debug, Default)]
pub(super) struct JointGroups {
    /// Revisions of joints and bodies for which they were found.
    revisions: Option<(Option<u64>, Option<u64>)>,
    pub groups: Vec<JointGroup>,
    /// By slot: its group, or [`NONE`].
    group_of: Vec<u32>,
}

impl JointGroups {
    /// Finds the groups, if joints or bodies have changed ⇒ whether they have.
    pub fn find(
        &mut self,
        world: &World,
        sim_bodies: &SimBodies,
        joints: &JointConstraints,
        islands: &mut Islands,
    ) -> bool {
        let now = Some((joints.revision, sim_bodies.revision));
        if self.revisions == now && sim_bodies.pending.is_empty() {
            return false;
        }
        self.revisions = now;
        self.groups.clear();
        self.group_of.clear();
        if joints.all.is_empty() {
            return true;
        }
        self.group_of.resize(sim_bodies.bodies.len(), NONE);
        let count = world.bodies().count(Status::Dynamic);
        islands.reset(count);
        let index_of = |slot: u32| {
            let sim_body = sim_bodies.body(slot).filter(|sim_body| sim_body.status == Status::Dynamic);
            sim_body.map(|sim_body| sim_body.index).filter(|index| (*index as usize) < count)
        };
        for joint in &joints.all {
            if let [Some(a), Some(b)] = joint.bodies.map(index_of) {
                islands.unite(a, b);
            }
        }
        let mut found = vec![NONE; count];
        for (index, joint) in joints.all.iter().enumerate() {
            let Some(one) = joint.bodies.iter().find_map(|slot| index_of(*slot)) else { continue };
            let group = &mut found[islands.root(one) as usize];
            if *group == NONE {
                *group = self.groups.len() as u32;
                self.groups.push(JointGroup::default());
            }
            let number = *group;
            let group = &mut self.groups[number as usize];
            group.joints.push(index as u32);
            for slot in joint.bodies {
                if index_of(slot).is_some() {
                    let of = &mut self.group_of[slot as usize];
                    if *of == NONE {
                        *of = number;
                        group.slots.push(slot);
                    }
                } else if sim_bodies.body(slot).is_some_and(|body| body.status == Status::Kinematic) {
                    group.moved = true;
                } else {
                    group.anchored = true;
                }
            }
        }
        true
    }

    /// All groups, in the order of their first joints.
    pub fn iter(&self) -> std::slice::Iter<'_, JointGroup> {
        self.groups.iter()
    }

    /// The group of a body.
    pub fn of(&self, slot: u32) -> u32 {
        self.group_of.get(slot as usize).copied().unwrap_or(NONE)
    }
}
