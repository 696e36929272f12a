//! Errors of integration steps.

use thiserror::Error;

/// Why a step could not be taken. The state is unchanged when a method returns one.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum StepError {
    /// The step size is zero, negative, infinite or not a number.
    #[error("step size {step} s: must be finite and greater than zero")]
    InvalidStep {
        /// The requested step size.
        step: f64,
    },
    /// The interval to integrate over is empty, reversed or not finite.
    #[error(
        "interval from {from} s to {to} s: both ends must be finite and the end must lie after the start"
    )]
    InvalidInterval {
        /// Start of the interval.
        from: f64,
        /// End of the interval.
        to: f64,
    },
    /// A tolerance is negative, not a number, or zero in both its parts.
    #[error("tolerance {absolute} + {relative}·|y|: parts must be finite, not negative, not both zero")]
    InvalidTolerance {
        /// The absolute part.
        absolute: f64,
        /// The part relative to the size of the state.
        relative: f64,
    },
    /// A parameter of a method lies outside its range.
    #[error("{name} = {value}: allowed is {allowed}")]
    InvalidParameter {
        /// Which parameter.
        name: &'static str,
        /// The value.
        value: f64,
        /// Its valid range, in words.
        allowed: &'static str,
    },
    /// A derivative or the state itself turned infinite or not a number.
    #[error("the state or its rate is not finite at t = {time} s")]
    NonFinite {
        /// When the offending value was computed.
        time: f64,
    },
    /// An iteration inside the step (Newton, extrapolation) did not reach its tolerance.
    #[error(
        "no convergence at t = {time} s: error {error} after {iterations} iterations; try a smaller step"
    )]
    NotConverged {
        /// End of the step that failed.
        time: f64,
        /// Iterations done.
        iterations: u32,
        /// What was left of the error, in the measure of the method.
        error: f64,
    },
    /// Error control requires a step below the smallest allowed one.
    #[error("step size underflow at t = {time} s: {step} s required, {minimum} s allowed")]
    Underflow {
        /// Time up to which the integration had come.
        time: f64,
        /// Step size that the error control requires.
        step: f64,
        /// Smallest step size allowed.
        minimum: f64,
    },
    /// The interval would have to be cut into more sub-steps than allowed.
    #[error("at t = {time} s more than {maximum} sub-steps would be needed")]
    SubStepOverflow {
        /// Start of the sub-step that failed last.
        time: f64,
        /// Largest number of sub-steps allowed.
        maximum: u32,
    },
    /// The interval took more attempts than allowed.
    #[error("at t = {time} s the limit of {maximum} step attempts is used up")]
    TooManySteps {
        /// Time up to which the integration had come.
        time: f64,
        /// Largest number of attempts allowed.
        maximum: u64,
    },
}
