//! Nearest points of polyhedra by trying everything: slow, and too simple to be wrong.
//!
//! Apart: the least distance over all pairs vertex–face and edge–edge. Overlapping: the least overlap over
//! all directions that can be normals of Ψ's faces: faces of A, faces of B, products of edges.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::Arc;

use glam::{DQuat, DVec3};
use parry3d_f64::math as parry_math;
use parry3d_f64::shape as parry;
use rattleback_geometry::closest::{self, Feature, FeatureMap, GjkCache};
use rattleback_geometry::{ConvexPolyhedron, Polyhedron, Pose, Shape, convex_hull, generate};

use crate::pair_kind::{PairKind, note};
use crate::random::Random;

/// A polyhedron placed in the other's frame.
pub struct Placed {
    pub vertices: Vec<DVec3>,
    pub faces: Vec<Vec<usize>>,
    pub normals: Vec<DVec3>,
    pub edges: Vec<[usize; 2]>,
    /// Edges without those of the same direction.
    pub directions: Vec<DVec3>,
}

pub fn placed(polyhedron: &ConvexPolyhedron, pose: &Pose) -> Placed {
    let rotation = pose.rotation_matrix();
    let vertices: Vec<DVec3> =
        polyhedron.vertices().iter().map(|&p| rotation * p + pose.translation).collect();
    let edges: Vec<[usize; 2]> =
        polyhedron.edges().iter().map(|edge| edge.vertices.map(|v| v as usize)).collect();
    let mut directions: Vec<DVec3> = Vec::new();
    for &[i, j] in &edges {
        let d = (vertices[j] - vertices[i]).normalize();
        if directions.iter().all(|known| known.cross(d).length() > 1e-12) {
            directions.push(d);
        }
    }
    Placed {
        vertices,
        faces: polyhedron.faces().map(|face| face.iter().map(|&v| v as usize).collect()).collect(),
        normals: polyhedron.normals().iter().map(|&n| rotation * n).collect(),
        edges,
        directions,
    }
}

pub fn point_to_face(p: DVec3, solid: &Placed, face: usize) -> f64 {
    let corners = &solid.faces[face];
    let n = solid.normals[face];
    let inside = (0..corners.len()).all(|i| {
        let (a, b) = (solid.vertices[corners[i]], solid.vertices[corners[(i + 1) % corners.len()]]);
        n.cross(b - a).dot(p - a) >= 0.0
    });
    if inside { n.dot(p - solid.vertices[corners[0]]).abs() } else { f64::INFINITY }
}

/// Least distance of two segments: inside both by the 2×2 system, or at one of the four ends.
pub fn segment_to_segment(a: [DVec3; 2], b: [DVec3; 2]) -> f64 {
    let (u, v, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let mut least = f64::INFINITY;
    let cross = u.cross(v);
    let c2 = cross.length_squared();
    if c2 > 1e-24 * u.length_squared() * v.length_squared() {
        let s = -r.cross(v).dot(cross) / c2;
        let t = -r.cross(u).dot(cross) / c2;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            // Measured along the common normal: the two feet would each carry the error of s and t.
            least = cross.dot(r).abs() / c2.sqrt();
        }
    }
    for end in a {
        least = least.min(point_to_segment(end, b));
    }
    for end in b {
        least = least.min(point_to_segment(end, a));
    }
    least
}

pub fn point_to_segment(p: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let ab = b - a;
    let t = ((p - a).dot(ab) / ab.length_squared()).clamp(0.0, 1.0);
    (a + t * ab - p).length()
}

/// Least distance of the surfaces.
pub fn surface_distance(a: &Placed, b: &Placed) -> f64 {
    let mut least = f64::INFINITY;
    for (from, to) in [(a, b), (b, a)] {
        for &p in &from.vertices {
            for face in 0..to.faces.len() {
                least = least.min(point_to_face(p, to, face));
            }
        }
    }
    for &[i, j] in &a.edges {
        for &[k, l] in &b.edges {
            least =
                least.min(segment_to_segment([a.vertices[i], a.vertices[j]], [b.vertices[k], b.vertices[l]]));
        }
    }
    least
}

