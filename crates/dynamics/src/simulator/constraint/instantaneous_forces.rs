//! Contact forces at an instant, instead of means over a step.
//!
//! While bodies touch, the rate of a gap is ġ = n·u with u = v_B + ω_B×(c − x_B) − v_A − ω_A×(c − x_A) at the
//! contact position c. The accelerations of gap and slip are a = A F + b with
//!
//!   b_n = n·(β_B − β_A) + ṅ·u,   b_τ = τ·(β_B − β_A),   β = v̇* + ω̇*×(c − x) + ω×(ċ − v),   ω̇* = I⁻¹(τ + L×ω),
//!
//! v̇*, ω̇* the accelerations of a body without contacts. ċ is the velocity of the contact position, not of a
//! material point: a corner carries it along with its body, on a sphere it stays below the centre. (For a
//! corner of B on a face of A, ċ = v_B + ω_B×(c − x_B) and ṅ = ω_A×n give the usual terms ω×(ω×x) and 2 ṅ·u.)
//! ċ and ṅ are finite differences of the contact at displaced poses: f' = (8(f₁ − f₋₁) − (f₂ − f₋₂))/12ε;
//! where they agree with those of a face, a corner or a sphere, the closed form is taken, which is exact.
//! Forces satisfy 0 ≤ F_n ⟂ a_n ≥ 0 and Coulomb's law, with |F_τ| ≤ μ F_n where there is no slip and F_τ = −μ
//! F_n u_τ/|u_τ| where there is.

use super::Constraint;
use super::force_solver::{ContactTarget, ForceSolver};
use super::tuning::{CLOSED_FORM_MATCH, PATH_PROBE_TIME, RATE_PROBE};
use crate::collision::{ColliderPair, MirrorBody, WorldMirror};
use crate::collision::{ManifoldPoint, gather};
use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::rigid::Motion;
use crate::simulator::ContactPoint;
use crate::world::{Status, World};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::contact::{ContactCache, Contacts};
use rattleback_numerics::lcp::SquareMatrix;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// Touching points at an instant, and the equations of their forces, a = A F + b.
#[derive(Clone, Debug)]
pub struct InstantaneousForces {
    /// The points with their forces.
    pub contacts: Vec<ContactPoint>,
    /// Contact frames: columns n, t, k of each point, t along the slip of the second body.
    pub frames: Vec<DMat3>,
    /// A, 1/kg: accelerations along n, t, k of each point per unit force along n, t, k of each point.
    pub matrix: SquareMatrix,
    /// b, m/s²: accelerations along n, t, k of each point without contact forces.
    pub bias: Vec<f64>,
    /// Whether the forces satisfy the contact conditions.
    pub solved: bool,
}

/// ċ, m/s, and ṅ, 1/s, of a contact.
#[derive(Clone, Copy, Debug)]
struct ContactRates {
    position: DVec3,
    normal: DVec3,
}

impl Constraint {
    /// Contact forces at the present instant, with their equations; the states of the world do not change.
    /// Touching points count whose normal speed is at most `contact_speed`, or 1e-4 m/s if that is 0.
    ///
    /// # Errors
    /// If jointed bodies touch, which is not supported, or the broad phase refuses a collider.
    pub fn instantaneous_forces(&self, world: &mut World) -> Result<InstantaneousForces, Error> {
        let time = world.time();
        let mut mirror = WorldMirror::new(self.settings.space);
        mirror.sync(world)?;
        let motion = states(&mirror, world, time);
        mirror.update_pairs(world, &motion, &motion, 0.0)?;
        let keys: Vec<[u32; 2]> =
            mirror.pairs.iter().filter(|(_, pair)| !pair.sensor).map(|(key, _)| *key).collect();
        let mut points = Vec::new();
        gather(&mut mirror, &keys, &motion, 0.0, self.settings.touch_gap, &mut points);
        let slow = if self.settings.contact_speed > 0.0 { self.settings.contact_speed } else { 1e-4 };
        points.retain(|point| point.is_touching() && point.relative_velocity(&motion).x.abs() <= slow);
        if points
            .iter()
            .flat_map(|point| point.bodies)
            .any(|body| mirror.mechanism_of[body as usize].is_some())
        {
            return Err(Error::Unsupported {
                simulator: "constraint",
                what: "forces at an instant where jointed bodies touch",
                instead: "read the means over a step from `contacts`",
            });
        }
        let accelerations = accelerations(&mirror, world, &motion, time);
        Ok(self.solve_instant(&mirror, &motion, &accelerations, &points))
    }

