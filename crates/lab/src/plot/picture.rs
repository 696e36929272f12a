//! A picture of pixels, with text and lines on top.
//!
//! As in charts, four canvas pixels make a unit of the picture and two of them a pixel of the file, which smooths edges.

use std::path::Path;

use plotters::backend::BitMapBackend;
use plotters::drawing::IntoDrawingArea;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{IntoFont, RGBColor, TextStyle};

use super::draw::{FONT, SUBPIXELS, font_size, register_font};
use super::{PlotError, encoded, halved};

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// Dark grey of text and frames.
pub(super) const INK: Rgb = [38, 38, 38];

/// Alignment of text relative to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Middle,
    Right,
}

/// A drawing in progress, and its result. Lengths are in units of the picture, y downwards.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Canvas pixels across and down.
    width: usize,
    height: usize,
    canvas: Vec<u8>,
}

impl Picture {
    /// A white picture of the given width and height.
    pub(super) fn new(width: f64, height: f64) -> Result<Self, PlotError> {
        register_font()?;
        let [width, height] = [width, height].map(|length| length.ceil() as usize * SUBPIXELS as usize);
        Ok(Self { width, height, canvas: vec![255; 3 * width * height] })
    }

    /// Canvas pixels to a unit.
    pub(super) const FINE: f64 = SUBPIXELS as f64;

    /// Canvas pixels across and down.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Lays a colour over a canvas pixel, if there is one; `cover` 1 hides what was there.
    pub(super) fn blend(&mut self, x: usize, y: usize, color: Rgb, cover: f64) {
        if x >= self.width || y >= self.height {
            return;
        }
        let place = 3 * (y * self.width + x);
        for (old, new) in self.canvas[place..place + 3].iter_mut().zip(color) {
            *old = (f64::from(*old) + cover * (f64::from(new) - f64::from(*old))).round() as u8;
        }
    }

    /// Fills the pixels within a box that `inside` accepts, given in units.
    fn stamp(&mut self, [x0, y0, x1, y1]: [f64; 4], color: Rgb, inside: impl Fn(f64, f64) -> bool) {
        let column = |x: f64| (x * Self::FINE).clamp(0.0, self.width as f64) as usize;
        let row = |y: f64| (y * Self::FINE).clamp(0.0, self.height as f64) as usize;
        let (columns, rows) = (column(x0)..column(x1) + 1, row(y0)..row(y1) + 1);
        for y in rows {
            for x in columns.clone() {
                if inside((x as f64 + 0.5) / Self::FINE, (y as f64 + 0.5) / Self::FINE) {
                    self.blend(x, y, color, 1.0);
                }
            }
        }
    }

    /// A filled box from corner to corner.
    pub(super) fn fill(&mut self, corners: [f64; 4], color: Rgb) {
        let [x0, y0, x1, y1] = corners;
        self.stamp(corners, color, |x, y| (x0..x1).contains(&x) && (y0..y1).contains(&y));
    }

    /// A stroke with round ends.
    pub(super) fn line(&mut self, [x0, y0]: [f64; 2], [x1, y1]: [f64; 2], width: f64, color: Rgb) {
        if ![x0, y0, x1, y1].iter().all(|c| c.is_finite()) {
            return;
        }
        let (dx, dy, half) = (x1 - x0, y1 - y0, 0.5 * width);
        let length_squared = dx * dx + dy * dy;
        let bounds = [x0.min(x1) - half, y0.min(y1) - half, x0.max(x1) + half, y0.max(y1) + half];
        self.stamp(bounds, color, |x, y| {
            let along = ((x - x0) * dx + (y - y0) * dy) / length_squared;
            let t = if length_squared > 0.0 { along.clamp(0.0, 1.0) } else { 0.0 };
            (x - x0 - t * dx).hypot(y - y0 - t * dy) <= half
        });
    }

    /// A filled circle.
    pub(super) fn disc(&mut self, [x, y]: [f64; 2], radius: f64, color: Rgb) {
        self.line([x, y], [x, y], 2.0 * radius, color);
    }

    /// Text whose baseline is at `at`.
    pub(super) fn text(
        &mut self,
        text: &str,
        size: f64,
        side: Side,
        at: [f64; 2],
        color: Rgb,
    ) -> Result<(), PlotError> {
        if text.is_empty() {
            return Ok(());
        }
        let failed = |error: &dyn std::fmt::Display| PlotError::Drawing(error.to_string());
        let [r, g, b] = color;
        let hand = match side {
            Side::Left => HPos::Left,
            Side::Middle => HPos::Center,
            Side::Right => HPos::Right,
        };
        let paint = RGBColor(r, g, b);
        let style =
            TextStyle::from((FONT, font_size(size)).into_font()).color(&paint).pos(Pos::new(hand, VPos::Top));
        let [x, y] = at.map(|c| (c * Self::FINE).round() as i32);
        let above = (0.5 * font_size(size)).round() as i32;
        let (width, height) = (self.width as u32, self.height as u32);
        let area = BitMapBackend::with_buffer(&mut self.canvas, (width, height)).into_drawing_area();
        area.draw_text(text, &style, (x, y - above)).map_err(|error| failed(&error))?;
        area.present().map_err(|error| failed(&error))
    }

    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// Encoding failed.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        encoded(&halved(&self.canvas, self.width), self.width as u32 / 2, self.height as u32 / 2)
    }

    /// Path ending in .png ⇒ the picture in that file.
    ///
    /// # Errors
    /// An unknown extension, or writing failed.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        let path = path.as_ref();
        if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
            return Err(PlotError::NotPng { path: path.to_owned() });
        }
        std::fs::write(path, self.to_png()?).map_err(|source| PlotError::Io { path: path.to_owned(), source })
    }
}
