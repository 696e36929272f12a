//! Recordings: whole, cut off, damaged, and as the start of another run.

use proptest::prelude::*;
use rattleback_dynamics::Registry;
use rattleback_scene::recording::{Damage, Recording, RecordingError, RecordingWriter};
use rattleback_scene::{BuiltScene, Scene};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A file that goes when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("rattleback-rec-{}-{}.rbrec", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn build(name: &str) -> BuiltScene {
    Scene::built_in(name).unwrap().build(&Registry::default()).unwrap()
}

/// Runs and records ⇒ poses of all bodies, read from the world.
fn record(path: &Path, built: &mut BuiltScene, steps: usize) -> Vec<Vec<[f64; 7]>> {
    let mut writer =
        RecordingWriter::create(path, &built.title, built.dt, &built.world, &*built.simulator).unwrap();
    let mut seen = Vec::new();
    for step in 0..=steps {
        if step > 0 {
            built.simulator.step(&mut built.world, built.dt).unwrap();
        }
        writer.record(&built.world, &built.world.readout(), &*built.simulator).unwrap();
        seen.push(poses(built));
    }
    assert_eq!(writer.finish().unwrap(), steps as u64 + 1);
    seen
}

fn poses(built: &BuiltScene) -> Vec<[f64; 7]> {
    let pose = |body: rattleback_dynamics::world::BodyRef<'_>| {
        let (p, q) = (body.position(), body.orientation());
        [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
    };
    built.world.iter_bodies().map(pose).collect()
}

fn recorded(recording: &mut Recording, state: usize) -> Vec<[f64; 7]> {
    let bodies = &recording.state(state).unwrap().bodies;
    bodies
        .iter()
        .map(|body| {
            let (p, q) = (body.position, body.orientation);
            [p.x, p.y, p.z, q.w, q.x, q.y, q.z]
        })
        .collect()
}

/// Any state, in any order, is bit for bit what the world was.
#[test]
fn states_are_what_they_were_in_any_order() {
    let file = Scratch::new();
    let mut built = build("block-drop");
    let seen = record(&file.0, &mut built, 150);
    let mut recording = Recording::open(&file.0, &Registry::default()).unwrap();
    assert_eq!((recording.len(), recording.damage), (151, None));
    for state in [0, 1, 31, 32, 33, 150, 149, 64, 63, 5, 100, 101, 102] {
        assert_eq!(recorded(&mut recording, state), seen[state], "state {state}");
        assert!((recording.time(state) - state as f64 * built.dt).abs() < 1e-9);
    }
    assert_eq!(recording.state_at(10.4 * built.dt), 10);
    assert_eq!(recording.state_at(-1.0), 0);
    assert_eq!(recording.state_at(1e9), 150);
}

/// From the opening the same run can be done again, bit for bit.
#[test]
fn a_run_can_be_done_again_from_its_recording() {
    let file = Scratch::new();
    let mut first = build("chain-of-balls");
    let seen = record(&file.0, &mut first, 200);
    let mut recording = Recording::open(&file.0, &Registry::default()).unwrap();
    for start in [0.0, 0.5 * first.world.time()] {
        let (world, simulator) = recording.snapshot_before(start, &Registry::default()).unwrap();
        assert!(world.time() <= start);
        let mut again = BuiltScene { world, simulator, ..build("chain-of-balls") };
        while again.world.time() < first.world.time() {
            again.simulator.step(&mut again.world, again.dt).unwrap();
        }
        assert_eq!(poses(&again), seen[200]);
    }
}

/// Wherever a writer is stopped, the recording opens up to the last state that was whole.
#[test]
fn a_recording_cut_off_anywhere_opens_up_to_its_last_whole_state() {
    let file = Scratch::new();
    let mut built = build("tennis-racket");
    let seen = record(&file.0, &mut built, 40);
    let whole = std::fs::read(&file.0).unwrap();
    let (mut opened, mut longest) = (0, 0);
    for length in (0..whole.len()).step_by(13) {
        std::fs::write(&file.0, &whole[..length]).unwrap();
        match Recording::open(&file.0, &Registry::default()) {
            Ok(mut recording) => {
                opened += 1;
                assert!(recording.damage.is_some() && recording.loss().is_some(), "{length} bytes");
                assert!(recording.len() >= longest);
                longest = recording.len();
                assert_eq!(recorded(&mut recording, longest - 1), seen[longest - 1]);
            }
            Err(RecordingError::NotARecording { .. } | RecordingError::Empty { .. }) => assert_eq!(opened, 0),
            Err(error) => panic!("{length} bytes: {error}"),
        }
    }
    assert!(longest >= 40, "{longest}");
}

/// A body, and a few states of it: small enough to be damaged in every way.
fn small(path: &Path) -> Vec<u8> {
    let text = "[[body]]\nposition = [0, 0, 1]\nshape = { type = 'sphere', radius = 0.1 }";
    let mut built = Scene::parse(text, "small").unwrap().build(&Registry::default()).unwrap();
    record(path, &mut built, 4);
    std::fs::read(path).unwrap()
}

/// Truncated after any byte, a recording reports it or does not open.
#[test]
fn every_truncation_is_told() {
    let file = Scratch::new();
    let whole = small(&file.0);
    assert_eq!(Recording::open(&file.0, &Registry::default()).unwrap().damage, None);
    let mut unfinished = 0;
    for length in 0..whole.len() {
        std::fs::write(&file.0, &whole[..length]).unwrap();
        if let Ok(recording) = Recording::open(&file.0, &Registry::default()) {
            assert!(recording.damage.is_some(), "{length} of {} bytes", whole.len());
            unfinished += usize::from(recording.damage == Some(Damage::Unfinished));
        }
    }
    // Between pieces there is nothing torn, but the end is missing.
    assert!(unfinished >= 5, "{unfinished}");
}

/// Whichever bit is flipped, a recording reports the damage or does not open.
#[test]
fn every_flipped_bit_is_reported() {
    let file = Scratch::new();
    let whole = small(&file.0);
    // All bits of the beginning, then one of every byte: a CRC-32 detects every single one.
    let bits = (0..8 * 128).chain((128..whole.len()).map(|byte| 8 * byte + byte % 8));
    for bit in bits {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&file.0, &bytes).unwrap();
        if let Ok(recording) = Recording::open(&file.0, &Registry::default()) {
            assert!(recording.damage.is_some(), "bit {bit} of {}", 8 * whole.len());
        }
    }
}

