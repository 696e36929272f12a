//! A convex polytope of triangles inside Ψ that grows one corner at a time.
//!
//! The faces whose planes a new corner w lies beyond are visible from it. They form a patch; they are cut
//! out, and the rim of the patch is joined to w. Triangles too thin to have a plane stay in the surface, so
//! that it remains closed, but are never chosen, and go with the first patch that reaches them.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::pair::Corner;
use super::simplex::across;

/// Below this sine (squared) of its corner angle a triangle has no plane.
const THIN_SQUARED: f64 = 1e-26;
const NONE: u16 = u16::MAX;

/// Most corners and faces cached between searches.
const KEPT_CORNERS: usize = 20;
const KEPT_FACES: usize = 2 * KEPT_CORNERS - 4;

/// A polytope by the numbers of its corners: the next search on the same pair begins with it. A closed
/// surface whose faces all have the origin on their inner side holds a sphere about the origin that reaches
/// to the nearest face, whether or not it has stayed convex while the shapes moved: the bound it gives is as
/// good as that of one that was grown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "PolytopeImage", into = "PolytopeImage")]
pub(super) struct PolytopeCache {
    corner_count: u8,
    face_count: u8,
    numbers: [[u16; 2]; KEPT_CORNERS],
    /// Three corners, three neighbours.
    faces: [[u8; 6]; KEPT_FACES],
}

impl Default for PolytopeCache {
    fn default() -> Self {
        Self { corner_count: 0, face_count: 0, numbers: [[0; 2]; KEPT_CORNERS], faces: [[0; 6]; KEPT_FACES] }
    }
}

/// Serialised form of the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PolytopeImage {
    numbers: Vec<[u16; 2]>,
    faces: Vec<[u8; 6]>,
}

impl PolytopeImage {
    /// Whether it is a closed surface: over each side lies a face with the same side, run through the other
    /// way.
    fn is_closed(&self) -> bool {
        let (corners, faces) = (self.numbers.len(), self.faces.len());
        let sides = |face: usize| {
            let kept = &self.faces[face];
            (0..3).map(|i| (kept[i], kept[(i + 1) % 3], usize::from(kept[3 + i])))
        };
        corners <= KEPT_CORNERS
            && faces <= KEPT_FACES
            && (0..faces).all(|face| {
                sides(face).all(|(from, to, over)| {
                    usize::from(from) < corners
                        && from != to
                        && over < faces
                        && sides(over).any(|(a, b, back)| (a, b, back) == (to, from, face))
                })
            })
    }
}

impl From<PolytopeCache> for PolytopeImage {
    fn from(kept: PolytopeCache) -> Self {
        let faces = if kept.is_empty() { 0 } else { kept.face_count as usize };
        Self {
            numbers: kept.numbers[..kept.corner_count as usize].to_vec(),
            faces: kept.faces[..faces].to_vec(),
        }
    }
}

impl From<PolytopeImage> for PolytopeCache {
    /// An image that is no closed surface yields an empty cache.
    fn from(image: PolytopeImage) -> Self {
        let mut kept = Self::default();
        if image.is_closed() {
            (kept.corner_count, kept.face_count) = (image.numbers.len() as u8, image.faces.len() as u8);
            kept.numbers[..image.numbers.len()].copy_from_slice(&image.numbers);
            kept.faces[..image.faces.len()].copy_from_slice(&image.faces);
        }
        kept
    }
}

impl PolytopeCache {
    pub(super) fn forget(&mut self) {
        self.corner_count = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.corner_count == 0
    }

    /// Keeps a polytope if it is small.
    pub(super) fn keep<const C: usize, const F: usize>(&mut self, polytope: &Polytope<C, F>) {
        self.forget();
        let small = |number: u32| number <= u16::MAX.into();
        let corners = &polytope.corners[..polytope.corner_count];
        if corners.len() > KEPT_CORNERS
            || polytope.face_count > KEPT_FACES
            || !corners.iter().all(|corner| corner.numbers.into_iter().all(small))
            || !polytope.faces[..polytope.face_count].iter().all(|face| face.alive)
        {
            return;
        }
        for (numbers, corner) in self.numbers.iter_mut().zip(corners) {
            *numbers = corner.numbers.map(|number| number as u16);
        }
        for (kept, face) in self.faces.iter_mut().zip(&polytope.faces[..polytope.face_count]) {
            let ([a, b, c], [x, y, z]) = (face.corners, face.neighbors);
            *kept = [a, b, c, x, y, z].map(|place| place as u8);
        }
        self.face_count = polytope.face_count as u8;
        self.corner_count = corners.len() as u8;
    }
}

