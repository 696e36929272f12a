//! Acceptance tests of the fixed-step methods.

use crate::systems;

use glam::{DQuat, DVec3};
use rattleback_numerics::integrator::{self, ExplicitEuler, ImplicitEuler, Integrator, RungeKutta4};
use rattleback_numerics::second_order::{
    BasicVerlet, SecondOrderIntegrator, SymplecticEuler, VelocityVerlet,
};
use rattleback_numerics::stability::{self, oscillator_amplification};
use rattleback_numerics::{SecondOrder, StepError, System};
use systems::{Counting, Decay, Driven, Method, Oscillator};

fn decay(method: &mut dyn Integrator<f64>, h: f64) -> f64 {
    let mut u = 1.0;
    for step in 0..(1.0 / h).round() as u32 {
        method.step(&mut Decay(10.0), f64::from(step) * h, h, &mut u).unwrap();
    }
    u
}

/// T-INT-01: u̇ = −10u at t = 1; (1 − ha)ⁿ and (1 + ha)⁻ⁿ.
#[test]
fn decay_follows_the_amplification_factors() {
    let mut explicit = ExplicitEuler::new();
    for (h, expected) in [(0.05, 9.5367431640625e-7), (0.2, -1.0), (0.25, 5.0625)] {
        assert!((decay(&mut explicit, h) / expected - 1.0).abs() < 1e-12);
    }
    // Differenced products stop at the requested residual, 1e-10 by default; exact ones converge further.
    let general = ImplicitEuler::new();
    let mut sharp = ImplicitEuler::new();
    sharp.residual = 1e-14;
    for (mut implicit, within) in [(ImplicitEuler::affine(), 1e-12), (sharp, 1e-12), (general, 1e-9)] {
        for (h, published) in [(0.05, 3.0072866e-4), (0.25, 6.66389005e-3)] {
            let expected = (1.0_f64 + 10.0 * h).powf(-1.0 / h);
            let u = decay(&mut implicit, h);
            assert!((u / expected - 1.0).abs() < within, "{u} {expected}");
            assert!((u / published - 1.0).abs() < 1e-7);
        }
    }
}

/// T-INT-02: energy of the oscillator ω = 2 after 100 steps of 0.1 against |G|²ⁿ; A-6 for explicit Euler.
#[test]
fn oscillator_energy_follows_the_amplification_factors() {
    use stability::Method as M;
    let cases = [
        ("explicit-euler", M::ExplicitEuler, 50.504948),
        ("implicit-euler", M::ImplicitEuler, 0.01980004),
        ("midpoint", M::RungeKutta2, 1.04080245),
        ("heun", M::RungeKutta2, 1.04080245),
        ("runge-kutta-4", M::RungeKutta4, 0.99991156),
    ];
    for (name, method, published) in cases {
        let mut oscillator = Oscillator { omega: 2.0 };
        let end = Method::first(name).run(&mut oscillator, 100, 0.1, (1.0, 0.0));
        let ratio = oscillator.energy(end) / oscillator.energy((1.0, 0.0));
        let expected = oscillator_amplification(method, 0.2).powi(100);
        assert!((ratio / expected - 1.0).abs() < 1e-9, "{name}: {ratio} {expected}");
        assert!((ratio / published - 1.0).abs() < 1e-6, "{name}: {ratio} {published}");
    }
}

/// (x, v) → a quantity a method should conserve.
type Conserved<'a> = &'a dyn Fn((f64, f64)) -> f64;

