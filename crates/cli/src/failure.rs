//! Failures of commands and their exit codes.

use rattleback_lab::plot::PlotError;
use std::io;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Invalid input.
    #[error("{0}")]
    Input(String),
    /// A failure with valid input.
    #[error("{0}")]
    Failed(String),
    /// Ctrl-C at a time of the scene, s; records are on disk up to it.
    #[error("stopped by Ctrl-C at t = {0} s; what was recorded until then has been kept")]
    Interrupted(f64),
    /// Ctrl-C between drops, with what was kept.
    #[error("stopped by Ctrl-C: {0}")]
    Stopped(String),
    /// The reader of the output has closed the pipe, which is no error.
    #[error("the output was closed")]
    ClosedPipe,
}

impl Failure {
    /// Failure ⇒ exit code.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted(_) | Self::Stopped(_) => 130,
            Self::ClosedPipe => 0,
        }
    }

    /// An error of the input.
    pub fn input(error: impl std::fmt::Display) -> Self {
        Self::Input(error.to_string())
    }

    /// Any other error.
    pub fn failed(error: impl std::fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Errors of plots: a wrong extension is an error of the input.
impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        match error {
            PlotError::NotPng { .. } => Self::input(error),
            _ => Self::failed(error),
        }
    }
}

/// Errors of writing to stdout.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::Failed(format!("writing the output failed: {error}"))
        }
    }
}
