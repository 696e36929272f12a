//! Places of a release, so that new particles do not overlap.
//!
//! n particles of diameter d at most lie in the centres of square cells of side 2 d: a square of side
//! f = 2 d √n. If the emitter is smaller, f_max < f, only n_r = ⌊(f_max/2d)²⌋ are released, in cells of side
//! f_max/⌈√n_r⌉.

use std::f64::consts::PI;

use glam::DVec3;
use rand_pcg::Pcg64;

use super::sample::uniform;
use super::{EmitterConfig, Source};

/// A place of a release: position and normal of the source there.
pub(super) type Place = (DVec3, DVec3);

/// Number of particles of diameter `d` that a source has room for, of `n` that are asked for.
pub(super) fn room(config: &EmitterConfig, n: u64, d: f64) -> u64 {
    let most = match &config.source {
        Source::Planar { .. } => (config.emitter_size / (2.0 * d)).powi(2),
        Source::Surface { mesh, faces, .. } => {
            let area: f64 = if faces.is_empty() {
                mesh.area()
            } else {
                faces.iter().map(|&f| mesh.area_vector(f as usize).length()).sum()
            };
            area / (4.0 * d * d)
        }
        Source::Spherical { radius, .. } => PI * radius * radius / (d * d),
    };
    // Slightly more, so that rounding does not lose a whole row.
    n.min((most * (1.0 + 1e-12)).min(1e15) as u64)
}

/// Calls `found` with the places of a release of n particles of diameter `d` at most.
pub(super) fn places(
    config: &EmitterConfig,
    n: u64,
    d: f64,
    random: &mut Pcg64,
    mut found: impl FnMut(Place),
) {
    match &config.source {
        Source::Planar { pose } => {
            let cells = (n as f64).sqrt().ceil().max(1.0);
            let side = (2.0 * d).min(config.emitter_size / cells);
            let normal = pose.vector(DVec3::Z);
            let per_row = cells as u64;
            for k in 0..n {
                let (row, column) = (k / per_row, k % per_row);
                let at = |c: u64| (c as f64 + 0.5 - 0.5 * cells) * side;
                found((pose.point(DVec3::new(at(column), at(row), 0.0)), normal));
            }
        }
        Source::Surface { mesh, pose, faces } => {
            let all: Vec<u32> = (0..mesh.triangles().len() as u32).collect();
            let faces = if faces.is_empty() { &all } else { faces };
            let area = |f: u32| mesh.area_vector(f as usize).length();
            let total: f64 = faces.iter().map(|&f| area(f)).sum();
            // One particle in each of n equal parts of the area.
            let (mut face, mut passed) = (0, 0.0);
            for k in 0..n {
                let target = total * (k as f64 + uniform(random)) / n as f64;
                while face + 1 < faces.len() && passed + area(faces[face]) < target {
                    passed += area(faces[face]);
                    face += 1;
                }
                let Some(&f) = faces.get(face) else { return };
                let [a, b, c] = mesh.triangle(f as usize);
                let (root, v) = (uniform(random).sqrt(), uniform(random));
                let point = (1.0 - root) * a + root * (1.0 - v) * b + root * v * c;
                let normal = mesh.area_vector(f as usize).normalize_or(DVec3::Z);
                found((pose.point(point), pose.vector(normal)));
            }
        }
        Source::Spherical { center, radius } => {
            // Equal-area cells along a spiral from pole to pole.
            let golden = PI * (3.0 - 5.0_f64.sqrt());
            for k in 0..n {
                let z = 1.0 - (2.0 * k as f64 + 1.0) / n as f64;
                let (ring, angle) = ((1.0 - z * z).max(0.0).sqrt(), golden * k as f64);
                let normal = DVec3::new(ring * angle.cos(), ring * angle.sin(), z);
                found((*center + *radius * normal, normal));
            }
        }
    }
}
