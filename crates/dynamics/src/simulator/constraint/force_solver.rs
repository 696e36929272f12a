//! Contact and joint impulses of an island, in one problem.
//!
//! With v* the velocities without constraints at the end of an interval h, impulses p = h F satisfy
//!
//!   M (v − v*) = Jᵀ p,   0 ≤ p_n ⟂ u_n + g/h ≥ 0,   |p_τ| ≤ μ p_n, opposite to the slip where u_τ ≠ 0,
//!
//! where u = J v are the relative velocities at the end, and g is the gap, or 0 for touching points. In terms
//! of accelerations, a_n h + u_n(0) ≥ −g/h: bodies at rest stay at rest, and velocity errors of earlier steps
//! do not accumulate (D. E. Stewart & J. C. Trinkle, *Int. J. Numer. Methods Eng.* 39 (1996)). μ is the
//! static coefficient for slow slip at the beginning, the kinetic one otherwise. Joint rows are J v = r with
//! bounds on their impulses, or soft.

use super::joint_rows::ConstraintRow;
use crate::collision::WorldMirror;
use crate::collision::{ManifoldPoint, WarmStartCache, warm_start_force};
use crate::rigid::Motion;
use crate::solver::rigid_block;
use glam::DVec3;
use rattleback_numerics::lcp::blocks::{
    BlockContact, BlockProblem, BlockSettings, BlockSolver, EqualityRow, Stiffness,
};
use rattleback_numerics::lcp::{Friction, FrictionContact, FrictionProblem, Outcome, SquareMatrix, baraff};

/// Convergence of a solution.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::simulator) struct ForceReport {
    /// Newton steps or pivots.
    pub steps: usize,
    /// Residual, m/s.
    pub residual: f64,
    pub converged: bool,
    /// Whether no finite force exists (Painlevé's paradox).
    pub unbounded: bool,
}

/// Assembles and solves contact problems, with reusable storage.
#[derive(Debug, Default)]
pub(in crate::simulator) struct ForceSolver {
    solver: BlockSolver,
    problem: BlockProblem,
    /// Block of each body in the present problem.
    block_of: Vec<Option<usize>>,
    /// Body of each block.
    body_of: Vec<usize>,
    /// Impulse of each point in its contact frame, N s.
    pub impulse: Vec<DVec3>,
    /// Impulses of the joint rows at the last [`store_row_impulses`](Self::store_row_impulses).
    pub stored_row_impulses: Vec<f64>,
    /// v and ω of each block.
    pub velocity: Vec<[DVec3; 2]>,
}

/// Right-hand side of a contact.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct ContactTarget {
    /// Least normal velocity, m/s.
    pub normal: f64,
    /// μ.
    pub friction: f64,
    pub stiffness: Stiffness,
}

/// Right-hand side of a joint row.
#[derive(Clone, Copy, Debug)]
pub(in crate::simulator) struct RowTarget {
    pub constraint: ConstraintRow,
    /// r in J v = r, m/s or rad/s.
    pub value: f64,
    /// Least and largest impulse.
    pub bounds: [f64; 2],
    /// ρ of a soft row p = −ρ (J v − r); `None` for a rigid one.
    pub softness: Option<f64>,
}

impl ForceSolver {
    /// Adds joint rows and their bodies to the equations.
    pub fn add_rows(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        free: &[Motion],
        row_targets: &[RowTarget],
    ) {
        for target in row_targets {
            let bodies =
                mirror.joints[target.constraint.joint].bodies.map(|body| body.map(|body| body as usize));
            for body in bodies.into_iter().flatten() {
                self.add_block(mirror, motion, free, body);
            }
            let mut row = EqualityRow {
                blocks: [None; 2],
                rows: [target.constraint.side(0), target.constraint.side(1)],
                target: target.value,
                bounds: target.bounds,
                softness: target.softness,
            };
            for (side, body) in bodies.into_iter().enumerate() {
                let Some(body) = body else { continue };
                row.blocks[side] = self.block_of[body];
                if self.block_of[body].is_none() {
                    let [linear, angular] = row.rows[side];
                    row.target -= linear.dot(motion[body].v) + angular.dot(motion[body].omega);
                }
            }
            self.problem.equalities.push(row);
        }
    }

