//! What the contact laws do: reference collisions, rays, energy over a million random collisions, and speed.
//!
//! `cargo run --release -p rattleback-dynamics --example collision_table`; with `-- speed` at its end only the speed.

#[path = "../tests/collision_random/mod.rs"]
mod collision_random;

use collision_random::Random;
use glam::{DMat3, DVec3};
use rattleback_dynamics::impact::{
    Collision, CollisionError, CollisionSettings, Compliance, ContactBody, Law, Outcome, REFERENCE,
    Restitution, Scheme, rays, resolve,
};
use std::hint::black_box;
use std::time::Instant;

impl Random {
    /// A box of random sides and density, touched on one of its corners.
    fn body(&mut self) -> ContactBody {
        let half = DVec3::new(self.within(0.1, 1.0), self.within(0.1, 1.0), self.within(0.1, 1.0));
        let mass = self.within(0.2, 5.0);
        let square = half * half;
        let inertia =
            DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y) * (mass / 3.0);
        let turn = glam::DQuat::from_scaled_axis(self.vector(3.0));
        let rotation = DMat3::from_quat(turn);
        ContactBody {
            inverse_mass: mass.recip(),
            inverse_inertia: rotation * DMat3::from_diagonal(inertia.recip()) * rotation.transpose(),
            r: turn * half,
            v: self.vector(1.0),
            omega: self.vector(1.0),
        }
    }

    /// Two boxes that approach corner to corner.
    fn spatial(&mut self) -> Collision {
        loop {
            let (a, b) = (self.body(), self.body());
            if let Ok((collision, _)) = Collision::between(&a, &b, self.vector(1.0))
                && collision.u.z < -1e-3
            {
                return collision;
            }
        }
    }

    /// A uniform rod, tilted between 10° and 80°, that hits the floor with its lower end and slides.
    fn rod(&mut self) -> Collision {
        let (sin, cos) = self.within(10.0, 80.0_f64).to_radians().sin_cos();
        let side = if self.within(0.0, 1.0) < 0.5 { -1.0 } else { 1.0 };
        let k = DMat3::from_cols(
            DVec3::new(1.0 + 3.0 * sin * sin, 0.0, side * 3.0 * sin * cos),
            DVec3::Y,
            DVec3::new(side * 3.0 * sin * cos, 0.0, 1.0 + 3.0 * cos * cos),
        );
        Collision { k, u: DVec3::new(self.within(-2.0, 2.0), 0.0, -1.0) }
    }

    fn settings(&mut self) -> CollisionSettings {
        CollisionSettings {
            e: self.within(0.0, 1.0),
            mu: self.within(0.0, 1.5),
            ..CollisionSettings::default()
        }
    }
}

fn references() -> Result<(), CollisionError> {
    println!("Reference collisions: largest error of velocity and impulse");
    for case in &REFERENCE {
        let outcome = resolve(&case.collision, &case.settings)?;
        let phased = resolve(&case.collision, &CollisionSettings { law: Law::Phased, ..case.settings })?;
        let error = |outcome: &Outcome| {
            (outcome.velocity - case.velocity).length().max((outcome.impulse - case.impulse).length())
        };
        println!(
            "  {:34} {:8.1e}  {:?}, {} steps; phased scheme {:8.1e} ({:?})",
            case.name,
            error(&outcome),
            outcome.scheme,
            outcome.evaluations,
            error(&phased),
            phased.scheme
        );
    }
    println!("\nRays of constant sliding of Mirtich's Fig. 3.3 (published: 147° converging, -71° diverging)");
    for ray in rays(&Compliance::new(&REFERENCE[0].collision.k)?, 0.2).as_slice() {
        println!("  {:10.5}°  h = {:+.10}", ray.angle.to_degrees(), ray.growth);
    }
    Ok(())
}

/// The worst of many collisions under the default law.
#[derive(Default)]
struct Worst {
    energy: f64,
    cone: f64,
    balance: f64,
    impulse: f64,
    velocity: f64,
    consistency: f64,
    steps: u32,
    all_steps: u64,
    several: u32,
    closed: u32,
}

fn worst(count: u32) -> Result<(), CollisionError> {
    let mut random = Random(1);
    let mut worst = Worst { impulse: f64::INFINITY, velocity: f64::INFINITY, ..Worst::default() };
    for _ in 0..count {
        let (collision, settings) = (random.spatial(), random.settings());
        let out = resolve(&collision, &settings)?;
        let scale = collision.u.length_squared() / collision.k.z_axis.z;
        worst.energy = worst.energy.max(out.work / scale);
        worst.cone = worst.cone.max(out.impulse.truncate().length() - settings.mu * out.impulse.z);
        let due = -settings.e * settings.e * out.compression_work;
        worst.balance = worst.balance.max((out.restitution_work - due).abs() / out.compression_work.abs());
        worst.impulse = worst.impulse.min(out.impulse.z);
        worst.velocity = worst.velocity.min(out.velocity.z);
        let u = collision.u + collision.k * out.impulse;
        worst.consistency = worst.consistency.max((u - out.velocity).length() / collision.u.length());
        worst.steps = worst.steps.max(out.evaluations);
        worst.all_steps += u64::from(out.evaluations);
        worst.several += u32::from(out.slip.compressions > 1);
        worst.closed += u32::from(out.scheme == Scheme::ClosedForm);
    }
    println!("\n{count} collisions of random boxes, corner to corner, e in [0, 1], mu in [0, 1.5], Stronge");
    println!("  largest growth of energy / scale          {:9.1e}", worst.energy);
    println!("  farthest outside the friction cone        {:9.1e} N s", worst.cone);
    println!("  |W_restitution + e² W_compression| / W_c  {:9.1e}", worst.balance);
    println!("  smallest normal impulse                   {:9.1e} N s", worst.impulse);
    println!("  smallest final normal velocity            {:9.1e} m/s", worst.velocity);
    println!("  |u + K p − u_f| / |u|                     {:9.1e}", worst.consistency);
    println!(
        "  steps per collision: mean {:.2}, most {}",
        worst.all_steps as f64 / f64::from(count),
        worst.steps
    );
    println!("  closed form {}, more than one compression {}", worst.closed, worst.several);
    Ok(())
}

