//! The integrators of `rattleback-numerics` on ẍ = −ω²x with ω = 2, from (1, 0).
//!
//! With z = ωh the energy grows in a step by 1 + z² (explicit Euler), 1/(1 + z²) (implicit Euler), 1 + z⁴/4
//! (Runge–Kutta 2), 1 − z⁶/72 + z⁸/576 (Runge–Kutta 4). Symplectic Euler conserves v² + ω²x² − hω²xv, velocity Verlet
//! v² + ω²x²(1 − z²/4).

use super::{Allowed, Check, Outcome};
use rattleback_dynamics::Registry;
use rattleback_numerics::adaptive::{StepControl, StepDoubling, step_factor};
use rattleback_numerics::integrator::{self, Integrator, RungeKutta4};
use rattleback_numerics::second_order::{self, SecondOrderIntegrator};
use rattleback_numerics::{AsFirstOrder, SecondOrder, StepError, System, Tolerance};
use std::f64::consts::TAU;

const OMEGA: f64 = 2.0;

struct Oscillator;

impl SecondOrder<f64, f64> for Oscillator {
    fn acceleration(&mut self, _t: f64, x: &f64, _v: &f64, a: &mut f64) {
        *a = -OMEGA * OMEGA * x;
    }

    fn drift(&mut self, x: &mut f64, h: f64, v: &f64) {
        *x += h * v;
    }
}

/// ẍ = −sin t: the motion for methods that take forces of time only.
struct Driven;

impl SecondOrder<f64, f64> for Driven {
    fn acceleration(&mut self, t: f64, _x: &f64, _v: &f64, a: &mut f64) {
        *a = -t.sin();
    }

    fn drift(&mut self, x: &mut f64, h: f64, v: &f64) {
        *x += h * v;
    }
}

enum Method {
    First(Box<dyn Integrator<(f64, f64)>>),
    Second(Box<dyn SecondOrderIntegrator<f64, f64>>),
}

impl Method {
    fn all() -> Vec<Self> {
        let first = integrator::NAMES.iter().filter_map(|name| integrator::by_name(name).map(Self::First));
        let second =
            second_order::NAMES.iter().filter_map(|name| second_order::by_name(name).map(Self::Second));
        first.chain(second).collect()
    }

    /// Name; methods for (x, v) are marked, since methods of both kinds can share a name.
    fn name(&self) -> String {
        match self {
            Self::First(method) => method.name().into(),
            Self::Second(method) => format!("{} (x, v)", method.name()),
        }
    }

    fn order(&self) -> u32 {
        match self {
            Self::First(method) => method.order(),
            Self::Second(method) => method.order(),
        }
    }

    /// State after n steps of h from t = 0, showing each to `see`.
    fn run(
        &mut self,
        system: &mut dyn SecondOrder<f64, f64>,
        (n, h): (u32, f64),
        (mut x, mut v): (f64, f64),
        mut see: impl FnMut(f64, f64),
    ) -> Result<(f64, f64), StepError> {
        match self {
            Self::First(method) => method.reset(),
            Self::Second(method) => method.reset(),
        }
        for k in 0..n {
            let t = f64::from(k) * h;
            match self {
                Self::First(method) => {
                    let mut y = (x, v);
                    method.step(&mut AsFirstOrder(system), t, h, &mut y)?;
                    (x, v) = y;
                }
                Self::Second(method) => method.step(system, t, h, &mut x, &mut v)?,
            }
            see(x, v);
        }
        Ok((x, v))
    }

    /// Error at t = 1 in n steps, on the motion the method is made for.
    fn error(&mut self, n: u32) -> Result<f64, StepError> {
        let steps = (n, 1.0 / f64::from(n));
        if self.name().starts_with("simpson") {
            let (_, v) = self.run(&mut Driven, steps, (0.0, 1.0), |_, _| ())?;
            return Ok((v - 1.0_f64.cos()).abs());
        }
        let (x, v) = self.run(&mut Oscillator, steps, (1.0, 0.0), |_, _| ())?;
        Ok((x - OMEGA.cos()).hypot(v / OMEGA + OMEGA.sin()))
    }
}

/// T-INT-03: log₂ of the ratio of the errors with n and 2n steps.
pub(super) fn orders(_: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for mut method in Method::all() {
        let name = method.name();
        // It picks its own order to meet its tolerance: the error itself is what can be checked.
        if name == "bulirsch-stoer" {
            let error = method.error(10)?;
            checks.push(Check::new("method/order/error", name, 0.0, error, Allowed::Absolute(1e-8)));
            continue;
        }
        let order = method.order();
        // Coarse enough for rounding to be far below the error of the better methods.
        let n = if order > 2 { 20 } else { 80 };
        let measured = (method.error(n)? / method.error(2 * n)?).log2();
        checks.push(Check::new("method/order", name, f64::from(order), measured, Allowed::Absolute(0.05)));
    }
    Ok(checks)
}

