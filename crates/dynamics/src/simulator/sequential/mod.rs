//! Sequential simulation: the textbook way of a game engine, kept simple to learn from and to compare with.
//!
//! A step, retroactively:
//!
//! 1. Forces kick, everybody flies for the whole step, and may end up inside of others.
//! 2. Who overlaps whom is found out (`find_touches`), and every contact and joint becomes a list of discrepancies.
//! 3. Joints that have drifted too far apart break.
//! 4. k times over all joints and contacts, there and back: each takes a fraction f of its wrong velocity away, with the bodies as
//!    those before it left them. Whoever was pushed is put where the new velocity leads from where it stood: else what friction
//!    holds would slip by g h² in every step.
//! 5. The same for positions, by displacements that add nothing to the velocities.
//!
//! With `shock`, 4 and 5 end with a pass through the storeys of what stands on each other.
//!
//! Nothing is remembered from step to step, so resting contacts are found anew every time: more iterations make stacks stiffer.

mod contact;
mod discrepancy;
mod link;
mod shock;
mod work;

use crate::component;
use crate::error::Error;
use crate::force::Loads;
use crate::joint::JointRecord;
use crate::motion::{Inertia, Motion, fly};
use crate::property::{Allowed, Component, ComponentType, PropertyError};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::simulator::{Capabilities, Feature, Simulator, TouchPoint, check_step, refuse_one_way};
use crate::world::{BodyId, Epoch, JointId, ShapeId, SnapshotError, Status, World};
use contact::Touch;
use discrepancy::{Mass, Relaxation};
use glam::{DQuat, DVec3};
use link::Link;
use rattleback_geometry::contact::{ContactCache, Contacts, collide};
use rattleback_geometry::space::{Mobility, PairChanges, SpaceKind, everywhere};
use rattleback_geometry::{Pose, Shape};
use shock::Storeys;
use std::collections::HashMap;
use work::{Account, Part};

component! {
    /// Discrepancies of contacts and joints, taken away one after the other.
    pub struct SequentialSettings as "sequential" {
        /// Iterations over all discrepancies.
        iterations: i64 = 10, "", Allowed::Within(1.0, 100000.0);
        /// Fraction of every discrepancy that is to be taken away.
        beta: f64 = 1.0, "", Allowed::Within(0.0, 1.0);
        /// The same for those of joints.
        joint_beta: f64 = 0.8, "", Allowed::Within(0.0, 1.0);
        /// The same for those of contacts.
        contact_beta: f64 = 0.8, "", Allowed::Within(0.0, 1.0);
        /// What an iteration takes of that: `full`, `remaining` (in equal parts of what is left) or `fraction` (one in so many as
        /// there are iterations, which is soft).
        relaxation: String = "full", "", Allowed::Finite;
        /// Distance of the anchors of hinges and rigid joints from their middle.
        anchor_arm: f64 = 0.5, "m", Allowed::Positive;
        /// Overlap that is left alone, so that contacts stay contacts.
        slop: f64 = 1e-4, "m", Allowed::NonNegative;
        /// Whether stacks are gone through once more from the ground up, which makes high ones stand with few iterations.
        shock: bool = false, "", Allowed::Finite;
        /// Broad phase: the name of a space.
        space: String = "dynamic-bvh", "", Allowed::Finite;
    }
}

impl SequentialSettings {
    /// The settings themselves if every name in them is known and every number in its range, else which is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        Self::with(&self.properties())?;
        self.space_kind()?;
        self.relaxation_kind()?;
        Ok(self)
    }

    fn refuse(name: &str, value: &str, known: &[&str]) -> PropertyError {
        PropertyError::Range {
            component: "sequential".into(),
            name: name.into(),
            allowed: format!("one of {}", known.join(", ")),
            value: value.into(),
        }
    }

    fn space_kind(&self) -> Result<SpaceKind, PropertyError> {
        let known: Vec<&str> = SpaceKind::names().collect();
        SpaceKind::from_name(&self.space).map_err(|_| Self::refuse("space", &self.space, &known))
    }

    fn relaxation_kind(&self) -> Result<Relaxation, PropertyError> {
        let found = Relaxation::NAMES.iter().find(|(name, _)| *name == self.relaxation);
        let known = Relaxation::NAMES.map(|(name, _)| name);
        found.map(|found| found.1).ok_or_else(|| Self::refuse("relaxation", &self.relaxation, &known))
    }
}