    /// Adds rolling and spinning friction of points with these normal impulses, N s ⇒ whether there is any.
    ///
    /// A contact with the lever l resists relative rotation by a moment of at most l p_n: about the normal by
    /// its spinning, across it by its rolling lever. The points of a pair that share their normal share one set of rows; the
    /// first tangent is that of the present rotation, so that the moment of a rolling body has the full bound.
    pub fn add_rolling_friction(
        &mut self,
        motion: &[Motion],
        points: &[ManifoldPoint],
        normal_impulses: &[f64],
    ) -> bool {
        let before = self.problem.equalities.len();
        let mut first = 0;
        while first < points.len() {
            let point = &points[first];
            let n = point.normal();
            let same = |other: &ManifoldPoint| other.pair == point.pair && other.normal().dot(n) > 0.999;
            let count = points[first..].iter().take_while(|other| same(other)).count();
            let load: f64 = normal_impulses[first..first + count].iter().sum();
            first += count;
            let [rolling, spinning] = point.levers.map(|lever| lever * load.max(0.0));
            if rolling + spinning == 0.0 {
                continue;
            }
            let bodies = point.bodies.map(|body| body as usize);
            let omega = motion[bodies[1]].omega - motion[bodies[0]].omega;
            let across = omega - omega.dot(n) * n;
            let t = across.try_normalize().unwrap_or_else(|| n.any_orthonormal_vector());
            for (axis, most) in [(t, rolling), (n.cross(t), rolling), (n, spinning)] {
                if most == 0.0 {
                    continue;
                }
                let mut row = EqualityRow {
                    blocks: bodies.map(|body| self.block_of[body]),
                    rows: [[DVec3::ZERO, -axis], [DVec3::ZERO, axis]],
                    target: 0.0,
                    bounds: [-most, most],
                    softness: None,
                };
                for (side, body) in bodies.into_iter().enumerate() {
                    if row.blocks[side].is_none() {
                        row.target -= row.rows[side][1].dot(motion[body].omega);
                    }
                }
                self.problem.equalities.push(row);
            }
        }
        self.problem.equalities.len() > before
    }

    /// Removes the rows beyond the first `count`.
    pub fn truncate_rows(&mut self, count: usize) {
        self.problem.equalities.truncate(count);
    }

