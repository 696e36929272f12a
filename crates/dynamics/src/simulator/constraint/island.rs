//! Bodies that may touch each other or are jointed, directly or over others: what happens to them does not concern the rest.

use super::roster::{Actor, Roster};
use std::collections::BTreeMap;

/// The root of a node; ways are shortened as they are walked.
fn find(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}

/// Edges between actors ⇒ root of each; bodies that contacts do not move connect nobody.
pub(super) fn joined(actors: &[Actor], edges: impl Iterator<Item = [u32; 2]>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..actors.len()).collect();
    for [a, b] in edges {
        let (a, b) = (a as usize, b as usize);
        if actors[a].is_dynamic() && actors[b].is_dynamic() {
            let (a, b) = (find(&mut parent, a), find(&mut parent, b));
            // The smaller number leads, so that the order of the edges does not show.
            parent[a.max(b)] = a.min(b);
        }
    }
    (0..parent.len()).map(|node| find(&mut parent, node)).collect()
}

/// The same with the joints of the roster besides the edges.
pub(super) fn roots(roster: &Roster, edges: impl Iterator<Item = [u32; 2]>) -> Vec<usize> {
    let joints = roster.bonds.iter().filter_map(|bond| Some([bond.actors[0]?, bond.actors[1]?]));
    joined(&roster.actors, edges.chain(joints))
}

/// Some bodies and the pairs among them.
#[derive(Clone, Debug, Default)]
pub(in crate::simulator) struct Island {
    /// Dynamic bodies.
    pub actors: Vec<usize>,
    /// Everybody else that they may touch.
    pub others: Vec<usize>,
    pub pairs: Vec<[u32; 2]>,
    /// Those of the roster's assemblies that are part of it.
    pub assemblies: Vec<usize>,
}

/// All islands, in the order of their first bodies.
pub(in crate::simulator) fn islands(roster: &Roster) -> Vec<Island> {
    let root = roots(roster, roster.pairs.values().filter(|pair| pair.pushes()).map(|pair| pair.actors));
    let mut found: BTreeMap<usize, Island> = BTreeMap::new();
    for (actor, root) in root.iter().enumerate() {
        if roster.actors[actor].is_dynamic() {
            found.entry(*root).or_default().actors.push(actor);
        }
    }
    for (index, assembly) in roster.assemblies.iter().enumerate() {
        if let Some(island) = assembly.actors.first().and_then(|actor| found.get_mut(&root[*actor])) {
            island.assemblies.push(index);
        }
    }
    for (key, pair) in roster.pairs.iter().filter(|(_, pair)| pair.pushes()) {
        for (side, actor) in pair.actors.map(|actor| actor as usize).into_iter().enumerate() {
            let Some(island) = found.get_mut(&root[actor]).filter(|_| roster.actors[actor].is_dynamic())
            else {
                continue;
            };
            let other = pair.actors[1 - side] as usize;
            if !roster.actors[other].is_dynamic() && !island.others.contains(&other) {
                island.others.push(other);
            }
            if island.pairs.last() != Some(key) {
                island.pairs.push(*key);
            }
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, World};
    use rattleback_geometry::Shape;
    use rattleback_geometry::space::SpaceKind;

    /// FR-2: on random graphs the roots are those of a flood from every body, and whoever contacts do not move connects nobody: two piles on a floor are two.
    #[test]
    fn islands_are_connected_components() {
        let mut world = World::default();
        world.add_body(Body::fixed().with_shape(Shape::sphere(1.0).unwrap())).unwrap();
        for _ in 0..40 {
            world.add_body(Body::dynamic().with_shape(Shape::sphere(1.0).unwrap())).unwrap();
        }
        let mut roster = Roster::new(SpaceKind::default());
        roster.sync(&world).unwrap();
        let count = roster.actors.len();
        let mut bits = 1_u64;
        let mut next = |below: usize| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 33) as usize % below
        };
        for edges in 0..60 {
            let edges: Vec<[u32; 2]> = (0..edges).map(|_| [next(count) as u32, next(count) as u32]).collect();
            let found = joined(&roster.actors, edges.iter().copied());
            let moves = |actor: u32| roster.actors[actor as usize].is_dynamic();
            let mut label: Vec<usize> = (0..count).collect();
            // The slowest way: the smaller label wins along every edge until nothing changes.
            while let Some([a, b]) =
                edges.iter().find(|[a, b]| moves(*a) && moves(*b) && label[*a as usize] != label[*b as usize])
            {
                let least = label[*a as usize].min(label[*b as usize]);
                (label[*a as usize], label[*b as usize]) = (least, least);
            }
            assert_eq!(found, label);
        }
    }
}
