//! Single bodies that slide flat on a plane and touch nothing else: blocks on a table or a slope.
//!
//! Sub-steps change velocities at discrete times. The sub-step in which a block stops is therefore wrong by
//! up to a h² (a the deceleration), a per cent of a slide of a few millimetres, and soft contacts tilt and
//! sag when the load moves to the leading edge. But the motion of such a block is known: with p the
//! acceleration along the plane by external loads, w that towards it and u the velocity,
//!
//!   u′ = p − μ w û,
//!
//! without rotation, as long as the centre of pressure, μ d ahead of the centre of mass (d its height above
//! the plane), is inside the support polygon: there the moment of the normal force balances that of friction,
//! and friction has no moment about the normal. Along a straight line the solution is a parabola, up to
//! the stop; across a slope it is integrated by Runge–Kutta steps that shrink with |u|, as û turns at a rate
//! of |p|/|u|. An approach slower than the speed that a step of free fall adds ends with an inelastic landing,
//! whose friction impulse is μ times its normal impulse.
//!
//! Bodies that rotate, tip, have other contacts, or slide over the edge of a face are left to the sweeps.

use super::Realtime;
use super::contact::Contact;
use super::rolling::ground_plane;
use super::sim_bodies::{Activity, EXACT, SimBodies};
use super::tuning::{
    SLIDING_DEPTH, SLIDING_GAP, SLIDING_LAST_TIME, SLIDING_MIN_SPEED, SLIDING_PIECE, SLIDING_POLYGON_MARGIN,
    SLIDING_RECOVERY, SLIDING_ROTATION, SLIDING_STOP, SLIDING_STRAIGHT,
};
use crate::rigid::{Inertia, Motion};
use crate::world::{Status, World};
use glam::{DQuat, DVec3};

/// Largest number of contact points.
const POINTS: usize = super::manifold_constraint::MAX_POINTS;

/// A body that slides in the present step, and the result.
#[derive(Debug)]
struct SlidingBody {
    slot: u32,
    index: u32,
    contact: u32,
    /// State at the end of the step.
    motion: Motion,
    /// Forces at the end of the step, N: friction, and the normal force at each point.
    friction: DVec3,
    normal_forces: [f64; POINTS],
    /// Gaps at the beginning of the step, m.
    gaps: [f64; POINTS],
}

/// Buffers of the stage.
#[derive(Debug, Default)]
pub(super) struct SlidingStage {
    sliding_bodies: Vec<SlidingBody>,
    /// Slot of the body and index of the contact of those that may slide.
    candidates: Vec<(u32, u32)>,
}

/// The contact points of a body on a plane.
#[derive(Clone, Copy)]
struct Support {
    normal: DVec3,
    count: usize,
    /// From the centre of mass, m.
    arms: [DVec3; POINTS],
    gaps: [f64; POINTS],
}

impl Realtime {
    /// Integrates sliding bodies over the step ⇒ whether there are any; they are marked as [`EXACT`].
    pub(super) fn run_sliding(&mut self, world: &World, dt: f64) -> bool {
        self.find_sliding_bodies(world);
        let Self { sliding, sim_bodies, loads, contact_graph, settings, impacts, .. } = self;
        sliding.sliding_bodies.clear();
        let inertia = world.bodies().inertia(Status::Dynamic);
        for (slot, index) in &sliding.candidates {
            let Some(contact) = contact_graph.contacts.get(*index as usize).and_then(Option::as_ref) else {
                continue;
            };
            let Some(sim_body) = sim_bodies.body(*slot) else { continue };
            let wrench = loads.wrench(sim_body.index as usize);
            let inertia = &inertia[sim_body.index as usize];
            let acceleration = loads.uniform_acceleration() + wrench.force * inertia.inverse_mass;
            let has_impact = impacts.outcomes.iter().any(|outcome| outcome.0 == sim_body.index);
            if has_impact || wrench.torque != DVec3::ZERO {
                continue;
            }
            if let Some(mut sliding_body) =
                SlidingBody::new(contact, sim_bodies, world, inertia, acceleration, dt)
            {
                sliding_body.contact = *index;
                sliding.sliding_bodies.push(sliding_body);
            }
        }
        let substep = dt / settings.substeps.max(1) as f64;
        for sliding_body in &sliding.sliding_bodies {
            if let Some(sim_body) = sim_bodies.body_mut(sliding_body.slot) {
                sim_body.solver_index = EXACT;
            }
            let contact =
                contact_graph.contacts.get_mut(sliding_body.contact as usize).and_then(Option::as_mut);
            if let Some(contact) = contact {
                let manifold = &mut contact.first_manifold;
                manifold.reset_friction_impulse((substep * sliding_body.friction).as_vec3());
                for (k, point) in manifold.points_mut().iter_mut().enumerate() {
                    point.set_impulse((substep * sliding_body.normal_forces[k]) as f32);
                    point.set_gap(sliding_body.gaps[k] as f32);
                }
            }
        }
        !sliding.sliding_bodies.is_empty()
    }

