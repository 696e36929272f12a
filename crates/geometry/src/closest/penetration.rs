//! How deep two convex shapes are in each other, by growing a polytope inside Ψ.
//!
//! The depth is the distance of the origin from the surface of Ψ = A − B, which is the least of Ψ's reaches:
//! depth = min_{|n| = 1} h(n), h(n) = max_{w ∈ Ψ} n·w. A polytope inside Ψ whose nearest face has the plane
//! n·x = d gives
//!
//! d ≤ depth ≤ h(n),
//!
//! and the corner w that attains h(n) makes it grow where it matters, until both bounds agree. Of the normals
//! tried the one with the least h(n) is returned, so the depth is never less than the distance that separates
//! the shapes. After van den Bergen, "Proximity queries and penetration depth computation on 3D game
//! objects", 2001.
//!
//! A polytope of bounded size cannot follow a large round surface all about the origin (two spheres nearly
//! one in the other). From its best normal h is then followed downhill: its gradient is the corner w itself,
//! so n goes to n − w/ρ, normalised, with ρ the radius of curvature seen in the last step (Barzilai–Borwein),
//! for as long as h falls. Where Ψ has an edge there (a cylinder in itself), a second polytope grows around
//! that normal only.
//!
//! Where Ψ is flat (two crossing segments, two triangles in one plane) the depth is 0 and n is across it.

use glam::DVec3;

use super::gjk::{GjkCache, MAX_ITERATIONS, Search};
use super::pair::{Corner, Difference, Pair};
use super::polytope::{Face, Polytope, PolytopeCache, Scratch};
use super::simplex::{nearest, weights};
use super::{ClosestError, Separation, Support};
use crate::Pose;

/// Gap of the bounds at which polyhedra are done, in units of the coordinates' size.
const POLYHEDRAL_GAP: f64 = 8.0 * f64::EPSILON;
/// Gap of the bounds at which curved shapes are done, relative to the depth.
const CURVED_GAP: f64 = 1e-13;
/// Extent in units of the coordinates' size below which Ψ is flat.
const FLAT: f64 = 64.0 * f64::EPSILON;
/// Cosine of the angle, about 6°, to which a refinement around one normal is confined.
const ALONG: f64 = 0.995;
/// Faces whose distances differ by less, in units of the coordinates' size, may contain the projection of the
/// origin.
const NEARLY_LEVEL: f64 = 1e-7;
/// Tilt of the directions that probe for the corners of a facet.
const TILT: f64 = 1e-8;
/// Capacity of the largest polytope.
const MOST: usize = 160;
/// Distances this small, in units of the coordinates' size, are also measured from inside when rounding has
/// stopped the search early.
const UNSURE: f64 = 1e-8;

/// (A, B, B in A's frame, cache) ⇒ distance or depth, normal and nearest points, in A's frame.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::closest::{GjkCache, signed_distance};
/// use rattleback_geometry::{Cuboid, Pose};
/// let cube = Cuboid::new(DVec3::ONE)?;
/// let mut cache = GjkCache::default();
/// let apart = signed_distance(&cube, &cube, &Pose::at(DVec3::new(2.25, 0.5, 0.0)), &mut cache)?;
/// assert_eq!((apart.distance, apart.normal), (0.25, DVec3::X));
/// let deep = signed_distance(&cube, &cube, &Pose::at(DVec3::new(1.75, 0.5, 0.0)), &mut cache)?;
/// assert_eq!((deep.distance, deep.normal), (-0.25, DVec3::X));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn signed_distance<A: Support, B: Support>(
    a: &A,
    b: &B,
    b_in_a: &Pose,
    cache: &mut GjkCache,
) -> Result<Separation, ClosestError> {
    let pair = Pair::new(a, b, b_in_a)?;
    // Depths of thickened cores (capsule against box) did not always agree with a fresh search: they begin
    // anew.
    if a.radius() + b.radius() == 0.0
        && !cache.polytope.is_empty()
        && let Some(separation) = depth_again(&pair, cache)?
    {
        return Ok(separation);
    }
    cache.polytope.forget();
    let mut search = Search::NEW;
    search.run(&pair, cache, MAX_ITERATIONS)?;
    let sure = search.certified() || search.nearest.squared.sqrt() > UNSURE * search.size();
    if sure && let Some(separation) = search.separation(a.radius(), b.radius()) {
        return Ok(separation);
    }
    depth(&pair, &search, &mut cache.polytope)
}

