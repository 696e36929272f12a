//! What a simulator does with what a world may hold, so that nothing is ignored silently.

use crate::world::{BodyId, JointId, Material, MaterialId, ShapeId, Status, World};
use std::fmt;

macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal;)+) => {
        /// Something in a world that a simulator may support or not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Feature { $($(#[doc = $doc])+ $name,)+ }

        impl Feature {
            /// All features, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Name in listings.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// One line of description.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

features! {
    /// Bodies resist each other.
    Contacts = "contacts";
    /// Bodies bounce by their coefficients of restitution.
    Restitution = "restitution";
    /// Coulomb friction.
    Friction = "friction";
    /// Resistance against rolling.
    RollingFriction = "rolling-friction";
    /// Resistance against spinning about the contact normal.
    SpinningFriction = "spinning-friction";
    /// Contact models of single pairs.
    ContactModels = "contact-models";
    /// Random deviation of contact normals.
    SurfacePerturbation = "surface-perturbation";
    /// Shapes that resist from one side only.
    OneWayShapes = "one-way-shapes";
    /// Sensors report contacts by events.
    Sensors = "sensors";
    /// Begin and end of contacts are reported.
    ContactEvents = "contact-events";
    /// Collisions are reported with their impulses.
    CollisionEvents = "collision-events";
    /// Contact forces above a threshold are reported.
    ContactForceEvents = "contact-force-events";
    /// Bodies at rest cost nothing until they are disturbed.
    Sleeping = "sleeping";
    /// Bodies are put to sleep by call.
    SleepByCall = "sleep-by-call";
    /// Falling asleep and waking up are reported.
    SleepEvents = "sleep-events";
    /// Bodies that follow a path.
    KinematicBodies = "kinematic-bodies";
    /// Joints, with their limits, springs and motors.
    Joints = "joints";
    /// Joints break by force.
    BreakForce = "break-force";
    /// Joints break by torque.
    BreakTorque = "break-torque";
    /// Joints break by the distance of their anchors.
    BreakDrift = "break-drift";
    /// Reaction forces and torques of joints can be read.
    JointReactions = "joint-reactions";
    /// Gravity scale of single bodies.
    GravityScale = "gravity-scale";
    /// Bodies that do not rotate.
    LockedRotations = "locked-rotations";
    /// The world's energy ledger gets the work of contacts and joints.
    EnergyLedger = "energy-ledger";
}

impl Feature {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The features a simulator has.
///
/// ```
/// use rattleback_dynamics::simulator::{Feature, Impulse};
/// use rattleback_dynamics::Simulator;
/// let capabilities = Impulse::default().capabilities();
/// assert!(capabilities.has(Feature::RollingFriction) && !capabilities.has(Feature::Joints));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Capabilities(u32);

impl Capabilities {
    /// Everything there is.
    pub const ALL: Self = Self::of(Feature::ALL);

    /// What all built-in simulators with contacts have.
    pub const WITH_CONTACTS: Self = Self::of(&[
        Feature::Contacts,
        Feature::Restitution,
        Feature::Friction,
        Feature::ContactForceEvents,
        Feature::KinematicBodies,
        Feature::GravityScale,
        Feature::EnergyLedger,
    ]);

    /// These features and more.
    #[must_use]
    pub const fn and(self, more: &[Feature]) -> Self {
        Self(self.0 | Self::of(more).0)
    }

    /// These features and no others.
    pub const fn of(features: &[Feature]) -> Self {
        let (mut bits, mut k) = (0, 0);
        while k < features.len() {
            bits |= features[k].bit();
            k += 1;
        }
        Self(bits)
    }

    /// Whether it has a feature.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// The features it has, in order.
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| self.has(*feature))
    }

    /// The features it lacks, in order.
    pub fn missing(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |feature| !self.has(*feature))
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Something in a world that needs a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldItem {
    /// A body.
    Body(BodyId),
    /// A shape.
    Shape(ShapeId),
    /// A material that is on a shape.
    Material(MaterialId),
    /// A joint.
    Joint(JointId),
}

impl fmt::Display for WorldItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(id) => id.fmt(f),
            Self::Shape(id) => id.fmt(f),
            Self::Material(id) => id.fmt(f),
            Self::Joint(id) => id.fmt(f),
        }
    }
}

