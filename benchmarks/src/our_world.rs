//! The stress scenes in `realtime`.

use rattleback_dynamics::simulator::{Realtime, RealtimeSettings};
use rattleback_dynamics::{BodyId, Simulator, World};
use rattleback_scene::stress::StressScene;

use crate::outcome::{Outcome, SceneWorld};

/// A scene as our simulator sees it.
pub struct OurWorld<'s> {
    scene: &'s StressScene,
    world: World,
    simulator: Realtime,
    bodies: Vec<BodyId>,
    arrived: Vec<Vec<BodyId>>,
    dt: f64,
}

impl<'s> OurWorld<'s> {
    /// (scene, step, threads) ⇒ its beginning.
    pub fn new(scene: &'s StressScene, dt: f64, threads: usize) -> Self {
        let settings = RealtimeSettings {
            sleep: scene.sleeping,
            sleep_speed: scene.sleep_speed,
            threads: threads as i64,
            ..RealtimeSettings::default()
        };
        let world = scene.world().expect("the scene can be built");
        let bodies = world.iter_bodies().map(|body| body.id()).collect();
        let simulator = Realtime::new(settings).expect("settings are in range");
        Self { scene, world, simulator, bodies, arrived: vec![Vec::new(); scene.arrivals.len()], dt }
    }
}

impl SceneWorld for OurWorld<'_> {
    fn step(&mut self, step: usize) {
        for (index, ids) in self.scene.arrive(&mut self.world, step).expect("arrivals fit") {
            if let Some(gone) = self.scene.arrivals[index].replaces {
                self.arrived[gone].clear();
            }
            self.arrived[index] = ids;
        }
        self.simulator.step(&mut self.world, self.dt).expect("a step succeeds");
    }

    fn outcome(&self) -> Outcome {
        let frame = |id: &BodyId| self.world.body(*id).expect("it is there").pose();
        let lists = std::iter::once(&self.bodies).chain(&self.arrived);
        Outcome {
            frames: lists.map(|list| list.iter().map(frame).collect()).collect(),
            asleep: self.simulator.counters().asleep,
        }
    }
}
