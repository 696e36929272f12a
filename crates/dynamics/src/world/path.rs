//! Scripted motion of kinematic bodies, in closed form: pose and velocity at any time.

use crate::signal::Signal;
use glam::{DQuat, DVec3};
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

/// How an kinematic body moves, starting from the pose it had when the path was set (`start`, time 0 of the world).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Path {
    /// Constant velocity and constant angular velocity about the start position: conveyors, turntables.
    Steady {
        /// m/s.
        velocity: DVec3,
        /// rad/s, world frame.
        angular_velocity: DVec3,
    },
    /// Swings along a vector and about an axis: vibrating feeders, shakers.
    Harmonic {
        /// Largest displacement, m.
        amplitude: DVec3,
        /// Largest rotation vector, rad.
        swing: DVec3,
        /// Hz.
        frequency: f64,
        /// rad.
        phase: f64,
    },
    /// Round an ellipse about the start position, without turning: start + c cos(2π f t + φ) + s sin(2π f t + φ).
    /// Vibrating bowls and orbital shakers.
    Circuit {
        /// Displacement at phase 0, m.
        cosine: DVec3,
        /// Displacement a quarter of a turn later, m.
        sine: DVec3,
        /// Hz.
        frequency: f64,
        /// rad.
        phase: f64,
    },
    /// Stays where it is while its surface runs: conveyor belts, treadmills, rollers. The velocities are those of the surface.
    Surface {
        /// m/s.
        velocity: DVec3,
        /// rad/s about the start position, world frame.
        angular_velocity: DVec3,
    },
    /// Straight lines and shortest turns between poses in the world; holds the first and the last.
    Keyframes(Vec<(f64, Pose)>),
    /// Position relative to the start as a signal of time; no turning.
    Translation(Signal<DVec3>),
    /// Tilts to and fro about an axis by swing · (sin θ + r sin(2θ + χ)), θ = 2π f t + φ: with r = 0 as slowly forward as back, with r > 0 and χ = 0 faster one way
    /// than the other. Resonators of an actuator array.
    Tilt {
        /// Largest rotation vector of the first harmonic, rad.
        swing: DVec3,
        /// f, Hz.
        frequency: f64,
        /// φ, rad.
        phase: f64,
        /// r, the second harmonic as a part of the first.
        second: f64,
        /// χ, rad.
        second_phase: f64,
    },
}

/// Where a path leads at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Pose of the body frame.
    pub pose: Pose,
    /// Velocity of the body frame's origin, m/s.
    pub velocity: DVec3,
    /// World frame, rad/s.
    pub angular_velocity: DVec3,
}

impl Path {
    /// (pose at time 0, time) ⇒ pose and velocities.
    pub fn at(&self, start: &Pose, t: f64) -> PathPoint {
        match self {
            Self::Steady { velocity, angular_velocity } => PathPoint {
                pose: Pose::new(
                    (DQuat::from_scaled_axis(*angular_velocity * t) * start.rotation).normalize(),
                    start.translation + *velocity * t,
                ),
                velocity: *velocity,
                angular_velocity: *angular_velocity,
            },
            Self::Harmonic { amplitude, swing, frequency, phase } => {
                let rate = std::f64::consts::TAU * frequency;
                let (sine, cosine) = (rate * t + phase).sin_cos();
                PathPoint {
                    pose: Pose::new(
                        (DQuat::from_scaled_axis(*swing * sine) * start.rotation).normalize(),
                        start.translation + *amplitude * sine,
                    ),
                    velocity: *amplitude * (rate * cosine),
                    angular_velocity: *swing * (rate * cosine),
                }
            }
            Self::Circuit { cosine, sine, frequency, phase } => {
                let rate = std::f64::consts::TAU * frequency;
                let (s, c) = (rate * t + phase).sin_cos();
                PathPoint {
                    pose: Pose::new(start.rotation, start.translation + *cosine * c + *sine * s),
                    velocity: (*sine * c - *cosine * s) * rate,
                    angular_velocity: DVec3::ZERO,
                }
            }
            Self::Surface { velocity, angular_velocity } => {
                PathPoint { pose: *start, velocity: *velocity, angular_velocity: *angular_velocity }
            }
            Self::Keyframes(keys) => keyframe(keys, start, t),
            Self::Translation(signal) => PathPoint {
                pose: Pose::new(start.rotation, start.translation + signal.at(t)),
                velocity: signal_rate(signal, t),
                angular_velocity: DVec3::ZERO,
            },
            Self::Tilt { swing, frequency, phase, second, second_phase } => {
                let rate = std::f64::consts::TAU * frequency;
                let theta = rate * t + phase;
                let ((s1, c1), (s2, c2)) = (theta.sin_cos(), (2.0 * theta + second_phase).sin_cos());
                PathPoint {
                    pose: Pose::new(
                        (DQuat::from_scaled_axis(*swing * (s1 + second * s2)) * start.rotation).normalize(),
                        start.translation,
                    ),
                    velocity: DVec3::ZERO,
                    angular_velocity: *swing * (rate * (c1 + 2.0 * second * c2)),
                }
            }
        }
    }

