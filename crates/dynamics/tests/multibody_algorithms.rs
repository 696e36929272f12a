//! Balances, Jacobian rates, centroidal momentum, reactions, power, inverse kinematics and numbering of articulated bodies.

use crate::multibody_support as support;

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::{
    FixedJoint, FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint,
};
use rattleback_dynamics::multibody::{
    CentroidalMomentum, DoubleDouble, ExtendedDynamics, IkSettings, IkTarget, InverseKinematics, Link,
    LinkTree, MassMatrix, Scalar, SpatialMotion, TreeBuilder, TreeError, Vector, Workspace,
    apply_inverse_mass, bias_acceleration, external_power, forward_dynamics, forward_kinematics,
    forward_velocities, inverse_dynamics, jacobian, jacobian_rate, joint_power, joint_reactions,
};
use support::{G, Random, assert_close, rod};

/// Inertia of a link about its centre of mass along the axes of the world, and the centre.
fn body(tree: &LinkTree, work: &Workspace<f64>, link: usize) -> (f64, DVec3, DMat3) {
    let (given, axes) = (&tree.links()[link], work.rotation(link, 0));
    (given.mass, work.origin(link, 0) + axes * given.center_of_mass, axes * given.inertia * axes.transpose())
}

/// A-T3, A-T5: Newton's and Euler's equations of every link, of the whole, and the power, from classical accelerations of the centres
/// of mass and not from the spatial ones of the algorithm.
#[test]
fn every_link_balances_by_newton_and_euler() {
    let mut random = Random::new(31);
    for seed in 0..200 {
        let tree = random.tree(1 + seed % 20);
        let n = tree.velocity_count();
        let (q, v, forces) = (random.positions(&tree), random.numbers(n, 2.0), random.numbers(n, 10.0));
        let external = random.forces_on(&tree);
        let (mut work, mut a) = (Workspace::new(&tree), vec![0.0; n]);
        forward_dynamics(&tree, &mut work, (&q, &v, &forces), Some(&external), G, &mut a).unwrap();
        joint_reactions(&tree, &mut work, Some(&external)).unwrap();
        let mut power = 0.0;
        for (index, link) in tree.links().iter().enumerate() {
            let (m, center, inertia) = body(&tree, &work, index);
            let (motion, rate) = (work.velocity(index), work.acceleration(index));
            let (omega, alpha) = (motion.angular.lane(0), rate.angular.lane(0));
            let arm = center - work.origin(index, 0);
            // Spatial acceleration + gravity ⇒ acceleration of the material at the centre of mass.
            let at_origin = rate.linear.lane(0) + G + omega.cross(motion.linear.lane(0));
            let acceleration = at_origin + alpha.cross(arm) + omega.cross(omega.cross(arm));
            let (mut force, mut torque) = (m * G, DVec3::ZERO);
            let outer = &external[index];
            force += outer.force.lane(0);
            torque += outer.torque.lane(0) - arm.cross(outer.force.lane(0));
            let own = work.reaction(index);
            force += own.force.lane(0);
            torque += own.torque.lane(0) - arm.cross(own.force.lane(0));
            for (child, _) in tree.links().iter().enumerate().filter(|(_, child)| child.parent == Some(index))
            {
                let other = work.reaction(child);
                force -= other.force.lane(0);
                torque -= other.torque.lane(0) + (work.origin(child, 0) - center).cross(other.force.lane(0));
            }
            let spin = inertia * alpha + omega.cross(inertia * omega);
            let scale = 1.0 + own.force.lane(0).length() + own.torque.lane(0).length() + spin.length();
            assert!((m * acceleration - force).length() < 1e-10 * scale, "seed {seed}, link {}", link.name);
            assert!((spin - torque).length() < 1e-10 * scale, "seed {seed}, link {}", link.name);
            // Rate of kinetic energy and work against gravity.
            let velocity = motion.linear.lane(0) + omega.cross(arm);
            power += velocity.dot(m * acceleration - m * G) + omega.dot(spin);
            for k in tree.velocities_of(index) {
                power += link.armature * v[k] * a[k];
            }
        }
        let fed = joint_power(&forces, &v) + external_power(&work, &external);
        let scale = 1.0 + forces.iter().zip(&v).map(|(f, v)| (f * v).abs()).sum::<f64>();
        assert!((power - fed).abs() < 1e-9 * scale, "seed {seed}: {power} {fed}");
    }
}

