//! Kinds of gates, and what moves parts along the track.
//!
//! x points along the track, y to its left, z up from it. Gates stand about x = 0.

use glam::DVec3;
use rattleback_dynamics::property::suggestion;
use rattleback_dynamics::world::Path;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most gates that one text with ranges stands for.
const MOST: usize = 10_000;

/// A gate with its parameters, lengths in m, angles in degrees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Gate {
    /// Nothing.
    None,
    /// A bar across the whole track: what is higher than its underside is held, turned or tipped.
    Bar {
        /// Height of its underside above the track.
        clearance: f64,
        /// From the y axis; parts are led to the side if it is not 0.
        angle: f64,
    },
    /// A vertical wall from the left edge of the track (from the right one if `reach` is negative): parts slide along it and turn.
    Fence {
        /// From the x axis.
        angle: f64,
        /// How far it reaches over the track.
        reach: f64,
    },
    /// The track goes on at a lower level.
    Step {
        /// By how much.
        height: f64,
    },
    /// A part of the left side of the track is missing (of the right one if `width` is negative): parts whose centre of mass is above it fall off.
    Cutout {
        /// How wide.
        width: f64,
        /// How long.
        length: f64,
    },
}

/// Why a gate cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GateError {
    /// A text that is no gate.
    #[error(
        "gate `{text}`: {message}; gates are like bar:clearance=0.012 or fence:angle=20..40/5,reach=0.03"
    )]
    Text {
        /// The text.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// A number out of its range.
    #[error("{what} must be {allowed}; got {value}")]
    Range {
        /// Which number.
        what: &'static str,
        /// The accepted range.
        allowed: &'static str,
        /// The number.
        value: f64,
    },
    /// The engine refused the track or the part.
    #[error("{0}")]
    Simulator(String),
}

/// Name of a parameter, and its default if it has one.
type Parameter = (&'static str, Option<f64>);

/// Gates that a text stands for, each with the value of its first range, and the name of that parameter.
type ParsedGates = (Vec<(Gate, f64)>, Option<&'static str>);

/// Kinds and their parameters.
const KINDS: [(&str, &[Parameter]); 5] = [
    ("none", &[]),
    ("bar", &[("clearance", None), ("angle", Some(0.0))]),
    ("fence", &[("angle", None), ("reach", None)]),
    ("step", &[("height", None)]),
    ("cutout", &[("width", None), ("length", None)]),
];

impl Gate {
    fn of(kind: &str, p: &[f64]) -> Self {
        match (kind, p) {
            ("bar", [clearance, angle]) => Self::Bar { clearance: *clearance, angle: *angle },
            ("fence", [angle, reach]) => Self::Fence { angle: *angle, reach: *reach },
            ("step", [height]) => Self::Step { height: *height },
            ("cutout", [width, length]) => Self::Cutout { width: *width, length: *length },
            _ => Self::None,
        }
    }

    /// The same gate with left and right exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Bar { clearance, angle } => Self::Bar { clearance, angle: -angle },
            Self::Fence { angle, reach } => Self::Fence { angle, reach: -reach },
            Self::Cutout { width, length } => Self::Cutout { width: -width, length },
            same => same,
        }
    }

    /// How far it extends along x beyond its middle, for a track of a width, m.
    pub fn extent(self, width: f64) -> f64 {
        match self {
            Self::None | Self::Step { .. } => 0.0,
            Self::Bar { angle, .. } => 0.5 * width * angle.to_radians().tan().abs(),
            Self::Fence { angle, reach } => reach.abs() / angle.to_radians().tan().abs(),
            Self::Cutout { length, .. } => 0.5 * length,
        }
    }

    /// An error for the first parameter out of its range.
    pub fn check(self) -> Result<(), GateError> {
        let check = |what, value: f64, ok: bool, allowed| {
            if value.is_finite() && ok { Ok(()) } else { Err(GateError::Range { what, allowed, value }) }
        };
        match self {
            Self::None => Ok(()),
            Self::Bar { clearance, angle } => {
                check(
                    "clearance of a bar",
                    clearance,
                    clearance > 0.0 && clearance < 10.0,
                    "above 0 and below 10 m",
                )?;
                check("angle of a bar", angle, angle.abs() <= 75.0, "from −75° to 75°")
            }
            Self::Fence { angle, reach } => {
                check("angle of a fence", angle, (5.0..=90.0).contains(&angle), "from 5° to 90°")?;
                check("reach of a fence", reach, reach != 0.0 && reach.abs() < 10.0, "not 0, and below 10 m")
            }
            Self::Step { height } => {
                check("height of a step", height, height > 0.0 && height < 10.0, "above 0 and below 10 m")
            }
            Self::Cutout { width, length } => {
                check(
                    "width of a cut-out",
                    width,
                    width != 0.0 && width.abs() < 10.0,
                    "not 0, and below 10 m",
                )?;
                check("length of a cut-out", length, length > 0.0 && length < 10.0, "above 0 and below 10 m")
            }
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => write!(formatter, "none"),
            Self::Bar { clearance, angle } => write!(formatter, "bar:clearance={clearance},angle={angle}"),
            Self::Fence { angle, reach } => write!(formatter, "fence:angle={angle},reach={reach}"),
            Self::Step { height } => write!(formatter, "step:height={height}"),
            Self::Cutout { width, length } => write!(formatter, "cutout:width={width},length={length}"),
        }
    }
}

