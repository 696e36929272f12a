//! Topology of a polygon soup: closed, oriented, manifold, genus, and the first place where it is not.
//!
//! Every side of a face is a directed edge. Sorted by their undirected name, the sides of an edge are
//! adjacent: a closed surface has two of them per edge, an oriented one has them in opposite directions. The
//! corners of the faces around a vertex are joined across manifold edges; a vertex whose corners fall into
//! several sets is where separate fans touch. For a closed oriented manifold the Euler characteristic V − E +
//! F = 2 (components − genus).

use glam::DVec3;
use rattleback_numerics::UnionFind;
use serde::Serialize;

use crate::{MAX_LENGTH, MeshError, PolygonSoup, VolumeIntegrals, polygon_area_vector};

/// Largest number of vertices or face corners of a mesh.
pub(crate) const MAX_ELEMENTS: usize = (u32::MAX / 4) as usize;

/// Findings about a polygon soup. `first_…` fields name the first offender, in order of faces or vertices.
///
/// ```
/// use rattleback_geometry::{MeshReport, generate};
/// let torus = generate::torus(2.0, 0.5, 24, 12)?.to_soup();
/// let report = MeshReport::of(&torus)?;
/// assert!(report.is_solid());
/// assert_eq!(report.genus, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a separate finding about the surface")]
pub struct MeshReport {
    /// Number of vertices that a face uses.
    pub vertices: usize,
    /// Number of undirected edges.
    pub edges: usize,
    /// Number of faces.
    pub faces: usize,
    /// No edge has exactly one face.
    pub closed: bool,
    /// The faces of every two-faced edge run along it in opposite directions.
    pub oriented: bool,
    /// No edge has more than two faces.
    pub manifold_edges: bool,
    /// The faces around every vertex form one fan.
    pub manifold_vertices: bool,
    /// Faces with repeated corners or (relative to their size) no area.
    pub degenerate_faces: usize,
    /// Faces with the same set of corners as an earlier one.
    pub duplicate_faces: usize,
    /// Pieces not joined by a vertex.
    pub components: usize,
    /// V − E + F over used vertices.
    pub euler_characteristic: i64,
    /// Total number of handles, for closed oriented manifolds.
    pub genus: Option<usize>,
    /// Closed and oriented with negative volume.
    pub inverted: bool,
    /// Signed volume, for closed oriented surfaces.
    pub volume: Option<f64>,
    /// First edge with one face.
    pub first_open_edge: Option<[u32; 2]>,
    /// First edge with more than two faces, and how many.
    pub first_non_manifold_edge: Option<([u32; 2], usize)>,
    /// First vertex where separate fans touch.
    pub first_non_manifold_vertex: Option<u32>,
    /// First edge whose two faces run the same way.
    pub first_inconsistent_edge: Option<[u32; 2]>,
    /// First degenerate face.
    pub first_degenerate_face: Option<usize>,
    /// First repeated face, and the face it repeats.
    pub first_duplicate_face: Option<(usize, usize)>,
}

/// One side of a face: the undirected edge, the side's place in the soup, and whether it runs from low to
/// high index.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    pub low: u32,
    pub high: u32,
    pub corner: u32,
    pub face: u32,
    pub forward: bool,
}

/// Coordinates finite and bounded, indices in range, not empty.
pub(crate) fn check_elements<'a>(
    vertices: &[DVec3],
    faces: impl Iterator<Item = &'a [u32]>,
) -> Result<(), MeshError> {
    let mut corners = 0;
    for (face, indices) in faces.enumerate() {
        corners += indices.len();
        if let Some(&index) = indices.iter().find(|&&i| i as usize >= vertices.len()) {
            return Err(MeshError::IndexOutOfRange { face, index, vertices: vertices.len() });
        }
    }
    if corners == 0 || vertices.is_empty() {
        return Err(MeshError::Empty);
    }
    for (what, count) in [("vertices", vertices.len()), ("face corners", corners)] {
        if count > MAX_ELEMENTS {
            return Err(MeshError::TooManyElements { what, count, allowed: MAX_ELEMENTS });
        }
    }
    for (vertex, p) in vertices.iter().enumerate() {
        if !p.is_finite() {
            return Err(MeshError::NonFinite { vertex });
        }
        if p.abs().max_element() > MAX_LENGTH {
            return Err(MeshError::TooLarge { vertex });
        }
    }
    Ok(())
}

