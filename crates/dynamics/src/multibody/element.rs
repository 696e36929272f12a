//! What acts inside joints: springs, dampers, gas springs, dry friction, limits and actuators, each along one velocity of a tree.
//!
//! With ξ the coordinate of the axis from its reference position (for a quaternion, a component of the rotation vector) and U the energy that
//! an element stores, its joint force is −∂U/∂ξ; velocities are not always rates of coordinates, ξ̇ = ρ v, so the force on them is −ρᵀ ∂U/∂ξ:
//!
//!   spring       U = ½ k (ξ − ξ₀)²         f = −k (ξ − ξ₀)
//!   hard spring  U = −c ln |ξ − ξ₀|        f = c/(ξ − ξ₀): a sealed gas cylinder, which repels from ξ₀
//!   damper                                 f = −ρ v
//!   servo                                  f = k (ξ* − ξ) + d (v* − v), between −f_max and f_max

use super::DynamicsError;
use super::tree::LinkTree;
use serde::{Deserialize, Serialize};

/// Distance from its singular coordinate within which a hard spring is refused, rad or m.
const HARD_SPRING_GAP: f64 = 1e-9;

/// A passive element along one velocity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Element {
    /// Linear spring.
    Spring {
        /// Place of the velocity.
        axis: usize,
        /// k, N·m/rad or N/m.
        stiffness: f64,
        /// ξ₀ at which it is at rest, rad or m.
        rest: f64,
    },
    /// Viscous damper.
    Damper {
        /// Place of the velocity.
        axis: usize,
        /// ρ, N·m·s/rad or N·s/m.
        coefficient: f64,
    },
    /// Sealed gas cylinder: the force grows without bound towards a coordinate.
    HardSpring {
        /// Place of the velocity.
        axis: usize,
        /// c, N·m·rad or N·m.
        coefficient: f64,
        /// ξ₀ from which it repels, rad or m.
        at: f64,
    },
}

/// Dry friction along one velocity: a joint that slips feels a constant force against its motion, one that rests is held as long as no more than
/// this force is needed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Friction {
    /// Place of the velocity.
    pub axis: usize,
    /// Largest force, N·m or N.
    pub force: f64,
}

/// Limits of a position.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Place of the velocity whose position is limited; not of a quaternion.
    pub axis: usize,
    /// Lowest and highest position, rad or m.
    pub range: [f64; 2],
    /// Part of the speed that is given back on hitting a limit, 0 to 1.
    pub restitution: f64,
}

/// A joint that reached its limit with speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitHit {
    /// Time on the clock of the mechanism, s.
    pub time: f64,
    /// Place of the velocity whose position is limited.
    pub axis: usize,
    /// Whether it is the upper limit.
    pub upper: bool,
    /// Speed of arrival, rad/s or m/s.
    pub speed: f64,
}

/// An actuator: joint force = gear × command, the command clamped to a range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Actuator {
    /// Place of the velocity.
    pub axis: usize,
    /// Joint force for a unit of command.
    pub gear: f64,
    /// Lowest and highest command.
    pub range: [f64; 2],
}

/// A motor that follows a position and a velocity: f = k (ξ* − ξ) + d (v* − v), between −f_max and f_max. With k = 0 it drives a speed, with
/// k = d = 0 it does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Servo {
    /// Place of the velocity whose position it drives; not of a quaternion.
    pub axis: usize,
    /// k, N·m/rad or N/m.
    pub stiffness: f64,
    /// d, N·m·s/rad or N·s/m.
    pub damping: f64,
    /// Largest force, N·m or N; may be infinite.
    pub max_force: f64,
    /// ξ*, rad or m.
    pub position: f64,
    /// v*, rad/s or m/s.
    pub velocity: f64,
}

impl Servo {
    /// (position, velocity) ⇒ joint force, N·m or N.
    pub fn force(&self, position: f64, velocity: f64) -> f64 {
        let wanted = self.stiffness * (self.position - position) + self.damping * (self.velocity - velocity);
        wanted.clamp(-self.max_force, self.max_force)
    }

