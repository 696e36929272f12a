//! Shapes of bodies, for collision, mass properties and drawing.
//!
//! Every shape has its own frame. Cylinder, capsule and cone are along z; all primitives have their centre of
//! mass at the origin. Sizes lie between `MIN_LENGTH` and `MAX_LENGTH`, which keeps fifth powers of a length,
//! the order of a moment of inertia, within the normal numbers.

mod bounds;
mod capsule;
mod compound;
mod cone;
mod cuboid;
mod cylinder;
mod ellipsoid;
pub(crate) mod error;
mod half_space;
mod kind;
mod radius_height;
mod solid;
mod sphere;
mod support_shape;

use std::sync::Arc;

use glam::DVec3;
use serde::{Deserialize, Serialize};

pub(crate) use bounds::bounds_of_points;
pub use capsule::Capsule;
pub use compound::Compound;
pub use cone::Cone;
pub use cuboid::Cuboid;
pub use cylinder::Cylinder;
pub use ellipsoid::Ellipsoid;
pub use error::ShapeError;
pub use half_space::HalfSpace;
pub use kind::ShapeKind;
pub use sphere::Sphere;
pub use support_shape::SupportShape;

use crate::{ConvexPolyhedron, HeightField, Pose, TriangleMesh, convex_hull};

/// A shape. Cheap to clone: large data are shared.
///
/// Written to a file as `{"sphere": {"radius": 1.0}}`; reading makes the same checks as construction. Custom
/// shapes cannot be written.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{Pose, Shape};
/// let brick = Shape::cuboid(DVec3::new(0.10, 0.05, 0.03))?;
/// assert_eq!(brick.kind().name(), "box");
/// assert!((brick.mass_properties(2000.0)?.mass - 2.4).abs() < 1e-12);
/// assert_eq!(brick.aabb(&Pose::IDENTITY).unwrap().max(), DVec3::new(0.10, 0.05, 0.03));
/// assert!(Shape::sphere(-1.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Sphere.
    Sphere(Sphere),
    /// Box.
    #[serde(rename = "box")]
    Cuboid(Cuboid),
    /// Right circular cylinder along z.
    Cylinder(Cylinder),
    /// Cylinder with half-sphere ends, along z.
    Capsule(Capsule),
    /// Right circular cone along z.
    Cone(Cone),
    /// Ellipsoid.
    Ellipsoid(Ellipsoid),
    /// Everything on one side of a plane.
    HalfSpace(HalfSpace),
    /// Convex polyhedron.
    Convex(Arc<ConvexPolyhedron>),
    /// Triangle surface.
    Mesh(Arc<TriangleMesh>),
    /// Terrain over a grid.
    HeightField(Arc<HeightField>),
    /// Shapes fixed to each other.
    Compound(Arc<Compound>),
    /// Convex shape given by its support function.
    #[serde(skip)]
    Custom(Arc<dyn SupportShape>),
}

impl Shape {
    /// Whether the surface is curved somewhere; that of a custom shape is taken to be.
    pub fn is_curved(&self) -> bool {
        match self {
            Self::Sphere(_)
            | Self::Cylinder(_)
            | Self::Capsule(_)
            | Self::Cone(_)
            | Self::Ellipsoid(_)
            | Self::Custom(_) => true,
            Self::Compound(compound) => compound.parts().iter().any(|(_, child)| child.is_curved()),
            _ => false,
        }
    }

    /// Sphere of a radius.
    pub fn sphere(radius: f64) -> Result<Self, ShapeError> {
        Ok(Self::Sphere(Sphere::new(radius)?))
    }

    /// Box of given half side lengths.
    pub fn cuboid(half_extents: DVec3) -> Result<Self, ShapeError> {
        Ok(Self::Cuboid(Cuboid::new(half_extents)?))
    }

