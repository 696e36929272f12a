//! Bodies seen from the side, with points and lines of interest on top.
//!
//! An orthographic view along −w with the screen's axes u (right) and v (up). Every triangle fills the pixels it covers where
//! it is nearer than what is there, shaded by |n·light|. Sharp edges are drawn as lines where they are not hidden.

use glam::DVec3;
use rattleback_geometry::TriangleMesh;

use super::PlotError;
use super::picture::{INK, Picture, Rgb, Side};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 720.0;
const MARGIN: f64 = 60.0;
const TOP: f64 = 70.0;
const BOTTOM: f64 = 30.0;
/// Edges whose faces differ by more than this cosine are drawn.
const SHARP: f64 = 0.85;
/// Blue, orange, green, purple.
const COLORS: [Rgb; 4] = [[86, 160, 211], [230, 150, 80], [90, 180, 140], [190, 130, 170]];
const MARK: Rgb = [200, 20, 40];

/// A surface in world coordinates, and its name for the legend.
pub struct Body<'a> {
    /// Its name.
    pub name: String,
    /// Its surface.
    pub mesh: &'a TriangleMesh,
    /// Where its points go.
    pub place: &'a dyn Fn(DVec3) -> DVec3,
}

/// Contents of a picture.
pub struct Solids<'a> {
    /// Above everything.
    pub title: String,
    /// One line below the title.
    pub note: String,
    /// The bodies, each in its colour.
    pub bodies: Vec<Body<'a>>,
    /// Thick lines on top of everything, with a dot at both ends.
    pub lines: Vec<[DVec3; 2]>,
    /// Dots on top of everything.
    pub points: Vec<DVec3>,
    /// This direction is seen from the side.
    pub across: DVec3,
}

struct View {
    u: DVec3,
    v: DVec3,
    w: DVec3,
    middle: [f64; 2],
    scale: f64,
}

impl View {
    /// Looks along a direction at right angles to `across`, from a little above, at everything.
    fn of(points: impl Iterator<Item = DVec3>, across: DVec3) -> Option<Self> {
        let n = across.normalize_or(DVec3::X);
        // The camera is beside n, on the side of −y and +x where possible.
        let aside =
            if n.z.abs() < 0.95 { n.cross(DVec3::Z) } else { DVec3::new(0.35, -1.0, 0.0) }.normalize();
        let aside = if aside.dot(DVec3::new(0.3, -1.0, 0.0)) < 0.0 { -aside } else { aside };
        let w = (aside + 0.42 * DVec3::Z + 0.25 * n).normalize();
        let u = DVec3::Z.cross(w).normalize_or(DVec3::X);
        let v = w.cross(u);
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for p in points {
            for (i, c) in [u.dot(p), v.dot(p)].into_iter().enumerate() {
                low[i] = low[i].min(c);
                high[i] = high[i].max(c);
            }
        }
        let (width, height) = (WIDTH - 2.0 * MARGIN, HEIGHT - TOP - BOTTOM - MARGIN);
        let scale = (width / (high[0] - low[0])).min(height / (high[1] - low[1]));
        let middle = [0, 1].map(|i| 0.5 * (low[i] + high[i]));
        (scale.is_finite() && scale > 0.0).then_some(Self { u, v, w, middle, scale })
    }

    /// Point ⇒ place in the picture and height towards the eye.
    fn place(&self, p: DVec3) -> ([f64; 2], f64) {
        let x = 0.5 * WIDTH + self.scale * (self.u.dot(p) - self.middle[0]);
        let y = TOP + 0.5 * (HEIGHT - TOP - BOTTOM) - self.scale * (self.v.dot(p) - self.middle[1]);
        ([x, y], self.scale * self.w.dot(p))
    }
}

