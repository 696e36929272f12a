//! Merging faces that lie in one plane.
//!
//! From the largest face outwards, a face joins the group of a neighbour if all its corners lie within the
//! tolerance of the plane of the group's first face; measuring against one plane keeps a finely cut curved
//! surface from merging step by step. A group whose rim is one simple loop becomes one polygon; one with
//! holes or touching itself keeps its faces. Afterwards a vertex of only two faces lies in the middle of a
//! straight edge and goes away.

use std::collections::HashMap;

use glam::DVec3;

use crate::mesh_report::{has_repeated_corner, sorted_sides};
use crate::{Aabb, MeshError, MeshReport, PolygonSoup, polygon_area_vector};

const NONE: u32 = u32::MAX;

/// Closed oriented manifold soup ⇒ the same surface with coplanar neighbours merged and unused vertices gone.
///
/// `tolerance` is the largest distance from the common plane as a fraction of the surface's size.
pub fn merge_coplanar(soup: &PolygonSoup, tolerance: f64) -> Result<PolygonSoup, MeshError> {
    if let Some(error) = MeshReport::of(soup)?.first_topology_error() {
        return Err(error);
    }
    // Faces without area merge away, but a loop must be a loop.
    if let Some(face) = soup.faces().position(|face| face.len() < 3 || has_repeated_corner(face)) {
        return Err(MeshError::DegenerateFace { face });
    }
    merge_sound(soup, tolerance)
}

/// As `merge_coplanar`, for a soup known to be closed, oriented and manifold.
pub(crate) fn merge_sound(soup: &PolygonSoup, tolerance: f64) -> Result<PolygonSoup, MeshError> {
    if !(0.0..=0.1).contains(&tolerance) {
        return Err(MeshError::Tolerance { tolerance });
    }
    let bounds = Aabb::from_points(soup.vertices.iter().copied()).map_err(|_| MeshError::Empty)?;
    let reach = bounds.min().abs().max(bounds.max().abs()).max_element();
    let distance = tolerance * bounds.diagonal() + 4.0 * f64::EPSILON * reach;
    let merger = Merger { soup, distance, face_of: faces_of_corners(soup), twin: twins(soup) };
    let groups = merger.groups();
    let loops = merger.loops(&groups);
    Ok(rebuilt(soup, &loops, &straight_vertices(soup, &loops, distance)))
}

/// For each corner (the start of a side) the corner where the opposite side of the same edge starts.
pub(crate) fn twins(soup: &PolygonSoup) -> Vec<u32> {
    let sides = sorted_sides(soup.faces(), soup.vertices.len());
    let mut twin = vec![NONE; sides.len()];
    for pair in sides.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
        if let [a, b] = pair {
            twin[a.corner as usize] = b.corner;
            twin[b.corner as usize] = a.corner;
        }
    }
    twin
}

fn faces_of_corners(soup: &PolygonSoup) -> Vec<u32> {
    soup.faces().enumerate().flat_map(|(face, corners)| corners.iter().map(move |_| face as u32)).collect()
}

struct Merger<'a> {
    soup: &'a PolygonSoup,
    distance: f64,
    face_of: Vec<u32>,
    twin: Vec<u32>,
}

