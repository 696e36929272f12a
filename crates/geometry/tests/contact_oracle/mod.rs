//! Contact of pieces, proved pose by pose.
//!
//! A distance d with normal n and nearest points p_A, p_B needs no second algorithm: p_A ∈ A and p_B ∈ B with
//! p_B − p_A = d n show that the distance is at most d, and the reaches h_A(n) + h_B(−n) = −d show that it is
//! at least d. A depth along n is proved to be enough by the same reaches; that no other direction needs less
//! is tried: on polyhedra along all face normals and products of edges, on curved shapes along 168
//! directions, the best six of which are followed downhill: an upper bound only, and `refined_depth` goes
//! downhill in the same way, so there the two are not independent.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;

use glam::{DQuat, DVec3};
use rattleback_geometry::closest::{Separation, Support};
use rattleback_geometry::contact::{
    Manifold, Piece, PieceCache, collide_pieces, distance_pieces, pieces_intersect,
};
use rattleback_geometry::primitive::Triangle;
use rattleback_geometry::{Pose, Shape, convex_hull, generate};

use crate::lens::Lens;
use crate::pair_kind::{PairKind, note};
use crate::random::Random;

/// A piece that owns what it is made of.
#[derive(Clone, Debug)]
pub enum Solid {
    Shape(Shape),
    Triangle([DVec3; 3]),
}

impl Solid {
    pub fn piece(&self) -> Piece<'_> {
        match self {
            Self::Shape(shape) => Piece::try_from(shape).unwrap(),
            Self::Triangle(corners) => Piece::Triangle(*corners),
        }
    }

    /// max n·p over the solid; infinite for a half-space unless n is its normal.
    pub fn reach(&self, n: DVec3) -> f64 {
        match self.piece() {
            Piece::Bounded(shape) => shape.farthest(n, 0).0.dot(n) + Support::radius(&shape) * n.length(),
            Piece::Triangle(corners) => corners.iter().map(|p| p.dot(n)).fold(f64::NEG_INFINITY, f64::max),
            Piece::HalfSpace(half_space) => {
                if (half_space.normal() - n).length() < 1e-9 {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
        }
    }

    /// How far a point is outside; not positive inside.
    pub fn outside(&self, p: DVec3) -> f64 {
        match self {
            Self::Shape(Shape::Custom(custom)) => directions()
                .iter()
                .map(|&n| n.dot(p) - custom.support(n).dot(n))
                .fold(f64::NEG_INFINITY, f64::max),
            Self::Shape(shape) => shape.closest_point(p).unwrap().distance,
            Self::Triangle(corners) => Triangle::from(*corners).distance(p),
        }
    }

    pub fn size(&self) -> f64 {
        match self {
            Self::Shape(Shape::HalfSpace(_)) => 1.0,
            _ => directions().iter().map(|&n| self.reach(n)).fold(0.0, f64::max),
        }
    }

    /// Face normals and edge directions, if it is a polyhedron.
    fn features(&self) -> Option<[Vec<DVec3>; 2]> {
        Some(match self {
            Self::Shape(Shape::Cuboid(_)) => {
                let axes = DVec3::AXES.to_vec();
                [axes.iter().flat_map(|&axis| [axis, -axis]).collect(), axes]
            }
            Self::Shape(Shape::Convex(hull)) => {
                let edge = |[i, j]: [u32; 2]| hull.vertices()[j as usize] - hull.vertices()[i as usize];
                let edges = hull.edges().iter().map(|e| edge(e.vertices).normalize()).collect();
                [hull.normals().to_vec(), edges]
            }
            Self::Triangle(corners) => {
                let triangle = Triangle::from(*corners);
                let normal = triangle.normal()?;
                [vec![normal, -normal], triangle.edge_vectors().map(DVec3::normalize).to_vec()]
            }
            Self::Shape(_) => return None,
        })
    }
}

fn directions() -> &'static [DVec3] {
    static DIRECTIONS: std::sync::OnceLock<Vec<DVec3>> = std::sync::OnceLock::new();
    DIRECTIONS.get_or_init(|| {
        let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
        axes.chain(generate::icosphere(3).unwrap().vertices().iter().copied()).collect()
    })
}

