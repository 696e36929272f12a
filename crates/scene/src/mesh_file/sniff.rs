//! Detection of mesh formats by content.

use std::path::Path;

use super::stl::announced_triangles;
use super::{MeshFormat, without_byte_order_mark};

/// As much of a file as is looked at for words.
const GLANCE: usize = 64 << 10;

/// Path ⇒ format of its extension.
pub(super) fn by_extension(path: &Path) -> Option<MeshFormat> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "obj" => Some(MeshFormat::Obj),
        "stl" => Some(MeshFormat::StlBinary),
        "gltf" => Some(MeshFormat::Gltf),
        "glb" => Some(MeshFormat::Glb),
        _ => None,
    }
}

/// Whether the two are variants of one format, which share an extension in practice.
pub(super) fn same_family(a: MeshFormat, b: MeshFormat) -> bool {
    let family = |format| match format {
        MeshFormat::Obj => 0,
        MeshFormat::StlBinary | MeshFormat::StlAscii => 1,
        MeshFormat::Gltf | MeshFormat::Glb => 2,
    };
    family(a) == family(b)
}

/// Bytes ⇒ format they are surely meant as.
pub(super) fn by_content(bytes: &[u8]) -> Option<MeshFormat> {
    if bytes.starts_with(b"glTF") {
        return Some(MeshFormat::Glb);
    }
    // 84 + 50 n bytes, with that very n in the header, is no coincidence.
    if announced_triangles(bytes).is_some_and(|n| n > 0 && 84 + 50 * u64::from(n) == bytes.len() as u64) {
        return Some(MeshFormat::StlBinary);
    }
    let glance = without_byte_order_mark(&bytes[..bytes.len().min(GLANCE)]);
    let text = glance.trim_ascii_start();
    if text.starts_with(b"{") {
        return Some(MeshFormat::Gltf);
    }
    if is_ascii_stl(bytes) {
        return Some(MeshFormat::StlAscii);
    }
    let mut lines = glance.split(|&byte| byte == b'\n' || byte == b'\r').map(<[u8]>::trim_ascii_start);
    let has_vertex = lines.any(|line| line.starts_with(b"v ") || line.starts_with(b"v\t"));
    (has_vertex && !glance.contains(&0)).then_some(MeshFormat::Obj)
}

/// Whether the bytes are an STL file in words. `solid` alone is no proof: binary headers start with it too.
pub(super) fn is_ascii_stl(bytes: &[u8]) -> bool {
    let glance = without_byte_order_mark(&bytes[..bytes.len().min(GLANCE)]).trim_ascii_start();
    let mut words = glance.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let starts_solid = words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    starts_solid
        && !glance.contains(&0)
        && words.any(|word| word.eq_ignore_ascii_case(b"facet") || word.eq_ignore_ascii_case(b"endsolid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_format() {
        assert_eq!(by_content(b"glTF\x02\0\0\0"), Some(MeshFormat::Glb));
        assert_eq!(by_content(b"  {\"asset\":{}}"), Some(MeshFormat::Gltf));
        assert_eq!(by_content(b"solid a\nfacet normal 0 0 1"), Some(MeshFormat::StlAscii));
        assert_eq!(by_content(b"# cube\r\nv 1 2 3\r\n"), Some(MeshFormat::Obj));
        assert_eq!(by_content(b"\xEF\xBB\xBFv 1 2 3"), Some(MeshFormat::Obj));
        assert_eq!(by_content(b"\x89PNG\r\n\x1a\n\0\0"), None);
        assert_eq!(by_content(b""), None);
    }
}
