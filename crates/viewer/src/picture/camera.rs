//! A pinhole camera.
//!
//! A point p relative to the eye is seen at x = f p·right / p·ahead, y = f p·up / p·ahead, where f is half the height of the
//! picture over tan(φ/2) for a field of view φ.

use super::raster::Corner;
use crate::render_scene::Frame;
use glam::{DVec3, Vec3};

/// φ, vertical, rad.
const FIELD: f64 = 0.70;
/// Ratio of the picture to the frame: the margin around it.
const MARGIN: f64 = 1.16;

#[derive(Debug)]
pub struct Camera {
    pub eye: DVec3,
    right: Vec3,
    up: Vec3,
    ahead: Vec3,
    focal: f32,
    pub near: f32,
    pub width: u32,
    pub height: u32,
}

impl Camera {
    /// A camera that sees the whole frame.
    pub fn new(frame: &Frame, up: DVec3, width: u32, height: u32) -> Self {
        let tangent = (0.5 * FIELD).tan() / MARGIN;
        let distance = frame.distance(up, [tangent * f64::from(width) / f64::from(height), tangent]);
        let ahead = -frame.toward;
        let right = ahead.cross(up).normalize_or(DVec3::X);
        Self {
            eye: frame.center + distance * frame.toward,
            right: right.as_vec3(),
            up: right.cross(ahead).as_vec3(),
            ahead: ahead.as_vec3(),
            focal: (0.5 * f64::from(height) / (0.5 * FIELD).tan()) as f32,
            near: (0.02 * distance) as f32,
            width,
            height,
        }
    }

    /// (point relative to the eye, normal) ⇒ corner with its depth.
    pub fn see(&self, point: Vec3, normal: Vec3) -> Corner {
        Corner { point, normal, depth: point.dot(self.ahead) }
    }

    /// Point in front of the camera ⇒ pixel coordinates from the upper left.
    pub fn project(&self, corner: &Corner) -> [f32; 2] {
        let scale = self.focal / corner.depth;
        let x = 0.5 * self.width as f32 + scale * corner.point.dot(self.right);
        let y = 0.5 * self.height as f32 - scale * corner.point.dot(self.up);
        [x, y]
    }
}
