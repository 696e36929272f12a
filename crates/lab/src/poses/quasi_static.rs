//! Quasi-static estimate: a part without velocity is put onto the floor in a uniformly random orientation and topples.
//!
//! A direction that is uniform on the sphere leaves the hull through face i with the probability p_i = Ω_i/(4π), Ω_i the solid angle of
//! the face from the centre of mass. An unstable face passes its share on along its topple chain. (Goldberg and Mason 1987; Mirtich 1996, 7.5.)

use super::faces::Faces;
use super::landscape::Landscape;
use super::part::Part;
use super::spherical::polygon_area;
use std::f64::consts::PI;

/// Solid angle of each face of the hull over 4π.
pub fn solid_angle_shares(part: &Part, faces: &Faces) -> Vec<f64> {
    (0..faces.all.len()).map(|face| polygon_area(&faces.polygon(part, face)) / (4.0 * PI)).collect()
}

/// Probability of each face after toppling; 0 for unstable ones.
pub fn quasi_static_by_face(part: &Part, faces: &Faces) -> Vec<f64> {
    let mut p = solid_angle_shares(part, faces);
    // A single pass: heights decrease along a topple.
    for &face in &faces.by_height {
        let next = faces.all[face as usize].next;
        if next != face {
            p[next as usize] += std::mem::take(&mut p[face as usize]);
        }
    }
    p
}

/// Probability of each pose.
pub fn quasi_static(part: &Part, landscape: &Landscape) -> Vec<f64> {
    by_pose(landscape, &quasi_static_by_face(part, &landscape.faces))
}

/// Shares of faces ⇒ of poses.
pub(super) fn by_pose(landscape: &Landscape, by_face: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; landscape.poses.len()];
    for (face, share) in by_face.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        sums[landscape.end_of(face)] += share;
    }
    sums
}
