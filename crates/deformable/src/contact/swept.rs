//! Times of impact that are proved to be free of contact.
//!
//! Points move on straight lines x + t p. With the unit vector n between the nearest points at t, all pairs (i, j) of points of
//! the two features have n·(x_i − x_j) ≥ δ; as long as none of these reaches zero n separates the features. Each is linear in t,
//! so the time at which the first has shrunk to a tenth (of its excess over the floor) is a step that is free of contact. So is 0.9 (δ − floor)/l with l the
//! largest relative displacement (additive advancement, Li et al. 2021); the larger of the two is taken. The advance ends where
//! the distance is below a tenth of that at the start.

use glam::DVec3;

use super::FeaturePair;
use super::distance::nearest;

/// Part of the distance that remains.
const KEEP: f64 = 0.1;

/// Four points and their displacements ⇒ part of the displacement, at most `limit`, up to which the features keep more than
/// the distance `floor` (0 or more, less than that at the start).
///
/// ```
/// use glam::DVec3;
/// use rattleback_deformable::contact::{FeaturePair, conservative_time_of_impact};
/// let x = [DVec3::Z, DVec3::new(-1.0, -1.0, 0.0), DVec3::new(2.0, 0.0, 0.0), DVec3::new(0.0, 2.0, 0.0)];
/// let fall = [-2.0 * DVec3::Z, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO];
/// let t = conservative_time_of_impact(FeaturePair::VertexFace, &x, &fall, 0.0, 1.0);
/// assert!(t > 0.4 && t < 0.5);
/// ```
pub fn conservative_time_of_impact(
    kind: FeaturePair,
    x: &[DVec3; 4],
    displacement: &[DVec3; 4],
    floor: f64,
    limit: f64,
) -> f64 {
    let mean = 0.25 * (displacement[0] + displacement[1] + displacement[2] + displacement[3]);
    let p = displacement.map(|p| p - mean);
    let (first, second): (&[usize], &[usize]) = match kind {
        FeaturePair::VertexFace => (&[0], &[1, 2, 3]),
        FeaturePair::EdgeEdge => (&[0, 1], &[2, 3]),
    };
    let longest = |side: &[usize]| side.iter().map(|&k| p[k].length_squared()).fold(0.0, f64::max).sqrt();
    let way = longest(first) + longest(second);
    if !(way > 0.0) {
        return limit;
    }
    let mut at = *x;
    let mut delta = nearest(kind, &at).offset;
    let mut distance = delta.length();
    if distance - floor > way * limit {
        return limit;
    }
    let goal = floor + KEEP * (distance - floor);
    let mut t = 0.0;
    for _ in 0..200 {
        if !(distance > floor) {
            return t;
        }
        let n = delta / distance;
        let mut free = f64::INFINITY;
        for &i in first {
            for &j in second {
                let closing = n.dot(p[j] - p[i]);
                if closing > 0.0 {
                    free = f64::min(free, (n.dot(at[i] - at[j]) - floor) / closing);
                }
            }
        }
        let step = (1.0 - KEEP) * free.max((distance - floor) / way);
        if t + step >= limit {
            return limit;
        }
        for k in 0..4 {
            at[k] = x[k] + (t + step) * p[k];
        }
        delta = nearest(kind, &at).offset;
        distance = delta.length();
        if t > 0.0 && distance < goal {
            return t;
        }
        t += step;
        if distance < goal {
            return t;
        }
    }
    t
}
