//! Accelerations of a tree with constraints, and what changes at an event.
//!
//! Rows are couplings and loops (equations), limits that carry a joint, and joints that dry friction holds. With a₀ the accelerations without
//! them, Y = H⁻¹ Jᵀ and A = J Y:
//!
//!   A λ = −(J a₀ + J̇ v),  v̇ = a₀ + Y λ.
//!
//! Which limits carry and which joints stick (the modes) is fixed within a step and decided between steps by the same problem with
//! bounds: λ ≥ 0 for a limit, |λ| ≤ μ for friction. A joint that reaches its limit with speed bounces at once: v⁺ = v + Y λ, J v⁺ = −e J v⁻,
//! and friction, a finite force, has no part in that.

use super::DynamicsError;
use super::constraint::{Coupling, LoopClosure, LoopColumns, RowSlices};
use super::element::{Actuator, Element, Elements, Friction, Limit, LimitHit, Servo};
use super::forward_dynamics::forward_dynamics;
use super::impulse_response::apply_inverse_mass;
use super::integration::LinkForces;
use super::kinematics::{Workspace, forward_velocities};
use super::row_solver::RowSolver;
use super::spatial::SpatialForce;
use super::tree::LinkTree;
use glam::DVec3;
use std::sync::Arc;

/// Excess over a bound at which a mode ends, in parts of it.
const MODE_TOLERANCE: f64 = 1e-9;

/// Distance beyond a limit that is rounding, rad or m.
const LIMIT_TOLERANCE: f64 = 1e-12;

/// Hits of a limit in a step for which memory is kept ready.
const HITS_PER_LIMIT: usize = 4;

/// What a row stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Row {
    /// Couplings and loops.
    Equation,
    /// A limit by its place in the list, at its lower (−1) or upper (1) end.
    Limit(usize, i8),
    /// A friction by its place in the list.
    Friction(usize),
}

/// A tree with everything that acts on it, and memory for its accelerations.
#[derive(Clone, Debug)]
pub(super) struct Dynamics {
    pub tree: Arc<LinkTree>,
    pub work: Workspace<f64>,
    pub gravity: DVec3,
    pub elements: Elements,
    pub frictions: Vec<Friction>,
    pub limits: Vec<Limit>,
    pub actuators: Vec<Actuator>,
    pub servos: Vec<Servo>,
    pub couplings: Vec<Coupling>,
    pub loops: Vec<LoopClosure>,
    /// Joint forces given from outside, and commands of the actuators.
    pub forces: Vec<f64>,
    pub commands: Vec<f64>,
    /// Forces on the links from outside, along the axes of the world about the origins of the links; empty for none.
    pub external: Vec<SpatialForce<f64>>,
    /// Limits that were reached with speed in the last step.
    pub hits: Vec<LimitHit>,
    /// Speed below which a limit does not bounce, rad/s or m/s.
    pub rest_speed: f64,
    /// +1 or −1: slips that way; 0: sticks.
    slip: Vec<i8>,
    /// −1, 1: carried by the lower, upper limit.
    held: Vec<i8>,
    total: Vec<f64>,
    rows: Vec<Row>,
    jacobian: Vec<f64>,
    response: Vec<f64>,
    matrix: Vec<f64>,
    pub error: Vec<f64>,
    bias: Vec<f64>,
    right: Vec<f64>,
    lambda: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    columns: LoopColumns,
    solver: RowSolver,
    /// Evaluations since the beginning.
    pub evaluations: u64,
}

impl Dynamics {
    pub fn new(tree: Arc<LinkTree>) -> Self {
        let n = tree.velocity_count();
        let mut made = Self {
            work: Workspace::new(&tree),
            gravity: DVec3::new(0.0, 0.0, -9.81),
            elements: Elements::new(&tree),
            frictions: Vec::new(),
            limits: Vec::new(),
            actuators: Vec::new(),
            servos: Vec::new(),
            couplings: Vec::new(),
            loops: Vec::new(),
            forces: vec![0.0; n],
            commands: Vec::new(),
            external: Vec::new(),
            hits: Vec::new(),
            rest_speed: 1e-4,
            slip: Vec::new(),
            held: Vec::new(),
            total: vec![0.0; n],
            rows: Vec::new(),
            jacobian: Vec::new(),
            response: Vec::new(),
            matrix: Vec::new(),
            error: Vec::new(),
            bias: Vec::new(),
            right: Vec::new(),
            lambda: Vec::new(),
            bounds: Vec::new(),
            columns: LoopColumns::new(&tree),
            solver: RowSolver::default(),
            evaluations: 0,
            tree,
        };
        made.make_room();
        made
    }

