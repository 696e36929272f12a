//! Where two triangles that meet touch.
//!
//! Their common segment ends where an edge of one pierces the other. If both ends come from edges of one triangle, its plane is
//! crossed by that triangle's corner (or by the side between its two other corners): corners behind the other's plane are
//! contacts of kind corner–face, their depth the distance behind the plane. If one end comes from each, two edges cross: the
//! contact lies halfway between their nearest points, its normal along the product of the edges. Edges within a flat part of a
//! surface are no features and make no contact.
//!
//! Normals point from A to B, depth is positive.

use glam::DVec3;

use super::triangle::Triangle;

/// Which features touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactFeature {
    /// A corner of A behind a face of B.
    CornerOfA,
    /// A corner of B behind a face of A.
    CornerOfB,
    /// Edges cross; their directions, A's first.
    Edges(DVec3, DVec3),
    /// The triangles lie in one plane, or have no area: only that they meet is known.
    Flat,
}

/// A point where two meshes touch, in the frame of A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Where.
    pub point: DVec3,
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// How far they overlap along the normal.
    pub depth: f64,
    /// What touches what.
    pub feature: ContactFeature,
    /// Index of A's triangle.
    pub triangle_a: u32,
    /// Index of B's triangle.
    pub triangle_b: u32,
}

fn unit_normal([a, b, c]: &Triangle) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Which edges k (from corner k to k + 1) of a triangle pierce the other one.
fn piercing(edges: &Triangle, face: &Triangle) -> [bool; 3] {
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

/// Two triangles that meet, with their real edges ⇒ the contacts between them, added to the list.
pub(super) fn contacts_of_pair(
    (a, sharp_a): (&Triangle, [bool; 3]),
    (b, sharp_b): (&Triangle, [bool; 3]),
    (triangle_a, triangle_b): (u32, u32),
    contacts: &mut Vec<ContactPoint>,
) {
    let (n_a, n_b) = (unit_normal(a), unit_normal(b));
    let (through_b, through_a) = (piercing(a, b), piercing(b, a));
    let count = |edges: [bool; 3]| edges.iter().filter(|&&e| e).count();
    let mut add = |point, normal, depth, feature| {
        contacts.push(ContactPoint { point, normal, depth, feature, triangle_a, triangle_b });
    };
    match (count(through_b), count(through_a)) {
        (2.., _) => {
            for &corner in a {
                let depth = -n_b.dot(corner - b[0]);
                if depth >= 0.0 {
                    add(corner, -n_b, depth, ContactFeature::CornerOfA);
                }
            }
        }
        (_, 2..) => {
            for &corner in b {
                let depth = -n_a.dot(corner - a[0]);
                if depth >= 0.0 {
                    add(corner, n_a, depth, ContactFeature::CornerOfB);
                }
            }
        }
        (1, 1) => {
            let edge = |t: &Triangle, hit: [bool; 3]| {
                let k = hit.iter().position(|&e| e).unwrap_or(0);
                (k, t[k], t[(k + 1) % 3])
            };
            let ((i, a1, a2), (j, b1, b2)) = (edge(a, through_b), edge(b, through_a));
            if !(sharp_a[i] && sharp_b[j]) {
                return;
            }
            let (d, e) = (a2 - a1, b2 - b1);
            let product = d.cross(e);
            if product.length_squared() <= 1e-16 * d.length_squared() * e.length_squared() {
                return;
            }
            let normal = product.normalize();
            // The outer sides of the faces beside tell from which body to which.
            let normal = if normal.dot(n_a - n_b) < 0.0 { -normal } else { normal };
            let (p, q) = nearest_on_lines(a1, d, b1, e);
            add(0.5 * (p + q), normal, (p - q).dot(normal).max(0.0), ContactFeature::Edges(d, e));
        }
        _ => {
            let n = if n_a == DVec3::ZERO { -n_b } else { n_a };
            let center = |t: &Triangle| (t[0] + t[1] + t[2]) / 3.0;
            add(0.5 * (center(a) + center(b)), n, 0.0, ContactFeature::Flat);
        }
    }
}

/// The points of two lines nearest to each other; the lines are not parallel.
fn nearest_on_lines(p: DVec3, d: DVec3, q: DVec3, e: DVec3) -> (DVec3, DVec3) {
    let r = p - q;
    let (dd, de, ee) = (d.dot(d), d.dot(e), e.dot(e));
    let determinant = dd * ee - de * de;
    let s = (de * e.dot(r) - ee * d.dot(r)) / determinant;
    let t = (dd * e.dot(r) - de * d.dot(r)) / determinant;
    (p + s * d, q + t * e)
}

/// Merges contacts whose points lie within `distance` and whose normals within 10⁻³ rad; the deepest stays. Contacts of flat
/// pairs go if there are others.
pub(super) fn weld(contacts: &mut Vec<ContactPoint>, distance: f64) {
    if contacts.iter().any(|c| c.feature != ContactFeature::Flat) {
        contacts.retain(|c| c.feature != ContactFeature::Flat);
    }
    let order = |c: &ContactPoint, o: &ContactPoint| {
        let key = |c: &ContactPoint| [c.point.x, c.point.y, c.point.z];
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