/// T-INT-04: what the symplectic methods conserve exactly, and the bounds this puts on the energy.
#[test]
fn symplectic_methods_conserve_their_modified_energy_over_a_hundred_thousand_steps() {
    let (omega, h) = (2.0_f64, 0.1);
    let square = omega * omega;
    let symplectic = |(x, v): (f64, f64)| v * v + square * x * x - h * square * x * v;
    let verlet = |(x, v): (f64, f64)| v * v + square * x * x * (1.0 - square * h * h / 4.0);
    let cases: [(&str, Conserved<'_>, f64, f64); 2] = [
        ("symplectic-euler", &symplectic, 0.9090909, 1.1111112),
        ("velocity-verlet", &verlet, 0.99 - 1e-12, 1.0 + 1e-12),
    ];
    for (name, conserved, lowest, highest) in cases {
        let mut oscillator = Oscillator { omega };
        let mut method = Method::second(name);
        let mut state = (1.0, 0.0);
        let (start, energy) = (conserved(state), oscillator.energy(state));
        for step in 0..100_000 {
            method.step(&mut oscillator, h * f64::from(step), h, &mut state).unwrap();
            assert!((conserved(state) / start - 1.0).abs() < 1e-11, "{name}, step {step}");
            let ratio = oscillator.energy(state) / energy;
            assert!((lowest..=highest).contains(&ratio), "{name}, step {step}: {ratio}");
        }
    }
}

/// Basic Verlet moves through the same positions as velocity Verlet, hence has no drift either.
#[test]
fn basic_verlet_visits_the_positions_of_velocity_verlet_for_a_hundred_thousand_steps() {
    let mut oscillator = Oscillator { omega: 2.0 };
    let (mut basic, mut velocity) = (BasicVerlet::new(), VelocityVerlet::new());
    let (mut x, mut v) = (1.0, 0.0);
    let (mut x_other, mut v_other) = (1.0, 0.0);
    let mut v_before = 0.0;
    for step in 0..100_000 {
        basic.step(&mut oscillator, 0.0, 0.1, &mut x, &mut v).unwrap();
        velocity.step(&mut oscillator, 0.0, 0.1, &mut x_other, &mut v_other).unwrap();
        assert!((x - x_other).abs() < 1e-9, "step {step}");
        assert!((basic.centred_velocity().unwrap() - v_before).abs() < 1e-9, "step {step}");
        v_before = v_other;
    }
}

/// velocity Verlet at ωh = 0.05 over 10⁴ periods, energy sampled once a period.
#[test]
fn velocity_verlet_energy_has_no_trend_over_ten_thousand_periods() {
    let mut oscillator = Oscillator { omega: 1.0 };
    let h = 0.05;
    let mut method = VelocityVerlet::new();
    let (mut x, mut v) = (1.0, 0.0);
    let (mut sum_t, mut sum_e, mut sum_tt, mut sum_te, mut count) = (0.0, 0.0, 0.0, 0.0, 0.0);
    let per_period = (std::f64::consts::TAU / h).round() as u32;
    for period in 0..10_000 {
        let mut mean = 0.0;
        for _ in 0..per_period {
            method.step(&mut oscillator, 0.0, h, &mut x, &mut v).unwrap();
            let energy = oscillator.energy((x, v));
            assert!((energy - 1.0).abs() < 1e-3);
            mean += energy / f64::from(per_period);
        }
        let t = f64::from(period);
        (sum_t, sum_e, count) = (sum_t + t, sum_e + mean, count + 1.0);
        (sum_tt, sum_te) = (sum_tt + t * t, sum_te + t * mean);
    }
    let slope = (count * sum_te - sum_t * sum_e) / (count * sum_tt - sum_t * sum_t);
    assert!(slope.abs() < 1e-9, "slope {slope} per period");
}

/// T-INT-05 and A-7: free fall for 1 s at h = 0.01, where each method's error is known in closed form.
#[test]
fn free_fall() {
    let cases = [
        (Method::second("basic-verlet"), -4.905, 1e-12),
        (Method::second("velocity-verlet"), -4.905, 1e-12),
        (Method::second("explicit-euler"), -4.85595, 1e-12),
        (Method::first("explicit-euler"), -4.85595, 1e-12),
        (Method::second("symplectic-euler"), -4.95405, 1e-12),
        (Method::first("midpoint"), -4.905, 1e-12),
        (Method::first("runge-kutta-4"), -4.905, 1e-12),
    ];
    for (mut method, expected, within) in cases {
        let (x, v) = method.run(&mut Driven(|_| -9.81), 100, 0.01, (0.0, 0.0));
        assert!((x - expected).abs() < within, "{}: {x}", method.name());
        assert!((v + 9.81).abs() < 1e-12);
    }
}

/// T-INT-08: Verlet retraces its steps, explicit Euler does not.
#[test]
fn velocity_verlet_is_reversible_and_explicit_euler_is_not() {
    let there_and_back = |name: &str| {
        let mut oscillator = Oscillator { omega: 2.0 };
        let (x, v) = Method::second(name).run(&mut oscillator, 1000, 0.01, (1.0, 0.5));
        let (x, _) = Method::second(name).run(&mut oscillator, 1000, 0.01, (x, -v));
        (x - 1.0).abs()
    };
    assert!(there_and_back("velocity-verlet") < 1e-9);
    assert!(there_and_back("basic-verlet") < 1e-2); // its handed-out velocity is off by ½h²ȧ
    assert!(there_and_back("explicit-euler") > 0.1);
}

struct Power(i32);
impl System<f64> for Power {
    fn rate(&mut self, t: f64, _y: &f64, rate: &mut f64) {
        *rate = t.powi(self.0);
    }
}

/// T-INT-09: Simpson's rule is exact for cubics, overshoots t⁴ by h⁵/120, takes three evaluations, and is
/// Euler's for constants.
#[test]
fn simpson_has_the_error_of_simpsons_rule() {
    let simpson = || integrator::by_name::<f64>("simpson").unwrap();
    let mut cubic = Counting::new(Power(3));
    let mut y = 0.0;
    for step in 0..10 {
        simpson().step(&mut cubic, 0.1 * f64::from(step), 0.1, &mut y).unwrap();
    }
    assert!((y - 0.25).abs() < 1e-13);
    assert_eq!(cubic.evaluations, 30);

    for h in [0.1, 0.5, 2.0_f64] {
        let mut y = 0.0;
        simpson().step(&mut Power(4), 0.0, h, &mut y).unwrap();
        let excess = y - h.powi(5) / 5.0;
        // The excess is a difference of numbers 24 times its size: compare the results themselves.
        assert!((excess - h.powi(5) / 120.0).abs() < 1e-12 * y);
    }

    let (mut by_simpson, mut by_euler) = (0.3, 0.3);
    simpson().step(&mut Power(0), 0.0, 0.1, &mut by_simpson).unwrap();
    ExplicitEuler::new().step(&mut Power(0), 0.0, 0.1, &mut by_euler).unwrap();
    assert!((by_simpson - by_euler).abs() < 1e-15_f64);
}

/// a(t) = 12t² gives x = t⁴ in one step of h = 1.
#[test]
fn simpson_is_exact_for_quadratic_accelerations() {
    let (x, v) = Method::second("simpson").run(&mut Driven(|t: f64| 12.0 * t * t), 1, 1.0, (0.0, 0.0));
    assert!((x - 1.0).abs() < 1e-14 && (v - 4.0).abs() < 1e-14);
}

/// Euler's equations in the body frame with the attitude q (body → world).
struct FreeBody(DVec3);
impl System<(DQuat, DVec3)> for FreeBody {
    fn rate(&mut self, _t: f64, (q, w): &(DQuat, DVec3), rate: &mut (DQuat, DVec3)) {
        rate.0 = *q * DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * 0.5;
        rate.1 = -w.cross(self.0 * w) / self.0;
    }
    fn project(&mut self, y: &mut (DQuat, DVec3)) {
        y.0 = y.0.normalize();
    }
}

/// T-INT-10: torque-free body with moments (1, 2, 3), spun near its unstable axis.
#[test]
fn free_rigid_body_keeps_angular_momentum_and_energy() {
    let moments = DVec3::new(1.0, 2.0, 3.0);
    let mut body = FreeBody(moments);
    let mut y = (DQuat::IDENTITY, DVec3::new(0.1, 2.0, 0.2));
    let momentum = |y: &(DQuat, DVec3)| y.0 * (moments * y.1);
    let energy = |y: &(DQuat, DVec3)| 0.5 * (moments * y.1).dot(y.1);
    let (momentum_start, energy_start) = (momentum(&y), energy(&y));
    let mut method = RungeKutta4::new();
    for step in 0..10_000 {
        method.step(&mut body, 1e-3 * f64::from(step), 1e-3, &mut y).unwrap();
        assert!((y.0.length() - 1.0).abs() < 1e-15 * 4.0);
    }
    assert!((momentum(&y).length() / momentum_start.length() - 1.0).abs() < 1e-10);
    assert!((momentum(&y) - momentum_start).length() < 1e-9);
    assert!((energy(&y) / energy_start - 1.0).abs() < 1e-8);
}

#[test]
fn evaluations_a_step_are_as_documented() {
    let counts = [
        (Method::first("explicit-euler"), 1),
        (Method::first("midpoint"), 2),
        (Method::first("runge-kutta-4"), 4),
        (Method::first("cash-karp"), 6),
        (Method::first("dormand-prince"), 7),
        (Method::second("symplectic-euler"), 1),
        (Method::second("taylor-verlet"), 1),
        (Method::second("velocity-verlet"), 2),
        (Method::second("basic-verlet"), 1),
        (Method::second("simpson"), 3),
    ];
    for (mut method, expected) in counts {
        let mut oscillator = Counting::new(Oscillator { omega: 2.0 });
        method.run(&mut oscillator, 10, 0.1, (1.0, 0.0));
        assert_eq!(oscillator.evaluations, 10 * expected, "{}", method.name());
    }
}

/// §2.5: step sizes that are none are refused, and the state is left alone.
#[test]
fn impossible_steps_are_refused_by_every_method() {
    for mut method in Method::all() {
        for h in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            let mut state = (1.0, 2.0);
            let result = method.step(&mut Oscillator { omega: 2.0 }, 0.0, h, &mut state);
            assert!(matches!(result, Err(StepError::InvalidStep { .. })), "{}", method.name());
            assert_eq!(state, (1.0, 2.0));
        }
    }
}

