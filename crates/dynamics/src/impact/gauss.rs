//! Gauss–Legendre nodes, and integration of what is known at them.
//!
//! A polynomial f of degree < n is Σ a_k P_k with a_k = (k + ½) Σ_j w_j P_k(τ_j) f(τ_j), because the rule is exact up to
//! degree 2n − 1. With (2k + 1)P_k = P'_{k+1} − P'_{k−1}, ∫_{−1}^τ f = a_0 (τ + 1) + Σ_{k≥1} a_k (P_{k+1} − P_{k−1})/(2k + 1).

/// Most nodes of a rule.
const MOST: usize = 16;

/// Nodes, weights and the matrices nodes → coefficients, nodes → integrals up to each node, for N nodes.
pub(super) struct Gauss<const N: usize> {
    /// τ_j in ascending order.
    pub nodes: [f64; N],
    /// w_j, with Σ w_j = 2.
    pub weights: [f64; N],
    /// Column j: what the value at node j adds to each coefficient.
    analysis: [[f64; N]; N],
    /// Column j: what the value at node j adds to the integral from −1 to each node.
    cumulative: [[f64; N]; N],
}

/// Positive nodes of the available rules, to the last digit but one; Newton's method refines them.
const fn half(n: usize) -> &'static [f64] {
    match n {
        6 => &[0.2386191860831969, 0.6612093864662645, 0.9324695142031520],
        16 => &[
            0.0950125098376374,
            0.2816035507792589,
            0.4580167776572274,
            0.6178762444026438,
            0.7554044083550030,
            0.8656312023878318,
            0.9445750230732326,
            0.9894009349916499,
        ],
        _ => panic!("rules of 6 and 16 nodes are known"),
    }
}

/// P_0 … P_{MOST} at x.
const fn legendre(x: f64) -> [f64; MOST + 1] {
    let mut p = [1.0; MOST + 1];
    p[1] = x;
    let mut k = 1;
    while k < MOST {
        let n = k as f64;
        p[k + 1] = ((2.0 * n + 1.0) * x * p[k] - n * p[k - 1]) / (n + 1.0);
        k += 1;
    }
    p
}

impl<const N: usize> Gauss<N> {
    /// The rule, made once by the compiler.
    pub const RULE: &'static Self = &Self::make();

    const fn make() -> Self {
        let mut gauss =
            Self { nodes: [0.0; N], weights: [0.0; N], analysis: [[0.0; N]; N], cumulative: [[0.0; N]; N] };
        let mut j = 0;
        while j < N {
            let mut x = if j < N / 2 { -half(N)[N / 2 - 1 - j] } else { half(N)[j - N / 2] };
            let n = N as f64;
            let p = legendre(x);
            x -= p[N] * (x * x - 1.0) / (n * (x * p[N] - p[N - 1]));
            let p = legendre(x);
            let slope = n * (x * p[N] - p[N - 1]) / (x * x - 1.0);
            gauss.nodes[j] = x;
            gauss.weights[j] = 2.0 / ((1.0 - x * x) * slope * slope);
            j += 1;
        }
        j = 0;
        while j < N {
            let p = legendre(gauss.nodes[j]);
            let mut k = 0;
            while k < N {
                gauss.analysis[j][k] = (k as f64 + 0.5) * gauss.weights[j] * p[k];
                k += 1;
            }
            let mut i = 0;
            while i < N {
                let q = legendre(gauss.nodes[i]);
                let mut sum = gauss.analysis[j][0] * (q[1] + 1.0);
                let mut k = 1;
                while k < N {
                    sum += gauss.analysis[j][k] * (q[k + 1] - q[k - 1]) / (2 * k + 1) as f64;
                    k += 1;
                }
                gauss.cumulative[j][i] = sum;
                i += 1;
            }
            j += 1;
        }
        gauss
    }

    /// Values ⇒ integral over [−1, 1].
    pub fn total(&self, f: &[f64; N]) -> f64 {
        self.weights.iter().zip(f).map(|(w, f)| w * f).sum()
    }

    /// Values ⇒ integrals from −1 to each node.
    pub fn cumulative(&self, f: &[f64; N]) -> [f64; N] {
        times(&self.cumulative, f)
    }

    /// Values ⇒ Legendre coefficients.
    pub fn coefficients(&self, f: &[f64; N]) -> [f64; N] {
        times(&self.analysis, f)
    }
}

/// Σ_j column_j f_j: columns, so that rows run in lanes.
#[inline(always)]
fn times<const N: usize>(columns: &[[f64; N]; N], f: &[f64; N]) -> [f64; N] {
    let mut sum = [0.0; N];
    for (column, f) in columns.iter().zip(f) {
        for (sum, entry) in sum.iter_mut().zip(column) {
            *sum += entry * f;
        }
    }
    sum
}

/// 1/(2k + 1).
const ODD: [f64; MOST + 1] = {
    let mut odd = [0.0; MOST + 1];
    let mut k = 0;
    while k <= MOST {
        odd[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    odd
};

/// (coefficients, τ) ⇒ ∫_{−1}^τ f and f(τ).
pub(super) fn integral<const N: usize>(a: &[f64; N], tau: f64) -> (f64, f64) {
    let (mut before, mut p) = (1.0, tau);
    let (mut sum, mut value) = (a[0] * (tau + 1.0), a[0]);
    for k in 1..N {
        // (k + 1)P_{k+1} = (2k + 1)τP_k − kP_{k−1}, written with two constants.
        let next = NEXT[k] * tau * p - LAST[k] * before;
        sum += a[k] * ODD[k] * (next - before);
        value += a[k] * p;
        (before, p) = (p, next);
    }
    (sum, value)
}

const NEXT: [f64; MOST] = recurrence(true);
const LAST: [f64; MOST] = recurrence(false);

/// (2k + 1)/(k + 1) or k/(k + 1).
const fn recurrence(next: bool) -> [f64; MOST] {
    let mut list = [0.0; MOST];
    let mut k = 0;
    while k < MOST {
        let n = k as f64;
        list[k] = if next { (2.0 * n + 1.0) / (n + 1.0) } else { n / (n + 1.0) };
        k += 1;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integrals_of_an_exponential_are_exact_to_rounding() {
        let rule = Gauss::<16>::RULE;
        let f = rule.nodes.map(|tau| (2.0 * tau).exp());
        let exact = |tau: f64| 0.5 * ((2.0 * tau).exp() - (-2.0_f64).exp());
        assert!((rule.total(&f) - exact(1.0)).abs() < 1e-14);
        for (integral, tau) in rule.cumulative(&f).iter().zip(rule.nodes) {
            assert!((integral - exact(tau)).abs() < 1e-14);
        }
        let a = rule.coefficients(&f);
        for tau in [-1.0, -0.3, 0.0, 0.77, 1.0] {
            let (sum, value) = integral(&a, tau);
            assert!((sum - exact(tau)).abs() < 1e-13 && (value - (2.0 * tau).exp()).abs() < 1e-12);
        }
    }
    /// Six nodes integrate polynomials up to degree eleven exactly.
    #[test]
    fn six_nodes_are_exact_up_to_degree_eleven() {
        let rule = Gauss::<6>::RULE;
        for degree in 0..12 {
            let sum = rule.total(&rule.nodes.map(|tau| tau.powi(degree)));
            let exact = if degree % 2 == 0 { 2.0 / f64::from(degree + 1) } else { 0.0 };
            assert!((sum - exact).abs() < 1e-14, "{degree}: {sum}");
        }
    }
}
