//! The collision loop: first contacts on chords, clusters, going back to t_c, impulses, contact forces.

use glam::{DMat3, DVec3};
use rattleback_geometry::primitive::ContactFrame;
use rattleback_numerics::UnionFind;

use super::{CollisionFlags, EffectiveMass, ObstacleMotion, ParticleSystem, StepEvent};
use crate::collision::{swept_particle_shape, swept_particles};
use crate::contact::{ClusterContact, ContactPartner, contact_forces};
use crate::emitter::Emitter;
use crate::force::ForceView;
use crate::impulse::{ClusterCollision, ClusterPartner, FrictionModel, solve_cluster};
use crate::{Obstacle, ParticleError, Particles};

/// Chords of the particles: the state at the start of each, and its time as a fraction of the interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Trajectories {
    saved: (Vec<DVec3>, Vec<DVec3>),
    pub position: Vec<DVec3>,
    pub velocity: Vec<DVec3>,
    pub time: Vec<f64>,
    end: (Vec<DVec3>, Vec<DVec3>),
}

impl Trajectories {
    /// Keeps the state for `restore`.
    pub(super) fn save(&mut self, particles: &Particles) {
        self.saved.0.clone_from(&particles.position);
        self.saved.1.clone_from(&particles.velocity);
    }

    /// Puts the kept state back.
    pub(super) fn restore(&self, particles: &mut Particles) {
        particles.position.clone_from(&self.saved.0);
        particles.velocity.clone_from(&self.saved.1);
    }

    /// Starts all chords at the present state ⇒ a copy of it, to be integrated.
    pub(super) fn take_end(&mut self, particles: &Particles) -> (Vec<DVec3>, Vec<DVec3>) {
        self.position.clone_from(&particles.position);
        self.velocity.clone_from(&particles.velocity);
        self.time.clear();
        self.time.resize(particles.len(), 0.0);
        let mut end = std::mem::take(&mut self.end);
        end.0.clone_from(&particles.position);
        end.1.clone_from(&particles.velocity);
        end
    }

    pub(super) fn give_back(&mut self, end: (Vec<DVec3>, Vec<DVec3>)) {
        self.end = end;
    }

    /// Distance of two particles at the start of the interval.
    fn saved_distance(&self, i: usize, j: usize) -> f64 {
        self.saved.0[i].distance(self.saved.0[j])
    }

    /// State of a particle at a fraction of the interval that is not before its start.
    fn at(&self, particles: &Particles, i: usize, time: f64) -> (DVec3, DVec3) {
        let span = 1.0 - self.time[i];
        let s = if span > 0.0 { ((time - self.time[i]) / span).clamp(0.0, 1.0) } else { 1.0 };
        (self.position[i].lerp(particles.position[i], s), self.velocity[i].lerp(particles.velocity[i], s))
    }
}

/// A of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Partner {
    Particle(u32),
    Body(u32),
}

/// Overlap that a pair in contact may end an interval with, relative to its size: chords of curved paths dip into
/// curved surfaces.
pub(super) const CONTACT_SLOP: f64 = 1e-7;

/// A first contact.
#[derive(Clone, Copy, Debug)]
struct Hit {
    time: f64,
    a: Partner,
    b: u32,
    normal: DVec3,
    /// Touched point: midpoint of two particles, surface point of a body.
    point: DVec3,
}

