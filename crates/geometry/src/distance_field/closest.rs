//! Walking to the surface.
//!
//! p ← p − d g until |d| is small, with g the unit gradient. The value overestimates by up to √3, so on a
//! plane the error shrinks by at worst √3 − 1 = 0.732 a step. Newton's step d g / |slope| is exact on planes;
//! where the slope is flatter than 1 (near a ridge of the field, since the value grows at least as fast as
//! the distance elsewhere) it is no longer trusted and the plain step is taken.

use glam::DVec3;

use super::DistanceField;

/// Length of the steps towards the surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepRule {
    /// By the value: overshoots.
    Plain,
    /// By the value over its slope.
    #[default]
    Newton,
}

/// Settings of the search for the closest surface point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestSettings {
    /// |value| at which the walk ends, as a fraction of a cell. Default 1e-3.
    pub tolerance: f64,
    /// Most steps. Default 50.
    pub max_iterations: u32,
    /// Length of the steps. Default `Newton`.
    pub step: StepRule,
}

impl Default for ClosestSettings {
    fn default() -> Self {
        Self { tolerance: 1e-3, max_iterations: 50, step: StepRule::Newton }
    }
}

/// Where a walk to the surface ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestSurfacePoint {
    /// The point: near the closest one, but not exactly it, since the field measures along axes.
    pub point: DVec3,
    /// Outward normal there.
    pub normal: DVec3,
    /// Value there.
    pub value: f64,
    /// Steps taken.
    pub iterations: u32,
    /// Whether the value is within the tolerance.
    pub converged: bool,
}

impl DistanceField {
    /// Point ⇒ surface point near it; None outside the grid.
    pub fn closest_surface_point(&self, p: DVec3, settings: &ClosestSettings) -> Option<ClosestSurfacePoint> {
        let (start, end) = (self.grid().origin(), self.grid().end());
        let tolerance = settings.tolerance * self.grid().cell();
        let mut point = p;
        let mut value = self.value(p)?;
        let mut normal = self.gradient(p)?;
        let mut iterations = 0;
        while value.abs() >= tolerance && iterations < settings.max_iterations {
            let steepness = match settings.step {
                StepRule::Plain => 1.0,
                StepRule::Newton => self.slope(point).map_or(1.0, |slope| slope.length().max(1.0)),
            };
            point = (point - value / steepness * normal).clamp(start, end);
            value = self.value_inside_grid(point);
            normal = self.gradient(point).unwrap_or(normal);
            iterations += 1;
        }
        Some(ClosestSurfacePoint { point, normal, value, iterations, converged: value.abs() < tolerance })
    }
}
