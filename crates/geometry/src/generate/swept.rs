//! A profile along a way: tracks, gutters, rails.
//!
//! At a point of the way with the direction t the profile (x, y) stands at x s + y z, s = t × z/|t × z| to
//! the right of the direction the way. With n points of the profile and m of the way there are n m + 2
//! corners and 2 n m triangles, a closed surface without holes.

use glam::{DVec2, DVec3};

use crate::{MAX_LENGTH, ShapeError, TriangleMesh};

/// Most points of the profile, and of the way.
const MAX_POINTS: usize = 10_000;

/// (profile, counter-clockwise about its origin and star-shaped from there; path, nowhere vertical) ⇒ the
/// solid swept by the profile, closed at both ends by fans about the way.
pub fn swept(profile: &[DVec2], way: &[DVec3]) -> Result<TriangleMesh, ShapeError> {
    let shape = "sweep";
    for (parameter, value, min) in
        [("points of the profile", profile.len(), 3), ("points of the way", way.len(), 2)]
    {
        if !(min..=MAX_POINTS).contains(&value) {
            return Err(ShapeError::Count { shape, parameter, value, min, max: MAX_POINTS });
        }
    }
    let far = |p: f64| p.is_nan() || p.abs() > MAX_LENGTH;
    if profile.iter().any(|p| p.to_array().into_iter().any(far)) {
        return Err(ShapeError::NonFinite { shape, parameter: "profile" });
    }
    if way.iter().any(|p| p.to_array().into_iter().any(far)) {
        return Err(ShapeError::NonFinite { shape, parameter: "way" });
    }
    let (around, stations) = (profile.len(), way.len());
    // Fans from the origin cover the ends only if no edge turns its back to it.
    if (0..around).any(|k| profile[k].perp_dot(profile[(k + 1) % around]) <= 0.0) {
        return Err(ShapeError::NoDirection {
            shape,
            parameter: "an edge of the profile, about its origin,",
        });
    }
    let mut vertices = Vec::with_capacity(around * stations + 2);
    for (i, place) in way.iter().enumerate() {
        let along = way[(i + 1).min(stations - 1)] - way[i.saturating_sub(1)];
        let side = along.cross(DVec3::Z).try_normalize();
        let side = side.ok_or(ShapeError::NoDirection { shape, parameter: "the way, seen from above," })?;
        vertices.extend(profile.iter().map(|p| place + p.x * side + p.y * DVec3::Z));
    }
    vertices.extend([way[0], way[stations - 1]]);
    let index = |i: usize, k: usize| (i * around + k % around) as u32;
    let mut triangles = Vec::with_capacity(2 * around * stations);
    for i in 0..stations - 1 {
        for k in 0..around {
            let [a, b, c, d] = [index(i, k), index(i + 1, k), index(i + 1, k + 1), index(i, k + 1)];
            triangles.extend([[a, b, d], [d, b, c]]);
        }
    }
    let [first, last] = [0, 1].map(|end| (around * stations) as u32 + end);
    for k in 0..around {
        triangles.push([first, index(0, k), index(0, k + 1)]);
        triangles.push([last, index(stations - 1, k + 1), index(stations - 1, k)]);
    }
    Ok(TriangleMesh::new(vertices, triangles)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [DVec2; 4] =
        [DVec2::new(-0.5, -0.5), DVec2::new(0.5, -0.5), DVec2::new(0.5, 0.5), DVec2::new(-0.5, 0.5)];

    /// Area times length, also uphill, where the profile stays upright; by Pappus in a circle.
    #[test]
    fn volumes_are_area_times_way() {
        let straight = swept(&SQUARE, &[DVec3::ZERO, DVec3::Y, DVec3::new(0.0, 3.0, 1.0)]).unwrap();
        let report = straight.report().unwrap();
        assert_eq!((report.genus, report.first_error()), (Some(0), None));
        assert!(report.is_solid() && (report.volume.unwrap() - 3.0).abs() < 1e-12);
        let half: Vec<_> = (0..=400)
            .map(|k| f64::from(k) * std::f64::consts::PI / 400.0)
            .map(|angle| 5.0 * DVec3::new(angle.cos(), angle.sin(), 0.0))
            .collect();
        let arc = swept(&SQUARE, &half).unwrap().report().unwrap();
        assert!((arc.volume.unwrap() / (5.0 * std::f64::consts::PI) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn what_cannot_be_swept_is_refused() {
        let level = [DVec3::ZERO, DVec3::X];
        let backwards: Vec<_> = SQUARE.iter().rev().copied().collect();
        assert!(swept(&backwards, &level).is_err());
        assert!(swept(&SQUARE[..2], &level).is_err());
        assert!(swept(&SQUARE, &level[..1]).is_err());
        assert!(swept(&SQUARE, &[DVec3::ZERO, DVec3::Z]).is_err());
        assert!(swept(&SQUARE, &[DVec3::ZERO, DVec3::NAN]).is_err());
        assert!(swept(&[DVec2::NAN; 3], &level).is_err());
    }
}
