//! A surface against a half-space: the vertices that reach below its plane.
//!
//! With the plane n·p = c, a vertex stands at the height h = n·p − c over it, above the point p − h n. The
//! normal from the surface into the half-space is −n.

use glam::DVec3;

use super::cache::Workspace;
use super::surface::Surface;
use crate::contact::reduce::widest_first;
use crate::contact::{ContactPoint, MAX_POINTS, Manifold};

/// Fills `work.raw` with the vertices lower than the margin, A being the surface: four of them, or all in
/// manifolds of four.
pub(super) fn stand_on_half_space(
    surface: &Surface<'_>,
    normal: DVec3,
    offset: f64,
    margin: f64,
    raw: bool,
    work: &mut Workspace,
) {
    work.raw.clear();
    work.points.clear();
    let Some(bounds) = surface.bounds() else { return };
    if bounds.center().dot(normal) - bounds.half_extents().dot(normal.abs()) > offset + margin {
        return;
    }
    let points = &mut work.points;
    let mut look = |id: u32, p: DVec3| {
        let height = normal.dot(p) - offset;
        if height <= margin {
            points.push(ContactPoint { point_a: p, point_b: p - height * normal, separation: height, id });
        }
    };
    match surface {
        Surface::Mesh(mesh) => (0u32..).zip(mesh.vertices()).for_each(|(i, &p)| look(i, p)),
        Surface::Terrain(field) => {
            for i in 0..field.heights().len() {
                look(i as u32, field.point(i / field.columns(), i % field.columns()));
            }
        }
    }
    if let Surface::Mesh(mesh) = surface {
        // A vertex of no triangle is no part of the surface.
        points.retain(|point| !mesh.edge_table().around(point.id).is_empty());
    }
    let kept = if raw { points.len() } else { widest_first(points, -normal) };
    for four in points[..kept].chunks(MAX_POINTS) {
        let mut manifold = Manifold::new(-normal);
        for &point in four {
            manifold.push(point);
        }
        let lowest = manifold.deepest().map_or(0, |point| point.id);
        manifold.parts = [triangle_at(surface, lowest), 0];
        work.raw.push(manifold);
    }
}

/// The first triangle that has a vertex.
fn triangle_at(surface: &Surface<'_>, vertex: u32) -> u32 {
    match surface {
        Surface::Mesh(mesh) => {
            let place = |v: &u32| mesh.edge_table().place(*v) == mesh.edge_table().place(vertex);
            mesh.triangles().iter().position(|corners| corners.iter().any(place)).unwrap_or(0) as u32
        }
        Surface::Terrain(field) => {
            let (row, column) = (vertex as usize / field.columns(), vertex as usize % field.columns());
            let cell = row.min(field.rows() - 2) * (field.columns() - 1) + column.min(field.columns() - 2);
            2 * cell as u32
        }
    }
}
