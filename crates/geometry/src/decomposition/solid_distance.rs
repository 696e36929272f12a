//! Signed distance of points from a solid, exact up to rounding.
//!
//! The nearest surface point c lies inside a face, on an edge or on a vertex. With the pseudo-normal n of
//! that feature (of an edge the sum of its faces' normals, of a vertex the sum weighted by the faces' angles
//! there) the point p is outside exactly if (p − c)·n > 0 (Bærentzen and Aanæs 2005). Faces are found through
//! the hierarchy of the mesh.

use std::collections::HashMap;

use glam::DVec3;

use crate::TriangleMesh;
use crate::hierarchy::{HierarchyError, MeshTree, Scratch};

/// A solid prepared for distance queries.
pub(super) struct SolidDistance<'a> {
    mesh: &'a TriangleMesh,
    tree: &'a MeshTree,
    face_normals: Vec<DVec3>,
    vertex_normals: Vec<DVec3>,
    edge_normals: HashMap<(u32, u32), DVec3>,
}

/// The surface point nearest to a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub point: DVec3,
    pub face: u32,
    /// Negative inside.
    pub distance: f64,
}

/// Part of a triangle that is nearest: its inside, the edge from a corner to the next, or a corner.
#[derive(Clone, Copy)]
enum Feature {
    Face,
    Edge(usize),
    Corner(usize),
}

impl<'a> SolidDistance<'a> {
    /// Solid mesh ⇒ pseudo-normals; an error if it has no hierarchy.
    pub fn new(mesh: &'a TriangleMesh) -> Result<Self, HierarchyError> {
        let tree = mesh.tree()?;
        let count = mesh.triangles().len();
        let face_normals: Vec<DVec3> = (0..count).map(|f| mesh.area_vector(f).normalize_or_zero()).collect();
        let mut vertex_normals = vec![DVec3::ZERO; mesh.vertices().len()];
        let mut edge_normals = HashMap::with_capacity(2 * count);
        for (f, triangle) in mesh.triangles().iter().enumerate() {
            let corners = mesh.triangle(f);
            for i in 0..3 {
                let (next, last) = ((i + 1) % 3, (i + 2) % 3);
                let angle = (corners[next] - corners[i]).angle_between(corners[last] - corners[i]);
                if angle.is_finite() {
                    vertex_normals[triangle[i] as usize] += angle * face_normals[f];
                }
                let (a, b) = (triangle[i], triangle[next]);
                *edge_normals.entry((a.min(b), a.max(b))).or_insert(DVec3::ZERO) += face_normals[f];
            }
        }
        Ok(Self { mesh, tree, face_normals, vertex_normals, edge_normals })
    }

    /// Point ⇒ nearest surface point and signed distance; None if the point is not finite.
    pub fn nearest(&self, p: DVec3) -> Option<Nearest> {
        let face = self.tree.nearest_point(p, f64::INFINITY, &mut Scratch::default())?.triangle;
        let (point, feature) = nearest_on_triangle(self.mesh.triangle(face as usize), p);
        let squared = p.distance_squared(point);
        let triangle = self.mesh.triangles()[face as usize];
        let normal = match feature {
            Feature::Face => self.face_normals[face as usize],
            Feature::Corner(i) => self.vertex_normals[triangle[i] as usize],
            Feature::Edge(i) => {
                let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
                self.edge_normals.get(&(a.min(b), a.max(b))).copied().unwrap_or_default()
            }
        };
        let outside = (p - point).dot(normal) > 0.0;
        Some(Nearest { point, face, distance: if outside { squared.sqrt() } else { -squared.sqrt() } })
    }

    /// Normal of a face.
    pub fn face_normal(&self, face: u32) -> DVec3 {
        self.face_normals[face as usize]
    }
}

/// Nearest point of a triangle, by the regions in front of its corners, edges and inside.
fn nearest_on_triangle([a, b, c]: [DVec3; 3], p: DVec3) -> (DVec3, Feature) {
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (ab.dot(p - a), ac.dot(p - a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, Feature::Corner(0));
    }
    let (d3, d4) = (ab.dot(p - b), ac.dot(p - b));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, Feature::Corner(1));
    }
    let (d5, d6) = (ab.dot(p - c), ac.dot(p - c));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, Feature::Corner(2));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + d1 / (d1 - d3) * ab, Feature::Edge(0));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + d2 / (d2 - d6) * ac, Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + t * (c - b), Feature::Edge(1));
    }
    let total = va + vb + vc;
    (a + vb / total * ab + vc / total * ac, Feature::Face)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    /// Sign against the solid angle, size against a scan of dense surface samples.
    #[test]
    fn distances_from_a_torus_match_the_closed_form_of_its_smooth_shape() {
        let torus = generate::torus(1.0, 0.4, 96, 64).unwrap();
        let solid = SolidDistance::new(&torus).unwrap();
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        for _ in 0..2000 {
            let p = DVec3::new(2.0 * random(), 2.0 * random(), random());
            let nearest = solid.nearest(p).unwrap();
            let smooth = (p.truncate().length() - 1.0).hypot(p.z) - 0.4;
            assert!((nearest.distance - smooth).abs() < 2e-3, "{p}: {} {smooth}", nearest.distance);
            assert!((nearest.point.distance(p) - nearest.distance.abs()).abs() < 1e-12);
        }
    }
}
