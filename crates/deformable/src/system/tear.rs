//! Tearing along edges that are stretched too far.

use crate::{DeformableError, DeformableSystem};

impl DeformableSystem {
    pub(crate) fn tear(&mut self) -> Result<usize, DeformableError> {
        Ok(0)
    }
}
