//! Where links are and how they move: from the base to the tips.
//!
//! All spatial quantities of a link are along the axes of the world and about the origin o of the link's own frame, which is where its joint is.
//! So a change of link is a shift by r = o − o_parent and never a rotation, the column of a revolute or prismatic joint has one part only, and
//! nothing loses digits far from the origin of the world.
//!
//!   R = R_h R_J(q),  o = o_h + R_h p_J(q),  (ω, v) = (ω, v)_h at r + S v,  c = (ω, v) × S v + R Ṡ v.

use super::joint::Column;
use super::linear::{Matrix, Vector};
use super::scalar::Scalar;
use super::spatial::{ArticulatedInertia, SpatialForce, SpatialMotion};
use super::tree::{LinkTree, Node, ROOT, ShortForm};
use glam::{DMat3, DVec3};

/// A link at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkState<T> {
    /// Axes of the link in the world.
    pub rotation: Matrix<T>,
    /// Origin of the link in the world, m.
    pub origin: Vector<T>,
    /// From the parent's origin to its own, m.
    pub arm: Vector<T>,
    /// Velocity.
    pub velocity: SpatialMotion<T>,
    /// Acceleration c that velocities alone give it.
    pub bias: SpatialMotion<T>,
    /// Acceleration.
    pub acceleration: SpatialMotion<T>,
    /// Change of velocity by an impulse.
    pub change: SpatialMotion<T>,
    /// Force through its joint, or bias force on the way there.
    pub force: SpatialForce<T>,
    /// Origin of the link at the bottom of its branch, m.
    pub base: Vector<T>,
    /// Inertia of the subtree whose joints give way.
    pub articulated: ArticulatedInertia<T>,
}

/// One velocity of a joint at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AxisState<T> {
    /// Column of S, along the axes of the world.
    pub s: SpatialMotion<T>,
    /// U = I_A s.
    pub u: SpatialForce<T>,
    /// 1/D = 1/(s·U + armature).
    pub d_inverse: T,
    /// Joint force less what the bias of the subtree takes.
    pub rest: T,
    /// Sine and cosine of the position, of a revolute joint.
    pub turn: (T, T),
}

/// Memory of the algorithms, of the size of one tree. Nothing is allocated after it was made.
#[derive(Clone, Debug)]
pub struct Workspace<T> {
    pub(super) links: Vec<LinkState<T>>,
    pub(super) axes: Vec<AxisState<T>>,
}

impl<T: Scalar> Workspace<T> {
    /// Memory for a tree.
    pub fn new(tree: &LinkTree) -> Self {
        Self {
            links: vec![LinkState::default(); tree.links().len()],
            axes: vec![AxisState::default(); tree.velocity_count()],
        }
    }

    /// Axes of a link in the world, of a lane, after kinematics or dynamics were computed.
    pub fn rotation(&self, link: usize, lane: usize) -> DMat3 {
        self.links[link].rotation.lane(lane)
    }

    /// Origin of a link in the world, m.
    pub fn origin(&self, link: usize, lane: usize) -> DVec3 {
        self.links[link].origin.lane(lane)
    }

    /// Velocity of a link about its origin.
    pub fn velocity(&self, link: usize) -> SpatialMotion<T> {
        self.links[link].velocity
    }

    /// Spatial acceleration of a link about its origin, gravity not counted.
    pub fn acceleration(&self, link: usize) -> SpatialMotion<T> {
        self.links[link].acceleration
    }

    /// Force on a link through its joint, about its origin; after inverse dynamics, or forward dynamics with reactions.
    pub fn reaction(&self, link: usize) -> SpatialForce<T> {
        self.links[link].force
    }
}

/// Where a parent is: the world for links that hang on it.
#[inline(always)]
pub(super) fn parent_of<T: Scalar>(links: &[LinkState<T>], node: &Node) -> Option<usize> {
    (node.parent != ROOT).then_some(node.parent as usize).filter(|parent| *parent < links.len())
}

/// Positions ⇒ sines and cosines of the angles of all revolute joints, four at a time: single ones would wait for each other's long chains
/// of operations.
#[inline(always)]
pub(super) fn turn_all<T: Scalar>(tree: &LinkTree, q: &[T], axes: &mut [AxisState<T>]) {
    let fours = tree.angles.chunks_exact(4);
    for [position, velocity] in fours.remainder() {
        axes[*velocity as usize].turn = q[*position as usize].sin_cos();
    }
    for four in fours {
        let (sin, cos) = T::sin_cos_of_four([0, 1, 2, 3].map(|k: usize| q[four[k][0] as usize]));
        for k in 0..4 {
            axes[four[k][1] as usize].turn = (sin[k], cos[k]);
        }
    }
}

