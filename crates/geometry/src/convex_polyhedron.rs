//! Convex polyhedra.
//!
//! A closed surface of one piece without handles that bends outwards at every edge is convex, provided it
//! does not wind around itself; the hull of its vertices then has the same volume.
//!
//! The vertex farthest along d is the one that no neighbour along an edge exceeds: on a convex surface d·p
//! has no other local maximum. Of a handful of vertices all are compared. Of some more, those that can be
//! farthest along any direction of the part of the sphere that d lies in: with c₁, c₂, c₃ the corners of that
//! part, a vertex that another one exceeds along all three of them is never farthest along a mixture of them.
//! Of many, the neighbours of a start, then those of the best of them, and so on; the start is the caller's,
//! or the farthest vertex along the middle of d's part, if that is better. Points are compared four side by
//! side, without a branch to mispredict.

mod below;

use std::ops::Deref;

use glam::DVec3;
use serde::{Deserialize, Serialize};
use wide::f64x4;

use crate::convex_hull::hull_triangles;
use crate::polyhedron::Written;
use crate::shape::bounds_of_points;
use crate::{Aabb, MeshError, Polyhedron, Pose, VolumeIntegrals};

/// Up to this many blocks of four vertices, all are compared.
const BLOCKS_AT_ONCE: usize = 4;
/// Up to this many vertices, the candidates of every part of the sphere are known.
const MAX_VERTICES_IN_PARTS: usize = 96;

/// Coordinates of four points: all x, all y, all z.
type Block = [[f64; 4]; 3];

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
    /// All vertices, filled up with the first.
    blocks: Vec<Block>,
    /// Neighbours of each vertex, filled up with the vertex itself, and whose places they are, four of them
    /// per block.
    rings: Vec<Block>,
    ring_vertices: Vec<u32>,
    ring_starts: Vec<u32>,
    /// Farthest vertex along the middle of each part of the sphere, see `sphere_part`.
    of_parts: Vec<u32>,
    /// Candidates of each part, four per block, and which vertices they are; empty if there are too many
    /// vertices.
    candidates: Vec<Block>,
    candidate_vertices: Vec<u32>,
    candidate_starts: Vec<u32>,
    /// Diagonal of its box.
    extent: f64,
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

    /// Checks one shell without handles and every edge bending outwards, which for the faces of a hull is
    /// enough.
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
        let vertices = polyhedron.vertices();
        let blocks: Vec<Block> = vertices.chunks(4).map(|four| block(four, vertices[0])).collect();
        // Most rings have more than four neighbours and fewer than nine.
        let mut rings = Vec::with_capacity(2 * v);
        let mut ring_vertices = Vec::with_capacity(8 * v);
        let mut ring_starts = vec![0];
        for vertex in 0..v {
            let ring = &neighbors[neighbor_starts[vertex] as usize..neighbor_starts[vertex + 1] as usize];
            for four in ring.chunks(4) {
                let mut points = [vertices[vertex]; 4];
                let mut numbers = [vertex as u32; 4];
                for (lane, &neighbor) in four.iter().enumerate() {
                    points[lane] = vertices[neighbor as usize];
                    numbers[lane] = neighbor;
                }
                rings.push(block(&points, vertices[vertex]));
                ring_vertices.extend(numbers);
            }
            ring_starts.push(rings.len() as u32);
        }
        let of_parts = vec![0; PARTS];
        let mut convex = Self {
            polyhedron,
            neighbors,
            neighbor_starts,
            blocks,
            rings,
            ring_vertices,
            ring_starts,
            of_parts,
            candidates: Vec::new(),
            candidate_vertices: Vec::new(),
            candidate_starts: Vec::new(),
            extent: bounds.diagonal(),
        };
        for part in 0..PARTS {
            let last = convex.of_parts[part.saturating_sub(1)];
            let middle = part_middle(part);
            convex.of_parts[part] = convex.support_from(middle.x, middle.y, middle.z, last);
        }
        if v <= MAX_VERTICES_IN_PARTS {
            convex.find_candidates();
        }
        Ok(convex)
    }

    /// Fills in which vertices can be farthest in each part of the sphere.
    fn find_candidates(&mut self) {
        let vertices = self.polyhedron.vertices();
        // A direction may lie outside of its part by rounding.
        let clearly = 1e-12 * self.extent;
        self.candidate_starts.push(0);
        for part in 0..PARTS {
            let corners = part_corners(part);
            let reach = |v: u32| corners.map(|c| c.dot(vertices[v as usize]));
            let exceeds = |high: [f64; 3], low: [f64; 3]| (0..3).all(|k| high[k] > low[k] + clearly);
            let best = reach(self.of_parts[part]);
            let mut found: Vec<(u32, [f64; 3])> = Vec::new();
            for v in 0..vertices.len() as u32 {
                let next = reach(v);
                if !exceeds(best, next) && !found.iter().any(|&(_, known)| exceeds(known, next)) {
                    found.retain(|&(_, known)| !exceeds(next, known));
                    found.push((v, next));
                }
            }
            for four in found.chunks(4) {
                let number = |lane: usize| four.get(lane).unwrap_or(&four[0]).0;
                let numbers = [0, 1, 2, 3].map(number);
                let points = numbers.map(|v| vertices[v as usize]);
                self.candidates.push(block(&points, points[0]));
                self.candidate_vertices.extend(numbers);
            }
            self.candidate_starts.push(self.candidates.len() as u32);
        }
    }

    /// The polyhedron without the convexity guarantee.
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

    /// Index of a vertex farthest along a direction. `start` is where the search begins: the last result for
    /// a similar direction makes this nearly free.
    #[inline(always)]
    pub fn support_vertex(&self, direction: DVec3, start: u32) -> u32 {
        if self.blocks.len() <= BLOCKS_AT_ONCE {
            return farthest_of_blocks(&self.blocks, direction).0;
        }
        if !self.candidates.is_empty() {
            let part = sphere_part(direction);
            let [first, end] = [0, 1].map(|i| self.candidate_starts[part + i] as usize);
            let (slot, _) = farthest_of_blocks(&self.candidates[first..end], direction);
            return self.candidate_vertices[4 * first + slot as usize];
        }
        // Number by number, in registers: through memory, a vector just written would be waited for.
        self.support_from(direction.x, direction.y, direction.z, start)
    }

    fn support_from(&self, x: f64, y: f64, z: f64, start: u32) -> u32 {
        let direction = DVec3::new(x, y, z);
        let vertices = self.vertices();
        let start = if (start as usize) < vertices.len() { start } else { 0 };
        let other = self.of_parts[sphere_part(direction)];
        let (reach, other_reach) =
            (vertices[start as usize].dot(direction), vertices[other as usize].dot(direction));
        let better = other_reach > reach;
        let mut best = if better { other } else { start };
        let mut reach = if better { other_reach } else { reach };
        loop {
            let [first, end] = [0, 1].map(|i| self.ring_starts[best as usize + i] as usize);
            let (slot, ring_reach) = farthest_of_blocks(&self.rings[first..end], direction);
            if !(ring_reach > reach) {
                return best;
            }
            best = self.ring_vertices[4 * first + slot as usize];
            reach = ring_reach;
        }
    }

    /// Smallest axis-aligned box at `pose`; None if the pose is not finite.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        if self.vertices().len() <= 240 {
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

