//! The gallery: built-in scenes with thumbnails.

use crate::picture::{Picture, PictureOptions};
use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, built_ins};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Width and height of a thumbnail, pixels.
const SIZE: (u32, u32) = (480, 300);
/// Time that a thumbnail shows, as a fraction of the duration of the scene.
const MOMENT: f64 = 0.12;
/// Latest time that a thumbnail shows, s.
const LATEST: f64 = 2.0;
/// Longest wall time spent on simulating up to that time.
const SIMULATION_TIME: Duration = Duration::from_millis(350);

/// Thumbnails drawn so far.
#[derive(Debug, Default)]
pub struct Gallery {
    drawn: Mutex<BTreeMap<&'static str, Arc<[u8]>>>,
}

impl Gallery {
    /// Names and summaries as JSON.
    pub fn list() -> String {
        let scenes: Vec<_> =
            built_ins().iter().map(|scene| json!({ "name": scene.name, "summary": scene.summary })).collect();
        json!(scenes).to_string()
    }

    /// Name of a built-in scene ⇒ PNG, drawn at the first request.
    pub fn thumbnail(&self, name: &str) -> Option<Arc<[u8]>> {
        let scene = built_ins().iter().find(|scene| scene.name == name)?;
        let known = || self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(png) = known().get(scene.name) {
            return Some(Arc::clone(png));
        }
        let png: Arc<[u8]> = draw(scene.name)?.into();
        known().insert(scene.name, Arc::clone(&png));
        Some(png)
    }
}

fn draw(name: &str) -> Option<Vec<u8>> {
    let mut built = Scene::built_in(name).ok()?.build(&Registry::default()).ok()?;
    let beginning = crate::RenderScene::of(&built.world).frame;
    let moment = (MOMENT * built.duration).min(LATEST);
    let began = Instant::now();
    while built.world.time() < moment && began.elapsed() < SIMULATION_TIME {
        built.simulator.step(&mut built.world, built.dt).ok()?;
    }
    let options = PictureOptions { size: SIZE, frame: Some(beginning), ..PictureOptions::default() };
    Picture::of(&built.world, &options).to_png().ok()
}
