//! Constraint simulator against closed forms: mechanisms, slopes, impacts of jointed bodies; and single
//! bodies in free flight.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::force::PointForce;
use rattleback_dynamics::joint::{Cylindrical, JointFrames, Prismatic, Revolute, Spherical};
use rattleback_dynamics::simulator::Constraint;
use rattleback_dynamics::{Body, BodyId, Event, FreeMotion, Material, Path, ShapePart, Simulator, World};
use rattleback_geometry::{MassProperties, Pose, Shape};

const G: f64 = 9.81;

fn surface(world: &mut World, restitution: f64, mu: f64) {
    let material = Material { restitution, ..Material::with_friction(mu) };
    world.set_material(world.default_material(), material).unwrap();
}

fn rod(mass: f64, length: f64) -> MassProperties {
    let across = mass * length * length / 12.0;
    MassProperties::new(mass, DVec3::ZERO, DMat3::from_diagonal(DVec3::new(across, across, 0.05 * across)))
        .unwrap()
}

/// A rod between two points, without shapes.
fn bar(world: &mut World, from: DVec3, to: DVec3) -> BodyId {
    let turn = DQuat::from_rotation_arc(DVec3::Z, (to - from).normalize());
    let body = Body::dynamic().pose(Pose::new(turn, 0.5 * (from + to)));
    world.add_body(body.mass_properties(rod(1.0, from.distance(to)))).unwrap()
}

fn run(world: &mut World, simulator: &mut Constraint, steps: usize, dt: f64) {
    for _ in 0..steps {
        simulator.step(world, dt).unwrap();
    }
}

/// Scene 8: a slider-crank, three hinges and a slide. The crank r turns with Ω; the piston is at x = r cos θ
/// + √(l² − r² sin² θ), to 1e-8 m.
#[test]
fn slider_cranks_have_their_piston_position() {
    let (r, l, omega) = (0.3, 1.0, 4.0);
    let mut world = World::default();
    let path = Path::Steady { velocity: DVec3::ZERO, angular_velocity: -omega * DVec3::Y };
    let crank = world.add_body(Body::kinematic(path)).unwrap();
    let pin = r * DVec3::X;
    let gudgeon = (r + l) * DVec3::X;
    let coupler = bar(&mut world, pin, gudgeon);
    let piston = world.add_body(Body::dynamic().position(gudgeon).mass_properties(rod(0.5, 0.2))).unwrap();
    let hinge = Revolute::default;
    world.add_joint(JointFrames::between(crank, coupler).at(pin).along(DVec3::Y), hinge()).unwrap();
    world.add_joint(JointFrames::between(coupler, piston).at(gudgeon).along(DVec3::Y), hinge()).unwrap();
    world.add_joint(JointFrames::to_world(piston).at(gudgeon).along(DVec3::X), Prismatic::default()).unwrap();
    let mut simulator = Constraint::default();
    for _ in 0..300 {
        simulator.step(&mut world, 0.01).unwrap();
        let theta = omega * world.time();
        let expected = r * theta.cos() + (l * l - (r * theta.sin()).powi(2)).sqrt();
        let at = world.body(piston).unwrap().position();
        assert!((at - expected * DVec3::X).length() < 1e-8, "{at} {expected}");
    }
}

/// Scene 2: a flat box (sliding at tan θ = μ = 0.5, 26.565°) and a tall one (tipping at tan θ = 1/3, 18.435°)
/// on slopes from 0° to 60°: each begins to move within 0.05° of its angle, found by bisection.
#[test]
fn boxes_on_slopes_move_above_their_critical_angle() {
    let moves = |half: DVec3, degrees: f64| {
        let mut world = World::default();
        surface(&mut world, 0.0, 0.5);
        let slope = DQuat::from_rotation_y(degrees.to_radians());
        world.add_body(Body::fixed().with_shape(Shape::half_space(slope * DVec3::Z).unwrap())).unwrap();
        let body = Body::dynamic().position(slope * (half.z * DVec3::Z)).orientation(slope).mass(2.0);
        let id = world.add_body(body.with_shape(Shape::cuboid(half).unwrap())).unwrap();
        run(&mut world, &mut Constraint::default(), 12, 1.0 / 24.0);
        let body = world.body(id).unwrap();
        body.velocity().length() + body.angular_velocity().length() > 1e-6
    };
    for (half, expected) in [(DVec3::new(0.5, 0.5, 0.1), 0.5_f64), (DVec3::new(0.2, 0.2, 0.6), 1.0 / 3.0)] {
        assert!(!moves(half, 0.0) && moves(half, 60.0));
        let (mut rests, mut leaves) = (0.0, 60.0);
        while leaves - rests > 0.01 {
            let middle = 0.5 * (rests + leaves);
            if moves(half, middle) { leaves = middle } else { rests = middle }
        }
        let found: f64 = 0.5 * (rests + leaves);
        assert!((found - expected.atan().to_degrees()).abs() < 0.05, "{found}");
    }
}

