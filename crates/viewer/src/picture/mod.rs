//! Pictures of worlds by a software rasteriser.
//!
//! A pinhole camera, a depth buffer, one sun with a shadow map, ambient light from the sky, 2×2 supersampling. The same world gives
//! the same picture.
//!
//! Lambert: a surface of albedo ρ with unit normal n under a sun of strength E along l reflects ρ E max(0, n·l) in every direction; the sky
//! adds ρ A (½ + ½ n·up).

mod camera;
mod raster;
mod shadow;

use crate::render_scene::{Frame, RenderScene, horizontal, springs, srgb};
use camera::Camera;
use glam::{DQuat, DVec3, Vec3};
use raster::{Fragment, Raster};
use rattleback_dynamics::{Status, World};
use rattleback_geometry::{Pose, Shape};
use shadow::ShadowMap;

/// Options of a picture.
#[derive(Clone, Copy, Debug)]
pub struct PictureOptions {
    /// Width and height, at most [`MAX_SIZE`] each.
    pub size: (u32, u32),
    /// A frame that is to be in view as well, such as that of the first state.
    pub frame: Option<Frame>,
    /// Dark background.
    pub dark: bool,
}

impl Default for PictureOptions {
    fn default() -> Self {
        Self { size: (1280, 720), frame: None, dark: false }
    }
}

/// Largest width and height.
pub const MAX_SIZE: u32 = 4096;
/// Samples of a pixel along each side.
const SUPERSAMPLING: u32 = 2;
const SUN: f32 = 0.78;
const SKY: f32 = 0.42;

/// A finished picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Red, green, blue, row by row from the top.
    pub rgb: Vec<u8>,
}

/// A picture could not be encoded.
#[derive(Debug, thiserror::Error)]
#[error("the picture cannot be encoded: {0}")]
pub struct PictureError(#[from] png::EncodingError);

/// A surface with pose, scale and colour.
struct Instance<'a> {
    surface: &'a crate::render_scene::Surface,
    pose: Pose,
    scale: DVec3,
    colour: [f32; 3],
    glass: bool,
}

impl Picture {
    /// (world, options) ⇒ picture.
    ///
    /// ```
    /// use rattleback_dynamics::Registry;
    /// use rattleback_scene::Scene;
    /// use rattleback_viewer::picture::{Picture, PictureOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let built = Scene::built_in("coins")?.build(&Registry::default())?;
    /// let options = PictureOptions { size: (160, 90), ..PictureOptions::default() };
    /// let picture = Picture::of(&built.world, &options);
    /// assert_eq!(picture.rgb.len(), 160 * 90 * 3);
    /// # Ok(()) }
    /// ```
    pub fn of(world: &World, options: &PictureOptions) -> Self {
        let render = RenderScene::of(world);
        let (width, height) = (options.size.0.clamp(1, MAX_SIZE), options.size.1.clamp(1, MAX_SIZE));
        let frame = options.frame.map_or(render.frame, |first| first.union(&render.frame));
        let camera = Camera::new(&frame, render.up, width * SUPERSAMPLING, height * SUPERSAMPLING);
        let rods = rod();
        let instances = instances(&render, world, rods.as_ref(), frame.radius, camera.eye);
        let (east, north) = horizontal(render.up);
        let sun = (0.45 * east - 0.5 * north + 1.0 * render.up).normalize();
        let mut shadow = ShadowMap::new(&frame, sun);
        for instance in instances.iter().filter(|instance| !instance.glass) {
            shadow.add(instance.surface, &instance.pose, instance.scale);
        }
        let paint = Paint {
            shadow,
            sun: sun.as_vec3(),
            up: render.up.as_vec3(),
            camera: &camera,
            dark: options.dark,
        };
        let mut raster = Raster::new(camera.width, camera.height);
        paint.background(&mut raster);
        for instance in &instances {
            paint.draw(&mut raster, instance);
        }
        for plane in &render.planes {
            let pose = world
                .body(render.bodies[plane.body as usize].id)
                .map_or(plane.pose, |b| b.pose() * plane.pose);
            paint.plane(&mut raster, &pose, &frame);
        }
        let rgb = raster.averaged(SUPERSAMPLING).into_iter().map(to_byte).collect();
        Self { width, height, rgb }
    }

    /// As a PNG file.
    ///
    /// # Errors
    /// Encoding failed.
    pub fn to_png(&self) -> Result<Vec<u8>, PictureError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.rgb)?;
        writer.finish()?;
        Ok(bytes)
    }
}

