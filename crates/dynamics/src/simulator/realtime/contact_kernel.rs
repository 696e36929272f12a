//! Contact kernels: eight manifolds at a time.
//!
//! `prepare` computes the rows from the manifolds, `warm_start` applies the impulses of the last step,
//! `solve` is the sweep that corrects overlap by soft constraints, `relax` the one without bias, which
//! removes the velocity that the correction added and applies friction, `store_impulses` writes impulses
//! back. The order (solve with bias, integrate, relax) is that of soft-step solvers (Catto 2024, Solver2D).
//!
//! Friction acts at one point of the manifold, the centre of pressure, as a 2-vector inside the disc of
//! radius μ Σλ; the impulse about the normal is bounded by μ Σλ times the mean lever arm of the points.
//!
//! The points of a manifold are updated by a damped Jacobi iteration. Updated one after the other
//! (Gauss–Seidel), a box that settles on four corners would always tilt towards the same one, and a wall of
//! boxes on soft contacts would sway for minutes.

use super::contact_block::{ContactBlock, PointRows, RollingRows, SurfaceVelocity, SweepParameters};
use super::lanes::{F32Lanes, F32x8, LANES, Vec3Lanes};
use super::manifold_constraint::{MAX_POINTS, ManifoldConstraint};
use super::sim_bodies::NONE;
use super::solver::ManifoldPointer;
use super::solver_body::{BodyRow, SolverBody, SolverFrame};
use super::tuning::JACOBI_RELAXATION;
use rattleback_numerics::team::Shared;

/// The two bodies of a manifold that enters the solver: body slots at first, then solver body indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct ManifoldBodies {
    pub a: u32,
    pub b: u32,
}

/// Data that the contact kernels access. Two threads never hold the same block, and blocks of one colour
/// share no solver body that is written (graph colouring, see `solver`).
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactArena<'s> {
    pub solver_bodies: Shared<'s, SolverBody>,
    pub frames: Shared<'s, SolverFrame>,
    pub manifolds: Shared<'s, ManifoldPointer>,
    pub blocks: Shared<'s, ContactBlock>,
    pub points: Shared<'s, PointRows>,
    pub rolling: Shared<'s, RollingRows>,
    pub surface_velocities: Shared<'s, SurfaceVelocity>,
}

/// Velocities y of the two bodies of eight constraints.
#[derive(Clone, Copy)]
pub(super) struct BodyPairLanes<L> {
    pub va: Vec3Lanes<L>,
    pub wa: Vec3Lanes<L>,
    pub vb: Vec3Lanes<L>,
    pub wb: Vec3Lanes<L>,
}

/// Transposes eight rows into eight columns.
#[inline(always)]
fn columns<L: F32Lanes>(rows: [L; LANES]) -> [L; LANES] {
    L::transpose(rows)
}

/// Gathers the velocities of eight bodies ⇒ (translation, rotation).
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn velocities<L: F32Lanes>(
    solver_bodies: &Shared<'_, SolverBody>,
    index: &[u32; LANES],
) -> (Vec3Lanes<L>, Vec3Lanes<L>) {
    let mut rows = [L::splat(0.0); LANES];
    for lane in 0..LANES {
        // SAFETY: see `ContactArena`.
        rows[lane] = L::load(unsafe { &solver_bodies.get(index[lane] as usize).velocity.0 });
    }
    let [x, y, z, _, u, v, w, _] = columns(rows);
    (Vec3Lanes::new(x, y, z), Vec3Lanes::new(u, v, w))
}

/// Gathers the shifts ∫y dt of eight bodies ⇒ (translation, rotation).
#[inline(always)]
#[allow(unsafe_code)]
pub(super) unsafe fn shifts<L: F32Lanes>(
    solver_bodies: &Shared<'_, SolverBody>,
    index: &[u32; LANES],
) -> (Vec3Lanes<L>, Vec3Lanes<L>) {
    let mut rows = [L::splat(0.0); LANES];
    for lane in 0..LANES {
        // SAFETY: see `ContactArena`.
        rows[lane] = L::load(unsafe { &solver_bodies.get(index[lane] as usize).shift.0 });
    }
    let [x, y, z, _, u, v, w, _] = columns(rows);
    (Vec3Lanes::new(x, y, z), Vec3Lanes::new(u, v, w))
}

/// Gathers the velocities of eight kinematic bodies ⇒ (v, ω); zero for others.
#[inline(always)]
#[allow(unsafe_code)]
pub(super) unsafe fn kinematic_velocities<L: F32Lanes>(
    frames: &Shared<'_, SolverFrame>,
    index: &[u32; LANES],
) -> (Vec3Lanes<L>, Vec3Lanes<L>) {
    // SAFETY: frames are only read while blocks are prepared.
    let [x, y, z, _, u, v, w, _] =
        columns(index.map(|i| L::load(unsafe { &frames.get(i as usize).surface_velocity.0 })));
    (Vec3Lanes::new(x, y, z), Vec3Lanes::new(u, v, w))
}

