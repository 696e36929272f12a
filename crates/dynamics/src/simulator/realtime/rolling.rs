//! Single bodies that roll without slip on a plane and touch nothing else: coins, eggs, rattlebacks, loaded
//! balls.
//!
//! The contact point of a body that is not a centred sphere moves over its surface while it rolls. Rows that
//! are constant over a step miss that, and each new set of rows removes velocity that was right: energy is
//! lost in proportion to the step, and a spinning egg stops within seconds. A single body that sticks to a
//! plane at one point is therefore integrated in double precision with the rolling constraint itself. With
//! r(q) the arm from the centre of mass to the lowest point, s the height of that point, and u = v + ω × r
//! the velocity of the material there, a base step h from a state with u = 0 is
//!
//!   1. half a kick;
//!   2. an impulse P at the contact point *at the beginning*, free flight (exact rotation) over h, with P such
//!      that the height s is kept and the slip at both ends cancels, (u₀⁺ + u₁⁻)·t = 0 for tangents t:
//!      P ← P − K⁻¹ e;
//!   3. half a kick, and an impulse Q at the contact point *at the end* so that u = 0 there.
//!
//! K = 1/m − [r]× I⁻¹ [r]×. The method is symmetric in time, so that the motion of a reversible system
//! neither gains nor loses energy in the mean (as RATTLE for holonomic joints; McLachlan & Perlmutter 2006
//! for nonholonomic constraints), and five base steps are composed to fourth order like those of
//! `mechanism::rattle`.
//!
//! Where the impulses over a piece of the step pull, or lie outside the friction cone, where the contact
//! leaves its plane or jumps over the body (a coin that tips from one edge to the other), the body slides,
//! lifts off or collides: the step is left to the sweeps, from the state it began with.

use super::Realtime;
use super::contact::Contact;
use super::sim_bodies::{Activity, EXACT, NONE, SimBodies};
use super::tuning::{
    ROLLING_ATTEMPTS, ROLLING_ITERATIONS, ROLLING_MAX_JUMP, ROLLING_MAX_PIECES, ROLLING_MOST_PIECES,
    ROLLING_PIECE_ANGLE, ROLLING_RECOVERY, ROLLING_SINGLE_POINT, ROLLING_WORK_TOLERANCE, SUZUKI_FRACTIONS,
};
use crate::rigid::{Inertia, Motion, rotate_freely};
use crate::world::{Status, World};
use glam::{DMat3, DVec3};
use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};
use rattleback_geometry::{Pose, Shape};
use rattleback_numerics::team::each;

/// A body that may roll in the present step, and the result.
#[derive(Debug)]
struct RollingBody {
    slot: u32,
    index: u32,
    contact: u32,
    /// Collider of the body.
    collider: u32,
    /// Plane: normal, and n·x of its points, m.
    normal: DVec3,
    height: f64,
    /// For the face of a box: its pose, half extents and the axis along the normal.
    face: Option<(Pose, DVec3, usize)>,
    friction: f64,
    motion: Motion,
    impulse: DVec3,
    gap: f64,
    /// Gaps of the points of the manifold, and their number.
    gaps: [f32; 4],
    points: usize,
    /// Whether it rolled over the whole step.
    done: bool,
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct RollingStage {
    rolling_bodies: Vec<RollingBody>,
}

/// The support point of a collider on the plane.
#[derive(Clone, Copy)]
struct SupportPoint {
    /// From the centre of mass, m.
    arm: DVec3,
    /// Height above the plane, m.
    gap: f64,
}

/// Constants of a rolling body over a step.
struct RollingProblem<'s> {
    shape: Piece<'s>,
    local_pose: Pose,
    plane: Shape,
    normal: DVec3,
    height: f64,
    inertia: Inertia,
    acceleration: DVec3,
    torque: DVec3,
}