fn energy_by_law(count: u32) -> Result<(), CollisionError> {
    println!("\nCollisions that create energy, and mean distance of the final velocity from the default law");
    println!("  {:20} {:10} {:>12} {:>12} {:>12}", "law", "e of", "boxes", "rods", "distance");
    for law in Law::ALL {
        for restitution in [Restitution::Newton, Restitution::Poisson, Restitution::Stronge] {
            // The algebraic laws support Newton's only, the phased scheme Stronge's only.
            let known = match law {
                Law::Integrated => true,
                Law::Phased => restitution == Restitution::Stronge,
                _ => restitution == Restitution::Newton,
            };
            if !known {
                continue;
            }
            let (mut random, mut boxes, mut rods, mut distance) = (Random(7), 0_u32, 0_u32, 0.0);
            for _ in 0..count {
                let settings = random.settings();
                let other = CollisionSettings { restitution, law, ..settings };
                let collision = random.spatial();
                let (a, b) = (resolve(&collision, &settings)?, resolve(&collision, &other)?);
                boxes += u32::from(b.work > 1e-12);
                distance += (a.velocity - b.velocity).length() / collision.u.length();
                // Elastic rods: where energy shows most.
                let rod = resolve(&random.rod(), &CollisionSettings { e: 1.0, ..other })?;
                rods += u32::from(rod.work > 1e-12);
            }
            let share = |n: u32| 100.0 * f64::from(n) / f64::from(count);
            println!(
                "  {:20} {:10} {:>10.3} % {:>10.3} % {:>12.2e}",
                law.law().name(),
                format!("{restitution:?}"),
                share(boxes),
                share(rods),
                distance / f64::from(count)
            );
        }
    }
    Ok(())
}

/// Least time per collision over some rounds, in ns. Taken in short chunks, which a busy machine interrupts less often.
fn time(collisions: &[(Collision, CollisionSettings)]) -> Result<f64, CollisionError> {
    let mut total = 0.0;
    for chunk in collisions.chunks(50) {
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            let start = Instant::now();
            for (collision, settings) in chunk {
                black_box(resolve(black_box(collision), settings)?);
            }
            best = best.min(start.elapsed().as_secs_f64());
        }
        total += best;
    }
    Ok(total / collisions.len() as f64 * 1e9)
}

fn speed() -> Result<(), CollisionError> {
    let mut random = Random(3);
    let mut sample = |make: &mut dyn FnMut(&mut Random) -> Collision, laws: &[Law]| -> Vec<_> {
        (0..2000)
            .map(|n| {
                let collision = make(&mut random);
                (collision, CollisionSettings { law: laws[n % laws.len()], ..random.settings() })
            })
            .collect()
    };
    let integrated = [Law::Integrated];
    let ball = DMat3::from_diagonal(DVec3::new(3.5, 3.5, 1.0));
    let central = sample(&mut |r| Collision { k: ball, u: r.vector(1.0) - 1.1 * DVec3::Z }, &integrated);
    let planar = sample(&mut Random::rod, &integrated);
    let general = sample(&mut Random::spatial, &integrated);
    let stuck = |(collision, settings): &&(Collision, CollisionSettings)| {
        resolve(collision, settings).is_ok_and(|outcome| outcome.slip.stick.is_some())
    };
    let (sticking, sliding): (Vec<_>, Vec<_>) = general.iter().partition(|case| stuck(case));
    let own = |list: Vec<&(Collision, CollisionSettings)>| list.into_iter().copied().collect::<Vec<_>>();
    println!("\nSpeed, least of 20 rounds over 2000 collisions, one thread");
    println!("  central (balls)              {:8.0} ns", time(&central)?);
    println!("  planar (rods)                {:8.0} ns", time(&planar)?);
    println!("  general (boxes)              {:8.0} ns", time(&general)?);
    println!("    of these that slide on     {:8.0} ns ({})", time(&own(sliding.clone()))?, sliding.len());
    println!("    of these that stop sliding {:8.0} ns ({})", time(&own(sticking.clone()))?, sticking.len());
    for law in Law::ALL.into_iter().skip(1) {
        let list = sample(&mut Random::spatial, &[law]);
        println!("  general, {:20}{:8.0} ns", law.law().name(), time(&list)?);
    }
    Ok(())
}

fn main() -> Result<(), CollisionError> {
    if std::env::args().nth(1).as_deref() != Some("speed") {
        references()?;
        worst(1_000_000)?;
        energy_by_law(20_000)?;
    }
    speed()
}
