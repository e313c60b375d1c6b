//! Reading gives back what was written, however it is cut into blocks and threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int64Array, LargeStringArray, ListArray, NullArray,
    RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray, UInt64Array,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use proptest::prelude::*;
use scumble::error::{Error, Result};
use scumble::table::{Code, ColumnForm, ColumnId, ReadOptions, Source, scan};
use scumble::watch::{Unwatched, Watch};

type Rows = Vec<Vec<String>>;

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

/// All rows in the order of the file.
fn rows(source: &Source, columns: &[ColumnId]) -> Result<Rows> {
    let folded = source.fold(
        columns,
        Vec::new,
        |seen: &mut Vec<(_, Vec<String>)>, spot, cells| {
            seen.push((spot, cells.iter().map(|cell| (*cell).to_owned()).collect()));
            Ok(())
        },
        &Unwatched,
    )?;
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for (spot, cells) in folded.states.iter().flatten() {
        rows.push((folded.row_number(*spot), cells.clone()));
    }
    rows.sort();
    assert!(rows.iter().map(|row| row.0).eq(1..=folded.n_rows));
    Ok(rows.into_iter().map(|row| row.1).collect())
}

fn all_columns(source: &Source) -> Vec<ColumnId> {
    source.columns().collect()
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
            ..ReadOptions::default()
        };
        let source = Source::from_bytes("t.csv", bytes, &options).unwrap();
        let columns = all_columns(&source);
        prop_assert_eq!(source.bytes(), size);
        for threads in [1, 3] {
            let read = with_threads(threads, || rows(&source, &columns)).unwrap();
            prop_assert_eq!(&read, &table);
        }
        let last = columns.len() - 1;
        let some = [columns[last], columns[0], columns[last]];
        let expected: Rows = table
            .iter()
            .map(|row| vec![row[last].clone(), row[0].clone(), row[last].clone()])
            .collect();
        prop_assert_eq!(rows(&source, &some).unwrap(), expected);
    }

    #[test]
    fn a_scan_counts_what_a_map_counts(
        table in table(),
        block_bytes in 1..200usize,
    ) {
        let options =
            ReadOptions { delimiter: Some(b','), block_bytes: Some(block_bytes), ..ReadOptions::default() };
        let source = Source::from_bytes("t.csv", written(&table, b',', false), &options);
        let source = source.unwrap();
        let columns = all_columns(&source);
        let mut expected: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for row in &table {
            *expected.entry(row.clone()).or_default() += 1;
        }
        let one = with_threads(1, || scan(&source, &columns, &Unwatched)).unwrap();
        let three = with_threads(3, || scan(&source, &columns, &Unwatched)).unwrap();
        prop_assert_eq!(&one, &three);
        prop_assert_eq!(one.n_rows, table.len() as u64);

        let text = |column: usize, code: Code| {
            one.dictionaries[column].texts[code].to_string()
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
            for (code, text) in dictionary.texts.pairs() {
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
            let options = ReadOptions { delimiter: Some(b','), block_bytes, ..ReadOptions::default() };
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
            let _ = scan(&source, &all_columns(&source), &Unwatched);
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
    let all = all_columns(&source);
    let flat = [8, 0, 1, 2, 3, 5, 6, 7].map(|place| all[place]);
    let read = rows(&source, &flat).unwrap();
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
    let held: Vec<ColumnForm> = all.iter().map(|column| source.form(*column)).collect();
    assert_eq!(held, forms);
}

#[test]
fn a_nested_column_fails_only_if_it_is_wanted() {
    let bytes = parquet_bytes(&mixed_batch(), 2);
    let source = Source::from_bytes("t.parquet", bytes, &ReadOptions::default());
    let source = source.unwrap();
    let error = rows(&source, &all_columns(&source)).unwrap_err();
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
    let read = with_threads(3, || rows(&source, &all_columns(&source))).unwrap();
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

struct Total(AtomicU64);

impl Watch for Total {
    fn advance(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::SeqCst);
    }
}

#[test]
fn progress_adds_up_to_the_file() {
    let text = "x,y\n".to_owned() + &"1,2\n".repeat(1000);
    let options = ReadOptions { block_bytes: Some(100), ..ReadOptions::default() };
    let source = Source::from_bytes("t.csv", text.into_bytes(), &options).unwrap();
    let watch = Total(AtomicU64::new(0));
    scan(&source, &all_columns(&source)[..1], &watch).unwrap();
    assert_eq!(watch.0.into_inner(), source.bytes());
}

/// A batch cut before these rows, with an empty one among the pieces.
fn cut(batch: &RecordBatch, cuts: &[usize]) -> Vec<RecordBatch> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % batch.num_rows()).collect();
    cuts.extend([0, 0, batch.num_rows()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|ends| batch.slice(ends[0], ends[1] - ends[0])).collect()
}

#[test]
fn batches_have_the_texts_of_parquet_and_csv() {
    let words = ["a", "", "a,\"b\"\n"];
    let of_words: [ArrayRef; 4] = [
        Arc::new(StringArray::from(words.to_vec())),
        Arc::new(LargeStringArray::from(words.to_vec())),
        Arc::new(StringViewArray::from(words.to_vec())),
        Arc::new(DictionaryArray::<Int32Type>::from_iter(words)),
    ];
    let mixed = mixed_batch();
    let columns = mixed.columns().iter().zip(mixed.schema_ref().fields());
    let columns = columns.filter(|(_, field)| field.name() != "list");
    let mut named: Vec<(String, ArrayRef)> =
        columns.map(|(array, field)| (field.name().clone(), array.clone())).collect();
    for (number, array) in of_words.into_iter().enumerate() {
        named.push((format!("words{number}"), array));
    }
    named.push(("huge".to_owned(), Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1]))));
    named.push((
        "small".to_owned(),
        Arc::new(Float32Array::from(vec![0.1, -0.0, 1e-7])),
    ));
    let batch = RecordBatch::try_from_iter(named).unwrap();
    // Parquet has no column without a type.
    let bytes = parquet_bytes(&batch, 2);
    let parquet = Source::from_bytes("t.parquet", bytes, &ReadOptions::default());
    let parquet = parquet.unwrap();
    let expected = rows(&parquet, &all_columns(&parquet)).unwrap();
    let source = Source::from_batches("t", cut(&batch, &[1])).unwrap();
    assert_eq!(source.header(), parquet.header());
    let form = |source: &Source| -> Vec<ColumnForm> {
        source.columns().map(|column| source.form(column)).collect()
    };
    assert_eq!(form(&source), form(&parquet));
    assert_eq!(rows(&source, &all_columns(&source)).unwrap(), expected);
    assert_eq!(expected[2][8..12], [words[2]; 4]);
    assert_eq!(expected[0][12..], ["18446744073709551615", "0.1"]);

    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(source.header()).unwrap();
    expected.iter().for_each(|row| writer.write_record(row).unwrap());
    let bytes = writer.into_inner().unwrap();
    let text = Source::from_bytes("t.csv", bytes, &ReadOptions::default()).unwrap();
    assert_eq!(rows(&text, &all_columns(&text)).unwrap(), expected);
}

