//! Least overlap of two polytopes over their face normals and the products of their edges.
//!
//! Along a unit vector n the separation is s(n) = min_{b ∈ B} n·b − max_{a ∈ A} n·a. If the solids overlap,
//! the depth is −max s(n), attained at a normal of a face of A − B: a face normal of A, one of B (negated),
//! or e_A × e_B of two edges whose arcs in the map of normals cross (Gauss map; A's arc from n_l to n_r, B's
//! negated). Along the latter s = n·(b − a) with a and b any points of the two edges.
//!
//! Most candidates are never evaluated. With q any point of B, s(n) ≤ n·q − max_A n·a, so a face of A with
//! f = n·q − d below the best found so far is out after one product. An edge of A has n = α n_l + β n_r, α,
//! β ≥ 0, α + β ≥ 1, hence s ≤ α f_l + β f_r, at most max(f_l, f_r) if both are negative: it is out if both
//! its faces are, for the same q. The same with A and B exchanged. Points q deep in the other solid make this
//! sharp; the cache holds the previous contact for that.
//!
//! A first guess, or the previous axis, may be proved to be the best at once (see `early_exit`); then no
//! candidate is evaluated.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::early_exit::{inside_crossing, inside_face, is_best};
use super::polytope::Polytope;
use crate::frame::Frame;

/// Solids with more faces are left to the nearest-point search.
pub(super) const MAX_FACES: usize = 128;
/// Most edges of one solid that are tried.
const MAX_EDGES: usize = 64;
/// Most edges at one vertex that are tried first.
const MAX_NEAR: usize = 8;
/// Most pairs of edges that are tried before a search is the faster way.
const MAX_EDGE_PAIRS: usize = 900;
/// sin² of the angle below which edges count as parallel.
pub(super) const PARALLEL: f64 = 1e-12;
/// Hysteresis: what an axis must gain over the best one so far, as a fraction of an edge, so that equals do
/// not alternate.
pub(super) const BIAS: f64 = 1e-8;
/// How far outside a point of a solid may be by rounding, in units of the coordinates' size.
const OUTSIDE: f64 = 1e-12;

/// Features that define an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Features {
    /// Nothing is known.
    #[default]
    None,
    /// A face of A, and the vertex of B deepest below it.
    FaceA(u32, u32),
    /// A face of B, and the vertex of A deepest below it.
    FaceB(u32, u32),
    /// An edge of each.
    Edges(u32, u32),
}

/// A direction and how far apart the solids are along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    /// Unit, from A to B, in A's frame.
    pub(super) normal: DVec3,
    pub(super) separation: f64,
    pub(super) features: Features,
}

/// How a search for the best axis ended.
pub(super) enum Found {
    /// Farther apart than the margin along this axis.
    Apart(Axis),
    /// The axis of largest separation.
    Best(Axis),
    /// Too many edges are candidates.
    TooMany,
}

/// The faces that each of two points leaves in the race.
#[derive(Clone, Copy)]
struct Candidates([u128; 2]);

impl Candidates {
    /// Faces that both points leave.
    #[inline]
    fn faces(self) -> impl Iterator<Item = u32> {
        let mut left = self.0[0] & self.0[1];
        std::iter::from_fn(move || {
            let face = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (face < 128).then_some(face)
        })
    }

    /// Whether neither point rules out the edge between two faces.
    #[inline]
    fn has_edge(self, [left, right]: [u32; 2]) -> bool {
        let faces = 1u128 << left | 1u128 << right;
        self.0[0] & faces != 0 && self.0[1] & faces != 0
    }
}

/// Two polytopes about to be searched.
pub(super) struct Search<'a, A, B> {
    a: &'a A,
    b: &'a B,
    frame: &'a Frame,
    best: Axis,
    margin: f64,
    bias: f64,
}

impl<'a, A: Polytope, B: Polytope> Search<'a, A, B> {
    #[inline]
    pub(super) fn new(a: &'a A, b: &'a B, frame: &'a Frame, margin: f64) -> Self {
        let best = Axis { normal: DVec3::X, separation: f64::NEG_INFINITY, features: Features::None };
        let length = |ends: [DVec3; 2]| (ends[1] - ends[0]).abs().max_element();
        let size = length(a.edge(0).ends.map(|end| a.vertex(end)))
            .min(length(b.edge(0).ends.map(|end| b.vertex(end))));
        Self { a, b, frame, best, margin, bias: BIAS * size }
    }

