//! What a user of the world sees: ids, statuses, reports, refusals.

use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;
use rattleback_dynamics::force::{ForceAccumulator, ForceContext, PointForce};
use rattleback_dynamics::property::Allowed;
use rattleback_dynamics::registry::{Entry, RegistryError};
use rattleback_dynamics::{
    Body, BodyId, Error, Event, Force, FreeMotion, Material, Path, Plugin, Registry, ShapePart, Simulator,
    Status, Targets, Value, World, component,
};
use rattleback_geometry::{Aabb, MassModel, MassProperties, Pose, Shape, generate};

fn ball(radius: f64) -> Shape {
    Shape::sphere(radius).unwrap()
}

fn step(world: &mut World, dt: f64) {
    FreeMotion::default().step(world, dt).unwrap();
}

/// ENG-5: one of a thousand moves ⇒ one entry; nothing moves ⇒ none.
#[test]
fn only_what_moved_is_reported() {
    let mut world = World::weightless();
    let ids: Vec<_> = (0..1000)
        .map(|i| world.add_body(Body::dynamic().at(f64::from(i), 0.0, 0.0).with_shape(ball(0.1))).unwrap())
        .collect();
    step(&mut world, 0.01);
    assert_eq!(world.moved(), &[]);
    world.body_mut(ids[357]).unwrap().set_velocity(DVec3::X).unwrap();
    step(&mut world, 0.01);
    assert_eq!(world.moved(), &[ids[357]]);
}

/// ENG-6: a body whose box leaves the bounds is disabled in that very step, with an event.
#[test]
fn leaving_the_bounds_ends_the_run_of_a_body() {
    let mut world = World::weightless();
    world.set_bounds(Some(Aabb::new(DVec3::splat(-1.0), DVec3::splat(1.0)).unwrap()));
    let rod = Shape::capsule(0.055, 0.4).unwrap();
    let id = world.add_body(Body::dynamic().with_shape(rod).velocity(DVec3::X)).unwrap();
    let mut left = None;
    for n in 1..200 {
        step(&mut world, 0.01);
        if let [Event::LeftBounds { body, .. }] = world.events() {
            assert_eq!(*body, id);
            left = Some(n);
            break;
        }
    }
    // Its rear end is at −0.055 from its centre: the box is outside once x − 0.055 > 1.
    assert_eq!(left, Some(106));
    assert_eq!(world.body(id).unwrap().status(), Status::Disabled);
    let x = world.body(id).unwrap().position();
    step(&mut world, 0.01);
    assert_eq!(world.body(id).unwrap().position(), x);
}

/// ENG-7: a tetrahedron given in world coordinates comes back from its principal frame, and its inertia is diagonal there.
#[test]
fn the_modelling_frame_survives_the_principal_frame() {
    let corners = [
        DVec3::new(-1.0, 2.0, 0.0),
        DVec3::new(0.0, 2.0, 0.2),
        DVec3::new(-0.7, 3.2, 0.1),
        DVec3::new(-1.0, 2.0, 1.0),
    ];
    let mut world = World::weightless();
    let pose =
        Pose::new(DQuat::from_rotation_x(0.3) * DQuat::from_rotation_z(1.1), DVec3::new(4.0, 5.0, 6.0));
    let id =
        world.add_body(Body::dynamic().pose(pose).with_shape(Shape::convex_hull(&corners).unwrap())).unwrap();
    let body = world.body(id).unwrap();
    for corner in corners {
        assert!((body.pose().point(corner) - pose.point(corner)).length() < 1e-12);
    }
    assert!((body.center_of_mass() - pose.point(DVec3::new(-0.675, 2.3, 0.325))).length() < 1e-12);
    let r = DMat3::from_quat(body.motion().q);
    let local = r.transpose() * body.world_inertia() * r;
    let off = [local.x_axis.y, local.x_axis.z, local.y_axis.z].map(f64::abs).into_iter().fold(0.0, f64::max);
    assert!(off < 1e-12 * (local.x_axis.x + local.y_axis.y + local.z_axis.z));
}

