//! Boxes that slide on slopes and come to rest: Coulomb's friction, against the closed form.
//!
//! A box on a plane inclined by α obeys v' = g sin α ê − μ g cos α v̂, ê downhill, whatever its shape: μ is the same everywhere. On a level plane
//! that is a straight line; across a slope it is followed by Runge–Kutta steps. Nor does it yaw: friction −μ N v̂ acts below the centre of mass, so the centre of
//! pressure moves ahead until N balances its moment, along v̂, and friction through a point ahead has no moment about the normal.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DQuat, DVec2, DVec3};
use rattleback_dynamics::{Body, Material, World};
use rattleback_geometry::Shape;

const G: f64 = 9.81;
/// Time over which creep is measured, s.
const CREEP_TIME: f64 = 4.0;

pub(super) const CLASS: Class = Class {
    name: "contact/slide",
    doc: "Boxes sliding on planes of any slope: length and direction of the slide, no yaw, no creep, no energy gained",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "length", unit: "", aggregate: Aggregate::Worst, limit: length_limit },
        Quantity { name: "heading", unit: "°", aggregate: Aggregate::Worst, limit: angle_limit },
        Quantity { name: "yaw", unit: "°", aggregate: Aggregate::Worst, limit: angle_limit },
        Quantity { name: "creep", unit: "m/s", aggregate: Aggregate::Worst, limit: creep_limit },
        Quantity { name: "energy gained", unit: "", aggregate: Aggregate::Sum, limit: energy_limit },
    ],
    run,
};

fn length_limit(simulator: &str, _: f64) -> Option<f64> {
    Some(if simulator == "realtime" { 2e-3 } else { 1e-3 })
}

fn angle_limit(simulator: &str, _: f64) -> Option<f64> {
    (simulator != "realtime").then_some(0.1)
}

fn creep_limit(simulator: &str, _: f64) -> Option<f64> {
    (simulator != "realtime").then_some(1e-6)
}

fn energy_limit(simulator: &str, _: f64) -> Option<f64> {
    (simulator != "realtime").then_some(1e-9)
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let size = random.log_range(0.02, 0.5);
    let half =
        DVec3::new(random.range(0.4, 1.0), random.range(0.4, 1.0), random.range(0.1, 0.3)) * (0.5 * size);
    let mu = random.range(0.1, 0.7);
    let slope = if random.chance(0.3) { 0.0 } else { (random.range(0.0, 0.8) * mu).atan() };
    let uphill = random.angle();
    let normal = DQuat::from_axis_angle(DVec3::new(-uphill.sin(), uphill.cos(), 0.0), slope) * DVec3::Z;
    let plane = DQuat::from_rotation_arc(DVec3::Z, normal);
    let along = random.angle();
    let heading = plane * DVec3::new(along.cos(), along.sin(), 0.0);
    let start = random.range(0.1, 1.0) * (2.0 * G * mu * size).sqrt() * 3.0;
    // Along an axis of the box, or any other direction.
    let aligned = random.chance(0.5);
    let turn = if aligned {
        f64::from(random.index(4) as u32) * std::f64::consts::FRAC_PI_2
    } else {
        random.angle()
    };
    let q = plane * DQuat::from_rotation_z(along + turn);
    let gap = if random.chance(0.3) { 1e-9 } else { random.log_range(1e-7, 1e-5) * size };
    let restitution = if random.chance(0.5) { 0.0 } else { random.range(0.0, 0.6) };
    let can_sleep = random.chance(0.7);

    let mut world = World::default();
    let material = world.add_material(Material { restitution, ..Material::with_friction(mu) })?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(normal)?).material(material))?;
    let place = normal * (half.z + gap);
    let body = Body::dynamic()
        .with_shape(Shape::cuboid(half)?)
        .density(random.log_range(100.0, 8000.0))
        .material(material)
        .orientation(q)
        .position(place)
        .velocity(heading * start)
        .can_sleep(can_sleep);
    let body = world.add_body(body)?;
    let mut simulator = setup.simulator()?;

    // The gap is fallen through first, and friction makes up for it at the landing.
    let flight = (2.0 * gap / (G * normal.z)).sqrt();
    let pull = G * (normal.z * normal - DVec3::Z);
    let landing = heading * start + flight * pull;
    let landed = landing - landing.normalize() * (mu * G * normal.z * flight).min(landing.length());
    let (way, time) = expected(plane, pull, landed, mu * G * normal.z);
    let right = flight * (heading * start + 0.5 * flight * pull) + way;
    let mut before = world.readout().energy();
    let (scale, mut gained) = (world.readout().kinetic_energy, 0.0);
    for _ in 0..setup.steps(time + flight + 0.5) {
        simulator.step(&mut world, setup.dt)?;
        let now = world.readout().energy();
        gained += (now - before).max(0.0);
        before = now;
    }
    let state = world.body(body)?;
    let moved = state.position() - place;
    let moved = moved - moved.dot(normal) * normal;
    let orientation = state.orientation();
    let length = (moved.length() / right.length() - 1.0).abs();
    let heading_error = moved.angle_between(right).to_degrees();
    let turned = q.conjugate() * orientation;
    let yaw = (2.0 * turned.z.atan2(turned.w)).to_degrees();
    let yaw = (yaw - 360.0 * (yaw / 360.0).round()).abs();
    // Mean places over a quarter of a second, four seconds apart: what hops in place does not creep. (A box that may not sleep
    // is somewhere in a hop whenever it is looked at, and the few looks of a large step do not average this out to
    // less than a micrometre.)
    let mut mean_place = |world: &mut World| -> Result<DVec3, Failure> {
        let (window, mut mean) = (setup.steps(0.25), DVec3::ZERO);
        for _ in 0..window {
            simulator.step(world, setup.dt)?;
            mean += world.body(body)?.position() / f64::from(window);
        }
        Ok(mean)
    };
    let first = mean_place(&mut world)?;
    for _ in 0..(CREEP_TIME / 0.25) as u32 - 1 {
        mean_place(&mut world)?;
    }
    let crept = mean_place(&mut world)? - first;
    let creep = (crept - crept.dot(normal) * normal).length() / CREEP_TIME;
    Ok(Experiment {
        case: format!(
            "half {half}, μ = {mu}, e = {restitution}, slope {}°, uphill {uphill}, along {along}, turn {turn}, v = {start} m/s, \
             gap {gap:e} m, sleeps {can_sleep}, slide {} m",
            slope.to_degrees(),
            right.length()
        ),
        errors: vec![Some(length), Some(heading_error), Some(yaw), Some(creep), Some(gained / scale)],
    })
}

/// (attitude of the plane, pull along it, velocity along it, deceleration by friction) ⇒ way until it rests, and how long that takes.
fn expected(plane: DQuat, pull: DVec3, velocity: DVec3, friction: f64) -> (DVec3, f64) {
    let flat = |w: DVec3| (plane.conjugate() * w).truncate();
    let pull = flat(pull);
    let (mut v, mut x, mut t) = (flat(velocity), DVec2::ZERO, 0.0);
    let rate = |v: DVec2| pull - friction * v / v.length().max(1e-12);
    let end = 1e-7 * v.length();
    while v.length() > end {
        // The direction turns by a thousandth of a radian at most, and the last step ends just before the stop.
        let h = 2e-3 * v.length() / (friction + pull.length());
        let a = rate(v);
        let b = rate(v + 0.5 * h * a);
        let c = rate(v + 0.5 * h * b);
        let d = rate(v + h * c);
        x += h * (v + h / 6.0 * (a + b + c));
        v += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        t += h;
    }
    (plane * x.extend(0.0), t)
}