    pub(super) fn fault(&self) -> Option<(&'static str, &'static str)> {
        let at_least_0 = |x: f64| x >= 0.0 && x.is_finite();
        if !at_least_0(self.stiffness) || !at_least_0(self.damping) {
            Some(("its stiffness and damping", "finite and at least 0"))
        } else if self.max_force.is_nan() || self.max_force < 0.0 {
            Some(("its largest force", "at least 0"))
        } else if !(self.position.is_finite() && self.velocity.is_finite()) {
            Some(("its target", "finite"))
        } else {
            None
        }
    }
}

impl Element {
    /// Place of its velocity.
    pub const fn axis(&self) -> usize {
        match self {
            Self::Spring { axis, .. } | Self::Damper { axis, .. } | Self::HardSpring { axis, .. } => *axis,
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        match *self {
            Self::Spring { stiffness: a, rest: b, .. } | Self::HardSpring { coefficient: a, at: b, .. } => {
                a.is_finite() && b.is_finite()
            }
            Self::Damper { coefficient, .. } => coefficient.is_finite(),
        }
    }
}

/// Passive elements of a tree with memory for their evaluation.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    pub list: Vec<Element>,
    neutral: Vec<f64>,
    coordinates: Vec<f64>,
    gradient: Vec<f64>,
}

impl Elements {
    pub fn new(tree: &LinkTree) -> Self {
        let n = tree.velocity_count();
        Self { list: Vec::new(), neutral: tree.neutral(), coordinates: vec![0.0; n], gradient: vec![0.0; n] }
    }

    /// (positions, velocities) ⇒ adds the joint forces of all elements.
    pub fn add_forces(
        &mut self,
        tree: &LinkTree,
        q: &[f64],
        v: &[f64],
        forces: &mut [f64],
    ) -> Result<(), DynamicsError> {
        if self.list.is_empty() {
            return Ok(());
        }
        tree.displacements(&self.neutral, q, &mut self.coordinates);
        self.gradient.fill(0.0);
        for element in &self.list {
            match *element {
                Element::Spring { axis, stiffness, rest } => {
                    self.gradient[axis] += stiffness * (self.coordinates[axis] - rest);
                }
                Element::Damper { axis, coefficient } => forces[axis] -= coefficient * v[axis],
                Element::HardSpring { axis, coefficient, at } => {
                    let gap = self.coordinates[axis] - at;
                    if gap.is_nan() || gap.abs() < HARD_SPRING_GAP {
                        let link = tree.link_of_velocity(axis).unwrap_or_default();
                        return Err(DynamicsError::HardSpring { link: tree.links()[link].name.clone() });
                    }
                    self.gradient[axis] -= coefficient / gap;
                }
            }
        }
        for (index, link) in tree.links().iter().enumerate() {
            let range = tree.velocities_of(index);
            if link.joint.velocities_are_rates() {
                for k in range {
                    forces[k] -= self.gradient[k];
                }
                continue;
            }
            if range.clone().all(|k| self.gradient[k] == 0.0) {
                continue;
            }
            let (start, xi) = (&self.neutral[tree.positions_of(index)], &self.coordinates[range.clone()]);
            for k in range.clone() {
                let (mut unit, mut rate) = ([0.0; 6], [0.0; 6]);
                unit[k - range.start] = 1.0;
                link.joint.coordinate_rate(start, xi, &unit[..range.len()], &mut rate[..range.len()]);
                forces[k] -= range.clone().map(|m| rate[m - range.start] * self.gradient[m]).sum::<f64>();
            }
        }
        Ok(())
    }

    /// Energy that springs store, J; that of a hard spring counts from a distance of one radian or metre.
    pub fn energy(&mut self, tree: &LinkTree, q: &[f64]) -> f64 {
        tree.displacements(&self.neutral, q, &mut self.coordinates);
        let of = |element: &Element| match *element {
            Element::Spring { axis, stiffness, rest } => {
                0.5 * stiffness * (self.coordinates[axis] - rest).powi(2)
            }
            Element::Damper { .. } => 0.0,
            Element::HardSpring { axis, coefficient, at } => {
                -coefficient * (self.coordinates[axis] - at).abs().ln()
            }
        };
        self.list.iter().map(of).sum()
    }
}
