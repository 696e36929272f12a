//! A face of one box laid over the face of another: the corners of what a rectangle and a parallelogram
//! share.
//!
//! Seen along the reference face's normal n, its rectangle is |x| ≤ a, |y| ≤ b, and the plane of the incident
//! face, with normal m through p, has the heights h = p_n − (m_x (x − p_x) + m_y (y − p_y))/m_n. The
//! parallelogram is cut by the four sides one after the other (Sutherland and Hodgman 1974). Corners are
//! named as in `overlap`.

use glam::{DVec2, DVec3};

use super::facet::{edge_code, face_code, vertex_code};
use super::polytope::{BOX_FACE_EDGES, BOX_FACES, Polytope, box_edge_at, box_face};
use super::reduce::Candidate;
use crate::Cuboid;
use crate::frame::Frame;

/// A parallelogram cut by four lines has at most eight corners.
const MOST: usize = 8;

/// Names of sides: of the incident face 0 to 3 as it is walked, of the rectangle 4 to 7.
const OF_REFERENCE: u8 = 4;

/// A corner on its way through the cuts.
#[derive(Clone, Copy, Default)]
struct Corner {
    point: DVec2,
    /// Name: feature of the reference box, of the incident box.
    id: [u16; 2],
    /// Side that leads to the next corner.
    side: u8,
}

/// Common part of two faces.
pub(super) struct Clip {
    /// Axis of the reference box across its face, and the two axes x and y.
    axes: [usize; 3],
    /// Whether the face normal is the negative axis.
    negative: bool,
    /// Height of the reference face.
    top: f64,
    pub(super) candidates: [Candidate; MOST],
    pub(super) count: usize,
    /// Least separation of any corner, regardless of the margin.
    pub(super) least: f64,
    /// Size of the faces.
    pub(super) extent: f64,
}

impl Clip {
    /// (reference box, its face, incident box, its frame seen from the reference box, margin) ⇒ corners
    /// nearer than the margin.
    #[inline]
    pub(super) fn new(
        reference: &Cuboid,
        face: usize,
        incident: &Cuboid,
        frame: &Frame,
        margin: f64,
    ) -> Self {
        let (k, negative) = (face / 2, face % 2 == 1);
        let axes = [k, (k + 1) % 3, (k + 2) % 3];
        let half = reference.half_extents();
        let n = if negative { -DVec3::AXES[k] } else { DVec3::AXES[k] };
        let incident_face = incident.face_at(0, -frame.vector_in_b(n));
        let window = Rectangle {
            half: DVec2::new(half[axes[1]], half[axes[2]]),
            axes,
            negative,
            face_codes: [face_code(face as u32), face_code(incident_face as u32)],
        };
        let quad = BOX_FACES[incident_face].map(|vertex| {
            let p = frame.point(incident.vertex(vertex));
            (DVec2::new(p[axes[1]], p[axes[2]]), p[k])
        });
        let m = frame.rotation.col(incident_face / 2);
        let slope = DVec2::new(m[axes[1]], m[axes[2]]) / -m[k];
        let (origin, height) = quad[0];
        let (ring, count) = window.cut(quad.map(|(point, _)| point), incident_face);
        let mut clip = Self {
            axes,
            negative,
            top: half[k],
            candidates: [Candidate::default(); MOST],
            count: 0,
            least: f64::INFINITY,
            extent: (2.0 * window.half.max_element())
                .min((quad[1].0 - origin).abs().max((quad[3].0 - origin).abs()).max_element()),
        };
        let sign = if negative { -1.0 } else { 1.0 };
        for corner in &ring[..count] {
            let separation = sign * (height + slope.dot(corner.point - origin)) - clip.top;
            clip.least = clip.least.min(separation);
            if separation <= margin {
                clip.candidates[clip.count] = Candidate { point: corner.point, separation, id: corner.id };
                clip.count += 1;
            }
        }
        clip
    }

    /// Corner ⇒ its point on the reference face and on the incident one, in the reference box's frame.
    #[inline]
    pub(super) fn points(&self, candidate: &Candidate) -> [DVec3; 2] {
        [self.top, self.top + candidate.separation].map(|height| {
            let mut p = DVec3::ZERO;
            p[self.axes[0]] = if self.negative { -height } else { height };
            p[self.axes[1]] = candidate.point.x;
            p[self.axes[2]] = candidate.point.y;
            p
        })
    }
}

/// The reference face.
struct Rectangle {
    half: DVec2,
    axes: [usize; 3],
    negative: bool,
    /// Names of the reference and the incident face.
    face_codes: [u16; 2],
}

impl Rectangle {
    /// Name of a side: 0 at x = a, 1 at x = −a, 2 at y = b, 3 at y = −b.
    fn side(&self, side: usize) -> u16 {
        let across = self.axes[1 + side / 2];
        let faces = [box_face(self.axes[0], self.negative), box_face(across, side % 2 == 1)];
        edge_code(box_edge_at(faces))
    }

    /// Name of the corner between two sides.
    fn corner(&self, one: usize, other: usize) -> u16 {
        let negative = |side: usize| ((side % 2) as u32) << self.axes[1 + side / 2];
        vertex_code(u32::from(self.negative) << self.axes[0] | negative(one) | negative(other))
    }

    /// Corners of a face ⇒ those of its part in the rectangle, and how many.
    #[inline]
    fn cut(&self, quad: [DVec2; 4], face: usize) -> ([Corner; MOST], usize) {
        let mut ring = [Corner::default(); MOST];
        let mut highest = [DVec2::NEG_INFINITY; 2];
        for (i, &point) in quad.iter().enumerate() {
            let id = [self.face_codes[0], vertex_code(BOX_FACES[face][i])];
            ring[i] = Corner { point, id, side: i as u8 };
            highest = [highest[0].max(point), highest[1].max(-point)];
        }
        let mut count = 4;
        for side in 0..4 {
            // Nothing of it beyond this side.
            if highest[side % 2][side / 2] <= self.half[side / 2] {
                continue;
            }
            (ring, count) = self.cut_side(&ring[..count], side, face);
            if count == 0 {
                break;
            }
        }
        (ring, count)
    }

    #[inline]
    fn cut_side(&self, ring: &[Corner], side: usize, face: usize) -> ([Corner; MOST], usize) {
        let (sign, limit) = ([1.0, -1.0][side % 2], self.half[side / 2]);
        let inside = |p: DVec2| limit - sign * p[side / 2];
        let mut kept = [Corner::default(); MOST];
        let mut count = 0;
        let Some(&(mut last)) = ring.last() else { return (kept, 0) };
        let mut last_height = inside(last.point);
        for &corner in ring {
            let height = inside(corner.point);
            if (last_height >= 0.0) != (height >= 0.0) && count < MOST {
                let t = last_height / (last_height - height);
                let mut point = last.point + t * (corner.point - last.point);
                point[side / 2] = sign * limit;
                let id = if last.side >= OF_REFERENCE {
                    [self.corner((last.side - OF_REFERENCE) as usize, side), self.face_codes[1]]
                } else {
                    [self.side(side), edge_code(BOX_FACE_EDGES[face][last.side as usize])]
                };
                let leads = if height >= 0.0 { last.side } else { OF_REFERENCE + side as u8 };
                kept[count] = Corner { point, id, side: leads };
                count += 1;
            }
            if height >= 0.0 && count < MOST {
                kept[count] = corner;
                count += 1;
            }
            (last, last_height) = (corner, height);
        }
        (kept, count)
    }
}
