//! Distance of two triangles that are clearly apart, by the search of `gjk` without its change of frames.

use glam::DVec3;

use super::gjk::Search;
use super::pair::{Corner, Difference};

/// Below this distance, in units of the coordinates' size, the search is not used.
const CLEARLY: f64 = 1e-6;

struct TrianglePair {
    a: [DVec3; 3],
    b: [DVec3; 3],
}

/// Looked up rather than branched to.
#[inline(always)]
fn farthest(corners: &[DVec3; 3], direction: DVec3) -> usize {
    let [a, b, c] = corners.map(|p| p.dot(direction));
    usize::from(b > a && b >= c) + 2 * usize::from(c > a && c > b)
}

impl Difference for TrianglePair {
    #[inline(always)]
    fn farthest(&self, direction: DVec3, _start: [u32; 2]) -> Corner {
        let numbers = [farthest(&self.a, direction), farthest(&self.b, -direction)];
        let (a, b) = (self.a[numbers[0]], self.b[numbers[1]]);
        Corner { w: a - b, a, b, numbers: numbers.map(|number| number as u32) }
    }

    #[inline(always)]
    fn corner(&self, numbers: [u32; 2]) -> Option<Corner> {
        let [i, j] = numbers.map(|number| number.min(2) as usize);
        Some(Corner { w: self.a[i] - self.b[j], a: self.a[i], b: self.b[j], numbers })
    }

    #[inline(always)]
    fn is_curved(&self) -> bool {
        false
    }

    #[inline(always)]
    fn toward_b(&self) -> DVec3 {
        (self.b[0] + self.b[1] + self.b[2]) - (self.a[0] + self.a[1] + self.a[2])
    }
}

/// Two triangles whose coordinates are of the size of their distance ⇒ nearest points and distance, if they
/// are clearly apart and the search has proved it.
pub(crate) fn clear_gap(a: [DVec3; 3], b: [DVec3; 3]) -> Option<(DVec3, DVec3, f64)> {
    let mut search = Search::NEW;
    search.run_once(&TrianglePair { a, b }).ok()?;
    let distance = search.nearest.squared.sqrt();
    let (point_a, point_b) = search.witnesses();
    (distance > CLEARLY * search.size() && search.certified()).then_some((point_a, point_b, distance))
}
