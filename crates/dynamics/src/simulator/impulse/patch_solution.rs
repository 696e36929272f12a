//! Closed forms for contact patches of which is known, or found by trial, which points stick and which slide.
//!
//! In the contact frame, with z along the normal, positions rᵢ from the mean of the points, and the centres of mass of
//! both bodies at c_k, the second body moves against the first with uᵢ = V + Ω × rᵢ. Impulses pᵢ on the second body and −pᵢ on the
//! first change that by
//!
//!   ΔΩ = Σ_k J_k (L − c_k × P),   ΔV = Σ_k P/m_k − J_k (L − c_k × P) × c_k,   P = Σ pᵢ, L = Σ rᵢ × pᵢ, J = I⁻¹,
//!
//! without the terms of a body that impulses do not move.
//!
//! **All points stick.** Three points or more end all relative motion: P and L are those with ΔV = −V and ΔΩ = −Ω. Of all
//! impulses with these sums, the smallest are pᵢ = P/n + θ × rᵢ, θ = S⁻¹ L, S = Σ |r|² − r rᵀ. Two points at ± h e leave
//! the rotation about e: with L across e,
//!
//!   ΔV = −½ (u₁ + u₂),   (Ω + ΔΩ) × e = 0,   Ω × e = (u₁ − u₂)/2h,
//!
//! where the first equation gives P for any L, and the second is two equations for the two components of L. Then pᵢ = ½ P
//! ± L × e / 2h.
//!
//! **All points slide**, in the directions qᵢ: pᵢ = λᵢ tᵢ, tᵢ = z − μ qᵢ. They end all approach if V_z = Ω_x = Ω_y = 0
//! afterwards (two points: if both normal velocities are 0), a linear system for the λᵢ; of the solutions for more than three
//! points the smallest.
//!
//! **Some stick, some slide** in known directions: a linear system for the three components at each point that sticks
//! and the λᵢ of the others, where superfluous unknowns are 0.
//!
//! Points that separate, or at which pₙ < 0, are left out. A result counts if it fulfils
//! Coulomb's law at every point: pₙ ≥ 0, |p_t| ≤ μ pₙ, slip along qᵢ, and no approach of those left out. Otherwise
//! `contact_patch` solves the problem by sweeps.

use super::tuning::{PATCH_DIRECT, PATCH_DIRECTIONS};
use glam::{DMat2, DMat3, DVec2, DVec3};
use rattleback_geometry::contact::MAX_POINTS;

pub(super) type Vectors = [DVec3; MAX_POINTS];

/// Body of a patch, in the contact frame; a body that impulses do not move has the response 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PatchBody {
    pub inverse_mass: f64,
    pub inverse_inertia: DMat3,
    /// Centre of mass, from the mean of the points, m.
    pub center: DVec3,
}

/// Contact points from their mean, m, and both bodies, in the contact frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatchResponse {
    pub count: usize,
    pub points: Vectors,
    pub bodies: [PatchBody; 2],
    pub friction: f64,
}

/// Velocity field of a rigid body: at the mean of the points, and its rotation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Twist {
    pub linear: DVec3,
    pub angular: DVec3,
}

/// Outcome of a closed form.
enum Trial {
    /// Impulses, and velocities with them.
    Solved(Vectors, Vectors),
    /// These points would be pulled.
    Pulled([bool; MAX_POINTS]),
    Failed,
}

impl PatchResponse {
    /// (velocities at the points, their rigid field, directions of slip where they are known: none for points that do not
    /// slide) ⇒ impulses that end all approach, and the velocities with them; none if there is no closed form.
    pub fn solve(
        &self,
        u: &Vectors,
        field: &Twist,
        slides: Option<&[Option<DVec2>; MAX_POINTS]>,
    ) -> Option<(Vectors, Vectors)> {
        // First the points that approach; then those that others make approach are added, and those that would be pulled
        // left out.
        let mut touches: [bool; MAX_POINTS] = std::array::from_fn(|i| i < self.count && u[i].z < 0.0);
        let least = -PATCH_DIRECT * largest(&u[..self.count]);
        for _ in 0..PATCH_DIRECTIONS {
            let (mut place, mut count) = ([0; MAX_POINTS], 0);
            for i in (0..self.count).filter(|i| touches[*i]) {
                place[count] = i;
                count += 1;
            }
            if count == 0 {
                return None;
            }
            match self.trial(&place[..count], u, field, slides) {
                Trial::Solved(p, _) => {
                    let mut impulses = [DVec3::ZERO; MAX_POINTS];
                    for (k, i) in place[..count].iter().enumerate() {
                        impulses[*i] = p[k];
                    }
                    let after = self.after(u, &impulses);
                    let mut fits = true;
                    for i in (0..self.count).filter(|i| after[*i].z < least) {
                        // One that touches has been stopped to rounding.
                        (fits, touches[i]) = (false, true);
                    }
                    if fits {
                        return Some((impulses, after));
                    }
                }
                Trial::Pulled(pulled) => {
                    for (k, i) in place[..count].iter().enumerate() {
                        touches[*i] = !pulled[k];
                    }
                }
                Trial::Failed => return None,
            }
        }
        None
    }