/// Depth of the cores, thickened.
fn depth<A: Support, B: Support>(
    pair: &Pair<'_, A, B>,
    search: &Search,
    kept: &mut PolytopeCache,
) -> Result<Separation, ClosestError> {
    let core = match spanning_corners(pair, search) {
        // Most polyhedra need few corners; the larger polytope is only set up if they do not suffice.
        Ok(corners) => {
            let mut polytope = Polytope::<32, 60>::tetrahedron(corners, search.size());
            match grow(pair, &mut polytope, None, kept)? {
                Growth::Done(core) | Growth::Flat(core) => core,
                Growth::Stopped(_) => deepest_of_many(pair, &mut polytope.enlarged(), &corners)?,
            }
        }
        Err(across) => {
            let (point_a, point_b) = search.witnesses();
            Separation { distance: 0.0, normal: across, point_a, point_b }
        }
    };
    Ok(thickened(pair, &core))
}

fn thickened<A: Support, B: Support>(pair: &Pair<'_, A, B>, core: &Separation) -> Separation {
    let (radius_a, radius_b) = (pair.a.radius(), pair.b.radius());
    Separation {
        distance: core.distance - radius_a - radius_b,
        normal: core.normal,
        point_a: core.point_a + radius_a * core.normal,
        point_b: core.point_b - radius_b * core.normal,
    }
}

/// Begins with the polytope that the last search ended with. While the shapes move little, its nearest face
/// still is one of Ψ's own, which one support query along its normal proves. None if the origin has left it,
/// or rounding stops its growth.
fn depth_again<A: Support, B: Support>(
    pair: &Pair<'_, A, B>,
    cache: &mut GjkCache,
) -> Result<Option<Separation>, ClosestError> {
    let restored = Polytope::<32, 60>::restored(&cache.polytope, |numbers| pair.corner(numbers), UNSURE);
    let Some(mut polytope) = restored else { return Ok(None) };
    let before = polytope.corner_count;
    let grown = grow(pair, &mut polytope, None, &mut cache.polytope)?;
    cache.iterations = (polytope.corner_count - before) as u32;
    Ok(match grown {
        Growth::Done(core) => Some(thickened(pair, &core)),
        // Corners of an earlier pose or another pair may all lie in one plane.
        Growth::Stopped(_) | Growth::Flat(_) => None,
    })
}

/// The corners of the search and as many more as span a volume; if there are none, a direction across Ψ.
fn spanning_corners<A: Support, B: Support>(
    pair: &Pair<'_, A, B>,
    search: &Search,
) -> Result<[Corner; 4], DVec3> {
    let flat = FLAT * search.size();
    if let Some(corners) = search.tetrahedron()
        && spans_volume(&corners, flat)
    {
        return Ok(corners);
    }
    let mut found = [Corner::default(); 4];
    found[0] = search.needed().next().copied().unwrap_or_default();
    let start = found[0].numbers;
    // Spans beyond the corners found so far; the search's own corners come first, they hold the origin
    // between them.
    let farthest_off = |offset: &dyn Fn(DVec3) -> f64, directions: &[DVec3]| {
        let known = search.needed().skip(1).copied();
        if let Some(corner) =
            known.filter(|corner| offset(corner.w) > flat).max_by(|p, q| offset(p.w).total_cmp(&offset(q.w)))
        {
            return Some(corner);
        }
        let others = directions.iter().map(|&direction| pair.farthest(direction, start));
        others.filter(|corner| offset(corner.w) > flat).max_by(|p, q| offset(p.w).total_cmp(&offset(q.w)))
    };
    let origin = found[0].w;
    let axes = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z];
    let second = farthest_off(&|w| (w - origin).length(), &axes).ok_or(DVec3::X)?;
    found[1] = second;
    let along = (second.w - origin).normalize_or(DVec3::X);
    let (u, v) = along.any_orthonormal_pair();
    let third = farthest_off(&|w| (w - origin).cross(along).length(), &[u, -u, v, -v]).ok_or(u)?;
    found[2] = third;
    let across = along.cross(third.w - origin).normalize_or(u);
    let fourth = farthest_off(&|w| (w - origin).dot(across).abs(), &[across, -across]).ok_or(across)?;
    found[3] = fourth;
    Ok(found)
}

