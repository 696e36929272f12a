//! Boxes around moving triangles, for hierarchies of a time interval.
//!
//! While its frame goes from pose 0 to pose 1 a point p goes from p₀ to p₁. On a straight path it stays in
//! the box of p₀ and p₁ (*chord*). If the frame turns, the point runs on an arc; it keeps its distance ρ from
//! the pivot, which itself moves on a straight line, so the box of the pivot's two places, widened by ρ,
//! holds any arc (*rotation sphere*): much looser.

use glam::DVec3;

use crate::{Aabb, BoundsError, Pose};

/// Motion that a swept box covers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SweepBound {
    /// Corners on straight lines.
    #[default]
    Chord,
    /// Any rotation about a pivot that moves on a straight line.
    RotationSphere {
        /// The pivot in the triangle's own frame, usually the centre of mass.
        pivot: DVec3,
    },
}

/// Corners in their own frame, poses of the frame at both ends ⇒ box of the whole motion.
pub fn swept_box(
    corners: &[DVec3; 3],
    start: &Pose,
    end: &Pose,
    bound: SweepBound,
) -> Result<Aabb, BoundsError> {
    match bound {
        SweepBound::Chord => Aabb::from_points(corners.iter().flat_map(|&p| [start.point(p), end.point(p)])),
        SweepBound::RotationSphere { pivot } => {
            let reach = corners.iter().map(|p| p.distance(pivot)).fold(0.0, f64::max);
            Aabb::from_points([start.point(pivot), end.point(pivot)])?.enlarged(reach)
        }
    }
}
