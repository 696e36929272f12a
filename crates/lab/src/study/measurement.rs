//! What is measured during a run.

use crate::channel::{Channel, ChannelError, body_label};
use rattleback_dynamics::property::suggestion;
use rattleback_dynamics::{BodyId, Event, World};
use rattleback_scene::{StudyResult, Taken};

/// Kinds of events that can be counted.
const EVENTS: [&str; 9] = [
    "collision",
    "contact-began",
    "contact-ended",
    "slept",
    "woke",
    "joint-broke",
    "stalled",
    "left-bounds",
    "quarantined",
];

/// One result that is being measured.
pub(super) struct Measurement {
    what: What,
}

enum What {
    Channels { channels: Vec<Follow>, take: Taken, above: Option<f64>, below: Option<f64>, count: bool },
    Events { kind: &'static str, bodies: Option<Vec<BodyId>>, with: Option<Vec<BodyId>>, count: u64 },
}

/// A channel and what of it is kept.
struct Follow {
    channel: Channel,
    last: Option<(f64, f64)>,
    kept: f64,
    /// ∫ y dt.
    integral: f64,
    start: f64,
    done: bool,
}

/// Whether a name matches a pattern in which `*` stands for any characters.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| matches(after, &rest[at..]))
        }),
    }
}

fn bodies(pattern: &str, world: &World) -> Result<Vec<BodyId>, String> {
    let found: Vec<BodyId> = world
        .iter_bodies()
        .filter(|body| matches(pattern, &body_label(body)))
        .map(|body| body.id())
        .collect();
    if found.is_empty() {
        let names: Vec<String> = world.iter_bodies().map(|body| body_label(&body)).take(20).collect();
        return Err(format!(
            "there is no body `{pattern}`{}; bodies: {}",
            suggestion(pattern, &names),
            names.join(", ")
        ));
    }
    Ok(found)
}

impl Measurement {
    /// (what is measured, world at its start) ⇒ measurement; an error is a message without a place.
    pub fn new(result: &StudyResult, world: &World) -> Result<Self, String> {
        let what = match result {
            StudyResult::Channel { channel, take, above, below } => {
                let names = channel_names(channel, world)?;
                let channels = names.iter().map(|name| {
                    let channel =
                        Channel::parse(name, world).map_err(|error: ChannelError| error.to_string())?;
                    if channel.components.len() != 1 {
                        let known: Vec<&str> = channel.components.clone();
                        return Err(format!(
                            "channel `{name}` has {} components; a result is one number: take one of {}",
                            known.len(),
                            known.join(", ")
                        ));
                    }
                    Ok(Follow {
                        channel,
                        last: None,
                        kept: f64::NAN,
                        integral: 0.0,
                        start: world.time(),
                        done: false,
                    })
                });
                let channels = channels.collect::<Result<Vec<_>, _>>()?;
                let count = *take != Taken::Time && (above.is_some() || below.is_some());
                What::Channels { channels, take: *take, above: *above, below: *below, count }
            }
            StudyResult::Events { kind, body, with } => {
                let known = || EVENTS.map(str::to_owned).to_vec();
                let kind = EVENTS.into_iter().find(|known| *known == kind).ok_or_else(|| {
                    format!(
                        "unknown event `{kind}`{}; events: {}",
                        suggestion(kind, &known()),
                        EVENTS.join(", ")
                    )
                })?;
                let found = |pattern: &Option<String>| {
                    pattern.as_deref().map(|pattern| bodies(pattern, world)).transpose()
                };
                What::Events { kind, bodies: found(body)?, with: found(with)?, count: 0 }
            }
        };
        Ok(Self { what })
    }

    /// Whether it needs the energy ledger.
    pub fn needs_ledger(&self) -> bool {
        matches!(&self.what, What::Channels { channels, .. } if channels.iter().any(|c| c.channel.needs_ledger()))
    }

    /// Whether it looks at the world after each step, and not only at its end.
    pub fn is_continuous(&self) -> bool {
        matches!(&self.what, What::Channels { take, .. } if *take != Taken::Final)
    }

    /// Looks at the world after a step; `last` is true after the last one.
    pub fn observe(&mut self, world: &World, energy_at_start: f64, last: bool) {
        let What::Channels { channels, take, above, below, .. } = &mut self.what else { return };
        if !last && *take == Taken::Final {
            return;
        }
        let (readout, t) = (world.readout(), world.time());
        for follow in channels.iter_mut().filter(|follow| !follow.done) {
            let y = follow.channel.values(world, &readout, energy_at_start)[0];
            follow.add(t, y, *take, (*above, *below));
        }
    }

