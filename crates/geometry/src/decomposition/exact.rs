//! Cutting a solid at its reflex edges until every part is convex (after B. Joe, simplified).
//!
//! For each reflex edge, planes through it are tried in turn. A cut is accepted if it leaves no angle below
//! θ_acc along its outline, no vertex nearer to the plane than d_acc times the mean edge, divides the edge
//! into angles of at most π, and is a simple polygon. A reflex edge that no plane resolves is deferred until
//! other cuts may have shortened it; what remains in the end is tried again with both limits lowered.

use std::f64::consts::PI;

use glam::DVec3;

use super::candidates::candidates;
use super::cut::cut;
use super::part::{Face, Part};
use super::section::{Section, Way};
use super::{Decomposition, DecompositionError, DecompositionReport, DecompositionSettings, UnresolvedPart};
use crate::{ConvexPolyhedron, HullError, MeshError, TriangleMesh, VolumeIntegrals, convex_hull_with};

/// Vertices nearer to a cut than this fraction of the size count as on it.
const ON_PLANE: f64 = 1e-9;

/// Hull and part may differ by this fraction of the whole volume.
const VOLUME: f64 = 1e-10;

/// The state of a decomposition.
struct Cutter<'a> {
    settings: &'a DecompositionSettings,
    normals: Vec<DVec3>,
    /// Vertices within this distance are on a plane.
    on_plane: f64,
    min_dihedral: f64,
    min_distance: f64,
    cuts: usize,
    smallest_new_angle: f64,
}

/// Outcome of resolving a part.
enum Step {
    Convex,
    Cut(Vec<Part>),
    Stuck,
}

impl Cutter<'_> {
    fn step(&mut self, part: &Part) -> Step {
        let reflex = part.reflex_sides(&self.normals, self.settings.reflex_tolerance);
        if reflex.is_empty() {
            return Step::Convex;
        }
        let clearance = self.min_distance * part.mean_edge(&self.normals);
        for side in reflex {
            if let Some(pieces) = self.resolve(part, side, clearance) {
                return Step::Cut(pieces);
            }
        }
        Step::Stuck
    }

    /// Cuts at the first acceptable plane through an edge.
    fn resolve(&mut self, part: &Part, side: u32, clearance: f64) -> Option<Vec<Part>> {
        let planes = candidates(part, &self.normals, side, self.settings.max_candidates as usize);
        for plane in planes {
            let section =
                Section::new(part, &self.normals, plane, self.on_plane, self.settings.reflex_tolerance);
            let Some(start) = section.start(side) else { continue };
            let [upper, lower] = section.angles_at(Way::Side(start));
            let allowed = self.min_dihedral..=PI + self.settings.reflex_tolerance;
            if !allowed.contains(&upper) || !allowed.contains(&lower) {
                continue;
            }
            let Some(face) = section.trace(side) else { continue };
            let angle = section.smallest_angle(&face);
            if angle < self.min_dihedral || section.clearance(&face) <= clearance {
                continue;
            }
            if let Some(pieces) = cut(part, &face, &mut self.normals) {
                self.cuts += 1;
                self.smallest_new_angle = self.smallest_new_angle.min(angle);
                return Some(pieces);
            }
        }
        None
    }
}

