//! Errors and warnings of scenes, with their places in the text.

use rattleback_dynamics::property::suggestion;
use std::fmt;
use std::path::PathBuf;

/// Most allowed names that a message lists.
const LISTED: usize = 24;

/// Why a scene could not be read or built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The text is longer than a scene may be.
    #[error(
        "{origin}: the scene has {bytes} bytes; at most {limit} are allowed (put large meshes into mesh files)"
    )]
    TooLarge {
        /// Where the text came from.
        origin: String,
        /// Its length.
        bytes: u64,
        /// The longest allowed.
        limit: u64,
    },
    /// There is neither a file nor a built-in scene of this name.
    #[error("there is no file and no built-in scene `{name}`{}; built-in: {}", suggestion(name, known), known.join(", "))]
    UnknownScene {
        /// The name given.
        name: String,
        /// Known names.
        known: Vec<String>,
    },
    /// A parameter of the scene cannot be set.
    #[error("parameter `{path}`: {message}")]
    Parameter {
        /// The path given.
        path: String,
        /// What is wrong with it, and what there is.
        message: String,
    },
    /// There is neither a file nor a built-in study of this name.
    #[error("there is no file and no built-in study `{name}`{}; built-in: {}", suggestion(name, known), known.join(", "))]
    UnknownStudy {
        /// The name given.
        name: String,
        /// Known names.
        known: Vec<String>,
    },
    /// Something in the text is wrong.
    #[error("{0}")]
    Fault(Box<SceneFault>),
}

impl SceneError {
    /// The place of the error, if it is in the text.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Fault(fault) => Some(&fault.place),
            _ => None,
        }
    }

    /// The error in the text, if it is one.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Fault(fault) => Some(&fault.problem),
            _ => None,
        }
    }
}

/// A problem and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneFault {
    /// The place.
    pub place: Place,
    /// The error.
    pub problem: Problem,
}

impl fmt::Display for SceneFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.write(formatter, &self.problem)
    }
}

/// Something in a scene that is accepted but should be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneWarning {
    /// The place.
    pub place: Place,
    /// The warning, with what to write instead.
    pub message: String,
}

impl fmt::Display for SceneWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.write(formatter, &format_args!("warning: {}", self.message))
    }
}

impl Place {
    /// Place, message, and the line of the text with a caret under the place.
    fn write(&self, formatter: &mut fmt::Formatter<'_>, message: &dyn fmt::Display) -> fmt::Result {
        let Self { origin, line, column, source_line, offset, width } = self;
        writeln!(formatter, "{origin}:{line}:{column}: {message}")?;
        let number = line.to_string();
        let before: String =
            source_line.chars().take(*offset).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        writeln!(formatter, "{number} | {source_line}")?;
        write!(formatter, "{} | {before}{}", " ".repeat(number.len()), "^".repeat(*width))
    }
}

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the file or text.
    pub origin: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The line, or the part of a very long one around the place.
    pub source_line: String,
    /// Number of characters of `source_line` before the place.
    pub offset: usize,
    /// Number of characters of the place.
    pub width: usize,
}

/// An error in the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that is not allowed here.
    #[error("unknown key `{key}` in {table}{}; allowed: {}", suggestion(key, known), listed(known))]
    UnknownKey {
        /// The key.
        key: String,
        /// The table it is in.
        table: String,
        /// Allowed keys.
        known: Vec<String>,
    },
    /// A required key is missing.
    #[error("{table} needs `{key}` ({doc})")]
    MissingKey {
        /// The table that needs it.
        table: String,
        /// The key.
        key: String,
        /// What it means.
        doc: String,
    },
    /// A value of another type.
    #[error("`{key}` takes {expected}, not {found}")]
    Type {
        /// The key.
        key: String,
        /// The expected type.
        expected: String,
        /// What was found.
        found: String,
    },
    /// A value out of range.
    #[error("`{key}` must be {allowed}; got {value}")]
    Range {
        /// The key.
        key: String,
        /// The accepted range.
        allowed: String,
        /// What was found.
        value: String,
    },
    /// An unknown name.
    #[error("unknown {kind} `{name}`{}; known: {}", suggestion(name, known), listed(known))]
    UnknownName {
        /// "body", "material", "shape", …
        kind: String,
        /// The name.
        name: String,
        /// Known names.
        known: Vec<String>,
    },
    /// A name that is in use.
    #[error("there is a {kind} called `{name}` already")]
    Duplicate {
        /// "body", "force", …
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Keys or values that contradict each other.
    #[error("{0}")]
    Conflict(String),
    /// A limit is exceeded.
    #[error("{what}: {found}; at most {limit} are allowed")]
    Limit {
        /// What is limited.
        what: &'static str,
        /// The number found.
        found: String,
        /// The greatest number allowed.
        limit: usize,
    },
    /// A mesh file could not be used.
    #[error("{0}")]
    Mesh(String),
    /// The engine refused a value.
    #[error("{0}")]
    Refused(String),
}

/// Names ⇒ a list in one line.
fn listed(names: &[String]) -> String {
    match names.len() {
        0 => "none".into(),
        count if count > LISTED => format!("{}, … ({count} in all)", names[..LISTED].join(", ")),
        _ => names.join(", "),
    }
}