/// Least overlap over all possible face normals of Ψ = A − B: negative if a direction separates.
pub fn least_overlap(a: &Placed, b: &Placed) -> (f64, DVec3) {
    let mut best = (f64::INFINITY, DVec3::ZERO);
    let reach =
        |points: &[DVec3], n: DVec3| points.iter().map(|p| p.dot(n)).fold(f64::NEG_INFINITY, f64::max);
    let mut try_normal = |n: DVec3| {
        let overlap = reach(&a.vertices, n) + reach(&b.vertices, -n);
        if overlap < best.0 {
            best = (overlap, n);
        }
    };
    a.normals.iter().for_each(|&n| try_normal(n));
    b.normals.iter().for_each(|&n| try_normal(-n));
    for u in &a.directions {
        for v in &b.directions {
            let cross = u.cross(*v);
            if cross.length() > 1e-9 {
                try_normal(cross.normalize());
                try_normal(-cross.normalize());
            }
        }
    }
    best
}

/// Signed distance of two polyhedra by trying everything.
pub fn signed_distance(a: &ConvexPolyhedron, b: &ConvexPolyhedron, b_in_a: &Pose) -> f64 {
    let (a, b) = (placed(a, &Pose::IDENTITY), placed(b, b_in_a));
    let overlap = least_overlap(&a, &b).0;
    if overlap > 0.0 { -overlap } else { surface_distance(&a, &b) }
}

/// The hull of `count` random points in a box of the given half extents.
pub fn random_hull(random: &mut Random, count: usize, size: DVec3) -> ConvexPolyhedron {
    loop {
        let points: Vec<DVec3> = (0..count).map(|_| random.in_cube() * size).collect();
        if let Ok(hull) = convex_hull(&points) {
            return hull;
        }
    }
}

/// Half extents ⇒ a box as a polyhedron of six faces.
pub fn cuboid_hull(half_extents: DVec3) -> ConvexPolyhedron {
    ConvexPolyhedron::new(Polyhedron::new(&generate::cuboid(half_extents).unwrap()).unwrap()).unwrap()
}

/// A hull with `10·4^(level−1) + 2` vertices on the unit sphere.
pub fn sphere_hull(level: u32) -> ConvexPolyhedron {
    convex_hull(generate::icosphere(level).unwrap().vertices()).unwrap()
}

pub fn parry_vector(p: DVec3) -> parry_math::Vector {
    parry_math::Vector::new(p.x, p.y, p.z)
}

pub fn parry_pose(pose: &Pose) -> parry_math::Pose {
    let q: DQuat = pose.rotation;
    parry_math::Pose {
        rotation: parry_math::Rotation::from_xyzw(q.x, q.y, q.z, q.w),
        translation: parry_vector(pose.translation),
    }
}

/// The same shape in parry; cylinders, cones and capsules stand along y there, so they come with a turn.
pub fn parry_shape(shape: &Shape) -> Option<(parry::SharedShape, Pose)> {
    let upright = Pose::new(DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2), DVec3::ZERO);
    Some(match shape {
        Shape::Sphere(s) => (parry::SharedShape::ball(s.radius()), Pose::IDENTITY),
        Shape::Cuboid(c) => {
            let h = c.half_extents();
            (parry::SharedShape::cuboid(h.x, h.y, h.z), Pose::IDENTITY)
        }
        Shape::Cylinder(c) => (parry::SharedShape::cylinder(0.5 * c.height(), c.radius()), upright),
        Shape::Capsule(c) => (parry::SharedShape::capsule_y(0.5 * c.height(), c.radius()), upright),
        Shape::Cone(c) => {
            let base_to_middle = DVec3::Z * 0.25 * c.height();
            let pose = Pose::new(upright.rotation, base_to_middle);
            (parry::SharedShape::cone(0.5 * c.height(), c.radius()), pose)
        }
        Shape::Convex(hull) => (parry::SharedShape::new(parry_hull(hull)?), Pose::IDENTITY),
        _ => return None,
    })
}

