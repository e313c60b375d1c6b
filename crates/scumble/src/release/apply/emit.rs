//! Where published cells come from, and handing them on.

use std::fmt::Write;

use hashbrown::HashMap;

use crate::error::Result;
use crate::method::{NumberColumn, Step};
use crate::release::apply::{
    Binding, BoundPlan, BoundStep, Decided, Hand, ReadColumns, misfit,
};
use crate::release::sink::push_quoted;
use crate::release::{DataColumn, Parameters, PublishedColumn};
use crate::table::{ClassId, ColumnForm, format_number};

/// Where a published cell comes from.
pub(super) enum CellSource {
    /// A cell of the table, as it is.
    Raw(usize),
    /// A cell of the table, in the one form of its value.
    Value(usize, HashMap<Box<str>, Box<str>>),
    /// A cell of a group.
    Cell { step: usize, column: usize },
    /// The number of a group.
    Group(usize),
    /// How many rows a group has.
    Size(usize),
    /// A column of what was drawn.
    Drawn { step: usize, part: usize },
    /// The number of a sub-table.
    Subtable(usize),
    /// A number, with noise or drawn anew.
    Number { step: usize, column: usize },
    /// How wide the noise of a number is.
    Spread { step: usize, column: usize },
    /// The number of a frame.
    Frame(usize),
    /// The number of a level.
    Level(usize),
}

impl BoundPlan<'_> {
    /// What each column of the data holds.
    pub(in crate::release) fn forms(&self) -> Vec<ColumnForm> {
        let form = |output: &CellSource| match output {
            CellSource::Raw(input) | CellSource::Value(input, _) => {
                self.binding.source.form(self.inputs[*input])
            }
            CellSource::Cell { .. } => ColumnForm::Text,
            CellSource::Drawn { step, part } => match &self.steps[*step] {
                BoundStep::Draw(draw) => draw.form(*part).unwrap_or_else(|| {
                    self.binding.source.form(self.inputs[draw.input(*part)])
                }),
                _ => ColumnForm::Text,
            },
            CellSource::Number { step, column } => {
                match numbers(&self.binding.plan.steps[*step])[*column].decimals {
                    0 => ColumnForm::Integer,
                    _ => ColumnForm::Float,
                }
            }
            CellSource::Spread { .. } => ColumnForm::Float,
            CellSource::Group(_)
            | CellSource::Size(_)
            | CellSource::Subtable(_)
            | CellSource::Frame(_)
            | CellSource::Level(_) => ColumnForm::Integer,
        };
        self.outputs.iter().map(form).collect()
    }

    /// Hands the cells of the row on, in the order of the data's columns.
    pub(in crate::release) fn emit(
        &self,
        hand: &mut Hand,
        cells: &[&str],
        mut push: impl FnMut(&str),
    ) {
        let mut text = std::mem::take(&mut hand.text);
        for output in &self.outputs {
            text.clear();
            match output {
                CellSource::Raw(input) => push(cells[*input]),
                CellSource::Value(input, values) => {
                    push(values.get(cells[*input]).map_or(cells[*input], |v| v));
                }
                CellSource::Cell { step, column } => {
                    if let Decided::Group(group) = &hand.decided[*step] {
                        push(&group.texts[*column]);
                    }
                }
                CellSource::Drawn { step, part } => {
                    if let (BoundStep::Draw(draw), Decided::Drawn(value, _, numbers)) =
                        (&self.steps[*step], &hand.decided[*step])
                    {
                        draw.write(*value, numbers, *part, &mut text);
                        push(&text);
                    }
                }
                CellSource::Number { step, column } => {
                    if let Decided::Numbers(numbers) = &hand.decided[*step] {
                        let known = &self.binding.plan.steps[*step];
                        let own = &self::numbers(known)[*column];
                        own.write(numbers[*column], &mut text);
                        push(&text);
                    }
                }
                CellSource::Spread { step, column } => {
                    self.spread(hand, *step, *column, &mut text);
                    push(&text);
                }
                CellSource::Group(step)
                | CellSource::Size(step)
                | CellSource::Subtable(step)
                | CellSource::Frame(step)
                | CellSource::Level(step) => {
                    let number = self.class(hand, output, *step);
                    if let Some(number) = number {
                        // Writing to a text does not fail.
                        let _ = write!(text, "{number}");
                    }
                    push(&text);
                }
            }
        }
        hand.text = text;
    }

    /// The number that tells a class.
    fn class(&self, hand: &Hand, output: &CellSource, step: usize) -> Option<u64> {
        match (output, &hand.decided[step], &self.steps[step]) {
            (CellSource::Group(_), Decided::Group(group), _) => {
                group.number.map(ClassId::one_based)
            }
            (CellSource::Size(_), Decided::Group(group), _) => Some(group.rows),
            (_, Decided::Apart(number), _) => Some(number.one_based()),
            (_, Decided::Drawn(_, subtable, _), _) => Some(subtable.one_based()),
            (CellSource::Frame(_), _, BoundStep::Blur { drawer, .. }) => {
                drawer.place(hand.row).map(|(frame, _)| u64::from(frame) + 1)
            }
            (CellSource::Level(_), _, BoundStep::Blur { drawer, .. }) => {
                drawer.place(hand.row).map(|(_, level)| u64::from(level) + 1)
            }
            (_, _, BoundStep::Redraw { plan, .. }) => {
                plan.group_of_row.get(hand.row).map(|group| group.one_based())
            }
            _ => None,
        }
    }

    fn spread(&self, hand: &Hand, step: usize, column: usize, text: &mut String) {
        let (BoundStep::Blur { drawer, .. }, Decided::Numbers(numbers)) =
            (&self.steps[step], &hand.decided[step])
        else {
            return;
        };
        if numbers[column].is_nan() {
            return;
        }
        if let Some(spread) = drawer.spread(hand.row, column) {
            text.push_str(&format_number(spread));
        }
    }

    /// Adds the line of the row, as CSV.
    pub(in crate::release) fn push_line(
        &self,
        hand: &mut Hand,
        cells: &[&str],
        line: &mut Vec<u8>,
    ) {
        let start = line.len();
        let mut first = true;
        self.emit(hand, cells, |cell| {
            if !first {
                line.push(b',');
            }
            first = false;
            push_quoted(line, cell);
        });
        if line.len() == start {
            // A line with one empty cell would be a blank line, which readers skip.
            line.extend_from_slice(b"\"\"");
        }
        line.push(b'\n');
    }

    /// The inputs whose cells are published as values.
    pub(in crate::release) fn emitted(&self) -> Vec<usize> {
        let inputs = self.outputs.iter().filter_map(|output| match output {
            CellSource::Raw(input) | CellSource::Value(input, _) => Some(*input),
            _ => None,
        });
        inputs.collect()
    }
}

