//! Penalty simulation: contacts are springs and dampers, taken at the end of each sub-step.
//!
//! A contact that has sunk in by −gap pushes with F = −k gap − c u_n, if that is positive, and resists slip by Coulomb's law. With both
//! taken at the end of a sub-step of length h, gap + h u and u, the impulse is
//!
//!   p = h F = −ρ (u + k h gap/ρ),   ρ = k h² + c h   (without c while there is a gap),
//!
//! a soft contact of [`rattleback_numerics::lcp::blocks`], all of which are solved together: stable for any k, c and h.
//! The stiffness follows from what is asked for. With m the mass the contact feels (1/m = n·K n), it sinks by at most δ under the
//! acceleration g if k = m g/δ, and a body that arrives with u_n sinks by about δ if k = m u_n²/δ². The larger one is taken, at most
//! β m/h², the stiffness whose period is a few sub-steps: beyond it the spring would only be a slower way of being rigid.
//! c = 2 ζ √(k m) with ζ = −ln e/√(π² + ln² e): a free oscillation comes back with e times its speed.

use crate::component;
use crate::contact::{Contactor, collision_matrix};
use crate::error::Error;
use crate::force::Loads;
use crate::motion::Motion;
use crate::property::{Allowed, Component, ComponentType, PropertyError};
use crate::registry::{Catalogue, Description, Entry, RegistryError};
use crate::simulator::constraint::ContactForce;
use crate::simulator::constraint::force::{Course, Forces, Wish, follow, loads_of};
use crate::simulator::constraint::island::islands;
use crate::simulator::constraint::roster::Roster;
use crate::simulator::constraint::roster_state::RosterState;
use crate::simulator::constraint::touch::{Touch, gather};
use crate::simulator::constraint::work::add_contact_work;
use crate::simulator::{
    Capabilities, Feature, Simulator, TouchPoint, check_step, refuse_joints, refuse_locked_rotations,
    refuse_one_way,
};
use crate::world::{Continuity, Epoch, SnapshotError, Status, WorkEntry, World};
use glam::DMat3;
use rattleback_geometry::space::SpaceKind;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

component! {
    /// Springs and dampers at contacts, integrated implicitly.
    pub struct PenaltySettings as "penalty" {
        /// Sub-steps in a step.
        substeps: i64 = 4, "", Allowed::Within(1.0, 1048576.0);
        /// δ: how far a contact may sink in under the weight of its own bodies, in parts of the smaller body's half-length.
        sink: f64 = 0.002, "", Allowed::Within(1e-9, 0.5);
        /// β: largest stiffness, as a multiple of mass over sub-step squared.
        stiffest: f64 = 1.0, "", Allowed::Positive;
        /// Slip slower than this meets static friction.
        stick_speed: f64 = 1e-3, "m/s", Allowed::NonNegative;
        /// Broad phase: the name of a space.
        space: String = "dynamic-bvh", "", Allowed::Finite;
    }
}

impl PenaltySettings {
    /// The settings themselves if every name in them is known and every number in its range, else which is not.
    pub fn checked(self) -> Result<Self, PropertyError> {
        Self::with(&self.properties())?;
        self.space_kind()?;
        Ok(self)
    }

    fn space_kind(&self) -> Result<SpaceKind, PropertyError> {
        SpaceKind::from_name(&self.space).map_err(|_| PropertyError::Range {
            component: "penalty".into(),
            name: "space".into(),
            allowed: format!("one of {}", SpaceKind::names().collect::<Vec<_>>().join(", ")),
            value: self.space.clone(),
        })
    }
}

/// (mass felt, gravity, approach speed, δ, β, sub-step) ⇒ stiffness of a contact, N/m.
///
/// ```
/// use rattleback_dynamics::simulator::penalty::stiffness;
/// // 2 kg at rest may sink by 1 mm; a short sub-step does not limit it.
/// assert_eq!(stiffness(2.0, 10.0, 0.0, 1e-3, 1.0, 1e-4), 2e4);
/// ```
pub fn stiffness(mass: f64, gravity: f64, speed: f64, sink: f64, stiffest: f64, h: f64) -> f64 {
    let wanted = (mass * gravity / sink).max(mass * speed * speed / (sink * sink));
    wanted.min(stiffest * mass / (h * h))
}

/// Restitution ⇒ damping ratio ζ of an oscillator whose half period multiplies speed by −e.
pub fn damping_ratio(restitution: f64) -> f64 {
    if restitution <= 0.0 {
        return 1.0;
    }
    let log = restitution.min(1.0).ln();
    -log / (std::f64::consts::PI.powi(2) + log * log).sqrt()
}

