//! Complementarity solvers against closed forms, enumeration, Lemke's method and their own conditions.

use crate::lcp_problems;

use glam::{DMat3, DVec3};
use lcp_problems::{
    Random, contact_matrix, cubes, frictionless, gravity_rows, random_frictional, random_lcp, tower, wall,
};
use rattleback_numerics::lcp::{
    Friction, FrictionContact, FrictionProblem, Lcp, LcpError, Outcome, SquareMatrix, SweepSettings, baraff,
    dantzig, gauss_seidel, gauss_seidel_friction, lemke, newton,
};

fn lcp(n: usize, a: &[f64], b: &[f64]) -> Lcp {
    Lcp::new(SquareMatrix::from_rows(n, a.to_vec()).unwrap(), b.to_vec()).unwrap()
}

fn close(x: &[f64], y: &[f64], tolerance: f64) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(x, y)| (x - y).abs() <= tolerance)
}

/// LCP-1, LCP-2: the published small problems, by every method.
#[test]
fn small_problems() {
    let chain = [2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0];
    let cases: [(Lcp, &[f64], &[f64]); 3] = [
        (lcp(3, &chain, &[-1.0; 3]), &[1.5, 2.0, 1.5], &[0.0; 3]),
        (lcp(3, &chain, &[-1.0, 3.0, -1.0]), &[0.5, 0.0, 0.5], &[0.0, 2.0, 0.0]),
        (lcp(2, &[2.0, 1.9, 1.9, 2.0], &[-1.0, -3.0]), &[0.0, 1.5], &[1.85, 0.0]),
    ];
    for (problem, z, w) in cases {
        let sweeps = SweepSettings { sweeps: 10_000, tolerance: 1e-13, ..SweepSettings::default() };
        for solution in [
            dantzig(&problem, None).unwrap(),
            lemke(&problem),
            newton(&problem, None).unwrap(),
            gauss_seidel(&problem, &sweeps, None).unwrap(),
        ] {
            assert_eq!(solution.outcome, Outcome::Solved);
            assert!(close(&solution.z, z, 1e-11) && close(&solution.w, w, 1e-11), "{solution:?}");
        }
    }
}

/// LCP-3: random problems of up to 8 rows against trying all 2ⁿ choices of held rows.
#[test]
fn agrees_with_enumeration() {
    let mut random = Random(1);
    for _ in 0..300 {
        let n = 1 + random.below(8);
        let problem = random_lcp(&mut random, n);
        let found = dantzig(&problem, None).unwrap();
        let mut matches = 0;
        for choice in 0..1_u32 << n {
            let held: Vec<usize> = (0..n).filter(|i| choice >> i & 1 == 1).collect();
            let Some(z) = solve_held(&problem, &held) else { continue };
            if problem.residual(&z) < 1e-10 && z.iter().all(|z| *z >= -1e-12) {
                assert!(close(&z, &found.z, 1e-9), "{z:?} {found:?}");
                matches += 1;
            }
        }
        assert!(matches >= 1);
    }
}

/// A_HH z = −b_H by Gauss–Jordan, written for the test.
fn solve_held(problem: &Lcp, held: &[usize]) -> Option<Vec<f64>> {
    let k = held.len();
    let mut m: Vec<Vec<f64>> = held
        .iter()
        .map(|i| held.iter().map(|j| problem.a()[(*i, *j)]).chain([-problem.b()[*i]]).collect())
        .collect();
    for p in 0..k {
        let pivot = m[p][p];
        if pivot.abs() < 1e-12 {
            return None;
        }
        let row: Vec<f64> = m[p].iter().map(|x| x / pivot).collect();
        for (i, other) in m.iter_mut().enumerate() {
            let factor = if i == p { 0.0 } else { other[p] };
            other.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
        }
        m[p] = row;
    }
    let mut z = vec![0.0; problem.n()];
    held.iter().enumerate().for_each(|(p, i)| z[*i] = m[p][k]);
    Some(z)
}

