//! Tearing along edges that are stretched too far.
//!
//! When an edge of a cloth is longer than the limit times its rest length, the vertex at one of its ends is split: triangles on the
//! two sides of the plane through the vertex, perpendicular to the edge, part with it. The copy and the original are moved apart
//! by a fraction of the activation distance towards their own triangles, so that contact can keep them apart; a split that would
//! make surfaces intersect, or leave one side empty, is not made. At most one vertex in a hundred splits in a step.

use glam::DVec3;

use crate::contact::intersections;
use crate::element::Element;
use crate::error::check;
use crate::{Deformable, DeformableError, DeformableSystem};

impl DeformableSystem {
    /// Lets cloth tear where an edge is longer than `stretch` times its rest length; infinite: never. Springs and hinges of the
    /// vertices concerned are divided among the sides or removed.
    ///
    /// # Errors
    /// A stretch that is not above 1.
    pub fn set_tearing(&mut self, stretch: f64) -> Result<(), DeformableError> {
        if stretch != f64::INFINITY {
            check("tear stretch", stretch, stretch > 1.0, "> 1, or infinite")?;
        }
        self.state.tear_stretch = Some(stretch).filter(|s| s.is_finite());
        Ok(())
    }

    /// Splits vertices after a step ⇒ how many.
    pub(crate) fn tear(&mut self) -> usize {
        let Some(limit) = self.state.tear_stretch else { return 0 };
        let model = &self.state.model;
        let mut torn: Vec<(f64, u32, DVec3)> = Vec::new();
        for m in &model.membranes {
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                let [a, b] = [m.vertices[a], m.vertices[b]];
                let d = model.position[b as usize] - model.position[a as usize];
                let stretch = d.length() / model.rest[b as usize].distance(model.rest[a as usize]);
                if stretch > limit {
                    // The end with the smaller index that may split.
                    let vertex = if model.pinned[a.min(b) as usize] { a.max(b) } else { a.min(b) };
                    if !model.pinned[vertex as usize] {
                        torn.push((stretch, vertex, d.normalize_or(DVec3::X)));
                    }
                }
            }
        }
        torn.sort_by(|p, q| q.0.total_cmp(&p.0).then(p.1.cmp(&q.1)));
        torn.dedup_by_key(|t| t.1);
        let most = (model.len() / 100).max(1);
        let mut count = 0;
        for &(_, vertex, across) in torn.iter().take(most) {
            count += usize::from(self.split(vertex, across));
        }
        count
    }

    fn split(&mut self, vertex: u32, across: DVec3) -> bool {
        let old = self.state.model.clone();
        let v = vertex as usize;
        let here = old.position[v];
        let middle = |t: &[u32; 3], x: &[DVec3]| t.iter().map(|&i| x[i as usize]).sum::<DVec3>() / 3.0;
        let beyond = |t: &[u32; 3]| (middle(t, &old.position) - here).dot(across) > 0.0;
        let around: Vec<[u32; 3]> = old.triangles.iter().copied().filter(|t| t.contains(&vertex)).collect();
        let far = around.iter().filter(|t| beyond(t)).count();
        if far == 0 || far == around.len() {
            return false;
        }
        let copy = old.len() as u32;
        let mut model = old.clone();
        let share = far as f64 / around.len() as f64;
        // Each side moves towards the middle of its triangles, at rest too.
        let inset = 0.2 * self.state.settings.contact_distance.max(1e-6);
        let towards = |side: bool, x: &[DVec3]| {
            let sum: DVec3 = around.iter().filter(|t| beyond(t) == side).map(|t| middle(t, x) - x[v]).sum();
            inset * sum.normalize_or(DVec3::ZERO)
        };
        let (place, rest) = (towards(true, &old.position), towards(true, &old.rest));
        let (stay, stay_rest) = (towards(false, &old.position), towards(false, &old.rest));
        model.position.push(here + place);
        model.rest.push(old.rest[v] + rest);
        model.position[v] += stay;
        model.rest[v] += stay_rest;
        model.velocity.push(old.velocity[v]);
        model.mass.push(share * old.mass[v]);
        model.mass[v] *= 1.0 - share;
        model.pinned.push(false);
        for t in model.triangles.iter_mut().filter(|t| t.contains(&vertex)) {
            if beyond(t) {
                *t = t.map(|i| if i == vertex { copy } else { i });
            }
        }
        for m in &mut model.membranes {
            if m.vertices.contains(&vertex) && beyond(&m.vertices) {
                m.renumber(|i| if i == vertex { copy } else { i });
            }
        }
        // A hinge needs both of its triangles with the same vertices of the edge.
        let triangles: std::collections::HashSet<[u32; 3]> =
            model.triangles.iter().map(|t| sorted(*t)).collect();
        let whole = |h: [u32; 4]| {
            triangles.contains(&sorted([h[0], h[1], h[2]])) && triangles.contains(&sorted([h[0], h[1], h[3]]))
        };
        let mut hinges = Vec::with_capacity(model.hinges.len());
        for hinge in &model.hinges {
            let mut moved = *hinge;
            moved.renumber(|i| if i == vertex { copy } else { i });
            if whole(hinge.vertices) {
                hinges.push(*hinge);
            } else if whole(moved.vertices) {
                hinges.push(moved);
            }
        }
        model.hinges = hinges;
        keep_springs(&mut model, vertex, copy);
        let edges = model.edges();
        let edges: Vec<_> = edges.into_iter().filter(|e| e.contains(&vertex) || e.contains(&copy)).collect();
        let near: Vec<_> =
            model.triangles.iter().copied().filter(|t| t.contains(&vertex) || t.contains(&copy)).collect();
        if !intersections(&model.position, &edges, &model.triangles).is_empty()
            || !intersections(&model.position, &model.edges(), &near).is_empty()
        {
            return false;
        }
        let state = &mut self.state;
        let group = state.group[v];
        state.axis.push(false);
        state.group.push(group);
        state.target.push(here + place);
        state.model = model;
        // Triangles under pressure lose their gas where they tear.
        state.pressures.retain(|p| !p.triangles.iter().flatten().any(|&i| i == vertex));
        self.topology_changed();
        self.prepare();
        true
    }
}

/// Springs to the vertex go to the side to which an edge of the surface still leads, or vanish.
fn keep_springs(model: &mut Deformable, vertex: u32, copy: u32) {
    let edges: std::collections::HashSet<[u32; 2]> = model.edges().into_iter().collect();
    model.springs.retain_mut(|spring| {
        if !spring.vertices.contains(&vertex) {
            return true;
        }
        let key = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        if edges.contains(&key(spring.vertices)) {
            return true;
        }
        spring.renumber(|i| if i == vertex { copy } else { i });
        edges.contains(&key(spring.vertices))
    });
}

fn sorted(mut t: [u32; 3]) -> [u32; 3] {
    t.sort_unstable();
    t
}
