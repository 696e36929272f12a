//! The real-time simulator against closed forms, and cases that must not fail.

use glam::DVec3;
use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{Body, BodyId, Material, Simulator, World};
use rattleback_geometry::Shape;

const DT: f64 = 1.0 / 60.0;

fn floor(world: &mut World) {
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
}

fn cube(world: &mut World, half: f64, at: DVec3) -> BodyId {
    world
        .add_body(Body::dynamic().position(at).with_shape(Shape::cuboid(DVec3::splat(half)).unwrap()))
        .unwrap()
}

fn run(simulator: &mut Realtime, world: &mut World, seconds: f64) {
    for _ in 0..(seconds / DT).round() as usize {
        simulator.step(world, DT).unwrap();
    }
}

#[test]
fn a_box_comes_to_rest_on_the_floor_and_sleeps() {
    let mut world = World::default();
    floor(&mut world);
    let id = cube(&mut world, 0.5, DVec3::new(0.0, 0.0, 1.0));
    let mut simulator = Realtime::default();
    run(&mut simulator, &mut world, 3.0);
    let body = world.body(id).unwrap();
    assert!((body.position() - DVec3::new(0.0, 0.0, 0.5)).length() < 1.5e-3, "{}", body.position());
    assert!(simulator.is_asleep(id));
}

#[test]
fn a_tower_of_ten_stands() {
    let mut world = World::default();
    floor(&mut world);
    let ids: Vec<_> = (0..10).map(|k| cube(&mut world, 0.5, DVec3::new(0.0, 0.0, 0.5 + k as f64))).collect();
    let mut simulator = Realtime::new(RealtimeSettings { sleep: false, ..Default::default() }).unwrap();
    run(&mut simulator, &mut world, 20.0);
    for (k, id) in ids.iter().enumerate() {
        let p = world.body(*id).unwrap().position();
        assert!((p - DVec3::new(0.0, 0.0, 0.5 + k as f64)).length() < 8e-3, "{k} {p}");
    }
}

/// A sliding block stops after v²/(2 μ g), in every direction.
#[test]
fn friction_stops_a_block_where_coulomb_says() {
    for heading in [0.0_f64, 0.3, 0.7, 1.2] {
        let mut world = World::default();
        let rough = world.add_material(Material::with_friction(0.5)).unwrap();
        world
            .add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(rough))
            .unwrap();
        let v = 3.0 * DVec3::new(heading.cos(), heading.sin(), 0.0);
        let shape = Shape::cuboid(DVec3::new(0.1, 0.1, 0.05)).unwrap();
        let id = world
            .add_body(Body::dynamic().at(0.0, 0.0, 0.05).velocity(v).with_shape(shape).material(rough))
            .unwrap();
        let mut simulator = Realtime::default();
        run(&mut simulator, &mut world, 2.0);
        let p = world.body(id).unwrap().position();
        let expected = 9.0 / (2.0 * 0.5 * 9.81);
        let along = p.dot(v / 3.0);
        println!("{heading} {along} {expected} {p}");
        assert!((along / expected - 1.0).abs() < 0.01, "{along} {expected}");
    }
}

/// The apex after each bounce is e² times the last, whatever the phase of the impact within the step.
#[test]
fn a_ball_bounces_to_e_squared() {
    for e in [0.5, 0.9, 1.0_f64] {
        for phase in [0.0, 0.003, 0.01] {
            let mut world = World::default();
            let material = world.add_material(Material::bouncy(e)).unwrap();
            world
                .add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(material))
                .unwrap();
            let ball = world
                .add_body(
                    Body::dynamic()
                        .at(0.0, 0.0, 1.1 + phase)
                        .with_shape(Shape::sphere(0.1).unwrap())
                        .material(material),
                )
                .unwrap();
            let mut simulator = Realtime::default();
            let (mut apexes, mut before) = (vec![], 0.0);
            for _ in 0..600 {
                simulator.step(&mut world, DT).unwrap();
                let body = world.body(ball).unwrap();
                let (z, v) = (body.position().z - 0.1, body.velocity().z);
                if before > 0.0 && v <= 0.0 {
                    apexes.push(z + v * v / (2.0 * 9.81));
                }
                before = v;
            }
            let mut expected = 1.0 + phase;
            for apex in apexes.iter().take(if e == 0.5 { 2 } else { 20 }) {
                expected *= e * e;
                assert!(
                    (apex / expected - 1.0).abs() < 1e-6,
                    "e {e} phase {phase}: {apex} {expected} {apexes:?}"
                );
            }
            assert!(!apexes.is_empty());
        }
    }
}

