//! Snapshots: a world as bytes, bit for bit.
//!
//! Layout: the eight bytes `RATTLEBK`, format version (u16), FNV-1a checksum of the rest (u64), then the world in
//! postcard encoding, all little-endian. Forces are kept as type name and properties, so that a registry can make them
//! again; user-defined forces need to be registered before a restore.

use super::epoch::{Identity, Steppers};
use super::{
    AttachedShape, Bodies, BodyId, ChangeLog, CollisionFilter, CombineRules, Counters, EnergyLedger, Event,
    ForceId, ForceRecord, Handle, HandleMap, JointId, Joints, Material, MaterialId, ShapeId, World,
};
use crate::error::Error;
use crate::filter::{Exclusion, PairFilter};
use crate::force::Targets;
use crate::joint::{BreakThresholds, JointRecord};
use crate::property::ComponentType;
use crate::registry::{Description, Registry};
use crate::simulator::Simulator;
use glam::DQuat;
use rand_pcg::Pcg64;
use rattleback_geometry::{Aabb, Pose};
use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 8] = b"RATTLEBK";
const VERSION: u16 = 6;
const HEADER: usize = MAGIC.len() + 2 + 8;

/// Why a snapshot could not be written or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The bytes do not begin as a snapshot does.
    #[error("this is not a Rattleback snapshot")]
    NotASnapshot,
    /// Written by a newer or older program.
    #[error("format version {found}; this program reads version {expected}")]
    Version {
        /// In the bytes.
        found: u16,
        /// Readable here.
        expected: u16,
    },
    /// Bytes are missing or changed.
    #[error("damaged: the checksum does not fit")]
    Checksum,
    /// The contents contradict themselves.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// Something in the world cannot be written.
    #[error("cannot be written: {0}")]
    Unwritable(String),
}

#[derive(Serialize, Deserialize)]
struct ForceImage {
    name: Option<String>,
    targets: Targets,
    description: Description,
}

#[derive(Serialize, Deserialize)]
struct JointImage {
    name: Option<String>,
    bodies: [Option<BodyId>; 2],
    frames: [Pose; 2],
    collide: bool,
    breaking: BreakThresholds,
    turned: [f64; 3],
    last: Option<[DQuat; 2]>,
    description: Description,
}

#[derive(Serialize, Deserialize)]
struct MaterialImage {
    name: Option<String>,
    description: Description,
}

/// Description of a simulator and its saved state.
type SimulatorImage = (Description, Vec<u8>);

/// Everything in a world that is not code.
#[derive(Serialize, Deserialize)]
struct WorldImage {
    time: f64,
    bodies: Bodies,
    shapes: HandleMap<ShapeId, AttachedShape>,
    materials: HandleMap<MaterialId, MaterialImage>,
    default_material: MaterialId,
    forces: HandleMap<ForceId, ForceImage>,
    joints: HandleMap<JointId, JointImage>,
    combine_rules: CombineRules,
    filter: CollisionFilter,
    bounds: Option<Aabb>,
    random: Pcg64,
    counters: Counters,
    events: Vec<Event>,
    moved: Vec<BodyId>,
    change_log: ChangeLog,
    joint_revision: u64,
    ledger: Option<EnergyLedger>,
    steppers: Steppers,
    simulator: Option<SimulatorImage>,
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

impl World {
    /// World ⇒ bytes.
    ///
    /// ```
    /// use rattleback_dynamics::{Body, Registry, World};
    /// use rattleback_geometry::Shape;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut world = World::default();
    /// let ball = world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1)?))?;
    /// let bytes = world.snapshot()?;
    /// let same = World::restore(&bytes, &Registry::default())?;
    /// assert_eq!(same.body(ball)?.motion(), world.body(ball)?.motion());
    /// # Ok(()) }
    /// ```
    pub fn snapshot(&self) -> Result<Vec<u8>, Error> {
        self.write(None)
    }

