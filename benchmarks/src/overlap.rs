//! How deep bodies overlap, by a code that belongs to none of the engines: the nearest points of `parry3d-f64` (GJK and EPA in double
//! precision) between the exact shapes of a scene at the poses an engine ended with.
//!
//! The overlap of two parts is the least distance by which one has to be moved to be free of the other; that of a part and a mesh the
//! largest of those with its triangles. Pairs that may not touch (groups, joints) do not count. An EPA may give up; therefore every
//! pair of convex parts is also measured by separating axes (`rattleback_geometry`), and the largest difference is reported.

use std::collections::HashSet;
use std::sync::Arc;

use parry3d_f64::query::contact;
use parry3d_f64::shape::SharedShape;
use rattleback_dynamics::Status;
use rattleback_geometry::contact::{Piece, PieceCache, collide_pieces};
use rattleback_geometry::{Aabb, Pose, Shape};
use rattleback_scene::stress::{StressBody, StressScene};

use crate::outcome::{Outcome, lists};

mod parry {
    crate::peer_numbers!(parry3d_f64, f64);
}

/// How deep the bodies of a scene overlap, and how high they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlaps {
    /// Pairs of parts that overlap.
    pub pairs: usize,
    /// Mean overlap of these, m.
    pub mean: f64,
    /// Overlap that 99 % of them do not exceed, m.
    pub high: f64,
    /// Largest overlap, m.
    pub deepest: f64,
    /// Mean height of the centres of mass of the dynamic bodies, m.
    pub height: f64,
    /// Largest difference between the meter and separating axes, m.
    pub doubt: f64,
}

/// A part of a body where it ended.
struct Placed<'s> {
    body: (usize, usize),
    dynamic: bool,
    of: &'s StressBody,
    of_shape: &'s Shape,
    /// Its place in the list of shapes made for the meter.
    shape: usize,
    pose: Pose,
    bounds: Aabb,
}

/// The shapes of a scene as the meter uses them. Made once: hulls and meshes take time.
pub struct OverlapMeter<'s> {
    scene: &'s StressScene,
    shapes: Vec<SharedShape>,
    /// By list and body: its first shape.
    first: Vec<Vec<usize>>,
    /// By list and body: its centre of mass in its frame.
    centers: Vec<Vec<glam::DVec3>>,
    joined: HashSet<[(usize, usize); 2]>,
}

fn made(shape: &Shape) -> SharedShape {
    match shape {
        Shape::Sphere(sphere) => SharedShape::ball(sphere.radius()),
        Shape::Cuboid(cuboid) => {
            let half = cuboid.half_extents();
            SharedShape::cuboid(half.x, half.y, half.z)
        }
        Shape::Capsule(capsule) => SharedShape::capsule_z(0.5 * capsule.height(), capsule.radius()),
        Shape::Convex(hull) => {
            let points: Vec<_> = hull.polyhedron().vertices().iter().map(|p| parry::vector(*p)).collect();
            SharedShape::convex_hull(&points).expect("a hull")
        }
        Shape::Mesh(mesh) => {
            let vertices = mesh.vertices().iter().map(|p| parry::vector(*p)).collect();
            SharedShape::trimesh(vertices, mesh.triangles().to_vec()).expect("a mesh")
        }
        other => panic!("no scene has {other:?}"),
    }
}

/// Whether two large shapes are one and the same.
fn is_same(one: &Shape, other: &Shape) -> bool {
    match (one, other) {
        (Shape::Convex(one), Shape::Convex(other)) => Arc::ptr_eq(one, other),
        (Shape::Mesh(one), Shape::Mesh(other)) => Arc::ptr_eq(one, other),
        _ => false,
    }
}

fn center_of_mass(body: &StressBody) -> glam::DVec3 {
    let mut sum = (glam::DVec3::ZERO, 0.0);
    for (shape, pose) in &body.shapes {
        if let Ok(properties) = shape.mass_properties(1.0) {
            sum.0 += properties.mass * pose.point(properties.center_of_mass);
            sum.1 += properties.mass;
        }
    }
    if sum.1 > 0.0 { sum.0 / sum.1 } else { glam::DVec3::ZERO }
}

