//! Vertices, edges and faces of a convex polyhedron with the planes between their Voronoi regions.
//!
//! The Voronoi region of a feature is the set of outside points nearer to it than to any other feature. With
//! d the unit direction of an edge from tail to head, n_f the outward normal of a face and m_f = n_f × d_f
//! the vector in the face across its side, pointing inwards (d_f the side's direction in f's order), a point
//! p lies in the region of
//!
//! - a vertex v if (p − v)·d_o ≤ 0 for the direction d_o of every edge away from v;
//! - an edge if 0 ≤ (p − tail)·d ≤ length and (p − tail)·m_f ≤ 0 for both its faces;
//! - a face if (p − side)·m_f ≥ 0 for all its sides, and p is above it.
//!
//! The feature across each plane is the one it shares the plane with. Coplanar neighbours must be one face:
//! between two halves of a plane a walk from region to region may not terminate.

use glam::DVec3;

use crate::{ConvexPolyhedron, MeshError, Polyhedron};

/// Neighbouring faces whose normals differ by less than this are one.
const COPLANAR: f64 = 1e-9;
/// Overlap of adjacent regions, as a fraction of the size: prevents walks that alternate between the two.
const OVERLAP: f64 = 1e-13;

/// A feature of a polyhedron, by its number among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Corner.
    Vertex(u32),
    /// Edge.
    Edge(u32),
    /// Face.
    Face(u32),
}

impl Default for Feature {
    fn default() -> Self {
        Self::Vertex(0)
    }
}

/// An edge, its ends, and the planes of its region.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdgeRegion {
    pub(super) tail: DVec3,
    pub(super) direction: DVec3,
    pub(super) length: f64,
    /// m_f of the left and the right face.
    pub(super) into_faces: [DVec3; 2],
    pub(super) ends: [u32; 2],
    pub(super) faces: [u32; 2],
}

impl EdgeRegion {
    #[inline]
    pub(super) fn head(&self) -> DVec3 {
        self.tail + self.length * self.direction
    }
}

/// A plane at a vertex: across it lies the region of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct VertexPlane {
    /// Unit, along the edge, away from the vertex.
    pub(super) away: DVec3,
    pub(super) edge: u32,
}

/// A plane at a side of a face: across it lies the region of the side's edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct SidePlane {
    /// m_f.
    pub(super) inward: DVec3,
    /// m_f · (any point of the side).
    pub(super) offset: f64,
    pub(super) edge: u32,
}

/// Features of a convex polyhedron and the planes between their regions, for feature walks.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{closest::FeatureMap, convex_hull};
/// let octahedron = convex_hull(&[DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z])?;
/// assert_eq!(FeatureMap::new(&octahedron)?.feature_count(), 6 + 12 + 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FeatureMap {
    polyhedron: ConvexPolyhedron,
    edges: Vec<EdgeRegion>,
    vertex_planes: Vec<VertexPlane>,
    vertex_starts: Vec<u32>,
    side_planes: Vec<SidePlane>,
    side_starts: Vec<u32>,
    overlap: f64,
    size: f64,
}

impl FeatureMap {
    /// Convex polyhedron ⇒ its features. Coplanar neighbouring faces are merged first; `polyhedron` is the
    /// result.
    pub fn new(polyhedron: &ConvexPolyhedron) -> Result<Self, MeshError> {
        let normals = polyhedron.normals();
        let coplanar = polyhedron.edges().iter().any(|edge| {
            let [left, right] = edge.faces.map(|face| normals[face as usize]);
            left.cross(right).length() < COPLANAR
        });
        if coplanar {
            let merged = Polyhedron::merged(polyhedron.soup(), COPLANAR.max(polyhedron.tolerance()))?;
            return Ok(Self::of_merged(ConvexPolyhedron::new(merged)?));
        }
        Ok(Self::of_merged(polyhedron.clone()))
    }

