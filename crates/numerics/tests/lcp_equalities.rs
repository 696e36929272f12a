//! Equality rows between blocks: against the dense equations, against closed forms, and where they are
//! redundant or contradictory.

use glam::{DMat3, DVec3};
use proptest::prelude::*;
use rattleback_numerics::lcp::blocks::{
    Block, BlockContact, BlockError, BlockProblem, BlockSettings, BlockSolver, EqualityRow, EqualitySolver,
    Stiffness, rank_of_equalities,
};

const ALWAYS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

fn block(mass: f64, moments: DVec3, v: DVec3, omega: DVec3) -> Block {
    let inertia = DMat3::from_diagonal(moments);
    Block::rigid(mass, inertia, inertia.inverse(), v, omega)
}

fn solve(problem: &BlockProblem) -> (bool, Vec<f64>, Vec<[DVec3; 2]>) {
    let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
    let report = EqualitySolver::default().solve(problem, &mut impulse, &mut velocity).unwrap();
    (report.converged, impulse, velocity)
}

fn rate(equality: &EqualityRow, velocity: &[[DVec3; 2]]) -> f64 {
    let side = |k: usize| {
        equality.blocks[k].map_or(0.0, |b| {
            equality.rows[k][0].dot(velocity[b][0]) + equality.rows[k][1].dot(velocity[b][1])
        })
    };
    side(0) + side(1) - equality.target
}

/// M (v − v*) − Jᵀ p, the largest component.
fn imbalance(problem: &BlockProblem, impulse: &[f64], velocity: &[[DVec3; 2]]) -> f64 {
    let mut left: Vec<[DVec3; 2]> = problem
        .blocks
        .iter()
        .zip(velocity)
        .map(|(b, v)| [b.mass[0] * (v[0] - b.free[0]), b.mass[1] * (v[1] - b.free[1])])
        .collect();
    for (equality, p) in problem.equalities.iter().zip(impulse) {
        for side in 0..2 {
            let Some(b) = equality.blocks[side] else { continue };
            left[b][0] -= *p * equality.rows[side][0];
            left[b][1] -= *p * equality.rows[side][1];
        }
    }
    left.iter().flatten().map(|v| v.abs().max_element()).fold(0.0, f64::max)
}

