//! Mechanisms: what acts in joints, limits, dry friction, couplings, loops, and motion through time.

use crate::multibody_support as support;

use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::multibody::joint::{
    FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint, UniversalJoint,
};
use rattleback_dynamics::multibody::{
    Actuator, Coupling, Element, Friction, Limit, Link, LinkTree, LoopClosure, LoopKind, Mechanism,
    MechanismError, Method, center_of_mass, momentum, step_all,
};
use std::f64::consts::FRAC_PI_2;
use support::{Random, floating_tree, rod};

/// A wheel of 1 kg·m² on a fixed axle along z, so that gravity does not turn it.
fn wheel() -> Mechanism {
    let link = Link::new("wheel", None, RevoluteJoint { axis: DVec3::Z });
    Mechanism::new(LinkTree::new(vec![link.with_mass(1.0, DVec3::ZERO, DMat3::IDENTITY)]).unwrap())
}

/// A block of 1 kg on a vertical slide.
fn slide() -> Mechanism {
    let link = Link::new("block", None, PrismaticJoint { axis: DVec3::Z });
    Mechanism::new(LinkTree::new(vec![link.with_mass(1.0, DVec3::ZERO, DMat3::IDENTITY)]).unwrap())
}

fn run(mechanism: &mut Mechanism, seconds: f64, h: f64) {
    for _ in 0..(seconds / h).round() as u64 {
        mechanism.step(h).unwrap();
    }
}

/// B-T13: ẍ + 2 δ ẋ + ω₀² x = 0 with δ = 0.5, ω₀² = 100, from x = 0.3 at rest.
#[test]
fn a_spring_with_a_damper_swings_as_in_closed_form() {
    for method in [Method::Gauss, Method::RungeKutta4, Method::AdaptiveRungeKutta4 { tolerance: 1e-11 }] {
        let mut mechanism = wheel();
        mechanism.add_element(Element::Spring { axis: 0, stiffness: 100.0, rest: 0.1 }).unwrap();
        mechanism.add_element(Element::Damper { axis: 0, coefficient: 1.0 }).unwrap();
        mechanism.set_method(&method).unwrap();
        mechanism.set_state(&[0.4], &[0.0]).unwrap();
        run(&mut mechanism, 2.0, 1e-3);
        let (delta, omega) = (0.5, (100.0_f64 - 0.25).sqrt());
        let t = 2.0_f64;
        let x = 0.3 * (-delta * t).exp() * ((omega * t).cos() + delta / omega * (omega * t).sin());
        assert!(
            (mechanism.positions()[0] - 0.1 - x).abs() < 1e-8,
            "{method:?}: {} {x}",
            mechanism.positions()[0]
        );
    }
}

/// A gas cylinder repels: energy keeps, and the joint never passes it. A spring on a ball joint stores ½ k φ².
#[test]
fn springs_keep_energy() {
    let mut mechanism = wheel();
    mechanism.add_element(Element::HardSpring { axis: 0, coefficient: 2.0, at: 0.0 }).unwrap();
    mechanism.set_state(&[1.0], &[-3.0]).unwrap();
    let before = mechanism.energy();
    run(&mut mechanism, 1.0, 1e-3);
    let after = mechanism.energy();
    assert!((before.0 + before.1 - after.0 - after.1).abs() < 1e-9);
    assert!(mechanism.positions()[0] > 1.0 && mechanism.velocities()[0] > 3.0, "thrown back");
    mechanism.set_state(&[0.0], &[0.0]).unwrap();
    assert!(mechanism.step(1e-3).unwrap_err().to_string().contains("hard spring"));

    let ball = rod(Link::new("ball", None, SphericalJoint));
    let mut mechanism = Mechanism::new(LinkTree::new(vec![ball]).unwrap());
    for axis in 0..3 {
        mechanism.add_element(Element::Spring { axis, stiffness: 5.0 + axis as f64, rest: 0.1 }).unwrap();
    }
    let mut q = vec![0.0, 0.0, 0.0, 1.0];
    mechanism.tree().advance(&mut q, &[0.5, -0.4, 0.3], 1.0);
    mechanism.set_state(&q, &[0.3, 0.2, 0.1]).unwrap();
    let before = mechanism.energy();
    run(&mut mechanism, 2.0, 1e-3);
    let after = mechanism.energy();
    assert!((before.0 + before.1 - after.0 - after.1).abs() < 1e-9, "{before:?} {after:?}");
}

