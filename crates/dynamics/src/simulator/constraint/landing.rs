//! Slow landings and separations of contact points within an interval.
//!
//! Velocities at the end of an interval of length h satisfy u_n ≥ −gap/h, and positions follow from the mean
//! velocity ½(v₀ + v). For a point that approaches with u_n < −gap/h that mean is too large: the point would land
//! early and overlap at the end; a touching point that approaches would even move on by ½ u_n h. If it is too slow for an impact, it is therefore decelerated at the beginning
//! by an inelastic impulse, together with all touching points:
//!
//!   0 ≤ p_n ⟂ u⁺_n + gap/h ≥ 0, Coulomb friction at u⁺,
//!
//! after which begin, mean and end velocity agree and the gap closes at the end. The impulse dissipates energy.
//! Touching points that it lifts but that would return within the interval (u⁺_n < ½ g h) rock at a rate that the
//! interval cannot resolve; they are held, u⁺_n = 0.
//!
//! A touching point that separates needs no force. Its row, fixed at the beginning of the interval, lacks the
//! centripetal acceleration of the point, so that a fast rotating body would be pushed; where all points of an
//! island separate, they are left out.

use super::Constraint;
use super::force_solver::ContactTarget;
use super::tuning::{LANDING_SPEED, SEPARATING_SPEED};
use crate::collision::ManifoldPoint;
use crate::island::ContactIsland;
use crate::rigid::Motion;
use crate::solver::{Trajectory, evaluate};
use crate::world::World;
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

impl Constraint {
    /// Whether slow landings and the energy of an island are treated exactly: single bodies without joints, in
    /// worlds that no other simulator has stepped and left with overlaps.
    pub(super) fn is_refined(world: &World, island: &ContactIsland) -> bool {
        island.bodies.len() == 1 && island.mechanisms.is_empty() && !world.was_stepped_by_others()
    }

    /// Decelerates points that would land before the end of an interval and are too slow for an impact.
    pub(super) fn slow_landing(
        &mut self,
        now: &mut [Motion],
        (points, free): (&[ManifoldPoint], &[Trajectory]),
        time: f64,
        contact_speed: f64,
    ) {
        let lands = |point: &ManifoldPoint| {
            let approach = -point.relative_velocity(now).x;
            !point.is_touching() && approach <= contact_speed && approach * time > point.gap * (1.0 + 1e-6)
        };
        let closes =
            |point: &ManifoldPoint| point.is_touching() && point.relative_velocity(now).x < -LANDING_SPEED;
        if !points.iter().any(|point| lands(point) || closes(point)) {
            return;
        }
        let held: Vec<ManifoldPoint> =
            points.iter().copied().filter(|point| point.is_touching() || lands(point)).collect();
        let target = |_: usize, point: &ManifoldPoint| ContactTarget {
            normal: if point.is_touching() { 0.0 } else { -point.gap / time },
            friction: point.kinetic_friction,
            stiffness: Stiffness::Rigid,
        };
        let settings = BlockSettings { tolerance: 1e-12, ..BlockSettings::default() };
        self.forces.assemble(&self.mirror, now, now, &held, target);
        self.forces.impulse.clear();
        if !self.forces.solve(&settings).converged {
            return;
        }
        // Points wedged by friction may have no solution that dissipates energy.
        let Some(mut after) = self.dissipated(now) else { return };
        let pull = |point: &ManifoldPoint| -> f64 {
            let of = |body: u32| match free[body as usize] {
                Trajectory::Ballistic { acceleration, .. } => acceleration,
                _ => DVec3::ZERO,
            };
            -point.normal().dot(of(point.bodies[1]) - of(point.bodies[0]))
        };
        let rocks = |point: &ManifoldPoint| {
            let up = point.relative_velocity(&after).x;
            point.is_touching() && up > 1e-9 && up < 0.5 * time * pull(point)
        };
        if held.iter().any(rocks) {
            let most: Vec<f64> = held
                .iter()
                .zip(&self.forces.impulse)
                .map(|(point, p)| point.kinetic_friction * p.x)
                .collect();
            self.forces.assemble(&self.mirror, now, now, &held, target);
            self.forces.make_bilateral(&most);
            self.forces.impulse.clear();
            self.forces.solve(&settings);
            if let Some(held) = self.dissipated(now) {
                after = held;
            }
        }
        for (body, _) in self.forces.velocities() {
            now[body] = after[body];
            self.contact_free[body] = false;
        }
    }

