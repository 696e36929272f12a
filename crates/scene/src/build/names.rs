//! Names of bodies, groups and materials.

use crate::error::Problem;
use crate::model::{BodyModel, GroupsModel, Named};
use crate::source::{Fault, Read};
use rattleback_dynamics::world::Group;
use rattleback_dynamics::{BodyId, CollisionGroups, MaterialId};
use std::collections::BTreeMap;

/// Group 0: bodies without groups.
const DEFAULT_GROUP: &str = "default";

fn unknown(kind: &str, name: &Named<'_>, known: impl Iterator<Item = String>) -> Fault {
    // Enough to suggest a similar name without searching millions.
    let known = known.take(1000).collect();
    Fault::new(name.span, Problem::UnknownName { kind: kind.into(), name: name.text.into(), known })
}

/// Materials by name.
#[derive(Debug, Default)]
pub(super) struct Materials<'a>(BTreeMap<&'a str, MaterialId>);

impl<'a> Materials<'a> {
    pub fn insert(&mut self, name: &'a str, id: MaterialId) {
        self.0.insert(name, id);
    }

    pub fn get(&self, name: &Named<'_>) -> Read<MaterialId> {
        let known = || self.0.keys().map(|name| (*name).to_owned());
        self.0.get(name.text).copied().ok_or_else(|| unknown("material", name, known()))
    }
}

/// The bodies that one `[[body]]` became.
#[derive(Debug)]
pub(super) struct Copies {
    pub ids: Vec<BodyId>,
    /// All groups that they or their shapes are in.
    pub member_of: u64,
}

/// Bodies by name.
#[derive(Debug, Default)]
pub(super) struct Bodies<'a> {
    built: Vec<Copies>,
    by_name: BTreeMap<&'a str, usize>,
}

impl<'a> Bodies<'a> {
    pub fn insert(&mut self, name: Option<&'a str>, copies: Copies) {
        if let Some(name) = name {
            self.by_name.insert(name, self.built.len());
        }
        self.built.push(copies);
    }

    /// Index of the `[[body]]` of every body.
    pub fn entries(&self) -> BTreeMap<BodyId, usize> {
        let entries = self.built.iter().enumerate();
        entries.flat_map(|(entry, copies)| copies.ids.iter().map(move |id| (*id, entry))).collect()
    }

    /// `crate` means all its copies, `crate[3]` the one with index 3.
    pub fn all(&self, name: &Named<'_>) -> Read<&[BodyId]> {
        let unknown = || unknown("body", name, self.by_name.keys().map(|name| (*name).to_owned()));
        if let Some(&place) = self.by_name.get(name.text) {
            return Ok(&self.built[place].ids);
        }
        let copy = name.text.strip_suffix(']').and_then(|text| text.split_once('['));
        let (base, index) = copy.ok_or_else(unknown)?;
        let ids = &self.built[*self.by_name.get(base).ok_or_else(unknown)?].ids;
        let index = index.parse::<usize>().ok().filter(|index| *index < ids.len() && ids.len() > 1);
        index.map(|index| &ids[index..=index]).ok_or_else(|| {
            let count = ids.len();
            let allowed = match count {
                1 => format!("`{base}`, which is one body"),
                _ => format!("`{base}[0]` … `{base}[{}]`", count - 1),
            };
            Fault::new(name.span, Problem::Range { key: "body".into(), allowed, value: name.text.into() })
        })
    }

    /// A name that means one body only.
    pub fn one(&self, name: &Named<'_>) -> Read<BodyId> {
        match self.all(name)? {
            [id] => Ok(*id),
            ids => {
                let allowed = format!("one body, `{0}[0]` … `{0}[{1}]`", name.text, ids.len() - 1);
                let value = format!("all {} copies of `{}`", ids.len(), name.text);
                Err(Fault::new(name.span, Problem::Range { key: "body".into(), allowed, value }))
            }
        }
    }

    /// Bodies that are in a group or have a shape in it.
    pub fn members(&self, group: u64) -> Vec<BodyId> {
        self.built
            .iter()
            .filter(|copies| copies.member_of & group != 0)
            .flat_map(|copies| &copies.ids)
            .copied()
            .collect()
    }
}

/// Group names; the index is the number of the group.
#[derive(Debug)]
pub(super) struct Groups<'a>(Vec<&'a str>);

impl<'a> Groups<'a> {
    /// Groups exist by having members.
    pub fn collect(bodies: &[BodyModel<'a>]) -> Read<Self> {
        let mut groups = Self(vec![DEFAULT_GROUP]);
        for body in bodies {
            let of_shapes = body.shapes.iter().filter_map(|shape| shape.groups.member_of.as_ref());
            for name in of_shapes.chain(&body.groups.member_of).flatten() {
                if groups.0.contains(&name.text) {
                    continue;
                }
                if Group::new(groups.0.len() as u8).is_none() {
                    let problem = Problem::Limit { what: "groups", found: "65".into(), limit: 64 };
                    return Err(Fault::new(name.span, problem));
                }
                groups.0.push(name.text);
            }
        }
        Ok(groups)
    }

    pub fn get(&self, name: &Named<'_>) -> Read<Group> {
        let known = || self.0.iter().map(|name| (*name).to_owned());
        let number = self.0.iter().position(|known| *known == name.text);
        number.and_then(|number| Group::new(number as u8)).ok_or_else(|| unknown("group", name, known()))
    }

    /// Names ⇒ bits.
    fn bits(&self, names: &[Named<'_>]) -> Read<u64> {
        let groups = names.iter().map(|name| self.get(name)).collect::<Read<Vec<_>>>()?;
        Ok(CollisionGroups::of(&groups).member_of)
    }

    /// Groups and collision mask of a body or shape; none if it gives neither.
    pub fn of(&self, model: &GroupsModel<'_>, otherwise: CollisionGroups) -> Read<Option<CollisionGroups>> {
        if model.member_of.is_none() && model.collision_mask.is_none() {
            return Ok(None);
        }
        let member_of =
            model.member_of.as_deref().map_or(Ok(otherwise.member_of), |names| self.bits(names))?;
        let collision_mask =
            model.collision_mask.as_deref().map_or(Ok(otherwise.touches), |names| self.bits(names))?;
        Ok(Some(CollisionGroups { member_of, touches: collision_mask }))
    }
}
