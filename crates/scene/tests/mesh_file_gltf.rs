//! glTF files, built here by hand: what they show, where it lands, and what they must not make us do.

use std::path::Path;

use base64::Engine;
use glam::DVec3;
use rattleback_geometry::PolygonSoup;
use rattleback_scene::mesh_file::{
    self, GltfProblem, LoadedMesh, MeshFileError, MeshFormat, MeshLimits, MeshWarning, read_gltf,
};
use serde_json::{Value, json};

/// Four corners of a tetrahedron of volume 1/6, then its outward triangles as u8, u16 and u32.
fn tetrahedron_buffer() -> Vec<u8> {
    let mut bytes = Vec::new();
    for point in [[0.0_f32; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        bytes.extend(point.iter().flat_map(|x| x.to_le_bytes()));
    }
    bytes.extend(TRIANGLES.map(|i| i as u8));
    bytes.extend(TRIANGLES.iter().flat_map(|&i| (i as u16).to_le_bytes()));
    bytes.extend(TRIANGLES.iter().flat_map(|&i| i.to_le_bytes()));
    bytes
}

const TRIANGLES: [u32; 12] = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3];

/// Document around the tetrahedron; accessor 0 has the positions, 1 to 3 the indices.
fn document(uri: Option<&str>) -> Value {
    let mut buffer = json!({ "byteLength": 132 });
    if let Some(uri) = uri {
        buffer["uri"] = json!(uri);
    }
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0, "name": "corner" }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 2 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5121, "count": 12, "type": "SCALAR" },
            { "bufferView": 1, "byteOffset": 12, "componentType": 5123, "count": 12, "type": "SCALAR" },
            { "bufferView": 1, "byteOffset": 36, "componentType": 5125, "count": 12, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 84 },
        ],
        "buffers": [buffer],
    })
}

fn data_uri() -> String {
    let encoded = base64::engine::general_purpose::STANDARD.encode(tetrahedron_buffer());
    format!("data:application/octet-stream;base64,{encoded}")
}

/// The document with the tetrahedron inside.
fn embedded() -> Value {
    document(Some(&data_uri()))
}

