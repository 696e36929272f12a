//! Facet of a piece: the part of its surface that faces the other piece along the contact normal.
//!
//! In a window across the normal n with axes u, v and origin o a point is (x, y, h) = ((p − o)·u, (p − o)·v,
//! (p − o)·n). A facet is a convex polygon, a segment or a point in (x, y) and a plane of heights above it,
//! h = h₀ + g_x x + g_y y. A plane m·(p − o) = c gives h = (c − (m·u) x − (m·v) y)/(m·n); the heights along a
//! segment rise in its direction only.

use glam::{DVec2, DVec3};

use super::polytope::Polytope;

/// Most corners of a facet. A face with more gives every k-th.
pub(super) const MAX_SIDES: usize = 16;
/// Faces steeper than this against the window (m·n) are too steep to be a facet.
const STEEP: f64 = 0.05;

/// Name of a feature: two bits of kind, fourteen of number.
pub(super) fn vertex_code(number: u32) -> u16 {
    (number & 0x3fff) as u16
}
pub(super) fn edge_code(number: u32) -> u16 {
    0x4000 | (number & 0x3fff) as u16
}
pub(super) fn face_code(number: u32) -> u16 {
    0x8000 | (number & 0x3fff) as u16
}
/// Name of wherever a curved surface is nearest.
pub(super) const SURFACE: u16 = 0xc000;

/// The plane across the normal on which facets are laid over each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) origin: DVec3,
    pub(super) u: DVec3,
    pub(super) v: DVec3,
    pub(super) n: DVec3,
}

impl Window {
    /// Unit normal and a point near the contact ⇒ window.
    #[inline]
    pub(super) fn new(n: DVec3, origin: DVec3) -> Self {
        let (u, v) = n.any_orthonormal_pair();
        // u × v = n.
        Self { origin, u, v, n }
    }

    #[inline]
    pub(super) fn flat(&self, p: DVec3) -> DVec2 {
        let p = p - self.origin;
        DVec2::new(p.dot(self.u), p.dot(self.v))
    }

    #[inline]
    pub(super) fn height(&self, p: DVec3) -> f64 {
        (p - self.origin).dot(self.n)
    }

    #[inline]
    pub(super) fn point(&self, flat: DVec2, height: f64) -> DVec3 {
        self.origin + flat.x * self.u + flat.y * self.v + height * self.n
    }
}

/// A convex piece of surface over a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facet {
    pub(super) points: [DVec2; MAX_SIDES],
    /// Names of the corners.
    pub(super) vertices: [u16; MAX_SIDES],
    /// Names of the sides, each from its corner to the next.
    pub(super) sides: [u16; MAX_SIDES],
    pub(super) count: usize,
    /// Name of the whole.
    pub(super) face: u16,
    pub(super) base: f64,
    pub(super) slope: DVec2,
}

impl Facet {
    #[inline]
    pub(super) fn empty(face: u16) -> Self {
        Self {
            points: [DVec2::ZERO; MAX_SIDES],
            vertices: [0; MAX_SIDES],
            sides: [0; MAX_SIDES],
            count: 0,
            face,
            base: 0.0,
            slope: DVec2::ZERO,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, point: DVec2, vertex: u16, side: u16) {
        if self.count < MAX_SIDES {
            self.points[self.count] = point;
            self.vertices[self.count] = vertex;
            self.sides[self.count] = side;
            self.count += 1;
        }
    }

    /// A segment and its name; a point if it has no length in the window.
    pub(super) fn segment(window: &Window, ends: [DVec3; 2], vertices: [u16; 2], side: u16) -> Self {
        let mut facet = Self::empty(side);
        let [p, q] = ends.map(|end| window.flat(end));
        let [from, to] = ends.map(|end| window.height(end));
        let along = q - p;
        facet.push(p, vertices[0], side);
        facet.push(q, vertices[1], side);
        facet.slope = (to - from) / along.length_squared() * along;
        if !facet.slope.is_finite() {
            facet.slope = DVec2::ZERO;
            facet.count = 1;
        }
        facet.base = from - facet.slope.dot(p);
        facet
    }

    /// A point and its name.
    pub(super) fn point(window: &Window, p: DVec3, vertex: u16) -> Self {
        let mut facet = Self::empty(vertex);
        facet.push(window.flat(p), vertex, vertex);
        facet.base = window.height(p);
        facet
    }

    /// Heights of the plane with normal m through a point; false if it is too steep.
    #[inline]
    pub(super) fn set_plane(&mut self, window: &Window, m: DVec3, through: DVec3) -> bool {
        let along = m.dot(window.n);
        self.slope = DVec2::new(m.dot(window.u), m.dot(window.v)) / -along;
        self.base = m.dot(through - window.origin) / along;
        along.abs() > STEEP
    }

    /// Face of a polytope; `place` takes its points to A's frame, and `m` is its normal there.
    #[inline]
    pub(super) fn of_face<P: Polytope>(
        solid: &P,
        face: usize,
        window: &Window,
        m: DVec3,
        place: impl Fn(DVec3) -> DVec3,
    ) -> Option<Self> {
        let mut facet = Self::empty(face_code(face as u32));
        let every = solid.side_count(face).div_ceil(MAX_SIDES) as u32;
        let (mut turn, mut first) = (0, DVec3::ZERO);
        solid.walk_face(face, |vertex, edge| {
            if turn % every == 0 {
                let p = place(solid.vertex(vertex));
                if turn == 0 {
                    first = p;
                }
                facet.push(window.flat(p), vertex_code(vertex), edge_code(edge));
            }
            turn += 1;
        });
        facet.set_plane(window, m, first).then_some(facet)
    }

    /// Largest distance of a corner from the first, along either axis.
    #[inline]
    pub(super) fn extent(&self) -> f64 {
        let points = &self.points[..self.count];
        points.iter().map(|p| (*p - self.points[0]).abs().max_element()).fold(0.0, f64::max)
    }

    /// The point of a segment nearest to a point of the window.
    pub(super) fn nearest_on_line(&self, p: DVec2) -> DVec2 {
        let (from, along) = (self.points[0], self.points[1] - self.points[0]);
        from + ((p - from).dot(along) / along.length_squared()).clamp(0.0, 1.0) * along
    }

    /// Height above the window.
    #[inline]
    pub(super) fn height(&self, p: DVec2) -> f64 {
        self.base + self.slope.dot(p)
    }
}
