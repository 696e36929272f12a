//! Forces against closed forms and brute force.

use glam::DVec3;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::force::{
    COULOMB_CONSTANT, Drag, Falloff, FieldForce, ForceView, Forces, GRAVITATIONAL_CONSTANT, Grab, Gravity,
    PairForce, PairLaw, Region, RegionCells, Spring, SpringLaw, Springs, Truncation,
};
use rattleback_particles::step::Method;
use rattleback_particles::{CellGrid, Particle, ParticleSystem, Particles};

use crate::random::Random;

fn free_system(method: Method) -> ParticleSystem {
    let mut system = ParticleSystem::default();
    system.settings.method = method;
    system.settings.collisions.internal = false;
    system.settings.collisions.bodies = false;
    system
}

fn at(x: f64, y: f64, z: f64) -> Particle {
    Particle { position: DVec3::new(x, y, z), ..Particle::default() }
}

/// T-FRC-01: internal forces cancel, and momentum stays over 10⁴ steps.
#[test]
fn internal_forces_cancel() {
    let mut random = Random::new(1);
    let mut system = free_system(Method::VelocityVerlet);
    let mut ids = Vec::new();
    for i in 0..100 {
        let grid = DVec3::new(f64::from(i % 5), f64::from(i / 5 % 5), f64::from(i / 25));
        let particle = Particle {
            position: 1.3 * grid + random.vector(-0.1, 0.1),
            velocity: random.vector(-0.3, 0.7),
            mass: random.range(0.5, 2.0),
            charge: random.range(-1e-6, 1e-6),
            ..Particle::default()
        };
        ids.push(system.particles.add(&particle).unwrap());
    }
    let mut springs = Springs::default();
    for k in 0..150 {
        let (i, j) = (k % 100, (k * 7 + 3) % 100);
        if i != j {
            let law = SpringLaw::Coefficients { stiffness: 2.0, damping: 0.1 };
            springs
                .add(&system.particles, Spring { particles: [ids[i], ids[j]], rest_length: 1.0, law })
                .unwrap();
        }
    }
    system.forces.add_joint(springs);
    for law in [
        PairLaw::LennardJones { epsilon: 1.0, sigma: 1.0 },
        PairLaw::Coulomb { constant: COULOMB_CONSTANT },
        PairLaw::Gravitation { constant: GRAVITATIONAL_CONSTANT },
    ] {
        system.forces.add_joint(PairForce::new(law, f64::INFINITY, 0.05, Truncation::Sharp).unwrap());
    }
    let mut force = vec![DVec3::ZERO; 100];
    system.forces.evaluate(&ForceView::all(&system.particles, 0.0), 1, &mut force).unwrap();
    let (sum, size): (DVec3, f64) = (force.iter().sum(), force.iter().map(|f| f.length()).sum());
    assert!(sum.length() < 1e-11 * size, "{sum} of {size}");
    let before = system.particles.momentum();
    for _ in 0..10_000 {
        system.step(1e-4, &mut []).unwrap();
    }
    let drift = (system.particles.momentum() - before).length() / before.length();
    assert!(drift < 1e-10, "momentum drift {drift}");
}

/// T-FRC-02: fall with linear drag, y and v after 1 s.
#[test]
fn drag_and_gravity() {
    let mut system = free_system(Method::RungeKutta4);
    // Coupled path, so that the fourth-order method is used.
    system.settings.collisions.internal = true;
    system.forces.add(Gravity::default());
    system.forces.add(Drag { coefficient: 0.02, wind: DVec3::ZERO });
    system.particles.add(&Particle { mass: 0.01, ..Particle::default() }).unwrap();
    for _ in 0..1000 {
        system.step(1e-3, &mut []).unwrap();
    }
    let (p, v) = (system.particles.position()[0].z, system.particles.velocity()[0].z);
    assert!((p + 2.7844098).abs() < 1e-7 && (v + 4.2411804).abs() < 1e-7, "{p} {v}");
    let exact = -0.01 * 9.81 / 0.02 * (1.0 - (-2.0_f64).exp());
    assert!((v - exact).abs() < 1e-8);
}

/// T-FRC-03: two masses of 10¹² kg at 10 m circle each other in 17.2003329 s.
#[test]
fn circular_orbit_has_its_period() {
    let mut system = free_system(Method::RungeKutta4);
    let speed = (GRAVITATIONAL_CONSTANT * 1e12 / 20.0).sqrt();
    for side in [-1.0, 1.0] {
        let velocity = DVec3::new(0.0, side * speed, 0.0);
        let heavy = Particle { mass: 1e12, velocity, ..at(5.0 * side, 0.0, 0.0) };
        system.particles.add(&heavy).unwrap();
    }
    let law = PairLaw::Gravitation { constant: GRAVITATIONAL_CONSTANT };
    system.forces.add_joint(PairForce::new(law, f64::INFINITY, 0.0, Truncation::Sharp).unwrap());
    let (mut time, dt) = (0.0, 1e-3);
    let mut before = system.particles.position()[1].y;
    let period = loop {
        system.step(dt, &mut []).unwrap();
        time += dt;
        let y = system.particles.position()[1].y;
        if before < 0.0 && y >= 0.0 {
            break time - dt * y / (y - before);
        }
        before = y;
        assert!(time < 20.0, "they fly apart");
    };
    assert!((period / 17.2003329 - 1.0).abs() < 1e-6, "{period}");
}