/// Newton's cradle of five touching spheres: the last leaves with the speed of the first, the others rest.
#[test]
fn newtons_cradle() {
    let mut world = World::weightless();
    let steel = world.add_material(Material { restitution: 1.0, ..Material::with_friction(0.0) }).unwrap();
    let ids: Vec<_> = (0..5)
        .map(|k| {
            let x = if k == 0 { -0.15 } else { 0.1 * k as f64 };
            let v = if k == 0 { DVec3::X } else { DVec3::ZERO };
            let ball = Body::dynamic().at(x, 0.0, 0.0).velocity(v).with_shape(Shape::sphere(0.05).unwrap());
            world.add_body(ball.material(steel)).unwrap()
        })
        .collect();
    let mut simulator = Realtime::default();
    run(&mut simulator, &mut world, 0.5);
    let speeds: Vec<_> = ids.iter().map(|id| world.body(*id).unwrap().velocity().x).collect();
    assert!((speeds[4] - 1.0).abs() < 1e-6 && speeds[..4].iter().all(|v| v.abs() < 1e-6), "{speeds:?}");
}

/// A free body conserves energy and momentum.
#[test]
fn a_free_body_conserves_its_energy() {
    let mut world = World::weightless();
    let shape = Shape::cuboid(DVec3::new(0.1, 0.2, 0.3)).unwrap();
    world.add_body(Body::dynamic().angular_velocity(DVec3::new(0.6, 6.0, 0.3)).with_shape(shape)).unwrap();
    let mut simulator = Realtime::default();
    let before = world.readout();
    run(&mut simulator, &mut world, 100.0);
    let after = world.readout();
    assert!((after.kinetic_energy / before.kinetic_energy - 1.0).abs() < 1e-9);
    assert!((after.angular_momentum - before.angular_momentum).length() < 1e-9);
}

/// Ten boxes, the topmost a thousand times as heavy.
#[test]
fn a_heavy_box_on_nine_light_ones() {
    let mut world = World::default();
    floor(&mut world);
    let ids: Vec<_> = (0..10)
        .map(|k| {
            let mass = if k == 9 { 1000.0 } else { 1.0 };
            let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
            world.add_body(Body::dynamic().at(0.0, 0.0, 0.5 + k as f64).with_shape(shape).mass(mass)).unwrap()
        })
        .collect();
    let mut simulator = Realtime::default();
    run(&mut simulator, &mut world, 10.0);
    for (k, id) in ids.iter().enumerate() {
        let p = world.body(*id).unwrap().position();
        println!("{k} {p}");
    }
    let top = world.body(ids[9]).unwrap().position();
    assert!((top - DVec3::new(0.0, 0.0, 9.5)).length() < 0.1, "{top}");
}

/// A pyramid of thirty rows, without sleeping, for a minute: after six seconds of settling, no box moves by
/// more than a millimetre, and the pyramid never moves out of its plane, in which all forces lie.
#[test]
fn a_pyramid_of_thirty_rows_stands() {
    let mut world = World::default();
    floor(&mut world);
    let mut ids = Vec::new();
    for row in 0..30 {
        for k in row..30 {
            ids.push(cube(
                &mut world,
                0.5,
                DVec3::new(k as f64 - 0.5 * row as f64 - 14.5, 0.0, 0.5 + row as f64),
            ));
        }
    }
    let mut simulator =
        Realtime::new(RealtimeSettings { sleep: false, ..RealtimeSettings::default() }).unwrap();
    let places =
        |world: &World| -> Vec<DVec3> { ids.iter().map(|id| world.body(*id).unwrap().position()).collect() };
    run(&mut simulator, &mut world, 6.0);
    let before = places(&world);
    for _ in 60..600 {
        run(&mut simulator, &mut world, 0.1);
        for (then, now) in before.iter().zip(places(&world)) {
            assert!((now - *then).length() < 1e-3, "from {then} to {now}");
            assert!(now.y.abs() < 5e-5, "{now}");
        }
    }
}

