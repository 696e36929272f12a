//! Stacks, piles and drums: contacts only.

use super::{Arrival, Built, StressBody, StressScene};
use glam::DVec3;
use rattleback_dynamics::{Path, Status};
use rattleback_geometry::{Pose, Shape};
use std::f64::consts::TAU;

/// Cubes of side 1 exactly on and beside each other.
pub(super) fn pyramids(name: &'static str, steps: usize, base: usize, rows: usize) -> Built<StressScene> {
    let mut scene = StressScene::new(name, steps, false);
    let h = 0.5;
    let extent = 0.5 * rows as f64 * (base as f64 + 1.0);
    let side = if rows == 1 { 400.0 } else { extent };
    scene.ground(DVec3::new(side, 1.0, side))?;
    let cube = Shape::cuboid(DVec3::splat(h))?;
    for row in 0..rows {
        let z = if rows == 1 {
            0.0
        } else {
            -extent + 1.0 + row as f64 * 2.0 * (extent - 1.0) / (rows as f64 - 1.0)
        };
        for column in 0..rows {
            let center = if rows == 1 { -50.0 } else { -extent + column as f64 * (base as f64 + 1.0) + h };
            for i in 0..base {
                for j in i..base {
                    let x = (i as f64 + 1.0) * h + 2.0 * (j - i) as f64 * h + center;
                    let at = DVec3::new(x, (2.0 * i as f64 + 1.0) * h, z);
                    scene.bodies.push(StressBody {
                        density: 100.0,
                        ..StressBody::new(Status::Dynamic, at, cube.clone())
                    });
                }
            }
        }
    }
    Ok(scene)
}

pub(super) fn wide_pyramid() -> Built<StressScene> {
    let mut scene = StressScene::new("wide-pyramid", 500, true);
    scene.ground(DVec3::new(100.0, 1.0, 100.0))?;
    let cube = Shape::cuboid(DVec3::splat(0.975))?;
    for i in 0..15_usize {
        for j in i / 2..15 - i.div_ceil(2) {
            for k in i / 2..15 - i.div_ceil(2) {
                let odd = (i % 2) as f64;
                let at = DVec3::new(
                    -15.0 + 2.0 * j as f64 + odd,
                    1.0 + 2.5 * i as f64,
                    -15.0 + 2.0 * k as f64 + odd,
                );
                scene.bodies.push(StressBody::new(Status::Dynamic, at, cube.clone()));
            }
        }
    }
    Ok(scene)
}

pub(super) fn convex_pile() -> Built<StressScene> {
    let mut scene = StressScene::new("convex-pile", 500, true);
    scene.ground(DVec3::new(250.0, 1.0, 250.0))?;
    let mut seed = 42_u32;
    let mut number = || {
        seed = seed.wrapping_mul(2_147_001_325).wrapping_add(715_136_305);
        f64::from(seed & 0xffff) / 65535.0 - 0.5
    };
    let mut points = Vec::with_capacity(32);
    while points.len() < 32 {
        let p = DVec3::new(number(), number(), number());
        if p.length_squared() <= 0.25 {
            points.push(2.0 * p.normalize());
        }
    }
    let hull = Shape::convex_hull(&points)?;
    for layer in 0..80 {
        for ix in 0..8 {
            for iz in 0..8 {
                let at = 4.0 * DVec3::new(ix as f64 - 4.0, 0.5 + layer as f64, iz as f64 - 4.0);
                scene.bodies.push(StressBody::new(Status::Dynamic, at, hull.clone()));
            }
        }
    }
    Ok(scene)
}

