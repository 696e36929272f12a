//! Fluids by smoothed particles.
//!
//! [`SphFluid`] is the weakly compressible method of the source: densities, pressures by an equation of state, explicit
//! forces. [`IncompressibleFluid`] solves for pressures that keep density and its rate (DFSPH), with boundaries
//! sampled on bodies and coupled both ways.

mod boundary;
mod incompressible;
mod kernel;
mod lanes;
mod neighbours;
mod pass;
mod solve;
mod sph;
mod viscosity;

pub use boundary::{sample_box_inside, sample_shape};
pub use incompressible::{FluidSettings, FluidStatistics, IncompressibleFluid};
pub use kernel::{Kernel, Wendland};
pub use sph::{Ghosts, PressureLaw, SphFluid, SphSettings, SphStatistics};
