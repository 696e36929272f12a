//! Tests of what a user of the crate sees.
