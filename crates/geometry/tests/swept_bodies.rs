//! Rigid bodies in motion: conservative advancement, bisection, shape casts, and that none of them is ever
//! late.

use crate::parry;
use crate::random;

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DQuat, DVec2, DVec3};
use parry3d_f64::query;
use random::Random;
use rattleback_geometry::closest::{Gjk, GjkCache, gjk};
use rattleback_geometry::primitive::{Tolerances, penetration_regions};
use rattleback_geometry::swept::{
    Advancement, Bisection, Gap, Interpolation, Motion, MovingBody, MovingMesh, Overlap, SweptError, advance,
    bisect, cast_shapes, chord_pieces, rotation_vector, swept_meshes, swept_rigid_meshes,
};
use rattleback_geometry::{
    ConvexPolyhedron, Cuboid, HeightField, PolygonSoup, Pose, Shape, TriangleMesh, convex_hull, generate,
};

fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

fn tight(tolerance: f64) -> Advancement {
    Advancement { distance_tolerance: tolerance, max_iterations: 100 }
}

/// GEO-3: the interpolation reaches both ends, turns at a constant rate, and the linear form misses by the
/// known angle.
#[test]
fn geo_3_interpolation_reaches_both_ends() {
    let mut random = Random(3);
    for _ in 0..10_000 {
        let (start, end) = (random.pose(3.0), random.pose(3.0));
        let motion = Motion::between(start, end, random.in_cube()).unwrap();
        let same = |p: Pose, q: Pose| {
            p.translation.distance(q.translation) < 2e-14 && 1.0 - p.rotation.dot(q.rotation).abs() < 1e-14
        };
        assert!(same(motion.pose(0.0), start) && same(motion.pose(1.0), end));
        let rate = |s: f64| rotation_vector(motion.pose(s).rotation, motion.pose(s + 0.01).rotation) / 0.01;
        assert!(rate(0.0).abs_diff_eq(rate(0.7), 1e-11) && rate(0.3).abs_diff_eq(motion.turn(), 1e-11));
    }
    let quarter = Pose::new(DQuat::from_rotation_z(FRAC_PI_2), DVec3::ZERO);
    let linear = Motion::between(Pose::IDENTITY, quarter, DVec3::ZERO)
        .unwrap()
        .with_interpolation(Interpolation::LinearQuaternion);
    let degrees = |turn: DVec3| turn.length().to_degrees();
    assert!((degrees(rotation_vector(DQuat::IDENTITY, linear.pose(1.0).rotation)) - 76.292052).abs() < 1e-6);
    for (full, reached) in [(45.0_f64, 42.88), (180.0, 115.04)] {
        let end = Pose::new(DQuat::from_rotation_y(full.to_radians()), DVec3::ZERO);
        let linear = Motion::between(Pose::IDENTITY, end, DVec3::ZERO)
            .unwrap()
            .with_interpolation(Interpolation::LinearQuaternion);
        assert!(
            (degrees(rotation_vector(DQuat::IDENTITY, linear.pose(1.0).rotation)) - reached).abs() < 0.005
        );
    }
    assert!(Motion::resting(Pose::at(DVec3::NAN)).is_err());
    assert!(Motion::new(Pose::IDENTITY, DVec3::ZERO, DVec3::ZERO, DVec3::INFINITY).is_err());
}

/// The number of chords of section 5.2's example, and its bound on the sagitta.
#[test]
fn chord_pieces_bound_the_sagitta() {
    assert_eq!(chord_pieces(PI, 1.0, 0.01), Ok(12));
    for (angle, radius, tolerance) in [(0.3, 2.0, 1e-3), (3.0, 0.5, 1e-5), (6.0, 10.0, 0.5)] {
        let n = f64::from(chord_pieces(angle, radius, tolerance).unwrap());
        let sagitta = |pieces: f64| radius * (1.0 - (0.5 * angle / pieces).cos());
        assert!(sagitta(n) <= tolerance && (n < 2.0 || sagitta(n - 1.0) > tolerance));
    }
    assert_eq!((chord_pieces(0.0, 1.0, 0.1), chord_pieces(1.0, 0.0, 0.1)), (Ok(1), Ok(1)));
    assert!(chord_pieces(1.0, 1.0, 0.0).is_err() && chord_pieces(f64::NAN, 1.0, 0.1).is_err());
    assert!(chord_pieces(1.0, 1e9, 1e-9).is_err());
}

