//! Gauss–Legendre nodes, and integration of what is known at them.
//!
//! A polynomial f of degree < n is Σ a_k P_k with a_k = (k + ½) Σ_j w_j P_k(τ_j) f(τ_j), because the rule is exact up to
//! degree 2n − 1. With (2k + 1)P_k = P'_{k+1} − P'_{k−1}, ∫_{−1}^τ f = a_0 (τ + 1) + Σ_{k≥1} a_k (P_{k+1} − P_{k−1})/(2k + 1).

/// Number of nodes.
pub(super) const NODES: usize = 16;

/// Values at the nodes, or coefficients of Legendre polynomials.
pub(super) type Nodal = [f64; NODES];

/// Nodes, weights and the matrices nodes → coefficients, nodes → integrals up to each node.
pub(super) struct Gauss {
    /// τ_j in ascending order.
    pub nodes: Nodal,
    /// w_j, with Σ w_j = 2.
    pub weights: Nodal,
    /// Column j: what the value at node j adds to each coefficient.
    analysis: [Nodal; NODES],
    /// Column j: what the value at node j adds to the integral from −1 to each node.
    cumulative: [Nodal; NODES],
}

/// The positive nodes, to the last digit but one; Newton's method does the rest.
const HALF: [f64; NODES / 2] = [
    0.0950125098376374,
    0.2816035507792589,
    0.4580167776572274,
    0.6178762444026438,
    0.7554044083550030,
    0.8656312023878318,
    0.9445750230732326,
    0.9894009349916499,
];

/// P_0 … P_{NODES} at x.
const fn legendre(x: f64) -> [f64; NODES + 1] {
    let mut p = [1.0; NODES + 1];
    p[1] = x;
    let mut k = 1;
    while k < NODES {
        let n = k as f64;
        p[k + 1] = ((2.0 * n + 1.0) * x * p[k] - n * p[k - 1]) / (n + 1.0);
        k += 1;
    }
    p
}

/// The rule, made once.
pub(super) static GAUSS: Gauss = {
    let mut gauss = Gauss {
        nodes: [0.0; NODES],
        weights: [0.0; NODES],
        analysis: [[0.0; NODES]; NODES],
        cumulative: [[0.0; NODES]; NODES],
    };
    let mut j = 0;
    while j < NODES {
        let mut x = if j < NODES / 2 { -HALF[NODES / 2 - 1 - j] } else { HALF[j - NODES / 2] };
        let n = NODES as f64;
        let p = legendre(x);
        x -= p[NODES] * (x * x - 1.0) / (n * (x * p[NODES] - p[NODES - 1]));
        let p = legendre(x);
        let slope = n * (x * p[NODES] - p[NODES - 1]) / (x * x - 1.0);
        gauss.nodes[j] = x;
        gauss.weights[j] = 2.0 / ((1.0 - x * x) * slope * slope);
        j += 1;
    }
    j = 0;
    while j < NODES {
        let p = legendre(gauss.nodes[j]);
        let mut k = 0;
        while k < NODES {
            gauss.analysis[j][k] = (k as f64 + 0.5) * gauss.weights[j] * p[k];
            k += 1;
        }
        let mut i = 0;
        while i < NODES {
            let q = legendre(gauss.nodes[i]);
            let mut sum = gauss.analysis[j][0] * (q[1] + 1.0);
            let mut k = 1;
            while k < NODES {
                sum += gauss.analysis[j][k] * (q[k + 1] - q[k - 1]) / (2 * k + 1) as f64;
                k += 1;
            }
            gauss.cumulative[j][i] = sum;
            i += 1;
        }
        j += 1;
    }
    gauss
};

/// Σ_j column_j f_j: columns, so that rows run in lanes.
#[inline(always)]
fn times(columns: &[Nodal; NODES], f: &Nodal) -> Nodal {
    let mut sum = [0.0; NODES];
    for (column, f) in columns.iter().zip(f) {
        for (sum, entry) in sum.iter_mut().zip(column) {
            *sum += entry * f;
        }
    }
    sum
}

impl Gauss {
    /// Values ⇒ integral over [−1, 1].
    pub fn total(&self, f: &Nodal) -> f64 {
        self.weights.iter().zip(f).map(|(w, f)| w * f).sum()
    }

    /// Values ⇒ integrals from −1 to each node.
    pub fn cumulative(&self, f: &Nodal) -> Nodal {
        times(&self.cumulative, f)
    }

    /// Values ⇒ Legendre coefficients.
    pub fn coefficients(&self, f: &Nodal) -> Nodal {
        times(&self.analysis, f)
    }
}

/// 1/(2k + 1).
const ODD: [f64; NODES + 1] = {
    let mut odd = [0.0; NODES + 1];
    let mut k = 0;
    while k <= NODES {
        odd[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    odd
};

/// (coefficients, τ) ⇒ ∫_{−1}^τ f and f(τ).
pub(super) fn integral(a: &Nodal, tau: f64) -> (f64, f64) {
    let (mut before, mut p) = (1.0, tau);
    let (mut sum, mut value) = (a[0] * (tau + 1.0), a[0]);
    for k in 1..NODES {
        // (k + 1)P_{k+1} = (2k + 1)τP_k − kP_{k−1}, written with two constants.
        let next = NEXT[k] * tau * p - LAST[k] * before;
        sum += a[k] * ODD[k] * (next - before);
        value += a[k] * p;
        (before, p) = (p, next);
    }
    (sum, value)
}

const NEXT: Nodal = recurrence(true);
const LAST: Nodal = recurrence(false);

/// (2k + 1)/(k + 1) or k/(k + 1).
const fn recurrence(next: bool) -> Nodal {
    let mut list = [0.0; NODES];
    let mut k = 0;
    while k < NODES {
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
        let f = GAUSS.nodes.map(|tau| (2.0 * tau).exp());
        let exact = |tau: f64| 0.5 * ((2.0 * tau).exp() - (-2.0_f64).exp());
        assert!((GAUSS.total(&f) - exact(1.0)).abs() < 1e-14);
        for (integral, tau) in GAUSS.cumulative(&f).iter().zip(GAUSS.nodes) {
            assert!((integral - exact(tau)).abs() < 1e-14);
        }
        let a = GAUSS.coefficients(&f);
        for tau in [-1.0, -0.3, 0.0, 0.77, 1.0] {
            let (sum, value) = integral(&a, tau);
            assert!((sum - exact(tau)).abs() < 1e-13 && (value - (2.0 * tau).exp()).abs() < 1e-12);
        }
    }
}
