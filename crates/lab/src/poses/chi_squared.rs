//! Pearson's test of the hypothesis that two samples have the same shares.

/// (two rows of counts) ⇒ (χ², degrees of freedom) of the hypothesis that both have the same shares. Columns with less than five expected in sum are put together.
pub fn chi_squared(a: &[f64], b: &[f64]) -> (f64, usize) {
    let (n, m): (f64, f64) = (a.iter().sum(), b.iter().sum());
    let mut columns: Vec<(f64, f64)> = Vec::new();
    let mut rest = (0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let smaller = (x + y) * n.min(m) / (n + m);
        if smaller >= 5.0 {
            columns.push((*x, *y));
        } else {
            rest = (rest.0 + x, rest.1 + y);
        }
    }
    if rest.0 + rest.1 > 0.0 {
        if (rest.0 + rest.1) * n.min(m) / (n + m) >= 5.0 || columns.is_empty() {
            columns.push(rest);
        } else if let Some(last) = columns.last_mut() {
            *last = (last.0 + rest.0, last.1 + rest.1);
        }
    }
    let sum = |(x, y): &(f64, f64)| {
        let (ex, ey) = ((x + y) * n / (n + m), (x + y) * m / (n + m));
        (x - ex).powi(2) / ex + (y - ey).powi(2) / ey
    };
    (columns.iter().map(sum).sum(), columns.len().saturating_sub(1))
}

/// (χ², degrees of freedom) ⇒ probability of a larger value under the hypothesis, by Wilson and Hilferty: the cube root of χ²/k is about normal with the mean 1 − 2/(9k) and the variance 2/(9k).
pub fn chi_squared_tail(chi: f64, degrees: usize) -> f64 {
    if degrees == 0 {
        return 1.0;
    }
    let s = 2.0 / (9.0 * degrees as f64);
    normal_tail(((chi / degrees as f64).cbrt() - (1.0 - s)) / s.sqrt())
}

/// Probability that a normal variable is larger (Abramowitz and Stegun 26.2.17, error below 7.5e-8).
fn normal_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_tail(-x);
    }
    let t = 1.0 / (1.0 + 0.2316419 * x);
    let polynomial =
        t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    polynomial * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Random;

    /// Quantiles from tables: 95 % and 99.9 %.
    #[test]
    fn tails_are_those_of_tables() {
        for (chi, degrees, tail) in
            [(3.841, 1, 0.05), (11.070, 5, 0.05), (20.515, 5, 0.001), (43.773, 30, 0.05)]
        {
            let found = chi_squared_tail(chi, degrees);
            assert!((found / tail - 1.0).abs() < 0.06, "{chi} {degrees}: {found}");
        }
        assert_eq!(chi_squared_tail(0.0, 0), 1.0);
    }

    /// Under the hypothesis χ² has the mean of its degrees of freedom.
    #[test]
    fn chi_squared_has_its_mean() {
        let mut random = Random::new(5, 2);
        let p = [0.4, 0.3, 0.2, 0.1];
        let mut draw = |n: usize| {
            let mut counts = [0.0; 4];
            for _ in 0..n {
                let mut u = random.unit();
                let at = p.iter().position(|share| {
                    u -= share;
                    u < 0.0
                });
                counts[at.unwrap_or(3)] += 1.0;
            }
            counts
        };
        let mean = (0..500).map(|_| chi_squared(&draw(300), &draw(200)).0).sum::<f64>() / 500.0;
        assert!((mean - 3.0).abs() < 0.4, "{mean}");
        assert_eq!(chi_squared(&[100.0, 0.0], &[100.0, 0.0]), (0.0, 0));
        assert!(chi_squared(&[90.0, 10.0], &[10.0, 90.0]).0 > 100.0);
    }
}
