use rattleback_dynamics::{Properties, Registry};
use rattleback_lab::contact::{Study, matching};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let registry = Registry::default();
    let mut study =
        Study { samples: args[3].parse().unwrap(), simulator: Some(args[2].clone()), ..Study::default() };
    if let Some(f) = args.get(4) {
        study.first = f.parse().unwrap();
    }
    if let Some(dt) = args.get(5) {
        study.steps = vec![dt.parse().unwrap()];
    }
    if let Some(s) = args.get(6) {
        study.seed = s.parse().unwrap();
    }
    let _ = Properties::new();
    for class in matching(&args[1]) {
        let t = std::time::Instant::now();
        for row in study.run(class, &registry) {
            println!(
                "{:45} {:10} {:.4} n={} med {:.2e} p99 {:.2e} err {:.2e} allowed {:?} {} #{} fail {} {}",
                row.case,
                row.simulator,
                row.dt,
                row.samples,
                row.median,
                row.percentile_99,
                row.error,
                row.allowed,
                if row.pass { "ok" } else { "NO" },
                row.worst_experiment,
                row.failures,
                if row.pass { "" } else { &row.worst_case }
            );
        }
        println!("{:?}", t.elapsed());
    }
}