/// Sequential simulator.
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
    space: SpaceKind,
    relaxation: Relaxation,
    loads: Loads,
    before: Vec<Motion>,
    touching: Vec<TouchPoint>,
    /// What contacts and joints have done in the step, if it is accounted for.
    account: Option<Account>,
    epoch: Epoch,
}

impl Default for Sequential {
    fn default() -> Self {
        Self::with_kinds(SequentialSettings::default(), SpaceKind::default(), Relaxation::Full)
    }
}

/// Everybody during a step, by place: dynamic bodies first, the world last.
struct Cast {
    masses: Vec<Mass>,
    ids: Vec<Option<BodyId>>,
    places: HashMap<BodyId, usize>,
}

impl Cast {
    fn new(world: &World) -> Self {
        let mut cast = Self { masses: Vec::new(), ids: Vec::new(), places: HashMap::new() };
        for status in [Status::Dynamic, Status::Animated, Status::Fixed] {
            let bodies = world.bodies();
            let states = bodies.motion(status).iter().zip(bodies.inertia(status));
            for (id, (motion, inertia)) in bodies.ids(status).iter().zip(states) {
                cast.places.insert(*id, cast.masses.len());
                cast.ids.push(Some(*id));
                cast.masses.push(Mass {
                    motion: *motion,
                    inertia: *inertia,
                    movable: status == Status::Dynamic,
                });
            }
        }
        cast.ids.push(None);
        cast.masses.push(Mass {
            motion: Motion { q: DQuat::IDENTITY, ..Motion::default() },
            inertia: Inertia::default(),
            movable: false,
        });
        cast
    }

    fn place(&self, body: Option<BodyId>) -> Option<usize> {
        body.map_or(Some(self.masses.len() - 1), |id| self.places.get(&id).copied())
    }
}

impl Sequential {
    /// Settings ⇒ simulator; refuses names that there are none of.
    pub fn new(settings: SequentialSettings) -> Result<Self, Error> {
        let settings = settings.checked()?;
        let (space, relaxation) = (settings.space_kind()?, settings.relaxation_kind()?);
        Ok(Self::with_kinds(settings, space, relaxation))
    }

    fn with_kinds(settings: SequentialSettings, space: SpaceKind, relaxation: Relaxation) -> Self {
        let (loads, before, touching) = (Loads::default(), Vec::new(), Vec::new());
        Self { settings, space, relaxation, loads, before, touching, account: None, epoch: Epoch::default() }
    }

    /// Settings in use.
    pub const fn settings(&self) -> &SequentialSettings {
        &self.settings
    }

    /// Lets forces kick and everybody fly.
    fn fly(&mut self, world: &mut World, h: f64) -> f64 {
        let mut loads = std::mem::take(&mut self.loads);
        world.gather_loads(world.time(), &mut loads);
        let g = loads.uniform_acceleration();
        let (motion, inertia) = world.bodies_mut().dynamic_mut();
        for (place, (motion, inertia)) in motion.iter_mut().zip(inertia).enumerate() {
            let wrench = loads.wrench(place);
            motion.v += (g + wrench.force * inertia.inverse_mass) * h;
            motion.omega += inertia.angular_velocity(motion.q, wrench.torque * h);
            motion.v *= (-h * inertia.linear_damping).exp();
            motion.omega *= (-h * inertia.angular_damping).exp();
            fly(std::slice::from_mut(motion), std::slice::from_ref(inertia), h);
        }
        self.loads = loads;
        g.length()
    }

    /// Who overlaps whom, in the order of the shapes.
    fn find_touches(&self, world: &World, cast: &Cast) -> Result<Vec<Touch>, Error> {
        let mut space = self.space.create();
        let mut parts: Vec<(ShapeId, usize, Pose)> = Vec::new();
        for (id, attached) in world.iter_shapes() {
            let Some(place) = cast.place(Some(attached.body)) else { continue };
            let mass = &cast.masses[place];
            if attached.sensor || !mass.motion.is_finite() {
                continue;
            }
            let pose = mass.motion.pose()
                * (world.body(attached.body)?.body_from_principal().inverse() * attached.pose);
            let bounds = attached.shape.aabb(&pose).unwrap_or_else(everywhere);
            let mobility = if mass.movable { Mobility::Moving } else { Mobility::Fixed };
            // What lies beyond any space touches nobody.
            if space.insert(&bounds, mobility, parts.len() as u64).is_ok() {
                parts.push((id, place, pose));
            }
        }
        let mut changes = PairChanges::default();
        space.step(1, &mut changes);
        let mut touches = Vec::new();
        for pair in &changes.appeared {
            let number = |id| space.user(id).ok().and_then(|user| parts.get(user as usize));
            let (Some(one), Some(other)) = (number(pair.a), number(pair.b)) else { continue };
            if world.admit_pair(one.0, other.0)? {
                add_touches(world, cast, one, other, &mut touches)?;
            }
        }
        Ok(touches)
    }

