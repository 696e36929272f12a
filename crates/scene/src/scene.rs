//! A scene: read from a text, checked, built, written.

use crate::built_in;
use crate::defaults;
use crate::deprecated::Deprecated;
use crate::document::Table;
use crate::error::{Problem, SceneError, SceneWarning};
use crate::file_access::FileAccess;
use crate::include::{self, Includes};
use crate::model::Model;
use crate::parameter::{self, ParameterValue};
use crate::robot::{self, RobotModel, RobotOptions};
use crate::sandbox_script;
use crate::script;
use crate::source::{Fault, MAX_SCENE_BYTES, Read, Source, Span};
use rattleback_dynamics::{Registry, Simulator, World};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A scene as read from a file, checked; it can be built any number of times.
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
/// let mut built = scene.build(&Registry::default())?;
/// for _ in 0..240 {
///     built.simulator.step(&mut built.world, built.dt)?;
/// }
/// let ball = built.world.find_body("ball").unwrap();
/// assert!((built.world.body(ball)?.position().z - (10.0 - 0.5 * 9.81)).abs() < 1e-9);
///
/// let error = Scene::parse("titel = 'A ball falls'", "example").unwrap_err();
/// assert!(error.to_string().starts_with("example:1:1: unknown key `titel`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    source: Source,
    folder: PathBuf,
    access: FileAccess,
    document: Table,
    warnings: Vec<SceneWarning>,
}

/// A built scene: a world at time 0 and its simulator.
#[derive(Debug)]
pub struct BuiltScene {
    /// The world.
    pub world: World,
    /// The simulator.
    pub simulator: Box<dyn Simulator>,
    /// Suggested time step, s.
    pub dt: f64,
    /// Suggested duration of a run, s.
    pub duration: f64,
    /// Title, one line.
    pub title: String,
    /// Description of what happens in it.
    pub description: String,
    /// Channels worth plotting, such as `energy` or `racket.omega_y`.
    pub plot: Vec<String>,
    /// Those of [`Scene::warnings`], then what the simulator ignores or refuses, each with its place in the file.
    pub warnings: Vec<SceneWarning>,
}

