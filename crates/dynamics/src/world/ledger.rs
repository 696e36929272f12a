//! Energy ledger: what changed the mechanical energy of a world, step by step.
//!
//! With K the kinetic energy of the dynamic bodies and U the potential energy of all forces that have one, every step obeys
//!
//!   Δ(K + U) = Σ work over the [categories](WorkCategory).
//!
//! The world evaluates K, U, the power of forces and damping at both ends of a step; simulators post the work of
//! contacts, joints and motors. What is left over is the error of the integrator, so that the sum holds to rounding in any case.
//!
//! The work of an impulse p at a point with relative velocity u is p·(u⁻ + u⁺)/2, with u⁻ before and u⁺ after everything that acts in the same
//! interval: with constant configuration the works of all impulses then sum to ΔK exactly, in whatever order a solver found them, and a
//! contact at rest (u⁻ = u⁺ = 0) does none although it bears a weight.

use super::{BodyId, ForceId, JointId};
use crate::error::{Error, parameter};
use crate::force::ForceAccumulator;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What may change mechanical energy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WorkCategory {
    /// Forces, as far as they have no potential or their parameters change with time.
    Force,
    /// Contacts along their normals, with whatever takes overlap away; impacts included.
    Contact,
    /// Contacts across their normals: sliding, rolling and spinning friction.
    Friction,
    /// Locked axes, limits and dry friction of joints, with whatever takes drift away.
    Joint,
    /// Motors and springs of joints.
    Motor,
    /// Linear and angular damping of bodies.
    Damping,
    /// Kinematic bodies, through their contacts.
    Kinematic,
    /// Changes from outside between steps, and bodies taken out of a step.
    External,
    /// What is left over: the error of integrators.
    Integrator,
}

impl WorkCategory {
    /// How many there are.
    pub const COUNT: usize = 9;

    /// All of them, in order.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Force,
        Self::Contact,
        Self::Friction,
        Self::Joint,
        Self::Motor,
        Self::Damping,
        Self::Kinematic,
        Self::External,
        Self::Integrator,
    ];

    /// Names in the same order, as channels and tables use them.
    pub const NAMES: [&'static str; Self::COUNT] =
        ["force", "contact", "friction", "joint", "motor", "damping", "kinematic", "external", "integrator"];

    /// Its name.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Whether it can only take energy from a passive scene.
    const fn dissipates(self) -> bool {
        matches!(self, Self::Force | Self::Contact | Self::Friction | Self::Joint | Self::Damping)
    }
}

/// Work in the last step and in sum, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// In the last step.
    pub step: f64,
    /// Since the ledger was opened.
    pub total: f64,
}

impl Work {
    pub(super) fn add(&mut self, joules: f64) {
        self.step += joules;
        self.total += joules;
    }
}

/// What did work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkSource {
    /// Nothing in particular.
    World,
    /// A force.
    Force(ForceId),
    /// Something that acts on this body.
    Body(BodyId),
    /// A contact of these bodies.
    Pair([BodyId; 2]),
    /// A joint.
    Joint(JointId),
}

/// Work posted to the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkEntry {
    /// As what it counts.
    pub category: WorkCategory,
    /// What did it.
    pub source: WorkSource,
    /// Where, m, if that is known.
    pub point: Option<DVec3>,
    /// Work on the dynamic bodies, J.
    pub joules: f64,
}

/// A force in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForceWork {
    /// Which force.
    pub id: ForceId,
    /// Work besides what its potential stands for; for a force without potential all its work.
    pub work: Work,
    /// Potential energy now, J.
    pub potential: f64,
    /// Work by its potential, −ΔU: no change of K + U.
    pub conservative: Work,
    /// Power now, W: see [`Force::power_without_potential`](crate::Force::power_without_potential).
    pub(super) power: f64,
    /// Whether that power is all the force does, so that −ΔU is to be taken off.
    pub(super) gross: bool,
}

impl ForceWork {
    pub(super) fn new(id: ForceId) -> Self {
        let none = Work::default();
        Self { id, work: none, potential: 0.0, conservative: none, power: 0.0, gross: false }
    }
}

/// Settings of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerSettings {
    /// Rise of the mechanical energy of a passive scene above its previous maximum that is reported, in parts of the energy at play:
    /// the largest kinetic energy and the range of the potential energy so far.
    pub tolerance: f64,
    /// A rise is not reported that would lift all bodies by less than this against uniform gravity, m: soft contacts give a little, and
    /// slow collisions hop.
    pub height: f64,
}

impl Default for LedgerSettings {
    fn default() -> Self {
        Self { tolerance: 5e-3, height: 1e-4 }
    }
}

impl LedgerSettings {
    /// The settings themselves if they make sense.
    ///
    /// # Errors
    /// A tolerance or height that is negative or not finite.
    pub fn checked(self) -> Result<Self, Error> {
        for value in [self.tolerance, self.height] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(parameter("tolerance of the energy ledger", "finite and ≥ 0", value));
            }
        }
        Ok(self)
    }
}

/// Energies and powers at one instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Instant {
    pub kinetic: f64,
    pub potential: f64,
    /// Σ m, kg.
    pub mass: f64,
    /// Power of forces and torques applied to single bodies, W.
    pub applied: f64,
    /// Linear and angular kinetic energy of every dynamic body; empty if no body is damped.
    pub damped: Vec<[f64; 2]>,
}

