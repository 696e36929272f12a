//! Poses by potential energy: which faces belong together, and when a moving part cannot leave any more.
//!
//! With its side d (a unit vector in the frame of the part) down, the centre of mass is at least H(d) = max p·d above the floor, p the
//! corners from c. H on the sphere of directions has its minima h_i at the normals of stable faces, its maxima at directions of corners, and its saddles
//! on the arcs between the normals of neighbouring faces: across an edge at the distance r_e from c the way from n_i to n_j has to climb to
//! b_e = r_e, if the direction of the nearest point of the edge lies between both normals, else to max(h_i, h_j).
//!
//! Faces are joined over edges of increasing b_e. Two minima that meet at b are one pose if b exceeds the higher of them by less than the fraction
//! `smooth` of its height and their normals are less than 30° apart (the facets of a cylinder: a pose that rolls), else they are two, and b is the escape height of both. A part with the
//! energy E < m g · escape inside the basin of a pose ends there: contact and friction do not add energy.

use super::error::{MAX_POSES, PoseError};
use super::faces::Faces;
use super::part::{Part, check};
use super::spherical::polygon_area;
use glam::DVec3;
use rattleback_numerics::UnionFind;
use std::f64::consts::PI;

/// How a pose may move without leaving.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Freedom {
    /// Rests on one face, or on a few of a gently curved surface.
    Fixed,
    /// Rolls about an axis of the part: a ring of facets.
    Rolls {
        /// The axis, in the frame of the file.
        axis: DVec3,
    },
}

/// A stable pose: one face, or a family of facets between which almost no barrier lies.
#[derive(Clone, Debug, PartialEq)]
pub struct StablePose {
    /// Stable faces, the lowest first.
    pub faces: Vec<u32>,
    /// Direction of the part that is down, in the frame of the file: the normal of the lowest face.
    pub down: DVec3,
    /// Height of the centre of mass, m.
    pub height: f64,
    /// Height to which the centre of mass must rise to leave the pose, m; infinite if it is the only one.
    pub escape: f64,
    /// Whether it rolls.
    pub freedom: Freedom,
    /// Share of directions whose topple chain ends here: the quasi-static probability.
    pub quasi_static: f64,
    /// Some face is stable only within the tolerance.
    pub marginal: bool,
}

/// The poses of a part, and the way into each.
#[derive(Clone, Debug)]
pub struct Landscape {
    /// By decreasing quasi-static probability, then height, then direction.
    pub poses: Vec<StablePose>,
    /// Faces of the hull.
    pub faces: Faces,
    /// Pose of each stable face, and that into whose basin each other face falls first.
    pose_of_face: Vec<u32>,
    /// Height at which the face is joined to that basin, m.
    entry: Vec<f64>,
}

const NONE: u32 = u32::MAX;
/// Faces at more than 30° to each other are no facets of one round surface: the edge of a thin coin is a pose, though its barrier is low.
const FACET_COSINE: f64 = 0.866;

impl Landscape {
    /// (part, barriers below this fraction of the height unite poses) ⇒ its poses.
    pub fn of(part: &Part, smooth: f64) -> Result<Self, PoseError> {
        check("smooth", smooth, (0.0..1.0).contains(&smooth), "from 0 to below 1")?;
        let faces = Faces::of(part);
        let barriers = barriers(part, &faces);
        let count = faces.all.len();
        // Basin of each component of faces: its lowest stable face, and whether it was closed by another pose.
        let mut union = UnionFind::new(count);
        let mut family = UnionFind::new(count);
        let mut lowest: Vec<u32> =
            faces.all.iter().enumerate().map(|(i, f)| if f.stable { i as u32 } else { NONE }).collect();
        let mut escape = vec![f64::INFINITY; count];
        let mut basin = lowest.clone();
        let mut entry: Vec<f64> = faces.all.iter().map(|f| f.height).collect();
        let mut pending: Vec<Vec<u32>> =
            (0..count).map(|i| if basin[i] == NONE { vec![i as u32] } else { Vec::new() }).collect();
        for &(b, i, j) in &barriers {
            let (a, z) = (union.find(i), union.find(j));
            if a == z {
                continue;
            }
            let (low_a, low_z) = (lowest[a as usize], lowest[z as usize]);
            if low_a != NONE && low_z != NONE {
                let height = |f: u32| faces.all[f as usize].height;
                let higher = height(low_a).max(height(low_z));
                let (mut fa, mut fz) = (family.find(low_a), family.find(low_z));
                let beside = [i, j].map(|f| faces.all[basin[f as usize] as usize].normal);
                if b - higher < smooth * higher && beside[0].dot(beside[1]) > FACET_COSINE {
                    // The shallow one joins the pose on the other side of this edge.
                    if height(low_a) > height(low_z) {
                        fz = family.find(basin[j as usize]);
                    } else {
                        fa = family.find(basin[i as usize]);
                    }
                    let least = escape[fa as usize].min(escape[fz as usize]);
                    family.union(fa, fz);
                    escape[family.find(fa) as usize] = least;
                } else {
                    for f in [fa, fz] {
                        escape[f as usize] = escape[f as usize].min(b);
                    }
                }
            }
            union.union(a, z);
            let root = union.find(a) as usize;
            lowest[root] = match (low_a, low_z) {
                (NONE, other) | (other, NONE) => other,
                (p, q) if faces.all[q as usize].height < faces.all[p as usize].height => q,
                (p, _) => p,
            };
            // Faces of a component without a pose enter the other's.
            let gone = if root == a as usize { z } else { a } as usize;
            let mut waiting = std::mem::take(&mut pending[gone]);
            if waiting.len() < pending[root].len() {
                std::mem::swap(&mut waiting, &mut pending[root]);
            }
            waiting.append(&mut pending[root]);
            if lowest[root] == NONE {
                pending[root] = waiting;
            } else {
                for face in waiting {
                    (basin[face as usize], entry[face as usize]) = (lowest[root], b);
                }
            }
        }
        Self::assemble(part, faces, &mut family, &escape, &basin, entry, smooth)
    }

