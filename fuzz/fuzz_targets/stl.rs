#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::{LIMITS, check};
use rattleback_scene::mesh_file::read_stl;

fuzz_target!(|bytes: &[u8]| check(read_stl(bytes, &LIMITS)));