/// Overlap along n: h_A(n) + h_B(−n).
pub fn overlap(a: &Solid, b: &Solid, pose: &Pose, n: DVec3) -> f64 {
    a.reach(n) + b.reach(pose.inverse_vector(-n)) - pose.translation.dot(n)
}

/// Least overlap over every direction that matters; an upper bound of it if a shape is curved.
pub fn least_overlap(a: &Solid, b: &Solid, pose: &Pose, random: &mut Random) -> f64 {
    let try_all = |normals: &mut dyn Iterator<Item = DVec3>| {
        normals.map(|n| overlap(a, b, pose, n)).fold(f64::INFINITY, f64::min)
    };
    if let Solid::Shape(Shape::HalfSpace(half_space)) = a {
        return overlap(a, b, pose, half_space.normal());
    }
    if let (Some([normals_a, edges_a]), Some([normals_b, edges_b])) = (a.features(), b.features()) {
        let faces = normals_a.iter().copied().chain(normals_b.iter().map(|&n| -pose.vector(n)));
        let products = edges_a.iter().flat_map(|&u| {
            edges_b.iter().flat_map(move |&v| {
                let n = u.cross(pose.vector(v));
                let n = if n.length() > 1e-9 { n.normalize() } else { DVec3::NAN };
                [n, -n]
            })
        });
        return try_all(&mut faces.chain(products.filter(|n| n.is_finite())));
    }
    let mut starts: Vec<(f64, DVec3)> = directions().iter().map(|&n| (overlap(a, b, pose, n), n)).collect();
    starts.sort_by(|p, q| p.0.total_cmp(&q.0));
    starts.iter().take(6).map(|start| downhill(a, b, pose, *start, random)).fold(f64::INFINITY, f64::min)
}

/// Follows the overlap downhill with a star of eight steps, turned at random and halved when none leads down.
fn downhill(a: &Solid, b: &Solid, pose: &Pose, start: (f64, DVec3), random: &mut Random) -> f64 {
    let (mut best, mut n) = start;
    let mut step = 0.15;
    while step > 1e-9 {
        let (u, v) = n.any_orthonormal_pair();
        let turn = random.between(0.0, 1.0);
        let mut moved = false;
        for k in 0..8 {
            let angle = (f64::from(k) + turn) * std::f64::consts::FRAC_PI_4;
            let next = (n + step * (angle.cos() * u + angle.sin() * v)).normalize();
            let value = overlap(a, b, pose, next);
            if value < best {
                (best, n, moved) = (value, next, true);
            }
        }
        if !moved {
            step *= 0.5;
        }
    }
    best
}

fn size(r: &mut Random) -> f64 {
    r.between(0.3, 1.0)
}

