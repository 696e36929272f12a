//! Wavefront OBJ: `v` and `f` lines, with `g` and `o` to choose a part; everything else is passed over.
//!
//! A reader of our own, because the errors must carry line numbers and name the word that is wrong.

use std::borrow::Cow;
use std::collections::HashSet;

use glam::DVec3;

use super::builder::SoupBuilder;
use super::{
    LoadedMesh, MeshFileError, MeshFormat, MeshLimits, MeshWarning, ObjProblem, check_size, shown,
    without_byte_order_mark,
};

/// Which part of an OBJ file to read, and how much at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjOptions {
    /// Only faces of this group (`g`).
    pub group: Option<String>,
    /// Only faces of this object (`o`).
    pub object: Option<String>,
    /// How large the file and the mesh may be.
    pub limits: MeshLimits,
}

/// Content of an OBJ file ⇒ mesh; n-gons stay n-gons.
///
/// ```
/// use rattleback_scene::mesh_file::{ObjOptions, read_obj};
///
/// let square = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1\n";
/// let mesh = read_obj(square, &ObjOptions::default())?;
/// assert_eq!(mesh.soup.face(0), [0, 1, 2, 3]);
/// assert_eq!(mesh.fan_triangles(), [[0, 1, 2], [0, 2, 3]]);
/// # Ok::<(), rattleback_scene::mesh_file::MeshFileError>(())
/// ```
///
/// # Errors
/// An invalid file, or a limit that is exceeded.
pub fn read_obj(bytes: &[u8], options: &ObjOptions) -> Result<LoadedMesh, MeshFileError> {
    check_size("bytes", bytes.len() as u64, options.limits.max_file_bytes)?;
    let mut parser = Parser::new(options);
    for (line, text) in LogicalLines::new(without_byte_order_mark(bytes)) {
        parser.statement(line, &text)?;
    }
    parser.finish()
}

/// What has been read of the file so far; positive indices may still point forward.
struct Parser<'a> {
    options: &'a ObjOptions,
    vertices: Vec<DVec3>,
    corners: Vec<u32>,
    loop_ends: Vec<usize>,
    /// Indices higher than all before them and than the vertices then known, each with its line: the first one
    /// that is still too high at the end of the file is the first error.
    forward: Vec<(u32, usize)>,
    names: Vec<String>,
    known_names: HashSet<String>,
    group: Selection<'a>,
    object: Selection<'a>,
    other_primitives: usize,
    unknown_statements: usize,
}

impl<'a> Parser<'a> {
    fn new(options: &'a ObjOptions) -> Self {
        Self {
            options,
            vertices: Vec::new(),
            corners: Vec::new(),
            loop_ends: Vec::new(),
            forward: Vec::new(),
            names: Vec::new(),
            known_names: HashSet::new(),
            group: Selection::of(options.group.as_deref()),
            object: Selection::of(options.object.as_deref()),
            other_primitives: 0,
            unknown_statements: 0,
        }
    }

    fn statement(&mut self, line: usize, text: &[u8]) -> Result<(), MeshFileError> {
        let mut words = text
            .split(u8::is_ascii_whitespace)
            .filter(|word| !word.is_empty())
            .take_while(|word| !word.starts_with(b"#"));
        let Some(keyword) = words.next() else { return Ok(()) };
        let at_line = |problem| MeshFileError::Obj { line, problem };
        match keyword {
            b"v" => {
                let limit = self.options.limits.max_vertices.min(u32::MAX as usize);
                check_size("vertices", self.vertices.len() as u64 + 1, limit as u64)?;
                self.vertices.push(position(words).map_err(at_line)?);
            }
            // `fo` is how the first versions of the format spelt `f`.
            b"f" | b"fo" => self.face(line, words).map_err(at_line)?,
            b"g" => {
                self.group.leave();
                for word in words {
                    let name = self.name(word);
                    self.group.enter(&name);
                }
            }
            b"o" => {
                // An object's name may contain spaces.
                let name = self.name(text.trim_ascii()[1..].trim_ascii());
                self.object.leave();
                self.object.enter(&name);
            }
            b"p" | b"l" | b"curv" | b"curv2" | b"surf" => self.other_primitives += 1,
            _ if is_known_and_irrelevant(keyword) => {}
            _ => self.unknown_statements += 1,
        }
        check_size("faces", self.loop_ends.len() as u64, self.options.limits.max_faces as u64)
    }

