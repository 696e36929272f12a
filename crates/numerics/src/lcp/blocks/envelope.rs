//! Cholesky factorisation of a sparse symmetric matrix of 6×6 blocks inside its envelope.
//!
//! Blocks are ordered so that neighbours are near each other (reverse Cuthill–McKee); row i of the lower
//! triangle then reaches back to its first neighbour only, and so does row i of the factor. H = L Lᵀ is found
//! row by row, L_ij = (H_ij − Σ_k L_ik L_jk)/L_jj, sums of products of stretches that lie side by side in
//! memory.

use super::problem::Block;
use crate::lcp::matrix::dot;
use glam::DVec3;

/// H, then L.
#[derive(Clone, Debug, Default)]
pub(super) struct Envelope {
    /// Place of each block in the order.
    place: Vec<usize>,
    /// First column of each scalar row.
    first: Vec<usize>,
    /// Where each scalar row begins in `entries`.
    start: Vec<usize>,
    entries: Vec<f64>,
}

impl Envelope {
    /// (number of blocks, pairs that are coupled) ⇒ room for the matrix, all zero.
    pub fn arrange(&mut self, blocks: usize, pairs: &[[usize; 2]]) {
        self.place = cuthill_mckee(blocks, pairs);
        let mut first: Vec<usize> = (0..blocks).collect();
        for [a, b] in pairs {
            let (a, b) = (self.place[*a], self.place[*b]);
            let (low, high) = (a.min(b), a.max(b));
            first[high] = first[high].min(low);
        }
        self.first.clear();
        self.start.clear();
        let mut total = 0;
        for row in 0..6 * blocks {
            self.first.push(6 * first[row / 6]);
            self.start.push(total);
            total += row + 1 - 6 * first[row / 6];
        }
        self.entries.clear();
        self.entries.resize(total, 0.0);
    }

    /// All entries are zero again.
    pub fn clear(&mut self) {
        self.entries.fill(0.0);
    }

    /// Whether block a comes after block b in the order.
    pub fn is_after(&self, a: usize, b: usize) -> bool {
        self.place[a] > self.place[b]
    }

    /// H_ab += block, for a after b; of H_aa, which has to be symmetric, the lower triangle is taken. The
    /// rest is its mirror image.
    #[inline]
    pub fn add_block(&mut self, a: usize, b: usize, block: &[[f64; 6]; 6]) {
        let (row, column) = (6 * self.place[a], 6 * self.place[b]);
        debug_assert!(column <= row);
        for (i, line) in block.iter().enumerate() {
            let from = self.start[row + i] + column - self.first[row + i];
            let count = if row == column { i + 1 } else { 6 };
            for (entry, value) in self.entries[from..from + count].iter_mut().zip(line) {
                *entry += value;
            }
        }
    }

    /// H += ρ J Jᵀ for one row J between at most two blocks.
    pub fn add_square(&mut self, blocks: &[Option<usize>; 2], rows: &[[DVec3; 2]; 2], rho: f64) {
        let flat = rows.map(|[v, w]| [v.x, v.y, v.z, w.x, w.y, w.z]);
        let product = |x: &[f64; 6], y: &[f64; 6]| x.map(|x| y.map(|y| rho * x * y));
        for (side, block) in blocks.iter().enumerate() {
            if let Some(block) = block {
                self.add_block(*block, *block, &product(&flat[side], &flat[side]));
            }
        }
        if let [Some(a), Some(b)] = blocks {
            if self.is_after(*a, *b) {
                self.add_block(*a, *b, &product(&flat[0], &flat[1]));
            } else {
                self.add_block(*b, *a, &product(&flat[1], &flat[0]));
            }
        }
    }

    /// H += M, block by block.
    pub fn add_masses(&mut self, blocks: &[Block]) {
        for (index, block) in blocks.iter().enumerate() {
            let mut mass = [[0.0; 6]; 6];
            for part in 0..2 {
                for i in 0..3 {
                    for j in 0..3 {
                        mass[3 * part + i][3 * part + j] = block.mass[part].col(j)[i];
                    }
                }
            }
            self.add_block(index, index, &mass);
        }
    }

    /// H ⇒ L; false if H is not positive definite to working precision.
    pub fn factor(&mut self) -> bool {
        for row in 0..self.first.len() {
            let (head, tail) = self.entries.split_at_mut(self.start[row]);
            let own = &mut tail[..=row - self.first[row]];
            for column in self.first[row]..row {
                let from = self.first[row].max(self.first[column]);
                let other = &head[self.start[column] + from - self.first[column]..];
                let length = column - from;
                let offset = from - self.first[row];
                let sum = dot(&own[offset..offset + length], &other[..length]);
                let place = column - self.first[row];
                own[place] = (own[place] - sum) / other[length];
            }
            let last = row - self.first[row];
            let pivot = own[last] - dot(&own[..last], &own[..last]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return false;
            }
            own[last] = pivot.sqrt();
        }
        true
    }

