//! Instantaneous contact forces: the equations a = A F + b against finite differences, and forces against
//! closed forms.

use glam::{DQuat, DVec3};
use rattleback_dynamics::force::PointForce;
use rattleback_dynamics::joint::Revolute;
use rattleback_dynamics::simulator::{Constraint, ConstraintSettings};
use rattleback_dynamics::{
    Body, BodyId, Error, FreeMotion, JointFrames, Material, Path, ShapePart, Simulator, Targets, World,
};
use rattleback_geometry::{Pose, Shape};

const G: f64 = 9.81;

fn surface(world: &mut World, mu: f64) {
    world.set_material(world.default_material(), Material::with_friction(mu)).unwrap();
}

fn cuboid(x: f64, y: f64, z: f64) -> Shape {
    Shape::cuboid(DVec3::new(x, y, z)).unwrap()
}

/// Quasi-random numbers in −1..1.
struct Numbers(f64);

impl Numbers {
    fn vector(&mut self) -> DVec3 {
        let mut next = || {
            self.0 = (self.0 * 1.618_033_988_7 + 0.271_828).fract();
            2.0 * self.0 - 1.0
        };
        DVec3::new(next(), next(), next())
    }
}

/// A simulator for which points with any normal speed are contacts.
fn with_large_contact_speed() -> Constraint {
    let settings = ConstraintSettings { contact_speed: 1e3, ..ConstraintSettings::default() };
    Constraint::new(settings).unwrap()
}

/// CF-2: a body slides outward with U on a plane that turns with Ω about an axis in it, without gravity: the
/// contact force is 2 m Ω U. (The centre of a ball of radius r is above the plane, so that the force is m (2
/// Ω U − Ω² r): with c·n = r and n̈ = −Ω² n, c̈·n = −2 ċ·ṅ − c·n̈ and ċ·ṅ = −Ω (U − Ω r).)
#[test]
fn force_on_a_turning_plane_is_the_coriolis_force() {
    for (omega, u, radius) in [(0.7, 1.3, 0.01), (3.0, 0.2, 0.05), (0.1, 20.0, 0.2)] {
        let mut world = World::weightless();
        surface(&mut world, 0.0);
        let path = Path::Steady { velocity: DVec3::ZERO, angular_velocity: -omega * DVec3::Y };
        let under = ShapePart { pose: Pose::at(-0.1 * DVec3::Z), ..ShapePart::from(cuboid(2.0, 1.0, 0.1)) };
        world.add_body(Body::kinematic(path).with_part(under)).unwrap();
        let at = DVec3::new(0.5, 0.0, radius);
        let ball = Body::dynamic().position(at).with_shape(Shape::sphere(radius).unwrap()).mass(2.0);
        world.add_body(ball.velocity(u * DVec3::X + (-omega * DVec3::Y).cross(at))).unwrap();
        let instant = Constraint::default().instantaneous_forces(&mut world).unwrap();
        assert!(instant.solved && instant.contacts.len() == 1);
        let expected = 2.0 * (2.0 * omega * u - omega * omega * radius);
        let force = instant.contacts[0].force.length();
        assert!((force - expected).abs() < 1e-12 * expected, "{force} {expected}");
    }
}

/// Two touching cuboids in free flight, and the gap of their touching features as a function of the poses.
struct TouchingPair {
    poses: [Pose; 2],
    velocities: [[DVec3; 2]; 2],
    gap: fn(&[Pose; 2]) -> f64,
}

const HALF: [DVec3; 2] = [DVec3::new(0.6, 0.5, 0.2), DVec3::new(0.1, 0.12, 0.15)];

