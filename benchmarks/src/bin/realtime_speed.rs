//! How fast piles, stacks, drums, nets and ragdolls move, side by side with Rapier, Box3D and Jolt, on the scenes of `rattleback_scene::stress`.
//!
//! `cargo run --release [--features box3d,jolt,parallel] --bin realtime_speed -- [scene …] [--steps N] [--repeats N] [--threads 1,2]`
//!
//! Same bodies, steps of 1/60 s, four sub-steps, one thread each unless said otherwise (Rapier only with the feature `parallel`; its
//! eight lanes with `simd8` and the processor's flags). Runs alternate, so that a busy machine slows both alike; the
//! least and the median time per step of all runs are told, and what the scene looks like at the end, so that one can see that both
//! did the same job: the mean height of the bodies, how many sleep, and for ours how deep they overlap. Rapier has neither cones nor
//! springs together with friction on one axis: its sockets are limited about each axis, and its joints have springs only. Jolt has
//! no sub-steps, and its bindings (of version 5.0) neither joints nor meshes: scenes with such are run without it.

use std::time::Instant;

use glam::DVec3;
use rapier3d::prelude::*;
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Path, Simulator, Status};
use rattleback_geometry::{Pose as OurPose, Shape as OurShape};
use rattleback_scene::stress::{
    STRESS_GRAVITY, STRESS_SCENES, StressBody, StressJoint, StressLimits, StressScene,
};

const DT: f64 = 1.0 / 60.0;

/// What a run tells.
struct Run {
    /// Seconds per step.
    per_step: f64,
    mean_height: f64,
    asleep: usize,
    deepest: f64,
}

fn ours(scene: &StressScene, steps: usize, threads: i64) -> Run {
    let mut world = scene.world().expect("the scene can be built");
    let settings = RealtimeSettings {
        sleep: scene.sleeping,
        sleep_speed: scene.sleep_speed,
        threads,
        ..RealtimeSettings::default()
    };
    let mut simulator = Realtime::new(settings).expect("settings are in range");
    scene.arrive(&mut world, 0).expect("arrivals fit");
    simulator.step(&mut world, DT).expect("a step succeeds");
    let start = Instant::now();
    for step in 1..steps {
        scene.arrive(&mut world, step).expect("arrivals fit");
        simulator.step(&mut world, DT).expect("a step succeeds");
    }
    let per_step = start.elapsed().as_secs_f64() / (steps - 1) as f64;
    let motion = world.bodies().motion(Status::Dynamic);
    let mean_height = motion.iter().map(|motion| motion.x.y).sum::<f64>() / motion.len().max(1) as f64;
    let deepest = simulator.touch_points(&world).map(|point| -point.gap).fold(0.0, f64::max);
    Run { per_step, mean_height, asleep: simulator.counters().asleep, deepest }
}

fn vector(v: DVec3) -> Vector {
    Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

fn collider(shape: &OurShape) -> ColliderBuilder {
    match shape {
        OurShape::Sphere(sphere) => ColliderBuilder::ball(sphere.radius() as f32),
        OurShape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            ColliderBuilder::cuboid(half.x as f32, half.y as f32, half.z as f32)
        }
        OurShape::Convex(hull) => {
            let points: Vec<Vector> = hull.polyhedron().vertices().iter().map(|p| vector(*p)).collect();
            ColliderBuilder::convex_hull(&points).expect("a hull")
        }
        OurShape::Capsule(capsule) => {
            ColliderBuilder::capsule_z(0.5 * capsule.height() as f32, capsule.radius() as f32)
        }
        OurShape::Mesh(mesh) => {
            let vertices = mesh.vertices().iter().map(|p| vector(*p)).collect();
            ColliderBuilder::trimesh(vertices, mesh.triangles().to_vec()).expect("a mesh")
        }
        other => panic!("no scene has {other:?}"),
    }
}

fn add(world: &mut PhysicsWorld, body: &StressBody, sleeping: bool) -> RigidBodyHandle {
    let builder = match body.status {
        Status::Fixed => RigidBodyBuilder::fixed(),
        Status::Animated => RigidBodyBuilder::kinematic_velocity_based(),
        _ => RigidBodyBuilder::dynamic(),
    };
    let placed = pose(&OurPose::new(body.rotation, body.position));
    let handle = world.bodies.insert(builder.pose(placed).can_sleep(sleeping).build());
    for (shape, pose) in &body.shapes {
        let collider = collider(shape)
            .position(self::pose(pose))
            .density(body.density as f32)
            .friction(body.surface[0] as f32)
            .collision_groups(groups(body))
            .build();
        world.colliders.insert_with_parent(collider, handle, &mut world.bodies);
    }
    if body.spin != DVec3::ZERO {
        let peer = &mut world.bodies[handle];
        let properties = peer.mass_properties().local_mprops.local_com;
        let arm = DVec3::new(properties.x.into(), properties.y.into(), properties.z.into());
        peer.set_angvel(vector(body.spin), true);
        peer.set_linvel(vector(body.spin.cross(arm)), true);
    }
    handle
}

