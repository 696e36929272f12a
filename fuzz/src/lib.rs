//! What every reader must keep to, whatever bytes it is given.

pub mod numbers;
pub mod scene_text;

use rattleback_scene::mesh_file::{
    LoadedMesh, MeshFileError, MeshLimits, ObjOptions, read_obj, read_stl, write_obj, write_stl_binary,
};

/// Small, so that a lucky claim in a short input costs little and the fuzzer stays fast.
pub const LIMITS: MeshLimits =
    MeshLimits { max_file_bytes: 1 << 20, max_vertices: 20_000, max_faces: 20_000 };

/// Checks the promises of a reader: finite points, whole faces, indices in range, an error with a message; and
/// that what was accepted can be written and read again.
pub fn check(result: Result<LoadedMesh, MeshFileError>) {
    let mesh = match result {
        Ok(mesh) => mesh,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let soup = &mesh.soup;
    assert!(soup.face_count() > 0 && soup.face_count() <= LIMITS.max_faces);
    assert!(soup.vertices.len() <= LIMITS.max_vertices);
    assert!(soup.vertices.iter().all(|point| point.is_finite()));
    for face in soup.faces() {
        assert!(face.len() >= 3 && face.iter().all(|&corner| (corner as usize) < soup.vertices.len()));
    }
    let mut text = Vec::new();
    write_obj(soup, &mut text).expect("what was read can be written");
    let again = read_obj(&text, &ObjOptions::default()).expect("what was written can be read");
    assert_eq!(again.soup, *soup);
    let mut bytes = Vec::new();
    if write_stl_binary(soup, &mut bytes).is_ok() {
        // Rounding to single precision may flatten faces, but never break the file.
        assert!(matches!(
            read_stl(&bytes, &MeshLimits::default()),
            Ok(_) | Err(MeshFileError::NoFaces { .. })
        ));
    }
}
