//! Deformable bodies as they are built: vertices in contiguous arrays, elements between them, a surface.

mod cloth;
mod solid;
mod strand;

pub use cloth::{Cloth, SpringCloth};
pub use solid::{Solid, SolidMesh};
pub use strand::{Hair, HairKind, Strand};

use std::ops::Range;

use glam::DVec3;
use rattleback_geometry::Pose;
use serde::{Deserialize, Serialize};

use crate::DeformableError;
use crate::element::{Altitude, Element, Hinge, Membrane, RodBend, Spring, SpringKind, Tetrahedron};
use crate::error::check;

/// Most vertices of a model.
pub const MAX_VERTICES: usize = 1 << 24;

/// Vertices with mass and the elements between them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deformable {
    /// Positions, m.
    pub position: Vec<DVec3>,
    /// Velocities, m/s.
    pub velocity: Vec<DVec3>,
    /// Positions without stress, m.
    pub rest: Vec<DVec3>,
    /// Masses, kg.
    pub mass: Vec<f64>,
    /// Vertices that move as they are told, not by forces.
    pub pinned: Vec<bool>,
    /// Springs.
    pub springs: Vec<Spring>,
    /// Altitude springs.
    pub altitudes: Vec<Altitude>,
    /// Stretching and shearing of triangles.
    pub membranes: Vec<Membrane>,
    /// Bending between triangles.
    pub hinges: Vec<Hinge>,
    /// Bending of strands.
    pub rods: Vec<RodBend>,
    /// Tetrahedra.
    pub tetrahedra: Vec<Tetrahedron>,
    /// Triangles of the surface: contact, wind, pressure.
    pub triangles: Vec<[u32; 3]>,
    /// Edges that belong to no triangle, of strands: contact.
    pub strands: Vec<[u32; 2]>,
}

impl Deformable {
    /// Vertices at rest without elements.
    ///
    /// # Errors
    /// A mass or position that is not valid.
    pub fn from_vertices(position: Vec<DVec3>, mass: Vec<f64>) -> Result<Self, DeformableError> {
        let count = position.len();
        if count > MAX_VERTICES || mass.len() != count {
            return Err(DeformableError::TooMany {
                what: "vertices (or masses of another number)",
                count: count as u64,
                limit: MAX_VERTICES as u64,
            });
        }
        if let Some(&mass) = mass.iter().find(|m| !(m.is_finite() && **m > 0.0)) {
            return Err(DeformableError::InvalidMass { mass });
        }
        if let Some(vertex) = position.iter().position(|x| !x.is_finite()) {
            return Err(DeformableError::NonFiniteState { what: "position", vertex });
        }
        Ok(Self {
            velocity: vec![DVec3::ZERO; count],
            rest: position.clone(),
            pinned: vec![false; count],
            position,
            mass,
            ..Self::default()
        })
    }

    /// Number of vertices.
    pub const fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there is no vertex.
    pub const fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Adds a spring with the present distance as rest length; k in N/m, k_d in N s/m.
    ///
    /// # Errors
    /// Ends that are one vertex or do not exist, a coefficient that is negative or not finite.
    pub fn add_spring(
        &mut self,
        kind: SpringKind,
        vertices: [u32; 2],
        stiffness: f64,
        damping: f64,
    ) -> Result<(), DeformableError> {
        let element = self.springs.len();
        let [i, j] = vertices;
        if i == j || i.max(j) as usize >= self.len() {
            return Err(DeformableError::BadTopology { element, reason: "ends must be two vertices" });
        }
        check("stiffness", stiffness, stiffness >= 0.0, "≥ 0 N/m")?;
        check("damping", damping, damping >= 0.0, "≥ 0 N s/m")?;
        let rest = self.rest[i as usize].distance(self.rest[j as usize]);
        self.springs.push(Spring { vertices, kind, stiffness, damping, rest });
        Ok(())
    }

    /// Adds the altitude springs of a tetrahedron; k in N/m, k_d in N s/m.
    ///
    /// # Errors
    /// Vertices that do not exist, or a tetrahedron without volume or turned inside out at rest.
    pub fn add_altitude(
        &mut self,
        vertices: [u32; 4],
        stiffness: f64,
        damping: f64,
    ) -> Result<(), DeformableError> {
        let element = self.altitudes.len();
        if vertices.iter().any(|&v| v as usize >= self.len()) {
            return Err(DeformableError::BadTopology { element, reason: "vertex does not exist" });
        }
        check("stiffness", stiffness, stiffness >= 0.0, "≥ 0 N/m")?;
        check("damping", damping, damping >= 0.0, "≥ 0 N s/m")?;
        let x = vertices.map(|v| self.rest[v as usize]);
        let spring = Altitude::new(vertices, &x, stiffness, damping).ok_or(DeformableError::BadTopology {
            element,
            reason: "a tetrahedron must have positive volume at rest",
        })?;
        self.altitudes.push(spring);
        Ok(())
    }

