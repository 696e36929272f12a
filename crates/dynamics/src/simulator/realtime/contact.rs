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

use super::apart::{approach, distance, left};
use super::block::{POINTS, Patch};
use super::lanes::Row;
use super::memory::{is_usable, sane};
use super::roster::{NONE, Part, Roster};
use super::settings::RealtimeSettings;
use crate::filter::{Exclusion, Rejection};
use crate::motion::Motion;
use crate::world::{MixedMaterial, Status, World};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::contact::{
    CacheMemory, ContactCache, Contacts as Found, Manifold, Piece, PieceCache, collide, collide_pieces,
};
use rattleback_geometry::{Pose, Shape};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Cache of the narrow phase. Convex pairs are by far the most frequent, so that their variant is not boxed.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum Search {
    /// Two convex pieces: one manifold at most.
    Pieces(PieceCache),
    /// Any other pair of shapes.
    Shapes(Box<(ContactCache, Found)>),
}

/// Manifolds of two colliders within the speculative margin.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Contact {
    /// Colliders, by proxy slot; the first belongs to the static body, if there is one.
    pub parts: [u32; 2],
    pub actors: [u32; 2],
    pub material: MixedMaterial,
    pub sensor: bool,
    /// Whether a one-sided collider lets the other pass at present.
    passing: bool,
    /// Whether the colliders touch, are within the margin, and touched before this step.
    pub touching: bool,
    near: bool,
    pub touched: bool,
    /// Number of the step in which the impact stage handled this contact, so that the solver skips it.
    pub answered: u64,
    /// The first manifold, and further ones of non-convex shapes; the previous ones, for warm starting.
    pub patch: Patch,
    pub others: Vec<Patch>,
    old: Vec<Patch>,
    search: Search,
    /// Pose of B in A's frame when the manifolds were computed.
    seen: Option<Pose>,
    /// Origin of the anchors on a static body.
    origin: DVec3,
    foresight: f64,
    tolerance: f64,
    /// Index (0 or 1) of the smaller collider.
    small: u8,
    /// Whether one of the shapes is curved, so that rotation alone moves the contact point over it.
    round: bool,
    /// Whether B is round and may roll on A, a half-space or a box.
    pub rolls: bool,
}

const ROLLS: f64 = 0.02;

/// Whether a shape has a curved surface.
fn is_curved(shape: &Shape) -> bool {
    match shape {
        Shape::Sphere(_)
        | Shape::Cylinder(_)
        | Shape::Capsule(_)
        | Shape::Cone(_)
        | Shape::Ellipsoid(_)
        | Shape::Custom(_) => true,
        Shape::Compound(compound) => compound.parts().iter().any(|(_, part)| is_curved(part)),
        _ => false,
    }
}

/// Whether the contact point moves over the body as it rolls; not so for a sphere about the centre of mass.
fn is_rolling_shape(part: &Part) -> bool {
    match part.shape {
        Shape::Sphere(_) => part.middle.length() > 1e-9 * part.radius,
        Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_) | Shape::Ellipsoid(_) => true,
        _ => false,
    }
}

/// Saved cache of the narrow phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
enum SearchMemory {
    Pieces(PieceCache),
    Shapes(CacheMemory),
}

const AGAINST: f64 = 0.5;

/// Saved contact, without its shapes and derived values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct ContactMemory {
    parts: [u32; 2],
    material: MixedMaterial,
    passing: bool,
    touching: bool,
    near: bool,
    touched: bool,
    answered: u64,
    patches: Vec<Patch>,
    search: SearchMemory,
    seen: Option<Pose>,
    origin: DVec3,
}

impl ContactMemory {
    pub const fn parts(&self) -> [u32; 2] {
        self.parts
    }