/// B-T13: dry friction stops a wheel after I ω₀/μ, and then holds it: not slowly creeping, but still.
#[test]
fn friction_stops_in_finite_time_and_holds() {
    for method in [Method::Gauss, Method::RungeKutta4, Method::AdaptiveRungeKutta4 { tolerance: 1e-9 }] {
        let mut mechanism = wheel();
        mechanism.set_method(&method).unwrap();
        mechanism.add_friction(Friction { axis: 0, force: 2.0 }).unwrap();
        mechanism.set_state(&[0.0], &[3.0]).unwrap();
        // ω₀²/(2 μ) = 2.25 rad after 1.5 s.
        run(&mut mechanism, 1.499, 1e-3);
        assert!(mechanism.velocities()[0] > 0.0);
        run(&mut mechanism, 0.01, 1e-3);
        assert!((mechanism.positions()[0] - 2.25).abs() < 1e-11, "{method:?} {}", mechanism.positions()[0]);
        assert_eq!(mechanism.velocities()[0], 0.0);
        assert!(mechanism.sticks(0));
        // Torques below the friction move nothing, in either direction.
        let rest = mechanism.positions()[0];
        for torque in [1.999, -1.999, 0.5] {
            mechanism.forces_mut()[0] = torque;
            run(&mut mechanism, 1.0, 1e-3);
            assert_eq!((mechanism.positions()[0], mechanism.velocities()[0]), (rest, 0.0));
        }
        // 3 N·m against 2: 1 rad/s².
        mechanism.forces_mut()[0] = -3.0;
        run(&mut mechanism, 1.0, 1e-3);
        assert!((mechanism.velocities()[0] + 1.0).abs() < 1e-10);
        assert!((mechanism.positions()[0] - (rest - 0.5)).abs() < 1e-10);
        assert!(!mechanism.sticks(0));
    }
}

/// A joint that sticks gives way at the moment the spring of its neighbour pulls more than friction holds.
#[test]
fn a_joint_gives_way_when_the_force_passes_the_friction() {
    let block = DMat3::IDENTITY;
    let tree = LinkTree::new(vec![
        Link::new("lower", None, PrismaticJoint { axis: DVec3::X }).with_mass(1.0, DVec3::ZERO, block),
        Link::new("upper", Some(0), PrismaticJoint { axis: DVec3::X }).with_mass(1.0, DVec3::ZERO, block),
    ])
    .unwrap();
    let mut mechanism = Mechanism::new(tree);
    mechanism.add_friction(Friction { axis: 0, force: 1.0 }).unwrap();
    // The upper block swings on a spring of 4 N/m: x = 0.5 cos 2t pulls the lower by 4 x, up to 2 N: it gives way as soon as it is let go.
    mechanism.add_element(Element::Spring { axis: 1, stiffness: 4.0, rest: 0.0 }).unwrap();
    mechanism.set_state(&[0.0, 0.2], &[0.0, 0.0]).unwrap();
    // 0.8 N at most: nothing moves below.
    run(&mut mechanism, 5.0, 1e-3);
    assert_eq!(mechanism.positions()[0], 0.0);
    assert!((mechanism.positions()[1] - 0.2 * 10.0_f64.cos()).abs() < 1e-9);
    // x = 0.2 cos 2t + … through the middle faster: amplitude 0.5, so 4 x = 1 at sin 2t = 0.5: t = π/12.
    mechanism.set_state(&[0.0, 0.0], &[0.0, 1.0]).unwrap();
    run(&mut mechanism, 0.261, 1e-3);
    assert_eq!(mechanism.positions()[0], 0.0, "π/12 = 0.2618 s");
    run(&mut mechanism, 0.01, 1e-3);
    assert!(mechanism.velocities()[0] > 0.0);
    let energies: Vec<f64> = (0..2000)
        .map(|_| {
            mechanism.step(1e-3).unwrap();
            let (kinetic, potential) = mechanism.energy();
            kinetic + potential
        })
        .collect();
    assert!(energies.is_sorted_by(|a, b| *b <= *a + 1e-12), "friction only takes");
    run(&mut mechanism, 20.0, 1e-3);
    assert!(mechanism.velocities()[0] == 0.0, "it holds in the end");
}

