//! Free rotation against invariants, closed forms and published numbers.

use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;
use rattleback_dynamics::rigid::{Inertia, Motion, fly, rotate_freely};
use rattleback_dynamics::{Body, BodyId, FreeMotion, Properties, Registry, Simulator, Value, World};
use rattleback_geometry::MassProperties;

/// A body of these principal moments that spins with ω₀, alone in the world.
fn spinning(moments: DVec3, omega: DVec3) -> (World, BodyId) {
    let mut world = World::weightless();
    let mass = MassProperties::new(1.0, DVec3::ZERO, DMat3::from_diagonal(moments)).unwrap();
    let id = world.add_body(Body::dynamic().mass_properties(mass).angular_velocity(omega)).unwrap();
    (world, id)
}

fn simulator(integrator: &str, gyroscopic: Option<&str>) -> Box<dyn Simulator> {
    let mut given = Properties::from([("integrator".to_owned(), Value::Text(integrator.into()))]);
    if let Some(mode) = gyroscopic {
        given.insert("gyroscopic".into(), Value::Text(mode.into()));
    }
    Registry::default().simulators.make("free-motion", &given).unwrap()
}

/// Largest relative deviation of (energy, angular momentum vector) over a run.
fn drift(world: &mut World, simulator: &mut dyn Simulator, dt: f64, steps: u32) -> (f64, f64) {
    let start = world.readout();
    let mut worst = (0.0_f64, 0.0_f64);
    for _ in 0..steps {
        simulator.step(world, dt).unwrap();
        let now = world.readout();
        worst.0 = worst.0.max((now.kinetic_energy / start.kinetic_energy - 1.0).abs());
        let off = (now.angular_momentum - start.angular_momentum).length() / start.angular_momentum.length();
        worst.1 = worst.1.max(off);
    }
    worst
}

/// The body on which four engines gain 73 % energy in 100 s.
#[test]
fn the_peers_tumbling_body_keeps_energy_and_momentum() {
    let (mut world, _) = spinning(DVec3::new(0.010, 0.015, 0.020), DVec3::new(0.6, 6.0, 0.3));
    let (energy, momentum) = drift(&mut world, &mut FreeMotion::default(), 1.0 / 240.0, 24_000);
    assert!(energy < 1e-9 && momentum < 1e-9, "energy {energy:e}, momentum {momentum:e}");
    // What it really reaches; a regression would show here long before it hurts.
    assert!(energy < 5e-12 && momentum < 5e-12, "energy {energy:e}, momentum {momentum:e}");
}

/// RB-1: I = (1, 2, 3), ω₀ = (0.1, 1, 0.1): the period of ω is 22.99626294412 s, the first zero of ω₂ 6.88570308 s.
#[test]
fn flip_period_of_the_intermediate_axis() {
    let moments = DVec3::new(1.0, 2.0, 3.0);
    let (mut world, id) = spinning(moments, DVec3::new(0.1, 1.0, 0.1));
    let mut simulator = FreeMotion::default();
    let body_spin = |world: &World| {
        let motion = *world.body(id).unwrap().motion();
        motion.q.conjugate() * motion.omega
    };
    let mut zeros = Vec::new();
    let dt = 1.0 / 240.0;
    let mut before = body_spin(&world).y;
    while zeros.len() < 3 {
        let (start, motion) = (world.time(), *world.body(id).unwrap().motion());
        simulator.step(&mut world, dt).unwrap();
        let after = body_spin(&world).y;
        if before.signum() != after.signum() {
            // Between two steps the motion is known exactly: bisect on it.
            let l = motion.q * (moments * (motion.q.conjugate() * motion.omega));
            let spin_at = |h: f64| {
                let q = rotate_freely(motion.q, l, moments.recip(), h);
                ((q.conjugate() * l) / moments).y
            };
            let (mut low, mut high) = (0.0, dt);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if spin_at(middle).signum() == before.signum() { low = middle } else { high = middle }
            }
            zeros.push(start + 0.5 * (low + high));
        }
        before = after;
    }
    let period = zeros[2] - zeros[0];
    assert!((period - 22.99626294412).abs() < 1e-6, "{period}");
    assert!((period - 22.99626294412).abs() < 1e-9, "{period}");
    assert!((zeros[0] - 6.88570308).abs() < 1e-8, "{}", zeros[0]);
}

