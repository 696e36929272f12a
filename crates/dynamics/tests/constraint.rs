//! Constraint simulator: statics and friction of resting and sliding bodies, stacks, an arch.

use glam::{DQuat, DVec3};
use rattleback_dynamics::simulator::{Constraint, ConstraintSettings};
use rattleback_dynamics::{Body, BodyId, FreeMotion, Material, Simulator, World};
use rattleback_geometry::Shape;

const G: f64 = 9.81;
const DT: f64 = 1.0 / 24.0;

fn floor(world: &mut World) -> BodyId {
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap()
}

fn rough(world: &mut World, mu: f64) {
    let material = world.default_material();
    world.set_material(material, Material::with_friction(mu)).unwrap();
}

fn block(world: &mut World, size: DVec3, mass: f64, at: DVec3) -> BodyId {
    world
        .add_body(Body::dynamic().position(at).with_shape(Shape::cuboid(0.5 * size).unwrap()).mass(mass))
        .unwrap()
}

fn run(simulator: &mut Constraint, world: &mut World, seconds: f64, dt: f64) {
    for _ in 0..(seconds / dt).round() as usize {
        simulator.step(world, dt).unwrap();
    }
}

fn speeds(world: &World, ids: &[BodyId]) -> f64 {
    let speed = |id: &BodyId| {
        let body = world.body(*id).unwrap();
        body.velocity().length().max(body.angular_velocity().length())
    };
    ids.iter().map(speed).fold(0.0, f64::max)
}

/// Runs for 60 s and checks that no body moves faster than 1e-9 m/s or farther than 1e-9 m.
fn assert_stands_still(world: &mut World, ids: &[BodyId], simulator: &mut Constraint) {
    let places: Vec<DVec3> = ids.iter().map(|id| world.body(*id).unwrap().position()).collect();
    for step in 0..(60.0 / DT) as usize {
        simulator.step(world, DT).unwrap();
        assert!(speeds(world, ids) < 1e-9, "step {step}: {}", speeds(world, ids));
    }
    for (id, at) in ids.iter().zip(&places) {
        let drift = (world.body(*id).unwrap().position() - *at).length();
        assert!(drift < 1e-9, "{drift}");
    }
}

/// A stack of 20 boxes stays at rest; MC-4: every level carries the weight above it, to 1e-9.
#[test]
fn a_stack_of_twenty_stands_still() {
    let mut world = World::default();
    floor(&mut world);
    let ids: Vec<BodyId> = (0..20)
        .map(|k| block(&mut world, DVec3::ONE, 1.0, DVec3::new(0.0, 0.0, 0.5 + f64::from(k))))
        .collect();
    let mut simulator = Constraint::default();
    assert_stands_still(&mut world, &ids, &mut simulator);
    for (level, id) in ids.iter().enumerate() {
        // The box above pushes down, the box below pushes up.
        let forces = simulator
            .contacts()
            .filter(|contact| contact.bodies.contains(id))
            .map(|contact| if contact.bodies[1] == *id { contact.force.z } else { -contact.force.z });
        let up: f64 = forces.filter(|force| *force > 0.0).sum();
        let expected = G * (20 - level) as f64;
        assert!((up - expected).abs() < 1e-9 * expected, "{level}: {up}");
    }
}

/// An arch of wedges without mortar, a third as thick as its middle line is wide, stands on friction alone.
#[test]
fn an_arch_stands_still() {
    let mut world = World::default();
    rough(&mut world, 0.8);
    floor(&mut world);
    let wedges = 7;
    let angle = |k: usize| std::f64::consts::PI * k as f64 / wedges as f64;
    let ids: Vec<BodyId> = (0..wedges)
        .map(|k| {
            let corner = |a: f64, r: f64, y: f64| DVec3::new(r * a.cos(), y, r * a.sin());
            let corners: Vec<DVec3> = [angle(k), angle(k + 1)]
                .into_iter()
                .flat_map(|a| [2.0, 3.0].into_iter().flat_map(move |r| [-0.5, 0.5].map(|y| corner(a, r, y))))
                .collect();
            let shape = Shape::convex_hull(&corners).unwrap();
            world.add_body(Body::dynamic().with_shape(shape).density(1000.0)).unwrap()
        })
        .collect();
    let mut simulator = Constraint::default();
    assert_stands_still(&mut world, &ids, &mut simulator);
    let weight: f64 = ids.iter().map(|id| G * world.body(*id).unwrap().mass()).sum();
    let floor: f64 = simulator
        .contacts()
        .filter(|contact| contact.normal.z.abs() > 0.999 && contact.point.z < 1e-6)
        .map(|contact| contact.force.z.abs())
        .sum();
    assert!((floor / weight - 1.0).abs() < 1e-9, "{floor} {weight}");
}

