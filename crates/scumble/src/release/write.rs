//! Writing the files of a release: the rows, and beside them what classes share.
//!
//! Rows stand in an order that tells nothing: if anything about them is random they are
//! shuffled, else groups stand in the order of what is published of them, and rows of a group
//! in that of their text.

use hashbrown::HashMap;
use rand::RngExt;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::method::{ApartPlan, GroupPlan, Step};
use crate::release::apply::{Binding, BoundPlan, Hand};
use crate::release::shuffle::{Pile, Shuffle};
use crate::release::sink::{Sink, line, quoted};
use crate::release::{DataFormat, Draft, SENSITIVE_HEADER};
use crate::table::{ColumnForm, ColumnId, Role};
use crate::watch::Watch;

/// How many classes are prepared at once, in parallel, before they are written.
const WAVE: usize = 1 << 14;

/// How many of these a worker takes at a time.
const HANDFUL: usize = 1 << 8;

/// Writes the rows, and says how many there are.
///
/// Where counts are all there is to know, rows are written from the counts; otherwise the
/// table is read again.
pub fn write_rows(
    binding: Binding<'_>,
    draft: &Draft,
    watch: &dyn Watch,
) -> Result<u64> {
    let manifest = binding.manifest;
    let counted = binding.data.filter(|_| is_counted(&binding));
    let bound = BoundPlan::new(binding, counted.is_none(), watch)?;
    let header = manifest.header();
    let out = draft.create(&manifest.data.file)?;
    let mut sink = Sink::new(out, manifest.data.format, &header, &bound.forms())?;
    let n_rows = match counted {
        Some(data) => Counted::new(binding, &bound, data).write(&mut sink, watch)?,
        None => {
            let shuffle = Shuffle::new(2 * binding.source.bytes(), draft.folder());
            let folded = binding.source.fold(
                &bound.inputs,
                || (shuffle.pile(), bound.hand()),
                |(pile, hand): &mut (Pile, Hand), spot, cells| {
                    let Some(key) = bound.decide(hand, spot, cells)? else {
                        return Ok(());
                    };
                    shuffle.push(pile, key, |line| bound.push_line(hand, cells, line))
                },
                watch,
            )?;
            let piles = folded.states.into_iter().map(|(pile, _)| pile).collect();
            shuffle.write(piles, &mut sink, watch)?
        }
    };
    sink.finish()?;
    Ok(n_rows)
}

/// Whether rows are known from the counts: nothing but counted columns is published, and
/// nothing is drawn for single rows. A sample of one row from each group is always drawn
/// from the counts.
fn is_counted(binding: &Binding<'_>) -> bool {
    let columns = &binding.manifest.columns;
    let sampled = binding.manifest.sampled.is_some();
    let from_counts = binding.plan.steps.iter().all(|step| match step {
        Step::Group(_) | Step::Apart(_) => true,
        Step::Draw(_) => sampled,
        Step::Blur(_) | Step::Redraw(_) => false,
    });
    let grouped = binding.plan.steps.iter().any(|step| match step {
        Step::Group(_) | Step::Apart(_) => true,
        Step::Draw(_) | Step::Blur(_) | Step::Redraw(_) => false,
    });
    let counted = columns.iter().all(|column| column.role != Role::Other);
    from_counts && grouped && counted
}

/// Rows that are written from counts.
struct Counted<'a> {
    binding: Binding<'a>,
    bound: &'a BoundPlan<'a>,
    data: &'a Microdata,
    /// The tuple of each entry.
    tuple_of: Vec<u32>,
    /// For each column that is read its place among the counted ones, and the text of
    /// every value.
    columns: Vec<Option<(usize, Vec<&'a str>)>>,
    /// Those of them whose cells are published as values.
    emitted: Vec<usize>,
}

/// The rows of a class: entries of the census, and how often each occurs.
type Members = Vec<(u32, u64)>;

impl<'a> Counted<'a> {
    fn new(
        binding: Binding<'a>,
        bound: &'a BoundPlan<'a>,
        data: &'a Microdata,
    ) -> Self {
        let census = &data.census;
        let mut tuple_of = Vec::with_capacity(census.entries.len());
        for (tuple, ends) in (0..).zip(census.starts.windows(2)) {
            tuple_of.resize(tuple_of.len() + (ends[1] - ends[0]), tuple);
        }
        let column = |input: &ColumnId| {
            let name = binding.source.name_of(*input);
            let mut all = data.quasi.iter().chain(&data.sensitive).enumerate();
            let (place, column) = all.find(|(_, column)| column.name == *name)?;
            let texts = column.domain.texts().iter().map(|text| &**text);
            Some((place, texts.collect()))
        };
        let columns = bound.inputs.iter().map(column).collect();
        let emitted = bound.emitted();
        Self { binding, bound, data, tuple_of, columns, emitted }
    }

