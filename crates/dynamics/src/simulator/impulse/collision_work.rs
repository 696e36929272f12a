//! Work of collisions, for the energy ledger.
//!
//! A collision changes the kinetic energy of its two bodies by p·(u⁻ + u⁺)/2 and by the work of rolling and
//! spinning friction, where u is the relative velocity at the contact. Of that, p_n (u_n⁻ + u_n⁺)/2 is the
//! work of the normal force; the force that drives a kinematic body adds p·u of that body. Each collision is
//! posted to the dynamic body with the lower index in the world, in the order of the collisions of that body,
//! so that the sums do not depend on the partitions.

use super::Impulse;
use super::pair::PairGap;
use super::partition::Partition;
use crate::impact::ContactBody;
use crate::rigid::Motion;
use crate::world::{BodyId, WorkCategory, WorkEntry, WorkSource, World};
use glam::DVec3;

/// Work of the collisions posted to a body in the present step, J.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CollisionWork {
    contact: f64,
    friction: f64,
    kinematic: f64,
    /// Largest energy that a single collision has added, with its bodies and point.
    gain: f64,
    pair: Option<([BodyId; 2], DVec3)>,
}

impl Partition {
    /// Resets the work at the beginning of a step.
    pub fn begin_work(&mut self, world: &World) {
        self.records_work = world.keeps_ledger();
        if self.records_work {
            self.bodies.iter_mut().for_each(|body| body.work = CollisionWork::default());
        }
    }

    /// Posts a collision: impulse p on the second body at time t, and both bodies after it.
    pub fn record_work(
        &mut self,
        bodies: [u32; 2],
        t: f64,
        gap: &PairGap,
        p: DVec3,
        after: &[ContactBody; 2],
    ) {
        if !self.records_work {
            return;
        }
        let (mut change, mut kinematic, mut mean) = (0.0, 0.0, [DVec3::ZERO; 2]);
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let body = &mut self.bodies[bodies[k] as usize];
            let now = body.at(t);
            let before = now.velocity_at(gap.point);
            if body.is_movable() {
                let then = Motion { v: after[k].v, omega: after[k].omega, ..now };
                change += body.inertia.kinetic_energy(&then) - body.inertia.kinetic_energy(&now);
                mean[k] = 0.5 * (before + then.velocity_at(gap.point));
            } else {
                mean[k] = before;
                kinematic -= sign * p.dot(before);
            }
        }
        let contact = p.dot(gap.normal) * (mean[1] - mean[0]).dot(gap.normal);
        let ids = bodies.map(|body| self.bodies[body as usize].id);
        let free = bodies.into_iter().filter(|body| self.bodies[*body as usize].is_dynamic());
        let Some(owner) = free.min_by_key(|body| self.bodies[*body as usize].dynamic_index) else { return };
        let work = &mut self.bodies[owner as usize].work;
        work.contact += contact;
        work.friction += change - contact - kinematic;
        work.kinematic += kinematic;
        if change - kinematic > work.gain {
            (work.gain, work.pair) = (change - kinematic, Some((ids, gap.point)));
        }
    }

    /// Posts the kinetic energy of a body that its contacts bring to rest.
    pub fn record_stop(&mut self, index: u32, now: &Motion) {
        if self.records_work {
            let body = &mut self.bodies[index as usize];
            body.work.contact -= body.inertia.kinetic_energy(now);
        }
    }
}

impl Impulse {
    /// Posts the work of the step to the ledger, in the order of the world.
    pub(super) fn post_work(&self, world: &mut World) {
        if !world.keeps_ledger() {
            return;
        }
        let bodies = self.partition_set.partitions.iter().flat_map(|partition| &partition.bodies);
        let mut booked: Vec<_> = bodies.filter(|body| body.is_dynamic()).collect();
        booked.sort_by_key(|body| body.dynamic_index);
        for body in booked {
            let CollisionWork { contact, friction, kinematic, pair, .. } = body.work;
            let (source, point) = pair.map_or((WorkSource::Body(body.id), None), |(bodies, point)| {
                (WorkSource::Pair(bodies), Some(point))
            });
            for (category, joules) in [
                (WorkCategory::Contact, contact),
                (WorkCategory::Friction, friction),
                (WorkCategory::Kinematic, kinematic),
            ] {
                if joules != 0.0 {
                    world.add_work(WorkEntry { category, source, point, joules });
                }
            }
        }
    }
}