    /// x ← H⁻¹ x, six numbers a block, in the order of the blocks.
    pub fn solve(&self, x: &mut [f64], work: &mut Vec<f64>) {
        let n = self.first.len();
        work.clear();
        work.resize(n, 0.0);
        for (block, place) in self.place.iter().enumerate() {
            work[6 * place..6 * place + 6].copy_from_slice(&x[6 * block..6 * block + 6]);
        }
        for row in 0..n {
            let entries = &self.entries[self.start[row]..self.start[row] + row + 1 - self.first[row]];
            let last = row - self.first[row];
            work[row] = (work[row] - dot(&entries[..last], &work[self.first[row]..row])) / entries[last];
        }
        for row in (0..n).rev() {
            let entries = &self.entries[self.start[row]..self.start[row] + row + 1 - self.first[row]];
            let last = row - self.first[row];
            let value = work[row] / entries[last];
            work[row] = value;
            for (x, entry) in work[self.first[row]..row].iter_mut().zip(&entries[..last]) {
                *x -= value * entry;
            }
        }
        for (block, place) in self.place.iter().enumerate() {
            x[6 * block..6 * block + 6].copy_from_slice(&work[6 * place..6 * place + 6]);
        }
    }
}

/// (number of nodes, edges) ⇒ place of each node.
fn cuthill_mckee(nodes: usize, edges: &[[usize; 2]]) -> Vec<usize> {
    let mut neighbours = vec![Vec::new(); nodes];
    for [a, b] in edges {
        neighbours[*a].push(*b);
        neighbours[*b].push(*a);
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    let mut order = Vec::with_capacity(nodes);
    let mut seen = vec![false; nodes];
    let mut starts: Vec<usize> = (0..nodes).collect();
    starts.sort_by_key(|node| degree[*node]);
    for start in starts {
        if seen[start] {
            continue;
        }
        let start = far_end(&neighbours, start);
        seen[start] = true;
        let mut next = order.len();
        order.push(start);
        while next < order.len() {
            let node: usize = order[next];
            next += 1;
            let mut fresh: Vec<usize> =
                neighbours[node].iter().copied().filter(|other| !seen[*other]).collect();
            fresh.sort_by_key(|other| degree[*other]);
            for other in fresh {
                seen[other] = true;
                order.push(other);
            }
        }
    }
    let mut place = vec![0; nodes];
    for (position, node) in order.iter().rev().enumerate() {
        place[*node] = position;
    }
    place
}

/// A node as far from the start as any: walks there breadth first.
fn far_end(neighbours: &[Vec<usize>], start: usize) -> usize {
    let mut seen = std::collections::BTreeSet::from([start]);
    let mut layer = vec![start];
    let mut last = start;
    while !layer.is_empty() {
        last = layer.iter().copied().min_by_key(|node| neighbours[*node].len()).unwrap_or(last);
        let mut next = Vec::new();
        for node in &layer {
            next.extend(neighbours[*node].iter().copied().filter(|other| seen.insert(*other)));
        }
        layer = next;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L Lᵀ x = b for a ladder of blocks with rungs, against the product with the matrix itself.
    #[test]
    fn solves_a_ladder() {
        let blocks = 14;
        let mut pairs: Vec<[usize; 2]> = (0..12).map(|i| [i, i + 2]).collect();
        pairs.extend((0..6).map(|i| [2 * i + 1, 2 * i]));
        let mut envelope = Envelope::default();
        envelope.arrange(blocks, &pairs);
        let n = 6 * blocks;
        let mut dense = vec![0.0; n * n];
        let mut add = |i: usize, j: usize, value: f64| dense[i * n + j] += value;
        for block in 0..blocks {
            (0..6).for_each(|i| add(6 * block + i, 6 * block + i, 20.0 + i as f64));
            envelope.add_block(
                block,
                block,
                &std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 20.0 + i as f64 } else { 0.0 })),
            );
        }
        for (k, [a, b]) in pairs.iter().enumerate() {
            let row: [DVec3; 4] = std::array::from_fn(|i| {
                DVec3::from_array([0, 1, 2].map(|j| ((7 * k + 9 * i + 3 * j) as f64).sin()))
            });
            let flat = |i: usize| row[i / 3][i % 3];
            let at = |i: usize| if i < 6 { 6 * a + i } else { 6 * b + i - 6 };
            for i in 0..12 {
                for j in 0..12 {
                    add(at(i), at(j), 1.5 * flat(i) * flat(j));
                }
            }
            envelope.add_square(&[Some(*a), Some(*b)], &[[row[0], row[1]], [row[2], row[3]]], 1.5);
        }
        assert!(envelope.factor());
        let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let mut x = b.clone();
        envelope.solve(&mut x, &mut Vec::new());
        for i in 0..n {
            assert!((dot(&dense[i * n..(i + 1) * n], &x) - b[i]).abs() < 1e-12);
        }
    }
}
