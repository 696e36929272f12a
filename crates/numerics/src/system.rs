//! Right-hand sides of differential equations.

use crate::State;

/// ẏ = f(t, y).
pub trait System<Y> {
    /// (t, y) → f(t, y); overwrites `rate`. Must evaluate forces at this very (t, y).
    fn rate(&mut self, t: f64, y: &Y, rate: &mut Y);

    /// Puts the state at the end of a step back on its manifold (unit quaternions); nothing by default.
    fn project(&mut self, _y: &mut Y) {}
}

/// ẋ = v (on a manifold), v̇ = a(t, x, v). Positions Q need not form a vector space.
pub trait SecondOrder<Q, V> {
    /// (t, x, v) → a; overwrites `a`.
    fn acceleration(&mut self, t: f64, x: &Q, v: &V, a: &mut V);

    /// Moves x along the constant velocity v for the time h: x + h v in a vector space, exp(h v) x on a
    /// group.
    fn drift(&mut self, x: &mut Q, h: f64, v: &V);

    /// (t, x, v, a) → ȧ along the motion, for methods that can use it; false (and nothing written) if not
    /// known.
    fn jerk(&mut self, _t: f64, _x: &Q, _v: &V, _a: &V, _jerk: &mut V) -> bool {
        false
    }
}

/// A second-order system whose positions are vectors, seen as the first-order system of y = (x, v).
pub struct AsFirstOrder<'a, V>(pub &'a mut dyn SecondOrder<V, V>);

impl<V: State> System<(V, V)> for AsFirstOrder<'_, V> {
    fn rate(&mut self, t: f64, y: &(V, V), rate: &mut (V, V)) {
        rate.0.copy_from(&y.1);
        self.0.acceleration(t, &y.0, &y.1, &mut rate.1);
    }
}
