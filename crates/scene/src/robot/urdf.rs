//! URDF ⇒ links and joints.
//!
//! The frame of a link is that of the joint that moves it: p = p_parent + R_parent xyz, R = R_parent R_z(yaw) R_y(pitch) R_x(roll). The tensor
//! of an inertial frame with rotation R is R I Rᵀ in the link. A root link is fixed to the world or floats.

use super::build::{ColliderDraft, CouplingDraft, Draft, JointDraft};
use super::mesh::{self, MeshFiles};
use super::model::{Base, RobotJoint, RobotOptions};
use super::xml::{Element, Notes, Xml};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::Link;
use rattleback_dynamics::multibody::joint::{
    FixedJoint, FreeJoint, JointKind, PlanarJoint, PrismaticJoint, RevoluteJoint, SphericalJoint,
};
use rattleback_geometry::{Pose, Shape};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Elements without a meaning for the motion.
const SILENT: [&str; 2] = ["material", "self_collision_checking"];

/// Elements of a URDF file ⇒ draft.
pub(super) fn read(
    xml: &Xml,
    options: RobotOptions,
    mut meshes: MeshFiles<'_>,
    notes: &mut Notes,
) -> Read<Draft> {
    let root = &xml.elements[0];
    let mut draft = Draft {
        name: root.get("name").map(|name| name.value.clone()).unwrap_or_default(),
        gravity: DVec3::new(0.0, 0.0, -9.81),
        ..Draft::default()
    };
    // Link ⇒ its place among the links of the draft.
    let mut places: HashMap<&str, usize> = HashMap::new();
    for element in xml.children(root, "link") {
        let name = element.required("name", "name of the link")?;
        if places.insert(&name.value, draft.links.len()).is_some() {
            return Err(Fault::new(name.span, Problem::Duplicate { kind: "link", name: name.value.clone() }));
        }
        let link = inertial(xml, element, Link::fixed(name.value.clone(), None))?;
        draft.links.push((link, None, name.span));
        draft.named.push(true);
        for collision in xml.children(element, "collision") {
            if let Some((shape, pose)) = collision_shape(xml, collision, &mut meshes, notes)? {
                let link = Some(name.value.clone());
                draft.colliders.push(ColliderDraft { link, shape, pose, friction: None });
            }
        }
    }
    if draft.links.is_empty() {
        return Err(root.conflict("a robot needs at least one <link>"));
    }
    let mut joint_names: HashSet<&str> = HashSet::new();
    for element in xml.children(root, "joint") {
        let name = element.required("name", "name of the joint")?;
        if !joint_names.insert(&name.value) {
            return Err(Fault::new(
                name.span,
                Problem::Duplicate { kind: "joint", name: name.value.clone() },
            ));
        }
        joint(xml, element, &places, &mut draft, notes)?;
    }
    for element in root.children.iter().map(|child| &xml.elements[*child]) {
        let tag = element.tag.as_str();
        if !["link", "joint"].contains(&tag) && !SILENT.contains(&tag) {
            notes.once(element.span, &format!("elements <{tag}> are not supported and left out"));
        }
    }
    follow_fixed_leaders(xml, root, &mut draft);
    connect_root(&mut draft, &places, options.base)?;
    Ok(draft)
}

/// A leader that is fixed has position 0: its followers are held at their offsets.
fn follow_fixed_leaders(xml: &Xml, root: &Element, draft: &mut Draft) {
    let is_fixed = |joint: &&Element| joint.get("type").is_some_and(|given| given.value == "fixed");
    let fixed: HashSet<&str> = xml
        .children(root, "joint")
        .filter(is_fixed)
        .filter_map(|joint| Some(joint.get("name")?.value.as_str()))
        .collect();
    for coupling in &mut draft.couplings {
        coupling.leader.take_if(|leader| fixed.contains(leader.as_str()));
    }
}

/// The link without a parent is fixed to the world or floats.
fn connect_root(draft: &mut Draft, places: &HashMap<&str, usize>, base: Base) -> Read<()> {
    let own = |place: usize| places.get(draft.links[place].0.name.as_str()) == Some(&place);
    let roots: Vec<usize> =
        (0..draft.links.len()).filter(|place| own(*place) && draft.links[*place].1.is_none()).collect();
    if let [first, second, ..] = roots[..] {
        let name = |place: usize| &draft.links[place].0.name;
        let message = format!(
            "links `{}` and `{}` both have no parent; a robot has one root",
            name(first),
            name(second)
        );
        return Err(Fault::new(draft.links[second].2, Problem::Conflict(message)));
    }
    // Without a root there is a cycle, which the tree reports.
    if let ([root], Base::Floating) = (&roots[..], base) {
        let link = &mut draft.links[*root].0;
        link.joint = Arc::new(FreeJoint);
        let joint = empty_joint("root_joint");
        draft.joints.push(JointDraft { joint, link: link.name.clone(), initial: None });
    }
    Ok(())
}

