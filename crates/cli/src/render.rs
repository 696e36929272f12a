//! `rattleback render`: scenes as PNG files.

use crate::arguments::Render;
use crate::failure::Failure;
use crate::record::is_recording;
use rattleback_dynamics::{Registry, World};
use rattleback_scene::recording::Recording;
use rattleback_scene::{FileAccess, Scene, Stage};
use rattleback_viewer::Look;
use rattleback_viewer::picture::{MAX_SIZE, Picture, PictureOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Something that can be brought to a time.
enum Reel {
    Live(Box<Stage>),
    Recorded(Box<Recording>, Box<World>),
}

impl Reel {
    fn open(name: &str, access: FileAccess, registry: &Registry) -> Result<Self, Failure> {
        if is_recording(Path::new(name)) {
            let recording = Recording::open(Path::new(name), registry).map_err(Failure::input)?;
            let (world, _) = recording.opening(registry).map_err(Failure::input)?;
            return Ok(Self::Recorded(Box::new(recording), Box::new(world)));
        }
        let scene = Scene::open_with(name, access).map_err(Failure::input)?;
        let stage = scene.build(registry).map_err(Failure::input)?;
        Ok(Self::Live(Box::new(stage)))
    }

    /// What a recording has lost, in words.
    fn loss(&self) -> Option<String> {
        match self {
            Self::Live(_) => None,
            Self::Recorded(recording, _) => recording.loss(),
        }
    }

    fn end(&self) -> f64 {
        match self {
            Self::Live(stage) => stage.duration,
            Self::Recorded(recording, _) => recording.time(recording.len() - 1),
        }
    }

    /// Goes on to a time, not back.
    fn advance(&mut self, time: f64) -> Result<&World, Failure> {
        match self {
            Self::Live(stage) => {
                // Half a step of rounding is not another step.
                while stage.world.time() + 0.5 * stage.dt < time {
                    stage
                        .simulator
                        .step(&mut stage.world, stage.dt)
                        .map_err(|error| Failure::Failed(stage.world.with_names(&error.to_string())))?;
                }
                Ok(&stage.world)
            }
            Self::Recorded(recording, world) => {
                let state = recording.state_at(time);
                recording.show(state, world).map_err(Failure::failed)?;
                Ok(world)
            }
        }
    }
}

/// Draws one picture, or many.
pub fn render(options: &Render, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let size = size(&options.size)?;
    if let Some(time) = options.time
        && !(time.is_finite() && time >= 0.0)
    {
        return Err(Failure::Input(format!("--time must be finite and ≥ 0; got {time}")));
    }
    if !options.png.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        return Err(Failure::Input(format!("{}: pictures are saved as .png", options.png.display())));
    }
    let mut reel = Reel::open(&options.scene, options.files.access(), registry)?;
    let frames = options.frames.unwrap_or(1);
    let last = options.time.unwrap_or(if options.frames.is_some() { reel.end() } else { 0.0 });
    // All pictures are taken from one place, from where the beginning can be seen.
    let frame = Look::of(reel.advance(0.0)?).frame;
    for number in 0..frames {
        let time = if frames == 1 { last } else { last * f64::from(number) / f64::from(frames - 1) };
        let world = reel.advance(time)?;
        let how = PictureOptions { size, frame: Some(frame), dark: options.dark };
        let png = Picture::of(world, &how).to_png().map_err(Failure::failed)?;
        let path =
            if options.frames.is_some() { numbered(&options.png, number) } else { options.png.clone() };
        std::fs::write(&path, png)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "{} (t = {time} s)", path.display())?;
    }
    reel.loss().map_or(Ok(()), |loss| Err(Failure::Failed(loss)))
}

/// `out.png` and 7 ⇒ `out-0007.png`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number:04}.png"))
}

fn size(text: &str) -> Result<(u32, u32), Failure> {
    let parsed = text.split_once(['x', 'X', '×']).and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parsed {
        Some((width, height)) if (1..=MAX_SIZE).contains(&width) && (1..=MAX_SIZE).contains(&height) => {
            Ok((width, height))
        }
        _ => Err(Failure::Input(format!(
            "--size must be WIDTHxHEIGHT with at most {MAX_SIZE} each; got {text}"
        ))),
    }
}
