//! Few convex parts that cover a solid and stick out of it by no more than a bound.
//!
//! The part with the largest error is cut in two until every error is small enough: by the plane, among a
//! few, that leaves the smallest hulls of about equal size. Tried are planes across the axes and the part's
//! own principal axes, the plane of the face at the bottom of the deepest pocket, and planes through that
//! bottom. Parts are hulls of solid ∩ region, the regions tile space, so parts overlap nowhere and together
//! hold the whole solid.

use glam::{DMat3, DVec3};

use super::concavity::{Concavity, concavity};
use super::region::Region;
use super::section::CutPlane;
use super::solid_distance::SolidDistance;
use super::{DecompositionError, validate};
use crate::{ConvexPolyhedron, TriangleMesh, VolumeIntegrals, symmetric_eigen};

/// Weight of the difference of two hulls' volumes, relative to their sum. A solid with bumps is cut best with
/// little of it; a ring, whose hulls do not become smaller at first when it is cut in two, would then only be
/// shaved at its rim. So both are tried, and the fewer parts win.
const BALANCES: [f64; 2] = [0.05, 0.5];

/// How to approximate a solid by convex parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ApproximateSettings {
    /// How far a part may stick out of the solid, as a fraction of the diagonal of its box, above 0. Default
    /// 0.02.
    pub max_error: f64,
    /// Most parts, at least 1. Default 64.
    pub max_parts: u32,
    /// Planes tried across each axis. Default 5.
    pub planes_per_axis: u32,
}

impl Default for ApproximateSettings {
    fn default() -> Self {
        Self { max_error: 0.02, max_parts: 64, planes_per_axis: 5 }
    }
}

/// Convex parts around a solid.
#[derive(Clone, Debug, PartialEq)]
pub struct ApproximateDecomposition {
    /// The parts: together they hold the solid, and they overlap nowhere.
    pub parts: Vec<ConvexPolyhedron>,
    /// No point of part i is farther than `errors[i]` from the solid.
    pub errors: Vec<f64>,
    /// Largest of the errors.
    pub error_bound: f64,
    /// Whether the bound is within `max_error`.
    pub within_limit: bool,
    /// Volume of the solid.
    pub volume: f64,
    /// Sum of the volumes of the parts.
    pub parts_volume: f64,
}

struct Piece {
    region: Region,
    hull: ConvexPolyhedron,
    error: Concavity,
    /// No plane divides it.
    whole: bool,
}

/// Solid mesh ⇒ convex parts that cover it, with a bound on how far they stick out.
///
/// ```
/// use rattleback_geometry::decomposition::{ApproximateSettings, approximate_decomposition};
/// use rattleback_geometry::generate;
/// let torus = generate::torus(1.0, 0.4, 24, 12)?;
/// let settings = ApproximateSettings { max_error: 0.05, ..ApproximateSettings::default() };
/// let result = approximate_decomposition(&torus, &settings)?;
/// assert!(result.within_limit && result.parts.len() < 30);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn approximate_decomposition(
    mesh: &TriangleMesh,
    settings: &ApproximateSettings,
) -> Result<ApproximateDecomposition, DecompositionError> {
    settings.check()?;
    if let Some(error) = mesh.solid_error() {
        return Err(error.into());
    }
    validate::check_shells(mesh)?;
    let solid = SolidDistance::new(mesh)?;
    let size = mesh.bounds().diagonal();
    let limit = settings.max_error * size;
    let divided = BALANCES.map(|balance| {
        Divider { solid: &solid, limit, tolerance: 1e-9 * size, settings, balance }.divided(mesh)
    });
    let worst = |pieces: &[Piece]| pieces.iter().map(|piece| piece.error.bound).fold(0.0, f64::max);
    let [first, second] = divided;
    // Within the limit, the fewer parts; beyond it, the smaller error.
    let rank = |pieces: &[Piece]| (worst(pieces).max(limit), pieces.len());
    let pieces = if rank(&second) < rank(&first) { second } else { first };
    let error_bound = worst(&pieces);
    let errors: Vec<f64> = pieces.iter().map(|piece| piece.error.bound).collect();
    let parts: Vec<ConvexPolyhedron> = pieces.into_iter().map(|piece| piece.hull).collect();
    Ok(ApproximateDecomposition {
        errors,
        error_bound,
        within_limit: error_bound <= limit,
        volume: mesh.integrals()?.t1,
        parts_volume: parts.iter().map(volume_of).sum(),
        parts,
    })
}

fn volume_of(part: &ConvexPolyhedron) -> f64 {
    let origin = part.vertices().first().copied().unwrap_or_default();
    VolumeIntegrals::of_soup_about(part.soup(), origin).t1
}

