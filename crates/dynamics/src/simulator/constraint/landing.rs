//! Slow landings and departures of contact points within an interval.
//!
//! Velocities at the end of an interval of length h satisfy u_n ≥ −gap/h, and places follow from the mean ½(v₀ + v). For a point that comes
//! down with u_n < −gap/h the mean is too fast: it would land early and overlap at the end. Such a point, if it is too slow for a collision, is
//! therefore slowed down at the beginning, by an inelastic impulse together with all points that touch:
//!
//!   0 ≤ p_n ⟂ u⁺_n + gap/h ≥ 0, Coulomb friction at u⁺,
//!
//! after which beginning, mean and end agree and the gap closes at the end. The impulse takes energy away and never adds any. Points on the other side that it
//! lifts, but that come back within the interval (u⁺_n < ½ g h), would rock to and fro many times; they are held instead, u⁺_n = 0.
//!
//! A point that touches and is left by its bodies needs no force. Its row, taken at the beginning, leaves out the centripetal acceleration of
//! the point, so that a body that turns fast would be pushed; where every point of an island is left, all are left out.

use super::Constraint;
use super::force::{Course, Wish, follow};
use super::island::Island;
use super::touch::Touch;
use crate::motion::Motion;
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// Velocity, in parts of 1 m/s plus the speeds of both bodies, above which a point that touches is being left.
const LEAVING: f64 = 1e-6;

impl Constraint {
    /// Slows points down that would land before the end of an interval and are too slow for a collision.
    pub(super) fn slow_landing(
        &mut self,
        now: &mut [Motion],
        (touches, free): (&[Touch], &[Course]),
        time: f64,
        contact_speed: f64,
    ) {
        let lands = |touch: &Touch| {
            let approach = -touch.relative_velocity(now).x;
            !touch.touches() && approach <= contact_speed && approach * time > touch.gap * (1.0 + 1e-6)
        };
        if !touches.iter().any(lands) {
            return;
        }
        let held: Vec<Touch> =
            touches.iter().copied().filter(|touch| touch.touches() || lands(touch)).collect();
        let wish = |_: usize, touch: &Touch| Wish {
            normal: if touch.touches() { touch.relative_velocity(now).x.min(0.0) } else { -touch.gap / time },
            friction: touch.kinetic_friction,
            stiffness: Stiffness::Rigid,
        };
        let settings = BlockSettings { tolerance: 1e-12, ..BlockSettings::default() };
        self.forces.pose(&self.roster, now, now, &held, wish);
        self.forces.impulse.clear();
        if !self.forces.solve(&settings).converged {
            return;
        }
        let mut after = now.to_vec();
        for (actor, [v, omega]) in self.forces.solved() {
            (after[actor].v, after[actor].omega) = (v, omega);
        }
        let pull = |touch: &Touch| -> f64 {
            let of = |actor: u32| match free[actor as usize] {
                Course::Free { acceleration, .. } => acceleration,
                _ => DVec3::ZERO,
            };
            -touch.normal().dot(of(touch.actors[1]) - of(touch.actors[0]))
        };
        let rocks = |touch: &Touch| {
            let up = touch.relative_velocity(&after).x;
            touch.touches() && up > 1e-9 && up < 0.5 * time * pull(touch)
        };
        if held.iter().any(rocks) {
            let most: Vec<f64> = held
                .iter()
                .zip(&self.forces.impulse)
                .map(|(touch, p)| touch.kinetic_friction * p.x)
                .collect();
            self.forces.pose(&self.roster, now, now, &held, wish);
            self.forces.hold(&most);
            self.forces.impulse.clear();
            self.forces.solve(&settings);
        }
        for (actor, [v, omega]) in self.forces.solved() {
            (now[actor].v, now[actor].omega) = (v, omega);
            self.contact_free[actor] = false;
        }
    }

    /// Whether the bodies of an island leave every point at which they touch, and do not come back within an interval.
    pub(super) fn leaves(
        &self,
        island: &Island,
        (now, touches): (&[Motion], &[Touch]),
        free: &[Course],
        (begin, time): (f64, f64),
    ) -> bool {
        let leaves = |touch: &Touch| {
            let actors = touch.actors.map(|actor| actor as usize);
            let speed: f64 =
                actors.iter().map(|actor| now[*actor].v.length() + now[*actor].omega.length()).sum();
            if touch.relative_velocity(now).x <= LEAVING * (1.0 + speed) {
                return false;
            }
            let [a, b] = actors.map(|actor| {
                let end = follow(&self.roster, actor, &now[actor], free[actor], begin, time);
                let arm = now[actor].q.conjugate() * (touch.point - now[actor].x);
                end.x + end.q * arm - touch.point
            });
            touch.gap.max(0.0) + touch.normal().dot(b - a) > 0.0
        };
        let touching = || touches.iter().filter(|touch| touch.touches());
        island.assemblies.is_empty() && touching().next().is_some() && touching().all(leaves)
    }
}

/// Pairs of bodies that touch in some point, in order.
pub(super) fn touched_pairs(touches: &[Touch]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> =
        touches.iter().filter(|touch| touch.touches()).map(|touch| touch.pair).collect();
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

    /// A box that is put down on one edge, tilted by less than a contact can see, comes to lie flat at once and stays: it does not rock from edge to
    /// edge, whatever the step.
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
