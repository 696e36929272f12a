//! The method of multipliers with Newton's method inside; see the derivation in [the module](super).

use super::envelope::Envelope;
use super::problem::{Block, BlockContact, BlockError, BlockProblem, EqualityRow, Stiffness};
use super::sweep::Sweeper;
use glam::{DMat3, DVec2, DVec3};

/// Initial ρ, as a multiple of the effective mass of a contact.
const FIRST_FACTOR: f64 = 100.0;

/// Updates without progress after which the iteration ends.
const STALLED: usize = 15;

/// A warm start whose optimal scale is below this is scaled by it; others are used as they are.
const RESCALE_BELOW: f64 = 0.25;

/// Updates of the friction radius before Aitken's acceleration starts.
const PLAIN_UPDATES: usize = 8;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSettings {
    /// Largest residual, as a velocity, for velocities below 0.1 in the unit of v; proportionally more above.
    /// Default 1e-12.
    pub tolerance: f64,
    /// Most updates of the multipliers. Default 80.
    pub updates: usize,
    /// Most Newton steps for each. Default 40.
    pub steps: usize,
    /// Newton steps in all after which no more updates are made. Default 3200.
    pub all_steps: usize,
    /// Most sweeps of Gauss–Seidel before Newton begins. Default 0.
    pub sweeps: usize,
    /// Largest ρ, as a multiple of the effective mass of a contact. Default 1e5.
    pub penalty: f64,
    /// Whether a warm start that did not converge is followed by a cold start. Default true.
    pub restart: bool,
}

impl Default for BlockSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            updates: 80,
            steps: 40,
            all_steps: 3200,
            sweeps: 0,
            penalty: 1e5,
            restart: true,
        }
    }
}

/// Convergence of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockReport {
    /// Updates of the multipliers.
    pub updates: usize,
    /// Newton steps, each with a factorisation.
    pub steps: usize,
    /// Residual of the conditions, as a velocity.
    pub residual: f64,
    /// Whether that is within the tolerance.
    pub converged: bool,
}

/// Solver for block problems; keeps its allocations between problems.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use rattleback_numerics::lcp::blocks::*;
/// // A particle of 2 kg that would fall with 1 m/s, on a floor.
/// let mass = DMat3::from_diagonal(DVec3::splat(2.0));
/// let block = Block { mass: [mass; 2], inverse_mass: [mass.inverse(); 2], free: [DVec3::NEG_Z, DVec3::ZERO] };
/// let zero = [DVec3::ZERO; 2];
/// let rows = [[[DVec3::Z, DVec3::ZERO], [DVec3::X, DVec3::ZERO], [DVec3::Y, DVec3::ZERO]], [zero; 3]];
/// let contact = BlockContact {
///     blocks: [Some(0), None], rows, target: DVec3::ZERO, friction: 0.5, stiffness: Stiffness::Rigid,
/// };
/// let problem = BlockProblem { blocks: vec![block], contacts: vec![contact], ..BlockProblem::default() };
/// let (mut impulse, mut velocity) = (vec![DVec3::ZERO], Vec::new());
/// let report = BlockSolver::default().solve(&problem, &BlockSettings::default(), &mut impulse, &mut velocity)?;
/// assert!(report.converged && (impulse[0].x - 2.0).abs() < 1e-11 && velocity[0][0].length() < 1e-11);
/// # Ok::<(), BlockError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockSolver {
    envelope: Envelope,
    sweeper: Sweeper,
    /// Effective mass of each contact, along the normal and the tangents; for soft contacts their ρ.
    felt: Vec<[f64; 2]>,
    /// ρ of rigid contacts as a multiple of that.
    factor: f64,
    /// Impulses of the equality rows, their ρ, and the impulses of the best iterate.
    equalities: Vec<f64>,
    equality_rho: Vec<f64>,
    best_equalities: Vec<f64>,
    /// μ p_n of the last update.
    radius: Vec<f64>,
    /// Its residual d, and ω.
    misses: Vec<f64>,
    share: f64,
    gradient: Vec<[DVec3; 2]>,
    step: Vec<f64>,
    steps: Vec<[DVec3; 2]>,
    work: Vec<f64>,
    trial: Vec<[DVec3; 2]>,
}

