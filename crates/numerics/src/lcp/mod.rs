//! Linear complementarity: forces that only push, and friction that only resists.
//!
//! Given A and b, find z ≥ 0 with w = A z + b ≥ 0 and z·w = 0 ([`Lcp`]); with friction, two tangential rows
//! go with every normal one and are bounded by it ([`FrictionProblem`]).
//!
//! * [`dantzig`]: pivots row by row, exact, for symmetric positive semidefinite A;
//! * [`baraff`]: the same with static and dynamic friction;
//! * [`gauss_seidel`], [`gauss_seidel_friction`]: sweeps, approximate, cheap per sweep;
//! * [`newton`]: a semismooth Newton method on the Fischer–Burmeister function;
//! * [`lemke`]: Lemke's method, for any A it can process: the reference in tests;
//! * [`blocks`]: many frictional contacts of few unknowns, sparse, by augmented Lagrangian and Newton.
//!
//! Every solver returns an [`Outcome`]: solved, without a solution, on a ray, or given up.
//!
//! ```
//! use rattleback_numerics::lcp::{Lcp, Outcome, SquareMatrix, dantzig};
//! let a = SquareMatrix::from_rows(3, vec![2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0])?;
//! let solution = dantzig(&Lcp::new(a, vec![-1.0, 3.0, -1.0])?, None)?;
//! assert_eq!(solution.outcome, Outcome::Solved);
//! assert_eq!((solution.z, solution.w), (vec![0.5, 0.0, 0.5], vec![0.0, 2.0, 0.0]));
//! # Ok::<(), rattleback_numerics::lcp::LcpError>(())
//! ```

mod baraff;
mod bordered;
mod dantzig;
mod elimination;
mod friction;
mod gauss_seidel;
mod ldlt;
mod lemke;
mod matrix;
mod newton;
mod pivoting;
mod problem;

pub mod blocks;

pub use baraff::baraff;
pub use dantzig::dantzig;
pub use elimination::eliminate;
pub use friction::{Friction, FrictionContact, FrictionProblem, FrictionSolution};
pub use gauss_seidel::{SweepSettings, gauss_seidel, gauss_seidel_friction};
pub use lemke::lemke;
pub use matrix::SquareMatrix;
pub use newton::newton;
pub use problem::{Lcp, LcpError, Outcome, Solution};
