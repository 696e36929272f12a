//! Multibodies: from their links, or from the file of a robot.

use super::mesh::MeshFiles;
use super::names::{Groups, Materials};
use super::shape::Part;
use super::{Context, refused};
use crate::error::{Problem, SceneWarning};
use crate::model::{LinkModel, MassSource, MultibodyModel, Named, coordinates, velocities};
use crate::robot::{Base, RobotModel, RobotOptions};
use crate::source::{Fault, Read};
use glam::{DMat3, DVec3};
use rattleback_dynamics::multibody::joint::from_name;
use rattleback_dynamics::multibody::{
    Element, Friction, Limit, Link, LinkTree, Mechanism, Servo, TreeBuilder,
};
use rattleback_dynamics::world::MultibodyId;
use rattleback_dynamics::{Body, CollisionGroups, Multibody, ShapePart, World};
use rattleback_geometry::Pose;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Adds every multibody to the world ⇒ what the files of robots contain and the multibodies do not.
pub(super) fn add_all(
    context: &Context<'_>,
    world: &mut World,
    models: &[MultibodyModel<'_>],
    materials: &Materials<'_>,
    groups: &Groups<'_>,
) -> Read<Vec<SceneWarning>> {
    let mut warnings = Vec::new();
    for model in models {
        let groups_of = groups.of(&model.groups, CollisionGroups::default())?;
        let finish = |mut multibody: Multibody| {
            if let Some(name) = &model.material {
                multibody = multibody.material(materials.get(name)?);
            }
            if let Some(groups) = groups_of {
                multibody = multibody.groups(groups);
            }
            Ok(match model.name {
                Some(name) => multibody.named(name.text),
                None => multibody,
            })
        };
        let id = if let Some(file) = &model.file {
            let robot = load(context, model, file)?;
            let multibody = finish(robot.to_multibody(world).map_err(|error| refused(file.span, error))?)?;
            warnings.extend(robot.warnings().iter().cloned());
            world.add_multibody(multibody).map_err(|error| refused(file.span, error))?
        } else {
            let multibody = finish(from_links(context, model, materials, groups)?)?;
            world.add_multibody(multibody).map_err(|error| refused(model.span, error))?
        };
        set_state(context, world, model, id)?;
    }
    Ok(warnings)
}

fn load(context: &Context<'_>, model: &MultibodyModel<'_>, file: &Named<'_>) -> Read<RobotModel> {
    let refuse = |reason: String| refused(file.span, format!("`{}`: {reason}", file.text));
    let path = context.access.locate(context.folder, Path::new(file.text)).map_err(refuse)?;
    let base = if model.floating { Base::Floating } else { Base::Fixed };
    let options = RobotOptions { base, access: context.access, ..RobotOptions::default() };
    let robot = RobotModel::load(&path, &options).map_err(|error| refused(file.span, error))?;
    Ok(robot.placed(&model.pose))
}

/// Links by name ⇒ multibody at rest in its reference position.
fn from_links(
    context: &Context<'_>,
    model: &MultibodyModel<'_>,
    materials: &Materials<'_>,
    groups: &Groups<'_>,
) -> Read<Multibody> {
    let mut meshes = MeshFiles::default();
    let mut builder = TreeBuilder::new();
    let mut parts: Vec<(&str, ShapePart)> = Vec::new();
    let mut names = BTreeSet::new();
    for link in &model.links {
        if !names.insert(link.name.text) {
            return Err(link.name.duplicate("link"));
        }
        let make = |shape| {
            let part =
                Part::make(context, &mut meshes, shape, materials, groups, CollisionGroups::default())?;
            Ok(part.attached)
        };
        let shapes = link.shapes.iter().map(make).collect::<Read<Vec<ShapePart>>>()?;
        let mut built = empty_link(model, link)?;
        if let Some((mass, center, inertia)) = mass_of(link, &shapes)? {
            built = built.with_mass(mass, center, inertia);
        }
        built.armature = link.armature;
        builder.link(built);
        parts.extend(shapes.into_iter().map(|part| (link.name.text, part)));
    }
    for link in &model.links {
        if let Some(parent) = &link.parent {
            if !names.contains(parent.text) {
                let known = names.iter().map(|name| (*name).to_owned()).collect();
                let (kind, name) = ("link".into(), parent.text.into());
                return Err(Fault::new(parent.span, Problem::UnknownName { kind, name, known }));
            }
            builder.connect(parent.text, link.name.text).map_err(|error| refused(parent.span, error))?;
        }
    }
    let tree = builder.build().map_err(|error| refused(model.span, error))?;
    let mut mechanism = Mechanism::new(tree);
    for link in &model.links {
        add_joint_parts(&mut mechanism, link).map_err(|error| refused(link.span, error))?;
    }
    let mut multibody = Multibody::new(mechanism);
    for link in &model.links {
        if let Some(name) = &link.joint_name {
            let named = multibody.with_joint_name(link.name.text, name.text);
            multibody = named.map_err(|error| refused(name.span, error))?;
        }
    }
    for (link, part) in parts {
        multibody = multibody.with_part(link, part).map_err(|error| refused(model.span, error))?;
    }
    Ok(multibody)
}

/// A link with its joint, without mass.
fn empty_link(model: &MultibodyModel<'_>, link: &LinkModel<'_>) -> Read<Link> {
    let (axis, second) = (link.axis.to_array(), link.second_axis.to_array());
    let parameters = match link.joint {
        "revolute" | "prismatic" | "cylindrical" => axis.to_vec(),
        "screw" => [&axis[..], &[link.lead]].concat(),
        "universal" => [axis, second].concat(),
        _ => Vec::new(),
    };
    let joint = from_name(link.joint, &parameters)
        .ok_or_else(|| refused(link.span, format!("there is no joint `{}`", link.joint)))?;
    // A multibody stands where its first links stand.
    let pose = if link.parent.is_none() { model.pose * link.pose } else { link.pose };
    let empty = Link::fixed(link.name.text, None).at(pose.translation, pose.rotation.normalize());
    Ok(Link { joint, ..empty })
}

/// Mass, centre of mass and inertia about it, as a body with these shapes has them; none without shapes and mass.
fn mass_of(link: &LinkModel<'_>, shapes: &[ShapePart]) -> Read<Option<(f64, DVec3, DMat3)>> {
    let solid = shapes.iter().filter(|part| !part.sensor);
    let body = match link.mass {
        None if shapes.is_empty() => return Ok(None),
        None => Body::dynamic(),
        Some((MassSource::Density(density), _)) => Body::dynamic().density(density),
        Some((MassSource::Mass(mass), _)) => Body::dynamic().mass(mass),
        Some((MassSource::Given(given), _)) => {
            return Ok(Some((given.mass, given.center_of_mass, given.inertia)));
        }
    };
    let span = link.mass.map_or(link.name.span, |(_, span)| span);
    // Materials and groups belong to another world and do not count here.
    let part = |part: &ShapePart| ShapePart { material: None, groups: None, ..part.clone() };
    let body = solid.map(part).fold(body, Body::with_part);
    let mut scale = World::weightless();
    let weighed = scale.add_body(body).and_then(|id| {
        let body = scale.body(id)?;
        Ok((body.mass(), body.center_of_mass(), body.world_inertia()))
    });
    let (mass, center, inertia) = weighed.map_err(|error| refused(span, error))?;
    Ok(Some((mass, center, 0.5 * (inertia + inertia.transpose()))))
}

/// What acts in the joint of a link.
fn add_joint_parts(
    mechanism: &mut Mechanism,
    link: &LinkModel<'_>,
) -> Result<(), rattleback_dynamics::multibody::MechanismError> {
    let Some(index) = mechanism.tree().find(link.name.text) else { return Ok(()) };
    for axis in mechanism.tree().velocities_of(index) {
        if link.damping != 0.0 {
            mechanism.add_element(Element::Damper { axis, coefficient: link.damping })?;
        }
        if link.friction != 0.0 {
            mechanism.add_friction(Friction { axis, force: link.friction })?;
        }
        if let Some((stiffness, rest)) = link.spring {
            mechanism.add_element(Element::Spring { axis, stiffness, rest })?;
        }
        if let Some(range) = link.limits {
            mechanism.add_limit(Limit { axis, range, restitution: link.restitution })?;
        }
        if let Some(motor) = link.motor {
            mechanism.add_servo(Servo {
                axis,
                stiffness: motor.stiffness,
                damping: motor.damping,
                max_force: motor.max_force,
                position: motor.position,
                velocity: motor.velocity,
            })?;
        }
    }
    Ok(())
}

/// Initial positions and velocities by the names of joints.
fn set_state(
    context: &Context<'_>,
    world: &mut World,
    model: &MultibodyModel<'_>,
    id: MultibodyId,
) -> Read<()> {
    if model.positions.is_empty() && model.velocities.is_empty() {
        return Ok(());
    }
    let multibody = world.multibody(id).map_err(|error| refused(model.span, error))?;
    let (tree, joints) = (multibody.tree(), multibody.joint_names());
    let places: BTreeMap<&str, usize> =
        joints.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
    let find = |name: &Named<'_>| {
        places.get(name.text).copied().ok_or_else(|| {
            let known = joints.to_vec();
            Fault::new(
                name.span,
                Problem::UnknownName { kind: "joint".into(), name: name.text.into(), known },
            )
        })
    };
    let kind = |tree: &LinkTree, joint: usize| tree.links()[joint].joint.name();
    let (mut q, mut v) = (multibody.all_positions().to_vec(), multibody.all_velocities().to_vec());
    for (name, node) in &model.positions {
        let joint = find(name)?;
        q[tree.positions_of(joint)].copy_from_slice(&coordinates(kind(tree, joint), node, &context.units)?);
    }
    for (name, node) in &model.velocities {
        let joint = find(name)?;
        v[tree.velocities_of(joint)].copy_from_slice(&velocities(kind(tree, joint), node, &context.units)?);
    }
    let mut multibody = world.multibody_mut(id).map_err(|error| refused(model.span, error))?;
    multibody.set_state(&q, &v).map_err(|error| refused(model.span, error))
}

/// Where a multibody stands ⇒ the frame of a link on the world.
pub(crate) fn base_frame(base: &Pose, link: &Link) -> (DVec3, glam::DQuat) {
    let frame = *base * Pose::new(link.joint_rotation, link.joint_position);
    (frame.translation, frame.rotation.normalize())
}
