//! An independent observer of the simulator: at every collision, slow ones too, measures the distance of all shapes of all
//! bodies that are near each other anew, without any memory of what was there before.

use rattleback_dynamics::simulator::impulse::CollisionInfo;
use rattleback_dynamics::{BodyId, Status, World};
use rattleback_geometry::contact::distance;
use rattleback_geometry::{Aabb, Pose, Shape};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Boxes farther apart than this are apart, m; the distance of all others is measured.
const NEAR: f64 = 1e-3;

/// Results of the observer.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    pub collisions: u64,
    pub distances: u64,
    pub smallest: f64,
}

struct Solid {
    free: bool,
    shapes: Vec<(Shape, Pose)>,
}

/// World ⇒ observer of collisions, and its shared results.
pub fn witness(world: &World) -> (impl FnMut(&CollisionInfo<'_>) + Send + Sync + 'static, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen { collisions: 0, distances: 0, smallest: f64::INFINITY }));
    let solids: HashMap<BodyId, Solid> = world
        .iter_bodies()
        .map(|body| {
            let shape = |id| world.shape(id).map(|shape| (shape.shape.clone(), shape.pose)).unwrap();
            let shapes = body.shapes().iter().map(|id| shape(*id)).collect();
            (body.id(), Solid { free: body.status() == Status::Dynamic, shapes })
        })
        .collect();
    let record = Arc::clone(&seen);
    let look = move |info: &CollisionInfo<'_>| {
        let mut seen = record.lock().unwrap();
        seen.collisions += 1;
        let placed: Vec<(usize, bool, &Shape, Pose, Option<Aabb>)> = info
            .poses
            .iter()
            .enumerate()
            .flat_map(|(k, (id, pose))| {
                let solid = &solids[id];
                solid.shapes.iter().map(move |(shape, place)| {
                    let place = *pose * *place;
                    (k, solid.free, shape, place, shape.aabb(&place))
                })
            })
            .collect();
        for (i, a) in placed.iter().enumerate() {
            for b in &placed[..i] {
                let near = match (&a.4, &b.4) {
                    (Some(a), Some(b)) => a.enlarged(NEAR).is_ok_and(|a| a.overlaps(b)),
                    _ => true,
                };
                if a.0 != b.0 && (a.1 || b.1) && near {
                    let gap = distance(a.2, b.2, &(a.3.inverse() * b.3)).unwrap().distance;
                    seen.distances += 1;
                    seen.smallest = seen.smallest.min(gap);
                }
            }
        }
    };
    (look, seen)
}
