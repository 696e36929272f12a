//! Estimates by geometry alone.

use super::{brick, random_hull, random_loaded, sharp};
use glam::{DMat3, DQuat, DVec3};
use rattleback_geometry::{MassProperties, PolygonSoup, Pose, convex_hull, generate};
use rattleback_lab::contact::Random;
use rattleback_lab::poses::{
    Disturbance, Faces, Freedom, Landscape, Part, PartOptions, SOURCE_ANGLE, SOURCE_TABLES, perturbed,
    pose_error, quasi_static, quasi_static_by_face, sample_size, solid_angle_shares, table_text,
};

/// E-T1: the error rows of the four tables of the source, and its sample sizes (with the square that its formula lacks).
#[test]
fn errors_and_sample_sizes_are_those_of_the_source() {
    for table in &SOURCE_TABLES {
        for column in 0..3 {
            let error = pose_error(&table.column(column), &table.column(3));
            assert!((error - table.errors[column]).abs() < 0.05 + 1e-9, "{}: {error}", table.part);
        }
        let columns = ["quasi-static", "perturbed", "dynamic", "physical"];
        let columns: Vec<_> = columns.iter().enumerate().map(|(i, name)| (*name, table.column(i))).collect();
        let text = table_text(table.part, &columns);
        assert_eq!(text.lines().count(), table.rows.len() + 3);
    }
    assert_eq!((sample_size(0.05, 0.10), sample_size(0.05, 0.05), sample_size(0.01, 0.05)), (271, 385, 9604));
}

/// E-T2: cubes and boxes against the closed form p = atan(ab/(h √(a² + b² + h²)))/π.
#[test]
fn boxes_have_the_solid_angles_of_their_faces() {
    let cube = brick(0.02, 0.02, 0.02);
    for p in quasi_static(&cube, &sharp(&cube)) {
        assert!((p - 1.0 / 6.0).abs() < 1e-12);
    }
    let p = quasi_static(&brick(1.0, 2.0, 3.0), &sharp(&brick(1.0, 2.0, 3.0)));
    for (i, expected) in [(0, 0.322510781), (2, 0.121363598), (4, 0.056125621)] {
        assert!((p[i] - expected).abs() < 1e-9 && (p[i + 1] - expected).abs() < 1e-9, "{p:?}");
    }
    let mut random = Random::new(1, 2);
    for _ in 0..100 {
        let [x, y, z] = [0; 3].map(|_| random.log_range(0.01, 1.0));
        let part = brick(x, y, z);
        let faces = Faces::of(&part);
        for (face, p) in faces.all.iter().zip(solid_angle_shares(&part, &faces)) {
            let n = face.normal.abs();
            let h = 0.5 * n.dot(DVec3::new(x, y, z));
            let [a, b] = if n.x > 0.5 {
                [y, z]
            } else if n.y > 0.5 {
                [x, z]
            } else {
                [x, y]
            }
            .map(|s| 0.5 * s);
            let expected = (a * b / (h * (a * a + b * b + h * h).sqrt())).atan() / std::f64::consts::PI;
            assert!((p - expected).abs() < 1e-12);
        }
    }
}

/// E-T2: the shares of all faces add up to 1 from any centre of mass inside.
#[test]
fn shares_of_random_hulls_add_up() {
    let mut random = Random::new(2, 1);
    let mut worst: f64 = 0.0;
    for _ in 0..300 {
        let part = random_loaded(&mut random);
        let landscape = sharp(&part);
        worst = worst.max((quasi_static(&part, &landscape).iter().sum::<f64>() - 1.0).abs());
        for disturbance in [Disturbance::Cone, Disturbance::EdgeStrip] {
            let p = perturbed(&part, &landscape, disturbance, SOURCE_ANGLE).unwrap();
            worst = worst.max((p.iter().sum::<f64>() - 1.0).abs());
            assert!(p.iter().all(|p| *p > -1e-12));
        }
    }
    assert!(worst < 1e-10, "{worst:e}");
}

/// E-T3: perturbed shares of boxes, both models.
#[test]
fn disturbed_boxes_leave_narrow_faces() {
    let pairs = |p: &[f64]| [p[0] + p[1], p[2] + p[3], p[4] + p[5]];
    let close = |p: &[f64], expected: [f64; 3], tolerance: f64| {
        for (found, expected) in pairs(p).iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{:?}", pairs(p));
        }
    };
    let part = brick(1.0, 2.0, 3.0);
    let landscape = sharp(&part);
    let plain = quasi_static(&part, &landscape);
    close(&plain, [0.6450215619, 0.2427271960, 0.1122512421], 1e-9);
    let cone = perturbed(&part, &landscape, Disturbance::Cone, SOURCE_ANGLE).unwrap();
    close(&cone, [0.6480167627, 0.2427271960, 0.1092560413], 1e-9);
    let leak = 1.0 - pairs(&cone)[2] / pairs(&plain)[2];
    assert!((leak - 0.0266830083).abs() < 1e-9);
    let strip = perturbed(&part, &landscape, Disturbance::EdgeStrip, SOURCE_ANGLE).unwrap();
    close(&strip, [0.96233, 0.03767, 0.0], 1e-4);
    assert_eq!((strip[4], strip[5]), (0.0, 0.0));
    for disturbance in [Disturbance::Cone, Disturbance::EdgeStrip] {
        assert_eq!(perturbed(&part, &landscape, disturbance, 0.0).unwrap(), plain);
    }

    let part = brick(1.0, 2.0, 4.0);
    let landscape = sharp(&part);
    let cone = perturbed(&part, &landscape, Disturbance::Cone, SOURCE_ANGLE).unwrap();
    close(&cone, [0.6819657936, 0.2619797609, 0.0560544456], 1e-9);
    let leak = 1.0 - pairs(&cone)[2] / pairs(&quasi_static(&part, &landscape))[2];
    assert!((leak - 0.1898150976).abs() < 1e-9);
}

