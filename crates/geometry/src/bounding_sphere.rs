//! Spheres around points.
//!
//! Ritter's two passes: the farthest pair of the six extreme points gives a first sphere (c, r); each point
//! at distance d > r then grows it to r′ = (r + d)/2, c′ = (r′ c + (d − r′) v)/d, the smallest sphere around
//! the old one and the point. (The textbook version prints the old r in the centre formula, which loses the
//! far side of the old sphere.)
//!
//! The smallest sphere is the smallest one through at most four of the points that holds all others. Starting
//! from any support set, the farthest point outside joins it; the smallest sphere of those at most five
//! points is found by trying all supports among them. The radius grows in every round, so no support comes
//! twice and the search ends.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::{BoundsError, Pose};

/// A closed sphere.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct BoundingSphere {
    center: DVec3,
    radius: f64,
}

#[derive(Deserialize)]
struct Unchecked {
    center: DVec3,
    radius: f64,
}

impl TryFrom<Unchecked> for BoundingSphere {
    type Error = BoundsError;

    fn try_from(read: Unchecked) -> Result<Self, BoundsError> {
        Self::new(read.center, read.radius)
    }
}

impl BoundingSphere {
    /// (centre, radius ≥ 0) ⇒ sphere.
    pub fn new(center: DVec3, radius: f64) -> Result<Self, BoundsError> {
        if !center.is_finite() {
            return Err(BoundsError::NonFinite);
        }
        if !(radius.is_finite() && radius >= 0.0) {
            return Err(BoundsError::Negative { name: "radius", value: radius });
        }
        Ok(Self { center, radius })
    }

    /// Centre.
    pub const fn center(&self) -> DVec3 {
        self.center
    }

    /// Radius.
    pub const fn radius(&self) -> f64 {
        self.radius
    }

    /// Ritter's sphere: two passes, typically 5–10 % larger than the smallest.
    pub fn ritter(points: &[DVec3]) -> Result<Self, BoundsError> {
        check(points)?;
        let mut extremes = [points[0]; 6];
        for &p in points {
            for axis in 0..3 {
                if p[axis] < extremes[2 * axis][axis] {
                    extremes[2 * axis] = p;
                }
                if p[axis] > extremes[2 * axis + 1][axis] {
                    extremes[2 * axis + 1] = p;
                }
            }
        }
        let mut widest = (points[0], points[0]);
        for (i, &a) in extremes.iter().enumerate() {
            for &b in &extremes[..i] {
                if a.distance_squared(b) > widest.0.distance_squared(widest.1) {
                    widest = (a, b);
                }
            }
        }
        let mut sphere =
            Self { center: widest.0.midpoint(widest.1), radius: 0.5 * widest.0.distance(widest.1) };
        for &v in points {
            sphere.grow(v);
        }
        Ok(sphere.covering(points))
    }

    /// The smallest sphere around the points.
    pub fn smallest(points: &[DVec3]) -> Result<Self, BoundsError> {
        check(points)?;
        let mut support = vec![points[0]];
        let mut sphere = Self { center: points[0], radius: 0.0 };
        // Far more rounds than any input needs; rounding could otherwise let two supports alternate for ever.
        for _round in 0..1000 {
            let farthest = farthest(points, sphere.center);
            if sphere.center.distance(farthest) <= sphere.radius * (1.0 + 1e-14) {
                break;
            }
            support.push(farthest);
            let (next, next_support) = smallest_of_few(&support);
            if next.radius <= sphere.radius {
                break;
            }
            (sphere, support) = (next, next_support);
        }
        Ok(sphere.covering(points))
    }

    /// Whether the point lies inside or on the sphere.
    pub fn contains(&self, p: DVec3) -> bool {
        p.distance_squared(self.center) <= self.radius * self.radius
    }