/// MC-1: a box on its four corners, with both solvers: forces balance its weight and moments.
#[test]
fn four_corners_carry_a_box() {
    for solver in ["newton", "baraff"] {
        let mut world = World::default();
        floor(&mut world);
        let id = block(&mut world, DVec3::ONE, 2.0, DVec3::new(0.0, 0.0, 0.5));
        let settings = ConstraintSettings { solver: solver.into(), ..ConstraintSettings::default() };
        let mut simulator = Constraint::new(settings).unwrap();
        run(&mut simulator, &mut world, 1.0, DT);
        assert!(speeds(&world, &[id]) < 1e-10);
        // Force on the box, which may be either body of the pair.
        let force = |contact: &rattleback_dynamics::simulator::ContactPoint| {
            if contact.bodies[1] == id { contact.force } else { -contact.force }
        };
        let total: DVec3 = simulator.contacts().map(force).sum();
        let moment: DVec3 = simulator.contacts().map(|contact| contact.point.cross(force(contact))).sum();
        assert!((total - 2.0 * G * DVec3::Z).length() < 1e-9 && moment.truncate().length() < 1e-9, "{total}");
    }
}

/// MC-5: a plank on two supports: the lever law.
#[test]
fn two_supports_share_a_plank_by_the_lever_law() {
    let mut world = World::default();
    // Knife edges at −1 and at 2 under a plank whose centre is at 0.
    let edge = |x: f64| {
        let corners = [DVec3::new(0.0, -1.0, 0.0), DVec3::new(0.0, 1.0, 0.0)]
            .into_iter()
            .chain([-0.5, 0.5].into_iter().flat_map(|dx| [-1.0, 1.0].map(|y| DVec3::new(dx, y, -1.0))))
            .map(|corner| corner + x * DVec3::X)
            .collect::<Vec<_>>();
        Body::fixed().with_shape(Shape::convex_hull(&corners).unwrap())
    };
    let left = world.add_body(edge(-1.0)).unwrap();
    let right = world.add_body(edge(2.0)).unwrap();
    let plank = block(&mut world, DVec3::new(6.0, 1.0, 0.2), 3.0, DVec3::new(0.0, 0.0, 0.1));
    let mut simulator = Constraint::default();
    run(&mut simulator, &mut world, 2.0, DT);
    assert!(speeds(&world, &[plank]) < 1e-11, "{}", speeds(&world, &[plank]));
    let carried = |support: BodyId| -> f64 {
        let on = simulator.contacts().filter(|contact| contact.bodies.contains(&support));
        on.map(|contact| contact.force.z.abs()).sum()
    };
    assert!((carried(left) - 3.0 * G * 2.0 / 3.0).abs() < 1e-9, "{}", carried(left));
    assert!((carried(right) - 3.0 * G / 3.0).abs() < 1e-9);
}

/// One step of a box on a slope: acceleration down it, angular acceleration, sum of the normal forces.
fn on_slope(size: DVec3, degrees: f64) -> (f64, f64, f64) {
    let mut world = World::default();
    rough(&mut world, 0.5);
    let theta = degrees.to_radians();
    world.set_gravity(G * DVec3::new(theta.sin(), 0.0, -theta.cos())).unwrap();
    floor(&mut world);
    let id = block(&mut world, size, 2.0, DVec3::new(0.0, 0.0, 0.5 * size.z));
    let mut simulator = Constraint::default();
    let dt = 1e-3;
    simulator.step(&mut world, dt).unwrap();
    let body = world.body(id).unwrap();
    let normal: f64 = simulator.contacts().map(|contact| contact.force.z.abs()).sum();
    (body.velocity().x / dt, body.angular_velocity().y / dt, normal)
}

/// MC-2: a flat box with μ = 0.5 rests at 26.5° and slides above 26.57°.
#[test]
fn a_flat_box_slides_above_the_friction_angle() {
    let flat = DVec3::new(1.0, 1.0, 0.2);
    assert!(on_slope(flat, 26.5).0.abs() < 1e-10);
    for (degrees, acceleration, normal) in
        [(27.0, 0.0833, 17.4815), (30.0, 0.6571, 16.9914), (60.0, 6.0432, 9.81)]
    {
        let found = on_slope(flat, degrees);
        assert!(
            (found.0 - acceleration).abs() < 1e-4 && (found.2 - normal).abs() < 1e-4,
            "{degrees}: {found:?}"
        );
        let theta = f64::to_radians(degrees);
        assert!((found.0 - G * (theta.sin() - 0.5 * theta.cos())).abs() < 1e-9);
    }
}

