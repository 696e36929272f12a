//! The incremental potential of a step, whose minimum is the state at its end.
//!
//! Implicit Euler x' = x + h v', v' = v + h M⁻¹ f(x') is the stationary point of
//! P(x) = ½ Σ m |x − x̃|² + h² Ψ(x) + Σ c b(δ) + friction + drag, x̃ = x + h v + h² M⁻¹ f_outer, with the energy Ψ of elements (damping
//! included, see `element`), attachments and gas. The barrier has the factor c = s m (s: `barrier_stiffness`, m: the smaller of the
//! mean masses of the two features), that is h² times a stiffness s m/h². Drag −C (v − w): ½ h Σ (x − x₀ − h w)ᵀ C (x − x₀ − h w).
//! With the second-order backward formula h is replaced by 2h/3 and x̃ by (4 xₙ − xₙ₋₁)/3 + (2h/3)(4 vₙ − vₙ₋₁)/3.

use glam::DVec3;

use super::Workspace;
use crate::contact::FeaturePair;
use crate::contact::barrier::{Contact, Friction, barrier};
use crate::contact::candidates::{Candidate, Candidates, Surface};
use crate::contact::conservative_time_of_impact;
use crate::contact::distance::nearest;
use crate::system::{DeformableSystem, State, SurfacePoint, place};

/// What does not change during a step.
pub(super) struct Problem<'s> {
    pub state: &'s State,
    pub surface: &'s Surface,
    pub points: &'s [SurfacePoint],
    pub point_mass: &'s [f64],
    pub point_friction: &'s [f64],
    pub point_rest: &'s [DVec3],
    /// Length of the step.
    pub h: f64,
    /// Length in the potential: h, or 2h/3.
    pub s: f64,
}

/// Part of the activation distance that surfaces never come nearer than: far above rounding.
const FLOOR: f64 = 0.05;

/// Pairs per piece of a loop over candidates.
const PIECE: usize = 256;

impl<'s> Problem<'s> {
    pub fn new(system: &'s DeformableSystem, h: f64, s: f64) -> Self {
        Self {
            state: &system.state,
            surface: &system.surface,
            points: &system.points,
            point_mass: &system.point_mass,
            point_friction: &system.point_friction,
            point_rest: &system.point_rest,
            h,
            s,
        }
    }

    pub fn contact_on(&self) -> bool {
        self.state.settings.contact_distance > 0.0
    }

    /// Unknowns ⇒ surface points; of displacements their displacements.
    pub fn place(&self, x: &[DVec3], out: &mut Vec<DVec3>) {
        out.clear();
        out.extend(self.points.iter().map(|p| place(p, x)));
    }

    /// A candidate at the given places ⇒ contact, if it is within the activation distance.
    fn contact(&self, candidate: &Candidate, at: &[DVec3]) -> Option<Contact> {
        let &Candidate { kind, points, range, floor } = candidate;
        let near = nearest(kind, &points.map(|p| at[p as usize]));
        let squared = near.offset.length_squared();
        if squared >= range * range {
            return None;
        }
        let distance = squared.sqrt();
        let mass =
            |side: &[u32]| side.iter().map(|&p| self.point_mass[p as usize]).sum::<f64>() / side.len() as f64;
        let split = if kind == FeaturePair::VertexFace { 1 } else { 2 };
        let lighter = mass(&points[..split]).min(mass(&points[split..]));
        let [first, second] = [points[0] as usize, points[3] as usize];
        Some(Contact {
            points,
            weights: near.weights,
            normal: near.offset / distance,
            distance: distance - floor,
            range: range - floor,
            floor,
            scale: self.state.settings.barrier_stiffness * lighter,
            friction: (self.point_friction[first] * self.point_friction[second]).sqrt(),
        })
    }

