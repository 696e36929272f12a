//! Persistent contacts: the manifolds of a pair of colliders, and their reuse from step to step.
//!
//! A pair begins when two bounding boxes overlap and ends when they separate. Most pairs never touch: as long
//! as the separation bound (`separation_bound`) exceeds the speculative margin, the pair is only a
//! [`ContactPair`](super::contact_graph::ContactPair). Once the colliders come within the margin, a
//! [`Contact`] keeps the manifolds, the impulses of the last step for warm starting, and the cache of the
//! narrow phase.
//!
//! Contact recycling: as long as two colliders have moved relative to each other by less than a tolerance τ
//! since the manifold was computed, only its gaps are updated, between anchors fixed to both bodies. With τ
//! at most half the speculative margin no contact can be missed.
//!
//! A collider within r of its centre m, seen from the other body, has moved by at most |Δm| + r|Δθ|. The
//! smaller collider of the two is the one that is tracked: the motion of the rest of its body does not
//! matter, so that a log at the foot of a falling tree counts as slow as it is.

use super::lanes::F32x8;
use super::manifold_constraint::{MAX_POINTS, ManifoldConstraint, PackedPoint};
use super::saved_state::{are_valid_manifolds, is_valid_material};
use super::separation_bound::{StepDisplacement, rotation_speed, tracked_approach};
use super::settings::RealtimeSettings;
use super::sim_bodies::{SimBodies, SimCollider};
use super::tuning::{
    MARGIN_PER_RADIUS, ONE_WAY_COSINE, RECYCLING_PER_MARGIN, ROLLING_SPEED, TOUCH_BEGIN, TOUCH_END,
};
use crate::rigid::Motion;
use crate::world::{CombinedMaterial, Status, World};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::contact::{
    CacheState, ContactCache, Contacts as ShapeManifolds, Manifold, Piece, PieceCache, collide,
    collide_pieces,
};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};

/// Cache of the narrow phase. Convex pairs are by far the most frequent, so that their variant is not boxed.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum NarrowPhaseCache {
    /// Two convex pieces: one manifold at most.
    Pieces(PieceCache),
    /// Any other pair of shapes.
    Shapes(Box<(ContactCache, ShapeManifolds)>),
}

/// Manifolds of two colliders within the speculative margin.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Contact {
    /// Colliders, by proxy slot; the first belongs to the static body, if there is one.
    pub colliders: [u32; 2],
    pub bodies: [u32; 2],
    pub material: CombinedMaterial,
    pub sensor: bool,
    /// Whether a one-sided collider lets the other pass at present.
    pub passing: bool,
    /// Whether the colliders touch, are within the margin, and touched before this step.
    pub touching: bool,
    near: bool,
    pub was_touching: bool,
    /// Number of the step in which the impact stage handled this contact, so that the solver skips it.
    pub impact_step: u64,
    /// Number of the step in which the bodies last collided in the impact stage.
    pub collision_step: u64,
    /// The first manifold, and further ones of non-convex shapes; the previous ones, for warm starting.
    pub first_manifold: ManifoldConstraint,
    pub other_manifolds: Vec<ManifoldConstraint>,
    old_manifolds: Vec<ManifoldConstraint>,
    cache: NarrowPhaseCache,
    /// Pose of B in A's frame when the manifolds were computed.
    manifold_pose: Option<Pose>,
    /// Origin of the anchors on a static body.
    origin: DVec3,
    foresight: f64,
    tolerance: f64,
    /// Index (0 or 1) of the smaller collider.
    smaller: u8,
    /// Whether one of the colliders is a sensor or one-sided.
    is_special: bool,
    /// Whether one of the shapes is curved, so that rotation alone moves the contact point over it.
    curved: bool,
    /// Whether B is round and may roll on A, a half-space or a box.
    pub may_roll: bool,
    /// Whether B may slide on A, a half-space or a box.
    pub may_slide: bool,
}

/// Whether the surface of a shape consists of planes on which bodies may be integrated exactly.
const fn has_planes(shape: &Shape) -> bool {
    matches!(shape, Shape::HalfSpace(_) | Shape::Cuboid(_))
}

