//! What a body is, and the builder that describes one before it enters a world.

use super::{CollisionGroups, MaterialId, Path, ShapeId};
use crate::error::{Error, parameter};
use crate::rigid::{Inertia, Motion, Wrench};
use glam::{DQuat, DVec3};
use rattleback_geometry::{MassModel, MassProperties, Pose, Shape};
use serde::{Deserialize, Serialize};

/// What may move a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Forces move it.
    Dynamic,
    /// A script moves it; forces do not.
    Kinematic,
    /// Nothing moves it.
    Fixed,
    /// It exists but takes no part.
    Disabled,
}

impl Status {
    pub(crate) const ALL: [Self; 4] = [Self::Dynamic, Self::Kinematic, Self::Fixed, Self::Disabled];

    pub(crate) const fn place(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Dynamic => "dynamic",
            Self::Kinematic => "kinematic",
            Self::Fixed => "static",
            Self::Disabled => "disabled",
        })
    }
}

/// A shape on its way to a body.
#[derive(Clone, Debug)]
pub struct ShapePart {
    /// The geometry.
    pub shape: Shape,
    /// Where it sits in the body frame.
    pub pose: Pose,
    /// kg/m³; nothing means the density of the body.
    pub density: Option<f64>,
    /// Nothing means the material of the body.
    pub material: Option<MaterialId>,
    /// Nothing means the groups of the body.
    pub groups: Option<CollisionGroups>,
    /// A sensor reports touches and resists none.
    pub sensor: bool,
    /// A direction in the body frame: resists only what comes against it, and lets everything else pass (a platform that can be
    /// jumped through from below). Only `realtime` supports such shapes.
    pub one_way: Option<DVec3>,
}

impl From<Shape> for ShapePart {
    fn from(shape: Shape) -> Self {
        Self {
            shape,
            pose: Pose::IDENTITY,
            density: None,
            material: None,
            groups: None,
            sensor: false,
            one_way: None,
        }
    }
}

impl ShapePart {
    /// What is wrong with the numbers, if anything.
    pub(super) fn check(&self) -> Result<(), Error> {
        if !self.pose.is_valid() {
            return Err(parameter("pose of a shape", "finite, with a unit quaternion", self.pose));
        }
        match self.one_way {
            Some(way) if way.try_normalize().is_none() => {
                Err(parameter("one_way of a shape", "a direction", way))
            }
            _ => Ok(()),
        }
    }
}

/// How the mass of a body is found.
#[derive(Clone, Debug)]
enum MassSource {
    Density(f64),
    Mass(f64),
    Given(MassProperties),
}

/// A body before it enters a world.
///
/// ```
/// use rattleback_dynamics::{Body, World};
/// use rattleback_geometry::Shape;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let ball = world.add_body(Body::dynamic().at(0.0, 0.0, 2.0).with_shape(Shape::sphere(0.1)?).density(2500.0))?;
/// assert!((world.body(ball)?.mass() - 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    pub(super) name: Option<String>,
    pub(super) status: Status,
    pub(super) pose: Pose,
    pub(super) velocity: DVec3,
    pub(super) angular_velocity: DVec3,
    pub(super) parts: Vec<ShapePart>,
    pub(super) material: Option<MaterialId>,
    pub(super) groups: CollisionGroups,
    pub(super) linear_damping: f64,
    pub(super) angular_damping: f64,
    pub(super) can_sleep: bool,
    pub(super) path: Option<Path>,
    pub(super) charge: f64,
    pub(super) gravity_scale: f64,
    pub(super) rotation_locked: bool,
    pub(super) user_data: u128,
    mass: MassSource,
    mass_model: MassModel,
    point_masses: Vec<(f64, DVec3)>,
}

impl Body {
    /// A body of this status, at the origin, at rest, without shapes, of the density of water.
    pub fn new(status: Status) -> Self {
        Self {
            name: None,
            status,
            pose: Pose::IDENTITY,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            parts: Vec::new(),
            material: None,
            groups: CollisionGroups::default(),
            linear_damping: 0.0,
            angular_damping: 0.0,
            can_sleep: true,
            path: None,
            charge: 0.0,
            gravity_scale: 1.0,
            rotation_locked: false,
            user_data: 0,
            mass: MassSource::Density(1000.0),
            mass_model: MassModel::default(),
            point_masses: Vec::new(),
        }
    }

    /// A body that forces move.
    pub fn dynamic() -> Self {
        Self::new(Status::Dynamic)
    }

    /// A body that stays where it is.
    pub fn fixed() -> Self {
        Self::new(Status::Fixed)
    }

    /// A body whose motion is prescribed.
    pub fn kinematic(path: Path) -> Self {
        Self { path: Some(path), ..Self::new(Status::Kinematic) }
    }