    /// [`solve`](Self::solve) for some of the points.
    fn trial(
        &self,
        places: &[usize],
        u: &Vectors,
        field: &Twist,
        slides: Option<&[Option<DVec2>; MAX_POINTS]>,
    ) -> Trial {
        let count = places.len();
        let (part, mean) = self.part(places);
        let mut own = [DVec3::ZERO; MAX_POINTS];
        let mut directions = [None; MAX_POINTS];
        for (k, i) in places.iter().enumerate() {
            (own[k], directions[k]) = (u[*i], slides.and_then(|slides| slides[*i]));
        }
        let shifted = Twist { linear: field.at(mean), angular: field.angular };
        let sliding = directions[..count].iter().flatten().count();
        match slides {
            None => match part.stick(&own, &shifted) {
                Trial::Solved(p, u) => Trial::Solved(p, u),
                Trial::Pulled(pulled) => match part.slide(&own) {
                    Trial::Failed => Trial::Pulled(pulled),
                    other => other,
                },
                Trial::Failed => part.slide(&own),
            },
            Some(_) if sliding == 0 => part.stick(&own, &shifted),
            Some(_) if sliding == count => part.slide_along(&own, &directions.map(Option::unwrap_or_default)),
            Some(_) => part.mixed(&own, &directions),
        }
    }

    /// (some of the points) ⇒ the patch of these alone, and their mean.
    fn part(&self, places: &[usize]) -> (Self, DVec3) {
        if places.len() == self.count {
            return (*self, DVec3::ZERO);
        }
        let mean = places.iter().map(|i| self.points[*i]).sum::<DVec3>() / places.len() as f64;
        let mut part = Self { count: places.len(), ..*self };
        for (k, i) in places.iter().enumerate() {
            part.points[k] = self.points[*i] - mean;
        }
        for body in &mut part.bodies {
            body.center -= mean;
        }
        (part, mean)
    }

    /// (velocities at the points, their rigid field) ⇒ impulses that end all relative velocity, if all points stick.
    fn stick(&self, u: &Vectors, field: &Twist) -> Trial {
        let found = match self.count {
            1 => Some(self.stick_at_one(u[0])).filter(|p| p[0].is_finite()),
            2 => self.stick_at_two(u),
            _ => self.stick_at_many(field),
        };
        let Some(impulses) = found else { return Trial::Failed };
        let pulled = std::array::from_fn(|i| i < self.count && impulses[i].z < 0.0);
        if pulled.contains(&true) {
            return Trial::Pulled(pulled);
        }
        let in_cone = |p: &DVec3| p.truncate().length() <= self.friction * p.z;
        let after = self.after(u, &impulses);
        let limit = PATCH_DIRECT * largest(&u[..self.count]);
        let stops = after[..self.count].iter().all(|left| left.length() <= limit);
        if stops && impulses[..self.count].iter().all(in_cone) {
            Trial::Solved(impulses, after)
        } else {
            Trial::Failed
        }
    }

    fn stick_at_one(&self, u: DVec3) -> Vectors {
        let column = |axis: DVec3| self.respond(axis, DVec3::ZERO).linear;
        let response = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let mut impulses = [DVec3::ZERO; MAX_POINTS];
        impulses[0] = -(response.inverse() * u);
        impulses
    }

    /// (P, L) ⇒ (ΔV, ΔΩ).
    pub fn respond(&self, sum: DVec3, moment: DVec3) -> Twist {
        let mut change = Twist::default();
        for body in self.bodies.iter().filter(|body| body.inverse_mass > 0.0) {
            let spin = body.inverse_inertia * (moment - body.center.cross(sum));
            change.angular += spin;
            change.linear += body.inverse_mass * sum - spin.cross(body.center);
        }
        change
    }

