//! Contact forces over an interval, all contacts of an island together.
//!
//! Without contacts the bodies would have the velocities v* after the time h. Contact impulses p = h F are to make them
//! M (v − v*) = Jᵀ p with 0 ≤ p_n ⟂ u_n + gap/h ≥ 0 (u_n ≥ 0 where it touches) and Coulomb friction at the velocities u = J v at the end: in terms of accelerations,
//! a_n h + u_n(0) ≥ −gap/h, so that what is at rest stays at rest and errors of earlier steps are not carried along. μ is the static
//! coefficient where the slip at the beginning is small, the kinetic one elsewhere.
//!
//! Places follow from the mean velocity ½(v₀ + v): exact for constant accelerations. Where that would lead bodies into each other (they
//! have just landed, have drifted, or turn while they touch), the nearest velocity that does not leads them instead; it moves them only
//! and is forgotten then.

use super::bond::Tied;
use super::roster::Roster;
use super::touch::{Memory, Touch, remembered};
use crate::motion::{Motion, Wrench, fly};
use glam::{DMat3, DVec3};
use rattleback_numerics::damping::Damping;
use rattleback_numerics::lcp::blocks::{
    Block, BlockContact, BlockProblem, BlockSettings, BlockSolver, BlockTie, Stiffness,
};
use rattleback_numerics::lcp::{Friction, FrictionContact, FrictionProblem, Outcome, SquareMatrix, baraff};

/// How a body gets from the beginning of an interval to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::simulator) enum Course {
    /// It does not move.
    #[default]
    Still,
    /// Along its path.
    Scripted,
    /// As if it were alone, under these loads: acceleration and torque.
    Free { acceleration: DVec3, torque: DVec3 },
    /// With constant velocities, to be replaced by others at the end.
    Led { v: DVec3, omega: DVec3 },
    /// Along its track, with the assembly it is part of.
    Flown,
}

/// Where a body is after a time on its course.
pub(in crate::simulator) fn follow(
    roster: &Roster,
    actor: usize,
    start: &Motion,
    course: Course,
    begin: f64,
    time: f64,
) -> Motion {
    match course {
        Course::Still => *start,
        Course::Scripted => roster.actors[actor].scripted(begin + time, start),
        Course::Flown => roster.tracks[actor].at(begin + time).unwrap_or(*start),
        Course::Free { acceleration, torque } => {
            let inertia = &roster.actors[actor].inertia;
            let mut motion = *start;
            damp(&mut motion, inertia, 0.5 * time);
            motion.v += 0.5 * time * acceleration;
            if torque != DVec3::ZERO {
                motion.omega += inertia.angular_velocity(motion.q, 0.5 * time * torque);
            }
            fly(std::slice::from_mut(&mut motion), std::slice::from_ref(inertia), time);
            motion.v += 0.5 * time * acceleration;
            if torque != DVec3::ZERO {
                motion.omega += inertia.angular_velocity(motion.q, 0.5 * time * torque);
            }
            damp(&mut motion, inertia, 0.5 * time);
            motion
        }
        Course::Led { v, omega } => {
            let turn = glam::DQuat::from_scaled_axis(time * omega);
            Motion { x: start.x + time * v, q: (turn * start.q).normalize(), ..*start }
        }
    }
}

fn damp(motion: &mut Motion, inertia: &crate::motion::Inertia, h: f64) {
    if inertia.linear_damping > 0.0 {
        motion.v *= Damping::Exponential.factor(inertia.linear_damping, h);
    }
    if inertia.angular_damping > 0.0 {
        motion.omega *= Damping::Exponential.factor(inertia.angular_damping, h);
    }
}

/// What the world does to a body: acceleration and torque.
pub(in crate::simulator) fn loads_of(wrench: Wrench, uniform: DVec3, inverse_mass: f64) -> Course {
    Course::Free { acceleration: uniform + inverse_mass * wrench.force, torque: wrench.torque }
}

