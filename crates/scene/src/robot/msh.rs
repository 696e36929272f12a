//! MuJoCo's binary meshes (`.msh`): the numbers of vertices, normals, texture coordinates and faces as 32-bit integers, then vertices, normals and texture
//! coordinates as 32-bit reals and three indices for each face, all little-endian.

use crate::mesh_file::MeshLimits;
use glam::DVec3;
use rattleback_geometry::PolygonSoup;
use std::io::Read;
use std::path::Path;

/// Path ⇒ mesh, or the reason why not.
pub(super) fn read(path: &Path, limits: &MeshLimits) -> Result<PolygonSoup, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(limits.max_file_bytes + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > limits.max_file_bytes {
        return Err(format!("more than {} bytes", limits.max_file_bytes));
    }
    parse(&bytes, limits)
}

fn parse(bytes: &[u8], limits: &MeshLimits) -> Result<PolygonSoup, String> {
    let (words, rest) = bytes.as_chunks::<4>();
    let short = || "its length differs from that in its header".to_owned();
    let (header, body) = words.split_at_checked(4).ok_or_else(short)?;
    let mut counts = [0; 4];
    for (count, word) in counts.iter_mut().zip(header) {
        *count = u32::from_le_bytes(*word) as usize;
    }
    let [vertices, normals, coordinates, faces] = counts;
    if vertices > limits.max_vertices || faces > limits.max_faces {
        return Err(format!("{vertices} vertices and {faces} faces are too many"));
    }
    let skipped = 3 * normals + 2 * coordinates;
    if !rest.is_empty() || body.len() != 3 * vertices + skipped + 3 * faces {
        return Err(short());
    }
    let point =
        |three: &[[u8; 4]]| DVec3::from_array([0, 1, 2].map(|k| f64::from(f32::from_le_bytes(three[k]))));
    let points: Vec<DVec3> = body[..3 * vertices].chunks_exact(3).map(point).collect();
    if !points.iter().all(|point| point.is_finite()) {
        return Err("a coordinate is not finite".into());
    }
    let corners = |three: &[[u8; 4]]| [0, 1, 2].map(|k| u32::from_le_bytes(three[k]));
    let triangles: Vec<[u32; 3]> = body[3 * vertices + skipped..].chunks_exact(3).map(corners).collect();
    if triangles.iter().flatten().any(|corner| *corner as usize >= vertices) {
        return Err("a face has a corner that is no vertex".into());
    }
    Ok(PolygonSoup::from_triangles(points, &triangles))
}
