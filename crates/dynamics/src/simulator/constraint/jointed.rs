//! What a step does about joints: puts right what does not fit at its beginning, flies assemblies, and gives contacts the rows they act through.

use super::Constraint;
use super::bond::{Moment, Tied};
use super::flight::Voyage;
use super::force::{Course, TieWish};
use super::linkage::{ALWAYS, PUSHES};
use super::roster::Roster;
use crate::joint::Effect;
use crate::motion::Motion;
use crate::world::{Event, JointId, World};
use glam::{DQuat, DVec3};
use rattleback_numerics::lcp::blocks::rank_of_equalities;

/// Rows of an assembly above which it is not looked for redundant ones.
const MOST_RANKED: usize = 600;
/// Joints that are amiss by less than this, m or rad, or m/s or rad/s, are put right without a word.
const GAP: f64 = 1e-9;
const RATE: f64 = 1e-7;
/// How near a limit is reached, m or rad.
const REACHED: f64 = 1e-9;

impl Constraint {
    /// At the beginning of a step: says which rows are redundant if joints are new, and puts bodies that do not fit their joints to the nearest places
    /// and velocities that do, or that come closest if none do.
    pub(super) fn settle_joints(&mut self, world: &mut World, dt: f64) {
        if self.roster.assemblies.is_empty() {
            return;
        }
        if std::mem::take(&mut self.roster.anew) {
            self.tell_redundant(world);
        }
        let time = world.time();
        let states = self.states(world, time);
        let moment = Moment { time, dt, bias: false };
        let linkage = &mut self.flight.linkage;
        let any_limit = |tied: &Tied| tied.row.effect == Effect::Limit;
        for assembly in &self.roster.assemblies {
            linkage.start(&self.roster, assembly, &states);
            linkage.look(world, &self.roster, assembly, moment);
            let amiss = amiss(linkage.rows.iter(), &self.roster);
            if amiss.is_empty() {
                continue;
            }
            linkage.settle_places(world, &self.roster, assembly, moment, any_limit);
            let reached = |tied: &Tied| any_limit(tied) && tied.row.error <= REACHED;
            linkage.settle_velocities(world, &self.roster, assembly, moment, reached);
            let motion = world.bodies_mut().dynamic_mut().0;
            for actor in &assembly.actors {
                if linkage.motion[*actor].is_finite() {
                    motion[self.roster.actors[*actor].place] = linkage.motion[*actor];
                }
            }
            let left = linkage.rows.iter().filter(|tied| tied.is_hold() && tied.row.error.abs() > GAP);
            let apart = left.clone().map(|tied| tied.row.error.abs()).fold(0.0, f64::max);
            let contradict: Vec<JointId> = joints(left, &self.roster);
            let joints = if contradict.is_empty() { amiss } else { contradict };
            if self.warned.insert((apart > 0.0, joints.clone())) {
                self.events.push(Event::JointsAmiss { time, joints, apart });
            }
        }
    }

    fn tell_redundant(&mut self, world: &World) {
        let time = world.time();
        let states = self.states(world, time);
        let linkage = &mut self.flight.linkage;
        let roster = &self.roster;
        for assembly in &roster.assemblies {
            linkage.start(roster, assembly, &states);
            linkage.look(world, roster, assembly, Moment { time, dt: 0.0, bias: false });
            let held: Vec<usize> =
                (0..linkage.rows.len()).filter(|row| linkage.rows[*row].is_hold()).collect();
            if held.len() > MOST_RANKED {
                continue;
            }
            linkage.pose(roster, assembly, |_, _| [DVec3::ZERO; 2]);
            for row in &held {
                linkage.tie(roster, *row, 0.0, ALWAYS, |_| [DVec3::ZERO; 2]);
            }
            let Ok(found) = rank_of_equalities(linkage.problem()) else { continue };
            if found.rank == held.len() {
                continue;
            }
            let dependent = found.dependent.iter().map(|tie| &linkage.rows[linkage.row_of(*tie)]);
            let joints = joints(dependent, roster);
            let (rows, rank) = (held.len(), found.rank);
            if self.warned.insert((false, joints.clone())) {
                self.events.push(Event::JointsRedundant { time, joints, rows, rank });
            }
        }
    }

    /// Flies some assemblies from where they are over an interval.
    pub(super) fn fly(
        &mut self,
        world: &mut World,
        assemblies: impl Iterator<Item = usize>,
        now: &[Motion],
        (free, courses): (&[Course], &mut [Course]),
        end: &mut [Motion],
        (begin, time): (f64, f64),
    ) {
        let mut tracks = std::mem::take(&mut self.roster.tracks);
        for index in assemblies {
            let roster = &self.roster;
            let assembly = &roster.assemblies[index];
            let tolerance = self.settings.joint_tolerance;
            let voyage = Voyage { roster, assembly, courses: free, begin, time, tolerance };
            self.flight.fly(world, &voyage, now, end, &mut tracks, &mut self.joint_loads);
            for actor in &assembly.actors {
                courses[*actor] = Course::Flown;
            }
        }
        self.roster.tracks = tracks;
    }

    /// Puts assemblies right that contacts have led over an interval, and notes what their joints bore.
    pub(super) fn repair(
        &mut self,
        world: &World,
        assemblies: &[usize],
        ties: &[TieWish],
        (now, courses): (&[Motion], &[Course]),
        end: &mut [Motion],
        (begin, time): (f64, f64),
    ) {
        let roster = &self.roster;
        let led =
            |assembly: &usize| !matches!(courses[roster.assemblies[*assembly].actors[0]], Course::Flown);
        for index in assemblies.iter().copied().filter(led) {
            let assembly = &roster.assemblies[index];
            let tolerance = self.settings.joint_tolerance;
            let voyage = Voyage { roster, assembly, courses, begin, time, tolerance };
            self.flight.repair(world, &voyage, end);
            let of_assembly = |wish: &TieWish| assembly.bonds.contains(&wish.tied.bond);
            let rows = ties.iter().zip(&self.forces.tied).filter(|(wish, _)| of_assembly(wish));
            self.joint_loads.note(roster, now, rows.map(|(wish, p)| (&wish.tied, *p / time)));
        }
    }