    fn assemble(
        part: &Part,
        faces: Faces,
        family: &mut UnionFind,
        escape: &[f64],
        basin: &[u32],
        entry: Vec<f64>,
        smooth: f64,
    ) -> Result<Self, PoseError> {
        let count = faces.all.len();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        for i in 0..count as u32 {
            if faces.all[i as usize].stable {
                members[family.find(i) as usize].push(i);
            }
        }
        let mut share = vec![0.0; count];
        for i in 0..count {
            let end = faces.all[i].end;
            share[family.find(end) as usize] += polygon_area(&faces.polygon(part, i)) / (4.0 * PI);
        }
        let mut roots: Vec<u32> = (0..count as u32).filter(|i| !members[*i as usize].is_empty()).collect();
        if roots.len() > MAX_POSES {
            return Err(PoseError::TooManyPoses { count: roots.len() });
        }
        let lowest_of = |root: u32| {
            let by = |a: &&u32, b: &&u32| {
                faces.all[**a as usize].height.total_cmp(&faces.all[**b as usize].height).then(a.cmp(b))
            };
            members[root as usize].iter().min_by(by).copied().unwrap_or(0)
        };
        // Rounded, so that symmetric poses are in an order that rounding does not decide.
        let key = |root: u32| {
            let face = &faces.all[lowest_of(root) as usize];
            let round = |x: f64| (x * 1e6).round() as i64;
            let n = face.normal;
            (
                -round(share[root as usize]),
                round(face.height / part.size()),
                [round(-n.z), round(-n.x), round(-n.y)],
            )
        };
        roots.sort_by_key(|root| key(*root));
        let mut poses = Vec::with_capacity(roots.len());
        let mut number = vec![NONE; count];
        for (index, &root) in roots.iter().enumerate() {
            number[root as usize] = index as u32;
            let lowest = lowest_of(root);
            let face = &faces.all[lowest as usize];
            let mut list = members[root as usize].clone();
            list.sort_by(|a, b| {
                faces.all[*a as usize].height.total_cmp(&faces.all[*b as usize].height).then(a.cmp(b))
            });
            let freedom = freedom(&faces, &list);
            if freedom.is_none() && roots.len() == 1 {
                return Err(PoseError::NoStablePose { smooth });
            }
            poses.push(StablePose {
                down: face.normal,
                height: face.height,
                escape: escape[root as usize],
                freedom: freedom.unwrap_or(Freedom::Fixed),
                quasi_static: share[root as usize],
                marginal: list.iter().any(|f| faces.all[*f as usize].marginal),
                faces: list,
            });
        }
        let pose_of_face =
            basin.iter().map(|f| if *f == NONE { NONE } else { number[family.find(*f) as usize] });
        Ok(Self { pose_of_face: pose_of_face.collect(), poses, faces, entry })
    }

    /// Pose of a stable face.
    pub fn pose_of(&self, face: usize) -> Option<usize> {
        self.faces.all.get(face).filter(|f| f.stable).map(|_| self.pose_of_face[face] as usize)
    }

    /// Quasi-static end of a face: the pose at the end of its topple chain.
    pub fn end_of(&self, face: usize) -> usize {
        self.pose_of_face[self.faces.all[face].end as usize] as usize
    }

