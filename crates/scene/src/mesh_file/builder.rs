//! Gathers vertices and faces from a reader, within limits, and leaves out what has no area.
//!
//! Area. For a loop p₀ … p₍ₙ₋₁₎ the vector n = Σ (pᵢ − p₀) × (pᵢ₊₁ − p₀) is twice the (signed) area along the
//! normal. With L the longest distance of a corner from p₀, h = |n| / L bounds the width of the face. Coordinates
//! of size M carry rounding of about ε M, so h ≤ 4 ε M cannot be distinguished from a line: such a face has zero area.
//! Dividing all coordinates by M first (so that M = 1) keeps every product in range.

use std::collections::HashMap;

use glam::DVec3;
use rattleback_geometry::PolygonSoup;

use super::{LoadedMesh, MeshFileError, MeshFormat, MeshLimits, MeshWarning, check_size};

/// Collects one soup.
pub(super) struct SoupBuilder {
    limits: MeshLimits,
    soup: PolygonSoup,
    corner_count: u64,
    zero_area_faces: usize,
    repeated_corners: usize,
    loop_without_repeats: Vec<u32>,
}

impl SoupBuilder {
    /// Limits, and vertices already known to be within them ⇒ builder.
    pub(super) fn new(limits: &MeshLimits, vertices: Vec<DVec3>) -> Self {
        Self {
            limits: *limits,
            soup: PolygonSoup::new(vertices),
            corner_count: 0,
            zero_area_faces: 0,
            repeated_corners: 0,
            loop_without_repeats: Vec::new(),
        }
    }

    /// Point ⇒ its index.
    pub(super) fn push_vertex(&mut self, point: DVec3) -> Result<u32, MeshFileError> {
        let index = self.soup.vertices.len();
        // Indices are 32 bits wide, whatever the limit.
        let limit = (self.limits.max_vertices as u64).min(u64::from(u32::MAX));
        check_size("vertices", index as u64 + 1, limit)?;
        self.soup.vertices.push(point);
        Ok(index as u32)
    }

    /// Adds a face unless it has no area; its indices must be those of vertices already there.
    pub(super) fn push_face(&mut self, corners: &[u32]) -> Result<(), MeshFileError> {
        let distinct = &mut self.loop_without_repeats;
        distinct.clear();
        for &corner in corners {
            if distinct.last() != Some(&corner) {
                distinct.push(corner);
            }
        }
        while distinct.len() > 1 && distinct.first() == distinct.last() {
            distinct.pop();
        }
        if distinct.len() < 3 || has_zero_area(&self.soup.vertices, distinct) {
            self.zero_area_faces += 1;
            return Ok(());
        }
        self.repeated_corners += corners.len() - distinct.len();
        check_size("faces", self.soup.face_count() as u64 + 1, self.limits.max_faces as u64)?;
        self.corner_count += distinct.len() as u64;
        // The soup's offsets are 32 bits wide.
        check_size("face corners", self.corner_count, u64::from(u32::MAX))?;
        self.soup.push_face(distinct);
        Ok(())
    }

    /// Ends the soup: unused vertices go; `warnings` are those of the reader.
    pub(super) fn finish(
        self,
        format: MeshFormat,
        groups: Vec<String>,
        mut warnings: Vec<MeshWarning>,
    ) -> Result<LoadedMesh, MeshFileError> {
        if self.soup.face_count() == 0 {
            return Err(MeshFileError::NoFaces { format });
        }
        let (soup, unused_vertices) = without_unused_vertices(self.soup);
        for (count, warning) in [
            (self.zero_area_faces, MeshWarning::ZeroAreaFaces as fn(usize) -> MeshWarning),
            (self.repeated_corners, MeshWarning::RepeatedCorners),
            (unused_vertices, MeshWarning::UnusedVertices),
        ] {
            if count > 0 {
                warnings.push(warning(count));
            }
        }
        Ok(LoadedMesh { soup, format, warnings, groups })
    }
}

/// Gives equal points one index. Formats without shared vertices have no topology otherwise.
#[derive(Default)]
pub(super) struct Welder {
    index_of: HashMap<[u64; 3], u32>,
}

impl Welder {
    /// Point ⇒ index in the builder of the first point with the same bits, −0 counting as 0.
    pub(super) fn vertex(&mut self, builder: &mut SoupBuilder, point: DVec3) -> Result<u32, MeshFileError> {
        let point = point + DVec3::ZERO; // −0 + 0 = 0
        let bits = point.to_array().map(f64::to_bits);
        if let Some(&index) = self.index_of.get(&bits) {
            return Ok(index);
        }
        let index = builder.push_vertex(point)?;
        self.index_of.insert(bits, index);
        Ok(index)
    }
}