/// RB-1: over 60 s in steps of 1 ms the angular momentum stays constant as a vector in the world.
///
/// The specification requires 1e-12 of an integrator whose state is the angular momentum itself. A body's state here is ω, so
/// L is rebuilt in each of the 60 000 steps; what is left of the rounding is 2e-12.
#[test]
fn angular_momentum_is_a_constant_vector() {
    let (mut world, _) = spinning(DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.1, 1.0, 0.1));
    let (energy, momentum) = drift(&mut world, &mut FreeMotion::default(), 1e-3, 60_000);
    assert!(energy < 1e-11 && momentum < 5e-12, "energy {energy:e}, momentum {momentum:e}");
}

/// RB-2: a small error about the intermediate axis grows like e^(λt), λ = ω √((I₃−I₂)(I₂−I₁)/(I₁I₃)) = 0.577350.
#[test]
fn intermediate_axis_instability_has_its_growth_rate() {
    let moments = DVec3::new(1.0, 2.0, 3.0);
    let lambda = (1.0_f64 / 3.0).sqrt();
    // Start on the growing direction: ω₁ : ω₃ = √((I₂−I₃)/I₁ …) solves the linearised equations with +λ.
    let omega_1 = 1e-6;
    let omega_3 = lambda * omega_1 / ((moments.y - moments.z) / moments.x);
    let (mut world, id) = spinning(moments, DVec3::new(omega_1, 1.0, omega_3));
    let mut simulator = FreeMotion::default();
    for _ in 0..1000 {
        simulator.step(&mut world, 0.01).unwrap();
    }
    let motion = world.body(id).unwrap().motion();
    let grown = (motion.q.conjugate() * motion.omega).x;
    let rate = (grown / omega_1).ln() / 10.0;
    assert!((rate / lambda - 1.0).abs() < 1e-2, "{rate}");
}

/// RB-3: in its own frame a symmetric top precesses at (I₃ − I₁)/I₁ · ω₃.
#[test]
fn symmetric_top_precesses_at_the_closed_form_rate() {
    let (i1, i3) = (0.02, 0.035);
    let omega = DVec3::new(0.8, 0.0, 5.0);
    let (mut world, id) = spinning(DVec3::new(i1, i1, i3), omega);
    let mut simulator = FreeMotion::default();
    for step in 1..=2400 {
        simulator.step(&mut world, 1.0 / 240.0).unwrap();
        let t = f64::from(step) / 240.0;
        let motion = world.body(id).unwrap().motion();
        let now = motion.q.conjugate() * motion.omega;
        let (sine, cosine) = ((i3 - i1) / i1 * omega.z * t).sin_cos();
        let expected = DVec3::new(omega.x * cosine, omega.x * sine, omega.z);
        assert!((now - expected).length() < 1e-9, "t = {t}: {now} instead of {expected}");
    }
}

/// One flight of 100 s lands where 24 000 steps do, and flying back undoes it.
#[test]
fn long_flights_are_cut_without_loss_and_reversible() {
    let j = DVec3::new(0.010, 0.015, 0.020).recip();
    let l = DVec3::new(0.006, 0.09, 0.006);
    let mut stepped = DQuat::IDENTITY;
    for _ in 0..24_000 {
        stepped = rotate_freely(stepped, l, j, 1.0 / 240.0);
    }
    let flown = rotate_freely(DQuat::IDENTITY, l, j, 100.0);
    assert!(1.0 - stepped.dot(flown).abs() < 1e-20_f64.max(1e-15), "{}", 1.0 - stepped.dot(flown).abs());
    let back = rotate_freely(flown, l, j, -100.0);
    assert!((back.dot(DQuat::IDENTITY).abs() - 1.0).abs() < 1e-15);
}

