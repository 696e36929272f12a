//! Who may have to do with whom in the steps to come.
//!
//! Two who move belong to one group if they are in a pair, or if their boxes overlap, enlarged by how far they can get in the
//! time ahead at their present pace. That is a guess: collisions make bodies faster. Whether it was good is found out afterwards
//! (`company`), so it is a matter of speed only.

use super::stage::Stage;
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, SpaceKind};

/// Boxes are not enlarged by more than so many times the size of their body.
const FARTHEST: f64 = 4.0;

/// Sets of numbers that are joined one by one.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    parents: Vec<u32>,
}

impl Sets {
    /// So many numbers, each alone.
    pub fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    /// The least number of the set.
    pub fn root(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let parent = self.parents[number as usize];
            self.parents[number as usize] = self.parents[parent as usize];
            number = parent;
        }
        number
    }

    /// Joins the sets of two.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

/// A group, and how much there is to do in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// Numbers of the world, ascending.
    pub members: Vec<u32>,
    pub work: f64,
}

/// (stages of one world, seconds ahead) ⇒ groups, most work first.
pub(super) fn groups(stages: &[Stage], ahead: f64) -> Vec<Group> {
    let count = stages.first().map_or(0, |stage| stage.locals.len());
    let mut sets = Sets::new(count);
    let (mut boxes, mut work) = (Vec::new(), vec![None; count]);
    for stage in stages {
        for (pair, _) in stage.pairs.iter().zip(&stage.alive).filter(|(_, alive)| **alive) {
            let [a, b] = pair.actors.map(|actor| stage.cast[actor as usize]);
            if pair.actors.iter().all(|actor| !stage.actors[*actor as usize].is_firm()) {
                sets.join(a, b);
            }
        }
        for (index, actor) in stage.actors.iter().enumerate().filter(|(_, actor)| !actor.is_firm()) {
            let number = stage.cast[index];
            work[number as usize] = Some(f64::from(actor.touches) + if actor.moves() { 1.0 } else { 0.01 });
            let room =
                (actor.reading(stage.end + ahead) - actor.reading(stage.end)).min(FARTHEST * actor.size);
            for part in actor.parts.clone() {
                let bounds = stage.neighbors.bounds(part as u32);
                boxes.extend(bounds.map(|bounds| (number, bounds.enlarged(room).unwrap_or(bounds))));
            }
        }
    }
    join_overlapping(&mut sets, &boxes);
    gather(&mut sets, &work)
}

fn join_overlapping(sets: &mut Sets, boxes: &[(u32, Aabb)]) {
    let mut space = SpaceKind::DynamicBvh.create();
    for (number, bounds) in boxes {
        // Whoever has no place in a space stays alone, and is found out later.
        let _ = space.insert(bounds, Mobility::Moving, u64::from(*number));
    }
    space.build();
    space.step(1, &mut PairChanges::default());
    space.for_each_pair(&mut |pair| {
        if let (Ok(a), Ok(b)) = (space.user(pair.a), space.user(pair.b)) {
            sets.join(a as u32, b as u32);
        }
    });
}

fn gather(sets: &mut Sets, work: &[Option<f64>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of = vec![None; work.len()];
    for (number, own) in work.iter().enumerate() {
        let Some(own) = own else { continue };
        let root = sets.root(number as u32) as usize;
        let group = *group_of[root].get_or_insert_with(|| {
            groups.push(Group { members: Vec::new(), work: 0.0 });
            groups.len() - 1
        });
        groups[group].members.push(number as u32);
        groups[group].work += own;
    }
    groups.sort_by(|a, b| b.work.total_cmp(&a.work).then(a.members.cmp(&b.members)));
    groups
}

/// (groups, most work first; how many stages at most) ⇒ stage of each group: always the one with least to do so far.
pub(super) fn deal(groups: &[Group], most: usize) -> Vec<usize> {
    let mut loads = vec![0.0; groups.len().min(most).max(1)];
    let mut stage_of = Vec::with_capacity(groups.len());
    for group in groups {
        let least = (0..loads.len()).min_by(|a, b| f64::total_cmp(&loads[*a], &loads[*b])).unwrap_or(0);
        loads[least] += group.work;
        stage_of.push(least);
    }
    stage_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_what_was_joined() {
        let mut sets = Sets::new(6);
        for (a, b) in [(4, 2), (5, 4), (0, 1)] {
            sets.join(a, b);
        }
        assert_eq!([0, 1, 2, 3, 4, 5].map(|k| sets.root(k)), [0, 0, 2, 3, 2, 2]);
        let work = [Some(1.0), Some(1.0), Some(5.0), None, Some(1.0), Some(1.0)];
        let groups = gather(&mut sets, &work);
        assert_eq!(groups[0], Group { members: vec![2, 4, 5], work: 7.0 });
        assert_eq!(groups[1], Group { members: vec![0, 1], work: 2.0 });
        assert_eq!(deal(&groups, 8), [0, 1]);
        assert_eq!(deal(&groups, 1), [0, 0]);
    }
}
