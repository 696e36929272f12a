//! Bodies that roll without slip, against the differential equation of rolling: balls, discs, ellipsoids, rattlebacks.
//!
//! A disc nods and a rattleback rocks many times a second; what is compared is the vertical angular velocity averaged over half a second. The
//! error is the relative shift in time at which the equation has the same value: a reversal 1 % too late is an error of 1 %.
//!
//! Drawn are motions that need less friction than there is, press on the ground at all times and are not chaotic: a disturbance of 1e-7
//! must not grow a thousandfold in ten seconds. Then the spin about the vertical can be compared at any time.

use super::rolling_oracle::{Rolling, RollingState, RollingTrajectory, Surface};
use super::{Aggregate, Class, Experiment, Failure, Quantity, Random, Setup};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::{Body, BodyId, Material, World};
use rattleback_geometry::Shape;

/// Between two readings, s: a whole number of steps of 1/60 s, 1/240 s and 1 ms.
const EVERY: f64 = 0.05;
const READINGS: usize = 200;
/// Readings that are averaged.
const WINDOW: usize = 10;
/// Allowed relative shift in time of a reading.
const SHIFT: f64 = 0.01;
const MU: f64 = 1.0;
/// Gap at the beginning, m.
const GAP: f64 = 1e-9;

pub(super) const CLASS: Class = Class {
    name: "contact/rolling",
    doc: "Balls, discs, ellipsoids and rattlebacks rolling for 10 s, against the equation of rolling without slip",
    simulators: &["impulse", "constraint", "realtime"],
    quantities: &[
        Quantity { name: "spin of balls", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "spin of discs", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "spin of ellipsoids", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "spin of rattlebacks", unit: "", aggregate: Aggregate::Worst, limit },
        Quantity { name: "time of reversal", unit: "", aggregate: Aggregate::Worst, limit },
    ],
    run,
};

fn limit(simulator: &str, dt: f64) -> Option<f64> {
    if simulator == "realtime" { Some(0.05) } else { (dt < 1.1e-3).then_some(0.01) }
}

/// A body, how it starts, and how it rolls on.
struct Drawn {
    kind: usize,
    world: World,
    body: BodyId,
    trajectory: RollingTrajectory,
    case: String,
}

fn run(setup: &Setup<'_>, random: &mut Random) -> Result<Experiment, Failure> {
    let mut drawn = draw(random)?;
    for _ in 0..100 {
        if drawn.is_some() {
            break;
        }
        drawn = draw(random)?;
    }
    let Drawn { kind, mut world, body, trajectory, case } = drawn.ok_or("no regular motion was drawn")?;
    let mut simulator = setup.simulator()?;
    let per_reading = (EVERY / setup.dt).round().max(1.0) as u32;
    let mut means = Vec::with_capacity(READINGS);
    let mut last = world.body(body)?.angular_velocity();
    for _ in 0..READINGS {
        let mut sum = DVec3::ZERO;
        for _ in 0..per_reading {
            simulator.step(&mut world, EVERY / f64::from(per_reading))?;
            let now = world.body(body)?.angular_velocity();
            sum += 0.5 * (last + now);
            last = now;
        }
        means.push(sum / f64::from(per_reading));
    }
    let (spins, expected) = (smoothed(&means), smoothed(&trajectory.mean_spins));
    // All components of the angular velocity of a sphere are compared; of rocking bodies only the vertical one.
    let part = |omega: &DVec3| if kind == 0 { *omega } else { DVec3::Z * omega.z };
    let largest = expected.iter().map(|omega| part(omega).length()).fold(0.0, f64::max);
    let parts: Vec<DVec3> = expected.iter().map(part).collect();
    let error = spins.iter().enumerate().map(|(k, spin)| distance(&parts, k, part(spin)));
    let error = error.fold(0.0, f64::max) / largest;
    let mut errors = vec![None; 5];
    errors[kind] = Some(error);
    if kind == 3
        && let Some(right) = reversal(&expected).filter(|time| (0.5..9.0).contains(time))
    {
        errors[4] = Some(reversal(&spins).map_or(1.0, |time| (time / right - 1.0).abs()));
    }
    Ok(Experiment { case, errors })
}

/// Means over single readings ⇒ over windows of them.
fn smoothed(means: &[DVec3]) -> Vec<DVec3> {
    means.windows(WINDOW).map(|window| window.iter().sum::<DVec3>() / WINDOW as f64).collect()
}

/// (values at equal times, place k, value) ⇒ distance of the value from the curve between k − s and k + s, s the shift allowed there.
fn distance(curve: &[DVec3], k: usize, value: DVec3) -> f64 {
    let shift = SHIFT * (k as f64 + 0.5 * WINDOW as f64);
    let (first, last) = ((k as f64 - shift).max(0.0), (k as f64 + shift).min((curve.len() - 1) as f64));
    let at = |x: f64| {
        let place = (x as usize).min(curve.len() - 2);
        curve[place].lerp(curve[place + 1], x - place as f64)
    };
    let mut least = f64::INFINITY;
    let mut from = first;
    while from < last {
        let to = (from.floor() + 1.0).min(last);
        let (a, b) = (at(from), at(to));
        let along = (value - a).dot(b - a) / (b - a).length_squared().max(1e-300);
        least = least.min(value.distance(a.lerp(b, along.clamp(0.0, 1.0))));
        from = to;
    }
    least
}

