//! The thread of a session: executes commands, advances the world at the chosen speed, publishes frames.
//!
//! Per second of wall time the world advances by pace · factor seconds. A tick of 1/60 s takes as many whole steps as fit
//! into the time due; time that cannot be simulated within the tick is dropped, so that a scene that is too heavy runs slowly
//! instead of falling further and further behind.

use super::channels::Channels;
use super::drag::Drags;
use super::loaded_scene::{LoadedScene, SessionContent, built_in};
use super::overlays::{Overlays, SLOW_OVERLAYS, Wanted};
use super::{Request, Shared, View, sent_pose};
use crate::message::{Command, Head, overlay};
use glam::DVec3;
use rattleback_dynamics::simulator::{ContactPoint, StageTimes};
use rattleback_dynamics::{Readout, Registry, Simulator, Status};
use rattleback_scene::status_name;
use serde_json::json;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_micros(16_667);
/// Longest part of a tick that is spent on steps.
const BUDGET: Duration = Duration::from_millis(13);
/// Interval of energies and reports of bodies, whose cost is noticeable in large scenes.
const READOUT_EVERY: Duration = Duration::from_millis(100);
/// Most bodies for which energies are read in every frame while a client plots channels.
const FEW: usize = 2000;
/// Most steps of one `step` command.
const MAX_STEPS: u32 = 10_000;
/// Range of the speed factor.
const SPEEDS: (f64, f64) = (1e-4, 1e4);
/// Most contacts in the report of a body.
const MAX_REPORTED_CONTACTS: usize = 12;

/// Runs the scene or recording that is loaded.
pub struct Player {
    shared: Arc<Shared>,
    registry: Registry,
    loaded: Option<LoadedScene>,
    /// The scene given at the start, which an empty name opens again.
    first: Option<Box<rattleback_scene::Scene>>,
    first_name: String,
    drags: Drags,
    playing: bool,
    factor: f64,
    epoch: u32,
    frame: u32,
    /// Simulated time that is due, s.
    due: f64,
    clock: Instant,
    step_time: f64,
    stage_times: [f64; 4],
    publish_time: f64,
    rate: Rate,
    late: bool,
    head: Head,
    read_at: Option<Instant>,
    readout: Readout,
    channels: Channels,
}

/// Simulated seconds per second of wall time, averaged over half a second.
#[derive(Debug)]
struct Rate {
    since: Instant,
    from: f64,
    value: f64,
}

impl Rate {
    fn update(&mut self, time: f64) {
        let elapsed = self.since.elapsed().as_secs_f64();
        if elapsed > 0.5 || time < self.from {
            self.value = ((time - self.from) / elapsed).max(0.0);
            (self.since, self.from) = (Instant::now(), time);
        }
    }
}

impl Player {
    /// (content, where frames are published, whether it starts running) ⇒ player.
    pub fn new(content: SessionContent, shared: Arc<Shared>, playing: bool) -> Self {
        let registry = Registry::default();
        let (mut first, mut first_name) = (None, String::new());
        if let SessionContent::Scene(name, scene) = &content {
            (first, first_name) = (Some(scene.clone()), name.clone());
        }
        let mut player = Self {
            shared,
            registry,
            loaded: None,
            first,
            first_name,
            drags: Drags::default(),
            playing,
            factor: 1.0,
            epoch: 0,
            frame: 0,
            due: 0.0,
            clock: Instant::now(),
            step_time: 0.0,
            stage_times: [0.0; 4],
            publish_time: 0.0,
            rate: Rate { since: Instant::now(), from: 0.0, value: 0.0 },
            late: false,
            head: Head::default(),
            read_at: None,
            readout: Readout::default(),
            channels: Channels::default(),
        };
        match content.load(&player.registry) {
            Ok(loaded) => player.show(loaded),
            Err(error) => player.shared.view().notify(&error),
        }
        player
    }

