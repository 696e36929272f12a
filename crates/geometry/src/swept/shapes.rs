//! First contact of any two shapes that move and turn.
//!
//! Shapes are taken apart into convex pieces: themselves, the parts of a compound, the triangles of a mesh or
//! terrain. Pieces whose swept boxes overlap are advanced against each other, the earliest contact so far
//! being the end of the motion for the next pair. A point at r from the centre leaves the chord of its arc of
//! angle θ by at most r (1 − cos θ/2), so the box around start and end, widened by that, holds the whole way.
//!
//! Only pieces that come near the other shape are taken: those whose box, in the shape's own frame, overlaps
//! the other's path relative to it. A point p of the outer frame is at f(s) = R(s)ᵀ(p − c(s)) seen from the
//! shape, R turning by θ and c moving by d; f leaves its chord by at most max|f″|/8 ≤ (θ² ρ + 2 θ |d|)/8, ρ
//! the largest |p − c|. So the boxes around the other's way, seen at the start and at the end, enlarged by
//! that, contain every possible contact. They are looked up in the hierarchies of meshes and compounds, and
//! by arithmetic in terrain.
//!
//! Meshes and terrain are surfaces here: a body wholly inside one does not touch it.

use std::ops::ControlFlow;

use glam::DVec3;
use thiserror::Error;

use super::Motion;
use super::advancement::{Advancement, Contact, Gap, MovingBody, advance};
use super::linear::{cast_linear, contact_of_cores};
use crate::closest::{ClosestError, ConvexShape, Gjk, GjkCache, Support, gjk};
use crate::hierarchy::{BoxTree, BuildSettings, HierarchyError, Scratch};
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
    /// No hierarchy can be built over a mesh or compound.
    #[error(transparent)]
    Hierarchy(#[from] HierarchyError),
    /// Two half-spaces never come free of each other.
    #[error("two half-spaces cannot be cast against each other: at most one shape may be unbounded")]
    BothUnbounded,
    /// A rotating half-space sweeps over all space at once.
    #[error("a half-space cannot turn while something is cast against it")]
    TurningHalfSpace,
}

/// First contact of two moving shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeContact {
    /// When, with which gap left, after how much work.
    pub contact: Contact,
    /// Convex piece of each shape: part of a compound, counting each triangle of a mesh; 0 for a convex
    /// shape.
    pub pieces: [u32; 2],
}

/// (shape, motion, shape, motion) ⇒ first contact over s ∈ [0, 1]; None if they stay apart.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::swept::{Advancement, Motion, cast_shapes};
/// use rattleback_geometry::{Pose, Shape};
/// let (sphere, wall) = (Shape::sphere(0.01)?, Shape::cuboid(DVec3::new(0.0005, 1.0, 1.0))?);
/// let bullet = Motion::new(Pose::at(-5.0 * DVec3::X), DVec3::ZERO, 16.0 * DVec3::X, DVec3::ZERO)?;
/// let still = Motion::resting(Pose::IDENTITY)?;
/// let hit = cast_shapes(&sphere, &bullet, &wall, &still, &Advancement::default())?.unwrap();
/// assert!((hit.contact.time - (5.0 - 0.0105) / 16.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[inline]
pub fn cast_shapes(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    settings: &Advancement,
) -> Result<Option<ShapeContact>, SweptError> {
    // Cases that take nanoseconds are inlined: a call with its result through memory would cost as much.
    if let (Shape::Sphere(sphere_a), Shape::Sphere(sphere_b)) = (a, b)
        && straight(motion_a, motion_b)
    {
        let [sphere_a, sphere_b] = [sphere_a, sphere_b].map(ConvexShape::Sphere);
        let contact = cast_linear(&sphere_a, motion_a, &sphere_b, motion_b, settings)?;
        return Ok(contact.map(|contact| ShapeContact { contact, pieces: [0; 2] }));
    }
    cast_other_shapes(a, motion_a, b, motion_b, settings)
}

