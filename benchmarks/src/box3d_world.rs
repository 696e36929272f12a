//! The stress scenes in Box3D, by way of its C functions.

use box3d_sys as b3;
use glam::{DQuat, DVec3};
use rattleback_dynamics::{Path, Status};
use rattleback_geometry::{Pose, Shape};
use rattleback_scene::stress::{STRESS_GRAVITY, StressBody, StressJoint, StressLimits, StressScene};

use crate::outcome::{Outcome, SceneWorld};

/// A scene as Box3D sees it.
pub struct Box3dWorld<'s> {
    scene: &'s StressScene,
    world: b3::b3WorldId,
    bodies: Vec<b3::b3BodyId>,
    driven: Vec<(b3::b3BodyId, &'s StressBody)>,
    arrived: Vec<Vec<b3::b3BodyId>>,
    dt: f64,
}

fn vector(v: DVec3) -> b3::b3Vec3 {
    b3::b3Vec3 { x: v.x as f32, y: v.y as f32, z: v.z as f32 }
}

fn quaternion(q: DQuat) -> b3::b3Quat {
    b3::b3Quat { v: vector(q.xyz()), s: q.w as f32 }
}

fn transform(pose: &Pose) -> b3::b3Transform {
    b3::b3Transform { p: vector(pose.translation), q: quaternion(pose.rotation) }
}

impl<'s> Box3dWorld<'s> {
    /// (scene, step, threads) ⇒ its beginning.
    pub fn new(scene: &'s StressScene, dt: f64, threads: u32) -> Self {
        // SAFETY: plain calls with definitions that the library itself has filled in.
        let world = unsafe {
            let mut definition = b3::b3DefaultWorldDef();
            definition.gravity = vector(STRESS_GRAVITY);
            definition.enableSleep = scene.sleeping;
            definition.enableContinuous = true;
            definition.workerCount = threads;
            b3::b3CreateWorld(&definition)
        };
        let mut made = Self {
            scene,
            world,
            bodies: Vec::new(),
            driven: Vec::new(),
            arrived: vec![Vec::new(); scene.arrivals.len()],
            dt,
        };
        let bodies: Vec<_> = scene.bodies.iter().map(|body| made.add(body)).collect();
        for joint in &scene.joints {
            made.join(joint, &bodies);
        }
        made.bodies = bodies;
        made
    }

    fn add(&mut self, body: &'s StressBody) -> b3::b3BodyId {
        // SAFETY: the world lives; definitions and shapes are copied, meshes are never freed.
        unsafe {
            let mut definition = b3::b3DefaultBodyDef();
            definition.type_ = match body.status {
                Status::Fixed => b3::b3BodyType_b3_staticBody,
                Status::Kinematic => b3::b3BodyType_b3_kinematicBody,
                _ => b3::b3BodyType_b3_dynamicBody,
            };
            definition.position = vector(body.position);
            definition.rotation = quaternion(body.rotation);
            definition.enableSleep = self.scene.sleeping;
            definition.sleepThreshold = self.scene.sleep_speed as f32;
            let id = b3::b3CreateBody(self.world, &definition);
            for (shape, pose) in &body.shapes {
                Self::attach(id, body, shape, pose);
            }
            if body.spin != DVec3::ZERO {
                let center = b3::b3Body_GetWorldCenter(id);
                let center = DVec3::new(center.x.into(), center.y.into(), center.z.into());
                b3::b3Body_SetAngularVelocity(id, vector(body.spin));
                b3::b3Body_SetLinearVelocity(id, vector(body.spin.cross(center - body.position)));
            }
            if body.status == Status::Kinematic {
                self.driven.push((id, body));
            }
            id
        }
    }

    unsafe fn attach(id: b3::b3BodyId, body: &StressBody, shape: &Shape, pose: &Pose) {
        // SAFETY: as of the caller.
        unsafe {
            let mut definition = b3::b3DefaultShapeDef();
            definition.density = body.density as f32;
            definition.baseMaterial.friction = body.surface[0] as f32;
            definition.baseMaterial.rollingResistance = body.surface[1] as f32;
            definition.filter.categoryBits = body.groups.member_of;
            definition.filter.maskBits = body.groups.touches;
            let hull = |points: &[DVec3]| {
                let points: Vec<_> = points.iter().map(|point| vector(pose.point(*point))).collect();
                let hull = b3::b3CreateHull(points.as_ptr(), points.len() as i32, points.len() as i32);
                assert!(!hull.is_null(), "a hull");
                b3::b3CreateHullShape(id, &definition, hull);
                b3::b3DestroyHull(hull);
            };
            match shape {
                Shape::Sphere(sphere) => {
                    let ball =
                        b3::b3Sphere { center: vector(pose.translation), radius: sphere.radius() as f32 };
                    b3::b3CreateSphereShape(id, &definition, &ball);
                }
                Shape::Capsule(capsule) => {
                    let arm = DVec3::Z * (0.5 * capsule.height());
                    let capsule = b3::b3Capsule {
                        center1: vector(pose.point(-arm)),
                        center2: vector(pose.point(arm)),
                        radius: capsule.radius() as f32,
                    };
                    b3::b3CreateCapsuleShape(id, &definition, &capsule);
                }
                Shape::Cuboid(cuboid) => {
                    let half = cuboid.half_extents();
                    let corner = |k: u32, bit: u32| if k >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    let corners: Vec<_> =
                        (0..8).map(|k| half * DVec3::new(corner(k, 0), corner(k, 1), corner(k, 2))).collect();
                    hull(&corners);
                }
                Shape::Convex(convex) => hull(convex.polyhedron().vertices()),
                Shape::Mesh(mesh) => {
                    let mut vertices: Vec<_> =
                        mesh.vertices().iter().map(|p| vector(pose.point(*p))).collect();
                    let mut indices: Vec<i32> =
                        mesh.triangles().as_flattened().iter().map(|index| *index as i32).collect();
                    let mut definition_of_mesh: b3::b3MeshDef = std::mem::zeroed();
                    definition_of_mesh.vertices = vertices.as_mut_ptr();
                    definition_of_mesh.indices = indices.as_mut_ptr();
                    definition_of_mesh.vertexCount = vertices.len() as i32;
                    definition_of_mesh.triangleCount = mesh.triangles().len() as i32;
                    definition_of_mesh.identifyEdges = true;
                    let made = b3::b3CreateMesh(&definition_of_mesh, std::ptr::null_mut(), 0);
                    assert!(!made.is_null(), "a mesh");
                    b3::b3CreateMeshShape(id, &definition, made, vector(DVec3::ONE));
                }
                other => panic!("no scene has {other:?}"),
            }
        }
    }

