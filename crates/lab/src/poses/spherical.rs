//! Areas on the unit sphere: polygons of great-circle arcs, and what a cap covers of them.
//!
//! The signed area of a spherical triangle a, b, c (unit vectors, counter-clockwise seen from outside) is Ω with
//! tan(Ω/2) = a·(b×c) / (1 + a·b + b·c + c·a) (van Oosterom and Strackee 1983).
//!
//! A cap {r : u·r > cos θ} covers of a polygon the signed sum over its sides (a, b) of what it covers of the triangle (u, a, b): where
//! the side runs inside the cap, the triangle (u, p, q) itself; where it runs outside, the sector Δλ (1 − cos θ) with Δλ the azimuth it passes about u.

use glam::DVec3;
use std::f64::consts::TAU;

/// Signed area of the spherical triangle with these corners; unit vectors.
pub fn triangle_area(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    let y = a.dot(b.cross(c));
    let x = 1.0 + a.dot(b) + b.dot(c) + c.dot(a);
    if y == 0.0 && x <= 0.0 { 0.0 } else { 2.0 * y.atan2(x) }
}

/// Area of a convex spherical polygon, counter-clockwise; unit vectors.
pub fn polygon_area(corners: &[DVec3]) -> f64 {
    let Some((first, rest)) = corners.split_first() else { return 0.0 };
    rest.windows(2).map(|pair| triangle_area(*first, pair[0], pair[1])).sum()
}

/// Area of the part of a convex polygon (counter-clockwise, unit vectors) within θ < π of the direction u.
pub fn cap_area(u: DVec3, theta: f64, corners: &[DVec3]) -> f64 {
    if theta <= 0.0 || corners.len() < 3 {
        return 0.0;
    }
    let mut sum = 0.0;
    for (i, a) in corners.iter().enumerate() {
        sum += side(u, theta, *a, corners[(i + 1) % corners.len()]);
    }
    // The polygon around u has its sides all on the left; a polygon that contains −u counts the whole sphere less.
    let whole = TAU * (1.0 - theta.cos());
    if sum < -1e-9 { (sum + whole).clamp(0.0, whole) } else { sum.clamp(0.0, whole) }
}

/// Signed area that the cap covers of the triangle (u, a, b).
fn side(u: DVec3, theta: f64, a: DVec3, b: DVec3) -> f64 {
    let Some(axis) = a.cross(b).try_normalize() else { return 0.0 };
    // Along the great circle r(s) = f cos s + g sin s, f nearest to u: u·r = k cos s with k = cos δ, δ the distance of the circle.
    let foot = u - axis * axis.dot(u);
    let k = foot.length();
    if k < 1e-15 {
        // Every point of the circle is 90° from u.
        return sector(u, a, b) * (1.0 - theta.cos().max(0.0));
    }
    let f = foot / k;
    let g = axis.cross(f);
    let angle = |r: DVec3| r.dot(g).atan2(r.dot(f));
    let from = angle(a);
    let mut to = angle(b);
    if to < from {
        to += TAU;
    }
    let at = |s: f64| f * s.cos() + g * s.sin();
    let outside = |p: f64, q: f64| sector(u, at(p), at(q)) * (1.0 - theta.cos());
    let inside = |p: f64, q: f64| triangle_area(u, at(p), at(q));
    let ratio = theta.cos() / k;
    if ratio >= 1.0 {
        return outside(from, to);
    }
    if ratio <= -1.0 {
        return inside(from, to);
    }
    // Inside where |s| < reach, modulo a turn; the side is shorter than half a turn.
    let reach = ratio.acos();
    let mut cuts = vec![from];
    for turn in [-TAU, 0.0, TAU] {
        for cut in [turn - reach, turn + reach] {
            if cut > from && cut < to {
                cuts.push(cut);
            }
        }
    }
    cuts.push(to);
    cuts.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    for pair in cuts.windows(2) {
        let middle = 0.5 * (pair[0] + pair[1]);
        sum += if middle.cos() > ratio { inside(pair[0], pair[1]) } else { outside(pair[0], pair[1]) };
    }
    sum
}

