//! Impulses of single pairs and clusters.

use glam::{DMat3, DVec3};
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::impulse::{
    ClusterCollision, ClusterPartner, FrictionModel, SingleCollision, collide_pair, solve_cluster,
    solve_cluster_block_matrix,
};
use rattleback_particles::{Obstacle, RigidObstacle};

use crate::random::Random;

fn energy(mass: &[f64], v: &[DVec3]) -> f64 {
    mass.iter().zip(v).map(|(m, v)| 0.5 * m * v.length_squared()).sum()
}

/// T-IMP-01: numbers of a single collision with friction; index 1 of the source is B, its index 2 is A.
#[test]
fn single_collision_numbers() {
    let collision = |restitution: f64, mu: f64| SingleCollision {
        inverse_mass: [1.0 / 3.0, 0.5],
        velocity: [DVec3::X, DVec3::new(-4.0, 1.0, 0.0)],
        normal: DVec3::X,
        restitution,
        friction: FrictionModel::Directional([mu; 2]),
    };
    for (mu, v1, v2) in [
        (0.1, DVec3::new(0.5, 0.55, 0.0), DVec3::new(-2.0, 0.3, 0.0)),
        (0.5, DVec3::new(0.5, 0.4, 0.0), DVec3::new(-2.0, 0.4, 0.0)),
    ] {
        let outcome = collide_pair(&collision(0.5, mu)).unwrap();
        assert!((outcome.impulse.x - 9.0).abs() < 1e-12);
        assert!((outcome.velocity[1] - v1).length() < 1e-12 && (outcome.velocity[0] - v2).length() < 1e-12);
        let momentum = 3.0 * outcome.velocity[0] + 2.0 * outcome.velocity[1] - DVec3::new(-5.0, 2.0, 0.0);
        assert!(momentum.length() < 1e-14);
    }
    let elastic = collision(1.0, 0.0);
    let after = collide_pair(&elastic).unwrap();
    let lost = energy(&[3.0, 2.0], &after.velocity) - energy(&[3.0, 2.0], &elastic.velocity);
    assert!(lost.abs() < 1e-14 * 100.0);
}

/// T-IMP-02: 10⁵ random pairs keep restitution, Coulomb's bound, and never gain energy.
#[test]
fn random_single_collisions() {
    let mut random = Random::new(2);
    for sample in 0..100_000 {
        let mass = [random.range(0.1, 10.0), random.range(0.1, 10.0)];
        let normal = random.direction();
        let velocity = [random.vector(-5.0, 5.0), random.vector(-5.0, 5.0)];
        let (restitution, mu) = (random.range(0.0, 1.0), random.range(0.0, 1.5));
        let friction =
            if sample % 2 == 0 { FrictionModel::Directional([mu; 2]) } else { FrictionModel::Isotropic(mu) };
        let inverse_mass = mass.map(f64::recip);
        let collision = SingleCollision { inverse_mass, velocity, normal, restitution, friction };
        let before = (velocity[1] - velocity[0]).dot(normal);
        let Some(after) = collide_pair(&collision) else {
            assert!(before >= 0.0);
            continue;
        };
        let u = after.velocity[1] - after.velocity[0];
        assert!((u.dot(normal) + restitution * before).abs() < 1e-10);
        let p_n = after.impulse.dot(normal);
        let p_t = (after.impulse - p_n * normal).length();
        let bound = if sample % 2 == 0 { 2.0_f64.sqrt() } else { 1.0 };
        assert!(p_n >= 0.0 && p_t <= bound * mu * p_n * (1.0 + 1e-12) + 1e-14);
        assert!(energy(&mass, &after.velocity) <= energy(&mass, &velocity) * (1.0 + 1e-14));
        if sample % 2 == 1 && p_t < 0.999 * mu * p_n {
            assert!((u - u.dot(normal) * normal).length() < 1e-10, "sticks but slides");
        }
    }
}

fn smooth(a: usize, b: usize, normal: DVec3, restitution: f64) -> ClusterCollision {
    let (a, friction) = (ClusterPartner::Particle(a), FrictionModel::Directional([0.0; 2]));
    ClusterCollision { a, b, normal, restitution, friction }
}

/// T-IMP-03: three balls in a row, and a cue ball against two balls, solved at once.
#[test]
fn simultaneous_collisions() {
    let still = DVec3::ZERO;
    let row = [smooth(0, 1, DVec3::X, 1.0), smooth(1, 2, DVec3::X, 1.0)];
    let after = solve_cluster(&[1.0; 3], &[DVec3::X, still, still], &row).velocity;
    for (v, expected) in after.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        assert!((*v - expected * DVec3::X).length() < 1e-12);
    }
    let side = |sign: f64| DVec3::new(3.0_f64.sqrt() / 2.0, 0.5 * sign, 0.0);
    for (e, cue, other) in [(1.0, -0.2, 0.692820), (0.5, 0.1, 0.519615)] {
        let rack = [smooth(0, 1, side(1.0), e), smooth(0, 2, side(-1.0), e)];
        let after = solve_cluster(&[1.0; 3], &[DVec3::X, still, still], &rack).velocity;
        assert!((after[0] - cue * DVec3::X).length() < 1e-12);
        assert!((after[1] - after[1].length() * side(1.0)).length() < 1e-12);
        assert!((after[1].length() - other).abs() < 1e-6 && (after[2].length() - other).abs() < 1e-6);
    }
}

