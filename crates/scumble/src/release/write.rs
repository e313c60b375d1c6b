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
use crate::method::{ApartPlan, GroupPlan, Step, SubtableId};
use crate::release::apply::{Binding, BoundPlan, Hand, StepBinding};
use crate::release::shuffle::{Pile, Shuffle};
use crate::release::sink::{Formulas, Sink, line, quoted};
use crate::release::{DataFile, DataFormat, Draft, SENSITIVE_HEADER};
use crate::table::{ClassId, Code, ColumnForm, ColumnId, EntryId, Of, TupleId};
use crate::watch::Watch;

/// How many classes are prepared at once, in parallel, before they are written.
const WAVE: usize = 1 << 14;

/// How many of these a worker takes at a time.
const HANDFUL: usize = 1 << 8;

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// How many rows.
    pub rows: u64,
    /// For each step of the plan, how many of them are of each of its sub-tables; nothing
    /// if rows were written from counts.
    pub drawn: Vec<Of<SubtableId, u64>>,
    /// How many cells a spreadsheet would take for formulas, and have no guard.
    pub formulas: u64,
}

/// Writes the rows, and says how many there are.
///
/// Where counts are all there is to know, rows are written from the counts; otherwise the
/// table is read again.
pub fn write_rows(
    binding: Binding<'_>,
    file: &DataFile,
    draft: &Draft,
    watch: &dyn Watch,
) -> Result<Written> {
    let counted = counts(&binding).filter(|data| is_counted(&binding, data));
    let bound = BoundPlan::new(binding, counted.is_none(), watch)?;
    let header = binding.layout.header();
    let out = draft.create(&file.file)?;
    let forms = bound.forms();
    let mut sink = Sink::new(out, file.format, file.formulas(), &header, &forms)?;
    let mut drawn = Vec::new();
    let rows = match counted {
        Some(data) => {
            CountedRows::new(binding, &bound, data).write(&mut sink, watch)?
        }
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
            drawn = bound.hand().drawn;
            let mut piles = Vec::with_capacity(folded.states.len());
            for (pile, hand) in folded.states {
                piles.push(pile);
                for (sum, part) in drawn.iter_mut().zip(hand.drawn) {
                    sum.iter_mut().zip(part).for_each(|(sum, rows)| *sum += rows);
                }
            }
            shuffle.write(piles, &mut sink, watch)?
        }
    };
    let formulas = sink.finish()?;
    Ok(Written { rows, drawn, formulas })
}

/// What was counted, if it is the same for all steps. Columns that stand apart are counted
/// one by one.
fn counts<'a>(binding: &Binding<'a>) -> Option<&'a Microdata> {
    let first = binding.known.first()?.data?;
    let same =
        |step: &StepBinding<'_>| step.data.is_some_and(|d| std::ptr::eq(d, first));
    binding.known.iter().all(same).then_some(first)
}

/// Whether rows are known from the counts: nothing but counted columns is published, and
/// nothing is drawn for single rows. A sample of one row from each group is always drawn
/// from the counts.
fn is_counted(binding: &Binding<'_>, data: &Microdata) -> bool {
    let columns = binding.layout.columns;
    let sampled = binding.layout.sampled.is_some();
    let from_counts = binding.plan.steps.iter().all(|step| match step {
        Step::Group(_) | Step::Apart(_) => true,
        Step::Draw(_) => sampled,
        Step::Blur(_) | Step::Redraw(_) => false,
    });
    let grouped = binding.plan.steps.iter().any(|step| match step {
        Step::Group(_) | Step::Apart(_) => true,
        Step::Draw(_) | Step::Blur(_) | Step::Redraw(_) => false,
    });
    let all = || data.quasi.iter().chain(&data.sensitive);
    let counted = columns.iter().all(|c| all().any(|column| column.name == c.name));
    from_counts && grouped && counted
}

