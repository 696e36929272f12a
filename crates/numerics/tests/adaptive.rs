//! Acceptance tests of step-size control.

use crate::systems;

use rattleback_numerics::adaptive::{Embedded, Rejection, StepControl, StepDoubling, SubStepController};
use rattleback_numerics::integrator::{CashKarp, DormandPrince, ExplicitEuler, Integrator, RungeKutta4};
use rattleback_numerics::second_order::{SecondOrderIntegrator, VelocityVerlet};
use rattleback_numerics::{StepError, System, Tolerance};
use std::f64::consts::TAU;
use systems::{Counting, Decay, Driven, Kepler, Oscillator};

/// Apocentre of the orbit a = 1, e = 0.9: r = 1 + e, v = √((1 − e)/(1 + e)).
const APOCENTRE: [f64; 4] = [1.9, 0.0, 0.0, 0.229_415_733_870_561_77];

fn position_error(y: &[f64; 4]) -> f64 {
    (y[0] - APOCENTRE[0]).hypot(y[1] - APOCENTRE[1])
}

/// T-INT-06: one period of a Kepler orbit by step doubling, against fixed steps.
#[test]
fn step_doubling_follows_a_kepler_orbit_with_an_eighth_of_the_work() {
    let control = StepControl::new(Tolerance::absolute(1e-8));
    let mut y = APOCENTRE;
    let report =
        StepDoubling::new(RungeKutta4::new(), control).integrate(&mut Kepler, 0.0, TAU, &mut y).unwrap();
    let error = position_error(&y);
    println!("{report:?}, error {error:e}");
    assert!(error < 1e-6);
    assert_eq!(report.evaluations, 12 * (report.accepted + report.rejected));

    // With eight times the evaluations in equal steps the error is still larger.
    let steps = (8 * report.evaluations / 4) as u32;
    let h = TAU / f64::from(steps);
    let mut method = RungeKutta4::new();
    let mut fixed = APOCENTRE;
    for k in 0..steps {
        method.step(&mut Kepler, h * f64::from(k), h, &mut fixed).unwrap();
    }
    println!("fixed, {} evaluations: {:e}", 4 * steps, position_error(&fixed));
    assert!(position_error(&fixed) > error);
}

/// T-INT-06 for the embedded pairs, which need fewer evaluations than step doubling.
#[test]
fn embedded_pairs_follow_a_kepler_orbit() {
    let control = StepControl::new(Tolerance::absolute(1e-8));
    let mut y = APOCENTRE;
    let cash_karp = Embedded::new(CashKarp::new(), control).integrate(&mut Kepler, 0.0, TAU, &mut y).unwrap();
    println!("cash-karp {cash_karp:?}, error {:e}", position_error(&y));
    assert!(position_error(&y) < 1e-5 && cash_karp.evaluations < 3000);
    let mut y = APOCENTRE;
    let prince =
        Embedded::new(DormandPrince::new(), control).integrate(&mut Kepler, 0.0, TAU, &mut y).unwrap();
    println!("dormand-prince {prince:?}, error {:e}", position_error(&y));
    assert!(position_error(&y) < 1e-5 && prince.evaluations < 3000);
}

/// T-INT-06: a failing integration restores its initial state, bit by bit.
#[test]
fn failure_restores_the_state_bit_by_bit() {
    // ẏ = y² from 1 is 1/(1 − t): no step size gets past t = 1.
    struct BlowUp;
    impl System<f64> for BlowUp {
        fn rate(&mut self, _t: f64, y: &f64, rate: &mut f64) {
            *rate = y * y;
        }
    }
    let start = 0.1_f64 + 0.9;
    let mut y = start;
    let mut solver = StepDoubling::new(RungeKutta4::new(), StepControl::default());
    let result = solver.integrate(&mut BlowUp, 0.0, 2.0, &mut y);
    assert!(
        matches!(result, Err(StepError::Underflow { time, .. }) if (time - 1.0).abs() < 1e-3),
        "{result:?}"
    );
    assert_eq!(y.to_bits(), start.to_bits());
}

