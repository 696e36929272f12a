//! Adjacency of a triangle surface, and whether it is convex or concave across each edge.
//!
//! Vertices at the same place count as one, so that a soup of separate triangles has neighbours too. Over an
//! edge from p to q let w be the third corner of the neighbour, N this triangle's unit normal and h the
//! distance of w from the edge: sin of the fold = N·(w − p)/h. Below zero the surface bends away (convex),
//! above it rises (concave).

use glam::DVec3;

use crate::TriangleMesh;

/// No triangle, no vertex.
const NONE: u32 = u32::MAX;
/// Sine of the largest fold that counts as none.
const FLAT: f64 = 1e-6;

/// How a surface continues over an edge of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// Nothing beyond.
    Boundary,
    /// Both triangles lie in one plane.
    Flat,
    /// The surface is convex there, as on a sphere.
    Convex,
    /// The surface rises, as in a bowl.
    Concave,
}

/// Neighbours of every triangle and vertex of a mesh.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{EdgeKind, TriangleMesh, generate};
/// let cube = TriangleMesh::from_soup(&generate::cuboid(DVec3::ONE)?)?;
/// let kinds: Vec<_> = (0..12).flat_map(|i| cube.edge_table().kinds(i)).collect();
/// assert_eq!(kinds.iter().filter(|&&kind| kind == EdgeKind::Convex).count(), 24);
/// assert_eq!(kinds.iter().filter(|&&kind| kind == EdgeKind::Flat).count(), 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeTable {
    /// Over the edge from corner k to k + 1: the triangle there, and its corner off the edge.
    neighbors: Vec<[u32; 3]>,
    across: Vec<[u32; 3]>,
    kinds: Vec<[EdgeKind; 3]>,
    /// First vertex at the place of each vertex.
    place: Vec<u32>,
    /// Vertices joined to vertex v by an edge: `around[starts[v]..starts[v + 1]]`, of the first vertex at a
    /// place only.
    around: Vec<u32>,
    starts: Vec<u32>,
}

impl EdgeTable {
    pub(crate) fn of(mesh: &TriangleMesh) -> Self {
        let (vertices, triangles) = (mesh.vertices(), mesh.triangles());
        let place = same_place(vertices);
        let corners: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(|v| place[v as usize])).collect();
        let mut neighbors = vec![[NONE; 3]; triangles.len()];
        let mut across = vec![[NONE; 3]; triangles.len()];
        for run in sides(&corners).chunk_by(|x, y| x.0 == y.0) {
            for &(_, t, k) in run {
                if let Some(&(_, u, j)) = opposite(run, &corners, t, k) {
                    neighbors[t as usize][k as usize] = u;
                    across[t as usize][k as usize] = triangles[u as usize][(j as usize + 2) % 3];
                }
            }
        }
        let kinds = (0..triangles.len())
            .map(|t| {
                [0, 1, 2].map(|k| {
                    let beyond = (across[t][k] != NONE).then(|| vertices[across[t][k] as usize]);
                    edge_kind(&mesh.triangle(t), k, beyond)
                })
            })
            .collect();
        let (around, starts) = fans(&corners, &neighbors, vertices.len());
        Self { neighbors, across, kinds, place, around, starts }
    }

    /// The triangle over each edge of triangle `i`, edge k going from corner k to k + 1; None at a boundary.
    /// Panics if there is no such triangle.
    pub fn neighbors(&self, i: usize) -> [Option<u32>; 3] {
        self.neighbors[i].map(|t| (t != NONE).then_some(t))
    }

    /// How the surface continues over each edge of triangle `i`; panics if there is no such triangle.
    pub fn kinds(&self, i: usize) -> [EdgeKind; 3] {
        self.kinds[i]
    }

    /// The corner, off the edge, of the triangle over edge k of triangle `i`.
    pub(crate) fn across(&self, i: usize, k: usize) -> Option<u32> {
        let vertex = self.across[i][k];
        (vertex != NONE).then_some(vertex)
    }

    /// Vertices joined by an edge to vertex `v` or to another at its place; panics if there is no such
    /// vertex.
    pub fn around(&self, v: u32) -> &[u32] {
        let v = self.place[v as usize] as usize;
        &self.around[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// The first vertex at the position of vertex `v`.
    pub(crate) fn place(&self, v: u32) -> u32 {
        self.place[v as usize]
    }
}

/// How a surface continues from a triangle over its edge k towards a corner beyond.
pub(crate) fn edge_kind(triangle: &[DVec3; 3], k: usize, beyond: Option<DVec3>) -> EdgeKind {
    let Some(w) = beyond else { return EdgeKind::Boundary };
    let [a, b, c] = *triangle;
    let (p, q) = (triangle[k], triangle[(k + 1) % 3]);
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let along = (q - p).normalize_or_zero();
    let arm = (w - p).reject_from(if along == DVec3::ZERO { DVec3::X } else { along });
    let rise = normal.dot(w - p);
    if rise.abs() <= FLAT * arm.length() {
        // Folded back onto itself is a sharp edge, not a flat one.
        let inward = normal.cross(along);
        return if inward.dot(arm) > 0.0 { EdgeKind::Convex } else { EdgeKind::Flat };
    }
    if rise < 0.0 { EdgeKind::Convex } else { EdgeKind::Concave }
}

/// For each vertex the first one with the same coordinates.
fn same_place(vertices: &[DVec3]) -> Vec<u32> {
    let key = |v: u32| (vertices[v as usize] + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut order: Vec<u32> = (0..vertices.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (key(v), v));
    let mut place = vec![0; vertices.len()];
    for run in order.chunk_by(|&x, &y| key(x) == key(y)) {
        for &v in run {
            place[v as usize] = run[0];
        }
    }
    place
}

/// All sides (edge by its lower and higher vertex, triangle, side), sorted.
fn sides(corners: &[[u32; 3]]) -> Vec<(u64, u32, u32)> {
    let mut sides = Vec::with_capacity(3 * corners.len());
    for (t, corners) in (0u32..).zip(corners) {
        for k in 0..3u32 {
            let (p, q) = (corners[k as usize], corners[(k as usize + 1) % 3]);
            sides.push((u64::from(p.min(q)) << 32 | u64::from(p.max(q)), t, k));
        }
    }
    sides.sort_unstable();
    sides
}

/// Of the sides of one edge the continuation of side k of triangle t: another triangle, running the other way
/// if there is such a one. Repeated triangles are passed over.
fn opposite<'a>(
    run: &'a [(u64, u32, u32)],
    corners: &[[u32; 3]],
    t: u32,
    k: u32,
) -> Option<&'a (u64, u32, u32)> {
    let own = corners[t as usize];
    let third = own[(k as usize + 2) % 3];
    let other =
        |side: &&(u64, u32, u32)| side.1 != t && corners[side.1 as usize][(side.2 as usize + 2) % 3] != third;
    let reversed = |side: &&(u64, u32, u32)| corners[side.1 as usize][side.2 as usize] != own[k as usize];
    run.iter().find(|side| other(side) && reversed(side)).or_else(|| run.iter().find(other))
}