impl RollingProblem<'_> {
    /// Support point of the collider for a state of the body.
    fn support(&self, motion: &Motion) -> Option<SupportPoint> {
        // Relative to the projection of the centre of mass onto the plane, so that no digits are lost far
        // from the origin.
        let below = motion.x - (self.normal.dot(motion.x) - self.height) * self.normal;
        let body = Pose::new(motion.q, motion.x - below) * self.local_pose;
        let plane = Piece::try_from(&self.plane).ok()?;
        let nearest = distance_pieces(&plane, &self.shape, &body, &mut PieceCache::default()).ok()?;
        Some(SupportPoint { arm: nearest.point_b + below - motion.x, gap: nearest.distance })
    }

    /// Whether external loads account for the change of the kinetic energy: Σ F·Δx, as they are constant over
    /// the step.
    fn plane_does_no_work(
        &self,
        before: &RollingState,
        now: &RollingState,
        height_work: f64,
        dt: f64,
    ) -> bool {
        let damped = self.inertia.linear_damping > 0.0 || self.inertia.angular_damping > 0.0;
        if damped || self.torque != DVec3::ZERO {
            return true;
        }
        let [from, to] = [before, now].map(|state| self.inertia.kinetic_energy(&state.motion));
        let mass = self.inertia.mass();
        let given = mass * (self.acceleration.dot(now.motion.x - before.motion.x) + height_work);
        let fall = mass * self.acceleration.length_squared() * dt * dt;
        (to - from - given).abs() <= ROLLING_WORK_TOLERANCE * dt * (from + to + fall)
    }

    /// Inverse of K = 1/m − [r]× I⁻¹ [r]×.
    fn mass_at(&self, motion: &Motion, arm: DVec3) -> DMat3 {
        let columns = DVec3::AXES.map(|axis| {
            let spin = self.inertia.angular_velocity(motion.q, arm.cross(axis));
            axis * self.inertia.inverse_mass + spin.cross(arm)
        });
        DMat3::from_cols(columns[0], columns[1], columns[2]).inverse()
    }
}

/// Result of a step.
enum RollOutcome {
    /// Rolled, with this impulse of the plane, N·s.
    Rolled(DVec3),
    /// Slides or lifts off.
    NotRolling,
    /// Undecided: the pieces were too long.
    Undecided,
}

/// State of a body, with its angular momentum.
#[derive(Clone, Copy)]
struct RollingState {
    motion: Motion,
    l: DVec3,
}

impl RollingState {
    fn kick(&mut self, problem: &RollingProblem<'_>, h: f64) {
        self.motion.v += problem.acceleration * h;
        self.l += problem.torque * h;
        let [linear, angular] = problem.inertia.damping_factors(h);
        self.motion.v *= linear;
        self.l *= angular;
        self.update_omega(problem);
    }

    fn apply_impulse(&mut self, problem: &RollingProblem<'_>, arm: DVec3, impulse: DVec3) {
        self.motion.v += impulse * problem.inertia.inverse_mass;
        self.l += arm.cross(impulse);
        self.update_omega(problem);
    }

    fn update_omega(&mut self, problem: &RollingProblem<'_>) {
        self.motion.omega = problem.inertia.angular_velocity(self.motion.q, self.l);
    }

    fn fly(&mut self, problem: &RollingProblem<'_>, h: f64) {
        self.motion.x += self.motion.v * h;
        self.motion.q = rotate_freely(self.motion.q, self.l, problem.inertia.inverse_moments, h);
        self.update_omega(problem);
    }

    /// Velocity of the material at an arm, m/s.
    fn slip(&self, arm: DVec3) -> DVec3 {
        self.motion.v + self.motion.omega.cross(arm)
    }
}

