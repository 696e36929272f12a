//! A slice through a distance field as a picture, and the mesh extracted from the field.
//!
//! `cargo run --release -p rattleback-geometry --example distance_field_slice -- [resolution] [folder]`
//! writes `slice.pgm` (dark inside, the surface a black line), `slice.csv` (x, y, value) and `field.obj`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use glam::DVec3;
use rattleback_geometry::distance_field::{DistanceField, FieldSettings};
use rattleback_geometry::generate;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let resolution = arguments.next().map_or(Ok(64), |text| text.parse())?;
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| ".".into()));
    let torus = generate::torus(1.0, 0.4, 96, 48)?;

    let start = Instant::now();
    let field = DistanceField::build(&torus, &FieldSettings { resolution, ..FieldSettings::default() })?;
    let (bytes, cells) = (field.memory_bytes(), field.grid().cells());
    println!("{cells:?} cells: {bytes} bytes, built in {:.1} ms", 1e3 * start.elapsed().as_secs_f64());

    let width = 400;
    let (low, high) = (field.grid().origin(), field.grid().end());
    let mut picture = format!("P2\n{width} {width}\n255\n");
    let mut table = String::from("x,y,value\n");
    let start = Instant::now();
    for row in 0..width {
        for column in 0..width {
            let place = |i: i32| (f64::from(i) + 0.5) / f64::from(width);
            let p = DVec3::new(
                low.x + place(column) * (high.x - low.x),
                high.y - place(row) * (high.y - low.y),
                0.5 * (low.z + high.z),
            );
            let value = field.value(p).unwrap_or(f64::NAN);
            let shade = if value.abs() < 0.5 * field.grid().cell() {
                0.0
            } else if value < 0.0 {
                60.0 + 150.0 * (1.0 + value / 0.4).clamp(0.0, 1.0)
            } else {
                255.0 - 120.0 * value.min(1.0)
            };
            write!(picture, "{shade:.0} ")?;
            writeln!(table, "{:.6},{:.6},{value:.6}", p.x, p.y)?;
        }
        picture.push('\n');
    }
    println!("{:.2} µs a value", 1e6 * start.elapsed().as_secs_f64() / f64::from(width * width));
    std::fs::write(folder.join("slice.pgm"), picture)?;
    std::fs::write(folder.join("slice.csv"), table)?;

    let start = Instant::now();
    let mesh = field.to_mesh()?;
    let (count, took) = (mesh.triangles().len(), 1e3 * start.elapsed().as_secs_f64());
    println!("mesh of {count} triangles in {took:.1} ms, solid: {}", mesh.is_solid());
    let mut object = String::new();
    for p in mesh.vertices() {
        writeln!(object, "v {} {} {}", p.x, p.y, p.z)?;
    }
    for [a, b, c] in mesh.triangles() {
        writeln!(object, "f {} {} {}", a + 1, b + 1, c + 1)?;
    }
    std::fs::write(folder.join("field.obj"), object)?;
    Ok(())
}