fn to_byte(light: f32) -> u8 {
    (srgb(light.clamp(0.0, 1.0)) * 255.0).round() as u8
}

/// A unit cylinder along z, for springs.
fn rod() -> Option<crate::render_scene::Surface> {
    let mut world = World::weightless();
    let shape = Shape::cylinder(1.0, 2.0).ok()?;
    world.add_body(rattleback_dynamics::Body::fixed().with_shape(shape)).ok()?;
    RenderScene::of(&world).surfaces.into_iter().next()
}

fn instances<'a>(
    render: &'a RenderScene,
    world: &World,
    rod: Option<&'a crate::render_scene::Surface>,
    radius: f64,
    eye: DVec3,
) -> Vec<Instance<'a>> {
    let poses = render.poses(world);
    let watched: Vec<DVec3> = watched(render, world);
    let mut instances: Vec<Instance<'a>> = render
        .parts
        .iter()
        .map(|part| Instance {
            surface: &render.surfaces[part.surface as usize],
            pose: poses[part.body as usize] * part.pose,
            scale: part.scale,
            colour: render.bodies[part.body as usize].colour.linear(),
            glass: part.sensor
                || hides(render, part, &(poses[part.body as usize] * part.pose), eye, &watched),
        })
        .collect();
    let Some(surface) = rod else { return instances };
    for [a, b] in springs(world, world.time()) {
        let along = b - a;
        let Some(direction) = along.try_normalize() else { continue };
        let pose = Pose::new(DQuat::from_rotation_arc(DVec3::Z, direction), a.midpoint(b));
        let scale = DVec3::new(0.006 * radius, 0.006 * radius, 0.5 * along.length());
        instances.push(Instance { surface, pose, scale, colour: [0.25, 0.27, 0.3], glass: false });
    }
    instances
}

/// Centres of mass of about 64 of the moving bodies.
fn watched(render: &RenderScene, world: &World) -> Vec<DVec3> {
    let moving = render.bodies.iter().filter(|body| body.status != Status::Fixed);
    let every = (moving.clone().count() / 64).max(1);
    moving
        .step_by(every)
        .filter_map(|body| world.body(body.id).ok())
        .map(|body| body.center_of_mass())
        .collect()
}

/// Whether a static box is between the camera and a third of the moving bodies; it is then drawn translucent.
fn hides(
    render: &RenderScene,
    part: &crate::render_scene::Part,
    pose: &Pose,
    eye: DVec3,
    watched: &[DVec3],
) -> bool {
    let is_box = render.surfaces[part.surface as usize].triangles.len() == 12;
    if render.bodies[part.body as usize].status != Status::Fixed || !is_box {
        return false;
    }
    let from = pose.inverse_point(eye) / part.scale;
    let hidden = watched.iter().filter(|point| {
        let ray = pose.inverse_point(**point) / part.scale - from;
        // The unit cube is where the slabs |x| ≤ 1, |y| ≤ 1, |z| ≤ 1 overlap along the ray.
        let (a, b) = ((DVec3::NEG_ONE - from) / ray, (DVec3::ONE - from) / ray);
        let (enter, leave) = (a.min(b).max_element(), a.max(b).min_element());
        enter < leave && leave > 0.0 && leave < 1.0
    });
    3 * hidden.count() > watched.len()
}

/// Light and background.
struct Paint<'a> {
    shadow: ShadowMap,
    sun: Vec3,
    up: Vec3,
    camera: &'a Camera,
    dark: bool,
}

