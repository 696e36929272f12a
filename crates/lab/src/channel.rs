//! Channels: quantities of a world, by name.
//!
//! Of the whole world: `energy`, `momentum`, `angular_momentum`, and from its energy ledger `work` (in sum) and `step_work` (in the last
//! step). Of a force: `NAME.work`, `NAME.potential`. Of a body: `NAME.position`, `NAME.velocity`, …
//! A channel has one or more components, each a number, which can be selected alone: `energy.kinetic`, `momentum.x`,
//! `NAME.x`, `NAME.omega_y`. Joints of multibodies have `q`, `qd`, `qdd` and `tau`: `ARM/ELBOW.q`. A body without a name is denoted by `#` and its slot: `#3.z`.

mod multibody;

use glam::DVec3;
use rattleback_dynamics::property::suggestion;
use rattleback_dynamics::world::{BodyRef, Handle, WorkCategory};
use rattleback_dynamics::{BodyId, ForceId, MultibodyId, Readout, World};

/// A name that means nothing in this world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// No such quantity.
    #[error("unknown channel `{name}`{}\n{}", suggestion(name, known), listing(known, bodies))]
    Unknown {
        /// The name given.
        name: String,
        /// What there is, for the world and for the body named.
        known: Vec<String>,
        /// Names of the bodies.
        bodies: Vec<String>,
    },
    /// A body quantity of a body that is not there.
    #[error(
        "channel `{channel}`: there is no body `{body}`{}; bodies: {}",
        suggestion(body, bodies),
        shortened(bodies)
    )]
    NoBody {
        /// The name given.
        channel: String,
        /// The part before the dot.
        body: String,
        /// Names of the bodies.
        bodies: Vec<String>,
    },
}

fn listing(known: &[String], bodies: &[String]) -> String {
    format!("channels are: {}\nNAME is one of: {}", known.join(", "), shortened(bodies))
}

fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 20;
    if names.is_empty() {
        return "(there is none)".into();
    }
    let more = if names.len() > SHOWN { format!(", … ({} in all)", names.len()) } else { String::new() };
    format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
}

/// What the components of a channel are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    World,
    Body(BodyId),
    Force(ForceId),
    Multibody(MultibodyId),
    Joint(MultibodyId, usize),
}

/// One quantity: its name after the dot, its unit, and the names of its components.
struct Quantity {
    name: &'static str,
    unit: &'static str,
    components: &'static [&'static str],
}

const fn quantity(name: &'static str, unit: &'static str, components: &'static [&'static str]) -> Quantity {
    Quantity { name, unit, components }
}

/// Components of world quantities are named `quantity.component`.
const WORLD: [Quantity; 5] = [
    quantity("energy", "J", &["total", "kinetic", "potential", "drift"]),
    quantity("momentum", "kg·m/s", &["x", "y", "z"]),
    quantity("angular_momentum", "kg·m²/s", &["x", "y", "z"]),
    quantity("work", "J", &WorkCategory::NAMES),
    quantity("step_work", "J", &WorkCategory::NAMES),
];

/// Of a force: its non-conservative work, and its potential energy.
const FORCE: [Quantity; 2] = [quantity("work", "J", &["work"]), quantity("potential", "J", &["potential"])];

/// `energy` alone shows these; the drift is on another scale.
const ENERGY_SHOWN: usize = 3;

/// Components of body quantities have names of their own.
const BODY: [Quantity; 8] = [
    quantity("position", "m", &["x", "y", "z"]),
    quantity("orientation", "", &["qw", "qx", "qy", "qz"]),
    quantity("velocity", "m/s", &["vx", "vy", "vz"]),
    quantity("omega", "rad/s", &["omega_x", "omega_y", "omega_z"]),
    quantity("body_omega", "rad/s", &["body_omega_x", "body_omega_y", "body_omega_z"]),
    quantity("speed", "m/s", &["speed"]),
    quantity("kinetic_energy", "J", &["kinetic_energy"]),
    // Angle between the z axes of body and world.
    quantity("tilt", "rad", &["tilt"]),
];

/// Something to watch in a world: one or more numbers of one unit.
///
/// ```
/// use rattleback_dynamics::{Body, World};
/// use rattleback_geometry::Shape;
/// use rattleback_lab::channel::Channel;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut world = World::default();
/// world.add_body(Body::dynamic().named("ball").at(0.0, 0.0, 2.0).with_shape(Shape::sphere(0.1)?))?;
/// let channel = Channel::parse("ball.z", &world)?;
/// assert_eq!(channel.values(&world, &world.readout(), 0.0), [2.0]);
/// assert!(Channel::parse("bal.z", &world).unwrap_err().to_string().contains("did you mean `ball`"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    source: Source,
    /// For the axis of a plot, without the unit.
    pub label: String,
    /// SI unit, empty for pure numbers.
    pub unit: &'static str,
    /// One name per number.
    pub components: Vec<&'static str>,
    quantity: &'static str,
    indices: Vec<usize>,
}

