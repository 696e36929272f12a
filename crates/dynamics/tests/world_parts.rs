//! Parts of a world and owners of colliders that are defined outside the crate: a made-up particle system, with the public interface only.

use crate::multibody_support::Random;
use glam::{DMat3, DVec3};
use rattleback_dynamics::force::ForceAccumulator;
use rattleback_dynamics::impact::CollisionSettings;
use rattleback_dynamics::multibody::joint::{FreeJoint, RevoluteJoint};
use rattleback_dynamics::multibody::{Link, LinkTree, Mechanism};
use rattleback_dynamics::property::{Allowed, PropertySpec, ValueType};
use rattleback_dynamics::query::{QueryFilter, QueryPipeline};
use rattleback_dynamics::registry::{Description, Entry};
use rattleback_dynamics::rigid::{Inertia, Motion};
use rattleback_dynamics::simulator::{Capabilities, StepContext};
use rattleback_dynamics::solver::{ImpulseResponse, LinkResponse, RigidResponse};
use rattleback_dynamics::world::{
    ColliderOwner, ElementId, ElementMotion, LinkId, PartId, PartKind, SnapshotError, WorldPart,
};
use rattleback_dynamics::{
    Body, Epoch, Error, Event, Multibody, Properties, Registry, ShapePart, Simulator, Value, World,
};
use rattleback_geometry::primitive::Ray;
use rattleback_geometry::{Pose, Shape};

const SIMULATORS: [&str; 6] = ["free-motion", "realtime", "impulse", "constraint", "penalty", "sequential"];

/// Beads of equal mass that fall freely: x, v of each.
#[derive(Clone, Debug, Default)]
struct Beads {
    mass: f64,
    states: Vec<[DVec3; 2]>,
    before: Vec<[DVec3; 2]>,
    loads: ForceAccumulator,
}

struct Bead<'a>(f64, &'a mut [DVec3; 2]);

impl ImpulseResponse for Bead<'_> {
    fn velocity_at(&self, _point: DVec3) -> DVec3 {
        self.1[1]
    }

    fn inverse_mass_at(&self, _point: DVec3) -> DMat3 {
        DMat3::from_diagonal(DVec3::splat(1.0 / self.0))
    }

    fn apply_impulse(&mut self, _point: DVec3, impulse: DVec3) {
        self.1[1] += impulse / self.0;
    }
}

impl WorldPart for Beads {
    fn description(&self) -> Description {
        let properties = Properties::from([("mass".into(), Value::Real(self.mass))]);
        Description { type_name: "beads".into(), properties }
    }

    fn kind(&self) -> PartKind {
        PartKind::ParticleSystem
    }

    fn clone_part(&self) -> Box<dyn WorldPart> {
        Box::new(self.clone())
    }

    fn advance(&mut self, step: &mut StepContext<'_>) -> Result<(), Error> {
        self.before.clone_from(&self.states);
        step.gather_loads(step.start(), &mut self.loads);
        let (g, h) = (self.loads.uniform_acceleration(), step.dt());
        for [x, v] in &mut self.states {
            *x += *v * h + 0.5 * g * h * h;
            *v += g * h;
        }
        if self.states.iter().any(|[x, _]| x.z < -50.0) {
            return Err(Error::Part { part: "beads".into(), reason: "a bead left the box".into() });
        }
        Ok(())
    }

    fn roll_back(&mut self) {
        self.states.clone_from(&self.before);
    }

    fn element(&self, index: u32) -> Option<ElementMotion> {
        let [x, v] = self.states.get(index as usize)?;
        Some(ElementMotion { pose: Pose::at(*x), velocity: *v, angular_velocity: DVec3::ZERO })
    }

