//! Joint kernels: eight joints at a time. `joint_constraint` describes which rows follow the bodies within a
//! step.
//!
//! The anchors of a ball joint are one vector equation C = x_B + r_B − x_A − r_A = 0: with Ċ = u = v_B + ω_B
//! × r_B − v_A − ω_A × r_A and K = Σ (1/m) 1 − [r]× I⁻¹ [r]×, the impulse is −K⁻¹ (u + rate·C), softened as
//! in `softness`. Locked rotations likewise, with K = I_A⁻¹ + I_B⁻¹.

use super::contact_block::SweepParameters;
use super::contact_kernel::{BodyPairLanes, FrameLanes, inverse, inverse_2x2, kinematic_velocities, shifts};
use super::joint_constraint::{JointBlock, JointBlockAxes, JointBlockRow};
use super::lanes::{F32Lanes, F32x8, Vec3Lanes};
use super::sim_bodies::NONE;
use super::solver_body::{BodyRow, SolverBody, SolverFrame};
use super::tuning::JOINT_CORRECTION_FACTOR;
use crate::joint::Locks;
use rattleback_numerics::team::Shared;

/// Data that the joint kernels access; the rules are those of
/// [`ContactArena`](super::contact_kernel::ContactArena).
#[derive(Clone, Copy, Debug)]
pub(super) struct JointArena<'s> {
    pub solver_bodies: Shared<'s, SolverBody>,
    pub frames: Shared<'s, SolverFrame>,
    /// By solver body: velocity change by joints in the present sub-step.
    pub joint_changes: Shared<'s, BodyRow>,
    pub blocks: Shared<'s, JointBlock>,
    pub axes: Shared<'s, JointBlockAxes>,
    pub rows: Shared<'s, JointBlockRow>,
}

/// Columns of eight 3×3 matrices.
type Mat3Lanes<L> = [Vec3Lanes<L>; 3];

/// ForceAccumulator a matrix by columns.
#[inline(always)]
fn matrix<L: F32Lanes>(rows: &[[F32x8; 3]; 3]) -> Mat3Lanes<L> {
    [Vec3Lanes::load(&rows[0]), Vec3Lanes::load(&rows[1]), Vec3Lanes::load(&rows[2])]
}

/// M v.
#[inline(always)]
fn times<L: F32Lanes>(m: &Mat3Lanes<L>, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
    m[0].scaled(v.x) + m[1].scaled(v.y) + m[2].scaled(v.z)
}

/// Mᵀ v.
#[inline(always)]
fn transposed_times<L: F32Lanes>(m: &Mat3Lanes<L>, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
    Vec3Lanes::new(m[0].dot(v), m[1].dot(v), m[2].dot(v))
}

/// Coefficients ±1/(2k + 1)! and ±1/(2k + 2)! of the power series below.
const SINE_SERIES: [f32; 8] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];
const COSINE_SERIES: [f32; 8] = [
    0.5,
    -1.0 / 24.0,
    1.0 / 720.0,
    -1.0 / 40320.0,
    1.0 / 3_628_800.0,
    -1.0 / 479_001_600.0,
    1.0 / 87_178_291_200.0,
    -1.0 / 20_922_789_888_000.0,
];

/// The rotation exp(θ) by Rodrigues' formula: v + s θ × v + c θ × (θ × v), with s = sin|θ|/|θ| and c = (1 −
/// cos|θ|)/|θ|² by their power series in |θ|².
#[derive(Clone, Copy)]
struct RotationLanes<L> {
    theta: Vec3Lanes<L>,
    s: L,
    c: L,
}

/// Σ terms_k xᵏ by Horner's scheme.
///
/// Without closures: a function that is not certainly inlined is compiled without AVX.
#[inline(always)]
fn series<L: F32Lanes>(terms: &[f32; 8], x: L) -> L {
    let mut sum = L::splat(terms[7]);
    for k in (0..7).rev() {
        sum = sum * x + L::splat(terms[k]);
    }
    sum
}

impl<L: F32Lanes> RotationLanes<L> {
    #[inline(always)]
    fn new(theta: Vec3Lanes<L>) -> Self {
        // The series are accurate up to |θ| = 4, a little more than half a turn, which also limits the
        // rotation that a step can follow.
        let x = theta.dot(theta).min(L::splat(16.0));
        Self { theta, s: series(&SINE_SERIES, x), c: series(&COSINE_SERIES, x) }
    }

