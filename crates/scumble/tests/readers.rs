//! Reading gives back what was written, however it is cut into blocks and threads.

#![expect(clippy::unwrap_used, reason = "clippy knows tests, but not their helpers")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use scumble::error::Result;
use scumble::table::{ColumnForm, ReadOptions, Source, scan};

type Rows = Vec<Vec<String>>;

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

/// All rows in the order of the file.
fn rows(source: &Source, columns: &[usize]) -> Result<Rows> {
    let folded = source.fold(
        columns,
        Vec::new,
        |seen: &mut Vec<(_, Vec<String>)>, spot, cells| {
            seen.push((spot, cells.iter().map(|cell| (*cell).to_owned()).collect()));
            Ok(())
        },
        &|_| (),
    )?;
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for (spot, cells) in folded.states.iter().flatten() {
        rows.push((folded.row_number(*spot), cells.clone()));
    }
    rows.sort();
    assert!(rows.iter().map(|row| row.0).eq(1..=folded.n_rows));
    Ok(rows.into_iter().map(|row| row.1).collect())
}

fn all_columns(source: &Source) -> Vec<usize> {
    (0..source.header().len()).collect()
}

fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c0-9 ]{0,3}",
        2 => "[,;|\t\"\r\nxé]{0,4}",
        1 => "\\PC{0,20}",
    ]
}

fn table() -> impl Strategy<Value = Rows> {
    (1..5usize).prop_flat_map(|width| {
        prop::collection::vec(prop::collection::vec(cell(), width), 1..40)
    })
}

fn written(rows: &Rows, delimiter: u8, windows: bool) -> Vec<u8> {
    let terminator =
        if windows { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
    let mut writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(terminator)
        .from_writer(Vec::new());
    writer.write_record((0..rows[0].len()).map(|column| format!("c{column}"))).unwrap();
    for row in rows {
        writer.write_record(row).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn what_is_written_is_read(
        table in table(),
        delimiter in prop::sample::select(vec![b',', b';', b'\t', b'|']),
        windows: bool,
        block_bytes in 1..200usize,
    ) {
        let bytes = written(&table, delimiter, windows);
        let size = bytes.len() as u64;
        let options = ReadOptions {
            delimiter: Some(delimiter),
            block_bytes: Some(block_bytes),
        };
        let source = Source::from_bytes("t.csv", bytes, &options).unwrap();
        let columns = all_columns(&source);
        prop_assert_eq!(source.bytes(), size);
        for threads in [1, 3] {
            let read = with_threads(threads, || rows(&source, &columns)).unwrap();
            prop_assert_eq!(&read, &table);
        }
        let last = columns.len() - 1;
        let expected: Rows = table
            .iter()
            .map(|row| vec![row[last].clone(), row[0].clone(), row[last].clone()])
            .collect();
        prop_assert_eq!(rows(&source, &[last, 0, last]).unwrap(), expected);
    }

    #[test]
    fn a_scan_counts_what_a_map_counts(
        table in table(),
        block_bytes in 1..200usize,
    ) {
        let options =
            ReadOptions { delimiter: Some(b','), block_bytes: Some(block_bytes) };
        let source = Source::from_bytes("t.csv", written(&table, b',', false), &options);
        let source = source.unwrap();
        let columns = all_columns(&source);
        let mut expected: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for row in &table {
            *expected.entry(row.clone()).or_default() += 1;
        }
        let one = with_threads(1, || scan(&source, &columns, &|_| ())).unwrap();
        let three = with_threads(3, || scan(&source, &columns, &|_| ())).unwrap();
        prop_assert_eq!(&one, &three);
        prop_assert_eq!(one.n_rows, table.len() as u64);

        let text = |column: usize, code: u32| {
            one.dictionaries[column].texts[code as usize].to_string()
        };
        let found: Vec<(Vec<String>, u64)> = (0..one.counts.len())
            .map(|tuple| {
                let codes = one.counts.columns.iter().map(|codes| codes[tuple]);
                let cells = codes.enumerate().map(|(column, code)| text(column, code));
                (cells.collect(), one.counts.rows[tuple])
            })
            .collect();
        prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());

        for (column, dictionary) in one.dictionaries.iter().enumerate() {
            prop_assert!(dictionary.texts.is_sorted());
            for (code, text) in dictionary.texts.iter().enumerate() {
                let has = |row: &&Vec<String>| *row[column] == **text;
                let first = table.iter().position(|row| has(&row)).unwrap() as u64 + 1;
                prop_assert_eq!(dictionary.first_rows[code], first);
                let n = table.iter().filter(has).count() as u64;
                prop_assert_eq!(dictionary.rows[code], n);
            }
        }
    }

    #[test]
    fn an_error_does_not_depend_on_blocks_or_threads(
        table in table(),
        cut in any::<prop::sample::Index>(),
        junk in prop::sample::select(vec![&b"\""[..], b"\xff", b",", b"\n", b",\"x\n"]),
        block_bytes in 1..200usize,
    ) {
        let mut bytes = written(&table, b',', false);
        let cut = cut.index(bytes.len());
        bytes.splice(cut..cut, junk.iter().copied());
        let read = |block_bytes, threads| {
            let options = ReadOptions { delimiter: Some(b','), block_bytes };
            let source = Source::from_bytes("t.csv", bytes.clone(), &options)?;
            with_threads(threads, || rows(&source, &all_columns(&source)))
        };
        let (whole, cut) = (read(None, 1), read(Some(block_bytes), 3));
        prop_assert_eq!(
            whole.map_err(|error| error.to_string()),
            cut.map_err(|error| error.to_string())
        );
    }

    #[test]
    fn random_bytes_do_no_harm(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        name in prop::sample::select(vec!["t.csv", "t.parquet", "t"]),
    ) {
        if let Ok(source) = Source::from_bytes(name, bytes, &ReadOptions::default()) {
            let _ = scan(&source, &all_columns(&source), &|_| ());
        }
    }
}

fn parquet_bytes(batch: &RecordBatch, group_rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .build();
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn text_batch(table: &Rows) -> RecordBatch {
    let columns = (0..table[0].len()).map(|column| {
        let cells = table.iter().map(|row| row[column].as_str());
        let array: ArrayRef = Arc::new(StringArray::from_iter_values(cells));
        (format!("c{column}"), array)
    });
    RecordBatch::try_from_iter(columns).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn parquet_reads_as_it_was_written(table in table(), group_rows in 1..50usize) {
        let bytes = parquet_bytes(&text_batch(&table), group_rows);
        // Standard input has no ending either.
        let source = Source::from_bytes("t", bytes, &ReadOptions::default()).unwrap();
        for threads in [1, 3] {
            let read = with_threads(threads, || rows(&source, &all_columns(&source)));
            prop_assert_eq!(&read.unwrap(), &table);
        }
    }

    #[test]
    fn a_damaged_parquet_file_is_an_error_or_a_table(
        table in table(),
        at in any::<prop::sample::Index>(),
        byte: u8,
        end in any::<prop::sample::Index>(),
        shorten: bool,
    ) {
        let mut bytes = parquet_bytes(&text_batch(&table), 10);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if shorten {
            bytes.truncate(end.index(bytes.len()));
        }
        let source = Source::from_bytes("t.parquet", bytes, &ReadOptions::default());
        if let Ok(source) = source {
            let _ = rows(&source, &all_columns(&source));
        }
    }
}

/// One column of each form, with an unknown value in the second row.
fn mixed_batch() -> RecordBatch {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some([Some(1)]),
        None,
        Some([Some(2)]),
    ]);
    let decimals = Decimal128Array::from(vec![Some(1250), None, Some(5)]);
    let moments = TimestampMillisecondArray::from(vec![Some(0), None, Some(1500)]);
    let words: DictionaryArray<Int32Type> =
        [Some("x"), None, Some("y")].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("int", Arc::new(Int64Array::from(vec![Some(-3), None, Some(7)]))),
        ("float", Arc::new(Float64Array::from(vec![Some(0.5), None, Some(2.0)]))),
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("date", Arc::new(Date32Array::from(vec![Some(0), None, Some(19782)]))),
        ("list", Arc::new(lists)),
        ("decimal", Arc::new(decimals.with_precision_and_scale(10, 2).unwrap())),
        ("naive", Arc::new(moments.clone())),
        ("zoned", Arc::new(moments.with_timezone("Europe/Berlin"))),
        ("word", Arc::new(words)),
    ];
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

