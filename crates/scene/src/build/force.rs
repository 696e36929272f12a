//! Forces.

use super::names::{Bodies, Groups};
use super::{Context, make, refused};
use crate::error::Problem;
use crate::model::ForceModel;
use crate::source::{Fault, Read};
use rattleback_dynamics::{CollisionGroups, Targets, World};

/// Most bodies that all forces together may name.
const MAX_TARGETS: usize = 20_000_000;

/// Adds every force to the world.
pub(super) fn add_all(
    context: &Context<'_>,
    world: &mut World,
    models: &[ForceModel<'_>],
    bodies: &Bodies<'_>,
    groups: &Groups<'_>,
) -> Read<()> {
    // Names in the list are distinct; the world has only its gravity besides.
    let taken: Vec<String> = world.iter_forces().filter_map(|(_, name, _)| name.map(str::to_owned)).collect();
    let mut targeted = 0usize;
    for model in models {
        if let Some(name) = model.name
            && taken.iter().any(|taken| taken == name.text)
        {
            return Err(name.duplicate("force"));
        }
        let targets = targets(model, bodies, groups)?;
        if let Targets::Bodies(ids) = &targets {
            targeted += ids.len();
        }
        if targeted > MAX_TARGETS {
            let what = "bodies that forces act on (leave out `on` to mean all)";
            let problem = Problem::Limit { what, found: targeted.to_string(), limit: MAX_TARGETS };
            return Err(Fault::new(model.law.type_name.span, problem));
        }
        let force = make(context, &context.registry.forces, &model.law, bodies)?;
        let name = model.name.map(|name| name.text.to_owned());
        world.add_force_on(targets, name, force).map_err(|error| refused(model.law.type_name.span, error))?;
    }
    Ok(())
}

fn targets(model: &ForceModel<'_>, bodies: &Bodies<'_>, groups: &Groups<'_>) -> Read<Targets> {
    match (&model.on, &model.group) {
        (Some(names), _) => {
            let mut ids = Vec::new();
            for name in names {
                ids.extend_from_slice(bodies.all(name)?);
            }
            // A body named twice counts once.
            let mut seen = std::collections::BTreeSet::new();
            ids.retain(|id| seen.insert(*id));
            Ok(Targets::Bodies(ids))
        }
        (None, Some(name)) => {
            Ok(Targets::Bodies(bodies.members(CollisionGroups::of(&[groups.get(name)?]).member_of)))
        }
        (None, None) => Ok(Targets::All),
    }
}
