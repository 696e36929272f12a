//! Parts that come to rest: thrown onto the floor, put onto slopes, leaned against walls, dropped into wedges.
//!
//! Whatever is dropped onto a bed that can hold it stops in the end, and then does not move any more. A part is at rest when no point of it is faster
//! than 1 nm/s; the share of parts that are not after ten seconds is the error. Half a second later it must be where it was.
//! Parts that could roll for ever (cylinders) are given rolling friction; slopes are held by friction and do not tip the part over.

use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Body, BodyId, Material, MaterialId, ShapePart, World};
use rattleback_geometry::{Pose, Shape};
use std::f64::consts::TAU;

/// Speed of a body at rest, m/s.
const STILL: f64 = 1e-9;
/// Time within which a part has to be at rest, and how long it is watched then, s.
const LONGEST: f64 = 10.0;
const AFTER: f64 = 0.5;

pub(super) const CLASS: Class = Class {
    name: "contact/rest",
    doc: "Parts thrown onto the floor, put onto slopes, leaned against walls, dropped into wedges: all come to rest and stay there",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "not at rest", unit: "", aggregate: Aggregate::Mean, limit: share },
        Quantity { name: "moved at rest", unit: "m", aggregate: Aggregate::Worst, limit: moved },
        Quantity { name: "time to rest", unit: "s", aggregate: Aggregate::Mean, limit: unlimited },
    ],
    run,
};

fn share(simulator: &str, _: f64) -> Option<f64> {
    (simulator != "realtime").then_some(1e-3)
}

fn moved(simulator: &str, _: f64) -> Option<f64> {
    (simulator != "realtime").then_some(1e-9)
}

fn unlimited(_: &str, _: f64) -> Option<f64> {
    None
}

/// Support of a part at rest.
#[derive(Clone, Copy, Debug)]
enum Bed {
    Floor,
    Slope,
    Wall,
    Wedge,
}

const BEDS: [Bed; 4] = [Bed::Floor, Bed::Slope, Bed::Wall, Bed::Wedge];
const PARTS: [&str; 6] = ["brick", "box", "prism", "cylinder", "polyhedron", "angle"];

/// (kind, characteristic size, random numbers) ⇒ the part.
fn part(kind: &str, size: f64, random: &mut Random) -> Result<Body, Failure> {
    let body = Body::dynamic().density(random.log_range(300.0, 8000.0));
    Ok(match kind {
        "brick" => body.with_shape(Shape::cuboid(size * DVec3::new(1.0, 2.0 / 3.0, 1.0 / 3.0))?),
        "box" => {
            let mut side = || random.range(0.3, 1.0);
            body.with_shape(Shape::cuboid(size * DVec3::new(side(), side(), side()))?)
        }
        "prism" => {
            let sides = 3 + random.index(5);
            let (radius, half) = (size * random.range(0.5, 1.0), size * random.range(0.2, 0.6));
            let corner = |k: usize| {
                let (sin, cos) = (TAU * (k % sides) as f64 / sides as f64).sin_cos();
                DVec3::new(radius * cos, radius * sin, if k < sides { -half } else { half })
            };
            body.with_shape(Shape::convex_hull(&(0..2 * sides).map(corner).collect::<Vec<_>>())?)
        }
        "cylinder" => {
            body.with_shape(Shape::cylinder(size * random.range(0.3, 1.0), size * random.range(0.3, 2.0))?)
        }
        "polyhedron" => {
            let corners: Vec<DVec3> = (0..6 + random.index(10)).map(|_| size * random.direction()).collect();
            body.with_shape(Shape::convex_hull(&corners)?)
        }
        _ => {
            let (length, width, half) = (size, size * random.range(0.15, 0.3), size * random.range(0.1, 0.5));
            let arm = ShapePart {
                pose: Pose::new(DQuat::IDENTITY, DVec3::new(length - width, length, 0.0)),
                ..ShapePart::from(Shape::cuboid(DVec3::new(width, length - width, half))?)
            };
            body.with_shape(Shape::cuboid(DVec3::new(length, width, half))?).with_part(arm)
        }
    })
}

