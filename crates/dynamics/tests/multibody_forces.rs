//! Forces of a world on links, events of limits, and integrators that keep their memory between steps.

use crate::multibody_support::rod;
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::force::{Drag, Gravitation, Spring};
use rattleback_dynamics::multibody::joint::{PrismaticJoint, RevoluteJoint};
use rattleback_dynamics::multibody::{Element, Friction, Limit, Link, LinkTree, Mechanism, Method};
use rattleback_dynamics::simulator::Impulse;
use rattleback_dynamics::world::{LedgerSettings, LinkId};
use rattleback_dynamics::{
    Body, BodyId, Event, FreeMotion, Multibody, MultibodyId, Registry, ShapePart, Signal, Simulator, Targets,
    World,
};
use rattleback_geometry::{Pose, Shape};

/// A ball of 2 kg that slides along x, as a multibody in a world without gravity.
fn slider(world: &mut World) -> (MultibodyId, BodyId) {
    let inertia = DMat3::from_diagonal(DVec3::splat(0.01));
    let ball =
        Link::new("ball", None, PrismaticJoint { axis: DVec3::X }).with_mass(2.0, DVec3::ZERO, inertia);
    let mechanism = Mechanism::new(LinkTree::new(vec![ball]).unwrap());
    let shape = Shape::sphere(0.1).unwrap();
    let id = world.add_multibody(Multibody::new(mechanism).with_part("ball", shape).unwrap()).unwrap();
    let link = LinkId { multibody: id, index: 0 };
    (id, world.multibody(id).unwrap().link_body(link).unwrap().unwrap())
}

fn position(world: &World, id: MultibodyId) -> f64 {
    world.multibody(id).unwrap().all_positions()[0]
}

/// F/m for a force on the link body; m q̈ = −k q for a spring: q = q₀ cos ωt to the order of the integrator.
#[test]
fn forces_and_springs_move_links_as_the_closed_forms_say() {
    let mut world = World::weightless();
    let (id, body) = slider(&mut world);
    world.body_mut(body).unwrap().add_force(DVec3::new(6.0, 1.0, 0.0)).unwrap();
    for _ in 0..100 {
        FreeMotion::default().step(&mut world, 0.01).unwrap();
    }
    assert!((position(&world, id) - 1.5).abs() < 1e-12, "{}", position(&world, id));
    assert!((world.multibody(id).unwrap().all_accelerations()[0] - 3.0).abs() < 1e-12);
    world.body_mut(body).unwrap().clear_forces().unwrap();
    world.multibody_mut(id).unwrap().set_state(&[0.3], &[0.0]).unwrap();
    let spring = Spring { body_b: Some(body), stiffness: Signal::Constant(50.0), ..Spring::default() };
    let force = world.add_force_on(Targets::All, None, Box::new(spring)).unwrap();
    world.open_energy_ledger(LedgerSettings::default()).unwrap();
    for step in 1..=200 {
        FreeMotion::default().step(&mut world, 0.01).unwrap();
        let expected = 0.3 * (5.0 * 0.01 * f64::from(step)).cos();
        assert!((position(&world, id) - expected).abs() < 1e-9, "{} {expected}", position(&world, id));
        assert!(!world.events().iter().any(|event| matches!(event, Event::EnergyGained { .. })));
    }
    world.remove_force(force).unwrap();
    // Drag: v = v₀ e^(−c t/m) for the linear law.
    world.multibody_mut(id).unwrap().set_state(&[0.0], &[1.0]).unwrap();
    let drag = Drag { linear: Signal::Constant(0.5), ..Drag::default() };
    world.add_force_on(Targets::Bodies(vec![body]), None, Box::new(drag)).unwrap();
    for _ in 0..100 {
        FreeMotion::default().step(&mut world, 0.01).unwrap();
    }
    let v = world.multibody(id).unwrap().all_velocities()[0];
    assert!((v - (-0.25_f64).exp()).abs() < 1e-9, "{v}");
}

