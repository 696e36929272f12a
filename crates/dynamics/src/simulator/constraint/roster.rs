//! Who takes part: bodies, their shapes, and the pairs of shapes that are near each other.
//!
//! Everybody is taken on anew when the world says that something changed; what contacts remember lives elsewhere and outlasts that.

use super::assembly::{Assembly, assemblies};
use super::bond::Bond;
use super::roster_state::RosterState;
use super::track::Track;
use crate::error::Error;
use crate::motion::{Inertia, Motion};
use crate::simulator::constraint::ConstraintError;
use crate::world::{BodyId, BodyRef, MixedMaterial, Path, ShapeId, Status, World};
use glam::DVec3;
use rattleback_geometry::contact::{ContactCache, Contacts};
use rattleback_geometry::space::{Mobility, PairChanges, ProxyId, Space, SpaceError, SpaceKind, everywhere};
use rattleback_geometry::{Aabb, Pose, Shape};
use std::collections::BTreeMap;

/// One body.
#[derive(Clone, Debug)]
pub(in crate::simulator) struct Actor {
    pub id: BodyId,
    pub status: Status,
    /// Place among the bodies of its status.
    pub place: usize,
    pub inertia: Inertia,
    /// Path, where it starts, and the principal frame in the body's.
    pub script: Option<(Path, Pose, Pose)>,
    /// No point is farther from the centre of mass.
    pub reach: f64,
    /// The body's count of changes of its shapes.
    shape_revision: u32,
}

impl Actor {
    /// Whether contacts move it.
    pub fn is_dynamic(&self) -> bool {
        self.status == Status::Dynamic
    }

    /// Where an animated body is at a time.
    pub fn scripted(&self, time: f64, present: &Motion) -> Motion {
        let Some((path, start, frame)) = &self.script else { return *present };
        let point = path.at(start, time);
        let principal = point.pose * *frame;
        let arm = principal.translation - point.pose.translation;
        Motion {
            x: principal.translation,
            q: principal.rotation,
            v: point.velocity + point.angular_velocity.cross(arm),
            omega: point.angular_velocity,
        }
    }
}

/// One shape on a body.
#[derive(Clone, Debug)]
pub(in crate::simulator) struct Part {
    pub id: ShapeId,
    pub actor: u32,
    pub shape: Shape,
    /// In the principal frame.
    pub place: Pose,
    pub sensor: bool,
    proxy: ProxyId,
    /// Half its longest side; infinite for a half-space.
    size: f64,
    /// The box reported to the space last; nothing for a shape without bounds.
    pub(super) told: Option<Aabb>,
}

/// Two shapes that are near each other.
#[derive(Clone, Debug)]
pub(in crate::simulator) struct Pair {
    pub parts: [u32; 2],
    pub actors: [u32; 2],
    pub shapes: [ShapeId; 2],
    pub material: MixedMaterial,
    pub sensor: bool,
    /// Of the smaller shape, m.
    pub size: f64,
    pub cache: ContactCache,
    pub found: Contacts,
    /// Whether the boxes of this sub-step overlap. A space also reports pairs whose enlarged boxes do, which depends on what it was
    /// told earlier; only near pairs count, so that islands follow from the present state alone.
    pub near: bool,
}

impl Pair {
    /// Whether it may bear contact forces in this sub-step.
    pub fn pushes(&self) -> bool {
        self.near && !self.sensor
    }
}

/// Everybody.
#[derive(Debug)]
pub(in crate::simulator) struct Roster {
    kind: SpaceKind,
    pub(super) revision: Option<u64>,
    /// Whether everybody has just been taken on; for whoever wants to know once.
    pub anew: bool,
    counts: [usize; 4],
    joint_revision: u64,
    pub actors: Vec<Actor>,
    pub parts: Vec<Part>,
    /// Joints, and the bodies they hold together; by actor, which assembly it is in.
    pub bonds: Vec<Bond>,
    pub assemblies: Vec<Assembly>,
    pub assembly_of: Vec<Option<u32>>,
    /// By actor: where it goes if it is part of an assembly that touches nothing.
    pub tracks: Vec<Track>,
    /// By the numbers of the parts.
    pub pairs: BTreeMap<[u32; 2], Pair>,
    space: Box<dyn Space>,
    /// Part of each proxy.
    owners: Vec<u32>,
    changes: PairChanges,
    /// What a snapshot held, until the first pairs after it have been found.
    pub(super) recalled: Option<RosterState>,
}

