//! Joints.

use super::names::Bodies;
use super::{Context, make, refused};
use crate::model::{Ends, JointModel};
use crate::source::Read;
use glam::DVec3;
use rattleback_dynamics::joint::{BreakThresholds, JointFrames};
use rattleback_dynamics::{BodyId, JointId, World};
use rattleback_geometry::Pose;
use std::collections::BTreeMap;

/// Adds every joint to the world ⇒ index of the `[[joint]]` of each.
pub(super) fn add_all(
    context: &Context<'_>,
    world: &mut World,
    models: &[JointModel<'_>],
    bodies: &Bodies<'_>,
) -> Read<BTreeMap<JointId, usize>> {
    let mut entries = BTreeMap::new();
    for (entry, model) in models.iter().enumerate() {
        match &model.ends {
            Ends::Bodies(names) => {
                let ids = names.iter().map(|name| bodies.one(name)).collect::<Read<Vec<_>>>()?;
                let joint_frames = match ids.as_slice() {
                    [one] => JointFrames::to_world(*one),
                    [one, other, ..] => JointFrames::between(*one, *other),
                    [] => continue,
                };
                let (first, last) = (ids.first().copied(), ids.last().copied());
                let name = model.name.map(|name| name.text.to_owned());
                let id = add(context, world, model, bodies, joint_frames, [first, last], name)?;
                entries.insert(id, entry);
            }
            Ends::Chain(name) => {
                let links = bodies.all(name)?.to_vec();
                for (k, pair) in links.windows(2).enumerate() {
                    let name = model.name.map(|name| format!("{}[{k}]", name.text));
                    let joint_frames = JointFrames::between(pair[0], pair[1]);
                    let ends = [Some(pair[0]), Some(pair[1])];
                    let id = add(context, world, model, bodies, joint_frames, ends, name)?;
                    entries.insert(id, entry);
                }
            }
        }
    }
    Ok(entries)
}

/// A joint without a position is placed midway between its bodies, or at its only one.
fn add(
    context: &Context<'_>,
    world: &mut World,
    model: &JointModel<'_>,
    bodies: &Bodies<'_>,
    joint_frames: JointFrames,
    ends: [Option<BodyId>; 2],
    name: Option<String>,
) -> Read<JointId> {
    let place = |id: Option<BodyId>| {
        id.and_then(|id| world.body(id).ok()).map_or(DVec3::ZERO, |body| body.position())
    };
    let middle = 0.5 * (place(ends[0]) + place(ends[1]));
    let [force, torque, drift] =
        model.breaking.map(|given| given.map_or(f64::INFINITY, |(threshold, _)| threshold));
    let joint_frames = match model.anchors {
        Some(anchors) => {
            let bodies = if ends[0] == ends[1] { [None, ends[1]] } else { ends };
            let frame = |k: usize| {
                let body =
                    bodies[k].and_then(|id| world.body(id).ok()).map_or(Pose::IDENTITY, |body| body.pose());
                body.inverse() * Pose::new(model.rotation, anchors[k])
            };
            joint_frames.frames(frame(0), frame(1))
        }
        None => joint_frames.at(model.position.unwrap_or(middle)).oriented(model.rotation),
    };
    let mut joint_frames =
        joint_frames.colliding(model.collide).breaking(BreakThresholds { force, torque, drift });
    if let Some(name) = name {
        joint_frames = joint_frames.named(&name);
    }
    let joint = make(context, &context.registry.joints, &model.kind, bodies)?;
    world.add_boxed_joint(joint_frames, joint).map_err(|error| refused(model.span, error))
}
