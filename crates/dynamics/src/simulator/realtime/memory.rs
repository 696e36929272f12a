//! What has to be remembered so that a run taken up from a snapshot goes on bit for bit.
//!
//! Shapes, masses and joints are the world's. Remembered is who sleeps with whom and who has kept still for how long, which pairs
//! are near and in which order they are solved, their manifolds with the impulses that held them, what the searches for
//! them had found, the impulses of joints, and the enlarged boxes that decide when pairs come and go. Which pairs had been told of
//! can then be compared with those that a fresh space finds.

use super::apart::Path;
use super::block::Patch;
use super::contact::{Contact, ContactMemory, Summary, Table};
use super::roster::{Actor, Life, NONE, Part, Roster, is_round};
use super::sleep::IslandMemory;
use super::{Realtime, RealtimeCounters};
use crate::error::Error;
use crate::world::{BodyId, BodyRef, Epoch, Handle, JointId, MixedMaterial, ShapeId, Status, World};
use glam::{DVec3, Vec3};
use rattleback_geometry::space::{Mobility, Pair, PairChanges, Space};
use rattleback_geometry::{Aabb, Pose, Shape};
use serde::{Deserialize, Serialize};

/// What a body was doing.
#[derive(Debug, Serialize, Deserialize)]
struct ActorMemory {
    id: BodyId,
    status: Status,
    parts: Vec<u32>,
    shape_revision: u32,
    asleep: bool,
    island: u32,
    still: f32,
    anchor: Pose,
    pushed: bool,
    delicate: bool,
    path: Path,
}

/// A part and the boxes a space had for it.
#[derive(Debug, Serialize, Deserialize)]
struct PartMemory {
    id: ShapeId,
    actor: u32,
    mobility: bool,
    bounds: Aabb,
    enlarged: Aabb,
}

/// Impulses of a joint.
#[derive(Debug, Serialize, Deserialize)]
struct BondMemory {
    id: JointId,
    linear: Vec3,
    angular: Vec3,
    rows: Option<Vec<f32>>,
}

/// The state of a simulator between two steps.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Memory {
    pub epoch: Epoch,
    revision: Option<u64>,
    joint_revision: Option<u64>,
    counts: [usize; 4],
    pending: Vec<BodyId>,
    newcomers: Vec<BodyId>,
    actors: Vec<Option<ActorMemory>>,
    parts: Vec<Option<PartMemory>>,
    /// Slots of the space in the order in which they are given away again, the last first.
    free_parts: Vec<u32>,
    /// Pairs that the space had told of.
    pairs: Vec<[u32; 2]>,
    /// Those of free slots belong to nobody.
    summaries: Vec<Summary>,
    free_summaries: Vec<u32>,
    contacts: Vec<Option<ContactMemory>>,
    free_contacts: Vec<u32>,
    islands: IslandMemory,
    bonds: Vec<BondMemory>,
    substeps: [usize; 2],
    dt: f64,
    delicate: Vec<u32>,
    counters: RealtimeCounters,
}

impl Realtime {
    /// Simulator ⇒ what has to be remembered of it.
    pub(super) fn remember(&self) -> Memory {
        let actor = |actor: &Actor| ActorMemory {
            id: actor.id,
            status: actor.status,
            parts: actor.parts.clone(),
            shape_revision: actor.shape_revision,
            asleep: actor.asleep,
            island: actor.island,
            still: actor.still,
            anchor: actor.anchor,
            pushed: actor.pushed,
            delicate: actor.delicate,
            path: self.roster.paths[actor.id.slot() as usize],
        };
        let part = |part: &Part| {
            let bounds = self.space.bounds(part.proxy).ok()?;
            let enlarged = self.space.enlarged(part.proxy).ok()?;
            let mobility = self.space.proxies().is_moving(part.proxy.index());
            Some(PartMemory { id: part.id, actor: part.actor, mobility, bounds, enlarged })
        };
        let bonds = self.bonds.all.iter().map(|bond| BondMemory {
            id: bond.id,
            linear: bond.linear,
            angular: bond.angular,
            rows: bond.rows.as_ref().map(|rows| rows.to_vec()),
        });
        let pairs = self.space.pairs().iter().map(|pair| [pair.a.index(), pair.b.index()]).collect();
        Memory {
            epoch: self.epoch,
            revision: self.roster.revision,
            joint_revision: self.bonds.revision,
            counts: self.roster.counts,
            pending: self.roster.pending.clone(),
            newcomers: self.roster.newcomers.clone(),
            actors: self.roster.actors.iter().map(|slot| slot.as_ref().map(actor)).collect(),
            parts: self.roster.parts.iter().map(|slot| slot.as_ref().and_then(part)).collect(),
            free_parts: self.space.proxies().free().to_vec(),
            pairs,
            summaries: self.table.summaries.clone(),
            contacts: self.table.contacts.iter().map(|slot| slot.as_ref().map(Contact::memory)).collect(),
            free_summaries: self.table.free.clone(),
            free_contacts: self.table.free_contacts.clone(),
            islands: self.islands.memory(),
            bonds: bonds.collect(),
            substeps: self.substeps,
            dt: self.dt,
            delicate: self.delicate.clone(),
            counters: self.counters,
        }
    }

