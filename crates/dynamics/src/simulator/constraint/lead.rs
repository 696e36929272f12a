//! One interval of an island with its contacts: velocities at the end, and courses that lead there.

use super::assembly::Assembly;
use super::bond::{Moment, Tied};
use super::force::{Course, ForceReport, Forces, TieWish, Wish, follow};
use super::linkage::ALWAYS;
use super::roster::Roster;
use super::settings::ConstraintSettings;
use super::touch::{Memory, Touch, slop};
use crate::motion::Motion;
use crate::world::World;
use glam::{DQuat, DVec3};
use rattleback_geometry::swept::rotation_vector;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// How much less exactly bodies are solved that move with 1 m/s or 1 rad/s.
const SLACK: f64 = 1e4;
/// What a crowd that hurries may miss its conditions by, m/s.
const HURRIED: f64 = 1e-5;
/// Sweeps over its contacts for velocities, and for places.
const SWEEPS: [usize; 2] = [30, 20];
/// Part of an overlap that is taken back in one interval.
const RECOVERY: f64 = 0.5;
/// What joints may be missed by on a course, m or rad; the rest is put right at its end.
const CLOSE: f64 = 1e-9;
/// Corrections of a course, each for what the last one left.
const MOST_PROJECTIONS: usize = 4;

/// An interval to be crossed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval<'s> {
    pub settings: &'s ConstraintSettings,
    pub roster: &'s Roster,
    pub world: &'s World,
    /// Assemblies of the island, by place in the roster, and the rows of their joints.
    pub assemblies: &'s [usize],
    pub ties: &'s [TieWish],
    /// Forces to start from.
    pub memory: &'s Memory,
    /// When it begins, s.
    pub begin: f64,
    /// How long it is, s.
    pub time: f64,
    /// Whether it is one piece of many that a crowd takes.
    pub hurried: bool,
    /// Newton steps that are worth while.
    pub newton_steps: usize,
}