fn glb(document: &Value, binary_chunk: &[u8]) -> Vec<u8> {
    let mut json = document.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((28 + json.len() as u32 + binary_chunk.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json[..]), (b"BIN\0", binary_chunk)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

fn read(document: &Value) -> Result<LoadedMesh, MeshFileError> {
    read_gltf(document.to_string().as_bytes(), None, &MeshLimits::default())
}

fn problem(document: &Value) -> (String, GltfProblem) {
    match read(document) {
        Err(MeshFileError::Gltf { place, problem }) => (place, problem),
        other => panic!("expected a glTF error, got {other:?}"),
    }
}

fn volume(soup: &PolygonSoup) -> f64 {
    let at = |i: u32| soup.vertices[i as usize];
    soup.faces().map(|f| at(f[0]).dot(at(f[1]).cross(at(f[2]))) / 6.0).sum()
}

#[test]
fn all_index_types_and_both_containers_show_the_same_tetrahedron() {
    for indices in 1..=3 {
        let mut document = embedded();
        document["meshes"][0]["primitives"][0]["indices"] = json!(indices);
        let mesh = read(&document).unwrap();
        assert_eq!((mesh.soup.vertices.len(), mesh.soup.face_count()), (4, 4));
        assert_eq!(volume(&mesh.soup), 1.0 / 6.0);
        assert_eq!((mesh.format, mesh.groups), (MeshFormat::Gltf, vec!["corner".to_owned()]));
    }
    let marked = format!("\u{FEFF}{}", embedded());
    assert!(read_gltf(marked.as_bytes(), None, &MeshLimits::default()).is_ok());
    let mesh = read_gltf(&glb(&document(None), &tetrahedron_buffer()), None, &MeshLimits::default()).unwrap();
    assert_eq!((mesh.format, volume(&mesh.soup)), (MeshFormat::Glb, 1.0 / 6.0));
}

/// Second opinion: the `gltf` crate reads the same corners in the same order.
#[test]
fn corners_agree_with_the_gltf_crate() {
    let bytes = glb(&document(None), &tetrahedron_buffer());
    let theirs = gltf::Gltf::from_slice_without_validation(&bytes).unwrap();
    let blob = theirs.blob.as_deref().unwrap();
    let primitive = theirs.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(blob));
    let positions: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
    let corners: Vec<_> = reader
        .read_indices()
        .unwrap()
        .into_u32()
        .map(|i| DVec3::from_array(positions[i as usize].map(f64::from)))
        .collect();
    let ours = read_gltf(&bytes, None, &MeshLimits::default()).unwrap().soup;
    let our_corners: Vec<_> = ours.faces().flatten().map(|&i| ours.vertices[i as usize]).collect();
    assert_eq!(our_corners, corners);
}

/// T₁ T₂ p by hand: scale 2 · 3 · 5 = 30, quarter turn about z takes x to y, then shifts.
#[test]
fn node_transforms_apply_from_the_root_down() {
    let mut document = embedded();
    let half = 0.5_f64.sqrt();
    document["nodes"] = json!([
        { "translation": [10, 0, 0], "rotation": [0, 0, half, half], "children": [1] },
        { "matrix": [2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 5, 0, 1, 0, 0, 1], "mesh": 0 },
    ]);
    let soup = read(&document).unwrap().soup;
    assert!((volume(&soup) - 30.0 / 6.0).abs() < 1e-12);
    // (1, 0, 0) → (3, 0, 0) → (0, 3, 0) → (10, 3, 0)
    assert!(soup.vertices.iter().any(|p| p.distance(DVec3::new(10.0, 3.0, 0.0)) < 1e-12));
}

#[test]
fn a_mirrored_node_still_faces_outwards() {
    let mut document = embedded();
    document["nodes"][0]["scale"] = json!([1, -1, 1]);
    assert_eq!(volume(&read(&document).unwrap().soup), 1.0 / 6.0);
}

#[test]
fn strips_and_fans_turn_one_way() {
    // A square's corners in strip order 0 1 2 3 and in fan order 0 1 3 2, both counter-clockwise seen from +z.
    let points = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    let mut bytes: Vec<u8> = points.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend([0, 1, 3, 2]);
    for (mode, indices) in [(5, None), (6, Some(1))] {
        let mut primitive = json!({ "attributes": { "POSITION": 0 }, "mode": mode });
        if let Some(indices) = indices {
            primitive["indices"] = json!(indices);
        }
        let document = json!({
            "asset": { "version": "2.0" },
            "meshes": [{ "primitives": [primitive, { "attributes": { "POSITION": 0 }, "mode": 1 }] }],
            "accessors": [
                { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
                { "bufferView": 0, "byteOffset": 48, "componentType": 5121, "count": 4, "type": "SCALAR" },
            ],
            "bufferViews": [{ "buffer": 0, "byteLength": 52 }],
            "buffers": [{ "byteLength": 52 }],
        });
        let mesh = read_gltf(&glb(&document, &bytes), None, &MeshLimits::default()).unwrap();
        let at = |i: u32| mesh.soup.vertices[i as usize];
        let areas: Vec<_> =
            mesh.soup.faces().map(|f| (at(f[1]) - at(f[0])).cross(at(f[2]) - at(f[0])).z / 2.0).collect();
        assert_eq!(areas, [0.5, 0.5], "mode {mode}");
        assert_eq!(mesh.warnings, [MeshWarning::OtherPrimitives(1)]);
    }
}

#[test]
fn sparse_and_quantised_positions_are_read() {
    let mut document = embedded();
    // Vertex 3 moves to where the buffer has vertex 1; the byte at 49 is the index 2, at 53 a 3.
    document["accessors"][0]["sparse"] = json!({
        "count": 1,
        "indices": { "bufferView": 1, "byteOffset": 5, "componentType": 5121 },
        "values": { "bufferView": 0, "byteOffset": 12 },
    });
    let flat = read(&document).unwrap();
    assert!(flat.warnings.contains(&MeshWarning::ZeroAreaFaces(2)));
    // Without a buffer view all vertices but the sparse one are zero.
    document["accessors"][0]["bufferView"] = Value::Null;
    document["accessors"][0]["count"] = json!(1_000_000);
    assert!(matches!(read(&document), Err(MeshFileError::NoFaces { .. })));

    let bytes = [0_u8, 0, 0, 127, 0, 0, 0, 129, 0];
    let document = json!({
        "asset": { "version": "2.0" }, "extensionsRequired": ["KHR_mesh_quantization"],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5120, "normalized": true, "count": 3, "type": "VEC3" }],
        "bufferViews": [{ "buffer": 0, "byteLength": 9 }], "buffers": [{ "byteLength": 9 }],
    });
    let mesh = read_gltf(&glb(&document, &bytes), None, &MeshLimits::default()).unwrap();
    assert_eq!(mesh.soup.vertices, [DVec3::ZERO, DVec3::X, DVec3::NEG_Y]);
}

