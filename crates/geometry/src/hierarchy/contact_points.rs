//! Contact points of two intersecting triangles.
//!
//! Their common segment ends where an edge of one pierces the other. If both ends come from edges of one
//! triangle, its plane is crossed by that triangle's corner (or by the side between its two other corners):
//! corners right behind the other's face are contacts of kind corner–face, their depth the distance behind
//! the plane. If one end comes from each, two edges cross: the contact lies halfway between their nearest
//! points, its normal n along the product of the edges. n must lie between the normals of the two faces
//! beside A's edge and −n between those beside B's: with d along the edge in the sense of a face with normal
//! m, m × d points into the face, and n·(m × d) ≤ 0. Edges within a flat part of a surface are no features.
//! Where no feature qualifies, the middle of the common segment is used, and is replaced by any better
//! contact.
//!
//! Normals point from A to B, depth is positive.

use glam::DVec3;

use super::triangle::TriangleCorners;

/// Which features touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactFeature {
    /// A corner of A behind a face of B.
    CornerOfA,
    /// A corner of B behind a face of A.
    CornerOfB,
    /// Edges cross; their directions, A's first.
    Edges(DVec3, DVec3),
    /// No feature qualifies: the triangles just cross, lie in one plane, or have no area.
    Crossing,
}

/// A point where two meshes touch, in the frame of A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleContact {
    /// Where.
    pub point: DVec3,
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// How far they overlap along the normal.
    pub depth: f64,
    /// Features in contact.
    pub feature: ContactFeature,
    /// Index of A's triangle.
    pub triangle_a: u32,
    /// Index of B's triangle.
    pub triangle_b: u32,
}

fn unit_normal([a, b, c]: &TriangleCorners) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Which edges k (from corner k to k + 1) of a triangle pierce the other one.
fn piercing(edges: &TriangleCorners, face: &TriangleCorners) -> [bool; 3] {
    let n = unit_normal(face);
    let height = edges.map(|p| n.dot(p - face[0]));
    std::array::from_fn(|k| {
        let next = (k + 1) % 3;
        let (p, d) = (edges[k], edges[next] - edges[k]);
        if (height[k] > 0.0) == (height[next] > 0.0) {
            return false;
        }
        let [a, b, c] = face.map(|v| v - p);
        let (u, v, w) = (d.dot(c.cross(b)), d.dot(a.cross(c)), d.dot(b.cross(a)));
        u.min(v).min(w) >= 0.0 || u.max(v).max(w) <= 0.0
    })
}

/// Two intersecting triangles, with the normals of their neighbours across each edge (0 if there is none) ⇒
/// the contacts between them, added to the list.
pub(super) fn contacts_of_pair(
    (a, across_a): (&TriangleCorners, [DVec3; 3]),
    (b, across_b): (&TriangleCorners, [DVec3; 3]),
    (triangle_a, triangle_b): (u32, u32),
    contacts: &mut Vec<TriangleContact>,
) {
    let (n_a, n_b) = (unit_normal(a), unit_normal(b));
    let (through_b, through_a) = (piercing(a, b), piercing(b, a));
    let count = |edges: [bool; 3]| edges.iter().filter(|&&e| e).count();
    let mut add = |point, normal, depth, feature| {
        contacts.push(TriangleContact { point, normal, depth, feature, triangle_a, triangle_b });
    };
    match (count(through_b), count(through_a)) {
        (2, _) => corners_behind(a, through_b, b, n_b, |point, depth| {
            let feature = if depth > 0.0 { ContactFeature::CornerOfA } else { ContactFeature::Crossing };
            add(point, -n_b, depth, feature);
        }),
        (_, 2) => corners_behind(b, through_a, a, n_a, |point, depth| {
            let feature = if depth > 0.0 { ContactFeature::CornerOfB } else { ContactFeature::Crossing };
            add(point, n_a, depth, feature);
        }),
        (1, 1) => {
            let (edge_a, edge_b) = (first_edge(through_b), first_edge(through_a));
            let line = |t: &TriangleCorners, k: usize| (t[k], t[(k + 1) % 3] - t[k]);
            let ((p, d), (q, e)) = (line(a, edge_a), line(b, edge_b));
            let (beside_a, beside_b) = (across_a[edge_a], across_b[edge_b]);
            let flat = |m: DVec3, n: DVec3| m.dot(n) > 1.0 - 1e-9;
            let featureless = flat(beside_a, n_a) || flat(beside_b, n_b);
            let crossing = if featureless { None } else { edges_cross(p, d, q, e) };
            let within = |n: DVec3, d: DVec3, m1: DVec3, m2: DVec3| {
                n.dot(m1.cross(d)) <= 0.0 && n.dot(m2.cross(d)) >= 0.0
            };
            // The outer sides of the adjacent faces give the sign, from one body to the other.
            let outwards = n_a - n_b;
            if let Some((on_a, on_b)) = crossing
                && let normal = d.cross(e).normalize() * d.cross(e).dot(outwards).signum()
                && (on_a - on_b).dot(normal) >= 0.0
                && within(normal, d, n_a, beside_a)
                && within(-normal, e, n_b, beside_b)
            {
                let depth = (on_a - on_b).dot(normal);
                add(0.5 * (on_a + on_b), normal, depth, ContactFeature::Edges(d, e));
            } else {
                let middle = 0.5 * (pierce(p, d, b[0], n_b) + pierce(q, e, a[0], n_a));
                add(middle, outwards.normalize_or(n_a), 0.0, ContactFeature::Crossing);
            }
        }
        _ => {
            let n = if n_a == DVec3::ZERO { -n_b } else { n_a };
            let center = |t: &TriangleCorners| (t[0] + t[1] + t[2]) / 3.0;
            add(0.5 * (center(a) + center(b)), n.normalize_or(DVec3::Z), 0.0, ContactFeature::Crossing);
        }
    }
}

