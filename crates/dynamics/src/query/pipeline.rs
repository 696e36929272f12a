//! The boxes of all shapes of a world, in a space.

use super::QueryError;
use crate::world::{BodyId, Epoch, Handle, ShapeId, Status, World};
use rattleback_geometry::Aabb;
use rattleback_geometry::space::{Mobility, PairChanges, ProxyId, Space, SpaceError, SpaceKind, everywhere};

/// Answers questions about a world, see [the module](crate::query).
#[derive(Debug)]
pub struct QueryPipeline {
    space: Box<dyn Space>,
    /// By slot of the shape.
    shapes: Vec<Option<(ShapeId, ProxyId)>>,
    /// By slot of the proxy.
    owners: Vec<Option<ShapeId>>,
    /// Epoch and revision of the world it was made of.
    stamp: Option<(Epoch, u64)>,
    changes: PairChanges,
}

impl QueryPipeline {
    /// Kind of space ⇒ empty index; call [`update`](Self::update) before asking.
    pub fn new(kind: SpaceKind) -> Self {
        Self {
            space: kind.create(),
            shapes: Vec::new(),
            owners: Vec::new(),
            stamp: None,
            changes: PairChanges::default(),
        }
    }

    /// World ⇒ index of it in the default space.
    pub fn of(world: &World) -> Result<Self, QueryError> {
        let mut index = Self::new(SpaceKind::default());
        index.update(world)?;
        Ok(index)
    }

    /// Brings the index up to date. One step later only what moved is touched.
    pub fn update(&mut self, world: &World) -> Result<(), QueryError> {
        let now = (world.epoch(), world.revision());
        match self.stamp {
            Some(then) if then == now => return Ok(()),
            Some((epoch, _)) if !epoch.is_same_world(&now.0) => {
                self.clear();
                self.place_all(world)?;
            }
            Some((epoch, revision)) if revision == now.1 && epoch.step() + 1 == now.0.step() => {
                for body in world.moved() {
                    self.place_body(world, *body)?;
                }
            }
            _ => self.place_all(world)?,
        }
        self.space.step(1, &mut self.changes);
        self.stamp = Some(now);
        Ok(())
    }

    /// Takes all boxes out.
    fn clear(&mut self) {
        for (_, proxy) in self.shapes.drain(..).flatten() {
            // It was put there by this index.
            let _ = self.space.remove(proxy);
        }
        self.owners.clear();
        self.space.step(1, &mut self.changes);
    }

    fn place_all(&mut self, world: &World) -> Result<(), QueryError> {
        for slot in 0..self.shapes.len() {
            if let Some((id, proxy)) = self.shapes[slot]
                && world.shape(id).is_err()
            {
                self.space.remove(proxy)?;
                self.shapes[slot] = None;
                self.owners[proxy.index() as usize] = None;
            }
        }
        // Slots of removed boxes become free with the step.
        self.space.step(1, &mut self.changes);
        let fresh = self.shapes.is_empty();
        let ids: Vec<BodyId> = world.iter_bodies().map(|body| body.id()).collect();
        for id in ids {
            self.place_body(world, id)?;
        }
        if fresh {
            self.space.build();
        }
        Ok(())
    }

    fn place_body(&mut self, world: &World, id: BodyId) -> Result<(), QueryError> {
        let Ok(body) = world.body(id) else { return Ok(()) };
        let pose = body.pose();
        let moves = matches!(body.status(), Status::Dynamic | Status::Kinematic);
        for shape in body.shapes() {
            let Ok(attached) = world.shape(*shape) else { continue };
            let bounds = attached.shape.aabb(&(pose * attached.pose)).unwrap_or_else(everywhere);
            self.place_shape(*shape, &bounds, moves)?;
        }
        Ok(())
    }

    fn place_shape(&mut self, id: ShapeId, bounds: &Aabb, moves: bool) -> Result<(), QueryError> {
        let slot = id.slot() as usize;
        if self.shapes.len() <= slot {
            self.shapes.resize(slot + 1, None);
        }
        if let Some((_, proxy)) = self.shapes[slot].filter(|(known, _)| *known == id) {
            return match self.space.update(proxy, bounds) {
                Err(SpaceError::Enormous { .. }) => Ok(self.space.update(proxy, &everywhere())?),
                other => Ok(other?),
            };
        }
        let mobility = if moves { Mobility::Moving } else { Mobility::Fixed };
        let proxy = match self.space.insert(bounds, mobility, 0) {
            Err(SpaceError::Enormous { .. }) => self.space.insert(&everywhere(), mobility, 0)?,
            other => other?,
        };
        self.shapes[slot] = Some((id, proxy));
        let place = proxy.index() as usize;
        if self.owners.len() <= place {
            self.owners.resize(place + 1, None);
        }
        self.owners[place] = Some(id);
        Ok(())
    }

    pub(super) fn space(&self) -> &dyn Space {
        &*self.space
    }

    pub(super) fn shape_of(&self, proxy: ProxyId) -> Option<ShapeId> {
        self.owners.get(proxy.index() as usize).copied().flatten()
    }

    /// Refuses questions about another time, and limits that are none.
    pub(super) fn check(&self, world: &World, limit: f64) -> Result<(), QueryError> {
        if self.stamp != Some((world.epoch(), world.revision())) {
            return Err(QueryError::Outdated);
        }
        if limit.is_finite() && limit >= 0.0 {
            return Ok(());
        }
        Err(QueryError::Invalid { what: "the limit", allowed: "finite and not negative" })
    }
}