#[test]
fn buffer_files_are_found_beside_the_file_and_nowhere_else() {
    let folder = std::env::temp_dir().join(format!("rattleback-gltf-{}", std::process::id()));
    let inside = folder.join("inside");
    std::fs::create_dir_all(inside.join("sub")).unwrap();
    let write = |name: &str, uri: &str| {
        let path = inside.join(name);
        std::fs::write(&path, document(Some(uri)).to_string()).unwrap();
        path
    };
    std::fs::write(folder.join("secret.bin"), tetrahedron_buffer()).unwrap();
    std::fs::write(inside.join("a b.bin"), tetrahedron_buffer()).unwrap();
    std::fs::write(inside.join("sub/c.bin"), tetrahedron_buffer()).unwrap();
    for uri in ["a%20b.bin", "a b.bin", "sub/c.bin"] {
        assert_eq!(volume(&mesh_file::read(write("good.gltf", uri)).unwrap().soup), 1.0 / 6.0, "{uri}");
    }
    let absolute = folder.join("secret.bin").display().to_string();
    let mut outside = vec![
        "../secret.bin",
        "%2e%2e/secret.bin",
        "sub/../../secret.bin",
        "file:///etc/passwd",
        "http://example.org/a.bin",
        "..\\secret.bin",
        "",
        ".",
        &absolute,
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.join("secret.bin"), inside.join("link.bin")).unwrap();
        outside.push("link.bin");
    }
    for uri in outside {
        let Err(MeshFileError::Gltf { place, problem: GltfProblem::OutsideFolder(_) }) =
            mesh_file::read(write("bad.gltf", uri))
        else {
            panic!("{uri:?} leads outside");
        };
        assert_eq!(place, "buffers[0]");
    }
    let absent = mesh_file::read(write("absent.gltf", "absent.bin"));
    assert!(matches!(absent, Err(MeshFileError::Gltf { problem: GltfProblem::BufferFile { .. }, .. })));
    // Without a folder there is nowhere to look.
    let text = document(Some("a b.bin")).to_string();
    assert!(read_gltf(text.as_bytes(), None, &MeshLimits::default()).is_err());
    assert!(read_gltf(text.as_bytes(), Some(Path::new(&inside)), &MeshLimits::default()).is_ok());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn loops_and_shared_children_are_refused_and_depth_is_no_problem() {
    for children in [json!([0]), json!([1, 1])] {
        let mut document = embedded();
        document["nodes"] = json!([{ "children": children }, { "mesh": 0 }]);
        assert_eq!(problem(&document).1, GltfProblem::NodeReachedTwice);
    }
    let mut document = embedded();
    let deep = 20_000;
    let mut nodes: Vec<_> = (1..=deep).map(|child| json!({ "children": [child] })).collect();
    nodes.push(json!({ "mesh": 0 }));
    document["nodes"] = Value::Array(nodes);
    assert!(read(&document).is_ok());
    // Deep brackets stop at the parser's own limit.
    let brackets = format!("{{\"asset\":{}", "[".repeat(100_000));
    assert!(read_gltf(brackets.as_bytes(), None, &MeshLimits::default()).is_err());
}