impl ParticleSystem {
    /// Walks through the collisions of the interval until none is left or the limits are reached.
    pub(super) fn resolve_collisions(
        &mut self,
        dt: f64,
        obstacles: &mut [&mut dyn Obstacle],
    ) -> Result<(), ParticleError> {
        let n = self.particles.len();
        let mut changed: Option<Vec<u32>> = None;
        let limit = self.settings.max_collision_iterations;
        let last = limit.saturating_add(self.settings.max_inelastic_iterations);
        self.connect();
        self.supports.clear();
        self.settled.clear();
        for pass in 0.. {
            let hits = self.detect(changed.as_deref(), obstacles)?;
            if hits.is_empty() {
                break;
            }
            self.statistics.iterations = pass + 1;
            if pass == limit {
                self.statistics.inelastic_override = true;
                self.events.push(StepEvent::InelasticOverride);
            }
            if pass >= last {
                self.stop_unresolved(&hits, dt, obstacles);
                break;
            }
            let clusters = clusters(&hits, n, self.settings.simultaneous_time_tolerance);
            let mut touched = vec![false; n];
            let mut moved = Vec::new();
            for cluster in &clusters {
                self.resolve_cluster(dt, cluster, obstacles, pass >= limit, &mut touched, &mut moved)?;
            }
            moved.sort_unstable();
            changed = Some(moved);
        }
        self.flag_overlaps();
        Ok(())
    }

    /// Counts pairs that overlap at the end but not at the start. Within a pass a particle may be given a new path
    /// that crosses the path another one had before a later collision; such a meeting is not found.
    fn flag_overlaps(&mut self) {
        if self.statistics.iterations < 2 {
            return;
        }
        let Self { particles, start, tree, statistics, .. } = self;
        for i in 0..particles.len() {
            tree.near(i, |j| {
                let reach = particles.radius[i] + particles.radius[j];
                let distance = particles.position[i].distance(particles.position[j]);
                let fresh =
                    distance < reach * (1.0 - 1e-6) && start.saved_distance(i, j) >= reach * (1.0 - 1e-6);
                statistics.unresolved_collisions += u64::from(j > i && fresh);
            });
        }
    }

    /// Groups of particles that forces couple, from the state at the start.
    fn connect(&mut self) {
        let n = self.particles.len();
        self.connections.reset(n);
        let view = ForceView::at(&self.particles, self.time, &self.start.position, &self.start.velocity);
        let connections = &mut self.connections;
        self.forces.connections(&view, &mut |i, j| {
            connections.union(i as u32, j as u32);
        });
    }

