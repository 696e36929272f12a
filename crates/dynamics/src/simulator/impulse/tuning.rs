//! Tuning constants of the event-driven simulator.
//!
//! Lengths are given in units of ε, the width of the collision shell (`collision_epsilon`), speeds in units
//! of √(2gε) and times in units of τ = √(2ε/g), the speed after and the duration of a free fall through ε,
//! unless a unit is named. That way none of them depends on the scale of a scene. What a user may want to
//! change is in [`super::ImpulseSettings`].

// Fat AABBs, odometers and deferred pairs (`travel_deadline`).

/// Margin of a fat AABB in diameters of its body. Larger: fewer updates of the broad phase, more pairs.
pub(super) const AABB_MARGIN: f64 = 0.1;
/// Margin of a fat AABB in seconds of travel at the present speed bound, s.
pub(super) const AABB_MARGIN_TIME: f64 = 2e-3;
/// Smallest gap, in ε, at which a pair may be deferred: nearer pairs are about to collide.
pub(super) const DEFER_GAP: f64 = 8.0;
/// Smallest gap, in ε, that is still left when the deadline of a deferred pair is reached.
pub(super) const DEFER_RESERVE: f64 = 4.0;
/// Smallest part of the gap that is still left when the deadline of a deferred pair is reached.
pub(super) const DEFER_RESERVE_SHARE: f64 = 0.2;
/// Time since its last collision, in τ, up to which a body is busy: a bound along the normal would soon be
/// invalidated.
pub(super) const BUSY_TIME: f64 = 4.0;
/// Part of the speed bound of a pair that is due to rotation above which the bound along the normal is no
/// sharper than the odometers.
pub(super) const ROTATION_SHARE: f64 = 0.3;
/// Odometer reading, in diameters of the body, above which it restarts from zero, so that small deadlines are
/// not lost in rounding.
pub(super) const ODOMETER_REBASE: f64 = 1e3;

// Gaps and collision detection (`pair`, `pair_updates`, `partition`, `bracketing`).

/// Gap, in ε, assigned to bodies that touch exactly when their pair is created: a hop needs a positive gap to
/// start from.
pub(super) const INITIAL_GAP: f64 = 1e-6;
/// Overlap, in diameters of the larger body, that counts as rounding: decimals of a file, converted to an
/// attitude and back.
pub(super) const OVERLAP_ROUNDING: f64 = 1e-9;
/// Angle, rad, below which two faces count as parallel.
pub(super) const FACE_ANGLE: f64 = 1e-9;
/// Height, in ε, by which an edge may rise to the border of a face below which its vertex counts as over the face.
pub(super) const FACE_BORDER_RISE: f64 = 1e-3;
/// Gap, in ε, above which a pair is not measured again when the motion of one of its bodies changes: the
/// lower bound of its gap is enough.
pub(super) const NEAR_GAP: f64 = 2.0;
/// Longest time, in τ, over which corners are followed one by one (`support_bound`).
pub(super) const CORNER_TIME_LIMIT: f64 = 3.0;
/// Part of the height of a rebound by which a collision may happen too early, see
/// `Partition::collision_distance`.
pub(super) const BOUNCE_GAP_SHARE: f64 = 2e-7;
/// Time since its last collision, in τ, after which a body is in free flight; a rebound that leaves the shell
/// takes 2τ.
pub(super) const FLIGHT_TIME: f64 = 1.9;
/// Gap, in ε, to all other bodies above which a falling body collides with one body only.
pub(super) const ALONE_GAP: f64 = 4.0;
/// Smallest gap, in ε, at which a bounce happens above a face: there the distance is exact.
pub(super) const BOUNCE_GAP_FACE: f64 = 1e-7;
/// Smallest gap, in ε, at which a bounce happens where the distance is the result of an iteration.
pub(super) const BOUNCE_GAP_SEARCHED: f64 = 1e-3;
/// Approach speed at which a hop has returned, in parts of the speed at which it started.
pub(super) const HOP_RETURN_SPEED: f64 = 0.95;
/// Height above its starting gap at which a hop has returned, in parts of its apex height.
pub(super) const HOP_RETURN_DEPTH: f64 = 0.1;
/// Gap, in ε, below which a hop has returned in any case: a smaller one could be lost in rounding.
pub(super) const HOP_RETURN_GAP: f64 = 0.01;
/// Least σ of a pair that is to bounce: the part of its gap that a step towards contact leaves.
pub(super) const BOUNCE_MARGIN: f64 = 0.5;
/// Bisections of a bracket: enough for any gap above 1e-12 of the displacement within a sample.
pub(super) const BISECTIONS: usize = 60;

