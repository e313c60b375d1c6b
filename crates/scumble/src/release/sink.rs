//! Where sorted rows go: a CSV file, or a Parquet file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::error::{Error, Result};
use crate::release::DataFormat;
use crate::table::{ColumnForm, formulas, guarded};

/// Rows of one batch of a Parquet file.
const BATCH: usize = 65_536;

/// Where a file is written, and what messages call it.
pub(crate) struct Output {
    pub(crate) out: Box<dyn Write + Send>,
    pub(crate) name: String,
}

/// Takes finished CSV lines.
pub(crate) enum Sink {
    Csv(CsvSink),
    Parquet(Box<ParquetSink>),
}

/// What becomes of cells that a spreadsheet would take for formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formulas {
    /// They are written as they are.
    Kept,
    /// They get a guard.
    Guarded,
}

/// Writes lines as they come.
pub(crate) struct CsvSink {
    file: BufWriter<Box<dyn Write + Send>>,
    name: String,
    formulas: Formulas,
    /// How many cells a spreadsheet would take for formulas.
    met: u64,
}

impl CsvSink {
    fn write(&mut self, lines: &[u8], times: u64) -> Result<()> {
        let guarded = match self.formulas {
            Formulas::Guarded => guarded(lines),
            Formulas::Kept => {
                self.met += formulas(lines) * times;
                None
            }
        };
        let lines = guarded.as_deref().unwrap_or(lines);
        for _ in 0..times {
            let written = self.file.write_all(lines);
            written.map_err(|error| Error::io("write", self.name.clone(), error))?;
        }
        Ok(())
    }
}

/// Collects lines into batches of columns.
pub(crate) struct ParquetSink {
    writer: ArrowWriter<Box<dyn Write + Send>>,
    schema: Arc<Schema>,
    // A header line, before the lines of a batch.
    start: Vec<u8>,
    lines: Vec<u8>,
    n_lines: usize,
    name: String,
}

impl Sink {
    /// Creates the file. `forms` tells what each column was in the input.
    pub(crate) fn create(
        path: &Path,
        format: DataFormat,
        header: &[&str],
        forms: &[ColumnForm],
    ) -> Result<Self> {
        let name = path.display().to_string();
        let file = File::create(path)
            .map_err(|error| Error::io("write", name.clone(), error))?;
        let out = Output { out: Box::new(file), name };
        Self::new(out, format, Formulas::Kept, header, forms)
    }

    /// Begins a file. `forms` tells what each column was in the input.
    pub(crate) fn new(
        Output { out, name }: Output,
        format: DataFormat,
        formulas: Formulas,
        header: &[&str],
        forms: &[ColumnForm],
    ) -> Result<Self> {
        match format {
            DataFormat::Csv => Self::csv(out, &name, formulas, header),
            DataFormat::Parquet => {
                let fields: Vec<Field> = header
                    .iter()
                    .zip(forms)
                    .map(|(name, form)| Field::new(*name, arrow_type(*form), true))
                    .collect();
                let schema = Arc::new(Schema::new(fields));
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_created_by("scumble".to_owned())
                    .build();
                let writer =
                    ArrowWriter::try_new(out, schema.clone(), Some(properties))
                        .map_err(|error| parquet_error(&name, &error))?;
                let columns = header.iter().map(|_| b"column".as_slice());
                let start = line(columns);
                Ok(Self::Parquet(Box::new(ParquetSink {
                    writer,
                    schema,
                    lines: start.clone(),
                    start,
                    n_lines: 0,
                    name,
                })))
            }
        }
    }

    /// Writes CSV to where `name` says.
    pub(crate) fn stream(
        out: Box<dyn Write + Send>,
        name: &str,
        header: &[&str],
    ) -> Result<Self> {
        Self::csv(out, name, Formulas::Kept, header)
    }

    fn csv(
        out: Box<dyn Write + Send>,
        name: &str,
        formulas: Formulas,
        header: &[&str],
    ) -> Result<Self> {
        let file = BufWriter::with_capacity(1 << 20, out);
        let mut sink = CsvSink { file, name: name.to_owned(), formulas, met: 0 };
        let cells: Vec<Vec<u8>> = header.iter().map(|cell| quoted(cell)).collect();
        sink.write(&line(cells.iter().map(Vec::as_slice)), 1)?;
        Ok(Self::Csv(sink))
    }

