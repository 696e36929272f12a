//! Islands and sleeping: bodies connected by contacts or joints fall asleep and wake together.
//!
//! Islands are the connected components of the graph of contacts and joints between dynamic bodies, found by
//! union–find with path halving (Tarjan & van Leeuwen 1984). An island falls asleep when every body in it has
//! been still for `sleep_time`.

use super::apart::Path;
use super::bond::Bonds;
use super::contact::Table;
use super::roster::{Life, NONE, Roster};
use crate::world::{Event, Handle, Status, World};
use serde::{Deserialize, Serialize};

/// The edges of the island graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ties<'s> {
    pub table: &'s Table,
    pub bonds: &'s Bonds,
}

/// Sleeping islands, and the union–find that other stages share.
#[derive(Debug, Default)]
pub(super) struct Islands {
    members: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// Union–find parents, by index among the dynamic bodies.
    parents: Vec<u32>,
    /// By root: whether a body of the island prevents sleep.
    restless: Vec<bool>,
    /// By root: number of the sleeping island that it becomes.
    island_of: Vec<u32>,
}

/// Saved members of the sleeping islands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct IslandMemory {
    members: Vec<Vec<u32>>,
    free: Vec<u32>,
}

impl IslandMemory {
    pub fn has(&self, island: u32) -> bool {
        (island as usize) < self.members.len()
    }

    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.members.iter().flatten().copied()
    }

    /// Whether every unused island number exists and has no members.
    pub fn is_consistent(&self) -> bool {
        self.free.iter().all(|island| self.members.get(*island as usize).is_some_and(Vec::is_empty))
    }
}

impl Islands {
    pub fn memory(&self) -> IslandMemory {
        IslandMemory { members: self.members.clone(), free: self.free.clone() }
    }

    pub fn recall(&mut self, memory: IslandMemory) {
        (self.members, self.free) = (memory.members, memory.free);
    }

    /// Wakes a body with its whole island ⇒ whether it was asleep.
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
                roster.lives[member as usize] = Life::Awake;
                roster.paths[member as usize] = Path::UNKNOWN;
            }
        }
        self.free.push(island);
        true
    }

    /// Resets the union–find to single bodies, numbered by index among the dynamic bodies.
    pub fn part(&mut self, bodies: usize) {
        self.parents.clear();
        self.parents.extend(0..bodies as u32);
    }

    pub fn root(&mut self, place: u32) -> u32 {
        // A damaged snapshot may contain indices that do not exist.
        let mut place = place.min(self.parents.len().saturating_sub(1) as u32);
        while self.parents[place as usize] != place {
            let grandparent = self.parents[self.parents[place as usize] as usize];
            self.parents[place as usize] = grandparent;
            place = grandparent;
        }
        place
    }

    pub fn unite(&mut self, one: u32, other: u32) {
        let (a, b) = (self.root(one), self.root(other));
        // The smaller index becomes the root, so that the result does not depend on the order of the
        // contacts.
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Puts to sleep the islands in which every body has been still for `sleep_time` seconds.
    pub fn settle(
        &mut self,
        world: &mut World,
        roster: &mut Roster,
        ties: &Ties<'_>,
        patience: f32,
        time: f64,
        events: &mut Vec<Event>,
    ) {
        let Ties { table, bonds } = *ties;
        let count = world.bodies().count(Status::Dynamic);
        self.part(count);
        self.restless.clear();
        self.restless.resize(count, false);
        let place = |roster: &Roster, slot: u32| {
            roster.actor(slot).map_or(0, |actor| actor.place).min(count.saturating_sub(1) as u32)
        };
        let life = |roster: &Roster, slot: u32| roster.lives.get(slot as usize).copied().unwrap_or_default();
        let near = || table.summaries.iter().filter(|summary| summary.near);
        let pairs = || near().map(|summary| summary.actors).chain(bonds.all.iter().map(|bond| bond.actors));
        for [a, b] in pairs() {
            if life(roster, a) == Life::Awake && life(roster, b) == Life::Awake {
                self.unite(place(roster, a), place(roster, b));
            }
        }
        for [a, b] in pairs() {
            for (one, other) in [(a, b), (b, a)] {
                if life(roster, one).is_dynamic() && life(roster, other) == Life::Driven {
                    let root = self.root(place(roster, one));
                    self.restless[root as usize] = true;
                }
            }
        }
        for slot in bonds.all.iter().filter(|bond| bond.driven).flat_map(|bond| bond.actors) {
            if life(roster, slot).is_dynamic() {
                let root = self.root(place(roster, slot));
                self.restless[root as usize] = true;
            }
        }
        for index in 0..count {
            let slot = world.bodies().ids(Status::Dynamic)[index].slot();
            let ready = roster
                .actor(slot)
                .is_some_and(|actor| actor.can_sleep && actor.still > 0.0 && actor.still >= patience);
            if life(roster, slot) == Life::Awake && !ready {
                let root = self.root(index as u32);
                self.restless[root as usize] = true;
            }
        }
        self.island_of.clear();
        self.island_of.resize(count, NONE);
        for index in 0..count {
            let id = world.bodies().ids(Status::Dynamic)[index];
            let root = self.root(index as u32) as usize;
            if life(roster, id.slot()) != Life::Awake || self.restless[root] {
                continue;
            }
            if self.island_of[root] == NONE {
                self.island_of[root] = self.free.pop().unwrap_or_else(|| {
                    self.members.push(Vec::new());
                    (self.members.len() - 1) as u32
                });
            }
            let island = self.island_of[root];
            self.members[island as usize].push(id.slot());
            if let Some(actor) = roster.actor_mut(id.slot()) {
                (actor.asleep, actor.island) = (true, island);
            }
            roster.lives[id.slot() as usize] = Life::Asleep;
            events.push(Event::Slept { time, body: id });
            let motion = &mut world.bodies_mut().dynamic_mut().0[index];
            motion.v = glam::DVec3::ZERO;
            motion.omega = glam::DVec3::ZERO;
        }
    }
}