    /// P and L that end a relative motion.
    fn stopping(&self, field: &Twist) -> (DVec3, DVec3) {
        let [a, b] = &self.bodies;
        if a.inverse_mass == 0.0 || b.inverse_mass == 0.0 {
            let body = if a.inverse_mass == 0.0 { b } else { a };
            let sum = -(field.linear + field.angular.cross(body.center)) / body.inverse_mass;
            return (sum, body.center.cross(sum) - body.inverse_inertia.inverse() * field.angular);
        }
        let inertia = (a.inverse_inertia + b.inverse_inertia).inverse();
        let moment = |sum: DVec3, spin: DVec3| {
            let turned = a.inverse_inertia * a.center.cross(sum) + b.inverse_inertia * b.center.cross(sum);
            inertia * (turned - spin)
        };
        let linear = |sum: DVec3, spin: DVec3| self.respond(sum, moment(sum, spin)).linear;
        let column = |axis: DVec3| linear(axis, DVec3::ZERO);
        let matrix = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let sum = -(matrix.inverse() * (field.linear + linear(DVec3::ZERO, field.angular)));
        (sum, moment(sum, field.angular))
    }

    fn stick_at_many(&self, field: &Twist) -> Option<Vectors> {
        let n = self.count;
        let (sum, moment) = self.stopping(field);
        let mut spread = DMat3::ZERO;
        for r in &self.points[..n] {
            spread += DMat3::from_diagonal(DVec3::splat(r.length_squared()))
                - DMat3::from_cols(r.x * *r, r.y * *r, r.z * *r);
        }
        let theta = spread.inverse() * moment;
        let mut impulses = [DVec3::ZERO; MAX_POINTS];
        for (p, r) in impulses.iter_mut().zip(&self.points[..n]) {
            *p = sum / n as f64 + theta.cross(*r);
        }
        Some(impulses).filter(|p| p.iter().all(|p| p.is_finite()))
    }

