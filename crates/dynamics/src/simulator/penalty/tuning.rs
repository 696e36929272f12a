//! Tuning constants of the penalty simulator.

/// Touching tolerance, as a fraction of the smaller collider's half length.
pub(super) const TOUCH_GAP: f64 = 1e-6;
/// Half length of the smaller collider per touching tolerance: 1/`TOUCH_GAP`.
pub(super) const SIZE_PER_TOLERANCE: f64 = 1e6;
/// Margin of the swept bounds, m, besides the free fall in a sub-step.
pub(super) const BOUNDS_MARGIN: f64 = 1e-3;
/// Tangential damping of a sticking contact, ρ in units of its effective mass.
pub(super) const TANGENTIAL_DAMPING: f64 = 1e3;
/// Residual of the contact problem, m/s.
pub(super) const SOLVER_TOLERANCE: f64 = 1e-10;
/// Multiplier updates of the contact problem.
pub(super) const SOLVER_UPDATES: usize = 30;
