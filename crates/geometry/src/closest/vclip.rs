//! Closest features of two convex polyhedra by clipping edges against Voronoi regions.
//!
//! Two features are nearest if each holds, in its own region, the other's nearest point. Starting from any
//! pair, one of them is replaced by a neighbour whose region holds the other's nearest point: to a lower
//! dimension the distance stays, to a higher it falls, so the walk ends. Where an edge E meets the region of
//! a feature X, the sign of the distance's derivative along E where it enters or leaves the region decides
//! the direction; entering through the plane of a neighbour N, distance to X and to N are the same there:
//!
//! d/dλ |e(λ) − v| has the sign of (head − tail)·(e(λ) − v);  d/dλ |S_f(e(λ))| that of (head − tail)·n_f
//! times that of S_f.
//!
//! A vertex below a face, with no edge leading closer to its plane, is a local minimum: the face whose plane
//! it is highest above takes over, and if it is above none, it is inside. An edge whose clipped part passes
//! through a face penetrates. After Mirtich, "V-Clip: fast and robust polyhedral collision detection", 1998.

use glam::DVec3;

use super::clip::Clip;
use super::feature_map::{EdgeRegion, FeatureMap};
use super::feature_pair::{Side, edge_points, existing, separation, separation_of, sides};
use super::still_nearest::still_nearest;
use super::{ClosestError, Feature, Gjk, GjkCache, Separation, gjk, signed_distance};
use crate::Pose;

/// Slope below which an edge is level.
const LEVEL: f64 = 1e-13;

/// Distance, as a fraction of the size, at which features touch.
const TOUCHING: f64 = 1e-12;

/// Where the last walk on a pair ended. Any cache is safe with any pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VClipCache {
    /// Features of A and B to begin with.
    pub features: [Feature; 2],
    /// Feature replacements of the last walk.
    pub steps: u32,
    /// Number of walks that cycled due to rounding and were finished by GJK.
    pub cycles: u32,
    normal: DVec3,
}

impl VClipCache {
    /// Begins with two features; numbers that do not exist mean vertex 0.
    pub fn starting_at(features: [Feature; 2]) -> Self {
        Self { features, ..Self::default() }
    }
}

/// Result of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Walk {
    /// The polyhedra are apart; the features are the nearest ones, of the lowest dimension that holds the
    /// points.
    Apart {
        /// Nearest points, in A's frame.
        separation: Separation,
        /// Nearest features of A and B.
        features: [Feature; 2],
    },
    /// The polyhedra overlap or touch, where these features touch.
    Penetrating {
        /// Features of A and B that penetrate.
        features: [Feature; 2],
    },
}

/// Transition of one state.
pub(super) enum Step {
    Done,
    Penetrating,
    /// Replace the feature of the side in question.
    First(Feature),
    /// Replace the other one.
    Second(Feature),
}

/// (A, B, B in A's frame, cache) ⇒ closest features and points. Nearly constant time while the shapes move
/// little.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::closest::{FeatureMap, VClipCache, Walk, vclip};
/// use rattleback_geometry::{Pose, convex_hull};
/// let octahedron = convex_hull(&[DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z])?;
/// let map = FeatureMap::new(&octahedron)?;
/// let mut cache = VClipCache::default();
/// let Walk::Apart { separation, .. } = vclip(&map, &map, &Pose::at(DVec3::X * 3.0), &mut cache)? else { panic!() };
/// assert_eq!(separation.distance, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn vclip(
    a: &FeatureMap,
    b: &FeatureMap,
    b_in_a: &Pose,
    cache: &mut VClipCache,
) -> Result<Walk, ClosestError> {
    let sides = sides(a, b, b_in_a)?;
    let features = existing(&sides, cache.features);
    cache.steps = 0;
    if let Some(points) = still_nearest(&sides, features) {
        let separation = separation_of(&sides, features, points, cache.normal);
        if separation.distance > TOUCHING * a.size().max(b.size()) {
            cache.features = features;
            cache.normal = separation.normal;
            return Ok(Walk::Apart { separation, features });
        }
    }
    walk_on(a, b, b_in_a, &sides, features, cache)
}