impl Solids<'_> {
    /// Draws them.
    ///
    /// # Errors
    /// Drawing failed.
    pub fn draw(&self) -> Result<Picture, PlotError> {
        let bodies = self.bodies.iter();
        let corners = bodies.flat_map(|body| body.mesh.vertices().iter().map(|&p| (body.place)(p)));
        let others = self.lines.iter().flatten().chain(&self.points).copied();
        let view = View::of(corners.chain(others), self.across)
            .ok_or_else(|| PlotError::Drawing("there is nothing to look at".to_owned()))?;
        let mut canvas = Canvas::new(WIDTH, HEIGHT)?;
        let light = (view.w + 0.5 * view.u + 0.8 * view.v).normalize();
        for (body, color) in self.bodies.iter().zip(COLORS.iter().cycle()) {
            for i in 0..body.mesh.triangles().len() {
                let corners = body.mesh.triangle(i).map(body.place);
                let n = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(view.w);
                let shade = 0.45 + 0.55 * n.dot(light).abs();
                canvas.triangle(corners.map(|p| view.place(p)), color.map(|c| (f64::from(c) * shade) as u8));
            }
        }
        for body in &self.bodies {
            for ends in sharp_edges(body) {
                canvas.edge(ends.map(|p| view.place(p)));
            }
        }
        let mut picture = canvas.picture;
        for ends in &self.lines {
            let [a, b] = ends.map(|p| view.place(p).0);
            picture.line(a, b, 3.6, [255; 3]);
            picture.line(a, b, 2.0, MARK);
            for end in [a, b] {
                picture.disc(end, 4.4, [255; 3]);
                picture.disc(end, 3.2, MARK);
            }
        }
        for p in &self.points {
            let at = view.place(*p).0;
            picture.disc(at, 4.0, [255; 3]);
            picture.disc(at, 2.8, INK);
        }
        self.annotate(&mut picture, &view)?;
        Ok(picture)
    }

    fn annotate(&self, picture: &mut Picture, view: &View) -> Result<(), PlotError> {
        picture.text(&self.title, 16.0, Side::Left, [24.0, 28.0], INK)?;
        picture.text(&self.note, 13.0, Side::Left, [24.0, 50.0], INK)?;
        let mut y = 24.0;
        for (body, color) in self.bodies.iter().zip(COLORS.iter().cycle()) {
            picture.fill([WIDTH - 36.0, y - 8.0, WIDTH - 24.0, y + 4.0], *color);
            picture.text(&body.name, 13.0, Side::Right, [WIDTH - 44.0, y + 3.0], INK)?;
            y += 20.0;
        }
        // A length to compare with: the roundest that takes up to a fifth of the width.
        let longest = 0.2 * WIDTH / view.scale;
        let power = 10_f64.powf(longest.log10().floor());
        let length = [5.0, 2.0, 1.0].map(|k| k * power).into_iter().find(|l| *l <= longest).unwrap_or(power);
        let (x, y) = (24.0, HEIGHT - 24.0);
        picture.line([x, y], [x + length * view.scale, y], 2.0, INK);
        picture.text(&format!("{length} m"), 12.0, Side::Left, [x, y - 8.0], INK)
    }
}

/// Edges between faces of different normals, and boundary edges.
fn sharp_edges(body: &Body<'_>) -> Vec<[DVec3; 2]> {
    let mesh = body.mesh;
    let mut sides: Vec<([u32; 2], usize)> = Vec::new();
    for (i, corners) in mesh.triangles().iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            sides.push(([a.min(b), a.max(b)], i));
        }
    }
    sides.sort_unstable();
    let normal = |i: usize| mesh.area_vector(i).normalize_or_zero();
    let mut edges = Vec::new();
    for group in sides.chunk_by(|a, b| a.0 == b.0) {
        let smooth = matches!(group, [(_, i), (_, j)] if normal(*i).dot(normal(*j)) > SHARP);
        if !smooth {
            edges.push(group[0].0.map(|v| (body.place)(mesh.vertices()[v as usize])));
        }
    }
    edges
}