/// CTA-1: cubes face to face, gap 3, closing speed 10: s = 0.3 in at most three iterations, free at every
/// iterate.
#[test]
fn cta_1_cubes_face_to_face() {
    let cube = Cuboid::new(DVec3::splat(0.5)).unwrap();
    let (start, still) = (Pose::at(-4.0 * DVec3::X), Pose::IDENTITY);
    let a = MovingBody {
        motion: Motion::new(start, DVec3::ZERO, 10.0 * DVec3::X, DVec3::ZERO).unwrap(),
        radius: 0.75_f64.sqrt(),
    };
    let b = MovingBody { motion: Motion::resting(still).unwrap(), radius: 0.75_f64.sqrt() };
    let contact = advance(&a, &b, &tight(1e-6), |p, q| {
        let mut cache = GjkCache::default();
        let Ok(Gjk::Apart(apart)) = gjk(&cube, &cube, &p.relative(q), &mut cache) else { panic!("not free") };
        let gap = q.translation.x - p.translation.x - 1.0;
        assert!((apart.distance - gap).abs() < 1e-14 && gap > 0.0);
        Some(Gap {
            distance: apart.distance,
            normal: apart.normal,
            point_a: apart.point_a,
            point_b: apart.point_b,
        })
    });
    let contact = contact.unwrap().unwrap();
    assert!(contact.iterations <= 3 && !contact.limit_reached);
    assert!(contact.time <= 0.3 && contact.time > 0.3 - 1e-7, "{}", contact.time);
}

/// A bar in the plane against the half-plane y ≥ face: the highest corner counts.
fn bar_under_face(half_length: f64, half_width: f64, face: f64) -> impl Fn(&Pose, &Pose) -> Option<Gap> {
    move |pose: &Pose, _: &Pose| {
        let corners = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let points = corners.map(|(x, y)| pose.point(v(x * half_length, y * half_width, 0.0)));
        let top = points.into_iter().reduce(|p, q| if q.y > p.y { q } else { p })?;
        let distance = face - top.y;
        let point_b = v(top.x, face, 0.0);
        (distance > 0.0).then_some(Gap { distance, normal: DVec3::Y, point_a: top, point_b })
    }
}

/// CTA-2: a turning bar under a face: s = 0.3010703450, in at most 5, 9, 14 iterations for three tolerances.
#[test]
fn cta_2_turning_bar() {
    let angle = (0.5 / 1.0025_f64.sqrt()).asin() - 0.05_f64.atan();
    assert!((angle - 0.47292019).abs() < 1e-8);
    let turn = Motion::new(Pose::IDENTITY, DVec3::ZERO, DVec3::ZERO, FRAC_PI_2 * DVec3::Z).unwrap();
    let bar = MovingBody { motion: turn, radius: 1.0025_f64.sqrt() };
    let face = MovingBody { motion: Motion::resting(Pose::IDENTITY).unwrap(), radius: 0.0 };
    for (tolerance, most) in [(1e-3, 5), (1e-6, 9), (1e-9, 14)] {
        let contact =
            advance(&bar, &face, &tight(tolerance), bar_under_face(1.0, 0.05, 0.5)).unwrap().unwrap();
        println!("tolerance {tolerance:e}: {} iterations, s = {:.10}", contact.iterations, contact.time);
        assert!(contact.iterations <= most);
        assert!(contact.time <= 0.3010703450 + 1e-10 && contact.time > 0.3010703450 - tolerance);
    }
}

/// CTA-3: bodies that separate are dismissed after one evaluation, bodies at equal velocity too.
#[test]
fn cta_3_separating_and_parallel() {
    let mut looks = 0;
    let mut run = |v_a: DVec3, v_b: DVec3| {
        looks = 0;
        let body = |at: f64, d: DVec3| MovingBody {
            motion: Motion::new(Pose::at(at * DVec3::X), DVec3::ZERO, d, DVec3::ZERO).unwrap(),
            radius: 1.0,
        };
        let found = advance(&body(0.0, v_a), &body(5.0, v_b), &tight(1e-6), |p, q| {
            looks += 1;
            let (point_a, point_b) = (p.translation + DVec3::X, q.translation - DVec3::X);
            Some(Gap { distance: point_b.x - point_a.x, normal: DVec3::X, point_a, point_b })
        });
        (found.unwrap(), looks)
    };
    assert_eq!(run(-DVec3::X, DVec3::X), (None, 1));
    assert_eq!(run(v(3.0, 4.0, 0.0), v(3.0, 4.0, 0.0)), (None, 1));
    assert_eq!(run(DVec3::ZERO, DVec3::ZERO), (None, 1));
}

