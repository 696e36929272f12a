//! Forces are the negative gradients of energies, matrices the derivatives of forces.

use glam::{DMat2, DMat3, DVec3};
use rattleback_deformable::element::{
    Affine, Altitude, Curvature, Element, Hinge, Membrane, RodBend, Spring, SpringKind, Tetrahedron,
};

use crate::random::Random;

/// Worst errors of gradient and matrix against central differences, relative to their sizes.
fn errors<E: Element<N>, const N: usize>(element: &E, x: &[DVec3; N]) -> [f64; 2] {
    let h = 1e-6;
    let (g, k) = (element.gradient(x), element.hessian(x, Curvature::Exact));
    let (mut worst, mut size) = ([0.0_f64; 2], [1e-9_f64; 2]);
    for j in 0..N {
        for c in 0..3 {
            let (mut up, mut down) = (*x, *x);
            up[j][c] += h;
            down[j][c] -= h;
            let slope = (element.energy(&up) - element.energy(&down)) / (2.0 * h);
            worst[0] = worst[0].max((slope - g[j][c]).abs());
            size[0] = size[0].max(g[j][c].abs());
            let (up, down) = (element.gradient(&up), element.gradient(&down));
            for i in 0..N {
                let slope = (up[i] - down[i]) / (2.0 * h);
                worst[1] = worst[1].max((slope - k[i][j].col(c)).length());
                size[1] = size[1].max(k[i][j].col(c).length());
            }
        }
    }
    [worst[0] / size[0], worst[1] / size[1]]
}

/// Smallest v·K v/v² of the projected matrix over random directions, relative to its size; and |Σ rows|, |K − Kᵀ|.
fn projected<E: Element<N>, const N: usize>(element: &E, x: &[DVec3; N], random: &mut Random) -> [f64; 3] {
    let k = element.hessian(x, Curvature::Projected);
    let size = k
        .iter()
        .flatten()
        .map(|b| (0..3).map(|c| b.col(c).length()).fold(0.0, f64::max))
        .fold(1e-9, f64::max);
    let mut least = f64::INFINITY;
    for _ in 0..50 {
        let v: [DVec3; N] = std::array::from_fn(|_| random.vector(-1.0, 1.0));
        let mut product = 0.0;
        for i in 0..N {
            for j in 0..N {
                product += v[i].dot(k[i][j] * v[j]);
            }
        }
        least = least.min(product / v.iter().map(|v| v.length_squared()).sum::<f64>());
    }
    let (mut rows, mut skew) = (0.0_f64, 0.0_f64);
    for i in 0..N {
        let sum = (0..N).fold(DMat3::ZERO, |s, j| s + k[i][j]);
        rows += f64::from(u8::from(!sum.abs_diff_eq(DMat3::ZERO, 1e-10 * size)));
        for j in 0..N {
            let difference = k[i][j] - k[j][i].transpose();
            skew += f64::from(u8::from(!difference.abs_diff_eq(DMat3::ZERO, 1e-10 * size)));
        }
    }
    [least / size, rows, skew]
}

fn check<E: Element<N>, const N: usize>(
    element: &E,
    x: &[DVec3; N],
    random: &mut Random,
    name: &str,
    translates: bool,
) {
    let [gradient, matrix] = errors(element, x);
    assert!(gradient < 1e-6 && matrix < 1e-6, "{name}: {gradient} {matrix} at {x:?}");
    let [least, rows, skew] = projected(element, x, random);
    assert!(least > -1e-10 && skew == 0.0, "{name}: {least} {skew}");
    if translates {
        assert_eq!(rows, 0.0, "{name}");
        let total: DVec3 = element.gradient(x).iter().sum();
        let moment: DVec3 = element.gradient(x).iter().zip(x).map(|(g, x)| x.cross(*g)).sum();
        let size = element.gradient(x).iter().map(|g| g.length()).fold(1e-9, f64::max);
        assert!(total.length() < 1e-10 * size && moment.length() < 1e-9 * size, "{name}: {total} {moment}");
    }
}

/// T-DEF-01: exact Jacobians of springs are those of central differences, symmetric, rows sum to zero; with the clamp −K is positive.
#[test]
fn spring_jacobians_are_exact() {
    let mut random = Random::new(1);
    for _ in 0..1000 {
        let x = [random.vector(-1.0, 1.0), random.vector(-1.0, 1.0)];
        if x[0].distance(x[1]) < 0.05 {
            continue;
        }
        let rest = random.range(0.1, 2.0);
        let spring =
            Spring { vertices: [0, 1], kind: SpringKind::Structural, stiffness: 1.0, damping: 0.0, rest };
        let [gradient, matrix] = errors(&spring, &x);
        assert!(gradient < 1e-7 && matrix < 1e-7, "{gradient} {matrix}");
        let k = spring.hessian(&x, Curvature::Exact);
        assert_eq!(k[0][0] + k[0][1], DMat3::ZERO);
        assert_eq!(k[0][0], k[1][1]);
        let (values, _) =
            rattleback_geometry::symmetric_eigen(spring.hessian(&x, Curvature::Projected)[0][0]);
        assert!(values.min_element() >= -1e-12);
    }
}