/// A block that falls on its lower limit: v = √(2 g h), bounces by e, comes to rest and lies there.
#[test]
fn limits_bounce_and_carry() {
    for method in [Method::Gauss, Method::RungeKutta4] {
        let mut mechanism = slide();
        mechanism.set_method(&method).unwrap();
        mechanism.add_limit(Limit { axis: 0, range: [0.0, 2.0], restitution: 0.5 }).unwrap();
        mechanism.set_state(&[1.0], &[0.0]).unwrap();
        let (impact, speed) = ((2.0_f64 / 9.81).sqrt(), (2.0 * 9.81_f64).sqrt());
        // To the top of the first bounce: e v/g later, at e² h.
        let top = impact + 0.5 * speed / 9.81;
        let steps = (top / 1e-3).floor();
        run(&mut mechanism, steps * 1e-3, 1e-3);
        mechanism.step(top - steps * 1e-3).unwrap();
        assert!((mechanism.positions()[0] - 0.25).abs() < 1e-9, "{}", mechanism.positions()[0]);
        run(&mut mechanism, 3.0, 1e-3);
        assert_eq!((mechanism.positions()[0], mechanism.velocities()[0]), (0.0, 0.0), "at rest on the limit");
        run(&mut mechanism, 0.1, 1e-3);
        assert_eq!(mechanism.positions()[0], 0.0);
        // A force that lifts more than the weight takes it off.
        mechanism.forces_mut()[0] = 10.81;
        run(&mut mechanism, 1.0, 1e-3);
        assert!((mechanism.positions()[0] - 0.5).abs() < 1e-9, "{}", mechanism.positions()[0]);
        // e = 1 keeps the energy.
        let mut elastic = slide();
        elastic.set_method(&method).unwrap();
        elastic.add_limit(Limit { axis: 0, range: [0.0, 0.7], restitution: 1.0 }).unwrap();
        elastic.set_state(&[0.3], &[4.0]).unwrap();
        let before = elastic.energy();
        run(&mut elastic, 5.0, 1e-3);
        let after = elastic.energy();
        assert!((before.0 + before.1 - after.0 - after.1).abs() < 1e-8, "{before:?} {after:?}");
    }
}

/// A gear of ratio r makes two wheels one of inertia I₁ + r² I₂; a mimic joint follows.
#[test]
fn coupled_joints_move_together() {
    let axle = |name: &str| Link::new(name, None, RevoluteJoint { axis: DVec3::Z });
    let make = |ratio: f64| {
        let tree = LinkTree::new(vec![
            axle("motor").with_mass(1.0, DVec3::ZERO, DMat3::IDENTITY),
            axle("load").with_mass(1.0, DVec3::ZERO, DMat3::IDENTITY * 3.0),
        ])
        .unwrap();
        let mut mechanism = Mechanism::new(tree);
        mechanism.add_coupling(Coupling::mimic("gear", 1, 0, ratio, 0.25)).unwrap();
        mechanism
    };
    let mut mechanism = make(-0.5);
    mechanism.add_actuator(Actuator { axis: 0, gear: 2.0, range: [-1.0, 1.0] }).unwrap();
    assert!(mechanism.assemble().unwrap().is_empty());
    mechanism.commands_mut()[0] = 7.0;
    // 2 N·m on 1 + 3/4 kg·m².
    let expected = 2.0 / 1.75;
    let a = mechanism.accelerations().unwrap().to_vec();
    assert!((a[0] - expected).abs() < 1e-12 && (a[1] + 0.5 * expected).abs() < 1e-12, "{a:?}");
    assert!((mechanism.constraint_forces()[0].abs() - 3.0 * 0.5 * expected).abs() < 1e-9);
    run(&mut mechanism, 1.0, 1e-3);
    let q = mechanism.positions();
    assert!((q[1] + 0.5 * q[0] - 0.25).abs() < 1e-13);
    // The same gear twice is redundant; another ratio with another offset is possible at one posture; at none with the same ratio.
    let mut twice = make(-0.5);
    twice.add_coupling(Coupling::mimic("again", 1, 0, -0.5, 0.25)).unwrap();
    let found = twice.assemble().unwrap();
    assert_eq!((found[0].constraint.as_str(), found[0].redundant, found.len()), ("again", 1, 1));
    run(&mut twice, 0.1, 1e-3);
    let mut against = make(-0.5);
    against.add_coupling(Coupling::mimic("against", 1, 0, -0.5, 0.75)).unwrap();
    let refused = against.assemble().unwrap_err();
    assert!(
        matches!(&refused, MechanismError::Contradictory { constraint, .. } if constraint == "against"),
        "{refused}"
    );
    assert!(against.positions().iter().all(|q| q.is_finite()));
}

