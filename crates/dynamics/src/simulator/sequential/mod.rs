//! Sequential impulses: the textbook solver of a game engine, kept simple to learn from and to compare with.
//!
//! A step moves first and corrects afterwards:
//!
//! 1. Loads kick all bodies, which move freely for the whole step and may come to overlap.
//! 2. Contacts of overlapping shapes are found; contacts and joints become lists of constraint errors.
//! 3. Joints whose anchors have drifted too far apart break.
//! 4. k iterations over all joints and contacts, alternately forwards and backwards: each removes a fraction
//!    f of its velocity error, with the bodies as the constraints before it left them (projected
//!    Gauss–Seidel). Bodies whose velocity changed are moved again from their start with the new velocity;
//!    otherwise sticking contacts would slip by g h² in every step.
//! 5. k iterations over the position errors, by displacements that do not change the velocities.
//!
//! With `shock`, 4 and 5 end with a pass through the levels of stacks (`shock_propagation`).
//!
//! There is no warm start: resting contacts are solved anew in every step, and more iterations make stacks
//! stiffer.

mod contact_constraint;
mod joint_constraint;
mod shock_propagation;
mod solver_body;
mod tuning;
mod work;

use crate::collision::{ColliderPair, WorldMirror};
use crate::component;
use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::joint::JointRecord;
use crate::property::{self, Allowed, Component, ComponentType, PropertyError};
use crate::registry::Description;
use crate::rigid::{Inertia, Motion, fly};
use crate::simulator::{Capabilities, ContactPoint, Feature, Simulator, StepContext};
use crate::world::{Continuity, Epoch, JointId, ShapeId, SnapshotError, Status, World};
use contact_constraint::PointContact;
use glam::DQuat;
use joint_constraint::AnchorJoint;
use rattleback_geometry::space::SpaceKind;
use shock_propagation::StackLevels;
pub use solver_body::Relaxation;
use solver_body::SequentialBody;
use tuning::{MIN_REST_SPEED, REST_SPEED_PER_KICK};
use work::{SolverStage, StageChanges};

component! {
    /// Sequential impulses: velocity and position errors of contacts and joints, removed one after the other.
    pub struct SequentialSettings as "sequential" {
        /// Iterations over all contacts and joints, for velocities and again for positions; 1 to 100000.
        iterations: i64 = 10, "", Allowed::Within(1.0, 100000.0);
        /// Fraction of every constraint error to remove in a step; 0 to 1.
        beta: f64 = 1.0, "", Allowed::Within(0.0, 1.0);
        /// Further factor of that fraction for joints; 0 to 1.
        joint_beta: f64 = 0.8, "", Allowed::Within(0.0, 1.0);
        /// Further factor of that fraction for contacts; 0 to 1.
        contact_beta: f64 = 0.8, "", Allowed::Within(0.0, 1.0);
        /// How iterations divide that fraction β: `full` (β in each), `remaining` (β divided by the number of
        /// iterations that remain) or `fraction` (β divided by the number of iterations, which is soft).
        relaxation: Relaxation = Relaxation::Full, "", Allowed::OneOf(&["full", "remaining", "fraction"]);
        /// Distance of the anchors of hinges and rigid joints from the joint origin, m, above 0.
        anchor_arm: f64 = 0.5, "m", Allowed::Positive;
        /// Overlap that is not corrected, so that resting contacts persist, m.
        slop: f64 = 1e-4, "m", Allowed::NonNegative;
        /// Whether a last pass solves stacks from the ground up (shock propagation), so that high ones stand
        /// with few iterations.
        shock: bool = false, "", Allowed::Finite;
        /// Broad phase, by the name of a space.
        space: SpaceKind = SpaceKind::DynamicBvh, "", Allowed::OneOf(&SpaceKind::NAMES);
    }
}

impl SequentialSettings {
    /// Validates the settings.
    ///
    /// # Errors
    /// Names the first setting that is out of its range or unknown.
    pub fn checked(self) -> Result<Self, PropertyError> {
        property::check(&self)?;
        Ok(self)
    }
}

