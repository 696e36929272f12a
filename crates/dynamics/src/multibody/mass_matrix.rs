//! The mass matrix by the composite-rigid-body algorithm, and its factorisation along the tree.
//!
//! H_ij = s_i·I_C s_j with I_C the inertia of the subtree beyond the outer of both axes, taken rigid. An entry is other than zero only where
//! one axis is an ancestor of the other, so row i holds the axes from the base to i and nothing else. With F = I_C s_i and all s_j
//! about one common point (the origin of the tree's base), H_ij = s_j·F. Along a branch axes have consecutive numbers: a row is a few runs of
//! consecutive columns, and each run six products of contiguous numbers.
//!
//! Factorising H = Lᵀ D L from the tips to the base fills in nothing (Featherstone 2008, §6.5): for k from the last, for each ancestor i of k,
//! a = H_ki/H_kk, row i loses a times the beginning of row k, and H_ki becomes L_ki = a. Row i is the beginning of row k's list of ancestors: all of it
//! is done on contiguous numbers.

use super::DynamicsError;
use super::kinematics::{Workspace, place, turn_all};
use super::scalar::Scalar;
use super::spatial::{RigidInertia, SpatialForce, SpatialMotion};
use super::tree::{LinkTree, ROOT};

/// Consecutive axes of a row.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    count: u32,
}

/// Symmetric positive definite matrix over the joint velocities of a tree: entries between an axis and its ancestors only.
#[derive(Clone, Debug)]
pub struct MassMatrix<T> {
    /// Next axis towards the base; `ROOT` for none.
    parent: Vec<u32>,
    /// Where a row begins; one more than there are rows.
    start: Vec<usize>,
    /// Runs of the rows, and where those of a row begin; one more than there are rows.
    runs: Vec<Run>,
    run_start: Vec<u32>,
    /// Row by row, from the base to the diagonal.
    values: Vec<T>,
    /// Columns of S about the origin of the base, component by component: angular x, y, z, linear x, y, z.
    columns: [Vec<T>; 6],
    /// Inertias of subtrees.
    composite: Vec<RigidInertia<T>>,
    factorized: bool,
}

impl<T: Scalar> MassMatrix<T> {
    /// Memory for a tree.
    pub fn new(tree: &LinkTree) -> Self {
        let n = tree.velocity_count();
        let mut last_of_link: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        let (mut parent, mut start) = (Vec::with_capacity(n), vec![0]);
        let (mut runs, mut run_start): (Vec<Run>, Vec<u32>) = (Vec::new(), vec![0]);
        let mut depth: Vec<usize> = Vec::with_capacity(n);
        for node in &tree.nodes {
            let mut last = if node.parent == ROOT { ROOT } else { last_of_link[node.parent as usize] };
            for k in node.velocity..node.velocity + node.velocity_count {
                parent.push(last);
                let own = if last == ROOT { 1 } else { depth[last as usize] + 1 };
                depth.push(own);
                start.push(start[k as usize] + own);
                // The runs of the axis before, longer by one if the numbers go on.
                if last != ROOT {
                    let before = run_start[last as usize] as usize..run_start[last as usize + 1] as usize;
                    runs.extend_from_within(before);
                }
                match runs.last_mut() {
                    Some(run) if last != ROOT && last + 1 == k => run.count += 1,
                    _ => runs.push(Run { first: k, count: 1 }),
                }
                run_start.push(runs.len() as u32);
                last = k;
            }
            last_of_link.push(last);
        }
        let count = start.last().copied().unwrap_or(0);
        Self {
            values: vec![T::default(); count],
            columns: std::array::from_fn(|_| vec![T::default(); n]),
            composite: vec![RigidInertia::default(); tree.nodes.len()],
            parent,
            start,
            runs,
            run_start,
            factorized: false,
        }
    }

