//! Room of its own.
