//! Nearest points of triangle surfaces.
//!
//! A solid mesh gives its distance a sign by its winding number. Terrain is searched ring by ring around the
//! cell under p: ring k lies at least (k − 1) cell widths away, so the search stops when that exceeds the
//! best distance.

use glam::DVec3;

use super::Triangle;
use super::project::PointProjection;
use crate::{HeightField, TriangleMesh};

/// (p, numbered triangles) ⇒ nearest point, triangle and its number.
pub fn closest_of_triangles(
    p: DVec3,
    triangles: impl IntoIterator<Item = (u32, Triangle)>,
) -> Option<(DVec3, u32, Triangle)> {
    let mut best: Option<(f64, DVec3, u32, Triangle)> = None;
    for (index, triangle) in triangles {
        let q = triangle.closest_point(p);
        let distance = q.distance_squared(p);
        if best.as_ref().is_none_or(|b| distance < b.0) {
            best = Some((distance, q, index, triangle));
        }
    }
    best.map(|(_, point, index, triangle)| (point, index, triangle))
}

/// (p, nearest surface point, normal of its triangle, whether p lies inside) ⇒ projection.
fn signed(p: DVec3, point: DVec3, normal: DVec3, inside: bool) -> PointProjection {
    let outside = PointProjection::outside(p, point, normal);
    if inside && outside.distance > 0.0 {
        return PointProjection {
            distance: -outside.distance,
            inside: true,
            normal: -outside.normal,
            ..outside
        };
    }
    outside
}

pub(crate) fn project_on_mesh(p: DVec3, mesh: &TriangleMesh) -> Option<PointProjection> {
    let triangles = (0..mesh.triangles().len()).map(|i| (i as u32, mesh.triangle(i).into()));
    let (point, _, triangle) = closest_of_triangles(p, triangles)?;
    let normal = triangle.normal().unwrap_or(DVec3::Z);
    Some(signed(p, point, normal, mesh.is_solid() && mesh.contains(p)))
}

pub(crate) fn project_on_height_field(p: DVec3, field: &HeightField) -> Option<PointProjection> {
    let (rows, columns) = (field.rows().cast_signed() - 1, field.columns().cast_signed() - 1);
    let grid = (p.truncate() - field.corner()) / field.spacing();
    let column = (grid.x.floor() as isize).clamp(0, columns - 1);
    let row = (grid.y.floor() as isize).clamp(0, rows - 1);
    let spacing = field.spacing().min_element();
    let mut best: Option<(f64, DVec3, Triangle)> = None;
    for ring in 0..rows.max(columns) {
        if best.is_some_and(|(distance, ..)| (ring - 1) as f64 * spacing > distance) {
            break;
        }
        for r in (row - ring).max(0)..=(row + ring).min(rows - 1) {
            let on_edge = r == row - ring || r == row + ring;
            let step = if on_edge || ring == 0 { 1 } else { 2 * ring };
            let mut c = column - ring;
            while c <= column + ring {
                if (0..columns).contains(&c) {
                    for corners in field.cell(r as usize, c as usize) {
                        let triangle = Triangle::from(corners);
                        let q = triangle.closest_point(p);
                        if best.is_none_or(|(known, ..)| q.distance(p) < known) {
                            best = Some((q.distance(p), q, triangle));
                        }
                    }
                }
                c += step;
            }
        }
    }
    let (_, point, triangle) = best?;
    Some(signed(p, point, triangle.normal().unwrap_or(DVec3::Z), field.contains(p)))
}
