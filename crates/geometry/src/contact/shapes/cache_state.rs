//! Serialised form of a contact cache: a resumed run makes the same contacts bit for bit.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::ContactCache;
use super::cache::{LeafPair, Token, Walk, radii};
use super::leaf::Leaf;
use super::surface::Surface;
use crate::contact::PieceCache;
use crate::{Aabb, Shape};

/// State of a [`ContactCache`], without the shapes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CacheState {
    walk: Option<Walk>,
    pairs: Vec<PairState>,
}

/// Cache of two parts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct PairState {
    parts: [u32; 2],
    piece: PieceCache,
    triangles: Vec<[u32; 2]>,
    caches: Vec<PieceCache>,
    walk: Option<Walk>,
    around: Option<Aabb>,
    last_center: DVec3,
}

impl ContactCache {
    /// Its state.
    pub fn state(&self) -> CacheState {
        let pairs = self.pairs.iter().map(|pair| PairState {
            parts: pair.parts,
            piece: pair.piece,
            triangles: pair.triangles.iter().map(|triangle| triangle.triangles).collect(),
            caches: pair.caches.clone(),
            walk: pair.walk,
            around: pair.around,
            last_center: pair.last_center,
        });
        CacheState { walk: self.walk, pairs: pairs.collect() }
    }

    /// (state, the shapes it is of) ⇒ the restored cache; an empty one if state and shapes do not match.
    pub fn restored(state: &CacheState, a: &Shape, b: &Shape) -> Self {
        let mut cache = Self::default();
        let Some(pairs) = state.pairs.iter().map(|pair| pair.restored(a, b)).collect() else { return cache };
        cache.tokens = [Token::of(a), Token::of(b)];
        cache.radii = radii(a, b);
        cache.walk = state.walk.map(|walk| walk.with_radii(cache.radii));
        cache.pairs = pairs;
        cache
    }
}

impl PairState {
    fn restored(&self, a: &Shape, b: &Shape) -> Option<LeafPair> {
        let (leaf_a, leaf_b) = (Leaf::of(a, self.parts[0])?, Leaf::of(b, self.parts[1])?);
        let surfaces = [Surface::of(leaf_a.shape), Surface::of(leaf_b.shape)];
        let count = |surface: Option<Surface<'_>>| surface.map_or(1, |surface| surface.triangle_count());
        let [first, second] = match surfaces {
            [Some(_), _] => surfaces.map(count),
            [None, _] => [count(surfaces[1]), 1],
        };
        let fits = |[i, j]: &[u32; 2]| (*i as usize) < first && (*j as usize) < second;
        if self.caches.len() != self.triangles.len() || !self.triangles.iter().all(fits) {
            return None;
        }
        let mut pair = LeafPair::default();
        pair.reset(self.parts);
        if let Some(surface) = surfaces[0].or(surfaces[1]) {
            pair.renew(&surface, self.triangles.iter().copied());
        }
        if pair.caches.len() == self.caches.len() {
            pair.caches.clone_from(&self.caches);
        }
        let radius = |leaf: &Leaf<'_>| leaf.shape.rotation_radius(DVec3::ZERO).unwrap_or(0.0);
        pair.walk = self.walk.map(|walk| walk.with_radii([&leaf_a, &leaf_b].map(radius)));
        (pair.piece, pair.around, pair.last_center) = (self.piece, self.around, self.last_center);
        Some(pair)
    }
}
