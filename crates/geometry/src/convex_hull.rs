//! The convex hull of points: quickhull with exact decisions.
//!
//! Start with a tetrahedron of far-apart points. Every other point is assigned to one face it lies above.
//! Take a face and its farthest assigned point p; the faces p lies above form a disc, whose rim (the horizon)
//! is joined to p by new faces; the points assigned to the disc are reassigned to new faces or are inside for
//! good. (A point above an old face that is above no new one is inside: across the horizon the new face's
//! normal lies between those of its two old neighbours.)
//!
//! "Above" is decided exactly (`orientation`), after a rounded test that settles all but the closest cases.
//! Nothing can then contradict itself: the result is a closed triangle surface for any input, with
//! duplicates, grids or slivers. Faces that lie in one plane up to a tolerance are merged into polygons
//! afterwards, and points within such a face or along such an edge disappear.

use glam::DVec3;
use thiserror::Error;

use crate::coplanar::merge_sound;
use crate::orientation::orientation;
use crate::primitive::Triangle;
use crate::{Aabb, ConvexPolyhedron, MAX_LENGTH, MIN_LENGTH, MeshError, PolygonSoup, Polyhedron};

/// Faces of a hull whose corners lie within this fraction of the size from one plane become one polygon.
pub const HULL_MERGE_TOLERANCE: f64 = 1e-12;

/// Why points have no hull.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum HullError {
    /// Fewer than four points.
    #[error("a hull needs at least 4 points, got {count}")]
    TooFewPoints {
        /// How many there were.
        count: usize,
    },
    /// More points than indices.
    #[error("a hull takes at most {allowed} points, got {count}")]
    TooManyPoints {
        /// How many there were.
        count: usize,
        /// How many there may be.
        allowed: usize,
    },
    /// All points in one plane (rank 2), on one line (1) or in one place (0).
    #[error(
        "points span only {rank} dimensions: a hull with volume needs points that are not all in one plane"
    )]
    Degenerate {
        /// Dimension of the smallest flat that holds all points.
        rank: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("point {point} is not finite")]
    NonFinite {
        /// Index of the point.
        point: usize,
    },
    /// A coordinate is absurdly large.
    #[error("point {point} lies beyond {MAX_LENGTH:e} from the origin")]
    TooLarge {
        /// Index of the point.
        point: usize,
    },
    /// A merge tolerance outside [0, 0.1].
    #[error("merge tolerance is {tolerance}, must lie between 0 and 0.1")]
    Tolerance {
        /// The bad value.
        tolerance: f64,
    },
    /// The faces do not close to a convex surface, which exact decisions rule out.
    #[error("hull is inconsistent: {0}")]
    Inconsistent(#[from] MeshError),
}

/// Points ⇒ the smallest convex polyhedron around them, coplanar faces merged, only true corners kept.
///
/// ```
/// use glam::DVec3;
/// let grid: Vec<DVec3> = (0..27).map(|i| DVec3::new((i % 3) as f64, (i / 3 % 3) as f64, (i / 9) as f64)).collect();
/// let cube = rattleback_geometry::convex_hull(&grid)?;
/// assert_eq!((cube.vertices().len(), cube.edges().len(), cube.face_count()), (8, 12, 6));
/// # Ok::<(), rattleback_geometry::HullError>(())
/// ```
pub fn convex_hull(points: &[DVec3]) -> Result<ConvexPolyhedron, HullError> {
    convex_hull_with(points, HULL_MERGE_TOLERANCE)
}

