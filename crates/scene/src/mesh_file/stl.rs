//! STL, binary and in words: triangles without shared vertices, welded here where their bits agree.
//!
//! A reader of our own, because a binary file may well start with the word `solid`, and because the errors must
//! say where. Binary layout: 80 bytes of anything, the number of triangles n as a 32-bit integer, then n times
//! 12 single-precision numbers (normal and three corners) and 2 bytes of anything, all little-endian.

use glam::DVec3;

use super::builder::{SoupBuilder, Welder};
use super::{
    LoadedMesh, MeshFileError, MeshFormat, MeshLimits, MeshWarning, StlPlace, StlProblem, check_size, shown,
    sniff, without_byte_order_mark,
};

const HEADER_BYTES: usize = 84;
const TRIANGLE_BYTES: usize = 50;

/// Content of an STL file, binary or in words ⇒ mesh of triangles. The normals in the file are passed over.
///
/// ```
/// use rattleback_scene::mesh_file::{MeshLimits, read_stl};
///
/// let text = b"solid one\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n\
///     endloop\nendfacet\nendsolid one\n";
/// let mesh = read_stl(text, &MeshLimits::default())?;
/// assert_eq!(mesh.groups, ["one"]);
/// # Ok::<(), rattleback_scene::mesh_file::MeshFileError>(())
/// ```
///
/// # Errors
/// An invalid file, or a limit that is exceeded.
pub fn read_stl(bytes: &[u8], limits: &MeshLimits) -> Result<LoadedMesh, MeshFileError> {
    check_size("bytes", bytes.len() as u64, limits.max_file_bytes)?;
    let exact = announced_triangles(bytes)
        .is_some_and(|n| HEADER_BYTES as u64 + TRIANGLE_BYTES as u64 * u64::from(n) == bytes.len() as u64);
    if !exact && sniff::is_ascii_stl(bytes) { read_ascii(bytes, limits) } else { read_binary(bytes, limits) }
}

/// Bytes of a binary file ⇒ number of triangles its header announces, if there is a header.
pub(super) fn announced_triangles(bytes: &[u8]) -> Option<u32> {
    bytes.get(80..HEADER_BYTES)?.try_into().ok().map(u32::from_le_bytes)
}

fn read_binary(bytes: &[u8], limits: &MeshLimits) -> Result<LoadedMesh, MeshFileError> {
    let in_header = |problem| MeshFileError::Stl { place: StlPlace::Header, problem };
    let announced =
        announced_triangles(bytes).ok_or(in_header(StlProblem::TooShort { bytes: bytes.len() }))?;
    let (triangles, _) = bytes[HEADER_BYTES..].as_chunks::<TRIANGLE_BYTES>();
    if (triangles.len() as u64) < u64::from(announced) {
        return Err(in_header(StlProblem::Truncated { announced, present: triangles.len() }));
    }
    let triangles = &triangles[..announced as usize];
    check_size("faces", triangles.len() as u64, limits.max_faces as u64)?;
    let mut builder = SoupBuilder::new(limits, Vec::new());
    let mut welder = Welder::default();
    for (number, record) in triangles.iter().enumerate() {
        let (numbers, _) = record.as_chunks::<4>();
        let coordinate = |i: usize| f64::from(f32::from_le_bytes(numbers[i]));
        let mut corners = [0; 3];
        for (k, corner) in corners.iter_mut().enumerate() {
            let first = 3 + 3 * k;
            let point = DVec3::new(coordinate(first), coordinate(first + 1), coordinate(first + 2));
            if !point.is_finite() {
                return Err(MeshFileError::Stl {
                    place: StlPlace::Triangle(number),
                    problem: StlProblem::NonFinite,
                });
            }
            *corner = welder.vertex(&mut builder, point)?;
        }
        builder.push_face(&corners)?;
    }
    let trailing = bytes.len() - HEADER_BYTES - TRIANGLE_BYTES * triangles.len();
    let warnings = if trailing > 0 { vec![MeshWarning::TrailingBytes(trailing)] } else { Vec::new() };
    builder.finish(MeshFormat::StlBinary, Vec::new(), warnings)
}

