//! Places as types, so that one thing's cannot be used for another's.

/// The place of a column in the header of the [`Source`](crate::table::Source) that gave it,
/// which alone can make one: whoever has it need not look the column up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(u32);

impl ColumnId {
    /// Nobody but a source knows that there is such a column.
    pub(super) fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// The place, from 0, in the order of the header.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
