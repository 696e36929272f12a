//! Linkages in joint coordinates without friction: energy, momentum, closed loops.
//!
//! Energies are in parts of the largest kinetic energy of the motion; momenta in parts of what they were. A loop's closure error is the largest distance between the two
//! points, m, or angle between the two axes, rad, that its joint holds together.

use super::{Allowed, Check, Outcome};
use glam::{DMat3, DQuat, DVec3};
use rattleback_dynamics::Registry;
use rattleback_dynamics::multibody::joint::{
    FreeJoint, PrismaticJoint, RevoluteJoint, SphericalJoint, UniversalJoint,
};
use rattleback_dynamics::multibody::{
    DynamicsError, Element, Link, LinkTree, LoopClosure, LoopKind, Mechanism, Method, Workspace,
    center_of_mass, forward_dynamics, momentum,
};
use std::error::Error;
use std::f64::consts::{FRAC_PI_2, TAU};

const DT: f64 = 1e-3;
const HINGE: RevoluteJoint = RevoluteJoint { axis: DVec3::Y };

type Built = Result<Mechanism, Box<dyn Error + Send + Sync>>;

/// A rod of 1 kg and 1 m that hangs from its joint along −z.
fn rod(link: Link) -> Link {
    let inertia = DMat3::from_diagonal(DVec3::new(1.0 / 12.0, 1.0 / 12.0, 1e-4));
    link.with_mass(1.0, DVec3::new(0.0, 0.0, -0.5), inertia)
}

/// Rods that hang on each other.
fn pendulum(count: usize) -> Built {
    let hang = |k: usize| {
        let depth = if k > 0 { 1.0 } else { 0.0 };
        rod(Link::new(k.to_string(), k.checked_sub(1), HINGE)
            .at(DVec3::new(0.0, 0.0, -depth), DQuat::IDENTITY))
    };
    let mut mechanism = Mechanism::new(LinkTree::new((0..count).map(hang).collect())?);
    mechanism.set_gravity(DVec3::new(0.0, 0.0, -9.81));
    Ok(mechanism)
}

/// A-T1: the double pendulum whose accelerations are known in closed form, M θ̈ = b in the absolute angles of the rods.
pub(super) fn reference(_: &Registry) -> Outcome {
    let (l, m, g) = (1.0_f64, 1.0_f64, 9.81_f64);
    let ([t1, t2], [w1, w2]) = ([0.5_f64, -0.3_f64], [1.2_f64, -0.7_f64]);
    let mixed = 0.5 * m * l * l;
    let (m11, m12, m22) = (m * l * l / 3.0 + m * l * l, mixed * (t1 - t2).cos(), m * l * l / 3.0);
    let b1 = -mixed * (t1 - t2).sin() * w2 * w2 - 1.5 * m * g * l * t1.sin();
    let b2 = mixed * (t1 - t2).sin() * w1 * w1 - 0.5 * m * g * l * t2.sin();
    let det = m11 * m22 - m12 * m12;
    let absolute = [(b1 * m22 - b2 * m12) / det, (b2 * m11 - b1 * m12) / det];
    let double = pendulum(2)?;
    let (mut work, mut got) = (Workspace::new(double.tree()), [0.0; 2]);
    let state = (&[t1, t2 - t1][..], &[w1, w2 - w1][..], &[0.0; 2][..]);
    forward_dynamics(double.tree(), &mut work, state, None, DVec3::new(0.0, 0.0, -g), &mut got)?;
    let row = |name: &str, expected, got| {
        Check::new(
            format!("multibody/reference/{name}"),
            "forward dynamics",
            expected,
            got,
            Allowed::Relative(1e-10),
        )
    };
    Ok(vec![row("upper rod", absolute[0], got[0]), row("lower rod", absolute[1] - absolute[0], got[1])])
}

/// Largest energy error of a motion, in parts of its largest kinetic energy, and largest closure error.
fn watch(mechanism: &mut Mechanism, seconds: f64, step: f64) -> Result<[f64; 2], DynamicsError> {
    let start = mechanism.energy();
    let (mut energy, mut kinetic, mut closure) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..(seconds / step).round() as u64 {
        closure = closure.max(mechanism.step(step)?.closure_error);
        let now = mechanism.energy();
        kinetic = kinetic.max(now.0);
        energy = energy.max((now.0 + now.1 - start.0 - start.1).abs());
    }
    Ok([energy / kinetic, closure])
}

