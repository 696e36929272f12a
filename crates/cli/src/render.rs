//! `rattleback render`: scenes as PNG files.

use crate::arguments::{Render, SceneFiles};
use crate::failure::Failure;
use crate::record::is_recording;
use crate::scene_file;
use rattleback_dynamics::{Registry, World};
use rattleback_scene::BuiltScene;
use rattleback_scene::recording::Recording;
use rattleback_viewer::RenderScene;
use rattleback_viewer::picture::{MAX_SIZE, Picture, PictureOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A source of states over time.
enum Player {
    Live(Box<BuiltScene>),
    Recorded(Box<Recording>, Box<World>),
}

impl Player {
    fn open(name: &str, files: SceneFiles, registry: &Registry) -> Result<Self, Failure> {
        if is_recording(Path::new(name)) {
            let recording = Recording::open(Path::new(name), registry).map_err(Failure::input)?;
            let (world, _) = recording.opening(registry).map_err(Failure::input)?;
            return Ok(Self::Recorded(Box::new(recording), Box::new(world)));
        }
        let scene = scene_file::open(name, files)?;
        let built = scene_file::build(&scene, registry)?;
        Ok(Self::Live(Box::new(built)))
    }

    /// What is missing in a damaged recording, in words.
    fn loss(&self) -> Option<String> {
        match self {
            Self::Live(_) => None,
            Self::Recorded(recording, _) => recording.loss(),
        }
    }

    fn end(&self) -> f64 {
        match self {
            Self::Live(built) => built.duration,
            Self::Recorded(recording, _) => recording.time(recording.len() - 1),
        }
    }

    /// Advances to a time, s; times must not decrease.
    fn advance(&mut self, time: f64) -> Result<&World, Failure> {
        match self {
            Self::Live(built) => {
                // Less than half a step is rounding.
                while built.world.time() + 0.5 * built.dt < time {
                    built
                        .simulator
                        .step(&mut built.world, built.dt)
                        .map_err(|error| Failure::Failed(built.world.with_names(&error.to_string())))?;
                }
                Ok(&built.world)
            }
            Self::Recorded(recording, world) => {
                let state = recording.state_at(time);
                recording.show(state, world).map_err(Failure::failed)?;
                Ok(world)
            }
        }
    }
}

/// Draws one picture or several.
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
    let mut player = Player::open(&options.scene, options.files, registry)?;
    let frames = options.frames.unwrap_or(1);
    let last = options.time.unwrap_or(if options.frames.is_some() { player.end() } else { 0.0 });
    // All pictures have the same camera, which frames the first state.
    let frame = RenderScene::of(player.advance(0.0)?).frame;
    for number in 0..frames {
        let time = if frames == 1 { last } else { last * f64::from(number) / f64::from(frames - 1) };
        let world = player.advance(time)?;
        let picture = PictureOptions { size, frame: Some(frame), dark: options.dark };
        let png = Picture::of(world, &picture).to_png().map_err(Failure::failed)?;
        let path =
            if options.frames.is_some() { numbered(&options.png, number) } else { options.png.clone() };
        std::fs::write(&path, png)
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
        writeln!(out, "{} (t = {time} s)", path.display())?;
    }
    player.loss().map_or(Ok(()), |loss| Err(Failure::Failed(loss)))
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
