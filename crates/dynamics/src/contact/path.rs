//! Events along a piece of a turning slide: where u_z passes zero and where the collision ends.
//!
//! A piece is parametrised by t ∈ [0, length]. On it κ = du_z/dp_z changes sign at most once between two directions along
//! ±s; so, split there and at the zero of κ, u_z is monotone on each part, and W and p_z are monotone between its zeros:
//! Newton's steps kept in a bracket find every event, however often u_z turns.

use super::{Progress, Restitution};

/// A piece of the path, as functions of its parameter; each pair is a value and its slope.
pub(super) trait Path {
    /// End of the parameter.
    fn length(&self) -> f64;
    /// Whether κ > 0 for every direction of sliding.
    fn monotone(&self) -> bool;
    /// s × û: zero where the direction is along ±s.
    fn across(&self, t: f64) -> f64;
    /// du_z/dp_z.
    fn kappa(&self, t: f64) -> f64;
    /// Normal velocity.
    fn u_z(&self, t: f64) -> (f64, f64);
    /// Work of the normal force since the start of the piece.
    fn work(&self, t: f64) -> (f64, f64);
    /// Normal impulse since the start of the piece.
    fn impulse(&self, t: f64) -> (f64, f64);
    /// Writes velocity and impulse at t.
    fn arrive(&self, progress: &mut Progress, t: f64);
}

/// Moves the impact over the piece, or to its end if that comes first ⇒ whether it is over.
pub(super) fn carry(path: &impl Path, progress: &mut Progress) -> bool {
    let mut from = 0.0;
    for to in parts(path) {
        if to <= from {
            continue;
        }
        if let Some(end) = carry_part(path, progress, from, to) {
            path.arrive(progress, end);
            return true;
        }
        from = to;
    }
    path.arrive(progress, path.length());
    false
}

/// Ends of the parts on which u_z is monotone.
fn parts(path: &impl Path) -> [f64; 3] {
    let end = path.length();
    if path.monotone() {
        return [end; 3];
    }
    let crossing =
        |f: &dyn Fn(f64) -> f64, from, to| if f(from) * f(to) < 0.0 { bisect(f, from, to) } else { to };
    let middle = crossing(&|t| path.across(t), 0.0, end);
    let kappa = |t| path.kappa(t);
    let first = crossing(&kappa, 0.0, middle);
    // The part from `middle` to its zero of κ or the end; the loop above goes on to the end by itself.
    let last = crossing(&kappa, middle, end);
    if first < middle { [first, last.max(middle), end] } else { [middle, last, end] }
}

/// Carries the impact over a part on which u_z is monotone ⇒ where it ends, if it does.
fn carry_part(path: &impl Path, progress: &mut Progress, from: f64, to: f64) -> Option<f64> {
    let (before, after) = (path.u_z(from).0, path.u_z(to).0);
    let zero = || root(|t| path.u_z(t), from, to, after >= 0.0);
    if before < 0.0 && after < 0.0 {
        compress(path, progress, from, to);
        return None;
    }
    if before < 0.0 {
        let middle = zero();
        compress(path, progress, from, middle);
        progress.compressed(progress.p.z + path.impulse(middle).0);
        return restore(path, progress, middle, to);
    }
    if after < 0.0 {
        let middle = zero();
        let end = restore(path, progress, from, middle);
        if end.is_none() {
            compress(path, progress, middle, to);
        }
        return end;
    }
    restore(path, progress, from, to)
}

fn compress(path: &impl Path, progress: &mut Progress, from: f64, to: f64) {
    progress.w_minus += path.work(from).0 - path.work(to).0;
}

/// Carries the impact over a part with u_z ≥ 0 ⇒ where it ends, if it does.
fn restore(path: &impl Path, progress: &mut Progress, from: f64, to: f64) -> Option<f64> {
    let w_from = path.work(from).0;
    let target = progress.target();
    let excess = |t: f64| match progress.impact.restitution {
        Restitution::Stronge => {
            let (work, power) = path.work(t);
            (progress.w_plus + (work - w_from) - target, power)
        }
        Restitution::Poisson => {
            let (impulse, force) = path.impulse(t);
            (progress.p.z + impulse - target, force)
        }
        Restitution::Newton => {
            let (u_z, slope) = path.u_z(t);
            (u_z - target, slope)
        }
    };
    let end = if excess(from).0 >= 0.0 {
        Some(from)
    } else if excess(to).0 >= 0.0 {
        Some(root(excess, from, to, true))
    } else {
        None
    };
    progress.w_plus += path.work(end.unwrap_or(to)).0 - w_from;
    end
}

/// A function with its slope that changes sign once in [from, to] ⇒ where.
fn root(f: impl Fn(f64) -> (f64, f64), mut from: f64, mut to: f64, rising: bool) -> f64 {
    let mut t = 0.5 * (from + to);
    for _ in 0..100 {
        let (value, slope) = f(t);
        if value == 0.0 {
            return t;
        }
        if (value > 0.0) == rising {
            to = t;
        } else {
            from = t;
        }
        let newton = t - value / slope;
        let next = if newton > from && newton < to { newton } else { 0.5 * (from + to) };
        if (next - t).abs() <= 4.0 * f64::EPSILON * t {
            return next;
        }
        t = next;
    }
    t
}

/// A function that changes sign once in [from, to] ⇒ where.
fn bisect(f: &dyn Fn(f64) -> f64, mut from: f64, mut to: f64) -> f64 {
    let rising = f(to) > 0.0;
    for _ in 0..60 {
        let middle = 0.5 * (from + to);
        if (f(middle) > 0.0) == rising {
            to = middle;
        } else {
            from = middle;
        }
    }
    0.5 * (from + to)
}
