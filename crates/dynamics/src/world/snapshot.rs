//! Snapshots: a world as bytes, bit for bit.
//!
//! Layout: the eight bytes `RATTLEBK`, format version (u16), CRC-32 of the rest (u32), then the world in postcard encoding, all
//! little-endian. Forces, joints and parts are kept as type name and properties, parts also with their state as bytes, so that a registry
//! can make them again; those of other crates need to be registered before a restore.
//!
//! Code is not saved: the callback and the contact modifier of the pair filter are not part of a snapshot, only whether there were any
//! ([`PairFilter::missing_hooks`]).

use super::epoch::{Identity, Steppers};
use super::multibodies::Multibodies;
use super::multibody::{DrivenBody, LinkId, MultibodyRecord};
use super::part::PartRecord;
use super::{
    AttachedShape, Bodies, BodyId, ChangeLog, CollisionFilter, CombineRules, ContactModel, Counters,
    ElementId, EnergyLedger, Event, ForceId, ForceRecord, Handle, HandleMap, JointId, Joints, Material,
    MaterialId, MultibodyId, PartId, ShapeId, Status, World,
};
use crate::error::Error;
use crate::filter::{FilterImage, PairFilter};
use crate::force::Targets;
use crate::joint::{BreakThresholds, JointRecord};
use crate::multibody::MechanismImage;
use crate::property::ComponentType;
use crate::registry::{Description, Registry};
use crate::simulator::Simulator;
use glam::DQuat;
use rand_pcg::Pcg64;
use rattleback_geometry::{Aabb, Pose};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const MAGIC: &[u8; 8] = b"RATTLEBK";
const VERSION: u16 = 8;
const HEADER: usize = MAGIC.len() + 2 + 4;

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
struct MultibodyImage {
    name: Option<String>,
    joint_names: Vec<String>,
    links: Vec<DrivenBody>,
    mechanism: MechanismImage,
}

#[derive(Serialize, Deserialize)]
struct PartImage {
    name: Option<String>,
    description: Description,
    state: Vec<u8>,
    elements: Vec<DrivenBody>,
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
    multibodies: HandleMap<MultibodyId, MultibodyImage>,
    parts: HandleMap<PartId, PartImage>,
    combine_rules: CombineRules,
    filter: CollisionFilter,
    pair_filter: FilterImage,
    contact_force_thresholds: BTreeMap<BodyId, f64>,
    contact_models: BTreeMap<[ShapeId; 2], ContactModel>,
    sleep_requests: Vec<BodyId>,
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
            multibodies: self.multibodies.records.try_map(|record| {
                Ok::<_, SnapshotError>(MultibodyImage {
                    name: record.name.clone(),
                    joint_names: record.joint_names.clone(),
                    links: record.links.clone(),
                    mechanism: MechanismImage::of(&record.mechanism)
                        .map_err(|error| SnapshotError::Unwritable(error.to_string()))?,
                })
            })?,
            parts: self.parts.map(|record| PartImage {
                name: record.name.clone(),
                description: record.part.description(),
                state: record.part.save_state(),
                elements: record.elements.clone(),
            }),
            combine_rules: self.combine_rules.clone(),
            filter: self.filter.clone(),
            pair_filter: self.pair_filter.image(),
            contact_force_thresholds: self.contact_force_thresholds.clone(),
            contact_models: self.contact_models.clone(),
            sleep_requests: self.sleep_requests.clone(),
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
        bytes.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
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
        let joints = image.joints.try_map(|image| {
            let joint = registry.joints.make(&image.description.type_name, &image.description.properties)?;
            joint.check()?;
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
        let records = image.multibodies.try_map(|image| {
            let malformed = |_| SnapshotError::Malformed("multibody");
            let mechanism = image.mechanism.clone().build().map_err(malformed)?;
            let mut record = MultibodyRecord::new(image.name.clone(), image.joint_names.clone(), mechanism);
            let links = record.mechanism.tree().links().len();
            if record.joint_names.len() != links
                || image.links.iter().any(|link| link.index as usize >= links)
            {
                return Err(SnapshotError::Malformed("links of a multibody"));
            }
            record.links.clone_from(&image.links);
            record.refresh().map_err(|_| SnapshotError::Malformed("state of a multibody"))?;
            Ok(record)
        })?;
        let parts = image.parts.try_map(|image| {
            let Description { type_name, properties } = &image.description;
            let mut part = registry.parts.make(type_name, properties)?;
            part.restore_state(&image.state)?;
            if image.elements.iter().any(|element| part.element(element.index).is_none()) {
                return Err(SnapshotError::Malformed("elements of a part").into());
            }
            Ok::<_, Error>(PartRecord { name: image.name.clone(), part, elements: image.elements.clone() })
        })?;
        let world = Self {
            parts,
            multibodies: Multibodies { records, ..Multibodies::default() },
            time: image.time,
            bodies: image.bodies,
            shapes: image.shapes,
            materials,
            default_material: image.default_material,
            forces,
            combine_rules: image.combine_rules,
            filter: image.filter,
            pair_filter: PairFilter::restored(image.pair_filter),
            contact_force_thresholds: image.contact_force_thresholds,
            contact_models: image.contact_models,
            sleep_requests: image.sleep_requests,
            joints: Joints { records: joints, revision: image.joint_revision, turning: None },
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
    let (sum, body) = rest.split_first_chunk::<4>().ok_or(SnapshotError::Checksum)?;
    if u32::from_le_bytes(*sum) == crc32fast::hash(body) { Ok(body) } else { Err(SnapshotError::Checksum) }
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
    // Every driven body represents one link or element, and every link or element with a body is represented by it.
    let represented = |own: &DrivenBody, link: Option<LinkId>, element: Option<ElementId>| {
        let record = image.bodies.records.get(own.body);
        record.is_some_and(|record| {
            let free = record.status == Status::Kinematic && record.path.is_none();
            free && record.link == link && record.element == element
        })
    };
    let links = image.multibodies.iter().flat_map(|(multibody, image)| {
        image.links.iter().map(move |own| (own, LinkId { multibody, index: own.index }))
    });
    let links: Vec<_> = links.map(|(own, link)| represented(own, Some(link), None)).collect();
    let elements = image.parts.iter().flat_map(|(part, image)| {
        image.elements.iter().map(move |own| (own, ElementId { part, index: own.index }))
    });
    let elements: Vec<_> = elements.map(|(own, id)| represented(own, None, Some(id))).collect();
    let records = || image.bodies.records.iter().map(|(_, record)| record);
    let link_bodies = records().filter(|record| record.link.is_some()).count();
    let element_bodies = records().filter(|record| record.element.is_some()).count();
    let fit =
        |represented: &[bool], bodies| represented.len() == bodies && represented.iter().all(|fits| *fits);
    ensure(image.multibodies.is_consistent() && fit(&links, link_bodies), "links of multibodies")?;
    ensure(image.parts.is_consistent() && fit(&elements, element_bodies), "elements of parts")?;
    let thresholds_fit = image
        .contact_force_thresholds
        .iter()
        .all(|(body, force)| image.bodies.locate(*body).is_some() && *force >= 0.0);
    let models_fit = image.contact_models.iter().all(|(pair, model)| {
        pair.iter().all(|shape| image.shapes.get(*shape).is_some()) && model.check().is_ok()
    });
    ensure(models_fit, "contact models")?;
    let requests_fit = image.sleep_requests.iter().all(|body| image.bodies.locate(*body).is_some());
    ensure(thresholds_fit && requests_fit, "contact force thresholds or sleep requests")?;
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
