//! Cache of the contacts of two shapes: warm starts, lists of near pieces, reused allocations.
//!
//! Lists of near pieces cover more than the query: its box, or motion, enlarged by a slack. While the bodies
//! stay within it the hierarchies are not walked again. A body that moves fast would use up the slack at once
//! and gets none.

use std::sync::{Arc, Weak};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::leaf::parts_within;
use super::solids::SolidWork;
use super::surface::{Surface, unit_normal};
use super::{ContactError, ContactSettings};
use crate::contact::{ContactPoint, Manifold, PieceCache};
use crate::hierarchy::Scratch;
use crate::{Aabb, Compound, ConvexPolyhedron, HeightField, Pose, Shape, SupportShape, TriangleMesh};

/// Slack as a part of the body's size.
const SLACK: f64 = 0.1;

/// Warm start of the contacts of one pair of shapes. Any cache is safe with any pair.
///
/// ```
/// use glam::DVec3;
/// use rattleback_geometry::contact::{ContactCache, Contacts, collide};
/// use rattleback_geometry::{Pose, Shape, TriangleMesh, generate};
/// use std::sync::Arc;
/// let table = Shape::Mesh(Arc::new(TriangleMesh::from_soup(&generate::cuboid(DVec3::ONE)?)?));
/// let sphere = Shape::sphere(0.1)?;
/// let (mut cache, mut contacts) = (ContactCache::default(), Contacts::default());
/// collide(&table, &sphere, &Pose::at(DVec3::new(0.3, 0.2, 1.09)), 0.0, &mut cache, &mut contacts)?;
/// let (manifold, point) = contacts.deepest().unwrap();
/// assert!(manifold.normal.abs_diff_eq(DVec3::Z, 1e-12) && (point.separation + 0.01).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContactCache {
    /// Choices about surfaces; may be changed at any time.
    pub settings: ContactSettings,
    pub(super) tokens: [Token; 2],
    /// Largest distance of a point of A and B from its origin.
    pub(super) radii: [f64; 2],
    /// Of parts of compounds.
    pub(super) walk: Option<Walk>,
    pub(super) pairs: Vec<LeafPair>,
    old_pairs: Vec<LeafPair>,
    /// Former pairs, for reuse of their allocations.
    spare: Vec<LeafPair>,
    pub(super) work: Workspace,
}

impl ContactCache {
    /// An empty cache with settings of one's own.
    pub fn new(settings: ContactSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Number of hierarchy traversals, which the slack reduces.
    pub fn walks(&self) -> u64 {
        self.work.walks
    }
}

impl ContactCache {
    /// Lists the parts that may be nearer than the margin.
    pub(super) fn prepare(
        &mut self,
        a: &Shape,
        b: &Shape,
        pose: &Pose,
        margin: f64,
    ) -> Result<(), ContactError> {
        let compounds = matches!(a, Shape::Compound(_)) || matches!(b, Shape::Compound(_));
        if !(self.tokens[0].is(a) && self.tokens[1].is(b)) {
            self.tokens = [Token::of(a), Token::of(b)];
            self.radii = radii(a, b);
            self.walk = None;
            self.old_pairs.append(&mut self.pairs);
            self.old_pairs.iter_mut().for_each(|pair| pair.reset(NOWHERE));
        }
        if !compounds && self.pairs.len() == 1 {
            return Ok(());
        }
        let bounded = self.radii.iter().all(|radius| radius.is_finite());
        if bounded && self.walk.as_mut().is_some_and(|walk| walk.covers(pose, margin)) {
            return Ok(());
        }
        let mut reach = margin;
        if bounded {
            let (walk, generous) = Walk::renewed(self.walk, pose, margin, self.radii);
            (self.walk, reach) = (Some(walk), generous);
        }
        parts_within(a, b, pose, reach, &mut self.work)?;
        self.list_pairs();
        Ok(())
    }

