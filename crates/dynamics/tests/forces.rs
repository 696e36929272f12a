//! Forces against closed forms.

use glam::DVec3;
use rattleback_dynamics::force::{
    Buoyancy, COULOMB_CONSTANT, Coulomb, Drag, Gravitation, LennardJones, PointForce, Spring, Vortex,
    WindBox, WindPolyhedron, WindSphere,
};
use rattleback_dynamics::{
    Body, BodyId, Error, Force, FreeMotion, Registry, Signal, Simulator, Targets, Value, World,
};
use rattleback_geometry::{MassProperties, Shape};

fn point_like(mass: f64) -> Body {
    Body::dynamic().mass_properties(
        MassProperties::new(mass, DVec3::ZERO, glam::DMat3::from_diagonal(DVec3::splat(0.4 * mass))).unwrap(),
    )
}

fn stepper(integrator: &str) -> FreeMotion {
    FreeMotion::by_name(integrator, &Registry::default()).unwrap()
}

fn run(world: &mut World, simulator: &mut dyn Simulator, dt: f64, steps: u32) {
    for _ in 0..steps {
        simulator.step(world, dt).unwrap();
    }
}

fn acceleration(world: &mut World, id: BodyId) -> DVec3 {
    let before = world.body(id).unwrap().velocity();
    let dt = 1e-9;
    stepper("explicit-euler").step(world, dt).unwrap();
    (world.body(id).unwrap().velocity() - before) / dt
}

/// F-1: free fall is exact for every method of second order and more, whatever the step.
#[test]
fn free_fall_is_a_parabola() {
    for integrator in [
        "splitting",
        "midpoint",
        "heun",
        "runge-kutta-4",
        "dormand-prince",
        "velocity-verlet",
        "basic-verlet",
    ] {
        let mut world = World::default();
        let id =
            world.add_body(point_like(2.0).at(0.0, 0.0, 10.0).velocity(DVec3::new(1.0, 0.0, 3.0))).unwrap();
        run(&mut world, &mut stepper(integrator), 0.01, 100);
        let x = world.body(id).unwrap().position();
        let expected = DVec3::new(1.0, 0.0, 10.0 + 3.0 - 0.5 * 9.81);
        assert!((x - expected).length() < 1e-12, "{integrator}: {x}");
    }
}

/// F-2 and T-FRC-02: linear drag with and without gravity.
#[test]
fn drag_decays_exponentially_and_has_a_terminal_speed() {
    let mut world = World::weightless();
    let id =
        world.add_body(point_like(2.0).velocity(DVec3::X * 3.0).angular_velocity(DVec3::Y * 4.0)).unwrap();
    world.add_force(Drag { linear: 0.5.into(), angular: 0.2.into(), ..Drag::default() }).unwrap();
    run(&mut world, &mut stepper("runge-kutta-4"), 1e-2, 200);
    let body = world.body(id).unwrap();
    assert!((body.velocity().x - 3.0 * (-0.5_f64 / 2.0 * 2.0).exp()).abs() < 1e-8);
    assert!((body.angular_velocity().y - 4.0 * (-0.2_f64 / 0.8 * 2.0).exp()).abs() < 1e-8);

    let mut world = World::default();
    let id = world.add_body(point_like(0.01)).unwrap();
    world.add_force(Drag { linear: 0.02.into(), ..Drag::default() }).unwrap();
    run(&mut world, &mut stepper("runge-kutta-4"), 1e-3, 1000);
    let body = world.body(id).unwrap();
    assert!((body.position().z + 2.7844098).abs() < 1e-7 && (body.velocity().z + 4.2411804).abs() < 1e-7);
    run(&mut world, &mut stepper("runge-kutta-4"), 1e-2, 2000);
    assert!((world.body(id).unwrap().velocity().z + 4.905).abs() < 1e-9);
}

/// damping is exactly e^(−c t) for any step and any integrator.
#[test]
fn damping_is_exact_for_any_step() {
    let registry = Registry::default();
    for entry in registry.integrators.iter() {
        for dt in [0.1, 1.0] {
            let mut world = World::weightless();
            let id = world
                .add_body(point_like(1.0).velocity(DVec3::X).angular_velocity(DVec3::Z).damping(0.1, 0.2))
                .unwrap();
            run(&mut world, &mut stepper(&entry.name), dt, (10.0 / dt) as u32);
            let body = world.body(id).unwrap();
            assert!((body.velocity().x - (-1.0_f64).exp()).abs() < 1e-10, "{}", entry.name);
            assert!((body.angular_velocity().z - (-2.0_f64).exp()).abs() < 1e-10, "{}", entry.name);
        }
    }
}

