//! Mechanisms as data: what a snapshot stores of them, and the part that changes in a step.
//!
//! Of a mechanism that [`Method::Gauss`] moves, the next step depends on positions, velocities, time and the accelerations of the last step, from
//! which the iteration starts: the last bits of the result depend on the start. Of the adaptive method it depends on the length of its next
//! sub-step. Methods of the library have no memory. Modes of limits and friction follow from the state.

use super::constraint::{Coupling, LoopClosure};
use super::element::{Actuator, Element, Friction, Limit, Servo};
use super::integration::{Method, Stepper};
use super::joint::from_name;
use super::mechanism::{Mechanism, MechanismError};
use super::tree::{Link, LinkTree, TreeError};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// What a step changes in a mechanism.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MechanismState {
    /// Joint positions.
    pub q: Vec<f64>,
    /// Joint velocities.
    pub v: Vec<f64>,
    /// Time since the beginning, s.
    pub time: f64,
    /// Accelerations at the nodes of the last step; empty for methods without such.
    stages: [Vec<f64>; 3],
    /// Length of the step from which they are, or of the next sub-step of an adaptive method, s; 0 for none.
    last: f64,
}

/// A link as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LinkImage {
    name: String,
    parent: Option<usize>,
    joint: String,
    parameters: Vec<f64>,
    joint_rotation: DQuat,
    joint_position: DVec3,
    mass: f64,
    center_of_mass: DVec3,
    inertia: DMat3,
    armature: f64,
}

/// A mechanism as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MechanismImage {
    links: Vec<LinkImage>,
    gravity: DVec3,
    elements: Vec<Element>,
    frictions: Vec<Friction>,
    limits: Vec<Limit>,
    actuators: Vec<Actuator>,
    servos: Vec<Servo>,
    couplings: Vec<Coupling>,
    loops: Vec<LoopClosure>,
    forces: Vec<f64>,
    commands: Vec<f64>,
    rest_speed: f64,
    method: Method,
    state: MechanismState,
}

/// Why data is no mechanism.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// A joint is of a kind that this crate does not have.
    #[error("link `{link}`: a joint of kind `{kind}` cannot be written or read")]
    Joint {
        /// Name of the link.
        link: String,
        /// Kind of its joint.
        kind: String,
    },
    /// The links do not form a tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Something in the joints was refused.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

impl MechanismImage {
    /// Mechanism ⇒ data.
    ///
    /// # Errors
    /// A joint of a kind from outside this crate.
    pub fn of(mechanism: &Mechanism) -> Result<Self, ImageError> {
        let links = mechanism.tree().links().iter().map(LinkImage::of).collect::<Result<_, _>>()?;
        let dynamics = &mechanism.dynamics;
        let mut state = MechanismState::default();
        mechanism.save_to(&mut state);
        Ok(Self {
            links,
            gravity: dynamics.gravity,
            elements: dynamics.elements.list.clone(),
            frictions: dynamics.frictions.clone(),
            limits: dynamics.limits.clone(),
            actuators: dynamics.actuators.clone(),
            servos: dynamics.servos.clone(),
            couplings: dynamics.couplings.clone(),
            loops: dynamics.loops.clone(),
            forces: dynamics.forces.clone(),
            commands: dynamics.commands.clone(),
            rest_speed: dynamics.rest_speed,
            method: mechanism.method.clone(),
            state,
        })
    }

    /// Data ⇒ mechanism. Everything is checked as when it is built by hand.
    ///
    /// # Errors
    /// An unknown kind of joint, links that are no tree, or numbers that a mechanism refuses.
    pub fn build(self) -> Result<Mechanism, ImageError> {
        let links = self.links.into_iter().map(LinkImage::build).collect::<Result<_, _>>()?;
        let mut mechanism = Mechanism::new(LinkTree::new(links)?);
        mechanism.set_method(&self.method)?;
        mechanism.set_rest_speed(self.rest_speed);
        if !self.gravity.is_finite() || !self.forces.iter().chain(&self.commands).all(|x| x.is_finite()) {
            return Err(refuse("the mechanism", "gravity, forces and commands", "finite").into());
        }
        mechanism.set_gravity(self.gravity);
        for element in self.elements {
            mechanism.add_element(element)?;
        }
        for friction in self.frictions {
            mechanism.add_friction(friction)?;
        }
        for limit in self.limits {
            mechanism.add_limit(limit)?;
        }
        for actuator in self.actuators {
            mechanism.add_actuator(actuator)?;
        }
        for servo in self.servos {
            mechanism.add_servo(servo)?;
        }
        for coupling in self.couplings {
            mechanism.add_coupling(coupling)?;
        }
        for closure in self.loops {
            mechanism.add_loop(closure)?;
        }
        let lengths = [
            ("joint forces", self.forces.len(), mechanism.v.len()),
            ("commands", self.commands.len(), mechanism.actuators().len()),
        ];
        for (what, found, expected) in lengths {
            super::check_length(what, found, expected).map_err(MechanismError::from)?;
        }
        mechanism.forces_mut().copy_from_slice(&self.forces);
        mechanism.commands_mut().copy_from_slice(&self.commands);
        // Checks the lengths and the numbers; the state is then put in as it is, to the last bit.
        mechanism.set_state(&self.state.q, &self.state.v)?;
        let fits = self.state.stages.iter().all(|stage| stage.is_empty() || stage.len() == mechanism.v.len());
        if !(fits && self.state.time.is_finite() && self.state.last.is_finite()) {
            return Err(refuse("the mechanism", "its history", "that of its joints").into());
        }
        mechanism.load_from(&self.state);
        Ok(mechanism)
    }
}

