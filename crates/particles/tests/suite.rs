//! Tests of what a user of the crate sees.

mod collisions;
mod contacts;
mod emitters;
mod faults;
mod fluids;
mod forces;
mod impulses;
mod random;
mod sph;
mod steps;