/// damped fall of 0.5 m with g = 5, c = 0.1 takes 0.450572 s and ends at 2.202860 m/s.
#[test]
fn damped_fall_takes_its_time() {
    let mut world = World::default();
    world.set_gravity(DVec3::new(0.0, -5.0, 0.0)).unwrap();
    let id = world.add_body(point_like(1.0).damping(0.1, 0.0)).unwrap();
    let (dt, mut simulator) = (1e-5, FreeMotion::default());
    while world.body(id).unwrap().position().y > -0.5 {
        simulator.step(&mut world, dt).unwrap();
    }
    assert!((world.time() - 0.450572).abs() < 2e-5, "{}", world.time());
    assert!((world.body(id).unwrap().velocity().y + 2.202860).abs() < 1e-4);
}

/// F-3 and T-FRC-05: two bodies on a spring swing with their reduced mass, and keep their common momentum.
#[test]
fn two_bodies_on_a_spring() {
    let pair = |spring: Spring, stretch: f64| {
        let mut world = World::weightless();
        let a = world.add_body(point_like(1.0)).unwrap();
        let b = world.add_body(point_like(3.0).at(1.0 + stretch, 0.0, 0.0)).unwrap();
        world
            .add_force(Spring { body_a: Some(a), body_b: Some(b), rest_length: 1.0.into(), ..spring })
            .unwrap();
        (world, a, b)
    };
    let stretch =
        |world: &World, a, b| (world.body(b).unwrap().position() - world.body(a).unwrap().position()).x - 1.0;

    let (mut world, a, b) = pair(Spring { stiffness: 100.0.into(), ..Spring::default() }, 0.1);
    let quarter = std::f64::consts::FRAC_PI_2 / 11.547005383792515;
    run(&mut world, &mut stepper("runge-kutta-4"), quarter / 200.0, 200);
    assert!(stretch(&world, a, b).abs() < 1e-8);

    let damped = Spring {
        stiffness: 75.0.into(),
        tuning: "damping-ratio".into(),
        damping_ratio: 0.2.into(),
        ..Spring::default()
    };
    let (mut world, a, b) = pair(damped.clone(), 0.1);
    run(&mut world, &mut stepper("runge-kutta-4"), 1e-4, 5000);
    assert!((stretch(&world, a, b) + 5.54445e-4).abs() < 1e-6);
    assert!(world.readout().momentum.length() < 1e-12);

    let (mut world, a, b) = pair(damped, 0.1);
    run(&mut world, &mut stepper("runge-kutta-4"), 0.3206375 / 4000.0, 4000);
    assert!((stretch(&world, a, b) + 0.05266206).abs() < 1e-6);

    let critical = Spring {
        tuning: "frequency".into(),
        angular_frequency: 10.0.into(),
        damping_ratio: 1.0.into(),
        ..Spring::default()
    };
    let (mut world, a, b) = pair(critical, 0.1);
    for _ in 0..2000 {
        stepper("splitting").step(&mut world, 1e-3).unwrap();
        assert!(stretch(&world, a, b) > -1e-9);
    }
}

/// F-4 and T-FRC-08: a body dragged from 100 m away comes to hang below the pointer, without exceeding the force limit.
#[test]
fn drag_spring_brings_the_body_to_the_pointer() {
    let mut world = World::default();
    let id = world.add_body(point_like(2.0)).unwrap();
    world
        .add_force(Spring {
            body_b: Some(id),
            anchor_a: DVec3::new(100.0, 0.0, 0.0).into(),
            tuning: "frequency".into(),
            angular_frequency: (std::f64::consts::TAU * 3.0).into(),
            max_force: 500.0,
            ..Spring::default()
        })
        .unwrap();
    let mut simulator = FreeMotion::default();
    let mut fastest = 0.0_f64;
    for _ in 0..20_000 {
        simulator.step(&mut world, 1e-3).unwrap();
        fastest = fastest.max(world.body(id).unwrap().velocity().length());
    }
    let sag = 9.81 / (std::f64::consts::TAU * 3.0).powi(2);
    let x = world.body(id).unwrap().position();
    assert!((x - DVec3::new(100.0, 0.0, -sag)).length() < 1e-3, "{x}");
    // Full force over the whole way: v² = 2 (F/m) s.
    assert!(fastest < (2.0 * 250.0 * 100.0_f64).sqrt() * 1.05, "{fastest}");
}

