//! Rest detector: mean velocity of a hopping body.
//!
//! A body on microcollisions is never still: at any instant it hops or rocks at up to about √(2gε). Its mean
//! velocity over several hops distinguishes a body that stays from one that slides or rolls. Three spans are
//! averaged over, since towers sway longer than single bodies hop.

use super::super::tuning::{AVERAGING_SPANS, STILL_PEAK_SPEED, STILL_SPEED};
use crate::rigid::Motion;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Scales of a microcollision.
#[derive(Clone, Copy, Debug)]
pub(super) struct HopScale {
    /// Speed after a free fall through ε, m/s.
    pub speed: f64,
    /// Duration of that fall, s.
    pub time: f64,
}

/// Past poses of a body, its mean velocities, and the results of equilibrium tests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in super::super) struct RestDetector {
    samples: [(f64, DVec3, DQuat); 3],
    /// Time until which the mean velocity is valid, s, and that velocity: m/s and rad/s.
    still_until: f64,
    mean_velocity: (DVec3, DVec3),
    /// Stopped without an equilibrium test, after a stall.
    pub frozen: bool,
    /// Time of the last equilibrium test of a resting body, s.
    pub proved_at: f64,
    /// Time at which the body last failed an equilibrium test, s.
    pub refused_at: f64,
}

impl RestDetector {
    /// Restarts from the present state.
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

    /// Velocities of a still body: the present ones if they are small, else the means; none if it moves.
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

/// Upper bound on the speed of the surface, m/s.
fn surface_speed(v: DVec3, omega: DVec3, radius: f64) -> f64 {
    v.length() + radius * omega.length()
}
