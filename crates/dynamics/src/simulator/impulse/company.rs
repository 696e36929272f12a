//! Several stages on which parts of one world are played at the same time.
//!
//! Playing an event touches the two bodies of a pair, or whoever they lean on, and their pairs; nobody else's. Who is in no pair
//! with somebody cannot come into one before their boxes overlap. So as long as no box of a stage has met a box of another during a
//! step, each stage has played exactly what it would have played if all were one: the order of events on different stages does not
//! matter, and on one stage it is told by times and, at equal times, by numbers of the world.
//!
//! Boxes are found to have met when the step is over: every box with all it has been during the step against all others. Stages
//! that have met are put back to the beginning of the step, become one (`recast`) and play again; at worst all become one. They stay together
//! until the cast is dealt out anew (`groups`). So the number of threads, and who is on which stage, never shows in a result.

use super::actor::{Actor, Role};
use super::groups::{Sets, deal, groups};
use super::observer::Observer;
use super::recast::recast;
use super::stage::{ImpulseCounters, Stage, Turn, TurnKind};
use super::{ContactForce, ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::filter::Rejected;
use crate::force::Loads;
use crate::world::{BodyId, Event, Status, World};
use glam::DVec3;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, ProxyId, Space, SpaceError, SpaceKind, everywhere};
use rattleback_numerics::team::together;
use std::sync::{Mutex, PoisonError};

/// Stages for each thread: more of them share the work more evenly and meet more often.
const STAGES_PER_THREAD: usize = 16;
/// Gaps that have to be measured in a step before other threads are called.
const WORTH_A_CALL: u64 = 96;
/// Steps after which it is asked whether the cast should be dealt out anew, and the longest time between two vain attempts.
const PERIOD: u32 = 32;
const LONGEST_WAIT: u32 = 128;
/// Steps that groups look ahead, at first, at least and at most.
const AHEAD: f64 = 64.0;
const LEAST_AHEAD: f64 = 1.0;
const MOST_AHEAD: f64 = 128.0;
/// Part of all that one thread may have more to do than it should before the cast is dealt out anew.
const UNEVEN: f64 = 1.25;
/// Part of all work that may be done in vain before all play on one stage for a while.
const QUARRELSOME: f64 = 0.25;

/// A step to be played.
#[derive(Clone, Copy)]
pub(super) struct Act<'a> {
    pub world: &'a World,
    pub settings: &'a ImpulseSettings,
    pub loads: &'a Loads,
    /// Whether nothing but uniform gravity acts.
    pub undisturbed: bool,
    pub start: f64,
    pub end: f64,
}

/// What went wrong, and what was being done then: time, kind, and a number of the world.
#[derive(Debug)]
pub(super) struct Failure {
    turn: (f64, TurnKind, u64),
    error: Error,
}

/// All stages of a world.
#[derive(Debug)]
pub(super) struct Company {
    /// One at least.
    pub stages: Vec<Stage>,
    pub observer: Observer,
    pub counters: ImpulseCounters,
    pub smallest_gap: f64,
    pub events: Vec<Event>,
    /// Pairs that came close in this step and may not touch.
    pub rejected: Vec<Rejected>,
    /// Steps begun since everybody was taken on.
    step: u64,
    /// Boxes of everybody who moves, if there are several stages.
    border: Option<Border>,
    /// Steps since the cast was dealt out, after how many it is to be tried again, and how far groups look ahead.
    since: u32,
    wait: u32,
    ahead: f64,
    /// Steps since then in which stages met; gaps measured since then, and those of them that were measured in vain.
    quarrels: u32,
    worked: u64,
    wasted: u64,
    /// Gaps measured in the last step.
    busy: u64,
}

impl Default for Company {
    fn default() -> Self {
        Self {
            stages: vec![Stage::default()],
            observer: Observer::default(),
            counters: ImpulseCounters::default(),
            smallest_gap: 0.0,
            events: Vec::new(),
            rejected: Vec::new(),
            step: 0,
            border: None,
            since: 0,
            wait: 1,
            ahead: AHEAD,
            quarrels: 0,
            worked: 0,
            wasted: 0,
            busy: 0,
        }
    }
}

/// Boxes of all parts that move, and whose they are.
#[derive(Debug)]
struct Border {
    space: Box<dyn Space>,
    ids: Vec<Option<ProxyId>>,
    stage_of: Vec<u32>,
}