    fn response(&mut self, index: u32) -> Option<Box<dyn ImpulseResponse + '_>> {
        let mass = self.mass;
        self.states.get_mut(index as usize).map(|state| Box::new(Bead(mass, state)) as _)
    }

    fn save_state(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.states).unwrap()
    }

    fn restore_state(&mut self, state: &[u8]) -> Result<(), SnapshotError> {
        self.states = postcard::from_bytes(state).map_err(|_| SnapshotError::Malformed("beads"))?;
        Ok(())
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    let mass = PropertySpec {
        name: "mass".into(),
        value_type: ValueType::Real,
        unit: "kg".into(),
        default: Some(Value::Real(1.0)),
        required: false,
        allowed: Allowed::Positive,
        doc: "Mass of a bead.".into(),
    };
    let entry = Entry::new("beads", "Beads that fall freely", vec![mass], |given| {
        let Some(Value::Real(mass)) = given.get("mass").cloned() else { return Err("no mass".into()) };
        Ok(Box::new(Beads { mass, ..Beads::default() }) as Box<dyn WorldPart>)
    });
    registry.parts.register(entry).unwrap();
    registry
}

/// A floor, a ball at rest on nothing, and three beads of 1 kg with shapes at a height of 2 m.
fn bead_world() -> (World, PartId) {
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let states = (0..3).map(|i| [DVec3::new(f64::from(i), 0.0, 2.0), DVec3::X]).collect();
    let part = world.add_part(Some("beads"), Box::new(Beads { mass: 1.0, states, ..Beads::default() }));
    for index in 0..3 {
        world.add_element_shape(ElementId { part, index }, Shape::sphere(0.1).unwrap()).unwrap();
    }
    (world, part)
}

fn states(world: &World, part: PartId) -> &[[DVec3; 2]] {
    &world.part_as::<Beads>(part).unwrap().states
}

/// Free fall is x₀ + v t − ½ g t² under every simulator, with the same bits, and the bodies of the beads are where the beads are.
#[test]
fn a_part_moves_alike_under_every_simulator() {
    let mut ends = Vec::new();
    for name in SIMULATORS {
        let (mut world, part) = bead_world();
        let mut simulator = registry().simulators.make(name, &Properties::new()).unwrap();
        for _ in 0..30 {
            simulator.step(&mut world, 0.01).unwrap();
        }
        let expected = DVec3::new(0.3, 0.0, 2.0 - 0.5 * 9.81 * 0.09);
        assert!((states(&world, part)[0][0] - expected).length() < 1e-12, "{name}");
        let body = world.find_body("beads/2").unwrap();
        assert_eq!(world.body(body).unwrap().position(), states(&world, part)[2][0], "{name}");
        assert_eq!(world.body(body).unwrap().velocity(), states(&world, part)[2][1], "{name}");
        ends.push(states(&world, part).to_vec());
    }
    assert!(ends.iter().all(|end| *end == ends[0]));
}

/// A restored world goes on bit for bit; a registry without the type of the part refuses with its name.
#[test]
fn snapshots_have_a_place_for_parts() {
    let registry = registry();
    for name in SIMULATORS {
        let (mut world, part) = bead_world();
        let ball = Body::dynamic().at(1.0, 0.0, 1.2).with_shape(Shape::sphere(0.1).unwrap());
        world.add_body(ball).unwrap();
        let mut simulator = registry.simulators.make(name, &Properties::new()).unwrap();
        for _ in 0..20 {
            simulator.step(&mut world, 0.01).unwrap();
        }
        let bytes = world.snapshot_with(&*simulator).unwrap();
        let (mut restored, mut again) = World::restore_with(&bytes, &registry).unwrap();
        for _ in 0..20 {
            simulator.step(&mut world, 0.01).unwrap();
            again.step(&mut restored, 0.01).unwrap();
        }
        assert_eq!(states(&world, part), states(&restored, part), "{name}");
        assert_eq!(world.snapshot().unwrap(), restored.snapshot().unwrap(), "{name}");
        let error = World::restore(&bytes, &Registry::default()).unwrap_err().to_string();
        assert!(error.contains("unknown part `beads`"), "{error}");
    }
}