fn vector(range: f64) -> impl Strategy<Value = DVec3> {
    (-range..range, -range..range, -range..range).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

fn random_problem() -> impl Strategy<Value = BlockProblem> {
    let body = (0.2..5.0_f64, vector(1.0), vector(3.0), vector(3.0))
        .prop_map(|(mass, m, v, w)| block(mass, 0.2 * DVec3::ONE + m.abs(), v, w));
    let row = (0..6_usize, 0..7_usize, vector(1.0), vector(1.0), vector(1.0), -2.0..2.0_f64);
    (proptest::collection::vec(body, 6), proptest::collection::vec(row, 1..12)).prop_map(|(blocks, rows)| {
        let equalities = rows.into_iter().map(|(a, b, d, x, y, target)| EqualityRow {
            blocks: [Some(a), (b < 6 && b != a).then_some(b)],
            rows: [[d, x], [-d, y]],
            target,
            bounds: ALWAYS,
            softness: None,
        });
        BlockProblem { blocks, equalities: equalities.collect(), ..BlockProblem::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Independent rows are satisfied, and momentum changes by their impulses only.
    #[test]
    fn rows_are_satisfied_and_momentum_is_balanced(problem in random_problem()) {
        let rank = rank_of_equalities(&problem).unwrap();
        prop_assume!(rank.rank == problem.equalities.len());
        let (converged, impulse, velocity) = solve(&problem);
        prop_assert!(converged);
        let worst = problem.equalities.iter().map(|equality| rate(equality, &velocity).abs()).fold(0.0, f64::max);
        let push = impulse.iter().fold(1.0, |most: f64, p| most.max(p.abs()));
        prop_assert!(worst < 1e-11 * push, "{worst}");
        prop_assert!(imbalance(&problem, &impulse, &velocity) < 1e-10 * push);
    }

    /// Repeating every row changes no velocity and halves every impulse; the rank stays.
    #[test]
    fn repeated_rows_share(problem in random_problem()) {
        let rank = rank_of_equalities(&problem).unwrap();
        prop_assume!(rank.rank == problem.equalities.len());
        let (_, once, velocity) = solve(&problem);
        let mut twice = problem.clone();
        twice.equalities.extend_from_slice(&problem.equalities);
        let found = rank_of_equalities(&twice).unwrap();
        prop_assert_eq!(found.rank, rank.rank);
        prop_assert_eq!(found.dependent.len(), twice.equalities.len());
        let (converged, shared, same) = solve(&twice);
        prop_assert!(converged);
        let push = once.iter().fold(1.0, |most: f64, p| most.max(p.abs()));
        for (a, b) in velocity.iter().flatten().zip(same.iter().flatten()) {
            prop_assert!((*a - *b).length() < 1e-9 * push);
        }
        for (k, p) in once.iter().enumerate() {
            prop_assert!((shared[k] - 0.5 * p).abs() < 1e-6 * push && (shared[k + once.len()] - 0.5 * p).abs() < 1e-6 * push);
        }
    }
}

/// A chain of links hung from the world by ball joints, each link tilted in a different direction and
/// falling.
fn chain(links: usize) -> BlockProblem {
    let arm = |k: usize| 0.5 * DVec3::new((1.3 * k as f64).sin(), (0.7 * k as f64).cos(), -1.5);
    let blocks = (0..links)
        .map(|k| {
            block(1.0 + 0.1 * (k % 3) as f64, DVec3::new(0.1, 0.12, 0.05), -9.81 * DVec3::Z, 0.3 * arm(k))
        })
        .collect();
    let mut equalities = Vec::new();
    for k in 0..links {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            // The lower end of the link above, if there is one, and the upper end of this one.
            let above = k.checked_sub(1);
            let upper = above.map_or([DVec3::ZERO; 2], |above| [axis, arm(above).cross(axis)]);
            let rows = [upper, [-axis, -(-arm(k)).cross(axis)]];
            equalities.push(EqualityRow {
                blocks: [above, Some(k)],
                rows,
                target: 0.0,
                bounds: ALWAYS,
                softness: None,
            });
        }
    }
    BlockProblem { blocks, equalities, ..BlockProblem::default() }
}

/// MJ-6: the impulses of a chain are those of the dense equations (J M⁻¹ Jᵀ) p = −J v*, by elimination, to
/// 1e-9. (That the time grows with the number of links only is printed by the example `lcp_growth`.)
#[test]
fn chains_are_what_dense_equations_say() {
    let problem = chain(40);
    let n = problem.equalities.len();
    let mut dense = vec![vec![0.0; n + 1]; n];
    let entry = |one: &EqualityRow, other: &EqualityRow| -> f64 {
        let mut sum = 0.0;
        for side in 0..2 {
            for opposite in 0..2 {
                let Some(shared) = one.blocks[side].filter(|block| other.blocks[opposite] == Some(*block))
                else {
                    continue;
                };
                let [mass, inertia] = &problem.blocks[shared].inverse_mass;
                sum += one.rows[side][0].dot(*mass * other.rows[opposite][0]);
                sum += one.rows[side][1].dot(*inertia * other.rows[opposite][1]);
            }
        }
        sum
    };
    let free: Vec<[DVec3; 2]> = problem.blocks.iter().map(|block| block.free).collect();
    for i in 0..n {
        for j in 0..n {
            dense[i][j] = entry(&problem.equalities[i], &problem.equalities[j]);
        }
        dense[i][n] = -rate(&problem.equalities[i], &free);
    }
    // The matrix is positive definite: no exchanges.
    for k in 0..n {
        let top = dense[k].clone();
        for row in dense.iter_mut().skip(k + 1) {
            let factor = row[k] / top[k];
            row.iter_mut().zip(&top).skip(k).for_each(|(entry, top)| *entry -= factor * top);
        }
    }
    let mut expected = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| dense[i][j] * expected[j]).sum();
        expected[i] = (dense[i][n] - known) / dense[i][i];
    }
    let (converged, impulse, _) = solve(&problem);
    let most = expected.iter().fold(0.0_f64, |most, p| most.max(p.abs()));
    assert!(converged && most > 1.0);
    for (p, q) in impulse.iter().zip(&expected) {
        assert!((p - q).abs() < 1e-9 * most, "{p} {q}");
    }
}

/// Contradictory rows, 1 m/s and 3 m/s along the same axis: the velocity is 2 m/s, the least squares
/// solution, and the solver reports that it did not converge.
#[test]
fn contradictions_end_in_the_middle() {
    let equality = |target: f64| EqualityRow {
        blocks: [Some(0), None],
        rows: [[DVec3::X, DVec3::ZERO], [DVec3::ZERO; 2]],
        target,
        bounds: ALWAYS,
        softness: None,
    };
    let blocks = vec![block(2.0, DVec3::ONE, DVec3::new(0.0, 5.0, 0.0), DVec3::ZERO)];
    let problem =
        BlockProblem { blocks, equalities: vec![equality(1.0), equality(3.0)], ..BlockProblem::default() };
    let (converged, _, velocity) = solve(&problem);
    assert!(!converged);
    assert!((velocity[0][0] - DVec3::new(2.0, 5.0, 0.0)).length() < 1e-4, "{:?}", velocity[0]);
}

/// A chain of a thousand links hung up at one end: every link carries the weight below, and the last one as
/// well as the first.
#[test]
fn long_chains_hang() {
    let n = 1000;
    let free = -9.81 * DVec3::Z;
    let blocks = vec![block(1.0, DVec3::splat(0.1), free, DVec3::ZERO); n];
    let mut equalities = Vec::new();
    for k in 0..n {
        for axis in DVec3::AXES {
            // The upper end of a link on the lower end of the one above.
            let [upper, lower] = [0.5 * DVec3::Z, -0.5 * DVec3::Z].map(|arm| arm.cross(axis));
            equalities.push(EqualityRow {
                blocks: [k.checked_sub(1), Some(k)],
                rows: [[-axis, -lower], [axis, upper]],
                target: 0.0,
                bounds: ALWAYS,
                softness: None,
            });
        }
    }
    let problem = BlockProblem { blocks, equalities, ..BlockProblem::default() };
    let (_, impulse, velocity) = solve(&problem);
    let fastest = velocity.iter().flatten().map(|v| v.abs().max_element()).fold(0.0, f64::max);
    assert!(fastest < 1e-9, "{fastest}");
    for k in [0, 1, 500, 998, 999] {
        let weight = 9.81 * (n - k) as f64;
        assert!((impulse[3 * k + 2] - weight).abs() < 1e-6 * weight, "{k}: {} {weight}", impulse[3 * k + 2]);
    }
}

/// Bounds: a motor of 3 N s brings 2 kg to 1 m/s with 2 N s, and not to 4 m/s; a limit pushes and does not
/// pull; a soft row yields in proportion.
#[test]
fn impulses_stay_within_bounds() {
    let found = |target: f64, bounds: [f64; 2], softness: Option<f64>| {
        let blocks = vec![block(2.0, DVec3::ONE, DVec3::ZERO, DVec3::ZERO)];
        let rows = [[DVec3::X, DVec3::ZERO], [DVec3::ZERO; 2]];
        let equalities = vec![EqualityRow { blocks: [Some(0), None], rows, target, bounds, softness }];
        let problem = BlockProblem { blocks, equalities, ..BlockProblem::default() };
        let (_, impulse, velocity) = solve(&problem);
        // The general solver has to agree.
        let (mut contacts, mut other) = (Vec::new(), Vec::new());
        let mut solver = BlockSolver::default();
        solver.solve(&problem, &BlockSettings::default(), &mut contacts, &mut other).unwrap();
        assert!((other[0][0] - velocity[0][0]).length() < 1e-10, "{:?} {:?}", other[0], velocity[0]);
        assert!((solver.equality_impulses()[0] - impulse[0]).abs() < 1e-9);
        (velocity[0][0].x, impulse[0])
    };
    let close = |(v, p): (f64, f64), expected: (f64, f64)| {
        assert!((v - expected.0).abs() < 1e-10 && (p - expected.1).abs() < 1e-9, "{v} {p} for {expected:?}");
    };
    close(found(1.0, [-3.0, 3.0], None), (1.0, 2.0));
    close(found(4.0, [-3.0, 3.0], None), (1.5, 3.0));
    close(found(-4.0, [-3.0, 3.0], None), (-1.5, -3.0));
    close(found(1.0, [0.0, f64::INFINITY], None), (1.0, 2.0));
    close(found(-1.0, [0.0, f64::INFINITY], None), (0.0, 0.0));
    // p = −ρ (v − t), 2 v = p: v = ρ t/(2 + ρ).
    close(found(1.0, ALWAYS, Some(6.0)), (0.75, 1.5));
}

/// A dumbbell, two particles on a rod, lands with one of them: the contact feels both, as the rod is part of
/// the equations.
#[test]
fn contacts_feel_what_is_tied() {
    let particle = block(1.0, DVec3::ONE, -DVec3::Z, DVec3::ZERO);
    let contact = BlockContact {
        blocks: [Some(0), None],
        rows: [
            [[DVec3::Z, DVec3::ZERO], [DVec3::X, DVec3::ZERO], [DVec3::Y, DVec3::ZERO]],
            [[DVec3::ZERO; 2]; 3],
        ],
        target: DVec3::ZERO,
        friction: 0.0,
        stiffness: Stiffness::Rigid,
    };
    for (axis, expected) in
        [(DVec3::Z, 2.0), (DVec3::X, 1.0), (DVec3::new(0.6, 0.0, 0.8), 1.0 / (1.0 - 0.32))]
    {
        let equality = EqualityRow {
            blocks: [Some(0), Some(1)],
            rows: [[axis, DVec3::ZERO], [-axis, DVec3::ZERO]],
            target: 0.0,
            bounds: ALWAYS,
            softness: None,
        };
        let problem =
            BlockProblem { blocks: vec![particle; 2], contacts: vec![contact], equalities: vec![equality] };
        let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
        let report = BlockSolver::default()
            .solve(&problem, &BlockSettings::default(), &mut impulse, &mut velocity)
            .unwrap();
        // Along z an impulse p gives the first particle p (1 − ½ a_z²).
        assert!(
            report.converged && (impulse[0].x - expected).abs() < 1e-10,
            "{axis}: {} {expected}",
            impulse[0]
        );
    }
}

/// What cannot be solved is refused with the place of the fault.
#[test]
fn faults_are_named() {
    let blocks = vec![block(2.0, DVec3::ONE, DVec3::ZERO, DVec3::ZERO)];
    let good = EqualityRow {
        blocks: [Some(0), None],
        rows: [[DVec3::X, DVec3::ZERO], [DVec3::ZERO; 2]],
        target: 0.0,
        bounds: ALWAYS,
        softness: None,
    };
    let bad = [
        EqualityRow { blocks: [Some(1), None], ..good },
        EqualityRow { blocks: [Some(0), Some(0)], ..good },
        EqualityRow { target: f64::NAN, ..good },
        EqualityRow { bounds: [1.0, 2.0], ..good },
        EqualityRow { softness: Some(-1.0), ..good },
    ];
    for equality in bad {
        let problem = BlockProblem {
            blocks: blocks.clone(),
            equalities: vec![good, equality],
            ..BlockProblem::default()
        };
        let refused = EqualitySolver::default().solve(&problem, &mut Vec::new(), &mut Vec::new());
        assert_eq!(refused, Err(BlockError::Equality { row: 1 }));
        assert_eq!(rank_of_equalities(&problem), Err(BlockError::Equality { row: 1 }));
    }
}
