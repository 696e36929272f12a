//! Geoms: shapes, and the mass that they give to a body.

use super::classes::{Classes, View};
use super::compiler::Compiler;
use super::orientation::{pose, z_to};
use crate::error::Problem;
use crate::robot::build::unknown;
use crate::robot::mesh::{MeshFiles, MeshInertia, hull, mesh_mass};
use crate::robot::xml::{Attribute, Element, Notes, Xml};
use crate::source::{Fault, Read};
use glam::{DQuat, DVec3};
use rattleback_geometry::{MassProperties, Pose, Shape};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Density of a geom without `mass` and `density`, kg/m³.
const DENSITY: f64 = 1000.0;
/// Most vertices of a mesh that is written in the file.
const MAX_VERTICES: usize = 1_000_000;

/// A mesh of the assets.
#[derive(Debug)]
struct MeshAsset {
    attribute: Attribute,
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    how: MeshInertia,
}

/// Mesh assets: read when a geom uses them.
#[derive(Debug)]
pub(super) struct Meshes<'a> {
    files: MeshFiles<'a>,
    known: HashMap<String, (&'a Element, usize)>,
    read: HashMap<String, Option<Arc<MeshAsset>>>,
    inertia: HashMap<String, MassProperties>,
}

impl<'a> Meshes<'a> {
    /// All `asset` elements of the root.
    pub fn read(
        xml: &'a Xml,
        root: &'a Element,
        _compiler: &Compiler,
        classes: &Classes<'_>,
        files: MeshFiles<'a>,
        notes: &mut Notes,
    ) -> Read<Self> {
        let mut known = HashMap::new();
        for asset in xml.children(root, "asset").flat_map(|assets| &assets.children) {
            let element = &xml.elements[*asset];
            match element.tag.as_str() {
                "mesh" => {
                    let stem = |file: &Attribute| {
                        Path::new(&file.value).file_stem().map(|stem| stem.to_string_lossy().into_owned())
                    };
                    let name = element.get("name").map(|name| name.value.clone());
                    let name = name.or_else(|| element.get("file").and_then(stem));
                    let name = name.ok_or_else(|| element.missing("name", "name of the mesh"))?;
                    known.insert(name, (element, classes.named(element.get("class"), 0)?));
                }
                "texture" | "material" => {}
                tag => notes.add(element.span, format!("assets <{tag}> are not supported and left out")),
            }
        }
        Ok(Self { files, known, read: HashMap::new(), inertia: HashMap::new() })
    }

    /// Mesh that an attribute names; none if its file is not read.
    fn get(
        &mut self,
        name: &Attribute,
        compiler: &Compiler,
        classes: &Classes<'_>,
        notes: &mut Notes,
    ) -> Read<Option<Arc<MeshAsset>>> {
        if let Some(read) = self.read.get(&name.value) {
            return Ok(read.clone());
        }
        let Some((element, class)) = self.known.get(&name.value).copied() else {
            return Err(unknown("mesh", &name.value, name.span, self.known.keys()));
        };
        let view = classes.view(element, class)?;
        let asset = load(&view, compiler, &mut self.files, notes)?.map(Arc::new);
        self.read.insert(name.value.clone(), asset.clone());
        Ok(asset)
    }

    /// Mass properties of a mesh at density 1.
    fn mass(&mut self, name: &Attribute, asset: &MeshAsset, shell: bool) -> Read<MassProperties> {
        let key = format!("{}{}", name.value, if shell { "/shell" } else { "" });
        if let Some(known) = self.inertia.get(&key) {
            return Ok(*known);
        }
        let how = if shell { MeshInertia::Shell } else { asset.how };
        let mass = mesh_mass(&asset.vertices, &asset.triangles, how).map_err(|error| {
            Fault::new(name.span, Problem::Mesh(format!("`{}` has no mass properties: {error}", name.value)))
        })?;
        self.inertia.insert(key, mass);
        Ok(mass)
    }
}

