//! Facets of every bounded convex shape: the cap of a cylinder as a polygon inscribed in its rim, the side of
//! a cylinder, cone or capsule as a segment along it, faces of polyhedra as they are, and of round surfaces
//! the farthest point.
//!
//! A custom shape is queried along eight directions around the normal: support points in one plane are
//! corners of a flat face.

use std::f64::consts::FRAC_1_SQRT_2;
use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::facet::{Facet, SURFACE, Window, edge_code, face_code, vertex_code};
use super::polytope_pair::facing;
use crate::closest::ConvexShape;
use crate::frame::Frame;
use crate::{Capsule, Cone, Cylinder, SupportShape};

/// Cosine of the angle up to which a flat or straight part counts as facing the other piece, some 14°.
const FACING: f64 = 0.97;
/// Sine of the same angle.
const ACROSS: f64 = 0.24;
/// Tilt of the query directions of a custom shape from the normal.
const LEAN: f64 = 1e-3;
/// Largest distance from one plane, as a fraction of their extent, at which custom points are a face.
const FLAT: f64 = 1e-9;

/// Corners of a regular octagon, counter-clockwise, by angle.
const OCTAGON: [DVec2; 8] = [
    DVec2::new(1.0, 0.0),
    DVec2::new(FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    DVec2::new(0.0, 1.0),
    DVec2::new(-FRAC_1_SQRT_2, FRAC_1_SQRT_2),
    DVec2::new(-1.0, 0.0),
    DVec2::new(-FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
    DVec2::new(0.0, -1.0),
    DVec2::new(FRAC_1_SQRT_2, -FRAC_1_SQRT_2),
];

/// (shape, its frame seen from the window's, unit direction there) ⇒ the facet that faces along the
/// direction.
pub(super) fn facet_of(shape: &ConvexShape<'_>, frame: &Frame, outward: DVec3, window: &Window) -> Facet {
    let d = frame.vector_in_b(outward);
    let turn = |v: DVec3| frame.vector(v);
    let place = |p: DVec3| frame.point(p);
    match shape {
        ConvexShape::Cuboid(cuboid) => facing(*cuboid, d, window, turn, place),
        ConvexShape::Convex(convex) => facing(*convex, d, window, turn, place),
        ConvexShape::Cylinder(cylinder) => of_cylinder(cylinder, frame, d, window),
        ConvexShape::Cone(cone) => of_cone(cone, frame, d, window),
        ConvexShape::Capsule(capsule) => of_capsule(capsule, frame, d, window),
        ConvexShape::Sphere(sphere) => Facet::point(window, place(sphere.support(d)), SURFACE),
        ConvexShape::Ellipsoid(ellipsoid) => Facet::point(window, place(ellipsoid.support(d)), SURFACE),
        ConvexShape::Custom(custom) => of_custom(custom, frame, d, window),
    }
}

/// The disc of a radius at a height, looking up or down, as an octagon.
fn disc(radius: f64, z: f64, up: bool, frame: &Frame, window: &Window) -> Option<Facet> {
    let cap = u32::from(up);
    let mut facet = Facet::empty(face_code(cap));
    for i in 0..8 {
        // Counter-clockwise seen from outside; a corner and a side have the same number seen from either way
        // around.
        let (corner, side) = if up { (i, i) } else { (7 - i, (14 - i) % 8) };
        let p = (radius * OCTAGON[corner as usize]).extend(z);
        facet.push(window.flat(frame.point(p)), vertex_code(8 * cap + corner), edge_code(8 * cap + side));
    }
    let m = frame.vector(if up { DVec3::Z } else { -DVec3::Z });
    facet.set_plane(window, m, frame.point(DVec3::Z * z)).then_some(facet)
}

/// Names of the straight line on a curved side and its ends.
const LINE: u32 = 16;

fn line(ends: [DVec3; 2], frame: &Frame, window: &Window) -> Facet {
    let vertices = [vertex_code(LINE), vertex_code(LINE + 1)];
    Facet::segment(window, ends.map(|p| frame.point(p)), vertices, edge_code(LINE))
}

fn of_cylinder(cylinder: &Cylinder, frame: &Frame, d: DVec3, window: &Window) -> Facet {
    let (radius, half) = (cylinder.radius(), 0.5 * cylinder.height());
    if d.z.abs() > FACING
        && let Some(cap) = disc(radius, half.copysign(d.z), d.z > 0.0, frame, window)
    {
        return cap;
    }
    if d.z.abs() < ACROSS {
        let rim = radius * d.truncate().normalize_or(DVec2::X);
        return line([rim.extend(-half), rim.extend(half)], frame, window);
    }
    Facet::point(window, frame.point(cylinder.support(d)), SURFACE)
}

fn of_cone(cone: &Cone, frame: &Frame, d: DVec3, window: &Window) -> Facet {
    if d.z < -FACING
        && let Some(base) = disc(cone.radius(), cone.base(), false, frame, window)
    {
        return base;
    }
    let side = DVec2::new(cone.height(), cone.radius()).normalize();
    let radial = d.truncate();
    if side.dot(DVec2::new(radial.length(), d.z)) > FACING {
        let rim = (cone.radius() * radial.normalize_or(DVec2::X)).extend(cone.base());
        return line([rim, DVec3::Z * cone.apex()], frame, window);
    }
    Facet::point(window, frame.point(cone.support(d)), SURFACE)
}

fn of_capsule(capsule: &Capsule, frame: &Frame, d: DVec3, window: &Window) -> Facet {
    if d.z.abs() < ACROSS {
        let half = DVec3::Z * (0.5 * capsule.height());
        return line([capsule.radius() * d - half, capsule.radius() * d + half], frame, window);
    }
    Facet::point(window, frame.point(capsule.support(d)), SURFACE)
}

fn of_custom(custom: &Arc<dyn SupportShape>, frame: &Frame, d: DVec3, window: &Window) -> Facet {
    let middle = custom.support(d);
    let point = || Facet::point(window, frame.point(middle), SURFACE);
    let (u, v) = d.any_orthonormal_pair();
    let mut facet = Facet::empty(face_code(0));
    let mut corners = [DVec3::ZERO; 8];
    for (number, corner) in (0u32..).zip(OCTAGON) {
        let p = custom.support((d + LEAN * (corner.x * u + corner.y * v)).normalize());
        if facet.count > 0 && (p == corners[facet.count - 1] || p == corners[0]) {
            continue;
        }
        corners[facet.count] = p;
        facet.push(window.flat(frame.point(p)), vertex_code(number), edge_code(number));
    }
    let corners = &corners[..facet.count];
    let area = (2..corners.len())
        .map(|i| (corners[i - 1] - corners[0]).cross(corners[i] - corners[0]))
        .sum::<DVec3>();
    let Some(m) = area.try_normalize() else { return point() };
    let extent = corners.iter().map(|p| p.distance(corners[0])).fold(0.0, f64::max);
    let flat = corners.iter().all(|p| (*p - corners[0]).dot(m).abs() <= FLAT * extent);
    // A polygon that does not turn left everywhere would cut wrongly.
    let convex = (0..corners.len()).all(|i| {
        let [p, q, r] = [0, 1, 2].map(|k| corners[(i + k) % corners.len()]);
        (q - p).cross(r - q).dot(m) > 0.0
    });
    let seen = facet.set_plane(window, frame.vector(m), frame.point(corners[0]));
    if flat && convex && seen && m.dot(d) > 0.0 { facet } else { point() }
}