/// Π(z) and its slope.
struct Projection {
    p: DVec3,
    normal: f64,
    /// Slope of the tangents, in units of ρ_τ.
    tangent: [f64; 3],
}

impl BlockSolver {
    /// (problem, settings, impulses of a similar problem to start from or zeros) ⇒ impulses (n, t, k) and
    /// velocities.
    pub fn solve(
        &mut self,
        problem: &BlockProblem,
        settings: &BlockSettings,
        impulse: &mut Vec<DVec3>,
        velocity: &mut Vec<[DVec3; 2]>,
    ) -> Result<BlockReport, BlockError> {
        problem.check()?;
        impulse.resize(problem.contacts.len(), DVec3::ZERO);
        impulse.iter_mut().filter(|p| !p.is_finite()).for_each(|p| *p = DVec3::ZERO);
        self.equalities.clear();
        self.equalities.resize(problem.equalities.len(), 0.0);
        self.prepare(problem, settings);
        for ((p, contact), felt) in impulse.iter_mut().zip(&problem.contacts).zip(&self.felt) {
            // Contacts between immovable blocks have no impulse; soft contacts have no multiplier.
            if felt[0] == 0.0 || contact.stiffness != Stiffness::Rigid {
                *p = DVec3::ZERO;
            }
            p.x = p.x.max(0.0);
            let tangent = clamped(DVec2::new(p.y, p.z), contact.friction * p.x);
            (p.y, p.z) = (tangent.x, tangent.y);
        }
        self.momentum_to_velocity(problem, impulse, velocity);
        let mut report =
            BlockReport { residual: self.residual(problem, impulse, velocity), ..BlockReport::default() };
        let tolerance = Self::tolerance(problem, settings);
        // A warm start that solves the problem to rounding is returned as it is.
        if report.residual > 4.0 * tolerance {
            if settings.sweeps > 0 {
                self.check_start(problem, impulse, velocity);
                self.sweeper.take(problem);
                self.sweeper.sweep(settings.sweeps, tolerance, impulse, velocity);
            }
            let warm = impulse.iter().any(|p| *p != DVec3::ZERO);
            report.residual = self.residual(problem, impulse, velocity);
            if settings.updates > 0 {
                self.run(problem, settings, impulse, velocity, &mut report);
            }
            if report.residual > tolerance && warm && settings.restart {
                self.start_again(problem, settings, impulse, velocity, &mut report);
            }
        }
        report.converged = report.residual <= 4.0 * tolerance;
        Ok(report)
    }

    /// Solves again from a cold start: a warm start that fits only in part can be worse than none.
    fn start_again(
        &mut self,
        problem: &BlockProblem,
        settings: &BlockSettings,
        impulse: &mut [DVec3],
        velocity: &mut Vec<[DVec3; 2]>,
        report: &mut BlockReport,
    ) {
        let (before, equalities, residual) = (impulse.to_vec(), self.equalities.clone(), report.residual);
        impulse.fill(DVec3::ZERO);
        self.equalities.fill(0.0);
        self.momentum_to_velocity(problem, impulse, velocity);
        let mut again = BlockReport::default();
        self.run(problem, settings, impulse, velocity, &mut again);
        report.updates += again.updates;
        report.steps += again.steps;
        report.residual = again.residual;
        if again.residual > residual {
            impulse.copy_from_slice(&before);
            self.equalities = equalities;
            self.momentum_to_velocity(problem, impulse, velocity);
            report.residual = residual;
        }
    }

