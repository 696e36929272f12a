//! Contacts that live from step to step.
//!
//! A contact begins when two boxes come near and ends when they part. Far most of them never touch: as long as the parts are known to be
//! farther apart than anybody looks (`apart`), there is but a summary of it. From the first time that they come near it keeps its manifold, the impulses that held it in
//! the last step, and what the search for it found. As long as two parts have moved against each other by less than a tolerance τ
//! since the manifold was made, only its gaps are measured anew, between the points that were marked on both bodies; with τ at most
//! half the foresight nothing can come to touch unseen.
//!
//! A part that lies within r of its middle m, seen from the other body, has moved by at most |Δm| + r|Δθ|. The smaller part of the
//! two is the one that is watched: where the rest of its body goes does not matter, so that a log at the foot of a falling tree
//! counts as slow as it is.

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

/// How a contact is looked for. Pieces are what there is most of, so they pay no way to the heap.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)]
enum Search {
    /// Two convex pieces: one manifold at most.
    Pieces(PieceCache),
    /// Anything else.
    Shapes(Box<(ContactCache, Found)>),
}

/// Two parts that are near each other.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Contact {
    /// The first belongs to the fixed body, if there is one.
    pub parts: [u32; 2],
    pub actors: [u32; 2],
    pub material: MixedMaterial,
    pub sensor: bool,
    /// One of them has `one_way`, and the other comes along it.
    passing: bool,
    /// Whether they touch, and whether they did before this step.
    pub touching: bool,
    near: bool,
    pub touched: bool,
    /// Step in which a bounce answered it.
    pub answered: u64,
    /// Manifolds: one, or the first and others.
    pub patch: Patch,
    pub others: Vec<Patch>,
    old: Vec<Patch>,
    search: Search,
    /// B in A's frame when the manifolds were made.
    seen: Option<Pose>,
    /// Where the anchors of a fixed body are measured from.
    origin: DVec3,
    foresight: f64,
    tolerance: f64,
    /// Which of the two is smaller.
    small: u8,
    /// Whether one of them is round somewhere, so that turning alone moves the point of contact over it.
    round: bool,
    /// Whether B is round and may roll on A, a plane or a box, so that the point of contact moves over it.
    pub rolls: bool,
}

/// Speed, m/s, from which on a round part that turns is looked at in every step. A marked point goes round with the body while the
/// contact does not, and where it is held the load brakes the rolling: with v̇ = −g φ by an angle φ. Slower bodies are about to sleep.
const ROLLS: f64 = 0.02;

/// Whether a shape is curved where it may touch.
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

/// Whether the contact of a part moves over its body as this rolls: not so of a ball about the centre of mass.
fn is_rolling_shape(part: &Part) -> bool {
    match part.shape {
        Shape::Sphere(_) => part.middle.length() > 1e-9 * part.radius,
        Shape::Cylinder(_) | Shape::Capsule(_) | Shape::Cone(_) | Shape::Ellipsoid(_) => true,
        _ => false,
    }
}

/// What was found, to be written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant)]
enum SearchMemory {
    Pieces(PieceCache),
    Shapes(CacheMemory),
}

/// Least cosine between the direction of a shape with one side and the normal of whom it resists.
const AGAINST: f64 = 0.5;

/// A contact without its shapes and what follows from them.
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

    /// The contact it was; nothing if it cannot have been one of these bodies.
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

/// What looking at a contact takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight<'s> {
    pub world: &'s World,
    pub roster: &'s Roster,
    /// Length of the step, s.
    pub dt: f64,
    /// How far contacts look ahead, m, and how far parts may move before they are looked for anew, in sizes.
    pub foresight: f64,
    pub recycling: f64,
    /// How far gravity takes a body from rest in a step, m.
    pub fall: f64,
}

impl Contact {
    /// Two parts that have come near.
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

    /// What has to be remembered of it.
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

    /// All manifolds, to be changed.
    pub fn patches_mut(&mut self) -> impl Iterator<Item = &mut Patch> {
        std::iter::once(&mut self.patch).filter(|patch| patch.count > 0).chain(&mut self.others)
    }

