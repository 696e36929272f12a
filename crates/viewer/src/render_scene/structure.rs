//! Cells of broad phases and nodes of bounding volume hierarchies.
//!
//! The broad phase of a simulator is private. What is shown is a broad phase of the same type filled with the present boxes of the bodies:
//! the occupied cells of a grid or hash, or the nodes of a tree. Sorted lists and brute force have neither.

use glam::DVec3;
use rattleback_dynamics::{BodyId, Status, World};
use rattleback_geometry::hierarchy::{BoxTree, BuildSettings};
use rattleback_geometry::space::{
    LevelRule, Mobility, MultiLevelGrid, PairChanges, Space, SpatialHash, UniformGrid, UniformGridSettings,
};
use rattleback_geometry::{Aabb, Pose, Shape};

/// A cell, or a node of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Level of a multi-level grid, or depth in a tree.
    pub level: u32,
    /// Its box in world coordinates.
    pub bounds: Aabb,
}

/// (world, name of a space) ⇒ its cells or nodes.
pub fn cells(world: &World, space: &str) -> Vec<Cell> {
    let boxes: Vec<(Aabb, Mobility)> = world
        .iter_bodies()
        .filter(|body| body.status() != Status::Disabled)
        .filter_map(|body| {
            let fixed = body.status() == Status::Fixed;
            Some((body.aabb()?, if fixed { Mobility::Fixed } else { Mobility::Moving }))
        })
        .collect();
    match space {
        "uniform-grid" => {
            let Some(grid) =
                UniformGrid::new(UniformGridSettings::default()).ok().map(|grid| filled(grid, &boxes))
            else {
                return Vec::new();
            };
            let side = grid.cell_side();
            grid.occupied_cells().iter().filter_map(|(cell, ..)| cell_of(0, *cell, side)).collect()
        }
        "multi-level-grid" => MultiLevelGrid::new(LevelRule::default()).map_or_else(
            |_| Vec::new(),
            |grid| {
                let grid = filled(grid, &boxes);
                levels(&grid.occupied_cells(), grid.level_sides())
            },
        ),
        "spatial-hash" | "spatial-hash-standard" => SpatialHash::new(LevelRule::default()).map_or_else(
            |_| Vec::new(),
            |hash| {
                let hash = filled(hash, &boxes);
                levels(&hash.occupied_cells(), hash.level_sides())
            },
        ),
        "dynamic-bvh" | "kd-tree" => {
            let boxes: Vec<Aabb> = boxes.into_iter().map(|(bounds, _)| bounds).collect();
            BoxTree::build(&boxes, &BuildSettings::default()).map_or_else(|_| Vec::new(), |tree| nodes(&tree))
        }
        _ => Vec::new(),
    }
}

fn filled<S: Space>(mut space: S, boxes: &[(Aabb, Mobility)]) -> S {
    for (number, (bounds, mobility)) in boxes.iter().enumerate() {
        // A box that the space refuses is not shown.
        let _ = space.insert(bounds, *mobility, number as u64);
    }
    space.step(1, &mut PairChanges::default());
    space
}

fn cell_of(level: u32, cell: [i64; 3], side: f64) -> Option<Cell> {
    let min = DVec3::from_array(cell.map(|k| k as f64)) * side;
    Aabb::new(min, min + DVec3::splat(side)).ok().map(|bounds| Cell { level, bounds })
}

fn levels<T>(cells: &[(usize, [i64; 3], T)], sides: &[f64]) -> Vec<Cell> {
    cells.iter().filter_map(|(level, cell, _)| cell_of(*level as u32, *cell, *sides.get(*level)?)).collect()
}

fn nodes(tree: &BoxTree) -> Vec<Cell> {
    let mut nodes = Vec::with_capacity(tree.node_count());
    tree.for_each_node(|depth, bounds, _| nodes.push(Cell { level: depth as u32, bounds: *bounds }));
    nodes
}

/// A node of the hierarchy of a shape, in the frame of its body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// The body that the shape is attached to.
    pub body: BodyId,
    /// Depth in the tree.
    pub level: u32,
    /// Centre of the box, m.
    pub center: DVec3,
    /// Half the sides of the box, as vectors, m.
    pub half: [DVec3; 3],
}