/// CTA-4: a thin bar whose distance first grows and which then hits with its other end.
#[test]
fn cta_4_distance_grows_first() {
    let start = Pose::new(DQuat::from_rotation_z(30.0_f64.to_radians()), DVec3::ZERO);
    let motion = Motion::new(start, DVec3::ZERO, DVec3::ZERO, -120.0_f64.to_radians() * DVec3::Z).unwrap();
    let bar = MovingBody { motion, radius: 1.0 };
    let face = MovingBody { motion: Motion::resting(Pose::IDENTITY).unwrap(), radius: 0.0 };
    let measure = bar_under_face(1.0, 0.0, 0.9);
    let distance = |s: f64| measure(&motion.pose(s), &Pose::IDENTITY).map_or(0.0, |gap| gap.distance);
    assert!((distance(0.0) - 0.4).abs() < 1e-12 && (distance(0.25) - 0.9).abs() < 1e-12);
    let contact = advance(&bar, &face, &tight(1e-9), &measure).unwrap().unwrap();
    let exact = (30.0 + 0.9_f64.asin().to_degrees()) / 120.0;
    assert!((exact - 0.7846506).abs() < 1e-7);
    assert!(contact.time <= exact && exact - contact.time < 1e-8, "{} {exact}", contact.time);
}

fn random_hull(random: &mut Random) -> ConvexPolyhedron {
    loop {
        let points: Vec<DVec3> = (0..12).map(|_| random.in_cube()).collect();
        if let Ok(hull) = convex_hull(&points) {
            return hull;
        }
    }
}

/// CTA-5: random hulls, velocities and rotations against a walk along the other library's distance: never
/// late, close at the reported time, nothing missed, nothing invented.
#[test]
fn cta_5_random_hulls_against_a_scan() {
    let mut random = Random(5);
    let tolerance = 1e-5;
    let settings = Advancement { distance_tolerance: tolerance, max_iterations: 10_000 };
    let (mut hits, mut misses, mut iterations) = (0, 0, 0);
    for case in 0..5000 {
        let (a, b) = (
            Shape::convex(random_hull(&mut random)).unwrap(),
            Shape::convex(random_hull(&mut random)).unwrap(),
        );
        let from = 4.0 * random.on_sphere();
        let mut motion = |at: DVec3, towards: DVec3| {
            Motion::new(
                Pose::new(random.rotation(), at),
                DVec3::ZERO,
                towards + 1.5 * random.in_cube(),
                3.0 * random.in_cube(),
            )
            .unwrap()
        };
        let (move_a, move_b) = (motion(DVec3::ZERO, DVec3::ZERO), motion(from, -from));
        let hit = cast_shapes(&a, &move_a, &b, &move_b, &settings).unwrap();
        let ((their_a, _), (their_b, _)) = (parry::shape(&a).unwrap(), parry::shape(&b).unwrap());
        let distance = |s: f64| {
            let (p, q) = (parry::pose(&move_a.pose(s)), parry::pose(&move_b.pose(s)));
            query::distance(&p, &*their_a, &q, &*their_b).unwrap().distance
        };
        let reach = |shape: &Shape, m: &Motion| {
            m.displacement().length() + m.turn().length() * shape.rotation_radius(DVec3::ZERO).unwrap()
        };
        let fastest = reach(&a, &move_a) + reach(&b, &move_b);
        let (mut s, mut least, mut touch) = (0.0, f64::INFINITY, None);
        while s <= 1.0 {
            let d = distance(s);
            least = least.min(d);
            if d < 1e-9 {
                touch = Some(s);
                break;
            }
            s += (d / fastest).max(1e-4);
        }
        match (&hit, touch) {
            (Some(hit), Some(touch)) => {
                let contact = hit.contact;
                assert!(contact.time <= touch + 1e-12, "{case}: late, {} after {touch}", contact.time);
                assert!(!contact.limit_reached);
                let gap = distance(contact.time);
                assert!(gap > 0.0 && gap < tolerance + 1e-7, "{case}: {gap}");
                hits += 1;
                iterations += contact.iterations;
            }
            (None, Some(touch)) => panic!("{case}: missed at {touch}"),
            (Some(_), None) => assert!(least <= 1e-4 + tolerance, "{case}: invented, {least}"),
            (None, None) => misses += 1,
        }
    }
    println!("{hits} hits, {misses} misses, {:.1} iterations a hit", f64::from(iterations) / f64::from(hits));
    assert!(hits > 100 && misses > 100);
}

