//! The stress scenes in Rapier.
//!
//! It has neither cones nor springs together with friction on one axis: its sockets are limited about each axis, and its joints have
//! springs only.

use glam::{DQuat, DVec3};
use rapier3d::prelude::*;
use rattleback_dynamics::{Path, Status};
use rattleback_geometry::{Pose as OurPose, Shape as OurShape};
use rattleback_scene::stress::{STRESS_GRAVITY, StressBody, StressJoint, StressLimits, StressScene};

use crate::outcome::{Outcome, SceneWorld};

/// A scene as Rapier sees it.
pub struct RapierWorld<'s> {
    scene: &'s StressScene,
    world: PhysicsWorld,
    bodies: Vec<RigidBodyHandle>,
    arrived: Vec<Vec<RigidBodyHandle>>,
    dt: f64,
}

impl<'s> RapierWorld<'s> {
    /// (scene, step, threads) ⇒ its beginning; nothing for several threads if it was built without.
    pub fn new(scene: &'s StressScene, dt: f64, threads: usize) -> Option<Self> {
        let mut world = PhysicsWorld::new();
        #[cfg(feature = "parallel")]
        world.configure_thread_pool(threads).expect("threads can be started");
        #[cfg(not(feature = "parallel"))]
        if threads != 1 {
            return None;
        }
        world.gravity = vector(STRESS_GRAVITY);
        world.integration_parameters.dt = dt as f32;
        let bodies: Vec<_> = scene.bodies.iter().map(|body| add(&mut world, body, scene.sleeping)).collect();
        for joint in &scene.joints {
            if joint.bodies.iter().any(|body| scene.bodies[*body].status == Status::Dynamic) {
                join(&mut world, joint, &bodies);
            }
        }
        Some(Self { scene, world, bodies, arrived: vec![Vec::new(); scene.arrivals.len()], dt })
    }
}

impl SceneWorld for RapierWorld<'_> {
    fn step(&mut self, step: usize) {
        let Self { scene, world, bodies, arrived, dt } = self;
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
        for (body, handle) in scene.bodies.iter().zip(&*bodies).filter(|(body, _)| body.path.is_some()) {
            drive(world, *handle, body, step, *dt);
        }
        world.step();
    }

    fn outcome(&self) -> Outcome {
        let frame = |handle: &RigidBodyHandle| {
            let pose = self.world.bodies[*handle].position();
            let [x, y, z, w] = pose.rotation.to_array().map(f64::from);
            let place = pose.translation;
            OurPose::new(
                DQuat::from_xyzw(x, y, z, w).normalize(),
                DVec3::new(place.x.into(), place.y.into(), place.z.into()),
            )
        };
        let lists = std::iter::once(&self.bodies).chain(&self.arrived);
        Outcome {
            frames: lists.map(|list| list.iter().map(frame).collect()).collect(),
            asleep: self
                .world
                .bodies
                .iter()
                .filter(|(_, body)| body.is_dynamic() && body.is_sleeping())
                .count(),
        }
    }
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
        Status::Kinematic => RigidBodyBuilder::kinematic_velocity_based(),
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

/// Gives an kinematic body the velocity its path has now.
fn drive(world: &mut PhysicsWorld, handle: RigidBodyHandle, body: &StressBody, step: usize, dt: f64) {
    let Some(path) = &body.path else { return };
    let start = OurPose::at(body.position);
    let (now, next) = (path.at(&start, step as f64 * dt), path.at(&start, (step + 1) as f64 * dt));
    let peer = &mut world.bodies[handle];
    let velocity = match path {
        Path::Steady { velocity, .. } => *velocity,
        _ => (next.pose.translation - now.pose.translation) / dt,
    };
    if step == 0 {
        peer.set_translation(vector(now.pose.translation), true);
    }
    peer.set_linvel(vector(velocity), true);
    peer.set_angvel(vector(now.angular_velocity), true);
}
