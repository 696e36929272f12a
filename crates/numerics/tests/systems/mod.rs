//! Systems with known solutions, shared by tests and examples.
#![allow(dead_code, reason = "every test uses its own part of these systems")]

use rattleback_numerics::integrator::{self, Integrator};
use rattleback_numerics::second_order::{self, SecondOrderIntegrator};
use rattleback_numerics::{AsFirstOrder, SecondOrder, StepError, System};

/// u̇ = −a u.
pub struct Decay(pub f64);

impl System<f64> for Decay {
    fn rate(&mut self, _t: f64, u: &f64, rate: &mut f64) {
        *rate = -self.0 * u;
    }
}

/// ẍ = −ω²x.
pub struct Oscillator {
    pub omega: f64,
}

impl Oscillator {
    pub fn energy(&self, (x, v): (f64, f64)) -> f64 {
        v * v + self.omega * self.omega * x * x
    }

    /// Distance of (x, v) from the exact motion from (1, 0), with v in units of ω.
    pub fn error(&self, t: f64, (x, v): (f64, f64)) -> f64 {
        let angle = self.omega * t;
        (x - angle.cos()).hypot(v / self.omega + angle.sin())
    }
}

impl SecondOrder<f64, f64> for Oscillator {
    fn acceleration(&mut self, _t: f64, x: &f64, _v: &f64, a: &mut f64) {
        *a = -self.omega * self.omega * x;
    }

    fn drift(&mut self, x: &mut f64, h: f64, v: &f64) {
        *x += h * v;
    }
}

/// The oscillator with its jerk supplied.
pub struct JerkyOscillator(pub Oscillator);

impl SecondOrder<f64, f64> for JerkyOscillator {
    fn acceleration(&mut self, t: f64, x: &f64, v: &f64, a: &mut f64) {
        self.0.acceleration(t, x, v, a);
    }

    fn drift(&mut self, x: &mut f64, h: f64, v: &f64) {
        self.0.drift(x, h, v);
    }

    fn jerk(&mut self, _t: f64, _x: &f64, v: &f64, _a: &f64, jerk: &mut f64) -> bool {
        *jerk = -self.0.omega * self.0.omega * v;
        true
    }
}

/// ẍ = a(t).
pub struct Driven<A: FnMut(f64) -> f64>(pub A);

impl<A: FnMut(f64) -> f64> SecondOrder<f64, f64> for Driven<A> {
    fn acceleration(&mut self, t: f64, _x: &f64, _v: &f64, a: &mut f64) {
        *a = (self.0)(t);
    }

    fn drift(&mut self, x: &mut f64, h: f64, v: &f64) {
        *x += h * v;
    }
}

/// A planar orbit about GM = 1; the state is (x, y, ẋ, ẏ).
pub struct Kepler;

impl System<[f64; 4]> for Kepler {
    fn rate(&mut self, _t: f64, &[x, y, vx, vy]: &[f64; 4], rate: &mut [f64; 4]) {
        let cube = x.hypot(y).powi(3);
        *rate = [vx, vy, -x / cube, -y / cube];
    }
}

/// Counts the evaluations of another system.
pub struct Counting<S> {
    pub system: S,
    pub evaluations: u32,
}

impl<S> Counting<S> {
    pub fn new(system: S) -> Self {
        Self { system, evaluations: 0 }
    }
}

impl<Y, S: System<Y>> System<Y> for Counting<S> {
    fn rate(&mut self, t: f64, y: &Y, rate: &mut Y) {
        self.evaluations += 1;
        self.system.rate(t, y, rate);
    }
}

impl<Q, V, S: SecondOrder<Q, V>> SecondOrder<Q, V> for Counting<S> {
    fn acceleration(&mut self, t: f64, x: &Q, v: &V, a: &mut V) {
        self.evaluations += 1;
        self.system.acceleration(t, x, v, a);
    }

    fn drift(&mut self, x: &mut Q, h: f64, v: &V) {
        self.system.drift(x, h, v);
    }
}

/// A method of either kind, for motion on a line.
pub enum Method {
    First(Box<dyn Integrator<(f64, f64)>>),
    Second(Box<dyn SecondOrderIntegrator<f64, f64>>),
}

impl Method {
    pub fn first(name: &str) -> Self {
        Self::First(integrator::by_name(name).expect("known name"))
    }

    pub fn second(name: &str) -> Self {
        Self::Second(second_order::by_name(name).expect("known name"))
    }

    /// Every method there is, by name.
    pub fn all() -> Vec<Self> {
        let first = integrator::NAMES.iter().map(|name| Self::first(name));
        first.chain(second_order::NAMES.iter().map(|name| Self::second(name))).collect()
    }

    /// Drops the history of the last run.
    pub fn fresh(&mut self) -> &mut Self {
        match self {
            Self::First(method) => method.reset(),
            Self::Second(method) => method.reset(),
        }
        self
    }

    pub fn name(&self) -> String {
        match self {
            Self::First(method) => method.name().to_owned(),
            Self::Second(method) => format!("{} (x, v)", method.name()),
        }
    }

    pub fn order(&self) -> u32 {
        match self {
            Self::First(method) => method.order(),
            Self::Second(method) => method.order(),
        }
    }

    pub fn step(
        &mut self,
        system: &mut dyn SecondOrder<f64, f64>,
        t: f64,
        h: f64,
        state: &mut (f64, f64),
    ) -> Result<(), StepError> {
        match self {
            Self::First(method) => method.step(&mut AsFirstOrder(system), t, h, state),
            Self::Second(method) => method.step(system, t, h, &mut state.0, &mut state.1),
        }
    }

    /// The state after n steps of size h from t = 0.
    pub fn run(
        &mut self,
        system: &mut dyn SecondOrder<f64, f64>,
        n: u32,
        h: f64,
        start: (f64, f64),
    ) -> (f64, f64) {
        let mut state = start;
        for k in 0..n {
            self.step(system, f64::from(k) * h, h, &mut state).expect("regular system");
        }
        state
    }

    /// Error at t = 1 on the oscillator ω = 2 from (1, 0), in n steps.
    pub fn oscillator_error(&mut self, n: u32) -> f64 {
        let mut oscillator = Oscillator { omega: 2.0 };
        let end = self.run(&mut oscillator, n, 1.0 / f64::from(n), (1.0, 0.0));
        oscillator.error(1.0, end)
    }
}
