//! Closest features of two convex polyhedra by walking from Voronoi region to Voronoi region.
//!
//! Features F_a, F_b with mutual nearest points a, b hold the nearest points of disjoint convex polyhedra if
//! and only if a ∈ V(F_b) and b ∈ V(F_a). Otherwise a point lies beyond a plane of the other feature's
//! region; that feature is replaced by its neighbour across the plane most violated, and the distance falls.
//! After Lin and Canny, "A fast algorithm for incremental distance calculation", 1991.
//!
//! Between overlapping polyhedra the walk of the original never ends. Here a vertex or edge that passes a
//! face is handled as in `vclip`, and a walk that cycles (Brent's test: the pair is
//! compared with the one at the last power of two) continues as a clipping walk, which cannot cycle. Only if
//! that fails too are all features tried.

use glam::DVec3;

use super::feature_map::FeatureMap;
use super::feature_pair::{Side, existing, nearest_points, sides};
use super::vclip::{Step, advance, conclude, outside_vertex, walk};
use super::{ClosestError, Feature, Walk};
use crate::Pose;

/// Where the last walk on a pair ended. Any cache is safe with any pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinCannyCache {
    /// Features of A and B to begin with.
    pub features: [Feature; 2],
    /// Feature replacements of the last walk.
    pub steps: u32,
    /// Number of walks that cycled and continued by clipping.
    pub cycles: u32,
    /// Number of walks that ended in brute force over all features.
    pub exhaustive: u32,
    normal: DVec3,
}

impl LinCannyCache {
    /// Begins with two features; numbers that do not exist mean vertex 0.
    pub fn starting_at(features: [Feature; 2]) -> Self {
        Self { features, ..Self::default() }
    }
}

/// (A, B, B in A's frame, cache) ⇒ closest features and points.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::closest::{FeatureMap, LinCannyCache, Walk, lin_canny};
/// use rattleback_geometry::{Pose, convex_hull};
/// let octahedron = convex_hull(&[DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z])?;
/// let map = FeatureMap::new(&octahedron)?;
/// let mut cache = LinCannyCache::default();
/// let walk = lin_canny(&map, &map, &Pose::at(DVec3::X), &mut cache)?;
/// assert!(matches!(walk, Walk::Penetrating { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lin_canny(
    a: &FeatureMap,
    b: &FeatureMap,
    b_in_a: &Pose,
    cache: &mut LinCannyCache,
) -> Result<Walk, ClosestError> {
    let sides = sides(a, b, b_in_a)?;
    let mut features = existing(&sides, cache.features);
    cache.steps = 0;
    let max_steps = 100 + 4 * (a.feature_count() + b.feature_count()) as u32;
    let mut ended = region_walk(&sides, &mut features, max_steps, &mut cache.steps);
    if ended.is_none() {
        cache.cycles += 1;
        ended = walk(&sides, &mut features, max_steps, &mut cache.steps);
    }
    let penetrating = ended.unwrap_or_else(|| {
        cache.exhaustive += 1;
        features = exhaustive(&sides);
        false
    });
    cache.features = features;
    if penetrating {
        return Ok(Walk::Penetrating { features });
    }
    // All features tried find surfaces nearest that may be inside each other.
    conclude(&sides, b_in_a, features, &mut cache.normal, ended.is_some())
}

