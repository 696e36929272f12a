//! Sampled signed distance field.
//!
//! On each of its three grid lines the nearest crossing of a grid vertex is at the distance |c − i| h. The
//! smallest of the three, negative inside, is the vertex's value d. A line cannot reach the surface before
//! the shortest way does, and in front of a plane with normal n the axis i crosses it after dist / |nᵢ|, so
//!   dist ≤ |d|,   and for a plane   |d| = dist / maxᵢ |nᵢ| ≤ √3 dist.
//! Between the vertices the value is trilinear.
//!
//! Only the crossings are stored: 6 n² numbers for a convex solid on an n³ grid. (This representation is
//! described in US patent 7,555,163.)

use glam::DVec3;

use super::grid::{FieldGrid, snapped};
use super::scanlines::{Budget, Scanlines, Surface};
use super::{FieldError, FieldSettings};
use crate::mesh_report::{check_elements, has_repeated_corner};
use crate::{Aabb, MeshError, PolygonSoup, TriangleMesh, triangulate_face};

/// Signed distance to a closed surface on a grid: positive outside, zero on the surface, negative inside.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::TriangleMesh;
/// use rattleback_geometry::distance_field::{DistanceField, FieldSettings};
/// use rattleback_geometry::generate;
/// let cube = TriangleMesh::from_soup(&generate::cuboid(DVec3::ONE)?)?;
/// let field = DistanceField::build(&cube, &FieldSettings { resolution: 20, ..FieldSettings::default() })?;
/// assert_eq!(field.value(DVec3::new(0.9, 0.0, 0.0)).map(|d| (1e9 * d).round()), Some(-1e8));
/// assert_eq!(field.gradient(DVec3::new(0.9, 0.0, 0.0)), Some(DVec3::X));
/// assert_eq!(field.value(DVec3::splat(9.0)), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceField {
    grid: FieldGrid,
    scanlines: [Scanlines; 3],
}

impl DistanceField {
    /// Closed mesh ⇒ field. Cracks narrower than 1e-7 of a cell are bridged, wider ones are an error.
    pub fn build(mesh: &TriangleMesh, settings: &FieldSettings) -> Result<Self, FieldError> {
        Self::of_triangles(mesh.vertices(), mesh.triangles(), settings)
    }

    /// Polygons ⇒ field, as `build`. Vertices need not be shared between faces.
    pub fn build_from_soup(soup: &PolygonSoup, settings: &FieldSettings) -> Result<Self, FieldError> {
        check_elements(&soup.vertices, soup.faces())?;
        let mut triangles = Vec::new();
        for (index, face) in soup.faces().enumerate() {
            if face.len() < 3 || has_repeated_corner(face) {
                return Err(MeshError::DegenerateFace { face: index }.into());
            }
            triangulate_face(&soup.vertices, face, &mut triangles);
        }
        Self::of_triangles(&soup.vertices, &triangles, settings)
    }

    fn of_triangles(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        settings: &FieldSettings,
    ) -> Result<Self, FieldError> {
        // Vertices that no face uses must not widen the grid.
        let used = triangles.iter().flatten().map(|&v| vertices[v as usize]);
        let bounds = Aabb::from_points(used).map_err(|_| MeshError::Empty)?;
        let grid = FieldGrid::around(bounds, settings.resolution)?;
        let in_cells: Vec<DVec3> = vertices.iter().map(|&p| grid.coordinates(p).map(snapped)).collect();
        let surface =
            Surface { vertices: &in_cells, triangles, cells: grid.cells(), fill: settings.fill_rule };
        let mut budget = Budget { used: 0, allowed: settings.memory_limit };
        let mut cast = |axis| Scanlines::cast(axis, &surface, &mut budget);
        Ok(Self { grid, scanlines: [cast(0)?, cast(1)?, cast(2)?] })
    }

    /// Grid of the field.
    pub fn grid(&self) -> &FieldGrid {
        &self.grid
    }

    /// Number of stored crossings.
    pub fn crossing_count(&self) -> usize {
        self.scanlines.iter().map(Scanlines::len).sum()
    }

