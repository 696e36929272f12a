//! Equations between joints (couplings) and between links (loops) on top of a tree.
//!
//! Each equation is C(q) = 0 with Ċ = J v and C̈ = J v̇ + J̇ v. A coupling is linear in positions. A loop connects a frame on link A with a frame
//! on link B, origins p and axes x, y, z; with d = p_B − p_A and e an axis of A,
//!
//!   C = e·d:   Ċ = e·ḋ + ω_A·(e × d),   C̈ = e·d̈ + 2 (ω_A × e)·ḋ + (α_A × e + ω_A × (ω_A × e))·d;
//!   C = a·b:   Ċ = (a × b)·(ω_A − ω_B), C̈ = (a × b)·(α_A − α_B) + ((ω_A × a) × b + a × (ω_B × b))·(ω_A − ω_B), a of A, b of B;
//!   C = |d| − L: Ċ = d̂·ḋ,               C̈ = d̂·d̈ + (|ḋ|² − (d̂·ḋ)²)/|d|.

use super::DynamicsError;
use super::jacobian::{bias_acceleration, jacobian};
use super::kinematics::Workspace;
use super::linear::Vector;
use super::spatial::SpatialMotion;
use super::tree::LinkTree;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// A linear equation between joint positions: Σ factor · position = offset. Mimic joints, gears, differentials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coupling {
    /// Name for messages.
    pub name: String,
    /// (place of the velocity whose position it is, factor).
    pub terms: Vec<(usize, f64)>,
    /// Right-hand side, rad or m.
    pub offset: f64,
}

impl Coupling {
    /// A joint that follows another: position(follower) = ratio · position(leader) + offset.
    pub fn mimic(name: impl Into<String>, follower: usize, leader: usize, ratio: f64, offset: f64) -> Self {
        Self { name: name.into(), terms: vec![(follower, 1.0), (leader, -ratio)], offset }
    }
}

/// What a loop leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum LoopKind {
    /// Nothing: 6 equations.
    Fixed,
    /// Turning about z: 5.
    Revolute,
    /// Turning in any direction: 3.
    Spherical,
    /// Turning about x of A and y of B: 4.
    Universal,
    /// Turning about z and sliding along it: 4.
    Cylindrical,
    /// Sliding along z: 5.
    Prismatic,
    /// Sliding in the plane across z and turning about z: 3.
    Planar,
    /// All but the distance of the origins, m: 1, a rod with two ball joints.
    Distance(f64),
}

/// A connection between two links that closes a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopClosure {
    /// Name for messages.
    pub name: String,
    /// The links; none for the world.
    pub links: [Option<usize>; 2],
    /// Origins of the frames in the links, m.
    pub points: [DVec3; 2],
    /// Axes of the frames in the links.
    pub rotations: [DQuat; 2],
    /// What is left free.
    pub kind: LoopKind,
}

impl LoopClosure {
    /// (name, links, origins of the frames in them, kind), both frames along the axes of their links.
    pub fn new(
        name: impl Into<String>,
        links: [Option<usize>; 2],
        points: [DVec3; 2],
        kind: LoopKind,
    ) -> Self {
        Self { name: name.into(), links, points, rotations: [DQuat::IDENTITY; 2], kind }
    }

    /// Turns the frames in their links.
    #[must_use]
    pub const fn with_rotations(mut self, rotations: [DQuat; 2]) -> Self {
        self.rotations = rotations;
        self
    }

    /// Number of its equations.
    pub const fn row_count(&self) -> usize {
        self.axes().0.len() + self.axes().1.len() + matches!(self.kind, LoopKind::Distance(_)) as usize
    }

    /// Axes of A along which the origins coincide, and pairs (axis of A, axis of B) that stay square.
    const fn axes(&self) -> (&'static [usize], &'static [(usize, usize)]) {
        match self.kind {
            LoopKind::Fixed => (&[0, 1, 2], &[(0, 1), (1, 2), (2, 0)]),
            LoopKind::Revolute => (&[0, 1, 2], &[(0, 2), (1, 2)]),
            LoopKind::Spherical => (&[0, 1, 2], &[]),
            LoopKind::Universal => (&[0, 1, 2], &[(0, 1)]),
            LoopKind::Cylindrical => (&[0, 1], &[(0, 2), (1, 2)]),
            LoopKind::Prismatic => (&[0, 1], &[(0, 1), (1, 2), (2, 0)]),
            LoopKind::Planar => (&[2], &[(0, 2), (1, 2)]),
            LoopKind::Distance(_) => (&[], &[]),
        }
    }
}

/// Where to write rows: Jacobian (row by row), errors C and J̇ v.
pub(super) struct RowSlices<'a> {
    pub jacobian: &'a mut [f64],
    pub error: &'a mut [f64],
    pub bias: &'a mut [f64],
}

/// A frame of a loop in the world and how it moves when no joint accelerates.
struct Side {
    axes: DMat3,
    point: DVec3,
    velocity: DVec3,
    omega: DVec3,
    acceleration: DVec3,
    alpha: DVec3,
}

/// Memory for the rows of loops: columns of both links' Jacobians.
#[derive(Clone, Debug)]
pub(super) struct LoopColumns([Vec<SpatialMotion<f64>>; 2]);

impl LoopColumns {
    pub fn new(tree: &LinkTree) -> Self {
        Self(std::array::from_fn(|_| vec![SpatialMotion::default(); tree.velocity_count()]))
    }
}