impl Instant {
    /// The same as the other, in the room that is already there.
    pub fn copy_from(&mut self, other: &Self) {
        (self.kinetic, self.potential, self.mass) = (other.kinetic, other.potential, other.mass);
        self.applied = other.applied;
        self.damped.clone_from(&other.damped);
    }

    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Work since a reference that energy should not rise above.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rise {
    /// The reference, J.
    pub reference: f64,
    /// Work since, by category.
    pub since: [f64; WorkCategory::COUNT],
    /// The largest single gain since, by category.
    pub gains: [Option<WorkEntry>; WorkCategory::COUNT],
}

impl Rise {
    /// Begins anew.
    pub fn restart(&mut self, reference: f64) {
        *self = Self { reference, ..Self::default() };
    }

    fn add(&mut self, entry: WorkEntry) {
        let place = entry.category as usize;
        self.since[place] += entry.joules;
        let gain = &mut self.gains[place];
        if entry.joules > gain.map_or(0.0, |gain| gain.joules) {
            *gain = Some(entry);
        }
    }
}

/// Detects whether a passive scene gains energy. Its energy may not rise above what it had, and whatever dissipates may not give back:
/// the sum of the work of contacts, joints, damping and forces without potential may not rise above its least value. The error of an
/// integrator, which may go up and down, counts for the first only; so do contacts that store energy.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Watch {
    /// K + U against its largest value.
    pub energy: Rise,
    /// Work of whatever dissipates, and its least value.
    pub dissipated: f64,
    pub dissipation: Rise,
    /// Contacts are springs, which give back what they have taken.
    pub elastic: bool,
    pub most_kinetic: f64,
    /// Least and largest potential energy.
    pub potential: Option<[f64; 2]>,
}

/// Where the mechanical energy of a world came from and where it went.
///
/// ```
/// use rattleback_dynamics::force::Drag;
/// use rattleback_dynamics::world::{LedgerSettings, WorkCategory};
/// use rattleback_dynamics::{Body, FreeMotion, Simulator, World};
/// use rattleback_geometry::Shape;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::dynamic().with_shape(Shape::sphere(0.1)?).mass(1.0))?;
/// world.add_force(Drag { linear: 0.5.into(), ..Drag::default() })?;
/// world.open_energy_ledger(LedgerSettings::default())?;
/// let start = world.readout().energy();
/// for _ in 0..1000 {
///     FreeMotion::default().step(&mut world, 1e-3)?;
/// }
/// let ledger = world.energy_ledger().ok_or("the ledger is open")?;
/// let drag = ledger.work(WorkCategory::Force).total;
/// assert!(drag < 0.0 && (world.readout().energy() - start - drag).abs() < 1e-5);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EnergyLedger {
    pub(super) settings: LedgerSettings,
    pub(super) work: [Work; WorkCategory::COUNT],
    pub(super) forces: Vec<ForceWork>,
    /// At the beginning and at the end of the last step.
    pub(super) begin: Instant,
    pub(super) end: Instant,
    /// Revision of the world at the end of the last step; none before the first.
    pub(super) revision: Option<u64>,
    /// |g| of all forces that are the same everywhere, m/s².
    pub(super) gravity: f64,
    /// Bodies were taken out since the end of the last step.
    pub(super) stale: bool,
    pub(super) watch: Watch,
    #[serde(skip)]
    pub(super) loads: ForceAccumulator,
}

impl EnergyLedger {
    pub(super) fn new(settings: LedgerSettings) -> Self {
        Self {
            settings,
            work: [Work::default(); WorkCategory::COUNT],
            forces: Vec::new(),
            begin: Instant::default(),
            end: Instant::default(),
            revision: None,
            gravity: 0.0,
            stale: false,
            watch: Watch::default(),
            loads: ForceAccumulator::default(),
        }
    }

    /// Category ⇒ its work.
    pub const fn work(&self, category: WorkCategory) -> Work {
        self.work[category as usize]
    }

    /// All categories with their work.
    pub fn iter(&self) -> impl Iterator<Item = (WorkCategory, Work)> + '_ {
        WorkCategory::ALL.into_iter().zip(self.work)
    }

    /// Every force by itself, in the order of the world.
    pub fn forces(&self) -> &[ForceWork] {
        &self.forces
    }

    /// Id ⇒ what that force did.
    pub fn force(&self, id: ForceId) -> Option<&ForceWork> {
        self.forces.iter().find(|force| force.id == id)
    }

    /// Σ over all categories: Δ(K + U).
    pub fn sum(&self) -> Work {
        self.work.iter().fold(Work::default(), |sum, work| Work {
            step: sum.step + work.step,
            total: sum.total + work.total,
        })
    }

    /// Settings in use.
    pub const fn settings(&self) -> LedgerSettings {
        self.settings
    }

    /// Posts work done in the present step.
    pub(crate) fn add(&mut self, entry: WorkEntry) {
        self.work[entry.category as usize].add(entry.joules);
        self.watch.energy.add(entry);
        if entry.category.dissipates() {
            self.watch.dissipated += entry.joules;
            self.watch.dissipation.add(entry);
        }
    }
}