/// Loop of at least one corner ⇒ whether it is narrower than its coordinates can resolve.
fn has_zero_area(vertices: &[DVec3], corners: &[u32]) -> bool {
    let m = corners.iter().map(|&corner| vertices[corner as usize].abs().max_element()).fold(0.0, f64::max);
    if m == 0.0 {
        return true;
    }
    let origin = vertices[corners[0] as usize] / m;
    let from_origin = |corner: u32| vertices[corner as usize] / m - origin;
    let mut n = DVec3::ZERO;
    let mut l = 0.0_f64;
    let mut previous = DVec3::ZERO;
    for &corner in &corners[1..] {
        let current = from_origin(corner);
        n += previous.cross(current);
        l = l.max(current.length());
        previous = current;
    }
    l == 0.0 || n.length() <= 4.0 * f64::EPSILON * l
}

/// Soup ⇒ soup with only the vertices its faces use, in the same order, and how many went.
fn without_unused_vertices(soup: PolygonSoup) -> (PolygonSoup, usize) {
    const UNUSED: u32 = u32::MAX;
    let mut new_index = vec![UNUSED; soup.vertices.len()];
    for &corner in soup.faces().flatten() {
        new_index[corner as usize] = 0;
    }
    let unused = new_index.iter().filter(|&&mark| mark == UNUSED).count();
    if unused == 0 {
        return (soup, 0);
    }
    let mut kept = Vec::with_capacity(soup.vertices.len() - unused);
    for (mark, &point) in new_index.iter_mut().zip(&soup.vertices) {
        if *mark != UNUSED {
            *mark = kept.len() as u32;
            kept.push(point);
        }
    }
    let mut compact = PolygonSoup::new(kept);
    let mut corners = Vec::new();
    for face in soup.faces() {
        corners.clear();
        corners.extend(face.iter().map(|&corner| new_index[corner as usize]));
        compact.push_face(&corners);
    }
    (compact, unused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zero_area(points: &[DVec3]) -> bool {
        has_zero_area(points, &(0..points.len() as u32).collect::<Vec<_>>())
    }

    #[test]
    fn points_on_a_line_have_no_area_whatever_their_scale() {
        for scale in [1e-300, 1e-9, 1.0, 1e9, 1e308] {
            let line = [0.1, 0.2, 0.3].map(|t| DVec3::new(t, 1.0 - t, 3.0 * t) / 1.5 * scale);
            assert!(zero_area(&line), "{scale}");
            let triangle = [DVec3::X, DVec3::Y, DVec3::Z].map(|p| p * scale);
            assert!(!zero_area(&triangle), "{scale}");
        }
        assert!(zero_area(&[DVec3::ZERO; 3]));
        assert!(zero_area(&[DVec3::ONE; 4]));
    }

    #[test]
    fn slivers_that_single_precision_can_hold_are_kept() {
        let height = f64::from(f32::EPSILON);
        assert!(!zero_area(&[DVec3::X, 2.0 * DVec3::X, DVec3::new(1.5, height, 0.0)]));
    }

    #[test]
    fn a_non_convex_loop_has_the_area_of_its_outline() {
        // An arrowhead: fan triangles of both signs, total area 1 ≠ 0.
        let arrow = [(0.0, 0.0), (2.0, -1.0), (1.0, 0.0), (2.0, 1.0)].map(|(x, y)| DVec3::new(x, y, 0.0));
        assert!(!zero_area(&arrow));
    }

    #[test]
    fn repeated_corners_close_up() {
        let mut builder =
            SoupBuilder::new(&MeshLimits::default(), vec![DVec3::ZERO, DVec3::X, DVec3::ONE, DVec3::Y]);
        builder.push_face(&[0, 0, 1, 2, 2, 3, 0]).unwrap();
        builder.push_face(&[1, 2, 1]).unwrap();
        let mesh = builder.finish(MeshFormat::Obj, Vec::new(), Vec::new()).unwrap();
        assert_eq!(mesh.soup.face(0), [0, 1, 2, 3]);
        assert_eq!(mesh.warnings, [MeshWarning::ZeroAreaFaces(1), MeshWarning::RepeatedCorners(3)]);
    }

    #[test]
    fn minus_zero_welds_to_zero() {
        let mut builder = SoupBuilder::new(&MeshLimits::default(), Vec::new());
        let mut welder = Welder::default();
        let a = welder.vertex(&mut builder, DVec3::new(0.0, -0.0, 1.0)).unwrap();
        let b = welder.vertex(&mut builder, DVec3::new(-0.0, 0.0, 1.0)).unwrap();
        let c = welder.vertex(&mut builder, DVec3::new(0.0, 0.0, 1.0 + f64::EPSILON)).unwrap();
        assert_eq!((a, b, c), (0, 0, 1));
    }
}
