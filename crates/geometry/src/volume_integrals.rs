//! Exact integrals of 1, x, y, z, x², y², z², xy, yz, zx over a closed polyhedron, in time linear in its
//! size.
//!
//! Three reductions (B. Mirtich, "Fast and accurate computation of polyhedral mass properties", 1996):
//! 1. Divergence theorem, volume → faces: T_1 = Σ n_x ∫x, T_x = ½ Σ n_x ∫x², T_xx = ⅓ Σ n_x ∫x³, T_xy = ½ Σ n_x ∫x²y,
//!    and cyclic.
//! 2. Projection along the axis γ of the largest normal component, face → shadow in the (α, β) plane: on the face
//!    γ = −(n_α α + n_β β + w)/n_γ with w = −n·p₀, and the area grows by 1/|n_γ|.
//! 3. Green's theorem, shadow → edges: each monomial becomes a polynomial in the end points of the edges.
//!
//! The sign of n_γ cancels between the direction of the shadow and |n_γ|, so none appears below. Faces with
//! holes need nothing special: the hole's loop runs the other way round.
//!
//! That is `by_three_stages`. There is a shorter way to the same numbers: with v = a·(b×c), the tetrahedron
//! (0, a, b, c) has ∫1 = v/6, ∫x = v/24 (a+b+c)_x and ∫xy = v/120 (a_x a_y + b_x b_y + c_x c_y + s_x s_y),
//! s = a+b+c, and the signed tetrahedra over the triangles of a closed surface add up to its volume; a
//! polygon is the signed fan from its first corner, convex or not. It takes a seventh of the time and is what
//! all shapes use. Only the totals of the two ways agree, not what each face adds, so they must not be mixed.
//! The moments are taken about the centre of the bounding box and moved to the origin afterwards, else a
//! small part far away drowns in cancellation.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{Aabb, PolygonSoup};

/// The ten integrals over a solid. A surface with inward normals gives them with opposite sign.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{PolygonSoup, VolumeIntegrals};
/// let corners = vec![DVec3::ZERO, 5.0 * DVec3::X, 4.0 * DVec3::Y, 3.0 * DVec3::Z];
/// let tetrahedron = PolygonSoup::from_triangles(corners, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]);
/// let t = VolumeIntegrals::of_soup(&tetrahedron);
/// assert!((t.t1 - 10.0).abs() < 1e-13 && (t.tyz - 6.0).abs() < 1e-13);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeIntegrals {
    /// ∫ 1
    pub t1: f64,
    /// ∫ x
    pub tx: f64,
    /// ∫ y
    pub ty: f64,
    /// ∫ z
    pub tz: f64,
    /// ∫ x²
    pub txx: f64,
    /// ∫ y²
    pub tyy: f64,
    /// ∫ z²
    pub tzz: f64,
    /// ∫ xy
    pub txy: f64,
    /// ∫ yz
    pub tyz: f64,
    /// ∫ zx
    pub tzx: f64,
}

impl VolumeIntegrals {
    /// Closed polygon soup ⇒ integrals about the origin. Indices out of range are left out.
    pub fn of_soup(soup: &PolygonSoup) -> Self {
        let center = center_of(&soup.vertices);
        Self::of_soup_about(soup, center).shifted(center)
    }

    /// Closed triangle surface ⇒ integrals about the origin.
    pub fn of_triangles(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let center = center_of(vertices);
        Self::of_triangles_about(vertices, triangles, center).shifted(center)
    }

    /// Closed triangle surface ⇒ integrals of the coordinates relative to `center`.
    pub fn of_triangles_about(vertices: &[DVec3], triangles: &[[u32; 3]], center: DVec3) -> Self {
        let mut total = TetrahedronSums::default();
        // Blocks keep the partial sums small beside their terms, which keeps the rounding error down.
        for block in triangles.chunks(64) {
            let mut sums = TetrahedronSums::default();
            for &[i, j, k] in block {
                let (Some(&a), Some(&b), Some(&c)) =
                    (vertices.get(i as usize), vertices.get(j as usize), vertices.get(k as usize))
                else {
                    continue;
                };
                sums.add(a - center, b - center, c - center);
            }
            total.merge(&sums);
        }
        total.finish()
    }