// Bounds on support functions (`support_bound`).

/// Secant steps towards the time at which a bound uses up the gap; each one removes a good part of the error.
pub(super) const SECANT_STEPS: usize = 7;
/// Relative width of the time bracket at which the secant steps stop.
pub(super) const SECANT_TOLERANCE: f64 = 0.01;
/// Evaluations of the slope to find the apex of a hop.
pub(super) const APEX_STEPS: usize = 4;
/// Twice the angle, rad, by which a body may rotate at most while bounds are taken in its frame.
pub(super) const FRAME_ROTATION_LIMIT: f64 = 0.5;

/// Pairs of vertices up to which each is followed with its own acceleration (`corner_bound`).
pub(super) const CORNER_PAIRS: usize = 64;

// Distance of cylinder rims (`cylinder_distance`).

/// Newton steps after which the nearest points are taken not to be on the rims.
pub(super) const RIM_STEPS: usize = 8;
/// Relative difference of the upper and lower bound at which the distance has converged.
pub(super) const RIM_AGREEMENT: f64 = 1e-10;
/// Sine of the angle to the axis, or to the plane across it, below which no point of the rim is the support
/// point.
pub(super) const RIM_ANGLE: f64 = 1e-6;

// Microcollisions (`impact_response`, `hop_energy`, `build`).

/// Slow collisions of a pair within [`CROWDED_TIME`] above which it is crowded: its collisions become
/// plastic.
pub(super) const CROWDED_COLLISIONS: u32 = 30;
/// Window in which these are counted, s: hardly anything moves in it.
pub(super) const CROWDED_TIME: f64 = 1e-6;
/// Gap, in ε, below which slow collisions have a restitution of 1 at least. Each approach leaves the part σ
/// of the gap, so without a rebound the gap would shrink geometrically to zero.
pub(super) const ELASTIC_GAP: f64 = 1e-3;
/// Largest acceleration of a gap, in g, that hops make up for where the rotation of the bodies themselves
/// closes it.
pub(super) const PULL_LIMIT_OWN: f64 = 4.0;
/// Largest acceleration of a gap, in g, that hops make up for where the load of other bodies closes it.
pub(super) const PULL_LIMIT_LOADED: f64 = 16.0;
/// Largest acceleration of a gap, in g, that raises the speed up to which a collision is slow.
pub(super) const SLOW_PULL_LIMIT: f64 = 6.0;
/// Factor on the weight of earlier hops at each new one, in the moving average of the acceleration of a gap.
pub(super) const PULL_DECAY: f64 = 0.8;
/// Time between two collisions, in τ, above which it was a flight and not a hop.
pub(super) const HOP_TIME_LIMIT: f64 = 8.0;
/// Least speed of a hop, in √(2gε), whatever `least_hop` is: slower hops would be ever more frequent.
pub(super) const HOP_SPEED_MIN: f64 = 0.02;
/// Speed of a hop paid for by the kinetic energy T of a body, in parts of √(2T/m).
pub(super) const HOP_SPEED_SHARE: f64 = 0.01;

// Contact patches (`contact_patch`).

/// Gauss–Seidel sweeps after which a patch is given up.
pub(super) const PATCH_SWEEPS: usize = 200;
/// Largest change of a velocity in a sweep, in parts of the largest velocity, at which the sweeps have
/// converged.
pub(super) const PATCH_CONVERGED: f64 = 1e-11;
/// The same, above which the sweeps have failed.
pub(super) const PATCH_FAILED: f64 = 1e-5;
/// Velocity left over, in parts of the largest velocity before, and turn of the direction of slip, rad, up to which a closed
/// form of a patch is exact.
pub(super) const PATCH_DIRECT: f64 = 1e-9;
/// Trials of the directions of slip of a closed form.
pub(super) const PATCH_DIRECTIONS: usize = 6;
/// Cosine between the normals of the gap and of the manifold below which they belong to different contacts.
pub(super) const PATCH_NORMAL_COSINE: f64 = 0.9999;
/// Least acceleration, in g, that must close all points for the hop to act against it. (Two falling bodies
/// have none: their neighbours press them together.)
pub(super) const PATCH_PRESSED: f64 = 0.1;
/// Slip, in parts of the largest velocity before the collision, above which a point slides.
pub(super) const PATCH_SLIP: f64 = 1e-6;
/// Sine of the angle by which the direction of slip turns within a hop, above which the stop allows for it.
pub(super) const PATCH_TURN: f64 = 1e-5;

// Rest (`rest`).

