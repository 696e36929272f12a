//! Overlays: contacts, boxes, velocities, sleeping bodies, springs, joints, cells and trees, as sections of a frame.

use super::RelativeScene;
use super::loaded_scene::LoadedScene;
use super::sliders;
use crate::message::{Words, overlay, section};
use crate::render_scene::{cells, hierarchy, joints, springs};
use rattleback_dynamics::simulator::ContactPoint;
use rattleback_dynamics::{BodyId, Simulator, Status, Value};
use std::collections::HashMap;

/// Most rows of a section; more would hide the scene.
const MAX_ROWS: usize = 50_000;

/// Most boxes of one level of the trees of shapes.
const MAX_BRANCHES: usize = 4096;
/// Size of a drawn joint, as a fraction of the radius of the scene.
const JOINT_SIZE: f64 = 0.15;
/// Deepest level of a tree; no mesh has enough triangles for a deeper one.
const MAX_LEVEL: u32 = 40;

/// Sections of a frame; a section is empty unless a client shows that overlay.
#[derive(Debug, Default)]
pub struct Overlays {
    contacts: Words,
    boxes: Words,
    velocities: Words,
    sleeping: Words,
    springs: Words,
    joints: Words,
    cells: Words,
    hierarchy: Words,
    sliders: Words,
}

/// Overlays to compute for a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Bits of [`overlay`].
    pub bits: u32,
    /// Depth of the hierarchy.
    pub level: u32,
}

fn rows(id: u32, count: usize) -> Words {
    let mut words = Words::default();
    words.put(id);
    words.put(count.min(MAX_ROWS) as u32);
    words
}

impl Overlays {
    /// Bits of [`overlay`] ⇒ their sections.
    pub fn sections(&self, bits: u32) -> Vec<&Words> {
        [
            (overlay::CONTACTS, &self.contacts),
            (overlay::BOXES, &self.boxes),
            (overlay::VELOCITIES, &self.velocities),
            (overlay::SLEEPING, &self.sleeping),
            (overlay::SPRINGS, &self.springs),
            (overlay::JOINTS, &self.joints),
            (overlay::CELLS, &self.cells),
            (overlay::HIERARCHY, &self.hierarchy),
            (overlay::SLIDERS, &self.sliders),
        ]
        .into_iter()
        .filter(|(bit, words)| bits & bit != 0 && !words.0.is_empty())
        .map(|(_, words)| words)
        .collect()
    }

    /// Computes the wanted sections from the present state.
    pub(super) fn read(
        loaded: &LoadedScene,
        wanted: Wanted,
        contacts: &[ContactPoint],
        asleep: &[BodyId],
    ) -> Self {
        let mut overlays = Self::default();
        let RelativeScene { render, origin } = &loaded.relative;
        let Wanted { bits, level } = wanted;
        if bits & overlay::SLIDERS != 0 && !loaded.sliders.is_empty() {
            overlays.sliders = sliders::write(&loaded.sliders, &loaded.world);
        }
        let place: HashMap<BodyId, u32> = if bits & (overlay::SLEEPING | overlay::HIERARCHY) != 0 {
            render.bodies.iter().enumerate().map(|(index, body)| (body.id, index as u32)).collect()
        } else {
            HashMap::new()
        };
        if bits & overlay::CONTACTS != 0 {
            let mut words = rows(section::CONTACTS, contacts.len());
            for touch in contacts.iter().take(MAX_ROWS) {
                words.vector(touch.point - *origin);
                words.vector(touch.normal);
                words.real(touch.normal_force());
            }
            overlays.contacts = words;
        }
        if bits & overlay::SLEEPING != 0 {
            let mut words = rows(section::SLEEPING, asleep.len());
            for id in asleep.iter().take(MAX_ROWS) {
                words.put(place.get(id).copied().unwrap_or(u32::MAX));
            }
            overlays.sleeping = words;
        }
        if bits & overlay::BOXES != 0 {
            let boxes: Vec<_> = render
                .bodies
                .iter()
                .enumerate()
                .filter_map(|(index, body)| Some((index, loaded.world.body(body.id).ok()?.aabb()?)))
                .collect();
            let mut words = rows(section::BOXES, boxes.len());
            for (index, aabb) in boxes.iter().take(MAX_ROWS) {
                words.put(*index as u32);
                words.vector(aabb.min() - *origin);
                words.vector(aabb.max() - *origin);
            }
            overlays.boxes = words;
        }
        if bits & overlay::VELOCITIES != 0 {
            overlays.velocities = velocities(loaded);
        }
        if bits & overlay::SPRINGS != 0 {
            let ends = springs(&loaded.world, loaded.time());
            let mut words = rows(section::SPRINGS, ends.len());
            for [a, b] in ends.iter().take(MAX_ROWS) {
                words.vector(*a - *origin);
                words.vector(*b - *origin);
            }
            overlays.springs = words;
        }
        if bits & overlay::JOINTS != 0 {
            let lines = joints(&loaded.world, JOINT_SIZE * render.frame.radius);
            let mut words = rows(section::JOINTS, lines.len());
            for line in lines.iter().take(MAX_ROWS) {
                words.put(line.kind as u32);
                words.vector(line.from - *origin);
                words.vector(line.to - *origin);
            }
            overlays.joints = words;
        }
        if bits & overlay::CELLS != 0 {
            overlays.cells = cells_of(loaded);
        }
        if bits & overlay::HIERARCHY != 0 {
            let branches = hierarchy(&loaded.world, level.min(MAX_LEVEL), MAX_BRANCHES);
            let mut words = rows(section::HIERARCHY, branches.len());
            for branch in &branches {
                words.put(place.get(&branch.body).copied().unwrap_or(u32::MAX));
                words.put(branch.level);
                words.vector(branch.center);
                branch.half.iter().for_each(|half| words.vector(*half));
            }
            overlays.hierarchy = words;
        }
        overlays
    }

    /// Keeps the sections of [`SLOW_OVERLAYS`] from the last frame.
    pub(super) fn keep_slow(&mut self, last: &mut Self) {
        self.cells = std::mem::take(&mut last.cells);
        self.hierarchy = std::mem::take(&mut last.hierarchy);
    }
}

/// Overlays that are computed only with the read-outs: costly, and slow to change.
pub(super) const SLOW_OVERLAYS: u32 = overlay::CELLS | overlay::HIERARCHY;

/// Cells of the broad phase that the simulator is set to use.
fn cells_of(loaded: &LoadedScene) -> Words {
    let description = loaded.simulator().map(Simulator::description);
    let space = description.and_then(|description| match description.properties.get("space") {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => None,
    });
    let cells = space.map_or_else(Vec::new, |space| cells(&loaded.world, &space));
    let mut words = rows(section::CELLS, cells.len());
    for cell in cells.iter().take(MAX_ROWS) {
        words.put(cell.level);
        words.vector(cell.bounds.min() - loaded.relative.origin);
        words.vector(cell.bounds.max() - loaded.relative.origin);
    }
    words
}

fn velocities(loaded: &LoadedScene) -> Words {
    let RelativeScene { render, origin } = &loaded.relative;
    let moving: Vec<_> = render
        .bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| body.status != Status::Fixed)
        .filter_map(|(index, body)| Some((index, loaded.world.body(body.id).ok()?)))
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