    /// Closed polygon soup ⇒ integrals of the coordinates relative to `center`.
    pub fn of_soup_about(soup: &PolygonSoup, center: DVec3) -> Self {
        let mut total = TetrahedronSums::default();
        for face in soup.faces() {
            let mut points = face.iter().filter_map(|&i| soup.vertices.get(i as usize)).map(|&p| p - center);
            let (Some(a), Some(mut b)) = (points.next(), points.next()) else { continue };
            let mut sums = TetrahedronSums::default();
            for c in points {
                sums.add(a, b, c);
                b = c;
            }
            total.merge(&sums);
        }
        total.finish()
    }

    /// Planar loops ⇒ integrals about the origin by the three-stage reduction alone. A hole in a face is a
    /// loop of its own that runs the other way.
    pub fn by_three_stages<'a>(faces: impl IntoIterator<Item = &'a [DVec3]>) -> Self {
        let mut sum = Self::default();
        for face in faces {
            sum.add_face(face);
        }
        sum.scale_divergence();
        sum
    }

    /// Integrals about the origin of the solid moved by `offset`.
    #[must_use]
    pub fn shifted(&self, offset: DVec3) -> Self {
        let DVec3 { x, y, z } = offset;
        Self {
            t1: self.t1,
            tx: self.tx + x * self.t1,
            ty: self.ty + y * self.t1,
            tz: self.tz + z * self.t1,
            txx: self.txx + x * (2.0 * self.tx + x * self.t1),
            tyy: self.tyy + y * (2.0 * self.ty + y * self.t1),
            tzz: self.tzz + z * (2.0 * self.tz + z * self.t1),
            txy: self.txy + x * self.ty + y * self.tx + x * y * self.t1,
            tyz: self.tyz + y * self.tz + z * self.ty + y * z * self.t1,
            tzx: self.tzx + z * self.tx + x * self.tz + z * x * self.t1,
        }
    }

    /// Sum of two solids.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (a, b) = (self.to_array(), other.to_array());
        Self::from_array(std::array::from_fn(|i| a[i] + b[i]))
    }

    /// Every integral times a number, such as a density.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self::from_array(self.to_array().map(|t| factor * t))
    }

    /// In the order t1, tx, ty, tz, txx, tyy, tzz, txy, tyz, tzx.
    pub fn to_array(&self) -> [f64; 10] {
        [self.t1, self.tx, self.ty, self.tz, self.txx, self.tyy, self.tzz, self.txy, self.tyz, self.tzx]
    }

    /// From the order of `to_array`.
    pub fn from_array([t1, tx, ty, tz, txx, tyy, tzz, txy, tyz, tzx]: [f64; 10]) -> Self {
        Self { t1, tx, ty, tz, txx, tyy, tzz, txy, tyz, tzx }
    }

    /// Stage 1 for one face: adds n·(face integrals), still without the factors ½ and ⅓.
    fn add_face(&mut self, points: &[DVec3]) {
        let n = area_vector(points).normalize_or_zero();
        if n == DVec3::ZERO {
            return; // No area, no contribution.
        }
        let gamma = n.abs().max_position();
        let (alpha, beta) = ((gamma + 1) % 3, (gamma + 2) % 3);
        let w = -n.dot(points[0]);
        let f =
            FaceIntegrals::of(&ProjectionIntegrals::of(points, alpha, beta), n[alpha], n[beta], n[gamma], w);
        let mut linear = [0.0; 3];
        let mut square = [0.0; 3];
        let mut cube = [0.0; 3];
        let mut mixed = [0.0; 3];
        for (axis, values) in [(alpha, f.a), (beta, f.b), (gamma, f.c)] {
            [linear[axis], square[axis], cube[axis], mixed[axis]] = values.map(|value| n[axis] * value);
        }
        let sums = [
            linear[0], square[0], square[1], square[2], cube[0], cube[1], cube[2], mixed[0], mixed[1],
            mixed[2],
        ];
        *self = self.plus(&Self::from_array(sums));
    }

    /// The factors that the divergence theorem leaves: ½ for T_x and T_xy, ⅓ for T_xx.
    fn scale_divergence(&mut self) {
        let [t1, tx, ty, tz, txx, tyy, tzz, txy, tyz, tzx] = self.to_array();
        let (half, third) = (|t: f64| t / 2.0, |t: f64| t / 3.0);
        *self = Self::from_array([
            t1,
            half(tx),
            half(ty),
            half(tz),
            third(txx),
            third(tyy),
            third(tzz),
            half(txy),
            half(tyz),
            half(tzx),
        ]);
    }
}

