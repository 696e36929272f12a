//! Collision through distance fields: which body is tested against which field, and the response.

use crate::meshes::block;
use crate::random;

use glam::{DMat3, DQuat, DVec3};
use random::Random;
use rattleback_geometry::distance_field::{
    ClosestSettings, DistanceField, FieldMesh, FieldSettings, Outcome, Traversal, Velocity, VertexTree,
    collide, mean_outcome,
};
use rattleback_geometry::{PolygonSoup, Pose, TriangleMesh, generate};

fn settings(resolution: u32) -> FieldSettings {
    FieldSettings { resolution, ..FieldSettings::default() }
}

/// A small body wholly inside the box of a large one is tested the other way round, else nothing would be
/// found.
#[test]
fn roles_are_swapped_when_one_grid_lies_inside_the_other_body() {
    let with_field = |mesh: &TriangleMesh| FieldMesh {
        field: DistanceField::build(mesh, &settings(24)).unwrap(),
        vertices: VertexTree::new(mesh.vertices()).unwrap(),
    };
    let large = with_field(&block(DVec3::splat(-5.0), DVec3::splat(5.0)));
    let small = with_field(&generate::icosphere(3).unwrap());
    let pose = Pose::at(DVec3::new(1.0, 0.0, 0.0));
    let closest = ClosestSettings::default();
    let swapped = collide((&large, &Pose::IDENTITY), (&small, &pose), Traversal::Safe, &closest).unwrap();
    assert!(swapped.vertices_of_b && swapped.contacts.len() == small.vertices.points().len());
    let direct = collide((&small, &pose), (&large, &Pose::IDENTITY), Traversal::Safe, &closest).unwrap();
    assert!(!direct.vertices_of_b);
    assert_eq!(direct.contacts, swapped.contacts);
    let nowhere = Pose::at(DVec3::NAN);
    assert!(collide((&small, &nowhere), (&large, &pose), Traversal::Safe, &closest).is_none());
}

/// Velocities of two free bodies after one impulse at a common point that reverses their approach.
fn single_outcome(
    bodies: &[(f64, DMat3, DVec3, Velocity); 2],
    point: DVec3,
    normal: DVec3,
    depth: f64,
) -> Outcome {
    let lever = [point - bodies[0].2, point - bodies[1].2];
    let speed = |i: usize| {
        let (_, _, _, v) = bodies[i];
        (v.linear + v.angular.cross(lever[i])).dot(normal)
    };
    let give = |i: usize| {
        let (mass, inverse_inertia, _, _) = bodies[i];
        1.0 / mass + (inverse_inertia * lever[i].cross(normal)).cross(lever[i]).dot(normal)
    };
    let impulse = 1.5 * (speed(0) - speed(1)) / (give(0) + give(1));
    let after = |i: usize, sign: f64| {
        let (mass, inverse_inertia, _, v) = bodies[i];
        let change = sign * impulse * normal;
        Velocity {
            linear: v.linear + change / mass,
            angular: v.angular + inverse_inertia * lever[i].cross(change),
        }
    };
    Outcome { depth, velocities: [after(0, -1.0), after(1, 1.0)] }
}