    /// Attainable tolerance: rounding grows with the velocities.
    fn tolerance(problem: &BlockProblem, settings: &BlockSettings) -> f64 {
        let fastest = problem.blocks.iter().flat_map(|block| block.free).map(|v| v.abs().max_element());
        let targets = problem.contacts.iter().map(|contact| contact.target.abs().max_element());
        let held = problem.equalities.iter().map(|equality| equality.target.abs());
        settings.tolerance * (1.0 + 10.0 * fastest.chain(targets).chain(held).fold(0.0, f64::max))
    }

    /// Impulses of the equality rows of the last solve.
    pub fn equality_impulses(&self) -> &[f64] {
        &self.equalities
    }

    fn prepare(&mut self, problem: &BlockProblem, settings: &BlockSettings) {
        self.equality_rho.clear();
        self.equality_rho.extend(problem.equalities.iter().map(|equality| {
            let k = equality.compliance(&problem.blocks);
            equality.softness.unwrap_or(if k > 0.0 { settings.penalty / k } else { 0.0 })
        }));
        self.felt.clear();
        for contact in &problem.contacts {
            self.felt.push(match contact.stiffness {
                Stiffness::Soft(rho) => rho,
                Stiffness::Rigid => {
                    let k = contact.compliance(&problem.blocks);
                    let of = |k: f64| if k > 0.0 { 1.0 / k } else { 0.0 };
                    [of(k.x), of(k.y.max(k.z))]
                }
            });
        }
    }

    /// ρ of a contact, for the normal and the tangents.
    fn rho(&self, problem: &BlockProblem, c: usize) -> [f64; 2] {
        match problem.contacts[c].stiffness {
            Stiffness::Soft(rho) => rho,
            Stiffness::Rigid => self.felt[c].map(|felt| self.factor * felt),
        }
    }

    fn run(
        &mut self,
        problem: &BlockProblem,
        settings: &BlockSettings,
        impulse: &mut [DVec3],
        velocity: &mut Vec<[DVec3; 2]>,
        report: &mut BlockReport,
    ) {
        let blocks = problem.contacts.iter().map(|contact| contact.blocks);
        let pairs: Vec<[usize; 2]> = blocks
            .chain(problem.equalities.iter().map(|equality| equality.blocks))
            .filter_map(|blocks| Some([blocks[0]?, blocks[1]?]))
            .collect();
        self.envelope.arrange(problem.blocks.len(), &pairs);
        let tolerance = Self::tolerance(problem, settings);
        let mut best = (self.residual(problem, impulse, velocity), impulse.to_vec());
        self.best_equalities.clone_from(&self.equalities);
        report.residual = best.0;
        self.factor = FIRST_FACTOR.min(settings.penalty);
        let mut ceiling = settings.penalty;
        let (mut patience, mut mark) = (STALLED, report.residual);
        let more = |report: &BlockReport| {
            report.updates < settings.updates
                && report.steps < settings.all_steps
                && report.residual > tolerance
        };
        while more(report) && patience > 0 {
            report.updates += 1;
            self.take_radius(problem, impulse, report.updates);
            let close = (0.01 * report.residual).min(1.0).max(0.1 * tolerance);
            patience -= 1;
            if !self.minimise(problem, settings.steps, close, impulse, velocity, report) {
                if self.factor <= 1.0 {
                    break;
                }
                // Too stiff for this start: ψ has nearly a corner there, at which Newton's method zigzags.
                ceiling = 0.3 * self.factor;
                self.factor *= 0.1;
                self.momentum_to_velocity(problem, impulse, velocity);
                continue;
            }
            let projected: Vec<DVec3> =
                (0..impulse.len()).map(|c| self.project(problem, impulse, velocity, c).p).collect();
            impulse.copy_from_slice(&projected);
            for (equality, row) in problem.equalities.iter().enumerate() {
                self.equalities[equality] = self.equality_impulse(row, equality, velocity).0;
            }
            self.momentum_to_velocity(problem, impulse, velocity);
            let before = report.residual;
            report.residual = self.residual(problem, impulse, velocity);
            if report.residual < best.0 {
                best = (report.residual, projected);
                self.best_equalities.clone_from(&self.equalities);
            }
            if best.0 < 0.5 * mark {
                (patience, mark) = (STALLED, best.0);
            }
            ceiling = (1.5 * ceiling).min(settings.penalty);
            if report.residual > 0.3 * before {
                self.factor = (5.0 * self.factor).min(ceiling);
            }
        }
        impulse.copy_from_slice(&best.1);
        self.equalities.clone_from(&self.best_equalities);
        self.momentum_to_velocity(problem, impulse, velocity);
        report.residual = best.0;
    }

