//! Contact recycling: a cached manifold moves with its bodies while they move little.
//!
//! Computed at a pose X₀ of B in A a manifold has a normal n, points a_i of A and b_i of B (in B's frame) and
//! separations s_i = n·(X₀ b_i − a_i). At a later pose X let n_B be n in B's frame at X₀, c = |X n_B − n| the
//! tilt since then (2 sin of half the angle), and X b_i − a_i = s_i n + τ_i with τ_i across n, less what was
//! across it at X₀: the slip. n, a_i, b_i are cached; then the separation n·(X b_i − a_i) of what a point was
//! made of is
//!
//! - exact if a face of A made n: n and A's plane have not moved, and b_i is where it is;
//! - off by (X n_B − n)·(s_i n + τ_i) if a face of B did, at most c|τ_i| + ½c²|s_i|, as (X n_B − n)·n = −½c²;
//! - off by at most the same with κc, κ = 1.1/sin γ, for c if two edges at an angle γ did: the new n stays
//!   across A's edge, and n·e_B' = (n − X n_B)·e_B' ≤ c is all it can lean against B's, so that its turn ψ
//!   has sin ψ ≤ c/sin γ (the 0.1 is for 2 sin ½ψ ≤ 1.1 sin ψ);
//! - off by another |τ_i| min(1, |τ_i|/2D), D = |s_i| + radii, if corners or curved surfaces did: the line
//!   between two points D apart turns by |τ_i|/D and grows to √(D² + τ²).
//!
//! All of it is of second order in the motion, except where D vanishes. This bounds the error of the cached
//! points while their features are the ones that touch. A corner that is not among the four cached ones, or
//! another axis, may become the deepest meanwhile; the depth is then off by at most twice the farthest motion
//! of a point of B, because the depth and every cached separation change by no more than that motion.

use glam::DVec3;

use super::axis::Features;
use super::collide::collide_placed;
use super::manifold::MAX_POINTS;
use super::{Manifold, Piece, PieceCache};
use crate::Pose;
use crate::closest::{ClosestError, Support};
use crate::frame::Frame;

/// How much a pair may move before its contact is computed anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recycling {
    /// Largest tilt of the normal between the two frames, radians.
    pub tilt: f64,
    /// Largest motion of a point across the normal, metres.
    pub slip: f64,
    /// Largest error of a cached point's separation, metres.
    pub tolerance: f64,
}

impl Recycling {
    /// Computed anew whenever the pose is another.
    pub const EXACT: Self = Self { tilt: 0.0, slip: 0.0, tolerance: 0.0 };
    /// One degree, one millimetre, one millimetre: for bodies of about a metre in a real-time simulation.
    pub const REAL_TIME: Self = Self { tilt: 0.017_453, slip: 1e-3, tolerance: 1e-3 };
}

impl Default for Recycling {
    fn default() -> Self {
        Self::EXACT
    }
}

/// A point of B and the point of A's side below it, when it was computed.
#[derive(Clone, Copy, Debug, Default)]
struct Anchor {
    /// In B's frame.
    local_b: DVec3,
    /// Point of B then, less its separation along the normal.
    foot: DVec3,
}

/// Origin of the normal, see the derivation.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    /// κ.
    spread: f64,
    /// Whether corners or curved surfaces made it.
    pivots: bool,
    /// Sum of the radii by which the cores are thickened.
    radii: f64,
}

/// Contact of one pair of pieces, recycled from step to step. It belongs to its pair: use a separate one for
/// another pair, or `clear` it.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::contact::{CachedContact, Piece, Recycling};
/// use rattleback_geometry::{Pose, Shape};
/// let cube = Shape::cuboid(DVec3::ONE)?;
/// let piece = Piece::try_from(&cube)?;
/// let mut contact = CachedContact::default();
/// for height in [1.999, 1.9985, 1.9982] {
///     let pose = Pose::at(DVec3::new(0.3, 0.0, height));
///     let manifold = contact.update(&piece, &piece, &pose, 0.01, &Recycling::REAL_TIME)?.unwrap();
///     assert!(manifold.points().iter().all(|point| (point.separation - (height - 2.0)).abs() < 1e-12));
/// }
/// assert_eq!((contact.computed(), contact.recycled()), (1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CachedContact {
    cache: PieceCache,
    manifold: Option<Manifold>,
    /// Of B in A, where the manifold's points are.
    pose: Pose,
    margin: f64,
    /// Whether it was computed there.
    exact: bool,
    /// The normal in B's frame when it was computed.
    normal_b: DVec3,
    made: Made,
    anchors: [Anchor; MAX_POINTS],
    computed: u64,
    recycled: u64,
}

