//! The grid under a distance field.
//!
//! Extents b of the surface's box, R cells along the longest: h = b_max / R, rᵢ = ⌈bᵢ / h⌉ + 2, one spare
//! cell on each side. The grid starts at B_min − h and ends at B_min − h + rᵢ h, so that its vertices never
//! fall outside of it. "Grid coordinates" count cells from the start: grid vertex (i, j, k) has exactly the
//! coordinates (i, j, k).

use glam::DVec3;

use super::FieldError;
use crate::{Aabb, MIN_LENGTH};

/// Coordinates this close to a grid plane, in cells, count as lying on it.
pub(super) const SNAP: f64 = 1e-9;

/// A box of equal cubic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldGrid {
    origin: DVec3,
    cell: f64,
    cells: [u32; 3],
    surface_bounds: Aabb,
}

impl FieldGrid {
    /// (box of the surface, cells along its longest side) ⇒ grid with one spare cell all around.
    pub(super) fn around(surface_bounds: Aabb, resolution: u32) -> Result<Self, FieldError> {
        if resolution == 0 {
            return Err(FieldError::ResolutionTooSmall { resolution });
        }
        let extents = surface_bounds.extents();
        let longest = extents.max_element();
        if !(longest >= MIN_LENGTH) {
            return Err(FieldError::NoExtent { extent: longest });
        }
        let cell = longest / f64::from(resolution);
        let cells = (extents / cell).to_array().map(|b| (b - SNAP).ceil().clamp(0.0, 1e9) as u32 + 2);
        Ok(Self { origin: surface_bounds.min() - cell, cell, cells, surface_bounds })
    }

    /// Grid vertex (0, 0, 0).
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Side length of a cell.
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// Number of cells along x, y, z; there is one more vertex on each axis.
    pub fn cells(&self) -> [u32; 3] {
        self.cells
    }

    /// Box of the surface, without the spare cells.
    pub fn surface_bounds(&self) -> Aabb {
        self.surface_bounds
    }

    /// Position of a grid vertex.
    pub fn position(&self, vertex: [u32; 3]) -> DVec3 {
        self.origin + self.cell * DVec3::from_array(vertex.map(f64::from))
    }

    /// Corner of the grid opposite to the origin.
    pub fn end(&self) -> DVec3 {
        self.position(self.cells)
    }

    /// Point ⇒ grid coordinates.
    pub(super) fn coordinates(&self, p: DVec3) -> DVec3 {
        (p - self.origin) / self.cell
    }

    /// Point ⇒ cell that holds it and its place in the cell from 0 to 1; None outside the grid or if not
    /// finite.
    pub(super) fn locate(&self, p: DVec3) -> Option<([u32; 3], DVec3)> {
        let c = self.coordinates(p);
        let mut corner = [0; 3];
        for axis in 0..3 {
            if !(c[axis] >= 0.0 && c[axis] <= f64::from(self.cells[axis])) {
                return None;
            }
            corner[axis] = (c[axis] as u32).min(self.cells[axis] - 1);
        }
        Some((corner, c - DVec3::from_array(corner.map(f64::from))))
    }
}

/// Grid coordinate, moved onto a grid plane that is nearer than rounding.
pub(super) fn snapped(coordinate: f64) -> f64 {
    let nearest = coordinate.round();
    if (coordinate - nearest).abs() < SNAP { nearest } else { coordinate }
}