/// LCP-3: larger random problems: Dantzig, cold and warm, Newton and Lemke agree.
#[test]
fn methods_agree_on_random_problems() {
    let mut random = Random(2);
    for round in 0..200 {
        let n = 1 + random.below(if round < 20 { 200 } else { 60 });
        let problem = random_lcp(&mut random, n);
        let found = dantzig(&problem, None).unwrap();
        assert_eq!(found.outcome, Outcome::Solved);
        assert!(problem.residual(&found.z) < 1e-11);
        assert!(close(&found.z, &lemke(&problem).z, 1e-9));
        let start: Vec<f64> = found.z.iter().map(|z| z + random.between(-0.05, 0.05)).collect();
        let warm = dantzig(&problem, Some(&start)).unwrap();
        assert!(close(&found.z, &warm.z, 1e-9));
        assert!(warm.iterations <= found.iterations.max(n));
        if n <= 60 {
            let by_newton = newton(&problem, None).unwrap();
            assert_eq!(by_newton.outcome, Outcome::Solved);
            assert!(close(&found.z, &by_newton.z, 1e-9));
        }
    }
}

/// A start that is the solution needs no pivot, and no sweep more than one.
#[test]
fn warm_starts_at_the_solution_cost_nothing() {
    let mut random = Random(3);
    let problem = random_lcp(&mut random, 40);
    let found = dantzig(&problem, None).unwrap();
    assert_eq!(dantzig(&problem, Some(&found.z)).unwrap().iterations, 0);
    let swept = gauss_seidel(&problem, &SweepSettings::default(), Some(&found.z)).unwrap();
    assert_eq!((swept.outcome, swept.iterations), (Outcome::Solved, 1));
}

/// MC-4, LCP-6: towers and walls repeat contacts (A is singular); forces still balance the weight above,
/// layer by layer.
#[test]
fn stacks_and_walls_carry_their_weight() {
    for centers in [tower(1), tower(5), tower(20), wall(4, 4), wall(6, 5), wall(7, 11)] {
        let (bodies, points) = cubes(&centers);
        let matrix = contact_matrix(&bodies, &points);
        assert!(matrix.asymmetry().0 < 1e-12);
        let problem = frictionless(&matrix, &gravity_rows(&points));
        let found = dantzig(&problem, None).unwrap();
        assert_eq!(found.outcome, Outcome::Solved);
        assert!(problem.residual(&found.z) < 1e-9, "{}", problem.residual(&found.z));
        let total: f64 =
            points.iter().zip(&found.z).filter(|(p, _)| p.bodies[1].is_none()).map(|(_, z)| z).sum();
        assert!((total - 9.81 * centers.len() as f64).abs() < 1e-8);
    }
    let (bodies, points) = cubes(&tower(20));
    let problem = frictionless(&contact_matrix(&bodies, &points), &gravity_rows(&points));
    let found = dantzig(&problem, None).unwrap();
    for level in 0..20 {
        let carried: f64 =
            points.iter().zip(&found.z).filter(|(p, _)| p.bodies[0] == Some(level)).map(|(_, z)| z).sum();
        assert!((carried - 9.81 * (20 - level) as f64).abs() < 1e-8);
    }
}

/// LCP-6: a contact twice gives the accelerations of one.
#[test]
fn a_duplicate_changes_no_acceleration() {
    let once = lcp(2, &[2.0, 0.5, 0.5, 1.0], &[-1.0, 0.2]);
    let twice = lcp(3, &[2.0, 2.0, 0.5, 2.0, 2.0, 0.5, 0.5, 0.5, 1.0], &[-1.0, -1.0, 0.2]);
    let (one, two) = (dantzig(&once, None).unwrap(), dantzig(&twice, None).unwrap());
    assert!((one.z[0] - two.z[0] - two.z[1]).abs() < 1e-12);
    assert!(close(&[one.w[0], one.w[0], one.w[1]], &two.w, 1e-12));
}