    /// Rotates a vector.
    #[inline(always)]
    fn of(&self, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
        let once = self.theta.cross(v);
        let twice = self.theta.cross(once);
        v + once.scaled(self.s) + twice.scaled(self.c)
    }
}

/// Symmetric 3×3 matrix: xx, xy, xz, yy, yz, zz.
type SymmetricLanes<L> = [L; 6];

/// Inverse by cofactors; zero if the matrix is singular.
#[inline(always)]
fn symmetric_inverse<L: F32Lanes>(k: SymmetricLanes<L>) -> SymmetricLanes<L> {
    // Scaled by the trace first, so that neither light nor heavy bodies overflow or underflow.
    let trace = k[0] + k[3] + k[5];
    let scale = inverse(trace);
    let [xx, xy, xz, yy, yz, zz] = k;
    let (xx, xy, xz) = (xx * scale, xy * scale, xz * scale);
    let (yy, yz, zz) = (yy * scale, yz * scale, zz * scale);
    let (c00, c01, c02) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let determinant = inverse(xx * c00 + xy * c01 + xz * c02) * scale;
    [
        c00 * determinant,
        c01 * determinant,
        c02 * determinant,
        (xx * zz - xz * xz) * determinant,
        (xy * xz - xx * yz) * determinant,
        (xx * yy - xy * xy) * determinant,
    ]
}

/// M v.
#[inline(always)]
fn symmetric_times<L: F32Lanes>(m: &SymmetricLanes<L>, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
    Vec3Lanes::new(
        m[0] * v.x + m[1] * v.y + m[2] * v.z,
        m[1] * v.x + m[3] * v.y + m[4] * v.z,
        m[2] * v.x + m[4] * v.y + m[5] * v.z,
    )
}

/// Adds Σ v vᵀ over the columns v: I⁻¹ in world axes for the columns spin_k, −[r]× I⁻¹ [r]× for the columns r
/// × spin_k, where I⁻¹ = Σ spin_k spin_kᵀ.
#[inline(always)]
fn add_outer<L: F32Lanes>(k: &mut SymmetricLanes<L>, columns: &Mat3Lanes<L>) {
    for v in columns {
        k[0] = k[0] + v.x * v.x;
        k[1] = k[1] + v.x * v.y;
        k[2] = k[2] + v.x * v.z;
        k[3] = k[3] + v.y * v.y;
        k[4] = k[4] + v.y * v.z;
        k[5] = k[5] + v.z * v.z;
    }
}

/// Prepares eight joints: arms and axes in world axes, and the scaling of their bodies.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn prepare<L: F32Lanes>(arena: &JointArena<'_>, index: usize) {
    // SAFETY: see `JointArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    for side in 0..2 {
        let indices = if side == 0 { block.a } else { block.b };
        // SAFETY: frames do not change while blocks are prepared.
        let frame: FrameLanes<L> = unsafe { FrameLanes::gather(&arena.frames, &indices) };
        frame.to_world(Vec3Lanes::load(&block.arm[side])).store(&mut block.arm[side]);
        frame.x.scaled(frame.inverse_sqrt_inertia.x).store(&mut block.spin[side][0]);
        frame.y.scaled(frame.inverse_sqrt_inertia.y).store(&mut block.spin[side][1]);
        frame.z.scaled(frame.inverse_sqrt_inertia.z).store(&mut block.spin[side][2]);
        frame.inverse_sqrt_mass.store(&mut block.inverse_sqrt_mass[side]);
        if block.axes != NONE {
            // SAFETY: the axes of a block belong to it.
            let axes = unsafe { arena.axes.get_mut(block.axes as usize) };
            for axis in &mut axes.axes[side] {
                frame.to_world(Vec3Lanes::load(axis)).store(axis);
            }
        }
    }
}

/// Velocities and scaling of the two bodies of eight joints during a sweep.
struct JointBodies<L> {
    y: BodyPairLanes<L>,
    spin: [Mat3Lanes<L>; 2],
    inverse_sqrt_mass: [L; 2],
    /// v_A, ω_A, v_B, ω_B of kinematic sides.
    kinematic: Option<[Vec3Lanes<L>; 4]>,
}

