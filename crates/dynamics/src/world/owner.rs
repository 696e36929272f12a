//! Owners of colliders: bodies, links of multibodies, elements of the parts that other crates add; and their response to impulses.
//!
//! Pairs, contacts, filters, events and queries are keyed by shape. Every shape belongs to a body of the world; the body of a link
//! or of an element is a kinematic one that represents it, and the owner of its shapes is the link or the element.

use super::{BodyId, Event, LinkId, PartId, ShapeId, Status, World};
use crate::error::Error;
use crate::query::Hit;
use crate::simulator::ContactPoint;
use crate::solver::{ImpulseResponse, LinkResponse, RigidResponse};
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// Names an element of a [part](super::WorldPart): a particle, a vertex or a cell of a deformable body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ElementId {
    /// The part.
    pub part: PartId,
    /// Index of the element in its part.
    pub index: u32,
}

impl std::fmt::Display for ElementId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "element {} of {}", self.index, self.part)
    }
}

/// To what a collider belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ColliderOwner {
    /// A rigid body.
    Body(BodyId),
    /// A link of a multibody.
    Link(LinkId),
    /// An element of a particle system, of a deformable body, or of another part.
    Element(ElementId),
}

impl std::fmt::Display for ColliderOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Body(id) => id.fmt(f),
            Self::Link(id) => id.fmt(f),
            Self::Element(id) => id.fmt(f),
        }
    }
}

impl ContactPoint {
    /// Owners of the two shapes in the world that the contact was found in.
    ///
    /// # Errors
    /// A shape was removed since.
    pub fn owners(&self, world: &World) -> Result<[ColliderOwner; 2], Error> {
        Ok([world.shape_owner(self.shapes[0])?, world.shape_owner(self.shapes[1])?])
    }
}

impl Event {
    /// Owners of the two colliders of an event between two; `None` for other events and where a body was removed since.
    pub fn owners(&self, world: &World) -> Option<[ColliderOwner; 2]> {
        let (Self::Collision { bodies, .. }
        | Self::ContactBegan { bodies, .. }
        | Self::ContactEnded { bodies, .. }
        | Self::Stalled { bodies, .. }
        | Self::Filtered { bodies, .. }
        | Self::ContactForce { bodies, .. }) = self
        else {
            return None;
        };
        Some([world.owner_of(bodies[0]).ok()?, world.owner_of(bodies[1]).ok()?])
    }
}

impl World {
    /// Body ⇒ itself, or the link or element that it represents.
    ///
    /// # Errors
    /// There is no such body.
    pub fn owner_of(&self, body: BodyId) -> Result<ColliderOwner, Error> {
        let record = self.bodies.record(body)?;
        Ok(match (record.link, record.element) {
            (Some(link), _) => ColliderOwner::Link(link),
            (_, Some(element)) => ColliderOwner::Element(element),
            _ => ColliderOwner::Body(body),
        })
    }

    /// Shape ⇒ the body, link or element that it belongs to.
    ///
    /// # Errors
    /// There is no such shape.
    pub fn shape_owner(&self, shape: ShapeId) -> Result<ColliderOwner, Error> {
        self.owner_of(self.shape(shape)?.body)
    }

    /// (owner, point in the world) ⇒ velocity of its material there, m/s.
    ///
    /// # Errors
    /// There is no such owner, or it does not respond to impulses (see [`LinkResponse::new`]).
    pub fn velocity_at(&mut self, owner: ColliderOwner, point: DVec3) -> Result<DVec3, Error> {
        self.with_response(owner, |response| response.velocity_at(point))
    }

    /// (owner, point in the world) ⇒ K: change of the velocity there per impulse at the point, 1/kg; zero for what impulses do not
    /// move.
    ///
    /// # Errors
    /// As [`velocity_at`](Self::velocity_at).
    pub fn inverse_mass_at(&mut self, owner: ColliderOwner, point: DVec3) -> Result<DMat3, Error> {
        self.with_response(owner, |response| response.inverse_mass_at(point))
    }

    /// Applies an impulse, N s, at a point: a dynamic body gets other velocities, a multibody other joint velocities.
    ///
    /// # Errors
    /// As [`velocity_at`](Self::velocity_at), or numbers that are not finite.
    pub fn apply_impulse_at(
        &mut self,
        owner: ColliderOwner,
        point: DVec3,
        impulse: DVec3,
    ) -> Result<(), Error> {
        self.apply_impulse_within_step(owner, point, impulse)?;
        match owner {
            ColliderOwner::Body(_) => {}
            ColliderOwner::Link(id) => self.follow_multibody_change(id.multibody)?,
            ColliderOwner::Element(id) => self.follow_part_change(id.part),
        }
        self.spoil_ledger();
        Ok(())
    }

    /// The same within a step, in which multibodies and parts are at its end already: the bodies of links and elements follow when
    /// it ends.
    pub(crate) fn apply_impulse_within_step(
        &mut self,
        owner: ColliderOwner,
        point: DVec3,
        impulse: DVec3,
    ) -> Result<(), Error> {
        if !(point.is_finite() && impulse.is_finite()) {
            return Err(crate::error::parameter("impulse and its point", "finite", impulse));
        }
        self.with_response(owner, |response| response.apply_impulse(point, impulse))?;
        match owner {
            ColliderOwner::Body(id) => self.change_log.note(id),
            ColliderOwner::Link(LinkId { multibody, .. }) => self.refresh_multibody(multibody)?,
            ColliderOwner::Element(_) => {}
        }
        Ok(())
    }

    /// Calls a function with the response of an owner; what the function applies is written back.
    fn with_response<T>(
        &mut self,
        owner: ColliderOwner,
        act: impl FnOnce(&mut dyn ImpulseResponse) -> T,
    ) -> Result<T, Error> {
        match owner {
            ColliderOwner::Body(id) => {
                let status = self.bodies.record(id)?.status;
                let motion = self.bodies.motion_of(id).copied().unwrap_or_default();
                let own = self.bodies.inertia_of(id).copied().filter(|_| status == Status::Dynamic);
                let inertia = own.unwrap_or_default();
                let mut response = RigidResponse::new(&inertia, &motion);
                let result = act(&mut response);
                if own.is_some() {
                    let motion = self.bodies.motion_of_mut(id)?;
                    (motion.v, motion.omega) = (response.v, response.omega);
                }
                Ok(result)
            }
            ColliderOwner::Link(id) => {
                let record = self.multibodies.records.get_mut(id.multibody);
                let record = record.ok_or(Error::UnknownMultibody(id.multibody))?;
                let refused = |source| Error::Mechanism { multibody: id.multibody, source };
                let mut response =
                    LinkResponse::new(&mut record.mechanism, id.index as usize).map_err(refused)?;
                Ok(act(&mut response))
            }
            ColliderOwner::Element(id) => {
                let record = self.parts.get_mut(id.part).ok_or(Error::UnknownPart(id.part))?;
                let mut response = record.part.response(id.index).ok_or(Error::UnknownElement(id))?;
                Ok(act(&mut *response))
            }
        }
    }
}

impl Hit {
    /// Owner of the shape in the world that the query was made in.
    ///
    /// # Errors
    /// The shape was removed since.
    pub fn owner(&self, world: &World) -> Result<ColliderOwner, Error> {
        world.shape_owner(self.shape)
    }
}
