//! Shapes on bodies, and the built-in shape types by name.

use super::{BodyId, CollisionGroups, MaterialId, ShapePart};
use crate::property::{Allowed, Properties, PropertySpec, PropertyType, Value, ValueType};
use crate::registry::{Catalogue, Entry, RegistryError};
use glam::{DVec2, DVec3};
use rattleback_geometry::{HeightField, PolygonSoup, Pose, Shape, TriangleMesh, generate};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A shape that belongs to a body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AttachedShape {
    /// Whose shape it is.
    pub body: BodyId,
    /// The geometry.
    pub shape: Shape,
    /// Where it sits in the body frame.
    pub pose: Pose,
    /// Its surface.
    pub material: MaterialId,
    /// What it may touch.
    pub groups: CollisionGroups,
    /// A sensor reports touches and resists none.
    pub sensor: bool,
    /// A unit vector in the body frame: resists only what comes against it.
    pub one_way: Option<DVec3>,
    #[serde(skip)]
    surface: OnceLock<Option<TriangleMesh>>,
}

/// Sides of a full circle when a round shape has to be cut into faces.
const SURFACE_SEGMENTS: u32 = 32;

impl AttachedShape {
    /// Its closed surface in triangles, computed at its first use; nothing if it bounds no volume.
    pub fn closed_surface(&self) -> Option<&TriangleMesh> {
        self.surface
            .get_or_init(|| self.shape.surface(SURFACE_SEGMENTS).ok().filter(TriangleMesh::is_solid))
            .as_ref()
    }

    /// Gives it another geometry.
    pub(super) fn replace(&mut self, shape: Shape) {
        (self.shape, self.surface) = (shape, OnceLock::new());
    }

    pub(super) fn new(body: BodyId, part: ShapePart, material: MaterialId, groups: CollisionGroups) -> Self {
        Self {
            body,
            shape: part.shape,
            pose: part.pose,
            material: part.material.unwrap_or(material),
            groups: part.groups.unwrap_or(groups),
            sensor: part.sensor,
            one_way: part.one_way.map(DVec3::normalize),
            surface: OnceLock::new(),
        }
    }
}

fn spec(
    name: &str,
    value_type: ValueType,
    default: Option<Value>,
    unit: &str,
    allowed: Allowed,
    doc: &str,
) -> PropertySpec {
    PropertySpec {
        name: name.into(),
        value_type,
        unit: unit.into(),
        required: default.is_none(),
        default,
        allowed,
        doc: doc.into(),
    }
}

fn length(name: &str, doc: &str) -> PropertySpec {
    spec(name, ValueType::Real, None, "m", Allowed::Positive, doc)
}

fn take<T: PropertyType>(given: &Properties, name: &str) -> Result<T, String> {
    given
        .get(name)
        .cloned()
        .and_then(T::from_value)
        .ok_or_else(|| format!("`{name}` must be {}", T::TYPE.describe()))
}