/// T-INT-06: every attempt after a rejection starts from the very state before it.
#[test]
fn a_rejected_step_restores_a_bit_identical_state() {
    struct Witness(Vec<(f64, f64)>);
    impl System<f64> for Witness {
        fn rate(&mut self, t: f64, y: &f64, rate: &mut f64) {
            self.0.push((t, *y));
            *rate = -50.0 * y;
        }
    }
    let start = 1.0 / 3.0;
    let mut y = start;
    let mut witness = Witness(Vec::new());
    let mut solver = StepDoubling::new(ExplicitEuler::new(), StepControl::new(Tolerance::absolute(1e-4)));
    let report = solver.integrate(&mut witness, 0.0, 1.0, &mut y).unwrap();
    assert!(report.rejected >= 3);
    // Three evaluations an attempt; the first of each attempt sees the untouched state.
    let attempts_at_zero = witness.0.chunks(3).filter(|attempt| attempt[0].0 == 0.0);
    let seen: Vec<u64> = attempts_at_zero.map(|attempt| attempt[0].1.to_bits()).collect();
    assert!(seen.len() >= 3);
    assert!(seen.iter().all(|&bits| bits == f64::to_bits(start)));
    assert!((y - start * (-50.0_f64).exp()).abs() < 1e-3);
}

/// §2.2: a force that jumps inside the step drives the step to its minimum or is stepped over, never hangs.
#[test]
fn a_singular_force_underflows_with_a_typed_error() {
    struct Pole;
    impl System<f64> for Pole {
        fn rate(&mut self, t: f64, _y: &f64, rate: &mut f64) {
            *rate = 1.0 / (t - 0.5).abs();
        }
    }
    let mut y = 0.0;
    let mut solver = StepDoubling::new(RungeKutta4::new(), StepControl::default());
    let result = solver.integrate(&mut Pole, 0.0, 1.0, &mut y);
    assert!(matches!(result, Err(StepError::Underflow { .. } | StepError::NonFinite { .. })), "{result:?}");
    assert_eq!(y, 0.0);
}

#[test]
fn second_order_methods_are_controlled_too() {
    let mut oscillator = Oscillator { omega: 2.0 };
    let mut state = (1.0, 0.0);
    let control = StepControl::new(Tolerance::absolute(1e-7));
    let mut solver = StepDoubling::new(VelocityVerlet::new(), control);
    let report = solver.integrate_second_order(&mut oscillator, 0.0, 5.0, &mut state).unwrap();
    assert!(oscillator.error(5.0, state) < 1e-4);
    assert_eq!(report.evaluations, 6 * (report.accepted + report.rejected));
}

#[test]
fn intervals_and_settings_are_checked() {
    let mut solver = StepDoubling::new(RungeKutta4::new(), StepControl::default());
    let mut y = 1.0;
    for (t0, t1) in [(0.0, 0.0), (1.0, 0.0), (0.0, f64::NAN), (f64::NEG_INFINITY, 0.0), (-1e308, 1e308)] {
        let result = solver.integrate(&mut Decay(1.0), t0, t1, &mut y);
        assert!(matches!(result, Err(StepError::InvalidInterval { .. })));
    }
    solver.control.tolerance = Tolerance::absolute(f64::NAN);
    assert!(matches!(
        solver.integrate(&mut Decay(1.0), 0.0, 1.0, &mut y),
        Err(StepError::InvalidTolerance { .. })
    ));
    solver.control = StepControl { max_attempts: 5, initial_step: Some(1e-6), ..StepControl::default() };
    let result = solver.integrate(&mut Decay(1.0), 0.0, 1.0, &mut y);
    assert!(matches!(result, Err(StepError::TooManySteps { maximum: 5, .. })));
    // An interval so far from zero that time itself cannot resolve the steps.
    solver.control = StepControl { minimum_step: Some(1e-300), ..StepControl::default() };
    let result = solver.integrate(&mut Decay(1e9), 1e15, 1e15 + 1.0, &mut y);
    assert!(matches!(result, Err(StepError::Underflow { .. })));
    assert_eq!(y, 1.0);
}

