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

/// (χ², degrees of freedom k) ⇒ probability of a larger value under the hypothesis. By parts, with x = χ²/2, Q(a + 1) = Q(a) + xᵃ e⁻ˣ/Γ(a + 1), from
/// Q(1) = e⁻ˣ for even k = 2a and Q(½) = erfc √x for odd k.
pub fn chi_squared_tail(chi: f64, degrees: usize) -> f64 {
    if degrees == 0 || chi <= 0.0 {
        return 1.0;
    }
    let x = 0.5 * chi;
    // (a, Q(a), xᵃ e⁻ˣ/Γ(a + 1))
    let (mut a, mut tail, mut term) = if degrees.is_multiple_of(2) {
        (1.0, (-x).exp(), x * (-x).exp())
    } else {
        (0.5, libm::erfc(x.sqrt()), 2.0 * (x / std::f64::consts::PI).sqrt() * (-x).exp())
    };
    while 2.0 * a < degrees as f64 {
        tail += term;
        a += 1.0;
        term *= x / a;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Random;

    /// Quantiles from tables: 95 % and 99.9 %, to the digits printed there.
    #[test]
    fn tails_are_those_of_tables() {
        for (chi, degrees, tail) in
            [(3.841, 1, 0.05), (11.070, 5, 0.05), (20.515, 5, 0.001), (43.773, 30, 0.05)]
        {
            let found = chi_squared_tail(chi, degrees);
            assert!((found / tail - 1.0).abs() < 5e-4, "{chi} {degrees}: {found}");
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