/// Whether the contact point moves over the body as it rolls; not so for a sphere about the centre of mass.
fn is_rolling_shape(collider: &SimCollider) -> bool {
    match collider.shape {
        Shape::Sphere(_) => collider.center.length() > 1e-9 * collider.radius,
        Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_) | Shape::Ellipsoid(_) => true,
        _ => false,
    }
}

/// Saved cache of the narrow phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
enum SavedNarrowPhase {
    Pieces(PieceCache),
    Shapes(CacheState),
}

/// Saved contact, without its shapes and derived values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct SavedContact {
    colliders: [u32; 2],
    material: CombinedMaterial,
    passing: bool,
    touching: bool,
    near: bool,
    was_touching: bool,
    impact_step: u64,
    manifolds: Vec<ManifoldConstraint>,
    cache: SavedNarrowPhase,
    manifold_pose: Option<Pose>,
    origin: DVec3,
}

impl SavedContact {
    pub const fn colliders(&self) -> [u32; 2] {
        self.colliders
    }

    /// The restored contact; `None` if it does not fit these bodies.
    pub fn restored(self, sim_bodies: &SimBodies, settings: &RealtimeSettings) -> Option<Contact> {
        let [a, b] = [sim_bodies.collider(self.colliders[0])?, sim_bodies.collider(self.colliders[1])?];
        let is_valid = is_valid_material(&self.material)
            && are_valid_manifolds(&self.manifolds)
            && self.origin.is_finite();
        if a.body == b.body || !is_valid {
            return None;
        }
        let sides = [(self.colliders[0], a), (self.colliders[1], b)];
        let mut contact = Contact::new(sides, self.material, settings.foresight, settings.recycling);
        contact.cache = match (contact.cache, self.cache) {
            (NarrowPhaseCache::Pieces(_), SavedNarrowPhase::Pieces(cache)) => NarrowPhaseCache::Pieces(cache),
            (NarrowPhaseCache::Shapes(_), SavedNarrowPhase::Shapes(memory)) => {
                let cache = ContactCache::restored(&memory, &a.shape, &b.shape);
                NarrowPhaseCache::Shapes(Box::new((cache, ShapeManifolds::default())))
            }
            (empty, _) => empty,
        };
        (contact.touching, contact.near) = (self.touching, self.near);
        (contact.was_touching, contact.impact_step, contact.passing) =
            (self.was_touching, self.impact_step, self.passing);
        (contact.manifold_pose, contact.origin) = (self.manifold_pose, self.origin);
        let mut manifolds = self.manifolds.into_iter();
        contact.first_manifold = manifolds.next().unwrap_or_default();
        contact.other_manifolds.extend(manifolds);
        Some(contact)
    }
}

/// What the narrow phase needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct NarrowPhaseContext<'s> {
    pub world: &'s World,
    pub sim_bodies: &'s SimBodies,
    /// Length of the step, s.
    pub dt: f64,
    /// Speculative margin, m, and tolerance of contact recycling, as a fraction of the radius.
    pub foresight: f64,
    pub recycling: f64,
    /// Distance that gravity moves a body from rest in a step, m.
    pub fall: f64,
}

impl Contact {
    /// The contact of two colliders that have come within the margin.
    pub fn between(colliders: [u32; 2], context: &NarrowPhaseContext<'_>) -> Option<Self> {
        let (a, b) = (context.sim_bodies.collider(colliders[0])?, context.sim_bodies.collider(colliders[1])?);
        let material = context.world.combined_material(a.id, b.id).ok()?;
        Some(Self::new(
            [(colliders[0], a), (colliders[1], b)],
            material,
            context.foresight,
            context.recycling,
        ))
    }

