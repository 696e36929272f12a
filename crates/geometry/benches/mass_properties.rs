//! The ten integrals of spheres from 20 to 20 480 faces, by the short way and by the three-stage reduction.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use glam::DVec3;
use rattleback_geometry::{VolumeIntegrals, convex_hull, generate};

fn integrals(criterion: &mut Criterion) {
    for level in [1, 4, 6] {
        let Ok(sphere) = generate::icosphere(level) else { return };
        let faces = sphere.triangles().len();
        criterion.bench_function(&format!("integrals/{faces} triangles"), |bencher| {
            bencher.iter(|| VolumeIntegrals::of_triangles(sphere.vertices(), sphere.triangles()));
        });
        let loops: Vec<[DVec3; 3]> = (0..faces).map(|i| sphere.triangle(i)).collect();
        criterion.bench_function(&format!("three stages/{faces} triangles"), |bencher| {
            bencher.iter(|| VolumeIntegrals::by_three_stages(loops.iter().map(<[DVec3; 3]>::as_slice)));
        });
    }
}

fn hulls(criterion: &mut Criterion) {
    // Fibonacci lattice: evenly spread, all on the hull.
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let points: Vec<DVec3> = (0..100_000)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / 100_000.0;
            let (sin, cos) = (golden * i as f64).sin_cos();
            let rho = (1.0 - z * z).sqrt();
            DVec3::new(rho * cos, rho * sin, z)
        })
        .collect();
    criterion.benchmark_group("hull").sample_size(10).bench_function(
        "100000 points on a sphere",
        |bencher| {
            bencher.iter(|| convex_hull(&points).map(|hull| hull.face_count()));
        },
    );
}

criterion_group!(benches, integrals, hulls);
criterion_main!(benches);
