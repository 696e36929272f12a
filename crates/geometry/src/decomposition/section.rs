//! The cut face: the piece of a plane inside the solid that is bounded by a given edge.
//!
//! Every vertex is above (+), below (−) or on (0) the plane, decided once. With the plane's normal n up and
//! the solid kept on the left, the boundary of the section runs
//! - through a face, from where its outline goes from + to − to where it goes from − to +;
//! - along an edge in the plane, the way the face above it runs, if the other face is below it. A face in the
//!   plane counts as above if the solid is above it. If both faces are on one side the edge is a boundary
//!   only where it is reflex: the solid then has a notch whose tip touches the plane, with section on both
//!   sides.
//!
//! The face that runs along with the boundary stays with the upper piece, the one that runs against it with
//! the lower. At a vertex where several continuations exist, the one with the smallest angle inside the
//! section is the boundary of this piece.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::part::{Part, after, before, dihedral_angle};

/// A plane n·p = d.
#[derive(Clone, Copy, Debug)]
pub(super) struct CutPlane {
    pub normal: DVec3,
    pub offset: f64,
}

/// A corner of the cut face: a vertex of the part or a point inside an edge, named by the lower of its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Vertex(u32),
    Crossing(u32),
}

/// Origin of a boundary segment of the cut face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A side whose face stays with the upper piece.
    Side(u32),
    /// The inside of a face.
    Through(u32),
}

/// Corners in order, each with the way to the next, counter-clockwise about the plane's normal.
#[derive(Clone, Debug)]
pub(super) struct CutFace {
    pub plane: CutPlane,
    pub corners: Vec<(Node, Way)>,
    pub points: Vec<DVec3>,
}

/// A part relative to a plane.
pub(super) struct Section<'a> {
    part: &'a Part,
    normals: &'a [DVec3],
    plane: CutPlane,
    heights: Vec<f64>,
    signs: Vec<i8>,
    tolerance: f64,
    reflex: f64,
}

impl<'a> Section<'a> {
    /// Vertices within `tolerance` count as on the plane; edges more than `reflex` beyond π count as reflex.
    pub fn new(part: &'a Part, normals: &'a [DVec3], plane: CutPlane, tolerance: f64, reflex: f64) -> Self {
        let heights: Vec<f64> = part.vertices.iter().map(|p| plane.normal.dot(*p) - plane.offset).collect();
        let sign = |h: &f64| i8::from(*h > tolerance) - i8::from(*h < -tolerance);
        let signs = heights.iter().map(sign).collect();
        Self { part, normals, plane, heights, signs, tolerance, reflex }
    }

    fn sign(&self, vertex: u32) -> i8 {
        self.signs[vertex as usize]
    }

    /// On which side of the plane the face of a side in the plane is.
    fn side_sign(&self, side: u32) -> i8 {
        let [third, _] = self.part.ends(before(side));
        match self.sign(third) {
            0 if self.part.normal(self.normals, side / 3).dot(self.plane.normal) > 0.0 => -1,
            0 => 1,
            sign => sign,
        }
    }

    /// Whether the boundary of the section runs along a side, in its direction.
    fn bounds(&self, side: u32) -> bool {
        let [a, b] = self.part.ends(side);
        if self.sign(a) != 0 || self.sign(b) != 0 {
            return false;
        }
        let (own, other) = (self.side_sign(side), self.side_sign(self.part.twins[side as usize]));
        let is_reflex = || self.part.angle(self.normals, side) > std::f64::consts::PI + self.reflex;
        (own > 0 && other < 0) || (own == other && is_reflex())
    }

    fn crossing(&self, side: u32) -> Node {
        Node::Crossing(side.min(self.part.twins[side as usize]))
    }

    fn position(&self, node: Node) -> DVec3 {
        match node {
            Node::Vertex(v) => self.part.point(v),
            Node::Crossing(side) => {
                let [a, b] = self.part.ends(side);
                let (ha, hb) = (self.heights[a as usize], self.heights[b as usize]);
                self.part.point(a).lerp(self.part.point(b), (ha / (ha - hb)).clamp(0.0, 1.0))
            }
        }
    }

    /// Ways of the boundary that leave a vertex on the plane, and where they lead.
    fn ways_from(&self, vertex: u32) -> Vec<(Way, Node)> {
        let mut ways = Vec::new();
        for side in self.part.star(vertex) {
            let [_, a] = self.part.ends(side);
            let [_, b] = self.part.ends(after(side));
            if self.bounds(side) {
                ways.push((Way::Side(side), Node::Vertex(a)));
            }
            if self.sign(a) < 0 && self.sign(b) > 0 {
                ways.push((Way::Through(side / 3), self.crossing(after(side))));
            }
        }
        ways
    }

    /// Continuation from a crossing into the face whose side crosses the plane downwards there.
    fn way_through(&self, down: u32) -> (Way, Node) {
        let [third, _] = self.part.ends(before(down));
        let end = match self.sign(third) {
            0 => Node::Vertex(third),
            1 => self.crossing(after(down)),
            _ => self.crossing(before(down)),
        };
        (Way::Through(down / 3), end)
    }

