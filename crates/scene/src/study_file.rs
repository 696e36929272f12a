//! Study files: a scene, what varies in it, and what is measured (`docs/study.md`).
//!
//! ```toml
//! scene = "bowling"                      # a built-in scene or a file beside this one
//! design = "latin-hypercube"             # of ranges and distributions; or grid, sobol, random
//! samples = 100
//! repetitions = 3                        # with other seeds
//!
//! [parameter.speed]
//! range = [5, 9]                         # or values = […], normal = [mean, deviation], log_normal = [median, factor]
//! set = "body.ball.velocity[1]"
//!
//! [result.pins]
//! channel = "pin-*.tilt"
//! above = 0.52                           # counts the bodies
//! ```

use crate::document::{Fields, Node, Table};
use crate::error::{Place, Problem, SceneError};
use crate::parameter::ParameterValue;
use crate::scene::read_text;
use crate::source::{Fault, Read, Source, Span};
use crate::units::{NUMBER, Units};
use std::path::{Path, PathBuf};

/// Longest study file, bytes.
const MAX_STUDY_BYTES: u64 = 1 << 20;
/// Most runs of a study.
const MAX_RUNS: u64 = 100_000_000;
/// Most parameters with ranges or distributions: as many dimensions as the Sobol sequence has here.
const MAX_SAMPLED: usize = 16;
const MAX_PARAMETERS: usize = 64;
const MAX_RESULTS: usize = 64;

const KEYS: &[&str] = &[
    "title",
    "description",
    "scene",
    "duration",
    "time_step",
    "simulator",
    "design",
    "samples",
    "repetitions",
    "seed",
    "parameter",
    "set",
    "result",
];
const PARAMETER_KEYS: &[&str] = &["values", "range", "normal", "log_normal", "steps", "scale", "set", "unit"];
const RESULT_KEYS: &[&str] = &["channel", "take", "at", "above", "below", "event", "body", "with", "unit"];

/// How values of ranges and distributions are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleDesign {
    /// Every combination of equally spaced values of ranges; distributions are drawn at random in each run.
    Grid,
    /// Each parameter once in every one of as many equally probable parts as there are samples.
    LatinHypercube,
    /// A sequence of low discrepancy, shifted at random.
    Sobol,
    /// Independent.
    Random,
}

/// What a parameter can be.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValues {
    /// Each of these, with every sample of the others.
    List(Vec<ParameterValue>),
    /// Uniform between two numbers, or uniform in the logarithm.
    Range {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
        /// Number of values in a grid.
        steps: u32,
        /// Whether the logarithm is uniform.
        log: bool,
    },
    /// Normally distributed.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// Its logarithm is normally distributed.
    LogNormal {
        /// Median.
        median: f64,
        /// One standard deviation is this factor, > 1.
        factor: f64,
    },
}

/// A parameter of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyParameter {
    /// Name, for formulas and tables.
    pub name: String,
    /// Unit, for plots; may be empty.
    pub unit: String,
    /// Values.
    pub values: ParameterValues,
    /// Paths of the scene that take its value as it is.
    pub paths: Vec<String>,
    /// Its place in the file.
    pub place: Place,
}

/// A value of the scene by formula of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct StudySet {
    /// Path of the scene.
    pub path: String,
    /// Formula, if it is one.
    pub formula: Option<String>,
    /// Constant, if it is one.
    pub value: Option<ParameterValue>,
    /// Its place in the file.
    pub place: Place,
}

/// Which value of a channel is the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Taken {
    /// At the end.
    Final,
    /// Least, over all steps.
    Min,
    /// Greatest.
    Max,
    /// Mean over time.
    Mean,
    /// At a time, s: linear between steps.
    At(f64),
    /// When the channel first is above or below its limit, s.
    Time,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum StudyResult {
    /// A number of a channel.
    Channel {
        /// Name of a channel; `*` stands for any characters in the name of a body.
        channel: String,
        /// Which value.
        take: Taken,
        /// Limits: the number of channels whose value is above and below them is counted.
        above: Option<f64>,
        /// Upper limit.
        below: Option<f64>,
    },
    /// Number of events of a kind, such as `collision`.
    Events {
        /// Kind.
        kind: String,
        /// Only of bodies of this name, in which `*` stands for any characters.
        body: Option<String>,
        /// Only with bodies of this name.
        with: Option<String>,
    },
}

