//! Intermediate states of a method, kept from step to step so that steps do not allocate.

use crate::State;

/// N states shaped like the one that is integrated; made at the first step.
#[derive(Clone, Debug)]
pub(crate) struct Workspace<Y, const N: usize>(Option<[Y; N]>);

impl<Y, const N: usize> Default for Workspace<Y, N> {
    fn default() -> Self {
        Self(None)
    }
}

impl<Y: State, const N: usize> Workspace<Y, N> {
    /// y → N states of its shape with arbitrary contents; allocates only when the shape has changed.
    pub(crate) fn shaped_like(&mut self, y: &Y) -> &mut [Y; N] {
        let fits = |slots: &[Y; N]| slots.iter().all(|slot| slot.same_shape(y));
        if !self.0.as_ref().is_some_and(fits) {
            self.0 = None;
        }
        self.0.get_or_insert_with(|| std::array::from_fn(|_| y.clone()))
    }
}
