//! Islands and sleeping: bodies connected by contacts or joints fall asleep and wake together.
//!
//! Islands are the connected components of the graph of contacts and joints between dynamic bodies, found by
//! union–find with path halving (Tarjan & van Leeuwen 1984). An island falls asleep when every body in it has
//! been still for `sleep_time`.

use super::contact_graph::ContactGraph;
use super::joint_constraint::JointConstraints;
use super::separation_bound::StepDisplacement;
use super::sim_bodies::{Activity, NONE, SimBodies};
use crate::world::{BodyId, Event, Handle, Status, World};
use serde::{Deserialize, Serialize};

/// The edges of the island graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct IslandEdges<'s> {
    pub contact_graph: &'s ContactGraph,
    pub joints: &'s JointConstraints,
}

/// Which islands fall asleep: those at rest, and those of requested bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct SleepCriterion<'s> {
    /// Time for which every body of an island must have been still, s.
    pub sleep_time: f32,
    /// Bodies whose islands fall asleep, still or not.
    pub requests: &'s [BodyId],
}

/// Sleeping islands, and the union–find that other stages share.
#[derive(Debug, Default)]
pub(super) struct Islands {
    members: Vec<Vec<u32>>,
    free: Vec<u32>,
    /// Union–find parents, by index among the dynamic bodies.
    parents: Vec<u32>,
    /// By root: whether a body of the island prevents sleep.
    cannot_sleep: Vec<bool>,
    /// By root: number of the sleeping island that it becomes.
    island_of: Vec<u32>,
}

/// Saved members of the sleeping islands.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SavedIslands {
    members: Vec<Vec<u32>>,
    free: Vec<u32>,
}

impl SavedIslands {
    /// Whether an island number exists.
    pub fn has(&self, island: u32) -> bool {
        (island as usize) < self.members.len()
    }

    /// Slots of all members.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        self.members.iter().flatten().copied()
    }

    /// Whether every unused island number exists and has no members.
    pub fn is_consistent(&self) -> bool {
        self.free.iter().all(|island| self.members.get(*island as usize).is_some_and(Vec::is_empty))
    }
}

impl Islands {
    /// State to be saved.
    pub fn saved(&self) -> SavedIslands {
        SavedIslands { members: self.members.clone(), free: self.free.clone() }
    }

    /// Restores a saved state.
    pub fn restore(&mut self, saved: SavedIslands) {
        (self.members, self.free) = (saved.members, saved.free);
    }

    /// Wakes a body with its whole island ⇒ whether it was asleep.
    pub fn wake(
        &mut self,
        sim_bodies: &mut SimBodies,
        slot: u32,
        time: f64,
        events: &mut Vec<Event>,
    ) -> bool {
        let Some(sim_body) = sim_bodies.body_mut(slot) else { return false };
        sim_body.still_time = 0.0;
        if !sim_body.asleep {
            return false;
        }
        let island = sim_body.island;
        for member in std::mem::take(&mut self.members[island as usize]) {
            if let Some(sim_body) = sim_bodies.body_mut(member)
                && sim_body.asleep
                && sim_body.island == island
            {
                sim_body.asleep = false;
                sim_body.island = NONE;
                sim_body.still_time = 0.0;
                events.push(Event::Woke { time, body: sim_body.id });
                sim_bodies.activities[member as usize] = Activity::Awake;
                sim_bodies.displacements[member as usize] = StepDisplacement::UNKNOWN;
            }
        }
        self.free.push(island);
        true
    }

    /// Resets the union–find to single bodies, numbered by index among the dynamic bodies.
    pub fn reset(&mut self, bodies: usize) {
        self.parents.clear();
        self.parents.extend(0..bodies as u32);
    }

    /// Root of the island of a body.
    pub fn root(&mut self, index: u32) -> u32 {
        // A damaged snapshot may contain indices that do not exist.
        let mut index = index.min(self.parents.len().saturating_sub(1) as u32);
        while self.parents[index as usize] != index {
            let grandparent = self.parents[self.parents[index as usize] as usize];
            self.parents[index as usize] = grandparent;
            index = grandparent;
        }
        index
    }

