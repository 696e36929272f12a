//! Mechanisms: few bodies on passive joints without contact, such as pendulums, tops, gyroscopes and
//! linkages.
//!
//! Joints that do no work must not change the energy over any time. Iteratively solved joints cannot
//! guarantee that: they are compliant, their rows and rotations are first order within a sub-step, and
//! velocities are in single precision. Groups of jointed bodies are therefore taken out of the sweeps while
//! only their joints and external loads act on them, and are integrated in double precision by a symplectic
//! method (`rattle`), with as many pieces as their fastest motion needs.
//!
//! A mechanism returns to the sweeps for any step in which one of its bodies touches something, or a joint
//! limit may be reached; motors, springs, friction, gears and joints to kinematic bodies are always left to
//! the sweeps. So are mechanisms of more than [`MECHANISM_MAX_ROWS`] rows: the cost grows with the third
//! power.

mod rattle;
mod rows;

use super::Realtime;
use super::bond::{Bond, state};
use super::contact::Contact;
use super::roster::{EXACT, Life, NONE, Roster};
use super::spinner::nutation_rate;
use crate::force::Loads;
use crate::joint::Rows;
use crate::motion::Motion;
use crate::world::{Status, World};
use rattle::{Node, Rattle};
use rattleback_numerics::team::each;
use rows::{Besides, Link, Linkage, Side, besides};

const MOST_ROWS: usize = 64;
const REACH: f64 = 0.3;
const MOST_PIECES: f64 = 64.0;
const ATTEMPTS: usize = 6;
const WORK: f64 = 3e-5;

/// A group of bodies connected by joints.
#[derive(Debug, Default)]
struct Group {
    /// Joints, by index.
    bonds: Vec<u32>,
    /// Slots of the bodies.
    slots: Vec<u32>,
    /// Pairs within the margin in the present step, by slot in the contact graph.
    contacts: Vec<u32>,
    linkage: Linkage,
    rattle: Rattle,
    /// The bodies at the beginning of the step.
    start: Vec<Node>,
    scratch: Rows,
    /// Whether the present step succeeded.
    done: bool,
}

/// All mechanisms of a world.
#[derive(Debug, Default)]
pub(super) struct Mechanisms {
    /// Revisions of joints and bodies for which they were found.
    known: Option<(Option<u64>, Option<u64>)>,
    groups: Vec<Group>,
    /// By slot: its mechanism, or [`NONE`].
    group_of: Vec<u32>,
}

impl Realtime {
    /// Integrates mechanisms over the step ⇒ whether there are any; their bodies are marked as [`EXACT`], the
    /// new states are kept here.
    pub(super) fn run_mechanisms(&mut self, world: &World, dt: f64) -> bool {
        self.find_mechanisms(world);
        if self.mechanisms.groups.is_empty() {
            return false;
        }
        let (stamp, threads) = (world.counters().steps + 1, self.threads());
        let Self { mechanisms, roster, table, bonds, loads, settings, .. } = self;
        let Mechanisms { groups, group_of, .. } = mechanisms;
        for group in groups.iter_mut() {
            group.contacts.clear();
        }
        for (index, summary) in table.near(stamp) {
            for slot in summary.actors {
                let group = group_of.get(slot as usize).copied().unwrap_or(NONE);
                if let Some(group) = groups.get_mut(group as usize) {
                    group.contacts.push(index as u32);
                }
            }
        }
        let fastest = 4.0 * settings.push_speed;
        let contact = |index: u32| table.contact(&table.summaries[index as usize]);
        let (roster_now, all) = (&*roster, &bonds.all);
        each(threads.min(groups.len()), groups, |_, group| {
            let free = group
                .contacts
                .iter()
                .all(|index| contact(*index).is_some_and(|contact| !contact.is_bouncy()));
            group.done = free
                && group.gather(world, roster_now, all, loads, dt)
                && group.run(dt, fastest)
                && group.contacts.iter().all(|index| {
                    contact(*index).is_some_and(|contact| group.stays_open(contact, roster_now))
                });
        });
        let mut any = false;
        let share = 1.0 / settings.substeps.max(1) as f64;
        for group in groups.iter_mut().filter(|group| group.done) {
            any = true;
            for slot in &group.slots {
                if let Some(actor) = roster.actor_mut(*slot) {
                    actor.mover = EXACT;
                }
            }
            group.keep(&mut bonds.all, share);
        }
        any
    }

