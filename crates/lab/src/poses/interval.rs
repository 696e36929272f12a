//! Confidence intervals and sample sizes.
//!
//! - A share k/n of independent drops: Wilson's interval.
//! - Several independent chains of dependent drops: Student's interval of their shares, never narrower than Wilson's of all drops, since
//!   drops that reinforce each other vary more than independent ones.
//! - Worst case p = ½: n = (Φ⁻¹(1 − α/2) / (2δ))² drops give the half-width δ with the confidence 1 − α. (The source's formula lacks the square, and
//!   its example of 385 for δ = 0.05, α = 0.1 is that of α = 0.05.)

/// Quantile of the standard normal distribution (Acklam's rational approximation, relative error 1.2e-9).
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.383577518672690e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let horner = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    if !(p > 0.0 && p < 1.0) {
        return if p >= 1.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        horner(&C, q) / horner(&D, q)
    } else if p > 1.0 - 0.02425 {
        -normal_quantile(1.0 - p)
    } else {
        let q = p - 0.5;
        horner(&A, q * q) * q / horner(&B, q * q)
    }
}

/// Quantile of Student's distribution with ν degrees of freedom (expansion in 1/ν, good to 0.3 % from ν = 4).
pub fn student_quantile(p: f64, nu: f64) -> f64 {
    let z = normal_quantile(p);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * nu)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * nu * nu)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * nu.powi(3))
        + (79.0 * z.powi(9) + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z) / (92160.0 * nu.powi(4))
}

/// Number of independent drops for the half-width δ with the confidence 1 − α, in the worst case.
///
/// ```
/// use rattleback_lab::poses::sample_size;
/// assert_eq!((sample_size(0.05, 0.10), sample_size(0.05, 0.05)), (271, 385));
/// ```
pub fn sample_size(delta: f64, alpha: f64) -> u64 {
    (normal_quantile(1.0 - 0.5 * alpha) / (2.0 * delta)).powi(2).ceil() as u64
}

/// (successes, trials, confidence) ⇒ Wilson's interval of the probability.
pub fn wilson(successes: f64, trials: f64, confidence: f64) -> (f64, f64) {
    if trials <= 0.0 {
        return (0.0, 1.0);
    }
    let z = normal_quantile(0.5 + 0.5 * confidence);
    let (p, z2) = (successes / trials, z * z);
    let middle = (p + 0.5 * z2 / trials) / (1.0 + z2 / trials);
    let half = z / (1.0 + z2 / trials) * (p * (1.0 - p) / trials + 0.25 * z2 / (trials * trials)).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

/// (shares of independent chains, all successes, all trials, confidence) ⇒ interval; none of fewer than five chains.
pub fn of_chains(shares: &[f64], successes: f64, trials: f64, confidence: f64) -> Option<(f64, f64)> {
    if shares.len() < 5 {
        return None;
    }
    let n = shares.len() as f64;
    let mean = shares.iter().sum::<f64>() / n;
    let variance = shares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = student_quantile(0.5 + 0.5 * confidence, n - 1.0) * (variance / n).sqrt();
    let (low, high) = wilson(successes, trials, confidence);
    Some(((mean - half).min(low).max(0.0), (mean + half).max(high).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Random;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (p, z) in [(0.975, 1.959963985), (0.95, 1.644853627), (0.999, 3.090232306), (0.01, -2.326347874)]
        {
            assert!((normal_quantile(p) - z).abs() < 1e-8);
        }
        for (nu, t) in [(4.0, 2.776445), (9.0, 2.262157), (19.0, 2.093024), (99.0, 1.984217)] {
            assert!((student_quantile(0.975, nu) / t - 1.0).abs() < 3e-3, "{nu}");
        }
    }

    /// 95 % intervals contain the truth in about 95 % of samples; also for chains that reinforce themselves.
    #[test]
    fn intervals_cover_the_truth() {
        let mut random = Random::new(5, 5);
        let (mut wilsons, mut chains, mut naive) = (0, 0, 0);
        let runs = 1000;
        for _ in 0..runs {
            let p = 0.2;
            let k = (0..200).filter(|_| random.chance(p)).count() as f64;
            let (low, high) = wilson(k, 200.0, 0.95);
            wilsons += u32::from(low <= p && p <= high);
            // A urn: half of the drops copy an earlier result, as poses that a drop does not leave.
            let mut all = 0.0;
            let shares: Vec<f64> = (0..10)
                .map(|_| {
                    let mut results: Vec<bool> = Vec::new();
                    for i in 0..100 {
                        let copied = i >= 20 && random.chance(0.5);
                        let result =
                            if copied { results[random.index(results.len())] } else { random.chance(p) };
                        results.push(result);
                    }
                    let share = results.iter().filter(|r| **r).count() as f64;
                    all += share;
                    share / 100.0
                })
                .collect();
            let (low, high) = of_chains(&shares, all, 1000.0, 0.95).unwrap();
            chains += u32::from(low <= p && p <= high);
            let (low, high) = wilson(all, 1000.0, 0.95);
            naive += u32::from(low <= p && p <= high);
        }
        let share = |count: u32| f64::from(count) / f64::from(runs);
        assert!((0.93..0.975).contains(&share(wilsons)), "{}", share(wilsons));
        assert!(share(chains) > 0.93, "{}", share(chains));
        assert!(
            share(naive) < 0.88,
            "binomial intervals are too narrow for dependent drops: {}",
            share(naive)
        );
    }
}
