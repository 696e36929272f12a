//! Where two closed meshes overlap, region by region: measured on the exact curves of intersection.
//!
//! For contact points and normals of two solids see [`contact::collide`](crate::contact::collide), which is
//! made for speed.
//!
//! The triangles' common segments join into closed curves. Vertices inside the other mesh are found by
//! flooding along mesh edges from the corners of the intersecting triangles. A curve, the inside vertices
//! next to it, and curves joined by a piece of edge inside the other mesh make one region.
//!
//! Depth of a region: the largest distance of its vertices from the other surface; it vanishes with the
//! overlap. The distance of the two deepest vertices, `vertex_gap`, does not: cubes that overlap by 0.1
//! across a face may have their vertices a whole side apart. If neither mesh has a vertex inside, edges
//! cross: the largest distance of two piercing edges.

use std::collections::BTreeMap;

use glam::DVec3;
use rattleback_numerics::UnionFind;

use super::point_in_object::point_in_mesh;
use super::segment_segment::closest_segment_segment;
use super::segment_triangle::segment_triangle;
use super::surface::closest_of_triangles;
use super::triangle_triangle::triangle_triangle;
use super::{ClosestPair, LineSegment, Tolerances, Triangle};
use crate::{Aabb, MeshError, Pose, TriangleMesh};

/// The common segment of a triangle of each mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntersectionSegment {
    /// Triangle of the first mesh.
    pub triangle_a: u32,
    /// Triangle of the second mesh.
    pub triangle_b: u32,
    /// Their common segment.
    pub segment: LineSegment,
}

/// One connected overlap of two meshes, in the first mesh's frame.
#[derive(Clone, Debug, PartialEq)]
pub struct PenetrationRegion {
    /// Vertices of the first mesh inside the second.
    pub vertices_a: Vec<u32>,
    /// Vertices of the second mesh inside the first.
    pub vertices_b: Vec<u32>,
    /// The curves around the region; none if one mesh lies wholly inside the other.
    pub segments: Vec<IntersectionSegment>,
    /// How far one mesh reaches into the other here.
    pub depth: f64,
    /// Point of the first and of the second mesh where that is.
    pub points: [DVec3; 2],
    /// Distance of the deepest vertices of the two meshes, if both have one inside.
    pub vertex_gap: Option<f64>,
}

/// Two closed meshes, the second at `place` relative to the first ⇒ their overlaps; empty if they are apart.
/// `candidates` are candidate pairs of triangles, from a hierarchy; None tests all whose boxes overlap.
pub fn penetration_regions(
    a: &TriangleMesh,
    b: &TriangleMesh,
    place: &Pose,
    candidates: Option<&[(u32, u32)]>,
    tolerances: &Tolerances,
) -> Result<Vec<PenetrationRegion>, MeshError> {
    if let Some(error) = a.solid_error().or(b.solid_error()) {
        return Err(error);
    }
    let b = &b.transformed(place)?;
    let segments = intersection_segments(a, b, candidates, tolerances);
    let overlap = Overlap { meshes: [a, b], tolerances };
    if segments.is_empty() {
        return Ok(overlap.nested().into_iter().collect());
    }
    Ok(overlap.regions(&segments))
}

