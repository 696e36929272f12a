//! Inverse kinematics by damped least squares: joint positions that bring points and axes of links where they are wanted.
//!
//! e is the error of all targets, weighted, and J its Jacobian. A step is δ = Jᵀ (J Jᵀ + μ 1)⁻¹ e over the joints that are not held at a
//! limit; μ falls after a step that lessens |e| and grows after one that does not (Levenberg and Marquardt), so the iteration neither diverges
//! near singular positions nor out of reach: there it ends at the nearest position it finds, and reports it. A joint whose step leads beyond its limit
//! is put on it and left out of the step, and comes back as soon as the step leads inside.

use super::DynamicsError;
use super::jacobian::jacobian;
use super::kinematics::{Workspace, forward_kinematics};
use super::linear::Vector;
use super::spatial::SpatialMotion;
use super::tree::LinkTree;
use glam::{DMat3, DQuat, DVec3};

/// Where a point of a link, and the link's axes, should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkTarget {
    /// Index of the link.
    pub link: usize,
    /// Point in the link's frame, m.
    pub point: DVec3,
    /// Where it should be in the world, m; none to leave it free.
    pub position: Option<DVec3>,
    /// Attitude that the link should have; none to leave it free.
    pub rotation: Option<DQuat>,
    /// Weight of an error of the attitude against one of the position, m/rad.
    pub rotation_weight: f64,
}

impl IkTarget {
    /// (link, point in its frame, place in the world) ⇒ a target for the point alone.
    pub const fn point(link: usize, point: DVec3, position: DVec3) -> Self {
        Self { link, point, position: Some(position), rotation: None, rotation_weight: 1.0 }
    }

    /// The same, with an attitude.
    #[must_use]
    pub const fn with_rotation(mut self, rotation: DQuat) -> Self {
        self.rotation = Some(rotation);
        self
    }
}

/// When inverse kinematics ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkSettings {
    /// Error at which it is done, m; 1e-10.
    pub tolerance: f64,
    /// Steps after which it is given up; 200.
    pub iterations: u32,
    /// First damping, in parts of the largest diagonal element of J Jᵀ; 1e-3.
    pub damping: f64,
    /// Largest step of a joint, rad or m; 0.5.
    pub largest_step: f64,
}

impl Default for IkSettings {
    fn default() -> Self {
        Self { tolerance: 1e-10, iterations: 200, damping: 1e-3, largest_step: 0.5 }
    }
}

/// How inverse kinematics ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IkReport {
    /// Steps that were tried.
    pub iterations: u32,
    /// |e| at the positions found, m.
    pub error: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
    /// Joints that lie on a limit.
    pub at_limit: usize,
}

/// Memory of inverse kinematics for a tree and a number of targets. Nothing is allocated after it was made.
#[derive(Clone, Debug)]
pub struct InverseKinematics {
    columns: Vec<SpatialMotion<f64>>,
    /// J row by row.
    jacobian: Vec<f64>,
    error: Vec<f64>,
    trial_error: Vec<f64>,
    normal: Vec<f64>,
    solution: Vec<f64>,
    step: Vec<f64>,
    held: Vec<bool>,
    q: Vec<f64>,
}

impl InverseKinematics {
    /// Memory for a tree and at most so many targets.
    pub fn new(tree: &LinkTree, targets: usize) -> Self {
        let (n, m) = (tree.velocity_count(), 6 * targets);
        Self {
            columns: vec![SpatialMotion::default(); n],
            jacobian: vec![0.0; m * n],
            error: vec![0.0; m],
            trial_error: vec![0.0; m],
            normal: vec![0.0; m * m],
            solution: vec![0.0; m],
            step: vec![0.0; n],
            held: vec![false; n],
            q: vec![0.0; tree.position_count()],
        }
    }

