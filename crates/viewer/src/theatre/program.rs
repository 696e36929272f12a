//! What can be on: a scene that is simulated, or a recording that is played back.

use super::{Announcement, Scenery};
use crate::message::cast;
use glam::DVec3;
use rattleback_dynamics::registry::Description;
use rattleback_dynamics::{Properties, Registry, Simulator, Value, World};
use rattleback_scene::recording::{RecordedState, Recording};
use rattleback_scene::{Scene, Stage, built_ins};
use serde_json::json;

/// What a theatre was opened with.
#[derive(Debug, Default)]
pub enum Program {
    /// Nothing yet: the audience chooses from the gallery.
    #[default]
    Gallery,
    /// A scene, and what to call it.
    Scene(String, Box<Scene>),
    /// A recording, and what to call it.
    Recording(String, Box<Recording>),
    /// A world built by a program, and what moves it.
    Stage(Box<Stage>),
}

/// What moves the world that is on.
#[derive(Debug)]
pub(super) enum Source {
    Simulated { simulator: Box<dyn Simulator>, scene: Option<Box<Scene>> },
    Recorded { recording: Box<Recording>, state: usize },
}

/// What is on.
#[derive(Debug)]
pub(super) struct Act {
    pub name: String,
    pub title: String,
    pub description: String,
    pub world: World,
    pub source: Source,
    pub dt: f64,
    pub duration: f64,
    /// Channels that the scene suggests to plot.
    pub plot: Vec<String>,
    pub scenery: Scenery,
}

/// More bodies than this are more than a browser can hold.
const MAX_SHOWN: usize = 300_000;
/// With fewer bodies than this, threads are not worth waking.
const MANY: usize = 4000;
/// More threads than this only wait for each other.
const MAX_THREADS: usize = 8;
/// A run of at least so many seconds, and at most so many, is shown at its own pace; others in about ten seconds.
const WATCHABLE: (f64, f64) = (0.4, 3600.0);

/// Channels that are offered of a world as a whole, and of each body behind its name and a dot.
const WORLD_CHANNELS: [&str; 4] = ["energy.drift", "momentum", "angular_momentum", "work"];
const BODY_CHANNELS: [&str; 6] = ["position", "velocity", "omega", "speed", "kinetic_energy", "orientation"];

impl Act {
    pub fn of_stage(name: &str, scene: Option<Box<Scene>>, stage: Stage) -> Self {
        let scenery = Scenery::of(&stage.world);
        let source = Source::Simulated { simulator: stage.simulator, scene };
        Self {
            name: name.into(),
            title: stage.title,
            description: stage.description,
            world: stage.world,
            source,
            dt: stage.dt,
            duration: stage.duration,
            plot: stage.plot,
            scenery,
        }
    }

    pub fn of_scene(name: &str, scene: Box<Scene>, registry: &Registry) -> Result<Self, String> {
        let stage = scene.build(registry).map_err(|error| error.to_string())?;
        let bodies = stage.world.bodies().len();
        if bodies > MAX_SHOWN {
            return Err(format!("{name} has {bodies} bodies; a page can show {MAX_SHOWN}"));
        }
        let simulator = spread(stage.simulator, bodies, registry);
        Ok(Self::of_stage(name, Some(scene), Stage { simulator, ..stage }))
    }

    pub fn of_recording(
        name: &str,
        mut recording: Box<Recording>,
        registry: &Registry,
    ) -> Result<Self, String> {
        let (mut world, _) = recording.opening(registry).map_err(|error| error.to_string())?;
        recording.show(0, &mut world).map_err(|error| error.to_string())?;
        let scenery = Scenery::of(&world);
        let last = recording.len() - 1;
        let mean_step = (recording.time(last) - recording.time(0)) / last.max(1) as f64;
        Ok(Self {
            name: name.into(),
            title: recording.title.clone(),
            description: String::new(),
            world,
            dt: if mean_step > 0.0 { mean_step } else { recording.dt },
            duration: recording.time(last),
            plot: Vec::new(),
            source: Source::Recorded { recording, state: 0 },
            scenery,
        })
    }

    /// Simulated seconds in a second at speed 1.
    pub fn pace(&self) -> f64 {
        if (WATCHABLE.0..=WATCHABLE.1).contains(&self.duration) || self.duration <= 0.0 {
            return 1.0;
        }
        // A round number.
        10f64.powf((self.duration / 10.0).log10().round())
    }

    /// s.
    pub fn time(&self) -> f64 {
        match &self.source {
            Source::Simulated { .. } => self.world.time(),
            Source::Recorded { recording, state } => recording.time(*state),
        }
    }

    /// What moves the world, if it is not a recording.
    pub fn simulator(&self) -> Option<&dyn Simulator> {
        match &self.source {
            Source::Simulated { simulator, .. } => Some(&**simulator),
            Source::Recorded { .. } => None,
        }
    }

    /// One step, or one state ⇒ whether there is more to come.
    pub fn step(&mut self) -> Result<bool, String> {
        match &mut self.source {
            Source::Simulated { simulator, .. } => {
                simulator
                    .step(&mut self.world, self.dt)
                    .map_err(|error| self.world.with_names(&error.to_string()))?;
                Ok(true)
            }
            Source::Recorded { state, .. } => {
                let next = *state + 1;
                self.seek(next)
            }
        }
    }

