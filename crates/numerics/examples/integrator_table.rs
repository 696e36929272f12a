//! Compares the methods on the oscillator ω = 2: measured order, the energy left after 100 steps
//! of 0.1 s, and the trend in 10⁵ such steps of what it should conserve.

#[path = "../tests/systems/mod.rs"]
mod systems;

use rattleback_numerics::integrator::BulirschStoer;
use systems::{Driven, Method, Oscillator};

/// Order from the errors with n and 2n steps; Simpson's rule is measured on the motion it is made for.
fn measured_order(method: &mut Method) -> f64 {
    let coarse = if method.order() > 4 { 8 } else { 80 };
    let error = |method: &mut Method, n: u32| {
        method.fresh();
        if method.name().starts_with("simpson") {
            let (_, v) = method.run(&mut Driven(|t: f64| -t.sin()), n, 1.0 / f64::from(n), (0.0, 1.0));
            (v - 1.0_f64.cos()).abs()
        } else {
            method.oscillator_error(n)
        }
    };
    (error(method, coarse) / error(method, 2 * coarse)).log2()
}

/// Energy after n steps of 0.1 s, relative to that at the start.
fn energy_ratio(method: &mut Method, n: u32) -> f64 {
    let mut oscillator = Oscillator { omega: 2.0 };
    let start = oscillator.energy((1.0, 0.0));
    let end = method.fresh().run(&mut oscillator, n, 0.1, (1.0, 0.0));
    oscillator.energy(end) / start
}

/// What the method would conserve if it conserved anything: the modified energy of the symplectic methods,
/// the energy for all others.
fn conserved(name: &str, oscillator: &Oscillator, h: f64, (x, v): (f64, f64)) -> f64 {
    let square = oscillator.omega * oscillator.omega;
    let energy = oscillator.energy((x, v));
    match name {
        "symplectic-euler (x, v)" => energy - h * square * x * v,
        "velocity-verlet (x, v)" => energy - square * x * x * square * h * h / 4.0,
        _ => energy,
    }
}

/// Trend of the conserved quantity over n steps of 0.1 s: its mean over the last thousand steps, relative to
/// that over the first thousand, minus one.
fn drift(method: &mut Method, n: u32) -> f64 {
    let (mut oscillator, h) = (Oscillator { omega: 2.0 }, 0.1);
    let name = method.name();
    let mut state = (1.0, 0.0);
    let (mut first, mut last) = (0.0, 0.0);
    method.fresh();
    for k in 0..n {
        if method.step(&mut oscillator, h * f64::from(k), h, &mut state).is_err() {
            return f64::INFINITY;
        }
        let quantity = conserved(&name, &oscillator, h, state);
        first += if k < 1000 { quantity } else { 0.0 };
        last += if k >= n - 1000 { quantity } else { 0.0 };
    }
    last / first - 1.0
}

fn main() {
    let mut methods = Method::all();
    // With its tolerance the method has no fixed order; with a fixed number of rows it has.
    methods.retain(|method| method.name() != "bulirsch-stoer");
    for rows in [2, 3] {
        methods.extend(BulirschStoer::with_rows(rows).ok().map(|m| Method::First(Box::new(m))));
    }
    println!("{:26}{:>6}{:>10}{:>16}{:>16}", "method", "order", "measured", "E/E0 (100)", "drift (1e5)");
    for method in &mut methods {
        let (name, order) = (method.name(), method.order());
        let measured = measured_order(method);
        let (ratio, drift) = (energy_ratio(method, 100), drift(method, 100_000));
        println!("{name:26}{order:>6}{measured:>10.3}{ratio:>16.9}{drift:>16.2e}");
    }
}
