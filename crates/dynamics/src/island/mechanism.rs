//! Mechanisms: connected components of the joint graph.

use crate::collision::MirrorBody;
use crate::collision::MirrorJoint;
use crate::island::components;
use crate::world::Status;
use std::collections::BTreeMap;

/// Dynamic bodies connected by joints, directly or through other dynamic bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct JointIsland {
    /// Dynamic bodies, by index in the mirror.
    pub bodies: Vec<usize>,
    /// Kinematic bodies at the other end of its joints, by index in the mirror.
    pub kinematic: Vec<usize>,
    /// Joints, by index in the mirror.
    pub joints: Vec<usize>,
}

/// (bodies, joints) ⇒ mechanisms in the order of their first bodies, and the mechanism of each body.
pub(crate) fn mechanisms(
    bodies: &[MirrorBody],
    joints: &[MirrorJoint],
) -> (Vec<JointIsland>, Vec<Option<u32>>) {
    let edges = joints.iter().filter_map(|joint| Some([joint.bodies[0]?, joint.bodies[1]?]));
    let root = components(bodies, edges);
    let mut found: BTreeMap<usize, JointIsland> = BTreeMap::new();
    for (index, joint) in joints.iter().enumerate() {
        let ends = joint.bodies.iter().flatten().map(|body| *body as usize);
        let Some(first) = ends.clone().find(|body| bodies[*body].is_dynamic()) else { continue };
        let mechanism = found.entry(root[first]).or_default();
        mechanism.joints.push(index);
        let kinematic = ends.filter(|body| bodies[*body].status == Status::Kinematic);
        mechanism.kinematic.extend(kinematic);
    }
    for (body, root) in root.iter().enumerate() {
        if let Some(mechanism) = found.get_mut(root).filter(|_| bodies[body].is_dynamic()) {
            mechanism.bodies.push(body);
        }
    }
    let mut mechanism_of = vec![None; bodies.len()];
    let list: Vec<JointIsland> = found.into_values().collect();
    for (index, mechanism) in list.iter().enumerate() {
        for body in &mechanism.bodies {
            mechanism_of[*body] = Some(index as u32);
        }
    }
    (list, mechanism_of)
}