    /// Writes a line, several times.
    pub(super) fn write(&mut self, line: &[u8], times: u64) -> Result<()> {
        match self {
            Self::Csv(sink) => sink.write(line, times),
            Self::Parquet(sink) => {
                for _ in 0..times {
                    sink.lines.extend_from_slice(line);
                    sink.n_lines += 1;
                    if sink.n_lines == BATCH {
                        sink.flush()?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Writes lines that stand one after another.
    pub(crate) fn write_lines(&mut self, lines: &[u8], n_lines: usize) -> Result<()> {
        match self {
            Self::Csv(sink) => sink.write(lines, 1),
            Self::Parquet(sink) => {
                sink.lines.extend_from_slice(lines);
                sink.n_lines += n_lines;
                if sink.n_lines >= BATCH { sink.flush() } else { Ok(()) }
            }
        }
    }

    /// Completes the file, and says how many of its cells a spreadsheet would take for
    /// formulas.
    pub(crate) fn finish(self) -> Result<u64> {
        match self {
            Self::Csv(CsvSink { mut file, name, met, .. }) => {
                file.flush().map_err(|error| Error::io("write", name, error))?;
                Ok(met)
            }
            Self::Parquet(mut sink) => {
                sink.flush()?;
                let name = sink.name.clone();
                sink.writer.close().map_err(|error| parquet_error(&name, &error))?;
                Ok(0)
            }
        }
    }
}

impl ParquetSink {
    fn flush(&mut self) -> Result<()> {
        let fields = self.schema.fields();
        let mut columns: Vec<StringBuilder> = fields
            .iter()
            .map(|_| StringBuilder::with_capacity(self.n_lines, 0))
            .collect();
        // The lines begin with a header, so that a byte order mark in the first cell is
        // not taken for one of the file.
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(true)
            .from_reader(std::io::Cursor::new(std::mem::take(&mut self.lines)));
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| {
            Error::input(format!("a row cannot be written: {error}"))
                .in_file(self.name.clone())
        })? {
            for ((column, cell), field) in columns.iter_mut().zip(&record).zip(fields) {
                // An empty text is null unless text is wanted.
                match cell.is_empty() && *field.data_type() != DataType::Utf8 {
                    true => column.append_null(),
                    false => column.append_value(cell),
                }
            }
        }
        drop(reader);
        self.n_lines = 0;
        self.lines = self.start.clone();
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (mut cells, field) in columns.into_iter().zip(self.schema.fields()) {
            arrays.push(array(cells.finish(), field.data_type(), &self.name)?);
        }
        let batch =
            RecordBatch::try_new(self.schema.clone(), arrays).map_err(|error| {
                Error::input(error.to_string()).in_file(self.name.clone())
            })?;
        self.writer.write(&batch).map_err(|error| parquet_error(&self.name, &error))
    }
}

/// Texts as a column of the wanted type.
fn array(texts: StringArray, wanted: &DataType, file: &str) -> Result<ArrayRef> {
    if *wanted == DataType::Utf8 {
        return Ok(Arc::new(texts));
    }
    arrow_cast::cast(&texts, wanted)
        .map_err(|error| Error::input(error.to_string()).in_file(file.to_owned()))
}

fn arrow_type(form: ColumnForm) -> DataType {
    match form {
        ColumnForm::Integer => DataType::Int64,
        ColumnForm::Float => DataType::Float64,
        ColumnForm::Boolean => DataType::Boolean,
        ColumnForm::Date => DataType::Date32,
        _ => DataType::Utf8,
    }
}

fn parquet_error(file: &str, error: &parquet::errors::ParquetError) -> Error {
    Error::input(format!("cannot write: {error}")).in_file(file.to_owned())
}

/// A cell as it stands in a CSV line.
pub(super) fn quoted(cell: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(cell.len() + 2);
    push_quoted(&mut line, cell);
    line
}

/// Adds a cell as it stands in a CSV line.
pub(crate) fn push_quoted(line: &mut Vec<u8>, cell: &str) {
    let mut rest = cell.as_bytes();
    let special = |byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    if !rest.iter().any(special) {
        line.extend_from_slice(rest);
        return;
    }
    line.push(b'"');
    while let Some(quote) = memchr::memchr(b'"', rest) {
        line.extend_from_slice(&rest[..=quote]);
        line.push(b'"');
        rest = &rest[quote + 1..];
    }
    line.extend_from_slice(rest);
    line.push(b'"');
}

/// A CSV line with its end. A line with one empty cell would be a blank line, which readers
/// skip.
pub(super) fn line<'a>(cells: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut line = Vec::new();
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            line.push(b',');
        }
        line.extend_from_slice(cell);
    }
    if line.is_empty() {
        line.extend_from_slice(b"\"\"");
    }
    line.push(b'\n');
    line
}