impl TouchingPair {
    /// The world at the instant of touching; `backwards` with all velocities reversed.
    fn world(&self, backwards: bool) -> (World, [BodyId; 2]) {
        let mut world = World::default();
        surface(&mut world, 0.0);
        let sign = if backwards { -1.0 } else { 1.0 };
        let ids = [0, 1].map(|k| {
            let [v, omega] = self.velocities[k];
            let body = Body::dynamic()
                .position(self.poses[k].translation)
                .orientation(self.poses[k].rotation)
                .velocity(sign * v)
                .angular_velocity(sign * omega)
                .with_shape(Shape::cuboid(HALF[k]).unwrap());
            world.add_body(body).unwrap()
        });
        (world, ids)
    }

    /// Gap after a time of either sign in free flight without contacts, which is reversible.
    fn gap_after(&self, time: f64) -> f64 {
        let (mut world, ids) = self.world(time < 0.0);
        if time != 0.0 {
            let mut simulator = FreeMotion::default();
            (0..4).for_each(|_| simulator.step(&mut world, 0.25 * time.abs()).unwrap());
        }
        (self.gap)(&ids.map(|id| world.body(id).unwrap().pose()))
    }

    /// Compares b_n with the second difference of the gap, for the one point that touches.
    fn check(&self) {
        let instant = with_large_contact_speed().instantaneous_forces(&mut self.world(false).0).unwrap();
        assert_eq!(instant.contacts.len(), 1, "{:?}", instant.contacts);
        let h = 1e-4;
        let [before, now, after] = [-h, 0.0, h].map(|time| self.gap_after(time));
        let second = (after - 2.0 * now + before) / (h * h);
        let b = instant.bias[0];
        assert!((b - second).abs() < 1e-5 * b.abs().max(1.0), "{b} {second}");
    }
}

/// Velocities with ω up to 3 rad/s that keep the point c of both bodies together along n.
fn velocities(numbers: &mut Numbers, poses: &[Pose; 2], n: DVec3, c: DVec3) -> [[DVec3; 2]; 2] {
    let mut found = [[numbers.vector(), 3.0 * numbers.vector()], [numbers.vector(), 3.0 * numbers.vector()]];
    let at = |k: usize, [v, omega]: [DVec3; 2]| v + omega.cross(c - poses[k].translation);
    let u = at(1, found[1]) - at(0, found[0]);
    found[1][0] -= u.dot(n) * n;
    found
}

/// CF-5: a corner on a face, with random velocities of both bodies: b_n is the second derivative of the gap,
/// to 1e-5.
#[test]
fn b_is_the_gap_acceleration_of_a_corner_on_a_face() {
    let mut numbers = Numbers(0.3);
    for _ in 0..20 {
        let tilt = DQuat::from_scaled_axis(numbers.vector());
        let corner = -HALF[1];
        // The corner points down at the upper face of the other.
        let down = DQuat::from_rotation_arc(corner.normalize(), DVec3::NEG_Z);
        let turn = DQuat::from_rotation_z(3.0 * numbers.vector().x) * down;
        let at = DVec3::new(0.2 * numbers.vector().x, 0.2 * numbers.vector().y, HALF[0].z);
        let poses = [Pose::new(tilt, DVec3::ZERO), Pose::new(tilt * turn, tilt * (at - turn * corner))];
        let velocities = velocities(&mut numbers, &poses, tilt * DVec3::Z, tilt * at);
        let gap = |poses: &[Pose; 2]| {
            let corner = poses[0].inverse_point(poses[1].point(-HALF[1]));
            corner.z - HALF[0].z
        };
        TouchingPair { poses, velocities, gap }.check();
    }
}

/// Directions of the touching edges, each along an axis of its body, and a point on each.
fn edges(poses: &[Pose; 2]) -> ([DVec3; 2], [DVec3; 2]) {
    let directions = [poses[0].vector(DVec3::X), poses[1].vector(DVec3::Y)];
    let points = [
        poses[0].point(DVec3::new(0.0, HALF[0].y, HALF[0].z)),
        poses[1].point(DVec3::new(HALF[1].x, 0.0, -HALF[1].z)),
    ];
    (directions, points)
}

