//! The thread that plays: takes orders, lets time pass at the speed asked for, shows what came of it.
//!
//! In a second of the clock the world is to advance by pace · factor seconds. A tick of 1/60 s takes as many whole steps as fit
//! into what is due; what cannot be done within the tick is dropped, not made up for, so that a scene that is too heavy runs
//! slowly instead of running away.

use super::channels::Channels;
use super::grip::Grips;
use super::instruments::{Instruments, SLOW_LAYERS, Wanted};
use super::program::{Act, Program, built_in};
use super::{Order, Shared, View, sent_pose};
use crate::message::{Command, Head, layer};
use glam::DVec3;
use rattleback_dynamics::simulator::{StageTimes, TouchPoint};
use rattleback_dynamics::{Readout, Registry, Simulator, Status};
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_micros(16_667);
/// How much of a tick may be spent on steps.
const BUDGET: Duration = Duration::from_millis(13);
/// Energies and bodies looked at closely are told so often, and cost something in large scenes.
const READOUT_EVERY: Duration = Duration::from_millis(100);
/// So few bodies are read out for every frame if somebody plots channels.
const FEW: usize = 2000;
/// A step more than this at once is refused.
const MAX_STEPS: u32 = 10_000;
const SPEEDS: (f64, f64) = (1e-4, 1e4);
/// Contacts told of a body that is looked at closely.
const MAX_CONTACTS_TOLD: usize = 12;

/// Plays what is on.
pub struct Player {
    shared: Arc<Shared>,
    registry: Registry,
    act: Option<Act>,
    /// The scene given at the start, to come back to.
    first: Option<Box<rattleback_scene::Scene>>,
    first_name: String,
    grips: Grips,
    playing: bool,
    factor: f64,
    epoch: u32,
    frame: u32,
    /// Simulated time that is due, s.
    due: f64,
    clock: Instant,
    step_time: f64,
    stage_times: [f64; 4],
    look_time: f64,
    rate: Rate,
    late: bool,
    head: Head,
    read_at: Option<Instant>,
    readout: Readout,
    channels: Channels,
}

/// How fast time passes on the stage, seen over half a second.
#[derive(Debug)]
struct Rate {
    since: Instant,
    from: f64,
    value: f64,
}

impl Rate {
    fn look(&mut self, time: f64) {
        let elapsed = self.since.elapsed().as_secs_f64();
        if elapsed > 0.5 || time < self.from {
            self.value = ((time - self.from) / elapsed).max(0.0);
            (self.since, self.from) = (Instant::now(), time);
        }
    }
}

impl Player {
    /// What is on, where to show it, whether it starts by itself ⇒ player.
    pub fn new(program: Program, shared: Arc<Shared>, playing: bool) -> Self {
        let registry = Registry::default();
        let (mut first, mut first_name) = (None, String::new());
        if let Program::Scene(name, scene) = &program {
            (first, first_name) = (Some(scene.clone()), name.clone());
        }
        let mut player = Self {
            shared,
            registry,
            act: None,
            first,
            first_name,
            grips: Grips::default(),
            playing,
            factor: 1.0,
            epoch: 0,
            frame: 0,
            due: 0.0,
            clock: Instant::now(),
            step_time: 0.0,
            stage_times: [0.0; 4],
            look_time: 0.0,
            rate: Rate { since: Instant::now(), from: 0.0, value: 0.0 },
            late: false,
            head: Head::default(),
            read_at: None,
            readout: Readout::default(),
            channels: Channels::default(),
        };
        match program.act(&player.registry) {
            Ok(act) => player.raise(act),
            Err(error) => player.shared.view().tell(&error),
        }
        player
    }

