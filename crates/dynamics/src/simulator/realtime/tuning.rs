//! Tuning constants of the real-time simulator: thresholds, iteration limits and work sizes that are not
//! settings.
//!
//! Lengths are in m, angles in rad, speeds in m/s, masses in kg; ratios are dimensionless.

// Broad phase and limits.

/// Fewer new bodies than this are added without counting overlaps.
pub(super) const OVERLAP_CHECK_BODIES: usize = 256;
/// Largest number of boxes in a cell: eight times what fits side by side, and halved while the expected
/// number of pairs is too large.
pub(super) const OVERLAP_LIMITS: [u32; 4] = [64, 32, 16, 8];
/// Accepted number of expected pairs, and the increment per body.
pub(super) const OVERLAP_PAIRS: f64 = 1e6;
pub(super) const OVERLAP_PAIRS_PER_BODY: f64 = 32.0;
/// More changed bodies than this rebuild the tree of the broad phase.
pub(super) const REBUILD_CHANGES: usize = 1000;

// Narrow phase and contacts.

/// Largest speculative margin, as a fraction of the radius of the smaller collider.
pub(super) const MARGIN_PER_RADIUS: f64 = 0.25;
/// Largest tolerance of contact recycling, as a fraction of the margin: below 1, so that no contact is
/// missed.
pub(super) const RECYCLING_PER_MARGIN: f64 = 0.5;
/// Gap up to which colliders touch, as a fraction of the margin: to begin touching, and to keep touching.
pub(super) const TOUCH_BEGIN: f64 = 0.1;
pub(super) const TOUCH_END: f64 = 0.5;
/// Speed of a curved surface by rotation, m/s, above which its manifold is recomputed in every step. An
/// anchor rotates with the body while the contact point does not, and a lagging anchor brakes the rolling by
/// v̇ = −g φ at an angle φ. Slower bodies are about to sleep.
pub(super) const ROLLING_SPEED: f64 = 0.02;
/// Smallest cosine between the direction of a one-sided collider and the contact normal at which it resists.
pub(super) const ONE_WAY_COSINE: f64 = 0.5;

// Sub-stepping solver.

/// Colours of the constraint graph: bits of a mask. Constraints without a free colour go to the overflow.
pub(super) const COLORS: usize = 64;
/// Relaxation of the Jacobi iteration over the points of a manifold, relative to Gershgorin's bound; below 2.
pub(super) const JACOBI_RELAXATION: f32 = 1.5;
/// Mass ratio of two connected bodies above which their island gets more sub-steps.
pub(super) const HIGH_MASS_RATIO: f64 = 25.0;
/// Largest factor for the number of sub-steps of an island.
pub(super) const MAX_SUBSTEP_FACTOR: f64 = 16.0;
/// Contact frequency per sub-step rate at `contact_frequency` = 1: the largest stable one.
pub(super) const CONTACT_FREQUENCY_PER_RATE: f64 = 0.25;
/// Largest magnitude of numbers in the solver, whose squares must not overflow in single precision.
pub(super) const MAX_SOLVER_NUMBER: f32 = 1e15;

// Joints.

