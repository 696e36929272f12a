//! The render scene of a world: surfaces, their places on bodies, colours, and a frame for cameras.
//!
//! Shapes that differ by a scale only share one surface: every box is a scaled unit cube, every sphere a scaled unit sphere. A
//! scene of ten thousand bricks has one surface, which can be drawn as instances.

mod colour;
mod frame;
mod joints;
mod normals;
mod springs;
mod structure;
mod surface;

pub use colour::Colour;
pub use frame::Frame;
pub use joints::{DebugLine, LineKind, joints};
pub use springs::springs;
pub use structure::{Branch, Cell, cells, hierarchy};
pub use surface::Surface;

pub(crate) use colour::srgb;
pub(crate) use frame::horizontal;

use glam::{DQuat, DVec3};
use rattleback_dynamics::world::Handle;
use rattleback_dynamics::{BodyId, Status, Value, World};
use rattleback_geometry::{Pose, Shape};
use surface::Surfaces;

/// A body as it is drawn.
#[derive(Clone, Debug)]
pub struct RenderBody {
    /// The body in the world.
    pub id: BodyId,
    /// Its name, or `#` and its slot.
    pub name: String,
    /// Its status.
    pub status: Status,
    /// Its colour.
    pub colour: Colour,
    /// Mass in kg; 0 if not known.
    pub mass: f64,
    /// Principal frame in the body frame: the centre of mass and the principal axes.
    pub principal: Pose,
}

/// A surface on a body.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Index of the body.
    pub body: u32,
    /// Index of the surface.
    pub surface: u32,
    /// Pose in the body frame.
    pub pose: Pose,
    /// Scale along its own axes, applied before the pose.
    pub scale: DVec3,
    /// Whether it is a sensor, which is drawn translucent.
    pub sensor: bool,
}

/// The boundary plane of a half-space on a body.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    /// Index of the body.
    pub body: u32,
    /// Pose in the body frame; the solid lies below the local z = 0.
    pub pose: Pose,
}

/// The geometry of a world to draw.
///
/// ```
/// use rattleback_dynamics::{Body, World};
/// use rattleback_geometry::Shape;
/// use rattleback_viewer::RenderScene;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// for radius in [0.1, 0.2, 0.3] {
///     world.add_body(Body::dynamic().with_shape(Shape::sphere(radius)?))?;
/// }
/// let render = RenderScene::of(&world);
/// assert_eq!((render.bodies.len(), render.parts.len(), render.surfaces.len()), (3, 3, 1));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct RenderScene {
    /// All bodies, in the order of their slots.
    pub bodies: Vec<RenderBody>,
    /// Surfaces on bodies.
    pub parts: Vec<Part>,
    /// Planes of half-spaces.
    pub planes: Vec<Plane>,
    /// Surfaces that parts refer to.
    pub surfaces: Vec<Surface>,
    /// Unit vector against gravity; z without gravity.
    pub up: DVec3,
    /// What a camera should frame.
    pub frame: Frame,
}

/// Segments of a full circle in scenes of few parts, and of many.
const SEGMENTS: (u32, u32) = (40, 16);
/// Number of parts above which a scene has many.
const MANY_PARTS: usize = 1500;

