//! Queries in steady state do not allocate. A binary of its own, for its allocator.

mod counting;
#[path = "../random/mod.rs"]
mod random;

mod contact;
mod space;
