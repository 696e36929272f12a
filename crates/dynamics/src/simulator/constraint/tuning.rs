//! Tuning constants of the constraint simulator, grouped by the stage that uses them.
//!
//! What a user may want to change is in [`ConstraintSettings`](super::ConstraintSettings); these constants
//! bound loops, or are tolerances well below those of the settings.

// Sub-step and event loop (`step`).

/// Broad-phase passes in a sub-step: bodies that leave their reported bounds get larger ones, and the
/// sub-step is solved again.
pub(super) const MAX_BROAD_PHASE_PASSES: usize = 3;
/// Times an interval that ends with an impact is shortened because its own trajectories have an earlier
/// impact.
pub(super) const MAX_INTERVAL_CUTS: usize = 4;
/// Impacts whose time is located in a sub-step of a large island; later ones are resolved at the end of their
/// interval.
pub(super) const MAX_IMPACTS_LARGE_ISLAND: usize = 2;
/// Contact phases in a sub-step; what remains after them is solved as one time step.
pub(super) const MAX_CONTACT_PHASES: usize = 64;
/// Rotation of a single body in one interval with contacts, rad: over a larger one, contacts fixed at its begin
/// miss too much of their motion.
pub(super) const MAX_TURN: f64 = 0.02;
/// Intervals into which a sub-step of a single body is divided where it turns or rocks.
pub(super) const MAX_PIECES_OF_BODY: usize = 64;
/// Transitions from slip to stick at which a sub-step of a small island is cut.
pub(super) const MAX_SLIP_ENDS: usize = 4;

// Rest (`resting`).

/// Speed below which a body that its contacts stop within a sub-step is at rest, m/s: friction μ stops it within
/// v²/(2 μ g), some nanometres.
pub(super) const REST_SPEED: f64 = 1e-4;
/// Gap up to which a point can hold a body at rest, in touching tolerances.
pub(super) const REST_GAP: f64 = 20.0;
/// Overlap of a body at rest, in touching tolerances; a deeper one is removed first.
pub(super) const REST_OVERLAP: f64 = 1000.0;
/// Speed that contacts may leave, m/s.
pub(super) const REST_RESIDUAL: f64 = 1e-10;

// Slow landings (`landing`) and passivity (`passivity`).

/// Velocity, as a fraction of 1 m/s plus the speeds of both bodies, above which a touching point separates.
pub(super) const SEPARATING_SPEED: f64 = 1e-6;
/// Approach speed above which a touching point is brought to rest before an interval, m/s.
pub(super) const LANDING_SPEED: f64 = 1e-7;
/// Energy gained by an island that counts as rounding, relative to the energies it is the difference of.
pub(super) const ENERGY_ROUNDING: f64 = 1e-15;

// Interval with contacts (`interval`).

/// Solutions in which the bounds of rolling friction follow the normal impulses.
pub(super) const ROLLING_FRICTION_ROUNDS: usize = 2;
/// Contacts up to which forces that Newton's method does not find are computed by pivoting, in O(n³).
pub(super) const MAX_PIVOTED_CONTACTS: usize = 64;
/// Overlap, in touching tolerances, that is left as it is: removing it would lift bodies without anything that
/// does the work.
pub(in crate::simulator) const OVERLAP_SLOP: f64 = 20.0;

/// Growth of the solver tolerance with the fastest body of the island, per m/s or rad/s.
pub(super) const TOLERANCE_PER_SPEED: f64 = 1e4;
/// Residual accepted in the pieces of a large island, m/s.
pub(super) const APPROXIMATE_TOLERANCE: f64 = 1e-5;
/// Gauss–Seidel sweeps in the pieces of a large island: for velocities, and for positions.
pub(super) const APPROXIMATE_SWEEPS: [usize; 2] = [30, 20];
/// Fraction of an overlap that is removed in one interval.
pub(super) const OVERLAP_RECOVERY: f64 = 0.5;
/// Joint error accepted on a trajectory, m or rad; the end state is projected to rounding anyway.
pub(super) const TRAJECTORY_JOINT_TOLERANCE: f64 = 1e-9;
/// Newton corrections of the mean velocities of an interval.
pub(super) const MAX_TRAJECTORY_PROJECTIONS: usize = 4;

// Time of impact (`time_of_impact`).

/// Separation queries between a free and an overlapping time.
pub(super) const MAX_IMPACT_EVALUATIONS: usize = 60;
/// Fraction of the touching tolerance within which the gap at an impact lies: a rebound height e² h misses (1
/// − e²) times that gap.
pub(super) const IMPACT_GAP_FRACTION: f64 = 1e-3;
/// Overlap of a touching pair, as a fraction of its size, above which another point that approaches fast ends
/// the interval.
pub(super) const FAST_POINT_OVERLAP: f64 = 1e-4;
/// Overlap of a touching pair, as a fraction of its size, above which its rotation ends the interval.
pub(super) const ROTATION_OVERLAP: f64 = 1e-3;

// Simultaneous impacts (`simultaneous_impact`).

