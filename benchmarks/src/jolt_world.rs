//! The stress scenes in Jolt, by way of its C functions.
//!
//! The bindings hold Jolt 5.0, which is older than the others here, and neither joints nor meshes: scenes that need them are not
//! run. It has no sub-steps; a step is one collision step with its own numbers of iterations.

use std::ffi::{c_uint, c_void};
use std::sync::Once;

use glam::{DQuat, DVec3};
use joltc_sys::*;
use rattleback_dynamics::{Path, Status};
use rattleback_geometry::{Pose, Shape};
use rattleback_scene::stress::{STRESS_GRAVITY, StressBody, StressScene};

use crate::outcome::{Outcome, SceneWorld};

// The bindings forget what C++ stands on.
#[cfg(target_os = "linux")]
#[link(name = "stdc++")]
unsafe extern "C" {}

/// A scene as Jolt sees it.
pub struct JoltWorld<'s> {
    scene: &'s StressScene,
    system: *mut JPC_PhysicsSystem,
    memory: *mut JPC_TempAllocatorImpl,
    jobs: *mut JPC_JobSystemThreadPool,
    layers: *mut JPC_BroadPhaseLayerInterface,
    against_layers: *mut JPC_ObjectVsBroadPhaseLayerFilter,
    pairs: *mut JPC_ObjectLayerPairFilter,
    placed: Vec<JPC_BodyID>,
    driven: Vec<(JPC_BodyID, &'s StressBody)>,
    arrived: Vec<Vec<JPC_BodyID>>,
    dt: f64,
}

/// What does not move by itself, and what does.
const LAYERS: [JPC_ObjectLayer; 2] = [0, 1];
/// Its default gravity, m/s²; the bindings cannot set another.
const OWN_GRAVITY: f64 = 9.81;
const MAX_BODIES: c_uint = 65_536;
const MAX_PAIRS: c_uint = 1 << 18;
const MAX_CONTACTS: c_uint = 1 << 17;
const MEMORY: c_uint = 256 << 20;

unsafe extern "C" fn layer_count(_: *const c_void) -> c_uint {
    LAYERS.len() as c_uint
}

unsafe extern "C" fn layer_of(_: *const c_void, layer: JPC_ObjectLayer) -> JPC_BroadPhaseLayer {
    layer as JPC_BroadPhaseLayer
}

unsafe extern "C" fn meets_layer(_: *const c_void, one: JPC_ObjectLayer, other: JPC_BroadPhaseLayer) -> bool {
    one == LAYERS[1] || JPC_ObjectLayer::from(other) == LAYERS[1]
}

unsafe extern "C" fn should_collide(_: *const c_void, one: JPC_ObjectLayer, other: JPC_ObjectLayer) -> bool {
    one == LAYERS[1] || other == LAYERS[1]
}

fn vector(v: DVec3) -> JPC_Vec3 {
    JPC_Vec3 { x: v.x as f32, y: v.y as f32, z: v.z as f32, _w: v.z as f32 }
}

fn quaternion(q: DQuat) -> JPC_Quat {
    JPC_Quat { x: q.x as f32, y: q.y as f32, z: q.z as f32, w: q.w as f32 }
}

/// Whether the bindings have everything that a scene needs.
fn is_possible(scene: &StressScene) -> bool {
    let joints =
        scene.joints.len() + scene.arrivals.iter().map(|arrival| arrival.joints.len()).sum::<usize>();
    let bodies = scene.bodies.iter().chain(scene.arrivals.iter().flat_map(|arrival| &arrival.bodies));
    let meshes = bodies.flat_map(|body| &body.shapes).any(|(shape, _)| matches!(shape, Shape::Mesh(_)));
    joints == 0 && !meshes
}

impl<'s> JoltWorld<'s> {
    /// (scene, step, threads) ⇒ its beginning; nothing if Jolt cannot represent it.
    pub fn new(scene: &'s StressScene, dt: f64, threads: u32) -> Option<Self> {
        static BEGIN: Once = Once::new();
        // SAFETY: once, before anything else of the library is used.
        BEGIN.call_once(|| unsafe {
            JPC_RegisterDefaultAllocator();
            JPC_FactoryInit();
            JPC_RegisterTypes();
        });
        if !is_possible(scene) {
            return None;
        }
        let none = std::ptr::null();
        // SAFETY: plain calls; what they return lives until this is dropped.
        let mut made = unsafe {
            Self {
                scene,
                system: JPC_PhysicsSystem_new(),
                memory: JPC_TempAllocatorImpl_new(MEMORY),
                // The calling thread works too.
                jobs: JPC_JobSystemThreadPool_new3(2048, 8, threads as i32 - 1),
                layers: JPC_BroadPhaseLayerInterface_new(
                    none,
                    JPC_BroadPhaseLayerInterfaceFns {
                        GetNumBroadPhaseLayers: Some(layer_count),
                        GetBroadPhaseLayer: Some(layer_of),
                    },
                ),
                against_layers: JPC_ObjectVsBroadPhaseLayerFilter_new(
                    none,
                    JPC_ObjectVsBroadPhaseLayerFilterFns { ShouldCollide: Some(meets_layer) },
                ),
                pairs: JPC_ObjectLayerPairFilter_new(
                    none,
                    JPC_ObjectLayerPairFilterFns { ShouldCollide: Some(should_collide) },
                ),
                placed: Vec::new(),
                driven: Vec::new(),
                arrived: vec![Vec::new(); scene.arrivals.len()],
                dt,
            }
        };
        // SAFETY: all of them live.
        unsafe {
            let Self { system, layers, against_layers, pairs, .. } = made;
            JPC_PhysicsSystem_Init(
                system,
                MAX_BODIES,
                0,
                MAX_PAIRS,
                MAX_CONTACTS,
                layers,
                against_layers,
                pairs,
            );
        }
        made.placed = scene.bodies.iter().map(|body| made.add(body)).collect();
        // SAFETY: the system lives.
        unsafe { JPC_PhysicsSystem_OptimizeBroadPhase(made.system) };
        Some(made)
    }

