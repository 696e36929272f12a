//! Cubic Hermite interpolation: values and slopes at both ends of an interval.

/// s in [0, 1] ⇒ weights (w₁, d₀, d₁) of the cubic y(s) = y₀ + w₁ (y₁ − y₀) + h (d₀ ẏ₀ + d₁ ẏ₁) over an
/// interval of length h.
///
/// The error is at most h⁴/384 times the largest fourth derivative.
///
/// ```
/// use rattleback_numerics::hermite::cubic_weights;
/// // A cubic is reproduced: y = t³ on [0, 2] at t = 0.5.
/// let [to, leave, arrive] = cubic_weights(0.25);
/// assert_eq!(to * 8.0 + 2.0 * (leave * 0.0 + arrive * 12.0), 0.125);
/// ```
pub fn cubic_weights(s: f64) -> [f64; 3] {
    [s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0)]
}