pub fn parry_hull(hull: &ConvexPolyhedron) -> Option<parry::ConvexPolyhedron> {
    parry::ConvexPolyhedron::from_convex_hull(
        &hull.vertices().iter().map(|&p| parry_vector(p)).collect::<Vec<_>>(),
    )
}

pub fn convex(hull: ConvexPolyhedron) -> Shape {
    Shape::Convex(Arc::new(hull))
}

fn any_pose(random: &mut Random) -> Pose {
    random.pose(2.0)
}

fn hull_pair(random: &mut Random) -> [ConvexPolyhedron; 2] {
    [(); 2].map(|()| {
        let count = 4 + (random.bits() % 17) as usize;
        random_hull(random, count, DVec3::ONE)
    })
}

fn box_pair(random: &mut Random) -> [ConvexPolyhedron; 2] {
    [(); 2].map(|()| cuboid_hull(DVec3::splat(0.6) + 0.4 * random.in_cube()))
}

/// One to a thousand between length and thickness.
fn stretched_pair(random: &mut Random) -> [ConvexPolyhedron; 2] {
    let sizes = [DVec3::new(1.0, 1e-3, 1e-3), DVec3::new(1.0, 1.0, 1e-3)];
    sizes.map(|size| if random.bits() & 1 == 0 { random_hull(random, 12, size) } else { cuboid_hull(size) })
}

/// Quarter turns, and places where faces, edges and corners coincide in one plane, line or point.
fn aligned_pose(random: &mut Random) -> Pose {
    let quarter = std::f64::consts::FRAC_PI_2;
    let turn = DQuat::from_axis_angle(
        DVec3::AXES[(random.bits() % 3) as usize],
        quarter * (random.bits() % 4) as f64,
    );
    let steps = [-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0];
    let mut step = || steps[(random.bits() % 9) as usize];
    Pose::new(turn, DVec3::new(step(), step(), step()))
}

/// Only rotated about the normal of the faces opposite each other.
fn parallel_pose(random: &mut Random) -> Pose {
    Pose::new(
        DQuat::from_rotation_z(random.between(-3.0, 3.0)),
        DVec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(1.5, 2.5)),
    )
}

/// Surfaces touch within a millionth to a ten-thousand-millionth.
fn shallow_pose(random: &mut Random) -> Pose {
    let gap = 10f64.powf(random.between(-10.0, -4.0)) * if random.bits() & 1 == 0 { 1.0 } else { -1.0 };
    Pose::new(DQuat::from_rotation_z(random.between(-3.0, 3.0)), DVec3::new(0.3, 0.1, 2.0 + gap))
}

fn far_pose(random: &mut Random) -> Pose {
    Pose::new(random.rotation(), 1e6 * random.on_sphere())
}

fn unit_boxes(_: &mut Random) -> [ConvexPolyhedron; 2] {
    [cuboid_hull(DVec3::ONE), cuboid_hull(DVec3::ONE)]
}

pub const PAIRS: &[PairKind<ConvexPolyhedron>] = &[
    PairKind { name: "hulls", make: hull_pair, pose: any_pose },
    PairKind { name: "boxes", make: box_pair, pose: any_pose },
    PairKind { name: "boxes, quarter turns", make: unit_boxes, pose: aligned_pose },
    PairKind { name: "boxes, parallel faces", make: unit_boxes, pose: parallel_pose },
    PairKind { name: "boxes, nearly touching", make: unit_boxes, pose: shallow_pose },
    PairKind {
        name: "hulls, nested",
        make: |r| [random_hull(r, 16, DVec3::ONE), random_hull(r, 8, DVec3::splat(0.1))],
        pose: |r| r.pose(0.3),
    },
    PairKind { name: "hulls, 1e6 m apart", make: hull_pair, pose: far_pose },
    PairKind {
        name: "hulls of 1e-4 m",
        make: |r| [random_hull(r, 12, DVec3::splat(1e-4)), random_hull(r, 12, DVec3::splat(1e-4))],
        pose: |r| r.pose(2e-4),
    },
    PairKind {
        name: "large and tiny",
        make: |r| [random_hull(r, 12, DVec3::ONE), random_hull(r, 12, DVec3::splat(1e-4))],
        pose: |r| r.pose(1.5),
    },
    PairKind { name: "stretched 1:1000", make: stretched_pair, pose: |r| r.pose(0.7) },
];

