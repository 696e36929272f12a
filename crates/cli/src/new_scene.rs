//! `rattleback new`: a template of a scene or of a study.

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

const STUDY: &str = r#"title = "How fast is a sliding block?"
description = "A block slides down a ramp: which of incline and friction decides how fast it is at the end?"
scene = "block-on-ramp"        # a built-in scene, or a file beside this one
duration = 1
design = "latin-hypercube"     # of ranges and distributions; or "sobol", "random", "grid"
samples = 40
repetitions = 1                # each with another seed of the scene
seed = 1

# `set` names the key of the scene as it is written there, in the units of the scene.
[parameter.friction]
range = [0.1, 0.6]
set = ["materials.default.static_friction", "materials.default.kinetic_friction"]

# Each value of a list with every sample of the other parameters.
[parameter.gravity]
values = [9.81, 1.62]
unit = "m/s²"

# Values by formula of the parameters.
[set]
"gravity" = "[0, 0, -gravity]"

[result.speed]
channel = "block.speed"        # also: take = "min", "max", "mean"; at = 0.5; above = …, below = … with take = "time"
unit = "m/s"

[result.contacts]
event = "collision"
"#;

/// Writes a template of a study; an existing file is not overwritten.
pub fn new_study(path: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(Failure::Input(format!("{}: studies are files (.toml)", path.display())));
    }
    create(path, STUDY)?;
    writeln!(out, "{0}: try `rattleback study {0}`", path.display())?;
    Ok(())
}

fn create(path: &Path, text: &str) -> Result<(), Failure> {
    let written = OpenOptions::new().write(true).create_new(true).open(path);
    written
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))
}

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
    create(path, text)?;
    writeln!(out, "{0}: try `rattleback view {0}`", path.display())?;
    Ok(())
}