    /// Activation distance and floor of candidates, from the places at the start of the step and at rest.
    ///
    /// Pairs start above their floor, or it is half the distance they start with. Features in one place cannot be kept apart and
    /// are left out.
    pub fn limit(&self, candidates: &mut Candidates, start: &[DVec3]) {
        let range = self.state.settings.contact_distance;
        let surface = self.surface;
        rattleback_numerics::team::each_piece(
            self.state.settings.threads,
            &mut candidates.pairs,
            PIECE,
            |_, pairs| {
                for pair in pairs {
                    let distance =
                        |x: &[DVec3]| nearest(pair.kind, &pair.points.map(|p| x[p as usize])).offset.length();
                    let from = distance(start);
                    pair.range = range;
                    let [first, second] = [pair.points[0] as usize, pair.points[3] as usize];
                    if surface.group[first] == surface.group[second] {
                        pair.range = range.min(0.5 * distance(self.point_rest));
                    }
                    let floor = FLOOR * pair.range;
                    pair.floor = if from > floor { floor } else { 0.5 * from };
                    if !(from > 1e-14) {
                        pair.range = 0.0;
                    }
                }
            },
        );
        candidates.pairs.retain(|pair| pair.range > 0.0);
    }

    /// All contacts at the given places, in the order of the candidates, then planes.
    pub fn contacts(
        &self,
        candidates: &Candidates,
        at: &[DVec3],
        found: &mut Vec<Vec<Contact>>,
        out: &mut Vec<Contact>,
    ) {
        out.clear();
        if !self.contact_on() {
            return;
        }
        let pieces = candidates.pairs.len().div_ceil(PIECE);
        found.resize(pieces, Vec::new());
        rattleback_numerics::team::each(self.state.settings.threads, found, |piece, contacts| {
            contacts.clear();
            let end = candidates.pairs.len().min((piece + 1) * PIECE);
            for candidate in &candidates.pairs[piece * PIECE..end] {
                contacts.extend(self.contact(candidate, at));
            }
        });
        for contacts in &*found {
            out.extend_from_slice(contacts);
        }
        let range = self.state.settings.contact_distance;
        for plane in &self.state.planes {
            for &p in &self.surface.corners {
                let k = p as usize;
                let distance = plane.normal.dot(at[k]) - plane.offset;
                if distance < range && !self.surface.fixed[k] && self.point_mass[k].is_finite() {
                    out.push(Contact {
                        points: [p; 4],
                        weights: [1.0, 0.0, 0.0, 0.0],
                        normal: plane.normal,
                        distance,
                        range,
                        floor: 0.0,
                        scale: self.state.settings.barrier_stiffness * self.point_mass[k],
                        friction: (plane.friction * self.point_friction[k]).sqrt(),
                    });
                }
            }
        }
    }

    /// Part of the displacement, at most 1, that is proved to be free of contact.
    pub fn time_of_impact(
        &self,
        candidates: &Candidates,
        at: &[DVec3],
        displacement: &[DVec3],
        times: &mut Vec<f64>,
    ) -> f64 {
        if !self.contact_on() {
            return 1.0;
        }
        let pieces = candidates.pairs.len().div_ceil(PIECE);
        times.clear();
        times.resize(pieces, 1.0);
        rattleback_numerics::team::each(self.state.settings.threads, times, |piece, time| {
            let end = candidates.pairs.len().min((piece + 1) * PIECE);
            for &Candidate { kind, points, floor, .. } in &candidates.pairs[piece * PIECE..end] {
                let (x, p) = (points.map(|p| at[p as usize]), points.map(|p| displacement[p as usize]));
                *time = time.min(conservative_time_of_impact(kind, &x, &p, floor, *time));
            }
        });
        let mut time = times.iter().copied().fold(1.0, f64::min);
        for plane in &self.state.planes {
            for &p in &self.surface.corners {
                let k = p as usize;
                let closing = -plane.normal.dot(displacement[k]);
                if closing > 0.0 && self.point_mass[k].is_finite() {
                    time = time.min(0.9 * (plane.normal.dot(at[k]) - plane.offset) / closing);
                }
            }
        }
        time.max(0.0)
    }

