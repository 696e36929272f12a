//! Buoyancy and drag of a fluid at rest or in steady flow below a plane surface.
//!
//! Archimedes: the fluid pushes with −ρ g V at the centroid of the immersed volume V. For a ball V is a spherical cap:
//! V = π h² (3r − h) / 3 for immersion h, centroid ¾ (2r − h)² / (3r − h) below the centre. For every other shape the
//! surface is cut at the fluid level, triangle by triangle; tetrahedra to a point *in* the level sum up to volume and
//! first moment exactly, because the cap contributes nothing to them.
//!
//! Drag acts on each immersed face that faces the flow: f = −μ A max(0, û·n) u, with u the velocity of the face relative
//! to the fluid. Over a ball this integrates to −μ π r² u.

use super::{Force, ForceAccumulator, ForceContext};
use crate::component;
use crate::property::Allowed;
use crate::rigid::{Motion, Wrench};
use crate::signal::Signal;
use glam::DVec3;
use rattleback_geometry::{Pose, Shape, TriangleMesh};

component! {
    /// Lift and drag of a fluid that fills the space below a plane.
    pub struct Buoyancy as "buoyancy" {
        /// A point of the fluid's surface.
        surface_point: Signal<DVec3> = DVec3::ZERO, "m", Allowed::Finite;
        /// Up, out of the fluid.
        surface_normal: DVec3 = DVec3::Z, "", Allowed::Direction;
        /// ρ of the fluid.
        fluid_density: f64 = 1000.0, "kg/m³", Allowed::Positive;
        /// g inside the fluid, along the surface normal.
        gravity: f64 = 9.81, "m/s²", Allowed::NonNegative;
        /// μ: drag per area and speed.
        drag: f64 = 0.0, "N·s/m³", Allowed::NonNegative;
        /// Velocity of the fluid.
        fluid_velocity: Signal<DVec3> = DVec3::ZERO, "m/s", Allowed::Finite;
    }
}

/// The immersed part of a shape, relative to a point of the fluid's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Immersed {
    pub volume: f64,
    /// ∫ x dV.
    pub moment: DVec3,
}

/// Ball with centre c (from a point of the surface with normal n) ⇒ its immersed part.
pub(crate) fn immersed_ball(c: DVec3, r: f64, n: DVec3) -> Immersed {
    let h = (r - c.dot(n)).clamp(0.0, 2.0 * r);
    if h == 0.0 {
        return Immersed::default();
    }
    let volume = std::f64::consts::PI * h * h * (3.0 * r - h) / 3.0;
    let below = 0.75 * (2.0 * r - h) * (2.0 * r - h) / (3.0 * r - h);
    Immersed { volume, moment: volume * (c - below * n) }
}

/// Calls `visit` for the parts of the surface below the plane through the origin with normal n.
fn clip_below(
    surface: &TriangleMesh,
    place: &Pose,
    origin: DVec3,
    n: DVec3,
    mut visit: impl FnMut([DVec3; 3]),
) {
    let shifted = Pose::new(place.rotation, place.translation - origin);
    for triangle in surface.triangles() {
        let corner = triangle.map(|i| shifted.point(surface.vertices()[i as usize]));
        let depth = corner.map(|p| -p.dot(n));
        let mut kept = [DVec3::ZERO; 4];
        let mut count = 0;
        for i in 0..3 {
            let k = (i + 1) % 3;
            if depth[i] >= 0.0 {
                kept[count] = corner[i];
                count += 1;
            }
            if (depth[i] > 0.0 && depth[k] < 0.0) || (depth[i] < 0.0 && depth[k] > 0.0) {
                kept[count] = corner[i].lerp(corner[k], depth[i] / (depth[i] - depth[k]));
                count += 1;
            }
        }
        for i in 2..count {
            visit([kept[0], kept[i - 1], kept[i]]);
        }
    }
}