impl<L: F32Lanes> BodyPairLanes<L> {
    /// Reads the velocities of both bodies.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn gather(solver_bodies: &Shared<'_, SolverBody>, a: &[u32; LANES], b: &[u32; LANES]) -> Self {
        // SAFETY: see `ContactArena`.
        let ((va, wa), (vb, wb)) = unsafe { (velocities(solver_bodies, a), velocities(solver_bodies, b)) };
        Self { va, wa, vb, wb }
    }

    /// Writes the velocities back to the bodies that impulses may change.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn scatter(
        self,
        solver_bodies: &Shared<'_, SolverBody>,
        a: &[u32; LANES],
        b: &[u32; LANES],
        first_movable: u32,
    ) {
        let zero = L::splat(0.0);
        for (v, w, index) in [(self.va, self.wa, a), (self.vb, self.wb, b)] {
            let rows = columns([v.x, v.y, v.z, zero, w.x, w.y, w.z, zero]);
            for (row, &i) in rows.into_iter().zip(index) {
                if i >= first_movable {
                    // SAFETY: see `ContactArena`.
                    row.store(unsafe { &mut solver_bodies.get_mut(i as usize).velocity.0 });
                }
            }
        }
    }

    /// Adds the change since `before` to the velocities and to the accumulated effect of joints.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn add_since(
        self,
        before: &Self,
        solver_bodies: &Shared<'_, SolverBody>,
        joint_changes: &Shared<'_, BodyRow>,
        [a, b]: [&[u32; LANES]; 2],
        first_movable: u32,
    ) {
        let zero = L::splat(0.0);
        let sides =
            [(self.va - before.va, self.wa - before.wa, a), (self.vb - before.vb, self.wb - before.wb, b)];
        for (v, w, index) in sides {
            let rows = columns([v.x, v.y, v.z, zero, w.x, w.y, w.z, zero]);
            for (row, &i) in rows.into_iter().zip(index) {
                if i >= first_movable {
                    // SAFETY: see `ContactArena`.
                    let (velocity, joint_change) = unsafe {
                        (
                            &mut solver_bodies.get_mut(i as usize).velocity.0,
                            &mut joint_changes.get_mut(i as usize).0,
                        )
                    };
                    (L::load(velocity) + row).store(velocity);
                    (L::load(joint_change) + row).store(joint_change);
                }
            }
        }
    }

    /// Applies an impulse along a row with linear parts (na, nb) and angular parts (a, b).
    #[inline(always)]
    fn apply_along(
        &mut self,
        na: Vec3Lanes<L>,
        nb: Vec3Lanes<L>,
        a: Vec3Lanes<L>,
        b: Vec3Lanes<L>,
        impulse: L,
    ) {
        self.va = self.va + na.scaled(impulse);
        self.vb = self.vb + nb.scaled(impulse);
        self.apply_angular(a, b, impulse);
    }

    /// Applies an impulse along a row of pure rotation.
    #[inline(always)]
    pub fn apply_angular(&mut self, a: Vec3Lanes<L>, b: Vec3Lanes<L>, impulse: L) {
        self.wa = self.wa + a.scaled(impulse);
        self.wb = self.wb + b.scaled(impulse);
    }

    /// Velocity along the angular part of a row.
    #[inline(always)]
    pub fn angular_rate(&self, a: Vec3Lanes<L>, b: Vec3Lanes<L>) -> L {
        a.dot(self.wa) + b.dot(self.wb)
    }
}

/// R, 1/√I and 1/√m of eight bodies.
#[derive(Clone, Copy)]
pub(super) struct FrameLanes<L> {
    pub x: Vec3Lanes<L>,
    pub y: Vec3Lanes<L>,
    pub z: Vec3Lanes<L>,
    pub inverse_sqrt_inertia: Vec3Lanes<L>,
    pub inverse_sqrt_mass: L,
}

impl<L: F32Lanes> FrameLanes<L> {
    /// Reads the frames of eight bodies.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn gather(frames: &Shared<'_, SolverFrame>, index: &[u32; LANES]) -> Self {
        // SAFETY: frames are only read while blocks are prepared.
        let [xx, xy, xz, yx, yy, yz, zx, zy] =
            columns(index.map(|i| L::load(unsafe { &frames.get(i as usize).axes })));
        // SAFETY: as above.
        let [zz, root_x, root_y, root_z, inverse_sqrt_mass, ..] =
            columns(index.map(|i| L::load(unsafe { &frames.get(i as usize).scaling })));
        Self {
            x: Vec3Lanes::new(xx, xy, xz),
            y: Vec3Lanes::new(yx, yy, yz),
            z: Vec3Lanes::new(zx, zy, zz),
            inverse_sqrt_inertia: Vec3Lanes::new(root_x, root_y, root_z),
            inverse_sqrt_mass,
        }
    }

    /// R v.
    #[inline(always)]
    pub fn to_world(self, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
        self.x.scaled(v.x) + self.y.scaled(v.y) + self.z.scaled(v.z)
    }

    /// Rᵀ v.
    #[inline(always)]
    fn to_body(self, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
        Vec3Lanes::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// diag(1/√I) Rᵀ v.
    #[inline(always)]
    fn to_body_scaled(self, v: Vec3Lanes<L>) -> Vec3Lanes<L> {
        Vec3Lanes::new(
            self.x.dot(v) * self.inverse_sqrt_inertia.x,
            self.y.dot(v) * self.inverse_sqrt_inertia.y,
            self.z.dot(v) * self.inverse_sqrt_inertia.z,
        )
    }
}

