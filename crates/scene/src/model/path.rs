//! Paths of kinematic bodies.

use super::pose::pose;
use super::signal::vector_signal;
use crate::document::{Fields, Node, missing_key};
use crate::source::Read;
use crate::units::{ANGLE, LENGTH, NUMBER, Units};
use glam::DVec3;
use rattleback_dynamics::Path;

/// The `path` table of a body ⇒ path.
pub(crate) fn path(node: &Node, units: &Units) -> Read<Path> {
    #[derive(Clone, Copy)]
    enum Kind {
        Steady,
        Harmonic,
        Circuit,
        Surface,
        Keyframes,
        Translation,
        Tilt,
    }
    const KINDS: &[(&str, Kind)] = &[
        ("steady", Kind::Steady),
        ("harmonic", Kind::Harmonic),
        ("circuit", Kind::Circuit),
        ("surface", Kind::Surface),
        ("keyframes", Kind::Keyframes),
        ("translation", Kind::Translation),
        ("tilt", Kind::Tilt),
    ];
    let Some(kind) = node.table("path")?.get("type") else {
        let kinds = "steady, harmonic, circuit, surface, keyframes, translation or tilt";
        return Err(missing_key("path", node.span, "type", kinds));
    };
    match kind.word("path", KINDS)? {
        Kind::Steady => {
            let fields = Fields::of("a steady path", node, &["type", "velocity", "angular_velocity"])?;
            Ok(Path::Steady {
                velocity: vector(&fields, "velocity", units, LENGTH)?,
                angular_velocity: vector(&fields, "angular_velocity", units, ANGLE)?,
            })
        }
        Kind::Harmonic => {
            let known = &["type", "amplitude", "swing", "frequency", "phase"];
            let fields = Fields::of("a harmonic path", node, known)?;
            Ok(Path::Harmonic {
                amplitude: vector(&fields, "amplitude", units, LENGTH)?,
                swing: vector(&fields, "swing", units, ANGLE)?,
                frequency: fields.required("frequency", "in Hz")?.number("frequency", units, NUMBER)?,
                phase: fields.map("phase", |node| node.number("phase", units, ANGLE))?.unwrap_or(0.0),
            })
        }
        Kind::Circuit => {
            let fields =
                Fields::of("a circuit path", node, &["type", "cosine", "sine", "frequency", "phase"])?;
            Ok(Path::Circuit {
                cosine: vector(&fields, "cosine", units, LENGTH)?,
                sine: vector(&fields, "sine", units, LENGTH)?,
                frequency: fields.required("frequency", "in Hz")?.number("frequency", units, NUMBER)?,
                phase: fields.map("phase", |node| node.number("phase", units, ANGLE))?.unwrap_or(0.0),
            })
        }
        Kind::Surface => {
            let fields = Fields::of("a surface path", node, &["type", "velocity", "angular_velocity"])?;
            Ok(Path::Surface {
                velocity: vector(&fields, "velocity", units, LENGTH)?,
                angular_velocity: vector(&fields, "angular_velocity", units, ANGLE)?,
            })
        }
        Kind::Keyframes => keyframes(node, units),
        Kind::Translation => {
            let fields = Fields::of("a translation path", node, &["type", "offset"])?;
            let offset = fields.required("offset", "a vector signal: the displacement from the start")?;
            Ok(Path::Translation(vector_signal("offset", offset, units, LENGTH)?))
        }
        Kind::Tilt => {
            let known = &["type", "swing", "frequency", "phase", "second", "second_phase"];
            let fields = Fields::of("a tilt path", node, known)?;
            let optional = |key: &str, dimension| {
                Ok(fields.map(key, |node| node.number(key, units, dimension))?.unwrap_or(0.0))
            };
            Ok(Path::Tilt {
                swing: vector(&fields, "swing", units, ANGLE)?,
                frequency: fields.required("frequency", "in Hz")?.number("frequency", units, NUMBER)?,
                phase: optional("phase", ANGLE)?,
                second: optional("second", NUMBER)?,
                second_phase: optional("second_phase", ANGLE)?,
            })
        }
    }
}

fn vector(fields: &Fields<'_>, key: &str, units: &Units, dimension: crate::units::Dimension) -> Read<DVec3> {
    Ok(fields.map(key, |node| node.vector(key, units, dimension))?.unwrap_or_default())
}

fn keyframes(node: &Node, units: &Units) -> Read<Path> {
    let fields = Fields::of("a keyframe path", node, &["type", "keys"])?;
    let list = fields.required("keys", "a list of { time, position, orientation }")?;
    let mut keys: Vec<(f64, _)> = Vec::new();
    for key in list.tables("keys")? {
        let fields = Fields::of("a keyframe", key, &["time", "position", "orientation"])?;
        let time_node = fields.required("time", "in seconds")?;
        let time = time_node.number("time", units, NUMBER)?;
        if keys.last().is_some_and(|last| last.0 >= time) {
            return Err(time_node.out_of_range("time", "later than the time before it"));
        }
        keys.push((time, pose(&fields, units)?));
    }
    if keys.is_empty() {
        return Err(list.out_of_range("keys", "at least one keyframe"));
    }
    Ok(Path::Keyframes(keys))
}
