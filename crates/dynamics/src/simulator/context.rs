//! What a simulator may do to a world in a step, and the frame of every step.

use super::capabilities::{Capabilities, Feature};
use super::contact_point::ContactPoint;
use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::impact::{Collision, CollisionSettings, Outcome, resolve_passive};
use crate::rigid::{Inertia, Motion};
use crate::world::{
    BodyId, ColliderOwner, Continuity, Counters, Epoch, Event, JointId, Status, WorkEntry, World,
};
use glam::{DMat3, DVec3};

/// A world during a step.
///
/// A step is a transaction. [`begin`](Self::begin) validates the step length, clears the events of the last step and reports
/// what has happened to the world since the simulator's own last step; it moves the multibodies to the end of the step, and their
/// links become kinematic bodies on their way there. The simulator then gathers loads, writes new
/// states of the dynamic bodies, reports events and posts work to the energy ledger. [`finish`](Self::finish)
/// moves the kinematic bodies along their paths, advances the clock, lists the bodies that moved, quarantines bodies whose
/// state is not finite, enforces the bounds of the world and removes broken joints. A context that is dropped before puts
/// the dynamic bodies back: a step that fails leaves the world as it was.
///
/// The built-in simulators use nothing else to change a world, so a simulator outside this crate can do all they do.
///
/// A simulator that moves bodies by symplectic Euler:
///
/// ```
/// use rattleback_dynamics::force::ForceAccumulator;
/// use rattleback_dynamics::registry::Description;
/// use rattleback_dynamics::simulator::{Capabilities, Feature, StepContext};
/// use rattleback_dynamics::{Body, Epoch, Error, Properties, Simulator, World};
/// use rattleback_geometry::Shape;
///
/// #[derive(Debug, Default)]
/// struct SymplecticEuler {
///     loads: ForceAccumulator,
///     epoch: Epoch,
/// }
///
/// impl Simulator for SymplecticEuler {
///     fn description(&self) -> Description {
///         Description { type_name: "symplectic-euler".into(), properties: Properties::new() }
///     }
///
///     fn capabilities(&self) -> Capabilities {
///         Capabilities::of(&[Feature::KinematicBodies])
///     }
///
///     fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
///         let mut step = StepContext::begin(world, &self.epoch, dt)?;
///         step.require("symplectic-euler", self.capabilities())?;
///         step.gather_loads(step.start(), &mut self.loads);
///         let g = self.loads.uniform_acceleration();
///         let (states, inertias) = step.dynamic_mut();
///         for (index, (state, inertia)) in states.iter_mut().zip(inertias).enumerate() {
///             state.v += (g + self.loads.wrench(index).force * inertia.inverse_mass) * dt;
///             state.x += state.v * dt;
///         }
///         self.epoch = step.finish();
///         Ok(())
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1)?))?;
/// let mut simulator = SymplecticEuler::default();
/// for _ in 0..100 {
///     simulator.step(&mut world, 0.01)?;
/// }
/// assert!((world.body(ball)?.velocity().z + 9.81).abs() < 1e-9 && (world.time() - 1.0).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct StepContext<'w> {
    world: &'w mut World,
    own: Epoch,
    continuity: Continuity,
    start: f64,
    dt: f64,
    /// Whether the world holds a copy of the states at the start.
    saved: bool,
    /// Whether the bodies that moved are listed as they move.
    listed: bool,
    phase: Phase,
    quarantined: Vec<BodyId>,
    broken: Vec<JointId>,
}

/// How far a step has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Parts are not all at the end of the step.
    Beginning,
    /// Multibodies and parts are at its end, bodies on their way.
    Running,
    /// The clock is at its end.
    Ended,
}

impl std::ops::Deref for StepContext<'_> {
    type Target = World;

    fn deref(&self) -> &World {
        self.world
    }
}

impl Drop for StepContext<'_> {
    fn drop(&mut self) {
        if self.phase == Phase::Ended {
            return;
        }
        if self.saved {
            self.world.restore_initial_states();
        }
        self.world.roll_back_multibodies();
        if self.phase == Phase::Running {
            self.world.roll_back_parts();
        }
    }
}

