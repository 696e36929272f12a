//! Constraint simulator: single and simultaneous impacts, times of impact, collision limits.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::simulator::constraint::{
    ConstraintNote, DirectionalImpact, ImpactError, TangentState,
};
use rattleback_dynamics::simulator::{Constraint, ConstraintSettings};
use rattleback_dynamics::{Body, BodyId, Event, Material, Path, Simulator, World};
use rattleback_geometry::Shape;
use rattleback_geometry::contact::distance;

fn surface(world: &mut World, restitution: f64, mu: f64) {
    let material = world.default_material();
    world.set_material(material, Material { restitution, ..Material::with_friction(mu) }).unwrap();
}

fn ball(world: &mut World, at: DVec3, velocity: DVec3) -> BodyId {
    let shape = Shape::sphere(0.5).unwrap();
    world.add_body(Body::dynamic().position(at).with_shape(shape).mass(1.0).velocity(velocity)).unwrap()
}

fn velocity(world: &World, id: BodyId) -> DVec3 {
    world.body(id).unwrap().velocity()
}

/// The reference collision of §8: two boxes, e = 0.4.
fn reference(friction: [f64; 2]) -> DirectionalImpact {
    let tensor = |mass: f64, size: DVec3| {
        let square = size * size;
        mass / 12.0 * DVec3::new(square.y + square.z, square.x + square.z, square.x + square.y)
    };
    let (x1, x2) = (DVec3::new(0.4, -0.2, -0.125), DVec3::new(-0.1, 0.05, 0.3));
    let inverse = [tensor(2.0, DVec3::new(1.0, 0.5, 0.25)), tensor(3.0, DVec3::splat(0.6))].map(DVec3::recip);
    let axes = [DVec3::Z, DVec3::Y, DVec3::NEG_X];
    let k = |d: DVec3, e: DVec3| {
        d.dot(e) * (1.0 / 2.0 + 1.0 / 3.0)
            + x1.cross(d).dot(inverse[0] * x1.cross(e))
            + x2.cross(d).dot(inverse[1] * x2.cross(e))
    };
    let column = |j: usize| DVec3::new(k(axes[0], axes[j]), k(axes[1], axes[j]), k(axes[2], axes[j]));
    let v1 = DVec3::new(1.0, 0.5, -2.0) + DVec3::new(0.3, -0.4, 0.2).cross(x1);
    let v2 = DVec3::new(-0.2, 0.0, 0.5) + DVec3::new(0.0, 1.0, 0.0).cross(x2);
    let u = v1 - v2;
    DirectionalImpact {
        k: DMat3::from_cols(column(0), column(1), column(2)),
        u: DVec3::new(axes[0].dot(u), axes[1].dot(u), axes[2].dot(u)),
        restitution: 0.4,
        friction,
    }
}

/// §8 reference case, all four rows: K, u, impulse, velocity after, energy, and states of the tangents.
#[test]
fn the_reference_collision_has_its_four_solutions() {
    use TangentState::{SlidesPushedForward as Forward, Sticks};
    let impact = reference([0.0; 2]);
    assert!((impact.u - DVec3::new(-2.5, 0.6175, -0.99)).length() < 1e-12);
    let k = [(0, 0, 2.57430719), (0, 1, -0.563333333), (0, 2, -0.449019608), (1, 1, 2.456888889)];
    for (i, j, value) in k.into_iter().chain([(1, 2, -0.411777778), (2, 2, 1.627457516)]) {
        assert!((impact.k.col(j)[i] - value).abs() < 1e-8, "{i} {j}");
    }
    let rows = [
        ([0.0, 0.0], [1.359589102, 0.0, 0.0], [1.0, -0.148401861, -1.600482165], 4.775985257, None),
        (
            [0.05, 0.05],
            [1.386858384, 0.069342919, 0.069342919],
            [1.0, -0.021949582, -1.528427826],
            4.688864329,
            Some([Forward, Forward]),
        ),
        (
            [0.30, 0.15],
            [1.420873694, 0.110175168, 0.213131054],
            [1.0, 0.0, -1.326506099],
            4.517178702,
            Some([Sticks, Forward]),
        ),
        (
            [1.0, 1.0],
            [1.625940489, 0.311836997, 1.135812571],
            [1.0, 0.0, 0.0],
            4.110274167,
            Some([Sticks; 2]),
        ),
    ];
    for (friction, p, after, energy, states) in rows {
        let outcome = reference(friction).resolve(true).unwrap();
        assert!((outcome.impulse - DVec3::from_array(p)).length() < 2e-9, "{outcome:?}");
        assert!((outcome.velocity - DVec3::from_array(after)).length() < 2e-9, "{outcome:?}");
        assert!((5.795677083 + outcome.energy - energy).abs() < 2e-9, "{outcome:?}");
        assert_eq!(outcome.inconsistency, 0.0);
        if let Some(states) = states {
            assert_eq!(outcome.states, states);
        }
    }
}