/// A triangle of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Outward; zero if too thin.
    pub(super) normal: DVec3,
    /// Of its plane from the origin; infinite if too thin.
    pub(super) distance: f64,
    /// Counter-clockwise seen from outside.
    pub(super) corners: [u16; 3],
    /// Entry i lies across the side from corner i to corner i + 1.
    neighbors: [u16; 3],
    alive: bool,
}

const NO_FACE: Face =
    Face { normal: DVec3::ZERO, distance: 0.0, corners: [0; 3], neighbors: [0; 3], alive: false };

/// A side of the rim: the face outside it that stays, and which of its sides it is.
#[derive(Clone, Copy)]
struct RimSide {
    outside: u16,
    side: u16,
}

/// Room to work in while corners are added.
pub(super) struct Scratch<const C: usize, const F: usize> {
    seen: [bool; F],
    patch: [u16; F],
    rim: [RimSide; F],
    ordered: [RimSide; F],
    /// For each corner the side of the rim that starts there.
    start_at: [u16; C],
}

impl<const C: usize, const F: usize> Scratch<C, F> {
    pub(super) fn new() -> Self {
        let none = RimSide { outside: 0, side: 0 };
        Self { seen: [false; F], patch: [0; F], rim: [none; F], ordered: [none; F], start_at: [NONE; C] }
    }
}

/// Corners and triangles, in place. A closed surface with C corners has F = 2C − 4 triangles.
pub(super) struct Polytope<const C: usize, const F: usize> {
    pub(super) corners: [Corner; C],
    pub(super) corner_count: usize,
    faces: [Face; F],
    /// Distance of each face, infinite if it was removed: contiguous, as all are scanned for every corner.
    distances: [f64; F],
    face_count: usize,
    /// Planes nearer than this are not beyond each other.
    tolerance: f64,
    /// Its corners have moved since it was grown: it may have dents.
    pub(super) dented: bool,
}

/// The larger of two numbers, neither of them NaN.
#[inline(always)]
fn max(x: f64, y: f64) -> f64 {
    if x > y { x } else { y }
}

impl<const C: usize, const F: usize> Polytope<C, F> {
    /// Four corners that span a volume ⇒ their tetrahedron.
    pub(super) fn tetrahedron(mut corners: [Corner; 4], size: f64) -> Self {
        let [a, b, c, d] = corners.map(|corner| corner.w);
        if (b - a).cross(c - a).dot(d - a) < 0.0 {
            corners.swap(1, 2);
        }
        let mut polytope = Self {
            corners: [Corner::default(); C],
            corner_count: 4,
            faces: [NO_FACE; F],
            distances: [f64::INFINITY; F],
            face_count: 4,
            tolerance: 4.0 * f64::EPSILON * size,
            dented: false,
        };
        polytope.corners[..4].copy_from_slice(&corners);
        let sides: [([u16; 3], [u16; 3]); 4] =
            [([0, 2, 1], [3, 2, 1]), ([0, 1, 3], [0, 2, 3]), ([1, 2, 3], [0, 3, 1]), ([2, 0, 3], [0, 1, 2])];
        for (face, (corners, neighbors)) in sides.into_iter().enumerate() {
            polytope.put(face, corners, neighbors);
        }
        polytope
    }

    /// Polytope from the cache, with its corners at the new pose; None unless it still holds the origin
    /// inside, at least `depth` from every face.
    pub(super) fn restored(
        kept: &PolytopeCache,
        corner: impl Fn([u32; 2]) -> Option<Corner>,
        depth: f64,
    ) -> Option<Self> {
        let (corner_count, face_count) = (kept.corner_count as usize, kept.face_count as usize);
        if corner_count < 4 || corner_count > C || face_count > F {
            return None;
        }
        let mut polytope = Self {
            corners: [Corner::ZERO; C],
            corner_count,
            faces: [NO_FACE; F],
            distances: [f64::INFINITY; F],
            face_count,
            tolerance: 0.0,
            dented: true,
        };
        let mut size = 0.0_f64;
        for (place, numbers) in polytope.corners.iter_mut().zip(&kept.numbers[..corner_count]) {
            *place = corner(numbers.map(u32::from))?;
            size = size.max(place.size());
        }
        polytope.tolerance = 4.0 * f64::EPSILON * size;
        for (i, [a, b, c, x, y, z]) in kept.faces[..face_count].iter().enumerate() {
            polytope.put(i, [a, b, c].map(|&k| k.into()), [x, y, z].map(|&k| k.into()));
            if !(polytope.distances[i] > depth * size) {
                return None;
            }
        }
        Some(polytope)
    }