/// Rays, contact events and the filter name the owner of a collider.
#[test]
fn colliders_are_keyed_by_their_owner() {
    let (mut world, part) = bead_world();
    let pipeline = QueryPipeline::of(&world).unwrap();
    let ray = Ray::new(DVec3::new(1.0, -5.0, 2.0), DVec3::Y).unwrap();
    let hit = pipeline.cast_ray(&world, &ray, 10.0, &QueryFilter::default()).unwrap().unwrap();
    let bead = ColliderOwner::Element(ElementId { part, index: 1 });
    assert_eq!(world.shape_owner(hit.shape).unwrap(), bead);
    assert_eq!(hit.owner(&world).unwrap(), bead);
    assert_eq!(bead.to_string(), "element 1 of part 0v0");

    // A ball in the way of the first bead.
    let ball = Body::dynamic().at(0.2, 0.0, 1.75).with_shape(Shape::sphere(0.1).unwrap()).gravity_scale(0.0);
    let ball = world.add_body(ball).unwrap();
    let mut filtered = world.clone();
    let mut simulator = registry().simulators.make("realtime", &Properties::new()).unwrap();
    let pair = [ColliderOwner::Element(ElementId { part, index: 0 }), ColliderOwner::Body(ball)];
    let touches = |world: &mut World, simulator: &mut dyn Simulator| {
        let mut found = false;
        for _ in 0..40 {
            simulator.step(world, 0.01).unwrap();
            found |= world.events().iter().any(|event| {
                let owners = event.owners(world);
                matches!(event, Event::ContactBegan { .. })
                    && owners.is_some_and(|owners| pair.iter().all(|owner| owners.contains(owner)))
            });
        }
        found
    };
    assert!(touches(&mut world, &mut *simulator));
    assert!(world.body(ball).unwrap().velocity().length() > 0.1);

    // The same with the pair rejected by its owners.
    filtered.pair_filter_mut().set_callback(move |world, candidate| {
        let of_part =
            |body| matches!(world.owner_of(body), Ok(ColliderOwner::Element(id)) if id.part == part);
        candidate.allowed && !candidate.bodies.iter().any(|body| of_part(*body))
    });
    let mut simulator = registry().simulators.make("realtime", &Properties::new()).unwrap();
    assert!(!touches(&mut filtered, &mut *simulator));
    assert_eq!(filtered.body(ball).unwrap().velocity(), DVec3::ZERO);

    // What would part a body from its element is refused, with the name of the owner.
    let body = world.find_body("beads/0").unwrap();
    let error = world.remove_body(body).unwrap_err().to_string();
    assert!(error.contains("element 0 of part 0v0"), "{error}");
    world.remove_part(part).unwrap();
    assert!(world.body(body).is_err() && world.part(part).is_err());
}

/// Resolves a collision of two given owners in each step, by the impact law.
#[derive(Debug)]
struct Striker {
    owners: [ColliderOwner; 2],
    point: DVec3,
    settings: CollisionSettings,
    fails: bool,
    epoch: Epoch,
}