/// What it took.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::simulator) struct ForceReport {
    pub steps: usize,
    pub residual: f64,
    pub converged: bool,
    /// Contacts for which no finite force exists.
    pub unbounded: bool,
}

/// Puts contacts into equations and solves them; keeps its memory.
#[derive(Debug, Default)]
pub(in crate::simulator) struct Forces {
    solver: BlockSolver,
    problem: BlockProblem,
    /// Block of each actor in the present problem.
    block_of: Vec<Option<usize>>,
    actor_of: Vec<usize>,
    pub impulse: Vec<DVec3>,
    /// Impulses of ties, as they were when somebody kept them.
    pub tied: Vec<f64>,
    pub velocity: Vec<[DVec3; 2]>,
}

/// How each contact is to be met.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct Wish {
    /// Velocity along the normal that is allowed at least.
    pub normal: f64,
    pub friction: f64,
    pub stiffness: Stiffness,
}

/// How a row of a joint is to be met.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct TieWish {
    pub tied: Tied,
    /// What J v is to be.
    pub value: f64,
    pub bounds: [f64; 2],
    pub softness: Option<f64>,
}

impl Forces {
    /// Adds rows of joints to equations that have been posed, with the bodies they hold.
    pub fn tie(&mut self, roster: &Roster, motion: &[Motion], free: &[Motion], ties: &[TieWish]) {
        for wish in ties {
            let actors = roster.bonds[wish.tied.bond].actors.map(|actor| actor.map(|actor| actor as usize));
            for actor in actors.into_iter().flatten() {
                self.take(roster, motion, free, actor);
            }
            let mut tie = BlockTie {
                blocks: [None; 2],
                rows: [wish.tied.side(0), wish.tied.side(1)],
                target: wish.value,
                bounds: wish.bounds,
                softness: wish.softness,
            };
            for (side, actor) in actors.into_iter().enumerate() {
                let Some(actor) = actor else { continue };
                tie.blocks[side] = self.block_of[actor];
                if self.block_of[actor].is_none() {
                    let [linear, angular] = tie.rows[side];
                    tie.target -= linear.dot(motion[actor].v) + angular.dot(motion[actor].omega);
                }
            }
            self.problem.ties.push(tie);
        }
    }

    /// Makes equations of the conditions of contacts: normals hold with any impulse, tangents with one up to `most` ⇒ where their ties begin.
    pub fn hold(&mut self, most: &[f64]) -> usize {
        let begin = self.problem.ties.len();
        for (contact, most) in self.problem.contacts.drain(..).zip(most) {
            for (axis, most) in [f64::INFINITY, *most, *most].into_iter().enumerate() {
                self.problem.ties.push(BlockTie {
                    blocks: contact.blocks,
                    rows: contact.rows.map(|rows| rows[axis]),
                    target: contact.target[axis],
                    bounds: [-most, most],
                    softness: None,
                });
            }
        }
        begin
    }

    /// Impulses of the ties as they were solved last.
    pub fn tie_impulses(&self) -> &[f64] {
        self.solver.tie_impulses()
    }

    /// Remembers the impulses of the ties while others are solved for.
    pub fn keep_ties(&mut self) {
        self.tied.clear();
        self.tied.extend_from_slice(self.solver.tie_impulses());
    }

    /// Makes a body part of the equations if it is moved by them.
    fn take(&mut self, roster: &Roster, motion: &[Motion], free: &[Motion], actor: usize) {
        if !roster.actors[actor].is_dynamic() || self.block_of[actor].is_some() {
            return;
        }
        self.block_of[actor] = Some(self.problem.blocks.len());
        self.actor_of.push(actor);
        let inertia = &roster.actors[actor].inertia;
        let axes = DMat3::from_quat(motion[actor].q);
        let turned = |moments: DVec3| axes * DMat3::from_diagonal(moments) * axes.transpose();
        self.problem.blocks.push(Block::rigid(
            inertia.mass(),
            turned(inertia.large_moments()),
            turned(inertia.inverse_moments),
            free[actor].v,
            free[actor].omega,
        ));
    }