/// Whether a tetrahedron is longer, wider and higher than that.
fn spans_volume(corners: &[Corner; 4], flat: f64) -> bool {
    let [ab, ac, ad] = [1, 2, 3].map(|i| corners[i].w - corners[0].w);
    let across = ab.cross(ac);
    let (length_squared, area_squared) = (ab.length_squared(), across.length_squared());
    length_squared > flat * flat
        && area_squared > flat * flat * length_squared
        && across.dot(ad).powi(2) > flat * flat * area_squared
}

/// Goes on with more room; and where even that is used up by a round surface all about the origin, by looking
/// along the best normal only: downhill if Ψ is smooth there, else with a polytope that grows only there.
fn deepest_of_many<A: Support, B: Support>(
    pair: &Pair<'_, A, B>,
    polytope: &mut Polytope<MOST, 316>,
    corners: &[Corner; 4],
) -> Result<Separation, ClosestError> {
    let mut kept = PolytopeCache::default();
    let all_about = match grow(pair, polytope, None, &mut kept)? {
        Growth::Done(core) | Growth::Flat(core) => return Ok(core),
        Growth::Stopped(core) => core,
    };
    if let Some(better) = downhill(pair, &all_about) {
        return Ok(better);
    }
    let mut anew = Polytope::<MOST, 316>::tetrahedron(*corners, polytope.size());
    let (Growth::Done(there) | Growth::Stopped(there) | Growth::Flat(there)) =
        grow(pair, &mut anew, Some(all_about.normal), &mut kept)?;
    Ok(if there.distance > all_about.distance { there } else { all_about })
}

/// How the growth of a polytope has ended.
enum Growth {
    /// The bounds agree.
    Done(Separation),
    /// Capacity exhausted, or the horizon is not a loop: the best result so far.
    Stopped(Separation),
    /// The polytope has no volume, nor any face to begin with.
    Flat(Separation),
}

