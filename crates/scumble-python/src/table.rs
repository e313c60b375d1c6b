//! Tables in and out: anything that is an Arrow stream, and lists.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Float64Array, Int64Array,
    PrimitiveArray, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    make_array,
};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_data::transform::MutableArrayData;
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use scumble::table::{Kind, ReadOptions, Reading, RowPlace, Source};
use scumble::watch::Watch;
use scumble::{Error, Input};

use crate::errors::{input_error, raised};

/// A table in memory, as Arrow batches.
#[pyclass(frozen, module = "scumble._internal")]
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

/// A table as it is given: in memory, or in a file.
#[derive(FromPyObject)]
pub(crate) enum Given {
    /// In memory.
    Table(Py<Table>),
    /// In a file.
    Path(PathBuf),
}

impl Given {
    /// As the library takes it.
    pub(crate) fn input(&self) -> Input {
        match self {
            Self::Table(table) => Input::Batches(table.get().batches.clone()),
            Self::Path(path) => Input::File(path.clone()),
        }
    }

    /// As a table of its own, which messages call `name`.
    pub(crate) fn source(&self, name: &str) -> scumble::Result<Source> {
        match self {
            Self::Table(table) => {
                Source::from_batches(name, table.get().batches.clone())
            }
            Self::Path(path) => Source::open(path, &ReadOptions::default()),
        }
    }
}

#[pymethods]
impl Table {
    /// Reads an object with `__arrow_c_stream__`.
    #[staticmethod]
    fn from_stream(py: Python<'_>, stream: &Bound<'_, PyAny>) -> PyResult<Self> {
        let reader = RecordBatchStreamReader::from_pyarrow_bound(stream)?;
        let schema = reader.schema();
        // What is behind the stream may need the interpreter on other threads.
        let batches = py.detach(|| reader.collect::<Result<Vec<RecordBatch>, _>>());
        let batches = batches.map_err(|_| {
            input_error("the table cannot be read: its Arrow stream ended early", "")
        })?;
        let table = py.detach(|| tidied(schema, batches));
        table.map_err(|error| raised(&error))
    }

    /// A table of lists: for each column its name, what it holds (`int`, `float`, `bool`,
    /// `text`, or `date` as days since 1970), and its values.
    #[staticmethod]
    fn from_columns(
        columns: Vec<(String, String, Bound<'_, PyAny>)>,
    ) -> PyResult<Self> {
        let mut fields = Vec::with_capacity(columns.len());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        for (name, kind, values) in columns {
            let array: ArrayRef = match &*kind {
                "int" => {
                    Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?))
                }
                "float" => {
                    Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?))
                }
                "bool" => {
                    Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?))
                }
                "date" => {
                    let days = values.extract::<Vec<Option<i32>>>()?;
                    Arc::new(PrimitiveArray::<Date32Type>::from(days))
                }
                _ => Arc::new(StringArray::from(
                    values.extract::<Vec<Option<String>>>()?,
                )),
            };
            fields.push(Field::new(name, array.data_type().clone(), true));
            arrays.push(array);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(|_| {
            input_error("the columns are not equally long", "every row has all columns")
        })?;
        tidied(schema, vec![batch]).map_err(|error| raised(&error))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// How many rows there are.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The columns as lists; dates are days since 1970, and named in the second dictionary.
    fn lists<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
        let (all, mut dates) = (PyDict::new(py), Vec::new());
        for (place, field) in self.schema.fields().iter().enumerate() {
            let list = PyList::empty(py);
            for batch in &self.batches {
                append(&list, batch.column(place))?;
            }
            if *field.data_type() == DataType::Date32 {
                dates.push(field.name().clone());
            }
            all.set_item(field.name(), list)?;
        }
        Ok((all, dates))
    }

    /// The table as a CSV file, with these characters between cells; without a header if
    /// that is empty.
    fn csv<'py>(&self, py: Python<'py>, header: bool) -> PyResult<Bound<'py, PyBytes>> {
        let text = self.csv_text(header).map_err(|error| raised(&error))?;
        Ok(PyBytes::new(py, text.as_bytes()))
    }

    /// The rows as an Arrow stream, for every library that reads one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Whoever asked casts what it gets, as the protocol allows.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// What the columns hold.
    fn __arrow_c_schema__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema)
            .map_err(|error| input_error(&error.to_string(), ""))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

