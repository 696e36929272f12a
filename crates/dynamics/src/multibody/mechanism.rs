//! A tree of links with everything in its joints, constraints on top of it, and a state: what a simulation steps.

use super::DynamicsError;
use super::constrained::Dynamics;
use super::constraint::{Coupling, LoopClosure};
use super::element::{Actuator, Element, Friction, Limit, LimitHit, Servo};
use super::integration::{LinkForces, Method, Stepper};
use super::kinematics::{Workspace, forward_velocities};
use super::linear::Vector;
use super::momentum::{center_of_mass, kinetic_energy, momentum, potential_energy};
use super::tree::LinkTree;
use glam::DVec3;
use std::sync::Arc;

/// Error of an equation above which it counts as violated, m or rad.
const CLOSURE_TOLERANCE: f64 = 1e-9;

/// Why a mechanism could not be built or assembled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// There is no such velocity.
    #[error("{what}: there is no velocity {axis}; the tree has {count}")]
    UnknownAxis {
        /// Which element.
        what: String,
        /// Place asked for.
        axis: usize,
        /// How many there are.
        count: usize,
    },
    /// The velocity belongs to a quaternion, which has no scalar position.
    #[error("{what}: the joint of link `{link}` has no single position to limit or couple")]
    NoPosition {
        /// Which element.
        what: String,
        /// Name of the link.
        link: String,
    },
    /// A number is not what it must be.
    #[error("{what}: {number} must be {allowed}")]
    Parameter {
        /// Which element.
        what: String,
        /// Which number.
        number: &'static str,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Constraints cannot hold at once.
    #[error("the constraint `{constraint}` contradicts those before it: {error:.3e} m or rad are left")]
    Contradictory {
        /// Name of the first constraint that the ones before it do not allow.
        constraint: String,
        /// Largest error that is left, m or rad.
        error: f64,
    },
    /// An algorithm failed.
    #[error(transparent)]
    Dynamics(#[from] DynamicsError),
}

/// A constraint of which equations follow from those before it: no harm, but the split of its forces is a choice (the smallest).
#[derive(Clone, Debug, PartialEq)]
pub struct Redundancy {
    /// Name of the constraint.
    pub constraint: String,
    /// How many of its equations follow from others.
    pub redundant: usize,
    /// How many equations it has.
    pub equations: usize,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Changes of contact with limits and of stick and slip.
    pub events: u32,
    /// Evaluations of the accelerations.
    pub evaluations: u64,
    /// Largest error of a coupling or loop at the end, m or rad.
    pub closure_error: f64,
}

/// What was added to the joints and links of a mechanism, for reading.
#[derive(Clone, Copy, Debug)]
pub struct MechanismParts<'a> {
    /// Springs, dampers and hard springs.
    pub elements: &'a [Element],
    /// Dry friction.
    pub frictions: &'a [Friction],
    /// Equations between joint positions.
    pub couplings: &'a [Coupling],
    /// Connections between links.
    pub loops: &'a [LoopClosure],
}

/// Energy, momentum and power of a mechanism at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MechanismReadout {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass in the world, m.
    pub center: DVec3,
    /// Kinetic energy, J, that of the armatures included.
    pub kinetic_energy: f64,
    /// Energy of the springs in the joints, J.
    pub spring_energy: f64,
    /// Momentum, kg·m/s.
    pub momentum: DVec3,
    /// Angular momentum about the origin of the world, kg·m²/s.
    pub angular_momentum: DVec3,
    /// Power of joint forces from outside, actuators and servos, W.
    pub driving_power: f64,
    /// Power of dampers, W.
    pub damping_power: f64,
}

impl MechanismReadout {
    /// Gravity, m/s² ⇒ potential energy of gravity and springs, J; that of gravity is 0 at the origin of the world.
    pub fn potential_energy(&self, gravity: DVec3) -> f64 {
        self.spring_energy - self.mass * gravity.dot(self.center)
    }
}

/// An articulated body with its state.
#[derive(Clone, Debug)]
pub struct Mechanism {
    pub(super) tree: Arc<LinkTree>,
    pub(super) dynamics: Dynamics,
    pub(super) stepper: Stepper,
    pub(super) method: Method,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) a: Vec<f64>,
    pub(super) start_q: Vec<f64>,
    pub(super) start_v: Vec<f64>,
    pub(super) first_q: Vec<f64>,
    pub(super) first_v: Vec<f64>,
    pub(super) time: f64,
    pub(super) outcome: Result<StepReport, DynamicsError>,
    observed: Workspace<f64>,
}

