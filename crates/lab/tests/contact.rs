//! Random experiments that failed once: `rattleback validate contact/CLASS --first NUMBER --samples 1` repeats one.

use rattleback_dynamics::Registry;
use rattleback_lab::contact::{Study, matching};

/// Runs experiments of a class under `realtime` ⇒ every row that has a limit passes.
fn pass(class: &str, first: u32, samples: u32, dt: f64) {
    let study =
        Study { samples, first, steps: vec![dt], simulator: Some("realtime".into()), ..Study::default() };
    let registry = Registry::default();
    let rows: Vec<_> = matching(class).flat_map(|class| study.run(class, &registry)).collect();
    assert!(!rows.is_empty());
    for row in rows {
        assert!(
            row.pass,
            "{}: {} in #{}, {:?} allowed",
            row.case, row.error, row.worst_experiment, row.allowed
        );
    }
}

/// A thin rattleback whose rolling step has to be refined many times; it sank into the plane.
#[test]
fn a_thin_rattleback_rolls_at_large_steps() {
    pass("contact/rolling", 271, 1, 1.0 / 60.0);
}

/// A linkage that passes a singular position; it gained 2.6 % of its energy in one step.
#[test]
fn a_linkage_passes_a_singular_position() {
    pass("contact/joints", 13, 1, 1.0 / 60.0);
}
