//! The convex parts bodies are made of here, and how far they reach from the point they turn about.
//!
//! The lever ℓ of a part is the largest |p* × d| over all directions d and foremost points p* along d (see `reach`). With the
//! origin inside the part, p*·d ≥ 0, so for a corner p* it grows with the angle between p* and d and is largest at the edges
//! of the cone of directions the corner is foremost in: at the normals of its faces. For an ellipsoid it is a_max − a_min. A part
//! displaced by c adds c·d to the support function, hence |c| to the lever.

use super::outline::Outline;
use crate::world::{AttachedShape, ShapeId};
use glam::DVec3;
use rattleback_geometry::closest::ClosestError;
use rattleback_geometry::contact::Piece;
use rattleback_geometry::{Aabb, Pose, Shape};

/// One convex part of a body, in the frame it turns about.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub actor: u32,
    pub shape: ShapeId,
    geometry: Geometry,
    /// Frame of the geometry → frame of the body.
    pub place: Pose,
    pub lever: f64,
    /// Largest distance of a point from the centre.
    pub radius: f64,
    /// Axis through the centre about which turning changes nothing, if there is one.
    pub axis: Option<DVec3>,
    pub outline: Outline,
}

#[derive(Clone, Debug)]
enum Geometry {
    Shape(Shape),
    Triangle([DVec3; 3]),
}

impl Part {
    /// Part as geometry sees it.
    pub fn piece(&self) -> Result<Piece<'_>, ClosestError> {
        match &self.geometry {
            Geometry::Shape(shape) => Piece::try_from(shape),
            Geometry::Triangle(corners) => Ok(Piece::Triangle(*corners)),
        }
    }

    /// Whether it can touch a convex shape in a single point only.
    pub fn touches_in_one_point(&self) -> bool {
        matches!(&self.geometry, Geometry::Shape(Shape::Sphere(_) | Shape::Ellipsoid(_)))
    }

    /// Whether it has a round side.
    pub fn is_round(&self) -> bool {
        matches!(&self.geometry, Geometry::Shape(Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_)))
    }

    /// A shape that is a whole body by itself.
    #[cfg(test)]
    pub fn whole(shape: Shape, id: ShapeId) -> Self {
        let (geometry, place) = (Geometry::Shape(shape), Pose::IDENTITY);
        let ((lever, radius), axis) = (extent(&geometry, &place), axis_of(&geometry, &place));
        let outline = outline_of(&geometry, &place);
        Self { actor: 0, shape: id, geometry, place, lever, radius, axis, outline }
    }

    /// Pose of the body ⇒ box around the part; None if it has no end.
    pub fn aabb(&self, body: &Pose) -> Option<Aabb> {
        let pose = *body * self.place;
        match &self.geometry {
            Geometry::Shape(shape) => shape.aabb(&pose),
            Geometry::Triangle(corners) => Aabb::from_points(corners.map(|corner| pose.point(corner))).ok(),
        }
    }
}

/// (shape of a body, its pose in the frame the body turns about) ⇒ its convex parts.
pub(super) fn parts_of(
    attached: &AttachedShape,
    id: ShapeId,
    actor: u32,
    place: Pose,
    parts: &mut Vec<Part>,
) {
    let mut push = |geometry: Geometry, place: Pose| {
        let (lever, radius) = extent(&geometry, &place);
        let axis = axis_of(&geometry, &place);
        let outline = outline_of(&geometry, &place);
        parts.push(Part { actor, shape: id, geometry, place, lever, radius, axis, outline });
    };
    take_apart(&attached.shape, place, &mut push);
}

fn take_apart(shape: &Shape, place: Pose, push: &mut impl FnMut(Geometry, Pose)) {
    match shape {
        Shape::Compound(compound) => {
            for (pose, part) in compound.parts() {
                take_apart(part, place * *pose, push);
            }
        }
        Shape::Mesh(mesh) => {
            for i in 0..mesh.triangles().len() {
                push(Geometry::Triangle(mesh.triangle(i)), place);
            }
        }
        Shape::HeightField(field) => {
            if let Ok(mesh) = field.surface() {
                for i in 0..mesh.triangles().len() {
                    push(Geometry::Triangle(mesh.triangle(i)), place);
                }
            }
        }
        convex => push(Geometry::Shape(convex.clone()), place),
    }
}

