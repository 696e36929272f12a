//! Columns: bodies stacked one upon another on a static body.
//!
//! A soft contact yields by its load over its stiffness. The stiffness that a sub-step h allows is about m/h² for
//! bodies of mass m, whatever their size, so a contact with lever arm a resists tilting by about m a²/h², while the
//! weight of the n bodies above it, each of half height b, tilts it further with m g b n²/2. The n contacts of a
//! column tilt in series: it is stable if n³ g h² b/a² is small, which it is not for a tower of ten boxes of 0.1 m at
//! 60 steps a second. In piles and walls neighbours share the load and hold each other. Columns that soft contacts
//! do not carry are therefore solved as a whole (`direct`), without softness.
//!
//! In the contact graph a column is a path: the top body has one neighbour, the others have two, and the last one is
//! static.

use super::contact_graph::ContactGraph;
use super::sim_bodies::{Activity, SimBodies};
use super::tuning::{DIRECT_MAX_BODIES, MIN_COLUMN_BODIES};

/// Search for columns.
#[derive(Debug, Default)]
pub(super) struct ColumnSearch {
    /// The present column from the top down, by slot.
    bodies: Vec<u32>,
    pairs: Vec<u32>,
}

impl ColumnSearch {
    /// Calls `visit` with the bodies and pairs of every column of awake bodies, from the top down.
    pub fn for_each(
        &mut self,
        contact_graph: &ContactGraph,
        sim_bodies: &SimBodies,
        mut visit: impl FnMut(&[u32], &[u32]),
    ) {
        if contact_graph.near_count() < MIN_COLUMN_BODIES {
            return;
        }
        for top in contact_graph.near().flat_map(|(_, pair)| pair.bodies) {
            let awake = sim_bodies.activities[top as usize] == Activity::Awake;
            if awake && sim_bodies.degree(top).degree == 1 && self.follow(top, sim_bodies) {
                visit(&self.bodies, &self.pairs);
            }
        }
    }

    /// Follows the path from a body with one pair ⇒ whether it is a column.
    fn follow(&mut self, top: u32, sim_bodies: &SimBodies) -> bool {
        self.bodies.clear();
        self.pairs.clear();
        let (mut body, mut last_body, mut last_pair) = (top, 0, 0);
        while self.bodies.len() < DIRECT_MAX_BODIES {
            let entry = sim_bodies.degree(body);
            let (next, pair) = (entry.neighbors ^ last_body, entry.pairs ^ last_pair);
            self.bodies.push(body);
            self.pairs.push(pair);
            match sim_bodies.activities.get(next as usize) {
                Some(Activity::Static) => return self.bodies.len() >= MIN_COLUMN_BODIES,
                Some(Activity::Awake) if sim_bodies.degree(next).degree == 2 => {
                    (last_body, last_pair, body) = (body, pair, next);
                }
                _ => return false,
            }
        }
        false
    }
}
