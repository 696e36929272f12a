//! Articulated bodies in joint coordinates against closed forms, balances and each other.

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::{
    FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint, UniversalJoint,
};
use rattleback_dynamics::multibody::{
    Collocation, DynamicsError, Lanes, Link, LinkTree, MassMatrix, Scalar, SpatialForce, SpatialMotion,
    TreeError, Vector, Workspace, center_of_mass, forward_dynamics, forward_dynamics_of_four,
    forward_velocities, impulse_response, inverse_dynamics, inverse_mass, jacobian, kinetic_energy, momentum,
    potential_energy,
};

use crate::multibody_support as support;
use support::{G, Random, floating_tree, rod};

fn accelerations(tree: &LinkTree, q: &[f64], v: &[f64], forces: &[f64]) -> Vec<f64> {
    let mut result = vec![0.0; tree.velocity_count()];
    forward_dynamics(tree, &mut Workspace::new(tree), (q, v, forces), None, G, &mut result).unwrap();
    result
}

fn assert_near(got: &[f64], expected: &[f64], tolerance: f64) {
    for (got, expected) in got.iter().zip(expected) {
        assert!(
            (got - expected).abs() <= tolerance * expected.abs().max(1e-3),
            "{got} instead of {expected}"
        );
    }
}

/// A-T1: three states whose accelerations are known in closed form.
#[test]
fn accelerations_of_three_mechanisms_are_those_of_their_equations() {
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let below = |length: f64| DVec3::new(0.0, 0.0, -length);
    let pendulum = LinkTree::new(vec![
        rod(Link::new("upper", None, hinge)),
        rod(Link::new("lower", Some(0), hinge).at(below(1.0), DQuat::IDENTITY)),
    ])
    .unwrap();
    let got = accelerations(&pendulum, &[0.5, -0.8], &[1.2, -1.9], &[0.0; 2]);
    assert_near(&got, &[-9.579358852943452, 25.488433226442837], 1e-12);

    let slide = PrismaticJoint { axis: DVec3::X };
    let cart = LinkTree::new(vec![
        Link::new("cart", None, slide).with_mass(2.0, DVec3::ZERO, DMat3::IDENTITY),
        rod(Link::new("rod", Some(0), hinge)),
    ])
    .unwrap();
    let got = accelerations(&cart, &[0.2, 0.4], &[0.7, 1.5], &[3.0, 0.0]);
    assert_near(&got, &[-0.03260490495580, -5.77533756632373], 1e-11);

    let base = rod(Link::new("base", None, FreeJoint));
    let base = base.clone().with_mass(1.0, DVec3::ZERO, base.inertia);
    let floating =
        LinkTree::new(vec![base, rod(Link::new("rod", Some(0), hinge).at(below(0.5), DQuat::IDENTITY))])
            .unwrap();
    let mut q = floating.neutral();
    q[7] = 0.6;
    let v = [0.0, 0.0, 0.0, 0.3, -0.8, 0.2, 1.3];
    let got = accelerations(&floating, &q, &v, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4]);
    let turning = [-0.155438041815, -3.580858115671, -1.285279235256, 6.952057649023346];
    assert_near(&got[3..], &turning, 1e-11);
    assert_near(&got[..3], &[-0.213178314055, 7.77606e-6, -10.530064500871], 1e-10);
}