    /// Cylinder along z, z ∈ [−h/2, h/2].
    pub fn cylinder(radius: f64, height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cylinder(Cylinder::new(radius, height)?))
    }

    /// All points within `radius` of the segment z ∈ [−h/2, h/2].
    pub fn capsule(radius: f64, height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Capsule(Capsule::new(radius, height)?))
    }

    /// Cone along z, base at z = −h/4, apex at z = 3h/4.
    pub fn cone(radius: f64, height: f64) -> Result<Self, ShapeError> {
        Ok(Self::Cone(Cone::new(radius, height)?))
    }

    /// Ellipsoid of given semi-axes.
    pub fn ellipsoid(semi_axes: DVec3) -> Result<Self, ShapeError> {
        Ok(Self::Ellipsoid(Ellipsoid::new(semi_axes)?))
    }

    /// The solid n·p ≤ 0.
    pub fn half_space(normal: DVec3) -> Result<Self, ShapeError> {
        Ok(Self::HalfSpace(HalfSpace::new(normal)?))
    }

    /// The smallest convex polyhedron around the points.
    pub fn convex_hull(points: &[DVec3]) -> Result<Self, ShapeError> {
        Self::convex(convex_hull(points)?)
    }

    /// A convex polyhedron.
    pub fn convex(polyhedron: ConvexPolyhedron) -> Result<Self, ShapeError> {
        Ok(Self::Convex(Arc::new(polyhedron)))
    }

    /// A triangle surface, open or closed.
    pub fn mesh(mesh: TriangleMesh) -> Result<Self, ShapeError> {
        Ok(Self::Mesh(Arc::new(mesh)))
    }

    /// Terrain over a grid.
    pub fn height_field(field: HeightField) -> Result<Self, ShapeError> {
        Ok(Self::HeightField(Arc::new(field)))
    }

    /// Bounded shapes fixed to each other, each with its pose.
    pub fn compound(parts: Vec<(Pose, Self)>) -> Result<Self, ShapeError> {
        Ok(Self::Compound(Arc::new(Compound::new(parts)?)))
    }

    /// A convex shape by its support function, which is tried along some hundred directions first.
    pub fn custom(shape: Arc<dyn SupportShape>) -> Result<Self, ShapeError> {
        let bad = || ShapeError::BadSupport { name: shape.name().to_owned() };
        let directions = support_shape::sample_directions();
        let points: Vec<DVec3> = directions.iter().map(|&d| shape.support(d)).collect();
        let bounded = |p: &DVec3| p.is_finite() && p.abs().max_element() <= crate::MAX_LENGTH;
        if !points.iter().all(bounded) {
            return Err(bad());
        }
        let size = points.iter().map(|p| p.length()).fold(0.0, f64::max);
        // A true support point lies at least as far along its own direction as the neighbours' points do.
        for (i, d) in directions.iter().enumerate() {
            let reach = points[i].dot(*d) + 1e-9 * size;
            if points.iter().any(|p| p.dot(*d) > reach) {
                return Err(bad());
            }
        }
        Ok(Self::Custom(shape))
    }

    /// Which kind of shape this is.
    pub fn kind(&self) -> ShapeKind {
        match self {
            Self::Sphere(_) => ShapeKind::Sphere,
            Self::Cuboid(_) => ShapeKind::Cuboid,
            Self::Cylinder(_) => ShapeKind::Cylinder,
            Self::Capsule(_) => ShapeKind::Capsule,
            Self::Cone(_) => ShapeKind::Cone,
            Self::Ellipsoid(_) => ShapeKind::Ellipsoid,
            Self::HalfSpace(_) => ShapeKind::HalfSpace,
            Self::Convex(_) => ShapeKind::Convex,
            Self::Mesh(_) => ShapeKind::Mesh,
            Self::HeightField(_) => ShapeKind::HeightField,
            Self::Compound(_) => ShapeKind::Compound,
            Self::Custom(_) => ShapeKind::Custom,
        }
    }

    /// Number of convex pieces: each triangle of meshes and terrain counts.
    pub fn piece_count(&self) -> u32 {
        match self {
            Self::Mesh(mesh) => mesh.triangles().len() as u32,
            Self::HeightField(field) => field.triangle_count(),
            Self::Compound(compound) => {
                compound.parts().iter().fold(0, |sum, (_, part)| part.piece_count().saturating_add(sum))
            }
            _ => 1,
        }
    }

    /// Computes the trees and tables that queries of contacts need, which are otherwise computed by the first query:
    /// for meshes of 10⁶ triangles that takes a second.
    pub fn prepare_contacts(&self) {
        match self {
            Self::Mesh(mesh) => {
                // An error is reported by the query.
                let _ = mesh.tree();
                mesh.edge_table();
            }
            Self::Compound(compound) => {
                let _ = compound.tree();
                compound.parts().iter().for_each(|(_, child)| child.prepare_contacts());
            }
            _ => {}
        }
    }

    /// Whether the shape is known to be convex. Meshes, terrain and compounds are not tested.
    pub fn is_convex(&self) -> bool {
        !matches!(self, Self::Mesh(_) | Self::HeightField(_) | Self::Compound(_))
    }
}
