//! Constraint rows of a joint, in a form that any simulator can solve.

use glam::DVec3;

/// Axes of frame A along and about which frame B is locked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locks(u8);

impl Locks {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Both anchors coincide.
    pub const POINT: Self = Self(0b111);
    /// The anchors are at the same place across the axis z.
    pub const LINE: Self = Self(0b011);
    /// The anchors are at the same height along the axis z.
    pub const PLANE: Self = Self(0b100);
    /// Both axes z are parallel.
    pub const PARALLEL: Self = Self(0b01_1000);
    /// No rotation at all.
    pub const ROTATION: Self = Self(0b11_1000);
    /// The axis z of A is across the axis x of B.
    pub const PERPENDICULAR: Self = Self(0b100_0000);

    /// Translation along the axes for which this is true.
    pub const fn along(axes: [bool; 3]) -> Self {
        Self(axes[0] as u8 | (axes[1] as u8) << 1 | (axes[2] as u8) << 2)
    }

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of these are among them.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// As bits: translation along x, y, z; rotation about x, y, z; z across x.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// How a row acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// C is held at zero.
    Lock,
    /// C is kept from becoming negative.
    Limit,
    /// A damped spring pulls C to zero with at most so much force.
    Spring {
        /// Undamped oscillations per second.
        frequency: f64,
        /// Below 1 it swings.
        damping_ratio: f64,
        /// Largest force or torque, N or N m.
        max_force: f64,
    },
    /// Ċ is driven to a speed with at most so much force.
    Motor {
        /// m/s or rad/s.
        speed: f64,
        /// Largest force or torque, N or N m.
        max_force: f64,
    },
}

/// One equation of a joint; see [the module](crate::joint) for the letters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The same as long as the row means the same.
    pub key: u8,
    /// d.
    pub linear: DVec3,
    /// a and b.
    pub angular: [DVec3; 2],
    /// C, m or rad.
    pub error: f64,
    /// How it acts.
    pub effect: Effect,
}

impl Row {
    /// The same seen from the other side: −C.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            linear: -self.linear,
            angular: [-self.angular[0], -self.angular[1]],
            error: -self.error,
            ..self
        }
    }
}

/// Most rows of a joint besides its locks: three for each of six axes, and some to spare.
pub const MAX_ROWS: usize = 24;

/// A list of rows that needs no heap.
#[derive(Clone, Debug)]
pub struct Rows {
    rows: [Row; MAX_ROWS],
    count: usize,
}

impl Default for Rows {
    fn default() -> Self {
        let none =
            Row { key: 0, linear: DVec3::ZERO, angular: [DVec3::ZERO; 2], error: 0.0, effect: Effect::Lock };
        Self { rows: [none; MAX_ROWS], count: 0 }
    }
}

impl Rows {
    /// Empties it.
    pub const fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds a row; what does not fit any more is left out.
    pub fn push(&mut self, row: Row) {
        if let Some(place) = self.rows.get_mut(self.count) {
            *place = row;
            self.count += 1;
        }
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Row] {
        &self.rows[..self.count]
    }
}
