//! Distance of convex shapes by the algorithm of Gilbert, Johnson and Keerthi.
//!
//! Ψ = A − B (see `pair`). Given corners of Ψ, let p be the point of their hull nearest to the origin and w
//! the point of Ψ farthest along −p. All of Ψ lies beyond the plane through w across p, so
//!
//! p·w/|p| ≤ distance ≤ |p|,  and the search ends when the gap |p|² − p·w is no more than rounding allows:
//! ε_r |p|² from the requested accuracy, or a few ulps of |p| · (size of the coordinates) from w's own
//! rounding.
//!
//! Otherwise w joins the corners, those not needed for the new p leave, and |p| has become smaller; where it
//! has not, rounding dominates and the old p is the result. After Gilbert, Johnson, Keerthi, "A fast
//! procedure for computing the distance between complex objects in three-dimensional space", 1988.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::pair::{Corner, Difference, Pair};
use super::polytope::PolytopeCache;
use super::simplex::{Nearest, nearest, nearest_with, weights};
use super::uphill::uphill;
use super::{ClosestError, Separation, Support};
use crate::{MAX_LENGTH, Pose};

/// Most corners ever added in one search.
pub(super) const MAX_ITERATIONS: u32 = 128;
/// ε_r: relative gap at which a search is done.
pub(super) const RELATIVE_GAP: f64 = 1e-15;
/// Rounding of w in units of the coordinates' size: a − (R b + t) takes some ten roundings.
pub(super) const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Corners added for the direction only, at most.
const MAX_STRAIGHTENINGS: u32 = 40;
/// Searches begun anew, at most.
const MAX_BEGINNINGS: u32 = 4;
/// How much |p|² may grow meanwhile, relatively: some roundings.
const STILL_AS_SHORT: f64 = 16.0 * f64::EPSILON;

/// Warm start of the next search on the same pair: it begins where the last one ended, and takes one or two
/// iterations while the shapes move little. Any cache is safe with any pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GjkCache {
    /// Direction of the last nearest point of Ψ.
    pub(super) axis: DVec3,
    /// Numbers of the corners of the last simplex.
    pub(super) numbers: [[u32; 2]; 4],
    pub(super) count: u32,
    /// Final polytope of the last search of overlapping polyhedra.
    pub(super) polytope: PolytopeCache,
    /// Corners the last search added.
    pub iterations: u32,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Gjk {
    /// The cores do not touch; the shapes themselves may overlap by less than their radii.
    Apart(Separation),
    /// The cores overlap or touch.
    Overlapping,
}

/// A search in progress, and its result. Corners keep their indices; the nearest point refers to those it
/// needs.
pub(super) struct Search {
    corners: [Corner; 4],
    points: [DVec3; 4],
    pub(super) nearest: Nearest,
    /// Place of the corner that came last.
    last: usize,
    /// p·w of the last w: divided by |p| a lower bound of the distance.
    reach: f64,
    /// Square of the largest length of a point that has taken part.
    size_squared: f64,
    pub(super) overlapping: bool,
}

/// (A, B, B in A's frame, cache) ⇒ nearest points, unless the cores overlap. Distances are good to some ulps
/// of the coordinates for polyhedra, and to 1e-9 of themselves for curved shapes.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::closest::{Gjk, GjkCache, gjk};
/// use rattleback_geometry::{Cuboid, Pose, Sphere};
/// let (cube, sphere) = (Cuboid::new(DVec3::ONE)?, Sphere::new(0.5)?);
/// let mut cache = GjkCache::default();
/// let Gjk::Apart(answer) = gjk(&cube, &sphere, &Pose::at(DVec3::new(3.0, 0.2, 0.0)), &mut cache)? else { panic!() };
/// assert!((answer.distance - 1.5).abs() < 1e-15 && answer.normal.abs_diff_eq(DVec3::X, 1e-15));
/// assert!(answer.point_a.abs_diff_eq(DVec3::new(1.0, 0.2, 0.0), 1e-15));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gjk<A: Support, B: Support>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    cache: &mut GjkCache,
) -> Result<Gjk, ClosestError> {
    let pair = Pair::new(a, b, b_in_a)?;
    let mut search = Search::NEW;
    search.run(&pair, cache, MAX_ITERATIONS)?;
    Ok(match search.separation(a.radius(), b.radius()) {
        Some(separation) => Gjk::Apart(separation),
        None => Gjk::Overlapping,
    })
}