    fn bodies(&self) -> *mut JPC_BodyInterface {
        // SAFETY: the system lives.
        unsafe { JPC_PhysicsSystem_GetBodyInterface(self.system) }
    }

    fn add(&mut self, body: &'s StressBody) -> JPC_BodyID {
        let shape = whole(body);
        // SAFETY: the settings are filled in by the library before they are changed, and copied.
        let id = unsafe {
            let mut settings = std::mem::zeroed::<JPC_BodyCreationSettings>();
            JPC_BodyCreationSettings_default(&mut settings);
            settings.Position = vector(body.position);
            settings.Rotation = quaternion(body.rotation);
            settings.MotionType = match body.status {
                Status::Fixed => JPC_MOTION_TYPE_STATIC,
                Status::Kinematic => JPC_MOTION_TYPE_KINEMATIC,
                _ => JPC_MOTION_TYPE_DYNAMIC,
            };
            settings.ObjectLayer = LAYERS[usize::from(body.status == Status::Dynamic)];
            settings.Friction = body.surface[0] as f32;
            settings.GravityFactor = (STRESS_GRAVITY.length() / OWN_GRAVITY) as f32;
            settings.AllowSleeping = self.scene.sleeping;
            settings.Shape = shape;
            if body.spin != DVec3::ZERO {
                let center = JPC_Shape_GetCenterOfMass(shape);
                let arm = body.rotation * DVec3::new(center.x.into(), center.y.into(), center.z.into());
                settings.AngularVelocity = vector(body.spin);
                settings.LinearVelocity = vector(body.spin.cross(arm));
            }
            JPC_BodyInterface_CreateAndAddBody(self.bodies(), &settings, JPC_ACTIVATION_ACTIVATE)
        };
        if body.status == Status::Kinematic {
            self.driven.push((id, body));
        }
        id
    }
}

impl SceneWorld for JoltWorld<'_> {
    fn step(&mut self, step: usize) {
        for (index, arrival) in self.scene.arrivals.iter().enumerate().filter(|(_, a)| a.step == step) {
            for id in arrival.replaces.map(|gone| std::mem::take(&mut self.arrived[gone])).unwrap_or_default()
            {
                // SAFETY: it has not been removed before.
                unsafe {
                    JPC_BodyInterface_RemoveBody(self.bodies(), id);
                    JPC_BodyInterface_DestroyBody(self.bodies(), id);
                }
            }
            self.arrived[index] = arrival.bodies.iter().map(|body| self.add(body)).collect();
        }
        for (id, body) in &self.driven {
            let Some(path) = &body.path else { continue };
            let start = Pose::at(body.position);
            let now = path.at(&start, step as f64 * self.dt);
            // SAFETY: the body and the system live.
            unsafe {
                if let Path::Steady { velocity, .. } = path {
                    let (v, omega) = (vector(*velocity), vector(now.angular_velocity));
                    JPC_BodyInterface_SetLinearAndAngularVelocity(self.bodies(), *id, v, omega);
                } else {
                    let next = path.at(&start, (step + 1) as f64 * self.dt).pose;
                    let (x, q) = (vector(next.translation), quaternion(next.rotation));
                    JPC_BodyInterface_MoveKinematic(self.bodies(), *id, x, q, self.dt as f32);
                }
            }
        }
        // SAFETY: all of them live.
        let error =
            unsafe { JPC_PhysicsSystem_Update(self.system, self.dt as f32, 1, self.memory, self.jobs) };
        assert_eq!(error, 0, "its buffers are large enough");
    }

    fn outcome(&self) -> Outcome {
        // SAFETY: all of them live.
        let frame = |id: &JPC_BodyID| unsafe {
            let p = JPC_BodyInterface_GetPosition(self.bodies(), *id);
            let q = JPC_BodyInterface_GetRotation(self.bodies(), *id);
            let turn = DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into());
            Pose::new(turn.normalize(), DVec3::new(p.x.into(), p.y.into(), p.z.into()))
        };
        // SAFETY: as above.
        let awake = |id: &JPC_BodyID| unsafe { JPC_BodyInterface_IsActive(self.bodies(), *id) };
        let lists = || std::iter::once(&self.placed).chain(&self.arrived);
        let bodies = std::iter::once(&self.scene.bodies);
        let bodies = bodies.chain(self.scene.arrivals.iter().map(|arrival| &arrival.bodies));
        let each = lists().zip(bodies).flat_map(|(ids, bodies)| ids.iter().zip(bodies));
        Outcome {
            frames: lists().map(|list| list.iter().map(frame).collect()).collect(),
            asleep: each.filter(|(id, body)| body.status == Status::Dynamic && !awake(id)).count(),
        }
    }
}