impl Channel {
    /// (name, world) ⇒ channel, or what there is instead.
    ///
    /// # Errors
    /// An unknown quantity, or an unknown body or force.
    pub fn parse(name: &str, world: &World) -> Result<Self, ChannelError> {
        if let Some(channel) = world_channel(name) {
            return Ok(channel);
        }
        let Some((body, wanted)) = name.rsplit_once('.') else {
            return Err(unknown(name, world, "NAME"));
        };
        if let Some(channel) = multibody::parse(name, body, wanted, world) {
            return Ok(channel);
        }
        let Some(id) = find_body(world, body) else {
            if let Some(channel) = force_channel(name, body, wanted, world) {
                return Ok(channel);
            }
            // `energy.kinetik` is a slip in a quantity of the world, not in the name of a body.
            return Err(if WORLD.iter().any(|quantity| quantity.name == body) {
                unknown(name, world, "NAME")
            } else {
                ChannelError::NoBody { channel: name.into(), body: body.into(), bodies: body_labels(world) }
            });
        };
        let found = BODY.iter().find_map(|quantity| Some((quantity, matching(quantity, wanted)?)));
        let Some((quantity, indices)) = found else { return Err(unknown(name, world, body)) };
        Ok(Self {
            source: Source::Body(id),
            label: name.into(),
            unit: quantity.unit,
            components: indices.iter().map(|i| quantity.components[*i]).collect(),
            quantity: quantity.name,
            indices,
        })
    }

    /// What it is a part of: `position` for `ball.z`.
    pub const fn quantity(&self) -> &'static str {
        self.quantity
    }

    /// Whether it needs the energy ledger of the world.
    pub fn needs_ledger(&self) -> bool {
        self.quantity.ends_with("work")
    }

    /// World now, with its readout and its energy at the start ⇒ one number per component; NaN if the body is gone, or what keeps an
    /// account of it.
    pub fn values(&self, world: &World, readout: &Readout, energy_at_start: f64) -> Vec<f64> {
        let all = match self.source {
            Source::World if self.needs_ledger() => ledger_values(self.quantity, world),
            Source::World => world_values(self.quantity, readout, energy_at_start),
            Source::Force(id) => vec![force_value(self.quantity, world, id)],
            Source::Multibody(id) => vec![multibody::energy(self.quantity, world, id)],
            Source::Joint(id, joint) => multibody::joint_values(self.quantity, world, id, joint),
            Source::Body(id) => {
                world.body(id).map_or_else(|_| vec![f64::NAN; 4], |body| body_values(self.quantity, &body))
            }
        };
        self.indices.iter().map(|i| all[*i]).collect()
    }
}

/// Indices of the components that a word after the dot means: all for the quantity's own name.
fn matching(quantity: &Quantity, wanted: &str) -> Option<Vec<usize>> {
    if wanted == quantity.name {
        return Some((0..quantity.components.len()).collect());
    }
    quantity.components.iter().position(|component| *component == wanted).map(|i| vec![i])
}

fn world_channel(name: &str) -> Option<Channel> {
    let (head, component) = name.split_once('.').map_or((name, None), |(head, tail)| (head, Some(tail)));
    let quantity = WORLD.iter().find(|quantity| quantity.name == head)?;
    let indices = match component {
        Some(component) => vec![quantity.components.iter().position(|known| *known == component)?],
        None if head == "energy" => (0..ENERGY_SHOWN).collect(),
        None => (0..quantity.components.len()).collect(),
    };
    Some(Channel {
        source: Source::World,
        label: name.replace('_', " "),
        unit: quantity.unit,
        components: indices.iter().map(|i| quantity.components[*i]).collect(),
        quantity: quantity.name,
        indices,
    })
}

fn world_values(quantity: &str, readout: &Readout, energy_at_start: f64) -> Vec<f64> {
    match quantity {
        "energy" => vec![
            readout.energy(),
            readout.kinetic_energy,
            readout.potential_energy,
            readout.energy() - energy_at_start,
        ],
        "momentum" => readout.momentum.to_array().to_vec(),
        _ => readout.angular_momentum.to_array().to_vec(),
    }
}

fn ledger_values(quantity: &str, world: &World) -> Vec<f64> {
    let Some(ledger) = world.energy_ledger() else { return vec![f64::NAN; WorkCategory::COUNT] };
    ledger.iter().map(|(_, work)| if quantity == "work" { work.total } else { work.step }).collect()
}

