//! Pair filter: whether two shapes whose bounds overlap can collide. All simulators use it.
//!
//! In order: shapes of one body never collide; groups, masks and the world's rules and exceptions
//! ([`CollisionFilter`](crate::world::CollisionFilter)) apply; excluded pairs of bodies (connected by a joint, for example) do not collide;
//! the callback receives the result so far and decides, except for shapes of one body. A new pair that cannot collide is reported
//! as [`Event::Filtered`](crate::world::Event::Filtered) if [`reports`](PairFilter::reports) is set.
//!
//! The contact modifier changes the coefficients of friction and restitution of a pair that collides.
//!
//! Exclusions are part of a snapshot. The callback and the modifier are code and are not; a restored world lists them as missing
//! ([`PairFilter::missing_hooks`]), and the program sets them again.

use crate::error::Error;
use crate::world::{BodyId, CombinedMaterial, ShapeId, World};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Why two bodies are excluded from colliding. A pair with several reasons is excluded until the last is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Exclusion {
    /// A joint connects them.
    Joint,
    /// Excluded by the program or the scene.
    User,
}

/// Why a pair cannot collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rejection {
    /// Shapes of one body.
    SameBody,
    /// Groups, masks or rules of the world.
    Rules,
    /// The pair of bodies is excluded.
    Excluded(Exclusion),
    /// The callback.
    Callback,
}

/// Two shapes whose bounds overlap, as the callback receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairCandidate {
    /// Their bodies.
    pub bodies: [BodyId; 2],
    /// The shapes, in the same order.
    pub shapes: [ShapeId; 2],
    /// Result of groups, rules and exclusions.
    pub allowed: bool,
}

/// A new pair that cannot collide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejected {
    pub bodies: [BodyId; 2],
    pub shapes: [ShapeId; 2],
    pub why: Rejection,
}

/// Functions that a world had when its snapshot was taken and that have not been set since it was restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingHooks {
    /// [`PairFilter::set_callback`].
    pub callback: bool,
    /// [`PairFilter::set_contact_modifier`].
    pub contact_modifier: bool,
}

/// Number of exclusions for each reason, by pair of bodies.
type Exclusions = BTreeMap<(BodyId, BodyId), BTreeMap<Exclusion, u32>>;

/// What a snapshot keeps of a pair filter.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FilterImage {
    excluded: Exclusions,
    reports: bool,
    hooks: MissingHooks,
}

type Callback = Arc<dyn Fn(&World, &PairCandidate) -> bool + Send + Sync>;
type ContactModifier = Arc<dyn Fn(&World, [ShapeId; 2], &mut CombinedMaterial) + Send + Sync>;

/// Whether shapes can collide; see [the module](crate::filter).
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
/// assert!(world.can_collide(shapes[0], shapes[1])?);
/// world.pair_filter_mut().exclude(a, b, Exclusion::Joint);
/// assert!(!world.can_collide(shapes[0], shapes[1])?);
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct PairFilter {
    /// Number of exclusions for each reason: several joints may connect the same bodies.
    excluded: Exclusions,
    callback: Option<Callback>,
    modifier: Option<ContactModifier>,
    /// Whether pairs that cannot collide are reported by events.
    pub reports: bool,
    missing: MissingHooks,
    /// Since the end of the last step. Simulators find pairs with shared access to the world, hence the lock.
    rejected: Mutex<Vec<Rejected>>,
}

impl Clone for PairFilter {
    fn clone(&self) -> Self {
        let rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            excluded: self.excluded.clone(),
            callback: self.callback.clone(),
            modifier: self.modifier.clone(),
            reports: self.reports,
            missing: self.missing,
            rejected: Mutex::new(rejected),
        }
    }
}

impl fmt::Debug for PairFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairFilter")
            .field("excluded", &self.excluded)
            .field("callback", &self.callback.is_some())
            .field("modifier", &self.modifier.is_some())
            .field("reports", &self.reports)
            .finish_non_exhaustive()
    }
}

impl PairFilter {
    /// Excludes two bodies from colliding. Each call is undone by one [`include`](Self::include).
    pub fn exclude(&mut self, a: BodyId, b: BodyId, why: Exclusion) {
        *self.excluded.entry((a.min(b), a.max(b))).or_default().entry(why).or_insert(0) += 1;
    }

    /// Undoes one exclusion ⇒ whether there was one.
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

    /// Sets the function that decides last. It must be a pure function of the pair.
    pub fn set_callback(
        &mut self,
        callback: impl Fn(&World, &PairCandidate) -> bool + Send + Sync + 'static,
    ) {
        self.callback = Some(Arc::new(callback));
        self.missing.callback = false;
    }