/// LCP-6: invalid input is reported; the empty problem is solved.
#[test]
fn bad_input_is_refused() {
    let empty = Lcp::new(SquareMatrix::zeros(0), Vec::new()).unwrap();
    assert_eq!(dantzig(&empty, None).unwrap().outcome, Outcome::Solved);
    assert_eq!(lemke(&empty).outcome, Outcome::Solved);
    assert!(baraff(&FrictionProblem::new(SquareMatrix::zeros(0), vec![], vec![]).unwrap()).force.is_empty());
    assert!(matches!(Lcp::new(SquareMatrix::zeros(2), vec![1.0]), Err(LcpError::Dimension { .. })));
    let nan = Lcp::new(SquareMatrix::zeros(2), vec![1.0, f64::NAN]);
    assert_eq!(nan, Err(LcpError::NonFinite { row: 1 }));
    let lopsided = lcp(2, &[1.0, 2.0, 0.0, 1.0], &[-1.0, -1.0]);
    assert!(matches!(dantzig(&lopsided, None), Err(LcpError::Asymmetric { .. })));
    let contact = FrictionContact { friction: Friction::Static([-0.1, 0.0]) };
    let refused = FrictionProblem::new(SquareMatrix::zeros(3), vec![0.0; 3], vec![contact]);
    assert!(matches!(refused, Err(LcpError::Friction { .. })));
    assert!(matches!(SquareMatrix::from_rows(2, vec![1.0]), Err(LcpError::Dimension { .. })));
    assert!(dantzig(&lcp(1, &[1.0], &[-1.0]), Some(&[])).is_err());
}

/// Contradictory rows are reported: two of one direction, one requiring more than the other allows.
#[test]
fn contradictions_are_reported() {
    let problem = lcp(2, &[1.0, -1.0, -1.0, 1.0], &[-1.0, -1.0]);
    let found = dantzig(&problem, None).unwrap();
    assert_eq!(found.outcome, Outcome::Inconsistent { rows: vec![0, 1] });
    assert!(matches!(lemke(&problem).outcome, Outcome::Unbounded { .. }));
}

/// LCP-4: random frictional problems keep every condition; few need to be given up.
#[test]
fn frictional_problems_keep_all_conditions() {
    let mut random = Random(4);
    let (mut solved, total) = (0, 400);
    for round in 0..total {
        let contacts = 1 + random.below(if round % 10 == 0 { 15 } else { 5 });
        let problem = random_frictional(&mut random, contacts, false);
        let found = baraff(&problem);
        if found.outcome == Outcome::Solved {
            assert!(problem.residual(&found.force) < 1e-9, "{}", problem.residual(&found.force));
            solved += 1;
        }
    }
    assert!(solved >= total - 1, "{solved}");
}

/// Sliding contacts among sticking ones.
#[test]
fn sliding_contacts_keep_their_law() {
    let mut random = Random(5);
    for _ in 0..300 {
        let contacts = 1 + random.below(6);
        let problem = random_frictional(&mut random, contacts, true);
        let found = baraff(&problem);
        if found.outcome == Outcome::Solved {
            assert!(problem.residual(&found.force) < 1e-9, "{}", problem.residual(&found.force));
        }
    }
}

