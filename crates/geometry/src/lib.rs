//! Shapes and the questions one can ask them.
//!
//! The crate knows nothing of velocity, materials or files: a length is a length, time enters only as the
//! parameter of a swept query.

mod polygon_soup;
mod pose;

pub use polygon_soup::PolygonSoup;
pub use pose::Pose;