impl<'s> OverlapMeter<'s> {
    /// Takes the shapes of a scene over.
    pub fn new(scene: &'s StressScene) -> Self {
        let mut meter = Self {
            scene,
            shapes: Vec::new(),
            first: Vec::new(),
            centers: Vec::new(),
            joined: HashSet::new(),
        };
        // Scenes repeat one hull thousands of times.
        let mut known: Vec<(&Shape, SharedShape)> = Vec::new();
        for (list, (bodies, joints)) in lists(scene).enumerate() {
            let (mut first, mut centers) = (Vec::new(), Vec::new());
            for body in bodies {
                first.push(meter.shapes.len());
                centers.push(if body.status == Status::Dynamic {
                    center_of_mass(body)
                } else {
                    glam::DVec3::ZERO
                });
                for (shape, _) in &body.shapes {
                    let same = known.iter().find(|(other, _)| is_same(shape, other));
                    let shared = same.map(|(_, shared)| shared.clone()).unwrap_or_else(|| made(shape));
                    if same.is_none() && matches!(shape, Shape::Convex(_) | Shape::Mesh(_)) {
                        known.push((shape, shared.clone()));
                    }
                    meter.shapes.push(shared);
                }
            }
            meter.first.push(first);
            meter.centers.push(centers);
            for joint in joints {
                let [a, b] = joint.bodies.map(|body| (list, body));
                meter.joined.extend([[a, b], [b, a]]);
            }
        }
        meter
    }

    /// Judges where bodies ended.
    pub fn measure(&self, outcome: &Outcome) -> Overlaps {
        let mut parts = Vec::new();
        let (mut height, mut count) = (0.0, 0_usize);
        for (list, ((bodies, _), frames)) in lists(self.scene).zip(&outcome.frames).enumerate() {
            for (index, (body, frame)) in bodies.iter().zip(frames).enumerate() {
                let dynamic = body.status == Status::Dynamic;
                if dynamic {
                    height += frame.point(self.centers[list][index]).y;
                    count += 1;
                }
                for (k, (shape, place)) in body.shapes.iter().enumerate() {
                    let pose = *frame * *place;
                    let Some(bounds) = shape.aabb(&pose) else { continue };
                    let (of_shape, shape) = (shape, self.first[list][index] + k);
                    parts.push(Placed {
                        body: (list, index),
                        dynamic,
                        of: body,
                        of_shape,
                        shape,
                        pose,
                        bounds,
                    });
                }
            }
        }
        let mut overlaps = Overlaps { height: height / count.max(1) as f64, ..Overlaps::default() };
        let mut depths = Vec::new();
        for (a, b) in near(&parts) {
            let (a, b) = (&parts[a], &parts[b]);
            if a.body == b.body || !a.of.groups.admits(b.of.groups) || self.joined.contains(&[a.body, b.body])
            {
                continue;
            }
            let [one, other] = [a, b].map(|part| (parry::pose(&part.pose), &*self.shapes[part.shape]));
            let found = contact(&one.0, one.1, &other.0, other.1, 0.0).ok().flatten();
            let depth = found.map_or(0.0, |touch| (-touch.dist).max(0.0));
            if depth > 0.0 {
                depths.push(depth);
            }
            if let Some(other) = by_axes(a, b) {
                overlaps.doubt = overlaps.doubt.max((depth - other).abs());
            }
        }
        depths.sort_by(f64::total_cmp);
        overlaps.pairs = depths.len();
        overlaps.mean = depths.iter().fold(0.0, |sum, depth| sum + depth) / depths.len().max(1) as f64;
        overlaps.high = depths.get(depths.len() * 99 / 100).copied().unwrap_or(0.0);
        overlaps.deepest = depths.last().copied().unwrap_or(0.0);
        overlaps
    }
}