    /// What is wrong with the path, if anything.
    pub fn check(&self) -> Result<(), &'static str> {
        match self {
            Self::Steady { velocity, angular_velocity } | Self::Surface { velocity, angular_velocity }
                if !(velocity.is_finite() && angular_velocity.is_finite()) =>
            {
                Err("velocities must be finite")
            }
            Self::Harmonic { amplitude, swing, frequency, phase }
                if !(amplitude.is_finite()
                    && swing.is_finite()
                    && frequency.is_finite()
                    && phase.is_finite()) =>
            {
                Err("amplitude, swing, frequency and phase must be finite")
            }
            Self::Circuit { cosine, sine, frequency, phase }
                if !(cosine.is_finite()
                    && sine.is_finite()
                    && frequency.is_finite()
                    && phase.is_finite()) =>
            {
                Err("cosine, sine, frequency and phase must be finite")
            }
            Self::Keyframes(keys) if keys.is_empty() => Err("at least one keyframe is needed"),
            Self::Keyframes(keys) if !keys.iter().all(|(t, pose)| t.is_finite() && pose.is_valid()) => {
                Err("keyframes need finite times and positions and unit quaternions")
            }
            Self::Keyframes(keys) if !keys.windows(2).all(|pair| pair[0].0 < pair[1].0) => {
                Err("the times of keyframes must increase")
            }
            Self::Translation(signal) => signal.check(),
            Self::Tilt { swing, frequency, phase, second, second_phase }
                if !(swing.is_finite()
                    && [frequency, phase, second, second_phase].iter().all(|x| x.is_finite())) =>
            {
                Err("swing, frequency, phases and the second harmonic must be finite")
            }
            _ => Ok(()),
        }
    }
}

fn signal_rate(signal: &Signal<DVec3>, t: f64) -> DVec3 {
    match signal {
        Signal::Constant(_) => DVec3::ZERO,
        Signal::Harmonic { amplitude, frequency, phase, .. } => {
            let rate = std::f64::consts::TAU * frequency;
            *amplitude * (rate * (rate * t + phase).cos())
        }
        Signal::Table(knots) => {
            let after = knots.partition_point(|knot| knot.0 <= t);
            match (after.checked_sub(1).map(|before| knots[before]), knots.get(after)) {
                (Some((t0, from)), Some(&(t1, to))) => (to - from) / (t1 - t0),
                _ => DVec3::ZERO,
            }
        }
    }
}

fn keyframe(keys: &[(f64, Pose)], start: &Pose, t: f64) -> PathPoint {
    let still = |pose: Pose| PathPoint { pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
    let after = keys.partition_point(|key| key.0 <= t);
    let Some(before) = after.checked_sub(1) else {
        return still(keys.first().map_or(*start, |key| key.1));
    };
    let (t0, from) = keys[before];
    let Some(&(t1, to)) = keys.get(after) else {
        return still(from);
    };
    // The shorter of the two turns between the attitudes, at constant rate.
    let turn = to.rotation * from.rotation.conjugate();
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let rotation_vector = turn.to_scaled_axis();
    let share = (t - t0) / (t1 - t0);
    PathPoint {
        pose: Pose::new(
            (DQuat::from_scaled_axis(rotation_vector * share) * from.rotation).normalize(),
            from.translation.lerp(to.translation, share),
        ),
        velocity: (to.translation - from.translation) / (t1 - t0),
        angular_velocity: rotation_vector / (t1 - t0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Velocities are the derivatives of the poses, by central differences.
    #[test]
    fn velocities_are_the_rates_of_the_poses() {
        let start = Pose::new(DQuat::from_rotation_y(0.4), DVec3::new(1.0, 2.0, 3.0));
        let paths = [
            Path::Steady {
                velocity: DVec3::new(1.0, -2.0, 0.5),
                angular_velocity: DVec3::new(0.3, 0.2, -1.0),
            },
            Path::Harmonic {
                amplitude: DVec3::new(0.1, 0.0, 0.2),
                swing: DVec3::new(0.0, 0.3, 0.0),
                frequency: 1.7,
                phase: 0.3,
            },
            Path::Circuit {
                cosine: DVec3::new(0.1, 0.0, 0.2),
                sine: DVec3::new(0.0, -0.1, 0.1),
                frequency: 1.7,
                phase: 0.3,
            },
            Path::Keyframes(vec![
                (0.0, start),
                (2.0, Pose::new(DQuat::from_rotation_z(3.0), DVec3::new(0.0, 0.0, 1.0))),
            ]),
            Path::Translation(Signal::Harmonic {
                mean: DVec3::ZERO,
                amplitude: DVec3::X,
                frequency: 0.5,
                phase: 0.0,
            }),
            Path::Tilt {
                swing: DVec3::new(0.0, 0.3, 0.0),
                frequency: 0.7,
                phase: 0.2,
                second: 0.3,
                second_phase: -0.4,
            },
        ];
        let h = 1e-6;
        for path in &paths {
            for t in [0.1, 0.9, 1.7] {
                let (a, b, here) = (path.at(&start, t - h), path.at(&start, t + h), path.at(&start, t));
                let velocity = (b.pose.translation - a.pose.translation) / (2.0 * h);
                let spin = (b.pose.rotation * a.pose.rotation.conjugate()).to_scaled_axis() / (2.0 * h);
                assert!((velocity - here.velocity).length() < 1e-6, "{path:?}");
                assert!((spin - here.angular_velocity).length() < 1e-6, "{path:?}");
            }
        }
    }

    #[test]
    fn keyframes_hold_their_ends() {
        let a = Pose::at(DVec3::X);
        let b = Pose::at(DVec3::Y);
        let path = Path::Keyframes(vec![(1.0, a), (2.0, b)]);
        assert_eq!(path.at(&Pose::IDENTITY, 0.0).pose, a);
        assert_eq!(path.at(&Pose::IDENTITY, 5.0).pose, b);
        assert_eq!(path.at(&Pose::IDENTITY, 5.0).velocity, DVec3::ZERO);
    }
}
