//! glTF animations, read back by another library.

use rattleback_dynamics::Registry;
use rattleback_scene::Scene;
use rattleback_scene::recording::{Recording, RecordingWriter};
use rattleback_viewer::animation::Animation;

/// Every key of every track is the recorded pose, and a validating reader accepts the file.
#[test]
fn an_animation_moves_as_the_recording_did() {
    let path = std::env::temp_dir().join(format!("rattleback-animation-{}.rbrec", std::process::id()));
    let mut built = Scene::built_in("block-drop").unwrap().build(&Registry::default()).unwrap();
    let mut writer =
        RecordingWriter::create(&path, &built.title, built.dt, &built.world, &*built.simulator).unwrap();
    let mut heights = Vec::new();
    let last = built.world.iter_bodies().last().unwrap().id();
    for _ in 0..60 {
        writer.record(&built.world, &built.world.readout(), &*built.simulator).unwrap();
        heights.push(built.world.body(last).unwrap().position().z);
        built.simulator.step(&mut built.world, built.dt).unwrap();
    }
    writer.finish().unwrap();
    let mut recording = Recording::open(&path, &Registry::default()).unwrap();
    let animation = Animation::of(&mut recording, &Registry::default(), 2).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(animation.keys(), 30);

    let file = gltf::Gltf::from_slice(&animation.to_glb()).unwrap();
    let blob = file.blob.clone().unwrap();
    let bodies = built.world.bodies().len();
    let top = file.scenes().next().unwrap().nodes().next().unwrap();
    assert_eq!(top.children().count(), bodies);
    // z up becomes y up.
    let turn = glam::Quat::from_array(top.transform().decomposed().1);
    assert!((turn * glam::Vec3::Z).distance(glam::Vec3::Y) < 1e-6);
    let mut found = false;
    for channel in file.animations().next().unwrap().channels() {
        let reader = channel.reader(|_| Some(&blob));
        let times: Vec<f32> = reader.read_inputs().unwrap().collect();
        assert_eq!(times.len(), 30);
        assert!((f64::from(times[29]) - 58.0 * built.dt).abs() < 1e-6);
        if channel.target().node().index() == bodies
            && let gltf::animation::util::ReadOutputs::Translations(positions) =
                reader.read_outputs().unwrap()
        {
            found = true;
            for (position, height) in positions.zip(heights.iter().step_by(2)) {
                assert!((f64::from(position[2]) - height).abs() < 1e-5);
            }
        }
    }
    assert!(found, "the last body has a track");
}
