//! Boundary points on bodies (Akinci et al., "Versatile rigid-fluid coupling for incompressible SPH", 2012).
//!
//! A body acts on a fluid through points near its surface. They lie half a spacing inside, where the lattice of a fluid
//! that fills the space up to the surface would go on: a flat wall then has exactly the density of fluid. A point b
//! stands for the volume V_b = γ/Σ_k W_bk, the sum over the points of the same body; γ makes it the volume of a fluid
//! particle on a flat wall.

use glam::DVec3;
use rattleback_geometry::Shape;
use rattleback_geometry::primitive::Triangle;

use super::Wendland;
use crate::error::check;
use crate::{CellGrid, ParticleError};

/// Points per body at most.
const MAX_POINTS: f64 = 2e7;

/// Shape and spacing ⇒ boundary points half a spacing below its surface, in its frame.
///
/// # Errors
/// The spacing is not positive, the shape is unbounded, thinner than the spacing or would have millions of points.
pub fn sample_shape(shape: &Shape, spacing: f64) -> Result<Vec<DVec3>, ParticleError> {
    check("spacing", spacing, spacing > 0.0, "greater than zero")?;
    let refused = |reason: String| ParticleError::Obstacle { reason };
    if let Shape::Cuboid(cuboid) = shape {
        let half = cuboid.half_extents() - 0.5 * spacing;
        if half.min_element() <= 0.0 {
            return Err(refused("box is thinner than the spacing of the fluid".into()));
        }
        return box_surface(half, spacing);
    }
    let size = shape
        .aabb(&rattleback_geometry::Pose::IDENTITY)
        .ok_or_else(|| refused("an unbounded shape cannot be sampled; use a box".into()))?
        .diagonal();
    let segments = (std::f64::consts::PI * size / spacing).ceil().clamp(8.0, 256.0) as u32;
    let mesh = shape.surface(segments).map_err(|e| refused(e.to_string()))?;
    if mesh.area() / (spacing * spacing) > MAX_POINTS {
        return Err(refused(format!("more than {MAX_POINTS} boundary points; use a larger spacing")));
    }
    let mut points = Vec::new();
    for i in 0..mesh.triangles().len() {
        let triangle = Triangle::from(mesh.triangle(i));
        let Some(normal) = triangle.normal() else { continue };
        let [a, b, c] = triangle.corners();
        let n = (triangle.longest_side() / (0.5 * spacing)).ceil().clamp(1.0, 4096.0) as u32;
        for u in 0..=n {
            for v in 0..=n - u {
                let (u, v) = (f64::from(u) / f64::from(n), f64::from(v) / f64::from(n));
                points.push(a + u * (b - a) + v * (c - a) - 0.5 * spacing * normal);
            }
        }
    }
    thinned(&points, 0.8 * spacing)
}

/// Half extents of the inside of a tank and spacing ⇒ boundary points of its six walls, half a spacing outside of it.
///
/// # Errors
/// A number is not positive, or there would be millions of points.
pub fn sample_box_inside(half_extents: DVec3, spacing: f64) -> Result<Vec<DVec3>, ParticleError> {
    let least = half_extents.min_element();
    check("spacing", spacing, spacing > 0.0, "greater than zero")?;
    check("half extents", least, least > 0.0 && half_extents.is_finite(), "greater than zero")?;
    box_surface(half_extents + 0.5 * spacing, spacing)
}

/// Points on the surface of a box, on a lattice of about the spacing.
fn box_surface(half: DVec3, spacing: f64) -> Result<Vec<DVec3>, ParticleError> {
    let cells = (2.0 * half / spacing).map(|n| (n - 1e-9).ceil().max(1.0));
    if cells.x * cells.y + cells.y * cells.z + cells.z * cells.x > MAX_POINTS {
        return Err(ParticleError::Obstacle { reason: format!("more than {MAX_POINTS} boundary points") });
    }
    let n = cells.as_u64vec3();
    let step = 2.0 * half / cells;
    let mut points = Vec::new();
    for z in 0..=n.z {
        for y in 0..=n.y {
            let edge = z == 0 || z == n.z || y == 0 || y == n.y;
            let inner = if edge { 1 } else { n.x as usize };
            for x in (0..=n.x).step_by(inner) {
                points.push(DVec3::new(x as f64, y as f64, z as f64) * step - half);
            }
        }
    }
    Ok(points)
}

/// Points of which no two are closer than a distance, in the order given.
fn thinned(points: &[DVec3], distance: f64) -> Result<Vec<DVec3>, ParticleError> {
    let mut grid = CellGrid::default();
    grid.build(points, distance)?;
    let mut kept = vec![false; points.len()];
    for i in 0..points.len() {
        let mut free = true;
        grid.points_within(points, points[i], distance, |j| free &= !kept[j]);
        kept[i] = free;
    }
    Ok(points.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(p, _)| *p).collect())
}

/// V_b of the points of a body.
pub(super) fn volumes(points: &[DVec3], kernel: Wendland, gamma: f64) -> Result<Vec<f32>, ParticleError> {
    let mut grid = CellGrid::default();
    grid.build(points, kernel.support)?;
    let volume = |p: DVec3| {
        let mut sum = 0.0;
        grid.points_within(points, p, kernel.support, |j| sum += kernel.value(p.distance(points[j])));
        (gamma / sum) as f32
    };
    Ok(points.iter().map(|&p| volume(p)).collect())
}
