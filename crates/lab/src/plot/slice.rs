//! A slice through a scalar field: colours, contour lines and a scale.
//!
//! Colours part at zero: blue below (inside), yellow to red above. A contour line of level c runs where v = c; a pixel is
//! |v − c|/|∇v| away from it, ∇v in units per pixel, so a line of even width needs no search for crossings.

use super::PlotError;
use super::axis::Axis;
use super::picture::{INK, Picture, Rgb, Side};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 80.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 58.0;
/// Right of the frame: the scale and its labels.
const RIGHT: f64 = 150.0;
const SCALE_WIDTH: f64 = 22.0;
/// Frames are at most this high.
const MAX_HEIGHT: f64 = 900.0;
/// Canvas pixels to a sample of the field.
const SAMPLE: usize = 2;
const NOTHING: Rgb = [225, 225, 225];

/// A rectangle of a plane on which a field is drawn.
pub struct Slice<'a> {
    /// Above everything.
    pub title: String,
    /// Names of the horizontal and the vertical axis, with units.
    pub labels: [String; 2],
    /// What the colours mean, with its unit.
    pub scale_label: String,
    /// Lower left corner.
    pub low: [f64; 2],
    /// Upper right corner.
    pub high: [f64; 2],
    /// (horizontal, vertical) ⇒ value; None where there is none.
    pub value: &'a dyn Fn(f64, f64) -> Option<f64>,
}

impl Slice<'_> {
    /// Draws the field.
    ///
    /// # Errors
    /// A slice without area, a field without values, or drawing failed.
    pub fn draw(&self) -> Result<Picture, PlotError> {
        let [across, up] = [0, 1].map(|i| self.high[i] - self.low[i]);
        if !(across > 0.0 && up > 0.0 && (across / up).is_finite() && (up / across).is_finite()) {
            return Err(PlotError::Drawing("the slice has no area".to_owned()));
        }
        let mut frame_width = WIDTH - LEFT - RIGHT;
        let mut frame_height = (frame_width * up / across).max(60.0);
        if frame_height > MAX_HEIGHT {
            (frame_width, frame_height) = ((MAX_HEIGHT * across / up).max(60.0), MAX_HEIGHT);
        }
        let frame = [LEFT, TOP, LEFT + frame_width, TOP + frame_height];
        let mut picture = Picture::new(LEFT + frame_width + RIGHT, TOP + frame_height + BOTTOM)?;
        let samples = self.samples(frame_width, frame_height);
        let seen = samples.values.iter().copied().filter(|v| v.is_finite());
        let (least, most) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), v| (l.min(v), m.max(v)));
        if least > most {
            return Err(PlotError::Drawing("the field has no value anywhere in the slice".to_owned()));
        }
        let axis = Axis::linear([least.min(0.0), most.max(0.0)].into_iter(), 12, false);
        let step = match &axis.ticks[..] {
            [first, second, ..] => second.place - first.place,
            _ => f64::INFINITY,
        };
        let reach = Reach { least: axis.low.min(0.0), most: axis.high.max(0.0) };
        samples.paint(&mut picture, frame, &reach, step);
        self.annotate(&mut picture, frame)?;
        self.scale(&mut picture, frame, &axis, &reach)?;
        Ok(picture)
    }

    fn samples(&self, frame_width: f64, frame_height: f64) -> Samples {
        let count = |length: f64| (length * Picture::FINE) as usize / SAMPLE;
        let (columns, rows) = (count(frame_width), count(frame_height));
        let mut values = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            let y = self.high[1] - (row as f64 + 0.5) / rows as f64 * (self.high[1] - self.low[1]);
            for column in 0..columns {
                let x = self.low[0] + (column as f64 + 0.5) / columns as f64 * (self.high[0] - self.low[0]);
                values.push((self.value)(x, y).unwrap_or(f64::NAN));
            }
        }
        Samples { columns, rows, values }
    }

    fn annotate(&self, picture: &mut Picture, [left, top, right, bottom]: [f64; 4]) -> Result<(), PlotError> {
        for (a, b) in [
            ([left, top], [right, top]),
            ([right, top], [right, bottom]),
            ([right, bottom], [left, bottom]),
            ([left, bottom], [left, top]),
        ] {
            picture.line(a, b, 1.0, INK);
        }
        picture.text(&self.title, 16.0, Side::Left, [left, 26.0], INK)?;
        let x_axis =
            Axis::linear([self.low[0], self.high[0]].into_iter(), ((right - left) / 80.0) as usize, false);
        for tick in &x_axis.ticks {
            let x = left + x_axis.fraction_of_place(tick.place) * (right - left);
            picture.line([x, bottom], [x, bottom + 4.0], 1.0, INK);
            picture.text(&tick.label, 12.0, Side::Middle, [x, bottom + 19.0], INK)?;
        }
        let y_axis =
            Axis::linear([self.low[1], self.high[1]].into_iter(), ((bottom - top) / 50.0) as usize, false);
        for tick in &y_axis.ticks {
            let y = bottom - y_axis.fraction_of_place(tick.place) * (bottom - top);
            picture.line([left - 4.0, y], [left, y], 1.0, INK);
            picture.text(&tick.label, 12.0, Side::Right, [left - 8.0, y + 4.0], INK)?;
        }
        let named = |label: &str, note: &str| format!("{label} {note}").trim().to_owned();
        let middle = 0.5 * (left + right);
        picture.text(
            &named(&self.labels[0], &x_axis.note),
            13.0,
            Side::Middle,
            [middle, bottom + 42.0],
            INK,
        )?;
        picture.text(&named(&self.labels[1], &y_axis.note), 13.0, Side::Left, [8.0, top - 6.0], INK)
    }

    fn scale(
        &self,
        picture: &mut Picture,
        [_, top, right, bottom]: [f64; 4],
        axis: &Axis,
        reach: &Reach,
    ) -> Result<(), PlotError> {
        let (x0, x1) = (right + 26.0, right + 26.0 + SCALE_WIDTH);
        let steps = ((bottom - top) * 2.0) as usize;
        for i in 0..steps {
            let part = (i as f64 + 0.5) / steps as f64;
            let value = reach.most - part * (reach.most - reach.least);
            let (y0, y1) = (top + i as f64 * 0.5, top + (i + 1) as f64 * 0.5);
            picture.fill([x0, y0, x1, y1], reach.color(value));
        }
        for tick in &axis.ticks {
            let y = top + (reach.most - tick.place) / (reach.most - reach.least) * (bottom - top);
            let width = if tick.place.abs() < 1e-12 * (reach.most - reach.least) { 2.0 } else { 0.7 };
            picture.line([x0, y], [x1, y], width, INK);
            picture.text(&tick.label, 12.0, Side::Left, [x1 + 7.0, y + 4.0], INK)?;
        }
        let label = format!("{} {}", self.scale_label, axis.note);
        picture.text(label.trim(), 13.0, Side::Left, [x0, top - 8.0], INK)
    }
}

