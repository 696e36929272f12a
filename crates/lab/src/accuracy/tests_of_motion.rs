//! Free rotation, and fast bodies.

use super::{Circumstances, Measured};
use glam::{DMat3, DVec3};
use rattleback_dynamics::{Body, Material, World};
use rattleback_geometry::{MassProperties, Shape};

pub(super) fn torque_free(with: &Circumstances<'_>) -> Measured {
    let mut world = World::weightless();
    let inertia = DMat3::from_diagonal(DVec3::new(0.010, 0.015, 0.020));
    let mass = MassProperties { mass: 1.0, center_of_mass: DVec3::ZERO, inertia };
    let body = Body::dynamic().with_shape(Shape::sphere(0.05)?).mass_properties(mass);
    let id = world.add_body(body.angular_velocity(DVec3::new(0.6, 6.0, 0.3)).can_sleep(false))?;
    let state = |world: &World| -> Result<(f64, DVec3), rattleback_dynamics::Error> {
        let body = world.body(id)?;
        Ok((body.kinetic_energy(), body.world_inertia() * body.angular_velocity()))
    };
    let (energy, momentum) = state(&world)?;
    let mut simulator = with.simulator()?;
    for _ in 0..with.steps(100.0) {
        simulator.step(&mut world, with.dt)?;
    }
    let (energy_now, momentum_now) = state(&world)?;
    Ok(vec![(energy_now / energy - 1.0).abs(), (momentum_now - momentum).length() / momentum.length()])
}

pub(super) fn wall(with: &Circumstances<'_>) -> Measured {
    let (speed, radius, thick) = (100.0, 0.05, 0.01);
    let mut passed = 0.0;
    for phase in 0..40 {
        let mut world = World::weightless();
        let material = world.add_material(Material { restitution: 0.5, ..Material::with_friction(0.3) })?;
        let wall = Shape::cuboid(DVec3::new(0.5 * thick, 2.0, 2.0))?;
        world.add_body(Body::fixed().with_shape(wall).material(material))?;
        let start = -2.0 - speed * with.dt * f64::from(phase) / 40.0;
        let ball = Body::dynamic().with_shape(Shape::sphere(radius)?).density(1000.0).material(material);
        let id = world.add_body(ball.position(DVec3::X * start).velocity(DVec3::X * speed))?;
        let mut simulator = with.simulator()?;
        for _ in 0..with.steps(0.1) {
            simulator.step(&mut world, with.dt)?;
        }
        passed += f64::from(u8::from(world.body(id)?.position().x > 0.0));
    }
    Ok(vec![passed])
}
