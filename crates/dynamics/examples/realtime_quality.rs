//! Sag of stacks, settling and tunnelling in the real-time simulator: prints a table.
//!
//! `cargo run --release -p rattleback-dynamics --example realtime_quality [launches]`

use glam::DVec3;
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, BodyId, Error, Simulator, World};
use rattleback_geometry::Shape;

const DT: f64 = 1.0 / 60.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let launches = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(10_000);
    for heavy in [1.0, 100.0, 1000.0] {
        let [sag, aside] = tower(heavy)?;
        println!(
            "ten boxes, the top one {heavy:>6} kg, 60 s: sag {:.2} mm, sideways {:.2} mm",
            1e3 * sag,
            1e3 * aside
        );
    }
    for sleep in [false, true] {
        for (since, moved) in pyramid(30, sleep)? {
            println!(
                "pyramid 30 high, 60 s, sleep {}: after {since:>2} s at most {:.3} mm along, {:.3} mm across, {:.3} mm down",
                if sleep { "on " } else { "off" },
                1e3 * moved.x,
                1e3 * moved.y,
                1e3 * moved.z
            );
        }
    }
    println!(
        "of {launches} balls and cubes of 1 cm at up to 1000 m/s and rods at 500 rad/s, at a wall of 1 mm or at each other, {} passed",
        passes(launches)?
    );
    Ok(())
}

fn ground(world: &mut World) -> Result<BodyId, Box<dyn std::error::Error>> {
    Ok(world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?)
}

fn without_sleep() -> Result<Realtime, Error> {
    Realtime::new(RealtimeSettings { sleep: false, ..RealtimeSettings::default() })
}

/// Mass of the top box, kg ⇒ [how far it sinks, how far it moves sideways], m.
fn tower(heavy: f64) -> Result<[f64; 2], Box<dyn std::error::Error>> {
    let mut world = World::default();
    ground(&mut world)?;
    let mut top = None;
    for k in 0..10 {
        let body =
            Body::dynamic().at(0.0, 0.0, 0.5 + f64::from(k)).with_shape(Shape::cuboid(DVec3::splat(0.5))?);
        top = Some(world.add_body(body.mass(if k == 9 { heavy } else { 1.0 }))?);
    }
    let mut simulator = without_sleep()?;
    for _ in 0..3600 {
        simulator.step(&mut world, DT)?;
    }
    let p = top.map_or(Ok(DVec3::ZERO), |top| world.body(top).map(|body| body.position()))?;
    Ok([9.5 - p.z, p.truncate().length()])
}

/// Start of the observation, s, and largest displacement since then, m.
type Drift = (u32, DVec3);

/// (rows, whether bodies may sleep) ⇒ for several starts of the observation, the largest displacement of a
/// box at any later tenth of a second of the minute: in the plane of the pyramid, across it and vertically.
fn pyramid(base: u32, sleep: bool) -> Result<Vec<Drift>, Box<dyn std::error::Error>> {
    let mut world = World::default();
    ground(&mut world)?;
    let mut boxes = Vec::new();
    for i in 0..base {
        for j in i..base {
            let x = 0.5 * (f64::from(i) + 1.0) + f64::from(j - i) - 0.5 * f64::from(base);
            let at = DVec3::new(x, 0.0, 0.5 + f64::from(i));
            let shape = Shape::cuboid(DVec3::splat(0.5))?;
            boxes.push(world.add_body(Body::dynamic().position(at).with_shape(shape))?);
        }
    }
    let mut simulator = Realtime::new(RealtimeSettings { sleep, ..RealtimeSettings::default() })?;
    let (mut before, mut drifts) = (Vec::<Vec<DVec3>>::new(), Vec::<Drift>::new());
    for tenth in 1..=600 {
        for _ in 0..6 {
            simulator.step(&mut world, DT)?;
        }
        let now = boxes
            .iter()
            .map(|id| world.body(*id).map(|body| body.position()))
            .collect::<Result<Vec<_>, _>>()?;
        for (then, (_, most)) in before.iter().zip(&mut drifts) {
            let moved = then.iter().zip(&now).map(|(then, now)| (*now - *then).abs());
            *most = moved.fold(*most, DVec3::max);
        }
        if [20, 60, 100].contains(&tenth) {
            before.push(now);
            drifts.push((tenth / 10, DVec3::ZERO));
        }
    }
    Ok(drifts)
}

/// Launches at a wall or at each other ⇒ number of bodies that passed through.
fn passes(launches: u32) -> Result<u32, Box<dyn std::error::Error>> {
    let mut state = 12345_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let mut passed = 0;
    for launch in 0..launches {
        let mut world = World::weightless();
        let speed = 10.0 * 100_f64.powf(uniform());
        let aim = DVec3::new(1.0, 0.3 * (uniform() - 0.5), 0.3 * (uniform() - 0.5)).normalize();
        let start = DVec3::new(-0.5 - 3.0 * uniform(), uniform() - 0.5, uniform() - 0.5);
        let spin = 2.0 * DVec3::new(uniform(), uniform(), uniform()) - DVec3::ONE;
        let spin = 500.0 * spin.normalize_or(DVec3::Z);
        let (shape, spin) = match launch % 4 {
            0 | 3 => (Shape::sphere(0.005)?, DVec3::ZERO),
            1 => (Shape::cuboid(DVec3::splat(0.005))?, spin),
            _ => (Shape::cuboid(DVec3::new(0.2, 0.005, 0.005))?, spin),
        };
        let bullet =
            Body::dynamic().position(start).velocity(speed * aim).angular_velocity(spin).with_shape(shape);
        let id = world.add_body(bullet)?;
        let opponent = if launch % 4 == 3 {
            // Launched from the other side on the same line.
            let back = Body::dynamic().position(start + 7.0 * aim).velocity(-speed * (0.2 + uniform()) * aim);
            Some(world.add_body(back.with_shape(Shape::sphere(0.005)?))?)
        } else {
            world.add_body(Body::fixed().with_shape(Shape::cuboid(DVec3::new(0.0005, 50.0, 50.0))?))?;
            None
        };
        let mut simulator = Realtime::default();
        for _ in 0..30 {
            simulator.step(&mut world, DT)?;
        }
        let at = world.body(id)?.position();
        passed += u32::from(match opponent {
            Some(opponent) => (world.body(opponent)?.position() - at).dot(aim) < 0.0,
            None => at.x > 0.0,
        });
    }
    Ok(passed)
}
