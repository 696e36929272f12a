//! Bounding-volume hierarchies.
//!
//! - [`BoxTree`]: the plain binary tree of boxes over anything that has a box, exact in f64.
//! - [`WideTree`]: the same question to four boxes at once, and [`MeshTree`] over the triangles of a mesh:
//!   for speed.
//! - [`VolumeTree`]: boxes, oriented boxes, spheres, hulls or mixtures, split by the textbook rules, with
//!   counters of the cost of a query.
//! - [`ObbTree`]: oriented boxes in the frames of their parents, with contact points.
//!
//! Queries allocate nothing once the caller's [`Scratch`] has grown; builds may use several threads, whose
//! number does not change the result. Triangles are tested in f64; boxes only cull.

mod binned_build;
mod box_pair;
mod box_tree;
mod contact_points;
mod error;
mod mesh_pair;
mod mesh_tree;
mod obb_pair;
mod obb_tree;
mod oriented_overlap;
mod slabs;
mod split;
mod sweep;
mod triangle;
mod unit_frame;
mod volume;
mod volume_pair;
mod volume_tree;
mod wide_pair;
mod wide_query;
mod wide_tree;

pub use crate::primitive::Ray;
pub(crate) use box_tree::Branch;
pub use box_tree::{BoxTree, BuildSettings, Scratch, Visits};
pub use contact_points::{ContactFeature, TriangleContact};
pub use error::{HierarchyError, MAX_ITEMS};
pub use mesh_pair::Neighbors;
pub use mesh_tree::{MeshRayHit, MeshTree, NearestPoint};
pub use obb_pair::{ObbContacts, ObbScratch, Report};
pub use obb_tree::{ObbTree, ObbTreeSettings};
pub use oriented_overlap::{SatMode, boxes_disjoint};
pub use split::SplitRule;
pub use sweep::{SweepBound, swept_box};
pub use volume::{BoxFit, SphereFit, Volume, VolumeKind};
pub use volume_pair::{Descent, PairCost};
pub use volume_tree::{BuildOrder, VolumePlan, VolumeTree, VolumeTreeSettings};
pub use wide_tree::WideTree;
