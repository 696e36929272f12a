//! Puts a chart on a canvas.
//!
//! Lengths here are in units of the picture as shown; `SUBPIXELS` canvas pixels make one. From the top: the title, then
//! for each panel its legend (beside the note of the y axis, above the frame, so that it covers no data) and its frame,
//! then the labels of the common x axis.

use std::sync::OnceLock;

use plotters::backend::DrawingBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, RGBColor, TextStyle, WHITE};

use super::axis::Axis;
use super::decimate::decimate;
use super::{Chart, Panel, PlotError, Series};

/// Canvas pixels to a unit of the picture.
pub(super) const SUBPIXELS: u32 = 4;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 24.0;
const LEGEND_ROW: f64 = 20.0;
const LEGEND_GAP: f64 = 6.0;
const LEGEND_SWATCH: f64 = 22.0;
/// Names beyond this number are summed up, lest the legend outgrow the picture.
const LEGEND_MOST: usize = 24;
const PANEL_GAP: f64 = 14.0;
const X_LABELS: f64 = 22.0;
const X_TITLE: f64 = 24.0;
const BOTTOM: f64 = 10.0;
const TITLE: f64 = 36.0;
const TITLE_SIZE: f64 = 16.0;
const LABEL_SIZE: f64 = 13.0;
const TICK_SIZE: f64 = 12.0;
const CURVE: f64 = 1.6;

/// Blue, vermilion, green, purple, sky, orange, black: Okabe and Ito's colours, distinguishable with colour blindness; their
/// yellow is too pale for white paper.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
];
const INK: RGBColor = RGBColor(38, 38, 38);
const FRAME: RGBColor = RGBColor(120, 120, 120);
const GRID: RGBColor = RGBColor(224, 224, 224);
const FINE_GRID: RGBColor = RGBColor(240, 240, 240);

pub(super) const FONT: &str = "sans-serif";

/// Makes the embedded font known to the drawing library, once.
pub(super) fn register_font() -> Result<(), PlotError> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let register =
        || plotters::style::register_font(FONT, FontStyle::Normal, dejavu::sans::regular()).is_ok();
    if *REGISTERED.get_or_init(register) {
        Ok(())
    } else {
        Err(PlotError::Drawing("the embedded font is broken".to_owned()))
    }
}

/// What the target is good at.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Manner {
    /// Polylines are native; text hangs 0.76 em above its baseline.
    Vector,
    /// Polylines are drawn by us, stroke by stroke; text hangs half its nominal size above its baseline.
    Pixels,
}

/// Layout of a chart.
pub(super) struct Layout {
    height: f64,
    frames: Vec<Frame>,
    x_axis: Axis,
    /// Stands in when the chart has no panel at all.
    empty: Panel,
}

struct Frame {
    top: f64,
    bottom: f64,
    legend: Vec<LegendEntry>,
    y_axis: Axis,
}

struct LegendEntry {
    x: f64,
    /// Of its middle.
    y: f64,
    name: String,
    color: Option<RGBColor>,
}

impl Layout {
    /// Chart ⇒ its measures; the font must be registered.
    pub(super) fn of(chart: &Chart) -> Self {
        let empty = Panel::default();
        let panels = if chart.panels.is_empty() { std::slice::from_ref(&empty) } else { &chart.panels[..] };
        let panel_height = match panels.len() {
            1 => 400.0,
            2 => 270.0,
            _ => 200.0,
        };
        let all_points = panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
        let x_axis = Axis::linear(all_points.map(|point| point.0), 10, false);
        let mut y = if chart.title.is_empty() { 8.0 } else { TITLE };
        let mut frames = Vec::new();
        for panel in panels {
            let values = panel.series.iter().flat_map(|series| &series.points).map(|point| point.1);
            let tick_count = (panel_height / 36.0) as usize;
            let y_axis = if panel.log_y {
                Axis::logarithmic(values, tick_count)
            } else {
                Axis::linear(values, tick_count, true)
            };
            let (legend, rows) = legend(panel, y, &y_axis.note);
            let top = y + rows as f64 * LEGEND_ROW + LEGEND_GAP;
            frames.push(Frame { top, bottom: top + panel_height, legend, y_axis });
            y = top + panel_height + PANEL_GAP;
        }
        let below = X_LABELS
            + if chart.x_label.is_empty() && x_axis.note.is_empty() { 0.0 } else { X_TITLE }
            + BOTTOM;
        Self { height: y - PANEL_GAP + below, frames, x_axis, empty }
    }

