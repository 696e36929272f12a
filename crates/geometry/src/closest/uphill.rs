//! The last digits of the distance of curved shapes.
//!
//! On a round surface corners lie close together until the simplex between them is all rounding. The direction
//! m = p/|p| is good by then, and is made better by itself: for any unit m, L(m) = m·w(m) is a lower bound of
//! the distance, w(m) being the farthest point of Ψ along −m, and |w(m)| an upper one. L's gradient across m
//! is g = w − L m, so m goes to m + s g, normalised, for as long as L grows; 1/s is the curvature
//! −Δg·Δm/|Δm|² seen in the last step (Barzilai–Borwein), at first the distance, as if Ψ were a point. Where
//! Ψ is smooth both bounds converge. Where it has a rim they do not, and the simplex result stands.

use glam::DVec3;

use super::pair::{Corner, Difference};

/// Directions tried, at most.
const MAX_STEPS: u32 = 24;

/// (Ψ, estimate of its nearest point, start vertex numbers) ⇒ a farthest point w and L, with |w| − L as
/// small as it gets; None if p is zero.
pub(super) fn uphill(pair: &impl Difference, p: DVec3, start: [u32; 2]) -> Option<(Corner, f64)> {
    let mut m = p.try_normalize()?;
    let mut corner = pair.farthest(-m, start);
    let mut reach = corner.w.dot(m);
    let mut step = 1.0 / corner.w.length();
    let mut best = (corner, reach);
    let gap = |(corner, reach): &(Corner, f64)| corner.w.length() - reach;
    for _ in 0..MAX_STEPS {
        let across = corner.w - reach * m;
        let next = (m + step * across).normalize_or_zero();
        let next_corner = pair.farthest(-next, corner.numbers);
        let next_reach = next_corner.w.dot(next);
        let next_across = next_corner.w - next_reach * next;
        if gap(&(next_corner, next_reach)) < gap(&best) {
            best = (next_corner, next_reach);
        }
        if next_reach > reach {
            let turned = next - m;
            let curvature = (across - next_across).dot(turned) / turned.length_squared();
            step = if curvature > 0.0 { 1.0 / curvature } else { 2.0 * step };
            (m, corner, reach) = (next, next_corner, next_reach);
        } else if next == m || !(next_reach > 0.0) {
            break;
        } else {
            step *= 0.25;
        }
    }
    Some(best)
}