/// A joint without limits, springs, damping and friction.
pub(super) fn empty_joint(name: &str) -> RobotJoint {
    RobotJoint {
        name: name.into(),
        link: 0,
        limit: None,
        max_force: f64::INFINITY,
        max_speed: f64::INFINITY,
        damping: 0.0,
        friction: 0.0,
        stiffness: 0.0,
        spring_rest: 0.0,
    }
}

/// Element with an `origin` ⇒ pose.
fn origin(xml: &Xml, of: &Element) -> Read<Pose> {
    let Some(element) = xml.child(of, "origin") else { return Ok(Pose::IDENTITY) };
    let xyz = element.vector("xyz")?.unwrap_or_default();
    if let Some(quaternion) = element.get("quat_xyzw") {
        let [x, y, z, w] = quaternion.array()?;
        let q = DQuat::from_xyzw(x, y, z, w);
        if q.length() <= 1e-14 {
            return Err(quaternion.refuse("a quaternion that is not zero"));
        }
        return Ok(Pose::new(q.normalize(), xyz));
    }
    let rpy = element.vector("rpy")?.unwrap_or_default();
    let rotation =
        DQuat::from_rotation_z(rpy.z) * DQuat::from_rotation_y(rpy.y) * DQuat::from_rotation_x(rpy.x);
    Ok(Pose::new(rotation.normalize(), xyz))
}

/// Mass, centre of mass and inertia of a link; none without `inertial`.
fn inertial(xml: &Xml, element: &Element, link: Link) -> Read<Link> {
    let Some(inertial) = xml.child(element, "inertial") else { return Ok(link) };
    let pose = origin(xml, inertial)?;
    let mass_element =
        xml.child(inertial, "mass").ok_or_else(|| inertial.missing("mass", "an element, kg"))?;
    let given = mass_element.required("value", "mass, kg")?;
    let mass = given.number()?;
    if mass < 0.0 {
        return Err(given.refuse("at least 0"));
    }
    let tensor_element =
        xml.child(inertial, "inertia").ok_or_else(|| inertial.missing("inertia", "an element, kg·m²"))?;
    let entry = |name: &str, needed: bool| match tensor_element.get(name) {
        Some(given) => given.number(),
        None if needed => Err(tensor_element.missing(name, "kg·m²")),
        None => Ok(0.0),
    };
    let [xx, yy, zz] = [entry("ixx", true)?, entry("iyy", true)?, entry("izz", true)?];
    let [xy, xz, yz] = [entry("ixy", false)?, entry("ixz", false)?, entry("iyz", false)?];
    let tensor = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
    let r = DMat3::from_quat(pose.rotation);
    let turned = r * tensor * r.transpose();
    Ok(link.with_mass(mass, pose.translation, 0.5 * (turned + turned.transpose())))
}

fn joint<'a>(
    xml: &'a Xml,
    element: &'a Element,
    places: &HashMap<&'a str, usize>,
    draft: &mut Draft,
    notes: &mut Notes,
) -> Read<()> {
    let name = &element.required("name", "name of the joint")?.value;
    let end = |tag: &'static str| {
        let end = xml.child(element, tag).ok_or_else(|| element.missing(tag, "an element with a `link`"))?;
        let link = end.required("link", "name of a link")?;
        if let Some(place) = places.get(link.value.as_str()) {
            return Ok((*place, link));
        }
        let known = places.keys().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        Err(super::build::unknown("link", &link.value, link.span, known.iter()))
    };
    let ((parent, _), (child, child_name)) = (end("parent")?, end("child")?);
    if let Some(before) = &draft.links[child].1 {
        let parent = &draft.links[parent].0.name;
        let link = &child_name.value;
        let message = format!("link `{link}` has two parents, `{before}` and `{parent}`; a robot is a tree");
        return Err(Fault::new(child_name.span, Problem::Conflict(message)));
    }
    let pose = origin(xml, element)?;
    let axis = match xml.child(element, "axis").and_then(|axis| axis.get("xyz")) {
        Some(given) => given,
        None => &super::xml::Attribute { name: "xyz".into(), value: "1 0 0".into(), span: element.span },
    };
    let type_name = element.required("type", "kind of the joint")?;
    // A plane whose normal is not z: the joint's frame is turned, and a link that is fixed to it is turned back.
    let mut turned = DQuat::IDENTITY;
    let kind: Arc<dyn JointKind> = match type_name.value.as_str() {
        "revolute" | "continuous" => Arc::new(RevoluteJoint { axis: axis.direction()? }),
        "prismatic" => Arc::new(PrismaticJoint { axis: axis.direction()? }),
        "fixed" => Arc::new(FixedJoint),
        "floating" => Arc::new(FreeJoint),
        "spherical" | "ball" => Arc::new(SphericalJoint),
        "planar" => {
            turned = DQuat::from_rotation_arc(DVec3::Z, axis.direction()?).normalize();
            Arc::new(PlanarJoint)
        }
        _ => {
            return Err(
                type_name.refuse("revolute, continuous, prismatic, fixed, floating, planar or spherical")
            );
        }
    };
    let parent_name = draft.links[parent].0.name.clone();
    let mut moved = child_name.value.clone();
    if turned == DQuat::IDENTITY {
        let link = &mut draft.links[child].0;
        (link.joint, link.joint_position, link.joint_rotation) = (kind, pose.translation, pose.rotation);
        draft.links[child].1 = Some(parent_name);
    } else {
        moved = format!("{moved}/{name}");
        let mut between = Link::fixed(moved.clone(), None).at(pose.translation, pose.rotation * turned);
        between.joint = kind;
        draft.links.push((between, Some(parent_name), element.span));
        draft.named.push(false);
        draft.links[child].0.joint_rotation = turned.conjugate();
        draft.links[child].1 = Some(moved.clone());
    }
    draft.links[child].2 = child_name.span;
    if type_name.value != "fixed" {
        let joint = dynamics(xml, element, &type_name.value, empty_joint(name))?;
        // Its positions are the pose in the world or parent: the joint's frame is at the origin of the file.
        draft.joints.push(JointDraft { joint, link: moved, initial: None });
    }
    let mimic = xml.child(element, "mimic");
    if let (Some(mimic), "fixed") = (mimic, type_name.value.as_str()) {
        notes.add(mimic.span, format!("joint `{name}` is fixed, so it follows none; <mimic> is left out"));
    } else if let Some(mimic) = mimic {
        let leader = mimic.required("joint", "the joint that it follows")?;
        draft.couplings.push(CouplingDraft {
            name: format!("mimic {name}"),
            follower: name.clone(),
            leader: Some(leader.value.clone()),
            ratio: mimic.number("multiplier")?.unwrap_or(1.0),
            offset: mimic.number("offset")?.unwrap_or(0.0),
            span: leader.span,
        });
    }
    for tag in ["calibration", "safety_controller"] {
        if let Some(other) = xml.child(element, tag) {
            notes.once(other.span, &format!("elements <{tag}> of joints are not supported and left out"));
        }
    }
    Ok(())
}

