//! Runs scenes with one, two and four threads, stops and restores one of them halfway, and compares the bits:
//! `cargo run --release -p rattleback-scene --example same_bits [STEPS] [SCENE …]`.
//!
//! Scenes are the large ones, or any built-in scene, by name. Without a name: all the large ones.

use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Error, Registry, Simulator, Status, World};
use rattleback_scene::Scene;
use rattleback_scene::stress::{STRESS_SCENES, StressScene};
use std::time::Instant;

/// States after 1000 steps, under x86-64 Linux.
const PINNED: [(&str, u64); 2] =
    [("large-pyramid", 0xd5c9_955c_c3be_8879), ("wide-pyramid", 0x02ef_ad7b_d0da_43df)];

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

/// A scene that can be begun as often as one likes.
enum Kind {
    Large(StressScene),
    BuiltIn(Scene),
}

impl Kind {
    fn find(name: &str) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(match STRESS_SCENES.iter().find(|(known, ..)| *known == name) {
            Some((_, _, make)) => Self::Large(make()?),
            None => Self::BuiltIn(Scene::built_in(name)?),
        })
    }

    fn world(&self) -> Result<World, Box<dyn std::error::Error>> {
        Ok(match self {
            Self::Large(scene) => scene.world()?,
            Self::BuiltIn(scene) => scene.build(&Registry::default())?.world,
        })
    }

    fn settings(&self, threads: i64) -> RealtimeSettings {
        let settings = RealtimeSettings { threads, ..RealtimeSettings::default() };
        match self {
            Self::Large(scene) => {
                RealtimeSettings { sleep: scene.sleeping, sleep_speed: scene.sleep_speed, ..settings }
            }
            Self::BuiltIn(_) => settings,
        }
    }

    /// Adds the bodies that are due in a step.
    fn arrive(&self, world: &mut World, step: usize) -> Result<(), Error> {
        match self {
            Self::Large(scene) => scene.arrive(world, step).map(|_| ()),
            Self::BuiltIn(_) => Ok(()),
        }
    }
}

fn run(kind: &Kind, steps: usize, threads: i64, stops: bool) -> Result<u64, Box<dyn std::error::Error>> {
    let mut world = kind.world()?;
    let mut simulator: Box<dyn Simulator> = Box::new(Realtime::new(kind.settings(threads))?);
    for step in 0..steps {
        if stops && step == steps / 2 {
            let saved = world.snapshot_with(&*simulator)?;
            (world, simulator) = World::restore_with(&saved, &Registry::default())?;
        }
        kind.arrive(&mut world, step)?;
        simulator.step(&mut world, 1.0 / 60.0)?;
    }
    Ok(hash(&world))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let steps = arguments.next_if(|word| word.parse::<usize>().is_ok()).map_or(Ok(1000), |n| n.parse())?;
    let mut wanted: Vec<String> = arguments.collect();
    if wanted.is_empty() {
        wanted.extend(STRESS_SCENES.iter().map(|(name, ..)| (*name).to_owned()));
    }
    let mut differ = false;
    for name in &wanted {
        let kind = Kind::find(name)?;
        let start = Instant::now();
        let mut states = Vec::new();
        let mut seconds = Vec::new();
        for (threads, stops) in [(1, false), (2, false), (4, false), (1, true)] {
            states.push(run(&kind, steps, threads, stops)?);
            seconds.push(format!("{:.1}", start.elapsed().as_secs_f64()));
        }
        let same = states.iter().all(|state| *state == states[0]);
        let pinned = PINNED.iter().find(|(known, _)| known == name && steps == 1000);
        let moved = pinned.is_some_and(|(_, state)| *state != states[0]);
        differ |= !same || moved;
        println!(
            "{name:<15} {steps} steps: {:#018x} {}{} (done after {} s)",
            states[0],
            if same { "with 1, 2, 4 threads and restored" } else { "DIFFERS" },
            pinned.map_or("", |_| if moved { ", NOT AS PINNED" } else { ", as pinned" }),
            seconds.join(", "),
        );
    }
    if differ {
        Err("threads, the restore or a change of the simulator show in the result".into())
    } else {
        Ok(())
    }
}
