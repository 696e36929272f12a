//! Joints as the solver sees them, eight side by side, and what is kept of them from step to step.
//!
//! Unlike the rows of contacts, those of locks follow the bodies from sub-step to sub-step: with θ the rotation since the
//! beginning of the step, an arm is exp(θ) r, so chains may whirl without being drawn apart. What a sub-step h does to the anchors
//! is told by the arms in its middle, exp(θ + ½hω) r, since exp(hω) r − r is h ω × that, to third order; but impulses act on the
//! arms as they stand at its beginning, and after the move, when velocities are made to fit, at its end. That is the method
//! called RATTLE: it is the same forwards and backwards in time, so a pendulum neither gains nor loses energy.

use super::lanes::{LANES, Row};
use super::roster::{Life, NONE, Roster};
use crate::joint::{Effect, JointFrame, JointState, Locks, Rows};
use crate::motion::{Inertia, Motion};
use crate::world::{Handle, JointId, Status, World};
use glam::{DMat3, DQuat, DVec3, Vec3};
use rattleback_geometry::Pose;

/// Most rows of a joint that are remembered.
const KEYS: usize = 24;

/// One joint.
#[derive(Clone, Debug)]
pub(super) struct Bond {
    pub id: JointId,
    /// Slots of the bodies, or [`NONE`] for the world.
    pub actors: [u32; 2],
    pub locks: Locks,
    has_rows: bool,
    pub driven: bool,
    breakable: bool,
    /// In principal frames.
    frames: [Pose; 2],
    /// Impulses of a sub-step: of the locks, and of rows by their key.
    pub linear: Vec3,
    pub angular: Vec3,
    pub rows: Option<Box<[f32; KEYS]>>,
}

/// One side of a joint in a step.
pub(super) struct Side<'w> {
    /// Where arms are measured from.
    pub origin: DVec3,
    /// How its principal axes stand in the world; not at all if the side cannot turn.
    pub rotation: DQuat,
    /// Anchor in principal axes, or zero if the side cannot turn.
    pub arm: DVec3,
    /// Frame in principal axes, or in the world's.
    pub axes: DMat3,
    moving: Option<(&'w Motion, &'w Inertia)>,
}

impl Side<'_> {
    const fn still(origin: DVec3, axes: DMat3) -> Self {
        Self { origin, rotation: DQuat::IDENTITY, arm: DVec3::ZERO, axes, moving: None }
    }
}

/// Eight joints.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct BondBlock {
    pub a: [u32; LANES],
    pub b: [u32; LANES],
    /// Arms in principal axes, then in the world's at the beginning of the step.
    pub arm: [[Row; 3]; 2],
    /// x_B − x_A.
    pub apart: [Row; 3],
    /// Columns of R diag(1/√I): angular velocity in the world = Σ spin_k y_k.
    pub spin: [[[Row; 3]; 3]; 2],
    pub scale: [Row; 2],
    /// Inverse of the 3×3 matrix of the anchors, as of the present sub-step.
    pub inverse: [Row; 6],
    pub linear: [Row; 3],
    pub angular: [Row; 3],
    /// The same in all lanes.
    pub locks: Locks,
    /// 1 where there is a joint.
    pub there: Row,
    /// Where its axes and rows are.
    pub axes: u32,
    pub first_row: u32,
    pub rows: u32,
    pub first_link: u32,
    pub links: u32,
    /// Whether a side moves by itself.
    pub driven: bool,
}

/// Axes of both frames of eight joints, like arms.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct BondAxes {
    pub axes: [[[Row; 3]; 3]; 2],
}

/// One row of eight joints; it stays as it is over a step.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct BondRow {
    pub linear: [Row; 3],
    /// diag(1/√I) Rᵀ of the angular parts, A's with its sign.
    pub a: [Row; 3],
    pub b: [Row; 3],
    pub gap: Row,
    pub mass: Row,
    pub impulse: Row,
    pub least: Row,
    pub most: Row,
    /// Softness, and the speed to be kept.
    pub rate: Row,
    pub soft: Row,
    pub leak: Row,
    pub speed: Row,
    /// What bodies that move by themselves add to the rate.
    pub own: Row,
    /// 1 for limits, which do nothing while the gap is open.
    pub one_sided: Row,
    /// 1 for springs and motors, which act in every sweep.
    pub always: Row,
    pub keys: [u8; LANES],
}

/// All joints of the world, in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Bonds {
    pub all: Vec<Bond>,
    pub revision: Option<u64>,
}