    /// Removes the callback.
    pub fn clear_callback(&mut self) {
        self.callback = None;
        self.missing.callback = false;
    }

    /// Sets the function that changes the coefficients of a pair before its contacts are solved. It receives the shapes, in any
    /// order, and what the [combine rules](crate::world::CombineRules) give, and must be a pure function of the shapes. Values out of range
    /// are moved to the nearest allowed ones; those that are not numbers are ignored. To ignore a pair altogether, use
    /// [`set_callback`](Self::set_callback). All simulators with contacts use it.
    ///
    /// ```
    /// use glam::DVec3;
    /// use rattleback_dynamics::simulator::Realtime;
    /// use rattleback_dynamics::{Body, Simulator, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
    /// let cube = Body::dynamic().at(0.0, 0.0, 0.5).with_shape(Shape::cuboid(DVec3::splat(0.5))?).velocity(DVec3::X);
    /// let cube = world.add_body(cube)?;
    /// // This cube slides on everything without friction.
    /// world.pair_filter_mut().set_contact_modifier(move |world, shapes, material| {
    ///     if shapes.iter().any(|shape| world.shape(*shape).is_ok_and(|shape| shape.body == cube)) {
    ///         (material.static_friction, material.kinetic_friction) = (0.0, 0.0);
    ///     }
    /// });
    /// let mut simulator = Realtime::default();
    /// for _ in 0..60 {
    ///     simulator.step(&mut world, 1.0 / 60.0)?;
    /// }
    /// assert!((world.body(cube)?.velocity().x - 1.0).abs() < 1e-3);
    /// # Ok(()) }
    /// ```
    pub fn set_contact_modifier(
        &mut self,
        modifier: impl Fn(&World, [ShapeId; 2], &mut CombinedMaterial) + Send + Sync + 'static,
    ) {
        self.modifier = Some(Arc::new(modifier));
        self.missing.contact_modifier = false;
    }

    /// Removes the contact modifier.
    pub fn clear_contact_modifier(&mut self) {
        self.modifier = None;
        self.missing.contact_modifier = false;
    }

    /// Functions that the world had when its snapshot was taken and that the program has to set again to go on alike.
    pub const fn missing_hooks(&self) -> MissingHooks {
        self.missing
    }

    /// What a snapshot keeps.
    pub(crate) fn image(&self) -> FilterImage {
        FilterImage {
            excluded: self.excluded.clone(),
            reports: self.reports,
            hooks: MissingHooks {
                callback: self.callback.is_some() || self.missing.callback,
                contact_modifier: self.modifier.is_some() || self.missing.contact_modifier,
            },
        }
    }

    /// The filter of a restored world.
    pub(crate) fn restored(image: FilterImage) -> Self {
        Self { excluded: image.excluded, reports: image.reports, missing: image.hooks, ..Self::default() }
    }

    /// (world, shapes, what the combine rules give) ⇒ coefficients of the pair.
    pub(crate) fn modified(
        &self,
        world: &World,
        shapes: [ShapeId; 2],
        combined: CombinedMaterial,
    ) -> CombinedMaterial {
        let Some(modifier) = &self.modifier else { return combined };
        let mut modified = combined;
        modifier(world, shapes, &mut modified);
        modified.clamped(&combined)
    }

    /// (world, bodies and their shapes) ⇒ whether they can collide; false for unknown ids.
    pub fn allows(
        &self,
        world: &World,
        body_a: BodyId,
        shape_a: ShapeId,
        body_b: BodyId,
        shape_b: ShapeId,
    ) -> bool {
        self.evaluate(world, [body_a, body_b], [shape_a, shape_b]).is_ok_and(|why| why.is_none())
    }

    /// (world, bodies and their shapes) ⇒ why they cannot collide, if so.
    pub fn evaluate(
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
        let candidate = PairCandidate { bodies, shapes, allowed: why.is_none() };
        Ok(if callback(world, &candidate) { None } else { why.or(Some(Rejection::Callback)) })
    }

    /// Records a new pair that cannot collide.
    pub(crate) fn note(&self, bodies: [BodyId; 2], shapes: [ShapeId; 2], why: Rejection) {
        if self.reports && why != Rejection::SameBody {
            let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
            rejected.push(Rejected { bodies, shapes, why });
        }
    }

    /// Removes and returns the records, in order.
    pub(crate) fn take_rejected(&mut self) -> Vec<Rejected> {
        std::mem::take(self.rejected.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Removes all exclusions of a body.
    pub(crate) fn forget_body(&mut self, body: BodyId) {
        self.excluded.retain(|(a, b), _| *a != body && *b != body);
    }
}