    /// Writes the states of sliding bodies to the world.
    pub(super) fn write_sliding(&mut self, world: &mut World) {
        if self.sliding.sliding_bodies.is_empty() {
            return;
        }
        self.begin_stage(world);
        let motion = world.bodies_mut().dynamic_mut().0;
        for sliding_body in &self.sliding.sliding_bodies {
            motion[sliding_body.index as usize] = sliding_body.motion;
        }
        self.end_stage(world);
    }

    /// Lists moving bodies whose only contact is one with a static body.
    fn find_sliding_bodies(&mut self, world: &World) {
        let stamp = world.counters().steps + 1;
        let Self { sliding, sim_bodies, contact_graph, .. } = self;
        let SlidingStage { candidates, .. } = sliding;
        candidates.clear();
        for (_, pair) in contact_graph.near() {
            let [ground, slot] = pair.bodies;
            if sim_bodies.activities[ground as usize] != Activity::Static
                || sim_bodies.activities[slot as usize] != Activity::Awake
            {
                continue;
            }
            let may_slide = sim_bodies.body(slot).is_some_and(|sim_body| {
                sim_body.solver_index != EXACT
                    && sim_body.motion(world).is_some_and(|motion| {
                        let speed = motion.v.length();
                        speed > SLIDING_MIN_SPEED
                            && motion.omega.length() * sim_body.reach <= SLIDING_ROTATION * speed
                    })
            });
            if may_slide
                && let Some(contact) = contact_graph.contact(pair)
                && contact.may_slide
                && contact.first_manifold.count > 2
                && contact.other_manifolds.is_empty()
                && contact.impact_step != stamp
            {
                candidates.push((slot, pair.contact));
            }
        }
        candidates.retain(|(slot, _)| sim_bodies.degree(*slot).degree == 1);
    }
}