#[test]
fn every_flat_column_has_a_text_and_unknown_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, parquet_bytes(&mixed_batch(), 2)).unwrap();
    let source = Source::open(&path, &ReadOptions::default()).unwrap();
    let read = rows(&source, &[8, 0, 1, 2, 3, 5, 6, 7]).unwrap();
    let epoch = "1970-01-01T00:00:00";
    let zoned = format!("{epoch}Z");
    assert_eq!(
        read[0],
        ["x", "-3", "0.5", "true", "1970-01-01", "12.50", epoch, &zoned]
    );
    assert!(read[1].iter().all(String::is_empty));
    assert_eq!(read[2][4], "2024-02-29");
    assert_eq!(read[2][6], "1970-01-01T00:00:01.500");
    use ColumnForm::{Boolean, Date, Float, Integer, Other, Text};
    let forms = [Integer, Float, Boolean, Date, Other, Float, Date, Date, Text];
    assert_eq!(source.forms(), forms);
}

#[test]
fn a_nested_column_fails_only_if_it_is_wanted() {
    let bytes = parquet_bytes(&mixed_batch(), 2);
    let source = Source::from_bytes("t.parquet", bytes, &ReadOptions::default());
    let error = rows(&source.unwrap(), &[0, 4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "t.parquet: column `list` holds lists or records, but must hold one value a row"
    );
}

#[test]
fn a_large_parquet_file_keeps_its_order_in_one_row_group() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300_000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    std::fs::write(&path, parquet_bytes(&batch, 1 << 20)).unwrap();
    let source = Source::open(&path, &ReadOptions::default()).unwrap();
    let read = with_threads(3, || rows(&source, &[0])).unwrap();
    assert!(read.iter().enumerate().all(|(place, row)| row[0] == place.to_string()));
}

#[test]
fn a_file_that_is_no_parquet_says_so() {
    let source = Source::from_bytes(
        "t.parquet",
        b"x,y\n1,2\n".to_vec(),
        &ReadOptions::default(),
    );
    assert_eq!(
        source.unwrap_err().to_string(),
        "t.parquet: this is not a Parquet file, or it is damaged"
    );
}

#[test]
fn progress_adds_up_to_the_file() {
    let text = "x,y\n".to_owned() + &"1,2\n".repeat(1000);
    let options = ReadOptions { block_bytes: Some(100), ..ReadOptions::default() };
    let source = Source::from_bytes("t.csv", text.into_bytes(), &options).unwrap();
    let total = AtomicU64::new(0);
    let add = |bytes| {
        total.fetch_add(bytes, Ordering::SeqCst);
    };
    scan(&source, &[0], &add).unwrap();
    assert_eq!(total.into_inner(), source.bytes());
}
