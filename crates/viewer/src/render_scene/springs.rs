//! End points of springs.

use glam::DVec3;
use rattleback_dynamics::World;
use rattleback_dynamics::property::Value;

/// (world, time in s) ⇒ both ends of every spring.
pub fn springs(world: &World, time: f64) -> Vec<[DVec3; 2]> {
    let end = |body: Value, anchor: Value| {
        let Value::VectorSignal(anchor) = anchor else { return None };
        match body {
            Value::Body(Some(id)) => Some(world.body(id).ok()?.pose().point(anchor.at(time))),
            Value::Body(None) => Some(anchor.at(time)),
            _ => None,
        }
    };
    world
        .iter_forces()
        .filter(|(_, _, force)| force.type_name() == "spring")
        .filter_map(|(_, _, force)| {
            let a = end(force.get("body_a").ok()?, force.get("anchor_a").ok()?)?;
            let b = end(force.get("body_b").ok()?, force.get("anchor_b").ok()?)?;
            Some([a, b])
        })
        .collect()
}
