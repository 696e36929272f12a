//! Rest detector: how fast a hopping body moves on average.
//!
//! A body on micro-collisions is never still: at any moment it hops or rocks at up to about √(2gε). Its mean velocity over several hops is
//! what tells a body that stays from one that slides or rolls. Three spans are averaged over, since towers sway longer than single bodies hop.

use super::super::tuning::{AVERAGING_SPANS, STILL_PEAK_SPEED, STILL_SPEED};
use crate::motion::Motion;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Scales of a micro-collision.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopScale {
    /// Speed after a fall through ε, m/s.
    pub speed: f64,
    /// Time of that fall, s.
    pub time: f64,
}

/// Poses a body had some time ago, and what follows from them.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct RestDetector {
    samples: [(f64, DVec3, DQuat); 3],
    /// Until when its mean velocity counts, and that velocity: m/s and rad/s.
    still_until: f64,
    mean_velocity: (DVec3, DVec3),
    /// Stopped without a proof, for having stalled.
    pub frozen: bool,
    /// When what a resting body is_in_equilibrium was last proved_at.
    pub proved_at: f64,
    /// When the last attempt to bring it to rest failed.
    pub refused_at: f64,
}

impl RestDetector {
    /// Begins anew.
    pub fn from(t: f64, now: &Motion) -> Self {
        Self {
            samples: [(t, now.x, now.q); 3],
            still_until: f64::NEG_INFINITY,
            mean_velocity: (DVec3::ZERO, DVec3::ZERO),
            frozen: false,
            proved_at: t,
            refused_at: f64::NEG_INFINITY,
        }
    }

    /// Updates the mean velocities, of a body whose surface is at most `radius` away from its centre of mass.
    pub(super) fn update(&mut self, t: f64, now: &Motion, radius: f64, scale: HopScale) {
        for (sample, span) in self.samples.iter_mut().zip(AVERAGING_SPANS) {
            let age = t - sample.0;
            if age < span * scale.time {
                continue;
            }
            let turn = sample.2.conjugate() * now.q;
            let turn = if turn.w < 0.0 { -turn } else { turn };
            let (v, omega) = ((now.x - sample.1) / age, sample.2 * (2.0 * turn.xyz() / age));
            if surface_speed(v, omega, radius) < STILL_SPEED * scale.speed {
                (self.still_until, self.mean_velocity) = (t + age, (v, omega));
            }
            *sample = (t, now.x, now.q);
        }
    }

    /// The velocities of a body that keeps still: those of this moment if they are small, else the means; none if it moves.
    pub(super) fn still_velocity(
        &self,
        t: f64,
        now: &Motion,
        radius: f64,
        scale: HopScale,
    ) -> Option<(DVec3, DVec3)> {
        let speed = surface_speed(now.v, now.omega, radius);
        if speed < STILL_SPEED * scale.speed {
            return Some((now.v, now.omega));
        }
        (speed < STILL_PEAK_SPEED * scale.speed && t <= self.still_until).then_some(self.mean_velocity)
    }
}

/// An upper bound on the speed of the surface, m/s.
fn surface_speed(v: DVec3, omega: DVec3, radius: f64) -> f64 {
    v.length() + radius * omega.length()
}