impl<L: F32Lanes> JointBodies<L> {
    #[inline(always)]
    fn new(arena: &JointArena<'_>, block: &JointBlock, y: BodyPairLanes<L>) -> Self {
        let mut kinematic = None;
        if block.has_kinematic {
            // SAFETY: frames do not change during a step.
            #[allow(unsafe_code)]
            let ((va, wa), (vb, wb)) = unsafe {
                (
                    kinematic_velocities::<L>(&arena.frames, &block.a),
                    kinematic_velocities::<L>(&arena.frames, &block.b),
                )
            };
            kinematic = Some([va, wa, vb, wb]);
        }
        let inverse_sqrt_mass = [L::load(&block.inverse_sqrt_mass[0]), L::load(&block.inverse_sqrt_mass[1])];
        Self { y, spin: [matrix(&block.spin[0]), matrix(&block.spin[1])], inverse_sqrt_mass, kinematic }
    }

    /// Shifts since the beginning of the step ⇒ rotation vectors of both sides, and displacement of B's
    /// centre relative to A's.
    #[inline(always)]
    fn displacements(
        &self,
        [da, ea, db, eb]: [Vec3Lanes<L>; 4],
        parameters: &SweepParameters,
    ) -> ([Vec3Lanes<L>; 2], Vec3Lanes<L>) {
        let mut theta = [times(&self.spin[0], ea), times(&self.spin[1], eb)];
        let mut moved = db.scaled(self.inverse_sqrt_mass[1]) - da.scaled(self.inverse_sqrt_mass[0]);
        if let Some([va, wa, vb, wb]) = self.kinematic {
            let elapsed = L::splat(parameters.elapsed);
            theta = [theta[0] + wa.scaled(elapsed), theta[1] + wb.scaled(elapsed)];
            moved = moved + (vb - va).scaled(elapsed);
        }
        (theta, moved)
    }

    /// diag(1/√I) Rᵀ d of both bodies.
    #[inline(always)]
    fn angular_rows(&self, d: Vec3Lanes<L>) -> [Vec3Lanes<L>; 2] {
        [transposed_times(&self.spin[0], d), transposed_times(&self.spin[1], d)]
    }

    /// Angular velocities of both sides, rad/s.
    #[inline(always)]
    fn omegas(&self) -> [Vec3Lanes<L>; 2] {
        let mut omegas = [times(&self.spin[0], self.y.wa), times(&self.spin[1], self.y.wb)];
        if let Some([_, a, _, b]) = self.kinematic {
            omegas = [omegas[0] + a, omegas[1] + b];
        }
        omegas
    }

    /// Velocity of B's centre relative to A's.
    #[inline(always)]
    fn relative_velocity(&self) -> Vec3Lanes<L> {
        let mut relative_velocity =
            self.y.vb.scaled(self.inverse_sqrt_mass[1]) - self.y.va.scaled(self.inverse_sqrt_mass[0]);
        if let Some([a, _, b, _]) = self.kinematic {
            relative_velocity = relative_velocity + b - a;
        }
        relative_velocity
    }

    /// Applies a linear impulse to B and its opposite to A.
    #[inline(always)]
    fn apply_linear(&mut self, impulse: Vec3Lanes<L>) {
        self.y.va = self.y.va - impulse.scaled(self.inverse_sqrt_mass[0]);
        self.y.vb = self.y.vb + impulse.scaled(self.inverse_sqrt_mass[1]);
    }

    /// Applies the angular impulses −a to A and b to B.
    #[inline(always)]
    fn apply_angular(&mut self, a: Vec3Lanes<L>, b: Vec3Lanes<L>) {
        self.y.wa = self.y.wa - transposed_times(&self.spin[0], a);
        self.y.wb = self.y.wb + transposed_times(&self.spin[1], b);
    }
}

/// Arms and axes of a block, rotated by θ of each side.
struct LockGeometry<L> {
    rotations: [RotationLanes<L>; 2],
    arms: [Vec3Lanes<L>; 2],
}

impl<L: F32Lanes> LockGeometry<L> {
    /// Axis k of the joint frame of a side, rotated.
    #[inline(always)]
    fn axis(&self, axes: &JointBlockAxes, side: usize, k: usize) -> Vec3Lanes<L> {
        self.rotations[side].of(Vec3Lanes::load(&axes.axes[side][k]))
    }
}