    /// First contacts on the present chords, sorted by time; of the changed particles with all others, if given.
    fn detect(
        &mut self,
        changed: Option<&[u32]>,
        obstacles: &[&mut dyn Obstacle],
    ) -> Result<Vec<Hit>, ParticleError> {
        let mut hits = Vec::new();
        let Self {
            particles, start, settings, tree, statistics, scratch, leaving, settled, emitters, ..
        } = self;
        let flags = |i: usize| flags_of(emitters, settings.collisions, particles.traits[i].emitter);
        if settings.collisions.internal || settings.collisions.external {
            let chords = (&start.position[..], &particles.position[..], &particles.radius[..]);
            tree.update(chords, settings.bvh, settings.particles_per_leaf, false)?;
            let mut is_changed = vec![changed.is_none(); particles.len()];
            for &i in changed.unwrap_or_default() {
                is_changed[i as usize] = true;
            }
            for i in (0..particles.len()).filter(|&i| is_changed[i]).collect::<Vec<_>>() {
                tree.near(i, |j| {
                    // A pair of two changed particles is found from both; the lower one counts.
                    if is_changed[j] && j < i {
                        return;
                    }
                    statistics.candidate_pairs += 1;
                    let (a, b) = (i.min(j), i.max(j));
                    if particles.traits[a].pinned && particles.traits[b].pinned {
                        return;
                    }
                    let allowed = if particles.traits[a].emitter == particles.traits[b].emitter {
                        settings.collisions.internal && flags(a).internal
                    } else {
                        settings.collisions.external && flags(a).external && flags(b).external
                    };
                    if !allowed {
                        return;
                    }
                    let key = (Partner::Particle(a as u32), b as u32);
                    hits.extend(pair_hit(particles, start, a, b, settled.contains(&key)));
                });
            }
        }
        if settings.collisions.bodies {
            for (body, obstacle) in obstacles.iter().enumerate() {
                let (pose, from) = (obstacle.pose(), obstacle.start_pose());
                let bounds = obstacle.shape().aabb(&pose);
                let all = 0..particles.len() as u32;
                let mut test = |i: u32| {
                    if particles.traits[i as usize].pinned || leaving.binary_search(&(i, body as u32)).is_ok()
                    {
                        return;
                    }
                    let k = i as usize;
                    let (p, q, r) = (start.position[k], particles.position[k], particles.radius[k]);
                    if settings.obstacle_motion == ObstacleMotion::AtEnd
                        && bounds.is_some_and(|b| {
                            let low = p.min(q) - r;
                            let high = p.max(q) + r;
                            low.cmpgt(b.max()).any() || high.cmplt(b.min()).any()
                        })
                    {
                        return;
                    }
                    let origin = match settings.obstacle_motion {
                        ObstacleMotion::AtEnd => pose,
                        ObstacleMotion::Swept => rattleback_geometry::Pose::new(
                            from.rotation.slerp(pose.rotation, start.time[k]),
                            from.translation.lerp(pose.translation, start.time[k]),
                        ),
                    };
                    let (c, d) = (origin.inverse_point(p), pose.inverse_point(q));
                    let Some(hit) = swept_particle_shape(c, d - c, r, obstacle.shape(), scratch) else {
                        return;
                    };
                    let closing = -(d - c).dot(hit.normal);
                    if closing <= 1e-14 * (1.0 + c.abs().max_element()) {
                        return;
                    }
                    if hit.time < 1e-6
                        && settled.contains(&(Partner::Body(body as u32), i))
                        && ends_outside(obstacle.shape(), d, r)
                    {
                        return;
                    }
                    let time = start.time[k] + hit.time * (1.0 - start.time[k]);
                    hits.push(Hit {
                        time,
                        a: Partner::Body(body as u32),
                        b: i,
                        normal: pose.vector(hit.normal),
                        point: pose.point(hit.point),
                    });
                };
                match changed {
                    Some(changed) => changed.iter().copied().for_each(&mut test),
                    None => all.for_each(&mut test),
                }
            }
        }
        hits.sort_by(|x, y| x.time.total_cmp(&y.time).then((x.a, x.b).cmp(&(y.a, y.b))));
        Ok(hits)
    }

