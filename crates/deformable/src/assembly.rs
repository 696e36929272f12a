//! Sums over elements on several threads.
//!
//! Elements are taken in chunks of consecutive ones. Chunks that share no vertex have one colour; the chunks of a colour are
//! processed at the same time, colours one after the other. What a vertex or a block of the matrix receives is therefore
//! added in an order that does not depend on the number of threads.
#![allow(unsafe_code)]

use std::array::from_fn;

use glam::{DMat3, DVec3};
use rattleback_numerics::team::{Shared, spread};

use crate::element::{Curvature, Element};
use crate::matrix::BlockMatrix;

/// Elements per chunk.
const CHUNK: usize = 128;

/// How the elements of a list are added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Chunks of each colour.
    colors: Vec<Vec<u32>>,
    /// Block of the matrix for each pair of vertices of each element; `u32::MAX` below the diagonal of the stored half.
    blocks: Vec<u32>,
}

impl Plan {
    /// Colours the chunks of a list and finds its blocks in the matrix.
    pub fn new<E: Element<N>, const N: usize>(items: &[E], vertices: usize, matrix: &BlockMatrix) -> Self {
        let mut used = vec![0_u64; vertices];
        let mut colors: Vec<Vec<u32>> = Vec::new();
        let mut overflow = Vec::new();
        for (c, chunk) in items.chunks(CHUNK).enumerate() {
            let all = || chunk.iter().flat_map(Element::vertices);
            let taken = all().fold(0, |mask, v| mask | used[v as usize]);
            let color = taken.trailing_ones() as usize;
            if color >= 64 {
                overflow.push(vec![c as u32]);
                continue;
            }
            if color >= colors.len() {
                colors.resize(color + 1, Vec::new());
            }
            colors[color].push(c as u32);
            for v in all() {
                used[v as usize] |= 1 << color;
            }
        }
        colors.extend(overflow);
        let blocks = items
            .iter()
            .flat_map(|item| {
                let v = item.vertices();
                (0..N * N).map(move |k| matrix.block(v[k / N], v[k % N]))
            })
            .collect();
        Self { colors, blocks }
    }

    /// Adds gradients to `gradient` and second derivatives to the matrix.
    pub fn assemble<E: Element<N>, const N: usize>(
        &self,
        threads: usize,
        items: &[E],
        x: &[DVec3],
        (scale, curvature): (f64, Curvature),
        gradient: &mut [DVec3],
        matrix: &mut [DMat3],
    ) {
        let (gradient, matrix) = (Shared::new(gradient), Shared::new(matrix));
        for color in &self.colors {
            spread(threads, color.len(), 1, |range| {
                for &c in &color[range] {
                    let first = c as usize * CHUNK;
                    for (k, item) in items[first..items.len().min(first + CHUNK)].iter().enumerate() {
                        let v = item.vertices();
                        let at: [DVec3; N] = from_fn(|i| x[v[i] as usize]);
                        let (g, h) = (item.gradient(&at), item.hessian(&at, curvature));
                        let blocks = &self.blocks[(first + k) * N * N..(first + k + 1) * N * N];
                        for i in 0..N {
                            // SAFETY: chunks of one colour share no vertex, and so no block; indices were found
                            // in a pattern and arrays of this model.
                            unsafe {
                                *gradient.get_mut(v[i] as usize) += scale * g[i];
                                for j in 0..N {
                                    if blocks[i * N + j] != u32::MAX {
                                        *matrix.get_mut(blocks[i * N + j] as usize) += h[i][j] * scale;
                                    }
                                }
                            }
                        }
                    }
                }
            });
        }
    }

    /// Adds the matrices of damping, on one thread.
    pub fn damping_matrix<E: Element<N>, const N: usize>(
        &self,
        items: &[E],
        x: &[DVec3],
        scale: f64,
        matrix: &mut [DMat3],
    ) {
        for (k, item) in items.iter().enumerate() {
            let v = item.vertices();
            let Some(c) = item.damping(&from_fn(|i| x[v[i] as usize])) else { continue };
            for (&b, c) in self.blocks[k * N * N..(k + 1) * N * N].iter().zip(c.iter().flatten()) {
                if b != u32::MAX {
                    matrix[b as usize] += *c * scale;
                }
            }
        }
    }
}

/// Subtracts the damping forces C v from forces, on one thread.
pub(crate) fn damp<E: Element<N>, const N: usize>(
    items: &[E],
    x: &[DVec3],
    velocity: &[DVec3],
    force: &mut [DVec3],
) {
    for item in items {
        let v = item.vertices();
        let Some(c) = item.damping(&from_fn(|i| x[v[i] as usize])) else { continue };
        for i in 0..N {
            for j in 0..N {
                force[v[i] as usize] -= c[i][j] * velocity[v[j] as usize];
            }
        }
    }
}

/// Σ E over a list, in blocks of fixed size.
pub(crate) fn energy<E: Element<N>, const N: usize>(
    threads: usize,
    items: &[E],
    x: &[DVec3],
    partial: &mut Vec<f64>,
) -> f64 {
    partial.clear();
    partial.resize(items.len().div_ceil(CHUNK), 0.0);
    rattleback_numerics::team::each_piece(threads, partial, 4, |first, sums| {
        for (k, sum) in sums.iter_mut().enumerate() {
            let start = (first + k) * CHUNK;
            *sum = items[start..items.len().min(start + CHUNK)]
                .iter()
                .map(|item| {
                    let v = item.vertices();
                    item.energy(&from_fn(|i| x[v[i] as usize]))
                })
                .sum();
        }
    });
    partial.iter().sum()
}
