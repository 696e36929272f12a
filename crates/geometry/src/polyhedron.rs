//! Solids bounded by planar polygons, with their edges.
//!
//! Every edge of a closed oriented surface is one side each of two faces, in opposite directions. The edge
//! takes its direction from the first face in the list that has it; that face lies on its left.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::coplanar::{merge_coplanar, twins};
use crate::volume_integrals::center_of;
use crate::{
    Aabb, MassError, MassProperties, MeshError, MeshReport, PolygonSoup, Pose, TriangleMesh, VolumeIntegrals,
    polygon_area_vector,
};

/// Largest distance of a corner from its face's plane, as a fraction of the size.
const PLANAR: f64 = 1e-9;

/// An edge and its two faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Start and end, in the direction of the left face.
    pub vertices: [u32; 2],
    /// Left and right face; the left one comes first in the list of faces.
    pub faces: [u32; 2],
}

/// A closed, oriented, manifold surface with planar faces, looking outwards.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{Polyhedron, generate};
/// let cut = generate::cylinder(1.0, 2.0, 4)?; // a square block made of triangles
/// let block = Polyhedron::merged(&cut.to_soup(), 1e-9)?;
/// assert_eq!((block.vertices().len(), block.edges().len(), block.face_count()), (8, 12, 6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Polyhedron {
    soup: PolygonSoup,
    /// Corners lie within this fraction of the size from their face's plane.
    tolerance: f64,
    normals: Vec<DVec3>,
    offsets: Vec<f64>,
    edges: Vec<Edge>,
    /// Edge of each side, in the order of the soup's corners.
    edge_of_side: Vec<u32>,
    /// `side_starts[f]` is the first side of face f; one more entry closes the list.
    side_starts: Vec<u32>,
    /// Edges around each vertex, counter-clockwise seen from outside; `star_starts` as `side_starts`.
    stars: Vec<u32>,
    star_starts: Vec<u32>,
}

/// Serialised form of a polyhedron; topology and planes are rebuilt.
#[derive(Serialize, Deserialize)]
pub(crate) struct Written {
    soup: PolygonSoup,
    tolerance: f64,
}

impl TryFrom<Written> for Polyhedron {
    type Error = MeshError;

    fn try_from(read: Written) -> Result<Self, MeshError> {
        Self::with_tolerance(&read.soup, read.tolerance)
    }
}

impl From<Polyhedron> for Written {
    fn from(polyhedron: Polyhedron) -> Self {
        Self { soup: polyhedron.soup, tolerance: polyhedron.tolerance }
    }
}

impl Polyhedron {
    /// Soup ⇒ polyhedron with the same faces, if it bounds a solid and each face is planar and has an area.
    pub fn new(soup: &PolygonSoup) -> Result<Self, MeshError> {
        Self::with_tolerance(soup, PLANAR)
    }

    /// As `new`, with faces as uneven as this fraction of the size, for rough files. At most 0.1.
    pub fn with_tolerance(soup: &PolygonSoup, tolerance: f64) -> Result<Self, MeshError> {
        if !(0.0..=0.1).contains(&tolerance) {
            return Err(MeshError::Tolerance { tolerance });
        }
        if let Some(error) = MeshReport::of(soup)?.first_error() {
            return Err(error);
        }
        let polyhedron = Self::from_sound_soup(soup, tolerance);
        polyhedron.check_planes()?;
        Ok(polyhedron)
    }

    /// Soup ⇒ polyhedron with coplanar neighbouring faces merged into polygons; `tolerance` is a fraction of
    /// the size. Faces without area vanish in their neighbours.
    pub fn merged(soup: &PolygonSoup, tolerance: f64) -> Result<Self, MeshError> {
        // Measured from its own mean plane, a merged face is at most twice as uneven as from its first
        // part's.
        Self::with_tolerance(&merge_coplanar(soup, tolerance)?, (2.0 * tolerance).max(PLANAR))
    }

    /// Topology of a soup known to be closed, oriented and manifold.
    pub(crate) fn from_sound_soup(soup: &PolygonSoup, tolerance: f64) -> Self {
        let mut soup = soup.clone();
        drop_unused_vertices(&mut soup);
        let mut normals = Vec::with_capacity(soup.face_count());
        let mut offsets = Vec::with_capacity(soup.face_count());
        let mut side_starts = vec![0];
        for face in soup.faces() {
            let normal = polygon_area_vector(&soup.vertices, face).normalize_or_zero();
            let middle = face.iter().map(|&i| soup.vertices[i as usize]).sum::<DVec3>() / face.len() as f64;
            normals.push(normal);
            offsets.push(normal.dot(middle));
            side_starts.push(side_starts[side_starts.len() - 1] + face.len() as u32);
        }
        let twin = twins(&soup);
        let (edges, edge_of_side) = edges_of(&soup, &twin);
        let (stars, star_starts) = stars_of(&soup, &twin, &side_starts, &edge_of_side);
        Self { soup, tolerance, normals, offsets, edges, edge_of_side, side_starts, stars, star_starts }
    }

    fn check_planes(&self) -> Result<(), MeshError> {
        let size =
            Aabb::from_points(self.vertices().iter().copied()).map_err(|_| MeshError::Empty)?.diagonal();
        for (face, corners) in self.soup.faces().enumerate() {
            let height = |&i: &u32| {
                (self.normals[face].dot(self.soup.vertices[i as usize]) - self.offsets[face]).abs()
            };
            let deviation = corners.iter().map(height).fold(0.0, f64::max);
            let allowed = self.tolerance * size;
            if deviation > allowed {
                return Err(MeshError::NonPlanarFace { face, deviation, allowed });
            }
        }
        Ok(())
    }

