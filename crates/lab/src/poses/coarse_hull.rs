//! A hull of fewer corners for drops of finely cut round parts.
//!
//! Event-driven contact looks at every corner of a hull. A hull of many thousand corners is replaced by that of its farthest corners along a thousand
//! directions, spread evenly over the sphere, and of the corners of its stable faces. About 6° apart, they leave out up to 1 − cos 4.5° ≈ 0.3 % of
//! the radius of curvature, which is of the order of the hops of a part at rest.

use super::landscape::Landscape;
use super::part::Part;
use glam::DVec3;
use rattleback_geometry::{ConvexPolyhedron, convex_hull_with};
use std::collections::BTreeSet;

/// Hulls of up to so many corners are taken as they are.
const FINE: usize = 1500;
/// Directions along which the farthest corners stay.
const DIRECTIONS: usize = 1000;

/// Part ⇒ the hull that is dropped, and by how much it is smaller than that of the part, m.
pub(super) fn coarse_hull(part: &Part, landscape: &Landscape) -> (ConvexPolyhedron, f64) {
    let hull = part.hull();
    if hull.vertices().len() <= FINE {
        return (hull.clone(), 0.0);
    }
    let mut kept = BTreeSet::new();
    let mut last = 0;
    // A spiral from pole to pole: neighbours along it are near, so each search starts at the last corner.
    for k in 0..DIRECTIONS {
        let z = 1.0 - 2.0 * (k as f64 + 0.5) / DIRECTIONS as f64;
        let (sin, cos) = (k as f64 * std::f64::consts::PI * (3.0 - 5f64.sqrt())).sin_cos();
        let r = (1.0 - z * z).sqrt();
        last = hull.support_vertex(DVec3::new(r * cos, r * sin, z), last);
        kept.insert(last);
    }
    let stable = landscape.poses.iter().flat_map(|pose| &pose.faces);
    kept.extend(stable.flat_map(|face| hull.face(*face as usize)).take(FINE));
    let points: Vec<DVec3> = kept.iter().map(|corner| hull.vertices()[*corner as usize]).collect();
    let Ok(coarse) = convex_hull_with(&points, 1e-6) else { return (hull.clone(), 0.0) };
    let gap = |(normal, offset): (&DVec3, &f64)| offset - normal.dot(coarse.support(*normal));
    let deviation = hull.normals().iter().zip(hull.offsets()).map(gap).fold(0.0, f64::max);
    (coarse, deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poses::PartOptions;
    use rattleback_geometry::generate;

    #[test]
    fn a_finely_cut_egg_is_dropped_as_a_coarse_one() {
        let mut soup = generate::icosphere(6).unwrap().to_soup();
        soup.vertices.iter_mut().for_each(|p| *p *= DVec3::new(0.010, 0.008, 0.005));
        let part = Part::from_soup(&soup, &PartOptions::default()).unwrap();
        let landscape = Landscape::of(&part, 0.02).unwrap();
        let (coarse, deviation) = coarse_hull(&part, &landscape);
        assert!(part.hull().vertices().len() > 10_000 && coarse.vertices().len() < 2500);
        // The largest radius of curvature is a²/c = 20 mm.
        assert!(deviation > 0.0 && deviation < 0.003 * 0.02, "{deviation:e}");
    }
}