/// Sequential-impulse simulator.
///
/// ```
/// use rattleback_dynamics::simulator::Sequential;
/// use rattleback_dynamics::{Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
/// let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 1.0).with_shape(Shape::sphere(0.1)?))?;
/// let mut simulator = Sequential::default();
/// for _ in 0..120 {
///     simulator.step(&mut world, 1.0 / 60.0)?;
/// }
/// assert!((world.body(ball)?.position().z - 0.1).abs() < 5e-3);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Sequential {
    settings: SequentialSettings,
    mirror: WorldMirror,
    loads: ForceAccumulator,
    touching: Vec<ContactPoint>,
    /// Changes by contacts and joints in the step, if the world keeps an energy ledger.
    account: Option<StageChanges>,
    epoch: Epoch,
}

impl Default for Sequential {
    fn default() -> Self {
        Self::of(SequentialSettings::default())
    }
}

/// Bodies in the order of the mirror, and the world itself last.
fn solver_bodies(world: &World) -> Vec<SequentialBody> {
    let mut bodies = Vec::new();
    for status in [Status::Dynamic, Status::Kinematic, Status::Fixed] {
        let states = world.bodies().motion(status).iter().zip(world.bodies().inertia(status));
        let movable = status == Status::Dynamic;
        bodies.extend(states.map(|(motion, inertia)| SequentialBody {
            motion: *motion,
            inertia: *inertia,
            movable,
        }));
    }
    bodies.push(SequentialBody {
        motion: Motion { q: DQuat::IDENTITY, ..Motion::default() },
        inertia: Inertia::default(),
        movable: false,
    });
    bodies
}

impl Sequential {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// If a number is out of its range or a name is unknown.
    pub fn new(settings: SequentialSettings) -> Result<Self, Error> {
        Ok(Self::of(settings.checked()?))
    }

    fn of(settings: SequentialSettings) -> Self {
        let (loads, touching) = (ForceAccumulator::default(), Vec::new());
        let mirror = WorldMirror::new(settings.space);
        Self { settings, mirror, loads, touching, account: None, epoch: Epoch::default() }
    }

    /// The settings.
    pub const fn settings(&self) -> &SequentialSettings {
        &self.settings
    }

    /// Kick and free flight over the step ⇒ |g|, m/s².
    fn move_freely(&mut self, world: &mut World, h: f64) -> f64 {
        let mut loads = std::mem::take(&mut self.loads);
        world.gather_loads(world.time(), &mut loads);
        let g = loads.uniform_acceleration();
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        for (place, (motion, inertia)) in motion.iter_mut().zip(inertia).enumerate() {
            let wrench = loads.wrench(place);
            motion.v += (g + wrench.force * inertia.inverse_mass) * h;
            motion.omega += inertia.angular_velocity(motion.q, wrench.torque * h);
            inertia.damp(motion, h);
            fly(std::slice::from_mut(motion), std::slice::from_ref(inertia), h);
        }
        self.loads = loads;
        g.length()
    }

    /// Contact points of overlapping shapes, in the order of the shapes in the world: what was added first, usually the ground, is
    /// solved first in even iterations.
    fn find_contacts(
        &mut self,
        world: &World,
        bodies: &[SequentialBody],
    ) -> Result<Vec<PointContact>, Error> {
        let states: Vec<Motion> = bodies.iter().map(|body| body.motion).collect();
        self.mirror.update_pairs(world, &states, &states, 0.0)?;
        let WorldMirror { colliders, pairs, .. } = &mut self.mirror;
        let mut near: Vec<&mut ColliderPair> = pairs.values_mut().filter(|pair| pair.can_push()).collect();
        let order = |shapes: [ShapeId; 2]| (shapes[0].min(shapes[1]), shapes[0].max(shapes[1]));
        near.sort_by_key(|pair| order(pair.shapes));
        let mut contacts = Vec::new();
        for pair in near {
            // A pair that the narrow phase cannot handle has no contacts.
            if pair.find(colliders, &states, 0.0).is_err() {
                continue;
            }
            let indices = pair.bodies.map(|body| body as usize);
            let poses = indices.map(|body| states[body].pose());
            let a = poses[0] * colliders[pair.colliders[0] as usize].local_pose;
            for manifold in pair.found.manifolds() {
                let normal = a.vector(manifold.normal);
                for point in manifold.points() {
                    let points = [a.point(point.point_a), a.point(point.point_b)];
                    let bodies = (indices, pair.shapes);
                    contacts.push(PointContact::new(bodies, &poses, normal, points, pair.material));
                }
            }
        }
        Ok(contacts)
    }

