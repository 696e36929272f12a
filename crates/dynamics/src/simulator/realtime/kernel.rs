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

use super::block::{Block, Drive, Frame, Mover, POINTS, Patch, PointRows, RollingRows, Sweep};
use super::lanes::{Eight, LANES, Lanes, Row, Vector};
use super::roster::NONE;
use super::solver::PatchPlace;
use rattleback_numerics::team::Shared;

/// The two bodies of a manifold that enters the solver: body slots at first, then solver body indices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub a: u32,
    pub b: u32,
}

/// Data that the contact kernels access. Two threads never hold the same block, and blocks of one colour
/// share no solver body that is written (graph colouring, see `solver`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Arena<'s> {
    pub movers: Shared<'s, Mover>,
    pub frames: Shared<'s, Frame>,
    pub patches: Shared<'s, PatchPlace>,
    pub blocks: Shared<'s, Block>,
    pub points: Shared<'s, PointRows>,
    pub rolling: Shared<'s, RollingRows>,
    pub drives: Shared<'s, Drive>,
}

/// Velocities y of the two bodies of eight constraints.
#[derive(Clone, Copy)]
pub(super) struct Pair<L> {
    pub va: Vector<L>,
    pub wa: Vector<L>,
    pub vb: Vector<L>,
    pub wb: Vector<L>,
}

#[inline(always)]
fn columns<L: Lanes>(rows: [L; LANES]) -> [L; LANES] {
    L::transpose(rows)
}

/// Gathers the velocities of eight bodies ⇒ (translation, rotation).
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn velocities<L: Lanes>(movers: &Shared<'_, Mover>, index: &[u32; LANES]) -> (Vector<L>, Vector<L>) {
    let mut rows = [L::splat(0.0); LANES];
    for lane in 0..LANES {
        // SAFETY: see `Arena`.
        rows[lane] = L::load(unsafe { &movers.get(index[lane] as usize).velocity });
    }
    let [x, y, z, _, u, v, w, _] = columns(rows);
    (Vector::new(x, y, z), Vector::new(u, v, w))
}

#[inline(always)]
#[allow(unsafe_code)]
pub(super) unsafe fn shifts<L: Lanes>(
    movers: &Shared<'_, Mover>,
    index: &[u32; LANES],
) -> (Vector<L>, Vector<L>) {
    let mut rows = [L::splat(0.0); LANES];
    for lane in 0..LANES {
        // SAFETY: see `Arena`.
        rows[lane] = L::load(unsafe { &movers.get(index[lane] as usize).shift });
    }
    let [x, y, z, _, u, v, w, _] = columns(rows);
    (Vector::new(x, y, z), Vector::new(u, v, w))
}

/// Gathers the velocities of eight kinematic bodies ⇒ (v, ω); zero for others.
#[inline(always)]
#[allow(unsafe_code)]
pub(super) unsafe fn drives<L: Lanes>(
    frames: &Shared<'_, Frame>,
    index: &[u32; LANES],
) -> (Vector<L>, Vector<L>) {
    // SAFETY: frames are only read while blocks are prepared.
    let [x, y, z, _, u, v, w, _] = columns(index.map(|i| L::load(unsafe { &frames.get(i as usize).drive })));
    (Vector::new(x, y, z), Vector::new(u, v, w))
}

