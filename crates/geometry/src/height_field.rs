//! Terrain: heights over a rectangular grid.
//!
//! Row r, column c is at (x₀ + c Δx, y₀ + r Δy, h[r][c]), the grid centred on the z axis. Each cell is cut
//! along the diagonal from (r, c) to (r+1, c+1) into two triangles with upward normals.

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{Aabb, MAX_LENGTH, MIN_LENGTH, MeshError, Pose, TriangleMesh};

/// Largest number of heights.
const MAX_HEIGHTS: usize = 1 << 27;

/// Why a terrain cannot be made.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum HeightFieldError {
    /// Fewer than two rows or columns, or too many.
    #[error(
        "height field has {rows} rows and {columns} columns, needs at least 2 of each and at most {MAX_HEIGHTS} heights"
    )]
    GridSize {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// Number of heights is not rows × columns.
    #[error("height field has {heights} heights, its grid needs {expected}")]
    HeightCount {
        /// Number of heights given.
        heights: usize,
        /// rows × columns
        expected: usize,
    },
    /// Grid spacing not positive and finite.
    #[error("height field spacing is {spacing}, must lie between {MIN_LENGTH:e} and {MAX_LENGTH:e}")]
    Spacing {
        /// The bad spacing.
        spacing: f64,
    },
    /// A height that is NaN, infinite or absurd.
    #[error("height at row {row}, column {column} is {height}, must be finite and below {MAX_LENGTH:e}")]
    Height {
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        height: f64,
    },
}

/// Heights over a grid of at least 2×2 points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct HeightField {
    rows: usize,
    columns: usize,
    spacing: DVec2,
    heights: Vec<f64>,
    #[serde(skip)]
    range: [f64; 2],
}

#[derive(Deserialize)]
struct Unchecked {
    rows: usize,
    columns: usize,
    spacing: DVec2,
    heights: Vec<f64>,
}

impl TryFrom<Unchecked> for HeightField {
    type Error = HeightFieldError;

    fn try_from(read: Unchecked) -> Result<Self, HeightFieldError> {
        Self::new(read.rows, read.columns, read.spacing, read.heights)
    }
}

