//! Single impacts of rods with friction: the same velocities by the same law of restitution, in every simulator.
//!
//! A thin rod falls on one of its ends without gravity, so that nothing but the one impact happens. Its outcome is known from the contact
//! law alone: Stronge's, Poisson's or Newton's restitution at the end of a collision that follows Coulomb's law, with restitution lowered where
//! energy would be created. Simulators with a choice of laws are compared with each.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::impact::{Collision, CollisionSettings, ContactBody, Restitution, resolve_passive};
use rattleback_dynamics::{Body, Material, Value, World};
use rattleback_geometry::Shape;

pub(super) const CLASS: Class = Class {
    name: "contact/rods",
    doc: "Rods that hit the ground with one end: the velocities that Stronge's, Poisson's and Newton's restitution give",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "Stronge", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "Poisson", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "Newton", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "energy gained", unit: "", aggregate: Aggregate::Sum, limit: gain_limit },
    ],
    run,
};

fn limit(_: &str, _: f64) -> Option<f64> {
    Some(1e-6)
}

fn gain_limit(_: &str, _: f64) -> Option<f64> {
    Some(1e-9)
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let size = random.log_range(0.05, 1.0);
    let (radius, height) = (0.02 * size, size);
    let (e, mu) = (random.unit(), random.range(0.0, 1.5));
    let lean = random.range(0.1, 1.2);
    let q = DQuat::from_rotation_z(random.angle()) * DQuat::from_rotation_x(lean);
    let flat = random.angle();
    let speed = random.range(0.5, 3.0);
    let slip = random.range(0.0, 2.0) * speed;
    let v = DVec3::new(slip * flat.cos(), slip * flat.sin(), -speed);
    let law = Restitution::NAMES[random.index(3)];
    let mut world = World::weightless();
    let material = world.add_material(Material { restitution: e, ..Material::with_friction(mu) })?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
    let shape = Shape::capsule(radius, height)?;
    let lowest =
        shape.aabb(&rattleback_geometry::Pose::new(q, DVec3::ZERO)).map_or(0.0, |bounds| bounds.min().z);
    // The impact comes late in the first step, so that nothing else happens in it.
    let gap = random.range(0.9, 0.98) * speed * setup.dt;
    let body = Body::dynamic()
        .with_shape(shape)
        .density(random.log_range(100.0, 8000.0))
        .material(material)
        .orientation(q)
        .position(DVec3::Z * (gap - lowest))
        .velocity(v);
    let id = world.add_body(body)?;
    let right = {
        let body = world.body(id)?;
        let r = q * DVec3::Z * (0.5 * height);
        let r = if r.z < 0.0 { r } else { -r } - DVec3::Z * radius;
        let ground = ContactBody::FIXED;
        let inertia: DMat3 = body.world_inertia();
        let rod = ContactBody {
            inverse_mass: 1.0 / body.mass(),
            inverse_inertia: inertia.inverse(),
            r,
            v,
            omega: DVec3::ZERO,
        };
        let (collision, frame) = Collision::between(&ground, &rod, DVec3::Z)?;
        let settings = CollisionSettings { restitution: law.1, e, mu, ..CollisionSettings::default() };
        rod.after(frame * resolve_passive(&collision, &settings)?.impulse)
    };
    // Not every simulator offers every law.
    let named = setup.simulator_with([("restitution_law", Value::Text(law.0.into()))]);
    let mut simulator = match named {
        Ok(simulator) => simulator,
        Err(_) if law.1 == Restitution::Stronge => setup.simulator()?,
        Err(_) => return Ok(Experiment { case: String::new(), errors: vec![None; 4] }),
    };
    let before = world.readout().kinetic_energy;
    let inertia = world.body(id)?.world_inertia();
    simulator.step(&mut world, setup.dt)?;
    let state = world.body(id)?;
    // Of what turns freely, the angular momentum stays.
    let twist = state.world_inertia() * state.angular_velocity() - inertia * right.omega;
    let error = (state.velocity() - right.v).length() + twist.length() / (state.mass() * 0.5 * size);
    let mut errors = vec![None; 4];
    errors[Restitution::NAMES.iter().position(|known| known.1 == law.1).unwrap_or(0)] =
        Some(error / v.length());
    errors[3] = Some((world.readout().kinetic_energy - before).max(0.0) / before);
    Ok(Experiment {
        case: format!("{}, size {size} m, e = {e}, μ = {mu}, lean {lean}, q {q}, v {v}, gap {gap}", law.0),
        errors,
    })
}