/// A-T3, floating: all links together obey Newton and Euler about a fixed point, and A v̇ + Ȧ v is the rate of centroidal momentum.
#[test]
fn centroidal_momentum_changes_by_outer_forces() {
    let mut random = Random::new(37);
    for seed in 0..200 {
        let tree = random.tree(1 + seed % 20);
        // Joints on the world are outer forces too; keep forests of floating links only.
        let links = tree.links().iter().cloned().map(|mut link| {
            if link.parent.is_none() {
                link = Link { joint: std::sync::Arc::new(FreeJoint), armature: 0.0, ..link };
            }
            link
        });
        let tree = LinkTree::new(links.collect()).unwrap();
        let n = tree.velocity_count();
        let (q, v) = (random.positions(&tree), random.numbers(n, 2.0));
        let mut forces = random.numbers(n, 10.0);
        for (index, _) in tree.links().iter().enumerate().filter(|(_, link)| link.parent.is_none()) {
            forces[tree.velocities_of(index)].fill(0.0);
        }
        let external = random.forces_on(&tree);
        let (mut work, mut a) = (Workspace::new(&tree), vec![0.0; n]);
        forward_dynamics(&tree, &mut work, (&q, &v, &forces), Some(&external), G, &mut a).unwrap();
        let mut centroidal = CentroidalMomentum::new(&tree);
        centroidal.compute(&tree, &work).unwrap();
        let center = centroidal.center().lane(0);
        let (mut force, mut torque, mut linear, mut angular) =
            (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
        for (index, outer) in external.iter().enumerate() {
            let (m, at, inertia) = body(&tree, &work, index);
            force += outer.force.lane(0) + m * G;
            torque += outer.torque.lane(0) + (work.origin(index, 0) - center).cross(outer.force.lane(0));
            let omega = work.velocity(index).angular.lane(0);
            let velocity = work.velocity(index).at(Vector::splat(at - work.origin(index, 0))).linear.lane(0);
            linear += m * velocity;
            angular += inertia * omega + (at - center).cross(m * velocity);
        }
        let (mut rate, mut momentum) =
            (centroidal.bias_rate(), rattleback_dynamics::multibody::SpatialForce::default());
        for k in 0..n {
            rate += centroidal.matrix()[k] * a[k];
            momentum += centroidal.matrix()[k] * v[k];
        }
        let scale =
            1.0 + a.iter().fold(0.0_f64, |most, a| most.max(a.abs())) + force.length() + torque.length();
        assert!((rate.force.lane(0) - force).length() < 1e-10 * scale, "seed {seed}");
        assert!((rate.torque.lane(0) - torque).length() < 1e-10 * scale, "seed {seed}");
        for total in [momentum, centroidal.momentum()] {
            assert!((total.force.lane(0) - linear).length() < 1e-11 * (1.0 + linear.length()));
            assert!((total.torque.lane(0) - angular).length() < 1e-11 * (1.0 + angular.length()));
        }
    }
}

/// J̇ by differences along the motion, and J v̇ + J̇ v is the acceleration of the point.
#[test]
fn jacobian_rates_are_those_of_differences() {
    let mut random = Random::new(41);
    for seed in 0..100 {
        let tree = random.tree(1 + seed % 12);
        let n = tree.velocity_count();
        let (q, v) = (random.positions(&tree), random.numbers(n, 1.0));
        let link = (random.unit() * tree.links().len() as f64) as usize;
        let local = random.vector();
        let columns_at = |t: f64| {
            // The motion t ↦ q ⊕ t v, to the fourth order that the difference needs, in pieces.
            let (mut work, mut moved) = (Workspace::<f64>::new(&tree), q.clone());
            for _ in 0..64 {
                tree.advance(&mut moved, &v, t / 64.0);
            }
            forward_kinematics(&tree, &mut work, &moved);
            let point = work.origin(link, 0) + work.rotation(link, 0) * local;
            let mut columns = vec![SpatialMotion::default(); n];
            jacobian(&tree, &work, link, Vector::splat(point), &mut columns).unwrap();
            columns
        };
        let h = 1e-4;
        let (before, after) = (columns_at(-h), columns_at(h));
        let mut work = Workspace::new(&tree);
        forward_velocities(&tree, &mut work, &q, &v);
        let point = Vector::splat(work.origin(link, 0) + work.rotation(link, 0) * local);
        let mut rates = vec![SpatialMotion::default(); n];
        jacobian_rate(&tree, &work, (&q, &v), link, point, &mut rates).unwrap();
        let mut sum = SpatialMotion::default();
        for k in 0..n {
            let slope = (after[k] - before[k]) * (0.5 / h);
            let off = (slope.angular - rates[k].angular).lane(0).length()
                + (slope.linear - rates[k].linear).lane(0).length();
            let size = 1.0 + slope.linear.lane(0).length();
            assert!(off < 1e-5 * size, "seed {seed}, column {k}: {off:e}");
            sum += rates[k] * v[k];
        }
        let bias = bias_acceleration(&tree, &work, link, point).unwrap();
        let off = (sum.angular - bias.angular).lane(0).length() + (sum.linear - bias.linear).lane(0).length();
        assert!(off < 1e-11 * (1.0 + bias.linear.lane(0).length()), "seed {seed}: {off:e}");
    }
}

/// H⁻¹ x by the factors of the articulated-body algorithm.
#[test]
fn inverse_mass_times_a_vector_is_what_forward_dynamics_adds() {
    let mut random = Random::new(43);
    for seed in 0..100 {
        let tree = random.tree(1 + seed % 15);
        let n = tree.velocity_count();
        let (q, v, x) = (random.positions(&tree), random.numbers(n, 1.0), random.numbers(n, 1.0));
        let (mut work, mut without, mut with) = (Workspace::new(&tree), vec![0.0; n], vec![0.0; n]);
        forward_dynamics(&tree, &mut work, (&q, &v, &x), None, G, &mut with).unwrap();
        forward_dynamics(&tree, &mut work, (&q, &v, &vec![0.0; n]), None, G, &mut without).unwrap();
        let expected: Vec<f64> = with.iter().zip(&without).map(|(with, without)| with - without).collect();
        let mut got = x.clone();
        apply_inverse_mass(&tree, &mut work, &mut got).unwrap();
        let scale = with.iter().fold(1.0_f64, |most, a| most.max(a.abs()));
        for (got, expected) in got.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-10 * scale, "seed {seed}");
        }
    }
}