/// CTA-6: when the iterations run out, the place reached is a contact with a flag.
#[test]
fn cta_6_limit_is_reported() {
    let turn = Motion::new(Pose::IDENTITY, DVec3::ZERO, DVec3::ZERO, FRAC_PI_2 * DVec3::Z).unwrap();
    let bar = MovingBody { motion: turn, radius: 1.0025_f64.sqrt() };
    let face = MovingBody { motion: Motion::resting(Pose::IDENTITY).unwrap(), radius: 0.0 };
    let settings = Advancement { distance_tolerance: 1e-12, max_iterations: 3 };
    let contact = advance(&bar, &face, &settings, bar_under_face(1.0, 0.05, 0.5)).unwrap().unwrap();
    assert!(contact.limit_reached && contact.iterations == 3);
    assert!(contact.time > 0.25 && contact.time < 0.3010703450);
    let bad = Advancement { distance_tolerance: 0.0, max_iterations: 3 };
    assert!(advance(&bar, &face, &bad, bar_under_face(1.0, 0.05, 0.5)).is_err());
}

/// CTA-7: the same physical motion seen as 1/24 s or as 1 s has its contact at the same time.
#[test]
fn cta_7_time_scaling() {
    let (bar, wall) = (Shape::cuboid(v(1.0, 0.05, 0.05)).unwrap(), Shape::cuboid(v(2.0, 0.5, 2.0)).unwrap());
    let times = [1.0, 1.0 / 24.0].map(|duration| {
        let moving =
            Motion::from_velocity(Pose::IDENTITY, DVec3::ZERO, v(0.0, 6.0, 0.0), v(0.0, 0.0, 40.0), duration)
                .unwrap();
        let still = Motion::resting(Pose::at(1.45 * DVec3::Y)).unwrap();
        let hit = cast_shapes(&bar, &moving, &wall, &still, &tight(1e-9)).unwrap().unwrap();
        duration * hit.contact.time
    });
    println!("contact after {} s", times[0]);
    assert!((times[0] - times[1]).abs() < 1e-8, "{times:?}");
}

