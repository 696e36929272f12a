//! One Taylor step of a turning slide.
//!
//! With c = cos θ, s = sin θ and time η counted in units of the largest rate R,
//!
//!   c' = −g s,  s' = g c,  ρ' = ρ h,  x' = e ρ − μ(a x + f y),  y' = d ρ − μ(f x + b y),
//!   u_z' = k ρ − μ(e x + d y),  W' = ρ u_z,  p_z' = ρ,  p_x' = −μ x,  p_y' = −μ y,
//!
//! where (x, y) = ρ(c, s) and g, h are quadratic in (c, s). The coefficient n + 1 of each series follows from
//! coefficients up to n, by Cauchy products. The last two coefficients of c, s and ρ give the length of the
//! step.
//!
//! It does not use rays and so works where they coincide; elsewhere [`super::panel`] takes longer steps.

use super::slide_piece::SlidePiece;
use super::{Impact, Progress};
use glam::DVec2;

/// Order of the series.
const ORDER: usize = 18;

/// Size of the last coefficients, relative to 1, at the end of a step.
const TOLERANCE: f64 = 1e-15;

type Series = [f64; ORDER + 1];

/// The path over one step, as polynomials in η.
pub(super) struct TaylorStep {
    mu: f64,
    coupling: DVec2,
    k: f64,
    rate: f64,
    monotone: bool,
    /// Length of the step.
    length: f64,
    c: Series,
    s: Series,
    rho: Series,
    x: Series,
    y: Series,
    u_z: Series,
    w: Series,
}

/// Σ a_i b_{n−i}.
#[inline(always)]
fn product(a: &Series, b: &Series, n: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..=n {
        sum += a[i] * b[n - i];
    }
    sum
}

impl TaylorStep {
    /// State at the start ⇒ the step.
    pub fn new(impact: &Impact, u_hat: DVec2, rho: f64, u_z: f64, rate: f64) -> Self {
        let mu = impact.friction / rate;
        let compliance = &impact.compliance;
        let (a, f, b) = (compliance.m.x_axis.x * mu, compliance.m.x_axis.y * mu, compliance.m.y_axis.y * mu);
        let (e, d, k) = (compliance.s.x / rate, compliance.s.y / rate, compliance.k / rate);
        let zero = [0.0; ORDER + 1];
        let mut step = Self {
            mu: impact.friction,
            coupling: compliance.s,
            k: compliance.k,
            rate,
            monotone: compliance.k > impact.friction * compliance.s.length(),
            length: 0.0,
            c: zero,
            s: zero,
            rho: zero,
            x: zero,
            y: zero,
            u_z: zero,
            w: zero,
        };
        let Self { c, s, rho: r, x, y, u_z: z, w, .. } = &mut step;
        (c[0], s[0], r[0], z[0]) = (u_hat.x, u_hat.y, rho, u_z);
        (x[0], y[0]) = (rho * u_hat.x, rho * u_hat.y);
        let (mut g, mut h) = (zero, zero);
        for n in 0..ORDER {
            let cc = product(c, c, n);
            let cs = product(c, s, n);
            let ss = if n == 0 { s[0] * s[0] } else { -cc };
            g[n] = (a - b) * cs + f * (ss - cc) + d * c[n] - e * s[n];
            h[n] = -a * cc - b * ss - 2.0 * f * cs + d * s[n] + e * c[n];
            let share = RECIPROCAL[n];
            c[n + 1] = -share * product(&g, s, n);
            s[n + 1] = share * product(&g, c, n);
            r[n + 1] = share * product(&h, r, n);
            x[n + 1] = share * (e * r[n] - a * x[n] - f * y[n]);
            y[n + 1] = share * (d * r[n] - f * x[n] - b * y[n]);
            z[n + 1] = share * (k * r[n] - mu * (compliance.s.x * x[n] + compliance.s.y * y[n]));
            w[n + 1] = share / rate * product(r, z, n);
        }
        step.length = step.reach(rho);
        step
    }

    /// Length over which the series is accurate.
    fn reach(&self, rho: f64) -> f64 {
        let size = |n: usize| self.c[n].abs().max(self.s[n].abs()).max(self.rho[n].abs() / rho);
        let reach = |n: usize| (TOLERANCE / size(n).max(1e-60)).powf(1.0 / n as f64);
        reach(ORDER).min(reach(ORDER - 1)).min(4.0)
    }

    /// Direction and speed of sliding at the end.
    pub fn end(&self) -> (DVec2, f64) {
        let u_hat = DVec2::new(value(&self.c, self.length), value(&self.s, self.length));
        (u_hat.normalize_or(DVec2::X), value(&self.rho, self.length))
    }
}

impl SlidePiece for TaylorStep {
    fn length(&self) -> f64 {
        self.length
    }
    fn monotone(&self) -> bool {
        self.monotone
    }
    fn across(&self, t: f64) -> f64 {
        self.coupling.x * value(&self.s, t) - self.coupling.y * value(&self.c, t)
    }
    fn kappa(&self, t: f64) -> f64 {
        self.k - self.mu * (self.coupling.x * value(&self.c, t) + self.coupling.y * value(&self.s, t))
    }
    fn u_z(&self, t: f64) -> (f64, f64) {
        (value(&self.u_z, t), slope(&self.u_z, t))
    }
    fn work(&self, t: f64) -> (f64, f64) {
        (value(&self.w, t), slope(&self.w, t))
    }
    fn impulse(&self, t: f64) -> (f64, f64) {
        (integral(&self.rho, t) / self.rate, value(&self.rho, t) / self.rate)
    }
    fn write_state(&self, progress: &mut Progress, t: f64) {
        let share = -self.mu / self.rate;
        progress.p.x += share * integral(&self.x, t);
        progress.p.y += share * integral(&self.y, t);
        progress.p.z += self.impulse(t).0;
        progress.u_t = DVec2::new(value(&self.x, t), value(&self.y, t));
        progress.u_z = value(&self.u_z, t);
    }
}

/// 1/(n + 1).
const RECIPROCAL: Series = {
    let mut reciprocal = [0.0; ORDER + 1];
    let mut n = 0;
    while n <= ORDER {
        reciprocal[n] = 1.0 / (n + 1) as f64;
        n += 1;
    }
    reciprocal
};

/// Σ a_n tⁿ.
fn value(a: &Series, t: f64) -> f64 {
    a.iter().rev().fold(0.0, |sum, a| sum * t + a)
}

/// Σ n a_n tⁿ⁻¹.
fn slope(a: &Series, t: f64) -> f64 {
    (1..=ORDER).rev().fold(0.0, |sum, n| sum * t + n as f64 * a[n])
}

/// Σ a_n tⁿ⁺¹/(n + 1), without the last term, which the step's length makes negligible.
fn integral(a: &Series, t: f64) -> f64 {
    t * (0..=ORDER).rev().fold(0.0, |sum, n| sum * t + a[n] * RECIPROCAL[n])
}
