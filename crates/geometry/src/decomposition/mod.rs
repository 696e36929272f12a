//! Convex decomposition: exact, by cuts through reflex edges, and approximate, with a bound on the error.

mod approximate;
mod candidates;
mod concavity;
mod cut;
mod error;
mod exact;
mod part;
mod region;
mod section;
mod solid_distance;
mod validate;

use glam::DVec3;

pub use approximate::{ApproximateDecomposition, ApproximateSettings, approximate_decomposition};
pub use error::DecompositionError;

use crate::{ConvexPolyhedron, Edge, PolygonSoup, Polyhedron, TriangleMesh};

/// How to cut a solid exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecompositionSettings {
    /// Smallest angle in radians that a cut may leave along its outline, 0 to π. Default 20°.
    pub min_dihedral: f64,
    /// Smallest distance of a cut from a vertex beside it, as a fraction of the part's mean edge. Default
    /// 0.05.
    pub min_distance: f64,
    /// Planes tried for an edge, at least 1. Default 16.
    pub max_candidates: u32,
    /// Factor on the two limits when no further cut is possible, 0 to 1. Default 0.5.
    pub relaxation: f64,
    /// How often the limits may be lowered. Default 8.
    pub max_rounds: u32,
    /// Edges whose angle exceeds π by less than this, in radians, count as flat. Default 1e-9.
    pub reflex_tolerance: f64,
    /// Number of parts at which cutting ends. Default 4096.
    pub max_parts: u32,
    /// Whether reflex edges that remain are an error. Default false.
    pub strict: bool,
    /// Whether to check for intersecting faces before cutting. Default true.
    pub check_self_intersection: bool,
}

impl Default for DecompositionSettings {
    fn default() -> Self {
        Self {
            min_dihedral: 20.0_f64.to_radians(),
            min_distance: 0.05,
            max_candidates: 16,
            relaxation: 0.5,
            max_rounds: 8,
            reflex_tolerance: 1e-9,
            max_parts: 4096,
            strict: false,
            check_self_intersection: true,
        }
    }
}

impl DecompositionSettings {
    fn check(&self) -> Result<(), DecompositionError> {
        let fractions = "from 0 to 1";
        for (name, value, allowed, fine) in [
            (
                "min_dihedral",
                self.min_dihedral,
                "from 0 to π",
                (0.0..=std::f64::consts::PI).contains(&self.min_dihedral),
            ),
            ("min_distance", self.min_distance, fractions, (0.0..=1.0).contains(&self.min_distance)),
            ("relaxation", self.relaxation, fractions, (0.0..=1.0).contains(&self.relaxation)),
            (
                "reflex_tolerance",
                self.reflex_tolerance,
                "from 0 to 0.1",
                (0.0..=0.1).contains(&self.reflex_tolerance),
            ),
            ("max_candidates", f64::from(self.max_candidates), "at least 1", self.max_candidates >= 1),
            ("max_parts", f64::from(self.max_parts), "at least 1", self.max_parts >= 1),
        ] {
            if !fine {
                return Err(DecompositionError::Parameter { name, value, allowed });
            }
        }
        Ok(())
    }
}

/// A solid as convex parts that touch only in faces, edges and vertices.
#[derive(Clone, Debug, PartialEq)]
pub struct Decomposition {
    /// The convex parts.
    pub parts: Vec<ConvexPolyhedron>,
    /// Pieces that could not be made convex; together with the parts they fill the solid.
    pub unresolved: Vec<UnresolvedPart>,
    /// How it went.
    pub report: DecompositionReport,
}

/// A piece with reflex edges that no acceptable cut resolves.
#[derive(Clone, Debug, PartialEq)]
pub struct UnresolvedPart {
    /// Its surface.
    pub mesh: TriangleMesh,
    /// Ends of its reflex edges.
    pub reflex_edges: Vec<[DVec3; 2]>,
}

/// How an exact decomposition went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecompositionReport {
    /// Cuts made; a cut through a ring does not add a part.
    pub cuts: usize,
    /// How often the limits were lowered.
    pub rounds: u32,
    /// Limit of the angles in the last round.
    pub min_dihedral: f64,
    /// Limit of the distance in the last round.
    pub min_distance: f64,
    /// Smallest angle that a cut left, π if there was none.
    pub smallest_new_angle: f64,
    /// Volume of the solid.
    pub volume: f64,
    /// Sum of the volumes of the convex parts.
    pub parts_volume: f64,
}

/// Solid mesh ⇒ convex parts that fill it exactly.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::decomposition::{DecompositionSettings, decompose};
/// use rattleback_geometry::{TriangleMesh, generate};
/// let ring = TriangleMesh::from_soup(&generate::cuboid_with_hole(DVec3::ONE, 0.5, 0.5)?)?;
/// let parts = decompose(&ring, &DecompositionSettings::default())?.parts;
/// assert_eq!(parts.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decompose(
    mesh: &TriangleMesh,
    settings: &DecompositionSettings,
) -> Result<Decomposition, DecompositionError> {
    settings.check()?;
    validate::check_solid(mesh, settings.check_self_intersection)?;
    exact::decompose_solid(mesh, settings)
}

/// As `decompose`, of a polyhedron with convex faces.
pub fn decompose_polyhedron(
    polyhedron: &Polyhedron,
    settings: &DecompositionSettings,
) -> Result<Decomposition, DecompositionError> {
    decompose_soup(polyhedron.soup(), settings)
}

/// As `decompose`, of polygons; an error names the first condition that they miss.
pub fn decompose_soup(
    soup: &PolygonSoup,
    settings: &DecompositionSettings,
) -> Result<Decomposition, DecompositionError> {
    decompose(&validate::checked_triangles(soup)?, settings)
}

/// Polygons ⇒ the same surface with every face that is not convex cut into triangles.
pub fn split_faces(soup: &PolygonSoup) -> Result<PolygonSoup, DecompositionError> {
    validate::split_faces(soup)
}

/// Dihedral angle inside the solid at every edge, in the order of the edges: below π convex, above π reflex.
pub fn dihedral_angles(polyhedron: &Polyhedron) -> Vec<f64> {
    let angle = |edge: &Edge| {
        let [a, b] = edge.vertices.map(|v| polyhedron.vertices()[v as usize]);
        let [n1, n2] = edge.faces.map(|f| polyhedron.normals()[f as usize]);
        part::dihedral_angle(n1, n2, (b - a).normalize_or_zero())
    };
    polyhedron.edges().iter().map(angle).collect()
}
