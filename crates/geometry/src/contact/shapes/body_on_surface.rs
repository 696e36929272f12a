//! A convex body against the triangles near it.

use glam::DVec3;

use super::cache::{LeafPair, TrianglePair, Workspace};
use super::face::{stand_on_face, stand_on_plane};
use super::owned::{NormalClass, classify_normal};
use super::surface::{Surface, extent, unit_normal};
use super::{ContactError, ContactSettings};
use crate::closest::{ClosestError, ConvexShape, Support};
use crate::contact::collide::collide_flat;
use crate::contact::polytope::FlatTriangle;
use crate::contact::{Manifold, PieceCache};
use crate::frame::Frame;
use crate::primitive::Triangle;
use crate::{Aabb, Pose, Shape};

/// A bounded convex body in a surface's frame.
pub(super) struct BodyOnSurface<'a> {
    pub surface: Surface<'a>,
    pub shape: &'a Shape,
    pub body: ConvexShape<'a>,
    pub pose: Pose,
    pub margin: f64,
    pub settings: ContactSettings,
}

impl BodyOnSurface<'_> {
    /// Fills `work.raw` with one manifold per triangle, A being the surface.
    pub(super) fn collide(&self, pair: &mut LeafPair, work: &mut Workspace) -> Result<(), ContactError> {
        work.raw.clear();
        let bounds = self.shape.aabb(&self.pose).ok_or(ClosestError::InvalidPoint)?;
        let tight = bounds.enlarged(self.margin).map_err(|_| ClosestError::InvalidPose)?;
        if !self.surface.bounds().is_some_and(|bounds| bounds.overlaps(&tight)) && !self.below_terrain(&tight)
        {
            return Ok(());
        }
        pair.gather(&self.surface, &tight, work)?;
        let center = bounds.center();
        if let ConvexShape::Sphere(sphere) = self.body {
            self.touch_sphere(&pair.triangles, sphere.radius(), &mut work.raw);
        } else {
            self.touch_near(pair, &tight, center, work)?;
        }
        if work.raw.is_empty()
            && self.surface.is_solid()
            && let Some(manifold) = self.buried(center, work)?
        {
            work.raw.push(manifold);
        }
        Ok(())
    }

    /// Fills `work.raw` for a body other than a sphere.
    fn touch_near(
        &self,
        pair: &mut LeafPair,
        tight: &Aabb,
        center: DVec3,
        work: &mut Workspace,
    ) -> Result<(), ContactError> {
        let own = self.shape.aabb(&Pose::IDENTITY).ok_or(ClosestError::InvalidPoint)?;
        let own = own.enlarged(self.margin).unwrap_or(own);
        let placed = Placed { own, frame: Frame::new(&self.pose)?, center };
        for (candidate, cache) in pair.triangles.iter().zip(&mut pair.caches) {
            let (low, high) = extent(&candidate.corners);
            // A triangle without area has neighbours with the same contact.
            if low.cmpgt(tight.max()).any()
                || high.cmplt(tight.min()).any()
                || candidate.normal == DVec3::ZERO
            {
                continue;
            }
            work.raw.extend(self.touch(candidate, &placed, cache)?);
        }
        Ok(())
    }

    /// Terrain is solid below its box.
    fn below_terrain(&self, tight: &Aabb) -> bool {
        match (self.surface, self.surface.bounds()) {
            (Surface::Terrain(_), Some(bounds)) => {
                tight.max().z < bounds.min().z && {
                    let (low, high) = (bounds.min().truncate(), bounds.max().truncate());
                    tight.min().truncate().cmple(high).all() && tight.max().truncate().cmpge(low).all()
                }
            }
            _ => false,
        }
    }

    /// The side of a triangle that is touched, and whether the body's middle lies ahead of it.
    pub(super) fn facing(&self, candidate: &TrianglePair, center: DVec3) -> (DVec3, bool) {
        let ahead = candidate.normal.dot(center - candidate.corners[0]) > 0.0;
        let flipped = !ahead && !self.surface.one_sided(&self.settings);
        (if flipped { -candidate.normal } else { candidate.normal }, ahead || flipped)
    }

    /// Contact of any body with one triangle, if it is the triangle's own.
    fn touch(
        &self,
        candidate: &TrianglePair,
        placed: &Placed,
        cache: &mut PieceCache,
    ) -> Result<Option<Manifold>, ContactError> {
        let (facing, ahead) = self.facing(candidate, placed.center);
        let corners = &candidate.corners;
        if placed.lowest(&self.body, facing) - facing.dot(corners[0]) > self.margin || placed.misses(corners)
        {
            return Ok(None);
        }
        // Along the way from the triangle's point nearest to the body's middle the two are parted, if they
        // are round enough.
        let boxy = matches!(self.body, ConvexShape::Cuboid(_));
        let nearest = if boxy { None } else { Some(Triangle::from(*corners).closest_point(placed.center)) };
        if let Some(up) = nearest.and_then(|nearest| (placed.center - nearest).try_normalize()) {
            let top = corners.iter().map(|p| p.dot(up)).fold(f64::NEG_INFINITY, f64::max);
            if placed.lowest(&self.body, up) - top > self.margin {
                return Ok(None);
            }
        }
        let flat = FlatTriangle::with_normal(*corners, candidate.normal);
        let found = collide_flat(&flat, &self.body, &self.pose, &placed.frame, self.margin, cache)?;
        Ok(found.and_then(|manifold| self.own(candidate, manifold, facing, ahead)))
    }

    /// The part of a contact that is the triangle's own.
    fn own(
        &self,
        candidate: &TrianglePair,
        mut manifold: Manifold,
        facing: DVec3,
        ahead: bool,
    ) -> Option<Manifold> {
        let one_sided = self.surface.one_sided(&self.settings);
        let (i, triangle) = (candidate.triangles[0], &candidate.corners);
        let p = manifold.deepest()?.point_a;
        manifold.parts = [i, 0];
        match classify_normal(&self.surface, i, triangle, facing, manifold.normal, p) {
            NormalClass::OnFace => {
                set_normal(&mut manifold, facing);
                Some(manifold)
            }
            // No contact from behind: the triangle on the other side of a sharp edge has the same contact.
            NormalClass::Owned => (!one_sided || manifold.normal.dot(facing) > 0.0).then_some(manifold),
            NormalClass::Snap if !ahead => None,
            NormalClass::Snap => {
                stand_on_face(triangle, facing, &self.body, &self.pose, self.margin).map(|mut manifold| {
                    manifold.parts = [i, 0];
                    manifold
                })
            }
            NormalClass::Foreign => None,
        }
    }

    /// A body that touches no triangle from outside may lie inside: it is pushed out through the nearest one.
    fn buried(&self, center: DVec3, work: &mut Workspace) -> Result<Option<Manifold>, ContactError> {
        if !self.surface.contains(center, &mut work.scratch)? {
            return Ok(None);
        }
        let Some(i) = self.surface.way_out(center, &mut work.scratch)? else { return Ok(None) };
        let triangle = self.surface.triangle(i);
        let normal = unit_normal(&triangle);
        if normal == DVec3::ZERO {
            return Ok(None);
        }
        let manifold = stand_on_plane(triangle[0], normal, &self.body, &self.pose, self.margin);
        Ok(manifold.map(|mut manifold| {
            manifold.parts = [i, 0];
            manifold
        }))
    }
}