/// As `convex_hull`, with the tolerance of merging as a fraction of the size: larger for points from
/// single-precision files.
pub fn convex_hull_with(points: &[DVec3], merge_tolerance: f64) -> Result<ConvexPolyhedron, HullError> {
    if !(0.0..=0.1).contains(&merge_tolerance) {
        return Err(HullError::Tolerance { tolerance: merge_tolerance });
    }
    let triangles = hull_triangles(points)?;
    let (vertices, triangles) = compact(points, &triangles);
    let soup = PolygonSoup::from_triangles(vertices, &triangles);
    // A hull thinner than the tolerance would merge away: its triangles stay.
    let planar = (2.0 * merge_tolerance).max(1e-9);
    if let Ok(merged) = merge_sound(&soup, merge_tolerance)
        && let Ok(convex) = ConvexPolyhedron::from_hull(Polyhedron::from_sound_soup(&merged, planar))
    {
        return Ok(convex);
    }
    Ok(ConvexPolyhedron::from_hull(Polyhedron::from_sound_soup(&soup, planar))?)
}

/// Points ⇒ triangles of the hull, outwards, as indices into the points.
pub fn hull_triangles(points: &[DVec3]) -> Result<Vec<[u32; 3]>, HullError> {
    check(points)?;
    let mut builder = Builder::new(points)?;
    builder.run();
    Ok(builder.faces.iter().filter(|face| face.alive).map(|face| face.corners).collect())
}

fn check(points: &[DVec3]) -> Result<(), HullError> {
    const ALLOWED: usize = (u32::MAX / 16) as usize;
    if points.len() < 4 {
        return Err(HullError::TooFewPoints { count: points.len() });
    }
    if points.len() > ALLOWED {
        return Err(HullError::TooManyPoints { count: points.len(), allowed: ALLOWED });
    }
    if let Some(point) = points.iter().position(|p| !p.is_finite()) {
        return Err(HullError::NonFinite { point });
    }
    if let Some(point) = points.iter().position(|p| p.abs().max_element() > MAX_LENGTH) {
        return Err(HullError::TooLarge { point });
    }
    Ok(())
}

/// Only the vertices that triangles use, in their old order.
fn compact(points: &[DVec3], triangles: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut index = vec![u32::MAX; points.len()];
    triangles.as_flattened().iter().for_each(|&v| index[v as usize] = 0);
    let mut vertices = Vec::new();
    for (old, new) in index.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
        *new = vertices.len() as u32;
        vertices.push(points[old]);
    }
    (vertices, triangles.iter().map(|t| t.map(|v| index[v as usize])).collect())
}

const NONE: u32 = u32::MAX;

struct Face {
    /// Counter-clockwise seen from outside.
    corners: [u32; 3],
    /// `neighbors[i]` lies across the side from corner i to corner i + 1.
    neighbors: [u32; 3],
    /// Not of unit length.
    normal: DVec3,
    origin: DVec3,
    /// normal·(p − origin) beyond ± this is right despite rounding.
    doubt: f64,
    /// First of the points that wait here, NONE if none do; `Builder::waiting` links them.
    first: u32,
    farthest: u32,
    farthest_height: f64,
    alive: bool,
    /// Number of the round that last saw this face.
    seen: u32,
}

struct Builder {
    /// The points times a power of two, so that all lie within ±1 and products neither overflow nor vanish.
    points: Vec<DVec3>,
    /// Sum of the extents: no two points are farther apart in the 1-norm.
    extent: f64,
    faces: Vec<Face>,
    /// Next point in the list of the face where a point waits.
    waiting: Vec<u32>,
    /// New face whose horizon side starts at a vertex.
    starting_at: Vec<u32>,
    stack: Vec<u32>,
}

