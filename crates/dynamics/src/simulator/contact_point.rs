//! Contact points with their forces, as every simulator reports them.

use crate::world::{BodyId, ShapeId};
use glam::DVec3;

/// A point in which two bodies touch or nearly touch, with its force in the last step.
///
/// ```
/// use rattleback_dynamics::simulator::Constraint;
/// use rattleback_dynamics::{Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
/// let cube = Shape::cuboid(DVec3::splat(0.5))?;
/// let cube = world.add_body(Body::dynamic().at(0.0, 0.0, 0.5).with_shape(cube).mass(2.0))?;
/// let mut simulator = Constraint::default();
/// simulator.step(&mut world, 1.0 / 60.0)?;
/// let weight: f64 = simulator.contacts_of(&world, cube).iter().map(|contact| contact.normal_force()).sum();
/// assert!((weight - 2.0 * 9.81).abs() < 1e-6);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// The bodies.
    pub bodies: [BodyId; 2],
    /// Their shapes that touch.
    pub shapes: [ShapeId; 2],
    /// Position, half-way between both surfaces, m.
    pub point: DVec3,
    /// Unit normal from the first body to the second.
    pub normal: DVec3,
    /// Gap, m; negative where the bodies overlap.
    pub gap: f64,
    /// Force on the second body, N; the opposite acts on the first.
    pub force: DVec3,
}

impl ContactPoint {
    /// Component of the force along the normal, N; positive where the bodies push each other apart.
    pub fn normal_force(&self) -> f64 {
        self.force.dot(self.normal)
    }

    /// Component of the force across the normal, on the second body, N.
    pub fn friction_force(&self) -> DVec3 {
        self.force - self.normal_force() * self.normal
    }
}
