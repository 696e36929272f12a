//! Spatial algebra: six-dimensional motions, forces and inertias about a point, along the axes of the world.
//!
//! A motion (ω, v) is the angular velocity of a link and the velocity of its material at the reference point; a force (τ, f) is a
//! torque about that point and a force. f·m = τ·ω + f·v is a power. To another reference point, which lies at r:
//!
//!   motion:  ω′ = ω,  v′ = v + ω × r            force (from r back to the origin):  f′ = f,  τ′ = τ + r × f.
//!
//! Spatial accelerations are Featherstone's: derivatives of (ω, v) with the reference point standing still in space. The material
//! that passes there accelerates by v̇ + ω × v.

use super::linear::{Matrix, Symmetric, Vector};
use super::scalar::Scalar;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A velocity or acceleration of a link: angular and linear part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialMotion<T> {
    /// ω, rad/s.
    pub angular: Vector<T>,
    /// Velocity of the material at the reference point, m/s.
    pub linear: Vector<T>,
}

/// A force on a link: torque about the reference point and force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialForce<T> {
    /// τ, N·m.
    pub torque: Vector<T>,
    /// f, N.
    pub force: Vector<T>,
}

impl<T: Scalar> SpatialMotion<T> {
    /// The same motion about a point at `r`.
    #[must_use]
    #[inline(always)]
    pub fn at(self, r: Vector<T>) -> Self {
        Self { angular: self.angular, linear: self.linear + self.angular.cross(r) }
    }

    /// Both parts turned.
    #[must_use]
    #[inline(always)]
    pub fn rotated(self, rotation: &Matrix<T>) -> Self {
        Self { angular: rotation.apply(self.angular), linear: rotation.apply(self.linear) }
    }

    /// Rate of another motion m that is fixed to what moves with this one: self × m.
    #[must_use]
    #[inline(always)]
    pub fn cross(self, m: Self) -> Self {
        Self {
            angular: self.angular.cross(m.angular),
            linear: self.linear.cross(m.angular) + self.angular.cross(m.linear),
        }
    }

    /// Rate of a force that is fixed to what moves with this motion: self ×* f.
    #[inline(always)]
    pub fn cross_force(self, f: SpatialForce<T>) -> SpatialForce<T> {
        SpatialForce {
            torque: self.angular.cross(f.torque) + self.linear.cross(f.force),
            force: self.angular.cross(f.force),
        }
    }

    /// Power of a force.
    #[inline(always)]
    pub fn power(self, f: SpatialForce<T>) -> T {
        self.angular.dot(f.torque) + self.linear.dot(f.force)
    }
}

impl<T: Scalar> SpatialForce<T> {
    /// A force about a point at `r` ⇒ the same about the origin.
    #[must_use]
    #[inline(always)]
    pub fn shifted_by(self, r: Vector<T>) -> Self {
        Self { torque: self.torque + r.cross(self.force), force: self.force }
    }
}

macro_rules! componentwise {
    ($type:ident, $a:ident, $b:ident) => {
        impl<T: Scalar> Add for $type<T> {
            type Output = Self;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                Self { $a: self.$a + o.$a, $b: self.$b + o.$b }
            }
        }
        impl<T: Scalar> Sub for $type<T> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                Self { $a: self.$a - o.$a, $b: self.$b - o.$b }
            }
        }
        impl<T: Scalar> Mul<T> for $type<T> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, k: T) -> Self {
                Self { $a: self.$a * k, $b: self.$b * k }
            }
        }
        impl<T: Scalar> AddAssign for $type<T> {
            #[inline(always)]
            fn add_assign(&mut self, o: Self) {
                *self = *self + o;
            }
        }
    };
}
componentwise!(SpatialMotion, angular, linear);
componentwise!(SpatialForce, torque, force);

/// Inertia of a rigid link, or of several that are rigidly connected: mass, first and second moments about the reference point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia<T> {
    /// m, kg.
    pub mass: T,
    /// m c with c from the reference point to the centre of mass, kg·m.
    pub first_moment: Vector<T>,
    /// Inertia about the reference point, kg·m².
    pub second_moment: Symmetric<T>,
}

impl<T: Scalar> RigidInertia<T> {
    /// Momentum of a motion about the same point.
    #[inline(always)]
    pub fn apply(&self, m: SpatialMotion<T>) -> SpatialForce<T> {
        SpatialForce {
            torque: self.second_moment.apply(m.angular) + self.first_moment.cross(m.linear),
            force: m.linear * self.mass - self.first_moment.cross(m.angular),
        }
    }

    /// An inertia about a point at `r` ⇒ the same about the origin.
    ///
    /// With h = m c: I′ = I − r̃ h̃ − h̃ r̃ − m r̃ r̃, and −ã b̃ − b̃ ã = 2 (a·b) 1 − a bᵀ − b aᵀ.
    #[must_use]
    #[inline(always)]
    pub fn shifted_by(&self, r: Vector<T>) -> Self {
        let mut second_moment = self.second_moment;
        let h = self.first_moment;
        let twice = |a: T| a + a;
        let hr = Vector::new(h.x * r.x, h.y * r.y, h.z * r.z);
        second_moment.xx += twice(hr.y + hr.z);
        second_moment.yy += twice(hr.x + hr.z);
        second_moment.zz += twice(hr.x + hr.y);
        second_moment.xy -= h.x * r.y + h.y * r.x;
        second_moment.xz -= h.x * r.z + h.z * r.x;
        second_moment.yz -= h.y * r.z + h.z * r.y;
        second_moment.add_point_mass(r, self.mass);
        Self { mass: self.mass, first_moment: h + r * self.mass, second_moment }
    }
}