    /// The restored contact; `None` if it does not fit these bodies.
    pub fn recalled(self, roster: &Roster, settings: &RealtimeSettings) -> Option<Contact> {
        let [a, b] = [roster.part(self.parts[0])?, roster.part(self.parts[1])?];
        let usable = is_usable(&self.material) && sane(&self.patches) && self.origin.is_finite();
        if a.actor == b.actor || !usable {
            return None;
        }
        let sides = [(self.parts[0], a), (self.parts[1], b)];
        let mut contact = Contact::new(sides, self.material, settings.foresight, settings.recycling);
        contact.search = match (contact.search, self.search) {
            (Search::Pieces(_), SearchMemory::Pieces(cache)) => Search::Pieces(cache),
            (Search::Shapes(_), SearchMemory::Shapes(memory)) => {
                let cache = ContactCache::recalled(&memory, &a.shape, &b.shape);
                Search::Shapes(Box::new((cache, Found::default())))
            }
            (fresh, _) => fresh,
        };
        (contact.touching, contact.near) = (self.touching, self.near);
        (contact.touched, contact.answered, contact.passing) = (self.touched, self.answered, self.passing);
        (contact.seen, contact.origin) = (self.seen, self.origin);
        let mut patches = self.patches.into_iter();
        contact.patch = patches.next().unwrap_or_default();
        contact.others.extend(patches);
        Some(contact)
    }
}

