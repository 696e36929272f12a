//! Parts that several simulators build their solvers from.

mod dense_output;
mod trajectory;

pub(crate) use dense_output::DenseOutput;
pub(crate) use trajectory::{Trajectory, evaluate};
