//! Parts that have no pose statistics, and what to do about them.

use glam::DVec3;
use rattleback_geometry::{HullError, MassError, MeshError, WeldError};

/// Why a part, its drops or its statistics were refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoseError {
    /// The surface has a hole, or its faces are not consistently oriented.
    #[error(
        "the part is no closed solid: {source}; close its holes and orient its faces in the program that made it, \
         or take its convex hull as the part (--hull), if it is filled"
    )]
    NotSolid {
        /// The first fault.
        source: MeshError,
    },
    /// The volume is a rounding error of the size.
    #[error(
        "the part is flat: its volume {volume:e} m³ is nothing for a size of {size} m; give it a thickness \
         (a sheet has two stable poses, half of the drops each)"
    )]
    Flat {
        /// Volume, m³.
        volume: f64,
        /// Diagonal of the bounding box, m.
        size: f64,
    },
    /// Smaller or larger than what simulators resolve.
    #[error(
        "the part is {size:e} m large; sizes from {MIN_SIZE} m to {MAX_SIZE} m are supported: what one unit of the file is, --unit tells (mm, cm, m, in)"
    )]
    Size {
        /// Diagonal of the bounding box, m.
        size: f64,
    },
    /// More triangles than are examined.
    #[error("the part has {count} triangles, at most {MAX_TRIANGLES} are examined; simplify the mesh first")]
    TooManyTriangles {
        /// How many.
        count: usize,
    },
    /// The centre of mass is not inside the convex hull: surfaces that cross each other count volume twice.
    #[error(
        "the centre of mass lies outside of the part: its surface crosses itself, or the density of an insert \
         makes mass negative; repair the mesh (union of its pieces)"
    )]
    CentreOutside,
    /// More volume inside the surface than in its convex hull.
    #[error(
        "the surface crosses itself: it encloses {volume:e} m³, more than its convex hull ({hull:e} m³); \
         repair the mesh (union of its pieces)"
    )]
    SelfIntersecting {
        /// Volume by the surface, m³.
        volume: f64,
        /// Volume of the hull, m³.
        hull: f64,
    },
    /// Two triangles go through each other.
    #[error(
        "the surface crosses itself: triangles {} and {} (from 0) go through each other near ({:.4e}, {:.4e}, {:.4e}) m; repair the mesh (union of its \
         pieces), or take its filled convex hull as the part (--hull)",
        triangles[0], triangles[1], near.x, near.y, near.z
    )]
    Crossing {
        /// Their numbers after joining corners.
        triangles: [u32; 2],
        /// Middle of the first, m.
        near: DVec3,
    },
    /// A sphere, or a surface that is one up to its facets.
    #[error(
        "the part has no stable pose: it rolls in every direction (a sphere up to its facets); poses of a ball \
         mean nothing; a flat on it, or --smooth below {smooth}, would make poses"
    )]
    NoStablePose {
        /// Barriers below this fraction of the height do not separate poses.
        smooth: f64,
    },
    /// A coefficient out of its range.
    #[error("{name} is {value}, must be {allowed}")]
    Parameter {
        /// Which.
        name: &'static str,
        /// The bad value.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Too many poses for a transition matrix.
    #[error(
        "the part has {count} stable poses, at most {MAX_POSES} are distinguished; raise --smooth to unite poses of small barriers"
    )]
    TooManyPoses {
        /// How many.
        count: usize,
    },
    /// Geometry.
    #[error("the convex hull of the part cannot be built: {0}")]
    Hull(#[from] HullError),
    /// Mass.
    #[error("the mass of the part cannot be computed: {0}")]
    Mass(#[from] MassError),
    /// Mesh.
    #[error("the mesh cannot be used: {0}")]
    Mesh(#[from] MeshError),
    /// Welding.
    #[error("the corners of the mesh cannot be joined: {0}")]
    Weld(#[from] WeldError),
    /// Every drop of a batch failed in the simulator.
    #[error("no drop could be simulated: {first}")]
    Simulator {
        /// Error of the first drop.
        first: String,
    },
    /// A measured or recorded table does not fit.
    #[error("{0}")]
    Table(String),
}

/// Smallest size of a part, m.
pub const MIN_SIZE: f64 = 1e-6;
/// Largest size of a part, m.
pub const MAX_SIZE: f64 = 1e4;
/// Most triangles of a part.
pub const MAX_TRIANGLES: usize = 10_000_000;
/// Most poses of a part.
pub const MAX_POSES: usize = 1000;