impl Table {
    fn csv_text(&self, header: bool) -> scumble::Result<String> {
        let mut text = String::new();
        if header {
            let names: Vec<String> = self.column_names();
            text += &csv_line(names.iter().map(String::as_str));
        }
        let source = Source::from_batches("the table", self.batches.clone())?;
        let columns: Vec<_> = source.columns().collect();
        let lines = source.fold(
            &columns,
            Vec::new,
            |lines: &mut Vec<(RowPlace, String)>, place, cells| {
                lines.push((place, csv_line(cells.iter().copied())));
                Ok(())
            },
            &scumble::Unwatched,
        )?;
        let mut lines: Vec<_> = lines.states.into_iter().flatten().collect();
        lines.sort_by_key(|(place, _)| *place);
        text.extend(lines.into_iter().map(|(_, line)| line));
        Ok(text)
    }

    /// All rows of a table, each column typed by how its texts are read; nothing of a
    /// column that is not published as values stays text.
    pub(crate) fn read(
        source: &Source,
        wanted: impl Fn(&str) -> Wanted,
        watch: &dyn Watch,
    ) -> scumble::Result<Self> {
        let columns: Vec<_> = source.columns().collect();
        let start = Vec::<(u32, Vec<Vec<Box<str>>>)>::new;
        let folded = source.fold(
            &columns,
            start,
            |blocks, place, cells| {
                if blocks.last().is_none_or(|(block, _)| *block != place.block) {
                    blocks.push((place.block, vec![Vec::new(); cells.len()]));
                }
                if let Some((_, lists)) = blocks.last_mut() {
                    for (list, cell) in lists.iter_mut().zip(cells) {
                        list.push((*cell).into());
                    }
                }
                Ok(())
            },
            watch,
        )?;
        let mut blocks: Vec<_> = folded.states.into_iter().flatten().collect();
        blocks.sort_by_key(|(block, _)| *block);
        let mut texts: Vec<Vec<Vec<Box<str>>>> =
            columns.iter().map(|_| vec![]).collect();
        for (_, lists) in blocks {
            for (all, list) in texts.iter_mut().zip(lists) {
                all.push(list);
            }
        }
        let mut fields = Vec::new();
        let mut arrays: Vec<Vec<ArrayRef>> = Vec::new();
        for (name, blocks) in source.header().iter().zip(texts) {
            let (data, own) = typed(&blocks, &wanted(name));
            fields.push(Field::new(name, data, true));
            arrays.push(own);
        }
        Self::of(Arc::new(Schema::new(fields)), arrays)
    }

    /// The table of these columns, each in as many pieces.
    pub(crate) fn of(
        schema: SchemaRef,
        arrays: Vec<Vec<ArrayRef>>,
    ) -> scumble::Result<Self> {
        let n_blocks = arrays.first().map_or(0, Vec::len);
        let batches = (0..n_blocks).map(|block| {
            let own = arrays.iter().map(|pieces| pieces[block].clone()).collect();
            RecordBatch::try_new(schema.clone(), own)
                .map_err(|error| Error::input(error.to_string()))
        });
        let batches = batches.collect::<scumble::Result<_>>()?;
        Ok(Self { schema, batches })
    }
}

/// What a column of a release is to be in memory.
pub(crate) enum Wanted {
    /// Values as the table had them, read so.
    Values(Reading),
    /// Numbers that the release adds.
    Numbers,
    /// Texts as they are published.
    Cells,
}

/// Texts in pieces, as arrays of one type: numbers and days where all of them are.
pub(crate) fn typed(
    pieces: &[Vec<Box<str>>],
    wanted: &Wanted,
) -> (DataType, Vec<ArrayRef>) {
    let missing = |text: &str| match wanted {
        Wanted::Values(reading) => reading.is_missing(text),
        Wanted::Numbers => text.is_empty(),
        Wanted::Cells => false,
    };
    let tried: &[DataType] = match wanted {
        Wanted::Values(Reading { kind: Kind::Number, .. }) | Wanted::Numbers => {
            &[DataType::Int64, DataType::Float64]
        }
        Wanted::Values(Reading { kind: Kind::Date, date_format: None, .. }) => {
            &[DataType::Date32]
        }
        _ => &[],
    };
    let texts = |keep: &dyn Fn(&str) -> bool| -> Vec<ArrayRef> {
        let array = |list: &Vec<Box<str>>| {
            let texts = list.iter().map(|text| keep(text).then_some(&**text));
            Arc::new(texts.collect::<StringArray>()) as ArrayRef
        };
        pieces.iter().map(array).collect()
    };
    let options = CastOptions { safe: false, ..CastOptions::default() };
    if !tried.is_empty() {
        let known = texts(&|text| !missing(text));
        for data in tried {
            let cast = known.iter().map(|a| cast_with_options(a, data, &options));
            if let Ok(arrays) = cast.collect::<Result<Vec<ArrayRef>, _>>() {
                return (data.clone(), arrays);
            }
        }
    }
    // Of words only the empty text is nothing: others that stand for it are words to see.
    (DataType::Utf8, texts(&|text| !(text.is_empty() && missing(text))))
}

