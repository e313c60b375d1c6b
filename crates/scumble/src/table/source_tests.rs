//! Opening tables, and reading them on all threads.

use super::*;
use crate::watch::Unwatched;

fn source(name: &str, text: &str) -> Result<Source> {
    Source::from_bytes(name, text.as_bytes().to_vec(), &ReadOptions::default())
}

fn all(source: &Source) -> Vec<ColumnId> {
    source.columns().collect()
}

#[test]
fn a_column_is_found_or_the_nearest_is_named() {
    let source = source("a.csv", "age,zip\n1,2\n").unwrap();
    let zip = source.column("zip").unwrap();
    assert_eq!((zip.index(), source.name_of(zip)), (1, "zip"));
    let error = source.column("zipp").unwrap_err();
    assert_eq!(error.to_string(), "a.csv: no column is called `zipp`");
    assert_eq!(error.hints(), ["the table has `zip`"]);
}

#[test]
fn names_must_be_there_and_differ() {
    let message = |text| source("a.csv", text).unwrap_err().to_string();
    assert_eq!(message("x,y,\n"), "a.csv: column 3 has no name");
    assert_eq!(message("x,y,x\n"), "a.csv: two columns are called `x`");
}

#[test]
fn a_missing_file_is_named() {
    let error = Source::open(Path::new("no/such.csv"), &ReadOptions::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "no/such.csv: cannot read the file: no such file or directory"
    );
}

#[test]
fn a_header_alone_is_no_table() {
    let source = source("a.csv", "x,y\n\n").unwrap();
    let folded = source.fold(&all(&source), || (), |(), _, _| Ok(()), &Unwatched);
    assert_eq!(
        folded.unwrap_err().to_string(),
        "a.csv: the table has a header but no rows"
    );
}

#[test]
fn a_row_is_numbered_from_one_across_blocks() {
    let options = ReadOptions { block_bytes: Some(4), ..ReadOptions::default() };
    let source = Source::from_bytes("a", b"x\n1\n2\n\n3\n4".to_vec(), &options);
    let source = source.unwrap();
    let folded = source.fold(
        &all(&source),
        Vec::new,
        |seen, spot, cells| {
            seen.push((spot, cells[0].to_owned()));
            Ok(())
        },
        &Unwatched,
    );
    let folded = folded.unwrap();
    assert!(folded.block_starts.len() > 1);
    for (spot, cell) in folded.states.iter().flatten() {
        assert_eq!(folded.row_number(*spot).to_string(), *cell);
    }
    assert_eq!(folded.n_rows, 4);
}

#[test]
fn the_error_of_the_first_row_wins() {
    let text: String =
        (0..200).map(|row| if row < 50 { "1,2\n" } else { "1\n" }).collect();
    let options = ReadOptions { block_bytes: Some(16), ..ReadOptions::default() };
    let source = Source::from_bytes("a", text.into_bytes(), &options).unwrap();
    let error =
        source.fold(&all(&source), || (), |(), _, _| Ok(()), &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "a: row 50 has 1 cell, but the table has 2 columns");
}