impl Mechanism {
    /// A tree at rest in its reference position, under gravity −9.81 m/s² along z, moved by [`Method::Gauss`].
    pub fn new(tree: LinkTree) -> Self {
        let tree = Arc::new(tree);
        let (n, q) = (tree.velocity_count(), tree.neutral());
        let stepper = Stepper::Gauss(super::Collocation::new(&tree));
        Self {
            dynamics: Dynamics::new(Arc::clone(&tree)),
            stepper,
            method: Method::Gauss,
            v: vec![0.0; n],
            a: vec![0.0; n],
            start_q: q.clone(),
            start_v: vec![0.0; n],
            first_q: q.clone(),
            first_v: vec![0.0; n],
            q,
            time: 0.0,
            outcome: Ok(StepReport::default()),
            observed: Workspace::new(&tree),
            tree,
        }
    }

    /// The tree.
    pub fn tree(&self) -> &LinkTree {
        &self.tree
    }

    /// Joint positions.
    pub fn positions(&self) -> &[f64] {
        &self.q
    }

    /// Joint velocities.
    pub fn velocities(&self) -> &[f64] {
        &self.v
    }

    /// Time since the beginning, s.
    pub const fn time(&self) -> f64 {
        self.time
    }

    /// What the last step of [`step_all`](super::step_all) answered.
    pub const fn outcome(&self) -> &Result<StepReport, DynamicsError> {
        &self.outcome
    }

    /// Replaces the state. With loops or couplings, [`assemble`](Self::assemble) puts it on them.
    ///
    /// # Errors
    /// Slices that do not have the length the tree needs, or numbers that are not finite.
    pub fn set_state(&mut self, q: &[f64], v: &[f64]) -> Result<(), MechanismError> {
        super::check_length("positions", q.len(), self.q.len())?;
        super::check_length("velocities", v.len(), self.v.len())?;
        if !q.iter().chain(v).all(|x| x.is_finite()) {
            return Err(refuse("the state", "every number", "finite"));
        }
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        self.tree.normalize(&mut self.q);
        self.restart();
        Ok(())
    }

    fn restart(&mut self) {
        if let Stepper::Gauss(method) = &mut self.stepper {
            method.restart();
        }
    }

    /// Replaces gravity, m/s².
    pub fn set_gravity(&mut self, gravity: DVec3) {
        self.dynamics.gravity = gravity;
        self.restart();
    }

    /// Joint forces from outside that act until they are replaced, N·m or N.
    pub fn forces_mut(&mut self) -> &mut [f64] {
        self.restart();
        &mut self.dynamics.forces
    }

    /// Commands of the actuators, in the order in which they were added, that act until they are replaced.
    pub fn commands_mut(&mut self) -> &mut [f64] {
        self.restart();
        &mut self.dynamics.commands
    }

    /// Chooses how it is moved through time.
    ///
    /// # Errors
    /// A name that the library does not have, or a tolerance that is not above 0.
    pub fn set_method(&mut self, method: &Method) -> Result<(), MechanismError> {
        if let Method::AdaptiveRungeKutta4 { tolerance } = method
            && !(*tolerance > 0.0 && tolerance.is_finite())
        {
            return Err(refuse("the method", "its tolerance", "finite and above 0"));
        }
        self.stepper = Stepper::new(method, &self.tree)
            .ok_or_else(|| refuse("the method", "its name", "that of an integrator of the library"))?;
        self.method = method.clone();
        Ok(())
    }

    /// How it is moved through time.
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Speed below which a joint that hits its limit does not bounce, rad/s or m/s; 1e-4.
    pub fn set_rest_speed(&mut self, speed: f64) {
        self.dynamics.rest_speed = speed.max(0.0);
    }

    fn check_axis(&self, what: &str, axis: usize) -> Result<(), MechanismError> {
        let count = self.tree.velocity_count();
        if axis < count {
            return Ok(());
        }
        Err(MechanismError::UnknownAxis { what: what.to_owned(), axis, count })
    }

    fn check_position(&self, what: &str, axis: usize) -> Result<(), MechanismError> {
        self.check_axis(what, axis)?;
        if self.tree.position_of_velocity(axis).is_some() {
            return Ok(());
        }
        let link = self.tree.link_of_velocity(axis).map(|link| self.tree.links()[link].name.clone());
        Err(MechanismError::NoPosition { what: what.to_owned(), link: link.unwrap_or_default() })
    }

