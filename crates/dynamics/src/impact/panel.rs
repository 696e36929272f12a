//! One panel of a turning slide: integrals over a stretch of y = ln x by Gauss' rule.
//!
//! Along a [`SlideArc`] everything is a quadrature, one after the other: with η' = dη/dy from the arc,
//!
//!   ln ρ = ∫h η' dy,   p_z = ∫ρ η' dy,   p_t = −μ∫û ρ η' dy,   u_z = ∫κ ρ η' dy,   W = ∫u_z ρ η' dy.
//!
//! A rule with n nodes on a stretch of half-width w errs by b⁻²ⁿ at its end and by b⁻ⁿ inside, where b is the
//! sum of the semi-axes of the ellipse with foci at the ends of the stretch that passes the nearest
//! singularity; an exponential eᵅʸ in it, here ρ, needs α w of a few units at most. All of these are known
//! beforehand, so the half-width can be chosen: wide where there is no event, narrow where an event has to be
//! found inside.

use super::gauss::{Gauss, integral};
use super::slide_arc::SlideArc;
use super::slide_piece::{SlidePiece, eventless};
use super::{Impact, Progress};
use glam::DVec2;

/// Limits on the half-width of a panel.
#[derive(Clone, Copy)]
struct PanelReach {
    /// b + 1/b.
    ellipse: f64,
    /// Largest exponent over half a stretch.
    exponent: f64,
}

/// Exact to rounding at the end: b³² = 10¹⁸, because close to a pole the functions are large.
const WIDE: PanelReach = PanelReach { ellipse: 3.92, exponent: 2.5 };

/// Exact to rounding everywhere: b¹⁶ = 10¹⁴.
const DENSE: PanelReach = PanelReach { ellipse: 7.63, exponent: 0.9 };

/// Largest half-width in y.
const WIDEST: f64 = 4.0;

/// Half-widths below this are left to the Taylor steps.
const NARROWEST: f64 = 0.02;

/// A stretch of the turn, by a rule of N nodes. The widths are for sixteen; six give errors below 10⁻⁵.
pub(super) struct QuadraturePanel<'a, const N: usize> {
    impact: &'a Impact,
    arc: &'a SlideArc,
    /// Direction at the start of the arc, which is the x axis of its frame.
    frame: DVec2,
    x: f64,
    half: f64,
    u_z_start: f64,
    /// Totals of u_z, W and p_z.
    u_z_end: f64,
    w_end: f64,
    p_end: f64,
    rho_end: f64,
    /// At the nodes: direction, ln ρ rate, p_z rate.
    direction: [DVec2; N],
    growth: [f64; N],
    p_rate: [f64; N],
    rho: f64,
    /// Coefficients of the rates of u_z and W, unless no event can happen.
    u_z_series: [f64; N],
    w_series: [f64; N],
}

impl<'a, const N: usize> QuadraturePanel<'a, N> {
    const RULE: &'static Gauss<N> = Gauss::<N>::RULE;

    /// (impact so far, arc, its frame, x, ρ) ⇒ the next stretch; none if it would be too short.
    pub fn new(progress: &Progress<'a>, arc: &'a SlideArc, frame: DVec2, [x, rho]: [f64; 2]) -> Option<Self> {
        let Progress { impact, u_z, .. } = *progress;
        let compliance = &impact.compliance;
        let (u, rate) = arc.at(x);
        let kappa = compliance.k - impact.friction * arc.s.dot(u);
        let [event, end] = progress.predicted_impulses(kappa);
        if compliance.k > impact.friction * arc.s.length() {
            let half = half_width(impact, arc, x, WIDE)?;
            let h = growth(impact, arc, u);
            let most = rho * (rate * 2.0 * half).min(if h < 0.0 { -h.recip() } else { f64::INFINITY });
            // A prediction from the slopes at the start avoids most vain attempts; the state at the end
            // decides.
            if most < event {
                let panel = Self::over(impact, arc, frame, [x, rho, u_z, half]);
                if eventless(&panel, progress) {
                    return Some(panel);
                }
            }
        }
        // Not much beyond the end of the collision: small values there would be lost against later ones.
        let enough = 0.75 * end / (rho * rate);
        let half = half_width(impact, arc, x, DENSE)?.min(enough.max(f64::MIN_POSITIVE));
        Some(Self::over(impact, arc, frame, [x, rho, u_z, half]))
    }

