//! Two segments of one plane.
//!
//! With k_p = n × (p₂ − p₁) and k_q = n × (q₂ − q₁): m_q = k_p·(p₁ − q₁)/(k_p·(q₂ − q₁)) and
//! t_p = k_q·(q₁ − p₁)/(k_q·(p₂ − p₁)); they intersect if both lie in [0, 1]. Parallel segments intersect
//! only on one line, where the question is one of intervals.

use glam::DVec3;

use super::{LineSegment, Tolerances};

/// (two segments of the plane with unit normal n) ⇒ parameters (on p, on q) of a common point, if there is
/// one.
pub fn coplanar_edges(
    p: &LineSegment,
    q: &LineSegment,
    normal: DVec3,
    tolerances: &Tolerances,
) -> Option<(f64, f64)> {
    let (u, w) = (p.offset(), q.offset());
    let (length_p, length_q) = (u.length(), w.length());
    let touch = tolerances.length(length_p.max(length_q));
    let sine = normal.dot(u.cross(w));
    if sine.abs() <= tolerances.relative * length_p * length_q {
        return collinear_overlap(p, q, touch);
    }
    let (k_p, k_q) = (normal.cross(u), normal.cross(w));
    let between = q.start - p.start;
    let m = -k_p.dot(between) / k_p.dot(w);
    let t = k_q.dot(between) / k_q.dot(u);
    let within = |x: f64, length: f64| (-touch..=length + touch).contains(&(x * length));
    (within(t, length_p) && within(m, length_q)).then(|| (t.clamp(0.0, 1.0), m.clamp(0.0, 1.0)))
}

/// Parallel segments, or points: the end of one that lies on the other.
fn collinear_overlap(p: &LineSegment, q: &LineSegment, touch: f64) -> Option<(f64, f64)> {
    for (end, m) in [(q.start, 0.0), (q.end, 1.0)] {
        if p.distance(end) <= touch {
            return Some((p.closest_parameter(end), m));
        }
    }
    for (end, t) in [(p.start, 0.0), (p.end, 1.0)] {
        if q.distance(end) <= touch {
            return Some((t, q.closest_parameter(end)));
        }
    }
    None
}
