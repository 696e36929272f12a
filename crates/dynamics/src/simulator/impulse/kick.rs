//! Forces other than uniform gravity, and damping: kicks at both ends of a step.

use super::actor::Role;
use super::stage::{Stage, Turn, TurnKind};
use crate::error::Error;
use crate::force::Loads;
use crate::motion::Wrench;
use glam::DVec3;
use rattleback_numerics::damping::Damping;

impl Stage {
    /// What forces other than gravity, and damping, do to everybody in a time h.
    pub fn kick_all(&mut self, loads: &Loads, time: f64, h: f64) -> Result<(), Error> {
        let mut kicked = Vec::new();
        for index in 0..self.actors.len() as u32 {
            let actor = &self.actors[index as usize];
            if !actor.is_free() {
                continue;
            }
            let wrench = loads.wrench(actor.place);
            let damped = actor.inertia.linear_damping > 0.0 || actor.inertia.angular_damping > 0.0;
            let pushed = wrench.force != DVec3::ZERO || wrench.torque != DVec3::ZERO;
            let slowed = damped && actor.role == Role::Flying;
            if !(pushed || slowed) {
                continue;
            }
            self.turn = Turn { time, kind: TurnKind::Kick, number: index };
            if actor.role == Role::Resting {
                self.wake(index, time)?;
            }
            self.kick(index, time, wrench, h);
            kicked.push(index);
        }
        if kicked.is_empty() { Ok(()) } else { self.moved(&kicked, time) }
    }

    fn kick(&mut self, actor: u32, t: f64, wrench: Wrench, h: f64) {
        let who = &mut self.actors[actor as usize];
        let mut motion = who.at(t);
        motion.v += h * who.inertia.inverse_mass * wrench.force;
        motion.omega += who.inertia.angular_velocity(motion.q, h * wrench.torque);
        motion.v *= Damping::Exponential.factor(who.inertia.linear_damping, h);
        motion.omega *= Damping::Exponential.factor(who.inertia.angular_damping, h);
        who.set_out(t, motion);
    }

    /// Whether any body is slowed by damping.
    pub fn any_damping(&self) -> bool {
        self.actors
            .iter()
            .any(|actor| actor.inertia.linear_damping > 0.0 || actor.inertia.angular_damping > 0.0)
    }
}