    /// (colliders with their slots, material, speculative margin in m, recycling tolerance) ⇒ contact without
    /// manifolds.
    fn new(
        colliders: [(u32, &SimCollider); 2],
        material: CombinedMaterial,
        foresight: f64,
        recycling: f64,
    ) -> Self {
        let [a, b] = colliders.map(|(_, collider)| collider);
        let simple = |shape: &Shape| Piece::try_from(shape).is_ok();
        let cache = if simple(&a.shape) && simple(&b.shape) {
            NarrowPhaseCache::Pieces(PieceCache::default())
        } else {
            NarrowPhaseCache::Shapes(Box::default())
        };
        let smaller = usize::from(b.radius <= a.radius);
        let reach = [a, b][smaller].radius;
        let foresight = foresight.min(MARGIN_PER_RADIUS * reach);
        let tolerance = (recycling * reach).min(RECYCLING_PER_MARGIN * foresight);
        Self {
            colliders: colliders.map(|(index, _)| index),
            bodies: [a.body, b.body],
            material,
            sensor: a.sensor || b.sensor,
            passing: false,
            touching: false,
            near: false,
            was_touching: false,
            impact_step: 0,
            collision_step: 0,
            first_manifold: ManifoldConstraint::default(),
            other_manifolds: Vec::new(),
            old_manifolds: Vec::new(),
            cache,
            manifold_pose: None,
            origin: DVec3::ZERO,
            foresight,
            tolerance,
            smaller: smaller as u8,
            is_special: [a, b].iter().any(|collider| collider.sensor || collider.one_way.is_some()),
            curved: a.shape.is_curved() || b.shape.is_curved(),
            may_roll: has_planes(&a.shape) && is_rolling_shape(b),
            may_slide: has_planes(&a.shape) && !(a.sensor || b.sensor),
        }
    }

    /// State to be saved.
    pub fn saved(&self) -> SavedContact {
        SavedContact {
            colliders: self.colliders,
            material: self.material,
            passing: self.passing,
            touching: self.touching,
            near: self.near,
            was_touching: self.was_touching,
            impact_step: self.impact_step,
            manifolds: self.manifolds().copied().collect(),
            cache: match &self.cache {
                NarrowPhaseCache::Pieces(cache) => SavedNarrowPhase::Pieces(*cache),
                NarrowPhaseCache::Shapes(shapes) => SavedNarrowPhase::Shapes(shapes.0.state()),
            },
            manifold_pose: self.manifold_pose,
            origin: self.origin,
        }
    }

    /// All manifolds.
    pub fn manifolds(&self) -> impl Iterator<Item = &ManifoldConstraint> {
        std::iter::once(&self.first_manifold)
            .filter(|manifold| manifold.count > 0)
            .chain(&self.other_manifolds)
    }

    /// Lever arm with which the contact resists tilting, m: that of its widest manifold.
    pub fn lever_arm(&self) -> f64 {
        self.manifolds().map(ManifoldConstraint::lever_arm).fold(0.0, f64::max)
    }

    /// All manifolds, mutable.
    pub fn manifolds_mut(&mut self) -> impl Iterator<Item = &mut ManifoldConstraint> {
        std::iter::once(&mut self.first_manifold)
            .filter(|manifold| manifold.count > 0)
            .chain(&mut self.other_manifolds)
    }

    /// Whether there is a manifold to solve.
    pub fn is_near(&self) -> bool {
        self.near && self.first_manifold.count > 0
    }

    /// Updates a contact whose manifold is known to be valid, if bounds on the velocities show that the margin covers the
    /// approach in this step ⇒ whether it was updated. The result is that of [`Contact::update`], at a fraction of its cost.
    #[inline]
    pub fn reuse(&mut self, context: &NarrowPhaseContext<'_>, displacements: [&StepDisplacement; 2]) -> bool {
        if self.is_special
            || f64::from(tracked_approach(displacements, context.dt)) > self.foresight
            || (self.curved && f64::from(rotation_speed(displacements)) > ROLLING_SPEED)
            || self.is_bouncy()
        {
            return false;
        }
        let origin = |k: usize| {
            let sim_body = context.sim_bodies.body(self.bodies[k])?;
            if sim_body.status == Status::Fixed {
                return Some(self.origin);
            }
            Some(sim_body.motion(context.world)?.x)
        };
        let (Some(a), Some(b)) = (origin(0), origin(1)) else { return false };
        self.set_offset(b - a);
        self.near = true;
        self.update_touching();
        true
    }