/// Axes of a hinge along y for loops, whose axis is z.
fn along_y() -> DQuat {
    DQuat::from_rotation_x(-FRAC_PI_2)
}

/// Crank 0.4 m, coupler 0.9 m, rocker 0.8 m on a ground of 1 m.
fn four_bar(kind: LoopKind) -> Mechanism {
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let bar = |link: Link, length: f64| {
        let inertia = DMat3::from_diagonal(DVec3::new(1e-4, 1.0, 1.0)) * (length * length / 12.0);
        link.with_mass(1.0, DVec3::new(0.5 * length, 0.0, 0.0), inertia)
    };
    let tree = LinkTree::new(vec![
        bar(Link::new("crank", None, hinge), 0.4),
        bar(Link::new("coupler", Some(0), hinge).at(DVec3::new(0.4, 0.0, 0.0), DQuat::IDENTITY), 0.9),
        bar(Link::new("rocker", None, hinge).at(DVec3::new(1.0, 0.0, 0.0), DQuat::IDENTITY), 0.8),
    ])
    .unwrap();
    let mut mechanism = Mechanism::new(tree);
    let ends = [DVec3::new(0.9, 0.0, 0.0), DVec3::new(0.8, 0.0, 0.0)];
    mechanism
        .add_loop(LoopClosure::new("joint", [Some(1), Some(2)], ends, kind).with_rotations([along_y(); 2]))
        .unwrap();
    mechanism.set_state(&[-1.2, 0.9, -1.8], &[6.0, 0.0, 0.0]).unwrap();
    mechanism
}

fn watch_loops(mut mechanism: Mechanism, seconds: f64) -> (f64, f64) {
    let start = mechanism.energy();
    let (mut closure, mut energy, mut kinetic) = (0.0_f64, 0.0_f64, 0.0_f64);
    for step in 0..(seconds * 1000.0) as u64 {
        let report = mechanism.step(1e-3).unwrap();
        closure = closure.max(report.closure_error);
        if step % 100 == 0 {
            let now = mechanism.energy();
            kinetic = kinetic.max(now.0);
            energy = energy.max((now.0 + now.1 - start.0 - start.1).abs());
        }
    }
    (closure, energy / kinetic)
}

#[test]
fn a_four_bar_linkage_stays_closed() {
    let mut mechanism = four_bar(LoopKind::Revolute);
    let found = mechanism.assemble().unwrap();
    // Three bars in a plane: of the five equations of a hinge, two are new.
    assert_eq!((found.len(), found[0].redundant, found[0].equations), (1, 3, 5));
    let (closure, energy) = watch_loops(mechanism, 20.0);
    assert!(closure < 1e-10 && energy < 1e-9, "{closure:e} {energy:e}");
    // A rod with two ball joints in place of the coupler's end keeps too.
    let mut rod = four_bar(LoopKind::Spherical);
    rod.assemble().unwrap();
    let (closure, energy) = watch_loops(rod, 5.0);
    assert!(closure < 1e-10 && energy < 1e-9, "{closure:e} {energy:e}");
}

#[test]
#[ignore = "100 s of motion: cargo test --release -p rattleback-dynamics --test suite multibody_mechanism -- --ignored"]
fn a_four_bar_linkage_stays_closed_for_long() {
    let mut mechanism = four_bar(LoopKind::Revolute);
    mechanism.assemble().unwrap();
    let (closure, energy) = watch_loops(mechanism, 100.0);
    println!("four-bar, 100 s: closure {closure:e}, energy {energy:e}");
    assert!(closure < 1e-10 && energy < 1e-9, "{closure:e} {energy:e}");
}