/// Small bullets at up to 1000 m/s against a thin wall, and spinning rods: none passes.
#[test]
fn nothing_tunnels() {
    let mut random = 12345_u64;
    let mut uniform = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut passed = 0;
    for launch in 0..60 {
        let mut world = World::weightless();
        let wall = Shape::cuboid(DVec3::new(0.0005, 5.0, 5.0)).unwrap();
        world.add_body(Body::fixed().with_shape(wall)).unwrap();
        let speed = 10.0_f64 * 100.0_f64.powf(uniform());
        let aim = DVec3::new(1.0, 0.3 * (uniform() - 0.5), 0.3 * (uniform() - 0.5)).normalize();
        let start = DVec3::new(-0.5 - 3.0 * uniform(), uniform() - 0.5, uniform() - 0.5);
        let spin = 500.0 * DVec3::new(uniform() - 0.5, uniform() - 0.5, uniform() - 0.5);
        let (shape, spin) = match launch % 3 {
            0 => (Shape::sphere(0.005).unwrap(), DVec3::ZERO),
            1 => (Shape::cuboid(DVec3::splat(0.005)).unwrap(), spin),
            _ => (Shape::cuboid(DVec3::new(0.2, 0.005, 0.005)).unwrap(), spin),
        };
        let id = world
            .add_body(
                Body::dynamic()
                    .position(start)
                    .velocity(speed * aim)
                    .angular_velocity(spin)
                    .with_shape(shape),
            )
            .unwrap();
        let mut simulator = Realtime::default();
        for _ in 0..30 {
            simulator.step(&mut world, DT).unwrap();
        }
        let end = world.body(id).unwrap().position();
        if end.x > 0.0 {
            passed += 1;
            println!("launch {launch} speed {speed} from {start} spin {spin} ended at {end}");
        }
    }
    assert_eq!(passed, 0);
}

/// Two bullets on the same line in opposite directions collide.
#[test]
fn bullets_hit_each_other() {
    for speed in [50.0, 300.0, 1000.0] {
        let mut world = World::weightless();
        let ball = || Shape::sphere(0.005).unwrap();
        let a = world
            .add_body(Body::dynamic().at(-7.3, 0.0, 0.0).velocity(DVec3::X * speed).with_shape(ball()))
            .unwrap();
        let b = world
            .add_body(Body::dynamic().at(5.1, 0.0, 0.0).velocity(-DVec3::X * speed).with_shape(ball()))
            .unwrap();
        let mut simulator = Realtime::default();
        run(&mut simulator, &mut world, 0.5);
        let gap = world.body(b).unwrap().position().x - world.body(a).unwrap().position().x;
        assert!(gap > 0.009, "{speed}: {gap}");
    }
}

/// The result is the same, bit for bit, for any number of threads.
#[test]
fn the_result_does_not_depend_on_threads() {
    let mut ends = Vec::new();
    for threads in [1, 2, 4] {
        let mut world = World::default();
        floor(&mut world);
        for k in 0..60 {
            let at = DVec3::new((k % 4) as f64 * 0.9, (k / 4 % 4) as f64 * 0.9, 1.0 + (k / 16) as f64 * 1.1);
            cube(&mut world, 0.5, at);
        }
        let mut simulator = Realtime::new(RealtimeSettings { threads, ..Default::default() }).unwrap();
        run(&mut simulator, &mut world, 3.0);
        ends.push(world.bodies().motion(rattleback_dynamics::Status::Dynamic).to_vec());
    }
    assert!(ends[0] == ends[1] && ends[0] == ends[2]);
}

