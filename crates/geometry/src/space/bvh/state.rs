//! State of a box during a step, in one byte: a million of them fit into the cache.

/// Alive, moving, touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State(u8);

const ALIVE: u8 = 1;
const MOVING: u8 = 2;
const TOUCHED: u8 = 4;

impl State {
    /// Of a box that has just come.
    pub fn new(moving: bool) -> Self {
        Self(if moving { ALIVE | MOVING } else { ALIVE })
    }

    #[inline(always)]
    pub fn is_alive(self) -> bool {
        self.0 & ALIVE != 0
    }

    #[inline(always)]
    pub fn is_moving(self) -> bool {
        self.0 & MOVING != 0
    }

    #[inline(always)]
    pub fn is_touched(self) -> bool {
        self.0 & TOUCHED != 0
    }

    /// True if it was not touched before.
    #[inline(always)]
    pub fn touch(&mut self) -> bool {
        let first = !self.is_touched();
        self.0 |= TOUCHED;
        first
    }

    /// The step is over.
    #[inline(always)]
    pub fn settle(&mut self) {
        self.0 &= !TOUCHED;
    }

    pub fn leave(&mut self) {
        self.0 &= !ALIVE;
    }
}
