//! Line charts as PNG or SVG files: stacked panels over one x axis; slices through fields and views of bodies as PNG.
//!
//! Drawn with `plotters` on a canvas four times finer than the picture, which gives SVG its quarter pixels and PNG its
//! smooth edges. Text is set in DejaVu Sans, carried along as bytes (Bitstream Vera licence, which allows that), so
//! that a chart looks the same on a machine without any fonts.

mod axis;
mod decimate;
mod draw;
mod picture;
mod slice;
mod solids;

use std::path::{Path, PathBuf};

use plotters::backend::{BitMapBackend, SVGBackend};

pub use picture::Picture;
pub use slice::Slice;
pub use solids::{Body, Solids};

/// Most panels of a chart; more would be unreadable, in a file of a hundred megabytes.
const MAX_PANELS: usize = 24;

/// Curves over a common x axis.
///
/// ```
/// use rattleback_lab::plot::{Chart, Panel, Series};
///
/// let fall = (0..100).map(|i| f64::from(i) * 0.01).map(|t| (t, -0.5 * 9.81 * t * t)).collect();
/// let chart = Chart {
///     title: "Free fall".into(),
///     x_label: "time (s)".into(),
///     panels: vec![Panel {
///         y_label: "height (m)".into(),
///         series: vec![Series { name: "ball".into(), points: fall }],
///         log_y: false,
///     }],
/// };
/// assert!(chart.to_svg()?.starts_with("<svg"));
/// # Ok::<(), rattleback_lab::plot::PlotError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Above everything; may be empty.
    pub title: String,
    /// Below the last panel, with its unit; may be empty.
    pub x_label: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// One frame with its own y axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Beside the axis, with its unit; may be empty.
    pub y_label: String,
    /// Curves, the first in front. Colours repeat after seven.
    pub series: Vec<Series>,
    /// Whether y grows by powers of ten; points with y ≤ 0 then break the line.
    pub log_y: bool,
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// For the legend; may be empty.
    pub name: String,
    /// (x, y) in the order they are joined; a point that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
}

/// Why a chart could not be drawn or saved.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The extension names no picture format we write.
    #[error("{}: charts are saved as .png or .svg", path.display())]
    UnknownFormat {
        /// The path given.
        path: PathBuf,
    },
    /// Pictures made of pixels have one format.
    #[error("{}: pictures are saved as .png", path.display())]
    NotPng {
        /// The path given.
        path: PathBuf,
    },
    /// More panels than fit a picture.
    #[error("the chart has {found} panels, at most {MAX_PANELS} are drawn")]
    TooManyPanels {
        /// How many there are.
        found: usize,
    },
    /// Writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file in question.
        path: PathBuf,
        /// Its words.
        source: std::io::Error,
    },
    /// The drawing library failed.
    #[error("drawing the chart failed: {0}")]
    Drawing(String),
}

impl Chart {
    /// Path ending in .png or .svg ⇒ the chart in that file.
    ///
    /// # Errors
    /// An unknown extension, too many panels, or writing failed.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), PlotError> {
        let path = path.as_ref();
        let extension =
            path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let bytes = match extension.as_deref() {
            Some("png") => self.to_png()?,
            Some("svg") => self.to_svg()?.into_bytes(),
            _ => return Err(PlotError::UnknownFormat { path: path.to_owned() }),
        };
        std::fs::write(path, bytes).map_err(|source| PlotError::Io { path: path.to_owned(), source })
    }

    /// The chart as SVG text.
    ///
    /// # Errors
    /// Too many panels, or drawing failed.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let layout = self.layout()?;
        let (width, height) = layout.canvas_size();
        let mut text = String::new();
        draw::draw(self, &layout, SVGBackend::with_string(&mut text, (width, height)), draw::Manner::Vector)?;
        // The canvas is finer than the picture: shown at its natural size, the view box keeps the detail.
        let (shown_width, shown_height) = (width / draw::SUBPIXELS, height / draw::SUBPIXELS);
        let fine = format!("width=\"{width}\" height=\"{height}\"");
        Ok(text.replacen(&fine, &format!("width=\"{shown_width}\" height=\"{shown_height}\""), 1))
    }

    /// The chart as the bytes of a PNG file, two pixels to a unit of the SVG.
    ///
    /// # Errors
    /// Too many panels, or drawing failed.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        let layout = self.layout()?;
        let (width, height) = layout.canvas_size();
        let mut canvas = vec![0; width as usize * height as usize * 3];
        let backend = BitMapBackend::with_buffer(&mut canvas, (width, height));
        draw::draw(self, &layout, backend, draw::Manner::Pixels)?;
        encoded(&halved(&canvas, width as usize), width / 2, height / 2)
    }

    fn layout(&self) -> Result<draw::Layout, PlotError> {
        draw::register_font()?;
        if self.panels.len() > MAX_PANELS {
            return Err(PlotError::TooManyPanels { found: self.panels.len() });
        }
        Ok(draw::Layout::of(self))
    }
}

/// RGB pixels ⇒ the bytes of a PNG file.
fn encoded(pixels: &[u8], width: u32, height: u32) -> Result<Vec<u8>, PlotError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let failed = |error: png::EncodingError| PlotError::Drawing(error.to_string());
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(bytes)
}

/// RGB picture of even width and height ⇒ picture of half the width and height, each pixel the mean of four.
fn halved(canvas: &[u8], width: usize) -> Vec<u8> {
    let row = 3 * width;
    let mut half = Vec::with_capacity(canvas.len() / 4);
    for two_rows in canvas.chunks_exact(2 * row) {
        let (upper, lower) = two_rows.split_at(row);
        for (a, b) in upper.chunks_exact(6).zip(lower.chunks_exact(6)) {
            for channel in 0..3 {
                let sum = u16::from(a[channel])
                    + u16::from(a[channel + 3])
                    + u16::from(b[channel])
                    + u16::from(b[channel + 3]);
                half.push((sum / 4) as u8);
            }
        }
    }
    half
}