fn refuse(what: &str, number: &'static str, allowed: &'static str) -> MechanismError {
    MechanismError::Parameter { what: what.to_owned(), number, allowed }
}

impl LinkImage {
    fn of(link: &Link) -> Result<Self, ImageError> {
        let kind = link.joint.name();
        let parameters = link
            .joint
            .parameters()
            .ok_or_else(|| ImageError::Joint { link: link.name.clone(), kind: kind.to_owned() })?;
        Ok(Self {
            name: link.name.clone(),
            parent: link.parent,
            joint: kind.to_owned(),
            parameters,
            joint_rotation: link.joint_rotation,
            joint_position: link.joint_position,
            mass: link.mass,
            center_of_mass: link.center_of_mass,
            inertia: link.inertia,
            armature: link.armature,
        })
    }

    fn build(self) -> Result<Link, ImageError> {
        let joint = from_name(&self.joint, &self.parameters)
            .ok_or_else(|| ImageError::Joint { link: self.name.clone(), kind: self.joint.clone() })?;
        Ok(Link {
            name: self.name,
            parent: self.parent,
            joint,
            joint_rotation: self.joint_rotation,
            joint_position: self.joint_position,
            mass: self.mass,
            center_of_mass: self.center_of_mass,
            inertia: self.inertia,
            armature: self.armature,
        })
    }
}

impl Mechanism {
    /// Writes what a step changes, in the room that is already there.
    pub fn save_to(&self, state: &mut MechanismState) {
        state.q.clone_from(&self.q);
        state.v.clone_from(&self.v);
        state.time = self.time;
        match &self.stepper {
            Stepper::Gauss(method) => {
                let (stages, last) = method.history();
                state.stages.clone_from(stages);
                state.last = last;
            }
            Stepper::Adaptive(_, _, next) => {
                state.stages.iter_mut().for_each(Vec::clear);
                state.last = next.unwrap_or(0.0);
            }
            Stepper::Library(..) => {
                state.stages.iter_mut().for_each(Vec::clear);
                state.last = 0.0;
            }
        }
    }

    /// Puts back a state that [`save_to`](Self::save_to) wrote for the same mechanism.
    pub(crate) fn load_from(&mut self, state: &MechanismState) {
        self.q.copy_from_slice(&state.q);
        self.v.copy_from_slice(&state.v);
        self.time = state.time;
        match &mut self.stepper {
            Stepper::Gauss(method) if state.stages[0].len() == state.v.len() => {
                method.set_history(&state.stages, state.last);
            }
            Stepper::Adaptive(_, _, next) => *next = (state.last > 0.0).then_some(state.last),
            stepper => stepper.interrupt(),
        }
    }
}

impl Clone for Stepper {
    /// A method with its memory; those of the library have none.
    fn clone(&self) -> Self {
        match self {
            Self::Gauss(method) => Self::Gauss(method.clone()),
            Self::Library(method, y) => Self::Library(
                rattleback_numerics::integrator::by_name(method.name())
                    .unwrap_or_else(|| Box::new(rattleback_numerics::integrator::RungeKutta4::new())),
                y.clone(),
            ),
            Self::Adaptive(method, y, next) => {
                let inner = rattleback_numerics::integrator::RungeKutta4::new();
                let control = method.control;
                Self::Adaptive(
                    Box::new(rattleback_numerics::adaptive::StepDoubling::new(inner, control)),
                    y.clone(),
                    *next,
                )
            }
        }
    }
}