    /// Updates the manifolds for the present poses of the bodies ⇒ how far the smaller collider may still move as seen
    /// from the other body before they have to be checked again, m.
    pub fn update(&mut self, context: &NarrowPhaseContext<'_>) -> f32 {
        let Some([a, b]) = self.sides(context) else { return 0.0 };
        let relative = a.motion.pose().relative(&b.motion.pose());
        let tracked = [&a, &b][usize::from(self.smaller)];
        let SimCollider { center, radius: reach, .. } = *tracked.collider;
        // The margin covers the approach in this step; with restitution, at any distance.
        let center = tracked.motion.pose().point(center);
        let velocity =
            |side: &ContactSide<'_>| side.motion.v + side.motion.omega.cross(center - side.motion.x);
        let rotation_speed = (b.motion.omega - a.motion.omega).length();
        let moved = self.manifold_pose.map_or(f64::INFINITY, |pose| {
            self.relative_displacement(&pose, &relative, tracked.collider.center, reach)
        });
        let mut slack = self.tolerance - moved;
        let reusable = !(self.curved && rotation_speed * reach > ROLLING_SPEED) && moved < self.tolerance;
        let rotation_travel = context.dt * rotation_speed * reach;
        let margin = if self.is_bouncy() {
            // One of the two may bounce off a third body first and return.
            context.dt * (velocity(&a).length() + velocity(&b).length()) + rotation_travel + context.fall
        } else {
            (context.dt * (velocity(&b) - velocity(&a)).length() + rotation_travel).min(0.5 * reach)
        };
        let margin = self.foresight.max(margin);
        if !reusable || margin > self.foresight {
            self.manifold_pose = Some(relative);
            self.rebuild_manifolds(&a, &b, margin);
            slack = self.tolerance;
        }
        self.measure_gaps(&a, &b);
        self.update_touching();
        if a.collider.one_way.is_some() || b.collider.one_way.is_some() {
            self.update_one_way(&a, &b);
        }
        (slack as f32).next_down()
    }

    /// Clears the contact state while a joint excludes the pair.
    pub fn clear(&mut self) {
        (self.was_touching, self.touching, self.near, self.manifold_pose) =
            (self.touching, false, false, None);
    }