/// A-T2: forward against inverse dynamics and against the mass matrix of unit accelerations, over random forests.
#[test]
fn forward_and_inverse_dynamics_and_the_mass_matrix_agree() {
    let mut random = Random::new(7);
    for seed in 0..1000 {
        let tree = random.tree(1 + seed % 40);
        let n = tree.velocity_count();
        let (q, v, forces) = (random.positions(&tree), random.numbers(n, 2.0), random.numbers(n, 10.0));
        let force = |random: &mut Random| SpatialForce {
            torque: Vector::splat(random.vector()),
            force: Vector::splat(random.vector()),
        };
        let external: Vec<_> = tree.links().iter().map(|_| force(&mut random)).collect();
        let mut work = Workspace::new(&tree);
        let mut a = vec![0.0; n];
        forward_dynamics(&tree, &mut work, (&q, &v, &forces), Some(&external), G, &mut a).unwrap();
        let mut back = vec![0.0; n];
        inverse_dynamics(&tree, &mut work, (&q, &v, &a), Some(&external), G, &mut back).unwrap();
        let scale = forces.iter().fold(1.0_f64, |most, force| most.max(force.abs()));
        for (given, got) in forces.iter().zip(&back) {
            assert!((given - got).abs() < 1e-9 * scale, "seed {seed}: {given} {got}");
        }
        // H a = τ − bias, with both from inverse dynamics.
        let mut bias = vec![0.0; n];
        inverse_dynamics(&tree, &mut work, (&q, &v, &vec![0.0; n]), Some(&external), G, &mut bias).unwrap();
        let mut mass = MassMatrix::new(&tree);
        mass.compute(&tree, &mut work, &q).unwrap();
        let mut dense = vec![0.0; n * n];
        mass.write_dense(&mut dense);
        // Column k of H is what inverse dynamics needs for a unit of acceleration k, at rest and without gravity.
        let (still, mut unit, mut column) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        for k in 0..n {
            unit[k] = 1.0;
            inverse_dynamics(&tree, &mut work, (&q, &still, &unit), None, DVec3::ZERO, &mut column).unwrap();
            unit[k] = 0.0;
            let largest = column.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            for (i, entry) in column.iter().enumerate() {
                assert!((entry - dense[i * n + k]).abs() < 1e-11 * largest, "seed {seed}: H {i} {k}");
            }
        }
        let mut product = vec![0.0; n];
        mass.multiply(&a, &mut product);
        let mut solved: Vec<f64> = forces.iter().zip(&bias).map(|(force, bias)| force - bias).collect();
        for k in 0..n {
            let expected: f64 = (0..n).map(|j| dense[k * n + j] * a[j]).sum();
            assert!((product[k] - expected).abs() < 1e-9 * scale.max(expected.abs()));
            assert!((product[k] - solved[k]).abs() < 1e-8 * scale.max(solved[k].abs()), "seed {seed}");
        }
        mass.solve(&mut solved).unwrap();
        let largest = a.iter().fold(1.0_f64, |most, a| most.max(a.abs()));
        for (expected, got) in a.iter().zip(&solved) {
            assert!((expected - got).abs() < 1e-9 * largest, "seed {seed}: {expected} {got}");
        }
    }
}

/// A-T3, A-T5: without gravity the momentum of a floating tree keeps; energy changes by what joint forces do.
#[test]
fn momentum_stays_and_energy_changes_by_the_power_of_the_joints() {
    let mut random = Random::new(11);
    for seed in 0..300 {
        let tree = random.tree(1 + seed % 12);
        let n = tree.velocity_count();
        let (q, v, forces) = (random.positions(&tree), random.numbers(n, 2.0), random.numbers(n, 10.0));
        let a = accelerations(&tree, &q, &v, &forces);
        // States a moment later and earlier, to second order.
        let at = |h: f64| {
            let mut q = q.clone();
            let mean: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + 0.5 * h * a).collect();
            tree.advance(&mut q, &mean, h);
            let v: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + h * a).collect();
            let mut work = Workspace::<f64>::new(&tree);
            forward_velocities(&tree, &mut work, &q, &v);
            kinetic_energy(&tree, &work, &v) + potential_energy(&tree, &work, G)
        };
        let h = 1e-6;
        let rate = (at(h) - at(-h)) / (2.0 * h);
        let power: f64 = forces.iter().zip(&v).map(|(force, v)| force * v).sum();
        assert!((rate - power).abs() < 1e-6 * (at(0.0).abs() + power.abs()), "seed {seed}: {rate} {power}");
    }
    // One floating tree: the joint forces inside it change neither momentum.
    let links = vec![
        rod(Link::new("base", None, FreeJoint)),
        rod(Link::new("arm", Some(0), SphericalJoint).at(DVec3::X, DQuat::IDENTITY)),
        rod(Link::new("hand", Some(1), UniversalJoint { first: DVec3::X, second: DVec3::Y })),
        rod(Link::new("slide", Some(0), PrismaticJoint { axis: DVec3::Y })),
    ];
    let tree = LinkTree::new(links).unwrap();
    let n = tree.velocity_count();
    let (q, v) = (random.positions(&tree), random.numbers(n, 2.0));
    // Small: a rod is easily spun about its own axis, and differences need accelerations that vary slowly.
    let mut forces = random.numbers(n, 0.01);
    forces[..6].fill(0.0);
    let mut a = vec![0.0; n];
    let mut work = Workspace::new(&tree);
    forward_dynamics(&tree, &mut work, (&q, &v, &forces), None, DVec3::ZERO, &mut a).unwrap();
    let at = |h: f64| {
        let mut q = q.clone();
        let mean: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + 0.5 * h * a).collect();
        tree.advance(&mut q, &mean, h);
        let v: Vec<f64> = v.iter().zip(&a).map(|(v, a)| v + h * a).collect();
        let mut work = Workspace::<f64>::new(&tree);
        forward_velocities(&tree, &mut work, &q, &v);
        let total = momentum(&tree, &work, Vector::default());
        assert!((center_of_mass(&tree, &work).0 - 4.0).abs() < 1e-12);
        (total.force.lane(0), total.torque.lane(0))
    };
    let (before, after) = (at(-1e-6), at(1e-6));
    assert!((before.0 - after.0).length() < 1e-9 && (before.1 - after.1).length() < 1e-9);
}

