//! Rays against triangles, without leaks between neighbours (Woop, Benthin and Wald 2013).
//!
//! With e, f, d a right-handed orthonormal frame along the ray and q = p − o, a corner is seen at (q·e, q·f).
//! With A, B, C so seen, U = C_x B_y − C_y B_x, V = A_x C_y − A_y C_x, W = B_x A_y − B_y A_x give the side on
//! which the ray passes each edge. All of one sign (zero counts as either) is a hit, at t = (U A_z + V B_z +
//! W C_z)/(U + V + W), z = q·d. Two triangles with a common side see its ends alike and compute the same
//! number for it up to sign, so a ray cannot slip through between them. A ray in the triangle's own plane
//! does not hit it. d·((B − A) × (C − A)) = −(U + V + W) is negative where it hits the front.

use glam::{DVec2, DVec3};

use super::cast::{FromInside, RayHit};
use super::{Ray, Triangle};
use crate::{HeightField, TriangleMesh};

/// A ray prepared for many triangles.
#[derive(Clone, Copy, Debug)]
pub struct TriangleRay {
    origin: DVec3,
    across: [DVec3; 2],
    direction: DVec3,
}

impl TriangleRay {
    /// Ray ⇒ the frame along it.
    pub fn new(ray: &Ray) -> Self {
        let (e, f) = ray.direction().any_orthonormal_pair();
        Self { origin: ray.origin(), across: [e, f], direction: ray.direction() }
    }

    /// Signed distance along the line at which it hits the triangle, and whether it hits its front (the side
    /// the normal points to).
    #[inline]
    pub fn cast(&self, triangle: &Triangle) -> Option<(f64, bool)> {
        let corners = triangle.corners().map(|p| p - self.origin);
        let [e, f] = self.across;
        let [a, b, c] = corners.map(|q| DVec2::new(q.dot(e), q.dot(f)));
        let (u, v, w) = (c.perp_dot(b), a.perp_dot(c), b.perp_dot(a));
        // One comparison of extremes rather than six branches.
        if u.min(v).min(w) < 0.0 && u.max(v).max(w) > 0.0 {
            return None;
        }
        let determinant = u + v + w;
        if determinant == 0.0 || !determinant.is_finite() {
            return None;
        }
        let [a, b, c] = corners.map(|q| q.dot(self.direction));
        Some(((u * a + v * b + w * c) / determinant, determinant > 0.0))
    }
}

/// (ray, reach, numbered triangles) ⇒ nearest hit with its normal against the ray, and whether it is a front.
pub fn cast_ray_at_triangles(
    ray: &Ray,
    max: f64,
    triangles: impl IntoIterator<Item = (u32, Triangle)>,
) -> Option<(RayHit, bool)> {
    let prepared = TriangleRay::new(ray);
    let mut best: Option<(f64, bool, u32, Triangle)> = None;
    for (index, triangle) in triangles {
        let Some((t, front)) = prepared.cast(&triangle) else { continue };
        if t >= 0.0 && t <= best.as_ref().map_or(max, |b| b.0.next_down()) {
            best = Some((t, front, index, triangle));
        }
    }
    let (t, front, index, triangle) = best?;
    let outward = triangle.double_area_vector().normalize_or(-ray.direction());
    let normal = if front { outward } else { -outward };
    Some((RayHit::new(ray, t, normal, index), front))
}

/// A mesh through any source of candidate triangles (all of them, or the leaves of a tree the ray passes).
pub fn cast_ray_at_mesh(
    ray: &Ray,
    max: f64,
    inside: FromInside,
    solid: bool,
    triangles: impl IntoIterator<Item = (u32, Triangle)>,
) -> Option<RayHit> {
    // From inside a solid the nearest triangle shows its back, however far it is.
    let reach = if solid && inside == FromInside::Origin { f64::INFINITY } else { max };
    let (hit, front) = cast_ray_at_triangles(ray, reach, triangles)?;
    if solid && !front {
        return match inside {
            FromInside::Origin => Some(RayHit::new(ray, 0.0, -ray.direction(), hit.feature)),
            FromInside::Exit => Some(RayHit { normal: -hit.normal, ..hit }),
        };
    }
    (hit.t <= max).then_some(hit)
}

pub(crate) fn mesh(ray: &Ray, max: f64, inside: FromInside, mesh: &TriangleMesh) -> Option<RayHit> {
    if !super::cast::may_hit(ray, max, &mesh.bounds()) {
        return None;
    }
    let triangles = (0..mesh.triangles().len()).map(|i| (i as u32, mesh.triangle(i).into()));
    cast_ray_at_mesh(ray, max, inside, mesh.is_solid(), triangles)
}

