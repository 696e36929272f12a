//! Mesh files on disk, written and read back, and compared with other readers.

use std::path::PathBuf;

use glam::DVec3;
use proptest::prelude::*;
use rattleback_geometry::PolygonSoup;
use rattleback_scene::mesh_file::{
    self, MeshFileError, MeshFormat, MeshLimits, MeshWarning, ObjOptions, read_gltf, read_obj, read_stl,
    write_obj, write_stl_binary,
};

/// A cube of side 2 from six squares, facing outwards.
fn cube() -> PolygonSoup {
    let corner = |i: u32| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64) * 2.0 - DVec3::ONE;
    let mut soup = PolygonSoup::new((0..8).map(corner).collect());
    for face in [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]] {
        soup.push_face(&face);
    }
    soup
}

/// Divergence theorem: Σ a · (b × c) / 6 over the triangles.
fn volume(soup: &PolygonSoup) -> f64 {
    let mut six_volumes = 0.0;
    for face in soup.faces() {
        let p = |i: usize| soup.vertices[face[i] as usize];
        for i in 1..face.len() - 1 {
            six_volumes += p(0).dot(p(i).cross(p(i + 1)));
        }
    }
    six_volumes / 6.0
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rattleback-mesh-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn obj_text(soup: &PolygonSoup) -> Vec<u8> {
    let mut text = Vec::new();
    write_obj(soup, &mut text).unwrap();
    text
}

fn stl_bytes(soup: &PolygonSoup) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_stl_binary(soup, &mut bytes).unwrap();
    bytes
}

#[test]
fn a_cube_survives_obj_unchanged_and_stl_as_twelve_triangles() {
    let obj = read_obj(&obj_text(&cube()), &ObjOptions::default()).unwrap();
    assert_eq!(obj.soup, cube());
    let stl = read_stl(&stl_bytes(&cube()), &MeshLimits::default()).unwrap();
    assert_eq!((stl.soup.vertices.len(), stl.soup.face_count()), (8, 12));
    assert_eq!(volume(&stl.soup), 8.0);
    // Euler: V − E + F = 2 with every edge shared by two triangles.
    let mut edges: Vec<_> =
        stl.soup.faces().flat_map(|f| [(f[0], f[1]), (f[1], f[2]), (f[2], f[0])]).collect();
    edges.sort_unstable();
    assert!(edges.iter().all(|&(a, b)| edges.binary_search(&(b, a)).is_ok()));
    assert_eq!(8 + 12 - edges.len() / 2, 2);
}

#[test]
fn the_content_has_the_last_word_on_the_format() {
    let folder = Folder::new("content");
    let honest = mesh_file::read(folder.write("cube.obj", &obj_text(&cube()))).unwrap();
    assert_eq!((honest.format, honest.warnings.len()), (MeshFormat::Obj, 0));
    let disguised = mesh_file::read(folder.write("cube.gltf", &stl_bytes(&cube()))).unwrap();
    assert_eq!(disguised.warnings, [MeshWarning::OtherFormatThanExtension(MeshFormat::StlBinary)]);
    let nameless = mesh_file::read(folder.write("cube", &obj_text(&cube()))).unwrap();
    assert_eq!(nameless.format, MeshFormat::Obj);
}

