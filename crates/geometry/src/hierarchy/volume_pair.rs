//! Two [`VolumeTree`]s, in any pose of the second.
//!
//! Everything is compared in the frame of the first. A volume of the second tree is moved there only when its
//! parent was found to overlap, a triangle only when its leaf was: moving an object has no cost by itself.

use std::ops::ControlFlow;

use super::triangle::triangles_overlap;
use super::{Scratch, VolumeTree};
use crate::Pose;

/// Which of two inner nodes is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Descent {
    /// The larger: two new pairs.
    #[default]
    Larger,
    /// Both: four new pairs.
    Both,
}

/// Cost of a query: T = n_v c_v + n_p c_p + n_u c_u.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCost {
    /// Pairs of volumes tested, n_v.
    pub volume_tests: usize,
    /// Pairs of triangles tested, n_p.
    pub triangle_tests: usize,
    /// Volumes moved, the root's included, n_u.
    pub volume_transforms: usize,
    /// Triangles moved.
    pub triangle_transforms: usize,
}

impl VolumeTree {
    /// Calls `found` with the pairs (triangle of this tree, triangle of the other) that share a point, until
    /// `found` breaks off; `pose` places the other tree in the frame of this one. An invalid pose yields no
    /// pairs.
    pub fn crossing_pairs(
        &self,
        other: &Self,
        pose: &Pose,
        descent: Descent,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> PairCost {
        let mut cost = PairCost::default();
        if !pose.is_valid() {
            return cost;
        }
        let r = pose.rotation_matrix();
        let stack = &mut scratch.pairs;
        stack.clear();
        stack.push((0, 0));
        while let Some((a, b)) = stack.pop() {
            let (node_a, node_b) = (&self.nodes[a as usize], &other.nodes[b as usize]);
            cost.volume_tests += 1;
            cost.volume_transforms += 1;
            if !node_a.volume.may_overlap(&node_b.volume, pose, self.sat_mode) {
                continue;
            }
            let children_a = [a + 1, a + node_a.right];
            let children_b = [b + 1, b + node_b.right];
            let open = match (node_a.right == 0, node_b.right == 0, descent) {
                (true, true, _) => {
                    for j in node_b.first..node_b.first + node_b.count {
                        let moved = other.triangles[j as usize].map(|p| r * p + pose.translation);
                        cost.triangle_transforms += 1;
                        for i in node_a.first..node_a.first + node_a.count {
                            cost.triangle_tests += 1;
                            if triangles_overlap(&self.triangles[i as usize], &moved)
                                && found(self.order[i as usize], other.order[j as usize]).is_break()
                            {
                                return cost;
                            }
                        }
                    }
                    continue;
                }
                (false, false, Descent::Both) => {
                    stack.extend(children_a.iter().flat_map(|&a| children_b.map(|b| (a, b))));
                    continue;
                }
                (true, false, _) => false,
                (false, true, _) => true,
                (false, false, Descent::Larger) => node_a.size >= node_b.size,
            };
            if open {
                stack.extend(children_a.map(|child| (child, b)));
            } else {
                stack.extend(children_b.map(|child| (a, child)));
            }
        }
        cost
    }
}