    /// For messages, recordings and scene files.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Position of the body frame, m.
    #[must_use]
    pub fn at(self, x: f64, y: f64, z: f64) -> Self {
        self.position(DVec3::new(x, y, z))
    }

    /// Position of the body frame, m.
    #[must_use]
    pub fn position(mut self, position: DVec3) -> Self {
        self.pose.translation = position;
        self
    }

    /// Attitude of the body frame; normalised on the way in.
    #[must_use]
    pub fn orientation(mut self, orientation: DQuat) -> Self {
        self.pose.rotation = orientation;
        self
    }

    /// Position and attitude of the body frame.
    #[must_use]
    pub fn pose(mut self, pose: Pose) -> Self {
        self.pose = pose;
        self
    }

    /// Velocity of the centre of mass, m/s.
    #[must_use]
    pub fn velocity(mut self, velocity: DVec3) -> Self {
        self.velocity = velocity;
        self
    }

    /// Angular velocity in the world frame, rad/s.
    #[must_use]
    pub fn angular_velocity(mut self, angular_velocity: DVec3) -> Self {
        self.angular_velocity = angular_velocity;
        self
    }

    /// Adds a shape at the origin of the body frame.
    #[must_use]
    pub fn with_shape(self, shape: Shape) -> Self {
        self.with_part(shape)
    }

    /// Adds a shape with a pose, density, material or groups of its own.
    #[must_use]
    pub fn with_part(mut self, part: impl Into<ShapePart>) -> Self {
        self.parts.push(part.into());
        self
    }

    /// Mass from the volume of the shapes, kg/m³ (default 1000).
    #[must_use]
    pub fn density(mut self, density: f64) -> Self {
        self.mass = MassSource::Density(density);
        self
    }

    /// Total mass in kg, spread over the shapes.
    #[must_use]
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = MassSource::Mass(mass);
        self
    }

    /// Mass, centre of mass and inertia as given, whatever the shapes are.
    #[must_use]
    pub fn mass_properties(mut self, properties: MassProperties) -> Self {
        self.mass = MassSource::Given(properties);
        self
    }

    /// How shapes turn into mass: exact solid, samples of it, or its surface only.
    #[must_use]
    pub fn mass_model(mut self, model: MassModel) -> Self {
        self.mass_model = model;
        self
    }

    /// A mass without extent, in kg, at a point of the body frame, on top of everything else.
    #[must_use]
    pub fn point_mass(mut self, mass: f64, at: DVec3) -> Self {
        self.point_masses.push((mass, at));
        self
    }

    /// Surface of the shapes that have no material of their own.
    #[must_use]
    pub fn material(mut self, material: MaterialId) -> Self {
        self.material = Some(material);
        self
    }

    /// Collision groups of the shapes that have none of their own.
    #[must_use]
    pub fn groups(mut self, groups: CollisionGroups) -> Self {
        self.groups = groups;
        self
    }

    /// c in v(t + h) = v(t) e^(−c h), for linear and angular velocity, 1/s.
    #[must_use]
    pub fn damping(mut self, linear: f64, angular: f64) -> Self {
        self.linear_damping = linear;
        self.angular_damping = angular;
        self
    }

    /// Whether a simulator may put it to sleep when it rests.
    #[must_use]
    pub fn can_sleep(mut self, can_sleep: bool) -> Self {
        self.can_sleep = can_sleep;
        self
    }

    /// Electric charge at the centre of mass, C.
    #[must_use]
    pub fn charge(mut self, charge: f64) -> Self {
        self.charge = charge;
        self
    }

    /// Factor on uniform gravity: 0 floats, −1 falls up. Default 1.
    #[must_use]
    pub fn gravity_scale(mut self, scale: f64) -> Self {
        self.gravity_scale = scale;
        self
    }

    /// A body that never turns, as if its moments of inertia were infinite, such as a character.
    #[must_use]
    pub fn lock_rotations(mut self) -> Self {
        self.rotation_locked = true;
        self
    }

    /// A number that the world keeps for the program and never looks at.
    #[must_use]
    pub fn user_data(mut self, data: u128) -> Self {
        self.user_data = data;
        self
    }

    /// What is wrong with the numbers, if anything; mass is looked at separately.
    pub(super) fn check(&self) -> Result<(), Error> {
        let finite = |what: &'static str, v: DVec3| {
            if v.is_finite() { Ok(()) } else { Err(parameter(what, "finite", v)) }
        };
        finite("position", self.pose.translation)?;
        finite("velocity", self.velocity)?;
        finite("angular velocity", self.angular_velocity)?;
        if !(self.pose.rotation.is_finite() && self.pose.rotation.length_squared() > 1e-12) {
            return Err(parameter("orientation", "a finite quaternion that is not zero", self.pose.rotation));
        }
        for damping in [self.linear_damping, self.angular_damping] {
            if !(damping.is_finite() && damping >= 0.0) {
                return Err(parameter("damping", "finite and ≥ 0", damping));
            }
        }
        if !self.charge.is_finite() {
            return Err(parameter("charge", "finite", self.charge));
        }
        if !self.gravity_scale.is_finite() {
            return Err(parameter("gravity scale", "finite", self.gravity_scale));
        }
        self.parts.iter().try_for_each(ShapePart::check)?;
        if let Some(path) = &self.path
            && let Err(fault) = path.check()
        {
            return Err(parameter("path", fault, path));
        }
        Ok(())
    }

    /// Mass, centre of mass and inertia in the body frame.
    pub(super) fn total_mass(&self) -> Result<MassProperties, Error> {
        let refuse = |reason: String| Error::Mass { name: self.name.clone(), reason };
        let mut parts = Vec::new();
        match &self.mass {
            MassSource::Given(properties) => parts.push(
                MassProperties::new(properties.mass, properties.center_of_mass, properties.inertia)
                    .map_err(|error| refuse(error.to_string()))?,
            ),
            MassSource::Density(density) => parts.extend(self.shape_masses(*density)?),
            MassSource::Mass(mass) => {
                if !(mass.is_finite() && *mass > 0.0) {
                    return Err(refuse(format!("mass must be finite and > 0; got {mass}")));
                }
                let shapes = self.shape_masses(1.0)?;
                if !shapes.is_empty() {
                    let total =
                        MassProperties::combine(&shapes).map_err(|error| refuse(error.to_string()))?;
                    parts.push(total.scaled_to_mass(*mass).map_err(|error| refuse(error.to_string()))?);
                }
            }
        }
        for (mass, at) in &self.point_masses {
            parts.push(MassProperties::point_mass(*mass, *at).map_err(|error| refuse(error.to_string()))?);
        }
        if parts.is_empty() {
            return Err(refuse(
                "has neither a shape with volume nor mass properties; give one of them, or make it fixed"
                    .into(),
            ));
        }
        let total = MassProperties::combine(&parts).map_err(|error| refuse(error.to_string()))?;
        MassProperties::new(total.mass, total.center_of_mass, total.inertia)
            .map_err(|error| refuse(error.to_string()))
    }

    fn shape_masses(&self, density: f64) -> Result<Vec<MassProperties>, Error> {
        self.parts
            .iter()
            .filter(|part| !part.sensor)
            .map(|part| {
                part.shape
                    .mass_properties_with(part.density.unwrap_or(density), self.mass_model)
                    .map(|mass| mass.transformed(&part.pose))
                    .map_err(|error| Error::Mass { name: self.name.clone(), reason: error.to_string() })
            })
            .collect()
    }
}

