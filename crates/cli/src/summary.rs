//! The summary of a run.

use crate::table::{Table, number};
use glam::DVec3;
use rattleback_dynamics::world::{BodyRef, WorkSource};
use rattleback_dynamics::{BodyId, EnergyLedger, Event, Readout, Status, World};
use rattleback_scene::status_name;
use std::io::{self, Write};
use std::time::Duration;

/// Counters and events of a run.
#[derive(Debug, Default)]
pub struct Tally {
    steps: u64,
    substeps: u64,
    rejected: u64,
    force_evaluations: u64,
    quarantined: u64,
    left_bounds: u64,
    collisions: u64,
    contacts_begun: u64,
    contacts_ended: u64,
    fallen_asleep: u64,
    woken: u64,
    energy_gained: u64,
    other_events: u64,
    /// The first few events in words.
    listed: Vec<String>,
}

/// Most events listed in words; all are counted.
const LISTED: usize = 5;

impl Tally {
    /// Adds counters and events of the last step.
    pub fn count(&mut self, world: &World) {
        let counters = world.counters();
        self.steps += 1;
        self.substeps += counters.substeps;
        self.rejected += counters.rejected;
        self.force_evaluations += counters.force_evaluations;
        for event in world.events() {
            let (count, what, body, time) = match event {
                Event::Quarantined { body, time } => {
                    (&mut self.quarantined, "was quarantined: its state turned non-finite", body, time)
                }
                Event::LeftBounds { body, time } => {
                    (&mut self.left_bounds, "left the bounds of the world", body, time)
                }
                Event::Collision { .. } => {
                    self.collisions += 1;
                    continue;
                }
                Event::EnergyGained { time, gained, category, source, point } => {
                    self.energy_gained += 1;
                    if self.listed.len() < LISTED {
                        let place = at(world, *source, *point);
                        let (time, gained) = (number(*time, 6), number(*gained, 3));
                        self.listed
                            .push(format!("t = {time} s: gained {gained} J by {}{place}", category.name()));
                    }
                    continue;
                }
                other => {
                    *match other {
                        Event::ContactBegan { .. } => &mut self.contacts_begun,
                        Event::ContactEnded { .. } => &mut self.contacts_ended,
                        Event::Slept { .. } => &mut self.fallen_asleep,
                        Event::Woke { .. } => &mut self.woken,
                        _ => &mut self.other_events,
                    } += 1;
                    continue;
                }
            };
            *count += 1;
            if self.listed.len() < LISTED {
                let name = world.body(*body).map_or_else(|_| body.to_string(), |body| shown_body(&body));
                self.listed.push(format!("t = {} s: {name} {what}", number(*time, 6)));
            }
        }
    }

    fn events(&self) -> String {
        let counted = [
            (self.quarantined, "quarantined"),
            (self.left_bounds, "left the bounds"),
            (self.collisions, "collisions"),
            (self.contacts_begun, "contacts began"),
            (self.contacts_ended, "ended"),
            (self.fallen_asleep, "bodies fell asleep"),
            (self.woken, "woke"),
            (self.energy_gained, "gains of energy"),
            (self.other_events, "other"),
        ];
        let some: Vec<_> = counted
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if some.is_empty() { "none".into() } else { some.join(", ") }
    }
}

/// A run from its first state to its last.
#[derive(Debug)]
pub struct Summary<'a> {
    /// Title.
    pub title: &'a str,
    /// Name and integrator of the simulator.
    pub simulator: String,
    /// World at the end.
    pub world: &'a World,
    /// Energies and momenta at the beginning.
    pub start: Readout,
    /// Length of a step, s.
    pub dt: f64,
    /// Wall time of steps and recording.
    pub wall: Duration,
    /// Counters and events.
    pub tally: Tally,
    /// Descriptions of the written files.
    pub files: Vec<String>,
}

