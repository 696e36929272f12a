//! The mass matrix by the composite-rigid-body algorithm, and its factorisation along the tree.
//!
//! H_ij = s_i·I_C s_j with I_C the inertia of the subtree beyond the outer of both axes, taken rigid. An entry is other than zero only where
//! one axis is an ancestor of the other, so row i holds the axes from i down to the base and nothing else. With F = I_C s_i and all s_j
//! about one common point (the origin of the tree's base), H_ij = s_j·F.
//!
//! Factorising H = Lᵀ D L from the tips to the base fills in nothing (Featherstone 2008, §6.5): for k from the last, for each ancestor i of k,
//! a = H_ki/H_kk, row i loses a times the rest of row k, and H_ki becomes L_ki = a. Row i is the tail of row k's list of ancestors: all of it
//! is done on contiguous numbers.

use super::DynamicsError;
use super::kinematics::{Workspace, place};
use super::scalar::Scalar;
use super::spatial::{RigidInertia, SpatialMotion};
use super::tree::{LinkTree, ROOT};

/// Symmetric positive definite matrix over the joint velocities of a tree: entries between an axis and its ancestors only.
#[derive(Clone, Debug)]
pub struct MassMatrix<T> {
    /// Next axis towards the base; `ROOT` for none.
    parent: Vec<u32>,
    /// Where a row begins; one more than there are rows.
    start: Vec<u32>,
    /// Row by row, from the diagonal towards the base.
    values: Vec<T>,
    /// Columns of S about the origin of the base.
    columns: Vec<SpatialMotion<T>>,
    /// Inertias of subtrees.
    composite: Vec<RigidInertia<T>>,
    factorized: bool,
}

impl<T: Scalar> MassMatrix<T> {
    /// Memory for a tree.
    pub fn new(tree: &LinkTree) -> Self {
        let mut last_of_link: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        let (mut parent, mut start) = (Vec::with_capacity(tree.velocity_count()), vec![0]);
        let mut depth: Vec<u32> = Vec::with_capacity(tree.velocity_count());
        for node in &tree.nodes {
            let mut last = if node.parent == ROOT { ROOT } else { last_of_link[node.parent as usize] };
            for k in node.velocity..node.velocity + node.velocity_count {
                parent.push(last);
                let own = if last == ROOT { 1 } else { depth[last as usize] + 1 };
                depth.push(own);
                start.push(start[k as usize] + own);
                last = k;
            }
            last_of_link.push(last);
        }
        let count = start.last().copied().unwrap_or(0) as usize;
        Self {
            values: vec![T::default(); count],
            columns: vec![SpatialMotion::default(); parent.len()],
            composite: vec![RigidInertia::default(); tree.nodes.len()],
            parent,
            start,
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
        for (index, node) in tree.nodes.iter().enumerate() {
            place(tree, index, node, q, links, axes);
            // About the origin of the base: the origin of each link less that of the link at the bottom of its branch.
            let base =
                if node.parent == ROOT { links[index].origin } else { links[node.parent as usize].base };
            links[index].base = base;
            let arm = links[index].origin - base;
            self.composite[index] = node.world_inertia(&links[index].rotation).shifted_by(arm);
            for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
                self.columns[k] = axes[k].s.at(-arm);
            }
        }
        for (index, node) in tree.nodes.iter().enumerate().rev() {
            if node.parent != ROOT {
                let own = self.composite[index];
                self.composite[node.parent as usize] += own;
            }
            let inertia = &self.composite[index];
            for k in node.velocity as usize..(node.velocity + node.velocity_count) as usize {
                let momentum = inertia.apply(self.columns[k]);
                let row = &mut self.values[self.start[k] as usize..self.start[k + 1] as usize];
                let mut j = k;
                for value in row.iter_mut() {
                    *value = self.columns[j].power(momentum);
                    j = self.parent[j] as usize;
                }
                row[0] += T::splat(node.armature);
            }
        }
        self.factorized = false;
        Ok(())
    }

    /// Axis ⇒ next one towards the base, `ROOT` for none.
    pub(super) fn parents(&self) -> &[u32] {
        &self.parent
    }

    /// Row of an axis, from the diagonal towards the base, for algorithms that find its entries themselves.
    pub(super) fn row_mut(&mut self, k: usize) -> &mut [T] {
        self.factorized = false;
        &mut self.values[self.start[k] as usize..self.start[k + 1] as usize]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Writes the whole matrix, row by row, zeros included; of one that was factorised, its factors.
    pub fn write_dense(&self, dense: &mut [T]) {
        let n = self.len();
        dense.fill(T::default());
        for k in 0..n {
            let mut j = k;
            for value in &self.values[self.start[k] as usize..self.start[k + 1] as usize] {
                dense[k * n + j] = *value;
                dense[j * n + k] = *value;
                j = self.parent[j] as usize;
            }
        }
    }

    /// y = H x; before it was factorised.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        y.fill(T::default());
        for k in 0..self.len() {
            let row = &self.values[self.start[k] as usize..self.start[k + 1] as usize];
            y[k] += row[0] * x[k];
            let mut j = self.parent[k] as usize;
            for value in &row[1..] {
                y[k] += *value * x[j];
                y[j] += *value * x[k];
                j = self.parent[j] as usize;
            }
        }
    }

    /// H ⇒ Lᵀ D L in place.
    ///
    /// # Errors
    /// [`DynamicsError::NotPositive`] if a pivot is not above 0.
    pub fn factorize(&mut self) -> Result<(), DynamicsError> {
        for k in (0..self.len()).rev() {
            let (before, from) = self.values.split_at_mut(self.start[k] as usize);
            let row = &mut from[..(self.start[k + 1] - self.start[k]) as usize];
            if !row[0].is_positive() {
                return Err(DynamicsError::NotPositive { axis: k });
            }
            let inverse = T::splat(1.0) / row[0];
            let mut i = self.parent[k] as usize;
            for p in 1..row.len() {
                let a = row[p] * inverse;
                let own = &mut before[self.start[i] as usize..self.start[i + 1] as usize];
                for (own, other) in own.iter_mut().zip(&row[p..]) {
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
            let row = &self.values[self.start[k] as usize..self.start[k + 1] as usize];
            let mut j = self.parent[k] as usize;
            for value in &row[1..] {
                let own = x[k];
                x[j] -= *value * own;
                j = self.parent[j] as usize;
            }
        }
        for k in 0..self.len() {
            let row = &self.values[self.start[k] as usize..self.start[k + 1] as usize];
            x[k] = x[k] / row[0];
            let mut j = self.parent[k] as usize;
            for value in &row[1..] {
                let other = x[j];
                x[k] -= *value * other;
                j = self.parent[j] as usize;
            }
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
            let row = &self.values[self.start[k] as usize..self.start[k + 1] as usize];
            let (before, from) = x.split_at_mut(k * width);
            let mut j = self.parent[k] as usize;
            for value in &row[1..] {
                subtract(&mut before[j * width..][..width], &from[..width], *value);
                j = self.parent[j] as usize;
            }
        }
        for k in 0..self.len() {
            let row = &self.values[self.start[k] as usize..self.start[k + 1] as usize];
            let (before, from) = x.split_at_mut(k * width);
            let own = &mut from[..width];
            let inverse = T::splat(1.0) / row[0];
            for value in own.iter_mut() {
                *value = *value * inverse;
            }
            let mut j = self.parent[k] as usize;
            for value in &row[1..] {
                subtract(own, &before[j * width..][..width], *value);
                j = self.parent[j] as usize;
            }
        }
        Ok(())
    }
}