    /// Joints as anchor points and rows; those that have drifted too far go to `broken`.
    fn find_joints(
        &self,
        world: &World,
        bodies: &[SequentialBody],
        h: f64,
        broken: &mut Vec<JointId>,
    ) -> Result<Vec<AnchorJoint>, Error> {
        let mut joints = Vec::new();
        for mirrored in &self.mirror.joints {
            let record = world.joint(mirrored.id)?;
            let ends = mirrored.bodies.map(|body| body.map_or(bodies.len() - 1, |body| body as usize));
            let Some(mut joint) = AnchorJoint::new(mirrored.id, record, ends, self.settings.anchor_arm)
            else {
                return Err(Error::Unsupported {
                    simulator: "sequential",
                    what: "joints with a sliding axis",
                    instead: "use `realtime`, or spherical, revolute, fixed and distance joints",
                });
            };
            if joint.drift(bodies) >= record.breaking.drift {
                broken.push(mirrored.id);
                continue;
            }
            joint.evaluate_rows(record, bodies, world.time(), h);
            joints.push(joint);
        }
        Ok(joints)
    }

    /// Velocity iterations, new positions, position iterations.
    fn solve(
        &mut self,
        bodies: &mut [SequentialBody],
        (joints, contacts): (&mut [AnchorJoint], &mut [PointContact]),
        initial_states: &[Motion],
        (h, v_rest): (f64, f64),
    ) {
        let k = self.settings.iterations.max(1) as usize;
        let mut account = self.account.take();
        let fraction =
            |beta: f64, l: usize| self.settings.relaxation.fraction(self.settings.beta * beta, l, k);
        let free: Vec<Motion> = bodies.iter().map(|body| body.motion).collect();
        for contact in contacts.iter_mut() {
            contact.set_target(bodies, v_rest);
        }
        for l in 0..k {
            let (joint_fraction, contact_fraction) =
                (fraction(self.settings.joint_beta, l), fraction(self.settings.contact_beta, l));
            alternate(joints, l, |joint| joint.solve(bodies, joint_fraction, h));
            record(&mut account, SolverStage::Joints, bodies);
            alternate(contacts, l, |contact| contact.solve(bodies, contact_fraction));
            record(&mut account, SolverStage::Contacts, bodies);
        }
        let levels = self.settings.shock.then(|| StackLevels::new(bodies, contacts));
        let last = self.settings.beta * self.settings.contact_beta;
        if let Some(levels) = &levels {
            levels.solve_upwards(bodies, contacts, k, |contact, bodies| contact.solve(bodies, last));
            record(&mut account, SolverStage::Contacts, bodies);
        }
        for ((body, free), start) in bodies.iter_mut().zip(&free).zip(initial_states) {
            let motion = &mut body.motion;
            if motion.v != free.v || motion.omega != free.omega {
                motion.x = start.x + motion.v * h;
                motion.q = (DQuat::from_scaled_axis(motion.omega * h) * start.q).normalize();
            }
        }
        record(&mut account, SolverStage::Positions, bodies);
        for l in 0..k {
            let (joint_fraction, contact_fraction) =
                (fraction(self.settings.joint_beta, l), fraction(self.settings.contact_beta, l));
            alternate(joints, l, |joint| joint.correct_position(bodies, joint_fraction));
            record(&mut account, SolverStage::Joints, bodies);
            alternate(contacts, l, |contact| {
                contact.correct_position(bodies, contact_fraction, self.settings.slop);
            });
            record(&mut account, SolverStage::Contacts, bodies);
        }
        if let Some(levels) = &levels {
            levels.solve_upwards(bodies, contacts, k, |contact, bodies| {
                contact.correct_position(bodies, last, self.settings.slop);
            });
            record(&mut account, SolverStage::Contacts, bodies);
        }
        self.account = account;
    }

