//! Oriented boxes against each other and against triangles, by separating axes (Gottschalk, Lin and Manocha
//! 1996).
//!
//! The fifteen axes are derived in [`separating_axis`](crate::primitive::separating_axis), which decides up
//! to the rounding of each axis and names the one it finds. Nodes of a tree need speed and must never lose a
//! pair, so here ε is added to
//! |R_ij|: the noise of the product of two parallel edges then never separates boxes, at the price of false overlaps
//! within 10⁻¹² of their size.

use glam::{DMat3, DVec3};

/// Which of the fifteen axes are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SatMode {
    /// All fifteen: exact.
    #[default]
    Full15,
    /// The six side normals: cheaper, and sometimes takes disjoint boxes for overlapping.
    FaceOnly,
}

const PARALLEL: f64 = 1e-12;

/// Boxes with half extents a and b, B's frame placed in A's by (r, t) ⇒ whether they are disjoint.
pub fn boxes_disjoint(a: DVec3, b: DVec3, r: &DMat3, t: DVec3, mode: SatMode) -> bool {
    // columns[j][i] = R_ij.
    let columns = [r.x_axis, r.y_axis, r.z_axis];
    let absolute = columns.map(|column| column.abs() + PARALLEL);
    let reach = absolute[0] * b.x + absolute[1] * b.y + absolute[2] * b.z + a;
    let rounding = PARALLEL * (a.max_element() + b.max_element());
    if t.abs().cmpgt(reach + rounding).any() {
        return true;
    }
    let b = b.to_array();
    for j in 0..3 {
        if t.dot(columns[j]).abs() > b[j] + a.dot(absolute[j]) + rounding {
            return true;
        }
    }
    if mode == SatMode::FaceOnly {
        return false;
    }
    // For each j all three i at once: with e = B_j the distances are the parts of e × T, the reach of A those
    // of a and |e| "crossed" with a plus, |e_{i+2}| a_{i+1} + |e_{i+1}| a_{i+2}.
    let a_next = DVec3::new(a.y, a.z, a.x);
    let a_last = DVec3::new(a.z, a.x, a.y);
    for j in 0..3 {
        let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
        let e = absolute[j];
        let reach = a_next * DVec3::new(e.z, e.x, e.y)
            + a_last * DVec3::new(e.y, e.z, e.x)
            + b[j1] * absolute[j2]
            + b[j2] * absolute[j1];
        if columns[j].cross(t).abs().cmpgt(reach + rounding).any() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn half(&mut self) -> DVec3 {
            DVec3::new(self.next(), self.next(), self.next()) * 0.8 + 0.2
        }

        fn center(&mut self, reach: f64) -> DVec3 {
            (DVec3::new(self.next(), self.next(), self.next()) * 2.0 - 1.0) * reach
        }

        fn rotation(&mut self) -> DMat3 {
            loop {
                let q = DQuat::from_xyzw(
                    self.next() - 0.5,
                    self.next() - 0.5,
                    self.next() - 0.5,
                    self.next() - 0.5,
                );
                if (0.01..=0.25).contains(&q.length_squared()) {
                    return DMat3::from_quat(q.normalize());
                }
            }
        }
    }

    /// BVH-2, INT-4: side normals alone never part overlapping boxes; the share of false overlaps and of
    /// pairs that only products of edges part is that of the specification's own measurement.
    #[test]
    fn bvh_2_int_4_side_normals_alone() {
        let mut random = Random(5);
        for (reach, share, tolerance) in [(2.0, 0.099, 0.01), (1.2, 0.031, 0.007)] {
            let (mut disjoint, mut reported, mut false_overlaps, total) = (0, 0, 0, 500_000);
            for _ in 0..total {
                let (a, b) = (random.half(), random.half());
                let (ra, rb) = (random.rotation(), random.rotation());
                // The first box is at the origin.
                let (r, t) = (ra.transpose() * rb, ra.transpose() * random.center(reach));
                let exact = boxes_disjoint(a, b, &r, t, SatMode::Full15);
                let quick = boxes_disjoint(a, b, &r, t, SatMode::FaceOnly);
                assert!(exact || !quick);
                disjoint += usize::from(exact);
                reported += usize::from(!quick);
                false_overlaps += usize::from(exact && !quick);
            }
            let measured = f64::from(false_overlaps as u32) / f64::from(reported as u32);
            assert!((measured - share).abs() < tolerance, "{measured} for centres within {reach}");
            if reach == 2.0 {
                let only_edges = f64::from(false_overlaps as u32) / f64::from(disjoint as u32);
                assert!((only_edges - 0.046).abs() < 0.005, "{only_edges}");
            }
        }
    }

    /// Two boxes intersect iff an edge of one intersects the other, solid one: the corners of their common
    /// part lie on such edges.
    fn an_edge_intersects(a: DVec3, b: DVec3, r: &DMat3, t: DVec3) -> bool {
        let edges_meet = |h: DVec3, box_h: DVec3, place: &dyn Fn(DVec3) -> DVec3| {
            (0..12).any(|k| {
                let (axis, signs) = (k / 4, k % 4);
                let sign = |bit: i32| if signs >> bit & 1 == 0 { 1.0 } else { -1.0 };
                let mut p = DVec3::ZERO;
                p[axis] = h[axis];
                p[(axis + 1) % 3] = sign(0) * h[(axis + 1) % 3];
                p[(axis + 2) % 3] = sign(1) * h[(axis + 2) % 3];
                let mut q = p;
                q[axis] = -h[axis];
                let (p, q) = (place(p), place(q));
                let (mut low, mut high) = (0.0f64, 1.0f64);
                for i in 0..3 {
                    let d = q[i] - p[i];
                    if d.abs() < 1e-15 {
                        if p[i].abs() > box_h[i] {
                            return false;
                        }
                    } else {
                        let (x, y) = ((-box_h[i] - p[i]) / d, (box_h[i] - p[i]) / d);
                        low = low.max(x.min(y));
                        high = high.min(x.max(y));
                    }
                }
                low <= high
            })
        };
        edges_meet(b, a, &|p| *r * p + t) || edges_meet(a, b, &|p| r.transpose() * (p - t))
    }

    /// INT-3, T-5: fifteen axes against edges and solids, parallel and right-angled boxes among them.
    #[test]
    fn int_3_t_5_axes_against_edges() {
        let mut random = Random(6);
        for round in 0..300_000 {
            let (a, b) = (random.half(), random.half());
            let r = match round % 10 {
                0 => DMat3::IDENTITY,
                1 => DMat3::from_rotation_z(std::f64::consts::FRAC_PI_2),
                2 => DMat3::from_rotation_y(3.0 * random.next()),
                _ => random.rotation(),
            };
            let t = random.center(2.0);
            let disjoint = boxes_disjoint(a, b, &r, t, SatMode::Full15);
            if disjoint == an_edge_intersects(a, b, &r, t) {
                // Only a hair's breadth of distance or overlap excuses it.
                let hair = DVec3::splat(1e-9);
                assert!(!boxes_disjoint(a + hair, b + hair, &r, t, SatMode::Full15));
                assert!(boxes_disjoint(a - hair, b - hair, &r, t, SatMode::Full15));
            }
        }
    }

    /// INT-3: unit cubes, one rotated by 45°, touch at (1 + √2)/2.
    #[test]
    fn int_3_rotated_cubes_touch() {
        let (h, r) = (DVec3::splat(0.5), DMat3::from_rotation_z(std::f64::consts::FRAC_PI_4));
        assert!(!boxes_disjoint(h, h, &r, DVec3::X * 1.2071, SatMode::Full15));
        assert!(boxes_disjoint(h, h, &r, DVec3::X * 1.2072, SatMode::Full15));
        // Parallel edges and touching sides.
        assert!(!boxes_disjoint(h, h, &DMat3::IDENTITY, DVec3::X, SatMode::Full15));
        assert!(boxes_disjoint(h, h, &DMat3::IDENTITY, DVec3::X * 1.000001, SatMode::Full15));
    }
}