    /// Plays until told to close.
    pub fn perform(mut self, orders: &Receiver<Order>) {
        let mut next = Instant::now();
        loop {
            let idle = !self.playing || self.act.is_none();
            let wait = if idle {
                Duration::from_millis(200)
            } else {
                next.saturating_duration_since(Instant::now())
            };
            match orders.recv_timeout(wait) {
                Ok(order) => {
                    if self.obey(order) || orders.try_iter().any(|order| self.obey(order)) {
                        return;
                    }
                    if idle {
                        self.publish();
                    }
                    if Instant::now() < next {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.playing {
                self.advance();
                self.publish();
            } else {
                // Instruments may have been switched on meanwhile.
                self.publish();
            }
            next = (next + TICK).max(Instant::now());
        }
    }

    /// Order ⇒ whether it was the last.
    fn obey(&mut self, order: Order) -> bool {
        let (client, command) = match order {
            Order::Close => return true,
            Order::Gone(client) => {
                if let Some(act) = &mut self.act {
                    self.grips.release(client, &mut act.world);
                }
                return false;
            }
            Order::From(client, command) => (client, command),
        };
        if let Err(error) = self.carry_out(client, command) {
            self.shared.view().tell(&error);
        }
        false
    }

    fn carry_out(&mut self, client: u64, command: Command) -> Result<(), String> {
        match command {
            Command::Open { scene } => return self.open(&scene),
            Command::Speed { factor } => {
                if !(SPEEDS.0..=SPEEDS.1).contains(&factor) {
                    return Err(format!("a speed must be in [{}, {}]", SPEEDS.0, SPEEDS.1));
                }
                self.factor = factor;
                return Ok(());
            }
            Command::Pause => {
                self.playing = false;
                return Ok(());
            }
            Command::Play => {
                self.playing = true;
                self.begin_clock();
                return Ok(());
            }
            _ => {}
        }
        let Some(act) = &mut self.act else { return Err("no scene is open".into()) };
        let origin = act.scenery.origin;
        match command {
            Command::Step { count } => {
                self.playing = false;
                for _ in 0..count.clamp(1, MAX_STEPS) {
                    self.step()?;
                }
                Ok(())
            }
            Command::Reset => {
                self.grips.clear();
                act.reset(&self.registry)?;
                self.begin_channels();
                self.begin_clock();
                Ok(())
            }
            Command::Simulator { name } => {
                act.choose_simulator(&name, &self.registry)?;
                let announcement = act.announce(self.epoch, &self.registry);
                self.shared.view().announcement = Some(announcement);
                Ok(())
            }
            Command::Seek { state } => {
                act.seek(state as usize)?;
                self.begin_clock();
                Ok(())
            }
            Command::Grab { body, point } => {
                if act.simulator().is_none() {
                    return Err("a recording cannot be pulled about".into());
                }
                let Some(body) = act.scenery.look.bodies.get(body as usize) else {
                    return Err("there is no such body".into());
                };
                self.grips.grab(client, &mut act.world, body.id, origin + DVec3::from_array(point))
            }
            Command::Drag { target } => {
                self.grips.drag(client, &mut act.world, origin + DVec3::from_array(target))
            }
            Command::Release => {
                self.grips.release(client, &mut act.world);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, name: &str) -> Result<(), String> {
        let act = match &self.first {
            Some(scene) if name.is_empty() || name == self.first_name => {
                Act::of_scene(&self.first_name, scene.clone(), &self.registry)?
            }
            _ => built_in(name, &self.registry)?,
        };
        self.playing = true;
        self.factor = 1.0;
        self.raise(Some(act));
        Ok(())
    }

    /// Puts another act on the stage.
    fn raise(&mut self, act: Option<Act>) {
        self.grips.clear();
        self.act = act;
        self.epoch += 1;
        self.read_at = None;
        self.begin_channels();
        self.begin_clock();
        let announcement = self.act.as_ref().map(|act| act.announce(self.epoch, &self.registry));
        {
            let mut view = self.shared.view();
            view.announcement = announcement;
            view.poses.clear();
            view.reports.clear();
            view.instruments = Instruments::default();
        }
        self.publish();
    }

    fn begin_channels(&mut self) {
        self.readout = self.act.as_ref().map(|act| act.world.readout()).unwrap_or_default();
        self.channels.begin(self.readout.energy());
    }

    fn begin_clock(&mut self) {
        self.clock = Instant::now();
        self.due = 0.0;
        let time = self.act.as_ref().map_or(0.0, Act::time);
        self.rate = Rate { since: Instant::now(), from: time, value: 0.0 };
    }

    /// Lets pass what is due since the last tick.
    fn advance(&mut self) {
        let Some(act) = &self.act else { return };
        let (dt, speed) = (act.dt, act.pace() * self.factor);
        // After a pause of the whole program nothing is to be made up for.
        self.due += self.clock.elapsed().as_secs_f64().min(0.25) * speed;
        self.clock = Instant::now();
        let deadline = self.clock + BUDGET;
        self.late = false;
        while self.due >= dt && self.playing {
            if let Err(error) = self.step() {
                self.playing = false;
                self.shared.view().tell(&error);
            }
            self.due -= dt;
            if Instant::now() > deadline {
                self.late = self.due > 2.0 * dt;
                self.due = self.due.min(dt);
                break;
            }
        }
    }

    fn step(&mut self) -> Result<(), String> {
        let Some(act) = &mut self.act else { return Ok(()) };
        let began = Instant::now();
        let more = act.step()?;
        let cost = began.elapsed().as_secs_f64();
        self.step_time += 0.1 * (cost - self.step_time);
        let StageTimes { pairs, contacts, solve, motion } =
            act.simulator().and_then(Simulator::stage_times).unwrap_or_default();
        for (mean, time) in self.stage_times.iter_mut().zip([pairs, contacts, solve, motion]) {
            *mean += 0.1 * (time - *mean);
        }
        if !more {
            self.playing = false;
        }
        Ok(())
    }

    /// Shows the stage as it is.
    fn publish(&mut self) {
        let began = Instant::now();
        self.frame = self.frame.wrapping_add(1);
        let shared = Arc::clone(&self.shared);
        let Some(act) = &mut self.act else {
            shared.view().head = Head { epoch: self.epoch, frame: self.frame, ..Head::default() };
            shared.announce_frame(self.frame);
            return;
        };
        let (layers, level, watched, plotted) = {
            let view = shared.view();
            let watched: Vec<u32> = view.wishes.values().filter_map(|wish| wish.body).collect();
            let plotted = view.wishes.values().any(|wish| !wish.channels.is_empty());
            (view.wanted_layers(), view.wanted_level(), watched, plotted)
        };
        let due = self.read_at.is_none_or(|at| at.elapsed() > READOUT_EVERY) || !self.playing;
        let (mut contacts, mut asleep) = (Vec::new(), Vec::new());
        if let Some(simulator) = act.simulator()
            && (due || layers & (layer::CONTACTS | layer::SLEEPING) != 0)
        {
            (contacts, asleep) = (simulator.contacts(&act.world), simulator.sleepers(&act.world));
            (self.head.contacts, self.head.asleep) = (contacts.len() as u32, asleep.len() as u32);
        }
        let wanted = Wanted { layers: if due { layers } else { layers & !SLOW_LAYERS }, level };
        let mut instruments = Instruments::read(act, wanted, &contacts, &asleep);
        if due {
            self.read_at = Some(Instant::now());
            self.rate.look(act.time());
        }
        if due || (plotted && act.scenery.look.bodies.len() <= FEW) {
            self.readout = act.world.readout();
            tell_energies(act, &self.readout, &mut self.head);
        }
        let mut reports = Vec::new();
        if due {
            reports =
                watched.iter().filter_map(|index| Some((*index, report(act, *index, &contacts)?))).collect();
        }
        self.head = Head {
            epoch: self.epoch,
            frame: self.frame,
            playing: self.playing,
            late: self.late && self.playing,
            time: act.time(),
            step_ms: 1e3 * self.step_time,
            stages_ms: self.stage_times.map(|time| 1e3 * time),
            look_ms: 1e3 * self.look_time,
            rate: if self.playing { self.rate.value } else { 0.0 },
            steps: act.world.counters().steps as u32,
            state: match &act.source {
                super::program::Source::Recorded { state, .. } => *state as u32,
                super::program::Source::Simulated { .. } => 0,
            },
            ..self.head
        };
        let mut view = shared.view();
        update_poses(&mut view, act, self.frame);
        self.channels.read(&mut view, act, &self.readout);
        (self.head.encode_ms, self.head.send_ms) = (1e3 * view.post.encode, 1e3 * view.post.send);
        view.head = self.head;
        if !due {
            instruments.keep_slow(&mut view.instruments);
        }
        view.instruments = instruments;
        for (index, text) in reports {
            view.reports.insert(index, (self.frame, text.into()));
        }
        drop(view);
        self.look_time += 0.1 * (began.elapsed().as_secs_f64() - self.look_time);
        shared.announce_frame(self.frame);
    }
}

fn update_poses(view: &mut View, act: &Act, frame: u32) {
    let bodies = &act.scenery.look.bodies;
    let fresh = view.poses.len() != bodies.len();
    if fresh {
        view.poses = vec![([0; 5], frame); bodies.len()];
    }
    for (body, (sent, changed)) in bodies.iter().zip(&mut view.poses) {
        if !fresh && body.status == Status::Fixed {
            continue;
        }
        let Ok(present) = act.world.body(body.id) else { continue };
        let pose = sent_pose(&present.pose(), act.scenery.origin);
        if pose != *sent {
            (*sent, *changed) = (pose, frame);
        }
    }
}

fn tell_energies(act: &mut Act, readout: &Readout, head: &mut Head) {
    (head.momentum, head.angular_momentum) = (readout.momentum, readout.angular_momentum);
    (head.kinetic_energy, head.potential_energy) = match act.recorded() {
        Some(state) => (state.kinetic_energy, state.potential_energy),
        None => (readout.kinetic_energy, readout.potential_energy),
    };
}

/// Index of a body ⇒ JSON about it.
fn report(act: &Act, index: u32, contacts: &[TouchPoint]) -> Option<String> {
    let look = &act.scenery.look;
    let entry = look.bodies.get(index as usize)?;
    let body = act.world.body(entry.id).ok()?;
    let touching = contacts.iter().filter(|touch| touch.bodies.contains(&entry.id));
    let told: Vec<_> = touching
        .clone()
        .take(MAX_CONTACTS_TOLD)
        .map(|touch| {
            let other = touch.bodies[usize::from(touch.bodies[0] == entry.id)];
            let name = look.bodies.iter().find(|body| body.id == other).map(|body| body.name.as_str());
            json!({ "with": name, "force": touch.force, "gap": touch.gap })
        })
        .collect();
    let sleeps = act.simulator().is_some_and(|simulator| simulator.sleepers(&act.world).contains(&entry.id));
    Some(
        json!({ "body": {
            "index": index,
            "name": entry.name,
            "status": format!("{:?}", entry.status).to_lowercase(),
            "asleep": sleeps,
            "mass": body.mass(),
            "moments": body.inertia().moments.to_array(),
            "position": body.position().to_array(),
            "velocity": body.velocity().to_array(),
            "omega": body.angular_velocity().to_array(),
            "energy": body.kinetic_energy(),
            "contact_count": touching.count(),
            "contacts": told,
        }})
        .to_string(),
    )
}