/// The walk from two features that are not the nearest ones, or touch.
fn walk_on(
    a: &FeatureMap,
    b: &FeatureMap,
    b_in_a: &Pose,
    sides: &[Side<'_>; 2],
    mut features: [Feature; 2],
    cache: &mut VClipCache,
) -> Result<Walk, ClosestError> {
    let max_steps = 100 + 10 * (a.feature_count() + b.feature_count()) as u32;
    let ended = walk(sides, &mut features, max_steps, &mut cache.steps).or_else(|| {
        features = nearest_vertices(sides);
        walk(sides, &mut features, max_steps, &mut cache.steps)
    });
    let Some(penetrating) = ended else {
        cache.cycles += 1;
        return by_gjk(a, b, b_in_a, features);
    };
    cache.features = features;
    if penetrating {
        return Ok(Walk::Penetrating { features });
    }
    conclude(sides, b_in_a, features, &mut cache.normal, true)
}

/// Features that a walk found nearest ⇒ its result. `last` is the normal of the last walk and becomes that of
/// this one; features that are not `sure` to be nearest are checked like those that touch.
pub(super) fn conclude(
    sides: &[Side<'_>; 2],
    b_in_a: &Pose,
    features: [Feature; 2],
    last: &mut DVec3,
    sure: bool,
) -> Result<Walk, ClosestError> {
    let [a, b] = sides.map(|side| side.map);
    let separation = separation(sides, features, *last);
    *last = separation.normal;
    let touching = separation.distance <= TOUCHING * a.size().max(b.size());
    if (touching || !sure) && overlapping(a, b, b_in_a)? {
        return Ok(Walk::Penetrating { features });
    }
    Ok(Walk::Apart { separation, features })
}

/// Features that touch satisfy every condition of being nearest wherever the rest of the polyhedra is: only
/// the sign of the distance decides.
fn overlapping(a: &FeatureMap, b: &FeatureMap, b_in_a: &Pose) -> Result<bool, ClosestError> {
    let answer = signed_distance(a.polyhedron(), b.polyhedron(), b_in_a, &mut GjkCache::default())?;
    Ok(answer.distance < -TOUCHING * a.size().max(b.size()))
}

/// The walk itself; None if it does not end.
#[inline]
pub(super) fn walk(
    sides: &[Side<'_>; 2],
    features: &mut [Feature; 2],
    max_steps: u32,
    steps: &mut u32,
) -> Option<bool> {
    for _ in 0..max_steps {
        if let Some(penetrating) = advance(sides, features, vertex_edge, edge_edge) {
            return Some(penetrating);
        }
        *steps += 1;
    }
    None
}

/// One replacement of a feature by a neighbour; if the walk ends instead, whether in penetration. Of an edge
/// with a vertex or an edge, the method of the walk decides: (side of the first, side of the second, their
/// numbers) ⇒ step.
#[inline(always)]
pub(super) fn advance(
    [a, b]: &[Side<'_>; 2],
    features: &mut [Feature; 2],
    vertex_edge: impl Fn(&Side<'_>, &Side<'_>, u32, u32) -> Step,
    edge_edge: impl Fn(&Side<'_>, &Side<'_>, u32, u32) -> Step,
) -> Option<bool> {
    let (step, first) = match *features {
        [Feature::Vertex(v), Feature::Vertex(w)] => (vertex_vertex(a, b, v, w), 0),
        [Feature::Vertex(v), Feature::Edge(e)] => (vertex_edge(a, b, v, e), 0),
        [Feature::Edge(e), Feature::Vertex(v)] => (vertex_edge(b, a, v, e), 1),
        [Feature::Edge(e), Feature::Edge(g)] => (edge_edge(a, b, e, g), 0),
        [Feature::Vertex(v), Feature::Face(f)] => (vertex_face(a, b, v, f), 0),
        [Feature::Face(f), Feature::Vertex(v)] => (vertex_face(b, a, v, f), 1),
        [Feature::Edge(e), Feature::Face(f)] => (edge_face(a, b, e, f), 0),
        [Feature::Face(f), Feature::Edge(e)] => (edge_face(b, a, e, f), 1),
        [Feature::Face(f), Feature::Face(_)] => (Step::First(Feature::Edge(a.map.side_planes(f)[0].edge)), 0),
    };
    match step {
        Step::Done => return Some(false),
        Step::Penetrating => return Some(true),
        Step::First(feature) => features[first] = feature,
        Step::Second(feature) => features[1 - first] = feature,
    }
    None
}

/// The plane of v's region that excludes a point most.
#[inline]
pub(super) fn outside_vertex(map: &FeatureMap, v: u32, p: DVec3) -> Option<Feature> {
    let from = p - map.vertex(v);
    let mut worst = (map.overlap(), None);
    for plane in map.vertex_planes(v) {
        let beyond = plane.away.dot(from);
        if beyond > worst.0 {
            worst = (beyond, Some(Feature::Edge(plane.edge)));
        }
    }
    worst.1
}

#[inline]
fn vertex_vertex(a: &Side<'_>, b: &Side<'_>, v: u32, w: u32) -> Step {
    if let Some(edge) = outside_vertex(a.map, v, a.point(b.map.vertex(w))) {
        return Step::First(edge);
    }
    match outside_vertex(b.map, w, b.point(a.map.vertex(v))) {
        Some(edge) => Step::Second(edge),
        None => Step::Done,
    }
}

/// Vertex of `a`, edge of `b`.
#[inline]
fn vertex_edge(a: &Side<'_>, b: &Side<'_>, v: u32, e: u32) -> Step {
    let edge = b.map.edge(e);
    let from = b.point(a.map.vertex(v)) - edge.tail;
    let overlap = b.map.overlap();
    let along = from.dot(edge.direction);
    if along < -overlap {
        return Step::Second(Feature::Vertex(edge.ends[0]));
    }
    if along > edge.length + overlap {
        return Step::Second(Feature::Vertex(edge.ends[1]));
    }
    for (into, face) in edge.into_faces.iter().zip(edge.faces) {
        if from.dot(*into) > overlap {
            return Step::Second(Feature::Face(face));
        }
    }
    // The edge relative to v.
    let tail = a.point(edge.tail) - a.map.vertex(v);
    let direction = a.vector(edge.direction);
    let mut clip = Clip::WHOLE;
    for plane in a.map.vertex_planes(v) {
        let (at_tail, slope) = (-plane.away.dot(tail), -plane.away.dot(direction));
        let at_tail = at_tail + a.map.overlap();
        let neighbor = Feature::Edge(plane.edge);
        if !clip.cut(at_tail, at_tail + slope * edge.length, neighbor) {
            return Step::First(neighbor);
        }
    }
    let rising = |t: f64| direction.dot(tail) + t * edge.length;
    if let Some(neighbor) = clip.low_neighbor
        && rising(clip.low) > a.map.overlap()
    {
        return Step::First(neighbor);
    }
    if let Some(neighbor) = clip.high_neighbor
        && rising(clip.high) < -a.map.overlap()
    {
        return Step::First(neighbor);
    }
    Step::Done
}

#[inline]
fn edge_edge(a: &Side<'_>, b: &Side<'_>, e: u32, g: u32) -> Step {
    match edge_in_edge_region(a, b, e, g) {
        Ok(None) => {}
        Ok(Some(feature)) => return Step::First(feature),
        Err(()) => return Step::Penetrating,
    }
    match edge_in_edge_region(b, a, g, e) {
        Ok(None) => Step::Done,
        Ok(Some(feature)) => Step::Second(feature),
        Err(()) => Step::Penetrating,
    }
}

/// Clips edge g of `b` against the region of edge e of `a` ⇒ what should replace e, if anything; an error if
/// they intersect.
#[inline]
fn edge_in_edge_region(a: &Side<'_>, b: &Side<'_>, e: u32, g: u32) -> Result<Option<Feature>, ()> {
    let (edge, other) = (a.map.edge(e), b.map.edge(g));
    let tail = a.point(other.tail) - edge.tail;
    let direction = a.vector(other.direction);
    let across = other.length * direction;
    let overlap = a.map.overlap();
    let mut clip = Clip::WHOLE;
    let (start, slope) = (tail.dot(edge.direction), across.dot(edge.direction));
    let [first, second] = edge.ends.map(Feature::Vertex);
    if !clip.cut(start + overlap, start + slope + overlap, first) {
        return Ok(Some(first));
    }
    let end = edge.length - start + overlap;
    if !clip.cut(end, end - slope, second) {
        return Ok(Some(second));
    }
    if let Some(feature) = falling_outwards(a, &clip, edge, tail, direction, other.length)? {
        return Ok(Some(feature));
    }
    for (into, face) in edge.into_faces.iter().zip(edge.faces) {
        let (start, slope) = (overlap - tail.dot(*into), across.dot(*into));
        if !clip.cut(start, start - slope, Feature::Face(face)) {
            return Ok(Some(Feature::Face(face)));
        }
    }
    falling_outwards(a, &clip, edge, tail, direction, other.length)
}

/// The neighbour through whose plane the distance falls on the way out of the clipped part. `tail` is from
/// e's own tail.
#[inline]
fn falling_outwards(
    a: &Side<'_>,
    clip: &Clip,
    edge: &EdgeRegion,
    tail: DVec3,
    direction: DVec3,
    length: f64,
) -> Result<Option<Feature>, ()> {
    let rate = |t: f64, neighbor: Feature| {
        let p = tail + (t * length) * direction;
        match neighbor {
            Feature::Vertex(v) => {
                let end = if v == edge.ends[0] { DVec3::ZERO } else { edge.length * edge.direction };
                Ok(direction.dot(p - end))
            }
            Feature::Face(f) => {
                let normal = a.map.normal(f);
                let height = normal.dot(p);
                if height == 0.0 { Err(()) } else { Ok(direction.dot(normal) * p.length().copysign(height)) }
            }
            Feature::Edge(_) => Ok(0.0),
        }
    };
    let level = a.map.overlap();
    if let Some(neighbor) = clip.low_neighbor
        && rate(clip.low, neighbor)? > level
    {
        return Ok(Some(neighbor));
    }
    if let Some(neighbor) = clip.high_neighbor
        && rate(clip.high, neighbor)? < -level
    {
        return Ok(Some(neighbor));
    }
    Ok(None)
}

/// Vertex of `a`, face of `b`.
#[inline]
pub(super) fn vertex_face(a: &Side<'_>, b: &Side<'_>, v: u32, f: u32) -> Step {
    let p = b.point(a.map.vertex(v));
    let mut worst = (-b.map.overlap(), None);
    for plane in b.map.side_planes(f) {
        let inside = plane.inward.dot(p) - plane.offset;
        if inside < worst.0 {
            worst = (inside, Some(Feature::Edge(plane.edge)));
        }
    }
    if let Some(edge) = worst.1 {
        return Step::Second(edge);
    }
    let height = b.map.height(f, p);
    if height == 0.0 {
        return Step::Penetrating;
    }
    let towards = a.vector(b.map.normal(f)) * -height.signum();
    let mut steepest = (LEVEL, None);
    for plane in a.map.vertex_planes(v) {
        let descent = plane.away.dot(towards);
        if descent > steepest.0 {
            steepest = (descent, Some(Feature::Edge(plane.edge)));
        }
    }
    if let Some(edge) = steepest.1 {
        return Step::First(edge);
    }
    if height > 0.0 {
        return Step::Done;
    }
    let (face, highest) = b.map.highest_face(p);
    if highest <= 0.0 { Step::Penetrating } else { Step::Second(Feature::Face(face)) }
}

/// Edge of `a`, face of `b`. Never the end: a vertex or an edge is as near.
#[inline]
fn edge_face(a: &Side<'_>, b: &Side<'_>, e: u32, f: u32) -> Step {
    let edge = a.map.edge(e);
    let (tail, direction) = (b.point(edge.tail), b.vector(edge.direction));
    let across = edge.length * direction;
    let mut clip = Clip::WHOLE;
    let mut excluded = false;
    for plane in b.map.side_planes(f) {
        let start = plane.inward.dot(tail) - plane.offset + b.map.overlap();
        let end = start + plane.inward.dot(across);
        if !clip.cut(start, end, Feature::Edge(plane.edge)) {
            excluded = true;
            break;
        }
    }
    if excluded || clip.is_empty() {
        return Step::Second(nearest_side(b.map, f, tail, direction, edge.length));
    }
    let normal = b.map.normal(f);
    let height = |t: f64| b.map.height(f, tail + t * across);
    let (low, high) = (height(clip.low), height(clip.high));
    if low == 0.0 || high == 0.0 || (low > 0.0) != (high > 0.0) {
        return Step::Penetrating;
    }
    let [tail_vertex, head_vertex] = edge.ends.map(Feature::Vertex);
    if direction.dot(normal) * low.signum() >= 0.0 {
        clip.low_neighbor.map_or(Step::First(tail_vertex), Step::Second)
    } else {
        clip.high_neighbor.map_or(Step::First(head_vertex), Step::Second)
    }
}

/// The side of face f, or the corner of it, nearest to an edge given in the same frame.
fn nearest_side(map: &FeatureMap, f: u32, tail: DVec3, direction: DVec3, length: f64) -> Feature {
    let mut best = (f64::INFINITY, Feature::Face(f));
    for plane in map.side_planes(f) {
        let side = map.edge(plane.edge);
        let (p, q) = edge_points([side.tail, side.direction], side.length, (tail, direction, length));
        let squared = p.distance_squared(q);
        if squared < best.0 {
            let along = (p - side.tail).dot(side.direction);
            let feature = if along <= 0.0 {
                Feature::Vertex(side.ends[0])
            } else if along >= side.length {
                Feature::Vertex(side.ends[1])
            } else {
                Feature::Edge(plane.edge)
            };
            best = (squared, feature);
        }
    }
    best.1
}

/// The two vertices nearest to each other.
fn nearest_vertices([a, b]: &[Side<'_>; 2]) -> [Feature; 2] {
    let mut best = (f64::INFINITY, [Feature::Vertex(0); 2]);
    for (j, q) in (0u32..).zip(b.map.polyhedron().vertices()) {
        let q = a.point(*q);
        for (i, p) in (0u32..).zip(a.map.polyhedron().vertices()) {
            let squared = p.distance_squared(q);
            if squared < best.0 {
                best = (squared, [Feature::Vertex(i), Feature::Vertex(j)]);
            }
        }
    }
    best.1
}

/// Fallback by GJK, with the last features of the walk.
pub(super) fn by_gjk(
    a: &FeatureMap,
    b: &FeatureMap,
    b_in_a: &Pose,
    features: [Feature; 2],
) -> Result<Walk, ClosestError> {
    Ok(match gjk(a.polyhedron(), b.polyhedron(), b_in_a, &mut GjkCache::default())? {
        Gjk::Apart(separation) => Walk::Apart { separation, features },
        Gjk::Overlapping => Walk::Penetrating { features },
    })
}
