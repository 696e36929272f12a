//! Two solids that overlap, region by region.
//!
//! Triangles that cross are joined into regions along neighbouring triangles. Corners of theirs inside the
//! other solid lead on, over edges that do not cross, to the vertices inside. The points of a region are
//! these and the ends of the segments that crossing triangles share. Let A's points be the vertices of A
//! inside B and the segments' ends, B's alike. Moved along n by
//!
//! depth(n) = max n·p over A's points − min n·p over B's points,
//!
//! B leaves A here, provided that A really ends at its highest point and B at its lowest: that the surfaces
//! there face along n and −n. Candidates are the normals of A's triangles, those of B's reversed, the
//! directions across an edge of A and one of B, and the direction of the region's area vector, ∫N dA over A's
//! surface inside B less the same over B's; the least depth wins.
//!
//! At a point of contact the column along n through it gives the two points: up to A's surface, down to B's.
//!
//! One solid inside another has no crossing triangles: it leaves through the surface nearest to the middle of
//! its box.

use glam::DVec3;
use rattleback_numerics::UnionFind;

use super::ContactError;
use super::cache::Workspace;
use super::surface::{Surface, unit_normal};
use super::surface_pair::SurfacePair;
use crate::EdgeKind;
use crate::contact::reduce::widest_first;
use crate::contact::{ContactPoint, Manifold};
use crate::hierarchy::Ray;
use crate::primitive::{LineSegment, Tolerances, Triangle, closest_segment_segment, triangle_triangle};

/// Directions nearer to each other than this (cosine) count once.
const SAME_DIRECTION: f64 = 0.9998;
/// Most directions tried in a region.
const MAX_DIRECTIONS: usize = 48;
/// Regions of more crossing pairs than this are too finely cut for two edges to decide.
const MAX_EDGE_PAIRS: usize = 64;
/// A surface faces along a direction if its normal is within 60° of it.
const FACES: f64 = 0.5;

/// Workspace of one query.
#[derive(Clone, Debug, Default)]
pub(super) struct SolidWork {
    /// Crossing triangles, ascending.
    crossing: Vec<[u32; 2]>,
    /// Regions of overlap, as sets of indices of crossing pairs.
    regions: UnionFind,
    /// Crossing pairs of the present region.
    members: Vec<[u32; 2]>,
    points: Vec<RegionPoint>,
    /// Triangles of A and of B in the region.
    triangles: [Vec<u32>; 2],
    queue: Vec<u32>,
    seen: Vec<u32>,
    listed: Vec<u32>,
    seeds: Vec<ContactPoint>,
    directions: Vec<DVec3>,
}

/// A point of a region, in A's frame.
#[derive(Clone, Copy, Debug)]
struct RegionPoint {
    p: DVec3,
    /// On A, on B.
    on: [bool; 2],
    /// Normals of the surfaces there; zero at a vertex, which faces every direction.
    normals: [DVec3; 2],
}

impl RegionPoint {
    fn vertex(p: DVec3, side: usize) -> Self {
        Self { p, on: [side == 0, side == 1], normals: [DVec3::ZERO; 2] }
    }
}

