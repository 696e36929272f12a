//! Shadow map: the height of surfaces towards the sun, in parallel projection.

use crate::render_scene::{Frame, Surface};
use glam::DVec3;
use rattleback_geometry::Pose;

const SIDE: usize = 1400;
/// Half the side of the shadowed region, in radii of the frame.
const REACH: f64 = 1.9;

#[derive(Debug)]
pub struct ShadowMap {
    center: DVec3,
    axes: [DVec3; 3],
    scale: f64,
    texel: f64,
    /// Greatest height towards the sun over each texel, m.
    height: Vec<f32>,
}

impl ShadowMap {
    pub fn new(frame: &Frame, sun: DVec3) -> Self {
        let (u, v) = sun.any_orthonormal_pair();
        let texel = 2.0 * REACH * frame.radius / SIDE as f64;
        Self {
            center: frame.center,
            axes: [u, v, sun],
            scale: texel.recip(),
            texel,
            height: vec![f32::NEG_INFINITY; SIDE * SIDE],
        }
    }

    /// Offset from a surface that prevents it from shadowing itself, m.
    pub fn bias(&self) -> f32 {
        (2.5 * self.texel) as f32
    }

    /// World point ⇒ texel coordinates and height.
    fn place(&self, point: DVec3) -> [f32; 3] {
        let p = point - self.center;
        let half = 0.5 * SIDE as f64;
        let [u, v, w] = self.axes.map(|axis| p.dot(axis));
        [(u * self.scale + half) as f32, (v * self.scale + half) as f32, w as f32]
    }

    /// Adds a surface that casts shadows.
    pub fn add(&mut self, surface: &Surface, pose: &Pose, scale: DVec3) {
        let placed: Vec<[f32; 3]> =
            surface.positions.iter().map(|p| self.place(pose.point(p.as_dvec3() * scale))).collect();
        for triangle in &surface.triangles {
            self.fill(triangle.map(|i| placed[i as usize]));
        }
    }

    fn fill(&mut self, t: [[f32; 3]; 3]) {
        let edge = |a: [f32; 3], b: [f32; 3], x: f32, y: f32| {
            (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])
        };
        let area = edge(t[0], t[1], t[2][0], t[2][1]);
        if !area.is_finite() || area == 0.0 {
            return;
        }
        let range = |axis: usize| {
            let low = t.iter().map(|p| p[axis]).fold(f32::INFINITY, f32::min).floor().max(0.0);
            let high = t.iter().map(|p| p[axis]).fold(f32::NEG_INFINITY, f32::max).ceil().min(SIDE as f32);
            low as usize..high.max(0.0) as usize
        };
        let columns = range(0);
        for y in range(1) {
            for x in columns.clone() {
                let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                let b = [edge(t[1], t[2], px, py), edge(t[2], t[0], px, py), edge(t[0], t[1], px, py)];
                let b = b.map(|e| e / area);
                if b.iter().all(|b| *b >= 0.0) {
                    let height = b[0] * t[0][2] + b[1] * t[1][2] + b[2] * t[2][2];
                    let texel = &mut self.height[y * SIDE + x];
                    *texel = texel.max(height);
                }
            }
        }
    }

    /// World point ⇒ visible fraction of the sun, 0 to 1, averaged over nine texels.
    pub fn light(&self, point: DVec3) -> f32 {
        let [x, y, height] = self.place(point);
        let mut seen = 0;
        for (dy, dx) in [-1.0f32, 0.0, 1.0].into_iter().flat_map(|dy| [-1.0f32, 0.0, 1.0].map(|dx| (dy, dx)))
        {
            let (x, y) = ((x + dx).floor(), (y + dy).floor());
            let outside = !(x >= 0.0 && y >= 0.0 && x < SIDE as f32 && y < SIDE as f32);
            if outside || self.height[y as usize * SIDE + x as usize] <= height {
                seen += 1;
            }
        }
        seen as f32 / 9.0
    }
}