impl Bonds {
    /// Takes over what changed ⇒ whether anything has; joints that stay keep their impulses.
    pub fn sync(&mut self, world: &World) -> bool {
        if self.revision == Some(world.joints().revision) {
            return false;
        }
        self.revision = Some(world.joints().revision);
        let mut old = std::mem::take(&mut self.all).into_iter().peekable();
        for (id, record) in world.iter_joints() {
            while old.next_if(|bond| bond.id < id).is_some() {}
            let kept = old.next_if(|bond| bond.id == id);
            let joint = record.kind();
            let actors = record.bodies.map(|body| body.map_or(NONE, Handle::slot));
            let mut bond = kept.unwrap_or_else(|| Bond {
                id,
                actors,
                locks: joint.locks(),
                has_rows: false,
                driven: false,
                breakable: false,
                frames: record.frames,
                linear: Vec3::ZERO,
                angular: Vec3::ZERO,
                rows: None,
            });
            bond.locks = joint.locks();
            bond.frames = record.frames;
            bond.has_rows = joint.has_rows();
            bond.driven = joint.is_driven();
            bond.breakable = !record.breaking.is_never();
            if bond.has_rows && bond.rows.is_none() {
                bond.rows = Some(Box::new([0.0; KEYS]));
            }
            self.all.push(bond);
        }
        true
    }

    /// Joints with a body that is awake, by place.
    pub fn active<'s>(&'s self, roster: &'s Roster) -> impl Iterator<Item = usize> + 's {
        let life = |slot: u32| roster.lives.get(slot as usize).copied().unwrap_or_default();
        self.all
            .iter()
            .enumerate()
            .filter(move |(_, bond)| bond.actors.iter().any(|slot| life(*slot) == Life::Awake))
            .map(|(place, _)| place)
    }

    /// Loads of the last step against what joints bear ⇒ those that break.
    pub fn broken(&self, world: &World, rate: impl Fn(&Bond) -> f64, broken: &mut Vec<JointId>) {
        broken.clear();
        for bond in self.all.iter().filter(|bond| bond.breakable) {
            let Ok(record) = world.joint(bond.id) else { continue };
            let (breaking, rate) = (record.breaking(), rate(bond));
            let force = f64::from(bond.linear.length()) * rate;
            let torque = f64::from(bond.angular.length()) * rate;
            let drift = if breaking.drift.is_finite() && bond.locks.has(Locks::POINT) {
                state(world, record, 0.0).map_or(0.0, |state| state.offset().length())
            } else {
                0.0
            };
            if force > breaking.force || torque > breaking.torque || drift > breaking.drift {
                broken.push(bond.id);
            }
        }
    }
}

/// A joint's frames as they are now.
pub(super) fn state(world: &World, record: &crate::joint::JointRecord, dt: f64) -> Option<JointState> {
    let frame = |k: usize| match record.bodies[k] {
        None => Some(JointFrame::fixed(&record.frames[k])),
        Some(id) => world.bodies().motion_of(id).map(|motion| JointFrame::on(motion, &record.frames[k])),
    };
    Some(JointState { time: world.time(), dt, frames: [frame(0)?, frame(1)?], turned: record.turned })
}

/// What the solver needs besides the block's own memory.
pub(super) struct Filling<'s> {
    pub world: &'s World,
    pub roster: &'s Roster,
    pub dt: f64,
    pub h: f64,
    pub stiffness: super::block::Softness,
}