/// `fence:angle=20..40/5,reach=0.03` ⇒ the gates it stands for, each with the value of its first range, and the name of that parameter.
///
/// ```
/// use rattleback_lab::gate::{Gate, parse_gates};
/// let (gates, swept) = parse_gates("step:height=0.01..0.03/3")?;
/// assert_eq!(gates[1], (Gate::Step { height: 0.02 }, 0.02));
/// assert_eq!(swept, Some("height"));
/// assert!(parse_gates("stp:height=1").unwrap_err().to_string().contains("did you mean `step`"));
/// # Ok::<(), rattleback_lab::gate::GateError>(())
/// ```
pub fn parse_gates(text: &str) -> Result<ParsedGates, GateError> {
    let refused = |message: String| GateError::Text { text: text.into(), message };
    let (kind, given) = text.split_once(':').map_or((text, ""), |(kind, given)| (kind.trim(), given));
    let names: Vec<String> = KINDS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let (kind, parameters) = KINDS.iter().find(|(name, _)| *name == kind).ok_or_else(|| {
        refused(format!("unknown kind `{kind}`{}; kinds: {}", suggestion(kind, &names), names.join(", ")))
    })?;
    let mut values: Vec<Option<Vec<f64>>> =
        parameters.iter().map(|(_, default)| default.map(|x| vec![x])).collect();
    let mut swept = None;
    for item in given.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let (name, value) = item.split_once('=').ok_or_else(|| refused(format!("`{item}` has no value")))?;
        let known: Vec<String> = parameters.iter().map(|(name, _)| (*name).to_owned()).collect();
        let at = parameters.iter().position(|(known, _)| *known == name.trim()).ok_or_else(|| {
            refused(format!(
                "{kind} has no `{name}`{}; it has: {}",
                suggestion(name, &known),
                known.join(", ")
            ))
        })?;
        let list = numbers(value)
            .ok_or_else(|| refused(format!("`{value}` is no number and no range LOW..HIGH/COUNT")))?;
        if list.len() > 1 && swept.is_none() {
            swept = Some(parameters[at].0);
        }
        values[at] = Some(list);
    }
    let values: Vec<Vec<f64>> = parameters
        .iter()
        .zip(values)
        .map(|((name, _), values)| values.ok_or_else(|| refused(format!("{kind} needs `{name}`"))))
        .collect::<Result<_, _>>()?;
    let count = values.iter().map(Vec::len).product::<usize>();
    if count > MOST {
        return Err(refused(format!("its ranges are {count} gates; at most {MOST} are allowed")));
    }
    let sweep = swept.and_then(|name| parameters.iter().position(|(known, _)| *known == name));
    let gates = (0..count).map(|index| {
        let mut rest = index;
        let chosen: Vec<f64> = values
            .iter()
            .map(|list| {
                let value = list[rest % list.len()];
                rest /= list.len();
                value
            })
            .collect();
        let gate = Gate::of(kind, &chosen);
        gate.check().map(|()| (gate, sweep.map_or(0.0, |at| chosen[at])))
    });
    Ok((gates.collect::<Result<_, _>>()?, swept))
}