    /// Size of the coordinates, for the tolerance.
    pub(super) fn size(&self) -> f64 {
        self.tolerance / (4.0 * f64::EPSILON)
    }

    /// The same with more room.
    pub(super) fn enlarged<const D: usize, const G: usize>(&self) -> Polytope<D, G> {
        let mut larger = Polytope {
            corners: [Corner::ZERO; D],
            corner_count: self.corner_count.min(D),
            faces: [NO_FACE; G],
            distances: [f64::INFINITY; G],
            face_count: self.face_count.min(G),
            tolerance: self.tolerance,
            dented: self.dented,
        };
        larger.corners[..larger.corner_count].copy_from_slice(&self.corners[..larger.corner_count]);
        larger.faces[..larger.face_count].copy_from_slice(&self.faces[..larger.face_count]);
        larger.distances[..larger.face_count].copy_from_slice(&self.distances[..larger.face_count]);
        larger
    }

    /// Makes the face at a place.
    #[inline]
    fn put(&mut self, place: usize, corners: [u16; 3], neighbors: [u16; 3]) {
        self.faces[place] = self.face(corners, neighbors);
        self.distances[place] = self.faces[place].distance;
    }

    #[inline]
    fn face(&self, corners: [u16; 3], neighbors: [u16; 3]) -> Face {
        let [a, b, c] = corners.map(|i| self.corners[i as usize].w);
        let (ab, bc, ca) = (b - a, c - b, a - c);
        let (ab2, bc2, ca2) = (ab.length_squared(), bc.length_squared(), ca.length_squared());
        let longest = max(max(ab2, bc2), ca2);
        let n = across(ab, bc, ca).0;
        let n2 = n.length_squared();
        let (normal, distance) = if n2 > THIN_SQUARED * longest * longest {
            let normal = n * (1.0 / n2.sqrt());
            // The corner nearest to the origin has the smallest rounding error.
            let [(a2, to_a), (b2, to_b), (c2, to_c)] = [a, b, c].map(|p| (p.length_squared(), normal.dot(p)));
            let (p2, to_p) = if b2 < a2 { (b2, to_b) } else { (a2, to_a) };
            (normal, if c2 < p2 { to_c } else { to_p })
        } else {
            (DVec3::ZERO, f64::INFINITY)
        };
        Face { normal, distance, corners, neighbors, alive: true }
    }

    /// The face whose plane is nearest to the origin, and its place; None if all are too thin.
    pub(super) fn nearest_face(&self) -> Option<(usize, Face)> {
        let (mut least, mut place) = (f64::INFINITY, None);
        for (i, &distance) in self.distances[..self.face_count].iter().enumerate() {
            if distance < least {
                (least, place) = (distance, Some(i));
            }
        }
        place.map(|i| (i, self.faces[i]))
    }

    /// The same among faces whose normals are near `n`, or the one with the nearest normal if none is.
    pub(super) fn nearest_face_along(&self, n: DVec3, cosine: f64) -> Option<(usize, Face)> {
        let (mut least, mut nearest, mut most, mut place) = (f64::INFINITY, None, -1.0, None);
        for (i, face) in self.faces[..self.face_count].iter().enumerate() {
            let along = face.normal.dot(n);
            if !face.alive || face.distance == f64::INFINITY {
                continue;
            }
            if along > cosine && face.distance < least {
                (least, nearest) = (face.distance, Some(i));
            }
            if along > most {
                (most, place) = (along, Some(i));
            }
        }
        nearest.or(place).map(|i| (i, self.faces[i]))
    }

    /// Whether there is room for one more corner.
    pub(super) fn has_room(&self) -> bool {
        self.corner_count < C
    }

    /// All faces of the surface.
    pub(super) fn alive(&self) -> impl Iterator<Item = &Face> {
        self.faces[..self.face_count].iter().filter(|face| face.alive)
    }

    /// Places of a face's corners in Ψ.
    pub(super) fn triangle(&self, face: &Face) -> [Corner; 3] {
        face.corners.map(|i| self.corners[i as usize])
    }