/// A triple pendulum from the horizontal, 60 s: default method at 1 ms, adaptive Runge–Kutta.
pub(super) fn energy(_: &Registry) -> Outcome {
    let mut checks = Vec::new();
    let adaptive = Method::AdaptiveRungeKutta4 { tolerance: 1e-10 };
    for (name, method, step, allowed) in
        [("gauss, 1 ms", None, DT, 1e-6), ("adaptive-runge-kutta-4, 1e-10", Some(&adaptive), 0.01, 1e-9)]
    {
        let mut triple = pendulum(3)?;
        if let Some(method) = method {
            triple.set_method(method)?;
        }
        triple.set_state(&[FRAC_PI_2, 0.0, 0.0], &[0.0; 3])?;
        let [energy, _] = watch(&mut triple, 60.0, step)?;
        let case = "multibody/energy/triple-pendulum";
        checks.push(Check::new(case, name, 0.0, energy, Allowed::Absolute(allowed)));
    }
    Ok(checks)
}

/// A floating tree with ball, universal and revolute joints, without gravity, 60 s at 1 ms.
pub(super) fn conservation(_: &Registry) -> Outcome {
    let inertia = DMat3::from_diagonal(DVec3::new(0.1, 0.12, 0.15));
    let links = [
        Link::new("base", None, FreeJoint),
        Link::new("arm", Some(0), SphericalJoint).at(DVec3::X, DQuat::IDENTITY),
        Link::new("hand", Some(1), UniversalJoint { first: DVec3::X, second: DVec3::Y }),
        Link::new("leg", Some(0), HINGE),
        Link::new("foot", Some(3), RevoluteJoint { axis: DVec3::X }).at(DVec3::Y, DQuat::IDENTITY),
        Link::new("toe", Some(4), RevoluteJoint { axis: DVec3::Z }).at(DVec3::Y, DQuat::IDENTITY),
    ];
    let links = links.map(|link| link.with_mass(1.0, DVec3::new(0.1, 0.2, -0.4), inertia));
    let tree = LinkTree::new(links.to_vec())?;
    let mut floating = Mechanism::new(tree.clone());
    floating.set_gravity(DVec3::ZERO);
    let v: Vec<f64> = (0..tree.velocity_count()).map(|k| 2.0 * (1.3 * k as f64 + 0.4).sin()).collect();
    floating.set_state(&tree.neutral(), &v)?;
    let momenta = |mechanism: &mut Mechanism| {
        let work = mechanism.observe();
        let total = momentum(&tree, work, center_of_mass(&tree, work).1);
        [total.force.lane(0), total.torque.lane(0)]
    };
    let before = momenta(&mut floating);
    let [energy, _] = watch(&mut floating, 60.0, DT)?;
    let after = momenta(&mut floating);
    let row = |name: &str, got| {
        Check::new(
            format!("multibody/conservation/{name}"),
            "gauss, 1 ms",
            0.0,
            got,
            Allowed::Absolute(1e-12),
        )
    };
    let change = |k: usize| (after[k] - before[k]).length() / before[k].length();
    Ok(vec![row("momentum", change(0)), row("angular-momentum", change(1)), row("energy", energy)])
}