/// IMP-3: head-on impacts of two balls: velocities after by the formulas of one dimension.
#[test]
fn head_on_impacts_follow_the_one_dimensional_law() {
    for (m1, m2, e) in [(1.0, 1.0, 1.0), (1.0, 3.0, 1.0), (2.0, 0.5, 0.4), (1.0, 4.0, 0.0)] {
        let mut world = World::weightless();
        surface(&mut world, e, 0.0);
        let ball = |x: f64, v: f64, m: f64| {
            Body::dynamic()
                .at(x, 0.0, 0.0)
                .velocity(v * DVec3::X)
                .mass(m)
                .with_shape(Shape::sphere(0.1).unwrap())
        };
        let a = world.add_body(ball(0.0, 2.0, m1)).unwrap();
        let b = world.add_body(ball(0.2, -1.0, m2)).unwrap();
        Constraint::default().step(&mut world, 1e-6).unwrap();
        let (common, relative) = ((m1 * 2.0 - m2) / (m1 + m2), -e * 3.0);
        let of = |id| world.body(id).unwrap().velocity().x;
        assert!((of(a) - (common + m2 / (m1 + m2) * relative)).abs() < 1e-14, "{}", of(a));
        assert!((of(b) - (common - m1 / (m1 + m2) * relative)).abs() < 1e-14, "{}", of(b));
    }
}

/// IMP-5: an impact with friction does not depend on the order of the two bodies.
#[test]
fn impacts_do_not_depend_on_body_order() {
    let run = |swapped: bool| {
        let mut world = World::weightless();
        surface(&mut world, 0.5, 0.3);
        let cube = Body::dynamic()
            .at(0.1, 0.05, 0.3)
            .velocity(DVec3::new(0.4, -0.3, -2.0))
            .angular_velocity(DVec3::new(1.0, 2.0, -0.5))
            .with_shape(Shape::cuboid(DVec3::new(0.1, 0.15, 0.1)).unwrap());
        let ball = Body::dynamic().at(0.0, 0.0, 0.1).with_shape(Shape::sphere(0.1).unwrap());
        let bodies = if swapped { [ball, cube] } else { [cube, ball] };
        let mut ids = bodies.map(|body| world.add_body(body).unwrap());
        if swapped {
            ids.reverse();
        }
        Constraint::default().step(&mut world, 0.01).unwrap();
        assert!(world.events().iter().any(|event| matches!(event, Event::Collision { .. })));
        ids.map(|id| (world.body(id).unwrap().velocity(), world.body(id).unwrap().angular_velocity()))
    };
    for ((v, omega), (other_v, other_omega)) in run(false).into_iter().zip(run(true)) {
        assert!((v - other_v).length() < 1e-12 && (omega - other_omega).length() < 1e-11, "{v} {other_v}");
    }
}

/// J-4: a body symmetric about the axis of its cylindrical joint slides and rotates independently; gravity
/// acts along the axis.
#[test]
fn cylindrical_joints_slide_and_spin() {
    let mut world = World::default();
    let body = Body::dynamic().mass_properties(rod(2.0, 1.0)).velocity(0.3 * DVec3::Z);
    let id = world.add_body(body.angular_velocity(4.0 * DVec3::Z)).unwrap();
    world.add_joint(JointFrames::to_world(id).along(DVec3::Z), Cylindrical::default()).unwrap();
    let mut simulator = Constraint::default();
    run(&mut world, &mut simulator, 100, 0.01);
    let body = world.body(id).unwrap();
    assert!((body.position() - (0.3 - 0.5 * G) * DVec3::Z).length() < 1e-9, "{}", body.position());
    assert!((body.velocity() - (0.3 - G) * DVec3::Z).length() < 1e-9);
    assert!((body.angular_velocity() - 4.0 * DVec3::Z).length() < 1e-9);
    let turned = body.pose().rotation * DVec3::X;
    assert!((turned - DVec3::new(4.0_f64.cos(), 4.0_f64.sin(), 0.0)).length() < 1e-9, "{turned}");
}

