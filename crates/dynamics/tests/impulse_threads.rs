//! Optimistic parallel events: the result is the same to the last bit for any number of threads.

use glam::{DQuat, DVec3};
use rattleback_dynamics::rigid::Motion;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::{Body, Material, Registry, Simulator, World};
use rattleback_geometry::Shape;

fn with(threads: i64) -> Impulse {
    Impulse::new(ImpulseSettings { threads, ..ImpulseSettings::default() }).unwrap()
}

/// Pseudo-random number in 0..1 from a counter.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 53) as f64
}

fn floor(world: &mut World) {
    let ground = world.add_material(Material { restitution: 0.4, ..Material::default() }).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(ground)).unwrap();
}

/// Heaps of six bodies each, far from each other, dropped from different heights.
fn heaps(count: u32) -> World {
    let (mut world, mut seed) = (World::default(), 7);
    let surface = Material { restitution: 0.4, rolling_friction: 1e-3, ..Material::default() };
    let surface = world.add_material(surface).unwrap();
    floor(&mut world);
    for heap in 0..count {
        let at = 3.0 * DVec3::new(f64::from(heap % 8), f64::from(heap / 8), 0.0);
        for k in 0..6 {
            let shape = if k % 2 == 0 {
                Shape::cuboid(DVec3::new(0.1, 0.12, 0.05)).unwrap()
            } else {
                Shape::sphere(0.08).unwrap()
            };
            let aside = DVec3::new(noise(&mut seed) - 0.5, noise(&mut seed) - 0.5, 0.0) * 0.1;
            let height = 0.25 + 0.4 * f64::from(k) + 0.1 * noise(&mut seed);
            let turn = DQuat::from_scaled_axis(DVec3::new(noise(&mut seed), noise(&mut seed), 0.3));
            let body = Body::dynamic().with_shape(shape).position(at + aside + height * DVec3::Z);
            world.add_body(body.orientation(turn).material(surface)).unwrap();
        }
    }
    world
}

/// Balls and blocks without gravity between elastic walls: partitions conflict all the time.
fn gas(count: u32) -> World {
    let (mut world, mut seed) = (World::default(), 3);
    world.set_gravity(DVec3::ZERO).unwrap();
    let hard = world
        .add_material(Material { restitution: 1.0, kinetic_friction: 0.2, ..Material::default() })
        .unwrap();
    let half = 1.5;
    for side in [DVec3::X, DVec3::Y, DVec3::Z] {
        for out in [side, -side] {
            let wall = Shape::half_space(out).unwrap();
            world.add_body(Body::fixed().with_shape(wall).position(-half * out).material(hard)).unwrap();
        }
    }
    for k in 0..count {
        let cell = DVec3::new(f64::from(k % 5), f64::from(k / 5 % 5), f64::from(k / 25)) - DVec3::splat(2.0);
        let shape = if k % 2 == 0 {
            Shape::sphere(0.05).unwrap()
        } else {
            Shape::cuboid(DVec3::new(0.05, 0.04, 0.03)).unwrap()
        };
        let mut random = || DVec3::new(noise(&mut seed), noise(&mut seed), noise(&mut seed)) - 0.5;
        let body = Body::dynamic().with_shape(shape).position(0.55 * cell).material(hard);
        world.add_body(body.velocity(3.0 * random()).angular_velocity(4.0 * random())).unwrap();
    }
    world
}

fn states(world: &World) -> Vec<Motion> {
    world.iter_bodies().map(|body| *body.motion()).collect()
}

/// Runs with several numbers of threads must agree at every step: states, events, counters, contacts, resting
/// bodies, saved state.
fn agree(make: impl Fn() -> World, steps: usize, dt: f64) {
    let mut runs: Vec<_> = [1, 2, 4].map(|threads| (make(), with(threads))).into();
    for step in 0..steps {
        for (world, simulator) in &mut runs {
            simulator.step(world, dt).unwrap();
        }
        let (world, simulator) = &runs[0];
        for (other, its) in &runs[1..] {
            assert_eq!(states(other), states(world), "step {step}");
            assert_eq!(other.events(), world.events(), "step {step}");
            assert_eq!(its.counters(), simulator.counters(), "step {step}");
            if step % 50 == 0 {
                assert_eq!(its.contacts(other), simulator.contacts(world), "step {step}");
                assert_eq!(its.sleeping_bodies(other), simulator.sleeping_bodies(world));
                assert_eq!(its.smallest_gap().to_bits(), simulator.smallest_gap().to_bits());
                assert!(its.save_state() == simulator.save_state(), "step {step}");
            }
        }
    }
    let (world, simulator) = &runs[0];
    assert!(simulator.counters().collisions > 100 && simulator.smallest_gap() > 0.0, "{}", world.time());
}

