//! Two facets laid over each other: the corners of what they have in common.
//!
//! The common part of two convex polygons has three kinds of corners: corners of A inside B, corners of B
//! inside A, and crossings of a side of A with one of B. Each is identified by the two features that define
//! it, so that it keeps its identifier from step to step whichever of the facets is cut by the other. B's
//! polygon is cut by A's sides one after the other (Sutherland and Hodgman 1974).

use glam::DVec2;

use super::facet::{Facet, MAX_SIDES};

/// Each side of A adds at most one corner.
pub(super) const MAX_CORNERS: usize = 2 * MAX_SIDES;
/// Sine of the angle up to which two segments lie along each other.
pub(super) const ALONG: f64 = 0.02;

/// A corner of the common part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    pub(super) point: DVec2,
    /// Name: feature of A, feature of B.
    pub(super) id: [u16; 2],
    /// Side that leads from here to the next corner: of A if `of_a`.
    side: u16,
    of_a: bool,
}

/// Corners of the common part.
pub(super) struct Overlap<const N: usize> {
    rings: [[Corner; N]; 2],
    current: usize,
    count: usize,
}

impl<const N: usize> Overlap<N> {
    /// The corners in order.
    #[inline]
    pub(super) fn corners(&self) -> &[Corner] {
        &self.rings[self.current][..self.count]
    }

    #[inline]
    fn push(&mut self, point: DVec2, id: [u16; 2]) {
        self.rings[self.current][self.count] = Corner { point, id, side: 0, of_a: false };
        self.count += 1;
    }
}

/// Two facets of at most N corners together ⇒ their common part; empty if either is a point, or two segments
/// cross.
#[inline]
pub(super) fn overlap<const N: usize>(a: &Facet, b: &Facet) -> Overlap<N> {
    let mut common = Overlap { rings: [[Corner::default(); N]; 2], current: 0, count: 0 };
    match (a.count, b.count) {
        (0 | 1, _) | (_, 0 | 1) => {}
        (2, 2) => segments(a, b, &mut common),
        (2, _) => {
            // Seen along n, B's polygon runs clockwise.
            segment_in_polygon(a, b, -1.0, &mut common);
        }
        (_, 2) => {
            segment_in_polygon(b, a, 1.0, &mut common);
            for corner in &mut common.rings[common.current][..common.count] {
                corner.id.swap(0, 1);
            }
        }
        _ => polygons(a, b, &mut common),
    }
    common
}

fn polygons<const N: usize>(a: &Facet, b: &Facet, common: &mut Overlap<N>) {
    let [ring, spare] = &mut common.rings;
    let (mut ring, mut spare) = (ring, spare);
    for i in 0..b.count {
        ring[i] = Corner { point: b.points[i], id: [a.face, b.vertices[i]], side: b.sides[i], of_a: false };
    }
    common.count = b.count;
    for k in 0..a.count {
        let next = if k + 1 == a.count { 0 } else { k + 1 };
        let (from, along) = (a.points[k], a.points[next] - a.points[k]);
        let inside = |p: DVec2| along.perp_dot(p - from);
        let mut count = 0;
        let mut last = ring[common.count - 1];
        let mut last_height = inside(last.point);
        for i in 0..common.count {
            let corner = ring[i];
            let height = inside(corner.point);
            if (last_height >= 0.0) != (height >= 0.0) && count < N {
                let t = last_height / (last_height - height);
                let id = if last.of_a {
                    // Between two sides of A: the corner they share. Sides are numbered by their first
                    // corner.
                    let shared = if last.side as usize == next { next } else { k };
                    [a.vertices[shared], b.face]
                } else {
                    [a.sides[k], last.side]
                };
                let (side, of_a) = if height >= 0.0 { (last.side, last.of_a) } else { (k as u16, true) };
                spare[count] = Corner { point: last.point + t * (corner.point - last.point), id, side, of_a };
                count += 1;
            }
            if height >= 0.0 && count < N {
                spare[count] = corner;
                count += 1;
            }
            (last, last_height) = (corner, height);
        }
        (ring, spare) = (spare, ring);
        common.current = 1 - common.current;
        common.count = count;
        if count == 0 {
            return;
        }
    }
}

/// Both ends of a segment clipped by a polygon; names are (segment, polygon). `turn` is 1 if it runs
/// counter-clockwise.
fn segment_in_polygon<const N: usize>(segment: &Facet, polygon: &Facet, turn: f64, common: &mut Overlap<N>) {
    let [p, q] = [segment.points[0], segment.points[1]];
    let (mut low, mut high) = (0.0, 1.0);
    let mut ids = [[segment.vertices[0], polygon.face], [segment.vertices[1], polygon.face]];
    for k in 0..polygon.count {
        let next = if k + 1 == polygon.count { 0 } else { k + 1 };
        let (from, along) = (polygon.points[k], turn * (polygon.points[next] - polygon.points[k]));
        let (start, end) = (along.perp_dot(p - from), along.perp_dot(q - from));
        let crossing = [segment.face, polygon.sides[k]];
        if start < 0.0 && end < 0.0 {
            return;
        }
        let t = start / (start - end);
        if start < 0.0 && t > low {
            (low, ids[0]) = (t, crossing);
        } else if end < 0.0 && t < high {
            (high, ids[1]) = (t, crossing);
        }
    }
    if low > high {
        return;
    }
    for (t, id) in [low, high].into_iter().zip(ids) {
        common.push(p + t * (q - p), id);
    }
}

/// Both ends of what two segments that lie along each other have in common.
fn segments<const N: usize>(a: &Facet, b: &Facet, common: &mut Overlap<N>) {
    let [p, q, r, s] = [a.points[0], a.points[1], b.points[0], b.points[1]];
    let (along, other) = (q - p, s - r);
    if !(along.perp_dot(other).abs() <= ALONG * along.length() * other.length()) {
        return;
    }
    let length_squared = along.length_squared();
    let place = |end: DVec2| (end - p).dot(along) / length_squared;
    let (mut first, mut last) = ((place(r), b.vertices[0]), (place(s), b.vertices[1]));
    if first.0 > last.0 {
        std::mem::swap(&mut first, &mut last);
    }
    let low = if first.0 > 0.0 { (first.0, [a.face, first.1]) } else { (0.0, [a.vertices[0], b.face]) };
    let high = if last.0 < 1.0 { (last.0, [a.face, last.1]) } else { (1.0, [a.vertices[1], b.face]) };
    if !(low.0 <= high.0) {
        return;
    }
    for (t, id) in [low, high] {
        common.push(p + t * along, id);
    }
}
