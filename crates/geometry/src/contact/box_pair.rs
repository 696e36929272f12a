//! Box against box: the best of fifteen axes, then the faces or edges that made it.
//!
//! As with other polytopes an axis between boxes that are apart counts only if points of both are that far
//! apart (see `polytope_pair`); otherwise the nearest points are searched for.

use super::axis::{Axis, Features};
use super::box_axis::best_axis;
use super::box_clip::Clip;
use super::patch::{joined, proves};
use super::polytope_pair::{along_edges, search, spread};
use super::reduce::deepest_first;
use super::{ContactPoint, Manifold, PieceCache};
use crate::closest::{ClosestError, GjkCache};
use crate::frame::Frame;
use crate::{Cuboid, Pose};

/// (A, B, B in A's frame, margin, cache) ⇒ manifold of the points nearer than the margin.
#[inline]
pub(super) fn collide(
    a: &Cuboid,
    b: &Cuboid,
    b_in_a: &Pose,
    frame: &Frame,
    margin: f64,
    cache: &mut PieceCache,
) -> Result<Option<Manifold>, ClosestError> {
    // Last time's axis may be as good as the best but not be the one that points of both are at; then once
    // more without.
    for last in [cache.features, Features::None] {
        let axis = best_axis(a, b, frame, margin, last);
        if axis.separation > margin {
            cache.features = axis.features;
            return Ok(None);
        }
        let found = match axis.features {
            Features::FaceA(face, _) => on_face_of_a(a, face as usize, b, frame, margin, &axis),
            Features::FaceB(face, _) => on_face_of_b(a, b, face as usize, frame, margin, &axis),
            Features::Edges(edge_a, edge_b) => along_edges(a, b, frame, margin, &axis, edge_a, edge_b),
            Features::None => None,
        };
        if found.is_some() {
            (cache.features, cache.inner) = (axis.features, None);
            cache.spread = spread(a, b, frame, axis.features);
            return Ok(found);
        }
        if last == Features::None {
            break;
        }
    }
    // Begun anew: this is rare, and the last search may have been long ago.
    cache.gjk = GjkCache::default();
    search(a, b, b_in_a, frame, margin, cache)
}

fn on_face_of_a(
    a: &Cuboid,
    face: usize,
    b: &Cuboid,
    frame: &Frame,
    margin: f64,
    axis: &Axis,
) -> Option<Manifold> {
    let clip = Clip::new(a, face, b, frame, margin);
    if !proves(clip.least, clip.extent, axis.separation) {
        return None;
    }
    let mut manifold = Manifold::new(axis.normal);
    let (chosen, count) = deepest_first(&clip.candidates[..clip.count]);
    for candidate in chosen[..count].iter().map(|&i| &clip.candidates[i]) {
        let [point_a, point_b] = clip.points(candidate);
        let (separation, id) = (candidate.separation, joined(candidate.id));
        manifold.push(ContactPoint { point_a, point_b, separation, id });
    }
    Some(manifold)
}

fn on_face_of_b(
    a: &Cuboid,
    b: &Cuboid,
    face: usize,
    frame: &Frame,
    margin: f64,
    axis: &Axis,
) -> Option<Manifold> {
    let clip = Clip::new(b, face, a, &frame.inverse(), margin);
    if !proves(clip.least, clip.extent, axis.separation) {
        return None;
    }
    let mut manifold = Manifold::new(axis.normal);
    let (chosen, count) = deepest_first(&clip.candidates[..clip.count]);
    for candidate in chosen[..count].iter().map(|&i| &clip.candidates[i]) {
        let [point_b, point_a] = clip.points(candidate).map(|p| frame.point(p));
        let [of_b, of_a] = candidate.id;
        let (separation, id) = (candidate.separation, joined([of_a, of_b]));
        manifold.push(ContactPoint { point_a, point_b, separation, id });
    }
    Some(manifold)
}
