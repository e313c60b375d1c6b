//! The counting pass: which values a table has, and how often each tuple of them occurs.
//!
//! Every worker numbers the values it meets and counts tuples of these numbers; so memory
//! follows the distinct tuples. At the end values are ranked, which makes the result
//! independent of which worker saw what.

mod tuples;
mod words;

use rayon::prelude::*;

use crate::error::Result;
use crate::table::counts::{Counts, Packing};
use crate::table::scan::tuples::Tuples;
use crate::table::scan::words::Words;
use crate::table::source::{Folded, Source};
use crate::table::{Code, ColumnId, Of};
use crate::watch::Watch;

/// What a counting pass finds out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The values of each column.
    pub dictionaries: Vec<Dictionary>,
    /// How often each tuple of values occurs; a value's code is its place in the
    /// dictionary.
    pub counts: Counts,
    /// How many rows the table has.
    pub n_rows: u64,
}

/// The values of a column in the order of their bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dictionary {
    /// The values.
    pub texts: Of<Code, Box<str>>,
    /// The first row with each value, from 1.
    pub first_rows: Of<Code, u64>,
    /// How many rows have each value.
    pub rows: Of<Code, u64>,
}

/// Counts the tuples over `columns`.
pub fn scan(source: &Source, columns: &[ColumnId], watch: &dyn Watch) -> Result<Scan> {
    let mut folded = source.fold(
        columns,
        || WorkerCounts::new(columns.len()),
        |tally, spot, cells| {
            for (words, cell) in tally.words.iter_mut().zip(cells) {
                tally.tuples.push(words.code(cell, spot));
            }
            tally.tuples.finish_row();
            Ok(())
        },
        watch,
    )?;
    folded.states.par_iter_mut().for_each(|tally| tally.tuples.flush());

    let ranked: Vec<(Dictionary, Vec<Ranks>)> = (0..columns.len())
        .into_par_iter()
        .map(|column| Dictionary::ranked(&folded, column))
        .collect();
    let (mut dictionaries, maps): (Vec<Dictionary>, Vec<_>) =
        ranked.into_iter().unzip();
    let n_rows = folded.n_rows;
    let tuples = folded.states.into_iter().map(|tally| tally.tuples).collect();
    let counts = merged(tuples, &dictionaries, &maps);
    dictionaries.par_iter_mut().zip(&counts.columns).for_each(|(dictionary, codes)| {
        for (code, n) in codes.iter().zip(&counts.rows) {
            dictionary.rows[*code] += n;
        }
    });
    Ok(Scan { dictionaries, counts, n_rows })
}

/// The rank of each value that a worker numbered as it came.
type Ranks = Of<Code, Code>;

/// What one worker has seen.
struct WorkerCounts {
    words: Vec<Words>,
    tuples: Tuples,
}

impl WorkerCounts {
    fn new(n_columns: usize) -> Self {
        let words = (0..n_columns).map(|_| Words::default()).collect();
        Self { words, tuples: Tuples::new(n_columns) }
    }
}

impl Dictionary {
    /// The values of a column over all workers, and each worker's codes as ranks.
    fn ranked(folded: &Folded<WorkerCounts>, column: usize) -> (Self, Vec<Ranks>) {
        let workers = || folded.states.iter().map(|tally| &tally.words[column]);
        let mut maps: Vec<Ranks> =
            workers().map(|words| Of::repeat(Code::default(), words.len())).collect();
        let mut all: Vec<(&str, u32, Code)> = Vec::new();
        for (worker, words) in workers().enumerate() {
            let codes = Code::first(words.len());
            all.extend(codes.map(|code| (words.text(code), worker as u32, code)));
        }
        all.par_sort_unstable();
        let mut dictionary =
            Self { texts: Of::new(), first_rows: Of::new(), rows: Of::new() };
        for (text, worker, code) in all {
            let spot = folded.states[worker as usize].words[column].spot(code);
            let row = folded.row_number(spot);
            let last = dictionary.texts.pairs().next_back();
            maps[worker as usize][code] = match last {
                Some((rank, last)) if **last == *text => {
                    let first = &mut dictionary.first_rows[rank];
                    *first = row.min(*first);
                    rank
                }
                _ => {
                    dictionary.first_rows.push(row);
                    dictionary.texts.push(text.into())
                }
            };
        }
        dictionary.rows = Of::repeat(0, dictionary.texts.len());
        (dictionary, maps)
    }
}

/// All workers' tuples, with ranks for codes; `maps` is by column, then by worker.
fn merged(
    tuples: Vec<Tuples>,
    dictionaries: &[Dictionary],
    maps: &[Vec<Ranks>],
) -> Counts {
    let sizes: Vec<usize> =
        dictionaries.iter().map(|found| found.texts.len()).collect();
    if let Some(packing) = Packing::of(&sizes) {
        let total = tuples.iter().map(Tuples::len).sum();
        let mut keyed = Vec::with_capacity(total);
        for (worker, tuples) in tuples.into_iter().enumerate() {
            let ranks: Vec<&Ranks> = maps.iter().map(|maps| &maps[worker]).collect();
            let key = |codes: &[Code]| {
                let rank = |(code, ranks): (&Code, &&Ranks)| ranks[*code];
                packing.key(codes.iter().zip(&ranks).map(rank))
            };
            let tuples = &tuples;
            keyed.par_extend(
                (0..tuples.len())
                    .into_par_iter()
                    .map(|place| (key(tuples.codes(place)), tuples.rows(place))),
            );
        }
        return Counts::from_keyed(keyed, &packing);
    }
    let mut columns: Vec<Vec<Code>> = vec![Vec::new(); maps.len()];
    columns.par_iter_mut().zip(maps).enumerate().for_each(|(place, (column, maps))| {
        for (tuples, ranks) in tuples.iter().zip(maps) {
            let rank = |tuple| ranks[tuples.codes(tuple)[place]];
            column.extend((0..tuples.len()).map(rank));
        }
    });
    let all = tuples.iter();
    let rows = all.flat_map(|tuples| (0..tuples.len()).map(|place| tuples.rows(place)));
    let rows = rows.collect();
    Counts::merged(columns, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;
    use crate::watch::Unwatched;

    #[test]
    fn values_are_ranked_and_tuples_counted() {
        let text = b"x,y,z\nb,1,?\na,2,?\nb,1,?\n,2,?\n".to_vec();
        let source = Source::from_bytes("t", text, &ReadOptions::default()).unwrap();
        let columns = ["x", "y"].map(|name| source.column(name).unwrap());
        let found = scan(&source, &columns, &Unwatched).unwrap();
        let texts: Vec<&str> =
            found.dictionaries[0].texts.iter().map(|text| &**text).collect();
        assert_eq!(texts, ["", "a", "b"]);
        assert_eq!(*found.dictionaries[0].first_rows, [4, 2, 1]);
        assert_eq!(*found.dictionaries[0].rows, [1, 1, 2]);
        assert_eq!(found.counts.columns, [[0, 1, 2], [1, 1, 0]].map(Code::of));
        assert_eq!(found.counts.rows, [1, 1, 2]);
        assert_eq!(found.n_rows, 4);
    }

    #[test]
    fn no_column_is_one_tuple() {
        let source =
            Source::from_bytes("t", b"x\n1\n2\n".to_vec(), &ReadOptions::default());
        let found = scan(&source.unwrap(), &[], &Unwatched).unwrap();
        assert_eq!(found.counts.rows, [2]);
    }
}
