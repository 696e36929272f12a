//! Micro-actuators: arrays of torsional resonators that feed parts, and an impact-driven stepper motor.
//!
//! ```
//! use rattleback_dynamics::Registry;
//! use rattleback_lab::micro::{Stepper, designs, measure};
//! // Two amplitudes, one run each.
//! let designs = designs(&Stepper { duration: 0.005, ..Stepper::default() }, &["amplitude=0.000004..0.000006/2".into()])?;
//! let feeds = measure(&designs, 1, 1, 2, &Registry::default(), |_| ())?;
//! assert!(feeds[1].mean[0] > 0.0);
//! # Ok::<(), rattleback_lab::micro::MicroError>(())
//! ```
//!
//! - [`ActuatorArray`]: thousands of plates that tilt to and fro under a flat part; feed velocity over design parameters and tilings,
//! - [`Stepper`]: a slider that jaws hit at an angle; length of a step,
//! - [`designs`]: texts such as `tilt=1..4/4` ⇒ designs,
//! - [`measure`]: mean velocities with intervals, by repeated runs from random starts.

mod array;
mod design;
mod feed;
mod stepper;

pub use array::{ActuatorArray, Tiling, Tips};
pub use design::{Design, MicroError, Parameter, designs};
pub use feed::{Feed, Machine, Run, measure};
pub use stepper::Stepper;

/// Earth, m/s².
const GRAVITY: f64 = 9.81;
