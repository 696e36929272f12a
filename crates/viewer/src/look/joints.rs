//! Where joints sit, how they may move, and how far.
//!
//! A joint is two frames, A and B. B turns about z of A by φ and moves along it by d; a limit on φ is an arc in the plane of x and y
//! of A, from φ_min to φ_max, with a needle at φ; one on d is a stretch of the axis, with a mark at d; a cone is a circle around its
//! end with four rays.

use glam::{DQuat, DVec3};
use rattleback_dynamics::World;
use rattleback_dynamics::joint::JointRecord;
use rattleback_dynamics::property::Value;
use rattleback_geometry::Pose;
use std::f64::consts::{PI, TAU};

/// What a stroke stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// From the centre of mass of a body to its anchor.
    Arm = 0,
    /// From anchor to anchor, and a cross where they are.
    Anchor = 1,
    /// What the joint turns about or moves along.
    Axis = 2,
    /// How far it may.
    Limit = 3,
    /// How far it has.
    Present = 4,
}

/// A line of a drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// What it stands for.
    pub tone: Tone,
    /// From where.
    pub from: DVec3,
    /// To where.
    pub to: DVec3,
}

/// Strokes of a full turn.
const ROUND: f64 = 32.0;

/// (world, how large to draw, m) ⇒ all its joints as strokes.
pub fn joints(world: &World, size: f64) -> Vec<Stroke> {
    let mut drawing = Drawing { strokes: Vec::new(), size };
    for (_, record) in world.iter_joints() {
        drawing.joint(world, record);
    }
    drawing.strokes
}

struct Drawing {
    strokes: Vec<Stroke>,
    size: f64,
}

impl Drawing {
    fn line(&mut self, tone: Tone, from: DVec3, to: DVec3) {
        self.strokes.push(Stroke { tone, from, to });
    }

    fn joint(&mut self, world: &World, record: &JointRecord) {
        let mut frames = record.frames();
        let mut reach = self.size;
        for (frame, body) in frames.iter_mut().zip(record.bodies()) {
            let Some(id) = body else { continue };
            let Ok(body) = world.body(id) else { return };
            *frame = body.pose() * *body.body_from_principal() * *frame;
            let arm = frame.translation - body.center_of_mass();
            self.line(Tone::Arm, body.center_of_mass(), frame.translation);
            // Small links get small drawings.
            if arm.length() > 0.1 * self.size {
                reach = reach.min(0.8 * arm.length());
            }
        }
        let [a, b] = frames;
        for frame in [a, b] {
            for k in 0..3 {
                let along = frame.vector(0.15 * reach * DVec3::AXES[k]);
                self.line(Tone::Anchor, frame.translation - along, frame.translation + along);
            }
        }
        self.line(Tone::Anchor, a.translation, b.translation);
        self.kind(record, [a, b], reach);
    }

