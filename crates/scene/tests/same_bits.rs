//! The same bits for any number of threads, after a restore, and today as yesterday.
//!
//! Whoever changes how the real-time simulator calculates changes these numbers, and says so here. They hold for x86-64 under Linux:
//! other systems have other sines. Large scenes: `cargo run --release -p rattleback-scene --example same_bits`.

use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Registry, Simulator, World};
use rattleback_scene::Scene;

const DT: f64 = 1.0 / 60.0;

fn begin(name: &str, threads: i64) -> (World, Realtime) {
    let stage = Scene::built_in(name).unwrap().build(&Registry::default()).unwrap();
    let simulator = Realtime::new(RealtimeSettings { threads, ..RealtimeSettings::default() }).unwrap();
    (stage.world, simulator)
}

/// FNV-1a over all states.
fn hash(world: &World) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for body in world.iter_bodies() {
        let motion = body.motion();
        let numbers = [motion.x.to_array(), motion.v.to_array(), motion.omega.to_array()];
        for number in numbers.as_flattened().iter().chain(&motion.q.to_array()) {
            hash = (hash ^ number.to_bits()).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

fn state_after(name: &str, steps: usize, threads: i64) -> u64 {
    let (mut world, mut simulator) = begin(name, threads);
    for _ in 0..steps {
        simulator.step(&mut world, DT).unwrap();
    }
    hash(&world)
}

#[test]
fn states_after_many_steps_are_pinned() {
    let pinned = [
        ("arch", 1000, 0x512d_a97c_9412_a0ed_u64),
        ("brick-wall", 1000, 0x68ec_ed0f_2177_acde),
        ("bridge", 1000, 0x857e_0475_b144_a03e),
        ("car", 1000, 0x2fc2_a9b9_0097_78bb),
        ("card-house", 1000, 0x3431_c5c3_6ac9_897c),
        ("chain", 1000, 0x5030_cafb_f114_b1a9),
        ("jenga", 1000, 0x8019_554e_9152_6154),
        ("lever", 1000, 0x3db1_6232_8a22_892d),
        ("newtons-cradle", 1000, 0x3b19_9428_1ad5_12e9),
        ("quadruped", 1000, 0xc561_b924_5c31_4f52),
        ("ragdoll", 1000, 0xd2f4_43bc_b949_255c),
        ("spinning-top", 1000, 0xaa39_86e6_f194_c9d6),
    ];
    let mut changed = Vec::new();
    for (name, steps, expected) in pinned {
        let one = state_after(name, steps, 1);
        if one != expected {
            changed.push(format!("(\"{name}\", {steps}, {one:#018x})"));
        }
    }
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        assert!(changed.is_empty(), "now: {}", changed.join(", "));
    }
}

/// Threads wait for each other many times in a step, which takes its time where there are more of them than processors; hence fewer
/// steps.
#[test]
fn threads_do_not_show() {
    for name in ["brick-wall", "bridge", "jenga", "quadruped", "ragdoll"] {
        let one = state_after(name, 40, 1);
        for threads in [2, 4] {
            assert_eq!(state_after(name, 40, threads), one, "{name} with {threads} threads");
        }
    }
}

/// 100 steps, saved and restored, 100 more: the same as never having stopped.
#[test]
fn restored_scenes_go_on_bit_for_bit() {
    let registry = Registry::default();
    for name in ["brick-wall", "bridge", "chain", "jenga", "lever", "newtons-cradle", "quadruped", "ragdoll"]
    {
        let (mut world, mut simulator) = begin(name, 1);
        let run = |world: &mut World, simulator: &mut dyn Simulator| {
            for _ in 0..100 {
                simulator.step(world, DT).unwrap();
            }
        };
        run(&mut world, &mut simulator);
        let saved = world.snapshot_with(&simulator).unwrap();
        run(&mut world, &mut simulator);
        let (mut copy, mut resumed) = World::restore_with(&saved, &registry).unwrap();
        run(&mut copy, &mut *resumed);
        assert_eq!(hash(&copy), hash(&world), "{name}");
    }
}