    /// Takes note of a name ⇒ the name as text.
    fn name<'b>(&mut self, word: &'b [u8]) -> Cow<'b, str> {
        let name = String::from_utf8_lossy(word);
        if !name.is_empty() && !self.known_names.contains(&*name) {
            self.known_names.insert(name.clone().into_owned());
            self.names.push(name.clone().into_owned());
        }
        name
    }

    fn face<'b>(&mut self, line: usize, words: impl Iterator<Item = &'b [u8]>) -> Result<(), ObjProblem> {
        let start = self.corners.len();
        for word in words {
            let index = vertex_index(word).ok_or_else(|| ObjProblem::BadCorner { token: shown(word) })?;
            let vertices = self.vertices.len();
            let out_of_range = || ObjProblem::IndexOutOfRange { index, vertices };
            let resolved = if index > 0 {
                u32::try_from(index - 1).ok()
            } else {
                usize::try_from(index.unsigned_abs())
                    .ok()
                    .and_then(|back| vertices.checked_sub(back))
                    .map(|i| i as u32)
            };
            let resolved = resolved.ok_or_else(out_of_range)?;
            let highest = self.forward.last().map_or(0, |&(highest, _)| highest);
            if resolved as usize >= vertices && resolved >= highest {
                self.forward.push((resolved, line));
            }
            self.corners.push(resolved);
        }
        let found = self.corners.len() - start;
        if found < 3 {
            return Err(ObjProblem::TooFewCorners { found });
        }
        if self.group.inside && self.object.inside {
            self.loop_ends.push(self.corners.len());
        } else {
            self.corners.truncate(start);
        }
        Ok(())
    }

    fn finish(self) -> Result<LoadedMesh, MeshFileError> {
        let vertices = self.vertices.len();
        if let Some(&(index, line)) = self.forward.iter().find(|&&(index, _)| index as usize >= vertices) {
            let problem = ObjProblem::IndexOutOfRange { index: i64::from(index) + 1, vertices };
            return Err(MeshFileError::Obj { line, problem });
        }
        for selection in [self.group, self.object] {
            if let (false, Some(wanted)) = (selection.seen, selection.wanted) {
                let available = self.names.into_iter().take(20).collect();
                return Err(MeshFileError::UnknownGroup { wanted: wanted.to_owned(), available });
            }
        }
        let mut builder = SoupBuilder::new(&self.options.limits, self.vertices);
        let mut start = 0;
        for end in self.loop_ends {
            builder.push_face(&self.corners[start..end])?;
            start = end;
        }
        let mut warnings = Vec::new();
        if self.other_primitives > 0 {
            warnings.push(MeshWarning::OtherPrimitives(self.other_primitives));
        }
        if self.unknown_statements > 0 {
            warnings.push(MeshWarning::UnknownStatements(self.unknown_statements));
        }
        let mut mesh = builder.finish(MeshFormat::Obj, self.names, warnings)?;
        if self.options.group.is_some() || self.options.object.is_some() {
            // The vertices of other groups are left out on purpose.
            mesh.warnings.retain(|warning| !matches!(warning, MeshWarning::UnusedVertices(_)));
        }
        Ok(mesh)
    }
}

/// Whether faces are of the requested group or object; without a request they always are.
#[derive(Clone, Copy)]
struct Selection<'a> {
    wanted: Option<&'a str>,
    inside: bool,
    seen: bool,
}

impl<'a> Selection<'a> {
    fn of(wanted: Option<&'a str>) -> Self {
        Self { wanted, inside: wanted.is_none(), seen: false }
    }

    fn leave(&mut self) {
        self.inside = self.wanted.is_none();
    }

    fn enter(&mut self, name: &str) {
        if self.wanted == Some(name) {
            self.inside = true;
            self.seen = true;
        }
    }
}

/// Words after `v` ⇒ point. A weight or a colour may follow.
fn position<'a>(words: impl Iterator<Item = &'a [u8]>) -> Result<DVec3, ObjProblem> {
    let mut point = [0.0; 3];
    let mut found = 0;
    for (coordinate, word) in point.iter_mut().zip(words) {
        let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
        *coordinate = number.ok_or_else(|| ObjProblem::BadNumber { token: shown(word) })?;
        if !coordinate.is_finite() {
            return Err(ObjProblem::NonFinite { token: shown(word) });
        }
        found += 1;
    }
    if found < 3 { Err(ObjProblem::TooFewCoordinates { found }) } else { Ok(DVec3::from_array(point)) }
}

/// `v`, `v/vt`, `v//vn` or `v/vt/vn` ⇒ v, if every number given is an integer other than 0.
fn vertex_index(word: &[u8]) -> Option<i64> {
    let mut parts = std::str::from_utf8(word).ok()?.split('/');
    let integer = |text: &str| text.parse::<i64>().ok().filter(|&index| index != 0);
    let v = integer(parts.next()?)?;
    let mut others = 0;
    for part in parts {
        others += 1;
        if others > 2 || !(part.is_empty() || integer(part).is_some()) {
            return None;
        }
    }
    Some(v)
}

