//! The cross product as a matrix: ã = [[0, −a_z, a_y], [a_z, 0, −a_x], [−a_y, a_x, 0]], ã b = a × b.

use glam::{DMat3, DVec3};

/// a ⇒ the matrix with ã b = a × b.
pub fn cross_matrix(a: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, a.z, -a.y), DVec3::new(-a.z, 0.0, a.x), DVec3::new(a.y, -a.x, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cross_matrix_is_the_cross_product() {
        let (a, b) = (DVec3::new(1.0, -2.0, 3.0), DVec3::new(0.5, 4.0, -1.0));
        assert_eq!(cross_matrix(a) * b, a.cross(b));
        assert_eq!(cross_matrix(a).transpose(), cross_matrix(-a));
    }
}