fn load(
    view: &View<'_>,
    compiler: &Compiler,
    files: &mut MeshFiles<'_>,
    notes: &mut Notes,
) -> Read<Option<MeshAsset>> {
    let scale = view.get("scale").map_or(Ok(DVec3::ONE), Attribute::vector)?;
    let how = match view.get("inertia").map(|given| (given, given.value.as_str())) {
        None | Some((_, "legacy")) => MeshInertia::Legacy,
        Some((_, "exact")) => MeshInertia::Exact,
        Some((_, "convex")) => MeshInertia::Convex,
        Some((_, "shell")) => MeshInertia::Shell,
        Some((given, _)) => return Err(given.refuse("legacy, exact, convex or shell")),
    };
    let (attribute, vertices, triangles) = if let Some(file) = view.get("file") {
        let mut local = file.clone();
        if compiler.strip_path {
            let name = Path::new(&file.value).file_name();
            local.value = name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        }
        let Some(soup) = files.read(&local, &compiler.mesh_folder, notes)? else { return Ok(None) };
        let mut triangles = Vec::with_capacity(soup.face_count());
        for face in soup.faces() {
            triangles.extend((2..face.len()).map(|k| [face[0], face[k - 1], face[k]]));
        }
        (file.clone(), soup.vertices.clone(), triangles)
    } else if let Some(vertex) = view.get("vertex") {
        let numbers = vertex.numbers(3 * MAX_VERTICES)?;
        if numbers.len() % 3 != 0 {
            return Err(vertex.refuse("three numbers for each vertex"));
        }
        let vertices: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
        let mut triangles = Vec::new();
        if let Some(face) = view.get("face") {
            let corners = face.numbers(6 * MAX_VERTICES)?;
            let fits =
                |corner: &f64| *corner >= 0.0 && corner.fract() == 0.0 && (*corner as usize) < vertices.len();
            if corners.len() % 3 != 0 || !corners.iter().all(fits) {
                return Err(face.refuse("three indices of vertices for each face"));
            }
            triangles.extend(corners.chunks_exact(3).map(|c| [c[0] as u32, c[1] as u32, c[2] as u32]));
        }
        (vertex.clone(), vertices, triangles)
    } else {
        notes.add(
            view.element.span,
            "a mesh without `file` and `vertex` is not supported; its geoms are left out",
        );
        return Ok(None);
    };
    let reference = Pose::new(
        view.get("refquat").map_or(Ok(DQuat::IDENTITY), Attribute::quaternion)?,
        view.vector("refpos")?,
    );
    let vertices = vertices.iter().map(|vertex| reference.inverse_point(*vertex) * scale).collect();
    // Without faces the mesh is its hull.
    let how = if triangles.is_empty() { MeshInertia::Convex } else { how };
    Ok(Some(MeshAsset { attribute, vertices, triangles, how }))
}

/// A geom of a body.
#[derive(Debug)]
pub(super) struct Geom {
    /// Shape and pose in the body's frame, if it collides.
    pub collider: Option<(Shape, Pose)>,
    /// Mass in the body's frame, if it counts.
    pub mass: Option<MassProperties>,
    pub friction: Option<f64>,
}

