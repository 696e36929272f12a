//! Eigenvectors of a symmetric 3×3 matrix by Jacobi rotations.
//!
//! A rotation in the (p, q) plane by θ with cot 2θ = (A_qq − A_pp)/(2 A_pq) makes A_pq zero; t = tan θ is the
//! smaller root of t² + 2t cot 2θ − 1 = 0. Sweeping over the three pairs converges quadratically, and it
//! finds small eigenvalues of graded matrices to high relative accuracy. The columns come out in some order
//! and with some sign; of the 24 right-handed arrangements the one with the largest trace is kept, that is
//! the one closest to the identity, so that a nearly diagonal matrix keeps its axes.

use glam::{DMat3, DVec3};

/// Below this fraction of the largest diagonal entry an off-diagonal entry counts as rounding noise.
const NOISE: f64 = 1e-13;

/// Symmetric A ⇒ (λ, R) with A = R diag(λ) Rᵀ, det R = +1, R the right-handed arrangement closest to the
/// identity.
///
/// A matrix that is diagonal up to rounding gives R = 1 exactly. Only the upper triangle is read.
pub fn symmetric_eigen(a: DMat3) -> (DVec3, DMat3) {
    let mut m = [[a.x_axis.x, a.y_axis.x, a.z_axis.x], [0.0, a.y_axis.y, a.z_axis.y], [0.0, 0.0, a.z_axis.z]];
    (m[1][0], m[2][0], m[2][1]) = (m[0][1], m[0][2], m[1][2]);
    let scale = (0..3).map(|i| m[i][i].abs()).fold(0.0, f64::max);
    let off = m[0][1].abs().max(m[0][2].abs()).max(m[1][2].abs());
    let diagonal = DVec3::new(m[0][0], m[1][1], m[2][2]);
    // The comparison is written so that NaN also leaves here.
    if !(off > NOISE * scale) {
        return (diagonal, DMat3::IDENTITY);
    }
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _sweep in 0..50 {
        if m[0][1] == 0.0 && m[0][2] == 0.0 && m[1][2] == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate(&mut m, &mut v, p, q);
        }
    }
    arrange_near_identity(
        DVec3::new(m[0][0], m[1][1], m[2][2]),
        std::array::from_fn(|column| DVec3::new(v[0][column], v[1][column], v[2][column])),
    )
}

/// One Jacobi rotation that makes m[p][q] zero; v collects the rotations.
fn rotate(m: &mut [[f64; 3]; 3], v: &mut [[f64; 3]; 3], p: usize, q: usize) {
    let off = m[p][q];
    if off == 0.0 {
        return;
    }
    if off.abs() <= 1e-17 * (m[p][p].abs().min(m[q][q].abs())) {
        (m[p][q], m[q][p]) = (0.0, 0.0);
        return;
    }
    let cot = (m[q][q] - m[p][p]) / (2.0 * off);
    let t = cot.signum() / (cot.abs() + (1.0 + cot * cot).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    m[p][p] -= t * off;
    m[q][q] += t * off;
    (m[p][q], m[q][p]) = (0.0, 0.0);
    let r = 3 - p - q;
    let (mrp, mrq) = (m[r][p], m[r][q]);
    m[r][p] = c * mrp - s * mrq;
    m[r][q] = s * mrp + c * mrq;
    (m[p][r], m[q][r]) = (m[r][p], m[r][q]);
    for row in v.iter_mut() {
        let (vp, vq) = (row[p], row[q]);
        row[p] = c * vp - s * vq;
        row[q] = s * vp + c * vq;
    }
}

/// Of all permutations and signs of the columns with determinant +1, the one with the largest trace.
fn arrange_near_identity(values: DVec3, columns: [DVec3; 3]) -> (DVec3, DMat3) {
    const PERMUTATIONS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let mut best = (f64::NEG_INFINITY, values, DMat3::IDENTITY);
    for [i, j, k] in PERMUTATIONS {
        for signs in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
            let (x, y) = (signs[0] * columns[i], signs[1] * columns[j]);
            // Two columns fix the third; the product also removes its rounding error.
            let z = x.cross(y).normalize_or(columns[k]);
            let trace = x.x + y.y + z.z;
            if trace > best.0 + 1e-12 {
                best = (trace, DVec3::new(values[i], values[j], values[k]), DMat3::from_cols(x, y, z));
            }
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn diagonal_matrices_keep_their_axes() {
        let (values, r) = symmetric_eigen(DMat3::from_diagonal(DVec3::new(3.0, 1.0, 2.0)));
        assert_eq!((values, r), (DVec3::new(3.0, 1.0, 2.0), DMat3::IDENTITY));
        let mut noisy = DMat3::IDENTITY;
        noisy.y_axis.x = 1e-16;
        noisy.x_axis.y = 1e-16;
        assert_eq!(symmetric_eigen(noisy).1, DMat3::IDENTITY);
    }

    #[test]
    fn not_a_number_does_not_hang() {
        assert!(symmetric_eigen(DMat3::NAN).0.is_nan());
    }

    proptest! {
        #[test]
        fn reconstructs_the_matrix(l in prop::array::uniform3(-9.0..9.0f64), q in prop::array::uniform4(-1.0..1.0f64)) {
            let q = DQuat::from_array(q);
            prop_assume!(q.length() > 0.1);
            let basis = DMat3::from_quat(q.normalize());
            let a = basis * DMat3::from_diagonal(DVec3::from_array(l)) * basis.transpose();
            let (values, r) = symmetric_eigen(a);
            let back = r * DMat3::from_diagonal(values) * r.transpose();
            prop_assert!(back.abs_diff_eq(a, 1e-12));
            prop_assert!((r.determinant() - 1.0).abs() < 1e-13);
            prop_assert!((r.transpose() * r).abs_diff_eq(DMat3::IDENTITY, 1e-14));
            let (mut got, mut expected) = (values.to_array(), l);
            got.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            for i in 0..3 { prop_assert!((got[i] - expected[i]).abs() < 1e-12); }
        }
    }
}
