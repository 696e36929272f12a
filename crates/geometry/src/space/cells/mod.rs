//! Spaces of cubic cells: a single size of cells, or several for boxes of different size.

mod cell_code;
mod close_counters;
mod fixed_cells;
mod four_boxes;
mod grid;
mod hash;
mod hash_standard;
mod levels;
mod moving_cells;
mod multi_level;
mod tiling;

pub use fixed_cells::CellHash;
pub use grid::{UniformGrid, UniformGridSettings};
pub use hash::SpatialHash;
pub use hash_standard::StandardSpatialHash;
pub use levels::{LevelRule, geometric_levels, minimal_levels};
pub use multi_level::MultiLevelGrid;
pub use tiling::{CellRange, cells_of_sphere};