    /// Adds a spring, damper or hard spring.
    ///
    /// # Errors
    /// An axis that does not exist, or numbers that are not finite.
    pub fn add_element(&mut self, element: Element) -> Result<(), MechanismError> {
        self.check_axis("an element", element.axis())?;
        if !element.is_finite() {
            return Err(refuse("an element", "every number", "finite"));
        }
        self.dynamics.elements.list.push(element);
        self.restart();
        Ok(())
    }

    /// Adds dry friction.
    ///
    /// # Errors
    /// An axis that does not exist, or a force that is negative or not finite.
    pub fn add_friction(&mut self, friction: Friction) -> Result<(), MechanismError> {
        self.check_axis("friction", friction.axis)?;
        if !(friction.force >= 0.0 && friction.force.is_finite()) {
            return Err(refuse("friction", "its force", "finite and at least 0"));
        }
        self.dynamics.frictions.push(friction);
        self.dynamics.make_room();
        self.restart();
        Ok(())
    }

    /// Adds limits of a position.
    ///
    /// # Errors
    /// An axis that does not exist or has no scalar position, a range that is empty or no number, a restitution out of 0 to 1.
    pub fn add_limit(&mut self, limit: Limit) -> Result<(), MechanismError> {
        self.check_position("a limit", limit.axis)?;
        if limit.range[0].is_nan() || limit.range[1].is_nan() || limit.range[0] > limit.range[1] {
            return Err(refuse("a limit", "its range", "from the lower to the higher position"));
        }
        if !(0.0..=1.0).contains(&limit.restitution) {
            return Err(refuse("a limit", "its restitution", "between 0 and 1"));
        }
        self.dynamics.limits.push(limit);
        self.dynamics.make_room();
        self.restart();
        Ok(())
    }

    /// Adds an actuator.
    ///
    /// # Errors
    /// An axis that does not exist, a gear that is not finite, a range that is empty or no number.
    pub fn add_actuator(&mut self, actuator: Actuator) -> Result<(), MechanismError> {
        self.check_axis("an actuator", actuator.axis)?;
        if !actuator.gear.is_finite() {
            return Err(refuse("an actuator", "its gear", "finite"));
        }
        if actuator.range[0].is_nan() || actuator.range[1].is_nan() || actuator.range[0] > actuator.range[1] {
            return Err(refuse("an actuator", "its range", "from the lower to the higher command"));
        }
        self.dynamics.actuators.push(actuator);
        self.dynamics.make_room();
        Ok(())
    }

    /// Adds a motor that follows a position and a velocity.
    ///
    /// # Errors
    /// An axis that does not exist or has no scalar position, or numbers out of range.
    pub fn add_servo(&mut self, servo: Servo) -> Result<(), MechanismError> {
        self.check_servo(&servo)?;
        self.dynamics.servos.push(servo);
        self.restart();
        Ok(())
    }

    fn check_servo(&self, servo: &Servo) -> Result<(), MechanismError> {
        self.check_position("a servo", servo.axis)?;
        servo.fault().map_or(Ok(()), |(number, allowed)| Err(refuse("a servo", number, allowed)))
    }

    /// Motors that follow positions and velocities, in the order in which they were added.
    pub fn servos(&self) -> &[Servo] {
        &self.dynamics.servos
    }

    /// Replaces a servo by its place in [`servos`](Self::servos).
    ///
    /// # Errors
    /// No such servo, or what [`add_servo`](Self::add_servo) refuses.
    pub fn set_servo(&mut self, place: usize, servo: Servo) -> Result<(), MechanismError> {
        self.check_servo(&servo)?;
        let own = self.dynamics.servos.get_mut(place);
        *own.ok_or_else(|| refuse("a servo", "its place", "that of a servo of the mechanism"))? = servo;
        self.restart();
        Ok(())
    }

