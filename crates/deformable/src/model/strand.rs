//! Ropes, wires and hair.
//!
//! A round rod of radius r, Young's modulus E and density ρ has the stretch stiffness E π r² (N), the bending stiffness
//! B = E π r⁴/4 (N m²) and the mass ρ π r² per length. Hair by springs (Iben et al. 2013, Selle et al. 2008): along the curve
//! p₀, p₁ …: edges i–i+1, bending i–i+2, torsion i–i+3, and altitude springs of every four consecutive points; straight hair
//! gets an auxiliary point beside each segment, without which it has no triangles that could twist.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{Deformable, MAX_VERTICES};
use crate::DeformableError;
use crate::element::{RodBend, Spring, SpringKind, curvature_of};
use crate::error::check;

/// Material of a rod in engineering units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strand {
    /// kg/m.
    pub linear_density: f64,
    /// N: force per strain.
    pub stretch: f64,
    /// B, N m².
    pub bending: f64,
    /// Viscosity over elasticity, s.
    pub damping: f64,
}

impl Strand {
    /// A round rod: radius in m, Young's modulus in Pa, density in kg/m³.
    #[must_use]
    pub fn round(radius: f64, young: f64, density: f64) -> Self {
        let area = std::f64::consts::PI * radius * radius;
        Self {
            linear_density: density * area,
            stretch: young * area,
            bending: 0.25 * young * area * radius * radius,
            damping: 0.0,
        }
    }

    /// Points of a curve ⇒ rod at rest in this shape; its rest curvature is that of the curve.
    ///
    /// # Errors
    /// Fewer than two points, coincident neighbours, coefficients out of range.
    pub fn curve(&self, points: &[DVec3]) -> Result<Deformable, DeformableError> {
        check("linear_density", self.linear_density, self.linear_density > 0.0, "> 0 kg/m")?;
        check("stretch", self.stretch, self.stretch >= 0.0, "≥ 0 N")?;
        check("bending", self.bending, self.bending >= 0.0, "≥ 0 N m²")?;
        check("damping", self.damping, self.damping >= 0.0, "≥ 0 s")?;
        let mut mass = vec![0.0; points.len()];
        for (element, pair) in points.windows(2).enumerate() {
            let length = pair[0].distance(pair[1]);
            if !(length > 0.0) {
                return Err(DeformableError::BadTopology { element, reason: "an edge must have a length" });
            }
            mass[element] += 0.5 * self.linear_density * length;
            mass[element + 1] += 0.5 * self.linear_density * length;
        }
        if points.len() < 2 || points.len() > MAX_VERTICES {
            return Err(DeformableError::BadTopology {
                element: 0,
                reason: "a curve has two points or more",
            });
        }
        let mut rod = Deformable::from_vertices(points.to_vec(), mass)?;
        for (i, pair) in points.windows(2).enumerate() {
            let rest = pair[0].distance(pair[1]);
            let stiffness = self.stretch / rest;
            let vertices = [i as u32, i as u32 + 1];
            let kind = SpringKind::Structural;
            rod.springs.push(Spring { vertices, kind, stiffness, damping: stiffness * self.damping, rest });
            rod.strands.push(vertices);
        }
        for (i, x) in points.windows(3).enumerate() {
            let x = [x[0], x[1], x[2]];
            let stiffness = 2.0 * self.bending / (x[0].distance(x[1]) + x[1].distance(x[2]));
            let mut rest = curvature_of(&x);
            if !(rest < 1e3) {
                return Err(DeformableError::BadTopology { element: i, reason: "the curve turns back" });
            }
            if rest < 1e-9 {
                rest = 0.0;
            }
            if stiffness > 0.0 {
                let vertices = [i as u32, i as u32 + 1, i as u32 + 2];
                rod.rods.push(RodBend { vertices, stiffness, damping: stiffness * self.damping, rest });
            }
        }
        Ok(rod)
    }
}

