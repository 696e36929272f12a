//! `rattleback check` and `rattleback schema`: is a scene right, and what may stand in one?

use crate::arguments::Check;
use crate::failure::Failure;
use crate::table::{Table, number};
use rattleback_dynamics::{Registry, Status};
use rattleback_scene::Scene;
use std::io::Write;

/// Reads and builds a scene ⇒ what is in it.
pub fn check(options: &Check, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let scene = Scene::open(&options.scene).map_err(Failure::input)?;
    let stage = scene.build(registry).map_err(Failure::input)?;
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
    if let Some(path) = &options.toml {
        table.row(vec!["written".into(), path.display().to_string()]);
    }
    table.write(out)?;
    Ok(())
}

/// Prints the schema.
pub fn schema(registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(&rattleback_scene::schema(registry)).map_err(Failure::failed)?;
    writeln!(out, "{text}")?;
    Ok(())
}
