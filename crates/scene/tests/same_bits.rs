//! The same bits for any number of threads, and today as yesterday.
//!
//! Whoever changes how the real-time simulator calculates changes these numbers, and says so here. They hold for x86-64 under Linux:
//! other systems have other sines.

use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Registry, Simulator};
use rattleback_scene::Scene;

/// FNV-1a over all states.
fn state_after(name: &str, steps: usize, threads: i64) -> u64 {
    let mut stage = Scene::built_in(name).unwrap().build(&Registry::default()).unwrap();
    let mut simulator = Realtime::new(RealtimeSettings { threads, ..RealtimeSettings::default() }).unwrap();
    for _ in 0..steps {
        simulator.step(&mut stage.world, 1.0 / 60.0).unwrap();
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for body in stage.world.iter_bodies() {
        let motion = body.motion();
        let numbers = [motion.x.to_array(), motion.v.to_array(), motion.omega.to_array()];
        for number in numbers.as_flattened().iter().chain(&motion.q.to_array()) {
            hash = (hash ^ number.to_bits()).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

#[test]
fn states_after_many_steps_are_pinned() {
    let pinned = [
        ("brick-wall", 100, 0x933e_606e_c8b2_1d1c_u64),
        ("bridge", 100, 0xfaee_731d_57b6_5341),
        ("chain", 30, 0x505b_f599_81e8_3dc6),
        ("jenga", 100, 0xff43_a24b_f42e_2238),
        ("quadruped", 100, 0xd341_aaae_be5e_a08f),
        ("spinning-top", 30, 0x729b_e3b1_53fc_0d46),
    ];
    let mut changed = Vec::new();
    for (name, steps, expected) in pinned {
        let one = state_after(name, steps, 1);
        for threads in [2, 4] {
            assert_eq!(state_after(name, steps, threads), one, "{name} with {threads} threads");
        }
        if one != expected {
            changed.push(format!("(\"{name}\", {steps}, {one:#018x})"));
        }
    }
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        assert!(changed.is_empty(), "now: {}", changed.join(", "));
    }
}