/// Signed angle about u from a to b, less than half a turn.
fn sector(u: DVec3, a: DVec3, b: DVec3) -> f64 {
    let (a, b) = (a - u * u.dot(a), b - u * u.dot(b));
    u.dot(a.cross(b)).atan2(a.dot(b))
}

/// The part of a convex polygon where n·r ≥ 0.
pub fn clip(corners: &[DVec3], n: DVec3) -> Vec<DVec3> {
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (i, a) in corners.iter().enumerate() {
        let b = corners[(i + 1) % corners.len()];
        let (x, y) = (n.dot(*a), n.dot(b));
        if x >= 0.0 {
            kept.push(*a);
        }
        if (x > 0.0 && y < 0.0) || (x < 0.0 && y > 0.0) {
            kept.push((*a * y.abs() + b * x.abs()).normalize_or_zero());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Random;
    use std::f64::consts::PI;

    fn random_polygon(random: &mut Random) -> Vec<DVec3> {
        let axis = random.direction();
        let (e, n) = axis.any_orthonormal_pair();
        let reach = random.range(0.1, 1.2);
        let mut angles: Vec<f64> = (0..3 + random.index(5)).map(|_| random.angle()).collect();
        angles.sort_by(f64::total_cmp);
        // On one circle of the sphere, hence convex.
        angles
            .iter()
            .map(|t| (axis * reach.cos() + (e * t.cos() + n * t.sin()) * reach.sin()).normalize())
            .collect()
    }

    fn contains(polygon: &[DVec3], r: DVec3) -> bool {
        (0..polygon.len()).all(|i| polygon[i].cross(polygon[(i + 1) % polygon.len()]).dot(r) > 0.0)
    }

    /// Caps over random polygons, against a count of random directions.
    #[test]
    fn caps_cover_what_a_count_says() {
        let mut random = Random::new(7, 1);
        let mut worst: f64 = 0.0;
        for _ in 0..40 {
            let polygon = random_polygon(&mut random);
            let (u, theta) = (random.direction(), random.range(0.05, 1.5));
            let n = 20_000;
            let hits = (0..n)
                .filter(|_| {
                    let r = random.direction();
                    r.dot(u) > theta.cos() && contains(&polygon, r)
                })
                .count() as f64
                / f64::from(n);
            let exact = cap_area(u, theta, &polygon) / (4.0 * PI);
            let sigma = (exact * (1.0 - exact) / f64::from(n)).sqrt().max(1.0 / f64::from(n));
            worst = worst.max((hits - exact).abs() / sigma);
        }
        assert!(worst < 4.5, "{worst} standard deviations");
    }

    /// E3: the closed form of one straight edge at the angular distance δ.
    #[test]
    fn a_cap_beyond_one_edge_is_the_closed_form() {
        for (delta, theta) in [(0.1_f64, 0.35_f64), (0.3, 0.35), (0.001, 0.3), (0.2, 1.0)] {
            // The half-sphere beyond a great circle at distance δ from u, cut into triangles.
            let u = DVec3::Z;
            let n = DVec3::new(delta.cos(), 0.0, -delta.sin());
            let (a, b) = (DVec3::new(delta.sin(), 0.0, delta.cos()), DVec3::Y);
            let lune = |p: DVec3, q: DVec3, r: DVec3| cap_area(u, theta, &[p, q, r]);
            // Beyond: n·r > 0, a half-sphere about n made of four triangles around n.
            let beyond = lune(n, b, a) + lune(n, a, -b) + lune(n, -b, -a) + lune(n, -a, b);
            let t = ((delta.sin() / theta.sin()).acos() - theta.cos() * (delta.tan() / theta.tan()).acos())
                / (PI * (1.0 - theta.cos()));
            let share = beyond / (TAU * (1.0 - theta.cos()));
            assert!((share - t).abs() < 1e-12, "{share} {t}");
        }
    }
}
