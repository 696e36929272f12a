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
        ("arch", 1000, 0_u64),
        ("brick-wall", 1000, 0),
        ("bridge", 1000, 0),
        ("car", 1000, 0),
        ("card-house", 1000, 0),
        ("chain", 1000, 0),
        ("jenga", 1000, 0),
        ("lever", 1000, 0),
        ("newtons-cradle", 1000, 0),
        ("quadruped", 1000, 0),
        ("ragdoll", 1000, 0),
        ("spinning-top", 1000, 0),
    ];
    let mut changed = Vec::new();
    for (name, steps, expected) in pinned {
        let start = std::time::Instant::now();
        let one = state_after(name, steps, 1);
        let alone = start.elapsed();
        for threads in [2, 4] {
            assert_eq!(state_after(name, steps, threads), one, "{name} with {threads} threads");
        }
        println!("{name}: {alone:?} alone, {:?} in all", start.elapsed());
        if one != expected {
            changed.push(format!("(\"{name}\", {steps}, {one:#018x})"));
        }
    }
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        assert!(changed.is_empty(), "now: {}", changed.join(", "));
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