/// 1/k where k > 0, else 0.
#[inline(always)]
pub(super) fn inverse<L: F32Lanes>(k: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    k.if_positive(one / k.if_positive(k, one), zero)
}

/// Inverse of a symmetric 2×2 matrix; zero if it is singular.
#[inline(always)]
pub(super) fn inverse_2x2<L: F32Lanes>(k11: L, k12: L, k22: L) -> [L; 3] {
    let scale = inverse(k11 * k22 - k12 * k12);
    [k22 * scale, -(k12 * scale), k11 * scale]
}

/// A unit vector orthogonal to the unit vector n, without a branch (Duff et al. 2017).
#[inline(always)]
fn orthogonal<L: F32Lanes>(n: Vec3Lanes<L>) -> Vec3Lanes<L> {
    let one = L::splat(1.0);
    let sign = (n.z + L::splat(f32::MIN_POSITIVE)).if_positive(one, -one);
    let a = -(one / (sign + n.z));
    let b = n.x * n.y * a;
    Vec3Lanes::new(one + sign * n.x * n.x * a, sign * b, -(sign * n.x))
}

/// Computes the rows of a block.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn prepare<L: F32Lanes>(arena: &ContactArena<'_>, index: usize) {
    // SAFETY: see `ContactArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    let empty = ManifoldConstraint::default();
    let manifold: [&ManifoldConstraint; LANES] = std::array::from_fn(|lane| {
        if lane < block.manifold_count as usize {
            // SAFETY: a manifold belongs to one block only.
            unsafe { &*arena.manifolds.get(block.first_manifold as usize + lane).0 }
        } else {
            &empty
        }
    });
    // SAFETY: frames do not change while blocks are prepared.
    let (a, b): (FrameLanes<L>, FrameLanes<L>) =
        unsafe { (FrameLanes::gather(&arena.frames, &block.a), FrameLanes::gather(&arena.frames, &block.b)) };
    let zero = L::splat(0.0);
    let one = L::splat(1.0);
    let [n0, n1, n2, d0, d1, d2, ..] = columns(manifold.map(|manifold| L::load(&manifold.head)));
    let [f0, f1, f2, twist, r0, r1, r2, _] = columns(manifold.map(|manifold| L::load(&manifold.friction)));
    let [static_friction, kinetic_friction, spin, roll, immovable, count, ..] =
        columns(manifold.map(|manifold| L::load(&manifold.surface)));
    let n = a.to_world(Vec3Lanes::new(n0, n1, n2));
    let (t, offset) = (orthogonal(n), Vec3Lanes::new(d0, d1, d2));
    let s = n.cross(t);
    let (na, nb) = (n.scaled(-a.inverse_sqrt_mass), n.scaled(b.inverse_sqrt_mass));
    let linear = na.dot(na) + nb.dot(nb);
    let has_kinematic = block.surface_velocity != NONE;

    let mut arms = [(Vec3Lanes::new(zero, zero, zero), Vec3Lanes::new(zero, zero, zero), zero); MAX_POINTS];
    let mut load = zero;
    for k in 0..block.points as usize {
        let [ax, ay, az, bx, by, bz, impulse, _] =
            columns(manifold.map(|manifold| L::load(&manifold.points[k].0)));
        let (ra, rb) = (a.to_world(Vec3Lanes::new(ax, ay, az)), b.to_world(Vec3Lanes::new(bx, by, bz)));
        let gap = offset + rb - ra;
        let half = gap.scaled(L::splat(0.5));
        let (ra, rb) = (ra + half, rb - half);
        let present = (count - L::splat(k as f32)).if_positive(one, zero);
        let (ja, jb) = (a.to_body_scaled(n.cross(ra)), b.to_body_scaled(rb.cross(n)));
        let mass = inverse(linear + ja.dot(ja) + jb.dot(jb)) * present;
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get_mut(block.first_point as usize + k) };
        ja.store(&mut rows.a);
        jb.store(&mut rows.b);
        n.dot(gap).store(&mut rows.gap);
        mass.store(&mut rows.mass);
        let impulse = impulse * present;
        impulse.store(&mut rows.impulse);
        load = load + impulse;
        arms[k] = (ra, rb, impulse * present);
    }
    // SAFETY: the points of a block belong to it.
    unsafe { scale_jacobi(&arena.points, block, linear) }.store(&mut block.jacobi_scale);
    // Friction acts at the centre of pressure; without any load yet, at the centroid of the points.
    let small = load * L::splat(1e-3) + L::splat(1e-12);
    let (mut weights, mut center_a, mut center_b) =
        (zero, Vec3Lanes::new(zero, zero, zero), Vec3Lanes::new(zero, zero, zero));
    for (k, (ra, rb, weight)) in arms.iter_mut().enumerate().take(block.points as usize) {
        let present = (count - L::splat(k as f32)).if_positive(one, zero);
        *weight = (*weight + small) * present;
        weights = weights + *weight;
        center_a = center_a + ra.scaled(*weight);
        center_b = center_b + rb.scaled(*weight);
    }
    let inverse_weights = inverse(weights);
    let (center_a, center_b) = (center_a.scaled(inverse_weights), center_b.scaled(inverse_weights));
    let mut lever = zero;
    for (ra, _, weight) in arms.iter().take(block.points as usize) {
        let arm = *ra - center_a;
        lever = lever + *weight * inverse_weights * arm.dot(arm).sqrt();
    }

    let (ta, tb) = (a.to_body_scaled(t.cross(center_a)), b.to_body_scaled(center_b.cross(t)));
    let (sa, sb) = (a.to_body_scaled(s.cross(center_a)), b.to_body_scaled(center_b.cross(s)));
    let masses = a.inverse_sqrt_mass * a.inverse_sqrt_mass + b.inverse_sqrt_mass * b.inverse_sqrt_mass;
    let k11 = masses + ta.dot(ta) + tb.dot(tb);
    let k22 = masses + sa.dot(sa) + sb.dot(sb);
    let k12 = ta.dot(sa) + tb.dot(sb);
    let present = count.if_positive(one, zero);
    let friction_mass = inverse_2x2(k11, k12, k22);
    let (pa, pb) = (a.to_body_scaled(n.scaled(-one)), b.to_body_scaled(n));
    let friction_impulse = a.to_world(Vec3Lanes::new(f0, f1, f2));

    n.store(&mut block.normal);
    t.store(&mut block.tangent);
    a.inverse_sqrt_mass.store(&mut block.inverse_sqrt_mass[0]);
    b.inverse_sqrt_mass.store(&mut block.inverse_sqrt_mass[1]);
    ta.store(&mut block.friction_a[0]);
    tb.store(&mut block.friction_b[0]);
    sa.store(&mut block.friction_a[1]);
    sb.store(&mut block.friction_b[1]);
    for (k, mass) in friction_mass.into_iter().enumerate() {
        (mass * present).store(&mut block.friction_mass[k]);
    }
    (friction_impulse.dot(t) * present).store(&mut block.friction[0]);
    (friction_impulse.dot(s) * present).store(&mut block.friction[1]);
    pa.store(&mut block.twist_a);
    pb.store(&mut block.twist_b);
    (inverse(pa.dot(pa) + pb.dot(pb)) * present).store(&mut block.twist_mass);
    (twist * present).store(&mut block.twist);
    static_friction.store(&mut block.static_friction);
    kinetic_friction.store(&mut block.kinetic_friction);
    (kinetic_friction * lever + spin).store(&mut block.twist_lever);
    immovable.store(&mut block.immovable);

    if block.rolling != NONE {
        // SAFETY: rolling rows of a block belong to it.
        let rows = unsafe { arena.rolling.get_mut(block.rolling as usize) };
        let resistance = a.to_world(Vec3Lanes::new(r0, r1, r2));
        let (ta, tb) = (a.to_body_scaled(t.scaled(-one)), b.to_body_scaled(t));
        let (sa, sb) = (a.to_body_scaled(s.scaled(-one)), b.to_body_scaled(s));
        let mass = inverse_2x2(ta.dot(ta) + tb.dot(tb), ta.dot(sa) + tb.dot(sb), sa.dot(sa) + sb.dot(sb));
        ta.store(&mut rows.a[0]);
        tb.store(&mut rows.b[0]);
        sa.store(&mut rows.a[1]);
        sb.store(&mut rows.b[1]);
        let rolls = roll.if_positive(one, zero) * present;
        for (k, mass) in mass.into_iter().enumerate() {
            (mass * rolls).store(&mut rows.mass[k]);
        }
        (resistance.dot(t) * rolls).store(&mut rows.impulse[0]);
        (resistance.dot(s) * rolls).store(&mut rows.impulse[1]);
        roll.store(&mut rows.lever);
    }
    if has_kinematic {
        // SAFETY: as above.
        let surface_velocity = unsafe { arena.surface_velocities.get_mut(block.surface_velocity as usize) };
        // SAFETY: frames do not change while blocks are prepared.
        let ((va, wa), (vb, wb)) = unsafe {
            (kinematic_velocities(&arena.frames, &block.a), kinematic_velocities(&arena.frames, &block.b))
        };
        for (k, (ra, rb, _)) in arms.iter().enumerate().take(block.points as usize) {
            n.dot(vb + wb.cross(*rb) - va - wa.cross(*ra)).store(&mut surface_velocity.normal[k]);
        }
        let slip = vb + wb.cross(center_b) - va - wa.cross(center_a);
        t.dot(slip).store(&mut surface_velocity.tangent[0]);
        s.dot(slip).store(&mut surface_velocity.tangent[1]);
        n.dot(wb - wa).store(&mut surface_velocity.twist);
    }
}