    /// How uneven faces may be, as a fraction of the size.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Points.
    pub fn vertices(&self) -> &[DVec3] {
        &self.soup.vertices
    }

    /// Number of faces.
    pub fn face_count(&self) -> usize {
        self.soup.face_count()
    }

    /// Corners of a face, counter-clockwise seen from outside; panics if there is no such face.
    pub fn face(&self, face: usize) -> &[u32] {
        self.soup.face(face)
    }

    /// All faces in order.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> + '_ {
        self.soup.faces()
    }

    /// Outward unit normals of the faces.
    pub fn normals(&self) -> &[DVec3] {
        &self.normals
    }

    /// Plane of each face: normal·p = offset.
    pub fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// All edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Edges of a face: entry i joins corner i and corner i + 1. Panics if there is no such face.
    pub fn face_edges(&self, face: usize) -> &[u32] {
        &self.edge_of_side[self.side_starts[face] as usize..self.side_starts[face + 1] as usize]
    }

    /// Edges at a vertex, counter-clockwise seen from outside. Panics if there is no such vertex.
    pub fn vertex_edges(&self, vertex: usize) -> &[u32] {
        &self.stars[self.star_starts[vertex] as usize..self.star_starts[vertex + 1] as usize]
    }

    /// Faces and points as a soup.
    pub fn soup(&self) -> &PolygonSoup {
        &self.soup
    }

    /// The surface cut into triangles.
    pub fn to_triangle_mesh(&self) -> Result<TriangleMesh, MeshError> {
        TriangleMesh::from_soup(&self.soup)
    }

    /// The ten exact integrals over the solid.
    pub fn integrals(&self) -> VolumeIntegrals {
        VolumeIntegrals::of_soup(&self.soup)
    }

    /// Exact mass properties of the solid.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        let center = center_of(self.vertices());
        MassProperties::from_integrals(&VolumeIntegrals::of_soup_about(&self.soup, center), center, density)
    }

    /// The same solid in the local frame of `pose`: each vertex p becomes pose⁻¹(p).
    pub fn in_frame(&self, pose: &Pose) -> Result<Self, MeshError> {
        let mut soup = self.soup.clone();
        soup.vertices.iter_mut().for_each(|p| *p = pose.inverse_point(*p));
        Self::with_tolerance(&soup, self.tolerance)
    }
}

fn drop_unused_vertices(soup: &mut PolygonSoup) {
    let mut used = vec![false; soup.vertices.len()];
    soup.faces().flatten().for_each(|&v| used[v as usize] = true);
    if used.iter().all(|&u| u) {
        return;
    }
    let mut index = vec![0; used.len()];
    let mut kept = PolygonSoup::default();
    for (old, _) in used.iter().enumerate().filter(|(_, u)| **u) {
        index[old] = kept.vertices.len() as u32;
        kept.vertices.push(soup.vertices[old]);
    }
    for face in soup.faces() {
        let corners: Vec<u32> = face.iter().map(|&v| index[v as usize]).collect();
        kept.push_face(&corners);
    }
    *soup = kept;
}

/// Edges in the order of their first occurrence in the faces, and the edge of each side.
fn edges_of(soup: &PolygonSoup, twin: &[u32]) -> (Vec<Edge>, Vec<u32>) {
    let mut edges: Vec<Edge> = Vec::with_capacity(twin.len() / 2);
    let mut edge_of_side = vec![0; twin.len()];
    let mut side = 0;
    for (face, corners) in soup.faces().enumerate() {
        for (i, &from) in corners.iter().enumerate() {
            let opposite = twin[side] as usize;
            if opposite > side {
                edge_of_side[side] = edges.len() as u32;
                let to = corners[(i + 1) % corners.len()];
                edges.push(Edge { vertices: [from, to], faces: [face as u32, face as u32] });
            } else {
                let edge = edge_of_side[opposite];
                edge_of_side[side] = edge;
                edges[edge as usize].faces[1] = face as u32;
            }
            side += 1;
        }
    }
    (edges, edge_of_side)
}

/// Edges around each vertex: from a side to the side before it in its face, and across to that side's twin.
fn stars_of(
    soup: &PolygonSoup,
    twin: &[u32],
    side_starts: &[u32],
    edge_of_side: &[u32],
) -> (Vec<u32>, Vec<u32>) {
    let mut first_side = vec![u32::MAX; soup.vertices.len()];
    let mut previous = vec![0u32; twin.len()];
    for (face, corners) in soup.faces().enumerate() {
        let (start, count) = (side_starts[face], corners.len() as u32);
        for (i, &v) in (0u32..).zip(corners) {
            previous[(start + i) as usize] = start + (i + count - 1) % count;
            if first_side[v as usize] == u32::MAX {
                first_side[v as usize] = start + i;
            }
        }
    }
    let mut stars = Vec::with_capacity(twin.len());
    let mut star_starts = vec![0];
    for first in first_side {
        let mut side = first;
        while side != u32::MAX {
            stars.push(edge_of_side[side as usize]);
            side = twin[previous[side as usize] as usize];
            if side == first {
                break;
            }
        }
        star_starts.push(stars.len() as u32);
    }
    (stars, star_starts)
}