/// Largest number of further rows of a joint whose impulses are kept for warm starting.
pub(super) const MAX_KEYED_ROWS: usize = 24;
/// Largest correction speed of joints, in maximum depenetration speeds.
pub(super) const JOINT_CORRECTION_FACTOR: f32 = 4.0;
/// A tree is solved exactly only if it has at least this many joints for each joint that closes a loop.
pub(super) const TREE_JOINTS_PER_LOOP: usize = 8;
/// Most joints of a step for which all trees of joints are solved exactly, however small: sweeps over joints with limits, springs and motors need many steps
/// to stop a motion. A joint costs about ten times as much then.
pub(super) const EXACT_JOINT_BUDGET: usize = 64;
/// Largest tree whose limits, springs and motors are solved with the response of the whole tree, links: the memory for the responses grows with
/// the square.
pub(super) const MAX_TREE_ROW_LINKS: usize = 64;
/// Energy that jointed bodies may gain in a step by rounding, relative to their kinetic energy.
pub(super) const PASSIVITY_TOLERANCE: f64 = 1e-9;
/// Least softness γ of these rows, relative to ‖A j‖²: rows that depend on each other almost linearly, and demand different speeds, would
/// otherwise be answered with unlimited velocities; so the speeds that correct errors grow by 1/(2 √γ) at most.
pub(super) const TREE_ROW_SOFTNESS: f64 = 1e-3;
/// Most attempts to find which of these rows are at an end of their range, and the accuracy of that, relative to what rows demand.
pub(super) const TREE_ROW_ITERATIONS: usize = 16;
pub(super) const TREE_ROW_ACCURACY: f64 = 1e-9;
/// Largest nutation in a sub-step, rad.
pub(super) const MAX_NUTATION_ANGLE: f64 = 0.1;

// Impacts.

/// Largest number of impacts in a step: a row of spheres of which k hit n others needs k n impacts with fewer
/// candidates. Where many bodies collide repeatedly, a few impacts per candidate bound the cost; further ones
/// are left to the solver.
pub(super) const MAX_IMPACTS: usize = 1024;
pub(super) const MAX_IMPACTS_PER_CANDIDATE: usize = 3;
/// Largest number of impacts of one pair in a step: more than spheres in a row need, fewer than a body that
/// rattles could have.
pub(super) const MAX_IMPACTS_OF_PAIR: usize = 128;
/// Relative difference of the speeds of a predicted and a refined impact that is rounding.
pub(super) const RESTING_SPEED_ROUNDING: f64 = 1e-6;
/// Largest number of Newton iterations for the time of an impact; each doubles the digits.
pub(super) const IMPACT_ITERATIONS: usize = 12;
/// Gap that counts as zero, and difference of gaps of points that touch at once, in radii of the smaller
/// collider.
pub(super) const IMPACT_GAP: f64 = 1e-10;
pub(super) const SIMULTANEOUS_GAP: f64 = 1e-5;
/// Margin of the manifold of an impact, in the same radii.
pub(super) const FEATURE_MARGIN: f64 = 1e-2;
/// Rotation between two samples of a pair whose parabolas show no impact, rad, and largest number of samples.
pub(super) const ROTATION_SAMPLE_ANGLE: f64 = 0.25;
pub(super) const MAX_ROTATION_SAMPLES: f64 = 16.0;
/// Smallest gap at which a contact with restitution that stays separated is excluded from the solver, as a
/// fraction of the margin.
pub(super) const SEPARATED_GAP: f64 = 0.1;
/// Slower approaches never bounce, m/s.
pub(super) const MIN_IMPACT_SPEED: f64 = 1e-6;

// Direct solution of islands.

/// Ratio of the mass of an island to its lightest body above which it is solved directly: a tower of equal
/// boxes of [`DIRECT_MAX_BODIES`] is below it.
pub(super) const DIRECT_MASS_RATIO: f64 = 25.0;
/// Largest numbers of bodies and contact points of such an island: the cost grows faster than linearly.
pub(super) const DIRECT_MAX_BODIES: usize = 24;
pub(super) const DIRECT_MAX_POINTS: usize = 160;
/// Smallest number of bodies of a column that is solved directly: fewer stand on soft contacts.
pub(super) const MIN_COLUMN_BODIES: usize = 4;
/// n³ g h² b/a² above which soft contacts do not carry a column of n bodies of half height b on lever arms a (`column`).
pub(super) const SOFT_COLUMN_LIMIT: f64 = 0.1;
/// Ratio of masses in the world below which no such island is searched for, and largest number of pairs in a
/// world with the search: with more pairs, finding islands costs more than it gains.
pub(super) const DIRECT_WORLD_RATIO: f64 = 1.2;
pub(super) const DIRECT_MAX_PAIRS: usize = 4096;
/// Fraction of an overlap that is corrected in a step.
pub(super) const DIRECT_RECOVERY: f64 = 0.3;
/// Overlap that is not corrected, m.
pub(super) const DIRECT_SLOP: f64 = 1e-6;
/// Deceleration in units of μ, m/s², that separates sliding from sticking: twice the gravity of Earth.
pub(super) const DIRECT_SLIDING_DECELERATION: f64 = 20.0;

