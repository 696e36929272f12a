//! Points in which bodies touch or are about to, and what they remember.

use super::roster::{Pair, Part, Roster};
use crate::motion::Motion;
use crate::world::ShapeId;
use glam::{DMat3, DVec3};
use rattleback_geometry::contact::{ContactError, collide};
use std::collections::BTreeMap;

/// A contact point by name: the shapes, their pieces, the features that meet.
pub(in crate::simulator) type Name = ([ShapeId; 2], [u32; 2], u32);

/// Force of each contact point in the last step, in world axes, on B, N; and where it was.
pub(in crate::simulator) type Memory = BTreeMap<Name, [DVec3; 2]>;

/// The force remembered of a point; names may change while bodies rest, so a near point of the same shapes will do.
pub(in crate::simulator) fn remembered(memory: &Memory, touch: &Touch) -> DVec3 {
    if let Some([force, _]) = memory.get(&touch.name) {
        return *force;
    }
    let shapes = touch.name.0;
    let known = memory.range((shapes, [0; 2], 0)..=(shapes, [u32::MAX; 2], u32::MAX));
    known
        .map(|(_, [force, point])| (point.distance_squared(touch.point), *force))
        .filter(|(distance, _)| *distance < 1e8 * touch.tolerance * touch.tolerance)
        .min_by(|x, y| x.0.total_cmp(&y.0))
        .map_or(DVec3::ZERO, |(_, force)| force)
}

/// One point between two bodies.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct Touch {
    pub name: Name,
    pub pair: [u32; 2],
    pub actors: [u32; 2],
    /// Half-way between the two surfaces.
    pub point: DVec3,
    /// Columns n (from A to B), t, k.
    pub frame: DMat3,
    pub gap: f64,
    /// Below this gap it touches.
    pub tolerance: f64,
    pub static_friction: f64,
    pub kinetic_friction: f64,
    pub restitution: f64,
}

/// Overlap, in touching tolerances, that is left as it is: taking it back would lift bodies, and nothing pays for that.
const SLOP: f64 = 20.0;

/// Depth up to which an overlap is left as it is, for a touching tolerance, m.
pub(in crate::simulator) fn slop(tolerance: f64) -> f64 {
    SLOP * tolerance
}

impl Touch {
    pub fn normal(&self) -> DVec3 {
        self.frame.x_axis
    }

    /// u = v_B − v_A at the point, in the contact frame: n, t, k.
    pub fn relative_velocity(&self, motion: &[Motion]) -> DVec3 {
        let [a, b] = self.actors.map(|actor| motion[actor as usize].velocity_at(self.point));
        self.frame.transpose() * (b - a)
    }

    pub fn touches(&self) -> bool {
        self.gap <= self.tolerance
    }
}

/// A right-handed frame with n first; t along the slip if there is any.
fn frame_along(n: DVec3, slip: DVec3) -> DMat3 {
    let mut across = slip - slip.dot(n) * n;
    if across.length_squared() < 0.01 * slip.length_squared() {
        // Little is left of it, and most of that may be rounding.
        across -= across.dot(n) * n;
    }
    let length = across.length();
    let t = if length > 1e-9 { (across / length).normalize() } else { n.any_orthonormal_vector() };
    DMat3::from_cols(n, t, n.cross(t))
}

impl Pair {
    /// Finds the points nearer than the margin where the bodies are now; what cannot be told counts as none.
    pub fn find(&mut self, parts: &[Part], motion: &[Motion], margin: f64) -> Result<(), ContactError> {
        let [a, b] = self.parts.map(|part| &parts[part as usize]);
        let place = |part: &Part| motion[part.actor as usize].pose() * part.place;
        let relative = place(a).relative(&place(b));
        collide(&a.shape, &b.shape, &relative, margin, &mut self.cache, &mut self.found)
    }

    /// The least separation of the bodies now; the margin if they are farther apart.
    pub fn separation(&mut self, parts: &[Part], motion: &[Motion], margin: f64) -> f64 {
        if self.find(parts, motion, margin).is_err() {
            return margin;
        }
        self.found.deepest().map_or(margin, |(_, point)| point.separation)
    }

    /// Adds the points last found.
    pub fn touches(&self, parts: &[Part], motion: &[Motion], touch_gap: f64, touches: &mut Vec<Touch>) {
        let a = &parts[self.parts[0] as usize];
        let place = motion[a.actor as usize].pose() * a.place;
        for manifold in self.found.manifolds() {
            let normal = place.vector(manifold.normal).normalize_or(DVec3::Z);
            for found in manifold.points() {
                let point = place.point(0.5 * (found.point_a + found.point_b));
                let [va, vb] = self.actors.map(|actor| motion[actor as usize].velocity_at(point));
                touches.push(Touch {
                    name: (self.shapes, manifold.parts, found.id),
                    pair: self.parts,
                    actors: self.actors,
                    point,
                    frame: frame_along(normal, vb - va),
                    gap: found.separation,
                    tolerance: touch_gap * self.size,
                    static_friction: self.material.static_friction,
                    kinetic_friction: self.material.kinetic_friction,
                    restitution: self.material.restitution,
                });
            }
        }
    }
}

/// The points of some pairs that are within reach during `time`.
pub(in crate::simulator) fn gather(
    roster: &mut Roster,
    pairs: &[[u32; 2]],
    motion: &[Motion],
    time: f64,
    touch_gap: f64,
    touches: &mut Vec<Touch>,
) {
    touches.clear();
    let Roster { parts, pairs: table, actors, .. } = roster;
    for key in pairs {
        let Some(pair) = table.get_mut(key) else { continue };
        let margin = reach(pair, motion, time, |actor| actors[actor as usize].reach) + touch_gap * pair.size;
        if pair.find(parts, motion, margin).is_ok() && !pair.sensor {
            pair.touches(parts, motion, touch_gap, touches);
        }
    }
}

/// How far two bodies may come nearer to each other within a time, with what their present velocities can do.
pub(in crate::simulator) fn reach(
    pair: &Pair,
    motion: &[Motion],
    time: f64,
    reach: impl Fn(u32) -> f64,
) -> f64 {
    let [a, b] = pair.actors.map(|actor| &motion[actor as usize]);
    let swing = |actor: u32, motion: &Motion| {
        let speed = motion.omega.length();
        if speed > 0.0 { speed * reach(actor).min(2.0 * pair.size) } else { 0.0 }
    };
    let speed = (b.v - a.v).length() + swing(pair.actors[0], a) + swing(pair.actors[1], b);
    (time * speed).min(pair.size) + 0.02 * pair.size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FR-1: frames of any normal and any slip are orthonormal and right-handed to 1e-14, with t along the slip.
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
