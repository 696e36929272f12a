//! Contact forces at an instant, not as means over a step.
//!
//! While bodies touch, the rate of a gap is ġ = n·u, u = v_B + ω_B×(c − x_B) − v_A − ω_A×(c − x_A) at the point c in which they touch. Its rate in turn, and
//! that of the slip, is a = A F + b with
//!
//!   b_n = n·(β_B − β_A) + ṅ·u,   b_τ = τ·(β_B − β_A),   β = v̇* + ω̇*×(c − x) + ω×(ċ − v),   ω̇* = I⁻¹(τ + L×ω),
//!
//! v̇*, ω̇* what a body does without contacts. ċ is the velocity of the place of contact, not of matter: a corner takes it along on its body, on a ball it
//! stays below the centre. (For a corner of B on a face of A: ċ = v_B + ω_B×(c − x_B) and ṅ = ω_A×n, which is the usual ω×(ω×x) and 2 ṅ·u.)
//! ċ and ṅ are found by looking at the contact a little earlier and later: f' = (8(f₁ − f₋₁) − (f₂ − f₋₂))/12ε; where that is what a face, a corner or a ball
//! would do, the closed form takes its place, which is exact.
//! Forces satisfy 0 ≤ F_n ⟂ a_n ≥ 0 and Coulomb's law, with |F_τ| ≤ μ F_n where there is no slip and F_τ = −μ F_n u_τ/|u_τ| where there is.

use super::force::{Forces, Wish};
use super::roster::{Pair, Roster};
use super::touch::{Touch, gather};
use super::{Constraint, ContactForce};
use crate::error::Error;
use crate::force::Loads;
use crate::motion::Motion;
use crate::world::{Status, World};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::contact::{ContactCache, Contacts};
use rattleback_numerics::lcp::SquareMatrix;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// How far bodies move for a look at a contact earlier or later, in parts of the smaller body, or turn, in rad.
const GLANCE: f64 = 1e-3;
/// Step for accelerations of bodies on paths, s; less for those that turn.
const MOMENT: f64 = 1e-3;
/// What a rate may differ from a closed form by, in parts of the speeds, and still be it.
const SAME: f64 = 1e-6;

/// Points that touch at an instant, and the equations of the forces in them: a = A F + b.
#[derive(Clone, Debug)]
pub struct ContactBalance {
    /// The points, each with its force.
    pub contacts: Vec<ContactForce>,
    /// Columns n, t, k of each point; t along the slip of the second body where it slips.
    pub frames: Vec<DMat3>,
    /// A, 1/kg: what forces along n, t, k of each point do to the accelerations there, in the same order.
    pub matrix: SquareMatrix,
    /// b, m/s²: the accelerations without contact forces.
    pub bias: Vec<f64>,
    /// Whether forces were found that satisfy the conditions.
    pub solved: bool,
}

/// How place and normal of a contact change.
#[derive(Clone, Copy, Debug)]
struct Drift {
    place: DVec3,
    normal: DVec3,
}

impl Constraint {
    /// The forces that act in the world's contacts at this instant, with the equations they solve; the world's bodies stay where they are.
    /// Points that touch and approach or part by no more than the contact speed count (1e-4 m/s unless the settings say otherwise). Refuses contacts of
    /// bodies that joints hold.
    pub fn contact_balance(&self, world: &mut World) -> Result<ContactBalance, Error> {
        let time = world.time();
        let mut roster = Roster::new(self.settings.space_kind()?);
        roster.sync(world)?;
        let motion = states(&roster, world, time);
        roster.look(world, &motion, &motion, 0.0)?;
        let keys: Vec<[u32; 2]> =
            roster.pairs.iter().filter(|(_, pair)| !pair.sensor).map(|(key, _)| *key).collect();
        let mut touches = Vec::new();
        gather(&mut roster, &keys, &motion, 0.0, self.settings.touch_gap, &mut touches);
        let slow = if self.settings.contact_speed > 0.0 { self.settings.contact_speed } else { 1e-4 };
        touches.retain(|touch| touch.touches() && touch.relative_velocity(&motion).x.abs() <= slow);
        if touches
            .iter()
            .flat_map(|touch| touch.actors)
            .any(|actor| roster.assembly_of[actor as usize].is_some())
        {
            return Err(Error::Unsupported {
                simulator: "constraint",
                what: "forces at an instant where jointed bodies touch",
                instead: "take the means over a step from `contacts`",
            });
        }
        let accelerations = accelerations(&roster, world, &motion, time);
        Ok(self.balance(&roster, &motion, &accelerations, &touches))
    }