/// When the spin about the vertical first changes its sign for good (beyond a tenth of where it began), s.
fn reversal(spins: &[DVec3]) -> Option<f64> {
    let start = spins[0].z;
    let turned = spins.iter().position(|omega| omega.z / start < -0.1)?;
    let before = (0..turned).rev().find(|k| spins[*k].z / start > 0.0)?;
    let (a, b) = (spins[before].z, spins[before + 1].z);
    Some(EVERY * (before as f64 + 0.5 * WINDOW as f64 + a / (a - b)))
}

fn draw(random: &mut Random) -> Result<Option<Drawn>, Failure> {
    let kind = random.index(4);
    let size = random.log_range(0.02, 0.3);
    let spin = random.sign() * (9.81 / size).sqrt();
    let (surface, shape, q, omega);
    let mut weight = None;
    match kind {
        0 => {
            surface = Surface::Ellipsoid(DVec3::splat(size));
            shape = Shape::sphere(size)?;
            q = random.rotation();
            omega = random.direction() * spin * random.range(0.1, 2.0);
        }
        1 => {
            let half_height = size * random.range(0.02, 0.2);
            surface = Surface::Disc(size, half_height);
            shape = Shape::cylinder(size, 2.0 * half_height)?;
            // Near the steady motion of a thin disc whose centre is at rest.
            let tilt = random.range(0.35, 1.2);
            q = DQuat::from_rotation_z(random.angle()) * DQuat::from_rotation_x(tilt);
            let still = rolling(&Body::dynamic().with_shape(shape.clone()), surface)?;
            let along = still.arm((q, DVec3::ZERO)).0.normalize();
            omega = along * (-2.0 * spin * tilt.sin().sqrt()) * random.range(0.95, 1.05)
                + 0.02 * spin * random.direction();
        }
        _ => {
            let axes = DVec3::new(1.0, random.range(0.2, 0.6), random.range(0.1, 0.2)) * size;
            surface = Surface::Ellipsoid(axes);
            shape = Shape::ellipsoid(axes)?;
            if kind == 3 {
                let (sin, cos) = (random.sign() * random.range(0.1, 0.6)).sin_cos();
                let reach = random.range(0.5, 0.9);
                weight = Some((random.range(0.03, 0.2), DVec3::new(cos * axes.x, sin * axes.y, 0.0) * reach));
            }
            q = DQuat::from_rotation_z(random.angle())
                * DQuat::from_rotation_x(0.05 * random.range(-1.0, 1.0))
                * DQuat::from_rotation_y(0.02 * random.range(-1.0, 1.0));
            let rocking = DVec3::new(random.range(-1.0, 1.0), random.range(-1.0, 1.0), 0.0);
            omega = DVec3::Z * spin * random.range(0.1, 0.7) + q * rocking * (0.03 * spin);
        }
    }
    let density = random.log_range(300.0, 8000.0);
    let mut template = Body::dynamic().with_shape(shape).density(density).orientation(q);
    if let Some((share, at)) = weight {
        // Two weights on opposite sides: the centre of mass stays, the principal axes turn.
        let volume = 4.0 / 3.0 * std::f64::consts::PI * size.powi(3) * 0.05;
        let mass = share * density * volume;
        template = template.point_mass(mass, at).point_mass(mass, -at);
    }
    let body = rolling(&template, surface)?;
    let start = (q, omega);
    let trajectory = body.integrate(start, EVERY, READINGS)?;
    if trajectory.friction > 0.8 * MU
        || trajectory.least_weight < 0.2
        || !is_regular(&body, start, &trajectory, kind)?
    {
        return Ok(None);
    }
    let (arm, _) = body.arm(start);
    let mut world = World::default();
    let material = world.add_material(Material::with_friction(MU))?;
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?).material(material))?;
    let center = DVec3::Z * (GAP - arm.z);
    let template = template
        .position(center - q * body.center_of_mass)
        .velocity(body.velocity(start))
        .angular_velocity(omega)
        .material(material)
        .can_sleep(false);
    let id = world.add_body(template)?;
    let case = format!("{surface:?}, weights {weight:?}, density {density}, q {q}, ω {omega}");
    Ok(Some(Drawn { kind, world, body: id, trajectory, case }))
}

/// A body and its surface ⇒ parameters of the equation.
fn rolling(template: &Body, surface: Surface) -> Result<Rolling, Failure> {
    let mut world = World::default();
    let id = world.add_body(template.clone())?;
    let body = world.body(id)?;
    let axes = DMat3::from_quat(body.orientation().conjugate());
    Ok(Rolling {
        surface,
        center_of_mass: axes * (body.center_of_mass() - body.position()),
        mass: body.mass(),
        inertia: axes * body.world_inertia() * axes.transpose(),
        gravity: 9.81,
    })
}

/// Whether a small disturbance stays small, and a disc neither falls flat nor stands up nor nods much.
fn is_regular(
    body: &Rolling,
    start: RollingState,
    trajectory: &RollingTrajectory,
    kind: usize,
) -> Result<bool, Failure> {
    if kind == 1 {
        let tilts = trajectory.states.iter().map(|(q, _)| (*q * DVec3::Z).z.abs().acos());
        let (low, high) = tilts.fold((f64::INFINITY, 0.0_f64), |(l, h), t| (l.min(t), h.max(t)));
        if low < 0.2 || high > 1.4 || high - low > 0.1 {
            return Ok(false);
        }
    }
    let disturbed = (start.0, start.1 + DVec3::new(0.6, -0.5, 0.4) * (1e-7 * start.1.length()));
    let other = body.integrate(disturbed, EVERY, READINGS)?;
    let pairs = trajectory.states.iter().zip(&other.states);
    let grown = pairs.map(|(a, b)| (a.1 - b.1).length()).fold(0.0, f64::max);
    Ok(grown < 1e-4 * start.1.length())
}