/// The shapes of a body as one.
fn whole(body: &StressBody) -> *mut JPC_Shape {
    let parts: Vec<_> = body
        .shapes
        .iter()
        .map(|(shape, pose)| {
            // Capsules lie along y there, and along z here.
            let turn = match shape {
                Shape::Capsule(_) => DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
                _ => DQuat::IDENTITY,
            };
            (made(shape, body.density as f32), pose.translation, pose.rotation * turn)
        })
        .collect();
    if let [(shape, place, turn)] = parts[..]
        && place == DVec3::ZERO
        && turn == DQuat::IDENTITY
    {
        return shape;
    }
    let parts: Vec<_> = parts
        .iter()
        .map(|(shape, place, turn)| {
            // SAFETY: filled in by the library before it is changed.
            let mut settings = unsafe { std::mem::zeroed::<JPC_SubShapeSettings>() };
            unsafe { JPC_SubShapeSettings_default(&mut settings) };
            settings.Shape = *shape;
            (settings.Position, settings.Rotation) = (vector(*place), quaternion(*turn));
            settings
        })
        .collect();
    finished(|shape, error| {
        // SAFETY: the parts live until it is made.
        unsafe {
            let mut settings = std::mem::zeroed::<JPC_StaticCompoundShapeSettings>();
            JPC_StaticCompoundShapeSettings_default(&mut settings);
            (settings.SubShapes, settings.SubShapesLen) = (parts.as_ptr(), parts.len());
            JPC_StaticCompoundShapeSettings_Create(&settings, shape, error)
        }
    })
}

/// A shape about its own origin.
fn made(shape: &Shape, density: f32) -> *mut JPC_Shape {
    finished(|out, error| {
        // SAFETY: the settings are filled in by the library before they are changed, and copied.
        unsafe {
            match shape {
                Shape::Sphere(sphere) => {
                    let mut settings = std::mem::zeroed::<JPC_SphereShapeSettings>();
                    JPC_SphereShapeSettings_default(&mut settings);
                    (settings.Radius, settings.Density) = (sphere.radius() as f32, density);
                    JPC_SphereShapeSettings_Create(&settings, out, error)
                }
                Shape::Cuboid(cuboid) => {
                    let mut settings = std::mem::zeroed::<JPC_BoxShapeSettings>();
                    JPC_BoxShapeSettings_default(&mut settings);
                    let half = cuboid.half_extents();
                    (settings.HalfExtent, settings.Density) = (vector(half), density);
                    settings.ConvexRadius = settings.ConvexRadius.min(0.5 * half.min_element() as f32);
                    JPC_BoxShapeSettings_Create(&settings, out, error)
                }
                Shape::Capsule(capsule) => {
                    let mut settings = std::mem::zeroed::<JPC_CapsuleShapeSettings>();
                    JPC_CapsuleShapeSettings_default(&mut settings);
                    (settings.Radius, settings.Density) = (capsule.radius() as f32, density);
                    settings.HalfHeightOfCylinder = 0.5 * capsule.height() as f32;
                    JPC_CapsuleShapeSettings_Create(&settings, out, error)
                }
                Shape::Convex(convex) => {
                    let points: Vec<_> = convex.polyhedron().vertices().iter().map(|p| vector(*p)).collect();
                    let mut settings = std::mem::zeroed::<JPC_ConvexHullShapeSettings>();
                    JPC_ConvexHullShapeSettings_default(&mut settings);
                    (settings.Points, settings.PointsLen) = (points.as_ptr(), points.len());
                    settings.Density = density;
                    JPC_ConvexHullShapeSettings_Create(&settings, out, error)
                }
                other => panic!("no scene has {other:?}"),
            }
        }
    })
}

/// What was made, if it could be. It stays alive: a benchmark ends soon.
fn finished(make: impl FnOnce(*mut *mut JPC_Shape, *mut *mut JPC_String) -> bool) -> *mut JPC_Shape {
    let (mut shape, mut error) = (std::ptr::null_mut(), std::ptr::null_mut());
    assert!(make(&mut shape, &mut error), "a shape");
    shape
}

impl Drop for JoltWorld<'_> {
    fn drop(&mut self) {
        // SAFETY: each of them lives until here, the system first.
        unsafe {
            JPC_PhysicsSystem_delete(self.system);
            JPC_BroadPhaseLayerInterface_delete(self.layers);
            JPC_ObjectVsBroadPhaseLayerFilter_delete(self.against_layers);
            JPC_ObjectLayerPairFilter_delete(self.pairs);
            JPC_JobSystemThreadPool_delete(self.jobs);
            JPC_TempAllocatorImpl_delete(self.memory);
        }
    }
}
