//! Islands: bodies that touch, directly or through others, fall asleep and wake together.

use super::contact::{Contact, Table};
use super::roster::{NONE, Roster};
use crate::world::{Event, Status, World};

/// Bodies asleep, by island.
#[derive(Debug, Default)]
pub(super) struct Islands {
    members: Vec<Vec<u32>>,
    free: Vec<u32>,
    parents: Vec<u32>,
    /// By root: whether somebody in the island cannot sleep yet.
    restless: Vec<bool>,
}

impl Islands {
    /// Wakes a body with all of its island; tells whether it had slept.
    pub fn wake(&mut self, roster: &mut Roster, slot: u32, time: f64, events: &mut Vec<Event>) -> bool {
        let Some(actor) = roster.actor_mut(slot) else { return false };
        actor.still = 0.0;
        if !actor.asleep {
            return false;
        }
        let island = actor.island;
        for member in std::mem::take(&mut self.members[island as usize]) {
            if let Some(actor) = roster.actor_mut(member)
                && actor.asleep
                && actor.island == island
            {
                actor.asleep = false;
                actor.island = NONE;
                actor.still = 0.0;
                events.push(Event::Woke { time, body: actor.id });
            }
        }
        self.free.push(island);
        true
    }

    pub fn root(&mut self, mut slot: u32) -> u32 {
        while self.parents[slot as usize] != slot {
            let grandparent = self.parents[self.parents[slot as usize] as usize];
            self.parents[slot as usize] = grandparent;
            slot = grandparent;
        }
        slot
    }

    /// Puts the bodies of every contact into one island; `root` tells which.
    pub fn unite<'c>(&mut self, slots: usize, contacts: impl Iterator<Item = &'c Contact>) {
        self.parents.clear();
        self.parents.extend(0..slots as u32);
        for contact in contacts {
            let (a, b) = (self.root(contact.actors[0]), self.root(contact.actors[1]));
            // The smaller slot becomes the root, whatever the order of the contacts.
            self.parents[a.max(b) as usize] = a.min(b);
        }
    }

    /// Lets islands fall asleep in which everybody has kept still for `patience` seconds.
    pub fn settle(
        &mut self,
        world: &mut World,
        roster: &mut Roster,
        table: &Table,
        patience: f32,
        time: f64,
        events: &mut Vec<Event>,
    ) {
        self.restless.clear();
        self.restless.resize(roster.actors.len(), false);
        let joined = |slot: u32| roster.actor(slot).is_some_and(|actor| actor.status == Status::Dynamic);
        let touching = |contact: &&Contact| {
            contact.is_near() && !contact.sensor && contact.actors.iter().all(|slot| joined(*slot))
        };
        self.unite(roster.actors.len(), table.iter().filter(touching));
        for contact in table.iter().filter(|contact| contact.is_near() && !contact.sensor) {
            for (one, other) in [(0, 1), (1, 0)] {
                if roster.actor(contact.actors[other]).is_some_and(|actor| is_driven(world, actor)) {
                    let root = self.root(contact.actors[one]);
                    self.restless[root as usize] = true;
                }
            }
        }
        for slot in 0..roster.actors.len() as u32 {
            if roster.actor(slot).is_some_and(|actor| {
                actor.is_active() && !(actor.can_sleep && actor.still >= patience)
            }) {
                let root = self.root(slot);
                self.restless[root as usize] = true;
            }
        }
        let mut island_of = std::collections::HashMap::new();
        for slot in 0..roster.actors.len() as u32 {
            if !roster.actor(slot).is_some_and(super::roster::Actor::is_active) {
                continue;
            }
            let root = self.root(slot);
            if self.restless[root as usize] {
                continue;
            }
            let island = *island_of.entry(root).or_insert_with(|| {
                self.free.pop().unwrap_or_else(|| {
                    self.members.push(Vec::new());
                    (self.members.len() - 1) as u32
                })
            });
            self.members[island as usize].push(slot);
            if let Some(actor) = roster.actor_mut(slot) {
                (actor.asleep, actor.island) = (true, island);
                events.push(Event::Slept { time, body: actor.id });
                let motion = &mut world.bodies_mut().dynamic_mut().0[actor.place as usize];
                motion.v = glam::DVec3::ZERO;
                motion.omega = glam::DVec3::ZERO;
            }
        }
    }
}

/// Whether a body moves by itself at present.
pub(super) fn is_driven(world: &World, actor: &super::roster::Actor) -> bool {
    actor.status == Status::Animated && {
        let motion = &world.bodies().motion(Status::Animated)[actor.place as usize];
        motion.v != glam::DVec3::ZERO || motion.omega != glam::DVec3::ZERO
    }
}