fn block(points: &[DVec3], fill: DVec3) -> Block {
    [0, 1, 2].map(|axis| [0, 1, 2, 3].map(|lane| points.get(lane).unwrap_or(&fill)[axis]))
}

/// Blocks ⇒ index of the point farthest along a direction and p·d of it; index 0 if the direction is not a
/// number.
#[inline(always)]
fn farthest_of_blocks(blocks: &[Block], direction: DVec3) -> (u32, f64) {
    let [dx, dy, dz] = direction.to_array().map(f64x4::splat);
    let mut reach = f64x4::splat(f64::NEG_INFINITY);
    // Counted in f64, so that block numbers use the same lanes as heights.
    let (mut place, mut number) = (f64x4::ZERO, f64x4::ZERO);
    for [x, y, z] in blocks {
        let next = f64x4::new(*x) * dx + f64x4::new(*y) * dy + f64x4::new(*z) * dz;
        let farther = next.simd_gt(reach);
        place = farther.select(number, place);
        reach = farther.select(next, reach);
        number += f64x4::ONE;
    }
    let [a, b, c, d] = reach.to_array();
    let (ab, cd) = (if a > b { a } else { b }, if c > d { c } else { d });
    let farthest = if ab > cd { ab } else { cd };
    let lane = reach.simd_eq(f64x4::splat(farthest)).to_bitmask().trailing_zeros() & 3;
    // Adding 2⁵² puts a whole number into the last bits, quicker than a conversion.
    let block = (place.to_array()[lane as usize] + 4_503_599_627_370_496.0).to_bits() as u32;
    (4 * block + lane, farthest)
}

