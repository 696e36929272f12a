//! Typed views into glTF buffers, read in place: nothing is copied or allocated by what the file claims.
//!
//! Element i of an accessor is the `size` bytes at offset + i · stride of its buffer view, unless a sparse list
//! replaces it; without a buffer view it is zero. All bounds are checked once, when the view is opened.

use std::borrow::Cow;

use glam::DVec3;

use super::document::{Accessor, Document};
use super::{GltfProblem, MeshFileError, get, wrong};

/// The accessors of a document, over its buffers.
pub(super) struct Accessors<'a> {
    document: &'a Document,
    buffers: &'a [Cow<'a, [u8]>],
}

/// Vertex positions.
pub(super) struct Positions<'a> {
    elements: Elements<'a>,
    component: Component,
    normalized: bool,
}

/// Vertex indices.
pub(super) struct Indices<'a> {
    elements: Elements<'a>,
}

impl<'a> Accessors<'a> {
    pub(super) fn new(document: &'a Document, buffers: &'a [Cow<'a, [u8]>]) -> Self {
        Self { document, buffers }
    }

    /// Accessor number ⇒ positions; integers are allowed as in KHR_mesh_quantization.
    pub(super) fn positions(&self, index: usize) -> Result<Positions<'a>, MeshFileError> {
        let place = format!("accessors[{index}]");
        let accessor = get(&self.document.accessors, "accessors", index, &place)?;
        let component =
            Component::of(accessor.component_type).filter(|&component| component != Component::U32);
        let Some(component) = component.filter(|_| accessor.element_type == "VEC3") else {
            let problem = GltfProblem::Invalid("positions must be VEC3 of floats, bytes or shorts");
            return Err(wrong(place, problem));
        };
        let elements = self.elements(&place, accessor, 3 * component.size())?;
        Ok(Positions { elements, component, normalized: accessor.normalized })
    }

    /// Accessor number ⇒ indices.
    pub(super) fn indices(&self, index: usize) -> Result<Indices<'a>, MeshFileError> {
        let place = format!("accessors[{index}]");
        let accessor = get(&self.document.accessors, "accessors", index, &place)?;
        let component = Component::of(accessor.component_type).filter(|component| component.is_unsigned());
        let Some(component) = component.filter(|_| accessor.element_type == "SCALAR") else {
            let problem = GltfProblem::Invalid("indices must be SCALAR of unsigned bytes, shorts or ints");
            return Err(wrong(place, problem));
        };
        let elements = self.elements(&place, accessor, component.size())?;
        Ok(Indices { elements })
    }

    fn elements(&self, place: &str, accessor: &Accessor, size: usize) -> Result<Elements<'a>, MeshFileError> {
        let count = accessor.count;
        let base = match accessor.buffer_view {
            Some(view) => Some(self.open(place, view, accessor.byte_offset, count, size)?),
            None => None,
        };
        let mut sparse = None;
        if let Some(description) = &accessor.sparse {
            let invalid = |what| wrong(place, GltfProblem::Invalid(what));
            let index_component = Component::of(description.indices.component_type)
                .filter(|component| component.is_unsigned())
                .ok_or_else(|| invalid("sparse indices must be unsigned bytes, shorts or ints"))?;
            let (indices, values) = (&description.indices, &description.values);
            let index_size = index_component.size();
            let indices =
                self.open(place, indices.buffer_view, indices.byte_offset, description.count, index_size)?;
            let values = self.open(place, values.buffer_view, values.byte_offset, description.count, size)?;
            let places: Vec<u32> = (0..indices.count).map(|i| unsigned(indices.element(i))).collect();
            if !places.is_sorted_by(|a, b| a < b)
                || places.last().is_some_and(|&last| u64::from(last) >= count)
            {
                return Err(invalid(
                    "sparse indices must increase strictly and stay below the accessor's count",
                ));
            }
            sparse = Some((places, values));
        }
        let count =
            usize::try_from(count).map_err(|_| wrong(place, GltfProblem::Invalid("count is too large")))?;
        Ok(Elements { base, sparse, count })
    }

    /// Part of a buffer view ⇒ strided elements, all of them inside it.
    fn open(
        &self,
        place: &str,
        view_index: usize,
        offset: u64,
        count: u64,
        size: usize,
    ) -> Result<Strided<'a>, MeshFileError> {
        let view = get(&self.document.buffer_views, "bufferViews", view_index, place)?;
        let view_place = || format!("bufferViews[{view_index}]");
        let buffer = get(self.buffers, "buffers", view.buffer, &view_place())?;
        let bytes = slice(buffer, view.byte_offset, view.byte_length, "the buffer view")
            .map_err(|problem| wrong(view_place(), problem))?;
        let stride = view.byte_stride.unwrap_or(size as u64);
        if stride < size as u64 {
            let problem = GltfProblem::Invalid("the view's byteStride is less than the size of an element");
            return Err(wrong(place, problem));
        }
        let length = match count {
            0 => 0,
            _ => (count - 1).saturating_mul(stride).saturating_add(size as u64),
        };
        let bytes = slice(bytes, offset, length, "the accessor").map_err(|problem| wrong(place, problem))?;
        // Both fit: count · stride is within the slice, or the stride is never used.
        Ok(Strided { bytes, stride: stride as usize, size, count: count as usize })
    }
}