    /// The radius of friction from the normal impulses. Both depend on each other; convergence is accelerated
    /// by Aitken: with d = μp_n − r, r ← r + ω d, ω ← −ω d_before·(d − d_before)/|d − d_before|².
    fn take_radius(&mut self, problem: &BlockProblem, impulse: &[DVec3], update: usize) {
        let wanted = |c: usize| problem.contacts[c].friction * impulse[c].x;
        if update == 1 {
            self.radius.clear();
            self.radius.extend((0..impulse.len()).map(wanted));
            self.misses.clear();
            self.share = 1.0;
            return;
        }
        let misses: Vec<f64> = (0..impulse.len()).map(|c| wanted(c) - self.radius[c]).collect();
        if update > PLAIN_UPDATES && self.misses.len() == misses.len() {
            let (mut along, mut square) = (0.0, 0.0);
            for (now, before) in misses.iter().zip(&self.misses) {
                along += before * (now - before);
                square += (now - before) * (now - before);
            }
            if square > 0.0 {
                self.share = (-self.share * along / square).clamp(0.2, 4.0);
            }
        }
        for (radius, miss) in self.radius.iter_mut().zip(&misses) {
            *radius = (*radius + self.share * miss).max(0.0);
        }
        self.misses = misses;
    }

    /// Multiplier of a contact; none for a soft one.
    fn multiplier(contact: &BlockContact, p: DVec3) -> DVec3 {
        if contact.stiffness == Stiffness::Rigid { p } else { DVec3::ZERO }
    }

    fn project(
        &self,
        problem: &BlockProblem,
        impulse: &[DVec3],
        velocity: &[[DVec3; 2]],
        c: usize,
    ) -> Projection {
        let contact = &problem.contacts[c];
        let u = contact.rows_times(velocity) - contact.target;
        let [rho_n, rho_t] = self.rho(problem, c);
        let z = Self::multiplier(contact, impulse[c]) - DVec3::new(rho_n * u.x, rho_t * u.y, rho_t * u.z);
        let radius = self.radius[c];
        let tangent = DVec2::new(z.y, z.z);
        let length = tangent.length();
        let (held, slope) = if length <= radius {
            (tangent, [1.0, 0.0, 1.0])
        } else if radius > 0.0 {
            let d = tangent / length;
            let s = radius / length;
            (radius * d, [s * (1.0 - d.x * d.x), -s * d.x * d.y, s * (1.0 - d.y * d.y)])
        } else {
            (DVec2::ZERO, [0.0; 3])
        };
        let normal = f64::from(z.x > 0.0);
        Projection { p: DVec3::new(z.x.max(0.0), held.x, held.y), normal, tangent: slope }
    }

    /// Impulse of an equality row at these velocities, and ρ if it is within its bounds.
    fn equality_impulse(&self, equality: &EqualityRow, index: usize, velocity: &[[DVec3; 2]]) -> (f64, f64) {
        let start = if equality.softness.is_none() { self.equalities[index] } else { 0.0 };
        let wanted = start - self.equality_rho[index] * (equality.row_times(velocity) - equality.target);
        let p = equality.bounded(wanted);
        (p, if p == wanted { self.equality_rho[index] } else { 0.0 })
    }

