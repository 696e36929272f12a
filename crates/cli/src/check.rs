//! `rattleback check` and `rattleback schema`: validation of scenes, and the JSON Schema of scene files.

use crate::arguments::Check;
use crate::failure::Failure;
use crate::run::{check_finite, whole_steps};
use crate::scene_file;
use crate::summary::body_counts;
use crate::table::{Table, number};
use rattleback_dynamics::Registry;
use rattleback_scene::BuiltScene;
use rattleback_scene::robot::{RobotModel, RobotOptions};
use std::io::Write;
use std::path::Path;

/// Reads and builds a scene, tries one step, and prints a summary of the scene.
pub fn check(options: &Check, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let scene = scene_file::open(&options.scene, options.files)?;
    let mut built = scene_file::build(&scene, registry)?;
    if let Some(path) = &options.toml {
        std::fs::write(path, scene.to_toml())
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
    }
    let bodies = body_counts(&built.world);
    let mut table = Table::headless();
    for (what, value) in [
        ("title", built.title.clone()),
        ("bodies", bodies),
        ("shapes", built.world.iter_shapes().count().to_string()),
        ("forces", built.world.iter_forces().count().to_string()),
        ("simulator", built.simulator.description().type_name),
        ("step", format!("{} s", number(built.dt, 6))),
        ("duration", format!("{} s", number(built.duration, 6))),
    ] {
        table.row(vec![what.into(), value]);
    }
    for (what, value) in robot(options)? {
        table.row(vec![what.into(), value]);
    }
    try_to_run(&mut built, &options.scene)?;
    if let Some(path) = &options.toml {
        table.row(vec!["written".into(), path.display().to_string()]);
    }
    table.write(out)?;
    Ok(())
}

/// Links, joints and mass, if the file is a robot.
fn robot(options: &Check) -> Result<Vec<(&'static str, String)>, Failure> {
    let path = Path::new(&options.scene);
    if !RobotModel::is_robot_file(path) {
        return Ok(Vec::new());
    }
    let read = RobotOptions { access: options.files.access(), ..RobotOptions::default() };
    let robot = RobotModel::load(path, &read).map_err(Failure::input)?;
    let tree = robot.multibody();
    let (mass, _) = robot.center_of_mass(robot.initial_positions()).map_err(Failure::failed)?;
    let limited = robot.joints().iter().filter(|joint| joint.limit.is_some()).count();
    Ok(vec![
        ("links", robot.links().len().to_string()),
        ("moving joints", format!("{}, {limited} of them with limits", robot.joints().len())),
        ("degrees of freedom", tree.velocity_count().to_string()),
        ("total mass", format!("{} kg", number(mass, 6))),
        ("colliders", robot.colliders().len().to_string()),
        ("couplings", robot.couplings().len().to_string()),
        ("loops", robot.loops().len().to_string()),
        ("actuators", robot.actuators().len().to_string()),
    ])
}

/// Takes one step: a scene that the simulator refuses is refused there.
fn try_to_run(built: &mut BuiltScene, scene: &str) -> Result<(), Failure> {
    whole_steps(built.duration, built.dt)?;
    check_finite(&built.world).map_err(Failure::Input)?;
    built.simulator.step(&mut built.world, built.dt).map_err(|error| {
        let (simulator, error) = (built.simulator.description().type_name, error.to_string());
        let reason = built.world.with_names(&error);
        Failure::Input(format!("{scene}: `{simulator}` refuses its first step: {reason}"))
    })
}

/// Prints the schema.
pub fn schema(registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&rattleback_scene::schema(registry)).map_err(Failure::failed)?;
    writeln!(out, "{text}")?;
    Ok(())
}
