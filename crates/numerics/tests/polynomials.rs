//! Polynomials built from chosen roots.

use proptest::prelude::*;
use rattleback_numerics::polynomial::{bernstein_excludes_root, roots_01, roots_in, sturm_count};

/// Σ f_k tᵏ of factor · Π (t − r).
fn from_roots(factor: f64, roots: &[f64]) -> Vec<f64> {
    let mut f = vec![factor];
    for &root in roots {
        f.push(0.0);
        for power in (0..f.len()).rev() {
            let below = if power > 0 { f[power - 1] } else { 0.0 };
            f[power] = below - root * f[power];
        }
    }
    f
}

/// A small generator of reproducible numbers in [0, 1), so that 10⁵ cases take no time (Knuth's constants).
struct Random(u64);
impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn root(&mut self) -> f64 {
        match (self.next() * 10.0) as u32 {
            0 => 0.0,
            1 => 1.0,
            _ => 2.0 * self.next() - 0.5,
        }
    }
}

/// Distinct roots at least 0.02 apart, with multiplicities up to 3. Unless on it, they keep away from an end
/// by more than rounding of the coefficients can move them, which for a triple root is about the cube root of
/// 1e-15.
fn chosen(random: &mut Random) -> Vec<(f64, usize)> {
    let degree = 1 + (random.next() * 3.0) as usize;
    let mut roots: Vec<(f64, usize)> = Vec::new();
    let mut left = degree;
    while left > 0 {
        let root = random.root();
        let multiplicity = (1 + (random.next() * 3.0) as usize).min(left);
        let clearance = if multiplicity == 1 { 1e-9 } else { 1e-4 };
        let near_end = |end: f64| root != end && (root - end).abs() < clearance;
        if near_end(0.0) || near_end(1.0) || roots.iter().any(|(other, _)| (other - root).abs() < 0.02) {
            continue;
        }
        roots.push((root, multiplicity));
        left -= multiplicity;
    }
    roots.sort_by(|a, b| a.0.total_cmp(&b.0));
    roots
}

/// CCD-11: 10⁵ polynomials of degree 1 to 3 with single, double and triple roots, also on the ends.
#[test]
fn chosen_roots_are_recovered_counted_and_never_rejected() {
    let mut random = Random(42);
    let mut rejected = 0;
    for case in 0..100_000 {
        let chosen = chosen(&mut random);
        let factors: Vec<f64> =
            chosen.iter().flat_map(|&(root, times)| std::iter::repeat_n(root, times)).collect();
        let sign = if random.next() < 0.5 { -1.0 } else { 1.0 };
        let f = from_roots(sign * 10.0_f64.powf(8.0 * random.next() - 4.0), &factors);
        let inside: Vec<(f64, usize)> =
            chosen.iter().copied().filter(|(root, _)| (0.0..=1.0).contains(root)).collect();

        let found = roots_01(&f).unwrap();
        assert_eq!(found.len(), inside.len(), "case {case}: chosen {chosen:?}, found {found:?}");
        for (found, (root, multiplicity)) in found.iter().zip(&inside) {
            let within = if *multiplicity == 1 { 1e-10 } else { 1e-7 };
            assert!(
                (found - root).abs() < within,
                "case {case}: {root} ({multiplicity}) came out as {found}"
            );
        }
        assert_eq!(sturm_count(&f, 0.0, 1.0), Ok(inside.len()), "case {case}: {chosen:?}");
        let excluded = bernstein_excludes_root(&f).unwrap();
        assert!(!excluded || inside.is_empty(), "case {case}: {chosen:?}");
        rejected += usize::from(excluded);
    }
    assert!(rejected > 5_000, "the quick rejection is of some use: {rejected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the coefficients: roots are sorted, inside, p is nearly zero there, and a fine scan for
    /// changes of sign finds none that was missed.
    #[test]
    fn no_crossing_is_missed(
        f in prop::collection::vec(-1.0..1.0_f64, 2..=9),
        a in -3.0..1.0_f64,
        length in 0.1..4.0_f64,
    ) {
        let b = a + length;
        let roots = roots_in(&f, a, b).unwrap();
        let p = |t: f64| f.iter().rev().fold(0.0, |sum, f| sum * t + f);
        let size = |t: f64| f.iter().rev().fold(0.0, |sum, f| sum * t.abs() + f.abs());
        let extreme = size(a.abs().max(b.abs()));
        prop_assert!(roots.windows(2).all(|pair| pair[0] < pair[1]));
        for &root in roots.iter() {
            prop_assert!((a..=b).contains(&root) && p(root).abs() <= 1e-11 * extreme);
        }
        let steps = 5000;
        let at = |k: i32| a + length * f64::from(k) / f64::from(steps);
        for k in 0..steps {
            let (left, right) = (at(k), at(k + 1));
            if p(left) * p(right) < 0.0 && p(left).abs().min(p(right).abs()) > 1e-12 * extreme {
                let found = roots.iter().any(|&root| root >= left && root <= right);
                prop_assert!(found, "missed a root in [{left}, {right}]: {roots:?}");
            }
        }
    }

    /// Nothing panics or hangs, whatever bits come in.
    #[test]
    fn any_input_gets_an_answer(
        f in prop::collection::vec(any::<f64>(), 0..12),
        a in any::<f64>(),
        b in any::<f64>(),
    ) {
        let _ = roots_in(&f, a, b);
        let _ = roots_01(&f);
        let _ = sturm_count(&f, a, b);
    }
}