    /// Whether the spheres share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        let reach = self.radius + other.radius;
        self.center.distance_squared(other.center) <= reach * reach
    }

    /// The smallest sphere around both spheres.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let d = self.center.distance(other.center);
        if d + other.radius <= self.radius {
            return *self;
        }
        if d + self.radius <= other.radius {
            return *other;
        }
        let radius = 0.5 * (d + self.radius + other.radius);
        let center = self.center + ((radius - self.radius) / d) * (other.center - self.center);
        Self { center, radius }
    }

    /// The sphere moved by `pose`.
    #[must_use]
    pub fn transformed(&self, pose: &Pose) -> Self {
        Self { center: pose.point(self.center), radius: self.radius }
    }

    /// Radius of the sphere about `pivot` that holds this sphere however it turns about `pivot`.
    pub fn rotation_radius(&self, pivot: DVec3) -> f64 {
        self.radius + self.center.distance(pivot)
    }

    /// Ritter's second pass for one point.
    fn grow(&mut self, v: DVec3) {
        let d = v.distance(self.center);
        if d > self.radius {
            let r = 0.5 * (self.radius + d);
            self.center = (r * self.center + (d - r) * v) / d;
            self.radius = r;
        }
    }

    /// Takes up the rounding error of the construction: no point may stay outside.
    fn covering(self, points: &[DVec3]) -> Self {
        let reach = farthest(points, self.center).distance(self.center) * (1.0 + 1e-15);
        Self { center: self.center, radius: self.radius.max(reach) }
    }
}

fn check(points: &[DVec3]) -> Result<(), BoundsError> {
    if points.is_empty() {
        return Err(BoundsError::Empty);
    }
    if points.iter().any(|p| !p.is_finite()) {
        return Err(BoundsError::NonFinite);
    }
    Ok(())
}

/// The point farthest from `center`; the first of equals.
fn farthest(points: &[DVec3], center: DVec3) -> DVec3 {
    let mut best = (f64::NEG_INFINITY, center);
    for &p in points {
        let distance = p.distance_squared(center);
        if distance > best.0 {
            best = (distance, p);
        }
    }
    best.1
}

/// Smallest sphere of at most five points, and the points it rests on. The last point is always one of them.
fn smallest_of_few(points: &[DVec3]) -> (BoundingSphere, Vec<DVec3>) {
    let last = points.len() - 1;
    let mut best: Option<(BoundingSphere, Vec<DVec3>)> = None;
    for subset in 0u32..1 << last {
        if subset.count_ones() > 3 {
            continue;
        }
        let mut support = vec![points[last]];
        support.extend((0..last).filter(|i| subset >> i & 1 == 1).map(|i| points[i]));
        let Some(sphere) = circumsphere(&support) else { continue };
        let smaller = best.as_ref().is_none_or(|(known, _)| sphere.radius < known.radius);
        if smaller && points.iter().all(|p| p.distance(sphere.center) <= sphere.radius * (1.0 + 1e-12)) {
            best = Some((sphere, support));
        }
    }
    best.unwrap_or_else(|| {
        // Only rounding gets here (nearly cospherical points): any sphere that holds all points will do.
        let mut sphere = BoundingSphere { center: points[last], radius: 0.0 };
        for &p in points {
            sphere.grow(p);
        }
        (sphere.covering(points), vec![points[last]])
    })
}

/// Smallest sphere through one to four points; None if they are not in general position.
///
/// With a = first point and eᵢ = pᵢ − a: c = a + x, x in the span of the eᵢ, x·eᵢ = |eᵢ|²/2.
fn circumsphere(points: &[DVec3]) -> Option<BoundingSphere> {
    let a = points[0];
    let x = match *points {
        [_] => DVec3::ZERO,
        [_, b] => 0.5 * (b - a),
        [_, b, c] => {
            let (e, f) = (b - a, c - a);
            let n = e.cross(f);
            let nn = n.length_squared();
            if nn <= 1e-24 * e.length_squared() * f.length_squared() {
                return None;
            }
            (e.length_squared() * f.cross(n) + f.length_squared() * n.cross(e)) / (2.0 * nn)
        }
        [_, b, c, d] => {
            let (e, f, g) = (b - a, c - a, d - a);
            let m = DMat3::from_cols(e, f, g).transpose();
            let scale = e.length() * f.length() * g.length();
            if m.determinant().abs() <= 1e-12 * scale {
                return None;
            }
            m.inverse() * (0.5 * DVec3::new(e.length_squared(), f.length_squared(), g.length_squared()))
        }
        _ => return None,
    };
    x.is_finite().then(|| BoundingSphere { center: a + x, radius: x.length() })
}
