//! Convex regions of space, and cells that know whether they lie inside.
//!
//! A cell whose eight corners lie in a convex region lies in it; one outside of its box does not touch it. Only
//! points in the cells between are tested themselves.

use glam::{DVec3, UVec3};
use rattleback_geometry::{ConvexPolyhedron, Pose};

use crate::ParticleError;
use crate::error::check;

/// A convex region of space.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All points within a distance of a centre.
    Sphere {
        /// Centre, m.
        center: DVec3,
        /// Radius, m.
        radius: f64,
    },
    /// A box, which may be turned.
    Cuboid {
        /// Centre and axes.
        pose: Pose,
        /// Half the sides, m.
        half_extents: DVec3,
    },
    /// The points p with n·p ≤ d for every face (n, d).
    Polyhedron {
        /// Point at which a field has its full strength, m.
        center: DVec3,
        /// Unit outward normals and offsets, m.
        faces: Vec<(DVec3, f64)>,
        /// Opposite corners of a box around the region, m.
        bounds: [DVec3; 2],
    },
}

impl Region {
    /// A sphere.
    ///
    /// # Errors
    /// The radius is not positive.
    pub fn sphere(center: DVec3, radius: f64) -> Result<Self, ParticleError> {
        check("radius of the region", radius, radius > 0.0, "greater than zero")?;
        check("centre of the region", center.length(), center.is_finite(), "finite")?;
        Ok(Self::Sphere { center, radius })
    }

    /// A box.
    ///
    /// # Errors
    /// A half side is not positive, or the pose not valid.
    pub fn cuboid(pose: Pose, half_extents: DVec3) -> Result<Self, ParticleError> {
        let least = half_extents.min_element();
        check(
            "half side of the region",
            least,
            least > 0.0 && half_extents.is_finite(),
            "greater than zero",
        )?;
        check(
            "pose of the region",
            pose.translation.length(),
            pose.is_valid(),
            "finite, rotation of length 1",
        )?;
        Ok(Self::Cuboid { pose, half_extents })
    }

    /// A convex polyhedron, with its centre at the mean of its corners.
    pub fn polyhedron(polyhedron: &ConvexPolyhedron, pose: &Pose) -> Self {
        let corners: Vec<DVec3> = polyhedron.vertices().iter().map(|&v| pose.point(v)).collect();
        let center = corners.iter().sum::<DVec3>() / corners.len() as f64;
        let plane = |face: usize| {
            let normal = pose.vector(polyhedron.normals()[face]);
            let offset = corners.iter().map(|c| normal.dot(*c)).fold(f64::NEG_INFINITY, f64::max);
            (normal, offset)
        };
        let faces = (0..polyhedron.face_count()).map(plane).collect();
        let low = corners.iter().copied().fold(center, DVec3::min);
        let high = corners.iter().copied().fold(center, DVec3::max);
        Self::Polyhedron { center, faces, bounds: [low, high] }
    }

    /// Whether a point lies inside or on the boundary.
    pub fn contains(&self, p: DVec3) -> bool {
        match self {
            Self::Sphere { center, radius } => p.distance_squared(*center) <= radius * radius,
            Self::Cuboid { pose, half_extents } => pose.inverse_point(p).abs().cmple(*half_extents).all(),
            Self::Polyhedron { faces, .. } => faces.iter().all(|(n, d)| n.dot(p) <= *d),
        }
    }

    /// Opposite corners of the axis-aligned box around the region.
    pub fn bounds(&self) -> [DVec3; 2] {
        match self {
            Self::Sphere { center, radius } => [*center - *radius, *center + *radius],
            Self::Cuboid { pose, half_extents } => {
                let reach = pose.rotation_matrix().abs() * *half_extents;
                [pose.translation - reach, pose.translation + reach]
            }
            Self::Polyhedron { bounds, .. } => *bounds,
        }
    }
}

/// Where a cell lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Inside,
    Partial,
}

/// Cells over the box of a region, each known to be inside or in need of a test.
#[derive(Clone, Debug)]
pub struct RegionCells {
    low: DVec3,
    high: DVec3,
    cells_per_length: DVec3,
    count: UVec3,
    cells: Vec<Place>,
}

impl RegionCells {
    /// Divides the box of a region into at most `per_axis`³ cells (1 to 64 per axis).
    pub fn new(region: &Region, per_axis: u32) -> Self {
        let [low, high] = region.bounds();
        let count = UVec3::splat(per_axis.clamp(1, 64));
        let size = (high - low) / count.as_dvec3();
        let mut cells = Vec::with_capacity(count.element_product() as usize);
        for z in 0..count.z {
            for y in 0..count.y {
                for x in 0..count.x {
                    let corner = |k: u32| {
                        let step = UVec3::new(x + (k & 1), y + (k >> 1 & 1), z + (k >> 2));
                        // Slightly outwards, so that rounding cannot put a cell inside that is not.
                        let outwards = UVec3::new(k & 1, k >> 1 & 1, k >> 2).as_dvec3() * 2.0 - 1.0;
                        low + size * (step.as_dvec3() + 1e-9 * outwards)
                    };
                    let inside = (0..8).all(|k| region.contains(corner(k)));
                    cells.push(if inside { Place::Inside } else { Place::Partial });
                }
            }
        }
        Self { low, high, cells_per_length: size.recip(), count, cells }
    }

    /// The same as `region.contains(p)`, for the region the cells were made for.
    pub fn contains(&self, region: &Region, p: DVec3) -> bool {
        if !(p.cmpge(self.low).all() && p.cmple(self.high).all()) {
            return false;
        }
        let cell = ((p - self.low) * self.cells_per_length).as_uvec3().min(self.count - 1);
        let index = (cell.z * self.count.y + cell.y) * self.count.x + cell.x;
        self.cells[index as usize] == Place::Inside || region.contains(p)
    }
}