    fn write(&self, sink: &mut Sink, watch: &dyn Watch) -> Result<u64> {
        let classes = self.classes()?;
        let mut n_rows = 0;
        for (wave, classes) in classes.chunks(WAVE).enumerate() {
            watch.check()?;
            let written: Vec<Result<Lines>> = classes
                .par_chunks(HANDFUL)
                .enumerate()
                .map(|(handful, classes)| {
                    let mut hand = self.bound.hand();
                    let mut lines = Lines::default();
                    let first = wave * WAVE + handful * HANDFUL;
                    for (class, members) in (first..).zip(classes) {
                        self.push_class(&mut hand, class, members, &mut lines)?;
                    }
                    Ok(lines)
                })
                .collect();
            for lines in written {
                n_rows += lines?.write(sink)?;
            }
        }
        Ok(n_rows)
    }

    /// The rows of each class, in the order in which classes are written.
    fn classes(&self) -> Result<Vec<Members>> {
        for step in &self.binding.plan.steps {
            match step {
                Step::Apart(plan) => return Ok(apart_classes(plan)),
                Step::Group(plan) => return self.group_classes(plan),
                Step::Draw(_) | Step::Blur(_) | Step::Redraw(_) => {}
            }
        }
        Err(Error::input("rows without groups cannot be written from counts"))
    }

    fn group_classes(&self, plan: &GroupPlan) -> Result<Vec<Members>> {
        let last = plan.groups.iter().filter_map(|group| group.number).max();
        let mut classes = vec![Vec::new(); last.map_or(0, |last| last as usize + 1)];
        let numbers = self.bound.numbers(self.data)?;
        for (entry, rows) in self.data.census.entries.iter().enumerate() {
            let tuple = self.tuple_of[entry] as usize;
            if let (Some(number), 1..) = (numbers[tuple], *rows) {
                classes[number as usize].push((entry as u32, *rows));
            }
        }
        Ok(classes)
    }

    /// The code of an entry in the column that is read at this place.
    fn code(&self, input: usize, entry: u32) -> Option<u32> {
        let census = &self.data.census;
        let (place, _) = self.columns[input].as_ref()?;
        let n_quasi = census.quasi.len();
        Some(match *place < n_quasi {
            true => census.quasi[*place][self.tuple_of[entry as usize] as usize],
            false => census.sensitive[*place - n_quasi][entry as usize],
        })
    }

    /// The cells of an entry in the columns that are read.
    fn cells(&self, entry: u32) -> Vec<&str> {
        let cell = |(input, column): (usize, &Option<(usize, Vec<&'a str>)>)| {
            let code = self.code(input, entry)?;
            column.as_ref().map(|(_, texts)| texts[code as usize])
        };
        let cells = self.columns.iter().enumerate();
        cells.map(|column| cell(column).unwrap_or_default()).collect()
    }

    /// Adds the lines of a class, sorted.
    fn push_class(
        &self,
        hand: &mut Hand,
        class: usize,
        members: &Members,
        lines: &mut Lines,
    ) -> Result<()> {
        let chosen;
        let members = match self.binding.manifest.sampled {
            None => members,
            Some(_) => {
                chosen = self.sample(hand, class, members)?;
                &chosen
            }
        };
        self.bound.enter_class(hand, class);
        let mut counts: HashMap<Vec<Option<u32>>, (u32, u64)> = HashMap::new();
        let mut key = Vec::with_capacity(self.emitted.len());
        for (entry, times) in members {
            key.clear();
            key.extend(self.emitted.iter().map(|input| self.code(*input, *entry)));
            counts.entry_ref(key.as_slice()).or_insert((*entry, 0)).1 += times;
        }
        lines.push_sorted(counts.into_values(), |entry, text| {
            self.bound.push_line(hand, &self.cells(entry), text);
        });
        Ok(())
    }

    /// One row of a class, by chance, with its values drawn.
    fn sample(
        &self,
        hand: &mut Hand,
        class: usize,
        members: &Members,
    ) -> Result<Members> {
        let size: u64 = members.iter().map(|(_, rows)| rows).sum();
        if size == 0 {
            return Ok(Vec::new());
        }
        let mut random =
            self.binding.randomness.stream("sample", self.bound.place(class) as u64);
        let mut left = random.random_range(0..size);
        let chosen = members.iter().find(|(_, rows)| {
            let here = left < *rows;
            left = left.saturating_sub(*rows);
            here
        });
        let Some((entry, _)) = chosen else { return Ok(Vec::new()) };
        self.bound.draw_alone(hand, &self.cells(*entry), &mut random)?;
        Ok(vec![(*entry, 1)])
    }
}

/// Different lines, and how often each is written.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Where each line ends in the text, and how often it is written.
    ends: Vec<(usize, u64)>,
}