    /// Carries over the caches of pairs of parts that remain.
    fn list_pairs(&mut self) {
        self.old_pairs.append(&mut self.pairs);
        self.old_pairs.sort_unstable_by_key(|pair| pair.parts);
        for &parts in &self.work.found_pairs {
            let known = self.old_pairs.binary_search_by_key(&parts, |pair| pair.parts);
            let mut pair = match known {
                Ok(at) => {
                    let taken = std::mem::take(&mut self.old_pairs[at]);
                    // A taken entry leaves its key behind, so that the order holds.
                    self.old_pairs[at].parts = parts;
                    taken
                }
                Err(_) => self.spare.pop().unwrap_or_default(),
            };
            if known.is_err() {
                pair.reset(parts);
            }
            self.pairs.push(pair);
        }
        self.old_pairs.retain(|pair| pair.triangles.capacity() > 0);
        self.spare.append(&mut self.old_pairs);
        self.spare.truncate(MAX_SPARE);
    }
}

/// Largest distance of a point of two shapes from their origins; only needed for compounds.
pub(super) fn radii(a: &Shape, b: &Shape) -> [f64; 2] {
    if !(matches!(a, Shape::Compound(_)) || matches!(b, Shape::Compound(_))) {
        return [f64::INFINITY; 2];
    }
    [a, b].map(|shape| shape.rotation_radius(DVec3::ZERO).unwrap_or(f64::INFINITY))
}

/// Most former pairs kept for reuse.
const MAX_SPARE: usize = 64;
/// Name of a pair that is no pair any more.
const NOWHERE: [u32; 2] = [u32::MAX; 2];

/// Identity of a shape. A weak pointer prevents reuse of the address without keeping the contents alive.
#[derive(Clone, Debug, Default)]
pub(super) enum Token {
    #[default]
    Nothing,
    Primitive(Shape),
    Convex(Weak<ConvexPolyhedron>),
    Mesh(Weak<TriangleMesh>),
    Terrain(Weak<HeightField>),
    Compound(Weak<Compound>),
    Custom(Weak<dyn SupportShape>),
}

impl Token {
    pub(super) fn of(shape: &Shape) -> Self {
        match shape {
            Shape::Convex(convex) => Self::Convex(Arc::downgrade(convex)),
            Shape::Mesh(mesh) => Self::Mesh(Arc::downgrade(mesh)),
            Shape::HeightField(field) => Self::Terrain(Arc::downgrade(field)),
            Shape::Compound(compound) => Self::Compound(Arc::downgrade(compound)),
            Shape::Custom(custom) => Self::Custom(Arc::downgrade(custom)),
            _ => Self::Primitive(shape.clone()),
        }
    }

    pub(super) fn is(&self, shape: &Shape) -> bool {
        match (self, shape) {
            (Self::Convex(known), Shape::Convex(convex)) => std::ptr::eq(known.as_ptr(), Arc::as_ptr(convex)),
            (Self::Mesh(known), Shape::Mesh(mesh)) => std::ptr::eq(known.as_ptr(), Arc::as_ptr(mesh)),
            (Self::Terrain(known), Shape::HeightField(field)) => {
                std::ptr::eq(known.as_ptr(), Arc::as_ptr(field))
            }
            (Self::Compound(known), Shape::Compound(whole)) => {
                std::ptr::eq(known.as_ptr(), Arc::as_ptr(whole))
            }
            (Self::Custom(known), Shape::Custom(custom)) => {
                std::ptr::addr_eq(known.as_ptr(), Arc::as_ptr(custom))
            }
            (Self::Primitive(known), _) => match (known, shape) {
                (Shape::Sphere(a), Shape::Sphere(b)) => a == b,
                (Shape::Cuboid(a), Shape::Cuboid(b)) => a == b,
                (Shape::Cylinder(a), Shape::Cylinder(b)) => a == b,
                (Shape::Capsule(a), Shape::Capsule(b)) => a == b,
                (Shape::Cone(a), Shape::Cone(b)) => a == b,
                (Shape::Ellipsoid(a), Shape::Ellipsoid(b)) => a == b,
                (Shape::HalfSpace(a), Shape::HalfSpace(b)) => a == b,
                _ => false,
            },
            _ => false,
        }
    }
}

/// Pose and slack of a list of near pieces.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Walk {
    /// Of B in A.
    pose: Pose,
    /// Everything nearer than this was listed then.
    reach: f64,
    /// Of the last query, to measure the motion since.
    last: Pose,
    /// Largest distance of a point of A and B from its origin.
    radii: [f64; 2],
}

impl Walk {
    /// The same of shapes of these radii.
    pub(super) fn with_radii(self, radii: [f64; 2]) -> Self {
        Self { radii, ..self }
    }

    /// Whether the list still covers everything nearer than the margin.
    pub(super) fn covers(&mut self, pose: &Pose, margin: f64) -> bool {
        self.last = *pose;
        drift(&self.pose, pose, self.radii) + margin <= self.reach
    }

    /// A new traversal, with slack if the motion since the last query was slow ⇒ the reach to query.
    pub(super) fn renewed(before: Option<Self>, pose: &Pose, margin: f64, radii: [f64; 2]) -> (Self, f64) {
        let size = radii[0].min(radii[1]);
        let slack = if size.is_finite() { SLACK * size } else { 0.0 };
        let slow = before.is_none_or(|walk| drift(&walk.last, pose, radii) < 0.25 * slack);
        let reach = margin + if slow { slack } else { 0.0 };
        (Self { pose: *pose, reach, last: *pose, radii }, reach)
    }
}

