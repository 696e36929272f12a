#![no_main]

use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::Shape;
use rattleback_geometry::contact::{Piece, PieceCache, collide_pieces};

/// A convex shape or half-space; none for a triangle.
fn shape(numbers: &mut Numbers<'_>) -> Option<Shape> {
    match numbers.byte() % 9 {
        0..7 => numbers.convex(),
        7 => Shape::half_space(numbers.vector()).ok(),
        _ => None,
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
    let (shape_a, shape_b) = (shape(&mut numbers), shape(&mut numbers));
    let corners = [numbers.vector(), numbers.vector(), numbers.vector()];
    let (a, b) = (piece(&shape_a, corners), piece(&shape_b, corners));
    let (pose, margin) = (numbers.pose(), numbers.number());
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
