//! Spaces by name.

use super::{BruteForce, DynamicBvh, Space, SpaceError};

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
}

const NAMES: &str = "dynamic-bvh, brute-force";

impl SpaceKind {
    /// All of them, the default first.
    pub const ALL: [Self; 2] = [Self::DynamicBvh, Self::BruteForce];

    /// The name ⇒ the kind.
    pub fn from_name(name: &str) -> Result<Self, SpaceError> {
        let unknown = SpaceError::UnknownName { known: NAMES };
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(unknown)
    }

    /// All names, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(Self::name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BruteForce => "brute-force",
            Self::DynamicBvh => "dynamic-bvh",
        }
    }

    /// An empty space with default settings.
    pub fn create(self) -> Box<dyn Space> {
        match self {
            Self::BruteForce => Box::new(BruteForce::default()),
            Self::DynamicBvh => Box::new(DynamicBvh::default()),
        }
    }
}
