//! Manifold points between two bodies, with what the force solver needs of them, and the warm start cache.

use crate::collision::{ColliderPair, MirrorCollider, WorldMirror};
use crate::rigid::Motion;
use crate::world::{ContactModel, ShapeId};
use glam::{DMat3, DVec3};
use rattleback_geometry::contact::{ContactError, collide};
use std::collections::BTreeMap;

/// Identity of a contact point from step to step: shapes, sub-shapes, and the id of the touching features.
pub(crate) type ContactKey = ([ShapeId; 2], [u32; 2], u32);

/// Warm start: force of each contact point on B in the last interval, N, and its position, m, in world axes.
pub(crate) type WarmStartCache = BTreeMap<ContactKey, [DVec3; 2]>;

/// Cached force of a point, N. Feature ids can change while bodies rest; then the nearest cached point of the
/// same shapes is taken.
pub(crate) fn warm_start_force(cache: &WarmStartCache, point: &ManifoldPoint) -> DVec3 {
    if let Some([force, _]) = cache.get(&point.key) {
        return *force;
    }
    let shapes = point.key.0;
    let known = cache.range((shapes, [0; 2], 0)..=(shapes, [u32::MAX; 2], u32::MAX));
    known
        .map(|(_, [force, position])| (position.distance_squared(point.position), *force))
        .filter(|(distance, _)| *distance < 1e8 * point.tolerance * point.tolerance)
        .min_by(|x, y| x.0.total_cmp(&y.0))
        .map_or(DVec3::ZERO, |(_, force)| force)
}

/// A point of a contact manifold between bodies A and B, touching or near.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ManifoldPoint {
    pub key: ContactKey,
    /// Its pair in the mirror.
    pub pair: [u32; 2],
    /// A and B, by index in the mirror.
    pub bodies: [u32; 2],
    /// Position half-way between both surfaces, m.
    pub position: DVec3,
    /// Contact frame: columns n (from A to B), t (along the slip), k = n × t.
    pub frame: DMat3,
    /// Gap, m; negative where the bodies overlap.
    pub gap: f64,
    /// Gap up to which it touches, m.
    pub tolerance: f64,
    pub static_friction: f64,
    pub kinetic_friction: f64,
    pub restitution: f64,
    /// Levers of rolling and spinning friction, m.
    pub levers: [f64; 2],
    pub model: ContactModel,
}

impl ManifoldPoint {
    /// n, from A to B.
    pub fn normal(&self) -> DVec3 {
        self.frame.x_axis
    }

    /// u = v_B − v_A at the point, in the contact frame: n, t, k.
    pub fn relative_velocity(&self, motion: &[Motion]) -> DVec3 {
        let [a, b] = self.bodies.map(|body| motion[body as usize].velocity_at(self.position));
        self.frame.transpose() * (b - a)
    }

    /// Whether its gap is within the touching tolerance.
    pub fn is_touching(&self) -> bool {
        self.gap <= self.tolerance
    }
}

/// (normal, slip) ⇒ right-handed frame n, t, k with t along the slip, or any tangent without slip.
fn frame_along(n: DVec3, slip: DVec3) -> DMat3 {
    let mut across = slip - slip.dot(n) * n;
    if across.length_squared() < 0.01 * slip.length_squared() {
        // Cancellation: remove the rounding error along n once more.
        across -= across.dot(n) * n;
    }
    let length = across.length();
    let t = if length > 1e-9 { (across / length).normalize() } else { n.any_orthonormal_vector() };
    DMat3::from_cols(n, t, n.cross(t))
}

impl ColliderPair {
    /// Narrow phase: manifolds with points nearer than the margin, m.
    ///
    /// # Errors
    /// If the narrow phase cannot handle the pair; callers treat that as no contact.
    pub fn find(
        &mut self,
        colliders: &[MirrorCollider],
        motion: &[Motion],
        margin: f64,
    ) -> Result<(), ContactError> {
        let [a, b] = self.colliders.map(|collider| &colliders[collider as usize]);
        let place = |collider: &MirrorCollider| motion[collider.body as usize].pose() * collider.local_pose;
        let relative = place(a).relative(&place(b));
        collide(&a.shape, &b.shape, &relative, margin, &mut self.cache, &mut self.found)
    }