/// Positions ⇒ rotation, origin, arm of a link and its columns of S; after [`turn_all`].
#[inline(always)]
pub(super) fn place<T: Scalar>(
    tree: &LinkTree,
    index: usize,
    node: &Node,
    q: &[T],
    links: &mut [LinkState<T>],
    axes: &mut [AxisState<T>],
) {
    let parent = parent_of(links, node).map(|parent| (links[parent].rotation, links[parent].origin));
    let at = node.position as usize;
    if let ShortForm::AlignedRotation { axis, sign, straight } = node.form {
        let (sin, cos) = axes[node.velocity as usize].turn;
        let sin = sin * T::splat(sign);
        let (arm, origin, base) = match parent {
            None => {
                let offset = Vector::splat(node.offset);
                (offset, offset, Matrix::splat(&node.rotation))
            }
            Some((rotation, origin)) => {
                let arm = rotation.apply(Vector::splat(node.offset));
                let base =
                    if straight { rotation } else { rotation.multiply(&Matrix::splat(&node.rotation)) };
                (arm, origin + arm, base)
            }
        };
        let turned = |a: Vector<T>, b: Vector<T>| (a * cos + b * sin, b * cos - a * sin);
        let mut rotation = base;
        let along = match axis {
            0 => {
                (rotation.y, rotation.z) = turned(base.y, base.z);
                base.x
            }
            1 => {
                (rotation.z, rotation.x) = turned(base.z, base.x);
                base.y
            }
            _ => {
                (rotation.x, rotation.y) = turned(base.x, base.y);
                base.z
            }
        };
        let link = &mut links[index];
        (link.rotation, link.arm, link.origin) = (rotation, arm, origin);
        axes[node.velocity as usize].s.angular = along * T::splat(sign);
        return;
    }
    let (local, offset);
    match &node.form {
        ShortForm::Rotation { sum, sine, cosine, .. } => {
            let (sin, cos) = axes[node.velocity as usize].turn;
            let mix = |a: DVec3, b: DVec3, c: DVec3| {
                Vector::splat(a) + Vector::splat(b) * sin - Vector::splat(c) * cos
            };
            local = Matrix {
                x: mix(sum.x_axis, sine.x_axis, cosine.x_axis),
                y: mix(sum.y_axis, sine.y_axis, cosine.y_axis),
                z: mix(sum.z_axis, sine.z_axis, cosine.z_axis),
            };
            offset = Vector::splat(node.offset);
        }
        ShortForm::Translation { in_parent, .. } => {
            local = Matrix::splat(&node.rotation);
            offset = Vector::splat(node.offset) + Vector::splat(*in_parent) * q[at];
        }
        ShortForm::General => {
            let (mut rotation, mut translation) = (Matrix::default(), Vector::default());
            for_each_lane(tree, index, q, |joint, lane, q| {
                let (r, p) = joint.pose(q);
                rotation.set_lane(lane, &(node.rotation * r));
                translation.set_lane(lane, node.offset + node.rotation * p);
            });
            (local, offset) = (rotation, translation);
        }
        // Placed above.
        ShortForm::AlignedRotation { .. } => return,
    }
    let link = &mut links[index];
    (link.rotation, link.arm, link.origin) = match parent {
        None => (local, offset, offset),
        Some((rotation, origin)) => {
            let arm = rotation.apply(offset);
            (rotation.multiply(&local), arm, origin + arm)
        }
    };
    let rotation = link.rotation;
    match &node.form {
        ShortForm::Rotation { axis, .. } => {
            axes[node.velocity as usize].s.angular = rotation.apply(Vector::splat(*axis));
        }
        ShortForm::Translation { axis, .. } => {
            axes[node.velocity as usize].s.linear = rotation.apply(Vector::splat(*axis));
        }
        ShortForm::AlignedRotation { .. } => {}
        ShortForm::General => {
            let count = node.velocity_count as usize;
            let mut columns = [SpatialMotion::<T>::default(); 6];
            let lanes = if node.constant_subspace { 1 } else { T::LANES };
            for_some_lanes(tree, index, q, lanes, |joint, lane, q| {
                let mut own = [Column::default(); 6];
                joint.motion_subspace(q, &mut own[..count]);
                for (column, own) in columns.iter_mut().zip(&own[..count]) {
                    if node.constant_subspace {
                        column.angular = Vector::splat(own.angular.lane(0));
                        column.linear = Vector::splat(own.linear.lane(0));
                    } else {
                        column.angular.set_lane(lane, own.angular.lane(0));
                        column.linear.set_lane(lane, own.linear.lane(0));
                    }
                }
            });
            for (axis, column) in axes[node.velocity as usize..][..count].iter_mut().zip(columns) {
                axis.s = SpatialMotion {
                    angular: rotation.apply(column.angular),
                    linear: rotation.apply(column.linear),
                };
            }
        }
    }
}

