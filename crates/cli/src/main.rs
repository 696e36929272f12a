//! The `rattleback` program.

fn main() {}