/// Scales the effective masses of the points of a manifold for a Jacobi iteration ⇒ scale of the points in
/// contact.
///
/// With K = J M⁻¹ Jᵀ of the points and D its diagonal, an iteration damped by f converges for f < 2/λ, λ the
/// largest eigenvalue of D⁻¹K. By Gershgorin's theorem λ ≤ max_k Σ_l |K_kl| / K_kk; f is 3/2 over this bound,
/// so that no mode overshoots by more than a half and the common mode of all points, the load of a stack,
/// converges nearly as fast as with Gauss–Seidel (with less, a heavy body on light ones would bounce for
/// long). Points in contact take only each other into account, not the speculative ones: a card that leans on
/// its edge is solved as if its other edge were absent.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn scale_jacobi<L: F32Lanes>(points: &Shared<'_, PointRows>, block: &ContactBlock, linear: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (first, count) = (block.first_point as usize, block.points as usize);
    // SAFETY: the points of a block belong to it.
    let row = |k: usize| unsafe { points.get(first + k) };
    // 1 for points in contact, 0 for speculative ones.
    let touch =
        |row: &PointRows| L::load(&row.impulse).if_positive(one, L::load(&row.gap).if_positive(zero, one));
    let (mut sums, mut touching) = ([one; MAX_POINTS], [one; MAX_POINTS]);
    for k in 1..count {
        let (ja, jb) = (Vec3Lanes::load(&row(k).a), Vec3Lanes::load(&row(k).b));
        let (mass, touch_k) = (L::load(&row(k).mass), touch(row(k)));
        for l in 0..k {
            let k_kl = linear + ja.dot(Vec3Lanes::load(&row(l).a)) + jb.dot(Vec3Lanes::load(&row(l).b));
            let size = k_kl.max(-k_kl);
            // An absent point has zero mass and does not contribute.
            let mass_l = L::load(&row(l).mass);
            let (on_k, on_l) = (mass_l.if_positive(size * mass, zero), mass.if_positive(size * mass_l, zero));
            sums[k] = sums[k] + on_k;
            sums[l] = sums[l] + on_l;
            let both = touch_k * touch(row(l));
            touching[k] = touching[k] + on_k * both;
            touching[l] = touching[l] + on_l * both;
        }
    }
    let scale_of = |sums: [L; MAX_POINTS]| {
        (L::splat(JACOBI_RELAXATION) / sums.into_iter().fold(one, F32Lanes::max)).min(one)
    };
    let (of_all, of_touching) = (scale_of(sums), scale_of(touching));
    for k in 0..count {
        let scale = touch(row(k)).if_positive(of_touching, of_all);
        // SAFETY: as above.
        let mass = unsafe { &mut points.get_mut(first + k).mass };
        (L::load(mass) * scale).store(mass);
    }
    of_touching
}

