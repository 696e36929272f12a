//! Steps in steady state do not allocate. A binary of its own, for its allocator.

#[path = "../../../geometry/tests/allocation/counting.rs"]
mod counting;

use counting::allocations;
use glam::DVec3;
use rattleback_geometry::{Pose, Shape};
use rattleback_particles::RigidObstacle;
use rattleback_particles::fluid::{FluidSettings, IncompressibleFluid, sample_box_inside};

/// A fluid at rest in a tank: after some steps, none.
#[test]
fn fluid_steps_do_not_allocate() {
    let (spacing, half) = (0.05, DVec3::new(0.3, 0.3, 0.4));
    let mut fluid = IncompressibleFluid::new(FluidSettings { spacing, ..FluidSettings::default() }).unwrap();
    fluid.add_box(-half, DVec3::new(0.3, 0.3, 0.0), DVec3::ZERO).unwrap();
    fluid.add_boundary(0, sample_box_inside(half, spacing).unwrap()).unwrap();
    let mut tank = RigidObstacle::fixed(Shape::cuboid(half).unwrap(), Pose::IDENTITY).unwrap();
    for _ in 0..200 {
        fluid.step(4e-3, &mut [&mut tank]).unwrap();
    }
    // Lists of neighbours may still grow now and then while the fluid settles.
    let counts: Vec<u64> =
        (0..20).map(|_| allocations(|| fluid.step(4e-3, &mut [&mut tank]).unwrap())).collect();
    let quiet = counts.iter().filter(|&&n| n == 0).count();
    assert!(quiet >= 15, "{counts:?}");
}