/// A spring of the world between a link and the ground is the spring in a joint; also for a link without shapes, which forces on all bodies reach.
#[test]
fn a_spring_of_the_world_is_a_spring_of_the_joint() {
    let inertia = DMat3::from_diagonal(DVec3::splat(0.01));
    let ball =
        || Link::new("ball", None, PrismaticJoint { axis: DVec3::X }).with_mass(2.0, DVec3::ZERO, inertia);
    let mut own = Mechanism::new(LinkTree::new(vec![ball()]).unwrap());
    own.add_element(Element::Spring { axis: 0, stiffness: 50.0, rest: 0.0 }).unwrap();
    own.set_gravity(DVec3::ZERO);
    own.set_state(&[0.3], &[0.1]).unwrap();
    let mut world = World::weightless();
    let (id, body) = slider(&mut world);
    let spring = Spring { body_b: Some(body), stiffness: Signal::Constant(50.0), ..Spring::default() };
    world.add_force_on(Targets::All, None, Box::new(spring)).unwrap();
    world.multibody_mut(id).unwrap().set_state(&[0.3], &[0.1]).unwrap();
    for _ in 0..500 {
        own.step(0.01).unwrap();
        FreeMotion::default().step(&mut world, 0.01).unwrap();
    }
    assert!((position(&world, id) - own.positions()[0]).abs() < 1e-12);
    // Two links without shapes attract each other: their centre of mass stays.
    let mut world = World::weightless();
    let free = |x: f64, mass: f64| {
        let link = ball().at(DVec3::new(x, 0.0, 0.0), DQuat::IDENTITY).with_mass(mass, DVec3::ZERO, inertia);
        Multibody::new(Mechanism::new(LinkTree::new(vec![link]).unwrap()))
    };
    let (a, b) = (world.add_multibody(free(0.0, 1.0)).unwrap(), world.add_multibody(free(1.0, 3.0)).unwrap());
    world.add_force(Gravitation { constant: 0.1, ..Gravitation::default() }).unwrap();
    for _ in 0..200 {
        FreeMotion::default().step(&mut world, 0.005).unwrap();
    }
    let (x, y) = (position(&world, a), position(&world, b));
    assert!(x > 0.1 && (x + 3.0 * y).abs() < 1e-2 * x, "{x} {y}");
}

/// Friction holds a joint against a force of the world up to its bound, exactly.
#[test]
fn dry_friction_sticks_against_forces_of_the_world() {
    let inertia = DMat3::from_diagonal(DVec3::splat(0.01));
    for (force, holds) in [(0.999, true), (1.001, false)] {
        let ball =
            Link::new("ball", None, PrismaticJoint { axis: DVec3::X }).with_mass(2.0, DVec3::ZERO, inertia);
        let mut mechanism = Mechanism::new(LinkTree::new(vec![ball]).unwrap());
        mechanism.add_friction(Friction { axis: 0, force: 1.0 }).unwrap();
        let mut world = World::weightless();
        let shape = Shape::sphere(0.1).unwrap();
        let id = world.add_multibody(Multibody::new(mechanism).with_part("ball", shape).unwrap()).unwrap();
        let body = world.multibody(id).unwrap().link_bodies().next().unwrap().1;
        world.body_mut(body).unwrap().add_force(DVec3::X * force).unwrap();
        for _ in 0..100 {
            FreeMotion::default().step(&mut world, 0.01).unwrap();
        }
        assert_eq!(position(&world, id) == 0.0, holds, "{force} N: {}", position(&world, id));
    }
}

/// A mass that falls onto its limit: t = √(2 h/g), v = √(2 g h); one event, and none while it rests there.
#[test]
fn limits_report_when_they_are_reached() {
    let inertia = DMat3::from_diagonal(DVec3::splat(0.01));
    let mass =
        Link::new("mass", None, PrismaticJoint { axis: DVec3::Z }).with_mass(1.0, DVec3::ZERO, inertia);
    let mut mechanism = Mechanism::new(LinkTree::new(vec![mass]).unwrap());
    mechanism.add_limit(Limit { axis: 0, range: [-0.5, 1.0], restitution: 0.0 }).unwrap();
    let mut world = World::default();
    let id = world.add_multibody(Multibody::new(mechanism)).unwrap();
    let mut hits = Vec::new();
    for _ in 0..600 {
        FreeMotion::default().step(&mut world, 1e-3).unwrap();
        hits.extend(world.events().iter().filter_map(|event| match *event {
            Event::JointLimit { time, link, axis, upper, speed } => Some((time, link, axis, upper, speed)),
            _ => None,
        }));
    }
    let [(time, link, axis, upper, speed)] = hits[..] else { panic!("{hits:?}") };
    assert_eq!((link, axis, upper), (LinkId { multibody: id, index: 0 }, 0, false));
    assert!((time - (1.0 / 9.81_f64).sqrt()).abs() < 1e-10, "{time}");
    assert!((speed - 9.81_f64.sqrt()).abs() < 1e-9, "{speed}");
}