/// Product of two rows of pure rotation, summed over both bodies.
#[inline(always)]
fn product<L: F32Lanes>(one: &[Vec3Lanes<L>; 2], other: &[Vec3Lanes<L>; 2]) -> L {
    one[0].dot(other[0]) + one[1].dot(other[1])
}

/// Coefficients of the soft constraint in a sweep.
struct LockSoftness<L> {
    bias_rate: L,
    mass_scale: L,
    impulse_scale: L,
}

/// One sweep over eight joints, with the bias that corrects drift (`BIASED`) or without.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn sweep_block<L: F32Lanes, const BIASED: bool>(
    arena: &JointArena<'_>,
    index: usize,
    parameters: &SweepParameters,
) {
    // SAFETY: see `JointArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `JointArena`.
    let (y, (da, ea), (db, eb)): (BodyPairLanes<L>, _, _) = unsafe {
        (
            BodyPairLanes::gather(&arena.solver_bodies, &block.a, &block.b),
            shifts::<L>(&arena.solver_bodies, &block.a),
            shifts::<L>(&arena.solver_bodies, &block.b),
        )
    };
    let mut bodies = JointBodies::new(arena, block, y);
    for k in 0..block.rows as usize {
        // SAFETY: the rows of a block belong to it.
        let row = unsafe { arena.rows.get_mut(block.first_row as usize + k) };
        solve_row::<L, BIASED>(row, &mut bodies, [da, ea, db, eb], parameters);
    }
    if block.locks != Locks::NONE {
        let (theta, moved) = bodies.displacements([da, ea, db, eb], parameters);
        let rotations = [RotationLanes::new(theta[0]), RotationLanes::new(theta[1])];
        let arms = [
            rotations[0].of(Vec3Lanes::load(&block.arm[0])),
            rotations[1].of(Vec3Lanes::load(&block.arm[1])),
        ];
        let gap = Vec3Lanes::load(&block.offset) + moved + arms[1] - arms[0];
        let soft = &parameters.joint;
        let softness = if BIASED {
            LockSoftness {
                bias_rate: L::splat(soft.bias_rate),
                mass_scale: L::splat(soft.mass_scale),
                impulse_scale: L::splat(soft.impulse_scale),
            }
        } else {
            LockSoftness { bias_rate: L::splat(0.0), mass_scale: L::splat(1.0), impulse_scale: L::splat(0.0) }
        };
        let now = LockGeometry { rotations, arms };
        if block.axes != NONE {
            // SAFETY: the axes of a block belong to it.
            let axes = unsafe { arena.axes.get(block.axes as usize) };
            solve_rotation(block, axes, &mut bodies, &now, &softness);
            if !block.locks.has(Locks::POINT) {
                solve_translation(block, axes, &mut bodies, &now, gap, &softness);
            }
        }
        if block.locks.has(Locks::POINT) {
            solve_point::<L, BIASED>(block, &mut bodies, theta, &now, gap, &softness, parameters);
        }
    }
    // SAFETY: see `JointArena`.
    unsafe {
        bodies.y.add_since(
            &y,
            &arena.solver_bodies,
            &arena.joint_changes,
            [&block.a, &block.b],
            parameters.first_movable,
        );
    };
}