    /// Number of equations of couplings and loops.
    pub fn equation_count(&self) -> usize {
        self.couplings.len() + self.loops.iter().map(LoopClosure::row_count).sum::<usize>()
    }

    /// Memory for as many rows as there can be.
    pub fn make_room(&mut self) {
        // A joint may bounce off its limit several times in a step.
        self.hits.reserve(HITS_PER_LIMIT * self.limits.len());
        let most = self.equation_count() + self.limits.len() + self.frictions.len();
        let n = self.tree.velocity_count();
        self.slip.resize(self.frictions.len(), 0);
        self.held.resize(self.limits.len(), 0);
        self.commands.resize(self.actuators.len(), 0.0);
        self.rows = Vec::with_capacity(most);
        self.jacobian.resize(most * n, 0.0);
        self.response.resize(most * n, 0.0);
        self.matrix.resize(most * most, 0.0);
        for vector in [&mut self.error, &mut self.bias, &mut self.right, &mut self.lambda] {
            vector.resize(most, 0.0);
        }
        self.bounds.resize(most, [0.0; 2]);
        self.solver = RowSolver::new(most);
    }

    /// Whether anything but smooth forces acts.
    pub fn has_events(&self) -> bool {
        !self.frictions.is_empty() || !self.limits.is_empty()
    }

    /// Joint accelerations in the present modes.
    pub fn accelerate(&mut self, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), DynamicsError> {
        self.free_acceleration(q, v, a)?;
        self.collect_rows();
        if self.rows.is_empty() {
            return Ok(());
        }
        self.write_rows(q)?;
        self.solve_rows(a);
        Ok(())
    }

    /// Accelerations by forces alone, those of slipping friction included.
    fn free_acceleration(&mut self, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), DynamicsError> {
        self.evaluations += 1;
        self.drive(q, v);
        self.elements.add_forces(&self.tree, q, v, &mut self.total)?;
        for (friction, slip) in self.frictions.iter().zip(&self.slip) {
            self.total[friction.axis] -= friction.force * f64::from(*slip);
        }
        let external = (!self.external.is_empty()).then_some(&self.external[..]);
        forward_dynamics(&self.tree, &mut self.work, (q, v, &self.total), external, self.gravity, a)
    }

    /// Evaluates the forces on the links at a state.
    pub fn load_links(&mut self, (q, v): (&[f64], &[f64]), t: f64, forces: &mut LinkForces<'_>) {
        forward_velocities(&self.tree, &mut self.work, q, v);
        self.external.clear();
        self.external.resize(self.tree.links().len(), SpatialForce::default());
        forces(t, &self.work, &mut self.external);
    }

    /// Joint forces from outside, of actuators and of servos, to `total`.
    fn drive(&mut self, q: &[f64], v: &[f64]) {
        self.total.copy_from_slice(&self.forces);
        for (actuator, command) in self.actuators.iter().zip(&self.commands) {
            self.total[actuator.axis] += actuator.gear * command.clamp(actuator.range[0], actuator.range[1]);
        }
        for servo in &self.servos {
            let position = self.tree.position_of_velocity(servo.axis).map_or(0.0, |place| q[place]);
            self.total[servo.axis] += servo.force(position, v[servo.axis]);
        }
    }

    /// Power of forces from outside, actuators and servos, and power of dampers, W.
    pub fn powers(&mut self, q: &[f64], v: &[f64]) -> [f64; 2] {
        self.drive(q, v);
        let driving = dot(&self.total, v);
        let damping = |element: &Element| match *element {
            Element::Damper { axis, coefficient } => -coefficient * v[axis] * v[axis],
            Element::Spring { .. } | Element::HardSpring { .. } => 0.0,
        };
        [driving, self.elements.list.iter().map(damping).sum()]
    }

    /// Whether anything but gravity and passive parts acts.
    pub fn is_driven(&self) -> bool {
        !self.servos.is_empty()
            || self.forces.iter().chain(&self.commands).any(|x| *x != 0.0)
            || self
                .elements
                .list
                .iter()
                .any(|element| matches!(element, Element::Damper { coefficient, .. } if *coefficient < 0.0))
    }

    fn collect_rows(&mut self) {
        self.rows.clear();
        self.rows.extend((0..self.equation_count()).map(|_| Row::Equation));
        for (place, side) in self.held.iter().enumerate().filter(|(_, side)| **side != 0) {
            self.rows.push(Row::Limit(place, *side));
        }
        for (place, _) in self.slip.iter().enumerate().filter(|(_, slip)| **slip == 0) {
            self.rows.push(Row::Friction(place));
        }
    }

