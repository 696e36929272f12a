//! Preconditions of a decomposition: a closed manifold without voids or self-intersections, with convex
//! faces.

use std::cmp::Ordering;

use glam::DVec3;
use rattleback_numerics::UnionFind;

use super::DecompositionError;
use crate::mesh_report::{check_elements, has_repeated_corner};
use crate::orientation::orientation;
use crate::{MeshError, MeshReport, PolygonSoup, TriangleMesh, polygon_area_vector, triangulate_face};

/// Polygons ⇒ triangles, if every face is a convex polygon without holes and the surface bounds a solid.
pub(super) fn checked_triangles(soup: &PolygonSoup) -> Result<TriangleMesh, DecompositionError> {
    // A hole is encoded by a loop that runs to it and back; the report would only call such a face
    // degenerate.
    for (index, face) in soup.faces().enumerate() {
        if face.len() > 4 && has_repeated_corner(face) {
            return Err(DecompositionError::FaceWithHole { face: index });
        }
    }
    if let Some(error) = MeshReport::of(soup)?.first_error() {
        return Err(error.into());
    }
    for (index, face) in soup.faces().enumerate() {
        if !is_convex(&soup.vertices, face) {
            return Err(DecompositionError::NonConvexFace { face: index });
        }
    }
    Ok(TriangleMesh::from_soup(soup)?)
}

fn is_convex(vertices: &[DVec3], face: &[u32]) -> bool {
    let normal = polygon_area_vector(vertices, face).normalize_or_zero();
    let at = |i: usize| vertices[face[i % face.len()] as usize];
    let mut turning = 0.0;
    for i in 0..face.len() {
        let (before, after) = (at(i + 1) - at(i), at(i + 2) - at(i + 1));
        let turn = before.cross(after).dot(normal).atan2(before.dot(after));
        // Straight corners may bend back by rounding.
        if turn < -1e-9 {
            return false;
        }
        turning += turn;
    }
    // A star that winds around twice turns left at every corner.
    turning < 3.0 * std::f64::consts::PI
}

/// Checks that a mesh is solid, sound in every face, and without voids; with `thorough` also that it does not
/// go through itself.
pub(super) fn check_solid(mesh: &TriangleMesh, thorough: bool) -> Result<(), DecompositionError> {
    if let Some(error) = mesh.report()?.first_error() {
        return Err(error.into());
    }
    check_shells(mesh)?;
    if !thorough {
        return Ok(());
    }
    if let Some(faces) = crossing_faces(mesh) {
        return Err(DecompositionError::SelfIntersecting { faces });
    }
    let shells = shells(mesh);
    if shells.len() > 1 {
        return check_shells_apart(mesh, &shells);
    }
    Ok(())
}

/// Checks that no shell has inward normals.
pub(super) fn check_shells(mesh: &TriangleMesh) -> Result<(), DecompositionError> {
    for shell in shells(mesh) {
        let volume: f64 = shell.iter().map(|&f| signed_volume(mesh, f)).sum();
        if volume < 0.0 {
            return Err(DecompositionError::InteriorVoid { vertex: mesh.triangles()[shell[0]][0] });
        }
    }
    Ok(())
}

/// Triangles of each connected piece.
fn shells(mesh: &TriangleMesh) -> Vec<Vec<usize>> {
    let mut sets = UnionFind::new(mesh.vertices().len());
    for &[a, b, c] in mesh.triangles() {
        sets.union(a, b);
        sets.union(b, c);
    }
    let mut order: Vec<(u32, usize)> =
        mesh.triangles().iter().enumerate().map(|(f, t)| (sets.find(t[0]), f)).collect();
    order.sort_unstable();
    order.chunk_by(|a, b| a.0 == b.0).map(|shell| shell.iter().map(|&(_, f)| f).collect()).collect()
}

fn signed_volume(mesh: &TriangleMesh, face: usize) -> f64 {
    let origin = mesh.bounds().center();
    let [a, b, c] = mesh.triangle(face).map(|p| p - origin);
    a.dot(b.cross(c)) / 6.0
}

/// Shells that do not cross are nested or apart; nested ones fill space twice.
fn check_shells_apart(mesh: &TriangleMesh, shells: &[Vec<usize>]) -> Result<(), DecompositionError> {
    for outer in shells {
        let triangles = outer.iter().map(|&f| mesh.triangles()[f]).collect();
        let solid = TriangleMesh::new(mesh.vertices().to_vec(), triangles)?;
        for inner in shells.iter().filter(|inner| inner[0] != outer[0]) {
            let [a, b, c] = mesh.triangle(inner[0]);
            if solid.contains((a + b + c) / 3.0) {
                return Err(DecompositionError::SelfIntersecting { faces: [outer[0], inner[0]] });
            }
        }
    }
    Ok(())
}

/// Two triangles of which one has an edge that pierces the other, decided exactly. Triangles that only touch,
/// or overlap in one plane, do not count.
fn crossing_faces(mesh: &TriangleMesh) -> Option<[usize; 2]> {
    let mut boxes: Vec<(DVec3, DVec3, usize)> = (0..mesh.triangles().len())
        .map(|f| {
            let [a, b, c] = mesh.triangle(f);
            (a.min(b).min(c), a.max(b).max(c), f)
        })
        .collect();
    boxes.sort_by(|a, b| a.0.x.total_cmp(&b.0.x).then(a.2.cmp(&b.2)));
    for (i, &(low, high, f)) in boxes.iter().enumerate() {
        for &(other_low, other_high, g) in boxes[i + 1..].iter().take_while(|other| other.0.x <= high.x) {
            if other_low.cmple(high).all()
                && low.cmple(other_high).all()
                && (pierces(mesh, f, g) || pierces(mesh, g, f))
            {
                return Some([f.min(g), f.max(g)]);
            }
        }
    }
    None
}

/// Whether an edge of triangle `f` pierces the interior of triangle `g`.
fn pierces(mesh: &TriangleMesh, f: usize, g: usize) -> bool {
    let [a, b, c] = mesh.triangle(g);
    let corners = mesh.triangle(f);
    (0..3).any(|i| {
        let (p, q) = (corners[i], corners[(i + 1) % 3]);
        let (above, below) = (orientation(a, b, c, p), orientation(a, b, c, q));
        if above == Ordering::Equal || below == Ordering::Equal || above == below {
            return false;
        }
        let turns = [(a, b), (b, c), (c, a)].map(|(u, v)| orientation(p, q, u, v));
        turns[0] != Ordering::Equal && turns[0] == turns[1] && turns[1] == turns[2]
    })
}

/// Cuts faces that are not convex into triangles and keeps the others.
pub(super) fn split_faces(soup: &PolygonSoup) -> Result<PolygonSoup, DecompositionError> {
    check_elements(&soup.vertices, soup.faces())?;
    let mut split = PolygonSoup::new(soup.vertices.clone());
    for (index, face) in soup.faces().enumerate() {
        if face.len() < 3 || has_repeated_corner(face) {
            return Err(MeshError::DegenerateFace { face: index }.into());
        }
        if is_convex(&soup.vertices, face) {
            split.push_face(face);
        } else {
            let mut triangles = Vec::new();
            triangulate_face(&soup.vertices, face, &mut triangles);
            for triangle in &triangles {
                split.push_face(triangle);
            }
        }
    }
    Ok(split)
}
