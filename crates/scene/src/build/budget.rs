//! Limits of memory and time for the bodies of a scene.
//!
//! A few bytes of text can describe millions of copies, each with many parts, keyframes or sampling points; the product is checked
//! before any of them is made.

use super::shape::Part;
use crate::error::Problem;
use crate::model::BodyModel;
use crate::source::{Fault, Read};
use rattleback_dynamics::{Path, Signal};
use rattleback_geometry::{MassModel, Shape};

/// Parts, point masses and path points of all bodies.
const MAX_ITEMS: usize = 20_000_000;

/// Vertices and faces of shapes made anew for copies of different sizes; copies of one size share theirs.
const MAX_SCALED_NUMBERS: usize = 50_000_000;

/// Terms of all mass integrals: about a minute of work.
const MAX_MASS_TERMS: usize = 5_000_000_000;

/// Spent so far.
#[derive(Debug, Default)]
pub(super) struct Budget {
    items: usize,
    scaled_numbers: usize,
    mass_terms: usize,
}

impl Budget {
    /// Adds the cost of a body and its copies; an error if a limit is exceeded.
    pub fn spend(&mut self, model: &BodyModel<'_>, parts: &[Part]) -> Read<()> {
        let copies = model.repeat.copies();
        let points = match &model.path {
            Some(Path::Keyframes(keys)) => keys.len(),
            Some(Path::Translation(Signal::Table(knots))) => knots.len(),
            _ => 1,
        };
        let items = parts.len() + model.point_masses.len() + points;
        let sizes = || parts.iter().map(|part| size(&part.attached.shape));
        let samples = match model.mass_model {
            MassModel::Exact => 1,
            MassModel::Sampled { resolution, .. } => (resolution as usize).pow(3),
            MassModel::Surface { segments } => (segments as usize).pow(2),
        };
        let terms = sizes().fold(0usize, |sum, size| sum.saturating_add(size.saturating_mul(samples)));
        let scaled: usize = if model.repeat.scale.is_some() { sizes().sum() } else { 0 };
        let charge = |total: &mut usize, each: usize, limit: usize, what: &'static str| {
            *total = total.saturating_add(each.saturating_mul(copies));
            if *total <= limit {
                return Ok(());
            }
            let problem = Problem::Limit { what, found: total.to_string(), limit };
            Err(Fault::new(model.repeat.span.unwrap_or(model.span), problem))
        };
        charge(&mut self.items, items, MAX_ITEMS, "shapes, point masses and path points of all bodies")?;
        let what = "vertices and faces in copies of different sizes";
        charge(&mut self.scaled_numbers, scaled, MAX_SCALED_NUMBERS, what)?;
        charge(&mut self.mass_terms, terms, MAX_MASS_TERMS, "terms in the mass integrals of all bodies")
    }
}

/// Number of vertices and faces of a shape.
fn size(shape: &Shape) -> usize {
    match shape {
        Shape::Mesh(mesh) => mesh.vertices().len() + mesh.triangles().len(),
        Shape::Convex(convex) => convex.polyhedron().vertices().len(),
        Shape::HeightField(field) => field.heights().len(),
        _ => 1,
    }
}