    /// Writes J, C, J̇ v, then Y and A, at the state of the last forward dynamics.
    fn write_rows(&mut self, q: &[f64]) -> Result<(), DynamicsError> {
        let n = self.tree.velocity_count();
        let mut place = 0;
        for coupling in &self.couplings {
            let mut rows = RowSlices {
                jacobian: &mut self.jacobian[place * n..],
                error: &mut self.error[place..],
                bias: &mut self.bias[place..],
            };
            coupling.write(&self.tree, q, &mut rows);
            place += 1;
        }
        for closure in &self.loops {
            let mut rows = RowSlices {
                jacobian: &mut self.jacobian[place * n..],
                error: &mut self.error[place..],
                bias: &mut self.bias[place..],
            };
            closure.write(&self.tree, &self.work, &mut self.columns, &mut rows)?;
            place += closure.row_count();
        }
        for row in &self.rows {
            let (axis, sign) = match row {
                Row::Equation => continue,
                Row::Limit(limit, side) => (self.limits[*limit].axis, -f64::from(*side)),
                Row::Friction(friction) => (self.frictions[*friction].axis, 1.0),
            };
            self.jacobian[place * n..][..n].fill(0.0);
            self.jacobian[place * n + axis] = sign;
            (self.error[place], self.bias[place]) = (0.0, 0.0);
            place += 1;
        }
        self.write_matrix()
    }

    fn write_matrix(&mut self) -> Result<(), DynamicsError> {
        let (n, m) = (self.tree.velocity_count(), self.rows.len());
        self.response[..m * n].copy_from_slice(&self.jacobian[..m * n]);
        for i in 0..m {
            apply_inverse_mass(&self.tree, &mut self.work, &mut self.response[i * n..][..n])?;
        }
        for i in 0..m {
            for j in 0..=i {
                let product = dot(&self.jacobian[i * n..][..n], &self.response[j * n..][..n]);
                self.matrix[i * m + j] = product;
                self.matrix[j * m + i] = product;
            }
        }
        Ok(())
    }

    /// a₀ ⇒ a: fulfils all rows.
    fn solve_rows(&mut self, a: &mut [f64]) {
        let (n, m) = (a.len(), self.rows.len());
        for i in 0..m {
            self.right[i] = -(dot(&self.jacobian[i * n..][..n], a) + self.bias[i]);
        }
        self.solver.solve(m, &self.matrix, &self.right, &mut self.lambda);
        self.add_response(a);
        // Held joints do not accelerate: exactly, so that their velocities stay what they are.
        for row in &self.rows {
            match row {
                Row::Equation => {}
                Row::Limit(limit, _) => a[self.limits[*limit].axis] = 0.0,
                Row::Friction(friction) => a[self.frictions[*friction].axis] = 0.0,
            }
        }
    }

    fn add_response(&self, a: &mut [f64]) {
        let n = a.len();
        for i in 0..self.rows.len() {
            let lambda = self.lambda[i];
            for (a, response) in a.iter_mut().zip(&self.response[i * n..][..n]) {
                *a += lambda * response;
            }
        }
    }

    /// Multipliers of the equations, in the order of couplings and loops.
    pub fn multipliers(&self) -> &[f64] {
        &self.lambda[..self.equation_count().min(self.rows.len())]
    }

