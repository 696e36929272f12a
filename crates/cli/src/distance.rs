//! `distance`: distance or penetration depth of two bodies, and their contacts.

use crate::arguments::Distance;
use crate::failure::Failure;
use crate::mesh;
use crate::shape_literal::{self, Given};
use crate::table::{Table, number};
use glam::{DQuat, DVec3};
use rattleback_geometry::closest::Separation;
use rattleback_geometry::contact::{ContactCache, Contacts, Manifold, collide, distance};
use rattleback_geometry::{PolygonSoup, Pose, TriangleMesh};
use rattleback_lab::plot::{Body, Solids};
use std::io::Write;
use std::path::Path;

/// Reads both bodies, places the second, prints their distance and contacts.
pub fn show(options: &Distance, out: &mut dyn Write) -> Result<(), Failure> {
    let (a, b) = (shape_literal::read(&options.first)?, shape_literal::read(&options.second)?);
    let pose = pose_of(options)?;
    let unusable = |error: rattleback_geometry::contact::ContactError| Failure::Input(error.to_string());
    let nearest = distance(&a.shape, &b.shape, &pose).map_err(unusable)?;
    let mut contacts = Contacts::default();
    collide(&a.shape, &b.shape, &pose, options.margin, &mut ContactCache::default(), &mut contacts)
        .map_err(unusable)?;
    let mut table = Table::headless();
    let mut row = |name: &str, value: String| table.row(vec![name.into(), value]);
    row("first", a.description.clone());
    row("second", b.description.clone());
    row("distance", format!("{} m", number(nearest.distance, 9)));
    row("normal", vector(nearest.normal));
    row("point of the first", vector(nearest.point_a));
    row("point of the second", vector(nearest.point_b));
    row("contacts", format!("{} manifolds, {} points", contacts.manifolds().len(), contacts.point_count()));
    for manifold in contacts.manifolds() {
        let [i, j] = manifold.parts;
        row("manifold", format!("parts {i} and {j}, normal {}", vector(manifold.normal)));
        for point in manifold.points() {
            let middle = point.point_a.midpoint(point.point_b);
            row("  point", format!("{}, separation {} m", vector(middle), number(point.separation, 6)));
        }
    }
    if let Some(path) = &options.obj {
        write_scene(&a.surface, &b.surface, &pose, &nearest, &contacts, path)?;
        row("written", path.display().to_string());
    }
    if let Some(path) = &options.png {
        draw(&a, &b, &pose, &nearest, &contacts, path)?;
        row("written", path.display().to_string());
    }
    table.write(out)?;
    Ok(())
}

fn vector(p: DVec3) -> String {
    format!("({}, {}, {})", number(p.x, 6), number(p.y, 6), number(p.z, 6))
}

/// Pose of the second body.
fn pose_of(options: &Distance) -> Result<Pose, Failure> {
    let read = |name: &str, numbers: &[f64]| match numbers {
        [] => Ok(DVec3::ZERO),
        [x, y, z] if DVec3::new(*x, *y, *z).is_finite() => Ok(DVec3::new(*x, *y, *z)),
        _ => Err(Failure::Input(format!("--{name} needs three finite numbers, as in 0.1,0,2"))),
    };
    let (at, turn) = (read("at", &options.at)?, read("turn", &options.turn)?);
    let radians = DVec3::new(turn.x.to_radians(), turn.y.to_radians(), turn.z.to_radians());
    Ok(Pose::new(DQuat::from_scaled_axis(radians), at))
}

/// Both bodies with the nearest points and the contact points, seen from the side.
fn draw(
    a: &Given,
    b: &Given,
    pose: &Pose,
    nearest: &Separation,
    contacts: &Contacts,
    path: &Path,
) -> Result<(), Failure> {
    let (stays, goes) = (|p: DVec3| p, |p: DVec3| pose.point(p));
    let word = if nearest.distance < 0.0 { "overlapping by" } else { "apart by" };
    let manifolds = contacts.manifolds().iter();
    let picture = Solids {
        title: format!("{word} {} m", number(nearest.distance.abs(), 6)),
        note: format!("red: the nearest points; black: {} contact points", contacts.point_count()),
        bodies: vec![
            Body { name: a.description.clone(), mesh: &a.surface, place: &stays },
            Body { name: b.description.clone(), mesh: &b.surface, place: &goes },
        ],
        lines: vec![[nearest.point_a, nearest.point_b]],
        points: manifolds.flat_map(Manifold::points).map(|p| p.point_a.midpoint(p.point_b)).collect(),
        across: nearest.normal,
    };
    Ok(picture.draw()?.save(path)?)
}

/// Both meshes, a needle between the nearest points and one for each contact point, as polygons.
fn write_scene(
    a: &TriangleMesh,
    b: &TriangleMesh,
    pose: &Pose,
    nearest: &Separation,
    contacts: &Contacts,
    path: &Path,
) -> Result<(), Failure> {
    let size = a.bounds().diagonal().max(b.bounds().diagonal());
    let mut scene = PolygonSoup::default();
    add_mesh(&mut scene, a, &Pose::IDENTITY);
    add_mesh(&mut scene, b, pose);
    add_needle(&mut scene, nearest.point_a, nearest.point_b, nearest.normal, 0.002 * size);
    for manifold in contacts.manifolds() {
        for point in manifold.points() {
            let top = point.point_a + 0.05 * size * manifold.normal;
            add_needle(&mut scene, point.point_a, top, manifold.normal, 0.005 * size);
        }
    }
    mesh::write_obj(&scene, path)
}

fn add_mesh(scene: &mut PolygonSoup, mesh: &TriangleMesh, pose: &Pose) {
    let first = scene.vertices.len() as u32;
    scene.vertices.extend(mesh.vertices().iter().map(|&p| pose.point(p)));
    for corners in mesh.triangles() {
        scene.push_face(&corners.map(|v| v + first));
    }
}

/// A three-sided spike from one point to another.
fn add_needle(scene: &mut PolygonSoup, from: DVec3, to: DVec3, along: DVec3, width: f64) {
    let (u, v) = along.any_orthonormal_pair();
    let first = scene.vertices.len() as u32;
    scene.vertices.extend([from + width * u, from + width * v, from - width * (u + v), to]);
    for face in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]] {
        scene.push_face(&face.map(|v: u32| v + first));
    }
}