/// Penalty simulator.
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
    roster: Roster,
    forces: Forces,
    loads: Loads,
    touches: Vec<Touch>,
    contacts: Vec<ContactForce>,
    /// Work of contacts in the step, if it is accounted for.
    works: Vec<WorkEntry>,
    accounts: bool,
    before: Vec<Motion>,
    epoch: Epoch,
}

impl Default for Penalty {
    fn default() -> Self {
        Self::with_space(PenaltySettings::default(), SpaceKind::default())
    }
}

impl Penalty {
    /// Settings ⇒ simulator; refuses names that there are none of.
    pub fn new(settings: PenaltySettings) -> Result<Self, Error> {
        let settings = settings.checked()?;
        let kind = settings.space_kind()?;
        Ok(Self::with_space(settings, kind))
    }

    fn with_space(settings: PenaltySettings, kind: SpaceKind) -> Self {
        Self {
            settings,
            roster: Roster::new(kind),
            forces: Forces::default(),
            loads: Loads::default(),
            touches: Vec::new(),
            contacts: Vec::new(),
            works: Vec::new(),
            accounts: false,
            before: Vec::new(),
            epoch: Epoch::default(),
        }
    }

    /// Settings in use.
    pub const fn settings(&self) -> &PenaltySettings {
        &self.settings
    }

    /// Where bodies touched in the last sub-step, with the forces there.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactForce> {
        self.contacts.iter()
    }

    fn sub_step(&mut self, world: &mut World, begin: f64, h: f64) -> Result<(), Error> {
        let mut loads = std::mem::take(&mut self.loads);
        world.gather_loads(begin, &mut loads);
        let uniform = loads.uniform_acceleration();
        let mut start = Vec::with_capacity(self.roster.actors.len());
        let mut free = Vec::with_capacity(self.roster.actors.len());
        for (index, actor) in self.roster.actors.iter().enumerate() {
            let present = world.bodies().motion(actor.status)[actor.place];
            let course = match actor.status {
                Status::Dynamic => loads_of(loads.wrench(actor.place), uniform, actor.inertia.inverse_mass),
                Status::Animated => Course::Scripted,
                Status::Fixed | Status::Inactive => Course::Still,
            };
            let scripted = actor.status == Status::Animated;
            start.push(if scripted { actor.scripted(begin, &present) } else { present });
            free.push(follow(&self.roster, index, &start[index], course, begin, h));
        }
        self.loads = loads;
        self.roster.look(world, &start, &free, 1e-3 + uniform.length() * h * h)?;
        let pairs: Vec<[u32; 2]> =
            islands(&self.roster).into_iter().flat_map(|island| island.pairs).collect();
        gather(&mut self.roster, &pairs, &start, h, 1e-6, &mut self.touches);
        self.push(&start, &mut free, uniform.length(), h);
        let motion = world.bodies_mut().dynamic_mut().0;
        for (actor, end) in self.roster.actors.iter().zip(&free) {
            if actor.is_dynamic() {
                motion[actor.place] = *end;
            }
        }
        Ok(())
    }

    /// Solves the springs and puts whoever they push where the velocities at the end lead.
    fn push(&mut self, start: &[Motion], end: &mut [Motion], gravity: f64, h: f64) {
        let Self { settings, roster, forces, touches, contacts, works, accounts, .. } = self;
        let springs: Vec<Wish> =
            touches.iter().map(|touch| spring(settings, roster, start, touch, gravity, h)).collect();
        forces.pose(roster, start, end, touches, |index, _| springs[index]);
        forces.impulse.clear();
        forces.solve(&BlockSettings { tolerance: 1e-10, updates: 30, ..BlockSettings::default() });
        contacts.clear();
        let mut pushed = vec![false; start.len()];
        for (touch, p) in touches.iter().zip(&forces.impulse) {
            if p.x > 0.0 {
                let bodies = touch.actors.map(|actor| roster.actors[actor as usize].id);
                let (shapes, point, normal, gap) = (touch.name.0, touch.point, touch.normal(), touch.gap);
                contacts.push(ContactForce {
                    bodies,
                    shapes,
                    point,
                    normal,
                    gap,
                    force: touch.frame * *p / h,
                });
                for actor in touch.actors {
                    pushed[actor as usize] = true;
                }
            }
        }
        for (actor, [v, omega]) in forces.solved() {
            if pushed[actor] {
                let moved = follow(roster, actor, &start[actor], Course::Led { v, omega }, 0.0, h);
                end[actor] = Motion { v, omega, ..moved };
            }
        }
        if *accounts {
            for (touch, p) in touches.iter().zip(&forces.impulse) {
                add_contact_work(works, roster, (touch, *p), (start, end));
            }
        }
    }
}