    /// Turns all contacts into rows: normals with any impulse, tangents with one up to `max_friction` ⇒ index
    /// of the first of these rows.
    pub fn make_bilateral(&mut self, max_friction: &[f64]) -> usize {
        let begin = self.problem.equalities.len();
        for (contact, most) in self.problem.contacts.drain(..).zip(max_friction) {
            for (axis, most) in [f64::INFINITY, *most, *most].into_iter().enumerate() {
                self.problem.equalities.push(EqualityRow {
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

    /// Impulses of the rows in the last solution.
    pub fn row_impulses(&self) -> &[f64] {
        self.solver.equality_impulses()
    }

    /// Keeps the impulses of the rows while other problems are solved.
    pub fn store_row_impulses(&mut self) {
        self.stored_row_impulses.clear();
        self.stored_row_impulses.extend_from_slice(self.solver.equality_impulses());
    }

    /// Adds a dynamic body to the equations, once.
    fn add_block(&mut self, mirror: &WorldMirror, motion: &[Motion], free: &[Motion], body: usize) {
        if !mirror.bodies[body].is_dynamic() || self.block_of[body].is_some() {
            return;
        }
        self.block_of[body] = Some(self.problem.blocks.len());
        self.body_of.push(body);
        let inertia = &mirror.bodies[body].inertia;
        self.problem.blocks.push(rigid_block(inertia, motion[body].q, [free[body].v, free[body].omega]));
    }

    /// Begins the equations with contacts; v* are the velocities of `free`, arms and inertia those at
    /// `motion`.
    pub fn assemble(
        &mut self,
        mirror: &WorldMirror,
        motion: &[Motion],
        free: &[Motion],
        points: &[ManifoldPoint],
        target: impl Fn(usize, &ManifoldPoint) -> ContactTarget,
    ) {
        self.block_of.clear();
        self.block_of.resize(motion.len(), None);
        self.body_of.clear();
        self.problem.blocks.clear();
        self.problem.contacts.clear();
        self.problem.equalities.clear();
        for (index, point) in points.iter().enumerate() {
            for body in point.bodies {
                self.add_block(mirror, motion, free, body as usize);
            }
            let row = self.row(motion, point, target(index, point));
            self.problem.contacts.push(row);
        }
    }

    fn row(&self, motion: &[Motion], point: &ManifoldPoint, target: ContactTarget) -> BlockContact {
        let mut rows = [[[DVec3::ZERO; 2]; 3]; 2];
        let mut right = DVec3::new(target.normal, 0.0, 0.0);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let body = point.bodies[side] as usize;
            if self.block_of[body].is_none() {
                // The known velocity of a body that is not dynamic goes to the right-hand side.
                right -= sign * (point.frame.transpose() * motion[body].velocity_at(point.position));
                continue;
            }
            for (axis, row) in rows[side].iter_mut().enumerate() {
                let d = sign * point.frame.col(axis);
                *row = [d, (point.position - motion[body].x).cross(d)];
            }
        }
        BlockContact {
            blocks: point.bodies.map(|body| self.block_of[body as usize]),
            rows,
            target: right,
            friction: target.friction,
            stiffness: target.stiffness,
        }
    }

    /// Starts with the cached forces acting for a time.
    pub fn warm_start(&mut self, cache: &WarmStartCache, points: &[ManifoldPoint], time: f64) {
        self.impulse.clear();
        self.impulse.extend(
            points.iter().map(|point| time * (point.frame.transpose() * warm_start_force(cache, point))),
        );
    }

    /// Solves the equations.
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
        // A state is not finite: no impulses; the world quarantines the body.
        self.impulse.clear();
        self.impulse.resize(self.problem.contacts.len(), DVec3::ZERO);
        self.velocity.clear();
        self.velocity.extend(self.problem.blocks.iter().map(|block| block.free));
        ForceReport { residual: f64::INFINITY, ..ForceReport::default() }
    }

    /// Solves by pivoting, with friction along t and k independently. Contacts that slide at the beginning
    /// (`sliding`) keep sliding along t; those whose slip would reverse within the interval stick instead.
    /// Problems with joint rows are solved by [`solve`](Self::solve).
    pub fn solve_by_pivots(&mut self, mut sliding: Vec<bool>, settings: &BlockSettings) -> ForceReport {
        if !self.problem.equalities.is_empty() {
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

    /// u of one axis of a contact after the solution.
    fn solved_velocity(&self, contact: &BlockContact, axis: usize) -> f64 {
        let side = |side: usize| {
            let [v, omega] = self.velocity.get(contact.blocks[side]?)?;
            let [linear, angular] = contact.rows[side][axis];
            Some(linear.dot(*v) + angular.dot(*omega))
        };
        side(0).unwrap_or(0.0) + side(1).unwrap_or(0.0) - contact.target[axis]
    }

    /// Adds to u of all contacts, along n, t, k.
    pub fn shift_targets(&mut self, more: &[DVec3]) {
        for (contact, more) in self.problem.contacts.iter_mut().zip(more) {
            contact.target -= *more;
        }
    }

    /// A and b in u = A p + b, rows n, t, k of each contact.
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
            // No finite force, or too many pivots: the impulsive solution exists always.
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

    /// J v* of one axis of a contact.
    fn row_velocity(&self, contact: &BlockContact, axis: usize) -> f64 {
        let side = |side: usize| {
            let block = &self.problem.blocks[contact.blocks[side]?];
            let [linear, angular] = contact.rows[side][axis];
            Some(linear.dot(block.free[0]) + angular.dot(block.free[1]))
        };
        side(0).unwrap_or(0.0) + side(1).unwrap_or(0.0)
    }

    /// Entry of A: change of u along an axis of one contact per unit impulse along an axis of another.
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

    /// Bodies with their v and ω in the solution.
    pub fn velocities(&self) -> impl Iterator<Item = (usize, [DVec3; 2])> + '_ {
        self.body_of.iter().copied().zip(self.velocity.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, World};
    use glam::DMat3;
    use rattleback_geometry::space::SpaceKind;
    use rattleback_geometry::{MassProperties, Shape};

    /// MC-6: the entries of A for a random cluster are the velocity changes by unit impulses, applied one by
    /// one.
    #[test]
    fn couplings_are_velocity_changes_by_unit_impulses() {
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
        let mut mirror = WorldMirror::new(SpaceKind::default());
        mirror.sync(&world).unwrap();
        let motion: Vec<Motion> = world.iter_bodies().map(|body| *body.motion()).collect();
        let pairs = [[0, 1], [1, 2], [2, 0], [3, 6], [3, 4], [4, 5], [5, 0], [6, 1], [1, 2]];
        let points: Vec<ManifoldPoint> = pairs
            .iter()
            .map(|bodies| {
                let n = vector().normalize();
                let t = n.any_orthonormal_vector();
                ManifoldPoint {
                    key: ([shape; 2], [0; 2], 0),
                    pair: [0; 2],
                    bodies: *bodies,
                    position: vector(),
                    frame: DMat3::from_cols(n, t, n.cross(t)),
                    gap: 0.0,
                    tolerance: 0.0,
                    static_friction: 0.0,
                    kinetic_friction: 0.0,
                    restitution: 0.0,
                    levers: [0.0; 2],
                    model: crate::world::ContactModel::Simulator,
                }
            })
            .collect();
        let mut forces = ForceSolver::default();
        let target = |_: usize, _: &ManifoldPoint| ContactTarget {
            normal: 0.0,
            friction: 0.0,
            stiffness: Stiffness::Rigid,
        };
        forces.assemble(&mirror, &motion, &motion, &points, target);
        for (j, other) in points.iter().enumerate() {
            for column in 0..3 {
                let impulse = other.frame.col(column);
                let mut struck = motion.clone();
                for (side, sign) in [(0, -1.0), (1, 1.0)] {
                    let body = other.bodies[side] as usize;
                    let inertia = &mirror.bodies[body].inertia;
                    struck[body].v += sign * inertia.inverse_mass * impulse;
                    let arm = other.position - motion[body].x;
                    struck[body].omega += inertia.angular_velocity(motion[body].q, sign * arm.cross(impulse));
                }
                for (i, one) in points.iter().enumerate() {
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