/// A-T6: a floating link is a free rigid body.
#[test]
fn a_floating_link_moves_by_eulers_equations() {
    let mut random = Random::new(47);
    for _ in 0..100 {
        let moments = DVec3::new(0.3, 0.4, 0.5);
        let link =
            Link::new("body", None, FreeJoint).with_mass(2.0, DVec3::ZERO, DMat3::from_diagonal(moments));
        let tree = LinkTree::new(vec![link]).unwrap();
        let (q, v, f) = (random.positions(&tree), random.numbers(6, 3.0), random.numbers(6, 5.0));
        let (mut work, mut a) = (Workspace::new(&tree), vec![0.0; 6]);
        forward_dynamics(&tree, &mut work, (&q, &v, &f), None, G, &mut a).unwrap();
        let (velocity, omega) = (DVec3::from_slice(&v), DVec3::from_slice(&v[3..]));
        let back = work.rotation(0, 0).transpose();
        // Joint forces of a free joint act along the link's axes; so do its accelerations, v̇ = a − ω × v.
        let linear = DVec3::from_slice(&f) / 2.0 + back * G - omega.cross(velocity);
        let angular = (DVec3::from_slice(&f[3..]) - omega.cross(moments * omega)) / moments;
        let expected: Vec<f64> = linear.to_array().into_iter().chain(angular.to_array()).collect();
        assert_close(&a, &expected, 1e-12, "free body");
    }
}