/// All pairs of intersecting triangles, and their common segments. Triangles of one plane share no curve.
fn intersection_segments(
    a: &TriangleMesh,
    b: &TriangleMesh,
    candidates: Option<&[(u32, u32)]>,
    tolerances: &Tolerances,
) -> Vec<IntersectionSegment> {
    let mut found = Vec::new();
    let mut test = |i: u32, j: u32| {
        let (t, u) = (Triangle::from(a.triangle(i as usize)), Triangle::from(b.triangle(j as usize)));
        if let Some(overlap) = triangle_triangle(&t, &u, tolerances)
            && !overlap.coplanar
        {
            let segment = overlap.segment;
            found.push(IntersectionSegment { triangle_a: i, triangle_b: j, segment });
        }
    };
    if let Some(pairs) = candidates {
        let (count_a, count_b) = (a.triangles().len() as u32, b.triangles().len() as u32);
        for &(i, j) in pairs.iter().filter(|(i, j)| *i < count_a && *j < count_b) {
            test(i, j);
        }
        return found;
    }
    let boxes: Vec<Option<Aabb>> =
        (0..b.triangles().len()).map(|j| Aabb::from_points(b.triangle(j)).ok()).collect();
    for i in 0..a.triangles().len() {
        let Ok(around) = Aabb::from_points(a.triangle(i)) else { continue };
        if !around.overlaps(&b.bounds()) {
            continue;
        }
        for (j, other) in boxes.iter().enumerate() {
            if other.is_some_and(|other| around.overlaps(&other)) {
                test(i as u32, j as u32);
            }
        }
    }
    found
}

/// Two meshes in one frame.
struct Overlap<'a> {
    meshes: [&'a TriangleMesh; 2],
    tolerances: &'a Tolerances,
}

/// Where an edge of one mesh passes through a triangle of the other.
struct Piercing {
    edge: [u32; 2],
    parameter: f64,
    segment: usize,
}

