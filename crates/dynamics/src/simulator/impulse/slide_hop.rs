//! Friction of a sliding contact point over the duration of a hop.
//!
//! A hop replaces the contact force F(t) of its duration T by two impulses, one at each end. Velocity and
//! position at both ends are those of the continuous motion if the impulses have the momentum of the force
//! and its first moment in time:
//!
//!   ∫ (1 − t/T) F dt at the beginning,     ∫ (t/T) F dt at the end.
//!
//! For a constant force both are ½ T F. The force of sliding friction is not constant. A point that slides
//! with the velocity v, with a the tangential acceleration without contact and b = μ|a_n|, obeys
//!
//!   v' = a − b q,     q = v̂ while it slides, a/b once it sticks (|a| ≤ b):
//!
//! the direction turns towards a on a slope, and friction falls to what holds the point when it stops. The
//! force at the beginning instead of the mean leaves an error of the position of
//!
//!   −½ b T² (1 − t*/T)² for a straight slide that stops a time t* ≤ T after the last collision, and
//!   (1/6) b T² |Δv̂| for a change Δv̂ of its direction in total,
//!
//! whatever the length of the slide: with T = ½√(2ε/g) up to μ ε/4. So
//!
//! - at the beginning, friction has the mean direction and size q̄ = (2/T) ∫ (1 − t/T) q dt, see
//!   [`mean_slip_direction`]. With ∫ v dt = T v̄, it is (v(0) + ½T a − v̄)/(½T b). |q̄| ≤ 1, so the impulse lies
//!   in the friction cone;
//! - at the end, friction acts along the velocity at the Gauss node of the weight t/T, which is 2T/3, see
//!   [`end_node_velocity`]. With u⁻ before and u⁺ after the impulse at the end, ū = u⁻ − ½T a the mean
//!   velocity of the hop, and u⁺ − ū = ½T (a − b q), it is u⁺ − ⅓T (a − b q) = (u⁺ + 2ū)/3.

use glam::DVec2;

/// Part of the velocity by which it may change across itself within a hop for the slide to count as straight.
const STRAIGHT: f64 = 1e-6;
/// Step of integration in parts of the shortest time in which the point could stop.
const STEP_SHARE: f64 = 0.2;
/// Speed, in parts of the largest change within the hop, at which a point has stopped.
const STOPPED: f64 = 1e-3;
/// Cosine of the angle to the acceleration from which on a point slides straight.
const ALIGNED: f64 = 1.0 - 1e-7;
/// Largest number of steps: at the first speed to which a hop matters, about 70 reach [`STOPPED`].
const STEPS: usize = 128;

/// (slip velocity, tangential acceleration without contact, deceleration b ≥ 0 by friction, duration of the
/// hop) ⇒ q̄, the mean of the direction of slip, weighted with 1 − t/T; shorter than 1 if the point stops or
/// turns.
pub(super) fn mean_slip_direction(velocity: DVec2, a: DVec2, b: f64, duration: f64) -> DVec2 {
    let speed = velocity.length();
    let direction = velocity / speed;
    if b * duration <= 0.0 {
        return direction;
    }
    let along = a.dot(direction);
    let across = (a - along * direction).length();
    // Once it has stopped, friction balances a if it can, and opposes it otherwise.
    let held = (a / b).clamp_length_max(1.0);
    if across * duration <= STRAIGHT * speed {
        let stop = speed / (b - along).max(0.0);
        if stop >= duration {
            return direction;
        }
        let part = stop / duration;
        return part * (2.0 - part) * direction + (1.0 - part).powi(2) * held;
    }
    let rate = |v: DVec2| a - b * v.normalize_or_zero();
    let most = b + a.length();
    let (mut v, mut x, mut t) = (velocity, DVec2::ZERO, 0.0);
    for _ in 0..STEPS {
        let speed = v.length();
        // A point that friction does not hold turns until it slides along a, from where on its acceleration is constant.
        let ends = if a.length() > b {
            v.dot(a) >= ALIGNED * speed * a.length() || speed <= STOPPED * STOPPED * most * duration
        } else {
            speed <= STOPPED * most * duration
        };
        if t >= duration || ends {
            break;
        }
        let h = (STEP_SHARE * speed / most).min(duration - t);
        let k1 = rate(v);
        let k2 = rate(v + 0.5 * h * k1);
        let k3 = rate(v + 0.5 * h * k2);
        let k4 = rate(v + h * k3);
        x += h * (v + h / 6.0 * (k1 + k2 + k3));
        v += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
        t = if h < duration - t { t + h } else { duration };
    }
    let rest = duration - t;
    x += 0.5 * rest * rest * (a - b * held);
    if a.length() > b {
        x += rest * v;
    }
    let half = 0.5 * duration;
    ((velocity + half * a - x / duration) / (half * b)).clamp_length_max(1.0)
}

/// (velocities before and after the impulse at the end of a hop, tangential acceleration without contact,
/// duration of the hop) ⇒ velocity along which friction acts.
pub(super) fn end_node_velocity(before: DVec2, after: DVec2, a: DVec2, duration: f64) -> DVec2 {
    let mean = before - 0.5 * duration * a;
    (after + 2.0 * mean) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ∫ (1 − t/T) q dt by many small steps.
    fn reference(velocity: DVec2, a: DVec2, b: f64, duration: f64) -> DVec2 {
        let n = 200_000;
        let h = duration / f64::from(n);
        let (mut v, mut sum) = (velocity, DVec2::ZERO);
        for k in 0..n {
            let t = (f64::from(k) + 0.5) * h;
            let slides = v.length() > (b + a.length()) * h;
            let q = if slides { v.normalize() } else { (a / b).clamp_length_max(1.0) };
            sum += 2.0 / duration * (1.0 - t / duration) * h * q;
            v = if slides || a.length() > b { v + h * (a - b * q) } else { DVec2::ZERO };
        }
        sum
    }

    #[test]
    fn mean_direction_is_that_of_the_slide() {
        let (b, duration) = (3.0, 0.01);
        for a in [DVec2::ZERO, DVec2::new(1.0, 0.0), DVec2::new(-2.0, 1.0), DVec2::new(0.5, -4.0)] {
            for speed in [1e-4, 0.003, 0.02, 0.05, 0.3] {
                for angle in [0.0f64, 0.7, 2.0, 3.1] {
                    let v = speed * DVec2::from_angle(angle);
                    let (got, right) = (mean_slip_direction(v, a, b, duration), reference(v, a, b, duration));
                    assert!((got - right).length() < 1e-3, "{a} {v}: {got}, not {right}");
                }
            }
        }
    }
}
