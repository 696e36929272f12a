//! Names of the script and of the scene format: `HalfExtents` there is `half_extents` here, `WindBox` is `wind-box`.

use crate::error::Problem;

/// Names that differ in more than their spelling.
const RENAMED: &[(&str, &str)] = &[
    ("RestitutionCoefficient", "restitution"),
    ("StaticFrictionCoefficient", "static_friction"),
    ("DynamicFrictionCoefficient", "kinetic_friction"),
    ("RollingFrictionCoefficient", "rolling_friction"),
    ("SpinningFrictionCoefficient", "spinning_friction"),
    ("SurfacePerturbationCoefficient", "surface_perturbation"),
    ("MassDensity", "density"),
    ("LinearVelocity", "velocity"),
];

/// Name of a property in the script ⇒ in a scene.
pub(super) fn property(name: &str) -> String {
    let renamed = RENAMED.iter().find(|(script, _)| *script == name);
    renamed.map_or_else(|| parted(name, '_'), |(_, scene)| (*scene).to_owned())
}

/// Name of a type in the script ⇒ in a scene.
pub(super) fn type_name(name: &str) -> String {
    parted(name, '-')
}

fn parted(name: &str, separator: char) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (k, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && k > 0 {
            out.push(separator);
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Name in a scene ⇒ in the script.
fn in_script(name: &str) -> String {
    if let Some((script, _)) = RENAMED.iter().find(|(_, scene)| *scene == name) {
        return (*script).to_owned();
    }
    let mut out = String::with_capacity(name.len());
    let mut start = true;
    for c in name.chars() {
        if c == '_' || c == '-' {
            start = true;
        } else {
            out.push(if start { c.to_ascii_uppercase() } else { c });
            start = false;
        }
    }
    out
}

/// A problem found while the scene is built ⇒ the same with the names of the script.
pub(crate) fn in_script_names(problem: Problem) -> Problem {
    let all = |names: Vec<String>| names.iter().map(|name| in_script(name)).collect();
    match problem {
        Problem::UnknownKey { key, table, known } => {
            Problem::UnknownKey { key: in_script(&key), table, known: all(known) }
        }
        Problem::MissingKey { table, key, doc } => Problem::MissingKey { table, key: in_script(&key), doc },
        Problem::Type { key, expected, found } => Problem::Type { key: in_script(&key), expected, found },
        Problem::Range { key, allowed, value } => Problem::Range { key: in_script(&key), allowed, value },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_there_and_back() {
        for (script, scene) in [
            ("HalfExtents", "half_extents"),
            ("Radius", "radius"),
            ("DynamicFrictionCoefficient", "kinetic_friction"),
        ] {
            assert_eq!((property(script).as_str(), in_script(scene).as_str()), (scene, script));
        }
        assert_eq!((type_name("WindBox").as_str(), in_script("wind-box").as_str()), ("wind-box", "WindBox"));
    }
}