/// T-IMP-04: a chain of three with friction. The normals of the source point from its index 2 to its index 1.
#[test]
fn chain_with_friction() {
    let v = [DVec3::new(2.0, 0.3, -0.2), DVec3::new(0.0, 0.0, 0.1), DVec3::new(-1.0, 0.5, 0.0)];
    let mass = [1.0, 2.0, 1.5];
    let friction = FrictionModel::Directional([0.2; 2]);
    let collision = |first: usize, second: usize, normal: DVec3| {
        let a = ClusterPartner::Particle(second);
        ClusterCollision { a, b: first, normal, restitution: 0.6, friction }
    };
    let n23 = DVec3::new(-1.0, -1.0, 0.0) / 2.0_f64.sqrt();
    let cluster = [collision(0, 1, -DVec3::X), collision(1, 2, n23)];
    let after = solve_cluster(&mass.map(f64::recip), &v, &cluster);
    let expected = [
        DVec3::new(-0.5266667, -0.1622222, 0.0),
        DVec3::new(0.6733333, -0.1622222, 0.0),
        DVec3::new(-0.2133333, 1.0244444, 0.0),
    ];
    for k in 0..3 {
        assert!((after.velocity[k] - expected[k]).length() < 1e-6, "{k}: {}", after.velocity[k]);
    }
    let components = [[2.5266667, -0.2, 0.4622222], [1.3906433, 0.2781287, 0.0]];
    for (p, expected) in after.components.iter().zip(components) {
        assert!(p.iter().zip(expected).all(|(p, e)| (p - e).abs() < 1e-6), "{p:?}");
    }
    assert!((energy(&mass, &v) - 3.0125).abs() < 1e-9);
    assert!((energy(&mass, &after.velocity) - 1.4527889).abs() < 1e-6);
}

/// T-IMP-05: impulses from the block matrix of the source equal those from impulse space, on 500 random trees.
#[test]
fn block_matrix_equals_impulse_space() {
    let mut random = Random::new(5);
    let mut worst = 0.0_f64;
    for _ in 0..500 {
        let n = 2 + (random.range(0.0, 6.0) as usize);
        let inverse_mass: Vec<f64> = (0..n).map(|_| random.range(0.2, 5.0)).collect();
        let velocity: Vec<DVec3> = (0..n).map(|_| random.vector(-3.0, 3.0)).collect();
        let mut cluster = Vec::new();
        for b in 1..n {
            let a = random.range(0.0, b as f64) as usize;
            let u = velocity[b] - velocity[a];
            let mut normal = random.direction();
            if normal.dot(u) > 0.0 {
                normal = -normal;
            }
            let mu = random.range(0.0, 0.8);
            let friction = FrictionModel::Directional([mu, 0.5 * mu]);
            let (a, restitution) = (ClusterPartner::Particle(a), random.range(0.0, 1.0));
            cluster.push(ClusterCollision { a, b, normal, restitution, friction });
        }
        let body = ClusterPartner::Body {
            velocity: random.vector(-1.0, 1.0),
            inverse_mass: DMat3::from_diagonal(DVec3::new(0.3, 0.7, 0.2)),
        };
        let friction = FrictionModel::Isotropic(0.3);
        cluster.push(ClusterCollision {
            a: body,
            b: 0,
            normal: random.direction(),
            restitution: 0.4,
            friction,
        });
        let one = solve_cluster(&inverse_mass, &velocity, &cluster);
        let other = solve_cluster_block_matrix(&inverse_mass, &velocity, &cluster);
        for (a, b) in one.velocity.iter().zip(&other.velocity) {
            worst = worst.max((*a - *b).length());
        }
    }
    assert!(worst < 1e-9, "{worst}");
}

/// T-PRB-01: a particle on a free cube, with and without the rotation of the cube.
#[test]
fn particle_on_a_free_cube() {
    let shape = Shape::cuboid(DVec3::splat(0.5)).unwrap();
    let mut cube = RigidObstacle::free(shape, Pose::IDENTITY, 2.0).unwrap();
    let point = DVec3::new(0.4, 0.3, 0.5);
    let friction = FrictionModel::Isotropic(0.0);
    let solve = |inverse_mass: DMat3| {
        let a = ClusterPartner::Body { velocity: DVec3::ZERO, inverse_mass };
        let collision = ClusterCollision { a, b: 0, normal: DVec3::Z, restitution: 0.5, friction };
        solve_cluster(&[10.0], &[DVec3::new(0.0, 0.0, -10.0)], &[collision])
    };
    let full = solve(cube.inverse_mass_at(point));
    assert!((full.impulse[0].z - 4.0 / 3.0).abs() < 1e-7 && (full.velocity[0].z - 10.0 / 3.0).abs() < 1e-7);
    cube.apply_impulse(point, -full.impulse[0]);
    assert!((cube.velocity().z + 2.0 / 3.0).abs() < 1e-7);
    assert!((cube.angular_velocity() - DVec3::new(-1.2, 1.6, 0.0)).length() < 1e-7);
    let separation = full.velocity[0].z - cube.velocity_at(point).z;
    assert!((separation - 5.0).abs() < 1e-7);
    let source = solve(DMat3::from_diagonal(DVec3::splat(0.5)));
    assert!(
        (source.impulse[0].z - 1.4285714).abs() < 1e-7 && (source.velocity[0].z - 4.2857143).abs() < 1e-7
    );
}
