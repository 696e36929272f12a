#![no_main]

use glam::{DQuat, DVec3};
use libfuzzer_sys::fuzz_target;
use rattleback_geometry::contact::{Piece, PieceCache, collide_pieces};
use rattleback_geometry::{Pose, Shape};

/// Reads numbers from bytes, zero when they are used up: any eight bytes, or small whole numbers that make ties.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        first
    }

    fn number(&mut self) -> f64 {
        let kind = self.byte();
        if kind < 32 {
            let bytes: [u8; 8] = std::array::from_fn(|_| self.byte());
            return f64::from_le_bytes(bytes);
        }
        f64::from(self.byte() as i8) / if kind < 128 { 32.0 } else { 37.0 }
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn shape(&mut self) -> Option<Shape> {
        match self.byte() % 9 {
            0 => Shape::sphere(self.number()),
            1 => Shape::cuboid(self.vector()),
            2 => Shape::cylinder(self.number(), self.number()),
            3 => Shape::capsule(self.number(), self.number()),
            4 => Shape::cone(self.number(), self.number()),
            5 => Shape::ellipsoid(self.vector()),
            6 => Shape::half_space(self.vector()),
            7 => {
                let count = 4 + self.byte() % 28;
                let points: Vec<DVec3> = (0..count).map(|_| self.vector()).collect();
                Shape::convex_hull(&points)
            }
            _ => return None,
        }
        .ok()
    }
}

/// A shape as a piece, or the triangle where there is none.
fn piece(shape: &Option<Shape>, corners: [DVec3; 3]) -> Piece<'_> {
    match shape {
        Some(shape) => Piece::try_from(shape).expect("these are convex"),
        None => Piece::Triangle(corners),
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let (shape_a, shape_b) = (numbers.shape(), numbers.shape());
    let corners = [numbers.vector(), numbers.vector(), numbers.vector()];
    let (a, b) = (piece(&shape_a, corners), piece(&shape_b, corners));
    let (turn, at, margin) = (numbers.vector(), numbers.vector(), numbers.number());
    let pose = Pose::new(DQuat::from_scaled_axis(turn), at);
    let mut cache = PieceCache::default();
    for _ in 0..2 {
        let Ok(Some(manifold)) = collide_pieces(&a, &b, &pose, margin, &mut cache) else { continue };
        assert!((manifold.normal.length() - 1.0).abs() < 1e-6);
        assert!(!manifold.points().is_empty() && manifold.points().len() <= 4);
        for point in manifold.points() {
            assert!(point.point_a.is_finite() && point.point_b.is_finite());
            assert!(point.separation <= margin);
        }
    }
});