impl<L: Lanes> Pair<L> {
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn gather(movers: &Shared<'_, Mover>, a: &[u32; LANES], b: &[u32; LANES]) -> Self {
        // SAFETY: see `Arena`.
        let ((va, wa), (vb, wb)) = unsafe { (velocities(movers, a), velocities(movers, b)) };
        Self { va, wa, vb, wb }
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn scatter(
        self,
        movers: &Shared<'_, Mover>,
        a: &[u32; LANES],
        b: &[u32; LANES],
        first_free: u32,
    ) {
        let zero = L::splat(0.0);
        for (v, w, index) in [(self.va, self.wa, a), (self.vb, self.wb, b)] {
            let rows = columns([v.x, v.y, v.z, zero, w.x, w.y, w.z, zero]);
            for (row, &i) in rows.into_iter().zip(index) {
                if i >= first_free {
                    // SAFETY: see `Arena`.
                    row.store(unsafe { &mut movers.get_mut(i as usize).velocity });
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
        movers: &Shared<'_, Mover>,
        held: &Shared<'_, Row>,
        [a, b]: [&[u32; LANES]; 2],
        first_free: u32,
    ) {
        let zero = L::splat(0.0);
        let sides =
            [(self.va - before.va, self.wa - before.wa, a), (self.vb - before.vb, self.wb - before.wb, b)];
        for (v, w, index) in sides {
            let rows = columns([v.x, v.y, v.z, zero, w.x, w.y, w.z, zero]);
            for (row, &i) in rows.into_iter().zip(index) {
                if i >= first_free {
                    // SAFETY: see `Arena`.
                    let (velocity, held) =
                        unsafe { (&mut movers.get_mut(i as usize).velocity, held.get_mut(i as usize)) };
                    (L::load(velocity) + row).store(velocity);
                    (L::load(held) + row).store(held);
                }
            }
        }
    }

    #[inline(always)]
    fn push_along(&mut self, na: Vector<L>, nb: Vector<L>, a: Vector<L>, b: Vector<L>, impulse: L) {
        self.va = self.va + na.scaled(impulse);
        self.vb = self.vb + nb.scaled(impulse);
        self.turn(a, b, impulse);
    }

    #[inline(always)]
    pub fn turn(&mut self, a: Vector<L>, b: Vector<L>, impulse: L) {
        self.wa = self.wa + a.scaled(impulse);
        self.wb = self.wb + b.scaled(impulse);
    }

    #[inline(always)]
    pub fn turning(&self, a: Vector<L>, b: Vector<L>) -> L {
        a.dot(self.wa) + b.dot(self.wb)
    }
}

/// R, 1/√I and 1/√m of eight bodies.
#[derive(Clone, Copy)]
pub(super) struct Axes<L> {
    pub x: Vector<L>,
    pub y: Vector<L>,
    pub z: Vector<L>,
    pub root: Vector<L>,
    pub scale: L,
}

impl<L: Lanes> Axes<L> {
    #[inline(always)]
    #[allow(unsafe_code)]
    pub unsafe fn gather(frames: &Shared<'_, Frame>, index: &[u32; LANES]) -> Self {
        // SAFETY: frames are only read while blocks are prepared.
        let [a, b, c, d, e, f, g, h] =
            columns(index.map(|i| L::load(unsafe { &frames.get(i as usize).axes })));
        // SAFETY: as above.
        let [i, j, k, l, m, ..] = columns(index.map(|i| L::load(unsafe { &frames.get(i as usize).rest })));
        Self {
            x: Vector::new(a, b, c),
            y: Vector::new(d, e, f),
            z: Vector::new(g, h, i),
            root: Vector::new(j, k, l),
            scale: m,
        }
    }

    /// R v.
    #[inline(always)]
    pub fn out(&self, v: Vector<L>) -> Vector<L> {
        self.x.scaled(v.x) + self.y.scaled(v.y) + self.z.scaled(v.z)
    }

    /// Rᵀ v.
    #[inline(always)]
    fn back(&self, v: Vector<L>) -> Vector<L> {
        Vector::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// diag(1/√I) Rᵀ v.
    #[inline(always)]
    fn scaled_back(&self, v: Vector<L>) -> Vector<L> {
        Vector::new(self.x.dot(v) * self.root.x, self.y.dot(v) * self.root.y, self.z.dot(v) * self.root.z)
    }
}

#[inline(always)]
pub(super) fn inverse<L: Lanes>(k: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    k.if_positive(one / k.if_positive(k, one), zero)
}

/// Inverse of a symmetric 2×2 matrix; zero if it is singular.
#[inline(always)]
pub(super) fn inverse_2x2<L: Lanes>(k11: L, k12: L, k22: L) -> [L; 3] {
    let scale = inverse(k11 * k22 - k12 * k12);
    [k22 * scale, -(k12 * scale), k11 * scale]
}

/// A unit vector orthogonal to the unit vector n, without a branch (Duff et al. 2017).
#[inline(always)]
fn across<L: Lanes>(n: Vector<L>) -> Vector<L> {
    let one = L::splat(1.0);
    let sign = (n.z + L::splat(f32::MIN_POSITIVE)).if_positive(one, -one);
    let a = -(one / (sign + n.z));
    let b = n.x * n.y * a;
    Vector::new(one + sign * n.x * n.x * a, sign * b, -(sign * n.x))
}

/// Computes the rows of a block.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn prepare<L: Lanes>(arena: &Arena<'_>, index: usize) {
    // SAFETY: see `Arena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    let empty = Patch::default();
    let patch: [&Patch; LANES] = std::array::from_fn(|lane| {
        if lane < block.links as usize {
            // SAFETY: a manifold belongs to one block only.
            unsafe { &*arena.patches.get(block.first_link as usize + lane).0 }
        } else {
            &empty
        }
    });
    // SAFETY: frames do not change while blocks are prepared.
    let (a, b): (Axes<L>, Axes<L>) =
        unsafe { (Axes::gather(&arena.frames, &block.a), Axes::gather(&arena.frames, &block.b)) };
    let zero = L::splat(0.0);
    let one = L::splat(1.0);
    let [n0, n1, n2, d0, d1, d2, ..] = columns(patch.map(|patch| L::load(&patch.head)));
    let [f0, f1, f2, twist, r0, r1, r2, _] = columns(patch.map(|patch| L::load(&patch.grip)));
    let [mu_rest, mu, spin, roll, stiff, count, ..] = columns(patch.map(|patch| L::load(&patch.surface)));
    let n = a.out(Vector::new(n0, n1, n2));
    let (t, apart) = (across(n), Vector::new(d0, d1, d2));
    let s = n.cross(t);
    let (na, nb) = (n.scaled(-a.scale), n.scaled(b.scale));
    let linear = na.dot(na) + nb.dot(nb);
    let driven = block.drive != NONE;

    let mut arms = [(Vector::new(zero, zero, zero), Vector::new(zero, zero, zero), zero); POINTS];
    let mut load = zero;
    for k in 0..block.points as usize {
        let [ax, ay, az, bx, by, bz, impulse, _] = columns(patch.map(|patch| L::load(&patch.points[k])));
        let (ra, rb) = (a.out(Vector::new(ax, ay, az)), b.out(Vector::new(bx, by, bz)));
        let gap = apart + rb - ra;
        let half = gap.scaled(L::splat(0.5));
        let (ra, rb) = (ra + half, rb - half);
        let there = (count - L::splat(k as f32)).if_positive(one, zero);
        let (ja, jb) = (a.scaled_back(n.cross(ra)), b.scaled_back(rb.cross(n)));
        let mass = inverse(linear + ja.dot(ja) + jb.dot(jb)) * there;
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get_mut(block.first_point as usize + k) };
        ja.store(&mut rows.a);
        jb.store(&mut rows.b);
        n.dot(gap).store(&mut rows.gap);
        mass.store(&mut rows.mass);
        let impulse = impulse * there;
        impulse.store(&mut rows.impulse);
        load = load + impulse;
        arms[k] = (ra, rb, impulse * there);
    }
    // SAFETY: the points of a block belong to it.
    unsafe { share_out(&arena.points, block, linear) }.store(&mut block.share);
    // Friction acts at the centre of pressure; without any load yet, at the centroid of the points.
    let small = load * L::splat(1e-3) + L::splat(1e-12);
    let (mut weights, mut center_a, mut center_b) =
        (zero, Vector::new(zero, zero, zero), Vector::new(zero, zero, zero));
    for (k, (ra, rb, weight)) in arms.iter_mut().enumerate().take(block.points as usize) {
        let there = (count - L::splat(k as f32)).if_positive(one, zero);
        *weight = (*weight + small) * there;
        weights = weights + *weight;
        center_a = center_a + ra.scaled(*weight);
        center_b = center_b + rb.scaled(*weight);
    }
    let share = inverse(weights);
    let (center_a, center_b) = (center_a.scaled(share), center_b.scaled(share));
    let mut lever = zero;
    for (ra, _, weight) in arms.iter().take(block.points as usize) {
        let arm = *ra - center_a;
        lever = lever + *weight * share * arm.dot(arm).root();
    }

    let (ta, tb) = (a.scaled_back(t.cross(center_a)), b.scaled_back(center_b.cross(t)));
    let (sa, sb) = (a.scaled_back(s.cross(center_a)), b.scaled_back(center_b.cross(s)));
    let masses = a.scale * a.scale + b.scale * b.scale;
    let k11 = masses + ta.dot(ta) + tb.dot(tb);
    let k22 = masses + sa.dot(sa) + sb.dot(sb);
    let k12 = ta.dot(sa) + tb.dot(sb);
    let there = count.if_positive(one, zero);
    let friction_mass = inverse_2x2(k11, k12, k22);
    let (pa, pb) = (a.scaled_back(n.scaled(-one)), b.scaled_back(n));
    let grip = a.out(Vector::new(f0, f1, f2));

    n.store(&mut block.normal);
    t.store(&mut block.tangent);
    a.scale.store(&mut block.scale[0]);
    b.scale.store(&mut block.scale[1]);
    ta.store(&mut block.friction_a[0]);
    tb.store(&mut block.friction_b[0]);
    sa.store(&mut block.friction_a[1]);
    sb.store(&mut block.friction_b[1]);
    for (k, mass) in friction_mass.into_iter().enumerate() {
        (mass * there).store(&mut block.friction_mass[k]);
    }
    (grip.dot(t) * there).store(&mut block.friction[0]);
    (grip.dot(s) * there).store(&mut block.friction[1]);
    pa.store(&mut block.twist_a);
    pb.store(&mut block.twist_b);
    (inverse(pa.dot(pa) + pb.dot(pb)) * there).store(&mut block.twist_mass);
    (twist * there).store(&mut block.twist);
    mu_rest.store(&mut block.limits[0]);
    mu.store(&mut block.limits[1]);
    (mu * lever + spin).store(&mut block.limits[2]);
    stiff.store(&mut block.stiff);

    if block.rolling != NONE {
        // SAFETY: rolling rows of a block belong to it.
        let rows = unsafe { arena.rolling.get_mut(block.rolling as usize) };
        let resistance = a.out(Vector::new(r0, r1, r2));
        let (ta, tb) = (a.scaled_back(t.scaled(-one)), b.scaled_back(t));
        let (sa, sb) = (a.scaled_back(s.scaled(-one)), b.scaled_back(s));
        let mass = inverse_2x2(ta.dot(ta) + tb.dot(tb), ta.dot(sa) + tb.dot(sb), sa.dot(sa) + sb.dot(sb));
        ta.store(&mut rows.a[0]);
        tb.store(&mut rows.b[0]);
        sa.store(&mut rows.a[1]);
        sb.store(&mut rows.b[1]);
        let rolls = roll.if_positive(one, zero) * there;
        for (k, mass) in mass.into_iter().enumerate() {
            (mass * rolls).store(&mut rows.mass[k]);
        }
        (resistance.dot(t) * rolls).store(&mut rows.impulse[0]);
        (resistance.dot(s) * rolls).store(&mut rows.impulse[1]);
        roll.store(&mut rows.lever);
    }
    if driven {
        // SAFETY: as above.
        let drive = unsafe { arena.drives.get_mut(block.drive as usize) };
        // SAFETY: frames do not change while blocks are prepared.
        let ((va, wa), (vb, wb)) =
            unsafe { (drives(&arena.frames, &block.a), drives(&arena.frames, &block.b)) };
        for (k, (ra, rb, _)) in arms.iter().enumerate().take(block.points as usize) {
            n.dot(vb + wb.cross(*rb) - va - wa.cross(*ra)).store(&mut drive.normal[k]);
        }
        let slip = vb + wb.cross(center_b) - va - wa.cross(center_a);
        t.dot(slip).store(&mut drive.tangent[0]);
        s.dot(slip).store(&mut drive.tangent[1]);
        n.dot(wb - wa).store(&mut drive.twist);
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
unsafe fn share_out<L: Lanes>(points: &Shared<'_, PointRows>, block: &Block, linear: L) -> L {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (first, count) = (block.first_point as usize, block.points as usize);
    // SAFETY: the points of a block belong to it.
    let row = |k: usize| unsafe { points.get(first + k) };
    // 1 for points in contact, 0 for speculative ones.
    let touch =
        |row: &PointRows| L::load(&row.impulse).if_positive(one, L::load(&row.gap).if_positive(zero, one));
    let (mut sums, mut touching) = ([one; POINTS], [one; POINTS]);
    for k in 1..count {
        let (ja, jb) = (Vector::load(&row(k).a), Vector::load(&row(k).b));
        let (mass, touch_k) = (L::load(&row(k).mass), touch(row(k)));
        for l in 0..k {
            let k_kl = linear + ja.dot(Vector::load(&row(l).a)) + jb.dot(Vector::load(&row(l).b));
            let size = k_kl.larger(-k_kl);
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
    let share = |sums: [L; POINTS]| (L::splat(1.5) / sums.into_iter().fold(one, Lanes::larger)).smaller(one);
    let (of_all, of_touching) = (share(sums), share(touching));
    for k in 0..count {
        let part = touch(row(k)).if_positive(of_touching, of_all);
        // SAFETY: as above.
        let mass = unsafe { &mut points.get_mut(first + k).mass };
        (L::load(mass) * part).store(mass);
    }
    of_touching
}

/// Warm start: applies the impulses that a block begins with.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn warm<L: Lanes>(arena: &Arena<'_>, index: usize, first_free: u32) {
    // SAFETY: see `Arena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `Arena`.
    let mut y: Pair<L> = unsafe { Pair::gather(&arena.movers, &block.a, &block.b) };
    let (n, t) = (Vector::load(&block.normal), Vector::load(&block.tangent));
    let s = n.cross(t);
    let (scale_a, scale_b) = (-L::load(&block.scale[0]), L::load(&block.scale[1]));
    let friction = [L::load(&block.friction[0]), L::load(&block.friction[1])];
    let mut along = t.scaled(friction[0]) + s.scaled(friction[1]);
    for k in 0..2 {
        y.turn(Vector::load(&block.friction_a[k]), Vector::load(&block.friction_b[k]), friction[k]);
    }
    y.turn(Vector::load(&block.twist_a), Vector::load(&block.twist_b), L::load(&block.twist));
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get(block.first_point as usize + k) };
        let impulse = L::load(&rows.impulse);
        along = along + n.scaled(impulse);
        y.turn(Vector::load(&rows.a), Vector::load(&rows.b), impulse);
    }
    y.va = y.va + along.scaled(scale_a);
    y.vb = y.vb + along.scaled(scale_b);
    if block.rolling != NONE {
        // SAFETY: as above.
        let rows = unsafe { arena.rolling.get(block.rolling as usize) };
        for k in 0..2 {
            y.turn(Vector::load(&rows.a[k]), Vector::load(&rows.b[k]), L::load(&rows.impulse[k]));
        }
    }
    // SAFETY: see `Arena`.
    unsafe { y.scatter(&arena.movers, &block.a, &block.b, first_free) };
}

/// Stops a whole manifold at once, by the mean of its normal rows.
///
/// Point by point, the first corner of a box that lands flat would take the whole impulse and set the box
/// rotating; with warm starting it would also be the first to return it in the next sub-step.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn land<L: Lanes>(arena: &Arena<'_>, block: &Block, y: &mut Pair<L>, sweep: &Sweep) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    // SAFETY: see `Arena`.
    let ((da, ea), (db, eb)) =
        unsafe { (shifts::<L>(&arena.movers, &block.a), shifts::<L>(&arena.movers, &block.b)) };
    let n = Vector::load(&block.normal);
    let (na, nb) = (n.scaled(-L::load(&block.scale[0])), n.scaled(L::load(&block.scale[1])));
    let (moved, speed) = (na.dot(da) + nb.dot(db), na.dot(y.va) + nb.dot(y.vb));
    let nothing = Vector::new(zero, zero, zero);
    let (mut count, mut approach, mut sum_a, mut sum_b) = (zero, zero, nothing, nothing);
    let mut least = L::splat(f32::MAX);
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get(block.first_point as usize + k) };
        let there = L::load(&rows.mass).if_positive(one, zero);
        let (ja, jb) = (Vector::load(&rows.a), Vector::load(&rows.b));
        let gap = L::load(&rows.gap) + moved + ja.dot(ea) + jb.dot(eb);
        let wanted = speed + y.turning(ja, jb) + gap.larger(zero) * L::splat(sweep.rate);
        count = count + there;
        least = least.smaller(there.if_positive(L::load(&rows.impulse), least));
        approach = approach + wanted * there;
        sum_a = sum_a + ja.scaled(there);
        sum_b = sum_b + jb.scaled(there);
    }
    let share = inverse(count);
    let (ja, jb) = (sum_a.scaled(share), sum_b.scaled(share));
    let mass = inverse(na.dot(na) + nb.dot(nb) + ja.dot(ja) + jb.dot(jb));
    // No point can return more than its accumulated impulse.
    let spare = -(least * count);
    let impulse = count.if_positive((-(mass * approach * share)).larger(spare), zero);
    for k in 0..block.points as usize {
        // SAFETY: as above.
        let rows = unsafe { arena.points.get_mut(block.first_point as usize + k) };
        let there = L::load(&rows.mass).if_positive(one, zero);
        (L::load(&rows.impulse) + impulse * share * there).store(&mut rows.impulse);
    }
    y.push_along(na, nb, ja, jb, impulse);
}

/// One sweep over the normal rows of a block, with the bias of the soft constraint (`BIASED`) or without.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn normals<L: Lanes, const PUSH: bool>(
    arena: &Arena<'_>,
    block: &Block,
    y: &mut Pair<L>,
    sweep: &Sweep,
) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    // SAFETY: see `Arena`.
    let ((da, ea), (db, eb)) =
        unsafe { (shifts::<L>(&arena.movers, &block.a), shifts::<L>(&arena.movers, &block.b)) };
    let n = Vector::load(&block.normal);
    let (na, nb) = (n.scaled(-L::load(&block.scale[0])), n.scaled(L::load(&block.scale[1])));
    let moved = na.dot(da) + nb.dot(db);
    let stiff = L::load(&block.stiff);
    let (soft, hard) = (&sweep.soft, &sweep.stiff);
    let rate = L::splat(soft.rate) + stiff * L::splat(hard.rate - soft.rate);
    let soft_mass = L::splat(soft.mass) + stiff * L::splat(hard.mass - soft.mass);
    let soft_impulse =
        (L::splat(soft.impulse) + stiff * L::splat(hard.impulse - soft.impulse)) * L::load(&block.share);
    let (speed_along, wa, wb) = (na.dot(y.va) + nb.dot(y.vb), y.wa, y.wb);
    let mut sum = zero;
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        let rows = unsafe { arena.points.get_mut(block.first_point as usize + k) };
        let (ja, jb) = (Vector::load(&rows.a), Vector::load(&rows.b));
        let mut speed = speed_along + ja.dot(wa) + jb.dot(wb);
        let mut gap = L::load(&rows.gap) + moved + ja.dot(ea) + jb.dot(eb);
        if block.drive != NONE {
            // SAFETY: as above.
            let own = L::load(unsafe { &arena.drives.get(block.drive as usize).normal[k] });
            speed = speed + own;
            gap = gap + own * L::splat(sweep.elapsed);
        }
        let mass = L::load(&rows.mass);
        let old = L::load(&rows.impulse);
        let foreseen = gap.larger(zero) * L::splat(sweep.rate);
        let change = if PUSH {
            let mending = (rate * gap).larger(L::splat(-sweep.push_speed));
            let bias = gap.if_positive(foreseen, mending);
            let softened = mass * gap.if_positive(one, soft_mass);
            -(softened * (speed + bias)) - gap.if_positive(zero, soft_impulse) * old
        } else {
            -(mass * (speed + foreseen))
        };
        let new = (old + change).larger(zero);
        new.store(&mut rows.impulse);
        sum = sum + (new - old);
        y.turn(ja, jb, new - old);
    }
    y.va = y.va + na.scaled(sum);
    y.vb = y.vb + nb.scaled(sum);
}

