//! Where a body has been found to go: states at some times, and in between the curve that fits places and velocities at both ends.

use crate::motion::Motion;
use glam::DQuat;
use rattleback_geometry::swept::rotation_vector;

/// States in the order of time.
#[derive(Clone, Debug, Default)]
pub(in crate::simulator) struct Track {
    nodes: Vec<(f64, Motion)>,
}

impl Track {
    /// Forgets all, and starts here.
    pub fn restart(&mut self, time: f64, motion: Motion) {
        self.nodes.clear();
        self.nodes.push((time, motion));
    }

    pub fn push(&mut self, time: f64, motion: Motion) {
        self.nodes.push((time, motion));
    }

    /// The state at a time; the nearest end beyond them.
    pub fn at(&self, time: f64) -> Option<Motion> {
        let after = self.nodes.partition_point(|(when, _)| *when < time);
        let (t1, end) = self.nodes.get(after).or(self.nodes.last())?;
        let (t0, start) = self.nodes.get(after.saturating_sub(1))?;
        if time >= *t1 || t1 <= t0 {
            return Some(*end);
        }
        let h = t1 - t0;
        let s = (time - t0) / h;
        // Cubic with both places and both velocities: weights of the end, and of the velocities.
        let (to, leave, arrive) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0));
        let turn = rotation_vector(start.q, end.q);
        let angle = to * turn + h * (leave * start.omega + arrive * end.omega);
        Some(Motion {
            x: start.x + to * (end.x - start.x) + h * (leave * start.v + arrive * end.v),
            q: (DQuat::from_scaled_axis(angle) * start.q).normalize(),
            v: start.v.lerp(end.v, s),
            omega: start.omega.lerp(end.omega, s),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    /// On a circle, with four states a turn of one radian: off by h⁴/384 at most.
    #[test]
    fn stays_near_a_circle() {
        let on = |t: f64| Motion {
            x: DVec3::new(t.cos(), t.sin(), 0.0),
            q: DQuat::from_rotation_z(t),
            v: DVec3::new(-t.sin(), t.cos(), 0.0),
            omega: DVec3::Z,
        };
        let mut track = Track::default();
        track.restart(2.0, on(0.0));
        (1..5).for_each(|k| track.push(2.0 + 0.25 * f64::from(k), on(0.25 * f64::from(k))));
        for k in 0..=20 {
            let t = 0.05 * f64::from(k);
            let found = track.at(2.0 + t).unwrap();
            assert!((found.x - on(t).x).length() < 0.25_f64.powi(4) / 384.0 + 1e-12);
            assert!(found.q.dot(on(t).q).abs() > 1.0 - 1e-12);
        }
        assert_eq!(track.at(9.0), Some(on(1.0)));
    }
}
