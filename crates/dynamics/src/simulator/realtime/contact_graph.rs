//! Contact graph: the pairs of colliders that the broad phase reports, and their contacts.
//!
//! Bodies are the vertices, pairs the edges. Pairs lie contiguous in memory, since most of them are separated
//! and need no more than a comparison of their separation bound; the contacts of the others are stored apart.

use super::contact::{Contact, NarrowPhaseContext};
use super::separation_bound::{approach, remaining, remaining_slack, separation_bound};
use super::sim_bodies::{NONE, SimCollider};
use crate::filter::{Exclusion, Rejection};
use crate::world::Status;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A pair of colliders with overlapping bounding boxes: the fields that most stages need, contiguous in
/// memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct ContactPair {
    /// Colliders and bodies, by slot; those of the static body come first, if there is one.
    pub colliders: [u32; 2],
    pub bodies: [u32; 2],
    /// Number of the step in which it was last updated.
    pub stamp: u64,
    /// Separation bound, m; 0 if unknown.
    separation: f32,
    /// How far the colliders may move relative to each other before the manifold has to be checked, m; negative if
    /// unknown. Not saved: without it the check gives the same answer.
    #[serde(skip)]
    slack: f32,
    /// Index of the contact, if the colliders have been within the margin, else [`NONE`].
    pub contact: u32,
    /// Whether a contact has to be created in this step.
    pub needs_contact: bool,
    /// Excluded as long as a joint between the bodies excludes collisions.
    excluded: bool,
    /// Whether there is a manifold to solve.
    pub near: bool,
    /// Whether the touching state changed in this step.
    pub touching_changed: bool,
    pub bouncy: bool,
    /// Whether one of the bodies may roll on the other.
    pub may_roll: bool,
}

impl Default for ContactPair {
    fn default() -> Self {
        Self {
            colliders: [NONE; 2],
            bodies: [0; 2],
            stamp: 0,
            separation: 0.0,
            slack: 0.0,
            contact: NONE,
            needs_contact: false,
            excluded: false,
            near: false,
            touching_changed: false,
            bouncy: false,
            may_roll: false,
        }
    }
}

impl ContactPair {
    /// Whether the slot is unused.
    pub const fn is_free(&self) -> bool {
        self.colliders[0] == NONE
    }

    /// Updates the contact, and the fields derived from it.
    #[inline]
    pub fn update(&mut self, contact: &mut Contact, context: &NarrowPhaseContext<'_>) {
        let displacements = self.bodies.map(|slot| &context.sim_bodies.displacements[slot as usize]);
        self.slack = remaining_slack(self.slack, displacements);
        if self.excluded {
            contact.clear();
            self.slack = 0.0;
        } else if !(self.slack > 0.0 && contact.reuse(context, displacements)) {
            self.slack = contact.update(context);
        }
        self.near = contact.is_near() && !contact.sensor;
        self.bouncy = contact.is_bouncy();
        self.may_roll = contact.may_roll;
        self.touching_changed = contact.touching != contact.was_touching;
        if contact.first_manifold.count == 0 && !contact.touching && !self.touching_changed {
            // No manifold: from now on the separation bound decides.
            self.separation = self.measure_separation(context);
            self.bouncy &= self.separation <= 0.0;
        }
    }

    /// Whether the colliders are farther apart than the speculative margin.
    #[inline]
    pub fn is_separated(&mut self, context: &NarrowPhaseContext<'_>) -> bool {
        if self.contact != NONE && self.separation <= 0.0 {
            return false;
        }
        if self.contact == NONE && self.excluded {
            return true;
        }
        let displacements = self.bodies.map(|slot| &context.sim_bodies.displacements[slot as usize]);
        let margin =
            (approach(displacements, context.dt) + context.fall as f32).max(context.foresight as f32);
        self.separation = remaining(self.separation, displacements);
        if self.separation > margin {
            return true;
        }
        self.separation = self.measure_separation(context);
        if self.separation <= 0.0
            || self.separation <= context.foresight.max(self.approach(context) + context.fall) as f32
        {
            self.separation = 0.0;
            return false;
        }
        true
    }

