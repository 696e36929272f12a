//! Part kinds by formula: hollow caps and buttons such as feeders handle.
//!
//! A hollow part is a stack of rings (rectangles, or octagons with cut corners) from its open bottom to its closed top, with a cavity of the size of the top
//! ring less the wall. The CAD models of the source's four parts are lost; those here have as many stable poses as its tables, and their dimensions
//! were fitted so that their quasi-static shares come near to its first column, within two points each.

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

/// A ring of a half length and width about a middle, mm.
const fn ring(z: f64, half: [f64; 2], middle: [f64; 2], cut: f64) -> Ring {
    Ring { z, half, middle, cut }
}

/// The four part kinds of the source, in the order of `SOURCE_TABLES`: a cup-like cap with 5 stable poses, and three hollow buttons with 4, 7 and 12.
pub fn source_kinds() -> [Hollow; 4] {
    let base = [0.0, 0.0];
    [
        Hollow {
            name: "insulator cap",
            rings: vec![ring(0.0, [22.75, 11.65], base, 0.0), ring(13.3, [8.2, 2.1], [7.45, -3.7], 0.0)],
            wall: 1.4,
        },
        Hollow {
            name: "white button",
            rings: vec![ring(0.0, [11.4, 12.4], base, 0.0), ring(7.05, [8.2, 3.35], [-1.3, -2.9], 0.0)],
            wall: 2.3,
        },
        Hollow {
            name: "rectangular button",
            rings: vec![
                ring(0.0, [10.6, 9.5], base, 0.0),
                ring(3.35, [10.6, 9.5], base, 0.0),
                ring(7.95, [7.95, 4.15], [0.0, -2.7], 0.0),
            ],
            wall: 0.9,
        },
        Hollow {
            name: "square button",
            rings: vec![
                ring(0.0, [12.09, 9.79], base, 1.45),
                ring(3.77, [12.09, 9.79], base, 1.45),
                ring(11.04, [3.37, 2.18], [0.67, -0.36], 1.56),
            ],
            wall: 1.23,
        },
    ]
}