/// A study as read from a file, checked as far as it can be without its scene.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyFile {
    /// Title, one line.
    pub title: String,
    /// The question, in words.
    pub description: String,
    /// Name of a built-in scene, or path of a file, relative to the folder.
    pub scene: String,
    /// Folder of the study file.
    pub folder: PathBuf,
    /// Place of the name of the scene.
    pub scene_place: Place,
    /// Simulated time of a run, s; that of the scene if it is not given.
    pub duration: Option<f64>,
    /// Time step, s; that of the scene if it is not given.
    pub time_step: Option<f64>,
    /// Name of the simulator; that of the scene if it is not given.
    pub simulator: Option<String>,
    /// How ranges and distributions are sampled.
    pub design: SampleDesign,
    /// Number of samples, except of a grid.
    pub samples: u32,
    /// Runs of each sample, with other seeds of the scene.
    pub repetitions: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Parameters, in the order of the file.
    pub parameters: Vec<StudyParameter>,
    /// Values by formula.
    pub sets: Vec<StudySet>,
    /// Results: name, unit, what is measured, place in the file.
    pub results: Vec<(String, String, StudyResult, Place)>,
    /// The text.
    pub text: String,
}

/// A study that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInStudy {
    /// Name to open it by.
    pub name: &'static str,
    /// The question.
    pub summary: &'static str,
    /// The file.
    pub text: &'static str,
}

/// Studies that come with the program.
pub fn built_in_studies() -> &'static [BuiltInStudy] {
    const STUDIES: &[BuiltInStudy] = &[
        BuiltInStudy {
            name: "bowling",
            summary: "does a hook fell more pins than a straight ball?",
            text: include_str!("../studies/bowling.toml"),
        },
        BuiltInStudy {
            name: "chute",
            summary: "how many of six caps leave a chute, and how many jam, with its incline and friction?",
            text: include_str!("../studies/chute.toml"),
        },
        BuiltInStudy {
            name: "sorter",
            summary: "how many of six parts end in the bin of their mass, with their distance on the belt?",
            text: include_str!("../studies/sorter.toml"),
        },
    ];
    STUDIES
}

impl StudyFile {
    /// (text, name in messages) ⇒ study.
    ///
    /// # Errors
    /// The first error in the text and its place.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::parse_in(text, origin, PathBuf::new())
    }

    /// Path of a file, or name of a built-in study ⇒ study. A file takes precedence.
    ///
    /// # Errors
    /// Neither a file nor a built-in study of this name, a file that cannot be read, or the first error in it.
    pub fn open(name_or_path: &str) -> Result<Self, SceneError> {
        let path = Path::new(name_or_path);
        if !path.is_file() && path.components().count() == 1 && path.extension().is_none() {
            let known = built_in_studies();
            return match known.iter().find(|study| study.name == name_or_path) {
                Some(study) => Self::parse(study.text, &format!("built-in study {}", study.name)),
                None => Err(SceneError::UnknownStudy {
                    name: name_or_path.into(),
                    known: known.iter().map(|study| study.name.to_owned()).collect(),
                }),
            };
        }
        let text = read_text(path, MAX_STUDY_BYTES)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::parse_in(&text, &path.display().to_string(), folder)
    }

    fn parse_in(text: &str, origin: &str, folder: PathBuf) -> Result<Self, SceneError> {
        if text.len() as u64 > MAX_STUDY_BYTES {
            let bytes = text.len() as u64;
            return Err(SceneError::TooLarge { origin: origin.into(), bytes, limit: MAX_STUDY_BYTES });
        }
        let source = Source::new(origin, text.into());
        let read = Table::parse(text).and_then(|table| read(&table, &source, text, folder));
        read.map_err(|fault| source.error(fault))
    }
}

fn conflict<T>(span: Span, message: impl Into<String>) -> Read<T> {
    Err(Fault::new(span, Problem::Conflict(message.into())))
}

