//! Events along a piece of a turning slide: where u_z passes zero and where the collision ends.
//!
//! A piece is parametrised by t ∈ [0, length]. On it κ = du_z/dp_z changes sign at most once between two directions along
//! ±s; so, split there and at the zero of κ, u_z is monotone on each part, and W and p_z are monotone between its zeros:
//! Newton's steps kept in a bracket find every event, however often u_z turns.

use super::{Progress, Restitution};

/// A piece of a turning slide, as functions of its parameter; each pair is a value and its slope.
pub(super) trait SlidePiece {
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
    fn write_state(&self, progress: &mut Progress, t: f64);
}

/// Advances the impact over the piece, or to the end of the collision if that comes first ⇒ whether it has
/// ended.
pub(super) fn advance_over(piece: &impl SlidePiece, progress: &mut Progress) -> bool {
    let mut from = 0.0;
    for to in parts(piece) {
        if to <= from {
            continue;
        }
        if let Some(end) = advance_part(piece, progress, from, to) {
            piece.write_state(progress, end);
            return true;
        }
        from = to;
    }
    piece.write_state(progress, piece.length());
    false
}

/// Whether a piece on which u_z is monotone contains no event.
pub(super) fn eventless(piece: &impl SlidePiece, progress: &Progress) -> bool {
    let end = piece.length();
    if piece.u_z(0.0).0 < 0.0 {
        return piece.u_z(end).0 < 0.0;
    }
    let reached = match progress.impact.restitution {
        Restitution::Stronge => progress.w_plus + piece.work(end).0,
        Restitution::Poisson => progress.p.z + piece.impulse(end).0,
        Restitution::Newton => piece.u_z(end).0,
    };
    reached < progress.target()
}

/// Ends of the parts on which u_z is monotone.
fn parts(piece: &impl SlidePiece) -> [f64; 3] {
    let end = piece.length();
    if piece.monotone() {
        return [end; 3];
    }
    let crossing =
        |f: &dyn Fn(f64) -> f64, from, to| if f(from) * f(to) < 0.0 { bisect(f, from, to) } else { to };
    let middle = crossing(&|t| piece.across(t), 0.0, end);
    let kappa = |t| piece.kappa(t);
    let first = crossing(&kappa, 0.0, middle);
    // κ is not zero at `middle`, so u_z stays monotone there.
    [first, crossing(&kappa, middle, end), end]
}

/// Advances the impact over a part on which u_z is monotone ⇒ where the collision ends, if it does.
fn advance_part(piece: &impl SlidePiece, progress: &mut Progress, from: f64, to: f64) -> Option<f64> {
    let (before, after) = (piece.u_z(from).0, piece.u_z(to).0);
    let zero = || {
        let guess = from + (to - from) * (before / (before - after));
        root(|t| piece.u_z(t), [from, to], guess, after >= 0.0)
    };
    if before < 0.0 && after < 0.0 {
        compress(piece, progress, from, to);
        return None;
    }
    if before < 0.0 {
        let middle = zero();
        compress(piece, progress, from, middle);
        progress.end_compression(progress.p.z + piece.impulse(middle).0);
        return restore(piece, progress, middle, to);
    }
    if after < 0.0 {
        let middle = zero();
        let end = restore(piece, progress, from, middle);
        if end.is_none() {
            compress(piece, progress, middle, to);
        }
        return end;
    }
    restore(piece, progress, from, to)
}

fn compress(piece: &impl SlidePiece, progress: &mut Progress, from: f64, to: f64) {
    progress.w_minus += piece.work(from).0 - piece.work(to).0;
}

/// Advances the impact over a part with u_z ≥ 0 ⇒ where the collision ends, if it does.
fn restore(piece: &impl SlidePiece, progress: &mut Progress, from: f64, to: f64) -> Option<f64> {
    let w_from = piece.work(from).0;
    let target = progress.target();
    let excess = |t: f64| match progress.impact.restitution {
        Restitution::Stronge => {
            let (work, power) = piece.work(t);
            (progress.w_plus + (work - w_from) - target, power)
        }
        Restitution::Poisson => {
            let (impulse, force) = piece.impulse(t);
            (progress.p.z + impulse - target, force)
        }
        Restitution::Newton => {
            let (u_z, slope) = piece.u_z(t);
            (u_z - target, slope)
        }
    };
    let (before, after) = (excess(from).0, excess(to).0);
    let end = if before >= 0.0 {
        Some(from)
    } else if after >= 0.0 {
        // Work starts with the square of t, from u_z = 0.
        let share = before / (before - after);
        let share = if piece.u_z(from).0 < 0.1 * piece.u_z(to).0 { share.sqrt() } else { share };
        Some(root(excess, [from, to], from + (to - from) * share, true))
    } else {
        None
    };
    progress.w_plus += piece.work(end.unwrap_or(to)).0 - w_from;
    end
}

/// A function with its slope that changes sign once in [from, to], and a guess ⇒ where.
fn root(f: impl Fn(f64) -> (f64, f64), [mut from, mut to]: [f64; 2], guess: f64, rising: bool) -> f64 {
    let mut t = if guess > from && guess < to { guess } else { 0.5 * (from + to) };
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
        // Newton's steps square the error: one this short is the last. A bracket this short cannot be
        // bisected.
        let last = next == newton && (next - t).abs() <= 1e-9 * t;
        if last || to - from <= 4.0 * f64::EPSILON * to {
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