impl ApproximateSettings {
    fn check(&self) -> Result<(), DecompositionError> {
        let wrong = |name, value, allowed| Err(DecompositionError::Parameter { name, value, allowed });
        if !(self.max_error > 0.0 && self.max_error.is_finite()) {
            return wrong("max_error", self.max_error, "above 0 and finite");
        }
        if self.max_parts == 0 {
            return wrong("max_parts", 0.0, "at least 1");
        }
        if self.planes_per_axis > 100 {
            return wrong("planes_per_axis", f64::from(self.planes_per_axis), "at most 100");
        }
        Ok(())
    }
}

struct Divider<'a> {
    solid: &'a SolidDistance<'a>,
    limit: f64,
    tolerance: f64,
    settings: &'a ApproximateSettings,
    balance: f64,
}

impl Divider<'_> {
    /// Cuts the worst piece again and again, until all are good, none can be cut, or there are enough.
    fn divided(&self, mesh: &TriangleMesh) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = self.piece(Region::whole(mesh)).into_iter().collect();
        while pieces.len() < self.settings.max_parts as usize {
            let worst = (0..pieces.len())
                .filter(|&i| !pieces[i].whole && pieces[i].error.bound > self.limit)
                .max_by(|&i, &j| pieces[i].error.bound.total_cmp(&pieces[j].error.bound).then(j.cmp(&i)));
            let Some(worst) = worst else { break };
            match self.halves(&pieces[worst]) {
                Some(halves) => {
                    pieces.remove(worst);
                    pieces.extend(halves);
                }
                None => pieces[worst].whole = true,
            }
        }
        pieces
    }

    /// The part in a region, None if the solid has no volume there.
    fn piece(&self, region: Region) -> Option<Piece> {
        let hull = region.hull(self.solid, self.tolerance)?;
        let error = concavity(&hull, self.solid, self.limit);
        Some(Piece { region, hull, error, whole: false })
    }

    /// Both sides of the best plane, None if no plane leaves something on both.
    fn halves(&self, piece: &Piece) -> Option<Vec<Piece>> {
        let mut best: Option<(f64, Region, Region)> = None;
        let total = volume_of(&piece.hull);
        for plane in self.planes(piece) {
            let opposite = CutPlane { normal: -plane.normal, offset: -plane.offset };
            let below = piece.region.below(plane, self.solid, self.tolerance);
            let above = piece.region.below(opposite, self.solid, self.tolerance);
            let rough = |side: &Region| side.rough_volume(self.solid, self.tolerance);
            let (Some(low), Some(high)) = (rough(&below), rough(&above)) else { continue };
            // Cutting off a sliver only adds a part.
            if low.min(high) < 1e-4 * total {
                continue;
            }
            let cost = low + high + self.balance * (low - high).abs();
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, below, above));
            }
        }
        let (_, below, above) = best?;
        Some([below, above].into_iter().filter_map(|region| self.piece(region)).collect())
    }

    fn planes(&self, piece: &Piece) -> Vec<CutPlane> {
        let mut planes = Vec::new();
        if let Some(bounds) = piece.region.bounds() {
            for axis in DVec3::AXES {
                for i in 1..=self.settings.planes_per_axis {
                    let t = f64::from(i) / f64::from(self.settings.planes_per_axis + 1);
                    planes.push(through(bounds.min().lerp(bounds.max(), t), axis));
                }
            }
        }
        push_principal_planes(piece.hull.vertices(), &mut planes);
        if let Some(witness) = piece.error.witness
            && let Some(nearest) = self.solid.nearest(witness)
        {
            planes.push(through(nearest.point, self.solid.face_normal(nearest.face)));
            let out = (witness - nearest.point).normalize_or_zero();
            for axis in DVec3::AXES {
                planes.push(through(nearest.point, axis));
                let along = out.cross(axis);
                if along.length() > 0.1 {
                    planes.push(through(nearest.point, along.normalize()));
                }
            }
        }
        planes.retain(|plane| plane.normal != DVec3::ZERO);
        planes
    }
}

fn through(p: DVec3, normal: DVec3) -> CutPlane {
    CutPlane { normal, offset: normal.dot(p) }
}

/// Planes across the principal axes of a part's corners: a bent part is long along one of them and thin where
/// they cut.
fn push_principal_planes(corners: &[DVec3], planes: &mut Vec<CutPlane>) {
    let center = corners.iter().sum::<DVec3>() / corners.len() as f64;
    let mut spread = DMat3::ZERO;
    for &p in corners {
        let d = p - center;
        spread += DMat3::from_cols(d.x * d, d.y * d, d.z * d);
    }
    let (_, axes) = symmetric_eigen(spread);
    for axis in [axes.x_axis, axes.y_axis, axes.z_axis] {
        let reach = corners.iter().map(|p| (*p - center).dot(axis));
        let (low, high) = reach.fold((0.0_f64, 0.0_f64), |(low, high), t| (low.min(t), high.max(t)));
        planes.extend([0.5 * low, 0.0, 0.5 * high].map(|t| through(center + t * axis, axis)));
    }
}