    /// Canvas pixels across and down, both even.
    pub(super) fn canvas_size(&self) -> (u32, u32) {
        (WIDTH as u32 * SUBPIXELS, self.height.ceil() as u32 * SUBPIXELS)
    }
}

/// Panel whose legend starts at height `y` ⇒ entries in rows, and the number of rows (one at least if there is a note).
fn legend(panel: &Panel, y: f64, note: &str) -> (Vec<LegendEntry>, usize) {
    let note_width = if note.is_empty() { 0.0 } else { text_width(note, TICK_SIZE) + 24.0 };
    let mut names: Vec<(String, Option<RGBColor>)> = Vec::new();
    for (index, series) in panel.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty()) {
        if names.len() == LEGEND_MOST {
            let more = panel.series[index..].iter().filter(|series| !series.name.is_empty()).count();
            names.push((format!("… and {more} more"), None));
            break;
        }
        names.push((fitting(&series.name, LABEL_SIZE, 260.0), Some(PALETTE[index % PALETTE.len()])));
    }
    let mut entries = Vec::new();
    let mut row = 0;
    let mut x = LEFT + note_width;
    for (name, color) in names {
        let width = LEGEND_SWATCH + 6.0 + text_width(&name, LABEL_SIZE);
        if x + width > WIDTH - RIGHT && x > LEFT + note_width {
            row += 1;
            x = LEFT + note_width;
        }
        entries.push(LegendEntry { x, y: y + (f64::from(row) + 0.5) * LEGEND_ROW, name, color });
        x += width + 18.0;
    }
    let rows = if entries.is_empty() { usize::from(!note.is_empty()) } else { row as usize + 1 };
    (entries, rows)
}

pub(super) fn font_size(size: f64) -> f64 {
    // The drawing library's sizes are 1.24 em.
    size * 1.24 * f64::from(SUBPIXELS)
}

fn text_width(text: &str, size: f64) -> f64 {
    let measured = (FONT, font_size(size)).into_font().box_size(text);
    measured.map_or(0.0, |(width, _)| f64::from(width) / f64::from(SUBPIXELS))
}

