//! Constraints ⇒ joints, and springs ⇒ forces.
//!
//! Bind points are points of the world at the beginning. Two of them on a line make the axis a = (p₂ − p₁)/|p₂ − p₁| of a hinge,
//! motor or slider, which is placed midway between them; three that are not on a line make a fixed joint. The speed of a motor is the
//! angular velocity of the second body relative to the first about a.

use super::body::Bodies;
use super::meaning::{entry, renamed, table};
use super::words;
use crate::document::{Content, Fields, Key, Node};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{NUMBER, Units};
use glam::{DMat3, DQuat, DVec3};

/// Largest torque of a motor without `MaxTorque`, N·m: larger than any load of a scene.
const STRONG: f64 = 1e9;
/// Relative distance from a line below which points count as collinear.
const COLLINEAR: f64 = 1e-9;

const KEYS: &[&str] = &[
    "Type",
    "Id",
    "Body1",
    "Body2",
    "BreakingThreshold",
    "BreakingForce",
    "BreakingTorque",
    "Collide",
    "CustomProperties",
];

#[derive(Clone, Copy)]
enum Kind {
    Spherical,
    Revolute,
    Rigid,
    AngularMotor,
    Slider,
    Universal,
    Cable,
    Spring,
}

const KINDS: &[(&str, Kind)] = &[
    ("Spherical", Kind::Spherical),
    ("Revolute", Kind::Revolute),
    ("Rigid", Kind::Rigid),
    ("AngularMotor", Kind::AngularMotor),
    ("Slider", Kind::Slider),
    ("Universal", Kind::Universal),
    ("Cable", Kind::Cable),
    ("Spring", Kind::Spring),
];

/// (`Constraint` blocks, bodies) ⇒ joints, and forces of springs.
pub(super) fn read(nodes: &[&Node], bodies: &Bodies<'_>) -> Read<(Vec<Node>, Vec<Node>)> {
    let (mut joints, mut springs) = (Vec::new(), Vec::new());
    for node in nodes {
        let fields = Fields::of("Constraint", node, KEYS)?;
        let kind = fields.required("Type", "which kind it is")?.word("Constraint", KINDS)?;
        let constraint = Bound::read(fields, bodies)?;
        if let Kind::Spring = kind {
            springs.push(constraint.spring()?);
        } else {
            joints.push(constraint.joint(kind)?);
        }
    }
    Ok((joints, springs))
}

/// A `Constraint` block and the bodies it names.
struct Bound<'a, 'b> {
    fields: Fields<'a>,
    span: Span,
    id: &'a Node,
    names: [&'a Node; 2],
    bodies: [&'b super::body::ScriptBody<'b>; 2],
}

impl<'a, 'b> Bound<'a, 'b> {
    fn read(fields: Fields<'a>, bodies: &'b Bodies<'b>) -> Read<Self> {
        let names =
            [fields.required("Body1", "the first body")?, fields.required("Body2", "the second body")?];
        let id = fields.required("Id", "what it is called")?;
        let bound = [bodies.get("Body1", names[0])?, bodies.get("Body2", names[1])?];
        if bound[0].id.content == bound[1].id.content {
            return Err(names[1].out_of_range("Body2", "another body than Body1"));
        }
        Ok(Self { fields, span: fields.span(), id, names, bodies: bound })
    }

    /// The custom properties, of which these are known.
    fn custom(&self, known: &[&str]) -> Read<Fields<'a>> {
        let node = self.fields.required("CustomProperties", "where it is bound")?;
        Fields::of("the constraint", node, known)
    }

