//! Tables in the files that people have: workbooks, Arrow, SQLite, compressed text, other
//! encodings and notations. Whatever the file, the rows are the same, and what is wrong with it
//! is said with its place.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::write::GzEncoder;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook, XlsxError};
use scumble::error::{Error, Result};
use scumble::table::{Notation, ReadOptions, Source};
use scumble::watch::{Stage, Unwatched, Watch};

use crate::builder::{records, run_whole};

type Rows = Vec<Vec<String>>;

/// The header and all rows in the order of the table.
pub(crate) fn rows(source: &Source) -> Result<Rows> {
    let columns: Vec<_> = source.columns().collect();
    let mut seen = Vec::new();
    // Twice: what was poured is read again.
    for _ in 0..2 {
        let folded = source.fold(
            &columns,
            Vec::new,
            |rows: &mut Vec<_>, place, cells| {
                let cells: Vec<String> =
                    cells.iter().map(|cell| (*cell).to_owned()).collect();
                rows.push((place, cells));
                Ok(())
            },
            &Unwatched,
        )?;
        let mut rows: Vec<_> = folded.states.into_iter().flatten().collect();
        rows.sort();
        let rows: Rows = rows.into_iter().map(|(_, cells)| cells).collect();
        assert!(seen.is_empty() || seen == rows);
        seen = rows;
    }
    let header = source.header().to_vec();
    Ok([header].into_iter().chain(seen).collect())
}

