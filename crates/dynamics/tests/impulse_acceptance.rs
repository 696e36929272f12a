//! Acceptance tests of the impulse method that need no scene: free flight, collision detection, load sharing,
//! threads.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::world::ShapePart;
use rattleback_dynamics::{Body, BodyId, Material, Simulator, World};
use rattleback_geometry::contact::distance;
use rattleback_geometry::{MassProperties, Pose, Shape};
use std::sync::{Arc, Mutex};

const G: f64 = 9.81;

fn spinning(moments: DVec3, omega: DVec3) -> (World, BodyId) {
    let mut world = World::weightless();
    let mass = MassProperties::new(1.0, DVec3::ZERO, DMat3::from_diagonal(moments)).unwrap();
    let id = world.add_body(Body::dynamic().mass_properties(mass).angular_velocity(omega)).unwrap();
    (world, id)
}

/// Impulse test 1, N12: I = (1, 2, 3), ω = (1, 1, 1), after 10 s; L and E do not drift, q stays a unit
/// quaternion.
#[test]
fn free_flight_ends_in_the_reference_state() {
    let (mut world, id) = spinning(DVec3::new(1.0, 2.0, 3.0), DVec3::ONE);
    let before = world.readout();
    let mut simulator = Impulse::default();
    for _ in 0..100 {
        simulator.step(&mut world, 0.1).unwrap();
    }
    let motion = *world.body(id).unwrap().motion();
    let (q, omega) = (motion.q, motion.q.conjugate() * motion.omega);
    let expected =
        DQuat::from_xyzw(-0.314335145144606, 0.0494296312792998, 0.827527548484414, 0.462545440554643);
    let expected_omega = DVec3::new(-0.603470423092518, -1.27899313854787, 0.887726788215733);
    let off = (q - expected).length().min((q + expected).length());
    assert!(off < 1e-8 && (omega - expected_omega).length() < 1e-8, "{q} {omega}");
    let after = world.readout();
    assert!((after.kinetic_energy / before.kinetic_energy - 1.0).abs() < 1e-9);
    assert!(
        (after.angular_momentum - before.angular_momentum).length() < 1e-9 * before.angular_momentum.length()
    );
    assert!((q.length() - 1.0).abs() < 1e-14);
}

/// Impulse test 2: I = (1, 1, 2), ω = (0.3, 0, 2): in its own frame ω goes round at 2 rad/s; the phase after 100 s.
#[test]
fn a_symmetric_top_keeps_its_phase() {
    let (mut world, id) = spinning(DVec3::new(1.0, 1.0, 2.0), DVec3::new(0.3, 0.0, 2.0));
    let mut simulator = Impulse::default();
    for _ in 0..1000 {
        simulator.step(&mut world, 0.1).unwrap();
    }
    let motion = *world.body(id).unwrap().motion();
    let omega = motion.q.conjugate() * motion.omega;
    let off =
        (omega.y.atan2(omega.x) - 200.0 + 100.0 * std::f64::consts::TAU).rem_euclid(std::f64::consts::TAU);
    assert!(off.min(std::f64::consts::TAU - off) < 1e-7, "{off}");
}

/// Impulse test 3: R' = ω̃ R by central differences, R orthogonal, and angle and axis come back from q, also near 0, π and 2π.
#[test]
fn attitude_rate_equals_angular_velocity() {
    let (mut world, id) = spinning(DVec3::new(1.0, 2.0, 3.0), DVec3::new(1.2, -0.7, 0.9));
    let mut simulator = Impulse::default();
    simulator.step(&mut world, 0.37).unwrap();
    let h = 1e-5;
    let mut at = Vec::new();
    for _ in 0..3 {
        let motion = *world.body(id).unwrap().motion();
        at.push((DMat3::from_quat(motion.q), motion.omega));
        simulator.step(&mut world, h).unwrap();
    }
    let (r, omega) = at[1];
    let rate = (at[2].0 - at[0].0) * (0.5 / h);
    let skew = |w: DVec3| DMat3::from_cols(w.cross(DVec3::X), w.cross(DVec3::Y), w.cross(DVec3::Z));
    let size = |m: DMat3| m.to_cols_array().iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    assert!(size(rate - skew(omega) * r) < 1e-8);
    assert!(size(rate - r * skew(r.transpose() * omega)) < 1e-8);
    assert!(size(r * r.transpose() - DMat3::IDENTITY) < 1e-14);
    let axis = DVec3::new(0.36, -0.48, 0.8);
    for angle in [0.0, 1e-9, 1.0, std::f64::consts::PI, std::f64::consts::TAU - 1e-9] {
        let q = DQuat::from_axis_angle(axis, angle);
        let (sine, cosine) = angle.sin_cos();
        let outer = DMat3::from_cols(axis * axis.x, axis * axis.y, axis * axis.z);
        let expected = cosine * DMat3::IDENTITY + sine * skew(axis) + (1.0 - cosine) * outer;
        assert!(size(DMat3::from_quat(q) - expected) < 1e-14, "{angle}");
        let back = 2.0 * q.xyz().length().atan2(q.w);
        assert!((back - angle).abs() < 1e-14, "{angle} {back}");
        assert!((q.xyz() - axis * (0.5 * angle).sin()).length() < 1e-15);
    }
}