/// Bodies added, removed and changed between steps, bodies spawned inside each other, extreme velocities.
#[test]
fn extreme_bodies_do_not_affect_others() {
    let mut world = World::default();
    floor(&mut world);
    let ids: Vec<_> =
        (0..40).map(|k| cube(&mut world, 0.5, DVec3::new(0.0, 0.0, 0.6 + 0.01 * k as f64))).collect();
    let runaway = cube(&mut world, 0.5, DVec3::new(50.0, 0.0, 5.0));
    world.body_mut(runaway).unwrap().set_velocity(DVec3::new(1e6, 0.0, -1e6)).unwrap();
    let mut simulator = Realtime::default();
    for step in 0..240 {
        simulator.step(&mut world, DT).unwrap();
        if step % 20 == 10 {
            world.remove_body(ids[step / 20]).unwrap();
            cube(&mut world, 0.3, DVec3::new(0.1, 0.1, 4.0));
        }
    }
    for body in world.iter_bodies() {
        assert!(body.position().is_finite() && body.velocity().is_finite());
        assert!(
            body.status() != rattleback_dynamics::Status::Dynamic || body.position().z > 0.2,
            "{}",
            body.position()
        );
    }
}

/// A conveyor belt carries a box at its own speed.
#[test]
fn a_belt_carries() {
    use rattleback_dynamics::Path;
    let mut world = World::default();
    let belt = Path::Surface { velocity: DVec3::X, angular_velocity: DVec3::ZERO };
    let shape = Shape::cuboid(DVec3::new(20.0, 1.0, 0.5)).unwrap();
    world.add_body(Body::kinematic(belt).at(0.0, 0.0, -0.5).with_shape(shape)).unwrap();
    let id = cube(&mut world, 0.25, DVec3::new(-5.0, 0.0, 0.25));
    let mut simulator = Realtime::default();
    run(&mut simulator, &mut world, 3.0);
    let v = world.body(id).unwrap().velocity();
    assert!((v - DVec3::X).length() < 1e-3, "{v}");
}

/// A sleeping body wakes when its support is removed or something hits it.
#[test]
fn sleeping_bodies_wake() {
    let mut world = World::default();
    floor(&mut world);
    let low = cube(&mut world, 0.5, DVec3::new(0.0, 0.0, 0.5));
    let high = cube(&mut world, 0.5, DVec3::new(0.0, 0.0, 1.5));
    let mut simulator = Realtime::default();
    run(&mut simulator, &mut world, 2.0);
    assert!(simulator.is_asleep(low) && simulator.is_asleep(high));
    world.remove_body(low).unwrap();
    run(&mut simulator, &mut world, 2.0);
    assert!((world.body(high).unwrap().position().z - 0.5).abs() < 2e-3);
    let shot =
        Body::dynamic().at(-3.0, 0.0, 0.5).velocity(DVec3::X * 10.0).with_shape(Shape::sphere(0.2).unwrap());
    world.add_body(shot).unwrap();
    run(&mut simulator, &mut world, 1.0);
    // 33.5 kg at 10 m/s give 1000 kg a third of a metre per second, which friction stops within a centimetre.
    let x = world.body(high).unwrap().position().x;
    assert!((0.004..0.02).contains(&x), "{x}");
}

/// Removing a static body moves another one to its index; contacts, and queries between steps, follow.
#[test]
fn contacts_follow_removed_static_bodies() {
    let mut world = World::default();
    let slab = |world: &mut World, x: f64| {
        let shape = Shape::cuboid(DVec3::new(1.0, 1.0, 0.5)).unwrap();
        world.add_body(Body::fixed().at(x, 0.0, -0.5).with_shape(shape)).unwrap()
    };
    let slabs = [slab(&mut world, 0.0), slab(&mut world, 5.0), slab(&mut world, 10.0)];
    let boxes = [0.0, 5.0, 10.0].map(|x| cube(&mut world, 0.5, DVec3::new(x, 0.0, 0.5)));
    let mut simulator = Realtime::default();
    run(&mut simulator, &mut world, 0.5);
    world.remove_body(slabs[0]).unwrap();
    assert!(simulator.contact_points(&world).count() > 0);
    run(&mut simulator, &mut world, 0.5);
    let z = |world: &World, k: usize| world.body(boxes[k]).unwrap().position().z;
    assert!(z(&world, 0) < 0.0 && (z(&world, 1) - 0.5).abs() < 1e-2 && (z(&world, 2) - 0.5).abs() < 1e-2);
    world.remove_body(boxes[1]).unwrap();
    assert!(simulator.contact_points(&world).all(|point| !point.bodies.contains(&boxes[1])));
    // A different world.
    let mut other = World::default();
    floor(&mut other);
    let id = cube(&mut other, 0.5, DVec3::new(0.0, 0.0, 0.6));
    run(&mut simulator, &mut other, 1.0);
    assert!((other.body(id).unwrap().position().z - 0.5).abs() < 1e-2);
}