/// Keywords of the format that do not concern polygons.
fn is_known_and_irrelevant(keyword: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 32] = [
        b"vt",
        b"vn",
        b"vp",
        b"s",
        b"mg",
        b"usemtl",
        b"mtllib",
        b"usemap",
        b"maplib",
        b"cstype",
        b"deg",
        b"bmat",
        b"step",
        b"parm",
        b"trim",
        b"hole",
        b"scrv",
        b"sp",
        b"end",
        b"con",
        b"bevel",
        b"c_interp",
        b"d_interp",
        b"lod",
        b"shadow_obj",
        b"trace_obj",
        b"ctech",
        b"stech",
        b"call",
        b"csh",
        b"res",
        b"bzp",
    ];
    KEYWORDS.contains(&keyword)
}

/// Lines with their numbers from 1, those ending in a backslash joined with the next.
struct LogicalLines<'a> {
    rest: Option<&'a [u8]>,
    line: usize,
}

impl<'a> LogicalLines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { rest: Some(bytes), line: 0 }
    }

    fn physical_line(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        self.line += 1;
        let Some(end) = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') else {
            self.rest = None;
            return Some(rest);
        };
        let next = if rest[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 };
        self.rest = Some(&rest[next..]);
        Some(&rest[..end])
    }
}