fn read(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Rows> {
    rows(&Source::from_bytes(name, bytes, options)?)
}

fn plain(name: &str, bytes: Vec<u8>) -> Result<Rows> {
    read(name, bytes, &ReadOptions::default())
}

/// What is said, and the first hint.
fn told<T: std::fmt::Debug>(result: Result<T>) -> (String, String) {
    let error: Error = result.unwrap_err();
    (error.to_string(), error.hints().first().cloned().unwrap_or_default())
}

fn text(table: &[&[&str]]) -> Rows {
    table
        .iter()
        .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
        .collect()
}

fn workbook(fill: impl FnOnce(&mut Workbook) -> Result<(), XlsxError>) -> Vec<u8> {
    let mut book = Workbook::new();
    fill(&mut book).unwrap();
    book.save_to_buffer().unwrap()
}

#[test]
fn a_sheet_has_what_it_shows() {
    let bytes = workbook(|book| {
        let date = Format::new().set_num_format("yyyy-mm-dd");
        let sheet = book.add_worksheet().set_name("visits")?;
        for (column, name) in
            ["id", "born", "seen", "cost", "ok", "twice"].iter().enumerate()
        {
            // The table need not begin in the corner.
            sheet.write(2, 1 + column as u16, *name)?;
        }
        let born = ExcelDateTime::parse_from_str("1984-02-29")?;
        let seen = ExcelDateTime::parse_from_str("2024-05-17T10:30:00")?;
        sheet.write(3, 1, "a, \"b\"\nc")?;
        sheet.write_with_format(3, 2, &born, &date)?;
        sheet.write_with_format(3, 3, &seen, &date)?;
        sheet.write(3, 4, 0.1 + 0.2)?;
        sheet.write(3, 5, true)?;
        sheet.write(3, 6, Formula::new("=E4*2").set_result("0.6"))?;
        // A row without cells is passed over, and one whose formulas show nothing.
        sheet.write(5, 1, Formula::new("=A1"))?;
        sheet.write(6, 1, "007")?;
        sheet.write(6, 4, -12)?;
        sheet.write(6, 6, Formula::new("=1/0").set_result("#DIV/0!"))?;
        book.add_worksheet().set_name("empty")?;
        Ok(())
    });
    let bytes = rewritten(
        &bytes,
        "<c r=\"B6\"><f>A1</f><v>0</v>",
        "<c r=\"B6\" t=\"str\"><f>A1</f><v></v>",
    );
    let expected = text(&[
        &["id", "born", "seen", "cost", "ok", "twice"],
        &["a, \"b\"\nc", "1984-02-29", "2024-05-17T10:30:00", "0.3", "true", "0.6"],
        &["007", "", "", "-12", "", "#DIV/0!"],
    ]);
    assert_eq!(plain("visits.xlsx", bytes.clone()).unwrap(), expected);
    // A name that says nothing, or something else, makes no difference.
    assert_eq!(plain("visits", bytes.clone()).unwrap(), expected);
    assert_eq!(plain("visits.csv", bytes).unwrap(), expected);
}

#[test]
fn one_of_several_sheets_must_be_named() {
    let bytes = workbook(|book| {
        for (name, value) in [("2023", 1), ("2024", 2)] {
            let sheet = book.add_worksheet().set_name(name)?;
            sheet.write(0, 0, "x")?.write(1, 0, value)?;
        }
        book.add_worksheet().set_name("notes")?;
        Ok(())
    });
    let of = |sheet: &str| ReadOptions {
        sheet: Some(sheet.to_owned()),
        ..Default::default()
    };
    assert_eq!(
        told(plain("t.xlsx", bytes.clone())),
        (
            "t.xlsx: the workbook has 2 sheets: `2023`, `2024`".to_owned(),
            "say which one: `sheet = \"2023\"`".to_owned()
        )
    );
    assert_eq!(
        read("t.xlsx", bytes.clone(), &of("2024")).unwrap(),
        text(&[&["x"], &["2"]])
    );
    assert_eq!(
        told(read("t.xlsx", bytes.clone(), &of("2025"))),
        (
            "t.xlsx: no sheet is called `2025`".to_owned(),
            "the workbook has `2023`, `2024`, `notes`".to_owned()
        )
    );
    let (message, _) = told(read("t.xlsx", bytes, &of("notes")));
    assert_eq!(message, "t.xlsx: the sheet `notes` is empty");
    let (message, hint) = told(read("t.csv", b"x\n1\n".to_vec(), &of("a")));
    assert_eq!(
        message,
        "t.csv: `sheet` is for workbooks, but this table is a text file"
    );
    assert_eq!(hint, "leave `sheet` out");
}

#[test]
fn a_workbook_that_cannot_be_believed_is_refused() {
    let simple = |more: &dyn Fn(&mut rust_xlsxwriter::Worksheet)| {
        workbook(|book| {
            let sheet = book.add_worksheet();
            sheet.write(0, 0, "ward")?.write(0, 1, "age")?;
            sheet.write(1, 0, "A")?.write(1, 1, 40)?;
            more(sheet);
            Ok(())
        })
    };
    let whole = simple(&|_| ());
    assert!(plain("t.xlsx", whole.clone()).is_ok());
    let merged = simple(&|sheet| {
        sheet.merge_range(1, 0, 3, 0, "A", &Format::new()).unwrap();
    });
    let beside = simple(&|sheet| {
        sheet.write(4, 3, "sum").unwrap();
    });
    let unsaved = simple(&|sheet| {
        sheet.write(2, 1, Formula::new("=1+1")).unwrap();
    });
    // The library saves 0 where nothing is said; other programs save nothing.
    let unsaved = rewritten(&unsaved, "</f><v>0</v>", "</f>");
    let nameless = simple(&|sheet| {
        sheet.write(0, 3, "sex").unwrap();
    });
    let mut protected = vec![0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
    protected.resize(2048, 0);
    let cut = whole[..whole.len() / 2].to_vec();
    let damaged = "t.xlsx: this is not an .xlsx workbook, or it is damaged";
    for (bytes, message) in [
        (merged, "t.xlsx: the cells A2:A4 are merged"),
        (beside, "t.xlsx: cell D5 is outside the columns that the header names"),
        (unsaved, "t.xlsx: the formula in cell B3 has no value saved with it"),
        (nameless, "t.xlsx: column 3 has no name"),
        (
            protected,
            "t.xlsx: this workbook is protected by a password, or older than .xlsx",
        ),
        (cut, damaged),
        (b"x,y\n1,2\n".to_vec(), damaged),
        (Vec::new(), damaged),
    ] {
        let (found, hint) = told(plain("t.xlsx", bytes));
        assert_eq!(found, message);
        assert!(message == damaged || !hint.is_empty(), "{message}");
    }
    // Whatever byte is wrong, the answer is a table or an error, never a panic.
    for place in (0..whole.len()).step_by(7) {
        let mut wrong = whole.clone();
        wrong[place] ^= 0x55;
        if let Ok(source) = Source::from_bytes("t.xlsx", wrong, &ReadOptions::default())
        {
            let _ = rows(&source);
        }
    }
}

/// The same workbook with another text somewhere in its parts.
fn rewritten(book: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut found = false;
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(book)).unwrap();
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for number in 0..archive.len() {
        let mut part = archive.by_index(number).unwrap();
        let mut text = String::new();
        std::io::Read::read_to_string(&mut part, &mut text).unwrap();
        found |= text.contains(from);
        let text = text.replace(from, to);
        let name = part.name().unwrap().into_owned();
        out.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        out.write_all(text.as_bytes()).unwrap();
    }
    assert!(found, "there is no {from}");
    out.finish().unwrap().into_inner()
}

fn batch() -> RecordBatch {
    let texts = StringArray::from(vec![Some("a"), None, Some("c")]);
    RecordBatch::try_from_iter([
        ("n", Arc::new(Int64Array::from(vec![1, 2, 3])) as ArrayRef),
        ("x", Arc::new(Float64Array::from(vec![1.5, -2.0, 0.1])) as ArrayRef),
        ("w", Arc::new(texts) as ArrayRef),
        ("d", Arc::new(Date32Array::from(vec![0, 1, 19_000])) as ArrayRef),
    ])
    .unwrap()
}

fn arrow(compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let batch = batch();
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch.slice(1, 2)).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn an_arrow_file_is_read_batch_by_batch() {
    let expected = text(&[
        &["n", "x", "w", "d"],
        &["1", "1.5", "a", "1970-01-01"],
        &["2", "-2.0", "", "1970-01-02"],
        &["3", "0.1", "c", "2022-01-08"],
        &["2", "-2.0", "", "1970-01-02"],
        &["3", "0.1", "c", "2022-01-08"],
    ]);
    for compression in
        [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)]
    {
        for name in ["t.arrow", "t.feather", "t"] {
            assert_eq!(plain(name, arrow(compression)).unwrap(), expected);
        }
    }
    let damaged = "t.arrow: this is not an Arrow file, or it is damaged";
    let whole = arrow(Some(CompressionType::LZ4_FRAME));
    for cut in [0, 5, 12, whole.len() / 2, whole.len() - 1] {
        assert_eq!(told(plain("t.arrow", whole[..cut].to_vec())).0, damaged);
    }
    for place in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut wrong = whole.clone();
            wrong[place] ^= flip;
            let source = Source::from_bytes("t.arrow", wrong, &ReadOptions::default());
            if let Ok(source) = source {
                let _ = rows(&source);
            }
        }
    }
    let mut stream = StreamWriter::try_new(Vec::new(), &batch().schema()).unwrap();
    stream.write(&batch()).unwrap();
    let (message, hint) = told(plain("t.arrow", stream.into_inner().unwrap()));
    assert_eq!(message, "t.arrow: this is an Arrow stream");
    assert_eq!(hint, "write it as an Arrow file, which has an index");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut writer = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn compressed_text_is_text() {
    let mut table = text(&[&["id", "town"]]);
    table
        .extend((0..50_000).map(|id| vec![id.to_string(), format!("town {}", id % 7)]));
    let lines = |delimiter: &str| -> String {
        table.iter().map(|row| row.join(delimiter) + "\r\n").collect()
    };
    let tabs = lines("\t");
    let zstd = zstd::encode_all(tabs.as_bytes(), 1).unwrap();
    let frames = [
        zstd::encode_all(&tabs.as_bytes()[..999], 1).unwrap(),
        zstd::encode_all(&tabs.as_bytes()[999..], 1).unwrap(),
    ]
    .concat();
    let commas = lines(",");
    let members =
        [gzip(&commas.as_bytes()[..70_000]), gzip(&commas.as_bytes()[70_000..])]
            .concat();
    for (name, bytes) in [
        ("t.csv.gz", gzip(commas.as_bytes())),
        ("t.csv.gz", members),
        ("t.tsv.gz", gzip(tabs.as_bytes())),
        ("t.tsv.zst", zstd.clone()),
        ("t.tsv.zst", frames),
        // The first bytes tell, whatever the name.
        ("t.csv", gzip(commas.as_bytes())),
        ("t", zstd),
    ] {
        assert!(plain(name, bytes).unwrap() == table, "{name}");
    }
    let whole = gzip(commas.as_bytes());
    let mut wrong = whole.clone();
    wrong[whole.len() / 2] ^= 0x40;
    for (bytes, expected) in [
        (
            whole[..whole.len() / 2].to_vec(),
            "the gzip data ends too early: the file is not whole",
        ),
        (whole[..20].to_vec(), "the gzip data ends too early: the file is not whole"),
        (wrong, "the gzip data cannot be unpacked: the file is damaged"),
        (gzip(&whole), "the table is compressed twice"),
        (gzip(b"PAR1xxxx"), "this is a compressed Parquet file"),
        (gzip(b""), "the file is empty"),
        (gzip(b"x,y\n1\n"), "row 1 has 1 cell, but the table has 2 columns"),
        (gzip(b"x,y\n1,\xe9\n"), "row 1 is not valid UTF-8"),
    ] {
        assert_eq!(told(plain("t.csv.gz", bytes)).0, format!("t.csv.gz: {expected}"));
    }
}