pub fn cuboid(r: &mut Random) -> Solid {
    Solid::Shape(Shape::cuboid(DVec3::new(size(r), size(r), size(r))).unwrap())
}
pub fn sphere(r: &mut Random) -> Solid {
    Solid::Shape(Shape::sphere(size(r)).unwrap())
}
pub fn cylinder(r: &mut Random) -> Solid {
    Solid::Shape(Shape::cylinder(size(r), 2.0 * size(r)).unwrap())
}
pub fn capsule(r: &mut Random) -> Solid {
    Solid::Shape(Shape::capsule(0.6 * size(r), 2.0 * size(r)).unwrap())
}
pub fn cone(r: &mut Random) -> Solid {
    Solid::Shape(Shape::cone(size(r), 2.0 * size(r)).unwrap())
}
pub fn ellipsoid(r: &mut Random) -> Solid {
    Solid::Shape(Shape::ellipsoid(DVec3::new(size(r), size(r), size(r))).unwrap())
}
pub fn half_space(r: &mut Random) -> Solid {
    Solid::Shape(Shape::half_space(r.on_sphere()).unwrap())
}
pub fn triangle(r: &mut Random) -> Solid {
    Solid::Triangle([r.in_cube(), r.in_cube(), r.in_cube()])
}
pub fn lens(_: &mut Random) -> Solid {
    Solid::Shape(Shape::Custom(Arc::new(Lens { radius: 1.0, offset: 0.5 })))
}
pub fn hull_of(r: &mut Random, count: usize, size: DVec3) -> Solid {
    loop {
        let points: Vec<DVec3> = (0..count).map(|_| r.in_cube() * size).collect();
        if let Ok(hull) = convex_hull(&points) {
            return Solid::Shape(Shape::Convex(Arc::new(hull)));
        }
    }
}
pub fn hull(r: &mut Random) -> Solid {
    let count = 4 + (r.bits() % 17) as usize;
    hull_of(r, count, DVec3::ONE)
}

fn near(r: &mut Random) -> Pose {
    r.pose(1.5)
}

/// Quarter turns, and places where faces, edges and corners coincide in one plane, line or point.
fn aligned(r: &mut Random) -> Pose {
    let axis = DVec3::AXES[(r.bits() % 3) as usize];
    let turn = DQuat::from_axis_angle(axis, std::f64::consts::FRAC_PI_2 * (r.bits() % 4) as f64);
    let mut step = || 0.5 * ((r.bits() % 9) as f64 - 4.0);
    Pose::new(turn, DVec3::new(step(), step(), step()))
}

/// Lying flat to within a millionth, turned about the normal.
fn resting(r: &mut Random) -> Pose {
    let tilt = DQuat::from_scaled_axis(1e-6 * r.in_cube());
    let place = DVec3::new(r.between(-0.7, 0.7), r.between(-0.7, 0.7), 2.0 + 1e-3 * r.between(-1.0, 1.0));
    Pose::new(tilt * DQuat::from_rotation_z(r.between(-3.0, 3.0)), place)
}

fn unit(shape: fn() -> Shape) -> Solid {
    Solid::Shape(shape())
}

fn unit_cube() -> Shape {
    Shape::cuboid(DVec3::ONE).unwrap()
}

fn unit_cylinder() -> Shape {
    Shape::cylinder(1.0, 2.0).unwrap()
}

macro_rules! near_pairs {
    ($($name:literal: $a:ident, $b:ident;)*) => {
        &[$(PairKind { name: $name, make: |r| [$a(r), $b(r)], pose: near }),*]
    };
}

/// Every pair of kinds in some order, in poses that touch about as often as not.
pub const PAIRS: &[PairKind<Solid>] = near_pairs! {
    "box-box": cuboid, cuboid; "box-hull": cuboid, hull; "hull-hull": hull, hull;
    "box-triangle": cuboid, triangle; "hull-triangle": hull, triangle; "triangle-triangle": triangle, triangle;
    "sphere-sphere": sphere, sphere; "sphere-box": sphere, cuboid; "sphere-cylinder": sphere, cylinder;
    "sphere-capsule": sphere, capsule; "sphere-cone": sphere, cone; "sphere-hull": sphere, hull;
    "sphere-triangle": sphere, triangle; "sphere-ellipsoid": sphere, ellipsoid;
    "capsule-capsule": capsule, capsule; "capsule-box": capsule, cuboid; "capsule-hull": capsule, hull;
    "capsule-triangle": capsule, triangle; "capsule-cylinder": capsule, cylinder; "capsule-cone": capsule, cone;
    "capsule-ellipsoid": capsule, ellipsoid;
    "cylinder-box": cylinder, cuboid; "cylinder-hull": cylinder, hull; "cylinder-triangle": cylinder, triangle;
    "cylinder-cylinder": cylinder, cylinder; "cylinder-cone": cylinder, cone;
    "cylinder-ellipsoid": cylinder, ellipsoid;
    "cone-box": cone, cuboid; "cone-hull": cone, hull; "cone-triangle": cone, triangle; "cone-cone": cone, cone;
    "cone-ellipsoid": cone, ellipsoid;
    "ellipsoid-box": ellipsoid, cuboid; "ellipsoid-hull": ellipsoid, hull; "ellipsoid-triangle": ellipsoid, triangle;
    "ellipsoid-ellipsoid": ellipsoid, ellipsoid;
    "half-space-sphere": half_space, sphere; "half-space-box": half_space, cuboid;
    "half-space-cylinder": half_space, cylinder; "half-space-capsule": half_space, capsule;
    "half-space-cone": half_space, cone; "half-space-ellipsoid": half_space, ellipsoid;
    "half-space-hull": half_space, hull; "half-space-triangle": half_space, triangle;
};

