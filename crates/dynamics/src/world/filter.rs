//! Which pairs may touch: groups as bit sets, and rules with exceptions.
//!
//! A pair passes if neither side's mask forbids the other's groups, and then by precedence: an exception allows it, else
//! a rule filters it out, else the default decides.

use super::BodyId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A group of bodies: one of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Group(u8);

impl Group {
    /// Group number 0 to 63.
    pub const fn new(number: u8) -> Option<Self> {
        if number < 64 { Some(Self(number)) } else { None }
    }

    const fn bit(self) -> u64 {
        1 << self.0
    }
}

/// Which groups something belongs to, and which groups it may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollisionGroups {
    /// Bit i is set for a member of group i.
    pub member_of: u64,
    /// Bit i is set if group i may be touched.
    pub touches: u64,
}

impl Default for CollisionGroups {
    /// In group 0, touching everything.
    fn default() -> Self {
        Self { member_of: 1, touches: u64::MAX }
    }
}

impl CollisionGroups {
    /// A member of these groups that touches everything.
    pub fn of(groups: &[Group]) -> Self {
        Self { member_of: groups.iter().fold(0, |bits, group| bits | group.bit()), touches: u64::MAX }
    }

    /// Whether each side may touch a group of the other.
    pub const fn admits(self, other: Self) -> bool {
        self.touches & other.member_of != 0 && other.touches & self.member_of != 0
    }
}

/// A set of pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairSet {
    bodies: BTreeSet<BodyId>,
    body_pairs: BTreeSet<(BodyId, BodyId)>,
    groups: u64,
    group_pairs: BTreeSet<(Group, Group)>,
}

impl PairSet {
    /// Adds every pair with this body.
    pub fn insert_body(&mut self, body: BodyId) {
        self.bodies.insert(body);
    }

    /// Adds one pair, in either order.
    pub fn insert_body_pair(&mut self, a: BodyId, b: BodyId) {
        self.body_pairs.insert((a.min(b), a.max(b)));
    }

    /// Adds every pair with a member of this group.
    pub const fn insert_group(&mut self, group: Group) {
        self.groups |= group.bit();
    }

    /// Adds every pair of a member of one group and a member of the other, in either order; both may be the same.
    pub fn insert_group_pair(&mut self, a: Group, b: Group) {
        self.group_pairs.insert((a.min(b), a.max(b)));
    }

    /// Removes all exclusions and rules of a body.
    pub fn forget_body(&mut self, body: BodyId) {
        self.bodies.remove(&body);
        self.body_pairs.retain(|(a, b)| *a != body && *b != body);
    }

    /// Whether the pair is in the set; bodies come with the groups they are members of.
    pub fn contains(&self, (a, groups_a): (BodyId, u64), (b, groups_b): (BodyId, u64)) -> bool {
        self.bodies.contains(&a)
            || self.bodies.contains(&b)
            || self.body_pairs.contains(&(a.min(b), a.max(b)))
            || self.groups & (groups_a | groups_b) != 0
            || self.group_pairs.iter().any(|(g, h)| {
                (groups_a & g.bit() != 0 && groups_b & h.bit() != 0)
                    || (groups_a & h.bit() != 0 && groups_b & g.bit() != 0)
            })
    }
}

/// Rules for a whole world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollisionFilter {
    /// Pairs that do not touch …
    pub rules: PairSet,
    /// … except these.
    pub exceptions: PairSet,
    /// What holds for a pair that nothing matches: true lets it touch.
    pub allow_by_default: bool,
}

impl Default for CollisionFilter {
    fn default() -> Self {
        Self { rules: PairSet::default(), exceptions: PairSet::default(), allow_by_default: true }
    }
}

impl CollisionFilter {
    /// Whether the pair may touch.
    pub fn allows(&self, a: (BodyId, CollisionGroups), b: (BodyId, CollisionGroups)) -> bool {
        if !a.1.admits(b.1) {
            return false;
        }
        let (a, b) = ((a.0, a.1.member_of), (b.0, b.1.member_of));
        if self.exceptions.contains(a, b) {
            return true;
        }
        !self.rules.contains(a, b) && self.allow_by_default
    }
}

#[cfg(test)]
mod tests {
    use super::super::Handle;
    use super::*;

    fn pairs(kinds: u8, a: BodyId, b: BodyId, g: Group, h: Group) -> PairSet {
        let mut set = PairSet::default();
        if kinds & 1 != 0 {
            set.insert_body(a);
        }
        if kinds & 2 != 0 {
            set.insert_body_pair(b, a);
        }
        if kinds & 4 != 0 {
            set.insert_group(g);
        }
        if kinds & 8 != 0 {
            set.insert_group_pair(h, g);
        }
        set
    }

    /// all 2⁸ combinations of rule and exception kinds and both defaults, against a literal reading.
    #[test]
    fn filter_truth_table() {
        let (a, b) = (BodyId::from_parts(0, 0), BodyId::from_parts(1, 0));
        let (g, h) = (Group(3), Group(5));
        let (in_a, in_b) = (CollisionGroups::of(&[g]), CollisionGroups::of(&[h]));
        for kinds in 0..=u8::MAX {
            for allow_by_default in [false, true] {
                let filter = CollisionFilter {
                    rules: pairs(kinds % 16, a, b, g, h),
                    exceptions: pairs(kinds / 16, a, b, g, h),
                    allow_by_default,
                };
                let (rules, exceptions) = (kinds % 16, kinds / 16);
                let expected = exceptions != 0 || (rules == 0 && allow_by_default);
                assert_eq!(filter.allows((a, in_a), (b, in_b)), expected);
                assert_eq!(filter.allows((b, in_b), (a, in_a)), expected);
            }
        }
    }

    #[test]
    fn avalanche_rocks_hit_the_wall_but_not_each_other() {
        let rock = CollisionGroups::of(&[Group(1)]);
        let wall = CollisionGroups::of(&[Group(2)]);
        let mut filter = CollisionFilter::default();
        filter.rules.insert_group_pair(Group(1), Group(1));
        let ids: Vec<_> = (0..3).map(|slot| BodyId::from_parts(slot, 0)).collect();
        assert!(!filter.allows((ids[0], rock), (ids[1], rock)));
        assert!(filter.allows((ids[0], rock), (ids[2], wall)));
    }

    #[test]
    fn masks_must_agree_on_both_sides() {
        let ghost = CollisionGroups { member_of: 2, touches: 0 };
        assert!(!ghost.admits(CollisionGroups::default()));
        assert!(!CollisionGroups::default().admits(ghost));
    }
}