    fn stick_at_two(&self, u: &Vectors) -> Option<Vectors> {
        let along = 0.5 * (self.points[0] - self.points[1]);
        let e = along.try_normalize()?;
        let (a, b) = e.any_orthonormal_pair();
        let column = |axis: DVec3| self.respond(axis, DVec3::ZERO).linear;
        let at_mean = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z)).inverse();
        let velocity = 0.5 * (u[0] + u[1]);
        // The part of Ω across e.
        let across = e.cross(u[0] - u[1]) / (2.0 * along.length());
        let sum = |moment: DVec3| -(at_mean * (velocity + self.respond(DVec3::ZERO, moment).linear));
        let left = |moment: DVec3| {
            let spin = across + self.respond(sum(moment), moment).angular;
            DVec2::new(spin.dot(a), spin.dot(b))
        };
        let start = left(DVec3::ZERO);
        let matrix = DMat2::from_cols(left(a) - start, left(b) - start);
        let parts = -(matrix.inverse() * start);
        let moment = parts.x * a + parts.y * b;
        let (half, apart) = (0.5 * sum(moment), moment.cross(e) / (2.0 * along.length()));
        let mut impulses = [DVec3::ZERO; MAX_POINTS];
        (impulses[0], impulses[1]) = (half + apart, half - apart);
        (impulses[0].is_finite() && impulses[1].is_finite()).then_some(impulses)
    }

    /// (velocities at the points) ⇒ impulses that end all approach, if all points slide on by Coulomb's law.
    fn slide(&self, u: &Vectors) -> Trial {
        let n = self.count;
        let mut directions = [DVec2::ZERO; MAX_POINTS];
        for (q, u) in directions.iter_mut().zip(&u[..n]) {
            let Some(slip) = u.truncate().try_normalize() else { return Trial::Failed };
            *q = slip;
        }
        for _ in 0..PATCH_DIRECTIONS {
            let (impulses, after) = match self.slide_along(u, &directions) {
                Trial::Solved(impulses, after) => (impulses, after),
                other => return other,
            };
            let mut turn: f64 = 0.0;
            for (q, u) in directions.iter_mut().zip(&after[..n]) {
                let Some(next) = u.truncate().try_normalize().filter(|next| next.dot(*q) > 0.0) else {
                    return Trial::Failed;
                };
                turn = turn.max(next.perp_dot(*q).abs());
                *q = next;
            }
            if turn <= PATCH_DIRECT {
                return Trial::Solved(impulses, after);
            }
        }
        Trial::Failed
    }

    /// (velocities at the points, directions of slip, at most of length 1) ⇒ impulses with friction along these that end all
    /// approach.
    fn slide_along(&self, u: &Vectors, directions: &[DVec2; MAX_POINTS]) -> Trial {
        let n = self.count;
        let mut lines = [DVec3::ZERO; MAX_POINTS];
        let mut changes = [Twist::default(); MAX_POINTS];
        for i in 0..n {
            lines[i] = (-self.friction * directions[i]).extend(1.0);
            changes[i] = self.respond(lines[i], self.points[i].cross(lines[i]));
        }
        let mut sizes = [0.0; MAX_POINTS];
        if n == 1 {
            sizes[0] = -u[0].z / changes[0].linear.z;
        } else if n == 2 {
            let response = |i: usize, j: usize| changes[j].at(self.points[i]).z;
            let matrix =
                DMat2::from_cols_array(&[response(0, 0), response(1, 0), response(0, 1), response(1, 1)]);
            let found = -(matrix.inverse() * DVec2::new(u[0].z, u[1].z));
            (sizes[0], sizes[1]) = (found.x, found.y);
        } else {
            // Plane through the normal velocities of the first three points. Rotations count as velocities at the size of
            // the patch, so that all rows are of the same unit.
            let size = (self.points[1] - self.points[0]).length();
            let row = |i: usize| DVec3::new(1.0, self.points[i].y / size, -self.points[i].x / size);
            let plane = DMat3::from_cols(row(0), row(1), row(2)).transpose();
            let wanted = -(plane.inverse() * DVec3::new(u[0].z, u[1].z, u[2].z));
            let column = |i: usize| {
                DVec3::new(changes[i].linear.z, size * changes[i].angular.x, size * changes[i].angular.y)
            };
            let mut gram = DMat3::ZERO;
            for i in 0..n {
                let c = column(i);
                gram += DMat3::from_cols(c.x * c, c.y * c, c.z * c);
            }
            let factors = gram.inverse() * wanted;
            for (i, size) in sizes.iter_mut().enumerate().take(n) {
                *size = column(i).dot(factors);
            }
        }
        if !sizes[..n].iter().all(|size| size.is_finite()) {
            return Trial::Failed;
        }
        let pulled = sizes.map(|size| size < 0.0);
        if pulled.contains(&true) {
            return Trial::Pulled(pulled);
        }
        let impulses: Vectors = std::array::from_fn(|i| sizes[i] * lines[i]);
        let after = self.after(u, &impulses);
        let limit = PATCH_DIRECT * largest(&u[..n]);
        if after[..n].iter().all(|left| left.z.abs() <= limit) {
            Trial::Solved(impulses, after)
        } else {
            Trial::Failed
        }
    }

    /// (velocities at the points, directions of slip of those that slide) ⇒ impulses that end all approach, and all relative
    /// velocity of those that stick.
    fn mixed(&self, u: &Vectors, directions: &[Option<DVec2>; MAX_POINTS]) -> Trial {
        const MOST: usize = 3 * MAX_POINTS;
        // Unknown sizes of impulses along these, and the velocity along that direction which each of them ends.
        let mut unknowns = [(0, DVec3::ZERO, DVec3::ZERO); MOST];
        let mut size = 0;
        for (i, direction) in directions.iter().enumerate().take(self.count) {
            match direction {
                Some(q) => {
                    unknowns[size] = (i, (-self.friction * *q).extend(1.0), DVec3::Z);
                    size += 1;
                }
                None => {
                    for axis in [DVec3::Z, DVec3::X, DVec3::Y] {
                        unknowns[size] = (i, axis, axis);
                        size += 1;
                    }
                }
            }
        }
        let mut rows = [[0.0; MOST + 1]; MOST];
        for (column, (j, line, _)) in unknowns[..size].iter().enumerate() {
            let change = self.respond(*line, self.points[*j].cross(*line));
            for (row, (i, _, along)) in unknowns[..size].iter().enumerate() {
                rows[row][column] = change.at(self.points[*i]).dot(*along);
            }
        }
        for (row, (i, _, along)) in unknowns[..size].iter().enumerate() {
            rows[row][MOST] = -u[*i].dot(*along);
        }
        let mut sizes = [0.0; MOST];
        eliminate(&mut rows, size, &mut sizes);
        let mut impulses = [DVec3::ZERO; MAX_POINTS];
        for (size, (i, line, _)) in sizes.iter().zip(&unknowns[..size]) {
            impulses[*i] += *size * *line;
        }
        if !impulses.iter().all(|p| p.is_finite()) {
            return Trial::Failed;
        }
        let pulled = impulses.map(|p| p.z < 0.0);
        if pulled.contains(&true) {
            return Trial::Pulled(pulled);
        }
        let after = self.after(u, &impulses);
        let limit = PATCH_DIRECT * largest(&u[..self.count]);
        let fits = (0..self.count).all(|i| {
            if directions[i].is_some() {
                return after[i].z.abs() <= limit;
            }
            let p = impulses[i];
            after[i].length() <= limit && p.truncate().length() <= self.friction * p.z
        });
        if fits { Trial::Solved(impulses, after) } else { Trial::Failed }
    }

    /// (velocities, impulses) ⇒ the velocities with them.
    fn after(&self, u: &Vectors, impulses: &Vectors) -> Vectors {
        let (mut sum, mut moment) = (DVec3::ZERO, DVec3::ZERO);
        for (p, r) in impulses.iter().zip(&self.points[..self.count]) {
            sum += *p;
            moment += r.cross(*p);
        }
        let change = self.respond(sum, moment);
        let mut after = *u;
        for (u, r) in after.iter_mut().zip(&self.points[..self.count]) {
            *u += change.at(*r);
        }
        after
    }
}