/// `0.01` or `0.01..0.03/3` ⇒ numbers.
pub(crate) fn numbers(text: &str) -> Option<Vec<f64>> {
    let Some((low, rest)) = text.split_once("..") else {
        return text.trim().parse().ok().filter(|x: &f64| x.is_finite()).map(|x| vec![x]);
    };
    let (high, count) = rest.split_once('/').unwrap_or((rest, "5"));
    let (low, high): (f64, f64) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
    let count: usize = count.trim().parse().ok().filter(|count| (2..=MOST).contains(count))?;
    let value = |k: usize| (low * (count - 1 - k) as f64 + high * k as f64) / (count - 1) as f64;
    (low < high && low.is_finite() && high.is_finite()).then(|| (0..count).map(value).collect())
}

/// What moves parts along the track.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Transport {
    /// A belt.
    Conveyor {
        /// m/s.
        speed: f64,
    },
    /// An incline.
    Gravity {
        /// Degrees.
        incline: f64,
    },
    /// The track swings along a direction that rises along the track; parts hop forward when its acceleration upwards exceeds g.
    Vibratory {
        /// Amplitude, m.
        amplitude: f64,
        /// Hz.
        frequency: f64,
        /// From the track, degrees.
        angle: f64,
    },
}

impl Transport {
    /// An error for the first parameter out of its range.
    pub fn check(self) -> Result<(), GateError> {
        let check = |what, value: f64, ok: bool, allowed| {
            if value.is_finite() && ok { Ok(()) } else { Err(GateError::Range { what, allowed, value }) }
        };
        match self {
            Self::Conveyor { speed } => check(
                "speed of the belt",
                speed,
                speed > 0.0 && speed <= 100.0,
                "above 0 and at most 100 m/s",
            ),
            Self::Gravity { incline } => {
                check("incline", incline, (0.1..=80.0).contains(&incline), "from 0.1° to 80°")
            }
            Self::Vibratory { amplitude, frequency, angle } => {
                check(
                    "amplitude",
                    amplitude,
                    amplitude > 0.0 && amplitude <= 1.0,
                    "above 0 and at most 1 m",
                )?;
                check(
                    "frequency",
                    frequency,
                    frequency > 0.0 && frequency <= 1000.0,
                    "above 0 and at most 1000 Hz",
                )?;
                check("angle of vibration", angle, (-90.0..=90.0).contains(&angle), "from −90° to 90°")
            }
        }
    }

    /// Acceleration of gravity in the frame of the track, m/s².
    pub fn gravity(self, g: f64) -> DVec3 {
        match self {
            Self::Gravity { incline } => {
                let (sin, cos) = incline.to_radians().sin_cos();
                g * DVec3::new(sin, 0.0, -cos)
            }
            _ => DVec3::new(0.0, 0.0, -g),
        }
    }

    /// Motion of (the track, gates); none if they stand still.
    pub fn paths(self) -> (Option<Path>, Option<Path>) {
        match self {
            Self::Conveyor { speed } => {
                let belt = Path::Surface { velocity: speed * DVec3::X, angular_velocity: DVec3::ZERO };
                (Some(belt), None)
            }
            Self::Gravity { .. } => (None, None),
            Self::Vibratory { amplitude, frequency, angle } => {
                let (sin, cos) = angle.to_radians().sin_cos();
                let swing = Path::Harmonic {
                    amplitude: amplitude * DVec3::new(cos, 0.0, sin),
                    swing: DVec3::ZERO,
                    frequency,
                    phase: 0.0,
                };
                (Some(swing.clone()), Some(swing))
            }
        }
    }
}
