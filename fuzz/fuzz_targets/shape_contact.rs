#![no_main]

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use libfuzzer_sys::fuzz_target;
use rattleback_geometry::contact::{ContactCache, Contacts, collide, distance, intersects};
use rattleback_geometry::{Compound, HeightField, Pose, Shape, TriangleMesh};

/// Reads numbers from bytes, zero when they are used up: any eight bytes, or small ones that make ties.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn number(&mut self) -> f64 {
        if self.byte() < 16 {
            return f64::from_le_bytes(std::array::from_fn(|_| self.byte()));
        }
        f64::from(self.byte() as i8) / 32.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn pose(&mut self) -> Pose {
        Pose::new(DQuat::from_scaled_axis(self.vector()), self.vector())
    }

    /// A shape, of which compounds hold no compounds.
    fn shape(&mut self, parts: bool) -> Option<Shape> {
        match self.byte() % if parts { 7 } else { 6 } {
            0 => Shape::sphere(self.number()).ok(),
            1 => Shape::cuboid(self.vector()).ok(),
            2 => Shape::half_space(self.vector()).ok(),
            3 | 4 => {
                let count = 3 + self.byte() % 12;
                let points: Vec<DVec3> = (0..count).map(|_| self.vector()).collect();
                let faces = 1 + self.byte() % 20;
                let triangles =
                    (0..faces).map(|_| [0; 3].map(|_: u32| u32::from(self.byte() % count))).collect();
                TriangleMesh::new(points, triangles).ok().map(|mesh| Shape::Mesh(Arc::new(mesh)))
            }
            5 => {
                let (rows, columns) = (2 + usize::from(self.byte() % 4), 2 + usize::from(self.byte() % 4));
                let spacing = DVec2::new(self.number(), self.number());
                let heights = (0..rows * columns).map(|_| self.number()).collect();
                HeightField::new(rows, columns, spacing, heights)
                    .ok()
                    .map(|field| Shape::HeightField(Arc::new(field)))
            }
            _ => {
                let count = 1 + self.byte() % 4;
                let parts = (0..count).filter_map(|_| Some((self.pose(), self.shape(false)?))).collect();
                Compound::new(parts).ok().map(|compound| Shape::Compound(Arc::new(compound)))
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let (Some(a), Some(b)) = (numbers.shape(true), numbers.shape(true)) else { return };
    let (mut cache, mut contacts) = (ContactCache::default(), Contacts::default());
    for _ in 0..2 {
        let (pose, margin) = (numbers.pose(), numbers.number());
        if collide(&a, &b, &pose, margin, &mut cache, &mut contacts).is_ok() {
            for manifold in contacts.manifolds() {
                assert!((manifold.normal.length() - 1.0).abs() < 1e-6 && !manifold.points().is_empty());
            }
        }
        let _ = distance(&a, &b, &pose);
        let _ = intersects(&a, &b, &pose);
    }
});
