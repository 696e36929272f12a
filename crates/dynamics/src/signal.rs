//! Parameters that may change with time: a constant, a harmonic, a table.
//!
//! Everything a force or a script takes as a number or a vector can be a signal. A signal is plain data, so that it
//! can stand in a scene file and in a snapshot.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What a signal can carry.
pub trait Quantity:
    Copy
    + Default
    + PartialEq
    + std::fmt::Display
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<f64, Output = Self>
{
    /// Whether every number in it is finite.
    fn finite(self) -> bool;
}

impl Quantity for f64 {
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Quantity for DVec3 {
    fn finite(self) -> bool {
        self.is_finite()
    }
}

/// A quantity as a function of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Signal<T> {
    /// Always the same.
    Constant(T),
    /// mean + amplitude · sin(2π · frequency · t + phase).
    Harmonic {
        /// Value about which it swings.
        mean: T,
        /// Largest deviation.
        amplitude: T,
        /// In Hz.
        frequency: f64,
        /// In rad.
        phase: f64,
    },
    /// Straight lines between (time, value) pairs; constant before the first and after the last. Without pairs it is
    /// refused wherever a signal enters a world ([`check`](Signal::check)).
    Table(Vec<(f64, T)>),
}

impl<T: Quantity> Signal<T> {
    /// Time ⇒ value.
    pub fn at(&self, t: f64) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Harmonic { mean, amplitude, frequency, phase } => {
                *mean + *amplitude * (std::f64::consts::TAU * frequency * t + phase).sin()
            }
            Self::Table(knots) => interpolate(knots, t),
        }
    }

    /// Whether the value is the same at all times.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Harmonic { .. } => false,
            Self::Table(knots) => knots.windows(2).all(|pair| pair[0].1 == pair[1].1),
        }
    }

    /// Every value the signal is made of: what a range check has to look at.
    pub fn extremes(&self) -> Vec<T> {
        match self {
            Self::Constant(value) => vec![*value],
            Self::Harmonic { mean, amplitude, .. } => vec![*mean + *amplitude, *mean - *amplitude],
            Self::Table(knots) => knots.iter().map(|knot| knot.1).collect(),
        }
    }

    /// What is wrong with the signal, if anything.
    pub fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Constant(value) if !value.finite() => Err("must be finite"),
            Self::Harmonic { mean, amplitude, frequency, phase }
                if !(mean.finite() && amplitude.finite() && frequency.is_finite() && phase.is_finite()) =>
            {
                Err("mean, amplitude, frequency and phase must be finite")
            }
            Self::Table(knots) if knots.is_empty() => Err("a table needs at least one (time, value) pair"),
            Self::Table(knots) if !knots.iter().all(|(t, value)| t.is_finite() && value.finite()) => {
                Err("times and values of a table must be finite")
            }
            Self::Table(knots) if !knots.windows(2).all(|pair| pair[0].0 < pair[1].0) => {
                Err("the times of a table must increase")
            }
            _ => Ok(()),
        }
    }
}

fn interpolate<T: Quantity>(knots: &[(f64, T)], t: f64) -> T {
    let after = knots.partition_point(|knot| knot.0 <= t);
    if after == 0 {
        return knots.first().map_or_else(T::default, |knot| knot.1);
    }
    let (t0, before) = knots[after - 1];
    match knots.get(after) {
        None => before,
        Some(&(t1, next)) => before + (next - before) * ((t - t0) / (t1 - t0)),
    }
}

impl<T: Quantity> std::fmt::Display for Signal<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Harmonic { mean, amplitude, frequency, phase } => {
                write!(f, "{mean} + {amplitude} sin(2π {frequency} t + {phase})")
            }
            Self::Table(knots) => {
                write!(f, "a table of {} values", knots.len())
            }
        }
    }
}

impl<T> From<T> for Signal<T> {
    fn from(value: T) -> Self {
        Self::Constant(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_interpolates_and_holds_its_ends() {
        let signal = Signal::Table(vec![(1.0, 2.0), (3.0, 6.0)]);
        for (t, expected) in [(0.0, 2.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (9.0, 6.0)] {
            assert_eq!(signal.at(t), expected);
        }
    }

    #[test]
    fn harmonic_has_its_period() {
        let signal = Signal::Harmonic { mean: 1.0, amplitude: 2.0, frequency: 4.0, phase: 0.0 };
        assert!((signal.at(1.0 / 16.0) - 3.0).abs() < 1e-15);
        assert!((signal.at(0.3) - signal.at(0.55)).abs() < 1e-12);
    }

    #[test]
    fn bad_signals_are_named() {
        assert!(Signal::Constant(f64::NAN).check().is_err());
        assert!(Signal::<f64>::Table(vec![]).check().is_err());
        assert!(Signal::Table(vec![(1.0, 0.0), (1.0, 1.0)]).check().is_err());
        assert!(Signal::Constant(DVec3::X).check().is_ok());
    }
}