    /// The joints as discrepancies; those that have drifted too far go to `broken`.
    fn find_links(
        &self,
        world: &World,
        cast: &Cast,
        h: f64,
        broken: &mut Vec<JointId>,
    ) -> Result<Vec<Link>, Error> {
        let mut links = Vec::new();
        for (id, record) in world.iter_joints() {
            let [Some(a), Some(b)] = record.bodies.map(|body| cast.place(body)) else { continue };
            let Some(mut link) = Link::new(id, record, [a, b], self.settings.anchor_arm) else {
                return Err(Error::Unsupported {
                    simulator: "sequential",
                    what: "joints that slide",
                    instead: "use `realtime`, or spherical, revolute, rigid and distance joints",
                });
            };
            if link.drift(&cast.masses) >= record.breaking.drift {
                broken.push(id);
                continue;
            }
            link.read_rows(record, &cast.masses, world.time(), h);
            links.push(link);
        }
        Ok(links)
    }

    fn solve(&mut self, cast: &mut Cast, links: &mut [Link], touches: &mut [Touch], h: f64, v_rest: f64) {
        let k = self.settings.iterations.max(1) as usize;
        let mut account = self.account.take();
        let fraction = |beta: f64, l: usize| self.relaxation.fraction(self.settings.beta * beta, l, k);
        let masses = &mut cast.masses[..];
        let flown: Vec<Motion> = masses.iter().map(|mass| mass.motion).collect();
        for touch in touches.iter_mut() {
            touch.aim(masses, v_rest);
        }
        for l in 0..k {
            let (joint, contact) =
                (fraction(self.settings.joint_beta, l), fraction(self.settings.contact_beta, l));
            there_and_back(links, l, |link| link.solve(masses, joint, h));
            note(&mut account, Part::Joints, masses);
            there_and_back(touches, l, |touch| touch.solve(masses, contact));
            note(&mut account, Part::Contacts, masses);
        }
        let storeys = self.settings.shock.then(|| Storeys::new(masses, touches));
        let last = self.settings.beta * self.settings.contact_beta;
        if let Some(storeys) = &storeys {
            storeys.rise(masses, touches, k, |touch, masses| touch.solve(masses, last));
            note(&mut account, Part::Contacts, masses);
        }
        for ((mass, flown), start) in masses.iter_mut().zip(&flown).zip(&self.before) {
            let Mass { motion, .. } = mass;
            if motion.v != flown.v || motion.omega != flown.omega {
                motion.x = start.x + motion.v * h;
                motion.q = (DQuat::from_scaled_axis(motion.omega * h) * start.q).normalize();
            }
        }
        note(&mut account, Part::Flight, masses);
        for l in 0..k {
            let (joint, contact) =
                (fraction(self.settings.joint_beta, l), fraction(self.settings.contact_beta, l));
            there_and_back(links, l, |link| link.mend(masses, joint));
            note(&mut account, Part::Joints, masses);
            there_and_back(touches, l, |touch| touch.mend(masses, contact, self.settings.slop));
            note(&mut account, Part::Contacts, masses);
        }
        if let Some(storeys) = &storeys {
            storeys.rise(masses, touches, k, |touch, masses| touch.mend(masses, last, self.settings.slop));
            note(&mut account, Part::Contacts, masses);
        }
        self.account = account;
    }

    fn advance(&mut self, world: &mut World, h: f64, broken: &mut Vec<JointId>) -> Result<(), Error> {
        let gravity = self.fly(world, h);
        let mut cast = Cast::new(world);
        let mut touches = self.find_touches(world, &cast)?;
        let mut links = self.find_links(world, &cast, h, broken)?;
        let v_rest = (2.0 * gravity * h).max(0.01);
        self.account = world.keeps_ledger().then(|| Account::new(&cast.masses));
        self.solve(&mut cast, &mut links, &mut touches, h, v_rest);
        for link in &links {
            let breaks = |record: &JointRecord| link.impulse.length() > record.breaking.force * h;
            if world.joint(link.id).is_ok_and(breaks) {
                broken.push(link.id);
            }
        }
        self.post_work(world, &cast, &links, &touches);
        let motion = world.bodies_mut().dynamic_mut().0;
        for (motion, mass) in motion.iter_mut().zip(&cast.masses) {
            *motion = mass.motion;
        }
        self.touching.clear();
        for touch in touches.iter().filter(|touch| touch.gap <= 0.0) {
            if let [Some(a), Some(b)] = touch.bodies.map(|body| cast.ids[body]) {
                self.touching.push(TouchPoint {
                    bodies: [a, b],
                    normal: touch.normal,
                    point: touch.point,
                    gap: touch.gap,
                    force: touch.load / h,
                });
            }
        }
        Ok(())
    }
}

