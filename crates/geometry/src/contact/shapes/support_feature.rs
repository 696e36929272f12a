//! Support feature of a convex body: its lowest face, edge or point along a direction.
//!
//! Along −n it is, for a polyhedron, the face whose normal is nearest to −n; for a cylinder or cone the rim
//! (eight points of it, the lowest among them) or the line along its side; for a capsule a segment; for all
//! else a point. The higher points of a tilted feature are not in contact: the caller drops those above its
//! margin.

use glam::DVec3;

use crate::Pose;
use crate::closest::{ConvexShape, Support};

/// Most points of a support feature.
pub(super) const MAX_FEATURE_POINTS: usize = 12;

/// Support feature in the outer frame, a polygon if it has more than two points.
#[derive(Clone, Copy, Debug)]
pub(super) struct SupportFeature {
    points: [DVec3; MAX_FEATURE_POINTS],
    count: usize,
}

impl SupportFeature {
    /// (body, its pose, unit vector up) ⇒ its support feature along −up.
    pub(super) fn of(body: &ConvexShape<'_>, pose: &Pose, up: DVec3) -> Self {
        let mut feature = Self { points: [DVec3::ZERO; MAX_FEATURE_POINTS], count: 0 };
        let d = pose.inverse_vector(-up);
        feature.collect(body, d);
        for point in &mut feature.points[..feature.count] {
            *point = pose.point(*point);
        }
        feature
    }

    pub(super) fn points(&self) -> &[DVec3] {
        &self.points[..self.count]
    }

    fn push(&mut self, p: DVec3) {
        if let Some(place) = self.points.get_mut(self.count) {
            *place = p;
            self.count += 1;
        }
    }

    fn collect(&mut self, body: &ConvexShape<'_>, d: DVec3) {
        match body {
            ConvexShape::Cuboid(cuboid) => {
                let h = cuboid.half_extents();
                let axis = d.abs().max_position();
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                for (s, t) in [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)] {
                    let mut p = h;
                    p[axis] = h[axis].copysign(d[axis]);
                    p[u] *= s;
                    p[v] *= t;
                    self.push(p);
                }
            }
            ConvexShape::Convex(convex) => {
                let lowest = convex.support_vertex(d, 0);
                let edges = convex.vertex_edges(lowest as usize).iter();
                let faces = edges.flat_map(|&edge| convex.edges()[edge as usize].faces);
                let along = |face: u32| convex.normals()[face as usize].dot(d);
                let best = faces.reduce(|best, face| if along(face) > along(best) { face } else { best });
                let Some(face) = best else { return self.push(convex.vertices()[lowest as usize]) };
                let corners = convex.face(face as usize);
                // Of a face with many corners some evenly chosen ones, from the lowest on.
                let start = corners.iter().position(|&v| v == lowest).unwrap_or(0);
                let taken = corners.len().min(MAX_FEATURE_POINTS);
                for i in 0..taken {
                    let at = (start + i * corners.len() / taken) % corners.len();
                    self.push(convex.vertices()[corners[at] as usize]);
                }
            }
            ConvexShape::Cylinder(cylinder) => {
                let (r, half) = (cylinder.radius(), 0.5 * cylinder.height());
                let out = d.truncate().normalize_or(glam::DVec2::X) * r;
                if d.z.abs() > std::f64::consts::FRAC_1_SQRT_2 {
                    self.rim(out, half.copysign(d.z));
                } else {
                    self.push(out.extend(half));
                    self.push(out.extend(-half));
                }
            }
            ConvexShape::Cone(cone) => {
                let out = d.truncate().normalize_or(glam::DVec2::X) * cone.radius();
                // The side's outward normal leans up by the angle whose tangent is r/h.
                let lean = cone.radius().atan2(cone.apex() - cone.base());
                if -d.z > (0.5 * (lean - std::f64::consts::FRAC_PI_2)).sin().abs() {
                    self.rim(out, cone.base());
                } else {
                    self.push(out.extend(cone.base()));
                    self.push(DVec3::Z * cone.apex());
                }
            }
            ConvexShape::Capsule(capsule) => {
                let half = 0.5 * capsule.height() * DVec3::Z;
                self.push(half + capsule.radius() * d);
                self.push(-half + capsule.radius() * d);
            }
            ConvexShape::Sphere(_) | ConvexShape::Ellipsoid(_) | ConvexShape::Custom(_) => {
                self.push(body.farthest(d, 0).0 + Support::radius(body) * d);
            }
        }
    }

    /// Eight points of a rim at height z, from `out` on.
    fn rim(&mut self, out: glam::DVec2, z: f64) {
        for i in 0..8 {
            let turn = glam::DVec2::from_angle(f64::from(i) * std::f64::consts::FRAC_PI_4);
            self.push(turn.rotate(out).extend(z));
        }
    }
}