    /// Whether there is anything to solve.
    pub fn is_near(&self) -> bool {
        self.near && self.patch.count > 0
    }

    /// Brings the manifolds up to date with where the bodies are.
    pub fn look(&mut self, sight: &Sight<'_>) {
        let Some([a, b]) = self.sides(sight) else { return };
        let relative = a.motion.pose().relative(&b.motion.pose());
        let smaller = [&a, &b][usize::from(self.small)];
        let Part { middle, radius: reach, .. } = *smaller.part;
        // Who comes fast has to be seen coming; who bounces, from any distance.
        let middle = smaller.motion.pose().point(middle);
        let velocity = |side: &Side<'_>| side.motion.v + side.motion.omega.cross(middle - side.motion.x);
        let turning = (b.motion.omega - a.motion.omega).length();
        let known = !(self.round && turning * reach > ROLLS)
            && self.seen.is_some_and(|seen| self.is_close(&seen, &relative, smaller.part.middle, reach));
        let swing = sight.dt * turning * reach;
        let margin = if self.is_bouncy() {
            // One of the two may bounce off something else first, and come back at the other.
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

    /// Is not to be felt, as long as a joint holds the two bodies together.
    fn keep_quiet(&mut self) {
        (self.touched, self.touching, self.near, self.seen) = (self.touching, false, false, None);
    }

    /// Lets pass who does not come against the direction of a shape with one side, until it is free and comes from there.
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

    /// Where the points of a fixed body are measured from.
    pub const fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Whether bodies that come together here bounce.
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

    /// Whether no point of the smaller part, of that middle in its body's frame and that radius, can have moved by more than the tolerance.
    fn is_close(&self, seen: &Pose, now: &Pose, middle: DVec3, reach: f64) -> bool {
        let turn = seen.rotation.conjugate() * now.rotation;
        let angle = 2.0 * (turn.x * turn.x + turn.y * turn.y + turn.z * turn.z).sqrt();
        // Where the middle is: of B in A's frame, or of A in B's.
        let place = |pose: &Pose| {
            if self.small == 1 { pose.point(middle) } else { pose.inverse_point(middle) }
        };
        let slid = (place(now) - place(seen)).length();
        slid + angle * reach < self.tolerance
    }

    /// Makes the manifolds anew. What cannot be told counts as no contact.
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

    /// Shows the points of the manifolds that the parts have at other poses of their bodies: number of the manifold, its normal, the
    /// middle between the two surfaces, the gap. All of it in the world's frame and in full precision.
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

    /// Where the bodies are against each other now. Gaps come out of the solver; those who may not get there are measured here.
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
        // The solver lets nobody get there who only comes near; bounces and sensors have to wait for it.
        self.near = plain || f64::from(self.least_gap()) <= self.foresight;
    }

    fn least_gap(&self) -> f32 {
        let points = self.patches().flat_map(|patch| &patch.points[..patch.count as usize]);
        points.map(|row| row.0[7]).fold(f32::INFINITY, f32::min)
    }

    /// Least gap of the points marked on the bodies, if these stood elsewhere, m; nothing stands for a fixed body.
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

    /// Notes how it was while B rolled on A in its deepest point: impulse of a sub-step on B, normal, gap.
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

    /// Decides whether the bodies touch; it takes more to part than to meet.
    fn feel(&mut self) {
        self.touched = self.touching;
        let limit = if self.touched { 0.5 } else { 0.1 } * self.foresight;
        self.touching = f64::from(self.least_gap()) <= limit;
    }
}

/// One of two bodies in contact.
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

