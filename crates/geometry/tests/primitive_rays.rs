//! Rays and nearest points of every shape, against sampling, triangle soups and another library.

use crate::lens::Lens;
use crate::parry;
use crate::random;

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};
use random::Random;
use rattleback_geometry::primitive::{FromInside, Ray, Triangle, cast_ray_at_mesh, closest_of_triangles};
use rattleback_geometry::{HeightField, Pose, Shape, TriangleMesh, generate};

/// A lens of radius 2 with centres at z = ±1.5.
const LENS: Lens = Lens { radius: 2.0, offset: 1.5 };

fn lens_distance(p: DVec3) -> f64 {
    let outside = |z: f64| (p - DVec3::new(0.0, 0.0, z)).length() - 2.0;
    outside(-1.5).max(outside(1.5))
}

fn shapes() -> Vec<Shape> {
    let mut random = Random(77);
    let hull: Vec<DVec3> = (0..20).map(|_| random.in_cube()).collect();
    let heights = (0..63).map(|i| (0.9 * f64::from(i)).sin() + 0.3 * f64::from(i % 5)).collect();
    let field = HeightField::new(7, 9, DVec2::new(0.5, 0.7), heights).unwrap();
    let parts = vec![
        (random.pose(0.5), Shape::cuboid(DVec3::new(0.5, 0.7, 0.3)).unwrap()),
        (random.pose(0.8), Shape::sphere(0.6).unwrap()),
        (random.pose(0.8), Shape::capsule(0.3, 1.0).unwrap()),
    ];
    vec![
        Shape::sphere(0.8).unwrap(),
        Shape::cuboid(DVec3::new(0.5, 0.9, 1.2)).unwrap(),
        Shape::cylinder(0.7, 1.5).unwrap(),
        Shape::capsule(0.4, 1.1).unwrap(),
        Shape::cone(0.8, 1.6).unwrap(),
        Shape::ellipsoid(DVec3::new(0.4, 0.9, 1.3)).unwrap(),
        Shape::half_space(DVec3::new(1.0, 2.0, 3.0)).unwrap(),
        Shape::convex_hull(&hull).unwrap(),
        Shape::mesh(generate::torus(0.9, 0.4, 24, 12).unwrap()).unwrap(),
        Shape::height_field(field).unwrap(),
        Shape::compound(parts).unwrap(),
        Shape::custom(Arc::new(LENS)).unwrap(),
    ]
}