/// spheres against the closed form, a turning box against a fixed one sampled every 1e-5 s, a bullet
/// through a wall.
#[test]
fn a_22_conservative_advancement() {
    let sphere = |r: f64| Shape::sphere(r).unwrap();
    let line = |at: DVec3, d: DVec3| Motion::new(Pose::at(at), DVec3::ZERO, d, DVec3::ZERO).unwrap();
    let (still, exact) = (line(DVec3::ZERO, DVec3::ZERO), 4.615943 / 10.0);
    let hit = cast_shapes(
        &sphere(1.0),
        &still,
        &sphere(2.0),
        &line(v(10.0, 2.9, 0.0), -20.0 * DVec3::X),
        &tight(1e-8),
    )
    .unwrap()
    .unwrap();
    assert!((hit.contact.time - exact).abs() < 1e-6 && hit.contact.time <= exact + 1e-7);
    assert!(
        cast_shapes(
            &sphere(1.0),
            &still,
            &sphere(2.0),
            &line(v(10.0, 3.1, 0.0), -20.0 * DVec3::X),
            &tight(1e-8)
        )
        .unwrap()
        .is_none()
    );

    let (turning, fixed) =
        (Shape::cuboid(v(1.0, 0.2, 0.3)).unwrap(), Shape::cuboid(v(0.5, 0.5, 0.5)).unwrap());
    let motion =
        Motion::new(Pose::at(v(0.0, -0.4, 0.1)), DVec3::ZERO, v(0.3, 0.4, 0.0), v(0.4, 0.3, 2.5)).unwrap();
    let rest = Motion::resting(Pose::at(v(0.9, 1.2, 0.0))).unwrap();
    let hit = cast_shapes(&turning, &motion, &fixed, &rest, &tight(1e-6)).unwrap().unwrap();
    let ((their_a, _), (their_b, _)) = (parry::shape(&turning).unwrap(), parry::shape(&fixed).unwrap());
    let intersecting = |s: f64| {
        let (p, q) = (parry::pose(&motion.pose(s)), parry::pose(&rest.pose(s)));
        query::intersection_test(&p, &*their_a, &q, &*their_b).unwrap().intersecting
    };
    let first = (0..=100_000).map(|i| f64::from(i) * 1e-5).find(|&s| intersecting(s)).unwrap();
    println!("box: {} reported, {first} sampled", hit.contact.time);
    assert!(hit.contact.time <= first && first - hit.contact.time < 1e-4);

    let (grain, wall) = (sphere(0.01), Shape::cuboid(v(0.0005, 1.0, 1.0)).unwrap());
    let flight = Motion::from_velocity(
        Pose::at(-5.0 * DVec3::X),
        DVec3::ZERO,
        1000.0 * DVec3::X,
        DVec3::ZERO,
        1.0 / 60.0,
    )
    .unwrap();
    let hit = cast_shapes(&grain, &flight, &wall, &still, &tight(1e-6)).unwrap().unwrap();
    assert!((hit.contact.time / 60.0 - 4.9895e-3).abs() < 1e-8);
}

fn ell() -> TriangleMesh {
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let points = [0.0, 1.0].into_iter().flat_map(|z| outline.map(|[x, y]| v(x, y, z)));
    let mut soup = PolygonSoup::new(points.collect());
    soup.push_face(&[5, 4, 3, 2, 1, 0]);
    soup.push_face(&[6, 7, 8, 9, 10, 11]);
    for i in 0..6 {
        let j = (i + 1) % 6;
        soup.push_face(&[i, j, 6 + j, 6 + i]);
    }
    TriangleMesh::from_soup(&soup).unwrap()
}

/// ENG-17: two L-shaped prisms close a gap of 0.3 m at 1 m/s: found by bisection within 1e-6 in at most 20
/// halvings.
#[test]
fn eng_17_bisection_of_concave_prisms() {
    let ell = ell();
    let away = DQuat::from_rotation_z(PI);
    let overlap_at = |s: f64| {
        let place = Pose::new(away, v(4.3 - s, 1.7, 0.1));
        let regions = penetration_regions(&ell, &ell, &place, None, &Tolerances::default()).unwrap();
        let depth = regions.iter().map(|region| region.depth).reduce(f64::max)?;
        Some(Overlap { depth, contact: regions.len() })
    };
    let settings = Bisection { depth_tolerance: 0.0, time_tolerance: 1e-6, ..Bisection::default() };
    let hit = bisect(&settings, overlap_at).unwrap().unwrap();
    println!("{} halvings, t = {}", hit.iterations, hit.time);
    assert!(hit.iterations <= 20 && hit.time <= 0.3 && hit.time >= 0.3 - 1e-6);
    assert!(overlap_at(hit.time).is_none() && overlap_at(hit.time + 1e-6).is_some());
    let shallow = bisect(&Bisection { depth_tolerance: 1e-3, ..settings }, overlap_at).unwrap().unwrap();
    assert!(shallow.iterations < hit.iterations && shallow.overlap.depth < 1e-3 && shallow.time <= 0.3);
    assert_eq!(bisect(&settings, |_| None::<Overlap<()>>), Ok(None));
    let always = bisect(&settings, |_| Some(Overlap { depth: 1.0, contact: () })).unwrap().unwrap();
    assert_eq!((always.time, always.iterations), (0.0, 0));
    // An overlap that comes and goes is found only by more samples.
    let passing = |s: f64| (0.3..0.4).contains(&s).then_some(Overlap { depth: 0.1, contact: () });
    assert_eq!(bisect(&settings, passing), Ok(None));
    let seen = bisect(&Bisection { looks: 20, ..settings }, passing).unwrap().unwrap();
    assert!(seen.time <= 0.3 && seen.time > 0.3 - 2e-6);
    assert!(bisect(&Bisection { time_tolerance: f64::NAN, ..settings }, passing).is_err());
}

