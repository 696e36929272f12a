//! Shock propagation: what stands on something counts on it.
//!
//! Sweeps carry the weight of a stack down by one storey each, so a high one sinks into itself. Who touches something immovable
//! is on the first storey, who touches only those on the second, and so on (how many contacts away the nearest immovable body is).
//! After the sweeps the storeys are gone through once more from below: the contacts under a storey, and within it, are solved with
//! everything below taken for immovable. What is wrong then is pushed out at the top, where there is room, instead of down into the
//! ground. Weight is no longer passed on by this pass, momentum not kept: it is for what stands, not for what collides.
//!
//! E. Guendelman, R. Bridson, R. Fedkiw, "Nonconvex rigid bodies with stacking", 2003.

use super::contact::Touch;
use super::discrepancy::Mass;

/// How many contacts a body is away from what is immovable; nothing for those that fly.
pub(super) struct Storeys(Vec<Option<u32>>);

impl Storeys {
    pub fn new(masses: &[Mass], touches: &[Touch]) -> Self {
        let mut storeys: Vec<Option<u32>> = masses.iter().map(|mass| (!mass.movable).then_some(0)).collect();
        let mut level = 0;
        loop {
            let mut found = false;
            for touch in touches.iter().filter(|touch| touch.gap <= 0.0) {
                let [a, b] = touch.bodies;
                for (known, other) in [(a, b), (b, a)] {
                    if storeys[known] == Some(level) && storeys[other].is_none() {
                        (storeys[other], found) = (Some(level + 1), true);
                    }
                }
            }
            if !found {
                return Self(storeys);
            }
            level += 1;
        }
    }

    /// Storey by storey from below, `sweeps` times over what is under each and within it, with all below immovable.
    pub fn rise(
        &self,
        masses: &mut [Mass],
        touches: &mut [Touch],
        sweeps: usize,
        mut act: impl FnMut(&mut Touch, &mut [Mass]),
    ) {
        let upper = |touch: &Touch| {
            let [a, b] = touch.bodies.map(|body| self.0[body]);
            Some(a?.max(b?))
        };
        let movable: Vec<bool> = masses.iter().map(|mass| mass.movable).collect();
        let top = self.0.iter().flatten().copied().max().unwrap_or_default();
        for level in 1..=top {
            for (mass, storey) in masses.iter_mut().zip(&self.0) {
                mass.movable &= storey.is_none_or(|storey| storey >= level);
            }
            for sweep in 0..sweeps {
                super::there_and_back(touches, sweep, |touch| {
                    if upper(touch) == Some(level) {
                        act(touch, masses);
                    }
                });
            }
        }
        for (mass, movable) in masses.iter_mut().zip(movable) {
            mass.movable = movable;
        }
    }
}