// Mechanisms and rolling bodies.

/// Fractions of a step in Suzuki's composition of fourth order: p, p, 1 − 4p, p, p with p = 1/(4 − 4^⅓)
/// (Suzuki 1990).
pub(super) const SUZUKI_FRACTIONS: [f64; 5] = {
    const P: f64 = 0.414_490_771_794_375_7;
    [P, P, 1.0 - 4.0 * P, P, P]
};
/// Largest number of constraint rows of a mechanism: the cost grows with the third power.
pub(super) const MECHANISM_MAX_ROWS: usize = 64;
/// Largest rotation in one composition of base steps, rad.
pub(super) const MECHANISM_PIECE_ANGLE: f64 = 0.3;
/// Largest number of compositions in a step, initially and after it was doubled: a linkage that passes a singular position needs many in one step.
pub(super) const MECHANISM_MAX_PIECES: f64 = 64.0;
pub(super) const MECHANISM_MOST_PIECES: usize = 512;
/// Accepted power of the joints, as a fraction of the kinetic energy per second, 1/s.
pub(super) const MECHANISM_WORK_TOLERANCE: f64 = 3e-5;
/// Largest number of iterations for the impulses of a base step.
pub(super) const RATTLE_ITERATIONS: usize = 16;
/// Position errors of joints, m or rad: below the first they are rounding, above the second a step has
/// failed.
pub(super) const RATTLE_ROUNDING: f64 = 1e-13;
pub(super) const RATTLE_FAILED: f64 = 1e-8;
/// Fraction of a position error at the beginning of a base step that is corrected in it.
pub(super) const RATTLE_RECOVERY: f64 = 0.2;
/// Largest rotation of a rolling body, or of the contact point about it, in one composition, rad.
pub(super) const ROLLING_PIECE_ANGLE: f64 = 0.25;
/// Largest number of compositions in a step; bodies that need more are left to the sweeps.
pub(super) const ROLLING_MAX_PIECES: f64 = 64.0;
/// Number of compositions beyond which they are not doubled again.
pub(super) const ROLLING_MOST_PIECES: f64 = 256.0;
/// How often the number of compositions is doubled, and the accepted power of the plane, as a fraction of the
/// kinetic energy per second, 1/s.
pub(super) const ROLLING_ATTEMPTS: usize = 8;
pub(super) const ROLLING_WORK_TOLERANCE: f64 = 1e-4;
/// Largest number of iterations for the impulse of a base step.
pub(super) const ROLLING_ITERATIONS: usize = 24;
/// Fraction of a height error that is corrected in a base step.
pub(super) const ROLLING_RECOVERY: f64 = 0.1;
/// Largest motion of the contact point over the body in a base step, in lengths of the arm.
pub(super) const ROLLING_MAX_JUMP: f64 = 0.2;
/// Height difference up to which further points carry load with the lowest, in lengths of the arm.
pub(super) const ROLLING_SINGLE_POINT: f64 = 1e-3;

// Sliding bodies.

