//! The program, run as a user runs it. One binary: each further one would be linked with everything again.

mod program;

mod check;
mod commands;
mod guide;
mod poses;
mod run;
mod study;
mod viewer;
