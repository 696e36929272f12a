//! Bounds on kinematic motion: displacement of a part along a direction d within a time s.
//!
//! A path moves the origin of the body frame and rotates the body about it. The support point along d
//! advances by no more than the origin does, plus the lever ℓ times the angle by which d moves in the frame
//! of the body, |axis × d| per radian of rotation (see `motion_bound`). For a harmonic motion of amplitude a
//! and angular frequency Ω: speed ≤ aΩ always (the linear bound), and speed ≤ present speed + aΩ² s (the
//! quadratic one). The better of the two is the one with the later time of impact.

use super::motion_bound::MotionBound;
use crate::signal::Signal;
use crate::world::Path;
use glam::DVec3;
use rattleback_geometry::Pose;
use std::f64::consts::TAU;

/// Path of a kinematic body, its initial pose, and its largest speeds.
#[derive(Clone, Debug)]
pub(super) struct KinematicPath {
    pub path: Path,
    pub start: Pose,
    /// Largest speed of the origin, m/s, and largest angular speed, rad/s, at any time.
    speed: f64,
    spin: f64,
}

impl KinematicPath {
    pub fn new(path: Path, start: Pose) -> Self {
        let (speed, spin) = max_speeds(&path);
        Self { path, start, speed, spin }
    }

    /// Whether neither the body nor its surface ever moves.
    pub fn is_static(&self) -> bool {
        self.speed == 0.0 && self.spin == 0.0 && !matches!(self.path, Path::Surface { .. })
    }

    /// Lever ⇒ speed that no part of that lever exceeds in any direction, m/s.
    pub fn max_surface_speed(&self, lever: f64) -> f64 {
        self.speed + lever * self.spin
    }

    /// (lever of a part, direction, present velocities) ⇒ two bounds that both hold.
    pub fn bounds(&self, lever: f64, d: DVec3, v: DVec3, omega: DVec3) -> [MotionBound; 2] {
        let rotation = lever * omega.cross(d).length();
        match &self.path {
            Path::Steady { .. } => [MotionBound { a: 0.0, b: v.dot(d) + rotation }; 2],
            Path::Surface { .. } => [MotionBound::default(); 2],
            Path::Harmonic { amplitude, swing, frequency, .. } => {
                let rate = TAU * frequency.abs();
                let size = amplitude.dot(d).abs() + lever * swing.cross(d).length();
                harmonic_bounds(size, rate, v.dot(d) + rotation)
            }
            Path::Circuit { cosine, sine, frequency, .. } => {
                harmonic_bounds(cosine.dot(d).hypot(sine.dot(d)), TAU * frequency.abs(), v.dot(d))
            }
            Path::Translation(Signal::Harmonic { amplitude, frequency, .. }) => {
                harmonic_bounds(amplitude.dot(d).abs(), TAU * frequency.abs(), v.dot(d))
            }
            // A point at a lever r has the acceleration |α| r + ω² r at most.
            Path::Tilt { swing, frequency, second, .. } => {
                let (rate, r) = (TAU * frequency.abs(), second.abs());
                let turning = swing.length() * rate * rate * (1.0 + 4.0 * r);
                let a = 0.5 * lever * (turning + self.spin * self.spin);
                [MotionBound { a: 0.0, b: lever * self.spin }, MotionBound { a, b: rotation }]
            }
            Path::Translation(_) | Path::Keyframes(_) => {
                [MotionBound { a: 0.0, b: self.speed + lever * self.spin }; 2]
            }
        }
    }
}

/// (amplitude, angular frequency, present speed) ⇒ linear and quadratic bound.
fn harmonic_bounds(size: f64, rate: f64, speed_now: f64) -> [MotionBound; 2] {
    [MotionBound { a: 0.0, b: size * rate }, MotionBound { a: 0.5 * size * rate * rate, b: speed_now }]
}

