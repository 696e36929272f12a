//! Two boxes by separating axes (Gottschalk, Lin and Manocha 1996).
//!
//! In A's frame T = R_Aᵗ(c_B − c_A) and R_ij = A_i·B_j. An axis separates iff the distance of the centres
//! along it exceeds the sum of the boxes' reaches:
//! - A_i: |T_i| > a_i + Σ_j b_j |R_ij|
//! - B_j: |Σ_i T_i R_ij| > b_j + Σ_i a_i |R_ij|
//! - A_i × B_j: |T_{i+2} R_{i+1,j} − T_{i+1} R_{i+2,j}|
//!   > a_{i+1}|R_{i+2,j}| + a_{i+2}|R_{i+1,j}| + b_{j+1}|R_{i,j+2}| + b_{j+2}|R_{i,j+1}|
//!
//! If none of the 15 does, the boxes share a point. The product of nearly parallel edges is rounding noise,
//! so an edge axis must separate by more than the rounding of its terms.

use glam::DVec3;

use crate::{Aabb, OrientedBox};

/// A direction along which two boxes are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxAxis {
    /// Face normal of the first box.
    FaceA(u8),
    /// Face normal of the second box.
    FaceB(u8),
    /// Product of an edge of the first and an edge of the second.
    Edges(u8, u8),
}

/// The two boxes in the frame of the first.
pub(crate) struct BoxPair {
    /// Half sizes.
    pub a: DVec3,
    /// Half sizes.
    pub b: DVec3,
    /// Centre of the second.
    pub t: DVec3,
    /// `rotation[i][j]` = A_i·B_j.
    pub rotation: [[f64; 3]; 3],
}

/// One axis: centre distance is the dot product of T with `axis`, `reach` the sum of the boxes' extents along
/// it.
pub(crate) struct AxisReach {
    pub name: BoxAxis,
    pub axis: DVec3,
    pub reach: f64,
}

impl BoxPair {
    pub fn new(a: &OrientedBox, b: &OrientedBox) -> Self {
        let relative = a.pose().relative(&b.pose());
        let columns = relative.rotation_matrix().to_cols_array_2d();
        let rotation = std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i]));
        // The difference of the centres is taken before turning: far from the origin it is the more exact
        // way.
        let t = a.pose().inverse_vector(b.center() - a.center());
        Self { a: a.half_extents(), b: b.half_extents(), t, rotation }
    }

    /// All 15 axes with their reaches, the cheap ones first.
    pub fn axes(&self) -> impl Iterator<Item = AxisReach> + '_ {
        let r = &self.rotation;
        let (a, b) = (self.a, self.b);
        let faces_a = (0..3).map(move |i| AxisReach {
            name: BoxAxis::FaceA(i as u8),
            axis: DVec3::AXES[i],
            reach: a[i] + b.x * r[i][0].abs() + b.y * r[i][1].abs() + b.z * r[i][2].abs(),
        });
        let faces_b = (0..3).map(move |j| AxisReach {
            name: BoxAxis::FaceB(j as u8),
            axis: DVec3::new(r[0][j], r[1][j], r[2][j]),
            reach: b[j] + a.x * r[0][j].abs() + a.y * r[1][j].abs() + a.z * r[2][j].abs(),
        });
        // Products and sums of about ten terms, each rounded once or twice.
        let noise = 4.0 * f64::EPSILON * (self.t.abs() + a + b).element_sum();
        let edges = (0..9).map(move |k| {
            let (i, j) = (k / 3, k % 3);
            let (i1, i2, j1, j2) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
            let mut axis = DVec3::ZERO;
            axis[i2] = r[i1][j];
            axis[i1] = -r[i2][j];
            let reach = a[i1] * r[i2][j].abs()
                + a[i2] * r[i1][j].abs()
                + b[j1] * r[i][j2].abs()
                + b[j2] * r[i][j1].abs();
            AxisReach { name: BoxAxis::Edges(i as u8, j as u8), axis, reach: reach + noise }
        });
        faces_a.chain(faces_b).chain(edges)
    }
}

/// Two boxes ⇒ the first axis along which they are apart, None if they share a point.
pub fn separating_axis(a: &OrientedBox, b: &OrientedBox) -> Option<BoxAxis> {
    let pair = BoxPair::new(a, b);
    let found = pair.axes().find(|axis| pair.t.dot(axis.axis).abs() > axis.reach);
    found.map(|axis| axis.name)
}

/// Whether two boxes share a point.
pub fn box_box(a: &OrientedBox, b: &OrientedBox) -> bool {
    separating_axis(a, b).is_none()
}

/// Whether an axis-aligned and an oriented box share a point.
pub fn aabb_box(a: &Aabb, b: &OrientedBox) -> bool {
    box_box(&OrientedBox::from(*a), b)
}