/// Gaussian elimination with full pivoting of a system with its right side in the last column; unknowns that the others
/// make superfluous are 0.
fn eliminate<const N: usize, const M: usize>(rows: &mut [[f64; M]; N], size: usize, x: &mut [f64; N]) {
    let mut order: [usize; N] = std::array::from_fn(|k| k);
    let mut rank = size;
    let mut first = 0.0;
    for k in 0..size {
        let mut best = (0.0, k, k);
        for (i, row) in rows.iter().enumerate().take(size).skip(k) {
            for (place, j) in order.iter().enumerate().take(size).skip(k) {
                if row[*j].abs() > best.0 {
                    best = (row[*j].abs(), i, place);
                }
            }
        }
        if k == 0 {
            first = best.0;
        }
        if best.0 <= 1e-11 * first {
            rank = k;
            break;
        }
        rows.swap(k, best.1);
        order.swap(k, best.2);
        let pivot = rows[k];
        for row in rows.iter_mut().take(size).skip(k + 1) {
            let factor = row[order[k]] / pivot[order[k]];
            for j in order.iter().take(size).skip(k) {
                row[*j] -= factor * pivot[*j];
            }
            row[M - 1] -= factor * pivot[M - 1];
        }
    }
    for k in (0..rank).rev() {
        let known: f64 = (k + 1..rank).map(|j| rows[k][order[j]] * x[order[j]]).sum();
        x[order[k]] = (rows[k][M - 1] - known) / rows[k][order[k]];
    }
}

/// Largest length.
fn largest(vectors: &[DVec3]) -> f64 {
    vectors.iter().map(|u| u.length()).fold(0.0, f64::max)
}

