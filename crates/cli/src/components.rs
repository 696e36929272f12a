//! `scenes` and `components`: lists of built-in scenes and of components.

use crate::failure::Failure;
use crate::table::Table;
use rattleback_dynamics::Signal;
use rattleback_dynamics::property::{PropertySpec, Value, suggestion};
use rattleback_dynamics::registry::{Catalogue, Registry, RegistryError};
use rattleback_dynamics::simulator::{Capabilities, Feature};
use std::io::Write;

const KINDS: [&str; 6] = ["shape", "material", "force", "joint", "integrator", "simulator"];

/// Lists the built-in scenes.
pub fn scenes(out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::headless();
    for scene in rattleback_scene::built_ins() {
        table.row(vec![scene.name.into(), scene.summary.into()]);
    }
    table.write(out)?;
    writeln!(out, "\nRun one with: rattleback run NAME")?;
    Ok(())
}

/// The parts of a registry entry that are listed.
struct Entry<'r> {
    name: &'r str,
    doc: &'r str,
    properties: &'r [PropertySpec],
}

fn entries<T>(catalogue: &Catalogue<T>) -> Vec<Entry<'_>> {
    catalogue
        .iter()
        .map(|entry| Entry { name: &entry.name, doc: &entry.doc, properties: &entry.properties })
        .collect()
}

fn of_kind<'r>(kind: &str, registry: &'r Registry) -> Result<Vec<Entry<'r>>, Failure> {
    match kind.strip_suffix('s').unwrap_or(kind) {
        "shape" => Ok(entries(&registry.shapes)),
        "material" => Ok(entries(&registry.materials)),
        "force" => Ok(entries(&registry.forces)),
        "joint" => Ok(entries(&registry.joints)),
        "integrator" => Ok(entries(&registry.integrators)),
        "simulator" => Ok(entries(&registry.simulators)),
        _ => {
            let guess = suggestion(kind, &KINDS.map(str::to_owned));
            Err(Failure::Input(format!("unknown kind `{kind}`{guess}; kinds: {}", KINDS.join(", "))))
        }
    }
}

/// Lists kinds, the components of a kind, or the properties of a component.
pub fn show(
    kind: Option<&str>,
    name: Option<&str>,
    registry: &Registry,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(kind) = kind else {
        for kind in KINDS {
            writeln!(out, "{kind}")?;
            list(&of_kind(kind, registry)?, "  ", out)?;
        }
        writeln!(out, "\nProperties of one: rattleback components KIND NAME")?;
        return Ok(());
    };
    let entries = of_kind(kind, registry)?;
    let Some(name) = name else {
        list(&entries, "", out)?;
        return if kind.trim_end_matches('s') == "simulator" {
            capability_table(registry, out)
        } else {
            Ok(())
        };
    };
    let Some(entry) = entries.iter().find(|entry| entry.name == name) else {
        let known: Vec<_> = entries.iter().map(|entry| entry.name.to_owned()).collect();
        let kind =
            KINDS.into_iter().find(|known| *known == kind.trim_end_matches('s')).unwrap_or("component");
        return Err(Failure::input(RegistryError::UnknownType { kind, name: name.into(), known }));
    };
    writeln!(out, "{}: {}", entry.name, entry.doc)?;
    if kind.trim_end_matches('s') == "simulator" {
        show_capabilities(name, registry, out)?;
    }
    if entry.properties.is_empty() {
        writeln!(out, "It has no properties.")?;
        return Ok(());
    }
    writeln!(out)?;
    let mut table = Table::new(&["property", "takes", "unit", "default", "allowed", "is"], &[]);
    for spec in entry.properties {
        table.row(vec![
            spec.name.clone(),
            spec.value_type.describe().into(),
            spec.unit.clone(),
            spec.default
                .as_ref()
                .map_or_else(|| if spec.required { "(required)" } else { "(its own)" }.into(), shown),
            spec.allowed.to_string(),
            spec.doc.clone(),
        ]);
    }
    table.write(out)?;
    Ok(())
}

/// What a simulator does, and what it does not.
fn show_capabilities(name: &str, registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let Ok(capabilities) = registry.capabilities(name) else { return Ok(()) };
    let names = |features: Vec<Feature>| features.iter().map(|f| f.name()).collect::<Vec<_>>().join(", ");
    writeln!(out, "Does: {}", names(capabilities.iter().collect()))?;
    writeln!(out, "Does not: {}", names(capabilities.missing().collect()))?;
    Ok(())
}

/// All simulators against all features.
fn capability_table(registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    let known: Vec<_> = registry
        .simulators
        .iter()
        .filter_map(|entry| Some((entry.name.as_str(), registry.capabilities(&entry.name).ok()?)))
        .collect();
    let mut header = vec!["feature"];
    header.extend(known.iter().map(|(name, _)| *name));
    let mut table = Table::new(&header, &[]);
    for feature in Feature::ALL {
        let mark = |(_, has): &(&str, Capabilities)| if has.has(*feature) { "yes" } else { "-" }.to_owned();
        table.row(std::iter::once(feature.name().to_owned()).chain(known.iter().map(mark)).collect());
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

fn list(entries: &[Entry<'_>], indent: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::headless();
    for entry in entries {
        table.row(vec![format!("{indent}{}", entry.name), entry.doc.into()]);
    }
    Ok(table.write(out)?)
}

/// A value in the notation of scene files; long ones are abbreviated.
fn shown(value: &Value) -> String {
    let list = |numbers: &[f64]| {
        let texts: Vec<_> = numbers.iter().map(|x| number(*x)).collect();
        format!("[{}]", texts.join(", "))
    };
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Real(x) | Value::Signal(Signal::Constant(x)) => number(*x),
        Value::Text(text) => format!("\"{text}\""),
        Value::Vec3(v) | Value::VectorSignal(Signal::Constant(v)) => list(&v.to_array()),
        Value::Quat(q) => list(&[q.w, q.x, q.y, q.z]),
        Value::Body(_) => "\"world\"".into(),
        Value::IntList(list) => format!("({} numbers)", list.len()),
        Value::RealList(list) => format!("({} numbers)", list.len()),
        Value::Vec3List(list) => format!("({} vectors)", list.len()),
        Value::IndexLists(list) => format!("({} lists)", list.len()),
        Value::Signal(_) | Value::VectorSignal(_) => "(a signal)".into(),
    }
}

fn number(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}