    /// Positions ⇒ the mass matrix.
    ///
    /// # Errors
    /// Positions or a workspace of another length than the tree's.
    pub fn compute(
        &mut self,
        tree: &LinkTree,
        work: &mut Workspace<T>,
        q: &[T],
    ) -> Result<(), DynamicsError> {
        super::check_length("positions", q.len(), tree.position_count())?;
        super::check_length("links of the workspace", work.links.len(), tree.nodes.len())?;
        super::check_length("rows of the mass matrix", self.parent.len(), tree.velocity_count())?;
        let Workspace { links, axes } = work;
        turn_all(tree, q, axes);
        for (index, node) in tree.nodes.iter().enumerate() {
            place(tree, index, node, q, links, axes);
            // About the origin of the base: the origin of each link less that of the link at the bottom of its branch.
            let base =
                if node.parent == ROOT { links[index].origin } else { links[node.parent as usize].base };
            links[index].base = base;
            let arm = links[index].origin - base;
            self.composite[index] = node.inertia_about(&links[index].rotation, arm);
            for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
                let SpatialMotion { angular, linear } = axes[k].s.at(-arm);
                let parts = [angular.x, angular.y, angular.z, linear.x, linear.y, linear.z];
                for (column, part) in self.columns.iter_mut().zip(parts) {
                    column[k] = part;
                }
            }
        }
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            let inertia = self.composite[index];
            if node.parent != ROOT {
                self.composite[node.parent as usize] += inertia;
            }
            for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
                let momentum = inertia.apply(self.column(k));
                self.write_row(k, momentum);
                self.values[self.start[k + 1] - 1] += T::splat(node.armature);
            }
        }
        self.factorized = false;
        Ok(())
    }

    #[inline(always)]
    fn column(&self, k: usize) -> SpatialMotion<T> {
        let [ax, ay, az, lx, ly, lz] = &self.columns;
        SpatialMotion {
            angular: super::Vector::new(ax[k], ay[k], az[k]),
            linear: super::Vector::new(lx[k], ly[k], lz[k]),
        }
    }

    /// H_kj = s_j·F for all ancestors j of k and itself.
    #[inline(always)]
    fn write_row(&mut self, k: usize, SpatialForce { torque, force }: SpatialForce<T>) {
        let mut row = &mut self.values[self.start[k]..self.start[k + 1]];
        for run in &self.runs[self.run_start[k] as usize..self.run_start[k + 1] as usize] {
            let (first, count) = (run.first as usize, run.count as usize);
            let (own, rest) = row.split_at_mut(count);
            let [ax, ay, az, lx, ly, lz] = &self.columns;
            let (ax, ay, az) = (&ax[first..][..count], &ay[first..][..count], &az[first..][..count]);
            let (lx, ly, lz) = (&lx[first..][..count], &ly[first..][..count], &lz[first..][..count]);
            for j in 0..count {
                own[j] = (ax[j] * torque.x + ay[j] * torque.y + az[j] * torque.z)
                    + (lx[j] * force.x + ly[j] * force.y + lz[j] * force.z);
            }
            row = rest;
        }
    }

    /// Axis ⇒ next one towards the base, `ROOT` for none.
    pub(super) fn parents(&self) -> &[u32] {
        &self.parent
    }

    /// Row of an axis, from the base to the diagonal, for algorithms that find its entries themselves.
    pub(super) fn row_mut(&mut self, k: usize) -> &mut [T] {
        self.factorized = false;
        &mut self.values[self.start[k]..self.start[k + 1]]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Axis ⇒ its diagonal entry and those of its ancestors, from the nearest to the base, with their axes.
    fn entries(&self, k: usize) -> (T, impl Iterator<Item = (usize, T)> + '_) {
        let row = &self.values[self.start[k]..self.start[k + 1]];
        let (diagonal, others) = (row[row.len() - 1], &row[..row.len() - 1]);
        let mut j = self.parent[k] as usize;
        let step = move |value: &T| {
            let axis = j;
            j = self.parent[j] as usize;
            (axis, *value)
        };
        (diagonal, others.iter().rev().map(step))
    }

    /// Writes the whole matrix, row by row, zeros included; of one that was factorised, its factors.
    pub fn write_dense(&self, dense: &mut [T]) {
        let n = self.len();
        dense.fill(T::default());
        for k in 0..n {
            let (diagonal, others) = self.entries(k);
            dense[k * n + k] = diagonal;
            for (j, value) in others {
                dense[k * n + j] = value;
                dense[j * n + k] = value;
            }
        }
    }

    /// y = H x; before it was factorised.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        y.fill(T::default());
        for k in 0..self.len() {
            let (diagonal, others) = self.entries(k);
            y[k] += diagonal * x[k];
            for (j, value) in others {
                y[k] += value * x[j];
                y[j] += value * x[k];
            }
        }
    }

    /// H ⇒ Lᵀ D L in place.
    ///
    /// # Errors
    /// [`DynamicsError::NotPositive`] if a pivot is not above 0.
    pub fn factorize(&mut self) -> Result<(), DynamicsError> {
        for k in (0..self.len()).rev() {
            let (before, from) = self.values.split_at_mut(self.start[k]);
            let row = &mut from[..self.start[k + 1] - self.start[k]];
            let last = row.len() - 1;
            if !row[last].is_positive() {
                return Err(DynamicsError::NotPositive { axis: k });
            }
            let inverse = T::splat(1.0) / row[last];
            let mut i = self.parent[k] as usize;
            for p in (0..last).rev() {
                let a = row[p] * inverse;
                let own = &mut before[self.start[i]..self.start[i + 1]];
                for (own, other) in own.iter_mut().zip(&row[..=p]) {
                    *own -= a * *other;
                }
                row[p] = a;
                i = self.parent[i] as usize;
            }
        }
        self.factorized = true;
        Ok(())
    }

    /// x ⇒ H⁻¹ x in place; factorises first if that was not done.
    ///
    /// # Errors
    /// As [`factorize`](Self::factorize).
    pub fn solve(&mut self, x: &mut [T]) -> Result<(), DynamicsError> {
        super::check_length("right-hand side", x.len(), self.len())?;
        if !self.factorized {
            self.factorize()?;
        }
        for k in (0..self.len()).rev() {
            let own = x[k];
            for (j, value) in self.entries(k).1 {
                x[j] -= value * own;
            }
        }
        for k in 0..self.len() {
            let (diagonal, others) = self.entries(k);
            let mut own = x[k] / diagonal;
            for (j, value) in others {
                own -= value * x[j];
            }
            x[k] = own;
        }
        Ok(())
    }

    /// X ⇒ H⁻¹ X in place, X row by row with a row for each velocity: all right-hand sides at once, on contiguous numbers.
    ///
    /// # Errors
    /// As [`factorize`](Self::factorize).
    pub fn solve_rows(&mut self, x: &mut [T], width: usize) -> Result<(), DynamicsError> {
        super::check_length("right-hand sides", x.len(), self.len() * width)?;
        if !self.factorized {
            self.factorize()?;
        }
        let subtract = |own: &mut [T], other: &[T], factor: T| {
            for (own, other) in own.iter_mut().zip(other) {
                *own -= factor * *other;
            }
        };
        for k in (0..self.len()).rev() {
            let (before, from) = x.split_at_mut(k * width);
            for (j, value) in self.entries(k).1 {
                subtract(&mut before[j * width..][..width], &from[..width], value);
            }
        }
        for k in 0..self.len() {
            let (diagonal, others) = self.entries(k);
            let (before, from) = x.split_at_mut(k * width);
            let own = &mut from[..width];
            let inverse = T::splat(1.0) / diagonal;
            for value in own.iter_mut() {
                *value = *value * inverse;
            }
            for (j, value) in others {
                subtract(own, &before[j * width..][..width], value);
            }
        }
        Ok(())
    }
}