impl Builder {
    /// Scales the points and sets up the first tetrahedron.
    fn new(points: &[DVec3]) -> Result<Self, HullError> {
        let bounds =
            Aabb::from_points(points.iter().copied()).map_err(|_| HullError::NonFinite { point: 0 })?;
        let reach = bounds.min().abs().max(bounds.max().abs()).max_element();
        if bounds.extents().max_element() < MIN_LENGTH {
            return Err(HullError::Degenerate { rank: 0 });
        }
        let scale = 0.5_f64.powi(reach.log2().ceil() as i32);
        // Coordinates below 1e-40 of the largest are zero for all purposes; products of three differences
        // stay normal.
        let snap = |x: f64| if x.abs() < 1e-40 { 0.0 } else { x };
        let points: Vec<DVec3> = points.iter().map(|&p| (p * scale).map(snap)).collect();
        let tetrahedron = first_tetrahedron(&points, bounds.extents().max_element() * scale)?;
        let count = points.len();
        let extent = 2.0 * (bounds.extents() * scale).element_sum();
        let mut builder = Self {
            points,
            extent,
            faces: Vec::with_capacity(4 * count.min(1 << 20)),
            waiting: vec![NONE; count],
            starting_at: vec![NONE; count],
            stack: Vec::new(),
        };
        let [a, b, c, d] = tetrahedron;
        // The neighbour across side (i, i+1) of each face.
        for (corners, neighbors) in
            [([a, b, c], [3, 1, 2]), ([c, b, d], [0, 3, 2]), ([a, c, d], [0, 1, 3]), ([b, a, d], [0, 2, 1])]
        {
            let face = builder.make_face(corners, neighbors);
            builder.faces.push(face);
        }
        for p in 0..count as u32 {
            if !tetrahedron.contains(&p) {
                builder.assign(p, 0..4);
            }
        }
        builder.stack.extend(0..4);
        Ok(builder)
    }

    fn run(&mut self) {
        let mut visible = Vec::new();
        let mut horizon = Vec::new();
        let mut round = 0;
        while let Some(start) = self.stack.pop() {
            let face = &self.faces[start as usize];
            if !face.alive || face.first == NONE {
                continue;
            }
            let apex = face.farthest;
            round += 1;
            self.find_visible(start, apex, round, &mut visible, &mut horizon);
            let first_new = self.faces.len() as u32;
            self.join_horizon(apex, &horizon);
            self.hand_over(apex, &visible, first_new);
        }
    }

    fn make_face(&self, corners: [u32; 3], neighbors: [u32; 3]) -> Face {
        let [a, b, c] = corners.map(|i| self.points[i as usize]);
        let (e, f) = (b - a, c - a);
        let doubt = 16.0 * f64::EPSILON * e.abs().element_sum() * f.abs().element_sum() * self.extent;
        Face {
            corners,
            neighbors,
            normal: e.cross(f),
            origin: a,
            doubt,
            first: NONE,
            farthest: NONE,
            farthest_height: f64::NEG_INFINITY,
            alive: true,
            seen: 0,
        }
    }

    /// Some(height times the length of the normal) if the point lies strictly above the face.
    fn height_above(&self, face: u32, point: u32) -> Option<f64> {
        let face = &self.faces[face as usize];
        let p = self.points[point as usize];
        let height = face.normal.dot(p - face.origin);
        if height > face.doubt {
            return Some(height);
        }
        if height < -face.doubt {
            return None;
        }
        let [a, b, c] = face.corners.map(|i| self.points[i as usize]);
        orientation(a, b, c, p).is_gt().then_some(height)
    }

    /// Assigns a point to the first of the faces it lies above; drops it if there is none.
    fn assign(&mut self, point: u32, faces: std::ops::Range<u32>) {
        for index in faces {
            if let Some(height) = self.height_above(index, point) {
                let face = &mut self.faces[index as usize];
                self.waiting[point as usize] = face.first;
                face.first = point;
                if height > face.farthest_height {
                    (face.farthest, face.farthest_height) = (point, height);
                }
                return;
            }
        }
    }

