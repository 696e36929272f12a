//! Degrees of bodies in the graph of contacts and joints.
//!
//! With the degree of every body and the exclusive or of its neighbours and of its pairs, a path of bodies is
//! followed without lists of neighbours.

use super::contact_graph::ContactGraph;
use super::joint_constraint::JointConstraints;
use super::sim_bodies::SimBodies;

/// A body in the graph.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BodyDegree {
    /// Number of its pairs with manifolds; joints count as [`JOINT_DEGREE`] each.
    pub degree: u32,
    /// Exclusive or of the slots of its neighbours in pairs, and of the slots of these pairs.
    pub neighbors: u32,
    pub pairs: u32,
}

/// Degree of a joint: a jointed body has neither one contact only nor two.
const JOINT_DEGREE: u32 = 3;

impl SimBodies {
    /// Counts the pairs and joints of all bodies with pairs in the present step; the cost does not depend on other
    /// bodies, whose entries are outdated.
    pub fn count_degrees(&mut self, contact_graph: &ContactGraph, joints: &JointConstraints) {
        let degrees = &mut self.degrees;
        degrees.resize(self.bodies.len(), BodyDegree::default());
        for slot in contact_graph.near().flat_map(|(_, pair)| pair.bodies) {
            degrees[slot as usize] = BodyDegree::default();
        }
        for (index, pair) in contact_graph.near() {
            let [a, b] = pair.bodies;
            for (slot, neighbor) in [(a, b), (b, a)] {
                let entry = &mut degrees[slot as usize];
                entry.degree += 1;
                entry.neighbors ^= neighbor;
                entry.pairs ^= index as u32;
            }
        }
        for slot in joints.all.iter().flat_map(|joint| joint.bodies) {
            if let Some(entry) = degrees.get_mut(slot as usize) {
                entry.degree = entry.degree.saturating_add(JOINT_DEGREE);
            }
        }
    }

    /// The entry of a body with pairs.
    #[inline]
    pub fn degree(&self, slot: u32) -> BodyDegree {
        self.degrees.get(slot as usize).copied().unwrap_or_default()
    }
}
