//! Penalty simulator: contacts are springs and dampers, integrated implicitly.
//!
//! A contact with gap < 0 pushes with F = −k gap − c u_n if that is positive, with Coulomb friction. With gap
//! and velocity at the end of a sub-step of length h, gap + h u and u (implicit Euler), the impulse is
//!
//!   p = h F = −ρ (u + k h gap/ρ),   ρ = k h² + c h   (without c while there is a gap),
//!
//! a soft contact of [`rattleback_numerics::lcp::blocks`]; all contacts are one problem, stable for any k, c
//! and h. The stiffness follows from an admissible penetration δ. With m the effective mass of the contact
//! (1/m = n·K n), the static penetration under the acceleration g is δ for k = m g/δ, and that of an impact
//! at u_n about δ for k = m u_n²/δ². The larger k is taken, at most β m/h², whose period is a few sub-steps:
//! a stiffer spring is not resolved by them. c = 2 ζ √(k m) with ζ = −ln e/√(π² + ln² e): half a period of
//! free oscillation multiplies the speed by −e.

mod tuning;

use crate::collision::WorldMirror;
use crate::collision::{ManifoldPoint, gather};
use crate::component;
use crate::error::Error;
use crate::force::ForceAccumulator;
use crate::island::islands;
use crate::property::{self, Allowed, Component, ComponentType, PropertyError};
use crate::registry::Description;
use crate::rigid::Motion;
use crate::simulator::constraint::force_solver::{ContactTarget, ForceSolver};
use crate::simulator::constraint::work::add_contact_work;
use crate::simulator::{Capabilities, ContactPoint, Feature, Simulator, StepContext};
use crate::solver::{RigidResponse, Trajectory, evaluate, relative_inverse_mass};
use crate::world::{ContactModel, Continuity, Epoch, SnapshotError, Status, WorkEntry, World};
use rattleback_geometry::space::SpaceKind;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};
use tuning::{
    BOUNDS_MARGIN, SIZE_PER_TOLERANCE, SOLVER_TOLERANCE, SOLVER_UPDATES, TANGENTIAL_DAMPING, TOUCH_GAP,
};

component! {
    /// Springs and dampers at contacts, integrated implicitly.
    pub struct PenaltySettings as "penalty" {
        /// Sub-steps of equal length in a step, at least 1.
        substeps: i64 = 4, "", Allowed::Within(1.0, 1048576.0);
        /// δ: static penetration of a contact under the weight of its own bodies, as a fraction of the
        /// smaller collider's half length; 1e-9 to 0.5.
        sink: f64 = 0.002, "", Allowed::Within(1e-9, 0.5);
        /// β: largest contact stiffness, in units of effective mass over sub-step squared, above 0.
        stiffest: f64 = 1.0, "", Allowed::Positive;
        /// Slip speed up to which the static coefficient of friction applies, m/s.
        stick_speed: f64 = 1e-3, "m/s", Allowed::NonNegative;
        /// Broad phase, by the name of a space.
        space: SpaceKind = SpaceKind::DynamicBvh, "", Allowed::OneOf(&SpaceKind::NAMES);
    }
}

impl PenaltySettings {
    /// Validates the settings.
    ///
    /// # Errors
    /// Names the first setting that is out of its range or unknown.
    pub fn checked(self) -> Result<Self, PropertyError> {
        property::check(&self)?;
        Ok(self)
    }
}

/// (effective mass, kg; gravity, m/s²; approach speed, m/s; δ, m; β; sub-step, s) ⇒ stiffness of a contact,
/// N/m.
///
/// ```
/// use rattleback_dynamics::simulator::penalty::stiffness;
/// // 2 kg at rest penetrate by 1 mm; a short sub-step does not limit the stiffness.
/// assert_eq!(stiffness(2.0, 10.0, 0.0, 1e-3, 1.0, 1e-4), 2e4);
/// ```
pub fn stiffness(mass: f64, gravity: f64, speed: f64, sink: f64, stiffest: f64, h: f64) -> f64 {
    let wanted = (mass * gravity / sink).max(mass * speed * speed / (sink * sink));
    wanted.min(stiffest * mass / (h * h))
}

/// Restitution e ⇒ damping ratio ζ of an oscillator whose half period multiplies the speed by −e.
pub fn damping_ratio(restitution: f64) -> f64 {
    if restitution <= 0.0 {
        return 1.0;
    }
    let log = restitution.min(1.0).ln();
    -log / (std::f64::consts::PI.powi(2) + log * log).sqrt()
}