/// Walks along the ray in steps of 1/4000 and halves where the inside begins.
fn sampled_entry(shape: &Shape, ray: &Ray, reach: f64) -> Option<f64> {
    let inside = |t: f64| shape.contains(ray.at(t));
    if inside(0.0) {
        return Some(0.0);
    }
    let steps = 1000;
    let first = (1..=steps).find(|&i| inside(reach * f64::from(i) / f64::from(steps)))?;
    let (mut low, mut high) =
        (reach * f64::from(first - 1) / f64::from(steps), reach * f64::from(first) / f64::from(steps));
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if inside(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// the first point of a ray inside each solid, by sampling its implicit form; the hit lies on the
/// surface, its normal is a unit vector against the ray, and nothing is hit when sampling sees nothing but
/// grazing.
#[test]
fn a_30_rays_against_sampled_solids() {
    let mut random = Random(30);
    for shape in shapes() {
        let (mut hits, mut misses) = (0, 0);
        let solid_mesh = matches!(shape, Shape::Mesh(_) | Shape::Custom(_));
        for _ in 0..if solid_mesh { 150 } else { 1500 } {
            let ray = Ray::aimed(3.0 * random.on_sphere(), random.in_cube()).unwrap();
            let got = shape.cast_ray(&ray, 6.0, FromInside::Origin);
            let expected = match shape {
                Shape::Custom(_) => sampled_lens(&ray),
                Shape::HeightField(_) => None,
                _ => sampled_entry(&shape, &ray, 6.0),
            };
            if let Some(t) = expected {
                let hit = got.unwrap_or_else(|| panic!("{:?} missed {ray:?} at {t}", shape.kind()));
                assert!((hit.t - t).abs() < 1e-9 || hit.t < t, "{:?} {ray:?}: {} {t}", shape.kind(), hit.t);
            }
            let Some(hit) = got else {
                misses += 1;
                continue;
            };
            hits += 1;
            assert!((hit.normal.length() - 1.0).abs() < 1e-12);
            if hit.t > 0.0 {
                let on = shape.closest_point(hit.point).unwrap();
                assert!(on.distance.abs() < 1e-9, "{:?} {}", shape.kind(), on.distance);
                assert!(hit.normal.dot(ray.direction()) <= 1e-9, "{:?}", shape.kind());
            }
        }
        println!("{:>12}: {hits} hits, {misses} misses", shape.kind().name());
        assert!(hits > 30);
    }
}

fn sampled_lens(ray: &Ray) -> Option<f64> {
    let steps = 2000;
    let at = |i: u32| 6.0 * f64::from(i) / f64::from(steps);
    let first = (0..=steps).find(|&i| lens_distance(ray.at(at(i))) <= 0.0)?;
    let (mut low, mut high) = (at(first.saturating_sub(1)), at(first));
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if lens_distance(ray.at(middle)) <= 0.0 { high = middle } else { low = middle }
    }
    Some(high)
}

/// Rays from inside: at the origin, or at the exit, which is where the ray back from beyond enters.
#[test]
fn rays_from_inside_leave_where_the_reverse_ray_enters() {
    let mut random = Random(31);
    for shape in shapes() {
        if matches!(shape, Shape::HalfSpace(_) | Shape::HeightField(_) | Shape::Mesh(_) | Shape::Compound(_))
        {
            continue;
        }
        let mut inside = 0;
        for _ in 0..200 {
            let ray = Ray::new(0.6 * random.in_cube(), random.on_sphere()).unwrap();
            if shape.closest_point(ray.origin()).unwrap().distance > -1e-3 {
                continue;
            }
            inside += 1;
            let start = shape.cast_ray(&ray, 9.0, FromInside::Origin).unwrap();
            assert_eq!((start.t, start.normal), (0.0, -ray.direction()));
            let exit = shape.cast_ray(&ray, 9.0, FromInside::Exit).unwrap();
            let back = Ray::new(ray.at(9.0), -ray.direction()).unwrap();
            let entry = shape.cast_ray(&back, 20.0, FromInside::Origin).unwrap();
            let tolerance = if matches!(shape, Shape::Custom(_)) { 1e-8 } else { 1e-12 };
            assert!(
                (exit.t - (9.0 - entry.t)).abs() < tolerance,
                "{:?} {} {}",
                shape.kind(),
                exit.t,
                9.0 - entry.t
            );
            assert!(exit.normal.dot(ray.direction()) > 0.0);
            assert!(shape.cast_ray(&ray, 0.5 * exit.t, FromInside::Exit).is_none());
        }
        assert!(inside > 10, "{:?}", shape.kind());
    }
    let mesh = Shape::mesh(generate::torus(0.9, 0.4, 24, 12).unwrap()).unwrap();
    let ray = Ray::new(DVec3::new(0.9, 0.0, 0.0), DVec3::X).unwrap();
    assert_eq!(mesh.cast_ray(&ray, 0.1, FromInside::Origin).unwrap().t, 0.0);
    let exit = mesh.cast_ray(&ray, 9.0, FromInside::Exit).unwrap();
    assert!((exit.t - 0.4).abs() < 1e-12 && exit.normal.x > 0.9);
    // Two overlapping spheres: out of one is still inside the other.
    let sphere = Shape::sphere(1.0).unwrap();
    let pair = Shape::compound(vec![(Pose::IDENTITY, sphere.clone()), (Pose::at(DVec3::X), sphere)]).unwrap();
    let ray = Ray::new(-0.5 * DVec3::X, DVec3::X).unwrap();
    let exit = pair.cast_ray(&ray, 9.0, FromInside::Exit).unwrap();
    assert!((exit.t - 2.5).abs() < 1e-12 && exit.part == 1);
}

/// Hits and nearest points agree with the other library for the shapes both have, near, tiny (1e-4) and
/// stretched (1 : 1000).
#[test]
fn rays_and_nearest_points_agree_with_another_library() {
    let mut random = Random(32);
    let mut all: Vec<(Shape, f64)> = shapes().into_iter().map(|s| (s, 1.0)).collect();
    all.push((Shape::cuboid(DVec3::new(1e-4, 2e-4, 1e-4)).unwrap(), 1e-4));
    all.push((Shape::cylinder(0.001, 1.0).unwrap(), 0.5));
    all.push((Shape::cylinder(1.0, 0.001).unwrap(), 0.5));
    all.push((Shape::capsule(1e-4, 2e-4).unwrap(), 1e-4));
    all.push((Shape::cone(0.002, 2.0).unwrap(), 0.5));
    let (mut worst_ray, mut worst_point) = (0.0_f64, 0.0_f64);
    for (shape, size) in all {
        let Some((theirs, place)) = parry::shape(&shape) else { continue };
        let place = parry::pose(&place);
        let mut different = 0;
        for _ in 0..2000 {
            let ray = Ray::aimed(size * 3.0 * random.on_sphere(), size * 0.7 * random.in_cube()).unwrap();
            let their_ray =
                parry3d_f64::query::Ray::new(parry::vector(ray.origin()), parry::vector(ray.direction()));
            let ours = shape.cast_ray(&ray, 10.0 * size, FromInside::Origin);
            let other = theirs.cast_ray(&place, &their_ray, 10.0 * size, true);
            match (ours, other) {
                (Some(a), Some(b)) => worst_ray = worst_ray.max((a.t - b).abs() / size),
                (None, None) => {}
                _ => different += 1,
            }
            let p = 2.0 * size * random.in_cube();
            let ours = shape.closest_point(p).unwrap();
            let other = theirs.project_point(&place, parry::vector(p), false);
            let distance = p.distance(parry::back(other.point));
            assert_eq!(ours.inside, other.is_inside, "{:?} {p}", shape.kind());
            worst_point = worst_point.max((ours.distance.abs() - distance).abs() / size);
        }
        // Rays that graze within rounding may go either way.
        assert!(different <= 2, "{:?}: {different}", shape.kind());
    }
    println!("rays {worst_ray:e}, nearest points {worst_point:e} of the size");
    // The other library finds cylinders and cones by a search that ends about 1e-6 from the surface; ours are
    // within 1e-9 of the sampled surface.
    assert!(worst_ray < 1e-5 && worst_point < 1e-12);
}

/// Nearest points: on the surface, no sampled surface point is nearer, normal = gradient of the distance,
/// sign = contains.
#[test]
fn nearest_points_beat_every_sampled_surface_point() {
    let mut random = Random(33);
    for shape in shapes() {
        let Ok(surface) = shape.surface(64) else { continue };
        let exact_solid = !matches!(shape, Shape::Compound(_));
        for _ in 0..if matches!(shape, Shape::Custom(_)) { 40 } else { 300 } {
            let p = 1.6 * random.in_cube();
            let got = shape.closest_point(p).unwrap();
            assert!((got.normal.length() - 1.0).abs() < 1e-12);
            assert!((p.distance(got.point) - got.distance.abs()).abs() < 1e-9, "{:?}", shape.kind());
            assert!((got.point + got.distance * got.normal).distance(p) < 1e-9, "{:?} {p}", shape.kind());
            if !matches!(shape, Shape::Custom(_)) {
                assert_eq!(got.inside, shape.contains(p), "{:?} {p}", shape.kind());
            }
            // Vertices of the tessellation lie on the surface.
            if exact_solid {
                let nearest = surface.vertices().iter().map(|v| v.distance(p)).fold(f64::INFINITY, f64::min);
                assert!(
                    got.distance.abs() <= nearest + 1e-9,
                    "{:?} {p}: {} {nearest}",
                    shape.kind(),
                    got.distance
                );
            }
        }
    }
}

/// The lens has a closed form: inside the larger of the two spheres' signed distances.
#[test]
fn custom_shapes_agree_with_their_closed_form() {
    let lens = Shape::custom(Arc::new(LENS)).unwrap();
    let mut random = Random(34);
    let mut worst = 0.0_f64;
    for _ in 0..100 {
        let p = DVec3::new(1.2, 1.2, 0.5) * random.in_cube();
        let exact = lens_distance(p);
        let got = lens.closest_point(p).unwrap();
        assert_eq!(got.inside, exact <= 0.0, "{p} {exact} {got:?}");
        if exact < 0.0 {
            worst = worst.max((got.distance - exact).abs());
        }
    }
    println!("depth off by at most {worst:e}");
    assert!(worst < 1e-8);
}

/// Ellipsoids: the nearest point's normal points to p; on axes, in symmetry planes, at the centre, flat (1 :
/// 1000) and tiny.
#[test]
fn nearest_points_of_ellipsoids_from_everywhere() {
    let mut random = Random(35);
    for case in 0..50_000 {
        let scale = [1.0, 1e-4, 1e6][case % 3];
        let mut axes =
            DVec3::new(random.between(0.1, 1.0), random.between(0.1, 1.0), random.between(0.1, 1.0));
        if case % 5 == 0 {
            axes.y *= 1e-3;
        }
        if case % 7 == 0 {
            axes.z = axes.x;
        }
        let mut p = 2.0 * axes * random.in_cube();
        for axis in 0..3 {
            if case >> axis & 8 != 0 {
                p[axis] = 0.0;
            }
        }
        let (axes, p) = (scale * axes, scale * p);
        let got = Shape::ellipsoid(axes).unwrap().closest_point(p).unwrap();
        let on = (got.point / axes).length_squared();
        assert!((on - 1.0).abs() < 1e-12, "{axes} {p} {on}");
        let normal = (got.point / (axes * axes)).normalize();
        let off = (p - got.point) - (p - got.point).dot(normal) * normal;
        assert!(off.length() < 1e-9 * (scale + p.length()), "{axes} {p} {got:?} {}", off.length());
        // No nearer point among a few hundred around it.
        for _ in 0..20 {
            let q = axes * random.on_sphere();
            assert!(q.distance(p) >= got.distance.abs() * (1.0 - 1e-9));
        }
    }
}

/// A ray through a terrain hits the same triangle first whether the grid is traversed or every triangle is
/// tested; rays down grid lines, through grid points and along diagonals included.
#[test]
fn height_field_walk_agrees_with_all_triangles() {
    let mut random = Random(36);
    let heights: Vec<f64> = (0..400).map(|_| random.between(0.0, 1.0)).collect();
    let field = HeightField::new(20, 20, DVec2::new(0.5, 0.25), heights).unwrap();
    let all = field.surface().unwrap();
    let shape = Shape::height_field(field.clone()).unwrap();
    let (mut hits, mut diagonal) = (0, 0);
    for case in 0..6_000 {
        let mut origin = DVec3::new(6.0, 4.0, 3.0) * random.in_cube() + DVec3::Z;
        let mut target = DVec3::new(4.0, 2.0, 0.5) * random.in_cube() + 0.5 * DVec3::Z;
        match case % 5 {
            0 => target = DVec3::new(origin.x, origin.y, -9.0),
            1 => {
                // From grid point to grid point, up and down included.
                let on_grid = |p: DVec3| {
                    let cell = ((p.truncate() - field.corner()) / field.spacing()).round();
                    (field.corner() + cell * field.spacing()).extend(p.z)
                };
                (origin, target) = (on_grid(origin), on_grid(target));
                diagonal += 1;
            }
            _ => {}
        }
        let Ok(ray) = Ray::aimed(origin, target) else { continue };
        let triangles = (0..all.triangles().len()).map(|i| (i as u32, Triangle::from(all.triangle(i))));
        let expected = cast_ray_at_mesh(&ray, 50.0, FromInside::Exit, false, triangles);
        let got = shape.cast_ray(&ray, 50.0, FromInside::Exit);
        assert_eq!(got.map(|hit| hit.t), expected.map(|hit| hit.t), "{case} {ray:?}");
        hits += u32::from(got.is_some());
        if case % 10 == 0 {
            let triangles = (0..all.triangles().len()).map(|i| (i as u32, Triangle::from(all.triangle(i))));
            let (nearest, ..) = closest_of_triangles(origin, triangles).unwrap();
            let got = shape.closest_point(origin).unwrap();
            assert!((got.distance.abs() - nearest.distance(origin)).abs() < 1e-14);
        }
    }
    println!("{hits} hits, {diagonal} along the grid");
    assert!(hits > 3_000);
}

/// No ray from inside a closed mesh slips out between its triangles, though aimed at edges and vertices.
#[test]
fn no_ray_leaks_between_triangles() {
    let mut random = Random(37);
    let mesh: TriangleMesh = generate::icosphere(3).unwrap().transformed(&random.pose(3.0)).unwrap();
    let shape = Shape::mesh(mesh.clone()).unwrap();
    let center = mesh.bounds().center();
    for &v in mesh.vertices() {
        let w = mesh.vertices()[random.bits() as usize % mesh.vertices().len()];
        for target in [v, v.lerp(w, 1e-3)] {
            let ray = Ray::aimed(center, target).unwrap();
            assert!(shape.cast_ray(&ray, 9.0, FromInside::Exit).is_some());
        }
    }
    for &[a, b, _] in mesh.triangles() {
        let target = mesh.vertices()[a as usize].lerp(mesh.vertices()[b as usize], random.between(0.0, 1.0));
        let ray = Ray::aimed(center, target).unwrap();
        assert!(shape.cast_ray(&ray, 9.0, FromInside::Exit).is_some());
    }
}

/// Far away (1e6) the hit is as exact as the coordinates; a posed shape is the shape; bad input gives
/// nothing.
#[test]
fn far_rays_posed_shapes_and_bad_input() {
    let mut random = Random(38);
    for shape in shapes() {
        for _ in 0..200 {
            let near = Ray::aimed(3.0 * random.on_sphere(), 0.3 * random.in_cube()).unwrap();
            let far = Ray::new(near.at(-1e6), near.direction()).unwrap();
            let (a, b) =
                (shape.cast_ray(&near, 10.0, FromInside::Exit), shape.cast_ray(&far, 2e6, FromInside::Exit));
            if let (Some(a), Some(b)) = (a, b)
                && a.normal.dot(near.direction()).abs() > 0.1
                && !matches!(shape, Shape::HalfSpace(_) | Shape::HeightField(_))
            {
                assert!((b.t - 1e6 - a.t).abs() < 1e-7, "{:?} {} {}", shape.kind(), a.t, b.t - 1e6);
            }
            let pose = random.pose(2.0);
            let posed = shape.cast_ray_at(&pose, &near.transformed(&pose), 10.0, FromInside::Origin);
            let plain = shape.cast_ray(&near, 10.0, FromInside::Origin);
            if let (Some(a), Some(b)) = (plain, posed) {
                assert!((a.t - b.t).abs() < 1e-6);
            }
        }
        let ray = Ray::new(DVec3::splat(5.0), DVec3::X).unwrap();
        assert!(shape.cast_ray(&ray, f64::NAN, FromInside::Origin).is_none());
        assert!(shape.cast_ray(&ray, -1.0, FromInside::Origin).is_none());
        assert!(shape.closest_point(DVec3::NAN).is_none());
        assert!(shape.closest_point(DVec3::splat(1e12)).is_some());
        let _ = shape.cast_ray(
            &Ray::new(DVec3::splat(1e300), DVec3::NEG_ONE).unwrap(),
            f64::INFINITY,
            FromInside::Exit,
        );
        let _ = shape.closest_point(DVec3::splat(1e300));
    }
    // A ray along the axis, in cap planes and along faces.
    let cylinder = Shape::cylinder(1.0, 2.0).unwrap();
    let down =
        cylinder.cast_ray(&Ray::new(5.0 * DVec3::Z, -DVec3::Z).unwrap(), 9.0, FromInside::Origin).unwrap();
    assert_eq!((down.t, down.normal, down.feature), (4.0, DVec3::Z, 2));
    let rim = Ray::new(DVec3::new(-5.0, 0.0, 1.0), DVec3::X).unwrap();
    assert_eq!(cylinder.cast_ray(&rim, 9.0, FromInside::Origin).unwrap().t, 4.0);
    let cone = Shape::cone(1.0, 2.0).unwrap();
    let onto_apex =
        cone.cast_ray(&Ray::new(5.0 * DVec3::Z, -DVec3::Z).unwrap(), 9.0, FromInside::Origin).unwrap();
    assert!((onto_apex.t - 3.5).abs() < 1e-12);
    let turned = DQuat::from_rotation_x(1.0);
    let cube = Shape::cuboid(DVec3::ONE).unwrap();
    let face = cube.cast_ray_at(
        &Pose::new(turned, DVec3::ZERO),
        &Ray::new(turned * (5.0 * DVec3::Y), turned * -DVec3::Y).unwrap(),
        9.0,
        FromInside::Origin,
    );
    assert_eq!(face.map(|hit| hit.feature), Some(3));
}