    /// (impact, arc, its frame, (x, ρ, u_z, half-width)) ⇒ the stretch.
    fn over(impact: &'a Impact, arc: &'a SlideArc, frame: DVec2, [x, rho, u_z, half]: [f64; 4]) -> Self {
        let Impact { compliance, friction: mu, .. } = impact;
        let s = arc.s;
        let h = |u| growth(impact, arc, u);
        let mut panel = Self {
            impact,
            arc,
            frame,
            x,
            half,
            u_z_start: u_z,
            u_z_end: 0.0,
            w_end: 0.0,
            p_end: 0.0,
            rho_end: 0.0,
            direction: [DVec2::ZERO; N],
            growth: [0.0; N],
            p_rate: [0.0; N],
            rho,
            u_z_series: [0.0; N],
            w_series: [0.0; N],
        };
        let mut eta = [0.0; N];
        for j in 0..N {
            let (u, rate) = arc.at(x * ((Self::RULE.nodes[j] + 1.0) * half).exp());
            panel.direction[j] = u;
            eta[j] = rate * half;
            panel.growth[j] = h(u) * eta[j];
        }
        let growth = Self::RULE.cumulative(&panel.growth);
        let mut u_z_rate = [0.0; N];
        for j in 0..N {
            panel.p_rate[j] = rho * growth[j].exp() * eta[j];
            u_z_rate[j] = (compliance.k - mu * s.dot(panel.direction[j])) * panel.p_rate[j];
        }
        let rise = Self::RULE.cumulative(&u_z_rate);
        let mut w_rate = [0.0; N];
        for j in 0..N {
            w_rate[j] = (u_z + rise[j]) * panel.p_rate[j];
        }
        panel.u_z_end = u_z + Self::RULE.total(&u_z_rate);
        panel.w_end = Self::RULE.total(&w_rate);
        panel.p_end = Self::RULE.total(&panel.p_rate);
        panel.rho_end = rho * Self::RULE.total(&panel.growth).exp();
        if !(panel.monotone() && panel.u_z_end < 0.0) {
            panel.u_z_series = Self::RULE.coefficients(&u_z_rate);
            panel.w_series = Self::RULE.coefficients(&w_rate);
        }
        panel
    }

    /// x, direction and speed of sliding at the end.
    pub fn end(&self) -> (f64, DVec2, f64) {
        let x = self.x * (2.0 * self.half).exp();
        (x, self.world(self.arc.at(x).0), self.rho_end)
    }

    fn world(&self, u: DVec2) -> DVec2 {
        self.frame.rotate(u).normalize_or(DVec2::X)
    }

    /// Direction at t, in the frame of the arc.
    fn direction(&self, t: f64) -> DVec2 {
        self.arc.at(self.x * (t * self.half).exp()).0
    }
}

/// h at a direction in the frame of the arc.
#[inline(always)]
fn growth(impact: &Impact, arc: &SlideArc, u: DVec2) -> f64 {
    let [a, f, b] = arc.m;
    arc.s.dot(u) - impact.friction * (a * u.x * u.x + 2.0 * f * u.x * u.y + b * u.y * u.y)
}

/// Half-width in y of the longest stretch from x on within the limits; none if it is too short.
///
/// The ellipse with foci y, y + 2w through y + X + iY has |X + iY| + |X − 2w + iY| = E w, with E = b + 1/b:
/// solved for w, w = (2E|X + iY| − 4X)/(E² − 4).
fn half_width(impact: &Impact, arc: &SlideArc, x: f64, reach: PanelReach) -> Option<f64> {
    let y = x.ln();
    let e = reach.ellipse;
    let mut half = WIDEST;
    for (re, im) in arc.singular {
        let re = re - y;
        half = half.min((2.0 * e * (re * re + im * im).sqrt() - 4.0 * re) / (e * e - 4.0));
    }
    for x in [x, x * (2.0 * half).exp()] {
        let (u, rate) = arc.at(x);
        half = half.min(reach.exponent / (growth(impact, arc, u) * rate).abs());
    }
    (half >= NARROWEST).then_some(half)
}

impl<const N: usize> SlidePiece for QuadraturePanel<'_, N> {
    fn length(&self) -> f64 {
        2.0
    }
    fn monotone(&self) -> bool {
        self.impact.compliance.k > self.impact.friction * self.arc.s.length()
    }
    fn across(&self, t: f64) -> f64 {
        self.arc.s.perp_dot(self.direction(t))
    }
    fn kappa(&self, t: f64) -> f64 {
        self.impact.compliance.k - self.impact.friction * self.arc.s.dot(self.direction(t))
    }
    fn u_z(&self, t: f64) -> (f64, f64) {
        if t <= 0.0 {
            return (self.u_z_start, 0.0);
        }
        if t >= 2.0 {
            return (self.u_z_end, 0.0);
        }
        let (rise, slope) = integral(&self.u_z_series, t - 1.0);
        (self.u_z_start + rise, slope)
    }
    fn work(&self, t: f64) -> (f64, f64) {
        if t <= 0.0 {
            return (0.0, 0.0);
        }
        if t >= 2.0 {
            return (self.w_end, 0.0);
        }
        integral(&self.w_series, t - 1.0)
    }
    fn impulse(&self, t: f64) -> (f64, f64) {
        if t >= 2.0 {
            return (self.p_end, 0.0);
        }
        integral(&Self::RULE.coefficients(&self.p_rate), t - 1.0)
    }
    fn write_state(&self, progress: &mut Progress, t: f64) {
        let (mut x_rate, mut y_rate) = ([0.0; N], [0.0; N]);
        for j in 0..N {
            x_rate[j] = self.direction[j].x * self.p_rate[j];
            y_rate[j] = self.direction[j].y * self.p_rate[j];
        }
        let mu = self.impact.friction;
        let (tangent, rho) = if t >= 2.0 {
            (DVec2::new(Self::RULE.total(&x_rate), Self::RULE.total(&y_rate)), self.rho_end)
        } else {
            let up_to = |rate: &[f64; N]| integral(&Self::RULE.coefficients(rate), t - 1.0).0;
            (DVec2::new(up_to(&x_rate), up_to(&y_rate)), self.rho * up_to(&self.growth).exp())
        };
        progress.p += (-mu * self.frame.rotate(tangent)).extend(self.impulse(t).0);
        progress.u_t = rho * self.world(self.direction(t));
        progress.u_z = self.u_z(t).0;
    }
}
