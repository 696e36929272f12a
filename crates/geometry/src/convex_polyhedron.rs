//! Convex polyhedra.
//!
//! A closed surface of one piece without handles that bends outwards at every edge is convex, provided it does not wind
//! around itself; the hull of its vertices then has the same volume.

use std::ops::Deref;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::convex_hull::hull_triangles;
use crate::polyhedron::Written;
use crate::shape::bounds_of_points;
use crate::{Aabb, MeshError, Polyhedron, Pose, VolumeIntegrals};

/// Up to this many vertices a plain scan finds the farthest one faster than climbing along edges.
const SCAN: usize = 24;

/// A polyhedron known to be convex, ready for support queries.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::convex_hull;
/// let octahedron = convex_hull(&[DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z])?;
/// assert_eq!(octahedron.support(DVec3::new(0.1, 0.2, 0.9)), DVec3::Z);
/// assert!(octahedron.contains(DVec3::splat(0.33)) && !octahedron.contains(DVec3::splat(0.34)));
/// # Ok::<(), rattleback_geometry::HullError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct ConvexPolyhedron {
    polyhedron: Polyhedron,
    /// Neighbours of each vertex along edges, counter-clockwise; vertex v has those of `vertex_edges(v)`.
    neighbors: Vec<u32>,
    neighbor_starts: Vec<u32>,
}

impl TryFrom<Written> for ConvexPolyhedron {
    type Error = MeshError;

    fn try_from(read: Written) -> Result<Self, MeshError> {
        Self::new(Polyhedron::try_from(read)?)
    }
}

impl From<ConvexPolyhedron> for Written {
    fn from(convex: ConvexPolyhedron) -> Self {
        convex.polyhedron.into()
    }
}

impl Deref for ConvexPolyhedron {
    type Target = Polyhedron;

    fn deref(&self) -> &Polyhedron {
        &self.polyhedron
    }
}

impl ConvexPolyhedron {
    /// Polyhedron ⇒ convex polyhedron, if it is one.
    pub fn new(polyhedron: Polyhedron) -> Result<Self, MeshError> {
        let convex = Self::from_hull(polyhedron)?;
        let volume = convex.integrals().t1;
        // Winding around itself covers volume more than once.
        let hull = hull_triangles(convex.vertices()).map_err(|_| MeshError::NotSimple)?;
        let hull_volume = VolumeIntegrals::of_triangles(convex.vertices(), &hull).t1;
        let size =
            bounds_of_points(convex.vertices(), &Pose::IDENTITY).map_or(0.0, |bounds| bounds.diagonal());
        if (volume - hull_volume).abs() > (1e-8 + 10.0 * convex.tolerance()) * size.powi(3) {
            return Err(MeshError::NotSimple);
        }
        Ok(convex)
    }

    /// Checks one shell without handles and every edge bending outwards, which for the faces of a hull is enough.
    pub(crate) fn from_hull(polyhedron: Polyhedron) -> Result<Self, MeshError> {
        let (v, e, f) = (polyhedron.vertices().len(), polyhedron.edges().len(), polyhedron.face_count());
        if v + f != e + 2 {
            return Err(MeshError::NotSimple);
        }
        let bounds = bounds_of_points(polyhedron.vertices(), &Pose::IDENTITY).ok_or(MeshError::Empty)?;
        // The plane of either face may be off by the tolerance.
        let allowed = 2.0 * polyhedron.tolerance() * bounds.diagonal();
        for edge in polyhedron.edges() {
            for [face, other] in
                [edge.faces, [edge.faces[1], edge.faces[0]]].map(|pair| pair.map(|i| i as usize))
            {
                for &vertex in polyhedron.face(other) {
                    let p = polyhedron.vertices()[vertex as usize];
                    let height = polyhedron.normals()[face].dot(p) - polyhedron.offsets()[face];
                    if height > allowed {
                        return Err(MeshError::NotConvex { face, vertex: vertex as usize, height });
                    }
                }
            }
        }
        let mut neighbors = Vec::with_capacity(2 * e);
        let mut neighbor_starts = vec![0];
        for vertex in 0..v {
            for &edge in polyhedron.vertex_edges(vertex) {
                let [a, b] = polyhedron.edges()[edge as usize].vertices;
                neighbors.push(if a as usize == vertex { b } else { a });
            }
            neighbor_starts.push(neighbors.len() as u32);
        }
        Ok(Self { polyhedron, neighbors, neighbor_starts })
    }

    /// The polyhedron without the promise.
    pub fn polyhedron(&self) -> &Polyhedron {
        &self.polyhedron
    }

    /// Vertices joined to a vertex by an edge, counter-clockwise. Panics if there is no such vertex.
    pub fn vertex_neighbors(&self, vertex: usize) -> &[u32] {
        &self.neighbors[self.neighbor_starts[vertex] as usize..self.neighbor_starts[vertex + 1] as usize]
    }

    /// A vertex farthest along a direction.
    pub fn support(&self, direction: DVec3) -> DVec3 {
        self.vertices()[self.support_vertex(direction, 0) as usize]
    }

    /// Index of a vertex farthest along a direction. `start` is where to look first: the last answer for a similar
    /// direction makes this nearly free.
    pub fn support_vertex(&self, direction: DVec3, start: u32) -> u32 {
        let vertices = self.vertices();
        if vertices.len() <= SCAN {
            let mut best = (f64::NEG_INFINITY, 0);
            for (i, p) in (0u32..).zip(vertices) {
                let reach = p.dot(direction);
                if reach > best.0 {
                    best = (reach, i);
                }
            }
            return best.1;
        }
        let mut best = if (start as usize) < vertices.len() { start } else { 0 };
        let mut reach = vertices[best as usize].dot(direction);
        loop {
            let from = best;
            for &next in self.vertex_neighbors(from as usize) {
                let next_reach = vertices[next as usize].dot(direction);
                if next_reach > reach {
                    (best, reach) = (next, next_reach);
                }
            }
            if best == from {
                return best;
            }
        }
    }

    /// Smallest axis-aligned box at `pose`; None if the pose is not finite.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        if self.vertices().len() <= 10 * SCAN {
            return bounds_of_points(self.vertices(), pose);
        }
        let mut extremes = [DVec3::ZERO; 6];
        let mut start = 0;
        for (i, extreme) in extremes.iter_mut().enumerate() {
            let axis = DVec3::AXES[i % 3] * if i < 3 { 1.0 } else { -1.0 };
            start = self.support_vertex(pose.inverse_vector(axis), start);
            *extreme = pose.point(self.vertices()[start as usize]);
        }
        Aabb::from_points(extremes).ok()
    }

    /// Whether the point lies inside or on the surface.
    pub fn contains(&self, p: DVec3) -> bool {
        self.normals().iter().zip(self.offsets()).all(|(normal, offset)| normal.dot(p) <= *offset)
    }
}