    /// (what made the last axis, points in contact then in the frames of A and B) ⇒ the axis of largest
    /// separation, or any one beyond the margin.
    pub(super) fn run(mut self, last: Features, inner: Option<[DVec3; 2]>) -> Found {
        self.seed(last);
        if self.best.separation > self.margin {
            return Found::Apart(self.best);
        }
        if self.is_proved() {
            return Found::Best(self.best);
        }
        if self.try_edges_near() {
            return Found::Apart(self.best);
        }
        if matches!(self.best.features, Features::Edges(..)) && self.is_proved() {
            return Found::Best(self.best);
        }
        let known = inner.and_then(|[inner_a, inner_b]| self.candidates([[inner_a; 2], [inner_b; 2]]));
        let Some([faces_a, faces_b]) = known.or_else(|| self.candidates(self.deep_points())) else {
            return Found::TooMany;
        };
        if self.try_faces(faces_a, faces_b) {
            return Found::Apart(self.best);
        }
        self.try_edges(faces_a, faces_b)
    }

    /// Last time's features, or the faces that the middles are highest above.
    #[inline]
    fn seed(&mut self, features: Features) {
        match features {
            Features::FaceA(face, start) if (face as usize) < self.a.face_count() => {
                self.try_face_a(face, start);
            }
            Features::FaceB(face, start) if (face as usize) < self.b.face_count() => {
                self.try_face_b(face, start);
            }
            Features::Edges(edge_a, edge_b)
                if (edge_a as usize) < self.a.edge_count() && (edge_b as usize) < self.b.edge_count() =>
            {
                self.try_edge_axis(edge_a, edge_b);
            }
            _ => {}
        }
        if self.best.features == Features::None {
            let (middle_a, middle_b) = (self.a.middle(), self.frame.point(self.b.middle()));
            self.try_face_a(highest_face(self.a, middle_b), 0);
            if self.best.separation <= self.margin {
                self.try_face_b(highest_face(self.b, self.frame.point_in_b(middle_a)), 0);
            }
            self.descend();
        }
    }

    /// From a face and the vertex deepest below it to the face above that vertex: shallow contacts end where
    /// they should.
    #[inline]
    fn descend(&mut self) {
        if self.best.separation > self.margin {
            return;
        }
        match self.best.features {
            Features::FaceA(face, vertex) => {
                let next = highest_face(self.a, self.frame.point(self.b.vertex(vertex)));
                if next != face {
                    self.try_face_a(next, vertex);
                }
            }
            Features::FaceB(face, vertex) => {
                let next = highest_face(self.b, self.frame.point_in_b(self.a.vertex(vertex)));
                if next != face {
                    self.try_face_b(next, vertex);
                }
            }
            _ => {}
        }
    }

    /// Whether no other axis can be better: see `early_exit`.
    #[inline]
    fn is_proved(&self) -> bool {
        let rho = match self.best.features {
            Features::FaceA(face, vertex) => {
                inside_face(self.a, face as usize, self.frame.point(self.b.vertex(vertex)))
            }
            Features::FaceB(face, vertex) => {
                inside_face(self.b, face as usize, self.frame.point_in_b(self.a.vertex(vertex)))
            }
            Features::Edges(edge_a, edge_b) => {
                let ends_a = self.a.edge(edge_a as usize).ends.map(|vertex| self.a.vertex(vertex));
                let ends_b = self.b.edge(edge_b as usize).ends.map(|vertex| self.b.vertex(vertex));
                inside_crossing(ends_a, ends_b.map(|p| self.frame.point(p)), self.best.normal)
            }
            Features::None => return false,
        };
        let from_a_to_b = || self.frame.point(self.b.middle()) - self.a.middle();
        rho > 0.0 && is_best(self.best.separation, rho, self.best.normal, from_a_to_b())
    }

    /// Points of A and of B, each in its own frame, likely to lie deep in the other.
    #[inline]
    fn deep_points(&self) -> [[DVec3; 2]; 2] {
        let deepest_a = self.a.farthest_vertex(self.best.normal, 0);
        let deepest_b = self.b.farthest_vertex(-self.frame.vector_in_b(self.best.normal), 0);
        [[self.a.vertex(deepest_a), self.a.middle()], [self.b.vertex(deepest_b), self.b.middle()]]
    }

    /// Points of A and B ⇒ the faces of A and B that they leave in the race; None if they are not points of A
    /// and B.
    #[inline]
    fn candidates(&self, [inner_a, inner_b]: [[DVec3; 2]; 2]) -> Option<[Candidates; 2]> {
        let limit = self.best.separation.min(0.0);
        let (faces_a, outside_a) = left_over(self.a, inner_a, inner_b.map(|p| self.frame.point(p)), limit);
        let (faces_b, outside_b) =
            left_over(self.b, inner_b, inner_a.map(|p| self.frame.point_in_b(p)), limit);
        let allowed = OUTSIDE * (inner_a[0].abs().max_element() + inner_b[0].abs().max_element());
        (outside_a <= allowed && outside_b <= allowed).then_some([faces_a, faces_b])
    }

