//! One interval of an island with its contacts: velocities at the end, and courses that lead there.

use super::force::{Course, ForceReport, Forces, Wish, follow};
use super::roster::Roster;
use super::settings::ConstraintSettings;
use super::touch::{Memory, Touch};
use crate::motion::Motion;
use glam::{DQuat, DVec3};
use rattleback_geometry::swept::rotation_vector;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// How much less exactly bodies are solved that move with 1 m/s or 1 rad/s.
const SLACK: f64 = 1e4;
/// Part of an overlap that is taken back in one interval.
const RECOVERY: f64 = 0.5;
/// Corrections of a course, each for what the last one left.
const MOST_PROJECTIONS: usize = 4;

/// An interval to be crossed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval<'s> {
    pub settings: &'s ConstraintSettings,
    pub roster: &'s Roster,
    /// Forces to start from.
    pub memory: &'s Memory,
    /// When it begins, s.
    pub begin: f64,
    /// How long it is, s.
    pub time: f64,
}

impl Interval<'_> {
    /// What moves is solved less exactly than what rests: its contacts are others in a moment anyway.
    fn block_settings(&self, island: &[usize], start: &[Motion]) -> BlockSettings {
        let speed = |actor: &usize| {
            let Motion { v, omega, .. } = &start[*actor];
            v.abs().max_element().max(omega.abs().max_element())
        };
        let fastest = island.iter().map(speed).fold(0.0, f64::max);
        let tolerance = self.settings.solver_tolerance * (1.0 + SLACK * fastest);
        // Crowds that move are not worth all the trouble.
        let exact = island.len() <= self.settings.exact_bodies as usize;
        let (updates, steps) = if fastest < 0.01 || exact { (80, 40) } else { (12, 8) };
        BlockSettings { tolerance, updates, steps, ..BlockSettings::default() }
    }

    /// Finds the courses of the bodies (`free` ones to begin with) and where they end; impulses are left in `forces`.
    pub fn cross(
        &self,
        island: &[usize],
        start: &[Motion],
        touches: &[Touch],
        forces: &mut Forces,
        courses: &mut [Course],
        end: &mut [Motion],
    ) -> ForceReport {
        let Self { settings, roster, memory, begin, time } = *self;
        for &actor in island {
            end[actor] = follow(roster, actor, &start[actor], courses[actor], begin, time);
        }
        if touches.is_empty() {
            forces.impulse.clear();
            return ForceReport { converged: true, ..ForceReport::default() };
        }
        let block_settings = self.block_settings(island, start);
        let slip = |touch: &Touch| {
            let u = touch.relative_velocity(start);
            u.y.hypot(u.z)
        };
        let slides = |touch: &Touch| slip(touch) > settings.stick_speed;
        forces.pose(roster, start, end, touches, |_, touch| Wish {
            // What touches keeps its distance: gaps of four corners below the tolerance need not lie in a plane.
            normal: if touch.touches() { 0.0 } else { -touch.gap / time },
            friction: if slides(touch) { touch.kinetic_friction } else { touch.static_friction },
            stiffness: Stiffness::Rigid,
        });
        forces.remember(memory, touches, time);
        let report = if settings.solver == "baraff" {
            let sliding: Vec<bool> = touches.iter().map(slides).collect();
            forces.solve_by_pivots(sliding, &block_settings)
        } else {
            forces.solve(&block_settings)
        };
        self.lead(start, touches, forces, courses, end);
        report
    }

    /// Courses for the bodies that contacts have pushed.
    fn lead(
        &self,
        start: &[Motion],
        touches: &[Touch],
        forces: &mut Forces,
        courses: &mut [Course],
        end: &mut [Motion],
    ) {
        let roster = self.roster;
        let mut guided = vec![false; start.len()];
        mark_pushed(touches, &forces.impulse, &mut guided);
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
        for _ in 0..MOST_PROJECTIONS {
            let Some(wanted) = self.wanted(start, touches, &mean) else { break };
            forces.pose(roster, &mean, &mean, touches, |index, _| Wish {
                normal: wanted[index],
                friction: 0.0,
                stiffness: Stiffness::Rigid,
            });
            forces.impulse.clear();
            forces.solve(&BlockSettings {
                tolerance: 1e-9,
                updates: 20,
                steps: 15,
                ..BlockSettings::default()
            });
            mark_pushed(touches, &forces.impulse, &mut guided);
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

    /// Normal velocities that would leave every gap as it should be, if the present ones do not: gaps at the end are measured between
    /// the material points where they get to, and what was overlapping before has to come out by a part of its depth.
    fn wanted(&self, start: &[Motion], touches: &[Touch], mean: &[Motion]) -> Option<Vec<f64>> {
        let mut violated = false;
        let wanted = touches
            .iter()
            .map(|touch| {
                let displacement = |side: usize| {
                    let (from, by) =
                        (&start[touch.actors[side] as usize], &mean[touch.actors[side] as usize]);
                    let arm = touch.point - from.x;
                    let turned = DQuat::from_scaled_axis(self.time * by.omega) * arm;
                    self.time * by.v + (turned - arm)
                };
                let gap = touch.gap + touch.normal().dot(displacement(1) - displacement(0));
                let least = if touch.gap < -touch.tolerance {
                    (1.0 - RECOVERY) * touch.gap
                } else {
                    touch.gap.min(0.0)
                };
                violated |= gap < least - 0.01 * touch.tolerance;
                touch.relative_velocity(mean).x + (least - gap) / self.time
            })
            .collect();
        violated.then_some(wanted)
    }
}

/// Marks the bodies that impulses push.
fn mark_pushed(touches: &[Touch], impulse: &[DVec3], pushed: &mut [bool]) {
    for (touch, p) in touches.iter().zip(impulse) {
        if *p != DVec3::ZERO {
            for actor in touch.actors {
                pushed[actor as usize] = true;
            }
        }
    }
}
