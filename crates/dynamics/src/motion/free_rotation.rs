//! Torque-free rotation of a rigid body, exact to rounding.
//!
//! Without torque the angular momentum L is constant in the world; what moves is its image m = Rᵀ L in the
//! principal frame of the body, where ω = J m with J = diag(1/I₁, 1/I₂, 1/I₃). With u = m / |L|:
//!
//! - Euler's equations u̇ = |L| u × J u read, component by component, u̇₁ = |L| (j₃ − j₂) u₂ u₃ and cyclic: products
//!   of two components, so the Taylor coefficients of u over the step follow from a short convolution.
//! - Both R(t) u(t) and R₀ u₀ equal L/|L|. With D the smallest rotation that takes u(t) to u₀, the attitude is
//!   R(t) = R₀ D Rot(u, ψ): only one angle is left. Comparing the components of ω along u gives
//!   ψ̇ = (κ + u₀·J m) / (1 + u₀·u), κ = 2T/|L| = |L| u·J u, a scalar quadrature, done on the same Taylor series.
//!
//! By construction R(t) maps u(t) back to L/|L|, so angular momentum and (through u) energy hold to rounding, whatever
//! the error of ψ. The series converges like (η/1.5)ᵏ with η = h |L| (j_max − j_min): η never exceeds
//! [`SERIES_REACH`], a longer flight is cut into equal parts.
//!
//! The formulas are written once, over [`Lane`]: f64 for one body, `f64x4` for four; both give the same bits.

use glam::{DQuat, DVec3};
use wide::f64x4;

/// Order of the series for gentle steps, and how far it may reach.
const SHORT: usize = 10;
const SHORT_REACH: f64 = 0.06;
/// Order of the series for everything else.
const LONG: usize = 16;
/// Largest η of one series.
pub const SERIES_REACH: f64 = 0.15;
/// Largest rotation, in rad, of one series: keeps the polynomials for sine and cosine short.
const ANGLE_REACH: f64 = 1.0;
/// Parts a flight is cut into at most; a body that turns faster than this is no longer a rigid body.
const MOST_PARTS: f64 = 1e6;

/// One number, or one number for each of several bodies.
pub trait Lane:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// The same number everywhere.
    fn splat(value: f64) -> Self;
    /// Square root, correctly rounded.
    fn root(self) -> Self;
    /// The larger of the two.
    fn larger(self, other: Self) -> Self;
}

impl Lane for f64 {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

impl Lane for f64x4 {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self::splat(value)
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.fast_max(other)
    }
}

/// Attitude (x, y, z, w) and world angular momentum of a body, or of several.
#[derive(Clone, Copy)]
pub struct Spin<T> {
    /// Principal frame → world, as x, y, z, w.
    pub q: [T; 4],
    /// Angular momentum about the centre of mass, world frame.
    pub l: [T; 3],
    /// Inverse principal moments.
    pub j: [T; 3],
}

#[inline(always)]
fn dot<T: Lane>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<T: Lane>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Hamilton product.
#[inline(always)]
fn product<T: Lane>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// World vector ⇒ the same vector in the frame q, i.e. q* v q.
#[inline(always)]
pub fn into_body<T: Lane>(q: [T; 4], v: [T; 3]) -> [T; 3] {
    // v + 2w (v × r) + 2 (v × r) × r, r the vector part.
    let r = [q[0], q[1], q[2]];
    let two = T::splat(2.0);
    let t = cross(v, r).map(|c| two * c);
    let s = cross(t, r);
    [v[0] + q[3] * t[0] + s[0], v[1] + q[3] * t[1] + s[1], v[2] + q[3] * t[2] + s[2]]
}

