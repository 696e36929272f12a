//! Constraint rows of the joints of a mechanism, evaluated at the present poses of its bodies.

use super::rattle::MechanismBody;
use crate::joint::{Effect, JointFrame, JointState, Locks, Rows};
use crate::world::{JointId, World};
use glam::DVec3;
use rattleback_geometry::Pose;

/// One constraint row: ġ = d·(v_B − v_A) + b·ω_B − a·ω_A.
#[derive(Clone, Copy, Debug)]
pub(super) struct MechanismRow {
    /// Bodies A and B; `None` for immovable ones.
    pub bodies: [Option<u32>; 2],
    /// d, and (a, b).
    pub linear: DVec3,
    pub angular: [DVec3; 2],
    /// g, m or rad.
    pub error: f64,
    /// Impulse of its joint: 0–2 along axes, 3–5 about axes, from 6 on a further row.
    pub key: u8,
    /// Index of its joint in the mechanism.
    pub joint: u32,
    /// Magnitude of the numbers whose difference is g, m, which determines its rounding error.
    magnitude: f64,
}

impl MechanismRow {
    /// ġ of the row.
    pub fn rate(&self, bodies: &[MechanismBody]) -> f64 {
        let mut rate = 0.0;
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(body) = self.bodies[side] {
                let motion = &bodies[body as usize].motion;
                rate += sign * (self.linear.dot(motion.v) + self.angular[side].dot(motion.omega));
            }
        }
        rate
    }

    /// An error relative to the magnitude of the numbers it is the difference of.
    pub fn scaled(&self, error: f64) -> f64 {
        error / self.magnitude.max(1.0)
    }

    /// M⁻¹ times the row, for both bodies.
    pub fn inverse_mass_times(&self, bodies: &[MechanismBody]) -> [[DVec3; 2]; 2] {
        [0, 1].map(|side| match self.bodies[side] {
            None => [DVec3::ZERO; 2],
            Some(body) => {
                let MechanismBody { motion, inertia, .. } = &bodies[body as usize];
                [self.linear * inertia.inverse_mass, inertia.angular_velocity(motion.q, self.angular[side])]
            }
        })
    }

    /// Entry of J M⁻¹ Jᵀ, with M⁻¹ times this row.
    pub fn product(&self, inverse_mass_row: &[[DVec3; 2]; 2], other: &Self) -> f64 {
        let mut sum = 0.0;
        for (side, [linear, angular]) in inverse_mass_row.iter().enumerate() {
            if self.bodies[side].is_none() {
                continue;
            }
            for other_side in 0..2 {
                if self.bodies[side] == other.bodies[other_side] {
                    let sign = if side == other_side { 1.0 } else { -1.0 };
                    sum += sign * (linear.dot(other.linear) + angular.dot(other.angular[other_side]));
                }
            }
        }
        sum
    }
}

/// One side of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) enum MechanismSide {
    /// On a body, in its principal frame.
    On(u32, Pose),
    Immovable(JointFrame),
}

impl MechanismSide {
    fn frame(&self, bodies: &[MechanismBody]) -> JointFrame {
        match self {
            Self::On(body, local_frame) => JointFrame::on(&bodies[*body as usize].motion, local_frame),
            Self::Immovable(frame) => *frame,
        }
    }

    const fn body(&self) -> Option<u32> {
        match self {
            Self::On(body, _) => Some(*body),
            Self::Immovable(_) => None,
        }
    }
}

/// A joint of a mechanism in the present step.
#[derive(Clone, Copy, Debug)]
pub(super) struct MechanismJoint {
    pub sides: [MechanismSide; 2],
    pub locks: Locks,
    /// Length of a rod between the anchors, m.
    pub rod: Option<f64>,
}

/// All joints of a mechanism.
#[derive(Debug, Default)]
pub(super) struct MechanismJoints {
    pub joints: Vec<MechanismJoint>,
}

