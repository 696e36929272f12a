//! The content of a session: a scene that is simulated, or a recording that is played back.

use super::sliders::{Slider, sliders};
use super::{Announcement, RelativeScene};
use crate::message::scene_geometry;
use glam::DVec3;
use rattleback_dynamics::registry::Description;
use rattleback_dynamics::simulator::unsupported;
use rattleback_dynamics::world::ColliderOwner;
use rattleback_dynamics::{Properties, Registry, Simulator, Value, World};
use rattleback_scene::recording::{RecordedState, Recording};
use rattleback_scene::{BuiltScene, Scene, built_ins};
use serde_json::json;

/// What a session is opened with.
#[derive(Debug, Default)]
pub enum SessionContent {
    /// Nothing yet: the user chooses from the gallery.
    #[default]
    Gallery,
    /// Name and scene.
    Scene(String, Box<Scene>),
    /// Name and recording.
    Recording(String, Box<Recording>),
    /// A world built by a program, with its simulator.
    Built(Box<BuiltScene>),
}

/// What the states of the loaded world come from.
#[derive(Debug)]
pub(super) enum Source {
    Simulated { simulator: Box<dyn Simulator>, scene: Option<Box<Scene>> },
    Recorded { recording: Box<Recording>, state: usize },
}

/// A scene or recording that is loaded.
#[derive(Debug)]
pub(super) struct LoadedScene {
    pub name: String,
    pub title: String,
    pub description: String,
    pub world: World,
    pub source: Source,
    pub dt: f64,
    pub duration: f64,
    /// Channels that the scene suggests to plot.
    pub plot: Vec<String>,
    /// Warnings of the scene: old names, and what its simulator ignores or refuses.
    pub warnings: Vec<String>,
    pub relative: RelativeScene,
    /// Joint positions that pages can set; none in a recording.
    pub sliders: Vec<Slider>,
}

/// Most bodies that a page can hold.
const MAX_SHOWN: usize = 300_000;
/// Fewest bodies for which several threads pay off.
const MANY: usize = 4000;
/// Most warnings that a page is sent.
const MAX_WARNINGS: usize = 50;
/// Most threads of a simulator.
const MAX_THREADS: usize = 8;
/// Shortest and longest duration that is shown in real time, s; other scenes are scaled to about ten seconds.
const WATCHABLE: (f64, f64) = (0.4, 3600.0);

/// Channels that the page offers for the world, and for each body (`NAME.CHANNEL`).
const WORLD_CHANNELS: [&str; 4] = ["energy.drift", "momentum", "angular_momentum", "work"];
const BODY_CHANNELS: [&str; 6] = ["position", "velocity", "omega", "speed", "kinetic_energy", "orientation"];

impl LoadedScene {
    pub fn of_built(name: &str, scene: Option<Box<Scene>>, built: BuiltScene) -> Self {
        let (relative, sliders) = (RelativeScene::of(&built.world), sliders(&built.world));
        let source = Source::Simulated { simulator: built.simulator, scene };
        Self {
            name: name.into(),
            title: built.title,
            description: built.description,
            world: built.world,
            source,
            dt: built.dt,
            duration: built.duration,
            plot: built.plot,
            warnings: built.warnings.iter().map(ToString::to_string).collect(),
            relative,
            sliders,
        }
    }

    pub fn of_scene(name: &str, scene: Box<Scene>, registry: &Registry) -> Result<Self, String> {
        let built = scene.build(registry).map_err(|error| error.to_string())?;
        let bodies = built.world.bodies().len();
        if bodies > MAX_SHOWN {
            return Err(format!("{name} has {bodies} bodies; a page can show {MAX_SHOWN}"));
        }
        let simulator = spread(built.simulator, bodies, registry);
        Ok(Self::of_built(name, Some(scene), BuiltScene { simulator, ..built }))
    }

