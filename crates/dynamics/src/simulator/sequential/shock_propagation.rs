//! Shock propagation: a last pass through the levels of a stack, from the ground up.
//!
//! A sweep transmits the weight of a stack down by one level, so a high stack sinks into itself. The level of
//! a body is the number of contacts between it and the nearest immovable body. After the sweeps the levels
//! are visited from below: contacts below and within a level are solved with all lower levels immovable.
//! Remaining errors are thereby pushed out at the top instead of into the ground. This pass transmits no
//! weight and does not conserve momentum; it is meant for resting stacks, not for collisions.
//!
//! E. Guendelman, R. Bridson, R. Fedkiw, "Nonconvex rigid bodies with stacking", *ACM Trans. Graph.* 22
//! (2003).

use super::contact_constraint::PointContact;
use super::solver_body::SequentialBody;

/// Number of contacts between each body and the nearest immovable one; `None` without such a chain.
pub(super) struct StackLevels(Vec<Option<u32>>);

impl StackLevels {
    /// Breadth-first levels over the touching contacts.
    pub fn new(bodies: &[SequentialBody], contacts: &[PointContact]) -> Self {
        let mut levels: Vec<Option<u32>> = bodies.iter().map(|body| (!body.movable).then_some(0)).collect();
        let mut level = 0;
        loop {
            let mut found = false;
            for contact in contacts.iter().filter(|contact| contact.gap <= 0.0) {
                let [a, b] = contact.bodies;
                for (known, other) in [(a, b), (b, a)] {
                    if levels[known] == Some(level) && levels[other].is_none() {
                        (levels[other], found) = (Some(level + 1), true);
                    }
                }
            }
            if !found {
                return Self(levels);
            }
            level += 1;
        }
    }

    /// Visits the levels from below: `sweeps` sweeps over the contacts below and within each, with all lower
    /// levels immovable.
    pub fn solve_upwards(
        &self,
        bodies: &mut [SequentialBody],
        contacts: &mut [PointContact],
        sweeps: usize,
        mut solve: impl FnMut(&mut PointContact, &mut [SequentialBody]),
    ) {
        let upper = |contact: &PointContact| {
            let [a, b] = contact.bodies.map(|body| self.0[body]);
            Some(a?.max(b?))
        };
        let movable: Vec<bool> = bodies.iter().map(|body| body.movable).collect();
        let top = self.0.iter().flatten().copied().max().unwrap_or_default();
        for level in 1..=top {
            for (body, body_level) in bodies.iter_mut().zip(&self.0) {
                body.movable &= body_level.is_none_or(|body_level| body_level >= level);
            }
            for sweep in 0..sweeps {
                super::alternate(contacts, sweep, |contact| {
                    if upper(contact) == Some(level) {
                        solve(contact, bodies);
                    }
                });
            }
        }
        for (body, movable) in bodies.iter_mut().zip(movable) {
            body.movable = movable;
        }
    }
}
