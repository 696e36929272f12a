//! Analytic derivatives of the dynamics against differences, over random forests with every kind of joint.

use crate::multibody_support as support;

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::{Column, JointKind, RevoluteJoint, column};
use rattleback_dynamics::multibody::{
    DynamicsDerivatives, Link, LinkTree, MassMatrix, SpatialForce, Workspace, forward_dynamics,
    inverse_dynamics,
};
use support::{G, Random, rod};

/// Offsets and weights of a central difference of sixth order.
const STENCIL: [(f64, f64); 6] = [
    (-3.0, -1.0 / 60.0),
    (-2.0, 3.0 / 20.0),
    (-1.0, -3.0 / 4.0),
    (1.0, 3.0 / 4.0),
    (2.0, -3.0 / 20.0),
    (3.0, 1.0 / 60.0),
];

/// f(offset along velocity k) ⇒ matrix of its derivatives, row by row.
fn differences(n: usize, h: f64, mut f: impl FnMut(usize, f64, &mut [f64])) -> Vec<f64> {
    let (mut matrix, mut value) = (vec![0.0; n * n], vec![0.0; n]);
    for k in 0..n {
        for (offset, weight) in STENCIL {
            f(k, offset * h, &mut value);
            for i in 0..n {
                matrix[i * n + k] += weight / h * value[i];
            }
        }
    }
    matrix
}

/// q moved along velocity k alone.
fn displaced(tree: &LinkTree, q: &[f64], k: usize, offset: f64) -> Vec<f64> {
    let (mut way, mut moved) = (vec![0.0; tree.velocity_count()], q.to_vec());
    way[k] = offset;
    tree.advance(&mut moved, &way, 1.0);
    moved
}

fn compare(got: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let scale = expected.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
    let worst = got.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst <= tolerance * scale, "{what}: {worst:e} of {scale:e}");
}

fn check(tree: &LinkTree, random: &mut Random, external: Option<&[SpatialForce<f64>]>, place: &str) {
    let n = tree.velocity_count();
    let (q, v, a) = (random.positions(tree), random.numbers(n, 2.0), random.numbers(n, 5.0));
    let mut work = Workspace::new(tree);
    let mut found = DynamicsDerivatives::new(tree);
    found.inverse(tree, &mut work, (&q, &v, &a), external, G).unwrap();
    let h = 2e-3;
    let by_position = differences(n, h, |k, offset, forces| {
        let q = displaced(tree, &q, k, offset);
        inverse_dynamics(tree, &mut work, (&q, &v, &a), external, G, forces).unwrap();
    });
    compare(found.by_position(), &by_position, 1e-10, &format!("{place}: ∂τ/∂q"));
    let by_velocity = differences(n, 0.1, |k, offset, forces| {
        let mut v = v.clone();
        v[k] += offset;
        inverse_dynamics(tree, &mut work, (&q, &v, &a), external, G, forces).unwrap();
    });
    compare(found.by_velocity(), &by_velocity, 1e-11, &format!("{place}: ∂τ/∂v"));
    let (mut mass, mut dense) = (MassMatrix::new(tree), vec![0.0; n * n]);
    mass.compute(tree, &mut work, &q).unwrap();
    mass.write_dense(&mut dense);
    let mut same = vec![0.0; n * n];
    found.mass_matrix().write_dense(&mut same);
    compare(&same, &dense, 1e-12, &format!("{place}: M"));

    // Forward: the exact derivatives satisfy M ∂q̈ = −∂τ, and differences agree as far as the conditioning of M lets them.
    let mut accelerations = vec![0.0; n];
    let forces = random.numbers(n, 5.0);
    found.forward(tree, &mut work, (&q, &v, &forces), external, G, &mut accelerations).unwrap();
    let step = 1e-4;
    let by_position = differences(n, step, |k, offset, a| {
        let q = displaced(tree, &q, k, offset);
        forward_dynamics(tree, &mut work, (&q, &v, &forces), external, G, a).unwrap();
    });
    compare(found.by_position(), &by_position, 1e-7, &format!("{place}: ∂q̈/∂q"));
    let by_velocity = differences(n, 0.1, |k, offset, a| {
        let mut v = v.clone();
        v[k] += offset;
        forward_dynamics(tree, &mut work, (&q, &v, &forces), external, G, a).unwrap();
    });
    compare(found.by_velocity(), &by_velocity, 1e-8, &format!("{place}: ∂q̈/∂v"));
    let by_force = differences(n, 1.0, |k, offset, a| {
        let mut forces = forces.clone();
        forces[k] += offset;
        forward_dynamics(tree, &mut work, (&q, &v, &forces), external, G, a).unwrap();
    });
    compare(found.by_force(), &by_force, 1e-8, &format!("{place}: ∂q̈/∂τ"));
    // M ∂q̈/∂τ = 1.
    for k in 0..n {
        let x: Vec<f64> = (0..n).map(|i| found.by_force()[i * n + k]).collect();
        let mut y = vec![0.0; n];
        mass.multiply(&x, &mut y);
        y[k] -= 1.0;
        assert!(y.iter().all(|y| y.abs() < 1e-9), "{place}");
    }
}

