//! Islands: connected components of the graph of near pairs and joints. Static and kinematic bodies connect
//! nothing, because impulses do not move them; islands are therefore independent within a sub-step.

use crate::collision::{MirrorBody, WorldMirror};
use rattleback_numerics::UnionFind;
use std::collections::BTreeMap;

/// Edges between bodies ⇒ root of each body. Edges to bodies that are not dynamic are ignored.
pub(crate) fn components(bodies: &[MirrorBody], edges: impl Iterator<Item = [u32; 2]>) -> Vec<usize> {
    let mut sets = UnionFind::new(bodies.len());
    for [a, b] in edges {
        if bodies[a as usize].is_dynamic() && bodies[b as usize].is_dynamic() {
            sets.union(a, b);
        }
    }
    sets.roots().map(|root| root as usize).collect()
}

/// Edges ⇒ root of each body, with the joints of the mirror as further edges.
pub(crate) fn roots(mirror: &WorldMirror, edges: impl Iterator<Item = [u32; 2]>) -> Vec<usize> {
    let joints = mirror.joints.iter().filter_map(|joint| Some([joint.bodies[0]?, joint.bodies[1]?]));
    components(&mirror.bodies, edges.chain(joints))
}

/// Dynamic bodies that may interact within a sub-step.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactIsland {
    /// Dynamic bodies, by index in the mirror.
    pub bodies: Vec<usize>,
    /// Static and kinematic bodies near them.
    pub others: Vec<usize>,
    /// Near pairs with at least one of its bodies.
    pub pairs: Vec<[u32; 2]>,
    /// Its mechanisms, by index in the mirror.
    pub mechanisms: Vec<usize>,
}

/// Islands in the order of their first bodies.
pub(crate) fn islands(mirror: &WorldMirror) -> Vec<ContactIsland> {
    let root = roots(mirror, mirror.pairs.values().filter(|pair| pair.can_push()).map(|pair| pair.bodies));
    let mut found: BTreeMap<usize, ContactIsland> = BTreeMap::new();
    for (body, root) in root.iter().enumerate() {
        if mirror.bodies[body].is_dynamic() {
            found.entry(*root).or_default().bodies.push(body);
        }
    }
    for (index, mechanism) in mirror.mechanisms.iter().enumerate() {
        if let Some(island) = mechanism.bodies.first().and_then(|body| found.get_mut(&root[*body])) {
            island.mechanisms.push(index);
        }
    }
    for (key, pair) in mirror.pairs.iter().filter(|(_, pair)| pair.can_push()) {
        for (side, body) in pair.bodies.map(|body| body as usize).into_iter().enumerate() {
            let Some(island) = found.get_mut(&root[body]).filter(|_| mirror.bodies[body].is_dynamic()) else {
                continue;
            };
            let other = pair.bodies[1 - side] as usize;
            if !mirror.bodies[other].is_dynamic() && !island.others.contains(&other) {
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

    /// FR-2: on random graphs the roots are those of a flood fill, and bodies that are not dynamic connect
    /// nothing: two piles on a floor are two islands.
    #[test]
    fn islands_are_connected_components() {
        let mut world = World::default();
        world.add_body(Body::fixed().with_shape(Shape::sphere(1.0).unwrap())).unwrap();
        for _ in 0..40 {
            world.add_body(Body::dynamic().with_shape(Shape::sphere(1.0).unwrap())).unwrap();
        }
        let mut mirror = WorldMirror::new(SpaceKind::default());
        mirror.sync(&world).unwrap();
        let count = mirror.bodies.len();
        let mut bits = 1_u64;
        let mut next = |below: usize| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 33) as usize % below
        };
        for edges in 0..60 {
            let edges: Vec<[u32; 2]> = (0..edges).map(|_| [next(count) as u32, next(count) as u32]).collect();
            let found = components(&mirror.bodies, edges.iter().copied());
            let moves = |body: u32| mirror.bodies[body as usize].is_dynamic();
            let mut label: Vec<usize> = (0..count).collect();
            // Independent method: the smaller label spreads along every edge until nothing changes.
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