/// The part of a body that steps do not touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BodyRecord {
    pub status: Status,
    /// Place in the set of its status.
    pub index: u32,
    pub name: Option<String>,
    pub can_sleep: bool,
    pub groups: CollisionGroups,
    pub charge: f64,
    /// Principal frame → body frame: the translation is the centre of mass.
    pub body_from_principal: Pose,
    /// Exact mass as it was given; the inverse alone would lose the last bit.
    pub mass: f64,
    /// What the body weighs when it is dynamic; kept while it is not.
    pub inertia: Inertia,
    pub shapes: Vec<ShapeId>,
    /// Counts changes of its shapes.
    pub shape_revision: u32,
    pub gravity_scale: f64,
    pub rotation_locked: bool,
    pub user_data: u128,
    /// Force and torque that act until they are cleared.
    pub applied: Wrench,
    /// The link that it represents, if it is a link body.
    pub link: Option<super::LinkId>,
    /// The element of a part that it represents, if any.
    pub element: Option<super::ElementId>,
    pub path: Option<Path>,
    /// Where its path starts.
    pub path_start: Pose,
}

/// Bodies of one status, side by side in memory.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BodySet {
    pub ids: Vec<super::BodyId>,
    pub motion: Vec<Motion>,
    pub inertia: Vec<Inertia>,
}

impl BodySet {
    pub fn push(&mut self, id: super::BodyId, motion: Motion, inertia: Inertia) -> u32 {
        self.ids.push(id);
        self.motion.push(motion);
        self.inertia.push(inertia);
        (self.ids.len() - 1) as u32
    }

    /// Takes one out; the last one moves into its place, and its id is returned.
    pub fn take(&mut self, index: u32) -> (Motion, Option<super::BodyId>) {
        let index = index as usize;
        self.ids.swap_remove(index);
        self.inertia.swap_remove(index);
        (self.motion.swap_remove(index), self.ids.get(index).copied())
    }
}