/// SDF-9: the weighted mean of outcomes that each conserve momentum conserves it; deeper contacts weigh more.
#[test]
fn mean_response_conserves_momentum() {
    let mut random = Random(9);
    let inertia = |a: f64, b: f64, c: f64| DMat3::from_diagonal(DVec3::new(a, b, c));
    let bodies = [
        (
            2.0,
            inertia(1.0, 0.5, 0.8),
            DVec3::ZERO,
            Velocity { linear: DVec3::X, angular: DVec3::new(0.3, -1.0, 0.2) },
        ),
        (
            5.0,
            inertia(0.2, 0.3, 0.1),
            DVec3::X,
            Velocity { linear: -DVec3::Y, angular: DVec3::new(0.0, 0.4, 2.0) },
        ),
    ];
    let outcomes: Vec<Outcome> = (0..5)
        .map(|i| {
            let (point, normal) = (DVec3::new(0.5, 0.0, 0.0) + 0.2 * random.in_cube(), random.on_sphere());
            single_outcome(&bodies, point, normal, 0.01 * f64::from(i + 1))
        })
        .collect();
    let momentum = |velocities: [Velocity; 2]| {
        let linear = 2.0 * velocities[0].linear + 5.0 * velocities[1].linear;
        let spin = |i: usize| {
            let (mass, inverse_inertia, center, _) = bodies[i];
            inverse_inertia.inverse() * velocities[i].angular + mass * center.cross(velocities[i].linear)
        };
        (linear, spin(0) + spin(1))
    };
    let before = momentum([bodies[0].3, bodies[1].3]);
    let after = momentum(mean_outcome(&outcomes).unwrap());
    assert!(before.0.abs_diff_eq(after.0, 1e-12) && before.1.abs_diff_eq(after.1, 1e-12));

    let moving = |depth: f64, x: f64| Outcome {
        depth,
        velocities: [Velocity { linear: x * DVec3::X, angular: DVec3::ZERO }, Velocity::default()],
    };
    assert!(
        mean_outcome(&[moving(3.0, 1.0), moving(1.0, 0.0)]).unwrap()[0]
            .linear
            .abs_diff_eq(0.75 * DVec3::X, 1e-15)
    );
    assert!(
        mean_outcome(&[moving(2.0, 1.0), moving(2.0, 0.0)]).unwrap()[0]
            .linear
            .abs_diff_eq(0.5 * DVec3::X, 1e-15)
    );
    assert_eq!(mean_outcome(&[]), None);
    assert_eq!(mean_outcome(&[moving(f64::NAN, 1.0), moving(-1.0, 1.0), moving(f64::INFINITY, 1.0)]), None);
    assert!(
        mean_outcome(&[moving(1e308, 1.0), moving(1e308, 1.0)]).unwrap()[0]
            .linear
            .abs_diff_eq(DVec3::X, 1e-15)
    );
}

/// A thick block with a bumpy bowl as its upper side.
fn terrain() -> TriangleMesh {
    const N: u32 = 25;
    let height = |x: f64, y: f64| 0.08 * (x * x + y * y) + 0.05 * (3.0 * x).sin() * (2.0 * y).cos();
    let mut vertices = Vec::new();
    for top in [true, false] {
        for i in 0..N * N {
            let (x, y) = (f64::from(i % N) / 6.0 - 2.0, f64::from(i / N) / 6.0 - 2.0);
            vertices.push(DVec3::new(x, y, if top { height(x, y) } else { -1.5 }));
        }
    }
    let mut soup = PolygonSoup::new(vertices);
    let bottom = N * N;
    for i in 0..(N - 1) * (N - 1) {
        let a = i % (N - 1) + i / (N - 1) * N;
        soup.push_face(&[a, a + 1, a + N + 1]);
        soup.push_face(&[a, a + N + 1, a + N]);
        soup.push_face(&[bottom + a, bottom + a + N, bottom + a + N + 1, bottom + a + 1]);
    }
    for i in 0..N - 1 {
        let last = N * (N - 1);
        for (a, b) in
            [(i + 1, i), (last + i, last + i + 1), (i * N, (i + 1) * N), ((i + 2) * N - 1, (i + 1) * N - 1)]
        {
            soup.push_face(&[a, b, bottom + b, bottom + a]);
        }
    }
    TriangleMesh::from_soup(&soup).unwrap()
}

/// A sphere mesh moved by the source's rule: detect at the end of a step, collide at its start, average, step
/// again.
struct Sphere {
    pose: Pose,
    velocity: Velocity,
    tree: VertexTree,
}

impl Sphere {
    const RADIUS: f64 = 0.4;
    const MASS: f64 = 1.0;
    const STEP: f64 = 0.01;

    fn moved(&self, velocity: Velocity) -> Pose {
        let turn = DQuat::from_scaled_axis(velocity.angular * Self::STEP);
        Pose::new(
            (turn * self.pose.rotation).normalize(),
            self.pose.translation + velocity.linear * Self::STEP,
        )
    }

