//! Gates on a feeder track: obstacles that turn parts or push them off, so that those which pass lie alike.
//!
//! - [`Gate`]: bars, fences, steps and cut-outs with their parameters,
//! - [`Transport`]: what moves parts along the track: a belt, an incline, or vibration,
//! - [`GateTrack`]: one part passes one gate,
//! - [`GateMatrix`]: probability M(i, j) that a part which enters in state i leaves in state j, with intervals,
//! - [`best_sequences`]: which gates, one after the other, deliver most parts in the wanted pose.
//!
//! A state is a stable pose of the part, and if wanted a sector of its heading. Parts that fall off the track are rejected (a feeder returns them to
//! its bowl), parts that do not get through in time are stuck.

mod kind;
mod matrix;
mod search;
mod track;

pub(crate) use kind::numbers;
pub use kind::{Gate, GateError, Transport, parse_gates};
pub use matrix::{GateMatrix, Passage};
pub use search::{Goal, Sequence, best_sequences};
pub use track::{GateTrack, TrackSettings};
