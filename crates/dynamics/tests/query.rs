//! Questions to a world, against asking every shape.

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use rattleback_dynamics::query::{Hit, QueryError, QueryFilter, QueryPipeline};
use rattleback_dynamics::world::Group;
use rattleback_dynamics::{Body, BodyId, CollisionGroups, FreeMotion, ShapePart, Simulator, World};
use rattleback_geometry::contact::intersects;
use rattleback_geometry::primitive::{FromInside, Ray};
use rattleback_geometry::space::SpaceKind;
use rattleback_geometry::swept::{Advancement, Motion, cast_shapes};
use rattleback_geometry::{Pose, Shape};

fn shape(kind: u8) -> Shape {
    match kind % 6 {
        0 => Shape::sphere(0.7),
        1 => Shape::cuboid(DVec3::new(0.5, 0.3, 0.8)),
        2 => Shape::cylinder(0.4, 1.2),
        3 => Shape::capsule(0.3, 1.0),
        4 => Shape::ellipsoid(DVec3::new(0.8, 0.5, 0.3)),
        _ => Shape::compound(vec![
            (Pose::at(0.6 * DVec3::X), Shape::sphere(0.3).unwrap()),
            (Pose::at(-0.6 * DVec3::X), Shape::cuboid(DVec3::splat(0.3)).unwrap()),
        ]),
    }
    .unwrap()
}

type Placed = (u8, [f64; 3], [f64; 3]);

fn world(bodies: &[Placed]) -> World {
    let mut world = World::weightless();
    for (k, (kind, place, turn)) in bodies.iter().enumerate() {
        let body = if k % 3 == 0 { Body::fixed() } else { Body::dynamic() };
        let body = body
            .with_shape(shape(*kind))
            .position(DVec3::from_array(*place))
            .orientation(DQuat::from_scaled_axis(DVec3::from_array(*turn)))
            .velocity(DVec3::new(1.0, 0.5, -0.2))
            .groups(CollisionGroups::of(&[Group::new(k as u8 % 4).unwrap()]));
        world.add_body(body).unwrap();
    }
    world
}

fn placed() -> impl Strategy<Value = Vec<Placed>> {
    let vector = |size: f64| prop::array::uniform3(-size..size);
    prop::collection::vec((0..6u8, vector(5.0), vector(3.0)), 1..25)
}

fn pose(world: &World, body: BodyId, local: &Pose) -> Pose {
    world.body(body).unwrap().pose() * *local
}