    /// Unites the islands of two bodies.
    pub fn unite(&mut self, one: u32, other: u32) {
        let (a, b) = (self.root(one), self.root(other));
        // The smaller index becomes the root, so that the result does not depend on the order of the
        // contacts.
        self.parents[a.max(b) as usize] = a.min(b);
    }

    /// Puts to sleep the islands that meet a criterion.
    pub fn try_sleep(
        &mut self,
        world: &mut World,
        sim_bodies: &mut SimBodies,
        edges: &IslandEdges<'_>,
        SleepCriterion { sleep_time, requests }: SleepCriterion<'_>,
        time: f64,
        events: &mut Vec<Event>,
    ) {
        let IslandEdges { contact_graph, joints } = *edges;
        let count = world.bodies().count(Status::Dynamic);
        self.reset(count);
        self.cannot_sleep.clear();
        self.cannot_sleep.resize(count, false);
        let index_of = |sim_bodies: &SimBodies, slot: u32| {
            sim_bodies.body(slot).map_or(0, |sim_body| sim_body.index).min(count.saturating_sub(1) as u32)
        };
        let activity = |sim_bodies: &SimBodies, slot: u32| {
            sim_bodies.activities.get(slot as usize).copied().unwrap_or_default()
        };
        let near = || contact_graph.pairs.iter().filter(|pair| pair.near);
        let pairs = || near().map(|pair| pair.bodies).chain(joints.all.iter().map(|joint| joint.bodies));
        for [a, b] in pairs() {
            if activity(sim_bodies, a) == Activity::Awake && activity(sim_bodies, b) == Activity::Awake {
                self.unite(index_of(sim_bodies, a), index_of(sim_bodies, b));
            }
        }
        for [a, b] in pairs() {
            for (one, other) in [(a, b), (b, a)] {
                if activity(sim_bodies, one).is_dynamic()
                    && activity(sim_bodies, other) == Activity::KinematicMoving
                {
                    let root = self.root(index_of(sim_bodies, one));
                    self.cannot_sleep[root as usize] = true;
                }
            }
        }
        for slot in joints.all.iter().filter(|joint| joint.driven).flat_map(|joint| joint.bodies) {
            if activity(sim_bodies, slot).is_dynamic() {
                let root = self.root(index_of(sim_bodies, slot));
                self.cannot_sleep[root as usize] = true;
            }
        }
        let mut requested = vec![false; if requests.is_empty() { 0 } else { count }];
        for body in requests {
            if let Some((Status::Dynamic, index)) = world.bodies().locate(*body) {
                requested[self.root(index as u32) as usize] = true;
            }
        }
        for index in 0..count {
            let slot = world.bodies().ids(Status::Dynamic)[index].slot();
            let ready = sim_bodies.body(slot).is_some_and(|sim_body| {
                sim_body.can_sleep && sim_body.still_time > 0.0 && sim_body.still_time >= sleep_time
            });
            if activity(sim_bodies, slot) == Activity::Awake && !ready {
                let root = self.root(index as u32) as usize;
                self.cannot_sleep[root] |= !requested.get(root).is_some_and(|requested| *requested);
            }
        }
        self.island_of.clear();
        self.island_of.resize(count, NONE);
        for index in 0..count {
            let id = world.bodies().ids(Status::Dynamic)[index];
            let root = self.root(index as u32) as usize;
            if activity(sim_bodies, id.slot()) != Activity::Awake || self.cannot_sleep[root] {
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
            if let Some(sim_body) = sim_bodies.body_mut(id.slot()) {
                (sim_body.asleep, sim_body.island) = (true, island);
            }
            sim_bodies.activities[id.slot() as usize] = Activity::Asleep;
            events.push(Event::Slept { time, body: id });
            let motion = &mut world.bodies_mut().dynamic_mut().0[index];
            motion.v = glam::DVec3::ZERO;
            motion.omega = glam::DVec3::ZERO;
        }
    }
}
