//! Coefficients of explicit Runge–Kutta pairs.
//!
//! With the rates kᵢ = f(t + cᵢ h, y + h Σⱼ aᵢⱼ kⱼ), y + h Σ bᵢ kᵢ is a result of order p and y + h Σ b̂ᵢ kᵢ
//! one of order p − 1; their difference estimates the local error of the second.

/// Butcher tableau of an embedded pair with S stages.
#[derive(Clone, Copy, Debug)]
pub struct Tableau<const S: usize> {
    /// c: times of the stages, as fractions of the step.
    pub c: [f64; S],
    /// a: weights of earlier stages in each stage; zero on and above the diagonal.
    pub a: [[f64; S]; S],
    /// b: weights of the result of higher order.
    pub high: [f64; S],
    /// b̂: weights of the result of lower order.
    pub low: [f64; S],
}

/// Order 5(4), six stages. J. R. Cash & A. H. Karp, *ACM Trans. Math. Softw.* 16 (1990).
pub const CASH_KARP: Tableau<6> = Tableau {
    c: [0.0, 1.0 / 5.0, 3.0 / 10.0, 3.0 / 5.0, 1.0, 7.0 / 8.0],
    a: [
        [0.0; 6],
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 10.0, -9.0 / 10.0, 6.0 / 5.0, 0.0, 0.0, 0.0],
        [-11.0 / 54.0, 5.0 / 2.0, -70.0 / 27.0, 35.0 / 27.0, 0.0, 0.0],
        [1631.0 / 55296.0, 175.0 / 512.0, 575.0 / 13824.0, 44275.0 / 110592.0, 253.0 / 4096.0, 0.0],
    ],
    high: [37.0 / 378.0, 0.0, 250.0 / 621.0, 125.0 / 594.0, 0.0, 512.0 / 1771.0],
    low: [2825.0 / 27648.0, 0.0, 18575.0 / 48384.0, 13525.0 / 55296.0, 277.0 / 14336.0, 1.0 / 4.0],
};

/// Order 5(4), seven stages, the last of which is the first of the next step. J. R. Dormand & P. J. Prince,
/// *J. Comput. Appl. Math.* 6 (1980).
pub const DORMAND_PRINCE: Tableau<7> = Tableau {
    c: [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    a: [
        [0.0; 7],
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0, 0.0],
        [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0, 0.0],
        [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0, 0.0],
        [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    ],
    high: [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    low: [
        5179.0 / 57600.0,
        0.0,
        7571.0 / 16695.0,
        393.0 / 640.0,
        -92097.0 / 339200.0,
        187.0 / 2100.0,
        1.0 / 40.0,
    ],
};

/// b − b̂ of [`DORMAND_PRINCE`], each rounded once.
pub const DORMAND_PRINCE_ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Order 8(7), thirteen stages. The pair differs by (41/840) h (k₁ + k₁₁ − k₁₂ − k₁₃). E. Fehlberg, NASA TR
/// R-287 (1968).
#[rustfmt::skip]
pub const FEHLBERG: Tableau<13> = Tableau {
    c: [
        0.0, 2.0 / 27.0, 1.0 / 9.0, 1.0 / 6.0, 5.0 / 12.0, 0.5, 5.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0, 1.0 / 3.0, 1.0, 0.0, 1.0,
    ],
    a: [
        [0.0; 13],
        [2.0 / 27.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0 / 36.0, 1.0 / 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0 / 24.0, 0.0, 1.0 / 8.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [5.0 / 12.0, 0.0, -25.0 / 16.0, 25.0 / 16.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0 / 20.0, 0.0, 0.0, 1.0 / 4.0, 1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-25.0 / 108.0, 0.0, 0.0, 125.0 / 108.0, -65.0 / 27.0, 125.0 / 54.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [31.0 / 300.0, 0.0, 0.0, 0.0, 61.0 / 225.0, -2.0 / 9.0, 13.0 / 900.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0, -53.0 / 6.0, 704.0 / 45.0, -107.0 / 9.0, 67.0 / 90.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [-91.0 / 108.0, 0.0, 0.0, 23.0 / 108.0, -976.0 / 135.0, 311.0 / 54.0, -19.0 / 60.0, 17.0 / 6.0, -1.0 / 12.0, 0.0, 0.0, 0.0, 0.0],
        [2383.0 / 4100.0, 0.0, 0.0, -341.0 / 164.0, 4496.0 / 1025.0, -301.0 / 82.0, 2133.0 / 4100.0, 45.0 / 82.0, 45.0 / 164.0, 18.0 / 41.0, 0.0, 0.0, 0.0],
        [3.0 / 205.0, 0.0, 0.0, 0.0, 0.0, -6.0 / 41.0, -3.0 / 205.0, -3.0 / 41.0, 3.0 / 41.0, 6.0 / 41.0, 0.0, 0.0, 0.0],
        [-1777.0 / 4100.0, 0.0, 0.0, -341.0 / 164.0, 4496.0 / 1025.0, -289.0 / 82.0, 2193.0 / 4100.0, 51.0 / 82.0, 33.0 / 164.0, 12.0 / 41.0, 0.0, 1.0, 0.0],
    ],
    high: [
        0.0, 0.0, 0.0, 0.0, 0.0, 34.0 / 105.0, 9.0 / 35.0, 9.0 / 35.0, 9.0 / 280.0, 9.0 / 280.0, 0.0, 41.0 / 840.0, 41.0 / 840.0,
    ],
    low: [
        41.0 / 840.0, 0.0, 0.0, 0.0, 0.0, 34.0 / 105.0, 9.0 / 35.0, 9.0 / 35.0, 9.0 / 280.0, 9.0 / 280.0, 41.0 / 840.0, 0.0, 0.0,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Σⱼ aᵢⱼ = cᵢ, and the quadrature conditions Σ bᵢ cᵢᵏ⁻¹ = 1/k, for k up to the order of each result.
    fn check<const S: usize>(tableau: &Tableau<S>, order: i32) {
        for (row, c) in tableau.a.iter().zip(tableau.c) {
            assert!((row.iter().sum::<f64>() - c).abs() < 1e-13);
        }
        for (weights, order) in [(tableau.high, order), (tableau.low, order - 1)] {
            for power in 0..order {
                let moment: f64 = weights.iter().zip(tableau.c).map(|(b, c)| b * c.powi(power)).sum();
                assert!((moment - 1.0 / f64::from(power + 1)).abs() < 1e-14, "{order}: {power}");
            }
        }
    }

    #[test]
    fn coefficients_meet_the_quadrature_conditions_of_their_order() {
        check(&CASH_KARP, 5);
        check(&DORMAND_PRINCE, 5);
        check(&FEHLBERG, 8);
        for power in 0..4 {
            let moment: f64 =
                DORMAND_PRINCE_ERROR.iter().zip(DORMAND_PRINCE.c).map(|(b, c)| b * c.powi(power)).sum();
            assert!(moment.abs() < 1e-14, "{power}");
        }
        for (i, error) in DORMAND_PRINCE_ERROR.iter().enumerate() {
            assert!((DORMAND_PRINCE.high[i] - DORMAND_PRINCE.low[i] - error).abs() < 1e-16, "{i}");
        }
    }
}