fn read_ascii(bytes: &[u8], limits: &MeshLimits) -> Result<LoadedMesh, MeshFileError> {
    let mut words = Words { rest: without_byte_order_mark(bytes), line: 1 };
    let mut builder = SoupBuilder::new(limits, Vec::new());
    let mut welder = Welder::default();
    let mut groups = Vec::new();
    while let Some(word) = words.next() {
        if !word.eq_ignore_ascii_case(b"solid") {
            return Err(words.unexpected("solid", word));
        }
        let name = String::from_utf8_lossy(words.rest_of_line()).into_owned();
        if !name.is_empty() {
            groups.push(name);
        }
        loop {
            match words.next() {
                Some(word) if word.eq_ignore_ascii_case(b"facet") => {
                    let mut corners = [0; 3];
                    for (corner, point) in corners.iter_mut().zip(words.facet()?) {
                        *corner = welder.vertex(&mut builder, point)?;
                    }
                    builder.push_face(&corners)?;
                }
                Some(word) if word.eq_ignore_ascii_case(b"endsolid") => break,
                other => return Err(words.unexpected("facet or endsolid", other.unwrap_or_default())),
            }
        }
        words.rest_of_line();
    }
    builder.finish(MeshFormat::StlAscii, groups, Vec::new())
}

/// Words of a text, and the line of the word read last.
struct Words<'a> {
    rest: &'a [u8],
    line: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let text = self.rest.trim_ascii_start();
        let skipped = &self.rest[..self.rest.len() - text.len()];
        self.line += skipped.split(|&byte| byte == b'\n').count() - 1;
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn rest_of_line(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| byte == b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest;
        line.trim_ascii()
    }

    fn unexpected(&self, expected: &'static str, found: &[u8]) -> MeshFileError {
        let problem = StlProblem::Unexpected { expected, found: shown(found) };
        MeshFileError::Stl { place: StlPlace::Line(self.line), problem }
    }

    fn expect(&mut self, expected: &'static str) -> Result<(), MeshFileError> {
        let word = self.next().unwrap_or_default();
        if word.eq_ignore_ascii_case(expected.as_bytes()) {
            Ok(())
        } else {
            Err(self.unexpected(expected, word))
        }
    }

    /// What follows `facet` ⇒ the three corners.
    fn facet(&mut self) -> Result<[DVec3; 3], MeshFileError> {
        self.expect("normal")?;
        // Normals of exporters can be invalid (`-nan(ind)`) and are ignored.
        for _ in 0..3 {
            self.next();
        }
        self.expect("outer")?;
        self.expect("loop")?;
        let mut corners = [DVec3::ZERO; 3];
        for corner in &mut corners {
            self.expect("vertex")?;
            *corner = DVec3::new(self.coordinate()?, self.coordinate()?, self.coordinate()?);
        }
        self.expect("endloop")?;
        self.expect("endfacet")?;
        Ok(corners)
    }

    fn coordinate(&mut self) -> Result<f64, MeshFileError> {
        let word = self.next().unwrap_or_default();
        let number = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
        let number = number.ok_or_else(|| self.unexpected("a coordinate", word))?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(MeshFileError::Stl { place: StlPlace::Line(self.line), problem: StlProblem::NonFinite })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(header: &[u8], announced: u32, triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
        let mut bytes = header.to_vec();
        bytes.resize(80, b' ');
        bytes.extend(announced.to_le_bytes());
        for triangle in triangles {
            bytes.extend([0; 12]);
            bytes.extend(triangle.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    /// Two triangles sharing the edge from (1, 0, 0) to (0, 1, 0), once with a −0.
    const PAIR: [[[f32; 3]; 3]; 2] = [
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [[0.0, 1.0, -0.0], [1.0, -0.0, 0.0], [1.0, 1.0, 0.0]],
    ];

    fn read(bytes: &[u8]) -> Result<LoadedMesh, MeshFileError> {
        read_stl(bytes, &MeshLimits::default())
    }

    fn problem(bytes: &[u8]) -> (StlPlace, StlProblem) {
        match read(bytes) {
            Err(MeshFileError::Stl { place, problem }) => (place, problem),
            other => panic!("expected an STL error, got {other:?}"),
        }
    }

    #[test]
    fn binary_triangles_are_welded_even_behind_the_word_solid() {
        for header in [&b""[..], b"solid", b"solid facet normal endsolid", b"solid \0 with zero"] {
            let mesh = read(&binary(header, 2, &PAIR)).unwrap();
            assert_eq!(mesh.format, MeshFormat::StlBinary);
            assert_eq!(mesh.soup.vertices.len(), 4);
            assert_eq!(mesh.soup.faces().collect::<Vec<_>>(), [[0, 1, 2], [2, 1, 3]]);
        }
    }

    #[test]
    fn a_header_that_boasts_allocates_nothing() {
        let mut boast = binary(b"", 4_000_000_000, &[]);
        boast.resize(100, 0);
        let expected = StlProblem::Truncated { announced: 4_000_000_000, present: 0 };
        assert_eq!(problem(&boast), (StlPlace::Header, expected));
        let cut = binary(b"", 2, &PAIR);
        let expected = StlProblem::Truncated { announced: 2, present: 1 };
        assert_eq!(problem(&cut[..cut.len() - 1]), (StlPlace::Header, expected));
    }

    #[test]
    fn short_empty_and_non_finite_files_are_refused() {
        assert_eq!(problem(b""), (StlPlace::Header, StlProblem::TooShort { bytes: 0 }));
        assert_eq!(problem(b"solid"), (StlPlace::Header, StlProblem::TooShort { bytes: 5 }));
        assert!(matches!(read(&binary(b"", 0, &[])), Err(MeshFileError::NoFaces { .. })));
        let mut bad = PAIR;
        bad[1][2][0] = f32::NAN;
        assert_eq!(problem(&binary(b"", 2, &bad)), (StlPlace::Triangle(1), StlProblem::NonFinite));
    }

    #[test]
    fn trailing_bytes_and_flat_triangles_are_reported() {
        let flat = [PAIR[0], [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]];
        let mut bytes = binary(b"", 2, &flat);
        bytes.extend(b"tail");
        let expected =
            [MeshWarning::TrailingBytes(4), MeshWarning::ZeroAreaFaces(1), MeshWarning::UnusedVertices(1)];
        assert_eq!(read(&bytes).unwrap().warnings, expected);
    }

    const TEXT: &str = "solid two words\r\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   \
        vertex 0 1e0 0\n  endloop\n endfacet\nendsolid two words\nSOLID\nFACET NORMAL nan -nan(ind) x OUTER LOOP \
        VERTEX 0 1 -0 VERTEX 1 0 0 VERTEX 1 1 0.1 ENDLOOP ENDFACET\nENDSOLID\n";

    #[test]
    fn words_are_read_in_double_precision_from_several_solids() {
        let mesh = read(TEXT.as_bytes()).unwrap();
        assert_eq!(mesh.format, MeshFormat::StlAscii);
        assert_eq!(mesh.groups, ["two words"]);
        assert_eq!(mesh.soup.faces().collect::<Vec<_>>(), [[0, 1, 2], [2, 1, 3]]);
        assert_eq!(mesh.soup.vertices[3].z, 0.1);
    }

    #[test]
    fn wrong_words_are_named_with_their_line() {
        let unexpected = |expected, found: &str| StlProblem::Unexpected { expected, found: found.to_owned() };
        let text = TEXT.replace("vertex 1 0 0", "vertex 1 zero 0");
        assert_eq!(problem(text.as_bytes()), (StlPlace::Line(5), unexpected("a coordinate", "zero")));
        let text = TEXT.replace("vertex 1 0 0", "vertex 1 inf 0");
        assert_eq!(problem(text.as_bytes()), (StlPlace::Line(5), StlProblem::NonFinite));
        let text = TEXT.replace("  endloop\n", "");
        assert_eq!(problem(text.as_bytes()), (StlPlace::Line(7), unexpected("endloop", "endfacet")));
        let (place, cut) = problem(&TEXT.as_bytes()[..60]);
        assert_eq!((place, cut), (StlPlace::Line(4), unexpected("a coordinate", "")));
    }
}