impl HeightField {
    /// Grid size, spacing along x (columns) and y (rows), heights row by row ⇒ terrain.
    pub fn new(
        rows: usize,
        columns: usize,
        spacing: DVec2,
        heights: Vec<f64>,
    ) -> Result<Self, HeightFieldError> {
        let expected = rows.checked_mul(columns).filter(|&n| rows >= 2 && columns >= 2 && n <= MAX_HEIGHTS);
        let expected = expected.ok_or(HeightFieldError::GridSize { rows, columns })?;
        if heights.len() != expected {
            return Err(HeightFieldError::HeightCount { heights: heights.len(), expected });
        }
        for spacing in spacing.to_array() {
            if !(MIN_LENGTH..=MAX_LENGTH / expected as f64).contains(&spacing) {
                return Err(HeightFieldError::Spacing { spacing });
            }
        }
        // `not ≤` also catches NaN.
        if let Some(i) = heights.iter().position(|h| !(h.abs() <= MAX_LENGTH)) {
            return Err(HeightFieldError::Height {
                row: i / columns,
                column: i % columns,
                height: heights[i],
            });
        }
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { rows, columns, spacing, heights, range: [low, high] })
    }

    /// Number of rows (along y).
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns (along x).
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// Distance of neighbouring columns and rows.
    pub const fn spacing(&self) -> DVec2 {
        self.spacing
    }

    /// Heights row by row.
    pub fn heights(&self) -> &[f64] {
        &self.heights
    }

    /// Position of row 0, column 0 in the plane.
    pub fn corner(&self) -> DVec2 {
        -0.5 * self.spacing * DVec2::new((self.columns - 1) as f64, (self.rows - 1) as f64)
    }

    /// Grid point at a row and column; panics if there is none.
    pub fn point(&self, row: usize, column: usize) -> DVec3 {
        let p = self.corner() + self.spacing * DVec2::new(column as f64, row as f64);
        p.extend(self.heights[row * self.columns + column])
    }

    /// All grid points row by row.
    pub fn points(&self) -> Vec<DVec3> {
        (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.point(row, column))).collect()
    }

    /// The two triangles of the cell between (row, column) and (row+1, column+1), looking up.
    pub fn cell(&self, row: usize, column: usize) -> [[DVec3; 3]; 2] {
        let [a, b] = [self.point(row, column), self.point(row, column + 1)];
        let [c, d] = [self.point(row + 1, column + 1), self.point(row + 1, column)];
        [[a, b, c], [a, c, d]]
    }

    /// How many triangles the surface has: two a cell, numbered cell by cell along the rows.
    pub const fn triangle_count(&self) -> u32 {
        (2 * (self.rows - 1) * (self.columns - 1)) as u32
    }

    /// Row and column of the three corners of triangle `i`; panics if there is no such triangle.
    pub(crate) fn triangle_corners(&self, i: u32) -> [[usize; 2]; 3] {
        let (cell, upper) = (i as usize / 2, i % 2 == 1);
        let (row, column) = (cell / (self.columns - 1), cell % (self.columns - 1));
        if upper {
            [[row, column], [row + 1, column + 1], [row + 1, column]]
        } else {
            [[row, column], [row, column + 1], [row + 1, column + 1]]
        }
    }

    /// Corners of triangle `i`, looking up; panics if there is no such triangle.
    pub fn triangle(&self, i: u32) -> [DVec3; 3] {
        self.triangle_corners(i).map(|[row, column]| self.point(row, column))
    }

    /// Calls `found` with the number of each triangle of a cell whose box intersects `query`, ascending;
    /// without a tree.
    pub fn triangles_in_box(&self, query: &Aabb, mut found: impl FnMut(u32)) {
        let low = (query.min().truncate() - self.corner()) / self.spacing;
        let high = (query.max().truncate() - self.corner()) / self.spacing;
        let cells = [self.columns - 1, self.rows - 1];
        // A little more than the box, so that rounding of the division loses no cell.
        let range = |axis: usize| {
            let slack = 1e-9 + 1e-12 * low[axis].abs().max(high[axis].abs());
            let first = (low[axis] - slack).floor().max(0.0);
            let last = (high[axis] + slack).floor().min((cells[axis] - 1) as f64);
            if first <= last { first as usize..last as usize + 1 } else { 0..0 }
        };
        for row in range(1) {
            for column in range(0) {
                let at = row * self.columns + column;
                let [a, b, d, c] =
                    [at, at + 1, at + self.columns, at + self.columns + 1].map(|i| self.heights[i]);
                let cell = 2 * (row * cells[0] + column) as u32;
                let (ends_low, ends_high) = (a.min(c), a.max(c));
                for (upper, h) in [(0, b), (1, d)] {
                    if ends_low.min(h) <= query.max().z && ends_high.max(h) >= query.min().z {
                        found(cell + upper);
                    }
                }
            }
        }
    }

    /// Height of the surface over a point of the plane; None outside the grid.
    pub fn height_at(&self, p: DVec2) -> Option<f64> {
        let grid = (p - self.corner()) / self.spacing;
        let last = DVec2::new((self.columns - 1) as f64, (self.rows - 1) as f64);
        if !(grid.cmpge(DVec2::ZERO).all() && grid.cmple(last).all()) {
            return None;
        }
        let column = (grid.x as usize).min(self.columns - 2);
        let row = (grid.y as usize).min(self.rows - 2);
        let (u, v) = (grid.x - column as f64, grid.y - row as f64);
        let h = |r: usize, c: usize| self.heights[(row + r) * self.columns + column + c];
        // Linear over the lower right or the upper left triangle of the cell.
        let (across, along) = if u >= v {
            (h(0, 1) - h(0, 0), h(1, 1) - h(0, 1))
        } else {
            (h(1, 1) - h(1, 0), h(1, 0) - h(0, 0))
        };
        Some(h(0, 0) + u * across + v * along)
    }

    /// Whether the point lies on or below the surface, within the grid.
    pub fn contains(&self, p: DVec3) -> bool {
        self.height_at(p.truncate()).is_some_and(|height| p.z <= height)
    }

    /// Smallest axis-aligned box of the surface at `pose`; of a rotated one the box of its own box.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let corner = self.corner();
        let local = Aabb::new(corner.extend(self.range[0]), (-corner).extend(self.range[1])).ok()?;
        if pose.rotation.xyz() == DVec3::ZERO {
            return local.transformed(pose).ok();
        }
        if self.heights.len() <= 4096 {
            let rotation = pose.rotation_matrix();
            let grid =
                (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| self.point(row, column)));
            Aabb::from_points(grid.map(|p| rotation * p + pose.translation)).ok()
        } else {
            local.transformed(pose).ok()
        }
    }

    /// The surface as triangles.
    pub fn surface(&self) -> Result<TriangleMesh, MeshError> {
        let mut triangles = Vec::with_capacity(2 * (self.rows - 1) * (self.columns - 1));
        for row in 0..self.rows - 1 {
            for column in 0..self.columns - 1 {
                let a = (row * self.columns + column) as u32;
                let d = a + self.columns as u32;
                triangles.extend([[a, a + 1, d + 1], [a, d + 1, d]]);
            }
        }
        TriangleMesh::new(self.points(), triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilted_plane_is_reproduced_everywhere() {
        let heights = (0..12).map(|i| 2.0 * (i % 4) as f64 + 3.0 * (i / 4) as f64).collect();
        let field = HeightField::new(3, 4, DVec2::new(0.5, 2.0), heights).unwrap();
        for p in [DVec2::new(-0.75, -2.0), DVec2::new(0.75, 2.0), DVec2::new(0.1, 0.3), DVec2::new(-0.4, 1.9)]
        {
            let expected = 2.0 * (p.x + 0.75) / 0.5 + 3.0 * (p.y + 2.0) / 2.0;
            assert!((field.height_at(p).unwrap() - expected).abs() < 1e-13);
        }
        assert_eq!(field.height_at(DVec2::new(0.76, 0.0)), None);
        let surface = field.surface().unwrap();
        assert_eq!(surface.triangles().len(), 12);
        assert!((0..12).all(|i| surface.area_vector(i).z > 0.0));
    }

    #[test]
    fn a_kinked_cell_agrees_with_its_triangles() {
        let field = HeightField::new(2, 2, DVec2::ONE, vec![0.0, 1.0, 3.0, -2.0]).unwrap();
        for triangle in field.cell(0, 0) {
            let middle = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
            assert!((field.height_at(middle.truncate()).unwrap() - middle.z).abs() < 1e-14);
            assert!(field.contains(middle - 1e-9 * DVec3::Z) && !field.contains(middle + 1e-9 * DVec3::Z));
        }
    }

    #[test]
    fn triangles_in_a_box_are_those_of_brute_force() {
        let heights = (0..42).map(|i| f64::from(i * 7 % 11) * 0.3).collect();
        let field = HeightField::new(6, 7, DVec2::new(0.5, 0.4), heights).unwrap();
        let surface = field.surface().unwrap();
        for i in 0..200 {
            let t = f64::from(i);
            let center =
                DVec3::new(2.0 * (1.3 * t).sin(), 1.5 * (2.1 * t).cos(), 1.5 + 2.0 * (0.7 * t).sin());
            let query = Aabb::from_center(center, DVec3::new(0.3, 0.1 + 0.01 * t, 0.4)).unwrap();
            let mut found = Vec::new();
            field.triangles_in_box(&query, |i| found.push(i));
            assert!(found.is_sorted());
            for i in 0..field.triangle_count() {
                assert_eq!(field.triangle(i), surface.triangle(i as usize));
                if Aabb::from_points(field.triangle(i)).unwrap().overlaps(&query) {
                    assert!(found.contains(&i));
                }
            }
        }
    }

    #[test]
    fn bad_grids_are_refused() {
        let make = |rows, columns, spacing, heights: &[f64]| {
            HeightField::new(rows, columns, spacing, heights.to_vec())
        };
        assert!(matches!(make(1, 2, DVec2::ONE, &[0.0; 2]), Err(HeightFieldError::GridSize { .. })));
        assert!(matches!(make(usize::MAX, 2, DVec2::ONE, &[]), Err(HeightFieldError::GridSize { .. })));
        assert!(matches!(make(2, 2, DVec2::ONE, &[0.0; 5]), Err(HeightFieldError::HeightCount { .. })));
        assert!(matches!(
            make(2, 2, DVec2::new(1.0, -1.0), &[0.0; 4]),
            Err(HeightFieldError::Spacing { .. })
        ));
        let nan = make(2, 2, DVec2::ONE, &[0.0, 0.0, f64::NAN, 0.0]);
        assert!(matches!(nan, Err(HeightFieldError::Height { row: 1, column: 0, .. })));
    }
}