/// Neighbours of each vertex along edges.
fn fans(corners: &[[u32; 3]], neighbors: &[[u32; 3]], vertices: usize) -> (Vec<u32>, Vec<u32>) {
    let each = |visit: &mut dyn FnMut(u32, u32)| {
        for (corners, neighbors) in corners.iter().zip(neighbors) {
            for k in 0..3 {
                let (p, q) = (corners[k], corners[(k + 1) % 3]);
                visit(p, q);
                // The neighbour traverses the edge in the opposite direction; where there is none, the edge
                // is open.
                if neighbors[k] == NONE {
                    visit(q, p);
                }
            }
        }
    };
    let mut starts = vec![0u32; vertices + 1];
    each(&mut |p, _| starts[p as usize + 1] += 1);
    for v in 0..vertices {
        starts[v + 1] += starts[v];
    }
    let mut next = starts.clone();
    let mut around = vec![0; starts[vertices] as usize];
    each(&mut |p, q| {
        around[next[p as usize] as usize] = q;
        next[p as usize] += 1;
    });
    (around, starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    fn valley(rise: f64) -> TriangleMesh {
        let points = vec![DVec3::ZERO, DVec3::Y, DVec3::new(1.0, 0.5, rise), DVec3::new(-1.0, 0.5, 0.0)];
        TriangleMesh::new(points, vec![[0, 2, 1], [0, 1, 3]]).unwrap()
    }

    #[test]
    fn folds_have_the_right_sign() {
        for (rise, kind) in [(0.0, EdgeKind::Flat), (0.1, EdgeKind::Concave), (-0.1, EdgeKind::Convex)] {
            let mesh = valley(rise);
            let table = mesh.edge_table();
            assert_eq!(table.kinds(0), [EdgeKind::Boundary, EdgeKind::Boundary, kind]);
            assert_eq!(table.kinds(1)[0], kind);
            assert_eq!(table.neighbors(0), [None, None, Some(1)]);
        }
    }

    #[test]
    fn a_soup_of_separate_triangles_has_the_neighbours_of_the_welded_mesh() {
        let mesh = generate::icosphere(1).unwrap();
        let points: Vec<_> = (0..mesh.triangles().len()).flat_map(|i| mesh.triangle(i)).collect();
        let triangles = (0..points.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let soup = TriangleMesh::new(points, triangles).unwrap();
        for i in 0..mesh.triangles().len() {
            assert_eq!(soup.edge_table().neighbors(i), mesh.edge_table().neighbors(i));
            assert_eq!(soup.edge_table().kinds(i), [EdgeKind::Convex; 3]);
            let v = soup.triangles()[i][0];
            assert!(matches!(soup.edge_table().around(v).len(), 5 | 6));
        }
    }
}