impl SurfacePair<'_> {
    /// Appends to `work.raw` a manifold for each region in which two solids overlap; returns whether there is
    /// any.
    pub(super) fn collide_solids(&self, work: &mut Workspace) -> Result<bool, ContactError> {
        let mut solid = std::mem::take(&mut work.solid);
        let found = self.regions(&mut solid, work);
        work.solid = solid;
        found
    }

    fn regions(&self, solid: &mut SolidWork, work: &mut Workspace) -> Result<bool, ContactError> {
        self.crossing_pairs(solid, work)?;
        if solid.crossing.is_empty() {
            let nested = self.nested(work)?;
            work.raw.extend(nested);
            return Ok(nested.is_some());
        }
        join_regions(&self.a, &self.b, solid);
        for first in 0..solid.crossing.len() {
            if !solid.regions.is_root(first as u32) {
                continue;
            }
            solid.members.clear();
            for i in first..solid.crossing.len() {
                if solid.regions.find(i as u32) as usize == first {
                    solid.members.push(solid.crossing[i]);
                }
            }
            self.collect_points(solid, work)?;
            work.raw.extend(self.measure(solid));
        }
        Ok(true)
    }

    /// Fills `solid.crossing`.
    fn crossing_pairs(&self, solid: &mut SolidWork, work: &mut Workspace) -> Result<(), ContactError> {
        let pairs = &mut solid.crossing;
        pairs.clear();
        if let (Surface::Mesh(a), Surface::Mesh(b)) = (self.a, self.b) {
            a.tree()?.crossing_pairs(b.tree()?, &self.b_in_a, &mut work.scratch, |i, j| {
                pairs.push([i, j]);
                std::ops::ControlFlow::Continue(())
            });
        } else {
            self.gather(0.0, work)?;
            let tolerances = Tolerances::default();
            pairs.extend(work.found_pairs.iter().filter(|[i, j]| {
                let (t, u) = self.triangles(*i, *j);
                triangle_triangle(&t.into(), &u.into(), &tolerances).is_some()
            }));
        }
        pairs.sort_unstable();
        Ok(())
    }

    fn triangles(&self, i: u32, j: u32) -> ([DVec3; 3], [DVec3; 3]) {
        (self.a.triangle(i), self.b.triangle(j).map(|p| self.b_in_a.point(p)))
    }

    /// Points and triangles of the region of `solid.members`.
    fn collect_points(&self, solid: &mut SolidWork, work: &mut Workspace) -> Result<(), ContactError> {
        solid.points.clear();
        let tolerances = Tolerances::default();
        for &[i, j] in &solid.members {
            let (t, u) = self.triangles(i, j);
            let normals = [unit_normal(&t), unit_normal(&u)];
            let Some(overlap) = triangle_triangle(&Triangle::from(t), &Triangle::from(u), &tolerances) else {
                continue;
            };
            let ends = [overlap.segment.start, overlap.segment.end];
            solid.points.extend(ends.map(|p| RegionPoint { p, on: [true; 2], normals }));
        }
        for side in 0..2 {
            self.collect_inside(side, solid, work)?;
        }
        Ok(())
    }

    /// Vertices of one solid inside the other, reached from the region's triangles; and the triangles around
    /// them.
    fn collect_inside(
        &self,
        side: usize,
        solid: &mut SolidWork,
        work: &mut Workspace,
    ) -> Result<(), ContactError> {
        let (own, other) = if side == 0 { (self.a, self.b) } else { (self.b, self.a) };
        let triangles = &mut solid.triangles[side];
        triangles.clear();
        triangles.extend(solid.members.iter().map(|pair| pair[side]));
        triangles.sort_unstable();
        triangles.dedup();
        solid.queue.clear();
        solid.seen.clear();
        for &i in &solid.triangles[side] {
            solid.seen.extend(own.corners(i));
        }
        solid.seen.sort_unstable();
        solid.seen.dedup();
        for &v in &solid.seen {
            let local = own.vertex(v);
            let (here, there) = if side == 0 {
                (local, self.b_in_a.inverse_point(local))
            } else {
                (self.b_in_a.point(local), self.b_in_a.point(local))
            };
            if inside(&other, there, work)? {
                solid.queue.push(v);
                solid.points.push(RegionPoint::vertex(here, side));
            }
        }
        // Beyond the crossing triangles no edge crosses: vertices connected to an inside vertex are inside.
        while let Some(v) = solid.queue.pop() {
            own.all_joined(v, |w| {
                if let Err(at) = solid.seen.binary_search(&w) {
                    solid.seen.insert(at, w);
                    solid.queue.push(w);
                    let p = own.vertex(w);
                    let here = if side == 0 { p } else { self.b_in_a.point(p) };
                    solid.points.push(RegionPoint::vertex(here, side));
                }
                true
            });
        }
        self.collect_triangles(side, solid);
        Ok(())
    }

    /// Floods the region's triangles from the crossing ones over those whose corners are all known.
    fn collect_triangles(&self, side: usize, solid: &mut SolidWork) {
        let surface = if side == 0 { self.a } else { self.b };
        let (seen, triangles, listed) = (&solid.seen, &mut solid.triangles[side], &mut solid.listed);
        listed.clear();
        listed.extend_from_slice(triangles);
        let mut next = 0;
        while next < triangles.len() {
            for j in surface.self_and_neighbors(triangles[next]).into_iter().flatten() {
                if let Err(at) = listed.binary_search(&j)
                    && surface.corners(j).iter().all(|v| seen.binary_search(v).is_ok())
                {
                    listed.insert(at, j);
                    triangles.push(j);
                }
            }
            next += 1;
        }
    }

    /// The best direction and the points of contact.
    fn measure(&self, solid: &mut SolidWork) -> Option<Manifold> {
        self.collect_directions(solid);
        let mut best: Option<(f64, DVec3)> = None;
        let mut widest: Option<(f64, DVec3)> = None;
        for &n in &solid.directions {
            let (depth, sound) = depth_along(&solid.points, n);
            widest = widest.or(Some((depth, n)));
            if sound && best.is_none_or(|(known, _)| depth < known - 1e-12 * known.abs()) {
                best = Some((depth, n));
            }
        }
        let (depth, normal) = best.or(widest)?;
        let main = main_point(&solid.points, normal, solid.members[0]);
        let mut manifold = Manifold::new(normal);
        manifold.parts = solid.members[0];
        self.columns(solid, normal, depth.max(0.0));
        solid.seeds.extend(main);
        let kept = widest_first(&mut solid.seeds, normal);
        for &point in &solid.seeds[..kept] {
            manifold.push(point);
        }
        (kept > 0).then_some(manifold)
    }

    /// The region's area vector first, then normals of its triangles, larger ones before smaller ones.
    fn collect_directions(&self, solid: &mut SolidWork) {
        let mut area = DVec3::ZERO;
        let directions = &mut solid.directions;
        directions.clear();
        directions.push(DVec3::Z);
        for side in 0..2 {
            for &i in &solid.triangles[side] {
                let surface = if side == 0 { self.a } else { self.b };
                let [a, b, c] = surface.triangle(i);
                let local = (b - a).cross(c - a);
                let vector = if side == 0 { local } else { -self.b_in_a.vector(local) };
                area += vector;
                let Some(n) = vector.try_normalize() else { continue };
                let known = directions[1..].iter().any(|d| d.dot(n) > SAME_DIRECTION);
                if !known && directions.len() < MAX_DIRECTIONS {
                    directions.push(n);
                }
            }
        }
        if solid.members.len() <= MAX_EDGE_PAIRS {
            self.collect_edge_directions(area, &solid.members, directions);
        }
        match area.try_normalize() {
            Some(n) => directions[0] = n,
            None => {
                directions.swap_remove(0);
            }
        }
    }

    /// Directions across a convex edge of A and one of B, where large faces cross.
    fn collect_edge_directions(&self, area: DVec3, members: &[[u32; 2]], directions: &mut Vec<DVec3>) {
        for &[i, j] in members {
            let (t, u) = self.triangles(i, j);
            for k in (0..3).filter(|&k| self.a.edge_kind(i, k) == EdgeKind::Convex) {
                for l in (0..3).filter(|&l| self.b.edge_kind(j, l) == EdgeKind::Convex) {
                    let (e, f) = (t[(k + 1) % 3] - t[k], u[(l + 1) % 3] - u[l]);
                    let cross = e.cross(f);
                    if cross.length_squared() < 1e-6 * e.length_squared() * f.length_squared() {
                        continue;
                    }
                    let Some(n) = cross.try_normalize() else { continue };
                    let n = if n.dot(area) < 0.0 { -n } else { n };
                    let known = directions[1..].iter().any(|d| d.dot(n) > 1.0 - 1e-10);
                    if !known && directions.len() < 4 * MAX_DIRECTIONS {
                        directions.push(n);
                    }
                }
            }
        }
    }

    /// Fills `solid.seeds` with contact points: the extreme points of the region across n, each with its
    /// column.
    fn columns(&self, solid: &mut SolidWork, n: DVec3, depth: f64) {
        let mut seeds = std::mem::take(&mut solid.seeds);
        seeds.clear();
        let seed = |p: DVec3, id: u32| ContactPoint { point_a: p, point_b: p, separation: 0.0, id };
        seeds.extend(solid.points.iter().zip(0u32..).map(|(point, id)| seed(point.p, id)));
        let middle = seeds.iter().map(|seed| seed.point_b).sum::<DVec3>() / seeds.len().max(1) as f64;
        let kept = widest_first(&mut seeds, n);
        seeds.truncate(kept);
        for seed in &mut seeds {
            // Just inside of the region, where neither surface is hit edge on.
            let p = seed.point_b + 1e-6 * (middle - seed.point_b);
            let up = self.column(solid, 0, p, n, depth);
            let down = self.column(solid, 1, p, -n, depth);
            seed.point_a = p + up * n;
            seed.point_b = p - down * n;
            seed.separation = -(up + down);
        }
        solid.seeds = seeds;
    }

    /// How far from p along d the surface of one side is, at most `limit`; 0 if it is not hit.
    fn column(&self, solid: &SolidWork, side: usize, p: DVec3, d: DVec3, limit: f64) -> f64 {
        let Ok(ray) = Ray::new(p, d) else { return 0.0 };
        let surface = if side == 0 { self.a } else { self.b };
        let mut nearest = None;
        for &i in &solid.triangles[side] {
            let mut triangle = surface.triangle(i);
            if side == 1 {
                triangle = triangle.map(|p| self.b_in_a.point(p));
            }
            // Out through the solid's own surface.
            let normal = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]);
            if normal.dot(d) <= 0.0 {
                continue;
            }
            if let Some(t) = crossing(&ray, &triangle)
                && t <= limit * (1.0 + 1e-5) + 1e-12
                && nearest.is_none_or(|known| t < known)
            {
                nearest = Some(t);
            }
        }
        nearest.unwrap_or(0.0)
    }

    /// No triangles cross: one solid lies inside the other, or they are apart.
    fn nested(&self, work: &mut Workspace) -> Result<Option<Manifold>, ContactError> {
        for side in 0..2 {
            let (inner, outer) = if side == 0 { (self.a, self.b) } else { (self.b, self.a) };
            // Terrain may contain a solid, but is never contained.
            let Surface::Mesh(mesh) = inner else { continue };
            let to_outer =
                |p: DVec3| if side == 0 { self.b_in_a.inverse_point(p) } else { self.b_in_a.point(p) };
            if !inside(&outer, to_outer(mesh.triangle(0)[0]), work)? {
                continue;
            }
            let center = to_outer(mesh.bounds().center());
            let Some(i) = outer.way_out(center, &mut work.scratch)? else { continue };
            let face = outer.triangle(i);
            let out = unit_normal(&face);
            let from = mesh.vertices().iter().map(|&p| to_outer(p));
            let deepest = from.reduce(|p, q| if q.dot(out) < p.dot(out) { q } else { p });
            let Some(deepest) = deepest else { continue };
            let depth = out.dot(face[0] - deepest);
            let surface_point = deepest + depth * out;
            return Ok(Some(self.nested_manifold(side, i, out, depth, [surface_point, deepest])));
        }
        Ok(None)
    }

    /// The outer solid is A if `side` is 1; the points are given in its frame: on its surface, and of the
    /// inner one.
    fn nested_manifold(&self, side: usize, i: u32, out: DVec3, depth: f64, points: [DVec3; 2]) -> Manifold {
        let [outer, inner] = if side == 1 { points } else { points.map(|p| self.b_in_a.point(p)) };
        let normal = if side == 1 { out } else { -self.b_in_a.vector(out) };
        let mut manifold = Manifold::new(normal);
        let (point_a, point_b) = if side == 1 { (outer, inner) } else { (inner, outer) };
        manifold.parts = if side == 1 { [i, 0] } else { [0, i] };
        manifold.push(ContactPoint { point_a, point_b, separation: -depth, id: 0 });
        manifold
    }
}

