//! Particles found inside a body at the start of an interval: a body moved over an emitter, or a missed collision.
//!
//! Candidates are all particles in the box of a body; the sign of the distance decides. `SpringOut` pulls the
//! particle to its nearest surface point with a critically damped spring of ω₀ = 0.5/dt, whose effect over one
//! interval is exact: with x the depth, x(h) = (x + (v + ω₀ x) h) e^{−ω₀ h}. The rest length shrinks by a fifth of
//! the depth each interval. Meanwhile the particle does not collide with that body.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{Obstacle, Particles};

/// What happens to a particle that is inside a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum InsidePolicy {
    /// It is removed.
    #[default]
    Remove,
    /// It is put on the nearest point of the surface, its velocity unchanged.
    ProjectToSurface,
    /// A critically damped spring pulls it out.
    SpringOut,
    /// Nothing.
    Ignore,
}

/// Depth beyond which the centre of a particle counts as inside, m, relative to the size of the body.
const DEPTH: f64 = 1e-9;

/// Calls `found(particle, body, depth, outward normal)` for every particle whose centre is inside a body.
pub(super) fn particles_inside(
    particles: &Particles,
    obstacles: &[&mut dyn Obstacle],
    mut found: impl FnMut(usize, usize, f64, DVec3),
) {
    for (body, obstacle) in obstacles.iter().enumerate() {
        // Within an interval bodies are taken at its end; this is the state the particles will collide with.
        let (pose, shape) = (obstacle.pose(), obstacle.shape());
        let bounds = shape.aabb(&pose);
        let size = bounds.map_or(1.0, |b| b.diagonal());
        for (i, &p) in particles.position().iter().enumerate() {
            if bounds.is_some_and(|bounds| !bounds.contains(p)) {
                continue;
            }
            if let Some(near) = shape.closest_point(pose.inverse_point(p))
                && near.distance < -DEPTH * size
            {
                found(i, body, -near.distance, pose.vector(near.normal));
            }
        }
    }
}

/// (depth, outward speed, dt) ⇒ displacement along the normal and the outward speed after the interval.
pub(super) fn spring_out(depth: f64, speed: f64, dt: f64) -> (f64, f64) {
    let omega = 0.5 / dt;
    // Distance from the target, which lies the depth plus a fifth outside, so that the spring ends beyond the surface.
    let x = -1.2 * depth;
    let decay = (-omega * dt).exp();
    let slope = speed + omega * x;
    let after = (x + slope * dt) * decay;
    (after - x, (slope - omega * (x + slope * dt)) * decay)
}