/// Slower bodies are left to the sweeps, m/s: they are at rest, or about to slide.
pub(super) const SLIDING_MIN_SPEED: f64 = 1e-3;
/// A body that slower than this stops within this time stops at once, s.
pub(super) const SLIDING_LAST_TIME: f64 = 0.1;
/// Largest speed of the surface by rotation, as a fraction of the speed.
pub(super) const SLIDING_ROTATION: f64 = 1e-3;
/// Largest gap of a body that slides, as a fraction of its reach (it moves by μ times the gap too little),
/// and largest speed at which it separates, as a fraction of the speed that loads add in a step.
pub(super) const SLIDING_GAP: f64 = 1e-4;
/// Largest overlap, and largest difference of the gaps of its points, as a fraction of its reach: the sag and
/// tilt of soft contacts.
pub(super) const SLIDING_DEPTH: f64 = 1e-2;
/// Fraction of an overlap or a tilt that is corrected in a step.
pub(super) const SLIDING_RECOVERY: f64 = 0.2;
/// Factor by which the centre of pressure must be inside the support polygon.
pub(super) const SLIDING_POLYGON_MARGIN: f64 = 1.05;
/// Length of a Runge–Kutta step, in times in which the loads would stop the body.
pub(super) const SLIDING_PIECE: f64 = 0.1;
/// Fraction of the speed below which the rest of the motion is a straight line, and acceleration across the
/// velocity below which all of it is, as a fraction of the deceleration by friction.
pub(super) const SLIDING_STOP: f64 = 1e-4;
pub(super) const SLIDING_STRAIGHT: f64 = 1e-9;

// Continuous collision.

/// Tolerance of the time of impact, as a fraction of the smallest half extent.
pub(super) const TOI_TOLERANCE: f64 = 1e-4;
/// Bounds of that tolerance, m.
pub(super) const TOI_TOLERANCE_RANGE: [f64; 2] = [1e-8, 1e-6];
/// Largest number of iterations of conservative advancement.
pub(super) const TOI_ITERATIONS: u32 = 200;
/// Radius of the core sphere, as a fraction of the smallest half extent, and its tolerance as a fraction of
/// the radius.
pub(super) const CORE_SPHERE_RADIUS: f64 = 0.5;
pub(super) const CORE_SPHERE_TOLERANCE: f64 = 0.1;
/// Largest number of stops in a step, per fast body.
pub(super) const MAX_STOPS_PER_BODY: usize = 8;

// Sleeping.

/// Steps between two searches for islands that may sleep.
pub(super) const SLEEP_CHECK_INTERVAL: u64 = 8;
/// Largest drift of a still body, as a fraction of `sleep_speed` × `sleep_time`, and its largest rotation,
/// rad. Speed alone does not distinguish rest from slow rolling or from the spinning of a small body.
pub(super) const STILL_DISTANCE: f64 = 0.2;
pub(super) const STILL_ANGLE: f64 = 0.1;

// Work sizes: smaller pieces are not worth another thread. They change the speed only, never the result.

/// Blocks of constraints per thread.
pub(super) const MIN_BLOCKS_PER_THREAD: usize = 8;
/// Solver bodies per thread.
pub(super) const MIN_BODIES_PER_THREAD: usize = 256;
/// Bodies per thread in gathering, scattering and finalising.
pub(super) const MIN_STEP_BODIES_PER_THREAD: usize = 128;
/// Pairs that need a new contact, per thread.
pub(super) const MIN_NEW_CONTACTS_PER_THREAD: usize = 16;
/// Pairs of continuous collision per thread.
pub(super) const MIN_TOI_PAIRS_PER_THREAD: usize = 16;
/// Links of joint trees per thread.
pub(super) const MIN_LINKS_PER_THREAD: usize = 64;
/// Joint blocks in a chunk.
pub(super) const BLOCKS_PER_CHUNK: usize = 8;
/// Swept colliders in a chunk.
pub(super) const SWEEPS_PER_CHUNK: usize = 32;
/// Largest number of freely flying bodies in a chunk.
pub(super) const FLIGHT_CHUNK: usize = 64;
/// Pairs ahead of the current one whose contact is prefetched.
pub(super) const PREFETCH_DISTANCE: usize = 4;