/// What the narrow phase needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'s> {
    pub world: &'s World,
    pub roster: &'s Roster,
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
    fn between(parts: [u32; 2], sight: &Sight<'_>) -> Option<Self> {
        let (a, b) = (sight.roster.part(parts[0])?, sight.roster.part(parts[1])?);
        let material = sight.world.mixed_material(a.id, b.id).ok()?;
        Some(Self::new([(parts[0], a), (parts[1], b)], material, sight.foresight, sight.recycling))
    }

    fn new(parts: [(u32, &Part); 2], material: MixedMaterial, foresight: f64, recycling: f64) -> Self {
        let [a, b] = parts.map(|(_, part)| part);
        let simple = |shape: &Shape| Piece::try_from(shape).is_ok();
        let search = if simple(&a.shape) && simple(&b.shape) {
            Search::Pieces(PieceCache::default())
        } else {
            Search::Shapes(Box::default())
        };
        let small = usize::from(b.radius <= a.radius);
        let reach = [a, b][small].radius;
        let foresight = foresight.min(0.25 * reach);
        let tolerance = (recycling * reach).min(0.5 * foresight);
        Self {
            parts: parts.map(|(index, _)| index),
            actors: [a.actor, b.actor],
            material,
            sensor: a.sensor || b.sensor,
            passing: false,
            touching: false,
            near: false,
            touched: false,
            answered: 0,
            patch: Patch::default(),
            others: Vec::new(),
            old: Vec::new(),
            search,
            seen: None,
            origin: DVec3::ZERO,
            foresight,
            tolerance,
            small: small as u8,
            round: is_curved(&a.shape) || is_curved(&b.shape),
            rolls: matches!(a.shape, Shape::HalfSpace(_) | Shape::Cuboid(_)) && is_rolling_shape(b),
        }
    }

    /// State to be saved.
    pub fn memory(&self) -> ContactMemory {
        ContactMemory {
            parts: self.parts,
            material: self.material,
            passing: self.passing,
            touching: self.touching,
            near: self.near,
            touched: self.touched,
            answered: self.answered,
            patches: self.patches().copied().collect(),
            search: match &self.search {
                Search::Pieces(cache) => SearchMemory::Pieces(*cache),
                Search::Shapes(memory) => SearchMemory::Shapes(memory.0.memory()),
            },
            seen: self.seen,
            origin: self.origin,
        }
    }

    /// All manifolds.
    pub fn patches(&self) -> impl Iterator<Item = &Patch> {
        std::iter::once(&self.patch).filter(|patch| patch.count > 0).chain(&self.others)
    }

    /// All manifolds, mutable.
    pub fn patches_mut(&mut self) -> impl Iterator<Item = &mut Patch> {
        std::iter::once(&mut self.patch).filter(|patch| patch.count > 0).chain(&mut self.others)
    }

    /// Whether there is a manifold to solve.
    pub fn is_near(&self) -> bool {
        self.near && self.patch.count > 0
    }

    /// Updates the manifolds for the present poses of the bodies.
    pub fn look(&mut self, sight: &Sight<'_>) {
        let Some([a, b]) = self.sides(sight) else { return };
        let relative = a.motion.pose().relative(&b.motion.pose());
        let smaller = [&a, &b][usize::from(self.small)];
        let Part { middle, radius: reach, .. } = *smaller.part;
        // The margin covers the approach in this step; with restitution, at any distance.
        let middle = smaller.motion.pose().point(middle);
        let velocity = |side: &Side<'_>| side.motion.v + side.motion.omega.cross(middle - side.motion.x);
        let turning = (b.motion.omega - a.motion.omega).length();
        let known = !(self.round && turning * reach > ROLLS)
            && self.seen.is_some_and(|seen| self.is_close(&seen, &relative, smaller.part.middle, reach));
        let swing = sight.dt * turning * reach;
        let margin = if self.is_bouncy() {
            // One of the two may bounce off a third body first and return.
            sight.dt * (velocity(&a).length() + velocity(&b).length()) + swing + sight.fall
        } else {
            (sight.dt * (velocity(&b) - velocity(&a)).length() + swing).min(0.5 * reach)
        };
        let margin = self.foresight.max(margin);
        if !known || margin > self.foresight {
            self.seen = Some(relative);
            self.look_again(&a, &b, margin);
        }
        self.measure(&a, &b);
        self.feel();
        if a.part.one_way.is_some() || b.part.one_way.is_some() {
            self.let_pass(&a, &b);
        }
    }

    /// Clears the contact state while a joint excludes the pair.
    fn keep_quiet(&mut self) {
        (self.touched, self.touching, self.near, self.seen) = (self.touching, false, false, None);
    }

    /// One-sided colliders: lets the other collider pass unless it approaches against the direction of the
    /// one-sided shape, and until it is separated and does.
    fn let_pass(&mut self, a: &Side<'_>, b: &Side<'_>) {
        let gap = self.least_gap();
        let lowest = |patch: &&Patch| {
            patch.points[..patch.count as usize].iter().map(|row| row.0[7]).fold(f32::INFINITY, f32::min)
        };
        let deepest = self.patches().min_by(|p, q| lowest(p).total_cmp(&lowest(q)));
        let Some(normal) = deepest.map(|patch| a.axes() * patch.head.vector(0)) else {
            self.passing = false;
            return;
        };
        let against = |side: &Side<'_>, outward: DVec3| {
            side.part.one_way.is_none_or(|way| (side.motion.q * way).dot(outward) > AGAINST)
        };
        let resisted = against(a, normal) && against(b, -normal);
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

    fn sides<'s>(&self, sight: &Sight<'s>) -> Option<[Side<'s>; 2]> {
        let side = |k: usize| {
            let part = sight.roster.part(self.parts[k])?;
            let actor = sight.roster.actor(self.actors[k])?;
            let motion = actor.motion(sight.world)?;
            Some(Side {
                part,
                motion,
                fixed: actor.status == Status::Fixed,
                movable: actor.status == Status::Dynamic,
            })
        };
        Some([side(0)?, side(1)?])
    }

    /// Whether no point of the smaller collider, with this centre in its body's frame and this radius, can
    /// have moved by more than the tolerance.
    fn is_close(&self, seen: &Pose, now: &Pose, middle: DVec3, reach: f64) -> bool {
        let turn = seen.rotation.conjugate() * now.rotation;
        let angle = 2.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
        // Centre of the smaller collider: of B in A's frame, or of A in B's.
        let place = |pose: &Pose| {
            if self.small == 1 { pose.point(middle) } else { pose.inverse_point(middle) }
        };
        let slid = (place(now) - place(seen)).length();
        slid + angle * reach < self.tolerance
    }

    /// Recomputes the manifolds. A failed query counts as no contact.
    fn look_again(&mut self, a: &Side<'_>, b: &Side<'_>, margin: f64) {
        self.old.clear();
        if self.patch.count > 0 {
            self.old.push(self.patch);
            self.old.append(&mut self.others);
        }
        self.patch.count = 0;
        let (place_a, place_b) = (a.motion.pose() * a.part.place, b.motion.pose() * b.part.place);
        let relative = place_a.relative(&place_b);
        let Self { search, patch, others, old, material, origin, .. } = self;
        let mut take = |manifold: &Manifold, origin: DVec3| {
            let made = make_patch(manifold, &place_a, a, b, old, material, origin);
            if patch.count == 0 { *patch = made } else { others.push(made) }
        };
        match search {
            Search::Pieces(cache) => {
                if let (Ok(piece_a), Ok(piece_b)) =
                    (Piece::try_from(&a.part.shape), Piece::try_from(&b.part.shape))
                    && let Ok(Some(manifold)) = collide_pieces(&piece_a, &piece_b, &relative, margin, cache)
                {
                    *origin = place_a.point(center(&manifold));
                    take(&manifold, *origin);
                }
            }
            Search::Shapes(memory) => {
                let (cache, found) = &mut **memory;
                if collide(&a.part.shape, &b.part.shape, &relative, margin, cache, found).is_ok() {
                    if let Some(manifold) = found.manifolds().first() {
                        *origin = place_a.point(center(manifold));
                    }
                    found.manifolds().iter().for_each(|manifold| take(manifold, *origin));
                }
            }
        }
    }

    /// Visits the contact points of the colliders at other poses of their bodies: index of the manifold, its
    /// normal, the midpoint between the two surfaces, the gap; in world axes and double precision.
    pub fn probe(
        &self,
        [(a, pose_a), (b, pose_b)]: [(&Part, &Pose); 2],
        margin: f64,
        mut show: impl FnMut(usize, DVec3, DVec3, f64),
    ) {
        let (place_a, place_b) = (*pose_a * a.place, *pose_b * b.place);
        let relative = place_a.relative(&place_b);
        let mut show = |number: usize, manifold: &Manifold| {
            let normal = place_a.vector(manifold.normal).normalize_or_zero();
            for point in manifold.points() {
                let middle = 0.5 * (point.point_a + point.point_b);
                show(number, normal, place_a.point(middle), point.separation);
            }
        };
        match &self.search {
            Search::Pieces(cache) => {
                if let (Ok(piece_a), Ok(piece_b)) = (Piece::try_from(&a.shape), Piece::try_from(&b.shape))
                    && let Ok(Some(manifold)) =
                        collide_pieces(&piece_a, &piece_b, &relative, margin, &mut { *cache })
                {
                    show(0, &manifold);
                }
            }
            Search::Shapes(_) => {
                let (mut cache, mut found) = (ContactCache::default(), Found::default());
                if collide(&a.shape, &b.shape, &relative, margin, &mut cache, &mut found).is_ok() {
                    found
                        .manifolds()
                        .iter()
                        .enumerate()
                        .for_each(|(number, manifold)| show(number, manifold));
                }
            }
        }
    }

    /// Updates the offset of the bodies, and the gaps where they are needed before the solver computes them.
    fn measure(&mut self, a: &Side<'_>, b: &Side<'_>) {
        let place = |side: &Side<'_>| if side.fixed { self.origin } else { side.motion.x };
        let apart = place(b) - place(a);
        let here = apart.as_vec3();
        self.near = true;
        for patch in self.patches_mut() {
            patch.head.0[3..6].copy_from_slice(&here.to_array());
        }
        let plain = self.material.restitution == 0.0 && !self.sensor;
        if plain && a.part.one_way.is_none() && b.part.one_way.is_none() {
            return;
        }
        let (turn_a, turn_b) = (DMat3::from_quat(a.axes()), DMat3::from_quat(b.axes()));
        for patch in self.patches_mut() {
            let [x, y, z, ..] = patch.head.0.map(f64::from);
            let normal = turn_a * DVec3::new(x, y, z);
            for row in &mut patch.points[..patch.count as usize] {
                let [ax, ay, az, bx, by, bz, ..] = row.0.map(f64::from);
                let gap = apart + turn_b * DVec3::new(bx, by, bz) - turn_a * DVec3::new(ax, ay, az);
                row.0[7] = normal.dot(gap) as f32;
            }
        }
        // Speculative contacts stop an approaching body ahead of contact; impacts and sensors need the
        // contact itself.
        self.near = plain || f64::from(self.least_gap()) <= self.foresight;
    }

    fn least_gap(&self) -> f32 {
        let points = self.patches().flat_map(|patch| &patch.points[..patch.count as usize]);
        points.map(|row| row.0[7]).fold(f32::INFINITY, f32::min)
    }

    /// Smallest gap of the anchors if the bodies had these states, m; `None` stands for a static body.
    pub fn gap_at(&self, motions: &[Option<Motion>; 2]) -> f64 {
        let [a, b] = motions
            .map(|motion| motion.map_or((self.origin, DQuat::IDENTITY), |motion| (motion.x, motion.q)));
        let mut least = f64::INFINITY;
        for patch in self.patches() {
            let normal = a.1 * patch.head.vector(0);
            for row in &patch.points[..patch.count as usize] {
                let apart = b.0 - a.0 + b.1 * row.vector(3) - a.1 * row.vector(0);
                least = least.min(normal.dot(apart));
            }
        }
        least
    }

    /// Stores the result of rolling (`rolling`) in the deepest point: impulse of a sub-step on B, N·s,
    /// normal, gap, m.
    pub fn keep_rolling(&mut self, impulse: DVec3, normal: DVec3, gap: f64) {
        let patch = &mut self.patch;
        let pressure = impulse.dot(normal);
        let along = (impulse - pressure * normal).as_vec3();
        patch.grip = Row([along.x, along.y, along.z, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let points = &mut patch.points[..patch.count as usize];
        let deepest = (0..points.len()).min_by(|i, k| points[*i].0[7].total_cmp(&points[*k].0[7]));
        for (index, row) in points.iter_mut().enumerate() {
            let carries = deepest == Some(index);
            row.0[6] = if carries { pressure as f32 } else { 0.0 };
            row.0[7] = if carries { gap as f32 } else { row.0[7].max(gap as f32) };
        }
    }

    /// Updates the touching state, with hysteresis: the distance to separate is larger than the distance to
    /// touch.
    fn feel(&mut self) {
        self.touched = self.touching;
        let limit = if self.touched { 0.5 } else { 0.1 } * self.foresight;
        self.touching = f64::from(self.least_gap()) <= limit;
    }
}

/// One of the two colliders of a contact.
#[derive(Clone, Copy, Debug)]
struct Side<'s> {
    part: &'s Part,
    motion: &'s Motion,
    fixed: bool,
    movable: bool,
}