impl<'a> Iterator for LogicalLines<'a> {
    type Item = (usize, Cow<'a, [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.physical_line()?;
        let number = self.line;
        let Some(mut unfinished) = first.strip_suffix(b"\\") else {
            return Some((number, Cow::Borrowed(first)));
        };
        let mut joined = Vec::new();
        loop {
            joined.extend_from_slice(unfinished);
            joined.push(b' ');
            let Some(next) = self.physical_line() else { break };
            let Some(stripped) = next.strip_suffix(b"\\") else {
                joined.extend_from_slice(next);
                break;
            };
            unfinished = stripped;
        }
        Some((number, Cow::Owned(joined)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LoadedMesh, MeshFileError> {
        read_obj(text.as_bytes(), &ObjOptions::default())
    }

    fn problem(text: &str) -> (usize, ObjProblem) {
        match read(text) {
            Err(MeshFileError::Obj { line, problem }) => (line, problem),
            other => panic!("expected an OBJ error, got {other:?}"),
        }
    }

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

    /// A-29: all index forms, positive and negative, mean the same square.
    #[test]
    fn all_index_forms_mean_the_same() {
        for face in [
            "f 1 2 3 4",
            "f 1/1 2/2 3/3 4/4",
            "f 1//1 2//1 3//1 4//1",
            "f 1/1/1 2/2/1 3/3/1 4/4/1",
            "f -4 -3 -2 -1",
            "f -4/-4/-1 -3/-3/-1 -2/-2/-1 -1/-1/-1",
            "f 1/ 2/ 3/ 4/ # corners with nothing behind the slash",
            "\tf 1 2 \\\r\n 3 4\r",
        ] {
            let mesh = read(&format!("{SQUARE}{face}\n")).unwrap();
            assert_eq!(mesh.soup.faces().collect::<Vec<_>>(), [[0, 1, 2, 3]], "{face}");
            assert!(mesh.warnings.is_empty());
        }
    }

    /// A-29: n-gons stay whole; a quad is 2 triangles and a hexagon 4.
    #[test]
    fn polygons_stay_polygons() {
        let corner = |i: u32| {
            let (y, x) = (f64::from(i) * std::f64::consts::FRAC_PI_3).sin_cos();
            format!("v {x} {y} 0\n")
        };
        let text: String = (0..6).map(corner).collect();
        let hexagon = read(&(text.clone() + "f 1 2 3 4 5 6")).unwrap();
        assert_eq!(hexagon.soup.face_count(), 1);
        assert_eq!(hexagon.fan_triangles().len(), 4);
        let quad = read(&(text + "f 1 2 3 4")).unwrap();
        assert_eq!(quad.fan_triangles().len(), 2);
        assert_eq!(quad.warnings, [MeshWarning::UnusedVertices(2)]);
    }

    /// A-29: malformed inputs give line-numbered typed errors.
    #[test]
    fn errors_carry_the_line() {
        let token = |text: &str| text.to_owned();
        assert_eq!(problem("# a\n\nv 0 0\n"), (3, ObjProblem::TooFewCoordinates { found: 2 }));
        assert_eq!(problem("v 0 zero 0\n"), (1, ObjProblem::BadNumber { token: token("zero") }));
        for word in ["nan", "inf", "-infinity", "1e999"] {
            assert_eq!(problem(&format!("v 0 0 {word}")), (1, ObjProblem::NonFinite { token: token(word) }));
        }
        for word in ["0", "1/0", "1/2/3/4", "one", "1.5", "/1", "1/x", "99999999999999999999"] {
            let expected = (5, ObjProblem::BadCorner { token: token(word) });
            assert_eq!(problem(&format!("{SQUARE}f 1 2 {word}\nf 1")), expected);
        }
        let out_of_range = |index| ObjProblem::IndexOutOfRange { index, vertices: 4 };
        assert_eq!(problem(&format!("{SQUARE}f 1 2 5\nf 1 2 900\n")), (5, out_of_range(5)));
        assert_eq!(problem(&format!("{SQUARE}\nf 1 2 1000000000")), (6, out_of_range(1_000_000_000)));
        assert_eq!(problem(&format!("{SQUARE}f 1 2 9000000000")), (5, out_of_range(9_000_000_000)));
        assert_eq!(problem(&format!("{SQUARE}f 1 2 -5")), (5, out_of_range(-5)));
        assert_eq!(problem(&format!("{SQUARE}f 1 2")), (5, ObjProblem::TooFewCorners { found: 2 }));
        assert_eq!(problem(&format!("{SQUARE}f")), (5, ObjProblem::TooFewCorners { found: 0 }));
    }

    #[test]
    fn carriage_returns_count_as_one_line_end_each() {
        assert_eq!(problem("v 0 0 0\r\nv 1 0 0\r\nv x").0, 3);
        assert_eq!(problem("v 0 0 0\rv 1 0 0\rv x").0, 3);
    }

    #[test]
    fn positive_indices_may_point_forward() {
        let mesh = read("f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").unwrap();
        assert_eq!(mesh.soup.vertices[2], DVec3::Y);
    }

    #[test]
    fn coordinates_are_read_in_full_precision() {
        let third = 1.0 / 3.0;
        let mesh = read(&format!("v {third} 0 0 1.0\nv 1 0 0 0.5 0.5 0.5\nv 0 1e-3 0\nf 1 2 3")).unwrap();
        assert_eq!(mesh.soup.vertices[0].x, third);
    }

    /// A-29: zero-area triangles are left out and counted.
    #[test]
    fn zero_area_faces_are_counted() {
        let mesh = read(&format!("{SQUARE}v 2 0 0\nf 1 2 3 4\nf 1 2 5\nf 1 2 2\nl 1 2\nbogus\n")).unwrap();
        assert_eq!(mesh.soup.face_count(), 1);
        let expected = [
            MeshWarning::OtherPrimitives(1),
            MeshWarning::UnknownStatements(1),
            MeshWarning::ZeroAreaFaces(2),
            MeshWarning::UnusedVertices(1),
        ];
        assert_eq!(mesh.warnings, expected);
        let nothing_left = read(&format!("{SQUARE}f 1 1 2"));
        assert!(matches!(nothing_left, Err(MeshFileError::NoFaces { format: MeshFormat::Obj })));
    }

    #[test]
    fn a_group_or_object_can_be_chosen() {
        let text = format!("{SQUARE}o the plate\ng low left\nf 1 2 3\ng high\nf 1 3 4\no rest\nf 2 3 4\n");
        let choose = |group: Option<&str>, object: Option<&str>| {
            let options = ObjOptions {
                group: group.map(str::to_owned),
                object: object.map(str::to_owned),
                ..ObjOptions::default()
            };
            read_obj(text.as_bytes(), &options)
        };
        let all = choose(None, None).unwrap();
        assert_eq!((all.soup.face_count(), all.soup.vertices.len()), (3, 4));
        assert_eq!(all.groups, ["the plate", "low", "left", "high", "rest"]);
        let left = choose(Some("left"), None).unwrap();
        assert_eq!((left.soup.face_count(), left.soup.vertices.len()), (1, 3));
        assert!(left.warnings.is_empty());
        assert_eq!(choose(None, Some("the plate")).unwrap().soup.face_count(), 2);
        assert_eq!(choose(Some("high"), Some("rest")).unwrap().soup.face_count(), 1);
        let Err(MeshFileError::UnknownGroup { wanted, available }) = choose(Some("middle"), None) else {
            panic!("there is no such group");
        };
        assert_eq!((wanted.as_str(), available.len()), ("middle", 5));
    }

    #[test]
    fn limits_hold() {
        let limits = MeshLimits { max_vertices: 3, ..MeshLimits::default() };
        let text = format!("{SQUARE}f 1 2 3\nf 1 3 4");
        for limits in [
            limits,
            MeshLimits { max_faces: 1, ..MeshLimits::default() },
            MeshLimits { max_file_bytes: 20, ..MeshLimits::default() },
        ] {
            let result = read_obj(text.as_bytes(), &ObjOptions { limits, ..ObjOptions::default() });
            assert!(matches!(result, Err(MeshFileError::TooLarge { .. })), "{limits:?}");
        }
    }
}
