//! Spaces by name.

use super::{
    BruteForce, DynamicBvh, KdTree, MultiLevelGrid, SingleAxisSweep, Space, SpaceError, SpatialHash,
    StandardSpatialHash, SweepAndPrune, UniformGrid,
};

/// The spaces there are.
///
/// ```
/// use rattleback_geometry::space::SpaceKind;
/// for kind in SpaceKind::ALL {
///     assert_eq!(SpaceKind::from_name(kind.name()), Ok(kind));
///     assert_eq!(kind.create().name(), kind.name());
/// }
/// assert!(SpaceKind::from_name("octree").is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpaceKind {
    /// Every box against every other.
    BruteForce,
    /// A tree of enlarged boxes, four to a node.
    #[default]
    DynamicBvh,
    /// Cells of one size.
    UniformGrid,
    /// Cells of several sizes in a fixed ratio.
    MultiLevelGrid,
    /// Cells of as few sizes as needed, with close counters.
    SpatialHash,
    /// The same, filled anew in each step.
    StandardSpatialHash,
    /// Sorted along three axes.
    SweepAndPrune,
    /// Sorted along one axis.
    SingleAxisSweep,
    /// Space cut in two, again and again.
    KdTree,
}

const NAMES: &str = "dynamic-bvh, uniform-grid, multi-level-grid, spatial-hash, spatial-hash-standard, \
                     sweep-and-prune, sweep-and-prune-1, kd-tree, brute-force";

impl SpaceKind {
    /// All of them, the default first.
    pub const ALL: [Self; 9] = [
        Self::DynamicBvh,
        Self::UniformGrid,
        Self::MultiLevelGrid,
        Self::SpatialHash,
        Self::StandardSpatialHash,
        Self::SweepAndPrune,
        Self::SingleAxisSweep,
        Self::KdTree,
        Self::BruteForce,
    ];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; 9] = {
        let mut names = [""; 9];
        let mut k = 0;
        while k < names.len() {
            names[k] = Self::ALL[k].name();
            k += 1;
        }
        names
    };

    /// The name ⇒ the kind.
    pub fn from_name(name: &str) -> Result<Self, SpaceError> {
        let unknown = SpaceError::UnknownName { known: NAMES };
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(unknown)
    }

    /// All names, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter()
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BruteForce => "brute-force",
            Self::UniformGrid => "uniform-grid",
            Self::MultiLevelGrid => "multi-level-grid",
            Self::SpatialHash => "spatial-hash",
            Self::StandardSpatialHash => "spatial-hash-standard",
            Self::SweepAndPrune => "sweep-and-prune",
            Self::SingleAxisSweep => "sweep-and-prune-1",
            Self::KdTree => "kd-tree",
            Self::DynamicBvh => "dynamic-bvh",
        }
    }

    /// An empty space with default settings.
    pub fn create(self) -> Box<dyn Space> {
        match self {
            Self::BruteForce => Box::new(BruteForce::default()),
            Self::UniformGrid => Box::new(UniformGrid::default()),
            Self::MultiLevelGrid => Box::new(MultiLevelGrid::default()),
            Self::SpatialHash => Box::new(SpatialHash::default()),
            Self::StandardSpatialHash => Box::new(StandardSpatialHash::default()),
            Self::SweepAndPrune => Box::new(SweepAndPrune::default()),
            Self::SingleAxisSweep => Box::new(SingleAxisSweep::default()),
            Self::KdTree => Box::new(KdTree::default()),
            Self::DynamicBvh => Box::new(DynamicBvh::default()),
        }
    }
}