impl MechanismJoints {
    /// Writes the rows of all joints, in order.
    pub fn rows(&self, bodies: &[MechanismBody], out: &mut Vec<MechanismRow>) {
        out.clear();
        for (index, joint) in self.joints.iter().enumerate() {
            joint.rows(index as u32, bodies, out);
        }
    }
}

impl MechanismJoint {
    /// Writes the rows of one joint.
    fn rows(&self, joint: u32, bodies: &[MechanismBody], out: &mut Vec<MechanismRow>) {
        let [a, b] = [0, 1].map(|side| self.sides[side].frame(bodies));
        let sides = [0, 1].map(|side| self.sides[side].body());
        let magnitude = a.origin.abs().max(b.origin.abs()).max_element();
        let mut push = |key: u8, linear: DVec3, angular: [DVec3; 2], error: f64| {
            let magnitude = if (3..6).contains(&key) { 1.0 } else { magnitude };
            out.push(MechanismRow { bodies: sides, linear, angular, error, key, joint, magnitude });
        };
        let offset = b.origin - a.origin;
        let (arm_a, reach_a, arm_b) = (a.origin - a.center, b.origin - a.center, b.origin - b.center);
        if let Some(length) = self.rod {
            let distance = offset.length();
            // For coincident anchors any direction is valid.
            let d = if distance > 0.0 { offset / distance } else { DVec3::Z };
            push(6, d, [reach_a.cross(d), arm_b.cross(d)], distance - length);
        }
        if self.locks == Locks::NONE {
            return;
        }
        let locks = self.locks;
        let (axes_a, axes_b) = (a.axes(), b.axes());
        for k in (0..3).filter(|k| locks.bits() & (1 << k) != 0) {
            let (d, arm) =
                if locks.has(Locks::POINT) { (DVec3::AXES[k], arm_a) } else { (axes_a.col(k), reach_a) };
            push(k as u8, d, [arm.cross(d), arm_b.cross(d)], d.dot(offset));
        }
        if locks.has(Locks::ROTATION) {
            // Σ a × b over the axes is 2 sin φ times the axis of the rotation from A to B.
            let error = 0.5 * (0..3).map(|k| axes_a.col(k).cross(axes_b.col(k))).sum::<DVec3>();
            for (k, d) in DVec3::AXES.into_iter().enumerate() {
                push(3 + k as u8, DVec3::ZERO, [d; 2], d.dot(error));
            }
        } else if locks.has(Locks::PARALLEL) {
            let error = axes_a.z_axis.cross(axes_b.z_axis);
            for (k, d) in [axes_a.x_axis, axes_a.y_axis].into_iter().enumerate() {
                push(3 + k as u8, DVec3::ZERO, [d; 2], d.dot(error));
            }
        } else if locks.has(Locks::PERPENDICULAR) {
            let (z, x) = (axes_a.z_axis, axes_b.x_axis);
            push(3, DVec3::ZERO, [x.cross(z); 2], z.dot(x));
        }
    }
}

/// Further rows of a joint besides its locked axes, at present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ExtraRows {
    Nothing,
    /// A rod of this length, m.
    Rod(f64),
    /// A limit is near.
    Limit,
    /// Springs, motors, friction or couplings.
    Other,
}

/// (joint, its frames) ⇒ further rows besides its locked axes.
pub(super) fn extra_rows(world: &World, id: JointId, state: &JointState, scratch: &mut Rows) -> ExtraRows {
    let Ok(record) = world.joint(id) else { return ExtraRows::Other };
    let kind = record.kind();
    if !kind.has_rows() {
        return ExtraRows::Nothing;
    }
    scratch.clear();
    kind.rows(state, scratch);
    match scratch.as_slice() {
        [] => ExtraRows::Nothing,
        [row] if row.effect == Effect::Lock && kind.type_name() == "distance" => {
            ExtraRows::Rod(state.offset().length() - row.error)
        }
        rows if rows.iter().all(|row| row.effect == Effect::Limit) => ExtraRows::Limit,
        _ => ExtraRows::Other,
    }
}
