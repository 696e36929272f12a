//! Nearest points of a box and a segment.
//!
//! With p(t) = p₀ + t d and g_k(t) the excess of p_k beyond ±h_k (zero inside), the squared distance is
//! f(t) = Σ g_k², convex with f′ = 2 Σ d_k g_k: continuous, growing and linear between the at most six t
//! where a coordinate passes ±h_k. Halving [0, 1] at those that lie in what is left leaves one linear piece,
//! whose zero is the answer.

use glam::DVec3;

/// (half sizes, ends) ⇒ nearest points of box and segment, and whether they are apart.
#[inline]
pub(super) fn nearest(half: DVec3, [from, to]: [DVec3; 2]) -> [DVec3; 2] {
    let d = to - from;
    let rise = |t: f64| {
        let p = from + t * d;
        d.dot(p - p.clamp(-half, half))
    };
    let (mut low, mut high) = ((0.0, rise(0.0)), (1.0, rise(1.0)));
    let t = if low.1 >= 0.0 {
        0.0
    } else if high.1 <= 0.0 {
        1.0
    } else {
        for limit in [half, -half] {
            for k in 0..3 {
                let t = (limit[k] - from[k]) / d[k];
                // Not a number or infinite where the segment runs along the face.
                if t > low.0 && t < high.0 {
                    let slope = rise(t);
                    *(if slope < 0.0 { &mut low } else { &mut high }) = (t, slope);
                }
            }
        }
        low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1))
    };
    let p = from + t * d;
    [p.clamp(-half, half), p]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other of many points of the segment is nearer.
    #[test]
    fn no_point_of_the_segment_is_nearer() {
        let half = DVec3::new(1.0, 0.5, 0.7);
        for k in 0..500 {
            let t = f64::from(k);
            let from = 2.0 * DVec3::new(t.sin(), (1.3 * t).cos(), (2.1 * t).sin());
            let to = 2.0 * DVec3::new((0.7 * t).cos(), (3.1 * t).sin(), (1.9 * t).cos());
            // Every fourth runs along an axis.
            let to = if k % 4 == 0 { to.with_y(from.y).with_z(from.z) } else { to };
            let [on_box, on_segment] = nearest(half, [from, to]);
            let distance = on_box.distance(on_segment);
            for i in 0..=1000 {
                let p = from.lerp(to, f64::from(i) / 1000.0);
                assert!(p.distance(p.clamp(-half, half)) >= distance - 1e-12);
            }
        }
    }
}
