//! Joints as constraint rows: position error C, rate Ċ = J v, and the bias J̇ v of the acceleration equation.
//!
//! A row is a function C of two poses with Ċ = d·(v_B − v_A) + b·ω_B − a·ω_A (see [`crate::joint`]) and C̈ = J
//! v̇ + J̇ v. For a lock along an axis a of A, C = a·(p_B − p_A), with s = p_B − p_A and arms r,
//!
//!   J̇ v = (ω_A × (ω_A × a))·s + 2 (ω_A × a)·ṡ + a·(ω_B × (ω_B × r_B) − ω_A × (ω_A × r_A)).
//!
//! For a locked rotation, an axis a of A stays perpendicular to an axis b of B: C = a·b, J = (b × a) on ω_B −
//! ω_A, and
//!
//!   J̇ v = (ω_B − ω_A)·((ω_B × b) × a + b × (ω_A × a)).
//!
//! For rows that a joint defines itself (limits, motors, springs, ratios), J̇ v is the central difference of Ċ
//! along uniform motion.

use super::tuning::ROW_PROBE;
use crate::collision::{MirrorJoint, WorldMirror};
use crate::joint::{Effect, JointFrame, JointRecord, JointState, Row, Rows};
use crate::rigid::Motion;
use crate::world::World;
use glam::{DQuat, DVec3};

/// First key of the rows of locked directions; the keys of other rows are smaller.
const FIRST_LOCK_KEY: u8 = 128;

/// A row evaluated at one state.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct ConstraintRow {
    /// Index of the joint in the mirror.
    pub joint: usize,
    pub row: Row,
    /// Ċ minus the target speed of a motor, m/s or rad/s.
    pub rate: f64,
    /// J̇ v minus the rate of that speed, m/s² or rad/s²; zero if not requested.
    pub bias: f64,
    /// Reference point of force and torque of the joint, m.
    pub anchor: DVec3,
}

impl ConstraintRow {
    /// Whether it is a locked direction, held at zero without a force limit.
    pub fn is_locked(&self) -> bool {
        matches!(self.row.effect, Effect::Lock)
    }

    /// J of one side: the factors of v and ω of A (0) or B (1).
    pub fn side(&self, side: usize) -> [DVec3; 2] {
        if side == 0 {
            [-self.row.linear, -self.row.angular[0]]
        } else {
            [self.row.linear, self.row.angular[1]]
        }
    }

    /// Force and torque about the anchor on B, per unit of the row's multiplier.
    pub fn wrench(&self, motion: &[Motion], mirror: &WorldMirror) -> [DVec3; 2] {
        let joint = &mirror.joints[self.joint];
        let (sign, body) = match joint.bodies {
            [_, Some(b)] => (1.0, Some(b)),
            [a, None] => (-1.0, a),
        };
        let [force, torque] = if sign > 0.0 { self.side(1) } else { self.side(0).map(|vector| -vector) };
        let center = body.map_or(self.anchor, |body| motion[body as usize].x);
        [force, torque - (self.anchor - center).cross(force)]
    }
}

/// Time and step length for which rows are evaluated, s.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct RowContext {
    pub time: f64,
    pub dt: f64,
    /// Whether to compute J̇ v.
    pub bias: bool,
}

impl MirrorJoint {
    fn frames(&self, motion: &[Motion]) -> [JointFrame; 2] {
        [0, 1].map(|side| match self.bodies[side] {
            Some(body) => JointFrame::on(&motion[body as usize], &self.frames[side]),
            None => JointFrame::fixed(&self.frames[side]),
        })
    }

