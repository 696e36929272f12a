//! Continuous collision detection: fast bodies are stopped at their time of impact.
//!
//! A collider that moves farther in a step than half its smallest extent could pass through a wall. Its
//! motion from the beginning to the end of the step, linear with constant angular velocity, is therefore
//! swept against everything in its swept bounding box (conservative advancement, Mirtich 1996); at the first
//! contact the body is stopped there with its velocity, and the next step finds it in contact.
//!
//! Colliders in contact at the beginning are left to the solver: stopped at contact, a body that slides or
//! tips over would not move at all. But the solver uses the rows of the beginning of the step: a rod that
//! spins fast may penetrate what it touches. For such pairs the core sphere is swept instead, a sphere inside
//! the collider about the centre of mass (about the collider's own centre if the body has several), so that
//! the centre of a body stays on its side. The same holds for jointed bodies: stopped alone, a limb would be
//! torn from its neighbours.
//!
//! A stopped body is an obstacle for others. Impacts are therefore processed in the order of time, and pairs
//! with a stopped body are swept again.

use super::Realtime;
use super::roster::{Actor, NONE, Part, set_box};
use crate::error::Error;
use crate::motion::Motion as State;
use crate::world::{Handle, Status, World};
use glam::DVec3;
use rattleback_geometry::swept::{Advancement, Motion, cast_shapes, rotation_vector};
use rattleback_geometry::{Aabb, Pose, Shape};
use rattleback_numerics::team::{Shared, each, spread};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// A fast body and its motion in the step.
#[derive(Clone, Copy, Debug)]
struct Runner {
    place: u32,
    slot: u32,
    way: Motion,
    /// Poses at the beginning and the end of the step.
    ends: [Pose; 2],
    /// Fraction of the motion after which it is stopped, 0 to 1.
    stop: f64,
}

/// Two colliders with overlapping swept bounding boxes.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    runner: u32,
    part: u32,
    other: u32,
    /// Motion of the other body, and its index among the fast bodies, if it is one.
    way: Motion,
    rival: Option<u32>,
    /// Whether the solver has a constraint between them, or the fast body is jointed: only the core sphere is
    /// swept.
    held: bool,
    /// Time of impact as a fraction of the step, with all stops known so far; 1 for none.
    time: f64,
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct Sweeps {
    runners: Vec<Runner>,
    meetings: Vec<Meeting>,
    /// Pairs found by each chunk.
    stretches: Vec<Stretch>,
    /// By body slot: its index among the fast bodies, [`NONE`] for all others.
    by_slot: Vec<u32>,
    /// Swept AABBs of fast colliders: index of the fast body, collider, box.
    ways: Vec<(u32, u32, Aabb)>,
    /// Event queue of pairs by time of impact; entries whose time has changed since are stale and skipped.
    agenda: BinaryHeap<Reverse<(u64, u32)>>,
    /// Pairs by fast body, and the start of each list.
    of_runner: Vec<u32>,
    starts: Vec<u32>,
    /// Indices of fast bodies, filled before the stage.
    pub fast: Vec<u32>,
    /// By slot: whether a body is jointed.
    joined: Vec<bool>,
}

/// Pairs of a chunk of swept colliders, and scratch memory of the query.
#[derive(Debug, Default)]
struct Stretch {
    meetings: Vec<Meeting>,
    found: Vec<u32>,
}

const STRETCH: usize = 32;
const LEAST_MEETINGS: usize = 16;
const TOUCH: f64 = 1e-4;
const HEART: f64 = 0.5;
const MOST_ROUNDS: usize = 8;

impl Realtime {
    /// Whether a collider of a body has moved so far that it may have passed through something.
    pub(super) fn is_fast(&self, actor: &Actor, before: &State, now: &State, dt: f64) -> bool {
        let turn = now.omega.length().max(before.omega.length()) * dt;
        // Early exit for bodies that are slow as a whole.
        let (moved, swing) = ((now.x - before.x).length(), turn * actor.reach);
        if moved + swing <= actor.core {
            return false;
        }
        let (start, end) = (before.pose(), now.pose());
        let fast = |part: &Part| {
            let moved = end.point(part.middle).distance(start.point(part.middle));
            is_far(part, moved, turn)
        };
        actor.parts.iter().filter_map(|index| self.roster.part(*index)).any(fast)
    }