/// ENG-18: a 1 cm cube at 1000 m/s through a 1 mm plate within 1/24 s: no overlap at either end, found by
/// swept triangles and by conservative advancement within 1e-6 s.
#[test]
fn eng_18_bullet_through_a_plate() {
    let mesh = |half: DVec3| TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap();
    let (bullet, plate) = (mesh(DVec3::splat(0.005)), mesh(v(0.0005, 1.0, 1.0)));
    let (start, dt) = (v(-20.0, 0.1, 0.2), 1.0 / 24.0);
    let exact = (20.0 - 0.005 - 0.0005) / 1000.0;
    let travel = 1000.0 * dt * DVec3::X;
    for place in [start, start + travel] {
        let regions = penetration_regions(&plate, &bullet, &Pose::at(place), None, &Tolerances::default());
        assert!(regions.unwrap().is_empty());
    }
    let moved = |by: DVec3| bullet.vertices().iter().map(|&p| p + by).collect::<Vec<_>>();
    let a = MovingMesh::new(plate.vertices().to_vec(), plate.vertices().to_vec(), plate.triangles()).unwrap();
    let b = MovingMesh::new(moved(start), moved(start + travel), bullet.triangles()).unwrap();
    let hit = swept_meshes(&a, &b, None).first.unwrap().hit;
    assert!((dt * hit.time - exact).abs() < 1e-9 && hit.normal.abs_diff_eq(-DVec3::X, 1e-9));
    let motion =
        Motion::from_velocity(Pose::at(start), DVec3::ZERO, 1000.0 * DVec3::X, DVec3::ZERO, dt).unwrap();
    let solid = |half: DVec3| Shape::cuboid(half).unwrap();
    let still = Motion::resting(Pose::IDENTITY).unwrap();
    let hit =
        cast_shapes(&solid(DVec3::splat(0.005)), &motion, &solid(v(0.0005, 1.0, 1.0)), &still, &tight(1e-6))
            .unwrap()
            .unwrap();
    assert!((dt * hit.contact.time - exact).abs() < 1e-6 && dt * hit.contact.time <= exact);
}

/// Section 5.2: turning meshes on chords find the contact of the true arcs within the chord tolerance; with
/// one chord the bar of half a turn would pass.
#[test]
fn turning_meshes_on_chords_agree_with_advancement() {
    let mesh = |half: DVec3| TriangleMesh::from_soup(&generate::cuboid(half).unwrap()).unwrap();
    let (bar, block) = (mesh(v(1.0, 0.05, 0.05)), mesh(v(0.2, 0.2, 0.2)));
    let mut random = Random(52);
    let mut hits = 0;
    for _ in 0..40 {
        let turn = Motion::new(
            Pose::new(random.rotation(), DVec3::ZERO),
            DVec3::ZERO,
            0.2 * random.in_cube(),
            3.1 * random.on_sphere(),
        )
        .unwrap();
        let rest = Motion::resting(Pose::new(random.rotation(), 0.7 * random.on_sphere())).unwrap();
        let chords = swept_rigid_meshes(&bar, &turn, &block, &rest, 1e-5).unwrap();
        let solid = |m: &TriangleMesh| Shape::cuboid(m.bounds().half_extents()).unwrap();
        let arcs = cast_shapes(&solid(&bar), &turn, &solid(&block), &rest, &tight(1e-7)).unwrap();
        match (chords, arcs) {
            (Some(chords), Some(arcs)) => {
                // The speed of contact is at least some tenths; grazing contacts are let off.
                assert!(
                    (chords.hit.time - arcs.contact.time).abs() < 2e-3,
                    "{} {}",
                    chords.hit.time,
                    arcs.contact.time
                );
                hits += 1;
            }
            (None, None) => {}
            (chords, arcs) => panic!("{chords:?} {arcs:?}"),
        }
    }
    assert!(hits > 10);
    assert!(
        swept_rigid_meshes(
            &bar,
            &Motion::resting(Pose::IDENTITY).unwrap(),
            &block,
            &Motion::resting(Pose::IDENTITY).unwrap(),
            0.0
        )
        .is_err()
    );
}