#[test]
fn a_column_without_a_type_is_empty() {
    let columns: [(&str, ArrayRef); 1] = [("n", Arc::new(NullArray::new(2)))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let source = Source::from_batches("t", vec![batch]).unwrap();
    assert_eq!(rows(&source, &all_columns(&source)).unwrap(), [[""], [""]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn neither_cuts_nor_threads_make_a_difference_to_batches(
        table in table(),
        cuts in prop::collection::vec(0..40usize, 0..6),
    ) {
        let width = table[0].len();
        let columns = (0..width).map(|place| {
            let cells = table.iter().map(|row| &*row[place]);
            let array: ArrayRef = Arc::new(StringArray::from_iter_values(cells));
            (format!("c{place}"), array)
        });
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let source = Source::from_batches("t", cut(&batch, &cuts)).unwrap();
        let columns = all_columns(&source);
        for threads in [1, 3] {
            let read = with_threads(threads, || rows(&source, &columns)).unwrap();
            prop_assert_eq!(&read, &table);
        }
        let text = written(&table, b',', false);
        let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
        let text = Source::from_bytes("t.csv", text, &options).unwrap();
        let count = |source: &Source| scan(source, &columns, &Unwatched).unwrap();
        prop_assert_eq!(count(&source), count(&text));
    }
}

#[test]
fn many_batches_keep_their_order_and_spots_do_not_depend_on_cuts() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let spots = |cuts: &[usize], threads: usize| {
        let source = Source::from_batches("t", cut(&batch, cuts)).unwrap();
        let watch = Total(AtomicU64::new(0));
        let folded = with_threads(threads, || {
            source.fold(
                &all_columns(&source),
                Vec::new,
                |seen: &mut Vec<_>, spot, cells| {
                    seen.push((spot, cells[0].parse::<u64>().unwrap()));
                    Ok(())
                },
                &watch,
            )
        });
        let folded = folded.unwrap();
        assert_eq!(watch.0.into_inner(), source.bytes());
        let mut seen: Vec<_> = folded.states.iter().flatten().copied().collect();
        seen.sort_unstable();
        assert!(seen.iter().all(|(spot, n)| folded.row_number(*spot) == n + 1));
        seen
    };
    let expected = spots(&[], 1);
    assert!(expected.last().unwrap().0.block > 1);
    assert_eq!(spots(&[5, 40_000, 40_001, 99_000], 3), expected);
}

#[test]
fn of_several_rows_of_batches_that_fail_the_first_wins() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
    let batch = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let source = Source::from_batches("t", cut(&batch, &[7, 30_000])).unwrap();
    let refused = |(): &mut (), spot, cells: &[&str]| match cells[0].parse() {
        Ok(0..50_000) => Ok(()),
        _ => Err(Error::input(format!("{spot:?}"))),
    };
    let error = |threads| {
        let fold = || source.fold(&all_columns(&source), || (), refused, &Unwatched);
        with_threads(threads, fold).unwrap_err().to_string()
    };
    assert_eq!(error(1), "t: RowPlace { block: 3, row: 848 }");
    assert_eq!(error(3), error(1));
}

#[test]
fn batches_must_have_the_same_columns() {
    let batch = |columns: &[(&str, bool)]| {
        RecordBatch::try_from_iter(columns.iter().map(|(name, text)| {
            let array: ArrayRef = match text {
                true => Arc::new(StringArray::from(vec!["secret"])),
                false => Arc::new(Int64Array::from(vec![7])),
            };
            (*name, array)
        }))
        .unwrap()
    };
    let message =
        |batches| Source::from_batches("people", batches).unwrap_err().to_string();
    let first = || batch(&[("x", false), ("y", true)]);
    for (batches, expected) in [
        (vec![], "there are no batches, so there are no columns"),
        (
            vec![first(), batch(&[("x", false)])],
            "batch 2 has 1 columns, but the first one has 2",
        ),
        (
            vec![first(), first(), batch(&[("x", false), ("z", true)])],
            "column 2 of batch 3 is called `z`, but `y` in the first one",
        ),
        (
            vec![first(), batch(&[("x", true), ("y", true)])],
            "column `x` of batch 2 holds Utf8, but Int64 in the first one",
        ),
    ] {
        assert_eq!(message(batches), format!("people: {expected}"));
    }
    let source = Source::from_batches("people", vec![first()]).unwrap();
    assert_eq!(format!("{source:?}"), "Source { name: \"people\", .. }");
}