    /// Pins a vertex: it moves only as it is told.
    ///
    /// # Errors
    /// There is no such vertex.
    pub fn pin(&mut self, vertex: usize) -> Result<(), DeformableError> {
        let count = self.len();
        let pinned = self.pinned.get_mut(vertex).ok_or(DeformableError::NoSuch {
            what: "vertex",
            index: vertex,
            count,
        })?;
        *pinned = true;
        Ok(())
    }

    /// The same at another place, rest shape included.
    #[must_use]
    pub fn transformed(mut self, pose: &Pose) -> Self {
        for x in self.position.iter_mut().chain(&mut self.rest) {
            *x = pose.point(*x);
        }
        for v in &mut self.velocity {
            *v = pose.vector(*v);
        }
        self
    }

    /// The same with one velocity for all vertices, m/s.
    #[must_use]
    pub fn with_velocity(mut self, velocity: DVec3) -> Self {
        self.velocity.fill(velocity);
        self
    }

    /// Appends another body ⇒ its vertices here.
    ///
    /// # Errors
    /// Too many vertices.
    pub fn append(&mut self, other: &Self) -> Result<Range<usize>, DeformableError> {
        let base = self.len();
        let count = base + other.len();
        if count > MAX_VERTICES {
            return Err(DeformableError::TooMany {
                what: "vertices",
                count: count as u64,
                limit: MAX_VERTICES as u64,
            });
        }
        self.position.extend_from_slice(&other.position);
        self.velocity.extend_from_slice(&other.velocity);
        self.rest.extend_from_slice(&other.rest);
        self.mass.extend_from_slice(&other.mass);
        self.pinned.extend_from_slice(&other.pinned);
        let shift = |v: u32| v + base as u32;
        append_elements(&mut self.springs, &other.springs, shift);
        append_elements(&mut self.altitudes, &other.altitudes, shift);
        append_elements(&mut self.membranes, &other.membranes, shift);
        append_elements(&mut self.hinges, &other.hinges, shift);
        append_elements(&mut self.rods, &other.rods, shift);
        append_elements(&mut self.tetrahedra, &other.tetrahedra, shift);
        self.triangles.extend(other.triangles.iter().map(|t| t.map(shift)));
        self.strands.extend(other.strands.iter().map(|e| e.map(shift)));
        Ok(base..count)
    }

    /// Checks arrays and indices of a model that was read or made by hand.
    ///
    /// # Errors
    /// What is wrong first.
    pub fn validate(&self) -> Result<(), DeformableError> {
        let count = self.len();
        let same = [self.velocity.len(), self.rest.len(), self.mass.len(), self.pinned.len()];
        if same.iter().any(|&n| n != count) || count > MAX_VERTICES {
            return Err(DeformableError::BadTopology {
                element: 0,
                reason: "arrays of vertices differ in length",
            });
        }
        for (what, vectors) in
            [("position", &self.position), ("velocity", &self.velocity), ("rest position", &self.rest)]
        {
            if let Some(vertex) = vectors.iter().position(|x| !x.is_finite()) {
                return Err(DeformableError::NonFiniteState { what, vertex });
            }
        }
        if let Some(&mass) = self.mass.iter().find(|m| !(m.is_finite() && **m > 0.0)) {
            return Err(DeformableError::InvalidMass { mass });
        }
        check_elements(&self.springs, count)?;
        check_elements(&self.altitudes, count)?;
        check_elements(&self.membranes, count)?;
        check_elements(&self.hinges, count)?;
        check_elements(&self.rods, count)?;
        check_elements(&self.tetrahedra, count)?;
        check_indices(&self.triangles, count)?;
        check_indices(&self.strands, count)
    }

    /// Edges of the surface and of strands, each once, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .chain(self.strands.iter().copied())
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

fn append_elements<E: Element<N>, const N: usize>(to: &mut Vec<E>, from: &[E], shift: impl Fn(u32) -> u32) {
    to.extend(from.iter().map(|e| {
        let mut e = e.clone();
        e.renumber(&shift);
        e
    }));
}

fn check_elements<E: Element<N>, const N: usize>(items: &[E], count: usize) -> Result<(), DeformableError> {
    for (element, item) in items.iter().enumerate() {
        check_index(element, &item.vertices(), count)?;
    }
    Ok(())
}

fn check_indices<const N: usize>(items: &[[u32; N]], count: usize) -> Result<(), DeformableError> {
    items.iter().enumerate().try_for_each(|(element, item)| check_index(element, item, count))
}

fn check_index(element: usize, v: &[u32], count: usize) -> Result<(), DeformableError> {
    if v.iter().any(|&v| v as usize >= count) {
        return Err(DeformableError::BadTopology { element, reason: "vertex does not exist" });
    }
    if (0..v.len()).any(|i| v[..i].contains(&v[i])) {
        return Err(DeformableError::BadTopology { element, reason: "a vertex stands twice" });
    }
    Ok(())
}
