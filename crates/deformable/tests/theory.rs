//! Closed forms of rods, cloth and solids.

use glam::DVec3;
use rattleback_deformable::forces::Air;
use rattleback_deformable::{Cloth, DeformableSystem, Method, Settings, Solid, SolidMesh, Strand};
use rattleback_geometry::generate;

fn still() -> Settings {
    Settings { contact_distance: 0.0, tolerance: 1e-7, linear_tolerance: 1e-6, ..Settings::default() }
}

fn settle(system: &mut DeformableSystem, h: f64, steps: usize) {
    for _ in 0..steps {
        system.step(h).unwrap();
    }
}

/// Deflection w = q l⁴/(8 B) of a clamped rod under its weight, small; first order or better in the edge length.
#[test]
fn cantilever_rod_bends_as_beam_theory_says() {
    let (length, line, bending) = (0.2_f64, 1e-4, 1e-4);
    let expected = line * 9.81 * length.powi(4) / (8.0 * bending);
    let mut errors = Vec::new();
    for n in [10_u32, 20, 40] {
        let strand = Strand { linear_density: line, stretch: 1e4, bending, damping: 0.02 };
        let step = length / (f64::from(n) - 0.5);
        // Clamped between the first two points: the tangent is horizontal at the middle of their edge.
        let curve: Vec<DVec3> = (0..=n).map(|i| step * (f64::from(i) - 0.5) * DVec3::X).collect();
        let mut rod = strand.curve(&curve).unwrap();
        rod.pin(0).unwrap();
        rod.pin(1).unwrap();
        let mut system = DeformableSystem::new(still());
        system.add(&rod).unwrap();
        settle(&mut system, 0.05, 60);
        let x = system.position();
        let end = x[n as usize].z;
        errors.push((-end / expected - 1.0).abs());
    }
    println!("cantilever: relative errors {errors:?}");
    assert!(errors[2] < 0.01 && errors[2] < 0.6 * errors[1] && errors[1] < 0.6 * errors[0], "{errors:?}");
}

/// A chain between two points at one height hangs as a catenary: sag a (cosh(d/2a) − 1) with length 2 a sinh(d/2a).
#[test]
fn hanging_chain_is_a_catenary() {
    let (span, length) = (1.0_f64, 1.2_f64);
    let (mut low, mut high) = (0.05_f64, 10.0_f64);
    for _ in 0..200 {
        let a = 0.5 * (low + high);
        // A flatter chain is shorter.
        *if 2.0 * a * (span / (2.0 * a)).sinh() > length { &mut low } else { &mut high } = a;
    }
    let a = 0.5 * (low + high);
    assert!((2.0 * a * (span / (2.0 * a)).sinh() - length).abs() < 1e-9);
    let sag = a * ((span / (2.0 * a)).cosh() - 1.0);
    let mut errors = Vec::new();
    for n in [10_u32, 20, 40] {
        let strand = Strand { linear_density: 0.1, stretch: 1e5, bending: 0.0, damping: 1e-3 };
        // A shape of the right length to begin with: a triangle.
        let depth = (0.25 * length * length - 0.25 * span * span).sqrt();
        let curve: Vec<DVec3> = (0..=n)
            .map(|i| {
                let s = f64::from(i) / f64::from(n);
                DVec3::new(span * (s - 0.5), 0.0, -depth * (1.0 - (2.0 * s - 1.0).abs()))
            })
            .collect();
        let mut chain = strand.curve(&curve).unwrap();
        chain.pin(0).unwrap();
        chain.pin(n as usize).unwrap();
        let mut system = DeformableSystem::new(still());
        system.add(&chain).unwrap();
        settle(&mut system, 0.05, 300);
        let lowest = system.position().iter().map(|x| x.z).fold(0.0, f64::min);
        errors.push((-lowest / sag - 1.0).abs());
    }
    println!("catenary: relative errors {errors:?}");
    assert!(errors[2] < 0.01 && errors[2] < 0.5 * errors[1], "{errors:?}");
}

/// A square bar of tetrahedra, twisted: torque G J θ/l with J = 0.1406 a⁴, from the energy ½ G J θ²/l.
#[test]
fn bar_resists_torsion_as_theory_says() {
    let (side, length, angle) = (0.1_f64, 0.4, 0.02);
    let solid = Solid { density: 1000.0, young: 1e6, poisson_ratio: 0.3, damping: 0.0 };
    let shear = 1e6 / (2.0 * 1.3);
    let expected = 0.5 * shear * 0.1406 * side.powi(4) * angle * angle / length;
    let mut errors = Vec::new();
    for n in [2_usize, 4, 8] {
        let mesh = SolidMesh::lattice([n, n, 4 * n], DVec3::splat(side / n as f64)).unwrap();
        let mut body = solid.mesh(&mesh).unwrap();
        let mut targets = Vec::new();
        for v in 0..body.len() {
            // Saint-Venant torsion with free warping: only x and y of the ends are given, z by one soft step in the middle.
            let x = body.position[v];
            let turned = DVec3::new(0.0, 0.0, 0.0) + glam::DMat3::from_rotation_z(angle * x.z / length) * x;
            body.position[v] = turned;
            if x.z.abs() > 0.499 * length {
                body.pin(v).unwrap();
            }
            targets.push(turned);
        }
        let mut system = DeformableSystem::new(Settings { gravity: DVec3::ZERO, ..still() });
        system.add(&body).unwrap();
        settle(&mut system, 0.1, 30);
        errors.push(system.energies().elastic / expected - 1.0);
    }
    println!("torsion of a bar with clamped ends: relative errors {errors:?}");
    // Clamped ends cannot warp: a little stiffer than theory; linear tetrahedra converge from above.
    assert!(errors[2] > 0.0 && errors[2] < 0.1 && errors[2] < 0.5 * errors[1], "{errors:?}");
}