/// A platform on six legs, each a universal joint, a slide with a spring, and a ball joint.
fn stewart() -> Mechanism {
    let inertia = DMat3::from_diagonal(DVec3::new(0.2, 0.25, 0.4));
    let mut links = vec![Link::new("platform", None, FreeJoint).with_mass(5.0, DVec3::ZERO, inertia)];
    let ring = |k: usize, radius: f64, spread: f64| {
        let angle =
            (k / 2) as f64 * std::f64::consts::TAU / 3.0 + if k.is_multiple_of(2) { -spread } else { spread };
        DVec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
    };
    let thin = DMat3::from_diagonal(DVec3::new(0.01, 0.01, 0.001));
    let (mut q, mut legs) = (vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], Vec::new());
    for k in 0..6 {
        let (foot, top) = (ring(k, 1.0, 0.2), ring(k, 0.6, 0.8) + DVec3::Z);
        let way = top - foot;
        let joint = UniversalJoint { first: DVec3::X, second: DVec3::Y };
        links.push(Link::new(format!("lower {k}"), None, joint).at(foot, DQuat::IDENTITY).with_mass(
            0.3,
            DVec3::new(0.0, 0.0, 0.2),
            thin,
        ));
        links.push(
            Link::new(format!("upper {k}"), Some(1 + 2 * k), PrismaticJoint { axis: DVec3::Z }).with_mass(
                0.3,
                DVec3::new(0.0, 0.0, -0.2),
                thin,
            ),
        );
        // z of the leg along `way`: R_x(α) R_y(β) z = (sin β, −sin α cos β, cos α cos β).
        let unit = way.normalize();
        q.extend([(-unit.y).atan2(unit.z), unit.x.asin(), way.length()]);
        legs.push(way.length());
    }
    let mut mechanism = Mechanism::new(LinkTree::new(links).unwrap());
    for (k, length) in legs.into_iter().enumerate() {
        let axis = mechanism.tree().velocities_of(2 + 2 * k).start;
        mechanism.add_element(Element::Spring { axis, stiffness: 2000.0, rest: length }).unwrap();
        let ends = [DVec3::ZERO, ring(k, 0.6, 0.8)];
        let name = format!("ball {k}");
        mechanism
            .add_loop(LoopClosure::new(name, [Some(2 + 2 * k), Some(0)], ends, LoopKind::Spherical))
            .unwrap();
    }
    let n = mechanism.tree().velocity_count();
    let mut v = vec![0.0; n];
    v[..6].copy_from_slice(&[0.1, 0.2, -0.3, 0.2, -0.1, 0.4]);
    mechanism.set_state(&q, &v).unwrap();
    mechanism
}

#[test]
fn a_platform_on_six_legs_stays_closed() {
    let mut mechanism = stewart();
    assert!(mechanism.assemble().unwrap().is_empty(), "24 velocities, 18 equations, none twice");
    let (closure, energy) = watch_loops(mechanism, 1.0);
    assert!(closure < 1e-10 && energy < 1e-8, "{closure:e} {energy:e}");
}

#[test]
#[ignore = "100 s of motion: cargo test --release -p rattleback-dynamics --test suite multibody_mechanism -- --ignored"]
fn a_platform_on_six_legs_stays_closed_for_long() {
    let mut mechanism = stewart();
    mechanism.assemble().unwrap();
    let (closure, energy) = watch_loops(mechanism, 100.0);
    println!("Stewart platform, 100 s: closure {closure:e}, energy {energy:e}");
    assert!(closure < 1e-10 && energy < 1e-8, "{closure:e} {energy:e}");
}