impl Side<'_> {
    fn axes(&self) -> DQuat {
        if self.fixed { DQuat::IDENTITY } else { self.motion.q }
    }

    /// A point of the world relative to the body.
    fn anchor(&self, point: DVec3, origin: DVec3) -> DVec3 {
        if self.fixed { point - origin } else { self.motion.q.conjugate() * (point - self.motion.x) }
    }
}

fn center(manifold: &Manifold) -> DVec3 {
    let points = manifold.points();
    points.iter().map(|point| point.point_a).sum::<DVec3>() / points.len().max(1) as f64
}

fn make_patch(
    manifold: &Manifold,
    place_a: &Pose,
    a: &Side<'_>,
    b: &Side<'_>,
    old: &[Patch],
    material: &MixedMaterial,
    origin: DVec3,
) -> Patch {
    let mut patch = Patch::default();
    let normal = a.axes().conjugate() * place_a.vector(manifold.normal);
    patch.head.0[..3].copy_from_slice(&normal.as_vec3().to_array());
    let immovable = !(a.movable && b.movable);
    patch.surface = Row([
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
    let surface = |side: &Side<'_>| matches!(side.part.shape, Shape::Mesh(_) | Shape::HeightField(_));
    let whole = |side: &Side<'_>| !matches!(side.part.shape, Shape::Compound(_));
    let part = if (surface(a) && whole(b)) || (surface(b) && whole(a)) {
        0
    } else {
        manifold.parts[0].wrapping_mul(0x9e37_79b9) ^ manifold.parts[1].wrapping_mul(0x85eb_ca6b)
    };
    let mut known = None;
    for (k, point) in manifold.points().iter().take(POINTS).enumerate() {
        let pa = a.anchor(place_a.point(point.point_a), origin).as_vec3();
        let pb = b.anchor(place_a.point(point.point_b), origin).as_vec3();
        let id = point.id ^ part;
        let held = old
            .iter()
            .enumerate()
            .find_map(|(i, patch)| (0..patch.count as usize).find(|j| patch.ids[*j] == id).map(|j| (i, j)));
        let impulse = held.map_or(0.0, |(i, j)| old[i].points[j].0[6]);
        known = known.or(held.map(|(i, _)| i));
        patch.points[k] = Row([pa.x, pa.y, pa.z, pb.x, pb.y, pb.z, impulse, point.separation as f32]);
        patch.ids[k] = id;
        patch.count = k as u32 + 1;
    }
    if let Some(i) = known {
        patch.grip = old[i].grip;
    }
    patch
}

/// A pair of colliders with overlapping bounding boxes: the fields that most stages need, contiguous in
/// memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Summary {
    /// Colliders and bodies, by slot; those of the static body come first, if there is one.
    pub parts: [u32; 2],
    pub actors: [u32; 2],
    /// Number of the step in which it was last updated.
    pub stamp: u64,
    /// Separation bound, m; 0 if unknown.
    apart: f32,
    /// Index of the contact, if the colliders have been within the margin, else [`NONE`].
    pub contact: u32,
    /// Whether a contact has to be created in this step.
    pub wanting: bool,
    /// Excluded as long as a joint between the bodies excludes collisions.
    muted: bool,
    /// Whether there is a manifold to solve.
    pub near: bool,
    /// Whether the touching state changed in this step.
    pub changed: bool,
    pub bouncy: bool,
    /// Whether one of the bodies may roll on the other.
    pub may_roll: bool,
}

impl Default for Summary {
    fn default() -> Self {
        Self {
            parts: [NONE; 2],
            actors: [0; 2],
            stamp: 0,
            apart: 0.0,
            contact: NONE,
            wanting: false,
            muted: false,
            near: false,
            changed: false,
            bouncy: false,
            may_roll: false,
        }
    }
}

impl Summary {
    /// Whether the slot is unused.
    pub const fn is_free(&self) -> bool {
        self.parts[0] == NONE
    }

    /// Updates the contact, and the fields derived from it.
    #[inline]
    pub fn look(&mut self, contact: &mut Contact, sight: &Sight<'_>) {
        if self.muted {
            contact.keep_quiet();
        } else {
            contact.look(sight);
        }
        self.near = contact.is_near() && !contact.sensor;
        self.bouncy = contact.is_bouncy();
        self.may_roll = contact.rolls;
        self.changed = contact.touching != contact.touched;
        if contact.patch.count == 0 && !contact.touching && !self.changed {
            // No manifold: from now on the separation bound decides.
            self.apart = self.distance(sight);
            self.bouncy &= self.apart <= 0.0;
        }
    }

    /// Whether the colliders are farther apart than the speculative margin.
    #[inline]
    pub fn is_far(&mut self, sight: &Sight<'_>) -> bool {
        if self.contact != NONE && self.apart <= 0.0 {
            return false;
        }
        if self.contact == NONE && self.muted {
            return true;
        }
        let paths = self.actors.map(|actor| &sight.roster.paths[actor as usize]);
        let margin = (approach(paths, sight.dt) + sight.fall as f32).max(sight.foresight as f32);
        self.apart = left(self.apart, paths);
        if self.apart > margin {
            return true;
        }
        self.apart = self.distance(sight);
        if self.apart <= 0.0 || self.apart <= sight.foresight.max(self.approach(sight) + sight.fall) as f32 {
            self.apart = 0.0;
            return false;
        }
        true
    }

    /// Separation bound by the bounding boxes, m; 0 if there is none.
    fn distance(&self, sight: &Sight<'_>) -> f32 {
        let side = |k: usize| {
            let motion = sight.roster.actor(self.actors[k])?.motion(sight.world)?;
            Some((sight.roster.part(self.parts[k])?, motion.pose()))
        };
        let (Some((a, pose_a)), Some((b, pose_b))) = (side(0), side(1)) else { return 0.0 };
        // Rounded down, so that it stays a lower bound.
        let least = (distance((a, &pose_a), (b, &pose_b)) as f32).next_down();
        if least > 0.0 { least } else { 0.0 }
    }

    /// Bound on the approach of the bodies in this step by their present velocities, m.
    fn approach(&self, sight: &Sight<'_>) -> f64 {
        let [a, b] = self.actors.map(|slot| {
            let actor = sight.roster.actor(slot)?;
            let motion = actor.motion(sight.world)?;
            let turning = if motion.omega == DVec3::ZERO { 0.0 } else { motion.omega.length() * actor.reach };
            Some((motion.v, turning))
        });
        let (Some((v, turning)), Some((w, other_turning))) = (a, b) else { return f64::INFINITY };
        sight.dt * ((w - v).length() + turning + other_turning)
    }
}

/// Contact graph: all pairs of colliders with overlapping bounding boxes, in reused slots, and the contacts
/// of those within the margin, in slots of their own.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub summaries: Vec<Summary>,
    pub free: Vec<u32>,
    pub contacts: Vec<Option<Contact>>,
    pub free_contacts: Vec<u32>,
    by_parts: HashMap<(u32, u32), u32, BuildHasherDefault<PairHasher>>,
}

