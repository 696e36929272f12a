//! Spaces: which of many boxes may touch (broad phases).
//!
//! Every [`Space`] answers the same questions about boxes under opaque ids, and all give the same answers: exactly the pairs
//! of overlapping boxes, or, where [`Candidates::Enlarged`] says so, these and some that come close, never one less. Pairs of
//! two fixed boxes are never told. Which pairs are told depends on the boxes and ids alone, not on threads or hashes.
//!
//! [`DynamicBvh`] is the one for everyday use; the others are the books' ones, to compare and to learn from.

mod brute_force;
mod bvh;
mod error;
mod interface;
mod kind;
mod pair;
mod proxy;

pub use brute_force::BruteForce;
pub use bvh::{DynamicBvh, DynamicBvhSettings};
pub use error::{MAX_REACH, SpaceError};
pub use interface::{Candidates, Space, SpaceCounters};
pub use kind::SpaceKind;
pub use pair::{Pair, PairChanges};
pub use proxy::{Mobility, ProxyId, ProxyTable, everywhere};
