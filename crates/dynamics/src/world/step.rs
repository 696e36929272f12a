//! Beginning and end of a step, for [`StepContext`](crate::simulator::StepContext): initial states, clock, kinematic bodies, the list of
//! bodies that moved, quarantine and bounds.

use super::{BodyId, Continuity, Counters, Epoch, Event, Status, World};
use crate::filter::Rejected;
use crate::rigid::{Inertia, Motion};
use rattleback_numerics::team::each;

impl World {
    /// Begins a step: clears events, counters and lists of the last one. Epoch of the simulator's own last step ⇒ what has happened
    /// since.
    pub(crate) fn begin_step(&mut self, own: &Epoch) -> Continuity {
        self.events.clear();
        self.moved.clear();
        self.non_finite.clear();
        self.counters = Counters { steps: self.counters.steps, ..Counters::default() };
        self.begin_ledger();
        self.continuity(own)
    }

    /// Adds what happened during the step, in order.
    pub(crate) fn report(&mut self, events: &mut Vec<Event>) {
        self.events.append(events);
    }

    /// Copies the states of the dynamic bodies at the beginning of a step.
    pub(crate) fn save_initial_states(&mut self) {
        self.initial_states.clear();
        self.initial_states.extend_from_slice(self.bodies.motion(Status::Dynamic));
    }

    /// States of the dynamic bodies at the beginning of the step, if they were saved.
    pub(crate) fn initial_states(&self) -> &[Motion] {
        &self.initial_states
    }

    /// Puts the dynamic bodies back to their initial states.
    pub(crate) fn restore_initial_states(&mut self) {
        self.bodies.dynamic_mut().0.copy_from_slice(&self.initial_states);
    }

    /// Ends a step that has moved the dynamic bodies to `time`: moves the kinematic ones, lists what moved, disables what
    /// left the bounds or is not finite. `saved`: whether there are initial states to compare with; there are none after
    /// [`move_in_blocks`](Self::move_in_blocks), which compares by itself.
    pub(crate) fn end_step(&mut self, time: f64, saved: bool) {
        let states = std::mem::take(&mut self.initial_states);
        let before = saved.then_some(&states[..]);
        let h = time - self.time;
        self.time = time;
        self.counters.steps += 1;
        for index in 0..self.bodies.count(Status::Kinematic) {
            let id = self.bodies.ids(Status::Kinematic)[index];
            if self.follow_path(id) {
                self.moved.push(id);
            }
        }
        self.end_multibodies(h);
        self.end_parts();
        if let Some(before) = before {
            self.list_moved(before);
        }
        self.end_ledger(h, before);
        let mut non_finite = std::mem::take(&mut self.non_finite);
        self.quarantine(&mut non_finite, time);
        self.non_finite = non_finite;
        self.enforce_bounds();
        for Rejected { bodies, shapes, why } in self.pair_filter.take_rejected() {
            self.events.push(Event::Filtered { time, bodies, shapes, why });
        }
        self.initial_states = states;
    }

    /// Lists the dynamic bodies that moved. One whose state is not finite is put back to its initial state, to be
    /// quarantined.
    fn list_moved(&mut self, before: &[Motion]) {
        let set = &mut self.bodies.sets[Status::Dynamic.place()];
        let mut diff = StepDiff { moved: &mut self.moved, non_finite: &mut self.non_finite };
        diff.compare(0, &set.ids, &mut set.motion, before);
    }

    /// Moves the dynamic bodies by `advance`, one block at a time that stays in the first-level cache from the copy of its states to
    /// the comparison. Each thread takes a contiguous range of bodies; their lists are concatenated in the order of the
    /// bodies, so the result does not depend on the number of threads.
    pub(crate) fn move_in_blocks(
        &mut self,
        threads: usize,
        advance: impl Fn(&mut [Motion], &[Inertia]) + Sync,
    ) {
        let set = &mut self.bodies.sets[Status::Dynamic.place()];
        let range = set.motion.len().div_ceil(threads.max(1)).next_multiple_of(BLOCK).max(BLOCK);
        let ranges = set
            .motion
            .chunks_mut(range)
            .zip(set.inertia.chunks(range))
            .zip(set.ids.chunks(range))
            .enumerate()
            .map(|(k, ((motion, inertia), ids))| BodyRange { start: k * range, ids, motion, inertia });
        if set.ids.len() <= range {
            let mut diff = StepDiff { moved: &mut self.moved, non_finite: &mut self.non_finite };
            return ranges.for_each(|mut range| range.advance(&mut diff, &advance));
        }
        let mut shares: Vec<_> =
            ranges.map(|range| (Vec::with_capacity(range.ids.len()), Vec::new(), range)).collect();
        each(threads, &mut shares, |_, (moved, non_finite, range)| {
            range.advance(&mut StepDiff { moved, non_finite }, &advance);
        });
        for (moved, non_finite, _) in shares {
            self.moved.extend(moved);
            self.non_finite.extend(non_finite);
        }
    }

