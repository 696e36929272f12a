//! Four states at a time: every operation of an algorithm is done on four numbers at once.

use super::scalar::Scalar;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Four numbers, one for each of four states. Operations are componentwise and never fused, so a lane has the bits that a single
/// number would have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(align(32))]
pub struct Lanes(pub [f64; 4]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, b: Self) -> Self {
                Self([
                    self.0[0] $op b.0[0],
                    self.0[1] $op b.0[1],
                    self.0[2] $op b.0[2],
                    self.0[3] $op b.0[3],
                ])
            }
        }
    };
}
lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);
lanewise!(Div, div, /);

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, b: Self) {
        *self = *self + b;
    }
}

impl SubAssign for Lanes {
    #[inline(always)]
    fn sub_assign(&mut self, b: Self) {
        *self = *self - b;
    }
}

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self.0[0], -self.0[1], -self.0[2], -self.0[3]])
    }
}

impl Scalar for Lanes {
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 4])
    }

    #[inline(always)]
    fn lane(self, lane: usize) -> f64 {
        self.0[lane]
    }

    #[inline(always)]
    fn set_lane(&mut self, lane: usize, value: f64) {
        self.0[lane] = value;
    }

    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (sin, cos) = super::scalar::sin_cos(self.0);
        (Self(sin), Self(cos))
    }

    #[inline(always)]
    fn is_positive(self) -> bool {
        let good = |x: f64| x > 0.0 && x.is_finite();
        good(self.0[0]) & good(self.0[1]) & good(self.0[2]) & good(self.0[3])
    }
}
