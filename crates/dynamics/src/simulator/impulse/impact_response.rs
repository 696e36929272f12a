//! Response of a pair to a collision.
//!
//! One impulse p at one point: +p on the second body, −p on the first, by the impact law. A collision slower
//! than a free fall through ε is a microcollision and has a rule of its own. Resting bodies have infinite
//! mass in slow collisions and are woken by faster ones.
//!
//! The gap below a rattling rim closes faster than with g, since its contact point moves round during the
//! hop; a coin under others is pressed down by their hops. So that such hops are as high as others, and not
//! lower and more frequent, the least rebound is that of a fall through ε with the acceleration a of the gap,
//! √(2aε), and likewise the speed up to which a collision counts as slow. With the separation speed v after
//! the last collision and the approach speed u a time h later, a = (v + u)/h, of the last hop if nothing else
//! touched the two bodies, else as Σ(v + u)/Σh over some hops: in the long run, what the impulses of a pair
//! give to its gap is what everything else takes from it.
//!
//! Rolling friction: the normal impulse p_n acts up to b ahead of the contact point, b the lever of rolling
//! friction, so that a moment of at most b p_n opposes the part of the relative ω across the normal, and
//! likewise the part along it with the lever of spinning friction. With d its direction, an angular impulse
//! of |ω| / (d·(I₁⁻¹ + I₂⁻¹) d) stops it, and it never exceeds that: so the energy decreases.

use super::ballistic_body::MotionKind;
use super::hop_energy::{affordable_hop_speed, limit_energy};
use super::pair::PairGap;
use super::partition::Partition;
use super::rest::RestDetector;
use super::tuning::{
    CROWDED_COLLISIONS, CROWDED_TIME, ELASTIC_GAP, HARD_COLLISION, HOP_TIME_LIMIT, PULL_DECAY,
    PULL_LIMIT_LOADED, PULL_LIMIT_OWN, SLOW_PULL_LIMIT,
};
use super::{ImpulseError, ImpulseSettings};
use crate::error::Error;
use crate::impact::{
    Collision, CollisionError, CollisionSettings, Compliance, ContactBody, MicroKind, MicroSettings,
    micro_collision, resolve_passive,
};
use crate::rigid::Motion;
use crate::world::{Event, World};
use glam::{DMat3, DVec3};

/// Result of a collision.
#[derive(Clone, Copy, Debug)]
struct ImpactResponse {
    /// Impulse on the second body, N s, and the point where it acts, m.
    impulse: DVec3,
    point: DVec3,
    /// Both bodies after the collision.
    after: [ContactBody; 2],
    /// Whether the velocity of the contact was reversed.
    reversed: bool,
    /// Whether the bodies slide on each other at all points of a contact patch.
    slides: bool,
}

