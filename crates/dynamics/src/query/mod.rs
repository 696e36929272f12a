//! Queries of a world: ray casts, shape casts, overlaps, nearest points.
//!
//! A [`QueryPipeline`] keeps the boxes of all shapes in a `Space`; the space gives the candidates, the shapes give
//! the exact answer. The index is brought up to date by [`QueryPipeline::update`], which after a step costs only what moved. Of equal
//! answers the one with the smaller shape id counts, so answers depend neither on the space nor on threads.

mod filter;
mod many;
mod pipeline;

pub use filter::QueryFilter;
pub use pipeline::QueryPipeline;

use crate::error::Error;
use crate::world::{AttachedShape, BodyId, ShapeId, World};
use glam::DVec3;
use rattleback_geometry::contact::{ContactError, intersects};
use rattleback_geometry::primitive::{FromInside, PrimitiveError, Ray};
use rattleback_geometry::space::{ProxyId, SpaceError};
use rattleback_geometry::swept::{Advancement, Motion as Sweep, SweptError, cast_shapes};
use rattleback_geometry::{Aabb, Pose, Shape};
use std::ops::ControlFlow;

/// Why a question has no answer.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum QueryError {
    /// The index is older than the world.
    #[error("the index is older than the world; call `update` after every step and every change")]
    Outdated,
    /// A ray, point or limit is not finite.
    #[error("{what} must be {allowed}")]
    Invalid {
        /// What is wrong.
        what: &'static str,
        /// What is accepted.
        allowed: &'static str,
    },
    /// A ray could not be made.
    #[error(transparent)]
    Primitive(#[from] PrimitiveError),
    /// A shape could not be cast.
    #[error(transparent)]
    Swept(#[from] SweptError),
    /// Two shapes could not be compared.
    #[error(transparent)]
    Contact(#[from] ContactError),
    /// A shape has no place in a space.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

/// Result of a query, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Body of the shape.
    pub body: BodyId,
    /// Which shape.
    pub shape: ShapeId,
    /// Part of a compound, else 0.
    pub part: u32,
    /// Triangle or face, where there is one.
    pub feature: u32,
    /// Point of the shape's surface.
    pub point: DVec3,
    /// Outward unit normal there.
    pub normal: DVec3,
    /// From the origin of the ray, along the way of a shape, or from a point; negative inside a solid.
    pub distance: f64,
}

/// First contact of a cast shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CastHit {
    /// The shape that was hit; the distance is the gap that is left.
    pub hit: Hit,
    /// After which part of its way, 0 to 1; never late.
    pub time: f64,
}

impl QueryPipeline {
    /// First hit of a ray within `limit` metres.
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_dynamics::query::{QueryFilter, QueryPipeline};
    /// use rattleback_dynamics::{Body, World};
    /// use rattleback_geometry::{Shape, primitive::Ray};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let ball = world.add_body(Body::fixed().at(5.0, 0.0, 0.0).with_shape(Shape::sphere(1.0)?))?;
    /// let index = QueryPipeline::of(&world)?;
    /// let ray = Ray::new(DVec3::ZERO, DVec3::X)?;
    /// let hit = index.cast_ray(&world, &ray, 100.0, &QueryFilter::default())?.unwrap();
    /// assert_eq!((hit.body, hit.distance, hit.normal), (ball, 4.0, -DVec3::X));
    /// # Ok(()) }
    /// ```
    pub fn cast_ray(
        &self,
        world: &World,
        ray: &Ray,
        limit: f64,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Hit>, QueryError> {
        self.check(world, limit)?;
        let mut best: Option<Hit> = None;
        self.along(world, ray, limit, filter, &mut |hit| {
            if best.as_ref().is_none_or(|known| nearer(&hit, known)) {
                best = Some(hit);
            }
            ControlFlow::Continue(best.as_ref().map_or(limit, |known| known.distance))
        });
        Ok(best)
    }

    /// All hits of a ray within `limit` metres, one per shape, in order of distance.
    pub fn cast_ray_all(
        &self,
        world: &World,
        ray: &Ray,
        limit: f64,
        filter: &QueryFilter<'_>,
        hits: &mut Vec<Hit>,
    ) -> Result<(), QueryError> {
        self.check(world, limit)?;
        hits.clear();
        self.along(world, ray, limit, filter, &mut |hit| {
            hits.push(hit);
            ControlFlow::Continue(limit)
        });
        hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.shape.cmp(&b.shape)));
        Ok(())
    }

    /// Whether a ray hits anything within `limit` metres.
    pub fn is_blocked(
        &self,
        world: &World,
        ray: &Ray,
        limit: f64,
        filter: &QueryFilter<'_>,
    ) -> Result<bool, QueryError> {
        self.check(world, limit)?;
        let mut blocked = false;
        self.along(world, ray, limit, filter, &mut |_| {
            blocked = true;
            ControlFlow::Break(())
        });
        Ok(blocked)
    }

    fn along(
        &self,
        world: &World,
        ray: &Ray,
        limit: f64,
        filter: &QueryFilter<'_>,
        found: &mut dyn FnMut(Hit) -> ControlFlow<(), f64>,
    ) {
        let mut limit = limit;
        self.space().along_ray(ray, limit, &mut |proxy, _| {
            let Some((id, attached)) = self.candidate(world, proxy, filter) else {
                return ControlFlow::Continue(limit);
            };
            let pose = place(world, attached);
            let Some(hit) = attached.shape.cast_ray(&ray.in_frame(&pose), limit, FromInside::Origin) else {
                return ControlFlow::Continue(limit);
            };
            let answer = found(Hit {
                body: attached.body,
                shape: id,
                part: hit.part,
                feature: hit.feature,
                point: pose.point(hit.point),
                normal: pose.vector(hit.normal),
                distance: hit.t,
            });
            if let ControlFlow::Continue(next) = answer {
                limit = limit.min(next);
            }
            answer
        });
    }

    /// The first contact of a shape on its way.
    pub fn cast_shape(
        &self,
        world: &World,
        shape: &Shape,
        way: &Sweep,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<CastHit>, QueryError> {
        self.check(world, 0.0)?;
        let Some(bounds) = swept_bounds(shape, way) else { return Ok(None) };
        let mut best: Option<CastHit> = None;
        let mut failure = None;
        self.space().overlapping(&bounds, &mut |proxy| {
            let Some((id, attached)) = self.candidate(world, proxy, filter) else {
                return ControlFlow::Continue(());
            };
            match cast_at(world, shape, way, id, attached) {
                Ok(Some(hit)) => {
                    let better = best
                        .as_ref()
                        .is_none_or(|known| (hit.time, hit.hit.shape) < (known.time, known.hit.shape));
                    if better {
                        best = Some(hit);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        failure.map_or(Ok(best), Err)
    }

    /// Every shape that shares a point with a shape at a pose, by id.
    pub fn overlapping(
        &self,
        world: &World,
        shape: &Shape,
        pose: &Pose,
        filter: &QueryFilter<'_>,
        found: &mut Vec<(BodyId, ShapeId)>,
    ) -> Result<(), QueryError> {
        self.check(world, 0.0)?;
        found.clear();
        let bounds = shape.aabb(pose).unwrap_or_else(rattleback_geometry::space::everywhere);
        let mut failure = None;
        self.space().overlapping(&bounds, &mut |proxy| {
            let Some((id, attached)) = self.candidate(world, proxy, filter) else {
                return ControlFlow::Continue(());
            };
            match intersects(shape, &attached.shape, &pose.relative(&place(world, attached))) {
                Ok(true) => found.push((attached.body, id)),
                Ok(false) => {}
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        found.sort_unstable_by_key(|(_, shape)| *shape);
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    /// The surface point nearest to a point, within `limit` metres.
    pub fn closest_point(
        &self,
        world: &World,
        point: DVec3,
        limit: f64,
        filter: &QueryFilter<'_>,
    ) -> Result<Option<Hit>, QueryError> {
        self.check(world, limit)?;
        if !point.is_finite() {
            return Err(QueryError::Invalid { what: "the point", allowed: "finite" });
        }
        let mut best: Option<Hit> = None;
        self.space().nearest(point, limit, &mut |proxy, _| {
            let so_far = best.as_ref().map_or(limit, |known| known.distance.max(0.0));
            let Some((id, attached)) = self.candidate(world, proxy, filter) else {
                return ControlFlow::Continue(so_far);
            };
            let pose = place(world, attached);
            if let Some(near) = attached.shape.closest_point(pose.inverse_point(point))
                && near.distance <= limit
            {
                let hit = Hit {
                    body: attached.body,
                    shape: id,
                    part: 0,
                    feature: 0,
                    point: pose.point(near.point),
                    normal: pose.vector(near.normal),
                    distance: near.distance,
                };
                if best.as_ref().is_none_or(|known| nearer(&hit, known)) {
                    best = Some(hit);
                }
            }
            ControlFlow::Continue(best.as_ref().map_or(limit, |known| known.distance.max(0.0)))
        });
        Ok(best)
    }

    /// The shape behind a proxy, if the filter admits it.
    fn candidate<'w>(
        &self,
        world: &'w World,
        proxy: ProxyId,
        filter: &QueryFilter<'_>,
    ) -> Option<(ShapeId, &'w AttachedShape)> {
        let id = self.shape_of(proxy)?;
        let attached = world.shape(id).ok()?;
        filter.admits(id, attached).then_some((id, attached))
    }
}

fn nearer(a: &Hit, b: &Hit) -> bool {
    (a.distance, a.shape) < (b.distance, b.shape)
}

fn place(world: &World, attached: &AttachedShape) -> Pose {
    world.body(attached.body).map_or(attached.pose, |body| body.pose() * attached.pose)
}

/// A box around the whole way: straight for a shape that does not turn, else all that is as near to the moving centre of
/// rotation as the farthest point of the shape.
fn swept_bounds(shape: &Shape, way: &Sweep) -> Option<Aabb> {
    let margin = Advancement::default().distance_tolerance;
    let (start, end) = (way.pose(0.0), way.pose(1.0));
    if way.turn() == DVec3::ZERO {
        return shape.aabb(&start)?.union(&shape.aabb(&end)?).enlarged(margin).ok();
    }
    let ball = shape.bounding_sphere()?;
    let reach = (ball.center() - way.center()).length() + ball.radius();
    Aabb::from_points([start.point(way.center()), end.point(way.center())])
        .ok()?
        .enlarged(reach + margin)
        .ok()
}

fn cast_at(
    world: &World,
    shape: &Shape,
    way: &Sweep,
    id: ShapeId,
    attached: &AttachedShape,
) -> Result<Option<CastHit>, QueryError> {
    let still = Sweep::resting(place(world, attached))?;
    let contact = cast_shapes(shape, way, &attached.shape, &still, &Advancement::default())?;
    Ok(contact.map(|found| {
        let gap = found.contact.gap;
        let pose = way.pose(found.contact.time);
        CastHit {
            time: found.contact.time,
            hit: Hit {
                body: attached.body,
                shape: id,
                part: found.pieces[1],
                feature: found.pieces[1],
                point: gap.map_or(pose.translation, |gap| gap.point_b),
                normal: gap.map_or(DVec3::ZERO, |gap| -gap.normal),
                distance: gap.map_or(0.0, |gap| gap.distance),
            },
        }
    }))
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}
