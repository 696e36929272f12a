//! How well the complementarity solvers agree with Lemke's method and with their own conditions.
//!
//! `cargo run --release -p rattleback-numerics --example lcp_agreement [count]`: that many frictionless
//! problems of up to 200 rows, and a tenth as many frictional ones of up to 20 contacts. The default is 1000;
//! the full count is 100000.

#[path = "../tests/lcp_problems/mod.rs"]
mod lcp_problems;

use lcp_problems::{Random, random_frictional, random_lcp};
use rattleback_numerics::lcp::{Outcome, baraff, dantzig, lemke};
use std::collections::BTreeMap;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1000_usize);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Tally> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|part| scope.spawn(move || tally(part as u64, count.div_ceil(threads))))
            .collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let mut all = Tally::default();
    for part in parts {
        all.add(part);
    }
    println!("frictionless, n ≤ 200: {} problems", all.plain);
    println!("  solved by Dantzig {}, by Lemke {}", all.dantzig, all.lemke);
    println!("  largest difference of z {:.1e}, largest residual {:.1e}", all.difference, all.residual);
    println!("frictional, ≤ 20 contacts, μ ≤ 1: {} problems", all.frictional);
    for (outcome, count) in &all.outcomes {
        println!("  {outcome}: {count}");
    }
    println!("  largest residual of the solved ones {:.1e}", all.frictional_residual);
    println!("  worse than 1e-9: {}", all.worse);
}

#[derive(Default)]
struct Tally {
    plain: usize,
    dantzig: usize,
    lemke: usize,
    difference: f64,
    residual: f64,
    frictional: usize,
    outcomes: BTreeMap<&'static str, usize>,
    frictional_residual: f64,
    worse: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.plain += other.plain;
        self.dantzig += other.dantzig;
        self.lemke += other.lemke;
        self.difference = self.difference.max(other.difference);
        self.residual = self.residual.max(other.residual);
        self.frictional += other.frictional;
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
        self.frictional_residual = self.frictional_residual.max(other.frictional_residual);
        self.worse += other.worse;
    }
}

fn tally(seed: u64, count: usize) -> Tally {
    let mut tally = Tally { plain: count, frictional: count.div_ceil(10), ..Tally::default() };
    let mut random = Random(1000 + seed);
    for _ in 0..count {
        let n = 1 + random.below(200);
        let problem = random_lcp(&mut random, n);
        let Ok(found) = dantzig(&problem, None) else { continue };
        let reference = lemke(&problem);
        tally.dantzig += usize::from(found.outcome == Outcome::Solved);
        tally.lemke += usize::from(reference.outcome == Outcome::Solved);
        tally.residual = tally.residual.max(problem.residual(&found.z));
        let differences = found.z.iter().zip(&reference.z).map(|(x, y)| (x - y).abs());
        tally.difference = tally.difference.max(differences.fold(0.0, f64::max));
    }
    for _ in 0..tally.frictional {
        let contacts = 1 + random.below(20);
        let problem = random_frictional(&mut random, contacts, false);
        let found = baraff(&problem);
        let name = match found.outcome {
            Outcome::Solved => "solved",
            Outcome::Unbounded { .. } => "unbounded",
            Outcome::Inconsistent { .. } => "inconsistent",
            Outcome::IterationLimit { .. } => "given up",
        };
        *tally.outcomes.entry(name).or_default() += 1;
        if found.outcome == Outcome::Solved {
            let residual = problem.residual(&found.force);
            tally.frictional_residual = tally.frictional_residual.max(residual);
            tally.worse += usize::from(residual > 1e-9);
        }
    }
    tally
}