/// MC-3: a tall box tips beyond 18.435°, and slides as well when the slope is steep.
#[test]
fn a_tall_box_tips_above_its_tipping_angle() {
    let tall = DVec3::new(0.4, 0.4, 1.2);
    let held = on_slope(tall, 18.4);
    assert!(held.0.abs() < 1e-9 && held.1.abs() < 1e-9, "{held:?}");
    for (degrees, acceleration, alpha, normal) in
        [(20.0, 0.1906, 0.3177, 18.5639), (30.0, 1.3993, 2.3322, 17.9243), (60.0, 5.6104, 4.3279, 11.5412)]
    {
        let found = on_slope(tall, degrees);
        assert!((found.0 - acceleration).abs() < 1e-4, "{degrees}: {found:?}");
        assert!((found.1 - alpha).abs() < 1e-4 && (found.2 - normal).abs() < 1e-4, "{degrees}: {found:?}");
    }
}

/// CF-1, CF-4: the contact force on a resting body is its weight minus the lift, and zero for a larger lift.
#[test]
fn contacts_push_and_never_pull() {
    for (lift, expected) in [(0.0, 2.0 * G), (5.0, 2.0 * G - 5.0), (25.0, 0.0)] {
        let mut world = World::default();
        floor(&mut world);
        let id = world
            .add_body(Body::dynamic().at(0.0, 0.0, 0.1).with_shape(Shape::sphere(0.1).unwrap()).mass(2.0))
            .unwrap();
        world.set_gravity((lift / 2.0 - G) * DVec3::Z).unwrap();
        let mut simulator = Constraint::default();
        simulator.step(&mut world, DT).unwrap();
        let force: f64 = simulator.contacts().map(|contact| contact.force.z.abs()).sum();
        assert!((force - expected).abs() < 1e-9, "{force}");
        let rises = world.body(id).unwrap().velocity().z;
        assert!((rises - (lift / 2.0 - G).max(0.0) * DT).abs() < 1e-12);
    }
}

/// CF-3: a ball on a slope rolls with 5/7 g sin θ, or slips with g (sin θ − μ cos θ) and α = 5 μ g cos θ/(2
/// R).
#[test]
fn balls_roll_or_slip_down_a_slope() {
    let (theta, radius) = (0.5_f64, 0.1);
    for (mu, rolls) in [(0.2, true), (0.1, false)] {
        let mut world = World::default();
        rough(&mut world, mu);
        world.set_gravity(G * DVec3::new(theta.sin(), 0.0, -theta.cos())).unwrap();
        floor(&mut world);
        let ball = Body::dynamic().at(0.0, 0.0, radius).with_shape(Shape::sphere(radius).unwrap());
        let id = world.add_body(ball).unwrap();
        let mut simulator = Constraint::default();
        run(&mut simulator, &mut world, 1.0, 0.01);
        let body = world.body(id).unwrap();
        let a = if rolls { 5.0 / 7.0 * G * theta.sin() } else { G * (theta.sin() - mu * theta.cos()) };
        let alpha = if rolls { a / radius } else { 5.0 * mu * G * theta.cos() / (2.0 * radius) };
        assert!(
            (body.velocity().x - a).abs() < 1e-6 && (body.angular_velocity().y - alpha).abs() < 1e-4,
            "{mu}: {} {a}, {} {alpha}",
            body.velocity(),
            body.angular_velocity()
        );
        assert!((body.position().x - 0.5 * a).abs() < 1e-4);
    }
}

