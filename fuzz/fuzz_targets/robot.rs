#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_scene::SceneError;
use rattleback_scene::robot::{RobotModel, RobotOptions};

fuzz_target!(|text: &str| {
    let robot = match RobotModel::parse(text, "fuzz", &RobotOptions::default()) {
        Ok(robot) => robot,
        Err(SceneError::Fault(fault)) => {
            assert!(fault.place.line >= 1 && fault.place.column >= 1 && !fault.to_string().is_empty());
            return;
        }
        Err(other) => panic!("an error without a place: {other}"),
    };
    let n = robot.multibody().velocity_count();
    // Numbers may be so far apart that forward dynamics refuses; it must not panic.
    let _ = robot.accelerations(robot.initial_positions(), &vec![0.1; n], &vec![0.2; n]);
    let _ = robot.mechanism();
});