    /// Runs until the session closes.
    pub fn run(mut self, requests: &Receiver<Request>) {
        let mut next = Instant::now();
        loop {
            let idle = !self.playing || self.loaded.is_none();
            let wait = if idle {
                Duration::from_millis(200)
            } else {
                next.saturating_duration_since(Instant::now())
            };
            match requests.recv_timeout(wait) {
                Ok(request) => {
                    if self.handle(request) || requests.try_iter().any(|request| self.handle(request)) {
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
            }
            // Also while paused: overlays may have been switched on.
            self.publish();
            next = (next + TICK).max(Instant::now());
        }
    }

    /// Request ⇒ whether it closes the session.
    fn handle(&mut self, request: Request) -> bool {
        let (client, command) = match request {
            Request::Close => return true,
            Request::Disconnected(client) => {
                if let Some(loaded) = &mut self.loaded {
                    self.drags.release(client, &mut loaded.world);
                }
                return false;
            }
            Request::Command(client, command) => (client, command),
        };
        if let Err(error) = self.execute(client, command) {
            self.shared.view().notify(&error);
        }
        false
    }

    fn execute(&mut self, client: u64, command: Command) -> Result<(), String> {
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
        let Some(loaded) = &mut self.loaded else { return Err("no scene is open".into()) };
        let origin = loaded.relative.origin;
        match command {
            Command::Step { count } => {
                self.playing = false;
                for _ in 0..count.clamp(1, MAX_STEPS) {
                    self.step()?;
                }
                Ok(())
            }
            Command::Reset => {
                self.drags.clear();
                loaded.reset(&self.registry)?;
                self.begin_channels();
                self.begin_clock();
                Ok(())
            }
            Command::Simulator { name } => {
                loaded.choose_simulator(&name, &self.registry)?;
                let announcement = loaded.announce(self.epoch, &self.registry);
                self.shared.view().announcement = Some(announcement);
                Ok(())
            }
            Command::Seek { state } => {
                loaded.seek(state as usize)?;
                self.begin_clock();
                Ok(())
            }
            Command::Grab { body, point } => {
                if loaded.simulator().is_none() {
                    return Err("bodies of a recording cannot be dragged".into());
                }
                let Some(body) = loaded.relative.render.bodies.get(body as usize) else {
                    return Err("there is no such body".into());
                };
                let point = origin + DVec3::from_array(point);
                self.drags.grab(client, &mut loaded.world, body.id, point, self.playing)
            }
            Command::Drag { target } => {
                self.drags.drag(client, &mut loaded.world, origin + DVec3::from_array(target))
            }
            Command::Joint { slider, value } => match loaded.sliders.get(slider as usize) {
                Some(slider) => slider.set(&mut loaded.world, value),
                None => Err("there is no such slider".into()),
            },
            Command::Release => {
                self.drags.release(client, &mut loaded.world);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, name: &str) -> Result<(), String> {
        let loaded = match &self.first {
            Some(scene) if name.is_empty() || name == self.first_name => {
                LoadedScene::of_scene(&self.first_name, scene.clone(), &self.registry)?
            }
            _ => built_in(name, &self.registry)?,
        };
        self.playing = true;
        self.factor = 1.0;
        self.show(Some(loaded));
        Ok(())
    }

    /// Replaces the loaded scene.
    fn show(&mut self, loaded: Option<LoadedScene>) {
        self.drags.clear();
        self.loaded = loaded;
        self.epoch += 1;
        self.read_at = None;
        self.begin_channels();
        self.begin_clock();
        let announcement = self.loaded.as_ref().map(|loaded| loaded.announce(self.epoch, &self.registry));
        {
            let mut view = self.shared.view();
            view.announcement = announcement;
            view.poses.clear();
            view.reports.clear();
            view.overlays = Overlays::default();
        }
        self.publish();
    }

    fn begin_channels(&mut self) {
        self.readout = self.loaded.as_ref().map(|loaded| loaded.world.readout()).unwrap_or_default();
        self.channels.begin(self.readout.energy());
    }

    fn begin_clock(&mut self) {
        self.clock = Instant::now();
        self.due = 0.0;
        let time = self.loaded.as_ref().map_or(0.0, LoadedScene::time);
        self.rate = Rate { since: Instant::now(), from: time, value: 0.0 };
    }

    /// Simulates the time due since the last tick.
    fn advance(&mut self) {
        let Some(loaded) = &self.loaded else { return };
        let (dt, speed) = (loaded.dt, loaded.pace() * self.factor);
        // After a pause of the whole process at most a quarter of a second is due.
        self.due += self.clock.elapsed().as_secs_f64().min(0.25) * speed;
        self.clock = Instant::now();
        let deadline = self.clock + BUDGET;
        self.late = false;
        while self.due >= dt && self.playing {
            if let Err(error) = self.step() {
                self.playing = false;
                self.shared.view().notify(&error);
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
        let Some(loaded) = &mut self.loaded else { return Ok(()) };
        let began = Instant::now();
        let more = loaded.step()?;
        let cost = began.elapsed().as_secs_f64();
        self.step_time += 0.1 * (cost - self.step_time);
        let StageTimes { pairs, contacts, solve, motion } =
            loaded.simulator().and_then(Simulator::stage_times).unwrap_or_default();
        for (mean, time) in self.stage_times.iter_mut().zip([pairs, contacts, solve, motion]) {
            *mean += 0.1 * (time - *mean);
        }
        if !more {
            self.playing = false;
        }
        Ok(())
    }

    /// Publishes the present state as a frame.
    fn publish(&mut self) {
        let began = Instant::now();
        self.frame = self.frame.wrapping_add(1);
        let shared = Arc::clone(&self.shared);
        let Some(loaded) = &mut self.loaded else {
            shared.view().head = Head { epoch: self.epoch, frame: self.frame, ..Head::default() };
            shared.announce_frame(self.frame);
            return;
        };
        let (bits, level, watched, plotted) = {
            let view = shared.view();
            let watched: Vec<u32> =
                view.subscriptions.values().filter_map(|subscription| subscription.body).collect();
            let plotted = view.subscriptions.values().any(|subscription| !subscription.channels.is_empty());
            (view.wanted_overlays(), view.wanted_level(), watched, plotted)
        };
        let due = self.read_at.is_none_or(|at| at.elapsed() > READOUT_EVERY) || !self.playing;
        let (mut contacts, mut asleep) = (Vec::new(), Vec::new());
        if let Some(simulator) = loaded.simulator()
            && (due || bits & (overlay::CONTACTS | overlay::SLEEPING) != 0)
        {
            (contacts, asleep) =
                (simulator.contacts(&loaded.world), simulator.sleeping_bodies(&loaded.world));
            (self.head.contacts, self.head.asleep) = (contacts.len() as u32, asleep.len() as u32);
        }
        let wanted = Wanted { bits: if due { bits } else { bits & !SLOW_OVERLAYS }, level };
        let mut overlays = Overlays::read(loaded, wanted, &contacts, &asleep);
        if due {
            self.read_at = Some(Instant::now());
            self.rate.update(loaded.time());
        }
        if due || (plotted && loaded.relative.render.bodies.len() <= FEW) {
            self.readout = loaded.world.readout();
            put_energies(loaded, &self.readout, &mut self.head);
        }
        let mut reports = Vec::new();
        if due {
            reports = watched
                .iter()
                .filter_map(|index| Some((*index, report(loaded, *index, &contacts)?)))
                .collect();
        }
        self.head = Head {
            epoch: self.epoch,
            frame: self.frame,
            playing: self.playing,
            late: self.late && self.playing,
            time: loaded.time(),
            step_ms: 1e3 * self.step_time,
            stages_ms: self.stage_times.map(|time| 1e3 * time),
            publish_ms: 1e3 * self.publish_time,
            rate: if self.playing { self.rate.value } else { 0.0 },
            steps: loaded.world.counters().steps as u32,
            state: match &loaded.source {
                super::loaded_scene::Source::Recorded { state, .. } => *state as u32,
                super::loaded_scene::Source::Simulated { .. } => 0,
            },
            ..self.head
        };
        let mut view = shared.view();
        update_poses(&mut view, loaded, self.frame);
        self.channels.read(&mut view, loaded, &self.readout);
        (self.head.encode_ms, self.head.send_ms) = (1e3 * view.cost.encode, 1e3 * view.cost.send);
        view.head = self.head;
        if !due {
            overlays.keep_slow(&mut view.overlays);
        }
        view.overlays = overlays;
        for (index, text) in reports {
            view.reports.insert(index, (self.frame, text.into()));
        }
        drop(view);
        self.publish_time += 0.1 * (began.elapsed().as_secs_f64() - self.publish_time);
        shared.announce_frame(self.frame);
    }
}

fn update_poses(view: &mut View, loaded: &LoadedScene, frame: u32) {
    let bodies = &loaded.relative.render.bodies;
    let fresh = view.poses.len() != bodies.len();
    if fresh {
        view.poses = vec![([0; 5], frame); bodies.len()];
    }
    for (body, (sent, changed)) in bodies.iter().zip(&mut view.poses) {
        if !fresh && body.status == Status::Fixed {
            continue;
        }
        let Ok(present) = loaded.world.body(body.id) else { continue };
        let pose = sent_pose(&present.pose(), loaded.relative.origin);
        if pose != *sent {
            (*sent, *changed) = (pose, frame);
        }
    }
}

fn put_energies(loaded: &mut LoadedScene, readout: &Readout, head: &mut Head) {
    (head.momentum, head.angular_momentum) = (readout.momentum, readout.angular_momentum);
    (head.kinetic_energy, head.potential_energy) = match loaded.recorded() {
        Some(state) => (state.kinetic_energy, state.potential_energy),
        None => (readout.kinetic_energy, readout.potential_energy),
    };
}

/// Index of a body ⇒ JSON about it.
fn report(loaded: &LoadedScene, index: u32, contacts: &[ContactPoint]) -> Option<String> {
    let render = &loaded.relative.render;
    let entry = render.bodies.get(index as usize)?;
    let body = loaded.world.body(entry.id).ok()?;
    let of_body = contacts.iter().filter(|contact| contact.bodies.contains(&entry.id));
    let listed: Vec<_> = of_body
        .clone()
        .take(MAX_REPORTED_CONTACTS)
        .map(|contact| {
            let other = contact.bodies[usize::from(contact.bodies[0] == entry.id)];
            let name = render.bodies.iter().find(|body| body.id == other).map(|body| body.name.as_str());
            json!({ "with": name, "force": contact.normal_force(), "gap": contact.gap })
        })
        .collect();
    let sleeps = loaded
        .simulator()
        .is_some_and(|simulator| simulator.sleeping_bodies(&loaded.world).contains(&entry.id));
    Some(
        json!({ "body": {
            "index": index,
            "name": entry.name,
            "status": status_name(entry.status),
            "asleep": sleeps,
            "mass": body.mass(),
            "moments": body.inertia().moments.to_array(),
            "position": body.position().to_array(),
            "velocity": body.velocity().to_array(),
            "omega": body.angular_velocity().to_array(),
            "energy": body.kinetic_energy(),
            "contact_count": of_body.count(),
            "contacts": listed,
        }})
        .to_string(),
    )
}