/// The sweep that corrects overlap.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn push<L: Lanes>(arena: &Arena<'_>, index: usize, sweep: &Sweep) {
    // SAFETY: see `Arena`.
    unsafe {
        let block = arena.blocks.get_mut(index);
        let mut y: Pair<L> = Pair::gather(&arena.movers, &block.a, &block.b);
        if block.fresh {
            land(arena, block, &mut y, sweep);
        }
        normals::<L, true>(arena, block, &mut y, sweep);
        y.scatter(&arena.movers, &block.a, &block.b, sweep.first_free);
    }
}

/// The sweep without bias; rolling, spinning and sliding friction.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn relax<L: Lanes>(arena: &Arena<'_>, index: usize, sweep: &Sweep) {
    // SAFETY: see `Arena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: see `Arena`.
    let mut y: Pair<L> = unsafe { Pair::gather(&arena.movers, &block.a, &block.b) };
    let mut load = L::splat(0.0);
    for k in 0..block.points as usize {
        // SAFETY: the points of a block belong to it.
        load = load + L::load(unsafe { &arena.points.get(block.first_point as usize + k).impulse });
    }
    let drive = (block.drive != NONE).then(|| {
        // SAFETY: as above.
        let drive = unsafe { arena.drives.get(block.drive as usize) };
        [L::load(&drive.tangent[0]), L::load(&drive.tangent[1]), L::load(&drive.twist)]
    });
    if block.rolling != NONE {
        // SAFETY: as above.
        let rows = unsafe { arena.rolling.get_mut(block.rolling as usize) };
        let (a, b) = (rows.a.map(|row| Vector::load(&row)), rows.b.map(|row| Vector::load(&row)));
        let speeds = [y.turning(a[0], b[0]), y.turning(a[1], b[1])];
        let limit = L::load(&rows.lever) * load;
        let new = within_circle(&rows.mass, speeds, &rows.impulse, limit, limit);
        for k in 0..2 {
            y.turn(a[k], b[k], new[k] - L::load(&rows.impulse[k]));
            new[k].store(&mut rows.impulse[k]);
        }
    }
    {
        let (a, b) = (Vector::load(&block.twist_a), Vector::load(&block.twist_b));
        let mut speed = y.turning(a, b);
        if let Some(drive) = drive {
            speed = speed + drive[2];
        }
        let old = L::load(&block.twist);
        let limit = L::load(&block.limits[2]) * load;
        let new = (old - L::load(&block.twist_mass) * speed).larger(-limit).smaller(limit);
        new.store(&mut block.twist);
        y.turn(a, b, new - old);
    }
    {
        let (n, t) = (Vector::load(&block.normal), Vector::load(&block.tangent));
        let s = n.cross(t);
        let (scale_a, scale_b) = (L::load(&block.scale[0]), L::load(&block.scale[1]));
        let slip = y.vb.scaled(scale_b) - y.va.scaled(scale_a);
        let (a, b) =
            (block.friction_a.map(|row| Vector::load(&row)), block.friction_b.map(|row| Vector::load(&row)));
        let mut speeds = [t.dot(slip) + y.turning(a[0], b[0]), s.dot(slip) + y.turning(a[1], b[1])];
        if let Some(drive) = drive {
            speeds = [speeds[0] + drive[0], speeds[1] + drive[1]];
        }
        let hold = L::load(&block.limits[0]) * load;
        let slide = L::load(&block.limits[1]) * load;
        let new = within_circle(&block.friction_mass, speeds, &block.friction, hold, slide);
        let change = [new[0] - L::load(&block.friction[0]), new[1] - L::load(&block.friction[1])];
        let along = t.scaled(change[0]) + s.scaled(change[1]);
        y.va = y.va - along.scaled(scale_a);
        y.vb = y.vb + along.scaled(scale_b);
        for k in 0..2 {
            y.turn(a[k], b[k], change[k]);
            new[k].store(&mut block.friction[k]);
        }
    }
    // SAFETY: see `Arena`.
    unsafe {
        normals::<L, false>(arena, block, &mut y, sweep);
        y.scatter(&arena.movers, &block.a, &block.b, sweep.first_free);
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
fn within_circle<L: Lanes>(mass: &[Row; 3], speeds: [L; 2], old: &[Row; 2], hold: L, slide: L) -> [L; 2] {
    let [m11, m12, m22] = [L::load(&mass[0]), L::load(&mass[1]), L::load(&mass[2])];
    let (old_x, old_z) = (L::load(&old[0]), L::load(&old[1]));
    let x = old_x - (m11 * speeds[0] + m12 * speeds[1]);
    let z = old_z - (m12 * speeds[0] + m22 * speeds[1]);
    let over = (x * x + z * z).root() - hold;
    let m = (m11 * m22 - m12 * m12) * inverse(m11 + m22);
    let (against_x, against_z) = (old_x - m * speeds[0], old_z - m * speeds[1]);
    let factor = slide * inverse((against_x * against_x + against_z * against_z).root());
    [over.if_positive(against_x * factor, x), over.if_positive(against_z * factor, z)]
}

/// Impulses along the two tangents as vectors in A's axes.
#[inline(always)]
fn in_axes<L: Lanes>(a: &Axes<L>, t: Vector<L>, s: Vector<L>, rows: &[Row; 2]) -> [Row; 3] {
    let mut out = [Row::default(); 3];
    a.back(t.scaled(L::load(&rows[0])) + s.scaled(L::load(&rows[1]))).store(&mut out);
    out
}

/// Writes the impulses of a block, and the gaps at the beginning of the step, back into its manifolds.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn keep<L: Lanes>(arena: &Arena<'_>, index: usize) {
    // SAFETY: see `Arena`.
    let block = unsafe { arena.blocks.get_mut(index) };
    // SAFETY: as above.
    let (a, n, t): (Axes<L>, Vector<L>, Vector<L>) = unsafe {
        (Axes::gather(&arena.frames, &block.a), Vector::load(&block.normal), Vector::load(&block.tangent))
    };
    let s = n.cross(t);
    let grip = in_axes(&a, t, s, &block.friction);
    let rolling = if block.rolling == NONE {
        [Row::default(); 3]
    } else {
        // SAFETY: as above.
        in_axes(&a, t, s, unsafe { &arena.rolling.get(block.rolling as usize).impulse })
    };
    for lane in 0..block.links as usize {
        // SAFETY: a manifold belongs to one block only.
        let patch = unsafe { &mut *arena.patches.get(block.first_link as usize + lane).0 };
        for k in 0..3 {
            patch.grip.0[k] = grip[k].0[lane];
            patch.grip.0[4 + k] = rolling[k].0[lane];
        }
        patch.grip.0[3] = block.twist.0[lane];
        for k in 0..patch.count as usize {
            // SAFETY: as above.
            let rows = unsafe { arena.points.get(block.first_point as usize + k) };
            patch.points[k].0[6] = rows.impulse.0[lane];
            patch.points[k].0[7] = rows.gap.0[lane];
        }
    }
}

