//! `bench spaces`: cost of the broad phases per box, over the number of boxes.

use crate::arguments::BenchSpaces;
use crate::failure::Failure;
use crate::table::{Table, number};
use rattleback_geometry::space::SpaceKind;
use rattleback_lab::plot::{Chart, Panel, Series};
use rattleback_lab::spaces::{Measurement, Scene, growth, growth_exponent};
use std::io::Write;

/// Number of colours of a chart.
const COLORS: usize = 7;

/// Measures, prints and draws.
pub fn spaces(options: &BenchSpaces, out: &mut dyn Write) -> Result<(), Failure> {
    let kinds = if options.spaces.is_empty() {
        SpaceKind::ALL.to_vec()
    } else {
        let named = options.spaces.iter().map(|name| SpaceKind::from_name(name));
        named.collect::<Result<_, _>>().map_err(Failure::input)?
    };
    let mut table = Table::new(
        &["scene", "space", "boxes", "pairs", "ms/step", "ns/moving box", "exponent"],
        &[2, 3, 4, 5, 6],
    );
    let mut panels = Vec::new();
    for scene in Scene::ALL {
        let mut series = Vec::new();
        for (place, &kind) in kinds.iter().enumerate() {
            let measured = growth(kind, scene, options.max as usize, options.threads as usize);
            let measured = measured.map_err(Failure::failed)?;
            let exponent = growth_exponent(&measured).map_or_else(String::new, |p| number(p, 3));
            for (k, m) in measured.iter().enumerate() {
                let last = k + 1 == measured.len();
                table.row(vec![
                    scene.name().into(),
                    kind.name().into(),
                    m.boxes.to_string(),
                    m.pairs.to_string(),
                    number(m.seconds * 1e3, 3),
                    number(per_box(m), 3),
                    if last { exponent.clone() } else { String::new() },
                ]);
            }
            let points = measured.iter().map(|m| ((m.boxes as f64).log10(), per_box(m))).collect();
            if place < COLORS {
                series.push(Series { name: kind.name().into(), points });
            }
        }
        panels.push(Panel { y_label: format!("{} (ns)", scene.name()), series, log_y: true });
    }
    table.write(out)?;
    if let Some(path) = &options.plot {
        let chart = Chart {
            title: "Time per moving box and step".into(),
            x_label: "boxes, powers of ten".into(),
            panels,
        };
        chart.save(path).map_err(Failure::failed)?;
        if kinds.len() > COLORS {
            writeln!(out, "drawn: the first {COLORS} spaces")?;
        }
    }
    Ok(())
}

fn per_box(measured: &Measurement) -> f64 {
    measured.seconds * 1e9 / measured.moving.max(1) as f64
}