/// B-T1, B-T2, B-T3: impulse response is H⁻¹ Jᵀ P and K is J H⁻¹ Jᵀ, over random forests; B4's values.
#[test]
fn impulses_change_velocities_by_the_inverse_mass_matrix() {
    let mut random = Random::new(13);
    for seed in 0..300 {
        let tree = random.tree(1 + seed % 15);
        let n = tree.velocity_count();
        let (q, v, zero) = (random.positions(&tree), random.numbers(n, 2.0), vec![0.0; n]);
        let mut work = Workspace::new(&tree);
        forward_dynamics(&tree, &mut work, (&q, &v, &zero), None, G, &mut zero.clone()).unwrap();
        let link = (random.unit() * tree.links().len() as f64) as usize;
        let (origin, p) = (work.origin(link, 0), random.vector());
        let point = origin + random.vector();
        let k = inverse_mass(&tree, &work, link, Vector::splat(point)).unwrap().lane(0);
        let mut columns = vec![SpatialMotion::default(); n];
        jacobian(&tree, &work, link, Vector::splat(point), &mut columns).unwrap();
        let linear: Vec<DVec3> = columns.iter().map(|column| column.linear.lane(0)).collect();
        let impulse =
            SpatialForce { torque: Vector::splat((point - origin).cross(p)), force: Vector::splat(p) };
        let mut change = vec![0.0; n];
        impulse_response(&tree, &mut work, link, impulse, &mut change).unwrap();
        let mut expected: Vec<f64> = linear.iter().map(|column| column.dot(p)).collect();
        let mut mass = MassMatrix::new(&tree);
        mass.compute(&tree, &mut work, &q).unwrap();
        mass.solve(&mut expected).unwrap();
        for (expected, got) in expected.iter().zip(&change) {
            assert!((expected - got).abs() < 1e-9, "seed {seed}: {expected} {got}");
        }
        let moved: DVec3 = linear.iter().zip(&change).map(|(column, change)| *column * *change).sum();
        assert!(
            (moved - k * p).length() < 1e-9
                && (k - k.transpose()).abs().to_cols_array().iter().all(|x| *x < 1e-10)
        );
    }
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let arm = |first: Link| {
        LinkTree::new(vec![
            rod(first),
            rod(Link::new("lower", Some(0), hinge).at(DVec3::new(0.0, 0.0, -1.0), DQuat::IDENTITY)),
        ])
        .unwrap()
    };
    let tip = |tree: &LinkTree, q: &[f64]| {
        let n = tree.velocity_count();
        let mut work = Workspace::new(tree);
        forward_dynamics(tree, &mut work, (q, &vec![0.0; n], &vec![0.0; n]), None, G, &mut vec![0.0; n])
            .unwrap();
        let axes = work.rotation(1, 0);
        let point = work.origin(1, 0) - axes.z_axis;
        axes.transpose() * inverse_mass(tree, &work, 1, Vector::splat(point)).unwrap().lane(0) * axes
    };
    let grounded = arm(Link::new("upper", None, hinge));
    let straight = tip(&grounded, &[0.0, 0.0]);
    assert!((straight.x_axis - DVec3::X * (24.0 / 7.0)).length() < 1e-12 && straight.z_axis.length() < 1e-12);
    let bent = tip(&grounded, &[0.0, 0.7]);
    assert!((bent.x_axis - DVec3::new(3.1634770883210868, 0.0, -0.2753897039295758)).length() < 1e-12);
    assert!((bent.z_axis.z - 0.46391509543809845).abs() < 1e-12);
    let floating = arm(Link::new("upper", None, FreeJoint));
    let mut q = floating.neutral();
    q[2] = 0.3;
    let free = tip(&floating, &q);
    assert!(
        (free - DMat3::from_diagonal(DVec3::new(3.5, 2.0, 0.5)))
            .abs()
            .to_cols_array()
            .iter()
            .all(|x| *x < 1e-12)
    );
}

