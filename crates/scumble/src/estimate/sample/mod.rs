//! Whole tables drawn from a release, for ordinary tools: multiple imputation.
//!
//! # Guarantee
//! A drawn table has the columns and as many rows as the table behind the release, and what
//! was published as it is stays so. Everything else is drawn from what the release says of
//! it, by the models of `estimate`: a cell from its distribution (`cells.rs`), values by group
//! in an arrangement that is as likely as any other, or as likely as the groups teach
//! (`../evidence/taught.rs`), a randomized value from its posterior
//! (`noise.rs`), a blurred number from the noise around it, cut to its domain
//! (`../laws/numbers/drawn.rs`). So the mean of a count over draws is what `estimate` answers, and
//! the variance between draws is the square of its standard error.
//!
//! The same release and seed give the same table, whatever the threads: every block of rows,
//! group or stratum has a random stream of its own.
//!
//! # Limits
//! Those of the models, and one more: what a randomized value depends on is found in the
//! data (`strata.rs`), and weak dependence is not found. Cells whose values the release does
//! not say are kept as they are published ([`Evidence::undrawn`]). Where rows are a sample,
//! one of each group, the rows of a group share what was published for one of them, and the
//! variance between draws is smaller than the error of `estimate`.
//!
//! # Cost
//! That of the rows, and for randomized columns of the search for strata and one
//! reconstruction for each.
//!
//! # Source
//! docs/methods.md, "Reconstructed tables"; `rubin1987multiple`.

mod cells;
mod coded;
mod draw;
mod noise;
mod strata;
mod write;

pub use draw::{Distribution, UncertainGroup, draw};
pub use write::{DrawnFormat, DrawnWriter};

use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::estimate::evidence::cells::Meaning;
use crate::estimate::evidence::groups::Lists;
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::laws::numbers::Blurred;
use crate::learn::arrangements::draw as draw_arrangement;
use crate::random::Randomness;
use crate::release::Layout;
use crate::watch::{Unwatched, Watch};

/// Rows of a block, which has a random stream of its own.
const BLOCK: usize = 1 << 16;

/// The most rows of a drawn table.
const MOST_ROWS: f64 = (1u64 << 31) as f64;

/// A table that may be the one behind a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnTable {
    /// Its columns, in the order of the manifest, all equally long.
    pub columns: Vec<SampledColumn>,
}

/// A column of a drawn table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledColumn {
    /// Its name.
    pub name: String,
    /// Distinct values in the column's own order; not all need occur.
    pub texts: Vec<Box<str>>,
    /// The value of each row.
    pub codes: Vec<u32>,
}

impl DrawnTable {
    /// How many rows it has.
    pub fn n_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.codes.len())
    }
}

/// The rows of a drawn table, by the published rows they come from.
struct DrawnRows<'a> {
    /// The distinct row of each published row.
    entry_of: Vec<u32>,
    /// Where the drawn rows of each published row begin, and where the last ends.
    starts: Vec<usize>,
    /// Whoever waits for the table.
    watch: &'a dyn Watch,
}

impl<'a> DrawnRows<'a> {
    fn new(evidence: &Evidence, watch: &'a dyn Watch) -> Result<Self> {
        if evidence.n_rows() > MOST_ROWS {
            return Err(Error::input("the table has too many rows to be drawn")
                .with_hint("ask `scumble estimate`, which counts distinct rows"));
        }
        if let Some(blurred) = &evidence.blurred {
            // Numbers are those of a row, so rows stay in their order.
            let n_rows = blurred.n_rows();
            let entry_of = blurred.kinds().to_vec();
            return Ok(Self { entry_of, starts: (0..=n_rows).collect(), watch });
        }
        let (mut entry_of, mut starts) = (Vec::new(), vec![0]);
        let mut end = 0;
        for (entry, rows) in evidence.rows.iter().enumerate() {
            let each =
                evidence.stands_for.as_ref().map_or(1, |sizes| sizes[entry] as usize);
            for _ in 0..*rows {
                entry_of.push(entry as u32);
                end += each;
                starts.push(end);
            }
        }
        Ok(Self { entry_of, starts, watch })
    }

    fn n_drawn(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// What distinct rows have, for every drawn row.
    fn spread(&self, codes: &[u32]) -> Vec<u32> {
        let mut spread = Vec::with_capacity(self.n_drawn());
        for (entry, ends) in self.entry_of.iter().zip(self.starts.windows(2)) {
            spread.resize(spread.len() + ends[1] - ends[0], codes[*entry as usize]);
        }
        spread
    }
}

impl Evidence {
    /// A table that may be the one behind the release.
    pub fn draw(&self, seed: u64) -> Result<DrawnTable> {
        self.draw_watched(seed, &Unwatched)
    }