/// A-T6, A-T10: numbering depth first, children in the order of their joints; a chain from the builder is the chain given in order, bit for bit.
#[test]
fn any_order_of_links_gives_a_tree_in_order() {
    let mut random = Random::new(53);
    for seed in 0..200 {
        let count = 1 + seed % 30;
        let mut builder = TreeBuilder::new();
        let mut parents = vec![None; count];
        // Names in a shuffled order: link k of the mechanism is added at a random time.
        let mut order: Vec<usize> = (0..count).collect();
        for k in (1..count).rev() {
            order.swap(k, (random.unit() * (k + 1) as f64) as usize);
        }
        for k in &order {
            builder.link(rod(Link::new(k.to_string(), None, RevoluteJoint { axis: DVec3::Y })));
        }
        for k in 1..count {
            let parent = (random.unit() * k as f64) as usize;
            parents[k] = Some(parent);
            builder.connect(&parent.to_string(), &k.to_string()).unwrap();
        }
        let tree = builder.build().unwrap();
        assert_eq!(tree.links().len(), count);
        for (index, link) in tree.links().iter().enumerate() {
            assert!(link.parent.is_none_or(|parent| parent < index));
            let named = link.parent.map(|parent| tree.links()[parent].name.parse::<usize>().unwrap());
            assert_eq!(named, parents[link.name.parse::<usize>().unwrap()]);
        }
        // Children of one parent in the order in which they were added, and subtrees contiguous.
        for (index, link) in tree.links().iter().enumerate() {
            let place = |name: &str| order.iter().position(|k| k.to_string() == name).unwrap();
            let children: Vec<usize> =
                (0..count).filter(|k| tree.links()[*k].parent == Some(index)).collect();
            assert!(
                children.is_sorted_by_key(|k| place(&tree.links()[*k].name)),
                "seed {seed} {}",
                link.name
            );
            if let Some(first) = children.first() {
                assert_eq!(*first, index + 1, "the first child follows its parent");
            }
        }
    }
    let link = |k: usize| {
        rod(Link::new(k.to_string(), k.checked_sub(1), RevoluteJoint { axis: DVec3::Y })
            .at(DVec3::new(0.0, 0.0, -1.0), DQuat::IDENTITY))
    };
    let serial = LinkTree::new((0..20).map(link).collect()).unwrap();
    let mut builder = TreeBuilder::new();
    (0..20).rev().for_each(|k| {
        builder.link(link(k));
    });
    (1..20).for_each(|k| {
        builder.connect(&(k - 1).to_string(), &k.to_string()).unwrap();
    });
    let built = builder.build().unwrap();
    let (q, v) = (random.numbers(20, 1.0), random.numbers(20, 1.0));
    let result = |tree: &LinkTree| {
        let mut a = vec![0.0; 20];
        forward_dynamics(tree, &mut Workspace::new(tree), (&q, &v, &[0.0; 20]), None, G, &mut a).unwrap();
        a
    };
    assert_eq!(result(&serial), result(&built));
}

#[test]
fn cycles_two_parents_and_unknown_names_are_refused() {
    let with = |names: &[&str]| {
        let mut builder = TreeBuilder::new();
        for name in names {
            builder.link(rod(Link::new(*name, None, RevoluteJoint { axis: DVec3::Y })));
        }
        builder
    };
    let mut cycle = with(&["root", "a", "b", "c"]);
    cycle.connect("a", "b").unwrap().connect("b", "c").unwrap().connect("c", "a").unwrap();
    let Err(TreeError::Cycle { mut links }) = cycle.build() else { panic!("a cycle is no tree") };
    links.sort();
    assert_eq!(links, ["a", "b", "c"]);
    let mut own = with(&["a"]);
    own.connect("a", "a").unwrap();
    assert!(own.build().unwrap_err().to_string().contains("cycle: a"));
    let mut two = with(&["a", "b", "c"]);
    two.connect("a", "c").unwrap().connect("b", "c").unwrap();
    assert!(matches!(two.build(), Err(TreeError::TwoParents { link, .. }) if link == "c"));
    let mut unknown = with(&["a"]);
    unknown.connect("nothing", "a").unwrap();
    assert!(matches!(unknown.build(), Err(TreeError::UnknownLink { name, .. }) if name == "nothing"));
    assert!(with(&["a"]).connect("a", "nothing").is_err());
    assert!(matches!(with(&["a", "a"]).build(), Err(TreeError::DuplicateName { .. })));
    // Depth of a hundred thousand without recursion, and a cycle of that length.
    let count = 100_000;
    let mut long = TreeBuilder::new();
    for k in 0..count {
        long.link(rod(Link::new(k.to_string(), None, RevoluteJoint { axis: DVec3::Y })));
    }
    for k in 1..count {
        long.connect(&(k - 1).to_string(), &k.to_string()).unwrap();
    }
    let mut round = long.clone();
    assert_eq!(long.build().unwrap().velocity_count(), count);
    round.connect(&(count - 1).to_string(), "0").unwrap();
    assert!(matches!(round.build(), Err(TreeError::Cycle { links }) if links.len() == count));
}

