//! Convex parts of bodies, and the levers of their rotation.
//!
//! The lever ℓ of a part is the largest |p* × d| over all directions d and support points p* along d (see
//! `motion_bound`). With the origin inside the part, p*·d ≥ 0, so for a vertex p* it grows with the angle
//! between p* and d and is largest at the boundary of the cone of directions in which the vertex is the
//! support point: at the normals of its faces. For an ellipsoid it is a_max − a_min. A part displaced by c
//! adds c·d to the support function, hence |c| to the lever.

use super::support_bound::SupportShape;
use crate::world::{AttachedShape, ShapeId};
use glam::DVec3;
use rattleback_geometry::closest::ClosestError;
use rattleback_geometry::contact::Piece;
use rattleback_geometry::{Aabb, Pose, Shape};

/// Convex part of a body, in the frame that the body rotates about.
#[derive(Clone, Debug)]
pub(super) struct ConvexPart {
    pub body: u32,
    pub shape: ShapeId,
    geometry: PartGeometry,
    /// Frame of the geometry → frame of the body.
    pub pose: Pose,
    pub lever: f64,
    /// Largest distance of a point from the centre of rotation, m.
    pub radius: f64,
    /// Axis of revolution through the centre of rotation, if there is one.
    pub axis: Option<DVec3>,
    pub support: SupportShape,
}

#[derive(Clone, Debug)]
enum PartGeometry {
    Shape(Shape),
    Triangle([DVec3; 3]),
}

impl ConvexPart {
    /// The part as an operand of distance queries.
    pub fn piece(&self) -> Result<Piece<'_>, ClosestError> {
        match &self.geometry {
            PartGeometry::Shape(shape) => Piece::try_from(shape),
            PartGeometry::Triangle(corners) => Ok(Piece::Triangle(*corners)),
        }
    }

    /// Whether its contact with a convex shape is always a single point.
    pub fn has_point_contact(&self) -> bool {
        matches!(&self.geometry, PartGeometry::Shape(Shape::Sphere(_) | Shape::Ellipsoid(_)))
    }

    /// Whether it has a curved side.
    pub fn has_curved_side(&self) -> bool {
        matches!(&self.geometry, PartGeometry::Shape(Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_)))
    }

    /// Shape that is a whole body by itself.
    #[cfg(test)]
    pub fn whole(shape: Shape, id: ShapeId) -> Self {
        let (geometry, pose) = (PartGeometry::Shape(shape), Pose::IDENTITY);
        let ((lever, radius), axis) = (extent(&geometry, &pose), axis_of(&geometry, &pose));
        let support = support_of(&geometry, &pose);
        Self { body: 0, shape: id, geometry, pose, lever, radius, axis, support }
    }

    /// Pose of the body ⇒ AABB of the part; none if it is unbounded.
    pub fn aabb(&self, body: &Pose) -> Option<Aabb> {
        let pose = *body * self.pose;
        match &self.geometry {
            PartGeometry::Shape(shape) => shape.aabb(&pose),
            PartGeometry::Triangle(corners) => {
                Aabb::from_points(corners.map(|corner| pose.point(corner))).ok()
            }
        }
    }
}

/// (shape of a body, its pose in the frame that the body rotates about) ⇒ appends its convex parts.
pub(super) fn convex_parts(
    attached: &AttachedShape,
    id: ShapeId,
    body: u32,
    pose: Pose,
    parts: &mut Vec<ConvexPart>,
) {
    let mut push = |geometry: PartGeometry, pose: Pose| {
        let (lever, radius) = extent(&geometry, &pose);
        let axis = axis_of(&geometry, &pose);
        let support = support_of(&geometry, &pose);
        parts.push(ConvexPart { body, shape: id, geometry, pose, lever, radius, axis, support });
    };
    decompose(&attached.shape, pose, &mut push);
}

/// Visits the convex parts of a shape; meshes and height fields are decomposed into triangles.
fn decompose(shape: &Shape, pose: Pose, push: &mut impl FnMut(PartGeometry, Pose)) {
    match shape {
        Shape::Compound(compound) => {
            for (local, part) in compound.parts() {
                decompose(part, pose * *local, push);
            }
        }
        Shape::Mesh(mesh) => {
            for i in 0..mesh.triangles().len() {
                push(PartGeometry::Triangle(mesh.triangle(i)), pose);
            }
        }
        Shape::HeightField(field) => {
            if let Ok(mesh) = field.surface() {
                for i in 0..mesh.triangles().len() {
                    push(PartGeometry::Triangle(mesh.triangle(i)), pose);
                }
            }
        }
        convex => push(PartGeometry::Shape(convex.clone()), pose),
    }
}

/// Geometry at a pose ⇒ (lever, largest distance) about the origin, m.
fn extent(geometry: &PartGeometry, pose: &Pose) -> (f64, f64) {
    let offset = pose.translation.length();
    let (lever, radius) = match geometry {
        PartGeometry::Triangle(corners) => {
            let radius = corners.iter().map(|corner| corner.length()).fold(0.0, f64::max);
            (radius, radius)
        }
        PartGeometry::Shape(shape) => (shape_lever(shape), shape_radius(shape)),
    };
    ((lever + offset).min(radius + offset), radius + offset)
}

/// Axis of a solid of revolution, if it passes through the centre of rotation.
fn axis_of(geometry: &PartGeometry, pose: &Pose) -> Option<DVec3> {
    let PartGeometry::Shape(Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_)) = geometry else {
        return None;
    };
    let axis = pose.vector(DVec3::Z);
    (pose.translation.cross(axis).length() <= 1e-12 * pose.translation.length()).then_some(axis)
}