impl Roster {
    pub fn new(kind: SpaceKind) -> Self {
        Self {
            kind,
            revision: None,
            anew: true,
            counts: [0; 4],
            joint_revision: 0,
            actors: Vec::new(),
            parts: Vec::new(),
            bonds: Vec::new(),
            assemblies: Vec::new(),
            assembly_of: Vec::new(),
            tracks: Vec::new(),
            pairs: BTreeMap::new(),
            space: kind.create(),
            owners: Vec::new(),
            changes: PairChanges::default(),
            recalled: None,
        }
    }

    /// The state of one that has seen no world.
    pub fn forget(&mut self) {
        *self = Self::new(self.kind);
    }

    /// Takes everybody on if the world is not the one known.
    pub fn sync(&mut self, world: &World) -> Result<(), Error> {
        let counts = [Status::Dynamic, Status::Animated, Status::Fixed, Status::Inactive]
            .map(|status| world.bodies().count(status));
        if self.revision == Some(world.revision()) && self.counts == counts {
            return Ok(());
        }
        if self.refresh(world, counts) {
            return Ok(());
        }
        let recalled = self.recalled.take().filter(|state| state.revision == Some(world.revision()));
        let anew = recalled.as_ref().is_none_or(|state| state.anew);
        let joint_revision = world.joints().revision;
        let known = Self { anew, counts, joint_revision, recalled, ..Self::new(self.kind) };
        *self = Self { revision: Some(world.revision()), ..known };
        for status in [Status::Dynamic, Status::Animated, Status::Fixed] {
            for (place, id) in world.bodies().ids(status).iter().enumerate() {
                self.enlist(world, *id, status, place)?;
            }
        }
        self.take_joints(world);
        self.space.build();
        Ok(())
    }

    /// Takes over masses and paths of the bodies that have changed ⇒ whether that is all there was to do: no body, shape or joint came or went.
    /// Contact searches start anew, as they do after a restore.
    fn refresh(&mut self, world: &World, counts: [usize; 4]) -> bool {
        let Some(changed) = self.revision.and_then(|revision| world.changed_since(revision)) else {
            return false;
        };
        let known = self.recalled.is_none()
            && self.counts == counts
            && self.joint_revision == world.joints().revision;
        // Dynamic bodies come first, in the order of the world, then those that follow paths.
        let place = |id: &BodyId| match world.bodies().locate(*id) {
            Some((Status::Dynamic, place)) => Some(place),
            Some((Status::Animated, place)) => Some(counts[0] + place),
            _ => None,
        };
        let same = |id: &BodyId| {
            let actor = place(id).and_then(|place| self.actors.get(place));
            let body = world.body(*id).ok();
            actor.zip(body).is_some_and(|(actor, body)| {
                actor.id == *id
                    && actor.status == body.status()
                    && actor.shape_revision == body.shape_revision()
            })
        };
        if !(known && changed.iter().all(same)) {
            return false;
        }
        for id in changed {
            if let (Some(place), Ok(body)) = (place(id), world.body(*id)) {
                let actor = &mut self.actors[place];
                (actor.inertia, actor.script) = (inertia(world, &body), script(&body));
            }
        }
        for pair in self.pairs.values_mut() {
            (pair.cache, pair.found) = (ContactCache::default(), Contacts::default());
        }
        (self.revision, self.anew) = (Some(world.revision()), true);
        true
    }

