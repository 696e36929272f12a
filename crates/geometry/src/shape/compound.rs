//! Shapes fixed to each other.
//!
//! Compounds inside compounds are dissolved when one is made, so a compound is always one flat list. Mass
//! properties add up part by part; where parts overlap, their common volume counts for each of them.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::{Shape, ShapeError, error};
use crate::hierarchy::{BoxTree, BuildSettings, HierarchyError};
use crate::lazily::Lazily;
use crate::{Aabb, BoundingSphere, MAX_LENGTH, MassError, MassProperties, Pose, TriangleMesh};

/// Largest number of parts of a compound.
const MAX_PARTS: usize = 1 << 20;

/// A list of bounded shapes, each with its place. Never empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Compound {
    parts: Vec<(Pose, Shape)>,
    #[serde(skip)]
    tree: Lazily<BoxTree>,
    #[serde(skip)]
    first_pieces: Lazily<Vec<u32>>,
}

#[derive(Deserialize)]
struct Unchecked {
    parts: Vec<(Pose, Shape)>,
}

impl TryFrom<Unchecked> for Compound {
    type Error = ShapeError;

    fn try_from(read: Unchecked) -> Result<Self, ShapeError> {
        Self::new(read.parts)
    }
}

impl Compound {
    /// Parts, each with its pose in the compound's frame, ⇒ compound.
    pub fn new(parts: Vec<(Pose, Shape)>) -> Result<Self, ShapeError> {
        let mut flat = Vec::with_capacity(parts.len());
        for (index, (pose, shape)) in parts.into_iter().enumerate() {
            if !pose.is_valid() || pose.translation.abs().max_element() > MAX_LENGTH {
                return Err(ShapeError::InvalidPose { part: index });
            }
            match shape {
                Shape::HalfSpace(_) => return Err(ShapeError::Unbounded { shape: "half_space" }),
                Shape::Compound(inner) => {
                    flat.extend(inner.parts.iter().map(|(place, part)| (pose * *place, part.clone())));
                }
                other => flat.push((pose, other)),
            }
        }
        error::count("compound", "number of parts", flat.len(), 1..=MAX_PARTS)?;
        Ok(Self { parts: flat, tree: Lazily::default(), first_pieces: Lazily::default() })
    }

    /// The parts and their poses.
    pub fn parts(&self) -> &[(Pose, Shape)] {
        &self.parts
    }

    /// The hierarchy over the parts' boxes, built on first use. An error if a part has no box.
    pub fn tree(&self) -> Result<&BoxTree, HierarchyError> {
        self.tree.get_or_try(|| {
            let boxes = self.parts.iter().enumerate().map(|(index, (place, part))| {
                part.aabb(place).ok_or(HierarchyError::NonFinite { what: "part", index })
            });
            BoxTree::build(&boxes.collect::<Result<Vec<_>, _>>()?, &BuildSettings::default())
        })
    }

    /// How many convex pieces come before each part: each triangle of meshes and terrain counts.
    pub fn first_pieces(&self) -> &[u32] {
        self.first_pieces.get_or(|| {
            let mut first = 0u32;
            let count = |(_, part): &(Pose, Shape)| {
                let here = first;
                first = first.saturating_add(part.piece_count());
                here
            };
            self.parts.iter().map(count).collect()
        })
    }

    /// Smallest box around the boxes of the parts.
    pub fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let mut boxes = self.parts.iter().map(|(place, part)| part.aabb(&(*pose * *place)));
        let first = boxes.next()??;
        boxes.try_fold(first, |sum, next| Some(sum.union(&next?)))
    }

    /// A sphere around the spheres of the parts: the smaller of their successive union and the box's own.
    pub fn bounding_sphere(&self) -> Option<BoundingSphere> {
        let mut spheres =
            self.parts.iter().map(|(place, part)| Some(part.bounding_sphere()?.transformed(place)));
        let first = spheres.next()??;
        let joined = spheres.try_fold(first, |sum, next| Some(sum.union(&next?)))?;
        let bounds = self.aabb(&Pose::IDENTITY)?;
        let boxed = BoundingSphere::new(bounds.center(), bounds.half_extents().length()).ok()?;
        Some(if boxed.radius() < joined.radius() { boxed } else { joined })
    }

    /// Whether the point lies in any part.
    pub fn contains(&self, p: DVec3) -> bool {
        self.parts.iter().any(|(place, part)| part.contains(place.inverse_point(p)))
    }

    /// Sum of the parts' volumes.
    pub fn volume(&self) -> Result<f64, MassError> {
        self.parts.iter().map(|(_, part)| part.volume()).sum()
    }

    /// One density for all parts ⇒ mass properties.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        self.combined(|_| density)
    }

    /// One density per part ⇒ mass properties.
    pub fn mass_properties_by_part(&self, densities: &[f64]) -> Result<MassProperties, MassError> {
        if densities.len() != self.parts.len() {
            return Err(MassError::DensityCount { densities: densities.len(), parts: self.parts.len() });
        }
        self.combined(|part| densities[part])
    }

    /// The surfaces of all parts in one mesh; overlapping parts stay as they are.
    pub fn surface(&self, segments: u32) -> Result<TriangleMesh, ShapeError> {
        let mut meshes = Vec::with_capacity(self.parts.len());
        for (place, part) in &self.parts {
            meshes.push(part.surface(segments)?.transformed(place)?);
        }
        Ok(TriangleMesh::joined(&meshes)?)
    }

    fn combined(&self, density: impl Fn(usize) -> f64) -> Result<MassProperties, MassError> {
        let mut properties = Vec::with_capacity(self.parts.len());
        for (index, (place, part)) in self.parts.iter().enumerate() {
            properties.push(part.mass_properties(density(index))?.transformed(place));
        }
        MassProperties::combine(&properties)
    }
}
