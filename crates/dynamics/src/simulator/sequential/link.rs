//! Joints as discrepancies: one pair of points for a ball joint, two on the axis for a hinge, three for a rigid joint; limits,
//! springs and motors as single rows.

use super::discrepancy::{Mass, both, k_matrix};
use crate::joint::{Effect, JointFrame, JointRecord, JointState, Locks, Row, Rows};
use crate::world::JointId;
use glam::DVec3;
use rattleback_geometry::Pose;

/// A row that is no pair of points, with its impulse so far.
#[derive(Clone, Copy, Debug)]
struct Line {
    row: Row,
    impulse: f64,
}

/// A joint while it is solved.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub id: JointId,
    pub bodies: [usize; 2],
    /// Points of both bodies, in their principal frames.
    anchors: Vec<[DVec3; 2]>,
    lines: Vec<Line>,
    /// Sum of the impulses at the anchors.
    pub impulse: DVec3,
}

/// Points of a frame that have to coincide with those of the other: origin, along z, along x.
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

impl Link {
    /// (joint, its bodies by place, how far anchors stand apart) ⇒ its discrepancies; nothing if it locks what points cannot.
    pub fn new(id: JointId, record: &JointRecord, bodies: [usize; 2], arm: f64) -> Option<Self> {
        let anchors = points(record.kind().locks(), arm)?
            .into_iter()
            .map(|point| record.frames.map(|frame: Pose| frame.point(point)))
            .collect();
        Some(Self { id, bodies, anchors, lines: Vec::new(), impulse: DVec3::ZERO })
    }

    /// Largest distance of two points that should coincide.
    pub fn drift(&self, masses: &[Mass]) -> f64 {
        let [a, b] = self.bodies.map(|body| masses[body].motion.pose());
        let gap = |anchor: &[DVec3; 2]| a.point(anchor[0]).distance(b.point(anchor[1]));
        self.anchors.iter().map(gap).fold(0.0, f64::max)
    }

    /// Asks the joint for its rows in the present state.
    pub fn read_rows(&mut self, record: &JointRecord, masses: &[Mass], time: f64, h: f64) {
        self.lines.clear();
        if !record.kind().has_rows() {
            return;
        }
        let frame = |k: usize| JointFrame::on(&masses[self.bodies[k]].motion, &record.frames[k]);
        let state = JointState { time, dt: h, frames: [frame(0), frame(1)], turned: record.turned };
        let mut rows = Rows::default();
        record.kind().rows(&state, &mut rows);
        self.lines.extend(rows.as_slice().iter().map(|row| Line { row: *row, impulse: 0.0 }));
    }

    /// One iteration over the velocities.
    pub fn solve(&mut self, masses: &mut [Mass], f: f64, h: f64) {
        let Some((one, other)) = both(masses, self.bodies) else { return };
        for line in &mut self.lines {
            line.solve(one, other, f, h);
        }
        for anchor in &self.anchors {
            let ends = [one.motion.pose().point(anchor[0]), other.motion.pose().point(anchor[1])];
            let velocity = other.velocity_at(ends[1]) - one.velocity_at(ends[0]);
            let k = k_matrix(one, other, ends);
            if k.determinant() > 0.0 {
                let impulse = k.inverse() * (velocity * -f);
                self.impulse += impulse;
                one.push(-impulse, ends[0], DVec3::ZERO);
                other.push(impulse, ends[1], DVec3::ZERO);
            }
        }
    }

    /// One iteration over the positions.
    pub fn mend(&self, masses: &mut [Mass], f: f64) {
        let Some((one, other)) = both(masses, self.bodies) else { return };
        for anchor in &self.anchors {
            let ends = [one.motion.pose().point(anchor[0]), other.motion.pose().point(anchor[1])];
            let k = k_matrix(one, other, ends);
            if k.determinant() > 0.0 {
                let shift = k.inverse() * ((ends[1] - ends[0]) * -f);
                one.shift(-shift, ends[0], DVec3::ZERO);
                other.shift(shift, ends[1], DVec3::ZERO);
            }
        }
    }
}

impl Line {
    fn solve(&mut self, one: &mut Mass, other: &mut Mass, f: f64, h: f64) {
        let Row { linear: d, angular: [a, b], error, effect, .. } = self.row;
        let [x1, x2] = [one.motion.x, other.motion.x];
        let response = |mass: &Mass, turning: DVec3| {
            let mut pushed = *mass;
            pushed.push(d, mass.motion.x, turning);
            d.dot(pushed.motion.v - mass.motion.v) + turning.dot(pushed.motion.omega - mass.motion.omega)
        };
        let k = response(one, a) + response(other, b);
        if !(k > 0.0 && k.is_finite() && error.is_finite()) {
            return;
        }
        let rate = d.dot(other.motion.v - one.motion.v) + b.dot(other.motion.omega) - a.dot(one.motion.omega);
        let (change, least, most) = match effect {
            Effect::Hold => (-f * (rate + error / h) / k, f64::MIN, f64::MAX),
            // Open limits may be closed within the step; beyond, they are pushed back.
            Effect::Limit => (-f * (rate + error / h) / k, 0.0, f64::MAX),
            Effect::Drive { speed, most } => (f * (speed - rate) / k, -most * h, most * h),
            Effect::Spring { frequency, damping_ratio, most } => {
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
        one.push(d * -change, x1, a * -change);
        other.push(d * change, x2, b * change);
    }
}