fn force_value(quantity: &str, world: &World, id: ForceId) -> f64 {
    if quantity == "potential" {
        return world.force_potential(id).unwrap_or(f64::NAN);
    }
    world.energy_ledger().and_then(|ledger| ledger.force(id)).map_or(f64::NAN, |force| force.work.total)
}

/// (whole name, name of a force, quantity) ⇒ channel.
fn force_channel(name: &str, force: &str, wanted: &str, world: &World) -> Option<Channel> {
    let quantity = FORCE.iter().find(|quantity| quantity.name == wanted)?;
    let (id, ..) = world.iter_forces().find(|(_, given, _)| *given == Some(force))?;
    Some(Channel {
        source: Source::Force(id),
        label: name.into(),
        unit: quantity.unit,
        components: quantity.components.to_vec(),
        quantity: quantity.name,
        indices: vec![0],
    })
}

fn body_values(quantity: &str, body: &BodyRef<'_>) -> Vec<f64> {
    let vector = |v: DVec3| v.to_array().to_vec();
    match quantity {
        "position" => vector(body.position()),
        "orientation" => {
            let q = body.orientation();
            vec![q.w, q.x, q.y, q.z]
        }
        "velocity" => vector(body.velocity()),
        "omega" => vector(body.angular_velocity()),
        "body_omega" => vector(body.orientation().conjugate() * body.angular_velocity()),
        "speed" => vec![body.velocity().length()],
        "tilt" => {
            let z = body.orientation() * DVec3::Z;
            vec![z.truncate().length().atan2(z.z)]
        }
        _ => vec![body.kinetic_energy()],
    }
}

/// Body ⇒ its name, or `#` and its slot.
pub fn body_label(body: &BodyRef<'_>) -> String {
    body.name().map_or_else(|| format!("#{}", body.id().slot()), str::to_owned)
}

fn body_labels(world: &World) -> Vec<String> {
    world.iter_bodies().map(|body| body_label(&body)).collect()
}

fn find_body(world: &World, label: &str) -> Option<BodyId> {
    world.find_body(label).or_else(|| {
        let slot: u32 = label.strip_prefix('#')?.parse().ok()?;
        world.iter_bodies().map(|body| body.id()).find(|id| id.slot() == slot)
    })
}

