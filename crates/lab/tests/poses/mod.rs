//! Pose statistics: acceptance tests E-T1 to E-T7, bad parts, thick coins, invariances.

mod bad_parts;
mod coin;
mod drops;
mod estimators;
mod models;
mod speed;

use glam::{DMat3, DVec3};
use rattleback_geometry::{MassProperties, PolygonSoup, convex_hull, generate};
use rattleback_lab::contact::Random;
use rattleback_lab::poses::{Landscape, Part, PartOptions};

/// A box of given side lengths.
pub fn brick(x: f64, y: f64, z: f64) -> Part {
    let soup = generate::cuboid(0.5 * DVec3::new(x, y, z)).unwrap();
    Part::from_soup(&soup, &PartOptions::default()).unwrap()
}

/// Stable poses without any united.
pub fn sharp(part: &Part) -> Landscape {
    Landscape::of(part, 0.0).unwrap()
}

/// The hull of random points of a ball or of an ellipsoid.
pub fn random_hull(random: &mut Random) -> PolygonSoup {
    let stretch = DVec3::new(1.0, random.range(0.3, 1.0), random.range(0.3, 1.0));
    let count = 4 + random.index(40);
    let points: Vec<DVec3> =
        (0..count.max(5)).map(|_| stretch * random.direction() * random.unit().cbrt()).collect();
    convex_hull(&points).unwrap().soup().clone()
}

/// A hull with its centre of mass anywhere inside.
pub fn random_loaded(random: &mut Random) -> Part {
    let soup = random_hull(random);
    let hull = convex_hull(&soup.vertices).unwrap();
    let mut weights: Vec<f64> = hull.vertices().iter().map(|_| -random.unit().ln()).collect();
    let sum: f64 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= sum;
    }
    let c: DVec3 = hull.vertices().iter().zip(&weights).map(|(p, w)| *p * *w).sum();
    let mass = MassProperties::new(1.0, c, DMat3::IDENTITY * 0.1).unwrap();
    Part::convex(hull, mass).unwrap()
}