/// A-T7: the same floating chain described from its other end.
#[test]
fn the_choice_of_the_base_changes_nothing() {
    let inertia = DMat3::from_diagonal(DVec3::new(0.1, 0.12, 0.15));
    let center = DVec3::new(0.1, 0.2, -0.3);
    let axes = [DVec3::X, DVec3::Y, DVec3::new(0.6, 0.0, 0.8)];
    let offset = DVec3::new(0.3, 0.1, -0.5);
    let count = axes.len() + 1;
    let masses = [1.0, 0.5, 2.0, 0.7];
    let forward: Vec<Link> = (0..count)
        .map(|k| {
            let link = match k {
                0 => Link::new("0", None, FreeJoint),
                _ => Link::new(k.to_string(), Some(k - 1), RevoluteJoint { axis: axes[k - 1] })
                    .at(offset, DQuat::IDENTITY),
            };
            link.with_mass(masses[k], center, inertia)
        })
        .collect();
    let forward = LinkTree::new(forward).unwrap();
    // Backwards each link's frame sits at the joint towards the other end: its origin is `offset` away from the forward one (none for the first joint of
    // the last link, which has only one).
    let backward: Vec<Link> = (0..count)
        .map(|step| {
            let k = count - 1 - step;
            // Frame of link k in backward numbering: at joint k + 1 of the forward chain, that is `offset` in link k.
            let shift = if step == 0 { DVec3::ZERO } else { offset };
            let link = if step == 0 {
                Link::new(k.to_string(), None, FreeJoint)
            } else {
                // Joint between k + 1 and k: in link k + 1 it is at its forward origin, −shift of that link's backward frame.
                let parent_shift = if step == 1 { DVec3::ZERO } else { offset };
                Link::new(k.to_string(), Some(step - 1), RevoluteJoint { axis: -axes[k] })
                    .at(-parent_shift, DQuat::IDENTITY)
            };
            link.with_mass(masses[k], center - shift, inertia)
        })
        .collect();
    let backward = LinkTree::new(backward).unwrap();
    let mut random = Random::new(59);
    for _ in 0..50 {
        let (q, v, f) = (random.positions(&forward), random.numbers(9, 2.0), random.numbers(3, 2.0));
        let mut work = Workspace::new(&forward);
        forward_velocities(&forward, &mut work, &q, &v);
        let last = count - 1;
        let axes_of_last = work.rotation(last, 0);
        let attitude = DQuat::from_mat3(&axes_of_last);
        let motion = work.velocity(last);
        let mut q_back = work.origin(last, 0).to_array().to_vec();
        q_back.extend(attitude.to_array());
        q_back.extend(q[7..].iter().rev());
        let mut v_back = (axes_of_last.transpose() * motion.linear.lane(0)).to_array().to_vec();
        v_back.extend((axes_of_last.transpose() * motion.angular.lane(0)).to_array());
        v_back.extend(v[6..].iter().rev());
        let (mut forces, mut forces_back) = (vec![0.0; 6], vec![0.0; 6]);
        forces.extend(&f);
        forces_back.extend(f.iter().rev());
        let mut a = vec![0.0; 9];
        forward_dynamics(&forward, &mut work, (&q, &v, &forces), None, G, &mut a).unwrap();
        let (mut work_back, mut a_back) = (Workspace::new(&backward), vec![0.0; 9]);
        forward_dynamics(&backward, &mut work_back, (&q_back, &v_back, &forces_back), None, G, &mut a_back)
            .unwrap();
        let reversed: Vec<f64> = a_back[6..].iter().rev().copied().collect();
        assert_close(&reversed, &a[6..], 1e-9, "joints");
        for k in 0..count {
            let (here, there) = (work.acceleration(k), work_back.acceleration(count - 1 - k));
            let arm = work_back.origin(count - 1 - k, 0) - work.origin(k, 0);
            let shifted = here.at(Vector::splat(arm));
            assert_close(
                &shifted.angular.lane(0).to_array(),
                &there.angular.lane(0).to_array(),
                1e-9,
                "links",
            );
            assert_close(&shifted.linear.lane(0).to_array(), &there.linear.lane(0).to_array(), 1e-9, "links");
        }
    }
}