/// Whether a point in a solid's frame lies in it, by one ray in a direction no edge is likely to have.
fn inside(solid: &Surface<'_>, p: DVec3, work: &mut Workspace) -> Result<bool, ContactError> {
    let Surface::Mesh(mesh) = solid else { return solid.contains(p, &mut work.scratch) };
    if !mesh.bounds().contains(p) {
        return Ok(false);
    }
    let skew = DVec3::new(0.291_734_1, 0.613_407_7, 0.734_011_9);
    let Ok(ray) = Ray::new(p, skew) else { return Ok(false) };
    let hit = mesh.tree()?.cast_ray(&ray, f64::INFINITY, &mut work.scratch);
    Ok(hit.is_some_and(|hit| !hit.front))
}

/// Depth along n, and whether the surfaces end there.
fn depth_along(points: &[RegionPoint], n: DVec3) -> (f64, bool) {
    let (mut high, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
    for point in points {
        let h = point.p.dot(n);
        if point.on[0] {
            high = high.max(h);
        }
        if point.on[1] {
            low = low.min(h);
        }
    }
    let depth = high - low;
    let near = 1e-6 * depth.abs();
    let faces = |normal: DVec3, d: DVec3| normal == DVec3::ZERO || normal.dot(d) > FACES;
    let top = points.iter().any(|q| q.on[0] && q.p.dot(n) >= high - near && faces(q.normals[0], n));
    let bottom = points.iter().any(|q| q.on[1] && q.p.dot(n) <= low + near && faces(q.normals[1], -n));
    (depth, top && bottom && depth.is_finite())
}

/// Where the depth is largest: where A's highest edge or point and B's lowest pass over each other, seen
/// along n.
fn main_point(points: &[RegionPoint], n: DVec3, parts: [u32; 2]) -> Option<ContactPoint> {
    let (top, high) = farthest_along(points, n, 0)?;
    let (bottom, low) = farthest_along(points, -n, 1)?;
    let flat = |segment: [DVec3; 2]| {
        let [start, end] = segment.map(|p| p.reject_from_normalized(n));
        LineSegment::new(start, end)
    };
    let nearest = closest_segment_segment(&flat(top), &flat(bottom));
    let middle = nearest.point_a.midpoint(nearest.point_b);
    let (point_a, point_b) = (middle + high * n, middle - low * n);
    let id = parts[0].rotate_left(16) ^ parts[1];
    Some(ContactPoint { point_a, point_b, separation: -(high + low), id })
}

/// Two points, farthest from each other, of those of one side that lie farthest along d; and how far that is.
fn farthest_along(points: &[RegionPoint], d: DVec3, side: usize) -> Option<([DVec3; 2], f64)> {
    let of_side = || points.iter().filter(|point| point.on[side]).map(|point| point.p);
    let reach = of_side().map(|p| p.dot(d)).reduce(f64::max)?;
    let lowest = of_side().map(|p| p.dot(d)).reduce(f64::min)?;
    let near = 1e-9 * (reach - lowest).max(1e-3 * reach.abs());
    let level = || of_side().filter(|p| p.dot(d) >= reach - near);
    let farthest_from = |from: DVec3| {
        level().reduce(|p, q| if q.distance_squared(from) > p.distance_squared(from) { q } else { p })
    };
    let start = farthest_from(level().next()?)?;
    Some(([start, farthest_from(start)?], reach))
}

/// Distance along a ray of unit direction to a triangle.
fn crossing(ray: &Ray, triangle: &[DVec3; 3]) -> Option<f64> {
    let (o, d) = (ray.origin(), ray.direction());
    let [a, b, c] = triangle.map(|p| p - o);
    let weights = [d.dot(c.cross(b)), d.dot(a.cross(c)), d.dot(b.cross(a))];
    let total: f64 = weights.iter().sum();
    let one_sign = weights.iter().all(|w| *w >= 0.0) || weights.iter().all(|w| *w <= 0.0);
    if !one_sign || total == 0.0 {
        return None;
    }
    let t = (weights[0] * a + weights[1] * b + weights[2] * c).dot(d) / (total * d.length_squared());
    (t >= 0.0).then_some(t)
}

/// Joins crossing pairs whose triangles are the same or neighbours on both sides.
fn join_regions(a: &Surface<'_>, b: &Surface<'_>, solid: &mut SolidWork) {
    solid.regions.reset(solid.crossing.len());
    for (k, &[i, j]) in (0u32..).zip(&solid.crossing) {
        let (around_i, around_j) = (a.self_and_neighbors(i), b.self_and_neighbors(j));
        for i in around_i.into_iter().flatten() {
            for j in around_j.into_iter().flatten() {
                if let Ok(other) = solid.crossing.binary_search(&[i, j]) {
                    solid.regions.union(k, other as u32);
                }
            }
        }
    }
}
