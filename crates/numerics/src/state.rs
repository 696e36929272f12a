//! The vector space integrators work in.
//!
//! A one-step method only ever forms linear combinations y + Σ aᵢ kᵢ, inner products (for the implicit
//! methods) and one norm, the error in units of its tolerance:
//!
//! ‖d‖ = maxᵢ |dᵢ| / (absolute + relative·|yᵢ|),  accepted when ‖d‖ ≤ 1.

use crate::StepError;
use glam::{DQuat, DVec2, DVec3};

/// How large an error may be: `absolute + relative·|y|`, component by component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Part in the unit of the state.
    pub absolute: f64,
    /// Part relative to the size of the state.
    pub relative: f64,
}

impl Tolerance {
    /// The same bound whatever the size of the state.
    pub const fn absolute(absolute: f64) -> Self {
        Self { absolute, relative: 0.0 }
    }

    /// Both parts at once.
    pub const fn new(absolute: f64, relative: f64) -> Self {
        Self { absolute, relative }
    }

    /// (difference, reference) → |difference| in units of the tolerance; +∞ if that is not a number.
    pub fn measure(self, difference: f64, reference: f64) -> f64 {
        if difference == 0.0 {
            return 0.0;
        }
        let error = difference.abs() / (self.absolute + self.relative * reference.abs());
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// Checks that both parts are finite, not negative, and not both zero.
    ///
    /// # Errors
    /// [`StepError::InvalidTolerance`] with both parts.
    pub fn check(self) -> Result<(), StepError> {
        let Self { absolute, relative } = self;
        let part = |p: f64| p.is_finite() && p >= 0.0;
        if part(absolute) && part(relative) && absolute + relative > 0.0 {
            Ok(())
        } else {
            Err(StepError::InvalidTolerance { absolute, relative })
        }
    }
}

impl Default for Tolerance {
    /// 1e-8 absolute and relative.
    fn default() -> Self {
        Self::new(1e-8, 1e-8)
    }
}

/// A vector space the integrators can work in.
///
/// Operations on two states expect both to have the same shape; of sequences of different length only the
/// common part is combined.
///
/// ```
/// use rattleback_numerics::{State, Tolerance};
/// let mut y = (1.0, vec![2.0, 3.0]);
/// y.add_scaled(0.5, &(2.0, vec![4.0, 6.0]));
/// assert_eq!(y, (2.0, vec![4.0, 6.0]));
/// assert_eq!(y.scaled_error(&y, Tolerance::absolute(0.5)), 12.0);
/// ```
pub trait State: Clone + Send + Sync {
    /// self = other, without allocation when the shapes agree.
    fn copy_from(&mut self, other: &Self);
    /// self = 0.
    fn set_zero(&mut self);
    /// self = a·self.
    fn scale(&mut self, a: f64);
    /// self += a·other.
    fn add_scaled(&mut self, a: f64, other: &Self);
    /// Σᵢ selfᵢ·otherᵢ.
    fn dot(&self, other: &Self) -> f64;
    /// Whether every component is a finite number.
    fn is_finite(&self) -> bool;
    /// maxᵢ |selfᵢ| / (absolute + relative·|referenceᵢ|), where self is a difference of states.
    fn scaled_error(&self, reference: &Self, tolerance: Tolerance) -> f64;
    /// Whether both have the same number of components.
    fn same_shape(&self, _other: &Self) -> bool {
        true
    }
}

impl State for f64 {
    fn copy_from(&mut self, other: &Self) {
        *self = *other;
    }
    fn set_zero(&mut self) {
        *self = 0.0;
    }
    fn scale(&mut self, a: f64) {
        *self *= a;
    }
    fn add_scaled(&mut self, a: f64, other: &Self) {
        *self += a * other;
    }
    fn dot(&self, other: &Self) -> f64 {
        self * other
    }
    fn is_finite(&self) -> bool {
        f64::is_finite(*self)
    }
    fn scaled_error(&self, reference: &Self, tolerance: Tolerance) -> f64 {
        tolerance.measure(*self, *reference)
    }
}

/// glam vectors and quaternions (as plain 4-vectors) share their spelling of every operation.
macro_rules! state_of_components {
    ($type:ty, $zero:expr) => {
        impl State for $type {
            fn copy_from(&mut self, other: &Self) {
                *self = *other;
            }
            fn set_zero(&mut self) {
                *self = $zero;
            }
            fn scale(&mut self, a: f64) {
                *self *= a;
            }
            fn add_scaled(&mut self, a: f64, other: &Self) {
                *self += *other * a;
            }
            fn dot(&self, other: &Self) -> f64 {
                <$type>::dot(*self, *other)
            }
            fn is_finite(&self) -> bool {
                <$type>::is_finite(*self)
            }
            fn scaled_error(&self, reference: &Self, tolerance: Tolerance) -> f64 {
                self.to_array().scaled_error(&reference.to_array(), tolerance)
            }
        }
    };
}

state_of_components!(DVec2, DVec2::ZERO);
state_of_components!(DVec3, DVec3::ZERO);
state_of_components!(DQuat, DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0));