impl Simulator for Striker {
    fn description(&self) -> Description {
        Description { type_name: "striker".into(), properties: Properties::new() }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn step(&mut self, world: &mut World, dt: f64) -> Result<(), Error> {
        let mut step = StepContext::begin(world, &self.epoch, dt)?;
        step.collide(self.owners, self.point, DVec3::X, &self.settings)?;
        if self.fails {
            return Err(Error::Part { part: "striker".into(), reason: "on purpose".into() });
        }
        self.epoch = step.finish();
        Ok(())
    }
}

/// A bead hits a ball, by a simulator from outside: equal masses exchange their velocities, and a step that fails leaves both as
/// they were, bit for bit.
#[test]
fn an_element_collides_with_a_body() {
    let mut world = World::weightless();
    let states = vec![[DVec3::ZERO, DVec3::X]];
    let part = world.add_part(None, Box::new(Beads { mass: 2.0, states, ..Beads::default() }));
    let ball = Body::dynamic().at(0.1, 0.0, 0.0).with_shape(Shape::sphere(0.1).unwrap()).mass(2.0);
    let ball = world.add_body(ball).unwrap();
    let owners = [ColliderOwner::Element(ElementId { part, index: 0 }), ColliderOwner::Body(ball)];
    let settings = CollisionSettings { e: 1.0, ..CollisionSettings::default() };
    let mut striker = Striker { owners, point: DVec3::ZERO, settings, fails: true, epoch: Epoch::default() };
    let before = world.snapshot().unwrap();
    assert!(striker.step(&mut world, 0.01).is_err());
    assert_eq!(
        states_and_time(&world, part),
        states_and_time(&World::restore(&before, &registry()).unwrap(), part)
    );
    striker.fails = false;
    striker.step(&mut world, 0.01).unwrap();
    assert!(states_and_time(&world, part).0[0][1].length() < 1e-12);
    assert!((world.body(ball).unwrap().velocity() - DVec3::X).length() < 1e-12);
    // Nothing that is not finite gets in.
    assert!(world.apply_impulse_at(owners[1], DVec3::ZERO, DVec3::NAN).is_err());
    assert!(world.apply_impulse_at(owners[1], DVec3::NAN, DVec3::X).is_err());
}

fn states_and_time(world: &World, part: PartId) -> (Vec<[DVec3; 2]>, f64) {
    (states(world, part).to_vec(), world.time())
}

/// A ball of mass m and speed v hits the end of a rod (mass M, length l) that hangs from a hinge, with restitution e. About the hinge,
/// m l v = m l v' + (M l²/3) ω and l ω − v' = e v, so ω = (1 + e) v/l · 3m/(3m + M).
#[test]
fn a_link_responds_as_angular_momentum_demands() {
    let mut random = Random::new(7);
    let mut worst = 0.0_f64;
    for _ in 0..200 {
        let (m, big, l) = (0.1 + random.unit(), 0.1 + random.unit(), 0.2 + random.unit());
        let (v, e) = (0.1 + random.unit(), random.unit());
        let about_center = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0) * (big * l * l / 12.0));
        let rod = Link::new("rod", None, RevoluteJoint { axis: -DVec3::Y }).with_mass(
            big,
            -0.5 * l * DVec3::Z,
            about_center,
        );
        let mut world = World::weightless();
        let shape = ShapePart {
            pose: Pose::at(-0.5 * l * DVec3::Z),
            ..Shape::cuboid(DVec3::new(0.01, 0.01, 0.5 * l)).unwrap().into()
        };
        let arm = Multibody::new(Mechanism::new(LinkTree::new(vec![rod]).unwrap()));
        let arm = world.add_multibody(arm.with_part("rod", shape).unwrap()).unwrap();
        let ball = Body::dynamic().at(-0.06, 0.0, -l).with_shape(Shape::sphere(0.05).unwrap()).mass(m);
        let ball = world.add_body(ball.velocity(v * DVec3::X)).unwrap();
        let owners = [ColliderOwner::Body(ball), ColliderOwner::Link(LinkId { multibody: arm, index: 0 })];
        let settings = CollisionSettings { e, mu: 0.0, ..CollisionSettings::default() };
        let point = -l * DVec3::Z;
        let mut striker = Striker { owners, point, settings, fails: false, epoch: Epoch::default() };
        striker.step(&mut world, 1e-9).unwrap();
        let expected = (1.0 + e) * v / l * 3.0 * m / (3.0 * m + big);
        let omega = world.multibody(arm).unwrap().velocities("rod").unwrap()[0];
        worst = worst.max((omega - expected).abs() / expected);
        let ball = world.body(ball).unwrap().velocity().x;
        worst = worst.max((ball - (l * expected - e * v)).abs() / v);
    }
    assert!(worst < 1e-9, "{worst:e}");
}