fn support_of(geometry: &PartGeometry, pose: &Pose) -> SupportShape {
    let corners =
        |corners: &[DVec3]| SupportShape::Corners(corners.iter().map(|corner| pose.point(*corner)).collect());
    match geometry {
        PartGeometry::Triangle(three) => corners(three),
        PartGeometry::Shape(Shape::Convex(convex)) => corners(convex.vertices()),
        PartGeometry::Shape(Shape::Cuboid(cuboid)) => {
            SupportShape::Box { pose: *pose, half_extents: cuboid.half_extents() }
        }
        PartGeometry::Shape(Shape::Cylinder(cylinder)) => SupportShape::Cylinder {
            pose: *pose,
            radius: cylinder.radius(),
            half_height: 0.5 * cylinder.height(),
        },
        PartGeometry::Shape(Shape::Ellipsoid(ellipsoid)) => {
            SupportShape::Ellipsoid { pose: *pose, semi_axes: ellipsoid.semi_axes() }
        }
        PartGeometry::Shape(Shape::Sphere(_)) if pose.translation == DVec3::ZERO => SupportShape::Ball,
        // A constant radius about a point or a segment.
        PartGeometry::Shape(Shape::Sphere(_)) => corners(&[DVec3::ZERO]),
        PartGeometry::Shape(Shape::Capsule(capsule)) => {
            let end = 0.5 * capsule.height() * DVec3::Z;
            corners(&[end, -end])
        }
        PartGeometry::Shape(_) => SupportShape::Other,
    }
}

fn shape_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Convex(convex) => convex.vertices().iter().map(|corner| corner.length()).fold(0.0, f64::max),
        Shape::Cuboid(cuboid) => cuboid.half_extents().length(),
        // Unbounded shapes never rotate.
        Shape::HalfSpace(_) => 0.0,
        other => other.bounding_sphere().map_or(0.0, |ball| ball.center().length() + ball.radius()),
    }
}

/// Lever about the origin of the shape itself, m.
fn shape_lever(shape: &Shape) -> f64 {
    match shape {
        Shape::Sphere(_) | Shape::HalfSpace(_) => 0.0,
        Shape::Capsule(capsule) => 0.5 * capsule.height(),
        Shape::Cuboid(cuboid) => {
            let h = cuboid.half_extents();
            (h.length_squared() - h.min_element().powi(2)).max(0.0).sqrt()
        }
        Shape::Cylinder(cylinder) => cylinder.radius().max(0.5 * cylinder.height()),
        Shape::Ellipsoid(ellipsoid) => {
            ellipsoid.semi_axes().max_element() - ellipsoid.semi_axes().min_element()
        }
        Shape::Convex(convex) if convex.contains(DVec3::ZERO) => {
            let solid = convex.polyhedron();
            (0..solid.face_count())
                .flat_map(|face| {
                    let normal = solid.normals()[face];
                    solid
                        .face(face)
                        .iter()
                        .map(move |corner| solid.vertices()[*corner as usize].cross(normal).length())
                })
                .fold(0.0, f64::max)
        }
        other => shape_radius(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use proptest::prelude::*;
    use rattleback_geometry::closest::{ConvexShape, Support};

    fn shapes() -> Vec<Shape> {
        let corners: Vec<DVec3> = (0..14)
            .map(|k| {
                let k = f64::from(k);
                DVec3::new((2.1 * k).sin() * 1.3, (3.7 * k).cos() * 0.5, (1.3 * k + 0.4).sin())
            })
            .collect();
        vec![
            Shape::sphere(0.7).unwrap(),
            Shape::cuboid(DVec3::new(0.3, 1.0, 0.1)).unwrap(),
            Shape::cylinder(0.4, 1.7).unwrap(),
            Shape::capsule(0.4, 1.7).unwrap(),
            Shape::cone(0.4, 1.7).unwrap(),
            Shape::ellipsoid(DVec3::new(0.3, 1.0, 0.2)).unwrap(),
            Shape::convex_hull(&corners).unwrap(),
        ]
    }

    fn support(shape: &Shape, pose: &Pose, d: DVec3) -> f64 {
        let convex = ConvexShape::try_from(shape).unwrap();
        let local = pose.inverse_vector(d);
        pose.point(convex.farthest(local, 0).0).dot(d) + Support::radius(&convex)
    }

    proptest! {
        /// |h(d) − h(d′)| ≤ ℓ · angle between them, for every shape, near and far directions, any pose.
        #[test]
        fn the_lever_bounds_the_support_function(
            d in prop::array::uniform3(-1.0..1.0f64), axis in prop::array::uniform3(-1.0..1.0f64),
            angle in 1e-4..3.0f64, offset in prop::array::uniform3(-1.0..1.0f64), turned in any::<bool>(),
        ) {
            let (d, axis) = (DVec3::from_array(d), DVec3::from_array(axis));
            prop_assume!(d.length() > 0.1 && axis.length() > 0.1);
            let d = d.normalize();
            let other = DQuat::from_axis_angle(axis.normalize(), angle) * d;
            let apart = d.angle_between(other);
            let pose = if turned {
                Pose::new(DQuat::from_axis_angle(axis.normalize(), 1.0), DVec3::from_array(offset))
            } else {
                Pose::IDENTITY
            };
            for shape in shapes() {
                let (lever, _) = extent(&PartGeometry::Shape(shape.clone()), &pose);
                let change = (support(&shape, &pose, d) - support(&shape, &pose, other)).abs();
                prop_assert!(change <= lever * apart + 1e-9, "{:?}: {change} > {lever} * {apart}", shape.kind());
            }
        }
    }
}
