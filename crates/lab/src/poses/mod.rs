//! Pose statistics: with which probability does a dropped part come to rest on each of its faces?
//!
//! ```
//! use glam::DVec3;
//! use rattleback_dynamics::Registry;
//! use rattleback_geometry::generate;
//! use rattleback_lab::poses::{Landscape, Method, Part, PartOptions, PoseStudy, Stop, StudySettings, quasi_static};
//! let brick = generate::cuboid(DVec3::new(0.005, 0.010, 0.015))?;
//! let part = Part::from_soup(&brick, &PartOptions::default())?;
//! let poses = Landscape::of(&part, 0.02)?;
//! assert_eq!(poses.poses.len(), 6);
//! // At once: the solid angle of the largest face.
//! assert!((quasi_static(&part, &poses)[0] - 0.322510781).abs() < 1e-9);
//! // By drops.
//! let (settings, registry) = (StudySettings::default(), Registry::default());
//! let study = PoseStudy::new(&part, &poses, &settings, &registry)?;
//! let estimate = study.run(Method::Uniform, Stop::Drops(100), 1, &mut Vec::new(), |_, _| true)?;
//! assert!(estimate.p[0] + estimate.p[1] > 0.6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Part`]: mass properties of the solid and its convex hull, which touches the floor,
//! - [`Landscape`]: stable poses, families of facets that roll, and barriers between them,
//! - [`quasi_static`] and [`perturbed`]: estimates by geometry alone,
//! - [`PoseStudy`]: estimates by simulated drops, with intervals that hold for dependent drops,
//! - [`SOURCE_TABLES`] and [`pose_error`]: measurements of the source and its error,
//! - [`models`]: part kinds by formula.

mod chi_squared;
mod coarse_hull;
mod drop;
mod error;
mod faces;
mod independence;
mod interval;
mod landscape;
pub mod models;
mod part;
mod perturbed;
mod quasi_static;
mod source_data;
mod spherical;
mod stationary;
mod study;

pub use chi_squared::{chi_squared, chi_squared_tail};
pub use drop::{DropSettings, Dropper, Landing, Start, Surface};
pub use error::PoseError;
pub use faces::{Face, Faces};
pub use independence::{IndependenceRow, independence};
pub use interval::{normal_quantile, sample_size, student_quantile, wilson};
pub use landscape::{Freedom, Landscape, StablePose};
pub use part::{Part, PartOptions};
pub use perturbed::{Disturbance, SOURCE_ANGLE, perturbed};
pub use quasi_static::{quasi_static, quasi_static_by_face, solid_angle_shares};
pub use source_data::{SOURCE_TABLES, SourceTable, pose_error, table_text};
pub use stationary::{Stationary, stationary};
pub use study::{DISTURBANCE, DropRecord, Estimate, GENERATION, Method, PoseStudy, Stop, StudySettings};
