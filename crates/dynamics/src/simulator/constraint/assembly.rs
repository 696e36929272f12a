//! Bodies that joints hold together, directly or over others.

use super::bond::Bond;
use super::island::joined;
use super::roster::Actor;
use crate::world::Status;
use std::collections::BTreeMap;

/// Some bodies and the joints among them.
#[derive(Clone, Debug, Default)]
pub(in crate::simulator) struct Assembly {
    /// Dynamic bodies.
    pub actors: Vec<usize>,
    /// Animated bodies that some of them hang on.
    pub scripted: Vec<usize>,
    /// Joints, by place in the roster.
    pub bonds: Vec<usize>,
}

/// All assemblies in the order of their first bodies, and which one each body belongs to.
pub(super) fn assemblies(actors: &[Actor], bonds: &[Bond]) -> (Vec<Assembly>, Vec<Option<u32>>) {
    let edges = bonds.iter().filter_map(|bond| Some([bond.actors[0]?, bond.actors[1]?]));
    let root = joined(actors, edges);
    let mut found: BTreeMap<usize, Assembly> = BTreeMap::new();
    for (index, bond) in bonds.iter().enumerate() {
        let dynamic = bond.actors.iter().flatten().map(|actor| *actor as usize);
        let Some(first) = dynamic.clone().find(|actor| actors[*actor].is_dynamic()) else { continue };
        let assembly = found.entry(root[first]).or_default();
        assembly.bonds.push(index);
        let scripted = dynamic.filter(|actor| actors[*actor].status == Status::Animated);
        assembly.scripted.extend(scripted);
    }
    for (actor, root) in root.iter().enumerate() {
        if let Some(assembly) = found.get_mut(root).filter(|_| actors[actor].is_dynamic()) {
            assembly.actors.push(actor);
        }
    }
    let mut belongs = vec![None; actors.len()];
    let list: Vec<Assembly> = found.into_values().collect();
    for (index, assembly) in list.iter().enumerate() {
        for actor in &assembly.actors {
            belongs[*actor] = Some(index as u32);
        }
    }
    (list, belongs)
}