/// The same overlap by other means; nothing of meshes.
fn by_axes(a: &Placed<'_>, b: &Placed<'_>) -> Option<f64> {
    let (one, other) = (Piece::try_from(a.of_shape).ok()?, Piece::try_from(b.of_shape).ok()?);
    let nearest = collide_pieces(&one, &other, &a.pose.relative(&b.pose), 0.0, &mut PieceCache::default());
    Some(nearest.ok()?.and_then(|manifold| Some(-manifold.deepest()?.separation)).map_or(0.0, |d| d.max(0.0)))
}

/// Pairs whose boxes overlap and of which at least one is dynamic: one sweep along x.
fn near(parts: &[Placed<'_>]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|a, b| parts[*a].bounds.min().x.total_cmp(&parts[*b].bounds.min().x));
    let (mut moving, mut still): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut pairs = Vec::new();
    for next in order {
        let bounds = &parts[next].bounds;
        let mut against = |active: &mut Vec<usize>| {
            active.retain(|other| parts[*other].bounds.max().x >= bounds.min().x);
            let overlaps = |other: &&usize| {
                let other = &parts[**other].bounds;
                bounds.min().cmple(other.max()).all() && other.min().cmple(bounds.max()).all()
            };
            pairs.extend(active.iter().filter(overlaps).map(|other| (*other, next)));
        };
        against(&mut moving);
        if parts[next].dynamic {
            against(&mut still);
            moving.push(next);
        } else {
            still.push(next);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use glam::DVec3;
    use rattleback_scene::stress::stress_scene;

    /// A pyramid as it is built touches and does not overlap; sunk by a little, every pair one above the other overlaps by that.
    #[test]
    fn overlaps_of_a_pyramid() {
        let scene = stress_scene("wide-pyramid").unwrap().unwrap();
        let meter = OverlapMeter::new(&scene);
        let frames = |sink: f64| {
            let placed = |body: &StressBody| {
                let layer = ((body.position.y - 1.0) / 2.5).round();
                let fixed = body.status == Status::Fixed;
                let y = if fixed { body.position.y } else { 0.975 + layer * 1.95 - sink * (layer + 1.0) };
                Pose::at(DVec3::new(body.position.x, y, body.position.z))
            };
            Outcome { frames: vec![scene.bodies.iter().map(placed).collect()], asleep: 0 }
        };
        assert_eq!(meter.measure(&frames(-1e-6)).pairs, 0);
        let overlaps = meter.measure(&frames(1e-3));
        // 15² on the ground, and four below each of the others.
        assert_eq!(overlaps.pairs, 225 + 4 * (1240 - 225));
        assert!((overlaps.mean - 1e-3).abs() < 1e-9 && (overlaps.deepest - 1e-3).abs() < 1e-9 && overlaps.doubt < 1e-9);
    }

    /// Parry and separating axes agree on hulls in any position.
    #[test]
    fn judges_agree() {
        let mut random = Random(17);
        for _ in 0..50 {
            let [a, b] = [0, 1].map(|_| {
                let points: Vec<_> = (0..16).map(|_| random.on_sphere()).collect();
                Shape::convex_hull(&points).unwrap()
            });
            for _ in 0..20 {
                let pose = random.pose(1.2);
                let touch =
                    contact(&parry::pose(&Pose::IDENTITY), &*made(&a), &parry::pose(&pose), &*made(&b), 0.0);
                let depth = touch.unwrap().map_or(0.0, |touch| (-touch.dist).max(0.0));
                let [one, other] = [&a, &b].map(|shape| Piece::try_from(shape).unwrap());
                let found = collide_pieces(&one, &other, &pose, 0.0, &mut PieceCache::default()).unwrap();
                let ours = found.map_or(0.0, |manifold| -manifold.deepest().unwrap().separation);
                assert!((depth - ours).abs() < 1e-6, "{depth} {ours}");
            }
        }
    }
}