    pub fn of_recording(
        name: &str,
        mut recording: Box<Recording>,
        registry: &Registry,
    ) -> Result<Self, String> {
        let (mut world, _) = recording.opening(registry).map_err(|error| error.to_string())?;
        recording.show(0, &mut world).map_err(|error| error.to_string())?;
        let relative = RelativeScene::of(&world);
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
            warnings: Vec::new(),
            source: Source::Recorded { recording, state: 0 },
            relative,
            sliders: Vec::new(),
        })
    }

    /// Simulated seconds per second at speed 1, a power of ten.
    pub fn pace(&self) -> f64 {
        if (WATCHABLE.0..=WATCHABLE.1).contains(&self.duration) || self.duration <= 0.0 {
            return 1.0;
        }
        10f64.powf((self.duration / 10.0).log10().round())
    }

    /// Time of the present state, s.
    pub fn time(&self) -> f64 {
        match &self.source {
            Source::Simulated { .. } => self.world.time(),
            Source::Recorded { recording, state } => recording.time(*state),
        }
    }

    /// The simulator; none for a recording.
    pub fn simulator(&self) -> Option<&dyn Simulator> {
        match &self.source {
            Source::Simulated { simulator, .. } => Some(&**simulator),
            Source::Recorded { .. } => None,
        }
    }

    /// Advances by one step or one recorded state ⇒ whether there are more.
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

    /// Goes to a state of a recording ⇒ whether there are later ones.
    pub fn seek(&mut self, wanted: usize) -> Result<bool, String> {
        let Source::Recorded { recording, state } = &mut self.source else {
            return Err("only recordings can be scrubbed".into());
        };
        let last = recording.len() - 1;
        *state = wanted.min(last);
        recording.show(*state, &mut self.world).map_err(|error| error.to_string())?;
        Ok(*state < last)
    }

    /// The present state of a recording.
    pub fn recorded(&mut self) -> Option<RecordedState> {
        let Source::Recorded { recording, state } = &mut self.source else { return None };
        recording.state(*state).ok().cloned()
    }

    /// Back to the first state. A simulator that was chosen meanwhile is kept.
    pub fn reset(&mut self, registry: &Registry) -> Result<(), String> {
        let chosen = self.simulator().map(Simulator::description);
        match &mut self.source {
            Source::Recorded { .. } => self.seek(0).map(|_| ()),
            Source::Simulated { simulator, scene: Some(scene) } => {
                let built = scene.build(registry).map_err(|error| error.to_string())?;
                *simulator = spread(built.simulator, built.world.bodies().len(), registry);
                self.world = built.world;
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

    /// Replaces the simulator.
    pub fn choose_simulator(&mut self, name: &str, registry: &Registry) -> Result<(), String> {
        let Source::Simulated { simulator, .. } = &mut self.source else {
            return Err("a recording has no simulator to choose".into());
        };
        let chosen = registry.simulators.make(name, &Properties::new()).map_err(|error| error.to_string())?;
        let ignored = unsupported(&self.world, chosen.capabilities());
        self.warnings = ignored.iter().map(|warning| self.world.with_names(&warning.to_string())).collect();
        *simulator = spread(chosen, self.world.bodies().len(), registry);
        Ok(())
    }

    /// (epoch, registry) ⇒ what clients are sent about the scene.
    pub fn announce(&self, epoch: u32, registry: &Registry) -> Announcement {
        let RelativeScene { render, origin } = &self.relative;
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
            "up": render.y_up().to_array(),
            "weightless": self.is_weightless(),
            "origin": origin.to_array(),
            "center": (render.frame.center - *origin).to_array(),
            "radius": render.frame.radius,
            "half": render.frame.half.to_array(),
            "toward": render.frame.toward.to_array(),
            "simulator": self.simulator().map(|simulator| simulator.description().type_name),
            "simulators": simulators,
            "states": states,
            "springs": self.world.iter_forces().any(|(_, _, force)| force.type_name() == "spring"),
            "joints": self.world.joint_count() + self.world.multibody_count() > 0,
            "sliders": self.sliders.iter().map(Slider::announce).collect::<Vec<_>>(),
            "links": self.link_bodies(),
            "plot": self.plot,
            "warnings": self.warnings.iter().take(MAX_WARNINGS).collect::<Vec<_>>(),
            "channels": { "world": WORLD_CHANNELS, "body": BODY_CHANNELS },
            "bodies": render.bodies.len(),
        }})
        .to_string();
        Announcement { text: text.into(), geometry: scene_geometry(epoch, render).into() }
    }

    /// Indices of the bodies that are links of multibodies, which can be dragged as well; none in a recording.
    fn link_bodies(&self) -> Vec<usize> {
        let is_link = |id| matches!(self.world.owner_of(id), Ok(ColliderOwner::Link(_)));
        let bodies = self.relative.render.bodies.iter().enumerate().filter(|(_, body)| is_link(body.id));
        bodies.map(|(index, _)| index).collect()
    }

    fn is_weightless(&self) -> bool {
        !self.world.iter_forces().any(|(_, _, force)| force.type_name() == "gravity")
    }
}

impl RelativeScene {
    pub fn of(world: &World) -> Self {
        let render = crate::RenderScene::of(world);
        // f32 positions relative to the world origin would be too coarse in a scene far away from it.
        let far = render.frame.center.length() > 16.0 * render.frame.radius;
        let origin = if far { render.frame.center.round() } else { DVec3::ZERO };
        Self { render, origin }
    }
}

/// Sets `threads` of a simulator that has not taken a step to the number of cores, if it is 1 and there are many bodies. The
/// number of threads does not change the result.
fn spread(simulator: Box<dyn Simulator>, bodies: usize, registry: &Registry) -> Box<dyn Simulator> {
    let Description { type_name, mut properties } = simulator.description();
    if bodies < MANY || properties.get("threads") != Some(&Value::Int(1)) {
        return simulator;
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS) as u32);
    properties.insert("threads".into(), Value::Int(cores.into()));
    registry.simulators.make(&type_name, &properties).unwrap_or(simulator)
}

/// Name of a built-in scene ⇒ loaded scene.
pub(super) fn built_in(name: &str, registry: &Registry) -> Result<LoadedScene, String> {
    if !built_ins().iter().any(|scene| scene.name == name) {
        return Err(format!("there is no scene `{name}` in the gallery"));
    }
    let scene = Scene::built_in(name).map_err(|error| error.to_string())?;
    LoadedScene::of_scene(name, Box::new(scene), registry)
}

impl SessionContent {
    /// ForceAccumulator the content; none for the gallery.
    pub(super) fn load(self, registry: &Registry) -> Result<Option<LoadedScene>, String> {
        match self {
            Self::Gallery => Ok(None),
            Self::Scene(name, scene) => LoadedScene::of_scene(&name, scene, registry).map(Some),
            Self::Recording(name, recording) => {
                LoadedScene::of_recording(&name, recording, registry).map(Some)
            }
            Self::Built(built) => Ok(Some(LoadedScene::of_built(&built.title.clone(), None, *built))),
        }
    }
}