/// Notes what has changed since the last time, if it is accounted for.
fn note(account: &mut Option<Account>, part: Part, masses: &[Mass]) {
    if let Some(account) = account {
        account.note(part, masses);
    }
}

/// Everyone in order in even iterations, the other way round in odd ones: nobody is always the first.
fn there_and_back<T>(list: &mut [T], iteration: usize, act: impl FnMut(&mut T)) {
    if iteration.is_multiple_of(2) {
        list.iter_mut().for_each(act);
    } else {
        list.iter_mut().rev().for_each(act);
    }
}

/// Adds the points in which two parts overlap or all but do.
fn add_touches(
    world: &World,
    cast: &Cast,
    one: &(ShapeId, usize, Pose),
    other: &(ShapeId, usize, Pose),
    touches: &mut Vec<Touch>,
) -> Result<(), Error> {
    let shape =
        |part: &(ShapeId, usize, Pose)| -> Result<Shape, Error> { Ok(world.shape(part.0)?.shape.clone()) };
    let (a, b) = (shape(one)?, shape(other)?);
    let (mut cache, mut found) = (ContactCache::default(), Contacts::default());
    // What cannot be told counts as no contact.
    if collide(&a, &b, &one.2.relative(&other.2), 0.0, &mut cache, &mut found).is_err() {
        return Ok(());
    }
    let material = world.mixed_material(one.0, other.0)?;
    let poses = [one.1, other.1].map(|place| cast.masses[place].motion.pose());
    for manifold in found.manifolds() {
        let normal: DVec3 = one.2.vector(manifold.normal);
        for point in manifold.points() {
            let points = [one.2.point(point.point_a), one.2.point(point.point_b)];
            touches.push(Touch::new([one.1, other.1], [&poses[0], &poses[1]], normal, points, material));
        }
    }
    Ok(())
}

impl Simulator for Sequential {
    fn description(&self) -> Description {
        Description {
            type_name: SequentialSettings::TYPE_NAME.into(),
            properties: self.settings.properties(),
        }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        check_step(dt)?;
        refuse_one_way("sequential", world)?;
        world.begin_step(&self.epoch);
        self.before.clear();
        self.before.extend_from_slice(world.bodies().motion(Status::Dynamic));
        let mut broken = Vec::new();
        if let Err(error) = self.advance(world, dt, &mut broken) {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&self.before);
            return Err(error);
        }
        let end = world.time() + dt;
        world.end_step(end, Some(&self.before));
        world.follow_joints();
        for joint in broken {
            world.break_joint(joint, end);
        }
        world.sign_step(&mut self.epoch);
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<TouchPoint> {
        self.touching.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[
            Feature::Contacts,
            Feature::Restitution,
            Feature::Friction,
            Feature::KinematicBodies,
            Feature::Joints,
            Feature::BreakForce,
            Feature::BreakDrift,
            Feature::GravityScale,
            Feature::LockedRotations,
            Feature::EnergyLedger,
        ])
    }

    fn memory(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.epoch).unwrap_or_default()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        let malformed = |_| SnapshotError::Malformed("memory of the sequential simulator");
        self.epoch = if memory.is_empty() {
            Epoch::default()
        } else {
            postcard::from_bytes(memory).map_err(malformed)?
        };
        Ok(())
    }
}

pub(crate) fn register_simulator(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    let specs = SequentialSettings::type_specs().to_vec();
    simulators.register(Entry::new(SequentialSettings::TYPE_NAME, SequentialSettings::DOC, specs, |given| {
        let settings = SequentialSettings::with(given).map_err(|error| error.to_string())?;
        let simulator = Sequential::new(settings).map_err(|error| error.to_string())?;
        Ok(Box::new(simulator) as Box<dyn Simulator>)
    }))
}