    /// (direction that is down in the frame of the part, height E/(m g) that the energy amounts to) ⇒ the pose that cannot be left any more.
    ///
    /// From d the way to the normals of the faces around the lowest corner is looked at; the first that stays below the level and leads
    /// into a basin below its escape height decides.
    pub fn trapped(&self, part: &Part, down: DVec3, level: f64) -> Option<usize> {
        let hull = part.hull();
        let corner = hull.support_vertex(down, 0) as usize;
        let p = self.faces.corners[corner];
        for edge in hull.vertex_edges(corner) {
            for face in hull.edges()[*edge as usize].faces {
                let face = face as usize;
                let pose = self.pose_of_face[face];
                if pose == NONE || self.entry[face] > level || self.poses[pose as usize].escape <= level {
                    continue;
                }
                if highest(p, down, self.faces.all[face].normal) <= level {
                    return Some(pose as usize);
                }
            }
        }
        None
    }

    /// Direction that is down ⇒ (pose, angle in rad) of the stable face whose normal is nearest to it.
    pub fn nearest(&self, down: DVec3) -> Option<(usize, f64)> {
        let best = (0..self.faces.all.len()).filter(|face| self.faces.all[*face].stable).max_by(|a, b| {
            let cosine = |f: &usize| self.faces.all[*f].normal.dot(down);
            cosine(a).total_cmp(&cosine(b))
        })?;
        let normal = self.faces.all[best].normal;
        let angle = normal.cross(down).length().atan2(normal.dot(down));
        Some((self.pose_of_face[best] as usize, angle))
    }
}

/// Edges as (barrier, face, face), by increasing barrier.
fn barriers(part: &Part, faces: &Faces) -> Vec<(f64, u32, u32)> {
    let mut list: Vec<(f64, u32, u32)> = part
        .hull()
        .edges()
        .iter()
        .map(|edge| {
            let [i, j] = edge.faces;
            let corner = faces.corners[edge.vertices[0] as usize];
            let (a, b) = (faces.all[i as usize].normal, faces.all[j as usize].normal);
            (highest(corner, a, b), i, j)
        })
        .collect();
    list.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    list
}

/// Largest p·d over the great-circle arc from a to b.
fn highest(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let ends = p.dot(a).max(p.dot(b));
    let Some(axis) = a.cross(b).try_normalize() else { return ends };
    let foot = p - axis * axis.dot(p);
    // Between a and b if it is on the inner side of both.
    if axis.cross(a).dot(foot) > 0.0 && b.cross(axis).dot(foot) > 0.0 { foot.length() } else { ends }
}

/// Directions of a family ⇒ how it moves; none if it rolls every way.
fn freedom(faces: &Faces, members: &[u32]) -> Option<Freedom> {
    if members.len() < 3 {
        return Some(Freedom::Fixed);
    }
    let normals: Vec<DVec3> = members.iter().map(|f| faces.all[*f as usize].normal).collect();
    let mean = normals.iter().sum::<DVec3>() / normals.len() as f64;
    // All within about 25° of their mean: a gently curved bottom.
    if normals.iter().all(|n| n.dot(mean) > 0.9 * mean.length()) && mean.length() > 0.8 {
        return Some(Freedom::Fixed);
    }
    let mut second = glam::DMat3::ZERO;
    for n in &normals {
        second += glam::DMat3::from_cols(*n * n.x, *n * n.y, *n * n.z);
    }
    let (values, axes) = rattleback_geometry::symmetric_eigen(second * (1.0 / normals.len() as f64));
    let (index, least) = (0..3).map(|i| (i, values[i])).min_by(|a, b| a.1.total_cmp(&b.1))?;
    // A ring of normals leaves one direction out, or all of them stand at one angle to it (a cone).
    let axis = axes.col(index);
    let tilt = normals.iter().map(|n| n.dot(axis)).sum::<f64>() / normals.len() as f64;
    let spread = normals.iter().map(|n| (n.dot(axis) - tilt).abs()).fold(0.0, f64::max);
    if (least < 0.02 || spread < 0.15) && surround(&normals, axis) {
        return Some(Freedom::Rolls { axis });
    }
    if least < 0.02 {
        return Some(Freedom::Fixed);
    }
    // A cone's axis is where its mean normal points.
    let axis = mean.normalize_or_zero();
    let tilt = normals.iter().map(|n| n.dot(axis)).sum::<f64>() / normals.len() as f64;
    let spread = normals.iter().map(|n| (n.dot(axis) - tilt).abs()).fold(0.0, f64::max);
    (axis != DVec3::ZERO && spread < 0.15).then_some(if surround(&normals, axis) {
        Freedom::Rolls { axis }
    } else {
        Freedom::Fixed
    })
}

/// Whether directions surround an axis without a gap of more than 60°.
fn surround(normals: &[DVec3], axis: DVec3) -> bool {
    let (e, n) = axis.any_orthonormal_pair();
    let mut angles: Vec<f64> = normals.iter().map(|d| d.dot(n).atan2(d.dot(e))).collect();
    angles.sort_by(f64::total_cmp);
    let first = angles.first().map(|a| a + 2.0 * PI);
    angles.extend(first);
    angles.windows(2).all(|pair| pair[1] - pair[0] < PI / 3.0)
}