    fn balance(
        &self,
        roster: &Roster,
        motion: &[Motion],
        accelerations: &[Motion],
        touches: &[Touch],
    ) -> ContactBalance {
        let slides = |touch: &Touch| {
            let u = touch.relative_velocity(motion);
            u.y.hypot(u.z) > self.settings.stick_speed
        };
        let mut forces = Forces::default();
        // The same equations as those of a step, with accelerations in the place of velocities.
        forces.pose(roster, accelerations, accelerations, touches, |_, touch| Wish {
            normal: 0.0,
            friction: if slides(touch) { touch.kinetic_friction } else { touch.static_friction },
            stiffness: Stiffness::Rigid,
        });
        let biases: Vec<DVec3> = touches.iter().map(|touch| bias(roster, motion, touch)).collect();
        forces.shift_targets(&biases);
        let (matrix, bias) = forces.equations();
        let sliding: Vec<bool> = touches.iter().map(slides).collect();
        let report = forces.pivot(&sliding, &BlockSettings::default());
        let contact = |(touch, force): (&Touch, &DVec3)| ContactForce {
            bodies: touch.actors.map(|actor| roster.actors[actor as usize].id),
            shapes: touch.name.0,
            point: touch.point,
            normal: touch.normal(),
            gap: touch.gap,
            force: touch.frame * *force,
        };
        ContactBalance {
            contacts: touches.iter().zip(&forces.impulse).map(contact).collect(),
            frames: touches.iter().map(|touch| touch.frame).collect(),
            matrix,
            bias,
            solved: report.converged && !report.unbounded,
        }
    }
}

/// States of everybody at a time.
fn states(roster: &Roster, world: &World, time: f64) -> Vec<Motion> {
    let state = |actor: &super::roster::Actor| {
        let present = world.bodies().motion(actor.status)[actor.place];
        if actor.status == Status::Animated { actor.scripted(time, &present) } else { present }
    };
    roster.actors.iter().map(state).collect()
}

/// Everybody where it is, with v̇* and ω̇* for velocities.
fn accelerations(roster: &Roster, world: &mut World, motion: &[Motion], time: f64) -> Vec<Motion> {
    let mut loads = Loads::default();
    world.gather_loads(time, &mut loads);
    let uniform = loads.uniform_acceleration();
    let of = |(actor, now): (&super::roster::Actor, &Motion)| {
        let [v, omega] = match actor.status {
            Status::Dynamic => {
                let inertia = &actor.inertia;
                let wrench = loads.wrench(actor.place);
                let turning = wrench.torque + (inertia.world_tensor(now.q) * now.omega).cross(now.omega);
                [
                    uniform + inertia.inverse_mass * wrench.force - inertia.linear_damping * now.v,
                    inertia.angular_velocity(now.q, turning) - inertia.angular_damping * now.omega,
                ]
            }
            Status::Animated => {
                let step = MOMENT / (1.0 + now.omega.length());
                let at = |k: f64| actor.scripted(time + k * step, now);
                let of = |f: fn(&Motion) -> DVec3| rate([-2.0, -1.0, 1.0, 2.0].map(|k| f(&at(k))), step);
                [of(|motion| motion.v), of(|motion| motion.omega)]
            }
            Status::Fixed | Status::Inactive => [DVec3::ZERO; 2],
        };
        Motion { v, omega, ..*now }
    };
    roster.actors.iter().zip(motion).map(of).collect()
}

/// f at −2, −1, 1 and 2 steps ⇒ f' in the middle.
fn rate([a, b, c, d]: [DVec3; 4], step: f64) -> DVec3 {
    (8.0 * (c - b) - (d - a)) / (12.0 * step)
}

