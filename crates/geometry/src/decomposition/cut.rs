//! Cutting a part along a cut face.
//!
//! Edges that the outline crosses get a vertex there, faces it runs through are split along it. The outline
//! is then a closed path of edges. Every vertex on it is doubled, one copy for the faces on the upper side
//! and one for those below, and both gaps are closed by the cut face, looking down above and up below.
//! Nothing is decided by coordinates here, so both sides stay closed. Usually two pieces result; a ring cut
//! through once is still one.

use std::collections::HashMap;

use glam::DVec3;

use super::part::{Face, Part, before};
use super::section::{CutFace, Node, Way};
use crate::{polygon_area_vector, triangulate_face};

/// Part and cut face ⇒ pieces; None if the path is not one of edges after all. Appends the normals of the two
/// new sides.
pub(super) fn cut(part: &Part, face: &CutFace, normals: &mut Vec<DVec3>) -> Option<Vec<Part>> {
    let mut vertices = part.vertices.clone();
    let mut new_vertex = HashMap::new();
    let mut path = Vec::with_capacity(face.corners.len());
    for (&(node, _), &point) in face.corners.iter().zip(&face.points) {
        path.push(match node {
            Node::Vertex(v) => v,
            Node::Crossing(side) => {
                vertices.push(point);
                let v = vertices.len() as u32 - 1;
                new_vertex.insert(side, v);
                new_vertex.insert(part.twins[side as usize], v);
                v
            }
        });
    }
    let mut split = HashMap::new();
    for (i, &(_, way)) in face.corners.iter().enumerate() {
        if let Way::Through(f) = way {
            split.insert(f, (path[i], path[(i + 1) % path.len()]));
        }
    }
    let mut faces = Vec::with_capacity(part.faces.len() + 2 * split.len() + 2 * path.len());
    for (f, old) in (0u32..).zip(&part.faces) {
        match split.get(&f) {
            None => faces.push(*old),
            Some(&(from, to)) => {
                let mut outline = Vec::with_capacity(5);
                for i in 0..3 {
                    outline.push(old.corners[i as usize]);
                    outline.extend(new_vertex.get(&(3 * f + i)));
                }
                split_outline(&outline, from, to, old.plane, &vertices, &mut faces)?;
            }
        }
    }
    let upper = double_path(&mut vertices, &mut faces, &path)?;
    for (outline, normal) in
        [(path.clone(), face.plane.normal), (upper.into_iter().rev().collect(), -face.plane.normal)]
    {
        let plane = normals.len() as u32;
        normals.push(normal);
        let mut triangles = Vec::new();
        triangulate_face(&vertices, &outline, &mut triangles);
        // An outline that touches itself has no ears to cut off: some triangles come out reversed.
        let turned = |t: &[u32; 3]| polygon_area_vector(&vertices, t).dot(normal) < -part.short * part.short;
        if triangles.iter().any(turned) {
            return None;
        }
        faces.extend(triangles.into_iter().map(|corners| Face { corners, plane }));
    }
    Some(Part::new(vertices, faces, part.short)?.separated())
}

/// Splits the outline of a face along the line between two of its corners and appends the triangles of both
/// halves.
fn split_outline(
    outline: &[u32],
    from: u32,
    to: u32,
    plane: u32,
    vertices: &[DVec3],
    faces: &mut Vec<Face>,
) -> Option<()> {
    let place = |v: u32| outline.iter().position(|&o| o == v);
    for (first, last) in [(place(from)?, place(to)?), (place(to)?, place(from)?)] {
        let count = (last + outline.len() - first) % outline.len() + 1;
        let half: Vec<u32> = (0..count).map(|i| outline[(first + i) % outline.len()]).collect();
        let mut push = |corners: [u32; 3]| faces.push(Face { corners, plane });
        match *half {
            [a, b, c] => push([a, b, c]),
            [a, b, c, d] => {
                let length = |i: u32, j: u32| vertices[i as usize].distance_squared(vertices[j as usize]);
                if length(a, c) <= length(b, d) {
                    push([a, b, c]);
                    push([a, c, d]);
                } else {
                    push([a, b, d]);
                    push([b, c, d]);
                }
            }
            _ => return None,
        }
    }
    Some(())
}

/// Gives the faces above the path their own copies of its vertices ⇒ the copies, in order.
fn double_path(vertices: &mut Vec<DVec3>, faces: &mut [Face], path: &[u32]) -> Option<Vec<u32>> {
    let whole = Part::new(vertices.clone(), faces.to_vec(), 0.0)?;
    let mut side_of = HashMap::with_capacity(path.len());
    let on_path: HashMap<(u32, u32), usize> =
        (0..path.len()).map(|i| ((path[i], path[(i + 1) % path.len()]), i)).collect();
    for side in 0..whole.twins.len() as u32 {
        let [a, b] = whole.ends(side);
        if let Some(&i) = on_path.get(&(a, b)) {
            side_of.insert(i, side);
        }
    }
    let mut copies = Vec::with_capacity(path.len());
    for (i, &v) in path.iter().enumerate() {
        let copy = vertices.len() as u32;
        vertices.push(vertices[v as usize]);
        copies.push(copy);
        // The faces above lie between the way out of the vertex and the way into it.
        let incoming = *side_of.get(&((i + path.len() - 1) % path.len()))?;
        let mut side = *side_of.get(&i)?;
        for _ in 0..=whole.faces.len() {
            faces[side as usize / 3].corners[side as usize % 3] = copy;
            if before(side) == incoming {
                break;
            }
            side = whole.twins[before(side) as usize];
        }
    }
    Some(copies)
}