    /// Moves q, from where it is, to the targets. Limits are (lowest, highest) for every velocity's coordinate; those of quaternions are not read.
    ///
    /// # Errors
    /// A link that does not exist, or slices that do not have the length the tree and targets need. Targets out of reach are no error: see
    /// [`IkReport::converged`].
    pub fn solve(
        &mut self,
        tree: &LinkTree,
        work: &mut Workspace<f64>,
        targets: &[IkTarget],
        limits: Option<&[[f64; 2]]>,
        settings: &IkSettings,
        q: &mut [f64],
    ) -> Result<IkReport, DynamicsError> {
        super::check_length("positions", q.len(), self.q.len())?;
        super::check_length("targets", targets.len(), self.error.len() / 6)?;
        if let Some(limits) = limits {
            super::check_length("limits", limits.len(), tree.velocity_count())?;
        }
        for target in targets {
            super::check_link(tree, target.link)?;
        }
        clamp(tree, limits, q);
        forward_kinematics(tree, work, q);
        let mut size = measure(work, targets, &mut self.error);
        let mut damping = settings.damping;
        let (mut iterations, mut stalled) = (0, false);
        while !stalled && size > settings.tolerance && iterations < settings.iterations {
            self.linearize(tree, work, targets)?;
            let mut accepted = false;
            while !accepted && iterations < settings.iterations && damping < 1e12 {
                iterations += 1;
                self.find_step(tree, limits, settings, damping, q);
                self.q.copy_from_slice(q);
                tree.advance(&mut self.q, &self.step, 1.0);
                clamp(tree, limits, &mut self.q);
                forward_kinematics(tree, work, &self.q);
                let trial = measure(work, targets, &mut self.trial_error);
                if trial < size {
                    accepted = true;
                    damping = (damping * 0.1).max(1e-15);
                    q.copy_from_slice(&self.q);
                    self.error.copy_from_slice(&self.trial_error);
                    // Out of reach: what is left hardly lessens.
                    stalled = size - trial < 1e-9 * size;
                    size = trial;
                } else {
                    damping *= 10.0;
                }
            }
            if !accepted {
                break;
            }
        }
        forward_kinematics(tree, work, q);
        let at_limit = limits.map_or(0, |limits| {
            let on =
                |k: &usize| tree.position_of_velocity(*k).is_some_and(|place| limits[*k].contains(&q[place]));
            (0..limits.len()).filter(on).count()
        });
        Ok(IkReport { iterations, error: size, converged: size <= settings.tolerance, at_limit })
    }

    /// J at the present positions.
    fn linearize(
        &mut self,
        tree: &LinkTree,
        work: &Workspace<f64>,
        targets: &[IkTarget],
    ) -> Result<(), DynamicsError> {
        let n = self.step.len();
        for (index, target) in targets.iter().enumerate() {
            let point = work.origin(target.link, 0) + work.rotation(target.link, 0) * target.point;
            jacobian(tree, work, target.link, Vector::splat(point), &mut self.columns)?;
            for (k, column) in self.columns.iter().enumerate() {
                let linear = if target.position.is_some() { column.linear.lane(0) } else { DVec3::ZERO };
                let angular = if target.rotation.is_some() {
                    column.angular.lane(0) * target.rotation_weight
                } else {
                    DVec3::ZERO
                };
                for axis in 0..3 {
                    self.jacobian[(6 * index + axis) * n + k] = linear[axis];
                    self.jacobian[(6 * index + 3 + axis) * n + k] = angular[axis];
                }
            }
        }
        Ok(())
    }

