//! Welds two bodies together.

use super::{Joint, JointState, Locks, Rows};
use crate::component;

component! {
    /// Holds two bodies together so that they move as one.
    pub struct Fixed as "fixed" {
    }
}

impl Joint for Fixed {
    fn locks(&self) -> Locks {
        Locks::POINT.and(Locks::ROTATION)
    }

    fn rows(&self, _state: &JointState, _rows: &mut Rows) {}

    fn has_rows(&self) -> bool {
        false
    }
}