/// (geom, pose of the frame around it, whether its mass is needed) ⇒ what it is; none if it is left out.
pub(super) fn read(
    view: &View<'_>,
    frame: Pose,
    (compiler, classes): (&Compiler, &Classes<'_>),
    meshes: &mut Meshes<'_>,
    massive: bool,
    notes: &mut Notes,
) -> Read<Option<Geom>> {
    let element = view.element;
    let type_name = view.get("type").map_or("sphere", |given| given.value.as_str());
    let mesh = view.get("mesh");
    let type_name = if mesh.is_some() && view.get("type").is_none() { "mesh" } else { type_name };
    let number = |name: &str, default| view.number(name, default);
    let collides = number("contype", 1.0)? != 0.0 || number("conaffinity", 1.0)? != 0.0;
    let group = number("group", 0.0)?;
    let counts = massive && (compiler.inertia_groups[0]..=compiler.inertia_groups[1]).contains(&group);
    let friction = view.get("friction").map(|given| given.numbers(3)).transpose()?.map(|numbers| numbers[0]);
    if !collides && !counts {
        return Ok(None);
    }
    let shell = view.get("shellinertia").map_or(Ok(false), Attribute::flag)?;
    let mut place = frame * pose(view, compiler)?;
    let refused = |error| Fault::new(element.span, Problem::Refused(format!("geom: {error}")));
    let (shape, unit) = if type_name == "mesh" {
        let name = mesh.ok_or_else(|| element.missing("mesh", "name of a mesh"))?;
        let Some(asset) = meshes.get(name, compiler, classes, notes)? else {
            if counts {
                let message = "the mass of this body follows from a mesh that is not read";
                return Err(Fault::new(name.span, Problem::Mesh(message.into())));
            }
            return Ok(None);
        };
        let unit = if counts { Some(meshes.mass(name, &asset, shell)?) } else { None };
        let shape = if collides { hull(&asset.vertices, &asset.attribute, notes) } else { None };
        (shape, unit)
    } else {
        if let Some(mesh) = mesh {
            notes.add(
                mesh.span,
                format!("a {type_name} that is fitted to a mesh is not supported; the geom is left out"),
            );
            return Ok(None);
        }
        let Some(shape) =
            primitive(view, type_name, &mut place, frame, notes)?.transpose().map_err(refused)?
        else {
            return Ok(None);
        };
        if shell && counts {
            notes.once(
                element.span,
                "`shellinertia` of shapes that are not meshes is not supported: they are solid",
            );
        }
        let solid = counts && !matches!(shape, Shape::HalfSpace(_));
        let unit = if solid {
            let unit = shape.mass_properties(1.0);
            Some(unit.map_err(|error| Fault::new(element.span, Problem::Refused(format!("geom: {error}"))))?)
        } else {
            None
        };
        (Some(shape), unit)
    };
    let mass = match unit {
        Some(unit) => {
            let mass = match view.get("mass") {
                Some(_) => view.non_negative("mass")?,
                None => number("density", DENSITY)? * unit.mass,
            };
            let scaled = (mass > 0.0).then(|| unit.scaled_to_mass(mass)).transpose();
            scaled.map_err(|error| Fault::new(element.span, Problem::Refused(format!("geom: {error}"))))?
        }
        None => None,
    };
    Ok(Some(Geom {
        collider: shape.filter(|_| collides).map(|shape| (shape, place)),
        mass: mass.map(|mass| mass.transformed(&place)),
        friction,
    }))
}

type ShapeResult = Result<Shape, rattleback_geometry::ShapeError>;

/// A shape that is not a mesh; `fromto` replaces its pose. None, with a warning, for types that are not supported.
fn primitive(
    view: &View<'_>,
    type_name: &str,
    place: &mut Pose,
    frame: Pose,
    notes: &mut Notes,
) -> Read<Option<ShapeResult>> {
    let element = view.element;
    let mut size = view.get("size").map(|given| given.numbers(3)).transpose()?.unwrap_or_default();
    if let Some(ends) =
        view.get("fromto").filter(|_| matches!(type_name, "capsule" | "cylinder" | "box" | "ellipsoid"))
    {
        let [a, b, c, d, e, f] = ends.array()?;
        let (from, to) = (DVec3::new(a, b, c), DVec3::new(d, e, f));
        let axis = (to - from).try_normalize().ok_or_else(|| ends.refuse("two points that differ"))?;
        *place = frame * Pose::new(z_to(axis), 0.5 * (from + to));
        let half = 0.5 * (to - from).length();
        let radius = size.first().copied().ok_or_else(|| element.missing("size", "the radius"))?;
        size = if matches!(type_name, "capsule" | "cylinder") {
            vec![radius, half]
        } else {
            vec![radius, radius, half]
        };
    }
    let needed = |count: usize| {
        if size.len() >= count { Ok(()) } else { Err(element.missing("size", &format!("{count} number(s)"))) }
    };
    Ok(Some(match type_name {
        "plane" => Shape::half_space(DVec3::Z),
        "sphere" => {
            needed(1)?;
            Shape::sphere(size[0])
        }
        "capsule" => {
            needed(2)?;
            Shape::capsule(size[0], 2.0 * size[1])
        }
        "cylinder" => {
            needed(2)?;
            Shape::cylinder(size[0], 2.0 * size[1])
        }
        "box" => {
            needed(3)?;
            Shape::cuboid(DVec3::from_slice(&size))
        }
        "ellipsoid" => {
            needed(3)?;
            Shape::ellipsoid(DVec3::from_slice(&size))
        }
        other => {
            notes.add(element.span, format!("geoms of type `{other}` are not supported and left out"));
            return Ok(None);
        }
    }))
}
