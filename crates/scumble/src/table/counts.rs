//! How often each distinct tuple occurs.

/// Distinct tuples of codes in ascending order, and how many rows have each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// For each column, the code of every tuple.
    pub columns: Vec<Vec<u32>>,
    /// How many rows have the tuple.
    pub rows: Vec<u64>,
}

impl Counts {
    /// Sorts tuples and adds up those that are equal.
    pub fn merged(columns: Vec<Vec<u32>>, rows: Vec<u64>) -> Self {
        match packing(&columns) {
            Some(strides) => Self::merged_by_key(columns, rows, &strides),
            None => Self::merged_by_tuple(columns, rows),
        }
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
    pub fn recoded(self, maps: &[Vec<u32>]) -> Self {
        let mut columns = self.columns;
        for (column, map) in columns.iter_mut().zip(maps) {
            for code in column {
                *code = map[*code as usize];
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

    /// A tuple packed into one number keeps its order; the sort then moves 16 bytes.
    fn merged_by_key(columns: Vec<Vec<u32>>, rows: Vec<u64>, strides: &[u64]) -> Self {
        let mut keyed: Vec<(u64, u64)> = rows.into_iter().map(|n| (0, n)).collect();
        for (column, stride) in columns.iter().zip(strides) {
            for (entry, code) in keyed.iter_mut().zip(column) {
                entry.0 += u64::from(*code) * stride;
            }
        }
        drop(columns);
        if !keyed.is_sorted_by_key(|entry| entry.0) {
            keyed.sort_unstable_by_key(|entry| entry.0);
        }
        keyed.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let mut columns: Vec<Vec<u32>> = Vec::with_capacity(strides.len());
        for (place, stride) in strides.iter().enumerate() {
            let above = place.checked_sub(1).map(|place| strides[place]);
            let code = |key: u64| above.map_or(key, |above| key % above) / stride;
            columns.push(keyed.iter().map(|entry| code(entry.0) as u32).collect());
        }
        Self { columns, rows: keyed.into_iter().map(|entry| entry.1).collect() }
    }

    fn merged_by_tuple(columns: Vec<Vec<u32>>, rows: Vec<u64>) -> Self {
        let tuple = |place: usize| columns.iter().map(move |column| column[place]);
        let mut places: Vec<usize> = (0..rows.len()).collect();
        places.sort_unstable_by(|a, b| tuple(*a).cmp(tuple(*b)));
        let mut merged =
            Self { columns: vec![Vec::new(); columns.len()], rows: vec![] };
        let mut last: Option<usize> = None;
        for place in places {
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

/// The place value of each column if a whole tuple fits in 64 bits, first column highest.
fn packing(columns: &[Vec<u32>]) -> Option<Vec<u64>> {
    let mut strides = vec![1; columns.len()];
    let mut space: u64 = 1;
    for (column, stride) in columns.iter().zip(&mut strides).rev() {
        *stride = space;
        let size = u64::from(column.iter().copied().max().unwrap_or(0)) + 1;
        space = space.checked_mul(size)?;
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tuples_are_added_up_in_order() {
        let columns = vec![vec![1, 0, 1, 0], vec![2, 5, 2, 4]];
        let expected =
            Counts { columns: vec![vec![0, 0, 1], vec![4, 5, 2]], rows: vec![1, 1, 8] };
        assert_eq!(Counts::merged(columns.clone(), vec![3, 1, 5, 1]), expected);
        assert_eq!(Counts::merged_by_tuple(columns, vec![3, 1, 5, 1]), expected);
    }

    #[test]
    fn tuples_beyond_64_bits_are_counted_too() {
        let columns = vec![vec![u32::MAX - 1, 7, u32::MAX - 1]; 3];
        let counts = Counts::merged(columns, vec![1, 1, 1]);
        assert_eq!(counts.rows, [1, 2]);
        assert_eq!(counts.columns[2], [7, u32::MAX - 1]);
    }

    #[test]
    fn a_table_without_columns_is_one_tuple() {
        assert_eq!(Counts::merged(vec![], vec![1, 1]).rows, [2]);
    }
}