    /// Separation bound by the bounding boxes, m; 0 if there is none.
    fn measure_separation(&self, context: &NarrowPhaseContext<'_>) -> f32 {
        let side = |k: usize| {
            let motion = context.sim_bodies.body(self.bodies[k])?.motion(context.world)?;
            Some((context.sim_bodies.collider(self.colliders[k])?, motion.pose()))
        };
        let (Some((a, pose_a)), Some((b, pose_b))) = (side(0), side(1)) else { return 0.0 };
        // Rounded down, so that it stays a lower bound.
        let smallest = (separation_bound((a, &pose_a), (b, &pose_b)) as f32).next_down();
        if smallest > 0.0 { smallest } else { 0.0 }
    }

    /// Bound on the approach of the bodies in this step by their present velocities, m.
    fn approach(&self, context: &NarrowPhaseContext<'_>) -> f64 {
        let [a, b] = self.bodies.map(|slot| {
            let sim_body = context.sim_bodies.body(slot)?;
            let motion = sim_body.motion(context.world)?;
            let rotation_speed =
                if motion.omega == DVec3::ZERO { 0.0 } else { motion.omega.length() * sim_body.reach };
            Some((motion.v, rotation_speed))
        });
        let (Some((v, rotation_speed)), Some((w, other_rotation_speed))) = (a, b) else {
            return f64::INFINITY;
        };
        context.dt * ((w - v).length() + rotation_speed + other_rotation_speed)
    }
}

/// Contact graph: all pairs of colliders with overlapping bounding boxes, in reused slots, and the contacts
/// of those within the margin, in slots of their own.
#[derive(Debug, Default)]
pub(super) struct ContactGraph {
    pub pairs: Vec<ContactPair>,
    pub free_pairs: Vec<u32>,
    pub contacts: Vec<Option<Contact>>,
    pub free_contacts: Vec<u32>,
    /// Pairs updated in the present step, by slot in ascending order: those with manifolds to solve, those that
    /// may bounce, and those whose touching state changed. Derived from `pairs` in one pass, which the stages of a
    /// step share.
    near_pairs: Vec<u32>,
    bouncy_pairs: Vec<u32>,
    changed_pairs: Vec<u32>,
    by_colliders: HashMap<(u32, u32), u32, BuildHasherDefault<PairHasher>>,
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

impl ContactGraph {
    /// Begins a pair, if the filters allow it.
    pub fn begin_pair(&mut self, context: &NarrowPhaseContext<'_>, one: u32, other: u32) {
        let (Some(a), Some(b)) = (context.sim_bodies.collider(one), context.sim_bodies.collider(other))
        else {
            return;
        };
        if a.body == b.body || (a.sensor && b.sensor) {
            return;
        }
        let excluded = match context.world.evaluate_pair(a.id, b.id) {
            Ok(None) => false,
            Ok(Some(Rejection::Excluded(Exclusion::Joint))) => true,
            _ => return,
        };
        let status =
            |collider: &SimCollider| context.sim_bodies.body(collider.body).map(|sim_body| sim_body.status);
        if status(a) != Some(Status::Dynamic) && status(b) != Some(Status::Dynamic) {
            return;
        }
        let unbounded = |collider: &SimCollider| collider.radius.is_infinite();
        let first = status(b) == Some(Status::Fixed) || (unbounded(b) && status(a) == Some(Status::Dynamic));
        let (colliders, bodies) =
            if first { ([other, one], [b.body, a.body]) } else { ([one, other], [a.body, b.body]) };
        let slot = self.free_pairs.pop().unwrap_or_else(|| {
            self.pairs.push(ContactPair::default());
            (self.pairs.len() - 1) as u32
        });
        self.pairs[slot as usize] = ContactPair { colliders, bodies, excluded, ..ContactPair::default() };
        self.by_colliders.insert((one.min(other), one.max(other)), slot);
    }

    /// Creates the contact of a pair ⇒ whether there can be one.
    pub fn create_contact(&mut self, slot: u32, context: &NarrowPhaseContext<'_>) -> bool {
        let pair = &mut self.pairs[slot as usize];
        pair.needs_contact = false;
        let Some(contact) = Contact::between(pair.colliders, context) else { return false };
        pair.contact = self.free_contacts.pop().unwrap_or(self.contacts.len() as u32);
        if let Some(free) = self.contacts.get_mut(pair.contact as usize) {
            *free = Some(contact);
        } else {
            self.contacts.push(Some(contact));
        }
        true
    }

    /// Restores the next slot.
    pub fn restore_pair(&mut self, pair: ContactPair) {
        let slot = self.pairs.len() as u32;
        if !pair.is_free() {
            let [one, other] = pair.colliders;
            self.by_colliders.insert((one.min(other), one.max(other)), slot);
        }
        self.pairs.push(pair);
    }

