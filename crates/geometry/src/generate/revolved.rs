//! Surfaces of revolution about z.
//!
//! A profile of points (ρ, z) from bottom to top is rotated in `segments` steps. A point on the axis is a
//! pole (one vertex), any other a ring. Faces between rings are two triangles, between a ring and a pole one.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::shape::error::{count, length};
use crate::{ShapeError, TriangleMesh};

fn check_segments(shape: &'static str, segments: u32) -> Result<u32, ShapeError> {
    count(shape, "segments", segments as usize, 3..=1024).map(|n| n as u32)
}

/// Position on a circle of `segments` steps; quarter turns are exact, so that closed forms keep their
/// symmetry.
fn circle(step: u32, segments: u32) -> (f64, f64) {
    if (4 * step).is_multiple_of(segments) {
        return [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][(4 * step / segments) as usize % 4];
    }
    let (sin, cos) = (TAU * step as f64 / segments as f64).sin_cos();
    (cos, sin)
}

/// Profile (ρ ≥ 0, z), bottom to top, starting and ending on the axis ⇒ closed surface of revolution.
pub fn revolved(profile: &[(f64, f64)], segments: u32) -> Result<TriangleMesh, ShapeError> {
    check_segments("surface of revolution", segments)?;
    count("surface of revolution", "profile points", profile.len(), 3..=1 << 16)?;
    let last = profile.len() - 1;
    for (i, &(rho, z)) in profile.iter().enumerate() {
        let on_axis = i == 0 || i == last;
        if !z.is_finite() || !(rho >= 0.0) || (rho == 0.0) != on_axis {
            return Err(ShapeError::NonFinite { shape: "surface of revolution", parameter: "profile" });
        }
    }
    let mut vertices = vec![DVec3::Z * profile[0].1];
    for &(rho, z) in &profile[1..last] {
        vertices.extend((0..segments).map(|j| {
            let (cos, sin) = circle(j, segments);
            DVec3::new(rho * cos, rho * sin, z)
        }));
    }
    vertices.push(DVec3::Z * profile[last].1);
    let ring = |i: usize, j: u32| 1 + (i as u32 - 1) * segments + j % segments;
    let top = vertices.len() as u32 - 1;
    let mut triangles = Vec::new();
    for j in 0..segments {
        triangles.push([0, ring(1, j + 1), ring(1, j)]);
        for i in 1..last - 1 {
            let [a, b, c, d] = [ring(i, j), ring(i, j + 1), ring(i + 1, j + 1), ring(i + 1, j)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([ring(last - 1, j), ring(last - 1, j + 1), top]);
    }
    Ok(TriangleMesh::new(vertices, triangles)?)
}

/// Semi-axes ⇒ ellipsoid with vertices on the surface, `segments` around and half as many (at least 2) from
/// pole to pole.
pub fn ellipsoid(semi_axes: DVec3, segments: u32) -> Result<TriangleMesh, ShapeError> {
    for value in semi_axes.to_array() {
        length("ellipsoid", "semi-axis", value)?;
    }
    check_segments("ellipsoid", segments)?;
    let rows = segments.div_ceil(2).max(2);
    let unit = revolved(&arc(0.0, 1.0, rows, -PI / 2.0, PI / 2.0), segments)?;
    let vertices = unit.vertices().iter().map(|&p| p * semi_axes).collect();
    Ok(TriangleMesh::new(vertices, unit.triangles().to_vec())?)
}

/// (radius, height) ⇒ cylinder along z, as `Shape::cylinder` places it.
pub fn cylinder(radius: f64, height: f64, segments: u32) -> Result<TriangleMesh, ShapeError> {
    let (r, h) = (length("cylinder", "radius", radius)?, length("cylinder", "height", height)? / 2.0);
    revolved(&[(0.0, -h), (r, -h), (r, h), (0.0, h)], segments)
}

/// (radius, height) ⇒ cone along z, as `Shape::cone` places it.
pub fn cone(radius: f64, height: f64, segments: u32) -> Result<TriangleMesh, ShapeError> {
    let (r, h) = (length("cone", "radius", radius)?, length("cone", "height", height)?);
    revolved(&[(0.0, -0.25 * h), (r, -0.25 * h), (0.0, 0.75 * h)], segments)
}

/// (radius, height of the straight part) ⇒ capsule along z.
pub fn capsule(radius: f64, height: f64, segments: u32) -> Result<TriangleMesh, ShapeError> {
    let (r, h) = (length("capsule", "radius", radius)?, length("capsule", "height", height)? / 2.0);
    check_segments("capsule", segments)?;
    let rows = segments.div_ceil(4).max(1);
    let mut profile = arc(-h, r, rows, -PI / 2.0, 0.0);
    profile.extend(arc(h, r, rows, 0.0, PI / 2.0));
    revolved(&profile, segments)
}

/// Points (ρ, z) of a circle about (0, center) between two angles above the equator; poles lie exactly on the
/// axis.
fn arc(center: f64, radius: f64, rows: u32, from: f64, to: f64) -> Vec<(f64, f64)> {
    let at = |i: u32| {
        let (sin, cos) = (from + (to - from) * i as f64 / rows as f64).sin_cos();
        let on_axis = cos.abs() < 1e-12;
        (if on_axis { 0.0 } else { radius * cos }, center + radius * if on_axis { sin.signum() } else { sin })
    };
    (0..=rows).map(at).collect()
}

/// (ring radius, tube radius, steps around the axis, steps around the tube) ⇒ torus about z, genus 1.
pub fn torus(ring: f64, tube: f64, segments: u32, tube_segments: u32) -> Result<TriangleMesh, ShapeError> {
    length("torus", "tube radius", tube)?;
    // A tube as thick as the ring would close the hole.
    length("torus", "ring radius", if ring > tube { ring } else { f64::NAN })?;
    check_segments("torus", segments)?;
    check_segments("torus", tube_segments)?;
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    let index = |i: u32, j: u32| (i % segments) * tube_segments + j % tube_segments;
    for i in 0..segments {
        let (cos, sin) = circle(i, segments);
        for j in 0..tube_segments {
            let (out, up) = circle(j, tube_segments);
            let rho = ring + tube * out;
            vertices.push(DVec3::new(rho * cos, rho * sin, tube * up));
            let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Ok(TriangleMesh::new(vertices, triangles)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_solids_of_the_right_genus_and_nearly_the_right_volume() {
        let n = 200;
        let cases = [
            (cylinder(1.0, 2.0, n), 0, PI * 2.0),
            (cone(1.0, 2.0, n), 0, PI * 2.0 / 3.0),
            (capsule(1.0, 2.0, n), 0, PI * (2.0 + 4.0 / 3.0)),
            (ellipsoid(DVec3::new(1.0, 2.0, 3.0), n), 0, 8.0 * PI),
            (torus(2.0, 0.5, n, n), 1, 2.0 * PI * PI * 2.0 * 0.25),
        ];
        for (mesh, genus, volume) in cases {
            let report = mesh.unwrap().report().unwrap();
            assert!(report.is_solid());
            assert_eq!((report.genus, report.first_error()), (Some(genus), None));
            let error = (report.volume.unwrap() - volume) / volume;
            assert!(error < 0.0 && error > -1e-3, "{error}");
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        assert!(torus(1.0, 1.0, 8, 8).is_err() && torus(1.0, 0.5, 2, 8).is_err());
        assert!(
            cylinder(f64::NAN, 1.0, 8).is_err()
                && cone(1.0, 0.0, 8).is_err()
                && capsule(1.0, 1.0, 4096).is_err()
        );
        assert!(revolved(&[(0.0, 0.0), (0.0, 1.0), (0.0, 2.0)], 8).is_err());
    }
}