/// Penalty simulator: spring–damper contacts.
///
/// ```
/// use rattleback_dynamics::simulator::Penalty;
/// use rattleback_dynamics::{Body, Simulator, World};
/// use rattleback_geometry::Shape;
/// use glam::DVec3;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z)?))?;
/// let cube = world.add_body(Body::dynamic().at(0.0, 0.0, 0.5).with_shape(Shape::cuboid(DVec3::splat(0.5))?))?;
/// let mut simulator = Penalty::default();
/// for _ in 0..60 {
///     simulator.step(&mut world, 1.0 / 60.0)?;
/// }
/// let sunk = 0.5 - world.body(cube)?.position().z;
/// assert!(sunk > 0.0 && sunk < 2e-3);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Penalty {
    settings: PenaltySettings,
    mirror: WorldMirror,
    forces: ForceSolver,
    loads: ForceAccumulator,
    points: Vec<ManifoldPoint>,
    contacts: Vec<ContactPoint>,
    /// Work of contacts in the step, if the world keeps an energy ledger.
    works: Vec<WorkEntry>,
    keeps_ledger: bool,
    epoch: Epoch,
}

impl Default for Penalty {
    fn default() -> Self {
        Self::of(PenaltySettings::default())
    }
}

impl Penalty {
    /// Settings ⇒ simulator.
    ///
    /// # Errors
    /// If a number is out of its range or a name is unknown.
    pub fn new(settings: PenaltySettings) -> Result<Self, Error> {
        Ok(Self::of(settings.checked()?))
    }

    fn of(settings: PenaltySettings) -> Self {
        Self {
            mirror: WorldMirror::new(settings.space),
            settings,
            forces: ForceSolver::default(),
            loads: ForceAccumulator::default(),
            points: Vec::new(),
            contacts: Vec::new(),
            works: Vec::new(),
            keeps_ledger: false,
            epoch: Epoch::default(),
        }
    }

    /// The settings.
    pub const fn settings(&self) -> &PenaltySettings {
        &self.settings
    }

    /// Contact points of the last sub-step, with their forces.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactPoint> {
        self.contacts.iter()
    }

    fn sub_step(&mut self, world: &mut World, begin: f64, h: f64) -> Result<(), Error> {
        let mut loads = std::mem::take(&mut self.loads);
        world.gather_loads(begin, &mut loads);
        let uniform = loads.uniform_acceleration();
        let mut start = Vec::with_capacity(self.mirror.bodies.len());
        let mut free = Vec::with_capacity(self.mirror.bodies.len());
        for (index, body) in self.mirror.bodies.iter().enumerate() {
            let present = world.bodies().motion(body.status)[body.slot];
            let trajectory = match body.status {
                Status::Dynamic => {
                    Trajectory::ballistic(loads.wrench(body.slot), uniform, body.inertia.inverse_mass)
                }
                Status::Kinematic => Trajectory::Kinematic,
                Status::Fixed | Status::Disabled => Trajectory::Still,
            };
            let kinematic = body.status == Status::Kinematic;
            start.push(if kinematic { body.kinematic_state(begin, &present) } else { present });
            free.push(evaluate(&self.mirror, index, &start[index], trajectory, begin, h));
        }
        self.loads = loads;
        self.mirror.update_pairs(world, &start, &free, BOUNDS_MARGIN + uniform.length() * h * h)?;
        let pairs: Vec<[u32; 2]> =
            islands(&self.mirror).into_iter().flat_map(|island| island.pairs).collect();
        gather(&mut self.mirror, &pairs, &start, h, TOUCH_GAP, &mut self.points);
        self.solve_contacts(&start, &mut free, uniform.length(), h);
        let motion = world.bodies_mut().dynamic_mut().0;
        for (body, end) in self.mirror.bodies.iter().zip(&free) {
            if body.is_dynamic() {
                motion[body.slot] = *end;
            }
        }
        Ok(())
    }

    /// Solves the contacts, and moves the bodies they push with their end velocities.
    fn solve_contacts(&mut self, start: &[Motion], end: &mut [Motion], gravity: f64, h: f64) {
        let Self { settings, mirror, forces, points, contacts, works, keeps_ledger, .. } = self;
        let springs: Vec<ContactTarget> =
            points.iter().map(|point| spring(settings, mirror, start, point, gravity, h)).collect();
        forces.assemble(mirror, start, end, points, |index, _| springs[index]);
        forces.impulse.clear();
        forces.solve(&BlockSettings {
            tolerance: SOLVER_TOLERANCE,
            updates: SOLVER_UPDATES,
            ..BlockSettings::default()
        });
        contacts.clear();
        let mut pushed = vec![false; start.len()];
        for (point, p) in points.iter().zip(&forces.impulse) {
            if p.x > 0.0 {
                let bodies = point.bodies.map(|body| mirror.bodies[body as usize].id);
                contacts.push(ContactPoint {
                    bodies,
                    shapes: point.key.0,
                    point: point.position,
                    normal: point.normal(),
                    gap: point.gap,
                    force: point.frame * *p / h,
                });
                for body in point.bodies {
                    pushed[body as usize] = true;
                }
            }
        }
        for (body, [v, omega]) in forces.velocities() {
            if pushed[body] {
                let moved = evaluate(mirror, body, &start[body], Trajectory::Uniform { v, omega }, 0.0, h);
                end[body] = Motion { v, omega, ..moved };
            }
        }
        if *keeps_ledger {
            for (point, p) in points.iter().zip(&forces.impulse) {
                add_contact_work(works, mirror, (point, *p), (start, end));
            }
        }
    }
}