/// A-T8, on a machine that does nothing else: `cargo test --release -p rattleback-dynamics --test suite multibody_algorithms -- --ignored`.
#[test]
#[ignore = "measures time: cargo test --release -p rattleback-dynamics --test suite multibody_algorithms -- --ignored"]
fn time_grows_with_the_length() {
    let chain = |count: usize| {
        let link = |k: usize| {
            rod(Link::new(k.to_string(), k.checked_sub(1), RevoluteJoint { axis: DVec3::Y })
                .at(DVec3::new(0.0, 0.0, -1.0), DQuat::IDENTITY))
        };
        LinkTree::new((0..count).map(link).collect()).unwrap()
    };
    let seconds = |tree: &LinkTree| {
        let n = tree.velocity_count();
        let (q, mut a) = (vec![0.3; n], vec![0.0; n]);
        let mut work = Workspace::new(tree);
        let mut times: Vec<f64> = (0..201)
            .map(|_| {
                let start = std::time::Instant::now();
                forward_dynamics(tree, &mut work, (&q, &q, &q), None, G, &mut a).unwrap();
                start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[100]
    };
    let ratio = seconds(&chain(2000)) / seconds(&chain(200));
    println!("time of 2000 links in parts of that of 200: {ratio:.2}");
    assert!((8.0..13.0).contains(&ratio), "{ratio}");
}

fn arm() -> LinkTree {
    let axes = [DVec3::Z, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z, DVec3::Y, DVec3::Z];
    let mut links: Vec<Link> = axes
        .into_iter()
        .enumerate()
        .map(|(k, axis)| {
            rod(Link::new(k.to_string(), k.checked_sub(1), RevoluteJoint { axis })
                .at(DVec3::new(0.05, 0.0, if k == 0 { 0.0 } else { 0.3 }), DQuat::IDENTITY))
        })
        .collect();
    links.push(Link::new("flange", Some(6), FixedJoint).at(DVec3::new(0.0, 0.0, 0.1), DQuat::IDENTITY));
    LinkTree::new(links).unwrap()
}

/// Positions taken from a random posture are reached again from another; limits hold; what cannot be reached is reported.
#[test]
fn inverse_kinematics_reaches_what_can_be_reached() {
    let (tree, mut random) = (arm(), Random::new(61));
    let mut solver = InverseKinematics::new(&tree, 1);
    let mut work = Workspace::new(&tree);
    let settings = IkSettings::default();
    let mut reached = 0;
    for _ in 0..100 {
        let goal = random.numbers(7, 1.5);
        forward_kinematics(&tree, &mut work, &goal);
        let local = DVec3::new(0.0, 0.02, 0.1);
        let (place, axes) = (work.origin(7, 0) + work.rotation(7, 0) * local, work.rotation(7, 0));
        let target = IkTarget::point(7, local, place).with_rotation(DQuat::from_mat3(&axes));
        let mut q: Vec<f64> = goal.iter().map(|q| q + 0.3 * random.signed()).collect();
        let limits = [[-2.0, 2.0]; 7];
        let report = solver.solve(&tree, &mut work, &[target], Some(&limits), &settings, &mut q).unwrap();
        assert!(q.iter().all(|q| (-2.0..=2.0).contains(q)));
        if report.converged {
            reached += 1;
            let here = work.origin(7, 0) + work.rotation(7, 0) * local;
            assert!((here - place).length() < 1e-9, "{report:?}");
            assert!((work.rotation(7, 0) - axes).abs().to_cols_array().iter().all(|x| *x < 1e-9));
        }
    }
    assert!(reached >= 97, "{reached} of 100");
    // Ten metres away: the arm stretches towards it and reports the failure.
    let far = IkTarget::point(7, DVec3::ZERO, DVec3::new(10.0, 0.0, 0.0));
    let mut q = vec![0.1, 0.4, 0.1, 0.4, 0.1, 0.4, 0.1];
    let report = solver.solve(&tree, &mut work, &[far], None, &settings, &mut q).unwrap();
    assert!(!report.converged && report.error > 7.5 && report.error < 8.5, "{report:?}");
    assert!(q.iter().all(|q| q.is_finite()));
    // A limit in the way: the joint ends on it.
    let slide = LinkTree::new(vec![
        Link::new("slide", None, PrismaticJoint { axis: DVec3::X }).with_mass(
            1.0,
            DVec3::ZERO,
            DMat3::IDENTITY,
        ),
        rod(Link::new("ball", Some(0), SphericalJoint)),
    ])
    .unwrap();
    let mut solver = InverseKinematics::new(&slide, 1);
    let mut work = Workspace::new(&slide);
    let mut q = slide.neutral();
    let limits = [[-0.5, 0.5], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]];
    let target = IkTarget::point(0, DVec3::ZERO, DVec3::new(3.0, 0.0, 0.0));
    let report = solver.solve(&slide, &mut work, &[target], Some(&limits), &settings, &mut q).unwrap();
    assert!(!report.converged && report.at_limit == 1 && q[0] == 0.5, "{report:?}");
    assert!(solver.solve(&slide, &mut work, &[], None, &settings, &mut q).is_err());
}

/// Reactions of forward dynamics are those of inverse dynamics.
#[test]
fn reactions_are_the_same_from_both_sides() {
    let mut random = Random::new(67);
    let tree = random.tree(15);
    let n = tree.velocity_count();
    let (q, v, f) = (random.positions(&tree), random.numbers(n, 2.0), random.numbers(n, 10.0));
    let (mut work, mut a) = (Workspace::new(&tree), vec![0.0; n]);
    forward_dynamics(&tree, &mut work, (&q, &v, &f), None, G, &mut a).unwrap();
    joint_reactions(&tree, &mut work, None).unwrap();
    let (mut other, mut back) = (Workspace::new(&tree), vec![0.0; n]);
    inverse_dynamics(&tree, &mut other, (&q, &v, &a), None, G, &mut back).unwrap();
    for link in 0..tree.links().len() {
        let (x, y) = (work.reaction(link), other.reaction(link));
        assert_close(&x.force.lane(0).to_array(), &y.force.lane(0).to_array(), 1e-10, "force");
        assert_close(&x.torque.lane(0).to_array(), &y.torque.lane(0).to_array(), 1e-10, "torque");
    }
}

/// H v̇ = τ − h with 106 bits, the matrix by composite inertias: another algorithm than the one that is checked.
fn accelerations_of_106_bits(tree: &LinkTree, q: &[f64], v: &[f64], forces: &[f64]) -> Vec<f64> {
    let wide = |x: &[f64]| x.iter().map(|x| DoubleDouble::splat(*x)).collect::<Vec<_>>();
    let (q, v, n) = (wide(q), wide(v), v.len());
    let (mut work, mut mass) = (Workspace::new(tree), MassMatrix::new(tree));
    let (still, mut rest) = (vec![DoubleDouble::default(); n], vec![DoubleDouble::default(); n]);
    inverse_dynamics(tree, &mut work, (&q, &v, &still), None, G, &mut rest).unwrap();
    for (rest, force) in rest.iter_mut().zip(wide(forces)) {
        *rest = force - *rest;
    }
    mass.compute(tree, &mut work, &q).unwrap();
    mass.solve(&mut rest).unwrap();
    rest.into_iter().map(|a| a.high).collect()
}

/// Three hinges whose axes meet, with almost a point beyond them: doubles lose most of their digits there, `ExtendedDynamics` none.
#[test]
fn joints_that_move_almost_no_mass_keep_their_digits() {
    let (mut worst, mut worst_in_doubles) = (0.0_f64, 0.0_f64);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let tiny = 10.0_f64.powf(-6.0 - 9.0 * random.unit());
        let mut links = vec![rod(Link::new("arm", None, RevoluteJoint { axis: random.direction() }))];
        for name in ["yaw", "pitch", "roll"] {
            let at = if name == "yaw" { DVec3::new(0.0, 0.0, -1.0) } else { DVec3::ZERO };
            let joint = RevoluteJoint { axis: random.direction() };
            links.push(Link::new(name, Some(links.len() - 1), joint).at(at, random.rotation()));
        }
        let head = links.pop().unwrap();
        let inertia = tiny * DMat3::from_diagonal(DVec3::new(1.0, 1.3, 0.9));
        links.push(head.with_mass(1.0, 0.2 * random.direction(), inertia));
        let tree = LinkTree::new(links).unwrap();
        let n = tree.velocity_count();
        let (q, v, forces) = (random.numbers(n, 3.0), random.numbers(n, 2.0), random.numbers(n, 1.0));
        let exact = accelerations_of_106_bits(&tree, &q, &v, &forces);
        let size = exact.iter().fold(0.0_f64, |size, a| size.max(a.abs()));
        let error = |a: &[f64]| a.iter().zip(&exact).fold(0.0_f64, |e, (a, b)| e.max((a - b).abs())) / size;
        let (mut dynamics, mut a) = (ExtendedDynamics::new(&tree), vec![0.0; n]);
        dynamics.forward(&tree, (&q, &v, &forces), None, G, &mut a).unwrap();
        worst = worst.max(error(&a));
        // The links' accelerations are those of the joints: forces through joints balance.
        joint_reactions(&tree, dynamics.workspace(), None).unwrap();
        assert!(dynamics.workspace().reaction(0).force.lane(0).is_finite());
        if forward_dynamics(&tree, &mut Workspace::new(&tree), (&q, &v, &forces), None, G, &mut a).is_ok() {
            worst_in_doubles = worst_in_doubles.max(error(&a));
        }
    }
    println!("from 106 bits: {worst:e}, in doubles {worst_in_doubles:e}");
    assert!(worst < 1e-9, "{worst:e}");
    assert!(worst_in_doubles > 1e-8, "the sample is too easy: {worst_in_doubles:e}");
}

/// Trees with ordinary masses get the bits of the plain algorithm; of random ones, in which axes of one joint may be nearly parallel, some are computed with extended
/// numbers, which then differ from doubles by rounding only.
#[test]
fn ordinary_trees_rarely_need_extended_numbers() {
    let mut count = 0;
    for seed in 0..100 {
        let mut random = Random::new(seed);
        let tree = random.tree(1 + seed as usize % 30);
        let n = tree.velocity_count();
        let q = random.positions(&tree);
        let (v, forces, outside) = (random.numbers(n, 2.0), random.numbers(n, 2.0), random.forces_on(&tree));
        let (mut plain, mut a) = (vec![0.0; n], vec![0.0; n]);
        let state = (&q[..], &v[..], &forces[..]);
        forward_dynamics(&tree, &mut Workspace::new(&tree), state, Some(&outside), G, &mut plain).unwrap();
        let extended = ExtendedDynamics::new(&tree).forward(&tree, state, Some(&outside), G, &mut a).unwrap();
        if extended {
            count += 1;
            assert_close(&plain, &a, 1e-9, &format!("seed {seed}"));
        } else {
            assert_eq!(plain, a, "seed {seed}");
        }
    }
    assert!(count <= 10, "{count} of 100");
}