    /// A point of the world as seen from the body.
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
    // Points on triangles are named after their own already; the manifold is named after the deepest one, which changes.
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

/// What most stages have to know of a contact, side by side in memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Summary {
    /// Those of the fixed body come first, if there is one.
    pub parts: [u32; 2],
    pub actors: [u32; 2],
    /// Step in which it was last looked at.
    pub stamp: u64,
    /// How far the parts are from each other at least, as long as nothing else is known of them, m.
    apart: f32,
    /// The contact, if they have ever been so near that there is one, else [`NONE`].
    pub contact: u32,
    /// Whether they have just come so near for the first time.
    pub wanting: bool,
    /// Not to be felt as long as a joint holds the two bodies together.
    muted: bool,
    /// Whether there is anything to solve.
    pub near: bool,
    /// Whether the bodies began or ceased to touch.
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
    /// Whether its slot belongs to nobody.
    pub const fn is_free(&self) -> bool {
        self.parts[0] == NONE
    }

    /// Brings it up to date with its contact.
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
            // Nothing to be seen: from now on it is enough to know how far they are apart.
            self.apart = self.distance(sight);
            self.bouncy &= self.apart <= 0.0;
        }
    }

    /// Whether the parts are farther from each other than a contact looks.
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

    /// Least distance of the parts as far as their boxes tell, m; nothing if they do not.
    fn distance(&self, sight: &Sight<'_>) -> f32 {
        let side = |k: usize| {
            let motion = sight.roster.actor(self.actors[k])?.motion(sight.world)?;
            Some((sight.roster.part(self.parts[k])?, motion.pose()))
        };
        let (Some((a, pose_a)), Some((b, pose_b))) = (side(0), side(1)) else { return 0.0 };
        // Not the nearest number, but one that is not larger.
        let least = (distance((a, &pose_a), (b, &pose_b)) as f32).next_down();
        if least > 0.0 { least } else { 0.0 }
    }

    /// How far the bodies may come towards each other in this step, by what they do now.
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

/// All pairs, in slots that are used again, and the contacts of those that have been near, in slots of their own.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub summaries: Vec<Summary>,
    pub free: Vec<u32>,
    pub contacts: Vec<Option<Contact>>,
    pub free_contacts: Vec<u32>,
    by_parts: HashMap<(u32, u32), u32, BuildHasherDefault<PairHasher>>,
}

/// Two small numbers ⇒ a large one; nobody can choose slots so that they get into each other's way.
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
    /// Begins the contact of two parts, if they may touch.
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

    /// Makes the contact of a pair that has come near ⇒ whether there can be one.
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

    /// Fills the next slot with what was remembered of it.
    pub fn put(&mut self, summary: Summary) {
        let slot = self.summaries.len() as u32;
        if !summary.is_free() {
            let [one, other] = summary.parts;
            self.by_parts.insert((one.min(other), one.max(other)), slot);
        }
        self.summaries.push(summary);
    }

    /// Joints have come or gone: mutes and unmutes contacts.
    pub fn listen(&mut self, sight: &Sight<'_>) {
        for summary in self.summaries.iter_mut().filter(|summary| !summary.is_free()) {
            let [Some(a), Some(b)] = summary.actors.map(|slot| sight.roster.actor(slot)) else { continue };
            summary.muted = sight.world.pair_filter().exclusion(a.id, b.id) == Some(Exclusion::Joint);
        }
    }

    /// Ends it ⇒ whose it was.
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

    /// Whether two parts were so near at the beginning of a step that the solver holds them apart.
    pub fn is_held(&self, one: u32, other: u32, stamp: u64) -> bool {
        let slot = self.by_parts.get(&(one.min(other), one.max(other)));
        slot.is_some_and(|slot| {
            let summary = &self.summaries[*slot as usize];
            summary.near && summary.stamp == stamp
        })
    }

    /// Whether one of two parts lets the other pass, as far as is known.
    pub fn is_passing(&self, one: u32, other: u32) -> bool {
        let slot = self.by_parts.get(&(one.min(other), one.max(other)));
        let contact = slot.and_then(|slot| self.contact(&self.summaries[*slot as usize]));
        contact.is_some_and(|contact| contact.passing)
    }

    /// Contacts with something to solve that were looked at in a step, by slot.
    pub fn near(&self, stamp: u64) -> impl Iterator<Item = (usize, &Summary)> {
        self.summaries.iter().enumerate().filter(move |(_, summary)| summary.near && summary.stamp == stamp)
    }
}
