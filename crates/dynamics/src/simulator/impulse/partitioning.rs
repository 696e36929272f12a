//! Groups of bodies that may interact in the steps to come.
//!
//! Two moving bodies belong to one group if they are in a pair, or if their AABBs overlap when enlarged by
//! the displacement within the lookahead at the present speed bound. That is a guess, since collisions
//! accelerate bodies. Whether it was right is found afterwards (`timewarp`), so it concerns speed only.

use super::partition::Partition;
use super::tuning::LOOKAHEAD_DIAMETERS;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, SpaceKind};
use rattleback_numerics::UnionFind;

/// Group of bodies and an estimate of its work.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct IndependentGroup {
    /// Indices in the world, ascending.
    pub members: Vec<u32>,
    pub work: f64,
}

/// (partitions of one world, lookahead in s) ⇒ groups, largest work first.
pub(super) fn independent_groups(partitions: &[Partition], lookahead: f64) -> Vec<IndependentGroup> {
    let count = partitions.first().map_or(0, |partition| partition.local_of.len());
    let mut sets = UnionFind::new(count);
    let (mut boxes, mut work) = (Vec::new(), vec![None; count]);
    for partition in partitions {
        for (pair, _) in partition.pairs.iter().zip(&partition.alive).filter(|(_, alive)| **alive) {
            let [a, b] = pair.bodies.map(|body| partition.global_of[body as usize]);
            if pair.bodies.iter().all(|body| !partition.bodies[*body as usize].is_stationary()) {
                sets.union(a, b);
            }
        }
        for (index, body) in partition.bodies.iter().enumerate().filter(|(_, body)| !body.is_stationary()) {
            let number = partition.global_of[index];
            work[number as usize] =
                Some(f64::from(body.restarts) + if body.is_moving() { 1.0 } else { 0.01 });
            let margin = (body.odometer_at(partition.end + lookahead) - body.odometer_at(partition.end))
                .min(LOOKAHEAD_DIAMETERS * body.diameter);
            for part in body.parts.clone() {
                let bounds = partition.broad_phase.bounds(part as u32);
                boxes.extend(bounds.map(|bounds| (number, bounds.enlarged(margin).unwrap_or(bounds))));
            }
        }
    }
    join_overlapping(&mut sets, &boxes);
    gather(&mut sets, &work)
}

fn join_overlapping(sets: &mut UnionFind, boxes: &[(u32, Aabb)]) {
    let mut space = SpaceKind::DynamicBvh.create();
    for (number, bounds) in boxes {
        // An AABB that the space rejects stays in a group of its own; an interaction is detected later.
        let _ = space.insert(bounds, Mobility::Moving, u64::from(*number));
    }
    space.build();
    space.step(1, &mut PairChanges::default());
    space.for_each_pair(&mut |pair| {
        if let (Ok(a), Ok(b)) = (space.user(pair.a), space.user(pair.b)) {
            sets.union(a as u32, b as u32);
        }
    });
}

fn gather(sets: &mut UnionFind, work: &[Option<f64>]) -> Vec<IndependentGroup> {
    let mut independent_groups: Vec<IndependentGroup> = Vec::new();
    let mut group_of = vec![None; work.len()];
    for (number, own) in work.iter().enumerate() {
        let Some(own) = own else { continue };
        let root = sets.find(number as u32) as usize;
        let group = *group_of[root].get_or_insert_with(|| {
            independent_groups.push(IndependentGroup { members: Vec::new(), work: 0.0 });
            independent_groups.len() - 1
        });
        independent_groups[group].members.push(number as u32);
        independent_groups[group].work += own;
    }
    independent_groups.sort_by(|a, b| b.work.total_cmp(&a.work).then(a.members.cmp(&b.members)));
    independent_groups
}

/// (groups, largest work first; largest number of partitions) ⇒ partition of each group, always the one with
/// least work so far.
pub(super) fn assign(independent_groups: &[IndependentGroup], most: usize) -> Vec<usize> {
    let mut loads = vec![0.0; independent_groups.len().min(most).max(1)];
    let mut partition_of = Vec::with_capacity(independent_groups.len());
    for group in independent_groups {
        let least = (0..loads.len()).min_by(|a, b| f64::total_cmp(&loads[*a], &loads[*b])).unwrap_or(0);
        loads[least] += group.work;
        partition_of.push(least);
    }
    partition_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_what_was_joined() {
        let mut sets = UnionFind::new(6);
        for (a, b) in [(4, 2), (5, 4), (0, 1)] {
            sets.union(a, b);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|k| sets.find(k)), [0, 0, 2, 3, 2, 2]);
        let work = [Some(1.0), Some(1.0), Some(5.0), None, Some(1.0), Some(1.0)];
        let independent_groups = gather(&mut sets, &work);
        assert_eq!(independent_groups[0], IndependentGroup { members: vec![2, 4, 5], work: 7.0 });
        assert_eq!(independent_groups[1], IndependentGroup { members: vec![0, 1], work: 2.0 });
        assert_eq!(assign(&independent_groups, 8), [0, 1]);
        assert_eq!(assign(&independent_groups, 1), [0, 0]);
    }
}