/// T-FRC-04: Lennard-Jones numbers, and force = −dU/dr.
#[test]
fn lennard_jones_numbers() {
    let value = |r: f64, want_energy: bool| {
        let mut particles = Particles::default();
        particles.add(&at(0.0, 0.0, 0.0)).unwrap();
        particles.add(&at(r, 0.0, 0.0)).unwrap();
        let mut forces = Forces::default();
        let law = PairLaw::LennardJones { epsilon: 1.0, sigma: 1.0 };
        forces.add_joint(PairForce::new(law, f64::INFINITY, 0.0, Truncation::Sharp).unwrap());
        let view = ForceView::all(&particles, 0.0);
        if want_energy {
            return forces.potential_energy(&view);
        }
        let mut force = vec![DVec3::ZERO; 2];
        forces.evaluate(&view, 1, &mut force).unwrap();
        force[1].x
    };
    for (r, force) in [
        (1.0, 24.0),
        (2.0_f64.powf(1.0 / 6.0), 0.0),
        ((26.0_f64 / 7.0).powf(1.0 / 6.0), -2.396429),
        (2.5, -0.0389995),
    ] {
        assert!((value(r, false) - force).abs() < 1e-6, "{r}: {}", value(r, false));
    }
    assert!((value(2.5, true) + 0.0163169).abs() < 1e-7);
    for r in [0.95, 1.1, 1.7] {
        let h = 1e-5;
        let slope = (value(r + h, true) - value(r - h, true)) / (2.0 * h);
        assert!((value(r, false) + slope).abs() < 1e-6 * (1.0 + slope.abs()));
    }
}

/// T-FRC-05: an under-damped spring between unequal masses; a critically damped one does not overshoot.
#[test]
fn damped_spring_numbers() {
    let run = |ratio: f64| {
        let mut system = free_system(Method::RungeKutta4);
        let ids = [(1.0, 0.0), (3.0, 1.1)]
            .map(|(mass, x)| system.particles.add(&Particle { mass, ..at(x, 0.0, 0.0) }).unwrap());
        let law = SpringLaw::DampingRatio { stiffness: 75.0, ratio };
        let mut springs = Springs::default();
        springs.add(&system.particles, Spring { particles: ids, rest_length: 1.0, law }).unwrap();
        system.forces.add_joint(springs);
        let mut stretches = vec![0.1];
        for _ in 0..10_000 {
            system.step(1e-4, &mut []).unwrap();
            let p = system.particles.position();
            stretches.push(p[0].distance(p[1]) - 1.0);
        }
        stretches
    };
    let stretch = run(0.2);
    assert!((stretch[5000] + 5.54445e-4).abs() < 1e-6, "{}", stretch[5000]);
    let (at, least) = stretch.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    assert!((at as f64 * 1e-4 - 0.3206375).abs() < 1e-4 && (least + 0.05266206).abs() < 1e-6, "{at} {least}");
    assert!(run(1.0).iter().all(|s| *s > -1e-12));
}

/// T-FRC-06: cells classify as brute force does; a field vanishes on the boundary and has F_c in the centre.
#[test]
fn field_regions_equal_brute_force() {
    let mut random = Random::new(6);
    let turned = Pose::new(glam::DQuat::from_rotation_x(0.4) * glam::DQuat::from_rotation_z(0.7), DVec3::X);
    let hull = match Shape::convex_hull(&(0..20).map(|_| random.direction()).collect::<Vec<_>>()).unwrap() {
        Shape::Convex(hull) => Region::polyhedron(&hull, &Pose::at(DVec3::Y)),
        _ => unreachable!(),
    };
    let half = DVec3::new(1.0, 0.5, 2.0);
    let regions = [
        Region::sphere(DVec3::new(0.1, 0.2, 0.3), 1.5).unwrap(),
        Region::cuboid(turned, half).unwrap(),
        hull,
    ];
    for region in &regions {
        let cells = RegionCells::new(region, 16);
        for _ in 0..100_000 {
            let p = random.vector(-3.0, 3.0);
            assert_eq!(cells.contains(region, p), region.contains(p), "{p}");
        }
    }
    let force = DVec3::new(2.0, 3.0, 4.0);
    let sphere = FieldForce::new(regions[0].clone(), force, Falloff::Componentwise).unwrap();
    assert!((sphere.at(DVec3::new(0.1, 0.2, 0.3)) - force).length() < 1e-12);
    assert!(sphere.at(DVec3::new(1.6, 0.2, 0.3)).length() < 1e-12);
    let upright = Region::cuboid(Pose::IDENTITY, half).unwrap();
    let field = FieldForce::new(upright.clone(), force, Falloff::Componentwise).unwrap();
    for axis in 0..3 {
        let mut p = DVec3::ZERO;
        p[axis] = half[axis];
        assert!(field.at(p)[axis].abs() < 1e-12, "component {axis} at its face");
    }
    assert!((field.at(DVec3::ZERO) - force).length() < 1e-12);
    let product = FieldForce::new(upright, force, Falloff::Product).unwrap();
    assert!(product.at(DVec3::new(0.0, 0.5, 0.0)).length() < 1e-12);
}

