//! Altitude springs of a tetrahedron: they resist its collapse and inversion.
//!
//! Of the altitudes of a tetrahedron, four from a corner to the face opposite and three between opposite edges, the shortest
//! counts. Each is a = 6V/|n| with the signed volume 6V = (x₁ − x₀)·((x₂ − x₀) × (x₃ − x₀)) and n the area vector of the face, or the
//! product of the edges; the shortest has the largest |n|. E = ½ k (a − a₀)² with a₀ the same altitude at rest; below zero
//! volume a is negative and the force still points back. a depends on relative positions only, so forces and moments balance.
//! Another altitude takes over when it is 1 % shorter. Derivatives by dual numbers; projected: k ∇a ∇aᵀ.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::{Curvature, Element};
use crate::dual::{Dual, Real, Vec3, blocks, outer, plain, variables, vectors};

/// Spring along the shortest altitude of a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Altitude {
    /// Corners, positively oriented at rest.
    pub vertices: [u32; 4],
    /// k, N/m.
    pub stiffness: f64,
    /// k_d, N s/m.
    pub damping: f64,
    /// a₀ of each altitude, m: corner 0 … 3, then edge 01, 02, 03 with its opposite.
    pub rest: [f64; 7],
    /// The altitude that acts.
    pub choice: u8,
}

/// (points, altitude) ⇒ n, not oriented.
fn normal<T: Real>(x: &[Vec3<T>; 4], choice: u8) -> Vec3<T> {
    match choice {
        0 => (x[2] - x[1]).cross(x[3] - x[1]),
        1 => (x[2] - x[0]).cross(x[3] - x[0]),
        2 => (x[1] - x[0]).cross(x[3] - x[0]),
        3 => (x[1] - x[0]).cross(x[2] - x[0]),
        4 => (x[1] - x[0]).cross(x[3] - x[2]),
        5 => (x[2] - x[0]).cross(x[3] - x[1]),
        _ => (x[3] - x[0]).cross(x[2] - x[1]),
    }
}

/// (points, altitude) ⇒ a.
fn height<T: Real>(x: &[Vec3<T>; 4], choice: u8) -> T {
    let volume = (x[1] - x[0]).dot((x[2] - x[0]).cross(x[3] - x[0]));
    volume / normal(x, choice).length()
}

impl Altitude {
    /// The spring of a tetrahedron at rest; none if it has no volume.
    pub fn new(vertices: [u32; 4], x: &[DVec3; 4], stiffness: f64, damping: f64) -> Option<Self> {
        let rest: [f64; 7] = std::array::from_fn(|k| height(&plain(x), k as u8));
        let mut spring = Self { vertices, stiffness, damping, rest, choice: 0 };
        spring.choose(x, 0.0);
        rest.iter().all(|a| *a > 0.0 && a.is_finite()).then_some(spring)
    }

    /// Lets the shortest altitude act if it is shorter by more than a fraction; called before a step.
    pub fn choose(&mut self, x: &[DVec3; 4], hysteresis: f64) {
        let x = plain(x);
        let size = |k: u8| normal(&x, k).length();
        let best = (0..7).fold(0, |best, k| if size(k) > size(best) { k } else { best });
        // a ∝ 1/|n|: shorter by 1 % means |n| larger by as much.
        if size(self.choice) < (1.0 - hysteresis) * size(best) {
            self.choice = best;
        }
    }

    fn state(&self, x: &[DVec3; 4]) -> Option<(f64, [DVec3; 4])> {
        let a: Dual<f64, 12> = height(&variables(&plain(x)), self.choice);
        (a.a.is_finite() && a.d.iter().all(|d| d.is_finite()))
            .then(|| (a.a - self.rest[self.choice as usize], vectors(&a.d)))
    }
}

impl Element<4> for Altitude {
    fn vertices(&self) -> [u32; 4] {
        self.vertices
    }

    fn energy(&self, x: &[DVec3; 4]) -> f64 {
        self.state(x).map_or(0.0, |(a, _)| 0.5 * self.stiffness * a * a)
    }

    fn gradient(&self, x: &[DVec3; 4]) -> [DVec3; 4] {
        let Some((a, g)) = self.state(x) else { return [DVec3::ZERO; 4] };
        g.map(|g| self.stiffness * a * g)
    }

    fn hessian(&self, x: &[DVec3; 4], curvature: Curvature) -> [[DMat3; 4]; 4] {
        let Some((a, g)) = self.state(x) else { return [[DMat3::ZERO; 4]; 4] };
        let mut h = g.map(|gi| g.map(|gj| outer(self.stiffness * gi, gj)));
        if curvature == Curvature::Exact {
            let x: [Vec3<Dual<f64, 12>>; 4] = variables(&plain(x));
            let second: Dual<Dual<f64, 12>, 12> = height(&variables(&x), self.choice);
            let second: [[DMat3; 4]; 4] = blocks(|i, j| second.d[i].d[j]);
            for i in 0..4 {
                for j in 0..4 {
                    h[i][j] += self.stiffness * a * second[i][j];
                }
            }
        }
        h
    }

    fn damped(&self, x0: &[DVec3; 4], h: f64) -> Self {
        let viscous = self.damping / h;
        if !(viscous > 0.0) {
            return *self;
        }
        let stiffness = self.stiffness + viscous;
        let mut damped = Self { stiffness, ..*self };
        let (rest, now) = (&mut damped.rest[self.choice as usize], height(&plain(x0), self.choice));
        if now.is_finite() {
            *rest = (self.stiffness * *rest + viscous * now) / stiffness;
        }
        damped
    }

    fn damping(&self, x: &[DVec3; 4]) -> Option<[[DMat3; 4]; 4]> {
        let (_, g) = self.state(x)?;
        (self.damping > 0.0).then(|| g.map(|gi| g.map(|gj| outer(self.damping * gi, gj))))
    }

    fn renumber(&mut self, vertex: impl Fn(u32) -> u32) {
        self.vertices = self.vertices.map(vertex);
    }
}