/// Fixed-point rounds between friction bounds and normal impulses in linear mode.
pub(super) const MAX_FRICTION_ROUNDS: usize = 40;
/// Rounds of impacts after which resting contacts take part in them.
pub(super) const RESTING_CONTACTS_JOIN_AFTER: usize = 8;

// Large islands (`large_island`).

/// Speed below which an island counts as nearly at rest and is solved exactly, m/s and rad/s.
pub(super) const NEARLY_AT_REST_SPEED: f64 = 0.01;
/// Approach of a pair in one piece, as a fraction of the smaller collider's half length.
pub(super) const MAX_PIECE_TRAVEL: f64 = 0.25;
/// Pieces of a sub-step; islands with faster pairs are advanced from impact to impact.
pub(super) const MAX_PIECES: f64 = 48.0;
/// Least number of pieces, so that sweeps over successive pieces propagate far enough.
pub(super) const MIN_PIECES: f64 = 4.0;
/// Newton steps after which a large island counts as not at rest yet.
pub(super) const LARGE_ISLAND_NEWTON_STEPS: usize = 120;
/// Newton steps while the exact solution of large islands is suspended.
pub(super) const BACKOFF_NEWTON_STEPS: usize = 8;
/// Sub-steps for which the exact solution of large islands is suspended after it did not converge.
pub(super) const NEWTON_BACKOFF: u64 = 24;
/// Impacts with restitution whose time is located in a sub-step; later ones rebound at the end of their
/// piece.
pub(super) const MAX_LOCATED_REBOUNDS: usize = 2;
/// Gauss–Seidel sweeps for a rebound.
pub(super) const REBOUND_SWEEPS: usize = 30;
/// Multiplier updates for a rebound of jointed bodies, whose rows the sweeps do not contain.
pub(super) const REBOUND_UPDATES: usize = 6;

// Contact phases (`contact_phase`, `island_phase`).

/// Displacement for the finite differences of a contact, as a fraction of the smaller collider, or rad.
pub(super) const PHASE_PROBE: f64 = 3e-5;
/// Search margin for the contacts of a phase, as a fraction of the smaller collider.
pub(super) const PHASE_SEARCH_MARGIN: f64 = 0.02;
/// Half of the time difference for the acceleration of a kinematic body, s.
pub(super) const KINEMATIC_PROBE_TIME: f64 = 1e-5;
/// Points in a phase; more are solved as a time step.
pub(super) const MAX_PHASE_CONTACTS: usize = 8;
/// Local error of a step: m, rad, and relative for velocities.
pub(super) const PHASE_TOLERANCE: f64 = 1e-9;
/// Energy gained in a phase, relative to the energies it is the difference of, at which it is rejected.
pub(super) const PHASE_ENERGY_GAIN: f64 = 1e-6;
/// Most steps by error control in a phase.
pub(super) const MAX_PHASE_STEPS: f64 = 64.0;
/// Resolution of the end of a phase, as a fraction of the interval.
pub(super) const PHASE_END_RESOLUTION: f64 = 1.0 / 16.0;
/// Approach speed above which a touching point is brought to rest before a phase begins, m/s.
pub(super) const CLOSING_SPEED: f64 = 1e-12;

// Mechanisms and joints (`mechanism_integrator`, `joint_equations`, `joint_rows`, `joint_stabilization`).

/// Most integrator steps of a mechanism in one interval; faster changes are resolved as well as that allows.
pub(super) const MAX_INTEGRATOR_STEPS: f64 = 16384.0;
/// Limits whose time is located in one interval.
pub(super) const MAX_LIMIT_HITS: usize = 32;
/// Distance at which a limit is active, m or rad, and approach speed at which it holds, m/s or rad/s.
pub(super) const LIMIT_TOLERANCE: f64 = 1e-10;
/// Newton corrections of positions; joints that still miss then are inconsistent.
pub(super) const MAX_POSITION_CORRECTIONS: usize = 24;
/// Position error that counts as rounding, m or rad.
pub(super) const POSITION_TOLERANCE: f64 = 2e-14;
/// Rotation, rad, or displacement, m, for the finite difference of a row.
pub(super) const ROW_PROBE: f64 = 2e-5;
/// Rows of a mechanism above which its rank is not computed.
pub(super) const MAX_RANKED_ROWS: usize = 600;
/// Position error of a joint that is corrected without an event, m or rad.
pub(super) const SILENT_POSITION_ERROR: f64 = 1e-9;
/// Velocity error of a joint that is corrected without an event, m/s or rad/s.
pub(super) const SILENT_VELOCITY_ERROR: f64 = 1e-7;
/// Distance at which a limit takes part in impacts and intervals, m or rad.
pub(super) const LIMIT_REACHED: f64 = 1e-9;

// Instantaneous forces (`instantaneous_forces`).

/// Displacement for the finite differences of a contact, as a fraction of the smaller collider, or rad.
pub(super) const RATE_PROBE: f64 = 1e-3;
/// Time step for the acceleration of a body on a path, s; divided by 1 + its angular speed.
pub(super) const PATH_PROBE_TIME: f64 = 1e-3;
/// Difference between a finite difference and a closed form, relative to the speeds, at which the closed form
/// is taken.
pub(super) const CLOSED_FORM_MATCH: f64 = 1e-6;