/// Hands over the corners behind a face, right under it, with their depth; if there is none, a point of the
/// crossing with depth 0.
fn corners_behind(
    corners: &TriangleCorners,
    piercing: [bool; 3],
    face: &TriangleCorners,
    n: DVec3,
    mut add: impl FnMut(DVec3, f64),
) {
    let mut any = false;
    for &corner in corners {
        let depth = -n.dot(corner - face[0]);
        let rim = -1e-12 * (face[1] - face[0]).cross(face[2] - face[0]).length();
        let under = (0..3).all(|k| (face[(k + 1) % 3] - face[k]).cross(corner - face[k]).dot(n) >= rim);
        if depth > 0.0 && under {
            add(corner, depth);
            any = true;
        }
    }
    if !any {
        let k = first_edge(piercing);
        add(pierce(corners[k], corners[(k + 1) % 3] - corners[k], face[0], n), 0.0);
    }
}

fn first_edge(edges: [bool; 3]) -> usize {
    edges.iter().position(|&edge| edge).unwrap_or(0)
}

/// Where the edge p + s d crosses a plane.
fn pierce(p: DVec3, d: DVec3, on_plane: DVec3, n: DVec3) -> DVec3 {
    let fall = d.dot(n);
    if fall == 0.0 { p } else { p + ((on_plane - p).dot(n) / fall).clamp(0.0, 1.0) * d }
}

/// The points of two edges nearest to each other; None if they lie beyond an end, or the edges are parallel.
fn edges_cross(p: DVec3, d: DVec3, q: DVec3, e: DVec3) -> Option<(DVec3, DVec3)> {
    let r = p - q;
    let (dd, de, ee) = (d.dot(d), d.dot(e), e.dot(e));
    let determinant = dd * ee - de * de;
    if determinant <= 1e-12 * dd * ee {
        return None;
    }
    let s = (de * e.dot(r) - ee * d.dot(r)) / determinant;
    let t = (dd * e.dot(r) - de * d.dot(r)) / determinant;
    ((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then(|| (p + s * d, q + t * e))
}

/// Merges contacts whose points lie within `distance` and whose normals within 10⁻³ rad; the deepest stays.
/// Those without a feature go if there are others.
pub(super) fn weld(contacts: &mut Vec<TriangleContact>, distance: f64) {
    if contacts.iter().any(|c| c.feature != ContactFeature::Crossing) {
        contacts.retain(|c| c.feature != ContactFeature::Crossing);
    }
    let order = |c: &TriangleContact, o: &TriangleContact| {
        let key = |c: &TriangleContact| [c.point.x, c.point.y, c.point.z];
        let (x, y) = (key(c), key(o));
        x[0].total_cmp(&y[0])
            .then(x[1].total_cmp(&y[1]))
            .then(x[2].total_cmp(&y[2]))
            .then((c.triangle_a, c.triangle_b).cmp(&(o.triangle_a, o.triangle_b)))
    };
    contacts.sort_unstable_by(order);
    let mut kept = 0;
    for i in 0..contacts.len() {
        let contact = contacts[i];
        // Only those a little to the left can be near.
        let near = contacts[..kept]
            .iter()
            .rposition(|known| known.point.x < contact.point.x - distance)
            .map_or(0, |k| k + 1);
        let same = contacts[near..kept].iter_mut().find(|known| {
            known.point.distance_squared(contact.point) <= distance * distance
                && known.normal.cross(contact.normal).length_squared() <= 1e-6
                && known.normal.dot(contact.normal) > 0.0
        });
        match same {
            Some(known) if contact.depth > known.depth => known.depth = contact.depth,
            Some(_) => {}
            None => {
                contacts[kept] = contact;
                kept += 1;
            }
        }
    }
    contacts.truncate(kept);
}
