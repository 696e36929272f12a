//! How far apart two shapes are, and whether they overlap.
//!
//! Solids that overlap have a negative distance: the deepest of their contacts. Everything else is a search
//! for the nearest pair of pieces. A piece within r of a point p, and nearer than d to something, finds it
//! within d + r of p: triangles are visited from near to far around p while that holds for the best d so far.

use glam::DVec3;

use super::leaf::{Leaf, box_of, parts_within, plane_of};
use super::surface::{Surface, extent};
use super::{ContactCache, ContactError, Contacts, check, collide};
use crate::closest::{ClosestError, Separation};
use crate::contact::{Piece, PieceCache, distance_pieces, pieces_intersect};
use crate::hierarchy::Scratch;
use crate::{Aabb, Pose, Shape};

/// (A, B, B in A's frame) ⇒ nearest points.
///
/// Negative where both have an inside and overlap: how deep. A sheet (an open mesh) has none: the distance of
/// something that crosses it is minus the depth of the deepest crossing, and behind it distances are positive
/// again.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::contact::distance;
/// use rattleback_geometry::{Pose, Shape, generate};
/// use std::sync::Arc;
/// let ring = Shape::Mesh(Arc::new(generate::torus(2.0, 0.5, 64, 32)?));
/// let sphere = Shape::sphere(0.5)?;
/// // In the middle of the ring: the tube is 2 − 0.5 away from the axis.
/// let answer = distance(&ring, &sphere, &Pose::IDENTITY)?;
/// assert!((answer.distance - 1.0).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn distance(a: &Shape, b: &Shape, b_in_a: &Pose) -> Result<Separation, ContactError> {
    check(a, b, b_in_a)?;
    let (mut cache, mut contacts) = (ContactCache::default(), Contacts::default());
    collide(a, b, b_in_a, 0.0, &mut cache, &mut contacts)?;
    if let Some((manifold, point)) = contacts.deepest()
        && point.separation < 0.0
    {
        return Ok(Separation {
            distance: point.separation,
            normal: manifold.normal,
            point_a: point.point_a,
            point_b: point.point_b,
        });
    }
    let mut search = Search { best: None, limit: f64::INFINITY, scratch: Scratch::default() };
    for i in 0..part_count(a) {
        for j in 0..part_count(b) {
            let (Some(leaf_a), Some(leaf_b)) = (Leaf::of(a, i), Leaf::of(b, j)) else { continue };
            search.leaves(&leaf_a, &leaf_b, b_in_a)?;
        }
    }
    search.best.ok_or(ContactError::Closest(ClosestError::InvalidPoint))
}

fn part_count(shape: &Shape) -> u32 {
    if let Shape::Compound(compound) = shape { compound.parts().len() as u32 } else { 1 }
}