/// A table as the library is given it: what is not a number is not known, and moments that
/// are all midnights are days, as programs write them to CSV.
fn tidied(schema: SchemaRef, batches: Vec<RecordBatch>) -> scumble::Result<Table> {
    let mut fields: Vec<Field> = Vec::new();
    let mut columns: Vec<Vec<ArrayRef>> = Vec::new();
    for (place, field) in schema.fields().iter().enumerate() {
        let mut pieces: Vec<ArrayRef> =
            batches.iter().map(|batch| known(batch.column(place))).collect();
        let mut data = field.data_type().clone();
        if let DataType::Timestamp(_, None) = &data
            && pieces.iter().all(is_midnights)
        {
            data = DataType::Date32;
            let cast = |piece: &ArrayRef| arrow_cast::cast(piece, &data);
            pieces = pieces
                .iter()
                .map(cast)
                .collect::<Result<_, _>>()
                .map_err(|error| Error::input(error.to_string()))?;
        }
        fields.push(Field::new(field.name(), data, true));
        columns.push(pieces);
    }
    let schema = Arc::new(Schema::new(fields));
    if batches.is_empty() {
        let batches = vec![RecordBatch::new_empty(schema.clone())];
        return Ok(Table { schema, batches });
    }
    if columns.is_empty() {
        return Ok(Table { schema, batches });
    }
    Table::of(schema, columns)
}

/// The same array as our own, with nothing in place of what is not a number.
fn known(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Float64 => without_nan::<Float64Type>(array, |x| x.is_nan()),
        DataType::Float32 => without_nan::<Float32Type>(array, |x| x.is_nan()),
        data if data.is_primitive() => copied(array),
        _ => array.clone(),
    }
}

/// A copy. Numbers may lie in an array of numpy, which somebody may write to while the
/// table is read, more than once; texts are nobody's to change.
fn copied(array: &ArrayRef) -> ArrayRef {
    let data = array.to_data();
    let mut copy = MutableArrayData::new(vec![&data], false, data.len());
    copy.try_extend(0, 0, data.len()).expect("numbers have no offsets that overflow");
    make_array(copy.freeze())
}

fn without_nan<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    is_nan: impl Fn(T::Native) -> bool,
) -> ArrayRef {
    let floats = array.as_primitive::<T>();
    if !floats.values().iter().any(|number| is_nan(*number)) {
        return copied(array);
    }
    let known = floats.iter().map(|number| number.filter(|number| !is_nan(*number)));
    Arc::new(known.collect::<PrimitiveArray<T>>())
}

/// Whether all moments are midnights.
fn is_midnights(array: &ArrayRef) -> bool {
    const DAY: i64 = 86_400;
    fn all<T: ArrowPrimitiveType<Native = i64>>(array: &ArrayRef, day: i64) -> bool {
        array.as_primitive::<T>().iter().flatten().all(|moment| moment % day == 0)
    }
    match array.data_type() {
        DataType::Timestamp(TimeUnit::Second, _) => {
            all::<TimestampSecondType>(array, DAY)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            all::<TimestampMillisecondType>(array, DAY * 1_000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            all::<TimestampMicrosecondType>(array, DAY * 1_000_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            all::<TimestampNanosecondType>(array, DAY * 1_000_000_000)
        }
        _ => false,
    }
}

/// Adds the values of an array to a list.
fn append(list: &Bound<'_, PyList>, array: &ArrayRef) -> PyResult<()> {
    match array.data_type() {
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().iter().try_for_each(|v| list.append(v))
        }
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().iter().try_for_each(|v| list.append(v))
        }
        DataType::Date32 => {
            array.as_primitive::<Date32Type>().iter().try_for_each(|v| list.append(v))
        }
        DataType::Boolean => array.as_boolean().iter().try_for_each(|v| list.append(v)),
        _ => {
            let texts = arrow_cast::cast(array, &DataType::Utf8).map_err(|_| {
                input_error("a column cannot be written as text", "leave it out")
            })?;
            texts.as_string::<i32>().iter().try_for_each(|v| list.append(v))
        }
    }
}

fn csv_line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = cells.map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")));
    quoted.collect::<Vec<String>>().join(",") + "\n"
}
