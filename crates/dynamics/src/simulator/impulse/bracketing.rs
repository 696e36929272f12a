//! Bracketing search for collisions, for comparison with the one-sided search: sample, detect overlaps,
//! bisect.
//!
//! Time is cut into samples. If a pair overlaps at the end of a sample, its time of impact lies inside;
//! bisection finds a time at which the gap is positive and below ε. The earliest collision is resolved, and
//! the rest of the sample is searched again. A body that passes through another within one sample is missed
//! (tunnelling), which the one-sided search rules out.

use super::ImpulseSettings;
use super::partition::Partition;
use super::tuning::BISECTIONS;
use crate::error::Error;
use crate::world::World;

impl Partition {
    /// Runs all collisions until the end of the step that the samples detect.
    pub fn run_bracketing(
        &mut self,
        world: &World,
        settings: &ImpulseSettings,
        start: f64,
    ) -> Result<(), Error> {
        let mut t = start;
        while t < self.end {
            let next = (t + settings.sampling).min(self.end);
            self.horizon = next;
            for body in 0..self.bodies.len() as u32 {
                if self.bodies[body as usize].is_moving() {
                    self.fatten_aabb(body, t, next)?;
                }
            }
            self.update_pairs(world, t)?;
            let mut rounds = 0;
            while let Some((contact, pair)) = self.earliest_contact(t, next)? {
                let gap = self.measure_gap(pair, contact)?;
                self.collide(world, settings, pair, contact, &gap)?;
                self.update_pairs(world, contact)?;
                t = contact;
                rounds += 1;
                if i64::from(rounds) >= settings.stall_limit {
                    break;
                }
            }
            t = next;
        }
        Ok(())
    }

    /// First collision between two times that is detected at the second one.
    fn earliest_contact(&mut self, from: f64, to: f64) -> Result<Option<(f64, u32)>, Error> {
        let mut earliest: Option<(f64, u32)> = None;
        // In an order that does not depend on the indices of the pairs.
        let mut pairs: Vec<u32> =
            (0..self.pairs.len() as u32).filter(|pair| self.alive[*pair as usize]).collect();
        pairs.sort_by_key(|pair| self.pairs[*pair as usize].pair_key());
        for pair in pairs {
            if !self.has_movable_body(pair) {
                continue;
            }
            let until = earliest.map_or(to, |known| known.0);
            let end = self.measure_gap(pair, until)?;
            if end.distance > 0.0 {
                if until == to && self.is_colliding(pair, to, &end) {
                    earliest = Some((to, pair));
                }
                continue;
            }
            let (mut before, mut after) = (from, until);
            for _ in 0..BISECTIONS {
                let middle = 0.5 * (before + after);
                let gap = self.measure_gap(pair, middle)?;
                if gap.distance > 0.0 {
                    before = middle;
                    if gap.distance < self.epsilon {
                        break;
                    }
                } else {
                    after = middle;
                }
            }
            if self.measure_gap(pair, before)?.rate < 0.0 {
                earliest = Some((before, pair));
            }
        }
        Ok(earliest)
    }

    fn has_movable_body(&self, pair: u32) -> bool {
        self.pairs[pair as usize].bodies.iter().any(|body| self.bodies[*body as usize].is_movable())
    }
}
