//! Rows that one part of a release leaves out, and that no other part sees.

use crate::table::RowPlace;

/// Rows of a table that whoever reads it does not see.
#[derive(Debug, Default)]
pub struct LeftOutRows {
    /// For each block the places of its rows, ascending.
    of_block: Vec<Vec<u32>>,
}

impl LeftOutRows {
    /// The rows at these places.
    pub fn new(places: impl IntoIterator<Item = RowPlace>) -> Self {
        let mut of_block: Vec<Vec<u32>> = Vec::new();
        for RowPlace { block, row } in places {
            let block = block as usize;
            if of_block.len() <= block {
                of_block.resize(block + 1, Vec::new());
            }
            of_block[block].push(row);
        }
        for rows in &mut of_block {
            rows.sort_unstable();
        }
        Self { of_block }
    }

    /// The rows with these numbers, from 0, of a table with so many rows before each block.
    pub fn numbered(rows: impl Iterator<Item = u64>, block_starts: &[u64]) -> Self {
        Self::new(rows.map(|number| {
            let block = block_starts.partition_point(|start| *start <= number) - 1;
            RowPlace { block: block as u32, row: (number - block_starts[block]) as u32 }
        }))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.of_block.iter().all(Vec::is_empty)
    }

    /// Whether the row at this place is one of them.
    pub(super) fn contains(&self, place: RowPlace) -> bool {
        let rows = self.of_block.get(place.block as usize);
        rows.is_some_and(|rows| rows.binary_search(&place.row).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_block_and_place() {
        // An empty block starts where the next one does.
        let left_out = LeftOutRows::numbered([7, 0, 3].into_iter(), &[0, 3, 3, 6]);
        let mut found = Vec::new();
        for (block, start) in [(0, 0), (1, 3), (2, 3), (3, 6)] {
            for row in 0..3 {
                if left_out.contains(RowPlace { block, row }) {
                    found.push(start + u64::from(row));
                }
            }
        }
        assert_eq!(found, [0, 3, 7]);
        assert!(!left_out.is_empty() && LeftOutRows::default().is_empty());
    }
}