fn cast_list(random: &mut Random) -> Vec<Shape> {
    let heights = (0..25).map(|i| 0.3 * (1.7 * f64::from(i)).sin()).collect();
    vec![
        Shape::sphere(0.5).unwrap(),
        Shape::cuboid(v(0.3, 0.5, 0.7)).unwrap(),
        Shape::cylinder(0.4, 1.0).unwrap(),
        Shape::capsule(0.3, 0.8).unwrap(),
        Shape::cone(0.5, 1.0).unwrap(),
        Shape::ellipsoid(v(0.3, 0.5, 0.8)).unwrap(),
        Shape::convex(random_hull(random)).unwrap(),
        Shape::half_space(random.on_sphere()).unwrap(),
        Shape::mesh(ell().transformed(&Pose::at(v(-0.8, -0.8, -0.5))).unwrap()).unwrap(),
        Shape::height_field(HeightField::new(5, 5, DVec2::splat(0.5), heights).unwrap()).unwrap(),
        Shape::compound(vec![
            (Pose::at(0.6 * DVec3::X), Shape::cuboid(v(0.2, 0.3, 0.2)).unwrap()),
            (Pose::at(-0.6 * DVec3::X), Shape::sphere(0.3).unwrap()),
        ])
        .unwrap(),
    ]
}

/// Never late: for any two moving shapes, up to the reported time (or to the end, if nothing is reported)
/// no surface point of one lies inside the other by more than the tolerance; at the reported time the gap is
/// below the tolerance. The answer does not depend on which shape comes first.
#[test]
fn casts_are_never_late_for_any_pair_of_shapes() {
    let mut random = Random(99);
    let shapes = cast_list(&mut random);
    let settings = tight(1e-5);
    let surfaces: Vec<Option<TriangleMesh>> = shapes.iter().map(|shape| shape.surface(12).ok()).collect();
    let (mut hits, mut misses) = (0, 0);
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate().take(i + 1) {
            if matches!((a, b), (Shape::HalfSpace(_), Shape::HalfSpace(_))) {
                continue;
            }
            for _ in 0..3 {
                let from = 3.5 * random.on_sphere();
                let mut motion = |shape: &Shape, at: DVec3, towards: DVec3| {
                    let still = matches!(shape, Shape::HalfSpace(_));
                    let turn = if still { DVec3::ZERO } else { 3.0 * random.in_cube() };
                    let center = 0.3 * random.in_cube();
                    Motion::new(Pose::new(random.rotation(), at), center, towards + random.in_cube(), turn)
                        .unwrap()
                };
                let (move_a, move_b) = (motion(a, from, -from), motion(b, DVec3::ZERO, DVec3::ZERO));
                let hit = cast_shapes(a, &move_a, b, &move_b, &settings).unwrap();
                let back = cast_shapes(b, &move_b, a, &move_a, &settings).unwrap();
                let until = hit.map_or(1.0, |hit| hit.contact.time);
                let inside = |points: &Option<TriangleMesh>, place: Pose, shape: &Shape| {
                    let points = points.iter().flat_map(TriangleMesh::vertices);
                    points
                        .map(|&p| place.point(p))
                        .any(|p| shape.contains(p) && shape.closest_point(p).unwrap().distance < -1e-7)
                };
                // Meshes and terrain are surfaces to a cast: being below one or starting in one is not
                // contact.
                let solid = |shape: &Shape| !matches!(shape, Shape::HeightField(_) | Shape::Mesh(_));
                for k in 0..40 {
                    let s = until * f64::from(k) / 40.0;
                    let (p, q) = (move_a.pose(s), move_b.pose(s));
                    if until > 0.0 {
                        let late = (solid(b) && inside(&surfaces[i], q.inverse() * p, b))
                            || (solid(a) && inside(&surfaces[j], p.inverse() * q, a));
                        assert!(!late, "{:?} {:?} overlap at {s} before {until}", a.kind(), b.kind());
                    }
                }
                match (hit, back) {
                    (Some(hit), Some(back)) => {
                        assert!((hit.contact.time - back.contact.time).abs() < 1e-3);
                        if let (Some(gap), false) = (hit.contact.gap, hit.contact.limit_reached) {
                            assert!(
                                gap.distance < 1e-5 || hit.contact.time == 0.0,
                                "{:?} {:?} {gap:?}",
                                a.kind(),
                                b.kind()
                            );
                            assert!(gap.normal.is_normalized());
                        }
                        hits += 1;
                    }
                    (None, None) => misses += 1,
                    _ => panic!("{:?} {:?}: {hit:?} {back:?}", a.kind(), b.kind()),
                }
            }
        }
    }
    println!("{hits} hits, {misses} misses");
    assert!(hits > 60 && misses > 10);
}