/// Warm start: applies the impulses that a block begins with.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn warm_start<L: F32Lanes>(arena: &ContactArena<'_>, index: usize, first_movable: u32) {
    // SAFETY: see `ContactArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `ContactArena`.
    let mut y: BodyPairLanes<L> = unsafe { BodyPairLanes::gather(&arena.solver_bodies, &block.a, &block.b) };
    let (n, t) = (Vec3Lanes::load(&block.normal), Vec3Lanes::load(&block.tangent));
    let s = n.cross(t);
    let (scale_a, scale_b) = (-L::load(&block.inverse_sqrt_mass[0]), L::load(&block.inverse_sqrt_mass[1]));
    let friction = [L::load(&block.friction[0]), L::load(&block.friction[1])];
    let mut along = t.scaled(friction[0]) + s.scaled(friction[1]);
    for k in 0..2 {
        y.apply_angular(
            Vec3Lanes::load(&block.friction_a[k]),
            Vec3Lanes::load(&block.friction_b[k]),
            friction[k],
        );
    }
    y.apply_angular(Vec3Lanes::load(&block.twist_a), Vec3Lanes::load(&block.twist_b), L::load(&block.twist));
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get(block.first_point as usize + k) };
        let impulse = L::load(&rows.impulse);
        along = along + n.scaled(impulse);
        y.apply_angular(Vec3Lanes::load(&rows.a), Vec3Lanes::load(&rows.b), impulse);
    }
    y.va = y.va + along.scaled(scale_a);
    y.vb = y.vb + along.scaled(scale_b);
    if block.rolling != NONE {
        // SAFETY: as above.
        let rows = unsafe { arena.rolling.get(block.rolling as usize) };
        for k in 0..2 {
            y.apply_angular(
                Vec3Lanes::load(&rows.a[k]),
                Vec3Lanes::load(&rows.b[k]),
                L::load(&rows.impulse[k]),
            );
        }
    }
    // SAFETY: see `ContactArena`.
    unsafe { y.scatter(&arena.solver_bodies, &block.a, &block.b, first_movable) };
}

