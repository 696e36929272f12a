//! Pairs of random solids at random poses, for the oracles.

#![allow(dead_code, reason = "each example uses a part of it")]

use rattleback_geometry::Pose;

use crate::random::Random;

/// Two kinds of solids and how they stand to each other.
pub struct PairKind<S> {
    pub name: &'static str,
    pub make: fn(&mut Random) -> [S; 2],
    pub pose: fn(&mut Random) -> Pose,
}

impl<S> PairKind<S> {
    /// Calls `visit` with (number, solids, pose, random numbers) of random poses; new solids every `renewal`
    /// poses.
    pub fn visit(
        &self,
        poses: usize,
        renewal: usize,
        seed: u64,
        mut visit: impl FnMut(usize, &[S; 2], Pose, &mut Random),
    ) {
        let mut random = Random(seed);
        let mut solids = (self.make)(&mut random);
        for i in 0..poses {
            if (i + 1).is_multiple_of(renewal) {
                solids = (self.make)(&mut random);
            }
            let pose = (self.pose)(&mut random);
            visit(i, &solids, pose, &mut random);
        }
    }
}

/// Raises the worst error so far to this one; NaN stays.
pub fn note(worst: &mut f64, error: f64) {
    *worst = if error.is_nan() { f64::NAN } else { worst.max(error) };
}