impl Merger<'_> {
    /// Group number of each face: the face it started from.
    fn groups(&self) -> Vec<u32> {
        let soup = self.soup;
        let areas: Vec<DVec3> = soup.faces().map(|face| polygon_area_vector(&soup.vertices, face)).collect();
        let mut starts = Vec::with_capacity(areas.len());
        let mut corner = 0;
        for face in soup.faces() {
            starts.push(corner);
            corner += face.len();
        }
        let neighbors = |face: usize| {
            let sides = starts[face]..starts[face] + soup.face(face).len();
            sides.map(|corner| self.face_of[self.twin[corner] as usize] as usize)
        };
        let joins = |seed: usize, normal: DVec3, next: usize| {
            let origin = soup.vertices[soup.face(seed)[0] as usize];
            let height = |i: u32| (soup.vertices[i as usize] - origin).dot(normal).abs();
            let corners = soup.face(next);
            corners.iter().all(|&i| height(i) <= self.distance) && self.may_join(corners, areas[next], normal)
        };
        let mut group: Vec<u32> = (0..areas.len() as u32).collect();
        // Most faces of most meshes have no neighbour in their plane; the others start groups, large ones
        // first, since their normals are the most reliable.
        let normal = |face: usize| areas[face].normalize_or_zero();
        let mut seeds: Vec<(f64, usize)> = (0..areas.len())
            .filter(|&face| neighbors(face).any(|next| joins(face, normal(face), next)))
            .map(|face| (areas[face].length_squared(), face))
            .collect();
        seeds.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut taken = vec![false; areas.len()];
        let mut stack = Vec::new();
        for (_, seed) in seeds {
            if taken[seed] {
                continue;
            }
            taken[seed] = true;
            stack.push(seed);
            while let Some(face) = stack.pop() {
                for next in neighbors(face) {
                    if !taken[next] && joins(seed, normal(seed), next) {
                        taken[next] = true;
                        group[next] = seed as u32;
                        stack.push(next);
                    }
                }
            }
        }
        group
    }

    /// A face with the opposite normal is the far side of a thin solid. The normal of a sliver is
    /// meaningless.
    fn may_join(&self, corners: &[u32], area: DVec3, normal: DVec3) -> bool {
        if area.dot(normal) > 0.0 {
            return true;
        }
        let at = |i: u32| self.soup.vertices[i as usize];
        let extent = corners.iter().map(|&i| at(i).distance(at(corners[0]))).fold(0.0, f64::max);
        area.length() <= self.distance * extent
    }

    /// The rim of each group as a loop of vertices; groups without one simple rim yield their faces unmerged.
    fn loops(&self, groups: &[u32]) -> PolygonSoup {
        let mut sizes = vec![0u32; groups.len()];
        for &group in groups {
            sizes[group as usize] += 1;
        }
        // Only groups of several faces need a rim; most meshes have few of them.
        let mut rims: HashMap<u32, Vec<[u32; 2]>> = HashMap::new();
        let mut corner = 0;
        for (face, corners) in self.soup.faces().enumerate() {
            let group = groups[face];
            if sizes[group as usize] > 1 {
                let rim = rims.entry(group).or_default();
                for (i, &from) in corners.iter().enumerate() {
                    if groups[self.face_of[self.twin[corner + i] as usize] as usize] != group {
                        rim.push([from, corners[(i + 1) % corners.len()]]);
                    }
                }
            }
            corner += corners.len();
        }
        let rims: HashMap<u32, Option<Vec<u32>>> =
            rims.into_iter().map(|(group, sides)| (group, simple_loop(&sides))).collect();
        let mut loops = PolygonSoup::default();
        for (face, corners) in self.soup.faces().enumerate() {
            match rims.get(&groups[face]) {
                Some(Some(rim)) if groups[face] as usize == face => loops.push_face(rim),
                Some(Some(_)) => {}
                _ => loops.push_face(corners),
            }
        }
        loops
    }
}

/// Directed sides ⇒ the loop they form, if it is one and passes no vertex twice.
fn simple_loop(sides: &[[u32; 2]]) -> Option<Vec<u32>> {
    let mut by_start = sides.to_vec();
    by_start.sort_unstable();
    if by_start.len() < 3 || by_start.windows(2).any(|pair| pair[0][0] == pair[1][0]) {
        return None;
    }
    // Starts where the input starts, so that the outcome does not depend on the sorting.
    let first = sides[0][0];
    let mut corners = vec![first];
    loop {
        let at = by_start.binary_search_by_key(corners.last()?, |side| side[0]).ok()?;
        let next = by_start[at][1];
        if next == first {
            return (corners.len() == sides.len()).then_some(corners);
        }
        if corners.len() == sides.len() {
            return None;
        }
        corners.push(next);
    }
}

/// Which vertices lie in the middle of a straight edge between two faces.
fn straight_vertices(soup: &PolygonSoup, loops: &PolygonSoup, distance: f64) -> Vec<bool> {
    let mut faces_at = vec![0u32; soup.vertices.len()];
    loops.faces().flatten().for_each(|&v| faces_at[v as usize] += 1);
    let is_anchor = |v: u32| faces_at[v as usize] != 2;
    let mut straight = vec![false; soup.vertices.len()];
    for corners in loops.faces() {
        if corners.iter().all(|&v| is_anchor(v)) {
            continue;
        }
        let anchors: Vec<usize> = (0..corners.len()).filter(|&i| is_anchor(corners[i])).collect();
        if anchors.len() < 3 {
            continue;
        }
        for (k, &start) in anchors.iter().enumerate() {
            let end = anchors[(k + 1) % anchors.len()];
            let length = (end + corners.len() - start - 1) % corners.len() + 1;
            let at = |i: usize| soup.vertices[corners[(start + i) % corners.len()] as usize];
            let (a, along) = (at(0), (at(length) - at(0)).normalize_or_zero());
            // The crossing of two planes known within `distance` is known a few times worse.
            if (1..length).all(|i| (at(i) - a).reject_from_normalized(along).length() <= 8.0 * distance) {
                (1..length).for_each(|i| straight[corners[(start + i) % corners.len()] as usize] = true);
            }
        }
    }
    // Never leave a face with fewer than three corners.
    for corners in loops.faces() {
        if corners.iter().filter(|&&v| !straight[v as usize]).count() < 3 {
            for &v in corners {
                straight[v as usize] = false;
            }
        }
    }
    straight
}