/// Stops a whole manifold at once, by the mean of its normal rows.
///
/// Point by point, the first corner of a box that lands flat would take the whole impulse and set the box
/// rotating; with warm starting it would also be the first to return it in the next sub-step.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn landing_impulse<L: F32Lanes>(
    arena: &ContactArena<'_>,
    block: &ContactBlock,
    y: &mut BodyPairLanes<L>,
    parameters: &SweepParameters,
) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    // SAFETY: see `ContactArena`.
    let ((da, ea), (db, eb)) =
        unsafe { (shifts::<L>(&arena.solver_bodies, &block.a), shifts::<L>(&arena.solver_bodies, &block.b)) };
    let n = Vec3Lanes::load(&block.normal);
    let (na, nb) =
        (n.scaled(-L::load(&block.inverse_sqrt_mass[0])), n.scaled(L::load(&block.inverse_sqrt_mass[1])));
    let (moved, speed) = (na.dot(da) + nb.dot(db), na.dot(y.va) + nb.dot(y.vb));
    let nothing = Vec3Lanes::new(zero, zero, zero);
    let (mut count, mut approach, mut sum_a, mut sum_b) = (zero, zero, nothing, nothing);
    let mut least = L::splat(f32::MAX);
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get(block.first_point as usize + k) };
        let present = L::load(&rows.mass).if_positive(one, zero);
        let (ja, jb) = (Vec3Lanes::load(&rows.a), Vec3Lanes::load(&rows.b));
        let gap = L::load(&rows.gap) + moved + ja.dot(ea) + jb.dot(eb);
        let residual = speed + y.angular_rate(ja, jb) + gap.max(zero) * L::splat(parameters.substep_rate);
        count = count + present;
        least = least.min(present.if_positive(L::load(&rows.impulse), least));
        approach = approach + residual * present;
        sum_a = sum_a + ja.scaled(present);
        sum_b = sum_b + jb.scaled(present);
    }
    let inverse_count = inverse(count);
    let (ja, jb) = (sum_a.scaled(inverse_count), sum_b.scaled(inverse_count));
    let mass = inverse(na.dot(na) + nb.dot(nb) + ja.dot(ja) + jb.dot(jb));
    // No point can return more than its accumulated impulse.
    let lower_limit = -(least * count);
    let impulse = count.if_positive((-(mass * approach * inverse_count)).max(lower_limit), zero);
    for k in 0..block.points as usize {
        // SAFETY: as above.
        let rows = unsafe { arena.points.get_mut(block.first_point as usize + k) };
        let present = L::load(&rows.mass).if_positive(one, zero);
        (L::load(&rows.impulse) + impulse * inverse_count * present).store(&mut rows.impulse);
    }
    y.apply_along(na, nb, ja, jb, impulse);
}

/// One sweep over the normal rows of a block, with the bias of the soft constraint (`BIASED`) or without.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn solve_normals<L: F32Lanes, const BIASED: bool>(
    arena: &ContactArena<'_>,
    block: &ContactBlock,
    y: &mut BodyPairLanes<L>,
    parameters: &SweepParameters,
) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    // SAFETY: see `ContactArena`.
    let ((da, ea), (db, eb)) =
        unsafe { (shifts::<L>(&arena.solver_bodies, &block.a), shifts::<L>(&arena.solver_bodies, &block.b)) };
    let n = Vec3Lanes::load(&block.normal);
    let (na, nb) =
        (n.scaled(-L::load(&block.inverse_sqrt_mass[0])), n.scaled(L::load(&block.inverse_sqrt_mass[1])));
    let moved = na.dot(da) + nb.dot(db);
    let immovable = L::load(&block.immovable);
    let (soft, hard) = (&parameters.contact, &parameters.immovable_contact);
    let rate = L::splat(soft.bias_rate) + immovable * L::splat(hard.bias_rate - soft.bias_rate);
    let soft_mass = L::splat(soft.mass_scale) + immovable * L::splat(hard.mass_scale - soft.mass_scale);
    let soft_impulse = (L::splat(soft.impulse_scale)
        + immovable * L::splat(hard.impulse_scale - soft.impulse_scale))
        * L::load(&block.jacobi_scale);
    let (speed_along, wa, wb) = (na.dot(y.va) + nb.dot(y.vb), y.wa, y.wb);
    let mut sum = zero;
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get_mut(block.first_point as usize + k) };
        let (ja, jb) = (Vec3Lanes::load(&rows.a), Vec3Lanes::load(&rows.b));
        let mut speed = speed_along + ja.dot(wa) + jb.dot(wb);
        let mut gap = L::load(&rows.gap) + moved + ja.dot(ea) + jb.dot(eb);
        if block.surface_velocity != NONE {
            // SAFETY: as above.
            let kinematic =
                L::load(unsafe { &arena.surface_velocities.get(block.surface_velocity as usize).normal[k] });
            speed = speed + kinematic;
            gap = gap + kinematic * L::splat(parameters.elapsed);
        }
        let mass = L::load(&rows.mass);
        let old = L::load(&rows.impulse);
        let speculative = gap.max(zero) * L::splat(parameters.substep_rate);
        let change = if BIASED {
            let correction = (rate * gap).max(L::splat(-parameters.push_speed));
            let bias = gap.if_positive(speculative, correction);
            let softened = mass * gap.if_positive(one, soft_mass);
            -(softened * (speed + bias)) - gap.if_positive(zero, soft_impulse) * old
        } else {
            -(mass * (speed + speculative))
        };
        let new = (old + change).max(zero);
        new.store(&mut rows.impulse);
        sum = sum + (new - old);
        y.apply_angular(ja, jb, new - old);
    }
    y.va = y.va + na.scaled(sum);
    y.vb = y.vb + nb.scaled(sum);
}