/// IMP-1: an oblique impact of a ball on the floor: below the critical μ = 2/7 |u_t|/((1 + e)|u_n|) it slips,
/// above it rolls.
#[test]
fn a_thrown_ball_slips_or_rolls() {
    let k = DMat3::from_diagonal(DVec3::new(1.0, 3.5, 3.5));
    let hit = |mu: f64| {
        let u = DVec3::new(-2.0, 1.0, 0.0);
        DirectionalImpact { k, u, restitution: 0.5, friction: [mu; 2] }.resolve(true).unwrap().impulse
    };
    assert!((hit(0.0953).y + 2.0 / 7.0).abs() < 1e-14);
    assert!((hit(0.0952).y + 3.0 * 0.0952).abs() < 1e-14);
}

/// IMP-2: a falling rod strikes with its end: P = (1 + e) m v/4.
#[test]
fn a_rod_strikes_with_its_end() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = World::weightless();
        surface(&mut world, e, 0.0);
        world
            .add_body(Body::fixed().at(0.5, 0.0, -0.5).with_shape(Shape::sphere(0.5 - 1e-3).unwrap()))
            .unwrap();
        let mass = rattleback_geometry::MassProperties::new(
            1.0,
            DVec3::ZERO,
            DMat3::from_diagonal(DVec3::new(1e-4, 1.0 / 12.0, 1.0 / 12.0)),
        )
        .unwrap();
        let rod = world
            .add_body(
                Body::dynamic()
                    .with_shape(Shape::cuboid(DVec3::new(0.6, 1e-3, 1e-3)).unwrap())
                    .mass_properties(mass)
                    .at(0.0, 0.0, 0.1)
                    .velocity(-2.0 * DVec3::Z),
            )
            .unwrap();
        let mut simulator = Constraint::default();
        // Up to just after the impact: an inelastic rod then rolls over the ball, with a contact force of 1.1
        // N.
        for dt in [0.01, 0.01, 0.01, 0.01, 0.009_999, 2e-6] {
            simulator.step(&mut world, dt).unwrap();
        }
        let p = (1.0 + e) * 2.0 / 4.0;
        assert!((velocity(&world, rod).z - (p - 2.0)).abs() < 1e-5, "{e}: {}", velocity(&world, rod));
        let omega = world.body(rod).unwrap().angular_velocity();
        assert!((omega.length() - 12.0 * 0.5 * p).abs() < 1e-4, "{omega}");
    }
}

/// IMP-4: random impacts satisfy restitution and create no energy; invalid parameters are refused.
#[test]
fn random_impacts_satisfy_restitution_and_energy() {
    let mut seed = 5_u64;
    let mut noise = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    for _ in 0..10_000 {
        let mut vector = || DVec3::new(noise(), noise(), noise());
        let (r, s, moments) = (vector(), vector(), 0.05 + vector().abs());
        let column =
            |d: DVec3| 1.5 * d + (moments.recip() * r.cross(d)).cross(r) + (2.0 * s.cross(d)).cross(s);
        let k = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let mut u = vector();
        u.x = -0.1 - u.x.abs();
        let (e, friction) = (noise().abs(), [0.1 + 1.9 * noise().abs(), 0.1 + 1.9 * noise().abs()]);
        let impact = DirectionalImpact { k, u, restitution: e, friction };
        let outcome = impact.resolve(true).unwrap();
        assert_eq!(outcome.inconsistency, 0.0, "{impact:?}");
        assert!((outcome.velocity.x + outcome.restitution * u.x).abs() < 1e-11);
        assert!(outcome.energy <= 1e-10, "{outcome:?}");
        assert!(outcome.impulse.y.abs() <= friction[0] * outcome.impulse.x + 1e-10);
    }
    let good = reference([0.1; 2]);
    let separating = DirectionalImpact { u: -good.u, ..good };
    assert!(matches!(separating.resolve(true), Err(ImpactError::Separating { .. })));
    let wild = DirectionalImpact { restitution: 1.5, ..good };
    assert_eq!(wild.resolve(true), Err(ImpactError::Parameter));
    assert!(DirectionalImpact { u: DVec3::NAN, ..good }.resolve(true).is_err());
}