    /// Takes up a remembered state of this world; begins anew if the two do not fit.
    pub(super) fn take_up(&mut self, memory: Memory, world: &World) -> Result<(), Error> {
        self.start_over()?;
        if memory.fits() && self.put_back(memory, world).is_none() {
            self.start_over()?;
        }
        Ok(())
    }

    /// Nothing if something does not fit after all; the simulator is half done then.
    fn put_back(&mut self, memory: Memory, world: &World) -> Option<()> {
        self.roster = memory.roster(world, &mut *self.space)?;
        self.roster.revision = memory.revision;
        self.roster.counts = memory.counts;
        self.roster.pending = memory.pending;
        self.roster.newcomers = memory.newcomers;
        self.table = Table::default();
        for summary in memory.summaries {
            self.table.put(summary);
        }
        for slot in memory.contacts {
            let contact = match slot {
                Some(contact) => Some(contact.recalled(&self.roster, &self.settings)?),
                None => None,
            };
            self.table.contacts.push(contact);
        }
        (self.table.free, self.table.free_contacts) = (memory.free_summaries, memory.free_contacts);
        self.islands.recall(memory.islands);
        self.bonds.sync(world);
        self.bonds.revision = memory.joint_revision;
        for known in &memory.bonds {
            let Ok(place) = self.bonds.all.binary_search_by_key(&known.id, |bond| bond.id) else { continue };
            let bond = &mut self.bonds.all[place];
            (bond.linear, bond.angular) = (known.linear, known.angular);
            if let (Some(rows), Some(kept)) = (&mut bond.rows, &known.rows)
                && rows.len() == kept.len()
            {
                rows.copy_from_slice(kept);
            }
        }
        self.substeps = memory.substeps;
        self.dt = memory.dt;
        self.delicate = memory.delicate;
        self.counters = memory.counters;
        self.told = Some(memory.pairs);
        Some(())
    }

    /// The first time after a state was taken up: what has changed since then, as the old space would have told it.
    pub(super) fn compare_pairs(&self, told: &[[u32; 2]], changes: &mut PairChanges) {
        let now = self.space.pairs();
        let key = |pair: &Pair| [pair.a.index(), pair.b.index()];
        changes.clear();
        changes.appeared.extend(now.iter().filter(|pair| told.binary_search(&key(pair)).is_err()));
        let table = self.space.proxies();
        let gone = told.iter().filter(|pair| now.binary_search_by_key(*pair, key).is_err());
        changes.vanished.extend(gone.map(|[a, b]| Pair { a: table.id(*a), b: table.id(*b) }));
    }
}

impl Memory {
    /// Whether nothing in it points outside of it.
    fn fits(&self) -> bool {
        let (actors, parts) = (self.actors.len(), self.parts.len());
        let (contacts, summaries) = (self.contacts.len(), self.summaries.len());
        let alive = |slot: u32| self.parts.get(slot as usize).is_some_and(Option::is_some);
        let actor_fits = |(slot, actor): (usize, &ActorMemory)| {
            actor.id.slot() as usize == slot
                && actor.still.is_finite()
                && (actor.island == NONE || self.islands.has(actor.island))
                && actor.asleep == (actor.island != NONE)
                && actor.parts.iter().all(|part| alive(*part))
        };
        let part_fits = |part: &PartMemory| self.actors.get(part.actor as usize).is_some_and(Option::is_some);
        let each_once = |list: &[u32], count: usize, free: &dyn Fn(usize) -> bool| {
            let mut seen = vec![false; count];
            list.iter().all(|slot| {
                let slot = *slot as usize;
                slot < count && free(slot) && !std::mem::replace(&mut seen[slot], true)
            })
        };
        let known = |slot: &u32| (*slot as usize) < actors;
        let dead = self.parts.iter().filter(|part| part.is_none()).count();
        self.actors
            .iter()
            .enumerate()
            .filter_map(|(slot, actor)| Some((slot, actor.as_ref()?)))
            .all(actor_fits)
            && self.parts.iter().flatten().all(part_fits)
            && self.free_parts.len() == dead
            && each_once(&self.free_parts, parts, &|slot| self.parts[slot].is_none())
            && each_once(&self.free_contacts, contacts, &|slot| self.contacts[slot].is_none())
            && each_once(&self.free_summaries, summaries, &|slot| self.summaries[slot].is_free())
            && self.contacts_fit()
            && self.pairs.is_sorted()
            && self.pairs.iter().flatten().all(|part| alive(*part))
            && self.islands.is_consistent()
            && self.islands.members().all(|slot| known(&slot))
            && self.delicate.iter().all(known)
            && self.substeps.iter().all(|count| (1..=1_000_000).contains(count))
            && self.dt.is_finite()
    }