/// Crank 0.4 m, coupler 0.9 m, rocker 0.8 m on a ground of 1 m.
fn four_bar() -> Built {
    let bar = |link: Link, length: f64| {
        let inertia = DMat3::from_diagonal(DVec3::new(1e-4, 1.0, 1.0)) * (length * length / 12.0);
        link.with_mass(1.0, DVec3::new(0.5 * length, 0.0, 0.0), inertia)
    };
    let tree = LinkTree::new(vec![
        bar(Link::new("crank", None, HINGE), 0.4),
        bar(Link::new("coupler", Some(0), HINGE).at(DVec3::new(0.4, 0.0, 0.0), DQuat::IDENTITY), 0.9),
        bar(Link::new("rocker", None, HINGE).at(DVec3::new(1.0, 0.0, 0.0), DQuat::IDENTITY), 0.8),
    ])?;
    let mut mechanism = Mechanism::new(tree);
    let ends = [DVec3::new(0.9, 0.0, 0.0), DVec3::new(0.8, 0.0, 0.0)];
    // The axis of a loop's hinge is z.
    let turn = DQuat::from_rotation_x(-FRAC_PI_2);
    mechanism.add_loop(
        LoopClosure::new("joint", [Some(1), Some(2)], ends, LoopKind::Revolute).with_rotations([turn; 2]),
    )?;
    mechanism.set_state(&[-1.2, 0.9, -1.8], &[6.0, 0.0, 0.0])?;
    mechanism.assemble()?;
    Ok(mechanism)
}

/// A platform on six legs, each a universal joint, a slide with a spring, and a ball joint.
fn stewart() -> Built {
    let inertia = DMat3::from_diagonal(DVec3::new(0.2, 0.25, 0.4));
    let thin = DMat3::from_diagonal(DVec3::new(0.01, 0.01, 0.001));
    let ring = |k: usize, radius: f64, spread: f64| {
        let side = if k.is_multiple_of(2) { -spread } else { spread };
        let angle = (k / 2) as f64 * TAU / 3.0 + side;
        DVec3::new(radius * angle.cos(), radius * angle.sin(), 0.0)
    };
    let mut links = vec![Link::new("platform", None, FreeJoint).with_mass(5.0, DVec3::ZERO, inertia)];
    let (mut q, mut lengths) = (vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], Vec::new());
    for k in 0..6 {
        let (foot, top) = (ring(k, 1.0, 0.2), ring(k, 0.6, 0.8) + DVec3::Z);
        let joint = UniversalJoint { first: DVec3::X, second: DVec3::Y };
        let lower = Link::new(format!("lower {k}"), None, joint).at(foot, DQuat::IDENTITY);
        links.push(lower.with_mass(0.3, DVec3::new(0.0, 0.0, 0.2), thin));
        let upper = Link::new(format!("upper {k}"), Some(1 + 2 * k), PrismaticJoint { axis: DVec3::Z });
        links.push(upper.with_mass(0.3, DVec3::new(0.0, 0.0, -0.2), thin));
        // z of the leg along the way from foot to top: R_x(α) R_y(β) z = (sin β, −sin α cos β, cos α cos β).
        let (way, length) = ((top - foot).normalize(), (top - foot).length());
        q.extend([(-way.y).atan2(way.z), way.x.asin(), length]);
        lengths.push(length);
    }
    let mut mechanism = Mechanism::new(LinkTree::new(links)?);
    for (k, rest) in lengths.into_iter().enumerate() {
        let axis = mechanism.tree().velocities_of(2 + 2 * k).start;
        mechanism.add_element(Element::Spring { axis, stiffness: 2000.0, rest })?;
        let ends = [DVec3::ZERO, ring(k, 0.6, 0.8)];
        mechanism.add_loop(LoopClosure::new(
            format!("ball {k}"),
            [Some(2 + 2 * k), Some(0)],
            ends,
            LoopKind::Spherical,
        ))?;
    }
    let mut v = vec![0.0; mechanism.tree().velocity_count()];
    v[..6].copy_from_slice(&[0.1, 0.2, -0.3, 0.2, -0.1, 0.4]);
    mechanism.set_state(&q, &v)?;
    mechanism.assemble()?;
    Ok(mechanism)
}

/// Four-bar linkage and Stewart platform, 100 s at 1 ms.
pub(super) fn loops(_: &Registry) -> Outcome {
    let mut checks = Vec::new();
    for (name, built) in [("four-bar", four_bar()), ("stewart", stewart())] {
        let [energy, closure] = watch(&mut built?, 100.0, DT)?;
        let mut push = |what: &str, got, allowed| {
            let case = format!("multibody/loops/{name}-{what}");
            checks.push(Check::new(case, "gauss, 1 ms", 0.0, got, Allowed::Absolute(allowed)));
        };
        push("closure", closure, 1e-10);
        push("energy", energy, 1e-8);
    }
    Ok(checks)
}