/// MUL-1: a ball at 1 m/s hits two that touch each other: it rebounds with −1/5 m/s, they leave with 2√3/5
/// m/s along their normals.
#[test]
fn a_billiard_ball_hits_two() {
    let mut world = World::weightless();
    surface(&mut world, 1.0, 0.0);
    let (s, c) = 30_f64.to_radians().sin_cos();
    let white = ball(&mut world, DVec3::new(-0.5, 0.0, 0.0), DVec3::X);
    let one = ball(&mut world, DVec3::new(c, s, 0.0), DVec3::ZERO);
    let other = ball(&mut world, DVec3::new(c, -s, 0.0), DVec3::ZERO);
    let before = world.readout();
    let mut simulator = Constraint::default();
    for _ in 0..60 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    let speed = 2.0 * 3_f64.sqrt() / 5.0;
    assert!((velocity(&world, white) + 0.2 * DVec3::X).length() < 1e-5, "{}", velocity(&world, white));
    assert!((velocity(&world, one) - speed * DVec3::new(c, s, 0.0)).length() < 1e-5);
    assert!((velocity(&world, other) - speed * DVec3::new(c, -s, 0.0)).length() < 1e-5);
    let after = world.readout();
    assert!((after.kinetic_energy - before.kinetic_energy).abs() < 1e-10);
    assert!((after.momentum - before.momentum).length() < 1e-12);
}

/// MUL-2: three elastic balls in a row, the outer ones moving inwards: they rebound and the middle one stays
/// at rest.
#[test]
fn outer_balls_of_three_rebound() {
    let mut world = World::weightless();
    surface(&mut world, 1.0, 0.0);
    let ids: Vec<BodyId> = [1.0, 0.0, -1.0]
        .into_iter()
        .enumerate()
        .map(|(k, v)| ball(&mut world, DVec3::new(k as f64, 0.0, 0.0), DVec3::new(v, 0.0, 0.0)))
        .collect();
    Constraint::default().step(&mut world, 0.01).unwrap();
    for (id, expected) in ids.iter().zip([-1.0, 0.0, 1.0]) {
        assert!((velocity(&world, *id).x - expected).abs() < 1e-11, "{}", velocity(&world, *id));
    }
}

/// MUL-3: Newton's cradle: one ball in, one ball out, in four rounds of impacts.
#[test]
fn one_ball_in_one_ball_out() {
    let mut world = World::weightless();
    surface(&mut world, 1.0, 0.0);
    let ids: Vec<BodyId> = (0..5)
        .map(|k| {
            let v = if k == 0 { DVec3::X } else { DVec3::ZERO };
            ball(&mut world, DVec3::new(f64::from(k), 0.0, 0.0), v)
        })
        .collect();
    let mut simulator = Constraint::default();
    simulator.step(&mut world, 0.01).unwrap();
    for (k, id) in ids.iter().enumerate() {
        let expected = if k == 4 { 1.0 } else { 0.0 };
        assert!((velocity(&world, *id).x - expected).abs() < 1e-12, "{k}: {}", velocity(&world, *id));
    }
    assert_eq!(simulator.counters().collision_rounds, 4);
}

