//! Room of its own.

pub mod plot;