/// The spring and damper of one contact.
fn spring(
    settings: &PenaltySettings,
    roster: &Roster,
    start: &[Motion],
    touch: &Touch,
    gravity: f64,
    h: f64,
) -> Wish {
    let side = |side: usize| {
        let actor = touch.actors[side] as usize;
        let (body, inertia) = (&start[actor], &roster.actors[actor].inertia);
        let axes = DMat3::from_quat(body.q);
        Contactor {
            inverse_mass: inertia.inverse_mass,
            inverse_inertia: axes * DMat3::from_diagonal(inertia.inverse_moments) * axes.transpose(),
            r: touch.point - body.x,
            v: body.v,
            omega: body.omega,
        }
    };
    let n = touch.normal();
    let mass = 1.0 / n.dot(collision_matrix(&side(0), &side(1)) * n);
    let u = touch.relative_velocity(start);
    // The touching tolerance of the contacts is a millionth of the smaller body.
    let sink = settings.sink * 1e6 * touch.tolerance;
    let k = stiffness(mass, gravity, (-u.x).max(0.0), sink, settings.stiffest, h);
    let c = 2.0 * damping_ratio(touch.restitution) * (k * mass).sqrt();
    let damped = k * h * h + c * h;
    let rho = if touch.gap > 0.0 { k * h * h } else { damped };
    let slow = u.y.hypot(u.z) <= settings.stick_speed;
    Wish {
        normal: if rho > 0.0 { -k * h * touch.gap / rho } else { 0.0 },
        friction: if slow { touch.static_friction } else { touch.kinetic_friction },
        // Slip is resisted as hard as it can be without a spring: it creeps, but by less than a thousandth of a sub-step's fall.
        stiffness: Stiffness::Soft([rho, 1e3 * mass]),
    }
}

impl Simulator for Penalty {
    fn description(&self) -> Description {
        Description { type_name: PenaltySettings::TYPE_NAME.into(), properties: self.settings.properties() }
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        check_step(dt)?;
        refuse_joints("penalty", world)?;
        refuse_one_way("penalty", world)?;
        refuse_locked_rotations("penalty", world)?;
        if world.begin_step(&self.epoch) != Continuity::Unbroken {
            self.roster.forget();
        }
        self.works.clear();
        self.accounts = world.begin_elastic_account();
        self.before.clear();
        self.before.extend_from_slice(world.bodies().motion(Status::Dynamic));
        let substeps = self.settings.substeps.max(1);
        let h = dt / substeps as f64;
        let begin = world.time();
        let outcome = self
            .roster
            .sync(world)
            .and_then(|()| (0..substeps).try_for_each(|k| self.sub_step(world, begin + k as f64 * h, h)));
        if let Err(error) = outcome {
            world.bodies_mut().dynamic_mut().0.copy_from_slice(&self.before);
            return Err(error);
        }
        world.counters_mut().substeps += substeps as u64;
        for entry in self.works.drain(..) {
            world.add_work(entry);
        }
        world.end_step(begin + dt, Some(&self.before));
        world.sign_step(&mut self.epoch);
        Ok(())
    }

    fn contacts(&self, _world: &World) -> Vec<TouchPoint> {
        self.contacts.iter().map(ContactForce::touch_point).collect()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[
            Feature::Contacts,
            Feature::Restitution,
            Feature::Friction,
            Feature::KinematicBodies,
            Feature::GravityScale,
            Feature::EnergyLedger,
        ])
    }

    fn memory(&self) -> Vec<u8> {
        postcard::to_allocvec(&(self.roster.state(), self.epoch)).unwrap_or_default()
    }

    fn recall(&mut self, memory: &[u8]) -> Result<(), SnapshotError> {
        let (state, epoch) = match memory {
            [] => (RosterState::default(), Epoch::default()),
            bytes => postcard::from_bytes(bytes)
                .map_err(|_| SnapshotError::Malformed("memory of the penalty simulator"))?,
        };
        self.roster.recall(state);
        self.epoch = epoch;
        Ok(())
    }
}

pub(crate) fn register_simulator(
    simulators: &mut Catalogue<Box<dyn Simulator>>,
) -> Result<(), RegistryError> {
    let specs = PenaltySettings::type_specs().to_vec();
    simulators.register(Entry::new(PenaltySettings::TYPE_NAME, PenaltySettings::DOC, specs, |given| {
        let settings = PenaltySettings::with(given).map_err(|error| error.to_string())?;
        let simulator = Penalty::new(settings).map_err(|error| error.to_string())?;
        Ok(Box::new(simulator) as Box<dyn Simulator>)
    }))
}