/// Whatever the method, a world moves a mechanism as it moves alone, bit for bit, also after a snapshot.
#[test]
fn methods_keep_their_memory_between_steps() {
    let library = |name: &str| Method::Library { name: name.into() };
    let adaptive = Method::AdaptiveRungeKutta4 { tolerance: 1e-8 };
    let methods =
        [Method::Gauss, Method::RungeKutta4, adaptive, library("dormand-prince"), library("bulirsch-stoer")];
    for method in methods {
        let hinge = |k: usize| {
            let at = if k == 0 { DVec3::ZERO } else { -DVec3::Z };
            rod(Link::new(k.to_string(), k.checked_sub(1), RevoluteJoint { axis: DVec3::Y })
                .at(at, DQuat::IDENTITY))
        };
        let mut alone = Mechanism::new(LinkTree::new((0..3).map(hinge).collect()).unwrap());
        alone.set_method(&method).unwrap();
        alone.set_state(&[1.0, 0.5, -0.3], &[0.0; 3]).unwrap();
        let mut world = World::default();
        let id = world.add_multibody(Multibody::new(alone.clone())).unwrap();
        let registry = Registry::default();
        for step in 0..60 {
            alone.step(0.01).unwrap();
            FreeMotion::default().step(&mut world, 0.01).unwrap();
            assert_eq!(world.multibody(id).unwrap().all_positions(), alone.positions(), "{method:?} {step}");
            if step % 20 == 19 {
                let bytes = world.snapshot().unwrap();
                world = World::restore(&bytes, &registry).unwrap();
            }
        }
    }
}

/// Under `impulse`, bodies at rest stay at rest while an arm swings elsewhere.
#[test]
fn impulse_goes_on_while_links_move() {
    let mut world = World::default();
    let floor = Shape::cuboid(DVec3::new(5.0, 5.0, 0.5)).unwrap();
    world.add_body(Body::fixed().at(0.0, 0.0, -3.5).with_shape(floor)).unwrap();
    let box_ = Shape::cuboid(DVec3::splat(0.1)).unwrap();
    let resting = world.add_body(Body::dynamic().at(3.0, 0.0, -2.899).with_shape(box_)).unwrap();
    let hinge = |k: usize| {
        let at = if k == 0 { DVec3::ZERO } else { -DVec3::Z };
        rod(Link::new(format!("rod {k}"), k.checked_sub(1), RevoluteJoint { axis: DVec3::Y })
            .at(at, DQuat::IDENTITY))
    };
    let mut arm = Mechanism::new(LinkTree::new((0..2).map(hinge).collect()).unwrap());
    arm.set_state(&[1.5, 0.0], &[0.0; 2]).unwrap();
    let part = || ShapePart {
        pose: Pose::at(-0.5 * DVec3::Z),
        ..Shape::cuboid(DVec3::new(0.05, 0.05, 0.5)).unwrap().into()
    };
    let arm = Multibody::new(arm).with_part("rod 0", part()).unwrap().with_part("rod 1", part()).unwrap();
    world.add_multibody(arm).unwrap();
    let mut simulator = Impulse::default();
    let (mut rested, mut left) = (0, 0);
    for _ in 0..200 {
        simulator.step(&mut world, 0.01).unwrap();
        let rests = simulator.resting().any(|id| id == resting);
        rested += usize::from(rests);
        left += usize::from(rested > 0 && !rests);
    }
    assert!(rested > 150 && left == 0, "at rest in {rested} of 200 steps, woken in {left}");
}