    /// Least separation, m; the margin if the bodies are farther apart.
    pub fn separation(&mut self, colliders: &[MirrorCollider], motion: &[Motion], margin: f64) -> f64 {
        if self.find(colliders, motion, margin).is_err() {
            return margin;
        }
        self.found.deepest().map_or(margin, |(_, point)| point.separation)
    }

    /// Appends the points found last.
    pub fn push_points(
        &self,
        colliders: &[MirrorCollider],
        motion: &[Motion],
        touch_gap: f64,
        points: &mut Vec<ManifoldPoint>,
    ) {
        let a = &colliders[self.colliders[0] as usize];
        let place = motion[a.body as usize].pose() * a.local_pose;
        for manifold in self.found.manifolds() {
            let normal = place.vector(manifold.normal).normalize_or(DVec3::Z);
            for found in manifold.points() {
                let position = place.point(0.5 * (found.point_a + found.point_b));
                let [va, vb] = self.bodies.map(|body| motion[body as usize].velocity_at(position));
                points.push(ManifoldPoint {
                    key: (self.shapes, manifold.parts, found.id),
                    pair: self.colliders,
                    bodies: self.bodies,
                    position,
                    frame: frame_along(normal, vb - va),
                    gap: found.separation,
                    tolerance: touch_gap * self.size,
                    static_friction: self.material.static_friction,
                    kinetic_friction: self.material.kinetic_friction,
                    restitution: self.material.restitution,
                    levers: [self.material.rolling_friction, self.material.spinning_friction],
                    model: self.model,
                });
            }
        }
    }
}

/// Manifold points of some pairs that can come to touch within `time`.
pub(crate) fn gather(
    mirror: &mut WorldMirror,
    pairs: &[[u32; 2]],
    motion: &[Motion],
    time: f64,
    touch_gap: f64,
    points: &mut Vec<ManifoldPoint>,
) {
    points.clear();
    let WorldMirror { colliders, pairs: table, bodies, .. } = mirror;
    for key in pairs {
        let Some(pair) = table.get_mut(key) else { continue };
        let margin =
            approach_bound(pair, motion, time, |body| bodies[body as usize].radius) + touch_gap * pair.size;
        if pair.find(colliders, motion, margin).is_ok() && !pair.sensor {
            pair.push_points(colliders, motion, touch_gap, points);
        }
    }
}

/// Upper estimate of how far two bodies approach within a time at their present velocities, m; at most the
/// size of the pair and 2 %.
pub(crate) fn approach_bound(
    pair: &ColliderPair,
    motion: &[Motion],
    time: f64,
    radius: impl Fn(u32) -> f64,
) -> f64 {
    let [a, b] = pair.bodies.map(|body| &motion[body as usize]);
    let swing = |body: u32, motion: &Motion| {
        let speed = motion.omega.length();
        if speed > 0.0 { speed * radius(body).min(2.0 * pair.size) } else { 0.0 }
    };
    let speed = (b.v - a.v).length() + swing(pair.bodies[0], a) + swing(pair.bodies[1], b);
    (time * speed).min(pair.size) + 0.02 * pair.size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FR-1: contact frames of random normals and slips are orthonormal and right-handed to 1e-14, with t
    /// along the slip.
    #[test]
    fn frames_are_right_handed() {
        let mut number = 0.3_f64;
        let mut next = || {
            number = (number * 1.618_033_988_7 + 0.271).fract();
            2.0 * number - 1.0
        };
        for round in 0..100_000 {
            let n = DVec3::new(next(), next(), next()).normalize_or(DVec3::Z);
            let slip = if round % 3 == 0 { DVec3::ZERO } else { DVec3::new(next(), next(), next()) };
            let frame = frame_along(n, slip);
            let error = frame.transpose() * frame - DMat3::IDENTITY;
            assert!(error.to_cols_array().iter().all(|entry| entry.abs() < 1e-14), "{error} {slip}");
            assert!((frame.determinant() - 1.0).abs() < 1e-14 && frame.x_axis == n);
            assert!(
                slip == DVec3::ZERO || frame.y_axis.dot(slip) > 0.0 && frame.z_axis.dot(slip).abs() < 1e-14
            );
        }
    }
}
