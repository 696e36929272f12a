//! Numerical methods of the Rattleback dynamics engine, independent of bodies, shapes and files.
//!
//! * [`State`], [`System`] and [`SecondOrder`] define what is integrated,
//! * [`integrator`] holds the methods for ẏ = f(t, y), [`second_order`] those for ẋ = v, v̇ = a(t, x, v),
//! * [`adaptive`] chooses step sizes, [`stability`] gives their upper bounds,
//! * [`hermite`] interpolates between values with known slopes,
//! * [`damping`] is viscous damping over a step,
//! * [`lcp`] solves linear complementarity problems, the contact forces that only push,
//! * [`polynomial`] finds real roots on an interval, [`interval`] is interval arithmetic,
//! * [`UnionFind`] finds the connected components of a graph,
//! * [`team`] runs one piece of work on several threads.
//!
//! ```
//! use rattleback_numerics::{Integrator, System, integrator::RungeKutta4};
//!
//! struct Decay;
//! impl System<f64> for Decay {
//!     fn rate(&mut self, _t: f64, y: &f64, rate: &mut f64) {
//!         *rate = -y;
//!     }
//! }
//!
//! let mut method = RungeKutta4::new();
//! let mut y = 1.0;
//! for step in 0..10 {
//!     method.step(&mut Decay, 0.1 * f64::from(step), 0.1, &mut y)?;
//! }
//! assert!((y - (-1.0_f64).exp()).abs() < 1e-6);
//! # Ok::<(), rattleback_numerics::StepError>(())
//! ```

pub mod adaptive;
pub mod damping;
pub mod hermite;
pub mod integrator;
pub mod interval;
pub mod lcp;
pub mod polynomial;
pub mod second_order;
pub mod stability;
pub mod team;

mod error;
mod state;
mod system;
mod union_find;
mod workspace;

pub use error::StepError;
pub use integrator::Integrator;
pub use second_order::SecondOrderIntegrator;
pub use state::{State, Tolerance};
pub use system::{AsFirstOrder, SecondOrder, System};
pub use union_find::UnionFind;