/// T-16: two cubes of 10 kg, one rotated by 1 rad about (−1, −2, 0), approach with 0.2 m/s: first contact at
/// 3.578111 s, and the velocities after it for three restitutions, without friction.
#[test]
fn two_cubes_collide_at_their_time() {
    for (e, v2, v1, ratio) in [
        (0.0, 0.144706, 0.055294, 0.723529),
        (0.5, 0.117059, 0.082941, 0.792647),
        (1.0, 0.089412, 0.110588, 1.0),
    ] {
        let mut world = World::weightless();
        surface(&mut world, e, 0.0);
        let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
        let target =
            world.add_body(Body::dynamic().at(2.0, 0.0, 0.0).with_shape(shape.clone()).mass(10.0)).unwrap();
        let turn = DQuat::from_axis_angle(DVec3::new(-1.0, -2.0, 0.0).normalize(), 1.0);
        let flying = world
            .add_body(Body::dynamic().orientation(turn).with_shape(shape).mass(10.0).velocity(0.2 * DVec3::X))
            .unwrap();
        let before = world.readout().kinetic_energy;
        let settings = ConstraintSettings { touch_gap: 1e-9, ..ConstraintSettings::default() };
        let mut simulator = Constraint::new(settings).unwrap();
        let mut collision = None;
        for _ in 0..200 {
            simulator.step(&mut world, 1.0 / 24.0).unwrap();
            for event in world.events() {
                if let Event::Collision { time, point, impulse, .. } = event {
                    collision = collision.or(Some((*time, *point, *impulse)));
                }
            }
            if collision.is_some() {
                break;
            }
        }
        let (time, point, impulse) = collision.expect("no collision");
        // Half extent of the rotated cube along x.
        let row = glam::DMat3::from_quat(turn).row(0).abs();
        let extent = 0.5 * (row.x + row.y + row.z);
        assert!((extent - 0.784378).abs() < 1e-6);
        assert!((time - (1.5 - extent) / 0.2).abs() < 1e-7, "{time}");
        assert!((time - 3.578111).abs() < 1e-6, "{time}");
        assert!((point - DVec3::new(1.5, 0.357811, -0.081993)).length() < 1e-6, "{point}");
        assert!((impulse.length() - (1.0 + e) * 0.552942).abs() < 1e-6 * (1.0 + e), "{impulse}");
        assert!(
            (velocity(&world, flying).x - v2).abs() < 1e-6 && (velocity(&world, target).x - v1).abs() < 1e-6
        );
        let omega = world.body(flying).unwrap().angular_velocity();
        let share = 1.0 + e;
        assert!((omega - share * DVec3::new(0.0, 0.027202, 0.118709)).length() < 1e-6 * share, "{omega}");
        assert!((world.readout().kinetic_energy / before - ratio).abs() < 1e-6);
    }
}

/// A dropped ball lands after √(2 h/g) and rebounds to e² of its height.
#[test]
fn a_dropped_ball_rebounds_to_e_squared_of_its_height() {
    let mut world = World::default();
    surface(&mut world, 0.8, 0.5);
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let id = ball(&mut world, DVec3::new(0.0, 0.0, 1.5), DVec3::ZERO);
    let mut simulator = Constraint::default();
    let (mut landed, mut top) = (None, 0.0_f64);
    for _ in 0..400 {
        simulator.step(&mut world, 1.0 / 400.0).unwrap();
        for event in world.events() {
            if let Event::Collision { time, .. } = event {
                landed = landed.or(Some(*time));
            }
        }
        if landed.is_some() {
            top = top.max(world.body(id).unwrap().position().z);
        }
    }
    assert!((landed.unwrap() - (2.0_f64 / 9.81).sqrt()).abs() < 1e-6, "{landed:?}");
    assert!((top - 0.5 - 0.64).abs() < 1e-4, "{top}");
}

/// Zeno's sequence of bounces ends in finite time, and the ball stays at rest.
#[test]
fn a_bouncing_ball_comes_to_rest() {
    let mut world = World::default();
    surface(&mut world, 0.5, 0.5);
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let id = ball(&mut world, DVec3::new(0.0, 0.0, 1.5), DVec3::ZERO);
    let mut simulator = Constraint::default();
    for _ in 0..300 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    assert!(velocity(&world, id).length() < 1e-10, "{}", velocity(&world, id));
    assert!((world.body(id).unwrap().position().z - 0.5).abs() < 1e-6);
}

/// CD-2, ENG-18: a bullet of 1 cm at 1000 m/s does not pass through a plate of 1 mm.
#[test]
fn a_bullet_hits_a_plate() {
    let mut world = World::weightless();
    surface(&mut world, 0.0, 0.0);
    world.add_body(Body::fixed().with_shape(Shape::cuboid(DVec3::new(0.0005, 1.0, 1.0)).unwrap())).unwrap();
    let bullet = world
        .add_body(
            Body::dynamic()
                .at(-5.0, 0.0, 0.0)
                .with_shape(Shape::cuboid(DVec3::splat(0.005)).unwrap())
                .velocity(1000.0 * DVec3::X),
        )
        .unwrap();
    let mut simulator = Constraint::default();
    simulator.step(&mut world, 1.0 / 60.0).unwrap();
    let x = world.body(bullet).unwrap().position().x;
    assert!((x + 0.0055).abs() < 1e-5, "{x}");
    let time = world.events().iter().find_map(|event| match event {
        Event::Collision { time, .. } => Some(*time),
        _ => None,
    });
    assert!((time.unwrap() - (5.0 - 0.0055) / 1000.0).abs() < 1e-6);
}