    /// One-sided colliders: lets the other collider pass unless it approaches against the direction of the
    /// one-sided shape, and until it is separated and does.
    fn update_one_way(&mut self, a: &ContactSide<'_>, b: &ContactSide<'_>) {
        let gap = self.min_gap();
        let min_gap_of = |manifold: &&ManifoldConstraint| {
            manifold.points().iter().map(PackedPoint::gap).fold(f32::INFINITY, f32::min)
        };
        let deepest = self.manifolds().min_by(|p, q| min_gap_of(p).total_cmp(&min_gap_of(q)));
        let Some(normal) = deepest.map(|manifold| a.axes() * manifold.normal()) else {
            self.passing = false;
            return;
        };
        let resisted_by = |side: &ContactSide<'_>, outward: DVec3| {
            side.collider
                .one_way
                .is_none_or(|direction| (side.motion.q * direction).dot(outward) > ONE_WAY_COSINE)
        };
        let resisted = resisted_by(a, normal) && resisted_by(b, -normal);
        self.passing = !resisted || (self.passing && gap < 0.0);
        if self.passing {
            (self.near, self.touching) = (false, false);
        }
    }

    /// Origin of the anchors on a static body.
    pub const fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Whether the restitution of this contact is positive and active.
    pub fn is_bouncy(&self) -> bool {
        self.material.restitution > 0.0 && !self.sensor && !self.passing
    }

    /// Colliders and states of both bodies.
    fn sides<'s>(&self, context: &NarrowPhaseContext<'s>) -> Option<[ContactSide<'s>; 2]> {
        let side = |k: usize| {
            let collider = context.sim_bodies.collider(self.colliders[k])?;
            let sim_body = context.sim_bodies.body(self.bodies[k])?;
            let motion = sim_body.motion(context.world)?;
            Some(ContactSide {
                collider,
                motion,
                is_static: sim_body.status == Status::Fixed,
                is_dynamic: sim_body.status == Status::Dynamic,
            })
        };
        Some([side(0)?, side(1)?])
    }

    /// Bound on the displacement of the points of the smaller collider, with this centre in its body's frame and this
    /// radius, as seen from the other body, m.
    fn relative_displacement(&self, manifold_pose: &Pose, now: &Pose, center: DVec3, reach: f64) -> f64 {
        let turn = manifold_pose.rotation.conjugate() * now.rotation;
        let angle = 2.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
        // Centre of the smaller collider: of B in A's frame, or of A in B's.
        let position = |pose: &Pose| {
            if self.smaller == 1 { pose.point(center) } else { pose.inverse_point(center) }
        };
        let translation = (position(now) - position(manifold_pose)).length();
        translation + angle * reach
    }

    /// Recomputes the manifolds. A failed query counts as no contact.
    fn rebuild_manifolds(&mut self, a: &ContactSide<'_>, b: &ContactSide<'_>, margin: f64) {
        self.old_manifolds.clear();
        if self.first_manifold.count > 0 {
            self.old_manifolds.push(self.first_manifold);
            self.old_manifolds.append(&mut self.other_manifolds);
        }
        self.first_manifold.count = 0;
        let (pose_of_a, pose_of_b) =
            (a.motion.pose() * a.collider.local_pose, b.motion.pose() * b.collider.local_pose);
        let relative = pose_of_a.relative(&pose_of_b);
        let Self { cache, first_manifold, other_manifolds, old_manifolds, material, origin, .. } = self;
        let mut add_manifold = |manifold: &Manifold, origin: DVec3| {
            let constraint = build_manifold(manifold, &pose_of_a, a, b, old_manifolds, material, origin);
            if first_manifold.count == 0 {
                *first_manifold = constraint;
            } else {
                other_manifolds.push(constraint);
            }
        };
        match cache {
            NarrowPhaseCache::Pieces(cache) => {
                if let (Ok(piece_a), Ok(piece_b)) =
                    (Piece::try_from(&a.collider.shape), Piece::try_from(&b.collider.shape))
                    && let Ok(Some(manifold)) = collide_pieces(&piece_a, &piece_b, &relative, margin, cache)
                {
                    *origin = pose_of_a.point(centroid(&manifold));
                    add_manifold(&manifold, *origin);
                }
            }
            NarrowPhaseCache::Shapes(memory) => {
                let (cache, found) = &mut **memory;
                if collide(&a.collider.shape, &b.collider.shape, &relative, margin, cache, found).is_ok() {
                    if let Some(manifold) = found.manifolds().first() {
                        *origin = pose_of_a.point(centroid(manifold));
                    }
                    found.manifolds().iter().for_each(|manifold| add_manifold(manifold, *origin));
                }
            }
        }
    }

    /// Visits the contact points of the colliders at other poses of their bodies: index of the manifold, its
    /// normal, the midpoint between the two surfaces, the gap; in world axes and double precision.
    pub fn visit_points(
        &self,
        [(a, pose_a), (b, pose_b)]: [(&SimCollider, &Pose); 2],
        margin: f64,
        mut visit: impl FnMut(usize, DVec3, DVec3, f64),
    ) {
        let (pose_of_a, pose_of_b) = (*pose_a * a.local_pose, *pose_b * b.local_pose);
        let relative = pose_of_a.relative(&pose_of_b);
        let mut visit_manifold = |index: usize, manifold: &Manifold| {
            let normal = pose_of_a.vector(manifold.normal).normalize_or_zero();
            for point in manifold.points() {
                let center = 0.5 * (point.point_a + point.point_b);
                visit(index, normal, pose_of_a.point(center), point.separation);
            }
        };
        match &self.cache {
            NarrowPhaseCache::Pieces(cache) => {
                if let (Ok(piece_a), Ok(piece_b)) = (Piece::try_from(&a.shape), Piece::try_from(&b.shape))
                    && let Ok(Some(manifold)) =
                        collide_pieces(&piece_a, &piece_b, &relative, margin, &mut { *cache })
                {
                    visit_manifold(0, &manifold);
                }
            }
            NarrowPhaseCache::Shapes(_) => {
                let (mut cache, mut found) = (ContactCache::default(), ShapeManifolds::default());
                if collide(&a.shape, &b.shape, &relative, margin, &mut cache, &mut found).is_ok() {
                    found
                        .manifolds()
                        .iter()
                        .enumerate()
                        .for_each(|(index, manifold)| visit_manifold(index, manifold));
                }
            }
        }
    }

    /// Updates the offset of the bodies, and the gaps where they are needed before the solver computes them.
    fn measure_gaps(&mut self, a: &ContactSide<'_>, b: &ContactSide<'_>) {
        let origin = |side: &ContactSide<'_>| if side.is_static { self.origin } else { side.motion.x };
        let offset = origin(b) - origin(a);
        self.near = true;
        self.set_offset(offset);
        let skips_gaps = self.material.restitution == 0.0 && !self.sensor;
        if skips_gaps && a.collider.one_way.is_none() && b.collider.one_way.is_none() {
            return;
        }
        let (rotation_a, rotation_b) = (DMat3::from_quat(a.axes()), DMat3::from_quat(b.axes()));
        for manifold in self.manifolds_mut() {
            let normal = rotation_a * manifold.normal();
            for point in manifold.points_mut() {
                let gap = offset + rotation_b * point.anchor_b() - rotation_a * point.anchor_a();
                point.set_gap(normal.dot(gap) as f32);
            }
        }
        // Speculative contacts stop an approaching body ahead of contact; impacts and sensors need the
        // contact itself.
        self.near = skips_gaps || f64::from(self.min_gap()) <= self.foresight;
    }

    /// Stores x_B − x_A, m, in all manifolds.
    fn set_offset(&mut self, offset: DVec3) {
        let offset = offset.as_vec3();
        self.manifolds_mut().for_each(|manifold| manifold.set_offset(offset));
    }

    /// Smallest gap of all points, m.
    fn min_gap(&self) -> f32 {
        let points = self.manifolds().flat_map(ManifoldConstraint::points);
        points.map(PackedPoint::gap).fold(f32::INFINITY, f32::min)
    }

    /// Smallest gap of the anchors if the bodies had these states, m; `None` stands for a static body.
    pub fn gap_at(&self, motions: &[Option<Motion>; 2]) -> f64 {
        let [a, b] = motions
            .map(|motion| motion.map_or((self.origin, DQuat::IDENTITY), |motion| (motion.x, motion.q)));
        let mut smallest = f64::INFINITY;
        for manifold in self.manifolds() {
            let normal = a.1 * manifold.normal();
            for point in manifold.points() {
                let offset = b.0 - a.0 + b.1 * point.anchor_b() - a.1 * point.anchor_a();
                smallest = smallest.min(normal.dot(offset));
            }
        }
        smallest
    }

    /// Stores the result of rolling (`rolling`) in the deepest point: impulse of a sub-step on B, N·s,
    /// normal, gap, m.
    pub fn store_rolling(&mut self, impulse: DVec3, normal: DVec3, gap: f64) {
        let manifold = &mut self.first_manifold;
        let normal_impulse = impulse.dot(normal);
        let tangent_impulse = (impulse - normal_impulse * normal).as_vec3();
        manifold.reset_friction_impulse(tangent_impulse);
        let points = manifold.points_mut();
        let deepest = (0..points.len()).min_by(|i, k| points[*i].gap().total_cmp(&points[*k].gap()));
        for (index, point) in points.iter_mut().enumerate() {
            let is_deepest = deepest == Some(index);
            point.set_impulse(if is_deepest { normal_impulse as f32 } else { 0.0 });
            point.set_gap(if is_deepest { gap as f32 } else { point.gap().max(gap as f32) });
        }
    }

    /// Whether the bodies touch, or did when the step was solved.
    pub fn acts(&self) -> bool {
        let mut points = self.manifolds().flat_map(|manifold| &manifold.points[..manifold.count as usize]);
        self.touching || points.any(|point| point.impulse() != 0.0)
    }

    /// Updates the touching state, with hysteresis: the distance to separate is larger than the distance to
    /// touch.
    fn update_touching(&mut self) {
        self.was_touching = self.touching;
        let limit = if self.was_touching { TOUCH_END } else { TOUCH_BEGIN } * self.foresight;
        self.touching = f64::from(self.min_gap()) <= limit;
    }
}

