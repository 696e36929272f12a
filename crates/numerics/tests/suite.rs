//! Integration tests of the numerics. One binary: each further one would be linked with everything again.

mod lcp_problems;
mod systems;

mod adaptive;
mod convergence;
mod integrators;
mod intervals;
mod lcp;
mod lcp_blocks;
mod lcp_equalities;
mod polynomials;
mod steady_state;