/// A-T9: three hinges with massless links between them are a ball joint.
#[test]
fn massless_links_may_lie_between_joints() {
    let hinges = LinkTree::new(vec![
        Link::new("x", None, RevoluteJoint { axis: DVec3::X }),
        Link::new("y", Some(0), RevoluteJoint { axis: DVec3::Y }),
        rod(Link::new("z", Some(1), RevoluteJoint { axis: DVec3::Z })),
    ])
    .unwrap();
    let ball = LinkTree::new(vec![rod(Link::new("ball", None, SphericalJoint))]).unwrap();
    let mut random = Random::new(3);
    for _ in 0..100 {
        let (q, v) = (random.numbers(3, 1.2), random.numbers(3, 3.0));
        let mut work = Workspace::<f64>::new(&hinges);
        forward_velocities(&hinges, &mut work, &q, &v);
        let axes = work.rotation(2, 0);
        let omega = axes.transpose() * work.velocity(2).angular.lane(0);
        let attitude = DQuat::from_mat3(&axes).to_array();
        let mut by_hinges = vec![0.0; 3];
        forward_dynamics(&hinges, &mut work, (&q, &v, &[0.0; 3]), None, G, &mut by_hinges).unwrap();
        let turning = axes.transpose() * work.acceleration(2).angular.lane(0);
        let got = accelerations(&ball, &attitude, &omega.to_array(), &[0.0; 3]);
        assert!((DVec3::from_slice(&got) - turning).length() < 1e-9 * turning.length().max(1.0));
    }
}

/// A lane has the bits of a single state.
#[test]
fn four_states_at_once_are_the_same_four_states() {
    let mut random = Random::new(5);
    let tree = random.tree(20);
    let n = tree.velocity_count();
    let states: [Vec<f64>; 4] = std::array::from_fn(|_| random.positions(&tree));
    let speeds: [Vec<f64>; 4] = std::array::from_fn(|_| random.numbers(n, 2.0));
    let gather = |numbers: &[Vec<f64>; 4]| -> Vec<Lanes> {
        (0..numbers[0].len()).map(|k| Lanes(std::array::from_fn(|lane| numbers[lane][k]))).collect()
    };
    let (q, v, zero) = (gather(&states), gather(&speeds), vec![Lanes::splat(0.0); n]);
    let mut together = zero.clone();
    forward_dynamics_of_four(&tree, &mut Workspace::new(&tree), (&q, &v, &zero), None, G, &mut together)
        .unwrap();
    for lane in 0..4 {
        let single = accelerations(&tree, &states[lane], &speeds[lane], &vec![0.0; n]);
        assert!(together.iter().zip(&single).all(|(lanes, single)| lanes.lane(lane) == *single));
    }
}

