//! Joint kernels: eight joints at a time. `joint_constraint` describes which rows follow the bodies within a
//! step.
//!
//! The anchors of a ball joint are one vector equation C = x_B + r_B − x_A − r_A = 0: with Ċ = u = v_B + ω_B
//! × r_B − v_A − ω_A × r_A and K = Σ (1/m) 1 − [r]× I⁻¹ [r]×, the impulse is −K⁻¹ (u + rate·C), softened as
//! in `softness`. Locked rotations likewise, with K = I_A⁻¹ + I_B⁻¹.

use super::block::{Frame, Mover, Sweep};
use super::bond::{BondAxes, BondBlock, BondRow};
use super::kernel::{Axes, Pair, drives, inverse, inverse_2x2, shifts};
use super::lanes::{Lanes, Row, Vector};
use super::roster::NONE;
use crate::joint::Locks;
use rattleback_numerics::team::Shared;

/// Data that the joint kernels access; the rules are those of
/// [`ContactArena`](super::contact_kernel::ContactArena).
#[derive(Clone, Copy, Debug)]
pub(super) struct BondArena<'s> {
    pub movers: Shared<'s, Mover>,
    pub frames: Shared<'s, Frame>,
    /// By solver body: velocity change by joints in the present sub-step.
    pub held: Shared<'s, Row>,
    pub blocks: Shared<'s, BondBlock>,
    pub axes: Shared<'s, BondAxes>,
    pub rows: Shared<'s, BondRow>,
}

/// Columns of eight 3×3 matrices.
type Matrix<L> = [Vector<L>; 3];

#[inline(always)]
fn matrix<L: Lanes>(rows: &[[Row; 3]; 3]) -> Matrix<L> {
    [Vector::load(&rows[0]), Vector::load(&rows[1]), Vector::load(&rows[2])]
}

/// M v.
#[inline(always)]
fn times<L: Lanes>(m: &Matrix<L>, v: Vector<L>) -> Vector<L> {
    m[0].scaled(v.x) + m[1].scaled(v.y) + m[2].scaled(v.z)
}

/// Mᵀ v.
#[inline(always)]
fn transposed_times<L: Lanes>(m: &Matrix<L>, v: Vector<L>) -> Vector<L> {
    Vector::new(m[0].dot(v), m[1].dot(v), m[2].dot(v))
}

