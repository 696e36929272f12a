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
//!   2. an impulse P at the contact point *at the beginning*, free flight (exact rotation) over h, with P such that
//!      the height s is kept and the slip at both ends cancels, (u₀⁺ + u₁⁻)·t = 0 for tangents t: P ← P − K⁻¹ e;
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
use super::roster::{EXACT, Life, NONE, Roster};
use crate::motion::{Inertia, Motion, rotate_freely};
use crate::world::{Status, World};
use glam::{DMat3, DVec3};
use rattleback_geometry::contact::{Piece, PieceCache, distance_pieces};
use rattleback_geometry::{Pose, Shape};
use rattleback_numerics::team::each;

/// Fractions of a step in Suzuki's composition of fourth order.
const SHARES: [f64; 5] = {
    const P: f64 = 0.414_490_771_794_375_7;
    [P, P, 1.0 - 4.0 * P, P, P]
};
const REACH: f64 = 0.25;
const MOST_PIECES: f64 = 64.0;
const ATTEMPTS: usize = 4;
const WORK: f64 = 1e-4;
const CORRECTIONS: usize = 24;
const RECOVERY: f64 = 0.1;
const JUMP: f64 = 0.2;

const SEVERAL: f64 = 1e-3;

/// A body that may roll in the present step, and the result.
#[derive(Debug)]
struct Roller {
    slot: u32,
    place: u32,
    contact: u32,
    /// Collider of the body.
    part: u32,
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
    done: bool,
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct Rolling {
    rollers: Vec<Roller>,
    /// By slot: number of contacts, plus two for every joint.
    busy: Vec<u32>,
}

/// The support point of a collider on the plane.
#[derive(Clone, Copy)]
struct Foot {
    /// From the centre of mass, m.
    arm: DVec3,
    /// Height above the plane, m.
    gap: f64,
}

/// Constants of a rolling body over a step.
struct Setup<'s> {
    shape: Piece<'s>,
    place: Pose,
    plane: Shape,
    normal: DVec3,
    height: f64,
    inertia: Inertia,
    acceleration: DVec3,
    torque: DVec3,
}

