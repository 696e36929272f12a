//! Two spheres on chords.
//!
//! P = b₀ − a₀, D = d_b − d_a, R = r_a + r_b: |P + s D| = R. With f₀ = P·P − R², h = P·D, f₂ = D·D the first
//! root is s = f₀/(−h + √(h² − f₂ f₀)), which does not cancel. Spheres that overlap at the start hit at s = 0
//! if they approach each other.

use glam::DVec3;

/// When two particles touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairHit {
    /// s ∈ [0, 1].
    pub time: f64,
    /// Unit vector from the centre of A to that of B; for concentric spheres against the relative motion, else z.
    pub normal: DVec3,
    /// Midpoint between the centres.
    pub point: DVec3,
}

/// (start, displacement, radius) of A and of B ⇒ first contact with s ∈ [0, 1] at which they approach.
pub fn swept_particles(a: (DVec3, DVec3, f64), b: (DVec3, DVec3, f64)) -> Option<PairHit> {
    let (p, d, reach) = (b.0 - a.0, b.1 - a.1, a.2 + b.2);
    let h = p.dot(d);
    let distance = p.length();
    let f0 = (distance - reach) * (distance + reach);
    let time = if f0 <= 0.0 {
        if !(h < 0.0 || distance == 0.0 && d != DVec3::ZERO) {
            return None;
        }
        0.0
    } else {
        let f2 = d.length_squared();
        let across = p - (h / f2) * d;
        let discriminant = f2 * (reach - across.length()) * (reach + across.length());
        if !(h < 0.0 && discriminant >= 0.0) {
            return None;
        }
        f0 / (-h + discriminant.sqrt())
    };
    if !(time <= 1.0) {
        return None;
    }
    let (at_a, at_b) = (a.0 + time * a.1, b.0 + time * b.1);
    let normal = (at_b - at_a).try_normalize().unwrap_or_else(|| (-d).normalize_or(DVec3::Z));
    Some(PairHit { time, normal, point: at_a.midpoint(at_b) })
}
