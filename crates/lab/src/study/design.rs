//! Designs: points in the unit cube.
//!
//! - Latin hypercube: with n samples, every coordinate has one sample in each of n equal parts; which one, and where in it, is random.
//! - Sobol: coordinate d of point i is the exclusive or of direction numbers v_k over the set bits k of the Gray code of i. The recurrence of v_k
//!   belongs to a primitive polynomial of degree s with coefficients a, v_k = a₁v_{k−1} ⊕ … ⊕ v_{k−s} ⊕ (v_{k−s} ≫ s); polynomials and first numbers are those of Joe and Kuo
//!   (SIAM J. Sci. Comput. 30, 2008). A random digital shift, the same for all points, keeps the structure and makes the estimate unbiased.
//! - Random: independent and uniform.

use crate::contact::Random;
use rattleback_scene::SampleDesign;

/// Bits of a coordinate.
const BITS: usize = 52;

/// (degree s, coefficients a, first direction numbers) of dimensions 2 to 16.
const DIRECTIONS: [(u32, u32, &[u64]); 15] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
];

/// Most dimensions of the Sobol sequence.
pub const MAX_DIMENSIONS: usize = DIRECTIONS.len() + 1;

/// (design other than a grid, samples, dimensions, seed) ⇒ a point for each sample, with coordinates in (0, 1).
pub fn points(design: SampleDesign, samples: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut points = vec![vec![0.0; dimensions]; samples];
    for dimension in 0..dimensions {
        let mut random = Random::new(seed, (1 << 56) | dimension as u64);
        match design {
            SampleDesign::LatinHypercube => {
                let mut parts: Vec<usize> = (0..samples).collect();
                for i in (1..samples).rev() {
                    parts.swap(i, random.index(i + 1));
                }
                for (point, part) in points.iter_mut().zip(parts) {
                    point[dimension] = (part as f64 + random.unit()) / samples as f64;
                }
            }
            SampleDesign::Sobol => {
                let directions = directions(dimension % MAX_DIMENSIONS);
                let shift = (random.unit() * (1_u64 << BITS) as f64) as u64;
                let mut x = shift;
                for (i, point) in points.iter_mut().enumerate() {
                    point[dimension] = x as f64 / (1_u64 << BITS) as f64;
                    // The Gray codes of i and i + 1 differ in one bit.
                    x ^= directions[(i + 1).trailing_zeros() as usize % BITS];
                }
            }
            SampleDesign::Random | SampleDesign::Grid => {
                for point in &mut points {
                    point[dimension] = random.unit();
                }
            }
        }
        // Quantiles of distributions are infinite at 0.
        for point in &mut points {
            point[dimension] = point[dimension].max(1e-16);
        }
    }
    points
}

/// Direction numbers of a dimension.
fn directions(dimension: usize) -> [u64; BITS] {
    let mut v = [0; BITS];
    let Some(&(degree, coefficients, first)) = dimension.checked_sub(1).and_then(|d| DIRECTIONS.get(d))
    else {
        // Van der Corput.
        (0..BITS).for_each(|k| v[k] = 1 << (BITS - 1 - k));
        return v;
    };
    let s = degree as usize;
    for k in 0..BITS {
        v[k] = if k < s {
            first[k] << (BITS - 1 - k)
        } else {
            let mut next = v[k - s] ^ (v[k - s] >> s);
            for j in 1..s {
                if coefficients >> (s - 1 - j) & 1 == 1 {
                    next ^= v[k - j];
                }
            }
            next
        };
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every coordinate of 2^k Sobol points, and of any number of Latin hypercube points, has one point in each equal part.
    #[test]
    fn projections_are_stratified() {
        for (design, n) in [(SampleDesign::Sobol, 256), (SampleDesign::LatinHypercube, 77)] {
            let points = points(design, n, MAX_DIMENSIONS, 3);
            for d in 0..MAX_DIMENSIONS {
                let mut hit = vec![0; n];
                for p in &points {
                    hit[(p[d] * n as f64) as usize] += 1;
                }
                assert!(hit.iter().all(|h| *h == 1), "{design:?} dimension {d}: {hit:?}");
            }
        }
    }

    /// The first two dimensions are a (0, m, 2)-net: one point in every elementary box of area 1/n.
    #[test]
    fn the_first_two_dimensions_are_a_net() {
        let (n, points) = (64, points(SampleDesign::Sobol, 64, 2, 9));
        for a in 0..=6 {
            let (columns, rows) = (1 << a, n >> a);
            let mut hit = vec![0; n];
            for p in &points {
                hit[(p[0] * columns as f64) as usize * rows + (p[1] * rows as f64) as usize] += 1;
            }
            assert!(hit.iter().all(|h| *h == 1), "{columns} × {rows}: {hit:?}");
        }
    }

    /// ∫ Π (1 + (x_d − ½)) = 1 in six dimensions; the error of the sequence falls about as 1/n, that of random points as 1/√n.
    #[test]
    fn integrals_converge_faster_than_at_random() {
        let error = |design, n| {
            let square: f64 = (0..10)
                .map(|seed| {
                    let values = points(design, n, 6, seed);
                    let mean = values.iter().map(|p| p.iter().map(|x| x + 0.5).product::<f64>()).sum::<f64>();
                    (mean / n as f64 - 1.0).powi(2)
                })
                .sum();
            (square / 10.0).sqrt()
        };
        let n = 4096;
        // σ of the product is √((1 + 1/12)⁶ − 1).
        let expected = ((13.0_f64 / 12.0).powi(6) - 1.0).sqrt() / (n as f64).sqrt();
        assert!((error(SampleDesign::Random, n) / expected - 1.0).abs() < 0.7);
        assert!(error(SampleDesign::LatinHypercube, n) < 0.4 * expected);
        assert!(error(SampleDesign::Sobol, n) < 0.1 * expected);
    }
}