/// T-FRC-03: two masses of 1e12 kg 10 m apart circle each other in 17.2003329 s.
#[test]
fn binary_star_has_its_period() {
    let mut world = World::weightless();
    let speed = (6.672e-11 * 1e12 / 10.0_f64 / 2.0).sqrt();
    let a = world.add_body(point_like(1e12).at(5.0, 0.0, 0.0).velocity(DVec3::Y * speed)).unwrap();
    world.add_body(point_like(1e12).at(-5.0, 0.0, 0.0).velocity(-DVec3::Y * speed)).unwrap();
    world.add_force(Gravitation::default()).unwrap();
    let energy = world.readout().energy();
    let period = 17.2003329;
    run(&mut world, &mut stepper("runge-kutta-4"), period / 4000.0, 4000);
    assert!((world.body(a).unwrap().position() - DVec3::X * 5.0).length() < 5e-5);
    assert!((world.readout().energy() / energy - 1.0).abs() < 1e-9);
}

/// Coulomb's law in numbers: two charges of 1 µC one metre apart repel with 8.9875 mN; opposite ones attract.
#[test]
fn coulomb_in_numbers() {
    for (other, sign) in [(1e-6, 1.0), (-1e-6, -1.0)] {
        let mut world = World::weightless();
        let a = world.add_body(point_like(1.0).charge(1e-6)).unwrap();
        world.add_body(point_like(1.0).at(-1.0, 0.0, 0.0).charge(other)).unwrap();
        world.add_force(Coulomb::default()).unwrap();
        let force = acceleration(&mut world, a);
        assert!((force.x - sign * 8.9875e-3).abs() < 1e-9, "{force}");
        assert!((world.readout().potential_energy - sign * COULOMB_CONSTANT * 1e-12).abs() < 1e-9);
    }
}

/// T-FRC-01: forces between bodies leave the total momentum alone, over 10⁴ steps.
#[test]
fn internal_forces_conserve_momentum() {
    let mut world = World::weightless();
    let mut random = 1_u64;
    let mut next = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut ids = Vec::new();
    for i in 0..27 {
        let site = DVec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)) * 1.2;
        let body = point_like(1.0 + next()).position(site + 0.05 * DVec3::new(next(), next(), next()));
        ids.push(
            world.add_body(body.velocity(DVec3::new(next(), next(), next())).charge(1e-6 * next())).unwrap(),
        );
    }
    world.add_force(LennardJones { depth: 0.1, ..LennardJones::default() }).unwrap();
    world.add_force(Coulomb::default()).unwrap();
    world.add_force(Gravitation { constant: 1e-3, softening: 0.1, ..Gravitation::default() }).unwrap();
    for pair in ids.windows(2) {
        let spring = Spring {
            body_a: Some(pair[0]),
            body_b: Some(pair[1]),
            rest_length: 1.2.into(),
            ..Spring::default()
        };
        world.add_force(Spring { stiffness: 5.0.into(), damping: 0.1.into(), ..spring }).unwrap();
    }
    let start = world.readout();
    let scale: f64 = world.iter_bodies().map(|body| body.momentum().length()).sum();
    run(&mut world, &mut FreeMotion::default(), 1e-3, 10_000);
    let end = world.readout();
    assert!((end.momentum - start.momentum).length() < 1e-10 * scale);
    assert!((end.angular_momentum - start.angular_momentum).length() < 1e-9 * scale);
}

/// T-FRC-06: full strength at the centre, none at the boundary, for every region.
#[test]
fn wind_is_strongest_in_the_middle_and_gone_at_the_edge() {
    let strength = Signal::Constant(DVec3::new(1.0, 2.0, 3.0));
    let forces: Vec<Box<dyn Fn() -> Box<dyn Force>>> = vec![
        Box::new(|| {
            Box::new(WindSphere {
                strength: Signal::Constant(DVec3::new(1.0, 2.0, 3.0)),
                radius: 1.0,
                ..WindSphere::default()
            })
        }),
        Box::new(|| {
            Box::new(WindBox { strength: Signal::Constant(DVec3::new(1.0, 2.0, 3.0)), ..WindBox::default() })
        }),
        Box::new(|| {
            Box::new(WindPolyhedron {
                strength: Signal::Constant(DVec3::new(1.0, 2.0, 3.0)),
                ..WindPolyhedron::default()
            })
        }),
    ];
    for force in forces {
        for (x, share) in [(DVec3::ZERO, 1.0), (DVec3::X, 0.0), (DVec3::Y * 1.5, 0.0)] {
            let mut world = World::weightless();
            let id = world.add_body(point_like(1.0).position(x)).unwrap();
            world.add_force_on(Targets::All, None, force()).unwrap();
            let got = acceleration(&mut world, id);
            assert!((got - strength.at(0.0) * share).length() < 1e-6, "{got}");
        }
    }
    // The box fades component by component with its half extents.
    let mut world = World::weightless();
    let id = world.add_body(point_like(1.0).at(0.5, 0.25, 0.0)).unwrap();
    let half_extents = DVec3::new(1.0, 0.5, 2.0);
    world.add_force(WindBox { strength: DVec3::ONE.into(), half_extents, ..WindBox::default() }).unwrap();
    assert!((acceleration(&mut world, id) - DVec3::new(0.5, 0.5, 1.0)).length() < 1e-6);
}

