//! The scenes that come along, and pictures of them.

use crate::picture::{Picture, PictureOptions};
use rattleback_dynamics::Registry;
use rattleback_scene::{Scene, built_ins};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Width and height of a thumbnail.
const SIZE: (u32, u32) = (480, 300);
/// A thumbnail shows the scene after this part of its duration …
const MOMENT: f64 = 0.12;
/// … but at most after so many seconds, …
const LATEST: f64 = 2.0;
/// … and before anybody gets tired of waiting for it.
const PATIENCE: Duration = Duration::from_millis(350);

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

    /// Name of a scene that comes along ⇒ PNG, drawn when first asked for.
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
    let mut stage = Scene::built_in(name).ok()?.build(&Registry::default()).ok()?;
    let beginning = crate::Look::of(&stage.world).frame;
    let moment = (MOMENT * stage.duration).min(LATEST);
    let began = Instant::now();
    while stage.world.time() < moment && began.elapsed() < PATIENCE {
        stage.simulator.step(&mut stage.world, stage.dt).ok()?;
    }
    let options = PictureOptions { size: SIZE, frame: Some(beginning), ..PictureOptions::default() };
    Picture::of(&stage.world, &options).to_png().ok()
}
