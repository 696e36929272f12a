//! Cutting a planar polygon into triangles by ears.
//!
//! An ear is a corner whose triangle turns the way the polygon turns and holds no other corner. Every simple
//! polygon with more than three corners has two (Meisters 1975). Convex polygons, by far the most common, are
//! cut as a fan.

use glam::{DVec2, DVec3};

use crate::polygon_area_vector;

/// Loop of indices ⇒ `len − 2` triangles appended to `triangles`, same orientation. A loop that crosses
/// itself still gives that many triangles with the same total vector area, some of them reversed.
pub fn triangulate_face(vertices: &[DVec3], face: &[u32], triangles: &mut Vec<[u32; 3]>) {
    if let &[a, b, c] = face {
        triangles.push([a, b, c]);
        return;
    }
    let normal = polygon_area_vector(vertices, face);
    let drop = normal.abs().max_position();
    let (u, v) =
        if normal[drop] >= 0.0 { ((drop + 1) % 3, (drop + 2) % 3) } else { ((drop + 2) % 3, (drop + 1) % 3) };
    let flat: Vec<DVec2> = face
        .iter()
        .map(|&i| vertices.get(i as usize).copied().unwrap_or_default())
        .map(|p| DVec2::new(p[u], p[v]))
        .collect();
    if is_convex(&flat) {
        triangles.extend((1..face.len().saturating_sub(1)).map(|i| [face[0], face[i], face[i + 1]]));
        return;
    }
    let mut rest: Vec<usize> = (0..face.len()).collect();
    while rest.len() >= 3 {
        let count = rest.len();
        // A loop without an ear crosses itself; cutting any corner still ends.
        let ear = (0..count).find(|&i| is_ear(&flat, &rest, i)).unwrap_or(0);
        let corner = |i: usize| face[rest[i % count]];
        triangles.push([corner(ear + count - 1), corner(ear), corner(ear + 1)]);
        rest.remove(ear);
    }
}

/// Twice the signed area of (a, b, c).
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

fn is_convex(flat: &[DVec2]) -> bool {
    let n = flat.len();
    let turns_left = (0..n).all(|i| turn(flat[i], flat[(i + 1) % n], flat[(i + 2) % n]) >= 0.0);
    // A star winds around twice although every corner turns left; seen from corner 0 its fan then turns back.
    turns_left && (1..n.saturating_sub(1)).all(|i| turn(flat[0], flat[i], flat[i + 1]) >= 0.0)
}

fn is_ear(flat: &[DVec2], rest: &[usize], i: usize) -> bool {
    let count = rest.len();
    let (p, q, r) = (rest[(i + count - 1) % count], rest[i], rest[(i + 1) % count]);
    let (a, b, c) = (flat[p], flat[q], flat[r]);
    turn(a, b, c) > 0.0
        && rest.iter().filter(|&&k| k != p && k != q && k != r).all(|&k| {
            let point = flat[k];
            turn(a, b, point) < 0.0 || turn(b, c, point) < 0.0 || turn(c, a, point) < 0.0
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_of_a_comb_cover_its_area_and_all_turn_left() {
        // Three teeth: area 3·(1·2) + base 5·1.
        let outline = [
            (0.0, 0.0),
            (5.0, 0.0),
            (5.0, 3.0),
            (4.0, 3.0),
            (4.0, 1.0),
            (3.0, 1.0),
            (3.0, 3.0),
            (2.0, 3.0),
            (2.0, 1.0),
            (1.0, 1.0),
            (1.0, 3.0),
            (0.0, 3.0),
        ];
        // In the plane y = 7, seen along −y.
        let vertices: Vec<DVec3> = outline.iter().map(|&(x, z)| DVec3::new(x, 7.0, -z)).collect();
        let face: Vec<u32> = (0..12).collect();
        let mut triangles = Vec::new();
        triangulate_face(&vertices, &face, &mut triangles);
        assert_eq!(triangles.len(), 10);
        let areas: Vec<f64> = triangles.iter().map(|t| polygon_area_vector(&vertices, t).y).collect();
        assert!(areas.iter().all(|&a| a > 0.0), "{areas:?}");
        assert!((areas.iter().sum::<f64>() - 11.0).abs() < 1e-12);
    }
}