/// All sides of all faces, sorted so that the sides of one edge are adjacent, in order of faces.
///
/// A counting sort by the lower vertex leaves runs of a few sides each, so the time is linear in practice.
pub(crate) fn sorted_sides<'a>(faces: impl Iterator<Item = &'a [u32]> + Clone, vertices: usize) -> Vec<Side> {
    let pairs = |face: &'a [u32]| (0..face.len()).map(move |i| (face[i], face[(i + 1) % face.len()]));
    let mut starts = vec![0u32; vertices + 1];
    for (from, to) in faces.clone().flat_map(pairs) {
        starts[from.min(to) as usize + 1] += 1;
    }
    for i in 0..vertices {
        starts[i + 1] += starts[i];
    }
    let blank = Side { low: 0, high: 0, corner: 0, face: 0, forward: false };
    let mut sides = vec![blank; starts[vertices] as usize];
    let mut next = starts.clone();
    let mut corner = 0u32;
    for (face, indices) in faces.enumerate() {
        for (from, to) in pairs(indices) {
            let (low, high) = (from.min(to), from.max(to));
            let place = &mut next[low as usize];
            sides[*place as usize] = Side { low, high, corner, face: face as u32, forward: from < to };
            *place += 1;
            corner += 1;
        }
    }
    for run in starts.windows(2) {
        sides[run[0] as usize..run[1] as usize].sort_unstable();
    }
    sides
}