impl Search {
    /// Before the first corner.
    pub(super) const NEW: Self = Self {
        corners: [Corner::ZERO; 4],
        points: [DVec3::ZERO; 4],
        nearest: Nearest { point: DVec3::ZERO, squared: 0.0, needed: 0, count: 0 },
        last: 0,
        reach: 0.0,
        size_squared: 0.0,
        overlapping: false,
    };

    /// Searches until done or `max_iterations` corners have been added.
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        pair: &impl Difference,
        cache: &mut GjkCache,
        max_iterations: u32,
    ) -> Result<(), ClosestError> {
        self.start(pair, cache);
        cache.iterations = self.go_on(pair, max_iterations)?;
        cache.axis = self.nearest.point;
        cache.count = self.nearest.count;
        let mut places = self.nearest.needed;
        for number in &mut cache.numbers {
            *number = self.corners[places.trailing_zeros() as usize & 3].numbers;
            places &= places.wrapping_sub(1);
        }
        Ok(())
    }

    /// A search without a warm start or a cache.
    #[inline(always)]
    pub(super) fn run_once(&mut self, pair: &impl Difference) -> Result<(), ClosestError> {
        self.put(0, pair.farthest(pair.toward_b(), [0; 2]));
        self.accept(&nearest(&self.points, 1));
        self.go_on(pair, MAX_ITERATIONS).map(|_| ())
    }

    /// Adds corners until done ⇒ how many.
    #[inline(always)]
    fn go_on(&mut self, pair: &impl Difference, max_iterations: u32) -> Result<u32, ClosestError> {
        let mut iterations = 0;
        while !self.overlapping && iterations < max_iterations && self.step(pair) {
            iterations += 1;
        }
        let sizes = self.size_squared <= 16.0 * MAX_LENGTH * MAX_LENGTH;
        if !(sizes && self.nearest.squared.is_finite()) || self.reach.is_nan() {
            return Err(ClosestError::InvalidPoint);
        }
        if !self.overlapping && pair.is_curved() && !self.certified() {
            self.straighten(pair);
            if !self.certified() {
                self.climb(pair);
            }
            if !self.certified() {
                self.begin_anew(pair);
            }
        }
        Ok(iterations)
    }

    /// Makes p's direction better when its length is as good as rounding lets it be. A corner ℓ aside
    /// shortens |p|² by gap²/ℓ² only, so a search that minimises |p| stops with gaps of √ε ℓ. The lower bound
    /// still grows there.
    #[cold]
    fn straighten(&mut self, pair: &impl Difference) {
        let longest = self.nearest.squared * (1.0 + STILL_AS_SHORT);
        let mut tried = Self { ..*self };
        for _ in 0..MAX_STRAIGHTENINGS {
            let corner = pair.farthest(-tried.nearest.point, tried.corners[tried.last & 3].numbers);
            tried.grow_to(&corner);
            tried.reach = tried.nearest.point.dot(corner.w);
            if tried.lower_bound() > self.lower_bound() {
                *self = Self { ..tried };
                if self.certified() {
                    return;
                }
            }
            if tried.nearest.count == 4 || tried.needed().any(|known| known.w == corner.w) {
                return;
            }
            let place = tried.nearest.needed.trailing_ones() as usize & 3;
            tried.corners[place] = corner;
            tried.points[place] = corner.w;
            tried.last = place;
            let nearest = nearest_with(&tried.points, &tried.nearest, place);
            if !(nearest.squared > 0.0 && nearest.squared <= longest) {
                return;
            }
            tried.nearest = nearest;
        }
    }

    /// Corners that the way here has left behind may be all that is in the way: from the direction reached,
    /// once more without them, and the better one of both searches counts.
    #[cold]
    fn begin_anew(&mut self, pair: &impl Difference) {
        for _ in 0..MAX_BEGINNINGS {
            let mut other = Self::NEW;
            other.put(0, pair.farthest(-self.nearest.point, self.corners[self.last & 3].numbers));
            other.accept(&nearest(&other.points, 1));
            for _ in 0..MAX_ITERATIONS {
                if other.overlapping || !other.step(pair) {
                    break;
                }
            }
            if other.overlapping || !other.nearest.squared.is_finite() || other.reach.is_nan() {
                return;
            }
            other.straighten(pair);
            let better = other.slack() < self.slack();
            if better {
                *self = other;
            }
            if !better || self.certified() {
                return;
            }
        }
    }

    /// How far the bounds are apart.
    fn slack(&self) -> f64 {
        self.nearest.squared.sqrt() - self.lower_bound()
    }

    /// Takes a single farthest point for the nearest one if it is no farther and has the better bounds.
    #[cold]
    fn climb(&mut self, pair: &impl Difference) {
        let length = self.nearest.squared.sqrt();
        let gap = length - self.lower_bound();
        if let Some((corner, reach)) = uphill(pair, self.nearest.point, self.corners[self.last & 3].numbers)
            && corner.w.length() <= length * (1.0 + RELATIVE_GAP)
            && corner.w.length() - reach < gap
        {
            self.put(0, corner);
            self.last = 0;
            self.nearest = nearest(&self.points, 1);
            self.reach = reach * corner.w.length();
        }
    }

    #[inline(always)]
    fn start(&mut self, pair: &impl Difference, cache: &GjkCache) {
        let mut count = 0;
        for numbers in cache.numbers.iter().take(cache.count as usize) {
            if let Some(corner) = pair.corner(*numbers) {
                self.put(count, corner);
                count += 1;
            }
        }
        if count == 0 {
            let last = if cache.axis == DVec3::ZERO { pair.toward_b() } else { -cache.axis };
            let direction = if last == DVec3::ZERO { DVec3::X } else { last };
            self.put(0, pair.farthest(direction, cache.numbers[0]));
        }
        self.accept(&nearest(&self.points, count));
    }

    /// Adds the farthest corner along −p; false if the search is done, or a coordinate is not finite.
    #[inline(always)]
    fn step(&mut self, pair: &impl Difference) -> bool {
        let p = self.nearest.point;
        let corner = pair.farthest(-p, self.corners[self.last & 3].numbers);
        let (squared, reach) = (self.nearest.squared, p.dot(corner.w));
        let gap = squared - reach;
        self.grow_to(&corner);
        self.reach = reach;
        if gap <= RELATIVE_GAP * squared || gap * gap <= ROUNDING * ROUNDING * self.size_squared * squared {
            return false;
        }
        // A corner that is there already has no gap but for rounding.
        if gap <= 1e-6 * squared && self.needed().any(|known| known.w == corner.w) {
            return false;
        }
        // Four are needed only when the origin is inside, which ends the search: there is a place.
        let place = self.nearest.needed.trailing_ones() as usize & 3;
        self.corners[place] = corner;
        self.points[place] = corner.w;
        let nearest = nearest_with(&self.points, &self.nearest, place);
        if !(nearest.squared < squared) {
            return false;
        }
        self.last = place;
        self.accept(&nearest);
        true
    }

    #[inline(always)]
    fn put(&mut self, place: usize, corner: Corner) {
        self.corners[place & 3] = corner;
        self.points[place & 3] = corner.w;
        self.grow_to(&corner);
    }

    #[inline(always)]
    fn grow_to(&mut self, corner: &Corner) {
        let (a, b) = (corner.a.length_squared(), corner.b.length_squared());
        let larger = if a > b { a } else { b };
        self.size_squared = if larger > self.size_squared { larger } else { self.size_squared };
    }

    /// Size of the coordinates that have taken part.
    #[inline]
    pub(super) fn size(&self) -> f64 {
        self.size_squared.sqrt()
    }

    #[inline(always)]
    fn accept(&mut self, nearest: &Nearest) {
        self.nearest = *nearest;
        // The new p has no bounds yet.
        self.reach = 0.0;
        self.overlapping = nearest.squared <= ROUNDING * ROUNDING * self.size_squared;
    }

    /// The corners the nearest point is a mixture of.
    #[inline]
    pub(super) fn needed(&self) -> impl Iterator<Item = &Corner> {
        self.corners.iter().enumerate().filter(|(i, _)| self.nearest.needed >> i & 1 != 0).map(|(_, c)| c)
    }

    /// The corners, if all four are needed.
    pub(super) fn tetrahedron(&self) -> Option<[Corner; 4]> {
        (self.nearest.count == 4).then_some(self.corners)
    }

    /// The mixture of corners that the nearest point is, on A and on B.
    #[inline]
    pub(super) fn witnesses(&self) -> (DVec3, DVec3) {
        let mut points = (DVec3::ZERO, DVec3::ZERO);
        for (corner, weight) in self.corners.iter().zip(weights(&self.points, &self.nearest)) {
            points.0 += weight * corner.a;
            points.1 += weight * corner.b;
        }
        points
    }

    /// The distance is at least this.
    #[inline]
    pub(super) fn lower_bound(&self) -> f64 {
        let length = self.nearest.squared.sqrt();
        if length > 0.0 { (self.reach / length).max(0.0) } else { 0.0 }
    }

    /// Whether the bounds agree as closely as rounding allows.
    #[inline]
    pub(super) fn certified(&self) -> bool {
        let length = self.nearest.squared.sqrt();
        length - self.lower_bound() <= 4.0 * (RELATIVE_GAP * length + ROUNDING * self.size())
    }

    /// Nearest points of the thickened shapes; None if the cores overlap.
    #[inline]
    pub(super) fn separation(&self, radius_a: f64, radius_b: f64) -> Option<Separation> {
        if self.overlapping {
            return None;
        }
        let length = self.nearest.squared.sqrt();
        let normal = -self.nearest.point / length;
        let (a, b) = self.witnesses();
        Some(Separation {
            distance: length - radius_a - radius_b,
            normal,
            point_a: a + radius_a * normal,
            point_b: b - radius_b * normal,
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::Cuboid;

    /// GJK-1: lower bound ≤ distance ≤ |p| after every iteration.
    #[test]
    fn closest_bounds_hold_at_every_iteration() {
        let (a, b) = (Cuboid::new(DVec3::new(1.0, 2.0, 0.5)), Cuboid::new(DVec3::new(0.3, 0.1, 1.0)));
        let (Ok(a), Ok(b)) = (a, b) else { panic!("sizes are fine") };
        for i in 0..200 {
            let t = f64::from(i);
            let turn = DQuat::from_scaled_axis(DVec3::new(t, 0.7 * t, 0.3 * t * t));
            let pose = Pose::new(turn, DVec3::new((1.3 * t).sin(), (2.1 * t).cos(), 1.0).normalize() * 4.0);
            let pair = Pair::new(&a, &b, &pose).unwrap();
            let run = |most: u32| {
                let mut search = Search::NEW;
                search.run(&pair, &mut GjkCache::default(), most).unwrap();
                search
            };
            let distance = run(MAX_ITERATIONS).nearest.squared.sqrt();
            for most in 0..12 {
                let search = run(most);
                assert!(search.nearest.squared.sqrt() >= distance - 1e-14);
                // The bound belongs to the step that is about to be taken.
                let w = pair.farthest(-search.nearest.point, [0; 2]).w;
                assert!(w.dot(search.nearest.point.normalize()) <= distance + 1e-14);
                assert!(search.lower_bound() <= distance + 1e-14);
            }
        }
    }
}
