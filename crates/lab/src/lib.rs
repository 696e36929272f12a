//! Experiments on top of the engine: channels, records, plots, and validation of the physics.
//!
//! * [`accuracy`] has the tests on which other engines were measured, with their figures,
//! * [`channel`] turns words such as `ball.z` or `energy` into numbers read from a world,
//! * [`contact`] samples classes of contact experiments with known answers,
//! * [`poses`] tells how often a dropped part comes to rest on each of its faces,
//! * [`record`] writes runs as CSV or Parquet,
//! * [`plot`] draws them,
//! * [`gate`] passes parts through gates of feeder tracks and looks for the best ones,
//! * [`micro`] feeds parts by arrays of micro-actuators, and steps a slider by impacts,
//! * [`impulse_scenes`] runs the scenes of the event-driven simulator against the clock,
//! * [`bowling`] throws straight balls and hooks at ten pins,
//! * [`spaces`] measures how broad phases grow with the number of boxes,
//! * [`study`] varies parameters of scenes and measures results,
//! * [`validate`] compares the engine with closed forms, conservation laws and published numbers.

pub mod accuracy;
pub mod bowling;
pub mod channel;
pub mod contact;
pub mod gate;
pub mod impulse_scenes;
pub mod micro;
pub mod parquet;
pub mod plot;
pub mod poses;
mod queue;
pub mod record;
pub mod spaces;
pub mod study;
pub mod validate;