impl<'w> StepContext<'w> {
    /// (world, what [`finish`](Self::finish) returned in this simulator's last step, step length in s) ⇒ a step.
    ///
    /// # Errors
    /// If `dt` is not finite and positive, or a multibody or a part cannot be moved.
    pub fn begin(world: &'w mut World, own: &Epoch, dt: f64) -> Result<Self, Error> {
        if !(dt.is_finite() && dt > 0.0) {
            let value = dt.to_string();
            return Err(Error::Parameter { what: "time step", allowed: "finite and > 0", value });
        }
        let continuity = world.begin_step(own);
        let start = world.time();
        world.begin_multibodies(start, dt)?;
        let (quarantined, broken) = (Vec::new(), Vec::new());
        let own = *own;
        let (saved, listed, phase) = (false, false, Phase::Beginning);
        let mut step = Self { world, own, continuity, start, dt, saved, listed, phase, quarantined, broken };
        step.advance_parts()?;
        step.phase = Phase::Running;
        Ok(step)
    }

    /// Refuses a world with joints, one-way shapes or locked rotations that the simulator cannot handle.
    ///
    /// # Errors
    /// [`Error::Unsupported`], naming what the world has and the simulator has not.
    pub fn require(&self, simulator: &'static str, capabilities: Capabilities) -> Result<(), Error> {
        let refuse = |what, instead| Err(Error::Unsupported { simulator, what, instead });
        if !capabilities.has(Feature::Joints) && self.joint_count() > 0 {
            return refuse("joints", "use `realtime` or `constraint`, or take the joints out");
        }
        let one_way = || self.iter_shapes().any(|(_, shape)| shape.one_way.is_some());
        if capabilities.has(Feature::Contacts) && !capabilities.has(Feature::OneWayShapes) && one_way() {
            return refuse("shapes with `one_way`", "use `realtime`, or take `one_way` out");
        }
        let locked = || self.iter_bodies().any(|body| body.is_rotation_locked());
        if !capabilities.has(Feature::LockedRotations) && locked() {
            let instead = "use another simulator, or let the body turn";
            return refuse("bodies whose rotations are locked", instead);
        }
        Ok(())
    }

    /// What has happened to the world since the simulator's own last step.
    pub const fn continuity(&self) -> Continuity {
        self.continuity
    }

    /// Time at the start of the step, s.
    pub const fn start(&self) -> f64 {
        self.start
    }

    /// Length of the step, s.
    pub const fn dt(&self) -> f64 {
        self.dt
    }

    /// Time at the end of the step, s.
    pub fn end_time(&self) -> f64 {
        self.start + self.dt
    }

    /// Sums the forces at time t on the dynamic bodies in their present states.
    pub fn gather_loads(&mut self, t: f64, loads: &mut ForceAccumulator) {
        self.world.gather_loads(t, loads);
    }

    /// States of the dynamic bodies, to be changed, and their inertias, in the order of
    /// [`Bodies::ids`](crate::world::Bodies::ids).
    pub fn dynamic_mut(&mut self) -> (&mut [Motion], &[Inertia]) {
        self.world_mut().bodies_mut().dynamic_mut()
    }

    /// States of the dynamic bodies at the start of the step.
    pub fn initial_states(&self) -> &[Motion] {
        if self.saved { self.world.initial_states() } else { self.world.bodies().motion(Status::Dynamic) }
    }

    /// Applies an impulse, N s, to a body, a link or an element at a point in the world. Simulators of bodies see it as a change from
    /// outside; it is undone with the step.
    ///
    /// # Errors
    /// No such owner, one that does not respond to impulses, or numbers that are not finite.
    pub fn apply_impulse(&mut self, owner: ColliderOwner, point: DVec3, impulse: DVec3) -> Result<(), Error> {
        self.world_mut().apply_impulse_within_step(owner, point, impulse)
    }

