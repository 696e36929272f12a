//! Many frictional contacts between blocks of six unknowns: sparse; contacts may be redundant.
//!
//! Every block has a velocity v of six numbers and a mass matrix M. Contacts couple at most two blocks
//! through three rows J (normal and two tangents), u = J v − t, and push with p = (p_n, p_t, p_k) on their
//! blocks:
//!
//!   M (v − v*) = Jᵀ p,   0 ≤ p_n ⟂ u_n ≥ 0,   |p_τ| ≤ μ p_n,   p_τ = −μ p_n u_τ/|u_τ| if u_τ ≠ 0.
//!
//! With ρ > 0 these conditions are equivalent to p = Π(p − ρ u), Π the projection onto p_n ≥ 0 and the disc
//! of radius μ p_n (Alart & Curnier 1991). The method of multipliers solves M(v − v*) = Jᵀ Π(p⁰ − ρ u(v)) for
//! v, with the radius taken from p⁰, and puts p⁰ ← Π(…), until both agree. For a given p⁰ and radius the
//! equation is the gradient of a convex function
//!
//!   ψ(v) = ½ |v − v*|²_M + Σ (|Π_n|²/2ρ + huber(p⁰_τ − ρ u_τ)/ρ),
//!
//! which Newton's method with the matrix M + Jᵀ D J (D the slope of Π) and a line search minimises. The
//! matrix is of the size of the unknowns, not of the contacts, and positive definite however many contacts
//! are redundant. Its factor fits into an envelope (see `envelope`). A contact with a finite stiffness is the
//! same with a finite ρ and p⁰ = 0: the spring and damper of a penalty method, taken at the end of the step.
//!
//! Equality rows are single rows with J v = t, held by an impulse within bounds: joints, limits, motors. They
//! enter ψ like a contact without friction whose impulse is clamped to its bounds. Without contacts,
//! [`EqualitySolver`] solves them without a line search.

mod envelope;
mod equality;
mod newton;
mod problem;
mod rank;
mod sweep;

pub use equality::{EqualityReport, EqualitySolver};
pub use newton::{BlockReport, BlockSettings, BlockSolver};
pub use problem::{Block, BlockContact, BlockError, BlockProblem, EqualityRow, Stiffness};
pub use rank::{Rank, rank_of_equalities};
