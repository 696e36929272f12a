//! Why a distance field cannot be had.

use thiserror::Error;

use crate::MeshError;

/// Why a distance field, or a mesh of one, cannot be built.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum FieldError {
    /// Fewer than one cell along the longest side.
    #[error("resolution is {resolution}, must be at least 1 cell along the longest side")]
    ResolutionTooSmall {
        /// The bad value.
        resolution: u32,
    },
    /// A scanline enters the solid without leaving it: the surface is open or its faces disagree.
    #[error(
        "surface is not closed: scanline {scanline} along axis {axis} goes in without coming out (or the reverse)"
    )]
    OddCrossings {
        /// 0, 1, 2 for scanlines along x, y, z.
        axis: usize,
        /// Index of the scanline: lower other coordinate + higher other coordinate · (cells + 1).
        scanline: usize,
    },
    /// More memory than the settings allow.
    #[error("the field needs {bytes} bytes, allowed are {allowed}: lower the resolution or raise the limit")]
    OutOfMemory {
        /// Bytes needed, at least.
        bytes: u64,
        /// Bytes allowed.
        allowed: u64,
    },
    /// All points coincide: the grid would be empty.
    #[error("the surface has an extent of {extent}, must be at least {}", crate::MIN_LENGTH)]
    NoExtent {
        /// Longest side of the bounding box.
        extent: f64,
    },
    /// No grid vertex lies inside, so that there is no surface to extract.
    #[error("no grid vertex lies inside the solid: raise the resolution")]
    NoSurface,
    /// Indices or coordinates are unsound.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}
