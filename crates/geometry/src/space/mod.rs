//! Spaces: which of many boxes may touch (broad phases).
//!
//! Every [`Space`] answers the same questions about boxes under opaque ids, and all give the same answers: exactly the pairs
//! of overlapping boxes, or, where [`Candidates::Enlarged`] says so, these and some that come close, never one less. Pairs of
//! two fixed boxes are never told. Which pairs are told depends on the boxes and ids alone, not on threads or hashes.
//!
//! [`DynamicBvh`] is the one for everyday use; the others are the books' ones, to compare and to learn from.

mod box32;
mod brute_force;
mod bvh;
mod cells;
mod error;
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
    UniformGridSettings, cells_of_ball, geometric_levels, minimal_levels,
};
pub use error::{MAX_REACH, SpaceError};
pub use interface::{Candidates, Space, SpaceCounters};
pub use kd_tree::{KdTree, KdTreeSettings};
pub use kind::SpaceKind;
pub use pair::{Pair, PairChanges};
pub use proxy::{Mobility, ProxyId, ProxyTable, everywhere};
pub use sweep_and_prune::{SingleAxisSweep, SweepAndPrune};
