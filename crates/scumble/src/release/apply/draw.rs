//! Drawing the values of rows: which sub-table a row goes to, exactly as many rows of each
//! value as the plan says, chosen by chance or by the key; and what is published of it.

use std::fmt::Write;

use hashbrown::HashMap;
use rand::Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::method::perturb::{Sampler, ValueId, below};
use crate::method::{DrawPlan, Subtable, SubtableId};
use crate::random::{Key, Randomness};
use crate::release::apply::{Binding, Decided, Hand, ReadColumns, Streams, changed};
use crate::table::{Code, ColumnForm, ColumnId, Of, RowPlace};
use crate::watch::Watch;

/// Noise that depends on a key and a person alone.
#[derive(Debug, Clone, Copy)]
pub struct Keyed<'a> {
    /// The key.
    pub key: &'a Key,
    /// The columns of the table that tell people apart.
    pub id: &'a [ColumnId],
    /// The texts that name nobody: such a row is a person of its own.
    pub missing: &'a [String],
}

/// A ticket and the row it was drawn for: rows are told apart by them.
type Ticket = (u64, RowPlace);

/// The sub-tables of a value in order, each with the last ticket that leads there.
type TicketRoute = Vec<(SubtableId, Ticket)>;

/// Draws, ready for rows.
pub(in crate::release) struct BoundDraw<'a> {
    plan: &'a DrawPlan,
    randomness: &'a Randomness,
    /// Which step of the plan it is.
    step: usize,
    /// Where the columns stand among those that are read.
    inputs: Vec<usize>,
    /// Where the columns that tell people apart stand among them.
    id: Vec<usize>,
    /// The texts there that name nobody.
    missing: &'a [String],
    /// For each column, the code of every text of the table.
    codes: Vec<HashMap<Box<str>, Code>>,
    /// The value that codes of several columns stand for; empty if there is one column,
    /// whose codes are the values.
    tuples: HashMap<Vec<Code>, ValueId>,
    parts: Of<SubtableId, BoundSubtable>,
    /// What decides on the sub-table of a person.
    part_key: Option<Key>,
    /// Where the column that tells the sub-table of a row stands among those that are read,
    /// the sub-tables of its texts, and that of all others; if there is one.
    condition: Option<(usize, HashMap<&'a str, SubtableId>, Option<SubtableId>)>,
    /// For each value, which tickets lead to which sub-table; empty if there is one, or a
    /// column tells it.
    routes: Of<ValueId, TicketRoute>,
    /// For each column from whose ranges numbers are drawn its decimals, and for each value
    /// where these numbers begin and how many there are; none of a value that is no range.
    numbers: Vec<Option<(u32, Of<ValueId, NumberSteps>)>>,
}

/// The first number of a range, in units of the last decimal, and how many there are.
type NumberSteps = Option<(i64, u64)>;

/// A sub-table, ready to draw from.
struct BoundSubtable {
    values: Vec<ValueId>,
    sampler: Sampler,
    key: Option<Key>,
    /// The key of the numbers that are drawn from ranges, if any are.
    number_key: Option<Key>,
}

