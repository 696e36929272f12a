//! Runs the scenes of the guide and prints intersections, energies and time per step.
//!
//! `cargo run --release -p rattleback-deformable --example scenes -- [NAME] [SECONDS]`
#![allow(clippy::unwrap_used, reason = "an example may stop at an error")]

use std::time::Instant;

use glam::{DQuat, DVec3};
use rattleback_deformable::forces::Air;
use rattleback_deformable::{
    Cloth, Deformable, DeformableSystem, Method, RigidStatus, Settings, Solid, SolidMesh, Strand,
};
use rattleback_geometry::{Pose, TriangleMesh, generate};

type Run = Result<(), Box<dyn std::error::Error>>;

const STEP: f64 = 1.0 / 60.0;

fn sphere(radius: f64, level: u32) -> Result<TriangleMesh, Box<dyn std::error::Error>> {
    let unit = generate::icosphere(level)?;
    Ok(TriangleMesh::new(unit.vertices().iter().map(|&p| radius * p).collect(), unit.triangles().to_vec())?)
}

fn cuboid(half: DVec3) -> Result<TriangleMesh, Box<dyn std::error::Error>> {
    Ok(TriangleMesh::from_soup(&generate::cuboid(half)?)?)
}

/// Runs for some seconds; `drive` is called before each step with the time.
fn run(
    name: &str,
    mut system: DeformableSystem,
    seconds: f64,
    mut drive: impl FnMut(&mut DeformableSystem, f64),
) -> Run {
    let steps = (seconds / STEP).round() as usize;
    let (mut crossings, mut least, mut iterations, mut linear, mut contacts, mut missed) =
        (0, f64::INFINITY, 0, 0, 0, 0);
    let mut spent = 0.0;
    let (mut highest, before) = (f64::MIN, system.energies().total());
    for _ in 0..steps {
        let now = system.time();
        drive(&mut system, now);
        let start = Instant::now();
        let report = system.step(STEP)?;
        spent += start.elapsed().as_secs_f64();
        crossings += system.intersections().len();
        least = least.min(report.smallest_distance);
        iterations += report.iterations;
        linear += report.linear_iterations;
        contacts = contacts.max(report.contacts);
        missed += usize::from(!report.converged);
        highest = highest.max(system.energies().total());
    }
    let e = system.energies();
    println!(
        "{name:<11} {:>6} vertices {steps:>5} steps  {crossings} intersections  least distance {least:.2e} m  contacts {contacts:>5}  \
         {:>5.1} ms/step  {:.1} iterations, {:.0} linear  {missed} not converged  energy {before:.3} → {:.3} J (highest {highest:.3})",
        system.model().len(),
        1e3 * spent / steps as f64,
        iterations as f64 / steps as f64,
        linear as f64 / steps as f64,
        e.total(),
    );
    Ok(())
}

fn settings() -> Settings {
    Settings { max_iterations: 12, tolerance: 2e-2, linear_tolerance: 1e-2, ..Settings::default() }
}

fn flag(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(settings());
    let mut cloth = Cloth::default().grid(30, 20, 0.03)?;
    for x in cloth.position.iter_mut().chain(&mut cloth.rest) {
        *x = DVec3::new(x.x, 0.0, x.y);
    }
    for j in 0..20 {
        cloth.pin(30 * j)?;
    }
    // A ripple, so that the wind finds a side.
    for x in &mut cloth.position {
        x.y = 0.01 * (10.0 * (x.x + 0.435)).sin();
    }
    system.add(&cloth)?;
    system.set_air(Some(Air { velocity: DVec3::new(6.0, 0.5, 0.0), ..Air::default() }))?;
    run("flag", system, seconds, |_, _| ())
}