/// Geometry at a place ⇒ (lever, largest distance) about the origin.
fn extent(geometry: &Geometry, place: &Pose) -> (f64, f64) {
    let offset = place.translation.length();
    let (lever, radius) = match geometry {
        Geometry::Triangle(corners) => {
            let radius = corners.iter().map(|corner| corner.length()).fold(0.0, f64::max);
            (radius, radius)
        }
        Geometry::Shape(shape) => (own_lever(shape), own_radius(shape)),
    };
    ((lever + offset).min(radius + offset), radius + offset)
}

/// The axis of a solid of revolution that passes through the centre.
fn axis_of(geometry: &Geometry, place: &Pose) -> Option<DVec3> {
    let Geometry::Shape(Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_)) = geometry else {
        return None;
    };
    let axis = place.vector(DVec3::Z);
    (place.translation.cross(axis).length() <= 1e-12 * place.translation.length()).then_some(axis)
}

fn outline_of(geometry: &Geometry, place: &Pose) -> Outline {
    let corners =
        |corners: &[DVec3]| Outline::Corners(corners.iter().map(|corner| place.point(*corner)).collect());
    match geometry {
        Geometry::Triangle(three) => corners(three),
        Geometry::Shape(Shape::Convex(convex)) => corners(convex.vertices()),
        Geometry::Shape(Shape::Cuboid(cuboid)) => {
            Outline::Box { place: *place, half_extents: cuboid.half_extents() }
        }
        Geometry::Shape(Shape::Cylinder(cylinder)) => Outline::Cylinder {
            place: *place,
            radius: cylinder.radius(),
            half_height: 0.5 * cylinder.height(),
        },
        Geometry::Shape(Shape::Ellipsoid(ellipsoid)) => {
            Outline::Ellipsoid { place: *place, semi_axes: ellipsoid.semi_axes() }
        }
        Geometry::Shape(Shape::Sphere(_)) if place.translation == DVec3::ZERO => Outline::Ball,
        Geometry::Shape(_) => Outline::Other,
    }
}

fn own_radius(shape: &Shape) -> f64 {
    match shape {
        Shape::Convex(convex) => convex.vertices().iter().map(|corner| corner.length()).fold(0.0, f64::max),
        Shape::Cuboid(cuboid) => cuboid.half_extents().length(),
        // Whoever has no end never turns.
        Shape::HalfSpace(_) => 0.0,
        other => other.bounding_sphere().map_or(0.0, |ball| ball.center().length() + ball.radius()),
    }
}

/// The lever about the shape's own origin.
fn own_lever(shape: &Shape) -> f64 {
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
        other => own_radius(other),
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

    fn support(shape: &Shape, place: &Pose, d: DVec3) -> f64 {
        let convex = ConvexShape::try_from(shape).unwrap();
        let local = place.inverse_vector(d);
        place.point(convex.farthest(local, 0).0).dot(d) + Support::radius(&convex)
    }

    proptest! {
        /// |h(d) − h(d′)| ≤ ℓ · angle between them, for every shape, near and far directions, any place.
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
            let place = if turned {
                Pose::new(DQuat::from_axis_angle(axis.normalize(), 1.0), DVec3::from_array(offset))
            } else {
                Pose::IDENTITY
            };
            for shape in shapes() {
                let (lever, _) = extent(&Geometry::Shape(shape.clone()), &place);
                let change = (support(&shape, &place, d) - support(&shape, &place, other)).abs();
                prop_assert!(change <= lever * apart + 1e-9, "{:?}: {change} > {lever} * {apart}", shape.kind());
            }
        }
    }
}
