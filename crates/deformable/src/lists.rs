//! All elements of a system, list by list.

use glam::{DMat3, DVec3};

use crate::Deformable;
use crate::assembly::{self, Plan};
use crate::element::{Affine, Altitude, Curvature, Element, Hinge, Membrane, RodBend, Spring, Tetrahedron};
use crate::matrix::BlockMatrix;

/// Elements as a step uses them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    springs: Vec<Spring>,
    altitudes: Vec<Altitude>,
    membranes: Vec<Membrane>,
    hinges: Vec<Hinge>,
    rods: Vec<RodBend>,
    tetrahedra: Vec<Tetrahedron>,
    affines: Vec<Affine>,
    partial: Vec<f64>,
}

/// Plans of the lists, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plans([Plan; 7]);

/// Runs a statement for every list, with its plan.
macro_rules! every {
    ($lists:expr, $plans:expr, |$items:ident, $plan:ident| $work:expr) => {{
        let lists = $lists;
        let plans = &$plans.0;
        {
            let ($items, $plan) = (&lists.springs, &plans[0]);
            $work
        }
        {
            let ($items, $plan) = (&lists.altitudes, &plans[1]);
            $work
        }
        {
            let ($items, $plan) = (&lists.membranes, &plans[2]);
            $work
        }
        {
            let ($items, $plan) = (&lists.hinges, &plans[3]);
            $work
        }
        {
            let ($items, $plan) = (&lists.rods, &plans[4]);
            $work
        }
        {
            let ($items, $plan) = (&lists.tetrahedra, &plans[5]);
            $work
        }
        {
            let ($items, $plan) = (&lists.affines, &plans[6]);
            $work
        }
    }};
}

impl Lists {
    /// The elements of a model over a step of length h from x₀; without damping if h is zero.
    pub fn load(&mut self, model: &Deformable, affines: &[Affine], x0: &[DVec3], h: f64) {
        copy(&mut self.springs, &model.springs, x0, h);
        copy(&mut self.altitudes, &model.altitudes, x0, h);
        copy(&mut self.membranes, &model.membranes, x0, h);
        copy(&mut self.hinges, &model.hinges, x0, h);
        copy(&mut self.rods, &model.rods, x0, h);
        copy(&mut self.tetrahedra, &model.tetrahedra, x0, h);
        copy(&mut self.affines, affines, x0, h);
    }

    /// Pattern of the matrix.
    pub fn matrix(&self, rows: usize) -> BlockMatrix {
        let mut all: Vec<u32> = Vec::new();
        let mut ends = Vec::new();
        every!(self, Plans::default(), |items, _plan| {
            for item in items {
                all.extend(item.vertices());
                ends.push(all.len());
            }
        });
        let starts = std::iter::once(0).chain(ends.iter().copied());
        BlockMatrix::new(rows, starts.zip(&ends).map(|(a, &b)| &all[a..b]))
    }

    /// How to add them up.
    pub fn plans(&self, rows: usize, matrix: &BlockMatrix) -> Plans {
        Plans([
            Plan::new(&self.springs, rows, matrix),
            Plan::new(&self.altitudes, rows, matrix),
            Plan::new(&self.membranes, rows, matrix),
            Plan::new(&self.hinges, rows, matrix),
            Plan::new(&self.rods, rows, matrix),
            Plan::new(&self.tetrahedra, rows, matrix),
            Plan::new(&self.affines, rows, matrix),
        ])
    }

    /// Adds gradients and second derivatives, times a factor.
    pub fn assemble(
        &self,
        plans: &Plans,
        threads: usize,
        x: &[DVec3],
        factor: (f64, Curvature),
        gradient: &mut [DVec3],
        matrix: &mut [DMat3],
    ) {
        every!(self, plans, |items, plan| plan.assemble(threads, items, x, factor, gradient, matrix));
    }

    /// Σ E, J.
    pub fn energy(&mut self, threads: usize, x: &[DVec3]) -> f64 {
        let mut partial = std::mem::take(&mut self.partial);
        let mut sum = 0.0;
        every!(&*self, Plans::default(), |items, _plan| {
            sum += assembly::energy(threads, items, x, &mut partial);
        });
        self.partial = partial;
        sum
    }

    /// Adds damping matrices, times a factor.
    pub fn damping_matrix(&self, plans: &Plans, x: &[DVec3], scale: f64, matrix: &mut [DMat3]) {
        every!(self, plans, |items, plan| plan.damping_matrix(items, x, scale, matrix));
    }
}

/// The elements of one list over a step.
fn copy<E: Element<N>, const N: usize>(to: &mut Vec<E>, from: &[E], x0: &[DVec3], h: f64) {
    to.clear();
    to.extend(from.iter().map(|item| {
        if h > 0.0 { item.damped(&item.vertices().map(|v| x0[v as usize]), h) } else { item.clone() }
    }));
}