/// §2.5: an acceleration that is no number is reported, and the state put back bit by bit.
#[test]
fn non_finite_accelerations_are_reported_by_every_method_and_the_state_restored() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for mut method in Method::all() {
            let mut state = (0.1 + 0.2, 2.0);
            let result = method.step(&mut Driven(|_| bad), 3.0, 0.1, &mut state);
            assert!(matches!(result, Err(StepError::NonFinite { time }) if time >= 3.0), "{}", method.name());
            assert_eq!(state, (0.1 + 0.2, 2.0), "{}", method.name());
        }
    }
    // Bad only at the end of the step, after the position has been moved on trial.
    let mut state = (0.1 + 0.2, 2.0);
    let mut ends_badly = Driven(|t: f64| if t > 0.05 { f64::NAN } else { 1.0 });
    assert!(Method::second("velocity-verlet").step(&mut ends_badly, 0.0, 0.1, &mut state).is_err());
    assert_eq!(state, (0.1 + 0.2, 2.0));
}

#[test]
fn an_overflowing_state_is_reported_and_restored() {
    for mut method in Method::all() {
        let mut state = (1.0, 1e308);
        let result = method.step(&mut Driven(|_| 1e308), 0.0, 10.0, &mut state);
        assert!(result.is_err(), "{}", method.name());
        assert_eq!(state, (1.0, 1e308), "{}", method.name());
    }
}