/// ENG-10: e(N) = 1/N, tolerance 0.13.
#[test]
fn sub_steps_double_until_accepted_and_try_fewer_every_fourth_interval() {
    let mut controller = SubStepController { tolerance: 0.13, ..SubStepController::default() };
    let mut scratch = [0.0; 2];
    for interval in 0..20 {
        let mut tried = Vec::new();
        let attempt = |_t: f64, h: f64, _y: &mut f64| {
            tried.push((1.0 / h).round() as u32);
            Ok(h)
        };
        let report = controller.advance(0.0, 1.0, &mut 0.0, &mut scratch, attempt).unwrap();
        tried.dedup();
        let expected: &[u32] = match interval {
            0 => &[1, 2, 4, 8],
            i if i % 4 == 0 => &[4, 8],
            _ => &[8],
        };
        assert_eq!(tried, expected, "interval {interval}");
        assert_eq!(report.substeps, 8);
        assert_eq!(controller.substeps, if interval % 4 == 3 { 4 } else { 8 });
    }
}

/// ENG-12: N accepted at 1 for ever never becomes 0; neither does one set to 0 from outside.
#[test]
fn there_is_always_at_least_one_sub_step() {
    let mut controller = SubStepController { substeps: 0, ..SubStepController::default() };
    for _ in 0..100 {
        let mut state = 0.0;
        controller.advance(0.0, 1.0, &mut state, &mut [0.0; 2], |_, h, _| Ok(h)).unwrap();
        assert_eq!(controller.substeps, 1);
    }
}

/// T-INT-07: a stiff spring switched on at interval 10 and off at 20.
#[test]
fn sub_steps_follow_a_stiff_spring() {
    let dt = 1.0 / 60.0;
    let mut controller = SubStepController::default();
    let tolerance = Tolerance::absolute(1e-6);
    let (mut whole, mut halves) = (VelocityVerlet::new(), VelocityVerlet::new());
    let mut state = (0.01, 1.0);
    let mut history = Vec::new();
    for interval in 0..80 {
        let omega = if (10..20).contains(&interval) { 300.0 } else { 0.0 };
        let mut spring = Oscillator { omega };
        let sub_step = |t: f64, h: f64, state: &mut (f64, f64)| {
            let mut coarse = *state;
            whole.step(&mut spring, t, h, &mut coarse.0, &mut coarse.1)?;
            halves.step(&mut spring, t, 0.5 * h, &mut state.0, &mut state.1)?;
            halves.step(&mut spring, t + 0.5 * h, 0.5 * h, &mut state.0, &mut state.1)?;
            Ok(tolerance.measure(state.0 - coarse.0, 0.0))
        };
        let scratch = &mut [(0.0, 0.0); 2];
        controller.advance(dt * f64::from(interval), dt, &mut state, scratch, sub_step).unwrap();
        history.push(controller.substeps);
    }
    assert!(history[..10].iter().all(|&n| n == 1), "free flight needs no sub-steps");
    assert!(history[10] > 1 && history[10].is_power_of_two());
    // From the first halving after the spring is gone, every level lasts exactly four intervals.
    let gone = &history[20..];
    let first_change = gone.windows(2).position(|pair| pair[1] != pair[0]).unwrap() + 1;
    for levels in gone[first_change..].windows(5).step_by(4).filter(|levels| levels[0] > 1) {
        assert!(levels[..4].iter().all(|&n| n == levels[0]), "{gone:?}");
        assert_eq!(levels[4], levels[0] / 2, "{gone:?}");
    }
    assert_eq!(*history.last().unwrap(), 1);
}

/// T-INT-07 and ENG §3: beyond N_max there is a typed error, and nothing has changed.
#[test]
fn too_many_sub_steps_are_an_error_and_change_nothing() {
    for rejection in [Rejection::Whole, Rejection::SubStep] {
        let mut controller = SubStepController { rejection, ..SubStepController::default() };
        let before = controller;
        let mut state = 5.0;
        let fail = |_t: f64, _h: f64, state: &mut f64| {
            *state += 1.0;
            Ok(f64::NAN)
        };
        let result = controller.advance(0.0, 1.0, &mut state, &mut [0.0; 2], fail);
        assert!(matches!(result, Err(StepError::SubStepOverflow { maximum: 0x10_0000, .. })));
        let fail = |_t: f64, _h: f64, _state: &mut f64| Err(StepError::NonFinite { time: 7.0 });
        let result = controller.advance(0.0, 1.0, &mut state, &mut [0.0; 2], fail);
        assert_eq!(result, Err(StepError::NonFinite { time: 7.0 }));
        let result = controller.advance(0.0, -1.0, &mut state, &mut [0.0; 2], |_, h, _| Ok(h));
        assert!(matches!(result, Err(StepError::InvalidStep { .. })));
        assert_eq!((state, controller), (5.0, before));
    }
}

