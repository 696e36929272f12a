//! Part kinds by formula: hollow caps and buttons such as feeders handle.
//!
//! A hollow part is a stack of rings (rectangles, or octagons with cut corners) from its open bottom to its closed top, with a cavity of the size of the top
//! ring less the wall. The CAD models of the source's four parts are lost; those here have as many stable poses as its tables, and their dimensions
//! were fitted so that their quasic-static shares come near to its first column (`fit_error`).

use super::error::PoseError;
use super::part::{Part, PartOptions};
use glam::DVec3;
use rattleback_geometry::PolygonSoup;

/// A horizontal ring of a hollow part; lengths in mm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Height.
    pub z: f64,
    /// Half side lengths.
    pub half: [f64; 2],
    /// Middle.
    pub middle: [f64; 2],
    /// Length cut from each side at each corner; 0 for a rectangle.
    pub cut: f64,
}

/// A hollow part.
#[derive(Clone, Debug, PartialEq)]
pub struct Hollow {
    /// Name.
    pub name: &'static str,
    /// Rings from the bottom to the top.
    pub rings: Vec<Ring>,
    /// Thickness of the walls, mm.
    pub wall: f64,
}

impl Hollow {
    /// The surface, in metres.
    pub fn soup(&self) -> PolygonSoup {
        let mut loops: Vec<Vec<DVec3>> = Vec::new();
        if let (Some(first), Some(last)) = (self.rings.first(), self.rings.last()) {
            let half = last.half.map(|h| h - self.wall);
            let depth = last.z - self.wall;
            if half.iter().all(|h| *h > 0.05) && depth > first.z + 0.05 {
                let cut = (last.cut - 0.6 * self.wall).max(if last.cut > 0.0 { 0.02 } else { 0.0 });
                let cavity =
                    |z| Ring { z, half, middle: last.middle, cut: cut.min(0.9 * half[0].min(half[1])) };
                loops.extend([corners(&cavity(depth)), corners(&cavity(first.z))]);
            }
        }
        loops.extend(self.rings.iter().map(corners));
        lofted(&loops)
    }

    /// As a part of plastic, 1100 kg/m³.
    pub fn part(&self) -> Result<Part, PoseError> {
        Part::from_soup(&self.soup(), &PartOptions { density: 1100.0, ..PartOptions::default() })
    }
}

/// Corners of a ring, counter-clockwise from above, in metres.
fn corners(ring: &Ring) -> Vec<DVec3> {
    let ([a, b], [x, y], cut) = (ring.half, ring.middle, ring.cut);
    let points: Vec<[f64; 2]> = if cut > 0.0 {
        vec![
            [a - cut, -b],
            [a, -b + cut],
            [a, b - cut],
            [a - cut, b],
            [-a + cut, b],
            [-a, b - cut],
            [-a, -b + cut],
            [-a + cut, -b],
        ]
    } else {
        vec![[a, -b], [a, b], [-a, b], [-a, -b]]
    };
    points.iter().map(|[u, v]| 1e-3 * DVec3::new(x + u, y + v, ring.z)).collect()
}

/// Loops of equal numbers of corners, each joined to the next by triangles, the first and the last closed.
fn lofted(loops: &[Vec<DVec3>]) -> PolygonSoup {
    let n = loops.first().map_or(0, Vec::len) as u32;
    let mut soup = PolygonSoup::new(loops.iter().flatten().copied().collect());
    let Some(last) = (loops.len() as u32).checked_sub(1) else { return soup };
    let first: Vec<u32> = (0..n).rev().collect();
    soup.push_face(&first);
    for ring in 0..last {
        for k in 0..n {
            let (a, b) = (ring * n + k, ring * n + (k + 1) % n);
            soup.push_face(&[a, b, b + n]);
            soup.push_face(&[a, b + n, a + n]);
        }
    }
    let top: Vec<u32> = (0..n).map(|k| last * n + k).collect();
    soup.push_face(&top);
    soup
}