impl Partition {
    /// Resolves the collision of a pair, and wakes or rests its bodies.
    pub fn collide(
        &mut self,
        world: &World,
        settings: &ImpulseSettings,
        index: u32,
        t: f64,
        gap: &PairGap,
    ) -> Result<(), Error> {
        let bodies = self.pairs[index as usize].bodies;
        let fall = self.fall_speed() * self.pull_in_g(index, t, gap).min(SLOW_PULL_LIMIT).sqrt();
        let gentle = -gap.rate < fall;
        let slow = settings.microcollisions && gentle;
        let mut response = self.impact_response(settings, index, t, gap, slow)?;
        let mut woken = false;
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            if self.bodies[bodies[k] as usize].kind == MotionKind::Resting {
                let kinematic = self.bodies[bodies[1 - k] as usize].kind == MotionKind::Kinematic;
                if kinematic
                    || !self.can_absorb(bodies[k], t, sign * response.impulse, response.point, -gap.rate)?
                {
                    self.wake_connected(bodies[k], t)?;
                    woken = true;
                }
            }
        }
        if woken {
            response = self.impact_response(settings, index, t, gap, slow)?;
        }
        let p = response.impulse;
        self.notify(bodies, t, gap.distance, slow);
        self.record_collision(index, t, p, slow, response.reversed, settings);
        if !slow || settings.report_microcollisions {
            self.events.push(Event::Collision {
                time: t,
                bodies: bodies.map(|body| self.bodies[body as usize].id),
                point: response.point,
                normal: gap.normal,
                impulse: p,
                slow,
            });
        }
        let slides = response.slides && self.is_undisturbed(index);
        let hard = -gap.rate > HARD_COLLISION * self.fall_speed();
        let mut changed = [0; 2];
        let mut count = 0;
        let mut after = response.after;
        let levers = self.pairs[index as usize].rolling_levers;
        if levers != [0.0; 2] {
            resist_rolling(&mut after, gap.normal, levers, p.dot(gap.normal));
        }
        self.record_work(bodies, t, gap, p, &after);
        let [first, second] = after.map(|body| body.v + body.omega.cross(body.r));
        let pull_sum = self.updated_pull_sum(index, t, gap);
        let pair = &mut self.pairs[index as usize];
        (pair.pull_sum, pair.hop) = (pull_sum, (t, (second - first).dot(gap.normal)));
        (pair.hop_gap, pair.hop_velocity) = (gap.distance.max(0.0), second - first);
        for k in 0..2 {
            let body = &mut self.bodies[bodies[k] as usize];
            if body.is_movable() {
                let now = body.at(t);
                body.restart_trajectory(t, Motion { v: after[k].v, omega: after[k].omega, ..now });
                body.last_collision = t;
                if hard {
                    body.detector = RestDetector::from(t, &now);
                }
                changed[count] = bodies[k];
                count += 1;
            }
        }
        self.motion_changed(&changed[..count], t)?;
        if gentle && settings.rest {
            for body in bodies {
                match self.bodies[body as usize].kind {
                    MotionKind::Ballistic => self.update_rest(world, body, t, slides)?,
                    MotionKind::Resting => self.recheck_rest(body, t)?,
                    MotionKind::Static | MotionKind::Kinematic => {}
                }
            }
        }
        Ok(())
    }

    /// Result of a collision for both bodies; static, kinematic and resting ones have infinite mass.
    fn impact_response(
        &mut self,
        settings: &ImpulseSettings,
        index: u32,
        t: f64,
        gap: &PairGap,
        slow: bool,
    ) -> Result<ImpactResponse, Error> {
        let pair = &self.pairs[index as usize];
        let (bodies, e, mu) = (pair.bodies, pair.restitution, pair.friction);
        let point = self.contact_point(bodies, gap);
        let contact_bodies = bodies.map(|body| {
            let body = &mut self.bodies[body as usize];
            let now = body.at(t);
            body.contact_body(&now, point)
        });
        let ids = bodies.map(|body| self.bodies[body as usize].id);
        let failed = |source| ImpulseError::collision(ids, t, source);
        let single = |p: DVec3, reversed: bool| ImpactResponse {
            impulse: p,
            point,
            after: [contact_bodies[0].after(-p), contact_bodies[1].after(p)],
            reversed,
            slides: false,
        };
        if contact_bodies.iter().all(|body| body.inverse_mass == 0.0) {
            return Ok(single(DVec3::ZERO, false));
        }
        let (collision, frame) =
            Collision::between(&contact_bodies[0], &contact_bodies[1], gap.normal).map_err(failed)?;
        // A body wedged between two others could rebound between them without any time passing.
        let pair = &self.pairs[index as usize];
        let crowded =
            slow && pair.collision_count > CROWDED_COLLISIONS && t - pair.count_start <= CROWDED_TIME;
        let e = if gap.distance < ELASTIC_GAP * self.epsilon && -gap.rate < self.fall_speed() {
            e.max(1.0)
        } else if crowded {
            0.0
        } else {
            e
        };
        let surface = CollisionSettings {
            restitution: settings.restitution_law,
            e,
            mu,
            ..CollisionSettings::default()
        };
        if !slow || crowded {
            return Ok(single(frame * resolve_passive(&collision, &surface).map_err(failed)?.impulse, false));
        }
        let pull_in_g = self.pull_in_g(index, t, gap);
        let least = self.least_hop * self.fall_speed() * pull_in_g.sqrt();
        let shared = self.both_movable(index);
        let rule = MicroSettings {
            collision_epsilon: self.epsilon,
            gravity: self.gravity_norm * pull_in_g.min(SLOW_PULL_LIMIT),
            reversing: settings.reversing,
            e_max: settings.boosted_restitution,
            least_rebound: least,
            boost: shared,
            allowance: if shared { 0.5 * self.fall_speed().powi(2) / collision.k.z_axis.z } else { 0.0 },
            ..MicroSettings::default()
        };
        let boosted = if shared { rule.boosted(e, gap.distance.max(0.0)) } else { e };
        let rebound = |approach: f64| (boosted * approach).max(least);
        if let Some(patch) = self.contact_patch(index, t, gap, &contact_bodies)?
            && let Some(answer) = patch.collide(
                &contact_bodies,
                self.last_hop(index, t),
                rebound,
                shared.then_some(rule.allowance),
            )
        {
            let point = point - contact_bodies[1].r + answer.lever;
            return Ok(ImpactResponse {
                impulse: answer.impulse,
                point,
                after: answer.after,
                reversed: false,
                slides: answer.slides,
            });
        }
        if settings.reversing
            && !shared
            && let Some(p) = self.slip_free_reversal(index, t, &collision, frame, mu).map_err(failed)?
            && collision.u.z.abs() >= 0.5 * least.min(affordable_hop_speed(&contact_bodies, mu))
        {
            return Ok(single(frame * p, true));
        }
        let answer = micro_collision(&collision, &surface, &rule, gap.distance.max(0.0)).map_err(failed)?;
        let mut response = single(frame * answer.outcome.impulse, answer.kind == MicroKind::Reversed);
        let wanted = least.min(affordable_hop_speed(&contact_bodies, mu));
        let missing = wanted - answer.outcome.velocity.z;
        if missing > 0.5 * wanted {
            let compliance = Compliance::new(&collision.k).map_err(failed)?;
            let p = answer.outcome.impulse + compliance.impulse(missing * DVec3::Z);
            let p = if p.truncate().length() <= mu * p.z {
                p
            } else {
                answer.outcome.impulse + DVec3::Z * (missing / compliance.k)
            };
            response = single(frame * p, false);
            limit_energy(&contact_bodies, &mut response.after);
        }
        Ok(response)
    }

    /// Point where an impulse acts: the middle of the gap between two movable bodies, which conserves linear
    /// and angular momentum; on the surface of the only movable one otherwise, so that its lever is that of
    /// touching bodies, however wide the gap.
    fn contact_point(&self, bodies: [u32; 2], gap: &PairGap) -> DVec3 {
        let aside = 0.5 * gap.distance.max(0.0) * gap.normal;
        match bodies.map(|body| self.bodies[body as usize].is_movable()) {
            [true, false] => gap.point - aside,
            [false, true] => gap.point + aside,
            _ => gap.point,
        }
    }

    /// Acceleration that closes the gap of a pair, in g: of its last hop if nothing else touched the bodies,
    /// else the mean over some hops.
    fn pull_in_g(&self, index: u32, t: f64, gap: &PairGap) -> f64 {
        let pair = &self.pairs[index as usize];
        let (separation_speed, h) = (pair.hop.1, t - pair.hop.0);
        if h > 0.0 && self.is_undisturbed(index) {
            return ((separation_speed - gap.rate) / (h * self.gravity_norm)).clamp(1.0, PULL_LIMIT_OWN);
        }
        let (speed, time) = self.updated_pull_sum(index, t, gap);
        if time > 0.0 { (speed / (time * self.gravity_norm)).clamp(1.0, PULL_LIMIT_LOADED) } else { 1.0 }
    }

    /// Whether the bodies of a pair have not collided with others since they last collided with each other.
    fn is_undisturbed(&self, index: u32) -> bool {
        let pair = &self.pairs[index as usize];
        let since = pair.hop.0;
        since.is_finite()
            && pair.bodies.iter().all(|body| {
                let body = &self.bodies[*body as usize];
                !body.is_movable() || body.last_collision == since
            })
    }

    /// Duration of the hop of a pair that ends at time t, s; none if it was a flight, or if other bodies
    /// touched the two meanwhile.
    fn last_hop(&self, index: u32, t: f64) -> Option<f64> {
        let h = t - self.pairs[index as usize].hop.0;
        (h < HOP_TIME_LIMIT * self.fall_time() && self.is_undisturbed(index)).then_some(h)
    }

    /// Impulse in the contact frame that keeps a point rolling or at rest, if the friction cone allows it.
    ///
    /// Over a hop the velocity of the contact changes by Δ, from u⁺ to u⁻. Without slip on average it goes
    /// from −½Δ to ½Δ along the surface, so that is where the next hop has to start: half of the distance
    /// rolled lies behind each collision, half ahead, an error of the second order in the duration of a hop.
    /// Any other slip ends. Along the normal the velocity is reversed. No energy is created: ½ u·K⁻¹u, all
    /// that depends on the impulse, must not grow.
    fn slip_free_reversal(
        &self,
        index: u32,
        t: f64,
        collision: &Collision,
        frame: DMat3,
        mu: f64,
    ) -> Result<Option<DVec3>, CollisionError> {
        let pair = &self.pairs[index as usize];
        if self.last_hop(index, t).is_none() {
            return Ok(None);
        }
        let compliance = Compliance::new(&collision.k)?;
        let u = collision.u;
        let change = u - frame.transpose() * pair.hop_velocity;
        let wanted = DVec3::new(-0.5 * change.x, -0.5 * change.y, -u.z);
        let (had, has) = (u.dot(compliance.impulse(u)), wanted.dot(compliance.impulse(wanted)));
        let wanted = if has > had { wanted * (had / has).sqrt() } else { wanted };
        let p = compliance.impulse(wanted - u);
        Ok((p.is_finite() && p.z > 0.0 && p.truncate().length() <= mu * p.z).then_some(p))
    }

    /// Decaying sums over the last hops of a pair: change of the closing speed, m/s, and duration, s.
    fn updated_pull_sum(&self, index: u32, t: f64, gap: &PairGap) -> (f64, f64) {
        let pair = &self.pairs[index as usize];
        let ((since, separation_speed), (speed, time)) = (pair.hop, pair.pull_sum);
        let h = t - since;
        // The sums restart after a flight.
        if h >= HOP_TIME_LIMIT * self.fall_time() {
            return (0.0, 0.0);
        }
        (PULL_DECAY * speed + (separation_speed - gap.rate), PULL_DECAY * time + h)
    }

    /// Counts an event of a pair ⇒ whether it was handled as a stall. Bodies of a pair with too many events
    /// within one stall time are frozen until the end of the step; if that does not help either, because a
    /// path moves one of them into the other, the pair is ignored until then. The number of events of a step
    /// is therefore bounded by the number of pairs and the number of stall times in the step.
    pub fn check_stall(&mut self, index: u32, t: f64, settings: &ImpulseSettings) -> Result<bool, Error> {
        let window = if settings.stall_time > 0.0 { settings.stall_time } else { self.fall_time().min(1.0) };
        let pair = &mut self.pairs[index as usize];
        if t - pair.stall_start > window {
            (pair.stall_start, pair.event_count) = (t, 0);
        }
        pair.event_count = pair.event_count.saturating_add(1);
        let events = i64::from(pair.event_count);
        if events < settings.stall_limit {
            return Ok(false);
        }
        let (bodies, pair_key) = (pair.bodies, pair.pair_key());
        let mut held = [0; 2];
        let mut count = 0;
        for body in bodies.into_iter().filter(|body| self.bodies[*body as usize].is_movable()) {
            held[count] = body;
            count += 1;
        }
        if count > 0 {
            self.counters.stalled += 1;
            let ids = bodies.map(|body| self.bodies[body as usize].id);
            self.events.push(Event::Stalled { time: t, bodies: ids });
            self.freeze_stalled(&held[..count], t)?;
        }
        if events >= settings.stall_limit.saturating_mul(2) {
            self.pair_events.set(index, self.end.next_up(), pair_key);
            return Ok(true);
        }
        Ok(count > 0)
    }

    /// Updates the counters and the mean force of a pair.
    fn record_collision(
        &mut self,
        index: u32,
        t: f64,
        p: DVec3,
        slow: bool,
        reversed: bool,
        settings: &ImpulseSettings,
    ) {
        self.counters.collisions += 1;
        self.counters.microcollisions += u64::from(slow);
        self.counters.reversed += u64::from(reversed);
        let pair = &mut self.pairs[index as usize];
        if t - pair.count_start > CROWDED_TIME {
            (pair.count_start, pair.collision_count) = (t, 0);
        }
        pair.collision_count = pair.collision_count.saturating_add(1);
        if t - pair.sum_start > settings.force_window {
            pair.force = pair.impulse / (t - pair.sum_start);
            pair.impulse = DVec3::ZERO;
            pair.sum_start = t;
        }
        pair.impulse += p;
    }
}

/// (bodies, normal, levers of rolling and spinning, normal impulse) ⇒ applies rolling and spinning friction.
fn resist_rolling(bodies: &mut [ContactBody; 2], n: DVec3, levers: [f64; 2], p_n: f64) {
    for (spinning, lever) in [(false, levers[0]), (true, levers[1])] {
        let omega = bodies[1].omega - bodies[0].omega;
        let along = omega.dot(n) * n;
        let omega = if spinning { along } else { omega - along };
        let size = omega.length();
        if size * lever * p_n <= 0.0 {
            continue;
        }
        let d = omega / size;
        let [a, b] = [0, 1].map(|k| bodies[k].inverse_inertia * d);
        let torque = (lever * p_n).min(size / (a + b).dot(d));
        bodies[0].omega += torque * a;
        bodies[1].omega -= torque * b;
    }
}