    /// The way on from a node reached from `from`.
    fn onward(&self, from: DVec3, node: Node, basis: [DVec3; 2]) -> Option<(Way, Node)> {
        match node {
            Node::Crossing(side) => {
                let [a, _] = self.part.ends(side);
                let down = if self.sign(a) > 0 { side } else { self.part.twins[side as usize] };
                Some(self.way_through(down))
            }
            Node::Vertex(vertex) => {
                let at = self.part.point(vertex);
                let heading = |d: DVec3| d.dot(basis[1]).atan2(d.dot(basis[0]));
                let back = heading(from - at);
                let mut best: Option<(f64, (Way, Node))> = None;
                for (way, to) in self.ways_from(vertex) {
                    let mut angle = (back - heading(self.position(to) - at)).rem_euclid(TAU);
                    if angle < 1e-9 {
                        angle = TAU; // Straight back is the last resort.
                    }
                    if best.is_none_or(|(smallest, _)| angle < smallest) {
                        best = Some((angle, (way, to)));
                    }
                }
                best.map(|(_, way)| way)
            }
        }
    }

    /// Traces the cut face that has an edge on its boundary; None if it is no simple polygon without holes.
    pub fn trace(&self, edge: u32) -> Option<CutFace> {
        let start = self.start(edge)?;
        let [v0, v1] = self.part.ends(start);
        let u = self.plane.normal.any_orthonormal_vector();
        let basis = [u, self.plane.normal.cross(u)];
        let mut corners = vec![(Node::Vertex(v0), Way::Side(start))];
        let mut points = vec![self.part.point(v0)];
        let mut node = Node::Vertex(v1);
        let mut seen = std::collections::HashSet::from([Node::Vertex(v0)]);
        while node != Node::Vertex(v0) {
            if !seen.insert(node) {
                return None;
            }
            let at = self.position(node);
            let (way, next) = self.onward(*points.last()?, node, basis)?;
            corners.push((node, way));
            points.push(at);
            node = next;
        }
        let flat = |p: DVec3| DVec2::new((p - points[0]).dot(basis[0]), (p - points[0]).dot(basis[1]));
        let outline: Vec<DVec2> = points.iter().map(|&p| flat(p)).collect();
        let area: f64 =
            (0..outline.len()).map(|i| outline[i].perp_dot(outline[(i + 1) % outline.len()])).sum();
        if outline.len() < 3
            || !(area > self.tolerance * self.tolerance)
            || self.has_hole(&outline, &seen, flat)
        {
            return None;
        }
        Some(CutFace { plane: self.plane, corners, points })
    }

    /// The side of an edge along which the boundary runs, if it does so one way only.
    pub fn start(&self, edge: u32) -> Option<u32> {
        let twin = self.part.twins[edge as usize];
        match (self.bounds(edge), self.bounds(twin)) {
            (true, false) => Some(edge),
            (false, true) => Some(twin),
            _ => None,
        }
    }

    /// Whether another intersection of the surface with the plane lies inside the outline.
    fn has_hole(
        &self,
        outline: &[DVec2],
        on_outline: &std::collections::HashSet<Node>,
        flat: impl Fn(DVec3) -> DVec2,
    ) -> bool {
        let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
        for p in outline {
            low = low.min(*p);
            high = high.max(*p);
        }
        let inside = |node: Node| {
            let p = flat(self.position(node));
            p.cmpge(low).all()
                && p.cmple(high).all()
                && !on_outline.contains(&node)
                && lies_inside(outline, p, 10.0 * self.tolerance)
        };
        let touching = (0..self.signs.len() as u32)
            .filter(|&v| self.sign(v) == 0 && self.part.leaving[v as usize] != u32::MAX)
            .any(|v| inside(Node::Vertex(v)));
        touching
            || (0..self.part.twins.len() as u32).any(|side| {
                let [a, b] = self.part.ends(side);
                self.sign(a) > 0 && self.sign(b) < 0 && inside(self.crossing(side))
            })
    }

    /// Smallest angle between the cut face and the surface on either side, over its whole boundary.
    pub fn smallest_angle(&self, face: &CutFace) -> f64 {
        face.corners.iter().flat_map(|&(_, way)| self.angles_at(way)).fold(f64::INFINITY, f64::min)
    }

    /// Angles of the upper and the lower piece along a boundary line of the cut face.
    pub fn angles_at(&self, way: Way) -> [f64; 2] {
        let n = self.plane.normal;
        match way {
            Way::Through(face) => {
                let upper = self.part.normal(self.normals, face).dot(n).clamp(-1.0, 1.0).acos();
                [upper, std::f64::consts::PI - upper]
            }
            Way::Side(side) => {
                let e = self.part.direction(side);
                let twin = self.part.twins[side as usize];
                let upper = dihedral_angle(self.part.normal(self.normals, side / 3), -n, e);
                [upper, dihedral_angle(self.part.normal(self.normals, twin / 3), n, -e)]
            }
        }
    }

    /// Smallest distance from the plane of a vertex that is not on it, among the faces along the cut face.
    pub fn clearance(&self, face: &CutFace) -> f64 {
        let mut nearest = f64::INFINITY;
        let mut look = |f: u32| {
            for v in self.part.faces[f as usize].corners {
                if self.sign(v) != 0 {
                    nearest = nearest.min(self.heights[v as usize].abs());
                }
            }
        };
        for &(_, way) in &face.corners {
            match way {
                Way::Through(f) => look(f),
                Way::Side(side) => {
                    look(side / 3);
                    look(self.part.twins[side as usize] / 3);
                }
            }
        }
        nearest
    }
}

/// Whether a point lies inside a polygon and farther than `margin` from its outline.
fn lies_inside(outline: &[DVec2], p: DVec2, margin: f64) -> bool {
    let mut inside = false;
    for (i, &a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        let along = b - a;
        let t = ((p - a).dot(along) / along.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        if p.distance(a + t * along) <= margin {
            return false;
        }
        if (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x) {
            inside = !inside;
        }
    }
    inside
}
