//! Which vertices lie below a plane, and which four of them are farthest apart.

use glam::DVec3;
use wide::f64x4;

use super::{Block, ConvexPolyhedron, MAX_VERTICES_IN_PARTS};

impl ConvexPolyhedron {
    /// (unit vector m, height) ⇒ how many vertices p have m·p ≤ height, their numbers in ascending order;
    /// None if there is no room for all. Of many vertices only those around the deepest are visited: the part
    /// below a plane is connected along edges.
    pub(crate) fn vertices_below<const N: usize>(
        &self,
        m: DVec3,
        height: f64,
        found: &mut [u32; N],
    ) -> Option<usize> {
        let mut count = 0;
        let mut add = |found: &mut [u32; N], vertex: u32| {
            *found.get_mut(count)? = vertex;
            count += 1;
            Some(count)
        };
        if self.vertices().len() <= MAX_VERTICES_IN_PARTS {
            for (number, block) in (0u32..).zip(&self.blocks) {
                let mut below = heights(block, m).simd_le(f64x4::splat(height)).to_bitmask();
                while below != 0 {
                    let vertex = 4 * number + below.trailing_zeros();
                    // The last block is filled up with the first vertex.
                    if (vertex as usize) < self.vertices().len() {
                        add(found, vertex)?;
                    }
                    below &= below - 1;
                }
            }
            return Some(count);
        }
        let is_below = |vertex: u32| m.dot(self.vertices()[vertex as usize]) <= height;
        let deepest = self.support_vertex(-m, 0);
        if !is_below(deepest) {
            return Some(0);
        }
        let (mut end, mut done) = (add(found, deepest)?, 0);
        while done < end {
            for &next in self.vertex_neighbors(found[done] as usize) {
                if is_below(next) && !found[..end].contains(&next) {
                    end = add(found, next)?;
                }
            }
            done += 1;
        }
        found[..end].sort_unstable();
        Some(end)
    }

    /// (unit vector m, height) ⇒ numbers of at most four vertices p with m·p ≤ height, some being known to:
    /// the deepest, the farthest from it as seen along m, and the farthest on both sides of the line through
    /// them.
    pub(crate) fn spread_below(&self, m: DVec3, height: f64) -> ([u32; 4], usize) {
        let deepest = self.support_vertex(-m, 0);
        let level = f64x4::splat(m.dot(self.vertices()[deepest as usize]) + 1e-8 * self.extent);
        let deep = |block: &Block| heights(block, m).simd_le(level);
        // Of equally deep ones the first, so that rounding does not choose.
        let first = self.blocks.iter().map(deep).position(f64x4::any).map_or(deepest, |block| {
            4 * block as u32 + deep(&self.blocks[block]).to_bitmask().trailing_zeros()
        });
        let from = self.vertices()[first as usize];
        let mut chosen = ([first; 4], 1);
        let [second, _] = self.extremes_below(m, height, from, |p, along| {
            p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - along * along
        });
        let side = m.cross(self.vertices()[second.unwrap_or(first) as usize] - from);
        let [sx, sy, sz] = side.to_array().map(f64x4::splat);
        let sides = self.extremes_below(m, height, from, |p, _| p[0] * sx + p[1] * sy + p[2] * sz);
        for next in [second, sides[0], sides[1]].into_iter().flatten() {
            chosen.0[chosen.1] = next;
            chosen.1 += 1;
        }
        chosen
    }

    /// The vertices p with m·p ≤ height of the largest value > 0 and the least < 0; the value gets p − from
    /// and its component along m.
    #[inline(always)]
    fn extremes_below(
        &self,
        m: DVec3,
        height: f64,
        from: DVec3,
        value: impl Fn([f64x4; 3], f64x4) -> f64x4,
    ) -> [Option<u32>; 2] {
        let [mx, my, mz] = m.to_array().map(f64x4::splat);
        let [fx, fy, fz] = from.to_array().map(f64x4::splat);
        let below = f64x4::splat(height - m.dot(from));
        let mut number = f64x4::ZERO;
        let mut best = [(f64x4::ZERO, f64x4::ZERO); 2];
        for [x, y, z] in &self.blocks {
            let p = [f64x4::new(*x) - fx, f64x4::new(*y) - fy, f64x4::new(*z) - fz];
            let along = p[0] * mx + p[1] * my + p[2] * mz;
            let next = value(p, along);
            let allowed = along.simd_le(below);
            for ((most, place), next) in best.iter_mut().zip([next, -next]) {
                let farther = next.simd_gt(*most) & allowed;
                *place = farther.select(number, *place);
                *most = farther.select(next, *most);
            }
            number += f64x4::ONE;
        }
        best.map(|(most, place)| {
            let (most, places) = (most.to_array(), place.to_array());
            let mut lane = 0;
            for other in 1..4 {
                if most[other] > most[lane] {
                    lane = other;
                }
            }
            let vertex = 4 * places[lane] as u32 + lane as u32;
            // The last block is filled up with the first vertex.
            let vertex = if (vertex as usize) < self.vertices().len() { vertex } else { 0 };
            (most[lane] > 0.0).then_some(vertex)
        })
    }
}

/// m·p of four points.
#[inline(always)]
fn heights([x, y, z]: &Block, m: DVec3) -> f64x4 {
    let [mx, my, mz] = m.to_array().map(f64x4::splat);
    f64x4::new(*x) * mx + f64x4::new(*y) * my + f64x4::new(*z) * mz
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use crate::{convex_hull, generate};

    /// Few below, many below, of a small and of a large sphere: the same as brute force over all vertices.
    #[test]
    fn vertices_below_a_plane_are_all_found() {
        for level in [2, 4] {
            let hull = convex_hull(generate::icosphere(level).unwrap().vertices()).unwrap();
            for i in 0..200 {
                let t = f64::from(i);
                let m = DVec3::new((1.3 * t).sin(), (0.7 * t).cos(), (2.9 * t).sin() + 0.01).normalize();
                let height = -1.1 + 0.4 * (0.37 * t).sin().abs();
                let below = |v: u32| m.dot(hull.vertices()[v as usize]) <= height;
                let all: Vec<u32> = (0..hull.vertices().len() as u32).filter(|&v| below(v)).collect();
                let mut found = [0; 16];
                match hull.vertices_below(m, height, &mut found) {
                    Some(count) => assert_eq!(found[..count], all),
                    None => assert!(all.len() > 16),
                }
                if all.is_empty() {
                    continue;
                }
                let (chosen, count) = hull.spread_below(m, height);
                let chosen = &chosen[..count];
                assert!(chosen.iter().all(|&v| below(v)));
                let depth = |v: u32| m.dot(hull.vertices()[v as usize]);
                let deepest = all.iter().map(|&v| depth(v)).fold(f64::INFINITY, f64::min);
                assert!(depth(chosen[0]) <= deepest + 1e-7);
                // The second is the farthest from the first, projected along m.
                let flat = |v: u32| {
                    (hull.vertices()[v as usize] - hull.vertices()[chosen[0] as usize]).reject_from(m)
                };
                let farthest = all.iter().map(|&v| flat(v).length()).fold(0.0, f64::max);
                assert!(count == 1 || (flat(chosen[1]).length() - farthest).abs() < 1e-12);
            }
        }
    }
}