    /// Writes the states of mechanisms to the world.
    pub(super) fn place_mechanisms(&mut self, world: &mut World) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for group in self.mechanisms.groups.iter().filter(|group| group.done) {
            for node in &group.rattle.nodes {
                motion[node.place as usize] = node.motion;
            }
        }
    }

    /// Finds the mechanisms, if joints or bodies have changed.
    fn find_mechanisms(&mut self, world: &World) {
        let Self { mechanisms, roster, bonds, islands, .. } = self;
        let now = Some((bonds.revision, roster.revision));
        if mechanisms.known == now && roster.pending.is_empty() {
            for group in &mut mechanisms.groups {
                group.done = false;
            }
            return;
        }
        mechanisms.known = now;
        mechanisms.groups.clear();
        mechanisms.group_of.clear();
        mechanisms.group_of.resize(roster.actors.len(), NONE);
        if bonds.all.is_empty() {
            return;
        }
        islands.part(world.bodies().count(Status::Dynamic));
        let place = |slot: u32| {
            let actor = roster.actor(slot).filter(|actor| actor.status == Status::Dynamic);
            actor.map(|actor| actor.place)
        };
        for bond in &bonds.all {
            if let [Some(a), Some(b)] = bond.actors.map(place) {
                islands.unite(a, b);
            }
        }
        // In the order of the first joint; size and kind of a group are known only after all joints.
        let mut found = vec![NONE; world.bodies().count(Status::Dynamic)];
        let mut rows: Vec<usize> = Vec::new();
        let mut scratch = Rows::default();
        for (index, bond) in bonds.all.iter().enumerate() {
            let Some(one) = bond.actors.iter().find_map(|slot| place(*slot)) else { continue };
            let root = islands.root(one) as usize;
            if found[root] == NONE {
                found[root] = mechanisms.groups.len() as u32;
                mechanisms.groups.push(Group::default());
                rows.push(0);
            }
            let group = found[root] as usize;
            let driven =
                |slot: &u32| roster.actor(*slot).is_some_and(|actor| actor.status == Status::Animated);
            let known = world.joint(bond.id).ok().and_then(|record| state(world, record, 0.0));
            let passive =
                known.is_some_and(|state| besides(world, bond.id, &state, &mut scratch) != Besides::More);
            let count = (bond.locks.bits().count_ones() as usize).max(1);
            rows[group] += if passive && !bond.actors.iter().any(driven) { count } else { MOST_ROWS + 1 };
            if rows[group] > MOST_ROWS {
                continue;
            }
            mechanisms.groups[group].bonds.push(index as u32);
            for slot in bond.actors.iter().filter(|slot| place(**slot).is_some()) {
                if !mechanisms.groups[group].slots.contains(slot) {
                    mechanisms.groups[group].slots.push(*slot);
                }
            }
        }
        let mut kept = rows.iter().map(|rows| *rows <= MOST_ROWS);
        mechanisms.groups.retain(|_| kept.next().unwrap_or(false));
        for (index, group) in mechanisms.groups.iter().enumerate() {
            for slot in &group.slots {
                mechanisms.group_of[*slot as usize] = index as u32;
            }
        }
    }
}

impl Group {
    /// Reads bodies and joints ⇒ whether nothing else acts.
    fn gather(&mut self, world: &World, roster: &Roster, all: &[Bond], loads: &Loads, dt: f64) -> bool {
        self.rattle.nodes.clear();
        self.linkage.links.clear();
        let (motion, inertia) =
            (world.bodies().motion(Status::Dynamic), world.bodies().inertia(Status::Dynamic));
        for slot in &self.slots {
            let Some(actor) = roster.actor(*slot) else { return false };
            let place = actor.place as usize;
            if roster.lives[*slot as usize] != Life::Awake || place >= motion.len() {
                return false;
            }
            let wrench = loads.wrench(place);
            let acceleration = loads.uniform_acceleration() + wrench.force * inertia[place].inverse_mass;
            if !(acceleration.is_finite() && wrench.torque.is_finite() && motion[place].is_finite()) {
                return false;
            }
            let node = Node::new(actor.place, motion[place], inertia[place], acceleration, wrench.torque);
            self.rattle.nodes.push(node);
        }
        for bond in &self.bonds {
            let bond = &all[*bond as usize];
            let Ok(record) = world.joint(bond.id) else { return false };
            let Some(state) = state(world, record, dt) else { return false };
            let rod = match besides(world, bond.id, &state, &mut self.scratch) {
                Besides::Nothing => None,
                Besides::Rod(length) => Some(length),
                Besides::Limit | Besides::More => return false,
            };
            let sides = [0, 1].map(|k| {
                let node = self.slots.iter().position(|slot| *slot == bond.actors[k]);
                node.map_or(Side::Still(state.frames[k]), |node| Side::On(node as u32, record.frames[k]))
            });
            // Kinematic sides are left to the sweeps.
            let still = |k: usize| match sides[k] {
                Side::On(..) => true,
                Side::Still(_) => {
                    roster.actor(bond.actors[k]).is_none_or(|actor| actor.status == Status::Fixed)
                }
            };
            if !(still(0) && still(1)) {
                return false;
            }
            self.linkage.links.push(Link { sides, locks: bond.locks, rod });
        }
        true
    }

