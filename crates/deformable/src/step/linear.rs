//! Implicit Euler, linearised at the start of the step.
//!
//! With K = ∂f/∂x and D = ∂f/∂v: (M − h D − h² K) Δv = h (f + h K v), v' = v + Δv, x' = x + h v'. The position derivative of damping
//! forces is left out. Without the clamp on compressed springs K may make the matrix indefinite; the solve is then repeated with it.

use glam::{DMat3, DVec3};

use super::StepReport;
use super::explicit::place_pinned;
use crate::conjugate_gradients::Operator;
use crate::element::Curvature;
use crate::matrix::Couplings;
use crate::{DeformableError, DeformableSystem};

impl DeformableSystem {
    pub(super) fn linear_step(&mut self, h: f64) -> Result<StepReport, DeformableError> {
        Self::choose_altitudes(&mut self.state);
        let settings = self.state.settings;
        let n = self.state.model.len();
        let mut force = vec![DVec3::ZERO; n];
        self.forces(&self.state.model.position, &self.state.model.velocity, &mut force);
        let work = &mut self.work;
        let (model, target) = (&self.state.model, &self.state.target);
        let x = &model.position;
        work.lists.load(model, &self.state.affines, x, 0.0);
        let clamp = if settings.compression_clamp { Curvature::Projected } else { Curvature::Exact };
        let mut report =
            StepReport { targets_reached: true, smallest_distance: f64::INFINITY, ..StepReport::default() };
        // Pinned vertices have the velocity that takes them to their targets.
        let given: Vec<DVec3> = (0..n)
            .map(|i| if model.pinned[i] { (target[i] - x[i]) / h } else { model.velocity[i] })
            .collect();
        let mut couplings = Couplings::default();
        super::newton::attachment_couplings(&self.state, h * h, &mut couplings);
        couplings.index(n);
        let no_couplings = {
            let mut none = Couplings::default();
            none.clear();
            none.index(n);
            none
        };
        let (mut change, mut solve);
        let mut curvature = clamp;
        loop {
            work.gradient.clear();
            work.gradient.resize(n, DVec3::ZERO);
            work.matrix.value.fill(DMat3::ZERO);
            // −h² K first, for its product with v.
            let matrix = &mut work.matrix.value;
            work.lists.assemble(
                &work.plans,
                settings.threads,
                x,
                (h * h, curvature),
                &mut work.gradient,
                matrix,
            );
            let right: Vec<DVec3> = (0..n)
                .map(|i| {
                    let stiff = work.matrix.row(i, &given) + attachment_row(&couplings, i, &given);
                    h * force[i] - stiff
                })
                .collect();
            work.lists.damping_matrix(&work.plans, x, h, &mut work.matrix.value);
            for i in 0..n {
                let diagonal = work.matrix.diagonal[i] as usize;
                work.matrix.value[diagonal] += DMat3::from_diagonal(DVec3::splat(model.mass[i]));
            }
            change = vec![DVec3::ZERO; n];
            let operator = Operator {
                matrix: &work.matrix,
                couplings: if couplings.len() > 0 { &couplings } else { &no_couplings },
                fixed: &model.pinned,
                rank_one: &[],
            };
            let limit = (3 * n).max(100);
            let tolerance = settings.linear_tolerance.min(1e-8);
            solve = work.solver.solve(settings.threads, &operator, &right, &mut change, tolerance, limit);
            report.linear_iterations += solve.iterations;
            report.iterations += 1;
            if !solve.indefinite {
                break;
            }
            if curvature == Curvature::Projected {
                return Err(DeformableError::IndefiniteMatrix);
            }
            (curvature, report.clamped) = (Curvature::Projected, true);
        }
        report.converged = solve.converged;
        report.residual = solve.residual;
        let mut v: Vec<DVec3> = given.iter().zip(&change).map(|(v, dv)| *v + *dv).collect();
        let mut x: Vec<DVec3> = x.iter().zip(&v).map(|(x, v)| *x + h * *v).collect();
        place_pinned(model, target, h, &mut x, &mut v);
        self.accept(&x, &v)?;
        Ok(report)
    }
}

/// Row i of the attachments' matrix times v.
fn attachment_row(couplings: &Couplings, i: usize, v: &[DVec3]) -> DVec3 {
    let range = couplings.by_vertex_start[i] as usize..couplings.by_vertex_start[i + 1] as usize;
    couplings.by_vertex[range]
        .iter()
        .fold(DVec3::ZERO, |sum, &(c, w)| sum + w * couplings.product(c as usize, v))
}
