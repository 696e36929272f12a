//! Surfaces shared by shapes that differ by a scale.

use super::normals;
use glam::{DVec3, Vec3};
use rattleback_geometry::{Shape, TriangleMesh};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Triangles with a normal at each corner, scaled to about unit size.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Corners.
    pub positions: Vec<Vec3>,
    /// Unit normal of each corner, outwards.
    pub normals: Vec<Vec3>,
    /// Triangles of corners, counter-clockwise from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    fn of(mesh: &TriangleMesh, scale: f64) -> Self {
        let vertices: Vec<DVec3> = mesh.vertices().iter().map(|v| *v / scale).collect();
        let (positions, normals, triangles) = normals::creased(&vertices, mesh.triangles());
        Self { positions, normals, triangles }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Sphere,
    Cube,
    Cylinder,
    Cone,
    /// Height over radius, as bits.
    Capsule(u64),
    /// Hash of the vertices over their size, and of the triangles.
    Mesh(u64),
}

/// Surfaces made so far.
#[derive(Debug)]
pub(super) struct Surfaces {
    pub list: Vec<Surface>,
    known: HashMap<Key, u32>,
    segments: u32,
}

impl Surfaces {
    pub fn new(segments: u32) -> Self {
        Self { list: Vec::new(), known: HashMap::new(), segments }
    }

    /// Bounded shape ⇒ index of its surface and its scale; none if it cannot be drawn.
    pub fn of(&mut self, shape: &Shape) -> Option<(u32, DVec3)> {
        let one = DVec3::ONE;
        match shape {
            Shape::Sphere(sphere) => self.unit(Key::Sphere, Shape::sphere(1.0), one * sphere.radius()),
            Shape::Ellipsoid(e) => self.unit(Key::Sphere, Shape::sphere(1.0), e.semi_axes()),
            Shape::Cuboid(cuboid) => self.unit(Key::Cube, Shape::cuboid(one), cuboid.half_extents()),
            Shape::Cylinder(c) => {
                let scale = DVec3::new(c.radius(), c.radius(), 0.5 * c.height());
                self.unit(Key::Cylinder, Shape::cylinder(1.0, 2.0), scale)
            }
            Shape::Cone(c) => {
                self.unit(Key::Cone, Shape::cone(1.0, 1.0), DVec3::new(c.radius(), c.radius(), c.height()))
            }
            Shape::Capsule(c) => {
                let ratio = c.height() / c.radius();
                self.unit(Key::Capsule(ratio.to_bits()), Shape::capsule(1.0, ratio), one * c.radius())
            }
            Shape::HalfSpace(_) => None,
            _ => self.mesh(&shape.surface(self.segments).ok()?),
        }
    }

    fn unit<E>(&mut self, key: Key, shape: Result<Shape, E>, scale: DVec3) -> Option<(u32, DVec3)> {
        if let Some(index) = self.known.get(&key) {
            return Some((*index, scale));
        }
        let mesh = shape.ok()?.surface(self.segments).ok()?;
        Some((self.add(key, Surface::of(&mesh, 1.0)), scale))
    }

    fn mesh(&mut self, mesh: &TriangleMesh) -> Option<(u32, DVec3)> {
        let size = mesh.vertices().iter().map(|v| v.abs().max_element()).fold(0.0, f64::max);
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        for vertex in mesh.vertices() {
            (*vertex / size * 1e6).round().as_ivec3().hash(&mut hasher);
        }
        mesh.triangles().hash(&mut hasher);
        let key = Key::Mesh(hasher.finish());
        let index = match self.known.get(&key) {
            Some(index) => *index,
            None => self.add(key, Surface::of(mesh, size)),
        };
        Some((index, DVec3::splat(size)))
    }

    fn add(&mut self, key: Key, surface: Surface) -> u32 {
        let index = self.list.len() as u32;
        self.list.push(surface);
        self.known.insert(key, index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bounding box of the drawn surface is that of the shape.
    #[test]
    fn scaled_surfaces_fill_the_shape() {
        let hull = [DVec3::ZERO, DVec3::X * 3.0, DVec3::Y * 2.0, DVec3::Z];
        let shapes = [
            Shape::sphere(0.3),
            Shape::cuboid(DVec3::new(1.0, 2.0, 3.0)),
            Shape::cylinder(0.5, 3.0),
            Shape::capsule(0.25, 2.0),
            Shape::cone(2.0, 3.0),
            Shape::ellipsoid(DVec3::new(0.1, 0.2, 0.3)),
            Shape::convex_hull(&hull),
        ];
        let mut surfaces = Surfaces::new(64);
        for shape in shapes {
            let shape = shape.unwrap();
            let (index, scale) = surfaces.of(&shape).unwrap();
            let drawn = rattleback_geometry::Aabb::from_points(
                surfaces.list[index as usize].positions.iter().map(|p| p.as_dvec3() * scale),
            )
            .unwrap();
            let exact = shape.aabb(&rattleback_geometry::Pose::IDENTITY).unwrap();
            let error = (drawn.min() - exact.min()).abs().max((drawn.max() - exact.max()).abs());
            assert!(error.max_element() < 0.01 * exact.diagonal(), "{shape:?}: {error}");
        }
        // Similar hulls of any size share a surface.
        let before = surfaces.list.len();
        surfaces.of(&Shape::convex_hull(&hull.map(|p| p * 7.0)).unwrap()).unwrap();
        assert_eq!(surfaces.list.len(), before);
    }
}
