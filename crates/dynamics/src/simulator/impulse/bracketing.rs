//! The other way to find collisions, for comparison: step on blindly, look whether anything overlaps, and search back.
//!
//! Time is cut into samples. If a pair overlaps at the end of a sample, the time of contact lies between; halving the bracket
//! finds a moment at which the gap is positive and below ε. The earliest contact is played and the rest of the sample is looked
//! at again. Whatever passes through something within one sample is never seen: that is what the one-sided search is for.

use super::ImpulseSettings;
use super::partition::Partition;
use super::tuning::BISECTIONS;
use crate::error::Error;
use crate::world::World;

impl Partition {
    /// Plays everything that happens until the end of the window, as far as samples notify it.
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

    /// The first contact between two times that shows at the second one.
    fn earliest_contact(&mut self, from: f64, to: f64) -> Result<Option<(f64, u32)>, Error> {
        let mut earliest: Option<(f64, u32)> = None;
        // In an order that does not depend on how pairs are numbered.
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
