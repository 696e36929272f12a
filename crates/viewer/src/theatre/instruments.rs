//! What instruments show, as sections of a frame.

use super::Scenery;
use super::program::Act;
use crate::look::springs;
use crate::message::{Words, layer, section};
use rattleback_dynamics::simulator::TouchPoint;
use rattleback_dynamics::{BodyId, Status};
use std::collections::HashMap;

/// More rows than this would only hide the picture.
const MAX_ROWS: usize = 50_000;

/// Sections, each empty unless somebody wants it.
#[derive(Debug, Default)]
pub struct Instruments {
    contacts: Words,
    boxes: Words,
    velocities: Words,
    sleeping: Words,
    springs: Words,
}

fn rows(id: u32, count: usize) -> Words {
    let mut words = Words::default();
    words.put(id);
    words.put(count.min(MAX_ROWS) as u32);
    words
}

impl Instruments {
    /// Layers as bits ⇒ their sections.
    pub fn sections(&self, layers: u32) -> Vec<&Words> {
        [
            (layer::CONTACTS, &self.contacts),
            (layer::BOXES, &self.boxes),
            (layer::VELOCITIES, &self.velocities),
            (layer::SLEEPING, &self.sleeping),
            (layer::SPRINGS, &self.springs),
        ]
        .into_iter()
        .filter(|(bit, words)| layers & bit != 0 && !words.0.is_empty())
        .map(|(_, words)| words)
        .collect()
    }

    /// Looks at the stage.
    pub(super) fn read(act: &Act, layers: u32, contacts: &[TouchPoint], asleep: &[BodyId]) -> Self {
        let mut instruments = Self::default();
        let Scenery { look, origin } = &act.scenery;
        let place: HashMap<BodyId, u32> = if layers & layer::SLEEPING != 0 {
            look.bodies.iter().enumerate().map(|(index, body)| (body.id, index as u32)).collect()
        } else {
            HashMap::new()
        };
        if layers & layer::CONTACTS != 0 {
            let mut words = rows(section::CONTACTS, contacts.len());
            for touch in contacts.iter().take(MAX_ROWS) {
                words.vector(touch.point - *origin);
                words.vector(touch.normal);
                words.real(touch.force);
            }
            instruments.contacts = words;
        }
        if layers & layer::SLEEPING != 0 {
            let mut words = rows(section::SLEEPING, asleep.len());
            for id in asleep.iter().take(MAX_ROWS) {
                words.put(place.get(id).copied().unwrap_or(u32::MAX));
            }
            instruments.sleeping = words;
        }
        if layers & layer::BOXES != 0 {
            let boxes: Vec<_> = look
                .bodies
                .iter()
                .enumerate()
                .filter_map(|(index, body)| Some((index, act.world.body(body.id).ok()?.aabb()?)))
                .collect();
            let mut words = rows(section::BOXES, boxes.len());
            for (index, aabb) in boxes.iter().take(MAX_ROWS) {
                words.put(*index as u32);
                words.vector(aabb.min() - *origin);
                words.vector(aabb.max() - *origin);
            }
            instruments.boxes = words;
        }
        if layers & layer::VELOCITIES != 0 {
            instruments.velocities = velocities(act);
        }
        if layers & layer::SPRINGS != 0 {
            let ends = springs(&act.world, act.time());
            let mut words = rows(section::SPRINGS, ends.len());
            for [a, b] in ends.iter().take(MAX_ROWS) {
                words.vector(*a - *origin);
                words.vector(*b - *origin);
            }
            instruments.springs = words;
        }
        instruments
    }
}

fn velocities(act: &Act) -> Words {
    let Scenery { look, origin } = &act.scenery;
    let moving: Vec<_> = look
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| body.status != Status::Fixed)
        .filter_map(|(index, body)| Some((index, act.world.body(body.id).ok()?)))
        .collect();
    let mut words = rows(section::VELOCITIES, moving.len());
    for (index, body) in moving.iter().take(MAX_ROWS) {
        words.put(*index as u32);
        words.vector(body.center_of_mass() - *origin);
        words.vector(body.velocity());
        words.vector(body.angular_velocity());
    }
    words
}
