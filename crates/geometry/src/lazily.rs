//! Lazily computed data of shapes.

use std::sync::{Arc, OnceLock};

/// Something that follows from its owner's other fields: made once, shared by clones, no part of equality or
/// of files.
#[derive(Debug)]
pub(crate) struct Lazily<T>(OnceLock<Arc<T>>);

impl<T> Lazily<T> {
    /// The value, computed on first use. An error is not cached.
    pub(crate) fn get_or_try<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<&T, E> {
        if let Some(known) = self.0.get() {
            return Ok(known);
        }
        let made = make()?;
        Ok(self.0.get_or_init(|| Arc::new(made)))
    }

    /// As `get_or_try`, for infallible computations.
    pub(crate) fn get_or(&self, make: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(|| Arc::new(make()))
    }
}

impl<T> Default for Lazily<T> {
    fn default() -> Self {
        Self(OnceLock::new())
    }
}

impl<T> Clone for Lazily<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for Lazily<T> {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
