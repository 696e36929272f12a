#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::{LIMITS, check};
use rattleback_scene::mesh_file::{ObjOptions, read_obj};

fuzz_target!(|bytes: &[u8]| {
    check(read_obj(bytes, &ObjOptions { limits: LIMITS, ..ObjOptions::default() }));
    let part = ObjOptions { group: Some("a".into()), object: Some("b".into()), limits: LIMITS };
    check(read_obj(bytes, &part));
});