/// The anchors of a ball joint (three locked translations).
#[inline(always)]
fn solve_point<L: F32Lanes, const BIASED: bool>(
    block: &mut JointBlock,
    bodies: &mut JointBodies<L>,
    theta: [Vec3Lanes<L>; 2],
    now: &LockGeometry<L>,
    gap: Vec3Lanes<L>,
    softness: &LockSoftness<L>,
    parameters: &SweepParameters,
) {
    let omegas = bodies.omegas();
    let arms = now.arms;
    let mut ahead = arms;
    if BIASED {
        let half = L::splat(0.5 / parameters.substep_rate);
        ahead = [
            RotationLanes::new(theta[0] + omegas[0].scaled(half)).of(Vec3Lanes::load(&block.arm[0])),
            RotationLanes::new(theta[1] + omegas[1].scaled(half)).of(Vec3Lanes::load(&block.arm[1])),
        ];
        let masses = bodies.inverse_sqrt_mass[0] * bodies.inverse_sqrt_mass[0]
            + bodies.inverse_sqrt_mass[1] * bodies.inverse_sqrt_mass[1];
        let zero = L::splat(0.0);
        let mut k = [masses, zero, zero, masses, zero, masses];
        for side in 0..2 {
            let (spin, arm) = (&bodies.spin[side], arms[side]);
            add_outer(&mut k, &[arm.cross(spin[0]), arm.cross(spin[1]), arm.cross(spin[2])]);
        }
        let present = L::load(&block.present);
        let inverse = symmetric_inverse(k);
        for entry in 0..6 {
            (inverse[entry] * present).store(&mut block.inverse[entry]);
        }
    }
    let mut inverse = [L::splat(0.0); 6];
    for entry in 0..6 {
        inverse[entry] = L::load(&block.inverse[entry]);
    }
    let u = bodies.relative_velocity() + omegas[1].cross(ahead[1]) - omegas[0].cross(ahead[0]);
    let old = Vec3Lanes::load(&block.linear);
    let residual = u + limit_correction(gap.scaled(softness.bias_rate), parameters.push_speed);
    let change =
        symmetric_times(&inverse, residual).scaled(-softness.mass_scale) - old.scaled(softness.impulse_scale);
    (old + change).store(&mut block.linear);
    bodies.apply_linear(change);
    bodies.apply_angular(arms[0].cross(change), arms[1].cross(change));
}

/// Limits the correction velocity to a multiple of the maximum depenetration speed, so that large errors are
/// corrected without a jolt.
#[inline(always)]
fn limit_correction<L: F32Lanes>(v: Vec3Lanes<L>, push_speed: f32) -> Vec3Lanes<L> {
    let (length, most) = (v.dot(v).sqrt(), L::splat(JOINT_CORRECTION_FACTOR * push_speed));
    let over = length - most;
    v.scaled(over.if_positive(most / over.if_positive(length, L::splat(1.0)), L::splat(1.0)))
}

/// Locked rotations.
#[inline(always)]
fn solve_rotation<L: F32Lanes>(
    block: &mut JointBlock,
    axes: &JointBlockAxes,
    bodies: &mut JointBodies<L>,
    now: &LockGeometry<L>,
    softness: &LockSoftness<L>,
) {
    let present = L::load(&block.present);
    let omegas = bodies.omegas();
    let u = omegas[1] - omegas[0];
    if block.locks.has(Locks::ROTATION) {
        // Σ a × b over the axes is 2 sin φ times the axis of the rotation from A to B.
        let mut sum = Vec3Lanes::new(L::splat(0.0), L::splat(0.0), L::splat(0.0));
        for k in 0..3 {
            sum = sum + now.axis(axes, 0, k).cross(now.axis(axes, 1, k));
        }
        let error = sum.scaled(L::splat(0.5));
        let zero = L::splat(0.0);
        let mut k = [zero; 6];
        add_outer(&mut k, &bodies.spin[0]);
        add_outer(&mut k, &bodies.spin[1]);
        let old = Vec3Lanes::load(&block.angular);
        let change = symmetric_times(&symmetric_inverse(k), u + error.scaled(softness.bias_rate))
            .scaled(-(softness.mass_scale * present))
            - old.scaled(softness.impulse_scale);
        (old + change).store(&mut block.angular);
        bodies.apply_angular(change, change);
    } else if block.locks.has(Locks::PARALLEL) {
        let error = now.axis(axes, 0, 2).cross(now.axis(axes, 1, 2));
        let d = [now.axis(axes, 0, 0), now.axis(axes, 0, 1)];
        let j = [bodies.angular_rows(d[0]), bodies.angular_rows(d[1])];
        let [m11, m12, m22] =
            inverse_2x2(product(&j[0], &j[0]), product(&j[0], &j[1]), product(&j[1], &j[1]));
        let residual = u + error.scaled(softness.bias_rate);
        let residual = [d[0].dot(residual), d[1].dot(residual)];
        let soft = -(softness.mass_scale * present);
        let old = [L::load(&block.angular[0]), L::load(&block.angular[1])];
        let change = [
            soft * (m11 * residual[0] + m12 * residual[1]) - softness.impulse_scale * old[0],
            soft * (m12 * residual[0] + m22 * residual[1]) - softness.impulse_scale * old[1],
        ];
        for k in 0..2 {
            (old[k] + change[k]).store(&mut block.angular[k]);
            bodies.y.apply_angular(j[k][0].scaled(-L::splat(1.0)), j[k][1], change[k]);
        }
    } else if block.locks.has(Locks::PERPENDICULAR) {
        let (z, x) = (now.axis(axes, 0, 2), now.axis(axes, 1, 0));
        let d = x.cross(z);
        let j = bodies.angular_rows(d);
        let mass = inverse(product(&j, &j)) * present;
        let old = L::load(&block.angular[0]);
        let change = -(softness.mass_scale * mass * (d.dot(u) + z.dot(x) * softness.bias_rate))
            - softness.impulse_scale * old;
        (old + change).store(&mut block.angular[0]);
        bodies.y.apply_angular(j[0].scaled(-L::splat(1.0)), j[1], change);
    }
}

