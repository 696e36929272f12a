//! Bodies and their copies.

use super::budget::Budget;
use super::mesh::MeshFiles;
use super::names::{Bodies, Copies, Groups, Materials};
use super::shape::Part;
use super::{Context, random, refused};
use crate::model::{BodyModel, MassSource};
use crate::source::{Fault, Read};
use glam::DVec3;
use rand_pcg::Pcg64;
use rattleback_dynamics::{Body, CollisionGroups, Error, Path, World};
use rattleback_geometry::Pose;

/// Adds every body to the world.
pub(super) fn add_all<'a>(
    context: &Context<'_>,
    world: &mut World,
    models: &[BodyModel<'a>],
    materials: &Materials<'_>,
    groups: &Groups<'_>,
) -> Read<Bodies<'a>> {
    let mut bodies = Bodies::default();
    let mut meshes = MeshFiles::default();
    let mut budget = Budget::default();
    for (stream, model) in models.iter().enumerate() {
        let copies = Prototype::make(context, model, &mut meshes, materials, groups)?;
        budget.spend(model, &copies.parts)?;
        let mut random = random::generator(context.seed, stream as u64);
        let copies = copies.add(context, world, &mut random)?;
        bodies.insert(model.name.map(|name| name.text), copies);
    }
    Ok(bodies)
}

/// What all copies of a body have in common.
struct Prototype<'m, 'a> {
    model: &'m BodyModel<'a>,
    body: Body,
    parts: Vec<Part>,
    groups: CollisionGroups,
}

impl<'m, 'a> Prototype<'m, 'a> {
    fn make(
        context: &Context<'_>,
        model: &'m BodyModel<'a>,
        meshes: &mut MeshFiles,
        materials: &Materials<'_>,
        groups: &Groups<'_>,
    ) -> Read<Self> {
        let groups_of_body = groups.of(&model.groups, CollisionGroups::default())?.unwrap_or_default();
        let make = |shape| Part::make(context, meshes, shape, materials, groups, groups_of_body);
        let parts = model.shapes.iter().map(make).collect::<Read<Vec<Part>>>()?;
        let body = model.path.clone().map_or_else(|| Body::new(model.status), Body::kinematic);
        let mut body = body
            .groups(groups_of_body)
            .damping(model.damping.0, model.damping.1)
            .mass_model(model.mass_model)
            .charge(model.charge)
            .can_sleep(model.can_sleep);
        body = match model.mass {
            Some((MassSource::Density(density), _)) => body.density(density),
            Some((MassSource::Mass(mass), _)) => body.mass(mass),
            Some((MassSource::Given(properties), _)) => body.mass_properties(properties),
            None => body,
        };
        for (mass, position) in &model.point_masses {
            body = body.point_mass(*mass, *position);
        }
        if let Some(name) = &model.material {
            body = body.material(materials.get(name)?);
        }
        Ok(Self { model, body, parts, groups: groups_of_body })
    }

    fn add(&self, context: &Context<'_>, world: &mut World, random: &mut Pcg64) -> Read<Copies> {
        let count = self.model.repeat.copies();
        let mut ids = Vec::with_capacity(count);
        for (index, offset) in self.model.repeat.offsets().enumerate() {
            let offset = offset + self.model.repeat.jitter * random::cube(random);
            let mut body = self.copy(context, offset, random)?;
            if let Some(name) = self.model.name {
                let copied = count > 1;
                body =
                    body.named(if copied { format!("{}[{index}]", name.text) } else { name.text.to_owned() });
            }
            let id = world.add_body(body).map_err(|error| self.locate(error))?;
            if let Some(Path::Keyframes(keys)) = &self.model.path {
                let path = Path::Keyframes(displaced(keys, offset));
                let set = world.body_mut(id).and_then(|mut body| body.set_path(Some(path)));
                set.map_err(|error| self.locate(error))?;
            }
            ids.push(id);
        }
        let of_shapes = self.parts.iter().filter_map(|part| part.attached.groups);
        let member_of = of_shapes.fold(self.groups.member_of, |bits, groups| bits | groups.member_of);
        Ok(Copies { ids, member_of })
    }

    fn copy(&self, context: &Context<'_>, offset: DVec3, random: &mut Pcg64) -> Read<Body> {
        let (model, repeat) = (self.model, &self.model.repeat);
        let mut pose = model.pose;
        pose.translation += offset;
        if repeat.random_orientation {
            pose.rotation = random::rotation(random);
        }
        let mut body = self
            .body
            .clone()
            .pose(pose)
            .velocity(model.velocity + repeat.velocity_jitter * random::cube(random))
            .angular_velocity(model.angular_velocity + repeat.angular_velocity_jitter * random::cube(random));
        let factor = repeat.scale.map(|(low, high)| low + (high - low) * random::unit(random));
        for part in &self.parts {
            body = body.with_part(match factor {
                Some(factor) => part.scaled(context, factor)?,
                None => part.attached.clone(),
            });
        }
        Ok(body)
    }

    /// Errors of the mass are shown where the mass is given, others at the body.
    fn locate(&self, error: Error) -> Fault {
        let span = match (&error, self.model.mass) {
            (Error::Mass { .. } | Error::MassIntegral(_), Some((_, span))) => span,
            _ => self.model.place(),
        };
        refused(span, error)
    }
}

/// Keyframes are poses in the world, so each copy has its own; all other paths are relative to the start.
fn displaced(keys: &[(f64, Pose)], offset: DVec3) -> Vec<(f64, Pose)> {
    keys.iter().map(|(t, pose)| (*t, Pose::new(pose.rotation, pose.translation + offset))).collect()
}
