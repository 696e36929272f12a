//! Emitters: sources of particles with random parameters, splitting, colours and trails.

mod color;
mod config;
mod place;
mod preset;
mod release;
mod sample;
mod split;

pub use color::{ColorEvolution, ColorTimes};
pub use config::{ChildMass, EmitterConfig, EmitterForce, Source, SplitConfig, TrailConfig};
pub use preset::{PRESETS, preset};
pub use release::{Emitter, Trail};
pub use sample::Varied;