impl Scene {
    /// (text, name in messages) ⇒ scene. The text is TOML, or what its name ends in: JSON (`.json`), a script (`.rhai`), a
    /// sandbox script (`.sandbox`, `.gravitas`). Paths of included files and of meshes are relative to the current folder, and stay in it.
    ///
    /// # Errors
    /// The first error in the text and its place, or a text longer than [`MAX_SCENE_BYTES`].
    pub fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::parse_in(text, origin, PathBuf::new(), None, FileAccess::SceneFolder)
    }

    /// Path of a file ⇒ scene. Paths of included files and of meshes are relative to the file's folder, and stay in it.
    ///
    /// # Errors
    /// A file that cannot be read, or the first error in it and its place.
    pub fn load(path: &Path) -> Result<Self, SceneError> {
        Self::load_with(path, FileAccess::SceneFolder)
    }

    /// The same, for a scene that may name other files as well.
    ///
    /// # Errors
    /// A file that cannot be read, or the first error in it and its place.
    pub fn load_with(path: &Path, access: FileAccess) -> Result<Self, SceneError> {
        let origin = path.display().to_string();
        let limit = if robot::is_robot(&origin) { robot::MAX_ROBOT_BYTES } else { MAX_SCENE_BYTES };
        let text = read_text(path, limit)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::parse_in(&text, &origin, folder, Some(path), access)
    }

    /// Name of a built-in scene ⇒ scene.
    ///
    /// # Errors
    /// An unknown name.
    pub fn built_in(name: &str) -> Result<Self, SceneError> {
        let known = built_in::built_ins();
        match known.iter().find(|scene| scene.name == name) {
            Some(scene) => Self::parse(scene.text, &format!("built-in {}", scene.file)),
            None => Err(SceneError::UnknownScene {
                name: name.into(),
                known: known.iter().map(|scene| scene.name.to_owned()).collect(),
            }),
        }
    }

    /// Path of a file, or name of a built-in scene ⇒ scene. A file takes precedence.
    ///
    /// # Errors
    /// Neither a file nor a built-in scene of this name, a file that cannot be read, or the first error in it.
    pub fn open(name_or_path: &str) -> Result<Self, SceneError> {
        Self::open_with(name_or_path, FileAccess::SceneFolder)
    }

    /// The same, for a scene that may name files outside of its folder as well.
    ///
    /// # Errors
    /// Neither a file nor a built-in scene of this name, a file that cannot be read, or the first error in it.
    pub fn open_with(name_or_path: &str, access: FileAccess) -> Result<Self, SceneError> {
        let path = Path::new(name_or_path);
        if path.is_file() {
            return Self::load_with(path, access);
        }
        match Self::built_in(name_or_path) {
            // A name with a folder or an extension is a path: the error is that of the file.
            Err(SceneError::UnknownScene { .. })
                if path.components().count() > 1 || path.extension().is_some() =>
            {
                Self::load_with(path, access)
            }
            result => result,
        }
    }

    /// Makes the world and the simulator, with types from the registry.
    ///
    /// # Errors
    /// The first error in the scene and its place.
    pub fn build(&self, registry: &Registry) -> Result<BuiltScene, SceneError> {
        let built = Model::read(&self.document)
            .and_then(|model| crate::build::scene(&model, registry, &self.folder, self.access));
        let (built, notices) = built.map_err(|fault| error(&self.source, fault))?;
        let warnings = self.warnings.iter().cloned().chain(notices.warnings(&self.source)).collect();
        Ok(BuiltScene { warnings, ..built })
    }

    /// The scene with other values of some keys, by their [paths](ParameterValue), in the units of the scene.
    ///
    /// ```
    /// use rattleback_scene::{ParameterValue, Scene};
    /// let scene = Scene::built_in("bowling")?;
    /// let slow = scene.with_parameters(&[("body.ball.velocity[1]".into(), ParameterValue::Real(3.0))])?;
    /// assert!(scene.with_parameters(&[("body.bal.mass".into(), ParameterValue::Real(3.0))]).is_err());
    /// # Ok::<(), rattleback_scene::SceneError>(())
    /// ```
    ///
    /// # Errors
    /// A path that leads nowhere, or a value that the scene refuses, with its place.
    pub fn with_parameters(&self, parameters: &[(String, ParameterValue)]) -> Result<Self, SceneError> {
        let mut changed = self.clone();
        for (path, value) in parameters {
            parameter::set(&mut changed.document, path, value)?;
        }
        match Model::read(&changed.document).map(|_| ()) {
            Ok(()) => Ok(changed),
            Err(fault) => Err(error(&changed.source, fault)),
        }
    }

    /// What should be changed in the file, such as names of an earlier release; empty for most scenes.
    pub fn warnings(&self) -> &[SceneWarning] {
        &self.warnings
    }

    /// The scene as TOML text in a standard layout, in one file, without defaults and comments. Writing, reading and writing again changes nothing.
    pub fn to_toml(&self) -> String {
        self.document.to_toml()
    }

    /// The scene as JSON text, with the same contents as [`Self::to_toml`].
    pub fn to_json(&self) -> String {
        self.document.to_json()
    }

    fn parse_in(
        text: &str,
        origin: &str,
        folder: PathBuf,
        file: Option<&Path>,
        access: FileAccess,
    ) -> Result<Self, SceneError> {
        if robot::is_robot(origin) {
            return Self::parse_robot(text, origin, folder, access);
        }
        check_size(origin, text.len() as u64)?;
        let mut source = Source::new(origin, text.into());
        let how = Includes { folder: &folder, file, access, read: read_included, parse: tree };
        let document = document(text, origin, &mut source, &how);
        match document {
            Ok((document, deprecated)) => {
                let warnings = deprecated.warnings(&source);
                Ok(Self { source, folder, access, document, warnings })
            }
            Err(fault) => Err(error(&source, fault)),
        }
    }
}