/// Text ⇒ as much of it as fits, without characters that no picture can show.
fn fitting(text: &str, size: f64, width: f64) -> String {
    // Nothing longer than this fits anywhere; it bounds the measuring.
    let clean: String = text
        .chars()
        .take(300)
        .map(|c| if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') { ' ' } else { c })
        .collect();
    if text_width(&clean, size) <= width {
        return clean;
    }
    let mut characters: Vec<char> = clean.chars().collect();
    while characters.len() > 1 {
        characters.pop();
        let cut = characters.iter().collect::<String>() + "…";
        if text_width(&cut, size) <= width {
            return cut;
        }
    }
    "…".to_owned()
}

/// Chart and its layout ⇒ drawn on the backend.
pub(super) fn draw<B: DrawingBackend>(
    chart: &Chart,
    layout: &Layout,
    backend: B,
    manner: Manner,
) -> Result<(), PlotError> {
    let canvas = Canvas { area: backend.into_drawing_area(), manner };
    canvas.area.fill(&WHITE).map_err(failed)?;
    let middle = 0.5 * (LEFT + WIDTH - RIGHT);
    let title = fitting(&chart.title, TITLE_SIZE, WIDTH - LEFT - RIGHT);
    canvas.text(&title, TITLE_SIZE, HPos::Center, (middle, 24.0), INK)?;
    let panels =
        if chart.panels.is_empty() { std::slice::from_ref(&layout.empty) } else { &chart.panels[..] };
    for (panel, frame) in panels.iter().zip(&layout.frames) {
        canvas.panel(panel, frame, &layout.x_axis)?;
    }
    if let Some(last) = layout.frames.last() {
        canvas.x_labels(chart, &layout.x_axis, last.bottom)?;
    }
    canvas.area.present().map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> PlotError {
    PlotError::Drawing(error.to_string())
}

/// Length or place in the picture ⇒ on the canvas.
fn fine(length: f64) -> i32 {
    (length * f64::from(SUBPIXELS)).round() as i32
}

struct Canvas<B: DrawingBackend> {
    area: DrawingArea<B, Shift>,
    manner: Manner,
}

impl<B: DrawingBackend> Canvas<B> {
    fn panel(&self, panel: &Panel, frame: &Frame, x_axis: &Axis) -> Result<(), PlotError> {
        let (top, bottom, right) = (frame.top, frame.bottom, WIDTH - RIGHT);
        let x_of = |fraction: f64| LEFT + fraction * (right - LEFT);
        let y_of = |fraction: f64| bottom - fraction * (bottom - top);
        for &place in &frame.y_axis.minor {
            let y = y_of(frame.y_axis.fraction_of_place(place));
            self.line((LEFT, y), (right, y), 1.0, FINE_GRID)?;
        }
        for tick in &x_axis.ticks {
            let x = x_of(x_axis.fraction_of_place(tick.place));
            self.line((x, top), (x, bottom), 1.0, GRID)?;
        }
        for tick in &frame.y_axis.ticks {
            let y = y_of(frame.y_axis.fraction_of_place(tick.place));
            self.line((LEFT, y), (right, y), 1.0, GRID)?;
            self.text(&tick.label, TICK_SIZE, HPos::Right, (LEFT - 7.0, y + 0.36 * TICK_SIZE), INK)?;
        }
        for (from, to) in [
            ((LEFT, top), (right, top)),
            ((LEFT, bottom), (right, bottom)),
            ((LEFT, top), (LEFT, bottom)),
            ((right, top), (right, bottom)),
        ] {
            self.line(from, to, 1.0, FRAME)?;
        }
        let mut drawn = false;
        for (index, series) in panel.series.iter().enumerate().rev() {
            let to_canvas = |&(x, y): &(f64, f64)| {
                Some((fine(x_of(x_axis.fraction(x)?)), fine(y_of(frame.y_axis.fraction(y)?))))
            };
            drawn |= self.series(series, to_canvas, PALETTE[index % PALETTE.len()])?;
        }
        if !drawn {
            self.text("no data", LABEL_SIZE, HPos::Center, (x_of(0.5), y_of(0.5)), FRAME)?;
        }
        let note_line = top - LEGEND_GAP - 0.5 * LEGEND_ROW + 0.36 * LABEL_SIZE;
        self.text(&frame.y_axis.note, TICK_SIZE, HPos::Left, (LEFT, note_line), INK)?;
        self.legend(&frame.legend)?;
        self.upward_text(&fitting(&panel.y_label, LABEL_SIZE, bottom - top), (19.0, y_of(0.5)))
    }

    /// Draws the unbroken parts of a curve ⇒ whether there were any.
    fn series(
        &self,
        series: &Series,
        to_canvas: impl Fn(&(f64, f64)) -> Option<(i32, i32)>,
        color: RGBColor,
    ) -> Result<bool, PlotError> {
        let mut drawn = false;
        let mut points = series.points.iter().map(to_canvas).peekable();
        while points.peek().is_some() {
            // Takes the break as well.
            let part = points.by_ref().take_while(Option::is_some).flatten();
            let part = decimate(part, fine(1.0));
            drawn |= !part.is_empty();
            self.curve(&part, color)?;
        }
        Ok(drawn)
    }

    fn curve(&self, points: &[(i32, i32)], color: RGBColor) -> Result<(), PlotError> {
        if let [point] = points {
            return self.area.draw(&Circle::new(*point, fine(2.2), color.filled())).map_err(failed);
        }
        if points.is_empty() {
            return Ok(());
        }
        if self.manner == Manner::Vector {
            let style = color.stroke_width(fine(CURVE) as u32);
            return self.area.draw(&PathElement::new(points.to_vec(), style)).map_err(failed);
        }
        // Each segment a bar, each corner a disc: the library's own wide paths grow spikes at sharp corners.
        let radius = 0.5 * CURVE * f64::from(SUBPIXELS);
        for segment in points.windows(2) {
            let (a, b) = (segment[0], segment[1]);
            let (dx, dy) = (f64::from(b.0 - a.0), f64::from(b.1 - a.1));
            let length = dx.hypot(dy).max(1.0);
            let (nx, ny) = ((-dy / length * radius).round() as i32, (dx / length * radius).round() as i32);
            let corners =
                vec![(a.0 + nx, a.1 + ny), (b.0 + nx, b.1 + ny), (b.0 - nx, b.1 - ny), (a.0 - nx, a.1 - ny)];
            self.area.draw(&Polygon::new(corners, color.filled())).map_err(failed)?;
        }
        for &point in points {
            self.area.draw(&Circle::new(point, radius.round() as i32, color.filled())).map_err(failed)?;
        }
        Ok(())
    }

    fn legend(&self, entries: &[LegendEntry]) -> Result<(), PlotError> {
        for entry in entries {
            if let Some(color) = entry.color {
                self.line((entry.x, entry.y), (entry.x + LEGEND_SWATCH, entry.y), 2.5, color)?;
            }
            let at = (entry.x + LEGEND_SWATCH + 6.0, entry.y + 0.36 * LABEL_SIZE);
            self.text(&entry.name, LABEL_SIZE, HPos::Left, at, INK)?;
        }
        Ok(())
    }

    fn x_labels(&self, chart: &Chart, x_axis: &Axis, bottom: f64) -> Result<(), PlotError> {
        let right = WIDTH - RIGHT;
        for tick in &x_axis.ticks {
            let x = LEFT + x_axis.fraction_of_place(tick.place) * (right - LEFT);
            self.text(&tick.label, TICK_SIZE, HPos::Center, (x, bottom + 17.0), INK)?;
        }
        let line = bottom + X_LABELS + 17.0;
        self.text(&x_axis.note, TICK_SIZE, HPos::Right, (right, line), INK)?;
        let room = right - LEFT - 2.0 * text_width(&x_axis.note, TICK_SIZE);
        self.text(
            &fitting(&chart.x_label, LABEL_SIZE, room),
            LABEL_SIZE,
            HPos::Center,
            (0.5 * (LEFT + right), line),
            INK,
        )
    }

    /// A straight level or upright line, as a box: sharp, and the same in both manners.
    fn line(&self, from: (f64, f64), to: (f64, f64), width: f64, color: RGBColor) -> Result<(), PlotError> {
        let half = fine(0.5 * width);
        let level = from.1 == to.1;
        let (dx, dy) = if level { (0, half) } else { (half, 0) };
        let (a, b) = ((fine(from.0) - dx, fine(from.1) - dy), (fine(to.0) + dx, fine(to.1) + dy));
        self.area.draw(&Rectangle::new([a, b], color.filled())).map_err(failed)
    }

    /// Text whose baseline is at `at`.
    fn text(
        &self,
        text: &str,
        size: f64,
        side: HPos,
        at: (f64, f64),
        color: RGBColor,
    ) -> Result<(), PlotError> {
        if text.is_empty() {
            return Ok(());
        }
        let style =
            TextStyle::from((FONT, font_size(size)).into_font()).color(&color).pos(Pos::new(side, VPos::Top));
        let at = (fine(at.0), fine(at.1) - self.hang(size));
        self.area.draw_text(text, &style, at).map_err(failed)
    }

    /// Text that runs upwards, its baseline to the right, centred at `at`.
    fn upward_text(&self, text: &str, at: (f64, f64)) -> Result<(), PlotError> {
        if text.is_empty() {
            return Ok(());
        }
        let font = (FONT, font_size(LABEL_SIZE)).into_font().transform(FontTransform::Rotate270);
        let style = TextStyle::from(font).color(&INK).pos(Pos::new(HPos::Center, VPos::Top));
        let at = (fine(at.0) - self.hang(LABEL_SIZE), fine(at.1));
        self.area.draw_text(text, &style, at).map_err(failed)
    }

    /// How far above its baseline text of this size is anchored, on the canvas.
    fn hang(&self, size: f64) -> i32 {
        match self.manner {
            Manner::Vector => fine(0.76 * size),
            Manner::Pixels => (0.5 * font_size(size)).round() as i32,
        }
    }
}