/// J-6: an asymmetric body on a hinge to the world rotates about its axis only: other components of ω stay
/// below 1e-9 rad/s.
#[test]
fn hinged_bodies_rotate_about_their_axis_only() {
    let mut world = World::default();
    let moments = DMat3::from_cols_array(&[0.3, 0.05, 0.02, 0.05, 0.4, -0.03, 0.02, -0.03, 0.5]);
    let mass = MassProperties::new(2.0, DVec3::new(0.2, 0.1, 0.3), moments).unwrap();
    let axis = DVec3::new(1.0, 2.0, 0.5).normalize();
    let id = world.add_body(Body::dynamic().mass_properties(mass)).unwrap();
    world.add_joint(JointFrames::to_world(id).along(axis), Revolute::default()).unwrap();
    let mut simulator = Constraint::default();
    let mut fastest = 0.0_f64;
    for _ in 0..300 {
        simulator.step(&mut world, 0.01).unwrap();
        let omega = world.body(id).unwrap().angular_velocity();
        fastest = fastest.max(omega.length());
        assert!((omega - omega.dot(axis) * axis).length() < 1e-9, "{omega}");
    }
    assert!(fastest > 0.5, "{fastest}");
}

/// AR-3, AR-4: a ball hits a closed loop of six bars with ball joints. Joints and impact are one problem:
/// afterwards all joint velocity errors are below 1e-10 m/s, momentum and angular momentum are conserved, and
/// energy has not grown.
#[test]
fn an_impact_on_a_closed_loop_is_one_problem() {
    for e in [0.0, 0.5, 1.0] {
        let mut world = World::weightless();
        surface(&mut world, e, 0.3);
        let corner = |k: usize| {
            let angle = (60.0 * k as f64).to_radians();
            DVec3::new(angle.cos(), angle.sin(), 0.1 * (k % 2) as f64)
        };
        let bars: Vec<BodyId> = (0..6)
            .map(|k| {
                let (from, to) = (corner(k), corner(k + 1));
                let turn = DQuat::from_rotation_arc(DVec3::Z, (to - from).normalize());
                let mut body = Body::dynamic().pose(Pose::new(turn, 0.5 * (from + to)));
                if k == 0 {
                    let at = Pose::at(DVec3::new(0.0, 0.0, 0.1));
                    body = body
                        .with_part(ShapePart { pose: at, ..ShapePart::from(Shape::sphere(0.02).unwrap()) });
                }
                world.add_body(body.mass_properties(rod(1.0, from.distance(to)))).unwrap()
            })
            .collect();
        for k in 0..6 {
            let [a, b] = [bars[(k + 5) % 6], bars[k]];
            world.add_joint(JointFrames::between(a, b).at(corner(k)), Spherical::default()).unwrap();
        }
        let first = world.body(bars[0]).unwrap().pose();
        let knob = first.point(DVec3::new(0.0, 0.0, 0.1));
        let aside = DVec3::new(0.3, 0.2, 1.0).normalize();
        let ball = Body::dynamic().position(knob + 0.07 * aside).with_shape(Shape::sphere(0.05).unwrap());
        world.add_body(ball.mass(0.8).velocity(-3.0 * DVec3::Z)).unwrap();
        let before = world.readout();
        let mut simulator = Constraint::default();
        simulator.step(&mut world, 1e-6).unwrap();
        assert!(world.events().iter().any(|event| matches!(event, Event::Collision { .. })));
        assert_eq!(simulator.counters().collision_rounds, 1);
        for k in 0..6 {
            let [a, b] = [bars[(k + 5) % 6], bars[k]].map(|id| world.body(id).unwrap());
            let at = 0.5
                * (a.pose().point(DVec3::Z * 0.5 * corner(0).distance(corner(1)))
                    + b.pose().point(-DVec3::Z * 0.5 * corner(0).distance(corner(1))));
            let apart = a.velocity_at(at) - b.velocity_at(at);
            assert!(apart.length() < 1e-10, "{apart}");
        }
        let after = world.readout();
        assert!((after.momentum - before.momentum).length() < 1e-10);
        assert!((after.angular_momentum - before.angular_momentum).length() < 1e-9);
        assert!(after.kinetic_energy <= before.kinetic_energy * (1.0 + 1e-10));
    }
}