#[test]
fn ids_stay_right_while_bodies_come_and_go_and_change_status() {
    let mut world = World::weightless();
    let mut alive: Vec<(BodyId, f64)> = Vec::new();
    let mut dead: Vec<BodyId> = Vec::new();
    for n in 0..2000_u32 {
        match n.wrapping_mul(2654435761) >> 16 & 7 {
            0..=2 => {
                let x = f64::from(n);
                alive.push((
                    world.add_body(Body::dynamic().at(x, 0.0, 0.0).with_shape(ball(0.1))).unwrap(),
                    x,
                ));
            }
            3 | 4 if !alive.is_empty() => {
                let (id, _) = alive.swap_remove(n as usize % alive.len());
                world.remove_body(id).unwrap();
                dead.push(id);
            }
            _ if !alive.is_empty() => {
                let (id, _) = alive[n as usize % alive.len()];
                let status =
                    [Status::Fixed, Status::Dynamic, Status::Disabled, Status::Kinematic][n as usize % 4];
                world.body_mut(id).unwrap().set_status(status).unwrap();
            }
            _ => {}
        }
    }
    for (id, x) in &alive {
        assert_eq!(world.body(*id).unwrap().position().x, *x);
    }
    for id in &dead {
        assert!(matches!(world.body(*id), Err(Error::UnknownBody(_))));
        assert!(world.remove_body(*id).is_err());
    }
    assert_eq!(world.bodies().len(), alive.len());
    let bytes = world.snapshot().unwrap();
    let copy = World::restore(&bytes, &Registry::default()).unwrap();
    assert_eq!(copy.snapshot().unwrap(), bytes);
}

#[test]
fn fixed_bodies_stay_and_animated_bodies_follow_their_path() {
    let mut world = World::default();
    let floor = world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let turntable = Path::Steady { velocity: DVec3::ZERO, angular_velocity: DVec3::Z * 2.0 };
    let table = world.add_body(Body::kinematic(turntable).at(1.0, 0.0, 0.0).with_shape(ball(0.5))).unwrap();
    let shaker = Path::Harmonic { amplitude: DVec3::X * 0.1, swing: DVec3::ZERO, frequency: 5.0, phase: 0.0 };
    let tray = world.add_body(Body::kinematic(shaker).with_shape(ball(0.1))).unwrap();
    let mut simulator = FreeMotion::default();
    for _ in 0..25 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    assert_eq!(world.body(floor).unwrap().position(), DVec3::ZERO);
    let body = world.body(table).unwrap();
    assert!(body.orientation().angle_between(DQuat::from_rotation_z(0.5)) < 1e-7);
    assert_eq!(body.velocity_at(DVec3::new(1.0, 1.0, 0.0)), DVec3::new(-2.0, 0.0, 0.0));
    let t = world.time();
    let phase = std::f64::consts::TAU * 5.0 * t;
    let body = world.body(tray).unwrap();
    assert!((body.position().x - 0.1 * phase.sin()).abs() < 1e-12);
    assert!((body.velocity().x - 0.1 * std::f64::consts::TAU * 5.0 * phase.cos()).abs() < 1e-12);
    assert_eq!(body.kinetic_energy(), 0.0);
    assert!(world.body_mut(floor).unwrap().set_velocity(DVec3::X).is_err());
    assert!(world.body_mut(floor).unwrap().set_status(Status::Dynamic).is_err());
}

/// MP-5 at work: densities by part, point masses, and mass models reach the body.
#[test]
fn mass_comes_from_parts_points_and_models() {
    let mut world = World::weightless();
    let cube = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    let part = |x: f64, density| ShapePart {
        pose: Pose::at(DVec3::X * x),
        density: Some(density),
        ..cube.clone().into()
    };
    let dumbbell =
        Body::dynamic().with_part(part(-1.0, 1.0)).with_part(part(1.0, 3.0)).point_mass(4.0, DVec3::X * 2.0);
    let id = world.add_body(dumbbell).unwrap();
    let body = world.body(id).unwrap();
    assert!((body.mass() - 8.0).abs() < 1e-12);
    assert!((body.center_of_mass().x - (-1.0 + 3.0 + 8.0) / 8.0).abs() < 1e-12);

    let shell = Shape::mesh(generate::icosphere(5).unwrap()).unwrap();
    let hollow = Body::dynamic().with_shape(shell).mass_model(MassModel::Surface { segments: 16 }).mass(3.0);
    let id = world.add_body(hollow).unwrap();
    // A thin shell: I = 2/3 m r².
    assert!((world.body(id).unwrap().inertia().moments / 2.0 - DVec3::ONE).length() < 5e-3);
}

