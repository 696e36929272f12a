//! Planes that may resolve a reflex edge.
//!
//! In the order of the source: the planes of its two faces, extended; the planes through it and another edge
//! at one of its ends; planes that divide its angle θ at ρθ from the first face, ρ = 1/4, 1/2, 3/4, 3/8, 5/8.
//! Of the second kind so many are left out that the third, which always divides the edge well, fits in.

use glam::{DQuat, DVec3};

use super::part::Part;
use super::section::CutPlane;

/// Where the angle of an edge is divided.
const RHO: [f64; 5] = [0.25, 0.5, 0.75, 0.375, 0.625];

/// (part, side of a reflex edge) ⇒ at most `count` planes through the edge.
pub(super) fn candidates(part: &Part, normals: &[DVec3], side: u32, count: usize) -> Vec<CutPlane> {
    let [a, b] = part.ends(side);
    let middle = part.point(a).midpoint(part.point(b));
    let e = part.direction(side);
    let twin = part.twins[side as usize];
    let (n1, n2) = (part.normal(normals, side / 3), part.normal(normals, twin / 3));
    let mut planes = vec![n1, n2];
    for (end, skipped) in [(a, side), (b, twin)] {
        for other in part.star(end).into_iter().filter(|&other| other != skipped) {
            let flat =
                part.normal(normals, other / 3) == part.normal(normals, part.twins[other as usize] / 3);
            let normal = e.cross(part.direction(other));
            if !flat && normal.length() > 1e-6 {
                planes.push(normal.normalize());
            }
        }
    }
    planes.truncate(count.saturating_sub(RHO.len()).max(2));
    let theta = part.angle(normals, side);
    for rho in RHO {
        // Turning about the edge from the face into the solid: the solid is below the face, on the left of
        // its side.
        planes.push(DQuat::from_axis_angle(e, -rho * theta) * n1);
    }
    let mut kept: Vec<DVec3> = Vec::new();
    for normal in planes {
        // Rounding must not tilt the plane off the edge.
        let normal = (normal - normal.dot(e) * e).normalize_or_zero();
        if normal != DVec3::ZERO && kept.iter().all(|other| other.cross(normal).length() > 1e-9) {
            kept.push(normal);
        }
    }
    kept.truncate(count);
    kept.into_iter().map(|normal| CutPlane { normal, offset: normal.dot(middle) }).collect()
}
