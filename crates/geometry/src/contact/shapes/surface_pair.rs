//! Two surfaces: pairs of triangles within the margin.

use super::cache::{LeafPair, Walk, Workspace};
use super::owned::{NormalClass, classify_normal};
use super::surface::{Surface, extent, unit_normal};
use super::{ContactError, ContactSettings};
use crate::closest::ClosestError;
use crate::contact::{Manifold, Piece, collide_pieces};
use crate::{Aabb, Pose};

/// Two surfaces in the frame of the first.
pub(super) struct SurfacePair<'a> {
    pub a: Surface<'a>,
    pub b: Surface<'a>,
    pub b_in_a: Pose,
    pub margin: f64,
    pub settings: ContactSettings,
    /// Largest distance of a point of each from its origin.
    pub radii: [f64; 2],
}

impl SurfacePair<'_> {
    /// Fills `work.raw` with one manifold a pair of triangles. Those that cross are left out if `apart_only`.
    pub(super) fn collide(
        &self,
        pair: &mut LeafPair,
        work: &mut Workspace,
        apart_only: bool,
    ) -> Result<(), ContactError> {
        if !pair.walk.as_mut().is_some_and(|walk| walk.covers(&self.b_in_a, self.margin)) {
            let (walk, reach) = Walk::renewed(pair.walk, &self.b_in_a, self.margin, self.radii);
            self.gather(reach, work)?;
            pair.renew(&self.a, work.found_pairs.iter().copied());
            pair.walk = Some(walk);
        }
        for (candidate, cache) in pair.triangles.iter().zip(&mut pair.caches) {
            let [i, j] = candidate.triangles;
            let (t, local) = (candidate.corners, self.b.triangle(j));
            let u = local.map(|p| self.b_in_a.point(p));
            let ((low_t, high_t), (low_u, high_u)) = (extent(&t), extent(&u));
            if (low_t - self.margin).cmpgt(high_u).any() || (high_t + self.margin).cmplt(low_u).any() {
                continue;
            }
            if candidate.normal == glam::DVec3::ZERO || unit_normal(&u) == glam::DVec3::ZERO {
                continue;
            }
            let (t_piece, u_piece) = (Piece::Triangle(t), Piece::Triangle(u));
            let found = collide_pieces(&t_piece, &u_piece, &Pose::IDENTITY, self.margin, cache)?;
            let Some(mut manifold) = found else { continue };
            if self.accepts(&manifold, [i, j], &t, &local, apart_only) {
                manifold.parts = [i, j];
                work.raw.push(manifold);
            }
        }
        Ok(())
    }

    /// Whether the contact is the two triangles' own, on the sides that can be touched.
    fn accepts(
        &self,
        manifold: &Manifold,
        [i, j]: [u32; 2],
        t: &[glam::DVec3; 3],
        u: &[glam::DVec3; 3],
        apart_only: bool,
    ) -> bool {
        let Some(deepest) = manifold.deepest() else { return false };
        if deepest.separation <= 0.0 {
            return !apart_only;
        }
        let back = self.b_in_a.inverse_vector(-manifold.normal);
        let sides = [
            (self.a, i, t, manifold.normal, deepest.point_a),
            (self.b, j, u, back, self.b_in_a.inverse_point(deepest.point_b)),
        ];
        sides.into_iter().all(|(surface, number, triangle, normal, point)| {
            let front = unit_normal(triangle);
            let one_sided = surface.one_sided(&self.settings);
            if one_sided && normal.dot(front) <= 0.0 {
                return false;
            }
            let facing = if normal.dot(front) < 0.0 { -front } else { front };
            let verdict = classify_normal(&surface, number, triangle, facing, normal, point);
            matches!(verdict, NormalClass::OnFace | NormalClass::Owned)
        })
    }

    /// Lists in `work.found_pairs` the pairs of triangles whose boxes are nearer than `reach`.
    pub(super) fn gather(&self, reach: f64, work: &mut Workspace) -> Result<(), ContactError> {
        work.walks += 1;
        work.found_pairs.clear();
        let invalid = |_| ClosestError::InvalidPose;
        let (Some(bounds_a), Some(bounds_b)) = (self.a.bounds(), self.b.bounds()) else { return Ok(()) };
        let around_a =
            bounds_a.transformed(&self.b_in_a.inverse()).and_then(|b| b.enlarged(reach)).map_err(invalid)?;
        if !around_a.overlaps(&bounds_b) {
            return Ok(());
        }
        let mut near_b = std::mem::take(&mut work.found_b);
        self.b.near(&around_a, &mut work.scratch, &mut near_b)?;
        for &j in &near_b {
            let corners = self.b.triangle(j).map(|p| self.b_in_a.point(p));
            let query = Aabb::from_points(corners).and_then(|b| b.enlarged(reach)).map_err(invalid)?;
            if !query.overlaps(&bounds_a) {
                continue;
            }
            self.a.near(&query, &mut work.scratch, &mut work.found)?;
            work.found_pairs.extend(work.found.iter().map(|&i| [i, j]));
        }
        work.found_b = near_b;
        work.found_pairs.sort_unstable();
        Ok(())
    }
}
