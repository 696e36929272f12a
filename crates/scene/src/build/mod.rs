//! Model ⇒ built scene: materials, then bodies, then everything that refers to them.

mod body;
mod budget;
mod contact;
mod force;
mod joint;
mod mesh;
mod names;
mod property;
mod random;
mod shape;
mod unsupported;

use crate::error::Problem;
use crate::file_access::FileAccess;
use crate::model::{Component, GravityModel, Model, Named};
use crate::notice::Notices;
use crate::scene::BuiltScene;
use crate::source::{Fault, Read, Span};
use crate::units::Units;
use names::{Bodies, Groups, Materials};
use rattleback_dynamics::property::Value;
use rattleback_dynamics::registry::Catalogue;
use rattleback_dynamics::{Material, Properties, Registry, Simulator, World};
use std::path::Path;

/// What all parts of the construction share.
struct Context<'a> {
    registry: &'a Registry,
    units: Units,
    folder: &'a Path,
    access: FileAccess,
    seed: u64,
}

/// (model, registry, folder of mesh files and access to others) ⇒ built scene and what in it has no effect, or the first error and its place.
pub(crate) fn scene(
    model: &Model<'_>,
    registry: &Registry,
    folder: &Path,
    access: FileAccess,
) -> Read<(BuiltScene, Notices)> {
    let seed = model.seed.unwrap_or_default();
    let context = Context { registry, units: model.units, folder, access, seed };
    let simulator = make_simulator(&context, model.simulator.as_ref())?;
    let mut world = empty_world(model)?;
    let materials = add_materials(&context, &mut world, model)?;
    let groups = Groups::collect(&model.bodies)?;
    let bodies = body::add_all(&context, &mut world, &model.bodies, &materials, &groups)?;
    force::add_all(&context, &mut world, &model.forces, &bodies, &groups)?;
    let joints = joint::add_all(&context, &mut world, &model.joints, &bodies)?;
    contact::set_filter(&mut world, &model.filter, &bodies, &groups)?;
    contact::set_mixing(&context, &mut world, &model.mixing, &materials)?;
    world.set_bounds(model.bounds);
    for channel in &model.plot {
        check_channel(channel, &bodies)?;
    }
    let places = unsupported::Places { model, world: &world, bodies: bodies.entries(), joints };
    let notices = places.notices(&*simulator);
    let built = BuiltScene {
        world,
        simulator,
        dt: model.time_step,
        duration: model.duration,
        title: model.title.into(),
        description: model.description.into(),
        plot: model.plot.iter().map(|channel| channel.text.to_owned()).collect(),
        warnings: Vec::new(),
    };
    Ok((built, notices))
}

/// Error of the engine at a place.
fn refused(span: Span, error: impl std::fmt::Display) -> Fault {
    Fault::new(span, Problem::Refused(error.to_string()))
}

/// Component of the model ⇒ object made by the registry.
fn make<T>(
    context: &Context<'_>,
    catalogue: &Catalogue<T>,
    component: &Component<'_>,
    bodies: &Bodies<'_>,
) -> Read<T> {
    let entry = property::entry(catalogue, &component.type_name)?;
    let given = property::given(context, entry, component, bodies)?;
    catalogue.make(component.type_name.text, &given).map_err(|error| refused(component.type_name.span, error))
}

fn empty_world(model: &Model<'_>) -> Read<World> {
    let mut world = match model.gravity {
        GravityModel::Standard => World::default(),
        GravityModel::None => World::weightless(),
        GravityModel::Uniform(acceleration) => {
            let mut world = World::weightless();
            world.set_gravity(acceleration).map_err(|error| refused(Span::default(), error))?;
            world
        }
    };
    if let Some(seed) = model.seed {
        world.random = random::generator(seed, u64::MAX);
    }
    Ok(world)
}

fn add_materials<'a>(context: &Context<'_>, world: &mut World, model: &Model<'a>) -> Read<Materials<'a>> {
    let mut materials = Materials::default();
    materials.insert("default", world.default_material());
    for (name, component) in &model.materials {
        let material: Material = make(context, &context.registry.materials, component, &Bodies::default())?;
        let span = ["kinetic_friction", "static_friction"].iter().find_map(|key| component.get(key));
        let refuse = |error| refused(span.map_or(name.span, |node| node.span), error);
        if name.text == "default" {
            world.set_material(world.default_material(), material).map_err(refuse)?;
        } else {
            materials.insert(name.text, world.add_named_material(name.text, material).map_err(refuse)?);
        }
    }
    Ok(materials)
}

fn make_simulator(context: &Context<'_>, component: Option<&Component<'_>>) -> Read<Box<dyn Simulator>> {
    let Some(component) = component else {
        let made = context.registry.simulators.make("free-motion", &Properties::new());
        return made.map_err(|error| refused(Span::default(), error));
    };
    let catalogue = &context.registry.simulators;
    let entry = property::entry(catalogue, &component.type_name)?;
    let given = property::given(context, entry, component, &Bodies::default())?;
    if let (Some(Value::Text(name)), Some(node)) = (given.get("integrator"), component.get("integrator")) {
        let integrator =
            property::entry(&context.registry.integrators, &Named { text: name, span: node.span })?;
        // The simulator has the settings of all integrators; a setting that the chosen one ignores is an error.
        let mut known: Vec<String> = integrator.properties.iter().map(|spec| spec.name.clone()).collect();
        known.extend(["type".into(), "integrator".into(), "threads".into()]);
        if let Some((key, _)) = component.properties.iter().find(|(key, _)| !known.contains(&key.name)) {
            let what = format!("a simulator with integrator `{name}`");
            return Err(crate::document::unknown_key(&what, key, known));
        }
    }
    catalogue.make(component.type_name.text, &given).map_err(|error| refused(component.type_name.span, error))
}

/// Channels of the world, with or without a component after a dot.
const WORLD_CHANNELS: [&str; 3] = ["energy", "momentum", "angular_momentum"];

/// A channel is a quantity of the world, or a body (its name, or `#` and its slot), a dot and a quantity. Quantities of bodies are checked
/// when the channel is read.
fn check_channel(channel: &Named<'_>, bodies: &Bodies<'_>) -> Read<()> {
    let (source, span) =
        (channel.text.rsplit_once('.').map_or(channel.text, |(source, _)| source), channel.span);
    if WORLD_CHANNELS.contains(&source) || source.starts_with('#') {
        return Ok(());
    }
    if channel.text.contains('.') {
        return bodies.one(&Named { text: source, span }).map(|_| ());
    }
    let mut known: Vec<String> = WORLD_CHANNELS.iter().map(|name| (*name).to_owned()).collect();
    known.push("BODY.QUANTITY".into());
    Err(Fault::new(span, Problem::UnknownName { kind: "channel".into(), name: channel.text.into(), known }))
}
