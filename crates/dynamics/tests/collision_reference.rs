//! Collisions with a known outcome: published numbers, closed forms, and an independent brute-force integration.

use glam::{DMat3, DVec3};
use rattleback_dynamics::contact::{
    Collision, CollisionSettings, Law, Outcome, REFERENCE, Restitution, Scheme, SlipKind, resolve,
};

fn solve(collision: &Collision, settings: &CollisionSettings) -> Outcome {
    resolve(collision, settings).expect("a valid collision")
}

/// R1 to R9, test 22: every component to 1e-10.
#[test]
fn reference_collisions_come_out_to_ten_digits() {
    for case in &REFERENCE {
        let outcome = solve(&case.collision, &case.settings);
        println!("{} {:?} {}", case.name, outcome.scheme, outcome.evaluations);
        println!(
            "   {:e} {:e} {:e}",
            (outcome.velocity - case.velocity).length(),
            (outcome.impulse - case.impulse).length(),
            outcome.work - case.work
        );
        assert!((outcome.velocity - case.velocity).length() < 1e-10, "{} {outcome:?}", case.name);
        assert!((outcome.impulse - case.impulse).length() < 1e-10, "{} {outcome:?}", case.name);
        assert!((outcome.work - case.work).abs() < 1e-10, "{} {outcome:?}", case.name);
    }
}