impl NumberColumn {
    /// Writes a number with the column's decimals.
    fn write(&self, number: f64, text: &mut String) {
        if number.is_nan() {
            text.push_str(self.reading.missing_text());
        } else {
            let decimals = self.decimals as usize;
            // Writing to a text does not fail.
            let _ = write!(text, "{number:.decimals$}");
        }
    }
}

/// The columns of numbers of a step.
fn numbers(step: &Step) -> &[NumberColumn] {
    match step {
        Step::Blur(plan) => &plan.columns,
        Step::Redraw(plan) => &plan.columns,
        Step::Group(_) | Step::Draw(_) | Step::Apart(_) => &[],
    }
}

/// Where the cells of a column of the data come from.
pub(super) fn output(
    column: DataColumn<'_>,
    binding: Binding<'_>,
    inputs: &mut ReadColumns,
) -> Result<CellSource> {
    let steps = &binding.plan.steps;
    let of_kind = |kind: fn(&Step) -> bool| {
        steps.iter().position(kind).ok_or_else(|| misfit("a class"))
    };
    Ok(match column {
        DataColumn::Cells(column) => match treated(steps, column) {
            Some(output) => output,
            None => {
                let input = inputs.named(binding.source, &column.name)?;
                match binding.texts(&column.name) {
                    Some(known) => {
                        let values = known.into_iter();
                        let values = values.filter(|(raw, value)| raw != value);
                        let values =
                            values.map(|(raw, value)| (raw.into(), value.into()));
                        CellSource::Value(input, values.collect())
                    }
                    None => CellSource::Raw(input),
                }
            }
        },
        DataColumn::Spread(column, _) => match treated(steps, column) {
            Some(CellSource::Number { step, column }) => {
                CellSource::Spread { step, column }
            }
            _ => return Err(misfit(&column.name)),
        },
        DataColumn::Size(_) => {
            CellSource::Size(of_kind(|step| matches!(step, Step::Group(_)))?)
        }
        DataColumn::Class(class, _) => match &class.parameters {
            Parameters::Cells { .. } => {
                CellSource::Group(of_kind(|step| matches!(step, Step::Group(_)))?)
            }
            Parameters::Values { .. } => {
                let of = |step: &Step| match step {
                    Step::Apart(apart) => class.of == [apart.column.as_str()],
                    _ => false,
                };
                let step = steps.iter().position(of);
                CellSource::Group(step.ok_or_else(|| misfit("a group"))?)
            }
            Parameters::Moments { .. } => {
                CellSource::Group(of_kind(|step| matches!(step, Step::Redraw(_)))?)
            }
            Parameters::Frames { .. } => {
                CellSource::Frame(of_kind(|step| matches!(step, Step::Blur(_)))?)
            }
            Parameters::Levels => {
                CellSource::Level(of_kind(|step| matches!(step, Step::Blur(_)))?)
            }
            Parameters::Subtables { .. } => {
                let of = |step: &Step| match step {
                    Step::Draw(draw) => {
                        draw.columns.iter().map(|c| &c.name).eq(&class.of)
                    }
                    _ => false,
                };
                let step = steps.iter().position(of);
                CellSource::Subtable(step.ok_or_else(|| misfit("a sub-table"))?)
            }
        },
    })
}

/// Where the cells of a published column come from, if a step changes it.
fn treated(steps: &[Step], column: &PublishedColumn) -> Option<CellSource> {
    let name = &column.name;
    steps.iter().enumerate().find_map(|(step, known)| match known {
        Step::Group(plan) => {
            let place = plan.columns.iter().position(|known| known.name == *name)?;
            Some(CellSource::Cell { step, column: place })
        }
        Step::Draw(plan) => {
            let part = plan.columns.iter().position(|c| c.name == *name)?;
            Some(CellSource::Drawn { step, part })
        }
        Step::Blur(_) | Step::Redraw(_) => {
            let place = numbers(known).iter().position(|known| known.name == *name)?;
            Some(CellSource::Number { step, column: place })
        }
        // Values that stand apart are not in the rows.
        Step::Apart(_) => None,
    })
}
