//! Tests of what a user of the crate sees.

mod contact;
mod continuous;
mod elements;
mod faults;
mod random;
mod springs;
mod theory;