fn cast_other_shapes(
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
    if let (true, Ok(convex_a), Ok(convex_b)) =
        (straight(motion_a, motion_b), ConvexShape::try_from(a), ConvexShape::try_from(b))
    {
        let contact = cast_linear(&convex_a, motion_a, &convex_b, motion_b, settings)?;
        return Ok(contact.map(|contact| ShapeContact { contact, pieces: [0; 2] }));
    }
    let margin = settings.distance_tolerance;
    let (Some(way_a), Some(way_b)) = (way_of(a, motion_a, margin), way_of(b, motion_b, margin)) else {
        return Ok(None);
    };
    if !way_a.overlaps(&way_b) {
        return Ok(None);
    }
    let pieces_a = pieces_near(a, motion_a, margin, &way_b)?;
    let around_a = pieces_a.iter().map(|piece| piece.swept).reduce(|x, y| x.union(&y));
    let Some(around_a) = around_a else { return Ok(None) };
    let pieces_b = pieces_near(b, motion_b, margin, &around_a)?;
    if pieces_b.is_empty() {
        return Ok(None);
    }
    let ways: Vec<Aabb> = pieces_b.iter().map(|piece| piece.swept).collect();
    let tree = BoxTree::build(&ways, &BuildSettings::default())?;
    let (mut scratch, mut near) = (Scratch::default(), Vec::new());
    let mut best: Option<ShapeContact> = None;
    for piece_a in &pieces_a {
        near.clear();
        tree.overlapping(&piece_a.swept, &mut scratch, |j| {
            near.push(j);
            ControlFlow::Continue(())
        });
        // In order, so that of equally early contacts the same one is found for any hierarchy.
        near.sort_unstable();
        for &j in &near {
            let piece_b = &pieces_b[j as usize];
            let hit = advance_pieces(piece_a, piece_b, settings, best.map(|b| b.contact.time))?;
            if let Some(contact) = hit
                && best.is_none_or(|known| contact.time < known.contact.time)
            {
                best = Some(ShapeContact { contact, pieces: [piece_a.number, piece_b.number] });
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
    /// Counted through the whole shape.
    number: u32,
    form: Form<'a>,
    body: MovingBody,
    /// Holds the piece during the whole motion.
    swept: Aabb,
}

enum Form<'a> {
    Shape(ConvexShape<'a>),
    Triangle(crate::primitive::Triangle),
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

/// Swept AABB of a shape; None if it is unbounded or not finite.
fn way_of(shape: &Shape, motion: &Motion, margin: f64) -> Option<Aabb> {
    if let Shape::Mesh(mesh) = shape {
        // Its box suffices: visiting every vertex of a terrain would be too slow.
        let own = mesh.bounds();
        let radius = (own.center() - motion.center()).length() + own.half_extents().length();
        return swept_bounds(motion, radius, margin, |pose| own.transformed(pose).ok());
    }
    let radius = shape.rotation_radius(motion.center())?;
    swept_bounds(motion, radius, margin, |pose| shape.aabb(pose))
}

/// The convex pieces of a shape, each with its motion, that may overlap a box of the outer frame.
fn pieces_near<'a>(
    shape: &'a Shape,
    motion: &Motion,
    margin: f64,
    outer: &Aabb,
) -> Result<Vec<Piece<'a>>, SweptError> {
    let mut gathering = Gathering { outer: *outer, margin, scratch: Scratch::default(), pieces: Vec::new() };
    gathering.collect(shape, motion, 0)?;
    Ok(gathering.pieces)
}

struct Gathering<'a> {
    outer: Aabb,
    margin: f64,
    scratch: Scratch,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Gathering<'a> {
    fn collect(&mut self, shape: &'a Shape, motion: &Motion, first: u32) -> Result<(), SweptError> {
        match shape {
            Shape::Mesh(mesh) => {
                let Some(query) = self.seen_from(motion) else { return Ok(()) };
                let mut found = Vec::new();
                mesh.tree()?.tree().overlapping(&query, &mut self.scratch, |i| {
                    found.push(i);
                    ControlFlow::Continue(())
                });
                found.sort_unstable();
                for i in found {
                    self.push_triangle(mesh.triangle(i as usize), motion, first + i);
                }
            }
            Shape::HeightField(field) => {
                let Some(query) = self.seen_from(motion) else { return Ok(()) };
                field.triangles_in_box(&query, |i| self.push_triangle(field.triangle(i), motion, first + i));
            }
            Shape::Compound(compound) => {
                let Some(query) = self.seen_from(motion) else { return Ok(()) };
                let mut found = Vec::new();
                compound.tree()?.overlapping(&query, &mut self.scratch, |i| {
                    found.push(i);
                    ControlFlow::Continue(())
                });
                found.sort_unstable();
                for i in found {
                    let (place, part) = &compound.parts()[i as usize];
                    let first = first + compound.first_pieces()[i as usize];
                    self.collect(part, &motion.of_part(place), first)?;
                }
            }
            _ => self.push_convex(shape, motion, first),
        }
        Ok(())
    }

    /// A box in the moving frame that contains the outer box throughout the motion.
    fn seen_from(&self, motion: &Motion) -> Option<Aabb> {
        let ends = [motion.pose(0.0), motion.pose(1.0)];
        let [start, end] = ends.map(|pose| self.outer.transformed(&pose.inverse()));
        let seen = start.ok()?.union(&end.ok()?);
        let theta = motion.turn().length();
        let reach = |pose: &Pose| {
            let center = pose.point(motion.center());
            self.outer.corners().iter().map(|p| p.distance(center)).fold(0.0, f64::max)
        };
        let rho = reach(&ends[0]).max(reach(&ends[1]));
        let off_chord = (theta * theta * rho + 2.0 * theta * motion.displacement().length()) / 8.0;
        seen.enlarged(self.margin + off_chord).ok()
    }

    fn push_triangle(&mut self, corners: [DVec3; 3], motion: &Motion, number: u32) {
        let radius = corners.iter().map(|p| p.distance(motion.center())).fold(0.0, f64::max);
        let bounds = |pose: &Pose| Aabb::from_points(corners.map(|p| pose.point(p))).ok();
        if let Some(swept) = swept_bounds(motion, radius, self.margin, bounds)
            && swept.overlaps(&self.outer)
        {
            let form = Form::Triangle(corners.into());
            self.pieces.push(Piece { number, form, body: MovingBody { motion: *motion, radius }, swept });
        }
    }

    fn push_convex(&mut self, shape: &'a Shape, motion: &Motion, number: u32) {
        let Ok(convex) = ConvexShape::try_from(shape) else { return };
        let Some(radius) = shape.rotation_radius(motion.center()) else { return };
        if let Some(swept) = swept_bounds(motion, radius, self.margin, |pose| shape.aabb(pose))
            && swept.overlaps(&self.outer)
        {
            let body = MovingBody { motion: *motion, radius };
            self.pieces.push(Piece { number, form: Form::Shape(convex), body, swept });
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

/// Whether neither motion turns.
#[inline]
fn straight(a: &Motion, b: &Motion) -> bool {
    a.turn() == DVec3::ZERO && b.turn() == DVec3::ZERO
}

/// First contact of two pieces before `until`: one search where they do not turn, else as many as there are
/// steps.
fn advance_pieces(
    a: &Piece<'_>,
    b: &Piece<'_>,
    settings: &Advancement,
    until: Option<f64>,
) -> Result<Option<Contact>, SweptError> {
    let until = until.unwrap_or(1.0);
    if straight(&a.body.motion, &b.body.motion) {
        let [motion_a, motion_b] = [a, b].map(|piece| piece.body.motion.piece(0.0, until));
        let found = match (&a.form, &b.form) {
            (Form::Shape(a), Form::Shape(b)) => cast_linear(a, &motion_a, b, &motion_b, settings)?,
            (a, b) => contact_of_cores(a, &motion_a, b, &motion_b, settings)?,
        };
        return Ok(found.map(|contact| Contact { time: until * contact.time, ..contact }));
    }
    let mut cache = GjkCache::default();
    let mut failure = None;
    // The motion is cut at the earliest contact so far.
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
    let Some(way) = way_of(shape, motion, settings.distance_tolerance) else { return Ok(None) };
    // How far out the plane ever is.
    let offset =
        [0.0, 1.0].map(|s| normal.dot(plane_motion.pose(s).translation)).into_iter().fold(f64::MIN, f64::max);
    for piece in &pieces_near(shape, motion, settings.distance_tolerance, &way)? {
        let lowest = piece.swept.center().dot(normal) - piece.swept.half_extents().dot(normal.abs());
        if lowest > offset {
            continue;
        }
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
            best = Some(ShapeContact { contact, pieces: [piece.number, 0] });
        }
    }
    Ok(best)
}