/// Ours has 64 groups and the peer 32; people far apart may share one.
fn groups(body: &StressBody) -> InteractionGroups {
    let fold = |bits: u64| bits as u32 | (bits >> 32) as u32 & !1;
    let (member, shuns) = (fold(body.groups.member_of), fold(!body.groups.touches));
    InteractionGroups::new(
        Group::from_bits_retain(member),
        Group::from_bits_retain(!shuns),
        InteractionTestMode::And,
    )
}

fn pose(pose: &OurPose) -> Pose {
    let [x, y, z, w] = pose.rotation.to_array().map(|q| q as f32);
    Pose::from_parts(vector(pose.translation), Rotation::from_xyzw(x, y, z, w))
}

fn join(world: &mut PhysicsWorld, joint: &StressJoint, handles: &[RigidBodyHandle]) {
    let hinge = matches!(joint.limits, StressLimits::Hinge { .. });
    // Our hinges turn about z, the peer's about x.
    let turn = OurPose::new(
        glam::DQuat::from_rotation_y(if hinge { std::f64::consts::FRAC_PI_2 } else { 0.0 }),
        DVec3::ZERO,
    );
    let turn = OurPose::new(turn.rotation.inverse(), DVec3::ZERO);
    let axes = if hinge { JointAxesMask::LOCKED_REVOLUTE_AXES } else { JointAxesMask::LOCKED_SPHERICAL_AXES };
    let mut made = GenericJointBuilder::new(axes)
        .local_frame1(pose(&(joint.frames[0] * turn)))
        .local_frame2(pose(&(joint.frames[1] * turn)))
        .contacts_enabled(false);
    let range = |range: [f64; 2]| range.map(|angle| angle as f32);
    let mut free = vec![JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ];
    match joint.limits {
        StressLimits::Ball => {}
        StressLimits::Socket { cone, twist } => {
            made = made
                .limits(JointAxis::AngX, range([-cone, cone]))
                .limits(JointAxis::AngY, range([-cone, cone]));
            made = made.limits(JointAxis::AngZ, range(twist));
        }
        StressLimits::Hinge { range: angles } => {
            made = made.limits(JointAxis::AngX, range(angles));
            free.truncate(1);
        }
    }
    let [frequency, damping] = joint.spring;
    if frequency > 0.0 {
        let omega = std::f64::consts::TAU * frequency;
        for axis in free {
            made = made.motor_model(axis, MotorModel::AccelerationBased);
            made = made.motor_position(axis, 0.0, (omega * omega) as f32, (2.0 * damping * omega) as f32);
        }
    }
    world.impulse_joints.insert(handles[joint.bodies[0]], handles[joint.bodies[1]], made.build(), true);
}

/// Gives an animated body the velocity its path has now.
fn drive(world: &mut PhysicsWorld, handle: RigidBodyHandle, body: &StressBody, step: usize) {
    let Some(path) = &body.path else { return };
    let start = rattleback_geometry::Pose::at(body.position);
    let (now, next) = (path.at(&start, step as f64 * DT), path.at(&start, (step + 1) as f64 * DT));
    let peer = &mut world.bodies[handle];
    let velocity = match path {
        Path::Steady { velocity, .. } => *velocity,
        _ => (next.pose.translation - now.pose.translation) / DT,
    };
    if step == 0 {
        peer.set_translation(vector(now.pose.translation), true);
    }
    peer.set_linvel(vector(velocity), true);
    peer.set_angvel(vector(now.angular_velocity), true);
}

fn rapier(scene: &StressScene, steps: usize, threads: i64) -> Run {
    let mut world = PhysicsWorld::new();
    #[cfg(feature = "parallel")]
    world.configure_thread_pool(threads as usize).expect("threads can be started");
    #[cfg(not(feature = "parallel"))]
    assert_eq!(threads, 1);
    world.gravity = vector(STRESS_GRAVITY);
    world.integration_parameters.dt = DT as f32;
    let handles: Vec<_> = scene.bodies.iter().map(|body| add(&mut world, body, scene.sleeping)).collect();
    let driven: Vec<_> = scene.bodies.iter().zip(&handles).filter(|(body, _)| body.path.is_some()).collect();
    for joint in &scene.joints {
        if joint.bodies.iter().any(|body| scene.bodies[*body].status == Status::Dynamic) {
            join(&mut world, joint, &handles);
        }
    }
    let mut arrived: Vec<Vec<RigidBodyHandle>> = vec![Vec::new(); scene.arrivals.len()];
    let mut step = |world: &mut PhysicsWorld, step: usize| {
        for (index, arrival) in scene.arrivals.iter().enumerate().filter(|(_, arrival)| arrival.step == step)
        {
            for handle in arrival.replaces.map(|gone| std::mem::take(&mut arrived[gone])).unwrap_or_default()
            {
                world.remove_body(handle);
            }
            arrived[index] = arrival.bodies.iter().map(|body| add(world, body, scene.sleeping)).collect();
            for joint in &arrival.joints {
                join(world, joint, &arrived[index]);
            }
        }
        for (body, handle) in &driven {
            drive(world, **handle, body, step);
        }
        world.step();
    };
    step(&mut world, 0);
    let start = Instant::now();
    for number in 1..steps {
        step(&mut world, number);
    }
    let per_step = start.elapsed().as_secs_f64() / (steps - 1) as f64;
    let (mut sum, mut count, mut asleep) = (0.0, 0, 0);
    for (_, body) in world.bodies.iter().filter(|(_, body)| body.is_dynamic()) {
        sum += f64::from(body.translation().y);
        count += 1;
        asleep += usize::from(body.is_sleeping());
    }
    Run { per_step, mean_height: sum / f64::from(count.max(1)), asleep, deepest: f64::NAN }
}