impl Interval<'_> {
    fn fastest(island: &[usize], start: &[Motion]) -> f64 {
        let speed = |actor: &usize| {
            let Motion { v, omega, .. } = &start[*actor];
            v.abs().max_element().max(omega.abs().max_element())
        };
        island.iter().map(speed).fold(0.0, f64::max)
    }

    /// A crowd that hurries has sweeps only: its contacts are others in a moment anyway. Joints need a little more.
    fn block_settings(&self, whole: BlockSettings, sweeps: usize) -> BlockSettings {
        if !self.hurried {
            return BlockSettings { all_steps: self.newton_steps, ..whole };
        }
        let updates = if self.ties.is_empty() { 0 } else { 6 };
        let tolerance = whole.tolerance.max(HURRIED);
        BlockSettings { tolerance, updates, steps: 8, sweeps, restart: false, ..whole }
    }

    fn assemblies(&self) -> impl Iterator<Item = &Assembly> + '_ {
        self.assemblies.iter().map(|index| &self.roster.assemblies[*index])
    }

    /// Finds the courses of the bodies (`courses` to begin with; assemblies have flown already) and where they end; impulses are left in
    /// `forces`. `free` is what the world does to each body.
    pub fn cross(
        &self,
        island: &[usize],
        start: &[Motion],
        touches: &[Touch],
        forces: &mut Forces,
        (free, courses): (&[Course], &mut [Course]),
        end: &mut [Motion],
    ) -> ForceReport {
        let Self { settings, roster, memory, begin, time, .. } = *self;
        for &actor in island.iter().filter(|actor| courses[**actor] != Course::Flown) {
            end[actor] = follow(roster, actor, &start[actor], courses[actor], begin, time);
        }
        if touches.is_empty() {
            forces.impulse.clear();
            return ForceReport { converged: true, ..ForceReport::default() };
        }
        let tolerance = settings.solver_tolerance * (1.0 + SLACK * Self::fastest(island, start));
        let whole = BlockSettings { tolerance, ..BlockSettings::default() };
        let block_settings = self.block_settings(whole, SWEEPS[0]);
        let whole = BlockSettings { tolerance: 1e-9, updates: 20, steps: 15, ..BlockSettings::default() };
        let lead_settings = self.block_settings(whole, SWEEPS[1]);
        let slip = |touch: &Touch| {
            let u = touch.relative_velocity(start);
            u.y.hypot(u.z)
        };
        let slides = |touch: &Touch| slip(touch) > settings.stick_speed;
        // Joints are among the equations, so bodies are free of them to begin with.
        let mut loose = end.to_vec();
        for &actor in self.assemblies().flat_map(|assembly| &assembly.actors) {
            loose[actor] = follow(roster, actor, &start[actor], free[actor], begin, time);
        }
        forces.pose(roster, start, &loose, touches, |_, touch| Wish {
            // What touches keeps its distance: gaps of four corners below the tolerance need not lie in a plane.
            normal: if touch.touches() { 0.0 } else { -touch.gap / time },
            friction: if slides(touch) { touch.kinetic_friction } else { touch.static_friction },
            stiffness: Stiffness::Rigid,
        });
        forces.tie(roster, start, &loose, self.ties);
        forces.remember(memory, touches, time);
        let report = if settings.solver == "baraff" {
            let sliding: Vec<bool> = touches.iter().map(slides).collect();
            forces.solve_by_pivots(sliding, &block_settings)
        } else {
            forces.solve(&block_settings)
        };
        forces.keep_ties();
        self.lead(start, touches, forces, (courses, end), &lead_settings);
        report
    }

    /// Courses for the bodies that contacts have pushed.
    fn lead(
        &self,
        start: &[Motion],
        touches: &[Touch],
        forces: &mut Forces,
        (courses, end): (&mut [Course], &mut [Motion]),
        settings: &BlockSettings,
    ) {
        let roster = self.roster;
        let mut guided = vec![false; start.len()];
        self.mark_pushed(touches, &forces.impulse, &mut guided);
        let mut mean = start.to_vec();
        let solved: Vec<(usize, [DVec3; 2])> = forces.solved().collect();
        for (actor, [v, omega]) in &solved {
            let (actor, from) = (*actor, &start[*actor]);
            if guided[actor] {
                (mean[actor].v, mean[actor].omega) = (0.5 * (from.v + *v), 0.5 * (from.omega + *omega));
            } else {
                mean[actor].v = (end[actor].x - from.x) / self.time;
                mean[actor].omega = rotation_vector(from.q, end[actor].q) / self.time;
            }
        }
        let kept = std::mem::take(&mut forces.impulse);
        let projections = if self.hurried && self.ties.is_empty() { 1 } else { MOST_PROJECTIONS };
        for _ in 0..projections {
            let ties = self.wanted_of_joints(start, &mean, &guided);
            let wanted = self.wanted(start, touches, &mean);
            if wanted.is_none() && ties.iter().all(|wish| wish.tied.row.error.abs() <= CLOSE) {
                break;
            }
            let wanted = wanted.unwrap_or_else(|| self.kept(start, touches, &mean));
            forces.pose(roster, &mean, &mean, touches, |index, _| Wish {
                normal: wanted[index],
                friction: 0.0,
                stiffness: Stiffness::Rigid,
            });
            forces.tie(roster, &mean, &mean, &ties);
            forces.impulse.clear();
            forces.solve(settings);
            self.mark_pushed(touches, &forces.impulse, &mut guided);
            for (actor, [v, omega]) in forces.solved().collect::<Vec<_>>() {
                (mean[actor].v, mean[actor].omega) = (v, omega);
            }
        }
        forces.impulse = kept;
        for (actor, [v, omega]) in solved {
            if guided[actor] {
                courses[actor] = Course::Led { v: mean[actor].v, omega: mean[actor].omega };
                let moved = follow(roster, actor, &start[actor], courses[actor], self.begin, self.time);
                end[actor] = Motion { v, omega, ..moved };
            }
        }
    }

    /// Normal velocities that would leave every gap as it should be, if the present ones do not.
    fn wanted(&self, start: &[Motion], touches: &[Touch], mean: &[Motion]) -> Option<Vec<f64>> {
        let violated = touches.iter().any(|touch| {
            let (gap, least) = self.gap(start, touch, mean);
            gap < least - 0.01 * touch.tolerance
        });
        violated.then(|| self.kept(start, touches, mean))
    }

    /// Normal velocities that are just enough.
    fn kept(&self, start: &[Motion], touches: &[Touch], mean: &[Motion]) -> Vec<f64> {
        let enough = |touch: &Touch| {
            let (gap, least) = self.gap(start, touch, mean);
            touch.relative_velocity(mean).x + (least - gap) / self.time
        };
        touches.iter().map(enough).collect()
    }

    /// The gap at the end, measured between the material points where they get to, and what it should be at least: what was overlapping before
    /// has to come out by a part of its depth.
    fn gap(&self, start: &[Motion], touch: &Touch, mean: &[Motion]) -> (f64, f64) {
        let displacement = |side: usize| {
            let (from, by) = (&start[touch.actors[side] as usize], &mean[touch.actors[side] as usize]);
            let arm = touch.point - from.x;
            let turned = DQuat::from_scaled_axis(self.time * by.omega) * arm;
            self.time * by.v + (turned - arm)
        };
        let gap = touch.gap + touch.normal().dot(displacement(1) - displacement(0));
        let deep = touch.gap + slop(touch.tolerance);
        let least = if deep < 0.0 { touch.gap - RECOVERY * deep } else { touch.gap.min(0.0) };
        (gap, least)
    }

    /// Rows of joints of assemblies that contacts push, with the mean velocities that would make them hold at the end.
    fn wanted_of_joints(&self, start: &[Motion], mean: &[Motion], guided: &[bool]) -> Vec<TieWish> {
        let mut wishes = Vec::new();
        let (mut rows, mut reached) = (Vec::<Tied>::new(), Vec::new());
        for assembly in self.assemblies().filter(|assembly| guided[assembly.actors[0]]) {
            reached.clear();
            reached.extend_from_slice(mean);
            for &actor in &assembly.actors {
                let course = Course::Led { v: mean[actor].v, omega: mean[actor].omega };
                let moved = follow(self.roster, actor, &start[actor], course, self.begin, self.time);
                reached[actor] = Motion { v: mean[actor].v, omega: mean[actor].omega, ..moved };
            }
            for &actor in &assembly.scripted {
                reached[actor] = self.roster.actors[actor].scripted(self.begin + self.time, &start[actor]);
            }
            let moment = Moment { time: self.begin + self.time, dt: self.time, bias: false };
            rows.clear();
            for &bond in &assembly.bonds {
                self.roster.bonds[bond].rows(bond, self.world, &reached, moment, &mut rows);
            }
            wishes.extend(rows.iter().filter(|tied| tied.is_hold()).map(|tied| {
                let present: f64 = [0, 1].into_iter().map(|side| self.rate_of(tied, side, mean)).sum();
                TieWish {
                    tied: *tied,
                    value: present - tied.row.error / self.time,
                    bounds: ALWAYS,
                    softness: None,
                }
            }));
        }
        wishes
    }

    /// What the body of one side has to do with the rate of a row.
    fn rate_of(&self, tied: &Tied, side: usize, motion: &[Motion]) -> f64 {
        let Some(actor) = self.roster.bonds[tied.bond].actors[side] else { return 0.0 };
        let ([linear, angular], motion) = (tied.side(side), &motion[actor as usize]);
        linear.dot(motion.v) + angular.dot(motion.omega)
    }

    /// Marks the bodies that impulses push, and those they are jointed to.
    fn mark_pushed(&self, touches: &[Touch], impulse: &[DVec3], pushed: &mut [bool]) {
        for (touch, p) in touches.iter().zip(impulse) {
            if *p != DVec3::ZERO {
                for actor in touch.actors {
                    pushed[actor as usize] = true;
                }
            }
        }
        for assembly in self.assemblies() {
            if assembly.actors.iter().any(|actor| pushed[*actor]) {
                for actor in &assembly.actors {
                    pushed[*actor] = true;
                }
            }
        }
    }
}
