//! Debug lines of joints: anchors, axes, limits and present coordinates.
//!
//! A joint is two frames, A and B. B turns about z of A by φ and moves along it by d; a limit on φ is an arc in the plane of x and y
//! of A, from φ_min to φ_max, with a needle at φ; a limit on d is a segment of the axis, with a mark at d; a cone is a circle around
//! its end with four rays.

use glam::{DQuat, DVec3};
use rattleback_dynamics::World;
use rattleback_dynamics::joint::JointRecord;
use rattleback_dynamics::property::Value;
use rattleback_dynamics::world::{LinkId, MultibodyRef};
use rattleback_geometry::Pose;
use std::f64::consts::{PI, TAU};

/// What a debug line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// From the centre of mass of a body to its anchor.
    Arm = 0,
    /// From anchor to anchor, and a cross at each.
    Anchor = 1,
    /// An axis of rotation or translation.
    Axis = 2,
    /// A limit of a joint coordinate.
    Limit = 3,
    /// The present value of a joint coordinate.
    Present = 4,
}

/// A line segment in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DebugLine {
    /// What it shows.
    pub kind: LineKind,
    /// One end, m.
    pub from: DVec3,
    /// The other end, m.
    pub to: DVec3,
}

/// Segments of a full circle.
const ROUND: f64 = 32.0;

/// (world, size of a drawn joint, m) ⇒ debug lines of all its joints.
pub fn joints(world: &World, size: f64) -> Vec<DebugLine> {
    let mut drawing = Drawing { lines: Vec::new(), size };
    for (_, record) in world.iter_joints() {
        drawing.joint(world, record);
    }
    for multibody in world.iter_multibodies() {
        drawing.multibody(&multibody);
    }
    drawing.lines
}

struct Drawing {
    lines: Vec<DebugLine>,
    size: f64,
}

impl Drawing {
    fn line(&mut self, kind: LineKind, from: DVec3, to: DVec3) {
        self.lines.push(DebugLine { kind, from, to });
    }

    /// Axes of the joints, and lines from parent to child.
    fn multibody(&mut self, multibody: &MultibodyRef<'_>) {
        let pose = |link: usize| {
            multibody.link_pose(LinkId { multibody: multibody.id(), index: link as u32 }).unwrap_or_default()
        };
        for (index, link) in multibody.tree().links().iter().enumerate() {
            let own = pose(index);
            if let Some(parent) = link.parent {
                self.line(LineKind::Arm, pose(parent).translation, own.translation);
            }
            for axis in link.joint.axes() {
                let along = 0.5 * self.size * own.vector(axis);
                self.line(LineKind::Axis, own.translation - along, own.translation + along);
            }
        }
    }

    fn joint(&mut self, world: &World, record: &JointRecord) {
        let mut frames = record.frames();
        let mut reach = self.size;
        for (frame, body) in frames.iter_mut().zip(record.bodies()) {
            let Some(id) = body else { continue };
            let Ok(body) = world.body(id) else { return };
            *frame = body.pose() * *body.body_from_principal() * *frame;
            let arm = frame.translation - body.center_of_mass();
            self.line(LineKind::Arm, body.center_of_mass(), frame.translation);
            // A joint of small links is drawn smaller.
            if arm.length() > 0.1 * self.size {
                reach = reach.min(0.8 * arm.length());
            }
        }
        let [a, b] = frames;
        for frame in [a, b] {
            for k in 0..3 {
                let along = frame.vector(0.15 * reach * DVec3::AXES[k]);
                self.line(LineKind::Anchor, frame.translation - along, frame.translation + along);
            }
        }
        self.line(LineKind::Anchor, a.translation, b.translation);
        self.kind(record, [a, b], reach);
    }