    /// Joints between bodies that take part, at least one of which is moved by them.
    fn take_joints(&mut self, world: &World) {
        let places: BTreeMap<BodyId, u32> =
            self.actors.iter().enumerate().map(|(place, actor)| (actor.id, place as u32)).collect();
        for (id, record) in world.iter_joints() {
            let known = record.bodies().map(|body| body.map(|body| places.get(&body).copied()));
            // A body that is inactive takes its joints with it.
            if known.contains(&Some(None)) {
                continue;
            }
            let actors = known.map(Option::flatten);
            let moves = |actor: &u32| self.actors[*actor as usize].is_dynamic();
            if actors.iter().flatten().any(moves) {
                let (locks, has_rows) = (record.kind().locks(), record.kind().has_rows());
                self.bonds.push(Bond { id, actors, frames: record.frames, locks, has_rows });
            }
        }
        (self.assemblies, self.assembly_of) = assemblies(&self.actors, &self.bonds);
        self.tracks.resize_with(self.actors.len(), Track::default);
    }

    fn enlist(&mut self, world: &World, id: BodyId, status: Status, place: usize) -> Result<(), Error> {
        let body = world.body(id)?;
        let frame = *body.body_from_principal();
        let mobility = if status == Status::Fixed { Mobility::Fixed } else { Mobility::Moving };
        let mut reach = 0.0_f64;
        for shape_id in body.shapes() {
            let attached = world.shape(*shape_id)?;
            let place = frame.inverse() * attached.pose;
            let bounds = attached.shape.aabb(&(body.motion().pose() * place)).unwrap_or_else(everywhere);
            let proxy = self.space.insert(&bounds, mobility, 0).map_err(refuse)?;
            let index = proxy.index() as usize;
            if self.owners.len() <= index {
                self.owners.resize(index + 1, u32::MAX);
            }
            self.owners[index] = self.parts.len() as u32;
            let radius = attached.shape.rotation_radius(DVec3::ZERO).unwrap_or(f64::INFINITY);
            let told =
                attached.shape.aabb(&(body.motion().pose() * place)).filter(|_| mobility == Mobility::Fixed);
            let own = attached.shape.aabb(&Pose::IDENTITY);
            let size = own.map_or(f64::INFINITY, |bounds| bounds.half_extents().max_element());
            reach = reach.max(place.translation.length() + radius);
            self.parts.push(Part {
                id: *shape_id,
                actor: self.actors.len() as u32,
                shape: attached.shape.clone(),
                place,
                sensor: attached.sensor,
                proxy,
                size,
                told,
            });
        }
        self.actors.push(Actor {
            id,
            status,
            place,
            inertia: inertia(world, &body),
            script: script(&body),
            reach,
            shape_revision: body.shape_revision(),
        });
        Ok(())
    }

