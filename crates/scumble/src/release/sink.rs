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
use crate::table::ColumnForm;

/// Rows of one batch of a Parquet file.
const BATCH: usize = 65_536;

/// Where a file is written, and what messages call it.
pub(crate) struct Output {
    pub(crate) out: Box<dyn Write + Send>,
    pub(crate) name: String,
}

/// Takes finished CSV lines.
pub(crate) enum Sink {
    Csv { file: BufWriter<Box<dyn Write + Send>>, name: String },
    Parquet(Box<ParquetSink>),
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
        Self::new(Output { out: Box::new(file), name }, format, header, forms)
    }

    /// Begins a file. `forms` tells what each column was in the input.
    pub(crate) fn new(
        Output { out, name }: Output,
        format: DataFormat,
        header: &[&str],
        forms: &[ColumnForm],
    ) -> Result<Self> {
        match format {
            DataFormat::Csv => Self::stream(out, &name, header),
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
        let mut file = BufWriter::with_capacity(1 << 20, out);
        let name = name.to_owned();
        let cells: Vec<Vec<u8>> = header.iter().map(|cell| quoted(cell)).collect();
        file.write_all(&line(cells.iter().map(Vec::as_slice)))
            .map_err(|error| Error::io("write", name.clone(), error))?;
        Ok(Self::Csv { file, name })
    }

    /// Writes a line, several times.
    pub(super) fn write(&mut self, line: &[u8], times: u64) -> Result<()> {
        match self {
            Self::Csv { file, name } => {
                for _ in 0..times {
                    file.write_all(line)
                        .map_err(|error| Error::io("write", name.clone(), error))?;
                }
                Ok(())
            }
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
            Self::Csv { file, name } => file
                .write_all(lines)
                .map_err(|error| Error::io("write", name.clone(), error)),
            Self::Parquet(sink) => {
                sink.lines.extend_from_slice(lines);
                sink.n_lines += n_lines;
                if sink.n_lines >= BATCH { sink.flush() } else { Ok(()) }
            }
        }
    }

    /// Completes the file.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Csv { mut file, name } => {
                file.flush().map_err(|error| Error::io("write", name, error))
            }
            Self::Parquet(mut sink) => {
                sink.flush()?;
                let name = sink.name.clone();
                sink.writer.close().map_err(|error| parquet_error(&name, &error))?;
                Ok(())
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
