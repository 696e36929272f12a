//! Symmetric sparse matrices of 3 × 3 blocks, and low-rank couplings beside them.
//!
//! Rows are stored whole, both halves, so that y = A x runs over rows in parallel and each element of y is one sum in one
//! order. Contacts, attachments and pressure connect vertices that change from iteration to iteration; they are not entered
//! but kept as couplings Wᵀ C W with W x = Σ w_k x_k and C 3 × 3.

use glam::{DMat3, DVec3};

/// Blocks of a symmetric matrix, row by row.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockMatrix {
    pub start: Vec<u32>,
    pub column: Vec<u32>,
    pub value: Vec<DMat3>,
    pub diagonal: Vec<u32>,
}

impl BlockMatrix {
    /// Cliques of vertices ⇒ pattern with a block for each pair that shares a clique, all zero.
    pub fn new<'c>(rows: usize, cliques: impl Iterator<Item = &'c [u32]>) -> Self {
        let mut pairs: Vec<(u32, u32)> = (0..rows as u32).map(|i| (i, i)).collect();
        for clique in cliques {
            for &i in clique {
                pairs.extend(clique.iter().filter(|&&j| j != i).map(|&j| (i, j)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut start = vec![0_u32; rows + 1];
        for &(i, _) in &pairs {
            start[i as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        let column: Vec<u32> = pairs.iter().map(|p| p.1).collect();
        let value = vec![DMat3::ZERO; column.len()];
        let mut matrix = Self { start, column, value, diagonal: Vec::new() };
        matrix.diagonal = (0..rows as u32).map(|i| matrix.block(i, i)).collect();
        matrix
    }

    /// Index of block (i, j); `u32::MAX` if it is not in the pattern.
    pub fn block(&self, i: u32, j: u32) -> u32 {
        let (first, end) = (self.start[i as usize] as usize, self.start[i as usize + 1] as usize);
        self.column[first..end].binary_search(&j).map_or(u32::MAX, |k| (first + k) as u32)
    }

    /// Row i of A x.
    #[inline(always)]
    pub fn row(&self, i: usize, x: &[DVec3]) -> DVec3 {
        let range = self.start[i] as usize..self.start[i + 1] as usize;
        let mut sum = DVec3::ZERO;
        for (&j, a) in self.column[range.clone()].iter().zip(&self.value[range]) {
            sum += *a * x[j as usize];
        }
        sum
    }
}

/// Σ_c W_cᵀ C_c W_c, and the gradient that belongs to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Couplings {
    /// Entries of coupling c: `start[c]..start[c + 1]`.
    pub start: Vec<u32>,
    pub vertex: Vec<u32>,
    pub weight: Vec<f64>,
    pub matrix: Vec<DMat3>,
    /// Entries of vertex i, as (coupling, weight): `by_vertex_start[i]..`.
    pub by_vertex_start: Vec<u32>,
    pub by_vertex: Vec<(u32, f64)>,
}

impl Couplings {
    pub fn clear(&mut self) {
        self.start.clear();
        self.start.push(0);
        self.vertex.clear();
        self.weight.clear();
        self.matrix.clear();
    }

    pub fn len(&self) -> usize {
        self.matrix.len()
    }

    /// Adds one with its entries.
    pub fn push(&mut self, entries: impl Iterator<Item = (u32, f64)>, matrix: DMat3) {
        for (vertex, weight) in entries {
            self.vertex.push(vertex);
            self.weight.push(weight);
        }
        self.start.push(self.vertex.len() as u32);
        self.matrix.push(matrix);
    }

    /// Sorts the entries by vertex, in the order of couplings.
    pub fn index(&mut self, rows: usize) {
        self.by_vertex_start.clear();
        self.by_vertex_start.resize(rows + 1, 0);
        for &v in &self.vertex {
            self.by_vertex_start[v as usize + 1] += 1;
        }
        for i in 0..rows {
            self.by_vertex_start[i + 1] += self.by_vertex_start[i];
        }
        self.by_vertex.clear();
        self.by_vertex.resize(self.vertex.len(), (0, 0.0));
        let mut next = self.by_vertex_start.clone();
        for c in 0..self.len() {
            for k in self.start[c] as usize..self.start[c + 1] as usize {
                let place = &mut next[self.vertex[k] as usize];
                self.by_vertex[*place as usize] = (c as u32, self.weight[k]);
                *place += 1;
            }
        }
    }

    /// C_c W_c x
    #[inline]
    pub fn product(&self, c: usize, x: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for k in self.start[c] as usize..self.start[c + 1] as usize {
            sum += self.weight[k] * x[self.vertex[k] as usize];
        }
        self.matrix[c] * sum
    }

    /// Σ_c w_c s_c over the couplings of vertex i.
    #[inline]
    pub fn gather(&self, i: usize, s: &[DVec3]) -> DVec3 {
        let range = self.by_vertex_start[i] as usize..self.by_vertex_start[i + 1] as usize;
        self.by_vertex[range].iter().fold(DVec3::ZERO, |sum, &(c, w)| sum + w * s[c as usize])
    }

    /// Their part of diagonal block i.
    pub fn diagonal(&self, i: usize) -> DMat3 {
        let range = self.by_vertex_start[i] as usize..self.by_vertex_start[i + 1] as usize;
        self.by_vertex[range].iter().fold(DMat3::ZERO, |sum, &(c, w)| sum + self.matrix[c as usize] * (w * w))
    }
}