/// What is to be added to the accelerations of a contact because it moves: ω×(ċ − v) of both sides, and ṅ·u.
fn bias(roster: &Roster, motion: &[Motion], touch: &Touch) -> DVec3 {
    let [a, b] = touch.actors.map(|actor| &motion[actor as usize]);
    let Drift { place, normal } = drift(roster, motion, touch);
    let turned = b.omega.cross(place - b.v) - a.omega.cross(place - a.v);
    let u = b.velocity_at(touch.point) - a.velocity_at(touch.point);
    touch.frame.transpose() * turned + DVec3::new(normal.dot(u), 0.0, 0.0)
}

/// ċ and ṅ of a contact.
fn drift(roster: &Roster, motion: &[Motion], touch: &Touch) -> Drift {
    let [a, b] = touch.actors.map(|actor| &motion[actor as usize]);
    let (n, u) = (touch.normal(), b.velocity_at(touch.point) - a.velocity_at(touch.point));
    // Faces of A or of B; corners and balls of either.
    let normals = [a.omega.cross(n), b.omega.cross(n)];
    let corner = [a.velocity_at(touch.point), b.velocity_at(touch.point)];
    let Some(looked) = roster.pairs.get(&touch.pair).and_then(|pair| look(roster, pair, motion, touch))
    else {
        return Drift { place: corner[1], normal: normals[0] };
    };
    let size = roster.pairs.get(&touch.pair).map_or(1.0, |pair| pair.size);
    let turning = a.omega.length() + b.omega.length() + u.length() / size;
    let nearest = |found: DVec3, known: &[DVec3], enough: f64| {
        let same = known.iter().filter(|known| known.distance(found) <= enough);
        same.min_by(|x, y| x.distance(found).total_cmp(&y.distance(found))).copied().unwrap_or(found)
    };
    let normal = nearest(looked.normal, &normals, SAME * turning);
    let ball = |body: &Motion| body.v + (touch.point - body.x).dot(n) * normal;
    let places = [corner[0], corner[1], ball(a), ball(b)];
    let place = nearest(looked.place, &places, SAME * (turning * size + a.v.length() + b.v.length()));
    Drift { place, normal }
}

/// The same from looks at the contact a little earlier and later; nothing if it is not there then.
fn look(roster: &Roster, pair: &Pair, motion: &[Motion], touch: &Touch) -> Option<Drift> {
    let speed =
        |actor: u32| motion[actor as usize].v.length() / pair.size + motion[actor as usize].omega.length();
    let fastest = pair.actors.iter().map(|actor| speed(*actor)).fold(0.0, f64::max);
    if fastest == 0.0 {
        return Some(Drift { place: DVec3::ZERO, normal: DVec3::ZERO });
    }
    let step = GLANCE / fastest;
    let mut probe = pair.clone();
    let mut moved = motion.to_vec();
    let mut touches = Vec::new();
    let mut at = |k: f64| -> Option<[DVec3; 2]> {
        for actor in pair.actors.map(|actor| actor as usize) {
            let now = &motion[actor];
            let turn = DQuat::from_scaled_axis(k * step * now.omega);
            moved[actor] = Motion { x: now.x + k * step * now.v, q: (turn * now.q).normalize(), ..*now };
        }
        // Nothing kept from other looks: what is asked for is how little differs.
        (probe.cache, probe.found) = (ContactCache::default(), Contacts::default());
        probe.find(&roster.parts, &moved, 0.02 * pair.size).ok()?;
        touches.clear();
        probe.touches(&roster.parts, &moved, 0.0, &mut touches);
        let same = touches.iter().filter(|other| other.name == touch.name);
        let nearest = same.min_by(|x, y| {
            x.point.distance_squared(touch.point).total_cmp(&y.point.distance_squared(touch.point))
        })?;
        Some([nearest.point, nearest.normal()])
    };
    let [a, b, c, d] = [at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?];
    let of = |which: usize| rate([a[which], b[which], c[which], d[which]], step);
    Some(Drift { place: of(0), normal: of(1) })
}