impl Realtime {
    /// Integrates rolling bodies over the step ⇒ whether there are any; they are marked as [`EXACT`].
    pub(super) fn run_rolling(&mut self, world: &World, dt: f64) -> bool {
        self.find_rolling_bodies(world);
        if self.rolling.rolling_bodies.is_empty() {
            return false;
        }
        let threads = self.threads();
        let Self { rolling, sim_bodies, loads, contact_graph, settings, .. } = self;
        let inertia = world.bodies().inertia(Status::Dynamic);
        let bodies = &*sim_bodies;
        each(threads.min(rolling.rolling_bodies.len()), &mut rolling.rolling_bodies, |_, rolling_body| {
            let (Some(collider), Ok(plane)) =
                (bodies.collider(rolling_body.collider), Shape::half_space(rolling_body.normal))
            else {
                return;
            };
            let Ok(shape) = Piece::try_from(&collider.shape) else { return };
            let wrench = loads.wrench(rolling_body.index as usize);
            let inertia = inertia[rolling_body.index as usize];
            let problem = RollingProblem {
                shape,
                local_pose: collider.local_pose,
                plane,
                normal: rolling_body.normal,
                height: rolling_body.height,
                inertia,
                acceleration: loads.uniform_acceleration() + wrench.force * inertia.inverse_mass,
                torque: wrench.torque,
            };
            rolling_body.done = rolling_body.roll(&problem, dt).is_some();
        });
        let mut any = false;
        let share = 1.0 / settings.substeps.max(1) as f64;
        for rolling_body in rolling.rolling_bodies.iter().filter(|rolling_body| rolling_body.done) {
            any = true;
            if let Some(sim_body) = sim_bodies.body_mut(rolling_body.slot) {
                sim_body.solver_index = EXACT;
            }
            let contact =
                contact_graph.contacts.get_mut(rolling_body.contact as usize).and_then(Option::as_mut);
            if let Some(contact) = contact {
                contact.store_rolling(rolling_body.impulse * share, rolling_body.normal, rolling_body.gap);
            }
        }
        any
    }

    /// Writes the states of rolling bodies to the world.
    pub(super) fn write_rolling(&mut self, world: &mut World) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for rolling_body in self.rolling.rolling_bodies.iter().filter(|rolling_body| rolling_body.done) {
            motion[rolling_body.index as usize] = rolling_body.motion;
        }
    }

    /// Lists bodies whose only contact is one in which they may roll.
    fn find_rolling_bodies(&mut self, world: &World) {
        let stamp = world.counters().steps + 1;
        let Self { rolling, sim_bodies, contact_graph, .. } = self;
        rolling.rolling_bodies.clear();
        for (_, pair) in contact_graph.near() {
            if pair.may_roll
                && let Some(contact) = contact_graph.contact(pair)
                && let Some(mut rolling_body) = RollingBody::new(contact, stamp, sim_bodies, world)
            {
                rolling_body.contact = pair.contact;
                rolling.rolling_bodies.push(rolling_body);
            }
        }
        // Bodies with other contacts or joints are left to the sweeps.
        rolling.rolling_bodies.retain(|rolling_body| sim_bodies.degree(rolling_body.slot).degree == 1);
    }
}

impl RollingBody {
    /// The rolling body of a contact, if it is one.
    fn new(contact: &Contact, stamp: u64, sim_bodies: &SimBodies, world: &World) -> Option<Self> {
        let [ground_slot, slot] = contact.bodies;
        let material = &contact.material;
        let resists = material.rolling_friction > 0.0 || material.spinning_friction > 0.0;
        if resists || contact.sensor || contact.impact_step == stamp || !contact.other_manifolds.is_empty() {
            return None;
        }
        let (ground, body) = (sim_bodies.body(ground_slot)?, sim_bodies.body(slot)?);
        if ground.status != Status::Fixed || sim_bodies.activities[slot as usize] != Activity::Awake {
            return None;
        }
        let motion = *body.motion(world)?;
        let (normal, height, face) = ground_plane(contact, sim_bodies, world)?;
        Some(Self {
            slot,
            index: body.index,
            contact: NONE,
            collider: contact.colliders[1],
            normal,
            height,
            face,
            friction: material.static_friction,
            motion,
            impulse: DVec3::ZERO,
            gap: 0.0,
            gaps: contact.first_manifold.points.map(|point| point.gap()),
            points: contact.first_manifold.count as usize,
            done: false,
        })
    }