    /// Whether a state at the end of a step in the present modes lies beyond an event.
    pub fn is_beyond_event(&mut self, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<bool, DynamicsError> {
        for (friction, slip) in self.frictions.iter().zip(&self.slip) {
            if f64::from(*slip) * v[friction.axis] < 0.0 {
                return Ok(true);
            }
        }
        for (limit, held) in self.limits.iter().zip(&self.held) {
            let position = self.tree.position_of_velocity(limit.axis).map_or(0.0, |place| q[place]);
            let room = LIMIT_TOLERANCE * (1.0 + position.abs());
            if *held == 0 && (position < limit.range[0] - room || position > limit.range[1] + room) {
                return Ok(true);
            }
        }
        if self.held.iter().all(|side| *side == 0) && self.slip.iter().all(|slip| *slip != 0) {
            return Ok(false);
        }
        self.accelerate(q, v, a)?;
        let largest = self.lambda[..self.rows.len()].iter().fold(0.0_f64, |most, l| most.max(l.abs()));
        for (row, lambda) in self.rows.iter().zip(&self.lambda) {
            let beyond = match row {
                Row::Equation => false,
                Row::Limit(..) => *lambda < -MODE_TOLERANCE * (largest + 1.0),
                Row::Friction(friction) => {
                    lambda.abs()
                        > self.frictions[*friction].force * (1.0 + MODE_TOLERANCE) + f64::MIN_POSITIVE
                }
            };
            if beyond {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts a state that has just reached an event at time t on it: positions on limits, velocities that vanished to zero, bounces.
    pub fn meet_event(
        &mut self,
        (q, v): (&mut [f64], &mut [f64]),
        a: &mut [f64],
        t: f64,
    ) -> Result<(), DynamicsError> {
        for (friction, slip) in self.frictions.iter().zip(&mut self.slip) {
            if f64::from(*slip) * v[friction.axis] < 0.0 {
                v[friction.axis] = 0.0;
                *slip = 0;
            }
        }
        let mut hits = false;
        for (limit, held) in self.limits.iter().zip(&mut self.held) {
            let Some(place) = self.tree.position_of_velocity(limit.axis) else { continue };
            let side = if q[place] <= limit.range[0] {
                -1
            } else if q[place] >= limit.range[1] {
                1
            } else {
                continue;
            };
            q[place] = limit.range[usize::from(side > 0)];
            if *held == 0 && v[limit.axis] * f64::from(side) > 0.0 {
                (*held, hits) = (side, true);
                let speed = v[limit.axis].abs();
                self.hits.push(LimitHit { time: t, axis: limit.axis, upper: side > 0, speed });
            }
        }
        if hits {
            self.bounce(q, v, a)?;
        }
        Ok(())
    }

    /// Impulses of limits that are hit and of equations.
    fn bounce(&mut self, q: &[f64], v: &mut [f64], a: &mut [f64]) -> Result<(), DynamicsError> {
        self.free_acceleration(q, v, a)?;
        self.rows.clear();
        self.rows.extend((0..self.equation_count()).map(|_| Row::Equation));
        for (place, limit) in self.limits.iter().enumerate() {
            let Some(position) = self.tree.position_of_velocity(limit.axis) else { continue };
            for (side, end) in [(-1_i8, limit.range[0]), (1, limit.range[1])] {
                if q[position] == end {
                    self.rows.push(Row::Limit(place, side));
                }
            }
        }
        // A range of width zero lies at both ends at once; one row is enough.
        self.rows.dedup_by(|a, b| matches!((a, b), (Row::Limit(x, _), Row::Limit(y, _)) if x == y));
        self.write_rows(q)?;
        let (n, m) = (v.len(), self.rows.len());
        for i in 0..m {
            let approach = dot(&self.jacobian[i * n..][..n], v);
            (self.right[i], self.bounds[i]) = match self.rows[i] {
                Row::Limit(limit, _) => {
                    let bounces = approach < -self.rest_speed;
                    let e = if bounces { self.limits[limit].restitution } else { 0.0 };
                    ((1.0 + e) * approach, [0.0, f64::INFINITY])
                }
                _ => (approach, [f64::NEG_INFINITY, f64::INFINITY]),
            };
        }
        self.solver.solve_bounded(m, &self.matrix, &self.right, &self.bounds, &mut self.lambda);
        self.add_response(v);
        for i in 0..m {
            if let Row::Limit(limit, side) = self.rows[i] {
                let axis = self.limits[limit].axis;
                let leaving = -f64::from(side) * v[axis];
                let rests = self.lambda[i] > 0.0 && leaving < self.rest_speed;
                if rests || leaving < 0.0 {
                    v[axis] = 0.0;
                }
                self.held[limit] = if v[axis] == 0.0 { side } else { 0 };
            }
        }
        Ok(())
    }

    /// Decides which limits carry and which joints stick.
    pub fn decide_modes(&mut self, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<(), DynamicsError> {
        if !self.has_events() {
            return Ok(());
        }
        for (friction, slip) in self.frictions.iter().zip(&mut self.slip) {
            let speed = v[friction.axis];
            *slip = if speed > 0.0 {
                1
            } else if speed < 0.0 {
                -1
            } else {
                0
            };
        }
        for (limit, held) in self.limits.iter().zip(&mut self.held) {
            let position = self.tree.position_of_velocity(limit.axis).map_or(0.0, |place| q[place]);
            let rests = v[limit.axis] == 0.0;
            *held = if rests && position <= limit.range[0] {
                -1
            } else {
                i8::from(rests && position >= limit.range[1])
            };
        }
        if self.held.iter().all(|side| *side == 0) && self.slip.iter().all(|slip| *slip != 0) {
            return Ok(());
        }
        self.free_acceleration(q, v, a)?;
        self.collect_rows();
        self.write_rows(q)?;
        let (n, m) = (v.len(), self.rows.len());
        for i in 0..m {
            self.right[i] = dot(&self.jacobian[i * n..][..n], a) + self.bias[i];
            self.bounds[i] = match self.rows[i] {
                Row::Equation => [f64::NEG_INFINITY, f64::INFINITY],
                Row::Limit(..) => [0.0, f64::INFINITY],
                Row::Friction(friction) => [-self.frictions[friction].force, self.frictions[friction].force],
            };
        }
        self.solver.solve_bounded(m, &self.matrix, &self.right, &self.bounds, &mut self.lambda);
        for i in 0..m {
            match self.rows[i] {
                Row::Limit(limit, _) if self.solver.side(i) != 0 => self.held[limit] = 0,
                // Friction at its largest: the joint begins to slip against it.
                Row::Friction(friction) => self.slip[friction] = -self.solver.side(i),
                Row::Equation | Row::Limit(..) => {}
            }
        }
        Ok(())
    }

    /// Puts positions, then velocities, back on the equations. Answers the largest error of an equation that is left.
    pub fn project(
        &mut self,
        q: &mut [f64],
        v: &mut [f64],
        a: &mut [f64],
        passes: u32,
    ) -> Result<f64, DynamicsError> {
        let equations = self.equation_count();
        if equations == 0 {
            return Ok(0.0);
        }
        let mut before = f64::INFINITY;
        for pass in 0.. {
            let error = self.linearize(q, v, a)?;
            if pass >= passes || error <= 1e-15 || !error.is_finite() || (error < 1e-12 && error >= before) {
                break;
            }
            before = error;
            self.correct_positions(q, a);
        }
        let n = v.len();
        for i in 0..self.rows.len() {
            self.right[i] = -dot(&self.jacobian[i * n..][..n], v);
        }
        self.solver.solve(self.rows.len(), &self.matrix, &self.right, &mut self.lambda);
        a.fill(0.0);
        self.add_response(a);
        for (v, change) in v.iter_mut().zip(a.iter()) {
            *v += change;
        }
        self.still_held(v);
        Ok(self.largest_error())
    }

    /// Rows at a state ⇒ largest error of an equation.
    pub fn linearize(&mut self, q: &[f64], v: &[f64], a: &mut [f64]) -> Result<f64, DynamicsError> {
        self.free_acceleration(q, v, a)?;
        self.collect_rows();
        self.write_rows(q)?;
        Ok(self.largest_error())
    }

    fn largest_error(&self) -> f64 {
        self.error[..self.equation_count()]
            .iter()
            .fold(0.0_f64, |most, c| if c.is_nan() { f64::INFINITY } else { most.max(c.abs()) })
    }

    /// One step of Newton's method on the equations, in the metric of the masses, of at most half a radian or metre.
    fn correct_positions(&mut self, q: &mut [f64], a: &mut [f64]) {
        let m = self.rows.len();
        for i in 0..m {
            self.right[i] = -self.error[i];
        }
        self.solver.solve(m, &self.matrix, &self.right, &mut self.lambda);
        a.fill(0.0);
        self.add_response(a);
        let size = a.iter().fold(0.0_f64, |most, a| most.max(a.abs()));
        if size > 0.5 {
            for a in a.iter_mut() {
                *a *= 0.5 / size;
            }
        }
        for row in &self.rows {
            match row {
                Row::Equation => {}
                Row::Limit(limit, _) => a[self.limits[*limit].axis] = 0.0,
                Row::Friction(friction) => a[self.frictions[*friction].axis] = 0.0,
            }
        }
        self.tree.advance(q, a, 1.0);
        self.tree.normalize(q);
    }

    fn still_held(&self, v: &mut [f64]) {
        for row in &self.rows {
            match row {
                Row::Equation => {}
                Row::Limit(limit, _) => v[self.limits[*limit].axis] = 0.0,
                Row::Friction(friction) => v[self.frictions[*friction].axis] = 0.0,
            }
        }
    }

    /// No joint is held: for assembling.
    pub fn release_all(&mut self) {
        self.slip.fill(1);
        self.held.fill(0);
    }

    /// Equations that depend on those before them, by their rows; after [`linearize`](Self::linearize).
    pub fn dependent_equations(&mut self) -> Vec<usize> {
        let mut found = Vec::new();
        let m = self.rows.len();
        self.solver.dependent(m, &self.matrix, &mut found);
        found.retain(|row| *row < self.equation_count());
        found
    }

    /// Whether a joint sticks by dry friction.
    pub fn sticks(&self, axis: usize) -> bool {
        self.frictions.iter().zip(&self.slip).any(|(friction, slip)| friction.axis == axis && *slip == 0)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
