//! Tests of what a user of the crate sees.

mod continuous;
mod contact;
mod elements;
mod faults;
mod random;
mod springs;
mod theory;