/// Whether a hair needs auxiliary points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HairKind {
    /// Auxiliary points beside the segments.
    Straight,
    /// The points of the curve form the triangles.
    Curly,
}

/// Hair by springs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hair {
    /// Mass of a point, kg.
    pub mass: f64,
    /// Edges, N/m.
    pub edge: f64,
    /// Edges to auxiliary points, N/m.
    pub extra: f64,
    /// Over two points, N/m.
    pub bend: f64,
    /// Over three points, N/m; 0 leaves the torsion springs out.
    pub torsion: f64,
    /// Altitude springs, N/m; 0 leaves them out.
    pub altitude: f64,
    /// k_d of all springs, N s/m.
    pub damping: f64,
}

impl Hair {
    /// Points of a curve ⇒ hair. The vertices of straight hair alternate: point, auxiliary point, point, …
    ///
    /// # Errors
    /// Fewer than two points, coincident neighbours, coefficients out of range.
    pub fn curve(&self, points: &[DVec3], kind: HairKind) -> Result<Deformable, DeformableError> {
        if points.len() < 2 || points.len() > MAX_VERTICES / 2 {
            return Err(DeformableError::BadTopology {
                element: 0,
                reason: "a curve has two points or more",
            });
        }
        let mut x = Vec::new();
        let mut strands = Vec::new();
        match kind {
            HairKind::Curly => {
                x.extend_from_slice(points);
                strands.extend((1..points.len() as u32).map(|i| [i - 1, i]));
            }
            HairKind::Straight => {
                let mut side = DVec3::ZERO;
                for (i, pair) in points.windows(2).enumerate() {
                    let (d, middle) = (pair[1] - pair[0], 0.5 * (pair[0] + pair[1]));
                    // The direction of the segment before, made perpendicular: no twist along the curve.
                    let across = side - d * (side.dot(d) / d.length_squared());
                    side = across
                        .try_normalize()
                        .unwrap_or_else(|| d.normalize_or(DVec3::X).any_orthonormal_vector());
                    // Equilateral: all springs keep a lever.
                    x.extend([pair[0], middle + side * (0.75_f64.sqrt() * d.length())]);
                    strands.push([2 * i as u32, 2 * i as u32 + 2]);
                }
                x.extend(points.last());
            }
        }
        let mut hair = Deformable::from_vertices(x.clone(), vec![self.mass; x.len()])?;
        for (element, &[a, b]) in strands.iter().enumerate() {
            if !(x[a as usize].distance(x[b as usize]) > 0.0) {
                return Err(DeformableError::BadTopology { element, reason: "an edge must have a length" });
            }
        }
        let n = x.len() as u32;
        let d = self.damping;
        for i in 0..n {
            let straight = kind == HairKind::Straight;
            for (step, kind, k) in [
                (
                    1,
                    if straight { SpringKind::Extra } else { SpringKind::Structural },
                    if straight { self.extra } else { self.edge },
                ),
                (
                    2,
                    if straight && i % 2 == 0 { SpringKind::Structural } else { SpringKind::Bend },
                    if straight && i % 2 == 0 { self.edge } else { self.bend },
                ),
                (3, SpringKind::Torsion, self.torsion),
            ] {
                if i + step < n && k > 0.0 {
                    hair.add_spring(kind, [i, i + step], k, d)?;
                }
            }
            // Over four: the bending of the zig-zag, of which i–i+2 is the curve itself.
            if straight && i % 2 == 0 && i + 4 < n && self.bend > 0.0 {
                hair.add_spring(SpringKind::Bend, [i, i + 4], self.bend, d)?;
            }
            if self.altitude > 0.0 && i + 3 < n {
                let v = [i, i + 1, i + 2, i + 3];
                // Four points of a plane have no altitude.
                if hair.add_altitude(v, self.altitude, d).is_err() {
                    let _planar = hair.add_altitude([i, i + 2, i + 1, i + 3], self.altitude, d);
                }
            }
        }
        hair.strands = strands;
        Ok(hair)
    }
}
