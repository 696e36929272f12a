//! glTF 2.0, as JSON or GLB: every triangle of every mesh in the default scene, in scene coordinates.
//!
//! A point p of a mesh at node k lands at T₁ T₂ … T_k p, the Ts being the local transforms from the root down; where
//! the product has a negative determinant it mirrors, and the triangles turn round to keep facing outwards. Points
//! of one node's mesh are welded where their bits agree: renderers split vertices at every crease, and what is left
//! would have no topology.
//!
//! The parser is our own on top of `serde_json`: the `gltf` crate's accessor iterators panic on counts of zero,
//! overflowing offsets and short sparse data, and it keeps transforms in single precision.

mod accessor;
mod buffer;
mod document;

use std::path::Path;

use accessor::Accessors;
use document::{Document, Mesh, Node, Primitive};
use glam::{DAffine3, DMat4, DQuat, DVec3, DVec4};

use super::builder::{SoupBuilder, Welder};
use super::{
    GltfProblem, LoadedMesh, MeshFileError, MeshFormat, MeshLimits, MeshWarning, check_size,
    without_byte_order_mark,
};

/// Shorthand for an error at a place.
fn wrong(place: impl Into<String>, problem: GltfProblem) -> MeshFileError {
    MeshFileError::Gltf { place: place.into(), problem }
}

/// Element `index` of the list called `name` ⇒ the element, or an error blaming `place`.
fn get<'a, T>(list: &'a [T], name: &'static str, index: usize, place: &str) -> Result<&'a T, MeshFileError> {
    let problem = GltfProblem::BadReference { list: name, index, count: list.len() };
    list.get(index).ok_or_else(|| wrong(place, problem))
}

/// Content of a .gltf or .glb file ⇒ mesh. Buffer files are looked for inside `folder` only, and not at all without.
///
/// ```
/// use rattleback_scene::mesh_file::{MeshFileError, MeshLimits, read_gltf};
///
/// let nothing = read_gltf(br#"{ "asset": { "version": "2.0" } }"#, None, &MeshLimits::default());
/// assert!(matches!(nothing, Err(MeshFileError::NoFaces { .. })));
/// ```
pub fn read_gltf(
    bytes: &[u8],
    folder: Option<&Path>,
    limits: &MeshLimits,
) -> Result<LoadedMesh, MeshFileError> {
    check_size("bytes", bytes.len() as u64, limits.max_file_bytes)?;
    let (format, json, binary_chunk) = match buffer::split_glb(bytes)? {
        Some((json, binary_chunk)) => (MeshFormat::Glb, json, binary_chunk),
        None => (MeshFormat::Gltf, without_byte_order_mark(bytes), None),
    };
    let document = document::parse(json)?;
    let buffers = buffer::load(&document, binary_chunk, folder, limits)?;
    let mut reader = Reader {
        document: &document,
        accessors: Accessors::new(&document, &buffers),
        builder: SoupBuilder::new(limits, Vec::new()),
        work: 0,
        max_work: (limits.max_vertices as u64).saturating_add((limits.max_faces as u64).saturating_mul(3)),
        groups: Vec::new(),
        other_primitives: 0,
        skins_ignored: 0,
    };
    if document.nodes.is_empty() {
        for (index, mesh) in document.meshes.iter().enumerate() {
            reader.mesh(index, mesh, DAffine3::IDENTITY)?;
        }
    } else {
        reader.nodes()?;
    }
    let mut warnings = Vec::new();
    if reader.other_primitives > 0 {
        warnings.push(MeshWarning::OtherPrimitives(reader.other_primitives));
    }
    if reader.skins_ignored > 0 {
        warnings.push(MeshWarning::SkinsIgnored(reader.skins_ignored));
    }
    reader.builder.finish(format, reader.groups, warnings)
}

struct Reader<'a> {
    document: &'a Document,
    accessors: Accessors<'a>,
    builder: SoupBuilder,
    /// Corners and primitives read: many nodes may refer to one mesh, so that a small file can cause endless work
    /// without a single face to show for it.
    work: u64,
    max_work: u64,
    groups: Vec<String>,
    other_primitives: usize,
    skins_ignored: usize,
}