impl<T: Scalar> AddAssign for RigidInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        self.mass += b.mass;
        self.first_moment += b.first_moment;
        self.second_moment += b.second_moment;
    }
}

/// Inertia of a subtree whose joints give way: a symmetric positive definite 6×6 matrix in blocks.
///
/// τ = I α + H a,  f = Hᵀ α + M a.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ArticulatedInertia<T> {
    /// I, kg·m².
    pub angular: Symmetric<T>,
    /// H, kg·m.
    pub coupling: Matrix<T>,
    /// M, kg.
    pub linear: Symmetric<T>,
}

impl<T: Scalar> ArticulatedInertia<T> {
    /// A rigid inertia as an articulated one: H = h̃, M = m 1.
    #[inline(always)]
    pub fn rigid(i: &RigidInertia<T>) -> Self {
        let (h, zero) = (i.first_moment, T::default());
        Self {
            angular: i.second_moment,
            coupling: Matrix {
                x: Vector::new(zero, h.z, -h.y),
                y: Vector::new(-h.z, zero, h.x),
                z: Vector::new(h.y, -h.x, zero),
            },
            linear: Symmetric { xx: i.mass, yy: i.mass, zz: i.mass, ..Symmetric::default() },
        }
    }

    /// Force of an acceleration.
    #[inline(always)]
    pub fn apply(&self, m: SpatialMotion<T>) -> SpatialForce<T> {
        SpatialForce {
            torque: self.angular.apply(m.angular) + self.coupling.apply(m.linear),
            force: self.coupling.apply_transposed(m.angular) + self.linear.apply(m.linear),
        }
    }

    /// Force of an angular acceleration alone.
    #[inline(always)]
    pub fn apply_angular(&self, alpha: Vector<T>) -> SpatialForce<T> {
        SpatialForce { torque: self.angular.apply(alpha), force: self.coupling.apply_transposed(alpha) }
    }

    /// Force of a linear acceleration alone.
    #[inline(always)]
    pub fn apply_linear(&self, a: Vector<T>) -> SpatialForce<T> {
        SpatialForce { torque: self.coupling.apply(a), force: self.linear.apply(a) }
    }

    /// self − k u uᵀ: what is left when the subtree gives way along one axis.
    #[inline(always)]
    pub fn release(&mut self, u: SpatialForce<T>, k: T) {
        let k = -k;
        self.angular.add_outer(u.torque, k);
        self.linear.add_outer(u.force, k);
        let t = u.torque * k;
        self.coupling.x += t * u.force.x;
        self.coupling.y += t * u.force.y;
        self.coupling.z += t * u.force.z;
    }

    /// An inertia about a point at `r` ⇒ the same about the origin: H′ = H + r̃ M, I′ = I − H r̃ + r̃ H′ᵀ.
    #[must_use]
    #[inline(always)]
    pub fn shifted_by(&self, r: Vector<T>) -> Self {
        let Self { angular: i, coupling: h, linear: m } = self;
        let column = |x, y, z| Vector::new(x, y, z);
        let coupling = Matrix {
            x: h.x + r.cross(column(m.xx, m.xy, m.xz)),
            y: h.y + r.cross(column(m.xy, m.yy, m.yz)),
            z: h.z + r.cross(column(m.xz, m.yz, m.zz)),
        };
        // −H r̃ has the entries of r × (row of H), r̃ H′ᵀ the columns r × (row of H′).
        let cross_row_x = |a: &Matrix<T>| r.cross(column(a.x.x, a.y.x, a.z.x));
        let cross_row_y = |a: &Matrix<T>| r.cross(column(a.x.y, a.y.y, a.z.y));
        let (left_x, left_y) = (cross_row_x(h), cross_row_y(h));
        let left_zz = r.x * h.y.z - r.y * h.x.z;
        let (right_x, right_y) = (cross_row_x(&coupling), cross_row_y(&coupling));
        let right_z = r.cross(column(coupling.x.z, coupling.y.z, coupling.z.z));
        let angular = Symmetric {
            xx: i.xx + left_x.x + right_x.x,
            xy: i.xy + left_x.y + right_y.x,
            xz: i.xz + left_x.z + right_z.x,
            yy: i.yy + left_y.y + right_y.y,
            yz: i.yz + left_y.z + right_z.y,
            zz: i.zz + left_zz + right_z.z,
        };
        Self { angular, coupling, linear: *m }
    }
}

impl<T: Scalar> AddAssign for ArticulatedInertia<T> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        self.angular += b.angular;
        self.linear += b.linear;
        self.coupling.x += b.coupling.x;
        self.coupling.y += b.coupling.y;
        self.coupling.z += b.coupling.z;
    }
}
