//! Recordings as glTF 2.0 animations, in one binary file (.glb).
//!
//! Each body is a node with a translation and a rotation; its parts are nodes below it with a mesh each. Surfaces are stored
//! once, times once, and tracks only of bodies that move. A root node rotates the world's up direction to y, as glTF requires.

use crate::render_scene::{RenderScene, Surface};
use glam::{DVec3, Vec3};
use rattleback_dynamics::Registry;
use rattleback_scene::recording::{Recording, RecordingError};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Largest file, bytes; chunk lengths are 32-bit numbers.
const MAX_BYTES: usize = 2 << 30;
/// glTF numbers of component types and buffer targets.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// Why a recording could not become an animation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnimationError {
    /// It cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// It is too long for one file.
    #[error("{keys} keys of {bodies} bodies are more than a glTF file holds; take fewer states with --every")]
    TooLarge {
        /// States taken.
        keys: usize,
        /// Bodies.
        bodies: usize,
    },
}

/// Positions and quaternions at all times.
type Track = (Vec<[f32; 3]>, Vec<[f32; 4]>);

/// Meshes and motion, ready to be written.
#[derive(Debug)]
pub struct Animation {
    render: RenderScene,
    title: String,
    times: Vec<f32>,
    /// For each body its positions and quaternions at all times.
    tracks: Vec<Track>,
}

impl Animation {
    /// (recording, registry, every how many states) ⇒ animation.
    ///
    /// # Errors
    /// A recording that cannot be read, or one too large for a file.
    pub fn of(recording: &mut Recording, registry: &Registry, every: usize) -> Result<Self, AnimationError> {
        let (world, _) = recording.opening(registry)?;
        let mut render = RenderScene::of(&world);
        add_planes(&mut render);
        let keys = recording.len().div_ceil(every.max(1));
        let bodies = render.bodies.len();
        if keys.saturating_mul(bodies).saturating_mul(28) > MAX_BYTES {
            return Err(AnimationError::TooLarge { keys, bodies });
        }
        let mut times = Vec::with_capacity(keys);
        let mut tracks = vec![(Vec::with_capacity(keys), Vec::with_capacity(keys)); bodies];
        let start = recording.time(0);
        for number in (0..recording.len()).step_by(every.max(1)) {
            let state = recording.state(number)?;
            times.push((state.time - start) as f32);
            for ((positions, quaternions), body) in tracks.iter_mut().zip(&state.bodies) {
                positions.push(body.position.as_vec3().to_array());
                let mut q = body.orientation.as_quat();
                // Of the two quaternions of an orientation the one nearer to the last key, for the shorter interpolation.
                if let Some(last) = quaternions.last()
                    && glam::Quat::from_array(*last).dot(q) < 0.0
                {
                    q = -q;
                }
                quaternions.push(q.normalize().to_array());
            }
        }
        Ok(Self { render, title: recording.title.clone(), times, tracks })
    }

    /// How many keys each track has.
    pub fn keys(&self) -> usize {
        self.times.len()
    }

