//! Reproduces Mirtich's tables of exact volume integrals: two solids with known integrals, and six spheres.
//!
//! `cargo run --release -p rattleback-geometry --example mass_table`

use std::time::Instant;

use glam::DVec3;
use rattleback_geometry::{PolygonSoup, ShapeError, VolumeIntegrals, generate};

/// Best time of many runs in microseconds.
fn time(mut run: impl FnMut() -> VolumeIntegrals) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let start = Instant::now();
        std::hint::black_box(run());
        best = best.min(start.elapsed().as_secs_f64());
    }
    1e6 * best
}

fn print_solid(name: &str, soup: &PolygonSoup, exact: [f64; 10], source_time: f64) {
    let names = ["T1", "Tx", "Ty", "Tz", "Txx", "Tyy", "Tzz", "Txy", "Tyz", "Tzx"];
    let t = VolumeIntegrals::of_soup(soup);
    let took = time(|| VolumeIntegrals::of_soup(soup));
    println!("{name}: {took:.3} µs (source: {source_time} µs)");
    println!("  {:>4} {:>24} {:>24} {:>10}", "", "computed", "exact", "error");
    for ((name, value), exact) in names.into_iter().zip(t.to_array()).zip(exact) {
        println!("  {name:>4} {value:>24.16} {exact:>24.16} {:>10.1e}", value - exact);
    }
}

fn main() -> Result<(), ShapeError> {
    println!("Table 6.1: solids with known integrals");
    let second = 800_000.0 / 3.0;
    let cube = [8000.0, 0.0, 0.0, 0.0, second, second, second, 0.0, 0.0, 0.0];
    print_solid("cube of side 20", &generate::cuboid(DVec3::splat(10.0))?, cube, 110.0);
    let corners = [DVec3::ZERO, 5.0 * DVec3::X, 4.0 * DVec3::Y, 3.0 * DVec3::Z];
    let tetrahedron = [10.0, 12.5, 10.0, 7.5, 25.0, 16.0, 9.0, 10.0, 6.0, 7.5];
    print_solid("tetrahedron 0, 5i, 4j, 3k", &generate::tetrahedron(corners), tetrahedron, 64.0);

    println!("\nTable 6.2: unit spheres; T1 and Txx of the source to four digits in brackets");
    println!(
        "{:>5} {:>6} {:>6} {:>6} {:>18} {:>9} {:>18} {:>9} {:>10} {:>10} {:>9}",
        "level", "V", "E", "F", "T1", "Tx", "Txx", "Tyz", "time/µs", "3-stage/µs", "source/µs"
    );
    let source = [
        (2.536, 0.3670, 500.0),
        (3.659, 0.6692, 1.2e3),
        (4.047, 0.7911, 4.9e3),
        (4.153, 0.8258, 21e3),
        (4.180, 0.8347, 82e3),
        (4.187, 0.8370, 350e3),
    ];
    for (level, (t1, txx, source_time)) in (1..).zip(source) {
        let mesh = generate::icosphere(level)?;
        let report = mesh.report()?;
        let t = mesh.integrals()?;
        let loops: Vec<[DVec3; 3]> = (0..report.faces).map(|i| mesh.triangle(i)).collect();
        let fast = time(|| VolumeIntegrals::of_triangles(mesh.vertices(), mesh.triangles()));
        let full = time(|| VolumeIntegrals::by_three_stages(loops.iter().map(<[DVec3; 3]>::as_slice)));
        println!(
            "{level:>5} {:>6} {:>6} {:>6} {:>9.6} ({t1:.3}) {:>9.1e} {:>9.6} ({txx:.4}) {:>9.1e} {fast:>10.2} {full:>10.2} {source_time:>9}",
            report.vertices, report.edges, report.faces, t.t1, t.tx, t.txx, t.tyz
        );
    }
    let (sphere, sphere_xx) = (4.0 / 3.0 * std::f64::consts::PI, 4.0 / 15.0 * std::f64::consts::PI);
    println!("{:>5} {:>6} {:>6} {:>6} {sphere:>9.6} {:>17} {sphere_xx:>10.6}", "sphere", "", "", "", "");
    Ok(())
}