    /// Equations for contacts, with the velocities `free` that bodies have without them.
    pub fn pose(
        &mut self,
        roster: &Roster,
        motion: &[Motion],
        free: &[Motion],
        touches: &[Touch],
        wish: impl Fn(usize, &Touch) -> Wish,
    ) {
        self.block_of.clear();
        self.block_of.resize(motion.len(), None);
        self.actor_of.clear();
        self.problem.blocks.clear();
        self.problem.contacts.clear();
        self.problem.ties.clear();
        for (index, touch) in touches.iter().enumerate() {
            for actor in touch.actors {
                self.take(roster, motion, free, actor as usize);
            }
            let row = self.row(motion, touch, wish(index, touch));
            self.problem.contacts.push(row);
        }
    }

    fn row(&self, motion: &[Motion], touch: &Touch, wish: Wish) -> BlockContact {
        let mut rows = [[[DVec3::ZERO; 2]; 3]; 2];
        let mut target = DVec3::new(wish.normal, 0.0, 0.0);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let actor = touch.actors[side] as usize;
            if self.block_of[actor].is_none() {
                // Whoever no contact moves moves the target.
                target -= sign * (touch.frame.transpose() * motion[actor].velocity_at(touch.point));
                continue;
            }
            for (axis, row) in rows[side].iter_mut().enumerate() {
                let d = sign * touch.frame.col(axis);
                *row = [d, (touch.point - motion[actor].x).cross(d)];
            }
        }
        BlockContact {
            blocks: touch.actors.map(|actor| self.block_of[actor as usize]),
            rows,
            target,
            friction: wish.friction,
            stiffness: wish.stiffness,
        }
    }

    /// Starts from remembered forces held for a time.
    pub fn remember(&mut self, memory: &Memory, touches: &[Touch], time: f64) {
        self.impulse.clear();
        self.impulse
            .extend(touches.iter().map(|touch| time * (touch.frame.transpose() * remembered(memory, touch))));
    }

    /// Solves what was posed.
    pub fn solve(&mut self, settings: &BlockSettings) -> ForceReport {
        if let Ok(report) = self.solver.solve(&self.problem, settings, &mut self.impulse, &mut self.velocity)
        {
            return ForceReport {
                steps: report.steps,
                residual: report.residual,
                converged: report.converged,
                unbounded: false,
            };
        }
        // A body with numbers that are none; it will be quarantined.
        self.impulse.clear();
        self.impulse.resize(self.problem.contacts.len(), DVec3::ZERO);
        self.velocity.clear();
        self.velocity.extend(self.problem.blocks.iter().map(|block| block.free));
        ForceReport { residual: f64::INFINITY, ..ForceReport::default() }
    }

    /// The same by pivoting, with friction along t and k on their own. Contacts that slide at the start (`sliding`) keep sliding along t;
    /// those that would be turned round within the step stick instead.
    /// Ties are left to the other solver.
    pub fn solve_by_pivots(&mut self, mut sliding: Vec<bool>, settings: &BlockSettings) -> ForceReport {
        if !self.problem.ties.is_empty() {
            return self.solve(settings);
        }
        for _ in 0..sliding.len() {
            let report = self.pivot(&sliding, settings);
            let reversed: Vec<usize> = (0..sliding.len())
                .filter(|c| sliding[*c] && self.solved_velocity(&self.problem.contacts[*c], 1) < 0.0)
                .collect();
            if reversed.is_empty() || report.unbounded || !report.converged {
                return report;
            }
            for c in reversed {
                sliding[c] = false;
            }
        }
        self.pivot(&sliding, settings)
    }

    /// u of one row after the solution.
    fn solved_velocity(&self, contact: &BlockContact, axis: usize) -> f64 {
        let side = |side: usize| {
            let [v, omega] = self.velocity.get(contact.blocks[side]?)?;
            let [linear, angular] = contact.rows[side][axis];
            Some(linear.dot(*v) + angular.dot(*omega))
        };
        side(0).unwrap_or(0.0) + side(1).unwrap_or(0.0) - contact.target[axis]
    }

    /// Adds to the velocities u of all contacts: n, t, k.
    pub fn shift_targets(&mut self, more: &[DVec3]) {
        for (contact, more) in self.problem.contacts.iter_mut().zip(more) {
            contact.target -= *more;
        }
    }

    /// u = A p + b of what was posed, rows n, t, k of each contact.
    pub fn equations(&self) -> (SquareMatrix, Vec<f64>) {
        let contacts = &self.problem.contacts;
        let n = 3 * contacts.len();
        let mut a = SquareMatrix::zeros(n);
        let mut b = Vec::with_capacity(n);
        for (i, contact) in contacts.iter().enumerate() {
            b.extend((0..3).map(|axis| self.row_velocity(contact, axis) - contact.target[axis]));
            for (j, other) in contacts.iter().enumerate() {
                for (row, column) in (0..9).map(|k| (k / 3, k % 3)) {
                    a[(3 * i + row, 3 * j + column)] = self.coupling(contact, row, other, column);
                }
            }
        }
        (a, b)
    }

    /// Solves by pivots, with these contacts sliding along t.
    pub fn pivot(&mut self, sliding: &[bool], settings: &BlockSettings) -> ForceReport {
        let (a, b) = self.equations();
        let contacts = &self.problem.contacts;
        let kinds = contacts.iter().zip(sliding).map(|(contact, slides)| {
            let mu = contact.friction;
            let friction = if *slides { Friction::Dynamic([-mu, 0.0]) } else { Friction::Static([mu; 2]) };
            FrictionContact { friction }
        });
        let Ok(problem) = FrictionProblem::new(a, b, kinds.collect()) else { return self.solve(settings) };
        let found = baraff(&problem);
        if found.outcome != Outcome::Solved {
            // No finite force, or given up: the impulsive answer, which always exists.
            let unbounded = matches!(found.outcome, Outcome::Unbounded { .. });
            return ForceReport { unbounded, ..self.solve(settings) };
        }
        self.impulse = found.force.chunks_exact(3).map(DVec3::from_slice).collect();
        self.velocity = self.problem.blocks.iter().map(|block| block.free).collect();
        for (contact, p) in self.problem.contacts.iter().zip(&self.impulse) {
            for (side, block) in contact.blocks.iter().enumerate() {
                let Some(block) = block else { continue };
                let mass = &self.problem.blocks[*block].inverse_mass;
                for axis in 0..3 {
                    let [linear, angular] = contact.rows[side][axis];
                    self.velocity[*block][0] += mass[0] * (p[axis] * linear);
                    self.velocity[*block][1] += mass[1] * (p[axis] * angular);
                }
            }
        }
        let residual = problem.residual(&found.force);
        ForceReport { steps: found.iterations, residual, converged: true, unbounded: false }
    }

    fn row_velocity(&self, contact: &BlockContact, axis: usize) -> f64 {
        let side = |side: usize| {
            let block = &self.problem.blocks[contact.blocks[side]?];
            let [linear, angular] = contact.rows[side][axis];
            Some(linear.dot(block.free[0]) + angular.dot(block.free[1]))
        };
        side(0).unwrap_or(0.0) + side(1).unwrap_or(0.0)
    }

    /// What a unit impulse of another contact's axis does to a contact's.
    fn coupling(&self, one: &BlockContact, row: usize, other: &BlockContact, column: usize) -> f64 {
        let mut sum = 0.0;
        for (side, block) in one.blocks.iter().enumerate() {
            let Some(block) = block else { continue };
            for (opposite, shared) in other.blocks.iter().enumerate() {
                if *shared != Some(*block) {
                    continue;
                }
                let mass = &self.problem.blocks[*block].inverse_mass;
                let ([x, y], [v, w]) = (one.rows[side][row], other.rows[opposite][column]);
                sum += x.dot(mass[0] * v) + y.dot(mass[1] * w);
            }
        }
        sum
    }

    /// Body by body: actor and its velocities after the solution.
    pub fn solved(&self) -> impl Iterator<Item = (usize, [DVec3; 2])> + '_ {
        self.actor_of.iter().copied().zip(self.velocity.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, World};
    use rattleback_geometry::space::SpaceKind;
    use rattleback_geometry::{MassProperties, Shape};

    /// MC-6: the matrix of a random cluster is what unit impulses do to the velocities at all contacts, one by one.
    #[test]
    fn couplings_are_what_impulses_do() {
        let mut world = World::weightless();
        let mut number = 1.0_f64;
        let mut next = || {
            number = (number * 1.618_033_988_7 + 0.271).fract();
            2.0 * number - 1.0
        };
        let mut vector = || DVec3::new(next(), next(), next());
        for _ in 0..6 {
            let moments = DMat3::from_diagonal(DVec3::splat(0.4) + 0.2 * vector().abs());
            let mass = MassProperties::new(1.0, DVec3::ZERO, moments).unwrap();
            let body = Body::dynamic().position(vector()).mass_properties(mass);
            world.add_body(body.orientation(glam::DQuat::from_scaled_axis(vector()))).unwrap();
        }
        let shape = Shape::sphere(0.1).unwrap();
        let floor = world.add_body(Body::fixed().with_shape(shape)).unwrap();
        let shape = world.body(floor).unwrap().shapes()[0];
        let mut roster = Roster::new(SpaceKind::default());
        roster.sync(&world).unwrap();
        let motion: Vec<Motion> = world.iter_bodies().map(|body| *body.motion()).collect();
        let pairs = [[0, 1], [1, 2], [2, 0], [3, 6], [3, 4], [4, 5], [5, 0], [6, 1], [1, 2]];
        let touches: Vec<Touch> = pairs
            .iter()
            .map(|actors| {
                let n = vector().normalize();
                let t = n.any_orthonormal_vector();
                Touch {
                    name: ([shape; 2], [0; 2], 0),
                    pair: [0; 2],
                    actors: *actors,
                    point: vector(),
                    frame: DMat3::from_cols(n, t, n.cross(t)),
                    gap: 0.0,
                    tolerance: 0.0,
                    static_friction: 0.0,
                    kinetic_friction: 0.0,
                    restitution: 0.0,
                }
            })
            .collect();
        let mut forces = Forces::default();
        let wish = |_: usize, _: &Touch| Wish { normal: 0.0, friction: 0.0, stiffness: Stiffness::Rigid };
        forces.pose(&roster, &motion, &motion, &touches, wish);
        for (j, other) in touches.iter().enumerate() {
            for column in 0..3 {
                let impulse = other.frame.col(column);
                let mut struck = motion.clone();
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let actor = other.actors[side] as usize;
                    let inertia = &roster.actors[actor].inertia;
                    struck[actor].v += sign * inertia.inverse_mass * impulse;
                    let arm = other.point - motion[actor].x;
                    struck[actor].omega +=
                        inertia.angular_velocity(motion[actor].q, sign * arm.cross(impulse));
                }
                for (i, one) in touches.iter().enumerate() {
                    let change = one.relative_velocity(&struck) - one.relative_velocity(&motion);
                    for row in 0..3 {
                        let contacts = &forces.problem.contacts;
                        let found = forces.coupling(&contacts[i], row, &contacts[j], column);
                        assert!((found - change[row]).abs() < 1e-12, "{i} {row} {j} {column}");
                    }
                }
            }
        }
    }
}