/// Every shape tested one by one.
fn rays_by_hand(world: &World, ray: &Ray, limit: f64) -> Vec<f64> {
    let mut hits: Vec<f64> = world
        .iter_shapes()
        .filter_map(|(_, attached)| {
            let pose = pose(world, attached.body, &attached.pose);
            attached.shape.cast_ray(&ray.in_frame(&pose), limit, FromInside::Origin).map(|hit| hit.t)
        })
        .collect();
    hits.sort_by(f64::total_cmp);
    hits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Rays: first, all and any agree with asking every shape, in every space, before and after steps.
    #[test]
    fn rays_agree_with_asking_everybody(
        bodies in placed(), from in prop::array::uniform3(-8.0..8.0f64), to in prop::array::uniform3(-8.0..8.0f64),
        kind in 0..9usize,
    ) {
        let mut world = world(&bodies);
        let (from, to) = (DVec3::from_array(from), DVec3::from_array(to));
        prop_assume!((to - from).length() > 0.1);
        let ray = Ray::aimed(from, to).unwrap();
        let mut index = QueryPipeline::new(SpaceKind::ALL[kind]);
        let mut simulator = FreeMotion::default();
        for _ in 0..3 {
            index.update(&world).unwrap();
            let expected = rays_by_hand(&world, &ray, 20.0);
            let filter = QueryFilter::default();
            let first = index.cast_ray(&world, &ray, 20.0, &filter).unwrap();
            prop_assert_eq!(first.map(|hit| hit.distance), expected.first().copied());
            let mut all = Vec::new();
            index.cast_ray_all(&world, &ray, 20.0, &filter, &mut all).unwrap();
            prop_assert_eq!(all.iter().map(|hit| hit.distance).collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(index.is_blocked(&world, &ray, 20.0, &filter).unwrap(), !expected.is_empty());
            simulator.step(&mut world, 0.5).unwrap();
            prop_assert_eq!(index.cast_ray(&world, &ray, 20.0, &filter), Err(QueryError::Outdated));
        }
    }

    /// Nearest points and overlaps agree with asking every shape.
    #[test]
    fn nearest_and_overlapping_agree_with_asking_everybody(
        bodies in placed(), point in prop::array::uniform3(-6.0..6.0f64), kind in 0..6u8,
    ) {
        let world = world(&bodies);
        let index = QueryPipeline::of(&world).unwrap();
        let point = DVec3::from_array(point);
        let filter = QueryFilter::default();
        let near = index.closest_point(&world, point, 3.0, &filter).unwrap();
        let by_hand = world
            .iter_shapes()
            .filter_map(|(_, a)| {
                let pose = pose(&world, a.body, &a.pose);
                a.shape.closest_point(pose.inverse_point(point)).map(|near| near.distance)
            })
            .filter(|distance| *distance <= 3.0)
            .fold(f64::INFINITY, f64::min);
        prop_assert_eq!(near.map_or(f64::INFINITY, |hit| hit.distance), by_hand);

        let (probe, place) = (shape(kind), Pose::at(point));
        let mut found = Vec::new();
        index.overlapping(&world, &probe, &place, &filter, &mut found).unwrap();
        let expected: Vec<_> = world
            .iter_shapes()
            .filter(|(_, a)| {
                let pose = pose(&world, a.body, &a.pose);
                intersects(&probe, &a.shape, &place.relative(&pose)).unwrap()
            })
            .map(|(id, a)| (a.body, id))
            .collect();
        prop_assert_eq!(found, expected);
    }

    /// Casts agree with casting at every shape.
    #[test]
    fn casts_agree_with_asking_everybody(
        bodies in placed(), from in prop::array::uniform3(-8.0..8.0f64), way in prop::array::uniform3(-12.0..12.0f64),
        turn in prop::array::uniform3(-2.0..2.0f64), kind in 0..6u8,
    ) {
        let world = world(&bodies);
        let index = QueryPipeline::of(&world).unwrap();
        let [from, way, turn] = [from, way, turn].map(DVec3::from_array);
        let (probe, motion) = (shape(kind), Motion::new(Pose::at(from), DVec3::ZERO, way, turn).unwrap());
        let cast = index.cast_shape(&world, &probe, &motion, &QueryFilter::default()).unwrap();
        let by_hand = world
            .iter_shapes()
            .filter_map(|(_, a)| {
                let still = Motion::resting(pose(&world, a.body, &a.pose)).unwrap();
                cast_shapes(&probe, &motion, &a.shape, &still, &Advancement::default()).unwrap()
            })
            .map(|met| met.contact.time)
            .fold(f64::INFINITY, f64::min);
        prop_assert_eq!(cast.map_or(f64::INFINITY, |hit| hit.time), by_hand);
    }
}

fn row() -> (World, Vec<BodyId>) {
    let mut world = World::weightless();
    let ids = (0..4)
        .map(|k| {
            let group = CollisionGroups::of(&[Group::new(k).unwrap()]);
            let part = ShapePart { sensor: k == 0, ..ShapePart::from(Shape::sphere(0.5).unwrap()) };
            let body = Body::fixed().with_part(part).at(2.0 * f64::from(k + 1), 0.0, 0.0).groups(group);
            world.add_body(body).unwrap()
        })
        .collect();
    (world, ids)
}

/// Sensors, groups, exclusion and the last word each keep shapes out.
#[test]
fn filters_keep_shapes_out() {
    let (world, ids) = row();
    let index = QueryPipeline::of(&world).unwrap();
    let ray = Ray::new(DVec3::ZERO, DVec3::X).unwrap();
    let first = |filter: &QueryFilter<'_>| -> Option<BodyId> {
        index.cast_ray(&world, &ray, 100.0, filter).unwrap().map(|hit: Hit| hit.body)
    };
    let everything = QueryFilter::default();
    assert_eq!(first(&everything), Some(ids[1]));
    assert_eq!(first(&QueryFilter { sensors: true, ..everything }), Some(ids[0]));
    assert_eq!(first(&QueryFilter { exclude: &ids[1..2], ..everything }), Some(ids[2]));
    let only_last = CollisionGroups { member_of: 1, touches: 1 << 3 };
    assert_eq!(first(&QueryFilter { groups: Some(only_last), ..everything }), Some(ids[3]));
    let picky = |body: BodyId, _| body == ids[2];
    assert_eq!(first(&QueryFilter { accept: Some(&picky), ..everything }), Some(ids[2]));
}

/// Any number of threads gives the same answers in the same order.
#[test]
fn threads_do_not_show() {
    let bodies: Vec<Placed> = (0..200)
        .map(|k| {
            let k = f64::from(k);
            (
                (k as u8) % 6,
                [(k * 1.7).sin() * 9.0, (k * 2.3).cos() * 9.0, (k * 0.9).sin() * 9.0],
                [k * 0.1, 0.2, 0.3],
            )
        })
        .collect();
    let world = world(&bodies);
    let index = QueryPipeline::of(&world).unwrap();
    let rays: Vec<Ray> = (0..1000)
        .map(|k| {
            let k = f64::from(k);
            Ray::new(DVec3::new(-12.0, (k * 0.37).sin() * 8.0, (k * 0.73).cos() * 8.0), DVec3::X).unwrap()
        })
        .collect();
    let answers = [1, 2, 7].map(|threads| {
        let mut hits = Vec::new();
        index.cast_rays(&world, &rays, 100.0, &QueryFilter::default(), threads, &mut hits).unwrap();
        hits
    });
    assert!(answers[0].iter().flatten().count() > 100);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

/// Bodies come and go; the index follows.
#[test]
fn the_index_follows_the_world() {
    let (mut world, ids) = row();
    let mut index = QueryPipeline::of(&world).unwrap();
    let ray = Ray::new(DVec3::ZERO, DVec3::X).unwrap();
    world.remove_body(ids[1]).unwrap();
    assert_eq!(index.cast_ray(&world, &ray, 100.0, &QueryFilter::default()), Err(QueryError::Outdated));
    index.update(&world).unwrap();
    assert_eq!(index.cast_ray(&world, &ray, 100.0, &QueryFilter::default()).unwrap().unwrap().body, ids[2]);
    let new = world
        .add_body(Body::fixed().with_shape(Shape::half_space(-DVec3::X).unwrap()).at(1.0, 0.0, 0.0))
        .unwrap();
    index.update(&world).unwrap();
    assert_eq!(index.cast_ray(&world, &ray, 100.0, &QueryFilter::default()).unwrap().unwrap().body, new);
    assert!(index.cast_ray(&world, &ray, f64::NAN, &QueryFilter::default()).is_err());
}
