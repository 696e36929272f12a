//! Contacts and sleeping bodies as reported by the simulators.

use glam::DVec3;
use rattleback_dynamics::{Body, Properties, Registry, World};
use rattleback_geometry::Shape;

/// Contacts of a box at rest carry its weight, m g upwards, and finally it sleeps; with every simulator.
#[test]
fn contacts_carry_the_weight_of_a_box_at_rest() {
    let registry = Registry::default();
    for name in ["realtime", "impulse"] {
        let mut world = World::default();
        world.add_body(Body::fixed().with_shape(Shape::half_space(DVec3::Z).unwrap())).unwrap();
        let shape = Shape::cuboid(DVec3::new(0.2, 0.3, 0.1)).unwrap();
        let id = world.add_body(Body::dynamic().at(0.0, 0.0, 0.101).with_shape(shape)).unwrap();
        let mut simulator = registry.simulators.make(name, &Properties::new()).unwrap();
        assert!(simulator.contacts(&world).is_empty() && simulator.sleeping_bodies(&world).is_empty());
        let (mut carried, mut asleep) = (0.0, false);
        for step in 0..480 {
            simulator.step(&mut world, 1.0 / 240.0).unwrap();
            asleep |= simulator.sleeping_bodies(&world) == [id];
            let contacts = simulator.contacts(&world);
            if step == 100 || (asleep && carried == 0.0) {
                let up = |touch: &rattleback_dynamics::simulator::ContactPoint| {
                    let sign = if touch.bodies[1] == id { 1.0 } else { -1.0 };
                    sign * touch.force.z
                };
                carried = contacts.iter().map(up).sum::<f64>();
            }
        }
        let weight = world.body(id).unwrap().mass() * 9.81;
        assert!(asleep, "{name} never lets it sleep");
        assert!((carried - weight).abs() < 0.05 * weight, "{name}: {carried} N carry {weight} N");
    }
}