impl Overlap<'_> {
    fn size(&self) -> f64 {
        self.meshes.iter().map(|mesh| mesh.bounds().diagonal()).fold(0.0, f64::max)
    }

    /// No triangles intersect: one mesh contains the other, or they are apart.
    fn nested(&self) -> Option<PenetrationRegion> {
        for (k, mesh) in self.meshes.into_iter().enumerate() {
            if point_in_mesh(mesh.vertices()[0], self.meshes[1 - k], self.tolerances) {
                let mut vertices = [Vec::new(), Vec::new()];
                vertices[k] = (0..mesh.vertices().len() as u32).collect();
                return Some(self.measured(vertices, Vec::new(), &[Vec::new(), Vec::new()]));
            }
        }
        None
    }

    fn regions(&self, segments: &[IntersectionSegment]) -> Vec<PenetrationRegion> {
        // Nodes: the segments, then the vertices of both meshes.
        let counts = self.meshes.map(|mesh| mesh.vertices().len());
        let first = [segments.len(), segments.len() + counts[0]];
        let mut sets = UnionFind::new(first[1] + counts[1]);
        join_segments(segments, 1e-9 * self.size(), &mut sets);
        let inside = [0, 1].map(|k| self.inside_vertices(k, segments, first[k], &mut sets));
        let piercings = [0, 1].map(|k| self.piercings(k, segments));
        for k in 0..2 {
            self.join_through_edges(k, &piercings[k], &mut sets);
        }
        let mut groups: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for i in 0..segments.len() {
            groups.entry(sets.find(i as u32)).or_default().push(i);
        }
        let mut regions = Vec::with_capacity(groups.len());
        for (root, members) in groups {
            let vertices = [0, 1].map(|k| {
                let all = (0..counts[k] as u32).filter(|&v| inside[k][v as usize]);
                all.filter(|&v| sets.find(first[k] as u32 + v) == root).collect()
            });
            let edges = [0, 1].map(|k| {
                let own = piercings[k].iter().filter(|p| sets.find(p.segment as u32) == root);
                own.map(|p| p.edge).collect()
            });
            let curve = members.into_iter().map(|i| segments[i]).collect();
            regions.push(self.measured(vertices, curve, &edges));
        }
        regions
    }

    /// Floods the vertices of mesh k that lie inside the other, starting at the intersecting triangles.
    fn inside_vertices(
        &self,
        k: usize,
        segments: &[IntersectionSegment],
        first: usize,
        sets: &mut UnionFind,
    ) -> Vec<bool> {
        let mesh = self.meshes[k];
        let mut neighbors = vec![Vec::new(); mesh.vertices().len()];
        for &[a, b, c] in mesh.triangles() {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                neighbors[from as usize].push(to);
            }
        }
        let mut tested = vec![false; mesh.vertices().len()];
        let mut inside = vec![false; mesh.vertices().len()];
        let mut queue = Vec::new();
        for (i, segment) in segments.iter().enumerate() {
            let triangle = if k == 0 { segment.triangle_a } else { segment.triangle_b };
            for v in mesh.triangles()[triangle as usize] {
                self.classify(k, v, &mut tested, &mut inside, &mut queue);
                if inside[v as usize] && self.belongs(k, v, segment) {
                    sets.union(i as u32, first as u32 + v);
                }
            }
        }
        while let Some(v) = queue.pop() {
            for &next in &neighbors[v as usize] {
                self.classify(k, next, &mut tested, &mut inside, &mut queue);
                let [p, q] = [v, next].map(|i| mesh.vertices()[i as usize]);
                if inside[next as usize] && self.is_visible(k, p, q) {
                    sets.union(first as u32 + v, first as u32 + next);
                }
            }
        }
        inside
    }

    fn classify(&self, k: usize, v: u32, tested: &mut [bool], inside: &mut [bool], queue: &mut Vec<u32>) {
        if !std::mem::replace(&mut tested[v as usize], true) {
            let p = self.meshes[k].vertices()[v as usize];
            if point_in_mesh(p, self.meshes[1 - k], self.tolerances) {
                inside[v as usize] = true;
                queue.push(v);
            }
        }
    }

    /// Whether an inside corner of an intersecting triangle belongs to the region behind this segment: no
    /// part of the other mesh lies between it and the segment.
    fn belongs(&self, k: usize, v: u32, segment: &IntersectionSegment) -> bool {
        let p = self.meshes[k].vertices()[v as usize];
        let middle = segment.segment.midpoint();
        // A point just inside of the curve, so that the curve itself is not in the way.
        let from = p + (1.0 - 1e-6) * (middle - p);
        self.is_visible(k, p, from)
    }

    /// Whether no triangle of the other mesh lies between two points.
    fn is_visible(&self, k: usize, p: DVec3, q: DVec3) -> bool {
        let other = self.meshes[1 - k];
        let way = LineSegment::new(p, q);
        let Ok(around) = Aabb::from_points([p, q]) else { return false };
        (0..other.triangles().len()).all(|i| {
            let corners = other.triangle(i);
            !Aabb::from_points(corners).is_ok_and(|bounds| bounds.overlaps(&around))
                || segment_triangle(&way, &corners.into(), self.tolerances)
                    .is_none_or(|[t, u]| t != u || t <= 1e-9 || t >= 1.0 - 1e-9)
        })
    }

    /// Where the edges of mesh k pass through triangles of the other.
    fn piercings(&self, k: usize, segments: &[IntersectionSegment]) -> Vec<Piercing> {
        let mut found = Vec::new();
        for (i, segment) in segments.iter().enumerate() {
            let (own, other) = if k == 0 {
                (segment.triangle_a, segment.triangle_b)
            } else {
                (segment.triangle_b, segment.triangle_a)
            };
            let facing = Triangle::from(self.meshes[1 - k].triangle(other as usize));
            let corners = self.meshes[k].triangles()[own as usize];
            for side in 0..3 {
                let edge = [corners[side], corners[(side + 1) % 3]];
                let edge = [edge[0].min(edge[1]), edge[0].max(edge[1])];
                let [start, end] = edge.map(|v| self.meshes[k].vertices()[v as usize]);
                let hit = segment_triangle(&LineSegment::new(start, end), &facing, self.tolerances);
                if let Some([first, last]) = hit
                    && first == last
                {
                    found.push(Piercing { edge, parameter: first, segment: i });
                }
            }
        }
        found.sort_by(|p, q| p.edge.cmp(&q.edge).then(p.parameter.total_cmp(&q.parameter)));
        found
    }

    /// Two piercings with a piece of edge inside the other mesh between them belong to one region.
    fn join_through_edges(&self, k: usize, piercings: &[Piercing], sets: &mut UnionFind) {
        for pair in piercings.windows(2) {
            let [p, q] = [&pair[0], &pair[1]];
            if p.edge != q.edge {
                continue;
            }
            let [start, end] = p.edge.map(|v| self.meshes[k].vertices()[v as usize]);
            let middle = LineSegment::new(start, end).at(0.5 * (p.parameter + q.parameter));
            if q.parameter - p.parameter < 1e-9 || point_in_mesh(middle, self.meshes[1 - k], self.tolerances)
            {
                sets.union(p.segment as u32, q.segment as u32);
            }
        }
    }

    /// Depth and contact points of a region.
    fn measured(
        &self,
        vertices: [Vec<u32>; 2],
        segments: Vec<IntersectionSegment>,
        piercing_edges: &[Vec<[u32; 2]>; 2],
    ) -> PenetrationRegion {
        let deepest = [0, 1].map(|k| self.deepest(k, &vertices[k]));
        let swapped = deepest[1].map(|pair| pair.swapped());
        let by_vertices = match (deepest[0], swapped) {
            (Some(a), Some(b)) => Some(if b.distance > a.distance { b } else { a }),
            (a, b) => a.or(b),
        };
        let best = by_vertices.or_else(|| self.widest_edges(piercing_edges));
        let vertex_gap = match deepest {
            [Some(a), Some(b)] => Some(a.point_a.distance(b.point_a)),
            _ => None,
        };
        let [vertices_a, vertices_b] = vertices;
        let middle = segments.first().map_or(DVec3::ZERO, |s| s.segment.midpoint());
        let best = best.unwrap_or(ClosestPair { point_a: middle, point_b: middle, distance: 0.0 });
        PenetrationRegion {
            vertices_a,
            vertices_b,
            segments,
            depth: best.distance,
            points: [best.point_a, best.point_b],
            vertex_gap,
        }
    }

    /// The vertex of mesh k farthest inside the other, with the surface point nearest to it.
    fn deepest(&self, k: usize, vertices: &[u32]) -> Option<ClosestPair> {
        let other = self.meshes[1 - k];
        let mut best: Option<ClosestPair> = None;
        for &v in vertices {
            let p = self.meshes[k].vertices()[v as usize];
            let triangles = (0..other.triangles().len()).map(|i| (i as u32, other.triangle(i).into()));
            let (q, ..) = closest_of_triangles(p, triangles)?;
            let pair = ClosestPair::new(p, q);
            if best.is_none_or(|b| pair.distance > b.distance) {
                best = Some(pair);
            }
        }
        best
    }

    /// The two piercing edges farthest from each other.
    fn widest_edges(&self, edges: &[Vec<[u32; 2]>; 2]) -> Option<ClosestPair> {
        let segment = |k: usize, edge: [u32; 2]| {
            let [start, end] = edge.map(|v| self.meshes[k].vertices()[v as usize]);
            LineSegment::new(start, end)
        };
        let mut best: Option<ClosestPair> = None;
        for &e in &edges[0] {
            for &f in &edges[1] {
                let pair = closest_segment_segment(&segment(0, e), &segment(1, f));
                if best.is_none_or(|b| pair.distance > b.distance) {
                    best = Some(pair);
                }
            }
        }
        best
    }
}

/// Joins segments whose ends coincide within `near`, through a grid of cells of that size.
fn join_segments(segments: &[IntersectionSegment], near: f64, sets: &mut UnionFind) {
    let cell = |p: DVec3| (p / (2.0 * near)).floor().to_array().map(|x| x as i64);
    let mut cells: BTreeMap<[i64; 3], Vec<(DVec3, usize)>> = BTreeMap::new();
    for (i, segment) in segments.iter().enumerate() {
        for p in [segment.segment.start, segment.segment.end] {
            let [x, y, z] = cell(p);
            for k in 0..27 {
                let place = [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1];
                for &(q, j) in cells.get(&place).map_or(&[][..], Vec::as_slice) {
                    if p.distance(q) <= near {
                        sets.union(i as u32, j as u32);
                    }
                }
            }
            cells.entry([x, y, z]).or_default().push((p, i));
        }
    }
}