pub(super) fn junkyard() -> Built<StressScene> {
    let mut scene = StressScene::new("junkyard", 500, true);
    let mut yard = StressBody::new(
        Status::Fixed,
        DVec3::new(0.0, -1.0, 0.0),
        Shape::cuboid(DVec3::new(120.0, 1.0, 120.0))?,
    );
    for (half, at) in [
        (DVec3::new(1.0, 8.0, 50.0), DVec3::new(50.0, 8.0, 0.0)),
        (DVec3::new(1.0, 8.0, 50.0), DVec3::new(-50.0, 8.0, 0.0)),
        (DVec3::new(50.0, 8.0, 1.0), DVec3::new(0.0, 8.0, 50.0)),
        (DVec3::new(50.0, 8.0, 1.0), DVec3::new(0.0, 8.0, -50.0)),
    ] {
        yard.shapes.push((Shape::cuboid(half)?, Pose::at(at)));
    }
    scene.bodies.push(yard);
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let points: Vec<DVec3> = (0..10)
        .map(|i| {
            let z = 1.0 - (2.0 * i as f64 + 1.0) / 10.0;
            let (sine, cosine) = (i as f64 * TAU / golden).sin_cos();
            let r = (1.0 - z * z).sqrt();
            1.5 * DVec3::new(r * cosine, r * sine, z)
        })
        .collect();
    let rock = Shape::convex_hull(&points)?;
    for x in 0..24 {
        for y in 0..21 {
            for z in 0..21 {
                let at = DVec3::new(-40.0 + 4.0 * x as f64, 25.0 + 4.0 * y as f64, -40.0 + 4.0 * z as f64);
                scene.bodies.push(StressBody::new(Status::Dynamic, at, rock.clone()));
            }
        }
    }
    let prism: Vec<DVec3> = (0..16)
        .flat_map(|i| {
            let (sine, cosine) = (i as f64 * TAU / 16.0).sin_cos();
            [0.0, 24.0].map(|y| DVec3::new(4.0 * cosine, y, 4.0 * sine))
        })
        .collect();
    let mut pusher = StressBody::new(Status::Kinematic, DVec3::ZERO, Shape::convex_hull(&prism)?);
    // Six degrees a second round the middle, without turning.
    pusher.path = Some(Path::Circuit {
        cosine: DVec3::new(35.0, 0.0, 0.0),
        sine: DVec3::new(0.0, 0.0, -35.0),
        frequency: 1.0 / 60.0,
        phase: 0.0,
    });
    scene.bodies.push(pusher);
    Ok(scene)
}

pub(super) fn washer() -> Built<StressScene> {
    let mut scene = StressScene::new("washer", 1000, true);
    scene.ground(DVec3::new(60.0, 1.0, 60.0))?;
    let mut drum = StressBody::new(Status::Kinematic, DVec3::new(0.0, 21.0, 0.0), Shape::sphere(1.0)?);
    drum.shapes.clear();
    let segment = |radii: [f64; 2], from: f64, to: f64| {
        let mut points = Vec::with_capacity(8);
        for angle in [from, to] {
            let (sine, cosine) = angle.to_radians().sin_cos();
            for r in radii {
                for z in [-10.0, 10.0] {
                    points.push(DVec3::new(r * cosine, r * sine, z));
                }
            }
        }
        Shape::convex_hull(&points)
    };
    for i in 0..36 {
        let (from, to) = (10.0 * i as f64, 10.0 * (i as f64 + 1.0));
        drum.shapes.push((segment([16.0, 18.0], from - 1.0, to + 1.0)?, Pose::IDENTITY));
        if i % 9 == 0 {
            drum.shapes.push((segment([14.0, 16.0], from, to)?, Pose::IDENTITY));
        }
    }
    drum.path = Some(Path::Steady {
        velocity: DVec3::new(0.001, -0.002, 0.0),
        angular_velocity: DVec3::new(0.0, 0.0, 25_f64.to_radians()),
    });
    scene.bodies.push(drum);
    let cube = Shape::cuboid(DVec3::splat(0.2))?;
    for i in 0..20 {
        for j in 0..20 {
            for k in 0..20 {
                let at = DVec3::new(-8.0 + 0.8 * i as f64, 13.0 + 0.8 * j as f64, -8.0 + 0.8 * k as f64);
                scene.bodies.push(StressBody::new(Status::Dynamic, at, cube.clone()));
            }
        }
    }
    Ok(scene)
}

pub(super) fn large_world() -> Built<StressScene> {
    let mut scene = StressScene::new("large-world", 500, true);
    let tile = Shape::cuboid(DVec3::new(5.0, 0.25, 5.0))?;
    for i in 0..1000 {
        for k in 0..1000 {
            let at = DVec3::new(10.0 * (i as f64 - 499.5), 0.0, 10.0 * (k as f64 - 499.5));
            scene.bodies.push(StressBody::new(Status::Fixed, at, tile.clone()));
        }
    }
    let ball = Shape::sphere(0.5)?;
    for n in 0..99_usize {
        let spot = |k: usize| -4000.0 + 8000.0 * (k as f64 + 0.5) / 10.0;
        let at = DVec3::new(spot(n % 10), 1.5, spot(n / 10));
        scene.arrivals.push(Arrival {
            step: 5 * (n + 1),
            bodies: vec![StressBody::new(Status::Dynamic, at, ball.clone())],
            joints: Vec::new(),
            replaces: None,
        });
    }
    Ok(scene)
}