/// Contradictory loops are named, the state stays, and redundant ones do no harm.
#[test]
fn bad_loops_are_named() {
    let mut far = four_bar(LoopKind::Revolute);
    let before = far.positions().to_vec();
    far.add_loop(LoopClosure::new(
        "too far",
        [Some(0), None],
        [DVec3::new(0.4, 0.0, 0.0), DVec3::new(5.0, 0.0, 0.0)],
        LoopKind::Spherical,
    ))
    .unwrap();
    let refused = far.assemble().unwrap_err();
    assert!(
        matches!(&refused, MechanismError::Contradictory { constraint, .. } if constraint == "too far"),
        "{refused}"
    );
    assert_eq!(far.positions(), before);
    // Held twice at the same place.
    let mut twice = four_bar(LoopKind::Revolute);
    let ends = [DVec3::new(0.9, 0.0, 0.0), DVec3::new(0.8, 0.0, 0.0)];
    twice.add_loop(LoopClosure::new("again", [Some(1), Some(2)], ends, LoopKind::Spherical)).unwrap();
    let found = twice.assemble().unwrap();
    assert_eq!(found[1].constraint, "again");
    assert_eq!((found[1].redundant, found[1].equations), (3, 3));
    let (closure, energy) = watch_loops(twice, 2.0);
    assert!(closure < 1e-10 && energy < 1e-9, "{closure:e} {energy:e}");
    // Two links fixed to the world and to each other: nothing can move, nothing is divided by zero.
    let mut still = Mechanism::new(
        LinkTree::new(vec![rod(Link::new("a", None, RevoluteJoint { axis: DVec3::Y }))]).unwrap(),
    );
    still.add_loop(LoopClosure::new("weld", [Some(0), None], [DVec3::ZERO; 2], LoopKind::Fixed)).unwrap();
    let found = still.assemble().unwrap();
    assert_eq!((found[0].redundant, found[0].equations), (5, 6));
    run(&mut still, 0.1, 1e-3);
    assert!(still.positions()[0].abs() < 1e-12);
    // Wrong numbers.
    let nan = LoopClosure::new("nan", [Some(0), None], [DVec3::NAN, DVec3::ZERO], LoopKind::Fixed);
    assert!(still.add_loop(nan).unwrap_err().to_string().contains("loop `nan`"));
    assert!(
        still.add_loop(LoopClosure::new("x", [Some(7), None], [DVec3::ZERO; 2], LoopKind::Fixed)).is_err()
    );
    assert!(still.add_limit(Limit { axis: 0, range: [1.0, -1.0], restitution: 0.0 }).is_err());
    assert!(still.add_friction(Friction { axis: 3, force: 0.0 }).is_err());
    assert!(still.set_state(&[f64::NAN], &[0.0]).is_err());
    assert!(still.set_method(&Method::Library { name: "no such method".into() }).is_err());
    assert!(still.step(f64::NAN).is_err());
    let mut ball = Mechanism::new(LinkTree::new(vec![rod(Link::new("ball", None, SphericalJoint))]).unwrap());
    let refused = ball.add_limit(Limit { axis: 0, range: [-1.0, 1.0], restitution: 0.0 }).unwrap_err();
    assert!(matches!(refused, MechanismError::NoPosition { .. }));
}

/// Every kind of loop against the joint of the same name in a tree: the base of a pendulum held by a loop instead of a joint.
#[test]
fn loops_hold_what_joints_hold() {
    use rattleback_dynamics::multibody::joint::{CylindricalJoint, FixedJoint, PlanarJoint};
    let arm = |base: Link| {
        let inertia = DMat3::from_diagonal(DVec3::new(0.1, 0.12, 0.15));
        LinkTree::new(vec![
            base.with_mass(1.0, DVec3::new(0.1, 0.2, -0.4), inertia),
            rod(Link::new("tip", Some(0), RevoluteJoint { axis: DVec3::X })
                .at(DVec3::new(0.0, 0.2, -0.5), DQuat::IDENTITY)),
        ])
        .unwrap()
    };
    let z = DVec3::Z;
    let mut random = Random::new(71);
    let cases: [(LoopKind, LinkTree); 7] = [
        (LoopKind::Fixed, arm(Link::new("base", None, FixedJoint))),
        (LoopKind::Revolute, arm(Link::new("base", None, RevoluteJoint { axis: z }))),
        (LoopKind::Spherical, arm(Link::new("base", None, SphericalJoint))),
        (
            LoopKind::Universal,
            arm(Link::new("base", None, UniversalJoint { first: DVec3::X, second: DVec3::Y })),
        ),
        (LoopKind::Cylindrical, arm(Link::new("base", None, CylindricalJoint { axis: z }))),
        (LoopKind::Prismatic, arm(Link::new("base", None, PrismaticJoint { axis: z }))),
        (LoopKind::Planar, arm(Link::new("base", None, PlanarJoint))),
    ];
    let gravity = DVec3::new(3.0, -2.0, -9.0);
    for (kind, jointed) in cases {
        let n = jointed.velocity_count();
        let (q, v) = (random.positions(&jointed), random.numbers(n, 1.5));
        let mut by_joint = Mechanism::new(jointed);
        by_joint.set_gravity(gravity);
        by_joint.set_state(&q, &v).unwrap();
        let work = by_joint.observe();
        let (axes, origin, motion) = (work.rotation(0, 0), work.origin(0, 0), work.velocity(0));
        let mut floating_q = origin.to_array().to_vec();
        floating_q.extend(DQuat::from_mat3(&axes).to_array());
        floating_q.push(q[q.len() - 1]);
        let mut floating_v = (axes.transpose() * motion.linear.lane(0)).to_array().to_vec();
        floating_v.extend((axes.transpose() * motion.angular.lane(0)).to_array());
        floating_v.push(v[v.len() - 1]);
        let mut by_loop = Mechanism::new(arm(Link::new("base", None, FreeJoint)));
        by_loop.set_gravity(gravity);
        by_loop.add_loop(LoopClosure::new("loop", [None, Some(0)], [DVec3::ZERO; 2], kind)).unwrap();
        by_loop.set_state(&floating_q, &floating_v).unwrap();
        assert!(by_loop.assemble().unwrap().is_empty(), "{kind:?}");
        run(&mut by_joint, 0.5, 1e-3);
        run(&mut by_loop, 0.5, 1e-3);
        for link in 0..2 {
            let (a, b) = (by_joint.observe().origin(link, 0), by_loop.observe().origin(link, 0));
            assert!((a - b).length() < 1e-8 * (1.0 + a.length()), "{kind:?}: {a} {b}");
            let (a, b) = (by_joint.observe().rotation(link, 0), by_loop.observe().rotation(link, 0));
            assert!((a - b).abs().to_cols_array().iter().all(|x| *x < 1e-8), "{kind:?}");
        }
    }
    // A rod with ball joints at both ends: the distance.
    let mut held = Mechanism::new(arm(Link::new("base", None, FreeJoint)));
    let ends = [DVec3::ZERO, DVec3::new(0.0, 0.0, -0.3)];
    held.add_loop(LoopClosure::new("rod", [None, Some(0)], ends, LoopKind::Distance(1.0))).unwrap();
    held.set_state(&[0.0, 0.0, -0.7, 0.0, 0.0, 0.0, 1.0, 0.4], &[1.0, 0.5, 0.0, 0.3, 0.2, 0.1, 1.0]).unwrap();
    held.assemble().unwrap();
    let (closure, energy) = watch_loops(held, 3.0);
    assert!(closure < 1e-10 && energy < 1e-9, "{closure:e} {energy:e}");
}

