//! What the real-time simulator integrates or solves outside its sweeps: mechanisms, rolling bodies, islands
//! with high mass ratio. Small samples; `rattleback validate contact/joints`, `contact/rolling` and
//! `contact/stacks` use large ones.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::joint::{Distance, JointFrames, Revolute, Spherical, Universal};
use rattleback_dynamics::simulator::Realtime;
use rattleback_dynamics::{Body, BodyId, CollisionGroups, Material, Registry, Simulator, World};
use rattleback_geometry::contact::distance;
use rattleback_geometry::{MassProperties, Pose, Shape};

const STEPS: [f64; 3] = [1.0 / 60.0, 1.0 / 240.0, 1e-3];

/// A name, a world, and the scale of its energy, J.
type Maker = (&'static str, fn() -> World, f64);

/// Kinetic energy and m g z, J.
fn energy(world: &World) -> f64 {
    let of =
        |(inertia, motion): (&rattleback_dynamics::rigid::Inertia, &rattleback_dynamics::rigid::Motion)| {
            inertia.kinetic_energy(motion) + inertia.mass() * 9.81 * motion.x.z
        };
    world.iter_bodies().map(|body| of((body.inertia(), body.motion()))).filter(|e| e.is_finite()).sum()
}

fn run(world: &mut World, dt: f64, seconds: f64, mut each: impl FnMut(&World)) {
    let mut simulator = Realtime::default();
    for _ in 0..(seconds / dt).round() as usize {
        simulator.step(world, dt).unwrap();
        each(world);
    }
}

/// A top: a body with these moments of inertia on a ball joint at the origin, with its spin in rad/s and its
/// lean in rad.
fn top(moments: DVec3, spin: f64, lean: f64) -> World {
    let mut world = World::default();
    let q = DQuat::from_rotation_y(lean);
    let (center, omega) = (q * DVec3::Z * 0.1, q * DVec3::new(0.3, 0.1, spin));
    let properties =
        MassProperties { mass: 1.0, center_of_mass: DVec3::ZERO, inertia: DMat3::from_diagonal(moments) };
    let body = Body::dynamic().position(center).orientation(q).velocity(omega.cross(center));
    let id =
        world.add_body(body.angular_velocity(omega).mass_properties(properties).can_sleep(false)).unwrap();
    world.add_joint(JointFrames::to_world(id).at(DVec3::ZERO), Spherical::default()).unwrap();
    world
}

/// A pendulum of links on various joints.
fn pendulum(links: usize) -> World {
    let mut world = World::default();
    let (mut above, mut at) = (None, DVec3::ZERO);
    for k in 0..links {
        let angle = 1.0 + 1.7 * k as f64;
        let direction = DVec3::new(angle.cos(), 0.3 * angle.sin(), 0.5 * angle.sin()).normalize();
        let center = at + direction * 0.3;
        let shape = Shape::cuboid(DVec3::new(0.05, 0.1, 0.02)).unwrap();
        let body = Body::dynamic().position(center).orientation(DQuat::from_rotation_x(angle));
        // Collisions between links would dissipate energy.
        let body = body.groups(CollisionGroups { member_of: 2, touches: !2 });
        let id = world.add_body(body.with_shape(shape).mass(1.0 + k as f64).can_sleep(false)).unwrap();
        let joint_frames =
            above.map_or(JointFrames::to_world(id), |above| JointFrames::between(above, id)).at(at);
        match k % 4 {
            0 => world.add_joint(joint_frames.along(DVec3::new(0.2, 1.0, 0.1)), Revolute::default()),
            1 => world.add_joint(joint_frames, Spherical::default()),
            2 => world.add_joint(joint_frames.along(DVec3::X), Universal::default()),
            _ => world.add_joint(joint_frames, Distance { min: 0.0, max: 0.3, ..Distance::default() }),
        }
        .unwrap();
        (above, at) = (Some(id), at + direction * 0.5);
    }
    world
}

/// Tops, fast and slow, symmetric and not, and pendulums: in twenty seconds the energy changes by less than a
/// thousandth of its scale.
#[test]
fn passive_joints_conserve_energy() {
    let makers: [Maker; 6] = [
        ("fast top", || top(DVec3::new(0.0025, 0.0025, 0.005), 200.0, 0.5), 100.0),
        ("slow top", || top(DVec3::new(0.0025, 0.0025, 0.004), 40.0, 0.8), 4.0),
        ("uneven top", || top(DVec3::new(0.002, 0.003, 0.004), 90.0, 0.4), 17.0),
        ("pendulum", || pendulum(1), 3.0),
        ("double pendulum", || pendulum(2), 20.0),
        ("triple pendulum", || pendulum(3), 50.0),
    ];
    for (name, make, scale) in makers {
        for dt in STEPS {
            let mut world = make();
            let start = energy(&world);
            let (mut low, mut high) = (0.0_f64, 0.0_f64);
            run(&mut world, dt, 20.0, |world| {
                let change = (energy(world) - start) / scale;
                (low, high) = (low.min(change), high.max(change));
            });
            assert!(high < 1e-3 && low > -1e-3, "{name} at {dt}: {low:e} to {high:e}");
        }
    }
}

/// A rolling sphere keeps its speed, on a half-space and on a box.
#[test]
fn rolling_spheres_keep_their_speed() {
    for dt in STEPS {
        for ground in
            [Shape::half_space(DVec3::Z).unwrap(), Shape::cuboid(DVec3::new(50.0, 50.0, 1.0)).unwrap()]
        {
            let mut world = World::default();
            let below = if matches!(ground, Shape::Cuboid(_)) { -1.0 } else { 0.0 };
            let material = world.add_material(Material::with_friction(0.8)).unwrap();
            world.add_body(Body::fixed().at(0.0, 0.0, below).with_shape(ground).material(material)).unwrap();
            let body = Body::dynamic().at(0.0, 0.0, 0.2).velocity(DVec3::X).angular_velocity(DVec3::Y * 5.0);
            let ball = body.with_shape(Shape::sphere(0.2).unwrap()).material(material);
            let ball = world.add_body(ball).unwrap();
            run(&mut world, dt, 10.0, |_| {});
            let speed = world.body(ball).unwrap().velocity().x;
            assert!((speed - 1.0).abs() < 0.01, "{speed} at {dt}");
        }
    }
}

/// Ellipsoids and discs that roll without slip conserve energy.
#[test]
fn rolling_without_slip_conserves_energy() {
    let egg = Shape::ellipsoid(DVec3::new(0.1, 0.05, 0.03)).unwrap();
    let coin = Shape::cylinder(0.1, 0.01).unwrap();
    for dt in STEPS {
        for (shape, tilt, omega, height) in [
            (&egg, 0.1_f64, DVec3::new(1.0, 0.5, 8.0), None),
            (&coin, 0.6, DVec3::new(0.0, 0.0, 0.0), Some(0.1 * 0.6_f64.sin() + 0.005 * 0.6_f64.cos())),
        ] {
            let mut world = World::default();
            let material = world.add_material(Material::with_friction(1.0)).unwrap();
            let ground = Shape::half_space(DVec3::Z).unwrap();
            world.add_body(Body::fixed().with_shape(ground.clone()).material(material)).unwrap();
            let q = DQuat::from_rotation_x(tilt);
            let gap = distance(&ground, shape, &Pose::new(q, DVec3::Z)).unwrap();
            let (x, arm) = (DVec3::Z * (1.0 - gap.distance), gap.point_b - DVec3::Z);
            // A coin whose centre is at rest while it wobbles: ω is along the arm.
            let omega =
                if height.is_some() { -arm.normalize() * 2.0 * (98.1 * tilt.sin()).sqrt() } else { omega };
            let body = Body::dynamic().position(x).orientation(q).velocity(-omega.cross(arm));
            let body = body.angular_velocity(omega).with_shape(shape.clone()).material(material);
            world.add_body(body.can_sleep(false)).unwrap();
            let start = energy(&world);
            let kinetic: f64 = world
                .iter_bodies()
                .map(|b| b.inertia().kinetic_energy(b.motion()))
                .filter(|e| e.is_finite())
                .sum();
            let mut worst = 0.0_f64;
            run(&mut world, dt, 5.0, |world| worst = worst.max((energy(world) - start).abs() / kinetic));
            assert!(worst < 0.02, "{shape:?} at {dt}: {worst:e}");
        }
    }
}

/// Ten stacked boxes with these masses ⇒ the world and the boxes.
fn tower(masses: &[f64; 10]) -> (World, Vec<BodyId>) {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
    let mut boxes = Vec::new();
    for (k, mass) in masses.iter().enumerate() {
        let at = DVec3::new(0.02 * (k % 3) as f64, -0.01 * (k % 2) as f64, 0.25 + 0.5 * k as f64);
        boxes.push(
            world.add_body(Body::dynamic().position(at).with_shape(shape.clone()).mass(*mass)).unwrap(),
        );
    }
    (world, boxes)
}

/// Masses from 1 to 1000 kg, increasing upwards, downwards and in mixed order, and 1000 kg on nine boxes of 1
/// kg.
#[test]
fn towers_of_uneven_masses_stand() {
    let step = |k: usize| 1000_f64.powf(k as f64 / 9.0);
    let kinds: [[f64; 10]; 4] = [
        std::array::from_fn(step),
        std::array::from_fn(|k| step(9 - k)),
        std::array::from_fn(|k| step(7 * k % 10)),
        std::array::from_fn(|k| if k == 9 { 1000.0 } else { 1.0 }),
    ];
    let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
    for masses in &kinds {
        for dt in STEPS {
            let (mut world, boxes) = tower(masses);
            let mut deepest = 0.0_f64;
            run(&mut world, dt, 2.0, |world| {
                for pair in boxes.windows(2) {
                    let [a, b] = [pair[0], pair[1]].map(|id| world.body(id).unwrap().pose());
                    deepest = deepest.max(-distance(&shape, &shape, &a.relative(&b)).unwrap().distance);
                }
                deepest = deepest.max(0.25 - world.body(boxes[0]).unwrap().position().z);
            });
            let top = world.body(boxes[9]).unwrap();
            assert!(deepest < 1e-3, "{masses:?} at {dt}: overlap {deepest}");
            assert!(
                top.velocity().length() < 1e-3 && (top.position().z - 4.75).abs() < 5e-3,
                "{masses:?} at {dt}"
            );
        }
    }
}

/// Bodies that are integrated outside the sweeps continue bit for bit after a restored snapshot.
#[test]
fn restored_worlds_continue_bit_for_bit() {
    let step = |k: usize| 1000_f64.powf(k as f64 / 9.0);
    let worlds =
        [pendulum(3), top(DVec3::new(0.002, 0.003, 0.004), 90.0, 0.4), tower(&std::array::from_fn(step)).0];
    for mut world in worlds {
        let mut simulator = Realtime::default();
        for _ in 0..37 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        let registry = Registry::default();
        let bytes = world.snapshot_with(&simulator).unwrap();
        let (mut restored, mut other) = World::restore_with(&bytes, &registry).unwrap();
        for _ in 0..40 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
            other.step(&mut restored, 1.0 / 60.0).unwrap();
        }
        for (one, two) in world.iter_bodies().zip(restored.iter_bodies()) {
            assert_eq!(one.motion(), two.motion());
        }
    }
}