/// Coefficients ±1/(2k + 1)! and ±1/(2k + 2)! of the power series below.
const SINE: [f32; 8] = [
    1.0,
    -1.0 / 6.0,
    1.0 / 120.0,
    -1.0 / 5040.0,
    1.0 / 362_880.0,
    -1.0 / 39_916_800.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 1_307_674_368_000.0,
];
const COSINE: [f32; 8] = [
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
struct Turn<L> {
    theta: Vector<L>,
    s: L,
    c: L,
}

/// Σ terms_k xᵏ by Horner's scheme.
///
/// Without closures: a function that is not certainly inlined is compiled without AVX.
#[inline(always)]
fn series<L: Lanes>(terms: &[f32; 8], x: L) -> L {
    let mut sum = L::splat(terms[7]);
    for k in (0..7).rev() {
        sum = sum * x + L::splat(terms[k]);
    }
    sum
}

impl<L: Lanes> Turn<L> {
    #[inline(always)]
    fn new(theta: Vector<L>) -> Self {
        // The series are accurate up to |θ| = 4, a little more than half a turn, which also limits the
        // rotation that a step can follow.
        let x = theta.dot(theta).smaller(L::splat(16.0));
        Self { theta, s: series(&SINE, x), c: series(&COSINE, x) }
    }

    #[inline(always)]
    fn of(&self, v: Vector<L>) -> Vector<L> {
        let once = self.theta.cross(v);
        let twice = self.theta.cross(once);
        v + once.scaled(self.s) + twice.scaled(self.c)
    }
}

/// Symmetric 3×3 matrix: xx, xy, xz, yy, yz, zz.
type Symmetric<L> = [L; 6];

#[inline(always)]
fn symmetric_inverse<L: Lanes>(k: Symmetric<L>) -> Symmetric<L> {
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

#[inline(always)]
fn symmetric_times<L: Lanes>(m: &Symmetric<L>, v: Vector<L>) -> Vector<L> {
    Vector::new(
        m[0] * v.x + m[1] * v.y + m[2] * v.z,
        m[1] * v.x + m[3] * v.y + m[4] * v.z,
        m[2] * v.x + m[4] * v.y + m[5] * v.z,
    )
}

/// Adds Σ v vᵀ over the columns v: I⁻¹ in world axes for the columns spin_k, −[r]× I⁻¹ [r]× for the columns r
/// × spin_k, where I⁻¹ = Σ spin_k spin_kᵀ.
#[inline(always)]
fn add_outer<L: Lanes>(k: &mut Symmetric<L>, columns: &Matrix<L>) {
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
unsafe fn prepare<L: Lanes>(arena: &BondArena<'_>, index: usize) {
    // SAFETY: see `BondArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    for side in 0..2 {
        let bodies = if side == 0 { block.a } else { block.b };
        // SAFETY: frames do not change while blocks are prepared.
        let frame: Axes<L> = unsafe { Axes::gather(&arena.frames, &bodies) };
        frame.out(Vector::load(&block.arm[side])).store(&mut block.arm[side]);
        frame.x.scaled(frame.root.x).store(&mut block.spin[side][0]);
        frame.y.scaled(frame.root.y).store(&mut block.spin[side][1]);
        frame.z.scaled(frame.root.z).store(&mut block.spin[side][2]);
        frame.scale.store(&mut block.scale[side]);
        if block.axes != NONE {
            // SAFETY: the axes of a block belong to it.
            let axes = unsafe { arena.axes.get_mut(block.axes as usize) };
            for axis in &mut axes.axes[side] {
                frame.out(Vector::load(axis)).store(axis);
            }
        }
    }
}

/// Velocities and scaling of the two bodies of eight joints during a sweep.
struct Work<L> {
    y: Pair<L>,
    spin: [Matrix<L>; 2],
    scale: [L; 2],
    /// v_A, ω_A, v_B, ω_B of kinematic sides.
    own: Option<[Vector<L>; 4]>,
}

impl<L: Lanes> Work<L> {
    #[inline(always)]
    fn new(arena: &BondArena<'_>, block: &BondBlock, y: Pair<L>) -> Self {
        let mut own = None;
        if block.driven {
            // SAFETY: frames do not change during a step.
            #[allow(unsafe_code)]
            let ((va, wa), (vb, wb)) =
                unsafe { (drives::<L>(&arena.frames, &block.a), drives::<L>(&arena.frames, &block.b)) };
            own = Some([va, wa, vb, wb]);
        }
        let scale = [L::load(&block.scale[0]), L::load(&block.scale[1])];
        Self { y, spin: [matrix(&block.spin[0]), matrix(&block.spin[1])], scale, own }
    }

    /// Shifts since the beginning of the step ⇒ rotation vectors of both sides, and displacement of B's
    /// centre relative to A's.
    #[inline(always)]
    fn come(&self, [da, ea, db, eb]: [Vector<L>; 4], sweep: &Sweep) -> ([Vector<L>; 2], Vector<L>) {
        let mut theta = [times(&self.spin[0], ea), times(&self.spin[1], eb)];
        let mut moved = db.scaled(self.scale[1]) - da.scaled(self.scale[0]);
        if let Some([va, wa, vb, wb]) = self.own {
            let elapsed = L::splat(sweep.elapsed);
            theta = [theta[0] + wa.scaled(elapsed), theta[1] + wb.scaled(elapsed)];
            moved = moved + (vb - va).scaled(elapsed);
        }
        (theta, moved)
    }

    /// diag(1/√I) Rᵀ d of both bodies.
    #[inline(always)]
    fn turning(&self, d: Vector<L>) -> [Vector<L>; 2] {
        [transposed_times(&self.spin[0], d), transposed_times(&self.spin[1], d)]
    }

    #[inline(always)]
    fn omegas(&self) -> [Vector<L>; 2] {
        let mut omegas = [times(&self.spin[0], self.y.wa), times(&self.spin[1], self.y.wb)];
        if let Some([_, a, _, b]) = self.own {
            omegas = [omegas[0] + a, omegas[1] + b];
        }
        omegas
    }

    /// Velocity of B's centre relative to A's.
    #[inline(always)]
    fn parting(&self) -> Vector<L> {
        let mut parting = self.y.vb.scaled(self.scale[1]) - self.y.va.scaled(self.scale[0]);
        if let Some([a, _, b, _]) = self.own {
            parting = parting + b - a;
        }
        parting
    }

    #[inline(always)]
    fn push(&mut self, impulse: Vector<L>) {
        self.y.va = self.y.va - impulse.scaled(self.scale[0]);
        self.y.vb = self.y.vb + impulse.scaled(self.scale[1]);
    }

    /// Applies the angular impulses −a to A and b to B.
    #[inline(always)]
    fn twist(&mut self, a: Vector<L>, b: Vector<L>) {
        self.y.wa = self.y.wa - transposed_times(&self.spin[0], a);
        self.y.wb = self.y.wb + transposed_times(&self.spin[1], b);
    }
}

/// Arms and axes of a block, rotated by θ of each side.
struct Stance<L> {
    turns: [Turn<L>; 2],
    arms: [Vector<L>; 2],
}

impl<L: Lanes> Stance<L> {
    #[inline(always)]
    fn axis(&self, axes: &BondAxes, side: usize, k: usize) -> Vector<L> {
        self.turns[side].of(Vector::load(&axes.axes[side][k]))
    }
}

/// Product of two rows of pure rotation, summed over both bodies.
#[inline(always)]
fn product<L: Lanes>(one: &[Vector<L>; 2], other: &[Vector<L>; 2]) -> L {
    one[0].dot(other[0]) + one[1].dot(other[1])
}

/// Coefficients of the soft constraint in a sweep.
struct Pull<L> {
    rate: L,
    soft: L,
    leak: L,
}

/// One sweep over eight joints, with the bias that corrects drift (`BIASED`) or without.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn sweep_block<L: Lanes, const PUSH: bool>(arena: &BondArena<'_>, index: usize, sweep: &Sweep) {
    // SAFETY: see `BondArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `BondArena`.
    let (y, (da, ea), (db, eb)): (Pair<L>, _, _) = unsafe {
        (
            Pair::gather(&arena.movers, &block.a, &block.b),
            shifts::<L>(&arena.movers, &block.a),
            shifts::<L>(&arena.movers, &block.b),
        )
    };
    let mut work = Work::new(arena, block, y);
    for k in 0..block.rows as usize {
        // SAFETY: the rows of a block belong to it.
        let row = unsafe { arena.rows.get_mut(block.first_row as usize + k) };
        along_row::<L, PUSH>(row, &mut work, [da, ea, db, eb], sweep);
    }
    if block.locks != Locks::NONE {
        let (theta, moved) = work.come([da, ea, db, eb], sweep);
        let turns = [Turn::new(theta[0]), Turn::new(theta[1])];
        let arms = [turns[0].of(Vector::load(&block.arm[0])), turns[1].of(Vector::load(&block.arm[1]))];
        let gap = Vector::load(&block.apart) + moved + arms[1] - arms[0];
        let soft = &sweep.bond;
        let pull = if PUSH {
            Pull { rate: L::splat(soft.rate), soft: L::splat(soft.mass), leak: L::splat(soft.impulse) }
        } else {
            Pull { rate: L::splat(0.0), soft: L::splat(1.0), leak: L::splat(0.0) }
        };
        let now = Stance { turns, arms };
        if block.axes != NONE {
            // SAFETY: the axes of a block belong to it.
            let axes = unsafe { arena.axes.get(block.axes as usize) };
            rotation(block, axes, &mut work, &now, &pull);
            if !block.locks.has(Locks::POINT) {
                translation(block, axes, &mut work, &now, gap, &pull);
            }
        }
        if block.locks.has(Locks::POINT) {
            point::<L, PUSH>(block, &mut work, theta, &now, gap, &pull, sweep);
        }
    }
    // SAFETY: see `BondArena`.
    unsafe { work.y.add_since(&y, &arena.movers, &arena.held, [&block.a, &block.b], sweep.first_free) };
}

/// The anchors of a ball joint (three locked translations).
#[inline(always)]
fn point<L: Lanes, const PUSH: bool>(
    block: &mut BondBlock,
    work: &mut Work<L>,
    theta: [Vector<L>; 2],
    now: &Stance<L>,
    gap: Vector<L>,
    pull: &Pull<L>,
    sweep: &Sweep,
) {
    let omegas = work.omegas();
    let arms = now.arms;
    let mut ahead = arms;
    if PUSH {
        let half = L::splat(0.5 / sweep.rate);
        ahead = [
            Turn::new(theta[0] + omegas[0].scaled(half)).of(Vector::load(&block.arm[0])),
            Turn::new(theta[1] + omegas[1].scaled(half)).of(Vector::load(&block.arm[1])),
        ];
        let masses = work.scale[0] * work.scale[0] + work.scale[1] * work.scale[1];
        let zero = L::splat(0.0);
        let mut k = [masses, zero, zero, masses, zero, masses];
        for side in 0..2 {
            let (spin, arm) = (&work.spin[side], arms[side]);
            add_outer(&mut k, &[arm.cross(spin[0]), arm.cross(spin[1]), arm.cross(spin[2])]);
        }
        let there = L::load(&block.there);
        let inverse = symmetric_inverse(k);
        for entry in 0..6 {
            (inverse[entry] * there).store(&mut block.inverse[entry]);
        }
    }
    let mut inverse = [L::splat(0.0); 6];
    for entry in 0..6 {
        inverse[entry] = L::load(&block.inverse[entry]);
    }
    let u = work.parting() + omegas[1].cross(ahead[1]) - omegas[0].cross(ahead[0]);
    let old = Vector::load(&block.linear);
    let wanted = u + bounded(gap.scaled(pull.rate), sweep.push_speed);
    let change = symmetric_times(&inverse, wanted).scaled(-pull.soft) - old.scaled(pull.leak);
    (old + change).store(&mut block.linear);
    work.push(change);
    work.twist(arms[0].cross(change), arms[1].cross(change));
}

/// Limits the correction velocity to a multiple of the maximum depenetration speed, so that large errors are
/// corrected without a jolt.
#[inline(always)]
fn bounded<L: Lanes>(v: Vector<L>, push_speed: f32) -> Vector<L> {
    let (length, most) = (v.dot(v).root(), L::splat(4.0 * push_speed));
    let over = length - most;
    v.scaled(over.if_positive(most / over.if_positive(length, L::splat(1.0)), L::splat(1.0)))
}

/// Locked rotations.
#[inline(always)]
fn rotation<L: Lanes>(
    block: &mut BondBlock,
    axes: &BondAxes,
    work: &mut Work<L>,
    now: &Stance<L>,
    pull: &Pull<L>,
) {
    let there = L::load(&block.there);
    let omegas = work.omegas();
    let u = omegas[1] - omegas[0];
    if block.locks.has(Locks::ROTATION) {
        // Σ a × b over the axes is 2 sin φ times the axis of the rotation from A to B.
        let mut sum = Vector::new(L::splat(0.0), L::splat(0.0), L::splat(0.0));
        for k in 0..3 {
            sum = sum + now.axis(axes, 0, k).cross(now.axis(axes, 1, k));
        }
        let error = sum.scaled(L::splat(0.5));
        let zero = L::splat(0.0);
        let mut k = [zero; 6];
        add_outer(&mut k, &work.spin[0]);
        add_outer(&mut k, &work.spin[1]);
        let old = Vector::load(&block.angular);
        let change = symmetric_times(&symmetric_inverse(k), u + error.scaled(pull.rate))
            .scaled(-(pull.soft * there))
            - old.scaled(pull.leak);
        (old + change).store(&mut block.angular);
        work.twist(change, change);
    } else if block.locks.has(Locks::PARALLEL) {
        let error = now.axis(axes, 0, 2).cross(now.axis(axes, 1, 2));
        let d = [now.axis(axes, 0, 0), now.axis(axes, 0, 1)];
        let j = [work.turning(d[0]), work.turning(d[1])];
        let [m11, m12, m22] =
            inverse_2x2(product(&j[0], &j[0]), product(&j[0], &j[1]), product(&j[1], &j[1]));
        let pulled = u + error.scaled(pull.rate);
        let wanted = [d[0].dot(pulled), d[1].dot(pulled)];
        let soft = -(pull.soft * there);
        let old = [L::load(&block.angular[0]), L::load(&block.angular[1])];
        let change = [
            soft * (m11 * wanted[0] + m12 * wanted[1]) - pull.leak * old[0],
            soft * (m12 * wanted[0] + m22 * wanted[1]) - pull.leak * old[1],
        ];
        for k in 0..2 {
            (old[k] + change[k]).store(&mut block.angular[k]);
            work.y.turn(j[k][0].scaled(-L::splat(1.0)), j[k][1], change[k]);
        }
    } else if block.locks.has(Locks::ACROSS) {
        let (z, x) = (now.axis(axes, 0, 2), now.axis(axes, 1, 0));
        let d = x.cross(z);
        let j = work.turning(d);
        let mass = inverse(product(&j, &j)) * there;
        let old = L::load(&block.angular[0]);
        let change = -(pull.soft * mass * (d.dot(u) + z.dot(x) * pull.rate)) - pull.leak * old;
        (old + change).store(&mut block.angular[0]);
        work.y.turn(j[0].scaled(-L::splat(1.0)), j[1], change);
    }
}

/// Locked translations along axes that rotate with A.
#[inline(always)]
fn translation<L: Lanes>(
    block: &mut BondBlock,
    axes: &BondAxes,
    work: &mut Work<L>,
    now: &Stance<L>,
    gap: Vector<L>,
    pull: &Pull<L>,
) {
    let there = L::load(&block.there);
    let masses = work.scale[0] * work.scale[0] + work.scale[1] * work.scale[1];
    let arms = [now.arms[0] + gap, now.arms[1]];
    for k in 0..3 {
        if block.locks.bits() & (1 << k) == 0 {
            continue;
        }
        let d = now.axis(axes, 0, k);
        let turning = [arms[0].cross(d), arms[1].cross(d)];
        let j = [transposed_times(&work.spin[0], turning[0]), transposed_times(&work.spin[1], turning[1])];
        let mass = inverse(masses + j[0].dot(j[0]) + j[1].dot(j[1])) * there;
        let omegas = work.omegas();
        let u = d.dot(work.parting()) + turning[1].dot(omegas[1]) - turning[0].dot(omegas[0]);
        let old = L::load(&block.linear[k]);
        let change = -(pull.soft * mass * (u + d.dot(gap) * pull.rate)) - pull.leak * old;
        (old + change).store(&mut block.linear[k]);
        work.push(d.scaled(change));
        work.y.turn(j[0].scaled(-L::splat(1.0)), j[1], change);
    }
}

/// One row that is constant over the step.
#[inline(always)]
fn along_row<L: Lanes, const PUSH: bool>(
    row: &mut BondRow,
    work: &mut Work<L>,
    [da, ea, db, eb]: [Vector<L>; 4],
    sweep: &Sweep,
) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (d, a, b) = (Vector::load(&row.linear), Vector::load(&row.a), Vector::load(&row.b));
    let [scale_a, scale_b] = work.scale;
    let own = L::load(&row.own);
    let parting = work.y.vb.scaled(scale_b) - work.y.va.scaled(scale_a);
    let speed = d.dot(parting) + work.y.turning(a, b) + own - L::load(&row.speed);
    let gap = L::load(&row.gap)
        + d.dot(db.scaled(scale_b) - da.scaled(scale_a))
        + a.dot(ea)
        + b.dot(eb)
        + own * L::splat(sweep.elapsed);
    let (mass, old, always) = (L::load(&row.mass), L::load(&row.impulse), L::load(&row.always));
    let open = L::load(&row.one_sided) * gap.if_positive(one, zero);
    // Springs and motors act in every sweep; locks and limits have a bias only in the biased one.
    let mends = if PUSH { one } else { always };
    let foreseen = gap * L::splat(sweep.rate);
    let bias = open.if_positive(foreseen, L::load(&row.rate) * gap * mends);
    let soft = open.if_positive(one, one + (L::load(&row.soft) - one) * mends);
    let leak = open.if_positive(zero, L::load(&row.leak) * mends);
    let change = -(mass * soft * (speed + bias)) - leak * old;
    let new = (old + change).larger(L::load(&row.least)).smaller(L::load(&row.most));
    new.store(&mut row.impulse);
    let change = new - old;
    work.push(d.scaled(change));
    work.y.turn(a, b, change);
}

