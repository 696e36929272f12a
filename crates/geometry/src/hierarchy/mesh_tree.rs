//! Triangle mesh with a [`WideTree`] over its triangles, for queries. These lie in the order of its leaves
//! and the vertices in the order in which they are first used, so that triangles near in space are near in
//! memory.
//!
//! Boxes are single precision, the triangles double: boxes only cull.

use std::ops::ControlFlow;

use glam::DVec3;

use super::binned_build::Item;
use super::triangle::TriangleCorners;
use super::unit_frame::UnitFrame;
use super::wide_tree::WideTree;
use super::{BuildSettings, HierarchyError, MAX_ITEMS, Ray, Scratch, Visits};
use crate::primitive::{TriangleRay, intersects_centered_box};
use crate::{Aabb, BoundingSphere, MAX_LENGTH, TriangleMesh, primitive};

/// Where a ray hits a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeshRayHit {
    /// Distance along the ray.
    pub t: f64,
    /// Index of the triangle in the mesh.
    pub triangle: u32,
    /// Whether the ray hits the counter-clockwise, outer side.
    pub front: bool,
}

/// The point of a mesh nearest to another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestPoint {
    /// The point on the surface.
    pub point: DVec3,
    /// Its distance.
    pub distance: f64,
    /// Index of the triangle in the mesh.
    pub triangle: u32,
}

/// A mesh with a hierarchy over its triangles.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::generate;
/// use rattleback_geometry::hierarchy::{BuildSettings, MeshTree, Ray, Scratch};
/// let tree = MeshTree::build(&generate::icosphere(4)?, &BuildSettings::default())?;
/// let mut scratch = Scratch::default();
/// let hit = tree.cast_ray(&Ray::new(DVec3::X * 3.0, -DVec3::X)?, f64::INFINITY, &mut scratch);
/// assert!(hit.is_some_and(|hit| (hit.t - 2.0).abs() < 1e-2 && hit.front));
/// let nearest = tree.nearest_point(DVec3::Y * 5.0, f64::INFINITY, &mut scratch);
/// assert!(nearest.is_some_and(|nearest| (nearest.distance - 4.0).abs() < 1e-2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MeshTree {
    pub(super) wide: WideTree,
    /// Corners in the order of leaves, as places of `vertices`.
    pub(super) corners: Vec<[u32; 3]>,
    pub(super) vertices: Vec<DVec3>,
    /// Index in the mesh of each vertex.
    vertex_order: Vec<u32>,
}

impl MeshTree {
    /// Mesh ⇒ hierarchy.
    pub fn build(mesh: &TriangleMesh, settings: &BuildSettings) -> Result<Self, HierarchyError> {
        Self::over(mesh.vertices(), mesh.triangles(), mesh.bounds(), settings)
    }

