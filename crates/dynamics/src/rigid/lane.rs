//! Arithmetic for one body or for four at once, with the same bits for each.
//!
//! [`Four`] is a plain array for any machine; [`Wide`] is one 256-bit register. No operation is fused, so that the
//! machine does not show in the result.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// One number, or one number for each of several bodies.
pub(super) trait Lane:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The same number everywhere.
    fn splat(value: f64) -> Self;
    /// Square root.
    fn root(self) -> Self;
    /// The larger of the two.
    fn larger(self, other: Self) -> Self;
}

impl Lane for f64 {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

/// Four numbers side by side.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Four([f64; 4]);

macro_rules! by_lane {
    ($operation:ident, $method:ident, $symbol:tt) => {
        impl $operation for Four {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let (a, b) = (self.0, other.0);
                Self([a[0] $symbol b[0], a[1] $symbol b[1], a[2] $symbol b[2], a[3] $symbol b[3]])
            }
        }
    };
}

by_lane!(Add, add, +);
by_lane!(Sub, sub, -);
by_lane!(Mul, mul, *);
by_lane!(Div, div, /);

impl Neg for Four {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl Lane for Four {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4])
    }
    #[inline(always)]
    fn root(self) -> Self {
        Self(self.0.map(f64::sqrt))
    }
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0].larger(b[0]), a[1].larger(b[1]), a[2].larger(b[2]), a[3].larger(b[3])])
    }
}

/// Lanes for four bodies.
pub(super) trait FourLanes: Lane {
    /// Numbers ⇒ lanes.
    fn new(values: [f64; 4]) -> Self;
    /// Lanes ⇒ numbers.
    fn values(self) -> [f64; 4];
}

impl FourLanes for Four {
    #[inline(always)]
    fn new(values: [f64; 4]) -> Self {
        Self(values)
    }
    #[inline(always)]
    fn values(self) -> [f64; 4] {
        self.0
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use wide::Wide;

/// Four numbers in one register of the AVX instruction set.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod wide {
    use super::{FourLanes, Lane};
    use std::arch::x86_64::{
        __m256d, _mm256_add_pd, _mm256_div_pd, _mm256_loadu_pd, _mm256_max_pd, _mm256_mul_pd, _mm256_set1_pd,
        _mm256_sqrt_pd, _mm256_storeu_pd, _mm256_sub_pd, _mm256_xor_pd,
    };
    use std::ops::{Add, Div, Mul, Neg, Sub};

    /// Must only be used inside functions compiled for AVX, after the machine was found to have it.
    #[derive(Clone, Copy, Debug)]
    pub struct Wide(__m256d);

    macro_rules! instruction {
        ($operation:ident, $method:ident, $intrinsic:ident) => {
            impl $operation for Wide {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: by the rule of the type the machine has the instruction.
                    Self(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }

    instruction!(Add, add, _mm256_add_pd);
    instruction!(Sub, sub, _mm256_sub_pd);
    instruction!(Mul, mul, _mm256_mul_pd);
    instruction!(Div, div, _mm256_div_pd);

    impl Neg for Wide {
        type Output = Self;
        #[inline(always)]
        fn neg(self) -> Self {
            // SAFETY: by the rule of the type the machine has the instruction.
            Self(unsafe { _mm256_xor_pd(self.0, _mm256_set1_pd(-0.0)) })
        }
    }

    impl Lane for Wide {
        #[inline(always)]
        fn splat(value: f64) -> Self {
            // SAFETY: by the rule of the type the machine has the instruction.
            Self(unsafe { _mm256_set1_pd(value) })
        }
        #[inline(always)]
        fn root(self) -> Self {
            // SAFETY: by the rule of the type the machine has the instruction.
            Self(unsafe { _mm256_sqrt_pd(self.0) })
        }
        #[inline(always)]
        fn larger(self, other: Self) -> Self {
            // SAFETY: by the rule of the type the machine has the instruction. Like `Lane for f64`, it returns the second
            // operand unless the first is greater.
            Self(unsafe { _mm256_max_pd(self.0, other.0) })
        }
    }

    impl FourLanes for Wide {
        #[inline(always)]
        fn new(values: [f64; 4]) -> Self {
            // SAFETY: reads four numbers from an array of four; by the rule of the type the machine has the instruction.
            Self(unsafe { _mm256_loadu_pd(values.as_ptr()) })
        }
        #[inline(always)]
        fn values(self) -> [f64; 4] {
            let mut values = [0.0; 4];
            // SAFETY: writes four numbers to an array of four; by the rule of the type the machine has the instruction.
            unsafe { _mm256_storeu_pd(values.as_mut_ptr(), self.0) };
            values
        }
    }
}

/// a · b.
#[inline(always)]
pub(super) fn dot<T: Lane>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline(always)]
pub(super) fn cross<T: Lane>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Hamilton product of x, y, z, w quaternions.
#[inline(always)]
pub(super) fn product<T: Lane>(a: [T; 4], b: [T; 4]) -> [T; 4] {
    let [ax, ay, az, aw] = a;
    let [bx, by, bz, bw] = b;
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

/// World vector ⇒ the same vector in the frame q, i.e. q* v q.
#[inline(always)]
pub(super) fn into_body<T: Lane>(q: [T; 4], v: [T; 3]) -> [T; 3] {
    // v + 2/|q|² (w (v × r) + (v × r) × r), r the vector part. A quaternion is of unit length only within rounding, and the
    // rest has a preferred sign (there are twice as many numbers just below 1 as just above): dividing by |q|² keeps vectors
    // that are turned to and fro in every step from growing.
    let r = [q[0], q[1], q[2]];
    let scale = T::splat(2.0) / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    let t = cross(v, r);
    let t = [scale * t[0], scale * t[1], scale * t[2]];
    let s = cross(t, r);
    [v[0] + q[3] * t[0] + s[0], v[1] + q[3] * t[1] + s[1], v[2] + q[3] * t[2] + s[2]]
}

/// Vector in the frame q ⇒ the same vector in the world, i.e. q v q*.
#[inline(always)]
pub(super) fn into_world<T: Lane>(q: [T; 4], v: [T; 3]) -> [T; 3] {
    into_body([-q[0], -q[1], -q[2], q[3]], v)
}
