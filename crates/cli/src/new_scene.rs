//! `rattleback new`: a template of a scene.

use crate::failure::Failure;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

const FILE: &str = r#"title = "My scene"
description = "A ball rolls down a ramp into a stack of boxes."
duration = 6

[simulator]
type = "realtime"        # or impulse, free-motion: rattleback components simulator

[materials.default]
static_friction = 0.5
kinetic_friction = 0.4
restitution = 0.1

[[body]]
name = "floor"
status = "static"
shape = { type = "half-space" }

[[body]]
name = "ramp"
status = "static"
position = [-2, 0, 0.7]
orientation = { axis = [0, 1, 0], angle = 0.45 }
shape = { type = "box", half_extents = [1.5, 0.5, 0.05] }

[[body]]
name = "ball"
position = [-3, 0, 1.75]
density = 3000
shape = { type = "sphere", radius = 0.2 }

[[body]]
name = "box"
position = [0.8, 0, 0.2]
density = 400
shape = { type = "box", half_extents = [0.2, 0.2, 0.2] }
repeat = { count = 5, spacing = [0, 0, 0.4] }
"#;

const SCRIPT: &str = r#"// `set`, `body`, `force`, `material` and `simulator` take the tables of a scene file.
set("title", "My scene");
set("description", "A ball knocks over a round tower.");
set("duration", 6);
simulator(#{ type: "realtime" });
material("default", #{ static_friction: 0.5, kinetic_friction: 0.4, restitution: 0.1 });

body(#{ name: "floor", status: "static", shape: #{ type: "half-space" } });

fn brick(ring, k, count) {
    let angle = 2.0 * PI() * (k + 0.5 * (ring % 2)) / count;
    #{
        name: `brick ${ring} ${k}`,
        position: [1.2 * cos(angle), 1.2 * sin(angle), 0.15 + 0.3 * ring],
        orientation: #{ axis: [0, 0, 1], angle: angle },
        density: 400,
        shape: #{ type: "box", half_extents: [0.15, 0.28, 0.15] },
    }
}

for ring in 0..8 {
    for k in 0..12 {
        body(brick(ring, k, 12));
    }
}

body(#{
    name: "ball",
    position: [-5, 0.2, 1.0],
    velocity: [14, 0, 2],
    density: 4000,
    shape: #{ type: "sphere", radius: 0.3 },
});
"#;

/// Writes a file or a script, by its extension; an existing file is not overwritten.
pub fn new_scene(path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let text = match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => FILE,
        Some("rhai") => SCRIPT,
        _ => {
            let message = format!("{}: scenes are files (.toml) or scripts (.rhai)", path.display());
            return Err(Failure::Input(message));
        }
    };
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    written
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
    writeln!(out, "{0}: try `rattleback view {0}`", path.display())?;
    Ok(())
}
