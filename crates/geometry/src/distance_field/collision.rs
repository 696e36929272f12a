//! Which vertices of one body lie inside another's field, and where its surface is nearest to them.
//!
//! The trilinear value is positive everywhere in a box if it is at all grid vertices of the cells the box
//! touches: an interpolated value lies between those of its corners. And it is negative nowhere outside the
//! surface's own box. By these two facts the traversal of a tree skips nodes without missing a vertex.
//! (Values at the corners of a node do not bound those inside: the solid may protrude there.)
//!
//! Edges can pierce a field without a vertex inside: meant for fine meshes against large static surroundings.

use glam::DVec3;

use super::{ClosestSettings, DistanceField, VertexTree};
use crate::hierarchy::Branch;
use crate::{Aabb, Pose};

/// A node that touches no more cells than this on each axis is compared with the grid vertices it covers.
const CELLS_TO_SCAN: u32 = 4;

/// How nodes of a tree are discarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Traversal {
    /// Only if no vertex under the node can be inside.
    #[default]
    Safe,
    /// If the value is positive at the eight corners of its box, and taken whole if negative at all eight:
    /// faster, but misses solids that poke through the middle of a node.
    FastSource,
}

/// A vertex inside a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldContact {
    /// Index of the vertex.
    pub vertex: u32,
    /// Where the vertex is, in the field's frame.
    pub point: DVec3,
    /// Surface point nearest to it, in the field's frame.
    pub surface_point: DVec3,
    /// Outward normal of the field's surface there.
    pub normal: DVec3,
    /// How far inside: the value at the vertex, positive.
    pub depth: f64,
    /// Whether the walk to the surface ended within its tolerance.
    pub converged: bool,
}

/// A body ready to collide both ways: its field and its vertices, in one frame.
#[derive(Clone, Debug)]
pub struct FieldMesh {
    /// Field of the body.
    pub field: DistanceField,
    /// Vertices of the body.
    pub vertices: VertexTree,
}

/// Contacts of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshContacts {
    /// Whether these are vertices of B in the field of A (frame of A); else of A in the field of B (frame of
    /// B).
    pub vertices_of_b: bool,
    /// One for each vertex inside, in order of vertices.
    pub contacts: Vec<FieldContact>,
}

/// Two bodies with their poses ⇒ contacts of A's vertices with B's field, or the other way round if B's grid
/// lies completely inside A's box: A's vertices could then all lie around B. None if a pose is not finite.
pub fn collide(
    a: (&FieldMesh, &Pose),
    b: (&FieldMesh, &Pose),
    traversal: Traversal,
    closest: &ClosestSettings,
) -> Option<MeshContacts> {
    let grid = b.0.field.grid();
    let b_box = Aabb::new(grid.origin(), grid.end()).ok()?.transformed(b.1).ok()?;
    let vertices_of_b = a.0.vertices.bounds().transformed(a.1).ok()?.contains_box(&b_box);
    let (field, tree) = if vertices_of_b { (a, b) } else { (b, a) };
    let field_from_mesh = field.1.relative(tree.1);
    let contacts = field.0.field.contacts(&tree.0.vertices, &field_from_mesh, traversal, closest);
    Some(MeshContacts { vertices_of_b, contacts })
}

impl DistanceField {
    /// Vertices with a negative value, with the surface points nearest to them, in order of vertices.
    pub fn contacts(
        &self,
        tree: &VertexTree,
        field_from_mesh: &Pose,
        traversal: Traversal,
        closest: &ClosestSettings,
    ) -> Vec<FieldContact> {
        let mut inside = self.vertices_inside(tree, field_from_mesh, traversal);
        inside.sort_unstable();
        let contact = |vertex: u32| {
            let point = field_from_mesh.point(tree.points()[vertex as usize]);
            let depth = -self.value(point).filter(|value| *value < 0.0)?;
            let nearest = self.closest_surface_point(point, closest)?;
            Some(FieldContact {
                vertex,
                point,
                surface_point: nearest.point,
                normal: nearest.normal,
                depth,
                converged: nearest.converged,
            })
        };
        inside.into_iter().filter_map(contact).collect()
    }

    /// Indices of vertices that are inside, as the traversal finds them.
    fn vertices_inside(&self, tree: &VertexTree, field_from_mesh: &Pose, traversal: Traversal) -> Vec<u32> {
        let mut inside = Vec::new();
        let look = |bounds: &Aabb| match traversal {
            Traversal::Safe if self.can_collide(bounds, field_from_mesh) => Branch::Open,
            Traversal::Safe => Branch::Leave,
            Traversal::FastSource => {
                let corners = bounds.corners().map(|p| field_from_mesh.point(p));
                let negative = corners.iter().filter(|p| self.value(**p).is_some_and(|d| d < 0.0));
                match negative.count() {
                    0 => Branch::Leave,
                    8 => Branch::Take,
                    _ => Branch::Open,
                }
            }
        };
        let negative = |&&vertex: &&u32| {
            let point = field_from_mesh.point(tree.points()[vertex as usize]);
            self.value(point).is_some_and(|value| value < 0.0)
        };
        tree.tree().walk(look, |vertices, whole| {
            inside.extend(vertices.iter().filter(|vertex| whole || negative(vertex)));
        });
        inside
    }

    /// False only if the value is nowhere negative in the box.
    fn can_collide(&self, bounds: &Aabb, field_from_mesh: &Pose) -> bool {
        // A pose that is not finite puts the vertices nowhere.
        let Ok(bounds) = bounds.transformed(field_from_mesh) else { return false };
        // Rounding of the pose differs between the box and its points.
        let Ok(bounds) = bounds.enlarged(1e-9 * self.grid().cell()) else { return false };
        let Some(common) = bounds.intersection(&self.grid().surface_bounds()) else { return false };
        let (Some((low, _)), Some((high, _))) =
            (self.grid().locate(common.min()), self.grid().locate(common.max()))
        else {
            return true;
        };
        if (0..3).any(|axis| high[axis] - low[axis] >= CELLS_TO_SCAN) {
            return true;
        }
        (low[2]..=high[2] + 1).any(|z| {
            (low[1]..=high[1] + 1).any(|y| (low[0]..=high[0] + 1).any(|x| self.value_at([x, y, z]) <= 0.0))
        })
    }
}