/// Every refusal is typed, names what is wrong, and leaves no trace.
#[test]
fn bad_bodies_are_refused_without_a_trace() {
    let mut world = World::default();
    world.add_body(Body::dynamic().with_shape(ball(0.1))).unwrap();
    let before = world.snapshot().unwrap();
    let nan = f64::NAN;
    let refused = [
        Body::dynamic(),
        Body::dynamic().with_shape(ball(1.0)).density(-1.0),
        Body::dynamic().with_shape(ball(1.0)).density(nan),
        Body::dynamic().with_shape(ball(1.0)).density(0.0),
        Body::dynamic().with_shape(ball(1.0)).mass(f64::INFINITY),
        Body::dynamic().with_shape(ball(1.0)).mass(0.0),
        Body::dynamic().with_shape(Shape::half_space(DVec3::Z).unwrap()),
        Body::dynamic().with_shape(ball(1.0)).at(nan, 0.0, 0.0),
        Body::dynamic().with_shape(ball(1.0)).velocity(DVec3::splat(f64::INFINITY)),
        Body::dynamic().with_shape(ball(1.0)).angular_velocity(DVec3::new(0.0, nan, 0.0)),
        Body::dynamic().with_shape(ball(1.0)).orientation(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
        Body::dynamic().with_shape(ball(1.0)).damping(-0.1, 0.0),
        Body::dynamic().with_shape(ball(1.0)).charge(nan),
        Body::dynamic().with_shape(ball(1.0)).point_mass(-1.0, DVec3::ZERO),
        Body::dynamic().point_mass(1.0, DVec3::X),
        Body::kinematic(Path::Keyframes(vec![])),
    ];
    for body in refused {
        let shown = format!("{body:?}");
        let error = world.add_body(body).expect_err(&shown);
        assert!(!error.to_string().is_empty());
        assert_eq!(world.snapshot().unwrap(), before, "{error}");
    }
    assert!(MassProperties::new(1.0, DVec3::ZERO, DMat3::from_diagonal(DVec3::new(1.0, 1.0, 3.0))).is_err());
    for dt in [0.0, -1.0, nan, f64::INFINITY] {
        assert!(FreeMotion::default().step(&mut world, dt).is_err());
    }
    assert_eq!(world.snapshot().unwrap(), before);
    assert!(world.add_material(Material { restitution: 2.0, ..Material::default() }).is_err());
    assert!(matches!(world.remove_material(world.default_material()), Err(Error::DefaultMaterial)));
}

component! {
    /// Pushes one body out of the world of numbers.
    pub struct Poison as "poison" {
        /// When it begins to act.
        from: f64 = 0.5, "s", Allowed::Finite;
    }
}

impl Force for Poison {
    fn apply(&self, scope: &ForceContext<'_>, loads: &mut ForceAccumulator) {
        if scope.time >= self.from {
            for body in scope.targets() {
                let force = DVec3::splat(f64::NAN);
                loads.add(body.index, rattleback_dynamics::rigid::Wrench { force, torque: DVec3::ZERO });
            }
        }
    }
}

/// A body that turns non-finite is quarantined where it was last well; the others do not notice. For every integrator.
#[test]
fn a_sick_body_is_quarantined_and_the_rest_goes_on() {
    for entry in Registry::default().integrators.iter() {
        let mut world = World::default();
        let healthy = world.add_body(Body::dynamic().with_shape(ball(0.1))).unwrap();
        let poisoned = world.add_body(Body::dynamic().at(1.0, 0.0, 0.0).with_shape(ball(0.1))).unwrap();
        let other = world.add_body(Body::dynamic().at(2.0, 0.0, 0.0).with_shape(ball(0.1))).unwrap();
        world.add_force_on(Targets::Bodies(vec![poisoned]), None, Box::new(Poison::default())).unwrap();
        let mut simulator = FreeMotion::by_name(&entry.name, &Registry::default()).unwrap();
        let mut reported = 0;
        for _ in 0..100 {
            simulator.step(&mut world, 0.01).unwrap();
            reported += world
                .events()
                .iter()
                .filter(|event| matches!(event, Event::Quarantined { body, .. } if *body == poisoned))
                .count();
        }
        assert_eq!(world.body(healthy).unwrap().velocity(), world.body(other).unwrap().velocity());
        assert!((world.body(healthy).unwrap().velocity().z + 9.81).abs() < 1e-9, "{}", entry.name);
        assert!(world.body(poisoned).unwrap().position().is_finite());
        assert_eq!(reported, 1, "{}", entry.name);
        assert_eq!(world.body(poisoned).unwrap().status(), Status::Disabled, "{}", entry.name);
    }
}

struct PoisonPlugin;

impl Plugin for PoisonPlugin {
    fn name(&self) -> &'static str {
        "poison 1.0"
    }

    fn register(&self, registry: &mut Registry) -> Result<(), RegistryError> {
        registry.forces.register(Entry::of::<Poison>(|force| Box::new(force) as Box<dyn Force>))
    }
}