    fn joint(&self, kind: Kind) -> Read<Node> {
        let (type_name, specific) = match kind {
            Kind::Spherical => ("spherical", self.spherical()?),
            Kind::Revolute => ("revolute", self.hinge(&["MinAngle", "MaxAngle"], ["MinAngle", "MaxAngle"])?),
            Kind::AngularMotor => ("revolute", self.motor()?),
            Kind::Slider => {
                let properties = ["MinPosition", "MaxPosition"];
                ("prismatic", self.hinge(&properties, properties)?)
            }
            Kind::Universal => ("universal", self.universal()?),
            Kind::Rigid => ("fixed", self.rigid()?),
            Kind::Cable | Kind::Spring => ("distance", self.cable()?),
        };
        let bodies = Content::List(self.names.iter().map(|name| (*name).clone()).collect());
        let mut entries = vec![
            entry("type", self.span, Content::Text(type_name.into())),
            renamed("name", self.id),
            entry("bodies", self.names[0].span, bodies),
        ];
        entries.extend(specific);
        // Without a filter all pairs of bodies collide, also joined ones.
        let collide = self.fields.get("Collide");
        entries.push(collide.map_or_else(
            || entry("collide", self.span, Content::Bool(true)),
            |node| renamed("collide", node),
        ));
        for (key, name) in [
            ("BreakingThreshold", "break_drift"),
            ("BreakingForce", "break_force"),
            ("BreakingTorque", "break_torque"),
        ] {
            entries.extend(self.fields.get(key).map(|node| renamed(name, node)));
        }
        Ok(table(self.span, entries))
    }

    fn spherical(&self) -> Read<Vec<(Key, Node)>> {
        let custom = self.custom(&["BindPoint", "ReachConeAngle"])?;
        let bind = custom.required("BindPoint", "a point of both bodies")?;
        let mut entries = vec![renamed("position", bind)];
        if let Some(cone) = custom.get("ReachConeAngle") {
            // The cone opens from the first body towards the point.
            let axis = point("BindPoint", bind)? - self.bodies[0].pose.translation;
            if axis.length_squared() == 0.0 {
                let allowed = "away from the middle of Body1, so that the cone has an axis";
                return Err(bind.out_of_range("BindPoint", allowed));
            }
            entries.extend([reals("axis", bind.span, axis.normalize().as_ref()), renamed("cone", cone)]);
        }
        Ok(entries)
    }

    /// A joint along an axis, with limits.
    fn hinge(&self, own: &[&str], limits: [&str; 2]) -> Read<Vec<(Key, Node)>> {
        let custom = self.custom(&[&["BindAxisPoint1", "BindAxisPoint2"], own].concat())?;
        let mut entries = axis(&custom)?;
        let given = limits.map(|key| custom.get(key));
        if given.iter().any(Option::is_some) {
            entries.push(entry("limited", self.span, Content::Bool(true)));
        }
        for (name, node, open) in [("min", given[0], -STRONG), ("max", given[1], STRONG)] {
            match node {
                Some(node) => entries.push(renamed(name, node)),
                None if given.iter().any(Option::is_some) => {
                    entries.push(entry(name, self.span, Content::Real(open)));
                }
                None => {}
            }
        }
        Ok(entries)
    }

    fn motor(&self) -> Read<Vec<(Key, Node)>> {
        // `MotorArm` has no effect: the motor acts on the angle.
        const OWN: &[&str] = &["AngularSpeed", "MotorArm", "MaxTorque", "MinAngle", "MaxAngle"];
        let mut entries = self.hinge(OWN, ["MinAngle", "MaxAngle"])?;
        let custom = self.custom(&[&["BindAxisPoint1", "BindAxisPoint2"], OWN].concat())?;
        entries.push(renamed("speed", custom.required("AngularSpeed", "rad/s, of Body2 against Body1")?));
        entries.push(custom.get("MaxTorque").map_or_else(
            || entry("max_torque", self.span, Content::Real(STRONG)),
            |node| renamed("max_torque", node),
        ));
        Ok(entries)
    }

    fn universal(&self) -> Read<Vec<(Key, Node)>> {
        let custom = self.custom(&["BindPoint", "Axis1", "Axis2"])?;
        let axis = |key: &str| {
            let node = custom.required(key, "a direction")?;
            let direction = point(key, node)?.try_normalize();
            Ok::<_, Fault>((direction.ok_or_else(|| node.out_of_range(key, "a direction, not zero"))?, node))
        };
        let ((z, _), (x, node)) = (axis("Axis1")?, axis("Axis2")?);
        if x.dot(z).abs() > 1e-6 {
            return Err(node.out_of_range("Axis2", "at right angles to Axis1"));
        }
        let q = DQuat::from_mat3(&DMat3::from_cols(x, z.cross(x), z));
        Ok(vec![
            renamed("position", custom.required("BindPoint", "a point of both bodies")?),
            reals("orientation", node.span, &[q.w, q.x, q.y, q.z]),
        ])
    }

