//! Which bodies may touch: groups, rules, exclusions and the callback, as a simulator obeys them.

use glam::DVec3;
use rattleback_dynamics::filter::{Exclusion, Rejection};
use rattleback_dynamics::simulator::Impulse;
use rattleback_dynamics::world::{BodyId, Event, ShapeId};
use rattleback_dynamics::{Body, Simulator, World};
use rattleback_geometry::Shape;

/// A ball half a metre above a floor.
fn ball_and_floor() -> (World, BodyId, BodyId) {
    let mut world = World::default();
    let slab = Shape::cuboid(DVec3::new(2.0, 2.0, 0.5)).unwrap();
    let floor = world.add_body(Body::fixed().at(0.0, 0.0, -0.5).with_shape(slab)).unwrap();
    let ball = Body::dynamic().at(0.0, 0.0, 0.6).with_shape(Shape::sphere(0.1).unwrap());
    let ball = world.add_body(ball).unwrap();
    (world, floor, ball)
}

fn shape(world: &World, body: BodyId) -> ShapeId {
    world.body(body).unwrap().shapes()[0]
}

/// Steps for 0.4 s, more than √(2 · 0.5 m / g) = 0.32 s ⇒ whether the ball fell through, and why pairs were filtered.
fn fall(mut world: World, ball: BodyId) -> (bool, Vec<Rejection>) {
    let mut simulator = Impulse::default();
    let mut why = Vec::new();
    for _ in 0..40 {
        simulator.step(&mut world, 0.01).unwrap();
        why.extend(world.events().iter().filter_map(|event| match event {
            Event::Filtered { why, bodies, .. } if bodies.contains(&ball) => Some(*why),
            _ => None,
        }));
    }
    let free = 0.6 - 0.5 * 9.81 * 0.4 * 0.4;
    ((world.body(ball).unwrap().position().z - free).abs() < 1e-9, why)
}

#[test]
fn without_filters_the_floor_holds() {
    let (mut world, _, ball) = ball_and_floor();
    world.pair_filter_mut().reports = true;
    assert_eq!(fall(world, ball), (false, vec![]));
}

/// Excluded twice, once taken back: still excluded; the event names the reason, once, as the pair comes close.
#[test]
fn excluded_pairs_pass_through_each_other() {
    let (mut world, floor, ball) = ball_and_floor();
    let filter = world.pair_filter_mut();
    filter.reports = true;
    filter.exclude(floor, ball, Exclusion::Joint);
    filter.exclude(ball, floor, Exclusion::Joint);
    assert!(filter.include(ball, floor, Exclusion::Joint));
    assert!(!filter.include(ball, floor, Exclusion::User));
    let (through, why) = fall(world, ball);
    assert!(through);
    assert_eq!(why, [Rejection::Excluded(Exclusion::Joint)]);

    let (mut world, floor, ball) = ball_and_floor();
    world.pair_filter_mut().exclude(floor, ball, Exclusion::User);
    assert!(world.pair_filter_mut().include(ball, floor, Exclusion::User));
    assert_eq!(fall(world, ball), (false, vec![]));
}

/// The callback receives the decision of rules and exclusions and overrides it both ways; nothing is recorded unless requested.
#[test]
fn the_callback_has_the_last_word() {
    let (mut world, floor, ball) = ball_and_floor();
    world.filter_mut().rules.insert_body_pair(floor, ball);
    world.pair_filter_mut().exclude(floor, ball, Exclusion::User);
    world.pair_filter_mut().set_callback(|_, pair| !pair.allowed);
    let (a, b) = (shape(&world, floor), shape(&world, ball));
    assert!(world.can_collide(a, b).unwrap());
    assert!(world.pair_filter().allows(&world, floor, a, ball, b));
    assert!(!fall(world, ball).0);

    let (mut world, _, ball) = ball_and_floor();
    let heavy = move |world: &World, bodies: [BodyId; 2]| {
        bodies.iter().any(|id| world.body(*id).is_ok_and(|body| body.position().z > 0.0))
    };
    world.pair_filter_mut().set_callback(move |world, pair| pair.allowed && !heavy(world, pair.bodies));
    world.pair_filter_mut().reports = true;
    assert_eq!(fall(world, ball), (true, vec![Rejection::Callback]));
}

/// Rules come before exclusions in the account of why; a removed body takes its exclusions along.
#[test]
fn reasons_in_order_and_forgotten_with_the_body() {
    let (mut world, floor, ball) = ball_and_floor();
    world.filter_mut().rules.insert_body_pair(floor, ball);
    world.pair_filter_mut().exclude(floor, ball, Exclusion::Joint);
    let shapes = [shape(&world, floor), shape(&world, ball)];
    let why = |world: &World| world.pair_filter().evaluate(world, [floor, ball], shapes).unwrap();
    assert_eq!(why(&world), Some(Rejection::Rules));
    world.filter_mut().exceptions.insert_body_pair(floor, ball);
    assert_eq!(why(&world), Some(Rejection::Excluded(Exclusion::Joint)));
    assert_eq!(
        world.pair_filter().evaluate(&world, [ball, ball], [shapes[1], shapes[1]]).unwrap(),
        Some(Rejection::SameBody)
    );
    world.remove_body(ball).unwrap();
    assert_eq!(world.pair_filter().exclusion(floor, ball), None);
    assert!(!world.pair_filter().allows(&world, floor, shapes[0], ball, shapes[1]), "no such shape");
}
