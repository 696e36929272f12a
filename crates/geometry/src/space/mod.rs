//! Spaces: which of many boxes may touch (broad phases).
//!
//! Every [`Space`] has the same queries on boxes under opaque ids, with the same results: exactly the pairs
//! of overlapping boxes, or, for [`Candidates::Enlarged`], these and some that come close, never fewer. Pairs
//! of two fixed boxes are never reported. The reported pairs depend on the boxes and ids alone, not on
//! threads or hashes.
//!
//! [`DynamicBvh`] is the one for general use; the others are textbook algorithms, for comparison and study.

mod brute_force;
mod bvh;
mod cells;
mod error;
mod forward;
mod interface;
mod kd_tree;
mod kind;
mod pair;
mod proxy;
mod sweep_and_prune;

pub use brute_force::BruteForce;
pub use bvh::{DynamicBvh, DynamicBvhSettings};
pub use cells::{
    CellHash, CellRange, LevelRule, MultiLevelGrid, SpatialHash, StandardSpatialHash, UniformGrid,
    UniformGridSettings, cells_of_sphere, geometric_levels, minimal_levels,
};
pub use error::{MAX_REACH, SpaceError};
pub use interface::{Candidates, Space, SpaceCounters};
pub use kd_tree::{KdTree, KdTreeSettings};
pub use kind::SpaceKind;
pub use pair::{Pair, PairChanges};
pub use proxy::{Mobility, ProxyId, ProxyTable, everywhere};
pub use sweep_and_prune::{SingleAxisSweep, SweepAndPrune};