/// Stage 2: for each axis q ∈ (α, β, γ) with successor r the face integrals of q, q², q³ and q²r.
struct FaceIntegrals {
    a: [f64; 4],
    b: [f64; 4],
    c: [f64; 4],
}

impl FaceIntegrals {
    fn of(p: &ProjectionIntegrals, na: f64, nb: f64, nc: f64, w: f64) -> Self {
        let k1 = 1.0 / nc;
        let (k2, k3, k4) = (k1 * k1, k1 * k1 * k1, k1 * k1 * k1 * k1);
        let c = -k2 * (na * p.a + nb * p.b + w * p.one);
        let cc = k3
            * (na * na * p.aa
                + 2.0 * na * nb * p.ab
                + nb * nb * p.bb
                + w * (2.0 * (na * p.a + nb * p.b) + w * p.one));
        let ccc = -k4
            * (na * na * na * p.aaa
                + 3.0 * na * na * nb * p.aab
                + 3.0 * na * nb * nb * p.abb
                + nb * nb * nb * p.bbb
                + 3.0 * w * (na * na * p.aa + 2.0 * na * nb * p.ab + nb * nb * p.bb)
                + w * w * (3.0 * (na * p.a + nb * p.b) + w * p.one));
        let bbc = -k2 * (na * p.abb + nb * p.bbb + w * p.bb);
        let cca = k3
            * (na * na * p.aaa
                + 2.0 * na * nb * p.aab
                + nb * nb * p.abb
                + w * (2.0 * (na * p.aa + nb * p.ab) + w * p.a));
        Self {
            a: [k1 * p.a, k1 * p.aa, k1 * p.aaa, k1 * p.aab],
            b: [k1 * p.b, k1 * p.bb, k1 * p.bbb, bbc],
            c: [c, cc, ccc, cca],
        }
    }
}

/// Stage 3: integrals of 1, α, β, … αβ² over the shadow of a loop.
#[derive(Default)]
struct ProjectionIntegrals {
    one: f64,
    a: f64,
    b: f64,
    aa: f64,
    ab: f64,
    bb: f64,
    aaa: f64,
    aab: f64,
    abb: f64,
    bbb: f64,
}