impl<'a> BoundDraw<'a> {
    pub(super) fn new(
        plan: &'a DrawPlan,
        step: usize,
        binding: Binding<'a>,
        inputs: &mut ReadColumns,
    ) -> Result<Self> {
        let places = plan.columns.iter();
        let places = places.map(|c| inputs.named(binding.source, &c.name));
        let places: Vec<usize> = places.collect::<Result<_>>()?;
        let keyed = binding.known(step).keyed;
        let missing = keyed.map_or(&[][..], |keyed| keyed.missing);
        let id = keyed.map_or(&[][..], |keyed| keyed.id);
        let id = id.iter().map(|column| inputs.seek(*column)).collect();
        // The codes of a column are the places of its texts among those of the plan.
        let mut own: Vec<HashMap<&str, Code>> = vec![HashMap::new(); places.len()];
        let mut tuples = HashMap::new();
        for (value, texts) in plan.values.pairs() {
            let mut tuple = Vec::with_capacity(texts.len());
            for (codes, text) in own.iter_mut().zip(texts) {
                let next = Code::from_index(codes.len());
                tuple.push(*codes.entry(text).or_insert(next));
            }
            tuples.insert(tuple, value);
        }
        let codes = plan.columns.iter().zip(&own).map(|(column, own)| {
            let known = binding.texts(&column.name).unwrap_or_default().into_iter();
            let mut codes: HashMap<Box<str>, Code> = known
                .filter_map(|(raw, value)| Some((raw.into(), *own.get(value)?)))
                .collect();
            if column.ranges.is_some() {
                // Rows that are known from counts have ranges already.
                codes.extend(own.iter().map(|(value, code)| ((*value).into(), *code)));
            }
            codes
        });
        let keyed = keyed.map(|keyed| keyed.key);
        let condition = plan.condition.as_ref().map(|condition| {
            let place = inputs.named(binding.source, &condition.column)?;
            let own = condition.values.iter();
            let own = own.map(|(text, table)| (text.as_str(), *table)).collect();
            Ok((place, own, condition.others))
        });
        let numbers: Vec<_> =
            (0..places.len()).map(|part| numbers(plan, part)).collect();
        let has_numbers = numbers.iter().any(Option::is_some);
        let names = || plan.columns.iter().map(|column| column.name.as_str());
        let part = |table: &Subtable| {
            let key_of = |purpose: &'static str| {
                let texts = table.values.iter();
                let texts = texts.flat_map(|value| &plan.values[*value]);
                let domain = texts.map(String::as_str);
                let key = keyed?;
                Some(key.narrowed([purpose].into_iter().chain(names()).chain(domain)))
            };
            BoundSubtable {
                values: table.values.clone(),
                sampler: Sampler::new(&table.operator),
                key: key_of("noise"),
                number_key: has_numbers.then(|| key_of("number")).flatten(),
            }
        };
        Ok(Self {
            codes: codes.collect(),
            tuples,
            parts: plan.subtables.iter().map(part).collect(),
            part_key: keyed
                .map(|key| key.narrowed(["sub-table"].into_iter().chain(names()))),
            routes: Of::new(),
            condition: condition.transpose()?,
            numbers,
            inputs: places,
            id,
            missing,
            plan,
            step,
            randomness: binding.randomness,
        })
    }

    /// How many sub-tables it has.
    pub(super) fn n_subtables(&self) -> usize {
        self.parts.len()
    }

    /// Where one of its columns stands among those that are read.
    pub(super) fn input(&self, part: usize) -> usize {
        self.inputs[part]
    }

    /// The value of a row.
    pub(super) fn value(&self, cells: &[&str]) -> Result<ValueId> {
        let code = |(input, codes): (&usize, &HashMap<Box<str>, Code>)| {
            codes.get(cells[*input]).copied().ok_or_else(changed)
        };
        let mut codes = self.inputs.iter().zip(&self.codes).map(code);
        if let (1, Some(code)) = (self.inputs.len(), codes.next()) {
            return code.map(|code| ValueId::new(code.get()));
        }
        let codes = self.inputs.iter().zip(&self.codes).map(code);
        let codes: Vec<Code> = codes.collect::<Result<_>>()?;
        self.tuples.get(&codes).copied().ok_or_else(changed)
    }

    /// What tells a person apart, with lengths between the texts.
    fn write_id(&self, cells: &[&str], spot: RowPlace, id: &mut Vec<u8>) {
        id.clear();
        let nameless = |place: &usize| self.missing.iter().any(|m| m == cells[*place]);
        if !self.id.is_empty() && self.id.iter().all(nameless) {
            id.extend_from_slice(&u64::MAX.to_le_bytes());
            id.extend_from_slice(&spot.block.to_le_bytes());
            id.extend_from_slice(&spot.row.to_le_bytes());
            return;
        }
        for place in &self.id {
            id.extend_from_slice(&(cells[*place].len() as u64).to_le_bytes());
            id.extend_from_slice(cells[*place].as_bytes());
        }
    }

    /// The ticket that decides on the sub-table of a row.
    fn ticket(&self, streams: &mut Streams) -> u64 {
        match &self.part_key {
            Some(key) => key.words(&streams.id).next_u64(),
            None => streams.ticket(self.step, self.randomness),
        }
    }

    /// Draws what is published of a row.
    pub(super) fn draw(
        &self,
        hand: &mut Hand,
        spot: RowPlace,
        cells: &[&str],
    ) -> Result<Decided> {
        self.write_id(cells, spot, &mut hand.streams.id);
        let value = self.value(cells)?;
        let subtable = match (&self.condition, self.routes.at(value)) {
            (Some((place, own, others)), _) => {
                own.get(cells[*place]).copied().or(*others).ok_or_else(changed)?
            }
            (None, None) => SubtableId::default(),
            (None, Some(route)) => {
                let ticket = self.ticket(&mut hand.streams);
                let place = route.partition_point(|(_, last)| *last < (ticket, spot));
                route.get(place).ok_or_else(changed)?.0
            }
        };
        let part = &self.parts[subtable];
        let original = part.place(value);
        let streams = &mut hand.streams;
        Ok(match &part.key {
            Some(key) => {
                // The noise is that of the person with this value. If it did not depend
                // on the value, whoever is published with two values has both of them.
                let length = streams.id.len();
                streams.id.extend_from_slice(&original.to_le_bytes());
                let mut words = key.words(&streams.id);
                streams.id.truncate(length);
                // Another matrix may be drawn by the same words one day.
                let drawn = part.sampler.draw_by_clock(original, &mut words);
                let value = part.values[drawn as usize];
                // Numbers depend on the published range, and on the words of no clock: as
                // often as a person is published with a range, it is with one number of it.
                let numbers = match &part.number_key {
                    Some(key) => {
                        streams.id.extend_from_slice(&original.to_le_bytes());
                        streams.id.extend_from_slice(&value.get().to_le_bytes());
                        let numbers = self.numbers(value, &mut key.words(&streams.id));
                        streams.id.truncate(length);
                        numbers
                    }
                    None => Vec::new(),
                };
                Decided::Drawn(value, subtable, numbers)
            }
            None => self.drawn(original, subtable, &mut streams.noise),
        })
    }

    /// Draws a value of a sub-table and, from its ranges, numbers.
    fn drawn(
        &self,
        original: u32,
        subtable: SubtableId,
        words: &mut impl Rng,
    ) -> Decided {
        let part = &self.parts[subtable];
        let value = part.values[part.sampler.draw(original, words) as usize];
        Decided::Drawn(value, subtable, self.numbers(value, words))
    }

    /// Draws numbers from the ranges of a value, where numbers are published.
    fn numbers(&self, value: ValueId, words: &mut impl Rng) -> Vec<i64> {
        let ranges = self.numbers.iter().flatten().map(|(_, steps)| steps[value]);
        let drawn = ranges.map(|range| {
            let (first, n) = range.unwrap_or((0, 1));
            first + below(n, words) as i64
        });
        drawn.collect()
    }

    /// Writes what is published of a row in one of its columns.
    pub(super) fn write(
        &self,
        value: ValueId,
        numbers: &[i64],
        part: usize,
        text: &mut String,
    ) {
        let drawn = self.numbers[part].as_ref();
        match drawn.filter(|(_, steps)| steps[value].is_some()) {
            Some((decimals, _)) => {
                let place = self.numbers[..part].iter().flatten().count();
                let number = numbers[place] as f64 / 10f64.powi(*decimals as i32);
                let decimals = *decimals as usize;
                // Writing to a text does not fail.
                let _ = write!(text, "{number:.decimals$}");
            }
            None => text.push_str(&self.plan.values[value][part]),
        }
    }

    /// What one of its columns holds, unless that is what the table's does.
    pub(super) fn form(&self, part: usize) -> Option<ColumnForm> {
        match &self.numbers[part] {
            Some((0, _)) => Some(ColumnForm::Integer),
            Some(_) => Some(ColumnForm::Float),
            None => self.plan.columns[part].ranges.as_ref().map(|_| ColumnForm::Text),
        }
    }

    /// Draws what is published of a value, of rows that are all of one sub-table.
    pub(in crate::release) fn draw_value(
        &self,
        value: ValueId,
        generator: &mut impl Rng,
    ) -> Decided {
        let only = SubtableId::default();
        self.drawn(self.parts[only].place(value), only, generator)
    }

    /// Finds which tickets lead to which sub-table: exactly as many rows go to each as the
    /// plan says, chosen by chance.
    pub(super) fn route(
        &mut self,
        binding: Binding<'_>,
        watch: &dyn Watch,
    ) -> Result<()> {
        if self.plan.subtables.len() == 1 || self.condition.is_some() {
            return Ok(());
        }
        // Only what this step needs is read.
        let mut inputs = ReadColumns::default();
        let alone = BoundDraw::new(self.plan, self.step, binding, &mut inputs)?;
        let folded = binding.source.fold(
            &inputs.0,
            || (Vec::new(), Streams::new(binding.randomness)),
            |(tickets, streams): &mut (Vec<(ValueId, Ticket)>, Streams),
             spot,
             cells| {
                streams.enter(binding.randomness, spot);
                alone.write_id(cells, spot, &mut streams.id);
                let value = alone.value(cells)?;
                tickets.push((value, (alone.ticket(streams), spot)));
                Ok(())
            },
            watch,
        )?;
        let states = folded.states.into_iter().flat_map(|(tickets, _)| tickets);
        let mut tickets: Vec<(ValueId, Ticket)> = states.collect();
        tickets.par_sort_unstable();
        self.routes = routes(self.plan, &tickets);
        Ok(())
    }
}