    /// Stops the fast bodies at their first contact.
    pub(super) fn stop_fast(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        self.sweeps.runners.clear();
        self.sweeps.meetings.clear();
        self.sweeps.by_slot.clear();
        self.sweeps.by_slot.resize(self.roster.actors.len(), NONE);
        self.sweeps.ways.clear();
        self.note_joined();
        for index in 0..self.sweeps.fast.len() {
            let place = self.sweeps.fast[index];
            let slot = world.bodies().ids(Status::Dynamic)[place as usize].slot();
            let (before, now) =
                (self.before[place as usize], world.bodies().motion(Status::Dynamic)[place as usize]);
            let Some(way) = way_between(&before, &now, dt) else { continue };
            if let Some(runner) = self.sweeps.by_slot.get_mut(slot as usize) {
                *runner = self.sweeps.runners.len() as u32;
            }
            let ends = [before.pose(), way.pose(1.0)];
            self.sweeps.runners.push(Runner { place, slot, way, ends, stop: 1.0 });
        }
        for index in 0..self.sweeps.runners.len() {
            self.clear_the_way(index)?;
        }
        self.expect_meetings(world, dt);
        self.time_meetings();
        self.list_by_runner();
        for _ in 0..MOST_ROUNDS * self.sweeps.runners.len() {
            let Some(first) = self.next_meeting() else { break };
            self.stop_at(first as usize);
        }
        let motion = world.bodies_mut().dynamic_mut().0;
        for runner in self.sweeps.runners.iter().filter(|runner| runner.stop < 1.0) {
            let pose = runner.way.pose(runner.stop);
            let body = &mut motion[runner.place as usize];
            (body.x, body.q) = (pose.translation, pose.rotation.normalize());
        }
        Ok(())
    }

    fn note_joined(&mut self) {
        let joined = &mut self.sweeps.joined;
        joined.clear();
        joined.resize(self.roster.actors.len(), false);
        for slot in self.bonds.all.iter().flat_map(|bond| bond.actors) {
            if let Some(joined) = joined.get_mut(slot as usize) {
                *joined = true;
            }
        }
    }

    /// Sets the swept AABBs of a fast body in the broad phase.
    fn clear_the_way(&mut self, index: usize) -> Result<(), Error> {
        let runner = self.sweeps.runners[index];
        let Some(actor) = self.roster.actor(runner.slot) else { return Ok(()) };
        for number in &actor.parts {
            if let Some(part) = self.roster.part(*number)
                && runner.goes_far(part)
                && let Some(bounds) = bounds_of(&runner.way, &runner.ends, part)
            {
                set_box(&mut *self.space, part, &bounds)?;
                self.sweeps.ways.push((index as u32, *number, bounds));
            }
        }
        Ok(())
    }

    /// Finds the pairs of swept colliders.
    fn expect_meetings(&mut self, world: &World, dt: f64) {
        let (threads, ways) = (self.threads(), self.sweeps.ways.len());
        let mut stretches = std::mem::take(&mut self.sweeps.stretches);
        let count = ways.div_ceil(STRETCH);
        if stretches.len() < count {
            stretches.resize_with(count, Stretch::default);
        }
        each(threads, &mut stretches[..count], |k, stretch| {
            stretch.meetings.clear();
            for way in &self.sweeps.ways[k * STRETCH..ways.min((k + 1) * STRETCH)] {
                self.expect(world, way, dt, stretch);
            }
        });
        for stretch in &mut stretches[..count] {
            self.sweeps.meetings.append(&mut stretch.meetings);
        }
        self.sweeps.stretches = stretches;
    }