    /// Tries the faces left; true if one separates beyond the margin.
    #[inline]
    fn try_faces(&mut self, faces_a: Candidates, faces_b: Candidates) -> bool {
        for face in faces_a.faces() {
            let start = match self.best.features {
                Features::FaceA(_, vertex) => vertex,
                _ => 0,
            };
            self.try_face_a(face, start);
            if self.best.separation > self.margin {
                return true;
            }
        }
        for face in faces_b.faces() {
            let start = match self.best.features {
                Features::FaceB(_, vertex) => vertex,
                _ => 0,
            };
            self.try_face_b(face, start);
            if self.best.separation > self.margin {
                return true;
            }
        }
        false
    }

    #[inline]
    fn try_face_a(&mut self, face: u32, start: u32) {
        let (normal, offset) = self.a.plane(face as usize);
        let vertex = self.b.farthest_vertex(-self.frame.vector_in_b(normal), start);
        let separation = normal.dot(self.frame.point(self.b.vertex(vertex))) - offset;
        if separation > self.best.separation + self.bias {
            self.best = Axis { normal, separation, features: Features::FaceA(face, vertex) };
        }
    }

    #[inline]
    fn try_face_b(&mut self, face: u32, start: u32) {
        let (normal, offset) = self.b.plane(face as usize);
        let outward = self.frame.vector(normal);
        let vertex = self.a.farthest_vertex(-outward, start);
        let separation = normal.dot(self.frame.point_in_b(self.a.vertex(vertex))) - offset;
        if separation > self.best.separation + self.bias {
            self.best = Axis { normal: -outward, separation, features: Features::FaceB(face, vertex) };
        }
    }

    /// Pairs of edges at the vertices that are deepest along the best axis; true if one separates beyond the
    /// margin.
    #[inline]
    fn try_edges_near(&mut self) -> bool {
        let (start_a, start_b) = match self.best.features {
            Features::FaceA(_, vertex) => (0, vertex),
            Features::FaceB(_, vertex) => (vertex, 0),
            _ => (0, 0),
        };
        let deepest_a = self.a.farthest_vertex(self.best.normal, start_a);
        let deepest_b = self.b.farthest_vertex(-self.frame.vector_in_b(self.best.normal), start_b);
        let (mut list_a, mut list_b) = ([0u16; MAX_NEAR], [0u16; MAX_NEAR]);
        let count_a = edges_at(self.a, deepest_a, &mut list_a);
        let count_b = edges_at(self.b, deepest_b, &mut list_b);
        self.try_edge_pairs(&list_a[..count_a], &list_b[..count_b])
    }

    /// All pairs of edges with a face each that still matters.
    fn try_edges(&mut self, faces_a: Candidates, faces_b: Candidates) -> Found {
        let (mut list_a, mut list_b) = ([0u16; MAX_EDGES], [0u16; MAX_EDGES]);
        let (Some(count_a), Some(count_b)) =
            (edges_left(self.a, faces_a, &mut list_a), edges_left(self.b, faces_b, &mut list_b))
        else {
            return Found::TooMany;
        };
        if count_a * count_b > MAX_EDGE_PAIRS {
            return Found::TooMany;
        }
        if self.try_edge_pairs(&list_a[..count_a], &list_b[..count_b]) {
            return Found::Apart(self.best);
        }
        Found::Best(self.best)
    }

    /// Tries pairs of edges; true if one separates beyond the margin.
    #[inline]
    fn try_edge_pairs(&mut self, list_a: &[u16], list_b: &[u16]) -> bool {
        for &edge_a in list_a {
            let side = self.a.edge(edge_a as usize);
            // Seen from B, where the other edges are.
            let [p, q] = side.ends.map(|vertex| self.frame.point_in_b(self.a.vertex(vertex)));
            let along_a = q - p;
            let [left_a, right_a] =
                side.faces.map(|face| self.frame.vector_in_b(self.a.plane(face as usize).0));
            for &edge_b in list_b {
                let side = self.b.edge(edge_b as usize);
                let [tail, head] = side.ends.map(|vertex| self.b.vertex(vertex));
                let along_b = head - tail;
                let (right_across, left_across) = (right_a.dot(along_b), left_a.dot(along_b));
                if right_across * left_across >= 0.0 {
                    continue;
                }
                let [left_b, right_b] = side.faces.map(|face| self.b.plane(face as usize).0.dot(along_a));
                // The arcs cross each other, and on the same side of the sphere.
                if left_b * right_b >= 0.0 || left_b * right_across >= 0.0 {
                    continue;
                }
                let mut n = along_a.cross(along_b);
                let squared = n.length_squared();
                if !(squared > PARALLEL * along_a.length_squared() * along_b.length_squared()) {
                    continue;
                }
                // From left to right the normals turn about the edge: the arc meets +n if it begins on e_B's
                // side.
                if left_across < 0.0 {
                    n = -n;
                }
                let reach = n.dot(tail - p);
                let beaten = self.best.separation + self.bias;
                // Compared before the root: n is too long by it, whatever its length.
                if reach * reach.abs() <= beaten * beaten.abs() * squared {
                    continue;
                }
                let length = squared.sqrt();
                self.best = Axis {
                    normal: self.frame.vector(n / length),
                    separation: reach / length,
                    features: Features::Edges(edge_a as u32, edge_b as u32),
                };
                if self.best.separation > self.margin {
                    return true;
                }
            }
        }
        false
    }