    /// Newton's method on ψ from `velocity` until impulses and velocities agree to within `close` ⇒ whether
    /// it converged.
    fn minimise(
        &mut self,
        problem: &BlockProblem,
        steps: usize,
        close: f64,
        impulse: &[DVec3],
        velocity: &mut Vec<[DVec3; 2]>,
        report: &mut BlockReport,
    ) -> bool {
        let mut shortest = f64::INFINITY;
        for step in 0..=steps {
            self.assemble(problem, impulse, velocity);
            let miss = self.disagreement(problem);
            // A residual that no longer falls after many steps is rounding.
            if miss <= close || step > 5 && miss <= 100.0 * close && miss >= 0.5 * shortest {
                return true;
            }
            shortest = shortest.min(miss);
            if step == steps || !self.envelope.factor() {
                break;
            }
            report.steps += 1;
            self.step.clear();
            self.step.extend(self.gradient.iter().flatten().flat_map(DVec3::to_array).map(|g| -g));
            self.envelope.solve(&mut self.step, &mut self.work);
            let length = self.length(problem, impulse, velocity);
            self.place_trial(velocity, length);
            std::mem::swap(velocity, &mut self.trial);
        }
        false
    }

    /// |M⁻¹ ∇ψ|: residual of v = v* + M⁻¹ Jᵀ Π.
    fn disagreement(&self, problem: &BlockProblem) -> f64 {
        let miss = problem.blocks.iter().zip(&self.gradient).flat_map(|(block, g)| {
            [block.inverse_mass[0] * g[0], block.inverse_mass[1] * g[1]].map(|miss| miss.abs().max_element())
        });
        miss.fold(0.0, f64::max)
    }