/// The walk itself: whether it ended in penetration; None if it cycled.
fn region_walk(
    sides: &[Side<'_>; 2],
    features: &mut [Feature; 2],
    max_steps: u32,
    steps: &mut u32,
) -> Option<bool> {
    let (mut remembered, mut next_memory) = (*features, 8);
    for taken in 1..=max_steps {
        let edges = |_: &Side<'_>, _: &Side<'_>, e, g| edge_edge(sides, e, g);
        if let Some(penetrating) = advance(sides, features, vertex_edge, edges) {
            return Some(penetrating);
        }
        *steps += 1;
        if *features == remembered {
            return None;
        }
        if taken == next_memory {
            (remembered, next_memory) = (*features, 2 * next_memory);
        }
    }
    None
}

/// The plane of an edge's region that excludes a point most.
#[inline]
fn outside_edge(map: &FeatureMap, e: u32, p: DVec3) -> Option<Feature> {
    let edge = map.edge(e);
    let from = p - edge.tail;
    let along = from.dot(edge.direction);
    let beyond = [
        (-along, Feature::Vertex(edge.ends[0])),
        (along - edge.length, Feature::Vertex(edge.ends[1])),
        (from.dot(edge.into_faces[0]), Feature::Face(edge.faces[0])),
        (from.dot(edge.into_faces[1]), Feature::Face(edge.faces[1])),
    ];
    let mut worst = (map.overlap(), None);
    for (by, feature) in beyond {
        if by > worst.0 {
            worst = (by, Some(feature));
        }
    }
    worst.1
}

/// Vertex of `a`, edge of `b`.
#[inline]
fn vertex_edge(a: &Side<'_>, b: &Side<'_>, v: u32, e: u32) -> Step {
    let p = b.point(a.map.vertex(v));
    if let Some(feature) = outside_edge(b.map, e, p) {
        return Step::Second(feature);
    }
    let edge = b.map.edge(e);
    let along = (p - edge.tail).dot(edge.direction).clamp(0.0, edge.length);
    let foot = a.point(edge.tail + along * edge.direction);
    outside_vertex(a.map, v, foot).map_or(Step::Done, Step::First)
}

#[inline]
fn edge_edge(sides: &[Side<'_>; 2], e: u32, g: u32) -> Step {
    let [a, b] = sides;
    let (point_a, point_b) = nearest_points(sides, [Feature::Edge(e), Feature::Edge(g)]);
    if let Some(feature) = outside_edge(a.map, e, point_b) {
        return Step::First(feature);
    }
    outside_edge(b.map, g, b.point(point_a)).map_or(Step::Done, Step::Second)
}

/// The nearest pair among all vertices with vertices, edges and faces and all edges with edges.
fn exhaustive(sides: &[Side<'_>; 2]) -> [Feature; 2] {
    let [a, b] = sides.map(|side| side.map);
    let mut best = (f64::INFINITY, [Feature::default(); 2]);
    let mut offer = |features: [Feature; 2]| {
        let (p, q) = nearest_points(sides, features);
        let squared = p.distance_squared(q);
        if squared < best.0 {
            best = (squared, features);
        }
    };
    let counts = |map: &FeatureMap| {
        let polyhedron = map.polyhedron();
        [polyhedron.vertices().len(), polyhedron.edges().len(), polyhedron.face_count()].map(|n| n as u32)
    };
    let [vertices_a, edges_a, faces_a] = counts(a);
    let [vertices_b, edges_b, faces_b] = counts(b);
    for v in 0..vertices_a {
        (0..vertices_b).for_each(|w| offer([Feature::Vertex(v), Feature::Vertex(w)]));
        (0..edges_b).for_each(|e| offer([Feature::Vertex(v), Feature::Edge(e)]));
        let p = sides[1].point(a.vertex(v));
        let over = (0..faces_b).filter(|&f| over_face(b, f, p));
        over.for_each(|f| offer([Feature::Vertex(v), Feature::Face(f)]));
    }
    for e in 0..edges_a {
        (0..vertices_b).for_each(|v| offer([Feature::Edge(e), Feature::Vertex(v)]));
        (0..edges_b).for_each(|g| offer([Feature::Edge(e), Feature::Edge(g)]));
    }
    for v in 0..vertices_b {
        let p = sides[0].point(b.vertex(v));
        let over = (0..faces_a).filter(|&f| over_face(a, f, p));
        over.for_each(|f| offer([Feature::Face(f), Feature::Vertex(v)]));
    }
    best.1
}

/// Whether a point lies over or under a face.
fn over_face(map: &FeatureMap, f: u32, p: DVec3) -> bool {
    map.side_planes(f).iter().all(|plane| plane.inward.dot(p) >= plane.offset)
}