/// a force from outside is made by name like any other; registering it twice is refused and changes nothing.
#[test]
fn plugins_bring_types_and_cannot_bring_them_twice() {
    let mut registry = Registry::default();
    let given = [("from".to_owned(), Value::Real(2.0))].into();
    assert!(registry.forces.make("poison", &given).is_err());
    registry.install(&PoisonPlugin).unwrap();
    let force = registry.forces.make("poison", &given).unwrap();
    assert_eq!(force.get("from"), Ok(Value::Real(2.0)));
    assert!(matches!(registry.install(&PoisonPlugin), Err(RegistryError::Duplicate { .. })));

    // A snapshot of a world with such a force needs the plug-in.
    let mut world = World::default();
    world.add_force_on(Targets::All, None, force).unwrap();
    let bytes = world.snapshot().unwrap();
    assert!(World::restore(&bytes, &registry).is_ok());
    let error = World::restore(&bytes, &Registry::default()).unwrap_err().to_string();
    assert!(error.contains("poison"), "{error}");
}

/// Every property of every registered component can be read, has a default in its range, and survives a round trip.
#[test]
fn the_registry_tells_the_truth() {
    let registry = Registry::default();
    let mut checked = 0;
    for entry in registry.forces.iter() {
        let mut force = registry.forces.make(&entry.name, &[].into()).unwrap();
        assert_eq!(force.type_name(), entry.name);
        for spec in &entry.properties {
            let value = force.get(&spec.name).unwrap();
            assert_eq!(Some(&value), spec.default.as_ref());
            force.set(&spec.name, value.clone()).unwrap();
            assert_eq!(force.get(&spec.name), Ok(value));
            assert!(!spec.doc.is_empty());
            checked += 1;
        }
    }
    assert!(checked > 50);
    for entry in registry.integrators.iter() {
        let integrator = registry.integrators.make(&entry.name, &[].into()).unwrap();
        assert_eq!(integrator.description().type_name, entry.name);
        assert!(registry.integrators.make(&entry.name, &integrator.description().properties).is_ok());
    }
    for entry in registry.simulators.iter() {
        let simulator = registry.simulators.make(&entry.name, &[].into()).unwrap();
        let again = simulator.description();
        assert_eq!(
            registry.simulators.make(&again.type_name, &again.properties).unwrap().description(),
            again
        );
    }
}

/// one, two or seven threads leave the same bits and the same list of what moved.
#[test]
fn threads_do_not_show_in_the_result() {
    let run = |threads: u32| {
        let mut world = World::default();
        for i in 0..1000_u32 {
            let shape = Shape::cuboid(DVec3::new(0.1, 0.2, 0.1 + f64::from(i % 7) * 0.1)).unwrap();
            let spin = DVec3::new(f64::from(i % 5), f64::from(i % 11), 40.0 * f64::from(i % 3));
            world.add_body(Body::dynamic().with_shape(shape).angular_velocity(spin)).unwrap();
        }
        let mut simulator = FreeMotion::default().with_threads(threads);
        for _ in 0..20 {
            simulator.step(&mut world, 0.01).unwrap();
        }
        world.snapshot().unwrap()
    };
    let alone = run(1);
    assert!(run(2) == alone && run(7) == alone && run(5000) == alone);
}

