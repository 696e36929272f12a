//! Steps in steady state make no new states: a state that counts its clones stands in for one on the heap.

use rattleback_numerics::adaptive::{Embedded, StepControl, StepDoubling};
use rattleback_numerics::integrator::{self, DormandPrince, RungeKutta4};
use rattleback_numerics::second_order::{self, SecondOrderIntegrator};
use rattleback_numerics::{SecondOrder, State, System, Tolerance};
use std::cell::Cell;

thread_local! {
    static CLONES: Cell<u32> = const { Cell::new(0) };
}

/// Two numbers whose clones are counted.
struct Counted([f64; 2]);

impl Clone for Counted {
    fn clone(&self) -> Self {
        CLONES.set(CLONES.get() + 1);
        Self(self.0)
    }

    fn clone_from(&mut self, source: &Self) {
        self.0 = source.0;
    }
}

impl State for Counted {
    fn copy_from(&mut self, other: &Self) {
        self.0 = other.0;
    }
    fn set_zero(&mut self) {
        self.0.set_zero();
    }
    fn scale(&mut self, a: f64) {
        self.0.scale(a);
    }
    fn add_scaled(&mut self, a: f64, other: &Self) {
        self.0.add_scaled(a, &other.0);
    }
    fn dot(&self, other: &Self) -> f64 {
        self.0.dot(&other.0)
    }
    fn is_finite(&self) -> bool {
        self.0.is_finite()
    }
    fn scaled_error(&self, reference: &Self, tolerance: Tolerance) -> f64 {
        self.0.scaled_error(&reference.0, tolerance)
    }
}

/// A rotation, as a first-order system and as a force.
struct Rotation;

impl System<Counted> for Rotation {
    fn rate(&mut self, _t: f64, y: &Counted, rate: &mut Counted) {
        rate.0 = [y.0[1], -y.0[0]];
    }
}

impl SecondOrder<Counted, Counted> for Rotation {
    fn acceleration(&mut self, _t: f64, x: &Counted, _v: &Counted, a: &mut Counted) {
        a.0 = [-x.0[0], -x.0[1]];
    }
    fn drift(&mut self, x: &mut Counted, h: f64, v: &Counted) {
        x.add_scaled(h, v);
    }
}

/// Clones made by `work` after it has been done once.
fn clones_in_steady_state(mut work: impl FnMut()) -> u32 {
    work();
    let before = CLONES.get();
    for _ in 0..20 {
        work();
    }
    CLONES.get() - before
}

#[test]
fn methods_reuse_their_states() {
    for name in integrator::NAMES {
        let mut method = integrator::by_name::<Counted>(name).unwrap();
        let mut y = Counted([1.0, 0.0]);
        let clones = clones_in_steady_state(|| method.step(&mut Rotation, 0.0, 0.1, &mut y).unwrap());
        assert_eq!(clones, 0, "{name}");
    }
    for name in second_order::NAMES {
        let mut method = second_order::by_name::<Counted, Counted>(name).unwrap();
        let (mut x, mut v) = (Counted([1.0, 0.0]), Counted([0.0, 1.0]));
        let clones = clones_in_steady_state(|| method.step(&mut Rotation, 0.0, 0.1, &mut x, &mut v).unwrap());
        assert_eq!(clones, 0, "{name}");
    }
}

#[test]
fn step_control_reuses_its_states() {
    let mut y = Counted([1.0, 0.0]);
    let mut doubling = StepDoubling::new(RungeKutta4::new(), StepControl::default());
    let mut embedded = Embedded::new(DormandPrince::new(), StepControl::default());
    let clones = clones_in_steady_state(|| {
        doubling.integrate(&mut Rotation, 0.0, 1.0, &mut y).unwrap();
        embedded.integrate(&mut Rotation, 0.0, 1.0, &mut y).unwrap();
    });
    assert_eq!(clones, 0);
}

/// A method goes on with a state of another size, as when particles are added.
#[test]
fn states_may_change_their_size_between_steps() {
    struct Grow;
    impl System<Vec<f64>> for Grow {
        fn rate(&mut self, _t: f64, y: &Vec<f64>, rate: &mut Vec<f64>) {
            rate.copy_from(y);
        }
    }
    impl SecondOrder<Vec<f64>, Vec<f64>> for Grow {
        fn acceleration(&mut self, _t: f64, _x: &Vec<f64>, v: &Vec<f64>, a: &mut Vec<f64>) {
            a.copy_from(v);
        }
        fn drift(&mut self, x: &mut Vec<f64>, h: f64, v: &Vec<f64>) {
            x.add_scaled(h, v);
        }
    }
    for name in integrator::NAMES {
        let mut method = integrator::by_name::<Vec<f64>>(name).unwrap();
        for size in [3, 5, 2, 0] {
            let mut y = vec![1.0; size];
            method.step(&mut Grow, 0.0, 0.1, &mut y).unwrap();
            assert!(y.iter().all(|&y| y > 1.09 && y < 1.12), "{name}: {y:?}");
        }
    }
    for name in second_order::NAMES {
        let mut method: Box<dyn SecondOrderIntegrator<_, _>> = second_order::by_name(name).unwrap();
        for size in [3, 5, 2, 0] {
            let (mut x, mut v) = (vec![0.0; size], vec![1.0; size]);
            method.step(&mut Grow, 0.0, 0.1, &mut x, &mut v).unwrap();
            assert!(v.iter().all(|&v| v > 1.09 && v < 1.12), "{name}: {v:?}");
        }
    }
}