    /// Puts a cluster back to its time, solves its impulses and contact forces, and integrates it to the end again.
    fn resolve_cluster(
        &mut self,
        dt: f64,
        cluster: &[Hit],
        obstacles: &mut [&mut dyn Obstacle],
        inelastic: bool,
        touched: &mut [bool],
        moved: &mut Vec<u32>,
    ) -> Result<(), ParticleError> {
        let t_c = cluster[0].time;
        let n = self.particles.len();
        // All particles that collide or are coupled to one that does.
        let mut roots: Vec<u32> = Vec::new();
        for hit in cluster {
            roots.push(self.connections.find(hit.b));
            if let Partner::Particle(a) = hit.a {
                roots.push(self.connections.find(a));
            }
        }
        roots.sort_unstable();
        roots.dedup();
        let direct = |i: u32| cluster.iter().any(|h| h.b == i || h.a == Partner::Particle(i));
        let members: Vec<u32> = if self.forces.couple_particles() {
            (0..n as u32).filter(|&i| roots.binary_search(&self.connections.find(i)).is_ok()).collect()
        } else {
            let mut members: Vec<u32> = cluster.iter().map(|h| h.b).collect();
            members.extend(cluster.iter().filter_map(|h| match h.a {
                Partner::Particle(a) => Some(a),
                Partner::Body(_) => None,
            }));
            members.sort_unstable();
            members.dedup();
            members
        };
        if members.iter().any(|&i| touched[i as usize]) {
            // A coupled cluster with an earlier collision has changed these chords; they are looked at again.
            moved.extend(members.iter().copied().filter(|&i| direct(i) && !touched[i as usize]));
            return Ok(());
        }
        let mut place = vec![u32::MAX; n];
        let (mut p, mut v) = (Vec::with_capacity(members.len()), Vec::with_capacity(members.len()));
        for (k, &i) in members.iter().enumerate() {
            touched[i as usize] = true;
            place[i as usize] = k as u32;
            let (position, velocity) = self.start.at(&self.particles, i as usize, t_c);
            p.push(position);
            v.push(velocity);
        }
        self.end_supports(&place, (1.0 - t_c) * dt, obstacles);
        let inverse_mass: Vec<f64> =
            members.iter().map(|&i| self.particles.inverse_mass(i as usize)).collect();
        let (time, rest) = (self.time + t_c * dt, (1.0 - t_c) * dt);
        let acceleration = self.accelerations(&members, &place, &p, &v, time)?;
        let touching = self.collide_cluster(
            dt,
            cluster,
            obstacles,
            inelastic,
            &place,
            &inverse_mass,
            &acceleration,
            &mut v,
            time,
        );
        let extra =
            self.contact_cluster(&touching, obstacles, &place, &inverse_mass, &acceleration, &p, &v, rest);
        for (k, &i) in members.iter().enumerate() {
            let i = i as usize;
            self.start.position[i] = p[k];
            self.start.velocity[i] = v[k];
            self.start.time[i] = t_c.max(self.start.time[i]);
        }
        if rest > 0.0 {
            self.integration.step(
                self.settings.method,
                &self.particles,
                &mut self.forces,
                (time, rest),
                (&mut p, &mut v),
                Some((&members, &place)),
                Some(&extra),
                1,
            )?;
        }
        for (k, &i) in members.iter().enumerate() {
            self.particles.position[i as usize] = p[k];
            self.particles.velocity[i as usize] = v[k];
        }
        moved.extend_from_slice(&members);
        Ok(())
    }

    /// Accelerations of some particles at a state.
    fn accelerations(
        &mut self,
        members: &[u32],
        place: &[u32],
        p: &[DVec3],
        v: &[DVec3],
        time: f64,
    ) -> Result<Vec<DVec3>, ParticleError> {
        let view = ForceView::of(&self.particles, time, p, v, (members, place));
        let mut force = vec![DVec3::ZERO; members.len()];
        self.forces.evaluate(&view, 1, &mut force)?;
        self.integration.evaluations += 1;
        let scaled = members.iter().zip(&force);
        Ok(scaled.map(|(&i, f)| self.particles.inverse_mass(i as usize) * *f).collect())
    }

    /// Impulses of a cluster ⇒ the pairs that stay in touch. Those that hardly approach are stopped.
    #[allow(clippy::too_many_arguments, reason = "the parts of one cluster")]
    fn collide_cluster(
        &mut self,
        dt: f64,
        cluster: &[Hit],
        obstacles: &mut [&mut dyn Obstacle],
        inelastic: bool,
        place: &[u32],
        inverse_mass: &[f64],
        acceleration: &[DVec3],
        v: &mut [DVec3],
        time: f64,
    ) -> Vec<Hit> {
        let settings = self.settings.clone();
        let mut collisions = Vec::with_capacity(cluster.len());
        let mut kept = Vec::with_capacity(cluster.len());
        let mut touching = Vec::new();
        for hit in cluster {
            let b = place[hit.b as usize] as usize;
            let (partner, v_a, a_a) = self.partner(hit, obstacles, place, v, acceleration);
            let u_n = (v[b] - v_a).dot(hit.normal);
            let a_n = (acceleration[b] - a_a).dot(hit.normal);
            let threshold =
                settings.contact_velocity_threshold.unwrap_or_else(|| (2.0 * a_n.abs() * dt).max(1e-3));
            // A pair whose chord closes although its velocity does not is pushed together: a contact as well.
            let contact = u_n > -threshold;
            let (restitution, friction) = self.coefficients(hit, obstacles);
            let restitution = if inelastic || contact { 0.0 } else { restitution };
            // Contacts keep their tangential velocity: friction acts on them as a force.
            let mu = if contact { 0.0 } else { friction[1] };
            let friction = if settings.isotropic_friction {
                FrictionModel::Isotropic(mu)
            } else {
                FrictionModel::Directional([mu; 2])
            };
            if contact {
                self.statistics.contacts += 1;
                self.settled.insert((hit.a, hit.b));
                touching.push(*hit);
            } else {
                self.statistics.collisions += 1;
            }
            if u_n > 0.0 {
                continue;
            }
            if inelastic && !contact {
                touching.push(*hit);
            }
            collisions.push(ClusterCollision { a: partner, b, normal: hit.normal, restitution, friction });
            kept.push(hit);
        }
        if collisions.is_empty() {
            return touching;
        }
        let outcome = solve_cluster(inverse_mass, v, &collisions);
        self.statistics.singular_clusters += u64::from(outcome.singular);
        v.copy_from_slice(&outcome.velocity);
        for (hit, &impulse) in kept.iter().zip(&outcome.impulse) {
            self.record(hit, impulse, time, obstacles);
        }
        touching
    }