/// §2.5: an impulse between two steps acts on basic Verlet as on any other method, reset or not.
#[test]
fn basic_verlet_takes_part_in_impulses() {
    let after_bounce = |reset: bool| {
        let mut system = Driven(|_| -9.81);
        let mut method = BasicVerlet::new();
        let (mut x, mut v) = (0.0, 0.0);
        for _ in 0..100 {
            method.step(&mut system, 0.0, 0.01, &mut x, &mut v).unwrap();
        }
        v = -v;
        if reset {
            SecondOrderIntegrator::<f64, f64>::reset(&mut method);
        }
        for _ in 0..100 {
            method.step(&mut system, 0.0, 0.01, &mut x, &mut v).unwrap();
        }
        (x, v)
    };
    // Thrown back up at the speed it had, it arrives where it started, at rest.
    for reset in [false, true] {
        let (x, v) = after_bounce(reset);
        assert!(x.abs() < 1e-12 && v.abs() < 1e-12, "{x} {v}");
    }
}

#[test]
fn basic_verlet_goes_on_from_a_saved_history() {
    let mut oscillator = Oscillator { omega: 2.0 };
    let mut method: Box<dyn SecondOrderIntegrator<f64, f64>> = Box::new(BasicVerlet::new());
    let (mut x, mut v) = (1.0, 0.0);
    for _ in 0..10 {
        method.step(&mut oscillator, 0.0, 0.1, &mut x, &mut v).unwrap();
    }
    let mut copy: Box<dyn SecondOrderIntegrator<f64, f64>> = Box::new(BasicVerlet::new());
    copy.restore(method.history().cloned());
    let (mut x_copy, mut v_copy) = (x, v);
    for _ in 0..10 {
        method.step(&mut oscillator, 0.0, 0.1, &mut x, &mut v).unwrap();
        copy.step(&mut oscillator, 0.0, 0.1, &mut x_copy, &mut v_copy).unwrap();
    }
    assert_eq!((x, v), (x_copy, v_copy));
}

/// Positions need not be vectors: an angle on the circle, wrapped by the drift.
#[test]
fn second_order_methods_move_on_manifolds() {
    struct Circle;
    impl SecondOrder<DQuat, DVec3> for Circle {
        fn acceleration(&mut self, _t: f64, _x: &DQuat, _v: &DVec3, a: &mut DVec3) {
            *a = DVec3::new(0.0, 0.0, 0.5);
        }
        fn drift(&mut self, x: &mut DQuat, h: f64, v: &DVec3) {
            *x = (DQuat::from_scaled_axis(*v * h) * *x).normalize();
        }
    }
    let mut q = DQuat::IDENTITY;
    let mut w = DVec3::Z;
    let mut method = VelocityVerlet::new();
    for _ in 0..100 {
        method.step(&mut Circle, 0.0, 0.01, &mut q, &mut w).unwrap();
    }
    // Angle t + t²/4 at t = 1.
    assert!(q.angle_between(DQuat::from_rotation_z(1.25)) < 1e-7);
    let mut symplectic = SymplecticEuler::new();
    symplectic.step(&mut Circle, 0.0, 0.01, &mut q, &mut w).unwrap();
    assert!((w.z - 1.505).abs() < 1e-12);
}
