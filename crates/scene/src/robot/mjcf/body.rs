//! Bodies, frames, joints and sites.

use super::classes::View;
use super::compiler::Compiler;
use super::mass::{self, Mass};
use super::orientation::pose;
use super::{Context, geom};
use crate::robot::build::{ColliderDraft, Draft, JointDraft};
use crate::robot::urdf::empty_joint;
use crate::robot::xml::{Attribute, Element, Notes};
use crate::source::Read;
use glam::DVec3;
use rattleback_dynamics::multibody::Link;
use rattleback_dynamics::multibody::joint::{
    FreeJoint, JointKind, PrismaticJoint, RevoluteJoint, SphericalJoint,
};
use rattleback_geometry::Pose;
use std::sync::Arc;

/// A body that waits to be read.
struct Task<'a> {
    element: &'a Element,
    /// Name of the link of the body around it; none for the world.
    parent: Option<String>,
    /// Pose of the frames around it.
    frame: Pose,
    class: usize,
}

/// A child of a body, with the frames between.
struct Inside<'a> {
    element: &'a Element,
    frame: Pose,
    class: usize,
}

/// Reads the world and all bodies, depth first in the order of the file, without recursion.
pub(super) fn world<'a>(
    context: &mut Context<'a>,
    element: &'a Element,
    draft: &mut Draft,
    notes: &mut Notes,
) -> Read<()> {
    let mut waiting = Vec::new();
    let inside = flatten(context, element, 0)?;
    contents(context, &inside, None, draft, notes)?;
    push_bodies(inside, None, &mut waiting);
    while let Some(task) = waiting.pop() {
        let (name, inside) = body(context, &task, draft, notes)?;
        push_bodies(inside, Some(&name), &mut waiting);
    }
    Ok(())
}

fn push_bodies<'a>(inside: Vec<Inside<'a>>, parent: Option<&str>, waiting: &mut Vec<Task<'a>>) {
    for Inside { element, frame, class } in inside.into_iter().rev() {
        if element.tag == "body" {
            waiting.push(Task { element, parent: parent.map(str::to_owned), frame, class });
        }
    }
}

/// Children of a body, those of frames in their place.
fn flatten<'a>(context: &Context<'a>, element: &'a Element, class: usize) -> Read<Vec<Inside<'a>>> {
    let mut found = Vec::new();
    let class = context.classes.named(element.get("childclass"), class)?;
    let mut waiting = vec![Inside { element, frame: Pose::IDENTITY, class }];
    while let Some(next) = waiting.pop() {
        let is_frame = next.element.tag == "frame";
        let (mut frame, mut class) = (next.frame, next.class);
        if is_frame {
            class = context.classes.named(next.element.get("childclass"), class)?;
            frame = frame * pose(&context.classes.view(next.element, class)?, &context.compiler)?;
        } else if !std::ptr::eq(next.element, element) {
            found.push(next);
            continue;
        }
        for child in next.element.children.iter().rev() {
            waiting.push(Inside { element: &context.xml.elements[*child], frame, class });
        }
    }
    Ok(found)
}