impl BoundSubtable {
    /// The place of a value in the domain, which need not have all values of the column.
    fn place(&self, value: ValueId) -> u32 {
        match self.values.get(value.index()) {
            Some(known) if *known == value => value.get(),
            _ => self.values.partition_point(|known| *known < value) as u32,
        }
    }
}

/// The numbers of each value of a column, if numbers are to be drawn from its ranges, and
/// their decimals.
fn numbers(plan: &DrawPlan, part: usize) -> Option<(u32, Of<ValueId, NumberSteps>)> {
    let column = &plan.columns[part];
    let (ranges, decimals) = (column.ranges.as_ref()?, column.decimals?);
    let steps = plan.values.iter().map(|texts| {
        let (first, last) = ranges.steps(&texts[part], decimals)?;
        Some((first, first.abs_diff(last) + 1))
    });
    Some((decimals, steps.collect()))
}

/// Cuts the sorted tickets of each value where its rows in a sub-table end.
fn routes(plan: &DrawPlan, tickets: &[(ValueId, Ticket)]) -> Of<ValueId, TicketRoute> {
    let mut routes = Of::repeat(Vec::new(), plan.values.len());
    let start = |value| tickets.partition_point(|(known, _)| *known < value);
    let mut ends: Of<ValueId, usize> = plan.values.ids().map(start).collect();
    for (subtable, part) in plan.subtables.pairs() {
        for (value, rows) in part.values.iter().zip(&part.rows) {
            let end = &mut ends[*value];
            *end += *rows as usize;
            if let (1.., Some((_, last))) = (*rows, tickets.get(end.wrapping_sub(1))) {
                routes[*value].push((subtable, *last));
            }
        }
    }
    routes
}