    /// Integrates over a step ⇒ `None` if the body does not roll throughout.
    fn roll(&mut self, problem: &RollingProblem<'_>, dt: f64) -> Option<()> {
        let n = self.normal;
        let mut state = RollingState { motion: self.motion, l: DVec3::ZERO };
        state.l = problem.inertia.angular_momentum(state.motion.q, state.motion.omega);
        let mut support = problem.support(&state.motion)?;
        let weight = -n.dot(problem.acceleration);
        if !(weight > 0.0 && weight.is_finite())
            || support.gap > (0.5 * weight * dt * dt).max(1e-6 * support.arm.length())
        {
            return None;
        }
        // A body that stands or lies on several points does not roll over one.
        let single_limit = (support.gap + ROLLING_SINGLE_POINT * support.arm.length()) as f32;
        if self.gaps[..self.points].iter().filter(|gap| **gap < single_limit).count() > 1 {
            return None;
        }
        self.gap = support.gap;
        let pieces = self.pieces(problem, &state, &support, weight, dt)?;
        // A body sticks if friction stops its slip within the step and its impact is smaller than its weight.
        let slip = state.slip(support.arm);
        let stopping_impulse = -(problem.mass_at(&state.motion, support.arm) * slip);
        let carried = weight * dt / problem.inertia.inverse_mass;
        if stopping_impulse.reject_from_normalized(n).length() > 0.5 * self.friction * carried
            || stopping_impulse.dot(n).abs() > carried
        {
            return None;
        }
        state.apply_impulse(problem, support.arm, stopping_impulse);
        let (start, start_support) = (state, support);
        let mut pieces = pieces;
        let mut refused = false;
        for attempt in 0..ROLLING_ATTEMPTS {
            (state, support) = (start, start_support);
            let outcome = self.integrate(problem, &mut state, &mut support, dt, pieces);
            // The plane does no work; apparent work is the error of pieces that are too long. (Correcting the
            // height does work.)
            let height_work = weight * (support.gap - start_support.gap);
            let last = attempt + 1 == ROLLING_ATTEMPTS || pieces as f64 > ROLLING_MOST_PIECES;
            match outcome {
                RollOutcome::Rolled(impulse)
                    if last || problem.plane_does_no_work(&start, &state, height_work, dt) =>
                {
                    self.impulse = stopping_impulse + impulse;
                    break;
                }
                // Pieces that are too long may pull where the body in truth presses: two in succession decide.
                RollOutcome::NotRolling if refused => return None,
                _ if last => return None,
                outcome => refused = matches!(outcome, RollOutcome::NotRolling),
            }
            pieces *= 2;
        }
        if let Some((pose, half, axis)) = self.face {
            let point = pose.inverse_point(state.motion.x + support.arm);
            let inside = (0..3).all(|k| k == axis || point[k].abs() < half[k]);
            if !inside {
                return None;
            }
        }
        if !state.motion.is_finite() {
            return None;
        }
        self.motion = state.motion;
        Some(())
    }

    /// Integrates over a step in this many pieces.
    fn integrate(
        &self,
        problem: &RollingProblem<'_>,
        state: &mut RollingState,
        support: &mut SupportPoint,
        dt: f64,
        pieces: usize,
    ) -> RollOutcome {
        let (n, h) = (self.normal, dt / pieces as f64);
        // The impulses of a base step are proportional to its length.
        let (mut per_fraction, mut impulse) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..pieces {
            let mut sum = DVec3::ZERO;
            for fraction in SUZUKI_FRACTIONS {
                let Some((p, q)) = base_step(problem, state, support, fraction * h, per_fraction * fraction)
                else {
                    return RollOutcome::Undecided;
                };
                sum += p + q;
                per_fraction = q / fraction;
            }
            let normal_impulse = n.dot(sum);
            if !(normal_impulse > 0.0
                && (sum - normal_impulse * n).length() <= self.friction * normal_impulse)
            {
                return RollOutcome::NotRolling;
            }
            impulse += sum;
        }
        RollOutcome::Rolled(impulse)
    }