    /// Memory held, in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.scanlines.iter().map(Scanlines::bytes).sum::<usize>()
    }

    /// Value at a grid vertex; None if there is no such vertex.
    pub fn vertex_value(&self, vertex: [u32; 3]) -> Option<f64> {
        (0..3).all(|axis| vertex[axis] <= self.grid.cells()[axis]).then(|| self.value_at(vertex))
    }

    /// Trilinear value at a point; None outside the grid (outside the solid) or if not finite.
    pub fn value(&self, p: DVec3) -> Option<f64> {
        let (corner, t) = self.grid.locate(p)?;
        let at = |x, y, z| self.value_at([corner[0] + x, corner[1] + y, corner[2] + z]);
        let along_x = |y, z| lerp(at(0, y, z), at(1, y, z), t.x);
        let along_y = |z| lerp(along_x(0, z), along_x(1, z), t.y);
        Some(lerp(along_y(0), along_y(1), t.z))
    }

    pub(super) fn scanlines(&self) -> &[Scanlines; 3] {
        &self.scanlines
    }

    /// Signed distance along one axis, in cells; None if the line misses the solid.
    pub(super) fn axis_distance(&self, vertex: [u32; 3], axis: usize) -> Option<f64> {
        let crossings = self.scanlines[axis].through(vertex);
        let i = f64::from(vertex[axis]);
        let after = crossings.partition_point(|&c| c < i);
        let back = after.checked_sub(1).map_or(f64::INFINITY, |k| i - crossings[k]);
        let ahead = crossings.get(after).map_or(f64::INFINITY, |c| c - i);
        let distance = back.min(ahead);
        let inside = after % 2 == 1;
        distance.is_finite().then_some(if inside { -distance } else { distance })
    }

    /// Value at an existing grid vertex.
    pub(super) fn value_at(&self, vertex: [u32; 3]) -> f64 {
        let mut smallest = f64::INFINITY;
        let mut votes = 0;
        for axis in 0..3 {
            let signed = self.axis_distance(vertex, axis);
            smallest = smallest.min(signed.map_or(f64::INFINITY, f64::abs));
            votes += if signed.is_some_and(|d| d < 0.0) { -1 } else { 1 };
        }
        if votes < 0 {
            return -smallest * self.grid.cell();
        }
        // In front of a plane with an inside neighbour, at most √3 cells away, the value is at most √3·√3
        // cells.
        if smallest > 3.0 {
            smallest = smallest.min(self.near_inside(vertex));
        }
        let far = f64::from(self.grid.cells().into_iter().fold(0, u32::max));
        smallest.min(far) * self.grid.cell()
    }

    /// Distance in cells to the nearest of the 26 neighbours that is inside.
    ///
    /// Beside a sharp edge all three lines of an outside vertex can miss the solid although it is next door.
    /// Its huge value would drown the interpolation in the cell; the surface is not farther than an inside
    /// neighbour.
    fn near_inside(&self, vertex: [u32; 3]) -> f64 {
        let mut nearest = f64::INFINITY;
        let [nx, ny, nz] = self.grid.cells();
        let around = |c: u32, end: u32| c.saturating_sub(1)..=(c + 1).min(end);
        for y in around(vertex[1], ny) {
            for x in around(vertex[0], nx) {
                let crossings = self.scanlines[2].through([x, y, 0]);
                if crossings.is_empty() {
                    continue;
                }
                for z in around(vertex[2], nz) {
                    if crossings.partition_point(|&c| c < f64::from(z)) % 2 == 1 {
                        let steps = [x, y, z].iter().zip(vertex).filter(|(a, b)| **a != *b).count();
                        // The vertex itself can only be here by rounding: the other lines outvoted this one.
                        nearest = nearest.min(if steps == 0 { f64::INFINITY } else { (steps as f64).sqrt() });
                    }
                }
            }
        }
        nearest
    }
}

fn lerp(a: f64, b: f64, t: f64) -> f64 {
    a + t * (b - a)
}
