//! Joints in the sequential solver: pairs of anchor points that should coincide, one for a ball joint, two on
//! the axis of a hinge, three for a rigid joint; limits, springs and motors as scalar rows.
//!
//! A spring row is the implicit soft constraint of frequency ω and damping ratio ζ: with s = h ω (2 ζ + h ω),
//! its impulse over a step h is λ = −s (Ċ + C ω/(2 ζ + h ω))/K at the velocities after the step.

use super::solver_body::{SequentialBody, pair_mut};
use crate::joint::{Effect, JointFrame, JointRecord, JointState, Locks, Row, Rows};
use crate::solver::{ImpulseResponse, relative_inverse_mass};
use crate::world::JointId;
use glam::DVec3;
use rattleback_geometry::Pose;

/// A scalar row with its accumulated impulse.
#[derive(Clone, Copy, Debug)]
struct ScalarRow {
    row: Row,
    impulse: f64,
}

/// A joint as pairs of anchor points and scalar rows.
#[derive(Clone, Debug)]
pub(super) struct AnchorJoint {
    pub id: JointId,
    /// Indices of the bodies.
    pub bodies: [usize; 2],
    /// Anchor points in the principal frames of both bodies.
    anchors: Vec<[DVec3; 2]>,
    rows: Vec<ScalarRow>,
    /// Sum of the impulses at the anchors, N s.
    pub impulse: DVec3,
}

/// (locks, distance of the anchors from the origin, m) ⇒ anchor points in the joint frame; `None` for locks
/// that points cannot express.
fn points(locks: Locks, arm: f64) -> Option<Vec<DVec3>> {
    let at = |list: &[DVec3]| Some(list.iter().map(|point| *point * arm).collect());
    match locks {
        Locks::POINT => at(&[DVec3::ZERO]),
        locks if locks == Locks::POINT.and(Locks::ROTATION) => {
            at(&[DVec3::Z, DVec3::X, -DVec3::X - DVec3::Z])
        }
        locks if locks == Locks::POINT.and(Locks::PARALLEL) => at(&[DVec3::Z, -DVec3::Z]),
        Locks::NONE => at(&[]),
        _ => None,
    }
}

impl AnchorJoint {
    /// (joint, indices of its bodies, distance of the anchors from the origin, m) ⇒ its constraints; `None`
    /// for locks that points cannot express.
    pub fn new(id: JointId, record: &JointRecord, bodies: [usize; 2], arm: f64) -> Option<Self> {
        let anchors = points(record.kind().locks(), arm)?
            .into_iter()
            .map(|point| record.frames.map(|frame: Pose| frame.point(point)))
            .collect();
        Some(Self { id, bodies, anchors, rows: Vec::new(), impulse: DVec3::ZERO })
    }

    /// Largest distance of two anchors that should coincide, m.
    pub fn drift(&self, bodies: &[SequentialBody]) -> f64 {
        let [a, b] = self.bodies.map(|body| bodies[body].motion.pose());
        let gap = |anchor: &[DVec3; 2]| a.point(anchor[0]).distance(b.point(anchor[1]));
        self.anchors.iter().map(gap).fold(0.0, f64::max)
    }

    /// Evaluates the scalar rows at the present state.
    pub fn evaluate_rows(&mut self, record: &JointRecord, bodies: &[SequentialBody], time: f64, h: f64) {
        self.rows.clear();
        if !record.kind().has_rows() {
            return;
        }
        let frame = |k: usize| JointFrame::on(&bodies[self.bodies[k]].motion, &record.frames[k]);
        let state = JointState { time, dt: h, frames: [frame(0), frame(1)], turned: record.turned };
        let mut rows = Rows::default();
        record.kind().rows(&state, &mut rows);
        self.rows.extend(rows.as_slice().iter().map(|row| ScalarRow { row: *row, impulse: 0.0 }));
    }

    /// One velocity iteration that removes the fraction f of the error.
    pub fn solve(&mut self, bodies: &mut [SequentialBody], f: f64, h: f64) {
        let Some((one, other)) = pair_mut(bodies, self.bodies) else { return };
        for row in &mut self.rows {
            row.solve(one, other, f, h);
        }
        for anchor in &self.anchors {
            let ends = [one.motion.pose().point(anchor[0]), other.motion.pose().point(anchor[1])];
            let velocity = other.velocity_at(ends[1]) - one.velocity_at(ends[0]);
            let k = relative_inverse_mass(one, other, ends);
            if k.determinant() > 0.0 {
                let impulse = k.inverse() * (velocity * -f);
                self.impulse += impulse;
                one.apply_impulse(ends[0], -impulse);
                other.apply_impulse(ends[1], impulse);
            }
        }
    }

    /// One position iteration that removes the fraction f of the error.
    pub fn correct_position(&self, bodies: &mut [SequentialBody], f: f64) {
        let Some((one, other)) = pair_mut(bodies, self.bodies) else { return };
        for anchor in &self.anchors {
            let ends = [one.motion.pose().point(anchor[0]), other.motion.pose().point(anchor[1])];
            let k = relative_inverse_mass(one, other, ends);
            if k.determinant() > 0.0 {
                let shift = k.inverse() * ((ends[1] - ends[0]) * -f);
                one.apply_displacement(-shift, ends[0], DVec3::ZERO);
                other.apply_displacement(shift, ends[1], DVec3::ZERO);
            }
        }
    }
}

impl ScalarRow {
    fn solve(&mut self, one: &mut SequentialBody, other: &mut SequentialBody, f: f64, h: f64) {
        let Row { linear: d, angular: [a, b], error, effect, .. } = self.row;
        let [x1, x2] = [one.motion.x, other.motion.x];
        let response = |body: &SequentialBody, turning: DVec3| {
            let mut pushed = *body;
            pushed.apply_wrench_impulse(d, body.motion.x, turning);
            d.dot(pushed.motion.v - body.motion.v) + turning.dot(pushed.motion.omega - body.motion.omega)
        };
        let k = response(one, a) + response(other, b);
        if !(k > 0.0 && k.is_finite() && error.is_finite()) {
            return;
        }
        let rate = d.dot(other.motion.v - one.motion.v) + b.dot(other.motion.omega) - a.dot(one.motion.omega);
        let (change, least, most) = match effect {
            Effect::Lock => (-f * (rate + error / h) / k, f64::MIN, f64::MAX),
            // A limit may be reached within the step; beyond it the error is removed.
            Effect::Limit => (-f * (rate + error / h) / k, 0.0, f64::MAX),
            Effect::Motor { speed, max_force: most } => (f * (speed - rate) / k, -most * h, most * h),
            Effect::Spring { frequency, damping_ratio, max_force: most } => {
                let omega = std::f64::consts::TAU * frequency;
                let stiff = h * omega * (2.0 * damping_ratio + h * omega);
                let pull = rate + error * omega / (2.0 * damping_ratio + h * omega);
                let change = -(stiff * pull / k + self.impulse) / (1.0 + stiff);
                (f * change, -most * h, most * h)
            }
        };
        let impulse = (self.impulse + change).clamp(least, most);
        let change = impulse - self.impulse;
        self.impulse = impulse;
        one.apply_wrench_impulse(d * -change, x1, a * -change);
        other.apply_wrench_impulse(d * change, x2, b * change);
    }
}