fn tablecloth(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(settings());
    system.add_rigid(
        &cuboid(DVec3::new(0.25, 0.25, 0.02))?,
        &Pose::at(DVec3::Z * 0.4),
        1.0,
        RigidStatus::Fixed,
        0.5,
    )?;
    system.add_plane(DVec3::Z, 0.0, 0.5)?;
    system.add(&Cloth::default().grid(31, 31, 0.03)?.transformed(&Pose::at(DVec3::new(0.01, 0.02, 0.45))))?;
    run("tablecloth", system, seconds, |_, _| ())
}

fn knot(seconds: f64) -> Run {
    let mut system =
        DeformableSystem::new(Settings { contact_distance: 4e-3, gravity: DVec3::ZERO, ..settings() });
    // A trefoil, opened, with two long ends.
    let n = 160;
    let mut curve: Vec<DVec3> = Vec::new();
    let at = |t: f64| {
        0.05 * DVec3::new(
            t.sin() + 2.0 * (2.0 * t).sin(),
            t.cos() - 2.0 * (2.0 * t).cos(),
            -1.2 * (3.0 * t).sin(),
        )
    };
    let (a, b) = (0.35, std::f64::consts::TAU - 0.35 + 0.0);
    let (first, last) = (at(a), at(b));
    let away = |p: DVec3, q: DVec3| (p - q).normalize_or(DVec3::X);
    let (da, db) = (away(at(a), at(a + 0.02)), away(at(b), at(b - 0.02)));
    for i in (1..=20).rev() {
        curve.push(first + 0.012 * f64::from(i) * da);
    }
    for i in 0..=n {
        curve.push(at(a + (b - a) * f64::from(i) / f64::from(n)));
    }
    for i in 1..=20 {
        curve.push(last + 0.012 * f64::from(i) * db);
    }
    let mut rope: Deformable =
        Strand { linear_density: 0.02, stretch: 500.0, bending: 1e-4, damping: 1e-2 }.curve(&curve)?;
    // At rest it is straight.
    for rod in &mut rope.rods {
        rod.rest = 0.0;
    }
    let end = rope.len() - 1;
    rope.pin(0)?;
    rope.pin(end)?;
    system.add(&rope)?;
    let length: f64 = curve.windows(2).map(|p| p[0].distance(p[1])).sum();
    run("knot", system, seconds, |system, t| {
        // The ends are pulled apart until 75 % of the rope is straight.
        let (p, q) = (system.position()[0], system.position()[end]);
        let apart = (p - q).normalize_or(DVec3::X);
        if p.distance(q) < 0.75 * length && t > 0.0 {
            system.set_target(0, p + 0.15 * STEP * apart).unwrap();
            system.set_target(end, q - 0.15 * STEP * apart).unwrap();
        }
    })
}

fn tube(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(settings());
    let body = system.add_rigid(&sphere(0.12, 3)?, &Pose::IDENTITY, 1.0, RigidStatus::Driven, 0.4)?;
    let (around, along) = (36_u32, 24_u32);
    let mut vertices = Vec::new();
    let mut triangles = Vec::new();
    for j in 0..along {
        for i in 0..around {
            let a = std::f64::consts::TAU * f64::from(i) / f64::from(around);
            vertices.push(DVec3::new(0.14 * a.cos(), 0.14 * a.sin(), 0.025 * (f64::from(j) - 11.5)));
            if j > 0 {
                let (p, q) = (j * around + i, j * around + (i + 1) % around);
                triangles.extend([[p - around, q - around, q], [p - around, q, p]]);
            }
        }
    }
    let mut cloth = Cloth { stretch: 200.0, ..Cloth::default() }.mesh(&vertices, &triangles)?;
    // The upper seam is carried along by the body.
    let top: Vec<usize> = (0..around as usize).map(|i| i + (along as usize - 1) * around as usize).collect();
    for &v in &top {
        cloth.pin(v)?;
    }
    let range = system.add(&cloth)?;
    let mut seam: Vec<DVec3> = top.iter().map(|&v| vertices[v]).collect();
    run("tube", system, seconds, |system, t| {
        let turn = 3.0 * (2.0 * t).cos();
        let velocity = DVec3::new(0.4 * (3.0 * t).cos(), 0.0, 0.0);
        system.set_body_velocity(body, velocity, DVec3::new(0.0, 0.0, turn)).unwrap();
        let pose = system.body_pose(body).unwrap();
        // The seam follows a part of the way, so that the body pushes into the cloth.
        let center = 0.3 * (pose.translation + STEP * velocity);
        for (k, &v) in top.iter().enumerate() {
            seam[k] = DQuat::from_rotation_z(STEP * turn) * seam[k];
            system.set_target(range.start + v, center + seam[k]).unwrap();
        }
    })
}

