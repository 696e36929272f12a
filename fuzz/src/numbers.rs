//! Numbers and shapes out of any bytes.

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use rattleback_geometry::{Compound, HeightField, Pose, Shape, TriangleMesh};

/// Bytes that are read as numbers, zero when they are used up.
pub struct Numbers<'a>(pub &'a [u8]);

impl Numbers<'_> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    /// Any eight bytes, or a small number that makes ties, or one of another size.
    pub fn number(&mut self) -> f64 {
        let kind = self.byte();
        let small = |byte: u8| f64::from(byte as i8) / 32.0;
        match kind {
            0..16 => f64::from_le_bytes(std::array::from_fn(|_| self.byte())),
            16..32 => small(self.byte()) * f64::from(self.byte() as i8 / 8).exp2(),
            32..144 => small(self.byte()),
            _ => f64::from(self.byte() as i8) / 37.0,
        }
    }

    /// Three numbers.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    /// A turn and a place, not always finite.
    pub fn pose(&mut self) -> Pose {
        Pose::new(DQuat::from_scaled_axis(self.vector()), self.vector())
    }

    /// Points.
    pub fn points(&mut self, least: u8, most: u8) -> Vec<DVec3> {
        let count = least + self.byte() % (most - least + 1);
        (0..count).map(|_| self.vector()).collect()
    }

    /// Points and triples of their numbers.
    pub fn triangles(&mut self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let points = self.points(3, 15);
        let count = points.len() as u8;
        let faces = 1 + self.byte() % 24;
        let triangles = (0..faces).map(|_| [0; 3].map(|_: u32| u32::from(self.byte() % count))).collect();
        (points, triangles)
    }

    /// A bounded convex shape.
    pub fn convex(&mut self) -> Option<Shape> {
        match self.byte() % 7 {
            0 => Shape::sphere(self.number()),
            1 => Shape::cuboid(self.vector()),
            2 => Shape::cylinder(self.number(), self.number()),
            3 => Shape::capsule(self.number(), self.number()),
            4 => Shape::cone(self.number(), self.number()),
            5 => Shape::ellipsoid(self.vector()),
            _ => Shape::convex_hull(&self.points(4, 31)),
        }
        .ok()
    }

    /// Any shape; compounds hold no compounds.
    pub fn shape(&mut self, parts: bool) -> Option<Shape> {
        match self.byte() % if parts { 8 } else { 7 } {
            0..4 => self.convex(),
            4 => Shape::half_space(self.vector()).ok(),
            5 => {
                let (points, triangles) = self.triangles();
                TriangleMesh::new(points, triangles).ok().map(|mesh| Shape::Mesh(Arc::new(mesh)))
            }
            6 => {
                let (rows, columns) = (2 + usize::from(self.byte() % 4), 2 + usize::from(self.byte() % 4));
                let spacing = DVec2::new(self.number(), self.number());
                let heights = (0..rows * columns).map(|_| self.number()).collect();
                let field = HeightField::new(rows, columns, spacing, heights).ok()?;
                Some(Shape::HeightField(Arc::new(field)))
            }
            _ => {
                let count = 1 + self.byte() % 4;
                let parts = (0..count).filter_map(|_| Some((self.pose(), self.shape(false)?))).collect();
                Compound::new(parts).ok().map(|compound| Shape::Compound(Arc::new(compound)))
            }
        }
    }
}
