//! Pairs of parts that may meet soon.

use super::actor::Actor;
use super::part::Part;
use super::reach::Bound;
use crate::motion::Motion;
use glam::DVec3;
use rattleback_geometry::closest::{ClosestError, Separation};
use rattleback_geometry::contact::{PieceCache, distance_pieces};
use serde::{Deserialize, Serialize};

/// Two parts of different bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pair {
    pub parts: [u32; 2],
    pub actors: [u32; 2],
    /// Whether their swept boxes are close at present.
    pub close: bool,
    #[serde(skip)]
    pub cache: PieceCache,
    pub restitution: f64,
    /// Coulomb coefficient while sliding.
    pub friction: f64,
    /// Coulomb coefficient that holds.
    pub holding_friction: f64,
    /// Sum of the impulses on the second body since `summed_since`.
    pub impulse: DVec3,
    pub summed_since: f64,
    /// Average force over the last full window, N.
    pub force: DVec3,
    /// Normal of the last look, world frame: what is left if bodies should ever overlap.
    pub normal: DVec3,
    /// Where that was.
    pub point: DVec3,
    /// Collisions since `counted_since`.
    pub collisions: u32,
    pub counted_since: f64,
}

impl Pair {
    /// A number that tells pairs apart whatever the order they were made in.
    pub fn tie(&self) -> u64 {
        u64::from(self.parts[0]) << 32 | u64::from(self.parts[1])
    }
}

/// Where two parts are nearest, in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// Negative if they overlap.
    pub distance: f64,
    /// From the first to the second.
    pub normal: DVec3,
    /// Midway between the nearest points.
    pub point: DVec3,
    /// Velocity of the second against the first along the normal at that point: below zero they close in.
    pub rate: f64,
}

/// (parts, their bodies now) ⇒ the gap.
pub(super) fn measure(
    parts: [&Part; 2],
    motion: [&Motion; 2],
    cache: &mut PieceCache,
    last_normal: DVec3,
) -> Result<Gap, ClosestError> {
    let pose = |k: usize| motion[k].pose() * parts[k].place;
    let (a, b) = (pose(0), pose(1));
    let near: Separation = distance_pieces(&parts[0].piece()?, &parts[1].piece()?, &a.relative(&b), cache)?;
    let mut normal = a.vector(near.normal);
    if normal.length_squared() < 0.5 || normal.is_nan() {
        normal = last_normal;
    }
    let point = a.point(0.5 * (near.point_a + near.point_b));
    let rate = (motion[1].velocity_at(point) - motion[0].velocity_at(point)).dot(normal);
    Ok(Gap { distance: near.distance, normal, point, rate })
}

/// (parts, bodies, how they move now, normal, landing rule of a bound) ⇒ seconds during which they cannot have met.
pub(super) fn time_apart(
    parts: [&Part; 2],
    actors: [&Actor; 2],
    motion: [&Motion; 2],
    normal: DVec3,
    landing: impl Fn(Bound) -> f64,
) -> f64 {
    let first = actors[0].bounds(parts[0], normal, motion[0]);
    let second = actors[1].bounds(parts[1], -normal, motion[1]);
    let mut latest = 0.0f64;
    for a in first {
        for b in second {
            latest = latest.max(landing(a.plus(b)));
        }
    }
    latest
}