    /// Integrates the bodies over the step, in more pieces if the joints appear to do work ⇒ whether the
    /// joints held.
    ///
    /// A link may accelerate strongly within a step that began slowly. Loads are constant over the step, so
    /// their work is Σ F·Δx, and the rest of ΔE is the work of the joints: zero, if the pieces are short
    /// enough. (Torques and damping do work of another kind; there the rotation rate alone decides.)
    fn run(&mut self, dt: f64, fastest: f64) -> bool {
        let mut pieces = self.pieces(dt);
        self.start.clone_from(&self.rattle.nodes);
        let conservative = self.start.iter().all(Node::is_conservative);
        for attempt in 0..ATTEMPTS {
            self.rattle.nodes.clone_from(&self.start);
            if self.rattle.run(&self.linkage, dt, pieces, fastest) {
                let mut work = 0.0;
                let mut scale = 0.0;
                for (before, now) in self.start.iter().zip(&self.rattle.nodes) {
                    let mass = before.inertia.mass();
                    let [from, to] = [before, now].map(|node| node.inertia.kinetic_energy(&node.motion));
                    work += to - from - mass * before.acceleration.dot(now.motion.x - before.motion.x);
                    scale += from
                        + to
                        + mass * before.acceleration.length() * dt * dt * before.acceleration.length();
                }
                // Joints that correct an error, or have to stop a motion first, do real work.
                let settled = self.rattle.disturbance > 1e-6 * scale;
                if !conservative || settled || work.abs() <= WORK * dt * scale || attempt + 1 == ATTEMPTS {
                    return true;
                }
            }
            pieces *= 2;
        }
        false
    }

    /// Number of pieces of a step: none rotates arms, or nutates, by more than [`MECHANISM_PIECE_ANGLE`].
    ///
    /// A body rotates the arms of its joints with the component of ω orthogonal to them and nutates with ν.
    /// From rest it swings with at most √(a l/(k² + l²)), a the acceleration by loads, l an arm and k the
    /// smallest radius of gyration.
    fn pieces(&self, dt: f64) -> usize {
        let mut fastest = 0.0_f64;
        for (index, Node { motion, inertia, acceleration, .. }) in self.rattle.nodes.iter().enumerate() {
            let nutation = nutation_rate(motion, inertia);
            fastest = fastest.max(nutation);
            let gyration = inertia.moments.min_element() * inertia.inverse_mass;
            for link in &self.linkage.links {
                for side in &link.sides {
                    let Side::On(node, place) = side else { continue };
                    if *node as usize != index {
                        continue;
                    }
                    let arm = place.translation;
                    let length = arm.length();
                    let turning = motion.omega.cross(motion.q * arm.normalize_or_zero()).length();
                    let swing = acceleration.length() * length / (gyration + length * length).max(1e-300);
                    fastest = fastest.max((turning * turning + swing).sqrt());
                }
            }
        }
        (dt * fastest / REACH).ceil().clamp(1.0, MOST_PIECES) as usize
    }

    /// Whether an open contact stays open; the other body must be static.
    fn stays_open(&self, contact: &Contact, roster: &Roster) -> bool {
        let mut motions: [Option<Motion>; 2] = [None; 2];
        for (slot, motion) in contact.actors.iter().zip(&mut motions) {
            match self.slots.iter().position(|own| own == slot) {
                Some(node) => *motion = Some(self.rattle.nodes[node].motion),
                None if roster.actor(*slot).is_some_and(|actor| actor.status == Status::Fixed) => {}
                None => return false,
            }
        }
        contact.gap_at(&motions) > 0.0
    }

    /// Stores the impulses as the sweeps do: those of one sub-step, `share` of a step.
    fn keep(&self, all: &mut [Bond], share: f64) {
        for index in &self.bonds {
            let bond = &mut all[*index as usize];
            (bond.linear, bond.angular) = (glam::Vec3::ZERO, glam::Vec3::ZERO);
        }
        for (row, impulse) in self.rattle.impulses() {
            let bond = &mut all[self.bonds[row.link as usize] as usize];
            let impulse = (impulse * share) as f32;
            match row.key {
                key @ 0..=2 => bond.linear[key as usize] = impulse,
                key @ 3..=5 => bond.angular[key as usize - 3] = impulse,
                _ => {
                    if let Some(rows) = &mut bond.rows {
                        rows[0] = impulse;
                    }
                }
            }
        }
    }
}
