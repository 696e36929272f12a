//! A scene: read from a text, checked, built, written.

use crate::built_in;
use crate::document::Table;
use crate::error::{Problem, SceneError};
use crate::model::Model;
use crate::script;
use crate::source::{Fault, MAX_SCENE_BYTES, Source, Span};
use rattleback_dynamics::{Registry, Simulator, World};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A scene as it stands in a file: what is there and how it starts. Build it as often as you like.
///
/// ```
/// use rattleback_dynamics::Registry;
/// use rattleback_scene::Scene;
///
/// let scene = Scene::parse(
///     r#"
///     title = "A ball falls"
///     [[body]]
///     name = "ball"
///     position = [0, 0, 10]
///     shape = { type = "sphere", radius = 0.1 }
///     "#,
///     "example",
/// )?;
/// let mut stage = scene.build(&Registry::default())?;
/// for _ in 0..240 {
///     stage.simulator.step(&mut stage.world, stage.dt)?;
/// }
/// let ball = stage.world.find_body("ball").unwrap();
/// assert!((stage.world.body(ball)?.position().z - (10.0 - 0.5 * 9.81)).abs() < 1e-9);
///
/// let error = Scene::parse("titel = 'A ball falls'", "example").unwrap_err();
/// assert!(error.to_string().starts_with("example:1:1: unknown key `titel`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    source: Source,
    folder: PathBuf,
    document: Table,
}

/// A scene built: a world at time 0 and what moves it.
#[derive(Debug)]
pub struct Stage {
    /// Everything there is.
    pub world: World,
    /// What moves it.
    pub simulator: Box<dyn Simulator>,
    /// Suggested time step, s.
    pub dt: f64,
    /// Suggested duration of a run, s.
    pub duration: f64,
    /// One line.
    pub title: String,
    /// What there is to see.
    pub description: String,
    /// Channels worth plotting, such as `energy` or `racket.omega_y`.
    pub plot: Vec<String>,
}

impl Scene {
    /// (TOML text, or a script if it is called `….rhai`; what to call it in messages) ⇒ scene. Mesh paths are relative to the current folder.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::parse_in(text, origin, PathBuf::new())
    }

    /// Path of a file ⇒ scene. Mesh paths are relative to the file's folder.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        let io_error = |source| SceneError::Io { path: path.into(), source };
        let origin = path.display().to_string();
        // Looked at before opening: opening a pipe would wait for its writer.
        let metadata = std::fs::metadata(path).map_err(io_error)?;
        if !metadata.is_file() {
            return Err(io_error(std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                "not a regular file",
            )));
        }
        check_size(&origin, metadata.len())?;
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(io_error)?;
        file.take(MAX_SCENE_BYTES + 1).read_to_end(&mut bytes).map_err(io_error)?;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let fault = Fault::new(
                    Span::from(valid..valid),
                    Problem::Syntax("the file is not UTF-8 text".into()),
                );
                return Err(Source { origin, text }.error(fault));
            }
        };
        Self::parse_in(&text, &origin, path.parent().map(Path::to_path_buf).unwrap_or_default())
    }

    /// Name of a built-in scene ⇒ scene.
    pub fn built_in(name: &str) -> Result<Self, SceneError> {
        let known = built_in::built_ins();
        match known.iter().find(|scene| scene.name == name) {
            Some(scene) => Self::parse(scene.text, &format!("built-in {name}")),
            None => Err(SceneError::UnknownScene {
                name: name.into(),
                known: known.iter().map(|scene| scene.name.to_owned()).collect(),
            }),
        }
    }

    /// Path of a file, or name of a built-in scene ⇒ scene. If there is a file called so, it is meant.
    pub fn open(name_or_path: &str) -> Result<Self, SceneError> {
        let path = Path::new(name_or_path);
        if path.is_file() {
            return Self::load(path);
        }
        match Self::built_in(name_or_path) {
            // Whoever writes a path means a file, and wants to know what is wrong with it.
            Err(SceneError::UnknownScene { .. })
                if path.components().count() > 1 || path.extension().is_some() =>
            {
                Self::load(path)
            }
            result => result,
        }
    }

    /// Makes the world and the simulator, with types from the registry; all of it or, with the reason, nothing.
    pub fn build(&self, registry: &Registry) -> Result<Stage, SceneError> {
        let stage =
            Model::read(&self.document).and_then(|model| crate::build::stage(&model, registry, &self.folder));
        stage.map_err(|fault| self.source.error(fault))
    }

    /// The scene as TOML text in a standard layout, without comments. Writing, reading and writing again changes nothing.
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    fn parse_in(text: &str, origin: &str, folder: PathBuf) -> Result<Self, SceneError> {
        check_size(origin, text.len() as u64)?;
        let source = Source { origin: origin.into(), text: text.into() };
        let document = if script::is_script(origin) { script::run(text) } else { Table::parse(text) };
        let document = document.and_then(|document| {
            Model::read(&document)?;
            Ok(document)
        });
        match document {
            Ok(document) => Ok(Self { source, folder, document }),
            Err(fault) => Err(source.error(fault)),
        }
    }
}

fn check_size(origin: &str, bytes: u64) -> Result<(), SceneError> {
    if bytes <= MAX_SCENE_BYTES {
        return Ok(());
    }
    Err(SceneError::TooLarge { origin: origin.into(), bytes, limit: MAX_SCENE_BYTES })
}