/// Locked translations along axes that rotate with A.
#[inline(always)]
fn solve_translation<L: F32Lanes>(
    block: &mut JointBlock,
    axes: &JointBlockAxes,
    bodies: &mut JointBodies<L>,
    now: &LockGeometry<L>,
    gap: Vec3Lanes<L>,
    softness: &LockSoftness<L>,
) {
    let present = L::load(&block.present);
    let masses = bodies.inverse_sqrt_mass[0] * bodies.inverse_sqrt_mass[0]
        + bodies.inverse_sqrt_mass[1] * bodies.inverse_sqrt_mass[1];
    let arms = [now.arms[0] + gap, now.arms[1]];
    for k in 0..3 {
        if block.locks.bits() & (1 << k) == 0 {
            continue;
        }
        let d = now.axis(axes, 0, k);
        let turning = [arms[0].cross(d), arms[1].cross(d)];
        let j =
            [transposed_times(&bodies.spin[0], turning[0]), transposed_times(&bodies.spin[1], turning[1])];
        let mass = inverse(masses + j[0].dot(j[0]) + j[1].dot(j[1])) * present;
        let omegas = bodies.omegas();
        let u = d.dot(bodies.relative_velocity()) + turning[1].dot(omegas[1]) - turning[0].dot(omegas[0]);
        let old = L::load(&block.linear[k]);
        let change = -(softness.mass_scale * mass * (u + d.dot(gap) * softness.bias_rate))
            - softness.impulse_scale * old;
        (old + change).store(&mut block.linear[k]);
        bodies.apply_linear(d.scaled(change));
        bodies.y.apply_angular(j[0].scaled(-L::splat(1.0)), j[1], change);
    }
}

/// One row that is constant over the step.
#[inline(always)]
fn solve_row<L: F32Lanes, const BIASED: bool>(
    row: &mut JointBlockRow,
    bodies: &mut JointBodies<L>,
    [da, ea, db, eb]: [Vec3Lanes<L>; 4],
    parameters: &SweepParameters,
) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (d, a, b) = (Vec3Lanes::load(&row.linear), Vec3Lanes::load(&row.a), Vec3Lanes::load(&row.b));
    let [scale_a, scale_b] = bodies.inverse_sqrt_mass;
    let kinematic = L::load(&row.kinematic_rate);
    let relative_velocity = bodies.y.vb.scaled(scale_b) - bodies.y.va.scaled(scale_a);
    let speed =
        d.dot(relative_velocity) + bodies.y.angular_rate(a, b) + kinematic - L::load(&row.target_speed);
    let gap = L::load(&row.gap)
        + d.dot(db.scaled(scale_b) - da.scaled(scale_a))
        + a.dot(ea)
        + b.dot(eb)
        + kinematic * L::splat(parameters.elapsed);
    let (mass, old, always) = (L::load(&row.mass), L::load(&row.impulse), L::load(&row.acts_in_relax));
    let open = L::load(&row.one_sided) * gap.if_positive(one, zero);
    // Springs and motors act in every sweep; locks and limits have a bias only in the biased one.
    let bias_scale = if BIASED { one } else { always };
    let speculative = gap * L::splat(parameters.substep_rate);
    let correction = L::load(&row.bias_rate) * gap * bias_scale;
    let slow = correction.max(L::splat(-parameters.push_speed));
    let correction = L::load(&row.one_sided).if_positive(slow, correction);
    let bias = open.if_positive(speculative, correction);
    let soft = open.if_positive(one, one + (L::load(&row.mass_scale) - one) * bias_scale);
    let leak = open.if_positive(zero, L::load(&row.impulse_scale) * bias_scale);
    let change = -(mass * soft * (speed + bias)) - leak * old;
    let new = (old + change).max(L::load(&row.min_impulse)).min(L::load(&row.max_impulse));
    new.store(&mut row.impulse);
    let change = new - old;
    bodies.apply_linear(d.scaled(change));
    bodies.y.apply_angular(a, b, change);
}