    /// Velocity and answer to impulses of A.
    fn partner(
        &self,
        hit: &Hit,
        obstacles: &[&mut dyn Obstacle],
        place: &[u32],
        v: &[DVec3],
        acceleration: &[DVec3],
    ) -> (ClusterPartner, DVec3, DVec3) {
        match hit.a {
            Partner::Particle(a) => {
                let a = place[a as usize] as usize;
                (ClusterPartner::Particle(a), v[a], acceleration[a])
            }
            Partner::Body(body) => {
                let obstacle = &obstacles[body as usize];
                let velocity = obstacle.velocity_at(hit.point);
                let inverse_mass = self.body_inverse_mass(&**obstacle, hit.point);
                let partner = ClusterPartner::Body { velocity, inverse_mass };
                (partner, velocity, obstacle.acceleration_at(hit.point))
            }
        }
    }

    pub(super) fn body_inverse_mass(&self, obstacle: &dyn Obstacle, point: DVec3) -> DMat3 {
        match self.settings.effective_mass {
            EffectiveMass::Full => obstacle.inverse_mass_at(point),
            EffectiveMass::Source => DMat3::from_diagonal(DVec3::splat(obstacle.inverse_mass())),
        }
    }

    /// Restitution and friction of a pair.
    fn coefficients(&self, hit: &Hit, obstacles: &[&mut dyn Obstacle]) -> (f64, [f64; 2]) {
        let b = &self.particles.traits[hit.b as usize];
        let (e, mu) = match hit.a {
            Partner::Particle(a) => {
                let a = &self.particles.traits[a as usize];
                (a.restitution, a.friction)
            }
            Partner::Body(body) => {
                (obstacles[body as usize].restitution(), obstacles[body as usize].friction())
            }
        };
        let friction = [0, 1].map(|k: usize| f64::midpoint(b.friction[k], mu[k]));
        (self.settings.restitution_combine.of(b.restitution, e), friction)
    }

    /// Reaction on the body and event of an impulse.
    fn record(&mut self, hit: &Hit, impulse: DVec3, time: f64, obstacles: &mut [&mut dyn Obstacle]) {
        let particle = self.particles.id(hit.b as usize);
        match hit.a {
            Partner::Particle(a) => self.events.push(StepEvent::Collision {
                a: self.particles.id(a as usize),
                b: particle,
                time,
                point: hit.point,
                normal: hit.normal,
                impulse,
            }),
            Partner::Body(body) => {
                self.react(body as usize, hit.point, -impulse, obstacles);
                self.events.push(StepEvent::BodyCollision {
                    body: body as usize,
                    particle,
                    time,
                    point: hit.point,
                    normal: hit.normal,
                    impulse,
                });
            }
        }
    }