/// The vortex turns things its way round, and does nothing outside its column.
#[test]
fn vortex_gives_angular_momentum_of_its_sign() {
    let mut world = World::weightless();
    world.add_force(Vortex { lift_acceleration: 1.0.into(), ..Vortex::default() }).unwrap();
    let inside = world.add_body(point_like(1.0).at(2.0, 0.0, 1.0)).unwrap();
    let outside = world.add_body(point_like(1.0).at(6.0, 0.0, 1.0)).unwrap();
    let on_axis = world.add_body(point_like(1.0).at(0.0, 0.0, 1.0)).unwrap();
    run(&mut world, &mut FreeMotion::default(), 1e-3, 100);
    assert!(world.body(inside).unwrap().angular_momentum_about(DVec3::ZERO).z > 0.1);
    assert_eq!(world.body(outside).unwrap().velocity(), DVec3::ZERO);
    let v = world.body(on_axis).unwrap().velocity();
    assert!((v - DVec3::Z * 0.1).length() < 1e-9, "{v}");
}

/// a ball of relative density s comes to rest at the depth of its cap; a box rights itself.
#[test]
fn floating_bodies_find_their_depth() {
    for (ratio, immersion) in [(0.25, 0.652704), (0.5, 1.0), (0.9, 1.608400)] {
        let mut world = World::default();
        let ball =
            Body::dynamic().at(0.0, 0.0, 0.1).with_shape(Shape::sphere(1.0).unwrap()).density(1000.0 * ratio);
        let id = world.add_body(ball).unwrap();
        world.add_force(Buoyancy { drag: 3000.0, ..Buoyancy::default() }).unwrap();
        run(&mut world, &mut FreeMotion::default(), 1e-2, 6000);
        let depth = 1.0 - world.body(id).unwrap().position().z;
        assert!((depth - immersion).abs() < 1e-3, "{depth} instead of {immersion}");
    }
    let mut world = World::default();
    let raft = Body::dynamic()
        .with_shape(Shape::cuboid(DVec3::new(1.0, 1.0, 0.2)).unwrap())
        .density(500.0)
        .orientation(glam::DQuat::from_rotation_x(0.2));
    let id = world.add_body(raft).unwrap();
    world.add_force(Buoyancy { drag: 2000.0, ..Buoyancy::default() }).unwrap();
    run(&mut world, &mut FreeMotion::default(), 1e-2, 4000);
    let up = world.body(id).unwrap().orientation() * DVec3::Z;
    assert!(up.z > 1.0 - 1e-6, "{up}");
    assert!(world.body(id).unwrap().position().z.abs() < 1e-4);
}

/// Drag of a fine ball mesh agrees with the closed form −μ π r² u.
#[test]
fn drag_on_a_ball_uses_its_cross_section() {
    let speed = DVec3::new(0.3, -0.2, 0.9);
    let pull = |shape: Shape| {
        let mut world = World::weightless();
        let id = world
            .add_body(Body::dynamic().at(0.0, 0.0, -50.0).with_shape(shape).mass(1.0).velocity(speed))
            .unwrap();
        world.add_force(Buoyancy { gravity: 0.0, drag: 1.0, ..Buoyancy::default() }).unwrap();
        acceleration(&mut world, id)
    };
    let exact = -std::f64::consts::PI * speed;
    assert!((pull(Shape::sphere(1.0).unwrap()) - exact).length() < 1e-6);
    let mesh = Shape::mesh(rattleback_geometry::generate::icosphere(6).unwrap()).unwrap();
    assert!((pull(mesh) - exact).length() / exact.length() < 1e-3);
}

