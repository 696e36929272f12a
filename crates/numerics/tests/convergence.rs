//! Measured orders of convergence against the theoretical ones.

use crate::systems;

use rattleback_numerics::integrator::{BulirschStoer, CashKarp, DormandPrince, EmbeddedPair, RungeKutta2};
use rattleback_numerics::second_order::{BasicVerlet, SecondOrderIntegrator, TaylorVerlet};
use rattleback_numerics::{AsFirstOrder, State};
use systems::{Driven, JerkyOscillator, Method, Oscillator};

/// log₂ of the ratio of successive errors, for errors at doubling numbers of steps.
fn orders(errors: &[f64]) -> Vec<f64> {
    errors.windows(2).map(|pair| (pair[0] / pair[1]).log2()).collect()
}

fn assert_orders(name: &str, errors: &[f64], expected: f64, within: f64) {
    for order in orders(errors) {
        assert!((order - expected).abs() < within, "{name}: order {order}, expected {expected}; {errors:?}");
    }
}

/// T-INT-03 and A-6: orders on the oscillator ω = 2 at t = 1 with n = 20, 40, 80, 160.
#[test]
fn methods_converge_with_their_order() {
    let methods = [
        Method::first("explicit-euler"),
        Method::first("implicit-euler"),
        Method::first("midpoint"),
        Method::first("heun"),
        Method::first("runge-kutta-4"),
        Method::second("explicit-euler"),
        Method::second("symplectic-euler"),
        Method::second("velocity-verlet"),
        Method::second("basic-verlet"),
        Method::First(Box::new(RungeKutta2::with_weight(0.7).unwrap())),
    ];
    for mut method in methods {
        let errors = [20, 40, 80, 160].map(|n| method.fresh().oscillator_error(n));
        assert_orders(&method.name(), &errors, f64::from(method.order()), 0.05);
    }
}

/// T-INT-03: errors at n = 20.
#[test]
fn errors_at_twenty_steps_are_the_published_ones() {
    let published = [
        (Method::first("explicit-euler"), 1.0485e-1),
        (Method::first("midpoint"), 3.3331e-3),
        (Method::second("velocity-verlet"), 1.6669e-3),
        (Method::first("runge-kutta-4"), 1.6665e-6),
    ];
    for (mut method, expected) in published {
        let error = method.oscillator_error(20);
        assert!((error / expected - 1.0).abs() < 1e-4, "{}: {error}", method.name());
    }
}

/// T-INT-03: both results of the embedded pairs. Steps are larger here, or rounding would show.
#[test]
fn embedded_pairs_converge_with_both_their_orders() {
    fn check<M: EmbeddedPair<(f64, f64)>>(mut method: M) {
        let mut errors = ([0.0; 3], [0.0; 3]);
        for (i, n) in [20_u32, 40, 80].into_iter().enumerate() {
            let mut oscillator = Oscillator { omega: 2.0 };
            let h = 1.0 / f64::from(n);
            let mut from_high = (1.0, 0.0);
            let mut from_low = (1.0, 0.0);
            let mut unused = (0.0, 0.0);
            for k in 0..n {
                let t = f64::from(k) * h;
                let mut system = AsFirstOrder(&mut oscillator);
                let mut result = (0.0, 0.0);
                method.pair(&mut system, t, h, &from_high, &mut result, &mut unused).unwrap();
                from_high.copy_from(&result);
                method.pair(&mut system, t, h, &from_low, &mut unused, &mut result).unwrap();
                from_low.copy_from(&result);
            }
            errors.0[i] = oscillator.error(1.0, from_high);
            errors.1[i] = oscillator.error(1.0, from_low);
        }
        assert_orders(method.name(), &errors.0, 5.0, 0.1);
        assert_orders(method.name(), &errors.1, 4.0, 0.1);
    }
    check(CashKarp::new());
    check(DormandPrince::new());
}

#[test]
fn each_row_of_extrapolation_adds_two_orders() {
    // Fewer steps for the higher orders, or rounding would show.
    for (rows, fewest) in [(1, 16), (2, 8), (3, 6), (4, 3)] {
        let errors = [1, 2, 4].map(|factor| {
            let method = BulirschStoer::with_rows(rows).unwrap();
            Method::First(Box::new(method)).oscillator_error(factor * fewest)
        });
        assert_orders("bulirsch-stoer", &errors, f64::from(2 * rows), 0.1);
    }
}