fn unknown(name: &str, world: &World, body: &str) -> ChannelError {
    let mut known = Vec::new();
    for quantity in &WORLD {
        known.push(quantity.name.to_owned());
        known.extend(quantity.components.iter().map(|component| format!("{}.{component}", quantity.name)));
    }
    for force in world.iter_forces().filter_map(|(_, name, _)| name) {
        known.extend(FORCE.iter().map(|quantity| format!("{force}.{}", quantity.name)));
    }
    known.extend(multibody::known(world));
    for quantity in &BODY {
        known.push(format!("{body}.{}", quantity.name));
        if quantity.components.len() > 1 {
            known.extend(quantity.components.iter().map(|component| format!("{body}.{component}")));
        }
    }
    ChannelError::Unknown { name: name.into(), known, bodies: body_labels(world) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use rattleback_dynamics::world::LedgerSettings;
    use rattleback_dynamics::{Body, FreeMotion, Simulator};
    use rattleback_geometry::Shape;

    fn spinning_ball() -> World {
        let mut world = World::default();
        let ball = Body::dynamic()
            .named("red.ball")
            .at(1.0, 2.0, 3.0)
            .orientation(DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2))
            .velocity(DVec3::new(3.0, 4.0, 0.0))
            .angular_velocity(DVec3::X)
            .with_shape(Shape::sphere(0.1).unwrap())
            .mass(2.0);
        world.add_body(ball).unwrap();
        world.add_body(Body::fixed().with_shape(Shape::sphere(0.1).unwrap())).unwrap();
        world
    }

    fn read(world: &World, name: &str) -> Vec<f64> {
        Channel::parse(name, world).unwrap().values(world, &world.readout(), 7.0)
    }

    #[test]
    fn channels_read_what_their_names_say() {
        let world = spinning_ball();
        assert_eq!(read(&world, "red.ball.position"), [1.0, 2.0, 3.0]);
        assert_eq!(read(&world, "red.ball.y"), [2.0]);
        assert_eq!(read(&world, "red.ball.speed"), [5.0]);
        assert_eq!(read(&world, "red.ball.omega_x"), [1.0]);
        assert_eq!(read(&world, "red.ball.tilt"), [0.0]);
        assert_eq!(read(&world, "momentum"), [6.0, 8.0, 0.0]);
        assert_eq!(read(&world, "#1.z"), [0.0]);
        // Rotated by 90° about z, the x axis of the world is −y of the body.
        assert!((read(&world, "red.ball.body_omega_y")[0] + 1.0).abs() < 1e-15);
        // U = m g z, K = ½ m v² + ½ · ⅖ m r² ω².
        let (kinetic, potential) = (25.0 + 0.5 * 0.4 * 2.0 * 0.01, 2.0 * 9.81 * 3.0);
        for (got, expected) in read(&world, "energy").iter().zip([kinetic + potential, kinetic, potential]) {
            assert!((got - expected).abs() < 1e-12);
        }
        assert!((read(&world, "energy.drift")[0] - (kinetic + potential - 7.0)).abs() < 1e-12);
        assert!((read(&world, "gravity.potential")[0] - potential).abs() < 1e-12);
    }

    #[test]
    fn work_is_read_from_the_ledger() {
        let mut world = spinning_ball();
        assert!(read(&world, "work.damping")[0].is_nan());
        world.open_energy_ledger(LedgerSettings::default()).unwrap();
        let ball = world.find_body("red.ball").unwrap();
        world.body_mut(ball).unwrap().set_damping(0.1, 0.0).unwrap();
        for _ in 0..10 {
            FreeMotion::default().step(&mut world, 0.01).unwrap();
        }
        assert_eq!(read(&world, "work").len(), WorkCategory::COUNT);
        let (total, step) = (read(&world, "work.damping")[0], read(&world, "step_work.damping")[0]);
        assert!(total < 0.0 && step < 0.0 && total < 9.0 * step);
        assert_eq!(read(&world, "gravity.work"), [0.0]);
    }

    /// Joints by `ARM/JOINT`, links by `ARM/LINK`, and energies of the whole.
    #[test]
    fn joints_of_multibodies_have_channels() {
        use rattleback_dynamics::Multibody;
        use rattleback_dynamics::multibody::joint::from_name;
        use rattleback_dynamics::multibody::{Link, LinkTree, Mechanism};
        let mut links = Vec::new();
        for (name, kind, axis) in [("rod", "revolute", vec![0.0, 1.0, 0.0]), ("ball", "spherical", vec![])] {
            let link = Link::fixed(name, None).with_mass(1.0, -DVec3::Z, glam::DMat3::IDENTITY * 0.1);
            links.push(Link { joint: from_name(kind, &axis).unwrap(), ..link });
        }
        let mut mechanism = Mechanism::new(LinkTree::new(links).unwrap());
        mechanism.set_state(&[0.5, 0.0, 0.0, 0.0, 1.0], &[2.0, 0.1, 0.2, 0.3]).unwrap();
        let mut world = World::default();
        let multibody = Multibody::new(mechanism).named("arm").with_joint_name("rod", "shoulder").unwrap();
        world.add_multibody(multibody.with_part("rod", Shape::sphere(0.1).unwrap()).unwrap()).unwrap();
        assert_eq!(read(&world, "arm/shoulder.q"), [0.5]);
        assert_eq!(read(&world, "arm/shoulder.qd"), [2.0]);
        assert_eq!(read(&world, "arm/ball.qd"), [0.1, 0.2, 0.3]);
        assert_eq!(read(&world, "arm/ball.qd1"), [0.2]);
        assert_eq!(read(&world, "arm/ball.q3"), [1.0]);
        assert_eq!(read(&world, "arm/rod.omega_y"), [2.0]);
        // φ̈ = −m g l sin φ/(m l² + I).
        assert!((read(&world, "arm/shoulder.qdd")[0] + 9.81 * 0.5_f64.sin() / 1.1).abs() < 1e-12);
        let whole = read(&world, "energy");
        assert!((read(&world, "arm.kinetic_energy")[0] - whole[1]).abs() < 1e-12);
        assert!((read(&world, "arm.potential_energy")[0] - whole[2]).abs() < 1e-12);
        assert_eq!(Channel::parse("arm/shoulder.tau", &world).unwrap().unit, "N·m");
        let error = Channel::parse("arm/shouldr.q", &world).unwrap_err().to_string();
        assert!(error.contains("there is no body `arm/shouldr`"), "{error}");
        assert!(Channel::parse("arm/rod.w", &world).unwrap_err().to_string().contains("arm/shoulder.q"));
    }

    #[test]
    fn unknown_names_are_answered_with_what_there_is() {
        let world = spinning_ball();
        let error = |name: &str| Channel::parse(name, &world).unwrap_err().to_string();
        assert!(error("energi").contains("did you mean `energy`"));
        assert!(error("energy.kinetik").contains("did you mean `energy.kinetic`"));
        assert!(error("red.ball.omega_q").contains("red.ball.omega_x"));
        assert!(error("blue.z").contains("there is no body `blue`; bodies: red.ball, #1"));
        assert!(error("").contains("channels are: energy"));
    }
}