    /// Computes the time of impact of every pair.
    #[allow(unsafe_code)]
    fn time_meetings(&mut self) {
        let mut meetings = std::mem::take(&mut self.sweeps.meetings);
        let shared = Shared::new(&mut meetings);
        spread(self.threads(), shared.len(), LEAST_MEETINGS, |range| {
            // SAFETY: pieces do not overlap.
            for meeting in unsafe { shared.range_mut(range) } {
                meeting.time = self.first_touch(meeting, 0.0);
            }
        });
        self.sweeps.meetings = meetings;
    }

    /// Fills the event queue, and lists the pairs of each fast body.
    fn list_by_runner(&mut self) {
        let Sweeps { runners, meetings, agenda, of_runner, starts, .. } = &mut self.sweeps;
        let runners_of = |meeting: &Meeting| [Some(meeting.runner), meeting.rival].into_iter().flatten();
        agenda.clear();
        starts.clear();
        starts.resize(runners.len() + 1, 0);
        for (index, meeting) in meetings.iter().enumerate() {
            if meeting.time < 1.0 {
                agenda.push(Reverse((meeting.time.to_bits(), index as u32)));
            }
            runners_of(meeting).for_each(|runner| starts[runner as usize] += 1);
        }
        let mut total = 0;
        for start in starts.iter_mut() {
            total += *start;
            *start = total;
        }
        of_runner.clear();
        of_runner.resize(total as usize, 0);
        // Filled from the back; afterwards each start is the begin of its list.
        for (index, meeting) in meetings.iter().enumerate().rev() {
            for runner in runners_of(meeting) {
                let start = &mut starts[runner as usize];
                *start -= 1;
                of_runner[*start as usize] = index as u32;
            }
        }
    }

    /// The next valid pair of the event queue.
    fn next_meeting(&mut self) -> Option<u32> {
        let Sweeps { meetings, agenda, .. } = &mut self.sweeps;
        while let Some(Reverse((time, index))) = agenda.pop() {
            if meetings[index as usize].time.to_bits() == time {
                return Some(index);
            }
        }
        None
    }