    /// Rows through which collisions are handed on.
    pub(super) fn impulsive_ties(
        &self,
        world: &World,
        assemblies: &[usize],
        now: &[Motion],
        time: f64,
    ) -> Vec<TieWish> {
        let moment = Moment { time, dt: 0.0, bias: false };
        let mut rows = Vec::new();
        for bond in assemblies.iter().flat_map(|assembly| &self.roster.assemblies[*assembly].bonds) {
            self.roster.bonds[*bond].rows(*bond, world, now, moment, &mut rows);
        }
        let wish = |tied: &Tied| match tied.row.effect {
            Effect::Hold => Some(TieWish { tied: *tied, value: 0.0, bounds: ALWAYS, softness: None }),
            Effect::Limit if tied.row.error <= REACHED => {
                Some(TieWish { tied: *tied, value: 0.0, bounds: PUSHES, softness: None })
            }
            _ => None,
        };
        rows.iter().filter_map(wish).collect()
    }

    /// Rows that act over an interval, with the velocities they want at its end. What is held is held where the bodies get to.
    pub(super) fn lasting_ties(
        &self,
        world: &World,
        assemblies: &[usize],
        now: &[Motion],
        (begin, time): (f64, f64),
    ) -> Vec<TieWish> {
        let roster = &self.roster;
        let mut later = now.to_vec();
        for &actor in assemblies.iter().flat_map(|assembly| &roster.assemblies[*assembly].actors) {
            later[actor].x += time * now[actor].v;
            later[actor].q = (DQuat::from_scaled_axis(time * now[actor].omega) * now[actor].q).normalize();
        }
        for &actor in assemblies.iter().flat_map(|assembly| &roster.assemblies[*assembly].scripted) {
            later[actor] = roster.actors[actor].scripted(begin + time, &now[actor]);
        }
        let moment = Moment { time: begin, dt: time, bias: false };
        let (mut rows, mut wishes) = (Vec::new(), Vec::new());
        for &bond in assemblies.iter().flat_map(|assembly| &roster.assemblies[*assembly].bonds) {
            rows.clear();
            roster.bonds[bond].rows(bond, world, &later, Moment { time: begin + time, ..moment }, &mut rows);
            let held = rows.iter().filter(|tied| tied.is_hold());
            wishes.extend(held.map(|tied| TieWish {
                tied: *tied,
                value: 0.0,
                bounds: ALWAYS,
                softness: None,
            }));
            rows.clear();
            roster.bonds[bond].rows(bond, world, now, moment, &mut rows);
            wishes.extend(rows.iter().filter_map(|tied| lasting(tied, roster, now, time)));
        }
        wishes
    }
}

/// A limit, spring or motor over an interval.
fn lasting(tied: &Tied, roster: &Roster, now: &[Motion], time: f64) -> Option<TieWish> {
    match tied.row.effect {
        Effect::Hold => None,
        Effect::Limit => {
            let value = if tied.row.error <= REACHED { 0.0 } else { -tied.row.error / time };
            Some(TieWish { tied: *tied, value, bounds: PUSHES, softness: None })
        }
        Effect::Drive { speed, most } => {
            let bounds = [-most * time, most * time];
            Some(TieWish { tied: *tied, value: speed, bounds, softness: None })
        }
        Effect::Spring { frequency, damping_ratio, most } => {
            // p = −time (k (C + time u) + c u) = −ρ (u − value).
            let compliance = compliance(tied, roster, now);
            let omega = std::f64::consts::TAU * frequency;
            let (k, c) = (omega * omega / compliance, 2.0 * damping_ratio * omega / compliance);
            let rho = time * (time * k + c);
            (compliance > 0.0 && rho > 0.0 && rho.is_finite()).then(|| TieWish {
                tied: *tied,
                value: -time * k * tied.row.error / rho,
                bounds: [-most * time, most * time],
                softness: Some(rho),
            })
        }
    }
}

/// J M⁻¹ Jᵀ.
fn compliance(tied: &Tied, roster: &Roster, motion: &[Motion]) -> f64 {
    let mut sum = 0.0;
    for (side, actor) in roster.bonds[tied.bond].actors.iter().enumerate() {
        let Some(actor) = actor.map(|actor| actor as usize) else { continue };
        let inertia = &roster.actors[actor].inertia;
        let [linear, angular] = tied.side(side);
        sum += inertia.inverse_mass * linear.length_squared()
            + angular.dot(inertia.angular_velocity(motion[actor].q, angular));
    }
    sum
}

/// Joints with rows that are missed, or passed, by more than is put right without a word.
fn amiss<'s>(rows: impl Iterator<Item = &'s Tied>, roster: &Roster) -> Vec<JointId> {
    let wrong = rows.filter(|tied| match tied.row.effect {
        Effect::Hold => tied.row.error.abs() > GAP || tied.rate.abs() > RATE,
        Effect::Limit => tied.row.error < -GAP,
        _ => false,
    });
    joints(wrong, roster)
}

/// The joints of some rows, each once.
fn joints<'s>(rows: impl Iterator<Item = &'s Tied>, roster: &Roster) -> Vec<JointId> {
    let mut joints: Vec<JointId> = rows.map(|tied| roster.bonds[tied.bond].id).collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}