fn described<T>(result: Result<T, impl std::fmt::Display>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

/// Registers the built-in shapes.
pub(crate) fn register(shapes: &mut Catalogue<Shape>) -> Result<(), RegistryError> {
    let radius = || length("radius", "Radius");
    let height = |doc| length("height", doc);
    let vertices = || spec("vertices", ValueType::Vec3List, None, "m", Allowed::Finite, "Points");
    shapes.register(Entry::new("sphere", "Ball about the origin", vec![radius()], |given| {
        described(Shape::sphere(take(given, "radius")?))
    }))?;
    shapes.register(Entry::new(
        "box",
        "Box about the origin",
        vec![spec(
            "half_extents",
            ValueType::Vec3,
            None,
            "m",
            Allowed::Positive,
            "Half the length of each side",
        )],
        |given| described(Shape::cuboid(take(given, "half_extents")?)),
    ))?;
    shapes.register(Entry::new(
        "cylinder",
        "Cylinder about the z axis, centred",
        vec![radius(), height("Full height")],
        |given| described(Shape::cylinder(take(given, "radius")?, take(given, "height")?)),
    ))?;
    shapes.register(Entry::new(
        "capsule",
        "Cylinder about the z axis with a half ball on each end, centred",
        vec![radius(), height("Height of the cylinder, without the caps")],
        |given| described(Shape::capsule(take(given, "radius")?, take(given, "height")?)),
    ))?;
    shapes.register(Entry::new(
        "cone",
        "Cone about the z axis, point up, its centre of mass at the origin",
        vec![radius(), height("Full height")],
        |given| described(Shape::cone(take(given, "radius")?, take(given, "height")?)),
    ))?;
    shapes.register(Entry::new(
        "ellipsoid",
        "Ellipsoid about the origin",
        vec![spec(
            "semi_axes",
            ValueType::Vec3,
            None,
            "m",
            Allowed::Positive,
            "Half the length of each axis",
        )],
        |given| described(Shape::ellipsoid(take(given, "semi_axes")?)),
    ))?;
    shapes.register(Entry::new(
        "half-space",
        "Everything below a plane through the origin",
        vec![spec(
            "normal",
            ValueType::Vec3,
            Some(Value::Vec3(DVec3::Z)),
            "",
            Allowed::Direction,
            "Points out of the solid",
        )],
        |given| described(Shape::half_space(take(given, "normal")?)),
    ))?;
    shapes.register(Entry::new("convex", "Convex hull of points", vec![vertices()], |given| {
        described(Shape::convex_hull(&take::<Vec<DVec3>>(given, "vertices")?))
    }))?;
    shapes.register(Entry::new(
        "mesh",
        "Polygon mesh; solid if it is closed",
        vec![
            vertices(),
            spec(
                "faces",
                ValueType::IndexLists,
                None,
                "",
                Allowed::NonNegative,
                "Corner loops, counter-clockwise from outside",
            ),
        ],
        |given| {
            let mut soup = PolygonSoup::new(take(given, "vertices")?);
            for face in take::<Vec<Vec<u32>>>(given, "faces")? {
                soup.push_face(&face);
            }
            described(Shape::mesh(described(TriangleMesh::from_soup(&soup))?))
        },
    ))?;
    shapes.register(Entry::new(
        "sweep",
        "Mesh that a profile passes along a way, upright all the time; closed at both ends",
        vec![
            spec(
                "profile",
                ValueType::RealList,
                None,
                "m",
                Allowed::Finite,
                "x, y of one point after the other, counter-clockwise about the origin and seen whole from there: x to the right when looking along the way, y up",
            ),
            spec("way", ValueType::Vec3List, None, "m", Allowed::Finite, "Where the origin of the profile goes"),
        ],
        |given| {
            let profile: Vec<f64> = take(given, "profile")?;
            if profile.len() % 2 == 1 {
                return Err("`profile` takes two numbers for each point".into());
            }
            let profile: Vec<DVec2> = profile.chunks_exact(2).map(DVec2::from_slice).collect();
            described(Shape::mesh(described(generate::swept(&profile, &take::<Vec<DVec3>>(given, "way")?))?))
        },
    ))?;
    shapes.register(Entry::new(
        "height-field",
        "Surface over a rectangular grid",
        vec![
            spec("rows", ValueType::Int, None, "", Allowed::Within(2.0, 65536.0), "Grid points along y"),
            spec("columns", ValueType::Int, None, "", Allowed::Within(2.0, 65536.0), "Grid points along x"),
            spec(
                "spacing",
                ValueType::RealList,
                None,
                "m",
                Allowed::Positive,
                "Distance of grid points along x and y",
            ),
            spec(
                "heights",
                ValueType::RealList,
                None,
                "m",
                Allowed::Finite,
                "z of every grid point, row by row",
            ),
        ],
        |given| {
            let spacing: Vec<f64> = take(given, "spacing")?;
            let [dx, dy] = spacing[..] else { return Err("`spacing` takes two numbers".into()) };
            let (rows, columns): (i64, i64) = (take(given, "rows")?, take(given, "columns")?);
            let field = described(HeightField::new(
                rows as usize,
                columns as usize,
                DVec2::new(dx, dy),
                take(given, "heights")?,
            ))?;
            described(Shape::height_field(field))
        },
    ))
}