impl RenderScene {
    /// World ⇒ its render scene.
    pub fn of(world: &World) -> Self {
        let many = world.iter_shapes().count() > MANY_PARTS;
        let mut surfaces = Surfaces::new(if many { SEGMENTS.1 } else { SEGMENTS.0 });
        let mut colours = colour::Palette::default();
        let (mut bodies, mut parts, mut planes) = (Vec::new(), Vec::new(), Vec::new());
        for (index, body) in world.iter_bodies().enumerate() {
            let name = body.name().map_or_else(|| format!("#{}", body.id().slot()), str::to_owned);
            let colour = colours.pick(body.name(), index, body.status());
            for attached in body.shapes().iter().filter_map(|id| world.shape(*id).ok()) {
                let mut add = |pose: Pose, shape: &Shape| match shape {
                    Shape::HalfSpace(half_space) => {
                        let turn = DQuat::from_rotation_arc(DVec3::Z, half_space.normal());
                        let pose = pose * Pose::new(turn, DVec3::ZERO);
                        planes.push(Plane { body: index as u32, pose });
                    }
                    _ => {
                        if let Some((surface, scale)) = surfaces.of(shape) {
                            let sensor = attached.sensor;
                            parts.push(Part { body: index as u32, surface, pose, scale, sensor });
                        }
                    }
                };
                match &attached.shape {
                    Shape::Compound(compound) => {
                        for (pose, shape) in compound.parts() {
                            add(attached.pose * *pose, shape);
                        }
                    }
                    shape => add(attached.pose, shape),
                }
            }
            bodies.push(RenderBody {
                id: body.id(),
                name,
                status: body.status(),
                colour,
                mass: body.mass(),
                principal: *body.body_from_principal(),
            });
        }
        let up = up_of(world);
        let frame = Frame::of(world, up);
        Self { bodies, parts, planes, surfaces: surfaces.list, up, frame }
    }

    /// World ⇒ pose of every body, in order; the identity for a body that was removed.
    pub fn poses(&self, world: &World) -> Vec<Pose> {
        let pose = |body: &RenderBody| world.body(body.id).map_or(Pose::IDENTITY, |body| body.pose());
        self.bodies.iter().map(pose).collect()
    }

    /// Rotation of the up direction to y, which most renderers use.
    pub fn y_up(&self) -> DQuat {
        if self.up.dot(DVec3::Z) > 0.999_999 {
            // About x, so that the x axis is kept.
            return DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2);
        }
        DQuat::from_rotation_arc(self.up, DVec3::Y)
    }
}

/// Unit vector against the sum of all uniform gravities; z if that is zero.
fn up_of(world: &World) -> DVec3 {
    let pull: DVec3 = world
        .iter_forces()
        .filter(|(_, _, force)| force.type_name() == "gravity")
        .filter_map(|(_, _, force)| match force.get("acceleration") {
            Ok(Value::VectorSignal(signal)) => Some(signal.at(world.time())),
            Ok(Value::Vec3(acceleration)) => Some(acceleration),
            _ => None,
        })
        .sum();
    (-pull).try_normalize().unwrap_or(DVec3::Z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::Registry;
    use rattleback_scene::{Scene, built_ins};

    /// Every built-in scene has parts, and every part has a body and a surface.
    #[test]
    fn every_built_in_scene_can_be_drawn() {
        for scene in built_ins() {
            let built = Scene::built_in(scene.name).unwrap().build(&Registry::default()).unwrap();
            let render = RenderScene::of(&built.world);
            assert!(!render.parts.is_empty(), "{}", scene.name);
            assert!(render.frame.radius.is_finite() && render.frame.radius > 0.0, "{}", scene.name);
            for part in &render.parts {
                assert!((part.body as usize) < render.bodies.len(), "{}", scene.name);
                assert!((part.surface as usize) < render.surfaces.len(), "{}", scene.name);
            }
        }
    }

    /// Up is against gravity, and y_up rotates it to y.
    #[test]
    fn up_is_against_gravity() {
        for (gravity, up) in [
            (DVec3::new(0.0, 0.0, -9.81), DVec3::Z),
            (DVec3::new(0.0, -10.0, 0.0), DVec3::Y),
            (DVec3::new(3.0, 0.0, 0.0), DVec3::NEG_X),
            (DVec3::ZERO, DVec3::Z),
        ] {
            let mut world = World::default();
            world.set_gravity(gravity).unwrap();
            let render = RenderScene::of(&world);
            assert!(render.up.distance(up) < 1e-12);
            assert!((render.y_up() * render.up).distance(DVec3::Y) < 1e-12);
        }
    }
}
