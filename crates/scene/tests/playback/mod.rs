//! Runs a scene of the event-driven simulator with an independent check for overlaps.

mod witness;

use rattleback_dynamics::property::ComponentType;
use rattleback_dynamics::simulator::{Impulse, ImpulseSettings};
use rattleback_dynamics::world::{BodyRef, Event};
use rattleback_dynamics::{BodyId, Registry, Simulator, Status};
use rattleback_geometry::contact::distance;
use rattleback_scene::{BuiltScene, Scene, built_ins};
use std::sync::{Arc, Mutex};
use witness::{Seen, witness};

/// A scene on the way.
pub struct Playback {
    pub built: BuiltScene,
    pub impulse: Impulse,
    /// Pairs in the order of their first collision, with its time.
    contacts: Vec<([BodyId; 2], f64)>,
    steps: usize,
    every: usize,
    seen: Arc<Mutex<Seen>>,
}

impl Playback {
    /// A built-in scene.
    pub fn open(name: &str) -> Self {
        Self::variant(name, &[])
    }

    /// A built-in scene with other words in its text.
    pub fn variant(name: &str, changes: &[(&str, &str)]) -> Self {
        let mut text = built_ins().iter().find(|scene| scene.name == name).unwrap().text.to_owned();
        for (from, to) in changes {
            assert!(text.contains(from), "{name} does not contain `{from}`");
            text = text.replace(from, to);
        }
        Self::of(&Scene::parse(&text, name).unwrap_or_else(|error| panic!("{error}")))
    }

    /// The same without a witness, for many runs.
    pub fn quiet(name: &str, changes: &[(&str, &str)]) -> Self {
        let mut play = Self::variant(name, changes);
        play.impulse = Impulse::new(play.impulse.settings().clone()).unwrap();
        play.every = usize::MAX;
        play
    }

    /// Any scene of this simulator.
    pub fn of(scene: &Scene) -> Self {
        let built = scene.build(&Registry::default()).unwrap_or_else(|error| panic!("{error}"));
        let description = built.simulator.description();
        assert_eq!(description.type_name, "impulse");
        let mut impulse = Impulse::new(ImpulseSettings::with(&description.properties).unwrap()).unwrap();
        let (look, seen) = witness(&built.world);
        impulse.on_collision(look);
        Self { built, impulse, contacts: Vec::new(), steps: 0, every: 20, seen }
    }

    /// Steps between two checks for overlaps.
    pub fn sample_every(&mut self, steps: usize) {
        self.every = steps;
    }

    /// Takes steps, with a check after each.
    pub fn advance(&mut self, seconds: f64, mut look: impl FnMut(&Self)) {
        for _ in 0..(seconds / self.built.dt).round() as usize {
            let dt = self.built.dt;
            self.impulse.step(&mut self.built.world, dt).unwrap_or_else(|error| panic!("{error}"));
            for event in self.built.world.events() {
                let Event::Collision { time, bodies, .. } = event else { panic!("{event:?}") };
                let met = |pair: &[BodyId; 2]| pair.contains(&bodies[0]) && pair.contains(&bodies[1]);
                if !self.contacts.iter().any(|(pair, _)| met(pair)) {
                    self.contacts.push((*bodies, *time));
                }
            }
            self.steps += 1;
            if self.steps.is_multiple_of(self.every) {
                self.assert_apart();
            }
            look(self);
        }
    }

    /// When two bodies first collided, other than slowly.
    pub fn first_contact(&self, one: &str, other: &str) -> Option<f64> {
        let ids = [one, other].map(|name| self.built.world.find_body(name).unwrap());
        let both = |pair: &[BodyId; 2]| pair.contains(&ids[0]) && pair.contains(&ids[1]);
        self.contacts.iter().find(|(pair, _)| both(pair)).map(|(_, time)| *time)
    }

    pub fn body(&self, name: &str) -> BodyRef<'_> {
        self.built
            .world
            .body(self.built.world.find_body(name).unwrap_or_else(|| panic!("no body {name}")))
            .unwrap()
    }

    /// Bodies that impulses move.
    pub fn free_bodies(&self) -> Vec<BodyId> {
        self.built.world.bodies().ids(Status::Dynamic).to_vec()
    }

    /// Pairs of bodies, one of them free, nearer to each other than this.
    pub fn gaps(&self, limit: f64) -> Vec<(String, String)> {
        let mut near = Vec::new();
        self.for_each_pair(|a, b, gap| {
            let pair = [a, b].map(|body| body.name().unwrap_or_default().to_owned());
            if gap < limit && !near.contains(&pair) {
                near.push(pair);
            }
        });
        near.into_iter().map(|[a, b]| (a, b)).collect()
    }

    /// The distance of all shapes of all pairs of bodies of which one is free.
    fn for_each_pair(&self, mut visit: impl FnMut(&BodyRef<'_>, &BodyRef<'_>, f64)) {
        let world = &self.built.world;
        let bodies: Vec<BodyRef<'_>> = world.iter_bodies().collect();
        for (k, a) in bodies.iter().enumerate() {
            for b in &bodies[..k] {
                if a.status() != Status::Dynamic && b.status() != Status::Dynamic {
                    continue;
                }
                for one in a.shapes() {
                    for other in b.shapes() {
                        let (one, other) = (world.shape(*one).unwrap(), world.shape(*other).unwrap());
                        let place = (a.pose() * one.pose).inverse() * (b.pose() * other.pose);
                        visit(a, b, distance(&one.shape, &other.shape, &place).unwrap().distance);
                    }
                }
            }
        }
    }

    /// Asserts that no two bodies overlap.
    fn assert_apart(&self) {
        let time = self.built.world.time();
        self.for_each_pair(|a, b, gap| {
            assert!(gap > 0.0, "{:?} and {:?} overlap by {} at {time} s", a.name(), b.name(), -gap);
        });
    }

    /// Results of the observer of all collisions.
    pub fn seen(&self) -> Seen {
        *self.seen.lock().unwrap()
    }

    /// The last check, the counters of the simulator, and the results of the observer of all collisions.
    pub fn finish(&self) {
        self.assert_apart();
        let seen = self.seen();
        println!("{seen:?}");
        assert!(seen.smallest > 0.0 && seen.collisions == self.impulse.counters().collisions, "{seen:?}");
        assert!(self.impulse.smallest_gap() > 0.0, "{}", self.impulse.smallest_gap());
        assert_eq!(self.impulse.counters().overlaps, 0);
    }
}