fn plane(world: &mut World, normal: DVec3, at: DVec3, material: MaterialId) -> Result<(), Failure> {
    let plane = Body::fixed().with_shape(Shape::half_space(normal)?).position(at);
    world.add_body(plane.material(material))?;
    Ok(())
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let mut world = World::default();
    let bed = BEDS[random.index(BEDS.len())];
    let size = random.log_range(0.01, 0.1);
    let (e, mu) = (random.range(0.0, 0.6), random.range(0.2, 1.0));
    let turn = DQuat::from_rotation_z(random.angle());
    // On a slope a part is put down, not thrown, and is not so slender that it could fall over.
    let kind = if matches!(bed, Bed::Slope) {
        ["brick", "box"][random.index(2)]
    } else {
        PARTS[random.index(PARTS.len())]
    };
    let lever = if kind == "cylinder" { 0.02 * size } else { 0.0 };
    let material = Material {
        restitution: e,
        rolling_friction: lever,
        spinning_friction: lever,
        ..Material::with_friction(mu)
    };
    let material = world.add_material(material)?;
    let mut body = part(kind, size, random)?.material(material);
    let mut angle = 0.0;
    match bed {
        Bed::Floor => {
            plane(&mut world, DVec3::Z, DVec3::ZERO, material)?;
            body = body.orientation(random.rotation()).at(0.0, 0.0, size * random.range(2.5, 10.0));
            let throw = (9.81 * size).sqrt();
            body =
                body.velocity(throw * random.direction()).angular_velocity(throw / size * random.direction());
        }
        Bed::Slope => {
            angle = (random.range(0.0, 0.8) * mu).atan().min(0.25);
            let normal = turn * DVec3::new(angle.sin(), 0.0, angle.cos());
            plane(&mut world, normal, DVec3::ZERO, material)?;
            let tilt = DQuat::from_scaled_axis(random.range(0.0, 0.05) * random.direction());
            let flat = turn * DQuat::from_rotation_y(angle) * DQuat::from_rotation_z(random.angle()) * tilt;
            // High enough that no corner touches.
            body = body.orientation(flat).position(1.2 * size * normal);
        }
        Bed::Wall => {
            // An angle reaches as far as √(1² + 2² + ½²) sizes from its origin, the others √2: no part touches a wall at first.
            let reach = if kind == "angle" { 2.3 } else { 1.45 };
            let room = size * random.range(1.8, 4.0).max(reach);
            plane(&mut world, DVec3::Z, DVec3::ZERO, material)?;
            for side in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y] {
                plane(&mut world, turn * side, -room * (turn * side), material)?;
            }
            body = body.orientation(random.rotation()).at(0.0, 0.0, size * random.range(2.5, 5.0));
        }
        Bed::Wedge => {
            angle = random.range(0.2, 1.1);
            for side in [1.0, -1.0] {
                plane(
                    &mut world,
                    turn * DVec3::new(side * angle.sin(), 0.0, angle.cos()),
                    DVec3::ZERO,
                    material,
                )?;
                plane(
                    &mut world,
                    turn * (side * DVec3::Y),
                    -20.0 * size * (turn * (side * DVec3::Y)),
                    material,
                )?;
            }
            let clear = 2.5 * size / angle.cos();
            body = body.orientation(random.rotation()).at(0.0, 0.0, clear * random.range(1.0, 1.5));
        }
    }
    let id = world.add_body(body)?;
    let mut simulator = setup.simulator()?;
    let (mut rested, mut place) = (None, DVec3::ZERO);
    while world.time() < LONGEST && rested.is_none() {
        simulator.step(&mut world, setup.dt)?;
        if speed(&world, id, size)? < STILL {
            // The top of a hop is no rest: nothing may have moved a step later either.
            simulator.step(&mut world, setup.dt)?;
            rested = (speed(&world, id, size)? < STILL).then(|| world.time());
            place = world.body(id)?.position();
        }
    }
    let mut creep = None;
    if rested.is_some() {
        for _ in 0..setup.steps(AFTER) {
            simulator.step(&mut world, setup.dt)?;
        }
        creep = Some((world.body(id)?.position() - place).length());
    }
    Ok(Experiment {
        case: format!(
            "{kind} of {size} m, {bed:?} at {angle} rad, e = {e}, μ = {mu}, v = {} m/s at last",
            speed(&world, id, size)?
        ),
        errors: vec![Some(f64::from(u8::from(rested.is_none()))), creep, rested],
    })
}

/// A bound on the speed of any point of a part.
fn speed(world: &World, id: BodyId, size: f64) -> Result<f64, Failure> {
    let body = world.body(id)?;
    Ok(body.velocity().length() + 2.0 * size * body.angular_velocity().length())
}
