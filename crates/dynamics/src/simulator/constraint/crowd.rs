//! Many bodies in motion: short pieces instead of collisions at their times.
//!
//! In a heap something meets something all the time, and going back for each meeting would never end. So a sub-step is cut into pieces of
//! equal length δ in which no pair comes nearer by more than a part of its size, and in each piece all points within reach get forces
//! together: u_n ≥ −gap/δ at the end of the piece lets whoever comes land just when the gap is closed. The first few that come fast and have
//! restitution are gone to all the same; others leave again at the end of the piece: 0 ≤ P_n ⟂ u⁺_n − e |u⁻_n| ≥ 0 with u⁻ from its beginning,
//! and of the velocities v + s Δv that this makes those with the largest s ≤ 1 are taken that have no more kinetic energy than if nothing had been
//! in the way.

use super::Constraint;
use super::force::{Course, Wish};
use super::island::Island;
use super::step::{Stretch, SubStep};
use super::touch::{Touch, gather};
use crate::motion::Motion;
use crate::world::{Event, World};
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{BlockSettings, Stiffness};

/// Bodies slower than this, in m/s and rad/s, are about to rest.
const STILL: f64 = 0.01;
/// Part of the smaller body's half length by which a pair may come nearer in a piece.
const STRIDE: f64 = 0.25;
/// Pieces of a sub-step; whoever is too fast for them is followed to its meetings.
const MOST_PIECES: f64 = 48.0;
/// Newton steps after which a crowd is not at rest yet, those it gets in the rest of such a sub-step, and sub-steps until the next attempt.
const MOST_STEPS: usize = 120;
const FEW_STEPS: usize = 8;
pub(super) const RESTLESS: u64 = 24;
/// Pieces at least, so that sweeps get far enough.
const LEAST_PIECES: f64 = 4.0;
/// Meetings that are gone to in a sub-step for the sake of restitution; bodies that meet later rebound at the end of their piece.
const FOLLOWED: usize = 2;
/// Sweeps for a rebound.
const SWEEPS: usize = 30;
/// Updates of the multipliers for a rebound of jointed bodies, which sweeps do not see.
const UPDATES: usize = 6;

impl Constraint {
    /// Whether an island has more bodies than are followed exactly while they move.
    pub(super) fn is_crowd(&self, island: &Island) -> bool {
        island.actors.len() > self.settings.exact_bodies as usize
    }

    /// Newton steps that forces of an island are worth. What has rested before needs few; a heap that is not quite at rest yet may need any number,
    /// and is left to pieces for a while if it takes too many.
    pub(super) fn worth(&self, island: &Island) -> usize {
        match (self.is_crowd(island), self.restless) {
            (false, _) => usize::MAX,
            (true, 0) => MOST_STEPS,
            (true, _) => FEW_STEPS,
        }
    }

    /// How many pieces a sub-step is cut into for an island; nothing if it is to be crossed from collision to collision.
    pub(super) fn pieces(&self, island: &Island, start: &[Motion], free: &[Course], h: f64) -> Option<usize> {
        let speed = |actor: &usize| {
            let Motion { v, omega, .. } = &start[*actor];
            v.abs().max_element().max(omega.abs().max_element())
        };
        let fastest = island.actors.iter().map(speed).fold(0.0, f64::max);
        if !self.is_crowd(island) || fastest < STILL && self.restless == 0 {
            return None;
        }
        let pulled = |actor: u32| match free[actor as usize] {
            Course::Free { acceleration, .. } => h * acceleration,
            _ => DVec3::ZERO,
        };
        let mut most = LEAST_PIECES;
        for pair in island.pairs.iter().filter_map(|key| self.roster.pairs.get(key)) {
            let [a, b] = pair.actors;
            let swing = |actor: u32| {
                let speed = start[actor as usize].omega.length();
                let arm = self.roster.actors[actor as usize].reach.min(2.0 * pair.size);
                if speed > 0.0 { speed * arm } else { 0.0 }
            };
            let relative = start[b as usize].v + 0.5 * pulled(b) - start[a as usize].v - 0.5 * pulled(a);
            let travel = h * (relative.length() + swing(a) + swing(b));
            most = most.max(travel / (STRIDE * pair.size));
        }
        (most <= MOST_PIECES).then_some(most.ceil() as usize)
    }