impl Border {
    fn new(stages: &[Stage]) -> Result<Self, SpaceError> {
        let count = stages.first().map_or(0, |stage| stage.parts.len());
        let space = SpaceKind::DynamicBvh.create();
        let mut border = Self { space, ids: vec![None; count], stage_of: vec![0; count] };
        for (index, stage) in stages.iter().enumerate() {
            for (part, bounds) in stage.neighbors.boxes() {
                let id = border.space.insert(&bounds, Mobility::Moving, u64::from(part))?;
                border.ids[part as usize] = Some(id);
                border.stage_of[part as usize] = index as u32;
            }
        }
        border.space.build();
        Ok(border)
    }

    fn set(&mut self, part: u32, bounds: &Aabb) -> Result<(), SpaceError> {
        let Some(id) = self.ids[part as usize] else { return Ok(()) };
        match self.space.update(id, bounds) {
            Err(SpaceError::Enormous { .. }) => self.space.update(id, &everywhere()),
            other => other,
        }
    }

    /// Joins all stages whose boxes have met those of the stages that have just played.
    fn join_met(&mut self, played: &[(usize, Vec<(u32, Aabb)>)], sets: &mut Sets) -> Result<(), SpaceError> {
        for (part, bounds) in played.iter().flat_map(|(_, reaches)| reaches) {
            self.set(*part, bounds)?;
        }
        self.space.step(1, &mut PairChanges::default());
        for (stage, reaches) in played {
            for (_, bounds) in reaches {
                self.space.overlapping(bounds, &mut |id| {
                    if let Ok(other) = self.space.user(id) {
                        sets.join(*stage as u32, self.stage_of[other as usize]);
                    }
                    std::ops::ControlFlow::Continue(())
                });
            }
        }
        Ok(())
    }
}

impl Stage {
    /// Plays a step; remembers what went wrong.
    fn perform(&mut self, act: &Act<'_>, step: u64, alone: bool) {
        let idle = act.undisturbed && self.is_idle(act.end);
        if !(alone || idle) {
            self.keep_draft();
        }
        if let Err(error) = self.try_perform(act, step) {
            self.failure = Some(Failure { turn: self.world_turn(), error });
        }
    }

    fn try_perform(&mut self, act: &Act<'_>, step: u64) -> Result<(), Error> {
        self.begin_account(act.world);
        self.kick_all(act.loads, act.start, 0.5 * (act.end - act.start))?;
        self.begin(step, act.start, act.end)?;
        if act.settings.search == "bracketing" {
            self.play_bracketing(act.world, act.settings, act.start)
        } else {
            self.play(act.world, act.settings)
        }
    }

    /// Whether nothing at all is going to happen before the end.
    fn is_idle(&self, end: f64) -> bool {
        [&self.agenda, &self.alarms].iter().all(|agenda| agenda.first().is_none_or(|first| first.0 > end))
            && !self.actors.iter().any(|actor| actor.watch.held)
    }

    /// What is being done, in numbers of the world.
    fn world_turn(&self) -> (f64, TurnKind, u64) {
        let Turn { time, kind, number } = self.turn;
        let number = match kind {
            TurnKind::Meeting => self.pairs[number as usize].tie(),
            _ => u64::from(self.cast.get(number as usize).copied().unwrap_or(0)),
        };
        (time, kind, number)
    }
}

fn refused(source: SpaceError) -> Error {
    ImpulseError::Space { source }.into()
}

impl Company {
    /// Everybody on one stage, fresh from the world.
    pub fn enlist(&mut self, world: &World, settings: &ImpulseSettings, gravity: DVec3) -> Result<(), Error> {
        let mut stage = Stage::default();
        stage.enlist(world, settings, gravity)?;
        self.smallest_gap = f64::INFINITY;
        self.take_on(stage);
        Ok(())
    }

    /// Everybody on this stage.
    pub fn take_on(&mut self, stage: Stage) {
        self.stages = vec![stage];
        self.step = 0;
        (self.border, self.since, self.wait, self.quarrels) = (None, 0, 1, 0);
        (self.worked, self.wasted) = (0, 0);
    }