    fn step(&mut self, field: &DistanceField) {
        let inertia = 0.4 * Self::MASS * Self::RADIUS * Self::RADIUS;
        let mut velocity = self.velocity;
        velocity.linear.z -= 9.81 * Self::STEP;
        // Air drag: without it a sphere rolls to and fro in its bowl for minutes.
        velocity.linear *= 1.0 - Self::STEP;
        velocity.angular *= 1.0 - Self::STEP;
        for iteration in 0..12 {
            let contacts = field.contacts(
                &self.tree,
                &self.moved(velocity),
                Traversal::Safe,
                &ClosestSettings::default(),
            );
            let outcomes: Vec<Outcome> = contacts
                .iter()
                .filter_map(|contact| {
                    let lever = contact.point - self.moved(velocity).translation;
                    let at_point = velocity.linear + velocity.angular.cross(lever);
                    let restitution = if iteration < 8 { 0.2 } else { 0.0 };
                    let normal_speed = at_point.dot(contact.normal);
                    // Deep vertices are pushed out over about ten steps.
                    let push = 0.1 * contact.depth / Self::STEP;
                    let wanted = (-restitution * normal_speed).max(push);
                    if normal_speed >= wanted {
                        return None;
                    }
                    // Sticking contact: K maps an impulse to the change of the point's velocity.
                    let cross =
                        DMat3::from_cols(lever.cross(DVec3::X), lever.cross(DVec3::Y), lever.cross(DVec3::Z));
                    let k = DMat3::IDENTITY * (1.0 / Self::MASS) - cross * cross * (1.0 / inertia);
                    let impulse = k.inverse() * (wanted * contact.normal - at_point);
                    let after = Velocity {
                        linear: velocity.linear + impulse / Self::MASS,
                        angular: velocity.angular + lever.cross(impulse) / inertia,
                    };
                    Some(Outcome { depth: contact.depth, velocities: [after, Velocity::default()] })
                })
                .collect();
            match mean_outcome(&outcomes) {
                Some([after, _]) => velocity = after,
                None => break,
            }
        }
        self.pose = self.moved(velocity);
        self.velocity = velocity;
    }

    fn deepest(&self, field: &DistanceField) -> f64 {
        let values = self.tree.points().iter().filter_map(|&p| field.value(self.pose.point(p)));
        values.fold(0.0, |deepest: f64, value| deepest.max(-value))
    }
}

/// SDF-10: a sphere comes to rest on terrain; started ten cells deep it is pushed out.
#[test]
fn sphere_rests_on_terrain_and_is_pushed_out_of_it() {
    let field = DistanceField::build(&terrain(), &settings(64)).unwrap();
    let h = field.grid().cell();
    let points: Vec<DVec3> =
        generate::icosphere(2).unwrap().vertices().iter().map(|&p| Sphere::RADIUS * p).collect();
    let tree = VertexTree::new(&points).unwrap();
    let mut sphere = Sphere {
        pose: Pose::at(DVec3::new(0.5, 0.3, 1.2)),
        velocity: Velocity::default(),
        tree: tree.clone(),
    };
    for _ in 0..500 {
        sphere.step(&field);
    }
    println!(
        "after 5 s: speed {:.4}, depth {:.3} h",
        sphere.velocity.linear.length(),
        sphere.deepest(&field) / h
    );
    assert!(sphere.velocity.linear.length() < 0.05, "{}", sphere.velocity.linear);
    assert!(sphere.deepest(&field) < 2.0 * h);
    assert!(sphere.pose.translation.z > 0.3);

    let mut buried = Sphere {
        pose: Pose::at(DVec3::new(0.2, 0.1, Sphere::RADIUS - 10.0 * h)),
        velocity: Velocity::default(),
        tree,
    };
    let start = buried.deepest(&field);
    for _ in 0..500 {
        buried.step(&field);
    }
    println!("buried: {:.2} h deep at first, {:.3} h after 5 s", start / h, buried.deepest(&field) / h);
    assert!(start > 9.0 * h && buried.deepest(&field) < 2.0 * h);
}