fn read(table: &Table, source: &Source, text_of_study: &str, folder: PathBuf) -> Read<StudyFile> {
    let fields = Fields::new("the study", table, Span::default(), KEYS)?;
    let units = Units::default();
    let text = |key: &str| fields.map(key, |node| node.text(key)).map(Option::unwrap_or_default);
    let seconds = |key: &str| fields.map(key, |node| node.positive(key, &units, NUMBER));
    let count = |key: &str, default: u32| {
        let read = fields.map(key, |node| node.integer_within(key, 1, 10_000_000))?;
        Ok(read.map_or(default, |count| count as u32))
    };
    let scene = fields.required("scene", "name of a built-in scene, or path of a file")?;
    let design = fields.map("design", |node| {
        node.word(
            "design",
            &[
                ("grid", SampleDesign::Grid),
                ("latin-hypercube", SampleDesign::LatinHypercube),
                ("sobol", SampleDesign::Sobol),
                ("random", SampleDesign::Random),
            ],
        )
    })?;
    let seed = fields.map("seed", |node| node.integer_within("seed", 0, i64::MAX))?;
    let mut study = StudyFile {
        title: text("title")?.into(),
        description: text("description")?.into(),
        scene: scene.text("scene")?.into(),
        folder,
        scene_place: source.place(scene.span),
        duration: seconds("duration")?,
        time_step: seconds("time_step")?,
        simulator: fields.map("simulator", |node| node.text("simulator"))?.map(Into::into),
        design: design.unwrap_or(SampleDesign::Grid),
        samples: count("samples", 100)?,
        repetitions: count("repetitions", 1)?,
        seed: seed.map_or(1, i64::unsigned_abs),
        parameters: Vec::new(),
        sets: Vec::new(),
        results: Vec::new(),
        text: text_of_study.into(),
    };
    if let (Some(samples), SampleDesign::Grid) = (fields.get("samples"), study.design) {
        return conflict(
            samples.span,
            "a grid has no `samples`: give `steps` of each range, or another `design`",
        );
    }
    for (key, node) in
        fields.map("parameter", |node| node.table("parameter"))?.map_or(&[][..], |t| &t.entries)
    {
        study.parameters.push(parameter(&key.name, key.span, node, source, study.design)?);
    }
    for (key, node) in fields.map("set", |node| node.table("set"))?.map_or(&[][..], |t| &t.entries) {
        let Some(value) = ParameterValue::of(node) else {
            return Err(node.wrong_type(&key.name, "a formula, a number or a list; quote paths with dots"));
        };
        let place = source.place(node.span);
        let (formula, value) = match value {
            ParameterValue::Text(formula) => (Some(formula), None),
            value => (None, Some(value)),
        };
        study.sets.push(StudySet { path: key.name.clone(), formula, value, place });
    }
    let results =
        fields.required("result", "what is measured: [result.NAME] with a `channel` or an `event`")?;
    for (key, node) in &results.table("result")?.entries {
        let fields = Fields::of(&key.name, node, RESULT_KEYS)?;
        let unit = fields.map("unit", |node| node.text("unit"))?.unwrap_or_default();
        study.results.push((key.name.clone(), unit.into(), result(&fields)?, source.place(key.span)));
    }
    limits(&study, &fields)?;
    Ok(study)
}

fn limits(study: &StudyFile, fields: &Fields<'_>) -> Read<()> {
    let at = |key: &str| fields.get(key).map_or_else(Span::default, |node| node.span);
    let limit = |key: &str, what, found: usize, limit| {
        if found <= limit {
            return Ok(());
        }
        Err(Fault::new(at(key), Problem::Limit { what, found: found.to_string(), limit }))
    };
    limit("parameter", "parameters of a study", study.parameters.len(), MAX_PARAMETERS)?;
    limit("result", "results of a study", study.results.len(), MAX_RESULTS)?;
    if study.results.is_empty() {
        return conflict(at("result"), "a study needs at least one [result.NAME]");
    }
    let lists = |p: &&StudyParameter| matches!(p.values, ParameterValues::List(_));
    let sampled = study.parameters.iter().filter(|p| !lists(p)).count();
    limit("parameter", "parameters with ranges and distributions", sampled, MAX_SAMPLED)?;
    if study.runs() > MAX_RUNS {
        let found = format!("{} or more", study.runs());
        return Err(Fault::new(
            at("parameter"),
            Problem::Limit { what: "runs of a study", found, limit: MAX_RUNS as usize },
        ));
    }
    Ok(())
}

impl StudyFile {
    /// Combinations of the values of lists.
    pub fn combinations(&self) -> u64 {
        let length = |p: &StudyParameter| match &p.values {
            ParameterValues::List(list) => list.len() as u64,
            _ => 1,
        };
        self.parameters.iter().map(length).fold(1, u64::saturating_mul)
    }

    /// Samples of ranges and distributions.
    pub fn sample_count(&self) -> u64 {
        let sampled = self.parameters.iter().any(|p| !matches!(p.values, ParameterValues::List(_)));
        match self.design {
            SampleDesign::Grid => self
                .parameters
                .iter()
                .map(|p| match p.values {
                    ParameterValues::Range { steps, .. } => u64::from(steps),
                    _ => 1,
                })
                .fold(1, u64::saturating_mul),
            _ if sampled => u64::from(self.samples),
            _ => 1,
        }
    }