/// E-T4: a square pyramid whose apex is beyond one side: that side face topples onto the base or a neighbour, by brute force over its edges.
#[test]
fn an_unstable_face_topples_over_its_nearest_edge() {
    // The apex hangs over the side x = 1: that face leans outwards, and the centre of mass is beyond its lower edge.
    let corners = [[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [3.5, 0.0, 1.0]]
        .map(DVec3::from);
    let part = Part::from_soup(convex_hull(&corners).unwrap().soup(), &PartOptions::default()).unwrap();
    let faces = Faces::of(&part);
    let base = faces.all.iter().position(|f| f.normal.z < -0.9).unwrap();
    let overhang = faces.all.iter().position(|f| f.normal.x > 0.3 && f.normal.z < 0.0).unwrap();
    assert!(faces.all[base].stable && !faces.all[overhang].stable);
    assert_eq!(faces.all[overhang].next as usize, base);
    let before = solid_angle_shares(&part, &faces);
    let after = quasi_static_by_face(&part, &faces);
    assert_eq!(after[overhang], 0.0);
    let moved: f64 =
        (0..before.len()).filter(|f| faces.all[*f].end as usize == base).map(|f| before[f]).sum();
    assert!(moved > before[base] && (after[base] - moved).abs() < 1e-15);
}

/// E-T4: loaded tetrahedra that topple twice, the share of both faces ends on the last; some have no other stable face.
#[test]
fn loaded_tetrahedra_topple_twice() {
    let mut random = Random::new(4, 4);
    let mut chains = 0;
    for _ in 0..20_000 {
        let stretch = DVec3::new(1.0, random.log_range(0.1, 1.0), random.log_range(0.1, 1.0));
        let corners = [0; 4].map(|_| stretch * random.direction());
        let Ok(hull) = convex_hull(&corners) else { continue };
        let w: [f64; 4] = [0; 4].map(|_| -random.unit().ln());
        let sum: f64 = w.iter().sum();
        let c = (0..4).map(|i| corners[i] * (w[i] / sum)).sum::<DVec3>();
        let mass = MassProperties::new(1.0, c, DMat3::IDENTITY).unwrap();
        let part = Part::convex(hull, mass).unwrap();
        let faces = Faces::of(&part);
        let (before, after) = (solid_angle_shares(&part, &faces), quasi_static_by_face(&part, &faces));
        for (i, face) in faces.all.iter().enumerate() {
            let second = &faces.all[face.next as usize];
            let third = second.next as usize;
            if face.stable || second.stable || !faces.all[third].stable {
                continue;
            }
            chains += 1;
            assert!(face.height > second.height && second.height > faces.all[third].height);
            assert!(after[i] == 0.0 && after[face.next as usize] == 0.0);
            assert!(after[third] >= before[i] + before[face.next as usize] + before[third] - 1e-12);
        }
    }
    assert!(chains > 100, "{chains}");
}

/// E-T4: chains end, and end lower, on 10⁴ random hulls.
#[test]
fn topples_end_on_random_hulls() {
    let mut random = Random::new(3, 3);
    for _ in 0..10_000 {
        let part = random_loaded(&mut random);
        let faces = Faces::of(&part);
        for (i, face) in faces.all.iter().enumerate() {
            assert!(faces.all[face.end as usize].stable);
            assert!(face.end as usize == i || faces.all[face.end as usize].height < face.height);
        }
    }
}

/// E-T6: 10⁶ uniform directions, exact rays, against the solid angles of a random hull.
#[test]
fn rays_leave_through_faces_by_their_solid_angles() {
    let mut random = Random::new(6, 6);
    let part = random_loaded(&mut random);
    let faces = Faces::of(&part);
    let shares = solid_angle_shares(&part, &faces);
    let n = 1_000_000;
    let mut counts = vec![0.0; shares.len()];
    for _ in 0..n {
        let d = random.direction();
        // The first plane that the ray reaches: largest n·d/h.
        let speed = |f: &usize| faces.all[*f].normal.dot(d) / faces.all[*f].height;
        let face = (0..shares.len()).max_by(|a, b| speed(a).total_cmp(&speed(b))).unwrap();
        counts[face] += 1.0;
    }
    for (count, p) in counts.iter().zip(&shares) {
        let sigma = (p * (1.0 - p) / f64::from(n)).sqrt();
        assert!((count / f64::from(n) - p).abs() < 4.0 * sigma + 1e-6, "{count} {p}");
    }
}

/// Cutting faces into triangles, turning or moving the part and renumbering its corners change nothing.
#[test]
fn estimates_do_not_depend_on_the_mesh_or_its_frame() {
    let mut random = Random::new(9, 9);
    let mut worst: f64 = 0.0;
    for _ in 0..30 {
        let soup = random_hull(&mut random);
        let part = Part::from_soup(&soup, &PartOptions::default()).unwrap();
        let landscape = sharp(&part);
        let plain = quasi_static(&part, &landscape);
        let pose = Pose::new(random.rotation(), random.direction());
        let mut moved = PolygonSoup::new(soup.vertices.iter().rev().map(|p| pose.point(*p)).collect());
        let last = soup.vertices.len() as u32 - 1;
        for face in soup.faces() {
            for k in 1..face.len() - 1 {
                moved.push_face(&[last - face[0], last - face[k], last - face[k + 1]]);
            }
        }
        let other = Part::from_soup(&moved, &PartOptions::default()).unwrap();
        let turned = sharp(&other);
        let mut sorted = quasi_static(&other, &turned);
        let mut plain = plain;
        plain.sort_by(f64::total_cmp);
        sorted.sort_by(f64::total_cmp);
        assert_eq!(plain.len(), sorted.len());
        worst = plain.iter().zip(&sorted).map(|(a, b)| (a - b).abs()).fold(worst, f64::max);
    }
    assert!(worst < 1e-9, "{worst:e}");
}

/// Facets of round sides are one pose that rolls; ends are poses of their own. The quasi-static share of the side of a cylinder is h/√(h² + d²).
#[test]
fn a_cylinder_has_two_ends_and_a_side_that_rolls() {
    let (radius, height) = (0.01, 0.012);
    let mesh = generate::cylinder(radius, height, 256).unwrap();
    let part = Part::from_soup(&mesh.to_soup(), &PartOptions::default()).unwrap();
    let landscape = Landscape::of(&part, 0.02).unwrap();
    assert_eq!(landscape.poses.len(), 3);
    let rolling: Vec<_> =
        landscape.poses.iter().filter(|p| matches!(p.freedom, Freedom::Rolls { .. })).collect();
    assert_eq!(rolling.len(), 1);
    let Freedom::Rolls { axis } = rolling[0].freedom else { unreachable!() };
    assert!(axis.z.abs() > 0.999);
    let exact = height / height.hypot(2.0 * radius);
    assert!((rolling[0].quasi_static - exact).abs() < 1e-3, "{} {exact}", rolling[0].quasi_static);
    // To leave its side it must rise to the corner: √(r² + (h/2)²).
    assert!((rolling[0].escape - radius.hypot(0.5 * height)).abs() < 1e-5);
    // A cone rests on its base, or rolls on its side.
    let cone = generate::cone(0.01, 0.03, 64).unwrap();
    let part = Part::from_soup(&cone.to_soup(), &PartOptions::default()).unwrap();
    let landscape = Landscape::of(&part, 0.02).unwrap();
    assert_eq!(landscape.poses.len(), 2);
    assert!(landscape.poses.iter().any(|p| matches!(p.freedom, Freedom::Rolls { .. })));
    // An egg lies on its belly: one family all around.
    let egg = generate::ellipsoid(DVec3::new(0.01, 0.01, 0.015), 48).unwrap();
    let part = Part::from_soup(&egg.to_soup(), &PartOptions::default()).unwrap();
    let landscape = Landscape::of(&part, 0.02).unwrap();
    assert_eq!(landscape.poses.len(), 1);
    assert!(matches!(landscape.poses[0].freedom, Freedom::Rolls { .. }));
}

/// A heavy insert moves the centre of mass and the shares with it.
#[test]
fn an_insert_loads_the_part() {
    let soup = generate::cuboid(DVec3::splat(0.01)).unwrap();
    let small = generate::cuboid(DVec3::splat(0.002)).unwrap();
    let at = Pose::new(DQuat::IDENTITY, DVec3::new(0.0, 0.0, -0.007));
    let insert = rattleback_geometry::TriangleMesh::from_soup(&small).unwrap().transformed(&at).unwrap();
    let options = PartOptions { density: 1000.0, ..PartOptions::default() };
    let part = Part::with_inserts(&soup, &[(insert, 8000.0)], &options).unwrap();
    let (whole, extra) = (8e-6 * 1000.0, 64e-9 * 7000.0);
    let expected = -0.007 * extra / (whole + extra);
    assert!((part.mass().center_of_mass.z - expected).abs() < 1e-12);
    assert!((part.mass().mass - whole - extra).abs() < 1e-12);
    let landscape = sharp(&part);
    assert!(landscape.poses[0].down.z < -0.9 && landscape.poses[0].quasi_static > 1.0 / 6.0);
}