/// Adds corners until the nearest face, or the nearest of those facing `along`, is one of Ψ's own; then the
/// polytope is cached.
fn grow<A: Support, B: Support, const C: usize, const F: usize>(
    pair: &Pair<'_, A, B>,
    polytope: &mut Polytope<C, F>,
    along: Option<DVec3>,
    kept: &mut PolytopeCache,
) -> Result<Growth, ClosestError> {
    let size = polytope.size();
    let mut scratch = Scratch::<C, F>::new();
    let polyhedral = pair.a.corner(0).is_some() && pair.b.corner(0).is_some();
    let mut best: Option<(f64, Face)> = None;
    let mut converged = false;
    let nearest_face = |polytope: &Polytope<C, F>| match along {
        Some(n) => polytope.nearest_face_along(n, ALONG),
        None => polytope.nearest_face(),
    };
    while let Some((place, face)) = nearest_face(polytope) {
        let corner = pair.farthest(face.normal, polytope.corners[face.corners[0] as usize].numbers);
        let reach = corner.w.dot(face.normal);
        if !reach.is_finite() {
            return Err(ClosestError::InvalidPoint);
        }
        // Of equals the later one: its gap is the smaller.
        if best.is_none_or(|(least, _)| reach <= least + POLYHEDRAL_GAP * size) {
            best = Some((reach, face));
        }
        let wanted = if polyhedral { 0.0 } else { CURVED_GAP * reach.abs() };
        let done = reach - face.distance <= POLYHEDRAL_GAP * size + wanted;
        // Where the polytope is convex, a corner that is there already lies in the face's plane.
        let near = polytope.dented || reach - face.distance <= 1e-9 * size;
        let known = near && polytope.corners[..polytope.corner_count].iter().any(|old| old.w == corner.w);
        // In front of a dent an existing corner proves nothing.
        converged = done || known && !polytope.dented;
        if converged || known || !polytope.add(corner, place, &mut scratch) {
            break;
        }
    }
    let Some((reach, face)) = best else {
        // Every face is thin: the polytope is flat to rounding.
        let first = polytope.corners[0];
        let answer = Separation { distance: 0.0, normal: DVec3::X, point_a: first.a, point_b: first.b };
        return Ok(Growth::Flat(answer));
    };
    // Where the capacity does not suffice, a larger polytope follows.
    let (mut point_a, mut point_b) =
        if reach - face.distance <= NEARLY_LEVEL * size || (C < MOST && !converged) {
            witnesses(polytope, &face, size)
        } else {
            facet_witnesses(pair, face.normal, reach)
        };
    if !polyhedral {
        // Between corners on an arc lies its chord: the points go out to the planes that hold the shapes.
        let tip = pair.farthest(face.normal, [0; 2]);
        point_a += (tip.a - point_a).dot(face.normal) * face.normal;
        point_b += (tip.b - point_b).dot(face.normal) * face.normal;
    }
    let answer = Separation { distance: -reach, normal: face.normal, point_a, point_b };
    if converged && polyhedral {
        kept.keep(polytope);
    }
    Ok(if converged { Growth::Done(answer) } else { Growth::Stopped(answer) })
}

/// Descends along h(n) from a result; None if that makes no progress, or ends where Ψ has an edge or a
/// flat side.
fn downhill<A: Support, B: Support>(pair: &Pair<'_, A, B>, from: &Separation) -> Option<Separation> {
    let mut n = from.normal;
    let mut corner = pair.farthest(n, [0; 2]);
    let (mut least, mut step) = (corner.w.dot(n), 1.0 / corner.w.length());
    for _ in 0..100 {
        let across = corner.w - least * n;
        if across.length() <= 1e-9 * least {
            break;
        }
        let next = (n - step * across).normalize();
        let next_corner = pair.farthest(next, corner.numbers);
        let next_least = next_corner.w.dot(next);
        if next_least < least {
            let (turned, moved) = (next - n, next_corner.w - corner.w);
            // Of the function without its constraint the curvature along the step is (Δw − h Δn)·Δn/|Δn|².
            let curvature = (moved - least * turned).dot(turned) / turned.length_squared();
            (n, corner, least) = (next, next_corner, next_least);
            step = if curvature.abs() > 0.0 { 1.0 / curvature.abs() } else { 2.0 * step };
        } else {
            step *= 0.25;
        }
    }
    let smooth = (corner.w - least * n).length() <= 1e-6 * least;
    (smooth && least <= -from.distance).then_some(Separation {
        distance: -least,
        normal: n,
        point_a: corner.a,
        point_b: corner.b,
    })
}

/// Witness points in A and B of the origin's projection onto the plane of `face`. It may lie in a neighbour
/// in nearly the same plane: where a flat side of Ψ ends in a rim, narrow faces that follow the rim are as
/// near as the one that holds it.
fn witnesses<const C: usize, const F: usize>(
    polytope: &Polytope<C, F>,
    face: &Face,
    size: f64,
) -> (DVec3, DVec3) {
    let level = face.distance + NEARLY_LEVEL * size;
    let foot = face.distance * face.normal;
    let mut best = NearestTriangle::default();
    for candidate in std::iter::once(face).chain(polytope.alive().filter(|other| other.distance <= level)) {
        best.consider(foot, &polytope.triangle(candidate));
    }
    (best.point_a, best.point_b)
}

