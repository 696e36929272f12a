//! Where the lines of a grid enter and leave a solid.
//!
//! All lines parallel to one axis w go through integer points (i, j) of the plane (u, v). Seen along w, a
//! triangle covers the points of row v = j between the two of its sides that cross the row. A side crosses if
//! one end has v ≤ j and the other v > j (half open: a line through a vertex or along a face parallel to it
//! is taken as lying a little beyond), at
//!   u_side = u_low + (j − v_low) (u_high − u_low) / (v_high − v_low),
//! and (i, j) is covered if u_one ≤ i < u_other. The triangle counts +1 if the side at the far end runs
//! upwards, else −1:
//!   winding(i, j) = [i < u_up] − [i < u_down].
//! Two triangles that share a side compute the same u_side and use it with opposite signs. So the windings
//! along a line add up to exactly 0 for every closed oriented surface, regardless of rounding: every entry
//! has its exit.

use glam::DVec3;

use super::grid::snapped;
use super::{FieldError, FillRule};

/// Lines that miss their exit are tried again this far away, in cells: wider than a crack, narrower than a
/// feature.
const NUDGE: f64 = 1e-7;

/// An intersection of a line and a triangle.
#[derive(Clone, Copy)]
struct Hit {
    place: f64,
    winding: i32,
}

/// Sorted crossings of all grid lines along one axis, in grid coordinates; even ones enter, odd ones leave.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scanlines {
    /// The two other axes, lower first.
    across: [usize; 2],
    /// Lines along the lower of the other axes.
    stride: usize,
    starts: Vec<u32>,
    crossings: Vec<f64>,
}

/// Shared state of the three sets of lines during the build.
pub(super) struct Surface<'a> {
    /// Vertices in grid coordinates.
    pub vertices: &'a [DVec3],
    pub triangles: &'a [[u32; 3]],
    pub cells: [u32; 3],
    pub fill: FillRule,
}

/// Bytes used so far and allowed.
pub(super) struct Budget {
    pub used: u64,
    pub allowed: u64,
}

impl Budget {
    fn take(&mut self, bytes: u64) -> Result<(), FieldError> {
        self.used = self.used.saturating_add(bytes);
        if self.used > self.allowed {
            return Err(FieldError::OutOfMemory { bytes: self.used, allowed: self.allowed });
        }
        Ok(())
    }
}

impl Scanlines {
    /// Surface ⇒ crossings of all lines along `axis`.
    pub fn cast(axis: usize, surface: &Surface, budget: &mut Budget) -> Result<Self, FieldError> {
        let across = [[1, 2], [0, 2], [0, 1]][axis];
        let counts = across.map(|a| surface.cells[a] as u64 + 1);
        let lines = counts[0] * counts[1];
        // Line numbers are stored in 32 bits.
        budget.take(if lines >= u64::from(u32::MAX) { u64::MAX } else { 2 * 4 * (lines + 1) })?;
        let lines = lines as usize;
        let plane = Plane { axis, across, counts };

        let mut starts = vec![0u32; lines + 1];
        let mut total = 0u64;
        for corners in surface.corners() {
            plane.rasterise(&corners, |line, _| {
                starts[line + 1] = starts[line + 1].saturating_add(1);
                total += 1;
            });
        }
        let bytes = total.saturating_mul((size_of::<Hit>() + size_of::<f64>()) as u64);
        budget.take(if total > u64::from(u32::MAX) { u64::MAX } else { bytes })?;
        for line in 0..lines {
            starts[line + 1] += starts[line];
        }
        let mut hits = vec![Hit { place: 0.0, winding: 0 }; total as usize];
        let mut next = starts.clone();
        for corners in surface.corners() {
            plane.rasterise(&corners, |line, hit| {
                hits[next[line] as usize] = hit;
                next[line] += 1;
            });
        }
        drop(next);

        let mut crossings = Vec::new();
        let mut kept_starts = Vec::with_capacity(lines + 1);
        kept_starts.push(0);
        for line in 0..lines {
            let own = &mut hits[starts[line] as usize..starts[line + 1] as usize];
            if !keep_crossings(own, surface.fill, &mut crossings) {
                plane.retry(line, surface, &mut crossings)?;
            }
            kept_starts.push(crossings.len() as u32);
        }
        crossings.shrink_to_fit();
        // The hits and one of the two lists of starts are gone again.
        budget.used -= total * size_of::<Hit>() as u64 + 4 * (lines as u64 + 1);
        Ok(Self { across, stride: counts[0] as usize, starts: kept_starts, crossings })
    }

    /// Number of stored scalars.
    pub fn len(&self) -> usize {
        self.crossings.len()
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.starts.as_slice()) + size_of_val(self.crossings.as_slice())
    }

    /// Crossings of the line through a grid vertex.
    pub fn through(&self, vertex: [u32; 3]) -> &[f64] {
        let line = vertex[self.across[0]] as usize + vertex[self.across[1]] as usize * self.stride;
        &self.crossings[self.starts[line] as usize..self.starts[line + 1] as usize]
    }

    /// Calls `visit` with every crossing: the coordinates of its line, lower axis first, and its place on the
    /// line.
    pub fn for_each(&self, mut visit: impl FnMut([u32; 2], f64)) {
        for line in 0..self.starts.len() - 1 {
            let across = [(line % self.stride) as u32, (line / self.stride) as u32];
            for &place in &self.crossings[self.starts[line] as usize..self.starts[line + 1] as usize] {
                visit(across, place);
            }
        }
    }
}