    /// Number of pieces: neither the body, nor the contact point on it, nor its rocking advances by more than
    /// [`ROLLING_PIECE_ANGLE`] in one.
    ///
    /// A body whose surface has the radius of curvature ρ rocks with at most √(g ρ/(k² + r²)), k its smallest
    /// radius of gyration.
    fn pieces(
        &self,
        problem: &RollingProblem<'_>,
        state: &RollingState,
        support: &SupportPoint,
        weight: f64,
        dt: f64,
    ) -> Option<usize> {
        let (arm, here, motion) = (support.arm.length(), support.arm, &state.motion);
        let tilted = |axis: DVec3, angle: f64| {
            let rotation = glam::DQuat::from_scaled_axis(axis * angle);
            let support = problem.support(&Motion { q: rotation * motion.q, ..*motion })?;
            // Along the surface: relative to the material that has rotated with the body.
            Some(((support.arm - rotation * here).length() / angle, support.arm))
        };
        let small = 1e-5;
        let (t, s) = self.normal.any_orthonormal_pair();
        let curvature = tilted(t, small)?.0.max(tilted(s, small)?.0);
        let spin = motion.omega.length();
        let mut contact = 0.0;
        if spin > 0.0 {
            let moved = (tilted(motion.omega / spin, small)?.1 - support.arm).length();
            contact = spin * moved / (small * arm.max(1e-300));
        }
        let gyration = problem.inertia.moments.min_element() * problem.inertia.inverse_mass;
        let rocking = (weight * curvature.max(arm) / (gyration + arm * arm)).sqrt();
        let pieces = (dt * spin.max(contact).max(rocking) / ROLLING_PIECE_ANGLE).ceil();
        (pieces <= ROLLING_MAX_PIECES).then(|| pieces.max(1.0) as usize)
    }
}

/// A face of a box: pose and half extents of the box, axis of the face.
type BoxFace = (Pose, DVec3, usize);

/// The plane on which body B of a contact stands, the static body A being a half-space or a box ⇒ (normal, n·x
/// of its points in m; for the face of a box, its pose, half extents and the axis along the normal).
pub(super) fn ground_plane(
    contact: &Contact,
    sim_bodies: &SimBodies,
    world: &World,
) -> Option<(DVec3, f64, Option<BoxFace>)> {
    let ground = sim_bodies.body(contact.bodies[0]).filter(|ground| ground.status == Status::Fixed)?;
    let collider = sim_bodies.collider(contact.colliders[0])?;
    let pose = ground.motion(world)?.pose() * collider.local_pose;
    match &collider.shape {
        Shape::HalfSpace(half_space) => {
            let normal = pose.vector(half_space.normal());
            Some((normal, normal.dot(pose.translation), None))
        }
        Shape::Cuboid(cuboid) => {
            let local_normal = pose.inverse_vector(contact.first_manifold.normal());
            let size = local_normal.abs();
            let axis = if size.x > size.y.max(size.z) {
                0
            } else if size.y > size.z {
                1
            } else {
                2
            };
            if local_normal[axis].abs() < 1.0 - 1e-6 {
                return None;
            }
            let normal = pose.vector(DVec3::AXES[axis] * local_normal[axis].signum());
            let half = cuboid.half_extents();
            Some((normal, normal.dot(pose.translation) + half[axis], Some((pose, half, axis))))
        }
        _ => None,
    }
}

/// One base step ⇒ the impulses at its beginning and end.
fn base_step(
    problem: &RollingProblem<'_>,
    state: &mut RollingState,
    support: &mut SupportPoint,
    h: f64,
    guess: DVec3,
) -> Option<(DVec3, DVec3)> {
    let n = problem.normal;
    state.kick(problem, 0.5 * h);
    let kicked = *state;
    let mass = problem.mass_at(&kicked.motion, support.arm);
    let target_gap = support.gap * (1.0 - ROLLING_RECOVERY);
    let (mut p, mut worst) = (guess, f64::INFINITY);
    let size = support.arm.length();
    let mut found = None;
    for _ in 0..ROLLING_ITERATIONS {
        *state = kicked;
        state.apply_impulse(problem, support.arm, p);
        let before = state.slip(support.arm);
        state.fly(problem, h);
        let next = problem.support(&state.motion)?;
        let slip = 0.5 * (before + state.slip(next.arm));
        let residual = slip - slip.dot(n) * n + n * ((next.gap - target_gap) / h);
        let (last, now) = (worst, residual.length() * h.abs());
        worst = now;
        found = Some(next);
        if !now.is_finite() {
            return None;
        }
        if now < 1e-15 * size || now > 0.5 * last && now < 1e-11 * size {
            break;
        }
        p -= mass * residual;
    }
    let next = found?;
    if worst > 1e-9 * size || (next.arm - support.arm).length() > ROLLING_MAX_JUMP * size {
        return None;
    }
    *support = next;
    state.kick(problem, 0.5 * h);
    let q = -(problem.mass_at(&state.motion, support.arm) * state.slip(support.arm));
    state.apply_impulse(problem, support.arm, q);
    Some((p, q))
}
