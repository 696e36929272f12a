#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_dynamics::Registry;
use rattleback_scene::Scene;
use rattleback_scene::recording::{Recording, RecordingWriter};
use std::path::PathBuf;
use std::sync::LazyLock;

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::default);
static FILE: LazyLock<PathBuf> =
    LazyLock::new(|| std::env::temp_dir().join(format!("rattleback-fuzz-{}.rbrec", std::process::id())));

/// A small recording.
static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut stage = Scene::built_in("tennis-racket").unwrap().build(&REGISTRY).unwrap();
    let mut writer =
        RecordingWriter::create(&FILE, "fuzz", stage.dt, &stage.world, &*stage.simulator).unwrap();
    for _ in 0..5 {
        stage.simulator.step(&mut stage.world, stage.dt).unwrap();
        writer.record(&stage.world, &stage.world.readout(), &*stage.simulator).unwrap();
    }
    writer.finish().unwrap();
    std::fs::read(&*FILE).unwrap()
});

// (where, what to put there) over a whole recording: it opens whole and unchanged, or reports what is lost, or is refused.
fuzz_target!(|damage: (u16, Vec<u8>, bool)| {
    let (at, with, cut) = damage;
    let mut bytes = WHOLE.clone();
    let at = usize::from(at) % bytes.len();
    let end = (at + with.len()).min(bytes.len());
    bytes[at..end].copy_from_slice(&with[..end - at]);
    if cut {
        bytes.truncate(end);
    }
    std::fs::write(&*FILE, &bytes).unwrap();
    if let Ok(mut recording) = Recording::open(&FILE, &REGISTRY) {
        assert!(recording.damage.is_some() || bytes == *WHOLE);
        for state in 0..recording.len() {
            let _ = recording.state(state);
        }
    }
});
