//! Runs large scenes with one, two and four threads, stops and restores one of them halfway, and compares the bits:
//! `cargo run --release -p rattleback-scene --example same_bits [STEPS] [SCENE …]`.

use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Error, Registry, Simulator, Status, World};
use rattleback_scene::stress::{STRESS_SCENES, StressScene};

/// FNV-1a over all states.
fn hash(world: &World) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for motion in world.bodies().motion(Status::Dynamic) {
        let numbers = [motion.x.to_array(), motion.v.to_array(), motion.omega.to_array()];
        for number in numbers.as_flattened().iter().chain(&motion.q.to_array()) {
            hash = (hash ^ number.to_bits()).wrapping_mul(0x100_0000_01b3);
        }
    }
    hash
}

fn run(scene: &StressScene, steps: usize, threads: i64, stops: bool) -> Result<u64, Error> {
    let settings = RealtimeSettings {
        sleep: scene.sleeping,
        sleep_speed: scene.sleep_speed,
        threads,
        ..RealtimeSettings::default()
    };
    let mut world = scene.world()?;
    let mut simulator: Box<dyn Simulator> = Box::new(Realtime::new(settings)?);
    for step in 0..steps {
        if stops && step == steps / 2 {
            let saved = world.snapshot_with(&*simulator)?;
            (world, simulator) = World::restore_with(&saved, &Registry::default())?;
        }
        scene.arrive(&mut world, step)?;
        simulator.step(&mut world, 1.0 / 60.0)?;
    }
    Ok(hash(&world))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let steps = arguments.next_if(|word| word.parse::<usize>().is_ok()).map_or(Ok(1000), |n| n.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let mut differ = false;
    for (name, _, make) in STRESS_SCENES {
        if !wanted.is_empty() && !wanted.iter().any(|want| want == name) {
            continue;
        }
        let scene = make()?;
        let one = run(&scene, steps, 1, false)?;
        let others =
            [run(&scene, steps, 2, false)?, run(&scene, steps, 4, false)?, run(&scene, steps, 1, true)?];
        let same = others.iter().all(|other| *other == one);
        differ |= !same;
        println!(
            "{name:<14} {steps} steps: {one:#018x} {}",
            if same { "with 1, 2, 4 threads and restored" } else { "DIFFERS" }
        );
    }
    if differ { Err("threads or the restore show in the result".into()) } else { Ok(()) }
}
