//! Room of its own.

pub mod mesh_file;