/// Walks the cells under the ray in order and stops at the first hit.
pub(crate) fn height_field(ray: &Ray, max: f64, inside: FromInside, field: &HeightField) -> Option<RayHit> {
    if inside == FromInside::Origin && field.contains(ray.origin()) {
        return Some(RayHit::new(ray, 0.0, -ray.direction(), 0));
    }
    let bounds = field.aabb(&crate::Pose::IDENTITY)?;
    let [enter, leave] = super::segment_box::slab_interval(ray.origin(), ray.direction(), max, &bounds)?;
    let prepared = TriangleRay::new(ray);
    let mut walk = GridWalk::new(ray, enter, leave, field);
    while let Some(cell) = walk.cell() {
        let mut best: Option<RayHit> = None;
        for (row, column) in walk.with_corner_neighbors(cell) {
            for (half, corners) in field.cell(row, column).into_iter().enumerate() {
                let triangle = Triangle::from(corners);
                let Some((t, front)) = prepared.cast(&triangle) else { continue };
                if t >= 0.0 && t <= max && best.is_none_or(|b| t < b.t) {
                    let up = triangle.double_area_vector().normalize_or(DVec3::Z);
                    let feature = 2 * (row * (field.columns() - 1) + column) + half;
                    best = Some(RayHit::new(ray, t, if front { up } else { -up }, feature as u32));
                }
            }
        }
        if best.is_some() {
            return best;
        }
        walk.advance();
    }
    None
}

/// The cells a ray passes, one side crossing after the other.
struct GridWalk {
    row: isize,
    column: isize,
    rows: isize,
    columns: isize,
    /// Distance along the ray of the next crossing of a column and of a row line.
    next: [f64; 2],
    step: [f64; 2],
    sign: [isize; 2],
    leave: f64,
    near_corner: f64,
}

impl GridWalk {
    fn new(ray: &Ray, enter: f64, leave: f64, field: &HeightField) -> Self {
        let spacing = field.spacing();
        let (rows, columns) = (field.rows().cast_signed() - 1, field.columns().cast_signed() - 1);
        let origin = (ray.origin().truncate() - field.corner()) / spacing;
        let d = ray.direction().truncate() / spacing;
        let start = origin + enter * d;
        let column = (start.x.floor() as isize).clamp(0, columns - 1);
        let row = (start.y.floor() as isize).clamp(0, rows - 1);
        let mut walk = Self {
            row,
            column,
            rows,
            columns,
            next: [f64::INFINITY; 2],
            step: [f64::INFINITY; 2],
            sign: [0; 2],
            leave,
            near_corner: 1e-12 * (leave.abs().max(enter) + ray.origin().length()),
        };
        for (axis, cell) in [column, row].into_iter().enumerate() {
            if d[axis] != 0.0 {
                let line = cell + isize::from(d[axis] > 0.0);
                walk.next[axis] = (line as f64 - origin[axis]) / d[axis];
                walk.step[axis] = (1.0 / d[axis]).abs();
                walk.sign[axis] = if d[axis] > 0.0 { 1 } else { -1 };
            }
        }
        walk
    }

    fn cell(&self) -> Option<(isize, isize)> {
        let inside = (0..self.rows).contains(&self.row) && (0..self.columns).contains(&self.column);
        inside.then_some((self.row, self.column))
    }

    /// The cell, and where the ray leaves it through a corner, the cells beside that corner, which rounding
    /// might skip.
    fn with_corner_neighbors(&self, (row, column): (isize, isize)) -> impl Iterator<Item = (usize, usize)> {
        let corner = (self.next[0] - self.next[1]).abs() <= self.near_corner;
        let beside = [(row, column), (row + self.sign[1], column), (row, column + self.sign[0])];
        let (rows, columns) = (self.rows, self.columns);
        beside.into_iter().take(if corner { 3 } else { 1 }).filter_map(move |(r, c)| {
            ((0..rows).contains(&r) && (0..columns).contains(&c)).then_some((r as usize, c as usize))
        })
    }

    fn advance(&mut self) {
        let axis = usize::from(self.next[1] < self.next[0]);
        if !(self.next[axis] <= self.leave + self.near_corner) {
            self.row = -1;
            return;
        }
        self.next[axis] += self.step[axis];
        if axis == 0 {
            self.column += self.sign[0];
        } else {
            self.row += self.sign[1];
        }
    }
}
