//! The same bits for any number of threads, after a restore, and today as yesterday.
//!
//! A change of the arithmetic of the real-time simulator changes these numbers, and is recorded here. They hold for x86-64 under Linux:
//! other systems have other sines. Large scenes: `cargo run --release -p rattleback-scene --example same_bits`.

use rattleback_dynamics::property::ComponentType;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings, Realtime, RealtimeSettings};
use rattleback_dynamics::{Registry, Simulator, World};
use rattleback_scene::Scene;

const DT: f64 = 1.0 / 60.0;

fn begin(name: &str, threads: i64) -> (World, Realtime) {
    let built = Scene::built_in(name).unwrap().build(&Registry::default()).unwrap();
    let simulator = Realtime::new(RealtimeSettings { threads, ..RealtimeSettings::default() }).unwrap();
    (built.world, simulator)
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
        ("arch", 1000, 0xffcc_7993_bfa9_3f5c_u64),
        ("avalanche", 1000, 0x2a2a_40f1_0593_e3ad),
        ("bowling", 1000, 0x5607_f4aa_5a39_c7eb),
        ("brick-wall", 1000, 0xd760_c407_f9bd_fe0e),
        ("bridge", 1000, 0xa64f_9980_8604_4459),
        ("bullet", 1000, 0xd7d8_4ed1_6573_232f),
        ("car", 1000, 0x664c_559e_4ddd_78fb),
        ("card-house", 1000, 0x42a3_0f98_9fc6_70d5),
        ("chain", 1000, 0xc239_ba67_bb36_45fd),
        ("jenga", 1000, 0xe0af_741d_ba08_b49d),
        ("lever", 1000, 0xea1f_db41_d529_b5c6),
        ("newtons-cradle", 1000, 0x2522_f5b2_cb5f_5374),
        ("platter", 1000, 0xfc33_2325_822f_05ce),
        ("pool-break", 1000, 0x1f21_8f01_0d5f_3fd4),
        ("quadruped", 1000, 0x7dcd_782a_12d5_dbd4),
        ("raft", 1000, 0xbd96_0f03_7dce_f23d),
        ("ragdoll", 1000, 0x134c_e71f_477f_d791),
        ("rattleback", 1000, 0x53fe_c598_cf0f_8dda),
        ("spinning-top", 1000, 0xc7ba_514d_c36b_446b),
        ("track", 1000, 0x08f9_c853_5f80_a4ac),
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

/// Threads wait for each other many times in a step, which takes its time where there are more of them than processors: the scenes
/// with few stages go all the way, the others for a while. The example `same_bits` takes any scene all the way.
#[test]
fn threads_do_not_show() {
    let whole = ["arch", "avalanche", "bullet", "card-house", "raft", "ragdoll"];
    let begun = [
        "bowling",
        "brick-wall",
        "bridge",
        "car",
        "chain",
        "crane",
        "domino-spiral",
        "jenga",
        "lever",
        "newtons-cradle",
        "platter",
        "pool-break",
        "quadruped",
        "rattleback",
        "spinning-top",
        "track",
    ];
    let all = whole.map(|name| (name, 1000)).into_iter().chain(begun.map(|name| (name, 60)));
    for (name, steps) in all {
        let one = state_after(name, steps, 1);
        for threads in [2, 4] {
            assert_eq!(state_after(name, steps, threads), one, "{name} with {threads} threads");
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

/// A scene of the event-driven simulator with its own settings but for the number of threads, and its step.
fn begin_impulse(name: &str, threads: i64) -> (World, Impulse, f64) {
    let built = Scene::built_in(name).unwrap().build(&Registry::default()).unwrap();
    let settings = ImpulseSettings::with(&built.simulator.description().properties).unwrap();
    (built.world, Impulse::new(ImpulseSettings { threads, ..settings }).unwrap(), built.dt)
}

/// Impulse test 38: ten seconds, or a thousand steps, of scenes in which bodies are alone, collide and separate: the same states, events and
/// counters with 1, 2 and 4 threads.
#[test]
fn threads_do_not_show_in_events() {
    let scenes = [
        ("dominos", 1000),
        ("pool-break", 1000),
        ("coins", 1000),
        ("chute", 1000),
        ("balls-in-dish", 1000),
        ("exploding-text", 1000),
        ("bowling", 1000),
    ];
    for (name, steps) in scenes {
        let mut runs = [1, 2, 4].map(|threads| begin_impulse(name, threads));
        for step in 0..steps {
            for (world, simulator, dt) in &mut runs {
                simulator.step(world, *dt).unwrap();
            }
            let [(one, simulator, _), others @ ..] = &runs;
            for (other, its, _) in others {
                assert_eq!(hash(other), hash(one), "{name}, step {step}");
                assert_eq!(other.events(), one.events(), "{name}, step {step}");
                assert_eq!(its.counters(), simulator.counters(), "{name}, step {step}");
            }
        }
    }
}

/// Saved with two threads in the middle of things and taken up with any number: the same as never having stopped.
#[test]
fn restored_events_go_on_bit_for_bit() {
    let registry = Registry::default();
    for name in ["dominos", "pool-break", "coins", "chute", "balls-in-dish", "exploding-text"] {
        let (mut world, mut simulator, dt) = begin_impulse(name, 2);
        let half = 250;
        for _ in 0..half {
            simulator.step(&mut world, dt).unwrap();
        }
        let (saved, memory) = (world.snapshot().unwrap(), simulator.save_state());
        for _ in 0..half {
            simulator.step(&mut world, dt).unwrap();
        }
        for threads in [1, 2, 4] {
            let (_, mut resumed, _) = begin_impulse(name, threads);
            let mut copy = World::restore(&saved, &registry).unwrap();
            resumed.restore_state(&memory).unwrap();
            for _ in 0..half {
                resumed.step(&mut copy, dt).unwrap();
            }
            assert_eq!(hash(&copy), hash(&world), "{name}, {threads} threads");
            assert_eq!(resumed.counters(), simulator.counters(), "{name}, {threads} threads");
        }
    }
}