/// Bytes from `offset` on, `length` of them.
fn slice<'a>(bytes: &'a [u8], offset: u64, length: u64, what: &'static str) -> Result<&'a [u8], GltfProblem> {
    let available = bytes.len() as u64;
    let end = offset.saturating_add(length);
    if end > available {
        return Err(GltfProblem::OutOfBounds { what, end, available });
    }
    Ok(&bytes[offset as usize..end as usize])
}

/// Elements of `size` bytes, `stride` apart; all `count` are inside `bytes`.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
    size: usize,
    count: usize,
}

impl<'a> Strided<'a> {
    fn element(&self, index: usize) -> &'a [u8] {
        let start = index * self.stride;
        &self.bytes[start..start + self.size]
    }
}

/// Elements of an accessor with its sparse replacements.
struct Elements<'a> {
    base: Option<Strided<'a>>,
    /// Indices in increasing order, and the values there.
    sparse: Option<(Vec<u32>, Strided<'a>)>,
    count: usize,
}

impl<'a> Elements<'a> {
    /// Bytes of element `index < count`; empty if it is zero.
    fn element(&self, index: usize) -> &'a [u8] {
        if let Some((places, values)) = &self.sparse
            && let Ok(found) = places.binary_search(&(index as u32))
        {
            return values.element(found);
        }
        self.base.as_ref().map_or(&[], |base| base.element(index))
    }

    fn sparse_count(&self) -> usize {
        self.sparse.as_ref().map_or(0, |(places, _)| places.len())
    }
}

impl Positions<'_> {
    pub(super) fn count(&self) -> usize {
        self.elements.count
    }

    /// How many elements the sparse list replaces.
    pub(super) fn sparse_count(&self) -> usize {
        self.elements.sparse_count()
    }

    /// Vertex number ⇒ point, if there is one.
    pub(super) fn get(&self, index: usize) -> Option<DVec3> {
        if index >= self.elements.count {
            return None;
        }
        let mut point = DVec3::ZERO;
        for (axis, bytes) in
            self.elements.element(index).chunks_exact(self.component.size()).enumerate().take(3)
        {
            point[axis] = self.component.real(bytes, self.normalized);
        }
        Some(point)
    }
}

impl Indices<'_> {
    pub(super) fn count(&self) -> usize {
        self.elements.count
    }

    /// How many elements the sparse list replaces.
    pub(super) fn sparse_count(&self) -> usize {
        self.elements.sparse_count()
    }

    /// Place `< count` ⇒ vertex number.
    pub(super) fn get(&self, place: usize) -> u32 {
        unsigned(self.elements.element(place))
    }
}

/// The number types of glTF.
#[derive(Clone, Copy, PartialEq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(component_type: u32) -> Option<Self> {
        match component_type {
            5120 => Some(Self::I8),
            5121 => Some(Self::U8),
            5122 => Some(Self::I16),
            5123 => Some(Self::U16),
            5125 => Some(Self::U32),
            5126 => Some(Self::F32),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32)
    }

    /// `size` little-endian bytes ⇒ number; normalised integers span [0, 1] or [−1, 1].
    fn real(self, bytes: &[u8], normalized: bool) -> f64 {
        let unsigned = unsigned(bytes);
        let (value, full) = match self {
            Self::I8 => (f64::from((unsigned as u8).cast_signed()), 127.0),
            Self::U8 => (f64::from(unsigned), 255.0),
            Self::I16 => (f64::from((unsigned as u16).cast_signed()), 32767.0),
            Self::U16 => (f64::from(unsigned), 65535.0),
            Self::U32 => (f64::from(unsigned), f64::from(u32::MAX)),
            Self::F32 => return f64::from(f32::from_bits(unsigned)),
        };
        if normalized { (value / full).max(-1.0) } else { value }
    }
}

/// Little-endian bytes ⇒ integer; none are 0.
fn unsigned(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &byte| (value << 8) | u32::from(byte))
}
