//! The ways to measure a distance, on one scene: a cube, a sphere and a ring in front of a wall.
//! `cargo run -p rattleback-geometry --example distances`
//!
//! 1. `contact`: two shapes with their poses, one call.
//! 2. `distance`: how far apart, and between which points; negative for a depth.
//! 3. `collide`: contacts within a margin, with a cache that makes the next step cheap.
//! 4. `signed_distance`: the search itself, for convex shapes.
//! 5. `cast_shapes`: when two moving shapes first touch.

use std::error::Error;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use rattleback_geometry::closest::{ConvexShape, GjkCache, signed_distance};
use rattleback_geometry::contact::{ContactCache, Contacts, collide, contact, distance};
use rattleback_geometry::swept::{Advancement, Motion, cast_shapes};
use rattleback_geometry::{Pose, Shape, generate};

fn main() -> Result<(), Box<dyn Error>> {
    let wall = Shape::cuboid(DVec3::new(0.1, 2.0, 2.0))?;
    let cube = Shape::cuboid(DVec3::splat(0.5))?;
    let sphere = Shape::sphere(0.5)?;
    let ring = Shape::Mesh(Arc::new(generate::torus(1.0, 0.25, 48, 24)?));

    // 1. A cube pushed 1 cm into the wall: a face touches, so the manifold has four points and one normal.
    let at_origin = Pose::IDENTITY;
    let contacts = contact(&wall, &at_origin, &cube, &Pose::at(DVec3::X * 0.59))?;
    for manifold in contacts.manifolds() {
        println!("cube in the wall: normal {}, {} points", manifold.normal, manifold.points().len());
        for point in manifold.points() {
            println!("  at {:.2}, separation {:+.3} m", point.point_a, point.separation);
        }
    }

    // 2. A ring tilted by 45° two metres away. Results are in the frame of the first shape, here the wall's.
    let tilted = Pose::new(DQuat::from_rotation_y(std::f64::consts::FRAC_PI_4), DVec3::X * 2.0);
    let nearest = distance(&wall, &ring, &tilted)?;
    println!(
        "ring: {:.4} m away, between {:.3} and {:.3}",
        nearest.distance, nearest.point_a, nearest.point_b
    );

    // 3. The cube approaches. With a margin of 2 cm contacts appear before it touches, and the cache carries each
    //    search over to the next step.
    let (mut cache, mut contacts) = (ContactCache::default(), Contacts::default());
    for x in [0.63, 0.615, 0.61, 0.6, 0.59] {
        collide(&wall, &cube, &Pose::at(DVec3::X * x), 0.02, &mut cache, &mut contacts)?;
        match contacts.deepest() {
            Some((_, point)) => println!("cube at {x}: separation {:+.3} m", point.separation),
            None => println!("cube at {x}: farther than the margin"),
        }
    }

    // 4. Two convex shapes, without the layers above: nearest points p with p_B − p_A = d n.
    let (a, b) = (ConvexShape::try_from(&cube)?, ConvexShape::try_from(&sphere)?);
    let diagonal = Pose::at(DVec3::ONE);
    let found = signed_distance(&a, &b, &diagonal, &mut GjkCache::default())?;
    let gap = found.point_b - found.point_a - found.distance * found.normal;
    println!("corner to sphere: {:.6} m, residual of p_B - p_A = d n: {:.1e}", found.distance, gap.length());

    // 5. The sphere flies towards the wall by 3 m: the fraction of the motion at which it arrives.
    let flight = Motion::new(Pose::at(DVec3::X * 3.0), DVec3::ZERO, DVec3::X * -3.0, DVec3::ZERO)?;
    let still = Motion::resting(at_origin)?;
    if let Some(hit) = cast_shapes(&wall, &still, &sphere, &flight, &Advancement::default())? {
        println!("sphere arrives after {:.3} of its motion", hit.contact.time);
    }
    Ok(())
}
