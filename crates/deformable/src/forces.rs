//! Forces from outside: gravity, wind, pressure, attachments.
//!
//! Wind: a triangle of area A and unit normal n that moves at u relative to the air feels, with the density ρ of the air,
//! −½ ρ A c_n |u·n| (u·n) n across, −½ ρ A c_t |u| u_t along and the lift ½ ρ A c_l (u·n) |u| times the unit vector perpendicular to u in the
//! plane of u and n. The first two are taken as −C (v − w) with C = ½ ρ A (c_n |u·n| n nᵀ + c_t |u| (I − n nᵀ)) of the beginning of a step, which
//! implicit steps treat implicitly: strong wind on light cloth stays stable.
//!
//! Pressure: a closed surface around the volume V has the energy −p V (constant pressure) or −c ln V + p₀ V with
//! c = (p + p₀) V at the start (gas at constant temperature). The second derivative keeps the positive part c/V² ∇V ∇Vᵀ.
//!
//! Attachment: ½ k |x_v − y|² with y a point of a body, of another deformable body, or of space.

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::dual::outer;

/// Air around the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Air {
    /// Wind, m/s.
    pub velocity: DVec3,
    /// kg/m³
    pub density: f64,
    /// c_n of flow across.
    pub normal_drag: f64,
    /// c_t of flow along.
    pub tangential_drag: f64,
    /// c_l
    pub lift: f64,
}

impl Default for Air {
    /// Still air at 15 °C; flat plates.
    fn default() -> Self {
        Self { velocity: DVec3::ZERO, density: 1.225, normal_drag: 1.2, tangential_drag: 0.02, lift: 0.5 }
    }
}

impl Air {
    /// Corners and their velocities ⇒ (C of the triangle, lift on it).
    pub(crate) fn on_triangle(&self, x: [DVec3; 3], v: [DVec3; 3]) -> (DMat3, DVec3) {
        let area_vector = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]);
        let area = area_vector.length();
        if !(area > 0.0) {
            return (DMat3::ZERO, DVec3::ZERO);
        }
        let n = area_vector / area;
        let u = (v[0] + v[1] + v[2]) / 3.0 - self.velocity;
        let (speed, across) = (u.length(), u.dot(n));
        let q = 0.5 * self.density * area;
        let normal = outer(n, n);
        let drag = normal * (q * self.normal_drag * across.abs())
            + (DMat3::IDENTITY - normal) * (q * self.tangential_drag * speed);
        let mut lift = DVec3::ZERO;
        if speed > 1e-9 {
            // Perpendicular to the flow, away from the side it meets.
            let side = -across.signum() * n;
            let direction = (side - u * (side.dot(u) / (speed * speed))).normalize_or_zero();
            lift = q * self.lift * across.abs() * speed * direction;
        }
        (drag, lift)
    }
}

/// Gas within a closed surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// The surface, outwards, in vertices of the system.
    pub triangles: Vec<[u32; 3]>,
    /// Gauge pressure of a reservoir, Pa; ignored for a closed amount of gas.
    pub constant: f64,
    /// Amount of gas c = p V, J; 0: constant pressure.
    pub gas: f64,
    /// p₀ outside, Pa.
    pub ambient: f64,
}

impl Pressure {
    /// V, m³.
    pub fn volume(&self, x: &[DVec3]) -> f64 {
        let origin = self.triangles.first().and_then(|t| x.get(t[0] as usize)).copied().unwrap_or_default();
        self.triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| x[v as usize] - origin);
                a.dot(b.cross(c))
            })
            .sum::<f64>()
            / 6.0
    }

    /// Gauge pressure at the volume V, Pa.
    pub fn pressure(&self, volume: f64) -> f64 {
        if self.gas > 0.0 { self.gas / volume.max(1e-12) - self.ambient } else { self.constant }
    }

    pub(crate) fn energy(&self, x: &[DVec3]) -> f64 {
        let v = self.volume(x);
        if self.gas > 0.0 {
            // A surface without volume has no state of the gas.
            if v > 0.0 { self.ambient * v - self.gas * v.ln() } else { f64::INFINITY }
        } else {
            -self.constant * v
        }
    }

    /// Adds −p ∇V; ⇒ ∇V, c/V².
    pub(crate) fn gradient(&self, x: &[DVec3], scale: f64, gradient: &mut [DVec3]) -> (Vec<DVec3>, f64) {
        let volume = self.volume(x);
        let p = self.pressure(volume);
        let mut by_volume = vec![DVec3::ZERO; gradient.len()];
        for t in &self.triangles {
            let [a, b, c] = t.map(|v| x[v as usize]);
            // ∂V/∂a = ((b − o) × (c − o))/6 summed around is a third of the area vectors.
            let area = (b - a).cross(c - a) / 6.0;
            for &v in t {
                by_volume[v as usize] += area;
            }
        }
        for (g, v) in gradient.iter_mut().zip(&by_volume) {
            *g -= scale * p * *v;
        }
        let curvature = if self.gas > 0.0 { self.gas / volume.max(1e-12).powi(2) } else { 0.0 };
        (by_volume, curvature)
    }
}

/// What a vertex is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Anchor {
    /// A point of space, m.
    Point(DVec3),
    /// Another vertex.
    Vertex(u32),
    /// A rigid body, at a point of its mesh frame.
    Body(u32, DVec3),
}

/// A spring of zero length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// The vertex.
    pub vertex: u32,
    /// What it is attached to.
    pub anchor: Anchor,
    /// k, N/m.
    pub stiffness: f64,
}