    /// Carries an island over a sub-step, piece by piece.
    pub(super) fn cross_crowd(
        &mut self,
        world: &mut World,
        island: &Island,
        (start, free): (&[Motion], &[Course]),
        end: &mut [Motion],
        sub_step: SubStep,
        pieces: usize,
    ) {
        let SubStep { begin, h, contact_speed } = sub_step;
        let mut now = start.to_vec();
        let mut touches = Vec::new();
        let (mut gone, mut rounds, mut events) = (0.0, 0, 0);
        for piece in 0..pieces {
            let until = h * (piece + 1) as f64 / pieces as f64;
            while gone < until {
                let (from, time) = (begin + gone, until - gone);
                let stretch = Stretch { begin: from, time, hurried: true };
                gather(&mut self.roster, &island.pairs, &now, time, self.settings.touch_gap, &mut touches);
                rounds += self.collide(world, island, (&mut now, &touches), sub_step, (from, rounds));
                let borne = (!island.assemblies.is_empty()).then(|| self.joint_loads.clone());
                let bouncing = |touch: &Touch| {
                    !touch.touches()
                        && touch.restitution > 0.0
                        && touch.relative_velocity(&now).x < -contact_speed
                };
                let meeting = if events < FOLLOWED && touches.iter().any(bouncing) {
                    events += 1;
                    let (coming, others): (Vec<Touch>, Vec<Touch>) =
                        touches.iter().partition(|t| bouncing(t));
                    let courses = self.cross(world, island, (&now, &others), free, end, stretch);
                    let mut pairs: Vec<[u32; 2]> = coming.iter().map(|touch| touch.pair).collect();
                    pairs.dedup();
                    let outlooks = self.outlooks(pairs.iter(), &coming, &now, contact_speed, true);
                    self.meet(&now, &courses, &outlooks, from, time).filter(|found| *found < time)
                } else {
                    None
                };
                if let Some(borne) = borne.filter(|_| meeting.is_some()) {
                    self.joint_loads = borne;
                }
                let time = meeting.unwrap_or(time);
                if meeting.is_some() {
                    self.counters.meetings += 1;
                    touches.retain(|touch| !bouncing(touch));
                }
                if time > 0.0 {
                    self.cross(world, island, (&now, &touches), free, end, Stretch { time, ..stretch });
                    self.keep(&touches, time);
                    self.account_forces(&touches, &now, end);
                    self.note_contact(&touches);
                    let span = (from + time, time);
                    self.rebound(world, island, (&now, &touches, free), end, span, contact_speed);
                }
                gone = if meeting.is_some() { gone + time } else { until };
                self.go_on(island, end, &mut now, begin + gone);
            }
        }
    }

    /// Everybody of an island stands where it got to, and whoever moves by itself where it is then.
    pub(super) fn go_on(&self, island: &Island, end: &[Motion], now: &mut [Motion], time: f64) {
        for &actor in &island.actors {
            now[actor] = end[actor];
        }
        let scripted = |assembly: &usize| self.roster.assemblies[*assembly].scripted.iter();
        for &actor in island.others.iter().chain(island.assemblies.iter().flat_map(scripted)) {
            now[actor] = self.roster.actors[actor].scripted(time, &now[actor]);
        }
    }