/// Geoms and sites of a body ⇒ masses of the geoms.
fn contents(
    context: &mut Context<'_>,
    inside: &[Inside<'_>],
    link: Option<&str>,
    draft: &mut Draft,
    notes: &mut Notes,
) -> Read<Vec<rattleback_geometry::MassProperties>> {
    let has_inertial = inside.iter().any(|child| child.element.tag == "inertial");
    let massive = link.is_some() && mass::from_geoms(&context.compiler, has_inertial);
    let mut masses = Vec::new();
    for child in inside {
        let Context { compiler, classes, meshes, sites, .. } = &mut *context;
        match child.element.tag.as_str() {
            "geom" => {
                let view = classes.view(child.element, child.class)?;
                let geom = geom::read(&view, child.frame, (compiler, classes), meshes, massive, notes)?;
                let Some(geom) = geom else { continue };
                masses.extend(geom.mass);
                if let Some((shape, pose)) = geom.collider {
                    let link = link.map(str::to_owned);
                    draft.colliders.push(ColliderDraft { link, shape, pose, friction: geom.friction });
                }
            }
            "site" => {
                let view = classes.view(child.element, child.class)?;
                if let Some(name) = child.element.get("name") {
                    let place = child.frame * pose(&view, compiler)?;
                    sites.insert(name.value.clone(), (link.map(str::to_owned), place));
                }
            }
            "joint" | "freejoint" if link.is_none() => {
                return Err(child.element.conflict("the world has no joints; put the joint into a body"));
            }
            "body" | "joint" | "freejoint" | "inertial" | "light" | "camera" => {}
            tag => notes.add(child.element.span, format!("<{tag}> in a body is not supported and left out")),
        }
    }
    Ok(masses)
}

/// A joint of a body.
struct Motion {
    kind: Arc<dyn JointKind>,
    /// Point about which it turns, in the body's frame; none if it does not matter.
    anchor: Option<DVec3>,
    free: bool,
    armature: f64,
    draft: JointDraft,
}

/// Adds the links of a body ⇒ the name of its link, and its children.
fn body<'a>(
    context: &mut Context<'a>,
    task: &Task<'a>,
    draft: &mut Draft,
    notes: &mut Notes,
) -> Read<(String, Vec<Inside<'a>>)> {
    let element = task.element;
    context.bodies += 1;
    let name =
        element.get("name").map_or_else(|| format!("body#{}", context.bodies), |name| name.value.clone());
    for (attribute, meaning) in [("gravcomp", "compensation of gravity"), ("mocap", "motion from outside")] {
        if let Some(given) =
            element.get(attribute).filter(|given| !matches!(given.value.as_str(), "0" | "false"))
        {
            notes.add(given.span, format!("`{attribute}` ({meaning}) is not supported and left out"));
        }
    }
    let inside = flatten(context, element, task.class)?;
    let masses = contents(context, &inside, Some(&name), draft, notes)?;
    let class = context.classes.named(element.get("childclass"), task.class)?;
    let place = task.frame * pose(&context.classes.view(element, class)?, &context.compiler)?;
    let given = inside.iter().find(|child| child.element.tag == "inertial");
    let own = match given {
        Some(child) if !mass::from_geoms(&context.compiler, true) => mass::inertial(
            &context.classes.view(child.element, child.class)?,
            child.frame,
            &context.compiler,
        )?,
        _ => mass::combined(&masses, element)?,
    };
    let own = own.corrected(&context.compiler);
    let mut motions = Vec::new();
    for child in inside.iter().filter(|child| matches!(child.element.tag.as_str(), "joint" | "freejoint")) {
        let view = context.classes.view(child.element, child.class)?;
        let otherwise = format!("{name}/joint{}", motions.len());
        motions.push(motion(&view, child.frame, &context.compiler, &otherwise, notes)?);
    }
    if let Some(free) = motions.iter().find(|motion| motion.free)
        && (task.parent.is_some() || motions.len() > 1)
    {
        let message =
            format!("free joint `{}` must be the only one of a body of the world", free.draft.joint.name);
        return Err(element.conflict(message));
    }
    add_links(draft, task, &name, place, own, motions);
    Ok((name, inside))
}

/// A link for each joint; the last is the body, or has the body fixed to it.
fn add_links(draft: &mut Draft, task: &Task<'_>, name: &str, place: Pose, own: Mass, motions: Vec<Motion>) {
    let span = task.element.get("name").map_or(task.element.span, |name| name.span);
    let (mut parent, mut at, mut anchor) = (task.parent.clone(), place, DVec3::ZERO);
    let count = motions.len();
    let ends_in_body = |anchor: DVec3| anchor == DVec3::ZERO;
    let mut body = None;
    for (k, Motion { kind, anchor: wanted, free, armature, draft: mut joint }) in
        motions.into_iter().enumerate()
    {
        let next = wanted.unwrap_or(anchor);
        let (position, rotation) = (at.point(next - anchor), at.rotation);
        let last = k + 1 == count && ends_in_body(next);
        let link_name = if last { name.to_owned() } else { format!("{name}/{k}") };
        let mut link = Link::fixed(link_name.clone(), None);
        if free {
            let q = place.rotation;
            joint.initial = Some([place.translation.to_array().as_slice(), &q.to_array()].concat());
        } else {
            link = link.at(position, rotation);
        }
        (link.joint, link.armature) = (kind, armature);
        joint.link.clone_from(&link_name);
        draft.joints.push(joint);
        if last {
            body = Some(link);
        } else {
            draft.links.push((link, parent.replace(link_name), span));
            draft.named.push(false);
        }
        (at, anchor) = (Pose::IDENTITY, next);
    }
    let body = body.unwrap_or_else(|| Link::fixed(name, None).at(at.point(-anchor), at.rotation));
    draft.links.push((body.with_mass(own.total, own.center, own.inertia), parent, span));
    draft.named.push(true);
}

