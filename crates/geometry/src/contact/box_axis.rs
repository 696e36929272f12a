//! Least overlap of two boxes over their fifteen axes.
//!
//! With half sizes a and b, R = (e_i·f_j) and t from A's middle to B's, the separation along a unit vector n
//! is
//! |n·t| − Σ a_i|n·e_i| − Σ b_j|n·f_j|. Hence
//!
//! - along e_i: |t_i| − a_i − Σ_j |R_ij| b_j, all three at once: |t| − a − |R| b;
//! - along f_j: |Rᵀt| − b − |R|ᵀa;
//! - along e_i × f_j, of length √(1 − R_ij²), with i, i′, i″ and j, j′, j″ in cyclic order:
//!   |t_i″ R_i′j − t_i′ R_i″j| − a_i′|R_i″j| − a_i″|R_i′j| − b_j′|R_ij″| − b_j″|R_ij′|, compared before the root is taken.
//!
//! Products of edges that are all but parallel are left out: their axis is then all but a face's (see
//! `axis::PARALLEL`).

use glam::{DMat3, DVec3};

use super::axis::{Axis, BIAS, Features, PARALLEL};
use super::polytope::{Polytope, box_face};
use crate::Cuboid;
use crate::frame::Frame;

/// Two boxes in the frame of A.
struct Boxes<'a> {
    a: DVec3,
    b: DVec3,
    frame: &'a Frame,
    /// |R|.
    sizes: DMat3,
    /// t in B's frame.
    toward_a: DVec3,
}

/// The best axis so far: number 0 to 2 e_i, 3 to 5 f_j, 6 to 14 e_i × f_j.
struct Best {
    separation: f64,
    number: usize,
}

/// (A, B, B's frame, what made the last axis) ⇒ the axis of largest separation, or the first beyond the
/// margin.
#[inline]
pub(super) fn best_axis(a: &Cuboid, b: &Cuboid, frame: &Frame, margin: f64, last: Features) -> Axis {
    let rotation = &frame.rotation;
    let boxes = Boxes {
        a: a.half_extents(),
        b: b.half_extents(),
        frame,
        sizes: DMat3::from_cols(rotation.x_axis.abs(), rotation.y_axis.abs(), rotation.z_axis.abs()),
        toward_a: frame.vector_in_b(frame.translation),
    };
    let bias = BIAS * 2.0 * boxes.a.min_element().min(boxes.b.min_element());
    let along_a = frame.translation.abs() - boxes.a - boxes.sizes * boxes.b;
    let along_b = boxes.toward_a.abs() - boxes.b - transposed_times(&boxes.sizes, boxes.a);
    let mut best = match last {
        Features::FaceB(face, _) if face < 6 => {
            Best { separation: along_b[face as usize / 2], number: 3 + face as usize / 2 }
        }
        Features::FaceA(face, _) if face < 6 => {
            Best { separation: along_a[face as usize / 2], number: face as usize / 2 }
        }
        Features::Edges(edge_a, edge_b) if edge_a < 12 && edge_b < 12 => {
            let number = 6 + 3 * (edge_a as usize / 4) + edge_b as usize / 4;
            let (raw, squared) = boxes.along_product(edge_a as usize / 4, edge_b as usize / 4);
            if squared > PARALLEL {
                Best { separation: raw / squared.sqrt(), number }
            } else {
                Best { separation: along_a.x, number: 0 }
            }
        }
        _ => Best { separation: along_a.x, number: 0 },
    };
    if !(best.separation > margin) {
        for (number, separation) in along_a.to_array().into_iter().chain(along_b.to_array()).enumerate() {
            if separation > best.separation + bias {
                best = Best { separation, number };
            }
        }
    }
    if !(best.separation > margin) {
        boxes.try_products(&mut best, margin, bias);
    }
    boxes.axis(a, b, &best)
}

#[inline]
fn transposed_times(m: &DMat3, v: DVec3) -> DVec3 {
    DVec3::new(m.x_axis.dot(v), m.y_axis.dot(v), m.z_axis.dot(v))
}

