//! How often each distinct tuple occurs.

use rayon::prelude::*;

use crate::table::{Code, Of};

/// Distinct tuples of codes in ascending order, and how many rows have each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// For each column, the code of every tuple.
    pub columns: Vec<Vec<Code>>,
    /// How many rows have the tuple.
    pub rows: Vec<u64>,
}

impl Counts {
    /// Sorts tuples and adds up those that are equal.
    pub fn merged(columns: Vec<Vec<Code>>, rows: Vec<u64>) -> Self {
        let sizes: Vec<usize> =
            columns.par_iter().map(|codes| size_of(codes)).collect();
        let Some(packing) = Packing::of(&sizes) else {
            return Self::merged_by_tuple(columns, rows, &sizes);
        };
        let mut keyed: Vec<(u64, u64)> = rows.into_iter().map(|n| (0, n)).collect();
        for (column, shift) in columns.iter().zip(&packing.shifts) {
            for (entry, code) in keyed.iter_mut().zip(column) {
                entry.0 |= u64::from(code.get()) << shift;
            }
        }
        drop(columns);
        Self::from_keyed(keyed, &packing)
    }

    /// The same for tuples that are packed already, each with its rows.
    pub(super) fn from_keyed(mut keyed: Vec<(u64, u64)>, packing: &Packing) -> Self {
        if !keyed.is_sorted_by_key(|entry| entry.0) {
            keyed.par_sort_unstable_by_key(|entry| entry.0);
        }
        keyed.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let columns = packing.shifts.par_iter().zip(&packing.masks);
        let columns = columns.map(|(shift, mask)| {
            keyed
                .iter()
                .map(|entry| Code::new(((entry.0 >> shift) & mask) as u32))
                .collect()
        });
        let columns = columns.collect();
        Self { columns, rows: keyed.into_iter().map(|entry| entry.1).collect() }
    }

    /// How many distinct tuples there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    /// Replaces every code of column `i` by `maps[i][code]` and merges what falls
    /// together.
    #[must_use]
    pub fn recoded(self, maps: &[Of<Code, Code>]) -> Self {
        let mut columns = self.columns;
        for (column, map) in columns.iter_mut().zip(maps) {
            for code in column {
                *code = map[*code];
            }
        }
        Self::merged(columns, self.rows)
    }

    /// The columns at `places`, with tuples that fall together merged.
    #[must_use]
    pub fn projected(&self, places: &[usize]) -> Self {
        let columns = places.iter().map(|place| self.columns[*place].clone()).collect();
        Self::merged(columns, self.rows.clone())
    }

    /// For tuples too wide for one number: as many columns as fit decide first.
    fn merged_by_tuple(
        columns: Vec<Vec<Code>>,
        rows: Vec<u64>,
        sizes: &[usize],
    ) -> Self {
        let n_packed = (0..=sizes.len())
            .rev()
            .find_map(|n| Packing::of(&sizes[..n]).map(|packing| (n, packing)));
        let (n_packed, packing) = n_packed.unwrap_or_default();
        let tuple = |place: usize| columns.iter().map(move |column| column[place]);
        let mut places: Vec<(u64, usize)> = (0..rows.len())
            .into_par_iter()
            .map(|place| (packing.key(tuple(place).take(n_packed)), place))
            .collect();
        places.par_sort_unstable_by(|(a_key, a), (b_key, b)| {
            let rest = |place| tuple(place).skip(n_packed);
            a_key.cmp(b_key).then_with(|| rest(*a).cmp(rest(*b)))
        });
        let mut merged =
            Self { columns: vec![Vec::new(); columns.len()], rows: vec![] };
        let mut last: Option<usize> = None;
        for (_, place) in places {
            match (last, merged.rows.last_mut()) {
                (Some(last), Some(n)) if tuple(last).eq(tuple(place)) => {
                    *n += rows[place];
                }
                _ => {
                    for (column, code) in merged.columns.iter_mut().zip(tuple(place)) {
                        column.push(code);
                    }
                    merged.rows.push(rows[place]);
                    last = Some(place);
                }
            }
        }
        merged
    }
}

/// How many codes a column needs at least.
fn size_of(codes: &[Code]) -> usize {
    codes.iter().max().map_or(0, |code| code.next().index())
}

/// How a tuple fits into one number, first column highest, so that it keeps its order.
///
/// Columns take whole bits: shifting is many times faster than dividing.
#[derive(Debug, Default)]
pub(super) struct Packing {
    shifts: Vec<u32>,
    masks: Vec<u64>,
}

impl Packing {
    /// The packing of columns with these many codes, unless that takes over 64 bits.
    pub(super) fn of(sizes: &[usize]) -> Option<Self> {
        let mut packing = Self { shifts: vec![0; sizes.len()], masks: Vec::new() };
        let mut used = 0;
        for (size, shift) in sizes.iter().zip(&mut packing.shifts).rev() {
            let bits = usize::BITS - size.saturating_sub(1).leading_zeros();
            // A column without bits may stand anywhere, but a shift by 64 is none.
            *shift = used.min(63);
            packing.masks.push((1 << bits.min(63)) - 1);
            used += bits;
        }
        packing.masks.reverse();
        (used <= u64::BITS).then_some(packing)
    }

    /// A tuple as one number.
    #[inline]
    pub(super) fn key(&self, codes: impl Iterator<Item = Code>) -> u64 {
        let shifted =
            codes.zip(&self.shifts).map(|(code, shift)| u64::from(code.get()) << shift);
        shifted.fold(0, |key, part| key | part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tuples_are_added_up_in_order() {
        let columns = vec![Code::of([1, 0, 1, 0]), Code::of([2, 5, 2, 4])];
        let merged = vec![Code::of([0, 0, 1]), Code::of([4, 5, 2])];
        let expected = Counts { columns: merged, rows: vec![1, 1, 8] };
        assert_eq!(Counts::merged(columns.clone(), vec![3, 1, 5, 1]), expected);
        for sizes in [[2, 6], [1 << 40, 1 << 40]] {
            let columns = columns.clone();
            let counts = Counts::merged_by_tuple(columns, vec![3, 1, 5, 1], &sizes);
            assert_eq!(counts, expected);
        }
    }

    #[test]
    fn tuples_beyond_64_bits_are_counted_too() {
        let columns = vec![Code::of([u32::MAX - 1, 7, u32::MAX - 1]); 3];
        let counts = Counts::merged(columns, vec![1, 1, 1]);
        assert_eq!(counts.rows, [1, 2]);
        assert_eq!(counts.columns[2], Code::of([7, u32::MAX - 1]));
    }

    #[test]
    fn a_table_without_columns_is_one_tuple() {
        assert_eq!(Counts::merged(vec![], vec![1, 1]).rows, [2]);
    }
}
