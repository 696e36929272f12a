//! The one place that decides whether two shapes that come close may touch; every simulator asks it.
//!
//! In order: shapes of one body never touch; groups, masks and the world's rules and exceptions
//! ([`CollisionFilter`](crate::world::CollisionFilter)) give their word; excluded pairs (jointed bodies, say) are forbidden;
//! the callback hears what was decided so far and has the last word, but on shapes of one body. A pair that has newly come
//! close and may not touch is told as [`Event::Filtered`](crate::world::Event::Filtered), if asked for.
//!
//! Exclusions and the callback belong to what put them there (a joint, a program), so they are no part of a snapshot.

use crate::error::Error;
use crate::world::{BodyId, ShapeId, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Why two bodies are excluded from touching. A pair may be excluded for several reasons and is until the last is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Exclusion {
    /// A joint holds them together.
    Joint,
    /// Somebody said so.
    User,
}

/// Who forbade a pair to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rejection {
    /// Shapes of one body.
    SameBody,
    /// Groups, masks or rules of the world.
    Rules,
    /// The pair of bodies is excluded.
    Excluded(Exclusion),
    /// The callback, against everything else.
    Callback,
}

/// Two shapes that have come close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Their bodies.
    pub bodies: [BodyId; 2],
    /// The shapes, in the same order.
    pub shapes: [ShapeId; 2],
    /// What groups, rules and exclusions say.
    pub allowed: bool,
}

/// A pair that may not touch, as it came close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub bodies: [BodyId; 2],
    pub shapes: [ShapeId; 2],
    pub why: Rejection,
}

type Callback = Arc<dyn Fn(&World, &Meeting) -> bool + Send + Sync>;

/// Decides whether shapes may touch; see [the module](crate::filter).
///
/// ```
/// use rattleback_dynamics::filter::Exclusion;
/// use rattleback_dynamics::{Body, World};
/// use rattleback_geometry::Shape;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let a = world.add_body(Body::dynamic().with_shape(Shape::sphere(1.0)?))?;
/// let b = world.add_body(Body::dynamic().at(1.5, 0.0, 0.0).with_shape(Shape::sphere(1.0)?))?;
/// let shapes = [world.body(a)?.shapes()[0], world.body(b)?.shapes()[0]];
/// assert!(world.may_touch(shapes[0], shapes[1])?);
/// world.pair_filter_mut().exclude(a, b, Exclusion::Joint);
/// assert!(!world.may_touch(shapes[0], shapes[1])?);
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct PairFilter {
    /// How often for each reason; joints may share a pair of bodies.
    excluded: BTreeMap<(BodyId, BodyId), BTreeMap<Exclusion, u32>>,
    callback: Option<Callback>,
    /// Whether rejected pairs are told.
    pub tells: bool,
    /// Since the last step ended. Simulators only read the world while they find pairs, hence the lock.
    rejected: Mutex<Vec<Rejected>>,
}

impl Clone for PairFilter {
    fn clone(&self) -> Self {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            excluded: self.excluded.clone(),
            callback: self.callback.clone(),
            tells: self.tells,
            rejected: Mutex::new(rejected),
        }
    }
}

impl fmt::Debug for PairFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairFilter")
            .field("excluded", &self.excluded)
            .field("callback", &self.callback.is_some())
            .field("tells", &self.tells)
            .finish_non_exhaustive()
    }
}

impl PairFilter {
    /// Two bodies must not touch, for a reason. Every call wants its own [`include`](Self::include).
    pub fn exclude(&mut self, a: BodyId, b: BodyId, why: Exclusion) {
        *self.excluded.entry((a.min(b), a.max(b))).or_default().entry(why).or_insert(0) += 1;
    }

    /// Takes one exclusion back ⇒ whether there was one.
    pub fn include(&mut self, a: BodyId, b: BodyId, why: Exclusion) -> bool {
        let pair = (a.min(b), a.max(b));
        let Some(reasons) = self.excluded.get_mut(&pair) else { return false };
        let Some(count) = reasons.get_mut(&why) else { return false };
        *count -= 1;
        if *count == 0 {
            reasons.remove(&why);
        }
        if reasons.is_empty() {
            self.excluded.remove(&pair);
        }
        true
    }

    /// Why two bodies are excluded, if they are; joints first.
    pub fn exclusion(&self, a: BodyId, b: BodyId) -> Option<Exclusion> {
        self.excluded.get(&(a.min(b), a.max(b)))?.keys().next().copied()
    }

    /// Gives the last word to a function of the world and who meets. It must answer the same for the same pair.
    pub fn set_callback(&mut self, callback: impl Fn(&World, &Meeting) -> bool + Send + Sync + 'static) {
        self.callback = Some(Arc::new(callback));
    }

    /// Nobody has a last word any more.
    pub fn clear_callback(&mut self) {
        self.callback = None;
    }

    /// (world, bodies and their shapes) ⇒ whether they may touch. Ids that the world does not know may not.
    pub fn allows(
        &self,
        world: &World,
        body_a: BodyId,
        shape_a: ShapeId,
        body_b: BodyId,
        shape_b: ShapeId,
    ) -> bool {
        self.judge(world, [body_a, body_b], [shape_a, shape_b]).is_ok_and(|why| why.is_none())
    }

    /// (world, bodies and their shapes) ⇒ who forbids them to touch, if anybody does.
    pub fn judge(
        &self,
        world: &World,
        bodies: [BodyId; 2],
        shapes: [ShapeId; 2],
    ) -> Result<Option<Rejection>, Error> {
        if bodies[0] == bodies[1] {
            return Ok(Some(Rejection::SameBody));
        }
        let groups = [world.shape(shapes[0])?.groups, world.shape(shapes[1])?.groups];
        let why = if world.filter().allows((bodies[0], groups[0]), (bodies[1], groups[1])) {
            self.exclusion(bodies[0], bodies[1]).map(Rejection::Excluded)
        } else {
            Some(Rejection::Rules)
        };
        let Some(callback) = &self.callback else { return Ok(why) };
        let meeting = Meeting { bodies, shapes, allowed: why.is_none() };
        Ok(if callback(world, &meeting) { None } else { why.or(Some(Rejection::Callback)) })
    }

    /// Notes a pair that newly came close and may not touch.
    pub(crate) fn note(&self, bodies: [BodyId; 2], shapes: [ShapeId; 2], why: Rejection) {
        if self.tells && why != Rejection::SameBody {
            let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
            rejected.push(Rejected { bodies, shapes, why });
        }
    }

    /// What was noted, in order; forgotten here.
    pub(crate) fn take_rejected(&mut self) -> Vec<Rejected> {
        std::mem::take(self.rejected.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Forgets everything said about a body.
    pub(crate) fn forget_body(&mut self, body: BodyId) {
        self.excluded.retain(|(a, b), _| *a != body && *b != body);
    }
}