    /// Axes and limits by type of joint; types of plug-ins are shown by their anchors alone.
    fn kind(&mut self, record: &JointRecord, [a, b]: [Pose; 2], reach: f64) {
        let kind = record.kind();
        let number = |name: &str| match kind.get(name) {
            Ok(Value::Real(number)) => number,
            _ => 0.0,
        };
        let flag = |name: &str| kind.get(name) == Ok(Value::Bool(true));
        let z = a.vector(DVec3::Z);
        let offset = b.translation - a.translation;
        match kind.type_name() {
            "revolute" => {
                self.axis(a.translation, z, reach);
                if flag("limited") {
                    self.arc(&a, reach, number("min"), number("max"), record.angle());
                }
            }
            "prismatic" | "cylindrical" => {
                self.axis(a.translation, z, reach);
                if flag("limited") {
                    self.stretch(&a, number("min"), number("max"), offset.dot(z), reach);
                }
                if flag("angle_limited") {
                    self.arc(&a, reach, number("min_angle"), number("max_angle"), record.angle());
                }
            }
            "spherical" => {
                if number("cone") < PI {
                    self.cone(&a, number("cone"), b.vector(DVec3::Z), reach);
                }
                if flag("twist_limited") {
                    self.arc(&a, 0.6 * reach, number("min_twist"), number("max_twist"), record.angle());
                }
            }
            "universal" => {
                // The first axis is z of A, the second x of B; R = R_z(α) R_x(β).
                let x = b.vector(DVec3::X);
                self.axis(a.translation, z, reach);
                self.axis(b.translation, x, reach);
                let local = a.inverse().vector(x);
                if flag("first_limited") {
                    self.arc(&a, reach, number("first_min"), number("first_max"), local.y.atan2(local.x));
                }
                if flag("second_limited") {
                    let z_in_b = b.inverse().vector(z);
                    // In this frame z is the second axis and x is where β is zero.
                    let about = DQuat::from_rotation_y(PI / 2.0) * DQuat::from_rotation_z(PI / 2.0);
                    let turned = DQuat::from_axis_angle(x, -z_in_b.y.atan2(z_in_b.z));
                    let frame = Pose::new(turned * b.rotation * about, b.translation);
                    self.arc(
                        &frame,
                        reach,
                        number("second_min"),
                        number("second_max"),
                        z_in_b.y.atan2(z_in_b.z),
                    );
                }
            }
            "distance" => {
                let direction = offset.try_normalize().unwrap_or(DVec3::Z);
                let frame = Pose::new(DQuat::from_rotation_arc(DVec3::Z, direction), a.translation);
                self.stretch(&frame, number("min"), number("max"), offset.length(), reach);
            }
            "planar" if flag("limited") => self.rectangle(&a, number("reach_x"), number("reach_y")),
            "wheel" | "gear" | "rack" | "planar" => self.axis(a.translation, z, reach),
            _ => {}
        }
    }

    fn axis(&mut self, middle: DVec3, axis: DVec3, reach: f64) {
        self.line(LineKind::Axis, middle - reach * axis, middle + reach * axis);
    }

    /// An arc about z of a frame, its two ends joined to the middle, and a needle.
    fn arc(&mut self, frame: &Pose, radius: f64, min: f64, max: f64, present: f64) {
        let point = |angle: f64| frame.point(radius * DVec3::new(angle.cos(), angle.sin(), 0.0));
        // A range of more than a turn is drawn as a full circle.
        let (min, max) = if max - min < TAU { (min, max) } else { (0.0, TAU) };
        let pieces = ((max - min) / TAU * ROUND).ceil().max(1.0);
        for k in 0..pieces as u32 {
            let angle = |k: f64| min + (max - min) * k / pieces;
            self.line(LineKind::Limit, point(angle(f64::from(k))), point(angle(f64::from(k) + 1.0)));
        }
        self.line(LineKind::Limit, frame.translation, point(min));
        self.line(LineKind::Limit, frame.translation, point(max));
        self.line(LineKind::Present, frame.translation, point(present));
    }

    /// A segment of z of a frame with a bar at each limit and one at the present position.
    fn stretch(&mut self, frame: &Pose, min: f64, max: f64, present: f64, reach: f64) {
        let point = |along: f64, aside: DVec3| frame.point(along * DVec3::Z + 0.2 * reach * aside);
        // Limits far outside of the drawing are cut off.
        let (min, max) = (min.max(present - 20.0 * reach), max.min(present + 20.0 * reach));
        self.line(LineKind::Limit, point(min, DVec3::ZERO), point(max, DVec3::ZERO));
        for (kind, along) in [(LineKind::Limit, min), (LineKind::Limit, max), (LineKind::Present, present)] {
            for aside in [DVec3::X, DVec3::Y] {
                self.line(kind, point(along, -aside), point(along, aside));
            }
        }
    }