/// (A, B, B in A's frame) ⇒ whether they share a point. Solids count with their inside, sheets as what they
/// are.
pub fn intersects(a: &Shape, b: &Shape, b_in_a: &Pose) -> Result<bool, ContactError> {
    check(a, b, b_in_a)?;
    let mut work = super::cache::Workspace::default();
    parts_within(a, b, b_in_a, 0.0, &mut work)?;
    let mut scratch = Scratch::default();
    for &[i, j] in &work.found_pairs {
        let (Some(leaf_a), Some(leaf_b)) = (Leaf::of(a, i), Leaf::of(b, j)) else { continue };
        let relative = leaf_a.place.relative(&(*b_in_a * leaf_b.place));
        if leaves_intersect(leaf_a.shape, leaf_b.shape, &relative, &mut scratch)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn leaves_intersect(a: &Shape, b: &Shape, pose: &Pose, scratch: &mut Scratch) -> Result<bool, ContactError> {
    match (Surface::of(a), Surface::of(b)) {
        (None, None) => {
            let (a, b) = (Piece::try_from(a)?, Piece::try_from(b)?);
            Ok(pieces_intersect(&a, &b, pose, &mut PieceCache::default())?)
        }
        (Some(surface), None) => body_intersects_surface(b, &surface, pose, scratch),
        (None, Some(surface)) => body_intersects_surface(a, &surface, &pose.inverse(), scratch),
        (Some(a), Some(b)) => surfaces_intersect(&a, &b, pose, scratch),
    }
}

/// `pose` places the body in the surface's frame.
fn body_intersects_surface(
    body: &Shape,
    surface: &Surface<'_>,
    pose: &Pose,
    scratch: &mut Scratch,
) -> Result<bool, ContactError> {
    if let Shape::HalfSpace(plane) = body {
        let (normal, offset) = plane_of(plane, pose);
        let below = |p: &DVec3| normal.dot(*p) <= offset;
        return Ok(match surface {
            Surface::Mesh(mesh) => {
                mesh.triangles().iter().flatten().any(|&v| below(&mesh.vertices()[v as usize]))
            }
            Surface::Terrain(field) => field.points().iter().any(below),
        });
    }
    let query = box_of(body, pose, 0.0)?;
    let piece = Piece::try_from(body)?;
    let mut near = Vec::new();
    surface.near(&query, scratch, &mut near)?;
    let mut cache = PieceCache::default();
    for i in near {
        let triangle = surface.triangle(i);
        let (low, high) = extent(&triangle);
        if low.cmple(query.max()).all()
            && high.cmpge(query.min()).all()
            && pieces_intersect(&Piece::Triangle(triangle), &piece, pose, &mut cache)?
        {
            return Ok(true);
        }
    }
    surface.contains(query.center(), scratch)
}

fn surfaces_intersect(
    a: &Surface<'_>,
    b: &Surface<'_>,
    pose: &Pose,
    scratch: &mut Scratch,
) -> Result<bool, ContactError> {
    if let (Surface::Mesh(a), Surface::Mesh(b)) = (a, b) {
        if a.tree()?.first_crossing(b.tree()?, pose, scratch).is_some() {
            return Ok(true);
        }
    } else {
        let mut search = Search { best: None, limit: 0.0, scratch: std::mem::take(scratch) };
        search.surfaces(a, b, pose, &Pose::IDENTITY)?;
        *scratch = std::mem::take(&mut search.scratch);
        if search.best.is_some() {
            return Ok(true);
        }
    }
    Ok(a.contains(pose.point(b.triangle(0)[0]), scratch)?
        || b.contains(pose.inverse_point(a.triangle(0)[0]), scratch)?)
}

/// The nearest pieces so far.
struct Search {
    best: Option<Separation>,
    /// Nothing farther is of interest.
    limit: f64,
    scratch: Scratch,
}

impl Search {
    /// Measures two pieces, A in a frame of its own placed by `frame`.
    fn measure(
        &mut self,
        a: &Piece<'_>,
        b: &Piece<'_>,
        pose: &Pose,
        frame: &Pose,
    ) -> Result<(), ContactError> {
        let found = distance_pieces(a, b, pose, &mut PieceCache::default())?;
        if found.distance <= self.limit && self.best.is_none_or(|best| found.distance < best.distance) {
            self.limit = self.limit.min(found.distance.max(0.0));
            self.best = Some(Separation {
                distance: found.distance,
                normal: frame.vector(found.normal),
                point_a: frame.point(found.point_a),
                point_b: frame.point(found.point_b),
            });
        }
        Ok(())
    }

    fn leaves(&mut self, a: &Leaf<'_>, b: &Leaf<'_>, b_in_a: &Pose) -> Result<(), ContactError> {
        let place_b = *b_in_a * b.place;
        let pose = a.place.relative(&place_b);
        match (Surface::of(a.shape), Surface::of(b.shape)) {
            (None, None) => {
                self.measure(&Piece::try_from(a.shape)?, &Piece::try_from(b.shape)?, &pose, &a.place)
            }
            (Some(surface), None) => self.body(&surface, b.shape, &pose, &a.place),
            (None, Some(surface)) => {
                // Found with the surface first, then turned round.
                let known = self.best.take();
                self.body(&surface, a.shape, &pose.inverse(), &place_b)?;
                let turned = self.best.take().map(|found| Separation {
                    normal: -found.normal,
                    point_a: found.point_b,
                    point_b: found.point_a,
                    ..found
                });
                self.best = match (known, turned) {
                    (Some(known), Some(turned)) if known.distance <= turned.distance => Some(known),
                    (known, turned) => turned.or(known),
                };
                Ok(())
            }
            (Some(first), Some(second)) => self.surfaces(&first, &second, &pose, &a.place),
        }
    }

    /// A body, `pose` placing it in the surface's frame, against all triangles that may be nearer than the
    /// limit.
    fn body(
        &mut self,
        surface: &Surface<'_>,
        body: &Shape,
        pose: &Pose,
        frame: &Pose,
    ) -> Result<(), ContactError> {
        let piece = Piece::try_from(body)?;
        if let Shape::HalfSpace(plane) = body {
            let (normal, offset) = plane_of(plane, pose);
            self.over_plane(surface, normal, offset, frame);
            return Ok(());
        }
        let bounds = box_of(body, pose, 0.0)?;
        self.around(surface, &bounds, frame, &piece, pose)
    }

    /// The lowest vertex over a plane.
    fn over_plane(&mut self, surface: &Surface<'_>, normal: DVec3, offset: f64, frame: &Pose) {
        let lowest = match surface {
            Surface::Mesh(mesh) => {
                let used = mesh.triangles().iter().flatten().map(|&v| mesh.vertices()[v as usize]);
                used.min_by(|p, q| p.dot(normal).total_cmp(&q.dot(normal)))
            }
            Surface::Terrain(field) => {
                field.points().into_iter().min_by(|p, q| p.dot(normal).total_cmp(&q.dot(normal)))
            }
        };
        let Some(p) = lowest else { return };
        let height = p.dot(normal) - offset;
        if height <= self.limit && self.best.is_none_or(|best| height < best.distance) {
            self.limit = self.limit.min(height.max(0.0));
            self.best = Some(Separation {
                distance: height,
                normal: frame.vector(-normal),
                point_a: frame.point(p),
                point_b: frame.point(p - height * normal),
            });
        }
    }

    /// Triangles around a piece that lies in a box.
    fn around(
        &mut self,
        surface: &Surface<'_>,
        bounds: &Aabb,
        frame: &Pose,
        piece: &Piece<'_>,
        pose: &Pose,
    ) -> Result<(), ContactError> {
        let (center, half) = (bounds.center(), bounds.half_extents());
        let radius = half.length();
        let mut failure = None;
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut look = |search: &mut Self, i: u32| {
            let triangle = surface.triangle(i);
            let (low, high) = extent(&triangle);
            let gap = (low - bounds.max()).max(bounds.min() - high).max(DVec3::ZERO).length();
            if gap <= search.limit
                && let Err(error) = search.measure(&Piece::Triangle(triangle), piece, pose, frame)
            {
                failure.get_or_insert(error);
            }
        };
        match surface {
            Surface::Mesh(mesh) => {
                let limit = self.limit + radius;
                mesh.tree()?.tree().nearest(center, limit, &mut scratch, |i, _| {
                    look(self, i);
                    Some(self.limit + radius)
                });
            }
            Surface::Terrain(field) => {
                // Rings of growing size; what lies beyond the last one is farther than the best.
                let mut reach = 0.5 * field.spacing().max_element();
                let whole = surface.bounds().map_or(0.0, |all| all.union(bounds).diagonal());
                loop {
                    let reach_now = reach.min(self.limit).min(whole);
                    if let Ok(query) = bounds.enlarged(reach_now) {
                        field.triangles_in_box(&query, |i| look(self, i));
                    }
                    if self.limit <= reach_now || reach_now >= whole || self.limit <= reach {
                        break;
                    }
                    reach *= 2.0;
                }
            }
        }
        self.scratch = scratch;
        failure.map_or(Ok(()), Err)
    }

    /// Each triangle of one surface, the nearest to the other's box first, against the other.
    fn surfaces(
        &mut self,
        a: &Surface<'_>,
        b: &Surface<'_>,
        pose: &Pose,
        frame: &Pose,
    ) -> Result<(), ContactError> {
        let Some(bounds) = a.bounds() else { return Ok(()) };
        let count = match b {
            Surface::Mesh(mesh) => mesh.triangles().len() as u32,
            Surface::Terrain(field) => field.triangle_count(),
        };
        let mut order: Vec<(f64, u32)> = (0..count)
            .map(|j| {
                let (low, high) = extent(&b.triangle(j).map(|p| pose.point(p)));
                ((low - bounds.max()).max(bounds.min() - high).max(DVec3::ZERO).length(), j)
            })
            .collect();
        order.sort_unstable_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        for (gap, j) in order {
            if gap > self.limit {
                break;
            }
            let corners = b.triangle(j).map(|p| pose.point(p));
            let Ok(around) = Aabb::from_points(corners) else { continue };
            self.around(a, &around, frame, &Piece::Triangle(corners), &Pose::IDENTITY)?;
        }
        Ok(())
    }
}