impl Scene {
    /// A robot as a scene of rigid bodies and joints.
    fn parse_robot(
        text: &str,
        origin: &str,
        folder: PathBuf,
        access: FileAccess,
    ) -> Result<Self, SceneError> {
        let mut source = Source::new(origin, text.into());
        let options = RobotOptions { access, ..RobotOptions::default() };
        let read = RobotModel::read(&mut source, text, &folder, options);
        let model = read.map_err(|fault| source.error(fault))?;
        let (document, left_out) = robot::table(&model, origin);
        Model::read(&document).map_err(|fault| source.error(fault))?;
        let warnings = model.warnings().iter().cloned().chain(left_out).collect();
        Ok(Self { source, folder, access, document, warnings })
    }
}

/// (text, name, source that collects included texts, how files are found) ⇒ the whole tree, checked as far as a model can, and the old names
/// that were replaced in it.
fn document(text: &str, origin: &str, source: &mut Source, how: &Includes<'_>) -> Read<(Table, Deprecated)> {
    let mut document = tree(text, origin)?;
    if let (true, Some(node)) = (script::is_script(origin), document.get("include")) {
        let message = "scripts have no access to files, so they cannot include one";
        return Err(Fault::new(node.span, Problem::Conflict(message.into())));
    }
    include::resolve(&mut document, source, how)?;
    let mut deprecated = Deprecated::default();
    deprecated.replace(&mut document)?;
    defaults::apply(&mut document)?;
    deprecated.replace(&mut document)?;
    Model::read(&document)?;
    Ok((document, deprecated))
}

/// Text ⇒ tree, by the extension of the file.
fn tree(text: &str, origin: &str) -> Read<Table> {
    if script::is_script(origin) {
        script::run(text)
    } else if sandbox_script::is_sandbox_script(origin) {
        sandbox_script::read(text)
    } else if origin.to_ascii_lowercase().ends_with(".json") {
        Table::parse_json(text)
    } else {
        Table::parse(text)
    }
}

/// The error for a fault, in the names of its file format.
fn error(source: &Source, fault: Fault) -> SceneError {
    if !sandbox_script::is_sandbox_script(source.origin(fault.span)) {
        return source.error(fault);
    }
    source.error(Fault::new(fault.span, sandbox_script::in_script_names(*fault.problem)))
}

/// Path of a regular file that is not too large ⇒ its text.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, SceneError> {
    let origin = path.display().to_string();
    let bytes = read_file(path, limit).map_err(|failure| match failure {
        ReadFailure::Io(source) => SceneError::Io { path: path.into(), source },
        ReadFailure::TooLarge(bytes) => SceneError::TooLarge { origin: origin.clone(), bytes, limit },
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let problem = Problem::Syntax("the file is not UTF-8 text".into());
        Source::new(&origin, text).error(Fault::new(Span::from(valid..valid), problem))
    })
}

/// Path of a regular file that is not too large ⇒ its bytes.
fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure> {
    // Checked before opening: opening a pipe would wait for its writer.
    let metadata = std::fs::metadata(path).map_err(ReadFailure::Io)?;
    if !metadata.is_file() {
        let error = std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file");
        return Err(ReadFailure::Io(error));
    }
    if metadata.len() > limit {
        return Err(ReadFailure::TooLarge(metadata.len()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(ReadFailure::Io)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(ReadFailure::Io)?;
    if bytes.len() as u64 > limit {
        return Err(ReadFailure::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Why a file could not be read.
enum ReadFailure {
    Io(std::io::Error),
    TooLarge(u64),
}

/// Path of a file that another one includes ⇒ its text.
fn read_included(path: &Path, limit: u64) -> Result<String, String> {
    let bytes = read_file(path, limit).map_err(|failure| match failure {
        ReadFailure::Io(error) => error.to_string(),
        ReadFailure::TooLarge(bytes) => {
            format!("with its {bytes} bytes the scene has more than {MAX_SCENE_BYTES}")
        }
    })?;
    String::from_utf8(bytes).map_err(|_| "the file is not UTF-8 text".into())
}

fn check_size(origin: &str, bytes: u64) -> Result<(), SceneError> {
    if bytes <= MAX_SCENE_BYTES {
        return Ok(());
    }
    Err(SceneError::TooLarge { origin: origin.into(), bytes, limit: MAX_SCENE_BYTES })
}