/// Calls a joint without short form for every lane with its own positions.
fn for_each_lane<T: Scalar>(
    tree: &LinkTree,
    index: usize,
    q: &[T],
    call: impl FnMut(&dyn super::joint::JointKind, usize, &[f64]),
) {
    for_some_lanes(tree, index, q, T::LANES, call);
}

/// The same for the first lanes only.
fn for_some_lanes<T: Scalar>(
    tree: &LinkTree,
    index: usize,
    q: &[T],
    lanes: usize,
    mut call: impl FnMut(&dyn super::joint::JointKind, usize, &[f64]),
) {
    let range = tree.positions_of(index);
    let joint = &*tree.links()[index].joint;
    // No built-in joint has more than seven positions; others are gathered on the heap.
    let mut few = [0.0; 8];
    let mut many = Vec::new();
    let own = if range.len() <= few.len() {
        &mut few[..range.len()]
    } else {
        many.resize(range.len(), 0.0);
        &mut many[..]
    };
    for lane in 0..lanes {
        for (own, q) in own.iter_mut().zip(&q[range.clone()]) {
            *own = q.lane(lane);
        }
        call(joint, lane, own);
    }
}

/// Velocities ⇒ velocity and bias acceleration of a link that has been placed.
#[inline(always)]
pub(super) fn follow<T: Scalar>(
    tree: &LinkTree,
    index: usize,
    node: &Node,
    q: &[T],
    v: &[T],
    links: &mut [LinkState<T>],
    axes: &[AxisState<T>],
) {
    let inherited = parent_of(links, node).map(|parent| links[parent].velocity).unwrap_or_default();
    let link = &mut links[index];
    let inherited = inherited.at(link.arm);
    let at = node.velocity as usize;
    match &node.form {
        ShortForm::Rotation { .. } | ShortForm::AlignedRotation { .. } => {
            let own = axes[at].s.angular * v[at];
            link.velocity = SpatialMotion { angular: inherited.angular + own, linear: inherited.linear };
            link.bias =
                SpatialMotion { angular: inherited.angular.cross(own), linear: inherited.linear.cross(own) };
        }
        ShortForm::Translation { .. } => {
            let own = axes[at].s.linear * v[at];
            link.velocity = SpatialMotion { angular: inherited.angular, linear: inherited.linear + own };
            link.bias = SpatialMotion { angular: Vector::default(), linear: inherited.angular.cross(own) };
        }
        ShortForm::General => {
            let count = node.velocity_count as usize;
            let mut own = SpatialMotion::default();
            for (axis, v) in axes[at..][..count].iter().zip(&v[at..][..count]) {
                own += axis.s * *v;
            }
            link.velocity = inherited + own;
            link.bias = link.velocity.cross(own);
            if node.constant_subspace {
                return;
            }
            let mut rate = SpatialMotion::<T>::default();
            for_each_lane(tree, index, q, |joint, lane, q| {
                let mut speeds = [0.0; 6];
                for (speed, v) in speeds.iter_mut().zip(&v[at..][..count]) {
                    *speed = v.lane(lane);
                }
                let bias = joint.bias(q, &speeds[..count]);
                rate.angular.set_lane(lane, bias.angular.lane(0));
                rate.linear.set_lane(lane, bias.linear.lane(0));
            });
            let rate = SpatialMotion {
                angular: link.rotation.apply(rate.angular),
                linear: link.rotation.apply(rate.linear),
            };
            link.bias += rate;
        }
    }
}

/// Positions ⇒ where every link is.
pub fn forward_kinematics<T: Scalar>(tree: &LinkTree, work: &mut Workspace<T>, q: &[T]) {
    turn_all(tree, q, &mut work.axes);
    for (index, node) in tree.nodes.iter().enumerate() {
        place(tree, index, node, q, &mut work.links, &mut work.axes);
    }
}

/// Positions and velocities ⇒ where every link is and how it moves.
pub fn forward_velocities<T: Scalar>(tree: &LinkTree, work: &mut Workspace<T>, q: &[T], v: &[T]) {
    turn_all(tree, q, &mut work.axes);
    for (index, node) in tree.nodes.iter().enumerate() {
        place(tree, index, node, q, &mut work.links, &mut work.axes);
        follow(tree, index, node, q, v, &mut work.links, &work.axes);
    }
}