/// No point of B has moved farther against A, nor of A against B: |Δt| + |Δq| r for either, the lesser of
/// both.
fn drift(from: &Pose, to: &Pose, radii: [f64; 2]) -> f64 {
    // A turn by θ moves a point at r by at most 2 r sin(θ/2), and |q − q₀| = 2 sin(θ/4) ≥ sin(θ/2) for θ ≤ π.
    let q = if from.rotation.dot(to.rotation) < 0.0 { -to.rotation } else { to.rotation };
    let chord = 2.0 * (q - from.rotation).length();
    let of = |from: &Pose, to: &Pose, radius: f64| from.translation.distance(to.translation) + chord * radius;
    of(from, to, radii[1]).min(of(&from.inverse(), &to.inverse(), radii[0]))
}

/// Two parts that may touch, and their triangles that may.
#[derive(Clone, Debug, Default)]
pub(super) struct LeafPair {
    pub parts: [u32; 2],
    pub piece: PieceCache,
    pub triangles: Vec<TrianglePair>,
    /// One for each of `triangles`.
    pub caches: Vec<PieceCache>,
    pub walk: Option<Walk>,
    /// Of the two parts about their origins, once measured.
    pub radii: Option<[f64; 2]>,
    old: Vec<TrianglePair>,
    old_caches: Vec<PieceCache>,
    pub(super) around: Option<Aabb>,
    pub(super) last_center: DVec3,
}

/// Two triangles, or a triangle and a body (then the second number is 0).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrianglePair {
    pub triangles: [u32; 2],
    /// Of the first: corners and unit normal, zero without area. Kept here, in the order they are needed in.
    pub corners: [DVec3; 3],
    pub normal: DVec3,
}

impl LeafPair {
    /// Clears the list, keeps the allocations.
    pub(super) fn reset(&mut self, parts: [u32; 2]) {
        self.parts = parts;
        self.piece = PieceCache::default();
        self.triangles.clear();
        self.caches.clear();
        self.walk = None;
        self.radii = None;
        self.around = None;
    }

    /// Ensures that every triangle of the surface that intersects the box is listed.
    pub(super) fn gather(
        &mut self,
        surface: &Surface<'_>,
        tight: &Aabb,
        work: &mut Workspace,
    ) -> Result<(), ContactError> {
        let (center, slack) = (tight.center(), SLACK * tight.half_extents().max_element());
        let slow = self.around.is_none() || center.distance(self.last_center) < 0.25 * slack;
        self.last_center = center;
        if self.around.is_some_and(|around| around.contains_box(tight)) {
            return Ok(());
        }
        let around = if slow { tight.enlarged(slack).unwrap_or(*tight) } else { *tight };
        surface.near(&around, &mut work.scratch, &mut work.found)?;
        work.walks += 1;
        self.renew(surface, work.found.iter().map(|&i| [i, 0]));
        self.around = Some(around);
        Ok(())
    }

    /// A new list, in ascending order, that carries over the caches of pairs that remain.
    pub(super) fn renew(&mut self, surface: &Surface<'_>, pairs: impl Iterator<Item = [u32; 2]>) {
        std::mem::swap(&mut self.triangles, &mut self.old);
        std::mem::swap(&mut self.caches, &mut self.old_caches);
        self.triangles.clear();
        self.caches.clear();
        let mut old = self.old.iter().zip(&self.old_caches).peekable();
        for triangles in pairs {
            while old.next_if(|(known, _)| known.triangles < triangles).is_some() {}
            let known = old.next_if(|(known, _)| known.triangles == triangles);
            if let Some((pair, cache)) = known {
                self.triangles.push(*pair);
                self.caches.push(*cache);
                continue;
            }
            let corners = surface.triangle(triangles[0]);
            self.triangles.push(TrianglePair { triangles, corners, normal: unit_normal(&corners) });
            self.caches.push(PieceCache::default());
        }
    }
}

/// Memory of one question, used again by the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pub scratch: Scratch,
    pub found: Vec<u32>,
    pub found_b: Vec<u32>,
    pub found_pairs: Vec<[u32; 2]>,
    pub raw: Vec<Manifold>,
    pub merged: Vec<Manifold>,
    pub points: Vec<ContactPoint>,
    pub solid: SolidWork,
    pub walks: u64,
}
