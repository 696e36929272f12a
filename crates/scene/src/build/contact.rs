//! Collision filter and combination of materials.

use super::names::{Bodies, Groups, Materials};
use super::{Context, property, refused};
use crate::document::unknown_key;
use crate::error::Problem;
use crate::model::{CombineRulesModel, FilterModel, Named, Pairs};
use crate::source::{Fault, Read};
use rattleback_dynamics::World;
use rattleback_dynamics::property::Value;
use rattleback_dynamics::world::{CollisionFilter, CombinedMaterial, PairSet};

/// Most bodies and pairs of bodies that all rules together may name; groups have no limit.
const MAX_PAIRS: usize = 1_000_000;

/// Sets rules and exceptions.
pub(super) fn set_filter(
    world: &mut World,
    model: &FilterModel<'_>,
    bodies: &Bodies<'_>,
    groups: &Groups<'_>,
) -> Read<()> {
    let mut filter =
        CollisionFilter { allow_by_default: model.allow_by_default, ..CollisionFilter::default() };
    let mut total = 0;
    for pairs in &model.forbid {
        insert(&mut filter.rules, pairs, bodies, groups, &mut total)?;
    }
    for pairs in &model.allow {
        insert(&mut filter.exceptions, pairs, bodies, groups, &mut total)?;
    }
    *world.filter_mut() = filter;
    Ok(())
}

fn insert(
    set: &mut PairSet,
    pairs: &Pairs<'_>,
    bodies: &Bodies<'_>,
    groups: &Groups<'_>,
    total: &mut usize,
) -> Read<()> {
    match pairs {
        Pairs::WithBody(name) => {
            let ids = bodies.all(name)?;
            count(total, ids.len(), name)?;
            for id in ids {
                set.insert_body(*id);
            }
        }
        Pairs::Bodies(a, b) => {
            let (first, second) = (bodies.all(a)?, bodies.all(b)?);
            count(total, first.len().saturating_mul(second.len()), b)?;
            for a in first {
                for b in second {
                    set.insert_body_pair(*a, *b);
                }
            }
        }
        Pairs::WithGroup(name) => set.insert_group(groups.get(name)?),
        Pairs::Groups(a, b) => set.insert_group_pair(groups.get(a)?, groups.get(b)?),
    }
    Ok(())
}

fn count(total: &mut usize, more: usize, name: &Named<'_>) -> Read<()> {
    *total = total.saturating_add(more);
    if *total <= MAX_PAIRS {
        return Ok(());
    }
    let what = "bodies and pairs of bodies in filter rules (name groups instead)";
    Err(Fault::new(name.span, Problem::Limit { what, found: total.to_string(), limit: MAX_PAIRS }))
}

/// Sets how materials combine, in general and for particular pairs.
pub(super) fn set_mixing(
    context: &Context<'_>,
    world: &mut World,
    model: &CombineRulesModel<'_>,
    materials: &Materials<'_>,
) -> Read<()> {
    let mixing = world.combine_rules_mut();
    mixing.restitution = model.restitution.unwrap_or(mixing.restitution);
    mixing.friction = model.friction.unwrap_or(mixing.friction);
    mixing.perturbation = model.perturbation.unwrap_or(mixing.perturbation);
    for pair in &model.pairs {
        let (a, b) = (materials.get(&pair.materials.0)?, materials.get(&pair.materials.1)?);
        let span = pair.materials.1.span;
        let entry = property::entry(&context.registry.materials, &Named { text: "material", span })?;
        let material = |id| world.material(id).map_err(|error| refused(span, error));
        let mut mixed = world.combine_rules().mix((a, material(a)?), (b, material(b)?));
        for (key, node) in &pair.coefficients {
            let spec = entry.properties.iter().find(|spec| spec.name == key.name);
            let (Some(spec), Some(coefficient)) = (spec, coefficient(&mut mixed, &key.name)) else {
                let known = entry.properties.iter().map(|spec| spec.name.clone()).collect();
                return Err(unknown_key("a mixing pair", key, known));
            };
            let value = property::checked(&entry.name, spec, node, &context.units, &Bodies::default())?;
            if let Value::Real(number) = value {
                *coefficient = number;
            }
        }
        // Checked after both are read, since either may be given first.
        if mixed.kinetic_friction > mixed.static_friction
            && let Some((key, node)) = pair
                .coefficients
                .iter()
                .rfind(|(key, _)| ["static_friction", "kinetic_friction"].contains(&&*key.name))
        {
            return Err(node.out_of_range(&key.name, "such that kinetic_friction is at most static_friction"));
        }
        world.combine_rules_mut().set_pair(a, b, mixed).map_err(|error| refused(span, error))?;
    }
    Ok(())
}

fn coefficient<'m>(mixed: &'m mut CombinedMaterial, name: &str) -> Option<&'m mut f64> {
    match name {
        "restitution" => Some(&mut mixed.restitution),
        "static_friction" => Some(&mut mixed.static_friction),
        "kinetic_friction" => Some(&mut mixed.kinetic_friction),
        "rolling_friction" => Some(&mut mixed.rolling_friction),
        "spinning_friction" => Some(&mut mixed.spinning_friction),
        "surface_perturbation" => Some(&mut mixed.surface_perturbation),
        _ => None,
    }
}