/// Arrays and vectors differ only in how they are copied.
macro_rules! state_of_sequence {
    () => {
        fn set_zero(&mut self) {
            self.iter_mut().for_each(State::set_zero);
        }
        fn scale(&mut self, a: f64) {
            for component in self.iter_mut() {
                component.scale(a);
            }
        }
        fn add_scaled(&mut self, a: f64, other: &Self) {
            for (component, other) in self.iter_mut().zip(other) {
                component.add_scaled(a, other);
            }
        }
        fn dot(&self, other: &Self) -> f64 {
            self.iter().zip(other).map(|(component, other)| component.dot(other)).sum()
        }
        fn is_finite(&self) -> bool {
            self.iter().all(State::is_finite)
        }
        fn scaled_error(&self, reference: &Self, tolerance: Tolerance) -> f64 {
            let errors = self.iter().zip(reference).map(|(d, y)| d.scaled_error(y, tolerance));
            errors.fold(0.0, f64::max)
        }
        fn same_shape(&self, other: &Self) -> bool {
            self.len() == other.len() && self.iter().zip(other).all(|(a, b)| a.same_shape(b))
        }
    };
}

impl<S: State, const N: usize> State for [S; N] {
    fn copy_from(&mut self, other: &Self) {
        for (component, other) in self.iter_mut().zip(other) {
            component.copy_from(other);
        }
    }
    state_of_sequence!();
}

impl<S: State> State for Vec<S> {
    fn copy_from(&mut self, other: &Self) {
        if self.len() == other.len() {
            for (component, other) in self.iter_mut().zip(other) {
                component.copy_from(other);
            }
        } else {
            self.clone_from(other);
        }
    }
    state_of_sequence!();
}

macro_rules! state_of_tuple {
    ($($part:ident $index:tt),+) => {
        impl<$($part: State),+> State for ($($part,)+) {
            fn copy_from(&mut self, other: &Self) {
                $(self.$index.copy_from(&other.$index);)+
            }
            fn set_zero(&mut self) {
                $(self.$index.set_zero();)+
            }
            fn scale(&mut self, a: f64) {
                $(self.$index.scale(a);)+
            }
            fn add_scaled(&mut self, a: f64, other: &Self) {
                $(self.$index.add_scaled(a, &other.$index);)+
            }
            fn dot(&self, other: &Self) -> f64 {
                [$(self.$index.dot(&other.$index)),+].iter().sum()
            }
            fn is_finite(&self) -> bool {
                [$(self.$index.is_finite()),+].iter().all(|&finite| finite)
            }
            fn scaled_error(&self, reference: &Self, tolerance: Tolerance) -> f64 {
                [$(self.$index.scaled_error(&reference.$index, tolerance)),+].into_iter().fold(0.0, f64::max)
            }
            fn same_shape(&self, other: &Self) -> bool {
                [$(self.$index.same_shape(&other.$index)),+].iter().all(|&same| same)
            }
        }
    };
}

state_of_tuple!(A 0, B 1);
state_of_tuple!(A 0, B 1, C 2);
state_of_tuple!(A 0, B 1, C 2, D 3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_state_is_the_same_vector_space() {
        let mut y = (DVec3::new(1.0, 2.0, 3.0), vec![[4.0, 5.0]], DQuat::from_xyzw(6.0, 7.0, 8.0, 9.0));
        let k = y.clone();
        y.add_scaled(2.0, &k);
        y.scale(0.5);
        let expected: f64 = (1..=9).map(|i| 1.5 * f64::from(i * i)).sum();
        assert!((y.dot(&k) - expected).abs() < 1e-12);
        y.set_zero();
        assert_eq!(y.dot(&y), 0.0);
        y.copy_from(&k);
        assert_eq!(y, k);
    }

    #[test]
    fn scaled_error_is_the_largest_component_in_units_of_its_own_tolerance() {
        let tolerance = Tolerance::new(1e-3, 1e-2);
        let difference = [1e-3, 2.0];
        let error = difference.scaled_error(&[0.0, 100.0], tolerance);
        assert!((error - 2.0 / 1.001).abs() < 1e-12);
    }

    #[test]
    fn nan_is_an_infinite_error() {
        let tolerance = Tolerance::absolute(1.0);
        assert_eq!([0.0, f64::NAN].scaled_error(&[0.0, 0.0], tolerance), f64::INFINITY);
        assert_eq!((0.0, 1.0).scaled_error(&(0.0, f64::NAN), Tolerance::new(0.0, 1.0)), f64::INFINITY);
        assert!(!vec![1.0, f64::NAN].is_finite());
    }

    #[test]
    fn copying_a_vector_of_another_length_takes_its_shape() {
        let mut y = vec![1.0];
        assert!(!y.same_shape(&vec![1.0, 2.0]));
        y.copy_from(&vec![3.0, 4.0]);
        assert_eq!(y, [3.0, 4.0]);
    }

    #[test]
    fn tolerances_out_of_range_are_refused() {
        for bad in [Tolerance::absolute(0.0), Tolerance::new(-1.0, 2.0), Tolerance::absolute(f64::NAN)] {
            assert!(matches!(bad.check(), Err(StepError::InvalidTolerance { .. })));
        }
        assert!(Tolerance::default().check().is_ok());
    }
}