    /// First displacement, shortened for the vertices that would hit something: others keep theirs.
    pub fn shorten(
        &self,
        candidates: &Candidates,
        at: &[DVec3],
        displacement: &mut [DVec3],
        moved: &mut Vec<DVec3>,
    ) {
        if !self.contact_on() {
            return;
        }
        for _ in 0..3 {
            self.place(displacement, moved);
            let mut factor = vec![1.0_f64; displacement.len()];
            let mut hit = false;
            for &Candidate { kind, points, floor, .. } in &candidates.pairs {
                let (x, p) = (points.map(|p| at[p as usize]), points.map(|p| moved[p as usize]));
                let time = conservative_time_of_impact(kind, &x, &p, floor, 1.0);
                if time < 1.0 {
                    hit = true;
                    for p in points {
                        self.unknowns(p, |v, _| factor[v as usize] = factor[v as usize].min(time));
                    }
                }
            }
            for plane in &self.state.planes {
                for &p in &self.surface.corners {
                    let k = p as usize;
                    let closing = -plane.normal.dot(moved[k]);
                    let free = 0.9 * (plane.normal.dot(at[k]) - plane.offset);
                    if closing > free && self.point_mass[k].is_finite() {
                        hit = true;
                        self.unknowns(p, |v, _| factor[v as usize] = factor[v as usize].min(free / closing));
                    }
                }
            }
            if !hit {
                return;
            }
            for (p, f) in displacement.iter_mut().zip(&factor) {
                *p *= *f;
            }
        }
    }

    /// Calls `work` with the unknowns of a surface point and their weights.
    pub fn unknowns(&self, point: u32, mut work: impl FnMut(u32, f64)) {
        match self.points[point as usize] {
            SurfacePoint::Vertex(v) => work(v, 1.0),
            SurfacePoint::Rigid(first, local) => {
                work(first, 1.0);
                for (k, c) in local.to_array().into_iter().enumerate() {
                    work(first + 1 + k as u32, c);
                }
            }
        }
    }

    /// Friction of a step from the contacts at its start.
    pub fn friction(&self, contacts: &[Contact], out: &mut Vec<Friction>) {
        out.clear();
        for c in contacts.iter().filter(|c| c.friction > 0.0) {
            let force = -c.scale * barrier(c.distance, c.range)[1];
            out.push(Friction {
                points: c.points,
                weights: c.weights,
                normal: c.normal,
                limit: c.friction * force,
                stick: self.state.settings.stick_speed * self.h,
            });
        }
    }

    /// P(x); infinite where a contact distance is not positive.
    pub fn value(&self, work: &mut Workspace, x: &[DVec3], at: &[DVec3], contacts: &[Contact]) -> f64 {
        let model = &self.state.model;
        let mut p = 0.0;
        for i in 0..x.len() {
            if !model.pinned[i] {
                p += 0.5 * model.mass[i] * (x[i] - work.predicted[i]).length_squared();
            }
        }
        if let Some(air) = &self.state.air {
            for i in 0..x.len() {
                let d = x[i] - work.start[i] - self.h * air.velocity;
                p += 0.5 * self.s * self.s / self.h * d.dot(work.drag[i] * d);
            }
        }
        let mut elastic = work.lists.energy(self.state.settings.threads, x);
        for a in &self.state.attachments {
            elastic += 0.5 * a.stiffness * (x[a.vertex as usize] - anchor(self.state, a, x)).length_squared();
        }
        for gas in &self.state.pressures {
            elastic += gas.energy(x);
        }
        p += self.s * self.s * elastic;
        for c in contacts {
            if !(c.distance > 0.0) {
                return f64::INFINITY;
            }
            p += c.scale * barrier(c.distance, c.range)[0];
        }
        for f in &work.friction {
            p += f.evaluate(relative(f, at, &work.points_start)).0;
        }
        p
    }
}

/// Where the anchor of an attachment is.
pub(super) fn anchor(state: &State, a: &crate::forces::Attachment, x: &[DVec3]) -> DVec3 {
    match a.anchor {
        crate::forces::Anchor::Point(p) => p,
        crate::forces::Anchor::Vertex(v) => x[v as usize],
        crate::forces::Anchor::Body(index, local) => {
            place(&SurfacePoint::Rigid(state.bodies[index as usize].first, local), x)
        }
    }
}

/// Relative displacement at a friction contact since the start of the step.
pub(super) fn relative(f: &Friction, at: &[DVec3], start: &[DVec3]) -> DVec3 {
    let mut sum = DVec3::ZERO;
    for (&p, &w) in f.points.iter().zip(&f.weights) {
        if w != 0.0 {
            sum += w * (at[p as usize] - start[p as usize]);
        }
    }
    sum
}