#[test]
fn what_is_no_recording_is_refused_in_words() {
    let file = Scratch::new();
    let registry = Registry::default();
    let message = |path: &Path| Recording::open(path, &registry).unwrap_err().to_string();
    assert!(message(&file.0).contains("No such file"));
    std::fs::write(&file.0, "title = 'a scene'").unwrap();
    assert!(message(&file.0).contains("not a Rattleback recording"));
    assert!(message(Path::new("/dev/zero")).contains("not a Rattleback recording"));
    let built = build("coins");
    let unwritable = Path::new("/nowhere/at/all.rbrec");
    let refused = RecordingWriter::create(unwritable, "", 0.1, &built.world, &*built.simulator).unwrap_err();
    assert!(refused.to_string().contains("/nowhere/at/all.rbrec"));
}

/// A full disk is an error that names the file, not a panic.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let built = build("coins");
    let full = Path::new("/dev/full");
    let refused = RecordingWriter::create(full, "", 0.1, &built.world, &*built.simulator).unwrap_err();
    assert!(refused.to_string().contains("/dev/full") && refused.to_string().contains("space"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever bytes are changed, opening and reading end, with a state or an error.
    #[test]
    fn damage_is_survived(place in 0.0..1.0f64, with in any::<u8>(), more in proptest::collection::vec(any::<u8>(), 0..64)) {
        let file = Scratch::new();
        let mut built = build("tennis-racket");
        record(&file.0, &mut built, 5);
        let mut bytes = std::fs::read(&file.0).unwrap();
        let place = (place * bytes.len() as f64) as usize;
        bytes[place] ^= with;
        bytes.extend(more);
        std::fs::write(&file.0, &bytes).unwrap();
        if let Ok(mut recording) = Recording::open(&file.0, &Registry::default()) {
            for state in 0..recording.len() {
                let _ = recording.state(state);
            }
        }
    }
}