    /// States with the velocities of the last solution, unless it has more kinetic energy than these.
    fn dissipated(&self, now: &[Motion]) -> Option<Vec<Motion>> {
        let mut after = now.to_vec();
        let mut gained = 0.0;
        for (body, [v, omega]) in self.forces.velocities() {
            (after[body].v, after[body].omega) = (v, omega);
            let inertia = &self.mirror.bodies[body].inertia;
            gained += inertia.kinetic_energy(&after[body]) - inertia.kinetic_energy(&now[body]);
        }
        (gained <= 0.0).then_some(after)
    }

    /// Whether all touching points of an island separate and stay apart until the end of an interval.
    pub(super) fn separates(
        &self,
        (now, points): (&[Motion], &[ManifoldPoint]),
        free: &[Trajectory],
        (begin, time): (f64, f64),
    ) -> bool {
        let leaves = |point: &ManifoldPoint| {
            let bodies = point.bodies.map(|body| body as usize);
            let speed: f64 =
                bodies.iter().map(|body| now[*body].v.length() + now[*body].omega.length()).sum();
            if point.relative_velocity(now).x <= SEPARATING_SPEED * (1.0 + speed) {
                return false;
            }
            let [a, b] = bodies.map(|body| {
                let end = evaluate(&self.mirror, body, &now[body], free[body], begin, time);
                let arm = now[body].q.conjugate() * (point.position - now[body].x);
                end.x + end.q * arm - point.position
            });
            point.gap.max(0.0) + point.normal().dot(b - a) > 0.0
        };
        let touching = || points.iter().filter(|point| point.is_touching());
        touching().next().is_some() && touching().all(leaves)
    }
}

/// Pairs with a touching point, sorted.
pub(super) fn touching_pairs(points: &[ManifoldPoint]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> =
        points.iter().filter(|point| point.is_touching()).map(|point| point.pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use crate::simulator::{Constraint, Simulator};
    use crate::world::{Body, Material, World};
    use glam::{DQuat, DVec3};
    use rattleback_geometry::Shape;

    /// A slightly tilted box put down on one edge comes to lie flat and stays there: it does not rock from edge to
    /// edge, whatever the time step, and never gains energy.
    #[test]
    fn slightly_tilted_boxes_lie_down() {
        for (dt, tilt) in [(1.0 / 60.0, 1e-4), (1.0 / 60.0, 3e-3), (1.0 / 240.0, 1e-3), (1e-3, 1e-4)] {
            let mut world = World::default();
            let material = world.add_material(Material::with_friction(0.5)).unwrap();
            let ground = Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap());
            world.add_body(ground.material(material)).unwrap();
            let half = DVec3::new(0.03, 0.02, 0.01);
            let q = DQuat::from_rotation_y(tilt);
            let height = half.z * tilt.cos() + half.x * tilt.sin() + 1e-9;
            let body = Body::dynamic().with_shape(Shape::cuboid(half).unwrap()).material(material);
            let id = world.add_body(body.orientation(q).at(0.0, 0.0, height)).unwrap();
            let mut simulator = Constraint::default();
            let mut energy = world.readout().energy();
            let scale = energy.abs();
            while world.time() < 1.0 {
                simulator.step(&mut world, dt).unwrap();
                let now = world.readout().energy();
                assert!(now - energy < 1e-12 * scale, "{dt} {tilt}: gained {:e}", (now - energy) / scale);
                energy = now;
            }
            let body = world.body(id).unwrap();
            assert!(body.velocity().length() < 1e-9, "{dt} {tilt}: {}", body.velocity());
            assert!((body.position().z - half.z).abs() < 1e-7, "{dt} {tilt}: {}", body.position());
        }
    }
}