impl Lines {
    /// Adds the lines that `write` makes, in the order of their text.
    fn push_sorted<T>(
        &mut self,
        rows: impl Iterator<Item = (T, u64)>,
        mut write: impl FnMut(T, &mut Vec<u8>),
    ) {
        let (mut text, mut places) = (Vec::new(), Vec::new());
        for (row, times) in rows {
            let start = text.len();
            write(row, &mut text);
            places.push((start..text.len(), times));
        }
        places.sort_unstable_by(|(a, _), (b, _)| text[a.clone()].cmp(&text[b.clone()]));
        for (place, times) in places {
            self.text.extend_from_slice(&text[place]);
            self.ends.push((self.text.len(), times));
        }
    }

    /// Writes all of them, and says how many rows that is.
    fn write(&self, sink: &mut Sink) -> Result<u64> {
        let (mut start, mut n_rows) = (0, 0);
        for (end, times) in &self.ends {
            sink.write(&self.text[start..*end], *times)?;
            (start, n_rows) = (*end, n_rows + times);
        }
        Ok(n_rows)
    }
}

/// The rows of each group, in the order of their numbers.
fn apart_classes(plan: &ApartPlan) -> Vec<Members> {
    let mut classes = vec![Vec::new(); plan.numbers.len()];
    for (entries, number) in plan.buckets.groups().zip(&plan.numbers) {
        classes[*number as usize] = entries.iter().map(|entry| (*entry, 1)).collect();
    }
    classes
}

/// Writes the values of groups that stand apart, in the order of numbers and of the domain.
pub fn write_values(
    plan: &ApartPlan,
    data: &Microdata,
    file: &str,
    draft: &Draft,
) -> Result<()> {
    let named = |column: &crate::hierarchy::Column| column.name == plan.column;
    let place = data.sensitive.iter().position(named);
    let place = place.ok_or_else(|| Error::input("there is no sensitive column"))?;
    let codes = &data.census.sensitive[place];
    let texts: Vec<Vec<u8>> =
        data.sensitive[place].domain.texts().iter().map(|text| quoted(text)).collect();
    let forms = [ColumnForm::Text; SENSITIVE_HEADER.len()];
    let out = draft.create(file)?;
    let mut sink = Sink::new(out, DataFormat::Csv, &SENSITIVE_HEADER, &forms)?;
    let classes = apart_classes(plan);
    for (wave, classes) in classes.chunks(WAVE).enumerate() {
        let written: Vec<(Vec<u8>, usize)> = classes
            .par_chunks(HANDFUL)
            .enumerate()
            .map(|(handful, classes)| {
                let (mut all, mut n_lines) = (Vec::new(), 0);
                let first = wave * WAVE + handful * HANDFUL + 1;
                for (number, members) in (first..).zip(classes) {
                    let values =
                        members.iter().map(|(entry, _)| codes[*entry as usize]);
                    let mut values: Vec<u32> = values.collect();
                    values.sort_unstable();
                    let name = number.to_string();
                    for same in values.chunk_by(|a, b| a == b) {
                        let count = same.len().to_string();
                        let text = &texts[same[0] as usize];
                        let cells = [name.as_bytes(), text, count.as_bytes()];
                        all.extend(line(cells.into_iter()));
                        n_lines += 1;
                    }
                }
                (all, n_lines)
            })
            .collect();
        for (lines, n_lines) in written {
            sink.write_lines(&lines, n_lines)?;
        }
    }
    sink.finish()
}