    /// Any triangles, degenerate ones included ⇒ hierarchy.
    pub fn from_triangles(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        settings: &BuildSettings,
    ) -> Result<Self, HierarchyError> {
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices.len()) {
                return Err(HierarchyError::NoSuchVertex { triangle, vertex, count: vertices.len() });
            }
        }
        if triangles.is_empty() {
            return Err(HierarchyError::Empty);
        }
        Self::over(vertices, triangles, check_vertices(vertices)?, settings)
    }

    fn over(
        vertices: &[DVec3],
        triangles: &[[u32; 3]],
        bounds: Aabb,
        settings: &BuildSettings,
    ) -> Result<Self, HierarchyError> {
        if triangles.is_empty() {
            return Err(HierarchyError::Empty);
        }
        if triangles.len() > MAX_ITEMS {
            return Err(HierarchyError::TooMany { count: triangles.len() });
        }
        let frame = UnitFrame::around(&bounds);
        let items = (0u32..)
            .zip(triangles)
            .map(|(i, corners)| {
                let [a, b, c] = corners.map(|v| vertices[v as usize]);
                Item::new(frame.outward(a.min(b).min(c), a.max(b).max(c)), i)
            })
            .collect();
        let wide = WideTree::from_items(frame, bounds, items, settings)?;
        let mut place_of = vec![u32::MAX; vertices.len()];
        let mut vertex_order = Vec::with_capacity(vertices.len());
        let mut corners = Vec::with_capacity(triangles.len());
        for &i in &wide.order {
            corners.push(triangles[i as usize].map(|v| {
                let place = &mut place_of[v as usize];
                if *place == u32::MAX {
                    *place = vertex_order.len() as u32;
                    vertex_order.push(v);
                }
                *place
            }));
        }
        let vertices = vertex_order.iter().map(|&v| vertices[v as usize]).collect();
        Ok(Self { wide, corners, vertices, vertex_order })
    }

    /// Moves the vertices but keeps the topology of the tree.
    pub fn refit(&mut self, vertices: &[DVec3]) -> Result<(), HierarchyError> {
        let needed = self.vertex_order.iter().max().map_or(0, |&v| v as usize + 1);
        if vertices.len() < needed {
            let found = vertices.len();
            return Err(HierarchyError::CountMismatch { what: "vertices", expected: needed, found });
        }
        self.wide.bounds = check_vertices(vertices)?;
        for (place, &v) in self.vertices.iter_mut().zip(&self.vertex_order) {
            *place = vertices[v as usize];
        }
        let (corners, vertices) = (&self.corners, &self.vertices);
        self.wide.fit(|place| {
            let [a, b, c] = corners[place].map(|v| vertices[v as usize]);
            (a.min(b).min(c), a.max(b).max(c))
        });
        Ok(())
    }

    /// Triangle at a place in the order of leaves.
    #[inline(always)]
    pub(super) fn triangle(&self, place: usize) -> TriangleCorners {
        self.corners[place].map(|v| self.vertices[v as usize])
    }

    /// Box around the mesh.
    pub fn bounds(&self) -> Aabb {
        self.wide.bounds
    }

    /// The hierarchy over the triangles.
    pub fn tree(&self) -> &WideTree {
        &self.wide
    }

    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.corners.len()
    }

    /// The first hit with t ≤ `limit`; of two at the same t the triangle with the smaller index.
    pub fn cast_ray(&self, ray: &Ray, limit: f64, scratch: &mut Scratch) -> Option<MeshRayHit> {
        self.cast_ray_counting(ray, limit, scratch).0
    }

    /// As `cast_ray`, with the work it took.
    pub fn cast_ray_counting(
        &self,
        ray: &Ray,
        limit: f64,
        scratch: &mut Scratch,
    ) -> (Option<MeshRayHit>, Visits) {
        let mut best: Option<MeshRayHit> = None;
        let prepared = TriangleRay::new(ray);
        let visits = self.wide.walk_ray(ray, limit, scratch, |places, mut limit| {
            for place in places {
                if let Some((t, front)) = self.cast(&prepared, place, limit) {
                    let triangle = self.wide.order[place];
                    if best.is_none_or(|known| t < known.t || triangle < known.triangle) {
                        best = Some(MeshRayHit { t, triangle, front });
                    }
                    limit = t;
                }
            }
            limit
        });
        (best, visits)
    }

    /// Where a ray hits the triangle at a place, and whether that is its front.
    #[inline(always)]
    fn cast(&self, ray: &TriangleRay, place: usize, limit: f64) -> Option<(f64, bool)> {
        ray.cast(&self.triangle(place).into()).filter(|&(t, _)| t >= 0.0 && t <= limit)
    }

    /// Whether anything lies within t ≤ `limit`.
    pub fn ray_blocked(&self, ray: &Ray, limit: f64, scratch: &mut Scratch) -> bool {
        let mut blocked = false;
        let prepared = TriangleRay::new(ray);
        self.wide.walk_ray(ray, limit, scratch, |places, limit| {
            blocked |= places.into_iter().any(|place| self.cast(&prepared, place, limit).is_some());
            if blocked { f64::NEG_INFINITY } else { limit }
        });
        blocked
    }

    /// All hits with t ≤ `limit`, replacing the contents of `hits`, from near to far.
    pub fn ray_hits(
        &self,
        ray: &Ray,
        limit: f64,
        scratch: &mut Scratch,
        hits: &mut Vec<MeshRayHit>,
    ) -> Visits {
        hits.clear();
        let prepared = TriangleRay::new(ray);
        let visits = self.wide.walk_ray(ray, limit, scratch, |places, limit| {
            for place in places {
                if let Some((t, front)) = self.cast(&prepared, place, limit) {
                    hits.push(MeshRayHit { t, triangle: self.wide.order[place], front });
                }
            }
            limit
        });
        hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.triangle.cmp(&b.triangle)));
        visits
    }

    /// The surface point nearest to `p` within the distance `limit`; None for a `p` that is not finite.
    pub fn nearest_point(&self, p: DVec3, limit: f64, scratch: &mut Scratch) -> Option<NearestPoint> {
        if !p.is_finite() {
            return None;
        }
        let mut best: Option<NearestPoint> = None;
        self.wide.walk_nearest(p, limit, scratch, |places, mut limit| {
            for place in places {
                let point = primitive::Triangle::from(self.triangle(place)).closest_point(p);
                let (distance, triangle) = (point.distance(p), self.wide.order[place]);
                let nearer = best.is_none_or(|known| {
                    distance < known.distance || distance == known.distance && triangle < known.triangle
                });
                if distance <= limit && nearer {
                    best = Some(NearestPoint { point, distance, triangle });
                    limit = distance;
                }
            }
            limit
        });
        best
    }

    /// Calls `found` with the index of each triangle that intersects the box, until `found` breaks.
    pub fn triangles_in_box(
        &self,
        query: &Aabb,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        let (center, half) = (query.center(), query.half_extents());
        self.wide.walk_overlap(self.wide.query_box(query.min(), query.max()), scratch, |places| {
            for place in places {
                if intersects_centered_box(&self.triangle(place).map(|p| p - center), half) {
                    found(self.wide.order[place])?;
                }
            }
            ControlFlow::Continue(())
        })
    }

    /// Calls `found` with the index of each triangle that intersects the sphere, until `found` breaks.
    pub fn triangles_in_sphere(
        &self,
        query: &BoundingSphere,
        scratch: &mut Scratch,
        mut found: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Visits {
        let (center, radius) = (query.center(), query.radius());
        let bounds = self.wide.query_box(center - radius, center + radius);
        self.wide.walk_overlap(bounds, scratch, |places| {
            for place in places {
                let nearest = primitive::Triangle::from(self.triangle(place)).closest_point(center);
                if nearest.distance_squared(center) <= radius * radius {
                    found(self.wide.order[place])?;
                }
            }
            ControlFlow::Continue(())
        })
    }
}

/// Vertices ⇒ their box, if all are finite and of allowed size.
fn check_vertices(vertices: &[DVec3]) -> Result<Aabb, HierarchyError> {
    let out_of_range = |p: &DVec3| !(p.abs().max_element() <= MAX_LENGTH) || !p.is_finite();
    if let Some(index) = vertices.iter().position(out_of_range) {
        return Err(HierarchyError::NonFinite { what: "vertex", index });
    }
    Ok(Aabb::from_points(vertices.iter().copied())?)
}