#[test]
fn derivatives_are_those_of_differences() {
    let mut random = Random::new(23);
    for seed in 0..60 {
        let tree = random.tree(1 + seed % 15);
        let external = random.forces_on(&tree);
        check(&tree, &mut random, (seed % 2 == 0).then_some(&external[..]), &format!("seed {seed}"));
    }
}

/// A joint of one's own without formulas for derivatives: turns about an axis that itself leans with the angle.
#[derive(Debug)]
struct Wobble;

impl JointKind for Wobble {
    fn name(&self) -> &'static str {
        "wobble"
    }
    fn position_count(&self) -> usize {
        2
    }
    fn velocity_count(&self) -> usize {
        2
    }
    fn pose(&self, q: &[f64]) -> (DMat3, DVec3) {
        (DMat3::from_rotation_z(q[0]) * DMat3::from_rotation_x(q[1]), DVec3::new(0.1 * q[0].sin(), 0.0, 0.0))
    }
    fn motion_subspace(&self, q: &[f64], columns: &mut [Column]) {
        let back = DMat3::from_rotation_x(-q[1]) * DMat3::from_rotation_z(-q[0]);
        columns[0] = column(back * DVec3::Z, back * DVec3::new(0.1 * q[0].cos(), 0.0, 0.0));
        columns[1] = column(DVec3::X, DVec3::ZERO);
    }
    fn bias(&self, q: &[f64], v: &[f64]) -> Column {
        // d/dt of the first column in the link's frame: the rotation that brings it there turns back.
        let back = DMat3::from_rotation_x(-q[1]) * DMat3::from_rotation_z(-q[0]);
        let omega = back * DVec3::Z * v[0] + DVec3::X * v[1];
        let linear = back * DVec3::new(0.1 * q[0].cos(), 0.0, 0.0);
        let own = back * DVec3::new(-0.1 * q[0].sin() * v[0], 0.0, 0.0);
        column(-omega.cross(back * DVec3::Z) * v[0], (own - omega.cross(linear)) * v[0])
    }
}

#[test]
fn joints_without_formulas_are_differentiated_by_differences() {
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let tree = LinkTree::new(vec![
        rod(Link::new("a", None, Wobble)),
        rod(Link::new("b", Some(0), hinge).at(DVec3::new(0.1, 0.2, -1.0), DQuat::IDENTITY)),
        rod(Link::new("c", Some(1), Wobble).at(DVec3::new(0.0, 0.2, -1.0), DQuat::from_rotation_x(0.3))),
    ])
    .unwrap();
    let mut random = Random::new(29);
    for seed in 0..10 {
        check(&tree, &mut random, None, &format!("state {seed}"));
    }
}
