//! Creation and removal of pairs, from the changes of the broad phase.

use super::ImpulseError;
use super::motion_bound::MotionBound;
use super::pair::ImpulsePair;
use super::partition::Partition;
use super::tuning::{INITIAL_GAP, OVERLAP_ROUNDING};
use crate::error::Error;
use crate::filter::Rejected;
use crate::world::World;
use glam::DVec3;
use rattleback_geometry::contact::PieceCache;

impl Partition {
    /// Creates pairs for parts whose fat AABBs have begun to overlap, and marks or removes those whose AABBs
    /// have ceased to.
    pub fn update_pairs(&mut self, world: &World, time: f64) -> Result<(), Error> {
        let (mut began, mut ended) = (std::mem::take(&mut self.began), std::mem::take(&mut self.ended));
        self.broad_phase.update(&mut began, &mut ended);
        for parts in &ended {
            if let Some(index) = self.find_pair(*parts) {
                self.pairs[index as usize].boxes_overlap = false;
                // A pair with a scheduled event is removed only at that event, so that a pair at the edge of
                // overlap does not come and go.
                if !self.pair_events.has(index) {
                    self.end_pair(index);
                }
            }
        }
        for parts in &began {
            self.begin_pair(world, *parts, time)?;
        }
        (self.began, self.ended) = (began, ended);
        Ok(())
    }

    /// Index of the pair of two parts, if there is one.
    fn find_pair(&self, [a, b]: [u32; 2]) -> Option<u32> {
        let parts = [a.min(b), a.max(b)];
        let bodies = parts.map(|part| &self.bodies[self.body_of_part(part) as usize]);
        let of_first = bodies[1].is_stationary()
            || (!bodies[0].is_stationary() && bodies[0].pairs.len() < bodies[1].pairs.len());
        let shorter = if of_first { &bodies[0].pairs } else { &bodies[1].pairs };
        shorter.iter().copied().find(|pair| self.pairs[*pair as usize].parts == parts)
    }

    /// Index of the body that a part belongs to.
    fn body_of_part(&self, part: u32) -> u32 {
        self.local_of[self.parts[part as usize].body as usize]
    }

    /// Creates a pair unless it exists, both parts belong to one body, no body is dynamic, or the pair filter
    /// rejects it.
    fn begin_pair(&mut self, world: &World, [a, b]: [u32; 2], time: f64) -> Result<(), Error> {
        let parts = [a.min(b), a.max(b)];
        let bodies = parts.map(|part| self.body_of_part(part));
        if bodies[0] == bodies[1] || !bodies.iter().any(|a| self.bodies[*a as usize].is_dynamic()) {
            return Ok(());
        }
        if let Some(index) = self.find_pair(parts) {
            self.pairs[index as usize].boxes_overlap = true;
            return Ok(());
        }
        let shapes = parts.map(|part| self.parts[part as usize].shape);
        let ids = bodies.map(|body| self.bodies[body as usize].id);
        if let Some(why) = world.pair_filter().evaluate(world, ids, shapes)? {
            self.rejected.push(Rejected { bodies: ids, shapes, why });
            return Ok(());
        }
        let surface = world.combined_material(shapes[0], shapes[1])?;
        let pair = ImpulsePair {
            parts,
            bodies,
            boxes_overlap: true,
            cache: PieceCache::default(),
            cache_step: 0,
            last_gap: (f64::NEG_INFINITY, 0.0),
            bound_time: time,
            distance: 0.0,
            bound: MotionBound::default(),
            deferred: false,
            deadlines: [f64::INFINITY; 2],
            restitution: surface.restitution,
            friction: surface.kinetic_friction,
            static_friction: surface.static_friction,
            rolling_levers: [surface.rolling_friction, surface.spinning_friction],
            impulse: DVec3::ZERO,
            sum_start: time,
            force: DVec3::ZERO,
            normal: DVec3::Z,
            point: DVec3::ZERO,
            face: None,
            hop: (f64::NEG_INFINITY, 0.0),
            hop_velocity: DVec3::ZERO,
            hop_gap: 0.0,
            pull_sum: (0.0, 0.0),
            collision_count: 0,
            count_start: time,
            event_count: 0,
            stall_start: time,
            offset: 0.0,
        };
        let index = self.insert_pair(pair);
        let mut gap = self.measure_gap(index, time)?;
        let least = INITIAL_GAP * self.epsilon;
        if gap.distance < least {
            let scale = |body: u32| {
                let body = &self.bodies[body as usize];
                if body.is_dynamic() { body.diameter + 1e-6 * body.start.x.length() } else { 0.0 }
            };
            let overlap = gap.distance < -OVERLAP_ROUNDING * scale(bodies[0]).max(scale(bodies[1]));
            // An overlap that another simulator has left keeps its depth: with the offset the pair counts as
            // touching.
            if overlap && !world.was_stepped_by_others() {
                return Err(ImpulseError::overlap(ids, -gap.distance, time).into());
            }
            // The offset leaves room for a shrinking gap; resting bodies do not use it.
            self.pairs[index as usize].offset = least - gap.distance;
            gap.distance = least;
            self.pairs[index as usize].last_gap.1 = least;
        }
        self.schedule(index, time, &gap);
        Ok(())
    }

    /// Stores a pair ⇒ its index.
    fn insert_pair(&mut self, pair: ImpulsePair) -> u32 {
        self.counters.pairs_made += 1;
        let bodies = pair.bodies;
        let index = if let Some(index) = self.free_slots.pop() {
            self.pairs[index as usize] = pair;
            self.alive[index as usize] = true;
            index
        } else {
            self.pairs.push(pair);
            self.alive.push(true);
            self.pairs.len() as u32 - 1
        };
        for body in bodies {
            let body = &mut self.bodies[body as usize];
            if !body.is_stationary() {
                body.pairs.push(index);
            }
        }
        index
    }

    /// Removes a pair.
    pub fn end_pair(&mut self, index: u32) {
        self.pair_events.cancel(index);
        self.alive[index as usize] = false;
        self.pairs[index as usize].deferred = false;
        self.free_slots.push(index);
        for body in self.pairs[index as usize].bodies {
            let pairs = &mut self.bodies[body as usize].pairs;
            if let Some(place) = pairs.iter().position(|pair| *pair == index) {
                pairs.swap_remove(place);
            }
        }
    }
}