impl Summary<'_> {
    /// Prints it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (start, end, tally) = (&self.start, self.world.readout(), &self.tally);
        let simulated = end.time - start.time;
        let wall = self.wall.as_secs_f64();
        let mut table = Table::headless();
        let mut row = |name: &str, value: String| table.row(vec![name.into(), value]);
        row("simulator", self.simulator.clone());
        row(
            "simulated time",
            format!("{} s in {} steps of {} s", number(simulated, 7), tally.steps, number(self.dt, 7)),
        );
        if tally.steps > 0 && wall > 0.0 {
            let (rate, ratio) = (tally.steps as f64 / wall, simulated / wall);
            row(
                "wall time",
                format!(
                    "{} s: {} steps/s, {} × real time",
                    number(wall, 3),
                    number(rate, 3),
                    number(ratio, 3)
                ),
            );
        }
        row("bodies", body_counts(self.world));
        row("energy", change(start.energy(), end.energy(), "J"));
        if let Some(ledger) = self.world.energy_ledger() {
            row("work", works(ledger));
        }
        row("momentum", vectors(start.momentum, end.momentum, "kg·m/s"));
        row("angular momentum", vectors(start.angular_momentum, end.angular_momentum, "kg·m²/s"));
        let counters = format!(
            "{} sub-steps, {} rejected, {} force evaluations",
            tally.substeps, tally.rejected, tally.force_evaluations
        );
        row("counters", counters);
        row("events", tally.events());
        for event in &tally.listed {
            row("", event.clone());
        }
        for file in &self.files {
            row("written", file.clone());
        }
        writeln!(out, "{}", self.title)?;
        table.write(out)
    }
}

/// Body ⇒ its name in backquotes, or its id, such as `body 3v0`.
pub fn shown_body(body: &BodyRef<'_>) -> String {
    body.name().map_or_else(|| body.id().to_string(), |name| format!("`{name}`"))
}

/// Numbers of bodies by status, such as "3 dynamic, 1 static".
pub fn body_counts(world: &World) -> String {
    let bodies = world.bodies();
    let kinds = [Status::Dynamic, Status::Kinematic, Status::Fixed, Status::Disabled];
    let present = kinds.iter().filter(|status| bodies.count(**status) > 0);
    let counts: Vec<_> =
        present.map(|status| format!("{} {}", bodies.count(*status), status_name(*status))).collect();
    if counts.is_empty() { "none".into() } else { counts.join(", ") }
}

/// Total work by category, without categories that did none or only rounding.
fn works(ledger: &EnergyLedger) -> String {
    let largest = ledger.iter().map(|(_, work)| work.total.abs()).fold(0.0, f64::max);
    let counts = |work: f64| work.abs() > 1e-12 * largest;
    let some: Vec<_> = ledger
        .iter()
        .filter(|(_, work)| counts(work.total))
        .map(|(category, work)| format!("{} {}", category.name(), number(work.total, 4)))
        .collect();
    if some.is_empty() { "none".into() } else { format!("{} J", some.join(", ")) }
}

/// The place and source of work, in words.
fn at(world: &World, source: WorkSource, point: Option<DVec3>) -> String {
    let body = |id: BodyId| world.body(id).map_or_else(|_| id.to_string(), |body| shown_body(&body));
    let what = match source {
        WorkSource::World => String::new(),
        WorkSource::Multibody(id) => format!(" in the joints of {}", world.multibody_label(id)),
        WorkSource::Body(id) => format!(" on {}", body(id)),
        WorkSource::Pair([a, b]) => format!(" between {} and {}", body(a), body(b)),
        WorkSource::Joint(id) => match world.joint(id).ok().and_then(|joint| joint.name()) {
            Some(name) => format!(" of `{name}`"),
            None => format!(" of {id}"),
        },
        WorkSource::Force(id) => match world.iter_forces().find(|(other, ..)| *other == id) {
            Some((_, Some(name), _)) => format!(" of `{name}`"),
            _ => format!(" of {id}"),
        },
    };
    let place = point.map(|p| format!(" at ({}, {}, {}) m", number(p.x, 4), number(p.y, 4), number(p.z, 4)));
    what + place.unwrap_or_default().as_str()
}

fn change(start: f64, end: f64, unit: &str) -> String {
    let change = end - start;
    let relative =
        if start == 0.0 { String::new() } else { format!(", relative {}", number(change / start.abs(), 2)) };
    format!("{} → {} {unit}: change {}{relative}", number(start, 7), number(end, 7), number(change, 2))
}

fn vectors(start: DVec3, end: DVec3, unit: &str) -> String {
    // The remainder of a cancelled sum is rounding noise.
    let noise = 1e-13 * start.abs().max(end.abs()).max_element();
    let shown = |v: DVec3| {
        let [x, y, z] = v.to_array().map(|x| number(if x.abs() <= noise { 0.0 } else { x }, 5));
        format!("({x}, {y}, {z})")
    };
    format!("{} → {} {unit}: change {}", shown(start), shown(end), number((end - start).length(), 2))
}
