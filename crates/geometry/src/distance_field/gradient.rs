//! In which direction the value grows.
//!
//! slopeᵢ = (d(p + h eᵢ) − d(p − h eᵢ)) / 2h; where a sample would leave the grid it is taken at the border
//! and the difference divided by the remaining step. In front of a plane the slope's length is 1 / maxᵢ |nᵢ|.

use glam::DVec3;

use super::DistanceField;

/// Below this length of the slope opposite sides cancel: the direction would be rounding.
const NO_SLOPE: f64 = 1e-9;

impl DistanceField {
    /// Unit direction in which the value grows: the outward surface normal where the nearest axis crosses the
    /// surface. Where opposite sides balance it points along the axis with the nearest surface. None outside
    /// the grid.
    pub fn gradient(&self, p: DVec3) -> Option<DVec3> {
        let slope = self.slope(p)?;
        if slope.length() > NO_SLOPE { Some(slope.normalize()) } else { self.axis_direction(p) }
    }

    /// Central differences of the value, not of unit length. None outside the grid.
    pub fn slope(&self, p: DVec3) -> Option<DVec3> {
        self.grid().locate(p)?;
        let (start, end) = (self.grid().origin(), self.grid().end());
        let mut slope = DVec3::ZERO;
        for axis in 0..3 {
            let (mut back, mut ahead) = (p, p);
            back[axis] = (p[axis] - self.grid().cell()).max(start[axis]);
            ahead[axis] = (p[axis] + self.grid().cell()).min(end[axis]);
            let step = ahead[axis] - back[axis];
            if step > 0.0 {
                slope[axis] = (self.value_inside_grid(ahead) - self.value_inside_grid(back)) / step;
            }
        }
        Some(slope)
    }

    /// Value at the point of the grid nearest to `p`: a point on the border may round to just beyond it.
    pub(super) fn value_inside_grid(&self, p: DVec3) -> f64 {
        let mut inside = p.clamp(self.grid().origin(), self.grid().end());
        for _ in 0..2 {
            if let Some(value) = self.value(inside) {
                return value;
            }
            let center = 0.5 * self.grid().origin() + 0.5 * self.grid().end();
            inside += 1e-12 * (center - inside);
        }
        0.0
    }

    /// Axis along which the vertex nearest to `p` is nearest to the surface, pointing outwards.
    fn axis_direction(&self, p: DVec3) -> Option<DVec3> {
        let (corner, t) = self.grid().locate(p)?;
        let vertex: [u32; 3] = std::array::from_fn(|axis| corner[axis] + u32::from(t[axis] > 0.5));
        let distance = |axis: usize| self.axis_distance(vertex, axis).map_or(f64::INFINITY, f64::abs);
        let axis = (0..3).fold(0, |best, axis| if distance(axis) < distance(best) { axis } else { best });
        let crossings = self.scanlines()[axis].through(vertex);
        let i = f64::from(vertex[axis]);
        let after = crossings.partition_point(|&c| c < i);
        let nearest_is_ahead = match (after.checked_sub(1).map(|k| crossings[k]), crossings.get(after)) {
            (Some(back), Some(ahead)) => ahead - i <= i - back,
            (None, Some(_)) => true,
            _ => false,
        };
        let inside = after % 2 == 1;
        Some(if nearest_is_ahead == inside { DVec3::AXES[axis] } else { -DVec3::AXES[axis] })
    }
}