    /// Tells who has landed fast, and lets those leave again that have restitution.
    fn rebound(
        &mut self,
        world: &World,
        island: &Island,
        (now, touches, free): (&[Motion], &[Touch], &[Course]),
        end: &mut [Motion],
        (when, time): (f64, f64),
        contact_speed: f64,
    ) {
        let approach = |touch: &Touch| -touch.relative_velocity(now).x;
        let landed = |touch: &Touch| approach(touch) > contact_speed;
        let bounces = |touch: &Touch| touch.restitution > 0.0 && landed(touch);
        let loaded = touches.iter().zip(&self.forces.impulse).filter(|(_, p)| p.x > 0.0);
        let (pushed, mut impulses): (Vec<Touch>, Vec<DVec3>) = loaded.unzip();
        if pushed.iter().any(bounces) {
            // Arms are those of the beginning of the piece, at which the points were found.
            let arrive = |(now, end): (&Motion, &Motion)| Motion { v: end.v, omega: end.omega, ..*now };
            let arrived: Vec<Motion> = now.iter().zip(&*end).map(arrive).collect();
            self.forces.pose(&self.roster, &arrived, &arrived, &pushed, |_, touch| Wish {
                normal: if bounces(touch) {
                    touch.restitution * approach(touch)
                } else {
                    touch.relative_velocity(&arrived).x.min(0.0)
                },
                friction: touch.kinetic_friction,
                stiffness: Stiffness::Rigid,
            });
            let ties = self.impulsive_ties(world, &island.assemblies, &arrived, when);
            self.forces.tie(&self.roster, &arrived, &arrived, &ties);
            let updates = if ties.is_empty() { 0 } else { UPDATES };
            self.forces.impulse.clear();
            self.forces.solve(&BlockSettings {
                tolerance: 1e-6,
                updates,
                sweeps: SWEEPS,
                restart: false,
                ..BlockSettings::default()
            });
            let share = self.affordable(island, now, free, &arrived, time);
            for (actor, [v, omega]) in self.forces.solved() {
                end[actor].v += share * (v - end[actor].v);
                end[actor].omega += share * (omega - end[actor].omega);
            }
            for (impulse, more) in impulses.iter_mut().zip(&self.forces.impulse) {
                *impulse += share * *more;
            }
        }
        for (touch, p) in pushed.iter().zip(impulses).filter(|(touch, _)| landed(touch)) {
            let bodies = touch.actors.map(|actor| self.roster.actors[actor as usize].id);
            let (time, point, normal, impulse) = (when, touch.point, touch.normal(), touch.frame * p);
            self.events.push(Event::Collision { time, bodies, point, normal, impulse, slow: false });
        }
    }

    /// The part of a rebound that leaves no more kinetic energy than bodies would have that nothing stopped; all of it where something that moves
    /// by itself does work.
    fn affordable(
        &self,
        island: &Island,
        now: &[Motion],
        free: &[Course],
        arrived: &[Motion],
        time: f64,
    ) -> f64 {
        let moves = |actor: &usize| now[*actor].v != DVec3::ZERO || now[*actor].omega != DVec3::ZERO;
        if island.others.iter().any(moves) {
            return 1.0;
        }
        let energy = |actor: usize, v: DVec3, omega: DVec3| {
            self.roster.actors[actor].inertia.kinetic_energy(&Motion { v, omega, ..now[actor] })
        };
        // T(s) = T₀ + b s + c s² against what there is.
        let (mut room, mut linear, mut square) = (0.0, 0.0, 0.0);
        for (actor, [v, omega]) in self.forces.solved() {
            let Motion { v: v_0, omega: omega_0, .. } = arrived[actor];
            let acceleration = match free[actor] {
                Course::Free { acceleration, .. } => acceleration,
                _ => DVec3::ZERO,
            };
            let at_first = energy(actor, v_0, omega_0);
            let quadratic = energy(actor, v - v_0, omega - omega_0);
            room += energy(actor, now[actor].v + time * acceleration, now[actor].omega) - at_first;
            linear += energy(actor, v, omega) - at_first - quadratic;
            square += quadratic;
        }
        if linear + square <= room || square <= 0.0 {
            return 1.0;
        }
        let root = (linear * linear + 4.0 * square * room.max(0.0)).sqrt();
        ((root - linear) / (2.0 * square)).clamp(0.0, 1.0)
    }
}