/// T-FRC-07: pairs within the cut-off equal those of brute force, with cells smaller and larger than it.
#[test]
fn cutoff_grid_equals_brute_force() {
    let mut random = Random::new(7);
    for sample in 0..30 {
        let (n, s) = (200, random.range(0.2, 1.0));
        let points: Vec<DVec3> = (0..n)
            .map(|i| if sample % 3 == 0 && i == 0 { DVec3::splat(1e5) } else { random.vector(-2.0, 2.0) })
            .collect();
        for ratio in [0.3, 1.0, 2.5] {
            let cutoff = ratio * s;
            let mut grid = CellGrid::default();
            grid.build(&points, s).unwrap();
            let mut found = Vec::new();
            grid.pairs_within(&points, cutoff, |i, j| found.push((i.min(j), i.max(j))));
            found.sort_unstable();
            let mut expected = Vec::new();
            for i in 0..n {
                for j in i + 1..n {
                    if points[i].distance_squared(points[j]) <= cutoff * cutoff {
                        expected.push((i, j));
                    }
                }
            }
            assert_eq!(found, expected, "cells of {s}, cut-off {cutoff}");
        }
    }
    let close = [DVec3::X * 0.95, DVec3::X * 1.05];
    let mut grid = CellGrid::default();
    grid.build(&close, 1.0).unwrap();
    let mut count = 0;
    grid.pairs_within(&close, 1.0, |_, _| count += 1);
    assert_eq!(count, 1);
}

/// T-FRC-07: the number of pairs that are looked at, and so the cost, grows with n.
#[test]
fn cutoff_force_is_that_of_all_pairs_within() {
    let mut random = Random::new(8);
    let mut particles = Particles::default();
    for _ in 0..500 {
        particles.add(&Particle { position: random.vector(0.0, 8.0), ..Particle::default() }).unwrap();
    }
    let law = PairLaw::LennardJones { epsilon: 1.0, sigma: 0.3 };
    let mut forces = Forces::default();
    forces.add_joint(PairForce::new(law, 1.0, 0.1, Truncation::ShiftedForce).unwrap());
    let mut force = vec![DVec3::ZERO; 500];
    forces.evaluate(&ForceView::all(&particles, 0.0), 1, &mut force).unwrap();
    let f = |r: f64| {
        let x = 0.09 / (r * r + 0.01);
        48.0 / 0.09 * (x.powi(7) - 0.5 * x.powi(4)) * r
    };
    for i in 0..500 {
        let mut expected = DVec3::ZERO;
        for j in 0..500 {
            let d = particles.position()[i] - particles.position()[j];
            let r = d.length();
            if i != j && r <= 1.0 {
                expected += (f(r) - f(1.0)) * d / r;
            }
        }
        assert!((force[i] - expected).length() < 1e-9 * (1.0 + expected.length()));
    }
}

/// T-FRC-08: a pointer that jumps by 100 m pulls the particle there, never faster than its force allows.
#[test]
fn grabbed_particle_follows_the_pointer() {
    let mut system = free_system(Method::VelocityVerlet);
    let id = system.particles.add(&Particle::default()).unwrap();
    let law = SpringLaw::Frequency { frequency: 5.0, ratio: 1.0 };
    let mut grab = Grab::new(&system.particles, id, law, 50.0).unwrap();
    grab.target = DVec3::new(100.0, 0.0, 0.0);
    system.forces.add(grab);
    let mut fastest = 0.0_f64;
    for _ in 0..6000 {
        system.step(5e-3, &mut []).unwrap();
        fastest = fastest.max(system.particles.velocity()[0].length());
    }
    let distance = system.particles.position()[0].distance(DVec3::new(100.0, 0.0, 0.0));
    assert!(distance < 1e-3, "{distance}");
    assert!(fastest <= (2.0_f64 * 50.0 * 100.0).sqrt(), "{fastest}");
}