/// Something in a world that a simulator ignores or refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What is missing.
    pub feature: Feature,
    /// What needs it.
    pub item: WorldItem,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} needs {}, which the simulator does not have", self.item, self.feature)
    }
}

/// (world, what a simulator can do) ⇒ what in the world it ignores or refuses, in the order of materials, shapes, bodies and joints.
///
/// ```
/// use rattleback_dynamics::simulator::{Feature, Penalty, unsupported};
/// use rattleback_dynamics::{Body, Material, Simulator, World};
/// use rattleback_geometry::Shape;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// let clay = world.add_material(Material { rolling_friction: 0.01, ..Material::default() })?;
/// world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1)?).material(clay))?;
/// let warnings = unsupported(&world, Penalty::default().capabilities());
/// assert_eq!(warnings[0].feature, Feature::RollingFriction);
/// # Ok(()) }
/// ```
pub fn unsupported(world: &World, capabilities: Capabilities) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut need = |needed: bool, feature: Feature, item: WorldItem| {
        if needed && !capabilities.has(feature) {
            warnings.push(Warning { feature, item });
        }
    };
    for (id, material) in world.iter_materials() {
        let Material { restitution, rolling_friction, spinning_friction, surface_perturbation, .. } =
            *material;
        if !world.iter_shapes().any(|(_, shape)| shape.material == id) {
            continue;
        }
        let item = WorldItem::Material(id);
        need(restitution > 0.0, Feature::Restitution, item);
        need(rolling_friction > 0.0, Feature::RollingFriction, item);
        need(spinning_friction > 0.0, Feature::SpinningFriction, item);
        need(surface_perturbation > 0.0, Feature::SurfacePerturbation, item);
    }
    for (id, shape) in world.iter_shapes() {
        need(shape.sensor, Feature::Sensors, WorldItem::Shape(id));
        need(shape.one_way.is_some(), Feature::OneWayShapes, WorldItem::Shape(id));
    }
    for (pair, _) in world.iter_contact_models() {
        need(true, Feature::ContactModels, WorldItem::Shape(pair[0]));
    }
    let mut alone = true;
    for body in world.iter_bodies() {
        let item = WorldItem::Body(body.id());
        need(body.status() == Status::Kinematic, Feature::KinematicBodies, item);
        need(body.gravity_scale() != 1.0, Feature::GravityScale, item);
        need(body.is_rotation_locked(), Feature::LockedRotations, item);
        let threshold = world.contact_force_threshold(body.id());
        need(threshold.is_some(), Feature::ContactForceEvents, item);
        // One warning is enough, and a single body cannot be in contact.
        let solid = body.shapes().iter().any(|shape| world.shape(*shape).is_ok_and(|shape| !shape.sensor));
        if solid && body.status() != Status::Disabled {
            need(!alone, Feature::Contacts, item);
            if !alone && !capabilities.has(Feature::Contacts) {
                alone = true;
                continue;
            }
            alone = false;
        }
    }
    for (id, record) in world.iter_joints() {
        let (item, breaking) = (WorldItem::Joint(id), record.breaking());
        need(true, Feature::Joints, item);
        need(breaking.force.is_finite(), Feature::BreakForce, item);
        need(breaking.torque.is_finite(), Feature::BreakTorque, item);
        need(breaking.drift.is_finite(), Feature::BreakDrift, item);
    }
    warnings
}

/// Reaction of a joint: what it does to its second body, B; the opposite acts on A.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointReaction {
    /// Through the anchor, world frame, N.
    pub force: glam::DVec3,
    /// World frame, N m.
    pub torque: glam::DVec3,
}