/// Rows that are written from counts.
struct CountedRows<'a> {
    binding: Binding<'a>,
    bound: &'a BoundPlan<'a>,
    data: &'a Microdata,
    /// The tuple of each entry.
    tuple_of: Of<EntryId, TupleId>,
    /// For each column that is read its place among the counted ones, and the text of
    /// every value.
    columns: Vec<Option<(usize, Of<Code, &'a str>)>>,
    /// Those of them whose cells are published as values.
    emitted: Vec<usize>,
}

/// The rows of each class, in the order in which classes are written.
struct Classes {
    /// Where the entries of each class begin.
    starts: Vec<usize>,
    /// Entries of the census.
    entries: Vec<EntryId>,
    /// Whether an entry stands for all of its rows, or for one of them.
    whole: bool,
}

impl Classes {
    /// Puts entries into so many classes; `pairs` has the class of each.
    fn new<I: Iterator<Item = (ClassId, EntryId)>>(
        n_classes: usize,
        whole: bool,
        pairs: impl Fn() -> I,
    ) -> Self {
        let mut starts = vec![0; n_classes + 1];
        for (class, _) in pairs() {
            starts[class.index() + 1] += 1;
        }
        for class in 0..n_classes {
            starts[class + 1] += starts[class];
        }
        let mut entries = vec![EntryId::default(); starts[n_classes]];
        let mut next = starts.clone();
        for (class, entry) in pairs() {
            entries[next[class.index()]] = entry;
            next[class.index()] += 1;
        }
        Self { starts, entries, whole }
    }

    /// The numbers of all classes.
    fn numbers(&self) -> Vec<ClassId> {
        ClassId::first(self.starts.len() - 1).collect()
    }

    fn members(&self, class: ClassId) -> &[EntryId] {
        let class = class.index();
        &self.entries[self.starts[class]..self.starts[class + 1]]
    }
}