    /// World and saved state of its simulator ⇒ bytes.
    pub fn snapshot_with(&self, simulator: &dyn Simulator) -> Result<Vec<u8>, Error> {
        self.write(Some((simulator.description(), simulator.save_state())))
    }

    /// Bytes ⇒ world.
    pub fn restore(bytes: &[u8], registry: &Registry) -> Result<Self, Error> {
        Self::read(bytes, registry).map(|(world, _)| world)
    }

    /// Bytes ⇒ world, and the simulator it was saved with.
    pub fn restore_with(bytes: &[u8], registry: &Registry) -> Result<(Self, Box<dyn Simulator>), Error> {
        let (world, simulator) = Self::read(bytes, registry)?;
        let (description, memory) =
            simulator.ok_or(SnapshotError::Malformed("snapshot: it holds no simulator"))?;
        let mut simulator = registry.simulators.make(&description.type_name, &description.properties)?;
        simulator.restore_state(&memory)?;
        Ok((world, simulator))
    }

    fn write(&self, simulator: Option<SimulatorImage>) -> Result<Vec<u8>, Error> {
        let image = WorldImage {
            time: self.time,
            bodies: self.bodies.clone(),
            shapes: self.shapes.clone(),
            materials: self.materials.map(|(name, material)| MaterialImage {
                name: name.clone(),
                description: Description::of(material),
            }),
            default_material: self.default_material,
            forces: self.forces.map(|record| ForceImage {
                name: record.name.clone(),
                targets: record.targets.clone(),
                description: Description::of(&*record.force),
            }),
            joints: self.joints.records.map(|record| JointImage {
                name: record.name.clone(),
                bodies: record.bodies,
                frames: record.frames,
                collide: record.collide,
                breaking: record.breaking,
                turned: record.turned,
                last: record.last,
                description: Description::of(&*record.joint),
            }),
            combine_rules: self.combine_rules.clone(),
            filter: self.filter.clone(),
            bounds: self.bounds,
            random: self.random.clone(),
            counters: self.counters,
            events: self.events.clone(),
            moved: self.moved.clone(),
            change_log: self.change_log.clone(),
            joint_revision: self.joints.revision,
            ledger: self.ledger.as_deref().cloned(),
            steppers: self.steppers,
            simulator,
        };
        let body =
            postcard::to_allocvec(&image).map_err(|error| SnapshotError::Unwritable(error.to_string()))?;
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&checksum(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        Ok(bytes)
    }

    fn read(bytes: &[u8], registry: &Registry) -> Result<(Self, Option<SimulatorImage>), Error> {
        let body = unpack(bytes)?;
        let image: WorldImage =
            postcard::from_bytes(body).map_err(|_| SnapshotError::Malformed("encoding of the world"))?;
        check(&image)?;
        let materials = image.materials.try_map(|image| {
            let material = Material::with(&image.description.properties)?.checked()?;
            Ok::<_, Error>((image.name.clone(), material))
        })?;
        let forces = image.forces.try_map(|record| {
            let force =
                registry.forces.make(&record.description.type_name, &record.description.properties)?;
            Ok::<_, Error>(ForceRecord { name: record.name.clone(), targets: record.targets.clone(), force })
        })?;
        let mut pair_filter = PairFilter::default();
        let joints = image.joints.try_map(|image| {
            let joint = registry.joints.make(&image.description.type_name, &image.description.properties)?;
            joint.check()?;
            if let ([Some(a), Some(b)], false) = (image.bodies, image.collide) {
                pair_filter.exclude(a, b, Exclusion::Joint);
            }
            Ok::<_, Error>(JointRecord {
                name: image.name.clone(),
                bodies: image.bodies,
                frames: image.frames,
                collide: image.collide,
                breaking: image.breaking,
                turned: image.turned,
                last: image.last,
                joint,
            })
        })?;
        let world = Self {
            time: image.time,
            bodies: image.bodies,
            shapes: image.shapes,
            materials,
            default_material: image.default_material,
            forces,
            combine_rules: image.combine_rules,
            filter: image.filter,
            pair_filter,
            contact_force_thresholds: std::collections::BTreeMap::new(),
            sleep_requests: Vec::new(),
            joints: Joints { records: joints, revision: image.joint_revision },
            bounds: image.bounds,
            random: image.random,
            counters: image.counters,
            events: image.events,
            moved: image.moved,
            non_finite: Vec::new(),
            initial_states: Vec::new(),
            change_log: image.change_log,
            ledger: image.ledger.map(Box::new),
            identity: Identity::default(),
            steppers: image.steppers,
        };
        Ok((world, image.simulator))
    }
}

/// Bytes ⇒ the encoded world, if they are whole.
fn unpack(bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(SnapshotError::NotASnapshot)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(SnapshotError::Checksum)?;
    let found = u16::from_le_bytes(*version);
    if found != VERSION {
        return Err(SnapshotError::Version { found, expected: VERSION });
    }
    let (sum, body) = rest.split_first_chunk::<8>().ok_or(SnapshotError::Checksum)?;
    if u64::from_le_bytes(*sum) == checksum(body) { Ok(body) } else { Err(SnapshotError::Checksum) }
}

/// What no honest snapshot violates; a forged one must not be able to bring a world down.
fn check(image: &WorldImage) -> Result<(), SnapshotError> {
    let ensure = |holds: bool, what| if holds { Ok(()) } else { Err(SnapshotError::Malformed(what)) };
    ensure(image.time.is_finite(), "time")?;
    ensure(image.bodies.is_consistent(), "table of bodies")?;
    ensure(image.shapes.is_consistent() && image.materials.is_consistent(), "table of shapes or materials")?;
    ensure(image.forces.is_consistent(), "table of forces")?;
    let ledger_fits = image.ledger.as_ref().is_none_or(|ledger| ledger.settings.checked().is_ok());
    ensure(ledger_fits, "energy ledger")?;
    ensure(image.materials.get(image.default_material).is_some(), "default material")?;
    let joints_fit = image.joints.iter().all(|(_, joint)| {
        joint.bodies.iter().flatten().all(|id| image.bodies.locate(*id).is_some())
            && joint.bodies[0] != joint.bodies[1]
            && joint.frames.iter().all(Pose::is_valid)
            && joint.breaking.check().is_ok()
            && joint.turned.iter().all(|angle| angle.is_finite())
            && joint.last.is_none_or(|last| last.iter().all(|q| q.is_finite()))
    });
    ensure(image.joints.is_consistent() && joints_fit, "joints")?;
    let shapes_fit = image.shapes.iter().all(|(_, attached)| {
        attached.pose.is_valid()
            && image.bodies.locate(attached.body).is_some()
            && image.materials.get(attached.material).is_some()
    });
    ensure(shapes_fit, "attachment of shapes")?;
    let bodies_fit = image.bodies.records.iter().all(|(id, record)| {
        record.body_from_principal.is_valid()
            && record.path_start.is_valid()
            && record.path.as_ref().is_none_or(|path| path.check().is_ok())
            && record
                .shapes
                .iter()
                .all(|shape| image.shapes.get(*shape).is_some_and(|attached| attached.body == id))
    });
    ensure(bodies_fit, "bodies")?;
    let states_fit = image.bodies.sets.iter().all(|set| {
        set.motion.iter().all(|motion| motion.is_finite() && (motion.q.length_squared() - 1.0).abs() < 1e-6)
            && set.inertia.iter().all(|inertia| {
                inertia.inverse_mass >= 0.0
                    && inertia.moments.is_finite()
                    && inertia.inverse_moments.is_finite()
            })
    });
    ensure(states_fit, "states of bodies")?;
    let slots = image.bodies.records.iter().map(|(id, _)| id.slot()).max();
    ensure(slots.is_none_or(|slot| slot < u32::MAX), "handles")
}