fn hair(seconds: f64, strands: u32) -> Run {
    let mut system = DeformableSystem::new(settings());
    let head = system.add_rigid(&sphere(0.1, 3)?, &Pose::IDENTITY, 1.0, RigidStatus::Driven, 0.3)?;
    let mut roots = Vec::new();
    for k in 0..strands {
        // Roots on the upper half by the golden angle, each hair a helix outwards.
        let z = 0.15 + 0.84 * (f64::from(k) + 0.5) / f64::from(strands);
        let (r, a) = ((1.0 - z * z).sqrt(), 2.399_963 * f64::from(k));
        let out = DVec3::new(r * a.cos(), r * a.sin(), z);
        let u = out.any_orthonormal_vector();
        let w = out.cross(u);
        // Curls are narrower than the distance of neighbours.
        let curl = 0.25 * 0.2 / f64::from(strands).sqrt();
        let curve: Vec<DVec3> = (0..16)
            .map(|i| {
                let (s, phase) = (f64::from(i), 1.3 * f64::from(i));
                out * (0.103 + 0.006 * s) + curl.min(0.003) * (u * phase.cos() + w * phase.sin())
            })
            .collect();
        let mut strand =
            Strand { linear_density: 2e-4, stretch: 10.0, bending: 1e-8, damping: 5e-3 }.curve(&curve)?;
        strand.pin(0)?;
        strand.pin(1)?;
        let range = system.add(&strand)?;
        roots.push((range.start, curve[0]));
        roots.push((range.start + 1, curve[1]));
    }
    let mut turned = DQuat::IDENTITY;
    run("hair", system, seconds, |system, t| {
        let spin = DVec3::Z * (4.0 * (5.0 * t).cos());
        system.set_body_velocity(head, DVec3::ZERO, spin).unwrap();
        turned = DQuat::from_scaled_axis(STEP * spin) * turned;
        for &(v, place) in &roots {
            system.set_target(v, turned * place).unwrap();
        }
    })
}

fn jelly(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(settings());
    system.add_plane(DVec3::Z, 0.0, 0.5)?;
    let solid = Solid { density: 1000.0, young: 2e4, poisson_ratio: 0.4, damping: 5e-3 };
    let cube = solid.mesh(&SolidMesh::lattice([4, 4, 4], DVec3::splat(0.025))?)?;
    for k in 0..4 {
        let shift = 0.01 * f64::from(k % 2);
        system.add(&cube.clone().transformed(&Pose::at(DVec3::new(
            shift,
            shift,
            0.052 + 0.103 * f64::from(k),
        ))))?;
    }
    run("jelly", system, seconds, |_, _| ())
}

fn balloon(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(settings());
    system.add_plane(DVec3::Z, 0.0, 0.5)?;
    let skin = Cloth { stretch: 300.0, bending: 1e-5, ..Cloth::default() };
    let range = system.add(&skin.surface(&sphere(0.15, 4)?)?.transformed(&Pose::at(DVec3::Z * 0.3)))?;
    system.inflate(range, 300.0, 1e5)?;
    let weight = system.add_rigid(
        &cuboid(DVec3::splat(0.08))?,
        &Pose::at(DVec3::new(0.02, 0.0, 0.7)),
        100.0,
        RigidStatus::Free,
        0.4,
    )?;
    let _ = weight;
    run("balloon", system, seconds, |_, _| ())
}