/// CF-6: a block with u = (3, 4) m/s and μ = 0.2 slides straight for 6.3710 m and stops after 2.5484 s.
#[test]
fn a_sliding_block_stops_where_coulomb_says() {
    let mut world = World::default();
    rough(&mut world, 0.2);
    floor(&mut world);
    let body = Body::dynamic()
        .at(0.0, 0.0, 0.1)
        .with_shape(Shape::cuboid(DVec3::new(0.5, 0.5, 0.1)).unwrap())
        .velocity(DVec3::new(3.0, 4.0, 0.0));
    let id = world.add_body(body).unwrap();
    let mut simulator = Constraint::default();
    let mut stopped = None;
    for step in 1..=300 {
        simulator.step(&mut world, 0.01).unwrap();
        if stopped.is_none() && speeds(&world, &[id]) < 1e-9 {
            stopped = Some(0.01 * f64::from(step));
        }
    }
    let way = world.body(id).unwrap().position() - 0.1 * DVec3::Z;
    assert!((way.length() - 25.0 / (2.0 * 0.2 * G)).abs() < 2e-4, "{way}");
    assert!((way.normalize() - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-4, "{way}");
    assert!((stopped.unwrap() - 2.5484).abs() < 0.0101, "{stopped:?}");
}

/// LOOP-3, ENG-1: bodies without contacts move as under `free-motion`, bit for bit.
#[test]
fn without_contact_it_is_free_motion() {
    let build = || {
        let mut world = World::default();
        for k in 0..3 {
            let body = Body::dynamic()
                .at(5.0 * f64::from(k), 0.0, 0.0)
                .with_shape(Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap())
                .orientation(DQuat::from_rotation_x(0.3))
                .velocity(DVec3::new(0.1, 1.0, 2.0))
                .angular_velocity(DVec3::new(1.0, 2.0 + f64::from(k), 0.5));
            world.add_body(body).unwrap();
        }
        world
    };
    let (mut one, mut other) = (build(), build());
    let (mut constraint, mut free) = (Constraint::default(), FreeMotion::default());
    for _ in 0..100 {
        constraint.step(&mut one, DT).unwrap();
        free.step(&mut other, DT).unwrap();
    }
    for (a, b) in one.iter_bodies().zip(other.iter_bodies()) {
        assert_eq!(a.motion(), b.motion());
    }
}

/// RB-1: the period of a torque-free body, 22.996263 s, from the zeros of ω₂ in its own frame.
#[test]
fn torque_free_rotation_has_its_period() {
    let mut world = World::weightless();
    let moments = glam::DMat3::from_diagonal(DVec3::new(1.0, 2.0, 3.0));
    let mass = rattleback_geometry::MassProperties::new(1.0, DVec3::ZERO, moments).unwrap();
    let omega = DVec3::new(0.1, 1.0, 0.1);
    let id = world.add_body(Body::dynamic().mass_properties(mass).angular_velocity(omega)).unwrap();
    let mut simulator = Constraint::default();
    // ω₂ and its rate, (I₃ − I₁) ω₃ ω₁/I₂, at both ends of a step make a cubic whose zero is good to the
    // fourth order.
    let second_component = |world: &World| {
        let motion = *world.body(id).unwrap().motion();
        let omega = motion.q.conjugate() * motion.omega;
        (omega.y, omega.z * omega.x)
    };
    let (mut zeros, mut before) = (Vec::new(), second_component(&world));
    let dt = 0.01;
    while world.time() < 32.0 {
        let time = world.time();
        simulator.step(&mut world, dt).unwrap();
        let now = second_component(&world);
        if before.0 > 0.0 && now.0 <= 0.0 {
            let at = |s: f64| {
                let (to, leave, arrive) =
                    (s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0));
                before.0 + to * (now.0 - before.0) + dt * (leave * before.1 + arrive * now.1)
            };
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if at(middle) > 0.0 { low = middle } else { high = middle }
            }
            zeros.push(time + dt * low);
        }
        before = now;
    }
    assert!((zeros[0] - 6.88570308).abs() < 1e-7, "{zeros:?}");
    assert!((zeros[1] - zeros[0] - 22.99626294412).abs() < 1e-7, "{zeros:?}");
}

/// ForceAccumulator that change within a step: sub-steps are doubled until the error tolerance is met (ENG-11).
#[test]
fn sub_steps_meet_the_error_tolerance() {
    let mut world = World::weightless();
    let ball = |x: f64| Body::dynamic().at(x, 0.0, 0.0).with_shape(Shape::sphere(0.1).unwrap()).mass(1.0);
    let a = world.add_body(ball(0.0)).unwrap();
    let b = world.add_body(ball(2.2)).unwrap();
    let spring = rattleback_dynamics::force::Spring {
        stiffness: 1000.0.into(),
        rest_length: 2.0.into(),
        body_a: Some(a),
        body_b: Some(b),
        ..Default::default()
    };
    world.add_force(spring).unwrap();
    let settings = ConstraintSettings { error_tolerance: 1e-6, ..ConstraintSettings::default() };
    let mut simulator = Constraint::new(settings).unwrap();
    let frequency = (2.0 * 1000.0_f64).sqrt();
    for _ in 0..24 {
        simulator.step(&mut world, DT).unwrap();
        let stretch = (world.body(b).unwrap().position() - world.body(a).unwrap().position()).x - 2.0;
        let expected = 0.2 * (frequency * world.time()).cos();
        assert!((stretch - expected).abs() < 2e-3, "{stretch} {expected}");
    }
    assert!(simulator.substeps() > 4);
    assert!(world.counters().substeps > 4);
}
