//! What a run of a stress scene ends with, in any engine.

use rattleback_geometry::Pose;
use rattleback_scene::stress::{StressBody, StressJoint, StressScene};

/// Where the bodies of a scene are after its last step.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Frames of the bodies of the scene, in its order, then those of each arrival; none of one that has not come or is gone.
    pub frames: Vec<Vec<Pose>>,
    /// How many dynamic bodies sleep.
    pub asleep: usize,
}

/// A list of bodies that came together, with its joints.
pub(crate) fn lists(scene: &StressScene) -> impl Iterator<Item = (&[StressBody], &[StressJoint])> {
    let arrivals = scene.arrivals.iter().map(|arrival| (&*arrival.bodies, &*arrival.joints));
    std::iter::once((&*scene.bodies, &*scene.joints)).chain(arrivals)
}

/// A stress scene in an engine.
pub trait SceneWorld {
    /// One step, with what arrives before it.
    fn step(&mut self, step: usize);
    /// Where all bodies are now.
    fn outcome(&self) -> Outcome;
}