/// Limits, damping and friction of a joint.
fn dynamics(xml: &Xml, element: &Element, type_name: &str, mut joint: RobotJoint) -> Read<RobotJoint> {
    if let Some(limit) = xml.child(element, "limit") {
        let bound = |name: &str| limit.get(name).map(super::xml::Attribute::limit).transpose();
        if matches!(type_name, "revolute" | "prismatic") {
            let range = [bound("lower")?.unwrap_or(0.0), bound("upper")?.unwrap_or(0.0)];
            if range[0] > range[1] {
                return Err(limit.conflict(format!("`lower` {} is above `upper` {}", range[0], range[1])));
            }
            joint.limit = Some(range);
        }
        joint.max_force = bound("effort")?.unwrap_or(f64::INFINITY);
        joint.max_speed = bound("velocity")?.unwrap_or(f64::INFINITY);
    } else if matches!(type_name, "revolute" | "prismatic") {
        return Err(element.missing("limit", "an element; a `continuous` joint has none"));
    }
    if let Some(dynamics) = xml.child(element, "dynamics") {
        for (name, place) in [("damping", &mut joint.damping), ("friction", &mut joint.friction)] {
            if let Some(given) = dynamics.get(name) {
                *place = given.number()?;
                if *place < 0.0 {
                    return Err(given.refuse("at least 0"));
                }
            }
        }
    }
    Ok(joint)
}

/// A `collision` ⇒ shape and its pose in the link.
fn collision_shape(
    xml: &Xml,
    collision: &Element,
    meshes: &mut MeshFiles<'_>,
    notes: &mut Notes,
) -> Read<Option<(Shape, Pose)>> {
    let pose = origin(xml, collision)?;
    let geometry =
        xml.child(collision, "geometry").ok_or_else(|| collision.missing("geometry", "an element"))?;
    let Some(element) = geometry.children.first().map(|child| &xml.elements[*child]) else {
        return Err(geometry.conflict("<geometry> needs a shape"));
    };
    let number = |name: &str| element.required(name, "a length, m")?.number();
    let refused = |span: Span| move |error| Fault::new(span, Problem::Refused(format!("{error}")));
    let refused = refused(element.span);
    let shape = match element.tag.as_str() {
        "box" => {
            Shape::cuboid(0.5 * element.required("size", "three lengths, m")?.vector()?).map_err(refused)?
        }
        "sphere" => Shape::sphere(number("radius")?).map_err(refused)?,
        "cylinder" => Shape::cylinder(number("radius")?, number("length")?).map_err(refused)?,
        "capsule" => Shape::capsule(number("radius")?, number("length")?).map_err(refused)?,
        "mesh" => {
            let file = element.required("filename", "path of a mesh")?;
            let scale = element.vector("scale")?.unwrap_or(DVec3::ONE);
            let Some(soup) = meshes.read(file, Path::new(""), notes)? else { return Ok(None) };
            let vertices: Vec<DVec3> = soup.vertices.iter().map(|vertex| *vertex * scale).collect();
            let Some(shape) = mesh::hull(&vertices, file, notes) else { return Ok(None) };
            shape
        }
        tag => {
            notes.add(element.span, format!("shapes <{tag}> are not supported and left out"));
            return Ok(None);
        }
    };
    Ok(Some((shape, pose)))
}