/// Touching, parallel, nested, far, tiny and stretched, and shapes known by their support function only.
pub const SPECIAL: &[PairKind<Solid>] = &[
    PairKind { name: "boxes, quarter turns", make: |_| [unit(unit_cube), unit(unit_cube)], pose: aligned },
    PairKind { name: "boxes, resting", make: |_| [unit(unit_cube), unit(unit_cube)], pose: resting },
    PairKind {
        name: "cylinder resting on box",
        make: |_| [unit(unit_cube), unit(unit_cylinder)],
        pose: resting,
    },
    PairKind {
        name: "cylinder on cylinder",
        make: |_| [unit(unit_cylinder), unit(unit_cylinder)],
        pose: resting,
    },
    PairKind {
        name: "cylinders, quarter turns",
        make: |_| [unit(unit_cylinder), unit(unit_cylinder)],
        pose: aligned,
    },
    PairKind {
        name: "box-cylinder, quarter turns",
        make: |_| [unit(unit_cube), unit(unit_cylinder)],
        pose: aligned,
    },
    PairKind {
        name: "hulls, nested",
        make: |r| [hull_of(r, 16, DVec3::ONE), hull_of(r, 8, DVec3::splat(0.1))],
        pose: |r| r.pose(0.3),
    },
    PairKind { name: "hulls, 1e6 m apart", make: |r| [hull(r), hull(r)], pose: |r| r.pose(1e6) },
    PairKind {
        name: "hulls of 1e-4 m",
        make: |r| [hull_of(r, 12, DVec3::splat(1e-4)), hull_of(r, 12, DVec3::splat(1e-4))],
        pose: |r| r.pose(1.5e-4),
    },
    PairKind {
        name: "stretched 1:1000",
        make: |r| [hull_of(r, 12, DVec3::new(1.0, 1e-3, 1e-3)), hull_of(r, 12, DVec3::new(1.0, 1.0, 1e-3))],
        pose: |r| r.pose(0.5),
    },
    PairKind {
        name: "stretched boxes",
        make: |_| {
            [DVec3::new(1.0, 1e-3, 1e-3), DVec3::new(1.0, 1.0, 1e-3)]
                .map(|h| Solid::Shape(Shape::cuboid(h).unwrap()))
        },
        pose: |r| r.pose(0.5),
    },
    PairKind {
        name: "hulls of 80 faces",
        make: |_| {
            [(); 2].map(|()| {
                let sphere = generate::icosphere(2).unwrap();
                Solid::Shape(Shape::Convex(Arc::new(convex_hull(sphere.vertices()).unwrap())))
            })
        },
        pose: near,
    },
    PairKind { name: "lens-box", make: |r| [lens(r), cuboid(r)], pose: near },
    PairKind { name: "lens-hull", make: |r| [lens(r), hull(r)], pose: near },
    PairKind { name: "lens-sphere", make: |r| [lens(r), sphere(r)], pose: near },
    PairKind { name: "lens-triangle", make: |r| [lens(r), triangle(r)], pose: near },
];

