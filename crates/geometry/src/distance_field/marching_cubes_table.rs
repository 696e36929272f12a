//! The 256 ways in which a surface can cut a cell.
//!
//! Bit 0, 1, 2 of a corner's number is its x, y, z; edge 4·axis + k leaves, along `axis`, the k-th of the
//! four corners whose bit `axis` is 0. A case has bit c set if corner c is inside.
//!
//! Seen from outside the cell and run around counter-clockwise, a face shows runs of inside corners. A line
//! from the edge before a run to the edge after it cuts the run off: inside corners across a diagonal are
//! always kept apart. The rule depends only on the face, so the cells on both sides draw the same line; every
//! cut edge begins one line and ends another, so the lines of a cell close to loops. Hence the surface is
//! closed for all signs.
//!
//! Loops become triangles. A diagonal that lies in a face of the cell could coincide with a diagonal of the
//! neighbour, and four triangles would share it; such loops get a vertex in their middle instead.

use std::sync::LazyLock;

/// Corner of a triangle: a cut edge of the cell or the middle of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corner {
    Edge(u8),
    Middle(u8),
}

/// How the surface runs through a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    /// Loops that need a vertex in their middle, as edges.
    pub middles: Vec<Vec<u8>>,
    /// Triangles looking from inside to outside.
    pub triangles: Vec<[Corner; 3]>,
}

/// All cases by the set of inside corners.
pub(super) static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| (0..=255).map(case).collect());

/// Number of the edge between two neighbouring corners.
fn edge_between(a: u8, b: u8) -> u8 {
    let axis = (a ^ b).trailing_zeros() as u8;
    let low = a.min(b);
    // The two other bits, in order.
    let below = low & ((1 << axis) - 1);
    let above = low >> (axis + 1);
    4 * axis + below + (above << axis)
}

/// First corner and axis of an edge; the second corner has the bit of the axis set.
pub(super) fn edge_start(edge: u8) -> (u8, u8) {
    let (axis, rest) = (edge / 4, edge % 4);
    let below = rest & ((1 << axis) - 1);
    let above = rest >> axis;
    (below + (above << (axis + 1)), axis)
}

/// Corners of the six faces, counter-clockwise seen from outside the cell.
fn faces() -> [[u8; 4]; 6] {
    std::array::from_fn(|i| {
        let (axis, far) = (i as u8 / 2, i % 2 == 1);
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        if far { [0, u, u + v, v].map(|c| c + (1 << axis)) } else { [0, v, u + v, u] }
    })
}

fn case(inside_corners: u8) -> Case {
    let inside = |corner: u8| inside_corners >> corner & 1 == 1;
    let mut next = [None; 12];
    for face in faces() {
        for i in 0..4 {
            // A run begins where the corner before it is outside.
            if inside(face[(i + 3) % 4]) || !inside(face[i]) {
                continue;
            }
            let mut end = i;
            while inside(face[(end + 1) % 4]) {
                end += 1;
            }
            let entry = edge_between(face[(i + 3) % 4], face[i]);
            next[entry as usize] = Some(edge_between(face[end % 4], face[(end + 1) % 4]));
        }
    }
    let mut result = Case::default();
    for start in 0..12 {
        let mut ring = Vec::new();
        let mut edge = start;
        while let Some(following) = next[edge as usize].take() {
            ring.push(edge);
            edge = following;
        }
        if !ring.is_empty() {
            result.add_loop(&ring);
        }
    }
    result
}

impl Case {
    fn add_loop(&mut self, ring: &[u8]) {
        let count = ring.len();
        let apex = (0..count)
            .find(|&apex| (2..count - 1).all(|step| !share_a_face(ring[apex], ring[(apex + step) % count])));
        if let Some(apex) = apex {
            let corner = |step: usize| Corner::Edge(ring[(apex + step) % count]);
            self.triangles.extend((1..count - 1).map(|i| [corner(0), corner(i), corner(i + 1)]));
        } else {
            let middle = Corner::Middle(self.middles.len() as u8);
            self.middles.push(ring.to_vec());
            self.triangles.extend(
                (0..count).map(|i| [middle, Corner::Edge(ring[i]), Corner::Edge(ring[(i + 1) % count])]),
            );
        }
    }
}

/// Whether some face of the cell holds both edges.
fn share_a_face(a: u8, b: u8) -> bool {
    let ends = |edge: u8| {
        let (corner, axis) = edge_start(edge);
        [corner, corner | 1 << axis]
    };
    let holds = |face: &[u8; 4], edge: u8| ends(edge).iter().all(|corner| face.contains(corner));
    faces().iter().any(|face| holds(face, a) && holds(face, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_have_two_names_for_the_same_thing() {
        for edge in 0..12 {
            let (corner, axis) = edge_start(edge);
            assert_eq!(corner >> axis & 1, 0);
            assert_eq!(edge_between(corner, corner | 1 << axis), edge);
        }
    }

    #[test]
    fn every_cut_edge_is_a_corner_and_uncut_edges_are_none() {
        for (signs, case) in CASES.iter().enumerate() {
            for edge in 0..12 {
                let (corner, axis) = edge_start(edge);
                let cut = (signs >> corner & 1) != (signs >> (corner | 1 << axis) & 1);
                assert_eq!(case.triangles.iter().flatten().any(|&c| c == Corner::Edge(edge)), cut);
            }
        }
        assert!(CASES[0].triangles.is_empty() && CASES[255].triangles.is_empty());
        assert_eq!(CASES[1].triangles.len(), 1);
    }
}