impl<'a> CountedRows<'a> {
    fn new(
        binding: Binding<'a>,
        bound: &'a BoundPlan<'a>,
        data: &'a Microdata,
    ) -> Self {
        let tuple_of = data.census.tuple_of();
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
        for wave in classes.numbers().chunks(WAVE) {
            watch.check()?;
            let written: Vec<Result<Lines>> = wave
                .par_chunks(HANDFUL)
                .map(|handful| {
                    let mut hand = self.bound.hand();
                    let mut lines = Lines::default();
                    for class in handful {
                        self.push_class(&mut hand, *class, &classes, &mut lines)?;
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
    fn classes(&self) -> Result<Classes> {
        for step in &self.binding.plan.steps {
            match step {
                Step::Apart(plan) => return Ok(apart_classes(plan)),
                Step::Group(plan) => return self.group_classes(plan),
                Step::Draw(_) | Step::Blur(_) | Step::Redraw(_) => {}
            }
        }
        Err(Error::input("rows without groups cannot be written from counts"))
    }

    fn group_classes(&self, plan: &GroupPlan) -> Result<Classes> {
        let last = plan.groups.iter().filter_map(|group| group.number).max();
        let numbers = &self.bound.numbers(self.data)?;
        let rows = &self.data.census.entries;
        let n_classes = last.map_or(0, |last| last.next().index());
        Ok(Classes::new(n_classes, true, || {
            let there = rows.pairs().filter(|(_, rows)| **rows > 0);
            there.filter_map(|(entry, _)| Some((numbers[self.tuple_of[entry]]?, entry)))
        }))
    }

    /// How many rows an entry stands for.
    fn times(&self, classes: &Classes, entry: EntryId) -> u64 {
        match classes.whole {
            true => self.data.census.entries[entry],
            false => 1,
        }
    }

    /// The code of an entry in the column that is read at this place.
    fn code(&self, input: usize, entry: EntryId) -> Option<Code> {
        let census = &self.data.census;
        let (place, _) = self.columns[input].as_ref()?;
        let n_quasi = census.quasi.len();
        Some(match *place < n_quasi {
            true => census.quasi[*place][self.tuple_of[entry]],
            false => census.sensitive[*place - n_quasi][entry],
        })
    }

    /// The cells of an entry in the columns that are read.
    fn cells(&self, entry: EntryId) -> Vec<&str> {
        let cell = |input: usize| {
            let (_, texts) = self.columns[input].as_ref()?;
            Some(texts[self.code(input, entry)?])
        };
        let cells = 0..self.columns.len();
        cells.map(|input| cell(input).unwrap_or_default()).collect()
    }

    /// Adds the lines of a class, sorted.
    fn push_class(
        &self,
        hand: &mut Hand,
        class: ClassId,
        classes: &Classes,
        lines: &mut Lines,
    ) -> Result<()> {
        if self.binding.layout.sampled.is_some() {
            let chosen = self.sample(hand, class, classes)?;
            self.bound.enter_class(hand, class);
            lines.push_sorted(
                chosen.map(|entry| (entry, 1)).into_iter(),
                |entry, text| {
                    self.bound.push_line(hand, &self.cells(entry), text);
                },
            );
            return Ok(());
        }
        self.bound.enter_class(hand, class);
        let mut counts: HashMap<Vec<Option<Code>>, (EntryId, u64)> = HashMap::new();
        let mut key = Vec::with_capacity(self.emitted.len());
        for entry in classes.members(class) {
            key.clear();
            key.extend(self.emitted.iter().map(|input| self.code(*input, *entry)));
            let times = self.times(classes, *entry);
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
        class: ClassId,
        classes: &Classes,
    ) -> Result<Option<EntryId>> {
        let members = classes.members(class);
        let size: u64 = members.iter().map(|entry| self.times(classes, *entry)).sum();
        if size == 0 {
            return Ok(None);
        }
        let place = self.bound.place(class) as u64;
        let mut random = self.binding.randomness.stream("sample", place);
        let mut left = random.random_range(0..size);
        let chosen = members.iter().find(|entry| {
            let rows = self.times(classes, **entry);
            let here = left < rows;
            left = left.saturating_sub(rows);
            here
        });
        if let Some(entry) = chosen {
            self.bound.draw_alone(hand, &self.cells(*entry), &mut random)?;
        }
        Ok(chosen.copied())
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
fn apart_classes(plan: &ApartPlan) -> Classes {
    Classes::new(plan.numbers.len(), false, || {
        let groups = plan.buckets.groups().zip(&plan.numbers);
        groups.flat_map(|(entries, number)| {
            entries.iter().map(move |entry| (*number, *entry))
        })
    })
}

/// Writes the values of groups that stand apart, in the order of numbers and of the domain.
pub fn write_values(
    plan: &ApartPlan,
    data: &Microdata,
    (file, formulas): (&str, Formulas),
    draft: &Draft,
) -> Result<u64> {
    let named = |column: &crate::hierarchy::Column| column.name == plan.column;
    let place = data.sensitive.iter().position(named);
    let place = place.ok_or_else(|| Error::input("there is no sensitive column"))?;
    let codes = &data.census.sensitive[place];
    let texts: Of<Code, Vec<u8>> =
        data.sensitive[place].domain.texts().iter().map(|text| quoted(text)).collect();
    let forms = [ColumnForm::Text; SENSITIVE_HEADER.len()];
    let out = draft.create(file)?;
    let mut sink =
        Sink::new(out, DataFormat::Csv, formulas, &SENSITIVE_HEADER, &forms)?;
    let classes = apart_classes(plan);
    for wave in classes.numbers().chunks(WAVE) {
        let written: Vec<(Vec<u8>, usize)> = wave
            .par_chunks(HANDFUL)
            .map(|handful| {
                let (mut all, mut n_lines) = (Vec::new(), 0);
                for number in handful {
                    let members = classes.members(*number).iter();
                    let mut values: Vec<Code> =
                        members.map(|entry| codes[*entry]).collect();
                    values.sort_unstable();
                    let name = number.one_based().to_string();
                    for same in values.chunk_by(|a, b| a == b) {
                        let count = same.len().to_string();
                        let text = &texts[same[0]];
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