    /// Appends the rows of the joint at these states.
    pub(super) fn evaluate_rows(
        &self,
        joint: usize,
        world: &World,
        motion: &[Motion],
        context: RowContext,
        evaluated: &mut Vec<ConstraintRow>,
    ) {
        let frames = self.frames(motion);
        self.add_locks(joint, &frames, context.bias, evaluated);
        if !self.has_rows {
            return;
        }
        let Ok(record) = world.joint(self.id) else { return };
        let mut rows = Rows::default();
        let state = state_of(record, frames, context.time, context.dt);
        record.kind().rows(&state, &mut rows);
        let first = evaluated.len();
        for row in rows.as_slice() {
            let rate = state.rate(row) - speed(row);
            evaluated.push(ConstraintRow { joint, row: *row, rate, bias: 0.0, anchor: frames[1].origin });
        }
        if context.bias && evaluated.len() > first {
            add_bias(record, &frames, context, &mut evaluated[first..]);
        }
    }

    fn add_locks(
        &self,
        joint: usize,
        frames: &[JointFrame; 2],
        bias: bool,
        evaluated: &mut Vec<ConstraintRow>,
    ) {
        let state = JointState { time: 0.0, dt: 0.0, frames: *frames, turned: [0.0; 3] };
        let [a, b] = frames.map(|frame| frame.axes());
        let bits = self.locks.bits();
        let mut push = |row: Row, bias: f64| {
            evaluated.push(ConstraintRow {
                joint,
                row,
                rate: state.rate(&row),
                bias,
                anchor: frames[1].origin,
            });
        };
        for k in 0..3 {
            if bits & (1 << k) != 0 {
                let axis = a.col(k);
                let row = state.along(FIRST_LOCK_KEY + k as u8, axis, axis.dot(state.offset()));
                push(row, if bias { bias_along(frames, axis) } else { 0.0 });
            }
        }
        // (bit, axis of A, axis of B, sign): rotations about x, y and z, and z of A perpendicular to x of B.
        let across = [
            (3, a.y_axis, b.z_axis, -1.0),
            (4, a.x_axis, b.z_axis, 1.0),
            (5, a.y_axis, b.x_axis, 1.0),
            (6, a.z_axis, b.x_axis, 1.0),
        ];
        for (bit, on_a, on_b, sign) in across {
            if bits & (1 << bit) != 0 {
                let row = state.about(FIRST_LOCK_KEY + bit, sign * on_b.cross(on_a), sign * on_a.dot(on_b));
                push(row, if bias { sign * bias_across(frames, on_a, on_b) } else { 0.0 });
            }
        }
    }
}

/// Target speed of a motor; 0 for any other row.
fn speed(row: &Row) -> f64 {
    if let Effect::Motor { speed, .. } = row.effect { speed } else { 0.0 }
}

/// J̇ v of a lock along an axis of A.
fn bias_along([a, b]: &[JointFrame; 2], axis: DVec3) -> f64 {
    let arms = [a.origin - a.center, b.origin - b.center];
    let turning = a.omega.cross(axis);
    let apart = b.origin - a.origin;
    let parting = b.velocity + b.omega.cross(arms[1]) - a.velocity - a.omega.cross(arms[0]);
    let inward = b.omega.cross(b.omega.cross(arms[1])) - a.omega.cross(a.omega.cross(arms[0]));
    a.omega.cross(turning).dot(apart) + 2.0 * turning.dot(parting) + axis.dot(inward)
}

/// J̇ v of a locked rotation.
fn bias_across([a, b]: &[JointFrame; 2], on_a: DVec3, on_b: DVec3) -> f64 {
    let change = b.omega.cross(on_b).cross(on_a) + on_b.cross(a.omega.cross(on_a));
    (b.omega - a.omega).dot(change)
}

fn state_of(record: &JointRecord, frames: [JointFrame; 2], time: f64, dt: f64) -> JointState {
    let turned = record.turned_at(frames.map(|frame| frame.rotation));
    JointState { time, dt, frames, turned }
}

