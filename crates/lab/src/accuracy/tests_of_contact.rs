//! Bounces, friction, groups of impacts, stacks.

use super::{Circumstances, Measured};
use crate::contact::Random;
use glam::{DQuat, DVec3};
use rattleback_dynamics::impact::{Collision, CollisionSettings, ContactBody, Restitution, resolve_passive};
use rattleback_dynamics::{Body, BodyId, Error, Material, World};
use rattleback_geometry::{Pose, Shape};

const G: f64 = 9.81;

pub(super) fn bounce(with: &Circumstances<'_>) -> Measured {
    let (radius, drop) = (0.1, 1.0);
    let mut world = World::default();
    world.set_gravity(DVec3::new(0.0, 0.0, -G))?;
    let material = world.add_material(Material { restitution: 1.0, ..Material::with_friction(0.5) })?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
    let ball = Body::dynamic().with_shape(Shape::sphere(radius)?).mass(1.0).material(material);
    let id = world.add_body(ball.at(0.0, 0.0, radius + drop))?;
    let mut simulator = with.simulator()?;
    for _ in 0..with.steps(10.0) {
        simulator.step(&mut world, with.dt)?;
    }
    let body = world.body(id)?;
    Ok(vec![(body.kinetic_energy() / G + body.position().z - radius) / drop])
}

/// A block on an incline, in the frame of the incline.
fn block(
    friction: f64,
    incline: f64,
    velocity: DVec3,
) -> Result<(World, BodyId), Box<dyn std::error::Error + Send + Sync>> {
    let mut world = World::default();
    let (sin, cos) = incline.to_radians().sin_cos();
    world.set_gravity(G * DVec3::new(sin, 0.0, -cos))?;
    let material = world.add_material(Material::with_friction(friction))?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
    let shape = Shape::cuboid(DVec3::new(0.1, 0.1, 0.05))?;
    let block = Body::dynamic().with_shape(shape).mass(1.0).material(material);
    let id = world.add_body(block.at(0.0, 0.0, 0.05).velocity(velocity))?;
    Ok((world, id))
}

/// Distance that a block slides, of the exact one.
fn distance(
    with: &Circumstances<'_>,
    friction: f64,
    incline: f64,
    heading: f64,
) -> Result<f64, Box<dyn std::error::Error + Send + Sync>> {
    let speed = 3.0;
    let (sin, cos) = heading.to_radians().sin_cos();
    let (mut world, id) = block(friction, incline, speed * DVec3::new(cos, sin, 0.0))?;
    let deceleration = G * (friction * incline.to_radians().cos() - incline.to_radians().sin());
    let exact = speed * speed / (2.0 * deceleration);
    let mut simulator = with.simulator()?;
    for _ in 0..with.steps(speed / deceleration + 1.0) {
        simulator.step(&mut world, with.dt)?;
    }
    Ok(world.body(id)?.position().truncate().length() / exact)
}

pub(super) fn slide(with: &Circumstances<'_>) -> Measured {
    let mut errors = Vec::new();
    for friction in [0.3, 0.5, 0.7] {
        for (incline, heading) in [(0.0, 0.0), (0.0, 15.0), (0.0, 30.0), (0.0, 45.0), (10.0, 0.0)] {
            errors.push((distance(with, friction, incline, heading)? - 1.0).abs());
        }
    }
    Ok(vec![100.0 * errors.iter().sum::<f64>() / errors.len() as f64])
}

pub(super) fn slide_at_45(with: &Circumstances<'_>) -> Measured {
    Ok(vec![distance(with, 0.5, 0.0, 45.0)?])
}

pub(super) fn creep(with: &Circumstances<'_>) -> Measured {
    let (mut world, id) = block(0.5, 20.0, DVec3::ZERO)?;
    let mut simulator = with.simulator()?;
    let place = |world: &World| -> Result<DVec3, Error> { Ok(world.body(id)?.position()) };
    for _ in 0..with.steps(1.0) {
        simulator.step(&mut world, with.dt)?;
    }
    let before = place(&world)?;
    for _ in 0..with.steps(4.0) {
        simulator.step(&mut world, with.dt)?;
    }
    Ok(vec![1e3 * (place(&world)? - before).length() / 4.0])
}