    /// Whether every pair is one of known parts, and has its contact for itself.
    fn contacts_fit(&self) -> bool {
        let actor = |slot: u32| self.parts.get(slot as usize).and_then(Option::as_ref).map(|part| part.actor);
        let mut taken = vec![false; self.contacts.len()];
        let fits = |summary: &Summary| {
            if summary.is_free() {
                return summary.contact == NONE;
            }
            let contact = self.contacts.get(summary.contact as usize).and_then(Option::as_ref);
            let own = match contact {
                Some(contact) => {
                    contact.parts() == summary.parts
                        && !std::mem::replace(&mut taken[summary.contact as usize], true)
                }
                None => summary.contact == NONE,
            };
            own && !summary.wanting && summary.parts.map(actor) == summary.actors.map(Some)
        };
        self.summaries.iter().all(fits)
    }

    /// Everybody on stage, with the same parts in the same slots of the space.
    fn roster(&self, world: &World, space: &mut dyn Space) -> Option<Roster> {
        let mut roster = Roster::default();
        for (slot, memory) in self.actors.iter().enumerate() {
            roster.actors.push(None);
            roster.lives.push(Life::Fixed);
            roster.paths.push(memory.as_ref().map_or(Path::REST, |memory| memory.path));
            let Some(memory) = memory else { continue };
            let body = world.body(memory.id).ok();
            roster.lives[slot] = match memory.status {
                Status::Dynamic if memory.asleep => Life::Asleep,
                Status::Dynamic => Life::Awake,
                Status::Animated => Life::Still,
                Status::Fixed | Status::Inactive => Life::Fixed,
            };
            roster.actors[slot] = Some(Actor {
                id: memory.id,
                status: memory.status,
                place: world.bodies().locate(memory.id).map_or(NONE, |(_, place)| place as u32),
                parts: memory.parts.clone(),
                shape_revision: memory.shape_revision,
                can_sleep: body.as_ref().is_none_or(BodyRef::can_sleep),
                asleep: memory.asleep,
                island: memory.island,
                still: memory.still,
                anchor: memory.anchor,
                pushed: memory.pushed,
                mover: NONE,
                delicate: memory.delicate,
                joined: false,
                reach: 0.0,
                core: f64::INFINITY,
                round: body.as_ref().is_none_or(|body| is_round(body.inertia().moments)),
            });
        }
        let nowhere = Aabb::new(DVec3::ZERO, DVec3::ZERO).ok()?;
        for (slot, memory) in self.parts.iter().enumerate() {
            let proxy = match memory {
                Some(part) => {
                    let mobility = if part.mobility { Mobility::Moving } else { Mobility::Fixed };
                    space.insert_enlarged(&part.bounds, &part.enlarged, mobility, 0).ok()?
                }
                None => space.insert(&nowhere, Mobility::Fixed, 0).ok()?,
            };
            if proxy.index() as usize != slot {
                return None;
            }
            roster.parts.push(memory.as_ref().and_then(|memory| {
                // Who has gone meanwhile is taken out in the next step; it only has to be there.
                Some(match (world.shape(memory.id), self.actors[memory.actor as usize].as_ref()) {
                    (Ok(attached), Some(actor)) if attached.body == actor.id => {
                        let principal = world.body(actor.id).ok()?.body_from_principal().inverse();
                        Part::new(attached, &principal, memory.id, memory.actor, proxy)
                    }
                    _ => {
                        let shape = Shape::sphere(1.0).ok()?;
                        let part = Part::plain(shape, Pose::IDENTITY, memory.id, memory.actor, proxy);
                        Part { sensor: true, ..part }
                    }
                })
            }));
        }
        for slot in &self.free_parts {
            let id = space.proxies().id(*slot);
            space.remove(id).ok()?;
        }
        space.build();
        space.step(1, &mut PairChanges::default());
        for slot in 0..roster.actors.len() {
            roster.measure(slot as u32);
        }
        Some(roster)
    }
}

/// The numbers of a contact that its shapes do not tell.
pub(super) fn sane(patches: &[Patch]) -> bool {
    patches.iter().all(|patch| patch.count as usize <= patch.points.len())
}

/// Whether a material holds only numbers that friction and bounces can do with.
pub(super) fn is_usable(material: &MixedMaterial) -> bool {
    [
        material.restitution,
        material.static_friction,
        material.kinetic_friction,
        material.rolling_friction,
        material.spinning_friction,
    ]
    .iter()
    .all(|number| (0.0..=1e6).contains(number))
}