impl MeshReport {
    /// Soup ⇒ findings; fails only where the soup is not even a list of polygons (indices, coordinates,
    /// empty).
    pub fn of(soup: &PolygonSoup) -> Result<Self, MeshError> {
        check_elements(&soup.vertices, soup.faces())?;
        let sides = sorted_sides(soup.faces(), soup.vertices.len());
        let corners: Vec<u32> = soup.faces().flatten().copied().collect();
        let next_corner = next_corners(soup);

        let mut report = Self::blank(soup.face_count());
        let mut fans = UnionFind::new(corners.len());
        let mut pieces = UnionFind::new(soup.vertices.len());
        for group in sides.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
            let edge = [group[0].low, group[0].high];
            pieces.union(edge[0], edge[1]);
            if edge[0] == edge[1] {
                continue; // A repeated corner: counted with the degenerate faces.
            }
            report.edges += 1;
            match group {
                [_] => first(&mut report.first_open_edge, edge),
                [a, b] => {
                    if a.forward == b.forward {
                        first(&mut report.first_inconsistent_edge, edge);
                    }
                    for vertex in edge {
                        let at = |side: &Side| {
                            let c = side.corner;
                            if corners[c as usize] == vertex { c } else { next_corner[c as usize] }
                        };
                        fans.union(at(a), at(b));
                    }
                }
                more => first(&mut report.first_non_manifold_edge, (edge, more.len())),
            }
        }
        report.closed = report.first_open_edge.is_none();
        report.oriented = report.first_inconsistent_edge.is_none();
        report.manifold_edges = report.first_non_manifold_edge.is_none();
        report.inspect_vertices(&corners, &mut fans, &mut pieces, soup.vertices.len());
        report.inspect_faces(soup);
        let signed = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        report.euler_characteristic = signed(report.vertices) - signed(report.edges) + signed(report.faces);
        if report.closed && report.oriented && report.manifold_edges {
            let volume = VolumeIntegrals::of_soup(soup).t1;
            report.volume = Some(volume);
            report.inverted = volume < 0.0;
            let twice_genus = 2 * signed(report.components) - report.euler_characteristic;
            if report.manifold_vertices && twice_genus >= 0 && twice_genus % 2 == 0 {
                report.genus = Some((twice_genus / 2) as usize);
            }
        }
        Ok(report)
    }

    /// Whether the surface bounds a solid: closed, oriented outwards, manifold.
    pub fn is_solid(&self) -> bool {
        self.closed && self.oriented && self.manifold_edges && self.manifold_vertices && !self.inverted
    }

    /// The first reason why this is not the boundary of a solid with sound faces, if there is one.
    pub fn first_error(&self) -> Option<MeshError> {
        let mut errors = [
            self.first_degenerate_face.map(|face| MeshError::DegenerateFace { face }),
            self.first_duplicate_face.map(|(face, first)| MeshError::DuplicateFace { face, first }),
            self.first_topology_error(),
        ];
        errors.iter_mut().find_map(Option::take)
    }

    /// As `first_error`, but indifferent to faces without area and to repeated faces.
    pub fn first_topology_error(&self) -> Option<MeshError> {
        let mut errors = [
            self.first_non_manifold_edge.map(|(edge, faces)| MeshError::NonManifoldEdge { edge, faces }),
            self.first_open_edge.map(|edge| MeshError::Open { edge }),
            self.first_inconsistent_edge.map(|edge| MeshError::InconsistentWinding { edge }),
            self.first_non_manifold_vertex.map(|vertex| MeshError::NonManifoldVertex { vertex }),
            self.volume.filter(|volume| *volume < 0.0).map(|volume| MeshError::Inverted { volume }),
        ];
        errors.iter_mut().find_map(Option::take)
    }

    fn blank(faces: usize) -> Self {
        Self {
            vertices: 0,
            edges: 0,
            faces,
            closed: false,
            oriented: false,
            manifold_edges: false,
            manifold_vertices: false,
            degenerate_faces: 0,
            duplicate_faces: 0,
            components: 0,
            euler_characteristic: 0,
            genus: None,
            inverted: false,
            volume: None,
            first_open_edge: None,
            first_non_manifold_edge: None,
            first_non_manifold_vertex: None,
            first_inconsistent_edge: None,
            first_degenerate_face: None,
            first_duplicate_face: None,
        }
    }

    /// Counts used vertices and pieces, and finds vertices whose corners fall into several fans.
    fn inspect_vertices(
        &mut self,
        corners: &[u32],
        fans: &mut UnionFind,
        pieces: &mut UnionFind,
        count: usize,
    ) {
        let mut fan_of_vertex = vec![u32::MAX; count];
        for (corner, &vertex) in corners.iter().enumerate() {
            let fan = fans.find(corner as u32);
            let known = &mut fan_of_vertex[vertex as usize];
            if *known == u32::MAX {
                *known = fan;
                self.vertices += 1;
                if pieces.find(vertex) == vertex {
                    self.components += 1;
                }
            } else if *known != fan {
                let earlier = self.first_non_manifold_vertex.unwrap_or(u32::MAX);
                self.first_non_manifold_vertex = Some(earlier.min(vertex));
            }
        }
        self.manifold_vertices = self.first_non_manifold_vertex.is_none();
    }

    fn inspect_faces(&mut self, soup: &PolygonSoup) {
        // Faces with the same corners agree in this key; the few that agree are compared in full.
        let mut keys: Vec<([u64; 3], usize)> = Vec::with_capacity(soup.face_count());
        for (i, face) in soup.faces().enumerate() {
            if is_degenerate(&soup.vertices, face) {
                self.degenerate_faces += 1;
                first(&mut self.first_degenerate_face, i);
            }
            let (mut low, mut high, mut sum) = (u64::MAX, 0, 0);
            for &v in face {
                (low, high, sum) = (low.min(v.into()), high.max(v.into()), sum + u64::from(v));
            }
            keys.push(([low, high, sum], i));
        }
        keys.sort_unstable();
        for group in keys.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
            let mut names: Vec<(Vec<u32>, usize)> = group
                .iter()
                .map(|&(_, i)| {
                    let mut name = soup.face(i).to_vec();
                    name.sort_unstable();
                    (name, i)
                })
                .collect();
            names.sort_unstable();
            for same in names.chunk_by(|a, b| a.0 == b.0) {
                self.duplicate_faces += same.len() - 1;
                if let [original, repeated, ..] = same {
                    let found = (repeated.1, original.1);
                    let earlier = self.first_duplicate_face.unwrap_or(found);
                    self.first_duplicate_face = Some(earlier.min(found));
                }
            }
        }
    }
}

/// Keeps the first find.
fn first<T>(slot: &mut Option<T>, found: T) {
    if slot.is_none() {
        *slot = Some(found);
    }
}

/// For each corner of the soup the next corner of the same face.
fn next_corners(soup: &PolygonSoup) -> Vec<u32> {
    let mut next = Vec::new();
    for face in soup.faces() {
        let start = next.len() as u32;
        let count = face.len() as u32;
        next.extend((0..count).map(|i| start + (i + 1) % count));
    }
    next
}

