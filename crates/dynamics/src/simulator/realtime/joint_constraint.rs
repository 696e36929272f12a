//! Joint constraints: eight joints side by side, and the impulses kept from step to step for warm starting.
//!
//! For locked axes the position error C is the offset of the anchors x_B + r_B − x_A − r_A, or the rotation
//! between the frames; Ċ = J v with J = (−1, [r_A]×, 1, −[r_B]×) for the anchors, and K = J M⁻¹ Jᵀ is
//! inverted per joint (see `joint_kernel`).
//!
//! Unlike contact rows, these rows follow the bodies from sub-step to sub-step: with θ the rotation since the
//! beginning of the step, an arm is exp(θ) r, so that fast chains do not stretch. The displacement of the
//! anchors in a sub-step h follows from the arms at its middle, exp(θ + ½hω) r, since exp(hω) r − r is h ω ×
//! that to third order; impulses act on the arms at its beginning and, in the relaxation after the drift, at
//! its end. This is the structure of RATTLE (Andersen 1983): it is symmetric in time, so that a pendulum
//! neither gains nor loses energy in the mean.

use super::lanes::{F32x8, LANES};
use super::sim_bodies::{Activity, NONE, SimBodies};
use super::softness::Softness;
use super::tuning::MAX_KEYED_ROWS;
use crate::joint::{Effect, JointFrame, JointState, Locks, Rows};
use crate::rigid::{Inertia, Motion};
use crate::world::{Handle, JointId, Status, World};
use glam::{DMat3, DQuat, DVec3, Vec3};
use rattleback_geometry::Pose;

/// One joint of the world, with its accumulated impulses.
#[derive(Clone, Debug)]
pub(super) struct JointConstraint {
    pub id: JointId,
    /// Slots of the bodies, or [`NONE`] for the world.
    pub bodies: [u32; 2],
    pub locks: Locks,
    has_rows: bool,
    pub driven: bool,
    breakable: bool,
    /// Joint frames in the principal frames of the bodies.
    frames: [Pose; 2],
    /// Impulses of a sub-step of the default length: of the locked axes, N·s and N·m·s, and of further rows by
    /// their key.
    pub linear: Vec3,
    pub angular: Vec3,
    pub rows: Option<Box<[f32; MAX_KEYED_ROWS]>>,
}

/// One side of a joint at the beginning of a step.
pub(super) struct JointSide<'w> {
    /// Point from which arms are measured.
    pub origin: DVec3,
    /// Orientation of its principal axes; identity if the side cannot rotate.
    pub rotation: DQuat,
    /// Anchor in principal axes, m; zero if the side cannot rotate.
    pub arm: DVec3,
    /// Joint frame in principal axes, or in world axes if the side cannot rotate.
    pub axes: DMat3,
    movable: Option<(&'w Motion, &'w Inertia)>,
}

impl JointSide<'_> {
    /// A side on a static body or the world.
    const fn immovable(origin: DVec3, axes: DMat3) -> Self {
        Self { origin, rotation: DQuat::IDENTITY, arm: DVec3::ZERO, axes, movable: None }
    }
}

/// Eight joints of one colour with the same locked axes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct JointBlock {
    pub a: [u32; LANES],
    pub b: [u32; LANES],
    /// Arms in principal axes, after `prepare` in world axes at the beginning of the step.
    pub arm: [[F32x8; 3]; 2],
    /// x_B − x_A, m.
    pub offset: [F32x8; 3],
    /// Columns of R diag(1/√I): angular velocity in the world = Σ spin_k y_k.
    pub spin: [[[F32x8; 3]; 3]; 2],
    pub inverse_sqrt_mass: [F32x8; 2],
    /// Inverse of the 3×3 matrix K of the anchors in the present sub-step.
    pub inverse: [F32x8; 6],
    pub linear: [F32x8; 3],
    pub angular: [F32x8; 3],
    /// Locked axes, the same in all lanes.
    pub locks: Locks,
    /// 1 in lanes that hold a joint.
    pub present: F32x8,
    /// Index of its axes, and range of its rows.
    pub axes: u32,
    pub first_row: u32,
    pub rows: u32,
    pub first_edge: u32,
    pub edge_count: u32,
    /// Whether a side is kinematic.
    pub has_kinematic: bool,
}