/// Loops without the dropped vertices, vertices renumbered in their old order.
fn rebuilt(soup: &PolygonSoup, loops: &PolygonSoup, dropped: &[bool]) -> PolygonSoup {
    let mut index = vec![NONE; soup.vertices.len()];
    for &v in loops.faces().flatten().filter(|&&v| !dropped[v as usize]) {
        index[v as usize] = 0;
    }
    let mut result = PolygonSoup::default();
    for (old, new) in index.iter_mut().enumerate().filter(|(_, new)| **new == 0) {
        *new = result.vertices.len() as u32;
        result.vertices.push(soup.vertices[old]);
    }
    for corners in loops.faces() {
        let kept: Vec<u32> =
            corners.iter().filter(|&&v| !dropped[v as usize]).map(|&v| index[v as usize]).collect();
        result.push_face(&kept);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Polyhedron, TriangleMesh, VolumeIntegrals, generate};

    /// A cube whose faces are cut into n×n squares of two triangles each, rotated and moved.
    fn cut_cube(n: u32) -> PolygonSoup {
        let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.3, 0.7, -1.1);
        let mut soup = PolygonSoup::default();
        let mut index = HashMap::new();
        for axis in 0..3 {
            for top in [0, n] {
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let mut corner = |a: u32, b: u32| {
                        let mut p = [0; 3];
                        (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (top, a, b);
                        *index.entry(p).or_insert_with(|| {
                            soup.vertices.push(turn * DVec3::from_array(p.map(f64::from)) + 5.0);
                            soup.vertices.len() as u32 - 1
                        })
                    };
                    let [a, b, c, d] =
                        [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
                    for [p, q, r] in [[a, b, c], [a, c, d]] {
                        soup.push_face(&if top == n { [p, q, r] } else { [p, r, q] });
                    }
                }
            }
        }
        soup
    }

    #[test]
    fn a_cut_cube_is_merged_again() {
        let cut = cut_cube(7);
        assert_eq!(cut.face_count(), 588);
        let whole = Polyhedron::merged(&cut, 1e-9).unwrap();
        assert_eq!((whole.vertices().len(), whole.edges().len(), whole.face_count()), (8, 12, 6));
        let (before, after) = (VolumeIntegrals::of_soup(&cut), whole.integrals());
        for (a, b) in before.to_array().into_iter().zip(after.to_array()) {
            assert!((a - b).abs() < 1e-11 * before.txx.abs());
        }
    }

    #[test]
    fn curved_surfaces_stay_as_they_are() {
        let sphere = generate::icosphere(4).unwrap().to_soup();
        assert_eq!(merge_coplanar(&sphere, 1e-9).unwrap(), sphere);
    }

    /// The ring-shaped ends of a box with a hole are no simple polygons: they keep their parts, the walls
    /// merge.
    #[test]
    fn faces_with_holes_keep_their_parts() {
        let soup = generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5).unwrap();
        let triangles = TriangleMesh::from_soup(&soup).unwrap().to_soup();
        let merged = Polyhedron::merged(&triangles, 1e-9).unwrap();
        assert_eq!((merged.vertices().len(), merged.face_count()), (16, 8 + 16));
        assert!((merged.integrals().t1 - 6.0).abs() < 1e-13);
    }

    #[test]
    fn open_meshes_and_bad_tolerances_are_refused() {
        let triangle = PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]);
        assert!(matches!(merge_coplanar(&triangle, 1e-9), Err(MeshError::Open { .. })));
        let cube = generate::cuboid(DVec3::ONE).unwrap();
        assert!(matches!(merge_coplanar(&cube, f64::NAN), Err(MeshError::Tolerance { .. })));
    }
}