    /// Counts the events of the last step.
    pub fn count_events(&mut self, world: &World) {
        let What::Events { kind, bodies, with, count } = &mut self.what else { return };
        for event in world.events() {
            let (found, pair) = described(event);
            let among = |set: &Option<Vec<BodyId>>, id: Option<BodyId>| {
                set.as_ref().is_none_or(|set| id.is_some_and(|id| set.contains(&id)))
            };
            let either = |a: Option<BodyId>, b: Option<BodyId>| among(bodies, a) && among(with, b);
            if found == Some(*kind) && (either(pair[0], pair[1]) || either(pair[1], pair[0])) {
                *count += 1;
            }
        }
    }

    /// The result; none if there is none, such as the time of something that did not happen.
    pub fn result(&self) -> Option<f64> {
        let value = match &self.what {
            What::Events { count, .. } => *count as f64,
            What::Channels { channels, take, above, below, count } => {
                let value = |follow: &Follow| match take {
                    Taken::Mean => match follow.last {
                        Some((t, _)) if t > follow.start => follow.integral / (t - follow.start),
                        _ => follow.kept,
                    },
                    _ => follow.kept,
                };
                if *count {
                    channels.iter().filter(|follow| within(value(follow), (*above, *below))).count() as f64
                } else {
                    channels.first().map_or(f64::NAN, value)
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

/// Whether a number is above the first and below the second limit, if they are given.
fn within(y: f64, (above, below): (Option<f64>, Option<f64>)) -> bool {
    above.is_none_or(|limit| y > limit) && below.is_none_or(|limit| y < limit) && !y.is_nan()
}

impl Follow {
    fn add(&mut self, t: f64, y: f64, take: Taken, limits: (Option<f64>, Option<f64>)) {
        match take {
            Taken::Final => self.kept = y,
            Taken::Min => self.kept = self.kept.min(y),
            Taken::Max => self.kept = self.kept.max(y),
            Taken::Mean => {
                if let Some((before, x)) = self.last {
                    // Trapezia.
                    self.integral += 0.5 * (x + y) * (t - before);
                } else {
                    self.kept = y;
                }
            }
            Taken::At(at) => {
                if t >= at {
                    self.kept = match self.last {
                        Some((before, x)) if t > before => x + (y - x) * (at - before) / (t - before),
                        _ => y,
                    };
                    self.done = true;
                }
            }
            Taken::Time => {
                if within(y, limits) {
                    self.kept = t;
                    self.done = true;
                }
            }
        }
        self.last = Some((t, y));
    }
}

/// Channels that a name with `*` stands for.
fn channel_names(channel: &str, world: &World) -> Result<Vec<String>, String> {
    if !channel.contains('*') {
        return Ok(vec![channel.to_owned()]);
    }
    let (pattern, quantity) = channel
        .rsplit_once('.')
        .ok_or_else(|| format!("`{channel}` has no quantity; channels of bodies are like `pin-*.z`"))?;
    let found = bodies(pattern, world)?;
    let label = |id: BodyId| world.body(id).map(|body| body_label(&body));
    Ok(found.into_iter().filter_map(|id| label(id).ok()).map(|label| format!("{label}.{quantity}")).collect())
}

/// Event ⇒ its kind and bodies.
fn described(event: &Event) -> (Option<&'static str>, [Option<BodyId>; 2]) {
    let two = |bodies: &[BodyId; 2]| [Some(bodies[0]), Some(bodies[1])];
    match event {
        Event::Collision { bodies, slow: false, .. } => (Some("collision"), two(bodies)),
        Event::ContactBegan { bodies, .. } => (Some("contact-began"), two(bodies)),
        Event::ContactEnded { bodies, .. } => (Some("contact-ended"), two(bodies)),
        Event::Slept { body, .. } => (Some("slept"), [Some(*body), None]),
        Event::Woke { body, .. } => (Some("woke"), [Some(*body), None]),
        Event::JointBroke { bodies, .. } => (Some("joint-broke"), *bodies),
        Event::Stalled { bodies, .. } => (Some("stalled"), two(bodies)),
        Event::LeftBounds { body, .. } => (Some("left-bounds"), [Some(*body), None]),
        Event::Quarantined { body, .. } => (Some("quarantined"), [Some(*body), None]),
        _ => (None, [None, None]),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_names() {
        for (pattern, name, expected) in [
            ("pin-*", "pin-10", true),
            ("pin-*", "spin-1", false),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("cap", "cap", true),
            ("cap*", "cap[3]", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
