//! Contact phases of an island within its sub-step.

use super::Constraint;
use super::contact_phase::Span;
use super::force::{Course, Wish, follow};
use super::island::Island;
use super::step::Stretch;
use super::touch::Touch;
use crate::motion::Motion;
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// Relative normal velocity at which a contact counts as closed, m/s.
const CLOSED: f64 = 1e-12;

impl Constraint {
    /// Carries an island over as much of an interval as its contacts persist ⇒ courses and how long that is; nothing if no phase begins here. Impulses are
    /// left in `forces`, states in `end`.
    pub(super) fn roll(
        &mut self,
        island: &Island,
        (now, touches): (&[Motion], &[Touch]),
        free: &[Course],
        end: &mut [Motion],
        stretch: Stretch,
    ) -> Option<(Vec<Course>, f64)> {
        if !island.assemblies.is_empty() || touches.is_empty() {
            return None;
        }
        let landed = self.land(now, touches);
        let now = landed.as_deref().unwrap_or(now);
        let Stretch { begin, time, .. } = stretch;
        let span = Span { free, begin, time, stick_speed: self.settings.stick_speed };
        let time = self.phase.run(&mut self.roster, now, touches, span)?;
        let mut courses = free.to_vec();
        for (place, &body) in self.phase.bodies().iter().enumerate() {
            let track = &mut self.roster.tracks[body];
            for (node, (when, states)) in self.phase.nodes.iter().enumerate() {
                if node == 0 {
                    track.restart(begin, states[place]);
                } else {
                    track.push(begin + when, states[place]);
                }
            }
            courses[body] = Course::Flown;
        }
        for &actor in &island.actors {
            end[actor] = follow(&self.roster, actor, &now[actor], courses[actor], begin, time);
        }
        let landing = if landed.is_some() { std::mem::take(&mut self.forces.impulse) } else { Vec::new() };
        self.forces.impulse.clear();
        self.forces.impulse.resize(touches.len(), DVec3::ZERO);
        for (touch, impulse) in self.phase.impulses() {
            self.forces.impulse[touch] = touches[touch].frame.transpose() * impulse;
        }
        let touching = (0..touches.len()).filter(|touch| touches[*touch].touches());
        for (touch, p) in touching.zip(landing) {
            self.forces.impulse[touch] += p;
        }
        self.counters.solves += 1;
        Some((courses, time))
    }

    /// Velocities after the points that touch have taken out what closes them: they come slower than a collision.
    fn land(&mut self, now: &[Motion], touches: &[Touch]) -> Option<Vec<Motion>> {
        let touching: Vec<Touch> = touches.iter().copied().filter(Touch::touches).collect();
        let closes = |touch: &Touch| touch.relative_velocity(now).x < -CLOSED;
        if !touching.iter().any(closes) {
            return None;
        }
        let stick_speed = self.settings.stick_speed;
        self.forces.pose(&self.roster, now, now, &touching, |_, touch| {
            let u = touch.relative_velocity(now);
            let slides = u.y.hypot(u.z) > stick_speed;
            Wish {
                normal: 0.0,
                friction: if slides { touch.kinetic_friction } else { touch.static_friction },
                stiffness: Stiffness::Rigid,
            }
        });
        self.forces.impulse.clear();
        self.forces.solve(&BlockSettings::default());
        let mut landed = now.to_vec();
        for (actor, [v, omega]) in self.forces.solved() {
            (landed[actor].v, landed[actor].omega) = (v, omega);
        }
        Some(landed)
    }
}
