//! Parts that several simulators build their solvers from.

mod dense_output;
mod event_queue;
mod impulse_response;
mod trajectory;

pub use impulse_response::{ImpulseResponse, LinkResponse, RigidResponse, relative_inverse_mass};

pub(crate) use dense_output::DenseOutput;
pub(crate) use event_queue::EventQueue;
pub(crate) use impulse_response::rigid_block;
pub(crate) use trajectory::{Trajectory, evaluate};