/// A picture with a depth buffer.
struct Canvas {
    picture: Picture,
    depths: Vec<f64>,
}

impl Canvas {
    fn new(width: f64, height: f64) -> Result<Self, PlotError> {
        let picture = Picture::new(width, height)?;
        let (columns, rows) = picture.size();
        Ok(Self { picture, depths: vec![f64::NEG_INFINITY; columns * rows] })
    }

    /// Fills the pixels whose middles the triangle covers, by the signs of three areas.
    fn triangle(&mut self, corners: [([f64; 2], f64); 3], color: Rgb) {
        let [([ax, ay], az), ([bx, by], bz), ([cx, cy], cz)] =
            corners.map(|([x, y], z)| ([x * Picture::FINE, y * Picture::FINE], z));
        let area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
        if !(area.abs() > 0.0 && area.is_finite()) {
            return;
        }
        let (columns, rows) = self.picture.size();
        let range = |a: f64, b: f64, c: f64, end: usize| {
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            low.clamp(0.0, end as f64) as usize..(high.ceil().clamp(0.0, end as f64) as usize)
        };
        for y in range(ay, by, cy, rows) {
            for x in range(ax, bx, cx, columns) {
                let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                let u = ((bx - px) * (cy - py) - (cx - px) * (by - py)) / area;
                let v = ((cx - px) * (ay - py) - (ax - px) * (cy - py)) / area;
                let w = 1.0 - u - v;
                if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                    let z = u * az + v * bz + w * cz;
                    if z > self.depths[y * columns + x] {
                        self.depths[y * columns + x] = z;
                        self.picture.blend(x, y, color, 1.0);
                    }
                }
            }
        }
    }

    /// A thin dark line where nothing is in front of it.
    fn edge(&mut self, [(a, az), (b, bz)]: [([f64; 2], f64); 2]) {
        let (columns, rows) = self.picture.size();
        let length = (b[0] - a[0]).hypot(b[1] - a[1]) * Picture::FINE;
        let steps = (length.ceil().clamp(1.0, 20_000.0)) as usize;
        for i in 0..=steps {
            let t = i as f64 / steps as f64;
            let [x, y] = [0, 1].map(|k| (a[k] + t * (b[k] - a[k])) * Picture::FINE);
            let z = az + t * (bz - az) + 1.0;
            for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-1.0, 0.0), (0.0, -1.0)] {
                let (x, y) = (x + dx, y + dy);
                if x >= 0.0 && y >= 0.0 && (x as usize) < columns && (y as usize) < rows {
                    let place = y as usize * columns + x as usize;
                    if z >= self.depths[place] {
                        self.picture.blend(x as usize, y as usize, INK, 0.6);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rattleback_geometry::generate;

    use super::*;

    /// A cube's twelve edges are drawn, not the diagonals of its faces; the diagonals of a flat square neither.
    #[test]
    fn only_sharp_edges_are_drawn() {
        let cube = TriangleMesh::from_soup(&generate::cuboid(DVec3::ONE).unwrap()).unwrap();
        let body = Body { name: String::new(), mesh: &cube, place: &|p| p };
        assert_eq!(sharp_edges(&body).len(), 12);
    }

    /// Seen from any side, both ends of the direction of interest lie apart in the picture by nearly its length.
    #[test]
    fn directions_of_interest_are_seen_from_the_side() {
        for i in 0..100 {
            let t = f64::from(i);
            let n = DVec3::new((1.3 * t).sin(), (0.7 * t).cos(), (2.1 * t).sin()).normalize_or(DVec3::Z);
            let view = View::of([DVec3::ONE, -DVec3::ONE, DVec3::X].into_iter(), n).unwrap();
            let [a, b] = [DVec3::ZERO, n].map(|p| view.place(p).0);
            let seen = (a[0] - b[0]).hypot(a[1] - b[1]) / view.scale;
            assert!(seen > 0.75, "{n}: {seen}");
        }
    }
}