#[test]
fn a_force_at_a_point_turns_the_body() {
    let mut world = World::weightless();
    let id = world.add_body(point_like(2.0)).unwrap();
    let push = PointForce { force: (DVec3::Y * 3.0).into(), point: DVec3::X * 0.5, ..PointForce::default() };
    world.add_force_on(Targets::Bodies(vec![id]), Some("thruster".into()), Box::new(push)).unwrap();
    run(&mut world, &mut stepper("explicit-euler"), 1e-6, 1);
    let body = world.body(id).unwrap();
    assert!((body.velocity() / 1e-6 - DVec3::Y * 1.5).length() < 1e-9);
    assert!((body.angular_velocity() / 1e-6 - DVec3::Z * (1.5 / 0.8)).length() < 1e-9);
}

/// Anchors belong to the frame a body was modelled in, wherever its centre of mass and principal axes are.
#[test]
fn anchors_are_points_of_the_body_frame() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y * 2.0, DVec3::Z * 3.0];
    let mut world = World::weightless();
    let id =
        world.add_body(Body::dynamic().with_shape(Shape::convex_hull(&corners).unwrap()).mass(1.0)).unwrap();
    let tip = DVec3::Z * 3.0;
    world
        .add_force(Spring {
            body_b: Some(id),
            anchor_a: tip.into(),
            anchor_b: tip.into(),
            ..Spring::default()
        })
        .unwrap();
    run(&mut world, &mut FreeMotion::default(), 0.01, 10);
    assert!(world.body(id).unwrap().velocity().length() < 1e-13);
    world.body_mut(id).unwrap().set_velocity(DVec3::ZERO).unwrap();
    let push = PointForce {
        force: DVec3::X.into(),
        point: world.body(id).unwrap().center_of_mass(),
        ..PointForce::default()
    };
    world.add_force(push).unwrap();
    stepper("explicit-euler").step(&mut world, 1e-6).unwrap();
    assert!((world.body(id).unwrap().velocity() - DVec3::X * 1e-6).length() < 1e-18);
    assert!(world.body(id).unwrap().angular_velocity().length() < 1e-13);
}

/// Time-dependent parameters: a harmonic force of 1 Hz moves a mass to F/(m ω²) (ωt − sin ωt).
#[test]
fn parameters_may_change_with_time() {
    let mut world = World::weightless();
    let id = world.add_body(point_like(2.0)).unwrap();
    let force = Signal::Harmonic { mean: DVec3::ZERO, amplitude: DVec3::X * 4.0, frequency: 1.0, phase: 0.0 };
    world.add_force(PointForce { force, ..PointForce::default() }).unwrap();
    run(&mut world, &mut stepper("runge-kutta-4"), 1e-3, 700);
    let wt = std::f64::consts::TAU * 0.7;
    let expected = 2.0 / (std::f64::consts::TAU * std::f64::consts::TAU) * (wt - wt.sin());
    assert!((world.body(id).unwrap().position().x - expected).abs() < 1e-10);
}

#[test]
fn bad_forces_are_refused_by_name() {
    let mut world = World::weightless();
    let id = world.add_body(point_like(1.0)).unwrap();
    assert!(matches!(
        world.add_force(Spring { body_a: Some(id), body_b: Some(id), ..Spring::default() }),
        Err(Error::Parameter { .. })
    ));
    let other = world.add_body(point_like(1.0)).unwrap();
    let spring =
        world.add_force(Spring { body_a: Some(id), body_b: Some(other), ..Spring::default() }).unwrap();
    let error = world.set_force_property(spring, "stiffness", Value::Real(f64::NAN)).unwrap_err().to_string();
    assert!(error.contains("stiffness") && error.contains("finite"), "{error}");
    let error = world.set_force_property(spring, "body_b", Value::Body(Some(id))).unwrap_err().to_string();
    assert!(error.contains("different bodies"), "{error}");
    assert_eq!(world.force(spring).unwrap().get("body_b"), Ok(Value::Body(Some(other))));
    // Its body gone, the spring hangs loose and the world goes on.
    world.remove_body(other).unwrap();
    run(&mut world, &mut FreeMotion::default(), 0.01, 10);
    assert!(matches!(
        world.add_force_on(Targets::Bodies(vec![other]), None, Box::new(Drag::default())),
        Err(Error::UnknownBody(_))
    ));
    assert!(world.set_gravity(DVec3::splat(f64::INFINITY)).is_err());
    let flat = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
    let given = [("corners".to_owned(), Value::Vec3List(flat))].into();
    assert!(Registry::default().forces.make("wind-polyhedron", &given).is_err());
}