impl Paint<'_> {
    /// Colour of the background at a height between 0 (bottom) and 1 (top).
    fn backdrop(&self, height: f32) -> [f32; 3] {
        let (low, high) = if self.dark {
            ([0.018, 0.021, 0.027], [0.006, 0.007, 0.010])
        } else {
            ([0.86, 0.88, 0.90], [0.66, 0.73, 0.80])
        };
        std::array::from_fn(|i| low[i] + (high[i] - low[i]) * height)
    }

    fn background(&self, raster: &mut Raster) {
        let (width, height) = (raster.width as usize, raster.height as usize);
        for (y, row) in raster.light.chunks_mut(width).enumerate() {
            row.fill(self.backdrop(1.0 - y as f32 / height as f32));
        }
    }

    /// Light from a surface point, relative to the camera.
    fn shade(&self, albedo: [f32; 3], point: Vec3, normal: Vec3) -> [f32; 3] {
        // Both sides of open surfaces are lit.
        let n = if normal.dot(point) > 0.0 { -normal } else { normal };
        let lambert = n.dot(self.sun).max(0.0);
        let sun = if lambert > 0.0 {
            SUN * lambert * self.shadow.light(self.camera.eye + (point + n * self.shadow.bias()).as_dvec3())
        } else {
            0.0
        };
        let half = (self.sun - point.normalize_or_zero()).normalize_or_zero();
        let gloss = 0.10 * n.dot(half).max(0.0).powi(40) * sun;
        let sky = SKY * (0.5 + 0.5 * n.dot(self.up));
        albedo.map(|rho| rho * (sun + sky + 0.06) + gloss)
    }

    fn draw(&self, raster: &mut Raster, instance: &Instance<'_>) {
        let Instance { surface, pose, scale, colour, glass } = instance;
        let relative = Pose::new(pose.rotation, pose.translation - self.camera.eye);
        let corner = |i: usize| {
            let p = surface.positions[i].as_dvec3() * *scale;
            // Normals transform with the inverse scale.
            let n = surface.normals[i].as_dvec3() / *scale;
            let point = relative.point(p);
            let normal = relative.vector(n).normalize_or_zero();
            self.camera.see(point.as_vec3(), normal.as_vec3())
        };
        let corners: Vec<_> = (0..surface.positions.len()).map(corner).collect();
        for triangle in &surface.triangles {
            let seen = triangle.map(|i| corners[i as usize]);
            raster.fill(self.camera, seen, |fragment: &Fragment| {
                if *glass && !(fragment.x.is_multiple_of(4) && fragment.y.is_multiple_of(2)) {
                    return None;
                }
                Some(self.shade(*colour, fragment.point, fragment.normal))
            });
        }
    }

    /// The plane of a half-space, with a grid, up to where fog hides it.
    fn plane(&self, raster: &mut Raster, pose: &Pose, frame: &Frame) {
        let normal = pose.vector(DVec3::Z);
        let foot = frame.center - normal * (frame.center - pose.translation).dot(normal);
        let (u, v) = (pose.vector(DVec3::X), pose.vector(DVec3::Y));
        let reach = 24.0 * frame.radius;
        let spacing = nice(frame.radius / 2.5);
        let corner = |i: f64, j: f64| {
            let point = foot + reach * (i * u + j * v) - self.camera.eye;
            self.camera.see(point.as_vec3(), normal.as_vec3())
        };
        // In squares: f32 is too coarse for triangles of the size of the world.
        let n = 12;
        let at = |k: i32| 2.0 * f64::from(k) / f64::from(n) - 1.0;
        let base = if self.dark { [0.030, 0.034, 0.042] } else { [0.60, 0.63, 0.66] };
        let ink = if self.dark { [0.075, 0.083, 0.10] } else { [0.42, 0.46, 0.50] };
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
            let square = [
                corner(at(i), at(j)),
                corner(at(i + 1), at(j)),
                corner(at(i + 1), at(j + 1)),
                corner(at(i), at(j + 1)),
            ];
            for triangle in [[0, 1, 2], [0, 2, 3]] {
                raster.fill(self.camera, triangle.map(|k: usize| square[k]), |fragment| {
                    let there = self.camera.eye + fragment.point.as_dvec3() - pose.translation;
                    let (a, b) = (there.dot(u) / spacing, there.dot(v) / spacing);
                    let line = |x: f64| (x - x.round()).abs() * spacing;
                    let width = 0.0016 * f64::from(fragment.point.length());
                    let lined = line(a).min(line(b)) < 0.5 * width;
                    let albedo = if lined { ink } else { base };
                    let shaded = self.shade(albedo, fragment.point, fragment.normal);
                    let away = (self.camera.eye + fragment.point.as_dvec3() - foot).length() / frame.radius;
                    let fog = ((away - 3.0) / 14.0).clamp(0.0, 1.0) as f32;
                    let backdrop = self.backdrop(1.0 - fragment.y as f32 / self.camera.height as f32);
                    Some(std::array::from_fn(|k| shaded[k] + (backdrop[k] - shaded[k]) * fog.sqrt()))
                });
            }
        }
    }
}

/// The largest of 1, 2, 5 · 10ⁿ not above a length.
fn nice(length: f64) -> f64 {
    let decade = 10f64.powf(length.log10().floor());
    [5.0, 2.0, 1.0]
        .map(|step| step * decade)
        .into_iter()
        .find(|step| *step <= length * 1.000_001)
        .unwrap_or(decade)
}

#[cfg(test)]
mod tests;