/// Spring and damper of one contact.
fn spring(
    settings: &PenaltySettings,
    mirror: &WorldMirror,
    start: &[Motion],
    point: &ManifoldPoint,
    gravity: f64,
    h: f64,
) -> ContactTarget {
    let side = |side: usize| {
        let body = point.bodies[side] as usize;
        RigidResponse::new(&mirror.bodies[body].inertia, &start[body])
    };
    let n = point.normal();
    let k = relative_inverse_mass(&side(0), &side(1), [point.position; 2]);
    let mass = 1.0 / n.dot((k + k.transpose()) * 0.5 * n);
    let u = point.relative_velocity(start);
    let friction =
        if u.y.hypot(u.z) <= settings.stick_speed { point.static_friction } else { point.kinetic_friction };
    let (k, c) = match point.model {
        ContactModel::Simulator => {
            let sink = settings.sink * SIZE_PER_TOLERANCE * point.tolerance;
            let k = stiffness(mass, gravity, (-u.x).max(0.0), sink, settings.stiffest, h);
            (k, 2.0 * damping_ratio(point.restitution) * (k * mass).sqrt())
        }
        ContactModel::Compliant { stiffness, damping } => (stiffness, damping),
        ContactModel::Rigid => {
            // The gap may close but not turn negative; an approach at a closed gap is reversed by e.
            let rebound = if point.gap <= 0.0 { -point.restitution * u.x.min(0.0) } else { 0.0 };
            let normal = rebound - point.gap.max(0.0) / h;
            return ContactTarget { normal, friction, stiffness: Stiffness::Rigid };
        }
    };
    let damped = k * h * h + c * h;
    let rho = if point.gap > 0.0 { k * h * h } else { damped };
    ContactTarget {
        normal: if rho > 0.0 { -k * h * point.gap / rho } else { 0.0 },
        friction,
        // Tangential damping instead of a spring: a sticking contact creeps, by less than a thousandth of the
        // free fall in a sub-step.
        stiffness: Stiffness::Soft([rho, TANGENTIAL_DAMPING * mass]),
    }
}

impl Simulator for Penalty {
    fn description(&self) -> Description {
        Description { type_name: PenaltySettings::TYPE_NAME.into(), properties: self.settings.properties() }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.require(PenaltySettings::TYPE_NAME, self.capabilities())?;
        if step.continuity() != Continuity::Unbroken {
            self.mirror.clear();
        }
        let (begin, stepped) = (step.start(), step.world_mut());
        self.works.clear();
        self.keeps_ledger = stepped.begin_elastic_account();
        let substeps = self.settings.substeps.max(1);
        let h = dt / substeps as f64;
        self.mirror.sync(stepped)?;
        for k in 0..substeps {
            self.sub_step(stepped, begin + k as f64 * h, h)?;
        }
        stepped.counters_mut().substeps += substeps as u64;
        for entry in self.works.drain(..) {
            stepped.add_work(entry);
        }
        self.epoch = step.finish_with(|world| Simulator::contacts(self, world));
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<ContactPoint> {
        self.contacts.clone()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::WITH_CONTACTS.and(&[Feature::ContactModels])
    }

    fn save_state(&self) -> Vec<u8> {
        self.mirror.save_with(self.epoch)
    }

    fn restore_state(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.epoch = self.mirror.restore_with(bytes)?;
        Ok(())
    }
}