#[test]
fn bad_trees_are_refused_with_the_link_named() {
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let one = |link: Link| LinkTree::new(vec![link]).unwrap_err().to_string();
    assert!(one(Link::new("ghost", None, hinge)).contains("`ghost`: its joint moves no mass"));
    assert!(one(rod(Link::new("child", Some(0), hinge))).contains("only 0 links come before"));
    assert!(
        one(rod(Link::new("a", None, RevoluteJoint { axis: DVec3::new(0.0, 2.0, 0.0) })))
            .contains("a unit vector")
    );
    assert!(one(rod(Link::new("a", None, hinge)).at(DVec3::NAN, DQuat::IDENTITY)).contains("finite"));
    assert!(one(rod(Link::new("a", None, hinge)).with_mass(-1.0, DVec3::ZERO, DMat3::ZERO)).contains("mass"));
    let thin = DMat3::from_diagonal(DVec3::new(1.0, 1.0, 3.0));
    assert!(
        one(rod(Link::new("a", None, hinge)).with_mass(1.0, DVec3::ZERO, thin)).contains("that of a body")
    );
    let twice = vec![rod(Link::new("a", None, hinge)), rod(Link::new("a", Some(0), hinge))];
    assert!(matches!(LinkTree::new(twice), Err(TreeError::DuplicateName { .. })));
    let tree = LinkTree::new(vec![rod(Link::new("a", None, hinge))]).unwrap();
    let mut work = Workspace::new(&tree);
    let refused = forward_dynamics(&tree, &mut work, (&[0.0; 2], &[0.0], &[0.0]), None, G, &mut [0.0]);
    assert!(matches!(refused, Err(DynamicsError::Length { what: "positions", found: 2, expected: 1 })));
    assert!(inverse_mass(&tree, &work, 1, Vector::default()).is_err());
    // A chain of a hundred thousand links: nothing recurses.
    let chain = (0..100_000_usize).map(|k| {
        let step = DVec3::new(0.0, 0.0, -1.0);
        rod(Link::new(k.to_string(), k.checked_sub(1), hinge).at(step, DQuat::IDENTITY))
    });
    let chain = LinkTree::new(chain.collect()).unwrap();
    let q = vec![0.0; 100_000];
    assert!(accelerations(&chain, &q, &q, &q).iter().all(|a| a.abs() < 1e-6), "it hangs still");
}

/// A motion watched over a minute: the largest change of the energy in parts of the largest kinetic energy, and of the momentum and the angular
/// momentum about the centre of mass in parts of what they were.
struct Watched {
    energy: f64,
    momentum: f64,
}

fn watch(tree: &LinkTree, mut q: Vec<f64>, mut v: Vec<f64>, gravity: DVec3) -> Watched {
    let (mut method, mut work) = (Collocation::new(tree), Workspace::new(tree));
    let still = vec![0.0; v.len()];
    let observe = |q: &[f64], v: &[f64]| {
        let mut work = Workspace::<f64>::new(tree);
        forward_velocities(tree, &mut work, q, v);
        let total = momentum(tree, &work, center_of_mass(tree, &work).1);
        let energies = (kinetic_energy(tree, &work, v), potential_energy(tree, &work, gravity));
        (energies.0, energies.0 + energies.1, [total.force.lane(0), total.torque.lane(0)])
    };
    let (_, energy, momenta) = observe(&q, &v);
    let (mut largest, mut gained, mut lost) = (0.0_f64, 0.0_f64, 0.0_f64);
    for step in 0..60_000 {
        let forward = |q: &[f64], v: &[f64], _: f64, a: &mut [f64]| {
            forward_dynamics(tree, &mut work, (q, v, &still), None, gravity, a)
        };
        method.step(tree, (&mut q, &mut v), (0.0, 1e-3), forward).unwrap();
        if step % 50 == 0 {
            let now = observe(&q, &v);
            largest = largest.max(now.0);
            gained = gained.max((now.1 - energy).abs());
            for (now, first) in now.2.into_iter().zip(momenta) {
                lost = lost.max((now - first).length() / first.length());
            }
        }
    }
    Watched { energy: gained / largest, momentum: lost }
}

/// A-T4, and tighter: a triple pendulum dropped from the horizontal, and a floating tree without gravity, for a minute at 1 ms.
#[test]
fn a_passive_linkage_keeps_its_energy_and_momentum() {
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let hang = |k: usize| {
        let depth = if k > 0 { 1.0 } else { 0.0 };
        rod(Link::new(k.to_string(), k.checked_sub(1), hinge)
            .at(DVec3::new(0.0, 0.0, -depth), DQuat::IDENTITY))
    };
    let triple = LinkTree::new((0..3).map(hang).collect()).unwrap();
    let watched = watch(&triple, vec![std::f64::consts::FRAC_PI_2, 0.0, 0.0], vec![0.0; 3], G);
    assert!(watched.energy < 1e-10, "{:e}", watched.energy);

    let tree = floating_tree();
    let mut random = Random::new(17);
    let (q, v) = (random.positions(&tree), random.numbers(tree.velocity_count(), 2.0));
    let watched = watch(&tree, q, v, DVec3::ZERO);
    assert!(
        watched.momentum < 1e-12 && watched.energy < 1e-12,
        "{:e} {:e}",
        watched.momentum,
        watched.energy
    );
}