    /// Joints of some assemblies.
    pub fn bonds_of<'s>(&'s self, assemblies: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        assemblies.iter().flat_map(|assembly| &self.assemblies[*assembly].bonds).copied()
    }

    /// The box a part cannot leave while its body goes from one state to another, and a margin around it.
    fn swept(part: &Part, actor: &Actor, from: &Motion, to: &Motion, margin: f64) -> Option<Aabb> {
        let start = part.shape.aabb(&(from.pose() * part.place))?;
        let end = part.shape.aabb(&(to.pose() * part.place))?;
        let turn = 2.0 * (from.q.conjugate() * to.q).xyz().length().min(1.0).asin();
        // The arc of a point leaves its chord by at most this.
        let bulge = if turn > 0.0 { actor.reach * (1.0 - (0.5 * turn).cos()) } else { 0.0 };
        start.union(&end).enlarged(margin + bulge).ok()
    }

    /// Tells the space where everybody goes from `from` to `to`, and brings the pairs up to date.
    pub fn look(&mut self, world: &World, from: &[Motion], to: &[Motion], margin: f64) -> Result<(), Error> {
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            let actor = &self.actors[part.actor as usize];
            if actor.status == Status::Fixed {
                continue;
            }
            let (from, to) = (&from[part.actor as usize], &to[part.actor as usize]);
            let Some(bounds) = Self::swept(part, actor, from, to, margin) else { continue };
            self.tell(index, bounds)?;
        }
        self.step(world)
    }

    /// Enlarges the boxes of whoever went elsewhere than was told ⇒ whether that brought new pairs.
    pub fn look_again(&mut self, world: &World, from: &[Motion], to: &[Motion]) -> Result<bool, Error> {
        let mut strayed = false;
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            let actor = &self.actors[part.actor as usize];
            let Some(told) = part.told.filter(|_| actor.status != Status::Fixed) else { continue };
            let (from, to) = (&from[part.actor as usize], &to[part.actor as usize]);
            if !(from.is_finite() && to.is_finite()) {
                continue;
            }
            let Some(bounds) = Self::swept(part, actor, from, to, 0.0) else { continue };
            if !told.contains_box(&bounds) {
                self.tell(index, told.union(&bounds))?;
                strayed = true;
            }
        }
        if !strayed {
            return Ok(false);
        }
        let near = |roster: &Self| roster.pairs.values().filter(|pair| pair.near).count();
        let before = near(self);
        self.step(world)?;
        Ok(near(self) > before)
    }

    fn tell(&mut self, index: usize, bounds: Aabb) -> Result<(), Error> {
        let part = &mut self.parts[index];
        part.told = Some(bounds);
        match self.space.update(part.proxy, &bounds) {
            Err(SpaceError::Enormous { .. }) => self.space.update(part.proxy, &everywhere()).map_err(refuse),
            other => other.map_err(refuse),
        }
    }

    fn step(&mut self, world: &World) -> Result<(), Error> {
        self.space.step(1, &mut self.changes);
        let key = |owners: &[u32], a: ProxyId, b: ProxyId| {
            let parts = [owners[a.index() as usize], owners[b.index() as usize]];
            [parts[0].min(parts[1]), parts[0].max(parts[1])]
        };
        for pair in &self.changes.vanished {
            self.pairs.remove(&key(&self.owners, pair.a, pair.b));
        }
        for pair in &self.changes.appeared {
            let parts = key(&self.owners, pair.a, pair.b);
            let [a, b] = parts.map(|part| &self.parts[part as usize]);
            let movable = [a, b].iter().any(|part| self.actors[part.actor as usize].is_dynamic());
            if a.actor == b.actor || !movable || !world.admit_pair(a.id, b.id)? {
                continue;
            }
            let recalled = self.recalled.as_ref().and_then(|state| state.cache(parts));
            let cache = recalled.map(|cache| ContactCache::recalled(cache, &a.shape, &b.shape));
            self.pairs.insert(
                parts,
                Pair {
                    parts,
                    actors: [a.actor, b.actor],
                    shapes: [a.id, b.id],
                    material: world.mixed_material(a.id, b.id)?,
                    sensor: a.sensor || b.sensor,
                    size: a.size.min(b.size).min(1e3),
                    cache: cache.unwrap_or_default(),
                    found: Contacts::default(),
                    near: true,
                },
            );
        }
        self.recalled = None;
        for pair in self.pairs.values_mut() {
            let [a, b] = pair.parts.map(|part| self.parts[part as usize].told);
            let near = a.zip(b).is_none_or(|(a, b)| a.overlaps(&b));
            if pair.near && !near {
                // What was known of it would be forgotten if the space had boxes without room around them.
                (pair.cache, pair.found) = (ContactCache::default(), Contacts::default());
            }
            pair.near = near;
            // Materials may be changed without a word.
            pair.material = world.mixed_material(pair.shapes[0], pair.shapes[1])?;
        }
        Ok(())
    }
}

/// What a body resists with at present; nothing moves one that is not dynamic.
fn inertia(world: &World, body: &BodyRef<'_>) -> Inertia {
    world.bodies().inertia_of(body.id()).copied().unwrap_or_default()
}

/// Path of a kinematic body, where it starts, and the principal frame in the body's.
fn script(body: &BodyRef<'_>) -> Option<(Path, Pose, Pose)> {
    let (path, start) = body.path().filter(|_| body.status() == Status::Animated)?;
    Some((path.clone(), start, *body.body_from_principal()))
}

fn refuse(source: SpaceError) -> Error {
    ConstraintError::Space { source }.into()
}
