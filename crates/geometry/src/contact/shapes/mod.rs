//! Contact of any two shapes.
//!
//! Shapes are decomposed: compounds into their parts, meshes and terrain into triangles. Only parts and
//! triangles whose boxes are near are processed. The result is, for each pair of parts,
//!
//! - two convex parts: their manifold;
//! - a convex part and a surface: a manifold for each triangle, with normals the triangle may have (see
//!   `owned`), then those of nearly equal normals merged into one (see `merge`);
//! - two surfaces: where both are solid, a manifold for each region in which they overlap (see `solids`);
//!   pairs of triangles within the margin, merged alike.
//!
//! Solid meshes, and terrain, are touched from outside only, and push out bodies inside. Open meshes are
//! sheets, with contact on the sides given by the settings. Triangles without area have no contact.

mod body_on_surface;
mod cache;
mod cache_state;
mod contacts;
mod distance;
mod error;
mod face;
mod leaf;

mod merge;
mod one_shot;
mod owned;
mod settings;
mod solids;
mod sphere_on_surface;
mod support_feature;
mod surface;
mod surface_on_plane;
mod surface_pair;

pub use cache::ContactCache;
pub use cache_state::CacheState;
pub use contacts::Contacts;
pub use distance::{distance, intersects};
pub use error::ContactError;
pub use one_shot::contact;
pub use settings::{ContactSettings, Sides};

use body_on_surface::BodyOnSurface;
use cache::{LeafPair, Workspace};
use leaf::{Leaf, plane_of};
use merge::merge;
use surface::Surface;
use surface_on_plane::stand_on_half_space;
use surface_pair::SurfacePair;

use super::{Manifold, Piece, collide_pieces};
use crate::closest::{ClosestError, ConvexShape};
use crate::{MAX_LENGTH, Pose, Shape};

/// (shape A, shape B, B in A's frame, margin, cache) ⇒ all contacts nearer than the margin, replacing those
/// in `contacts`.
///
/// `Manifold::parts` counts convex pieces: parts of a compound, with each triangle of a mesh as one piece.
pub fn collide(
    a: &Shape,
    b: &Shape,
    b_in_a: &Pose,
    margin: f64,
    cache: &mut ContactCache,
    contacts: &mut Contacts,
) -> Result<(), ContactError> {
    contacts.clear();
    check(a, b, b_in_a)?;
    cache.settings.check()?;
    if !(0.0..=MAX_LENGTH).contains(&margin) {
        return Err(ContactError::InvalidMargin { margin });
    }
    cache.prepare(a, b, b_in_a, margin)?;
    let (settings, work) = (cache.settings, &mut cache.work);
    for pair in &mut cache.pairs {
        let (Some(leaf_a), Some(leaf_b)) = (Leaf::of(a, pair.parts[0]), Leaf::of(b, pair.parts[1])) else {
            continue;
        };
        let query = PairQuery { a: leaf_a, b: leaf_b, b_in_a: *b_in_a, margin, settings };
        query.collide(pair, work, &mut contacts.manifolds)?;
    }
    Ok(())
}

/// Checks the pose and that at least one shape is bounded.
fn check(a: &Shape, b: &Shape, b_in_a: &Pose) -> Result<(), ContactError> {
    if !(b_in_a.is_valid() && b_in_a.translation.abs().max_element() <= MAX_LENGTH) {
        return Err(ClosestError::InvalidPose.into());
    }
    if matches!((a, b), (Shape::HalfSpace(_), Shape::HalfSpace(_))) {
        return Err(ContactError::BothUnbounded);
    }
    Ok(())
}

/// Contact of one part with another.
struct PairQuery<'a> {
    a: Leaf<'a>,
    b: Leaf<'a>,
    b_in_a: Pose,
    margin: f64,
    settings: ContactSettings,
}

impl PairQuery<'_> {
    fn collide(
        &self,
        pair: &mut LeafPair,
        work: &mut Workspace,
        manifolds: &mut Vec<Manifold>,
    ) -> Result<(), ContactError> {
        let place_b = self.b_in_a * self.b.place;
        let relative = self.a.place.relative(&place_b);
        let raw = self.settings.merge_angle == 0.0;
        let swapped = match (Surface::of(self.a.shape), Surface::of(self.b.shape)) {
            (None, None) => {
                let (a, b) = (Piece::try_from(self.a.shape)?, Piece::try_from(self.b.shape)?);
                work.raw.clear();
                work.raw.extend(collide_pieces(&a, &b, &relative, self.margin, &mut pair.piece)?);
                false
            }
            (Some(surface), None) => {
                self.on_surface(surface, self.b.shape, relative, raw, pair, work)?;
                false
            }
            (None, Some(surface)) => {
                self.on_surface(surface, self.a.shape, relative.inverse(), raw, pair, work)?;
                true
            }
            (Some(a), Some(b)) => {
                let radius = |leaf: &Leaf<'_>| leaf.shape.rotation_radius(glam::DVec3::ZERO).unwrap_or(0.0);
                let radii = *pair.radii.get_or_insert_with(|| [radius(&self.a), radius(&self.b)]);
                let (margin, settings) = (self.margin, self.settings);
                work.raw.clear();
                let surfaces = SurfacePair { a, b, b_in_a: relative, margin, settings, radii };
                let solid = a.is_solid() && b.is_solid();
                let overlapping = solid && surfaces.collide_solids(work)?;
                if !(solid && margin == 0.0) {
                    surfaces.collide(pair, work, overlapping)?;
                }
                merge(work, self.settings.merge_angle);
                false
            }
        };
        let frame = if swapped { place_b } else { self.a.place };
        manifolds.extend(work.raw.iter().map(|manifold| self.placed(manifold, &frame, swapped)));
        Ok(())
    }

    fn on_surface(
        &self,
        surface: Surface<'_>,
        other: &Shape,
        pose: Pose,
        raw: bool,
        pair: &mut LeafPair,
        work: &mut Workspace,
    ) -> Result<(), ContactError> {
        if let Shape::HalfSpace(plane) = other {
            let (normal, offset) = plane_of(plane, &pose);
            stand_on_half_space(&surface, normal, offset, self.margin, raw, work);
            return Ok(());
        }
        let (body, margin, settings) = (ConvexShape::try_from(other)?, self.margin, self.settings);
        BodyOnSurface { surface, shape: other, body, pose, margin, settings }.collide(pair, work)?;
        merge(work, self.settings.merge_angle);
        Ok(())
    }

    /// A manifold of a frame of its own in A's frame, `swapped` if its first side is B; with pieces counted
    /// from the whole.
    fn placed(&self, manifold: &Manifold, frame: &Pose, swapped: bool) -> Manifold {
        let mut placed = *manifold;
        placed.normal = frame.vector(manifold.normal);
        if swapped {
            placed.normal = -placed.normal;
            placed.parts.swap(0, 1);
        }
        for point in placed.points_mut() {
            let (first, second) = (frame.point(point.point_a), frame.point(point.point_b));
            (point.point_a, point.point_b) = if swapped { (second, first) } else { (first, second) };
        }
        placed.parts[0] += self.a.first_piece;
        placed.parts[1] += self.b.first_piece;
        placed
    }
}