impl Twist {
    /// Velocity at a point.
    pub fn at(&self, r: DVec3) -> DVec3 {
        self.linear + self.angular.cross(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    /// Flat boxes of 2 and 3 kg that touch at three or four corners, or at two edges, below and above their centres.
    fn patch(count: usize, both: bool, friction: f64) -> PatchResponse {
        let turn = DMat3::from_quat(DQuat::from_rotation_z(0.4));
        let inertia = DMat3::from_diagonal(DVec3::new(0.02, 0.05, 0.06));
        let corners = [(0.2, 0.1), (-0.2, 0.1), (-0.2, -0.1), (0.2, -0.1)];
        let mut points = [DVec3::ZERO; MAX_POINTS];
        for (point, (x, y)) in points.iter_mut().zip(corners).take(count) {
            *point = turn * DVec3::new(x, y, 0.0);
        }
        let mean = points[..count].iter().sum::<DVec3>() / count as f64;
        points[..count].iter_mut().for_each(|point| *point -= mean);
        let body = |inverse_mass: f64, height: f64| PatchBody {
            inverse_mass,
            inverse_inertia: (turn * inertia * turn.transpose()).inverse(),
            center: DVec3::new(0.01, -0.01, height),
        };
        let below = if both { body(1.0 / 3.0, -0.04) } else { PatchBody::default() };
        PatchResponse { count, points, bodies: [below, body(0.5, 0.05)], friction }
    }

    fn velocities(patch: &PatchResponse, field: &Twist) -> Vectors {
        let mut u = [DVec3::ZERO; MAX_POINTS];
        for (u, r) in u.iter_mut().zip(&patch.points[..patch.count]) {
            *u = field.at(*r);
        }
        u
    }

    #[test]
    fn sticking_points_stop() {
        for (count, both) in [(2, false), (3, false), (4, false), (2, true), (3, true), (4, true)] {
            let patch = patch(count, both, 0.8);
            let field = Twist { linear: DVec3::new(0.01, 0.0, -0.1), angular: DVec3::new(0.01, -0.01, 0.02) };
            let u = velocities(&patch, &field);
            let (p, after) = patch.solve(&u, &field, None).unwrap();
            for i in 0..count {
                assert!(after[i].length() < 1e-14 && p[i].z > 0.0, "{count}: {} {}", after[i], p[i]);
            }
        }
    }

    #[test]
    fn sliding_points_keep_their_direction() {
        for (count, both) in [(2, false), (3, false), (4, false), (2, true), (3, true), (4, true)] {
            let patch = patch(count, both, 0.3);
            let field = Twist { linear: DVec3::new(1.0, 0.0, -0.1), angular: DVec3::new(0.0, 0.0, 0.1) };
            let u = velocities(&patch, &field);
            assert!(matches!(patch.stick(&u, &field), Trial::Failed | Trial::Pulled(_)));
            let (p, after) = patch.solve(&u, &field, None).unwrap();
            for i in 0..count {
                let (slip, friction) = (after[i].truncate(), p[i].truncate());
                assert!(after[i].z.abs() < 1e-14 && p[i].z > 0.0);
                let wanted = -0.3 * p[i].z * slip.normalize();
                assert!((friction - wanted).length() < 1e-8, "{count}: {friction} {wanted}");
            }
        }
    }

    /// A box that turns about one of its edges, and falls: the other edge separates.
    #[test]
    fn an_edge_separates() {
        for both in [false, true] {
            let patch = patch(4, both, 0.8);
            let axis = (patch.points[1] - patch.points[2]).normalize();
            let angular = axis;
            let linear = -angular.cross(patch.points[1]) - 0.01 * DVec3::Z;
            let sign = (angular.cross(patch.points[0] - patch.points[1])).z.signum();
            let field = Twist {
                linear: sign * (linear + 0.01 * DVec3::Z) - 0.01 * DVec3::Z,
                angular: sign * angular,
            };
            let u = velocities(&patch, &field);
            let (p, after) = patch.solve(&u, &field, None).unwrap();
            for i in 0..4 {
                let touches = i == 1 || i == 2;
                assert_eq!(p[i].z > 0.0, touches, "{i}: {}", p[i]);
                assert!(
                    if touches { after[i].length() < 1e-14 } else { after[i].z > 0.01 },
                    "{i}: {}",
                    after[i]
                );
            }
        }
    }

    /// Where all points stick or all slide, the system for some of each has the same solution.
    #[test]
    fn the_mixed_system_agrees() {
        for count in [2, 3] {
            let patch = patch(count, true, 0.8);
            let field = Twist { linear: DVec3::new(0.01, 0.02, -0.1), angular: DVec3::ZERO };
            let u = velocities(&patch, &field);
            let (_, right) = patch.solve(&u, &field, None).unwrap();
            let Trial::Solved(_, after) = patch.mixed(&u, &[None; MAX_POINTS]) else { panic!() };
            for i in 0..count {
                assert!((right[i] - after[i]).length() < 1e-12);
            }
            let directions = [Some(DVec2::new(0.6, 0.1)); MAX_POINTS];
            let (_, right) = patch.solve(&u, &field, Some(&directions)).unwrap();
            let Trial::Solved(_, after) = patch.mixed(&u, &directions) else { panic!() };
            for i in 0..count {
                assert!((right[i] - after[i]).length() < 1e-12, "{}", right[i] - after[i]);
            }
        }
    }
}
