//! Penalty simulator: statics of its springs, stability, friction.

use glam::DVec3;
use rattleback_dynamics::simulator::penalty::{damping_ratio, stiffness};
use rattleback_dynamics::simulator::{Penalty, PenaltySettings};
use rattleback_dynamics::{Body, BodyId, Material, Simulator, World};
use rattleback_geometry::Shape;

const G: f64 = 9.81;

fn world(restitution: f64, mu: f64) -> World {
    let mut world = World::default();
    let material = world.default_material();
    world.set_material(material, Material { restitution, ..Material::with_friction(mu) }).unwrap();
    world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
    world
}

fn cube(world: &mut World, z: f64) -> BodyId {
    let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    world.add_body(Body::dynamic().at(0.0, 0.0, z).with_shape(shape).mass(1.0)).unwrap()
}

/// EX-5: a box settles by m g/Σk, within 1 %.
#[test]
fn a_box_settles_by_its_weight_over_the_stiffness() {
    let mut world = world(0.0, 0.5);
    let id = cube(&mut world, 0.5);
    let settings = PenaltySettings { stiffest: 1e6, ..PenaltySettings::default() };
    let mut simulator = Penalty::new(settings.clone()).unwrap();
    for _ in 0..240 {
        simulator.step(&mut world, 1.0 / 60.0).unwrap();
    }
    // Inverse effective mass at a corner of the cube: 1/m + n·(I⁻¹ (r × n)) × r = 1 + 6 (¼ + ¼) = 4 per kg.
    let k = stiffness(0.25, G, 0.0, settings.sink * 0.5, settings.stiffest, 1.0 / 240.0);
    let expected = G / (4.0 * k);
    let sunk = 0.5 - world.body(id).unwrap().position().z;
    assert!((sunk / expected - 1.0).abs() < 0.01, "{sunk} {expected}");
    let total: f64 = simulator.contacts().map(|contact| contact.force.z.abs()).sum();
    assert!((total / G - 1.0).abs() < 1e-6, "{total}");
}

/// Implicit integration is stable for any stiffness and step.
#[test]
fn any_stiffness_is_stable() {
    for (stiffest, dt) in [(1e9, 1.0 / 24.0), (1.0, 1.0 / 24.0), (1e3, 0.05), (1e-2, 1e-3)] {
        let mut world = world(0.0, 0.5);
        let ids: Vec<BodyId> = (0..3).map(|k| cube(&mut world, 0.55 + 1.02 * f64::from(k))).collect();
        let settings = PenaltySettings { stiffest, substeps: 1, ..PenaltySettings::default() };
        let mut simulator = Penalty::new(settings).unwrap();
        for _ in 0..(4.0 / dt) as usize {
            simulator.step(&mut world, dt).unwrap();
            for id in &ids {
                assert!(world.body(*id).unwrap().velocity().length() < 5.0, "{stiffest} {dt}");
            }
        }
        for (k, id) in ids.iter().enumerate() {
            let body = world.body(*id).unwrap();
            assert!((body.position().z - 0.5 - k as f64).abs() < 0.2, "{stiffest} {dt}: {}", body.position());
        }
    }
}

/// A block on a slope: below the friction angle it creeps by less than 1 mm/s, above it slides with g (sin θ
/// − μ cos θ).
#[test]
fn blocks_stick_or_slide_on_a_slope() {
    for (tangent, mu) in [(0.4_f64, 0.5), (0.8, 0.5)] {
        let theta = tangent.atan();
        let mut world = world(0.0, mu);
        world.set_gravity(G * DVec3::new(theta.sin(), 0.0, -theta.cos())).unwrap();
        let id = cube(&mut world, 0.5);
        let mut simulator = Penalty::default();
        for _ in 0..60 {
            simulator.step(&mut world, 1.0 / 60.0).unwrap();
        }
        let expected = (G * (theta.sin() - mu * theta.cos())).max(0.0);
        let v = world.body(id).unwrap().velocity().x;
        assert!((v - expected).abs() < 0.02 * expected.max(0.05), "{tangent}: {v} {expected}");
    }
}

/// Damping ratio from restitution: undamped for e = 1, critical for e = 0, and half a period multiplies the
/// speed by e.
#[test]
fn damping_ratio_gives_the_restitution() {
    assert_eq!((damping_ratio(0.0), damping_ratio(1.0)), (1.0, 0.0));
    for e in [0.2_f64, 0.5, 0.9] {
        let zeta = damping_ratio(e);
        let back = (-std::f64::consts::PI * zeta / (1.0 - zeta * zeta).sqrt()).exp();
        assert!((back - e).abs() < 1e-12);
    }
}
