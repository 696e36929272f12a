//! Time of first contact of bounding volumes, one of them moving by a displacement D while s goes from 0 to
//! 1.
//!
//! Two boxes: along each separating axis the centres' distance T·n + s D·n must come within the reach; the
//! intervals of s of all axes must share a point, and the first such s is the entry.
//!
//! A sphere and anything convex: f(s) = distance(c + s D) − r is convex, so its tangent lies below it and
//! Newton's method from the left never passes the root: s ← s + f/(−n·D), with n the direction from the
//! nearest point to the centre.

use glam::DVec3;

use super::BoundingVolume;
use super::box_box::BoxPair;
use crate::swept::swept_spheres;
use crate::{BoundingSphere, OrientedBox};

/// Newton converges quadratically except when the sphere only grazes the box, where each step halves the
/// error.
const MAX_STEPS: usize = 100;

impl BoundingVolume {
    /// First s ∈ [0, 1] at which this volume, moved by s times `displacement`, shares a point with `other`.
    pub fn entry_time(&self, other: &Self, displacement: DVec3) -> Option<f64> {
        match (self, other) {
            (Self::Sphere(a), Self::Sphere(b)) => {
                swept_spheres(a, displacement, b, DVec3::ZERO).map(|hit| hit.time)
            }
            (Self::Sphere(sphere), volume) => sphere_entry(sphere, displacement, |c| volume.closest_point(c)),
            (volume, Self::Sphere(sphere)) => {
                sphere_entry(sphere, -displacement, |c| volume.closest_point(c))
            }
            (a, b) => box_entry(&a.as_box()?, &b.as_box()?, displacement),
        }
    }

    fn as_box(&self) -> Option<OrientedBox> {
        match self {
            Self::Sphere(_) => None,
            Self::Aligned(bounds) => Some(OrientedBox::from(*bounds)),
            Self::Oriented(bounds) => Some(*bounds),
        }
    }
}

fn sphere_entry(
    sphere: &BoundingSphere,
    displacement: DVec3,
    closest_point: impl Fn(DVec3) -> DVec3,
) -> Option<f64> {
    let mut s = 0.0;
    for _ in 0..MAX_STEPS {
        let center = sphere.center() + s * displacement;
        let out = center - closest_point(center);
        let distance = out.length();
        let gap = distance - sphere.radius();
        if gap <= 1e-15 * (distance + sphere.radius()) {
            return Some(s);
        }
        let closing = -out.dot(displacement) / distance;
        if !(closing > 0.0) {
            return None;
        }
        let next = s + gap / closing;
        if !(next <= 1.0) {
            return None;
        }
        if next == s {
            break;
        }
        s = next;
    }
    Some(s)
}

fn box_entry(a: &OrientedBox, b: &OrientedBox, displacement: DVec3) -> Option<f64> {
    let pair = BoxPair::new(a, b);
    // Seen from the first box the second moves the other way.
    let d = a.pose().inverse_vector(-displacement);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for axis in pair.axes() {
        // Products of parallel edges are no axes.
        if axis.axis.length_squared() < 1e-24 {
            continue;
        }
        let [first, last] = axis_interval(pair.t.dot(axis.axis), d.dot(axis.axis), axis.reach)?;
        enter = enter.max(first);
        leave = leave.min(last);
    }
    (enter <= leave).then_some(enter)
}

/// Interval of s with |p + s d| ≤ reach; None if it is empty or a number is not finite.
pub(crate) fn axis_interval(p: f64, d: f64, reach: f64) -> Option<[f64; 2]> {
    if !(p + d + reach).is_finite() {
        return None;
    }
    if d == 0.0 {
        return (p.abs() <= reach).then_some([f64::NEG_INFINITY, f64::INFINITY]);
    }
    let (s1, s2) = ((-reach - p) / d, (reach - p) / d);
    Some([s1.min(s2), s1.max(s2)])
}