/// Nobody may guess: umlauts of one encoding are letters of another.
#[test]
fn an_encoding_is_said_or_marked() {
    let encoded = |name: &str| ReadOptions {
        encoding: Some(name.to_owned()),
        ..Default::default()
    };
    let expected = text(&[&["größe", "preis"], &["3", "5 €"]]);
    let western = b"gr\xf6\xdfe;preis\n3;5 \x80\n".to_vec();
    let read_as = |bytes: &[u8], name| read("t.csv", bytes.to_vec(), &encoded(name));
    assert_eq!(read_as(&western, "windows-1252").unwrap(), expected);
    assert_eq!(
        told(plain("t.csv", western.clone())),
        (
            "t.csv: the header is not valid UTF-8".to_owned(),
            "save the file as UTF-8, or say its `encoding`, as in `encoding = \"windows-1252\"`"
                .to_owned()
        )
    );
    let wide = |mark: &str| -> Vec<u8> {
        let text = format!("{mark}größe\tpreis\n3\t5 €\n");
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    assert_eq!(plain("t.txt", wide("\u{feff}")).unwrap(), expected);
    assert_eq!(read_as(&wide(""), "utf-16le").unwrap(), expected);
    assert_eq!(plain("t.txt.gz", gzip(&wide("\u{feff}"))).unwrap(), expected);
    let marked = "\u{feff}größe;preis\n3;5 €\n".as_bytes();
    assert_eq!(read_as(marked, "utf-8").unwrap(), expected);
    for (bytes, name, expected) in [
        (
            marked,
            "windows-1252",
            "the first bytes say that the text is in UTF-8, not in windows-1252",
        ),
        (&western, "klingon", "no encoding is called `klingon`"),
        (b"a\n\x81\n", "windows-1252", "line 2 is not valid in windows-1252"),
    ] {
        assert_eq!(told(read_as(bytes, name)).0, format!("t.csv: {expected}"));
    }
}

#[test]
fn numbers_may_be_written_with_a_comma() {
    let said = |decimal, thousands| ReadOptions {
        notation: Notation::new(decimal, thousands).unwrap(),
        ..Default::default()
    };
    let german =
        b"weight;code;born\n1.234,5;250.01;17.05.2024\n-0,5;E11,x;\n12;007;\n".to_vec();
    let expected = text(&[
        &["weight", "code", "born"],
        &["1234.5", "250.01", "17.05.2024"],
        &["-0.5", "E11,x", ""],
        &["12", "007", ""],
    ]);
    let options = said(Some(","), Some("."));
    assert_eq!(read("t.csv", german.clone(), &options).unwrap(), expected);
    assert_eq!(read("t.csv.gz", gzip(&german), &options).unwrap(), expected);
    let either = b"id;weight\n1;3,5\n2;1.234\n3;9.999\n".to_vec();
    let (message, hint) = told(read("t.csv", either, &said(Some(","), None)));
    assert_eq!(
        message,
        "t.csv: row 2, column `weight`: a point before three digits may be a decimal point or \
         stand between thousands"
    );
    assert!(hint.starts_with("say `thousands = \".\"`"), "{hint}");
}

const RECIPE: &str = "[columns]\nage = { role = \"quasi\", type = \"number\" }\n\
     illness = \"sensitive\"\n[promise]\nk-anonymity = 3\n";

fn people(n: usize) -> String {
    let row = |row: usize| format!("{},{}\n", 20 + row % 50, ["flu", "cough"][row % 2]);
    format!("age,illness\n{}", (0..n).map(row).collect::<String>())
}

/// The same table in whatever file gives the same release, byte for byte.
#[test]
fn a_release_does_not_depend_on_the_file() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let text = people(300);
    let records: Vec<Vec<&str>> =
        text.lines().map(|line| line.split(',').collect()).collect();
    fs::write(at("t.csv"), &text).unwrap();
    fs::write(at("t.csv.gz"), gzip(text.as_bytes())).unwrap();
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    fs::write(at("wide.csv"), wide).unwrap();
    let book = workbook(|book| {
        let sheet = book.add_worksheet();
        for (row, cells) in records.iter().enumerate() {
            match cells[0].parse::<f64>() {
                Ok(age) => sheet.write(row as u32, 0, age)?,
                Err(_) => sheet.write(row as u32, 0, cells[0])?,
            };
            sheet.write(row as u32, 1, cells[1])?;
        }
        Ok(())
    });
    fs::write(at("t.xlsx"), book).unwrap();
    let column = |place: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            records[1..].iter().map(|row| row[place]),
        ))
    };
    let batch =
        RecordBatch::try_from_iter([("age", column(0)), ("illness", column(1))]);
    let batch = batch.unwrap();
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    fs::write(at("t.arrow"), writer.into_inner().unwrap()).unwrap();
    let publish = |input: &str| {
        run_whole(home.path(), &format!("[input]\n{input}\n{RECIPE}"), 7).unwrap();
        fs::read_to_string(at("release/data.csv")).unwrap()
    };
    let expected = publish("table = \"t.csv\"");
    assert_eq!(records_of(&at("release/data.csv")), 300);
    for input in [
        "table = \"t.csv.gz\"",
        "table = \"wide.csv\"\nencoding = \"utf-16be\"",
        "table = \"t.xlsx\"\nsheet = \"Sheet1\"",
        "table = \"t.arrow\"",
        "table = \"t.csv\"\ndecimal = \",\"",
    ] {
        assert!(publish(input) == expected, "{input}");
    }
}