/// Path ⇒ largest speed of its origin, m/s, and largest angular speed, rad/s.
fn max_speeds(path: &Path) -> (f64, f64) {
    match path {
        Path::Steady { velocity, angular_velocity } => (velocity.length(), angular_velocity.length()),
        Path::Surface { .. } | Path::Translation(Signal::Constant(_)) => (0.0, 0.0),
        Path::Harmonic { amplitude, swing, frequency, .. } => {
            (amplitude.length() * TAU * frequency.abs(), swing.length() * TAU * frequency.abs())
        }
        Path::Tilt { swing, frequency, second, .. } => {
            (0.0, swing.length() * TAU * frequency.abs() * (1.0 + 2.0 * second.abs()))
        }
        Path::Circuit { cosine, sine, frequency, .. } => {
            (cosine.length().hypot(sine.length()) * TAU * frequency.abs(), 0.0)
        }
        Path::Keyframes(keys) => keys.windows(2).fold((0.0, 0.0), |(speed, spin), pair| {
            let time = pair[1].0 - pair[0].0;
            let travelled = (pair[1].1.translation - pair[0].1.translation).length();
            let turn = pair[1].1.rotation.angle_between(pair[0].1.rotation);
            // Angles of nearly equal attitudes are only accurate to the square root of rounding.
            (f64::max(speed, travelled / time), f64::max(spin, (turn + 1e-7) / time))
        }),
        Path::Translation(Signal::Harmonic { amplitude, frequency, .. }) => {
            (amplitude.length() * TAU * frequency.abs(), 0.0)
        }
        Path::Translation(Signal::Table(knots)) => {
            let speeds =
                knots.windows(2).map(|pair| (pair[1].1 - pair[0].1).length() / (pair[1].0 - pair[0].0));
            (speeds.fold(0.0, f64::max), 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use proptest::prelude::*;

    /// N13: r = 0.1, Ω = 10, across the motion: for d = 0.1 the quadratic bound is the later one, for 0.3 the
    /// linear one.
    #[test]
    fn circular_path_has_its_published_bounds() {
        let path =
            Path::Circuit { cosine: 0.1 * DVec3::X, sine: 0.1 * DVec3::Y, frequency: 10.0 / TAU, phase: 0.0 };
        let now = path.at(&Pose::IDENTITY, 0.0);
        let [linear, quadratic] =
            KinematicPath::new(path, Pose::IDENTITY).bounds(0.0, DVec3::X, now.velocity, DVec3::ZERO);
        assert!((linear.time_to_cover(0.1) - 0.1).abs() < 1e-12);
        assert!((quadratic.time_to_cover(0.1) - 0.141421).abs() < 1e-6);
        assert!((linear.time_to_cover(0.3) - 0.3).abs() < 1e-12);
        assert!((quadratic.time_to_cover(0.3) - 0.244949).abs() < 1e-6);
    }

    proptest! {
        /// Impulse test 21: no path exceeds its bounds, whatever the phase, direction and time.
        #[test]
        fn no_path_exceeds_its_bounds(
            kind in 0..6usize, t in 0.0..3.0f64, s in 1e-3..2.0f64, d in prop::array::uniform3(-1.0..1.0f64),
            p in prop::array::uniform3(-1.0..1.0f64), a in prop::array::uniform3(-0.5..0.5f64),
            b in prop::array::uniform3(-0.5..0.5f64), frequency in 0.1..3.0f64, phase in 0.0..6.0f64,
        ) {
            let [d, p, a, b] = [d, p, a, b].map(DVec3::from_array);
            prop_assume!(d.length() > 0.1);
            let d = d.normalize();
            let start = Pose::new(DQuat::from_rotation_y(0.4), DVec3::new(1.0, 2.0, 3.0));
            let path = match kind {
                0 => Path::Steady { velocity: a, angular_velocity: b },
                1 => Path::Harmonic { amplitude: a, swing: b, frequency, phase },
                2 => Path::Circuit { cosine: a, sine: b, frequency, phase },
                4 => Path::Tilt { swing: b, frequency, phase, second: a.x, second_phase: a.y },
                3 => Path::Translation(Signal::Harmonic { mean: b, amplitude: a, frequency, phase }),
                _ => Path::Keyframes(vec![(0.0, start), (1.0, Pose::new(DQuat::from_scaled_axis(b), a)), (2.5, start)]),
            };
            let kinematic = KinematicPath::new(path.clone(), start);
            let (now, then) = (path.at(&start, t), path.at(&start, t + s));
            // A rod from −p to p: its support point along d is the farther of the two ends.
            let lever = p.length();
            let support = |pose: &Pose| pose.point(p).dot(d).max(pose.point(-p).dot(d));
            let travelled = support(&then.pose) - support(&now.pose);
            for bound in kinematic.bounds(lever, d, now.velocity, now.angular_velocity) {
                prop_assert!(travelled <= (bound.a * s + bound.b) * s + 1e-9, "{travelled} {bound:?} {path:?}");
            }
        }
    }
}