/// T-INT-02: E/E₀ after 100 steps of 0.1 s.
pub(super) fn energies(_: &Registry) -> Outcome {
    let z2 = (OMEGA * 0.1) * (OMEGA * 0.1);
    let rates = [
        ("explicit-euler", 1.0 + z2),
        ("implicit-euler", 1.0 / (1.0 + z2)),
        ("midpoint", 1.0 + z2 * z2 / 4.0),
        ("heun", 1.0 + z2 * z2 / 4.0),
        ("runge-kutta-4", 1.0 - z2.powi(3) / 72.0 + z2.powi(4) / 576.0),
    ];
    let mut checks = Vec::new();
    for (name, rate) in rates {
        let Some(method) = integrator::by_name(name) else { continue };
        let (x, v) = Method::First(method).run(&mut Oscillator, (100, 0.1), (1.0, 0.0), |_, _| ())?;
        let ratio = (v * v + OMEGA * OMEGA * x * x) / (OMEGA * OMEGA);
        checks.push(Check::new("method/energy", name, f64::powi(rate, 100), ratio, Allowed::Relative(1e-9)));
    }
    Ok(checks)
}

/// T-INT-04: largest change of the conserved quantity in 100 000 steps of 0.1 s, relative.
pub(super) fn drifts(_: &Registry) -> Outcome {
    type Conserved = fn(f64, f64) -> f64;
    const H: f64 = 0.1;
    let symplectic: Conserved = |x, v| v * v + OMEGA * OMEGA * x * x - H * OMEGA * OMEGA * x * v;
    let verlet: Conserved = |x, v| v * v + OMEGA * OMEGA * x * x * (1.0 - OMEGA * OMEGA * H * H / 4.0);
    let mut checks = Vec::new();
    for (name, conserved) in [("symplectic-euler", symplectic), ("velocity-verlet", verlet)] {
        let Some(method) = second_order::by_name(name) else { continue };
        let start = conserved(1.0, 0.0);
        let mut worst = 0.0_f64;
        Method::Second(method).run(&mut Oscillator, (100_000, H), (1.0, 0.0), |x, v| {
            worst = worst.max((conserved(x, v) / start - 1.0).abs());
        })?;
        checks.push(Check::new("method/drift", name, 0.0, worst, Allowed::Absolute(1e-11)));
    }
    Ok(checks)
}

/// A planar orbit about GM = 1: y = (x, y, ẋ, ẏ).
struct Kepler;

impl System<[f64; 4]> for Kepler {
    fn rate(&mut self, _t: f64, &[x, y, vx, vy]: &[f64; 4], rate: &mut [f64; 4]) {
        let cube = x.hypot(y).powi(3);
        *rate = [vx, vy, -x / cube, -y / cube];
    }
}

/// T-INT-06: (tolerance/error)^(1/p) for tolerance 1e-4, p = 2; one period of an orbit a = 1, e = 0.9 from its
/// apocentre r = 1 + e, v = √((1 − e)/(1 + e)), and how far the eightfold work in equal steps gets.
pub(super) fn step_control(_: &Registry) -> Outcome {
    let factor = |error, expected| {
        let got = step_factor(error, 1e-4, 2);
        Check::new("method/step-control/factor", "step control", expected, got, Allowed::Relative(1e-12))
    };
    let mut checks = vec![factor(1e-8, 100.0), factor(1e-3, 0.1_f64.sqrt())];

    let apocentre = [1.9, 0.0, 0.0, (0.1_f64 / 1.9).sqrt()];
    let distance = |y: &[f64; 4]| (y[0] - apocentre[0]).hypot(y[1] - apocentre[1]);
    let mut y = apocentre;
    let control = StepControl::new(Tolerance::absolute(1e-8));
    let report = StepDoubling::new(RungeKutta4::new(), control).integrate(&mut Kepler, 0.0, TAU, &mut y)?;
    let name = format!("runge-kutta-4 doubled, {} evaluations", report.evaluations);
    let case = "method/step-control/kepler";
    checks.push(Check::new(case, name, 0.0, distance(&y), Allowed::Absolute(1e-6)));

    let steps = 2 * report.evaluations as u32;
    let h = TAU / f64::from(steps);
    let (mut method, mut y) = (RungeKutta4::new(), apocentre);
    for k in 0..steps {
        method.step(&mut Kepler, h * f64::from(k), h, &mut y)?;
    }
    let name = format!("runge-kutta-4 fixed, {} evaluations", 4 * steps);
    checks.push(Check::new(case, name, 0.0, distance(&y), Allowed::Anything));
    Ok(checks)
}