/// Both frictional methods find the same accelerations where friction is small, so that the solution is
/// unique.
#[test]
fn sweeps_agree_with_pivots() {
    let mut random = Random(6);
    let mut compared = 0;
    for _ in 0..60 {
        let problem = random_frictional(&mut random, 3, false);
        let gentle: Vec<FrictionContact> = problem
            .contacts()
            .iter()
            .map(|_| FrictionContact { friction: Friction::Static([0.1, 0.1]) })
            .collect();
        let problem = FrictionProblem::new(problem.a().clone(), problem.b().to_vec(), gentle).unwrap();
        let sweeps = SweepSettings { sweeps: 20_000, tolerance: 1e-12, ..SweepSettings::default() };
        let swept = gauss_seidel_friction(&problem, &sweeps, None).unwrap();
        let pivoted = baraff(&problem);
        if swept.outcome == Outcome::Solved && pivoted.outcome == Outcome::Solved {
            assert!(close(&swept.acceleration, &pivoted.acceleration, 1e-7));
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// LCP-5: Painlevé's rod, half-length 1, 1 kg, at tan θ = 2: finite forces below μ = 4/3, none above, where
/// friction pulls it in.
#[test]
fn painleve_rod() {
    let theta = 2.0_f64.atan();
    let (s, c) = theta.sin_cos();
    // Contact end relative to the centre, in the plane x z; t is along x, the slip. I = m (2 l)²/12 = 1/3.
    let r = DVec3::new(-c, 0.0, -s);
    let inverse_inertia = DMat3::from_diagonal(DVec3::splat(3.0));
    let frame = DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Z.cross(DVec3::X));
    let a = SquareMatrix::from_fn(3, |i, j| {
        let (d, e) = (frame.col(i), frame.col(j));
        d.dot(e) + r.cross(d).dot(inverse_inertia * r.cross(e))
    });
    let rod = |mu: f64| {
        let contact = FrictionContact { friction: Friction::Dynamic([mu, 0.0]) };
        baraff(&FrictionProblem::new(a.clone(), vec![-9.81, 0.0, 0.0], vec![contact]).unwrap())
    };
    // Friction against the slip; the sign that makes n and t work against each other is the dangerous one.
    let sign = -a[(0, 1)].signum();
    for (mu, coefficient, force) in [(1.0, 0.4, 24.525), (1.3, 0.04, 245.25)] {
        let found = rod(sign * mu);
        assert_eq!(found.outcome, Outcome::Solved);
        assert!((a[(0, 0)] + sign * mu * a[(0, 1)] - coefficient).abs() < 1e-12);
        assert!((found.force[0] - force).abs() < 1e-9, "{found:?}");
    }
    for mu in [4.0 / 3.0 + 1e-9, 1.34, 1.5] {
        assert_eq!(rod(sign * mu).outcome, Outcome::Unbounded { row: 0 });
    }
    assert!((rod(-sign * 1.5).force[0] - 2.885294118).abs() < 1e-9);
    assert!(((1.0 + 3.0 * c * c) / (3.0 * s * c) - 4.0 / 3.0).abs() < 1e-15);
}

/// A tower with friction: 12 rows a cube, rank 6.
#[test]
fn frictional_tower_stands() {
    for n in [1, 3, 8] {
        let (bodies, points) = cubes(&tower(n));
        let matrix = contact_matrix(&bodies, &points);
        let kinds = vec![FrictionContact { friction: Friction::Static([0.5; 2]) }; points.len()];
        let mut b = gravity_rows(&points);
        // A wind that pushes every cube along t with 1 m/s².
        for (row, value) in b.iter_mut().enumerate() {
            let ground = points[row / 3].bodies[1].is_none();
            if row % 3 == 1 && ground {
                *value += 1.0;
            }
        }
        let problem = FrictionProblem::new(matrix, b, kinds).unwrap();
        let found = baraff(&problem);
        assert_eq!(found.outcome, Outcome::Solved, "{n}");
        assert!(problem.residual(&found.force) < 1e-9);
        assert!(found.acceleration.iter().all(|a| a.abs() < 1e-9));
    }
}

/// One of some 50 000 random problems, of 13 contacts, in which neither pivots nor sweeps nor Lemke's method
/// with other roundings find a solution, because contacts are linearly dependent and forces large; with
/// slightly soft contacts they do.
#[test]
fn jammed_contacts_are_solved() {
    let mut random = Random(79);
    for k in 0..=1397 {
        let contacts = 1 + random.below(20);
        let problem = random_frictional(&mut random, contacts, false);
        if k == 1397 {
            let found = baraff(&problem);
            assert_eq!(found.outcome, Outcome::Solved);
            assert!(problem.residual(&found.force) < 1e-9, "{}", problem.residual(&found.force));
        }
    }
}
