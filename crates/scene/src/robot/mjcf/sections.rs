//! What refers to bodies and joints: equality, contact and actuator.

use super::Context;
use super::classes::View;
use crate::robot::actuator::{ActuatorLaw, RobotActuator};
use crate::robot::build::{ActuatorDraft, CouplingDraft, Draft, ExclusionDraft, LoopDraft};
use crate::robot::xml::{Attribute, Element, Notes};
use crate::source::Read;
use glam::DQuat;
use rattleback_dynamics::multibody::LoopKind;
use rattleback_geometry::Pose;

/// Adds all of them to the draft.
pub(super) fn read(context: &Context<'_>, root: &Element, draft: &mut Draft, notes: &mut Notes) -> Read<()> {
    let all = |tag: &'static str| {
        context
            .xml
            .children(root, tag)
            .flat_map(|section| &section.children)
            .map(|child| &context.xml.elements[*child])
    };
    for element in all("equality") {
        equality(context, &context.classes.view(element, 0)?, draft, notes)?;
    }
    for element in all("contact") {
        if element.tag == "exclude" {
            let links = [
                link(element.required("body1", "name of a body")?),
                link(element.required("body2", "name of a body")?),
            ];
            draft.exclusions.push(ExclusionDraft { links, span: element.span });
        } else {
            notes.add(element.span, format!("<{}> in <contact> is not supported and left out", element.tag));
        }
    }
    for element in all("actuator") {
        actuator(context, &context.classes.view(element, 0)?, draft, notes)?;
    }
    Ok(())
}

/// Name of a body ⇒ name of its link; none for the world.
fn link(name: &Attribute) -> Option<String> {
    Some(name.value.clone()).filter(|name| name != "world")
}

fn equality(context: &Context<'_>, view: &View<'_>, draft: &mut Draft, notes: &mut Notes) -> Read<()> {
    let element = view.element;
    if let Some(active) = view.get("active").filter(|active| active.value == "false") {
        notes.add(active.span, "a constraint that is not active is left out");
        return Ok(());
    }
    let name = element.get("name").map_or_else(
        || format!("{} {}", element.tag, draft.loops.len() + draft.couplings.len() + 1),
        |name| name.value.clone(),
    );
    match element.tag.as_str() {
        "connect" | "weld" => {
            let kind = if element.tag == "weld" { LoopKind::Fixed } else { LoopKind::Spherical };
            let (links, frame, other) = ends(context, view)?;
            draft.loops.push(LoopDraft { name, links, frame, other, kind, span: element.span });
        }
        "joint" => {
            let coefficients = view.get("polycoef").map(|given| (given, given.numbers(5)));
            let (offset, ratio) = match coefficients {
                Some((given, numbers)) => {
                    let numbers = numbers?;
                    if numbers.iter().skip(2).any(|x| *x != 0.0) {
                        notes.add(
                            given.span,
                            "a coupling of higher order is not supported; the equality is left out",
                        );
                        return Ok(());
                    }
                    (numbers[0], numbers.get(1).copied().unwrap_or(1.0))
                }
                None => (0.0, 1.0),
            };
            let follower = element.required("joint1", "name of a joint")?.value.clone();
            let leader = element.get("joint2").map(|leader| leader.value.clone());
            draft.couplings.push(CouplingDraft { name, follower, leader, ratio, offset, span: element.span });
        }
        tag => notes.add(element.span, format!("<{tag}> in <equality> is not supported and left out")),
    }
    Ok(())
}

type Ends = ([Option<String>; 2], Pose, Option<Pose>);

/// Links of a connection, the frame in the first, and that in the second if the file gives it.
fn ends(context: &Context<'_>, view: &View<'_>) -> Read<Ends> {
    let element = view.element;
    if let (Some(a), Some(b)) = (element.get("site1"), element.get("site2")) {
        let site = |name: &Attribute| {
            let found = context.sites.get(&name.value).cloned();
            found.ok_or_else(|| {
                crate::robot::build::unknown("site", &name.value, name.span, context.sites.keys())
            })
        };
        let ((first, frame), (second, other)) = (site(a)?, site(b)?);
        return Ok(([first, second], frame, Some(other)));
    }
    let first = link(element.required("body1", "name of a body")?);
    let second = element.get("body2").and_then(link);
    let anchor = view.vector("anchor")?;
    let relative = view.get("relpose").map(Attribute::array::<7>).transpose()?;
    match relative.filter(|numbers| numbers[3..].iter().any(|x| *x != 0.0)) {
        // Pose of the second body in the first; the anchor is in the second.
        Some([x, y, z, qw, qx, qy, qz]) => {
            let rotation = DQuat::from_xyzw(qx, qy, qz, qw).normalize();
            let relative = Pose::new(rotation, glam::DVec3::new(x, y, z));
            let other = Pose::new(DQuat::IDENTITY, anchor);
            Ok(([first, second], relative * other, Some(other)))
        }
        None if element.tag == "weld" => {
            // The frame is in the second body; where it is in the first follows from the pose of the file.
            Ok(([second, first], Pose::new(DQuat::IDENTITY, anchor), None))
        }
        None => Ok(([first, second], Pose::new(DQuat::IDENTITY, anchor), None)),
    }
}

fn actuator(context: &Context<'_>, view: &View<'_>, draft: &mut Draft, notes: &mut Notes) -> Read<()> {
    let element = view.element;
    let law = match element.tag.as_str() {
        "motor" => ActuatorLaw::Force,
        "position" => {
            ActuatorLaw::Position { stiffness: view.number("kp", 1.0)?, damping: view.number("kv", 0.0)? }
        }
        "velocity" => ActuatorLaw::Velocity { damping: view.number("kv", 1.0)? },
        "general" => ActuatorLaw::General,
        tag => {
            notes.add(element.span, format!("actuators <{tag}> are not supported and left out"));
            return Ok(());
        }
    };
    let Some(joint) = element.get("joint").or_else(|| element.get("jointinparent")) else {
        notes.add(element.span, "an actuator that does not act on a joint is not supported and left out");
        return Ok(());
    };
    let gear = view.get("gear").map_or(Ok(1.0), |gear| gear.numbers(6).map(|numbers| numbers[0]))?;
    let open = [f64::NEG_INFINITY, f64::INFINITY];
    let range = view.limit("ctrlrange", "ctrllimited", context.compiler.autolimits)?.unwrap_or(open);
    let name = element.get("name").map(|name| name.value.clone()).unwrap_or_default();
    let actuator = RobotActuator { name, joint: 0, gear, range, law };
    draft.actuators.push(ActuatorDraft { actuator, joint: joint.value.clone(), span: joint.span });
    Ok(())
}