    /// Springs and dampers, dry friction, couplings and loops, in the order in which they were added.
    pub fn parts(&self) -> MechanismParts<'_> {
        let Dynamics { elements, frictions, couplings, loops, .. } = &self.dynamics;
        MechanismParts { elements: &elements.list, frictions, couplings, loops }
    }

    /// Limits of positions, in the order in which they were added.
    pub fn limits(&self) -> &[Limit] {
        &self.dynamics.limits
    }

    /// Actuators, in the order in which they were added.
    pub fn actuators(&self) -> &[Actuator] {
        &self.dynamics.actuators
    }

    /// Joint forces from outside, N·m or N.
    pub fn forces(&self) -> &[f64] {
        &self.dynamics.forces
    }

    /// Commands of the actuators.
    pub fn commands(&self) -> &[f64] {
        &self.dynamics.commands
    }

    /// Gravity, m/s².
    pub const fn gravity(&self) -> DVec3 {
        self.dynamics.gravity
    }

    /// Whether couplings or loops bind the joints.
    pub fn has_constraints(&self) -> bool {
        self.dynamics.equation_count() > 0
    }

    /// Whether anything acts that takes energy at once: limits, dry friction, or the projection onto couplings and loops.
    pub fn has_dry_parts(&self) -> bool {
        self.dynamics.has_events() || self.has_constraints()
    }

    /// Whether joint forces from outside, commands or servos may add energy.
    pub fn is_driven(&self) -> bool {
        self.dynamics.is_driven()
    }

    /// Adds an equation between joint positions. [`assemble`](Self::assemble) puts the state on it.
    ///
    /// # Errors
    /// An axis that does not exist or has no scalar position, or numbers that are not finite.
    pub fn add_coupling(&mut self, coupling: Coupling) -> Result<(), MechanismError> {
        let what = format!("coupling `{}`", coupling.name);
        for (axis, factor) in &coupling.terms {
            self.check_position(&what, *axis)?;
            if !factor.is_finite() {
                return Err(refuse(&what, "every factor", "finite"));
            }
        }
        if !coupling.offset.is_finite() {
            return Err(refuse(&what, "its offset", "finite"));
        }
        self.dynamics.couplings.push(coupling);
        self.dynamics.make_room();
        self.restart();
        Ok(())
    }

    /// Adds a connection between two links. [`assemble`](Self::assemble) puts the state on it.
    ///
    /// # Errors
    /// A link that does not exist, numbers that are not finite, rotations that are not unit quaternions.
    pub fn add_loop(&mut self, closure: LoopClosure) -> Result<(), MechanismError> {
        let what = format!("loop `{}`", closure.name);
        for link in closure.links.into_iter().flatten() {
            super::check_link(&self.tree, link)?;
        }
        let unit = |rotation: &glam::DQuat| (rotation.length() - 1.0).abs() < 1e-9;
        if !closure.points.iter().all(|point| point.is_finite()) || !closure.rotations.iter().all(unit) {
            return Err(refuse(&what, "its frames", "finite points and unit quaternions"));
        }
        if let super::LoopKind::Distance(length) = closure.kind
            && !(length > 0.0 && length.is_finite())
        {
            return Err(refuse(&what, "its distance", "finite and above 0"));
        }
        self.dynamics.loops.push(closure);
        self.dynamics.make_room();
        self.restart();
        Ok(())
    }

    /// Moves positions and velocities onto all couplings and loops, and finds the redundant ones among them.
    ///
    /// # Errors
    /// [`MechanismError::Contradictory`] names the first constraint that those before it do not allow; the state is then as it was.
    pub fn assemble(&mut self) -> Result<Vec<Redundancy>, MechanismError> {
        self.first_q.copy_from_slice(&self.q);
        self.first_v.copy_from_slice(&self.v);
        let error = self.close()?;
        if error > CLOSURE_TOLERANCE {
            let found = self.contradiction(error)?;
            self.q.copy_from_slice(&self.first_q);
            self.v.copy_from_slice(&self.first_v);
            return Err(found);
        }
        self.dynamics.linearize(&self.q, &self.v, &mut self.a)?;
        let dependent = self.dynamics.dependent_equations();
        self.restart();
        let (mut found, mut first) = (Vec::new(), 0);
        for (name, equations) in self.constraints() {
            let redundant = dependent.iter().filter(|row| (first..first + equations).contains(*row)).count();
            if redundant > 0 {
                found.push(Redundancy { constraint: name, redundant, equations });
            }
            first += equations;
        }
        Ok(found)
    }

    /// Names and numbers of equations, couplings first.
    fn constraints(&self) -> Vec<(String, usize)> {
        let couplings = self.dynamics.couplings.iter().map(|coupling| (coupling.name.clone(), 1));
        let loops = self.dynamics.loops.iter().map(|closure| (closure.name.clone(), closure.row_count()));
        couplings.chain(loops).collect()
    }

    /// Newton's method on all equations ⇒ error that is left.
    fn close(&mut self) -> Result<f64, MechanismError> {
        self.dynamics.release_all();
        let error = self.dynamics.project(&mut self.q, &mut self.v, &mut self.a, 100)?;
        let right = |closure: &LoopClosure| closure.points_the_right_way(&self.tree, &self.dynamics.work);
        let turned = self.dynamics.loops.iter().all(right);
        Ok(if turned { error } else { f64::INFINITY })
    }

    /// Adds constraints one by one until they cannot hold.
    fn contradiction(&mut self, error: f64) -> Result<MechanismError, MechanismError> {
        let (couplings, loops) = (self.dynamics.couplings.clone(), self.dynamics.loops.clone());
        let names = self.constraints();
        let mut found = None;
        for count in 1..=names.len() {
            self.dynamics.couplings = couplings[..count.min(couplings.len())].to_vec();
            self.dynamics.loops = loops[..count.saturating_sub(couplings.len())].to_vec();
            self.q.copy_from_slice(&self.first_q);
            self.v.copy_from_slice(&self.first_v);
            let left = self.close()?;
            if left > CLOSURE_TOLERANCE {
                found = Some((names[count - 1].0.clone(), left));
                break;
            }
        }
        (self.dynamics.couplings, self.dynamics.loops) = (couplings, loops);
        let last = names.last().map(|(name, _)| name.clone()).unwrap_or_default();
        let (constraint, error) = found.unwrap_or((last, error));
        Ok(MechanismError::Contradictory { constraint, error })
    }

    /// Joint accelerations at the present state.
    ///
    /// # Errors
    /// What forward dynamics refuses.
    pub fn accelerations(&mut self) -> Result<&[f64], DynamicsError> {
        self.dynamics.decide_modes(&self.q, &self.v, &mut self.a)?;
        self.dynamics.accelerate(&self.q, &self.v, &mut self.a)?;
        Ok(&self.a)
    }

    /// Forces of couplings and loops, equation by equation, after [`accelerations`](Self::accelerations).
    pub fn constraint_forces(&self) -> &[f64] {
        self.dynamics.multipliers()
    }

    /// Limits that joints reached with speed in the last step, in the order of time.
    pub fn limit_hits(&self) -> &[LimitHit] {
        &self.dynamics.hits
    }

    /// Evaluates forces on the links at the present state, for [`accelerations`](Self::accelerations) ⇒ their power, W.
    pub fn load_links(&mut self, forces: &mut LinkForces<'_>) -> f64 {
        self.dynamics.load_links((&self.q, &self.v), self.time, forces);
        let Dynamics { work, external, .. } = &self.dynamics;
        external.iter().enumerate().map(|(link, force)| work.velocity(link).power(*force)).sum()
    }

    /// No force acts on the links any more.
    pub fn unload_links(&mut self) {
        self.dynamics.external.clear();
    }

    /// Whether dry friction holds a joint.
    pub fn sticks(&self, axis: usize) -> bool {
        self.dynamics.sticks(axis)
    }

    /// Places and velocities of the links at the present state.
    pub fn observe(&mut self) -> &Workspace<f64> {
        forward_velocities(&self.tree, &mut self.observed, &self.q, &self.v);
        &self.observed
    }

    /// Energy, momentum and power at the present state; the links are [observed](Self::observe) with it.
    pub fn readout(&mut self) -> MechanismReadout {
        forward_velocities(&self.tree, &mut self.observed, &self.q, &self.v);
        let (mass, center) = center_of_mass(&self.tree, &self.observed);
        let momentum = momentum(&self.tree, &self.observed, Vector::default());
        let [driving_power, damping_power] = self.dynamics.powers(&self.q, &self.v);
        MechanismReadout {
            mass,
            center: center.lane(0),
            kinetic_energy: kinetic_energy(&self.tree, &self.observed, &self.v),
            spring_energy: self.dynamics.elements.energy(&self.tree, &self.q),
            momentum: momentum.force.lane(0),
            angular_momentum: momentum.torque.lane(0),
            driving_power,
            damping_power,
        }
    }

    /// Places and velocities of the links when they were observed last.
    pub const fn observed(&self) -> &Workspace<f64> {
        &self.observed
    }

    /// Kinetic energy, and that of gravity and springs, J.
    pub fn energy(&mut self) -> (f64, f64) {
        forward_velocities(&self.tree, &mut self.observed, &self.q, &self.v);
        let kinetic = kinetic_energy(&self.tree, &self.observed, &self.v);
        let potential = potential_energy(&self.tree, &self.observed, self.dynamics.gravity);
        (kinetic, potential + self.dynamics.elements.energy(&self.tree, &self.q))
    }
}

fn refuse(what: &str, number: &'static str, allowed: &'static str) -> MechanismError {
    MechanismError::Parameter { what: what.to_owned(), number, allowed }
}