    /// As a binary glTF file.
    pub fn to_glb(&self) -> Vec<u8> {
        let mut file = File::default();
        let surfaces: Vec<Geometry> =
            self.render.surfaces.iter().map(|surface| file.surface(surface)).collect();
        let (mut meshes, mut materials) = (Vec::new(), Vec::new());
        let mut mesh_of: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut material_of: BTreeMap<u32, usize> = BTreeMap::new();
        let turn = self.render.y_up();
        let bodies = self.render.bodies.len();
        let body_nodes: Vec<usize> = (1..=bodies).collect();
        let mut nodes = vec![json!({ "name": "world", "rotation": turn.to_array(), "children": body_nodes })];
        for (body, (positions, quaternions)) in self.render.bodies.iter().zip(&self.tracks) {
            let (p, q) = (positions.first(), quaternions.first());
            nodes.push(json!({ "name": body.name, "translation": p, "rotation": q, "children": [] }));
        }
        for part in &self.render.parts {
            let body = part.body as usize;
            let hex = self.render.bodies[body].colour.hex();
            let material = *material_of.entry(hex).or_insert_with(|| {
                let [r, g, b] = self.render.bodies[body].colour.linear();
                materials.push(json!({ "doubleSided": true, "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.6 } }));
                materials.len() - 1
            });
            let mesh = *mesh_of.entry((part.surface, hex)).or_insert_with(|| {
                let Geometry { position, normal, indices } = surfaces[part.surface as usize];
                meshes
                    .push(json!({ "primitives": [{ "attributes": { "POSITION": position, "NORMAL": normal },
                    "indices": indices, "material": material }] }));
                meshes.len() - 1
            });
            let place = nodes.len();
            nodes.push(json!({ "mesh": mesh, "translation": part.pose.translation.to_array(),
                "rotation": part.pose.rotation.to_array(), "scale": part.scale.to_array() }));
            if let Some(children) = nodes[body + 1]["children"].as_array_mut() {
                children.push(place.into());
            }
        }
        // glTF has no empty lists.
        for node in &mut nodes {
            if node["children"].as_array().is_some_and(Vec::is_empty)
                && let Some(node) = node.as_object_mut()
            {
                node.remove("children");
            }
        }
        let mut document = json!({
            "asset": { "version": "2.0", "generator": "Rattleback" },
            "scene": 0,
            "scenes": [{ "name": self.title, "nodes": [0] }],
            "nodes": nodes,
        });
        for (name, list) in [("meshes", meshes), ("materials", materials)] {
            if !list.is_empty() {
                document[name] = list.into();
            }
        }
        if let Some(animation) = self.animate(&mut file) {
            document["animations"] = json!([animation]);
        }
        file.close(document)
    }

    /// Tracks of all bodies that move; none if no body does.
    fn animate(&self, file: &mut File) -> Option<Value> {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        let mut input = None;
        for (body, (positions, quaternions)) in self.tracks.iter().enumerate() {
            let moves = positions.windows(2).any(|pair| pair[0] != pair[1]);
            let turns = quaternions.windows(2).any(|pair| pair[0] != pair[1]);
            let mut add = |file: &mut File, path: &str, flat: &[f32], kind: &str| {
                let input = *input.get_or_insert_with(|| file.reals(&self.times, "SCALAR", None));
                let output = file.reals(flat, kind, None);
                channels
                    .push(json!({ "sampler": samplers.len(), "target": { "node": body + 1, "path": path } }));
                samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
            };
            if moves {
                add(file, "translation", positions.as_flattened(), "VEC3");
            }
            if turns {
                add(file, "rotation", quaternions.as_flattened(), "VEC4");
            }
        }
        (!samplers.is_empty()).then(|| json!({ "name": "run", "samplers": samplers, "channels": channels }))
    }
}

/// Half-spaces become large squares.
fn add_planes(render: &mut RenderScene) {
    if render.planes.is_empty() {
        return;
    }
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let surface = render.surfaces.len() as u32;
    render.surfaces.push(Surface {
        positions: corners.map(|(x, y)| Vec3::new(x, y, 0.0)).to_vec(),
        normals: vec![Vec3::Z; 4],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    });
    let scale = DVec3::splat(8.0 * render.frame.radius);
    for plane in render.planes.clone() {
        render.parts.push(crate::render_scene::Part {
            body: plane.body,
            surface,
            pose: plane.pose,
            scale,
            sensor: false,
        });
    }
}

/// Accessors of a surface.
#[derive(Clone, Copy)]
struct Geometry {
    position: usize,
    normal: usize,
    indices: usize,
}

/// The binary chunk of a file, with its buffer views and accessors.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl File {
    fn surface(&mut self, surface: &Surface) -> Geometry {
        let flat = |list: &[Vec3]| -> Vec<f32> { list.iter().flat_map(Vec3::to_array).collect() };
        let position = self.reals(&flat(&surface.positions), "VEC3", Some(ARRAY_BUFFER));
        let normal = self.reals(&flat(&surface.normals), "VEC3", Some(ARRAY_BUFFER));
        let flat: Vec<u8> = surface.triangles.as_flattened().iter().flat_map(|i| i.to_le_bytes()).collect();
        let view = self.view(&flat, Some(ELEMENT_ARRAY_BUFFER));
        self.accessors.push(json!({ "bufferView": view, "componentType": UNSIGNED_INT,
            "count": flat.len() / 4, "type": "SCALAR" }));
        Geometry { position, normal, indices: self.accessors.len() - 1 }
    }

    /// (numbers, kind, buffer target) ⇒ accessor with the bounds that glTF requires of positions and times.
    fn reals(&mut self, numbers: &[f32], kind: &str, target: Option<u32>) -> usize {
        let width = match kind {
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&bytes, target);
        let bound = |pick: fn(f32, f32) -> f32, from: f32| -> Vec<f32> {
            (0..width).map(|k| numbers.iter().skip(k).step_by(width).copied().fold(from, pick)).collect()
        };
        self.accessors
            .push(json!({ "bufferView": view, "componentType": FLOAT, "count": numbers.len() / width,
            "type": kind, "min": bound(f32::min, f32::MAX), "max": bound(f32::max, f32::MIN) }));
        self.accessors.len() - 1
    }

    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let mut view = json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    /// Joins the JSON and the binary chunk, each padded to whole words.
    fn close(mut self, mut document: Value) -> Vec<u8> {
        if !self.bytes.is_empty() {
            document["buffers"] = json!([{ "byteLength": self.bytes.len() }]);
            document["bufferViews"] = self.views.into();
            document["accessors"] = self.accessors.into();
        }
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut file = Vec::with_capacity(28 + text.len() + self.bytes.len());
        file.extend_from_slice(b"glTF");
        for word in [2, (28 + text.len() + self.bytes.len()) as u32, text.len() as u32] {
            file.extend_from_slice(&word.to_le_bytes());
        }
        file.extend_from_slice(b"JSON");
        file.extend_from_slice(&text);
        file.extend_from_slice(&(self.bytes.len() as u32).to_le_bytes());
        file.extend_from_slice(b"BIN\0");
        file.extend_from_slice(&self.bytes);
        file
    }
}