    fn rigid(&self) -> Read<Vec<(Key, Node)>> {
        let keys = ["BindPoint1", "BindPoint2", "BindPoint3"];
        let custom = self.custom(&keys)?;
        let mut points = [DVec3::ZERO; 3];
        for (place, key) in points.iter_mut().zip(keys) {
            *place = point(key, custom.required(key, "three points that are not on a line")?)?;
        }
        let (u, v) = (points[1] - points[0], points[2] - points[0]);
        let across = u.cross(v).length();
        if across.is_nan() || across <= COLLINEAR * u.length() * v.length() {
            let message = "the three bind points lie on a line; they would not hold the bodies about it";
            return Err(Fault::new(custom.span(), Problem::Conflict(message.into())));
        }
        let middle = points[0] / 3.0 + points[1] / 3.0 + points[2] / 3.0;
        Ok(vec![reals("position", self.span, middle.as_ref())])
    }

    fn cable(&self) -> Read<Vec<(Key, Node)>> {
        let custom = self.custom(&["BindPoint1", "BindPoint2", "MaxLength"])?;
        let ends = ends(&custom)?;
        let anchors = Content::List(ends.iter().map(|(node, _)| (*node).clone()).collect());
        let length = custom.get("MaxLength").map_or_else(
            || entry("max", self.span, Content::Real((ends[1].1 - ends[0].1).length())),
            |node| renamed("max", node),
        );
        Ok(vec![entry("anchors", ends[0].0.span, anchors), length])
    }

    /// A spring between two points of the bodies; its default rest length is the initial distance.
    fn spring(&self) -> Read<Node> {
        let custom = self.custom(&["BindPoint1", "BindPoint2", "Stiffness", "Damping", "RestLength"])?;
        let ends = ends(&custom)?;
        let mut entries =
            vec![entry("type", self.span, Content::Text("spring".into())), renamed("name", self.id)];
        let names = [("body_a", "anchor_a"), ("body_b", "anchor_b")];
        for (k, (body, anchor)) in names.into_iter().enumerate() {
            let local = self.bodies[k].pose.inverse().point(ends[k].1);
            entries.push(renamed(body, self.names[k]));
            entries.push(reals(anchor, ends[k].0.span, local.as_ref()));
        }
        for key in ["Stiffness", "Damping"] {
            entries.extend(custom.get(key).map(|node| renamed(&words::property(key), node)));
        }
        let length = (ends[1].1 - ends[0].1).length();
        entries.push(custom.get("RestLength").map_or_else(
            || entry("rest_length", self.span, Content::Real(length)),
            |node| renamed("rest_length", node),
        ));
        Ok(table(self.span, entries))
    }
}

/// Three numbers in braces.
fn point(key: &str, node: &Node) -> Read<DVec3> {
    node.vector(key, &Units::default(), NUMBER)
}

fn reals(key: &str, span: Span, numbers: &[f64]) -> (Key, Node) {
    let list = numbers.iter().map(|x| Node { span, content: Content::Real(*x) });
    entry(key, span, Content::List(list.collect()))
}

/// Two bind points and where they are.
fn ends<'a>(custom: &Fields<'a>) -> Read<[(&'a Node, DVec3); 2]> {
    let end = |key: &str, doc: &str| {
        let node = custom.required(key, doc)?;
        Ok::<_, Fault>((node, point(key, node)?))
    };
    Ok([end("BindPoint1", "a point of the first body")?, end("BindPoint2", "a point of the second body")?])
}

/// Two bind points on an axis ⇒ `position` in the middle between them, and `axis`.
fn axis(custom: &Fields<'_>) -> Read<Vec<(Key, Node)>> {
    let bound = |key: &str| {
        let node = custom.required(key, "a point on the axis")?;
        Ok::<_, Fault>((point(key, node)?, node))
    };
    let ((first, _), (second, node)) = (bound("BindAxisPoint1")?, bound("BindAxisPoint2")?);
    let Some(direction) = (second - first).try_normalize() else {
        return Err(node.out_of_range("BindAxisPoint2", "another point than BindAxisPoint1"));
    };
    let middle = 0.5 * first + 0.5 * second;
    Ok(vec![reals("position", node.span, middle.as_ref()), reals("axis", node.span, direction.as_ref())])
}