/// A body at its place.
struct Placed {
    /// Its box in its own frame, which hugs it closer than one along the surface's axes.
    own: Aabb,
    frame: Frame,
    /// Middle of its box along the surface's axes.
    center: DVec3,
}

impl Placed {
    /// Whether the triangle is separated from the body's box.
    #[inline]
    fn misses(&self, triangle: &[DVec3; 3]) -> bool {
        let (low, high) = extent(&triangle.map(|p| self.frame.point_in_b(p)));
        low.cmpgt(self.own.max()).any() || high.cmplt(self.own.min()).any()
    }

    /// Height of the body's lowest point over the plane through the origin of `up`.
    #[inline]
    fn lowest(&self, body: &ConvexShape<'_>, up: DVec3) -> f64 {
        let (d, height) = (self.frame.vector_in_b(up), self.frame.translation.dot(up));
        if let ConvexShape::Cuboid(cuboid) = body {
            return height - cuboid.half_extents().dot(d.abs());
        }
        height + body.farthest(-d, 0).0.dot(d) - Support::radius(body)
    }
}

/// The same points along a normal that differs by rounding only.
fn set_normal(manifold: &mut Manifold, normal: DVec3) {
    manifold.normal = normal;
    for point in manifold.points_mut() {
        point.separation = normal.dot(point.point_b - point.point_a);
    }
}