/// A passive tree of five links on the ground.
fn tree_pendulum() -> Mechanism {
    let below = DVec3::new(0.0, 0.0, -1.0);
    let tree = LinkTree::new(vec![
        rod(Link::new("trunk", None, RevoluteJoint { axis: DVec3::Y })),
        rod(Link::new("left", Some(0), RevoluteJoint { axis: DVec3::X }).at(below, DQuat::IDENTITY)),
        rod(Link::new("left hand", Some(1), RevoluteJoint { axis: DVec3::Y }).at(below, DQuat::IDENTITY)),
        rod(Link::new("right", Some(0), RevoluteJoint { axis: DVec3::Y }).at(below, DQuat::IDENTITY)),
        rod(Link::new("right hand", Some(3), PrismaticJoint { axis: DVec3::X }).at(below, DQuat::IDENTITY)),
    ])
    .unwrap();
    let mut mechanism = Mechanism::new(tree);
    mechanism.add_element(Element::Spring { axis: 4, stiffness: 50.0, rest: 0.0 }).unwrap();
    mechanism.set_state(&[1.0, 0.3, -0.5, 0.4, 0.0], &[0.0, 0.5, 0.0, 0.0, 0.0]).unwrap();
    mechanism
}

fn energy_drift(mechanism: &mut Mechanism, seconds: f64, h: f64) -> f64 {
    let start = mechanism.energy();
    let (mut drift, mut kinetic) = (0.0_f64, 0.0_f64);
    for _ in 0..(seconds / h).round() as u64 {
        mechanism.step(h).unwrap();
        let now = mechanism.energy();
        kinetic = kinetic.max(now.0);
        drift = drift.max((now.0 + now.1 - start.0 - start.1).abs());
    }
    drift / kinetic
}

