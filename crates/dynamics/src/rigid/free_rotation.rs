//! Torque-free rotation of a rigid body, exact to rounding.
//!
//! Without torque the angular momentum L is constant in the world; what moves is its image m = Rᵀ L in the
//! principal frame of the body, where ω = J m with J = diag(1/I₁, 1/I₂, 1/I₃). With u = m / |L|:
//!
//! - Euler's equations ṁ = m × J m read, component by component, ṁ₁ = (j₃ − j₂) m₂ m₃ and cyclic: products of two
//!   components, so the Taylor coefficients of m over the step follow from a short convolution.
//! - Both R(t) u(t) and R₀ u₀ equal L/|L|. With D the smallest rotation that takes u(t) to u₀, the attitude is
//!   R(t) = R₀ D Rot(u, ψ): only one angle is left. Comparing the components of ω along u gives
//!   ψ̇ = (κ + u₀·J m) / (1 + u₀·u), κ = 2T/|L| = |L| u·J u, a scalar quadrature, done on the same Taylor series.
//!
//! By construction R(t) maps u(t) back to L/|L|, so angular momentum and (through u) energy hold to rounding, whatever
//! the error of ψ.
//!
//! How far does the series reach? u(t) consists of Jacobi elliptic functions of ω_p t, whose poles lie K'/ω_p ≥ (π/2)/ω_p
//! away from the real axis, so the k-th term falls like ρᵏ with ρ = h ω_p / (π/2). With j_a ≥ j_b ≥ j_c the inverse
//! moments in order and e = 2T/|L|² = u·J u: ω_p² = |L|² (j_b − j_c)(j_a − e) if e < j_b, else |L|² (j_a − j_b)(e − j_c).
//! The order of the series follows h ω_p, and a longer flight is cut into equal parts. A body that turns about a principal axis, as a
//! wheel or a falling domino does, may have ω_p > 0 and yet turn steadily: if ṁ is zero to begin with, it stays so. Exactly
//! zero: what is nearly so may be about to tumble.
//!
//! The formulas are written once, over [`Lane`]: for one body or for four; both give the same bits.

use super::lane::{Lane, cross, dot, into_body, product};
use glam::{DQuat, DVec3};

/// Largest h ω_p of the series of order 0, 6, 10 and 16, so that the first term left out is below 1e-15.
const STEADY_REACH: f64 = 1e-16;
const GENTLE_REACH: f64 = 0.011;
const BRISK_REACH: f64 = 0.066;
const WILD_REACH: f64 = 0.19;
/// Largest rotation, in rad, of one series: keeps the polynomials for sine and cosine short.
const ANGLE_REACH: f64 = 1.0;
/// Parts a flight is cut into at most; a body that turns faster than this is no longer a rigid body.
const MOST_PARTS: f64 = 1e6;

/// A free body in its principal frame: attitude, angular momentum m, inverse moments j. Or several of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spin<T> {
    /// Principal frame → world, as x, y, z, w.
    pub q: [T; 4],
    /// Angular momentum in the principal frame.
    pub m: [T; 3],
    /// Inverse principal moments.
    pub j: [T; 3],
}

/// (sin x, cos x) for |x| ≤ ½, by their series.
#[inline(always)]
fn sine_cosine<T: Lane>(x: T) -> (T, T) {
    let z = x * x;
    let horner = |coefficients: [f64; 7]| {
        let mut sum = T::splat(coefficients[0]);
        for c in &coefficients[1..] {
            sum = sum * z + T::splat(*c);
        }
        sum
    };
    let sine = horner([
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
        1.0,
    ]);
    let cosine =
        horner([1.0 / 479_001_600.0, -1.0 / 3_628_800.0, 1.0 / 40320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0]);
    (x * sine, cosine)
}

/// The Taylor series of one flight over s ∈ [0, 1]: m(s), and c(s) = A(s) / B(s) of ψ' = |L|h c(s), with A = m₀·J(m₀ + m)
/// and B = |L|² + m₀·m.
struct Series<T, const M: usize> {
    m: [[T; 3]; M],
    b: [T; M],
    c: [T; M],
    /// h (j₃ − j₂) and cyclic.
    rate: [T; 3],
    jm0: [T; 3],
    b0_inverse: T,
    /// Sums of the coefficients so far: m(1), and the mean of c.
    end: [T; 3],
    mean: T,
}