/// Impulse test 38: 240 bodies in 40 independent heaps.
#[test]
fn independent_heaps_are_equal_on_any_threads() {
    agree(|| heaps(40), 1000, 1.0 / 500.0);
}

/// Groups that merge and separate all the time.
#[test]
fn a_gas_is_equal_on_any_threads() {
    agree(|| gas(60), 1200, 1.0 / 120.0);
}

/// Two groups of balls thrown at each other: independent for a while, then one.
#[test]
fn merging_groups_are_equal_on_any_threads() {
    let make = || {
        let (mut world, mut seed) = (World::default(), 11);
        floor(&mut world);
        for k in 0..24 {
            let side = if k % 2 == 0 { -1.0 } else { 1.0 };
            let at = DVec3::new(side * (1.5 + 0.25 * f64::from(k / 2 % 3)), 0.25 * f64::from(k / 6), 0.11);
            let body = Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).position(at);
            world.add_body(body.velocity(DVec3::new(-side * (1.0 + noise(&mut seed)), 0.0, 0.0))).unwrap();
        }
        world
    };
    agree(make, 600, 1.0 / 100.0);
}

/// A run saved under one number of threads and continued under another is the same.
#[test]
fn restored_runs_are_equal_on_any_threads() {
    for (make, dt) in [(heaps as fn(u32) -> World, 1.0 / 60.0), (gas, 1.0 / 120.0)] {
        let (mut world, mut simulator) = (make(12), with(2));
        for _ in 0..40 {
            simulator.step(&mut world, dt).unwrap();
        }
        let (snapshot, memory) = (world.snapshot().unwrap(), simulator.save_state());
        let mut resumed: Vec<_> = [1, 2, 4]
            .map(|threads| {
                let mut simulator = with(threads);
                simulator.restore_state(&memory).unwrap();
                (World::restore(&snapshot, &Registry::default()).unwrap(), simulator)
            })
            .into();
        for step in 0..120 {
            simulator.step(&mut world, dt).unwrap();
            for (copy, its) in &mut resumed {
                its.step(copy, dt).unwrap();
                assert_eq!(states(copy), states(&world), "step {step}");
                assert_eq!(its.counters(), simulator.counters(), "step {step}");
            }
        }
    }
}

/// Bodies that overlap in several places at once: the same error for any number of threads, and the world
/// unchanged.
#[test]
fn errors_are_equal_on_any_threads() {
    let mut errors = Vec::new();
    for threads in [1, 2, 4] {
        let (mut world, mut simulator) = (heaps(12), with(threads));
        for _ in 0..30 {
            simulator.step(&mut world, 1.0 / 100.0).unwrap();
        }
        let before = states(&world);
        let wedge = |at: DVec3| Body::dynamic().with_shape(Shape::sphere(0.3).unwrap()).position(at);
        let victims: Vec<_> = world.iter_bodies().map(|body| (body.id(), body.position())).collect();
        let added: Vec<_> =
            [victims[40].1, victims[20].1, victims[60].1].map(|at| world.add_body(wedge(at)).unwrap()).into();
        errors.push(simulator.step(&mut world, 1.0 / 100.0).unwrap_err().to_string());
        for id in added {
            world.remove_body(id).unwrap();
        }
        assert_eq!(states(&world), before);
        simulator.step(&mut world, 1.0 / 100.0).unwrap();
        errors.push(format!("{:?}", states(&world)));
    }
    assert!(
        errors[0].contains("overlap") && errors[2..].chunks(2).all(|two| *two == errors[..2]),
        "{errors:?}"
    );
}

/// The callback receives every collision in the order of time, also if several threads are allowed.
#[test]
fn callbacks_arrive_in_order_of_time() {
    let (mut world, mut simulator) = (heaps(8), with(4));
    for _ in 0..20 {
        simulator.step(&mut world, 1.0 / 100.0).unwrap();
    }
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let list = std::sync::Arc::clone(&seen);
    simulator.on_collision(move |info| list.lock().unwrap().push(info.time));
    let before = simulator.counters().collisions;
    for _ in 0..40 {
        simulator.step(&mut world, 1.0 / 100.0).unwrap();
    }
    let times = seen.lock().unwrap();
    assert!(times.windows(2).all(|two| two[0] <= two[1]));
    assert_eq!(times.len() as u64, simulator.counters().collisions - before);
    assert!(times.len() > 50);
}
