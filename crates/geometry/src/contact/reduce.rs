//! At most four of many contact points that carry nearly the same load: the deepest, the one farthest from it, and the
//! farthest on either side of the line through both.

use glam::DVec2;

/// A candidate: where in the window, how far apart, which features.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub(super) point: DVec2,
    pub(super) separation: f64,
    pub(super) id: [u16; 2],
}

/// Depths that differ by less than this fraction of the extent count as equal; then the name decides, not rounding.
pub(super) const EQUAL: f64 = 1e-8;

/// Numbers of at most four candidates and how many there are.
#[inline]
pub(super) fn reduce(candidates: &[Candidate]) -> ([usize; 4], usize) {
    if candidates.len() <= 4 {
        return ([0, 1, 2, 3], candidates.len());
    }
    let deepest = candidates.iter().map(|c| c.separation).fold(f64::INFINITY, f64::min);
    let extent =
        candidates.iter().map(|c| (c.point - candidates[0].point).abs().max_element()).fold(0.0, f64::max);
    let level = deepest + EQUAL * extent;
    let (mut first, mut least) = (0, None);
    for (i, candidate) in candidates.iter().enumerate() {
        if candidate.separation <= level && least.is_none_or(|id| candidate.id < id) {
            (first, least) = (i, Some(candidate.id));
        }
    }
    let from = candidates[first].point;
    let farthest = |value: &dyn Fn(DVec2) -> f64| {
        let mut best = (0.0, None);
        for (i, candidate) in candidates.iter().enumerate() {
            let next = value(candidate.point - from);
            if next > best.0 {
                best = (next, Some(i));
            }
        }
        best.1
    };
    let Some(second) = farthest(&|p| p.length_squared()) else { return ([first; 4], 1) };
    let along = candidates[second].point - from;
    let mut chosen = ([first, second, 0, 0], 2);
    for side in [1.0, -1.0] {
        if let Some(other) = farthest(&|p| side * along.perp_dot(p)) {
            chosen.0[chosen.1] = other;
            chosen.1 += 1;
        }
    }
    chosen
}