    fn advance(&mut self, step: &mut StepContext<'_>) -> Result<(), Error> {
        let (h, world) = (step.dt(), step.world_mut());
        let mut broken = Vec::new();
        let gravity = self.move_freely(world, h);
        let mut bodies = solver_bodies(world);
        let mut contacts = self.find_contacts(world, &bodies)?;
        let mut joints = self.find_joints(world, &bodies, h, &mut broken)?;
        let v_rest = (REST_SPEED_PER_KICK * gravity * h).max(MIN_REST_SPEED);
        self.account = world.keeps_ledger().then(|| StageChanges::new(&bodies));
        self.solve(&mut bodies, (&mut joints, &mut contacts), world.initial_states(), (h, v_rest));
        for joint in &joints {
            let breaks = |record: &JointRecord| joint.impulse.length() > record.breaking.force * h;
            if world.joint(joint.id).is_ok_and(breaks) {
                broken.push(joint.id);
            }
        }
        self.post_work(world, &bodies, &joints, &contacts);
        let motion = world.bodies_mut().dynamic_mut().0;
        for (motion, body) in motion.iter_mut().zip(&bodies) {
            *motion = body.motion;
        }
        for joint in broken {
            step.break_joint(joint);
        }
        self.touching.clear();
        for contact in contacts.iter().filter(|contact| contact.gap <= 0.0) {
            {
                let [a, b] = contact.bodies.map(|body| self.mirror.bodies[body].id);
                self.touching.push(ContactPoint {
                    bodies: [a, b],
                    shapes: contact.shapes,
                    point: contact.point,
                    normal: contact.normal,
                    gap: contact.gap,
                    force: (contact.normal_impulse * contact.normal + contact.friction_impulse) / h,
                });
            }
        }
        Ok(())
    }
}

/// Records the changes of a stage, if the world keeps an energy ledger.
fn record(account: &mut Option<StageChanges>, stage: SolverStage, bodies: &[SequentialBody]) {
    if let Some(account) = account {
        account.record(stage, bodies);
    }
}

/// Visits a list forwards in even iterations and backwards in odd ones, which reduces the bias of the order.
fn alternate<T>(list: &mut [T], iteration: usize, act: impl FnMut(&mut T)) {
    if iteration.is_multiple_of(2) {
        list.iter_mut().for_each(act);
    } else {
        list.iter_mut().rev().for_each(act);
    }
}

impl Simulator for Sequential {
    fn description(&self) -> Description {
        Description {
            type_name: SequentialSettings::TYPE_NAME.into(),
            properties: self.settings.properties(),
        }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.require(SequentialSettings::TYPE_NAME, self.capabilities())?;
        if step.continuity() != Continuity::Unbroken {
            self.mirror.clear();
        }
        self.mirror.sync(&step)?;
        self.advance(&mut step)?;
        self.epoch = step.finish_with(|world| Simulator::contacts(self, world));
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<ContactPoint> {
        self.touching.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::WITH_CONTACTS.and(&[
            Feature::Joints,
            Feature::BreakForce,
            Feature::BreakDrift,
            Feature::LockedRotations,
        ])
    }

    fn save_state(&self) -> Vec<u8> {
        self.mirror.save_with(self.epoch)
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.epoch = self.mirror.restore_with(bytes)?;
        Ok(())
    }
}