/// Impulse test 4: a parabola to rounding, whatever the direction of gravity and the step.
#[test]
fn flight_is_a_parabola() {
    let gravity = DVec3::new(1.0, -2.0, 3.0);
    for dt in [1e-3, 0.017, 0.5] {
        let mut world = World::default();
        world.set_gravity(gravity).unwrap();
        let (x, v) = (DVec3::new(5.0, 6.0, 7.0), DVec3::new(-1.0, 4.0, 2.0));
        let body = Body::dynamic().with_shape(Shape::sphere(0.1).unwrap()).position(x).velocity(v);
        let id = world.add_body(body).unwrap();
        let mut simulator = Impulse::default();
        while world.time() < 2.0 {
            simulator.step(&mut world, dt).unwrap();
        }
        let t = world.time();
        let expected = x + t * (v + 0.5 * t * gravity);
        let off = (world.body(id).unwrap().position() - expected).length();
        assert!(off < 1e-13 * expected.length() * (2.0 / dt).max(10.0), "{dt}: {off:e}");
    }
}

/// Pseudo-random number in −1..1 from a counter.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Impulse test 10: spinning boxes thrown at each other. At every collision the gap, measured independently,
/// is in (0, ε]; and bodies never overlap at 500 samples a second. 300 pairs, not 10 000: the scenes use the
/// same code.
#[test]
fn spinning_boxes_collide_before_they_overlap() {
    let mut seed = 7;
    let mut hits = 0;
    for _ in 0..300 {
        let mut vector = || DVec3::new(noise(&mut seed), noise(&mut seed), noise(&mut seed));
        let halves = [vector(), vector()].map(|v| 0.05 + 0.15 * v.abs());
        let shapes = halves.map(|half| Shape::cuboid(half).unwrap());
        let mut world = World::weightless();
        let bouncy =
            world.add_material(Material { restitution: 0.8, ..Material::with_friction(0.3) }).unwrap();
        for (k, shape) in shapes.iter().enumerate() {
            let side = if k == 0 { -1.0 } else { 1.0 };
            let body = Body::dynamic()
                .with_shape(shape.clone())
                .material(bouncy)
                .position(DVec3::new(0.6 * side, 0.0, 0.0) + 0.1 * vector())
                .orientation(DQuat::from_scaled_axis(3.0 * vector()))
                .velocity(-2.0 * side * DVec3::X + 0.5 * vector())
                .angular_velocity(20.0 * vector());
            world.add_body(body).unwrap();
        }
        let epsilon = 1e-4;
        let mut simulator =
            Impulse::new(ImpulseSettings { collision_epsilon: epsilon, ..ImpulseSettings::default() })
                .unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (record, solids) = (Arc::clone(&seen), shapes.clone());
        simulator.on_collision(move |info| {
            let [a, b] = [info.poses[0].1, info.poses[1].1];
            let gap = distance(&solids[0], &solids[1], &(a.inverse() * b)).unwrap().distance;
            record.lock().unwrap().push(gap);
        });
        for _ in 0..250 {
            simulator.step(&mut world, 2e-3).unwrap();
            let poses: Vec<Pose> = world.iter_bodies().map(|body| body.pose()).collect();
            let gap = distance(&shapes[0], &shapes[1], &(poses[0].inverse() * poses[1])).unwrap().distance;
            assert!(gap > 0.0, "overlap of {gap} at {}", world.time());
        }
        let seen = seen.lock().unwrap();
        hits += u32::from(!seen.is_empty());
        assert!(seen.iter().all(|gap| *gap > 0.0 && *gap <= epsilon), "{seen:?}");
    }
    assert!(hits > 150, "{hits}");
}