impl ProjectionIntegrals {
    fn of(points: &[DVec3], alpha: usize, beta: usize) -> Self {
        let mut p = Self::default();
        for (i, from) in points.iter().enumerate() {
            let to = points[(i + 1) % points.len()];
            let (a0, b0, a1, b1) = (from[alpha], from[beta], to[alpha], to[beta]);
            let (da, db) = (a1 - a0, b1 - b0);
            let (a0_2, a1_2, b0_2, b1_2) = (a0 * a0, a1 * a1, b0 * b0, b1 * b1);
            let (a0_3, a1_3, b0_3, b1_3) = (a0_2 * a0, a1_2 * a1, b0_2 * b0, b1_2 * b1);
            // Σ_k(x) = x1^k + x1^(k−1) x0 + … + x0^k, by Horner's rule in x1.
            let (sa1, sb1) = (a1 + a0, b1 + b0);
            let (sa2, sb2) = (a1 * sa1 + a0_2, b1 * sb1 + b0_2);
            let (sa3, sb3) = (a1 * sa2 + a0_3, b1 * sb2 + b0_3);
            let (sa4, sb4) = (a1 * sa3 + a0_3 * a0, b1 * sb3 + b0_3 * b0);
            p.one += db * sa1;
            p.a += db * sa2;
            p.aa += db * sa3;
            p.aaa += db * sa4;
            p.b -= da * sb2;
            p.bb -= da * sb3;
            p.bbb -= da * sb4;
            p.ab +=
                db * (b1 * (3.0 * a1_2 + 2.0 * a1 * a0 + a0_2) + b0 * (a1_2 + 2.0 * a1 * a0 + 3.0 * a0_2));
            p.aab += db
                * (b1 * (4.0 * a1_3 + 3.0 * a1_2 * a0 + 2.0 * a1 * a0_2 + a0_3)
                    + b0 * (a1_3 + 2.0 * a1_2 * a0 + 3.0 * a1 * a0_2 + 4.0 * a0_3));
            p.abb -= da
                * (a1 * (4.0 * b1_3 + 3.0 * b1_2 * b0 + 2.0 * b1 * b0_2 + b0_3)
                    + a0 * (b1_3 + 2.0 * b1_2 * b0 + 3.0 * b1 * b0_2 + 4.0 * b0_3));
        }
        Self {
            one: p.one / 2.0,
            a: p.a / 6.0,
            b: p.b / 6.0,
            aa: p.aa / 12.0,
            ab: p.ab / 24.0,
            bb: p.bb / 12.0,
            aaa: p.aaa / 20.0,
            aab: p.aab / 60.0,
            abb: p.abb / 60.0,
            bbb: p.bbb / 20.0,
        }
    }
}

/// Sums over signed tetrahedra, before their common factors 1/6, 1/24 and 1/120.
#[derive(Default)]
struct TetrahedronSums {
    one: f64,
    first: DVec3,
    square: DVec3,
    /// (xy, yz, zx)
    mixed: DVec3,
}

impl TetrahedronSums {
    #[inline]
    fn add(&mut self, a: DVec3, b: DVec3, c: DVec3) {
        let v = a.dot(b.cross(c));
        let s = a + b + c;
        self.one += v;
        self.first += v * s;
        self.square += v * (a * a + b * b + c * c + s * s);
        let next = |p: DVec3| DVec3::new(p.y, p.z, p.x);
        self.mixed += v * (a * next(a) + b * next(b) + c * next(c) + s * next(s));
    }

    fn merge(&mut self, other: &Self) {
        self.one += other.one;
        self.first += other.first;
        self.square += other.square;
        self.mixed += other.mixed;
    }

    fn finish(&self) -> VolumeIntegrals {
        let (t1, first) = (self.one / 6.0, self.first / 24.0);
        let (square, mixed) = (self.square / 120.0, self.mixed / 120.0);
        VolumeIntegrals {
            t1,
            tx: first.x,
            ty: first.y,
            tz: first.z,
            txx: square.x,
            tyy: square.y,
            tzz: square.z,
            txy: mixed.x,
            tyz: mixed.y,
            tzx: mixed.z,
        }
    }
}

/// Twice the vector area of a loop, relative to its first point.
fn area_vector(points: &[DVec3]) -> DVec3 {
    let Some(&origin) = points.first() else { return DVec3::ZERO };
    points.windows(2).map(|pair| (pair[0] - origin).cross(pair[1] - origin)).sum()
}

/// Loop of vertex indices ⇒ vector area: its direction is the normal, its length the area.
pub fn polygon_area_vector(vertices: &[DVec3], face: &[u32]) -> DVec3 {
    let at = |i: &u32| vertices.get(*i as usize).copied().unwrap_or_default();
    let Some(origin) = face.first().map(at) else { return DVec3::ZERO };
    face.windows(2).map(|pair| 0.5 * (at(&pair[0]) - origin).cross(at(&pair[1]) - origin)).sum()
}

/// Centre of the bounding box, the origin for an empty set.
pub(crate) fn center_of(vertices: &[DVec3]) -> DVec3 {
    Aabb::from_points(vertices.iter().copied()).map_or(DVec3::ZERO, |bounds| bounds.center())
}
