//! Parts that are refused say why and what to do; nothing panics.

use glam::DVec3;
use rattleback_geometry::{PolygonSoup, generate};
use rattleback_lab::contact::Random;
use rattleback_lab::poses::{Landscape, Part, PartOptions, PoseError};

fn part(soup: &PolygonSoup) -> Result<Part, PoseError> {
    Part::from_soup(soup, &PartOptions::default())
}

fn says(error: &PoseError, words: &[&str]) {
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

#[test]
fn an_open_surface_is_no_solid_but_its_hull_may_be_taken() {
    let whole = generate::cuboid(DVec3::splat(0.01)).unwrap();
    let mut open = PolygonSoup::new(whole.vertices.clone());
    (0..5).for_each(|i| open.push_face(whole.face(i)));
    let error = part(&open).unwrap_err();
    assert!(matches!(error, PoseError::NotSolid { .. }));
    says(&error, &["closed", "--hull"]);
    let options = PartOptions { filled_hull: true, ..PartOptions::default() };
    assert_eq!(Part::from_soup(&open, &options).unwrap().hull().face_count(), 6);
}

#[test]
fn an_inside_out_surface_is_turned_with_a_note() {
    let soup = generate::cuboid(DVec3::splat(0.01)).unwrap().reversed();
    let part = part(&soup).unwrap();
    assert!(part.mass().mass > 0.0 && part.notes()[0].contains("inwards"));
}

#[test]
fn a_flat_part_needs_a_thickness() {
    let mut sheet = PolygonSoup::new(vec![DVec3::ZERO, 0.01 * DVec3::X, 0.01 * DVec3::Y]);
    sheet.push_face(&[0, 1, 2]);
    sheet.push_face(&[0, 2, 1]);
    let error = part(&sheet).unwrap_err();
    says(&error, &["flat", "thickness"]);
    let thin = generate::cuboid(DVec3::new(0.01, 0.01, 1e-13)).unwrap();
    assert!(matches!(part(&thin).unwrap_err(), PoseError::Flat { .. }));
}

#[test]
fn a_ball_has_no_pose() {
    let mut small = generate::icosphere(3).unwrap().to_soup();
    small.vertices.iter_mut().for_each(|p| *p *= 0.01);
    let error = Landscape::of(&part(&small).unwrap(), 0.02).unwrap_err();
    assert!(matches!(error, PoseError::NoStablePose { .. }));
    says(&error, &["no stable pose", "rolls"]);
}

#[test]
fn sizes_outside_of_the_range_suggest_a_unit() {
    for scale in [1e-9, 1e6] {
        let error = part(&generate::cuboid(DVec3::splat(scale)).unwrap()).unwrap_err();
        assert!(matches!(error, PoseError::Size { .. }));
        says(&error, &["--unit"]);
    }
}

#[test]
fn a_surface_through_itself_is_refused_where_it_shows() {
    // The same cube twice, one inside the other's place: twice the volume of the hull.
    let cube = generate::cuboid(DVec3::splat(0.01)).unwrap();
    let mut twice = PolygonSoup::new(cube.vertices.iter().chain(&cube.vertices).copied().collect());
    // Slightly smaller, so that corners are not joined.
    for p in &mut twice.vertices[8..] {
        *p *= 0.999;
    }
    for face in cube.faces() {
        twice.push_face(face);
        twice.push_face(&face.iter().map(|i| i + 8).collect::<Vec<_>>());
    }
    let error = part(&twice).unwrap_err();
    assert!(matches!(error, PoseError::SelfIntersecting { .. }));
    says(&error, &["crosses itself", "union"]);
}

/// Two cubes that overlap in a corner enclose less than their hull, and a bow-tie prism encloses nothing: their triangles cross. Cubes that touch do not cross.
#[test]
fn crossing_triangles_are_refused_and_touching_ones_are_not() {
    let cube = generate::cuboid(DVec3::splat(0.01)).unwrap();
    let two = |offset: DVec3| {
        let mut both = PolygonSoup::new(cube.vertices.clone());
        both.vertices.extend(cube.vertices.iter().map(|p| 0.9 * *p + offset));
        for face in cube.faces() {
            both.push_face(face);
            both.push_face(&face.iter().map(|i| i + 8).collect::<Vec<_>>());
        }
        both
    };
    let error = part(&two(DVec3::new(0.005, 0.006, 0.007))).unwrap_err();
    assert!(matches!(error, PoseError::Crossing { .. }), "{error}");
    says(&error, &["crosses itself", "union", "--hull"]);
    assert!(part(&two(DVec3::new(0.019, 0.0, 0.0))).is_ok());
    assert!(part(&two(DVec3::new(0.019 - 1e-9, 0.001, 0.0))).is_ok());
    let corners = [(0.0, 0.0), (0.01, 0.01), (0.01, 0.0), (0.0, 0.01)];
    let mut tie = PolygonSoup::new(
        [0.0, 0.01].iter().flat_map(|z| corners.map(|(x, y)| DVec3::new(x, y, *z))).collect(),
    );
    for k in 0..4u32 {
        let next = (k + 1) % 4;
        tie.push_face(&[k, next, next + 4]);
        tie.push_face(&[k, next + 4, k + 4]);
    }
    for face in [[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7]] {
        tie.push_face(&face);
    }
    says(&part(&tie).unwrap_err(), &["crosses itself"]);
}

#[test]
fn bad_numbers_are_named() {
    let cube = generate::cuboid(DVec3::splat(0.01)).unwrap();
    for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Part::from_soup(&cube, &PartOptions { density, ..PartOptions::default() }).unwrap_err();
        assert!(matches!(error, PoseError::Parameter { name: "density", .. }));
    }
    assert!(Landscape::of(&part(&cube).unwrap(), 1.5).is_err());
    assert!(part(&PolygonSoup::default()).is_err());
    let nan = PolygonSoup::from_triangles(vec![DVec3::NAN; 4], &[[0, 1, 2], [1, 2, 3]]);
    assert!(part(&nan).is_err());
}

/// Random triangles: an error or a part, never a panic.
#[test]
fn random_soups_do_not_panic() {
    let mut random = Random::new(8, 8);
    for _ in 0..500 {
        let count = 1 + random.index(8);
        let scale = random.log_range(1e-8, 1e5);
        let vertices: Vec<DVec3> = (0..count).map(|_| scale * random.direction()).collect();
        let mut soup = PolygonSoup::new(vertices);
        for _ in 0..random.index(12) {
            let face: Vec<u32> = (0..random.index(6)).map(|_| random.index(count) as u32).collect();
            soup.push_face(&face);
        }
        for filled_hull in [false, true] {
            if let Ok(part) = Part::from_soup(&soup, &PartOptions { filled_hull, ..PartOptions::default() }) {
                let _ = Landscape::of(&part, 0.02);
            }
        }
    }
}
