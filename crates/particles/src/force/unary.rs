//! Forces that act on every particle: weight, viscous drag, a constant force, an electric field.

use glam::DVec3;

use super::{ForceView, UnaryForce};

/// F = m g.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gravity(
    /// Acceleration, m/s².
    pub DVec3,
);

impl Default for Gravity {
    fn default() -> Self {
        Self(DVec3::new(0.0, 0.0, -9.81))
    }
}

impl UnaryForce for Gravity {
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        for (k, force) in force.iter_mut().enumerate() {
            *force += view.mass(first + k) * self.0;
        }
    }

    fn potential_energy(&self, view: &ForceView<'_>, place: usize) -> f64 {
        -view.mass(place) * self.0.dot(view.position[place])
    }
}

/// F = −k (v − wind).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drag {
    /// k, kg/s.
    pub coefficient: f64,
    /// Velocity of the air, m/s.
    pub wind: DVec3,
}

impl UnaryForce for Drag {
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        let velocity = &view.velocity[first..];
        for (force, velocity) in force.iter_mut().zip(velocity) {
            *force -= self.coefficient * (*velocity - self.wind);
        }
    }
}

/// A constant force, N.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UniformForce(
    /// Force, N.
    pub DVec3,
);

impl UnaryForce for UniformForce {
    fn accumulate(&self, _view: &ForceView<'_>, _first: usize, force: &mut [DVec3]) {
        for force in force {
            *force += self.0;
        }
    }

    fn potential_energy(&self, view: &ForceView<'_>, place: usize) -> f64 {
        -self.0.dot(view.position[place])
    }
}

/// F = q E.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElectricField(
    /// E, V/m.
    pub DVec3,
);

impl UnaryForce for ElectricField {
    fn accumulate(&self, view: &ForceView<'_>, first: usize, force: &mut [DVec3]) {
        for (k, force) in force.iter_mut().enumerate() {
            *force += view.particles().traits()[view.index(first + k)].charge * self.0;
        }
    }

    fn potential_energy(&self, view: &ForceView<'_>, place: usize) -> f64 {
        -view.particles().traits()[view.index(place)].charge * self.0.dot(view.position[place])
    }
}
