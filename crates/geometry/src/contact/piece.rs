//! Pieces: the convex parts that shapes are decomposed into for contact.

use glam::DVec3;

use crate::closest::{ClosestError, ConvexShape};
use crate::{HalfSpace, Shape};

/// One convex piece of a shape, in a frame of its own.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// A bounded convex shape.
    Bounded(ConvexShape<'a>),
    /// Everything on one side of a plane.
    HalfSpace(&'a HalfSpace),
    /// Three corners, counter-clockwise seen from outside; without thickness.
    Triangle([DVec3; 3]),
}

impl<'a> TryFrom<&'a Shape> for Piece<'a> {
    type Error = ClosestError;

    fn try_from(shape: &'a Shape) -> Result<Self, ClosestError> {
        match shape {
            Shape::HalfSpace(half_space) => Ok(Self::HalfSpace(half_space)),
            other => Ok(Self::Bounded(ConvexShape::try_from(other)?)),
        }
    }
}
