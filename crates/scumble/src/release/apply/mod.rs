//! Applying a plan to rows: what is published of a row is a function of the plan, the row
//! and its random stream.
//!
//! A plan is bound once to the columns of a table and to the texts that occur in them. Each
//! worker then has a [`Hand`], which holds what was decided of the row it is at: first the
//! classes of the row are found and its noise is drawn ([`BoundPlan::decide`]), then its
//! cells are written ([`BoundPlan::emit`]).

mod batch;
mod counted;
mod draw;
mod emit;
mod group;
mod rows;

pub use batch::Applier;
pub(super) use draw::BoundDraw;
pub use draw::Keyed;

use std::sync::Arc;

use hashbrown::HashMap;
use rand::Rng;
use rand_chacha::ChaCha20Rng;

use crate::error::{Error, Result};
use crate::hierarchy::{Cover, Microdata};
use crate::method::perturb::ValueId;
use crate::method::{
    ApartPlan, BlurPlan, GroupMoments, NoiseDrawer, NumberColumn, Plan, RedrawPlan,
    Step, SubtableId,
};
use crate::random::{Randomness, Stretches};
use crate::release::Layout;
use crate::release::apply::emit::{CellSource, output};
use crate::release::apply::group::{BoundGroup, GroupCells};
use crate::table::{
    ClassId, Code, ColumnId, GroupId, Of, RowPlace, Source, parse_finite, snapped,
};
use crate::watch::Watch;

/// What a plan is bound to.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// What a method decided.
    pub plan: &'a Plan,
    /// What is published of which column, and how; classes and treatments are those of the
    /// plan.
    pub layout: Layout<'a>,
    /// The table.
    pub source: &'a Source,
    /// What is known for each step of the plan, if its maker is at hand.
    pub known: &'a [StepBinding<'a>],
    /// The texts of columns that were not counted, where they are known.
    pub texts: Option<&'a Texts>,
    /// How many rows stand before each block of the table.
    pub block_starts: &'a [u64],
    /// Where chance comes from.
    pub randomness: &'a Randomness,
}

/// What is known for a step of a plan beside the plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct StepBinding<'a> {
    /// The columns that were counted for it.
    pub data: Option<&'a Microdata>,
    /// The cells of its groups in the codes of these columns.
    pub covers: Option<&'a Of<GroupId, Vec<Cover>>>,
    /// What makes the noise of a person the same in every release, if it is to be.
    pub keyed: Option<Keyed<'a>>,
}

/// The texts of columns, each with the one text of its value.
#[derive(Debug, Default)]
pub struct Texts(HashMap<String, Vec<TextPair>>);

/// A text, and the one text of its value.
type TextPair = (Box<str>, Box<str>);

impl<'a> Binding<'a> {
    /// What is known for a step.
    fn known(&self, step: usize) -> StepBinding<'a> {
        self.known.get(step).copied().unwrap_or_default()
    }

    /// The texts of a column, each with the one text of its value, if they are known.
    fn texts(&self, name: &str) -> Option<Vec<(&'a str, &'a str)>> {
        let mut counted = self.known.iter().filter_map(|known| known.data);
        if let Some(known) = counted.find_map(|data| data.texts(name)) {
            return Some(known.collect());
        }
        let known = self.texts.and_then(|texts| texts.0.get(name))?;
        Some(known.iter().map(|(raw, value)| (&**raw, &**value)).collect())
    }
}

/// A plan, ready for the rows of a table.
pub(super) struct BoundPlan<'a> {
    binding: Binding<'a>,
    /// How many rows stand before each block of the table, where rows are told apart.
    starts: Vec<u64>,
    /// The columns of the table that are read.
    pub(super) inputs: Vec<ColumnId>,
    steps: Vec<BoundStep<'a>>,
    outputs: Vec<CellSource>,
    is_random: bool,
}