#[derive(Debug, Default)]
pub struct Worst {
    pub apart: usize,
    pub deep: usize,
    pub distance: f64,
    pub depth: f64,
    pub witness: f64,
    pub swapped: f64,
    pub moved: f64,
    pub parry: f64,
}

/// Runs both searches over random poses. New polyhedra every 50 poses.
pub fn worst_errors(pair: &PairKind<ConvexPolyhedron>, poses: usize, seed: u64) -> Worst {
    let mut worst = Worst::default();
    pair.visit(poses, 50, seed, |_, solids, pose, random| compare(&mut worst, solids, &pose, random));
    worst
}

fn compare(worst: &mut Worst, [a, b]: &[ConvexPolyhedron; 2], pose: &Pose, random: &mut Random) {
    let (placed_a, placed_b) = (placed(a, &Pose::IDENTITY), placed(b, pose));
    let (overlap, _) = least_overlap(&placed_a, &placed_b);
    let ours = closest::signed_distance(a, b, pose, &mut GjkCache::default()).unwrap();
    let size = a.vertices().iter().chain(b.vertices()).map(|p| p.length()).fold(0.0, f64::max);
    let expected = if overlap > 0.0 { -overlap } else { surface_distance(&placed_a, &placed_b) };
    let unit = size.max(expected.abs());
    if overlap > 0.0 {
        worst.deep += 1;
        note(&mut worst.depth, (ours.distance - expected).abs() / unit);
    } else {
        worst.apart += 1;
        note(&mut worst.distance, (ours.distance - expected).abs() / unit);
    }
    // The points are nearest if they lie in the solids and differ by distance times normal.
    let gap = ours.point_b - ours.point_a - ours.distance * ours.normal;
    let out_of_a = a.normals().iter().zip(a.offsets()).map(|(n, o)| n.dot(ours.point_a) - o);
    let local = pose.inverse_point(ours.point_b);
    let out_of_b = b.normals().iter().zip(b.offsets()).map(|(n, o)| n.dot(local) - o);
    note(&mut worst.witness, out_of_a.chain(out_of_b).fold(gap.length(), f64::max) / unit);
    let back = closest::signed_distance(b, a, &pose.inverse(), &mut GjkCache::default()).unwrap();
    note(&mut worst.swapped, (back.distance - ours.distance).abs() / unit);
    let common = random.pose(10.0);
    let moved = common.relative(&(common * *pose));
    let again = closest::signed_distance(a, b, &moved, &mut GjkCache::default()).unwrap();
    note(&mut worst.moved, (again.distance - ours.distance).abs() / unit);
    if let (Some(pa), Some(pb)) = (parry_hull(a), parry_hull(b)) {
        let identity = parry_pose(&Pose::IDENTITY);
        let contact = parry3d_f64::query::contact(&identity, &pa, &parry_pose(pose), &pb, f64::MAX);
        if let Ok(Some(contact)) = contact {
            note(&mut worst.parry, (contact.dist - expected).abs() / unit);
        }
    }
}

/// Number of random cases: that of the environment, or a default.
pub fn cases(default: usize) -> usize {
    std::env::var("CLOSEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A random feature of a polyhedron.
pub fn any_feature(random: &mut Random, map: &FeatureMap) -> Feature {
    let polyhedron = map.polyhedron();
    let kind = random.bits() % 3;
    let mut number = |count: usize| (random.bits() % count as u64) as u32;
    match kind {
        0 => Feature::Vertex(number(polyhedron.vertices().len())),
        1 => Feature::Edge(number(polyhedron.edges().len())),
        _ => Feature::Face(number(polyhedron.face_count())),
    }
}