/// A-T4: adaptive Runge–Kutta with tolerance 1e-10 over a minute.
#[test]
fn adaptive_runge_kutta_keeps_energy_and_momentum() {
    let adaptive = Method::AdaptiveRungeKutta4 { tolerance: 1e-10 };
    let mut pendulum = tree_pendulum();
    pendulum.set_method(&adaptive).unwrap();
    let drift = energy_drift(&mut pendulum, 60.0, 0.01);
    assert!(drift < 1e-7, "{drift:e}");
    // Triple pendulum from the horizontal: 1e-9.
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let hang = |k: usize| {
        let depth = if k > 0 { 1.0 } else { 0.0 };
        rod(Link::new(k.to_string(), k.checked_sub(1), hinge)
            .at(DVec3::new(0.0, 0.0, -depth), DQuat::IDENTITY))
    };
    let mut triple = Mechanism::new(LinkTree::new((0..3).map(hang).collect()).unwrap());
    triple.set_method(&adaptive).unwrap();
    triple.set_state(&[FRAC_PI_2, 0.0, 0.0], &[0.0; 3]).unwrap();
    let drift = energy_drift(&mut triple, 60.0, 0.01);
    println!("triple pendulum, adaptive 1e-10, 60 s: {drift:e}");
    assert!(drift < 1e-9, "{drift:e}");

    let mut floating = Mechanism::new(floating_tree());
    floating.set_method(&adaptive).unwrap();
    floating.set_gravity(DVec3::ZERO);
    let mut random = Random::new(17);
    let (q, v) = (random.positions(floating.tree()), random.numbers(floating.tree().velocity_count(), 2.0));
    floating.set_state(&q, &v).unwrap();
    let momenta = |mechanism: &mut Mechanism| {
        mechanism.observe();
        let tree = mechanism.tree().clone();
        let work = mechanism.observe();
        let total = momentum(&tree, work, center_of_mass(&tree, work).1);
        [total.force.lane(0), total.torque.lane(0)]
    };
    let before = momenta(&mut floating);
    run(&mut floating, 60.0, 0.01);
    for (before, after) in before.into_iter().zip(momenta(&mut floating)) {
        let drift = (before - after).length() / before.length();
        assert!(drift < 1e-7, "{drift:e}");
    }
}

/// Fixed Runge–Kutta is of fourth order, the default of sixth, and the library's integrators can be named.
#[test]
fn methods_have_their_orders() {
    let reference = |method: &Method, h: f64| {
        let mut pendulum = tree_pendulum();
        pendulum.set_method(method).unwrap();
        run(&mut pendulum, 0.64, h);
        pendulum.positions().to_vec()
    };
    let exact = reference(&Method::Gauss, 1e-3);
    let error = |method: &Method, h: f64| {
        let got = reference(method, h);
        got.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let order = |method: &Method, h: f64| (error(method, h) / error(method, 0.5 * h)).log2();
    let classical = order(&Method::RungeKutta4, 0.01);
    assert!((3.6..4.5).contains(&classical), "{classical}");
    let gauss = order(&Method::Gauss, 0.04);
    assert!((5.5..6.8).contains(&gauss), "{gauss}");
    let euler = order(&Method::Library { name: "explicit-euler".into() }, 0.001);
    assert!((0.8..1.2).contains(&euler), "{euler}");
}

/// Mechanisms stepped on two threads have the bits of those stepped one after the other.
#[test]
fn threads_change_no_bit() {
    let make = || -> Vec<Mechanism> {
        (0..40)
            .map(|k| {
                let mut mechanism = match k % 4 {
                    0 => tree_pendulum(),
                    1 => four_bar(LoopKind::Revolute),
                    2 => stewart(),
                    _ => wheel(),
                };
                if k % 4 == 3 {
                    mechanism.add_friction(Friction { axis: 0, force: 0.5 }).unwrap();
                    mechanism.set_state(&[0.0], &[0.001 * f64::from(k)]).unwrap();
                }
                let v: Vec<f64> =
                    mechanism.velocities().iter().map(|v| v * (1.0 + 0.01 * f64::from(k))).collect();
                let q = mechanism.positions().to_vec();
                mechanism.set_state(&q, &v).unwrap();
                mechanism.assemble().unwrap();
                mechanism
            })
            .collect()
    };
    let (mut serial, mut parallel) = (make(), make());
    for _ in 0..50 {
        for mechanism in &mut serial {
            mechanism.step(1e-3).unwrap();
        }
        step_all(2, &mut parallel, 1e-3);
        assert!(parallel.iter().all(|mechanism| mechanism.outcome().is_ok()));
    }
    for (a, b) in serial.iter().zip(&parallel) {
        assert_eq!(a.positions(), b.positions());
        assert_eq!(a.velocities(), b.velocities());
    }
}