/// CF-5: the same for crossing edges.
#[test]
fn b_is_the_gap_acceleration_of_crossing_edges() {
    let mut numbers = Numbers(0.7);
    for _ in 0..20 {
        let tilt = DQuat::from_scaled_axis(numbers.vector());
        // The edge y = half, z = half of the first on top, the edge x = half, z = −half of the second below.
        let first = DQuat::from_rotation_x(0.7 + 0.2 * numbers.vector().x);
        let second = DQuat::from_rotation_z(0.4 * numbers.vector().x)
            * DQuat::from_rotation_y(0.75 + 0.1 * numbers.vector().x);
        let along = 0.3 * numbers.vector().x;
        let on_first = DVec3::new(along, HALF[0].y, HALF[0].z);
        let on_second = DVec3::new(HALF[1].x, 0.05 * numbers.vector().y, -HALF[1].z);
        let poses = [
            Pose::new(tilt * first, DVec3::ZERO),
            Pose::new(tilt * second, tilt * (first * on_first - second * on_second)),
        ];
        let (directions, _) = edges(&poses);
        let mut n = directions[0].cross(directions[1]).normalize();
        n *= n.dot(poses[1].translation - poses[0].translation).signum();
        let velocities = velocities(&mut numbers, &poses, n, poses[0].point(on_first));
        let gap = |poses: &[Pose; 2]| {
            let (directions, points) = edges(poses);
            let n = directions[0].cross(directions[1]).normalize();
            let sign = n.dot(poses[1].translation - poses[0].translation).signum();
            sign * n.dot(points[1] - points[0])
        };
        TouchingPair { poses, velocities, gap }.check();
    }
}

/// A block on a floor with three touching balls on it, all with small velocities.
fn cluster() -> World {
    let mut world = World::default();
    surface(&mut world, 0.3);
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let mut numbers = Numbers(0.5);
    let mut moving = |body: Body| body.velocity(0.2 * numbers.vector()).angular_velocity(numbers.vector());
    let turn = DQuat::from_rotation_z(0.3);
    let block = Body::dynamic().at(0.0, 0.0, 0.1).orientation(turn).with_shape(cuboid(0.5, 0.3, 0.1));
    world.add_body(moving(block)).unwrap();
    let ball = |at: DVec3| Body::dynamic().position(at).with_shape(Shape::sphere(0.1).unwrap());
    world.add_body(moving(ball(DVec3::new(0.1, 0.1, 0.3)))).unwrap();
    world.add_body(moving(ball(DVec3::new(0.1, 0.3, 0.3)))).unwrap();
    let other = DVec3::new(0.1, 0.2, 0.3 + 0.1 * 3.0_f64.sqrt());
    world.add_body(moving(ball(other))).unwrap();
    world
}

/// MC-6: a unit force at any contact, applied to its two bodies as a force of the world, changes the
/// accelerations at all contacts by a column of A, to 1e-8.
#[test]
fn columns_of_a_are_accelerations_by_unit_forces() {
    let simulator = with_large_contact_speed();
    let first = simulator.instantaneous_forces(&mut cluster()).unwrap();
    let count = first.contacts.len();
    assert!(count >= 7, "{count}");
    for (j, contact) in first.contacts.iter().enumerate() {
        for axis in 0..3 {
            let mut world = cluster();
            for (id, sign) in contact.bodies.into_iter().zip([-1.0, 1.0]) {
                let point = world.body(id).unwrap().pose().inverse_point(contact.point);
                let force = (sign * first.frames[j].col(axis)).into();
                let push = PointForce { force, point, ..PointForce::default() };
                world.add_force_on(Targets::Bodies(vec![id]), None, Box::new(push)).unwrap();
            }
            let pushed = simulator.instantaneous_forces(&mut world).unwrap();
            for i in 0..3 * count {
                let found = pushed.bias[i] - first.bias[i];
                let expected = first.matrix.row(i)[3 * j + axis];
                assert!((found - expected).abs() < 1e-8, "{i} {j} {axis}: {found} {expected}");
            }
        }
    }
}