impl LoopClosure {
    fn side(&self, which: usize, tree: &LinkTree, work: &Workspace<f64>) -> Result<Side, DynamicsError> {
        let own = DMat3::from_quat(self.rotations[which]);
        let Some(link) = self.links[which] else {
            let zero = DVec3::ZERO;
            return Ok(Side {
                axes: own,
                point: self.points[which],
                velocity: zero,
                omega: zero,
                acceleration: zero,
                alpha: zero,
            });
        };
        let axes = work.rotation(link, 0);
        let arm = axes * self.points[which];
        let point = work.origin(link, 0) + arm;
        let motion = work.velocity(link).at(Vector::splat(arm));
        let bias = bias_acceleration(tree, work, link, Vector::splat(point))?;
        Ok(Side {
            axes: axes * own,
            point,
            velocity: motion.linear.lane(0),
            omega: motion.angular.lane(0),
            acceleration: bias.linear.lane(0),
            alpha: bias.angular.lane(0),
        })
    }

    /// Writes its equations, after velocities were computed.
    pub(super) fn write(
        &self,
        tree: &LinkTree,
        work: &Workspace<f64>,
        columns: &mut LoopColumns,
        rows: &mut RowSlices<'_>,
    ) -> Result<(), DynamicsError> {
        let (a, b) = (self.side(0, tree, work)?, self.side(1, tree, work)?);
        for (which, side) in [&a, &b].into_iter().enumerate() {
            match self.links[which] {
                Some(link) => {
                    jacobian(tree, work, link, Vector::splat(side.point), &mut columns.0[which])?;
                }
                None => columns.0[which].fill(SpatialMotion::default()),
            }
        }
        let n = tree.velocity_count();
        let mut place = 0;
        // One row: coefficients of A's angular, A's linear and B's linear velocity; B's angular one is given apart.
        let mut put = |c: f64, bias: f64, [a_w, a_u, b_w, b_u]: [DVec3; 4]| {
            let coefficients = [a_w, a_u, b_w, b_u].map(Vector::splat);
            for k in 0..n {
                let (at_a, at_b) = (&columns.0[0][k], &columns.0[1][k]);
                rows.jacobian[place * n + k] = coefficients[0].dot(at_a.angular)
                    + coefficients[1].dot(at_a.linear)
                    + coefficients[2].dot(at_b.angular)
                    + coefficients[3].dot(at_b.linear);
            }
            (rows.error[place], rows.bias[place]) = (c, bias);
            place += 1;
        };
        let (d, d_rate) = (b.point - a.point, b.velocity - a.velocity);
        let d_second = b.acceleration - a.acceleration;
        if let LoopKind::Distance(length) = self.kind {
            let size = d.length();
            let along = if size > 0.0 { d / size } else { DVec3::X };
            let across = d_rate.length_squared() - along.dot(d_rate).powi(2);
            let bias = along.dot(d_second) + across / size.max(f64::MIN_POSITIVE.sqrt());
            put(size - length, bias, [DVec3::ZERO, -along, DVec3::ZERO, along]);
        }
        let (along, square) = self.axes();
        for axis in along {
            let e = a.axes.col(*axis);
            let turning = a.omega.cross(e);
            let bias = e.dot(d_second)
                + 2.0 * turning.dot(d_rate)
                + (a.alpha.cross(e) + a.omega.cross(turning)).dot(d);
            put(e.dot(d), bias, [e.cross(d), -e, DVec3::ZERO, e]);
        }
        for (of_a, of_b) in square {
            let (e, f) = (a.axes.col(*of_a), b.axes.col(*of_b));
            let normal = e.cross(f);
            let normal_rate = a.omega.cross(e).cross(f) + e.cross(b.omega.cross(f));
            let bias = normal.dot(a.alpha - b.alpha) + normal_rate.dot(a.omega - b.omega);
            put(e.dot(f), bias, [normal, DVec3::ZERO, -normal, DVec3::ZERO]);
        }
        Ok(())
    }

    /// Whether axes that should be parallel point the same way: the equations alone would accept opposite ones too.
    pub(super) fn points_the_right_way(&self, tree: &LinkTree, work: &Workspace<f64>) -> bool {
        let (Ok(a), Ok(b)) = (self.side(0, tree, work), self.side(1, tree, work)) else {
            return false;
        };
        match self.kind {
            LoopKind::Fixed | LoopKind::Prismatic => {
                (0..3).all(|axis| a.axes.col(axis).dot(b.axes.col(axis)) > 0.0)
            }
            LoopKind::Revolute | LoopKind::Cylindrical | LoopKind::Planar => {
                a.axes.z_axis.dot(b.axes.z_axis) > 0.0
            }
            LoopKind::Spherical | LoopKind::Universal | LoopKind::Distance(_) => true,
        }
    }
}

impl Coupling {
    /// Writes its equation at positions q.
    pub(super) fn write(&self, tree: &LinkTree, q: &[f64], rows: &mut RowSlices<'_>) {
        let n = tree.velocity_count();
        rows.jacobian[..n].fill(0.0);
        let mut error = -self.offset;
        for (axis, factor) in &self.terms {
            rows.jacobian[*axis] += factor;
            if let Some(place) = tree.position_of_velocity(*axis) {
                error += factor * q[place];
            }
        }
        (rows.error[0], rows.bias[0]) = (error, 0.0);
    }
}
