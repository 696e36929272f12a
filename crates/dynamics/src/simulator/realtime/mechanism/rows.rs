//! Constraint rows of the joints of a mechanism, evaluated at the present poses of its bodies.

use super::rattle::Node;
use crate::joint::{Effect, JointFrame, JointState, Locks, Rows};
use crate::world::{JointId, World};
use glam::DVec3;
use rattleback_geometry::Pose;

/// One constraint row: ġ = d·(v_B − v_A) + b·ω_B − a·ω_A.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointRow {
    /// Bodies A and B; `None` for immovable ones.
    pub nodes: [Option<u32>; 2],
    /// d, and (a, b).
    pub linear: DVec3,
    pub angular: [DVec3; 2],
    /// g, m or rad.
    pub error: f64,
    /// Impulse of its joint: 0–2 along axes, 3–5 about axes, from 6 on a further row.
    pub key: u8,
    /// Index of its joint in the mechanism.
    pub link: u32,
    /// Magnitude of the numbers whose difference is g, m, which determines its rounding error.
    size: f64,
}

impl JointRow {
    pub fn rate(&self, nodes: &[Node]) -> f64 {
        let mut rate = 0.0;
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            if let Some(node) = self.nodes[side] {
                let motion = &nodes[node as usize].motion;
                rate += sign * (self.linear.dot(motion.v) + self.angular[side].dot(motion.omega));
            }
        }
        rate
    }

    /// An error relative to the magnitude of the numbers it is the difference of.
    pub fn scaled(&self, error: f64) -> f64 {
        error / self.size.max(1.0)
    }

    /// M⁻¹ times the row, for both bodies.
    pub fn felt(&self, nodes: &[Node]) -> [[DVec3; 2]; 2] {
        [0, 1].map(|side| match self.nodes[side] {
            None => [DVec3::ZERO; 2],
            Some(node) => {
                let Node { motion, inertia, .. } = &nodes[node as usize];
                [self.linear * inertia.inverse_mass, inertia.angular_velocity(motion.q, self.angular[side])]
            }
        })
    }

    /// Entry of J M⁻¹ Jᵀ, with M⁻¹ times this row.
    pub fn product(&self, felt: &[[DVec3; 2]; 2], other: &Self) -> f64 {
        let mut sum = 0.0;
        for (side, [linear, angular]) in felt.iter().enumerate() {
            if self.nodes[side].is_none() {
                continue;
            }
            for far in 0..2 {
                if self.nodes[side] == other.nodes[far] {
                    let sign = if side == far { 1.0 } else { -1.0 };
                    sum += sign * (linear.dot(other.linear) + angular.dot(other.angular[far]));
                }
            }
        }
        sum
    }
}

/// One side of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    /// On a body, in its principal frame.
    On(u32, Pose),
    Still(JointFrame),
}

impl Side {
    fn frame(&self, nodes: &[Node]) -> JointFrame {
        match self {
            Self::On(node, place) => JointFrame::on(&nodes[*node as usize].motion, place),
            Self::Still(frame) => *frame,
        }
    }

    const fn node(&self) -> Option<u32> {
        match self {
            Self::On(node, _) => Some(*node),
            Self::Still(_) => None,
        }
    }
}

/// A joint of a mechanism in the present step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub sides: [Side; 2],
    pub locks: Locks,
    /// Length of a rod between the anchors, m.
    pub rod: Option<f64>,
}

/// All joints of a mechanism.
#[derive(Debug, Default)]
pub(super) struct Linkage {
    pub links: Vec<Link>,
}

impl Linkage {
    /// Writes the rows of all joints, in order.
    pub fn rows(&self, nodes: &[Node], out: &mut Vec<JointRow>) {
        out.clear();
        for (index, link) in self.links.iter().enumerate() {
            link.rows(index as u32, nodes, out);
        }
    }
}

impl Link {
    fn rows(&self, link: u32, nodes: &[Node], out: &mut Vec<JointRow>) {
        let [a, b] = [0, 1].map(|side| self.sides[side].frame(nodes));
        let sides = [0, 1].map(|side| self.sides[side].node());
        let size = a.origin.abs().max(b.origin.abs()).max_element();
        let mut push = |key: u8, linear: DVec3, angular: [DVec3; 2], error: f64| {
            let size = if (3..6).contains(&key) { 1.0 } else { size };
            out.push(JointRow { nodes: sides, linear, angular, error, key, link, size });
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
        } else if locks.has(Locks::ACROSS) {
            let (z, x) = (axes_a.z_axis, axes_b.x_axis);
            push(3, DVec3::ZERO, [x.cross(z); 2], z.dot(x));
        }
    }
}

/// Further rows of a joint besides its locked axes, at present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Besides {
    Nothing,
    /// A rod of this length, m.
    Rod(f64),
    /// A limit is near.
    Limit,
    /// Springs, motors, friction or couplings.
    More,
}

/// (joint, its frames) ⇒ further rows besides its locked axes.
pub(super) fn besides(world: &World, id: JointId, state: &JointState, scratch: &mut Rows) -> Besides {
    let Ok(record) = world.joint(id) else { return Besides::More };
    let joint = record.kind();
    if !joint.has_rows() {
        return Besides::Nothing;
    }
    scratch.clear();
    joint.rows(state, scratch);
    match scratch.as_slice() {
        [] => Besides::Nothing,
        [row] if row.effect == Effect::Hold && joint.type_name() == "distance" => {
            Besides::Rod(state.offset().length() - row.error)
        }
        rows if rows.iter().all(|row| row.effect == Effect::Limit) => Besides::Limit,
        _ => Besides::More,
    }
}
