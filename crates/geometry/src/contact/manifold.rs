//! Contact manifold of two convex pieces: up to four points with one normal.

use glam::DVec3;

use crate::Pose;

/// Most points of a manifold: four transmit any load that a flat contact can.
pub const MAX_POINTS: usize = 4;

/// A pair of points, one on each piece, that touch or are about to. In A's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// Point on A.
    pub point_a: DVec3,
    /// Point on B.
    pub point_b: DVec3,
    /// (p_B − p_A)·n; negative for a depth.
    pub separation: f64,
    /// Identifier of the two features in contact; persistent while they are.
    pub id: u32,
}

/// Contact of a convex piece of A with one of B. In A's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manifold {
    /// Unit vector from A to B.
    pub normal: DVec3,
    /// Part of each shape: part of a compound, triangle of a mesh or terrain; 0 of a convex shape.
    pub parts: [u32; 2],
    points: [ContactPoint; MAX_POINTS],
    count: u32,
}

impl Manifold {
    /// No points yet.
    pub fn new(normal: DVec3) -> Self {
        Self { normal, parts: [0; 2], points: [ContactPoint::default(); MAX_POINTS], count: 0 }
    }

    /// Adds a point; false if there is no room.
    pub fn push(&mut self, point: ContactPoint) -> bool {
        let Some(place) = self.points.get_mut(self.count as usize) else { return false };
        *place = point;
        self.count += 1;
        true
    }

    /// The points.
    pub fn points(&self) -> &[ContactPoint] {
        &self.points[..self.count as usize]
    }

    /// The points, to be changed.
    pub fn points_mut(&mut self) -> &mut [ContactPoint] {
        &mut self.points[..self.count as usize]
    }

    /// The deepest point, if there is any.
    pub fn deepest(&self) -> Option<&ContactPoint> {
        self.points().iter().min_by(|p, q| p.separation.total_cmp(&q.separation))
    }

    /// The same contact with A and B exchanged; `b_in_a` is the pose of the query.
    #[must_use]
    pub fn swapped(mut self, b_in_a: &Pose) -> Self {
        self.normal = b_in_a.inverse_vector(-self.normal);
        self.parts.swap(0, 1);
        for point in self.points_mut() {
            let (a, b) = (point.point_a, point.point_b);
            (point.point_a, point.point_b) = (b_in_a.inverse_point(b), b_in_a.inverse_point(a));
            // The identifier's halves are a feature of each.
            point.id = point.id.rotate_left(16);
        }
        self
    }
}
