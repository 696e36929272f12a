//! Many questions at once, shared among threads; the answers stand in the order of the questions.

use super::{CastHit, Hit, QueryError, QueryFilter, QueryPipeline};
use crate::world::World;
use glam::DVec3;
use rattleback_geometry::Shape;
use rattleback_geometry::primitive::Ray;
use rattleback_geometry::swept::Motion as Sweep;
use rattleback_numerics::team::each;

/// Fewer questions than this are not worth a thread.
const LEAST_SHARE: usize = 64;

impl QueryPipeline {
    /// [`cast_ray`](Self::cast_ray) for every ray, on up to so many threads.
    pub fn cast_rays(
        &self,
        world: &World,
        rays: &[Ray],
        limit: f64,
        filter: &QueryFilter<'_>,
        threads: usize,
        hits: &mut Vec<Option<Hit>>,
    ) -> Result<(), QueryError> {
        share(rays, threads, hits, |ray| self.cast_ray(world, ray, limit, filter))
    }

    /// [`closest_point`](Self::closest_point) for every point, on up to so many threads.
    pub fn closest_points(
        &self,
        world: &World,
        points: &[DVec3],
        limit: f64,
        filter: &QueryFilter<'_>,
        threads: usize,
        hits: &mut Vec<Option<Hit>>,
    ) -> Result<(), QueryError> {
        share(points, threads, hits, |point| self.closest_point(world, *point, limit, filter))
    }

    /// [`cast_shape`](Self::cast_shape) along every way, on up to so many threads.
    pub fn cast_shape_along(
        &self,
        world: &World,
        shape: &Shape,
        ways: &[Sweep],
        filter: &QueryFilter<'_>,
        threads: usize,
        hits: &mut Vec<Option<CastHit>>,
    ) -> Result<(), QueryError> {
        share(ways, threads, hits, |way| self.cast_shape(world, shape, way, filter))
    }
}

/// Answers every question in its place; the first error in that order is the one that is returned.
fn share<Q: Sync, A: Copy + Send>(
    questions: &[Q],
    threads: usize,
    answers: &mut Vec<Option<A>>,
    answer_one: impl Fn(&Q) -> Result<Option<A>, QueryError> + Sync,
) -> Result<(), QueryError> {
    answers.clear();
    answers.resize(questions.len(), None);
    let stretch = questions.len().div_ceil(threads.max(1)).max(LEAST_SHARE);
    let work = |questions: &[Q], answers: &mut [Option<A>]| {
        for (question, answer) in questions.iter().zip(answers) {
            *answer = answer_one(question)?;
        }
        Ok(())
    };
    if questions.len() <= stretch {
        return work(questions, answers);
    }
    let mut shares: Vec<_> = questions
        .chunks(stretch)
        .zip(answers.chunks_mut(stretch))
        .map(|(questions, answers)| (questions, answers, Ok(())))
        .collect();
    each(shares.len(), &mut shares, |_, (questions, answers, outcome)| *outcome = work(questions, answers));
    shares.into_iter().try_for_each(|(_, _, outcome)| outcome)
}
