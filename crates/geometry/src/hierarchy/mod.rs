//! Bounding-volume hierarchies.
//!
//! [`BoxTree`] is the plain binary tree of boxes over anything that has a box.

mod binned_build;
mod box_tree;
mod error;
mod ray;
mod unit_frame;

pub use box_tree::{BoxTree, BuildSettings, Scratch, Visits};
pub use error::{HierarchyError, MAX_ITEMS};
pub use ray::Ray;