    fn solve_instant(
        &self,
        mirror: &WorldMirror,
        motion: &[Motion],
        accelerations: &[Motion],
        points: &[ManifoldPoint],
    ) -> InstantaneousForces {
        let slides = |point: &ManifoldPoint| {
            let u = point.relative_velocity(motion);
            u.y.hypot(u.z) > self.settings.stick_speed
        };
        let mut forces = ForceSolver::default();
        // The equations of an interval, with accelerations instead of velocities.
        forces.assemble(mirror, accelerations, accelerations, points, |_, point| ContactTarget {
            normal: 0.0,
            friction: if slides(point) { point.kinetic_friction } else { point.static_friction },
            stiffness: Stiffness::Rigid,
        });
        let biases: Vec<DVec3> = points.iter().map(|point| bias(mirror, motion, point)).collect();
        forces.shift_targets(&biases);
        let (matrix, bias) = forces.equations();
        let sliding: Vec<bool> = points.iter().map(slides).collect();
        let report = forces.pivot(&sliding, &BlockSettings::default());
        let contact = |(point, force): (&ManifoldPoint, &DVec3)| ContactPoint {
            bodies: point.bodies.map(|body| mirror.bodies[body as usize].id),
            shapes: point.key.0,
            point: point.position,
            normal: point.normal(),
            gap: point.gap,
            force: point.frame * *force,
        };
        InstantaneousForces {
            contacts: points.iter().zip(&forces.impulse).map(contact).collect(),
            frames: points.iter().map(|point| point.frame).collect(),
            matrix,
            bias,
            solved: report.converged && !report.unbounded,
        }
    }
}

/// States of all bodies at a time.
fn states(mirror: &WorldMirror, world: &World, time: f64) -> Vec<Motion> {
    let state = |body: &MirrorBody| {
        let present = world.bodies().motion(body.status)[body.slot];
        if body.status == Status::Kinematic { body.kinematic_state(time, &present) } else { present }
    };
    mirror.bodies.iter().map(state).collect()
}

/// All bodies with v̇* and ω̇* in place of their velocities.
fn accelerations(mirror: &WorldMirror, world: &mut World, motion: &[Motion], time: f64) -> Vec<Motion> {
    let mut loads = ForceAccumulator::default();
    world.gather_loads(time, &mut loads);
    let uniform = loads.uniform_acceleration();
    let of = |(body, now): (&MirrorBody, &Motion)| {
        let [v, omega] = match body.status {
            Status::Dynamic => {
                let inertia = &body.inertia;
                let wrench = loads.wrench(body.slot);
                let turning = wrench.torque + (inertia.world_tensor(now.q) * now.omega).cross(now.omega);
                [
                    uniform + inertia.inverse_mass * wrench.force - inertia.linear_damping * now.v,
                    inertia.angular_velocity(now.q, turning) - inertia.angular_damping * now.omega,
                ]
            }
            Status::Kinematic => {
                let step = PATH_PROBE_TIME / (1.0 + now.omega.length());
                let at = |k: f64| body.kinematic_state(time + k * step, now);
                let of =
                    |f: fn(&Motion) -> DVec3| derivative([-2.0, -1.0, 1.0, 2.0].map(|k| f(&at(k))), step);
                [of(|motion| motion.v), of(|motion| motion.omega)]
            }
            Status::Fixed | Status::Disabled => [DVec3::ZERO; 2],
        };
        Motion { v, omega, ..*now }
    };
    mirror.bodies.iter().zip(motion).map(of).collect()
}

/// f at −2, −1, 1 and 2 steps ⇒ f' at 0, of fourth order.
fn derivative([a, b, c, d]: [DVec3; 4], step: f64) -> DVec3 {
    (8.0 * (c - b) - (d - a)) / (12.0 * step)
}

