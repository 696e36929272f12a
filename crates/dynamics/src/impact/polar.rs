//! Collision integration: the path of the sliding velocity, exact to rounding.
//!
//! In polar variables, with η defined by dp_z = ρ dη (see [`super::Compliance`]),
//!
//!   θ' = g(θ),  ρ' = ρ h(θ),  u_z' = ρ κ(θ),  W_z' = ρ u_z,  p_z' = ρ,  p_t' = −μ u_t,
//!
//! which is smooth up to and including the origin u_t = 0. The path consists of three kinds of pieces.
//!
//! * **Straight.** Where g = 0 (a ray: planar and central impacts, spheres) the direction is constant, ξ is
//!   constant and the piece has a closed form. The same holds where the remaining turn is below rounding:
//!   close to a ray that attracts directions, in a grazing impact, or at the end of an approach to the origin
//!   (which the straight line reaches after Δp_z = ρ/|h|, with an error of the order ρ g/h²).
//! * **At rest.** After the origin is reached the contact sticks, or leaves along the diverging ray: straight
//!   again.
//! * **Turning.** Between two rays everything is a quadrature, smooth in a coordinate of the [`SlideArc`]:
//!   [`QuadraturePanel`]. Where the rays are too close together, [`TaylorStep`] takes Taylor steps in η.
//!
//! The number of steps is bounded: θ follows a scalar autonomous equation, so it is monotone and comes
//! exponentially close to a ray within some 30/|g'|. `MAX_STEPS` is a safeguard; beyond it the rest would be
//! taken as straight.

use super::panel::QuadraturePanel;
use super::slide_arc::SlideArc;
use super::slide_piece::advance_over;
use super::taylor::TaylorStep;
use super::{CollisionError, Flow, Impact, Outcome, Progress, Scheme, Stick, Sticking};
use glam::DVec2;

/// Sliding speed, in parts of the approach speed, that counts as zero.
const REST: f64 = 1e-15;

/// Part of the velocity that a straight piece may neglect.
const NEGLIGIBLE: f64 = 1e-14;

/// Safeguard; no path takes as many steps.
const MAX_STEPS: u32 = 1000;

/// Impact ⇒ its outcome under Coulomb's law at every instant.
pub(super) fn integrate(impact: &Impact) -> Result<Outcome, CollisionError> {
    integrate_with::<16>(impact)
}

/// As [`integrate`], with six quadrature nodes instead of sixteen: within some 10⁻⁵.
pub(super) fn integrate_reduced(impact: &Impact) -> Result<Outcome, CollisionError> {
    integrate_with::<6>(impact)
}

fn integrate_with<const N: usize>(impact: &Impact) -> Result<Outcome, CollisionError> {
    let mut progress = Progress::new(impact);
    slide::<N>(&mut progress)?;
    Ok(progress.outcome())
}

/// Integrates the impact from a sliding state to its end.
fn slide<const N: usize>(progress: &mut Progress) -> Result<(), CollisionError> {
    let Impact { compliance, friction: mu, .. } = progress.impact;
    let mu = *mu;
    if mu == 0.0 {
        progress.slip.slid = true;
        let du = compliance.s.extend(compliance.k);
        return progress.straight(DVec2::ZERO, du, f64::INFINITY).map(|_| ());
    }
    let rate = compliance.rate(mu);
    let mut rho = progress.u_t.length();
    let mut u_hat = progress.u_t / rho.max(f64::MIN_POSITIVE);
    let (mut arc, mut x) = (None, 0.0);
    while rho > REST {
        progress.slip.slid = true;
        let flow = compliance.flow(mu, u_hat);
        if progress.evaluations >= MAX_STEPS || is_straight(progress, &flow, rho, rate) {
            let limit = if flow.h < 0.0 { rho / -flow.h } else { f64::INFINITY };
            let du = (u_hat * flow.h).extend(flow.kappa);
            if progress.straight(-mu * u_hat, du, limit)? {
                return Ok(());
            }
            break;
        }
        if progress.evaluations == 0 {
            progress.scheme = Scheme::Polar;
            arc = SlideArc::new(compliance, mu, u_hat).map(|arc| (arc, u_hat));
            x = arc.map_or(0.0, |(arc, _)| arc.x);
        }
        progress.evaluations += 1;
        let panel =
            arc.as_ref().and_then(|(arc, frame)| QuadraturePanel::<N>::new(progress, arc, *frame, [x, rho]));
        let over = if let Some(panel) = panel {
            (x, u_hat, rho) = panel.end();
            advance_over(&panel, progress)
        } else {
            let step = TaylorStep::new(progress.impact, u_hat, rho, progress.u_z, rate);
            (u_hat, rho) = step.end();
            arc = None;
            advance_over(&step, progress)
        };
        if over {
            return Ok(());
        }
        progress.u_t = rho * u_hat;
    }
    from_rest(progress)
}

/// Whether the remaining turn of the direction is below rounding.
fn is_straight(progress: &Progress, flow: &Flow, rho: f64, rate: f64) -> bool {
    let Flow { g, h, g_slope, kappa } = *flow;
    let g = g.abs();
    let on_ray = g <= 4.0 * f64::EPSILON * rate;
    let attracted = g_slope < 0.0 && g <= NEGLIGIBLE * -g_slope;
    let arriving = h < 0.0 && g_slope <= 0.0 && rho * g * rate <= NEGLIGIBLE * h * h;
    // Normal impulse to come at constant κ, times the turn per impulse g/ρ.
    let grazing = progress.evaluations == 0 && kappa > 0.0 && {
        let to_come = 2.0 * (1.0 + progress.impact.e) * progress.u_z.abs() / kappa;
        to_come * rate <= NEGLIGIBLE * rho * (kappa / progress.impact.compliance.k).min(1.0)
    };
    on_ray || attracted || arriving || grazing
}

/// Advances the impact from a contact at rest to its end: it sticks or slides away along the diverging ray.
pub(super) fn from_rest(progress: &mut Progress) -> Result<(), CollisionError> {
    let Impact { compliance, friction: mu, .. } = progress.impact;
    let sticking = compliance.sticking(*mu);
    progress.u_t = DVec2::ZERO;
    progress.slip.stick = Some(Stick {
        normal_impulse: progress.p.z,
        normal_velocity: progress.u_z,
        stable: sticking == Sticking::Stable,
    });
    let (xi, du) = match sticking {
        Sticking::Stable => (-compliance.holding, DVec2::ZERO.extend(compliance.sticking)),
        Sticking::Unstable { direction, lambda } => {
            progress.slip.resumed = Some(direction.to_angle());
            (-mu * direction, (lambda * direction).extend(compliance.k - mu * compliance.s.dot(direction)))
        }
    };
    progress.straight(xi, du, f64::INFINITY).map(|_| ())
}
