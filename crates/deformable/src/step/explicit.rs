//! Explicit methods, and the sum of forces. They know no contact; the largest stable step is below 2/ω of the stiffest element.

use glam::DVec3;

use super::{Method, StepReport};
use crate::assembly;
use crate::element::Element;
use crate::forces::Anchor;
use crate::system::State;
use crate::{DeformableError, DeformableSystem};

/// Forces that act on vertices whatever the elements: gravity, air as a force, attachments, pressure.
pub(super) fn outer_forces(system: &DeformableSystem, x: &[DVec3], v: &[DVec3], force: &mut [DVec3]) {
    let state = &system.state;
    for (i, f) in force.iter_mut().enumerate() {
        *f = if state.axis[i] { DVec3::ZERO } else { state.model.mass[i] * state.settings.gravity };
    }
    if let Some(air) = &state.air {
        for &t in &state.model.triangles {
            let (drag, lift) = air.on_triangle(t.map(|i| x[i as usize]), t.map(|i| v[i as usize]));
            for i in t {
                force[i as usize] += (lift - drag * (v[i as usize] - air.velocity)) / 3.0;
            }
        }
    }
    elastic_outer_forces(system, x, force);
}

/// Attachments and pressure: added to forces.
pub(super) fn elastic_outer_forces(system: &DeformableSystem, x: &[DVec3], force: &mut [DVec3]) {
    let state = &system.state;
    for a in &state.attachments {
        let f = a.stiffness * (system.anchor(a, x) - x[a.vertex as usize]);
        force[a.vertex as usize] += f;
        match a.anchor {
            Anchor::Point(_) => {}
            Anchor::Vertex(v) => force[v as usize] -= f,
            Anchor::Body(index, local) => {
                let first = state.bodies[index as usize].first as usize;
                force[first] -= f;
                for (k, c) in local.to_array().into_iter().enumerate() {
                    force[first + 1 + k] -= c * f;
                }
            }
        }
    }
    for p in &state.pressures {
        p.gradient(x, -1.0, force);
    }
}

impl DeformableSystem {
    pub(super) fn forces(&self, x: &[DVec3], v: &[DVec3], force: &mut [DVec3]) {
        outer_forces(self, x, v, force);
        let model = &self.state.model;
        pull(&model.springs, x, force);
        pull(&model.altitudes, x, force);
        pull(&model.membranes, x, force);
        pull(&model.hinges, x, force);
        pull(&model.rods, x, force);
        pull(&model.tetrahedra, x, force);
        pull(&self.state.affines, x, force);
        assembly::damp(&model.springs, x, v, force);
        assembly::damp(&model.altitudes, x, v, force);
        assembly::damp(&model.membranes, x, v, force);
        assembly::damp(&model.hinges, x, v, force);
        assembly::damp(&model.rods, x, v, force);
    }

    pub(super) fn choose_altitudes(state: &mut State) {
        let model = &mut state.model;
        for altitude in &mut model.altitudes {
            let x = altitude.vertices.map(|v| model.position[v as usize]);
            altitude.choose(&x, 0.01);
        }
    }

    pub(super) fn explicit_step(&mut self, h: f64) -> Result<StepReport, DeformableError> {
        Self::choose_altitudes(&mut self.state);
        let n = self.state.model.len();
        let (mut x, mut v) = (self.state.model.position.clone(), self.state.model.velocity.clone());
        let mut force = vec![DVec3::ZERO; n];
        self.forces(&x, &v, &mut force);
        let (model, target) = (&self.state.model, &self.state.target);
        let acceleration = |force: &[DVec3], i: usize| force[i] / model.mass[i];
        match self.state.settings.method {
            Method::ExplicitEuler => {
                for i in 0..n {
                    x[i] += h * v[i];
                    v[i] += h * acceleration(&force, i);
                }
            }
            Method::VelocityVerlet => {
                let first: Vec<DVec3> = (0..n).map(|i| acceleration(&force, i)).collect();
                for i in 0..n {
                    x[i] += h * v[i] + 0.5 * h * h * first[i];
                    v[i] += h * first[i];
                }
                place_pinned(model, target, h, &mut x, &mut v);
                self.forces(&x, &v, &mut force);
                for i in 0..n {
                    v[i] = model.velocity[i] + 0.5 * h * (first[i] + acceleration(&force, i));
                }
            }
            _ => {
                for i in 0..n {
                    v[i] += h * acceleration(&force, i);
                    x[i] += h * v[i];
                }
            }
        }
        place_pinned(model, target, h, &mut x, &mut v);
        self.accept(&x, &v)?;
        Ok(StepReport {
            converged: true,
            targets_reached: true,
            smallest_distance: f64::INFINITY,
            ..StepReport::default()
        })
    }
}

/// Moves pinned vertices to their targets.
pub(super) fn place_pinned(
    model: &crate::Deformable,
    target: &[DVec3],
    h: f64,
    x: &mut [DVec3],
    v: &mut [DVec3],
) {
    for i in 0..x.len() {
        if model.pinned[i] {
            x[i] = target[i];
            v[i] = (target[i] - model.position[i]) / h;
        }
    }
}

/// Adds the forces of a list.
fn pull<E: Element<N>, const N: usize>(items: &[E], x: &[DVec3], force: &mut [DVec3]) {
    for item in items {
        let at = item.vertices();
        for (v, g) in at.into_iter().zip(item.gradient(&at.map(|v| x[v as usize]))) {
            force[v as usize] -= g;
        }
    }
}
