//! Columns that are published as they are, and single nearly everybody out.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};

use crate::error::Result;
use crate::recipe::Spec;
use crate::table::{ColumnId, Role, RowPlace, Source};
use crate::watch::Watch;

/// Of fewer rows nothing is said: nearly everything is unique in a small table.
const LEAST: usize = 50;

/// What a worker saw of a column: checksums of its texts, and those of the block it is in.
#[derive(Default)]
struct Seen {
    texts: Vec<u64>,
    block: Option<u32>,
    in_block: HashSet<u64>,
    rows_in_block: usize,
    /// Whether a block has too many texts more than once, so that nobody looks further.
    is_common: bool,
}

impl Seen {
    fn add(&mut self, place: RowPlace, text: u64) {
        if self.is_common {
            return;
        }
        if self.block != Some(place.block) {
            self.end_block();
            self.block = Some(place.block);
        }
        self.rows_in_block += 1;
        self.in_block.insert(text);
        self.texts.push(text);
        // A common column is soon found out, and forgotten.
        if self.rows_in_block.is_multiple_of(1024) {
            self.look();
        }
    }

    fn look(&mut self) {
        let rows = self.rows_in_block;
        if rows >= LEAST && self.in_block.len() * 10 < rows * 9 {
            self.is_common = true;
            self.texts = Vec::new();
        }
    }

    fn end_block(&mut self) {
        self.look();
        self.in_block.clear();
        self.rows_in_block = 0;
    }
}

/// What a steward must know of columns with the role `other` of which at least nine tenths of
/// the rows have a text of their own. One pass.
pub(super) fn warnings(
    spec: &Spec,
    source: &Source,
    watch: &dyn Watch,
) -> Result<Vec<String>> {
    let others = spec.columns.iter().filter(|column| column.role == Role::Other);
    let names: Vec<&str> = others.map(|column| column.name.as_str()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let columns: Vec<ColumnId> =
        names.iter().map(|name| source.column(name)).collect::<Result<_>>()?;
    let missing = &spec.input.missing;
    let hasher = DefaultHashBuilder::default();
    let folded = source.fold(
        &columns,
        || columns.iter().map(|_| Seen::default()).collect::<Vec<Seen>>(),
        |seen, place, cells| {
            for (seen, cell) in seen.iter_mut().zip(cells) {
                if !missing.iter().any(|text| text == cell) {
                    let mut state = hasher.build_hasher();
                    state.write(cell.as_bytes());
                    seen.add(place, state.finish());
                }
            }
            Ok(())
        },
        watch,
    )?;
    let mut workers = folded.states;
    let mut warnings = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        let mut seen: Vec<&mut Seen> =
            workers.iter_mut().map(|worker| &mut worker[number]).collect();
        seen.iter_mut().for_each(|seen| seen.end_block());
        if seen.iter().any(|seen| seen.is_common) {
            continue;
        }
        let mut rows: HashMap<u64, u64> = HashMap::new();
        for text in seen.iter().flat_map(|seen| &seen.texts) {
            *rows.entry(*text).or_default() += 1;
        }
        let known: u64 = rows.values().sum();
        let alone = rows.values().filter(|rows| **rows == 1).count() as u64;
        if known >= LEAST as u64 && alone * 10 >= known * 9 {
            warnings.push(format!(
                "`{name}` is `other`, so it is published as it is, and {alone} of {known} rows have \
                 a value there that no other has: whoever knows it finds the row. `drop` it \
                 unless nobody can know it, or make it `quasi`"
            ));
        }
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;
    use crate::watch::Unwatched;

    #[test]
    fn a_column_with_a_value_for_everybody_is_named() {
        let row = |row: usize| {
            let note =
                if row.is_multiple_of(9) { String::new() } else { format!("n{row}") };
            format!("{},{},{note},{}\n", row % 3, row / 2, row.max(5))
        };
        let text: String = (0..3000).map(row).collect();
        let recipe = "input.table = \"t.csv\"\n[columns]\nage = \"quasi\"\npair = \"other\"\n\
             note = \"other\"\nid = \"other\"\npromise.k-anonymity = 2\n";
        let recipe =
            recipe.replace("promise.k-anonymity = 2", "[promise]\nk-anonymity = 2");
        let spec = Spec::parse(&recipe, "r.toml").unwrap();
        for block_bytes in [200, 5_000, 1 << 20] {
            let options = ReadOptions {
                block_bytes: Some(block_bytes),
                ..ReadOptions::default()
            };
            let bytes = format!("age,pair,note,id\n{text}").into_bytes();
            let source = Source::from_bytes("t.csv", bytes, &options).unwrap();
            let told = warnings(&spec, &source, &Unwatched).unwrap();
            assert_eq!(told.len(), 2, "{told:?}");
            assert!(told[0].starts_with("`note` is `other`"), "{told:?}");
            assert!(told[0].contains("2666 of 2666 rows"), "{told:?}");
            assert!(told[1].contains("2994 of 3000 rows"), "{told:?}");
        }
    }
}