impl Surface<'_> {
    fn corners(&self) -> impl Iterator<Item = [DVec3; 3]> + '_ {
        self.triangles.iter().map(|t| t.map(|v| self.vertices[v as usize]))
    }
}

/// Where a side of a triangle crosses a row: coordinate along the row, depth, and whether it runs upwards.
fn side_crossing(from: [f64; 3], to: [f64; 3], row: f64) -> Option<(f64, f64, bool)> {
    let up = from[1] <= row && row < to[1];
    let down = to[1] <= row && row < from[1];
    if !(up || down) {
        return None;
    }
    let (low, high) = if up { (from, to) } else { (to, from) };
    let t = (row - low[1]) / (high[1] - low[1]);
    Some((low[0] + t * (high[0] - low[0]), low[2] + t * (high[2] - low[2]), up))
}

/// The part of a row that a triangle covers: from `near` up to but without `far`, each with its depth.
struct Span {
    near: (f64, f64),
    far: (f64, f64),
    winding: i32,
}

impl Span {
    fn of(corners: &[[f64; 3]; 3], row: f64) -> Option<Self> {
        let [a, b, c] = *corners;
        let (mut up, mut down) = (None, None);
        for (from, to) in [(a, b), (b, c), (c, a)] {
            if let Some((u, depth, upwards)) = side_crossing(from, to, row) {
                *if upwards { &mut up } else { &mut down } = Some((u, depth));
            }
        }
        let (up, down) = (up?, down?);
        Some(if down.0 < up.0 {
            Self { near: down, far: up, winding: 1 }
        } else {
            Self { near: up, far: down, winding: -1 }
        })
    }

    fn hit(&self, u: f64) -> Hit {
        let t = (u - self.near.0) / (self.far.0 - self.near.0);
        Hit { place: snapped(self.near.1 + t * (self.far.1 - self.near.1)), winding: self.winding }
    }
}

/// The plane across the lines.
struct Plane {
    axis: usize,
    across: [usize; 2],
    /// Lines along either direction.
    counts: [u64; 2],
}

impl Plane {
    fn flattened(&self, corners: &[DVec3; 3]) -> [[f64; 3]; 3] {
        corners.map(|p| [p[self.across[0]], p[self.across[1]], p[self.axis]])
    }

    /// Calls `visit` with each line that hits the triangle.
    fn rasterise(&self, corners: &[DVec3; 3], mut visit: impl FnMut(usize, Hit)) {
        let flat = self.flattened(corners);
        let low = flat[0][1].min(flat[1][1]).min(flat[2][1]).ceil() as u64;
        let high = flat[0][1].max(flat[1][1]).max(flat[2][1]).floor() as u64;
        for row in low..=high.min(self.counts[1] - 1) {
            let Some(span) = Span::of(&flat, row as f64) else { continue };
            let first = span.near.0.ceil() as u64;
            let end = (span.far.0.ceil() as u64).min(self.counts[0]);
            for u in first..end {
                visit((u + row * self.counts[0]) as usize, span.hit(u as f64));
            }
        }
    }

    /// Looks at a line again from a little beside it, as cracks between faces are narrower than that.
    fn retry(&self, line: usize, surface: &Surface, crossings: &mut Vec<f64>) -> Result<(), FieldError> {
        let center = [line as u64 % self.counts[0], line as u64 / self.counts[0]].map(|c| c as f64);
        for (du, dv) in [(1.0, 0.6), (-0.7, 1.0), (-1.0, -0.8)] {
            let (u, v) = (center[0] + NUDGE * du, center[1] + NUDGE * dv);
            let mut hits: Vec<Hit> = surface
                .corners()
                .filter_map(|corners| Span::of(&self.flattened(&corners), v))
                .filter(|span| span.near.0 <= u && u < span.far.0)
                .map(|span| span.hit(u))
                .collect();
            if keep_crossings(&mut hits, surface.fill, crossings) {
                return Ok(());
            }
        }
        Err(FieldError::OddCrossings { axis: self.axis, scanline: line })
    }
}

/// Hits of one line ⇒ its crossings appended, without coincident pairs; false (and nothing appended) if it
/// ends inside.
fn keep_crossings(hits: &mut [Hit], fill: FillRule, crossings: &mut Vec<f64>) -> bool {
    hits.sort_unstable_by(|a, b| a.place.total_cmp(&b.place));
    let start = crossings.len();
    let mut winding = 0;
    for hit in hits.iter() {
        let inside = winding != 0;
        winding = match fill {
            FillRule::Winding => winding + hit.winding,
            FillRule::EvenOdd => 1 - winding,
        };
        if inside == (winding != 0) {
            continue;
        }
        if crossings.len() > start && crossings.last() == Some(&hit.place) {
            crossings.pop();
        } else {
            crossings.push(hit.place);
        }
    }
    if winding != 0 {
        crossings.truncate(start);
    }
    winding == 0
}