/// One of the two colliders of a contact.
#[derive(Clone, Copy, Debug)]
struct ContactSide<'s> {
    collider: &'s SimCollider,
    motion: &'s Motion,
    is_static: bool,
    is_dynamic: bool,
}

impl ContactSide<'_> {
    /// Orientation of the axes of the anchors; identity for a static body.
    fn axes(&self) -> DQuat {
        if self.is_static { DQuat::IDENTITY } else { self.motion.q }
    }

    /// A point of the world relative to the body.
    fn anchor(&self, point: DVec3, origin: DVec3) -> DVec3 {
        if self.is_static { point - origin } else { self.motion.q.conjugate() * (point - self.motion.x) }
    }
}

/// Centroid of the points on A, in A's frame.
fn centroid(manifold: &Manifold) -> DVec3 {
    let points = manifold.points();
    points.iter().map(|point| point.point_a).sum::<DVec3>() / points.len().max(1) as f64
}

/// Manifold of the narrow phase ⇒ constraint, with the impulses of the matching old points.
fn build_manifold(
    manifold: &Manifold,
    pose_of_a: &Pose,
    a: &ContactSide<'_>,
    b: &ContactSide<'_>,
    old_manifolds: &[ManifoldConstraint],
    material: &CombinedMaterial,
    origin: DVec3,
) -> ManifoldConstraint {
    let mut constraint = ManifoldConstraint::default();
    let normal = a.axes().conjugate() * pose_of_a.vector(manifold.normal);
    constraint.set_normal(normal.as_vec3());
    let immovable = !(a.is_dynamic && b.is_dynamic);
    constraint.surface = F32x8([
        material.static_friction as f32,
        material.kinetic_friction as f32,
        material.spinning_friction as f32,
        material.rolling_friction as f32,
        f32::from(u8::from(immovable)),
        manifold.points().len() as f32,
        0.0,
        0.0,
    ]);
    // Point ids on triangle meshes contain the triangle already; the manifold's own part index is that of the
    // deepest triangle, which changes.
    let surface =
        |side: &ContactSide<'_>| matches!(side.collider.shape, Shape::Mesh(_) | Shape::HeightField(_));
    let whole = |side: &ContactSide<'_>| !matches!(side.collider.shape, Shape::Compound(_));
    let seed = if (surface(a) && whole(b)) || (surface(b) && whole(a)) {
        0
    } else {
        manifold.parts[0].wrapping_mul(0x9e37_79b9) ^ manifold.parts[1].wrapping_mul(0x85eb_ca6b)
    };
    let mut matched = None;
    for (k, point) in manifold.points().iter().take(MAX_POINTS).enumerate() {
        let pa = a.anchor(pose_of_a.point(point.point_a), origin).as_vec3();
        let pb = b.anchor(pose_of_a.point(point.point_b), origin).as_vec3();
        let id = point.id ^ seed;
        let previous = old_manifolds
            .iter()
            .enumerate()
            .find_map(|(i, old)| (0..old.count as usize).find(|j| old.ids[*j] == id).map(|j| (i, j)));
        let impulse = previous.map_or(0.0, |(i, j)| old_manifolds[i].points[j].impulse());
        matched = matched.or(previous.map(|(i, _)| i));
        constraint.points[k] = PackedPoint::new(pa, pb, impulse, point.separation as f32);
        constraint.ids[k] = id;
        constraint.count = k as u32 + 1;
    }
    if let Some(i) = matched {
        constraint.friction = old_manifolds[i].friction;
    }
    constraint
}