    fn of_merged(polyhedron: ConvexPolyhedron) -> Self {
        let vertices = polyhedron.vertices();
        let edges: Vec<EdgeRegion> = polyhedron
            .edges()
            .iter()
            .map(|edge| {
                let [tail, head] = edge.vertices.map(|v| vertices[v as usize]);
                let direction = (head - tail).normalize_or(DVec3::X);
                let [left, right] = edge.faces.map(|face| polyhedron.normals()[face as usize]);
                EdgeRegion {
                    tail,
                    direction,
                    length: (head - tail).length(),
                    into_faces: [left.cross(direction), direction.cross(right)],
                    ends: edge.vertices,
                    faces: edge.faces,
                }
            })
            .collect();
        let mut vertex_planes = Vec::with_capacity(2 * edges.len());
        let mut vertex_starts = vec![0];
        for vertex in 0..vertices.len() {
            for &edge in polyhedron.vertex_edges(vertex) {
                let region = &edges[edge as usize];
                let out = region.ends[0] as usize == vertex;
                let away = if out { region.direction } else { -region.direction };
                vertex_planes.push(VertexPlane { away, edge });
            }
            vertex_starts.push(vertex_planes.len() as u32);
        }
        let mut side_planes = Vec::with_capacity(2 * edges.len());
        let mut side_starts = vec![0];
        for face in 0..polyhedron.face_count() {
            for &edge in polyhedron.face_edges(face) {
                let region = &edges[edge as usize];
                let inward = region.into_faces[usize::from(region.faces[0] as usize != face)];
                side_planes.push(SidePlane { inward, offset: inward.dot(region.tail), edge });
            }
            side_starts.push(side_planes.len() as u32);
        }
        let size = vertices.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
        Self {
            edges,
            vertex_planes,
            vertex_starts,
            side_planes,
            side_starts,
            overlap: OVERLAP * size,
            size,
            polyhedron,
        }
    }

    /// The polyhedron that features are numbered in.
    pub fn polyhedron(&self) -> &ConvexPolyhedron {
        &self.polyhedron
    }

    /// Number of vertices, edges and faces together.
    pub fn feature_count(&self) -> usize {
        self.polyhedron.vertices().len() + self.edges.len() + self.polyhedron.face_count()
    }

    /// Whether there is such a feature.
    pub fn has(&self, feature: Feature) -> bool {
        match feature {
            Feature::Vertex(v) => (v as usize) < self.polyhedron.vertices().len(),
            Feature::Edge(e) => (e as usize) < self.edges.len(),
            Feature::Face(f) => (f as usize) < self.polyhedron.face_count(),
        }
    }

    #[inline]
    pub(super) fn vertex(&self, vertex: u32) -> DVec3 {
        self.polyhedron.vertices()[vertex as usize]
    }

    #[inline]
    pub(super) fn edge(&self, edge: u32) -> &EdgeRegion {
        &self.edges[edge as usize]
    }

    #[inline]
    pub(super) fn vertex_planes(&self, vertex: u32) -> &[VertexPlane] {
        let vertex = vertex as usize;
        &self.vertex_planes[self.vertex_starts[vertex] as usize..self.vertex_starts[vertex + 1] as usize]
    }

    #[inline]
    pub(super) fn side_planes(&self, face: u32) -> &[SidePlane] {
        let face = face as usize;
        &self.side_planes[self.side_starts[face] as usize..self.side_starts[face + 1] as usize]
    }

    #[inline]
    pub(super) fn normal(&self, face: u32) -> DVec3 {
        self.polyhedron.normals()[face as usize]
    }

    /// Height of a point above the plane of a face.
    #[inline]
    pub(super) fn height(&self, face: u32, p: DVec3) -> f64 {
        self.normal(face).dot(p) - self.polyhedron.offsets()[face as usize]
    }

    /// The face whose plane a point is highest above, and how high.
    pub(super) fn highest_face(&self, p: DVec3) -> (u32, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for face in 0..self.polyhedron.face_count() as u32 {
            let height = self.height(face, p);
            if height > best.1 {
                best = (face, height);
            }
        }
        best
    }

    /// How far regions reach into each other.
    #[inline]
    pub(super) fn overlap(&self) -> f64 {
        self.overlap
    }

    /// Largest coordinate.
    #[inline]
    pub(super) fn size(&self) -> f64 {
        self.size
    }
}
