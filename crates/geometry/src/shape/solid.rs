//! Volume, mass, containment, support points and tessellation of shapes.

use glam::{DMat3, DVec3};

use super::{Shape, ShapeError};
use crate::mass_properties::check_density;
use crate::{MassError, MassProperties, TriangleMesh, generate};

impl Shape {
    /// Volume, exact except for custom shapes. An open mesh, a terrain or a half-space has none.
    pub fn volume(&self) -> Result<f64, MassError> {
        match self {
            Self::Sphere(sphere) => Ok(sphere.volume()),
            Self::Cuboid(cuboid) => Ok(cuboid.volume()),
            Self::Cylinder(cylinder) => Ok(cylinder.volume()),
            Self::Capsule(capsule) => Ok(capsule.volume()),
            Self::Cone(cone) => Ok(cone.volume()),
            Self::Ellipsoid(ellipsoid) => Ok(ellipsoid.volume()),
            Self::Compound(compound) => compound.volume(),
            Self::HalfSpace(_) | Self::HeightField(_) | Self::Convex(_) | Self::Mesh(_) | Self::Custom(_) => {
                Ok(self.mass_properties(1.0)?.mass)
            }
        }
    }

    /// Uniform density ⇒ mass properties, exact except for custom shapes (hull of their support points).
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        check_density(density)?;
        let about_origin = |volume: f64, unit_inertia: DMat3| {
            let mass = density * volume;
            MassProperties::new(mass, DVec3::ZERO, mass * unit_inertia)
        };
        match self {
            Self::Sphere(sphere) => about_origin(sphere.volume(), sphere.unit_inertia()),
            Self::Cuboid(cuboid) => about_origin(cuboid.volume(), cuboid.unit_inertia()),
            Self::Cylinder(cylinder) => about_origin(cylinder.volume(), cylinder.unit_inertia()),
            Self::Capsule(capsule) => about_origin(capsule.volume(), capsule.unit_inertia()),
            Self::Cone(cone) => about_origin(cone.volume(), cone.unit_inertia()),
            Self::Ellipsoid(ellipsoid) => about_origin(ellipsoid.volume(), ellipsoid.unit_inertia()),
            Self::HalfSpace(_) => Err(MassError::Unbounded { shape: self.kind().name().to_owned() }),
            Self::HeightField(_) => Err(MassError::NoVolume { shape: self.kind().name().to_owned() }),
            Self::Convex(convex) => convex.mass_properties(density),
            Self::Mesh(mesh) => mesh.mass_properties(density),
            Self::Compound(compound) => compound.mass_properties(density),
            Self::Custom(custom) => match custom.hull() {
                Ok(hull) => hull.mass_properties(density),
                Err(_) => Err(MassError::NoVolume { shape: custom.name().to_owned() }),
            },
        }
    }

    /// Whether the point, in the shape's frame, lies inside. Terrain is solid below its surface, within its
    /// grid.
    pub fn contains(&self, p: DVec3) -> bool {
        match self {
            Self::Sphere(sphere) => sphere.contains(p),
            Self::Cuboid(cuboid) => cuboid.contains(p),
            Self::Cylinder(cylinder) => cylinder.contains(p),
            Self::Capsule(capsule) => capsule.contains(p),
            Self::Cone(cone) => cone.contains(p),
            Self::Ellipsoid(ellipsoid) => ellipsoid.contains(p),
            Self::HalfSpace(half_space) => half_space.contains(p),
            Self::Convex(convex) => convex.contains(p),
            Self::Mesh(mesh) => mesh.contains(p),
            Self::HeightField(field) => field.contains(p),
            Self::Compound(compound) => compound.contains(p),
            Self::Custom(custom) => custom.contains(p),
        }
    }

    /// A point of a bounded convex shape farthest along a direction (of any length; zero means some point of
    /// the boundary). None if the shape is unbounded or not known to be convex, or the direction is not
    /// finite.
    pub fn support(&self, direction: DVec3) -> Option<DVec3> {
        if !direction.is_finite() {
            return None;
        }
        let d = unit(direction);
        match self {
            Self::Sphere(sphere) => Some(sphere.support(d)),
            Self::Cuboid(cuboid) => Some(cuboid.support(d)),
            Self::Cylinder(cylinder) => Some(cylinder.support(d)),
            Self::Capsule(capsule) => Some(capsule.support(d)),
            Self::Cone(cone) => Some(cone.support(d)),
            Self::Ellipsoid(ellipsoid) => Some(ellipsoid.support(d)),
            Self::Convex(convex) => Some(convex.vertices()[convex.support_vertex(d, 0) as usize]),
            Self::Custom(custom) => Some(custom.support(d)),
            Self::HalfSpace(_) | Self::Mesh(_) | Self::HeightField(_) | Self::Compound(_) => None,
        }
    }

    /// Triangles over the surface, outwards; `segments` (3 to 1024) is the number of sides of a full circle.
    /// Closed for all solids; a terrain gives its open surface, a half-space an error.
    pub fn surface(&self, segments: u32) -> Result<TriangleMesh, ShapeError> {
        match self {
            Self::Sphere(sphere) => generate::ellipsoid(DVec3::splat(sphere.radius()), segments),
            Self::Cuboid(cuboid) => Ok(TriangleMesh::from_soup(&generate::cuboid(cuboid.half_extents())?)?),
            Self::Cylinder(cylinder) => generate::cylinder(cylinder.radius(), cylinder.height(), segments),
            Self::Capsule(capsule) => generate::capsule(capsule.radius(), capsule.height(), segments),
            Self::Cone(cone) => generate::cone(cone.radius(), cone.height(), segments),
            Self::Ellipsoid(ellipsoid) => generate::ellipsoid(ellipsoid.semi_axes(), segments),
            Self::HalfSpace(_) => Err(ShapeError::Unbounded { shape: self.kind().name() }),
            Self::Convex(convex) => Ok(convex.to_triangle_mesh()?),
            Self::Mesh(mesh) => Ok(mesh.as_ref().clone()),
            Self::HeightField(field) => Ok(field.surface()?),
            Self::Compound(compound) => compound.surface(segments),
            Self::Custom(custom) => Ok(custom.hull()?.to_triangle_mesh()?),
        }
    }
}

/// Unit vector of a finite direction; x for the zero vector. Scaled first, so that lengths neither overflow
/// nor vanish.
fn unit(direction: DVec3) -> DVec3 {
    let scale = direction.abs().max_element();
    if scale == 0.0 { DVec3::X } else { (direction / scale).normalize_or(DVec3::X) }
}