impl<T: Lane, const M: usize> Series<T, M> {
    #[inline(always)]
    fn new(m0: [T; 3], j: [T; 3], h: T, b0_inverse: T) -> Self {
        let zero = T::splat(0.0);
        let jm0 = [j[0] * m0[0], j[1] * m0[1], j[2] * m0[2]];
        let c0 = T::splat(2.0) * dot(jm0, m0) * b0_inverse;
        let mut series = Self {
            m: [[zero; 3]; M],
            b: [zero; M],
            c: [zero; M],
            rate: [(j[2] - j[1]) * h, (j[0] - j[2]) * h, (j[1] - j[0]) * h],
            jm0,
            b0_inverse,
            end: m0,
            mean: c0,
        };
        series.m[0] = m0;
        series.c[0] = c0;
        series
    }

    /// Coefficient K + 1 from those before. K is a constant so that every index is one.
    #[inline(always)]
    fn extend<const K: usize>(&mut self) {
        if K + 1 >= M {
            return;
        }
        let zero = T::splat(0.0);
        let mut next = [zero; 3];
        for i in 0..=K {
            let (p, r) = (self.m[i], self.m[K - i]);
            next[0] = next[0] + p[1] * r[2];
            next[1] = next[1] + p[2] * r[0];
            next[2] = next[2] + p[0] * r[1];
        }
        let share = T::splat(1.0 / (K + 1) as f64);
        for axis in 0..3 {
            next[axis] = next[axis] * self.rate[axis] * share;
            self.end[axis] = self.end[axis] + next[axis];
        }
        self.m[K + 1] = next;
        self.b[K + 1] = dot(self.m[0], next);
        let mut remainder = dot(self.jm0, next);
        for i in 1..=K + 1 {
            remainder = remainder - self.b[i] * self.c[K + 1 - i];
        }
        self.c[K + 1] = remainder * self.b0_inverse;
        self.mean = self.mean + self.c[K + 1] * T::splat(1.0 / (K + 2) as f64);
    }
}

/// One series of M coefficients: attitude and m after the time h.
///
/// Nothing here multiplies m by a rounded constant that would be the same in every step: errors that always point the
/// same way would add up.
#[inline(always)]
pub(super) fn advance<T: Lane, const M: usize>(spin: &Spin<T>, h: T) -> Spin<T> {
    let Spin { q, m: m0, j } = *spin;
    let (half, one) = (T::splat(0.5), T::splat(1.0));
    // A body at rest has m = 0 and comes out unturned.
    let square = dot(m0, m0);
    let inverse_square = one / square.larger(T::splat(1e-300));
    let mut series = Series::<T, M>::new(m0, j, h, half * inverse_square);
    macro_rules! extend {
        ($($k:literal)*) => { $( series.extend::<$k>(); )* };
    }
    extend!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    // Back to the length of m₀, which rounding has changed by a few bits: one Newton step.
    let end = series.end;
    let stretch = half * (square - dot(end, end)) * inverse_square;
    let end = [end[0] + stretch * end[0], end[1] + stretch * end[1], end[2] + stretch * end[2]];

    // D = (1 + u·u₀, u × u₀), and Rot(u, ψ) with ψ = |L|h mean(c); only their directions matter, q is normalised.
    let w = cross(end, m0);
    let d = [
        w[0] * inverse_square,
        w[1] * inverse_square,
        w[2] * inverse_square,
        one + dot(end, m0) * inverse_square,
    ];
    let length = square.root();
    let (sine, cosine) = sine_cosine(half * h * length * series.mean);
    let along = sine / length.larger(T::splat(1e-150));
    let about = [along * end[0], along * end[1], along * end[2], cosine];
    let r = product(product(q, d), about);
    let norm = one / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]).root();
    Spin { q: [r[0] * norm, r[1] * norm, r[2] * norm, r[3] * norm], m: end, j }
}

/// How one body's flight is cut: the order of the series, and the number of equal parts if one does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Order 0: m does not move, as in a ball, a cube or a body at rest.
    Steady,
    /// Order 6.
    Gentle,
    /// Order 10.
    Brisk,
    /// Order 16, so many times.
    Wild {
        /// Equal parts of the flight.
        parts: u32,
    },
}

/// What decides about the cut of a flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Briskness<T> {
    /// (h ω_p)².
    pub reach: T,
    /// (h |ω|)².
    pub angle: T,
    /// (h |ṁ|)².
    pub drift: T,
}

