//! Links of wide box trees: a child of a four-fold node, packed into 32 bits.

/// A child: a node, a leaf with a payload of 31 bits, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u32);

const LEAF: u32 = 1 << 31;

impl Link {
    /// No child. It is a leaf for [`Self::as_node`].
    pub const NOTHING: Self = Self(u32::MAX);

    #[inline(always)]
    pub fn node(node: u32) -> Self {
        Self(node)
    }

    /// What a payload means is up to the tree; not all 31 bits may be set.
    #[inline(always)]
    pub fn leaf(payload: u32) -> Self {
        Self(LEAF | payload)
    }

    /// The number that `from_bits` takes.
    #[inline(always)]
    pub fn bits(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Index of a node; none for a leaf or an empty lane.
    #[inline(always)]
    pub fn as_node(self) -> Option<u32> {
        (self.0 & LEAF == 0).then_some(self.0)
    }

    /// Payload of a leaf; for leaves only.
    #[inline(always)]
    pub fn payload(self) -> u32 {
        self.0 & !LEAF
    }
}