/// Axes of both joint frames of eight joints; like the arms, first in principal and then in world axes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct JointBlockAxes {
    pub axes: [[[F32x8; 3]; 3]; 2],
}

/// One further row (limit, spring, motor, friction, coupling) of eight joints; constant over a step.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct JointBlockRow {
    pub linear: [F32x8; 3],
    /// diag(1/√I) Rᵀ times the angular parts, A's with its sign.
    pub a: [F32x8; 3],
    pub b: [F32x8; 3],
    pub gap: F32x8,
    pub mass: F32x8,
    pub impulse: F32x8,
    pub min_impulse: F32x8,
    pub max_impulse: F32x8,
    /// Coefficients of the soft constraint, and the target speed.
    pub bias_rate: F32x8,
    pub mass_scale: F32x8,
    pub impulse_scale: F32x8,
    pub target_speed: F32x8,
    /// Contribution of kinematic bodies to Ċ.
    pub kinematic_rate: F32x8,
    /// 1 for limits, which are inactive while the gap is open.
    pub one_sided: F32x8,
    /// 1 for springs and motors, which act in every sweep.
    pub acts_in_relax: F32x8,
    pub keys: [u8; LANES],
}

/// One further row (limit, spring, motor, friction, coupling) of a joint in solver coordinates; constant over a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointRow {
    pub key: u8,
    /// d in the world.
    pub linear: DVec3,
    /// a and b in the world, and diag(1/√I) Rᵀ times them, A's with its sign.
    pub world_angular: [DVec3; 2],
    pub angular: [DVec3; 2],
    /// J M⁻¹ Jᵀ of the row alone.
    pub inverse_mass: f64,
    pub gap: f64,
    /// Contribution of kinematic bodies to Ċ.
    pub kinematic_rate: f64,
    pub target_speed: f64,
    /// Impulse to start from, and its range.
    pub impulse: f32,
    pub range: [f32; 2],
    pub softness: Softness,
    /// Whether it is a limit, inactive while the gap is open.
    pub one_sided: bool,
    /// Whether it is a spring or motor, which acts in every sweep.
    pub acts_in_relax: bool,
}

/// All joints of the world, sorted by id.
#[derive(Debug, Default)]
pub(super) struct JointConstraints {
    pub all: Vec<JointConstraint>,
    pub revision: Option<u64>,
}

impl JointConstraints {
    /// Synchronises with the joints of the world ⇒ whether anything changed; joints that remain keep their
    /// impulses.
    pub fn sync(&mut self, world: &World) -> bool {
        if self.revision == Some(world.joints().revision) {
            return false;
        }
        self.revision = Some(world.joints().revision);
        let mut old = std::mem::take(&mut self.all).into_iter().peekable();
        for (id, record) in world.iter_joints() {
            while old.next_if(|joint| joint.id < id).is_some() {}
            let kept = old.next_if(|joint| joint.id == id);
            let kind = record.kind();
            let bodies = record.bodies.map(|body| body.map_or(NONE, Handle::slot));
            let mut joint = kept.unwrap_or_else(|| JointConstraint {
                id,
                bodies,
                locks: kind.locks(),
                has_rows: false,
                driven: false,
                breakable: false,
                frames: record.frames,
                linear: Vec3::ZERO,
                angular: Vec3::ZERO,
                rows: None,
            });
            joint.locks = kind.locks();
            joint.frames = record.frames;
            joint.has_rows = kind.has_rows();
            joint.driven = kind.is_driven();
            joint.breakable = !record.breaking.is_never();
            if joint.has_rows && joint.rows.is_none() {
                joint.rows = Some(Box::new([0.0; MAX_KEYED_ROWS]));
            }
            self.all.push(joint);
        }
        true
    }

    /// Indices of the joints with an awake body.
    pub fn active<'s>(&'s self, sim_bodies: &'s SimBodies) -> impl Iterator<Item = usize> + 's {
        let activity = |slot: u32| sim_bodies.activities.get(slot as usize).copied().unwrap_or_default();
        self.all
            .iter()
            .enumerate()
            .filter(move |(_, joint)| joint.bodies.iter().any(|slot| activity(*slot) == Activity::Awake))
            .map(|(index, _)| index)
    }

