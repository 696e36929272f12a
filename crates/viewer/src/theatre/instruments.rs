//! What instruments show, as sections of a frame.

use super::Scenery;
use super::program::Act;
use crate::look::{cells, hierarchy, joints, springs};
use crate::message::{Words, layer, section};
use rattleback_dynamics::simulator::TouchPoint;
use rattleback_dynamics::{BodyId, Simulator, Status, Value};
use std::collections::HashMap;

/// More rows than this would only hide the picture.
const MAX_ROWS: usize = 50_000;

/// Boxes of one level of the trees of shapes.
const MAX_BRANCHES: usize = 4096;
/// Joints are drawn as large as this part of the scene.
const JOINT_SIZE: f64 = 0.15;
/// The deepest level that makes sense: there is no mesh of so many triangles.
const MAX_LEVEL: u32 = 40;

/// Sections, each empty unless somebody wants it.
#[derive(Debug, Default)]
pub struct Instruments {
    contacts: Words,
    boxes: Words,
    velocities: Words,
    sleeping: Words,
    springs: Words,
    joints: Words,
    cells: Words,
    hierarchy: Words,
}

/// What the player asks of the instruments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// As bits.
    pub layers: u32,
    /// Of the hierarchy.
    pub level: u32,
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
            (layer::JOINTS, &self.joints),
            (layer::CELLS, &self.cells),
            (layer::HIERARCHY, &self.hierarchy),
        ]
        .into_iter()
        .filter(|(bit, words)| layers & bit != 0 && !words.0.is_empty())
        .map(|(_, words)| words)
        .collect()
    }

    /// Looks at the stage.
    pub(super) fn read(act: &Act, wanted: Wanted, contacts: &[TouchPoint], asleep: &[BodyId]) -> Self {
        let mut instruments = Self::default();
        let Scenery { look, origin } = &act.scenery;
        let Wanted { layers, level } = wanted;
        let place: HashMap<BodyId, u32> = if layers & (layer::SLEEPING | layer::HIERARCHY) != 0 {
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
        if layers & layer::JOINTS != 0 {
            let strokes = joints(&act.world, JOINT_SIZE * look.frame.radius);
            let mut words = rows(section::JOINTS, strokes.len());
            for stroke in strokes.iter().take(MAX_ROWS) {
                words.put(stroke.tone as u32);
                words.vector(stroke.from - *origin);
                words.vector(stroke.to - *origin);
            }
            instruments.joints = words;
        }
        if layers & layer::CELLS != 0 {
            instruments.cells = cells_of(act);
        }
        if layers & layer::HIERARCHY != 0 {
            let branches = hierarchy(&act.world, level.min(MAX_LEVEL), MAX_BRANCHES);
            let mut words = rows(section::HIERARCHY, branches.len());
            for branch in &branches {
                words.put(place.get(&branch.body).copied().unwrap_or(u32::MAX));
                words.put(branch.level);
                words.vector(branch.center);
                branch.half.iter().for_each(|half| words.vector(*half));
            }
            instruments.hierarchy = words;
        }
        instruments
    }

    /// Keeps the sections that cost much and change little from the last time.
    pub(super) fn keep_slow(&mut self, last: &mut Self) {
        self.cells = std::mem::take(&mut last.cells);
        self.hierarchy = std::mem::take(&mut last.hierarchy);
    }
}

/// Layers that are looked at less often.
pub(super) const SLOW_LAYERS: u32 = layer::CELLS | layer::HIERARCHY;

/// Cells of the space that the simulator says it uses.
fn cells_of(act: &Act) -> Words {
    let description = act.simulator().map(Simulator::description);
    let space = description.and_then(|description| match description.properties.get("space") {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => None,
    });
    let cells = space.map_or_else(Vec::new, |space| cells(&act.world, &space));
    let mut words = rows(section::CELLS, cells.len());
    for cell in cells.iter().take(MAX_ROWS) {
        words.put(cell.level);
        words.vector(cell.bounds.min() - act.scenery.origin);
        words.vector(cell.bounds.max() - act.scenery.origin);
    }
    words
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
