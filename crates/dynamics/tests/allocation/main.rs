//! Steps in steady state do not allocate. A binary of its own, for its allocator.

#[path = "../../../geometry/tests/allocation/counting.rs"]
mod counting;
#[path = "../multibody/support.rs"]
mod multibody_support;

mod multibody;
mod simulators;
