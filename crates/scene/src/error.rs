//! What can be wrong with a scene, and where.

use rattleback_dynamics::property::suggestion;
use std::fmt;
use std::path::PathBuf;

/// How many allowed names a message lists before it gives up.
const LISTED: usize = 24;

/// Why a scene could not be read or built. Nothing has been built then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system said.
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
    /// Neither a file nor a built-in scene is called so.
    #[error("there is no file and no built-in scene `{name}`{}; built-in: {}", suggestion(name, known), known.join(", "))]
    UnknownScene {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// Something in the text is wrong.
    #[error("{0}")]
    Fault(Box<SceneFault>),
}

impl SceneError {
    /// Where in the text the trouble is, if it is in the text.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Fault(fault) => Some(&fault.place),
            _ => None,
        }
    }

    /// What is wrong with the text, if it is the text.
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
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Problem,
}

impl fmt::Display for SceneFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.write(formatter, &self.problem)
    }
}

/// Something in a scene that is read as it stands, but should be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneWarning {
    /// Where.
    pub place: Place,
    /// What, and what to write instead.
    pub message: String,
}

impl fmt::Display for SceneWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.write(formatter, &format_args!("warning: {}", self.message))
    }
}

impl Place {
    /// Place, message, and the line with a caret under what is meant.
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
    /// File name, or what the text is called.
    pub origin: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The line, or of a very long one the part around what is meant.
    pub source_line: String,
    /// How many characters of `source_line` stand before what is meant.
    pub offset: usize,
    /// How many characters of the line are meant.
    pub width: usize,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing here.
    #[error("unknown key `{key}` in {table}{}; allowed: {}", suggestion(key, known), listed(known))]
    UnknownKey {
        /// The key.
        key: String,
        /// What it stood in.
        table: String,
        /// What may stand there.
        known: Vec<String>,
    },
    /// A key that has to be there.
    #[error("{table} needs `{key}` ({doc})")]
    MissingKey {
        /// What lacks it.
        table: String,
        /// The key.
        key: String,
        /// What it would say.
        doc: String,
    },
    /// A value of another type.
    #[error("`{key}` takes {expected}, not {found}")]
    Type {
        /// Whose value it is.
        key: String,
        /// What it takes.
        expected: String,
        /// What was there.
        found: String,
    },
    /// A value out of range.
    #[error("`{key}` must be {allowed}; got {value}")]
    Range {
        /// Whose value it is.
        key: String,
        /// What is accepted.
        allowed: String,
        /// What was there.
        value: String,
    },
    /// A name of nothing.
    #[error("unknown {kind} `{name}`{}; known: {}", suggestion(name, known), listed(known))]
    UnknownName {
        /// "body", "material", "shape", …
        kind: String,
        /// The name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A name that is taken.
    #[error("there is a {kind} called `{name}` already")]
    Duplicate {
        /// "body", "force", …
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Things that do not go together.
    #[error("{0}")]
    Conflict(String),
    /// More than the engine is willing to build.
    #[error("{what}: {found}; at most {limit} are allowed")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        found: String,
        /// How much there may be.
        limit: usize,
    },
    /// A mesh file could not be used.
    #[error("{0}")]
    Mesh(String),
    /// The engine refused it.
    #[error("{0}")]
    Refused(String),
}

/// Names ⇒ one line of them, not too long.
fn listed(names: &[String]) -> String {
    match names.len() {
        0 => "none".into(),
        count if count > LISTED => format!("{}, … ({count} in all)", names[..LISTED].join(", ")),
        _ => names.join(", "),
    }
}