/// (world, depth, limit) ⇒ nodes at this depth in the hierarchies of meshes, terrain and compounds, and leaves above it.
pub fn hierarchy(world: &World, depth: u32, limit: usize) -> Vec<Branch> {
    let mut branches = Vec::new();
    for (_, part) in world.iter_shapes() {
        let Some(tree) = tree_of(&part.shape) else { continue };
        let Pose { rotation, translation } = part.pose;
        tree.for_each_node(|level, bounds, items| {
            let ends_here = !items.is_empty() && (level as u32) < depth;
            if (level as u32 == depth || ends_here) && branches.len() < limit {
                let h = bounds.half_extents();
                branches.push(Branch {
                    body: part.body,
                    level: level as u32,
                    center: rotation * bounds.center() + translation,
                    half: [
                        rotation * (DVec3::X * h.x),
                        rotation * (DVec3::Y * h.y),
                        rotation * (DVec3::Z * h.z),
                    ],
                });
            }
        });
    }
    branches
}

/// The hierarchy over the triangles or parts of a shape, if it has any.
fn tree_of(shape: &Shape) -> Option<BoxTree> {
    let boxes: Vec<Aabb> = match shape {
        Shape::Mesh(mesh) => {
            let corners = mesh.vertices();
            let triangle = |t: &[u32; 3]| Aabb::from_points(t.map(|k| corners[k as usize])).ok();
            mesh.triangles().iter().filter_map(triangle).collect()
        }
        Shape::Compound(compound) => return compound.tree().ok().cloned(),
        _ => return None,
    };
    BoxTree::build(&boxes, &BuildSettings::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rattleback_dynamics::{Body, Registry};
    use rattleback_scene::Scene;

    fn forty_spheres() -> World {
        let mut world = World::default();
        for k in 0..40 {
            let at = DVec3::new(f64::from(k % 7), f64::from(k / 7), 0.3 * f64::from(k % 3));
            let sphere = Shape::sphere(0.2 + 0.02 * f64::from(k % 5)).unwrap();
            world.add_body(Body::dynamic().position(at).with_shape(sphere)).unwrap();
        }
        world
    }

    /// Whatever the space, the position of every body lies in one of its cells or nodes.
    #[test]
    fn cells_cover_the_bodies() {
        let world = forty_spheres();
        for space in ["uniform-grid", "multi-level-grid", "spatial-hash", "dynamic-bvh", "kd-tree"] {
            let cells = cells(&world, space);
            assert!(!cells.is_empty() && cells.len() < 2000, "{space}: {}", cells.len());
            for body in world.iter_bodies() {
                let inside = |cell: &Cell| cell.bounds.distance(body.position()) == 0.0;
                assert!(cells.iter().any(inside), "{space}");
            }
        }
        assert!(cells(&world, "brute-force").is_empty() && cells(&world, "sweep-and-prune").is_empty());
    }

    /// Every level of the tree of a mesh covers it, and levels become finer.
    #[test]
    fn levels_of_a_mesh_cover_it() {
        let text = "[[body]]\nname = 'a'\nposition = [3, 0, 0]\nshape = { type = 'mesh', vertices = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], \
                    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], orientation = { axis = [0, 0, 1], angle = 1 } }";
        let built = Scene::parse(text, "test").unwrap().build(&Registry::default()).unwrap();
        let root = hierarchy(&built.world, 0, 100);
        assert_eq!(root.len(), 1);
        // The box of the tetrahedron is rotated with the shape, in the frame of the body.
        let turned = DQuat::from_rotation_z(1.0);
        assert!((root[0].center - turned * DVec3::ONE).length() < 1e-9, "{root:?}");
        assert!((root[0].half[0] - turned * DVec3::X).length() < 1e-9);
        let volume = |branch: &Branch| branch.half[0].cross(branch.half[1]).dot(branch.half[2]).abs();
        for depth in 1..4 {
            assert!(
                hierarchy(&built.world, depth, 100).iter().all(|branch| volume(branch) <= volume(&root[0]))
            );
        }
        assert!(hierarchy(&forty_spheres(), 0, 100).is_empty());
        assert_eq!(hierarchy(&built.world, 9, 1).len(), 1);
    }

    use glam::DQuat;
}
