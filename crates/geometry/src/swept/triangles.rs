//! Two triangles whose corners move on straight lines while s goes from 0 to 1.
//!
//! They first touch with a corner on a face or with two edges crossing: 6 + 9 tests of four points. Four
//! points lie in one plane when (r₀ + s r_v)·((x₀ + s x_v) × (y₀ + s y_v)) = 0, a cubic f₀ + f₁ s + f₂ s² +
//! f₃ s³ with k₂ = x_v × y_v, k₄ = x₀ × y_v + x_v × y₀, k₅ = x₀ × y₀ and f₃ = r_v·k₂, f₂ = r₀·k₂ + r_v·k₄,
//! f₁ = r₀·k₄ + r_v·k₅, f₀ = r₀·k₅. Corner b on face a₁a₂a₃: r = b − a₁, x = a₂ − a₁, y = a₃ − a₂. Edges a₁a₂
//! and b₁b₂: r = b₁ − a₁, x = a₂ − a₁, y = b₂ − b₁. At each root the configuration is evaluated and verified.
//! The cubic has no root if its Bernstein coefficients f₀, f₀ + f₁/3, f₀ + 2f₁/3 + f₂/3, Σf all have one
//! sign.
//!
//! If the four points stay in one plane (all f = 0), a corner touches an edge: (x₀ + s x_v) × (r₀ + s r_v) =
//! 0, of whose three quadratics the one with the largest coefficients is solved and the others are verified.
//! If they stay on one line, a corner touches a corner.

use glam::DVec3;
use rattleback_numerics::polynomial::roots_in;

use crate::primitive::{Tolerances, Triangle, triangle_triangle};

/// Roots this near to 0 or beyond 1 count as 0 and 1.
const END: f64 = 1e-9;
/// How far outside a face or edge a point may be found, as a fraction of the size: the error of a double
/// root.
const SLACK: f64 = 1e-9;
/// Cubics with coefficients below this fraction of their scale are flat: rounding only.
const FLAT: f64 = 1e-13;
/// Cubics below this fraction may be flat but for rounding in the input: both ways are tried.
const NEARLY_FLAT: f64 = 1e-8;

/// A point on its straight way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingPoint {
    /// Where it is at s = 0.
    pub start: DVec3,
    /// Where it is at s = 1.
    pub end: DVec3,
}

impl MovingPoint {
    /// Where it is at s.
    pub fn at(&self, s: f64) -> DVec3 {
        if s == 1.0 { self.end } else { self.start + s * (self.end - self.start) }
    }

    fn velocity(&self) -> DVec3 {
        self.end - self.start
    }
}

/// A triangle whose corners move on straight lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingTriangle {
    /// The corners.
    pub corners: [MovingPoint; 3],
}

impl MovingTriangle {
    /// (triangle at s = 0, the same at s = 1) ⇒ moving triangle.
    pub fn new(start: &Triangle, end: &Triangle) -> Self {
        let (start, end) = (start.corners(), end.corners());
        Self { corners: std::array::from_fn(|i| MovingPoint { start: start[i], end: end[i] }) }
    }

    /// The triangle at s.
    pub fn at(&self, s: f64) -> Triangle {
        self.corners.map(|corner| corner.at(s)).into()
    }

    /// Ends of side i.
    pub const fn side(&self, i: usize) -> [MovingPoint; 2] {
        [self.corners[i], self.corners[(i + 1) % 3]]
    }
}

/// Which features touch first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriangleFeatures {
    /// Corner of the first on the face of the second.
    VertexFace(u8),
    /// The face of the first on a corner of the second.
    FaceVertex(u8),
    /// Side of the first and side of the second.
    Edges(u8, u8),
    /// They share points from the start.
    Overlap,
}

/// When and where two moving triangles first touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleHit {
    /// s ∈ [0, 1]
    pub time: f64,
    /// Where they touch at that time.
    pub point: DVec3,
    /// Unit vector from the first to the second: along it they approach.
    pub normal: DVec3,
    /// Features in contact.
    pub features: TriangleFeatures,
}

/// First contact of four points: (s, point, unit normal along which the second part approaches).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureHit {
    /// s ∈ [0, 1]
    pub time: f64,
    /// Where they touch at that time.
    pub point: DVec3,
    /// Unit vector against which the second feature moves relative to the first.
    pub normal: DVec3,
}

