//! Experiments on top of the engine: name what is to be seen, record it, draw it, and check the physics.
//!
//! * [`channel`] turns words such as `ball.z` or `energy` into numbers read from a world,
//! * [`record`] writes runs as CSV,
//! * [`plot`] draws them,
//! * [`spaces`] measures how broad phases grow with the number of boxes,
//! * [`validate`] compares the engine with closed forms, conservation laws and published numbers.

pub mod channel;
pub mod plot;
pub mod record;
pub mod spaces;
pub mod validate;
