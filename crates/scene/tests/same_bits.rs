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
        ("brick-wall", 300, 0xe437_96d9_03cb_88b9_u64),
        ("bridge", 300, 0x0b5d_33b8_2931_7975),
        ("chain", 60, 0xba97_9a95_54ef_a7e0),
        ("jenga", 300, 0xff43_a24b_f42e_2238),
        ("quadruped", 300, 0x83f2_8f9e_cac8_1bd1),
        ("spinning-top", 60, 0x925e_c250_7341_880c),
    ];
    for (name, steps, expected) in pinned {
        let one = state_after(name, steps, 1);
        for threads in [2, 4] {
            assert_eq!(state_after(name, steps, threads), one, "{name} with {threads} threads");
        }
        if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            assert_eq!(one, expected, "{name}: {one:#018x}");
        }
    }
}