impl Reader<'_> {
    fn count_work(&mut self, amount: u64) -> Result<(), MeshFileError> {
        self.work = self.work.saturating_add(amount);
        check_size("triangle corners, counted for each node that shows them,", self.work, self.max_work)
    }

    /// Walks the trees of the scene, without recursion: their depth is the file's choice.
    fn nodes(&mut self) -> Result<(), MeshFileError> {
        let nodes = &self.document.nodes;
        let mut reached = vec![false; nodes.len()];
        let mut to_visit: Vec<(usize, DAffine3)> =
            self.roots()?.into_iter().rev().map(|root| (root, DAffine3::IDENTITY)).collect();
        while let Some((index, parent)) = to_visit.pop() {
            let place = format!("nodes[{index}]");
            let node = get(nodes, "nodes", index, &place)?;
            if std::mem::replace(&mut reached[index], true) {
                return Err(wrong(place, GltfProblem::NodeReachedTwice));
            }
            let transform = parent * local_transform(node).map_err(|problem| wrong(&place, problem))?;
            to_visit.extend(node.children.iter().rev().map(|&child| (child, transform)));
            let Some(mesh_index) = node.mesh else { continue };
            let mesh = get(&self.document.meshes, "meshes", mesh_index, &place)?;
            self.skins_ignored += usize::from(node.skin.is_some());
            self.groups.extend(node.name.as_ref().or(mesh.name.as_ref()).cloned());
            self.mesh(mesh_index, mesh, transform)?;
        }
        Ok(())
    }

    /// Root nodes of the default scene, or of the first, or all nodes without a parent.
    fn roots(&self) -> Result<Vec<usize>, MeshFileError> {
        let document = self.document;
        match document.scene {
            Some(index) => Ok(get(&document.scenes, "scenes", index, "scene")?.nodes.clone()),
            None if !document.scenes.is_empty() => Ok(document.scenes[0].nodes.clone()),
            None => {
                let mut is_child = vec![false; document.nodes.len()];
                for &child in document.nodes.iter().flat_map(|node| &node.children) {
                    if let Some(mark) = is_child.get_mut(child) {
                        *mark = true;
                    }
                }
                Ok((0..is_child.len()).filter(|&index| !is_child[index]).collect())
            }
        }
    }

    fn mesh(&mut self, mesh_index: usize, mesh: &Mesh, transform: DAffine3) -> Result<(), MeshFileError> {
        let mut welder = Welder::default();
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            self.count_work(1)?;
            self.primitive(
                &format!("meshes[{mesh_index}].primitives[{index}]"),
                primitive,
                transform,
                &mut welder,
            )?;
        }
        Ok(())
    }

    fn primitive(
        &mut self,
        place: &str,
        primitive: &Primitive,
        transform: DAffine3,
        welder: &mut Welder,
    ) -> Result<(), MeshFileError> {
        let Some(pattern) = Pattern::of_mode(primitive.mode) else {
            if primitive.mode > 6 {
                return Err(wrong(place, GltfProblem::Invalid("mode must be 0 to 6")));
            }
            self.other_primitives += 1;
            return Ok(());
        };
        let Some(position) = primitive.attributes.position else {
            // Without positions there is nothing to show; the format allows it for extensions to fill in.
            self.other_primitives += 1;
            return Ok(());
        };
        let positions = self.accessors.positions(position)?;
        let indices = primitive.indices.map(|index| self.accessors.indices(index)).transpose()?;
        let corner_count = indices.as_ref().map_or(positions.count(), accessor::Indices::count);
        let sparse_count =
            positions.sparse_count() + indices.as_ref().map_or(0, accessor::Indices::sparse_count);
        self.count_work(corner_count as u64 + sparse_count as u64)?;
        let mirrored = transform.matrix3.determinant() < 0.0;
        for triangle in 0..pattern.triangle_count(corner_count) {
            let mut corners = [0; 3];
            for (corner, i) in corners.iter_mut().zip(pattern.corners(triangle)) {
                let index = indices.as_ref().map_or(i as u32, |indices| indices.get(i));
                let Some(point) = positions.get(index as usize) else {
                    let problem = GltfProblem::IndexOutOfRange { index, vertices: positions.count() };
                    return Err(wrong(place, problem));
                };
                let point = transform.transform_point3(point);
                if !point.is_finite() {
                    return Err(wrong(place, GltfProblem::NonFinite));
                }
                *corner = welder.vertex(&mut self.builder, point)?;
            }
            if mirrored {
                corners.swap(1, 2);
            }
            self.builder.push_face(&corners)?;
        }
        Ok(())
    }
}

/// How a list of corners is cut into triangles.
#[derive(Clone, Copy)]
enum Pattern {
    List,
    Strip,
    Fan,
}

impl Pattern {
    fn of_mode(mode: u32) -> Option<Self> {
        match mode {
            4 => Some(Self::List),
            5 => Some(Self::Strip),
            6 => Some(Self::Fan),
            _ => None,
        }
    }

    fn triangle_count(self, corner_count: usize) -> usize {
        match self {
            Self::List => corner_count / 3,
            Self::Strip | Self::Fan => corner_count.saturating_sub(2),
        }
    }

    /// Triangle number ⇒ its three places in the list of corners, all turning the same way.
    fn corners(self, triangle: usize) -> [usize; 3] {
        match self {
            Self::List => [3 * triangle, 3 * triangle + 1, 3 * triangle + 2],
            Self::Strip if triangle % 2 == 1 => [triangle, triangle + 2, triangle + 1],
            Self::Strip => [triangle, triangle + 1, triangle + 2],
            Self::Fan => [0, triangle + 1, triangle + 2],
        }
    }
}

/// Node ⇒ its transform to its parent: the matrix, or translation · rotation · scale.
fn local_transform(node: &Node) -> Result<DAffine3, GltfProblem> {
    if let Some(matrix) = node.matrix {
        let matrix = DMat4::from_cols_array(&matrix);
        if matrix.row(3) != DVec4::W {
            return Err(GltfProblem::Invalid("the last row of a node's matrix must be 0 0 0 1"));
        }
        return Ok(DAffine3::from_mat4(matrix));
    }
    let rotation = match node.rotation {
        None => DQuat::IDENTITY,
        Some(rotation) => {
            let direction = DVec4::from_array(rotation).try_normalize();
            DQuat::from_vec4(direction.ok_or(GltfProblem::Invalid("a node's rotation must not be zero"))?)
        }
    };
    let scale = node.scale.map_or(DVec3::ONE, DVec3::from_array);
    let translation = node.translation.map_or(DVec3::ZERO, DVec3::from_array);
    Ok(DAffine3::from_scale_rotation_translation(scale, rotation, translation))
}