/// Two moving triangles ⇒ first contact.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::primitive::Triangle;
/// use rattleback_geometry::swept::{MovingTriangle, swept_triangles};
/// let floor = Triangle::new(DVec3::ZERO, DVec3::X, DVec3::Y);
/// let above = Triangle::new(DVec3::new(0.2, 0.2, 1.0), DVec3::new(0.2, 0.9, 2.0), DVec3::new(0.9, 0.2, 2.0));
/// let below = Triangle::from(above.corners().map(|p| p - 2.0 * DVec3::Z));
/// let (still, falling) = (MovingTriangle::new(&floor, &floor), MovingTriangle::new(&above, &below));
/// let hit = swept_triangles(&still, &falling).unwrap();
/// assert_eq!((hit.time, hit.normal), (0.5, DVec3::Z));
/// ```
pub fn swept_triangles(a: &MovingTriangle, b: &MovingTriangle) -> Option<TriangleHit> {
    if let Some(overlap) = triangle_triangle(&a.at(0.0), &b.at(0.0), &Tolerances::default()) {
        return Some(overlap_at_start(a, b, overlap.segment.midpoint()));
    }
    let mut best: Option<TriangleHit> = None;
    for i in 0..3 {
        for j in 0..3 {
            if let Some(hit) = swept_edges(a.side(i), b.side(j)) {
                best = Some(earlier(best, &hit, TriangleFeatures::Edges(i as u8, j as u8)));
            }
        }
    }
    for i in 0..3 {
        if let Some(hit) = swept_vertex_face(b.corners[i], a) {
            best = Some(earlier(best, &hit, TriangleFeatures::FaceVertex(i as u8)));
        }
        if let Some(hit) = swept_vertex_face(a.corners[i], b) {
            let turned = FeatureHit { normal: -hit.normal, ..hit };
            best = Some(earlier(best, &turned, TriangleFeatures::VertexFace(i as u8)));
        }
    }
    best
}

/// The earlier of two contacts. At equal times a corner on a face wins, because its normal is the more
/// reliable one.
pub(super) fn earlier(
    best: Option<TriangleHit>,
    hit: &FeatureHit,
    features: TriangleFeatures,
) -> TriangleHit {
    let next = TriangleHit { time: hit.time, point: hit.point, normal: hit.normal, features };
    let Some(known) = best else { return next };
    let is_face = |f: TriangleFeatures| !matches!(f, TriangleFeatures::Edges(..));
    let tie = (hit.time - known.time).abs() <= 1e-12;
    if tie && is_face(features) && !is_face(known.features) {
        return TriangleHit { time: hit.time.min(known.time), ..next };
    }
    if hit.time < known.time { next } else { known }
}

fn overlap_at_start(a: &MovingTriangle, b: &MovingTriangle, point: DVec3) -> TriangleHit {
    let (first, second) = (a.at(0.0), b.at(0.0));
    let between = second.centroid() - first.centroid();
    let normal = first.normal().unwrap_or_else(|| between.normalize_or(DVec3::Z));
    let normal = if normal.dot(between) < 0.0 { -normal } else { normal };
    TriangleHit { time: 0.0, point, normal, features: TriangleFeatures::Overlap }
}

/// Corner against face ⇒ first contact; the normal is the face's, towards the side the corner comes from.
pub fn swept_vertex_face(p: MovingPoint, face: &MovingTriangle) -> Option<FeatureHit> {
    let [a1, a2, a3] = face.corners;
    let (r, x, y) = (difference(p, a1), difference(a2, a1), difference(a3, a2));
    let on_face = |s: f64| {
        let triangle = face.at(s);
        let q = p.at(s);
        let inside = triangle.contains_coplanar(q, &Tolerances { relative: SLACK, absolute: 0.0 });
        let normal = triangle.normal().filter(|_| inside)?;
        let weights = triangle.barycentric(q)?;
        let carried = weights.x * a1.velocity() + weights.y * a2.velocity() + weights.z * a3.velocity();
        let normal = against(normal, p.velocity() - carried, r.0);
        Some(FeatureHit { time: s, point: q, normal })
    };
    let (sure, flat) = coplanar_hit(r, x, y, on_face);
    if !flat {
        return sure;
    }
    let mut best = sure;
    for i in 0..3 {
        best = first_of(best, vertex_edge(p, face.side(i)));
    }
    best
}

/// Edge against edge ⇒ first contact; the normal is their product, towards the side the second comes from.
pub fn swept_edges(a: [MovingPoint; 2], b: [MovingPoint; 2]) -> Option<FeatureHit> {
    let (r, x, y) = (difference(b[0], a[0]), difference(a[1], a[0]), difference(b[1], b[0]));
    let crossing = |s: f64| {
        let (a1, b1) = (a[0].at(s), b[0].at(s));
        let (u, w) = (a[1].at(s) - a1, b[1].at(s) - b1);
        let n = u.cross(w);
        let n_squared = n.length_squared();
        if !(n_squared > 1e-24 * u.length_squared() * w.length_squared()) {
            return None;
        }
        let on_a = (b1 - a1).cross(w).dot(n) / n_squared;
        let on_b = (b1 - a1).cross(u).dot(n) / n_squared;
        let within = |t: f64| (-SLACK..=1.0 + SLACK).contains(&t);
        if !(within(on_a) && within(on_b)) {
            return None;
        }
        let carried = |e: [MovingPoint; 2], t: f64| e[0].velocity() + t * (e[1].velocity() - e[0].velocity());
        let velocity = carried(b, on_b) - carried(a, on_a);
        let normal = against(n / n_squared.sqrt(), velocity, r.0);
        Some(FeatureHit { time: s, point: a1 + on_a * u, normal })
    };
    let (sure, flat) = coplanar_hit(r, x, y, crossing);
    if !flat {
        return sure;
    }
    let mut best = sure;
    for end in b {
        best = first_of(best, vertex_edge(end, a));
    }
    for end in a {
        let turned = vertex_edge(end, b).map(|hit| FeatureHit { normal: -hit.normal, ..hit });
        best = first_of(best, turned);
    }
    best
}