/// LOOP-1: a collision does not change bodies of other islands, bit for bit.
#[test]
fn only_the_colliding_island_returns_to_the_impact() {
    let build = |with_obstacle: bool| {
        let mut world = World::default();
        surface(&mut world, 0.5, 0.3);
        if with_obstacle {
            world
                .add_body(Body::fixed().at(2.0, 0.0, 0.0).with_shape(Shape::cuboid(DVec3::ONE).unwrap()))
                .unwrap();
        }
        let hits = ball(&mut world, DVec3::ZERO, 30.0 * DVec3::X);
        let free = world
            .add_body(
                Body::dynamic()
                    .at(0.0, 40.0, 0.0)
                    .with_shape(Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap())
                    .angular_velocity(DVec3::new(1.0, 2.0, 3.0)),
            )
            .unwrap();
        (world, hits, free)
    };
    let ((mut one, hits, free), (mut other, _, same)) = (build(true), build(false));
    for _ in 0..10 {
        Constraint::default().step(&mut one, 1.0 / 24.0).unwrap();
        Constraint::default().step(&mut other, 1.0 / 24.0).unwrap();
    }
    assert!(velocity(&one, hits).x < 0.0);
    assert_eq!(one.body(free).unwrap().motion(), other.body(same).unwrap().motion());
}

/// ENG-16: two impacts with two walls in one step are both found.
#[test]
fn two_walls_are_hit_in_one_step() {
    let mut world = World::weightless();
    surface(&mut world, 1.0, 0.0);
    for x in [-1.0, 1.0] {
        world
            .add_body(
                Body::fixed().at(x, 0.0, 0.0).with_shape(Shape::cuboid(DVec3::new(0.1, 5.0, 5.0)).unwrap()),
            )
            .unwrap();
    }
    let id = world
        .add_body(
            Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).velocity(DVec3::new(40.0, 0.0, 0.0)),
        )
        .unwrap();
    let mut simulator = Constraint::default();
    simulator.step(&mut world, 0.09).unwrap();
    // 3.6 m, folded into ±0.8 m.
    let x = world.body(id).unwrap().position().x;
    assert!((x - 0.4).abs() < 1e-4, "{x}");
    assert!((velocity(&world, id) - 40.0 * DVec3::X).length() < 1e-9);
    assert_eq!(world.events().iter().filter(|event| matches!(event, Event::Collision { .. })).count(), 2);
}

/// LOOP-2: a ball between two approaching heavy plates: the step ends, with a note that restitution was set
/// to zero.
#[test]
fn a_squeezed_ball_stops_bouncing() {
    let mut world = World::weightless();
    surface(&mut world, 1.0, 0.0);
    let plate = |x: f64| {
        Body::dynamic()
            .at(x, 0.0, 0.0)
            .with_shape(Shape::cuboid(DVec3::new(0.5, 2.0, 2.0)).unwrap())
            .mass(1e4)
            .velocity(DVec3::new(-x.signum() * 1.0, 0.0, 0.0))
    };
    let left = world.add_body(plate(-1.2)).unwrap();
    let right = world.add_body(plate(1.2)).unwrap();
    let small = Shape::sphere(0.5).unwrap();
    world.add_body(Body::dynamic().with_shape(small).mass(1.0).velocity(DVec3::X)).unwrap();
    let mut simulator = Constraint::default();
    let mut forced = false;
    for _ in 0..10 {
        simulator.step(&mut world, 0.05).unwrap();
        forced |= simulator.notes().iter().any(|note| matches!(note, ConstraintNote::ForcedInelastic { .. }));
        let gap = world.body(right).unwrap().position().x - world.body(left).unwrap().position().x - 1.0;
        assert!(gap > 1.0 - 1e-3, "{gap}");
        assert!(world.iter_bodies().all(|body| body.motion().is_finite()));
    }
    assert!(forced);
}

