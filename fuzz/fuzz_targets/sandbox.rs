#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::scene_text::check_scene;

fuzz_target!(|text: &str| check_scene(text, "fuzz.sandbox", &["File"]));