/// The sweep that corrects overlap.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn solve<L: F32Lanes>(arena: &ContactArena<'_>, index: usize, parameters: &SweepParameters) {
    // SAFETY: see `ContactArena`.
    unsafe {
        let block = arena.blocks.get_mut(index);
        let mut y: BodyPairLanes<L> = BodyPairLanes::gather(&arena.solver_bodies, &block.a, &block.b);
        if block.landing {
            landing_impulse(arena, block, &mut y, parameters);
        }
        solve_normals::<L, true>(arena, block, &mut y, parameters);
        y.scatter(&arena.solver_bodies, &block.a, &block.b, parameters.first_movable);
    }
}

/// The sweep without bias; rolling, spinning and sliding friction.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn relax<L: F32Lanes>(arena: &ContactArena<'_>, index: usize, parameters: &SweepParameters) {
    // SAFETY: see `ContactArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `ContactArena`.
    let mut y: BodyPairLanes<L> = unsafe { BodyPairLanes::gather(&arena.solver_bodies, &block.a, &block.b) };
    let mut load = L::splat(0.0);
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        load = load + L::load(unsafe { &arena.points.get(block.first_point as usize + k).impulse });
    }
    let surface_velocity = (block.surface_velocity != NONE).then(|| {
        // SAFETY: as above.
        let surface_velocity = unsafe { arena.surface_velocities.get(block.surface_velocity as usize) };
        [
            L::load(&surface_velocity.tangent[0]),
            L::load(&surface_velocity.tangent[1]),
            L::load(&surface_velocity.twist),
        ]
    });
    if block.rolling != NONE {
        // SAFETY: as above.
        let rows = unsafe { arena.rolling.get_mut(block.rolling as usize) };
        let (a, b) = (rows.a.map(|row| Vec3Lanes::load(&row)), rows.b.map(|row| Vec3Lanes::load(&row)));
        let speeds = [y.angular_rate(a[0], b[0]), y.angular_rate(a[1], b[1])];
        let limit = L::load(&rows.lever) * load;
        let new = project_friction(&rows.mass, speeds, &rows.impulse, limit, limit);
        for k in 0..2 {
            y.apply_angular(a[k], b[k], new[k] - L::load(&rows.impulse[k]));
            new[k].store(&mut rows.impulse[k]);
        }
    }
    {
        let (a, b) = (Vec3Lanes::load(&block.twist_a), Vec3Lanes::load(&block.twist_b));
        let mut speed = y.angular_rate(a, b);
        if let Some(surface_velocity) = surface_velocity {
            speed = speed + surface_velocity[2];
        }
        let old = L::load(&block.twist);
        let limit = L::load(&block.twist_lever) * load;
        let new = (old - L::load(&block.twist_mass) * speed).max(-limit).min(limit);
        new.store(&mut block.twist);
        y.apply_angular(a, b, new - old);
    }
    {
        let (n, t) = (Vec3Lanes::load(&block.normal), Vec3Lanes::load(&block.tangent));
        let s = n.cross(t);
        let (scale_a, scale_b) = (L::load(&block.inverse_sqrt_mass[0]), L::load(&block.inverse_sqrt_mass[1]));
        let slip = y.vb.scaled(scale_b) - y.va.scaled(scale_a);
        let (a, b) = (
            block.friction_a.map(|row| Vec3Lanes::load(&row)),
            block.friction_b.map(|row| Vec3Lanes::load(&row)),
        );
        let mut speeds = [t.dot(slip) + y.angular_rate(a[0], b[0]), s.dot(slip) + y.angular_rate(a[1], b[1])];
        if let Some(surface_velocity) = surface_velocity {
            speeds = [speeds[0] + surface_velocity[0], speeds[1] + surface_velocity[1]];
        }
        let static_limit = L::load(&block.static_friction) * load;
        let kinetic_limit = L::load(&block.kinetic_friction) * load;
        let new =
            project_friction(&block.friction_mass, speeds, &block.friction, static_limit, kinetic_limit);
        let change = [new[0] - L::load(&block.friction[0]), new[1] - L::load(&block.friction[1])];
        let along = t.scaled(change[0]) + s.scaled(change[1]);
        y.va = y.va - along.scaled(scale_a);
        y.vb = y.vb + along.scaled(scale_b);
        for k in 0..2 {
            y.apply_angular(a[k], b[k], change[k]);
            new[k].store(&mut block.friction[k]);
        }
    }
    // SAFETY: see `ContactArena`.
    unsafe {
        solve_normals::<L, false>(arena, block, &mut y, parameters);
        y.scatter(&arena.solver_bodies, &block.a, &block.b, parameters.first_movable);
    }
}