/// Velocity terms of b for a contact: ω×(ċ − v) of both sides, and ṅ·u.
fn bias(mirror: &WorldMirror, motion: &[Motion], point: &ManifoldPoint) -> DVec3 {
    let [a, b] = point.bodies.map(|body| &motion[body as usize]);
    let ContactRates { position, normal } = contact_rates(mirror, motion, point);
    let turned = b.omega.cross(position - b.v) - a.omega.cross(position - a.v);
    let u = b.velocity_at(point.position) - a.velocity_at(point.position);
    point.frame.transpose() * turned + DVec3::new(normal.dot(u), 0.0, 0.0)
}

/// ċ and ṅ of a contact.
fn contact_rates(mirror: &WorldMirror, motion: &[Motion], point: &ManifoldPoint) -> ContactRates {
    let [a, b] = point.bodies.map(|body| &motion[body as usize]);
    let (n, u) = (point.normal(), b.velocity_at(point.position) - a.velocity_at(point.position));
    // Closed forms: faces of A or B; corners and spheres of either.
    let normals = [a.omega.cross(n), b.omega.cross(n)];
    let corner = [a.velocity_at(point.position), b.velocity_at(point.position)];
    let Some(differences) =
        mirror.pairs.get(&point.pair).and_then(|pair| finite_difference_rates(mirror, pair, motion, point))
    else {
        return ContactRates { position: corner[1], normal: normals[0] };
    };
    let size = mirror.pairs.get(&point.pair).map_or(1.0, |pair| pair.size);
    let turning = a.omega.length() + b.omega.length() + u.length() / size;
    let nearest = |found: DVec3, known: &[DVec3], enough: f64| {
        let same = known.iter().filter(|known| known.distance(found) <= enough);
        same.min_by(|x, y| x.distance(found).total_cmp(&y.distance(found))).copied().unwrap_or(found)
    };
    let normal = nearest(differences.normal, &normals, CLOSED_FORM_MATCH * turning);
    let sphere = |body: &Motion| body.v + (point.position - body.x).dot(n) * normal;
    let positions = [corner[0], corner[1], sphere(a), sphere(b)];
    let position = nearest(
        differences.position,
        &positions,
        CLOSED_FORM_MATCH * (turning * size + a.v.length() + b.v.length()),
    );
    ContactRates { position, normal }
}

/// ċ and ṅ by finite differences; `None` if the contact vanishes at a displaced pose.
fn finite_difference_rates(
    mirror: &WorldMirror,
    pair: &ColliderPair,
    motion: &[Motion],
    point: &ManifoldPoint,
) -> Option<ContactRates> {
    let speed =
        |body: u32| motion[body as usize].v.length() / pair.size + motion[body as usize].omega.length();
    let fastest = pair.bodies.iter().map(|body| speed(*body)).fold(0.0, f64::max);
    if fastest == 0.0 {
        return Some(ContactRates { position: DVec3::ZERO, normal: DVec3::ZERO });
    }
    let step = RATE_PROBE / fastest;
    let mut probe = pair.clone();
    let mut moved = motion.to_vec();
    let mut points = Vec::new();
    let mut at = |k: f64| -> Option<[DVec3; 2]> {
        for body in pair.bodies.map(|body| body as usize) {
            let now = &motion[body];
            let turn = DQuat::from_scaled_axis(k * step * now.omega);
            moved[body] = Motion { x: now.x + k * step * now.v, q: (turn * now.q).normalize(), ..*now };
        }
        // Without cached features, so that the difference does not depend on the order of evaluation.
        (probe.cache, probe.found) = (ContactCache::default(), Contacts::default());
        probe.find(&mirror.colliders, &moved, 0.02 * pair.size).ok()?;
        points.clear();
        probe.push_points(&mirror.colliders, &moved, 0.0, &mut points);
        let same = points.iter().filter(|other| other.key == point.key);
        let nearest = same.min_by(|x, y| {
            x.position
                .distance_squared(point.position)
                .total_cmp(&y.position.distance_squared(point.position))
        })?;
        Some([nearest.position, nearest.normal()])
    };
    let [a, b, c, d] = [at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?];
    let of = |which: usize| derivative([a[which], b[which], c[which], d[which]], step);
    Some(ContactRates { position: of(0), normal: of(1) })
}
