//! Complementarity problems against an interior-point solver for quadratic programs, and how the time grows with their size.
//!
//! `cargo run --release --features clarabel --bin lcp_speed`
//!
//! For a symmetric positive semidefinite A, z ≥ 0, w = A z + b ≥ 0, z·w = 0 are the conditions of the least of ½ zᵀA z + bᵀz over z ≥ 0. So
//! Clarabel can solve the frictionless ones; with friction there is no such function, and the peer is left out. Residuals are the largest
//! violation of the conditions; the interior point is asked for as much as it can give (1e-12).

#[path = "../../../crates/numerics/tests/lcp_problems/mod.rs"]
#[allow(dead_code, reason = "only the problems that a quadratic program can stand for are taken")]
mod lcp_problems;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT};
use lcp_problems::{Random, contact_matrix, cubes, frictionless, gravity_rows, random_lcp, wall};
use rattleback_numerics::lcp::{Lcp, dantzig, lemke, newton};
use std::time::Instant;

fn main() {
    println!(
        "{:18} {:>5}  {:12} {:>10} {:>9} {:>10} {:>8}",
        "problem", "rows", "method", "ms each", "exponent", "residual", "× ours"
    );
    let random = |n: usize| random_lcp(&mut Random(7), n);
    compare("random", &[10, 25, 50, 100, 200, 400], random);
    let heights = [1, 2, 4, 8];
    let rows = |height: usize| cubes(&wall(7, height)).1.len();
    let walls = |n: usize| {
        let height = heights.into_iter().find(|height| rows(*height) == n).unwrap_or(1);
        let (bodies, points) = cubes(&wall(7, height));
        frictionless(&contact_matrix(&bodies, &points), &gravity_rows(&points))
    };
    compare("wall of cubes", &heights.map(rows), walls);
}

type Method = (&'static str, fn(&Lcp) -> Option<Vec<f64>>);

const METHODS: [Method; 4] = [
    ("Dantzig", |problem| dantzig(problem, None).ok().map(|found| found.z)),
    ("Newton", |problem| newton(problem, None).ok().map(|found| found.z)),
    ("Lemke", |problem| Some(lemke(problem).z)),
    ("Clarabel", clarabel),
];

fn compare(name: &str, sizes: &[usize], make: impl Fn(usize) -> Lcp) {
    let mut before = [None::<(usize, f64)>; METHODS.len()];
    for &n in sizes {
        let problem = make(n);
        let mut ours = f64::NAN;
        for ((method, solve), before) in METHODS.iter().zip(&mut before) {
            let (each, found) = time(|| solve(&problem));
            let residual = found.map_or(f64::NAN, |z| problem.residual(&z));
            let exponent = before.map_or_else(String::new, |(size, time)| {
                format!("{:.1}", (each / time).ln() / (n as f64 / size as f64).ln())
            });
            if ours.is_nan() {
                ours = each;
            }
            println!(
                "{name:18} {n:>5}  {method:12} {:>10.3} {exponent:>9} {residual:>10.1e} {:>8.2}",
                1e3 * each,
                each / ours
            );
            *before = Some((n, each));
        }
    }
}

/// Least time of several tries, as many as fit into a fifth of a second.
fn time<T>(mut job: impl FnMut() -> T) -> (f64, T) {
    let began = Instant::now();
    let mut least = f64::INFINITY;
    loop {
        let start = Instant::now();
        let answer = std::hint::black_box(job());
        least = least.min(start.elapsed().as_secs_f64());
        if began.elapsed().as_secs_f64() > 0.2 {
            return (least, answer);
        }
    }
}

/// The least of ½ zᵀA z + bᵀz over −z + s = 0, s ≥ 0.
fn clarabel(problem: &Lcp) -> Option<Vec<f64>> {
    let n = problem.n();
    // The upper triangle, column by column.
    let (mut columns, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..n {
        for i in 0..=j {
            let value = problem.a()[(i, j)];
            if value != 0.0 {
                rows.push(i);
                values.push(value);
            }
        }
        columns.push(rows.len());
    }
    let matrix = CscMatrix::new(n, n, columns, rows, values);
    let minus = CscMatrix::new(n, n, (0..=n).collect(), (0..n).collect(), vec![-1.0; n]);
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-12,
        tol_gap_rel: 1e-12,
        tol_feas: 1e-12,
        ..DefaultSettings::default()
    };
    let zeros = vec![0.0; n];
    let mut solver =
        DefaultSolver::new(&matrix, problem.b(), &minus, &zeros, &[NonnegativeConeT(n)], settings).ok()?;
    solver.solve();
    Some(solver.solution.x.clone())
}