#[test]
fn taylor_verlet_is_of_order_one_without_jerk_and_two_with_it() {
    let plain = [80, 160, 320].map(|n| Method::second("taylor-verlet").oscillator_error(n));
    assert_orders("taylor-verlet", &plain, 1.0, 0.05);
    let with_jerk = [20_u32, 40, 80].map(|n| {
        let mut system = JerkyOscillator(Oscillator { omega: 2.0 });
        let mut method = Method::Second(Box::new(TaylorVerlet::new()));
        let end = method.run(&mut system, n, 1.0 / f64::from(n), (1.0, 0.0));
        system.0.error(1.0, end)
    });
    assert_orders("taylor-verlet with jerk", &with_jerk, 2.0, 0.05);
}

/// ẍ = −sin t from (0, 1) is x = sin t.
#[test]
fn simpson_converges_with_order_four_on_accelerations_of_time() {
    for make in [Method::first as fn(&str) -> Method, Method::second] {
        let errors = [10_u32, 20, 40].map(|n| {
            let mut system = Driven(|t: f64| -t.sin());
            let (x, v) = make("simpson").run(&mut system, n, 1.0 / f64::from(n), (0.0, 1.0));
            // As a first-order method Simpson's rule sees only v̇ = a(t) as a function of time.
            if matches!(make("simpson"), Method::First(_)) {
                (v - 1.0_f64.cos()).abs()
            } else {
                (x - 1.0_f64.sin()).hypot(v - 1.0_f64.cos())
            }
        });
        assert_orders("simpson", &errors, 4.0, 0.05);
    }
}

/// Velocity-dependent forces: ẍ = −2x' − 5x from (1, 0) is e⁻ᵗ (cos 2t + ½ sin 2t).
#[test]
fn velocity_verlet_keeps_order_two_under_damping() {
    struct Damped;
    impl rattleback_numerics::SecondOrder<f64, f64> for Damped {
        fn acceleration(&mut self, _t: f64, x: &f64, v: &f64, a: &mut f64) {
            *a = -2.0 * v - 5.0 * x;
        }
        fn drift(&mut self, x: &mut f64, h: f64, v: &f64) {
            *x += h * v;
        }
    }
    let exact = (-1.0_f64).exp() * (2.0_f64.cos() + 0.5 * 2.0_f64.sin());
    for name in ["velocity-verlet", "basic-verlet"] {
        let errors = [80_u32, 160, 320].map(|n| {
            let (x, _) = Method::second(name).run(&mut Damped, n, 1.0 / f64::from(n), (1.0, 0.0));
            (x - exact).abs()
        });
        assert_orders(name, &errors, 2.0, 0.1);
    }
}

/// Störmer's rule in its position form, with steps of varying size, is what basic Verlet computes.
#[test]
fn basic_verlet_is_stoermers_rule_for_any_sequence_of_steps() {
    let omega = 2.0;
    let mut oscillator = Oscillator { omega };
    let mut method = BasicVerlet::new();
    let steps = [0.1, 0.1, 0.07, 0.02, 0.05, 0.13, 0.13, 0.13];
    let (mut x, mut v) = (1.0, 0.3);
    let mut path = vec![x];
    for &h in &steps {
        method.step(&mut oscillator, 0.0, h, &mut x, &mut v).unwrap();
        path.push(x);
    }
    assert!((path[1] - (1.0 + steps[0] * 0.3 - 0.5 * steps[0] * steps[0] * omega * omega)).abs() < 1e-15);
    for i in 1..steps.len() {
        let (h, h_new, a) = (steps[i - 1], steps[i], -omega * omega * path[i]);
        let expected = path[i] + (path[i] - path[i - 1]) * h_new / h + 0.5 * a * (h + h_new) * h_new;
        assert!((path[i + 1] - expected).abs() < 1e-14);
    }
    let n = path.len() - 1;
    let central = (path[n] - path[n - 2]) / (2.0 * steps[n - 1]);
    assert!((method.centred_velocity().unwrap() - central).abs() < 1e-13);
}