#[test]
fn an_impulse_off_centre_moves_and_turns() {
    let mut world = World::weightless();
    let id = world
        .add_body(Body::dynamic().with_shape(Shape::cuboid(DVec3::splat(0.5)).unwrap()).mass(6.0))
        .unwrap();
    world.body_mut(id).unwrap().apply_impulse(DVec3::Y * 3.0, DVec3::X * 0.5).unwrap();
    let body = world.body(id).unwrap();
    assert!((body.velocity() - DVec3::Y * 0.5).length() < 1e-15);
    // I = m a²/6 = 1.
    assert!((body.angular_velocity() - DVec3::Z * 1.5).length() < 1e-14);
    world.body_mut(id).unwrap().set_mass(12.0).unwrap();
    assert!((world.body(id).unwrap().inertia().moments - DVec3::splat(2.0)).length() < 1e-14);
    assert!(world.body_mut(id).unwrap().set_mass(-1.0).is_err());
    let push = PointForce { force: DVec3::X.into(), ..PointForce::default() };
    let force = world.add_force(push).unwrap();
    assert!(world.remove_force(force).is_ok());
    assert!(matches!(world.remove_force(force), Err(Error::UnknownForce(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever numbers a caller sends: an error or a sane body, never a panic.
    #[test]
    fn any_numbers_are_survived(numbers in prop::collection::vec(prop::num::f64::ANY, 16)) {
        let n = |i: usize| numbers[i];
        let v = |i: usize| DVec3::new(numbers[i], numbers[i + 1], numbers[i + 2]);
        let mut world = World::default();
        if let Ok(shape) = Shape::cuboid(v(0)) {
            let body = Body::dynamic().with_shape(shape).position(v(3)).velocity(v(6)).angular_velocity(v(9))
                .density(n(12)).damping(n(13), n(14));
            if let Ok(id) = world.add_body(body) {
                let _ = FreeMotion::default().step(&mut world, n(15));
                prop_assert!(world.body(id).unwrap().position().is_finite());
            }
        }
        let _ = world.set_gravity(v(1));
        let _ = FreeMotion::default().step(&mut world, 0.01);
    }
}

/// The same in the middle of a pile under the real-time simulator: nothing spreads through the contacts.
#[test]
fn a_sick_body_in_a_pile_does_not_infect_it() {
    use rattleback_dynamics::simulator::Realtime;
    let mut world = World::default();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    let cube = || Shape::cuboid(DVec3::splat(0.5)).unwrap();
    let pile: Vec<_> = (0..3)
        .map(|k| world.add_body(Body::dynamic().at(0.0, 0.0, 0.5 + f64::from(k)).with_shape(cube())).unwrap())
        .collect();
    // Finite, but more than single precision can bear.
    let runaway = Body::dynamic().at(0.9, 0.0, 3.2).velocity(DVec3::X * 1e200).with_shape(cube());
    world.add_body(runaway).unwrap();
    world.add_force_on(Targets::Bodies(vec![pile[1]]), None, Box::new(Poison::default())).unwrap();
    let mut simulator = Realtime::default();
    let mut quarantined = vec![];
    for _ in 0..180 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
        quarantined.extend(world.events().iter().filter_map(|event| match event {
            Event::Quarantined { body, .. } => Some(*body),
            _ => None,
        }));
    }
    assert!(quarantined.contains(&pile[1]) && quarantined.len() <= 2, "{quarantined:?}");
    assert!(world.iter_bodies().all(|body| body.position().is_finite() && body.velocity().is_finite()));
    let heights = [pile[0], pile[2]].map(|id| world.body(id).unwrap().position().z);
    assert!((heights[0] - 0.5).abs() < 0.01 && (heights[1] - 1.5).abs() < 0.01, "{heights:?}");
}