/// Box3D, if it was asked for.
fn box3d(scene: &StressScene, steps: usize, threads: i64) -> Option<Run> {
    #[cfg(feature = "box3d")]
    {
        let mut world = rattleback_benchmarks::Box3dWorld::new(scene, DT, threads as u32);
        world.step(0);
        let start = Instant::now();
        for step in 1..steps {
            world.step(step);
        }
        let per_step = start.elapsed().as_secs_f64() / (steps - 1) as f64;
        let (mean_height, asleep) = world.outcome();
        Some(Run { per_step, mean_height, asleep, deepest: f64::NAN })
    }
    #[cfg(not(feature = "box3d"))]
    {
        let _ = (scene, steps, threads);
        None
    }
}

/// Jolt, if it was asked for and can be told the scene.
fn jolt(scene: &StressScene, steps: usize, threads: i64) -> Option<Run> {
    #[cfg(feature = "jolt")]
    {
        let mut world = rattleback_benchmarks::JoltWorld::new(scene, DT, threads as u32)?;
        world.step(0);
        let start = Instant::now();
        for step in 1..steps {
            world.step(step);
        }
        let per_step = start.elapsed().as_secs_f64() / (steps - 1) as f64;
        let (mean_height, asleep) = world.outcome();
        Some(Run { per_step, mean_height, asleep, deepest: f64::NAN })
    }
    #[cfg(not(feature = "jolt"))]
    {
        let _ = (scene, steps, threads);
        None
    }
}

fn main() {
    let (mut names, mut steps, mut repeats, mut threads) = (Vec::new(), None, 3_usize, vec![1_i64]);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--steps" => steps = arguments.next().and_then(|n| n.parse().ok()),
            "--repeats" => repeats = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(3),
            "--threads" => {
                let list = arguments.next().unwrap_or_default();
                threads = list.split(',').filter_map(|n| n.parse::<i64>().ok()).filter(|n| *n > 0).collect();
            }
            _ => names.push(argument),
        }
    }
    println!(
        "{:<14} {:>7} {:>5} {:>10} {:>10} {:>10} {:>10}   Rapier/ours  Box3D/ours   Jolt/ours (min, median)   mean height, asleep, overlap",
        "scene", "threads", "steps", "ours ms", "Rapier ms", "Box3D ms", "Jolt ms"
    );
    for (name, _, make) in STRESS_SCENES {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let scene = make().expect("the scene can be built");
        let steps = steps.unwrap_or(scene.steps).clamp(2, scene.steps);
        for &threads in &threads {
            let (mut us, mut them, mut others, mut fourth) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for _ in 0..repeats.max(1) {
                us.push(ours(&scene, steps, threads));
                if threads == 1 || cfg!(feature = "parallel") {
                    them.push(rapier(&scene, steps, threads));
                }
                others.extend(box3d(&scene, steps, threads));
                fourth.extend(jolt(&scene, steps, threads));
            }
            for runs in [&mut us, &mut them, &mut others, &mut fourth] {
                runs.sort_by(|a, b| a.per_step.total_cmp(&b.per_step));
            }
            let least = |runs: &[Run]| runs.first().map_or(f64::NAN, |run| run.per_step);
            let median = |runs: &[Run]| runs.get(runs.len() / 2).map_or(f64::NAN, |run| run.per_step);
            let ratios = |runs: &[Run]| {
                format!("{:>5.2} {:>5.2}", least(runs) / least(&us), median(runs) / median(&us))
            };
            let told = |runs: &[Run]| {
                runs.first().map_or("-".into(), |run| format!("{:.3} m {}", run.mean_height, run.asleep))
            };
            println!(
                "{name:<14} {threads:>7} {steps:>5} {:>10.3} {:>10.3} {:>10.3} {:>10.3}   {}  {}  {}   ours {} {:.1} mm; Rapier {}; Box3D {}; Jolt {}",
                1e3 * least(&us),
                1e3 * least(&them),
                1e3 * least(&others),
                1e3 * least(&fourth),
                ratios(&them),
                ratios(&others),
                ratios(&fourth),
                told(&us),
                1e3 * us[0].deepest,
                told(&them),
                told(&others),
                told(&fourth),
            );
        }
    }
}
