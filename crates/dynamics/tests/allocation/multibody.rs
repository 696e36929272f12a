//! Algorithms and steps of articulated bodies allocate nothing.

use crate::counting::allocations;
use crate::multibody_support::{G, Random, rod};
use glam::{DQuat, DVec3};
use rattleback_dynamics::multibody::joint::RevoluteJoint;
use rattleback_dynamics::multibody::{
    CentroidalMomentum, DynamicsDerivatives, Element, Friction, IkSettings, IkTarget, InverseKinematics,
    Limit, Link, LinkTree, LoopClosure, LoopKind, MassMatrix, Mechanism, Method, Workspace, forward_dynamics,
    forward_velocities, inverse_dynamics,
};

#[test]
fn algorithms_allocate_nothing() {
    let mut random = Random::new(73);
    let tree = random.tree(30);
    let n = tree.velocity_count();
    let (mut q, v, f) = (random.positions(&tree), random.numbers(n, 1.0), random.numbers(n, 1.0));
    let mut out = vec![0.0; n];
    let mut work = Workspace::new(&tree);
    let mut mass = MassMatrix::new(&tree);
    let mut derivatives = DynamicsDerivatives::new(&tree);
    let mut centroidal = CentroidalMomentum::new(&tree);
    let mut inverse_kinematics = InverseKinematics::new(&tree, 1);
    let target = IkTarget::point(29, DVec3::ZERO, DVec3::new(0.5, 0.5, 0.5));
    let count = allocations(|| {
        forward_dynamics(&tree, &mut work, (&q, &v, &f), None, G, &mut out).unwrap();
        inverse_dynamics(&tree, &mut work, (&q, &v, &f), None, G, &mut out).unwrap();
        mass.compute(&tree, &mut work, &q).unwrap();
        mass.solve(&mut out).unwrap();
        derivatives.forward(&tree, &mut work, (&q, &v, &f), None, G, &mut out).unwrap();
        forward_velocities(&tree, &mut work, &q, &v);
        centroidal.compute(&tree, &work).unwrap();
        let settings = IkSettings::default();
        inverse_kinematics.solve(&tree, &mut work, &[target], None, &settings, &mut q).unwrap();
    });
    assert_eq!(count, 0);
}

#[test]
fn steps_allocate_nothing() {
    let hinge = RevoluteJoint { axis: DVec3::Y };
    let below = DVec3::new(0.0, 0.0, -1.0);
    for method in [Method::Gauss, Method::RungeKutta4, Method::AdaptiveRungeKutta4 { tolerance: 1e-8 }] {
        let tree = LinkTree::new(vec![
            rod(Link::new("a", None, hinge)),
            rod(Link::new("b", Some(0), hinge).at(below, DQuat::IDENTITY)),
            rod(Link::new("c", None, hinge).at(DVec3::X, DQuat::IDENTITY)),
        ])
        .unwrap();
        let mut mechanism = Mechanism::new(tree);
        mechanism.set_method(&method).unwrap();
        mechanism.add_element(Element::Damper { axis: 0, coefficient: 0.1 }).unwrap();
        mechanism.add_friction(Friction { axis: 1, force: 0.5 }).unwrap();
        mechanism.add_limit(Limit { axis: 2, range: [-0.2, 0.2], restitution: 0.5 }).unwrap();
        mechanism
            .add_loop(LoopClosure::new("rod", [Some(0), Some(2)], [below; 2], LoopKind::Distance(1.0)))
            .unwrap();
        mechanism.set_state(&[0.1, 0.5, 0.1], &[1.0, -1.0, 1.0]).unwrap();
        mechanism.assemble().unwrap();
        for _ in 0..3 {
            mechanism.step(1e-3).unwrap();
        }
        let count = allocations(|| {
            let events: u32 = (0..1000).map(|_| mechanism.step(1e-3).unwrap().events).sum();
            assert!(events > 0, "limits are hit and friction sticks and slips");
        });
        assert_eq!(count, 0, "{method:?}");
    }
}