#[inline(always)]
pub(super) fn briskness<T: Lane>(spin: &Spin<T>, h: T) -> Briskness<T> {
    let Spin { m, j, .. } = *spin;
    let length_squared = dot(m, m);
    let omega = [j[0] * m[0], j[1] * m[1], j[2] * m[2]];
    let twice_energy = dot(omega, m);
    let j_a = j[0].larger(j[1]).larger(j[2]);
    let j_c = -((-j[0]).larger(-j[1]).larger(-j[2]));
    let j_b = j[0] + j[1] + j[2] - j_a - j_c;
    // |L|² e = 2T. Of the two expressions the one that applies is the larger.
    let slow = (j_b - j_c) * (j_a * length_squared - twice_energy);
    let fast = (j_a - j_b) * (twice_energy - j_c * length_squared);
    // ṁ, without the roundings that m × ω has where two products cancel.
    let change = [(j[2] - j[1]) * m[1] * m[2], (j[0] - j[2]) * m[2] * m[0], (j[1] - j[0]) * m[0] * m[1]];
    Briskness {
        reach: h * h * slow.larger(fast),
        angle: h * h * dot(omega, omega),
        drift: h * h * dot(change, change),
    }
}

/// What [`briskness`] found ⇒ the cut.
#[inline(always)]
pub(super) fn cut(Briskness { reach, angle, drift }: Briskness<f64>) -> Cut {
    let within = |limit: f64| reach <= limit * limit && angle <= ANGLE_REACH * ANGLE_REACH;
    if within(STEADY_REACH) || drift == 0.0 && within(WILD_REACH) {
        Cut::Steady
    } else if within(GENTLE_REACH) {
        Cut::Gentle
    } else if within(BRISK_REACH) {
        Cut::Brisk
    } else {
        // Also the way out for a non-finite state: one part, and the result is found non-finite by the caller.
        let parts = (reach.sqrt() / WILD_REACH).max(angle.sqrt() / ANGLE_REACH).ceil();
        Cut::Wild { parts: if parts.is_finite() { parts.clamp(1.0, MOST_PARTS) as u32 } else { 1 } }
    }
}

/// One body over the time h, cut as needed.
#[inline(always)]
pub(super) fn advance_one(mut spin: Spin<f64>, h: f64) -> Spin<f64> {
    match cut(briskness(&spin, h)) {
        Cut::Steady => advance::<f64, 1>(&spin, h),
        Cut::Gentle => advance::<f64, 7>(&spin, h),
        Cut::Brisk => advance::<f64, 11>(&spin, h),
        Cut::Wild { parts } => {
            let part = h / f64::from(parts);
            for _ in 0..parts {
                spin = advance::<f64, 17>(&spin, part);
            }
            spin
        }
    }
}

/// (attitude, world angular momentum, inverse principal moments) ⇒ the longest time that [`rotate_freely`] covers in one
/// piece; infinite for whoever turns steadily.
pub(crate) fn longest_piece(q: DQuat, l: DVec3, j: DVec3) -> f64 {
    let q = q.to_array();
    let spin = Spin { q, m: into_body(q, l.to_array()), j: j.to_array() };
    let Briskness { reach, angle, .. } = briskness(&spin, 1.0);
    let piece = (WILD_REACH / reach.max(0.0).sqrt()).min(ANGLE_REACH / angle.sqrt());
    if piece > 0.0 { piece } else { f64::INFINITY }
}

/// (attitude, world angular momentum, inverse principal moments, time) ⇒ attitude after that time, without torque.
///
/// `h` may be negative: the motion is reversible.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use rattleback_dynamics::rigid::rotate_freely;
/// // A sphere turns about its angular momentum at |L| / I.
/// let q = rotate_freely(DQuat::IDENTITY, DVec3::Z * 6.0, DVec3::splat(0.5), 0.1);
/// assert!(q.angle_between(DQuat::from_rotation_z(0.3)) < 1e-7);
/// ```
pub fn rotate_freely(q: DQuat, l: DVec3, j: DVec3, h: f64) -> DQuat {
    let q = q.to_array();
    let spin = Spin { q, m: into_body(q, l.to_array()), j: j.to_array() };
    DQuat::from_array(advance_one(spin, h).q)
}
