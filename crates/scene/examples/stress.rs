//! Runs a stress scene: `cargo run --release -p rattleback-scene --example stress -- NAME [STEPS] [THREADS]
//! [series]`; with `series` it prints the times of the stages of every step, ms.

use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Simulator, Status};
use rattleback_scene::stress::{STRESS_SCENES, stress_scene};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        for (name, what, _) in STRESS_SCENES {
            println!("{name:<14} {what}");
        }
        return Ok(());
    };
    let scene = stress_scene(&name).ok_or_else(|| format!("there is no stress scene `{name}`"))??;
    let steps = arguments.next().map_or(Ok(scene.steps), |steps| steps.parse())?.max(2);
    let threads = arguments.next().map_or(Ok(1), |threads| threads.parse())?;
    let every_step = arguments.next().is_some_and(|word| word == "series");
    let mut world = scene.world()?;
    let settings = RealtimeSettings {
        sleep: scene.sleeping,
        sleep_speed: scene.sleep_speed,
        threads,
        ..RealtimeSettings::default()
    };
    let mut simulator = Realtime::new(settings)?;
    let mut times = Vec::with_capacity(steps);
    let mut stages = [0.0; 4];
    for step in 0..steps {
        let start = Instant::now();
        scene.arrive(&mut world, step)?;
        simulator.step(&mut world, 1.0 / 60.0)?;
        times.push(start.elapsed().as_secs_f64());
        if let Some(times) = simulator.stage_times() {
            let times = [times.pairs, times.contacts, times.solve, times.motion];
            stages.iter_mut().zip(times).for_each(|(sum, time)| *sum += time);
            if every_step {
                println!("{step} {:?} {:?}", times.map(|t| (t * 1e5).round() / 1e2), simulator.counters());
            }
        }
    }
    let motion = world.bodies().motion(Status::Dynamic);
    let height = motion.iter().map(|motion| motion.x.y).sum::<f64>() / motion.len().max(1) as f64;
    let fastest = motion.iter().map(|motion| motion.v.length()).fold(0.0, f64::max);
    let deepest = simulator.contact_points(&world).map(|point| -point.gap).fold(0.0, f64::max);
    let mean = times[1..].iter().sum::<f64>() / (steps - 1) as f64;
    times.sort_by(f64::total_cmp);
    println!("{name}: {:?}", simulator.counters());
    println!(
        "{:.3} ms a step (median {:.3}), mean height {height:.3} m, fastest {fastest:.3} m/s, deepest overlap {:.1} mm",
        1e3 * mean,
        1e3 * times[steps / 2],
        1e3 * deepest,
    );
    let [pairs, contacts, solve, motion] = stages.map(|sum| 1e3 * sum / steps as f64);
    println!("pairs {pairs:.3} ms, contacts {contacts:.3}, solve {solve:.3}, motion {motion:.3}");
    Ok(())
}