    /// As [`Evidence::draw`], for tables so large that drawing them may be cancelled.
    pub fn draw_watched(&self, seed: u64, watch: &dyn Watch) -> Result<DrawnTable> {
        watch.check()?;
        let random = Randomness::of_seed(seed);
        let rows = DrawnRows::new(self, watch)?;
        let numbers = match &self.blurred {
            Some(blurred) => blurred.draw(&random, watch)?,
            None => Vec::new(),
        };
        let randomized = noise::draw(self, &rows, &random)?;
        let column = |place: &usize| {
            watch.check()?;
            let column = &self.columns[*place];
            let codes = match column.nature {
                Nature::Coarse(number) => {
                    let codes = rows.spread(&column.codes);
                    let purpose = format!("draw cells {place}");
                    return cells::draw(
                        column,
                        &self.cells[number],
                        &codes,
                        &|block| random.stream(&purpose, block),
                    );
                }
                Nature::Drawn(noise, part) => {
                    let codes = randomized.codes(self, &rows, noise, part);
                    if let Some(number) = column.within {
                        let purpose = format!("draw ranges {place}");
                        let stream = |block| random.stream(&purpose, block);
                        return cells::draw(
                            column,
                            &self.cells[number],
                            &codes,
                            &stream,
                        );
                    }
                    codes
                }
                Nature::Apart => self.arranged(*place, &rows, &random)?,
                Nature::Number(number) => {
                    return Ok(self.numbers(column, number, &numbers));
                }
                Nature::Kept => rows.spread(&column.codes),
            };
            Ok(column.drawn(column.texts.clone(), codes))
        };
        let columns = self.table.iter().map(column).collect::<Result<_>>()?;
        Ok(DrawnTable { columns })
    }

    /// The columns of drawn tables.
    pub fn drawn_names(&self) -> impl Iterator<Item = &str> {
        self.table.iter().map(|place| self.columns[*place].name.as_str())
    }

    /// The columns with cells whose values the release does not say: these are drawn as they
    /// are published.
    pub fn undrawn(&self) -> Vec<&str> {
        let open = |column: &&Column| match column.nature {
            Nature::Coarse(number) => {
                let cells = &self.cells[number];
                let open = |code: &u32| cells.meanings[*code as usize] == Meaning::Open;
                column.codes.iter().any(open)
            }
            _ => false,
        };
        let columns = self.table.iter().map(|place| &self.columns[*place]);
        columns.filter(open).map(|column| column.name.as_str()).collect()
    }

    /// The values of the groups of a column that stands apart, each group's in a random
    /// order, which has nothing to do with that of another column. Where groups teach how
    /// values depend on other columns, an order is as likely as that makes it, and what they
    /// teach is drawn, too.
    fn arranged(
        &self,
        place: usize,
        rows: &DrawnRows<'_>,
        random: &Randomness,
    ) -> Result<Vec<u32>> {
        let own = self.groups.iter().position(|groups| groups.sensitive == place);
        let Some(number) = own else { return Ok(Vec::new()) };
        let groups = &self.groups[number];
        let purpose = match number {
            0 => "draw arrangement".to_owned(),
            n => format!("draw arrangement {n}"),
        };
        let places_of = Lists::of(&rows.entry_of, self.rows.len());
        let taught = self.taught(groups, rows.watch)?.map(|taught| {
            let mut random = random.stream(&format!("{purpose}, taught"), 0);
            (taught, taught.lesson().0.moved(&mut random))
        });
        let all: Vec<_> = groups.iter().collect();
        let arranged = all.par_iter().enumerate().map(|(group, (size, _, values))| {
            rows.watch.check()?;
            let mut random = random.stream(&purpose, group as u64);
            let weighed = taught.as_ref().filter(|(t, _)| t.group(group).is_some());
            if let Some((taught, ratios)) = weighed {
                let (lesson, groups) = taught.lesson();
                let (rows, counts) = lesson.rows_with(groups, group, ratios);
                let drawn = draw_arrangement(&rows, &counts, &mut random);
                return Ok(drawn.into_iter().map(|value| values[value].0).collect());
            }
            let mut own = Vec::with_capacity(*size as usize);
            for (value, n) in *values {
                own.resize(own.len() + *n as usize, *value);
            }
            own.shuffle(&mut random);
            Ok(own)
        });
        let arranged: Vec<Vec<u32>> = arranged.collect::<Result<_>>()?;
        let mut codes = vec![0; rows.n_drawn()];
        for ((_, entries, _), values) in all.iter().zip(arranged) {
            let places = entries.iter();
            let places = places.flat_map(|entry| places_of.of_list(*entry as usize));
            for (place, value) in places.zip(values) {
                codes[*place as usize] = value;
            }
        }
        Ok(codes)
    }

    /// A column of drawn numbers, of which `drawn` has those of all columns row by row.
    fn numbers(&self, column: &Column, number: usize, drawn: &[f64]) -> SampledColumn {
        let lattice = self.lattice(number);
        let n_columns = self.blurred.as_ref().map_or(1, Blurred::n_columns);
        // As they are published.
        let decimals = lattice.scale.log10().round() as usize;
        let text = |step: f64| {
            let number = step / lattice.scale + 0.0;
            format!("{number:.decimals$}")
        };
        let rows = drawn.chunks_exact(n_columns);
        let steps: Vec<f64> = rows.map(|row| row[number]).collect();
        let (texts, codes) = coded::steps(&steps, text, column.reading.missing_text());
        column.drawn(texts, codes)
    }
}

impl Column {
    fn drawn(&self, texts: Vec<Box<str>>, codes: Vec<u32>) -> SampledColumn {
        SampledColumn { name: self.name.clone(), texts, codes }
    }
}

/// The places of the columns that the table has, in the order of the manifest: without those
/// that only say how a release was made.
pub(crate) fn of_table(layout: Layout<'_>, columns: &[Column]) -> Vec<usize> {
    let listed = layout.columns.iter();
    listed
        .filter_map(|listed| columns.iter().position(|own| own.name == listed.name))
        .collect()
}