/// E1.4: only the failing sub-step is repeated, and the last one ends on the end of the interval.
#[test]
fn with_sub_step_rejection_work_already_done_is_kept() {
    // A method that needs h ≤ 1/64 while t ∈ [0.5, 0.6], and takes anything elsewhere.
    let narrow = |t: f64, h: f64| if t + h > 0.5 && t < 0.6 { 64.0 * h } else { 0.0 };
    let run = |rejection| {
        let mut controller = SubStepController { rejection, ..SubStepController::default() };
        let mut calls = 0;
        let mut clock = 0.0;
        let sub_step = |t: f64, h: f64, clock: &mut f64| {
            assert!((t - *clock).abs() < 1e-12, "sub-steps follow each other without gaps");
            calls += 1;
            *clock += h;
            Ok(narrow(t, h))
        };
        let report = controller.advance(0.0, 1.0, &mut clock, &mut [0.0; 2], sub_step).unwrap();
        assert!((clock - 1.0).abs() < 1e-12);
        (calls, report.substeps)
    };
    let (whole_calls, whole_steps) = run(Rejection::Whole);
    let (calls, steps) = run(Rejection::SubStep);
    assert_eq!(whole_steps, 64);
    assert!(steps < 40 && calls < whole_calls / 2, "{calls} of {whole_calls} calls, {steps} sub-steps");
}

struct Constant;
impl System<f64> for Constant {
    fn rate(&mut self, _t: f64, _y: &f64, rate: &mut f64) {
        *rate = 1.0;
    }
}

#[test]
fn constant_rates_let_the_step_grow_by_five() {
    let mut system = Counting::new(Constant);
    let control = StepControl { initial_step: Some(1e-3), ..StepControl::default() };
    let mut y = 0.0;
    let report =
        StepDoubling::new(RungeKutta4::new(), control).integrate(&mut system, 0.0, 1.0, &mut y).unwrap();
    // 1e-3 (1 + 5 + 25 + 125 + 625) < 1 ≤ … + 3125
    assert_eq!((report.accepted, report.rejected), (6, 0));
    assert_eq!(u64::from(system.evaluations), report.evaluations);
    assert!((y - 1.0).abs() < 1e-14);
}

/// Hostile settings and times end in an answer, not in a loop without end.
#[test]
fn sub_steps_far_from_time_zero_and_odd_settings_come_to_an_end() {
    for rejection in [Rejection::Whole, Rejection::SubStep] {
        for (substeps, accepted, max_substeps) in [(0, u32::MAX, 0), (u32::MAX, 3, 1000), (3, 0, u32::MAX)] {
            let mut controller = SubStepController {
                substeps,
                accepted,
                max_substeps,
                rejection,
                ..SubStepController::default()
            };
            let mut total = 0.0;
            let add = |_t: f64, h: f64, total: &mut f64| {
                *total += h;
                Ok(h * 2.0)
            };
            match controller.advance(1e18, 4.0, &mut total, &mut [0.0; 2], add) {
                Ok(_) => assert!((total - 4.0).abs() < 1e-12),
                Err(error) => assert!(matches!(error, StepError::SubStepOverflow { .. }) && total == 0.0),
            }
        }
    }
    let control = StepControl { factor_min: 0.99, max_attempts: 2000, ..StepControl::default() };
    let mut y = 1.0;
    let mut solver = StepDoubling::new(ExplicitEuler::new(), control);
    assert!(solver.integrate(&mut Decay(50.0), 0.0, 1.0, &mut y).is_err());
}

#[test]
fn non_finite_rates_end_an_adaptive_run_as_such() {
    let mut state = (1.0, 0.0);
    let mut solver = StepDoubling::new(VelocityVerlet::new(), StepControl::default());
    let result = solver.integrate_second_order(&mut Driven(|_| f64::NAN), 0.0, 1.0, &mut state);
    assert!(matches!(result, Err(StepError::NonFinite { .. })));
    assert_eq!(state, (1.0, 0.0));
}
