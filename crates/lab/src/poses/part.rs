//! A part: mass properties of its solid, and the convex hull that touches the floor.
//!
//! Only corners of the convex hull can touch a flat floor, so the hull (with coplanar faces merged) stands for the surface, whatever cavities
//! the part has. Its mass, centre of mass and inertia are those of the solid. An insert is a solid inside the part with another density: it adds
//! (ρ_insert − ρ) times its volume integrals.

use super::error::{MAX_SIZE, MAX_TRIANGLES, MIN_SIZE, PoseError};
use glam::DVec3;
use rattleback_geometry::hierarchy::{BuildSettings, MeshTree, Neighbors, Scratch};
use rattleback_geometry::{
    Aabb, ConvexPolyhedron, HullError, MassProperties, MeshError, MeshReport, PolygonSoup, TriangleMesh,
    VolumeIntegrals, convex_hull_with, welded,
};
use std::ops::ControlFlow;

/// Overlaps below this fraction of the size are rounding.
const ROUNDING: f64 = 1e-6;
/// Volumes below this fraction of size³ are rounding.
const FLAT: f64 = 1e-9;

/// How a mesh becomes a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartOptions {
    /// Density, kg/m³.
    pub density: f64,
    /// Faces of the hull within this fraction of the size from one plane are one face; files in single precision need about 10⁻⁶.
    pub merge: f64,
    /// Whether the solid is the convex hull of the mesh, filled; for meshes that are not closed.
    pub filled_hull: bool,
}

impl Default for PartOptions {
    fn default() -> Self {
        Self { density: 1000.0, merge: 1e-6, filled_hull: false }
    }
}

/// A part that can be dropped.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::generate;
/// use rattleback_lab::poses::{Part, PartOptions};
/// let brick = generate::cuboid(DVec3::new(0.01, 0.02, 0.03))?;
/// let part = Part::from_soup(&brick, &PartOptions::default())?;
/// assert_eq!(part.hull().face_count(), 6);
/// assert!((part.mass().mass - 0.048).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Part {
    surface: TriangleMesh,
    hull: ConvexPolyhedron,
    mass: MassProperties,
    size: f64,
    notes: Vec<String>,
}

impl Part {
    /// Polygons ⇒ part; equal corners are joined, an inside-out surface is turned.
    pub fn from_soup(soup: &PolygonSoup, options: &PartOptions) -> Result<Self, PoseError> {
        Self::with_inserts(soup, &[], options)
    }

    /// As `from_soup`, with solids inside of other densities, kg/m³.
    pub fn with_inserts(
        soup: &PolygonSoup,
        inserts: &[(TriangleMesh, f64)],
        options: &PartOptions,
    ) -> Result<Self, PoseError> {
        check("density", options.density, options.density > 0.0, "finite and > 0")?;
        if soup.face_count() > MAX_TRIANGLES {
            return Err(PoseError::TooManyTriangles { count: soup.face_count() });
        }
        let bounds = Aabb::from_points(soup.vertices.iter().copied())
            .map_err(|_| PoseError::Mesh(MeshError::Empty))?;
        let size = bounds.diagonal();
        if !(MIN_SIZE..=MAX_SIZE).contains(&size) {
            return Err(PoseError::Size { size });
        }
        let mut notes = Vec::new();
        let hull = convex_hull_with(&soup.vertices, options.merge).map_err(|error| match error {
            HullError::Degenerate { .. } | HullError::TooFewPoints { .. } => {
                PoseError::Flat { volume: 0.0, size }
            }
            other => other.into(),
        })?;
        let middle = bounds.center();
        let hull_volume = VolumeIntegrals::of_soup_about(hull.soup(), middle).t1;
        let (surface, integrals) = if options.filled_hull {
            let surface = hull.to_triangle_mesh()?;
            (surface, VolumeIntegrals::of_soup_about(hull.soup(), middle))
        } else {
            let surface = closed(soup, &mut notes)?;
            not_crossing(&surface, size)?;
            let integrals =
                VolumeIntegrals::of_triangles_about(surface.vertices(), surface.triangles(), middle);
            (surface, integrals)
        };
        if integrals.t1 <= FLAT * size.powi(3) {
            return Err(PoseError::Flat { volume: integrals.t1, size });
        }
        // Merged faces of the hull may cut off a few millionths.
        if integrals.t1 > hull_volume * (1.0 + 1e-4) {
            return Err(PoseError::SelfIntersecting { volume: integrals.t1, hull: hull_volume });
        }
        let mut masses = integrals.scaled(options.density);
        for (insert, density) in inserts {
            check("density of an insert", *density, *density >= 0.0, "finite and ≥ 0")?;
            if let Some(source) = insert.solid_error() {
                return Err(PoseError::NotSolid { source });
            }
            let inside = VolumeIntegrals::of_triangles_about(insert.vertices(), insert.triangles(), middle);
            masses = masses.plus(&inside.scaled(density - options.density));
        }
        // The integrals already contain the densities.
        let mass = MassProperties::from_integrals(&masses, middle, 1.0)?;
        Self::new(surface, hull, mass, size, notes)
    }

