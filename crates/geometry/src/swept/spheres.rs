//! Two spheres that move on straight lines while s goes from 0 to 1.
//!
//! With P = a₀ − b₀, D = V_a − V_b and R = r_a + r_b: |P + s D|² = R², that is f₂ s² + 2 h s + f₀ = 0 with
//! f₂ = D·D, h = P·D, f₀ = P·P − R². Apart at first (f₀ > 0) and closing (h < 0), the first root is f₀/(−h +
//! √(h² − f₂ f₀)), which does not cancel. The contact lies on the line of centres at that time.

use glam::DVec3;

use crate::BoundingSphere;

/// When and where two moving spheres first touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereHit {
    /// s ∈ [0, 1]
    pub time: f64,
    /// On both surfaces at that time; between the centres if they overlap from the start.
    pub point: DVec3,
    /// Unit vector from the first centre to the second; +z for concentric spheres.
    pub normal: DVec3,
    /// They move apart at that time: no impact follows.
    pub separating: bool,
}

/// (sphere, displacement, sphere, displacement) ⇒ first contact with s ∈ [0, 1]. Spheres that pass at exactly
/// the sum of the radii do not collide.
pub fn swept_spheres(
    a: &BoundingSphere,
    displacement_a: DVec3,
    b: &BoundingSphere,
    displacement_b: DVec3,
) -> Option<SphereHit> {
    let p = a.center() - b.center();
    let d = displacement_a - displacement_b;
    let reach = a.radius() + b.radius();
    let h = p.dot(d);
    let hit = |time: f64| {
        let (at_a, at_b) = (a.center() + time * displacement_a, b.center() + time * displacement_b);
        let normal = (at_b - at_a).normalize_or(DVec3::Z);
        let (on_a, on_b) = (at_a + a.radius() * normal, at_b - b.radius() * normal);
        SphereHit { time, point: on_a.midpoint(on_b), normal, separating: time == 0.0 && h >= 0.0 }
    };
    let distance = p.length();
    let f0 = (distance - reach) * (distance + reach);
    if f0 <= 0.0 {
        return Some(hit(0.0));
    }
    let f2 = d.length_squared();
    // The distance of passing, from the part of P across D: h² − f₂ f₀ of fast spheres far away would be all
    // rounding.
    let across = p - (h / f2) * d;
    let discriminant = f2 * (reach - across.length()) * (reach + across.length());
    if !(h < 0.0 && discriminant > 0.0) {
        return None;
    }
    let time = f0 / (-h + discriminant.sqrt());
    (time <= 1.0).then(|| hit(time))
}

/// (solid n·p ≤ d with unit n, sphere, displacement) ⇒ first contact as (s ∈ [0, 1], moving apart).
pub fn swept_sphere_half_space(
    normal: DVec3,
    offset: f64,
    sphere: &BoundingSphere,
    displacement: DVec3,
) -> Option<(f64, bool)> {
    let gap = normal.dot(sphere.center()) - offset - sphere.radius();
    let closing = -normal.dot(displacement);
    if gap <= 0.0 {
        return Some((0.0, closing <= 0.0));
    }
    let time = gap / closing;
    (closing > 0.0 && time <= 1.0).then_some((time, false))
}