fn first_of(a: Option<FeatureHit>, b: Option<FeatureHit>) -> Option<FeatureHit> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.time < a.time { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// A difference of two moving points: value at s = 0 and rate.
type Linear = (DVec3, DVec3);

fn difference(p: MovingPoint, q: MovingPoint) -> Linear {
    (p.start - q.start, p.velocity() - q.velocity())
}

/// The normal, oriented against the velocity of the second feature, or towards where it was if it only
/// slides.
fn against(normal: DVec3, velocity: DVec3, before: DVec3) -> DVec3 {
    let approach = normal.dot(velocity);
    let sign = if approach.abs() > 1e-12 * velocity.length() { -approach } else { normal.dot(before) };
    if sign < 0.0 { -normal } else { normal }
}

/// First root of the coplanarity cubic that passes `verify`, and whether the four points (nearly) stay in a
/// plane.
fn coplanar_hit(
    r: Linear,
    x: Linear,
    y: Linear,
    verify: impl Fn(f64) -> Option<FeatureHit>,
) -> (Option<FeatureHit>, bool) {
    let (k2, k4, k5) = (x.1.cross(y.1), x.0.cross(y.1) + x.1.cross(y.0), x.0.cross(y.0));
    let f = [r.0.dot(k5), r.0.dot(k4) + r.1.dot(k5), r.0.dot(k2) + r.1.dot(k4), r.1.dot(k2)];
    let size = |v: Linear| v.0.length() + v.1.length();
    let scale = size(r) * size(x) * size(y);
    let largest = f.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if !(largest > FLAT * scale) {
        return (None, true);
    }
    let flat = largest <= NEARLY_FLAT * scale;
    let bernstein = [f[0], f[0] + f[1] / 3.0, f[0] + (2.0 * f[1] + f[2]) / 3.0, f[0] + f[1] + f[2] + f[3]];
    let margin = END * largest;
    if bernstein.iter().all(|&b| b > margin) || bernstein.iter().all(|&b| b < -margin) {
        return (None, flat);
    }
    let Ok(roots) = roots_in(&f, -END, 1.0 + END) else { return (None, flat) };
    let hit = roots.iter().find_map(|&s| verify(if s < END { 0.0 } else { s.min(1.0) }));
    (hit, flat)
}

/// A corner against an edge, all in one plane ⇒ first contact, with the normal from the edge to the corner.
fn vertex_edge(p: MovingPoint, edge: [MovingPoint; 2]) -> Option<FeatureHit> {
    let (x, r) = (difference(edge[1], edge[0]), difference(p, edge[0]));
    let c = [x.0.cross(r.0), x.0.cross(r.1) + x.1.cross(r.0), x.1.cross(r.1)];
    let scale = (x.0.length() + x.1.length()) * (r.0.length() + r.1.length());
    let weight = c[0].abs().max(c[1].abs()).max(c[2].abs());
    let axis = weight.max_position();
    let touching = |s: f64| touches(p, edge, s, scale.sqrt());
    if weight[axis] > FLAT * scale {
        let roots = roots_in(&c.map(|k| k[axis]), -END, 1.0 + END).ok()?;
        return roots.iter().find_map(|&s| touching(if s < END { 0.0 } else { s.min(1.0) }));
    }
    // All on one line: the corner touches one of the edge's ends.
    let crossing = |end: MovingPoint| {
        let (from, rate) = difference(p, end);
        let s = -from.dot(rate) / rate.length_squared();
        (-END..=1.0 + END).contains(&s).then(|| touching(s.clamp(0.0, 1.0)))?
    };
    first_of(crossing(edge[0]), crossing(edge[1]))
}

/// Whether the corner lies on the edge at s. The normal is the direction the corner comes from, across the
/// edge.
fn touches(p: MovingPoint, edge: [MovingPoint; 2], s: f64, size: f64) -> Option<FeatureHit> {
    let segment = crate::primitive::LineSegment::new(edge[0].at(s), edge[1].at(s));
    let q = p.at(s);
    if !(segment.distance(q) <= SLACK * size) {
        return None;
    }
    let t = segment.closest_parameter(q);
    let carried = edge[0].velocity() + t * (edge[1].velocity() - edge[0].velocity());
    let velocity = p.velocity() - carried;
    let along = segment.offset();
    let across = velocity - (velocity.dot(along) / along.length_squared().max(f64::MIN_POSITIVE)) * along;
    let normal = (-across).normalize_or((-velocity).normalize_or(DVec3::Z));
    Some(FeatureHit { time: s, point: q, normal })
}