    /// Impulse on a body, at once or at the beginning of the next interval.
    fn react(&mut self, body: usize, point: DVec3, impulse: DVec3, obstacles: &mut [&mut dyn Obstacle]) {
        if self.settings.immediate_reaction {
            obstacles[body].apply_impulse(point, impulse);
        } else {
            self.pending[body].add(point, impulse);
        }
    }

    /// Contact forces of pairs in touch ⇒ forces on its particles for the rest of the
    /// interval.
    #[allow(clippy::too_many_arguments, reason = "the parts of one cluster")]
    fn contact_cluster(
        &mut self,
        cluster: &[Hit],
        obstacles: &mut [&mut dyn Obstacle],
        place: &[u32],
        inverse_mass: &[f64],
        acceleration: &[DVec3],
        p: &[DVec3],
        v: &[DVec3],
        rest: f64,
    ) -> Vec<DVec3> {
        let mut extra = vec![DVec3::ZERO; p.len()];
        let mut contacts = Vec::new();
        let mut kept = Vec::new();
        for hit in cluster {
            let b = place[hit.b as usize] as usize;
            let radius = self.particles.radius[hit.b as usize];
            let (partner, relative_velocity, normal_rate_term) = match hit.a {
                Partner::Particle(a) => {
                    let (k, d) = (place[a as usize] as usize, radius + self.particles.radius[a as usize]);
                    let u = v[b] - v[k];
                    let tangential = u - u.dot(hit.normal) * hit.normal;
                    let term = if d > 0.0 { tangential.length_squared() / d } else { 0.0 };
                    (ContactPartner::Particle(k), u, term)
                }
                Partner::Body(body) => {
                    let obstacle = &obstacles[body as usize];
                    let u = v[b] - obstacle.velocity_at(hit.point);
                    let n_rate = obstacle.angular_velocity().cross(hit.normal);
                    let term = 2.0 * u.dot(n_rate) - radius * n_rate.length_squared();
                    // Bodies stay at their pose of the end of the interval whatever acts on them.
                    let (acceleration, inverse_mass) = (DVec3::ZERO, DMat3::ZERO);
                    (ContactPartner::Body { acceleration, inverse_mass }, u, term)
                }
            };
            let Ok(frame) = ContactFrame::new(hit.normal) else { continue };
            let (_, friction) = self.coefficients(hit, obstacles);
            contacts.push(ClusterContact {
                a: partner,
                b,
                frame: [frame.normal, frame.tangent, frame.binormal],
                relative_velocity,
                normal_rate_term,
                friction,
            });
            kept.push(hit);
        }
        if contacts.is_empty() || rest <= 0.0 {
            return extra;
        }
        let slip = self.settings.slip_velocity_threshold;
        let Ok((forces, solved)) = contact_forces(inverse_mass, acceleration, &contacts, slip) else {
            self.statistics.singular_clusters += 1;
            return extra;
        };
        self.statistics.singular_clusters += u64::from(!solved);
        for ((contact, hit), force) in contacts.iter().zip(kept).zip(forces) {
            extra[contact.b] += force;
            match (contact.a, hit.a) {
                (ContactPartner::Particle(a), _) => extra[a] -= force,
                (_, Partner::Body(body)) => {
                    self.supports.push((hit.b, body, hit.point, force));
                    self.react(body as usize, hit.point, -rest * force, obstacles);
                }
                _ => {}
            }
        }
        extra
    }

    /// Contact forces on members of a cluster end at its time: bodies get back what was to follow.
    fn end_supports(&mut self, place: &[u32], rest: f64, obstacles: &mut [&mut dyn Obstacle]) {
        let mut supports = std::mem::take(&mut self.supports);
        supports.retain(|&(particle, body, point, force)| {
            let ends = place[particle as usize] != u32::MAX;
            if ends {
                self.react(body as usize, point, rest * force, obstacles);
            }
            !ends
        });
        self.supports = supports;
    }

