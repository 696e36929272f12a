//! Numbers and vectors that change with time.

use crate::document::{Content, Fields, Node};
use crate::source::Read;
use crate::units::{ANGLE, Dimension, NUMBER, Units};
use glam::DVec3;
use rattleback_dynamics::Signal;
use rattleback_dynamics::signal::Quantity;

const FORMS: &str = "{ harmonic = { amplitude, frequency, mean, phase } } or { table = [[time, value], …] }";

/// Number or signal of numbers.
pub(crate) fn number_signal(
    key: &str,
    node: &Node,
    units: &Units,
    dimension: Dimension,
) -> Read<Signal<f64>> {
    if matches!(node.content, Content::Table(_)) {
        return signal(key, node, units, 0.0, &|key, node| node.number(key, units, dimension));
    }
    if matches!(node.content, Content::Integer(_) | Content::Real(_)) {
        return Ok(Signal::Constant(node.number(key, units, dimension)?));
    }
    Err(node.wrong_type(key, &format!("a number, {FORMS}")))
}

/// Vector or signal of vectors.
pub(crate) fn vector_signal(
    key: &str,
    node: &Node,
    units: &Units,
    dimension: Dimension,
) -> Read<Signal<DVec3>> {
    if matches!(node.content, Content::Table(_)) {
        return signal(key, node, units, DVec3::ZERO, &|key, node| node.vector(key, units, dimension));
    }
    if matches!(node.content, Content::List(_)) {
        return Ok(Signal::Constant(node.vector(key, units, dimension)?));
    }
    Err(node.wrong_type(key, &format!("three numbers [x, y, z], {FORMS}")))
}

fn signal<T: Quantity>(
    key: &str,
    node: &Node,
    units: &Units,
    zero: T,
    value: &dyn Fn(&str, &Node) -> Read<T>,
) -> Read<Signal<T>> {
    let fields = Fields::of("a signal", node, &["harmonic", "table"])?;
    let signal = match (fields.get("harmonic"), fields.get("table")) {
        (Some(harmonic), None) => {
            let fields = Fields::of("harmonic", harmonic, &["mean", "amplitude", "frequency", "phase"])?;
            Signal::Harmonic {
                mean: fields.map("mean", |node| value("mean", node))?.unwrap_or(zero),
                amplitude: value(
                    "amplitude",
                    fields.required("amplitude", "largest deviation from the mean")?,
                )?,
                frequency: fields.required("frequency", "in Hz")?.number("frequency", units, NUMBER)?,
                phase: fields.map("phase", |node| node.number("phase", units, ANGLE))?.unwrap_or(0.0),
            }
        }
        (None, Some(table)) => Signal::Table(knots(table, units, value)?),
        _ => return Err(node.wrong_type(key, FORMS)),
    };
    signal.check().map_err(|fault| node.out_of_range(key, fault))?;
    Ok(signal)
}

fn knots<T>(table: &Node, units: &Units, value: &dyn Fn(&str, &Node) -> Read<T>) -> Read<Vec<(f64, T)>> {
    let mut knots: Vec<(f64, T)> = Vec::new();
    let list = table.list("table", "a list of pairs [time, value]")?;
    if list.is_empty() {
        return Err(table.out_of_range("table", "at least one pair [time, value]"));
    }
    for knot in list {
        let [time_node, value_node] = knot.list_of::<2>("table", "pairs [time, value]")?;
        let time = time_node.number("time", units, NUMBER)?;
        if knots.last().is_some_and(|last| last.0 >= time) {
            return Err(time_node.out_of_range("time", "later than the time before it"));
        }
        knots.push((time, value("value", value_node)?));
    }
    Ok(knots)
}