/// Fewer than three corners, a repeated corner, or an area of rounding size against the face's own extent.
pub(crate) fn is_degenerate(vertices: &[DVec3], face: &[u32]) -> bool {
    if face.len() < 3 || has_repeated_corner(face) {
        return true;
    }
    let origin = vertices[face[0] as usize];
    let extent = face.iter().map(|&i| (vertices[i as usize] - origin).length()).fold(0.0, f64::max);
    !(polygon_area_vector(vertices, face).length() > 1e-14 * extent * extent)
}

/// Whether a corner occurs twice in the loop.
pub(crate) fn has_repeated_corner(face: &[u32]) -> bool {
    if let &[a, b, c] = face {
        return a == b || b == c || c == a;
    }
    let mut sorted = face.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    fn cube() -> PolygonSoup {
        generate::cuboid(DVec3::ONE).unwrap()
    }

    #[test]
    fn a_cube_is_a_sphere_to_a_topologist() {
        let report = MeshReport::of(&cube()).unwrap();
        assert!(report.is_solid());
        assert_eq!((report.vertices, report.edges, report.faces), (8, 12, 6));
        assert_eq!((report.euler_characteristic, report.genus, report.components), (2, Some(0), 1));
        assert_eq!(report.first_error(), None);
        assert!((report.volume.unwrap() - 8.0).abs() < 1e-14);
    }

    #[test]
    fn a_missing_face_leaves_an_open_edge() {
        let whole = cube();
        let mut open = PolygonSoup::new(whole.vertices.clone());
        (0..5).for_each(|i| open.push_face(whole.face(i)));
        let report = MeshReport::of(&open).unwrap();
        assert!(!report.closed && report.oriented && report.manifold_edges && report.manifold_vertices);
        let Some(MeshError::Open { edge }) = report.first_error() else {
            panic!("{:?}", report.first_error())
        };
        assert!(edge.iter().all(|v| whole.face(5).contains(v)));
    }

    #[test]
    fn a_reversed_face_is_inconsistent_and_all_reversed_is_inverted() {
        let whole = cube();
        let (mut one, mut all) =
            (PolygonSoup::new(whole.vertices.clone()), PolygonSoup::new(whole.vertices.clone()));
        for (i, face) in whole.faces().enumerate() {
            let mut reversed = face.to_vec();
            reversed.reverse();
            one.push_face(if i == 2 { &reversed } else { face });
            all.push_face(&reversed);
        }
        assert!(matches!(
            MeshReport::of(&one).unwrap().first_error(),
            Some(MeshError::InconsistentWinding { .. })
        ));
        assert!(matches!(MeshReport::of(&all).unwrap().first_error(), Some(MeshError::Inverted { .. })));
    }

    #[test]
    fn two_tetrahedra_at_a_vertex_or_an_edge_are_not_manifold() {
        let tetrahedron = [[0u32, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z];
        let with = |map: [u32; 4]| {
            let mut soup = PolygonSoup::from_triangles(points.clone(), &tetrahedron);
            for t in tetrahedron {
                soup.push_face(&t.map(|i| map[i as usize]));
            }
            MeshReport::of(&soup).unwrap()
        };
        let at_vertex = with([0, 5, 4, 6]);
        assert_eq!(at_vertex.first_non_manifold_vertex, Some(0));
        assert_eq!(at_vertex.components, 1);
        let at_edge = with([0, 1, 5, 6]);
        assert_eq!(at_edge.first_non_manifold_edge, Some(([0, 1], 4)));
        let twice = with([0, 1, 2, 3]);
        assert_eq!((twice.duplicate_faces, twice.first_duplicate_face), (4, Some((4, 0))));
    }

    #[test]
    fn nonsense_is_named() {
        assert_eq!(MeshReport::of(&PolygonSoup::default()), Err(MeshError::Empty));
        let bad_index = PolygonSoup::from_triangles(vec![DVec3::ZERO; 3], &[[0, 1, 3]]);
        assert_eq!(
            MeshReport::of(&bad_index),
            Err(MeshError::IndexOutOfRange { face: 0, index: 3, vertices: 3 })
        );
        let not_finite = PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::NAN, DVec3::X], &[[0, 1, 2]]);
        assert_eq!(MeshReport::of(&not_finite), Err(MeshError::NonFinite { vertex: 1 }));
        let flat = PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X], &[[0, 1, 2]]);
        assert_eq!(MeshReport::of(&flat).unwrap().first_degenerate_face, Some(0));
    }
}