impl SlidingBody {
    /// Integrates the body of a contact over a step ⇒ `None` if it does not slide throughout, or until it
    /// stops.
    fn new(
        contact: &Contact,
        sim_bodies: &SimBodies,
        world: &World,
        inertia: &Inertia,
        acceleration: DVec3,
        dt: f64,
    ) -> Option<Self> {
        let sim_body = sim_bodies.body(contact.bodies[1])?;
        let motion = *sim_body.motion(world)?;
        let (normal, height, face) = ground_plane(contact, sim_bodies, world)?;
        let (kinetic, fixed) = (contact.material.kinetic_friction, contact.material.static_friction);
        let weight = -normal.dot(acceleration);
        let approach = -normal.dot(motion.v);
        let slow = -SLIDING_GAP * weight * dt..=weight * dt;
        if !(weight > 0.0 && weight.is_finite() && kinetic > 0.0 && slow.contains(&approach))
            || inertia.linear_damping > 0.0
        {
            return None;
        }
        let support = Support::new(contact, &motion, normal, height);
        let lowest = support.gaps().iter().copied().fold(f64::INFINITY, f64::min);
        let highest = support.gaps().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if lowest < -SLIDING_DEPTH * sim_body.reach
            || lowest > SLIDING_GAP * sim_body.reach
            || highest - lowest > SLIDING_DEPTH * sim_body.reach
        {
            return None;
        }
        // The landing, then sliding.
        let along = |v: DVec3| v - normal.dot(v) * normal;
        let (velocity, pull) = (along(motion.v), along(acceleration));
        let speed = velocity.length();
        if speed <= SLIDING_MIN_SPEED {
            return None;
        }
        let landed = velocity * (1.0 - (kinetic * approach.max(0.0) / speed).min(1.0));
        let (mut moved, mut last) = slide(landed, pull, kinetic * weight, dt);
        // The next step would be left to the sweeps, which would begin with the friction of sliding.
        if last.length() <= SLIDING_MIN_SPEED {
            let (rest, end) = slide(last, pull, kinetic * weight, SLIDING_LAST_TIME);
            if end == DVec3::ZERO {
                (moved, last) = (moved + rest, end);
            }
        }
        let stopped = last == DVec3::ZERO;
        if stopped && pull.length() > fixed * weight {
            return None;
        }
        let friction = if stopped { -pull } else { -kinetic * weight * last.normalize() };
        let depth = -normal.dot(support.center());
        let pressure = |friction: DVec3| -friction * (depth / weight);
        let first = pressure(-kinetic * weight * velocity / speed);
        let last_pressure = pressure(friction);
        let is_stable = |center: DVec3| support.encloses(SLIDING_POLYGON_MARGIN * center);
        if !(is_stable(first) && is_stable(last_pressure)) {
            return None;
        }
        if let Some((pose, half, axis)) = face {
            let is_inside = |point: DVec3| {
                let point = pose.inverse_point(point);
                (0..3).all(|k| k == axis || point[k].abs() < half[k])
            };
            let all_inside = support
                .arms()
                .iter()
                .all(|arm| is_inside(motion.x + *arm) && is_inside(motion.x + *arm + moved));
            if !all_inside {
                return None;
            }
        }
        let tilt = SLIDING_RECOVERY * support.tilt();
        let mean = support.gaps().iter().sum::<f64>() / support.count as f64;
        let fall = if mean > 0.0 { mean } else { SLIDING_RECOVERY * mean };
        let lift = -fall - normal.dot(tilt.cross(support.center()));
        let end = Motion {
            x: motion.x + moved + lift * normal,
            q: (DQuat::from_scaled_axis(tilt) * motion.q).normalize(),
            v: last,
            omega: DVec3::ZERO,
        };
        let mass = inertia.mass();
        end.is_finite().then(|| Self {
            slot: contact.bodies[1],
            index: sim_body.index,
            contact: 0,
            motion: end,
            friction: mass * friction,
            normal_forces: support.shares(last_pressure).map(|share| mass * weight * share),
            gaps: support.gaps,
        })
    }
}

impl Support {
    fn new(contact: &Contact, motion: &Motion, normal: DVec3, height: f64) -> Self {
        let (mut arms, mut gaps) = ([DVec3::ZERO; POINTS], [0.0; POINTS]);
        let points = contact.first_manifold.points();
        // Relative to the projection of the centre of mass onto the plane, so that no digits are lost.
        let above = normal.dot(motion.x) - height;
        for (k, point) in points.iter().enumerate() {
            arms[k] = motion.q * point.anchor_b();
            gaps[k] = above + normal.dot(arms[k]);
        }
        Self { normal, count: points.len(), arms, gaps }
    }

    fn arms(&self) -> &[DVec3] {
        &self.arms[..self.count]
    }

    fn gaps(&self) -> &[f64] {
        &self.gaps[..self.count]
    }

    /// Mean of the arms.
    fn center(&self) -> DVec3 {
        self.arms().iter().sum::<DVec3>() / self.count as f64
    }

    /// Whether a point of the plane, as an offset from the foot of the centre of mass, is inside the support
    /// polygon: inside one of the triangles of its corners.
    fn encloses(&self, point: DVec3) -> bool {
        let side = |a: DVec3, b: DVec3| self.normal.dot((b - a).cross(point - a));
        // The centre of a rectangle is on an edge of all four triangles.
        let inside = |a: DVec3, b: DVec3, c: DVec3| {
            let sides = [side(a, b), side(b, c), side(c, a)];
            let rounding = 1e-9 * sides.iter().sum::<f64>().abs();
            sides.iter().all(|side| *side >= -rounding) || sides.iter().all(|side| *side <= rounding)
        };
        let arms = self.arms();
        (0..self.count).any(|skipped| {
            let corners: [usize; 3] = if self.count == 3 {
                [0, 1, 2]
            } else {
                std::array::from_fn(|k| k + usize::from(k >= skipped))
            };
            inside(arms[corners[0]], arms[corners[1]], arms[corners[2]])
        })
    }