/// A step, ready for rows.
enum BoundStep<'a> {
    Group(BoundGroup<'a>),
    Draw(BoundDraw<'a>),
    Apart { group_of_row: Vec<Option<GroupId>>, plan: &'a ApartPlan },
    Blur { drawer: NoiseDrawer<'a>, inputs: Vec<usize>, plan: &'a BlurPlan },
    Redraw { plan: &'a RedrawPlan, decimals: Vec<u32> },
}

impl BoundStep<'_> {
    /// Sub-tables without rows.
    fn no_rows(&self) -> Of<SubtableId, u64> {
        match self {
            Self::Draw(draw) => Of::repeat(0, draw.n_subtables()),
            Self::Group(_) | Self::Apart { .. } => Of::new(),
            Self::Blur { .. } | Self::Redraw { .. } => Of::new(),
        }
    }
}

/// What was decided of the row a worker is at.
pub(super) struct Hand {
    pub(super) streams: Streams,
    decided: Vec<Decided>,
    codes: Vec<Code>,
    /// The groups of tuples of codes that were seen before, for each step that groups.
    known: HashMap<(usize, Vec<Code>), Option<Arc<GroupCells>>>,
    truth: Vec<f64>,
    text: String,
    row: usize,
    /// For each step, how many rows it decided on went to each of its sub-tables.
    pub(super) drawn: Vec<Of<SubtableId, u64>>,
}

/// What a step decided of a row.
#[derive(Debug, Clone)]
pub(super) enum Decided {
    /// The group, and what is published of it.
    Group(Arc<GroupCells>),
    /// The value, the sub-table, and numbers that were drawn from ranges, in units of their
    /// last decimal.
    Drawn(ValueId, SubtableId, Vec<i64>),
    /// The number of the group.
    Apart(ClassId),
    /// The numbers.
    Numbers(Vec<f64>),
    /// Nothing yet.
    Open,
}

/// The random streams of a block.
pub(super) struct Streams {
    block: Option<u32>,
    pub(super) order: ChaCha20Rng,
    /// For each step that has sub-tables, what decides on them.
    parts: Vec<(usize, ChaCha20Rng)>,
    pub(super) noise: ChaCha20Rng,
    /// What numbers are drawn anew by.
    redrawn: Option<Stretches>,
    pub(super) id: Vec<u8>,
}

impl Streams {
    pub(super) fn new(randomness: &Randomness) -> Self {
        Self {
            block: None,
            order: randomness.stream("order", 0),
            parts: Vec::new(),
            noise: randomness.stream("noise", 0),
            redrawn: None,
            id: Vec::new(),
        }
    }

    /// Begins a block, if it is a new one.
    pub(super) fn enter(&mut self, randomness: &Randomness, spot: RowPlace) {
        if self.block != Some(spot.block) {
            self.block = Some(spot.block);
            let block = u64::from(spot.block);
            self.order = randomness.stream("order", block);
            self.parts.clear();
            self.noise = randomness.stream("noise", block);
        }
    }

    /// The next ticket of a step.
    fn ticket(&mut self, step: usize, randomness: &Randomness) -> u64 {
        let known = self.parts.iter().position(|(known, _)| *known == step);
        let place = known.unwrap_or_else(|| {
            let block = u64::from(self.block.unwrap_or(0)) | (step as u64) << 32;
            self.parts.push((step, randomness.stream("sub-tables", block)));
            self.parts.len() - 1
        });
        self.parts[place].1.next_u64()
    }
}

/// The columns that are read, each once.
#[derive(Default)]
pub(super) struct ReadColumns(Vec<ColumnId>);

impl ReadColumns {
    /// Where a column stands among those that are read.
    fn seek(&mut self, column: ColumnId) -> usize {
        self.0.iter().position(|known| *known == column).unwrap_or_else(|| {
            self.0.push(column);
            self.0.len() - 1
        })
    }

    fn named(&mut self, source: &Source, name: &str) -> Result<usize> {
        Ok(self.seek(source.column(name)?))
    }
}

impl<'a> BoundPlan<'a> {
    /// Binds a plan. If it puts rows into groups or sub-tables by chance, and rows are to be
    /// read, the table is read once to see to it that each gets as many as it should.
    pub(super) fn new(
        binding: Binding<'a>,
        streamed: bool,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let source = binding.source;
        let mut inputs = ReadColumns::default();
        let mut starts = binding.block_starts.to_vec();
        let mut steps = Vec::with_capacity(binding.plan.steps.len());
        let mut n_apart = 0;
        for (place, step) in binding.plan.steps.iter().enumerate() {
            steps.push(match step {
                Step::Group(plan) => BoundStep::Group(BoundGroup::new(
                    plan,
                    place,
                    binding,
                    &mut inputs,
                )?),
                Step::Draw(plan) => {
                    let mut draw = BoundDraw::new(plan, place, binding, &mut inputs)?;
                    if streamed {
                        draw.route(binding, watch)?;
                    }
                    BoundStep::Draw(draw)
                }
                Step::Apart(plan) => {
                    let mut group_of_row = Vec::new();
                    if streamed {
                        (group_of_row, starts) =
                            rows::assign(plan, (place, n_apart), binding, watch)?;
                    }
                    n_apart += 1;
                    BoundStep::Apart { group_of_row, plan }
                }
                Step::Blur(plan) => BoundStep::Blur {
                    drawer: NoiseDrawer::new(
                        &plan.blurred,
                        plan.shape,
                        decimals(&plan.columns),
                    )?,
                    inputs: plan
                        .columns
                        .iter()
                        .map(|column| inputs.named(source, &column.name))
                        .collect::<Result<_>>()?,
                    plan,
                },
                Step::Redraw(plan) => {
                    BoundStep::Redraw { plan, decimals: decimals(&plan.columns) }
                }
            });
        }
        let mut outputs = Vec::new();
        for column in binding.layout.data_columns() {
            outputs.push(output(column, binding, &mut inputs)?);
        }
        let is_random = binding.plan.is_random();
        Ok(Self { binding, starts, inputs: inputs.0, steps, outputs, is_random })
    }

    /// A worker's hand.
    pub(super) fn hand(&self) -> Hand {
        Hand {
            streams: Streams::new(self.binding.randomness),
            decided: vec![Decided::Open; self.steps.len()],
            codes: Vec::new(),
            known: HashMap::new(),
            truth: Vec::new(),
            text: String::new(),
            row: 0,
            drawn: self.steps.iter().map(BoundStep::no_rows).collect(),
        }
    }

    /// Decides what is published of the row at `spot`, and gives the key that says where it
    /// stands among the published rows; nothing if it is left out.
    pub(super) fn decide(
        &self,
        hand: &mut Hand,
        spot: RowPlace,
        cells: &[&str],
    ) -> Result<Option<u64>> {
        hand.streams.enter(self.binding.randomness, spot);
        let mut key = self.is_random.then(|| hand.streams.order.next_u64());
        let start = self.starts.get(spot.block as usize);
        hand.row = start.map_or(0, |start| (start + u64::from(spot.row)) as usize);
        for (place, step) in self.steps.iter().enumerate() {
            hand.decided[place] = match step {
                BoundStep::Group(group) => {
                    let Some(found) = group.find(place, hand, cells)? else {
                        return Ok(None);
                    };
                    // No distributions stand for a group that the plan does not know.
                    if self.binding.plan.weighted && found.number.is_none() {
                        return Ok(None);
                    }
                    let own =
                        found.number.map_or(u64::MAX, |number| group.keys[number]);
                    key.get_or_insert(own);
                    Decided::Group(found)
                }
                BoundStep::Draw(draw) => draw.draw(hand, spot, cells)?,
                BoundStep::Apart { group_of_row, plan } => {
                    let group = group_of_row.get(hand.row).ok_or_else(changed)?;
                    let Some(group) = group else { return Ok(None) };
                    let number = plan.numbers[*group];
                    let step = u64::MAX / (plan.numbers.len() as u64).max(1);
                    key.get_or_insert(u64::from(number.get()) * step);
                    Decided::Apart(number)
                }
                BoundStep::Blur { drawer, inputs, plan } => {
                    if hand.row >= n_rows(plan) {
                        return Err(changed());
                    }
                    if !drawer.publishes(hand.row) {
                        return Ok(None);
                    }
                    hand.truth.clear();
                    for (column, input) in plan.columns.iter().zip(inputs) {
                        hand.truth.push(column.number(cells[*input])?);
                    }
                    let mut drawn = vec![f64::NAN; plan.columns.len()];
                    let randomness = self.binding.randomness;
                    drawer.draw(hand.row, &hand.truth, &mut drawn, randomness);
                    Decided::Numbers(drawn)
                }
                BoundStep::Redraw { plan, decimals } => {
                    let group = plan.group_of_row.get(hand.row).ok_or_else(changed)?;
                    let stretches = hand.streams.redrawn.get_or_insert_with(|| {
                        let randomness = self.binding.randomness;
                        GroupMoments::stretches(randomness, decimals.len())
                    });
                    let stretch = stretches.at(hand.row as u64);
                    Decided::Numbers(plan.groups[*group].draw(decimals, stretch))
                }
            };
        }
        for (decided, drawn) in hand.decided.iter().zip(&mut hand.drawn) {
            if let Decided::Drawn(_, subtable, _) = decided {
                drawn[*subtable] += 1;
            }
        }
        // Without groups and chance, rows that are equal stand together.
        Ok(Some(key.unwrap_or(0)))
    }
}

fn decimals(columns: &[NumberColumn]) -> Vec<u32> {
    columns.iter().map(|column| column.decimals).collect()
}

/// How many rows the table of a plan has.
fn n_rows(plan: &BlurPlan) -> usize {
    match plan.blurred.spreads.is_empty() {
        true => plan.blurred.places.len(),
        false => plan.blurred.spreads.len() / plan.columns.len().max(1),
    }
}

fn misfit(what: &str) -> Error {
    Error::input(format!("the plan does not say what becomes of {what}"))
}

/// That rows are not those the plan was made from.
pub(super) fn changed() -> Error {
    Error::input("the table has changed since it was first read")
}

impl NumberColumn {
    /// What a cell says, rounded to the column's decimals; NaN if it is missing.
    fn number(&self, cell: &str) -> Result<f64> {
        if self.reading.is_missing(cell) {
            return Ok(f64::NAN);
        }
        let number = parse_finite(cell).ok_or_else(changed)?;
        Ok(snapped(number, self.decimals))
    }
}
