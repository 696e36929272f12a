//! Vectors, rotations and symmetric matrices in three dimensions over any [`Scalar`].

use super::scalar::Scalar;
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Three numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vector<T> {
    /// First.
    pub x: T,
    /// Second.
    pub y: T,
    /// Third.
    pub z: T,
}

impl<T: Scalar> Vector<T> {
    /// (x, y, z) ⇒ vector.
    #[inline(always)]
    pub const fn new(x: T, y: T, z: T) -> Self {
        Self { x, y, z }
    }

    /// The same vector in every lane.
    #[inline(always)]
    pub fn splat(v: DVec3) -> Self {
        Self::new(T::splat(v.x), T::splat(v.y), T::splat(v.z))
    }

    /// The vector of a lane.
    #[must_use]
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> DVec3 {
        DVec3::new(self.x.lane(lane), self.y.lane(lane), self.z.lane(lane))
    }

    /// Replaces the vector of a lane.
    #[inline(always)]
    pub fn set_lane(&mut self, lane: usize, v: DVec3) {
        self.x.set_lane(lane, v.x);
        self.y.set_lane(lane, v.y);
        self.z.set_lane(lane, v.z);
    }

    /// a·b.
    #[inline(always)]
    pub fn dot(self, b: Self) -> T {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    /// a × b.
    #[must_use]
    #[inline(always)]
    pub fn cross(self, b: Self) -> Self {
        Self::new(self.y * b.z - self.z * b.y, self.z * b.x - self.x * b.z, self.x * b.y - self.y * b.x)
    }
}

impl<T: Scalar> Add for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self::new(self.x + b.x, self.y + b.y, self.z + b.z)
    }
}
impl<T: Scalar> Sub for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self::new(self.x - b.x, self.y - b.y, self.z - b.z)
    }
}
impl<T: Scalar> Neg for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y, -self.z)
    }
}
impl<T: Scalar> Mul<T> for Vector<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: T) -> Self {
        Self::new(self.x * b, self.y * b, self.z * b)
    }
}
impl<T: Scalar> AddAssign for Vector<T> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}
impl<T: Scalar> SubAssign for Vector<T> {
    #[inline(always)]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

/// A 3×3 matrix by its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Matrix<T> {
    /// Columns.
    pub x: Vector<T>,
    /// Second column.
    pub y: Vector<T>,
    /// Third column.
    pub z: Vector<T>,
}

impl<T: Scalar> Matrix<T> {
    /// The same matrix in every lane.
    #[inline(always)]
    pub fn splat(m: &DMat3) -> Self {
        Self { x: Vector::splat(m.x_axis), y: Vector::splat(m.y_axis), z: Vector::splat(m.z_axis) }
    }

    /// The matrix of a lane.
    #[must_use]
    #[inline(always)]
    pub fn lane(&self, lane: usize) -> DMat3 {
        DMat3::from_cols(self.x.lane(lane), self.y.lane(lane), self.z.lane(lane))
    }

    /// Replaces the matrix of a lane.
    #[inline(always)]
    pub fn set_lane(&mut self, lane: usize, m: &DMat3) {
        self.x.set_lane(lane, m.x_axis);
        self.y.set_lane(lane, m.y_axis);
        self.z.set_lane(lane, m.z_axis);
    }

    /// m v.
    #[inline(always)]
    pub fn apply(&self, v: Vector<T>) -> Vector<T> {
        self.x * v.x + self.y * v.y + self.z * v.z
    }

    /// mᵀ v.
    #[inline(always)]
    pub fn apply_transposed(&self, v: Vector<T>) -> Vector<T> {
        Vector::new(self.x.dot(v), self.y.dot(v), self.z.dot(v))
    }

    /// m b.
    #[must_use]
    #[inline(always)]
    pub fn multiply(&self, b: &Self) -> Self {
        Self { x: self.apply(b.x), y: self.apply(b.y), z: self.apply(b.z) }
    }
}

/// A symmetric 3×3 matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Symmetric<T> {
    /// Elements of the upper triangle.
    pub xx: T,
    /// Row 1, column 2.
    pub xy: T,
    /// Row 1, column 3.
    pub xz: T,
    /// Row 2, column 2.
    pub yy: T,
    /// Row 2, column 3.
    pub yz: T,
    /// Row 3, column 3.
    pub zz: T,
}

impl<T: Scalar> Symmetric<T> {
    /// The same matrix in every lane; of an unsymmetric one, its upper triangle.
    #[inline(always)]
    pub fn splat(m: &DMat3) -> Self {
        Self {
            xx: T::splat(m.x_axis.x),
            xy: T::splat(m.y_axis.x),
            xz: T::splat(m.z_axis.x),
            yy: T::splat(m.y_axis.y),
            yz: T::splat(m.z_axis.y),
            zz: T::splat(m.z_axis.z),
        }
    }

    /// s v.
    #[inline(always)]
    pub fn apply(&self, v: Vector<T>) -> Vector<T> {
        Vector::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// R s Rᵀ.
    #[must_use]
    #[inline(always)]
    pub fn rotated(&self, r: &Matrix<T>) -> Self {
        // Columns of R s, then the upper triangle of (R s) Rᵀ.
        let a = r.x * self.xx + r.y * self.xy + r.z * self.xz;
        let b = r.x * self.xy + r.y * self.yy + r.z * self.yz;
        let c = r.x * self.xz + r.y * self.yz + r.z * self.zz;
        Self {
            xx: a.x * r.x.x + b.x * r.y.x + c.x * r.z.x,
            xy: a.x * r.x.y + b.x * r.y.y + c.x * r.z.y,
            xz: a.x * r.x.z + b.x * r.y.z + c.x * r.z.z,
            yy: a.y * r.x.y + b.y * r.y.y + c.y * r.z.y,
            yz: a.y * r.x.z + b.y * r.y.z + c.y * r.z.z,
            zz: a.z * r.x.z + b.z * r.y.z + c.z * r.z.z,
        }
    }

    /// s + k a aᵀ.
    #[inline(always)]
    pub fn add_outer(&mut self, a: Vector<T>, k: T) {
        let b = a * k;
        self.xx += a.x * b.x;
        self.xy += a.x * b.y;
        self.xz += a.x * b.z;
        self.yy += a.y * b.y;
        self.yz += a.y * b.z;
        self.zz += a.z * b.z;
    }

    /// s + k (c² 1 − c cᵀ): the inertia that a point mass k at c adds.
    #[inline(always)]
    pub fn add_point_mass(&mut self, c: Vector<T>, k: T) {
        let b = c * k;
        self.xx += c.y * b.y + c.z * b.z;
        self.yy += c.x * b.x + c.z * b.z;
        self.zz += c.x * b.x + c.y * b.y;
        self.xy -= c.x * b.y;
        self.xz -= c.x * b.z;
        self.yz -= c.y * b.z;
    }
}

impl<T: Scalar> AddAssign for Symmetric<T> {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        self.xx += b.xx;
        self.xy += b.xy;
        self.xz += b.xz;
        self.yy += b.yy;
        self.yz += b.yz;
        self.zz += b.zz;
    }
}