/// Passes over the contact blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Prepare,
    Warm,
    Push,
    Relax,
    Keep,
}

#[inline(always)]
#[allow(unsafe_code)]
unsafe fn run<L: Lanes>(task: Task, arena: &Arena<'_>, blocks: std::ops::Range<usize>, sweep: &Sweep) {
    // SAFETY: the caller has exclusive access to these blocks.
    unsafe {
        match task {
            Task::Prepare => {
                for index in blocks {
                    prepare::<L>(arena, index);
                }
            }
            Task::Warm => {
                for index in blocks {
                    warm::<L>(arena, index, sweep.first_free);
                }
            }
            Task::Push => {
                for index in blocks {
                    push::<L>(arena, index, sweep);
                }
            }
            Task::Relax => {
                for index in blocks {
                    relax::<L>(arena, index, sweep);
                }
            }
            Task::Keep => {
                for index in blocks {
                    keep::<L>(arena, index);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
unsafe fn run_wide(task: Task, arena: &Arena<'_>, blocks: std::ops::Range<usize>, sweep: &Sweep) {
    // SAFETY: guaranteed by the caller.
    unsafe { run::<super::lanes::Wide>(task, arena, blocks, sweep) }
}

/// Runs a pass over a range of blocks, to which the caller has exclusive access.
#[allow(unsafe_code)]
pub(super) unsafe fn perform(
    wide: bool,
    task: Task,
    arena: &Arena<'_>,
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
    unsafe { run::<Eight>(task, arena, blocks, sweep) }
}
