//! Dense output of an integrator: states at its nodes, and between them the cubic Hermite interpolant of
//! positions and rotation vectors.

use crate::rigid::Motion;
use glam::DQuat;
use rattleback_geometry::swept::rotation_vector;
use rattleback_numerics::hermite::cubic_weights;

/// States of one body at increasing times.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenseOutput {
    nodes: Vec<(f64, Motion)>,
}

impl DenseOutput {
    /// Removes all nodes and starts with this one.
    pub fn restart(&mut self, time: f64, motion: Motion) {
        self.nodes.clear();
        self.nodes.push((time, motion));
    }

    /// Adds a node later than all others.
    pub fn push(&mut self, time: f64, motion: Motion) {
        self.nodes.push((time, motion));
    }

    /// State at a time, clamped to the nodes; `None` without nodes.
    pub fn evaluate(&self, time: f64) -> Option<Motion> {
        let after = self.nodes.partition_point(|(when, _)| *when < time);
        let (t1, end) = self.nodes.get(after).or(self.nodes.last())?;
        let (t0, start) = self.nodes.get(after.saturating_sub(1))?;
        if time >= *t1 || t1 <= t0 {
            return Some(*end);
        }
        let h = t1 - t0;
        let s = (time - t0) / h;
        let [to, leave, arrive] = cubic_weights(s);
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

    /// Uniform circular motion, four nodes per radian: the error of a cubic Hermite interpolant is at most
    /// h⁴/384.
    #[test]
    fn stays_near_a_circle() {
        let on = |t: f64| Motion {
            x: DVec3::new(t.cos(), t.sin(), 0.0),
            q: DQuat::from_rotation_z(t),
            v: DVec3::new(-t.sin(), t.cos(), 0.0),
            omega: DVec3::Z,
        };
        let mut output = DenseOutput::default();
        output.restart(2.0, on(0.0));
        (1..5).for_each(|k| output.push(2.0 + 0.25 * f64::from(k), on(0.25 * f64::from(k))));
        for k in 0..=20 {
            let t = 0.05 * f64::from(k);
            let found = output.evaluate(2.0 + t).unwrap();
            assert!((found.x - on(t).x).length() < 0.25_f64.powi(4) / 384.0 + 1e-12);
            assert!(found.q.dot(on(t).q).abs() > 1.0 - 1e-12);
        }
        assert_eq!(output.evaluate(9.0), Some(on(1.0)));
    }
}