    /// The axis across two edges, valid whether or not they support the solids there.
    fn try_edge_axis(&mut self, edge_a: u32, edge_b: u32) {
        let ends_a = self.a.edge(edge_a as usize).ends.map(|vertex| self.a.vertex(vertex));
        let ends_b = self.b.edge(edge_b as usize).ends.map(|vertex| self.b.vertex(vertex));
        let (along_a, along_b) = (ends_a[1] - ends_a[0], self.frame.vector(ends_b[1] - ends_b[0]));
        let n = along_a.cross(along_b);
        let squared = n.length_squared();
        if !(squared > PARALLEL * along_a.length_squared() * along_b.length_squared()) {
            return;
        }
        let left = self.a.plane(self.a.edge(edge_a as usize).faces[0] as usize).0;
        let n = if left.dot(along_b) < 0.0 { -n } else { n } / squared.sqrt();
        let from = self.a.vertex(self.a.farthest_vertex(n, self.a.edge(edge_a as usize).ends[0]));
        let start = self.b.edge(edge_b as usize).ends[0];
        let to = self.b.vertex(self.b.farthest_vertex(-self.frame.vector_in_b(n), start));
        let separation = n.dot(self.frame.point(to) - from);
        if separation > self.best.separation + self.bias {
            self.best = Axis { normal: n, separation, features: Features::Edges(edge_a, edge_b) };
        }
    }
}

/// (solid, points of it, points of the other, all in its frame) ⇒ faces that the others are not below by more
/// than `limit`, and how far its own points are outside.
#[inline]
fn left_over<P: Polytope>(solid: &P, own: [DVec3; 2], other: [DVec3; 2], limit: f64) -> (Candidates, f64) {
    let (mut left, mut outside) = ([0u128; 2], f64::NEG_INFINITY);
    // Points may be outside by rounding, and f is rounded itself.
    let limit = limit - 2.0 * OUTSIDE * (own[0].abs().max_element() + other[0].abs().max_element());
    for face in 0..solid.face_count() {
        let (normal, offset) = solid.plane(face);
        outside = outside.max(normal.dot(own[0]) - offset);
        for (left, p) in left.iter_mut().zip(other) {
            *left |= u128::from(normal.dot(p) - offset >= limit) << face;
        }
    }
    (Candidates(left), outside)
}

/// Number of the face a point is highest above.
#[inline]
fn highest_face<P: Polytope>(solid: &P, p: DVec3) -> u32 {
    let mut best = (f64::NEG_INFINITY, 0);
    for face in 0..solid.face_count() {
        let (normal, offset) = solid.plane(face);
        let height = normal.dot(p) - offset;
        if height > best.0 {
            best = (height, face as u32);
        }
    }
    best.1
}

/// Writes the edges at a vertex, as many as there is room for.
#[inline]
fn edges_at<P: Polytope>(solid: &P, vertex: u32, list: &mut [u16; MAX_NEAR]) -> usize {
    let mut count = 0;
    solid.walk_vertex(vertex, |edge| {
        if let Some(place) = list.get_mut(count) {
            *place = edge as u16;
            count += 1;
        }
    });
    count
}

/// Writes the edges of faces that still matter; None if there are too many.
#[inline]
fn edges_left<P: Polytope>(solid: &P, faces: Candidates, list: &mut [u16; MAX_EDGES]) -> Option<usize> {
    let mut count = 0;
    for edge in 0..solid.edge_count() {
        if faces.has_edge(solid.edge(edge).faces) {
            *list.get_mut(count)? = edge as u16;
            count += 1;
        }
    }
    Some(count)
}