    /// A collision of two owners at a point, by an impact law: normal from the first to the second ⇒ what happened, with the impulse
    /// on the second in the contact frame. The first may be a link and the second a body, or any other two.
    ///
    /// # Errors
    /// As [`apply_impulse`](Self::apply_impulse), or a collision that cannot be resolved; then nothing changes.
    pub fn collide(
        &mut self,
        owners: [ColliderOwner; 2],
        point: DVec3,
        normal: DVec3,
        settings: &CollisionSettings,
    ) -> Result<Outcome, Error> {
        let world = self.world_mut();
        let mut velocities = [DVec3::ZERO; 2];
        let mut k = DMat3::ZERO;
        for (owner, velocity) in owners.into_iter().zip(&mut velocities) {
            *velocity = world.velocity_at(owner, point)?;
            k += world.inverse_mass_at(owner, point)?;
        }
        let (collision, frame) = Collision::new(k, velocities[1] - velocities[0], normal)?;
        let outcome = resolve_passive(&collision, settings)?;
        let impulse = frame * outcome.impulse;
        world.apply_impulse_within_step(owners[0], point, -impulse)?;
        world.apply_impulse_within_step(owners[1], point, impulse)?;
        Ok(outcome)
    }

    /// Adds an event; the order is kept.
    pub fn report(&mut self, event: Event) {
        self.world.report(&mut vec![event]);
    }

    /// Adds work to the energy ledger, if the world keeps one.
    pub fn add_work(&mut self, entry: WorkEntry) {
        self.world.add_work(entry);
    }

    /// Counters of the step.
    pub const fn counters_mut(&mut self) -> &mut Counters {
        self.world.counters_mut()
    }

    /// Disables a dynamic body at the end of the step, in its state at the start, with an event: its state or its loads
    /// are not finite.
    pub fn quarantine(&mut self, body: BodyId) {
        if let Some((Status::Dynamic, index)) = self.world.bodies().locate(body) {
            let initial = self.initial_states()[index];
            self.dynamic_mut().0[index] = initial;
            self.quarantined.push(body);
        }
    }

    /// Removes a joint at the end of the step, with an event: its reaction exceeds its break thresholds.
    pub fn break_joint(&mut self, joint: JointId) {
        self.broken.push(joint);
    }

    /// Moves the kinematic bodies and the clock to the end of the step. Afterwards the world is read at its end; broken
    /// joints can still be named.
    pub fn end(&mut self) {
        if self.phase == Phase::Ended {
            return;
        }
        self.phase = Phase::Ended;
        let time = self.end_time();
        self.world.end_step(time, self.saved && !self.listed);
        let world = &mut *self.world;
        let index_of = |id: &BodyId| match world.bodies().locate(*id) {
            Some((Status::Dynamic, index)) => Some(index),
            _ => None,
        };
        let mut indices: Vec<usize> = self.quarantined.iter().filter_map(index_of).collect();
        world.quarantine(&mut indices, time);
        world.follow_joints();
    }

    /// Ends the step ⇒ the epoch to begin the next step with.
    pub fn finish(self) -> Epoch {
        self.finish_with(|_| Vec::new())
    }

    /// The same for a simulator with [`Feature::ContactForceEvents`]: pairs of shapes whose normal force exceeds a
    /// [threshold](World::set_contact_force_threshold) become events. `contacts` gives the contact points in the world at the
    /// end of the step, and is called only if there is a threshold.
    pub fn finish_with(mut self, contacts: impl FnOnce(&World) -> Vec<ContactPoint>) -> Epoch {
        self.end();
        let time = self.world.time();
        for joint in std::mem::take(&mut self.broken) {
            self.world.break_joint(joint, time);
        }
        self.world.take_sleep_requests();
        let epoch = self.world.sign_step(&self.own);
        if self.world.has_contact_force_thresholds() {
            let contacts = contacts(self.world);
            self.world.report_contact_forces(&contacts);
        }
        epoch
    }

    /// The world, to be changed by the solver of a built-in simulator.
    pub(crate) fn world_mut(&mut self) -> &mut World {
        if !self.saved {
            self.world.save_initial_states();
            self.saved = true;
        }
        self.world
    }

    /// The world, without a copy of the states of the dynamic bodies: these must not be changed.
    pub(crate) const fn unsaved_world_mut(&mut self) -> &mut World {
        self.world
    }

    /// The world, for an integrator that moves the bodies by [`World::move_in_blocks`], which lists what moved.
    pub(crate) const fn world_in_blocks(&mut self) -> &mut World {
        self.listed = true;
        self.world
    }

    /// Puts the dynamic bodies back and disables some of them, by index, at once: the step can be tried again.
    pub(crate) fn retry_without(&mut self, indices: &mut Vec<usize>) {
        if std::mem::take(&mut self.saved) {
            self.world.restore_initial_states();
        }
        self.world.quarantine(indices, self.start);
    }
}
