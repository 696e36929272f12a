//! The same play on more or fewer stages.
//!
//! Whoever moves is on one stage, with everybody it is in a pair with. Whoever never moves is on all of them. Nothing in a run
//! depends on how actors and pairs are numbered on their stage, but for the order of those who move, which is that of the world. So
//! actors, pairs, marks and appointments can be dealt out anew without changing a bit of what is to come.

use super::ImpulseError;
use super::actor::Actor;
use super::alarm::Mark;
use super::pair::Pair;
use super::stage::Stage;
use crate::error::Error;
use std::sync::Arc;

/// A number that nobody has.
pub(super) const NOBODY: u32 = u32::MAX;

/// (stages of one world, which new stage every number of the world is to be on, how many there are to be) ⇒ the new stages.
pub(super) fn recast(stages: Vec<Stage>, stage_of: &[u32], count: usize) -> Result<Vec<Stage>, Error> {
    let Some(model) = stages.first() else { return Ok(stages) };
    let mut new: Vec<Stage> = (0..count).map(|_| model.empty_alike()).collect();
    let (mut movers, mut firm) = (Vec::new(), Vec::new());
    let mut pairs = Vec::new();
    for (source, mut stage) in stages.into_iter().enumerate() {
        let numbers = stage.deal_pairs(stage_of, &mut new, &mut pairs);
        for (index, mut actor) in stage.actors.drain(..).enumerate() {
            let number = stage.cast[index];
            if actor.is_firm() {
                if source == 0 {
                    firm.push((number, actor));
                }
                continue;
            }
            actor.renumber(&numbers);
            let alarm = stage.alarms.time(index as u32);
            let bounds = actor.parts.clone().map(|part| stage.neighbors.bounds(part as u32)).collect();
            movers.push(Mover { number, actor, alarm, bounds });
        }
        let first = &mut new[0];
        first.counters += stage.counters;
        first.worked += stage.worked;
        first.smallest_gap = first.smallest_gap.min(stage.smallest_gap);
    }
    movers.sort_by_key(|mover| mover.number);
    for mover in movers {
        new[stage_of[mover.number as usize] as usize].receive(mover)?;
    }
    for stage in &mut new {
        for (number, actor) in &firm {
            stage.enroll(*number, actor.clone());
        }
        stage.neighbors.build();
        stage.neighbors.news(&mut Vec::new(), &mut Vec::new());
    }
    for (to, pair, appointment) in pairs {
        new[to].receive_pair(pair, appointment);
    }
    Ok(new)
}

/// Somebody on the way to another stage.
struct Mover {
    number: u32,
    actor: Actor,
    alarm: Option<f64>,
    bounds: Vec<Option<rattleback_geometry::Aabb>>,
}

impl Actor {
    /// Old numbers of pairs ⇒ new ones. Marks of pairs that are gone stay, as they do on a stage.
    fn renumber(&mut self, numbers: &[(u32, u64)]) {
        for pair in &mut self.pairs {
            *pair = numbers[*pair as usize].0;
        }
        let marks = std::mem::take(&mut self.marks).into_vec();
        let renumbered = marks.into_iter().map(|mark| {
            let (pair, tie) = numbers.get(mark.pair as usize).copied().unwrap_or((NOBODY, 0));
            Mark { pair: if tie == mark.tie { pair } else { NOBODY }, ..mark }
        });
        self.marks = renumbered.collect();
    }
}

impl Stage {
    /// A stage of the same world with nobody on it.
    fn empty_alike(&self) -> Self {
        Self {
            locals: vec![NOBODY; self.locals.len()],
            parts: Arc::clone(&self.parts),
            neighbors: self.neighbors.empty_alike(),
            end: self.end,
            step: self.step,
            horizon: self.horizon,
            epsilon: self.epsilon,
            landing: self.landing,
            least_hop: self.least_hop,
            weight: self.weight,
            gravity: self.gravity,
            smallest_gap: f64::INFINITY,
            ..Self::default()
        }
    }

    /// Deals out its pairs, each still with the numbers in the world of its actors ⇒ new number and tie of every old one.
    fn deal_pairs(
        &mut self,
        stage_of: &[u32],
        new: &mut [Self],
        dealt: &mut Vec<(usize, Pair, Option<f64>)>,
    ) -> Vec<(u32, u64)> {
        let mut numbers = Vec::with_capacity(self.pairs.len());
        for (index, mut pair) in self.pairs.drain(..).enumerate() {
            if !self.alive[index] {
                numbers.push((NOBODY, 0));
                continue;
            }
            let firm = self.actors[pair.actors[0] as usize].is_firm();
            pair.actors = pair.actors.map(|actor| self.cast[actor as usize]);
            let to = stage_of[pair.actors[usize::from(firm)] as usize] as usize;
            numbers.push((new[to].alive.len() as u32, pair.tie()));
            new[to].alive.push(true);
            dealt.push((to, pair, self.agenda.time(index as u32)));
        }
        numbers
    }

    fn enroll(&mut self, number: u32, actor: Actor) {
        self.locals[number as usize] = self.actors.len() as u32;
        self.cast.push(number);
        self.actors.push(actor);
    }

    fn receive(&mut self, mover: Mover) -> Result<(), Error> {
        let index = self.actors.len() as u32;
        for (part, bounds) in mover.actor.parts.clone().zip(mover.bounds) {
            let added = self.neighbors.add(part as u32, bounds.as_ref());
            added.map_err(|source| ImpulseError::Space { source })?;
        }
        self.enroll(mover.number, mover.actor);
        if let Some(time) = mover.alarm {
            self.alarms.set(index, time, u64::from(index));
        }
        Ok(())
    }

    fn receive_pair(&mut self, mut pair: Pair, appointment: Option<f64>) {
        pair.actors = pair.actors.map(|number| self.locals[number as usize]);
        if let Some(time) = appointment {
            self.agenda.set(self.pairs.len() as u32, time, pair.tie());
        }
        self.pairs.push(pair);
    }
}