fn net(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(Settings { contact_distance: 4e-3, ..settings() });
    // Strands both ways, joined at their crossings.
    let (n, mesh) = (17_u32, 0.05);
    let index = |i: u32, j: u32| i + n * j;
    let middle = 0.5 * mesh * f64::from(n - 1);
    let vertices: Vec<DVec3> = (0..n * n)
        .map(|k| DVec3::new(mesh * f64::from(k % n) - middle, mesh * f64::from(k / n) - middle, 0.0))
        .collect();
    let mut body = Deformable::from_vertices(vertices, vec![2e-3; (n * n) as usize])?;
    for j in 0..n {
        for i in 0..n {
            for (p, q) in [(i + 1, j), (i, j + 1)] {
                if p < n && q < n {
                    let ends = [index(i, j), index(p, q)];
                    body.add_spring(
                        rattleback_deformable::element::SpringKind::Structural,
                        ends,
                        2000.0,
                        1.0,
                    )?;
                    body.strands.push(ends);
                }
            }
        }
    }
    for k in 0..n {
        for v in [index(0, k), index(n - 1, k), index(k, 0), index(k, n - 1)] {
            body.pin(v as usize)?;
        }
    }
    system.add(&body)?;
    for k in 0..6 {
        let place = DVec3::new(
            0.13 * f64::from(k % 2) - 0.06,
            0.13 * f64::from(k / 2 % 2) - 0.07,
            0.15 + 0.16 * f64::from(k / 4 + k % 3),
        );
        system.add_rigid(&cuboid(DVec3::splat(0.05))?, &Pose::at(place), 300.0, RigidStatus::Free, 0.4)?;
    }
    run("net", system, seconds, |_, _| ())
}

fn trampoline(seconds: f64) -> Run {
    let mut system = DeformableSystem::new(Settings { method: Method::NewtonBdf2, ..settings() });
    let sheet = Cloth { areal_density: 0.3, stretch: 3000.0, damping: 0.0, ..Cloth::default() };
    let mut cloth = sheet.grid(25, 25, 0.04)?;
    for k in 0..25 {
        for v in [k, k + 600, 25 * k, 25 * k + 24] {
            cloth.pin(v)?;
        }
    }
    system.add(&cloth)?;
    let ball =
        system.add_rigid(&sphere(0.08, 3)?, &Pose::at(DVec3::Z * 0.5), 500.0, RigidStatus::Free, 0.3)?;
    let (mut highest, mut last, mut tops) = (f64::MIN, 0.0, Vec::new());
    run("trampoline", system, seconds, |system, _| {
        let z = system.body_pose(ball).unwrap().translation.z;
        if z < last && last == highest {
            tops.push(last);
        }
        if z < 0.0 {
            highest = f64::MIN;
        }
        highest = highest.max(z);
        last = z;
    })?;
    println!("            tops of the ball: {tops:.3?} m");
    Ok(())
}

fn main() -> Run {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "all".into());
    let seconds: f64 = arguments.next().map_or(Ok(5.0), |s| s.parse())?;
    let scenes: [(&str, &dyn Fn(f64) -> Run); 9] = [
        ("flag", &flag),
        ("tablecloth", &tablecloth),
        ("knot", &knot),
        ("tube", &tube),
        ("hair", &|s| hair(s, 100)),
        ("jelly", &jelly),
        ("balloon", &balloon),
        ("net", &net),
        ("trampoline", &trampoline),
    ];
    for (scene, work) in scenes {
        if (name == "all" || name == scene)
            && let Err(error) = work(seconds)
        {
            println!("{scene:<11} stopped: {error}");
        }
    }
    Ok(())
}
