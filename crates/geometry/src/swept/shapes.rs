//! First contact of any two shapes that move and turn.
//!
//! Shapes are taken apart into convex pieces: themselves, the parts of a compound, the triangles of a mesh or terrain.
//! Pieces whose swept boxes overlap are advanced against each other, the earliest contact so far being the end of the way
//! for the next pair. A point at r from the centre leaves the chord of its arc of angle θ by at most r (1 − cos θ/2), so the
//! box around start and end, widened by that, holds the whole way.
//!
//! Meshes and terrain are surfaces here: a body wholly inside one does not touch it.

use glam::DVec3;
use thiserror::Error;

use super::Motion;
use super::advancement::{Advancement, Contact, Gap, MovingBody, advance};
use crate::closest::{ClosestError, ConvexShape, Gjk, GjkCache, Support, gjk};
use crate::primitive::PrimitiveError;
use crate::{Aabb, HalfSpace, Pose, Shape};

/// Why a shape cannot be cast.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SweptError {
    /// A setting or a motion is out of range.
    #[error(transparent)]
    Primitive(#[from] PrimitiveError),
    /// The distance of two pieces cannot be measured.
    #[error(transparent)]
    Closest(#[from] ClosestError),
    /// Two half-spaces never come free of each other.
    #[error("two half-spaces cannot be cast against each other: at most one shape may be unbounded")]
    BothUnbounded,
    /// A half-space that turns sweeps over everything at once.
    #[error("a half-space cannot turn while something is cast against it")]
    TurningHalfSpace,
}

/// First contact of two moving shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeContact {
    /// When, with which gap left, after how much work.
    pub contact: Contact,
    /// Convex piece of each shape: part of a compound, counting triangles of meshes in it one by one; 0 of a convex shape.
    pub pieces: [u32; 2],
}

/// (shape, motion, shape, motion) ⇒ first contact over s ∈ [0, 1]; None if they stay apart.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::swept::{Advancement, Motion, cast_shapes};
/// use rattleback_geometry::{Pose, Shape};
/// let (ball, wall) = (Shape::sphere(0.01)?, Shape::cuboid(DVec3::new(0.0005, 1.0, 1.0))?);
/// let bullet = Motion::new(Pose::at(-5.0 * DVec3::X), DVec3::ZERO, 16.0 * DVec3::X, DVec3::ZERO)?;
/// let still = Motion::resting(Pose::IDENTITY)?;
/// let hit = cast_shapes(&ball, &bullet, &wall, &still, &Advancement::default())?.unwrap();
/// assert!((hit.contact.time - (5.0 - 0.0105) / 16.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cast_shapes(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    settings: &Advancement,
) -> Result<Option<ShapeContact>, SweptError> {
    settings.check()?;
    match (a, b) {
        (Shape::HalfSpace(_), Shape::HalfSpace(_)) => return Err(SweptError::BothUnbounded),
        (Shape::HalfSpace(plane), _) => {
            let hit = cast_at_half_space(b, motion_b, plane, motion_a, settings)?;
            return Ok(hit.map(|hit| hit.swapped()));
        }
        (_, Shape::HalfSpace(plane)) => return cast_at_half_space(a, motion_a, plane, motion_b, settings),
        _ => {}
    }
    let margin = settings.distance_tolerance;
    let all_b = pieces_of(b, motion_b, margin);
    let around_b = all_b.iter().map(|piece| piece.swept).reduce(|x, y| x.union(&y));
    let mut best: Option<ShapeContact> = None;
    for (i, piece_a) in pieces_of(a, motion_a, margin).iter().enumerate() {
        if !around_b.is_some_and(|around| around.overlaps(&piece_a.swept)) {
            continue;
        }
        for (j, piece_b) in all_b.iter().enumerate() {
            if !piece_a.swept.overlaps(&piece_b.swept) {
                continue;
            }
            let hit = advance_pieces(piece_a, piece_b, settings, best.map(|b| b.contact.time))?;
            if let Some(contact) = hit
                && best.is_none_or(|known| contact.time < known.contact.time)
            {
                best = Some(ShapeContact { contact, pieces: [i as u32, j as u32] });
            }
        }
    }
    Ok(best)
}

impl ShapeContact {
    /// The same with first and second exchanged.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let turned =
            |gap: Gap| Gap { normal: -gap.normal, point_a: gap.point_b, point_b: gap.point_a, ..gap };
        let contact = Contact { gap: self.contact.gap.map(turned), ..self.contact };
        Self { contact, pieces: [self.pieces[1], self.pieces[0]] }
    }
}

/// A bounded convex piece in the frame of its own motion.
struct Piece<'a> {
    form: Form<'a>,
    body: MovingBody,
    /// Holds the piece during the whole motion.
    swept: Aabb,
}

enum Form<'a> {
    Shape(ConvexShape<'a>),
    Triangle(crate::closest::Triangle),
}

impl Support for Form<'_> {
    fn farthest(&self, direction: DVec3, start: u32) -> (DVec3, u32) {
        match self {
            Self::Shape(shape) => shape.farthest(direction, start),
            Self::Triangle(triangle) => triangle.farthest(direction, start),
        }
    }

    fn corner(&self, number: u32) -> Option<DVec3> {
        match self {
            Self::Shape(shape) => shape.corner(number),
            Self::Triangle(triangle) => triangle.corner(number),
        }
    }

    fn radius(&self) -> f64 {
        match self {
            Self::Shape(shape) => Support::radius(shape),
            Self::Triangle(_) => 0.0,
        }
    }
}

