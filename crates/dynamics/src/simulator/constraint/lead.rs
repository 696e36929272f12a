//! One interval of an island with its contacts: velocities at the end, and courses that lead there.

use super::force::{Course, ForceReport, Forces, Wish, follow};
use super::roster::Roster;
use super::settings::ConstraintSettings;
use super::touch::{Memory, Touch};
use crate::motion::Motion;
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// Part of an overlap that is taken back in one interval.
const RECOVERY: f64 = 0.5;

/// An interval to be crossed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval<'s> {
    pub settings: &'s ConstraintSettings,
    /// When it begins, s.
    pub begin: f64,
    /// How long it is, s.
    pub time: f64,
}

impl Interval<'_> {
    fn block_settings(&self) -> BlockSettings {
        BlockSettings { tolerance: self.settings.solver_tolerance, ..BlockSettings::default() }
    }

    /// Finds the courses of the bodies (`free` ones to begin with) and where they end; impulses are left in `forces`.
    pub fn cross(
        &self,
        roster: &Roster,
        island: &[usize],
        start: &[Motion],
        touches: &[Touch],
        memory: &Memory,
        forces: &mut Forces,
        courses: &mut [Course],
        end: &mut [Motion],
    ) -> ForceReport {
        let Self { settings, begin, time } = *self;
        for &actor in island {
            end[actor] = follow(roster, actor, &start[actor], courses[actor], begin, time);
        }
        if touches.is_empty() {
            forces.impulse.clear();
            return ForceReport { converged: true, ..ForceReport::default() };
        }
        let slip = |touch: &Touch| {
            let u = touch.relative_velocity(start);
            u.y.hypot(u.z)
        };
        let slides = |touch: &Touch| slip(touch) > settings.stick_speed;
        forces.pose(roster, start, end, touches, |_, touch| Wish {
            normal: -touch.gap.max(0.0) / time,
            friction: if slides(touch) { touch.kinetic_friction } else { touch.static_friction },
            stiffness: Stiffness::Rigid,
        });
        forces.remember(memory, touches, time);
        let report = if settings.solver == "baraff" {
            let sliding: Vec<bool> = touches.iter().map(slides).collect();
            forces.solve_by_pivots(&sliding, &self.block_settings())
        } else {
            forces.solve(&self.block_settings())
        };
        self.lead(roster, start, touches, forces, courses, end);
        report
    }

    /// Courses for the bodies that contacts have pushed.
    fn lead(
        &self,
        roster: &Roster,
        start: &[Motion],
        touches: &[Touch],
        forces: &mut Forces,
        courses: &mut [Course],
        end: &mut [Motion],
    ) {
        let time = self.time;
        let mut pushed = vec![false; start.len()];
        for (touch, p) in touches.iter().zip(&forces.impulse) {
            if *p != DVec3::ZERO {
                touch.actors.iter().for_each(|actor| pushed[*actor as usize] = true);
            }
        }
        let mut mean = start.to_vec();
        let solved: Vec<(usize, [DVec3; 2])> = forces.solved().collect();
        for (actor, [v, omega]) in &solved {
            let (actor, from) = (*actor, &start[*actor]);
            if pushed[actor] {
                (mean[actor].v, mean[actor].omega) = (0.5 * (from.v + *v), 0.5 * (from.omega + *omega));
            } else {
                (mean[actor].v, mean[actor].omega) = (
                    (end[actor].x - from.x) / time,
                    rattleback_geometry::swept::rotation_vector(from.q, end[actor].q) / time,
                );
            }
        }
        let least =
            |touch: &Touch| if touch.gap > 0.0 { -touch.gap / time } else { -RECOVERY * touch.gap / time };
        let violated = touches.iter().any(|touch| {
            touch.relative_velocity(&mean).x < least(touch) - 1e-10 * touch.tolerance.min(1.0) / time
        });
        let mut guided = pushed.clone();
        if violated {
            let kept = std::mem::take(&mut forces.impulse);
            forces.pose(roster, &mean, &mean, touches, |_, touch| Wish {
                normal: least(touch),
                friction: 0.0,
                stiffness: Stiffness::Rigid,
            });
            forces.impulse.resize(touches.len(), DVec3::ZERO);
            forces.solve(&BlockSettings {
                tolerance: 1e-3 * self.settings.solver_tolerance.max(1e-10),
                ..self.block_settings()
            });
            for (touch, p) in touches.iter().zip(&forces.impulse) {
                if *p != DVec3::ZERO {
                    touch.actors.iter().for_each(|actor| guided[*actor as usize] = true);
                }
            }
            for (actor, [v, omega]) in forces.solved().collect::<Vec<_>>() {
                if guided[actor] {
                    (mean[actor].v, mean[actor].omega) = (v, omega);
                }
            }
            forces.impulse = kept;
        }
        for (actor, [v, omega]) in solved {
            if guided[actor] {
                courses[actor] = Course::Led { v: mean[actor].v, omega: mean[actor].omega };
                let moved = follow(roster, actor, &start[actor], courses[actor], self.begin, time);
                end[actor] = Motion { v, omega, ..moved };
            }
        }
    }
}