    /// Axes and limits by the kind of joint; kinds of plug-ins are shown by their anchors alone.
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
        self.line(Tone::Axis, middle - reach * axis, middle + reach * axis);
    }

    /// An arc about z of a frame, its two ends joined to the middle, and a needle.
    fn arc(&mut self, frame: &Pose, radius: f64, min: f64, max: f64, present: f64) {
        let point = |angle: f64| frame.point(radius * DVec3::new(angle.cos(), angle.sin(), 0.0));
        // More than a turn is drawn as one.
        let (min, max) = if max - min < TAU { (min, max) } else { (0.0, TAU) };
        let pieces = ((max - min) / TAU * ROUND).ceil().max(1.0);
        for k in 0..pieces as u32 {
            let angle = |k: f64| min + (max - min) * k / pieces;
            self.line(Tone::Limit, point(angle(f64::from(k))), point(angle(f64::from(k) + 1.0)));
        }
        self.line(Tone::Limit, frame.translation, point(min));
        self.line(Tone::Limit, frame.translation, point(max));
        self.line(Tone::Present, frame.translation, point(present));
    }

    /// A stretch of z of a frame with a bar at each end, and one where the joint is.
    fn stretch(&mut self, frame: &Pose, min: f64, max: f64, present: f64, reach: f64) {
        let point = |along: f64, aside: DVec3| frame.point(along * DVec3::Z + 0.2 * reach * aside);
        // An end that is as good as none is not looked for.
        let (min, max) = (min.max(present - 20.0 * reach), max.min(present + 20.0 * reach));
        self.line(Tone::Limit, point(min, DVec3::ZERO), point(max, DVec3::ZERO));
        for (tone, along) in [(Tone::Limit, min), (Tone::Limit, max), (Tone::Present, present)] {
            for aside in [DVec3::X, DVec3::Y] {
                self.line(tone, point(along, -aside), point(along, aside));
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
            self.line(Tone::Limit, point(around(f64::from(k))), point(around(f64::from(k) + 1.0)));
            if k.is_multiple_of(8) {
                self.line(Tone::Limit, frame.translation, point(around(f64::from(k))));
            }
        }
        self.line(Tone::Present, frame.translation, frame.translation + reach * present);
    }

    fn rectangle(&mut self, frame: &Pose, x: f64, y: f64) {
        let corners = [(x, y), (-x, y), (-x, -y), (x, -y)].map(|(x, y)| frame.point(DVec3::new(x, y, 0.0)));
        for k in 0..4 {
            self.line(Tone::Limit, corners[k], corners[(k + 1) % 4]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::Registry;
    use rattleback_scene::Scene;

    fn drawn(joint: &str) -> Vec<Stroke> {
        let text = format!(
            "[simulator]\ntype = 'realtime'\n[[body]]\nname = 'a'\nposition = [1, 0, 0]\n\
             shape = {{ type = 'sphere', radius = 0.2 }}\n[[joint]]\nbodies = ['a']\nposition = [0, 0, 0]\n{joint}"
        );
        let stage = Scene::parse(&text, "test").unwrap().build(&Registry::default()).unwrap();
        joints(&stage.world, 0.5)
    }

    fn of(strokes: &[Stroke], tone: Tone) -> Vec<Stroke> {
        strokes.iter().filter(|stroke| stroke.tone == tone).copied().collect()
    }

    /// The arc of a hinge about z runs from min to max at one distance, and its needle points along x at first.
    #[test]
    fn a_hinge_is_drawn_between_its_limits() {
        let strokes = drawn("type = 'revolute'\nlimited = true\nmin = -0.5\nmax = 1.25");
        let limits = of(&strokes, Tone::Limit);
        let angles: Vec<f64> = limits.iter().map(|stroke| stroke.to.y.atan2(stroke.to.x)).collect();
        let least = limits.iter().map(|stroke| stroke.from.y.atan2(stroke.from.x)).fold(0.0, f64::min);
        assert!((angles.iter().copied().fold(f64::MIN, f64::max) - 1.25).abs() < 1e-12);
        assert!((least + 0.5).abs() < 1e-12);
        assert!(
            limits.iter().all(|stroke| (stroke.to.length() - 0.5).abs() < 1e-12 && stroke.to.z.abs() < 1e-12)
        );
        let needle = of(&strokes, Tone::Present)[0];
        assert!((needle.to - DVec3::X * 0.5).length() < 1e-12);
        let axis = of(&strokes, Tone::Axis)[0];
        assert!((axis.to - axis.from).cross(DVec3::Z).length() < 1e-12);
        assert_eq!(of(&strokes, Tone::Arm)[0].from, DVec3::X);
    }

    #[test]
    fn sliders_cones_ropes_and_planes_have_limits_and_others_do_not() {
        let slider = of(&drawn("type = 'prismatic'\nlimited = true\nmin = -1\nmax = 2"), Tone::Limit);
        assert!((slider[0].to - slider[0].from - DVec3::Z * 3.0).length() < 1e-12);
        // Every point of the circle is 0.3 rad off the axis.
        for stroke in of(&drawn("type = 'spherical'\ncone = 0.3"), Tone::Limit) {
            assert!((stroke.to.angle_between(DVec3::Z) - 0.3).abs() < 1e-9);
        }
        for joint in [
            "distance'\nmax = 3",
            "planar'\nlimited = true",
            "universal'\nfirst_limited = true\nsecond_limited = true",
        ] {
            assert!(!of(&drawn(&format!("type = '{joint}")), Tone::Limit).is_empty(), "{joint}");
        }
        for joint in ["revolute", "rigid", "prismatic", "spherical", "universal", "wheel", "six-axis"] {
            assert!(of(&drawn(&format!("type = '{joint}'")), Tone::Limit).is_empty(), "{joint}");
        }
    }
}
