//! A convex body against the triangles near it.

use glam::DVec3;

use super::cache::{LeafPair, TrianglePair, Workspace};
use super::face::{stand_on_face, stand_on_plane};
use super::foot::lowest;
use super::owned::{Verdict, judge};
use super::surface::{Surface, extent, unit_normal};
use super::{ContactError, ContactSettings};
use crate::closest::ConvexShape;
use crate::contact::{Manifold, Piece, collide_pieces};
use crate::{Aabb, Pose, Shape};

/// A bounded convex body seen from a surface's frame.
pub(super) struct BodyOnSurface<'a> {
    pub surface: Surface<'a>,
    pub shape: &'a Shape,
    pub body: ConvexShape<'a>,
    pub pose: Pose,
    pub margin: f64,
    pub settings: ContactSettings,
}

impl BodyOnSurface<'_> {
    /// Fills `work.raw` with one manifold a triangle, A being the surface.
    pub(super) fn collide(&self, pair: &mut LeafPair, work: &mut Workspace) -> Result<(), ContactError> {
        work.raw.clear();
        let bounds = self.shape.aabb(&self.pose).ok_or(crate::closest::ClosestError::InvalidPoint)?;
        let tight = bounds.enlarged(self.margin).map_err(|_| crate::closest::ClosestError::InvalidPose)?;
        if !self.surface.bounds().is_some_and(|bounds| bounds.overlaps(&tight)) && !self.below_terrain(&tight)
        {
            return Ok(());
        }
        pair.gather(&self.surface, &tight, work)?;
        let center = bounds.center();
        for candidate in &mut pair.triangles {
            let triangle = self.surface.triangle(candidate.triangles[0]);
            let (low, high) = extent(&triangle);
            if low.cmpgt(tight.max()).any() || high.cmplt(tight.min()).any() {
                continue;
            }
            if let Some(mut manifold) = self.touch(candidate, &triangle, center)? {
                manifold.parts = [candidate.triangles[0], 0];
                work.raw.push(manifold);
            }
        }
        if work.raw.is_empty()
            && self.surface.is_solid()
            && let Some(manifold) = self.buried(center, work)?
        {
            work.raw.push(manifold);
        }
        Ok(())
    }

    /// Terrain goes on downwards below its box.
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

    /// Contact with one triangle, if it is the triangle's own.
    fn touch(
        &self,
        candidate: &mut TrianglePair,
        triangle: &[DVec3; 3],
        center: DVec3,
    ) -> Result<Option<Manifold>, ContactError> {
        let normal = unit_normal(triangle);
        // Without area it has neighbours that say the same.
        if normal == DVec3::ZERO {
            return Ok(None);
        }
        let one_sided = self.surface.one_sided(&self.settings);
        let ahead = normal.dot(center - triangle[0]) > 0.0;
        let facing = if one_sided || ahead { normal } else { -normal };
        if lowest(&self.body, &self.pose, facing) - facing.dot(triangle[0]) > self.margin {
            return Ok(None);
        }
        let (flat, body) = (Piece::Triangle(*triangle), Piece::Bounded(self.body));
        let found = collide_pieces(&flat, &body, &self.pose, self.margin, &mut candidate.cache)?;
        let Some(mut manifold) = found else { return Ok(None) };
        let Some(deepest) = manifold.deepest() else { return Ok(None) };
        let verdict =
            judge(&self.surface, candidate.triangles[0], triangle, facing, manifold.normal, deepest.point_a);
        Ok(match verdict {
            Verdict::OnFace => {
                set_normal(&mut manifold, facing);
                Some(manifold)
            }
            // From behind nothing is touched: the triangle on the other side of a sharp edge has the same contact.
            Verdict::Owned => (!one_sided || manifold.normal.dot(facing) > 0.0).then_some(manifold),
            Verdict::Snap if one_sided && !ahead => None,
            Verdict::Snap => stand_on_face(triangle, facing, &self.body, &self.pose, self.margin),
            Verdict::Foreign => None,
        })
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

/// The same points along a normal that differs by rounding only.
fn set_normal(manifold: &mut Manifold, normal: DVec3) {
    manifold.normal = normal;
    for point in manifold.points_mut() {
        point.separation = normal.dot(point.point_b - point.point_a);
    }
}