/// All convex pieces of a shape, each with its motion. Unbounded and unanswering shapes give none.
fn pieces_of<'a>(shape: &'a Shape, motion: &Motion, margin: f64) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    collect(shape, motion, margin, &mut pieces);
    pieces
}

fn collect<'a>(shape: &'a Shape, motion: &Motion, margin: f64, pieces: &mut Vec<Piece<'a>>) {
    let mut triangle = |corners: [DVec3; 3]| {
        let radius = corners.iter().map(|p| p.distance(motion.center())).fold(0.0, f64::max);
        let bounds = |pose: &Pose| Aabb::from_points(corners.map(|p| pose.point(p))).ok();
        if let Some(swept) = swept_bounds(motion, radius, margin, bounds) {
            let form = Form::Triangle(crate::closest::Triangle(corners));
            pieces.push(Piece { form, body: MovingBody { motion: *motion, radius }, swept });
        }
    };
    match shape {
        Shape::Mesh(mesh) => (0..mesh.triangles().len()).for_each(|i| triangle(mesh.triangle(i))),
        Shape::HeightField(field) => {
            for row in 0..field.rows() - 1 {
                for column in 0..field.columns() - 1 {
                    field.cell(row, column).into_iter().for_each(&mut triangle);
                }
            }
        }
        Shape::Compound(compound) => {
            for (place, part) in compound.parts() {
                collect(part, &motion.of_part(place), margin, pieces);
            }
        }
        _ => {
            let Ok(convex) = ConvexShape::try_from(shape) else { return };
            let Some(radius) = shape.rotation_radius(motion.center()) else { return };
            if let Some(swept) = swept_bounds(motion, radius, margin, |pose| shape.aabb(pose)) {
                let body = MovingBody { motion: *motion, radius };
                pieces.push(Piece { form: Form::Shape(convex), body, swept });
            }
        }
    }
}

/// A box around all places a piece comes to.
fn swept_bounds(
    motion: &Motion,
    radius: f64,
    margin: f64,
    bounds: impl Fn(&Pose) -> Option<Aabb>,
) -> Option<Aabb> {
    let ends = bounds(&motion.pose(0.0))?.union(&bounds(&motion.pose(1.0))?);
    let half_angle = (0.5 * motion.turn().length()).min(std::f64::consts::PI);
    ends.enlarged(radius * (1.0 - half_angle.cos()) + margin).ok()
}

fn advance_pieces(
    a: &Piece<'_>,
    b: &Piece<'_>,
    settings: &Advancement,
    until: Option<f64>,
) -> Result<Option<Contact>, SweptError> {
    let mut cache = GjkCache::default();
    let mut failure = None;
    let until = until.unwrap_or(1.0);
    // The way ends where the best contact so far lies; the bodies are given that much of their motion.
    let shortened = |body: &MovingBody| MovingBody { motion: body.motion.piece(0.0, until), ..*body };
    let found = advance(&shortened(&a.body), &shortened(&b.body), settings, |pose_a, pose_b| {
        match gjk(&a.form, &b.form, &pose_a.relative(pose_b), &mut cache) {
            Ok(Gjk::Apart(apart)) if apart.distance > 0.0 => Some(Gap {
                distance: apart.distance,
                normal: pose_a.vector(apart.normal),
                point_a: pose_a.point(apart.point_a),
                point_b: pose_a.point(apart.point_b),
            }),
            Ok(_) => None,
            Err(error) => {
                failure = Some(error);
                None
            }
        }
    })?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(found.map(|contact| Contact { time: until * contact.time, ..contact })),
    }
}

/// The half-space may move but not turn. Its distance from a piece is that of the piece's lowest point.
fn cast_at_half_space(
    shape: &Shape,
    motion: &Motion,
    half_space: &HalfSpace,
    plane_motion: &Motion,
    settings: &Advancement,
) -> Result<Option<ShapeContact>, SweptError> {
    if plane_motion.turn() != DVec3::ZERO {
        return Err(SweptError::TurningHalfSpace);
    }
    let plane = MovingBody { motion: *plane_motion, radius: 0.0 };
    let normal = plane_motion.pose(0.0).vector(half_space.normal());
    let mut best: Option<ShapeContact> = None;
    for (i, piece) in pieces_of(shape, motion, settings.distance_tolerance).iter().enumerate() {
        let found = advance(&piece.body, &plane, settings, |pose, plane_pose| {
            let (lowest, _) = piece.form.farthest(pose.inverse_vector(-normal), 0);
            let point_a = pose.point(lowest) - piece.form.radius() * normal;
            let distance = normal.dot(point_a - plane_pose.translation);
            let point_b = point_a - distance * normal;
            (distance > 0.0).then_some(Gap { distance, normal: -normal, point_a, point_b })
        })?;
        if let Some(contact) = found
            && best.is_none_or(|known| contact.time < known.contact.time)
        {
            best = Some(ShapeContact { contact, pieces: [i as u32, 0] });
        }
    }
    Ok(best)
}