/// Hash of a pair of slots (multiplicative; slots cannot be chosen by an adversary).
#[derive(Clone, Copy, Debug, Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32((*byte).into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(29) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Table {
    /// Begins a pair, if the filters allow it.
    pub fn begin(&mut self, sight: &Sight<'_>, one: u32, other: u32) {
        let (Some(a), Some(b)) = (sight.roster.part(one), sight.roster.part(other)) else { return };
        if a.actor == b.actor || (a.sensor && b.sensor) {
            return;
        }
        let muted = match sight.world.judge_pair(a.id, b.id) {
            Ok(None) => false,
            Ok(Some(Rejection::Excluded(Exclusion::Joint))) => true,
            _ => return,
        };
        let status = |part: &Part| sight.roster.actor(part.actor).map(|actor| actor.status);
        if status(a) != Some(Status::Dynamic) && status(b) != Some(Status::Dynamic) {
            return;
        }
        let unbounded = |part: &Part| part.radius.is_infinite();
        let first = status(b) == Some(Status::Fixed) || (unbounded(b) && status(a) == Some(Status::Dynamic));
        let (parts, actors) =
            if first { ([other, one], [b.actor, a.actor]) } else { ([one, other], [a.actor, b.actor]) };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.summaries.push(Summary::default());
            (self.summaries.len() - 1) as u32
        });
        self.summaries[slot as usize] = Summary { parts, actors, muted, ..Summary::default() };
        self.by_parts.insert((one.min(other), one.max(other)), slot);
    }

    /// Creates the contact of a pair ⇒ whether there can be one.
    pub fn make(&mut self, slot: u32, sight: &Sight<'_>) -> bool {
        let summary = &mut self.summaries[slot as usize];
        summary.wanting = false;
        let Some(contact) = Contact::between(summary.parts, sight) else { return false };
        summary.contact = self.free_contacts.pop().unwrap_or(self.contacts.len() as u32);
        if let Some(place) = self.contacts.get_mut(summary.contact as usize) {
            *place = Some(contact);
        } else {
            self.contacts.push(Some(contact));
        }
        true
    }

    /// Restores the next slot.
    pub fn put(&mut self, summary: Summary) {
        let slot = self.summaries.len() as u32;
        if !summary.is_free() {
            let [one, other] = summary.parts;
            self.by_parts.insert((one.min(other), one.max(other)), slot);
        }
        self.summaries.push(summary);
    }

    /// Updates which pairs joints exclude, after joints were added or removed.
    pub fn listen(&mut self, sight: &Sight<'_>) {
        for summary in self.summaries.iter_mut().filter(|summary| !summary.is_free()) {
            let [Some(a), Some(b)] = summary.actors.map(|slot| sight.roster.actor(slot)) else { continue };
            summary.muted = sight.world.pair_filter().exclusion(a.id, b.id) == Some(Exclusion::Joint);
        }
    }

    /// Ends a pair ⇒ slots of its bodies.
    pub fn end(&mut self, one: u32, other: u32) -> Option<[u32; 2]> {
        let slot = self.by_parts.remove(&(one.min(other), one.max(other)))?;
        self.free.push(slot);
        let summary = std::mem::take(&mut self.summaries[slot as usize]);
        if let Some(contact) = self.contacts.get_mut(summary.contact as usize) {
            *contact = None;
            self.free_contacts.push(summary.contact);
        }
        Some(summary.actors)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().flatten()
    }

    /// The contact of a pair, if there is one.
    pub fn contact(&self, summary: &Summary) -> Option<&Contact> {
        self.contacts.get(summary.contact as usize).and_then(Option::as_ref)
    }

    /// Whether the solver had a constraint between two colliders in a step.
    pub fn is_held(&self, one: u32, other: u32, stamp: u64) -> bool {
        let slot = self.by_parts.get(&(one.min(other), one.max(other)));
        slot.is_some_and(|slot| {
            let summary = &self.summaries[*slot as usize];
            summary.near && summary.stamp == stamp
        })
    }

    /// Whether a one-sided collider of the two lets the other pass at present.
    pub fn is_passing(&self, one: u32, other: u32) -> bool {
        let slot = self.by_parts.get(&(one.min(other), one.max(other)));
        let contact = slot.and_then(|slot| self.contact(&self.summaries[*slot as usize]));
        contact.is_some_and(|contact| contact.passing)
    }

    /// Pairs with manifolds to solve in a step, by slot.
    pub fn near(&self, stamp: u64) -> impl Iterator<Item = (usize, &Summary)> {
        self.summaries.iter().enumerate().filter(move |(_, summary)| summary.near && summary.stamp == stamp)
    }
}
