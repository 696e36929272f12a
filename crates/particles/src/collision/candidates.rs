//! Pairs of particles whose paths may touch: a tree over boxes around chords.
//!
//! The tree is built on positions at the end of an interval and refitted to boxes around both ends of every chord;
//! since the end of an interval is the start of the next, its topology stays good for a while. It is built anew
//! when particles were added or removed, or when the sum of its boxes has doubled.

use std::ops::ControlFlow;

use glam::DVec3;
use rattleback_geometry::Aabb;
use rattleback_geometry::hierarchy::{BoxTree, BuildSettings, Scratch};

use crate::ParticleError;

/// Bounding volumes of a particle tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhKind {
    /// Axis-aligned boxes.
    #[default]
    Aabb,
    /// Spheres around chords; the tree above them has boxes.
    Sphere,
    /// Oriented boxes, which cannot be refitted: refused.
    Obb,
}

/// A tree over the paths of particles.
#[derive(Debug, Default)]
pub struct ParticleTree {
    tree: Option<BoxTree>,
    boxes: Vec<Aabb>,
    scratch: Scratch,
    /// Surface of all boxes after the last build.
    built_surface: f64,
    /// Number of builds and refits so far.
    pub builds: u64,
    /// Number of refits so far.
    pub refits: u64,
}

impl ParticleTree {
    /// Refits the tree to the chords `start` → `end` with radii, or builds it anew.
    ///
    /// # Errors
    /// Oriented boxes are asked for, or a position is not finite.
    pub fn update(
        &mut self,
        (start, end, radius): (&[DVec3], &[DVec3], &[f64]),
        kind: BvhKind,
        particles_per_leaf: usize,
        rebuild: bool,
    ) -> Result<(), ParticleError> {
        if kind == BvhKind::Obb {
            return Err(ParticleError::UnsupportedBvh { kind: "obb" });
        }
        self.boxes.clear();
        for i in 0..end.len() {
            let bounds = match kind {
                BvhKind::Sphere => {
                    let reach = 0.5 * start[i].distance(end[i]) + radius[i];
                    Aabb::from_center(start[i].midpoint(end[i]), DVec3::splat(reach))
                }
                _ => Aabb::new(start[i].min(end[i]) - radius[i], start[i].max(end[i]) + radius[i]),
            };
            self.boxes.push(bounds.map_err(|e| ParticleError::Obstacle { reason: e.to_string() })?);
        }
        let surface: f64 = self.boxes.iter().map(Aabb::surface_area).sum();
        let fits = self.tree.as_ref().is_some_and(|tree| tree.item_count() == self.boxes.len());
        if let Some(tree) =
            self.tree.as_mut().filter(|_| fits && !rebuild && surface <= 2.0 * self.built_surface)
        {
            self.refits += 1;
            return tree.refit(&self.boxes).map_err(|e| ParticleError::Obstacle { reason: e.to_string() });
        }
        self.builds += 1;
        self.built_surface = surface;
        self.tree = if self.boxes.is_empty() {
            None
        } else {
            let settings =
                BuildSettings { max_leaf: particles_per_leaf.clamp(1, 16), ..BuildSettings::default() };
            let tree = BoxTree::build(&self.boxes, &settings);
            Some(tree.map_err(|e| ParticleError::Obstacle { reason: e.to_string() })?)
        };
        Ok(())
    }

    /// Calls `found(j)` for every particle whose box overlaps that of particle i, itself not included.
    pub fn near(&mut self, i: usize, mut found: impl FnMut(usize)) {
        if let Some(tree) = &self.tree {
            tree.overlapping(&self.boxes[i], &mut self.scratch, |j| {
                if j as usize != i {
                    found(j as usize);
                }
                ControlFlow::Continue(())
            });
        }
    }

    /// Calls `found(j)` for every particle whose box overlaps another box.
    pub fn overlapping(&mut self, query: &Aabb, mut found: impl FnMut(usize)) {
        if let Some(tree) = &self.tree {
            tree.overlapping(query, &mut self.scratch, |j| {
                found(j as usize);
                ControlFlow::Continue(())
            });
        }
    }
}