/// Warm start: applies the impulses that eight joints begin a sub-step with.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn warm_start<L: F32Lanes>(arena: &JointArena<'_>, index: usize, parameters: &SweepParameters) {
    // SAFETY: see `JointArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `JointArena`.
    let y: BodyPairLanes<L> = unsafe { BodyPairLanes::gather(&arena.solver_bodies, &block.a, &block.b) };
    // SAFETY: as above.
    let ((da, ea), (db, eb)) =
        unsafe { (shifts::<L>(&arena.solver_bodies, &block.a), shifts::<L>(&arena.solver_bodies, &block.b)) };
    let mut bodies = JointBodies::new(arena, block, y);
    for k in 0..block.rows as usize {
        // SAFETY: the rows of a block belong to it.
        let row = unsafe { arena.rows.get(block.first_row as usize + k) };
        let impulse = L::load(&row.impulse);
        bodies.apply_linear(Vec3Lanes::load(&row.linear).scaled(impulse));
        bodies.y.apply_angular(Vec3Lanes::load(&row.a), Vec3Lanes::load(&row.b), impulse);
    }
    if block.locks != Locks::NONE {
        let (theta, moved) = bodies.displacements([da, ea, db, eb], parameters);
        let rotations = [RotationLanes::new(theta[0]), RotationLanes::new(theta[1])];
        let arms = [
            rotations[0].of(Vec3Lanes::load(&block.arm[0])),
            rotations[1].of(Vec3Lanes::load(&block.arm[1])),
        ];
        let impulse = Vec3Lanes::load(&block.linear);
        if block.locks.has(Locks::POINT) {
            bodies.apply_linear(impulse);
            bodies.apply_angular(arms[0].cross(impulse), arms[1].cross(impulse));
        }
        if block.axes != NONE {
            // SAFETY: the axes of a block belong to it.
            let axes = unsafe { arena.axes.get(block.axes as usize) };
            let now = LockGeometry { rotations, arms };
            let angular = Vec3Lanes::load(&block.angular);
            let angular_impulse = if block.locks.has(Locks::ROTATION) {
                angular
            } else if block.locks.has(Locks::PARALLEL) {
                now.axis(axes, 0, 0).scaled(angular.x) + now.axis(axes, 0, 1).scaled(angular.y)
            } else {
                now.axis(axes, 1, 0).cross(now.axis(axes, 0, 2)).scaled(angular.x)
            };
            bodies.apply_angular(angular_impulse, angular_impulse);
            if !block.locks.has(Locks::POINT) {
                let along = now.axis(axes, 0, 0).scaled(impulse.x)
                    + now.axis(axes, 0, 1).scaled(impulse.y)
                    + now.axis(axes, 0, 2).scaled(impulse.z);
                let reach = Vec3Lanes::load(&block.offset) + moved + arms[1];
                bodies.apply_linear(along);
                bodies.apply_angular(reach.cross(along), arms[1].cross(along));
            }
        }
    }
    // SAFETY: see `JointArena`.
    unsafe {
        bodies.y.add_since(
            &y,
            &arena.solver_bodies,
            &arena.joint_changes,
            [&block.a, &block.b],
            parameters.first_movable,
        );
    };
}

/// Passes over the joint blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum JointTask {
    Prepare,
    WarmStart,
    Solve,
    Relax,
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn run<L: F32Lanes>(
    task: JointTask,
    arena: &JointArena<'_>,
    blocks: std::ops::Range<usize>,
    parameters: &SweepParameters,
) {
    for index in blocks {
        // SAFETY: the caller has exclusive access to these blocks.
        unsafe {
            match task {
                JointTask::Prepare => prepare::<L>(arena, index),
                JointTask::WarmStart => warm_start::<L>(arena, index, parameters),
                JointTask::Solve => sweep_block::<L, true>(arena, index, parameters),
                JointTask::Relax => sweep_block::<L, false>(arena, index, parameters),
            }
        }
    }
}

super::lanes::dispatch!(JointTask, JointArena);