    /// Disables the dynamic bodies in these slots where they are, with an event.
    pub(crate) fn quarantine(&mut self, places: &mut Vec<usize>, time: f64) {
        // From the back, so that the swap of a removal never brings another listed body to a listed index.
        places.sort_unstable();
        places.dedup();
        for index in places.drain(..).rev() {
            let id = self.bodies.ids(Status::Dynamic)[index];
            if self.bodies.set_status(id, Status::Disabled).is_ok() {
                self.change_log.note(id);
                self.events.push(Event::Quarantined { body: id, time });
                self.spoil_ledger();
            }
        }
    }

    fn enforce_bounds(&mut self) {
        let Some(bounds) = self.bounds else { return };
        let outside: Vec<_> = self
            .moved
            .iter()
            .copied()
            .filter(|id| self.body(*id).is_ok_and(|body| !body.touches(&bounds)))
            // A multibody is not disabled link by link.
            .filter(|id| self.refuse_link_body(*id, "disabling it").is_ok())
            .collect();
        for id in outside {
            if self.bodies.set_status(id, Status::Disabled).is_ok() {
                self.change_log.note(id);
                self.events.push(Event::LeftBounds { body: id, time: self.time });
                self.spoil_ledger();
            }
        }
    }

    /// Puts a kinematic body on its path at the present time ⇒ whether its pose changed.
    pub(super) fn follow_path(&mut self, id: BodyId) -> bool {
        let Some(record) = self.bodies.records.get(id) else { return false };
        if record.status != Status::Kinematic {
            return false;
        }
        let Some(path) = &record.path else { return false };
        let point = path.at(&record.path_start, self.time);
        let frame = &record.body_from_principal;
        let motion = Motion::of_frame(&point.pose, point.velocity, point.angular_velocity, frame);
        match self.bodies.motion_of_mut(id) {
            Ok(present) => {
                let changed = present.x != motion.x || present.q != motion.q;
                *present = motion;
                changed
            }
            Err(_) => false,
        }
    }
}

/// Bodies of a block.
const BLOCK: usize = 64;

/// Dynamic bodies from the index `start` on.
struct BodyRange<'w> {
    start: usize,
    ids: &'w [BodyId],
    motion: &'w mut [Motion],
    inertia: &'w [Inertia],
}

impl BodyRange<'_> {
    fn advance(&mut self, diff: &mut StepDiff<'_>, advance: &impl Fn(&mut [Motion], &[Inertia])) {
        let mut before = [Motion::default(); BLOCK];
        let blocks =
            self.motion.chunks_mut(BLOCK).zip(self.inertia.chunks(BLOCK)).zip(self.ids.chunks(BLOCK));
        for (block, ((motion, inertia), ids)) in blocks.enumerate() {
            let before = &mut before[..motion.len()];
            before.copy_from_slice(motion);
            advance(motion, inertia);
            diff.compare(self.start + block * BLOCK, ids, motion, before);
        }
    }
}

/// Differences between the states before and after a step.
struct StepDiff<'w> {
    moved: &'w mut Vec<BodyId>,
    non_finite: &'w mut Vec<usize>,
}

impl StepDiff<'_> {
    /// Compares bodies from the index `start` on with their initial states; puts back those that are not finite.
    fn compare(&mut self, start: usize, ids: &[BodyId], motion: &mut [Motion], before: &[Motion]) {
        for (index, ((id, now), then)) in ids.iter().zip(motion).zip(before).enumerate() {
            if !now.is_finite() {
                *now = *then;
                self.non_finite.push(start + index);
            } else if now.x != then.x || now.q != then.q {
                self.moved.push(*id);
            }
        }
    }
}