/// Warm start: applies the impulses that eight joints begin a sub-step with.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn warm<L: Lanes>(arena: &BondArena<'_>, index: usize, sweep: &Sweep) {
    // SAFETY: see `BondArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `BondArena`.
    let y: Pair<L> = unsafe { Pair::gather(&arena.movers, &block.a, &block.b) };
    // SAFETY: as above.
    let ((da, ea), (db, eb)) =
        unsafe { (shifts::<L>(&arena.movers, &block.a), shifts::<L>(&arena.movers, &block.b)) };
    let mut work = Work::new(arena, block, y);
    for k in 0..block.rows as usize {
        // SAFETY: the rows of a block belong to it.
        let row = unsafe { arena.rows.get(block.first_row as usize + k) };
        let impulse = L::load(&row.impulse);
        work.push(Vector::load(&row.linear).scaled(impulse));
        work.y.turn(Vector::load(&row.a), Vector::load(&row.b), impulse);
    }
    if block.locks != Locks::NONE {
        let (theta, moved) = work.come([da, ea, db, eb], sweep);
        let turns = [Turn::new(theta[0]), Turn::new(theta[1])];
        let arms = [turns[0].of(Vector::load(&block.arm[0])), turns[1].of(Vector::load(&block.arm[1]))];
        let impulse = Vector::load(&block.linear);
        if block.locks.has(Locks::POINT) {
            work.push(impulse);
            work.twist(arms[0].cross(impulse), arms[1].cross(impulse));
        }
        if block.axes != NONE {
            // SAFETY: the axes of a block belong to it.
            let axes = unsafe { arena.axes.get(block.axes as usize) };
            let now = Stance { turns, arms };
            let angular = Vector::load(&block.angular);
            let twist = if block.locks.has(Locks::ROTATION) {
                angular
            } else if block.locks.has(Locks::PARALLEL) {
                now.axis(axes, 0, 0).scaled(angular.x) + now.axis(axes, 0, 1).scaled(angular.y)
            } else {
                now.axis(axes, 1, 0).cross(now.axis(axes, 0, 2)).scaled(angular.x)
            };
            work.twist(twist, twist);
            if !block.locks.has(Locks::POINT) {
                let along = now.axis(axes, 0, 0).scaled(impulse.x)
                    + now.axis(axes, 0, 1).scaled(impulse.y)
                    + now.axis(axes, 0, 2).scaled(impulse.z);
                let reach = Vector::load(&block.apart) + moved + arms[1];
                work.push(along);
                work.twist(reach.cross(along), arms[1].cross(along));
            }
        }
    }
    // SAFETY: see `BondArena`.
    unsafe { work.y.add_since(&y, &arena.movers, &arena.held, [&block.a, &block.b], sweep.first_free) };
}

