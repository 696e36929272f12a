//! Copies of a body on a line or grid, with random differences.

use super::MAX_BODIES;
use crate::document::{Content, Fields, Node};
use crate::error::Problem;
use crate::source::{Fault, Read, Span};
use crate::units::{ANGLE, Dimension, LENGTH, NUMBER, Units};
use glam::DVec3;

/// How a body is copied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Repeat {
    pub span: Option<Span>,
    count: [usize; 3],
    /// From one copy to the next along each direction of the grid.
    steps: [DVec3; 3],
    /// Largest random displacement of each coordinate.
    pub jitter: f64,
    pub velocity_jitter: f64,
    pub angular_velocity_jitter: f64,
    pub random_orientation: bool,
    /// Smallest and largest random size, as a factor.
    pub scale: Option<(f64, f64)>,
}

impl Default for Repeat {
    /// The body itself.
    fn default() -> Self {
        Self {
            span: None,
            count: [1; 3],
            steps: [DVec3::ZERO; 3],
            jitter: 0.0,
            velocity_jitter: 0.0,
            angular_velocity_jitter: 0.0,
            random_orientation: false,
            scale: None,
        }
    }
}

const KEYS: &[&str] = &[
    "count",
    "spacing",
    "jitter",
    "velocity_jitter",
    "angular_velocity_jitter",
    "random_orientation",
    "scale",
];

impl Repeat {
    /// The `repeat` table of a body.
    pub fn read(node: &Node, units: &Units) -> Read<Self> {
        let fields = Fields::of("repeat", node, KEYS)?;
        let spacing =
            fields.map("spacing", |node| node.vector("spacing", units, LENGTH))?.unwrap_or_default();
        let count_node = fields.required("count", "how many copies: a number or [nx, ny, nz]")?;
        let (count, steps) = read_count(count_node, spacing)?;
        let jitter = |key: &str, dimension: Dimension| {
            fields.map(key, |node| node.non_negative(key, units, dimension)).map(Option::unwrap_or_default)
        };
        Ok(Self {
            span: Some(count_node.span),
            count,
            steps,
            jitter: jitter("jitter", LENGTH)?,
            velocity_jitter: jitter("velocity_jitter", LENGTH)?,
            angular_velocity_jitter: jitter("angular_velocity_jitter", ANGLE)?,
            random_orientation: fields
                .map("random_orientation", |node| node.flag("random_orientation"))?
                .unwrap_or_default(),
            scale: fields.map("scale", |node| read_scale(node, units))?,
        })
    }

    /// How many bodies this makes; at most [`MAX_BODIES`].
    pub fn copies(&self) -> usize {
        self.count.iter().product()
    }

    /// Offsets of the copies from the first one, in the order of their indices: x varies fastest.
    pub fn offsets(&self) -> impl Iterator<Item = DVec3> + '_ {
        let [nx, ny, nz] = self.count;
        (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k]))).map(|index| {
            (0..3).fold(DVec3::ZERO, |offset, axis| offset + self.steps[axis] * index[axis] as f64)
        })
    }
}

fn read_count(node: &Node, spacing: DVec3) -> Read<([usize; 3], [DVec3; 3])> {
    let whole = |node: &Node| Ok::<usize, Fault>(node.integer_within("count", 1, i64::MAX)? as usize);
    let (count, steps) = match &node.content {
        Content::List(_) => {
            let [x, y, z] = node.list_of::<3>("count", "a whole number or three of them [nx, ny, nz]")?;
            let steps = [DVec3::X * spacing, DVec3::Y * spacing, DVec3::Z * spacing];
            ([whole(x)?, whole(y)?, whole(z)?], steps)
        }
        _ => ([whole(node)?, 1, 1], [spacing, DVec3::ZERO, DVec3::ZERO]),
    };
    let total = count.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
    if total.is_none_or(|total| total > MAX_BODIES) {
        let found = total.map_or_else(|| "more than can be counted".into(), |total| total.to_string());
        return Err(Fault::new(node.span, Problem::Limit { what: "bodies", found, limit: MAX_BODIES }));
    }
    Ok((count, steps))
}

fn read_scale(node: &Node, units: &Units) -> Read<(f64, f64)> {
    let [low, high] = node.list_of::<2>("scale", "two numbers [smallest, largest]")?;
    let range = (low.positive("scale", units, NUMBER)?, high.positive("scale", units, NUMBER)?);
    if range.0 <= range.1 {
        Ok(range)
    } else {
        Err(high.out_of_range("scale", "at least the smallest scale"))
    }
}