/// Random trees: an impulse p at a point of a link changes the velocity there by K p, and the energy by p·(u + ½ K p). A single link on a
/// free joint is a rigid body.
#[test]
fn links_and_rigid_bodies_answer_alike() {
    let mut random = Random::new(3);
    let mut worst = 0.0_f64;
    for round in 0..100 {
        let tree = random.tree(1 + round % 6);
        let (q, v) = (random.positions(&tree), random.numbers(tree.velocity_count(), 0.5));
        let mut mechanism = Mechanism::new(tree);
        mechanism.set_state(&q, &v).unwrap();
        let link = round % mechanism.tree().links().len();
        let (point, p) = (random.vector(), random.vector());
        let energy = mechanism.energy().0;
        let mut response = LinkResponse::new(&mut mechanism, link).unwrap();
        let (u, k) = (response.velocity_at(point), response.inverse_mass_at(point));
        response.apply_impulse(point, p);
        let after = response.velocity_at(point);
        worst = worst.max((after - u - k * p).length() / (1.0 + (k * p).length()));
        let gained = mechanism.energy().0 - energy;
        let work = p.dot(u + 0.5 * (k * p));
        worst = worst.max((gained - work).abs() / (1.0 + energy + work.abs()));
    }
    assert!(worst < 1e-10, "{worst:e}");

    let (mass, moments) = (1.5, DVec3::new(0.2, 0.3, 0.4));
    let free = Link::new("body", None, FreeJoint).with_mass(mass, DVec3::ZERO, DMat3::from_diagonal(moments));
    let mut single = Mechanism::new(LinkTree::new(vec![free]).unwrap());
    let inertia =
        Inertia { inverse_mass: 1.0 / mass, moments, inverse_moments: moments.recip(), ..Inertia::default() };
    let link = LinkResponse::new(&mut single, 0).unwrap();
    let rigid = RigidResponse::new(&inertia, &Motion { q: glam::DQuat::IDENTITY, ..Motion::default() });
    for _ in 0..20 {
        let point = random.vector();
        let difference = link.inverse_mass_at(point) - rigid.inverse_mass_at(point);
        assert!(difference.to_cols_array().iter().all(|entry| entry.abs() < 1e-12), "{difference}");
    }
}

/// Thresholds, sleep requests and exclusions are part of a snapshot; of functions, that they are missing.
#[test]
fn snapshots_keep_requests_and_name_missing_functions() {
    let mut world = World::default();
    let ball = || Body::dynamic().with_shape(Shape::sphere(0.1).unwrap());
    let a = world.add_body(ball()).unwrap();
    let b = world.add_body(ball().at(0.1, 0.0, 0.0)).unwrap();
    world.set_contact_force_threshold(a, Some(3.0)).unwrap();
    world.put_to_sleep(b).unwrap();
    world.pair_filter_mut().exclude(a, b, rattleback_dynamics::filter::Exclusion::User);
    world.pair_filter_mut().set_contact_modifier(|_, _, _| {});
    let mut restored = World::restore(&world.snapshot().unwrap(), &Registry::default()).unwrap();
    assert_eq!(restored.contact_force_threshold(a), Some(3.0));
    assert_eq!(restored.snapshot().unwrap(), world.snapshot().unwrap());
    let excluded = restored.pair_filter().exclusion(a, b);
    assert_eq!(excluded, Some(rattleback_dynamics::filter::Exclusion::User));
    let missing = restored.pair_filter().missing_hooks();
    assert!(missing.contact_modifier && !missing.callback);
    restored.pair_filter_mut().set_contact_modifier(|_, _, _| {});
    assert!(!restored.pair_filter().missing_hooks().contact_modifier);
}
