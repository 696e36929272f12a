//! Where a glTF file keeps its bytes: the binary chunk of a GLB, `data:` URIs, or files in the same folder.
//!
//! A GLB is "glTF", version and total length, then chunks of (length, kind, bytes); the first is the JSON, the second
//! may be the binary chunk. All integers are 32 bits, little-endian.

use std::borrow::Cow;
use std::path::{Component, Path};

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

use super::super::{MeshFileError, MeshLimits, check_size, read_file};
use super::document::{Buffer, Document};
use super::{GltfProblem, wrong};

/// Padding or not, we can read it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The JSON chunk, and the binary chunk if there is one.
type Chunks<'a> = (&'a [u8], Option<&'a [u8]>);

/// Bytes ⇒ chunks, or nothing if they are not a GLB.
pub(super) fn split_glb(bytes: &[u8]) -> Result<Option<Chunks<'_>>, MeshFileError> {
    let Some(rest) = bytes.strip_prefix(b"glTF") else { return Ok(None) };
    let broken = |what| wrong("container", GltfProblem::Container(what));
    let (version, rest) = split_u32(rest).ok_or(broken("the file ends inside its header"))?;
    let (length, rest) = split_u32(rest).ok_or(broken("the file ends inside its header"))?;
    if version != 2 {
        return Err(wrong("container", GltfProblem::Unsupported(format!("version {version}"))));
    }
    // Bytes beyond the stated length are not part of the file.
    let length =
        (length as usize).checked_sub(12).ok_or(broken("the stated length is less than the header's"))?;
    let rest = rest.get(..length).ok_or(broken("the file is shorter than the length in its header"))?;
    let cut = broken("the file ends inside a chunk");
    let Some((kind, json, rest)) = split_chunk(rest) else { return Err(cut) };
    if kind != *b"JSON" {
        return Err(broken("the first chunk is not JSON"));
    }
    if rest.is_empty() {
        return Ok(Some((json, None)));
    }
    let Some((kind, data, _)) = split_chunk(rest) else { return Err(cut) };
    Ok(Some((json, (kind == *b"BIN\0").then_some(data))))
}

fn split_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*head), rest))
}

/// Bytes ⇒ kind and content of the first chunk, and what follows it.
fn split_chunk(bytes: &[u8]) -> Option<([u8; 4], &[u8], &[u8])> {
    let (length, rest) = split_u32(bytes)?;
    let (kind, rest) = rest.split_first_chunk::<4>()?;
    let (content, rest) = rest.split_at_checked(length as usize)?;
    Some((*kind, content, rest))
}

/// Document ⇒ content of each of its buffers, with the length that the document gives.
pub(super) fn load<'a>(
    document: &Document,
    binary_chunk: Option<&'a [u8]>,
    folder: Option<&Path>,
    limits: &MeshLimits,
) -> Result<Vec<Cow<'a, [u8]>>, MeshFileError> {
    let mut buffers = Vec::with_capacity(document.buffers.len());
    let mut bytes_left = limits.max_file_bytes;
    for (index, buffer) in document.buffers.iter().enumerate() {
        let place = format!("buffers[{index}]");
        let mut content = match (&buffer.uri, binary_chunk) {
            (Some(uri), _) => Cow::Owned(resolve(uri, &place, folder, bytes_left)?),
            (None, Some(chunk)) if index == 0 => Cow::Borrowed(chunk),
            (None, _) => {
                let problem =
                    GltfProblem::Invalid("a buffer without uri must be the first of a GLB with binary chunk");
                return Err(wrong(place, problem));
            }
        };
        cut_to_length(&mut content, buffer).map_err(|problem| wrong(&place, problem))?;
        bytes_left = bytes_left.saturating_sub(content.len() as u64);
        buffers.push(content);
    }
    Ok(buffers)
}

fn cut_to_length(content: &mut Cow<'_, [u8]>, buffer: &Buffer) -> Result<(), GltfProblem> {
    let available = content.len() as u64;
    if buffer.byte_length > available {
        return Err(GltfProblem::OutOfBounds { what: "the buffer", end: buffer.byte_length, available });
    }
    match content {
        Cow::Borrowed(bytes) => *bytes = &bytes[..buffer.byte_length as usize],
        Cow::Owned(bytes) => bytes.truncate(buffer.byte_length as usize),
    }
    Ok(())
}

/// URI ⇒ bytes.
fn resolve(uri: &str, place: &str, folder: Option<&Path>, max_bytes: u64) -> Result<Vec<u8>, MeshFileError> {
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, encoded)) = data.split_once(";base64,") else {
            return Err(wrong(place, GltfProblem::Unsupported("a data: URI that is not base64".to_owned())));
        };
        check_size("bytes in buffers", encoded.len() as u64 / 4 * 3, max_bytes)?;
        let decoded = BASE64.decode(encoded);
        return decoded.map_err(|_| wrong(place, GltfProblem::Invalid("the data: URI is not valid base64")));
    }
    let outside = || wrong(place, GltfProblem::OutsideFolder(uri.chars().take(100).collect()));
    let name = percent_decode_str(uri).decode_utf8().map_err(|_| outside())?;
    // A colon is a scheme or a drive, a backslash another system's way out.
    let leads_inside =
        Path::new(&*name).components().all(|component| matches!(component, Component::Normal(_)));
    if name.is_empty() || name.contains([':', '\\', '\0']) || !leads_inside {
        return Err(outside());
    }
    let Some(folder) = folder else { return Err(outside()) };
    // An empty parent is the current folder.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let unreadable = |reason: String| {
        wrong(place, GltfProblem::BufferFile { uri: uri.chars().take(100).collect(), reason })
    };
    // Links are followed before the last check, as they may lead anywhere.
    let real_folder = folder.canonicalize().map_err(|error| unreadable(error.to_string()))?;
    let real_path = folder.join(&*name).canonicalize().map_err(|error| unreadable(error.to_string()))?;
    if !real_path.starts_with(&real_folder) {
        return Err(outside());
    }
    read_file(&real_path, max_bytes).map_err(|error| match error {
        MeshFileError::Io { source, .. } => unreadable(source.to_string()),
        other => other,
    })
}
