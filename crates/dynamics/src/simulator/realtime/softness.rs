//! Soft constraints: implicit damped springs that are stable at any stiffness.
//!
//! A constraint with position error C, Ċ = u and effective mass m = 1/(J M⁻¹ Jᵀ) is given the frequency f and
//! the damping ratio ζ of a spring–damper: with ω = 2πf, stiffness k = m ω² and damping c = 2 m ζ ω. Implicit
//! Euler over a sub-step h, λ = −h (k (C + h u′) + c u′) with u′ the velocity after the impulse, is
//! equivalent to the constraint u′ + β/h C + γ λ = 0 (Catto 2011, Soft Constraints) with
//!
//!   γ = 1 / (h (c + h k)),   β = h k / (c + h k).
//!
//! Per unit of effective mass, with a = 2ζ + hω and b = hω a, an iteration with accumulated impulse λ becomes
//!
//!   λ′ − λ = −m · mass_scale · (u + bias_rate · C) − impulse_scale · λ,
//!   bias_rate = ω/a,   mass_scale = b/(1 + b),   impulse_scale = 1/(1 + b).
//!
//! For f → ∞ this is the rigid constraint with Baumgarte's correction of C/h; the coefficients depend neither
//! on the mass nor on the load.

/// Coefficients of a soft constraint for one sub-step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Softness {
    /// Fraction of the position error corrected per second, 1/s.
    pub bias_rate: f32,
    /// Factor of the effective mass, 0 to 1.
    pub mass_scale: f32,
    /// Fraction of the accumulated impulse that is removed, 0 to 1.
    pub impulse_scale: f32,
}

impl Softness {
    /// A rigid constraint without correction of the position error.
    pub const RIGID: Self = Self { bias_rate: 0.0, mass_scale: 1.0, impulse_scale: 0.0 };

    /// (frequency in Hz, damping ratio, sub-step in s) ⇒ coefficients.
    pub fn new(frequency: f64, damping: f64, h: f64) -> Self {
        let omega = std::f64::consts::TAU * frequency;
        let a = 2.0 * damping + h * omega;
        let b = h * omega * a;
        Self {
            bias_rate: (omega / a) as f32,
            mass_scale: (b / (1.0 + b)) as f32,
            impulse_scale: (1.0 / (1.0 + b)) as f32,
        }
    }
}