    /// Updates which pairs joints exclude, after joints were added or removed.
    pub fn update_joint_exclusions(&mut self, context: &NarrowPhaseContext<'_>) {
        for pair in self.pairs.iter_mut().filter(|pair| !pair.is_free()) {
            let [Some(a), Some(b)] = pair.bodies.map(|slot| context.sim_bodies.body(slot)) else { continue };
            pair.excluded = context.world.pair_filter().exclusion(a.id, b.id) == Some(Exclusion::Joint);
        }
    }

    /// Ends a pair ⇒ slots of its bodies.
    pub fn end_pair(&mut self, one: u32, other: u32) -> Option<[u32; 2]> {
        let slot = self.by_colliders.remove(&(one.min(other), one.max(other)))?;
        self.free_pairs.push(slot);
        let pair = std::mem::take(&mut self.pairs[slot as usize]);
        if let Some(contact) = self.contacts.get_mut(pair.contact as usize) {
            *contact = None;
            self.free_contacts.push(pair.contact);
        }
        Some(pair.bodies)
    }

    /// All contacts.
    pub fn iter(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter().flatten()
    }

    /// The contact of a pair, if there is one.
    pub fn contact(&self, pair: &ContactPair) -> Option<&Contact> {
        self.contacts.get(pair.contact as usize).and_then(Option::as_ref)
    }

    /// Whether the solver had a constraint between two colliders in a step.
    pub fn is_solved(&self, one: u32, other: u32, stamp: u64) -> bool {
        let slot = self.by_colliders.get(&(one.min(other), one.max(other)));
        slot.is_some_and(|slot| {
            let pair = &self.pairs[*slot as usize];
            pair.near && pair.stamp == stamp
        })
    }

    /// Whether two colliders collided in the impact stage of a step.
    pub fn has_collided(&self, one: u32, other: u32, stamp: u64) -> bool {
        let slot = self.by_colliders.get(&(one.min(other), one.max(other)));
        let contact = slot.and_then(|slot| self.contact(&self.pairs[*slot as usize]));
        contact.is_some_and(|contact| contact.collision_step == stamp)
    }

    /// Whether a one-sided collider of the two lets the other pass at present.
    pub fn is_passing(&self, one: u32, other: u32) -> bool {
        let slot = self.by_colliders.get(&(one.min(other), one.max(other)));
        let contact = slot.and_then(|slot| self.contact(&self.pairs[*slot as usize]));
        contact.is_some_and(|contact| contact.passing)
    }

    /// Lists the pairs that were updated in a step.
    pub fn list_updated(&mut self, stamp: u64) {
        let Self { pairs, near_pairs, bouncy_pairs, changed_pairs, .. } = self;
        near_pairs.clear();
        bouncy_pairs.clear();
        changed_pairs.clear();
        for (slot, pair) in pairs.iter().enumerate().filter(|(_, pair)| pair.stamp == stamp) {
            if pair.near {
                near_pairs.push(slot as u32);
            }
            if pair.bouncy {
                bouncy_pairs.push(slot as u32);
            }
            if pair.touching_changed {
                changed_pairs.push(slot as u32);
            }
        }
    }

    /// Number of pairs with manifolds to solve in the present step.
    pub const fn near_count(&self) -> usize {
        self.near_pairs.len()
    }

    /// Pairs with manifolds to solve in the present step, by slot.
    pub fn near(&self) -> impl Iterator<Item = (usize, &ContactPair)> {
        self.near_pairs.iter().map(|slot| (*slot as usize, &self.pairs[*slot as usize]))
    }

    /// Pairs updated in the present step that may bounce, by slot.
    pub fn bouncy(&self) -> &[u32] {
        &self.bouncy_pairs
    }

    /// Pairs updated in the present step whose touching state changed.
    pub fn changed(&self) -> impl Iterator<Item = &ContactPair> {
        self.changed_pairs.iter().map(|slot| &self.pairs[*slot as usize])
    }

    /// The contacts, and the pairs with manifolds to solve in the present step.
    pub fn contacts_and_near(&mut self) -> (&mut Vec<Option<Contact>>, impl Iterator<Item = &ContactPair>) {
        let Self { contacts, pairs, near_pairs, .. } = self;
        (contacts, near_pairs.iter().map(|slot| &pairs[*slot as usize]))
    }
}