#[test]
fn wrong_numbers_are_named_with_their_place() {
    let expect = |pointer: &str, value: Value, place: &str, expected: GltfProblem| {
        let mut document = embedded();
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        document.pointer_mut(parent).unwrap()[field] = value;
        assert_eq!(problem(&document), (place.to_owned(), expected), "{pointer}");
    };
    let reference = |list, index, count| GltfProblem::BadReference { list, index, count };
    let beyond = |what, end, available| GltfProblem::OutOfBounds { what, end, available };
    expect("/nodes/0/mesh", json!(7), "nodes[0]", reference("meshes", 7, 1));
    expect("/nodes/0/children", json!([9]), "nodes[9]", reference("nodes", 9, 1));
    expect("/scene", json!(3), "scene", reference("scenes", 3, 1));
    expect("/accessors/0/bufferView", json!(8), "accessors[0]", reference("bufferViews", 8, 2));
    expect("/bufferViews/0/buffer", json!(5), "bufferViews[0]", reference("buffers", 5, 1));
    expect("/accessors/0/count", json!(5), "accessors[0]", beyond("the accessor", 60, 48));
    expect("/accessors/0/count", json!(u64::MAX), "accessors[0]", beyond("the accessor", u64::MAX, 48));
    expect("/accessors/2/byteOffset", json!(u64::MAX), "accessors[2]", beyond("the accessor", u64::MAX, 84));
    expect("/bufferViews/0/byteOffset", json!(100), "bufferViews[0]", beyond("the buffer view", 148, 132));
    expect("/buffers/0/byteLength", json!(133), "buffers[0]", beyond("the buffer", 133, 132));
    let too_few = GltfProblem::IndexOutOfRange { index: 3, vertices: 3 };
    expect("/accessors/0/count", json!(3), "meshes[0].primitives[0]", too_few);
    let matrix = json!([1.7e308, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1.7e308, 0, 0, 1]);
    expect("/nodes/0/matrix", matrix, "meshes[0].primitives[0]", GltfProblem::NonFinite);
}

#[test]
fn what_we_cannot_read_is_said() {
    let mut document = embedded();
    document["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    assert!(matches!(problem(&document).1, GltfProblem::Unsupported(what) if what.contains("draco")));
    let mut document = embedded();
    document["asset"]["version"] = json!("1.0");
    assert!(matches!(problem(&document).1, GltfProblem::Unsupported(_)));
    let cut = glb(&self::document(None), &tetrahedron_buffer());
    for length in [4, 11, 13, 20, cut.len() - 1] {
        let result = read_gltf(&cut[..length], None, &MeshLimits::default());
        assert!(
            matches!(result, Err(MeshFileError::Gltf { problem: GltfProblem::Container(_), .. })),
            "{length}"
        );
    }
}

/// A thousand nodes showing a mesh of a thousand empty primitives: work without a face to show for it is bounded too.
#[test]
fn small_files_cannot_ask_for_endless_work() {
    let mut document = embedded();
    document["accessors"][2]["count"] = json!(0);
    document["nodes"] = Value::Array(vec![json!({ "mesh": 0 }); 1000]);
    document["scenes"][0]["nodes"] = Value::Array((0..1000).map(Value::from).collect());
    let primitive = document["meshes"][0]["primitives"][0].clone();
    document["meshes"][0]["primitives"] = Value::Array(vec![primitive; 1000]);
    let limits = MeshLimits { max_vertices: 10_000, max_faces: 10_000, ..MeshLimits::default() };
    let result = read_gltf(document.to_string().as_bytes(), None, &limits);
    assert!(matches!(result, Err(MeshFileError::TooLarge { .. })));
}