    /// Number of runs.
    pub fn runs(&self) -> u64 {
        self.combinations().saturating_mul(self.sample_count()).saturating_mul(u64::from(self.repetitions))
    }
}

/// Two numbers.
fn pair(key: &str, node: &Node) -> Read<(f64, f64)> {
    let [a, b] = node.list_of::<2>(key, "two numbers")?;
    Ok((a.plain_number(key)?, b.plain_number(key)?))
}

fn parameter(
    name: &str,
    span: Span,
    node: &Node,
    source: &Source,
    design: SampleDesign,
) -> Read<StudyParameter> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(word) {
        return conflict(
            span,
            format!("`{name}`: names of parameters are letters, digits and _, for use in formulas"),
        );
    }
    let fields = Fields::of(name, node, PARAMETER_KEYS)?;
    let given: Vec<&str> =
        ["values", "range", "normal", "log_normal"].into_iter().filter(|k| fields.get(k).is_some()).collect();
    let [kind] = given[..] else {
        return conflict(
            node.span,
            format!(
                "parameter `{name}` needs one of `values`, `range`, `normal`, `log_normal`; it has {}",
                given.len()
            ),
        );
    };
    let value = fields.required(kind, "values")?;
    let steps = fields.map("steps", |node| node.integer_within("steps", 1, 1_000_000))?;
    let log = fields.map("scale", |node| node.word("scale", &[("linear", false), ("log", true)]))?;
    if let (Some(node), true) = (fields.get("steps").or(fields.get("scale")), kind != "range") {
        return conflict(node.span, "`steps` and `scale` belong to a `range`");
    }
    if let (Some(node), true) = (fields.get("steps"), design != SampleDesign::Grid) {
        return conflict(node.span, "`steps` belong to the design \"grid\"; other designs have `samples`");
    }
    let values = match kind {
        "values" => {
            let list = value.list("values", "a list")?;
            let values = list.iter().map(|item| {
                ParameterValue::of(item)
                    .ok_or_else(|| item.wrong_type("values", "numbers, texts or lists of them"))
            });
            let values = values.collect::<Read<Vec<_>>>()?;
            if values.is_empty() {
                return Err(value.out_of_range("values", "at least one value"));
            }
            ParameterValues::List(values)
        }
        "range" => {
            let (low, high) = pair("range", value)?;
            let log = log.unwrap_or(false);
            if low >= high || (log && low <= 0.0) {
                let allowed =
                    if log { "[low, high] with 0 < low < high" } else { "[low, high] with low < high" };
                return Err(value.out_of_range("range", allowed));
            }
            ParameterValues::Range { low, high, steps: steps.unwrap_or(5) as u32, log }
        }
        "normal" => {
            let (mean, deviation) = pair("normal", value)?;
            if deviation <= 0.0 {
                return Err(value.out_of_range("normal", "[mean, standard deviation] with a deviation > 0"));
            }
            ParameterValues::Normal { mean, deviation }
        }
        _ => {
            let (median, factor) = pair("log_normal", value)?;
            if median <= 0.0 || factor <= 1.0 {
                return Err(
                    value.out_of_range("log_normal", "[median, factor] with a median > 0 and a factor > 1")
                );
            }
            ParameterValues::LogNormal { median, factor }
        }
    };
    let paths = fields.map("set", |node| node.texts("set"))?.unwrap_or_default();
    Ok(StudyParameter {
        name: name.into(),
        unit: fields.map("unit", |node| node.text("unit"))?.unwrap_or_default().into(),
        values,
        paths: paths.into_iter().map(|(path, _)| path.to_owned()).collect(),
        place: source.place(span),
    })
}