/// A square of cloth hanging from its upper edge stretches by ρ g l²/(2 Y), strain small; exact for any mesh up to the sides.
#[test]
fn hanging_cloth_stretches_under_its_weight() {
    let cloth = Cloth {
        areal_density: 0.2,
        stretch: 200.0,
        poisson_ratio: 0.0,
        bending: 0.0,
        damping: 5e-3,
        ..Cloth::default()
    };
    let mut errors = Vec::new();
    for n in [5_usize, 9, 17] {
        let spacing = 0.5 / (n - 1) as f64;
        let mut body = cloth.grid(n, n, spacing).unwrap();
        for x in body.position.iter_mut().chain(&mut body.rest) {
            *x = DVec3::new(x.x, 0.0, x.y);
        }
        let top = body.position.iter().map(|x| x.z).fold(f64::MIN, f64::max);
        for v in 0..body.len() {
            if body.position[v].z > top - 1e-9 {
                body.pin(v).unwrap();
            }
        }
        let mut system = DeformableSystem::new(still());
        system.add(&body).unwrap();
        settle(&mut system, 0.05, 80);
        let lowest = system.position().iter().map(|x| x.z).fold(f64::MAX, f64::min);
        // Green strain: E = σ/Y with Y E (1 + 2E)^½ = q; first order q/Y, second −(q/Y)².
        let (weight, l) = (0.2 * 9.81 / 200.0, 0.5);
        let expected = weight * l * l / 2.0 - 1.5 * weight * weight * l * l * l / 3.0;
        errors.push((top - lowest - l) / expected - 1.0);
    }
    println!("hanging cloth: relative errors of the elongation {errors:?}");
    assert!(errors[2].abs() < 0.01, "{errors:?}");
}

/// A stiff chain swings as a compound pendulum does: small oscillations of a hanging heavy rope, period 2π·2/j₀₁ √(l/g), j₀₁ = 2.404826.
#[test]
fn hanging_rope_swings_with_its_period() {
    let (length, n) = (1.0, 40_u32);
    let strand = Strand { linear_density: 0.1, stretch: 1e6, bending: 0.0, damping: 0.0 };
    let curve: Vec<DVec3> = (0..=n).map(|i| -length * f64::from(i) / f64::from(n) * DVec3::Z).collect();
    let mut rope = strand.curve(&curve).unwrap();
    rope.pin(0).unwrap();
    // The first mode: J₀(j₀₁ √(s/l)), s from the free end.
    let bessel = |x: f64| {
        (0..30)
            .fold((0.0, 1.0), |(sum, term), k| {
                (sum + term, -term * 0.25 * x * x / f64::from((k + 1) * (k + 1)))
            })
            .0
    };
    for x in &mut rope.position {
        x.x = 0.01 * bessel(2.404_825_557_7 * (1.0 + x.z / length).max(0.0).sqrt());
    }
    let mut system = DeformableSystem::new(Settings { method: Method::NewtonBdf2, ..still() });
    system.add(&rope).unwrap();
    let (h, mut crossings, mut last) = (2e-3, Vec::new(), 1.0);
    for step in 0..2000 {
        system.step(h).unwrap();
        let x = system.position()[n as usize].x;
        if x * last < 0.0 {
            crossings.push(h * (f64::from(step) + last / (last - x)));
        }
        last = x;
    }
    let period = 2.0 * (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
    let expected = std::f64::consts::TAU * 2.0 / 2.404_825_557_7 * (length / 9.81_f64).sqrt();
    assert!((period / expected - 1.0).abs() < 0.01, "{period} {expected}");
}

/// Terminal speed of a sheet that falls flat: v² = 2 m g/(ρ A c_n).
#[test]
fn falling_sheet_reaches_its_terminal_speed() {
    let cloth = Cloth { bending: 1e-2, ..Cloth::default() };
    let mut system = DeformableSystem::new(still());
    system.add(&cloth.grid(6, 6, 0.05).unwrap()).unwrap();
    system.set_air(Some(Air { lift: 0.0, ..Air::default() })).unwrap();
    settle(&mut system, 0.02, 200);
    let expected = (2.0 * cloth.areal_density * 9.81 / (1.225 * 1.2)).sqrt();
    let speed = -system.velocity()[14].z;
    assert!((speed / expected - 1.0).abs() < 1e-3, "{speed} {expected}");
}

/// Gas in a balloon at constant temperature: p V stays, and the membrane carries the gauge pressure.
#[test]
fn balloon_keeps_its_gas() {
    let mesh = generate::icosphere(3).unwrap();
    let cloth = Cloth { stretch: 2000.0, damping: 1e-2, ..Cloth::default() };
    let mut system = DeformableSystem::new(Settings { gravity: DVec3::ZERO, ..still() });
    let range = system.add(&cloth.surface(&mesh).unwrap()).unwrap();
    system.inflate(range.clone(), 500.0, 1e5).unwrap();
    settle(&mut system, 0.02, 200);
    let gas = &system.pressures()[0];
    let volume = gas.volume(system.position());
    let p = gas.pressure(volume);
    // Gauge pressure of a sphere: 2 N/r with N = Y/(1 − ν)·E·stretch of the membrane (biaxial Green strain E).
    let r = system.position()[range].iter().map(|x| x.length()).sum::<f64>() / 162.0;
    let strain = 0.5 * (r * r - 1.0);
    // Second Piola–Kirchhoff to true line tension: stretch/(stretch) of the other side cancels.
    let tension = 2000.0 / 0.7 * strain;
    assert!(
        p > 1.0 && p < 500.0 && (p / (2.0 * tension / r) - 1.0).abs() < 0.03,
        "{p} {} {r}",
        2.0 * tension / r
    );
}
