//! Drift and energy of joints in the real-time simulator: `cargo run --release -p rattleback-dynamics
//! --example joint_quality [exact_joints] [joint_frequency]`.

use glam::DVec3;
use rattleback_dynamics::joint::{JointFrames, Revolute, Spherical};
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, BodyId, Simulator, World};
use rattleback_geometry::Shape;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A chain of links of length 1 m on the world, the last a sphere with `ratio` times the mass of a link ⇒
/// (world, bodies).
fn chain(links: usize, ratio: f64, sideways: bool) -> Outcome<(World, Vec<BodyId>)> {
    let mut world = World::default();
    let direction = if sideways { DVec3::X } else { DVec3::NEG_Z };
    let shape = Shape::cuboid(if sideways { DVec3::new(0.4, 0.1, 0.1) } else { DVec3::new(0.1, 0.1, 0.4) })?;
    let mut bodies = Vec::new();
    for k in 0..links {
        let center = direction * (k as f64 + 0.5);
        let body = Body::dynamic().at(center.x, center.y, center.z);
        let last = k + 1 == links;
        let body = if last {
            body.with_shape(Shape::sphere(0.4)?).mass(ratio)
        } else {
            body.with_shape(shape.clone()).mass(1.0)
        };
        let id = world.add_body(body)?;
        let joint_frames =
            bodies.last().map_or(JointFrames::to_world(id), |above| JointFrames::between(*above, id));
        world.add_joint(joint_frames.at(direction * k as f64), Spherical::default())?;
        bodies.push(id);
    }
    Ok((world, bodies))
}

/// Largest distance of two anchors that should coincide, m.
fn drift(world: &World, bodies: &[BodyId], sideways: bool) -> Outcome<f64> {
    let arm = if sideways { DVec3::X } else { DVec3::NEG_Z } * 0.5;
    let mut worst = 0.0_f64;
    let mut above = DVec3::ZERO;
    for id in bodies {
        let pose = world.body(*id)?.pose();
        worst = worst.max((pose.point(-arm) - above).length());
        above = pose.point(arm);
    }
    Ok(worst)
}

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut settings = RealtimeSettings::default();
    if let Some(exact) = arguments.next() {
        settings.exact_joints = exact.parse()?;
    }
    if let Some(frequency) = arguments.next() {
        settings.joint_frequency = frequency.parse()?;
    }
    for (links, ratio, sideways) in [
        (2, 1.0, false),
        (2, 1.0, true),
        (3, 1.0, false),
        (10, 1.0, true),
        (100, 1.0, false),
        (100, 100.0, false),
        (20, 100.0, true),
        (100, 100.0, true),
    ] {
        let (mut world, bodies) = chain(links, ratio, sideways)?;
        let mut simulator = Realtime::new(settings.clone())?;
        let mut worst = 0.0_f64;
        let start = std::time::Instant::now();
        let mut energy = Vec::new();
        for step in 0..600 {
            simulator.step(&mut world, 1.0 / 60.0)?;
            worst = worst.max(drift(&world, &bodies, sideways)?);
            if step % 120 == 0 {
                energy.push(world.readout().kinetic_energy + world.readout().potential_energy);
            }
        }
        println!(
            "chain of {links}, end mass {ratio}, {}: worst drift {:.5} %, last {:.5} %, {:.2} ms a step, energy {:.1?}",
            if sideways { "swinging" } else { "hanging" },
            100.0 * worst,
            100.0 * drift(&world, &bodies, sideways)?,
            start.elapsed().as_secs_f64() * 1e3 / 600.0,
            energy,
        );
    }
    // A rod of length L about one end: T = 2π √(2L/3g) for small swings.
    let mut world = World::default();
    let rod = world.add_body(
        Body::dynamic().at(0.0, 0.0, -0.5).with_shape(Shape::cuboid(DVec3::new(0.005, 0.005, 0.5))?),
    )?;
    world.add_joint(JointFrames::to_world(rod).along(DVec3::Y), Revolute::default())?;
    world.body_mut(rod)?.set_angular_velocity(DVec3::Y * 0.1)?;
    world.body_mut(rod)?.set_velocity(DVec3::Y.cross(DVec3::Z * -0.5) * 0.1)?;
    let mut simulator = Realtime::default();
    let (mut last, mut crossings) = (1.0_f64, Vec::new());
    for _ in 0..1200 {
        simulator.step(&mut world, 1.0 / 60.0)?;
        let now = world.body(rod)?.position().x;
        if last < 0.0 && now >= 0.0 {
            crossings.push(world.time() - now / (now - last) / 60.0);
        }
        last = now;
    }
    let period = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    println!(
        "rod: period {period:.6}, expected {:.6}",
        std::f64::consts::TAU * (2.0_f64 / 3.0 / 9.81).sqrt()
    );
    Ok(())
}