    /// Damped step; joints that it would move beyond their limits are left out, until none is.
    fn find_step(
        &mut self,
        tree: &LinkTree,
        limits: Option<&[[f64; 2]]>,
        settings: &IkSettings,
        damping: f64,
        q: &[f64],
    ) {
        let (n, m) = (self.step.len(), self.error.len());
        self.held.fill(false);
        loop {
            let mut largest = f64::MIN_POSITIVE;
            for i in 0..m {
                for j in 0..=i {
                    let (a, b) = (&self.jacobian[i * n..][..n], &self.jacobian[j * n..][..n]);
                    let sum: f64 = (0..n).filter(|k| !self.held[*k]).map(|k| a[k] * b[k]).sum();
                    self.normal[i * m + j] = sum;
                }
                largest = largest.max(self.normal[i * m + i]);
            }
            for i in 0..m {
                self.normal[i * m + i] += damping * largest + f64::MIN_POSITIVE;
            }
            self.solution.copy_from_slice(&self.error);
            solve_positive(&mut self.normal, &mut self.solution);
            for k in 0..n {
                let sum: f64 = (0..m).map(|i| self.jacobian[i * n + k] * self.solution[i]).sum();
                self.step[k] = if self.held[k] { 0.0 } else { sum };
            }
            let size = self.step.iter().fold(0.0_f64, |most, step| most.max(step.abs()));
            if size > settings.largest_step {
                let factor = settings.largest_step / size;
                self.step.iter_mut().for_each(|step| *step *= factor);
            }
            let mut more = false;
            for (k, [low, high]) in limits.into_iter().flatten().enumerate() {
                let place = tree.position_of_velocity(k).filter(|_| !self.held[k] && low <= high);
                let outward = place.is_some_and(|place| {
                    (q[place] <= *low && self.step[k] < 0.0) || (q[place] >= *high && self.step[k] > 0.0)
                });
                if outward {
                    (self.held[k], more) = (true, true);
                }
            }
            if !more {
                return;
            }
        }
    }
}

fn clamp(tree: &LinkTree, limits: Option<&[[f64; 2]]>, q: &mut [f64]) {
    for (k, [low, high]) in limits.into_iter().flatten().enumerate() {
        if let Some(place) = tree.position_of_velocity(k).filter(|_| low <= high) {
            q[place] = q[place].clamp(*low, *high);
        }
    }
}

/// Errors of all targets, six numbers each ⇒ their size.
fn measure(work: &Workspace<f64>, targets: &[IkTarget], errors: &mut [f64]) -> f64 {
    errors.fill(0.0);
    for (target, error) in targets.iter().zip(errors.chunks_exact_mut(6)) {
        let axes = work.rotation(target.link, 0);
        if let Some(position) = target.position {
            let here = work.origin(target.link, 0) + axes * target.point;
            error[..3].copy_from_slice(&(position - here).to_array());
        }
        if let Some(rotation) = target.rotation {
            let turn = rotation_vector(&(DMat3::from_quat(rotation) * axes.transpose()));
            error[3..].copy_from_slice(&(turn * target.rotation_weight).to_array());
        }
    }
    errors.iter().map(|error| error * error).sum::<f64>().sqrt()
}

/// Rotation ⇒ its vector, of at most π.
fn rotation_vector(rotation: &DMat3) -> DVec3 {
    let turn = DQuat::from_mat3(rotation);
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let sine = turn.xyz().length();
    if sine < 1e-12 { turn.xyz() * 2.0 } else { turn.xyz() * (2.0 * sine.atan2(turn.w) / sine) }
}

/// Cholesky, lower triangle row by row, of a positive definite matrix; pivots that rounding made nothing are skipped.
fn solve_positive(a: &mut [f64], x: &mut [f64]) {
    let m = x.len();
    for i in 0..m {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| a[i * m + k] * a[j * m + k]).sum();
            let rest = a[i * m + j] - sum;
            a[i * m + j] = if i == j {
                rest.max(0.0).sqrt()
            } else if a[j * m + j] > 0.0 {
                rest / a[j * m + j]
            } else {
                0.0
            };
        }
    }
    for i in 0..m {
        let sum: f64 = (0..i).map(|k| a[i * m + k] * x[k]).sum();
        x[i] = if a[i * m + i] > 0.0 { (x[i] - sum) / a[i * m + i] } else { 0.0 };
    }
    for i in (0..m).rev() {
        let sum: f64 = (i + 1..m).map(|k| a[k * m + i] * x[k]).sum();
        x[i] = if a[i * m + i] > 0.0 { (x[i] - sum) / a[i * m + i] } else { 0.0 };
    }
}