/// Casts without rotation agree with the other library's, to the tolerance over the closing speed.
#[test]
fn linear_casts_agree_with_another_library() {
    let mut random = Random(44);
    let shapes: Vec<Shape> =
        cast_list(&mut random).into_iter().filter(|s| s.is_convex() && parry::shape(s).is_some()).collect();
    let (mut hits, mut worst, mut different) = (0, 0.0_f64, 0);
    for case in 0..3000 {
        let (a, b) = (&shapes[case % shapes.len()], &shapes[case / shapes.len() % shapes.len()]);
        let from = 4.0 * random.on_sphere();
        let towards = -1.5 * from + 2.0 * random.in_cube();
        let (pose_a, pose_b) =
            (Pose::new(random.rotation(), from), Pose::new(random.rotation(), DVec3::ZERO));
        let move_a = Motion::new(pose_a, DVec3::ZERO, towards, DVec3::ZERO).unwrap();
        let ours = cast_shapes(a, &move_a, b, &Motion::resting(pose_b).unwrap(), &tight(1e-9)).unwrap();
        let ((their_a, place_a), (their_b, place_b)) = (parry::shape(a).unwrap(), parry::shape(b).unwrap());
        let options = query::ShapeCastOptions::with_max_time_of_impact(1.0);
        let theirs = query::cast_shapes(
            &parry::pose(&(pose_a * place_a)),
            parry::vector(towards),
            &*their_a,
            &parry::pose(&(pose_b * place_b)),
            parry::vector(DVec3::ZERO),
            &*their_b,
            options,
        );
        match (ours, theirs.unwrap()) {
            (Some(ours), Some(theirs)) => {
                let gap = ours.contact.gap.unwrap();
                if gap.normal.dot(towards) > 0.3 * towards.length() {
                    worst = worst.max((ours.contact.time - theirs.time_of_impact).abs() * towards.length());
                    hits += 1;
                }
            }
            (None, None) => {}
            _ => different += 1,
        }
    }
    println!("{hits} hits compared, largest difference {worst:e} m, {different} decided differently");
    assert!(hits > 500 && worst < 1e-4 && different <= 3);
}

/// What cannot be cast is refused with a reason.
#[test]
fn casts_that_make_no_sense_are_refused() {
    let (ground, sphere) = (Shape::half_space(DVec3::Z).unwrap(), Shape::sphere(1.0).unwrap());
    let still = Motion::resting(Pose::IDENTITY).unwrap();
    let turning = Motion::new(Pose::IDENTITY, DVec3::ZERO, DVec3::ZERO, DVec3::X).unwrap();
    let settings = Advancement::default();
    assert_eq!(cast_shapes(&ground, &still, &ground, &still, &settings), Err(SweptError::BothUnbounded));
    assert_eq!(cast_shapes(&ground, &turning, &sphere, &still, &settings), Err(SweptError::TurningHalfSpace));
    let nan = Advancement { distance_tolerance: f64::NAN, max_iterations: 10 };
    assert!(matches!(cast_shapes(&sphere, &still, &sphere, &still, &nan), Err(SweptError::Primitive(_))));
    let overlapping = cast_shapes(&sphere, &still, &sphere, &still, &settings).unwrap().unwrap();
    assert_eq!((overlapping.contact.time, overlapping.contact.gap), (0.0, None));
    let falling = Motion::new(Pose::at(3.0 * DVec3::Z), DVec3::ZERO, -4.0 * DVec3::Z, DVec3::ZERO).unwrap();
    let hit = cast_shapes(&ground, &still, &sphere, &falling, &tight(1e-9)).unwrap().unwrap();
    assert!((hit.contact.time - 0.5).abs() < 1e-9);
    assert!(hit.contact.gap.unwrap().normal.abs_diff_eq(DVec3::Z, 1e-12));
}