impl CachedContact {
    /// (the pair's pieces, B in A's frame, margin, how much may be recycled) ⇒ manifold of the points nearer
    /// than the margin; None if there are none.
    #[inline]
    pub fn update(
        &mut self,
        a: &Piece<'_>,
        b: &Piece<'_>,
        b_in_a: &Pose,
        margin: f64,
        recycling: &Recycling,
    ) -> Result<Option<&Manifold>, ClosestError> {
        let frame = Frame::new(b_in_a)?;
        let same = self.computed > 0 && margin == self.margin;
        if same && ((self.exact && *b_in_a == self.pose) || self.recycle(&frame, recycling)) {
            self.pose = *b_in_a;
            self.recycled += 1;
        } else {
            self.compute(a, b, b_in_a, &frame, margin)?;
        }
        Ok(self.manifold.as_ref())
    }

    /// Resets the cache; needed when one of the shapes has changed.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Number of updates that computed the contact.
    pub fn computed(&self) -> u64 {
        self.computed
    }

    /// Number of updates that recycled it.
    pub fn recycled(&self) -> u64 {
        self.recycled
    }

    /// Moves the points of B; false, with the points invalid, if the motion exceeds a limit.
    #[inline]
    fn recycle(&mut self, frame: &Frame, recycling: &Recycling) -> bool {
        let Some(manifold) = &mut self.manifold else { return false };
        let n = manifold.normal;
        let tilt_squared = (frame.vector(self.normal_b) - n).length_squared();
        if !(recycling.tilt > 0.0 && tilt_squared <= recycling.tilt * recycling.tilt) {
            return false;
        }
        self.exact = false;
        let (mut slip_squared, mut farthest, mut nearest) = (0.0f64, 0.0f64, f64::INFINITY);
        for (point, anchor) in manifold.points_mut().iter_mut().zip(&self.anchors) {
            let point_b = frame.point(anchor.local_b);
            let from_foot = point_b - anchor.foot;
            let separation = from_foot.dot(n);
            slip_squared = slip_squared.max((from_foot - separation * n).length_squared());
            // A point that begins or ends to touch may bring others with it.
            if !(separation <= self.margin && (separation < 0.0) == (point.separation < 0.0)) {
                return false;
            }
            (farthest, nearest) = (farthest.max(separation.abs()), nearest.min(separation.abs()));
            (point.point_b, point.separation) = (point_b, separation);
        }
        if !(slip_squared <= recycling.slip * recycling.slip) {
            return false;
        }
        let made = &self.made;
        let (turn, slip) = (made.spread * tilt_squared.sqrt(), slip_squared.sqrt());
        let mut error = turn * slip + 0.5 * turn * turn * (farthest + made.radii);
        if made.pivots {
            error += slip * (0.5 * slip / (nearest + made.radii)).min(1.0);
        }
        error <= recycling.tolerance
    }

    /// Computes and caches the contact.
    #[inline(never)]
    fn compute(
        &mut self,
        a: &Piece<'_>,
        b: &Piece<'_>,
        b_in_a: &Pose,
        frame: &Frame,
        margin: f64,
    ) -> Result<(), ClosestError> {
        self.manifold = None;
        self.manifold = collide_placed(a, b, b_in_a, frame, margin, &mut self.cache)?;
        (self.pose, self.margin, self.exact) = (*b_in_a, margin, true);
        self.computed += 1;
        let Some(manifold) = &self.manifold else { return Ok(()) };
        self.normal_b = frame.vector_in_b(manifold.normal);
        for (anchor, point) in self.anchors.iter_mut().zip(manifold.points()) {
            anchor.local_b = frame.point_in_b(point.point_b);
            anchor.foot = point.point_b - point.separation * manifold.normal;
        }
        let of_face = matches!(a, Piece::HalfSpace(_)) || matches!(b, Piece::HalfSpace(_));
        self.made = Made {
            spread: self.cache.spread.max(1.0),
            pivots: !of_face && self.cache.features == Features::None,
            radii: radius(a) + radius(b),
        };
        Ok(())
    }
}

fn radius(piece: &Piece<'_>) -> f64 {
    match piece {
        Piece::Bounded(shape) => Support::radius(shape),
        _ => 0.0,
    }
}
