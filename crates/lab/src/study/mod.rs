//! Experiments with scenes: what varies, what is measured, on all cores, which can be interrupted and continued.
//!
//! [`Experiment`] makes the runs of a [`StudyFile`](rattleback_scene::StudyFile): every combination of the values of lists, with every sample of ranges and
//! distributions ([`design`]), with every repetition. A run is determined by its number and the seed of the study alone, so neither threads nor interruptions change a result.
//! Values of lists are compared with the same samples and the same seeds of the scene. [`effects`] has the mean of a result over each parameter, and how much of its
//! variance the parameter explains.
//!
//! ```
//! use rattleback_dynamics::Registry;
//! use rattleback_lab::study::Experiment;
//! use rattleback_scene::{FileAccess, StudyFile};
//! let study = StudyFile::parse(
//!     r#"
//!     scene = "block-on-ramp"
//!     duration = 0.1
//!     [parameter.g]
//!     values = [-9.81, -1.62]
//!     set = "gravity"
//!     "#,
//!     "example",
//! );
//! assert!(study.unwrap_err().to_string().contains("needs `result`"));
//! # let _ = (Registry::default(), FileAccess::SceneFolder, std::any::type_name::<Experiment>());
//! ```

pub mod design;
pub mod effects;
mod experiment;
mod measurement;
mod table;

pub use experiment::{Experiment, StudyError, Trial, TrialRecord};
pub use table::write_trials;