/// Scene 9: Painlevé's rod sliding with μ = 1.5: states stay finite and above the floor, and energy grows by
/// less than 0.05 J per step.
#[test]
fn a_painleve_rod_stays_finite() {
    for solver in ["newton", "baraff"] {
        let mut world = World::default();
        surface(&mut world, 0.0, 1.5);
        let floor = world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
        let theta = 2.0_f64.atan();
        let half = DVec3::new(1.0, 0.01, 0.01);
        let turn = DQuat::from_rotation_y(-theta);
        let lowest = theta.sin() + 0.01 * theta.cos();
        let rod = world
            .add_body(
                Body::dynamic()
                    .with_shape(Shape::cuboid(half).unwrap())
                    .orientation(turn)
                    .at(0.0, 0.0, lowest)
                    .mass(1.0)
                    .velocity(DVec3::new(-3.0, 0.0, 0.0)),
            )
            .unwrap();
        let settings = ConstraintSettings { solver: solver.into(), ..ConstraintSettings::default() };
        let mut simulator = Constraint::new(settings).unwrap();
        let mut energy = world.readout().energy();
        for _ in 0..200 {
            simulator.step(&mut world, 1.0 / 240.0).unwrap();
            let body = world.body(rod).unwrap();
            assert!(body.motion().is_finite());
            let bounds = body.aabb().unwrap();
            assert!(bounds.min().z > -2e-3, "{solver}: {}", bounds.min());
            let now = world.readout().energy();
            assert!(now < energy + 0.05, "{solver}: {now} {energy}");
            energy = now;
        }
        assert!(world.body(floor).is_ok());
    }
}

/// Deepest overlap of twelve cubes dropped above each other over two seconds, m; `seed` determines their
/// poses.
fn overlap_of_dropped_cubes(seed: f64) -> f64 {
    let mut world = World::default();
    surface(&mut world, 0.2, 0.5);
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let shape = Shape::cuboid(DVec3::splat(0.1)).unwrap();
    let mut ids = Vec::new();
    for k in 0..12 {
        let k = f64::from(k);
        let turn = DVec3::new(k + seed, 2.0 * k - seed, 0.5 + 3.0 * seed);
        let body = Body::dynamic()
            .with_shape(shape.clone())
            .at(0.13 * (k * 1.7 + seed).sin(), 0.13 * (k * 2.3).cos(), 0.3 + 0.28 * k)
            .orientation(DQuat::from_scaled_axis(turn));
        ids.push(world.add_body(body).unwrap());
    }
    let settings = ConstraintSettings { exact_bodies: 20, ..ConstraintSettings::default() };
    let mut simulator = Constraint::new(settings).unwrap();
    let mut deepest = 0.0_f64;
    for _ in 0..120 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        for (i, a) in ids.iter().enumerate() {
            let body = world.body(*a).unwrap();
            deepest = deepest.max(-body.aabb().unwrap().min().z);
            for b in &ids[..i] {
                let relative = body.pose().relative(&world.body(*b).unwrap().pose());
                deepest = deepest.max(-distance(&shape, &shape, &relative).unwrap().distance);
            }
        }
    }
    deepest
}

/// ENG-2, smaller: cubes dropped onto a heap in three ways never overlap by more than a thousandth of a cube.
/// (Touching pairs may come to overlap by a thousandth of half a cube where they turn; an interval with a
/// larger overlap is shortened and solved again.)
#[test]
fn dropped_cubes_do_not_overlap() {
    for seed in [0.1, 0.2, 0.4] {
        let deepest = overlap_of_dropped_cubes(seed);
        assert!(deepest < 2e-4, "{seed}: {deepest}");
    }
}

/// A body on a moving belt takes on its velocity.
#[test]
fn a_moving_belt_carries_a_body() {
    let mut world = World::default();
    surface(&mut world, 0.0, 0.5);
    let path = Path::Steady { velocity: DVec3::new(0.5, 0.0, 0.0), angular_velocity: DVec3::ZERO };
    world
        .add_body(
            Body::kinematic(path)
                .at(0.0, 0.0, -0.5)
                .with_shape(Shape::cuboid(DVec3::new(5.0, 5.0, 0.5)).unwrap()),
        )
        .unwrap();
    let id = world
        .add_body(Body::dynamic().at(0.0, 0.0, 0.2).with_shape(Shape::cuboid(DVec3::splat(0.2)).unwrap()))
        .unwrap();
    let mut simulator = Constraint::default();
    for _ in 0..100 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    assert!((velocity(&world, id) - 0.5 * DVec3::X).length() < 1e-9, "{}", velocity(&world, id));
}
