//! `rattleback check` and `rattleback schema`: is a scene right, and what may stand in one?

use crate::arguments::Check;
use crate::failure::Failure;
use crate::run::{check_finite, whole_steps};
use crate::table::{Table, number};
use rattleback_dynamics::{Registry, Status};
use rattleback_scene::{Scene, Stage};
use std::io::Write;

/// Reads and builds a scene, and has its simulator try a step ⇒ what is in it.
pub fn check(options: &Check, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let scene = Scene::open_with(&options.scene, options.files.access()).map_err(Failure::input)?;
    let mut stage = scene.build(registry).map_err(Failure::input)?;
    if let Some(path) = &options.toml {
        std::fs::write(path, scene.to_toml())
            .map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))?;
    }
    let bodies = stage.world.bodies();
    let counts = [
        (Status::Dynamic, "dynamic"),
        (Status::Animated, "animated"),
        (Status::Fixed, "fixed"),
        (Status::Inactive, "inactive"),
    ];
    let bodies: Vec<String> = counts
        .iter()
        .filter(|(status, _)| bodies.count(*status) > 0)
        .map(|(status, name)| format!("{} {name}", bodies.count(*status)))
        .collect();
    let mut table = Table::headless();
    for (what, value) in [
        ("title", stage.title.clone()),
        ("bodies", if bodies.is_empty() { "none".into() } else { bodies.join(", ") }),
        ("shapes", stage.world.iter_shapes().count().to_string()),
        ("forces", stage.world.iter_forces().count().to_string()),
        ("simulator", stage.simulator.description().type_name),
        ("step", format!("{} s", number(stage.dt, 6))),
        ("duration", format!("{} s", number(stage.duration, 6))),
    ] {
        table.row(vec![what.into(), value]);
    }
    try_to_run(&mut stage, &options.scene)?;
    if let Some(path) = &options.toml {
        table.row(vec!["written".into(), path.display().to_string()]);
    }
    table.write(out)?;
    Ok(())
}

/// Whether the scene can be run at all: what a simulator refuses shows in its first step.
fn try_to_run(stage: &mut Stage, scene: &str) -> Result<(), Failure> {
    whole_steps(stage.duration, stage.dt)?;
    check_finite(&stage.world).map_err(Failure::Input)?;
    stage.simulator.step(&mut stage.world, stage.dt).map_err(|error| {
        let (simulator, error) = (stage.simulator.description().type_name, error.to_string());
        let reason = stage.world.with_names(&error);
        Failure::Input(format!("{scene}: `{simulator}` refuses its first step: {reason}"))
    })
}

/// Prints the schema.
pub fn schema(registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&rattleback_scene::schema(registry)).map_err(Failure::failed)?;
    writeln!(out, "{text}")?;
    Ok(())
}