    /// Compares the reactions of the last step with the break thresholds ⇒ joints that break.
    pub fn broken(&self, world: &World, rate: f64, broken: &mut Vec<JointId>) {
        broken.clear();
        for joint in self.all.iter().filter(|joint| joint.breakable) {
            let Ok(record) = world.joint(joint.id) else { continue };
            let breaking = record.breaking();
            let force = f64::from(joint.linear.length()) * rate;
            let torque = f64::from(joint.angular.length()) * rate;
            let drift = if breaking.drift.is_finite() && joint.locks.has(Locks::POINT) {
                state(world, record, 0.0).map_or(0.0, |state| state.offset().length())
            } else {
                0.0
            };
            if force > breaking.force || torque > breaking.torque || drift > breaking.drift {
                broken.push(joint.id);
            }
        }
    }
}

/// Present frames of a joint.
pub(super) fn state(world: &World, record: &crate::joint::JointRecord, dt: f64) -> Option<JointState> {
    let frame = |k: usize| match record.bodies[k] {
        None => Some(JointFrame::fixed(&record.frames[k])),
        Some(id) => world.bodies().motion_of(id).map(|motion| JointFrame::on(motion, &record.frames[k])),
    };
    Some(JointState { time: world.time(), dt, frames: [frame(0)?, frame(1)?], turned: record.turned })
}

/// What is needed to compute joint blocks.
pub(super) struct JointContext<'s> {
    pub world: &'s World,
    pub sim_bodies: &'s SimBodies,
    pub dt: f64,
    pub h: f64,
    pub softness: Softness,
}

