#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::scene_text::check_scene;

// Five million copies and fine sampling are allowed, but too slow for every input.
fuzz_target!(|text: &str| check_scene(text, "fuzz", &["count", "resolution", "segments", "file"]));
