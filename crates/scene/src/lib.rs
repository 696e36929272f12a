//! Scenes: worlds as data.
//!
//! A scene file is TOML or JSON (`docs/scene-format.md`), a Rhai script (`docs/scripts.md`) or a sandbox script
//! (`docs/sandbox-scripts.md`). [`Scene`] reads, checks, builds and writes it through the
//! [`Registry`](rattleback_dynamics::Registry), so that a plug-in's shapes, forces and simulators can be used in a scene as the built-in
//! ones are. [`built_ins`] lists the built-in scenes, [`mesh_file`] reads meshes, [`recording`] stores runs.
//!
//! The format in short (SI units, z up; all keys in `docs/scene-format.md`):
//!
//! ```toml
//! title = "…"                                  # also: description, duration, time_step, seed, plot
//! gravity = [0, 0, -9.81]                      # or "none"
//! units = { length = "mm", angle = "deg" }
//!
//! [simulator]
//! type = "free-motion"                         # and its properties
//!
//! [materials.steel]
//! restitution = 0.6
//!
//! [[body]]
//! name = "ball"                                # also: status, orientation, velocity, mass, path, groups, …
//! position = [0, 0, 100]
//! shape = { type = "sphere", radius = 10 }     # or several [[body.shape]]
//! repeat = { count = [10, 10, 1], spacing = [30, 30, 0] }
//!
//! [[force]]
//! type = "spring"                              # and its properties; acts `on` bodies, a `group`, or all
//! body_a = "world"
//! body_b = "ball[0]"
//! stiffness = { harmonic = { mean = 5, amplitude = 1, frequency = 2 } }
//! ```
//!
//! A file is read in three passes: `document` (text ⇒ a tree with the place of every value; scripts make the same tree; `include`
//! and `defaults` complete it), `model` (everything that can be checked without the registry) and `build` (the world). Errors of each
//! have a place in the text.
//!
//! The crate depends on no windows, plots or command lines.

mod build;
mod built_in;
mod defaults;
mod deprecated;
mod document;
mod error;
mod expression;
mod file_access;
mod include;
pub mod mesh_file;
mod model;
mod notice;
mod parameter;
pub mod recording;
pub mod robot;
mod sandbox_script;
mod scene;
mod schema;
mod script;
mod source;
pub mod stress;
mod study_file;
mod units;

pub use built_in::{BuiltIn, built_ins};
pub use error::{Place, Problem, SceneError, SceneFault, SceneWarning};
pub use expression::evaluate;
pub use file_access::FileAccess;
pub use model::status_name;
pub use parameter::ParameterValue;
pub use scene::{BuiltScene, Scene};
pub use schema::schema;
pub use source::MAX_SCENE_BYTES;
pub use study_file::{
    BuiltInStudy, ParameterValues, SampleDesign, StudyFile, StudyParameter, StudyResult, StudySet, Taken,
    built_in_studies,
};
