//! Rasterisation of triangles with a depth buffer.
//!
//! With screen corners s₀, s₁, s₂ a pixel centre has barycentric coordinates bᵢ by ratios of areas. Over depth z, what is linear
//! on the triangle (1/z, p/z, n/z) is linear on the screen: p = Σ bᵢ pᵢ/zᵢ / Σ bᵢ/zᵢ.

use super::camera::Camera;
use glam::Vec3;

/// A corner of a triangle, relative to the eye.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    pub point: Vec3,
    pub normal: Vec3,
    pub depth: f32,
}

impl Corner {
    fn between(&self, other: &Self, t: f32) -> Self {
        Self {
            point: self.point.lerp(other.point, t),
            normal: self.normal.lerp(other.normal, t),
            depth: self.depth + t * (other.depth - self.depth),
        }
    }
}

/// A pixel covered by a triangle.
#[derive(Debug)]
pub struct Fragment {
    pub x: u32,
    pub y: u32,
    /// Relative to the eye.
    pub point: Vec3,
    /// Unit normal.
    pub normal: Vec3,
}

/// Light and depth of every pixel.
#[derive(Debug)]
pub struct Raster {
    pub width: u32,
    pub height: u32,
    pub light: Vec<[f32; 3]>,
    /// 1/z: larger is nearer, 0 is infinitely far.
    nearness: Vec<f32>,
}

impl Raster {
    pub fn new(width: u32, height: u32) -> Self {
        let pixels = width as usize * height as usize;
        Self { width, height, light: vec![[0.0; 3]; pixels], nearness: vec![0.0; pixels] }
    }

    /// Draws a triangle; `shade` gives the light of a fragment, or none where it is transparent.
    pub fn fill(
        &mut self,
        camera: &Camera,
        triangle: [Corner; 3],
        shade: impl Fn(&Fragment) -> Option<[f32; 3]>,
    ) {
        if triangle.iter().all(|corner| corner.depth >= camera.near) {
            return self.fill_clipped(camera, &triangle, &shade);
        }
        // Clipped at the near plane, a triangle becomes a polygon of three or four corners.
        let mut kept: Vec<Corner> = Vec::with_capacity(4);
        for i in 0..3 {
            let (a, b) = (&triangle[i], &triangle[(i + 1) % 3]);
            if a.depth >= camera.near {
                kept.push(*a);
            }
            if (a.depth >= camera.near) != (b.depth >= camera.near) {
                kept.push(a.between(b, (camera.near - a.depth) / (b.depth - a.depth)));
            }
        }
        for i in 1..kept.len().saturating_sub(1) {
            self.fill_clipped(camera, &[kept[0], kept[i], kept[i + 1]], &shade);
        }
    }

    fn fill_clipped(
        &mut self,
        camera: &Camera,
        corners: &[Corner; 3],
        shade: &impl Fn(&Fragment) -> Option<[f32; 3]>,
    ) {
        let s = corners.each_ref().map(|corner| camera.project(corner));
        let area = edge(s[0], s[1], s[2]);
        if !area.is_finite() || area.abs() < 1e-9 {
            return;
        }
        let range = |axis: usize, size: u32| {
            let low = s.iter().map(|p| p[axis]).fold(f32::INFINITY, f32::min).floor().max(0.0);
            let high = s.iter().map(|p| p[axis]).fold(f32::NEG_INFINITY, f32::max).ceil().min(size as f32);
            low as u32..high.max(0.0) as u32
        };
        let over_depth = corners.each_ref().map(|corner| corner.depth.recip());
        let columns = range(0, self.width);
        for y in range(1, self.height) {
            for x in columns.clone() {
                let p = [x as f32 + 0.5, y as f32 + 0.5];
                let b = [edge(s[1], s[2], p), edge(s[2], s[0], p), edge(s[0], s[1], p)].map(|e| e / area);
                if b.iter().any(|b| *b < 0.0) {
                    continue;
                }
                let w: [f32; 3] = std::array::from_fn(|i| b[i] * over_depth[i]);
                let nearness = w[0] + w[1] + w[2];
                let pixel = (y * self.width + x) as usize;
                if nearness <= self.nearness[pixel] {
                    continue;
                }
                let mix =
                    |of: fn(&Corner) -> Vec3| (0..3).map(|i| of(&corners[i]) * w[i]).sum::<Vec3>() / nearness;
                let normal = mix(|corner| corner.normal).normalize_or_zero();
                if let Some(light) = shade(&Fragment { x, y, point: mix(|corner| corner.point), normal }) {
                    self.light[pixel] = light;
                    self.nearness[pixel] = nearness;
                }
            }
        }
    }

    /// Averages squares of `side` pixels ⇒ red, green, blue, row by row.
    pub fn averaged(&self, side: u32) -> Vec<f32> {
        let (width, height) = (self.width / side, self.height / side);
        let mut out = Vec::with_capacity((width * height * 3) as usize);
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let mut sum = [0.0; 3];
            for (dy, dx) in (0..side).flat_map(|dy| (0..side).map(move |dx| (dy, dx))) {
                let light = self.light[((y * side + dy) * self.width + x * side + dx) as usize];
                for k in 0..3 {
                    sum[k] += light[k].clamp(0.0, 1.0);
                }
            }
            out.extend(sum.map(|light| light / (side * side) as f32));
        }
        out
    }
}

/// Twice the signed area of a triangle.
fn edge(a: [f32; 2], b: [f32; 2], p: [f32; 2]) -> f32 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}
