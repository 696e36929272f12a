//! Common interface of meshes and terrain: triangles, their neighbours across edges, and near triangles.

use std::ops::ControlFlow;

use glam::DVec3;

use super::{ContactError, ContactSettings, Sides};
use crate::edge_table::edge_kind;
use crate::hierarchy::Scratch;
use crate::{Aabb, EdgeKind, HeightField, Shape, TriangleMesh};

/// A borrowed surface of triangles.
#[derive(Clone, Copy)]
pub(super) enum Surface<'a> {
    Mesh(&'a TriangleMesh),
    Terrain(&'a HeightField),
}

impl<'a> Surface<'a> {
    pub(super) fn of(shape: &'a Shape) -> Option<Self> {
        match shape {
            Shape::Mesh(mesh) => Some(Self::Mesh(mesh)),
            Shape::HeightField(field) => Some(Self::Terrain(field)),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn triangle(&self, i: u32) -> [DVec3; 3] {
        match self {
            Self::Mesh(mesh) => mesh.triangle(i as usize),
            Self::Terrain(field) => field.triangle(i),
        }
    }

    pub(super) fn triangle_count(&self) -> usize {
        match self {
            Self::Mesh(mesh) => mesh.triangles().len(),
            Self::Terrain(field) => 2 * (field.rows() - 1) * (field.columns() - 1),
        }
    }

    /// Numbers of the corners of a triangle, the same for vertices at the same place.
    pub(super) fn corners(&self, i: u32) -> [u32; 3] {
        match self {
            Self::Mesh(mesh) => mesh.triangles()[i as usize].map(|v| mesh.edge_table().place(v)),
            Self::Terrain(field) => {
                field.triangle_corners(i).map(|[row, column]| (row * field.columns() + column) as u32)
            }
        }
    }

    /// Where a corner is.
    pub(super) fn vertex(&self, v: u32) -> DVec3 {
        match self {
            Self::Mesh(mesh) => mesh.vertices()[v as usize],
            Self::Terrain(field) => field.point(v as usize / field.columns(), v as usize % field.columns()),
        }
    }

    /// A triangle and those over its edges.
    pub(super) fn self_and_neighbors(&self, i: u32) -> [Option<u32>; 4] {
        let [p, q, r] = match self {
            Self::Mesh(mesh) => mesh.edge_table().neighbors(i as usize),
            Self::Terrain(field) => {
                let [[row, column], ..] = field.triangle_corners(i);
                let (rows, columns) = (field.rows() - 1, field.columns() - 1);
                let at = |row: usize, column: usize, upper: u32| {
                    (row < rows && column < columns).then(|| 2 * (row * columns + column) as u32 + upper)
                };
                if i.is_multiple_of(2) {
                    [row.checked_sub(1).and_then(|r| at(r, column, 1)), at(row, column + 1, 1), Some(i + 1)]
                } else {
                    [Some(i - 1), at(row + 1, column, 0), column.checked_sub(1).and_then(|c| at(row, c, 0))]
                }
            }
        };
        [Some(i), p, q, r]
    }

    /// Whether it bounds something solid: then its inside is no place to be.
    pub(super) fn is_solid(&self) -> bool {
        match self {
            Self::Mesh(mesh) => mesh.is_solid(),
            Self::Terrain(_) => true,
        }
    }

    pub(super) fn one_sided(&self, settings: &ContactSettings) -> bool {
        self.is_solid() || settings.open_meshes == Sides::Front
    }

    /// Corner, off the edge, of the triangle over edge k of triangle i; None at a boundary.
    pub(super) fn across(&self, i: u32, k: usize) -> Option<DVec3> {
        match self {
            Self::Mesh(mesh) => {
                let vertex = mesh.edge_table().across(i as usize, k)?;
                Some(mesh.vertices()[vertex as usize])
            }
            Self::Terrain(field) => {
                let [[row, column], ..] = field.triangle_corners(i);
                // Lower triangle a, b, c: over ab the cell below, over bc the next one, over ca its twin.
                let beyond = match (i % 2, k) {
                    (0, 0) => (row.checked_sub(1)?, column),
                    (0, 1) => (row + 1, column + 2),
                    (0, _) => (row + 1, column),
                    // Upper triangle a, c, d.
                    (_, 0) => (row, column + 1),
                    (_, 1) => (row + 2, column + 1),
                    (_, _) => (row, column.checked_sub(1)?),
                };
                (beyond.0 < field.rows() && beyond.1 < field.columns())
                    .then(|| field.point(beyond.0, beyond.1))
            }
        }
    }

    /// How the surface continues over edge k of triangle i.
    pub(super) fn edge_kind(&self, i: u32, k: usize) -> EdgeKind {
        match self {
            Self::Mesh(mesh) => mesh.edge_table().kinds(i as usize)[k],
            Self::Terrain(_) => edge_kind(&self.triangle(i), k, self.across(i, k)),
        }
    }

    /// Whether every point joined by an edge to corner k of triangle i passes a test.
    pub(super) fn all_around(&self, i: u32, k: usize, mut test: impl FnMut(DVec3) -> bool) -> bool {
        self.all_joined(self.corners(i)[k], |w| test(self.vertex(w)))
    }

    /// Whether every vertex joined by an edge to vertex v passes a test.
    pub(super) fn all_joined(&self, v: u32, mut test: impl FnMut(u32) -> bool) -> bool {
        match self {
            Self::Mesh(mesh) => {
                let table = mesh.edge_table();
                table.around(v).iter().all(|&w| test(table.place(w)))
            }
            Self::Terrain(field) => {
                let (row, column) = (v as usize / field.columns(), v as usize % field.columns());
                let steps: [(isize, isize); 6] = [(0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0)];
                steps.into_iter().all(|(up, right)| {
                    let r = row.checked_add_signed(up).filter(|&r| r < field.rows());
                    let c = column.checked_add_signed(right).filter(|&c| c < field.columns());
                    match (r, c) {
                        (Some(r), Some(c)) => test((r * field.columns() + c) as u32),
                        _ => true,
                    }
                })
            }
        }
    }

    /// Numbers of the triangles that may intersect a box, replacing the contents of `found`, in ascending
    /// order.
    pub(super) fn near(
        &self,
        query: &Aabb,
        scratch: &mut Scratch,
        found: &mut Vec<u32>,
    ) -> Result<(), ContactError> {
        found.clear();
        match self {
            Self::Mesh(mesh) => {
                mesh.tree()?.tree().overlapping(query, scratch, |i| {
                    found.push(i);
                    ControlFlow::Continue(())
                });
                found.sort_unstable();
            }
            Self::Terrain(field) => field.triangles_in_box(query, |i| found.push(i)),
        }
        Ok(())
    }

    /// Whether a point lies in the solid.
    pub(super) fn contains(&self, p: DVec3, scratch: &mut Scratch) -> Result<bool, ContactError> {
        match self {
            Self::Mesh(mesh) => Ok(mesh.is_solid() && mesh.tree()?.contains(p, scratch)),
            Self::Terrain(field) => Ok(field.contains(p)),
        }
    }

    /// The triangle through which a point inside leaves soonest: the nearest one, of terrain the one above.
    pub(super) fn way_out(&self, p: DVec3, scratch: &mut Scratch) -> Result<Option<u32>, ContactError> {
        match self {
            Self::Mesh(mesh) => {
                let nearest = mesh.tree()?.nearest_point(p, f64::INFINITY, scratch);
                Ok(nearest.map(|nearest| nearest.triangle))
            }
            Self::Terrain(field) => {
                let grid = (p.truncate() - field.corner()) / field.spacing();
                let (columns, rows) = (field.columns() - 1, field.rows() - 1);
                if !(grid.min_element() >= 0.0) {
                    return Ok(None);
                }
                let (column, row) = ((grid.x as usize).min(columns - 1), (grid.y as usize).min(rows - 1));
                let upper = grid.x - (column as f64) < grid.y - (row as f64);
                Ok(Some(2 * (row * columns + column) as u32 + u32::from(upper)))
            }
        }
    }

    /// Its box in its own frame.
    pub(super) fn bounds(&self) -> Option<Aabb> {
        match self {
            Self::Mesh(mesh) => Some(mesh.bounds()),
            Self::Terrain(field) => field.aabb(&crate::Pose::IDENTITY),
        }
    }
}

/// Unit normal of a triangle; zero if it has no area.
pub(super) fn unit_normal([a, b, c]: &[DVec3; 3]) -> DVec3 {
    let sides = [*b - *a, *c - *b, *a - *c];
    // Of the three products of sides the one of the two shortest is the most exact.
    let longest =
        (0..3).max_by(|&i, &j| sides[i].length_squared().total_cmp(&sides[j].length_squared())).unwrap_or(0);
    let (p, q) = (sides[(longest + 1) % 3], sides[(longest + 2) % 3]);
    let normal = p.cross(q);
    // Needles whose direction is rounding only have none.
    if normal.length_squared() <= 1e-28 * p.length_squared() * q.length_squared() {
        return DVec3::ZERO;
    }
    normal.normalize_or_zero()
}

/// Box of a triangle as its least and greatest coordinates.
#[inline]
pub(super) fn extent(t: &[DVec3; 3]) -> (DVec3, DVec3) {
    (t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2]))
}