    fn is_visible(&self, w: DVec3, face: &Face) -> bool {
        face.normal.dot(w - self.corners[face.corners[0] as usize].w) > self.tolerance
            || face.distance == f64::INFINITY
    }

    /// Adds a corner beyond the plane of the face at `first`. False if there is no room, or rounding has torn
    /// the rim; the polytope is as before then.
    pub(super) fn add(&mut self, corner: Corner, first: usize, scratch: &mut Scratch<C, F>) -> bool {
        if !self.has_room() {
            return false;
        }
        let (patch_count, rim_count) = self.patch(corner.w, first, scratch);
        if !self.ordered(rim_count, scratch) {
            return false;
        }
        let (patch, rim) = (&scratch.patch[..patch_count], &scratch.ordered[..rim_count]);
        let w = self.corner_count as u16;
        self.corners[self.corner_count] = corner;
        self.corner_count += 1;
        for &old in patch {
            self.faces[old as usize].alive = false;
            self.distances[old as usize] = f64::INFINITY;
        }
        // The new faces take the places of the old, then new ones. A patch that is one piece without holes
        // has at most two faces less than its rim has sides, so there is room.
        let end = self.face_count;
        let place = |i: usize| patch.get(i).copied().unwrap_or((end + i.saturating_sub(patch_count)) as u16);
        for (i, side) in rim.iter().enumerate() {
            let [from, to] = self.rim_ends(*side);
            let next = place(if i + 1 == rim_count { 0 } else { i + 1 });
            let last = place(if i == 0 { rim_count - 1 } else { i - 1 });
            self.put(place(i) as usize, [from, to, w], [side.outside, next, last]);
            self.faces[side.outside as usize].neighbors[side.side as usize] = place(i);
        }
        self.face_count += rim_count.saturating_sub(patch_count);
        true
    }

    /// Faces visible from w, connected with `first`, and the horizon around them.
    fn patch(&self, w: DVec3, first: usize, scratch: &mut Scratch<C, F>) -> (usize, usize) {
        let Scratch { seen, patch, rim, .. } = scratch;
        let (mut patch_count, mut rim_count, mut done) = (1, 0, 0);
        patch[0] = first as u16;
        seen[first] = true;
        while done < patch_count {
            let place = patch[done];
            done += 1;
            for neighbor in self.faces[place as usize].neighbors {
                if seen[neighbor as usize] {
                    continue;
                }
                let face = &self.faces[neighbor as usize];
                if self.is_visible(w, face) {
                    seen[neighbor as usize] = true;
                    patch[patch_count] = neighbor;
                    patch_count += 1;
                } else if rim_count < F
                    // Two faces share two sides only in a broken surface, which `ordered` refuses.
                    && let Some(side) = face.neighbors.iter().position(|&across| across == place)
                {
                    rim[rim_count] = RimSide { outside: neighbor, side: side as u16 };
                    rim_count += 1;
                }
            }
        }
        patch[..patch_count].iter().for_each(|&place| seen[place as usize] = false);
        (patch_count, rim_count)
    }

    /// Ends of a side of the rim, in the direction of the face that will replace the patch there.
    fn rim_ends(&self, side: RimSide) -> [u16; 2] {
        let corners = self.faces[side.outside as usize].corners;
        let i = side.side as usize;
        [corners[if i == 2 { 0 } else { i + 1 }], corners[i]]
    }

    /// Puts the sides of the rim in a row; false unless they are one loop without crossing.
    fn ordered(&self, rim_count: usize, scratch: &mut Scratch<C, F>) -> bool {
        let Scratch { rim, ordered, start_at, .. } = scratch;
        let rim = &rim[..rim_count];
        let mut sound = rim_count >= 3;
        for (i, side) in rim.iter().enumerate() {
            let start = &mut start_at[self.rim_ends(*side)[0] as usize];
            sound &= *start == NONE;
            *start = i as u16;
        }
        let mut at = 0;
        for (walked, place) in ordered[..rim_count].iter_mut().enumerate() {
            // Back at the beginning too early means a second loop.
            if !sound || at == NONE || (at == 0 && walked > 0) {
                sound = false;
                break;
            }
            *place = rim[at as usize];
            at = start_at[self.rim_ends(*place)[1] as usize];
        }
        for side in rim {
            start_at[self.rim_ends(*side)[0] as usize] = NONE;
        }
        sound && at == 0
    }
}