/// The same where the polytope has not grown as far as Ψ's own facet with this normal, but the normal is
/// right (that of a triangle against the rim of a cone): the facet is spanned by what Ψ has farthest in
/// directions all about the normal.
fn facet_witnesses<A: Support, B: Support>(
    pair: &Pair<'_, A, B>,
    normal: DVec3,
    reach: f64,
) -> (DVec3, DVec3) {
    const AROUND: usize = 12;
    let (u, v) = normal.any_orthonormal_pair();
    let corners: [Corner; AROUND] = std::array::from_fn(|k| {
        let (sine, cosine) = (k as f64 * std::f64::consts::TAU / AROUND as f64).sin_cos();
        pair.farthest((normal + TILT * (cosine * u + sine * v)).normalize(), [0; 2])
    });
    let mut best = NearestTriangle::default();
    for (i, j, k) in (0..AROUND).flat_map(|i| (0..=i).flat_map(move |j| (0..=j).map(move |k| (i, j, k)))) {
        best.consider(reach * normal, &[corners[i], corners[j], corners[k]]);
    }
    (best.point_a, best.point_b)
}

/// The triangle nearest to the origin's projection so far, and the witness points of its nearest point in A
/// and B.
struct NearestTriangle {
    squared: f64,
    point_a: DVec3,
    point_b: DVec3,
}

impl Default for NearestTriangle {
    fn default() -> Self {
        Self { squared: f64::INFINITY, point_a: DVec3::ZERO, point_b: DVec3::ZERO }
    }
}

impl NearestTriangle {
    fn consider(&mut self, foot: DVec3, corners: &[Corner; 3]) {
        // Relative to the projection, so that the weights do not depend on its depth.
        let [p, q, r] = corners.map(|corner| corner.w - foot);
        let seen = [p, q, r, r];
        let near = nearest(&seen, 3);
        if near.squared < self.squared {
            let weights = weights(&seen, &near);
            let mix = |place: fn(&Corner) -> DVec3| {
                corners.iter().zip(weights).map(|(corner, weight)| weight * place(corner)).sum::<DVec3>()
            };
            *self = Self {
                squared: near.squared,
                point_a: mix(|corner| corner.a),
                point_b: mix(|corner| corner.b),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::{Cuboid, convex_hull, generate};

    /// Warm and cold start find the same depth, however far the shapes have moved.
    #[test]
    fn warm_and_cold_depths_agree() {
        fn walk<S: Support>(a: &S, b: &S, warm: &mut u32) {
            for step in [0.001, 0.02, 0.3, 2.0] {
                let mut cache = GjkCache::default();
                for i in 0..400 {
                    let t = step * f64::from(i);
                    let offset = 0.6 * DVec3::new(t.sin(), (1.7 * t).cos(), (0.6 * t).sin());
                    let pose = Pose::new(DQuat::from_scaled_axis(DVec3::new(t, -0.3 * t, 0.7 * t)), offset);
                    let again = signed_distance(a, b, &pose, &mut cache).unwrap();
                    *warm += u32::from(!cache.polytope.is_empty() && cache.iterations == 0);
                    let cold = signed_distance(a, b, &pose, &mut GjkCache::default()).unwrap();
                    assert!((again.distance - cold.distance).abs() < 1e-14, "{again:?} {cold:?}");
                    let gap = again.point_b - again.point_a - again.distance * again.normal;
                    assert!(gap.length() < 1e-13);
                }
            }
        }
        let mut warm = 0;
        let boxes = [DVec3::new(0.5, 0.7, 0.6), DVec3::new(0.8, 0.4, 0.5)].map(|h| Cuboid::new(h).unwrap());
        walk(&boxes[0], &boxes[1], &mut warm);
        let sphere = convex_hull(generate::icosphere(2).unwrap().vertices()).unwrap();
        walk(&sphere, &sphere, &mut warm);
        let octahedron = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z];
        walk(&convex_hull(&octahedron).unwrap(), &sphere, &mut warm);
        assert!(warm > 1000, "{warm}");
    }
}