pub(super) fn cradle(with: &Circumstances<'_>) -> Measured {
    let radius = 0.05;
    let mut world = World::weightless();
    let material = world.add_material(Material { restitution: 1.0, ..Material::with_friction(0.0) })?;
    let mut ids = Vec::new();
    for k in 0..5 {
        let (x, v) = if k == 0 { (-0.2, 1.0) } else { (2.0 * radius * f64::from(k), 0.0) };
        let ball = Body::dynamic().with_shape(Shape::sphere(radius)?).mass(1.0).material(material);
        ids.push(world.add_body(ball.at(x, 0.0, 0.0).velocity(DVec3::X * v))?);
    }
    let mut simulator = with.simulator()?;
    for _ in 0..with.steps(0.5) {
        simulator.step(&mut world, with.dt)?;
    }
    let mut worst = 0.0_f64;
    for (k, id) in ids.iter().enumerate() {
        let exact = if k == 4 { DVec3::X } else { DVec3::ZERO };
        worst = worst.max((world.body(*id)?.velocity() - exact).length());
    }
    Ok(vec![worst, world.readout().kinetic_energy / 0.5])
}

pub(super) fn rods(with: &Circumstances<'_>) -> Measured {
    let (mut gained, mut worst, mut error) = (0.0, 1.0_f64, 0.0);
    for impact in 0..200 {
        let mut random = Random::new(7, impact);
        let (lean, mu) = (random.range(10_f64.to_radians(), 80_f64.to_radians()), random.range(0.1, 1.2));
        let (speed, slip) = (random.range(1.0, 3.0), random.range(-1.5, 1.5));
        let (radius, length) = (0.005, 1.0);
        let q = DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2 - lean);
        let v = DVec3::new(slip, 0.0, -speed);
        let mut world = World::weightless();
        let material = world.add_material(Material { restitution: 1.0, ..Material::with_friction(mu) })?;
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
        let shape = Shape::capsule(radius, length)?;
        let lowest = shape.aabb(&Pose::new(q, DVec3::ZERO)).map_or(0.0, |bounds| bounds.min().z);
        let gap = random.range(0.9, 0.98) * speed * with.dt;
        let body = Body::dynamic().with_shape(shape).mass(1.0).material(material);
        let id = world.add_body(body.orientation(q).position(DVec3::Z * (gap - lowest)).velocity(v))?;
        let inertia = world.body(id)?.world_inertia();
        let end = q * DVec3::Z * (0.5 * length);
        let r = if end.z < 0.0 { end } else { -end } - DVec3::Z * radius;
        let rod =
            ContactBody { inverse_mass: 1.0, inverse_inertia: inertia.inverse(), r, v, omega: DVec3::ZERO };
        let (collision, frame) = Collision::between(&ContactBody::FIXED, &rod, DVec3::Z)?;
        let settings = CollisionSettings {
            restitution: Restitution::Stronge,
            e: 1.0,
            mu,
            ..CollisionSettings::default()
        };
        let exact = rod.after(frame * resolve_passive(&collision, &settings)?.impulse);
        let before = world.readout().kinetic_energy;
        let mut simulator = with.simulator()?;
        simulator.step(&mut world, with.dt)?;
        let ratio = world.readout().kinetic_energy / before;
        gained += f64::from(u8::from(ratio > 1.0 + 1e-6));
        worst = worst.max(ratio);
        error += (world.body(id)?.velocity() - exact.v).length() / 200.0;
    }
    Ok(vec![gained, worst, error])
}

pub(super) fn stack(with: &Circumstances<'_>) -> Measured {
    let mut world = World::default();
    world.set_gravity(DVec3::new(0.0, 0.0, -G))?;
    let material = world.add_material(Material::with_friction(0.5))?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
    let mut top = None;
    for k in 0..10 {
        let mass = if k == 9 { 1000.0 } else { 1.0 };
        let shape = Shape::cuboid(DVec3::splat(0.1))?;
        let body = Body::dynamic().with_shape(shape).mass(mass).material(material);
        top = Some(world.add_body(body.at(0.0, 0.0, 0.1 + 0.2 * f64::from(k)))?);
    }
    let mut simulator = with.simulator()?;
    for _ in 0..with.steps(5.0) {
        simulator.step(&mut world, with.dt)?;
    }
    let place = top.map_or(Ok(DVec3::ZERO), |id| world.body(id).map(|body| body.position()))?;
    Ok(vec![1e3 * (place - DVec3::new(0.0, 0.0, 1.9)).length()])
}