impl JointContext<'_> {
    /// Side k of a joint at the beginning of the step.
    pub fn side(&self, joint: &JointConstraint, k: usize) -> Option<JointSide<'_>> {
        let frame = &joint.frames[k];
        if joint.bodies[k] == NONE {
            let axes = DMat3::from_quat(frame.rotation);
            return Some(JointSide::immovable(frame.translation, axes));
        }
        let sim_body = self.sim_bodies.body(joint.bodies[k])?;
        let motion = sim_body.motion(self.world)?;
        if sim_body.status == Status::Fixed {
            let pose = motion.pose() * *frame;
            let axes = DMat3::from_quat(pose.rotation);
            return Some(JointSide::immovable(pose.translation, axes));
        }
        let inertia = (sim_body.status == Status::Dynamic)
            .then(|| &self.world.bodies().inertia(Status::Dynamic)[sim_body.index as usize]);
        Some(JointSide {
            origin: motion.x,
            rotation: motion.q,
            arm: frame.translation,
            axes: DMat3::from_quat(frame.rotation),
            movable: inertia.map(|inertia| (motion, inertia)),
        })
    }

    /// Writes a joint into a lane of its block.
    pub fn fill(
        &self,
        joint: &JointConstraint,
        lane: usize,
        block: &mut JointBlock,
        axes: Option<&mut JointBlockAxes>,
    ) {
        let (Some(a), Some(b)) = (self.side(joint, 0), self.side(joint, 1)) else { return };
        block.present.0[lane] = 1.0;
        let set = |rows: &mut [F32x8; 3], v: Vec3| {
            for k in 0..3 {
                rows[k].0[lane] = v[k];
            }
        };
        set(&mut block.arm[0], a.arm.as_vec3());
        set(&mut block.arm[1], b.arm.as_vec3());
        set(&mut block.offset, (b.origin - a.origin).as_vec3());
        set(&mut block.linear, joint.linear);
        set(&mut block.angular, joint.angular);
        if let Some(axes) = axes {
            for (side, from) in [&a, &b].into_iter().enumerate() {
                for k in 0..3 {
                    set(&mut axes.axes[side][k], from.axes.col(k).as_vec3());
                }
            }
        }
    }

    /// Part of Ċ that is due to kinematic sides.
    fn kinematic_rate_of(&self, joint: &JointConstraint, state: &JointState, row: &crate::joint::Row) -> f64 {
        let mut state = *state;
        for (slot, frame) in joint.bodies.iter().zip(&mut state.frames) {
            if self.sim_bodies.body(*slot).is_none_or(|sim_body| sim_body.status != Status::Kinematic) {
                (frame.velocity, frame.omega) = (DVec3::ZERO, DVec3::ZERO);
            }
        }
        state.rate(row)
    }

    /// Calls `each` with the further rows of a joint, by their place in its list.
    pub fn rows_of(
        &self,
        joint: &JointConstraint,
        scratch: &mut Rows,
        mut each: impl FnMut(usize, &JointRow),
    ) {
        scratch.clear();
        if !joint.has_rows {
            return;
        }
        let Ok(record) = self.world.joint(joint.id) else { return };
        let Some(state) = state(self.world, record, self.dt) else { return };
        let (Some(a), Some(b)) = (self.side(joint, 0), self.side(joint, 1)) else { return };
        record.kind().rows(&state, scratch);
        for (index, row) in scratch.as_slice().iter().enumerate() {
            let angular = |side: &JointSide<'_>, v: DVec3| {
                side.movable.map_or(DVec3::ZERO, |(motion, inertia)| {
                    (motion.q.conjugate() * v) * inertia.inverse_moments.map(f64::sqrt)
                })
            };
            let masses: f64 = [&a, &b]
                .iter()
                .filter_map(|side| side.movable)
                .map(|(_, inertia)| inertia.inverse_mass)
                .sum();
            let angular = [-angular(&a, row.angular[0]), angular(&b, row.angular[1])];
            let inverse_mass = row.linear.length_squared() * masses
                + angular[0].length_squared()
                + angular[1].length_squared();
            if !(inverse_mass > 0.0 && inverse_mass.is_finite() && row.error.is_finite()) {
                continue;
            }
            let limit = |most: f64| (most * self.h).min(1e30) as f32;
            let (softness, target_speed, range, acts_in_relax) = match row.effect {
                Effect::Lock => (self.softness, 0.0, [f32::MIN, f32::MAX], false),
                Effect::Limit => (self.softness, 0.0, [0.0, f32::MAX], false),
                Effect::Spring { frequency, damping_ratio, max_force: most } => {
                    (Softness::new(frequency, damping_ratio, self.h), 0.0, [-limit(most), limit(most)], true)
                }
                Effect::Motor { speed, max_force: most } => {
                    (Softness::RIGID, speed, [-limit(most), limit(most)], true)
                }
            };
            let impulse = joint.rows.as_ref().and_then(|rows| rows.get(row.key as usize)).copied();
            each(
                index,
                &JointRow {
                    key: row.key,
                    linear: row.linear,
                    world_angular: row.angular,
                    angular,
                    inverse_mass,
                    gap: row.error,
                    kinematic_rate: self.kinematic_rate_of(joint, &state, row),
                    target_speed,
                    impulse: impulse.unwrap_or(0.0),
                    range,
                    softness,
                    one_sided: row.effect == Effect::Limit,
                    acts_in_relax,
                },
            );
        }
    }

    /// Writes the further rows of a joint into a lane, starting at row `first`.
    pub fn fill_rows(
        &self,
        joint: &JointConstraint,
        lane: usize,
        first: usize,
        scratch: &mut Rows,
        out: &mut Vec<JointBlockRow>,
    ) {
        self.rows_of(joint, scratch, |index, row| {
            if out.len() <= first + index {
                out.resize(first + index + 1, JointBlockRow::default());
            }
            let out_row = &mut out[first + index];
            for i in 0..3 {
                out_row.linear[i].0[lane] = row.linear[i] as f32;
                out_row.a[i].0[lane] = row.angular[0][i] as f32;
                out_row.b[i].0[lane] = row.angular[1][i] as f32;
            }
            out_row.kinematic_rate.0[lane] = row.kinematic_rate as f32;
            out_row.gap.0[lane] = row.gap as f32;
            out_row.mass.0[lane] = (1.0 / row.inverse_mass) as f32;
            out_row.keys[lane] = row.key;
            out_row.impulse.0[lane] = row.impulse;
            out_row.target_speed.0[lane] = row.target_speed as f32;
            [out_row.min_impulse.0[lane], out_row.max_impulse.0[lane]] = row.range;
            out_row.bias_rate.0[lane] = row.softness.bias_rate;
            out_row.mass_scale.0[lane] = row.softness.mass_scale;
            out_row.impulse_scale.0[lane] = row.softness.impulse_scale;
            out_row.one_sided.0[lane] = f32::from(u8::from(row.one_sided));
            out_row.acts_in_relax.0[lane] = f32::from(u8::from(row.acts_in_relax));
        });
    }
}