/// Time, in τ, within which contacts have to be able to stop a body for it to come to rest.
pub(super) const STOPPING_TIME: f64 = 12.0;
/// Time, in τ, during which a failed equilibrium test is not repeated.
pub(super) const REFUSAL_TIME: f64 = 6.0;
/// Part of the weight that may be left over for a body to come to rest.
pub(super) const REST_RESIDUAL: f64 = 1e-3;
/// Part of the weight that may be left over for a body to stay at rest: larger, because loads fluctuate.
pub(super) const STAY_RESIDUAL: f64 = 1e-2;
/// Gap, in ε, up to which bodies support each other.
pub(super) const SUPPORT_GAP: f64 = 2.0;
/// Cosine between a contact force and gravity below which a moving neighbour supports a body instead of
/// loading it.
pub(super) const SUPPORT_COSINE: f64 = -0.3;
/// Largest number of bodies in one equilibrium test.
pub(super) const REST_GROUP_LIMIT: usize = 512;
/// Approach speed, in √(2gε), above which a collision always wakes a resting body and restarts the rest
/// detector.
pub(super) const HARD_COLLISION: f64 = 10.0;
/// Spans, in τ, over which the rest detector averages velocities: towers sway longer than single bodies hop.
pub(super) const AVERAGING_SPANS: [f64; 3] = [3.0, 12.0, 48.0];
/// Speed, in √(2gε), below which a body is still, at this instant or on average.
pub(super) const STILL_SPEED: f64 = 0.3;
/// Largest instantaneous speed, in √(2gε), of a body that is still on average.
pub(super) const STILL_PEAK_SPEED: f64 = 3.0;
/// Number of contact points up to which equilibrium is solved by projection: its work grows with their third
/// power at worst.
pub(super) const EXACT_CONTACT_LIMIT: usize = 240;
/// Part of the normal forces on a body that may be left over besides its share of the weight, in parts of
/// that share: a body that transmits 10 kN cannot be balanced to a part of its own 10 N.
pub(super) const LOAD_RESIDUAL: f64 = 0.05;
/// Factor on the residual for relaxation, which does not converge to the last digits.
pub(super) const RELAXATION_TOLERANCE: f64 = 5.0;
/// Slope of the energy, in parts of the remaining speed, below which a generator is no descent direction.
pub(super) const CONE_FLAT_SLOPE: f64 = 1e-7;
/// Part of the largest coefficient below which a generator is dropped; least pivot of a factor in parts of
/// its diagonal.
pub(super) const CONE_TINY: f64 = 1e-14;
/// Least number of projection rounds.
pub(super) const CONE_ROUNDS: usize = 64;
/// Further projection rounds for each contact point.
pub(super) const CONE_ROUNDS_PER_CONTACT: usize = 8;
/// Least number of relaxation rounds.
pub(super) const RELAXATION_ROUNDS: usize = 400;
/// Rounds between two estimates of whether relaxation will converge in time.
pub(super) const RELAXATION_CHECK: usize = 64;
/// Further relaxation rounds for each body.
pub(super) const RELAXATION_ROUNDS_PER_BODY: usize = 60;
/// Largest number of relaxation rounds.
pub(super) const RELAXATION_ROUNDS_MAX: usize = 4000;

// Parallel partitions (`timewarp`, `partitioning`). They change the speed, never the result.

/// Partitions for each thread: more of them balance the load better and conflict more often.
pub(super) const PARTITIONS_PER_THREAD: usize = 16;
/// Gaps measured in the previous step below which a step runs on one thread.
pub(super) const PARALLEL_THRESHOLD: u64 = 96;
/// Steps between two checks of whether to partition anew.
pub(super) const REPARTITION_PERIOD: u32 = 32;
/// Longest time, in steps, between two attempts that find a single group.
pub(super) const REPARTITION_PERIOD_MAX: u32 = 128;
/// Steps that the partitioning looks ahead, initially.
pub(super) const LOOKAHEAD_STEPS: f64 = 64.0;
/// Least lookahead, in steps.
pub(super) const LOOKAHEAD_STEPS_MIN: f64 = 1.0;
/// Largest lookahead, in steps.
pub(super) const LOOKAHEAD_STEPS_MAX: f64 = 128.0;
/// Largest margin of the lookahead, in diameters of the body.
pub(super) const LOOKAHEAD_DIAMETERS: f64 = 4.0;
/// Work of the largest partition, in parts of the work of one thread, above which the bodies are partitioned
/// anew.
pub(super) const IMBALANCE_LIMIT: f64 = 1.25;
/// Part of all work that may be rolled back before everything runs in one partition for a while.
pub(super) const WASTE_LIMIT: f64 = 0.25;