impl Boxes<'_> {
    /// Separation along e_i × f_j times its length, and the square of that.
    #[inline(always)]
    fn along_product(&self, i: usize, j: usize) -> (f64, f64) {
        let ([i1, i2], [j1, j2]) = (others(i), others(j));
        let (f, sizes) = (self.frame.rotation.col(j), self.sizes.col(j));
        let t = self.frame.translation;
        let apart = (t[i2] * f[i1] - t[i1] * f[i2]).abs();
        let reach_a = self.a[i1] * sizes[i2] + self.a[i2] * sizes[i1];
        let reach_b = self.b[j1] * self.sizes.col(j2)[i] + self.b[j2] * self.sizes.col(j1)[i];
        (apart - reach_a - reach_b, f[i1] * f[i1] + f[i2] * f[i2])
    }

    /// Tries all products of edges until one separates beyond the margin.
    #[inline]
    fn try_products(&self, best: &mut Best, margin: f64, bias: f64) {
        let mut beaten = best.separation + bias;
        let mut beaten_squared = beaten * beaten.abs();
        for i in 0..3 {
            for j in 0..3 {
                let (raw, squared) = self.along_product(i, j);
                // With signs, because the separation is raw divided by the root.
                if raw * raw.abs() > beaten_squared * squared && squared > PARALLEL {
                    *best = Best { separation: raw / squared.sqrt(), number: 6 + 3 * i + j };
                    if best.separation > margin {
                        return;
                    }
                    beaten = best.separation + bias;
                    beaten_squared = beaten * beaten.abs();
                }
            }
        }
    }

    /// Direction and features of the best axis.
    #[inline]
    fn axis(&self, a: &Cuboid, b: &Cuboid, best: &Best) -> Axis {
        let (number, separation) = (best.number, best.separation);
        if number < 3 {
            let negative = self.frame.translation[number] < 0.0;
            let normal = if negative { -DVec3::AXES[number] } else { DVec3::AXES[number] };
            let deepest = b.farthest_vertex(-self.frame.vector_in_b(normal), 0);
            let features = Features::FaceA(box_face(number, negative) as u32, deepest);
            return Axis { normal, separation, features };
        }
        if number < 6 {
            // The face of B towards A.
            let (k, negative) = (number - 3, self.toward_a[number - 3] > 0.0);
            let outward = self.frame.rotation.col(k);
            let normal = if negative { outward } else { -outward };
            let features = Features::FaceB(box_face(k, negative) as u32, a.farthest_vertex(normal, 0));
            return Axis { normal, separation, features };
        }
        let (i, j) = ((number - 6) / 3, (number - 6) % 3);
        let product = DVec3::AXES[i].cross(self.frame.rotation.col(j)).normalize();
        let normal = if product.dot(self.frame.translation) < 0.0 { -product } else { product };
        let edge_a = box_edge_along(i, normal);
        let edge_b = box_edge_along(j, -self.frame.vector_in_b(normal));
        Axis { normal, separation, features: Features::Edges(edge_a, edge_b) }
    }
}

/// The two axes after one, in cyclic order.
#[inline(always)]
fn others(i: usize) -> [usize; 2] {
    [[1, 2], [2, 0], [0, 1]][i]
}

/// Number of the edge along axis k that is farthest along a direction, see `polytope::box_edge`.
#[inline]
fn box_edge_along(k: usize, direction: DVec3) -> u32 {
    let [i, j] = others(k);
    4 * k as u32 + u32::from(direction[i] < 0.0) + 2 * u32::from(direction[j] < 0.0)
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::Pose;

    /// The separation along the axis is that of all corners, and no other of many directions parts the boxes
    /// farther.
    #[test]
    fn best_axis_is_the_best_of_all() {
        let (a, b) = (DVec3::new(1.0, 0.5, 0.3), DVec3::new(0.2, 0.9, 0.6));
        let (a, b) = (Cuboid::new(a).unwrap(), Cuboid::new(b).unwrap());
        for k in 0..300 {
            let t = f64::from(k);
            let turn = DQuat::from_scaled_axis(2.0 * DVec3::new(t.sin(), (2.3 * t).cos(), (0.7 * t).sin()));
            let place = 0.8 * DVec3::new((1.1 * t).cos(), (1.7 * t).sin(), (2.9 * t).cos());
            let frame = Frame::new(&Pose::new(turn, place)).unwrap();
            let along = |n: DVec3| {
                let corner = |i: u32| (a.vertex(i).dot(n), frame.point(b.vertex(i)).dot(n));
                (0..8).map(|i| corner(i).1).fold(f64::INFINITY, f64::min)
                    - (0..8).map(|i| corner(i).0).fold(f64::NEG_INFINITY, f64::max)
            };
            for last in [Features::None, Features::FaceB(3, 0), Features::Edges(5, 9)] {
                let axis = best_axis(&a, &b, &frame, f64::INFINITY, last);
                assert!((along(axis.normal) - axis.separation).abs() < 1e-14);
                for i in 0..3 {
                    for j in 0..3 {
                        let (e, f) = (DVec3::AXES[i], frame.rotation.col(j));
                        // Parallel edges have no axis of their own.
                        for n in [e, f, e.cross(f).try_normalize().unwrap_or(e)] {
                            assert!(along(n).max(along(-n)) <= axis.separation + 1e-8);
                        }
                    }
                }
            }
        }
    }
}