/// A checked solid ⇒ its convex parts.
pub(super) fn decompose_solid(
    mesh: &TriangleMesh,
    settings: &DecompositionSettings,
) -> Result<Decomposition, DecompositionError> {
    let size = mesh.bounds().diagonal();
    let mut cutter = Cutter {
        settings,
        normals: Vec::with_capacity(mesh.triangles().len()),
        on_plane: ON_PLANE * size,
        min_dihedral: settings.min_dihedral,
        min_distance: settings.min_distance,
        cuts: 0,
        smallest_new_angle: PI,
    };
    let faces = mesh.triangles().iter().enumerate().map(|(f, &corners)| {
        cutter.normals.push(mesh.area_vector(f).normalize_or_zero());
        Face { corners, plane: f as u32 }
    });
    let faces = faces.collect();
    let whole = Part::new(mesh.vertices().to_vec(), faces, cutter.on_plane).ok_or(MeshError::Empty)?;
    let volume = mesh.integrals()?.t1;
    let (mut convex, mut pending) = (Vec::new(), whole.separated());
    let mut rounds = 0;
    loop {
        let mut stuck = Vec::new();
        while let Some(part) = pending.pop() {
            let full = convex.len() + pending.len() + stuck.len() + 1 >= settings.max_parts as usize;
            match cutter.step(&part) {
                Step::Convex => convex.push(part),
                Step::Cut(pieces) if !full => pending.extend(pieces),
                Step::Cut(_) | Step::Stuck => stuck.push(part),
            }
        }
        pending = stuck;
        if pending.is_empty() || rounds == settings.max_rounds {
            break;
        }
        rounds += 1;
        cutter.min_dihedral *= settings.relaxation;
        cutter.min_distance *= settings.relaxation;
    }
    finish(&cutter, convex, pending, rounds, volume)
}

/// Parts without reflex edges become convex polyhedra; parts that are not convex are reported.
fn finish(
    cutter: &Cutter,
    convex: Vec<Part>,
    stuck: Vec<Part>,
    rounds: u32,
    volume: f64,
) -> Result<Decomposition, DecompositionError> {
    let mut parts = Vec::with_capacity(convex.len());
    let mut unresolved = Vec::new();
    let mut parts_volume = 0.0;
    for part in convex {
        match hull_of(&part, VOLUME * volume) {
            Outcome::Convex(hull) => {
                parts_volume += hull_volume(&hull);
                parts.push(*hull);
            }
            Outcome::Flat => {}
            Outcome::NotConvex => unresolved.push(unresolved_part(cutter, &part)?),
        }
    }
    for part in stuck {
        unresolved.push(unresolved_part(cutter, &part)?);
    }
    let edges = unresolved.iter().map(|part| part.reflex_edges.len()).sum();
    if cutter.settings.strict && !unresolved.is_empty() {
        return Err(DecompositionError::Unresolved { edges });
    }
    let report = DecompositionReport {
        cuts: cutter.cuts,
        rounds,
        min_dihedral: cutter.min_dihedral,
        min_distance: cutter.min_distance,
        smallest_new_angle: cutter.smallest_new_angle,
        volume,
        parts_volume,
    };
    Ok(Decomposition { parts, unresolved, report })
}

fn hull_volume(hull: &ConvexPolyhedron) -> f64 {
    let origin = hull.vertices().first().copied().unwrap_or_default();
    VolumeIntegrals::of_soup_about(hull.soup(), origin).t1
}

/// Classification of a part without reflex edges.
enum Outcome {
    Convex(Box<ConvexPolyhedron>),
    /// Without volume.
    Flat,
    /// Its hull holds more than the part.
    NotConvex,
}

fn hull_of(part: &Part, tolerance: f64) -> Outcome {
    let own = part.volume();
    match convex_hull_with(&part.vertices, 1e-10) {
        Ok(hull) if (hull_volume(&hull) - own).abs() <= tolerance => Outcome::Convex(Box::new(hull)),
        Err(HullError::Degenerate { .. }) if own.abs() <= tolerance => Outcome::Flat,
        _ => Outcome::NotConvex,
    }
}

fn unresolved_part(cutter: &Cutter, part: &Part) -> Result<UnresolvedPart, DecompositionError> {
    let reflex = part.reflex_sides(&cutter.normals, cutter.settings.reflex_tolerance);
    let reflex_edges = reflex.iter().map(|&side| part.ends(side).map(|v| part.point(v))).collect();
    let triangles = part.faces.iter().map(|face| face.corners).collect();
    Ok(UnresolvedPart { mesh: TriangleMesh::new(part.vertices.clone(), triangles)?, reflex_edges })
}