impl Setup<'_> {
    fn foot(&self, motion: &Motion) -> Option<Foot> {
        // Relative to the projection of the centre of mass onto the plane, so that no digits are lost far
        // from the origin.
        let below = motion.x - (self.normal.dot(motion.x) - self.height) * self.normal;
        let body = Pose::new(motion.q, motion.x - below) * self.place;
        let plane = Piece::try_from(&self.plane).ok()?;
        let nearest = distance_pieces(&plane, &self.shape, &body, &mut PieceCache::default()).ok()?;
        Some(Foot { arm: nearest.point_b + below - motion.x, gap: nearest.distance })
    }

    /// Whether external loads account for the change of the kinetic energy: Σ F·Δx, as they are constant over
    /// the step.
    fn ground_is_idle(&self, before: &State, now: &State, lifted: f64, dt: f64) -> bool {
        let damped = self.inertia.linear_damping > 0.0 || self.inertia.angular_damping > 0.0;
        if damped || self.torque != DVec3::ZERO {
            return true;
        }
        let [from, to] = [before, now].map(|state| self.inertia.kinetic_energy(&state.motion));
        let mass = self.inertia.mass();
        let given = mass * (self.acceleration.dot(now.motion.x - before.motion.x) + lifted);
        let fall = mass * self.acceleration.length_squared() * dt * dt;
        (to - from - given).abs() <= WORK * dt * (from + to + fall)
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
enum Rolled {
    /// Rolled, with this impulse of the plane, N·s.
    By(DVec3),
    /// Slides or lifts off.
    Away,
    /// Undecided: the pieces were too long.
    Unknown,
}

/// State of a body, with its angular momentum.
#[derive(Clone, Copy)]
struct State {
    motion: Motion,
    l: DVec3,
}

impl State {
    fn kick(&mut self, setup: &Setup<'_>, h: f64) {
        self.motion.v += setup.acceleration * h;
        self.l += setup.torque * h;
        if setup.inertia.linear_damping > 0.0 {
            self.motion.v *= (-h * setup.inertia.linear_damping).exp();
        }
        if setup.inertia.angular_damping > 0.0 {
            self.l *= (-h * setup.inertia.angular_damping).exp();
        }
        self.turn(setup);
    }

    fn push(&mut self, setup: &Setup<'_>, arm: DVec3, impulse: DVec3) {
        self.motion.v += impulse * setup.inertia.inverse_mass;
        self.l += arm.cross(impulse);
        self.turn(setup);
    }

    fn turn(&mut self, setup: &Setup<'_>) {
        self.motion.omega = setup.inertia.angular_velocity(self.motion.q, self.l);
    }

    fn fly(&mut self, setup: &Setup<'_>, h: f64) {
        self.motion.x += self.motion.v * h;
        self.motion.q = rotate_freely(self.motion.q, self.l, setup.inertia.inverse_moments, h);
        self.turn(setup);
    }

    fn slip(&self, arm: DVec3) -> DVec3 {
        self.motion.v + self.motion.omega.cross(arm)
    }
}

impl Realtime {
    /// Integrates rolling bodies over the step ⇒ whether there are any; they are marked as [`EXACT`].
    pub(super) fn run_rolling(&mut self, world: &World, dt: f64) -> bool {
        self.find_rolling(world);
        if self.rolling.rollers.is_empty() {
            return false;
        }
        let threads = self.threads();
        let Self { rolling, roster, loads, table, settings, .. } = self;
        let inertia = world.bodies().inertia(Status::Dynamic);
        let parts = &*roster;
        each(threads.min(rolling.rollers.len()), &mut rolling.rollers, |_, roller| {
            let (Some(part), Ok(plane)) = (parts.part(roller.part), Shape::half_space(roller.normal)) else {
                return;
            };
            let Ok(shape) = Piece::try_from(&part.shape) else { return };
            let wrench = loads.wrench(roller.place as usize);
            let inertia = inertia[roller.place as usize];
            let setup = Setup {
                shape,
                place: part.place,
                plane,
                normal: roller.normal,
                height: roller.height,
                inertia,
                acceleration: loads.uniform_acceleration() + wrench.force * inertia.inverse_mass,
                torque: wrench.torque,
            };
            roller.done = roller.roll(&setup, dt).is_some();
        });
        let mut any = false;
        let share = 1.0 / settings.substeps.max(1) as f64;
        for roller in rolling.rollers.iter().filter(|roller| roller.done) {
            any = true;
            if let Some(actor) = roster.actor_mut(roller.slot) {
                actor.mover = EXACT;
            }
            let contact = table.contacts.get_mut(roller.contact as usize).and_then(Option::as_mut);
            if let Some(contact) = contact {
                contact.keep_rolling(roller.impulse * share, roller.normal, roller.gap);
            }
        }
        any
    }

    /// Writes the states of rolling bodies to the world.
    pub(super) fn place_rolling(&mut self, world: &mut World) {
        let motion = world.bodies_mut().dynamic_mut().0;
        for roller in self.rolling.rollers.iter().filter(|roller| roller.done) {
            motion[roller.place as usize] = roller.motion;
        }
    }

    /// Lists bodies whose only contact is one in which they may roll.
    fn find_rolling(&mut self, world: &World) {
        let stamp = world.counters().steps + 1;
        let Self { rolling, roster, table, bonds, .. } = self;
        rolling.rollers.clear();
        for (_, summary) in table.near(stamp) {
            if summary.may_roll
                && let Some(contact) = table.contact(summary)
                && let Some(mut roller) = Roller::new(contact, stamp, roster, world)
            {
                roller.contact = summary.contact;
                rolling.rollers.push(roller);
            }
        }
        if rolling.rollers.is_empty() {
            return;
        }
        // Bodies with other contacts or joints are left to the sweeps.
        let Rolling { rollers, busy } = rolling;
        busy.clear();
        busy.resize(roster.actors.len(), 0);
        for (_, summary) in table.near(stamp) {
            summary.actors.iter().for_each(|slot| busy[*slot as usize] += 1);
        }
        for slot in bonds.all.iter().flat_map(|bond| bond.actors).filter(|slot| *slot != NONE) {
            if let Some(count) = busy.get_mut(slot as usize) {
                *count += 2;
            }
        }
        rollers.retain(|roller| busy[roller.slot as usize] == 1);
    }
}

impl Roller {
    /// The rolling body of a contact, if it is one.
    fn new(contact: &Contact, stamp: u64, roster: &Roster, world: &World) -> Option<Self> {
        let [ground, slot] = contact.actors;
        let material = &contact.material;
        let resists = material.rolling_friction > 0.0 || material.spinning_friction > 0.0;
        if resists || contact.sensor || contact.answered == stamp || !contact.others.is_empty() {
            return None;
        }
        let (fixed, body) = (roster.actor(ground)?, roster.actor(slot)?);
        if fixed.status != Status::Fixed || roster.lives[slot as usize] != Life::Awake {
            return None;
        }
        let motion = *body.motion(world)?;
        let part = roster.part(contact.parts[0])?;
        let pose = fixed.motion(world)?.pose() * part.place;
        let (normal, height, face) = match &part.shape {
            Shape::HalfSpace(half_space) => {
                let normal = pose.vector(half_space.normal());
                (normal, normal.dot(pose.translation), None)
            }
            Shape::Cuboid(cuboid) => {
                let own = pose.inverse_vector(contact.patch.head.vector(0));
                let size = own.abs();
                let axis = if size.x > size.y.max(size.z) {
                    0
                } else if size.y > size.z {
                    1
                } else {
                    2
                };
                if own[axis].abs() < 1.0 - 1e-6 {
                    return None;
                }
                let normal = pose.vector(DVec3::AXES[axis] * own[axis].signum());
                let half = cuboid.half_extents();
                (normal, normal.dot(pose.translation) + half[axis], Some((pose, half, axis)))
            }
            _ => return None,
        };
        Some(Self {
            slot,
            place: body.place,
            contact: NONE,
            part: contact.parts[1],
            normal,
            height,
            face,
            friction: material.static_friction,
            motion,
            impulse: DVec3::ZERO,
            gap: 0.0,
            gaps: contact.patch.points.map(|row| row.0[7]),
            points: contact.patch.count as usize,
            done: false,
        })
    }

    /// Integrates over a step ⇒ `None` if the body does not roll throughout.
    fn roll(&mut self, setup: &Setup<'_>, dt: f64) -> Option<()> {
        let n = self.normal;
        let mut state = State { motion: self.motion, l: DVec3::ZERO };
        state.l = setup.inertia.angular_momentum(state.motion.q, state.motion.omega);
        let mut foot = setup.foot(&state.motion)?;
        let weight = -n.dot(setup.acceleration);
        if !(weight > 0.0 && weight.is_finite())
            || foot.gap > (0.5 * weight * dt * dt).max(1e-6 * foot.arm.length())
        {
            return None;
        }
        // A body that stands or lies on several points does not roll over one.
        let near = (foot.gap + SEVERAL * foot.arm.length()) as f32;
        if self.gaps[..self.points].iter().filter(|gap| **gap < near).count() > 1 {
            return None;
        }
        self.gap = foot.gap;
        let pieces = self.pieces(setup, &state, &foot, weight, dt)?;
        // A body sticks if friction stops its slip within the step and its impact is smaller than its weight.
        let slip = state.slip(foot.arm);
        let stop = -(setup.mass_at(&state.motion, foot.arm) * slip);
        let carried = weight * dt / setup.inertia.inverse_mass;
        if stop.reject_from_normalized(n).length() > 0.5 * self.friction * carried
            || stop.dot(n).abs() > carried
        {
            return None;
        }
        state.push(setup, foot.arm, stop);
        let (began, first) = (state, foot);
        let mut pieces = pieces;
        for attempt in 0..ATTEMPTS {
            (state, foot) = (began, first);
            let rolled = self.go(setup, &mut state, &mut foot, dt, pieces);
            // The plane does no work; apparent work is the error of pieces that are too long. (Correcting the
            // height does work.)
            let lifted = weight * (foot.gap - first.gap);
            let last = attempt + 1 == ATTEMPTS;
            match rolled {
                Rolled::Away => return None,
                Rolled::By(impulse) if last || setup.ground_is_idle(&began, &state, lifted, dt) => {
                    self.impulse = stop + impulse;
                    break;
                }
                Rolled::Unknown | Rolled::By(_) if last || pieces as f64 > MOST_PIECES => return None,
                Rolled::Unknown | Rolled::By(_) => pieces *= 2,
            }
        }
        if let Some((pose, half, axis)) = self.face {
            let point = pose.inverse_point(state.motion.x + foot.arm);
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
    fn go(&self, setup: &Setup<'_>, state: &mut State, foot: &mut Foot, dt: f64, pieces: usize) -> Rolled {
        let (n, h) = (self.normal, dt / pieces as f64);
        // The impulses of a base step are proportional to its length.
        let (mut per_share, mut impulse) = (DVec3::ZERO, DVec3::ZERO);
        for _ in 0..pieces {
            let mut sum = DVec3::ZERO;
            for share in SHARES {
                let Some((p, q)) = base_step(setup, state, foot, share * h, per_share * share) else {
                    return Rolled::Unknown;
                };
                sum += p + q;
                per_share = q / share;
            }
            let pressure = n.dot(sum);
            if !(pressure > 0.0 && (sum - pressure * n).length() <= self.friction * pressure) {
                return Rolled::Away;
            }
            impulse += sum;
        }
        Rolled::By(impulse)
    }

    /// Number of pieces: neither the body, nor the contact point on it, nor its rocking advances by more than
    /// [`ROLLING_PIECE_ANGLE`] in one.
    ///
    /// A body whose surface has the radius of curvature ρ rocks with at most √(g ρ/(k² + r²)), k its smallest
    /// radius of gyration.
    fn pieces(&self, setup: &Setup<'_>, state: &State, foot: &Foot, weight: f64, dt: f64) -> Option<usize> {
        let (arm, here, motion) = (foot.arm.length(), foot.arm, &state.motion);
        let tilted = |axis: DVec3, angle: f64| {
            let turned = glam::DQuat::from_scaled_axis(axis * angle);
            let foot = setup.foot(&Motion { q: turned * motion.q, ..*motion })?;
            // Along the surface: relative to the material that has rotated with the body.
            Some(((foot.arm - turned * here).length() / angle, foot.arm))
        };
        let small = 1e-5;
        let (t, s) = self.normal.any_orthonormal_pair();
        let curvature = tilted(t, small)?.0.max(tilted(s, small)?.0);
        let spin = motion.omega.length();
        let mut contact = 0.0;
        if spin > 0.0 {
            let moved = (tilted(motion.omega / spin, small)?.1 - foot.arm).length();
            contact = spin * moved / (small * arm.max(1e-300));
        }
        let gyration = setup.inertia.moments.min_element() * setup.inertia.inverse_mass;
        let rocking = (weight * curvature.max(arm) / (gyration + arm * arm)).sqrt();
        let pieces = (dt * spin.max(contact).max(rocking) / REACH).ceil();
        (pieces <= MOST_PIECES).then(|| pieces.max(1.0) as usize)
    }
}

/// One base step ⇒ the impulses at its beginning and end.
fn base_step(
    setup: &Setup<'_>,
    state: &mut State,
    foot: &mut Foot,
    h: f64,
    guess: DVec3,
) -> Option<(DVec3, DVec3)> {
    let n = setup.normal;
    state.kick(setup, 0.5 * h);
    let start = *state;
    let mass = setup.mass_at(&start.motion, foot.arm);
    let wanted = foot.gap * (1.0 - RECOVERY);
    let (mut p, mut worst) = (guess, f64::INFINITY);
    let size = foot.arm.length();
    let mut found = None;
    for _ in 0..CORRECTIONS {
        *state = start;
        state.push(setup, foot.arm, p);
        let before = state.slip(foot.arm);
        state.fly(setup, h);
        let next = setup.foot(&state.motion)?;
        let slip = 0.5 * (before + state.slip(next.arm));
        let miss = slip - slip.dot(n) * n + n * ((next.gap - wanted) / h);
        let (last, now) = (worst, miss.length() * h.abs());
        worst = now;
        found = Some(next);
        if !now.is_finite() {
            return None;
        }
        if now < 1e-15 * size || now > 0.5 * last && now < 1e-11 * size {
            break;
        }
        p -= mass * miss;
    }
    let next = found?;
    if worst > 1e-9 * size || (next.arm - foot.arm).length() > JUMP * size {
        return None;
    }
    *foot = next;
    state.kick(setup, 0.5 * h);
    let q = -(setup.mass_at(&state.motion, foot.arm) * state.slip(foot.arm));
    state.push(setup, foot.arm, q);
    Some((p, q))
}