#[test]
fn files_that_are_no_meshes_are_refused() {
    let folder = Folder::new("refused");
    let read = |name: &str, content: &[u8]| mesh_file::read(folder.write(name, content));
    assert!(matches!(read("empty.obj", b""), Err(MeshFileError::NoFaces { .. })));
    assert!(matches!(read("empty.stl", b""), Err(MeshFileError::Stl { .. })));
    assert!(matches!(read("empty.gltf", b""), Err(MeshFileError::Gltf { .. })));
    assert!(matches!(read("empty.glb", b""), Err(MeshFileError::Gltf { .. })));
    assert!(matches!(
        read("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        Err(MeshFileError::UnknownFormat { .. })
    ));
    assert!(matches!(
        read("picture.obj", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
        Err(MeshFileError::NoFaces { .. })
    ));
    assert!(matches!(mesh_file::read(&folder.0), Err(MeshFileError::Io { .. })));
    assert!(matches!(mesh_file::read(folder.0.join("absent.obj")), Err(MeshFileError::Io { .. })));
    let path = folder.write("large.obj", &obj_text(&cube()));
    let limits = MeshLimits { max_file_bytes: 10, ..MeshLimits::default() };
    let refused = mesh_file::read_with(path, &ObjOptions { limits, ..ObjOptions::default() });
    assert!(matches!(refused, Err(MeshFileError::TooLarge { what: "bytes", limit: 10, .. })));
}

fn zero_area_faces(warnings: &[MeshWarning]) -> usize {
    warnings
        .iter()
        .map(|warning| if let MeshWarning::ZeroAreaFaces(count) = warning { *count } else { 0 })
        .sum()
}

fn arbitrary_soup() -> impl Strategy<Value = PolygonSoup> {
    let coordinate = || prop_oneof![-1.0..1.0, -1e6..1e6, Just(0.0), -1e-6..1e-6];
    let point = (coordinate(), coordinate(), coordinate()).prop_map(|(x, y, z)| DVec3::new(x, y, z));
    (
        prop::collection::vec(point, 5..20),
        prop::collection::vec(prop::collection::vec(any::<u32>(), 3..7), 1..12),
    )
        .prop_map(|(vertices, faces)| {
            let mut soup = PolygonSoup::new(vertices);
            let count = soup.vertices.len() as u32;
            for face in faces {
                soup.push_face(&face.iter().map(|i| i % count).collect::<Vec<_>>());
            }
            soup
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// tobj reads the same polygons, with the same coordinates.
    #[test]
    fn obj_agrees_with_tobj(soup in arbitrary_soup()) {
        let text = obj_text(&soup);
        let options = tobj::LoadOptions { single_index: false, triangulate: false, ..Default::default() };
        let (models, _) =
            tobj::load_obj_buf(&mut &text[..], &options, |_| Err(tobj::LoadError::GenericFailure)).unwrap();
        let mut theirs = Vec::new();
        for model in models {
            let at = |i: u32| { let k = 3 * i as usize; DVec3::from_slice(&model.mesh.positions[k..k + 3]) };
            let mut rest = &model.mesh.indices[..];
            let arities = &model.mesh.face_arities;
            let mut face_count = 0;
            while !rest.is_empty() {
                let arity = arities.get(face_count).map_or(3, |&n| n as usize);
                let (face, next) = rest.split_at(arity);
                // A corner named twice in a row is one corner; two vertices in one place stay two.
                let mut corners = face.to_vec();
                corners.dedup();
                while corners.len() > 1 && corners.first() == corners.last() {
                    corners.pop();
                }
                face_count += 1;
                theirs.push(corners.into_iter().map(at).collect::<Vec<_>>());
                rest = next;
            }
        }
        let Ok(mesh) = read_obj(&text, &ObjOptions::default()) else { return Ok(()) };
        // Ours leaves out faces without area; what it keeps must be among theirs, in order.
        let mut their_faces = theirs.iter();
        for face in mesh.soup.faces() {
            let ours: Vec<_> = face.iter().map(|&i| mesh.soup.vertices[i as usize]).collect();
            prop_assert!(their_faces.any(|face| *face == ours));
        }
        prop_assert_eq!(mesh.soup.face_count() + zero_area_faces(&mesh.warnings), theirs.len());
    }

    /// stl_io reads the same triangles.
    #[test]
    fn stl_agrees_with_stl_io(soup in arbitrary_soup()) {
        let bytes = stl_bytes(&soup);
        let theirs = stl_io::read_stl(&mut std::io::Cursor::new(&bytes)).unwrap();
        let Ok(mesh) = read_stl(&bytes, &MeshLimits::default()) else { return Ok(()) };
        let mut their_faces = theirs.faces.iter();
        for face in mesh.soup.faces() {
            let ours: Vec<_> = face.iter().map(|&i| mesh.soup.vertices[i as usize].as_vec3().to_array()).collect();
            let same = |face: &stl_io::IndexedTriangle| {
                (0..3).all(|k| { let v = theirs.vertices[face.vertices[k]]; [v[0], v[1], v[2]] == ours[k] })
            };
            prop_assert!(their_faces.any(same));
        }
        prop_assert_eq!(mesh.soup.face_count() + zero_area_faces(&mesh.warnings), theirs.faces.len());
    }

    /// What was read once is written and read again without change.
    #[test]
    fn obj_round_trip_is_exact(soup in arbitrary_soup()) {
        if let Ok(first) = read_obj(&obj_text(&soup), &ObjOptions::default()) {
            let second = read_obj(&obj_text(&first.soup), &ObjOptions::default()).unwrap();
            prop_assert_eq!(&second.soup, &first.soup);
            prop_assert!(second.warnings.is_empty());
        }
    }
}

/// Valid files to be damaged.
fn seeds() -> Vec<Vec<u8>> {
    let ascii = b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
        endsolid s\n";
    let gltf = br#"{"asset":{"version":"2.0"},"nodes":[{"mesh":0,"children":[1]},{"scale":[1,-1,2]}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0},"mode":5}]}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","sparse":{"count":1,
        "indices":{"bufferView":0,"componentType":5121},"values":{"bufferView":0}}}],
        "bufferViews":[{"buffer":0,"byteLength":36}],
        "buffers":[{"byteLength":36,"uri":"data:;base64,AAAAAAAAgD8AAAAAAACAPwAAAAAAAAAAAAAAAAAAAAAAAIA/"}]}"#;
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    glb.extend((20 + gltf.len() as u32).to_le_bytes());
    glb.extend((gltf.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(gltf);
    vec![obj_text(&cube()), stl_bytes(&cube()), ascii.to_vec(), gltf.to_vec(), glb]
}

/// Small limits, so that a lucky claim costs little.
const LIMITS: MeshLimits = MeshLimits { max_file_bytes: 1 << 20, max_vertices: 10_000, max_faces: 10_000 };

/// All readers on the same bytes; what they accept keeps its promises.
fn every_reader_survives(bytes: &[u8]) -> Result<(), TestCaseError> {
    let options = ObjOptions { limits: LIMITS, ..ObjOptions::default() };
    for mesh in [read_obj(bytes, &options), read_stl(bytes, &LIMITS), read_gltf(bytes, None, &LIMITS)] {
        match mesh {
            Ok(mesh) => {
                prop_assert!(mesh.soup.vertices.iter().all(|point| point.is_finite()));
                prop_assert!(mesh.soup.face_count() > 0);
                let in_range = |face: &[u32]| face.iter().all(|&i| (i as usize) < mesh.soup.vertices.len());
                prop_assert!(mesh.soup.faces().all(|face| face.len() >= 3 && in_range(face)));
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        every_reader_survives(&bytes)?;
        every_reader_survives(&[b"glTF\x02\0\0\0", &bytes[..]].concat())?;
    }

    #[test]
    fn damaged_files_never_panic(
        seed in 0..5_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..6),
    ) {
        let mut bytes = seeds().swap_remove(seed);
        for (place, value, kind) in damage {
            if bytes.is_empty() {
                break;
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = value,
                1 => bytes.truncate(place),
                2 => bytes.insert(place, value),
                // Digits are what counts, offsets and indices are made of.
                _ => bytes[place] = b'0' + value % 10,
            }
        }
        every_reader_survives(&bytes)?;
    }
}

#[test]
fn the_files_to_be_damaged_are_valid() {
    let files = seeds();
    assert!(read_obj(&files[0], &ObjOptions::default()).is_ok());
    assert!(files[1..3].iter().all(|bytes| read_stl(bytes, &LIMITS).is_ok()));
    for bytes in &files[3..] {
        read_gltf(bytes, None, &LIMITS).unwrap();
    }
}