/// Vector in the frame q ⇒ the same vector in the world, i.e. q v q*.
#[inline(always)]
pub fn into_world<T: Lane>(q: [T; 4], v: [T; 3]) -> [T; 3] {
    into_body([-q[0], -q[1], -q[2], q[3]], v)
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

/// One series: attitude after the time h. `N` is the order.
#[inline(always)]
fn advance<T: Lane, const N: usize>(spin: &Spin<T>, h: T) -> [T; 4] {
    let Spin { q, l, j } = *spin;
    let length = dot(l, l).root();
    // A body at rest has u = 0 and comes out unturned.
    let inverse = T::splat(1.0) / length.larger(T::splat(1e-150));
    let turn = h * length;
    let m = into_body(q, l);
    let u0 = [m[0] * inverse, m[1] * inverse, m[2] * inverse];
    let rate = [(j[2] - j[1]) * turn, (j[0] - j[2]) * turn, (j[1] - j[0]) * turn];

    // Taylor coefficients of u over s ∈ [0, 1], and of numerator and denominator of ψ' = |L|h · A(s) / B(s).
    let zero = T::splat(0.0);
    let mut u = [[zero; 3]; 17];
    let mut b = [zero; 17];
    let mut c = [zero; 17];
    let ju0 = [j[0] * u0[0], j[1] * u0[1], j[2] * u0[2]];
    u[0] = u0;
    let b0_inverse = T::splat(1.0) / (T::splat(1.0) + dot(u0, u0));
    c[0] = T::splat(2.0) * dot(ju0, u0) * b0_inverse;
    let mut end = u0;
    let mut psi = c[0];
    for k in 0..N {
        let mut next = [zero; 3];
        for i in 0..=k {
            let (p, r) = (u[i], u[k - i]);
            next[0] = next[0] + p[1] * r[2];
            next[1] = next[1] + p[2] * r[0];
            next[2] = next[2] + p[0] * r[1];
        }
        let order = k + 1;
        let share = T::splat(1.0 / order as f64);
        for axis in 0..3 {
            next[axis] = next[axis] * rate[axis] * share;
            end[axis] = end[axis] + next[axis];
        }
        u[order] = next;
        b[order] = dot(u0, next);
        let mut remainder = dot(ju0, next);
        for i in 1..=order {
            remainder = remainder - b[i] * c[order - i];
        }
        c[order] = remainder * b0_inverse;
        psi = psi + c[order] * T::splat(1.0 / (order + 1) as f64);
    }

    let w = cross(end, u0);
    let d = [w[0], w[1], w[2], T::splat(1.0) + dot(end, u0)];
    let (sine, cosine) = sine_cosine(T::splat(0.5) * turn * psi);
    let about = [sine * end[0], sine * end[1], sine * end[2], cosine];
    let r = product(product(q, d), about);
    let norm = T::splat(1.0) / (r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]).root();
    r.map(|component| component * norm)
}

/// How one body's flight is cut: order of the series and number of equal parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    Short,
    Long { parts: u32 },
}

fn cut(l: [f64; 3], j: [f64; 3], h: f64) -> Cut {
    let length = dot(l, l).sqrt() * h.abs();
    let largest = j[0].max(j[1]).max(j[2]);
    let smallest = j[0].min(j[1]).min(j[2]);
    let eta = length * (largest - smallest);
    let angle = length * largest;
    if eta <= SHORT_REACH && angle <= ANGLE_REACH {
        Cut::Short
    } else {
        // Also the way out for a non-finite state: one part, and the result is found non-finite by the caller.
        let parts = (eta / SERIES_REACH).max(angle / ANGLE_REACH).ceil();
        Cut::Long { parts: if parts.is_finite() { parts.min(MOST_PARTS) as u32 } else { 1 } }
    }
}

/// (attitude, world angular momentum, inverse principal moments, time) ⇒ attitude after that time, without torque.
///
/// `h` may be negative: the motion is reversible.
///
/// ```
/// use glam::{DQuat, DVec3};
/// use rattleback_dynamics::motion::rotate_freely;
/// // A sphere turns about its angular momentum at |L| / I.
/// let q = rotate_freely(DQuat::IDENTITY, DVec3::Z * 6.0, DVec3::splat(0.5), 0.1);
/// assert!(q.angle_between(DQuat::from_rotation_z(0.3)) < 1e-7);
/// ```
pub fn rotate_freely(q: DQuat, l: DVec3, j: DVec3, h: f64) -> DQuat {
    let mut spin = Spin { q: q.to_array(), l: l.to_array(), j: j.to_array() };
    match cut(spin.l, spin.j, h) {
        Cut::Short => spin.q = advance::<f64, SHORT>(&spin, h),
        Cut::Long { parts } => {
            let part = h / f64::from(parts);
            for _ in 0..parts {
                spin.q = advance::<f64, LONG>(&spin, part);
            }
        }
    }
    DQuat::from_array(spin.q)
}

/// Four bodies at once; each comes out exactly as [`rotate_freely`] would leave it.
#[inline]
pub fn rotate_four_freely(spins: &Spin<f64x4>, h: f64) -> [f64x4; 4] {
    let column = |values: &[f64x4]| -> Vec4<[f64; 4]> {
        let mut rows = [[0.0; 4]; 4];
        for (row, value) in rows.iter_mut().zip(values) {
            *row = value.to_array();
        }
        rows
    };
    let (l, j) = (column(&spins.l), column(&spins.j));
    let all_short = (0..4).all(|i| {
        cut([l[0][i], l[1][i], l[2][i]], [j[0][i], j[1][i], j[2][i]], h) == Cut::Short
    });
    if all_short {
        return advance::<f64x4, SHORT>(spins, f64x4::splat(h));
    }
    let mut q = column(&spins.q);
    for i in 0..4 {
        let turned = rotate_freely(
            DQuat::from_xyzw(q[0][i], q[1][i], q[2][i], q[3][i]),
            DVec3::new(l[0][i], l[1][i], l[2][i]),
            DVec3::new(j[0][i], j[1][i], j[2][i]),
            h,
        );
        for (row, value) in q.iter_mut().zip(turned.to_array()) {
            row[i] = value;
        }
    }
    q.map(f64x4::from)
}

type Vec4<T> = [T; 4];