#[test]
fn continuum_elements_are_exact() {
    let mut random = Random::new(2);
    for round in 0..300 {
        let mut point = || random.vector(-1.0, 1.0);
        let rest = [DVec3::ZERO, DVec3::X, DVec3::new(0.3, 0.9, 0.0), DVec3::new(0.2, 0.3, 0.8)];
        let x: [DVec3; 4] = std::array::from_fn(|k| rest[k] + 0.5 * point());
        let three = [x[0], x[1], x[2]];
        let mut membrane = Membrane::new([0, 1, 2], &[rest[0], rest[1], rest[2]], [30.0, 40.0], 0.0).unwrap();
        if round % 2 == 0 {
            (membrane.strain_limit, membrane.limit_stiffness) = (0.05, 200.0);
        }
        let e = membrane.strain(&three);
        let gap = (e[0] - e[1]).hypot(e[2]);
        // Next to the limit, and where principal strains are equal, the limit has no second derivative.
        let largest = 0.5 * (e[0] + e[1] + gap);
        if (largest - 0.05).abs() > 1e-3 && gap > 1e-2 {
            check(&membrane, &three, &mut random, "membrane", true);
        }
        let tetrahedron = Tetrahedron::new([0, 1, 2, 3], &rest, [50.0, 20.0]).unwrap();
        check(&tetrahedron, &x, &mut random, "tetrahedron", true);
        assert!(tetrahedron.energy(&rest).abs() < 1e-12);
        assert!(tetrahedron.gradient(&rest).iter().all(|g| g.length() < 1e-12));
        let turned = (x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0]);
        let mut altitude = Altitude::new([0, 1, 2, 3], &rest, 10.0, 0.0).unwrap();
        altitude.choose(&x, 0.0);
        if turned.abs() > 0.02 {
            check(&altitude, &x, &mut random, "altitude", true);
        }
        let affine = Affine { vertices: [0, 1, 2], stiffness: 3.0 };
        let axes = std::array::from_fn(|k| DMat3::IDENTITY.col(k) + 0.2 * random.vector(-1.0, 1.0));
        check(&affine, &axes, &mut random, "affine", false);
    }
    // Rest along the axes.
    let m =
        Membrane::new([0, 1, 2], &[DVec3::ZERO, 2.0 * DVec3::X, 4.0 * DVec3::Y], [1.0, 1.0], 0.0).unwrap();
    assert!(m.inverse_rest.abs_diff_eq(DMat2::from_diagonal(glam::DVec2::new(0.5, 0.25)), 1e-15));
}

#[test]
fn bending_elements_are_exact() {
    let mut random = Random::new(3);
    for _ in 0..300 {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::new(0.4, 0.8, 0.0), DVec3::new(0.5, -0.9, 0.0)];
        let x: [DVec3; 4] = std::array::from_fn(|k| rest[k] + 0.35 * random.vector(-1.0, 1.0));
        let hinge =
            Hinge { vertices: [0, 1, 2, 3], stiffness: 2.0, damping: 0.0, rest: random.range(-1.0, 1.0) };
        check(&hinge, &x, &mut random, "hinge", true);
        let chain = [DVec3::ZERO, DVec3::X, 2.0 * DVec3::X];
        let x: [DVec3; 3] = std::array::from_fn(|k| chain[k] + 0.3 * random.vector(-1.0, 1.0));
        for rest in [0.0, 0.4] {
            let rod = RodBend { vertices: [0, 1, 2], stiffness: 2.0, damping: 0.0, rest };
            check(&rod, &x, &mut random, "rod", true);
        }
    }
}

/// E + h E_d over a step is the energy of the damped element up to a constant: its force is elastic plus viscous force.
#[test]
fn damped_elements_add_the_viscous_force() {
    let mut random = Random::new(4);
    for _ in 0..100 {
        let x0 = [random.vector(-1.0, 1.0), random.vector(-1.0, 1.0)];
        let x = [random.vector(-1.0, 1.0), random.vector(-1.0, 1.0)];
        let (l0, l) = (x0[0].distance(x0[1]), x[0].distance(x[1]));
        if l.min(l0) < 0.05 {
            continue;
        }
        let spring = Spring {
            vertices: [0, 1],
            kind: SpringKind::Structural,
            stiffness: 5.0,
            damping: 0.3,
            rest: 0.7,
        };
        let h = 0.01;
        let force = 5.0 * (l - 0.7) + 0.3 * (l - l0) / h;
        let g = spring.damped(&x0, h).gradient(&x)[1];
        assert!((g - force * (x[1] - x[0]) / l).length() < 1e-10 * (1.0 + force.abs()));
    }
}