/// Largest errors seen, in units of the larger of size and distance.
#[derive(Debug, Default)]
pub struct Worst {
    pub apart: usize,
    pub deep: usize,
    /// Distance against its own bounds: between the points projected on the normal, and between the planes
    /// across it.
    pub distance: f64,
    /// Depth against the reaches along its normal, and against the least overlap found.
    pub depth: f64,
    /// Nearest points: how far outside the pieces, and from being distance times normal apart.
    pub witness: f64,
    /// Manifold: normal, points in the pieces, deepest point as deep as the distance.
    pub manifold: f64,
    /// Distance with A and B exchanged.
    pub swapped: f64,
    /// Distance with both moved by a common motion.
    pub moved: f64,
    /// Separations of manifolds, with both exchanged or moved: a face is taken for the other's where they are
    /// alike.
    pub manifold_moved: f64,
    /// Computed again with the cache, and after a little motion.
    pub cached: f64,
    /// Poses in which the boolean, the distance and the manifold do not agree on whether they touch.
    pub disagreements: usize,
}

/// Runs a pair over random poses. New pieces every 20 poses.
pub fn worst_errors(pair: &PairKind<Solid>, poses: usize, seed: u64) -> Worst {
    let mut worst = Worst::default();
    let mut cache = PieceCache::default();
    pair.visit(poses, 20, seed, |i, solids, pose, random| {
        // Both orders get their turn.
        let (a, b, pose) = if i % 2 == 0 || matches!(solids[0], Solid::Shape(Shape::HalfSpace(_))) {
            (&solids[0], &solids[1], pose)
        } else {
            (&solids[1], &solids[0], pose.inverse())
        };
        compare(&mut worst, a, b, &pose, random, &mut cache);
    });
    worst
}

/// Error of a distance against the reaches along its normal.
fn reach_error(nearest: &Separation, a: &Solid, b: &Solid, pose: &Pose) -> f64 {
    (overlap(a, b, pose, nearest.normal) + nearest.distance).abs().max((nearest.normal.length() - 1.0).abs())
}

/// Error of nearest points: in the pieces, and d n apart.
fn witness_error(nearest: &Separation, a: &Solid, b: &Solid, pose: &Pose) -> f64 {
    let gap = nearest.point_b - nearest.point_a - nearest.distance * nearest.normal;
    gap.length().max(a.outside(nearest.point_a)).max(b.outside(pose.inverse_point(nearest.point_b)))
}

