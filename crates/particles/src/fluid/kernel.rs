//! Smoothing kernels, zero beyond r = h.
//!
//! poly6      W = 315/(64 π h⁹) (h² − r²)³
//! spiky      W = 15/(π h⁶) (h − r)³
//! viscosity  W = 15/(2 π h³) (−r³/2h³ + r²/h² + h/2r − 1), with ∇²W = 45/(π h⁶) (h − r)
//!
//! Laplacians are those of three dimensions, W″ + 2 W′/r.

use std::f64::consts::PI;

/// A kernel of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Smooth, for densities.
    Poly6,
    /// Its gradient does not vanish in the centre: for pressures.
    Spiky,
    /// Its Laplacian is positive: for viscosity.
    Viscosity,
}

impl Kernel {
    /// W(r), m⁻³; infinite for `Viscosity` at r = 0.
    pub fn value(self, r: f64, h: f64) -> f64 {
        if r > h {
            return 0.0;
        }
        match self {
            Self::Poly6 => 315.0 / (64.0 * PI * h.powi(9)) * (h * h - r * r).powi(3),
            Self::Spiky => 15.0 / (PI * h.powi(6)) * (h - r).powi(3),
            Self::Viscosity => {
                let q = r / h;
                15.0 / (2.0 * PI * h.powi(3)) * (-0.5 * q * q * q + q * q + 0.5 / q - 1.0)
            }
        }
    }

    /// dW/dr, m⁻⁴; 0 at r = 0, where the direction is not defined.
    pub fn slope(self, r: f64, h: f64) -> f64 {
        if r > h || r == 0.0 {
            return 0.0;
        }
        match self {
            Self::Poly6 => -945.0 / (32.0 * PI * h.powi(9)) * (h * h - r * r).powi(2) * r,
            Self::Spiky => -45.0 / (PI * h.powi(6)) * (h - r).powi(2),
            Self::Viscosity => {
                let q = r / h;
                15.0 / (2.0 * PI * h.powi(4)) * (-1.5 * q * q + 2.0 * q - 0.5 / (q * q))
            }
        }
    }

    /// ∇²W, m⁻⁵.
    pub fn laplacian(self, r: f64, h: f64) -> f64 {
        if r > h {
            return 0.0;
        }
        match self {
            Self::Poly6 => -945.0 / (32.0 * PI * h.powi(9)) * (h * h - r * r) * (3.0 * h * h - 7.0 * r * r),
            Self::Spiky => 90.0 / (PI * h.powi(6)) * (h - r) * (2.0 * r - h) / r,
            Self::Viscosity => 45.0 / (PI * h.powi(6)) * (h - r),
        }
    }
}

/// Wendland's C² kernel: W = 21/(2 π h³) (1 − q)⁴ (4 q + 1), q = r/h, ∇W = −210/(π h⁵) (1 − q)³ x.
///
/// Its gradient needs neither a branch nor a division, and its Fourier transform is positive: particles do not pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wendland {
    /// Support radius h, m.
    pub support: f64,
}

impl Wendland {
    /// W(r), m⁻³.
    pub fn value(&self, r: f64) -> f64 {
        let q = r / self.support;
        let t = (1.0 - q).max(0.0);
        self.peak() * t.powi(4) * (4.0 * q + 1.0)
    }

    /// W(0), m⁻³.
    pub fn peak(&self) -> f64 {
        21.0 / (2.0 * PI * self.support.powi(3))
    }

    /// ∇W = −slope_factor · (1 − q)³ x, m⁻⁵.
    pub fn slope_factor(&self) -> f64 {
        210.0 / (PI * self.support.powi(5))
    }
}