/// Projects a 2-vector impulse onto Coulomb's friction disc: the impulse that stops the sliding if it is not
/// larger than `static_limit`, else one of the size `kinetic_limit` against the sliding velocity.
///
/// With K the 2×2 matrix of the rows and u the sliding velocity, −K⁻¹u would stop it. Where that is too
/// large, scaling it down leaves it along K⁻¹u, oblique to u wherever the body rotates more easily about one
/// axis than about the other, and a sliding block would leave its straight path; Coulomb friction is along
/// −u. A sliding impulse is therefore changed by −m u with a scalar m and then scaled to the limit: the fixed
/// points of this iteration are along −u. It converges for m up to the inverse of the largest eigenvalue of
/// K; det K⁻¹ / tr K⁻¹ is at least half of that.
#[inline(always)]
fn project_friction<L: F32Lanes>(
    mass: &[F32x8; 3],
    speeds: [L; 2],
    old: &[F32x8; 2],
    static_limit: L,
    kinetic_limit: L,
) -> [L; 2] {
    let [m11, m12, m22] = [L::load(&mass[0]), L::load(&mass[1]), L::load(&mass[2])];
    let (old_x, old_z) = (L::load(&old[0]), L::load(&old[1]));
    let x = old_x - (m11 * speeds[0] + m12 * speeds[1]);
    let z = old_z - (m12 * speeds[0] + m22 * speeds[1]);
    let over = (x * x + z * z).sqrt() - static_limit;
    let m = (m11 * m22 - m12 * m12) * inverse(m11 + m22);
    let (against_x, against_z) = (old_x - m * speeds[0], old_z - m * speeds[1]);
    let factor = kinetic_limit * inverse((against_x * against_x + against_z * against_z).sqrt());
    [over.if_positive(against_x * factor, x), over.if_positive(against_z * factor, z)]
}

/// Impulses along the two tangents as vectors in A's axes.
#[inline(always)]
fn in_axes<L: F32Lanes>(
    a: &FrameLanes<L>,
    t: Vec3Lanes<L>,
    s: Vec3Lanes<L>,
    rows: &[F32x8; 2],
) -> [F32x8; 3] {
    let mut out = [F32x8::default(); 3];
    a.to_body(t.scaled(L::load(&rows[0])) + s.scaled(L::load(&rows[1]))).store(&mut out);
    out
}

/// Writes the impulses of a block, and the gaps at the beginning of the step, back into its manifolds.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn store_impulses<L: F32Lanes>(arena: &ContactArena<'_>, index: usize) {
    // SAFETY: see `ContactArena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: as above.
    let (a, n, t): (FrameLanes<L>, Vec3Lanes<L>, Vec3Lanes<L>) = unsafe {
        (
            FrameLanes::gather(&arena.frames, &block.a),
            Vec3Lanes::load(&block.normal),
            Vec3Lanes::load(&block.tangent),
        )
    };
    let s = n.cross(t);
    let friction_impulse = in_axes(&a, t, s, &block.friction);
    let rolling = if block.rolling == NONE {
        [F32x8::default(); 3]
    } else {
        // SAFETY: as above.
        in_axes(&a, t, s, unsafe { &arena.rolling.get(block.rolling as usize).impulse })
    };
    for lane in 0..block.manifold_count as usize {
        // SAFETY: a manifold belongs to one block only.
        let manifold = unsafe { &mut *arena.manifolds.get(block.first_manifold as usize + lane).0 };
        let of_lane = |rows: &[F32x8; 3]| [rows[0].0[lane], rows[1].0[lane], rows[2].0[lane]];
        manifold.set_friction_impulses(of_lane(&friction_impulse), block.twist.0[lane], of_lane(&rolling));
        for k in 0..manifold.count as usize {
            // SAFETY: as above.
            let rows = unsafe { arena.points.get(block.first_point as usize + k) };
            manifold.points[k].set_impulse(rows.impulse.0[lane]);
            manifold.points[k].set_gap(rows.gap.0[lane]);
        }
    }
}

/// Passes over the contact blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum ContactTask {
    Prepare,
    WarmStart,
    Solve,
    Relax,
    StoreImpulses,
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn run<L: F32Lanes>(
    task: ContactTask,
    arena: &ContactArena<'_>,
    blocks: std::ops::Range<usize>,
    parameters: &SweepParameters,
) {
    // SAFETY: the caller has exclusive access to these blocks.
    unsafe {
        match task {
            ContactTask::Prepare => {
                for index in blocks {
                    prepare::<L>(arena, index);
                }
            }
            ContactTask::WarmStart => {
                for index in blocks {
                    warm_start::<L>(arena, index, parameters.first_movable);
                }
            }
            ContactTask::Solve => {
                for index in blocks {
                    solve::<L>(arena, index, parameters);
                }
            }
            ContactTask::Relax => {
                for index in blocks {
                    relax::<L>(arena, index, parameters);
                }
            }
            ContactTask::StoreImpulses => {
                for index in blocks {
                    store_impulses::<L>(arena, index);
                }
            }
        }
    }
}

super::lanes::dispatch!(ContactTask, ContactArena);