    /// A convex solid with given mass properties, which need not be those of a constant density: a loaded die.
    pub fn convex(hull: ConvexPolyhedron, mass: MassProperties) -> Result<Self, PoseError> {
        let bounds = Aabb::from_points(hull.vertices().iter().copied())
            .map_err(|_| PoseError::Mesh(MeshError::Empty))?;
        let size = bounds.diagonal();
        if !(MIN_SIZE..=MAX_SIZE).contains(&size) {
            return Err(PoseError::Size { size });
        }
        Self::new(hull.to_triangle_mesh()?, hull, mass, size, Vec::new())
    }

    fn new(
        surface: TriangleMesh,
        hull: ConvexPolyhedron,
        mass: MassProperties,
        size: f64,
        notes: Vec<String>,
    ) -> Result<Self, PoseError> {
        let c = mass.center_of_mass;
        let inside = |(normal, offset): (&DVec3, &f64)| offset - normal.dot(c) > 0.0;
        if !hull.normals().iter().zip(hull.offsets()).all(inside) {
            return Err(PoseError::CentreOutside);
        }
        Ok(Self { surface, hull, mass, size, notes })
    }

    /// The surface of the solid, in the frame of the file.
    pub const fn surface(&self) -> &TriangleMesh {
        &self.surface
    }

    /// Its convex hull, coplanar faces merged.
    pub const fn hull(&self) -> &ConvexPolyhedron {
        &self.hull
    }

    /// Mass, centre of mass and inertia.
    pub const fn mass(&self) -> &MassProperties {
        &self.mass
    }

    /// Diagonal of the bounding box, m.
    pub const fn size(&self) -> f64 {
        self.size
    }

    /// What was mended on the way.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Polygons ⇒ closed surface with outward faces.
fn closed(soup: &PolygonSoup, notes: &mut Vec<String>) -> Result<TriangleMesh, PoseError> {
    let (joined, dropped) = welded(soup, 0.0)?;
    if dropped > 0 {
        notes.push(format!("{dropped} face(s) without area left out"));
    }
    let report = MeshReport::of(&joined)?;
    let fixed = if report.inverted {
        notes.push("the faces pointed inwards; the mesh was turned right side out".into());
        joined.reversed()
    } else {
        joined
    };
    let mesh = TriangleMesh::from_soup(&fixed)?;
    match mesh.solid_error() {
        Some(source) => Err(PoseError::NotSolid { source }),
        None => Ok(mesh),
    }
}

/// An error if two triangles without a common corner go through each other: the surface then encloses some places twice. Triangles that only touch are
/// no crossing: corners of both lie on both sides of the plane of the other, by more than the rounding of files in single precision.
fn not_crossing(surface: &TriangleMesh, size: f64) -> Result<(), PoseError> {
    let Ok(tree) = MeshTree::build(surface, &BuildSettings::default()) else { return Ok(()) };
    let corners = |t: u32| surface.triangles()[t as usize].map(|v| surface.vertices()[v as usize]);
    let tolerance = ROUNDING * size;
    let through = |[a, b, c]: [DVec3; 3], other: [DVec3; 3]| {
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let sides = other.map(|p| normal.dot(p - a));
        sides.iter().any(|x| *x > tolerance) && sides.iter().any(|x| *x < -tolerance)
    };
    let mut crossing = None;
    tree.self_crossings(Neighbors::Skip, &mut Scratch::default(), |i, j| {
        let (a, b) = (corners(i), corners(j));
        if through(a, b) && through(b, a) {
            crossing = Some(PoseError::Crossing { triangles: [i, j], near: (a[0] + a[1] + a[2]) / 3.0 });
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    crossing.map_or(Ok(()), Err)
}

/// An error if a value is not finite or a condition fails.
pub(super) fn check(
    name: &'static str,
    value: f64,
    sound: bool,
    allowed: &'static str,
) -> Result<(), PoseError> {
    if value.is_finite() && sound { Ok(()) } else { Err(PoseError::Parameter { name, value, allowed }) }
}