    /// Deals out the cast anew if it is time for that.
    pub fn arrange(&mut self, settings: &ImpulseSettings, dt: f64) -> Result<(), Error> {
        let several = settings.threads > 1 && settings.search == "one-sided" && !self.observer.is_watching();
        if !several {
            return if self.stages.len() > 1 { self.deal_out(&[], 1) } else { Ok(()) };
        }
        self.since += 1;
        let in_vain = self.wasted > 4 * WORTH_A_CALL
            && self.wasted as f64 > QUARRELSOME * (self.worked + self.wasted) as f64;
        if self.stages.len() > 1 && in_vain {
            self.wait = (2 * self.wait).clamp(PERIOD, LONGEST_WAIT);
            return self.deal_out(&[], 1);
        }
        // Before the first step nobody has a box with room.
        if self.step == 0 || !self.is_due(settings.threads as usize) {
            return Ok(());
        }
        self.ahead = if self.quarrels > 0 { 2.0 * self.ahead } else { 0.5 * self.ahead };
        self.ahead = self.ahead.clamp(LEAST_AHEAD, MOST_AHEAD);
        let mut found = groups(&self.stages, self.ahead * dt);
        if found.len() < 2 && self.ahead > LEAST_AHEAD {
            found = groups(&self.stages, LEAST_AHEAD * dt);
        }
        let lonely = found.len() < 2;
        let wait = if lonely { (2 * self.wait).min(LONGEST_WAIT) } else { 1 };
        let most = STAGES_PER_THREAD * settings.threads as usize;
        let stages = deal(&found, most);
        let dealt: Vec<(usize, &[u32])> =
            stages.iter().zip(&found).map(|(stage, group)| (*stage, group.members.as_slice())).collect();
        let count = found.len().min(most).max(1);
        if count > 1 || self.stages.len() > 1 {
            self.deal_out(&dealt, count)?;
        }
        (self.since, self.wait) = (0, wait);
        for actor in self.stages.iter_mut().flat_map(|stage| &mut stage.actors) {
            actor.touches = 0;
        }
        Ok(())
    }

    fn is_due(&self, threads: usize) -> bool {
        if self.stages.len() == 1 {
            return self.since >= self.wait;
        }
        if self.since < PERIOD {
            return false;
        }
        let most = self.stages.iter().map(|stage| stage.worked).max().unwrap_or(0) as f64;
        let all = self.stages.iter().map(|stage| stage.worked).sum::<u64>() as f64;
        self.quarrels > 0 || most * threads as f64 > UNEVEN * all
    }

    /// (stage and numbers of the world, how many stages) ⇒ everybody is there; who is not named is on the first.
    fn deal_out(&mut self, dealt: &[(usize, &[u32])], count: usize) -> Result<(), Error> {
        let mut stage_of = vec![0; self.stages[0].locals.len()];
        for (stage, members) in dealt {
            for number in *members {
                stage_of[*number as usize] = *stage as u32;
            }
        }
        self.stages = recast(std::mem::take(&mut self.stages), &stage_of, count)?;
        self.border = if count > 1 { Some(Border::new(&self.stages).map_err(refused)?) } else { None };
        (self.since, self.quarrels, self.worked, self.wasted) = (0, 0, 0, 0);
        Ok(())
    }

    /// Plays a step on all stages.
    pub fn perform(&mut self, act: &Act<'_>) -> Result<(), Error> {
        self.step += 1;
        if let [only] = self.stages.as_mut_slice() {
            std::mem::swap(&mut only.observer, &mut self.observer);
            only.perform(act, self.step, true);
            std::mem::swap(&mut only.observer, &mut self.observer);
        } else {
            self.perform_together(act)?;
        }
        self.applaud();
        let failures = self.stages.iter_mut().filter_map(|stage| stage.failure.take());
        let order = |a: &Failure, b: &Failure| {
            a.turn.0.total_cmp(&b.turn.0).then((a.turn.1, a.turn.2).cmp(&(b.turn.1, b.turn.2)))
        };
        failures.min_by(order).map_or(Ok(()), |first| Err(first.error))
    }

    fn perform_together(&mut self, act: &Act<'_>) -> Result<(), Error> {
        let threads = if self.busy < WORTH_A_CALL { 1 } else { act.settings.threads as usize };
        let (step, mut playing) = (self.step, (0..self.stages.len()).collect::<Vec<_>>());
        loop {
            let mut stages: Vec<&mut Stage> = self
                .stages
                .iter_mut()
                .enumerate()
                .filter_map(|(index, stage)| playing.binary_search(&index).is_ok().then_some(stage))
                .collect();
            // Whoever has most to do comes first.
            stages.sort_by_key(|stage| stage.worked);
            let queue = Mutex::new(stages);
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
            together(threads.min(playing.len()), |_| {
                while let Some(stage) = next() {
                    stage.perform(act, step, false);
                }
            });
            playing = self.reconcile(&playing)?;
            if playing.is_empty() {
                break;
            }
        }
        self.settle()
    }

