//! Meshes out: OBJ keeps polygons and every bit of the coordinates, binary STL keeps triangles in single precision.

use std::io::{BufWriter, Write};

use glam::DVec3;
use rattleback_geometry::PolygonSoup;

use super::{MeshFileError, MeshFormat, check_size};

/// Soup ⇒ OBJ text. Reading it back gives the same faces and the same coordinates, bit for bit.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::PolygonSoup;
/// use rattleback_scene::mesh_file::{ObjOptions, read_obj, write_obj};
///
/// let soup = PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::X / 3.0, DVec3::Y], &[[0, 1, 2]]);
/// let mut text = Vec::new();
/// write_obj(&soup, &mut text)?;
/// assert_eq!(read_obj(&text, &ObjOptions::default())?.soup, soup);
/// # Ok::<(), rattleback_scene::mesh_file::MeshFileError>(())
/// ```
///
/// # Errors
/// Writing failed, or a face refers to a vertex that does not exist.
pub fn write_obj(soup: &PolygonSoup, destination: impl Write) -> Result<(), MeshFileError> {
    check_soup(soup, MeshFormat::Obj, DVec3::is_finite)?;
    let mut out = BufWriter::new(destination);
    for point in &soup.vertices {
        // `{:?}` is the shortest text that reads back as the same number, with an exponent where that is shorter.
        writeln!(out, "v {:?} {:?} {:?}", point.x, point.y, point.z)?;
    }
    for face in soup.faces() {
        out.write_all(b"f")?;
        for &corner in face {
            write!(out, " {}", u64::from(corner) + 1)?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Soup ⇒ binary STL. Faces become fans of triangles; coordinates are rounded to single precision.
///
/// # Errors
/// Writing failed, or a face refers to a vertex that does not exist.
pub fn write_stl_binary(soup: &PolygonSoup, destination: impl Write) -> Result<(), MeshFileError> {
    check_soup(soup, MeshFormat::StlBinary, |point| point.as_vec3().is_finite())?;
    let count: u64 = soup.faces().map(|face| face.len().saturating_sub(2) as u64).sum();
    check_size("triangles", count, u64::from(u32::MAX))?;
    let mut out = BufWriter::new(destination);
    let mut header = *b"binary STL                                                                      ";
    // The first word must not be that of the ASCII format.
    header[10..].fill(0);
    out.write_all(&header)?;
    out.write_all(&(count as u32).to_le_bytes())?;
    for triangle in fan_triangles(soup) {
        let [a, b, c] = triangle.map(|corner| soup.vertices[corner as usize]);
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for point in [normal, a, b, c] {
            for coordinate in point.as_vec3().to_array() {
                out.write_all(&coordinate.to_le_bytes())?;
            }
        }
        out.write_all(&[0; 2])?;
    }
    out.flush()?;
    Ok(())
}

/// Faces in order ⇒ their triangles (first corner, corner i, corner i + 1).
pub(super) fn fan_triangles(soup: &PolygonSoup) -> impl Iterator<Item = [u32; 3]> + '_ {
    soup.faces().flat_map(|face| face.windows(2).skip(1).map(|edge| [face[0], edge[0], edge[1]]))
}

fn check_soup(
    soup: &PolygonSoup,
    format: MeshFormat,
    storable: fn(DVec3) -> bool,
) -> Result<(), MeshFileError> {
    if let Some(vertex) = soup.vertices.iter().position(|&point| !storable(point)) {
        return Err(MeshFileError::Unstorable { vertex, format });
    }
    let vertices = soup.vertices.len();
    for (face, corners) in soup.faces().enumerate() {
        if let Some(&index) = corners.iter().find(|&&corner| corner as usize >= vertices) {
            return Err(MeshFileError::FaceOutOfRange { face, index, vertices });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_stored_is_refused() {
        let mut soup = PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]);
        soup.vertices[1].x = 1e300;
        assert!(write_obj(&soup, Vec::new()).is_ok());
        let refused = write_stl_binary(&soup, Vec::new());
        assert!(matches!(
            refused,
            Err(MeshFileError::Unstorable { vertex: 1, format: MeshFormat::StlBinary })
        ));
        soup.vertices[2].y = f64::NAN;
        assert!(matches!(write_obj(&soup, Vec::new()), Err(MeshFileError::Unstorable { vertex: 2, .. })));
        soup.vertices.truncate(1);
        let refused = write_obj(&soup, Vec::new());
        assert!(matches!(refused, Err(MeshFileError::FaceOutOfRange { face: 0, index: 1, vertices: 1 })));
    }

    #[test]
    fn a_destination_that_fails_is_reported() {
        let soup = PolygonSoup::from_triangles(vec![DVec3::ZERO, DVec3::X, DVec3::Y], &[[0, 1, 2]]);
        let mut small = [0_u8; 8];
        assert!(matches!(write_stl_binary(&soup, &mut small[..]), Err(MeshFileError::Write(_))));
    }
}
