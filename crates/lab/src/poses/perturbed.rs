//! Perturbed quasi-static estimates: a part at rest is disturbed, and leaves faces whose edges are near.
//!
//! Both models move probability from face i to faces of lower poses, in one pass by decreasing height; θ is the angle of the disturbance.
//!
//! - `Cone`: gravity, seen from the part, is uniform in a cone of half-angle θ about the normal n_i. The share of the cone whose rays leave
//!   the hull through face k goes to the end of k's topple chain, if that is lower than i. For one straight edge at the angle δ this is
//!   t = [acos(sin δ/sin θ) − cos θ acos(tan δ/tan θ)] / (π (1 − cos θ)).
//! - `EdgeStrip`: of the directions that leave through face i, those within θ of (the plane through c of) an edge to a lower pose go there, each over the
//!   nearest such edge. A face that is narrower than 2θ is left altogether, as in the source's tables.

use super::PoseError;
use super::landscape::Landscape;
use super::part::{Part, check};
use super::quasi_static::{by_pose, quasi_static_by_face};
use super::spherical::{cap_area, clip, polygon_area};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Half-angle that the source used in all experiments, rad: 20°.
pub const SOURCE_ANGLE: f64 = 20.0 * std::f64::consts::PI / 180.0;

/// How a disturbance is modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disturbance {
    /// Gravity in a cone about the normal.
    Cone,
    /// Directions near the edges.
    EdgeStrip,
}

/// (part, its poses, model, half-angle θ in rad) ⇒ probability of each pose.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::generate;
/// use rattleback_lab::poses::{Disturbance, Landscape, Part, PartOptions, perturbed};
/// let brick = generate::cuboid(DVec3::new(0.5, 1.0, 1.5))?;
/// let part = Part::from_soup(&brick, &PartOptions::default())?;
/// let poses = Landscape::of(&part, 0.0)?;
/// let p = perturbed(&part, &poses, Disturbance::Cone, 20_f64.to_radians())?;
/// assert!((p[0] + p[1] - 0.6480167627).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn perturbed(
    part: &Part,
    landscape: &Landscape,
    disturbance: Disturbance,
    theta: f64,
) -> Result<Vec<f64>, PoseError> {
    check("half-angle", theta, (0.0..FRAC_PI_2).contains(&theta), "from 0 to below 90°")?;
    let faces = &landscape.faces;
    let mut p = quasi_static_by_face(part, faces);
    let mut moves = Vec::new();
    for &face in &faces.by_height {
        let face = face as usize;
        if p[face] == 0.0 || theta == 0.0 {
            continue;
        }
        moves.clear();
        match disturbance {
            Disturbance::Cone => cone(part, landscape, face, theta, &mut moves),
            Disturbance::EdgeStrip => strips(part, landscape, face, theta, &mut moves),
        }
        let from = p[face];
        for &(to, share) in &moves {
            let moved = from * share;
            p[face] -= moved;
            p[to] += moved;
        }
        // A face that is left altogether is left exactly.
        if moves.iter().map(|(_, share)| share).sum::<f64>() > 1.0 - 1e-12 {
            p[face] = 0.0;
        }
    }
    Ok(by_pose(landscape, &p))
}

/// Heights that differ by less than this fraction are equal: files are in single precision.
const SAME_HEIGHT: f64 = 1e-5;

/// The lower face of another pose that a face leads to.
fn lower_end(landscape: &Landscape, from: usize, through: usize) -> Option<usize> {
    let end = landscape.faces.all[through].end as usize;
    let lower = landscape.faces.all[end].height < (1.0 - SAME_HEIGHT) * landscape.faces.all[from].height;
    (lower && landscape.end_of(through) != landscape.end_of(from)).then_some(end)
}

/// Shares of the cone about n_i that leave through other faces, found from neighbour to neighbour.
fn cone(part: &Part, landscape: &Landscape, face: usize, theta: f64, moves: &mut Vec<(usize, f64)>) {
    let (hull, faces) = (part.hull(), &landscape.faces);
    let (u, whole) = (faces.all[face].normal, TAU * (1.0 - theta.cos()));
    let mut seen = HashSet::from([face as u32]);
    let mut stack = vec![face as u32];
    while let Some(at) = stack.pop() {
        for edge in hull.face_edges(at as usize) {
            let edge = &hull.edges()[*edge as usize];
            let beyond = if edge.faces[0] == at { edge.faces[1] } else { edge.faces[0] };
            let ends = edge.vertices.map(|v| faces.directions[v as usize]);
            if nearest_cosine(u, ends) <= theta.cos() || !seen.insert(beyond) {
                continue;
            }
            stack.push(beyond);
            if let Some(end) = lower_end(landscape, face, beyond as usize) {
                let share = cap_area(u, theta, &faces.polygon(part, beyond as usize)) / whole;
                moves.push((end, share));
            }
        }
    }
}

/// Cosine of the angle between u and the nearest point of an arc.
fn nearest_cosine(u: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let ends = u.dot(a).max(u.dot(b));
    let Some(axis) = a.cross(b).try_normalize() else { return ends };
    let foot = u - axis * axis.dot(u);
    if axis.cross(a).dot(foot) > 0.0 && b.cross(axis).dot(foot) > 0.0 { foot.length() } else { ends }
}

/// Shares of the face's directions within θ of each edge to a lower pose.
fn strips(part: &Part, landscape: &Landscape, face: usize, theta: f64, moves: &mut Vec<(usize, f64)>) {
    let (hull, faces) = (part.hull(), &landscape.faces);
    let corners = hull.face(face);
    let polygon = faces.polygon(part, face);
    let area = polygon_area(&polygon);
    if area <= 0.0 {
        return;
    }
    // Inward normals of the planes through c and the edges that lead to lower poses.
    let lower: Vec<(usize, DVec3)> = hull
        .face_edges(face)
        .iter()
        .enumerate()
        .filter_map(|(side, edge)| {
            let [left, right] = hull.edges()[*edge as usize].faces;
            let beyond = if left as usize == face { right } else { left };
            let end = lower_end(landscape, face, beyond as usize)?;
            let (a, b) = (corners[side] as usize, corners[(side + 1) % corners.len()] as usize);
            Some((end, faces.directions[a].cross(faces.directions[b]).try_normalize()?))
        })
        .collect();
    for (index, (end, n)) in lower.iter().enumerate() {
        // Where this edge is the nearest: between planes through c again.
        let mut cell = polygon.clone();
        for (_, other) in lower.iter().enumerate().filter(|(k, _)| *k != index).map(|(_, l)| l) {
            cell = clip(&cell, *other - *n);
        }
        if cell.len() < 3 {
            continue;
        }
        let inner = cap_area(*n, FRAC_PI_2 - theta, &cell);
        let share = (polygon_area(&cell) - inner) / area;
        if share > 0.0 {
            moves.push((*end, share));
        }
    }
}
