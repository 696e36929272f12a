//! Spaces of cubic cells in hash tables: a single size of cells, or several for boxes of different size.

mod close_counters;
mod grid;
mod hash;
mod hash_standard;
mod levels;
mod multi_level;
mod tiling;

pub use grid::{CellHash, UniformGrid, UniformGridSettings};
pub use hash::SpatialHash;
pub use hash_standard::StandardSpatialHash;
pub use levels::{LevelRule, geometric_levels, minimal_levels};
pub use multi_level::MultiLevelGrid;
pub use tiling::{CellRange, cells_of_ball};