fn compare(
    worst: &mut Worst,
    a: &Solid,
    b: &Solid,
    pose: &Pose,
    random: &mut Random,
    cache: &mut PieceCache,
) {
    let (piece_a, piece_b) = (a.piece(), b.piece());
    let distance_at =
        |pose: &Pose| distance_pieces(&piece_a, &piece_b, pose, &mut PieceCache::default()).unwrap();
    let nearest = distance_at(pose);
    let unit = a.size().max(b.size()).max(nearest.distance.abs());
    let mut error = reach_error(&nearest, a, b, pose);
    let witness = witness_error(&nearest, a, b, pose);
    if nearest.distance < 0.0 {
        worst.deep += 1;
        // Deeper than needed in some direction that was tried.
        error = error.max(-nearest.distance - least_overlap(a, b, pose, random));
        note(&mut worst.depth, error / unit);
    } else {
        worst.apart += 1;
        let between = (nearest.point_b - nearest.point_a).dot(nearest.normal);
        note(&mut worst.distance, error.max((between - nearest.distance).abs()) / unit);
    }
    note(&mut worst.witness, witness / unit);
    let back = distance_pieces(&piece_b, &piece_a, &pose.inverse(), &mut PieceCache::default()).unwrap();
    note(&mut worst.swapped, (back.distance - nearest.distance).abs() / unit);
    let common = random.pose(10.0);
    let moved_pose = common.relative(&(common * *pose));
    note(&mut worst.moved, (distance_at(&moved_pose).distance - nearest.distance).abs() / unit);

    let margin = 0.1 * random.between(0.0, 1.0) * unit;
    let collide = |pose: &Pose, cache: &mut PieceCache| {
        collide_pieces(&piece_a, &piece_b, pose, margin, cache).unwrap()
    };
    let found = collide(pose, &mut PieceCache::default());
    let sure = (nearest.distance - margin).abs() > 1e-7 * unit;
    let meet = pieces_intersect(&piece_a, &piece_b, pose, &mut PieceCache::default()).unwrap();
    if (sure && found.is_some() != (nearest.distance <= margin))
        || (nearest.distance.abs() > 1e-7 * unit && meet != (nearest.distance <= 0.0))
    {
        worst.disagreements += 1;
    }
    let again = collide(pose, cache);
    let twice = collide(pose, cache);
    let depth = |manifold: &Option<Manifold>| manifold.and_then(|m| m.deepest().map(|p| p.separation));
    let differ = |p: Option<f64>, q: Option<f64>| p.zip(q).map_or(0.0, |(p, q)| (p - q).abs());
    note(
        &mut worst.cached,
        differ(depth(&found), depth(&again)).max(differ(depth(&again), depth(&twice))) / unit,
    );
    let Some(manifold) = found else { return };
    note(&mut worst.manifold, manifold_error(&manifold, a, b, pose, margin, nearest.distance) / unit);
    let swapped =
        collide_pieces(&piece_b, &piece_a, &pose.inverse(), margin, &mut PieceCache::default()).unwrap();
    note(&mut worst.manifold_moved, differ(depth(&found), depth(&swapped)) / unit);
    let moved = collide(&moved_pose, &mut PieceCache::default());
    note(&mut worst.manifold_moved, differ(depth(&found), depth(&moved)) / unit);
    let ours = matched(&manifold, swapped.map(|other| other.swapped(&pose.inverse())).as_ref());
    note(&mut worst.manifold_moved, ours / unit);
    note(&mut worst.manifold_moved, matched(&manifold, moved.as_ref()) / unit);
}

/// Largest distance of a point from its namesake, if the normals are the same; ties may fall either way.
fn matched(manifold: &Manifold, other: Option<&Manifold>) -> f64 {
    let Some(other) = other else { return 0.0 };
    if (other.normal - manifold.normal).length() > 1e-9 {
        return 0.0;
    }
    let mut worst: f64 = 0.0;
    for point in manifold.points() {
        if let Some(namesake) = other.points().iter().find(|p| p.id == point.id) {
            worst = worst.max((namesake.separation - point.separation).abs());
        }
    }
    worst
}

fn manifold_error(manifold: &Manifold, a: &Solid, b: &Solid, pose: &Pose, margin: f64, distance: f64) -> f64 {
    let points = manifold.points();
    assert!(!points.is_empty() && points.len() <= 4);
    let mut error = (manifold.normal.length() - 1.0).abs();
    for point in points {
        assert!(point.separation <= margin, "{} beyond {margin}", point.separation);
        let gap = point.point_b - point.point_a - point.separation * manifold.normal;
        // Lines at a small angle touch at places of their own.
        assert!(gap.length() <= 0.05 * (a.size() + b.size()));
        error = error
            .max(gap.dot(manifold.normal).abs())
            .max(a.outside(point.point_a))
            .max(b.outside(pose.inverse_point(point.point_b)));
    }
    let deepest = manifold.deepest().map_or(f64::NAN, |point| point.separation);
    error = error.max((deepest - distance).abs());
    // Moved apart by the depth along the normal, nothing overlaps any more.
    error.max((overlap(a, b, pose, manifold.normal) + deepest).abs())
}