/// Thousands of bodies spawned in one place: most are quarantined and reported, memory and time stay bounded,
/// and a tower elsewhere is not affected. `cargo run --release -p rattleback-dynamics --example
/// overlap_limit` does the same with a hundred thousand.
#[test]
fn overlapping_bodies_beyond_the_limit_are_quarantined() {
    let mut world = World::default();
    floor(&mut world);
    let tower: Vec<_> =
        (0..3).map(|k| cube(&mut world, 0.5, DVec3::new(20.0, 0.0, 0.5 + f64::from(k)))).collect();
    let overlapping: Vec<_> = (0..3000)
        .map(|k| {
            cube(&mut world, 0.5, DVec3::new(1e-3 * f64::from(k % 10), 1e-3 * f64::from(k / 10 % 10), 2.0))
        })
        .collect();
    let mut simulator = Realtime::default();
    simulator.step(&mut world, DT).unwrap();
    let reported = world
        .events()
        .iter()
        .filter(|event| matches!(event, rattleback_dynamics::Event::Quarantined { .. }))
        .count();
    assert!(simulator.counters().contacts < 40_000, "{}", simulator.counters().contacts);
    assert!((2000..3000).contains(&reported), "{reported}");
    let remaining = |world: &World, status| {
        overlapping.iter().filter(|id| world.body(**id).unwrap().status() == status).count()
    };
    assert_eq!(remaining(&world, rattleback_dynamics::Status::Disabled), reported);
    run(&mut simulator, &mut world, 2.0);
    for (k, id) in tower.iter().enumerate() {
        let p = world.body(*id).unwrap().position();
        assert!((p - DVec3::new(20.0, 0.0, 0.5 + k as f64)).length() < 0.01, "{p}");
    }
    assert!(overlapping.iter().all(|id| world.body(*id).unwrap().position().is_finite()));
    // Bodies side by side are all accepted, however many are added at once.
    let mut plain = World::default();
    floor(&mut plain);
    for k in 0..1000 {
        cube(
            &mut plain,
            0.1,
            0.2 * DVec3::new(f64::from(k % 10), f64::from(k / 10 % 10), 0.5 + f64::from(k / 100)),
        );
    }
    let mut simulator = Realtime::default();
    simulator.step(&mut plain, DT).unwrap();
    assert_eq!(plain.bodies().count(rattleback_dynamics::Status::Dynamic), 1000);
}

/// A filter callback has read access only; bodies that it selects are removed between two steps, also in the
/// middle of a pile.
#[test]
fn bodies_selected_by_a_filter_callback_are_removed_between_steps() {
    use std::sync::{Arc, Mutex};
    let mut world = World::default();
    floor(&mut world);
    let selected: Arc<Mutex<Vec<BodyId>>> = Arc::default();
    let list = Arc::clone(&selected);
    world.pair_filter_mut().set_callback(move |world, pair| {
        let is_selected = |id: &&BodyId| world.body(**id).is_ok_and(|body| body.name() == Some("selected"));
        list.lock().unwrap().extend(pair.bodies.iter().filter(is_selected));
        pair.allowed
    });
    for k in 0..60 {
        let shape = Shape::cuboid(DVec3::splat(0.25)).unwrap();
        let body =
            Body::dynamic().at(0.1 * f64::from(k % 3), 0.0, 0.3 + 0.4 * f64::from(k)).with_shape(shape);
        world.add_body(if k % 4 == 0 { body.named("selected") } else { body }).unwrap();
    }
    let mut simulator = Realtime::default();
    for _ in 0..600 {
        simulator.step(&mut world, DT).unwrap();
        for id in std::mem::take(&mut *selected.lock().unwrap()) {
            // It may have been listed twice.
            let _ = world.remove_body(id);
        }
    }
    assert_eq!(world.iter_bodies().count(), 1 + 45);
    assert!(world.iter_bodies().all(|body| body.position().z > -0.01 && body.position().is_finite()));
}