/// CF-1, MC-1: a block on four corners bears its weight without a net moment; on a slope of 30° with μ = 0.5
/// it slides with g (sin θ − μ cos θ), with the friction force μ m g cos θ.
#[test]
fn forces_of_resting_and_sliding_blocks() {
    let instant = |theta: f64, speed: f64| {
        let mut world = World::default();
        surface(&mut world, 0.5);
        let slope = DQuat::from_rotation_y(theta);
        let plane = Shape::half_space(slope * DVec3::Z).unwrap();
        world.add_body(Body::fixed().with_shape(plane)).unwrap();
        let body = Body::dynamic().with_shape(cuboid(0.5, 0.5, 0.1)).mass(2.0).orientation(slope);
        let body = body.position(slope * (0.1 * DVec3::Z)).velocity(slope * (speed * DVec3::X));
        let id = world.add_body(body).unwrap();
        let instant = Constraint::default().instantaneous_forces(&mut world).unwrap();
        assert!(instant.solved && instant.contacts.len() == 4);
        let center = slope * (0.1 * DVec3::Z);
        let (mut total, mut moment) = (DVec3::ZERO, DVec3::ZERO);
        for contact in &instant.contacts {
            let force = if contact.bodies[1] == id { contact.force } else { -contact.force };
            total += force;
            moment += (contact.point - center).cross(force);
        }
        assert!(moment.length() < 1e-10, "{moment}");
        slope.conjugate() * total
    };
    let still = instant(0.0, 0.0);
    assert!((still - 2.0 * G * DVec3::Z).length() < 1e-10, "{still}");
    let theta = 30.0_f64.to_radians();
    let sliding = instant(theta, 1.0);
    let normal = 2.0 * G * theta.cos();
    assert!((sliding - normal * DVec3::new(-0.5, 0.0, 1.0)).length() < 1e-10, "{sliding}");
}

/// CF-4: with a lift above its weight a block has no contact forces, and its corners accelerate upwards.
#[test]
fn a_lifted_block_has_no_contact_force() {
    let mut world = World::default();
    surface(&mut world, 0.5);
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    world.add_body(Body::dynamic().at(0.0, 0.0, 0.1).mass(1.0).with_shape(cuboid(0.1, 0.1, 0.1))).unwrap();
    world.add_force(PointForce { force: (12.0 * DVec3::Z).into(), ..PointForce::default() }).unwrap();
    let instant = Constraint::default().instantaneous_forces(&mut world).unwrap();
    assert_eq!(instant.contacts.len(), 4);
    for (contact, b) in instant.contacts.iter().zip(instant.bias.chunks_exact(3)) {
        assert_eq!(contact.force, DVec3::ZERO);
        assert!((b[0] - (12.0 - G)).abs() < 1e-12, "{b:?}");
    }
}

/// Reading the forces does not change the simulation, an empty world has none, and contacts of jointed bodies
/// are refused.
#[test]
fn reading_the_forces_changes_nothing() {
    let empty = Constraint::default().instantaneous_forces(&mut World::default()).unwrap();
    assert!(empty.contacts.is_empty() && empty.bias.is_empty() && empty.solved);
    let run = |read: bool| {
        let mut world = cluster();
        let mut simulator = Constraint::default();
        for _ in 0..10 {
            if read {
                simulator.instantaneous_forces(&mut world).unwrap();
            }
            simulator.step(&mut world, 0.01).unwrap();
        }
        world.iter_bodies().map(|body| *body.motion()).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let a = world.add_body(Body::dynamic().at(0.0, 0.0, 0.1).with_shape(cuboid(0.1, 0.1, 0.1))).unwrap();
    let b = world.add_body(Body::dynamic().at(0.0, 0.0, 0.5).with_shape(cuboid(0.1, 0.1, 0.1))).unwrap();
    world.add_joint(JointFrames::between(a, b).along(DVec3::Y), Revolute::default()).unwrap();
    let refused = Constraint::default().instantaneous_forces(&mut world);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}
