//! The parts a shape is made of: itself, or those of a compound. Which parts of two shapes are near.

use std::ops::ControlFlow;

use glam::DVec3;

use super::ContactError;
use super::cache::Workspace;
use crate::closest::ClosestError;
use crate::hierarchy::Scratch;
use crate::{Aabb, HalfSpace, Pose, Shape};

/// A part that is no compound.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    pub shape: &'a Shape,
    /// In the frame of the whole.
    pub place: Pose,
    /// How many convex pieces the parts before it have.
    pub first_piece: u32,
}

impl<'a> Leaf<'a> {
    /// Part of a compound, or the shape itself as its part 0. None if there is no such part.
    pub(super) fn of(shape: &'a Shape, part: u32) -> Option<Self> {
        match shape {
            Shape::Compound(compound) => {
                let (place, inner) = compound.parts().get(part as usize)?;
                let first_piece = compound.first_pieces()[part as usize];
                Some(Self { shape: inner, place: *place, first_piece })
            }
            _ => Some(Self { shape, place: Pose::IDENTITY, first_piece: 0 }),
        }
    }
}

/// Lists in `work.found_pairs`, ascending, the pairs of parts whose boxes are nearer than `reach`.
pub(super) fn parts_within(
    a: &Shape,
    b: &Shape,
    pose: &Pose,
    reach: f64,
    work: &mut Workspace,
) -> Result<(), ContactError> {
    let (scratch, pairs) = (&mut work.scratch, &mut work.found_pairs);
    pairs.clear();
    match (a, b) {
        (Shape::Compound(compound), Shape::HalfSpace(plane)) => {
            parts_over_plane(compound, plane, pose, reach, scratch, |part| pairs.push([part, 0]))?;
        }
        (Shape::HalfSpace(plane), Shape::Compound(compound)) => {
            parts_over_plane(compound, plane, &pose.inverse(), reach, scratch, |part| pairs.push([0, part]))?;
        }
        (Shape::Compound(compound), _) => {
            let tree = compound.tree()?;
            let count = if let Shape::Compound(other) = b { other.parts().len() as u32 } else { 1 };
            for part in 0..count {
                let Some(leaf) = Leaf::of(b, part) else { continue };
                let query = box_of(leaf.shape, &(*pose * leaf.place), reach)?;
                tree.overlapping(&query, scratch, |i| {
                    pairs.push([i, part]);
                    ControlFlow::Continue(())
                });
            }
            work.walks += 1;
        }
        (_, Shape::Compound(compound)) => {
            let query = box_of(a, &pose.inverse(), reach)?;
            compound.tree()?.overlapping(&query, scratch, |i| {
                pairs.push([0, i]);
                ControlFlow::Continue(())
            });
            work.walks += 1;
        }
        _ => pairs.push([0, 0]),
    }
    pairs.sort_unstable();
    Ok(())
}

/// Box of a shape at a pose, enlarged.
pub(super) fn box_of(shape: &Shape, pose: &Pose, reach: f64) -> Result<Aabb, ClosestError> {
    let tight = shape.aabb(pose).ok_or(ClosestError::InvalidPoint)?;
    tight.enlarged(reach).map_err(|_| ClosestError::InvalidPose)
}

/// Parts that reach below a plane raised by `reach`; `pose` places the half-space in the compound's frame.
fn parts_over_plane(
    compound: &crate::Compound,
    plane: &HalfSpace,
    pose: &Pose,
    reach: f64,
    scratch: &mut Scratch,
    mut found: impl FnMut(u32),
) -> Result<(), ContactError> {
    let (normal, offset) = plane_of(plane, pose);
    let wanted = |bounds: &Aabb| {
        bounds.center().dot(normal) - bounds.half_extents().dot(normal.abs()) <= offset + reach
    };
    compound.tree()?.descend(scratch, wanted, |part| {
        found(part);
        ControlFlow::Continue(())
    });
    Ok(())
}

/// Outward normal n and offset c of a half-space n·p ≤ c at a pose.
pub(super) fn plane_of(plane: &HalfSpace, pose: &Pose) -> (DVec3, f64) {
    let normal = pose.vector(plane.normal());
    (normal, normal.dot(pose.translation))
}