    /// Goes to a state of a recording ⇒ whether there is more to come.
    pub fn seek(&mut self, wanted: usize) -> Result<bool, String> {
        let Source::Recorded { recording, state } = &mut self.source else {
            return Err("only recordings can be scrubbed".into());
        };
        let last = recording.len() - 1;
        *state = wanted.min(last);
        recording.show(*state, &mut self.world).map_err(|error| error.to_string())?;
        Ok(*state < last)
    }

    /// The state a recording shows.
    pub fn recorded(&mut self) -> Option<RecordedState> {
        let Source::Recorded { recording, state } = &mut self.source else { return None };
        recording.state(*state).ok().cloned()
    }

    /// Begins anew.
    pub fn reset(&mut self, registry: &Registry) -> Result<(), String> {
        let chosen = self.simulator().map(Simulator::description);
        match &mut self.source {
            Source::Recorded { .. } => self.seek(0).map(|_| ()),
            Source::Simulated { simulator, scene: Some(scene) } => {
                let stage = scene.build(registry).map_err(|error| error.to_string())?;
                *simulator = spread(stage.simulator, stage.world.bodies().len(), registry);
                self.world = stage.world;
                // Who has chosen another simulator wants to see the same scene with that.
                if let Some(chosen) = chosen.filter(|chosen| *chosen != simulator.description())
                    && let Ok(other) = registry.simulators.make(&chosen.type_name, &chosen.properties)
                {
                    *simulator = other;
                }
                Ok(())
            }
            Source::Simulated { scene: None, .. } => {
                Err("this world was built by a program and cannot be built again here".into())
            }
        }
    }

    /// Goes on with another simulator.
    pub fn choose_simulator(&mut self, name: &str, registry: &Registry) -> Result<(), String> {
        let Source::Simulated { simulator, .. } = &mut self.source else {
            return Err("a recording has no simulator to choose".into());
        };
        let chosen = registry.simulators.make(name, &Properties::new()).map_err(|error| error.to_string())?;
        *simulator = spread(chosen, self.world.bodies().len(), registry);
        Ok(())
    }

    /// (epoch, registry) ⇒ what the audience is told about it.
    pub fn announce(&self, epoch: u32, registry: &Registry) -> Announcement {
        let Scenery { look, origin } = &self.scenery;
        let simulators: Vec<_> = registry
            .simulators
            .iter()
            .map(|entry| json!({ "name": entry.name, "doc": entry.doc.lines().next() }))
            .collect();
        let states = match &self.source {
            Source::Recorded { recording, .. } => Some(recording.len()),
            Source::Simulated { .. } => None,
        };
        let text = json!({ "scene": {
            "epoch": epoch,
            "name": self.name,
            "title": if self.title.is_empty() { &self.name } else { &self.title },
            "description": self.description,
            "dt": self.dt,
            "duration": self.duration,
            "pace": self.pace(),
            "up": look.y_up().to_array(),
            "weightless": self.is_weightless(),
            "origin": origin.to_array(),
            "center": (look.frame.center - *origin).to_array(),
            "radius": look.frame.radius,
            "half": look.frame.half.to_array(),
            "toward": look.frame.toward.to_array(),
            "simulator": self.simulator().map(|simulator| simulator.description().type_name),
            "simulators": simulators,
            "states": states,
            "springs": self.world.iter_forces().any(|(_, _, force)| force.type_name() == "spring"),
            "joints": self.world.joint_count() > 0,
            "plot": self.plot,
            "channels": { "world": WORLD_CHANNELS, "body": BODY_CHANNELS },
            "bodies": look.bodies.len(),
        }})
        .to_string();
        Announcement { text: text.into(), cast: cast(epoch, look).into() }
    }

    fn is_weightless(&self) -> bool {
        !self.world.iter_forces().any(|(_, _, force)| force.type_name() == "gravity")
    }
}

impl Scenery {
    pub fn of(world: &World) -> Self {
        let look = crate::Look::of(world);
        // Near things stay put when numbers become f32: the origin moves to far scenes.
        let far = look.frame.center.length() > 16.0 * look.frame.radius;
        let origin = if far { look.frame.center.round() } else { DVec3::ZERO };
        Self { look, origin }
    }
}

/// A simulator that has not taken a step ⇒ the same on all cores, if it has threads, uses one, and there are many bodies. How
/// many threads share a step does not show in the result, only in how soon it is there.
fn spread(simulator: Box<dyn Simulator>, bodies: usize, registry: &Registry) -> Box<dyn Simulator> {
    let Description { type_name, mut properties } = simulator.description();
    if bodies < MANY || properties.get("threads") != Some(&Value::Int(1)) {
        return simulator;
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS) as u32);
    properties.insert("threads".into(), Value::Int(cores.into()));
    registry.simulators.make(&type_name, &properties).unwrap_or(simulator)
}

/// Name of a scene that comes along ⇒ act.
pub(super) fn built_in(name: &str, registry: &Registry) -> Result<Act, String> {
    if !built_ins().iter().any(|scene| scene.name == name) {
        return Err(format!("there is no scene `{name}` in the gallery"));
    }
    let scene = Scene::built_in(name).map_err(|error| error.to_string())?;
    Act::of_scene(name, Box::new(scene), registry)
}

impl Program {
    /// What it begins with; nothing for the gallery.
    pub(super) fn act(self, registry: &Registry) -> Result<Option<Act>, String> {
        match self {
            Self::Gallery => Ok(None),
            Self::Scene(name, scene) => Act::of_scene(&name, scene, registry).map(Some),
            Self::Recording(name, recording) => Act::of_recording(&name, recording, registry).map(Some),
            Self::Stage(stage) => Ok(Some(Act::of_stage(&stage.title.clone(), None, *stage))),
        }
    }
}