/// Passes over the joint blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum BondTask {
    Prepare,
    Warm,
    Push,
    Relax,
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn run<L: Lanes>(
    task: BondTask,
    arena: &BondArena<'_>,
    blocks: std::ops::Range<usize>,
    sweep: &Sweep,
) {
    for index in blocks {
        // SAFETY: the caller has exclusive access to these blocks.
        unsafe {
            match task {
                BondTask::Prepare => prepare::<L>(arena, index),
                BondTask::Warm => warm::<L>(arena, index, sweep),
                BondTask::Push => sweep_block::<L, true>(arena, index, sweep),
                BondTask::Relax => sweep_block::<L, false>(arena, index, sweep),
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
unsafe fn run_wide(task: BondTask, arena: &BondArena<'_>, blocks: std::ops::Range<usize>, sweep: &Sweep) {
    // SAFETY: guaranteed by the caller.
    unsafe { run::<super::lanes::Wide>(task, arena, blocks, sweep) }
}

/// Runs a pass over a range of blocks, to which the caller has exclusive access.
#[allow(unsafe_code)]
pub(super) unsafe fn perform(
    wide: bool,
    task: BondTask,
    arena: &BondArena<'_>,
    blocks: std::ops::Range<usize>,
    sweep: &Sweep,
) {
    #[cfg(target_arch = "x86_64")]
    if wide {
        // SAFETY: AVX2 support was detected.
        return unsafe { run_wide(task, arena, blocks, sweep) };
    }
    let _ = wide;
    // SAFETY: guaranteed by the caller.
    unsafe { run::<super::lanes::Eight>(task, arena, blocks, sweep) }
}