    fn join(&mut self, joint: &StressJoint, bodies: &[b3::b3BodyId]) {
        // SAFETY: both bodies live in this world.
        unsafe {
            let base = |mut base: b3::b3JointDef| {
                base.bodyIdA = bodies[joint.bodies[0]];
                base.bodyIdB = bodies[joint.bodies[1]];
                base.localFrameA = transform(&joint.frames[0]);
                base.localFrameB = transform(&joint.frames[1]);
                base
            };
            let [frequency, damping] = joint.spring.map(|number| number as f32);
            if let StressLimits::Hinge { range } = joint.limits {
                let mut definition = b3::b3DefaultRevoluteJointDef();
                definition.base = base(definition.base);
                definition.enableLimit = true;
                (definition.lowerAngle, definition.upperAngle) = (range[0] as f32, range[1] as f32);
                (definition.enableSpring, definition.hertz, definition.dampingRatio) =
                    (frequency > 0.0, frequency, damping);
                (definition.enableMotor, definition.maxMotorTorque) =
                    (joint.friction > 0.0, joint.friction as f32);
                b3::b3CreateRevoluteJoint(self.world, &definition);
                return;
            }
            let mut definition = b3::b3DefaultSphericalJointDef();
            definition.base = base(definition.base);
            if let StressLimits::Socket { cone, twist } = joint.limits {
                (definition.enableConeLimit, definition.coneAngle) = (true, cone as f32);
                definition.enableTwistLimit = true;
                (definition.lowerTwistAngle, definition.upperTwistAngle) = (twist[0] as f32, twist[1] as f32);
            }
            (definition.enableSpring, definition.hertz, definition.dampingRatio) =
                (frequency > 0.0, frequency, damping);
            (definition.enableMotor, definition.maxMotorTorque) =
                (joint.friction > 0.0, joint.friction as f32);
            b3::b3CreateSphericalJoint(self.world, &definition);
        }
    }
}

impl SceneWorld for Box3dWorld<'_> {
    fn step(&mut self, step: usize) {
        for (index, arrival) in self.scene.arrivals.iter().enumerate().filter(|(_, a)| a.step == step) {
            if let Some(gone) = arrival.replaces {
                for id in std::mem::take(&mut self.arrived[gone]) {
                    // SAFETY: it has not been destroyed before.
                    unsafe { b3::b3DestroyBody(id) };
                }
            }
            let bodies: Vec<_> = arrival.bodies.iter().map(|body| self.add(body)).collect();
            for joint in &arrival.joints {
                self.join(joint, &bodies);
            }
            self.arrived[index] = bodies;
        }
        for (id, body) in &self.driven {
            let Some(path) = &body.path else { continue };
            let start = Pose::at(body.position);
            let now = path.at(&start, step as f64 * self.dt);
            // SAFETY: the body and the world live.
            unsafe {
                if let Path::Steady { velocity, .. } = path {
                    b3::b3Body_SetLinearVelocity(*id, vector(*velocity));
                    b3::b3Body_SetAngularVelocity(*id, vector(now.angular_velocity));
                } else {
                    let next = path.at(&start, (step + 1) as f64 * self.dt).pose;
                    b3::b3Body_SetTargetTransform(*id, transform(&next), self.dt as f32, true);
                }
            }
        }
        // SAFETY: the world lives.
        unsafe { b3::b3World_Step(self.world, self.dt as f32, 4) };
    }

    fn outcome(&self) -> Outcome {
        // SAFETY: all of them live.
        let frame = |id: &b3::b3BodyId| unsafe {
            let (p, q) = (b3::b3Body_GetPosition(*id), b3::b3Body_GetRotation(*id));
            let turn = DQuat::from_xyzw(q.v.x.into(), q.v.y.into(), q.v.z.into(), q.s.into());
            Pose::new(turn.normalize(), DVec3::new(p.x.into(), p.y.into(), p.z.into()))
        };
        // SAFETY: as above.
        let sleeps = |id: &&b3::b3BodyId| unsafe {
            b3::b3Body_GetType(**id) == b3::b3BodyType_b3_dynamicBody && !b3::b3Body_IsAwake(**id)
        };
        let lists = || std::iter::once(&self.bodies).chain(&self.arrived);
        Outcome {
            frames: lists().map(|list| list.iter().map(frame).collect()).collect(),
            asleep: lists().flatten().filter(sleeps).count(),
        }
    }
}

impl Drop for Box3dWorld<'_> {
    fn drop(&mut self) {
        // SAFETY: it lives until here.
        unsafe { b3::b3DestroyWorld(self.world) };
    }
}