    /// Lists the pairs of one swept collider.
    fn expect(&self, world: &World, way: &(u32, u32, Aabb), dt: f64, into: &mut Stretch) {
        let Stretch { meetings, found } = into;
        let (index, number, bounds) = way;
        let runner = &self.sweeps.runners[*index as usize];
        let stamp = world.counters().steps + 1;
        let Some(part) = self.roster.part(*number).filter(|part| !part.sensor) else { return };
        let [start, end] = runner.ends.map(|pose| pose.point(part.middle));
        found.clear();
        self.space.overlapping(bounds, &mut |proxy| {
            found.push(proxy.index());
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        for other in found.iter() {
            let Some(peer) = self.roster.part(*other) else { continue };
            let rival = self.sweeps.by_slot.get(peer.actor as usize).copied().filter(|rival| *rival != NONE);
            // A pair of two fast bodies is listed once.
            let listed = rival.is_some_and(|rival| rival < *index);
            if peer.sensor || peer.actor == part.actor || listed {
                continue;
            }
            let Some(way) = self.way_of(world, peer, rival, dt) else { continue };
            let ends = rival.map(|rival| self.sweeps.runners[rival as usize].ends);
            let [from, to] = ends.unwrap_or_else(|| [way.pose(0.0), way.pose(1.0)]);
            // With little relative motion the contacts of the next step are early enough.
            let along = to.point(from.inverse_point(start));
            let swing = (runner.way.turn().length() + way.turn().length()) * part.radius;
            let passing = end.distance(along) + swing;
            if passing < part.core + peer.core.min(part.core)
                || !world.may_touch(part.id, peer.id).unwrap_or(false)
                || lets_pass(part, &runner.ends[0], along - end)
                || lets_pass(peer, &from, end - along)
                || self.table.is_passing(*number, *other)
            {
                continue;
            }
            let joined = |actor: u32| self.sweeps.joined.get(actor as usize) == Some(&true);
            let held = (rival.is_none() && joined(part.actor)) || self.table.is_held(*number, *other, stamp);
            meetings.push(Meeting {
                runner: *index,
                part: *number,
                other: *other,
                way,
                rival,
                held,
                time: 1.0,
            });
        }
    }

    fn way_of(&self, world: &World, part: &Part, rival: Option<u32>, dt: f64) -> Option<Motion> {
        if let Some(rival) = rival {
            return Some(self.sweeps.runners[rival as usize].way);
        }
        let actor = self.roster.actor(part.actor)?;
        let now = actor.motion(world)?;
        match actor.status {
            Status::Dynamic => way_between(self.before.get(actor.place as usize)?, now, dt),
            Status::Animated => {
                // A kinematic body moves to the pose of its path at the end of the step.
                let body = world.body(actor.id).ok()?;
                let (path, start) = body.path()?;
                let end = path.at(&start, world.time() + dt).pose * *body.body_from_principal();
                Motion::between(now.pose(), end, DVec3::ZERO).ok()
            }
            Status::Fixed | Status::Inactive => Motion::resting(now.pose()).ok(),
        }
    }

    /// Time of impact of two colliders after `from`; 1 if they do not touch, or touch from the start.
    fn first_touch(&self, meeting: &Meeting, from: f64) -> f64 {
        let (Some(part), Some(peer)) = (self.roster.part(meeting.part), self.roster.part(meeting.other))
        else {
            return 1.0;
        };
        if meeting.held {
            return self.heart_touch(meeting, peer);
        }
        let stop = self.sweeps.runners[meeting.runner as usize].stop;
        let rival_stop = meeting.rival.map_or(1.0, |rival| self.sweeps.runners[rival as usize].stop);
        let way = self.sweeps.runners[meeting.runner as usize].way;
        let thin = part.core.min(peer.core);
        let settings =
            Advancement { distance_tolerance: (TOUCH * thin).clamp(1e-8, 1e-6), max_iterations: 200 };
        let mut edges = [from, stop.max(from), rival_stop.max(from), 1.0];
        edges.sort_by(f64::total_cmp);
        for pair in edges.windows(2) {
            let [start, end] = [pair[0], pair[1]];
            let (moves, rival_moves) = (start < stop, start < rival_stop);
            if end <= start || !(moves || rival_moves) {
                continue;
            }
            let mine = if moves { way.piece(start, end) } else { way.piece(stop, stop) };
            let theirs = if rival_moves {
                meeting.way.piece(start, end)
            } else {
                meeting.way.piece(rival_stop, rival_stop)
            };
            let hit = cast_shapes(
                &part.shape,
                &mine.of_part(&part.place),
                &peer.shape,
                &theirs.of_part(&peer.place),
                &settings,
            );
            if let Ok(Some(hit)) = hit {
                let time = start + hit.contact.time * (end - start);
                return if time > 0.0 { time } else { self.heart_touch(meeting, peer) };
            }
        }
        1.0
    }

    /// Time of impact of the core sphere of a body that touches the other from the start.
    fn heart_touch(&self, meeting: &Meeting, peer: &Part) -> f64 {
        let runner = &self.sweeps.runners[meeting.runner as usize];
        let (Some(actor), Some(part)) = (self.roster.actor(runner.slot), self.roster.part(meeting.part))
        else {
            return 1.0;
        };
        let middle = if actor.parts.len() == 1 { DVec3::ZERO } else { part.middle };
        let Ok(heart) = Shape::sphere(HEART * part.core) else { return 1.0 };
        let settings = Advancement { distance_tolerance: 0.1 * HEART * part.core, max_iterations: 200 };
        let way = runner.way.of_part(&Pose::at(middle));
        let hit = cast_shapes(&heart, &way, &peer.shape, &meeting.way.of_part(&peer.place), &settings);
        match hit {
            Ok(Some(hit)) if hit.contact.time > 0.0 => hit.contact.time,
            // In contact already: only separating motion is allowed.
            Ok(Some(hit)) => {
                let moved = way.pose(1.0).translation - way.pose(0.0).translation;
                let towards = |n: DVec3| n.dot(moved - meeting.way.displacement()) > 0.0;
                if hit.contact.gap.is_some_and(|gap| towards(gap.normal)) { 0.0 } else { 1.0 }
            }
            _ => 1.0,
        }
    }

    /// Stops the two bodies of a pair, and sweeps their other pairs again.
    fn stop_at(&mut self, index: usize) {
        let meeting = self.sweeps.meetings[index];
        self.sweeps.meetings[index].time = 1.0;
        let stopped = [Some(meeting.runner), meeting.rival];
        for runner in stopped.into_iter().flatten() {
            let runner = &mut self.sweeps.runners[runner as usize];
            runner.stop = runner.stop.min(meeting.time);
        }
        for runner in stopped.into_iter().flatten() {
            let list = self.sweeps.starts[runner as usize]..self.sweeps.starts[runner as usize + 1];
            for place in list {
                let k = self.sweeps.of_runner[place as usize] as usize;
                // Pairs between the two bodies themselves are settled; pairs with both are handled with the
                // first.
                let other = self.sweeps.meetings[k];
                let met_before = meeting.rival == Some(runner)
                    && (other.runner == meeting.runner || other.rival == Some(meeting.runner));
                if k == index || met_before {
                    continue;
                }
                let time = self.first_touch(&other, 0.0);
                let stop = self.sweeps.runners[other.runner as usize].stop;
                let rival_stop = other.rival.map_or(1.0, |rival| self.sweeps.runners[rival as usize].stop);
                // Nothing to stop if neither body moves any more at that time.
                let moving = time < stop || (other.rival.is_some() && time < rival_stop);
                let time = if moving { time } else { 1.0 };
                self.sweeps.meetings[k].time = time;
                if time < 1.0 {
                    self.sweeps.agenda.push(Reverse((time.to_bits(), k as u32)));
                }
            }
        }
    }
}

/// Motion between two states: linear, with constant angular velocity, including whole turns.
fn way_between(before: &State, now: &State, dt: f64) -> Option<Motion> {
    let short = rotation_vector(before.q, now.q);
    let spin = now.omega * dt;
    let angle = short.length();
    let turn = if angle > 1e-9 {
        let axis = short / angle;
        let whole = ((axis.dot(spin) - angle) / std::f64::consts::TAU).round();
        short + axis * (whole * std::f64::consts::TAU)
    } else {
        let whole = (spin.length() / std::f64::consts::TAU).round();
        spin.normalize_or_zero() * (whole * std::f64::consts::TAU)
    };
    Motion::new(before.pose(), DVec3::ZERO, now.x - before.x, turn).ok()
}

/// Whether a one-sided collider at this pose lets a body pass that moves by `moved` relative to it.
fn lets_pass(part: &Part, pose: &Pose, moved: DVec3) -> bool {
    part.one_way.is_some_and(|way| pose.vector(way).dot(moved) >= 0.0)
}

/// Whether a collider with this displacement, m, and rotation, rad, may have passed through something.
fn is_far(part: &Part, moved: f64, turn: f64) -> bool {
    let swing = turn * part.radius;
    moved > part.core || (swing.is_finite() && swing > part.core)
}

impl Runner {
    fn goes_far(&self, part: &Part) -> bool {
        let [start, end] = self.ends.map(|pose| pose.point(part.middle));
        is_far(part, start.distance(end), self.way.turn().length())
    }
}

/// Swept AABB of a collider.
fn bounds_of(way: &Motion, ends: &[Pose; 2], part: &Part) -> Option<Aabb> {
    let [start, end] = ends.map(|pose| pose * part.place);
    let both = part.shape.aabb(&start)?.union(&part.shape.aabb(&end)?);
    // Rotating, no point leaves the sphere about the centre of mass.
    let turn = way.turn().length();
    let reach = part.middle.length() + part.radius;
    let bulge = if turn < std::f64::consts::PI { reach * (1.0 - (0.5 * turn).cos()) } else { 2.0 * reach };
    both.enlarged(bulge + 1e-3 * part.core.min(1.0)).ok()
}
