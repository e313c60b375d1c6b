//! Writing one row of each group, in an order that tells nothing.

use std::path::Path;

use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::Grouping;
use crate::release::sink::{Sink, line, quoted};
use crate::release::{DataFormat, Origin, cell};
use crate::table::ColumnForm;

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct SampledTask<'a> {
    /// The table, counted.
    pub data: &'a Microdata,
    /// Its groups and cells.
    pub grouping: &'a Grouping,
    /// The published columns, in order: quasi and sensitive ones.
    pub columns: &'a [(String, Origin)],
    /// The column after them that tells how many rows a row stands for.
    pub size_column: &'a str,
    /// What the columns of the table held.
    pub forms: &'a [ColumnForm],
    /// The columns of the table.
    pub header: &'a [String],
    /// How the file is written.
    pub format: DataFormat,
}

/// A row that stands for its group.
#[derive(Debug, Clone)]
pub struct SampledRow {
    /// The group.
    pub group: u32,
    /// What is published in each sensitive column.
    pub texts: Vec<String>,
    /// How many rows the group has.
    pub size: u64,
}

/// Writes the rows to `path`, sorted by their text.
pub fn write_sampled(
    task: &SampledTask<'_>,
    rows: &[SampledRow],
    path: &Path,
) -> Result<()> {
    let names = task.columns.iter().map(|(name, _)| name.as_str());
    let header: Vec<&str> = names.chain([task.size_column]).collect();
    let form = |(name, origin): &(String, Origin)| match origin {
        Origin::Sensitive(_) => {
            let place = task.header.iter().position(|known| known == name);
            place.map_or(ColumnForm::Text, |place| task.forms[place])
        }
        _ => ColumnForm::Text,
    };
    let forms: Vec<ColumnForm> =
        task.columns.iter().map(form).chain([ColumnForm::Integer]).collect();
    let mut lines: Vec<Vec<u8>> = rows
        .iter()
        .map(|row| {
            let covers = &task.grouping.covers[row.group as usize];
            let text = |(_, origin): &(String, Origin)| match origin {
                Origin::Quasi(place) => {
                    quoted(&cell::text(&task.data.quasi[*place], &covers[*place]))
                }
                Origin::Sensitive(place) => quoted(&row.texts[*place]),
                Origin::Other(_) | Origin::Group => Vec::new(),
            };
            let size = row.size.to_string().into_bytes();
            let cells: Vec<Vec<u8>> =
                task.columns.iter().map(text).chain([size]).collect();
            line(cells.iter().map(Vec::as_slice))
        })
        .collect();
    lines.sort_unstable();
    let mut sink = Sink::create(path, task.format, &header, &forms)?;
    for line in &lines {
        sink.write(line, 1)?;
    }
    sink.finish()
}