    fn cone(&mut self, frame: &Pose, angle: f64, present: DVec3, reach: f64) {
        let point = |around: f64| {
            let (sine, cosine) = angle.sin_cos();
            frame.point(reach * DVec3::new(sine * around.cos(), sine * around.sin(), cosine))
        };
        for k in 0..ROUND as u32 {
            let around = |k: f64| TAU * k / ROUND;
            self.line(LineKind::Limit, point(around(f64::from(k))), point(around(f64::from(k) + 1.0)));
            if k.is_multiple_of(8) {
                self.line(LineKind::Limit, frame.translation, point(around(f64::from(k))));
            }
        }
        self.line(LineKind::Present, frame.translation, frame.translation + reach * present);
    }

    fn rectangle(&mut self, frame: &Pose, x: f64, y: f64) {
        let corners = [(x, y), (-x, y), (-x, -y), (x, -y)].map(|(x, y)| frame.point(DVec3::new(x, y, 0.0)));
        for k in 0..4 {
            self.line(LineKind::Limit, corners[k], corners[(k + 1) % 4]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::Registry;
    use rattleback_scene::Scene;

    fn drawn(joint: &str) -> Vec<DebugLine> {
        let text = format!(
            "[simulator]\ntype = 'realtime'\n[[body]]\nname = 'a'\nposition = [1, 0, 0]\n\
             shape = {{ type = 'sphere', radius = 0.2 }}\n[[joint]]\nbodies = ['a']\nposition = [0, 0, 0]\n{joint}"
        );
        let built = Scene::parse(&text, "test").unwrap().build(&Registry::default()).unwrap();
        joints(&built.world, 0.5)
    }

    fn of(lines: &[DebugLine], kind: LineKind) -> Vec<DebugLine> {
        lines.iter().filter(|line| line.kind == kind).copied().collect()
    }

    /// The arc of a hinge about z runs from min to max at one distance, and its needle points along x at first.
    #[test]
    fn a_hinge_is_drawn_between_its_limits() {
        let lines = drawn("type = 'revolute'\nlimited = true\nmin = -0.5\nmax = 1.25");
        let limits = of(&lines, LineKind::Limit);
        let angles: Vec<f64> = limits.iter().map(|line| line.to.y.atan2(line.to.x)).collect();
        let least = limits.iter().map(|line| line.from.y.atan2(line.from.x)).fold(0.0, f64::min);
        assert!((angles.iter().copied().fold(f64::MIN, f64::max) - 1.25).abs() < 1e-12);
        assert!((least + 0.5).abs() < 1e-12);
        assert!(limits.iter().all(|line| (line.to.length() - 0.5).abs() < 1e-12 && line.to.z.abs() < 1e-12));
        let needle = of(&lines, LineKind::Present)[0];
        assert!((needle.to - DVec3::X * 0.5).length() < 1e-12);
        let axis = of(&lines, LineKind::Axis)[0];
        assert!((axis.to - axis.from).cross(DVec3::Z).length() < 1e-12);
        assert_eq!(of(&lines, LineKind::Arm)[0].from, DVec3::X);
    }

    #[test]
    fn sliders_cones_ropes_and_planes_have_limits_and_others_do_not() {
        let slider = of(&drawn("type = 'prismatic'\nlimited = true\nmin = -1\nmax = 2"), LineKind::Limit);
        assert!((slider[0].to - slider[0].from - DVec3::Z * 3.0).length() < 1e-12);
        // Every point of the circle is 0.3 rad off the axis.
        for line in of(&drawn("type = 'spherical'\ncone = 0.3"), LineKind::Limit) {
            assert!((line.to.angle_between(DVec3::Z) - 0.3).abs() < 1e-9);
        }
        for joint in [
            "distance'\nmax = 3",
            "planar'\nlimited = true",
            "universal'\nfirst_limited = true\nsecond_limited = true",
        ] {
            assert!(!of(&drawn(&format!("type = '{joint}")), LineKind::Limit).is_empty(), "{joint}");
        }
        for joint in ["revolute", "fixed", "prismatic", "spherical", "universal", "wheel", "six-axis"] {
            assert!(of(&drawn(&format!("type = '{joint}'")), LineKind::Limit).is_empty(), "{joint}");
        }
    }
}