    /// Particles that still collide stay at their last collision for the rest of the interval.
    fn stop_unresolved(&mut self, hits: &[Hit], dt: f64, obstacles: &mut [&mut dyn Obstacle]) {
        self.statistics.unresolved_collisions += hits.len() as u64;
        let mut done = vec![false; self.particles.len()];
        for hit in hits {
            let a = match hit.a {
                Partner::Particle(a) => Some(a),
                Partner::Body(_) => None,
            };
            for i in [Some(hit.b), a].into_iter().flatten() {
                let i = i as usize;
                if !std::mem::replace(&mut done[i], true) && !self.particles.traits[i].pinned {
                    self.particles.position[i] = self.start.position[i];
                    self.particles.velocity[i] = self.start.velocity[i];
                }
            }
        }
        let supports = std::mem::take(&mut self.supports);
        for &(particle, body, point, force) in &supports {
            if done[particle as usize] {
                let rest = (1.0 - self.start.time[particle as usize]) * dt;
                self.react(body as usize, point, rest * force, obstacles);
            }
        }
        self.supports = supports;
    }
}

/// Flags of an emitter; those of the system for particles without one.
pub(super) fn flags_of(emitters: &[Emitter], system: CollisionFlags, emitter: u32) -> CollisionFlags {
    emitters.get(emitter as usize).map_or(system, |emitter| emitter.config().collisions)
}

/// Whether a sphere hardly overlaps a shape, in the frame of the shape.
pub(super) fn ends_outside(shape: &rattleback_geometry::Shape, center: DVec3, r: f64) -> bool {
    let near = shape.closest_point(center);
    near.is_none_or(|near| near.distance - r > -CONTACT_SLOP * (r + center.length()))
}

/// First contact of two particles on their chords.
fn pair_hit(particles: &Particles, start: &Trajectories, a: usize, b: usize, settled: bool) -> Option<Hit> {
    let from = start.time[a].max(start.time[b]);
    let (pa, pb) = (start.at(particles, a, from).0, start.at(particles, b, from).0);
    let (da, db) = (particles.position[a] - pa, particles.position[b] - pb);
    let hit = swept_particles((pa, da, particles.radius[a]), (pb, db, particles.radius[b]))?;
    let closing = -(db - da).dot(hit.normal);
    if closing <= 1e-14 * (1.0 + pa.abs().max_element()) {
        return None;
    }
    let reach = particles.radius[a] + particles.radius[b];
    let end_gap = particles.position[a].distance(particles.position[b]) - reach;
    if settled && hit.time < 1e-6 && end_gap > -CONTACT_SLOP * reach {
        return None;
    }
    let time = from + hit.time * (1.0 - from);
    let a = Partner::Particle(a as u32);
    Some(Hit { time, a, b: b as u32, normal: hit.normal, point: hit.point })
}

/// Sorted contacts ⇒ clusters of the earliest contacts of their particles, in the order of their times.
fn clusters(hits: &[Hit], n: usize, tolerance: f64) -> Vec<Vec<Hit>> {
    let mut first = vec![f64::INFINITY; n];
    let mut sets = UnionFind::new(n);
    let mut accepted = Vec::new();
    for hit in hits {
        let ends = [Some(hit.b), if let Partner::Particle(a) = hit.a { Some(a) } else { None }];
        if ends.iter().flatten().any(|&i| hit.time > first[i as usize] + tolerance) {
            // Its chord is not valid after the earlier contact; the other particle's is, up to this time.
            continue;
        }
        for i in ends.into_iter().flatten() {
            first[i as usize] = first[i as usize].min(hit.time);
        }
        if let Partner::Particle(a) = hit.a {
            sets.union(a, hit.b);
        }
        accepted.push(*hit);
    }
    let mut of_root = vec![usize::MAX; n];
    let mut clusters: Vec<Vec<Hit>> = Vec::new();
    for hit in accepted {
        let slot = &mut of_root[sets.find(hit.b) as usize];
        if *slot == usize::MAX {
            *slot = clusters.len();
            clusters.push(Vec::new());
        }
        clusters[*slot].push(hit);
    }
    clusters
}
