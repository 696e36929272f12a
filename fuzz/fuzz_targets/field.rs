#![no_main]

use libfuzzer_sys::fuzz_target;
use rattleback_fuzz::numbers::Numbers;
use rattleback_geometry::distance_field::{DistanceField, FieldSettings, FillRule};
use rattleback_geometry::{PolygonSoup, Shape};

/// Closed surfaces (hulls, one inside or through another) or any triangles.
fn surface(numbers: &mut Numbers<'_>) -> PolygonSoup {
    let mut soup = PolygonSoup::default();
    for _ in 0..1 + numbers.byte() % 3 {
        if numbers.byte() % 4 == 0 {
            let (points, triangles) = numbers.triangles();
            let first = soup.vertices.len() as u32;
            soup.vertices.extend(points);
            triangles.iter().for_each(|corners| soup.push_face(&corners.map(|v| v + first)));
        } else if let Ok(Shape::Convex(hull)) = Shape::convex_hull(&numbers.points(4, 12)) {
            let first = soup.vertices.len() as u32;
            soup.vertices.extend(hull.vertices());
            for face in 0..hull.face_count() {
                let corners: Vec<u32> = hull.face(face).iter().map(|&v| v + first).collect();
                soup.push_face(&corners);
            }
        }
    }
    soup
}

fuzz_target!(|bytes: &[u8]| {
    let mut numbers = Numbers(bytes);
    let soup = surface(&mut numbers);
    let settings = FieldSettings {
        resolution: u32::from(numbers.byte() % 20),
        fill_rule: if numbers.byte() % 2 == 0 { FillRule::Winding } else { FillRule::EvenOdd },
        memory_limit: 1 << 24,
    };
    let Ok(field) = DistanceField::build_from_soup(&soup, &settings) else { return };
    for _ in 0..4 {
        let p = numbers.vector();
        if let Some(value) = field.value(p) {
            assert!(!value.is_nan(), "{p}");
        }
        let _ = (field.gradient(p), field.slope(p));
    }
    if let Ok(mesh) = field.to_mesh() {
        assert!(mesh.vertices().iter().all(|p| p.is_finite()));
    }
});