    /// Solves Σ (t tᵀ) b = right over the arms t from their mean, in the plane.
    fn solve_moments(&self, right: DVec3) -> DVec3 {
        let (e, f) = self.normal.any_orthonormal_pair();
        let center = self.center();
        let (mut ee, mut ef, mut ff) = (0.0, 0.0, 0.0);
        for arm in self.arms() {
            let (x, y) = ((*arm - center).dot(e), (*arm - center).dot(f));
            (ee, ef, ff) = (ee + x * x, ef + x * y, ff + y * y);
        }
        let determinant = ee * ff - ef * ef;
        if determinant <= 1e-9 * (ee + ff) * (ee + ff) {
            return DVec3::ZERO;
        }
        let (x, y) = (right.dot(e), right.dot(f));
        (e * (ff * x - ef * y) + f * (ee * y - ef * x)) / determinant
    }

    /// Rotation vector that makes the gaps of all points equal, rad.
    fn tilt(&self) -> DVec3 {
        let center = self.center();
        let moment = self.arms().iter().zip(self.gaps()).map(|(arm, gap)| (*arm - center) * *gap).sum();
        self.normal.cross(self.solve_moments(moment))
    }

    /// Share of each point in the load, linear in its position, with this centre of pressure.
    fn shares(&self, pressure: DVec3) -> [f64; POINTS] {
        let center = self.center();
        let gradient = self.solve_moments(pressure - center);
        let mut shares = [0.0; POINTS];
        for (share, arm) in shares.iter_mut().zip(self.arms()) {
            *share = (1.0 / self.count as f64 + gradient.dot(*arm - center)).max(0.0);
        }
        let sum: f64 = shares.iter().sum();
        shares.map(|share| share / sum)
    }
}

/// Motion by u′ = p − f û over a time, until it stops ⇒ (displacement, velocity).
fn slide(velocity: DVec3, p: DVec3, f: f64, dt: f64) -> (DVec3, DVec3) {
    let (mut x, mut u, mut remaining) = (DVec3::ZERO, velocity, dt);
    let negligible = SLIDING_STOP * velocity.length();
    let rate = |u: DVec3| p - f * u.normalize_or_zero();
    while remaining > 0.0 && u != DVec3::ZERO {
        let speed = u.length();
        let direction = u / speed;
        let along = p.dot(direction);
        if speed <= negligible || (p - along * direction).length() <= SLIDING_STRAIGHT * f {
            let a = along - f;
            let stop = if a < 0.0 { -speed / a } else { f64::INFINITY };
            let t = remaining.min(stop);
            x += direction * (t * (speed + 0.5 * a * t));
            u = if stop <= remaining { DVec3::ZERO } else { direction * (speed + a * t) };
            break;
        }
        let h = remaining.min(SLIDING_PIECE * speed / (f + p.length()));
        let k1 = rate(u);
        let k2 = rate(u + 0.5 * h * k1);
        let k3 = rate(u + 0.5 * h * k2);
        let k4 = rate(u + h * k3);
        x += h * (u + h / 6.0 * (k1 + k2 + k3));
        u += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        remaining -= h;
    }
    (x, u)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a level plane a body stops after u²/(2f), within a step or not, and does not return.
    #[test]
    fn level_slides_follow_a_parabola() {
        let (moved, last) = slide(DVec3::X, DVec3::ZERO, 4.0, 0.1);
        assert!((moved - DVec3::X * 0.08).length() < 1e-15 && (last - DVec3::X * 0.6).length() < 1e-15);
        let (moved, last) = slide(DVec3::X, DVec3::ZERO, 4.0, 1.0);
        assert!((moved - DVec3::X * 0.125).length() < 1e-15 && last == DVec3::ZERO);
    }

    /// Across a slope the hodograph is |u| = C tanᵏ(ψ/2)/sin ψ, with k = f/|p| and ψ the angle between u and
    /// p; with w = tan(ψ/2), dt = −|u| dw/(|p| w).
    #[test]
    fn oblique_slides_stop_where_the_hodograph_ends() {
        let (p, f, u) = (2.0, 5.0, 1.5);
        let (moved, last) = slide(DVec3::Y * u, DVec3::X * p, f, 10.0);
        let k = f / p;
        // ∫ over w = tan(ψ/2) from 0 to 1, with C = u.
        let scale = u * u / (4.0 * p);
        let along = scale * (1.0 / (2.0 * k - 2.0) - 1.0 / (2.0 * k + 2.0));
        let across = 2.0 * scale * (1.0 / (2.0 * k - 1.0) + 1.0 / (2.0 * k + 1.0));
        assert!(last == DVec3::ZERO);
        assert!(
            (moved - DVec3::new(along, across, 0.0)).length() < 1e-6 * across,
            "{moved} {along} {across}"
        );
    }
}