fn result(fields: &Fields<'_>) -> Read<StudyResult> {
    let number = |key: &str| fields.map(key, |node| node.plain_number(key));
    let (above, below) = (number("above")?, number("below")?);
    match (fields.get("channel"), fields.get("event")) {
        (Some(channel), None) => {
            if let Some(other) = fields.get("body").or(fields.get("with")) {
                return conflict(
                    other.span,
                    "`body` and `with` belong to an `event`; a channel has the body in its name",
                );
            }
            let at = fields.map("at", |node| node.non_negative("at", &Units::default(), NUMBER))?;
            let take = fields.map("take", |node| {
                node.word(
                    "take",
                    &[
                        ("final", Taken::Final),
                        ("min", Taken::Min),
                        ("max", Taken::Max),
                        ("mean", Taken::Mean),
                        ("time", Taken::Time),
                    ],
                )
            })?;
            let take = match (at, take) {
                (Some(at), None) => Taken::At(at),
                (Some(_), Some(_)) => return conflict(fields.span(), "`at` and `take` exclude each other"),
                (None, take) => take.unwrap_or(Taken::Final),
            };
            if take == Taken::Time && above.is_none() && below.is_none() {
                return conflict(fields.span(), "`take = \"time\"` needs `above` or `below`");
            }
            let channel = channel.text("channel")?.to_owned();
            if channel.contains('*') && above.is_none() && below.is_none() {
                return conflict(fields.span(), "a channel with `*` is counted: it needs `above` or `below`");
            }
            Ok(StudyResult::Channel { channel, take, above, below })
        }
        (None, Some(event)) => {
            if let Some(other) = ["take", "at", "above", "below"].iter().find_map(|key| fields.get(key)) {
                return conflict(other.span, "events are counted; this key belongs to a `channel`");
            }
            let name = |key: &str| fields.map(key, |node| node.text(key)).map(|name| name.map(Into::into));
            Ok(StudyResult::Events {
                kind: event.text("event")?.into(),
                body: name("body")?,
                with: name("with")?,
            })
        }
        _ => conflict(fields.span(), "a result needs either a `channel` or an `event`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUDY: &str = "scene = 'bowling'\n[parameter.v]\nrange = [1, 2]\nset = 'body.ball.velocity[1]'\n[result.z]\nchannel = 'ball.z'\n";

    #[test]
    fn errors_have_their_places() {
        let refused = |from: &str, to: &str| {
            StudyFile::parse(&STUDY.replace(from, to), "s.toml").unwrap_err().to_string()
        };
        for (from, to, message) in [
            ("[1, 2]", "[2, 1]", "s.toml:3:9: `range` must be [low, high] with low < high"),
            ("[1, 2]", "[1, 2]\nscal = 'log'", "s.toml:4:1: unknown key `scal`"),
            ("range = [1, 2]\n", "", "s.toml:2:1: parameter `v` needs one of"),
            ("channel = 'ball.z'", "", "s.toml:5:1: a result needs either"),
            ("channel = 'ball.z'", "channel = 'pin*.z'", "needs `above` or `below`"),
            ("channel = 'ball.z'", "channel = 'ball.z'\ntake = 'last'", "s.toml:7:8: unknown take `last`"),
            ("scene = 'bowling'", "", "the study needs `scene`"),
            ("[1, 2]", "[1, 2]\nsteps = 9000000", "`steps` must be in"),
            ("scene = 'bowling'", "scene = 'bowling'\nsamples = 10", "a grid has no `samples`"),
            ("parameter.v", "parameter.v-1", "letters, digits and _"),
        ] {
            let found = refused(from, to);
            assert!(found.contains(message), "{message}\n{found}");
        }
        assert!(StudyFile::open("bowlin").unwrap_err().to_string().contains("did you mean `bowling`"));
    }

    #[test]
    fn runs_are_counted() {
        let study = StudyFile::parse(
            &format!("repetitions = 3\n{STUDY}[parameter.k]\nvalues = ['a', 'b']\n"),
            "s.toml",
        )
        .unwrap();
        assert_eq!((study.combinations(), study.sample_count(), study.runs()), (2, 5, 30));
    }

    /// Any text is read or refused.
    #[test]
    fn mutated_studies_do_not_panic() {
        let mut random = 7_u64;
        for study in built_in_studies() {
            assert!(StudyFile::open(study.name).is_ok(), "{:?}", StudyFile::open(study.name));
            for _ in 0..2000 {
                let mut bytes = study.text.as_bytes().to_vec();
                for _ in 0..3 {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let at = (random >> 33) as usize % bytes.len();
                    match random >> 62 {
                        0 => bytes[at] = b"[]{}\"'=.0,\n-"[(random >> 20) as usize % 12],
                        1 => drop(bytes.remove(at)),
                        2 => bytes.truncate(at.max(1)),
                        _ => bytes.swap(at, 0),
                    }
                }
                let _ = StudyFile::parse(&String::from_utf8_lossy(&bytes), "mutated");
            }
        }
    }
}