/// RB-4: a point of a body in free flight: p̈ = a + α×x + ω×(ω×x) with α = I⁻¹(L×ω), against second
/// differences of its position; and d(I⁻¹)/dt = [ω] I⁻¹ − I⁻¹ [ω].
#[test]
fn material_points_have_their_accelerations() {
    let moments = DVec3::new(0.4, 0.7, 0.9);
    let make = |sign: f64| {
        let mut world = World::default();
        let mass = MassProperties::new(2.0, DVec3::ZERO, DMat3::from_diagonal(moments)).unwrap();
        let body = Body::dynamic()
            .mass_properties(mass)
            .orientation(DQuat::from_scaled_axis(DVec3::new(0.4, -1.0, 0.3)))
            .velocity(sign * DVec3::new(1.0, 2.0, -0.5))
            .angular_velocity(sign * DVec3::new(1.5, -0.7, 2.0));
        let id = world.add_body(body).unwrap();
        (world, id)
    };
    let point = DVec3::new(0.3, -0.5, 0.2);
    let h = 1e-3;
    let after = |steps: usize, sign: f64| {
        let (mut world, id) = make(sign);
        (0..steps).for_each(|_| FreeMotion::default().step(&mut world, h).unwrap());
        let pose = world.body(id).unwrap().pose();
        let axes = DMat3::from_quat(pose.rotation);
        (pose.point(point), axes * DMat3::from_diagonal(moments.recip()) * axes.transpose())
    };
    let (now, inverse) = after(0, 1.0);
    let [(b2, i2), (b1, i1)] = [after(2, -1.0), after(1, -1.0)];
    let [(f1, j1), (f2, j2)] = [after(1, 1.0), after(2, 1.0)];
    let second = (16.0 * (f1 + b1) - (f2 + b2) - 30.0 * now) / (12.0 * h * h);
    let (world, id) = make(1.0);
    let omega = world.body(id).unwrap().angular_velocity();
    let x = now - world.body(id).unwrap().position();
    let alpha = inverse * (inverse.inverse() * omega).cross(omega);
    let expected = -G * DVec3::Z + alpha.cross(x) + omega.cross(omega.cross(x));
    assert!((second - expected).length() < 1e-6 * expected.length(), "{second} {expected}");
    let rate = ((j1 - i1) * 8.0 - (j2 - i2)) * (1.0 / (12.0 * h));
    let skew = DMat3::from_cols(omega.cross(DVec3::X), omega.cross(DVec3::Y), omega.cross(DVec3::Z));
    let expected = skew * inverse - inverse * skew;
    assert!((rate - expected).to_cols_array().iter().all(|entry| entry.abs() < 1e-6), "{rate} {expected}");
}

/// RB-5: a force through the centre of mass does not change ω, and a couple does not change v.
#[test]
fn central_forces_and_couples_act_separately() {
    let make = |points: &[(DVec3, DVec3)]| {
        let mut world = World::weightless();
        let mass = MassProperties::new(2.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::new(0.4, 0.7, 0.9)));
        let body = Body::dynamic().mass_properties(mass.unwrap()).angular_velocity(DVec3::new(1.0, 2.0, 0.3));
        let id = world.add_body(body).unwrap();
        for (point, force) in points {
            world
                .add_force(PointForce { force: (*force).into(), point: *point, ..PointForce::default() })
                .unwrap();
        }
        (0..20).for_each(|_| FreeMotion::default().step(&mut world, 0.01).unwrap());
        (world.body(id).unwrap().velocity(), world.body(id).unwrap().angular_velocity())
    };
    let push = DVec3::new(3.0, -2.0, 1.0);
    let alone = make(&[]);
    let pushed = make(&[(DVec3::ZERO, push)]);
    assert!((pushed.1 - alone.1).length() < 1e-14 && (pushed.0 - 0.1 * push).length() < 1e-13, "{pushed:?}");
    let turned = make(&[(DVec3::X, push), (DVec3::Y, -push)]);
    assert!(turned.0.length() < 1e-15 && (turned.1 - alone.1).length() > 0.1, "{turned:?}");
}