    /// How far to go along the step: ψ falls as long as its slope there is negative; the whole step if it
    /// still is at its end.
    fn length(&mut self, problem: &BlockProblem, impulse: &[DVec3], velocity: &[[DVec3; 2]]) -> f64 {
        let first = self.slope(problem, impulse, velocity, 0.0);
        let last = self.slope(problem, impulse, velocity, 1.0);
        if first >= 0.0 || last <= 0.1 * first.abs() {
            return 1.0;
        }
        let (mut low, mut high) = ((0.0, first), (1.0, last));
        for _ in 0..12 {
            // The slope is monotone: between a secant and the middle.
            let secant = low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1);
            let middle = 0.5 * (low.0 + high.0);
            let length = 0.5 * (secant + middle);
            let slope = self.slope(problem, impulse, velocity, length);
            if slope.abs() <= 0.1 * first.abs() {
                return length;
            }
            if slope < 0.0 { low = (length, slope) } else { high = (length, slope) }
        }
        if low.0 > 0.0 { low.0 } else { high.0 }
    }

    fn place_trial(&mut self, velocity: &[[DVec3; 2]], length: f64) {
        self.trial.clear();
        for (v, s) in velocity.iter().zip(self.step.chunks_exact(6)) {
            self.trial.push([
                v[0] + length * DVec3::new(s[0], s[1], s[2]),
                v[1] + length * DVec3::new(s[3], s[4], s[5]),
            ]);
        }
    }

    /// Slope of ψ along the step, some length along it.
    fn slope(
        &mut self,
        problem: &BlockProblem,
        impulse: &[DVec3],
        velocity: &[[DVec3; 2]],
        length: f64,
    ) -> f64 {
        self.place_trial(velocity, length);
        let mut sum = 0.0;
        let mut steps = std::mem::take(&mut self.steps);
        steps.clear();
        let vectors = |s: &[f64]| [DVec3::new(s[0], s[1], s[2]), DVec3::new(s[3], s[4], s[5])];
        steps.extend(self.step.chunks_exact(6).map(vectors));
        for ((block, v), step) in problem.blocks.iter().zip(&self.trial).zip(&steps) {
            for part in 0..2 {
                sum += step[part].dot(block.mass[part] * (v[part] - block.free[part]));
            }
        }
        for (c, contact) in problem.contacts.iter().enumerate() {
            sum -= self.project(problem, impulse, &self.trial, c).p.dot(contact.rows_times(&steps));
        }
        for (index, equality) in problem.equalities.iter().enumerate() {
            sum -= self.equality_impulse(equality, index, &self.trial).0 * equality.row_times(&steps);
        }
        self.steps = steps;
        sum
    }

    /// The gradient of ψ and its matrix.
    fn assemble(&mut self, problem: &BlockProblem, impulse: &[DVec3], velocity: &[[DVec3; 2]]) {
        self.envelope.clear();
        self.gradient.clear();
        for (block, v) in problem.blocks.iter().zip(velocity) {
            self.gradient
                .push([block.mass[0] * (v[0] - block.free[0]), block.mass[1] * (v[1] - block.free[1])]);
        }
        self.envelope.add_masses(&problem.blocks);
        for c in 0..problem.contacts.len() {
            let projection = self.project(problem, impulse, velocity, c);
            let contact = &problem.contacts[c];
            for (side, block) in contact.blocks.iter().enumerate() {
                let Some(block) = block else { continue };
                let push = contact.push(side, projection.p);
                self.gradient[*block][0] -= push[0];
                self.gradient[*block][1] -= push[1];
            }
            self.add_slope(contact, &projection, self.rho(problem, c));
        }
        for (index, equality) in problem.equalities.iter().enumerate() {
            let (p, rho) = self.equality_impulse(equality, index, velocity);
            for (block, row) in equality.blocks.iter().zip(&equality.rows) {
                let Some(block) = block else { continue };
                self.gradient[*block][0] -= p * row[0];
                self.gradient[*block][1] -= p * row[1];
            }
            if rho > 0.0 {
                self.envelope.add_square(&equality.blocks, &equality.rows, rho);
            }
        }
    }

    /// H += Jᵀ D J of one contact.
    fn add_slope(&mut self, contact: &BlockContact, projection: &Projection, rho: [f64; 2]) {
        let [tt, tk, kk] = projection.tangent.map(|s| s * rho[1]);
        let nn = projection.normal * rho[0];
        if nn == 0.0 && tt == 0.0 && kk == 0.0 {
            return;
        }
        let flat = contact.rows.map(|rows| rows.map(|[v, w]| [v.x, v.y, v.z, w.x, w.y, w.z]));
        let block = |[n, t, k]: &[[f64; 6]; 3], [x, y, z]: &[[f64; 6]; 3]| -> [[f64; 6]; 6] {
            std::array::from_fn(|i| {
                let (n, t, k) = (nn * n[i], tt * t[i] + tk * k[i], tk * t[i] + kk * k[i]);
                std::array::from_fn(|j| n * x[j] + t * y[j] + k * z[j])
            })
        };
        for (side, index) in contact.blocks.iter().enumerate() {
            if let Some(index) = index {
                self.envelope.add_block(*index, *index, &block(&flat[side], &flat[side]));
            }
        }
        if let [Some(a), Some(b)] = contact.blocks {
            if self.envelope.is_after(a, b) {
                self.envelope.add_block(a, b, &block(&flat[0], &flat[1]));
            } else {
                self.envelope.add_block(b, a, &block(&flat[1], &flat[0]));
            }
        }
    }

    /// Residual as a velocity: of p = Π(p − u/K), K the diagonal of J M⁻¹ Jᵀ; for soft contacts of p = −ρ u.
    fn residual(&self, problem: &BlockProblem, impulse: &[DVec3], velocity: &[[DVec3; 2]]) -> f64 {
        let mut worst = 0.0_f64;
        for (equality, p) in problem.equalities.iter().zip(&self.equalities) {
            let u = equality.row_times(velocity) - equality.target;
            let k = equality.compliance(&problem.blocks);
            if k > 0.0 {
                let wanted = equality.softness.map_or(*p - u / k, |rho| -rho * u);
                worst = worst.max((*p - equality.bounded(wanted)).abs() * k);
            }
        }
        for (contact, p) in problem.contacts.iter().zip(impulse) {
            let u = contact.rows_times(velocity) - contact.target;
            let k = contact.compliance(&problem.blocks);
            let k = DVec3::new(k.x, k.y.max(k.z), k.y.max(k.z));
            let z = match contact.stiffness {
                Stiffness::Rigid => {
                    *p - DVec3::from_array([0, 1, 2].map(|i| if k[i] > 0.0 { u[i] / k[i] } else { 0.0 }))
                }
                Stiffness::Soft([n, t]) => -DVec3::new(n * u.x, t * u.y, t * u.z),
            };
            let tangent = clamped(DVec2::new(z.y, z.z), contact.friction * p.x.max(0.0));
            let miss = (*p - DVec3::new(z.x.max(0.0), tangent.x, tangent.y)) * k;
            worst = worst.max(miss.abs().max_element());
        }
        worst
    }

    /// Scales down a warm start p⁰ that is far too large, with its velocities. Without friction the impulses
    /// minimise ½|v|²_M; along p⁰ the minimum is at s p⁰ with s = −b·p⁰/(p⁰·A p⁰), b = J v* − t.
    fn check_start(&self, problem: &BlockProblem, impulse: &mut [DVec3], velocity: &mut Vec<[DVec3; 2]>) {
        let (mut with, mut without) = (0.0, 0.0);
        let free: Vec<[DVec3; 2]> = problem.blocks.iter().map(|block| block.free).collect();
        for (contact, p) in problem.contacts.iter().zip(&*impulse) {
            if *p != DVec3::ZERO {
                with += p.dot(contact.rows_times(velocity) - contact.target);
                without += p.dot(contact.rows_times(&free) - contact.target);
            }
        }
        let share = (-without / (with - without)).max(0.0);
        if share < RESCALE_BELOW {
            for p in impulse.iter_mut() {
                *p *= share;
            }
            self.momentum_to_velocity(problem, impulse, velocity);
        }
    }

    /// v = v* + M⁻¹ Jᵀ p.
    fn momentum_to_velocity(
        &self,
        problem: &BlockProblem,
        impulse: &[DVec3],
        velocity: &mut Vec<[DVec3; 2]>,
    ) {
        let mut pushes = vec![[DVec3::ZERO; 2]; problem.blocks.len()];
        for (contact, p) in problem.contacts.iter().zip(impulse) {
            for (side, block) in contact.blocks.iter().enumerate() {
                let Some(block) = block else { continue };
                let push = contact.push(side, *p);
                pushes[*block][0] += push[0];
                pushes[*block][1] += push[1];
            }
        }
        for (equality, p) in problem.equalities.iter().zip(&self.equalities) {
            for (block, row) in equality.blocks.iter().zip(&equality.rows) {
                let Some(block) = block else { continue };
                pushes[*block][0] += *p * row[0];
                pushes[*block][1] += *p * row[1];
            }
        }
        velocity.clear();
        velocity.extend(problem.blocks.iter().zip(pushes).map(|(block, push)| {
            let mut v = block.free;
            apply(block, &mut v, push);
            v
        }));
    }
}

/// v += M⁻¹ push.
fn apply(block: &Block, velocity: &mut [DVec3; 2], push: [DVec3; 2]) {
    velocity[0] += block.inverse_mass[0] * push[0];
    velocity[1] += block.inverse_mass[1] * push[1];
}

fn clamped(v: DVec2, radius: f64) -> DVec2 {
    let length = v.length();
    if length <= radius { v } else { v * (radius / length) }
}

/// Mass matrix and its inverse of a rigid body, for a block.
impl Block {
    /// (m, inertia tensor, its inverse, v*, ω*) ⇒ block.
    pub fn rigid(mass: f64, inertia: DMat3, inverse_inertia: DMat3, v: DVec3, omega: DVec3) -> Self {
        Self {
            mass: [DMat3::from_diagonal(DVec3::splat(mass)), inertia],
            inverse_mass: [DMat3::from_diagonal(DVec3::splat(1.0 / mass)), inverse_inertia],
            free: [v, omega],
        }
    }
}