/// Closed surface ⇒ its immersed part.
pub(crate) fn immersed_mesh(surface: &TriangleMesh, place: &Pose, origin: DVec3, n: DVec3) -> Immersed {
    let mut immersed = Immersed::default();
    clip_below(surface, place, origin, n, |[a, b, c]| {
        let volume = a.dot(b.cross(c)) / 6.0;
        immersed.volume += volume;
        immersed.moment += volume * (a + b + c) / 4.0;
    });
    immersed
}

impl Buoyancy {
    fn drag_on_mesh(
        &self,
        surface: &TriangleMesh,
        place: &Pose,
        origin: DVec3,
        motion: &Motion,
        flow: DVec3,
    ) -> Wrench {
        let mut total = Wrench::default();
        clip_below(surface, place, origin, self.surface_normal.normalize(), |[a, b, c]| {
            let area = 0.5 * (b - a).cross(c - a);
            let center = (a + b + c) / 3.0 + origin;
            let u = motion.velocity_at(center) - flow;
            let speed = u.length();
            let facing = area.dot(u);
            if facing > 0.0 && speed > 0.0 {
                total += Wrench::at(-self.drag * (facing / speed) * u, center, motion.x);
            }
        });
        total
    }

    fn drag_on_ball(&self, center: DVec3, radius: f64, share: f64, motion: &Motion, flow: DVec3) -> Wrench {
        let area = std::f64::consts::PI * radius * radius * share;
        Wrench::at(-self.drag * area * (motion.velocity_at(center) - flow), center, motion.x)
    }
}

impl Force for Buoyancy {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        let origin = self.surface_point.at(scope.time);
        let flow = self.fluid_velocity.at(scope.time);
        let n = self.surface_normal.normalize();
        for body in scope.targets() {
            let mut wrench = Wrench::default();
            let mut lift = |immersed: Immersed| {
                if immersed.volume > 0.0 {
                    let force = self.fluid_density * self.gravity * immersed.volume * n;
                    wrench += Wrench::at(force, immersed.moment / immersed.volume + origin, body.motion.x);
                }
            };
            let mut resistance = Wrench::default();
            let body_pose = scope.bodies.pose_of(body.id, body.motion);
            for attached in scope.shapes_of(body.id).filter(|attached| !attached.sensor) {
                let place = body_pose * attached.pose;
                if let Shape::Sphere(ball) = &attached.shape {
                    let r = ball.radius();
                    let immersed = immersed_ball(place.translation - origin, r, n);
                    lift(immersed);
                    let share = immersed.volume / ball.volume();
                    resistance += self.drag_on_ball(place.translation, r, share, body.motion, flow);
                } else if let Some(surface) = attached.closed_surface() {
                    lift(immersed_mesh(surface, &place, origin, n));
                    if self.drag > 0.0 {
                        resistance += self.drag_on_mesh(surface, &place, origin, body.motion, flow);
                    }
                }
            }
            wrench += resistance;
            loads.add(body.index, wrench);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_geometry::generate;

    /// a ball of relative density s floats at the depth of its cap volume.
    #[test]
    fn floating_depth_of_a_ball() {
        for (ratio, immersion) in [(0.25, 0.652704), (0.5, 1.0), (0.9, 1.608400)] {
            let part = immersed_ball(DVec3::Z * (1.0 - immersion), 1.0, DVec3::Z);
            assert!((part.volume / (4.0 / 3.0 * std::f64::consts::PI) - ratio).abs() < 1e-6);
        }
    }

    /// The cut mesh of a fine ball agrees with the cap formula, in volume and centroid.
    #[test]
    fn cut_icosphere_is_a_cap() {
        let mesh = generate::icosphere(6).unwrap();
        for z in [-0.7, -0.1, 0.3, 0.8] {
            let place = Pose::at(DVec3::new(0.4, -0.2, z));
            let origin = DVec3::new(5.0, 1.0, 0.0);
            let mesh_part = immersed_mesh(&mesh, &place, origin, DVec3::Z);
            let cap = immersed_ball(place.translation - origin, 1.0, DVec3::Z);
            assert!((mesh_part.volume / cap.volume - 1.0).abs() < 5e-3);
            assert!((mesh_part.moment / mesh_part.volume - cap.moment / cap.volume).length() < 2e-3);
        }
    }
}
