//! The box that a camera should frame, and from which direction.
//!
//! A camera at distance d from the centre, looking along f with half angles whose tangents are tₓ and t_y, sees a corner c of a box
//! around the centre at depth d + c·f; it is in the picture if |c·r| ≤ tₓ (d + c·f) and |c·u| ≤ t_y (d + c·f). The nearest camera that
//! sees all corners stands at d = max over corners of |c·r|/tₓ − c·f and |c·u|/t_y − c·f.

use glam::DVec3;
use rattleback_dynamics::{Status, World};
use rattleback_geometry::Aabb;

/// A box to frame, and the direction to a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Centre, m.
    pub center: DVec3,
    /// Half the sides of the box, m.
    pub half: DVec3,
    /// Half its diagonal, m; > 0.
    pub radius: f64,
    /// Unit vector from the centre to the camera.
    pub toward: DVec3,
}

/// Static bodies up to this multiple of the size of the moving ones are framed too.
const SURROUNDINGS: f64 = 1.5;
/// On each side one body in this many may be outside of the frame.
const STRAY: usize = 50;
/// Ratio of length to width above which a box is viewed along its length instead of across.
const LONG: (f64, f64) = (2.5, 8.0);

impl Frame {
    /// The frame of all moving bodies and of the static ones around them.
    pub(super) fn of(world: &World, up: DVec3) -> Self {
        let boxes = |wanted: fn(Status) -> bool| {
            world
                .iter_bodies()
                .filter(move |body| wanted(body.status()))
                .filter_map(|body| body.aabb().or_else(|| Aabb::from_points([body.center_of_mass()]).ok()))
        };
        let moving = crowd_box(boxes(|status| status != Status::Fixed).collect());
        let fixed = boxes(|status| status == Status::Fixed);
        let all = match moving {
            Some(moving) => {
                let size = moving.diagonal();
                fixed
                    .filter(|aabb| {
                        aabb.diagonal() < SURROUNDINGS * size && aabb.distance(moving.center()) < size
                    })
                    .fold(moving, |a, b| a.union(&b))
            }
            None => fixed.reduce(|a, b| a.union(&b)).unwrap_or_else(unit_box),
        };
        let centers = world.iter_bodies().filter(|body| body.status() == Status::Dynamic);
        let (count, sum) =
            centers.fold((0.0, DVec3::ZERO), |(n, sum), body| (n + 1.0, sum + body.center_of_mass()));
        let centroid_offset = if count > 0.0 { sum / count - all.center() } else { DVec3::ZERO };
        Self::new(&all, direction(&all, up, centroid_offset))
    }

    fn new(all: &Aabb, toward: DVec3) -> Self {
        let diagonal = all.diagonal();
        let (half, radius) =
            if diagonal > 0.0 { (all.half_extents(), 0.5 * diagonal) } else { (DVec3::ONE, 1.0) };
        Self { center: all.center(), half, radius, toward }
    }

    /// The frame of both boxes.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (low, high) = (self.center - self.half, self.center + self.half);
        let (low, high) = (low.min(other.center - other.half), high.max(other.center + other.half));
        let half = 0.5 * (high - low);
        Self { center: low + half, half, radius: half.length(), toward: self.toward }
    }

    /// (up, tangents of half the horizontal and vertical field of view) ⇒ distance of the camera from the centre, m.
    pub fn distance(&self, up: DVec3, tangents: [f64; 2]) -> f64 {
        let ahead = -self.toward;
        let right = ahead.cross(up).normalize_or(DVec3::X);
        let above = right.cross(ahead);
        let side = |bits: u32, axis: u32| if bits & (1 << axis) == 0 { -1.0 } else { 1.0 };
        (0..8)
            .map(|bits| {
                let c = self.half * DVec3::new(side(bits, 0), side(bits, 1), side(bits, 2));
                (c.dot(right).abs() / tangents[0]).max(c.dot(above).abs() / tangents[1]) - c.dot(ahead)
            })
            .fold(0.0, f64::max)
    }
}

/// Boxes of bodies ⇒ a box around them; of many bodies, without the few outliers.
fn crowd_box(mut boxes: Vec<Aabb>) -> Option<Aabb> {
    let stray = boxes.len() / STRAY;
    for axis in 0..3 {
        if stray > 0 && boxes.len() > 4 * stray {
            boxes.sort_by(|a, b| a.center()[axis].total_cmp(&b.center()[axis]));
            boxes.truncate(boxes.len() - stray);
            boxes.drain(..stray);
        }
    }
    boxes.into_iter().reduce(|a, b| a.union(&b))
}

/// Direction to the camera, on the side of the box that most bodies are on.
fn direction(all: &Aabb, up: DVec3, centroid_offset: DVec3) -> DVec3 {
    let (east, north) = horizontal(up);
    let extent = |axis: DVec3| (all.half_extents() * axis.abs()).element_sum();
    let (along, across) = if extent(north) > extent(east) { (north, east) } else { (east, -north) };
    let ratio = extent(along) / extent(across).max(extent(up)).max(1e-300);
    let toward = if ratio > LONG.1 {
        let end = if centroid_offset.dot(along) < 0.0 { -along } else { along };
        2.2 * end + 0.5 * across + 0.75 * up
    } else if ratio > LONG.0 {
        0.5 * along + 1.4 * across + 0.55 * up
    } else {
        0.85 * east - 1.1 * north + 0.65 * up
    };
    toward.normalize()
}

/// Two horizontal unit vectors: x and y if up is z, x and −z if up is y.
pub(crate) fn horizontal(up: DVec3) -> (DVec3, DVec3) {
    let east = if up.x.abs() < 0.9 { DVec3::X } else { DVec3::Y };
    let east = (east - up * east.dot(up)).normalize();
    (east, up.cross(east))
}

fn unit_box() -> Aabb {
    Aabb::from_center(DVec3::ZERO, DVec3::ONE).unwrap_or_else(|_| unreachable!("one is a size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looking along y at a box of half sides 3, 1, 1 with tangents ½: its near face, at y = −1, is 6 away from a camera that just
    /// sees its sides, so the centre is 7 away.
    #[test]
    fn the_nearest_camera_sees_all_corners() {
        let all = Aabb::from_center(DVec3::ZERO, DVec3::new(3.0, 1.0, 1.0)).unwrap();
        let frame = Frame::new(&all, DVec3::NEG_Y);
        assert!((frame.distance(DVec3::Z, [0.5, 0.5]) - 7.0).abs() < 1e-12);
        assert!((frame.distance(DVec3::Z, [3.0, 0.5]) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_union_holds_both() {
        let frame = |x: f64, half: f64| {
            Frame::new(&Aabb::from_center(DVec3::X * x, DVec3::splat(half)).unwrap(), DVec3::Z)
        };
        let both = frame(-2.0, 1.0).union(&frame(5.0, 2.0));
        assert_eq!((both.center, both.half), (DVec3::X * 2.0, DVec3::new(5.0, 2.0, 2.0)));
    }
}