/// Adds J̇ v to rows that the joint defines, as the central difference of their rates.
fn add_bias(
    record: &JointRecord,
    frames: &[JointFrame; 2],
    context: RowContext,
    evaluated: &mut [ConstraintRow],
) {
    let fastest = frames.iter().map(|frame| frame.omega.length()).fold(0.0, f64::max);
    let s = ROW_PROBE / (1.0 + fastest);
    for (when, sign) in [(s, 1.0), (-s, -1.0)] {
        let mut rows = Rows::default();
        let state =
            state_of(record, frames.map(|frame| moved(&frame, when)), context.time + when, context.dt);
        record.kind().rows(&state, &mut rows);
        for known in evaluated.iter_mut() {
            let same = |row: &&Row| {
                let kind = std::mem::discriminant(&row.effect) == std::mem::discriminant(&known.row.effect);
                row.key == known.row.key && kind
            };
            // A row that is absent at the displaced state counts as constant.
            let rate =
                rows.as_slice().iter().find(same).map_or(known.rate, |row| state.rate(row) - speed(row));
            known.bias += sign * rate / (2.0 * s);
        }
    }
}

/// A frame after a time of uniform motion.
fn moved(frame: &JointFrame, time: f64) -> JointFrame {
    let turn = DQuat::from_scaled_axis(time * frame.omega);
    let center = frame.center + time * frame.velocity;
    JointFrame {
        origin: center + turn * (frame.origin - frame.center),
        rotation: turn * frame.rotation,
        center,
        ..*frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::joint::{Cylindrical, Fixed, Joint, JointFrames, Prismatic, Revolute, Spherical, Universal};
    use crate::world::Body;
    use rattleback_geometry::Shape;

    /// A world with one joint between two bodies, and states that violate it in position and velocity.
    fn moving_pair(joint: Box<dyn Joint>) -> (World, MirrorJoint, [Motion; 2]) {
        let mut world = World::weightless();
        let shape = Shape::cuboid(DVec3::new(0.3, 0.2, 0.1)).unwrap();
        let a = world.add_body(Body::dynamic().at(-0.5, 0.1, 0.0).with_shape(shape.clone())).unwrap();
        let b = world.add_body(Body::dynamic().at(0.5, 0.0, 0.2).with_shape(shape)).unwrap();
        let id = world
            .add_boxed_joint(JointFrames::between(a, b).along(DVec3::new(1.0, 2.0, -1.0)), joint)
            .unwrap();
        world.follow_joints();
        let record = world.joint(id).unwrap();
        let (locks, has_rows) = (record.kind().locks(), record.kind().has_rows());
        let joint = MirrorJoint { id, bodies: [Some(0), Some(1)], frames: record.frames, locks, has_rows };
        let moving = |id, v: [f64; 3], omega: [f64; 3]| {
            let motion = *world.body(id).unwrap().motion();
            let q = DQuat::from_scaled_axis(DVec3::from_array(v) * 0.2) * motion.q;
            Motion { q, v: v.into(), omega: omega.into(), ..motion }
        };
        let motions =
            [moving(a, [0.3, -0.2, 0.5], [1.0, 0.7, -0.4]), moving(b, [-0.6, 0.1, 0.2], [-0.5, 1.1, 0.8])];
        (world, joint, motions)
    }

    /// J-1, J-7: every joint has its number of rows, and their rates and biases are the derivatives of C
    /// along uniform motion. (Gears count turns about axes held by other joints; in free rotation they have
    /// no such C.)
    #[test]
    fn rates_and_biases_are_the_derivatives_of_c() {
        let joints: [(Box<dyn Joint>, usize); 6] = [
            (Box::new(Spherical::default()), 3),
            (Box::new(Universal::default()), 4),
            (Box::new(Revolute::default()), 5),
            (Box::new(Cylindrical::default()), 4),
            (Box::new(Prismatic::default()), 5),
            (Box::new(Fixed::default()), 6),
        ];
        for (joint, count) in joints {
            let name = joint.type_name();
            let (world, joint, motions) = moving_pair(joint);
            let at = |time: f64| {
                let motions = motions.map(|motion| {
                    let turn = DQuat::from_scaled_axis(time * motion.omega);
                    Motion { x: motion.x + time * motion.v, q: turn * motion.q, ..motion }
                });
                let mut evaluated = Vec::new();
                joint.evaluate_rows(
                    0,
                    &world,
                    &motions,
                    RowContext { time, dt: 0.01, bias: true },
                    &mut evaluated,
                );
                evaluated
            };
            let h = 1e-4;
            let [before, now, after] = [-h, 0.0, h].map(at);
            assert_eq!(now.len(), count, "{name}");
            for k in 0..count {
                let rate = (after[k].row.error - before[k].row.error) / (2.0 * h);
                let change = (after[k].rate - before[k].rate) / (2.0 * h);
                assert!((rate - now[k].rate).abs() < 1e-7, "{name} {k}: {rate} {}", now[k].rate);
                assert!((change - now[k].bias).abs() < 1e-6, "{name} {k}: {change} {}", now[k].bias);
            }
        }
    }

    /// MJ-1: eight bodies, eight ball joints, a tail of two on a loop of six: the translational coupling of
    /// joints that share a body has the sign given by Coutinho, and other joints are not coupled.
    #[test]
    fn couplings_in_the_loop_of_eight_have_their_signs() {
        let mut world = World::weightless();
        let shape = Shape::cuboid(DVec3::new(0.3, 0.2, 0.1)).unwrap();
        let ids: Vec<_> = (0..8)
            .map(|k| {
                world.add_body(Body::dynamic().at(f64::from(k), 0.0, 0.0).with_shape(shape.clone())).unwrap()
            })
            .collect();
        let joints = [[1, 2], [2, 3], [3, 4], [4, 5], [6, 5], [6, 7], [8, 7], [8, 3]];
        for [a, b] in joints {
            world.add_joint(JointFrames::between(ids[a - 1], ids[b - 1]), Spherical::default()).unwrap();
        }
        world.follow_joints();
        let mut mirror = WorldMirror::new(rattleback_geometry::space::SpaceKind::default());
        mirror.sync(&world).unwrap();
        let motion: Vec<Motion> = ids.iter().map(|id| *world.body(*id).unwrap().motion()).collect();
        let rows: Vec<Vec<ConstraintRow>> = (0..8)
            .map(|joint| {
                let mut evaluated = Vec::new();
                let context = RowContext { time: 0.0, dt: 0.01, bias: false };
                mirror.joints[joint].evaluate_rows(joint, &world, &motion, context, &mut evaluated);
                evaluated
            })
            .collect();
        let coupling = |one: usize, other: usize| -> f64 {
            let mut sum = 0.0;
            for (side, body) in mirror.joints[one].bodies.into_iter().enumerate() {
                for (opposite, shared) in mirror.joints[other].bodies.into_iter().enumerate() {
                    if body == shared {
                        sum += (0..3)
                            .map(|k| rows[one][k].side(side)[0].dot(rows[other][k].side(opposite)[0]))
                            .sum::<f64>();
                    }
                }
            }
            sum / 3.0
        };
        let expected = [
            (1, 2, -1.0),
            (2, 3, -1.0),
            (2, 8, 1.0),
            (3, 4, -1.0),
            (3, 8, -1.0),
            (4, 5, 1.0),
            (5, 6, 1.0),
            (6, 7, 1.0),
            (7, 8, 1.0),
        ];
        for one in 1..=8 {
            for other in one + 1..=8 {
                let known =
                    expected.iter().find(|(a, b, _)| (*a, *b) == (one, other)).map_or(0.0, |known| known.2);
                let (found, mirrored) = (coupling(one - 1, other - 1), coupling(other - 1, one - 1));
                assert!((found - known).abs() < 1e-12 && found == mirrored, "{one} {other}: {found}");
            }
        }
    }
}