impl Filling<'_> {
    pub fn side(&self, bond: &Bond, k: usize) -> Option<Side<'_>> {
        let frame = &bond.frames[k];
        if bond.actors[k] == NONE {
            let axes = DMat3::from_quat(frame.rotation);
            return Some(Side::still(frame.translation, axes));
        }
        let actor = self.roster.actor(bond.actors[k])?;
        let motion = actor.motion(self.world)?;
        if actor.status == Status::Fixed {
            let pose = motion.pose() * *frame;
            let axes = DMat3::from_quat(pose.rotation);
            return Some(Side::still(pose.translation, axes));
        }
        let inertia = (actor.status == Status::Dynamic)
            .then(|| &self.world.bodies().inertia(Status::Dynamic)[actor.place as usize]);
        Some(Side {
            origin: motion.x,
            rotation: motion.q,
            arm: frame.translation,
            axes: DMat3::from_quat(frame.rotation),
            moving: inertia.map(|inertia| (motion, inertia)),
        })
    }

    /// Writes a joint into a lane of its block.
    pub fn fill(&self, bond: &Bond, lane: usize, block: &mut BondBlock, axes: Option<&mut BondAxes>) {
        let (Some(a), Some(b)) = (self.side(bond, 0), self.side(bond, 1)) else { return };
        block.there.0[lane] = 1.0;
        let set = |rows: &mut [Row; 3], v: Vec3| {
            for k in 0..3 {
                rows[k].0[lane] = v[k];
            }
        };
        set(&mut block.arm[0], a.arm.as_vec3());
        set(&mut block.arm[1], b.arm.as_vec3());
        set(&mut block.apart, (b.origin - a.origin).as_vec3());
        set(&mut block.linear, bond.linear);
        set(&mut block.angular, bond.angular);
        if let Some(axes) = axes {
            for (side, from) in [&a, &b].into_iter().enumerate() {
                for k in 0..3 {
                    set(&mut axes.axes[side][k], from.axes.col(k).as_vec3());
                }
            }
        }
    }

    /// Ċ as far as sides that no impulse moves make it.
    fn own_rate(&self, bond: &Bond, state: &JointState, row: &crate::joint::Row) -> f64 {
        let mut state = *state;
        for (slot, frame) in bond.actors.iter().zip(&mut state.frames) {
            if self.roster.actor(*slot).is_none_or(|actor| actor.status != Status::Animated) {
                (frame.velocity, frame.omega) = (DVec3::ZERO, DVec3::ZERO);
            }
        }
        state.rate(row)
    }

    /// Writes the rows of a joint into a lane, from a place on.
    pub fn fill_rows(
        &self,
        bond: &Bond,
        lane: usize,
        first: usize,
        scratch: &mut Rows,
        out: &mut Vec<BondRow>,
    ) {
        scratch.clear();
        if !bond.has_rows {
            return;
        }
        let Ok(record) = self.world.joint(bond.id) else { return };
        let Some(state) = state(self.world, record, self.dt) else { return };
        let (Some(a), Some(b)) = (self.side(bond, 0), self.side(bond, 1)) else { return };
        record.kind().rows(&state, scratch);
        for (index, row) in scratch.as_slice().iter().enumerate() {
            if out.len() <= first + index {
                out.push(BondRow::default());
            }
            let place = &mut out[first + index];
            let angular = |side: &Side<'_>, v: DVec3| {
                side.moving.map_or(DVec3::ZERO, |(motion, inertia)| {
                    (motion.q.conjugate() * v) * inertia.inverse_moments.map(f64::sqrt)
                })
            };
            let (ja, jb) = (-angular(&a, row.angular[0]), angular(&b, row.angular[1]));
            let masses: f64 =
                [&a, &b].iter().filter_map(|side| side.moving).map(|(_, inertia)| inertia.inverse_mass).sum();
            let k = row.linear.length_squared() * masses + ja.length_squared() + jb.length_squared();
            if !(k > 0.0 && k.is_finite() && row.error.is_finite()) {
                continue;
            }
            for i in 0..3 {
                place.linear[i].0[lane] = row.linear[i] as f32;
                place.a[i].0[lane] = ja[i] as f32;
                place.b[i].0[lane] = jb[i] as f32;
            }
            place.own.0[lane] = self.own_rate(bond, &state, row) as f32;
            place.gap.0[lane] = row.error as f32;
            place.mass.0[lane] = (1.0 / k) as f32;
            place.keys[lane] = row.key;
            let held = bond.rows.as_ref().and_then(|rows| rows.get(row.key as usize)).copied();
            place.impulse.0[lane] = held.unwrap_or(0.0);
            let limit = |most: f64| (most * self.h).min(1e30) as f32;
            let (softness, range, always) = match row.effect {
                Effect::Hold => (self.stiffness, (f32::MIN, f32::MAX), false),
                Effect::Limit => (self.stiffness, (0.0, f32::MAX), false),
                Effect::Spring { frequency, damping_ratio, most } => (
                    super::block::Softness::new(frequency, damping_ratio, self.h),
                    (-limit(most), limit(most)),
                    true,
                ),
                Effect::Drive { speed, most } => {
                    place.speed.0[lane] = speed as f32;
                    let hard = super::block::Softness { rate: 0.0, mass: 1.0, impulse: 0.0 };
                    (hard, (-limit(most), limit(most)), true)
                }
            };
            (place.least.0[lane], place.most.0[lane]) = range;
            place.rate.0[lane] = softness.rate;
            place.soft.0[lane] = softness.mass;
            place.leak.0[lane] = softness.impulse;
            place.one_sided.0[lane] = f32::from(u8::from(row.effect == Effect::Limit));
            place.always.0[lane] = f32::from(u8::from(always));
        }
    }
}