fn records_of(path: &Path) -> usize {
    records(path).len()
}

/// What was poured stays what it is; what was not is noticed.
#[test]
fn a_packed_file_that_changes_between_passes_makes_no_difference() {
    struct Writer<'a>(&'a Path);
    impl Watch for Writer<'_> {
        fn stage(&self, stage: Stage, _bytes: u64) {
            if stage == Stage::Search {
                let mut file = OpenOptions::new().write(true).open(self.0).unwrap();
                file.write_all(&gzip(people(9).as_bytes())).unwrap();
            }
        }
    }
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("t.csv.gz");
    fs::write(&path, gzip(people(300).as_bytes())).unwrap();
    let recipe = format!("input.table = \"t.csv.gz\"\n{RECIPE}");
    let spec = scumble::recipe::Spec::parse(&recipe, "recipe.toml").unwrap();
    let request = scumble::recipe::Request::new(&spec, home.path());
    scumble::recipe::publish(request, &Writer(&path)).unwrap();
    assert_eq!(records_of(&home.path().join("release/data.csv")), 300);
}

/// Between a look at the header and the first pass others may write, too.
#[test]
fn a_packed_file_that_changes_before_it_is_read_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let book = |n: u32| {
        workbook(|book| {
            let sheet = book.add_worksheet();
            sheet.write(0, 0, "age")?;
            (1..=n).try_for_each(|row| sheet.write(row, 0, row).map(|_| ()))
        })
    };
    for (name, before, after) in [
        ("t.csv.gz", gzip(people(300).as_bytes()), gzip(people(301).as_bytes())),
        ("t.xlsx", book(5), book(600)),
    ] {
        let path = home.path().join(name);
        fs::write(&path, before).unwrap();
        let source = Source::open(&path, &ReadOptions::default()).unwrap();
        fs::write(&path, after).unwrap();
        let (message, _) = told(rows(&source));
        let expected = "the table has changed while it was read";
        assert!(message.ends_with(expected), "{message}");
    }
}
