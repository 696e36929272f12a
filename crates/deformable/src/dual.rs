//! Derivatives by dual numbers: a + Σᵢ aᵢ εᵢ with εᵢ εⱼ = 0. A function evaluated on x + ε has its exact gradient in the
//! coefficients; dual numbers of dual numbers give second derivatives.

#![allow(clippy::suspicious_arithmetic_impl, reason = "the rules of products and quotients")]

use std::array::from_fn;
use std::ops::{Add, Div, Mul, Neg, Sub};

use glam::{DMat3, DVec3};

/// What a formula needs of its numbers.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    fn of(x: f64) -> Self;
    fn sqrt(self) -> Self;
}

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
}

/// a + Σ aᵢ εᵢ
#[derive(Clone, Copy)]
pub(crate) struct Dual<T, const N: usize> {
    pub a: T,
    pub d: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    pub fn variable(a: T, index: usize) -> Self {
        Self { a, d: from_fn(|i| T::of(f64::from(u8::from(i == index)))) }
    }
}

impl<T: Real, const N: usize> Add for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn add(self, o: Self) -> Self {
        Self { a: self.a + o.a, d: from_fn(|i| self.d[i] + o.d[i]) }
    }
}

impl<T: Real, const N: usize> Sub for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn sub(self, o: Self) -> Self {
        Self { a: self.a - o.a, d: from_fn(|i| self.d[i] - o.d[i]) }
    }
}

impl<T: Real, const N: usize> Mul for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn mul(self, o: Self) -> Self {
        Self { a: self.a * o.a, d: from_fn(|i| self.d[i] * o.a + self.a * o.d[i]) }
    }
}

impl<T: Real, const N: usize> Div for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn div(self, o: Self) -> Self {
        let a = self.a / o.a;
        Self { a, d: from_fn(|i| (self.d[i] - a * o.d[i]) / o.a) }
    }
}

impl<T: Real, const N: usize> Neg for Dual<T, N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self { a: -self.a, d: self.d.map(|d| -d) }
    }
}

impl<T: Real, const N: usize> Real for Dual<T, N> {
    fn of(x: f64) -> Self {
        Self { a: T::of(x), d: [T::of(0.0); N] }
    }
    fn sqrt(self) -> Self {
        let a = self.a.sqrt();
        let half = T::of(0.5) / a;
        Self { a, d: self.d.map(|d| d * half) }
    }
}

/// Vector of such numbers.
#[derive(Clone, Copy)]
pub(crate) struct Vec3<T>(pub [T; 3]);

impl<T: Real> Vec3<T> {
    pub fn dot(self, o: Self) -> T {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }
    pub fn cross(self, o: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, o.0);
        Self([b * z - c * y, c * x - a * z, a * y - b * x])
    }
    pub fn length(self) -> T {
        self.dot(self).sqrt()
    }
    pub fn scaled(self, k: T) -> Self {
        Self(self.0.map(|x| x * k))
    }
}

impl<T: Real> Add for Vec3<T> {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self(from_fn(|i| self.0[i] + o.0[i]))
    }
}

impl<T: Real> Sub for Vec3<T> {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self(from_fn(|i| self.0[i] - o.0[i]))
    }
}

/// N points ⇒ the same as variables; D = 3 N.
pub(crate) fn variables<T: Real, const N: usize, const D: usize>(x: &[Vec3<T>; N]) -> [Vec3<Dual<T, D>>; N] {
    from_fn(|i| Vec3(from_fn(|c| Dual::variable(x[i].0[c], 3 * i + c))))
}

/// Points as vectors of plain numbers.
pub(crate) fn plain<const N: usize>(x: &[DVec3; N]) -> [Vec3<f64>; N] {
    x.map(|p| Vec3(p.to_array()))
}

/// 3 N derivatives ⇒ N vectors.
pub(crate) fn vectors<const N: usize, const D: usize>(d: &[f64; D]) -> [DVec3; N] {
    from_fn(|i| DVec3::new(d[3 * i], d[3 * i + 1], d[3 * i + 2]))
}

/// 3 N × 3 N entries, row by row ⇒ N × N blocks.
pub(crate) fn blocks<const N: usize>(entry: impl Fn(usize, usize) -> f64) -> [[DMat3; N]; N] {
    from_fn(|i| {
        from_fn(|j| {
            DMat3::from_cols_array(&from_fn(|k| {
                let (column, row) = (k / 3, k % 3);
                entry(3 * i + row, 3 * j + column)
            }))
        })
    })
}

/// a bᵀ
#[inline(always)]
pub(crate) fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