/// full-state Runge–Kutta holds both invariants; the implicit gyroscopic step only ever loses energy.
#[test]
fn other_integrators_treat_the_gyroscopic_term_as_specified() {
    let (moments, omega) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.01, 1.0, 0.01));
    let (mut world, _) = spinning(moments, omega);
    let (energy, momentum) = drift(&mut world, &mut *simulator("runge-kutta-4", None), 1e-3, 100_000);
    assert!(energy < 1e-6 && momentum < 1e-6, "{energy:e} {momentum:e}");

    for (rate, expected) in [(60.0, 0.9103), (240.0, 0.9764)] {
        let (mut world, _) = spinning(moments, omega);
        let mut stepper = simulator("symplectic-euler", Some("implicit"));
        let start = world.readout();
        let mut last = start.kinetic_energy;
        for _ in 0..(100.0 * rate) as u32 {
            stepper.step(&mut world, 1.0 / rate).unwrap();
            let now = world.readout();
            assert!(now.kinetic_energy <= last * (1.0 + 1e-12));
            last = now.kinetic_energy;
        }
        assert!((last / start.kinetic_energy - expected).abs() < 0.002, "{}", last / start.kinetic_energy);
    }

    let (mut world, id) = spinning(moments, omega);
    let mut stepper = simulator("symplectic-euler", Some("off"));
    for _ in 0..600 {
        stepper.step(&mut world, 1.0 / 60.0).unwrap();
    }
    assert_eq!(world.body(id).unwrap().angular_velocity(), omega);

    // T-INT-10 and the `momentum` treatment: L is a state variable, so it cannot drift.
    let (mut world, _) = spinning(moments, omega);
    let (_, momentum) = drift(&mut world, &mut *simulator("velocity-verlet", Some("momentum")), 1e-2, 1000);
    assert!(momentum < 1e-12, "{momentum:e}");
}

/// a steady spin turns by exactly ω t, and the quaternion stays a unit one.
#[test]
fn steady_spin_turns_exactly_and_stays_normalised() {
    let (mut world, id) = spinning(DVec3::splat(0.4), DVec3::Z * 10.0);
    let mut stepper = FreeMotion::default();
    for _ in 0..100 {
        stepper.step(&mut world, 0.01).unwrap();
    }
    let q = world.body(id).unwrap().orientation();
    let angle = 2.0 * q.z.atan2(q.w);
    let expected = 10.0 - 4.0 * std::f64::consts::PI;
    assert!((angle - expected).abs() < 1e-10, "{angle} {expected}");

    let (mut world, id) = spinning(DVec3::new(1.0, 2.0, 3.0), DVec3::new(1.0, 2.0, 0.5));
    for _ in 0..1_000_000 {
        stepper.step(&mut world, 0.01).unwrap();
    }
    let q = world.body(id).unwrap().motion().q;
    assert!((q.length() - 1.0).abs() < 1e-12);
}

fn moments() -> impl Strategy<Value = DVec3> {
    // Any box has moments that satisfy the triangle inequality.
    (1e-3..10.0_f64, 1e-3..10.0_f64, 1e-3..10.0_f64)
        .prop_map(|(a, b, c)| DVec3::new(b * b + c * c, a * a + c * c, a * a + b * b))
}

fn vector(range: f64) -> impl Strategy<Value = DVec3> {
    (-range..range, -range..range, -range..range).prop_map(|(x, y, z)| DVec3::new(x, y, z))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the body and the spin: L and T are conserved, and half the way twice is the whole way.
    #[test]
    fn invariants_hold_for_any_body(i in moments(), omega in vector(40.0), h in 1e-4..0.2_f64, axis in vector(3.0)) {
        let j = i.recip();
        let q = DQuat::from_scaled_axis(axis);
        let l = q * (i * omega);
        let end = rotate_freely(q, l, j, h);
        let energy = |q: DQuat| { let m = q.conjugate() * l; 0.5 * m.dot(j * m) };
        prop_assert!((energy(end) - energy(q)).abs() <= 1e-12 * energy(q));
        prop_assert!((end.length() - 1.0).abs() < 1e-14);
        let halves = rotate_freely(rotate_freely(q, l, j, 0.5 * h), l, j, 0.5 * h);
        prop_assert!((1.0 - halves.dot(end).abs()).abs() < 1e-13, "{}", 1.0 - halves.dot(end).abs());
    }

    /// Four at a time or one at a time, and whoever the neighbours are: the same bits.
    #[test]
    fn neighbours_do_not_matter(
        bodies in prop::collection::vec((moments(), vector(20.0), vector(3.0)), 1..11),
        h in 1e-3..0.1_f64,
    ) {
        let inertia: Vec<Inertia> = bodies.iter().map(|(i, _, _)| Inertia {
            inverse_mass: 1.0, moments: *i, inverse_moments: i.recip(), ..Inertia::default()
        }).collect();
        let start: Vec<Motion> = bodies.iter().map(|(_, omega, axis)| Motion {
            q: DQuat::from_scaled_axis(*axis), omega: *omega, v: *omega, ..Motion::default()
        }).collect();
        let mut together = start.clone();
        fly(&mut together, &inertia, h);
        for (index, alone) in start.iter().enumerate() {
            let mut alone = [*alone];
            fly(&mut alone, &inertia[index..=index], h);
            prop_assert_eq!(alone[0], together[index]);
        }
    }
}