fn motion(
    view: &View<'_>,
    frame: Pose,
    compiler: &Compiler,
    otherwise: &str,
    notes: &mut Notes,
) -> Read<Motion> {
    let element = view.element;
    let name = element.get("name").map_or(otherwise, |name| name.value.as_str());
    let mut joint = empty_joint(name);
    if element.tag == "freejoint" {
        let draft = JointDraft { joint, link: String::new(), initial: None };
        return Ok(Motion { kind: Arc::new(FreeJoint), anchor: None, free: true, armature: 0.0, draft });
    }
    // More than one number is a polynomial; the first is its linear part.
    let first = |name: &str, notes: &mut Notes| match view.get(name) {
        Some(given) => {
            let numbers = given.numbers(8)?;
            if numbers[0] < 0.0 {
                return Err(given.refuse("at least 0"));
            }
            if numbers[1..].iter().any(|x| *x != 0.0) {
                notes.add(given.span, format!("higher powers of `{name}` are not supported and left out"));
            }
            Ok(numbers[0])
        }
        None => Ok(0.0),
    };
    joint.damping = first("damping", notes)?;
    joint.stiffness = first("stiffness", notes)?;
    joint.friction = view.non_negative("frictionloss")?;
    let axis = || {
        view.get("axis").map_or(Ok(DVec3::Z), Attribute::direction).map(|axis| frame.vector(axis).normalize())
    };
    let type_name = view.get("type").map_or("hinge", |given| given.value.as_str());
    let angle = if matches!(type_name, "hinge" | "ball") { compiler.angle } else { 1.0 };
    let limit = view.limit("range", "limited", compiler.autolimits)?;
    let point = frame.point(view.vector("pos")?);
    let (kind, anchor): (Arc<dyn JointKind>, _) = match type_name {
        "hinge" => (Arc::new(RevoluteJoint { axis: axis()? }), Some(point)),
        "slide" => (Arc::new(PrismaticJoint { axis: axis()? }), None),
        "ball" => (Arc::new(SphericalJoint), Some(point)),
        "free" => (Arc::new(FreeJoint), None),
        _ => {
            let given = view.get("type").ok_or_else(|| element.missing("type", "kind of the joint"))?;
            return Err(given.refuse("hinge, slide, ball or free"));
        }
    };
    if matches!(type_name, "hinge" | "slide") {
        // Positions count from the pose in the file.
        let reference = view.number("ref", 0.0)? * angle;
        joint.limit = limit.map(|range| range.map(|x| x * angle - reference));
        joint.spring_rest = view.number("springref", 0.0)? * angle - reference;
    } else {
        if let Some(given) = view.get("range").filter(|_| limit.is_some()) {
            notes.add(given.span, "the limit of a ball joint is not supported and left out");
        }
        if joint.friction != 0.0 && type_name == "ball" {
            notes.once(element.span, "friction of ball joints acts on each axis by itself");
        }
    }
    if let Some(range) = view.limit("actuatorfrcrange", "actuatorfrclimited", compiler.autolimits)? {
        joint.max_force = range[0].abs().max(range[1].abs());
    }
    let free = type_name == "free";
    let armature = view.non_negative("armature")?;
    let draft = JointDraft { joint, link: String::new(), initial: None };
    Ok(Motion { kind, anchor, free, armature, draft })
}
