//! Boxes and their relatives, with polygonal faces.

use glam::DVec3;

use crate::shape::error::length;
use crate::{PolygonSoup, ShapeError};

/// Half extents ⇒ box about the origin: 8 vertices (bit 0, 1, 2 of the index: max on x, y, z), 6 rectangles.
pub fn cuboid(half_extents: DVec3) -> Result<PolygonSoup, ShapeError> {
    for value in half_extents.to_array() {
        length("box", "half extent", value)?;
    }
    let sign = |i: usize, axis: usize| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |i: usize| half_extents * DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2));
    let mut soup = PolygonSoup::new((0..8).map(corner).collect());
    for face in [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]] {
        soup.push_face(&face);
    }
    Ok(soup)
}

/// Four corners, the last on the outer side of the first three seen clockwise ⇒ tetrahedron with outward
/// normals regardless of the order of the corners.
pub fn tetrahedron(corners: [DVec3; 4]) -> PolygonSoup {
    let [a, b, c, d] = corners;
    let faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let outwards = (b - a).cross(c - a).dot(d - a) >= 0.0;
    let faces = if outwards { faces } else { faces.map(|[i, j, k]| [i, k, j]) };
    PolygonSoup::from_triangles(corners.to_vec(), &faces)
}

/// (outer half extents, hole half extents in x and y) ⇒ box with a rectangular hole along z: 16 vertices, 16
/// quadrilaterals, genus 1.
pub fn cuboid_with_hole(outer: DVec3, hole_x: f64, hole_y: f64) -> Result<PolygonSoup, ShapeError> {
    for value in outer.to_array() {
        length("box with hole", "half extent", value)?;
    }
    // The hole must leave a wall.
    for (hole, side) in [(hole_x, outer.x), (hole_y, outer.y)] {
        length("box with hole", "hole half extent", if hole < side { hole } else { f64::NAN })?;
    }
    let square =
        |x: f64, y: f64, z: f64| [(-x, -y), (x, -y), (x, y), (-x, y)].map(|(x, y)| DVec3::new(x, y, z));
    // Rings of four: outer bottom 0, outer top 4, inner bottom 8, inner top 12.
    let rings = [
        (outer.x, outer.y, -outer.z),
        (outer.x, outer.y, outer.z),
        (hole_x, hole_y, -outer.z),
        (hole_x, hole_y, outer.z),
    ];
    let mut soup = PolygonSoup::new(rings.iter().flat_map(|&(x, y, z)| square(x, y, z)).collect());
    for i in 0..4 {
        let j = (i + 1) % 4;
        soup.push_face(&[i, j, 4 + j, 4 + i]);
        soup.push_face(&[8 + j, 8 + i, 12 + i, 12 + j]);
        soup.push_face(&[4 + i, 4 + j, 12 + j, 12 + i]);
        soup.push_face(&[j, i, 8 + i, 8 + j]);
    }
    Ok(soup)
}
