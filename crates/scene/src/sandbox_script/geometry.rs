//! Geometries ⇒ shapes.
//!
//! Axes of round shapes are along y in the script, and its half-space is y ≤ 0; in a scene they are along z. R_x(−90°) maps z to y.

use super::meaning::{custom, entry, table};
use super::words;
use crate::document::{Content, Fields, Key, Node, unknown_key};
use crate::source::{Read, Span};
use std::f64::consts::FRAC_1_SQRT_2;

/// A shape of the scene, without its place in the script.
#[derive(Debug)]
pub(super) struct Geometry {
    entries: Vec<(Key, Node)>,
}

impl Geometry {
    /// The shape of a body that names it here.
    pub fn shape(&self, span: Span) -> (Key, Node) {
        (Key { name: "shape".into(), span }, table(span, self.entries.clone()))
    }
}

/// (name in the script, type of the scene, whether its axis is y, properties that are ignored)
type Kind = (&'static str, &'static str, bool, &'static [&'static str]);

const KINDS: &[Kind] = &[
    ("Sphere", "sphere", false, &[]),
    ("Box", "box", false, &[]),
    ("Ellipsoid", "ellipsoid", false, &[]),
    ("Cylinder", "cylinder", true, &[]),
    ("Capsule", "capsule", true, &[]),
    ("Cone", "cone", true, &[]),
    // Edges and faces of a convex polyhedron follow from its vertices.
    ("ConvexPolyhedron", "convex", false, &["Edges", "Faces"]),
    // The hierarchies of the engine have no such setting.
    ("TriangleMesh", "mesh", false, &["MaxTreeDepth", "MinNodeSize"]),
    ("Halfspace", "half-space", false, &[]),
];

/// Keys of a shape that are not properties of its geometry; scripts give them elsewhere.
const ELSEWHERE: &[&str] = &[
    "type",
    "position",
    "orientation",
    "density",
    "material",
    "groups",
    "collision_mask",
    "sensor",
    "one_way",
];

/// `Geometry` block ⇒ shape.
pub(super) fn read(node: &Node) -> Read<Geometry> {
    let fields = Fields::of("Geometry", node, &["Type", "Id", "CustomProperties"])?;
    let type_node = fields.required("Type", "which kind it is")?;
    let type_name = type_node.text("Type")?;
    let kind = KINDS.iter().find(|(name, ..)| *name == type_name);
    // Types of plug-ins keep their names.
    let plugged = words::type_name(type_name);
    let (scene_type, upright, unused) = kind
        .map_or((plugged.as_str(), false, &[][..]), |(_, name, upright, unused)| (*name, *upright, *unused));
    let mut entries = vec![entry("type", type_node.span, Content::Text(scene_type.into()))];
    entries.extend(custom(&fields, unused)?);
    if let Some((key, _)) = entries.iter().skip(1).find(|(key, _)| ELSEWHERE.contains(&key.name.as_str())) {
        return Err(unknown_key("the geometry", key, Vec::new()));
    }
    let reals = |numbers: &[f64]| {
        let node = |x: &f64| Node { span: type_node.span, content: Content::Real(*x) };
        Content::List(numbers.iter().map(node).collect())
    };
    if upright {
        entries.push(entry("orientation", type_node.span, reals(&[FRAC_1_SQRT_2, -FRAC_1_SQRT_2, 0.0, 0.0])));
    }
    if scene_type == "half-space" && !entries.iter().any(|(key, _)| key.name == "normal") {
        entries.push(entry("normal", type_node.span, reals(&[0.0, 1.0, 0.0])));
    }
    Ok(Geometry { entries })
}
