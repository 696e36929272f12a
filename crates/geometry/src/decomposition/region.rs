//! A convex region of space and the surface in it.
//!
//! Regions are cut from the solid's box by planes and tile it. The hull of solid ∩ region needs only points:
//! those of the surface clipped to the region, and corners of the region that lie inside the solid. (An
//! extreme point of solid ∩ region lies on the surface or is a corner of the region; where the surface meets
//! a face or edge of the region, clipping leaves a point.) Surface that lies in a cutting plane belongs to
//! the side where the solid is. So nothing has to be closed again after a cut, and no cut can fail.

use glam::DVec3;

use super::section::CutPlane;
use super::solid_distance::SolidDistance;
use crate::{Aabb, ConvexPolyhedron, TriangleMesh, VolumeIntegrals, convex_hull_with, hull_triangles};

/// Directions of the extreme points of the approximate hull.
const DIRECTIONS: usize = 48;

#[derive(Clone)]
pub(super) struct Region {
    planes: Vec<CutPlane>,
    corners: Vec<DVec3>,
    /// Pieces of surface, convex polygons one after the other.
    points: Vec<DVec3>,
    ends: Vec<u32>,
    /// Face of the mesh that each piece was cut from.
    faces: Vec<u32>,
}

impl Region {
    /// The whole box of a mesh.
    pub fn whole(mesh: &TriangleMesh) -> Self {
        let bounds = mesh.bounds();
        let sides = DVec3::AXES.into_iter().flat_map(|axis| {
            [
                CutPlane { normal: axis, offset: bounds.max().dot(axis) },
                CutPlane { normal: -axis, offset: -bounds.min().dot(axis) },
            ]
        });
        let count = mesh.triangles().len();
        Self {
            planes: sides.collect(),
            corners: bounds.corners().to_vec(),
            points: (0..count).flat_map(|f| mesh.triangle(f)).collect(),
            ends: (1..=count as u32).map(|i| 3 * i).collect(),
            faces: (0..count as u32).collect(),
        }
    }

    /// Box of the surface and corners, None if there are none.
    pub fn bounds(&self) -> Option<Aabb> {
        Aabb::from_points(self.points.iter().chain(&self.corners).copied()).ok()
    }

    /// The part of the region below a plane.
    pub fn below(&self, plane: CutPlane, solid: &SolidDistance, tolerance: f64) -> Self {
        let (mut points, mut ends, mut faces) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (&end, &face) in self.ends.iter().zip(&self.faces) {
            let polygon = &self.points[first as usize..end as usize];
            first = end;
            let heights = || polygon.iter().map(|p| plane.normal.dot(*p) - plane.offset);
            let in_plane = || heights().all(|h| h <= tolerance);
            if heights().any(|h| h < -tolerance)
                || (in_plane() && solid.face_normal(face).dot(plane.normal) > 0.0)
            {
                clip(polygon, plane, &mut points);
                ends.push(points.len() as u32);
                faces.push(face);
            }
        }
        let mut corners: Vec<DVec3> =
            self.corners.iter().copied().filter(|p| plane.normal.dot(*p) <= plane.offset).collect();
        for (i, a) in self.planes.iter().enumerate() {
            for b in &self.planes[i + 1..] {
                if let Some(p) = intersection_of_planes([*a, *b, plane])
                    && self.planes.iter().all(|side| side.normal.dot(p) <= side.offset + tolerance)
                {
                    corners.push(p);
                }
            }
        }
        let mut planes = self.planes.clone();
        planes.push(plane);
        Self { planes, corners, points, ends, faces }
    }

    /// Points whose hull is that of the solid in this region.
    fn hull_points(&self, solid: &SolidDistance, tolerance: f64) -> Vec<DVec3> {
        let mut points = self.points.clone();
        points.extend(
            self.corners.iter().filter(|p| solid.nearest(**p).is_some_and(|near| near.distance < -tolerance)),
        );
        points
    }

    /// Hull of the solid in this region, None if it has no volume.
    pub fn hull(&self, solid: &SolidDistance, tolerance: f64) -> Option<ConvexPolyhedron> {
        let mut points = self.hull_points(solid, tolerance);
        points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
        points.dedup();
        convex_hull_with(&points, 1e-10).ok()
    }

    /// Volume of the hull of a few extreme points, to compare cuts by; None if there is none.
    pub fn rough_volume(&self, solid: &SolidDistance, tolerance: f64) -> Option<f64> {
        let points = self.hull_points(solid, tolerance);
        let mut extreme = Vec::with_capacity(DIRECTIONS);
        for i in 0..DIRECTIONS {
            // Points on a spiral around the sphere are spread evenly.
            let z = 1.0 - (2.0 * i as f64 + 1.0) / DIRECTIONS as f64;
            let (sin, cos) = (2.399963 * i as f64).sin_cos();
            let direction = DVec3::new((1.0 - z * z).sqrt() * cos, (1.0 - z * z).sqrt() * sin, z);
            let farthest =
                points.iter().copied().max_by(|a, b| a.dot(direction).total_cmp(&b.dot(direction)))?;
            if !extreme.contains(&farthest) {
                extreme.push(farthest);
            }
        }
        let triangles = hull_triangles(&extreme).ok()?;
        Some(VolumeIntegrals::of_triangles_about(&extreme, &triangles, extreme[0]).t1)
    }
}

/// Appends the part of a convex polygon below a plane.
fn clip(polygon: &[DVec3], plane: CutPlane, out: &mut Vec<DVec3>) {
    for (i, &a) in polygon.iter().enumerate() {
        let b = polygon[(i + 1) % polygon.len()];
        let (ha, hb) = (plane.normal.dot(a) - plane.offset, plane.normal.dot(b) - plane.offset);
        if ha <= 0.0 {
            out.push(a);
        }
        if (ha < 0.0 && hb > 0.0) || (ha > 0.0 && hb < 0.0) {
            out.push(a.lerp(b, ha / (ha - hb)));
        }
    }
}

/// The point that three planes share, None if they share a direction.
fn intersection_of_planes([a, b, c]: [CutPlane; 3]) -> Option<DVec3> {
    let (bc, ca, ab) = (b.normal.cross(c.normal), c.normal.cross(a.normal), a.normal.cross(b.normal));
    let volume = a.normal.dot(bc);
    (volume.abs() > 1e-9).then(|| (a.offset * bc + b.offset * ca + c.offset * ab) / volume)
}