/// Impulse test 20: a body that hops in place for thousands of collisions does not create its pairs again and
/// again.
#[test]
fn hopping_does_not_make_pairs() {
    let mut world = World::default();
    let plain = world.add_material(Material { restitution: 0.2, ..Material::with_friction(0.5) }).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(plain)).unwrap();
    for k in 0..4 {
        let block = Body::dynamic().with_shape(Shape::cuboid(DVec3::splat(0.05)).unwrap()).material(plain);
        world.add_body(block.at(0.102 * f64::from(k), 0.0, 0.0503)).unwrap();
    }
    let settings = ImpulseSettings { collision_epsilon: 1e-3, rest: false, ..ImpulseSettings::default() };
    let mut simulator = Impulse::new(settings).unwrap();
    for _ in 0..500 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    let counters = simulator.counters();
    assert!(counters.collisions > 1000 && counters.pairs_made < 40, "{counters:?}");
}

/// Impulse test 32: a table on four legs, without rest: each leg carries a quarter of the weight within 8 %, over ten seconds.
#[test]
fn four_legs_share_the_weight() {
    let mut world = World::default();
    let wood = world.add_material(Material { restitution: 0.0, ..Material::with_friction(0.5) }).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(wood)).unwrap();
    let mut table = Body::dynamic().material(wood).at(0.0, 0.0, 0.3005).mass(10.0);
    table = table.with_shape(Shape::cuboid(DVec3::new(0.5, 0.3, 0.02)).unwrap());
    for (x, y) in [(-0.45, -0.25), (0.45, -0.25), (-0.45, 0.25), (0.45, 0.25)] {
        let leg = Shape::cuboid(DVec3::new(0.02, 0.02, 0.14)).unwrap();
        let pose = Pose::at(DVec3::new(x, y, -0.16));
        table = table.with_part(ShapePart { pose, ..leg.into() });
    }
    let id = world.add_body(table).unwrap();
    let settings = ImpulseSettings { collision_epsilon: 1e-3, rest: false, ..ImpulseSettings::default() };
    let mut simulator = Impulse::new(settings).unwrap();
    for _ in 0..200 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    let settled = simulator.counters().collisions;
    let mut shares = [0.0; 4];
    let mut samples = 0.0;
    for _ in 0..1000 {
        simulator.step(&mut world, 0.01).unwrap();
        let place = world.body(id).unwrap().pose();
        for contact in simulator.contact_forces() {
            let foot = place.inverse_point(contact.point);
            let leg = usize::from(foot.x > 0.0) + 2 * usize::from(foot.y > 0.0);
            shares[leg] += contact.force.z.abs();
        }
        samples += 1.0;
    }
    let weight = 10.0 * G;
    let shares = shares.map(|share| share / samples / weight);
    println!("legs: {shares:.3?}, {} collisions", simulator.counters().collisions - settled);
    assert!(shares.iter().all(|share| (share / 0.25 - 1.0).abs() < 0.08), "{shares:?}");
}

fn four_blocks(world: &mut World) -> Vec<BodyId> {
    let wood = world.add_material(Material { restitution: 0.1, ..Material::with_friction(0.5) }).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap()).material(wood)).unwrap();
    (0..4)
        .map(|k| {
            let body = Body::dynamic().with_shape(Shape::cuboid(DVec3::splat(0.05)).unwrap()).material(wood);
            world
                .add_body(body.at(
                    0.002 * f64::from(k % 2),
                    0.001 * f64::from(k),
                    0.0505 + 0.101 * f64::from(k),
                ))
                .unwrap()
        })
        .collect()
}

/// Impulse test 37: four blocks on collisions alone: the run ends, nothing overlaps, nothing is lost; with
/// rest they are still.
#[test]
fn a_stack_of_four_blocks_terminates() {
    for rest in [false, true] {
        let mut world = World::default();
        let ids = four_blocks(&mut world);
        let mut simulator = Impulse::new(ImpulseSettings { rest, ..ImpulseSettings::default() }).unwrap();
        for _ in 0..60 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        for (k, id) in ids.iter().enumerate() {
            let height = world.body(*id).unwrap().position().z;
            assert!((height - 0.05 - 0.1 * k as f64).abs() < 2e-3, "{k}: {height}");
        }
        assert!(simulator.smallest_gap() > 0.0 && simulator.counters().overlaps == 0);
        assert_eq!(simulator.resting().count(), if rest { 4 } else { 0 });
    }
}

/// Impulse test 38: a run is the same to the last bit however many simulations run at the same time.
#[test]
fn concurrent_runs_are_equal_bit_for_bit() {
    let end = || {
        let mut world = World::default();
        let ids = four_blocks(&mut world);
        let mut simulator = Impulse::default();
        for _ in 0..30 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        ids.iter().map(|id| *world.body(*id).unwrap().motion()).collect::<Vec<_>>()
    };
    let alone = end();
    for threads in [2, 4, 8] {
        let ends: Vec<_> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(end)).collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        assert!(ends.iter().all(|end| *end == alone), "{threads}");
    }
}