/// Numbers of the parts of the sphere lie below this; some do not occur.
const PARTS: usize = 128;

/// Direction ⇒ which part of the sphere it lies in: by signs, by the order of its components' sizes, and by
/// whether the largest exceeds the sum of the others.
#[inline(always)]
fn sphere_part(d: DVec3) -> usize {
    let a = d.abs();
    let order = usize::from(a.x > a.y) | usize::from(a.y > a.z) << 1 | usize::from(a.z > a.x) << 2;
    let steep = usize::from(2.0 * a.max_element() > a.element_sum());
    (d.is_negative_bitmask() as usize & 7) | order << 3 | steep << 6
}

/// A direction in the middle of a part.
fn part_middle(part: usize) -> DVec3 {
    let (middle, least) = if part >> 6 == 1 { (0.4, 0.2) } else { (0.85, 0.6) };
    let sizes = match part >> 3 & 7 {
        0b001 => DVec3::new(1.0, least, middle),
        0b010 => DVec3::new(middle, 1.0, least),
        0b011 => DVec3::new(1.0, middle, least),
        0b100 => DVec3::new(least, middle, 1.0),
        0b101 => DVec3::new(middle, least, 1.0),
        0b110 => DVec3::new(least, 1.0, middle),
        _ => DVec3::ONE,
    };
    let side = |axis: usize| if part >> axis & 1 == 0 { 1.0 } else { -1.0 };
    sizes * DVec3::new(side(0), side(1), side(2))
}

/// Directions that span a part. The sphere is cut by the planes x = 0, |x| = |y| and |x| = |y| + |z| and
/// their likes; with x ≥ y ≥ z ≥ 0 the parts are spanned by (1, 0, 0), (1, 1, 0), (1, ½, ½) and by (1, 1, 0),
/// (1, 1, 1), (1, ½, ½).
fn part_corners(part: usize) -> [DVec3; 3] {
    let sorted = if part >> 6 == 1 {
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.5, 0.5]]
    } else {
        [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.5, 0.5]]
    };
    // Where in the order of sizes, from the largest, x, y and z come.
    let places = match part >> 3 & 7 {
        0b001 => [0, 2, 1],
        0b010 => [1, 0, 2],
        0b011 => [0, 1, 2],
        0b100 => [2, 1, 0],
        0b101 => [1, 2, 0],
        0b110 => [2, 0, 1],
        // All of one size: a single direction.
        _ => return [part_middle(part); 3],
    };
    let side = |axis: usize| if part >> axis & 1 == 0 { 1.0 } else { -1.0 };
    sorted.map(|sizes| DVec3::from_array([0, 1, 2].map(|axis| side(axis) * sizes[places[axis]])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{convex_hull, generate};

    /// Scans, climbs and every start agree with trying all vertices.
    #[test]
    fn farthest_vertex_is_found_from_any_start() {
        for level in 1..5 {
            let hull = convex_hull(generate::icosphere(level).unwrap().vertices()).unwrap();
            for i in 0..400 {
                let t = f64::from(i);
                let mut d = DVec3::new((1.3 * t).sin(), (0.7 * t).cos(), (2.9 * t).sin() + 0.01);
                if i >= 200 {
                    // On the borders of parts.
                    d = (2.0 * d).round();
                }
                let reach = hull.vertices().iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max);
                for start in [0, 3, 7 * i as u32, u32::MAX] {
                    let found = hull.vertices()[hull.support_vertex(d, start) as usize];
                    assert_eq!(found.dot(d), reach);
                }
            }
            assert!(hull.support_vertex(DVec3::NAN, 0) < hull.vertices().len() as u32);
        }
    }

    #[test]
    fn middles_lie_in_their_parts() {
        let orders = [0b001, 0b010, 0b011, 0b100, 0b101, 0b110];
        for part in (0..PARTS).filter(|part| orders.contains(&(part >> 3 & 7))) {
            let middle = part_middle(part);
            assert_eq!(sphere_part(middle), part);
            // A mixture of the corners with positive weights only.
            let [a, b, c] = part_corners(part);
            let weights = [b.cross(c), c.cross(a), a.cross(b)].map(|n| n.dot(middle) * a.dot(b.cross(c)));
            assert!(weights.iter().all(|&weight| weight > 0.0), "{part}");
        }
    }
}
