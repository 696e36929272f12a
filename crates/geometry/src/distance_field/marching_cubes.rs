//! The surface where the value is zero, as a mesh.
//!
//! Each cell with corners on both sides gives the triangles of its case; a cut edge between values a ≤ 0 < b
//! has its vertex at a / (a − b) of its length, shared by the cells around it. Only cells around crossings
//! are visited, and from there across every cut face, so that the time is that of the surface and no hole
//! can remain.

use std::collections::{HashMap, HashSet};

use glam::DVec3;

use super::marching_cubes_table::{CASES, Corner, edge_start};
use super::{DistanceField, FieldError};
use crate::TriangleMesh;

/// Vertices keep this distance, in cells, from the grid vertices: a surface through a grid vertex would
/// otherwise give triangles without area.
const MARGIN: f64 = 1e-3;

impl DistanceField {
    /// The zero surface: closed, manifold, looking outwards. At low resolution a simpler mesh of the same
    /// solid.
    pub fn to_mesh(&self) -> Result<TriangleMesh, FieldError> {
        let (vertices, triangles) = polygonise(
            &self.surface_cells(),
            |vertex| self.value_at(vertex),
            |vertex| self.grid().position(vertex),
        );
        if triangles.is_empty() {
            return Err(FieldError::NoSurface);
        }
        Ok(TriangleMesh::new(vertices, triangles)?)
    }

    /// Cells with corners on both sides, in order.
    fn surface_cells(&self) -> Vec<[u32; 3]> {
        let counts = self.grid().cells();
        let mut seen = HashSet::new();
        let mut pending = Vec::new();
        for (axis, scanlines) in self.scanlines().iter().enumerate() {
            let others = [[1, 2], [0, 2], [0, 1]][axis];
            scanlines.for_each(|across, place| {
                for k in 0..4u32 {
                    let mut cell = [0; 3];
                    let floor = place as u32;
                    cell[axis] = floor;
                    cell[others[0]] = across[0].wrapping_sub(k & 1);
                    cell[others[1]] = across[1].wrapping_sub(k >> 1);
                    enqueue(cell, counts, &mut seen, &mut pending);
                    if f64::from(floor) == place {
                        cell[axis] = floor.wrapping_sub(1);
                        enqueue(cell, counts, &mut seen, &mut pending);
                    }
                }
            });
        }
        let mut mixed = Vec::new();
        while let Some(cell) = pending.pop() {
            let signs = inside_corners(&corner_values(cell, |vertex| self.value_at(vertex)));
            if signs == 0 || signs == 255 {
                continue;
            }
            mixed.push(cell);
            for axis in 0..3 {
                // Corners with the bit of the axis clear: the face at the low side.
                let low = [0x55, 0x33, 0x0f][axis];
                for (face, step) in [(low, u32::MAX), (!low, 1)] {
                    if signs & face != 0 && signs & face != face {
                        let mut next = cell;
                        next[axis] = cell[axis].wrapping_add(step);
                        enqueue(next, counts, &mut seen, &mut pending);
                    }
                }
            }
        }
        mixed.sort_unstable();
        mixed
    }
}

fn corner_values(cell: [u32; 3], value: impl Fn([u32; 3]) -> f64) -> [f64; 8] {
    std::array::from_fn(|corner| value(corner_of(cell, corner as u8)))
}

fn enqueue(cell: [u32; 3], counts: [u32; 3], seen: &mut HashSet<[u32; 3]>, pending: &mut Vec<[u32; 3]>) {
    if (0..3).all(|axis| cell[axis] < counts[axis]) && seen.insert(cell) {
        pending.push(cell);
    }
}

fn corner_of(cell: [u32; 3], corner: u8) -> [u32; 3] {
    std::array::from_fn(|axis| cell[axis] + u32::from(corner >> axis & 1))
}

/// Zero counts as inside.
fn inside_corners(values: &[f64; 8]) -> u8 {
    (0..8).filter(|&corner| values[corner] <= 0.0).fold(0, |set, corner| set | 1 << corner)
}

/// (cells with corners on both sides, value and position of grid vertices) ⇒ vertices and triangles of the
/// zero surface.
fn polygonise(
    cells: &[[u32; 3]],
    value: impl Fn([u32; 3]) -> f64,
    position: impl Fn([u32; 3]) -> DVec3,
) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut vertices: Vec<DVec3> = Vec::new();
    let mut triangles = Vec::new();
    let mut vertex_on_edge: HashMap<([u32; 3], u8), u32> = HashMap::new();
    for &cell in cells {
        let values = corner_values(cell, &value);
        let case = &CASES[inside_corners(&values) as usize];
        let mut on_edge = |edge: u8| {
            let (start, axis) = edge_start(edge);
            let end = start | 1 << axis;
            *vertex_on_edge.entry((corner_of(cell, start), axis)).or_insert_with(|| {
                let (a, b) = (values[start as usize], values[end as usize]);
                let t = (a / (a - b)).clamp(MARGIN, 1.0 - MARGIN);
                vertices.push(position(corner_of(cell, start)).lerp(position(corner_of(cell, end)), t));
                vertices.len() as u32 - 1
            })
        };
        let rings: Vec<Vec<u32>> =
            case.middles.iter().map(|ring| ring.iter().map(|&edge| on_edge(edge)).collect()).collect();
        let first = triangles.len();
        triangles.extend(case.triangles.iter().map(|triangle| {
            triangle.map(|corner| match corner {
                Corner::Edge(edge) => on_edge(edge),
                Corner::Middle(_) => u32::MAX,
            })
        }));
        let first_middle = vertices.len() as u32;
        for (triangle, corners) in triangles[first..].iter_mut().zip(&case.triangles) {
            if let Corner::Middle(ring) = corners[0] {
                triangle[0] = first_middle + u32::from(ring);
            }
        }
        for ring in &rings {
            let sum: DVec3 = ring.iter().map(|&v| vertices[v as usize]).sum();
            vertices.push(sum / ring.len() as f64);
        }
    }
    (vertices, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SDF-8: random signs and values with outside all around give closed manifold meshes; all 256 cases
    /// occur.
    #[test]
    fn random_signs_give_closed_manifold_meshes() {
        const N: u32 = 12;
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut cases = HashSet::new();
        for round in 0..12 {
            let share = 0.2 + 0.05 * f64::from(round);
            let values: Vec<f64> = (0..N.pow(3)).map(|_| random() - share).collect();
            let value = |[x, y, z]: [u32; 3]| {
                let border = [x, y, z].iter().any(|&c| c == 0 || c == N - 1);
                if border { 1.0 } else { values[(x + N * (y + N * z)) as usize] }
            };
            let cells: Vec<[u32; 3]> = (0..(N - 1).pow(3))
                .map(|i| [i % (N - 1), i / (N - 1) % (N - 1), i / (N - 1) / (N - 1)])
                .filter(|&cell| {
                    cases.insert(inside_corners(&corner_values(cell, value)));
                    !matches!(inside_corners(&corner_values(cell, value)), 0 | 255)
                })
                .collect();
            let (vertices, triangles) = polygonise(&cells, value, |v| DVec3::from_array(v.map(f64::from)));
            let mesh = TriangleMesh::new(vertices, triangles).unwrap();
            assert_eq!(mesh.solid_error(), None, "round {round}");
            assert_eq!(mesh.report().unwrap().degenerate_faces, 0);
        }
        assert_eq!(cases.len(), 256);
    }
}