/// Values on a grid over the frame, row by row from the top; NaN where there is none.
struct Samples {
    columns: usize,
    rows: usize,
    values: Vec<f64>,
}

impl Samples {
    fn at(&self, column: usize, row: usize) -> f64 {
        self.values[row.min(self.rows - 1) * self.columns + column.min(self.columns - 1)]
    }

    fn paint(&self, picture: &mut Picture, [left, top, ..]: [f64; 4], reach: &Reach, step: f64) {
        let [first_x, first_y] = [left, top].map(|length| (length * Picture::FINE) as usize);
        for row in 0..self.rows {
            for column in 0..self.columns {
                let v = self.at(column, row);
                let color = if v.is_finite() { reach.color(v) } else { NOTHING };
                let slope =
                    |there: f64, back: f64| if (there - back).is_finite() { there - back } else { 0.0 };
                let dx = slope(self.at(column + 1, row), self.at(column.saturating_sub(1), row));
                let dy = slope(self.at(column, row + 1), self.at(column, row.saturating_sub(1)));
                // Central differences are twice the change per sample.
                let gradient = 0.5 * dx.hypot(dy);
                let nearest = (v / step).round() * step;
                let zero = nearest.abs() < 0.5 * step;
                let away = (v - if step.is_finite() { nearest } else { 0.0 }).abs() / gradient;
                let half_width = if zero { 1.6 } else { 0.5 };
                let cover = (half_width + 0.5 - away).clamp(0.0, 1.0) * if zero { 1.0 } else { 0.55 };
                let (x, y) = (first_x + SAMPLE * column, first_y + SAMPLE * row);
                for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    picture.blend(x + i, y + j, color, 1.0);
                    if cover > 0.0 {
                        picture.blend(x + i, y + j, INK, cover);
                    }
                }
            }
        }
    }
}

/// Least and greatest value of the scale, zero between them.
struct Reach {
    least: f64,
    most: f64,
}

/// From zero outwards.
const INSIDE: [Rgb; 3] = [[222, 235, 247], [107, 174, 214], [8, 69, 148]];
const OUTSIDE: [Rgb; 3] = [[255, 247, 214], [253, 174, 97], [178, 34, 24]];

impl Reach {
    fn color(&self, v: f64) -> Rgb {
        let (stops, part) = if v < 0.0 { (INSIDE, v / self.least) } else { (OUTSIDE, v / self.most) };
        let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        let (from, to, t) = if part < 0.5 {
            (stops[0], stops[1], 2.0 * part)
        } else {
            (stops[1], stops[2], 2.0 * part - 1.0)
        };
        std::array::from_fn(|i| {
            (f64::from(from[i]) + t * (f64::from(to[i]) - f64::from(from[i]))).round() as u8
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a disc's distance the picture is blue in the middle, red in the corners and black on the circle.
    #[test]
    fn colours_part_at_zero() {
        let value = |x: f64, y: f64| Some(x.hypot(y) - 1.0);
        let slice = Slice {
            title: "disc".into(),
            labels: ["x (m)".into(), "y (m)".into()],
            scale_label: "distance (m)".into(),
            low: [-2.0; 2],
            high: [2.0; 2],
            value: &value,
        };
        let picture = slice.draw().unwrap();
        assert_eq!(&picture.to_png().unwrap()[..4], b"\x89PNG");
        let samples = slice.samples(100.0, 100.0);
        let reach = Reach { least: -1.0, most: 2.0 };
        let middle = reach.color(samples.at(samples.columns / 2, samples.rows / 2));
        assert!(middle[2] > middle[0]);
        let corner = reach.color(samples.at(0, 0));
        assert!(corner[0] > corner[2]);
    }

    #[test]
    fn nothing_to_draw_is_told() {
        let slice = |value: &dyn Fn(f64, f64) -> Option<f64>, width: f64| {
            let labels = [String::new(), String::new()];
            let scale_label = String::new();
            Slice { title: String::new(), labels, scale_label, low: [0.0; 2], high: [width, 1.0], value }
                .draw()
                .is_err()
        };
        assert!(
            slice(&|_, _| None, 1.0) && slice(&|_, _| Some(1.0), 0.0) && slice(&|_, _| Some(1.0), f64::NAN)
        );
    }
}
