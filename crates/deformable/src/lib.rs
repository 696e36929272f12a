//! Cloth, hair and soft bodies.
//!
//! A [`Deformable`] is vertices with mass and elements between them: springs or continuum elements, built by [`Cloth`], [`Strand`],
//! [`Hair`] or [`Solid`] from engineering units. A [`DeformableSystem`] steps any number of them, with rigid bodies and planes, by one
//! of five methods; the implicit Newton step keeps every surface free of intersections. The crate depends neither on worlds nor
//! on files.
#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "`!(x > 0.0)` is meant where it stands: NaN must take the same way out as a bad number"
)]

mod assembly;
mod conjugate_gradients;
pub mod contact;
mod dual;
pub mod element;
mod error;
pub mod forces;
mod lists;
mod matrix;
mod model;
mod rigid;
mod step;
mod system;

pub use conjugate_gradients::SolveReport;
pub use error::DeformableError;
pub use model::{Cloth, Deformable, Hair, HairKind, MAX_VERTICES, Solid, SolidMesh, SpringCloth, Strand};
pub use rigid::{RigidBody, RigidStatus};
pub use step::{Method, Settings, StepReport};
pub use system::{DeformableSystem, Energies};

/// The examples of the guide, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/deformables.md")]
struct Guide;
