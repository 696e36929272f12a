//! Charts as files: real pictures, whatever the data.

use std::path::PathBuf;

use rattleback_lab::plot::{Chart, Panel, PlotError, Series};

fn chart_of(series: Vec<Vec<(f64, f64)>>, log_y: bool) -> Chart {
    let named = |(i, points)| Series { name: format!("series {i}"), points };
    let series = series.into_iter().enumerate().map(named).collect();
    Chart {
        title: "Title".into(),
        x_label: "time (s)".into(),
        panels: vec![Panel { y_label: "value (m)".into(), series, log_y }],
    }
}

/// PNG bytes ⇒ width, height and RGB pixels, by an independent decoder pass that checks every checksum.
fn decoded(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

fn count_of_color(pixels: &[u8], rgb: [u8; 3]) -> usize {
    pixels.chunks_exact(3).filter(|pixel| **pixel == rgb).count()
}

const BLUE: [u8; 3] = [0, 114, 178];
const VERMILION: [u8; 3] = [213, 94, 0];

#[test]
fn saves_what_the_extension_says() {
    let chart = chart_of(vec![vec![(0.0, 0.0), (1.0, 1.0)], vec![(0.0, 1.0), (1.0, 0.0)]], false);
    let folder = std::env::temp_dir().join(format!("rattleback-plot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    chart.save(folder.join("chart.png")).unwrap();
    chart.save(folder.join("chart.SVG")).unwrap();
    let (width, height, pixels) = decoded(&std::fs::read(folder.join("chart.png")).unwrap());
    assert!(width == 1920 && height > 800);
    // Both diagonals are 1.6 units wide and more than 800 long, at four pixels a unit of area.
    for color in [BLUE, VERMILION] {
        assert!(count_of_color(&pixels, color) > 2000);
    }
    let svg = std::fs::read_to_string(folder.join("chart.SVG")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("width=\"960\"") && svg.matches("<polyline").count() == 2);
    for name in ["chart.pdf", "chart"] {
        assert!(matches!(chart.save(folder.join(name)), Err(PlotError::UnknownFormat { .. })));
    }
    let nowhere: PathBuf = folder.join("absent").join("chart.png");
    assert!(matches!(chart.save(nowhere), Err(PlotError::Io { .. })));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn odd_data_still_make_a_picture() {
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    for points in [
        vec![],
        vec![(1.0, 2.0)],
        vec![(nan, nan)],
        vec![(0.0, 3.0), (1.0, 3.0)],
        vec![(0.0, 0.0), (1.0, 0.0)],
        vec![(0.0, f64::MAX), (1.0, f64::MIN), (2.0, inf), (3.0, -inf)],
        vec![(-1e300, 5e-324), (1e300, 0.0)],
        vec![(0.0, 1.0), (1.0, nan), (2.0, 1.0)],
        vec![(5.0, 1.0), (5.0, 2.0)],
    ] {
        for log_y in [false, true] {
            let chart = chart_of(vec![points.clone(), vec![]], log_y);
            assert!(decoded(&chart.to_png().unwrap()).2.len() > 1_000_000, "{points:?}");
            assert!(chart.to_svg().unwrap().len() > 1000, "{points:?}");
        }
    }
    assert!(Chart::default().to_svg().unwrap().contains("no data"));
    let many = Chart { panels: vec![Panel::default(); 25], ..Chart::default() };
    assert!(matches!(many.to_png(), Err(PlotError::TooManyPanels { found: 25 })));
}

#[test]
fn points_that_are_not_finite_break_the_line() {
    let points = vec![
        (0.0, 0.0),
        (1.0, 1.0),
        (2.0, f64::NAN),
        (3.0, 1.0),
        (4.0, 0.0),
        (5.0, f64::INFINITY),
        (6.0, 0.5),
    ];
    let svg = chart_of(vec![points], false).to_svg().unwrap();
    assert_eq!(svg.matches("<polyline").count(), 2);
    assert_eq!(svg.matches("<circle").count(), 1);
}

#[test]
fn a_million_points_make_a_small_file() {
    let wave =
        (0..1_000_000).map(|i| f64::from(i) * 1e-3).map(|t| (t, (30.0 * t).sin() * (-t / 300.0).exp()));
    let chart = chart_of(vec![wave.collect()], false);
    assert!(chart.to_svg().unwrap().len() < 100_000);
    assert!(chart.to_png().unwrap().len() < 300_000);
}

#[test]
fn text_is_escaped_cut_and_cleaned() {
    let mut chart = chart_of(vec![vec![(0.0, 0.0), (1.0, 1.0)]; 40], false);
    chart.title = format!("a < b & \"c\" \0\u{1b} {}", "long ".repeat(1000));
    chart.panels[0].y_label = "y".repeat(10_000);
    chart.panels[0].series[0].name = "θ₁ → ω̇ 漢字 🦀".to_owned();
    let svg = chart.to_svg().unwrap();
    assert!(svg.contains("a &lt; b &amp;") && svg.contains("… and 16 more"));
    assert!(!svg.chars().any(|c| c.is_control() && c != '\n'));
    assert!(svg.len() < 40_000);
    chart.to_png().unwrap();
}