    /// The connected faces that `apex` lies above, and the sides (from, to, face beyond) around them.
    fn find_visible(
        &mut self,
        start: u32,
        apex: u32,
        round: u32,
        visible: &mut Vec<u32>,
        horizon: &mut Vec<[u32; 3]>,
    ) {
        visible.clear();
        horizon.clear();
        visible.push(start);
        self.faces[start as usize].seen = round;
        self.faces[start as usize].alive = false;
        let mut next = 0;
        while next < visible.len() {
            let index = visible[next] as usize;
            next += 1;
            for side in 0..3 {
                let neighbor = self.faces[index].neighbors[side];
                let other = &self.faces[neighbor as usize];
                if other.seen == round {
                    if !other.alive {
                        continue;
                    }
                } else {
                    self.faces[neighbor as usize].seen = round;
                    if self.height_above(neighbor, apex).is_some() {
                        self.faces[neighbor as usize].alive = false;
                        visible.push(neighbor);
                        continue;
                    }
                }
                let corners = self.faces[index].corners;
                horizon.push([corners[side], corners[(side + 1) % 3], neighbor]);
            }
        }
    }

    /// One new face from each side of the horizon to the apex.
    fn join_horizon(&mut self, apex: u32, horizon: &[[u32; 3]]) {
        let first_new = self.faces.len() as u32;
        for (index, &[from, to, beyond]) in (first_new..).zip(horizon) {
            let face = self.make_face([from, to, apex], [beyond, NONE, NONE]);
            self.faces.push(face);
            self.starting_at[from as usize] = index;
            let outer = &mut self.faces[beyond as usize];
            for side in 0..3 {
                if outer.corners[side] == to && outer.corners[(side + 1) % 3] == from {
                    outer.neighbors[side] = index;
                }
            }
        }
        for (index, &[_, to, _]) in (first_new..).zip(horizon) {
            let following = self.starting_at[to as usize];
            self.faces[index as usize].neighbors[1] = following;
            self.faces[following as usize].neighbors[2] = index;
        }
    }

    /// Reassigns the points of removed faces to new ones.
    fn hand_over(&mut self, apex: u32, visible: &[u32], first_new: u32) {
        let end = self.faces.len() as u32;
        for &gone in visible {
            let mut point = self.faces[gone as usize].first;
            while point != NONE {
                let next = self.waiting[point as usize];
                if point != apex {
                    self.assign(point, first_new..end);
                }
                point = next;
            }
        }
        self.stack.extend((first_new..end).filter(|&face| self.faces[face as usize].first != NONE));
    }
}

/// Four points that span a tetrahedron well above rounding, the last one below the first three.
fn first_tetrahedron(points: &[DVec3], size: f64) -> Result<[u32; 4], HullError> {
    // Rounding of the input itself, at distance 1 from the origin, and of the merging below.
    let flat = 1e-12 * size + 4.0 * f64::EPSILON;
    let farthest = |measure: &dyn Fn(DVec3) -> f64| {
        let mut best = (f64::NEG_INFINITY, 0);
        for (i, &p) in points.iter().enumerate() {
            let value = measure(p);
            if value > best.0 {
                best = (value, i);
            }
        }
        best
    };
    let (_, a) = farthest(&|p| -p.x);
    let origin = points[a];
    let (reach, b) = farthest(&|p| p.distance(origin));
    if reach <= flat {
        return Err(HullError::Degenerate { rank: 0 });
    }
    let along = (points[b] - origin) / reach;
    let (width, c) = farthest(&|p| (p - origin).cross(along).length());
    if width <= flat {
        return Err(HullError::Degenerate { rank: 1 });
    }
    // From the two shorter sides: of a needle the long ones would tilt it by more than the points are apart.
    let base = Triangle::new(origin, points[b], points[c]);
    let normal = base.double_area_vector().normalize_or_zero();
    let (height, d) = farthest(&|p| (p - origin).dot(normal).abs());
    // Where one of the three seems highest, all heights are rounding.
    if height <= flat || [a, b, c].contains(&d) {
        return Err(HullError::Degenerate { rank: 2 });
    }
    let below = orientation(origin, points[b], points[c], points[d]).is_lt();
    let [b, c] = if below { [b, c] } else { [c, b] };
    Ok([a, b, c, d].map(|i| i as u32))
}
