//! Tests of the laboratory. One binary: each further one would be linked with everything again.

mod contact;
mod gate;
mod micro;
mod plot;
mod poses;
mod study;
