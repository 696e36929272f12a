//! Time per problem, and how it grows with the number of contacts.
//!
//! `cargo run --release -p rattleback-numerics --example lcp_growth`: random problems and walls, each by
//! every method that can solve it. The exponent is that of the time between two sizes.

#[path = "../tests/lcp_problems/mod.rs"]
mod lcp_problems;

use glam::{DMat3, DVec3};
use lcp_problems::{
    Random, as_blocks, contact_matrix, cubes, frictionless, gravity_rows, random_frictional, random_lcp, wall,
};
use rattleback_numerics::lcp::blocks::{
    Block, BlockProblem, BlockSettings, BlockSolver, EqualityRow, EqualitySolver,
};
use rattleback_numerics::lcp::{
    Friction, FrictionContact, FrictionProblem, SweepSettings, baraff, dantzig, gauss_seidel, lemke, newton,
};
use std::time::Instant;

fn main() {
    println!("{:32} {:>6} {:>12} {:>9} {:>10}", "problem and method", "n", "ms each", "exponent", "residual");
    let sizes = [25, 50, 100, 200];
    let random = |n: usize| random_lcp(&mut Random(7), n);
    report("random, Dantzig", &sizes, 20, |n| {
        let problem = random(n);
        move || dantzig(&problem, None).map_or(f64::NAN, |found| problem.residual(&found.z))
    });
    report("random, Dantzig, warm", &sizes, 20, |n| {
        let problem = random(n);
        let start = dantzig(&problem, None).map(|found| found.z).unwrap_or_default();
        move || dantzig(&problem, Some(&start)).map_or(f64::NAN, |found| problem.residual(&found.z))
    });
    report("random, Lemke", &sizes, 5, |n| {
        let problem = random(n);
        move || problem.residual(&lemke(&problem).z)
    });
    report("random, Newton", &sizes, 5, |n| {
        let problem = random(n);
        move || newton(&problem, None).map_or(f64::NAN, |found| problem.residual(&found.z))
    });
    report("random, Gauss–Seidel to 1e-10", &sizes, 5, |n| {
        let problem = random(n);
        let settings = SweepSettings { sweeps: 100_000, ..SweepSettings::default() };
        move || gauss_seidel(&problem, &settings, None).map_or(f64::NAN, |found| problem.residual(&found.z))
    });
    report("random with friction, Baraff", &[5, 10, 20, 40], 5, |n| {
        let problem = random_frictional(&mut Random(8), n, false);
        move || problem.residual(&baraff(&problem).force)
    });
    walls();
}

/// Walls of cubes: contacts are redundant, so the matrix is singular.
fn walls() {
    let heights = [3, 6, 11];
    let contacts = |height: usize| cubes(&wall(7, height)).1.len();
    let sizes = heights.map(contacts);
    let height = |n: usize| heights[sizes.iter().position(|size| *size == n).unwrap_or(0)];
    report("wall, Dantzig", &sizes, 1, |n| {
        let (bodies, points) = cubes(&wall(7, height(n)));
        let problem = frictionless(&contact_matrix(&bodies, &points), &gravity_rows(&points));
        move || dantzig(&problem, None).map_or(f64::NAN, |found| problem.residual(&found.z))
    });
    report("wall with friction, Baraff", &sizes[..1], 1, |n| {
        let (bodies, points) = cubes(&wall(7, height(n)));
        let kinds = vec![FrictionContact { friction: Friction::Static([0.5; 2]) }; points.len()];
        let problem = FrictionProblem::new(contact_matrix(&bodies, &points), gravity_rows(&points), kinds);
        move || problem.as_ref().map_or(f64::NAN, |problem| problem.residual(&baraff(problem).force))
    });
    report("wall with friction, blocks", &sizes, 3, |n| {
        let (bodies, points) = cubes(&wall(7, height(n)));
        let problem = as_blocks(&bodies, &points, 0.5, -9.81 * DVec3::Z);
        move || {
            let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
            let report = BlockSolver::default().solve(
                &problem,
                &BlockSettings::default(),
                &mut impulse,
                &mut velocity,
            );
            report.map_or(f64::NAN, |report| report.residual)
        }
    });
    report("chain of ball joints, equalities", &[250, 500, 1000, 2000], 5, |n| {
        let problem = chain(n);
        let mut solver = EqualitySolver::default();
        move || {
            let (mut impulse, mut velocity) = (Vec::new(), Vec::new());
            let report = solver.solve(&problem, &mut impulse, &mut velocity);
            report.map_or(f64::NAN, |report| report.residual)
        }
    });
}

/// A chain hung from the world, each link tilted in a different direction and falling.
fn chain(links: usize) -> BlockProblem {
    let arm = |k: usize| 0.5 * DVec3::new((1.3 * k as f64).sin(), (0.7 * k as f64).cos(), -1.5);
    let inertia = DMat3::from_diagonal(DVec3::new(0.1, 0.12, 0.05));
    let link = Block::rigid(1.0, inertia, inertia.inverse(), -9.81 * DVec3::Z, DVec3::ZERO);
    let mut equalities = Vec::new();
    for k in 0..links {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let above = k.checked_sub(1);
            let upper = above.map_or([DVec3::ZERO; 2], |above| [axis, arm(above).cross(axis)]);
            equalities.push(EqualityRow {
                blocks: [above, Some(k)],
                rows: [upper, [-axis, arm(k).cross(axis)]],
                target: 0.0,
                bounds: [f64::NEG_INFINITY, f64::INFINITY],
                softness: None,
            });
        }
    }
    BlockProblem { blocks: vec![link; links], equalities, ..BlockProblem::default() }
}

/// Times a method over sizes; `make` prepares a problem and returns the closure to be timed, which returns a
/// residual.
fn report<F: FnMut() -> f64>(name: &str, sizes: &[usize], repeats: u32, make: impl Fn(usize) -> F) {
    let mut before: Option<(usize, f64)> = None;
    for &n in sizes {
        let mut run = make(n);
        let mut residual = run();
        // Minimum over repeats: the mean depends on the load of the machine.
        let mut each = f64::INFINITY;
        for _ in 0..repeats {
            let start = Instant::now();
            residual = run();
            each = each.min(start.elapsed().as_secs_f64());
        }
        let exponent = before.map_or_else(String::new, |(size, time)| {
            format!("{:.1}", (each / time).ln() / (n as f64 / size as f64).ln())
        });
        println!("{name:32} {n:>6} {:>12.3} {exponent:>9} {residual:>10.1e}", 1e3 * each);
        before = Some((n, each));
    }
}
