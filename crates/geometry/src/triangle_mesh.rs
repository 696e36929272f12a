//! Triangle surfaces, open or closed.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::hierarchy::{BuildSettings, HierarchyError, MeshTree};
use crate::lazily::Lazily;
use crate::mesh_report::{check_elements, has_repeated_corner};
use crate::triangulate::triangulate_face;
use crate::volume_integrals::center_of;
use crate::{
    Aabb, EdgeTable, MassError, MassProperties, MeshError, MeshReport, PolygonSoup, Pose, VolumeIntegrals,
};

/// Vertices and triangles with sound indices and finite coordinates. Whether it bounds a solid is checked
/// once, at construction; `solid_error` is the reason if it does not.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::{MeshError, TriangleMesh};
/// let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
/// let solid = TriangleMesh::new(corners.clone(), vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])?;
/// assert!(solid.is_solid());
/// let open = TriangleMesh::new(corners, vec![[0, 2, 1], [0, 1, 3], [1, 2, 3]])?;
/// assert_eq!(open.solid_error(), Some(MeshError::Open { edge: [0, 2] }));
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct TriangleMesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    #[serde(skip)]
    solid_error: Option<MeshError>,
    #[serde(skip)]
    bounds: Aabb,
    #[serde(skip)]
    tree: Lazily<MeshTree>,
    #[serde(skip)]
    edge_table: Lazily<EdgeTable>,
}

#[derive(Deserialize)]
struct Unchecked {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl TryFrom<Unchecked> for TriangleMesh {
    type Error = MeshError;

    fn try_from(read: Unchecked) -> Result<Self, MeshError> {
        Self::new(read.vertices, read.triangles)
    }
}

impl TriangleMesh {
    /// Points and triangles ⇒ mesh, if indices and coordinates are sound and no triangle repeats a corner.
    pub fn new(vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        check_elements(&vertices, triangles.iter().map(<[u32; 3]>::as_slice))?;
        if let Some(face) = triangles.iter().position(|triangle| has_repeated_corner(triangle)) {
            return Err(MeshError::DegenerateFace { face });
        }
        let report = MeshReport::of(&PolygonSoup::from_triangles(vertices.clone(), &triangles))?;
        let bounds = Aabb::from_points(vertices.iter().copied()).map_err(|_| MeshError::Empty)?;
        let solid_error = report.first_topology_error();
        let (tree, edge_table) = (Lazily::default(), Lazily::default());
        Ok(Self { vertices, triangles, solid_error, bounds, tree, edge_table })
    }

    /// Soup ⇒ mesh; faces with more corners are cut into triangles, faces with fewer than three corners or
    /// repeated corners are an error.
    pub fn from_soup(soup: &PolygonSoup) -> Result<Self, MeshError> {
        check_elements(&soup.vertices, soup.faces())?;
        let mut triangles = Vec::new();
        for (index, face) in soup.faces().enumerate() {
            if face.len() < 3 || has_repeated_corner(face) {
                return Err(MeshError::DegenerateFace { face: index });
            }
            triangulate_face(&soup.vertices, face, &mut triangles);
        }
        Self::new(soup.vertices.clone(), triangles)
    }

    /// The same surface as a soup.
    pub fn to_soup(&self) -> PolygonSoup {
        PolygonSoup::from_triangles(self.vertices.clone(), &self.triangles)
    }

    /// Points.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Vertex indices of the triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Corners of triangle `i`; panics if there is no such triangle.
    pub fn triangle(&self, i: usize) -> [DVec3; 3] {
        self.triangles[i].map(|v| self.vertices[v as usize])
    }

    /// Closed, manifold and oriented outwards.
    pub fn is_solid(&self) -> bool {
        self.solid_error.is_none()
    }

    /// The first reason why the mesh is not the boundary of a solid.
    pub fn solid_error(&self) -> Option<MeshError> {
        self.solid_error
    }

    /// Box in the mesh's own frame.
    pub fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// The hierarchy over the triangles, built on first use and shared by clones made after.
    pub fn tree(&self) -> Result<&MeshTree, HierarchyError> {
        self.tree.get_or_try(|| MeshTree::build(self, &BuildSettings::default()))
    }

    /// Neighbours of triangles and vertices, found on first use and shared by clones made after.
    pub fn edge_table(&self) -> &EdgeTable {
        self.edge_table.get_or(|| EdgeTable::of(self))
    }

    /// Full findings about the surface.
    pub fn report(&self) -> Result<MeshReport, MeshError> {
        MeshReport::of(&self.to_soup())
    }

    /// Sum of the triangles' areas.
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|i| self.area_vector(i).length()).sum()
    }

    /// Half the cross product of two sides of triangle `i`: area times outward normal.
    pub fn area_vector(&self, i: usize) -> DVec3 {
        let [a, b, c] = self.triangle(i);
        0.5 * (b - a).cross(c - a)
    }

    /// The ten exact integrals over the solid.
    pub fn integrals(&self) -> Result<VolumeIntegrals, MeshError> {
        match self.solid_error {
            Some(error) => Err(error),
            None => Ok(VolumeIntegrals::of_triangles(&self.vertices, &self.triangles)),
        }
    }

    /// Exact mass properties of the solid.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        if let Some(error) = self.solid_error {
            return Err(error.into());
        }
        let center = center_of(&self.vertices);
        let integrals = VolumeIntegrals::of_triangles_about(&self.vertices, &self.triangles, center);
        MassProperties::from_integrals(&integrals, center, density)
    }

    /// Whether the point lies inside the solid: the surface's solid angle from `p` is then 4π.
    ///
    /// Of an open mesh: whether the surface covers more than half of the view.
    pub fn contains(&self, p: DVec3) -> bool {
        if !self.bounds.contains(p) {
            return false;
        }
        let angle: f64 =
            (0..self.triangles.len()).map(|i| solid_angle(self.triangle(i).map(|v| v - p))).sum();
        angle > 2.0 * std::f64::consts::PI
    }

    /// The mesh with every triangle reversed: turns an inverted one outwards.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let triangles: Vec<_> = self.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        self.rebuilt(self.vertices.clone(), triangles)
    }

    /// The mesh moved by `pose`; an error if the pose is not finite.
    pub fn transformed(&self, pose: &Pose) -> Result<Self, MeshError> {
        Self::new(self.vertices.iter().map(|&p| pose.point(p)).collect(), self.triangles.clone())
    }

    /// Several meshes as one; overlapping parts stay as they are.
    pub fn joined<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Result<Self, MeshError> {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for part in parts {
            let base = vertices.len() as u32;
            vertices.extend_from_slice(&part.vertices);
            triangles.extend(part.triangles.iter().map(|t| t.map(|i| i + base)));
        }
        Self::new(vertices, triangles)
    }

    /// Same points, other triangles over them: indices stay sound, only the verdict is taken anew.
    fn rebuilt(&self, vertices: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Self {
        let report = MeshReport::of(&PolygonSoup::from_triangles(vertices.clone(), &triangles));
        let solid_error = report.map_or_else(Some, |report| report.first_topology_error());
        let (tree, edge_table) = (Lazily::default(), Lazily::default());
        Self { vertices, triangles, solid_error, bounds: self.bounds, tree, edge_table }
    }
}

/// Signed solid angle of a triangle from the origin (van Oosterom and Strackee 1983):
/// tan(Ω/2) = a·(b×c) / (abc + (a·b)c + (b·c)a + (c·a)b), positive if the triangle shows its back.
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let y = a.dot(b.cross(c));
    let x = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if y == 0.0 && x <= 0.0 { 0.0 } else { 2.0 * y.atan2(x) }
}
