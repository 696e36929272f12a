//! The part of the glTF 2.0 schema that shapes are made of; everything else in the JSON is passed over.

use serde::Deserialize;

use super::{GltfProblem, MeshFileError, wrong};

/// Root of the JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Asset,
    pub scene: Option<usize>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<BufferView>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Deserialize)]
pub(super) struct Node {
    pub name: Option<String>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    #[serde(default)]
    pub children: Vec<usize>,
    /// Column by column.
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    /// x, y, z, w.
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
pub(super) struct Mesh {
    pub name: Option<String>,
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    #[serde(default = "triangle_list")]
    pub mode: u32,
}

fn triangle_list() -> u32 {
    4
}

#[derive(Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub element_type: String,
    pub sparse: Option<Sparse>,
}

#[derive(Deserialize)]
pub(super) struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
}

/// JSON ⇒ document of a version, and with extensions, that we can read.
pub(super) fn parse(json: &[u8]) -> Result<Document, MeshFileError> {
    let document: Document = serde_json::from_slice(json)
        .map_err(|error| wrong("document", GltfProblem::Json(error.to_string())))?;
    if !document.asset.version.starts_with("2.") {
        let version = format!("version {}", document.asset.version.chars().take(20).collect::<String>());
        return Err(wrong("asset.version", GltfProblem::Unsupported(version)));
    }
    if let Some(extension) = document.extensions_required.iter().find(|name| !leaves_shapes_alone(name)) {
        let extension = format!("required extension {}", extension.chars().take(60).collect::<String>());
        return Err(wrong("extensionsRequired", GltfProblem::Unsupported(extension)));
    }
    Ok(document)
}

/// Whether an extension concerns appearance only, or is supported (quantised positions).
fn leaves_shapes_alone(extension: &str) -> bool {
    extension == "KHR_mesh_quantization"
        || ["KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_", "EXT_lights_"]
            .iter()
            .any(|prefix| extension.starts_with(prefix))
}