    /// Puts back and joins stages that have met ⇒ who has to play again.
    fn reconcile(&mut self, played: &[usize]) -> Result<Vec<usize>, Error> {
        let Some(border) = &mut self.border else { return Ok(Vec::new()) };
        let reaches: Vec<_> =
            played.iter().map(|index| (*index, self.stages[*index].neighbors.reaches())).collect();
        let mut sets = Sets::new(self.stages.len());
        border.join_met(&reaches, &mut sets).map_err(refused)?;
        let roots: Vec<u32> = (0..self.stages.len() as u32).map(|index| sets.root(index)).collect();
        let mut again = Vec::new();
        for root in 0..self.stages.len() {
            let met: Vec<usize> =
                (root..self.stages.len()).filter(|index| roots[*index] as usize == root).collect();
            if met.len() < 2 {
                continue;
            }
            let mut stages: Vec<Stage> =
                met.iter().map(|index| std::mem::take(&mut self.stages[*index])).collect();
            for stage in &mut stages {
                self.wasted += stage.counters.checks;
                stage.take_back()?;
            }
            let nobody_elsewhere = vec![0; stages[0].locals.len()];
            for joined in recast(stages, &nobody_elsewhere, 1)? {
                for (part, bounds) in joined.neighbors.boxes() {
                    border.set(part, &bounds).map_err(refused)?;
                    border.stage_of[part as usize] = root as u32;
                }
                self.stages[root] = joined;
            }
            again.push(root);
        }
        self.quarrels += u32::from(!again.is_empty());
        Ok(again)
    }

    /// The step holds: forgets how it began.
    fn settle(&mut self) -> Result<(), Error> {
        let Some(border) = &mut self.border else { return Ok(()) };
        for stage in &mut self.stages {
            for (part, _) in stage.neighbors.reaches() {
                if let Some(bounds) = stage.neighbors.bounds(part) {
                    border.set(part, &bounds).map_err(refused)?;
                }
            }
            stage.drop_draft();
        }
        if self.stages.iter().any(|stage| stage.actors.is_empty()) {
            self.stages.retain(|stage| !stage.actors.is_empty());
            for (index, stage) in self.stages.iter().enumerate() {
                for (part, _) in stage.neighbors.boxes() {
                    border.stage_of[part as usize] = index as u32;
                }
            }
        }
        if self.stages.len() == 1 {
            (self.border, self.since, self.wait) = (None, 0, PERIOD / 4);
        }
        Ok(())
    }

    /// Collects what all have done in a step.
    fn applaud(&mut self) {
        self.busy = 0;
        self.events.clear();
        self.rejected.clear();
        for stage in &mut self.stages {
            self.busy += stage.counters.checks;
            self.worked += stage.counters.checks;
            stage.worked += stage.counters.checks;
            self.counters += std::mem::take(&mut stage.counters);
            self.smallest_gap = self.smallest_gap.min(stage.smallest_gap);
            self.events.append(&mut stage.events);
            self.rejected.append(&mut stage.rejected);
        }
        self.events.sort_by(|a, b| {
            let ((time_a, bodies_a), (time_b, bodies_b)) = (when_and_who(a), when_and_who(b));
            time_a.total_cmp(&time_b).then(bodies_a.cmp(&bodies_b))
        });
        self.rejected.sort_by_key(|rejected| (rejected.bodies, rejected.shapes));
    }

    /// Whether the world is no longer the one that was taken on.
    pub fn is_stale(&self, world: &World, gravity: DVec3) -> bool {
        let bodies = world.bodies();
        let ids = bodies.ids(Status::Dynamic);
        let actors = || self.stages.iter().flat_map(|stage| &stage.actors);
        let free = actors().filter(|actor| actor.is_free()).count();
        self.stages[0].gravity != gravity
            || self.stages[0].locals.len() + bodies.count(Status::Inactive) != bodies.len()
            || free != ids.len()
            || actors().any(|actor| actor.is_free() && ids.get(actor.place) != Some(&actor.id))
    }

    /// Average contact forces over the last window, in the order of the parts.
    pub fn forces(&self) -> Vec<ContactForce> {
        let mut forces: Vec<_> = self.stages.iter().flat_map(Stage::forces).collect();
        forces.sort_by_key(|(tie, _)| *tie);
        forces.into_iter().map(|(_, force)| force).collect()
    }

    /// Who rests, in the order of the world.
    pub fn resting(&self) -> Vec<BodyId> {
        let on = |stage: &Stage| {
            let resting = |(number, actor): (&u32, &Actor)| {
                (actor.role == Role::Resting).then_some((*number, actor.id))
            };
            stage.cast.iter().zip(&stage.actors).filter_map(resting).collect::<Vec<_>>()
        };
        let mut resting: Vec<_> = self.stages.iter().flat_map(on).collect();
        resting.sort_by_key(|(number, _)| *number);
        resting.into_iter().map(|(_, id)| id).collect()
    }
}

/// When and to whom it happened.
fn when_and_who(event: &Event) -> (f64, Option<[BodyId; 2]>) {
    match event {
        Event::Collision { time, bodies, .. } | Event::Stalled { time, bodies } => (*time, Some(*bodies)),
        _ => (f64::INFINITY, None),
    }
}
